"""Where an endpoint is and what opens it. What opens it never leaves: addresses and texts are shown without.

Imports no framework: the command line uses it to redact what it records.
"""

import base64
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit

from codeaudit.transforms.errors import UsageError

HOME: Final = "https://api.openai.com/v1"
"""Asked where no address is given."""
HIDDEN: Final = "***"
SHORTEST: Final = 8
"""Characters of the shortest secret that is looked for in texts: `EMPTY` and the like are words, not keys."""

_CREDENTIALS: Final = re.compile(r"(?<=://)\S*@")
_PERHAPS: Final = re.compile(r"\S*@")
_KEYS: Final = re.compile(r"\bsk-[\w*-]{6,}")


def asked_at(given: str | None) -> str:
    """The address that is meant: the one given, else that of `OPENAI_BASE_URL`, else OpenAI's."""
    return given or os.environ.get("OPENAI_BASE_URL") or HOME


def redacted(text: str) -> str:
    """A text whose URLs have lost the user and password in them: rather too much than too little."""
    return _CREDENTIALS.sub(f"{HIDDEN}@", text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """An endpoint and what opens it. Only `url` is for others to see."""

    url: str
    """Without credentials and without a slash at its end."""
    key: str = field(repr=False)
    """Sent as a bearer token; empty for none."""
    basic: str = field(default="", repr=False)
    """`user:password` of the URL, sent instead of the key where there is one."""

    @property
    def headers(self) -> dict[str, str]:
        """What the client does not send by itself."""
        if not self.basic:
            return {}
        return {"Authorization": f"Basic {base64.b64encode(self.basic.encode()).decode()}"}

    def cleared(self, text: str) -> str:
        """An answer without the secrets that it may echo."""
        for secret in sorted(self._secrets(), key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
        return text

    def scrub(self, text: str) -> str:
        """A message without secrets, nor what looks like one: some endpoints tell a part of a wrong key."""
        return _KEYS.sub(HIDDEN, redacted(self.cleared(text)))

    def _secrets(self) -> Iterable[str]:
        tokens = (header.removeprefix("Basic ") for header in self.headers.values())
        found = (self.key, self.basic, *self.basic.split(":", 1), *tokens)
        return (one for one in found if len(one) >= SHORTEST)


def address(base_url: str, key: str | None) -> Address:
    """The endpoint at a URL.

    Raises:
        UsageError: this is no URL of an endpoint, or the key cannot be sent. No message holds either secret.
    """
    shown = _PERHAPS.sub(f"{HIDDEN}@", base_url)
    if f"://{HIDDEN}@" in base_url:
        raise UsageError(f"--base-url {shown!r} was recorded without its user and password; give it anew")
    try:
        parts = urlsplit(base_url.strip())
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        known = None
    if not known:
        raise UsageError(f"--base-url {shown!r} is no address; write http://HOST:PORT/v1 or https://HOST/v1")
    if parts.query or parts.fragment:
        raise UsageError("--base-url must end with its path: a query or fragment cannot be sent")
    key = (key or "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError("OPENAI_API_KEY holds a character that no key has, such as a blank or a line's end")
    opener, _, host = parts.netloc.rpartition("@")
    basic = unquote(opener)
    if basic and ":" not in basic:
        basic += ":"
    if not basic.isprintable():
        raise UsageError(f"--base-url {shown!r} has a user or password that cannot be sent")
    return Address(url=f"{parts.scheme}://{host}{parts.path.rstrip('/')}", key=key, basic=basic)

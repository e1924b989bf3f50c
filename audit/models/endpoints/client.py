"""What a client of an endpoint is given, and what it gives: an address, a `Reply` or a `RequestError`.

Credentials never appear in messages, records or fingerprints. The command line redacts with this module what
it records, so it imports no client library.
"""

import base64
import re
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from typing import Final, Protocol
from urllib.parse import unquote, urlsplit

from codeaudit.audit.prompts import Prompt
from codeaudit.audit.records import Query
from codeaudit.transforms.errors import UsageError

TRANSIENT: Final = frozenset({408, 409, 425, 429})
"""Statuses below 500 after which the same request may succeed; they say nothing about model and address."""
HIDDEN: Final = "***"
SHORTEST: Final = 8
"""Shorter secrets are not searched for in texts, because `EMPTY` and the like are words and not keys."""

_CREDENTIALS: Final = re.compile(r"(?<=://)\S*@")
_PERHAPS: Final = re.compile(r"\S*@")
_KEYS: Final = re.compile(r"\bsk-[\w*-]{6,}")


def redacted(text: str) -> str:
    """A text without the user and password of its URLs. It may remove more than these, but never less."""
    return _CREDENTIALS.sub(f"{HIDDEN}@", text)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointAddress:
    """An endpoint and its credentials. Only `url` may be shown."""

    url: str
    """Without credentials and without a final slash."""
    key: str = field(repr=False)
    """Sent as a bearer token; empty for none."""
    key_name: str = "the key"
    """The environment variable of the key, for messages."""
    basic: str = field(default="", repr=False)
    """`user:password` of the URL, sent instead of the key; empty for none."""

    @property
    def headers(self) -> dict[str, str]:
        """The header for basic authentication; empty without user and password."""
        if not self.basic:
            return {}
        return {"Authorization": f"Basic {base64.b64encode(self.basic.encode()).decode()}"}

    def cleared(self, text: str) -> str:
        """An answer without these secrets, because endpoints may echo them."""
        # The longest first: the password is a part of `user:password`, whose rest would stay.
        for secret in sorted(self._secrets(), key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
        return text

    def scrub(self, text: str) -> str:
        """A message without these secrets and without texts like a key: endpoints may show part of a key."""
        return _KEYS.sub(HIDDEN, redacted(self.cleared(text)))

    def _secrets(self) -> Iterable[str]:
        tokens = (header.removeprefix("Basic ") for header in self.headers.values())
        found = (self.key, self.basic, *self.basic.split(":", 1), *tokens)
        return (one for one in found if len(one) >= SHORTEST)


def address(base_url: str, key: str | None, *, key_name: str) -> EndpointAddress:
    """The endpoint at a URL, with the key of the environment variable `key_name`.

    Raises:
        UsageError: this is no URL of an endpoint, or the key cannot be sent. No message contains a secret.
    """
    shown = _PERHAPS.sub(f"{HIDDEN}@", base_url)
    # Copied from the record of a run. Sent as it is, the endpoint would see the user `***`.
    if f"://{HIDDEN}@" in base_url:
        raise UsageError(f"--base-url {shown!r} was recorded without its user and password; give it anew")
    try:
        parts = urlsplit(base_url.strip())
        # `port` is checked only when it is read, and raises a ValueError.
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        known = None
    if not known:
        raise UsageError(f"--base-url {shown!r} is no address; write http://HOST:PORT/v1 or https://HOST/v1")
    if parts.query or parts.fragment:
        raise UsageError("--base-url must end with its path: a query or fragment cannot be sent")
    key = (key or "").strip()
    # A header cannot hold it, and the error of the library would contain the key.
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError(f"{key_name} holds a character that no key has, such as a blank or a line's end")
    opener, _, host = parts.netloc.rpartition("@")
    basic = unquote(opener)
    if basic and ":" not in basic:
        basic += ":"
    if not basic.isprintable():
        raise UsageError(f"--base-url {shown!r} has a user or password that cannot be sent")
    url = f"{parts.scheme}://{host}{parts.path.rstrip('/')}"
    return EndpointAddress(url=url, key=key, key_name=key_name, basic=basic)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer of the endpoint to one request."""

    text: str
    cut: bool = False
    """Whether the text ends at the limit on its tokens."""
    tokens: tuple[int, int] | None = None
    """Number of tokens of the prompt and of the reply; `None` if the endpoint does not say."""
    served: str = ""
    """The model, and its version, that the reply names."""


@dataclass(eq=False)
class RequestError(Exception):
    """A request without a usable reply. The fields say what the endpoint layer should do next."""

    reason: str
    """A few words that count together, without secrets: a status (`429`), `timeout`, …"""
    _: KW_ONLY
    message: str = ""
    """The endpoint's own words, in one line without secrets."""
    again: bool = False
    """Whether the same request may succeed later."""
    busy: bool = False
    """Whether there are too many requests at once."""
    wait: float = 0.0
    """Seconds that the endpoint asks to wait; 0 if it does not say."""
    status: int | None = None
    """HTTP status; `None` without a response."""
    unreachable: bool = False
    """Whether no connection could be made."""
    field: str = ""
    """The field of the request that the endpoint rejects, if it says so."""
    unreadable: bool = False
    """Whether there was a reply that is none of the API."""
    elsewhere: str = ""
    """The other host that the endpoint redirects to, where nothing is sent; empty without such a redirect."""

    def __post_init__(self) -> None:
        self.reason = f"endpoint: {self.reason}"


def may_pass(reason: str) -> bool:
    """Whether a query without an answer for this reason may be answered if it is asked again."""
    _, _, told = reason.partition("endpoint: ")
    if told.isdecimal():
        return int(told) in TRANSIENT or int(told) >= 500
    return told in ("timeout", "unreachable", "connection broken")


class EndpointClient(Protocol):
    """Sends requests for one model. It is made and used inside one event loop."""

    async def ask(self, prompt: Prompt, query: Query, attempt: int = 0) -> Reply:
        """Send one request and do not repeat it. `attempt` numbers the answers if several are drawn.

        Raises:
            RequestError: there is no usable reply.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...

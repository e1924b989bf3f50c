"""What a client of an endpoint is given, and what it gives: an address, a `Reply` or a `RequestError`.

Credentials never appear in messages, records or fingerprints.
"""

import base64
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Final, Protocol
from urllib.parse import unquote, urlsplit

from codeaudit.audit.models.endpoints.proxies import Proxy
from codeaudit.audit.models.endpoints.urls import (
    HIDDEN,
    redacted_url,
    redacted_words,
    server_of,
    was_redacted,
)
from codeaudit.audit.prompts import Prompt
from codeaudit.audit.records import Query
from codeaudit.transforms.errors import UsageError

TRANSIENT: Final = frozenset({408, 409, 425, 429})
"""Statuses below 500 after which the same request may succeed; they say nothing about model and address."""
BUSY: Final = frozenset({429, 503, 529})
"""Statuses for too many requests."""
PERMANENT: Final = frozenset({501, 505})
"""Statuses from 500 on after which the same request will fail again."""
LONGEST_TEXT: Final = 160
"""Largest number of characters shown of an endpoint's message."""
SHORTEST: Final = 8
"""Shorter secrets are not searched for in texts, because `EMPTY` and the like are words and not keys."""

AUTHORIZATION: Final = "Authorization"
_KEYS: Final = re.compile(r"\bsk-[\w*-]{6,}")


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
    written: str = field(default="", repr=False)
    """`basic` as the URL has it, with its percent signs."""
    proxy: Proxy | None = None
    """What requests go through; `None`: nothing."""
    own_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers that the user gave, with their values."""
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What stands behind the `?` of every request, with its values."""
    named: tuple[str, ...] = field(default=(), repr=False)
    """The values of variables in them, which are secrets."""
    identity: str = ""
    """What of them may decide an answer, without secrets: a part of the fingerprint. Empty without any."""

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every request besides the key: the user's, and that for basic authentication."""
        # One way of writing it, because two would both be sent.
        headers = {
            AUTHORIZATION if name.title() == AUTHORIZATION else name: value
            for name, value in self.own_headers.items()
        }
        if self.basic:
            headers.setdefault(AUTHORIZATION, self._basic)
        return headers

    @property
    def keyless(self) -> bool:
        """Whether another secret than the key names the user, so that none is sent where the key stands."""
        return not self.key and AUTHORIZATION not in self.headers and bool(self.named)

    @property
    def _basic(self) -> str:
        return f"Basic {base64.b64encode(self.basic.encode()).decode()}"

    def cleared(self, text: str) -> str:
        """An answer without these secrets, because endpoints may echo them."""
        # The longest first: the password is a part of `user:password`, whose rest would stay.
        for secret in sorted(self._secrets(), key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
        return text

    def scrub(self, text: str) -> str:
        """A message without these secrets and without texts like a key: endpoints may show part of a key."""
        return _KEYS.sub(HIDDEN, redacted_words(self.cleared(text)))

    def line(self, text: str) -> str:
        """A message as one line that can be printed, without secrets and not too long."""
        line = " ".join(self.scrub(text).split())
        line = "".join(letter if letter.isprintable() else "?" for letter in line)
        return line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 1]}…"

    def _secrets(self) -> Iterable[str]:
        tokens = (self._basic.removeprefix("Basic "),) if self.basic else ()
        users = (part for text in (self.basic, self.written) for part in (text, *text.split(":", 1)))
        secrets = (self.key, *users, *tokens, *self.named, *(self.proxy.secrets if self.proxy else ()))
        return (secret for secret in secrets if len(secret) >= SHORTEST)


def address(base_url: str, key: str | None, *, key_name: str) -> EndpointAddress:
    """The endpoint at a URL, with the key of the environment variable `key_name`.

    Raises:
        UsageError: this is no URL of an endpoint, or the key cannot be sent. No message contains a secret.
    """
    text = base_url.strip()
    option = f"--base-url {redacted_url(text)!r}"
    # Copied from the record of a run. Sent as it is, the endpoint would see the user `***`.
    if was_redacted(text):
        raise UsageError(f"{option} was recorded without its user and password; give it anew")
    server = server_of(text)
    if server is None or server.scheme not in ("http", "https"):
        raise UsageError(f"{option} is no address; {_remedy(text)}")
    key = (key or "").strip()
    # A header cannot hold it, and the error of the library would contain the key.
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError(f"{key_name} holds a character that no key has, such as a blank or a line's end")
    basic = unquote(server.user)
    if basic and ":" not in basic:
        basic += ":"
    if not basic.isprintable():
        raise UsageError(f"{option} has a user or password that cannot be sent")
    url = f"{server.scheme}://{server.place}{server.path.rstrip('/')}"
    return EndpointAddress(url=url, key=key, key_name=key_name, basic=basic, written=server.user)


def _remedy(url: str) -> str:
    """How to write an address that is none."""
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.query or parts.fragment:
            return "it must end with its path; what stands behind the ? goes into -M query.NAME=VALUE"
    if "@" in url or any(letter.isspace() for letter in url):
        return "write http://USER:PASSWORD@HOST:PORT/v1, with %20 for a blank and %40 for an @ in it"
    return "write http://HOST:PORT/v1 or https://HOST/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer of the endpoint to one request."""

    text: str
    inside: str | None = None
    """The answer in a text that is a JSON object as it was asked for; `None`: the text is read."""
    margin: float | None = None
    """The margin of `Predicted`, from log-probabilities; the scores are of them, too."""
    scores: tuple[tuple[str, float], ...] = ()
    cut: bool = False
    """Whether the text ends at the limit on its tokens."""
    tokens: tuple[int, int] | None = None
    """Number of tokens of the prompt and of the reply; `None` if the endpoint does not say."""
    served: str = ""
    """The model, and its version, that the reply names."""
    thought: str = ""
    """The field that holds what the model thought, if there is no text beside it."""


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
    broken: bool = False
    """Whether a connection broke before there was a response."""
    field: str = ""
    """The field of the request that the endpoint rejects, if it says so."""
    sized: bool = False
    """Whether the words of a refusal may be about the size of this one query."""
    unreadable: bool = False
    """Whether there was a reply without a text."""
    foreign: bool = False
    """Whether there was a reply that is not of the protocol at all, as from a wrong address."""
    loading: bool = False
    """Whether the server still loads its model."""
    unloadable: bool = False
    """Whether the server cannot load its model."""
    elsewhere: str = ""
    """The other host that the endpoint redirects to, where nothing is sent; empty without such a redirect."""

    def __post_init__(self) -> None:
        self.reason = f"endpoint: {self.reason}"


def may_pass(reason: str) -> bool:
    """Whether a query without an answer for this reason may be answered if it is asked again."""
    _, _, cause = reason.partition("endpoint: ")
    if cause.isdecimal():
        return int(cause) in TRANSIENT or int(cause) >= 500
    return cause in ("timeout", "unreachable", "connection broken")


def passes_later(status: int) -> bool:
    """Whether the same request may succeed later, after a response with this status."""
    return status in TRANSIENT or (status >= 500 and status not in PERMANENT)


def wait_of(headers: Mapping[str, str]) -> float:
    """Seconds to wait by `Retry-After` (a number or a date) or `Retry-After-Ms`; 0 without them."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return max(0.0, seconds) if isfinite(seconds) else 0.0
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, moment.timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return 0.0


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

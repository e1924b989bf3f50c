"""Secrets in URLs: how they are found, hidden and refused.

Everything that prints or keeps a URL goes through here. A URL is cut by its structure, as `urlsplit` does it,
and what stands where a secret may stand is hidden: user and password, query, fragment. A URL that cannot be
cut so is hidden as far as it may be a secret, because users also mistype URLs with passwords.

The command line imports this module, so it imports no client library.
"""

import unicodedata
from ipaddress import IPv6Address
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlsplit

HIDDEN: Final = "***"
_BEGIN: Final = "://"
_MARKS: Final = "@?#/:"
SECRET_KEYS: Final = ("key", "token", "secret", "pass", "pwd", "auth", "credential", "sig")
"""Parts of the names of fields that hold secrets."""


class _Parts(NamedTuple):
    """The parts of a text with a URL in it; together they are the text."""

    before: str
    """Up to the `//`."""
    user: str
    """User and password, with the `@`; empty without them."""
    rest: str
    """Host and path."""
    query: str
    """Query and fragment, with their mark."""


def _parts(text: str) -> _Parts:
    # Full-width signs and their like count as the signs: some programs read them so.
    flat = "".join(map(_mark, text))
    begin = flat.find(_BEGIN) + len(_BEGIN) if _BEGIN in flat else 0
    # The last `@` is the end of the password, whatever stands in it; `%40` is an `@` that was quoted.
    end = max(begin, flat.rfind("@") + 1, flat.rfind("%40") + 3 if "%40" in flat else 0)
    marks = [place for place in (flat.find(mark, end) for mark in "?#") if place >= 0]
    query = min(marks, default=len(text))
    return _Parts(text[:begin], text[begin:end], text[end:query], text[query:])


def _mark(letter: str) -> str:
    plain = unicodedata.normalize("NFKC", letter)
    return next((mark for mark in _MARKS if mark in plain), letter)


def redacted_url(url: str) -> str:
    """What should be a URL, without user, password, query and fragment. Rather too much is hidden than too
    little."""
    before, user, rest, query = _parts(url)
    if not user:
        # `https://user:password` without its host: a port has digits only.
        host, colon, port = rest.partition(":")
        digits = port.partition("/")[0]
        if host and colon and "/" not in host and not host.startswith("[") and not digits.isdecimal():
            rest = f"{host}:{HIDDEN}"
    return before + (f"{HIDDEN}@" if user else "") + rest + (query[0] + HIDDEN if query else "")


def redacted(word: str) -> str:
    """A word of a command line without the secrets of the URL in it; unchanged without a URL."""
    return redacted_url(word) if _BEGIN in "".join(map(_mark, word)) else word


def redacted_words(text: str) -> str:
    """A text of others without the secrets of the URLs in it."""
    return " ".join(map(redacted, text.split(" ")))


def has_credentials(text: str) -> bool:
    """Whether a text seems to hold a URL with a user, a password or a key in its query."""
    before, user, _, query = _parts(text)
    if not before:
        return False
    names = [name.lower() for name, _ in parse_qsl(query.lstrip("?#"), keep_blank_values=True)]
    return bool(user) or any(key in name for name in names for key in SECRET_KEYS)


def was_redacted(url: str) -> bool:
    """Whether a URL was recorded without its user and password."""
    return f"{_BEGIN}{HIDDEN}@" in url


class ServerAddress(NamedTuple):
    """A URL in its parts."""

    scheme: str
    user: str
    """User and password as they are written, percent signs and all; empty without them."""
    place: str
    """Host and port."""
    host: str
    path: str


def server_of(url: str) -> ServerAddress | None:
    """The parts of a URL without query and fragment; `None` if it is none that can be asked."""
    if any(letter.isspace() or not letter.isprintable() for letter in url):
        return None
    try:
        parts = urlsplit(url)
        # `port` is checked only when it is read, and raises a ValueError.
        port, host = parts.port, parts.hostname or ""
    except ValueError:
        return None
    # A path of other letters may hold a full-width `?` with a key behind it.
    plain = parts.path.isascii() and "@" not in parts.path
    if port == 0 or not _is_host(host) or parts.query or parts.fragment or not plain:
        return None
    user, _, place = parts.netloc.rpartition("@")
    return ServerAddress(parts.scheme, user, place, host, parts.path)


def _is_host(host: str) -> bool:
    if ":" in host:
        try:
            return bool(IPv6Address(host))
        except ValueError:
            return False
    try:
        host.encode("idna")  # a part that is empty or too long
    except UnicodeError:
        return False
    return bool(host) and all(letter.isalnum() or letter in ".-_" for letter in host)

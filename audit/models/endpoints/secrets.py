"""Secrets in arguments of models: an argument names the variable of a secret, and never holds one.

An argument is kept in the run folder, in the history of a shell and in a file of options. So `$NAME` in a
header or a query stands for the value of a variable, which is read when the model is loaded and kept nowhere.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from codeaudit.audit.models.endpoints.urls import SECRET_KEYS, has_credentials
from codeaudit.transforms.errors import ModelError, UsageError

_VARIABLE: Final = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)\}|(?P<plain>[A-Za-z_]\w*))", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_HEADER: Final = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_KNOWN: Final = re.compile(
    r"\b(?:(?:sk|pk|rk|xai|gsk|csk|hf|ghp|gho|nvapi|glpat|r8|fw|pplx|tgp)[-_]|AIza|AKIA)[\w*-]{8,}"
    r"|\b(?:Bearer|Basic)\s+\S{6,}",
    re.ASCII,
)
"""Beginnings of the keys of common vendors."""
_LONG: Final = re.compile(r"(?=\w*\d)(?=\w*[A-Za-z])[A-Za-z0-9]{16,}", re.ASCII)
"""Letters and digits mixed without a sign between them, longer than in names of models and versions."""
_SHORTEST: Final = 8
"""Shorter values of variables are words, such as `EMPTY`, and not secrets."""
TRANSPORT: Final = frozenset(
    {"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "te"}
)
"""Headers that describe the request itself."""


class Resolved(NamedTuple):
    """An argument with the values of the variables that it names."""

    value: str
    secrets: tuple[str, ...]
    """The values of these variables."""


def names_secret(name: str) -> bool:
    """Whether a header, a field of a query or a variable is named like one that holds a secret."""
    lower = name.lower()
    return any(word in lower for word in (*SECRET_KEYS, "cookie"))


def looks_secret(text: str) -> bool:
    """Whether a text seems to hold a key, or holds the value of a variable that is named like a secret."""
    if _KNOWN.search(text) or _LONG.search(text) or has_credentials(text):
        return True
    return any(
        value in text for name, value in os.environ.items() if len(value) >= _SHORTEST and names_secret(name)
    )


def check_named(key: str, text: str) -> str:
    """Check a header or a field of a query, `headers.NAME` or `query.NAME`, as the user wrote it.

    Raises:
        UsageError: no request can carry it, or it seems to hold a secret. The message does not contain it.
    """
    kind, _, name = key.partition(".")
    if kind == "headers":
        if not _HEADER.fullmatch(name):
            raise UsageError(f"-M {key}: a header has no such name")
        if name.lower() in TRANSPORT:
            raise UsageError(f"-M {key}: this header describes the request and cannot be set")
    if not text or not text.isprintable() or (kind == "headers" and not text.isascii()):
        raise UsageError(f"-M {key}: its value is empty, or holds a character that cannot be sent")
    rest = _VARIABLE.sub("", text)
    if looks_secret(rest) or (names_secret(name) and rest == text):
        raise UsageError(
            f"-M {key} seems to hold a secret, which would be kept with the run; put it into a variable and "
            f"write {key}='$NAME' with the name of that variable (in these quotes: without them a shell puts "
            "the value there)"
        )
    return text


def resolved(key: str, text: str, *, needed: bool) -> Resolved:
    """A checked header or field with the values of its variables; without `needed` they may be missing.

    Raises:
        ModelError: a variable is not set.
        UsageError: its value cannot be sent. No message contains it.
    """
    secrets = []

    def value(match: re.Match[str]) -> str:
        name = match["braced"] or match["plain"]
        secret = os.environ.get(name, "").strip()
        if not secret and needed:
            raise ModelError(f"-M {key}={text}: the variable {name} is not set")
        if not (secret.isascii() and secret.isprintable()):
            raise UsageError(f"{name} holds a character that no key has, such as a line's end")
        secrets.append(secret)
        return secret

    return Resolved(_VARIABLE.sub(value, text), tuple(filter(None, secrets)))


def is_secret(text: str) -> bool:
    """Whether an argument names a variable."""
    return _VARIABLE.search(text) is not None


def without_names(text: str) -> str:
    """An argument for a fingerprint: with another key the answers are the same."""
    return _VARIABLE.sub("$", text)


def key_variable(text: str) -> str:
    """Check the name of the variable that holds a key.

    Raises:
        UsageError: it is none, or seems to be the key itself, which the message does not contain.
    """
    if not _NAME.fullmatch(text) or (text not in os.environ and looks_secret(text)):
        raise UsageError(
            "-M key_env must be the name of the variable that holds the key, such as OTHER_API_KEY, and "
            "never the key; none: no key is sent"
        )
    return text


def grouped(arguments: Mapping[str, object], kind: str) -> Iterator[tuple[str, str]]:
    """The names and values of a kind of argument: those of `kind` and a full stop."""
    for key, value in arguments.items():
        head, dot, name = key.partition(".")
        if dot and head == kind:
            yield name, str(value)

"""What messages are made of: numbers, articles and lists, and characters that would show nothing."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final

NAMED: Final = 10
"""Number of files that a message names."""


def counted(number: int, noun: str) -> str:
    """A number and its noun, in the plural but for one: `1 sample`, `1,679 variants`.

    Of several words the last one is the noun.
    """
    return f"{number:,} {noun}{'s'[: number != 1]}"


def with_article(noun: str) -> str:
    """A noun with its article: `a tuple`, `an object`."""
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"


def first_of(names: Sequence[str], most: int = NAMED) -> str:
    """The first of several names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def with_reasons(files: Mapping[str, str]) -> str:
    """The first of several files, each with its reason: `a.py (source does not parse)`."""
    return first_of([f"{path} ({reason})" for path, reason in files.items()])


def counted_reasons(table: Mapping[str, int], *, most: int) -> tuple[str, ...]:
    """Return counted reasons one by one: `540 × no other legal order`, `37 others`."""
    ordered = sorted(table.items(), key=lambda item: (-item[1], item[0]))
    rest = sum(number for _, number in ordered[most:])
    parts = [f"{number:,} × {reason}" for reason, number in ordered[:most]]
    return (*parts, counted(rest, "other")) if rest else tuple(parts)


_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of characters that show nothing and may change how other text is shown."""
_HIDDEN: Final = re.compile(r"\r(?!\n)|[^\t\n\f\r\x20-\x7e]")


def visible(text: str) -> str:
    r"""Write control characters, marks of direction and lone surrogates of a text as `\x1b` or `\u202e`.

    They may steer a terminal, or change how other text is shown. Every text of others goes through this
    before a person sees it: names of files, code, answers of models, messages of servers. For stdout and
    stderr `codeaudit.cli.streams` does that, whoever writes.

    Ends of lines, tabs and form feeds stay, so that the diff of an ordinary source can be applied.
    """
    if text.isprintable():
        return text
    return _HIDDEN.sub(lambda match: _escaped(match[0]), text)


def _escaped(letter: str) -> str:
    hidden = unicodedata.category(letter) in _UNSEEN
    return letter.encode("unicode_escape").decode("ascii") if hidden else letter

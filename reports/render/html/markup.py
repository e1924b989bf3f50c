"""Texts of a run as markup."""

from collections.abc import Iterable
from html import escape

from codeaudit.reports import wording


def escaped(text: str) -> str:
    """Return a text as markup that shows it; nothing in it is obeyed."""
    return escape(wording.plain(text))


def items(texts: Iterable[str]) -> str:
    """Return texts as the items of a list."""
    return "".join(f"<li>{escaped(one)}</li>" for one in texts)


def sentences(told: Iterable[str], otherwise: str) -> str:
    """Return the sentences of a verdict as a list, or `otherwise` if there are none."""
    return f'<ul class="verdict">{items([*told] or [otherwise])}</ul>'

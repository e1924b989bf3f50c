"""Blanks around operators and behind commas."""

import tokenize
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.layout.lexemes import Lexeme, gap, logical_lines
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource

BREAK: Final = "line break beside the operator"

_OPERATORS: Final = frozenset({
    "+", "-", "*", "/", "//", "%", "@", "**", "&", "|", "^", "<<", ">>", "==", "!=", "<", ">", "<=", ">=",
    "=", "+=", "-=", "*=", "/=", "//=", "%=", "@=", "**=", "&=", "|=", "^=", "<<=", ">>=", ":=", "->",
})  # fmt: skip


def find(code: PythonSource) -> Iterator[Site | Refused]:
    """Every operator between two values with the blanks on both sides, and every comma with those behind it.

    Blanks never separate text that would be read as one token: names, numbers, strings, brackets or a sign
    stand beside an operator, and no operator followed by a sign is another operator.
    """
    for row in logical_lines(code):
        for before, one, behind in zip(row, row[1:], row[2:], strict=False):
            if one.type != tokenize.OP:
                continue
            if one.text == "," and not behind.closes:
                yield from _site(code, ((one, behind),), "blanks behind a comma")
            elif one.text in _OPERATORS and before.ends_operand and not behind.closes and behind.text != ",":
                yield from _site(code, ((before, one), (one, behind)), "blanks around an operator")


def _site(code: PythonSource, gaps: tuple[tuple[Lexeme, Lexeme], ...], note: str) -> Iterator[Site | Refused]:
    now = tuple(gap(code, before, behind) for before, behind in gaps)
    if any(text.strip(b" \t") for text in now):
        yield Refused(BREAK)
        return
    options = tuple(
        tuple(Patch(before.end, behind.start, (blank,)) for before, behind in gaps)
        for blank in ("", " ", "  ")
        if any(text != blank.encode() for text in now)
    )
    yield Site(options, note, gaps[0][0].line)


SPACING: Final = PythonRule(name="spacing", find=find, nothing="no operator and no comma", proof="tree")

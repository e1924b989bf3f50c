"""Where lines end."""

import pytest

from codeaudit.transforms.python.layout import lines
from codeaudit.transforms.python.layout.lines import (
    INSERT_BLANK_LINES,
    JOIN_LINES,
    JOIN_STATEMENTS,
    REMOVE_BLANK_LINES,
    SPLIT_LINES,
    SPLIT_STATEMENTS,
)
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.records import Perturbed
from tests.transforms.python.order.support import outcome, reasons, untouched, variants

EVERYWHERE: dict[str, tuple[PythonRule, str, str]] = {
    "blank lines go": (REMOVE_BLANK_LINES, "a = 1\n\n \t\nb = 2\n", "a = 1\nb = 2\n"),
    "blank lines in brackets go": (REMOVE_BLANK_LINES, "a = [\n\n    1,\n]\n", "a = [\n    1,\n]\n"),
    "blank lines in strings stay": (
        REMOVE_BLANK_LINES,
        'a = """\n\n"""\n\nb = f"""\n\n{a}"""\n',
        'a = """\n\n"""\nb = f"""\n\n{a}"""\n',
    ),
    "blank lines with carriage returns": (REMOVE_BLANK_LINES, "a = 1\r\n\r\nb = 2\r\n", "a = 1\r\nb = 2\r\n"),
    "lines in brackets are joined": (JOIN_LINES, "f(\n    a,\n    b,\n)\n", "f(a, b,)\n"),
    "a chain of calls is joined": (JOIN_LINES, "a = (b\n     .c())\n", "a = (b.c())\n"),
    "an attribute of a number": (JOIN_LINES, "a = (1\n     .real)\n", "a = (1 .real)\n"),
    "a line after a backslash is joined": (JOIN_LINES, "a = 1 + \\\n    2\n", "a = 1 + 2\n"),
    "words stay apart": (JOIN_LINES, "a = (b if c\nelse d)\n", "a = (b if c else d)\n"),
    "strings in a row": (JOIN_LINES, "a = ('b'\n     'c')\n", "a = ('b' 'c')\n"),
    "a string over lines is none of this": (JOIN_LINES, "f('''a\nb''',\n  c)\n", "f('''a\nb''', c)\n"),
    "statements are joined": (JOIN_STATEMENTS, "a = 1\nb = 2\n\nc()  # d\n", "a = 1; b = 2; c()  # d\n"),
    "statements of a block are joined": (
        JOIN_STATEMENTS,
        "if a:\n    b()\n    c()\nd()\n",
        "if a:\n    b(); c()\nd()\n",
    ),
    "statements are split": (SPLIT_STATEMENTS, "a = 1; b = 2 ;c()  # d\n", "a = 1\nb = 2\nc()  # d\n"),
    "statements of a block are split": (
        SPLIT_STATEMENTS,
        "if a:\n\tb(); c();\n",
        "if a:\n\tb()\n\tc();\n",
    ),
    "a semicolon in a string": (SPLIT_STATEMENTS, "a = ';'; b = f';{a};'\n", "a = ';'\nb = f';{a};'\n"),
}


@pytest.mark.parametrize("case", EVERYWHERE)
def test_every_site(case: str) -> None:
    rule, before, after = EVERYWHERE[case]
    edit = outcome(rule, before)
    assert isinstance(edit, Perturbed), edit
    assert edit.source == after


DECLINED: dict[str, tuple[PythonRule, str, str]] = {
    "a comment between joined lines": (JOIN_LINES, "f(a,  # b\n  c)\n", lines.COMMENT),
    "a comment between joined statements": (JOIN_STATEMENTS, "a()  # b\nc()\n", lines.COMMENT),
    "a compound statement has no semicolon": (JOIN_STATEMENTS, "a()\nif b: c()\n", lines.COMPOUND),
    "a docstring stays alone": (JOIN_STATEMENTS, "'''a'''\nb()\n", lines.DOCSTRING),
    "a body on the line of its header": (SPLIT_STATEMENTS, "if a: b(); c()\n", lines.ONE_LINE_BODY),
    "a class on one line": (SPLIT_STATEMENTS, "class A: b = 1; c = 2\n", lines.ONE_LINE_BODY),
    "what would bring an encoding to the second line": (
        REMOVE_BLANK_LINES,
        "\n\n# coding: latin-1\na = 'é'\n",
        lines.HEAD,
    ),
}


@pytest.mark.parametrize("case", DECLINED)
def test_declined(case: str) -> None:
    rule, source, reason = DECLINED[case]
    assert reasons(rule, source) == {reason}
    assert untouched(rule, source)


def test_blank_lines_are_inserted_above_the_comments_of_a_line() -> None:
    assert variants(INSERT_BLANK_LINES, "a = 1\n# b\nc = 2\n") == {
        "a = 1\n\n# b\nc = 2\n",
        "a = 1\n\n\n# b\nc = 2\n",
    }


def test_no_line_is_inserted_above_a_method_or_an_encoding() -> None:
    assert variants(INSERT_BLANK_LINES, "class _:\n    def f(self): pass\n") == set()
    assert variants(INSERT_BLANK_LINES, "# coding: utf-8\na = 1\n") == set()


def test_lines_break_behind_commas_in_brackets_only() -> None:
    assert variants(SPLIT_LINES, "a, b = f(a, b)\n") == {
        "a, b = f(a,\n    b)\n",
        "a, b = f(a,\n        b)\n",
        "a, b = f(a,\n         b)\n",
    }
    assert untouched(SPLIT_LINES, "a = f'{b, c}', 'd, e', (f,)\n")

"""Numbers and strings in other forms, and those that become others."""

import ast
import re

import pytest

from codeaudit.transforms.python.layout import literals
from codeaudit.transforms.python.layout.literals import (
    JOIN_STRINGS,
    LITERAL_BASES,
    LITERAL_CHANGED,
    QUOTES,
    SPLIT_STRINGS,
    STRING_CHANGED,
)
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.records import Perturbed
from tests.transforms.python.order.support import outcome, reasons, run, untouched, variants

EVERYWHERE: dict[str, tuple[PythonRule, str, str]] = {
    "quotes": (QUOTES, "a = 'b', \"c\"\n", "a = \"b\", 'c'\n"),
    "a docstring": (QUOTES, "def f():\n    '''A\n    b.'''\n", 'def f():\n    """A\n    b."""\n'),
    "a raw string": (QUOTES, r"a = r'\d\''" + "\n", r'a = r"\d\'"' + "\n"),
    "bytes": (QUOTES, "a = b'c' Rb'd'\n", 'a = b"c" Rb"d"\n'),
    "escapes": (QUOTES, r"a = 'b\'c\n'" + "\n", r'a = "b\'c\n"' + "\n"),
    "an f-string": (QUOTES, "a = f'{b!r:>{c}}'\n", 'a = f"{b!r:>{c}}"\n'),
    "a quote inside of three": (QUOTES, "a = '''b\"c'''\n", 'a = """b"c"""\n'),
    "a string that begins with the other quote": (QUOTES, "a = '''\"b'''\n", 'a = """"b"""\n'),
    "no quotes in a comment": (QUOTES, "a = 'b'  # it's\n", 'a = "b"  # it\'s\n'),
    "strings are joined": (JOIN_STRINGS, "a = 'b' 'c' 'd'\n", "a = 'bcd'\n"),
    "strings over lines are joined": (JOIN_STRINGS, "a = ('b'\n     'c')\n", "a = ('bc')\n"),
    "raw strings are joined": (JOIN_STRINGS, r"a = r'\d' R'\w'" + "\n", r"a = r'\d\w'" + "\n"),
    "bytes are joined": (JOIN_STRINGS, "a = b'c' B'd'\n", "a = b'cd'\n"),
}


@pytest.mark.parametrize("case", EVERYWHERE)
def test_every_site(case: str) -> None:
    rule, before, after = EVERYWHERE[case]
    edit = outcome(rule, before)
    assert isinstance(edit, Perturbed), edit
    assert edit.source == after


DECLINED: dict[str, tuple[PythonRule, str, str]] = {
    "the other quote inside": (QUOTES, "a = 'b\"c'\n", literals.OTHER_QUOTES),
    "the other quote at the end of three": (QUOTES, "a = '''b\"'''\n", literals.OTHER_QUOTES),
    "quotes in a field": (QUOTES, "a = f'{b[\"c\"]}'\n", literals.FIELDS),
    "quotes behind a field": (QUOTES, "a = f'{b}\\''\n", literals.FIELDS),
    "an f-string is not split": (SPLIT_STRINGS, "a = (f'{b}cdefg')\n", literals.FORMATTED),
    "a docstring is not split": (SPLIT_STRINGS, "def f():\n    ('abcdef')\n", literals.DOCSTRING),
    "a short string is not split": (SPLIT_STRINGS, "f('abc')\n", literals.SHORT),
    "escapes are not split": (SPLIT_STRINGS, r"f('\x41\n\'')" + "\n", literals.SHORT),
    "a string outside of brackets is not split": (SPLIT_STRINGS, "a = 'bcdef'\n", literals.OUTSIDE),
    "f-strings are not joined": (JOIN_STRINGS, "a = f'{b}' 'c'\n", literals.FORMATTED),
    "raw and plain are not joined": (JOIN_STRINGS, r"a = r'\b' '\n'" + "\n", literals.OTHER_KIND),
    "single and triple are not joined": (JOIN_STRINGS, "a = 'b' '''c'''\n", literals.OTHER_KIND),
    "an escape that would go on": (JOIN_STRINGS, r"a = '\1' '2'" + "\n", literals.JUNCTION),
    "an escape that would go on behind nothing": (JOIN_STRINGS, r"a = '\1' ''" + "\n", literals.JUNCTION),
    "a comment between": (JOIN_STRINGS, "a = ('b'  # c\n     'd')\n", literals.COMMENT),
    "a number that touches a word": (LITERAL_BASES, "a = 15if b else c\n", literals.TOUCHING),
    "an imaginary number": (LITERAL_BASES, "a = 2j\n", literals.ONE_FORM),
    "an infinite number": (LITERAL_BASES, "a = 1e999\n", literals.ONE_FORM),
}


@pytest.mark.parametrize("case", DECLINED)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")
def test_declined(case: str) -> None:
    rule, source, reason = DECLINED[case]
    assert reasons(rule, source) == {reason}
    assert untouched(rule, source)


@pytest.mark.parametrize(
    "text",
    [
        "'abcd efgh'",
        r"'\x41\u0041\N{DASH}\101\n\\x41'".replace("DASH", "EM DASH"),
        r"r'\\\'\d\''",
        r"b'\x00\001\n\'ab'",
        "'''a\"b\n'c'd'''",
        "'é€😀é'",
        "'a\\\nb\\\nc'",
        "u'abcdef'",
        "'''a\r\nb\r\nc'''",
    ],
)
def test_a_string_is_split_between_its_characters(text: str) -> None:
    source = f"a = ({text})\n"
    texts = variants(SPLIT_STRINGS, source)
    assert texts
    for split in texts:
        assert re.fullmatch(r"(?s)a = \(.+['\"] [a-z]?['\"].+\)\n", split), split
        assert ast.dump(ast.parse(split)) == ast.dump(ast.parse(source))


NUMBERS = {
    "255": {"0xff", "0XFF"},
    "10": {"0xa", "0XA", "0b1010", "0o12"},
    "1000000": {"0xf4240", "0XF4240", "1_000_000"},
    "0xff": {"255"},
    "0b11": {"3"},
    "1_000": {"1000"},
    "1e3": {"1000.0"},
    "1000.0": {"1.0e3", "1e3"} - {"1.0e3"},
    "0.5": {"5e-1", ".5"},
    "2.50": {"2.5", "2.5e0", "25e-1"},
}


@pytest.mark.parametrize("text", NUMBERS)
def test_the_forms_of_a_number(text: str) -> None:
    forms = {variant.removeprefix("a = -").rstrip() for variant in variants(LITERAL_BASES, f"a = -{text}\n")}
    assert forms == {*NUMBERS[text]}
    for form in forms:
        assert (type(ast.literal_eval(form)), ast.literal_eval(form)) == (
            type(ast.literal_eval(text)),
            ast.literal_eval(text),
        )


def test_no_number_of_a_string_or_of_the_line_above_a_function() -> None:
    assert untouched(LITERAL_BASES, "if 1:\n    def f():\n        return '10', f'{10}', True\n")


CHANGED: dict[str, tuple[PythonRule, str, str, str]] = {
    "a returned number": (LITERAL_CHANGED, "def f(a):\n    return a + 10\n", "a + 11", "f(0)"),
    "a hexadecimal number": (LITERAL_CHANGED, "def f(a):\n    return 0xFF\n", "0xFE", "f(0)"),
    "a compared number": (LITERAL_CHANGED, "def f(a):\n    return [a] if a < 9 else a\n", "a < 10", "f(9)"),
    "a number with a fraction": (LITERAL_CHANGED, "def f(a):\n    return 1.5\n", "2.5", "f(0)"),
    "a returned string": (STRING_CHANGED, "def f(a):\n    return 'abz'\n", '"aba"', "f(0)"),
    "a compared string": (
        STRING_CHANGED,
        "def f(a):\n    b = a == 'x\\n'\n    return b\n",
        '"y\\n"',
        "f('y\\n')",
    ),
}


@pytest.mark.parametrize("case", CHANGED)
def test_what_is_changed_is_seen(case: str) -> None:
    rule, before, part, call = CHANGED[case]
    (after,) = variants(rule, before)
    assert part in after
    assert run(after, call) != run(before, call)


UNSEEN: dict[str, tuple[PythonRule, str, str]] = {
    "behind a return": (LITERAL_CHANGED, "def f(a):\n    return a\n    return 1\n", literals.DEAD),
    "under a condition that never holds": (
        LITERAL_CHANGED,
        "def f(a):\n    if 0:\n        return 10\n",
        literals.DEAD,
    ),
    "in a default": (LITERAL_CHANGED, "def f(a=1):\n    return a\n", literals.UNSEEN),
    "in an assertion": (LITERAL_CHANGED, "def f(a):\n    assert a == 1\n", literals.UNSEEN),
    "as an argument": (STRING_CHANGED, "def f(a):\n    print('a')\n", literals.UNSEEN),
    "in a docstring": (STRING_CHANGED, "def f(a):\n    'a'\n", literals.UNSEEN),
}


@pytest.mark.parametrize("case", UNSEEN)
def test_nothing_that_may_not_be_seen(case: str) -> None:
    rule, source, reason = UNSEEN[case]
    assert reason in reasons(rule, source)
    assert untouched(rule, source)

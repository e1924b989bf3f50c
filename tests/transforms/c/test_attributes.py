"""Attributes of variables: a rewriting keeps each with the variable that has it, whether or not it is read."""

from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Final

import pytest

from codeaudit.transforms.c.language import C
from codeaudit.transforms.c.rewriting import UNREAD_WORDS
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.registry import transform_for
from tests.support.c_running import NO_CODE, Versions, needs_gcc, outputs

PRESERVING: Final = [name for name, entry in C.transforms.items() if entry.kind == "preserving"]
OF_C: Final = (
    "__attribute__((aligned(64)))", "ALIGNED", "_Alignas(64)", "[[gnu::aligned(64)]]", "ALIGNED /* here */",
)  # fmt: skip
OF_CPP: Final = ("__attribute__((aligned(64)))", "ALIGNED", "alignas(64)", "[[gnu::aligned(64)]]")
UNRUN: Final = ('__attribute__((section("s")))', "register", "__declspec(align(64))", "volatile", "__used")
PLACES: Final = (
    "@ int a = n; int b = 2; int c = 3;",
    "int b = 2; @ int a = n; int c = 3;",
    "int b = 2; @ int a; int c = 3; a = n;",
    "int b = 2; @ int a; a = n; int c = 3;",
    "int b = 2; int @ a = n ? n : 4; int c = 3;",
    "int b = 2; int a @ = n; int c = 3;",
    "int b = 2, c = 3; int a @; a = n;",
    "int b, c = 3; int a @; int d = 1; b = 2; a = n;",
    "int b = 2, a @ = n, c = 3;",
    "int a @, b = 2, c = 3; a = n;",
    "int b = 2, c = 3, @ a = n;",
    "int b = 2, c = 3; for (@ int a = n; a < 9; a++) SHOW; int a = n;",
    "int b = 2, c = 3;\n    @ int a = n;\n    if (b > n) {\n        @ int a = b; SHOW;\n    }",
)
"""Bodies that give `a` an attribute, in place of the sign @."""
SHOW: Final = "sum += ((unsigned long)&a & 63) == 0;"
PRELUDE: Final = "#define ALIGNED __attribute__((aligned(64)))\n"


def function(place: str, attribute: str) -> str:
    """A function whose result counts how often `a` lies where its attribute puts it."""
    body = place.replace("@", attribute).replace("SHOW;", SHOW)
    return f"int f(int n) {{\n    int sum = 0;\n    {body}\n    {SHOW}\n    return sum + a + b + c;\n}}\n"


def variants(name: str, language: str, text: str) -> Iterator[str]:
    """The first variants of a text by a transform, all with one edit."""
    transform = transform_for(name, language)
    moves = list(islice(transform.every(text), 20))
    drawn = (transform.propose(text, Random(seed)) for seed in range(2))
    for chosen in (*moves, *(move for move in drawn if not isinstance(move, Refused))):
        result = transform.apply(text, chosen)
        if not isinstance(result, Refused):
            yield result.source


def reads(text: str, language: str) -> bool:
    """Whether the text is one that transforms rewrite at all."""
    try:
        transform_for("rename", language).propose(text, Random(0))
    except SourceError:
        return False
    return True


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_no_attribute_is_lost(language: str) -> None:
    read = 0
    for attribute in (*(OF_C if language == "c" else OF_CPP), *UNRUN):
        for place in PLACES:
            text = function(place, attribute)
            if not reads(text, language):
                continue
            read += 1
            word = attribute.split()[0]
            for name in PRESERVING:
                for made in variants(name, language, text):
                    assert made.count(word) >= text.count(word), f"{name}:\n{text}{made}"
    assert read > 50


@needs_gcc
@pytest.mark.parametrize("language", ["c", "cpp"])
def test_each_variable_lies_where_its_attribute_puts_it(language: str) -> None:
    rows = []
    for attribute in OF_C if language == "c" else OF_CPP:
        for place in PLACES:
            text = function(place, attribute)
            # Behind a type, these say nothing of the variable.
            of_type = "int @ a" in place and attribute.startswith(("alignas", "[["))
            if reads(text, language) and not of_type:
                made = [variant for name in PRESERVING for variant in variants(name, language, text)]
                compiler = "gcc" if language == "c" else "g++"
                calls = 'printf("%d %d", f(1), f(7));'
                rows.append(Versions(list(dict.fromkeys((text, *made))), calls, PRELUDE, compiler))
    assert len(rows) > 20
    # Without optimisation variables lie behind each other, so one without its attribute is out of place.
    for row, (before, *after) in zip(rows, outputs(rows, "-O0"), strict=True):
        assert before != NO_CODE, row.functions[0]
        for text, own in zip(row.functions[1:], after, strict=True):
            assert own == before, f"{row.functions[0]}{text}"


def test_a_lost_attribute_is_a_counted_reason() -> None:
    text = "int f(int n) { int a ALIGNED = n; return a; }"
    result = transform_for("split-initialisers", "c").propose(text, Random(0))
    assert isinstance(result, Refused)
    assert UNREAD_WORDS in result.reason


OF_GNU: Final = (
    "__complex__ double z = n; if (__real__ z < n || __imag__ z > 0) sum = 3;",
    "_Complex double z = n + 2.0; if (__real z == 2 + n && __imag z == 0) sum += 2; else sum -= 1;",
    "__complex double z = n; double a = n; if (z == a) sum = __real__ z + n * 2 + __imag__ z;",
    "_Complex float z = 0; __real__ z = n; __imag__ z = 2; sum = __real__ z - __imag__ z < 3 ? n : 4;",
    "char a = n; sum = __alignof__ a + n * 2; int b = __alignof a < 8;",
    "__signed__ char a = n * 100; __signed char b = a; if (a < b + 1) sum = a * n;",
    "__volatile__ int a = n; int __volatile b = a; sum = a + b * n; a += 1; if (!(a > b)) sum++;",
)


@needs_gcc
def test_words_of_gnu_c_are_no_attributes() -> None:
    """What looks like an attribute and is an operator or part of a type keeps its meaning, or the function its text."""
    rows = []
    for text in (f"int f(int n) {{\n    int sum = 1;\n    {body}\n    return sum;\n}}\n" for body in OF_GNU):
        made = (
            [variant for name in PRESERVING for variant in variants(name, "c", text)]
            if reads(text, "c")
            else []
        )
        rows.append(Versions([text, *made], 'printf("%d %d", f(1), f(7));'))
    for row, (before, *after) in zip(rows, outputs(rows), strict=True):
        assert before != NO_CODE, row.functions[0]
        for text, own in zip(row.functions[1:], after, strict=True):
            assert own == before, f"{row.functions[0]}{text}"

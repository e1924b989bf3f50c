"""Which functions of a file become samples, and in which form."""

import ast
from collections import Counter
from contextlib import suppress

import pytest

from codeaudit.audit.corpora.functions import decode, functions, parse
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.files import PYTHON_FILES
from codeaudit.transforms.records import Sample
from tests.conftest import TOTALS


def found(text: str) -> tuple[list[Sample], Counter[str]]:
    left_out: Counter[str] = Counter()
    return list(functions(text, "file.py", left_out)), left_out


def test_functions_and_methods_with_their_origin() -> None:
    samples, left_out = found(TOTALS)
    assert [(sample.label, sample.origin.line) for sample in samples] == [
        ("sum_values", 1),
        ("openBalance", 18),
    ]
    assert samples[1].source.startswith("@property\ndef openBalance(self):\n    first = 1\n")
    assert left_out == {"dunder name": 1, "stub": 1, "function under 3 lines": 1}


def test_every_sample_parses_alone() -> None:
    for sample in found(TOTALS)[0]:
        assert isinstance(ast.parse(sample.source).body[0], ast.FunctionDef)


def test_functions_under_conditions_and_in_nested_classes_are_found() -> None:
    text = """
if True:
    def one(x):
        y = x
        return y
else:
    class A:
        class B:
            async def two(self):
                x = 1
                return x
try:
    pass
except ImportError:
    def three(x):
        y = x
        return y
"""
    assert [sample.label for sample in found(text)[0]] == ["one", "two", "three"]


def test_inner_functions_belong_to_the_outer_one() -> None:
    text = "def outer(x):\n    def inner(y):\n        z = y\n        return z\n    return inner(x)\n"
    assert [sample.label for sample in found(text)[0]] == ["outer"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('def f(x):\n    """Doc.\n\n    More."""\n', "stub"),
        ("def f(x):\n    # todo\n    raise NotImplementedError\n", "stub"),
        ("def f(x):\n    # todo\n    raise NotImplementedError('x')\n", "stub"),
        ("@typing.overload\ndef f(x):\n    return 1\n", "overload"),
        ("@overload\ndef f(x):\n    return 1\n", "overload"),
        ("def f(x):\n" + "    x += 1\n" * 60, "function over 60 lines"),
        ("def f(x):\n    y = '" + "a" * 8000 + "'\n    return y\n", "function over 8000 characters"),
    ],
)
def test_what_is_left_out_is_counted(text: str, reason: str) -> None:
    assert found(text) == ([], {reason: 1})


def test_text_of_strings_that_stand_further_left_is_kept() -> None:
    text = 'class A:\n    def f(self):\n        x = """\nleft\n    right"""\n        return x\n'
    (sample,) = found(text)[0]
    assert sample.source == 'def f(self):\n    x = """\nleft\nright"""\n    return x'


def test_form_feeds_do_not_shift_lines() -> None:
    (sample,) = found("\x0c\ndef f(x):\n    y = x\n    return y\n")[0]
    assert sample.source == "def f(x):\n    y = x\n    return y"


def test_ids_depend_on_the_text_alone() -> None:
    one = found(TOTALS)[0][0]
    other = found("\n\n" + TOTALS)[0][0]
    assert one.id == other.id
    assert one.origin.line + 2 == other.origin.line


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"x = '\xff'\n", "not UTF-8"),
        (b"x = 1\0\n", "null bytes"),
        ("x = 1\n".encode("utf-16"), "UTF-16 or UTF-32"),
        ("x = 1\n".encode("utf-32-le"), "UTF-16 or UTF-32"),
        ("x = 1\n".encode("utf-32-be"), "UTF-16 or UTF-32"),
        (b"\x7fELF\2\1\1" + bytes(9) + b"\3\0>\0\1\0\0\0", "null bytes"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1" + bytes(20), "null bytes"),
        (b"x" * 2_000_001, "file over 2 MB"),
        (b"# coding: nonsense\n", "unknown encoding"),
    ],
)
def test_unreadable_bytes_say_why(data: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        decode(data, PYTHON_FILES.encoding_of)


def test_a_coding_cookie_and_line_ends_are_honoured() -> None:
    text = "# coding: latin-1\nx = 'é'\n"
    assert decode(text.replace("\n", "\r\n").encode("latin-1"), PYTHON_FILES.encoding_of) == text
    assert decode(b"\xef\xbb\xbfx = 1\n", PYTHON_FILES.encoding_of) == "x = 1\n"


@pytest.mark.parametrize(("opening", "closing"), [("(", ")"), ("[", "]")])
def test_deep_nesting_is_a_reason_and_no_crash(opening: str, closing: str) -> None:
    with pytest.raises(SourceError, match=r"nested too deeply|source does not parse"):
        parse("x = " + opening * 5000 + "1" + closing * 5000)


@pytest.mark.parametrize("opening", ["-", "not "])
def test_deep_operators_are_read_or_a_reason_and_no_crash(opening: str) -> None:
    # Later parsers read what Python 3.11 gives up on.
    with suppress(SourceError):
        assert parse("x = " + opening * 5000 + "1").body


def test_warnings_of_the_parser_stay_silent() -> None:
    assert parse(r"x = '\d'").body

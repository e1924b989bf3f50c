"""Files of C, rewritten in place, and functions whose head is not whole."""

from random import Random

import pytest

from codeaudit.transforms.c.cpp.reading import name_of
from codeaudit.transforms.c.files import C_FILES, CPP_FILES, NONE_READ, OF_CPP, function_context
from codeaudit.transforms.c.parsing import DIRECTIVE, read_unit
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.source_files import Applied, TransformSeries, perturb_file

FILE = b"""#define ADD(n) (sum += (n))
EXPORT(int) total(int a) { int sum = 0; int other = a; ADD(other); return sum; }\r
#ifdef ONE
static int f(int a) { if (a) return 1; return 0; }
#else
static int f(int a) {
#if TWO
    a++;
#endif
    if (a) return 2; return 0; }
#endif
"""


def test_every_byte_outside_of_functions_stays() -> None:
    # No compiler reads the branch of `ONE`.
    series = TransformSeries(transforms=(transform_for("hygienic/insert-braces", "c"),), seed=0, sites="all")
    edited = perturb_file(C_FILES, FILE, "a.c", series)
    assert edited.data == FILE.replace(b"return 1;", b"{ return 1; }")
    reasons = {
        record.unit.name: "" if isinstance(record, Applied) else record.reason for record in edited.records
    }
    assert (reasons["f"], reasons["f#2"]) == ("", DIRECTIVE)


def test_the_macros_of_the_file_are_known() -> None:
    series = TransformSeries(transforms=(transform_for("rename", "c"),), seed=0, sites="all")
    edited = perturb_file(C_FILES, FILE, "a.c", series)
    assert b"int sum = 0; int other" not in edited.data
    assert b"int sum = 0;" in edited.data


def test_a_header_of_cpp_is_not_read() -> None:
    data = b"namespace a {\ninline int f(int a) { if (a) return 1; return 0; }\n}\n"
    series = TransformSeries(transforms=(transform_for("insert-braces", "c"),), seed=0)
    assert perturb_file(C_FILES, data, "a.h", series).unread == OF_CPP
    data = b"[[gnu::pure, clang :: noinline]] int f(int a) { [[__gnu__::unused]] int b; if (a) return 1; return 0; }\n"
    assert perturb_file(C_FILES, data, "a.c", series).unread == ""
    context = function_context("#include <a.h>\nint f(int a) { return a; }\nint b;\n")
    assert (context.before, context.after) == ("#include <a.h>\n", "\nint b;\n")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("int f( {\n", NONE_READ),
        ("int f(int a);\n#define F(a) { a; }\nstruct __attribute__((packed)) s { int a; };\n", ""),
        ("/* int f() { */\nextern int a;\nenum e { A = (1), B };\n", ""),
    ],
)
@pytest.mark.parametrize("path", ["a.c", "a.cpp"])
def test_a_file_whose_functions_are_not_found_is_not_read(text: str, reason: str, path: str) -> None:
    files, language = (C_FILES, "c") if path == "a.c" else (CPP_FILES, "cpp")
    series = TransformSeries(transforms=(transform_for("rename", language),), seed=0)
    assert perturb_file(files, text.encode(), path, series).unread == reason


@pytest.mark.parametrize("comment", ["", "/* f(x) */\n"])
def test_a_head_without_its_type(comment: str) -> None:
    source = comment + "f(struct s *a, int b)\n{\n    int c = b;\n    if (c) return a->d;\n    return c;\n}\n"
    reading, function = read_unit(source)
    assert reading.text(function) == source[len(comment) :].rstrip()
    assert function.child("type") is None
    for name in ("rename-parameters", "insert-braces"):
        rule = transform_for(name, "c")
        made = []
        for text in (source, f"int {source}"):
            moves = rule.propose(text, Random(0))
            assert not isinstance(moves, Refused)
            rewritten = rule.apply(text, moves)
            assert isinstance(rewritten, Rewritten)
            made.append(rewritten.source)
        assert f"int {made[0]}" == made[1]
        assert made[0] != source


@pytest.mark.parametrize(
    "head", ["LIB_API(char *) f(void *a)", "LIB_API(void)\nf(char *a)", "f(char *a) /* g */"]
)
def test_a_macro_with_the_type_is_no_name(head: str) -> None:
    reading, function = read_unit(f"{head}\n{{\n    g(a);\n}}\n")
    assert name_of(reading.source, function) == "f"


def test_other_texts_that_begin_with_a_name() -> None:
    for text in ("f(a);", "HANDLER (lds) { return; }", "f(a) int a; { return a; }", "EACH(a, b) { f(a); }"):
        with pytest.raises(SourceError):
            read_unit(text)

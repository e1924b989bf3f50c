"""Files of C, rewritten in place."""

from codeaudit.transforms.c.files import C_FILES, OF_CPP, function_context
from codeaudit.transforms.c.parsing import DIRECTIVE
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
    series = TransformSeries(transforms=(transform_for("insert-braces", "c"),), seed=0, sites="all")
    found = perturb_file(C_FILES, FILE, "a.c", series)
    assert found.data == FILE.replace(b"return 1;", b"{ return 1; }")
    told = {one.unit.name: "" if isinstance(one, Applied) else one.reason for one in found.records}
    assert (told["f"], told["f#2"]) == ("", DIRECTIVE)


def test_the_macros_of_the_file_are_known() -> None:
    series = TransformSeries(transforms=(transform_for("rename", "c"),), seed=0, sites="all")
    found = perturb_file(C_FILES, FILE, "a.c", series)
    assert b"int sum = 0; int other" not in found.data
    assert b"int sum = 0;" in found.data


def test_a_header_of_cpp_is_not_read() -> None:
    data = b"namespace a {\ninline int f(int a) { if (a) return 1; return 0; }\n}\n"
    series = TransformSeries(transforms=(transform_for("insert-braces", "c"),), seed=0)
    assert perturb_file(C_FILES, data, "a.h", series).unread == OF_CPP
    context = function_context("#include <a.h>\nint f(int a) { return a; }\nint b;\n")
    assert (context.before, context.after) == ("#include <a.h>\n", "\nint b;\n")

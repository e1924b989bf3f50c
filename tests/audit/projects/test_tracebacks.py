"""Units found in the text of tracebacks, as Python and as pytest write them."""

from pathlib import Path

from codeaudit.audit.projects.verify import units_in_traceback
from codeaudit.transforms.source_files import MODULE

FILE = b"x = 1\n\n\ndef f():\n    return g()\n\n\nclass A:\n    def m(self):\n        return 1\n"


def test_frames_of_both_forms_innermost_first(tmp_path: Path) -> None:
    text = f"""\
tests/test_m.py:3: in test
    f()
pkg/m.py:5: in f
E   ZeroDivisionError
  File "{tmp_path}/pkg/m.py", line 10, in m
  File "{tmp_path}/pkg/m.py", line 1, in <module>
  File "/elsewhere/pkg/m.py", line 5, in f
pkg/other.py:5: KeyError
"""
    units = units_in_traceback(text, tmp_path, {"pkg/m.py": FILE})
    assert units == (("pkg/m.py", MODULE), ("pkg/m.py", "A.m"), ("pkg/m.py", "f"))


def test_a_file_that_does_not_parse_is_one_unit(tmp_path: Path) -> None:
    assert units_in_traceback("m.py:5: SyntaxError\n", tmp_path, {"m.py": b"def f(:\n"}) == (
        ("m.py", MODULE),
    )


JAVA = b"""\
package p.q;

class A {
    int f() {
        return g();
    }
    static class B { int g(int a) { return a; } }
}
"""


def test_frames_of_java_and_of_its_compiler(tmp_path: Path) -> None:
    files = {"src/main/java/p/q/A.java": JAVA, "src/main/java/p/A.java": JAVA}
    text = """\
java.lang.IllegalStateException: at p.q.A.f(nothing)
\tat app//p.q.A.f(A.java:5)
\tat java.base/java.util.ArrayList.forEach(ArrayList.java:1511)
\tat p.q.ATest.test(ATest.java:9)
Caused by: java.lang.ArithmeticException
\tat p.q.A$B.g(A.java:7)
\tat p.q.A$$Lambda$14.<init>(A.java:5)
\t... 3 more
"""
    path = "src/main/java/p/q/A.java"
    assert units_in_traceback(text, tmp_path, files) == ((path, "A.B.g"), (path, "A.f"))
    assert units_in_traceback(f"{path}:5: error: cannot find symbol\n", tmp_path, files) == ((path, "A.f"),)
    assert units_in_traceback("\tat A.f(A.java:5)\n", tmp_path, {"A.java": JAVA}) == (("A.java", "A.f"),)

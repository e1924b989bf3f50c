"""Units found in the text of tracebacks, as Python and as pytest write them."""

from pathlib import Path

from audit.trees.frames import units_in_traceback
from transforms.python.tree import MODULE

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
    found = units_in_traceback(text, tmp_path, {"pkg/m.py": FILE})
    assert found == (("pkg/m.py", MODULE), ("pkg/m.py", "A.m"), ("pkg/m.py", "f"))


def test_a_file_that_does_not_parse_is_one_unit(tmp_path: Path) -> None:
    assert units_in_traceback("m.py:5: SyntaxError\n", tmp_path, {"m.py": b"def f(:\n"}) == (
        ("m.py", MODULE),
    )

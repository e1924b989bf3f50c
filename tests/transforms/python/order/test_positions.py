"""A file that reads line numbers keeps its code on its lines, whatever the transform. By execution.

Each text prints a line number, or what it decides by one.
"""

import linecache
from pathlib import Path
from random import Random

import pytest

import codeaudit
from codeaudit.transforms.errors import NotAppliedError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.python.analysis.capabilities import (
    FILE,
    POSITIONS_READ,
    SOURCE_READ,
    STATES,
    LinesRead,
    Sees,
    shown_by,
)
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.python.order.reorder import REORDER
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.registry import TRANSFORMS, entry_of, expand

MOVING = """\
def told(a, b):
    first = 1
    second = 2
    third = [a, b]
    if a is None or b is None:
        return a
    else:
        # Nothing is missing.
        size = max(third, key=len)
    def inner(x, *, y=3, z=4):
        return x, y, z
    last = first + second
    return size, last, inner


def other(a):
    return told(a, a)


class C:
    def one(self):
        return 1

    def two(self):
        return 2

"""
"""What every transform could edit."""
TRIMMED = """\
import sys, traceback
call_line = None
def trimmed(func):
    global call_line
    limit = 0
    found = False
    DIFF = 7
    call_line = call_line or traceback.extract_stack(limit=2)[-1]
    synth = (call_line[0], call_line[1] + DIFF)
    def wrapper(*args):
        nonlocal found, limit
        while 1:
            try:
                result = func(*args[limit:])
                found = True
                return result
            except TypeError as error:
                if found or limit > 3:
                    raise
                if traceback.extract_tb(error.__traceback__, limit=2)[-1][:2] != synth:
                    return "the function itself raised"
                limit += 1
    name = func.__name__
    wrapper.__name__ = name
    return wrapper
def work(token):
    return token
"""
TEXTS = {
    "a stack, a traceback": TRIMMED + "print(trimmed(work)(1, 2, 3), trimmed(lambda: len(3))(1))",
    "the line of a frame": "import sys\ndef f():\n    a = 1\n    b = sys._getframe().f_lineno\n    c = 3\n    return a, b, c",
    "the line of a caller": (
        "import sys\ndef seen():\n    return sys._getframe(1).f_lineno\ndef f():\n    a = 1\n    b = 2\n    c = seen()\n"
        "    d = 4\n    return a, b, c, d"),
    "a frame that is handed on": (
        "import inspect\ndef f():\n    a = 1\n    b = inspect.getframeinfo(inspect.currentframe())[1]\n    c = 3\n"
        "    return a, b, c"),
    "a stack of inspect": (
        "import inspect as i\ndef f():\n    a = 1\n    b = i.stack()[0][2]\n    c = 3\n    return a, b, c"),
    "a traceback": (
        "def f():\n    try:\n        a = 1\n        b = 2\n        c = a // 0\n    except ZeroDivisionError as error:\n"
        "        return error.__traceback__.tb_lineno"),
    "getattr": (
        "import sys\ndef f():\n    a = 1\n    b = getattr(sys._getframe(), 'f_lineno')\n    c = 3\n    return a, b, c"),
    "a field": (
        "import sys\ndef f():\n    a = 1\n    b = '{0.f_lineno}'.format(sys._getframe())\n    c = 3\n    return a, b, c"),
    "a pattern": (
        "import sys\ndef f():\n    a = 1\n    match sys._getframe():\n        case object(f_lineno=b):\n            c = 3\n"
        "    d = 4\n    return a, b, c, d"),
    "attrgetter": (
        "import operator, sys\ndef f():\n    a = 1\n    b = operator.attrgetter('f_code.co_firstlineno', 'f_lineno')"
        "(sys._getframe())\n    c = 3\n    return a, b, c"),
    "where a function begins": (
        "def f():\n    a = 1\n    b = 2\n    def inner():\n        return a\n    c = inner.__code__.co_firstlineno\n    return c"),
    "where a lambda begins": (
        "def f():\n    a = 1\n    b = 2\n    c = lambda: 0\n    return c.__code__.co_firstlineno, a, b"),
    "source lines": (
        "import inspect\ndef f():\n    a = 1\n    b = 2\n    c = inspect.getsourcelines(f)\n    return c[0][1:3], a, b"),
    "the lines of code": (
        "def f():\n    a = 1\n    b = 2\n    return [line for _, _, line in f.__code__.co_lines()], a, b"),
    "tracing": (
        "import sys\ndef told():\n    a = 1\n    b = 2\n    return a, b\ndef f():\n    seen = []\n    def hook(frame, event, arg):\n"
        "        if frame.f_code is told.__code__:\n            seen.append((frame.f_lineno, sorted(frame.f_locals)))\n"
        "            return hook\n    before = sys.gettrace()\n    sys.settrace(hook)\n    told()\n    sys.settrace(before)\n"
        "    return seen"),
    "a log": (
        "import io, logging\ndef f():\n    out = io.StringIO()\n    handler = logging.StreamHandler(out)\n"
        "    handler.setFormatter(logging.Formatter('%(lineno)d'))\n    log = logging.Logger('own')\n"
        "    log.addHandler(handler)\n    a = 1\n    b = 2\n    log.warning('x')\n    c = 3\n    return out.getvalue(), a, b, c"),
    "warnings that are caught once for a line": (
        "import warnings\ndef f():\n    with warnings.catch_warnings(record=True) as seen:\n        warnings.simplefilter('default')\n"
        "        warnings.warn('x')\n        warnings.warn('x')\n        a = 1\n        warnings.warn('x')\n    return len(seen), a"),
    "warnings that are caught under the filter that Python begins with": (
        "import warnings\ndef f():\n    with warnings.catch_warnings(record=True) as seen:\n        warnings.resetwarnings()\n"
        "        warnings.warn('x')\n        warnings.warn('x')\n        a = 1\n        warnings.warn('x')\n    return len(seen), a"),
    "a warning that is caught": (
        "import warnings\ndef f():\n    with warnings.catch_warnings(record=True) as seen:\n        warnings.simplefilter('always')\n"
        "        a = 1\n        b = 2\n        warnings.warn('x')\n        c = 3\n    return seen[0].lineno, a, b, c"),
}  # fmt: skip
ALL = [
    name
    for name in expand(["all"], languages=[PYTHON.name])
    if (entry_of(name).kind == "preserving" and isinstance(TRANSFORMS.get(name), PythonRule))
    or name == "reorder"
]


def printed(text: str, path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    path.write_text(text)
    linecache.checkcache(str(path))
    capsys.readouterr()
    exec(compile(text, str(path), "exec"), {"__name__": "text"})
    return capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_reads_lines_reads_the_same(
    text: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    if "print(" not in text:
        text += "\nprint(f())"
    # What stands above it moves it, too.
    for source in (text, MOVING + text):
        path = tmp_path / "text.py"
        wanted = printed(source, path, capsys)
        for name in ALL:
            for seed in range(3 if name == "reorder" else 1):
                try:
                    found = codeaudit.transform(source, name, seed=seed, whole_file=True)
                except codeaudit.NotApplied:
                    break
                assert printed(found, path, capsys) == wanted, f"{name}:\n{found}"


SILENT = {
    "a comment": "# tb_lineno, inspect.getsource\nx = 1",
    "a docstring": 'def g():\n    """f_lineno"""',
    "words of a text": "x = 'see f_lineno for more'",
    "another stack": "x = self.stack()\nimport inspect",
    "the globals of a caller": "import sys\nx = sys._getframe(1).f_globals['a']",
    "a frame that stays here": "import sys\ndef g():\n    frame = sys._getframe(1)\n    return frame.f_globals",
    "a warning": "import warnings\nwarnings.warn('x', stacklevel=2)",
    "a traceback that is printed": "import traceback\ntraceback.print_exc()",
    "the line of a node": "import ast\nx = ast.parse('1').body[0].lineno",
    "a text with a line": "x = 'line %(lineno)d' % {'lineno': 3}",
    "a file": "x = reader.getline()",
}
FREE = "def f(self):\n    a = 1\n    b = 2\n    return a, b\n"


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_other_files_are_free(text: str) -> None:
    assert shown_by(text).lines is LinesRead.NONE
    assert codeaudit.transform(f"{text}\n{FREE}", "reorder", whole_file=True)


@pytest.mark.thinned(27)
@pytest.mark.parametrize(("name", "sees"), [pair for pair in FILE.words.items() if pair[0] not in STATES])
def test_each_way_to_look_is_found_however_it_is_spelled(name: str, sees: Sees) -> None:
    half = len(name) // 2
    for text in (
        f"x.{name}",
        f"from m import {name}",
        f"from m import {name} as n",
        f"getattr(x, '{name}')",
        f"getattr(x, '{name[:half]}' '{name[half:]}')",
        f"getattr(x, '{name[:half]}' + '{name[half:]}')",
        f"getattr(x, '\\x{ord(name[0]):x}{name[1:]}')",
        f"attrgetter('a.{name}')",
        f"'{{0.{name}}}'.format(x)",
        f"match x:\n    case object({name}=y): pass",
    ):
        assert shown_by(text + "\n") & sees == sees


def test_statements_that_no_frame_shows_still_move() -> None:
    head = "import sys\ndef seen():\n    return sys._getframe(1).f_lineno\n"
    assert codeaudit.transform(head + FREE, "reorder", whole_file=True)
    for reader, reason in (
        ("import tracemalloc as t\nt.take_snapshot()", POSITIONS_READ),
        ("n = len([*code.co_lines()])", SOURCE_READ),
        ("t = sys.getsource(seen)", SOURCE_READ),
    ):
        assert REORDER.within(f"{head}{reader}\n").propose(FREE, Random(0)) == Refused(reason)


def test_the_reason_is_told() -> None:
    text = "import sys\ndef f(a, b):\n    if a:\n        return sys._getframe().f_lineno\n    return b\n"
    with pytest.raises(NotAppliedError, match=POSITIONS_READ):
        codeaudit.transform(text, "insert-blank-lines", whole_file=True)
    with pytest.raises(NotAppliedError, match=SOURCE_READ):
        codeaudit.transform(
            f"import inspect\nprint(inspect.getsource(f))\n{text}", "spacing", whole_file=True
        )

"""What code elsewhere sees of a function: its variables, its stores and what it lets go. By execution.

Libraries read the variables of their caller (`frame.query("size > @limit")`), classes elsewhere run code at each
store, and an object that is let go closes what it held.
"""

import sys
from itertools import product
from types import ModuleType

import pytest

import codeaudit
from codeaudit.transforms.python.analysis.capabilities import EVALUATING, NAMING

LIBRARY = """\
import re, sys
def read(*texts, **more):
    text = next(one for one in (*texts, *more.values()) if isinstance(one, str))
    found = sys._getframe(1).f_locals
    return [found.get(word) for word in re.findall(r"[a-z]\\w*", text) if word in ("limit", "rows")]
class Frame:
    pass
for name in NAMES:
    globals()[name] = read
    setattr(Frame, name, staticmethod(read))
class Base:
    def __setattr__(self, name, value):
        self.__dict__.setdefault("log", []).append(name)
        self.__dict__[name] = value
class Meta(type):
    def __new__(meta, name, bases, body):
        return super().__new__(meta, name, (Base,), body)
def observed(made):
    made.__setattr__ = Base.__setattr__
    return made
"""
TEXTS = (
    '"size > @limit"',
    'f"{size} > @limit"',
    '"size > " + "limit"',
    '"%s > limit" % size',
    "'{} > limit'.format(size)",
    "RULE",
    "rule",
    "size, 'limit'",
)
CALLS = ("frame.{}({})", "{}({})", "library.{}({})")
PROGRAM = """\
import library
from library import Frame, {name}
RULE = "size > limit"
def f(frame, size, rule):
    rows = None
    limit = 2
    found = {call}
    rows = 4
    return found, rows
print(f(Frame(), 1, RULE))
"""
OBSERVED = """\
import library
{head}:
    def __init__(self, a, b):
        self._a = a
        self._b = b
print(C(1, 2).log)
"""
STORING = {
    "a union": """\
import ctypes
class C(ctypes.Union):
    _fields_ = [("_i", ctypes.c_uint32), ("_f", ctypes.c_float)]
    def __init__(self, a, b):
        self._i = 0
        self._f = b
        self.told = self._i
print(C(1, 2.0).told)
""",
    "a base": OBSERVED.format(head="class C(library.Base)"),
    "a base of a base": OBSERVED.format(head="class B(library.Base):\n    size = 1\nclass C(B)"),
    "a metaclass": OBSERVED.format(head="class C(metaclass=library.Meta)"),
    "a decorator": OBSERVED.format(head="@library.observed\nclass C"),
    "a namespace": """\
class C:
    def __init__(self, a, b):
        self.a = a
        self._b = b
        self.c = 3
print(list(C(1, 2).__dict__))
""",
    "vars": """\
class C:
    def __init__(self, a, b):
        self._a = a
        self._b = b
    def listed(self):
        return list(vars(self))
print(C(1, 2).listed())
""",
}
CALLING = """\
import inspect, sys
{head}
def f(log):
    first = 1
    {call}
    last = 2
    return found, last
print(f({log}))
"""
SEEN = "def seen():\n    return sorted(sys._getframe(1).f_locals)"
FARTHER = "def seen():\n    return sorted(sys._getframe(2).f_locals)\ndef told():\n    return seen()"
NAMED = "def seen():\n    return sorted(inspect.stack()[1].frame.f_locals)\ntold = seen"
METHOD = "class Log:\n    def seen(self):\n        return sorted(sys._getframe(1).f_locals)"
CONTEXT = """\
class Log:
    def __enter__(self):
        return sorted(inspect.getargvalues(inspect.currentframe().f_back).locals)
    def __exit__(self, *error):
        pass"""
READING = {
    "a function": CALLING.format(head=SEEN, call="found = seen()", log=0),
    "one that calls it": CALLING.format(head=FARTHER, call="found = told()", log=0),
    "another name": CALLING.format(head=NAMED, call="found = told()", log=0),
    "a method": CALLING.format(head=METHOD, call="found = log.seen()", log="Log()"),
    "a context": CALLING.format(head=CONTEXT, call="with log as found:\n        pass", log="Log()"),
}
LETTING_GO = {
    "a view": """\
def f():
    data = bytearray(b"ab")
    view = memoryview(data)
    size = 0
    view = None
    data.append(1)
    size = 3
    return len(data), size
print(f())
""",
    "a view that is deleted": """\
def f():
    data = bytearray(b"ab")
    view = memoryview(data)
    size = 0
    del view
    data.append(1)
    return len(data), size
print(f())
""",
    "a generator": """\
def steps():
    try:
        yield 1
    finally:
        print("closed")
def f():
    gen = steps()
    next(gen)
    gen = None
    print("behind")
f()
""",
    "a weak reference": """\
import weakref
class C:
    pass
def f():
    kept = weakref.WeakValueDictionary()
    one = C()
    kept[0] = one
    one = 0
    size = len(kept)
    return size, one
print(f())
""",
}


@pytest.fixture(autouse=True)
def _library(monkeypatch: pytest.MonkeyPatch) -> None:
    library = ModuleType("library")
    vars(library)["NAMES"] = sorted(EVALUATING | NAMING)
    exec(LIBRARY, vars(library))
    monkeypatch.setitem(sys.modules, "library", library)


def printed(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    try:
        exec(compile(text, "<text>", "exec"), {"__name__": "text"})
    except Exception as error:
        return f"{capsys.readouterr().out}{type(error)}"
    return capsys.readouterr().out


def assert_the_same(
    text: str, capsys: pytest.CaptureFixture[str], transforms: tuple[str, ...] = ("reorder",)
) -> None:
    wanted = printed(text, capsys)
    assert wanted
    assert "class" not in wanted
    for name, seed in product(transforms, range(3)):
        try:
            variant = codeaudit.transform(text, name, seed=seed, whole_file=True)
        except codeaudit.NotApplied:
            break
        assert printed(variant, capsys) == wanted, f"{name}:\n{variant}"


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", sorted(EVALUATING | NAMING))
def test_a_text_reads_the_variables_of_its_caller(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    # Most of these names mean something else elsewhere, so only what is written counts.
    texts = TEXTS if name in EVALUATING else [text for text in TEXTS if text.lower() != "rule"]
    for call, text in product(CALLS, texts):
        source = PROGRAM.format(name=name, call=call.format(name, text))
        assert_the_same(source, capsys, ("reorder", "rename"))


@pytest.mark.parametrize("text", READING.values(), ids=READING)
def test_a_function_of_the_file_reads_the_variables_of_its_caller(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_the_same(text, capsys, ("reorder", "rename"))


@pytest.mark.parametrize("text", STORING.values(), ids=STORING)
def test_a_class_elsewhere_sees_the_order_of_stores(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert_the_same(text, capsys)


@pytest.mark.parametrize("text", LETTING_GO.values(), ids=LETTING_GO)
def test_what_is_let_go_for_a_constant_goes_in_its_place(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_the_same(text, capsys)


def test_plain_classes_still_move() -> None:
    text = "class C:\n    def __init__(self, a, b):\n        self._a = a\n        self._b = b\n"
    assert "self._b = b\n        self._a" in codeaudit.transform(text, "reorder", whole_file=True)

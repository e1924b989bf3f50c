"""What a file says of its classes and imports makes more orders legal, and no order then shows a difference.

Each hostile text gives a plain looking store code of its own. The exchange of the two statements of the method
shows it, so `reorder` must keep their order; every order that it allows is executed.
"""

import ast
import textwrap
from itertools import permutations
from pathlib import Path
from random import Random
from unittest.mock import patch

import pytest

from codeaudit.transforms.dependence.blocks import NO_BLOCK
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.python.analysis import program
from codeaudit.transforms.python.analysis.classes import imports_of
from codeaudit.transforms.python.analysis.shown import looks_around
from codeaudit.transforms.python.order import reorder
from codeaudit.transforms.python.order.reorder import REORDER, PythonOrdering
from codeaudit.transforms.reordering import Reorder, is_movable
from tests.transforms.python.order.test_acting_looks import indented

HEAD = """\
import abc, collections, dataclasses, functools, itertools, operator, types, typing
from dataclasses import dataclass, field

class Tell:
    def tell(self, *args):
        self.__dict__["told"] = self.__dict__.get("told", 0) + 1
        return 0
    code = property(tell, tell)

class Descriptor:
    __get__ = Tell.tell
    def __set__(self, to, value):
        Tell.tell(to)
"""
END = """
def f(x):
    made = {make}
    try:
        result = made.method(x)
    except Exception as error:
        result = repr(error)
    return result, getattr(made, "told", None), getattr(made, "y", None)
"""
PLAIN = {
    "a class": ("class C:\n    told = 0\n{method}", "C()"),
    "a derived class": ("class B:\n    told = 0\n\nclass C(B):\n{method}", "C()"),
    "a base class": ("class C:\n    told = 0\n{method}\nclass D(C):\n    def size(self):\n        return 1", "D()"),
    "an exception": ("class C(ValueError):\n    told = 0\n{method}", "C()"),
    "a builtin container": ("class C(dict):\n    told = 0\n{method}", "C()"),
    "an abstract class": (
        "class C(abc.ABC):\n    told = 0\n{method}\n    @abc.abstractmethod\n    def m(self): ...\n"
        "class D(C):\n    def m(self): ...", "D()"),
    "slots": ("class C:\n    __slots__ = ('x', 'y', 'told')\n    def __init__(self):\n        self.told = 0\n{method}",
              "C()"),
    "slots of a base": (
        "class B:\n    __slots__ = ['x', 'y']\n\nclass C(B):\n    __slots__ = 'told'\n    def __init__(self):\n"
        "        self.told = 0\n{method}", "C()"),
    "a dataclass": ("@dataclass\nclass C:\n    x: int = 0\n    told: int = 0\n    z: list = field(default_factory=list)\n"
                    "{method}", "C()"),
    "a dataclass with options": (
        "@dataclasses.dataclass(eq=False, kw_only=True)\nclass C:\n    x: int = 0\n    told: int = 0\n{method}", "C()"),
    "a generic class": ("T = typing.TypeVar('T')\n\nclass C(typing.Generic[T]):\n    told = 0\n{method}", "C()"),
    "another class has a property": (
        "class C:\n    told = 0\n{method}\nclass D:\n    @property\n    def size(self):\n        return 1", "C()"),
    "another class runs code at every store": (
        "class C:\n    told = 0\n{method}\nclass D:\n    def __setattr__(self, name, value):\n        raise KeyError",
        "C()"),
    "a method that is called from a derived class": (
        "class C:\n    told = 0\n{method}\nclass D(C):\n    def method(self, x):\n        return C.method(self, x)",
        "D()"),
}  # fmt: skip
"""Texts with a class whose attributes `x`, `y` and `told` are plain, and how an instance is made."""

HOSTILE = {
    "a property of a base": ("class C({base}):\n    told = 0\n{method}", "C()"),
    "a property of the class": ("class C:\n    told = 0\n    x = property(Tell.tell, Tell.tell)\n{method}", "C()"),
    "a property of a derived class": (
        "class C:\n    told = 0\n{method}\nclass D(C):\n    x = property(Tell.tell, Tell.tell)", "D()"),
    "a property far below": (
        "class C:\n    told = 0\n{method}\nclass D(C):\n    pass\nclass E(D):\n    x = property(Tell.tell, Tell.tell)",
        "E()"),
    "a property of a class beside it": (
        "class C:\n    told = 0\n{method}\nclass M:\n    x = property(Tell.tell, Tell.tell)\nclass D(M, C):\n    pass",
        "D()"),
    "a decorated setter": (
        "class C:\n    told = 0\n    @property\n    def x(self):\n        return 0\n    @x.setter\n"
        "    def x(self, value):\n        self.told += 1\n{method}", "C()"),
    "a property among plain values": (
        "class C:\n    told = 0\n    x = 0\n    if True:\n        x = property(Tell.tell, Tell.tell)\n{method}", "C()"),
    "a descriptor": ("class C:\n    told = 0\n    x = Descriptor()\n{method}", "C()"),
    "a derived class in a function": (
        "class C:\n    told = 0\n{method}\ndef make():\n    class D(C):\n        x = property(Tell.tell, Tell.tell)\n"
        "    return D()", "make()"),
    "a class derived from an alias": (
        "class C:\n    told = 0\n{method}\nAlias = C\nclass D(Alias):\n    x = property(Tell.tell, Tell.tell)", "D()"),
    "a class derived from a parameter": (
        "class C:\n    told = 0\n{method}\ndef make(base):\n    class D(base):\n"
        "        x = property(Tell.tell, Tell.tell)\n    return D()", "make(C)"),
    "a class derived from a call": (
        "class C:\n    told = 0\n{method}\ndef same(base):\n    return base\nclass D(same(C)):\n"
        "    x = property(Tell.tell, Tell.tell)", "D()"),
    "a class derived from an item": (
        "class C:\n    told = 0\n{method}\nfound = [C]\nclass D(found[0]):\n    x = property(Tell.tell, Tell.tell)",
        "D()"),
    "a class made by type": (
        "class C:\n    told = 0\n{method}\nD = type('D', (C,), {{'x': property(Tell.tell, Tell.tell)}})", "D()"),
    "a class made by another name of type": (
        "class C:\n    told = 0\n{method}\nmake = type\nD = make('D', (C,), {{'x': Descriptor()}})", "D()"),
    "a class made by its metaclass": (
        "class C:\n    told = 0\n{method}\nD = type(C)('D', (C,), {{'x': Descriptor()}})", "D()"),
    "a descriptor that type binds": (
        "class C:\n    told = 0\n{method}\ntype.__setattr__(C, 'x', Descriptor())", "C()"),
    "a descriptor that another name of setattr binds": (
        "class C:\n    told = 0\n{method}\nstore = setattr\nstore(C, 'x', Descriptor())", "C()"),
    "a class in a list": (
        "class C:\n    told = 0\n{method}\nfound = [C]\nstore = setattr\nstore(found[0], 'x', Descriptor())", "C()"),
    "a class made by types": (
        "class C:\n    told = 0\n{method}\nD = types.new_class('D', (C,), {{}}, lambda names:\n"
        "    names.update(x=property(Tell.tell, Tell.tell)))", "D()"),
    "__setattr__": (
        "class C:\n    told = 0\n    def __setattr__(self, name, value):\n        Tell.tell(self)\n{method}", "C()"),
    "__setattr__ of a derived class": (
        "class C:\n    told = 0\n{method}\nclass D(C):\n    def __setattr__(self, name, value):\n        Tell.tell(self)",
        "D()"),
    "__setattr__ bound to the class": (
        "class C:\n    told = 0\n{method}\ndef store(self, name, value):\n    Tell.tell(self)\nC.__setattr__ = store",
        "C()"),
    "a property bound to the class": (
        "class C:\n    told = 0\n{method}\nC.x = property(Tell.tell, Tell.tell)", "C()"),
    "a descriptor bound to an alias": (
        "class C:\n    told = 0\n{method}\ndef dress(one):\n    one.x = Descriptor()\ndress(C)", "C()"),
    "a property set by its name": (
        "class C:\n    told = 0\n{method}\nsetattr(C, 'x', property(Tell.tell, Tell.tell))", "C()"),
    "a descriptor set by its name": (
        "class C:\n    told = 0\n{method}\ndef dress(one):\n    setattr(one, 'x', Descriptor())\ndress(C)", "C()"),
    "a descriptor set by any name": (
        "class C:\n    told = 0\n{method}\ndef dress(one, name):\n    setattr(one, name, Descriptor())\ndress(C, 'x')",
        "C()"),
    "a decorator of the class": (
        "def dress(one):\n    one.x = property(Tell.tell, Tell.tell)\n    return one\n@dress\nclass C:\n    told = 0\n{method}",
        "C()"),
    "a metaclass": (
        "class M(type):\n    def __init__(self, *args):\n        self.x = property(Tell.tell, Tell.tell)\n"
        "class C(metaclass=M):\n    told = 0\n{method}", "C()"),
    "__init_subclass__": (
        "class B:\n    def __init_subclass__(one):\n        setattr(one, 'x', property(Tell.tell, Tell.tell))\n"
        "class C(B):\n    told = 0\n{method}", "C()"),
    "names of the class body": (
        "class C:\n    told = 0\n    locals()['x'] = property(Tell.tell, Tell.tell)\n{method}", "C()"),
    "an object that changes its class": (
        "class C:\n    told = 0\n{method}\nclass D:\n    told = 0\n    x = property(Tell.tell, Tell.tell)\n"
        "    method = 0\ndef make():\n    made = C()\n    made.method = made.method\n    made.__class__ = D\n"
        "    return types.SimpleNamespace(method=made.__dict__['method'])", "make()"),
    "other bases": (
        "class B:\n    pass\nclass C(B):\n    told = 0\n{method}\nclass M:\n    x = property(Tell.tell, Tell.tell)\n"
        "C.__bases__ = (M,)", "C()"),
    "another object as self": (
        "class C:\n    told = 0\n{method}\nclass D:\n    told = 0\n    x = property(Tell.tell, Tell.tell)\n"
        "    def method(self, x):\n        one = self\n        return C.method(one, x)", "D()"),
    "another class lends its self": (
        "class C:\n    told = 0\n{method}\nclass D:\n    told = 0\n    x = property(Tell.tell, Tell.tell)\n"
        "    def method(self, x):\n        return C.method(self, x)", "D()"),
    "another class takes the method": (
        "class C:\n    told = 0\n{method}\nclass D:\n    told = 0\n    x = property(Tell.tell, Tell.tell)\n"
        "    method = C.method", "D()"),
    "a static method": (
        "class C:\n    @staticmethod\n{method}\nclass D:\n    told = 0\n    x = property(Tell.tell, Tell.tell)\n"
        "    def method(self, x):\n        return C().method(self, x)", "D()"),
    "a class bound twice": (
        "class C:\n    told = 0\n{method}\nkept = C\nclass C(kept):\n    x = property(Tell.tell, Tell.tell)", "C()"),
}  # fmt: skip
"""Texts that give `x` code. Where a text says `{base}`, one with a property stands in front."""

RAISING = {
    "slots without it": ("class C:\n    __slots__ = ('y', 'told')\n{method}", "C()"),
    "slots of the base without it": (
        "class B:\n    __slots__ = ('y',)\nclass C(B):\n    __slots__ = ()\n{method}", "C()"),
    "a frozen dataclass": ("@dataclass(frozen=True)\nclass C:\n    x: int = 0\n{method}", "C()"),
    "a property without a setter": ("class C:\n    @property\n    def x(self):\n        return 0\n{method}", "C()"),
}  # fmt: skip
"""Texts in which storing `x` raises, so that `y` is not stored."""


def files(text: tuple[str, str], first: str, second: str) -> list[tuple[str, str]]:
    """The method with two statements in both orders, each with its whole file."""
    pairs = []
    for one, other in permutations((first, second)):
        result = "b" if "b = " in first + second else "x"
        method = f"def method(self, x):\n    {one}\n    {other}\n    return {result}\n"
        body, make = text
        base = "class B:\n    x = property(Tell.tell, Tell.tell)\n" if "{base}" in body else ""
        full = HEAD + base + body.format(method=indented(method), base="B") + END.format(make=make)
        pairs.append((method, full))
    return pairs


def ran(file: str) -> object:
    scope: dict[str, object] = {"__name__": "file"}
    exec(compile(file, "<file>", "exec"), scope)
    return eval("f(1)", scope)


def allowed(method: str, file: str) -> bool:
    return any(map(is_movable, REORDER.within(file).ordering(method).blocks))


@pytest.mark.thinned(14)
@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
@pytest.mark.parametrize(
    ("first", "second"),
    [("self.x = 1", "self.y = x"), ("self.x = 1", "b = self.told"), ("b = self.told", "self.y = 2")],
)
def test_plain_attributes_of_a_known_class_change_places(
    text: tuple[str, str], first: str, second: str
) -> None:
    (method, file), (_, other) = files(text, first, second)
    assert allowed(method, file)
    assert not isinstance(REORDER.within(file).propose(method, Random(1)), Refused)
    assert ran(file) == ran(other)


@pytest.mark.thinned(13)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_an_attribute_with_code_keeps_its_place(text: tuple[str, str]) -> None:
    (method, file), (_, other) = files(text, "self.x = 1", "b = self.told")
    assert ran(file) != ran(other), "the case tells nothing"
    assert not allowed(method, file)


@pytest.mark.parametrize("text", RAISING.values(), ids=RAISING)
def test_a_store_that_raises_keeps_its_place(text: tuple[str, str]) -> None:
    (method, file), (_, other) = files(text, "self.x = 1", "self.y = 2")
    assert ran(file) != ran(other), "the case tells nothing"
    assert not allowed(method, file)


@pytest.mark.parametrize("first", ["self.x = 1", "self.args = x", "self.__class__ = C", "self.__dict__ = {}"])
def test_a_class_that_is_not_known_binds_as_before(first: str) -> None:
    method = f"def method(self, x):\n    {first}\n    self.y = x\n"
    for base in ("ValueError" if "args" in first else "Unknown", "imported.Base"):
        file = f"import imported\nfrom other import Unknown\nclass C({base}):\n{indented(method)}"
        assert not allowed(method, file) or (base == "ValueError" and "args" not in first)
    assert not allowed(method, "")


QUIET = {
    "deque": ("from collections import deque", "a = deque()"),
    "deque of a display": ("import collections", "a = collections.deque([x, 1])"),
    "chain": ("from itertools import chain", "a = chain(x, x)"),
    "itemgetter": ("import operator as op", "a = op.itemgetter('k')"),
    "platform": ("import sys", "a = sys.platform == 'nt'"),
    "pi": ("from math import pi", "a = 2 * pi"),
    "separator": ("from os import sep", "a = sep + 'x'"),
}


def after(line: str, statement: str) -> tuple[str, str]:
    """A function with the statement and one that may raise; then a file with a line in front of it."""
    function = f"def f(x):\n    {statement}\n    b = x[0]\n    return a, b\n"
    return function, f"{line}\n{function}"


@pytest.mark.parametrize(("line", "statement"), QUIET.values(), ids=QUIET)
def test_what_an_imported_name_makes_changes_places_with_what_raises(line: str, statement: str) -> None:
    assert allowed(*after(line, statement))


@pytest.mark.thinned(15)
@pytest.mark.parametrize(
    "other",
    [
        "{name} = print",
        "def {name}(*args): print(args)",
        "from elsewhere import *",
        "from elsewhere import {name}",
        "def g({name}):\n    return {name}",
        "def g():\n    global {name}\n    {name} = print",
        "for {name} in []: pass",
        "class {name}: pass",
        "del {name}",
    ],
)
@pytest.mark.parametrize(
    ("line", "statement"), [case for case in QUIET.values() if " as " in case[0] or "from" in case[0]]
)
def test_a_name_that_may_stand_for_something_else_is_unknown(line: str, statement: str, other: str) -> None:
    name = line.split()[-1]
    assert not allowed(*after(f"{line}\n{other.format(name=name)}", statement))
    assert not allowed(*after(f"from elsewhere import deque as {name}", statement))
    assert not allowed(*after(f"from .collections import {name}", statement))
    assert not allowed(*after("", statement))


MODULES = (
    "_markupbase",
    "_strptime",
    "bdb",
    "configparser",
    "difflib",
    "pstats",
    "random",
    "shlex",
    "zoneinfo/_zoneinfo",
)
"""Their classes and functions free 10 of their functions."""


@pytest.mark.slow
def test_a_file_is_read_where_it_frees_an_order_and_seldom_in_vain() -> None:
    freed, in_vain, others = 0, 0, 0
    for module in MODULES:
        file = (Path(ast.__file__).parent / f"{module}.py").read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(file)):
            if not isinstance(node, ast.FunctionDef) or node.decorator_list:
                continue
            method = (
                textwrap.dedent(" " * node.col_offset + (ast.get_source_segment(file, node) or "")) + "\n"
            )
            try:
                alone = program.analyse(method)
            except SourceError:  # a text inside stands further left
                continue
            if any(map(is_movable, alone.blocks)):
                continue
            with patch.object(program, "looks_around", wraps=looks_around) as read:
                free = allowed(method, file)
                asked = read.called
                whole = program.analyse_tree(method, alone.tree, around=file)
            # The file may also show that somebody looks between two statements.
            assert free == any(map(is_movable, PythonOrdering(whole, file).blocks)), method
            freed += free
            # A short file is read before anybody asks whether it is needed.
            in_vain += asked and not free and len(file) >= reorder._AT_ONCE * len(method)
            others += not asked
    assert freed >= 5
    assert in_vain < others / 10


@pytest.mark.parametrize(
    "imports",
    [
        "from collections import deque",
        "import collections as c\nfrom collections import (\n    deque,\n)",
        "try:\n    from collections import deque\nexcept ImportError:\n    from other import deque",
    ],
)
def test_imports_are_read_without_the_tree_of_the_file(imports: str) -> None:
    function, file = after(imports, "a = deque()")
    with patch.object(program, "looks_around", wraps=looks_around) as read:
        # Two imports of one name: only the tree says what it stands for, if anything.
        assert allowed(function, file) == (not imports.startswith("try"))
    assert read.called


def test_words_of_a_docstring_hide_no_import() -> None:
    file = (
        '"""\nimport of goods\nfrom (here\n"""\nimport os, re as r  # import (this\n'
        "  from a.b import (c,\n d as e)\nfrom reimport import f\nx = 1; import g\nfrom h \\\n import i\n"
    )
    imports, unclear = reorder._imports_in(file)
    assert imports == {"os": "os", "r": "re", "c": "a.b.c", "e": "a.b.d", "f": "reimport.f", "i": "i"}
    assert not unclear


@pytest.mark.parametrize("module", ["difflib", "random", "typing", "configparser"])
def test_the_imports_of_a_file_are_those_of_its_tree(module: str) -> None:
    file = (Path(ast.__file__).parent / f"{module}.py").read_text(encoding="utf-8")
    imports: list[ast.stmt] = [
        node for node in ast.walk(ast.parse(file)) if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    names = {name for name, _ in imports_of(imports)}
    assert names
    assert names <= reorder._imports_in(file)[0].keys()


def test_a_file_may_show_that_two_tests_exclude_each_other() -> None:
    file = "def count(xs):\n    return 1\n\n\n"
    function = "def f(a):\n    n = count(a)\n    if n == 1:\n        x = 1\n    if n == 2:\n        x = 2\n    return x\n"
    assert REORDER.propose(function, Random(0)) == Refused("neighbours share a variable")
    assert not isinstance(REORDER.within(file + function).propose(function, Random(0)), Refused)


def test_a_long_chain_of_tests_holds_no_neighbours() -> None:
    branches = "".join(f"    elif x == {number}:\n        return {number}\n" for number in range(1, 600))
    assert REORDER.propose(f"def f(x):\n    if x == 0:\n        return 0\n{branches}", Random(0)) == Refused(
        NO_BLOCK
    )


@pytest.mark.parametrize(
    ("body", "alone"),
    [
        ("return x", True),
        ("'a docstring'\n    return x", True),
        ("'a docstring'\n    if x:\n        return 1\n    else:\n        return 2", True),
        ("x\n    'no docstring'", False),
        ("def g():\n        'a docstring'\n        return x", True),
        ("class C:\n        'a docstring'\n        y = x", True),
        ("class C:\n        y = x\n        z = y", False),
        ("try:\n        return x\n    except E:\n        a = 1\n        raise", False),
        ("match x:\n        case 1:\n            a = 1\n            return a", False),
        ("for i in x:\n        pass\n    else:\n        a = x\n        return a", False),
        ("with x:\n        'no docstring'\n        return 1", False),
    ],
)
def test_a_function_without_two_statements_in_a_row_is_told_so_without_analysis(
    body: str, alone: bool
) -> None:
    function = f"def f(x):\n    {body}\n"
    said = REORDER.propose(function, Random(0))
    assert said == Reorder.propose(REORDER, function, Random(0))
    assert (said == Refused(NO_BLOCK)) is alone

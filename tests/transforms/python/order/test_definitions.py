"""Functions, classes and methods in another order."""

import pytest

from codeaudit.transforms.python.order.definitions import (
    NAMESPACE_READ,
    ONE_ORDER,
    REORDER_FUNCTIONS,
    REORDER_METHODS,
    UNKNOWN_CLASS,
)
from tests.transforms.python.order.support import agrees, reasons, run, untouched, variants


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("def f(): pass\ndef g(): pass\n", "def g(): pass\ndef f(): pass\n", id="plain"),
        pytest.param("def f(): pass\ndef g(): pass", "def g(): pass\ndef f(): pass", id="no final newline"),
        pytest.param(
            "def f():\r\n\tpass\r\ndef g():\r\n\tpass\r\n",
            "def g():\r\n\tpass\r\ndef f():\r\n\tpass\r\n",
            id="CRLF, tabs",
        ),
        pytest.param(
            "# of f\ndef f():\n    return 1  # one\n\n\n# of g\nasync def g(): pass\n",
            "# of g\nasync def g(): pass\n\n\n# of f\ndef f():\n    return 1  # one\n",
            id="comments move with their function, blank lines stay",
        ),
        pytest.param(
            "#!/usr/bin/python\n# -*- coding: utf-8 -*-\ndef f(): pass\ndef g(): pass\n",
            "#!/usr/bin/python\n# -*- coding: utf-8 -*-\ndef g(): pass\ndef f(): pass\n",
            id="the first lines of a file stay first",
        ),
        pytest.param(
            "'''\n# text'''\ndef f(): '''\n# no comment\n'''\ndef g(): pass\n",
            "'''\n# text'''\ndef g(): pass\ndef f(): '''\n# no comment\n'''\n",
            id="what looks like a comment",
        ),
        pytest.param(
            "class A(ValueError):\n    x = 1\n    y: int = 2\n    def m(self): return B\nclass B:\n    '''B'''\n",
            "class B:\n    '''B'''\nclass A(ValueError):\n    x = 1\n    y: int = 2\n    def m(self): return B\n",
            id="classes",
        ),
        pytest.param(
            "from a import T\ndef f(x: T = 1, *, k=(2, 'a')) -> int | None: pass\ndef g(x=lambda: f): pass\n",
            None,
            id="a default that mentions the function before",
        ),
    ],
)
def test_functions(before: str, after: str | None) -> None:
    assert variants(REORDER_FUNCTIONS, before) == ({after} if after else set())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("def f(): pass\ndef g(x=f): pass\n", ONE_ORDER, id="a default reads a function"),
        pytest.param("def f(): pass\n@f\ndef g(): pass\n", ONE_ORDER, id="a decorator reads a function"),
        pytest.param("def f(): pass\n@app.get('/')\ndef g(): pass\n", ONE_ORDER, id="an unknown decorator"),
        pytest.param("def f(): pass\ndef g(x: q.T): pass\n", ONE_ORDER, id="an annotation may do anything"),
        pytest.param("def f(): pass\ndef g(x=[][0]): pass\n", ONE_ORDER, id="a default that raises"),
        pytest.param("def f(): pass\ndef g(x=missing): pass\n", ONE_ORDER, id="a name that may be missing"),
        pytest.param(
            "a = 1\ndel a\ndef f(): pass\ndef g(x=a): pass\n", ONE_ORDER, id="a name that was deleted"
        ),
        pytest.param("def f(): return 1\ndef f(): return 2\n", ONE_ORDER, id="one name twice"),
        pytest.param("class A: pass\nclass B(A): pass\n", ONE_ORDER, id="a base class"),
        pytest.param("class A(Base): pass\nclass B: pass\n", ONE_ORDER, id="an unknown base"),
        pytest.param("class A(metaclass=M): pass\nclass B: pass\n", ONE_ORDER, id="a metaclass"),
        pytest.param("class A:\n    x = field()\nclass B: pass\n", ONE_ORDER, id="a class body that acts"),
        pytest.param("q = 1\nclass A:\n    x = q\nclass B: pass\n", ONE_ORDER, id="__set_name__ of a global"),
        pytest.param(
            "class A:\n    def __init_subclass__(cls): print(cls)\nclass B(A): pass\nclass C(A): pass\n",
            None,
            id="__init_subclass__",
        ),
        pytest.param("def f(): pass\ndef g(): pass\nx = list(globals())\n", NAMESPACE_READ, id="globals()"),
        pytest.param("def f(): pass\ndef g(): pass\nx = vars()\n", NAMESPACE_READ, id="vars()"),
        pytest.param(
            "def f(): pass\ndef g(): pass\nx = locals()\n", NAMESPACE_READ, id="locals() of a module"
        ),
        pytest.param(
            "import m\ndef f(): pass\ndef g(): pass\nx = m.__dict__\n", NAMESPACE_READ, id="__dict__"
        ),
        pytest.param("def f(): pass\ndef g(): pass\nexec('pass')\n", NAMESPACE_READ, id="exec"),
        pytest.param(
            "from m import *\ndef f(): pass\n@property\ndef g(): pass\n", ONE_ORDER, id="a star may rebind"
        ),
    ],
)
def test_functions_refused(text: str, reason: str | None) -> None:
    if reason is None:  # B and C are ordered: their creation is seen
        for variant in variants(REORDER_FUNCTIONS, text):
            assert variant.index("class B") < variant.index("class C")
        return
    assert untouched(REORDER_FUNCTIONS, text)
    assert reasons(REORDER_FUNCTIONS, text) == {reason}


@pytest.mark.parametrize(
    "text",
    [
        "def f(): pass\nif 1:\n    def g(): pass\n",
        "def f(): pass\nx = f\ndef g(): pass\n",
        "if 1:\n    def f(): pass\n",
        "def f():\n    def a(): pass\n    def b(): pass\n",
    ],
)
def test_only_neighbours_of_a_module_move(text: str) -> None:
    assert untouched(REORDER_FUNCTIONS, text)
    assert reasons(REORDER_FUNCTIONS, text) == set()


def test_what_asks_by_name_or_for_an_instance_is_no_obstacle() -> None:
    text = """\
def f(name): return globals()[name]
def g(): return locals()
class A:
    def m(self): return self.__dict__
def h(code): exec(code, {})
"""
    assert variants(REORDER_FUNCTIONS, text)
    assert agrees(REORDER_FUNCTIONS, text, "f('g')()", "A().m()") > 5


def test_annotations_that_are_not_evaluated_do_not_count() -> None:
    body = "def f(x: later.T): pass\ndef g(): pass\n"
    assert untouched(REORDER_FUNCTIONS, body)
    assert len(variants(REORDER_FUNCTIONS, "from __future__ import annotations\n" + body)) == 1


def test_definitions_that_depend_keep_their_order_and_the_others_move_around_them() -> None:
    text = "def a(): return 1\ndef b(x=a): return x()\ndef c(): return b()\nclass D(Exception): pass\nclass E(D): pass\n"
    assert agrees(REORDER_FUNCTIONS, text, "c()", "issubclass(E, D)") > 5


def test_a_long_module_makes_several_sites() -> None:
    text = "".join(f"def f{number}(): return {number}\n" for number in range(120))
    assert len(variants(REORDER_FUNCTIONS, text)) == 3 * 12


CLASS = """\
class A:
    '''A.'''

    LIMIT = 3

    # the first
    def first(self, limit=LIMIT):
        return limit

    @property
    def size(self): return self._size

    @size.setter
    def size(self, value): self._size = value  # kept

    @staticmethod
    def two(): return 2

    @classmethod
    def made(cls): return cls()
"""


def test_methods() -> None:
    assert (
        agrees(
            REORDER_METHODS, CLASS, "A().first()", "setattr(a := A(), 'size', 5) or a.size", "A.made().two()"
        )
        > 8
    )
    for variant in variants(REORDER_METHODS, CLASS):
        assert variant.index("@property") < variant.index("@size.setter")
        assert "    # the first\n    def first" in variant


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(
            "class A(Enum):\n    def a(self): pass\n    def b(self): pass\n",
            UNKNOWN_CLASS,
            id="an unknown base",
        ),
        pytest.param(
            "@d\nclass A:\n    def a(self): pass\n    def b(self): pass\n", UNKNOWN_CLASS, id="a decorator"
        ),
        pytest.param(
            "class A(metaclass=M):\n    def a(self): pass\n    def b(self): pass\n",
            UNKNOWN_CLASS,
            id="a metaclass",
        ),
        pytest.param(
            "class A:\n    global b\n    def a(self): pass\n    def b(self): pass\n",
            UNKNOWN_CLASS,
            id="a global of a class",
        ),
        pytest.param(
            "class A:\n    def a(self): pass\n    @d\n    def b(self): pass\n",
            ONE_ORDER,
            id="an unknown decorator",
        ),
        pytest.param(
            "class A:\n    def a(self): pass\n    def b(self, x=a): pass\n",
            ONE_ORDER,
            id="a method as default",
        ),
        pytest.param(
            "class A:\n    def a(self): return 1\n    def a(self): return 2\n", ONE_ORDER, id="one name twice"
        ),
        pytest.param(
            "class A:\n    def a(self): pass\n    def b(self): pass\nx = A.__dict__\n",
            NAMESPACE_READ,
            id="a class's __dict__",
        ),
        pytest.param(
            "class A:\n    @classmethod\n    def a(cls): return list(cls.__dict__)\n    def b(self): pass\n",
            NAMESPACE_READ,
            id="its own __dict__",
        ),
        pytest.param(
            "x = 1\nclass Exception: pass\nclass A(Exception, x):\n    def a(self): pass\n    def b(self): pass\n",
            UNKNOWN_CLASS,
            id="rebound",
        ),
    ],
)
def test_methods_refused(text: str, reason: str) -> None:
    assert untouched(REORDER_METHODS, text)
    assert reasons(REORDER_METHODS, text) == {reason}


def test_a_property_behind_its_setter_is_no_property() -> None:
    text = "class A:\n    @x.setter\n    def x(self, v): pass\n    def y(self): pass\n    @property\n    def x(self): pass\n"
    texts = variants(REORDER_METHODS, text)
    assert len(texts) == 1
    assert all(variant.startswith("class A:\n    @x.setter\n") for variant in texts)


def test_a_property_bound_under_a_condition_is_no_property() -> None:
    text = """\
class A:
    if 1:
        def x(self): pass
    def y(self): pass
    @x.setter
    def z(self, v): pass
"""
    assert untouched(REORDER_METHODS, text)


def test_a_subclass_of_the_same_text_is_known() -> None:
    text = "class A(Exception):\n    pass\n\n\nclass B(A):\n    def a(self): return 1\n    def b(self): return 2\n"
    assert agrees(REORDER_METHODS, text, "B().a(), B().b()") == 1


def test_the_wrapper_of_a_method_is_left_alone() -> None:
    assert untouched(REORDER_METHODS, "class _:\n    def f(self):\n        return 1\n")
    assert untouched(REORDER_FUNCTIONS, "class _:\n    def f(self):\n        return 1\n")


def test_the_harness_sees_an_order_that_is_wrong() -> None:
    assert run("def b(x=a): return x()\ndef a(): return 1\n", "b()") != run(
        "def a(): return 1\ndef b(x=a): return x()\n", "b()"
    )

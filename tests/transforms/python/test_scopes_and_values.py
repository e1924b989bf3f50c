"""Programs about scopes, values of foreign classes and imports: original and variant do the same.

Each program is a function `f` and what stands around it. Every legal order of its statements is executed, and
several draws of every other transform that keeps the meaning.
"""

import sys
from itertools import islice
from random import Random
from typing import Any

import pytest

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.python.order.reorder import REORDER, REORDER_BREAKING
from codeaudit.transforms.records import Move
from codeaudit.transforms.registry import TRANSFORMS, expand

KEEPING = tuple(name for name in expand(["all"], languages=["python"]) if name != "reorder")
ORDERS = 120
"""Most orders executed of one program."""

AROUND = '''
class S(str):
    def __add__(self, other): return "add"
    def __radd__(self, other): return "radd"
    def __rmod__(self, other): return S("rmod")
    def __str__(self): return self
    def __format__(self, spec): return self


class Key:
    """Has the hash of 1 and of "a" at will, and refuses to be compared."""
    def __init__(self, like): self.hash = hash(like)
    def __hash__(self): return self.hash
    def __eq__(self, other): raise LookupError


def show(value): return value
'''

# ── a class body inside a function hides its names from nothing inside it ────────────────────────────────

_HIDING = {
    "list comprehension": "a = [n for _ in range(2)]",
    "set comprehension": "a = {n for _ in range(2)}",
    "dict comprehension": "a = {n: n for _ in range(2)}",
    "generator": "a = tuple(n for _ in range(2))",
    "inner iterable": "a = [x for _ in range(2) for x in range(n)]",
    "condition": "a = [x for x in range(9) if x == n]",
    "lambda": "a = (lambda: n)()",
    "method": "a = property(lambda self: n)\n        def m(self): return n\n        b = m(None)",
    "class inside": "class D:\n            a = n\n        a = D.a",
    "lambda in a default": "def m(self, g=lambda: n): return g()\n        a = m(None)",
}
HIDDEN = {
    f"{kind}, bound {where}": (
        "def f():\n    n = 3\n    class C:\n"
        + (f"        n = 4\n        {use}\n" if where == "above" else f"        {use}\n        n = 4\n")
        + "    n = 5\n    return C.a if not isinstance(C.a, property) else (C().a, C.b)\n"
    )
    for kind, use in _HIDING.items()
    for where in ("above", "below")
}

# ── other scopes and looks at variables ──────────────────────────────────────────────────────────────────

LOOKS = {
    f"{first}; {how}; {rest}": f"def f():\n    {first}\n    a = 1\n    b = 2\n    d = {how}\n"
    f"    a = 3\n    c = 4\n    {rest}\n"
    for first, how in (
        ("pass", "sorted(locals())"),
        ("show = locals", "sorted(show())"),
        ("show = vars", "sorted(show())"),
        ("show = dir", "show()"),
        ("from builtins import locals as show", "sorted(show())"),
        ("from builtins import dir as show", "show()"),
        ("import builtins as own", "sorted(own.locals())"),
        ("import builtins as own", "own.dir()"),
        ("import builtins as own", "own.eval('sorted(locals())')"),
        ("from builtins import eval as value", "value('a')"),
        ("value = eval", "value('a')"),
        ("run = exec", "run('a')"),
        ("import builtins", "sorted(getattr(builtins, 'locals')())"),
        ("import builtins", "getattr(builtins, 'dir')()"),
        ("own = __builtins__", "sorted((own if isinstance(own, dict) else vars(own))['vars']())"),
        ("from sys import _getframe as frame", "sorted(frame().f_locals)"),
        ("import sys as own", "sorted(own._getframe().f_locals)"),
        ("import inspect as own", "sorted(own.currentframe().f_locals)"),
        ("import inspect as own", "sorted(own.stack()[0].frame.f_locals)"),
        ("from inspect import stack as show", "sorted(show()[0].frame.f_locals)"),
        ("import sys\n    def look(): return sorted(sys._getframe(1).f_locals)", "look()"),
    )
    for rest in ("return d", "return len(d), d if isinstance(d, int) else [x for x in d if x < 'd']")
}  # fmt: skip

UNBOUND = {
    "del of a nonlocal": "def f():\n    x = 1\n    y = []\n    def g():\n        nonlocal x\n        del x\n"
    "    g()\n    try:\n        y = 1\n        z = x\n    except NameError:\n        return y\n    return z\n",
    "del of a nonlocal, deep": "def f():\n    x = 1\n    y = []\n    def g():\n        def h():\n"
    "            nonlocal x\n            del x\n        h()\n    g()\n"
    "    try:\n        y = 1\n        z = x\n    except NameError:\n        return y\n    return z\n",
    "except as a nonlocal": "def f():\n    x = 1\n    y = []\n    def g():\n        nonlocal x\n        try: 1 / 0\n"
    "        except ZeroDivisionError as x: pass\n    g()\n"
    "    try:\n        y = 1\n        z = x\n    except NameError:\n        return y\n    return z\n",
    "del in a class": "def f():\n    x = 1\n    y = []\n    class C:\n        nonlocal x\n        del x\n"
    "    try:\n        y = 1\n        z = x\n    except NameError:\n        return y\n    return z\n",
}

CHANGED = (
    *("c and xs.append(1)", "xs.append(1) if c else 0", "xs.sort() if c else None", "c and xs.extend([1])"),
    *("[xs.append(r) for r in c]", "{r: xs.append(r) for r in c}", "[r for r in c if xs.append(r) is None]"),
    *("[*([xs.clear()] if c else [])]", "1 < len(c) < (xs.append(1) or 5)"),
    *("sorted(c, key=lambda r: xs.append(r) or r)", "max(c, default=0, key=lambda r: xs.append(r) or r)"),
    *("for _ in c and [xs.append(1)]:\n        pass", "while c and xs.append(1):\n        pass"),
)
"""Statements that change `xs` only if `c` holds something."""
UNBOUND |= {
    f"changed by {change}, {ending}": f"def f(c=()):\n    if c:\n        xs = []\n    {change}\n    y = [1]\n{rest}"
    for change in CHANGED
    for ending, rest in {
        "read": "    try:\n        y = [2]\n        z = len(xs)\n    except NameError:\n        return y\n    return z\n",
        "not read": "    z = len(y)\n    return z\n",
    }.items()
}

BIG = "1" + "0" * 310
VALUES = {
    f"a % giving a subclass: {text}": f"def f(x=S('s')):\n    a = {text}\n    return a + 'b', 'c' + a, 'd' + a + 'e'\n"
    for text in (
        "'%s' % x", "'%s' % (x,)", "'%s%s' % ('', x)", "'%s!' % x", "'%s!' % (x,)", "'{}'.format(x)",
        "'{}{}'.format('', x)", "'{a}'.format(a=x)", "'{a}'.format_map({'a': x})", "f'{x}'", "f'{x}{x}'",
        "''.join([x])", "'a'.replace('a', x)", "'a-b'.partition(x)[0]", "format(x)", "str(x)", "x.strip()",
        "' '.join((x, x))", "'%(a)s' % {'a': x}", "'%.9s' % (x,)", "'%r' % x", "'a'.center(3, 'b')",
        "b'%s' % b'a'", "('%s' % x).upper()", "f\"{'%s' % x}\"", "'%s' % 's'", "'%s' % (1,)",
    )
} | {
    f"overflow: {text}": f"def f(x=0.5):\n    x = 0.5\n    y = []\n    try:\n        y = 1\n        a = {text}\n"
    "    except (OverflowError, TypeError):\n        return y\n    return a\n"
    for text in (
        f"x * {BIG}", f"{BIG} * x", f"x + {BIG}", f"{BIG} - x", f"x // {BIG}", f"x % {BIG}", f"x / {BIG}",
        f"{BIG} // x", f"x * -{BIG}", f"len(range({BIG}))", f"x < {BIG}", f"float({BIG})", "x * 3",
        "len(range(3))",
    )
} | {
    f"keys: {text}": f"def f():\n    d = {{Key(1): 0}}\n    s = {{Key(1)}}\n    y = []\n    try:\n        y = 1\n"
    f"        a = {text}\n    except LookupError:\n        return y\n    return a\n"
    for text in (
        "1 in d", "1 not in d", "1 in s", "d.get(1)", "d.get(1, 2)", "1 in {Key(1): 0}", "1 in {Key(1)}",
        "{**d, 1: 2} == 3", "{Key(1), 1} == 3", "{Key(1): 0, 1: 1} == 3", "d.setdefault(1, 2)", "s.add(1)",
        "s.discard(1)", "d[1]",
    )
} | {
    "keys: a store": "def f():\n    d = {Key(1): 0}\n    y = []\n    try:\n        y = 1\n        d[1] = 2\n"
    "    except LookupError:\n        return y\n    return d\n",
}  # fmt: skip

# ── notes ────────────────────────────────────────────────────────────────────────────────────────────────

_INSIDE = "'text' in [c for k in {}.f_code.co_consts for c in getattr(k, 'co_consts', ())]"
NOTES = {
    f"notes: {first}; {look}": f'def f():\n    def g():\n        "text"\n        return 1\n    g()\n    {first}\n'
    f"    return {look}\n"
    for first, look in (
        ("import sys", _INSIDE.format("sys._getframe(0)")),
        ("from sys import _getframe as frame", _INSIDE.format("frame()")),
        ("import inspect as i", _INSIDE.format("i.currentframe()")),
        ("import inspect as i", _INSIDE.format("i.stack()[0].frame")),
        ("pass", "eval('g').__doc__"),
        ("pass", "locals()['g'].__doc__"),
        ("look = locals", "look()['g'].__doc__"),
    )
}

# ── imports act ──────────────────────────────────────────────────────────────────────────────────────────

IMPORTS = {
    text: f"def f():\n    import registry_of_test\n    n = 0\n    {text}\n    n = len(registry_of_test.NAMES)\n    return n\n"
    for text in (
        "import plug_of_test", "import plug_of_test as p", "from plug_of_test import x",
        "from plug_of_test import x as y", "import registry_of_test as r, plug_of_test",
    )
}  # fmt: skip

PROGRAMS = HIDDEN | LOOKS | UNBOUND | VALUES | NOTES | IMPORTS


class _Finder:
    """Imports `plug_of_test`, whose body appends to a list in `registry_of_test`."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> Any:
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, _Finder) if name in ("plug_of_test", "registry_of_test") else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: object) -> None:
        return None

    @staticmethod
    def exec_module(module: Any) -> None:
        if module.__name__ == "plug_of_test":
            import registry_of_test  # type: ignore[import-not-found]

            registry_of_test.NAMES.append("plug")
            module.x = 1
        else:
            module.NAMES = []


def outcome(source: str) -> object:
    """What `f()` gives, in a fresh namespace, or the exception that it raises."""
    for name in ("plug_of_test", "registry_of_test"):
        sys.modules.pop(name, None)
    space: dict[str, Any] = {"__name__": "test"}
    exec(compile(AROUND, "<around>", "exec"), space)
    exec(compile(source, "<text>", "exec"), space)
    sys.meta_path.insert(0, _Finder)
    try:
        return repr(space["f"]())
    except Exception as error:
        return type(error)
    finally:
        sys.meta_path.remove(_Finder)


@pytest.mark.thinned(40)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_order_does_the_same(name: str) -> None:
    source = PROGRAMS[name]
    own = outcome(source)
    for moves in islice(REORDER.every(source), ORDERS):
        rewritten = REORDER.apply(source, moves)
        assert not isinstance(rewritten, Refused)
        assert outcome(rewritten.source) == own, rewritten.source


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.thinned(8)
def test_every_transform_does_the_same(name: str) -> None:
    source = PROGRAMS[name]
    own = outcome(source)
    assert own == outcome(source), "what is compared is steady"
    for transform in KEEPING:
        rule = TRANSFORMS.get(transform)
        for seed in range(2):
            moves = rule.propose(source, Random(seed))
            if isinstance(moves, Refused):
                break
            rewritten = rule.apply(source, moves)
            if not isinstance(rewritten, Refused):
                assert outcome(rewritten.source) == own, (transform, rewritten.source)


def test_a_comment_at_the_first_byte_of_what_is_removed_stays() -> None:
    rule = TRANSFORMS.get("remove-annotations")
    assert rule.propose("def f(x#c\n: int):\n    return x\n", Random(0)) == Refused("comment between")


def test_the_control_reverses_only_what_it_offers() -> None:
    source = "def f(a):\n    one()\n    two()\n    b = 1\n    return b\n"
    move = Move(kind="order", site=1, value=(1, 0, 2, 3), note="")
    assert isinstance(REORDER_BREAKING.apply(source, (move,)), Refused)

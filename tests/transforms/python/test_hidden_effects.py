"""Effects that no statement spells out: each text is run before and after every transform that could hide one.

Each program needs an effect, a binding or a type that stands elsewhere: in another scope, in the class around, in
a module that is imported, in what a name stands for. Under the relation for calls that raise nothing, only such
calls are compared.
"""

from collections.abc import Iterator
from typing import Final

import pytest

from codeaudit.transforms.perturb import perturb_one, under
from codeaudit.transforms.records import Origin, Perturbed, Sample
from codeaudit.transforms.registry import transform_for
from tests.transforms.python.order.support import run

TRANSFORMS: Final = (
    "reorder",
    "reorder-targets",
    "reorder-operands",
    "reorder-items",
    "reorder-keywords",
    "reorder-functions",
    "tuple-assignments",
    "for-to-while",
    "dead-stores",
    "swap-operands",
)
TELL: Final = """\
told = 0
def tell(*_):
    global told
    told += 1
    return told
"""
"""A function that acts, for the programs that need one."""

COMPREHENSIONS: Final = {
    "an assignment in a comprehension reads its variable": (
        "def f(xs):\n    x = 1\n    y = 0\n    z = [(y := x) for x in xs]\n    a = y + 1\n    print('hi')\n    return a, z, x\n",
        ("f(['a'])", "f([1])"),
    ),
    "its value decides between branches": (
        "class Same:\n    def __eq__(self, other): return True\n"
        "def f(rows):\n    k = 'a'\n    y = 'b'\n    z = [(y := k) for k in rows]\n    if y == 'a':\n        print('a')\n"
        "    if y == 'b':\n        print('b')\n    return len(z), k\n",
        ("f([Same()])", "f(['b'])"),
    ),
    "its value has no length": (
        "def f(rows):\n    k = [1]\n    ys = [2]\n    z = [(ys := k) for k in rows]\n    for y in ys:\n        print(y)\n"
        "    return len(z), k\n",
        ("f([iter([3])])", "f([[4, 5]])"),
    ),
    "a builtin is hidden where it is assigned": (
        "def f(fs):\n    y = 0\n    z = [(y := len(v)) for v in fs for len in fs]\n    a = y + 1\n    print('hi')\n    return a, z\n",
        ("f([lambda v: 'a'])", "f([lambda v: 1])"),
    ),
    "keys of a comprehension are foreign": (
        "class K:\n    def __init__(self, h): self.h = h\n    def __hash__(self): return hash(self.h)\n"
        "    def __eq__(self, o):\n        print('eq', o)\n        return False\n"
        "def f(rows):\n    k = 'a'\n    d = {}\n    z = [d.setdefault(k, 1) for k in rows]\n    print('before')\n"
        "    b = d.get('a')\n    return b, k, z\n",
        ("f([K('a')])",),
    ),
    "a generator binds a variable later": (
        "def f(xs):\n    n = 0\n    g = ((n := x) for x in xs)\n    a = next(g)\n    b = n\n    return a, b\n",
        ("f([5])",),
    ),
    "a generator binds a keyword's value": (
        "def g(a, b): return a, b\ndef f(xs):\n    n = 1\n    it = ((n := x) for x in xs)\n    return g(a=n, b=next(it))\n",
        ("f([7])",),
    ),
    "a builtin is hidden where it gets a container": (
        "class Keep:\n    def __call__(self, x):\n        self.x = x\n        return 1\n"
        "def f(fs, h):\n    xs = []\n    ys = [max(xs) for max in fs]\n    n = len(xs)\n    h()\n    return n, ys\n"
        "keep = Keep()\n",
        ("f([keep], lambda: keep.x.append(1))",),
    ),
    "a builtin is hidden where it gets a lambda": (
        "kept = []\ndef keep(fs, key):\n    kept.append(key)\n"
        "def f(fs, h):\n    z = 1\n    k = [sorted(fs, key=lambda: z) for sorted in fs]\n    h()\n    z = 2\n    return k\n",
        ("f([keep], lambda: print(kept[-1]()))",),
    ),
}  # fmt: skip
SCOPES: Final = {
    "the key of a sort keeps a container": (
        "class K:\n    def keep(self, y):\n        self.y = y\n        return 1\n    def go(self): self.y.append(1)\n"
        "def f(xs):\n    ys = []\n    zs = sorted(xs, key=lambda x: x.keep(ys))\n    n = len(ys)\n    xs[0].go()\n    return n, len(zs)\n",
        ("f([K()])",),
    ),
    "a nested function rebinds an annotated parameter": (
        "def f(xs: list, it):\n    def g():\n        nonlocal xs\n        xs = it\n    g()\n    a = list(xs)\n    b = list(xs)\n    return a, b\n",
        ("f([1], iter([2]))",),
    ),
    "a tuple of names is deleted": (
        "def f(p):\n    x = 1\n    y = 2\n    if p:\n        del (x, y)\n    a = x\n    print(p)\n    return a\n",
        ("f(1)", "f(0)"),
    ),
    "names are unbound behind a deletion": ("def f():\n    x = 1\n    y = 2\n    del (x, [y])\n    return 5\n", ("f()",)),
    "a line goes on behind a statement": (
        "def f(c):\n    if c:\n        a = 1; \\\n        b = 2\n        d = 3\n    e = 4\n    return 1\n", ("f(0)", "f(1)"),
    ),
    "the only statement of a branch goes on": (
        "def f(c):\n    x = y = 0\n    if c: x = 1; \\\n    y = 2\n    return x, y\n", ("f(0)", "f(1)"),
    ),
    "a definition goes on": ("def a(): return 1; \\\n\ndef b(): return 2\nX = 3\n", ("a(), b(), X",)),
}  # fmt: skip
RAISING: Final = {
    "a dict grows under its loop": (
        "def f():\n    d = {1: 0}\n    for k in d:\n        d[2] = 0\n    print('hi')\n    return d\n", ("f()",),
    ),
    "a set grows under its comprehension": (
        "def f():\n    s = {1}\n    z = [s.add(9) for k in s]\n    print('hi')\n    return z\n", ("f()",),
    ),
    "a range is too long for a list": (
        "def f():\n    n = 10 ** 20\n    m = 1000000000000000000000\n    a = list(range(m))\n    print('hi')\n    return a, n\n",
        ("f()",),
    ),
    "a range is too long to be spread": (
        "def f(g):\n    n = 1000000000000000000000\n    a = 0\n    try:\n        a = g()\n        b = [*range(n)]\n"
        "    except OverflowError:\n        return a\n    return b\n",
        ("f(lambda: 5)",),
    ),
}  # fmt: skip
CLASSES: Final = {
    "a generated method reads a property": (
        "from dataclasses import dataclass\n" + TELL + "@dataclass\nclass P:\n    n: int\n    @property\n    def n(self):\n        tell()\n"
        "        return self._n\n    @n.setter\n    def n(self, v): self._n = v\n"
        "def f(x, y):\n    a = x == y\n    b = told\n    return a, b\n",
        ("f(P(1), P(1))",),
    ),
    "an inherited method reads a property": (
        "import collections\n" + TELL + "class D(collections.UserDict):\n    @property\n    def data(self):\n        tell()\n        return {1: 2}\n"
        "    @data.setter\n    def data(self, v): pass\ndef f(x):\n    a = x[1]\n    b = told\n    return a, b\n",
        ("f(D())",),
    ),
    "a property acts in a tuple": (
        TELL + "class C:\n    @property\n    def size(self): return tell()\ndef f(x):\n    a, b = x.size, told\n    return a, b\n",
        ("f(C())",),
    ),
    "a class acts when it is asked for": (
        "class C:\n    @property\n    def __class__(self):\n        print('asked')\n        return str\n"
        "def f(x, y): return isinstance(x, int) and isinstance(y, list)\n",
        ("f(C(), 3)",),
    ),
    "a class acts once for each item": (
        "class C:\n    @property\n    def __class__(self):\n        print('asked')\n        return str\n"
        "def f(x): return isinstance(x, (int, str))\n",
        ("f(C())",),
    ),
    "a dict with defaults has another name": (
        TELL + "from collections import defaultdict as dd\nD = dd(tell)\ndef f():\n    a = D['k']\n    b = told\n    return a, b\n", ("f()",),
    ),
    "a dict with defaults is that of typing": (
        TELL + "from typing import DefaultDict\nD = DefaultDict(tell)\ndef f():\n    a = D['k']\n    b = told\n    return a, b\n", ("f()",),
    ),
    "a lookup adds to a dict": (
        "from collections import defaultdict as dd\ndef f(k):\n    d = dd(list)\n    a = d[k]\n    n = len(d)\n    return a, n\n", ("f(1)",),
    ),
    "property has another name": (
        TELL + "prop = property\nclass C:\n    size, other = prop(tell), prop(tell)\ndef f(x):\n    a = x.size\n    b = told\n    return a, b\n",
        ("f(C())",),
    ),
    "a call makes the class": (
        TELL + "C = type('C', (), dict(size=property(tell)))\ndef f(x):\n    a = x.size\n    b = told\n    return a, b\n", ("f(C())",),
    ),
    "a class has another name": (
        TELL + "class C: pass\nK = C\nprop = property\nK.size = prop(tell)\ndef f(x):\n    a = x.size\n    b = told\n    return a, b\n",
        ("f(C())",),
    ),
    "a class stands behind a form feed": (
        TELL + "computed = property\n\x0cclass C:\n    size = computed(tell)\ndef f(x):\n    a = x.size\n    b = told\n    return a, b\n", ("f(C())",),
    ),
    "a method gets its name from a loop": (
        TELL + "class C: pass\nfor n in ('eq', 'add'):\n    setattr(C, f'__{n}__', tell)\ndef f(x):\n    a = x == 1\n    b = told\n    return a, b\n",
        ("f(C())",),
    ),
}  # fmt: skip
FAST: Final = "import sys, types\nfastlib = types.ModuleType('fastlib')\nclass M:\n    def sqrt(self, x): return tell()\nfastlib.math = M()\nsys.modules['fastlib'] = fastlib\n"
NAMES: Final = {
    "a module is another one, and a parameter": (
        TELL + FAST + "from fastlib import math\ndef g(math): return math\ndef f():\n    a = math.sqrt(4)\n    b = told\n    return a, b\n", ("f()",),
    ),
    "a module may be another one": (
        TELL + FAST + "try:\n    from fastlib import math\nexcept ImportError:\n    import math\ndef f():\n    a = math.sqrt(4)\n    b = told\n    return a, b\n",
        ("f()",),
    ),
    "a module comes with others": (
        TELL + FAST + "import math\nfrom fastlib import *\ndef f():\n    a = math.sqrt(4)\n    b = told\n    return a, b\n", ("f()",),
    ),
    "a module is a class": (
        TELL + "class math:\n    sqrt = tell\ndef f():\n    a = math.sqrt(4)\n    b = told\n    return a, b\n", ("f()",),
    ),
    "a module is a function": (
        TELL + "def operator(): pass\noperator.add = tell\ndef f():\n    a = operator.add(4, 1)\n    b = told\n    return a, b\n", ("f()",),
    ),
    "a builtin is replaced in the namespace": (
        TELL + "globals()['len'] = tell\ndef f(x):\n    a = len(x)\n    b = told\n    return a, b\n", ("f([])",),
    ),
    "a builtin is replaced in its module": (
        TELL + "import builtins\ndef install():\n    old = builtins.len\n    builtins.len = tell\n    return old\n"
        "def f(x):\n    a = len(x)\n    b = told\n    return a, b\ndef tried():\n    old = install()\n    try:\n        return f([])\n"
        "    finally:\n        builtins.len = old\n",
        ("tried()",),
    ),
}  # fmt: skip
LENGTH: Final = "def f(x):\n    a = len(x)\n    b = told\n    return a, b\n"
BINDING: Final = {
    name: (TELL + text + LENGTH, ("f([4])",))
    for name, text in {
        "a name for the namespace": "g = globals()\ng['len'] = tell\n",
        "a namespace that is updated": "ns = globals()\nns |= {'len': tell}\n",
        "a namespace that is handed on": "def export(ns): ns['len'] = tell\nexport(globals())\n",
        "a text that is executed": "exec('len = tell')\n",
        "the variables of the module": "vars()['len'] = tell\n",
        "an item of the namespace": "globals().__setitem__('len', tell)\n",
    }.items()
}
PATCHED: Final = {
    name: (
        f"from unittest import mock\nfrom unittest.mock import patch\nimport builtins\n{TELL}{text}{LENGTH}",
        ("go()",),
    )
    for name, text in {
        "a builtin is patched": "def go():\n    with mock.patch('builtins.len', tell):\n        return f([4])\n",
        "an attribute of builtins is patched": "def go():\n    with mock.patch.object(builtins, 'len', tell):\n        return f([4])\n",
        "a decorator patches": "@patch('builtins.len', tell)\ndef go(): return f([4])\n",
        "builtins have another name": "import builtins as bb\n"
        "def go():\n    old, bb.len = bb.len, tell\n    try:\n        return f([4])\n    finally:\n        bb.len = old\n",
    }.items()
}  # fmt: skip
ADDED: Final = "def f(x):\n    a = x + 1\n    b = told\n    return a, b\n"
SIZED: Final = "def f(x):\n    a = x.size\n    b = told\n    return a, b\n"
FILLED: Final = {
    "a function installs operators": (
        TELL + "class C: pass\ndef install(target):\n    for op in ('add', 'lt'):\n        setattr(target, '__' + op + '__', tell)\n"
        "install(C)\n" + ADDED,
        ("f(C())",),
    ),
    "a decorator installs operators": (
        TELL + "def forward(kind):\n    for op in ('add', 'lt'):\n        setattr(kind, '__%s__' % op, tell)\n    return kind\n"
        "@forward\nclass C: pass\n" + ADDED,
        ("f(C())",),
    ),
    "a mocked property": (
        "from unittest.mock import MagicMock, PropertyMock\n" + TELL + "m = MagicMock()\ntype(m).size = PropertyMock(side_effect=tell)\n" + SIZED,
        ("f(m)",),
    ),
    "a patched property": (
        "from unittest.mock import patch, PropertyMock\n" + TELL + "class C: size = 1\n"
        + "def go():\n    with patch.object(C, 'size', PropertyMock(side_effect=tell)):\n        return f(C())\n" + SIZED,
        ("go()",),
    ),
    "a decorator that is called": (
        "from dataclasses import dataclass\n" + TELL + "class P:\n    n: int\n    @property\n    def n(self):\n        tell()\n"
        "        return self._n\n    @n.setter\n    def n(self, v): self._n = v\nP = dataclass(P)\n"
        "def f(x, y):\n    a = x == y\n    b = told\n    return a, b\n",
        ("f(P(1), P(1))",),
    ),
    "a metaclass fills its classes": (
        TELL + "class M(type):\n    def __new__(mcs, name, bases, ns):\n        for n in ('add', 'lt'): ns['__%s__' % n] = tell\n"
        "        return super().__new__(mcs, name, bases, ns)\nclass C(metaclass=M): pass\n" + ADDED,
        ("f(C())",),
    ),
    "a function fills a new class": (
        "import types\n" + TELL + "def fill(ns): ns['__' + 'add__'] = tell\nC = types.new_class('C', (), {}, fill)\n" + ADDED, ("f(C())",),
    ),
    "a class fills itself": (
        TELL + "class C:\n    for n in ('add', 'lt'): locals()['__%s__' % n] = tell\n" + ADDED, ("f(C())",),
    ),
    "functions list the module": (
        "def do_b(): return 1\ndef do_a(): return 2\ndef steps(): return [n for n in steps.__globals__ if n.startswith('do')]\n",
        ("steps()",),
    ),
    "imports are watched": (
        "from unittest.mock import patch\nimport builtins\n" + TELL
        + "real = builtins.__import__\n"
        "def go():\n    with patch('builtins.__import__', side_effect=lambda *a, **k: (tell(), real(*a, **k))[1]): return f()\n"
        "def f():\n    import json\n    b = told > 0\n    return b\n",
        ("go()",),
    ),
}  # fmt: skip
IMPORTS: Final = {
    "an import binds a name in its package": (
        "import sys\ndef fresh():\n    for name in [one for one in sys.modules if one.partition('.')[0] == 'wsgiref']: del sys.modules[name]\n"
        "    global wsgiref\n    import wsgiref\nimport wsgiref\ndef kinds():\n    from wsgiref.util import is_hop_by_hop\n"
        "    node = wsgiref.util\n    return node.__name__, is_hop_by_hop.__name__\n",
        ("fresh() or kinds()",),
    ),
    "an import with another name does, too": (
        "import sys\ndef fresh():\n    for name in [one for one in sys.modules if one.partition('.')[0] == 'wsgiref']: del sys.modules[name]\n"
        "    global wsgiref\n    import wsgiref\nimport wsgiref\ndef kinds():\n    known = getattr(wsgiref, 'util', None) is None\n"
        "    import wsgiref.util as util\n    return known, util.__name__\n",
        ("fresh() or kinds()",),
    ),
}  # fmt: skip
CHANGED_CLASSES: Final = {
    "a call may give an object's class a method": (
        "class C: pass\ndef f(x, C, g):\n    before = callable(x)\n    C.__call__ = g\n    return before\n",
        ("f(C(), C, len)",),
    ),
    "an unknown call may exchange a class": (
        "class A: pass\nclass B: pass\ndef change(x): x.__class__ = B\ndef f(x, g):\n    before = type(x).__name__\n"
        "    kind = type(x)\n    g(x)\n    return before, kind.__name__\n",
        ("f(A(), change)",),
    ),
    "an unknown call may make an object callable": (
        "class A: pass\nclass B:\n    def __call__(self): pass\ndef change(x): x.__class__ = B\n"
        "def f(x, g):\n    before = callable(x)\n    g(x)\n    return before\n",
        ("f(A(), change)",),
    ),
    "a function that only looks reads a class": (
        "class A: pass\nclass B: pass\ndef change(x): x.__class__ = B\ndef kind(x): return type(x)\n"
        "def f(x, g):\n    before = kind(x)\n    g(x)\n    return before.__name__\n",
        ("f(A(), change)",),
    ),
    "a class is stored": (
        "class Closed: pass\nclass Open:\n    def close(self):\n        before = type(self)\n        self.__class__ = Closed\n"
        "        return before.__name__\n",
        ("Open().close()",),
    ),
    "targets read a class": (
        "class A: pass\nclass B: pass\ndef change(x): x.__class__ = B\n"
        "def f(x, g):\n    before, after = type(x), g(x)\n    return before.__name__\n",
        ("f(A(), change)",),
    ),
}  # fmt: skip
OPENED: Final = """\
import weakref
class Held: pass
def held(_): return Held()
def dead(one): return one() is None
"""
RELEASED: Final = {
    f"{name} releases": (
        f"{OPENED}def f(p):\n    h = held(p)\n    k = held(p)\n    seen = [weakref.ref(h), weakref.ref(k)]\n{body}\n",
        ("f(1)",),
    )
    for name, body in {
        "each of several targets": "    before = dead(seen[1])\n    h = k = -1\n    gone = dead(seen[1])\n    return before, gone",
        "a negative number": "    before = dead(seen[0])\n    h = -1\n    gone = dead(seen[0])\n    return before, gone",
        "an empty tuple": "    before = dead(seen[0])\n    h = ()\n    gone = dead(seen[0])\n    return before, gone",
        "a tuple of constants": "    h, k = None, (1, 2)\n    gone = dead(seen[0])\n    return gone",
        "an annotated constant": "    before = dead(seen[0])\n    h: object = None\n    gone = dead(seen[0])\n    return before, gone",
    }.items()
} | {
    "the order of targets is the order of release": (
        "class Held:\n    def __init__(self, name): self.name = name\n    def __del__(self): print(self.name)\n"
        "def f():\n    h = Held('h')\n    k = Held('k')\n    h = k = None\n    return h\n",
        ("f()",),
    ),
    "a tuple releases in the order of its targets": (
        "class Held:\n    def __init__(self, name): self.name = name\n    def __del__(self): print(self.name)\n"
        "def f():\n    h = Held('h')\n    k = Held('k')\n    h, k = None, -1\n    return h\n",
        ("f()",),
    ),
}
PROGRAMS: Final = (
    COMPREHENSIONS
    | SCOPES
    | RAISING
    | CLASSES
    | NAMES
    | BINDING
    | PATCHED
    | FILLED
    | IMPORTS
    | CHANGED_CLASSES
    | RELEASED
)

METHOD: Final = "    def m(self):\n        self._x = 1\n        self._y = 2\n        return 3\n"
LOUD: Final = """\
def gx(self): return 0
def sx(self, v): print("x", v)
def sy(self, v): print("y", v)
"""
HOLDERS: Final = {
    "of a display": LOUD + "class C:\n    _x, _y = property(gx, sx), property(gx, sy)\n",
    "of a base that a call makes": LOUD
    + "Base = type('Base', (), {'_x': property(gx, sx), '_y': property(gx, sy)})\nclass C(Base):\n",
}
BEHIND: Final = {
    "set by a function": LOUD
    + "def install(K):\n    setattr(K, '_x', property(gx, sx))\n    setattr(K, '_y', property(gx, sy))\ninstall(C)\n",
    "set in a loop": LOUD
    + "def maker(n): return property(gx, sx if n == '_x' else sy)\nfor n in ('_x', '_y'):\n    setattr(C, n, maker(n))\n",
}


def _variants(source: str, *, file: str = "") -> Iterator[tuple[str, bool]]:
    """The variants of all transforms, and whether they hold for calls alone that raise nothing."""
    origin = Origin(path="-", line=1)
    sample = Sample(id="s", language="python", source=source, label=None, origin=origin, context=file)
    strict = [transform_for(name, "python") for name in TRANSFORMS]
    returning = under(transform_for("reorder", "python"), "returning")
    for transform in (*strict, returning):
        for outcome in perturb_one(sample, transform, variants=8, seed=0):
            if isinstance(outcome, Perturbed):
                yield outcome.source, transform is returning


@pytest.mark.thinned(20)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_do_the_same(name: str) -> None:
    source, calls = PROGRAMS[name]
    before = [run(source, call) for call in calls]
    assert not any(error.startswith(("NameError", "SyntaxError")) for _, _, error in before)
    for text, returning in _variants(source):
        for call, expected in zip(calls, before, strict=True):
            if not (returning and expected[2]):
                assert run(text, call) == expected, text


@pytest.mark.parametrize("name", [*HOLDERS, *BEHIND])
def test_private_attributes_may_be_properties(name: str) -> None:
    file = HOLDERS[name] + METHOD if name in HOLDERS else f"class C:\n{METHOD}{BEHIND[name]}"
    before = run(file, "C().m()")
    assert before[0] == "x 1\ny 2\n"
    wrapper = "class _:\n"
    for text, _ in _variants(wrapper + METHOD, file=file):
        assert run(file.replace(METHOD, text.removeprefix(wrapper)), "C().m()") == before, text

"""Ways to look at code, or to change what it means, each in several spellings. By execution.

Each text prints something that a rewriting could change if nobody asked who can see it.
"""

import sys
from itertools import product
from types import ModuleType

import pytest

import codeaudit

GENERATOR = """\
import inspect, operator
def steps():
    first = 1
    second = 2
    yield
    third = 3
    return first, second, third
def told(g):
    return {look}
g = steps()
next(g)
print(told(g))
"""
TRACEBACK = """\
import traceback, sys
def fail():
    first = 1
    second = 2
    raise ValueError
def report(tb):
    return {look}
try:
    fail()
except ValueError as error:
    print(report(error.__traceback__.tb_next))
"""
CODE = """\
import inspect, operator, dis
def work(a):
    first = 1
    second = 2
    return first + second + a
def told(f):
    return {look}
print(told(work))
"""
OBJECT = """\
import operator, builtins, copy
class C:
    def __init__(self, a, b):
        self._a = a
        self._b = b
def told(o):
{look}
print(told(C(1, 2)))
"""
CLASSES = """\
import operator, sys, builtins
class Base:
    def one(self): return 1
    def two(self): return 2
    class Inner: pass
class A(Base): pass
class B(Base): pass
def told(kind):
    return {look}
print(told(Base))
"""
PATCHED = """\
import sys, builtins
from unittest import mock
seen = []
def told(x):
    seen.append(x)
    return 7
def work(xs, n):
    a = len(xs)
    b = n + 1
    c = len([b])
    for x in range(len(xs)):
        seen.append(x)
    return a, b, c
{bind}
print(seen)
"""
METHODS = """\
from unittest import mock
import operator
seen = []
def same(self, other):
    seen.append(str(type(other)))
    return True
class Desc:
    def __set__(self, o, v): seen.append(v)
    def __get__(self, o, k): return 0
class A:
    def __init__(self, a, b):
        self._x = a
        self._y = b
def work(a, b, xs):
    c = a == b
    d = a == xs
    return c, d
{bind}
print(seen)
"""
SOURCE = """\
import inspect, sys
def work(a):
    first = 1
    second = 2
    return first + second + a
def told(f):
    return {look}
print(told(work))
"""
DROPPED = """\
import weakref
class Told:
    def __init__(self, name): self.name = name
    {hook}
def work(a, b, n):
    a = n
    b = n
    return a, b
print(work(Told("a"), Told("b"), 1))
"""
CALLED = """\
import sys
from functools import partial
def work(first, second):
    return [first], second
{call}
"""
SIGNED = """\
import math, struct, pickle, array
def work(x, y):
    a = float(x)
    b = float(y)
    return a + b
nan = "nan", "-nan"
print({look})
"""
DERIVED = """\
seen = []
def told(self):
    seen.append(1)
    return iter([1])
{kind}
def work(xs: list, d: dict):
    n = len(seen)
    for x in xs:
        pass
    m = len(seen)
    for x in d.items():
        pass
    k = len(seen)
    return n, m, k
print(work(Odd([1]), More(a=1)))
"""
PLAIN_MORE = "class More(dict): pass"
CHECKED = """\
from typing import Protocol, runtime_checkable
{has}
class Row:
    def __init__(self):
        self._n = 0
    @property
    def size(self):
        self._n += 1
        return 1
    def work(self, other):
        n = self._n
        found = isinstance(self, HasSize)
        m = self._n
        same = isinstance(other, (int, HasSize))
        return n, found, m, same
    def matched(self, other):
        n = self._n
        match other:
            case HasSize():
                found = True
            case _:
                found = False
        m = self._n
        return n, found, m
row = Row()
print(row.work(row), row.matched(row))
"""
OVERRIDDEN = """\
import argparse, collections, datetime
seen = []
{kind}
def work(a, b):
    n = len(seen)
    {look}
    m = len(seen)
    return n, m
print(work({values}))
"""
RELEASED = """\
seen = []
class Told:
    def __init__(self, name): self.name = name
    def __del__(self): seen.append(self.name)
def make(name): return Told(name)
def work():
    a = make("a")
    b = make("b")
    {drop}
    n = len(seen)
    return n
print(work(), seen)
"""
ENDING = """\
import contextlib
seen = []
def make(name):
{steps}
def work(n):
    a = make("a")
    b = make("b")
    next(a), next(b)
    c = n
    a = c
    b = c
    m = len(seen)
    return a, b, m
print(work(1), seen)
"""
COMPARED = """\
start = 10 ** 3
def work(n):
    found = []
    for i in range(1000, n):
        found.append({look})
    return found
print(work(1003))
"""
EVALUATED = """\
import sys
class Frame:
    def query(self, text):
        return eval(text.replace("@", ""), {}, sys._getframe(1).f_locals)
    eval = evaluate = sql = query
def model_matrix(text, frame):
    return eval(text, {}, sys._getframe(1).f_locals)
frame = Frame()
def work(limit, scale):
    top = limit * 2
    rest = scale + 1
    return {look}
print(work(1, 2))
"""
REPLACED = """\
import sys
from unittest import mock
seen = []
def clean(x):
    return 1
def told(x):
    seen.append(x)
    return 2
def work():
    a = clean("a")
    b = clean("b")
    c = clean("c")
    return a, b, c
{bind}
print(seen)
"""
REPLACED_BUILTIN = """\
import importlib, inspect, operator, sys, types
seen = []
real = len
def told(x):
    seen.append(real(x))
    return 0
def work():
    xs = ["a"]
    ys = ["a", "b"]
    first = len(xs)
    second = len(ys)
    return first, second
{bind}
work()
print(seen)
"""
LINED = """\
import bdb, logging, trace, unittest, warnings
def work(log):
    total = 1
    log("one")
    rest = 2
    log("two")
    return total, rest
{look}
"""
SIGNED_BY = """\
import inspect, operator, pydoc, typing
def work(size: int, *, second: int = 2, first: int = 1):
    total = size + second + first
    return total
print({look})
"""
TEXTS = {
    "builtins": (
        REPLACED_BUILTIN,
        "bind",
        (
            "def change():\n    exec('global len\\nlen = told')\nchange()",
            "def change(text):\n    exec(text)\nchange('global len\\nlen = told')",
            "own = sys.modules\nown[__name__].len = told",
            "for one in list(sys.modules.values()):\n    if one.__name__ == 'text': one.len = told",
            "from sys import modules as own\nsetattr(own['text'], 'l' 'en', told)",
            "getattr(sys, 'modules')['text'].len = told",
            "vars(sys)['modules']['text'].len = told",
            "inspect.getmodule(work).len = told",
            "load = importlib.import_module\nload('text').len = told",
            "types.ModuleType.__setattr__(sys.modules.get(work.__module__), 'len', told)",
            "sys._getframe().f_globals['len'] = told",
            "names = sys._getframe().f_globals\nnames['len'] = told",
            "names = work.__globals__\nnames['len'] = told",
            "getattr(work, '__glo' 'bals__')['len'] = told",
            "operator.attrgetter('__globals__')(work)['len'] = told",
            "match work:\n    case object(__globals__=names):\n        names['len'] = told",
        ),
    ),
    "lines": (
        LINED,
        "look",
        (
            "class H(logging.Handler):\n    def emit(self, record): print(record.lineno)\n"
            "log = logging.Logger('a')\nlog.addHandler(H())\nwork(log.warning)",
            "class F:\n    def filter(self, record): print(record.lineno)\n"
            "log = logging.Logger('b')\nlog.addFilter(F())\nwork(log.warning)",
            "class F(logging.StreamHandler):\n    def handle(self, record): print(getattr(record, 'line' 'no'))\n"
            "log = logging.Logger('c')\nlog.addHandler(F())\nwork(log.warning)",
            "def told(text, kind, file, number, line=None): print(number); return ''\n"
            "kept, warnings.formatwarning = warnings.formatwarning, told\n"
            "warnings._showwarnmsg_impl, shown = lambda one: warnings._formatwarnmsg(one), warnings._showwarnmsg_impl\n"
            "work(warnings.warn)\nwarnings.formatwarning, warnings._showwarnmsg_impl = kept, shown",
            "with unittest.TestCase().assertWarns(UserWarning) as held:\n    work(warnings.warn)\nprint(held.lineno)",
            "class D(bdb.Bdb):\n    n = 0\n    def user_line(self, frame): self.n += 1; self.set_step()\n"
            "d = D()\nd.runcall(work, id)\nprint(d.n)",
            "counted = trace.Trace(count=1, trace=0)\ncounted.runfunc(work, id)\n"
            "print(sum(n for (name, _), n in counted.results().counts.items() if name == '<text>'))",
        ),
    ),
    "signatures": (
        SIGNED_BY,
        "look",
        (
            "work.__annotations__",
            "'{0.__annotations__}'.format(work)",
            "operator.attrgetter('__annotations__')(work)",
            "typing.get_type_hints(work)",
            "inspect.signature(work)",
            "pydoc.render_doc(work).split('work', 1)[1]",
        ),
    ),
    "definitions": (
        REPLACED,
        "bind",
        (
            "clean = told\nwork()",
            "globals()['clean'] = told\nwork()",
            "globals().update(clean=told)\nwork()",
            "vars()['cle' + 'an'] = told\nwork()",
            "setattr(sys.modules[__name__], 'cle' 'an', told)\nwork()",
            "sys.modules['text'].clean = told\nwork()",
            "with mock.patch('text.clean', told):\n    work()",
            "with mock.patch('te' + 'xt.clean', told):\n    work()",
            "with mock.patch(f'{__name__}.clean', told):\n    work()",
            "with mock.patch.object(sys.modules[__name__], 'clean', told):\n    work()",
            "with mock.patch.multiple(__name__, clean=told):\n    work()",
            "with mock.patch.dict(globals(), clean=told):\n    work()",
            "replace = mock.patch\nwith replace('text.clean', told):\n    work()",
            "replace = mock.patch.object\nwith replace(sys.modules[__name__], 'clean', told):\n    work()",
            "replace = getattr(mock, 'patch')\nwith replace('text.clean', told):\n    work()",
            "with getattr(mock, 'pat' 'ch')('text.clean', told):\n    work()",
            "from unittest.mock import patch as replace\nwith replace('text.clean', told):\n    work()",
            "with [mock.patch][0]('text.clean', told):\n    work()",
            "put = setattr\nput(sys.modules[__name__], 'clean', told)\nwork()",
            "exec('clean = told')\nwork()",
            "exec('cle' 'an = told', globals())\nwork()",
            "clean.__code__ = told.__code__\nwork()",
            "setattr(clean, '__code__', told.__code__)\nwork()",
            "getattr(clean, '__setattr__')('__code__', told.__code__)\nwork()",
            "object.__setattr__(clean, '__co' 'de__', told.__code__)\nwork()",
            "for clean in [told]: work()",
            "work.__globals__['clean'] = told\nwork()",
            "def change():\n    global clean\n    clean = told\nchange()\nwork()",
            "import operator\noperator.setitem(globals(), 'clean', told)\nwork()",
            "import text as own\nown.clean = told\nwork()",
            "import importlib\nimportlib.import_module('text').clean = told\nwork()",
        ),
    ),
    "finalisers of generators": (
        ENDING,
        "steps",
        (
            "    try:\n        yield\n    finally:\n        seen.append(name)",
            "    try:\n        yield from [1, 2]\n    finally:\n        seen.append(name)",
            "    try:\n        yield\n    except GeneratorExit:\n        seen.append(name)",
            "    try:\n        yield\n    except BaseException:\n        seen.append(name)\n        raise",
            "    try:\n        yield\n    except:\n        seen.append(name)",
            "    with contextlib.ExitStack() as stack:\n        stack.callback(seen.append, name)\n        yield",
        ),
    ),
    "finalisers": (
        DROPPED,
        "hook",
        (
            "def __del__(self): print(self.name)",
            "__del__ = lambda self: print(self.name)",
            "pass\nTold.__del__ = lambda self: print(self.name)",
            "pass\nsetattr(Told, '__del__', lambda self: print(self.name))",
            "pass\nsetattr(Told, '__d' + 'el__', lambda self: print(self.name))",
            "pass\nTold = type('Told', (Told,), {'__del__': lambda self: print(self.name)})",
            "pass\nBase = Told\ndef Told(name):\n    x = Base(name)\n    weakref.finalize(x, print, name)\n    return x",
            "pass\nBase = Told\nheld = []\ndef Told(name):\n    x = Base(name)\n"
            "    held.append(weakref.ref(x, lambda _: print(name)))\n    return x",
            "pass\nBase = Told\nfrom weakref import finalize as end\ndef Told(name):\n    x = Base(name)\n    end(x, print, name)\n    return x",
        ),
    ),
    "calls by keyword": (
        CALLED,
        "call",
        (
            "print(work(first=1, second=2))",
            "print(work(**{'first': 1, 'second': 2}))",
            "go = work\nprint(go(first=1, second=2))",
            "print(partial(work, first=1)(second=2))",
            "print(globals()['work'](first=1, second=2))",
            "print(eval('work(first=1, second=2)'))",
            "print(eval('work(**{})'.format({'first': 1, 'second': 2})))",
            "print(eval('go(second=2, first=1)', {'go': work}))",
            "print(getattr(sys.modules[__name__], 'wo' 'rk')(first=1, second=2))",
            "print((lambda f: f(first=1, second=2))(work))",
            "print([f(second=2, first=1) for f in [work]])",
            "class C:\n    run = work\nprint(C.run(first=1, second=2))",
            "class C:\n    def __init__(self, first): self.a = first\nprint(C(first=1).a)",
            "class C:\n    def __call__(self, first): return first\nprint(C()(first=1))",
            "class C:\n    def run(self, first): return [first]\nprint(C().run(first=1))",
        ),
    ),
    "signs": (
        SIGNED,
        "look",
        (
            "math.copysign(1, work(*nan))",
            "getattr(math, 'copy' + 'sign')(1, work(*nan))",
            "(lambda sign: sign(1, work(*nan)))(math.copysign)",
            "struct.pack('d', work(*nan))",
            "struct.Struct('d').pack(work(*nan))",
            "array.array('d', [work(*nan)]).tobytes()",
            "pickle.dumps(work(*nan))",
        ),
    ),
    "objects of derived classes": (
        DERIVED,
        "kind",
        (
            f"class Odd(list):\n    __iter__ = told\n{PLAIN_MORE}",
            f"class Odd(list):\n    def __iter__(self):\n        seen.append(1)\n        return iter([1])\n{PLAIN_MORE}",
            f"Odd = type('Odd', (list,), {{'__iter__': told}})\n{PLAIN_MORE}",
            f"class Odd(list): pass\nOdd.__iter__ = told\n{PLAIN_MORE}",
            f"class Odd(list): pass\nsetattr(Odd, '__iter__', told)\n{PLAIN_MORE}",
            "class Odd(list): pass\nclass More(dict):\n    def items(self):\n        seen.append(1)\n        return []",
            "class Odd(list): pass\nclass More(dict):\n    items = told",
            "class Odd(list): pass\nclass More(dict): pass\nMore.items = told",
        ),
    ),
    "12 protocols": (
        CHECKED,
        "has",
        (
            "@runtime_checkable\nclass HasSize(Protocol):\n    size: int",
            "class HasSize(Protocol):\n    size: int\nHasSize = runtime_checkable(HasSize)",
            "@runtime_checkable\nclass Base(Protocol):\n    size: int\n@runtime_checkable\nclass HasSize(Base, Protocol): pass",
            "from typing import runtime_checkable as checked\n@checked\nclass HasSize(Protocol):\n    size: int",
            "import typing as t\n@t.runtime_checkable\nclass HasSize(t.Protocol):\n    @property\n    def size(self): ...",
            "class Meta(type):\n    def __instancecheck__(self, x):\n        x._n += 1\n        return True\nclass HasSize(metaclass=Meta): pass",
        ),
    ),
    "13 released": (
        RELEASED,
        "drop",
        (
            "a = None",
            "a = b = None",
            "a = -1",
            "a = ()",
            "a, b = (), ()",
            "a = ''",
            "a = not 1",
            "(a := None)",
            "del a",
            "a: int = 0",
            "a = 'x' 'y'",
            "a = b'' + b''",
        ),
    ),
    "15 texts that are evaluated": (
        EVALUATED,
        "look",
        (
            "frame.query('top + rest')",
            "frame.eval('top')",
            "frame.query('to' 'p')",
            "frame.query('@' + 'top')",
            "frame.query(f'top + {rest}')",
            "frame.query('{} + rest'.format(top))",
            "model_matrix('I(top)'[1:], frame)",
            "getattr(frame, 'query')('top')",
            "getattr(frame, 'que' 'ry')('top')",
            "(lambda run: [run('1')])(frame.query)",
        ),
    ),
    "22 identity": (
        COMPARED,
        "look",
        (
            "object.__eq__(start, i)",
            "start is i",
            "id(start) == id(i)",
            "getattr(object, '__eq__')(start, i)",
            "getattr(object, '__e' 'q__')(start, i)",
            "__import__('operator').is_(start, i)",
            "(lambda same: same(start, i))(object.__eq__)",
            "[o.__eq__ for o in (object,)][0](start, i)",
            "super(int, start).__eq__(i)",
        ),
    ),
    "5 frames of generators": (
        GENERATOR,
        "look",
        (
            "list(g.gi_frame.f_locals)",
            "sorted(inspect.getgeneratorlocals(g))",
            "sorted(getattr(g, 'gi_frame').f_locals)",
            "list(getattr(g.gi_frame, 'f_' + 'locals'))",
            "list(operator.attrgetter('gi_frame.f_locals')(g))",
            "'{0.gi_frame.f_locals}'.format(g)",
            "inspect.getgeneratorlocals(g)",
        ),
    ),
    "5 tracebacks": (
        TRACEBACK,
        "look",
        (
            "list(tb.tb_frame.f_locals)",
            "[list(f.f_locals) for f, _ in traceback.walk_tb(tb)]",
            "list(traceback.TracebackException(ValueError, ValueError(), tb, capture_locals=True).stack[0].locals)",
            "list(getattr(tb, 'tb_' 'frame').f_locals)",
        ),
    ),
    "5 code objects": (
        CODE,
        "look",
        (
            "f.__code__.co_varnames",
            "getattr(f.__code__, 'co_varnames')",
            "operator.attrgetter('__code__.co_varnames')(f)",
            "[i.argval for i in dis.get_instructions(f.__code__)]",
            "'{0.__code__.co_varnames}'.format(f)",
            "(lambda c: c.co_varnames)(f.__code__)",
        ),
    ),
    "3 attributes of an object": (
        OBJECT,
        "look",
        (
            '    return list(getattr(o, "__dict__", None))',
            '    return "{0.__dict__}".format(o)',
            "    return builtins.vars(o)",
            '    return operator.attrgetter("__dict__")(o)',
            "    match o:\n        case object(__dict__=d):\n            return d",
            "    return o.__getstate__()",
            "    import pickle\n    return pickle.dumps(o)",
            "    from pickle import dumps as text\n    return text(o)",
            '    return getattr(o, "__di" "ct__")',
            "    return o.__reduce_ex__(2)[2]",
        ),
    ),
    "4 namespaces of classes": (
        CLASSES,
        "look",
        (
            'list(getattr(kind, "__dict__"))[:5]',
            'getattr(kind, "__subclasses__")()',
            "kind.__subclasses__()",
            '[one for one in operator.attrgetter("__dict__")(kind)]',
            "list(builtins.vars(kind))",
            "[one for one in sys._getframe(1).f_locals if one[0] in 'AB']",
            "[one for one in told.__globals__ if one in 'AB']",
        ),
    ),
    "10 the own module is patched": (
        PATCHED,
        "bind",
        (
            "import __main__ as own\nown = sys.modules[__name__]\nown.len = told\nwork([1], 2)",
            "sys.modules['te' 'xt'].len = told\nwork([1], 2)",
            "with mock.patch('text.len', told, create=True):\n    work([1], 2)",
            "with mock.patch('te' + 'xt.len', told, create=True):\n    work([1], 2)",
            "with mock.patch('built' 'ins.len', told):\n    work([1], 2)",
            "with mock.patch('built' + 'ins.len', told):\n    work([1], 2)",
            "with mock.patch('{}.len'.format('builtins'), told):\n    work([1], 2)",
            "with mock.patch('%s.len' % 'builtins', told):\n    work([1], 2)",
            "with mock.patch(f'{__name__}.len', told, create=True):\n    work([1], 2)",
            "with mock.patch('.'.join(['builtins', 'len']), told):\n    work([1], 2)",
            "replace = mock.patch\nwith replace('builtins.len', told):\n    work([1], 2)",
            "with mock.patch.multiple('builtins', len=told):\n    work([1], 2)",
            "class monkeypatch:\n    setattr = setattr\n"
            "monkeypatch.setattr(sys.modules[__name__], ''.join(reversed('nel')), told)\nwork([1], 2)",
            "with mock.patch.dict('builtins.__dict__', len=told):\n    work([1], 2)",
            "with mock.patch.dict(vars(sys.modules[__name__]), {'len': told}):\n    work([1], 2)",
            "with mock.patch.dict(globals(), len=told):\n    work([1], 2)",
            "old = len\n__import__('built' 'ins').len = told\nwork([1], 2)\nbuiltins.len = old",
            "old = len\nsys.modules['built' 'ins'].len = told\nwork([1], 2)\nbuiltins.len = old",
            "old = len\nvars(builtins)['l' 'en'] = told\nwork([1], 2)\nbuiltins.len = old",
            "old = len\n__builtins__['len'] = told\nwork([1], 2)\n__builtins__['len'] = old",
            "old = len\nsetattr(builtins, 'l' 'en', told)\nwork([1], 2)\nbuiltins.len = old",
            "old = len\nfor builtins.len in [told]: work([1], 2)\nbuiltins.len = old",
            "old = len\n(lambda b: setattr(b, 'len', told))(builtins)\nwork([1], 2)\nbuiltins.len = old",
            "sys.modules[__name__].len = told\nwork([1], 2)",
            "setattr(sys.modules[__name__], 'len', told)\nwork([1], 2)",
            "globals()['l' + 'en'] = told\nwork([1], 2)",
            "with mock.patch(__name__ + '.len', told, create=True):\n    work([1], 2)",
            "with mock.patch.object(sys.modules[__name__], 'len', told, create=True):\n    work([1], 2)",
            "sys.modules.get(__name__).__dict__['len'] = told\nwork([1], 2)",
        ),
    ),
    "9, 11 methods are attached": (
        METHODS,
        "bind",
        (
            "A.__eq__, A.__ne__ = same, same\nwork(A(1, 2), A(1, 2), 3)",
            "for A.__eq__ in [same]: pass\nwork(A(1, 2), A(1, 2), 3)",
            "put = setattr\nput(A, '__eq__', same)\nwork(A(1, 2), A(1, 2), 3)",
            "type.__setattr__(A, '__eq__', same)\nwork(A(1, 2), A(1, 2), 3)",
            "B = type('B', (A,), dict({}, __eq__=same))\nwork(B(1, 2), B(1, 2), 3)",
            "A._x, A._y = Desc(), Desc()\nA(1, 2)",
            "replace = mock.patch.object\nwith replace(A, '__eq__', same):\n    work(A(1, 2), A(1, 2), 3)",
            "with mock.patch(__name__ + '.A.__eq__', same):\n    work(A(1, 2), A(1, 2), 3)",
            "kind = A\nkind._x = Desc()\nkind._y = Desc()\nA(1, 2)",
            "replace = mock.patch.object\nwith replace(A, '_x', Desc(), create=True):\n"
            "    with replace(A, '_' 'y', Desc(), create=True):\n        A(1, 2)",
            "with mock.patch.multiple(A, _x=Desc(), _y=Desc(), create=True):\n    A(1, 2)",
            "replace = getattr(mock, 'patch')\nwith replace('text.A.__eq__', same):\n    work(A(1, 2), A(1, 2), 3)",
        ),
    ),
    "23 the order of names": (
        SOURCE,
        "look",
        (
            "list(locals())",
            "(lambda: [n for n in sys._getframe(1).f_locals])()",
        ),
    ),
}
ALL = (
    "reorder", "rename", "reorder-targets", "reorder-methods", "reorder-functions", "unused-locals",
    "dead-stores", "remove-local-annotations", "f-string-to-concat", "for-to-while", "reorder-items",
    "rename-parameters", "swap-operands",
)  # fmt: skip


def printed(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    module = sys.modules["text"] = ModuleType("text")
    try:
        exec(compile(text, "<text>", "exec"), vars(module))
    except Exception as error:
        return f"{capsys.readouterr().out}{type(error)}"
    finally:
        del sys.modules["text"]
    return capsys.readouterr().out


@pytest.mark.thinned(5, per="frame")
@pytest.mark.parametrize(
    ("frame", "hole", "look"),
    [(frame, hole, look) for frame, hole, looks in TEXTS.values() for look in looks],
    ids=[f"{name}: {look[:50]}" for name, (_, _, looks) in TEXTS.items() for look in looks],
)
def test_what_is_seen_stays_the_same(
    frame: str, hole: str, look: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = frame.replace("{" + hole + "}", look)
    wanted = printed(text, capsys)
    assert wanted
    assert "Error'>" not in wanted
    for name, seed in product(ALL, range(2)):
        try:
            found = codeaudit.transform(text, name, seed=seed, whole_file=True)
        except codeaudit.NotApplied:
            continue
        assert printed(found, capsys) == wanted, f"{name}:\n{found}"


FREE = "def f(self, a, b):\n    self._a = a\n    self._b = b\n"
STORING = (
    "import pydantic\n@pydantic.dataclasses.dataclass\nclass C:",
    "from pydantic import dataclasses\n@dataclasses.dataclass(frozen=False)\nclass C:",
    "from pydantic.dataclasses import dataclass\n@dataclass\nclass C:",
    "from tools import Protocol\nclass C(Protocol):",
    "from tools import Generic as G, ABC\nclass C(ABC):",
    "import tools\nclass C(tools.Protocol):",
    "@tools.observed\nclass C:",
    'from dataclasses import dataclass\n@dataclass(**{"frozen": True})\nclass C:',
)
GIVING = ("C = tracked(C)", "tracking.observe(C)", "watch(1, C)")
LOOKS = (
    "import sys\nn = sys.getrefcount(x)",
    "from sys import getrefcount as count",
    "import gc\nn = getattr(gc, 'get_' 'referrers')(x)",
)
READING_SOURCE = (
    "import inspect\nt = inspect.getsource(x)",
    "from inspect import getsource as text",
    "import inspect\nt = getattr(inspect, 'get' + 'source')(x)",
    "t = open(__file__).read()",
    "import pydoc\nt = pydoc.getdoc(x)",
    "help(x)",
    "server.register_introspection_functions()\nserver.register_function(f)",
    "from pydoc import render_doc as doc\nt = doc(x)",
    "from xmlrpc.server import DocXMLRPCServer as Server\ns = Server(('localhost', 0))\ns.register_function(f)",
    "import sys\nt = open(sys.argv[0]).read()",
    "import fileinput\nt = list(fileinput.input([__file__]))",
    "t = x.loader.get_data(__file__)",
    "import pkgutil\nt = pkgutil.get_loader('m').get_data(__file__)",
    "import io\nt = io.FileIO(__file__).read()",
    "import filecmp\nt = filecmp.cmp(__file__, x)",
    "import shutil\nt = open(shutil.copy(__file__, x)).read()",
    "import py_compile\nt = open(py_compile.compile(__file__), 'rb').read()",
    "import linecache\nt = linecache.updatecache(__file__)",
    "x.write(__file__)\nt = x.getinfo(x).file_size",
    "t = x.__code__.co_consts",
    "t = [*x.co_positions()]",
    "import os\nt = os.stat(__file__).st_size",
    "from pathlib import Path\nt = Path(__file__).read_text()",
    "t = x.__loader__.get_source('m')",
    "from traceback import format_exc as text\nt = text().strip().splitlines()[-1]",
    "import traceback\nt = ''.join(traceback.format_exception(x))\nfound = 'total' in t",
    "import traceback\nx.kept = traceback.format_tb(x)\nfor line in x.kept:\n    print(line)",
    "import re, traceback\nfound = re.search('total', traceback.format_exc())",
    "import io, traceback\nt = io.StringIO()\ntraceback.print_exc(file=t)\nn = t.getvalue().splitlines()",
    "import io, contextlib, traceback\nt = io.StringIO()\nwith contextlib.redirect_stderr(t):\n"
    "    traceback.print_exc()\nn = t.getvalue().splitlines()",
    "import io, contextlib, sys\nwith contextlib.redirect_stderr(io.StringIO()) as t:\n"
    "    sys.excepthook(*sys.exc_info())\nn = t.getvalue().split('total')",
    "import io, sys, traceback\nt = io.StringIO()\nsys.stderr = t\ntraceback.print_stack()\nn = 'total' in t.getvalue()",
    "import logging\nt = logging.Formatter().formatException(x).splitlines()",
    "import faulthandler\nwith open(x) as f:\n    faulthandler.dump_traceback(file=f)\n    n = f.read().split('total')",
    "import sys\nsys.set_coroutine_origin_tracking_depth(1)",
    "import traceback\nt = traceback.extract_tb(x)[0].line",
    "from traceback import extract_stack as told\nt = told()[-1][3]",
    "import traceback\nt = traceback.extract_stack()[-1][-1]",
    "import traceback\nt = [text for file, number, name, text in traceback.extract_tb(x)]",
    "import traceback\nfor *_, text in traceback.extract_tb(x):\n    print(text)",
    "import traceback\nt = getattr(traceback.extract_tb(x)[0], 'line')",
    "import traceback\nt = traceback.TracebackException.from_exception(x).stack[0].line",
    "import traceback\nt = list(traceback.TracebackException.from_exception(x).format())",
    "import inspect\nt = inspect.stack()[1].code_context",
    "from inspect import stack\nt = stack()[1][4]",
    "import inspect\nt = inspect.getframeinfo(x)[3]",
    "import inspect\nfile, number, name, lines, index = inspect.getframeinfo(x)",
)
KEPT_TRACEBACKS = (
    "import logging\nlog.exception('x')\nn = record.exc_text.splitlines()",
    "import logging\nlog.exception('x')\nwith case.assertLogs() as c:\n    n = c.output[0].splitlines()",
    "def test(caplog):\n    log.error('x', exc_info=True)\n    assert 'total' in caplog.text",
    "import contextlib, io, threading\nt = io.StringIO()\nwith contextlib.redirect_stderr(t):\n"
    "    threading.Thread(target=g).start()\nn = t.getvalue().splitlines()",
    "import contextlib, io, warnings\nt = io.StringIO()\nwith contextlib.redirect_stderr(t):\n"
    "    warnings.warn('x')\nn = t.getvalue().splitlines()",
    "import hashlib, marshal\nn = hashlib.md5(marshal.dumps(x.__code__)).hexdigest()",
    "import io, logging\nt = io.StringIO()\nlogging.basicConfig(stream=t)\nlogging.exception('x')\n"
    "n = t.getvalue().splitlines()",
    "import io, logging\nt = io.StringIO()\nH = logging.StreamHandler(t)\nlog.warning('x', stack_info=True)\n"
    "found = 'total' in t.getvalue()",
    "import io, logging\nt = io.StringIO()\nH = logging.StreamHandler(stream=t)\nlog.error('x', exc_info=True)\n"
    "n = t.getvalue()[5:]",
    "import io, unittest\nt = io.StringIO()\nunittest.TextTestRunner(t).run(s)\nn = t.getvalue().splitlines()",
    "import io, unittest\nt = io.StringIO()\nunittest.TextTestRunner(stream=t).run(s)\nn = t.getvalue().count('total')",
    "import unittest\nr = unittest.TestResult()\ns.run(r)\nn = r.failures[0][1].splitlines()",
    "import unittest\nr = unittest.TestResult()\ns.run(r)\nfor test, text in r.errors:\n    print(text.split(','))",
    "import unittest\nclass R(unittest.TestResult):\n    def addError(self, test, error):\n"
    "        print(self._exc_info_to_string(error, test)[-9:])",
    "import logging\nlog.exception('x')\nT.append(record.exc_text)\nfor t in T:\n    n = t.splitlines()",
    "import traceback\nT = [traceback.format_exc()]\nn = T[0].splitlines()",
    "import traceback\nself.T.add(traceback.format_exc())\nn = [t.split('total') for t in self.T]",
    "import asyncio\ntask = asyncio.create_task(g())\nn = repr(task).split(':')",
    "import asyncio\nt = str(asyncio.current_task())\nfound = 'total' in t",
    "import subprocess, sys\nr = subprocess.run([sys.executable, __file__], stderr=-1)\nn = r.stderr.splitlines()",
    "import subprocess, sys\nr = subprocess.Popen([sys.executable, sys.argv[0]], stderr=-1)\n"
    "n = r.stderr.read().decode().split('total')",
    "import subprocess, sys\nr = subprocess.Popen([sys.executable, __file__], stderr=-1)\n"
    "out, err = r.communicate()\nfound = b'total' in err",
    "import subprocess as s, sys\nt = s.check_output([sys.executable, __file__], stderr=s.STDOUT)\nn = t.split()",
)
PATHS_OF_THE_FILE = (
    "p = __file__\nt = open(p).read()",
    "from pathlib import Path\nP = Path(__file__)\nt = P.read_text()",
    "from pathlib import Path\nt = Path(__file__).resolve().read_bytes()",
    "import os\nP = os.path.realpath(__file__)\nn = os.path.getsize(P)",
    "import os\nF = os.path.dirname(__file__)\nt = open(os.path.join(F, os.path.basename(__file__)))",
    "from pathlib import Path\nP = Path(__file__)\nt = (P.parent / P.name).open()",
    "import os\nt = open(f'{os.getcwd()}/{os.path.basename(__file__)}')",
    "def read(p=__file__):\n    return open(p).read()",
    "def read(*, p=__file__):\n    return open(p).read()",
    "def read(n, p):\n    return open(p).read()\nread(1, __file__)",
    "def read(p):\n    return open(p).read()\nread(p=__file__)",
    "class R:\n    def __init__(self, p):\n        self.p = p\n    def read(self):\n        return open(self.p).read()\n"
    "R(__file__)",
    "from pathlib import Path\ndef here():\n    return Path(__file__)\nt = here().read_text()",
    "from pathlib import Path\nfor p in sorted(Path(__file__).parent.rglob('*.py')):\n    print(p.read_text())",
    "from pathlib import Path\nROOT = Path(__file__).resolve().parents[1]\nt = [p.read_text() for p in ROOT.iterdir()]",
    "import os\nF = os.path.dirname(os.path.abspath(__file__))\nfor f, fs, ns in os.walk(F):\n"
    "    for n in ns:\n        t = open(os.path.join(f, n)).read()",
    "import glob, os\nfor p in glob.glob(os.path.join(os.path.dirname(__file__), '*.py')):\n    t = open(p).read()",
    "t = open(__spec__.origin).read()",
    "t = open(__loader__.path).read()",
    "import sys\nfor name in sys.argv[1:] or [__file__]:\n    t = open(name).read()",
    "import sys\np = sys.modules[__name__].__file__\nt = open(p).read()",
    "p = __file__.replace('.pyc', '.py')\nt = open(p).read()",
    "import os\nF, N = os.path.split(__file__)\nt = open(os.path.join(F, N)).read()",
    "import zipfile\np = __file__\nz.write(p)",
    "import os\nP = os.path.abspath(__file__)\nwith tarfile.open(x) as t:\n    t.add(P)\nimport tarfile",
    "from pathlib import Path\nn = Path(__file__).lstat().st_size",
    "t = list(map(read, [__file__]))",
    "import functools\nread = functools.partial(lambda p: open(p).read(), __file__)",
    "read = lambda p=__file__: open(p).read()",
    "P = {'me': __file__}\nt = open(P['me']).read()",
    "P = ['data.json', __file__]\nfor p in P:\n    t = open(p).read()",
    "import dataclasses\n@dataclasses.dataclass\nclass R:\n    p: str\nR(__file__)",
    "import argparse\nP = argparse.ArgumentParser()\nP.add_argument('path', nargs='?', default=__file__)",
    "import subprocess\nn = subprocess.run(['wc', '-l', __file__], capture_output=True)",
    "from subprocess import check_output as told\nn = told(('cat', __file__))",
    "import os\nn = os.popen(f'wc -l {__file__}').read()",
    "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'tokenize', __file__])",
    "import sys\nscript, *names = sys.argv\nt = open(script).read()",
    "import sys\np = sys.argv[0]\nt = open(p).read()",
    "import sys\nfor name in sys.argv:\n    t = open(name).read()",
    "import sys, tarfile\np = sys.argv[0]\nt.add(p)",
    "t = open(__spec__.loader.path).read()",
    "t = open(__loader__.get_filename()).read()",
    "import __main__\np = __main__.__file__\nt = open(p).read()",
    "import glob\nfor p in glob.glob('*.py'):\n    t = open(p).read()",
    "from glob import iglob\nt = [open(p).read() for p in iglob('**/*.py')]",
    "import os\nfor p in os.listdir():\n    t = open(p).read()",
    "import os\nfor p in sorted(os.listdir('.')):\n    t = os.stat(p).st_size",
    "import os\nfor f, fs, ns in os.walk(os.getcwd()):\n    for n in ns:\n        t = open(os.path.join(f, n)).read()",
    "from pathlib import Path\nt = [p.read_text() for p in Path('.').glob('*.py')]",
    "from pathlib import Path\nfor p in Path.cwd().rglob('*'):\n    t = p.read_text()",
    "from pathlib import Path\nfor p in Path().iterdir():\n    t = p.stat().st_size",
)
OTHER_PATHS = (
    "t = tools.load(__file__, 'rates.csv')",
    "import logging\nlog = logging.getLogger(__file__)\nlog.info('read %s', __file__)",
    "import pytest\npytest.main([__file__])",
    "import os, sys\nsys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))\nprint(__file__)",
    "import sys\nscript, *names = sys.argv\nt = [open(name).read() for name in names]",
    "from pathlib import Path\nt = (Path(__file__).parent / 'data.json').read_text()",
    "import os\nF = os.path.dirname(os.path.abspath(__file__))\nt = open(os.path.join(F, 'data.json'))",
    "from pathlib import Path\nfor p in Path(__file__).parent.glob('*.json'):\n    print(p.read_text())",
    "from pathlib import Path\nt = Path(__file__).with_suffix('.json').read_text()",
    "t = open(__file__.replace('.py', '.toml')).read()",
    "t = open(__file__ + '.txt').read()",
    "import subprocess, sys\nsubprocess.run([sys.executable, __file__, 'again'])",
    "import os, sys\nsys.stderr.write('usage: ' + os.path.basename(sys.argv[0]))",
    "import sys\nt = [open(p).read() for p in sys.argv[1:]]",
    "def read(p):\n    return open(p).read()\nread('data.json')\nprint(__file__)",
    "import sys\np = sys.argv[0]\nprint(p)\nt = load(p)",
    "import os, sys\np = os.path.basename(sys.argv[0])\nt = open('.%s.py' % p).read()",
    "kind = type(x.__code__)",
    "import sys\nfor p in sys.argv[1:]:\n    t = open(p).read()",
    "import glob\nfor p in glob.glob('*.json'):\n    t = open(p).read()",
    "import glob\nfor p in glob.glob('data/*'):\n    t = open(p).read()",
    "import ast\nfor p in ast.walk(x):\n    t = open(p).read()",
    "import os\nfor p in os.listdir(x):\n    t = open(p).read()",
    "from pathlib import Path\nt = [p.read_text() for p in x.glob('*.py')]",
)
READING_RECORDS = (
    "import logging\nclass H(logging.Handler):\n    def emit(self, r):\n        print(r)",
    "import logging\nclass H(logging.Handler):\n    def emit(self, r):\n        x.append(f'{r}')",
    "import logging\nclass H(logging.Handler):\n    def emit(self, r):\n        print([getattr(r, n) for n in dir(r)])",
    "import logging\nclass H(logging.Handler):\n    def emit(self, r):\n"
    "        print([getattr(r, n) for n in 'msg lineno'.split()])",
    "import logging\nclass H(logging.Handler):\n    def emit(self, record):\n        print(record.__dict__)",
    "import logging\nclass F(logging.Formatter):\n    def format(self, r):\n        return str(vars(r))",
    "import logging\nclass F(logging.Filter):\n    def filter(self, r):\n        return getattr(r, '__dict__')",
    "import logging\nn = logging.getLogger().findCaller()",
    "def test(caplog):\n    assert [r.__dict__ for r in caplog.records]",
    "import warnings\nwith warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always')\n"
    "    print(w[0])",
    "import warnings\nwith warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always')\n"
    "    t = [str(one) for one in w]",
    "import warnings\nwith warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always')\n"
    "    one = w.pop()\n    t = f'{one}'",
    "import warnings\nwith warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always')\n"
    "    t = w[0].__dict__",
    "import pytest\nwith pytest.warns(UserWarning) as w:\n    print(*w)",
    "def test(recwarn):\n    assert list(map(str, recwarn))",
    "import pstats\nn = list(pstats.Stats(x).stats)",
    "n = len(__warningregistry__)",
)
OTHER_RECORDS = (
    "import traceback\nT.append(traceback.format_exc())\nfor t in T:\n    print(t)\nassert not T",
    "import asyncio\ntask = asyncio.create_task(g())\nprint(repr(task))\ntask.cancel()",
    "import subprocess, sys\nr = subprocess.run([sys.executable, __file__], stdout=-1)\nn = r.stdout.splitlines()\n"
    "sys.stderr.write('x')",
    "import subprocess, sys\nr = subprocess.run([sys.executable, x], stderr=-1)\nn = r.stderr.splitlines()",
    "import logging\nclass H(logging.Handler):\n    def emit(self, record):\n        print(record.msg, self.__dict__)",
    "import warnings\nwith warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always')\n"
    "    print(w[0].message, len(w))",
    "print(vars(x))",
    "import pstats\npstats.Stats(x).print_stats()",
)
READING_LINES = (
    "import pyclbr\nn = pyclbr.readmodule('m')['f'].lineno",
    "from pyclbr import readmodule_ex as read\nn = read('m')['f'].end_lineno",
    "from doctest import DocTestFinder as Finder\nn = Finder().find(f)[0].lineno",
    "n = str(x.__code__).split('line ')[1]",
    "n = C.__firstlineno__",
)
LISTING_CLASSES = (
    "class C: pass\nn = list(vars(C).items())",
    "class C: pass\nn = [v for v in C.__dict__.values() if isinstance(v, int)]",
    "class C: pass\ndef g(kind):\n    return dict(vars(kind))\nn = g(C)",
    "class C:\n    @classmethod\n    def g(cls):\n        return [v for v in vars(cls).values() if not callable(v)]",
    "class C:\n    def g(self):\n        return dict(type(self).__dict__)",
    "class C(type):\n    def __new__(mcs, name, bases, space):\n        n = [v for k, v in space.items()]",
)
LISTING_OTHERS = (
    "class C: pass\nn = list(vars(C()).items())",
    "class C: pass\nn = [k for k in vars(C) if not k.startswith('_')]",
    "class C:\n    def g(self):\n        return dict(self.__dict__)",
    "class C: pass\nn = [v for v in vars(C).values() if isinstance(v, Field)]",
)
DESCRIBING_FRAMES = (
    "import traceback\nn = traceback.extract_tb(x)[-1].name",
    "import traceback\nn = traceback.extract_stack()[-1][2]",
    "import inspect\nn = inspect.stack()[1].function",
)
FOR_PEOPLE = (
    "parser.add_argument('--size', help='how large')",
    "def option(name, help):\n    return name, help",
    "import io, contextlib, traceback\nt = io.StringIO()\nwith contextlib.redirect_stderr(t):\n"
    "    traceback.print_exc()\nlog(t.getvalue())",
    "import io, contextlib\nt = io.StringIO()\nwith contextlib.redirect_stderr(t):\n    f(1)\nn = t.getvalue().split()",
    "import sys, traceback\nold = sys.stderr\nsys.stderr = Tee(old)\ntraceback.print_exc()\nsys.stderr = old",
    "import io, traceback\nt = io.StringIO()\ntraceback.print_exc(file=t)\nlog(t.getvalue())",
    "import sys, traceback\ntraceback.print_exc(file=sys.stderr)",
    "import traceback\nprint(traceback.format_exc().strip())",
    "import traceback\nx.kept = ''.join(traceback.format_exception(x))\nlog(x.kept)",
)
PRINTED_TRACEBACKS = (
    "import contextlib, io, warnings\nt = io.StringIO()\nwith contextlib.redirect_stderr(t):\n"
    "    warnings.warn('x')\nlog(t.getvalue())",
    "with case.assertLogs() as c:\n    log.error('x')\nn = c.output[0].split()",
    "def test(caplog):\n    log.error('x')\n    assert 'total' in caplog.text",
    "import logging, sys\nlogging.basicConfig(stream=sys.stdout)\nlogging.exception('x')\nsys.stdout.flush()",
    "import io, logging\nt = io.StringIO()\nlogging.basicConfig(stream=t)\nlogging.error('x')\n"
    "n = t.getvalue().splitlines()",
    "import io, logging\nt = io.StringIO()\nlogging.basicConfig(stream=t)\nn = job.exception()\n"
    "n = t.getvalue().splitlines()",
    "import unittest\nr = unittest.TestResult()\ns.run(r)\nprint(len(r.failures), r.errors)",
    "import unittest\nr = unittest.TestResult()\ns.run(r)\nfor test, text in r.errors:\n    print(text)",
)
READING_MESSAGES = (
    "try:\n    f(1)\nexcept NameError as error:\n    print(error)",
    "try:\n    f(1)\nexcept (ValueError, UnboundLocalError) as error:\n    print(error.name)",
    "import builtins as b\ntry:\n    f(1)\nexcept b.NameError as error:\n    print(error)",
    "with case.assertRaises(NameError) as caught:\n    f(1)\nprint(caught.exception)",
    "with pytest.raises(UnboundLocalError) as caught:\n    f(1)\nprint(caught.value)",
    "with pytest.raises(NameError, match='total'):\n    f(1)",
    "case.assertRaisesRegex(UnboundLocalError, 'total', f, 1)",
)
OTHER_MESSAGES = (
    "try:\n    unicode\nexcept NameError:\n    unicode = str",
    "try:\n    f(1)\nexcept ValueError as error:\n    print(error)\nexcept NameError:\n    pass",
    "case.assertRaises(NameError, f, 1)",
)
NAMING = (
    "import cProfile\nn = [code.co_name for code in cProfile.Profile().getstats()]",
    "import pstats\nn = list(pstats.Stats(x).get_stats_profile().func_profiles)",
    "import logging\nlogging.basicConfig(format='%(funcName)s')",
    "from logging import Formatter\nF = Formatter('{funcName}', style='{')",
    "import sys\nn = sys._getframe().f_code.co_name",
    "n = getattr(code, 'co_name')",
    "import traceback\nn = traceback.extract_tb(x)[-1].name",
    "from traceback import extract_stack as stack\nfile, line, n, text = stack()[0]",
    "import inspect\nn = inspect.stack()[1].function",
    "import inspect\nn = inspect.getframeinfo(x)[2]",
)
LOCAL = "def f(a):\n    total = a + 1\n    rest = a\n    return total, rest\n"
INNER = "def f(a):\n    def inner(x):\n        return x + 1\n    return inner(a)\n"
PREPARED = (
    "def f(size):\n    kept = size\n    class C(Base):\n        y = kept\n    return C\n",
    "def f(size):\n    kept = size\n    class C(tools.Base):\n        y = kept\n    return C\n",
    "def f(size):\n    kept = size\n    class C(metaclass=M):\n        y = kept\n    return C\n",
)


def applies(name: str, function: str, head: str = "") -> bool:
    try:
        codeaudit.transform(f"{head}\n{function}", name, whole_file=True)
    except codeaudit.NotApplied:
        return False
    return True


@pytest.mark.parametrize("head", STORING)
def test_a_class_with_a_base_or_decorator_from_elsewhere_may_see_its_stores(head: str) -> None:
    method = FREE.replace("\n", "\n    ").rstrip()
    assert not applies("reorder", f"    {method}\n", head)
    assert applies("reorder", f"    {method}\n", "class C:")


@pytest.mark.parametrize("line", GIVING)
def test_a_class_that_is_handed_to_other_code_may_see_its_stores(line: str) -> None:
    method = FREE.replace("\n", "\n    ").rstrip()
    assert not applies("reorder", f"class C:\n    {method}\n{line}\n")


@pytest.mark.parametrize("head", LOOKS)
def test_who_counts_references_sees_which_variables_hold_an_object(head: str) -> None:
    for name in ("reorder", "dead-stores", "unused-locals"):
        assert not applies(name, LOCAL, head)
        assert applies(name, LOCAL)


@pytest.mark.parametrize("head", [*READING_SOURCE, *KEPT_TRACEBACKS, *PATHS_OF_THE_FILE])
def test_who_reads_the_source_sees_every_edit(head: str) -> None:
    for name in ("reorder", "rename", "insert-blank-lines", "dead-stores"):
        assert not applies(name, LOCAL, head)


@pytest.mark.parametrize("name", ["unused-locals", "dead-stores"])
def test_who_asks_for_the_size_of_a_generator_sees_how_many_variables_it_has(name: str) -> None:
    steps = "def steps(a):\n    total = a + 1\n    yield total\n"
    assert not applies(name, steps, "import sys\nn = sys.getsizeof(steps(1))")
    assert applies(name, LOCAL, "import sys\nn = sys.getsizeof([1])")


@pytest.mark.parametrize("head", READING_MESSAGES)
def test_who_reads_the_message_of_a_naming_error_sees_names_of_variables(head: str) -> None:
    assert not applies("rename", LOCAL, head)


@pytest.mark.parametrize("head", OTHER_MESSAGES)
def test_who_only_catches_a_naming_error_sees_no_name(head: str) -> None:
    assert applies("rename", LOCAL, head)


@pytest.mark.parametrize("head", [*READING_LINES, *LISTING_CLASSES])
def test_who_reads_lines_of_definitions_sees_inserted_ones(head: str) -> None:
    assert not applies("insert-blank-lines", LOCAL, head)


@pytest.mark.parametrize("head", READING_RECORDS)
def test_who_reads_all_of_a_record_sees_its_line(head: str) -> None:
    assert not applies("insert-blank-lines", LOCAL, head)


@pytest.mark.parametrize("head", LISTING_OTHERS)
def test_who_lists_no_class_sees_no_line_on_which_one_begins(head: str) -> None:
    assert applies("insert-blank-lines", LOCAL, head)


@pytest.mark.parametrize("head", [*OTHER_PATHS, *OTHER_RECORDS])
def test_who_reads_other_files_and_parts_of_records_sees_no_line(head: str) -> None:
    for name in ("rename", "insert-blank-lines", "dead-stores"):
        assert applies(name, LOCAL, head)


@pytest.mark.parametrize("head", [*FOR_PEOPLE, *PRINTED_TRACEBACKS])
def test_a_text_for_people_is_not_taken_apart(head: str) -> None:
    for name in ("reorder", "rename", "insert-blank-lines", "dead-stores"):
        assert applies(name, LOCAL, head)


@pytest.mark.parametrize("head", DESCRIBING_FRAMES)
def test_who_asks_frames_for_other_things_than_their_text_does_not_read_it(head: str) -> None:
    assert applies("rename", LOCAL, head)


OVERRIDES = (
    (
        "class D(collections.Counter):\n    def most_common(self, n=None): seen.append(1); return []",
        "c = repr(a)",
        "D('ab'), 1",
    ),
    (
        "class D(collections.UserDict):\n    def items(self): seen.append(1); return []",
        "c = a == {}",
        "D(), 1",
    ),
    (
        "class D(collections.UserDict):\n    def items(self): seen.append(1); return []",
        "c = f'{a == b}'",
        "D(), D()",
    ),
    (
        "class D(argparse.Namespace):\n    def _get_kwargs(self): seen.append(1); return []",
        "c = f'{a}'",
        "D(), 1",
    ),
    (
        "class D(datetime.tzinfo):\n    def utcoffset(self, d): seen.append(1); return datetime.timedelta(0)",
        "c = a == b",
        "datetime.datetime(1, 1, 1, tzinfo=D()), datetime.datetime(1, 1, 1, tzinfo=D())",
    ),
    (
        "class D(datetime.tzinfo):\n    def tzname(self, d): seen.append(1); return 'x'\n"
        "    def utcoffset(self, d): return None\n    def dst(self, d): return None",
        "c = f'{a:%Z}'",
        "datetime.datetime(1, 1, 1, tzinfo=D()), 1",
    ),
)


@pytest.mark.parametrize(("kind", "look", "values"), OVERRIDES)
def test_a_look_may_run_a_method_that_a_class_overrides(
    kind: str, look: str, values: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = OVERRIDDEN.format(kind=kind, look=look, values=values)
    wanted = printed(text, capsys)
    assert wanted
    assert "Error'>" not in wanted
    for name, seed in product(ALL, range(2)):
        if applies(name, text):
            found = codeaudit.transform(text, name, seed=seed, whole_file=True)
            assert printed(found, capsys) == wanted, f"{name}:\n{found}"


HOOKS = (
    "import sys\nsys.meta_path.insert(0, H)",
    "from sys import meta_path as m\nm.append(H)",
    "import sys as s\ngetattr(s, 'meta_' 'path').append(H)",
    "import sys as s\ns.path_hooks.append(H)",
    "import sys\nprint(list(sys.modules))",
    "from sys import modules as m\nprint(list(m))",
    "import sys\nprint(list(getattr(sys, 'mod' + 'ules')))",
    "import builtins\nbuiltins.__import__ = H",
    "import builtins as b\nsetattr(b, '__imp' 'ort__', H)",
    "import sys\nsys.addaudithook(H)",
)
AT_ANY_TIME = (
    "from http.server import ThreadingHTTPServer as Server",
    "import socketserver\nclass S(socketserver.ThreadingMixIn, socketserver.TCPServer): pass",
    "import threading as t\nt.Thread(target=f).start()",
    "from threading import Timer",
    "from multiprocessing.dummy import Pool",
    "from multiprocessing import dummy as mp",
    "import multiprocessing.dummy as mp\np = mp.Pool(2)",
    "import multiprocessing.dummy\np = multiprocessing.dummy.Process(target=f)",
    "import _thread\n_thread.start_new_thread(f, ())",
    "from concurrent.futures import ThreadPoolExecutor as Pool",
    "import importlib\nt = importlib.import_module('thread' 'ing')",
    "import asyncio\nasyncio.to_thread(f)",
    "import signal\nsignal.signal(2, f)",
    "from signal import signal as on\non(2, f)",
    "import signal\ngetattr(signal, 'sig' + 'nal')(2, f)",
    "try:\n    f()\nexcept KeyboardInterrupt:\n    pass",
    "from contextlib import suppress\nwith suppress(MemoryError):\n    f()",
    "import builtins as b\ntry:\n    f()\nexcept b.KeyboardInterrupt:\n    pass",
    "import builtins\nE = getattr(builtins, 'Memory' 'Error')",
)
OF_THE_STACK = (
    "try:\n    f()\nexcept RecursionError:\n    pass",
    "from contextlib import suppress\nwith suppress(RecursionError):\n    f()",
    "import builtins as b\ntry:\n    f()\nexcept b.RecursionError:\n    pass",
    "import sys\nsys.setrecursionlimit(50)",
    "from sys import setrecursionlimit as most\nmost(50)",
)
STORED = "class C:\n    def f(self, a, b):\n        self._a = a\n        self._b = b\n"
CALLED_BETWEEN = "def g(x): return 1\nclass C:\n    def f(self, a):\n        self._a = a\n        b = g(1)\n        return b\n"


@pytest.mark.parametrize("line", HOOKS)
def test_who_sees_imports_sees_their_order(line: str) -> None:
    text = "import json\nimport csv\n"
    assert applies("reorder-imports", text)
    assert not applies("reorder-imports", f"{text}{line}\n")
    inside = "def f():\n    import json\n    import csv\n    return json, csv\n"
    assert applies("reorder", inside)
    assert not applies("reorder", f"{inside}{line}\n")


@pytest.mark.parametrize("line", AT_ANY_TIME)
def test_who_may_look_at_any_time_sees_the_order_of_stores(line: str) -> None:
    assert applies("reorder", STORED)
    assert not applies("reorder", f"{STORED}{line}\n")


@pytest.mark.parametrize("line", OF_THE_STACK)
def test_where_the_stack_ends_the_stores_before_a_call_are_seen(line: str) -> None:
    assert applies("reorder", CALLED_BETWEEN)
    assert not applies("reorder", f"{CALLED_BETWEEN}{line}\n")


def test_a_generator_that_runs_to_its_end_or_only_closes_a_file_is_dropped_like_any_value() -> None:
    function = "def f(x, y, n):\n    x = n\n    y = n\n    return x, y\n"
    steps = "def steps():\n    try:\n        yield 1\n    finally:\n        print(1)\n"
    assert not applies("reorder", function, steps)
    for head in (
        f"import contextlib\n@contextlib.contextmanager\n{steps}",
        f"import pytest\n@pytest.fixture(scope='module')\n{steps}",
        "def lines(p):\n    with open(p) as file:\n        yield from file\n",
        "def steps():\n    try:\n        yield 1\n    except (KeyError, ValueError):\n        print(1)\n",
        steps.replace("yield 1", "print(2)"),
        "def f():\n    def steps():\n        yield 1\n    try:\n        return steps\n    finally:\n        print(1)\n",
    ):
        assert applies("reorder", function, head), head


@pytest.mark.parametrize("head", NAMING)
def test_a_file_that_shows_names_of_functions_keeps_them(head: str) -> None:
    assert not applies("rename-inner-functions", INNER, head)
    assert applies("rename-inner-functions", INNER)


@pytest.mark.parametrize("text", PREPARED)
def test_a_metaclass_may_be_inherited(text: str) -> None:
    found = codeaudit.transform(text, "rename", whole_file=True) if applies("rename", text) else text
    assert "y = kept" in found


@pytest.mark.parametrize("head", ["def compile(x): pass", "from tools import *", "len = None"])
def test_layout_does_not_depend_on_builtins(head: str) -> None:
    text = "def f(a):\n    total = len(a)  +  1\n    return compile(total)\n"
    for name in ("spacing", "insert-blank-lines", "no-op-statements"):
        assert applies(name, text, head)


@pytest.mark.parametrize("look", ["list(globals())", "[*vars()]", "list(sys.modules[__name__].__dict__)"])
def test_a_file_that_lists_its_names_keeps_its_imports_in_order(look: str) -> None:
    text = "import os\nimport json\nimport sys\n"
    assert applies("reorder-imports", text)
    assert not applies("reorder-imports", f"{text}print({look})\n")


HELD_FRAMES = (
    "back = frame.f_back if frame else None\n    return back.f_globals['__name__'] if back else None",
    "back = frame.f_back or inspect.currentframe()\n    return back.f_globals",
)
"""Only attributes of these frames are read, and they are not variables."""
OTHER_BUILTINS = (
    "import builtins\nbuiltins.__dict__['_'] = f",
    "def g(mod):\n    mod.__builtins__ = __builtins__",
    "import builtins\nbuiltins._ = f",
)
"""They take nothing out of the module that looks at variables."""


@pytest.mark.parametrize("line", OTHER_BUILTINS)
def test_who_puts_something_into_the_builtins_looks_at_no_variable(line: str) -> None:
    assert applies("rename", LOCAL, f"{line}\n")
    for taken in ("b = builtins.__dict__\n", "show = builtins.__dict__['locals']\n", "g(builtins)\n"):
        assert not applies("rename", LOCAL, f"import builtins\n{line}\n{taken}")


GIVEN_FRAMES = (
    "back = frame.f_back if frame else None\n    return show(back)",
    "back = frame and frame.f_back\n    return back",
    "return [one.f_back for one in (frame,)]",
    "return {1: frame.f_back for one in 'a'}",
    "back = frame.f_back\n    other = back if back else None\n    return other",
    "if back := frame.f_back:\n        return back",
)
FRAMED = "import inspect\ndef look():\n    frame = inspect.currentframe()\n    {}\n"


@pytest.mark.parametrize("body", HELD_FRAMES)
def test_a_frame_that_stays_in_its_function_shows_what_is_asked_of_it(body: str) -> None:
    assert applies("rename", LOCAL, FRAMED.format(body))


@pytest.mark.parametrize("body", GIVEN_FRAMES)
def test_a_frame_that_is_handed_on_shows_all_variables(body: str) -> None:
    assert not applies("rename", LOCAL, FRAMED.format(body))

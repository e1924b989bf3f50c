"""Every situation in which some renamer of Python was wrong: before and after, both run, or refused.

`parameters` stands beside a situation in which parameters are renamed too.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.python.analysis.scopes import resolve
from codeaudit.transforms.python.identifiers.obstacles import REFLECTION, RenameGuard
from codeaudit.transforms.python.identifiers.rename import RENAME, RENAME_PARAMETERS
from codeaudit.transforms.records import Move


@dataclass(frozen=True)
class Case:
    """A function `f`, new names, the text after it, and arguments to run both with."""

    before: str
    names: dict[str, str]
    after: str
    arguments: tuple[object, ...] = (3,)
    parameters: bool = False


SITUATIONS = {
    "keyword calls": Case(
        "def f(xs):\n    key = len\n    return sorted(xs, key=key)\n",
        {"key": "v"},
        "def f(xs):\n    v = len\n    return sorted(xs, key=v)\n",
        (["bb", "a"],),
    ),
    "closures": Case(
        "def f(a):\n    b = a\n    def g():\n        return b + 1\n    b = 5\n    return g()\n",
        {"b": "v"},
        "def f(a):\n    v = a\n    def g():\n        return v + 1\n    v = 5\n    return g()\n",
    ),
    "closures whose cells change places": Case(
        "def f(a):\n    b, c = a, 2\n    return [b - c * i for i in range(a)], (lambda: (c, b))()\n",
        {"b": "z", "c": "y"},
        "def f(a):\n    z, y = a, 2\n    return [z - y * i for i in range(a)], (lambda: (y, z))()\n",
    ),
    "nonlocal": Case(
        "def f(a):\n    n = 0\n    def g():\n        nonlocal n\n        n += a\n    g(); g()\n    return n\n",
        {"n": "v"},
        "def f(a):\n    v = 0\n    def g():\n        nonlocal v\n        v += a\n    g(); g()\n    return v\n",
    ),
    "global": Case(
        "def f(a):\n    global total\n    total = a\n    b = total\n    return b\n",
        {"total": "w", "b": "v"},
        "def f(a):\n    global total\n    total = a\n    v = total\n    return v\n",
    ),
    "global from a nested function": Case(
        "def f(a):\n    b = 1\n    def g():\n        global b\n        b = 7\n    g()\n    return b, globals()['b']\n",
        {"b": "v"},
        "def f(a):\n    v = 1\n    def g():\n        global b\n        b = 7\n    g()\n    return v, globals()['b']\n",
    ),
    "a class body that shadows a local": Case(
        "def f(a):\n    x = a\n    class C:\n        x = 2\n        y = x\n    return x, C.x, C.y\n",
        {"x": "v"},
        "def f(a):\n    v = a\n    class C:\n        x = 2\n        y = x\n    return v, C.x, C.y\n",
    ),
    "a class body that reads a local": Case(
        "def f(a):\n    x = a\n    class C:\n        y = x\n    return C.y\n",
        {"x": "v"},
        "def f(a):\n    v = a\n    class C:\n        y = v\n    return C.y\n",
    ),
    "a class body that rebinds a local's name": Case(
        "def f(a):\n    int = a\n    class C:\n        int = str\n        int = int(4)\n    return int, C.int\n",
        {"int": "v"},
        "def f(a):\n    v = a\n    class C:\n        int = str\n        int = int(4)\n    return v, C.int\n",
    ),
    "a class body that may see the mapping of a metaclass": Case(
        "def f(a):\n    x = y = a\n    class C(metaclass=M):\n        z = x\n    return C.z, y\n",
        {"x": "v", "y": "w"},
        "def f(a):\n    x = w = a\n    class C(metaclass=M):\n        z = x\n    return C.z, w\n",
    ),
    "methods inside local classes": Case(
        "def f(a):\n    x = a\n    class C:\n        x = 2\n        def m(self):\n            y = x\n            return y, self.x\n    return C().m()\n",
        {"x": "v", "y": "w"},
        "def f(a):\n    v = a\n    class C:\n        x = 2\n        def m(self):\n            w = v\n            return w, self.x\n    return C().m()\n",
    ),
    "comprehension scopes and their first iterable": Case(
        "def f(a):\n    x = [a, a + 1]\n    return [x for x in x if x], {y: x for y in x}, x\n",
        {"y": "w"},
        "def f(a):\n    x = [a, a + 1]\n    return [x for x in x if x], {w: x for w in x}, x\n",
    ),
    "a walrus inside a comprehension": Case(
        "def f(a):\n    x = [y := i + a for i in range(a)]\n    return x, y\n",
        {"y": "v", "i": "w"},
        "def f(a):\n    x = [v := w + a for w in range(a)]\n    return x, v\n",
    ),
    "every kind of match capture": Case(
        "def f(a):\n    match [a, {'k': 1, 'm': 2}, 4, 5]:\n        case [int() as x, {'k': y, **z}, *t] if x:\n            return x, y, z, t\n        case other:\n            return other\n",
        {"x": "r", "y": "s", "z": "u", "t": "v", "other": "w"},
        "def f(a):\n    match [a, {'k': 1, 'm': 2}, 4, 5]:\n        case [int() as r, {'k': s, **u}, *v] if r:\n            return r, s, u, v\n        case w:\n            return w\n",
    ),
    "a capture by keyword of a class pattern": Case(
        "def f(a):\n    match a:\n        case complex(real=real, imag=imag):\n            return real, imag\n",
        {"real": "v", "imag": "w"},
        "def f(a):\n    match a:\n        case complex(real=v, imag=w):\n            return v, w\n",
        (3j,),
    ),
    "except as": Case(
        "def f(a):\n    e = a\n    try:\n        a / 0\n    except ZeroDivisionError as e:\n        return str(e)\n",
        {"e": "v"},
        "def f(a):\n    v = a\n    try:\n        a / 0\n    except ZeroDivisionError as v:\n        return str(v)\n",
    ),
    "f-strings: nested": Case(
        "def f(a):\n    x = a\n    return f\"{f'{x}'!r:>{x * 4}} {{x}}\"\n",
        {"x": "v"},
        "def f(a):\n    v = a\n    return f\"{f'{v}'!r:>{v * 4}} {{x}}\"\n",
    ),
    "f-strings: =": Case(
        'def f(a):\n    x = y = a\n    return f"{x=} {y}"\n',
        {"x": "v", "y": "w"},
        'def f(a):\n    x = w = a\n    return f"{x=} {w}"\n',
    ),
    "f-strings: format specs": Case(
        'def f(a):\n    x = w = a\n    return f"{1:{x}.{w}f}"\n',
        {"x": "v"},
        'def f(a):\n    v = w = a\n    return f"{1:{v}.{w}f}"\n',
    ),
    "f-strings: implicit concatenation over lines": Case(
        'def f(a):\n    x = a\n    return ("x{x}" f"{x}"\n            \'x\' rf"\\{x}")\n',
        {"x": "v"},
        'def f(a):\n    v = a\n    return ("x{x}" f"{v}"\n            \'x\' rf"\\{v}")\n',
    ),
    "f-strings: triple-quoted": Case(
        'def f(a):\n    x = a\n    return f"""\n  x {x}\n{\nx + 1}"""\n',
        {"x": "v"},
        'def f(a):\n    v = a\n    return f"""\n  x {v}\n{\nv + 1}"""\n',
    ),
    "type comments": Case(
        "def f(a):\n    T = list; x = T()  # type: T\n    return x\n",
        {"T": "U", "x": "v"},
        "def f(a):\n    T = list; v = T()  # type: T\n    return v\n",
    ),
    "__class__ and super()": Case(
        "def f(a):\n    class C(dict):\n        def get(self, k):\n            s = super().get(k)\n            return s, __class__.__name__\n    return C(x=a).get('x')\n",
        {"s": "v", "__class__": "w"},
        "def f(a):\n    class C(dict):\n        def get(self, k):\n            v = super().get(k)\n            return v, __class__.__name__\n    return C(x=a).get('x')\n",
    ),
    "name mangling": Case(
        "def f(a):\n    __x = y = a\n    class C:\n        def m(self):\n            _C__x = z = 8\n            return __x, z\n    return C().m(), __x, y\n",
        {"__x": "v", "_C__x": "w", "y": "u", "z": "t"},
        "def f(a):\n    __x = u = a\n    class C:\n        def m(self):\n            _C__x = t = 8\n            return __x, t\n    return C().m(), __x, u\n",
    ),
    "dataclass fields": Case(
        "def f(a):\n    z = a\n    @dataclass\n    class C:\n        x: int\n        y: int = z\n    return repr(C(x=1))\n",
        {"x": "v", "y": "w", "z": "u"},
        "def f(a):\n    u = a\n    @dataclass\n    class C:\n        x: int\n        y: int = u\n    return repr(C(x=1))\n",
    ),
    "decorators that look at parameter names": Case(
        "def f(a):\n    @by_name\n    def g(x, *y):\n        z = x\n        return z\n    return g\n",
        {"x": "v", "y": "w", "z": "u"},
        "def f(a):\n    @by_name\n    def g(x, *y):\n        u = x\n        return u\n    return g\n",
        parameters=True,
    ),
    "annotation-only locals": Case(
        "def f(a):\n    x: int\n    y: 'x' = a\n    x = a\n    return x, y\n",
        {"x": "v", "y": "w"},
        "def f(a):\n    x: int\n    w: 'x' = a\n    x = a\n    return x, w\n",
    ),
    "string annotations and get_type_hints": Case(
        "def f(a):\n    T = U = int\n    def g(b: T) -> 'U': pass\n    x = get_type_hints(g, localns={'U': U})\n    return x\n",
        {"T": "V", "U": "W", "x": "v"},
        "def f(a):\n    T = U = int\n    def g(b: T) -> 'U': pass\n    v = get_type_hints(g, localns={'U': U})\n    return v\n",
    ),
    "del": Case(
        "def f(a):\n    x = [a, 1]\n    del x[0]\n    y = x\n    del x\n    return y\n",
        {"x": "v"},
        "def f(a):\n    v = [a, 1]\n    del v[0]\n    y = v\n    del v\n    return y\n",
    ),
    "import aliases and dotted imports": Case(
        "def f(a):\n    import os.path, json as j\n    from math import sqrt, pi as p\n    return os.path.sep, j.dumps(a), sqrt(4), p\n",
        {"os": "v", "j": "w", "sqrt": "u", "p": "t", "path": "s"},
        "def f(a):\n    import os.path, json as w\n    from math import sqrt, pi as t\n    return os.path.sep, w.dumps(a), sqrt(4), t\n",
    ),
    "an UnboundLocalError stays one": Case(
        "def f(a):\n    if not a:\n        x = 1\n    return x\n",
        {"x": "v"},
        "def f(a):\n    if not a:\n        v = 1\n    return v\n",
    ),
    "the qualified name of nested functions": Case(
        "def f(a):\n    x = a\n    def g(): return x\n    return g.__qualname__, (lambda: x).__qualname__\n",
        {"x": "v", "g": "w"},
        "def f(a):\n    v = a\n    def g(): return v\n    return g.__qualname__, (lambda: v).__qualname__\n",
    ),
    "**kwargs gathered by name": Case(
        "def f(a, **more):\n    b = dict(more, a=a)\n    return b\n",
        {"a": "v", "more": "w", "b": "u"},
        "def f(a, **w):\n    u = dict(w, a=a)\n    return u\n",
        parameters=True,
    ),
    "starred targets, for-else, with-as in parentheses": Case(
        "def f(a):\n    b, *c = range(a)\n    for d in c:\n        pass\n    else:\n        e = d\n    with (nullcontext(e) as g, nullcontext(1) as (h)):\n        return b, c, g, h\n",
        {"b": "s", "c": "t", "d": "u", "e": "v", "g": "w", "h": "x"},
        "def f(a):\n    s, *t = range(a)\n    for u in t:\n        pass\n    else:\n        v = u\n    with (nullcontext(v) as w, nullcontext(1) as (x)):\n        return s, t, w, x\n",
    ),
    "late-bound lambdas and defaults": Case(
        "def f(a):\n    x = [lambda: i for i in range(a)]\n    y = [lambda i=i: i for i in range(a)]\n    return [g() for g in x + y]\n",
        {"x": "v", "y": "w", "g": "h"},
        "def f(a):\n    v = [lambda: i for i in range(a)]\n    w = [lambda i=i: i for i in range(a)]\n    return [h() for h in v + w]\n",
    ),
    "NFKC-equal identifiers": Case(
        "def f(a):\n    ﬁ = a\n    fi = fi + 1\n    x = ﬁ\n    return x\n",
        {"fi": "w", "x": "v"},
        "def f(a):\n    ﬁ = a\n    fi = fi + 1\n    v = ﬁ\n    return v\n",
    ),
    "tabs, CRLF, wide characters in columns": Case(
        "def f(a):\r\n\tx = '日本'; y = x\r\n\tz = 'é' +y;\ty = \\\r\n\t\tz\r\n\treturn x, y\r\n",
        {"x": "v", "y": "w", "z": "u"},
        "def f(a):\r\n\tv = '日本'; w = v\r\n\tu = 'é' +w;\tw = \\\r\n\t\tu\r\n\treturn v, w\r\n",
    ),
    "defaults and generator expressions inside classes": Case(
        "def f(a):\n    b = [a]\n    class C:\n        c = list(x for x in b)\n        def m(self, d=b): return d, b\n    return C.c, C().m()\n",
        {"b": "v", "x": "w"},
        "def f(a):\n    v = [a]\n    class C:\n        c = list(w for w in v)\n        def m(self, d=v): return d, v\n    return C.c, C().m()\n",
    ),
    "doctests": Case(
        'def f(a):\n    """\n    >>> x = f(1)\n    >>> x\n    1\n    """\n    x = a\n    return x, f.__doc__\n',
        {"x": "v"},
        'def f(a):\n    """\n    >>> x = f(1)\n    >>> x\n    1\n    """\n    v = a\n    return v, f.__doc__\n',
    ),
}

REFUSED = {
    "locals()": "'{x}'.format(**locals())",
    "vars()": "vars()['x']",
    "dir()": "dir()",
    "eval": "eval('x')",
    "exec": "exec('x = 2')",
    "sys._getframe": "sys._getframe().f_locals['x']",
    "inspect.stack": "inspect.stack()[0].frame",
    "super by another name": "(lambda call: call())(super)",
    "co_varnames": "f.__code__.co_varnames",
    "co_freevars": "(lambda: x).__code__.co_freevars",
    "order of __closure__": "(lambda: (x, a)).__closure__",
}


def renamed(case: Case) -> Rewritten | Refused:
    transform = RENAME_PARAMETERS if case.parameters else RENAME
    scopes = resolve(case.before)
    guard = RenameGuard(scopes)
    chosen = tuple(
        Move(kind="rename", site=binding.number, value=case.names[binding.name], note="")
        for binding in scopes.bindings
        if binding.name in case.names
        and (case.parameters or binding.view != "parameter")
        and guard.obstacle(binding) is None
    )
    return transform.apply(case.before, chosen)


def outcome(source: str, arguments: tuple[object, ...]) -> object:
    def by_name(function: Callable[..., Any]) -> object:
        return function.__code__.co_varnames[: function.__code__.co_argcount]

    space: dict[str, Any] = {"by_name": by_name, "M": Meta}
    exec("from contextlib import nullcontext\nfrom dataclasses import dataclass\n", space)
    exec("from typing import get_type_hints\n", space)
    exec(source, space)
    try:
        return space["f"](*arguments)
    except UnboundLocalError:
        return UnboundLocalError


class Meta(type):
    @classmethod
    def __prepare__(cls, name: str, bases: tuple[type, ...]) -> dict[str, object]:  # type: ignore[override]
        return {"v": "the metaclass's"}


@pytest.mark.thinned(13)
@pytest.mark.parametrize("case", SITUATIONS.values(), ids=SITUATIONS)
def test_situation(case: Case) -> None:
    result = renamed(case)
    assert isinstance(result, Rewritten), result
    assert result.source == case.after
    assert outcome(result.source, case.arguments) == outcome(case.before, case.arguments)


@pytest.mark.parametrize("expression", REFUSED.values(), ids=REFUSED)
def test_a_function_that_reads_its_own_names_is_refused(expression: str) -> None:
    source = f"def f(a):\n    x = a\n    return {expression}\n"
    assert RENAME.propose(source, Random(0)) == Refused(REFLECTION)


def test_situations_would_notice_names_replaced_as_text() -> None:
    """The table has power: replacing words wherever they stand breaks what it runs."""
    broken = 0
    for case in SITUATIONS.values():
        text = case.before
        for old, new in case.names.items():
            text = re.sub(rf"\b{old}\b", new, text)
        try:
            broken += outcome(text, case.arguments) != outcome(case.before, case.arguments)
        except Exception:
            broken += 1
    assert broken >= 15

"""Each situation in which some renamer was seen to be wrong, before and after."""

import sys
from dataclasses import replace
from random import Random
from textwrap import dedent

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.python.analysis.scopes import resolve
from codeaudit.transforms.python.identifiers.obstacles import REFLECTION, RenameGuard
from codeaudit.transforms.python.identifiers.rename import RENAME, RENAME_PARAMETERS, PythonRename
from codeaudit.transforms.records import Move
from codeaudit.transforms.renaming import COLLISION

BOTH = RENAME_PARAMETERS


def moves(source: str, names: dict[str, str]) -> tuple[Move, ...]:
    """Moves for every variable with one of these names that may be renamed."""
    scopes = resolve(source)
    guard = RenameGuard(scopes)
    return tuple(
        Move(kind="rename", site=binding.number, value=names[binding.name], note="")
        for binding in scopes.bindings
        if binding.name in names and guard.obstacle(binding) is None
    )


def rename(source: str, names: dict[str, str], transform: PythonRename = RENAME) -> str:
    outcome = transform.apply(source, moves(source, names))
    assert isinstance(outcome, Rewritten), outcome
    assert outcome.evidence in {"analysis", "compiled"}
    return outcome.source


BEFORE_AFTER = {
    "the keyword of a call is not the variable": (
        "def f(xs):\n    key = len\n    return sorted(xs, key=key)\n",
        {"key": "v"},
        "def f(xs):\n    v = len\n    return sorted(xs, key=v)\n",
    ),
    "an attribute is not the variable": (
        "def f(s):\n    split = s.split\n    return split(s.x).split\n",
        {"split": "v", "x": "w"},
        "def f(s):\n    v = s.split\n    return v(s.x).split\n",
    ),
    "a closure reads the same variable": (
        "def f():\n    a = 1\n    def g():\n        return a\n    return g\n",
        {"a": "v"},
        "def f():\n    v = 1\n    def g():\n        return v\n    return g\n",
    ),
    "nonlocal names the variable": (
        "def f():\n    a, b = 1, 2\n    def g():\n        nonlocal b, \\\n            a  # a\n        a = b\n    g()\n",
        {"a": "v"},
        "def f():\n    v, b = 1, 2\n    def g():\n        nonlocal b, \\\n            v  # a\n        v = b\n    g()\n",
    ),
    "global names another variable, from a nested function too": (
        "def f():\n    a = 1\n    def g():\n        global a\n        a = 2\n    return a\n",
        {"a": "v"},
        "def f():\n    v = 1\n    def g():\n        global a\n        a = 2\n    return v\n",
    ),
    "a class body shadows the variable": (
        "def f():\n    a = 1\n    class C:\n        a = 2\n        b = a\n    return a, C.a\n",
        {"a": "v"},
        "def f():\n    v = 1\n    class C:\n        a = 2\n        b = a\n    return v, C.a\n",
    ),
    "a class body reads the variable": (
        "def f():\n    a = 1\n    class C:\n        b = a\n    return C\n",
        {"a": "v"},
        "def f():\n    v = 1\n    class C:\n        b = v\n    return C\n",
    ),
    "a class body rebinds the name from outside": (
        "def f():\n    a = 1\n    class C:\n        a = a\n    return a\n",
        {"a": "v"},
        "def f():\n    v = 1\n    class C:\n        a = a\n    return v\n",
    ),
    "methods do not see their class": (
        "def f():\n    a = 1\n    class C:\n        a = 2\n        def m(self):\n            b = a\n            return b\n",
        {"a": "v", "b": "w"},
        "def f():\n    v = 1\n    class C:\n        a = 2\n        def m(self):\n            w = v\n            return w\n",
    ),
    "a walrus binds outside of comprehensions": (
        "def f(a):\n    b = [y for x in a if (y := x)]\n    return y\n",
        {"y": "v", "x": "w"},
        "def f(a):\n    b = [v for w in a if (v := w)]\n    return v\n",
    ),
    "match captures of every kind": (
        dedent("""\
            def f(a):
                match a:
                    case [1, *rest]: return rest
                    case {'rest': (one), **  more , }: return one, more
                    case (1 | 2) as (
                        number): return number
                    case Point(x=x, y=0): return x
                    case x if x: return x
                    case Color.rest: return 0
                    case _: return _
            """).replace("(\n            number)", "number"),
        {"rest": "r", "one": "o", "more": "m", "number": "n", "x": "v", "_": "u"},
        dedent("""\
            def f(a):
                match a:
                    case [1, *r]: return r
                    case {'rest': (o), **  m , }: return o, m
                    case (1 | 2) as n: return n
                    case Point(x=v, y=0): return v
                    case v if v: return v
                    case Color.rest: return 0
                    case _: return _
            """),
    ),
    "except as": (
        "def f():\n    try:\n        g()\n    except (A, (B)) as e:  # as e\n        raise C(e) from e\n",
        {"e": "v"},
        "def f():\n    try:\n        g()\n    except (A, (B)) as v:  # as e\n        raise C(v) from v\n",
    ),
    "f-strings: text that looks like the field": (
        'def f(a):\n    x = a\n    return f"x {x} {{x}} x={x!r} {x:x>{x}}" "x" f\'{a["x"]}\'\n',
        {"x": "v"},
        'def f(a):\n    v = a\n    return f"x {v} {{x}} x={v!r} {v:x>{v}}" "x" f\'{a["x"]}\'\n',
    ),
    "f-strings: nested, over lines, in triple quotes": (
        'def f(a):\n    x = a\n    return (f"é{x}"  # {x}\n        rf\'\\{x}\'\n        f"""x\n  {f\'{x}x\'}\n {\n x\n }""")\n',
        {"x": "v"},
        'def f(a):\n    v = a\n    return (f"é{v}"  # {x}\n        rf\'\\{v}\'\n        f"""x\n  {f\'{v}x\'}\n {\n v\n }""")\n',
    ),
    "a self-documenting field keeps the name": (
        'def f(a):\n    x = y = a\n    return f"{x = } {y}"\n',
        {"x": "v", "y": "w"},
        'def f(a):\n    x = w = a\n    return f"{x = } {w}"\n',
    ),
    "a type comment keeps the name": (
        "def f(a):\n    T = list; x = []  # type: List[T]\n    return x, T\n",
        {"T": "V", "x": "v"},
        "def f(a):\n    T = list; v = []  # type: List[T]\n    return v, T\n",
    ),
    "the class cell and the receiver": (
        "def f(self):\n    me = __class__\n    super().f()\n    return me\n",
        {"me": "v", "self": "w", "__class__": "u"},
        "def f(self):\n    v = __class__\n    super().f()\n    return v\n",
    ),
    "mangled and special names": (
        "def f(self):\n    __a = 1\n    __b__ = _c = 2\n    return __a + __b__ + _c\n",
        {"__a": "v", "__b__": "w", "_c": "_d"},
        "def f(self):\n    __a = 1\n    __b__ = _d = 2\n    return __a + __b__ + _d\n",
    ),
    "a local that is only annotated": (
        "def f(a):\n    x: int\n    for x in a: pass\n    return x\n",
        {"x": "v"},
        "def f(a):\n    v: int\n    for v in a: pass\n    return v\n",
    ),
    "names in annotations and in annotations as text": (
        "def f(a):\n    T = U = V = int\n    def g(b: T) -> 'list[U]': pass\n    return get_type_hints(g), T, U, V\n",
        {"T": "X", "U": "Y", "V": "Z"},
        "def f(a):\n    T = U = Z = int\n    def g(b: T) -> 'list[U]': pass\n    return get_type_hints(g), T, U, Z\n",
    ),
    "del": (
        "def f(a):\n    x = a\n    del x, a[0]\n",
        {"x": "v"},
        "def f(a):\n    v = a\n    del v, a[0]\n",
    ),
    "imports: an alias is a variable, another name is not": (
        "def f():\n    import a.b as c, d.e, g\n    from h import (i as j, k)\n    return c.b, d.e, g, j, k\n",
        {"c": "v", "d": "w", "g": "w", "j": "u", "k": "w", "b": "w"},
        "def f():\n    import a.b as v, d.e, g\n    from h import (i as u, k)\n    return v.b, d.e, g, u, k\n",
    ),
    "an import of the same name twice": (
        "def f():\n    from a import b as b\n    return b\n",
        {"b": "v"},
        "def f():\n    from a import b as v\n    return v\n",
    ),
    "nested functions and classes keep their names": (
        "def f(a):\n    x = a\n    def g(): return x\n    class C: pass\n    return g, C\n",
        {"g": "v", "C": "W", "x": "w"},
        "def f(a):\n    w = a\n    def g(): return w\n    class C: pass\n    return g, C\n",
    ),
    "starred targets, for-else, with in parentheses": (
        "def f(a):\n    b, *(c) = a\n    for (d) in c: pass\n    else: d = 1\n    with (g() as e, h() as (i)): return d, e, i\n",
        {"b": "u", "c": "v", "d": "w", "e": "x", "i": "y"},
        "def f(a):\n    u, *(v) = a\n    for (w) in v: pass\n    else: w = 1\n    with (g() as x, h() as (y)): return w, x, y\n",
    ),
    "one name in two spellings": (
        "def f(a):\n    ﬁ = a\n    x = fi\n    return x\n",
        {"fi": "w", "x": "v"},
        "def f(a):\n    ﬁ = a\n    v = fi\n    return v\n",
    ),
    "a name that is not ASCII": (
        "def f(a):\n    größe = '日本'; x = größe\n    return x\n",
        {"größe": "v"},
        "def f(a):\n    v = '日本'; x = v\n    return x\n",
    ),
    "tabs, CRLF, form feeds, wide characters": (
        "def f(a):\r\n\tx = '日本'; y = x\r\n\f\tz =\t'é'  +y;\ty = \\\r\n\t\tz\r\n\treturn x\r\n",
        {"x": "v", "y": "w", "z": "u"},
        "def f(a):\r\n\tv = '日本'; w = v\r\n\f\tu =\t'é'  +w;\tw = \\\r\n\t\tu\r\n\treturn v\r\n",
    ),
    "text and comments are never changed": (
        'def f(a):\n    """x\n\n    >>> x = f(a)\n    """\n    x = a  # x\n    return "x", x\n',
        {"x": "v"},
        'def f(a):\n    """x\n\n    >>> x = f(a)\n    """\n    v = a  # x\n    return "x", v\n',
    ),
    "text that is evaluated with the caller's names": (
        "def f(df):\n    low, high = 1, 2\n    return df.query('x > @low'), low, high\n",
        {"low": "v", "high": "w"},
        "def f(df):\n    low, w = 1, 2\n    return df.query('x > @low'), low, w\n",
    ),
    "a decorator that knows the locals": (
        "@numba.jit(locals={'x': 1})\ndef f(a):\n    x = y = a\n    return x, y\n",
        {"x": "v", "y": "w"},
        "@numba.jit(locals={'x': 1})\ndef f(a):\n    x = w = a\n    return x, w\n",
    ),
}

APART = {
    "the first iterable of a comprehension is read outside": (
        "def f(n):\n    x = n\n    return [x for x in x for y in x]\n",
        "def f(n):\n    v = n\n    return [w for w in v for y in w]\n",
    ),
    "except star and parentheses around one type": (
        "def f():\n    try:\n        g()\n    except* ( A ) as e:\n        h(e)\n",
        "def f():\n    try:\n        g()\n    except* ( A ) as v:\n        h(v)\n",
    ),
    "f-strings: comparison, lambda, comprehension, named escape": (
        'def f(a):\n    x = a\n    return f"\\N{BULLET} {x==a} {x!=a!s:>3} {[x for x in a if x]} {(lambda x: x)(x)}"\n',
        'def f(a):\n    v = a\n    return f"\\N{BULLET} {v==a} {v!=a!s:>3} {[w for w in a if w]} {(lambda x: x)(v)}"\n',
    ),
    "late-bound lambdas and defaults": (
        "def f(n):\n    return [lambda i=i, *, j=i: i for i in range(n)]\n",
        "def f(n):\n    return [lambda i=v, *, j=v: i for v in range(n)]\n",
    ),
    "defaults and generators inside classes": (
        "def f(a):\n    b = a\n    class C:\n        b = b\n        c = [b for _ in b]\n        def m(self, b=b): return b\n    return b\n",
        "def f(a):\n    v = a\n    class C:\n        b = b\n        c = [v for _ in b]\n        def m(self, b=b): return b\n    return v\n",
    ),
}


@pytest.mark.parametrize(("before", "names", "after"), BEFORE_AFTER.values(), ids=BEFORE_AFTER)
def test_situation(before: str, names: dict[str, str], after: str) -> None:
    assert rename(before, names) == after


@pytest.mark.parametrize(("before", "after"), APART.values(), ids=APART)
def test_variables_of_one_name_are_told_apart(before: str, after: str) -> None:
    chosen = tuple(
        Move(kind="rename", site=old.number, value=new.name, note="")
        for old, new in zip(resolve(before).bindings, resolve(after).bindings, strict=True)
        if old.name != new.name
    )
    outcome = RENAME.apply(before, chosen)
    assert isinstance(outcome, Rewritten)
    assert outcome.source == after


def test_two_variables_of_one_name_are_renamed_apart() -> None:
    before = "def f():\n    a = 1\n    def g():\n        a = 2\n        return a\n    return g() + a\n"
    scopes = resolve(before)
    outer, inner = (binding for binding in scopes.bindings if binding.name == "a")
    only_inner = RENAME.apply(before, (Move(kind="rename", site=inner.number, value="v", note=""),))
    assert isinstance(only_inner, Rewritten)
    assert only_inner.source == (
        "def f():\n    a = 1\n    def g():\n        v = 2\n        return v\n    return g() + a\n"
    )
    only_outer = RENAME.apply(before, (Move(kind="rename", site=outer.number, value="v", note=""),))
    assert isinstance(only_outer, Rewritten)
    assert only_outer.source == (
        "def f():\n    v = 1\n    def g():\n        a = 2\n        return a\n    return g() + v\n"
    )


def test_fields_of_a_data_class_are_attributes() -> None:
    source = (
        "def f(z):\n    @dataclass\n    class C:\n        x: int\n        y: int = z\n    return C(x=1)\n"
    )
    assert moves(source, {"x": "v", "y": "w"}) == ()


@pytest.mark.parametrize(
    "statement",
    [
        "return locals()", "return '%(a)s' % vars()", "return dir()", "return eval('x')", "exec('x = 2')",
        "return sys._getframe(0).f_locals", "return inspect.stack()", "return inspect.currentframe()",
        "return f.__code__.co_varnames", "g = vars\n    return g()", "return (lambda: locals())()",
        "return getattr(sys, '_getframe')(0)", "return builtins.locals()",
    ],
)  # fmt: skip
def test_a_function_that_looks_at_its_names_is_refused(statement: str) -> None:
    source = f"def f(a):\n    x = a\n    {statement}\n"
    assert RENAME.propose(source, Random(0)) == Refused(REFLECTION)
    assert RENAME_PARAMETERS.propose(source, Random(0)) == Refused(REFLECTION)


@pytest.mark.parametrize(
    "statement", ["return vars(a), dir(a)", "return a.locals()", "return globals()['x']"]
)
def test_looking_at_other_names_is_no_obstacle(statement: str) -> None:
    assert not isinstance(RENAME.propose(f"def f(a):\n    x = a\n    {statement}\n", Random(0)), Refused)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(a): return a\n", "no local to rename"),
        ("def f(a):\n    global x\n    x = a\n", "no local to rename"),
        ("def f(a):\n    nonlocal x\n    x = a\n", "no local to rename"),
        ("def f(a):\n    import os\n    def g(): pass\n    return os, g\n", "no local to rename"),
        ("def f(a):\n    for _ in a: pass\n", "throwaway name"),
        ("def f(a):\n    x = a\n    print(f'{x=}')\n", "name is printed by an f-string"),
        ("def f(a):\n    __x = a\n", "mangled or special name"),
        ("def f(a):\n    ﬁ = a\n    return fi\n", "name not found in the text"),
    ],
)
def test_a_function_without_a_renamable_local_is_refused_with_the_reason(source: str, reason: str) -> None:
    assert RENAME.propose(source, Random(0)) == Refused(reason)


@pytest.mark.parametrize("source", ["def f(:\n", "x = 1\n", ""])
def test_text_that_is_no_function_is_a_source_error(source: str) -> None:
    with pytest.raises(SourceError):
        RENAME.propose(source, Random(0))


# Legality of subsets


SWAPPED = "def f(n):\n    a = n\n    b = a + 1\n    return a - b\n"


def test_a_permutation_of_names_is_legal_as_a_whole_and_refused_in_part() -> None:
    shuffled = replace(RENAME, strategy="shuffle")
    both = shuffled.propose(SWAPPED, Random(0))
    assert isinstance(both, tuple)
    assert shuffled.apply(SWAPPED, both) == Rewritten(
        source="def f(n):\n    b = n\n    a = b + 1\n    return b - a\n", evidence="compiled"
    )
    for move in both:
        assert shuffled.apply(SWAPPED, (move,)) == Refused(COLLISION)
    assert shuffled.apply(SWAPPED, ()) == Rewritten(source=SWAPPED, evidence="analysis")


@pytest.mark.parametrize(
    ("source", "old", "new"),
    [
        ("def f(a):\n    x = a\n    return x\n", "x", "a"),
        ("def f(a):\n    x = a\n    return g(x)\n", "x", "g"),
        ("def f(a):\n    x = a\n    return len(x)\n", "x", "len"),
        ("def f(a):\n    x = a\n    return x\n", "x", "len"),
        ("def f(a):\n    x = a\n    return x\n", "x", "class"),
        ("def f(a):\n    x = a\n    return x\n", "x", "match"),
        ("def f(a):\n    x = a\n    return x\n", "x", "x y"),
        ("def f(a):\n    x = a\n    return x\n", "x", "ﬁ"),
        ("def f(a):\n    x = a\n    return x\n", "x", "__x"),
        ("def f(a):\n    x = a\n    return x\n", "x", "_"),
        ("def f(a):\n    x = a\n    return [x for y in a]\n", "x", "y"),
        ("def f(a):\n    x = a\n    return [g(y) for y in a]\n", "y", "g"),
        ("def f(a):\n    x = a\n    return lambda y: x\n", "x", "y"),
        ("def f(a):\n    x = a\n    def g():\n        global y\n        return x\n    return g\n", "x", "y"),
        ("def f(a):\n    x = a\n    def g():\n        nonlocal x\n        y = x\n    return g\n", "x", "y"),
        ("def f(a):\n    x = a\n    class C:\n        y = x\n    return C\n", "x", "y"),
        (
            "def f(a):\n    x = a\n    def g():\n        def h(): return y\n        return h\n    return g\n",
            "x",
            "y",
        ),
        ("def f(a):\n    b = [(y := x) for x in a]\n    return y\n", "y", "x"),
        ("def f(a):\n    x = a\n    return f(x)\n", "x", "f"),
    ],
)
def test_a_name_that_would_be_captured_or_is_taken_is_refused(source: str, old: str, new: str) -> None:
    assert RENAME.apply(source, moves(source, {old: new})) == Refused(COLLISION)


@pytest.mark.parametrize(
    ("source", "old", "new"),
    [
        ("def f(a):\n    x = a\n    return x.y\n", "x", "y"),
        ("def f(a):\n    x = a\n    return g(y=x)\n", "x", "y"),
        ("def f(a):\n    x = a\n    return [y for y in x]\n", "x", "y"),
        ("def f(a):\n    x = a\n    class C:\n        y = 1\n        def m(self): return x\n", "x", "y"),
    ],
)
def test_a_name_that_means_something_else_elsewhere_is_legal(source: str, old: str, new: str) -> None:
    assert rename(source, {old: new}) != source


def test_moves_that_are_not_of_this_function_are_refused() -> None:
    stranger = Refused("not a move of this function")
    for site in (0, 1, 99):  # the function's own name, a parameter, nothing
        move = Move(kind="rename", site=site, value="v", note="")
        assert RENAME.apply(SWAPPED, (move,)) == stranger
    twice = tuple(Move(kind="rename", site=2, value=name, note="") for name in ("v", "w"))
    assert RENAME.apply(SWAPPED, twice) == stranger


# Behaviour at the edges of the promise


def test_an_unbound_local_stays_unbound() -> None:
    source = "def f():\n    if 0: x = 1\n    return x\n"
    space: dict[str, object] = {}
    exec(rename(source, {"x": "v"}), space)
    with pytest.raises(UnboundLocalError):
        space["f"]()


def test_the_qualified_name_of_a_nested_function_stays() -> None:
    source = "def f():\n    x = 1\n    def g(): return x\n    return g\n"
    space: dict[str, object] = {}
    exec(rename(source, {"x": "v", "g": "w"}), space)
    assert space["f"]().__qualname__ == "f.<locals>.g"


# Parameters


def test_parameters_are_renamed_with_everything_that_reads_them() -> None:
    assert rename("def f(a, *b, c, **d):\n    return a, b, c, d\n", {"b": "v", "d": "w"}, BOTH) == (
        "def f(a, *v, c, **w):\n    return a, v, c, w\n"
    )
    assert rename(
        "def f(a: A, b=0, /, c=a):\n    return lambda: (a, b, c)\n", {"a": "v", "b": "w", "c": "u"}, BOTH
    ) == ("def f(v: A, w=0, /, u=a):\n    return lambda: (v, w, u)\n")


def test_rename_alone_leaves_parameters() -> None:
    proposal = RENAME.propose("def f(a):\n    x = a\n    return x\n", Random(0))
    assert isinstance(proposal, tuple)
    assert [move.note.partition(" ")[0] for move in proposal] == ["x"]


KEPT = {
    "self": ("def f(self): return self\n", "self", "receiver of a method"),
    "first of a local method": (
        "def f():\n    class C:\n        def m(this): return this\n", "this", "receiver of a method"
    ),
    "decorated": ("@fixture\ndef f(a): return a\n", "a", "decorator may read parameter names"),
    "decorated, called": ("@click.command()\ndef f(a): return a\n", "a", "decorator may read parameter names"),
    "decorated, gathering": ("@g\ndef f(*a): return a\n", "a", "decorator may read parameter names"),
    "keyword-only": ("def f(*, a): return a\n", "a", "keyword-only parameter"),
    "beside gathered keywords": ("def f(a, **b): return a\n", "a", "parameter beside gathered keywords"),
    "recursion by keyword": ("def f(a): return f(a=1)\n", "a", "parameter passed by keyword"),
    "recursion of a method": ("def f(self, a): return super().f(a=1)\n", "a", "parameter passed by keyword"),
    "recursion with a mapping": ("def f(a): return f(**a)\n", "a", "parameter passed by keyword"),
    "a test's": ("def test_f(tmp_path): return tmp_path\n", "tmp_path", "test parameters are read by name"),
    "of a nested function that escapes": (
        "def f():\n    def g(a): return a\n    return g\n", "a", "nested function called out of sight"
    ),
    "of a nested function called by keyword": (
        "def f():\n    def g(a): return a\n    return g(a=1)\n", "a", "nested function called out of sight"
    ),
    "of a nested function called with a mapping": (
        "def f(d):\n    def g(a): return a\n    return g(**d)\n", "a", "nested function called out of sight"
    ),
    "of a lambda that escapes": ("def f(): return lambda a: a\n", "a", "nested function called out of sight"),
    "of a lambda given to a stranger": (
        "def f(g): return g(lambda a: a)\n", "a", "nested function called out of sight"
    ),
    "of a method": (
        "def f():\n    class C:\n        def m(self, a): return a\n", "a", "nested function called out of sight"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "name", "reason"), KEPT.values(), ids=KEPT)
def test_a_parameter_that_is_passed_by_name_is_kept(source: str, name: str, reason: str) -> None:
    scopes = resolve(source)
    parameter = next(
        binding for binding in scopes.bindings if binding.name == name and binding.view == "parameter"
    )
    assert RenameGuard(scopes).obstacle(parameter) == reason


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("def f(a): return f(1) if a else f(2)\n", "a"),
        ("def f(a, **b): return b\n", "b"),
        ("def f(a, /, **b): return a\n", "a"),
        ("@functools.lru_cache(maxsize=None)\ndef f(a): return a\n", "a"),
        ("@x.setter\ndef f(self, a): pass\n", "a"),
        ("def f():\n    def g(a): return a\n    return g(1) + g(*h)\n", "a"),
        ("def f():\n    @wraps(h)\n    def g(*a): return h(*a)\n    return g\n", "a"),
        ("def f(xs): return sorted(xs, key=lambda a: -a)\n", "a"),
        ("def f(b):\n    xs = [b]\n    xs.sort(key=lambda a: -a)\n    return xs\n", "a"),
        ("def f(xs): return functools.reduce(lambda a, b: a + b, xs)\n", "a"),
        ("def f(xs): return map(lambda a: -a, xs)\n", "a"),
        ("def f(): return (lambda a: a)(1)\n", "a"),
    ],
)
def test_a_parameter_that_is_passed_by_position_is_renamed(source: str, name: str) -> None:
    assert rename(source, {name: "v"}, BOTH) != source


@pytest.mark.parametrize(
    ("source", "call"),
    [
        ("def f(xs): return xs.sort(key=lambda a: -a)\n", "f(Asking())"),
        ("def f(map): return map(lambda a: -a, [1])\n", "f(ask)"),
        ("def f(g):\n    map = g\n    return map(lambda a: -a, [1])\n", "f(ask)"),
        ("def f(g):\n    global map\n    map = g\n    return map(lambda a: -a, [1])\n", "f(ask)"),
        ("def f(g):\n    globals()['map'] = g\n    return map(lambda a: -a, [1])\n", "f(ask)"),
        (
            "def f(g):\n    def sorted(x, key): return g(key)\n    return sorted(0, key=lambda a: -a)\n",
            "f(ask)",
        ),
        ("def f(min): return [min(0, key=lambda a: -a) for _ in '1']\n", "f(lambda x, key: ask(key))"),
        ("def f(functools): return functools.reduce(lambda a: -a, [1])\n", "f(Asking())"),
        ("def f(xs): return reduce(lambda a: -a, xs)\n", "f([1])"),
        ("def f(xs): return groupby(xs, key=lambda a: -a)\n", "f([1])"),
    ],
)
def test_the_callee_of_a_lambda_may_be_another(source: str, call: str) -> None:
    """It passes by name, so a new name would be an error."""
    helpers = """
def ask(key, *_): return key(a=2)
def reduce(key, _): return ask(key)
def groupby(_, key): return ask(key)
class Asking:
    sort = staticmethod(ask)
    reduce = staticmethod(ask)
"""
    space: dict[str, object] = {}
    exec(helpers + source, space)
    assert eval(call, space) in (-2, [-2])
    assert moves(source, {"a": "v"}) == ()
    scopes = resolve(source)
    (parameter,) = (binding for binding in scopes.bindings if binding.name == "a")
    assert RenameGuard(scopes).obstacle(parameter) == "nested function called out of sight"


def test_a_function_without_a_renamable_parameter_is_refused_with_the_reason() -> None:
    for source, reason in (
        ("def f():\n    x = 1\n    return x\n", "no parameter to rename"),
        ("@g\ndef f(a):\n    x = 1\n    return x\n", "decorator may read parameter names"),
        ("def f(self):\n    x = 1\n    return x\n", "receiver of a method"),
        ("def f(self, *, a):\n    x = 1\n    return x\n", "keyword-only parameter"),
    ):
        assert RENAME_PARAMETERS.propose(source, Random(0)) == Refused(reason)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="nested quotes came with Python 3.12")
def test_f_strings_of_newer_pythons() -> None:
    before = 'def f(a):\n    x = a\n    return f"{x} {f"{x:{"x"}>{x}}"} {\n    x  # x\n    } {x\n    = }"\n'
    assert moves(before, {"x": "v"}) == ()
    before = before.replace("= }", "}")
    assert rename(before, {"x": "v"}) == (
        'def f(a):\n    v = a\n    return f"{v} {f"{v:{"x"}>{v}}"} {\n    v  # x\n    } {v\n    }"\n'
    )


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
def test_type_parameters_keep_their_names() -> None:
    source = "def f[T](a: T) -> T:\n    x: T = a\n    type L = list[T]\n    return x\n"
    assert rename(source, {"x": "v", "T": "U", "L": "M"}) == source.replace("x", "v")


# An indented function, its bytes untouched


@pytest.mark.parametrize("wrapper", ["class _:\n", "if 1:\n"])
def test_an_indented_function_is_renamed_in_place(wrapper: str) -> None:
    source = wrapper + '    def f(self, a):\n\tx = """\n x"""; y = x\n\treturn y\n'.replace("\t", "        ")
    after = source.replace(" x = ", " v = ").replace("y = x", "w = v").replace("return y", "return w")
    assert rename(source, {"x": "v", "y": "w", "_": "u"}) == after


def test_the_first_parameter_of_a_method_is_its_receiver() -> None:
    for source, reason in (
        ("class _:\n    def f(this): return this\n", "receiver of a method"),
        ("class _:\n    @classmethod\n    def f(kind): return kind\n", "receiver of a method"),
    ):
        assert RENAME_PARAMETERS.propose(source, Random(0)) == Refused(reason)
    for source in (
        "class _:\n    @staticmethod\n    def f(a): return a\n",
        "if 1:\n    def f(a): return a\n",
    ):
        assert isinstance(RENAME_PARAMETERS.propose(source, Random(0)), tuple)


@pytest.mark.parametrize("name", ["_C__x", "__x", "_C__"])
def test_no_name_that_mangling_may_give_is_drawn_or_renamed(name: str) -> None:
    """The class around a method is not in sight, nor is what it makes of `__x`."""
    source = f"class _:\n    def f(self):\n        {name} = 1\n        return __x, {name}\n"
    assert RENAME.propose(source, Random(0)) == Refused("mangled or special name")
    source = "class _:\n    def f(self):\n        y = 1\n        return __x, y\n"
    assert RENAME.apply(source, moves(source, {"y": name})) == Refused(COLLISION)

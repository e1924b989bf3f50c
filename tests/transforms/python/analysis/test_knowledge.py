"""What the tables of `knowledge` declare, compared with what the interpreter does.

Every entry of every table is called in many forms: with objects whose methods note that they ran, with
generators, shared containers, subclasses, `None`, negative, far too large and ordinary values. The analysis
says what it believes of the statement `r = CALL`; then the call runs, with values that fit what the analysis
knows of its arguments. A belief that claims less than was observed fails.
"""

import ast
import builtins
import codecs
import decimal
import inspect
import itertools
import math
import operator
import os
import re
import sys
import warnings
import weakref
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from types import CodeType
from typing import Any, Final, NamedTuple, TypeAlias

import pytest

from codeaudit.transforms.dependence.effects import ACTS, BARRIER, OBSERVES, RAISES, STORES
from codeaudit.transforms.python.analysis import knowledge
from codeaudit.transforms.python.analysis.builder import PythonProgramBuilder
from codeaudit.transforms.python.analysis.expressions import SHARED
from codeaudit.transforms.python.analysis.looks import CLASS_OF, METHODS, NOTHING_SHOWN, READING, ShownLooks
from codeaudit.transforms.python.parsing import parse
from tests.support import hostile
from tests.support.hostile import LOG, LOOKING, Answering, Mode, foreign_class, subclass

# ── what is excused ──────────────────────────────────────────────────────────────────────────────────────

LOOKS: Final = frozenset[str]().union(*LOOKING.values())
"""Methods that only look, by assumption 1: they may depend on any state and raise, but do not act."""

EXCUSED: Final[Mapping[str, frozenset[str]]] = {
    # "to make text": a path is text, whatever its class makes of the methods of a text.
    **{f"os.path.{name}": frozenset({*dir(str), *dir(bytes)}) for name in knowledge.MODULES["os.path"]},
    # "to read an item": `x[y]` of an unknown `x`, whose class decides what it makes of `y`.
    "operator.getitem": frozenset({"__index__"}),
}
"""Methods that are not special and only look, by the entry that calls them, where the first argument (of a path:
any argument) is of unknown type.
"""

NEVER_RAISED: Final = frozenset({"__class__"})
"""What does not raise when it is looked at, by assumption 1."""

NOT_COUNTED: Final = (MemoryError, RecursionError)
"""Exceptions that are not counted as effects, by assumption 5."""

# ── values ───────────────────────────────────────────────────────────────────────────────────────────────

HUGE: Final = 10**5000
"""Too large for a float, for a C integer, and for a decimal text."""


class KeyLike:
    """A key with the hash of another one, which notes when it is compared."""

    def __init__(self, like: object) -> None:
        self.hash = hash(like)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        LOG.append("__eq__")
        return False


Maker: TypeAlias = Callable[[], object]


def acting_type() -> object:
    return foreign_class()


INTS: Final[Sequence[Maker]] = [lambda: 3, lambda: -1, lambda: 0, lambda: 1 << 63, lambda: HUGE]
FLOATS: Final[Sequence[Maker]] = [
    lambda: 1.5, lambda: math.nan, lambda: math.inf, lambda: -0.0, lambda: 1e308,
]  # fmt: skip
TEXTS: Final[Sequence[Maker]] = [
    lambda: "ab", lambda: "hostile", lambda: "", lambda: "\ud800", lambda: "{0} {x} %s %d", lambda: "12",
    lambda: "i", lambda: "ascii", lambda: "a/b.c", lambda: "[",
]  # fmt: skip
BYTES: Final[Sequence[Maker]] = [lambda: b"ab", lambda: b"", lambda: b"\xff", lambda: b"12"]
LISTS: Final[Sequence[Maker]] = [
    lambda: [thing(), thing()], lambda: [3, 1, 2], list, lambda: ["ab", "cd"], lambda: [("k", thing())],
    lambda: [hostile.items(1, 2)] * 2, lambda: [[thing()], subclass(list)([1])], lambda: [None],
    lambda: [subclass(str)("ab"), "cd"], lambda: [subclass(list)([1]), subclass(list)([2])], lambda: [(KeyLike("k"), 1), ("k", 2)],
]  # fmt: skip
DICTS: Final[Sequence[Maker]] = [
    lambda: {KeyLike("k"): 1, KeyLike(1): 2, KeyLike("ab"): 3}, lambda: {"k": thing()}, dict,
    lambda: {thing(): 1},
]  # fmt: skip
PLAIN_DICTS: Final[Sequence[Maker]] = [lambda: {"k": thing(), 1: []}, dict]
SETS: Final[Sequence[Maker]] = [
    lambda: {KeyLike("k"), KeyLike(1), KeyLike("ab")},
    lambda: set(),
    lambda: {thing()},
    lambda: {1, "ab"},
]
PLAIN_SETS: Final[Sequence[Maker]] = [lambda: {1, "k"}, lambda: set()]
TUPLES: Final[Sequence[Maker]] = [
    lambda: (thing(), thing()), lambda: (), lambda: ("k", "ab"), lambda: (hostile.items(1, 2),),
    lambda: ("f", 1, 2, thing()), lambda: (3, 1),
]  # fmt: skip
RANGES: Final[Sequence[Maker]] = [lambda: range(3), lambda: range(0)]
FUNCTIONS: Final[Sequence[Maker]] = [lambda: hostile.called]
SUBCLASSES: Final[Sequence[Maker]] = [
    partial(subclass(base), value)
    for base, value in (
        (int, 1), (float, 1.5), (str, "ab"), (bytes, b"ab"), (list, [1, 2]), (tuple, (1, 2)),
        (dict, {"k": 1}), (set, {1}), (frozenset, {1}), (complex, 1j), (bytearray, b"ab"),
    )
]  # fmt: skip
OTHERS: Final[Sequence[Maker]] = [
    lambda: hostile.items(1, 2), lambda: map(hostile.called, [1, 2]), lambda: None, lambda: True,
    lambda: hostile.called, acting_type, lambda: Answering, lambda: int, lambda: len,
    lambda: bytearray(b"ab"), lambda: memoryview(b"ab"), lambda: array("i", [1, 2]), lambda: Decimal("1.5"),
    lambda: Fraction(1, 2), lambda: slice(1, 2), lambda: re.compile("a"), lambda: partial(hostile.called),
    lambda: [ValueError()], lambda: ValueError(), lambda: NotImplemented, lambda: ..., lambda: re,
    lambda: deque([thing()]), lambda: Counter("ab"), lambda: OrderedDict(k=1), lambda: defaultdict(list),
    lambda: {"names": [thing()], "formats": [thing()]}, lambda: [("k", "f8", (thing(),))],
    lambda: ("f8", (thing(),)), lambda: {"names": ["k"], "formats": ["f8"], "offsets": [thing()]},
    lambda: frozenset({1}), lambda: int | str,
]  # fmt: skip


class Name(NamedTuple):
    """A variable of the probed function."""

    bound: str
    """The statement that binds it, for the analysis; empty for a parameter."""
    values: Sequence[Maker]
    """Values that fit all that the analysis can know of the variable."""


ANY: Final = (
    lambda: thing(), SUBCLASSES[2], INTS[0], LISTS[0], OTHERS[0], DICTS[0], TEXTS[0], *OTHERS[1:3], TEXTS[1],
    BYTES[0], TUPLES[0], SUBCLASSES[4], INTS[1], INTS[4], FLOATS[0], SETS[0], *OTHERS[3:], *SUBCLASSES, *LISTS[1:], *DICTS[1:],
    *TUPLES[1:], *TEXTS[2:], *FLOATS[1:], *BYTES[1:], *RANGES, *SETS[1:],
)  # fmt: skip

NAMES: Final[Mapping[str, Name]] = {
    **dict.fromkeys(("a", "b", "c"), Name("", ANY)),
    "n": Name("", INTS), "m": Name("", [*INTS, lambda: None]), "w": Name("", LISTS), "v": Name("", TEXTS),
    "y": Name("", DICTS), "more": Name("", TUPLES), "kw": Name("", PLAIN_DICTS),
    "i": Name("i = len(q)", INTS), "f": Name("f = 1.5 * len(q)", FLOATS), "k": Name("k = ','.join(q)", TEXTS),
    "u": Name("u = b'%s' % b'ab'", BYTES), "o": Name("o = not q", [lambda: True, lambda: False]),
    "z": Name("z = None", [lambda: None]), "p": Name("p = (q, q)", TUPLES),
    "r": Name("r = range(len(q))", RANGES), "g": Name("g = lambda: q", FUNCTIONS),
    "xs": Name("xs = [q]", LISTS), "ys": Name("ys = []; q.keep(ys)", LISTS),
    "d": Name("d = {'k': q}", PLAIN_DICTS), "h": Name("h = {q: 1}", DICTS),
    "e": Name("e = {}; q.keep(e)", DICTS), "s": Name("s = {1, 2}", PLAIN_SETS),
    "t": Name("t = set(); q.keep(t)", SETS), "later": Name("later = 1", [lambda: 1]),
}  # fmt: skip
"""The variables that the forms of a call use."""

HEAD: Final = (
    "def probed(q, a, b, c, n: int, m: int | None, w: list, v: str, y: dict[str, int], *more, **kw):\n"
)

# ── forms of a call ──────────────────────────────────────────────────────────────────────────────────────

_PLAIN: Final = (
    "i",
    "f",
    "k",
    "u",
    "o",
    "z",
    "2",
    "-1",
    "0",
    "'ab'",
    "'hostile'",
    "b'ab'",
    "None",
    "int",
    "",
)
_CONTAINERS: Final = (
    "xs",
    "ys",
    "d",
    "h",
    "e",
    "s",
    "t",
    "p",
    "r",
    "g",
    "w",
    "n",
    "m",
    "v",
    "y",
    "more",
    "kw",
)
_MADE: Final = (
    "a", "[a, b]", "(a, b)", "{a}", "{'k': a}", "[a, a]", "[(1, a)]", "[[a]]", "(j for j in w)",
    "(j for j in a)", "[j for j in ys]", "lambda: later", "xs if a else ys", "(x := xs)", "*a", "*xs", "**a",
    "**d", "*p", "zip(xs, ys)", "enumerate(w)", "e.items()", "(later for _ in p)", "xs, key=lambda j: later",
    "ys, key=lambda j: a", "xs, key=len", "ys, key=str.lower", "xs, default=lambda: later",
    "ys, key=lambda j: (lambda: later)", "ys, (later for _ in p)", "a, key=len", "'m', later", "'ascii', 'hostile'",
    "'hostile', 'strict'", "b'ab', 'hostile'", "b'\\xff', 'ascii', 'hostile'", "'\\xff', 'ascii', 'hostile'", "u, k",
)  # fmt: skip
ONE: Final = (*_PLAIN, *_CONTAINERS, *_MADE)
_PAIR: Final = ("a", "i", "k", "xs", "ys", "e", "'ab'", "2")
TWO: Final = [f"{first}, {second}" for first in _PAIR for second in (*_PAIR, "b", "p", "d")]
THREE: Final = [
    ", ".join(parts) for parts in itertools.product(("a", "'ab'", "2"), ("b", "1"), ("c", "i", "k"))
]
EXCEPTIONAL: Final = (
    "11, 'm', a", "11, 'm', b'ab'", "a, 'm', b, None, c", "11, 'm', 'n', a", "'ascii', b'ab', 0, a, 'm'",
    "'ascii', 'ab', 0, 1, 'm'", "'ascii', k, i, i, k", "'m', [a, a]", "'m', ('f', 1, 2, a)", "'m', p", "'m', ys",
    "'m', ('f', a, b, 't', c, 4)", "'m', xs", "'m', (j for j in xs)", "'m', [ValueError()]", "'m', *a",
)  # fmt: skip

KEYWORDS: Final[Mapping[str, Sequence[str]]] = {
    "sorted": ("reverse", "key"), "min": ("default",), "max": ("default",), "sum": ("start",),
    "zip": ("strict",), "enumerate": ("start", "iterable"), "range": ("step",), "int": ("base",),
    "str": ("encoding", "errors", "object"), "bytes": ("encoding", "errors", "source"), "bytearray": ("source",),
    "split": ("sep", "maxsplit"), "rsplit": ("sep", "maxsplit"), "splitlines": ("keepends",), "round": ("ndigits",),
    "expandtabs": ("tabsize",), "encode": ("encoding", "errors"), "replace": ("count",), "pow": ("mod",),
    "format": ("x",), "deque": ("iterable", "maxlen"), "itertools.product": ("repeat",),
    "itertools.count": ("start", "step"), "np.dtype": ("dtype", "align", "copy", "metadata"), "list": ("iterable",),
    **dict.fromkeys(knowledge.EXCEPTIONS, ("name", "obj", "path", "name_from")),
}  # fmt: skip
"""Keywords of callees that do not tell their signature."""


def keywords(entry: str) -> Iterator[str]:
    """The names of the keywords that a call of an entry is probed with."""
    yield "k"
    yield from KEYWORDS.get(entry, ())
    yield from KEYWORDS.get(entry.rpartition(".")[2], ())
    try:
        parameters = inspect.signature(eval(entry, dict(SPACE))).parameters.values()
    except (ValueError, TypeError, NameError, AttributeError):
        return
    yield from (one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY))


def forms(entry: str) -> Iterator[tuple[str, str]]:
    """The ways to call an entry: a callee and its arguments."""
    first, *others = ENTRIES[entry]
    for callee in (first, *others):
        yield from ((callee, arguments) for arguments in ONE)
    exception = entry in knowledge.EXCEPTIONS
    yield from ((first, arguments) for arguments in (EXCEPTIONAL if exception else (*TWO, *THREE)))
    for keyword in dict.fromkeys(keywords(entry)):
        few = exception or keyword == "k"
        for before in ("", "a, ") if few else ("", "a, ", "xs, ", "'ab', ", "2, "):
            for value in ("a", "k") if few else ("a", "i", "k", "ys", "[a, b]"):
                yield first, f"{before}{keyword}={value}"


# ── entries ──────────────────────────────────────────────────────────────────────────────────────────────

RECEIVERS: Final[Mapping[str, Sequence[str]]] = {
    "str": ("k", "'a b'", "'{0} {x}!'"), "list": ("xs", "ys", "[a, 1]"), "dict": ("d", "h", "e"),
    "set": ("s", "t", "{a}"),
}  # fmt: skip
"""Expressions whose type is certain, on which methods are called."""

BUILTIN_TABLES: Final = (
    "PURE", "STATE_TESTS", "CONVERSIONS", "READ_ONLY", "CONSUMING", "LAZY", "EXCEPTIONS", "EMPTY_CALLS",
)  # fmt: skip
OTHER_TABLES: Final = {
    "STR_METHODS", "RAISING_STR_METHODS", "METHOD_EFFECTS", "MODULES",
    # They say more about entries of other tables.
    "CONSUMING_KEYWORDS", "EXCEPTION_KEYWORDS", "STR_ARGUMENTS", "INDICES", "VIEWS", "PATH_PAIRS",
    "CONVERTS_ITEMS", "ENCODINGS", "ERROR_HANDLERS",
    # Types, modules and names: no calls whose effects they declare, or calls that keep their place.
    "BUILTINS", "NUMBERS", "PLAIN", "CONTAINERS", "KNOWN", "SEQUENCES", "REFLECTION", "MODULE_NAMES",
    "WELL_KNOWN",
}  # fmt: skip


def entries() -> Mapping[str, Sequence[str]]:
    """All entries of the tables, each with the expressions that are called."""
    found: dict[str, Sequence[str]] = {}
    for table in BUILTIN_TABLES:
        for key in getattr(knowledge, table):
            name = key[0] if isinstance(key, tuple) else key
            found[name] = (name,)
    for name in (*knowledge.STR_METHODS, *knowledge.RAISING_STR_METHODS, "join"):
        found[f"str().{name}"] = [f"{receiver}.{name}" for receiver in RECEIVERS["str"]]
    for kind, methods in knowledge.METHOD_EFFECTS.items():
        for name in methods:
            found[f"{kind}().{name}"] = [f"{receiver}.{name}" for receiver in RECEIVERS[kind]]
    for module, functions in knowledge.MODULES.items():
        found |= {f"{module}.{name}": (f"{module}.{name}",) for name in functions}
    return found


ENTRIES: Final = dict(sorted(entries().items()))
"""Sorted, because workers of the tests must agree on the order."""

SPACE: Final[Mapping[str, object]] = {
    "math": math, "operator": operator, "os": os, "re": re, "itertools": itertools,
    **{name: __import__(name) for name in ("functools", "collections")},
}  # fmt: skip


@cache
def space() -> Mapping[str, object]:
    """The globals of a probe: modules under their usual names."""
    try:
        import numpy
    except ImportError:
        return SPACE
    return {**SPACE, "np": numpy}


# ── what the analysis believes ───────────────────────────────────────────────────────────────────────────


class Belief(NamedTuple):
    """What the analysis says of a statement `r = …`."""

    flags: int
    writes: frozenset[str]
    kind: str | None
    """The type of the value, if it claims to know it."""
    owned: frozenset[str]
    captured: frozenset[str]


def believed(expression: str, shown: ShownLooks = NOTHING_SHOWN) -> Belief:
    """What the analysis says of `r = expression` in a function with the variables that it names."""
    bound = "".join(
        f"    {NAMES[name].bound}\n" for name in named(expression) if name in NAMES and NAMES[name].bound
    )
    source = f"{HEAD}{bound}    r = {expression}\n"
    builder = PythonProgramBuilder(source, dependence="strict", rebound=frozenset(), shown=shown)
    function = parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    builder.alone(function)
    node, effect = builder.rows[-1].node, builder.rows[-1].effects
    facts = builder.places[id(node)].facts
    return Belief(effect.flags, effect.writes, facts.types.get("r"), facts.owned, facts.captured)


_WORD: Final = re.compile(r"[A-Za-z_]\w*")


def named(expression: str) -> list[str]:
    """The variables of a form, in the order of the text."""
    bare = re.sub(r"'[^']*'|\.\w+|\w+=(?!=)", "", expression)
    return [name for name in dict.fromkeys(_WORD.findall(bare)) if name in NAMES]


# ── what happens ─────────────────────────────────────────────────────────────────────────────────────────


class Seen(NamedTuple):
    """What one run of a call did."""

    ran: frozenset[str]
    """The methods of foreign objects that ran."""
    error: Exception | None
    changed: frozenset[str]
    """The variables whose container has other contents afterwards."""
    kept: frozenset[str]
    """The variables whose container has one more reference afterwards, and `later` for a kept closure."""
    result: object
    references: int
    """How many references the result has, besides that of `result`."""


_TRACKED: Final[list[Any]] = []


def track(made: object) -> object:
    """Note a lambda or generator expression, to see if it is still there after the call."""
    _TRACKED.append(weakref.ref(made))
    return made


_LATER: Final = re.compile(r"(lambda: later|lambda j: later|\(later for _ in p\))")


def compiled(expression: str) -> CodeType:
    return compile(_LATER.sub(r"track(\1)", expression), "<call>", "eval")


def contents(value: object) -> object:
    """The identities of what a builtin container holds; the text of a bytearray."""
    match value:
        case defaultdict():
            return None  # its `__missing__` only looks, by assumption 1
        case list():
            return [id(item) for item in list.__iter__(value)]
        case dict():
            return [(id(key), id(item)) for key, item in dict.items(value)]
        case set():
            return sorted(id(item) for item in set.__iter__(value))
        case bytearray():
            return bytes(memoryview(value))
        case _:
            return None


def run(code: CodeType, values: Mapping[str, object], owned: frozenset[str] = frozenset()) -> Seen:
    """Evaluate a call; `owned` are the variables whose references are counted."""
    around = {"__builtins__": builtins, **space(), "track": track, **values}
    before = {name: contents(value) for name, value in values.items()}
    watched = [name for name in owned if name in values]
    counts = [sys.getrefcount(values[name]) for name in watched]
    LOG.clear()
    _TRACKED.clear()
    result, error = None, None
    try:
        result = eval(code, around)
    except Exception as raised:
        error = raised.with_traceback(None)
    ran = frozenset(LOG)
    changed = frozenset(name for name, value in values.items() if contents(value) != before[name])
    kept = {
        name for name, count in zip(watched, counts, strict=True) if sys.getrefcount(values[name]) > count
    }
    if error is None and any(one() is not None for one in _TRACKED):
        kept.add("later")
    references = sys.getrefcount(result) - 2
    return Seen(ran, error, changed, frozenset(kept) if error is None else frozenset(), result, references)


_TYPE_NAMES: Final = {"none": "NoneType", "ellipsis": "ellipsis"}


def unclaimed(entry: str, belief: Belief, seen: Seen, *, unknown: bool) -> Iterator[str]:
    """What was seen and is not part of the belief; `unknown`: the first argument may be of any type."""
    flags = belief.flags
    missing = entry == "super" and isinstance(seen.error, RuntimeError)  # its class is assumed to exist
    if seen.error is not None and not (flags & RAISES or missing or isinstance(seen.error, NOT_COUNTED)):
        yield f"raises {type(seen.error).__name__}: {str(seen.error)[:80]}"
    acting = seen.ran - LOOKS - (EXCUSED.get(entry, frozenset()) if unknown else frozenset())
    if acting and not flags & ACTS:
        yield f"runs {sorted(acting)}"
    if seen.ran and not flags & OBSERVES:
        yield f"depends on state: runs {sorted(seen.ran)}"
    if seen.ran - NEVER_RAISED and not flags & RAISES:
        yield f"may raise: runs {sorted(seen.ran)}"
    for name in seen.changed:
        stores = name in belief.writes if name in belief.owned else flags & STORES and SHARED in belief.writes
        if not (stores or flags & ACTS):
            yield f"changes {name}"
    for name in seen.kept:
        if name in belief.owned or (name == "later" and name not in belief.captured):
            yield f"keeps {name}"
    if seen.error is None and belief.kind is not None:
        found = type(seen.result).__name__
        if found != _TYPE_NAMES.get(belief.kind, belief.kind):
            yield f"gives {found}, not {belief.kind}"
        if belief.kind in knowledge.CONTAINERS and seen.references:
            yield f"gives a {belief.kind} that is reachable from elsewhere"


# ── probing ──────────────────────────────────────────────────────────────────────────────────────────────

FEW: Final = {1: 1000, 2: 5, 3: 3}
"""How many values each variable gets, by how many variables a form has."""
MOST_MODES: Final = 8
"""How many foreign classes are tried in place of one whose methods were called."""


UNENDING: Final = frozenset({"pow", "operator.pow", "round"})
"""Entries that compute for hours with huge numbers."""


def choices(entry: str, names: Sequence[str]) -> Iterator[Sequence[Maker]]:
    """Values for the variables of a form."""
    left_out = INTS[3:] if entry in UNENDING else []
    few = FEW.get(len(names), 2)
    yield from itertools.product(
        *([maker for maker in NAMES[name].values if maker not in left_out][:few] for name in names)
    )


_mode: Mode = frozenset()
_exact = False


def thing() -> object:
    """An object whose every method notes that it ran."""
    return foreign_class(_mode, exact=_exact)()


def observed(code: CodeType, names: Sequence[str], makers: Sequence[Maker], belief: Belief) -> Iterator[Seen]:
    """Runs of one call: with foreign objects that have all methods, and, where these ran, with others that
    lack or refuse them.
    """
    global _mode, _exact
    waiting: list[tuple[Mode, bool]] = [(frozenset(), False)]
    tried = set(waiting)
    while waiting and len(tried) <= MOST_MODES:
        _mode, _exact = waiting.pop(0)
        mode, exact = _mode, _exact
        try:
            values = {name: maker() for name, maker in zip(names, makers, strict=True)}
            seen = run(code, values, belief.owned)
        except (LookupError, TypeError):  # no value: a key without a hash
            continue
        finally:
            _mode, _exact = frozenset(), False
        yield seen
        asked = sorted(seen.ran - {name for name, _ in mode})
        more = [(mode | {(name, "absent")}, exact) for name in asked]
        more += [(mode | {(name, "raises")}, exact) for name in asked]
        more += [(mode, True)] if asked and not exact else []
        waiting += [one for one in more if one not in tried]
        tried.update(more)


def mistakes(entry: str, callee: str, arguments: str) -> Iterator[str]:
    """What one form of a call does and the analysis does not say."""
    expression = f"{callee}({arguments})"
    try:
        code = compiled(expression)
    except SyntaxError:
        return
    belief = believed(expression)
    if belief.flags & ACTS and belief.kind is None and not belief.owned:
        return
    names = named(expression)
    # A path may have several parts, and each may be a text of a foreign class.
    unknown = entry.startswith("os.path.") or arguments.startswith(("a", "path=a", "p=a", "s=a"))
    looks: set[str] = set()
    for makers in choices(entry, names):
        for seen in observed(code, names, makers, belief):
            looks |= seen.ran & LOOKS
            for mistake in unclaimed(entry, belief, seen, unknown=unknown):
                values = ", ".join(
                    f"{name} = {shown(maker())}" for name, maker in zip(names, makers, strict=True)
                )
                yield f"{expression}: {mistake}  [{values}]"
                return
    # Where the text shows that these methods act, the call acts.
    if looks & METHODS and names == ["a"] and not belief.flags & ACTS:
        acting = ShownLooks(methods=True, acting=frozenset(looks & (READING | CLASS_OF)))
        if not believed(expression, acting).flags & ACTS:
            yield f"{expression}: runs {sorted(looks)}, of which the text shows that they act"


def shown(value: object) -> str:
    """A value in a message."""
    text = type(value).__name__
    return f"{value!r:.60}" if type(value) in (int, str, bytes, float) and value != HUGE else text


def _hostile_codec(name: str) -> codecs.CodecInfo | None:
    def convert(value: Any, errors: str = "strict") -> tuple[Any, int]:
        hostile.note("codec")
        return (hostile.Bits(b"ab") if isinstance(value, str) else hostile.Text("ab")), 2

    return codecs.CodecInfo(convert, convert, name=name) if name == "hostile" else None


def _hostile_handler(error: UnicodeError) -> tuple[str, int]:
    hostile.note("error handler")
    return "?", getattr(error, "end", 0)


@pytest.fixture(autouse=True, scope="module")
def _codec() -> Iterator[None]:
    """A codec and an error handler, called `hostile`, that note their calls."""
    codecs.register(_hostile_codec)
    codecs.register_error("hostile", _hostile_handler)
    yield
    codecs.unregister(_hostile_codec)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.thinned(10)
@pytest.mark.parametrize("entry", ENTRIES)
def test_what_is_seen_is_declared(entry: str) -> None:
    found = [mistake for callee, arguments in forms(entry) for mistake in mistakes(entry, callee, arguments)]
    assert not found, "\n".join(found[:40])


@contextmanager
def elsewhere(folder: Path) -> Iterator[None]:
    """Other state of the process: folder, environment, precision, limits, warnings that raise."""
    digits = sys.get_int_max_str_digits()
    with (
        pytest.MonkeyPatch.context() as patch,
        warnings.catch_warnings(),
        decimal.localcontext() as context,
    ):
        patch.chdir(folder)
        patch.setenv("HOME", str(folder))
        warnings.simplefilter("error")
        context.prec = 2
        sys.set_int_max_str_digits(640)
        try:
            yield
        finally:
            sys.set_int_max_str_digits(digits)


def told(seen: Seen) -> tuple[str, str]:
    """What a run gave or raised, as a text without addresses."""
    value = seen.result if seen.error is None else seen.error.args
    plain = type(value) in (str, int, float, bool, bytes) and value != HUGE
    return type(seen.error or value).__name__, repr(value) if plain else ""


@pytest.mark.thinned(5)
@pytest.mark.parametrize("entry", ENTRIES)
def test_what_observes_nothing_is_the_same_elsewhere(entry: str, tmp_path: Path) -> None:
    for callee, arguments in forms(entry):
        expression = f"{callee}({arguments})"
        belief = believed(expression)
        if belief.flags & (OBSERVES | RAISES | ACTS) or entry == "id":
            continue
        names = named(expression)
        for makers in choices(entry, names):
            runs = []
            for place in (nullcontext(), elsewhere(tmp_path)):
                values = {name: maker() for name, maker in zip(names, makers, strict=True)}
                with place:
                    runs.append(told(run(compiled(expression), values)))
            assert runs[0] == runs[1], expression


def test_every_table_is_probed() -> None:
    tables = {name for name in vars(knowledge) if name.isupper()}
    assert tables == {*BUILTIN_TABLES, *OTHER_TABLES}
    assert {*knowledge.CONSUMING_KEYWORDS} <= {*knowledge.CONSUMING}
    assert {*knowledge.EXCEPTION_KEYWORDS} <= knowledge.EXCEPTIONS
    methods = {f"{kind}().{name}" for kind, name in knowledge.INDICES}
    methods |= {f"str().{name}" for name in knowledge.STR_ARGUMENTS}
    methods |= {f"dict().{name}" for name in knowledge.VIEWS}
    assert methods | {f"os.path.{name}" for name in knowledge.PATH_PAIRS} <= {*ENTRIES}


PLAIN_ARGUMENTS: Final = (
    "", "2", "'ab'", "1.5", "2, 3", "'a', 'b'", "2, 3, 4", "'m', 3", "[1, 2]", "[1], 2", "'m', []", "int", "xs",
    "[('a', 1)]", "None, [('a', 1)]", "'ascii', b'a', 0, 1, 'm'", "2, int", "2, 'ab'", "xs, 2", "p", "int, int",
    "'ab', 2, 3", "{'a': 1}", "('f', 2)", "k",
)  # fmt: skip


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_says_something(entry: str) -> None:
    """A call with plain arguments does not count as one that may do anything."""
    calls = (f"{callee}({arguments})" for arguments in PLAIN_ARGUMENTS for callee in ENTRIES[entry])
    assert any(not believed(call).flags & ACTS for call in calls)


UNCERTAIN: Final = (
    "a",
    "w",
    "v",
    "y",
    "m",
    "a.b",
    "a[0]",
    "(xs if a else b)",
    "xs[0]",
    "later.b",
    "str",
    "list",
)
"""Expressions that may be of a class that overrides the methods of its base."""


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if "()." in entry])
def test_a_method_is_known_only_where_the_type_is_certain(entry: str) -> None:
    method = entry.partition(").")[2]
    for receiver in UNCERTAIN:
        for arguments in ("", "2"):
            assert believed(f"{receiver}.{method}({arguments})").flags & ACTS, receiver


@pytest.mark.parametrize("name", sorted(knowledge.REFLECTION))
def test_a_look_at_variables_keeps_its_place(name: str) -> None:
    assert all(believed(f"{callee}()").flags & BARRIER for callee in (name, f"a.{name}", f"math.{name}"))


def test_the_words_for_looks_are_those_of_the_analysis() -> None:
    assert LOOKS - {"dtype"} <= METHODS


@pytest.mark.parametrize(
    ("claimed", "call"),
    [
        ("runs ['__index__']", "hex(a)"), ("runs ['__next__']", "list(a)"), ("raises", "int(k)"),
        ("may raise", "len(a)"), ("changes ys", "ys.append(2)"), ("keeps xs", "iter(xs)"),
        ("keeps later", "max(xs, default=lambda: later)"), ("gives list, not dict", "sorted(xs)"),
        ("reachable from elsewhere", "max(xs, ys)"),
    ],
)  # fmt: skip
def test_a_belief_that_claims_nothing_fails(claimed: str, call: str) -> None:
    """The probe notices each kind of effect."""
    kind = "dict" if "dict" in claimed else "list" if "reachable" in claimed else None
    belief = Belief(0, frozenset(), kind, frozenset({"xs"}), frozenset())
    callee = call.partition("(")[0]
    names = named(call)
    found = {
        mistake
        for makers in choices(callee, names)
        for seen in observed(compiled(call), names, makers, belief)
        for mistake in unclaimed(callee, belief, seen, unknown=False)
    }
    assert any(claimed in mistake for mistake in found), found

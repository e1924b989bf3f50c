"""What the analysis says of a statement, and what the statement does: the tools of the probes.

A statement runs on the variables of `NAMES`, with values that fit all that the analysis knows of them: objects
whose methods note that they ran, generators, shared containers, subclasses, `None`, negative, far too large
and ordinary values. `unclaimed` names what was seen and was not said.
"""

import ast
import builtins
import itertools
import math
import operator
import os
import re
import sys
import weakref
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache, partial
from types import CodeType
from typing import Any, Final, NamedTuple, TypeAlias

from codeaudit.transforms.dependence.effects import ACTS, OBSERVES, RAISES, STORES
from codeaudit.transforms.python.analysis import knowledge
from codeaudit.transforms.python.analysis.builder import PythonProgramBuilder
from codeaudit.transforms.python.analysis.expressions import _NEW, SHARED
from codeaudit.transforms.python.analysis.looks import NOTHING_SHOWN, ShownLooks
from codeaudit.transforms.python.parsing import parse
from tests.support import hostile
from tests.support.hostile import LOG, LOOKING, Answering, Mode, foreign_class, subclass

# ── what is no effect ────────────────────────────────────────────────────────────────────────────────────

LOOKS: Final = frozenset[str]().union(*LOOKING.values())
"""Methods that only look, by assumption 1: they may depend on any state and raise, but do not act."""

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
OTHERS: Sequence[Maker] = [
    lambda: hostile.items(1, 2), lambda: map(hostile.called, [1, 2]), lambda: None, lambda: True,
    lambda: hostile.called, acting_type, lambda: Answering, lambda: int, lambda: len,
    lambda: bytearray(b"ab"), lambda: memoryview(b"ab"), lambda: array("i", [1, 2]),
    lambda: Fraction(1, 2), lambda: slice(1, 2), lambda: re.compile("a"), lambda: partial(hostile.called),
    lambda: [ValueError()], lambda: ValueError(), lambda: NotImplemented, lambda: ..., lambda: re,
    lambda: deque([thing()]), lambda: Counter("ab"), lambda: OrderedDict(k=1), lambda: defaultdict(list),
    lambda: {"names": [thing()], "formats": [thing()]}, lambda: [("k", "f8", (thing(),))],
    lambda: ("f8", (thing(),)), lambda: {"names": ["k"], "formats": ["f8"], "offsets": [thing()]},
    lambda: frozenset({1}), lambda: int | str,
]  # fmt: skip
if sys.version_info[:2] != (3, 13):  # where `pow(1, 2, Decimal(1))` ends the process (3.13.0)
    OTHERS = [*OTHERS, lambda: Decimal("1.5")]


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
    """What the analysis says of a statement."""

    flags: int
    writes: frozenset[str]
    kind: str | None
    """The type of `result`, if it claims to know it."""
    owned: frozenset[str]
    captured: frozenset[str]
    new: bool
    """Whether it claims that `result` is a container that nothing else reaches."""


@lru_cache(maxsize=4)
def believed(expression: str, shown: ShownLooks = NOTHING_SHOWN) -> Belief:
    """What the analysis says of `result = expression` in a function with the variables that it names."""
    return believed_of(f"result = {expression}", shown)


def believed_of(statement: str, shown: ShownLooks = NOTHING_SHOWN) -> Belief:
    """What the analysis says of a statement, with all that is nested in it."""
    bound = "".join(f"    {NAMES[name].bound}\n" for name in named(statement) if NAMES[name].bound)
    nested = statement.replace("\n", "\n    ")
    source = f"{HEAD}{bound}    {nested}\n"
    builder = PythonProgramBuilder(source, dependence="strict", rebound=frozenset(), looks=shown)
    function = parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    builder.alone(function)
    last = function.body[-1]
    facts = builder.places[id(last)].facts
    first = next(number for number, row in enumerate(builder.rows) if row.node is last)
    flags, writes = 0, frozenset[str]()
    for row in builder.rows[first:]:
        flags, writes = flags | row.effects.flags, writes | row.effects.writes
    kind = facts.types.get("result")
    new = kind in knowledge.CONTAINERS and (
        "result" in facts.owned or (isinstance(last, ast.Assign) and isinstance(last.value, _NEW))
    )
    return Belief(flags, writes, kind, facts.owned, facts.captured, new)


_WORD: Final = re.compile(r"[A-Za-z_]\w*")


def named(expression: str) -> list[str]:
    """The variables of a form, in the order of the text."""
    bare = re.sub(r"'[^']*'|\.\w+|\w+=(?!=)", "", expression)
    return [name for name in dict.fromkeys(_WORD.findall(bare)) if name in NAMES]


# ── what happens ─────────────────────────────────────────────────────────────────────────────────────────


class Seen(NamedTuple):
    """What one run of a statement did."""

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
    return compiled_of(f"result = {expression}")


def compiled_of(statement: str) -> CodeType:
    """The code of a statement, which keeps what it creates where `run` sees it."""
    return compile(_LATER.sub(r"track(\1)", statement), "<probe>", "exec")


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
    """Run a statement; `owned` are the variables whose references are counted. Its result is `result`."""
    around: dict[str, object] = {"__builtins__": builtins, **space(), "track": track, **values}
    before = {name: found for name, value in values.items() if (found := contents(value)) is not None}
    watched = [name for name in owned if name in values]
    counts = [sys.getrefcount(values[name]) for name in watched]
    LOG.clear()
    _TRACKED.clear()
    error = None
    try:
        exec(code, around)
    except Exception as raised:
        error = raised.with_traceback(None)
    result = around.pop("result", None)
    ran = frozenset(LOG)
    changed = frozenset(name for name, found in before.items() if contents(values[name]) != found)
    kept = {
        name for name, count in zip(watched, counts, strict=True) if sys.getrefcount(values[name]) > count
    }
    if error is None and any(one() is not None for one in _TRACKED):
        kept.add("later")
    references = sys.getrefcount(result) - 2
    return Seen(ran, error, changed, frozenset(kept) if error is None else frozenset(), result, references)


_TYPE_NAMES: Final = {"none": "NoneType", "ellipsis": "ellipsis"}


def unclaimed(entry: str, belief: Belief, seen: Seen, excused: frozenset[str] = frozenset()) -> Iterator[str]:
    """What was seen and is not part of the belief; `excused` are methods that only look here."""
    flags = belief.flags
    missing = entry == "super" and isinstance(seen.error, RuntimeError)  # its class is assumed to exist
    if seen.error is not None and not (flags & RAISES or missing or isinstance(seen.error, NOT_COUNTED)):
        yield f"raises {type(seen.error).__name__}: {str(seen.error)[:80]}"
    acting = seen.ran - LOOKS - excused
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
        if belief.new and seen.references:
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
        if not seen.ran:
            continue
        asked = sorted(seen.ran - {name for name, _ in mode})
        more = [(mode | {(name, "absent")}, exact) for name in asked]
        more += [(mode | {(name, "raises")}, exact) for name in asked]
        more += [(mode, True)] if asked and not exact else []
        waiting += [one for one in more if one not in tried]
        tried.update(more)


def shown(value: object) -> str:
    """A value in a message."""
    text = type(value).__name__
    return f"{value!r:.60}" if type(value) in (int, str, bytes, float) and value != HUGE else text

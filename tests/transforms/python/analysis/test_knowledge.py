"""What the tables of `knowledge` declare, compared with what the interpreter does.

Every entry of every table is called in many forms: with objects whose methods note that they ran, with
generators, shared containers, subclasses, `None`, negative, far too large and ordinary values. The analysis
says what it believes of the statement `result = CALL`; then the call runs, with values that fit what the analysis
knows of its arguments. A belief that claims less than was observed fails.
"""

import codecs
import decimal
import importlib
import inspect
import itertools
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from codeaudit.transforms.dependence.effects import ACTS, BARRIER, OBSERVES, RAISES
from codeaudit.transforms.python.analysis import knowledge
from codeaudit.transforms.python.analysis.capabilities import BARRIERS
from codeaudit.transforms.python.analysis.looks import CLASS_OF, METHODS, READING, ShownLooks
from tests.support import hostile
from tests.transforms.python.analysis.beliefs import (
    HUGE,
    LOOKS,
    SPACE,
    Belief,
    Seen,
    believed,
    choices,
    compiled,
    named,
    observed,
    run,
    shown,
    unclaimed,
)

# ── what is excused ──────────────────────────────────────────────────────────────────────────────────────

EXCUSED: Final[Mapping[str, frozenset[str]]] = {
    # "to make text": a path is text, whatever its class makes of the methods of a text, and of `+=`.
    **{
        f"os.path.{name}": frozenset({*dir(str), *dir(bytes), "__iadd__"})
        for name in knowledge.MODULES["os.path"]
    },
    # "to read an item": `x[y]` of an unknown `x`, whose class decides what it makes of `y`.
    "operator.getitem": frozenset({"__index__"}),
}
"""Methods that are not special and only look, by the entry that calls them, where the first argument (of a path:
any argument) is of unknown type.
"""

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
    yield from (
        parameter.name
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    )


def forms(entry: str) -> Iterator[tuple[str, str]]:
    """The ways to call an entry: a callee and its arguments.

    All with one argument. Of the others a random third: what is declared wrongly shows in five of the forms with one
    argument, or, where an entry needs several, in twenty of the others.
    """
    first, *others = ENTRIES[entry]
    yield from ((first, arguments) for arguments in ONE)
    more = [(callee, arguments) for callee in others for arguments in ONE] + list(longer_forms(entry))
    yield from Random(entry).sample(more, len(more) // 3)


def longer_forms(entry: str) -> Iterator[tuple[str, str]]:
    """The ways to call an entry with several arguments or with keywords."""
    first = ENTRIES[entry][0]
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
    "CONVERTS_ITEMS", "CLASS_READERS", "ENCODINGS", "ERROR_HANDLERS",
    # `test_managers` probes it.
    "NEVER_SWALLOWING",
    # Types, modules and names: no calls whose effects they declare, or calls that keep their place.
    "BUILTINS", "NUMBERS", "PLAIN", "CONTAINERS", "KNOWN", "SEQUENCES", "MODULE_NAMES",
    "WELL_KNOWN", "ATTRIBUTES",
}  # fmt: skip


def entries() -> Mapping[str, Sequence[str]]:
    """All entries of the tables, each with the expressions that are called."""
    spelt: dict[str, Sequence[str]] = {}
    for table in BUILTIN_TABLES:
        for key in getattr(knowledge, table):
            name = key[0] if isinstance(key, tuple) else key
            spelt[name] = (name,)
    for name in (*knowledge.STR_METHODS, *knowledge.RAISING_STR_METHODS, "join"):
        spelt[f"str().{name}"] = [f"{receiver}.{name}" for receiver in RECEIVERS["str"]]
    for kind, methods in knowledge.METHOD_EFFECTS.items():
        for name in methods:
            spelt[f"{kind}().{name}"] = [f"{receiver}.{name}" for receiver in RECEIVERS[kind]]
    for module, functions in knowledge.MODULES.items():
        spelt |= {f"{module}.{name}": (f"{module}.{name}",) for name in functions}
    return spelt


ENTRIES: Final = dict(sorted(entries().items()))
"""Sorted, because workers of the tests must agree on the order."""


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
    excused = EXCUSED.get(entry, frozenset()) if unknown else frozenset()
    looks: set[str] = set()
    for makers in choices(entry, names):
        for seen in observed(code, names, makers, belief):
            looks |= seen.ran & LOOKS
            for mistake in unclaimed(entry, belief, seen, excused):
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


@pytest.mark.thinned(1)
@pytest.mark.parametrize("entry", ENTRIES)
def test_what_is_seen_is_declared_and_what_observes_nothing_is_the_same_elsewhere(
    entry: str, tmp_path: Path
) -> None:
    faults: list[str] = []
    for callee, arguments in forms(entry):
        faults += mistakes(entry, callee, arguments)
        faults += differences(entry, f"{callee}({arguments})", tmp_path)
    assert not faults, "\n".join(faults[:40])


def differences(entry: str, expression: str, folder: Path) -> Iterator[str]:
    """Where a call that observes nothing, as the analysis says, gives something else."""
    if believed(expression).flags & (OBSERVES | RAISES | ACTS) or entry == "id":
        return
    code, names = compiled(expression), named(expression)
    for makers in choices(entry, names):
        runs = []
        for place in (nullcontext(), elsewhere(folder)):
            values = {name: maker() for name, maker in zip(names, makers, strict=True)}
            with place:
                runs.append(told(run(code, values)))
        if runs[0] != runs[1]:
            yield f"{expression}: {runs[0]}, elsewhere {runs[1]}"


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


@pytest.mark.parametrize(("attribute", "kind"), knowledge.ATTRIBUTES.items())
def test_attributes_of_modules_have_exactly_their_type(attribute: str, kind: str) -> None:
    module, _, name = attribute.rpartition(".")
    member = getattr(importlib.import_module("numpy" if module == "np" else module), name)
    assert type(member).__name__ == kind


@pytest.mark.thinned(60)
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


@pytest.mark.thinned(20)
@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if "()." in entry])
def test_a_method_is_known_only_where_the_type_is_certain(entry: str) -> None:
    method = entry.partition(").")[2]
    for receiver in UNCERTAIN:
        for arguments in ("", "2"):
            assert believed(f"{receiver}.{method}({arguments})").flags & ACTS, receiver


@pytest.mark.parametrize("name", sorted(BARRIERS))
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
    belief = Belief(0, frozenset(), kind, frozenset({"xs"}), frozenset(), new="reachable" in claimed)
    callee = call.partition("(")[0]
    names = named(call)
    faults = {
        mistake
        for makers in choices(callee, names)
        for seen in observed(compiled(call), names, makers, belief)
        for mistake in unclaimed(callee, belief, seen)
    }
    assert any(claimed in mistake for mistake in faults), faults

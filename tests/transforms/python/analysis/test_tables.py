"""Every number and every type in the tables of `knowledge`, and every row of `_builtin`, against the interpreter.

`test_knowledge` finds what the tables claim too little of. These tests also find what they claim too much of, so
that no entry can change without being noticed.
"""

import builtins
import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import pytest

from codeaudit.transforms.dependence.effects import ACTS, LOOKS_UP, OBSERVES
from codeaudit.transforms.python.analysis import knowledge
from codeaudit.transforms.python.analysis.knowledge import (
    METHOD_EFFECTS,
    STR_ARGUMENTS,
    STR_METHODS,
    MethodEffect,
)
from codeaudit.transforms.python.analysis.looks import ShownLooks
from tests.transforms.python.analysis.beliefs import believed, choices, compiled, run, unclaimed

# ── methods of containers ────────────────────────────────────────────────────────────────────────────────

RECEIVERS: Final[Mapping[str, Sequence[Callable[[], Any]]]] = {
    "list": [lambda: [2, 1], list], "dict": [lambda: {1: 2}, dict], "set": [lambda: {1}, set],
}  # fmt: skip
ARGUMENTS: Final[Sequence[Callable[[], Any]]] = [
    lambda: 1,
    lambda: 0,
    lambda: "a",
    lambda: [3],
    lambda: {3: 4},
]
METHODS: Final = [(kind, name) for kind, methods in METHOD_EFFECTS.items() for name in methods]
ANY_NUMBER: Final = {("set", "update")}
"""Those that take any number of arguments, of which the table knows one."""
ITEMS: Final = {"pop", "get", "setdefault"}
"""Those that give what the container holds, or what they are given."""


def calls(kind: str, name: str, count: int) -> Iterator[tuple[Any, Any, Any, BaseException | None]]:
    """Calls with so many arguments: the receiver before and after, the result, and what was raised."""
    for receiver in RECEIVERS[kind]:
        for makers in itertools.product(ARGUMENTS, repeat=count):
            before, after, result, error = receiver(), receiver(), None, None
            try:
                result = getattr(after, name)(*(maker() for maker in makers))
            except Exception as raised:
                error = raised
            yield before, after, result, error


def taken(kind: str, name: str, count: int) -> bool:
    """Whether a method takes so many arguments."""
    return not all(isinstance(error, TypeError) for _, _, _, error in calls(kind, name, count))


class _Logged:
    """An object that notes what is asked of it."""

    def __init__(self, asked: set[str]) -> None:
        self.asked = asked

    def __eq__(self, other: object) -> bool:
        self.asked.add("compares")
        return False

    def __lt__(self, other: object) -> bool:
        self.asked.add("compares")
        return False

    def __hash__(self) -> int:
        self.asked.add("hashes")
        return 5

    def __iter__(self) -> Iterator[int]:
        self.asked.add("iterates")
        return iter(())


def flags(kind: str, name: str, effect: MethodEffect) -> str:
    """The one word for what a method may do besides its work."""
    asked = set[str]()
    inside = {"list": [_Logged(asked), _Logged(asked)], "dict": {}, "set": set()}[kind]
    given = [_Logged(asked)] * effect.least
    try:
        getattr(inside, name)(*given)
    except Exception:
        assert effect.flags in ("raises", "compares")
    if "iterates" in asked:
        return "iterates"
    if "compares" in asked and kind == "list":
        return "compares"
    hashable = [maker for maker in ARGUMENTS if not isinstance(maker(), list | dict)]
    for receiver in RECEIVERS[kind]:
        for makers in itertools.product(hashable, repeat=effect.least):
            try:
                getattr(receiver(), name)(*(maker() for maker in makers))
            except Exception:
                return "raises"
    return "hashes" if "hashes" in asked else ""


@pytest.mark.parametrize(("kind", "name"), METHODS)
def test_a_method_of_a_container_does_what_its_entry_says(kind: str, name: str) -> None:
    effect = METHOD_EFFECTS[kind][name]
    counts = [count for count in range(5) if taken(kind, name, count)]
    if (kind, name) in ANY_NUMBER:
        assert counts == [0, 1, 2, 3, 4]
        counts = [1]
    assert counts == [*range(effect.least, effect.most + 1)]
    seen = [call for count in counts for call in calls(kind, name, count)]
    assert effect.changes == any(before != after for before, after, _, _ in seen)
    kinds = {
        type(result).__name__.lower().removesuffix("type") for _, _, result, error in seen if error is None
    }
    known = {*knowledge.KNOWN} & kinds if name not in ITEMS else set()
    assert effect.gives == (known.pop() if known else None)
    assert effect.flags == flags(kind, name, effect)


# ── methods of texts ─────────────────────────────────────────────────────────────────────────────────────

TEXTS: Final = ("", "a", "ab", " B1", "\ud800", "ß\n")
TRUTHS: Final = frozenset({"splitlines"} if sys.version_info >= (3, 12) else ())
"""Methods of texts that ask their argument for its truth. Before, they asked it for a number."""


@pytest.mark.parametrize("name", STR_METHODS)
def test_a_method_of_a_text_takes_so_many_texts_and_gives_its_type(name: str) -> None:
    never = set()
    for count in range(4):
        raised = False
        for receiver, *given in itertools.product(TEXTS, *[TEXTS] * count):
            try:
                answer = getattr(receiver, name)(*given)
            except (TypeError, ValueError):
                raised = True
                break
            assert type(answer).__name__ == STR_METHODS[name]
        if not raised:
            never.add(count)
    if name in TRUTHS:
        never -= {1}  # what the tables say of older releases holds, too
    assert never == STR_ARGUMENTS.get(name, {0})


class _Index:
    """An object that is nothing but a number."""

    def __init__(self) -> None:
        self.asked = False

    def __index__(self) -> int:
        self.asked = True
        return 1


def converted(receiver: object, name: str) -> tuple[set[int], int]:
    """The arguments that a method asks for a number, and how many it takes."""
    places, most = set(), 0
    for count in range(1, 5):
        for place, others in itertools.product(range(count), itertools.product(("a", 1), repeat=count - 1)):
            asked = _Index()
            with contextlib.suppress(TypeError, ValueError, LookupError):
                getattr(receiver, name)(*others[:place], asked, *others[place:])
            if asked.asked:
                places.add(place)
        for given in itertools.product(("a", 1), repeat=count):
            with contextlib.suppress(TypeError):
                with contextlib.suppress(ValueError, LookupError):
                    getattr(receiver, name)(*given)
                most = count
    return places, most


@pytest.mark.parametrize(
    ("kind", "name"),
    [*(("str", name) for name in (*STR_METHODS, *knowledge.RAISING_STR_METHODS) if name not in ("translate", "format_map")),
     *METHODS],
)  # fmt: skip
def test_the_arguments_that_are_indices_are_converted(kind: str, name: str) -> None:
    receiver: object = {"str": "ab", "list": [5], "dict": {}, "set": set()}[kind]
    place = knowledge.INDICES.get((kind, name), slice(0))
    places, most = converted(receiver, name)
    assert places == (set() if name in TRUTHS else {*range(most)[place]})


# ── builtins ─────────────────────────────────────────────────────────────────────────────────────────────

ONE: Final = ("i", "f", "k", "u", "o", "z", "p", "r", "xs", "ys", "d", "e", "s", "t")
TWO: Final = ("i", "f", "k", "o")
"""Variables of certain types; `ys`, `e` and `t` are containers that other code may change."""
CALLED: Final = sorted(
    {
        *(name for name, _ in knowledge.PURE), *knowledge.STATE_TESTS, *knowledge.CONVERSIONS, *knowledge.READ_ONLY,
        *knowledge.CONSUMING, *knowledge.LAZY, *knowledge.EMPTY_CALLS,
    } - {"super"}
)  # fmt: skip
PLAIN: Final = "i f k u o z"
CERTAIN: Final[Mapping[str, tuple[str | None, str]]] = {
    "abs": ("int", "i o"), "bool": ("bool", PLAIN), "float": ("float", "f o"), "int": ("int", "i o"),
    "repr": ("str", "f k u o z"), "str": ("str", "f k u o z"), "len": ("int", "k u p xs d s"),
    "list": ("list", "k u p xs d s"), "tuple": ("tuple", "k u p xs d s"), "dict": ("dict", "d"),
    "range": ("range", "i i,i"), "max": ("", "i,i f,f k,k"), "min": ("", "i,i f,f k,k"), "id": ("int", " ".join(ONE)),
    "callable": ("bool", " ".join(ONE)), "type": (None, " ".join(ONE)),
}  # fmt: skip
"""By builtin: the type of its result, and the arguments for which it certainly does nothing else and never raises.
Of `max` and `min` the type is that of the arguments. All that make an empty value do so without arguments.
"""


def certain() -> dict[str, str | None]:
    """The calls of `CERTAIN` with the types of their results."""
    types: dict[str, str | None] = {f"{name}()": name for name in knowledge.EMPTY_CALLS} | {"object()": None}
    kinds = {"i": "int", "f": "float", "k": "str"}
    for name, (kind, given) in CERTAIN.items():
        for arguments in given.split():
            call = f"{name}({arguments.replace(',', ', ')})"
            types[call] = kinds[arguments[0]] if kind == "" else kind
    return types | {"abs(f)": "float"}


def grid(name: str) -> Iterator[tuple[str, Sequence[str]]]:
    """The calls of a builtin with none, one and two variables."""
    for arguments in ((), *((argument,) for argument in ONE), *itertools.product(TWO, repeat=2)):
        yield f"{name}({', '.join(arguments)})", list(dict.fromkeys(arguments))


def test_super_without_arguments_only_reads_a_class_and_a_parameter() -> None:
    assert believed("super()").flags == LOOKS_UP
    assert believed("super(a)").flags & believed("super(a, b)").flags & OBSERVES & ~LOOKS_UP


def test_the_calls_that_certainly_do_nothing_else() -> None:
    """No more, and no less."""
    beliefs = {call: believed(call) for name in CALLED for call, _ in grid(name)}
    assert {call: belief.kind for call, belief in beliefs.items() if not belief.flags} == certain()


SLOW: Final = {"pow", "round"}
"""They compute for hours with huge numbers."""


@pytest.mark.parametrize("name", CALLED)
def test_a_builtin_gives_what_the_analysis_says(name: str) -> None:
    for call, names in grid(name):
        belief, code = believed(call), compiled(call)
        for makers in itertools.islice(choices(name, names), 12):
            values = {name: maker() for name, maker in zip(names, makers, strict=True)}
            if name in SLOW and any(isinstance(value, int) and abs(value) > 9 for value in values.values()):
                continue
            faults = list(unclaimed(name, belief, run(code, values, belief.owned)))
            assert not faults, (call, faults)


FUNCTIONS: Final = [
    (module, name, use) for module, uses in knowledge.MODULES.items() for name, use in uses.items()
]


@pytest.mark.thinned(40)
@pytest.mark.parametrize(("module", "name", "use"), FUNCTIONS)
def test_a_function_that_looks_acts_where_methods_of_the_data_model_act(
    module: str, name: str, use: knowledge.ArgumentUse
) -> None:
    """`operator.add(a, b)` runs `__add__`; `functools.partial(a, b)` runs nothing."""
    shown = ShownLooks(methods=True)
    for given in ("a", "a, b"):
        assert bool(believed(f"{module}.{name}({given})", shown).flags & ACTS) is (use != "keeps")
    acting = use in ("converts", "first", "each", "describes", "compiles", "pairs")
    assert bool(believed(f"{module}.{name}(a, b)").flags & ACTS) is acting


# ── sets of names ────────────────────────────────────────────────────────────────────────────────────────


def test_the_sets_of_types() -> None:
    """A type is plain if its values hold nothing, a container if its contents change, a sequence if it has an order."""
    types = {
        name: getattr(builtins, name)
        for name in knowledge.KNOWN
        if isinstance(getattr(builtins, name, None), type)
    }
    assert {*knowledge.KNOWN} - {*types} == {"none", "ellipsis", "function"}
    assert {name for name, kind in types.items() if issubclass(kind, int | float)} == knowledge.NUMBERS
    assert {name for name, kind in types.items() if kind.__hash__ is None} == knowledge.CONTAINERS
    assert {
        name
        for name, kind in types.items()
        if hasattr(kind, "__getitem__") and name not in knowledge.CONTAINERS
    } == knowledge.SEQUENCES
    assert knowledge.KNOWN - knowledge.CONTAINERS - {"tuple", "range", "function"} == knowledge.PLAIN
    empty = {}
    for name, kind in types.items():
        try:
            empty[name] = kind()
        except TypeError:
            continue
    assert {*empty} == knowledge.EMPTY_CALLS
    assert not any(empty.values())


def test_the_names_that_mean_something_elsewhere() -> None:
    assert {"len", "math", "np", "ValueError"} <= knowledge.WELL_KNOWN
    assert {"math", "np"} <= knowledge.MODULE_NAMES
    assert "len" not in knowledge.MODULE_NAMES
    assert {
        name for name in knowledge.BUILTINS if isinstance(getattr(builtins, name), type)
        and issubclass(getattr(builtins, name), BaseException)
    } == knowledge.EXCEPTIONS  # fmt: skip


KEYWORDS: Final = ("name", "path", "obj", "key", "reverse", "default", "start", "k")


def takes(callee: Callable[..., object], keyword: str, *arguments: object) -> bool:
    """Whether a callee takes a keyword, with an argument of some type."""
    for value in (None, 1):
        try:
            callee(*arguments, **{keyword: value})
        except (TypeError, ValueError) as error:
            if (
                "unexpected keyword" in str(error)
                or "takes no keyword" in str(error)
                or "invalid keyword" in str(error)
            ):
                return False
            continue
        return True
    return False


@pytest.mark.parametrize("name", sorted(knowledge.EXCEPTIONS))
def test_the_keywords_of_exceptions(name: str) -> None:
    made = getattr(builtins, name)
    assert {keyword for keyword in KEYWORDS if takes(made, keyword)} == knowledge.EXCEPTION_KEYWORDS.get(
        name, set()
    )


@pytest.mark.parametrize("name", [name for name in knowledge.CONSUMING if name != "dict"])
def test_the_keywords_of_what_consumes(name: str) -> None:
    keywords = {keyword for keyword in KEYWORDS if takes(getattr(builtins, name), keyword, [1])}
    assert keywords == knowledge.CONSUMING_KEYWORDS.get(name, set())

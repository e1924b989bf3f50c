"""Values taken apart and rebuilt: equal, of equal types, and nothing but builtin types from any message."""

import json
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.transforms.oracle.carry import CannotCarry, ValueReader, ValueWriter, exception_of

SHARED = [1]
VALUES: list[object] = [
    None, True, 0, -1, 1 << 62, 1 << 63, -(1 << 64), 10**5000, 0.0, -0.0, 1.5, float("inf"), 2j, complex(0.0, -0.0),
    "", "\ud800 ä\0", b"\xff", ..., range(1, 9, 3), (), (1, (2.0, "x")), [], [[]], {1, 2}, frozenset({(1,), "a"}), {},
    {"a": [1], (1, 2): {3: {4}}}, bytearray(b"x"), deque([1, 2], maxlen=3), deque(), Counter("abca"),
    OrderedDict(b=1, a=2), defaultdict(list, {1: [2]}), defaultdict(None, {1: 2}), [SHARED, SHARED, (SHARED,)],
]  # fmt: skip
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.integers() | st.text(), inner)
        | st.frozensets(st.integers() | st.text(), max_size=1)
    ),
    max_leaves=20,
)


def carried(value: object) -> Any:
    writer = ValueWriter()
    item = writer.item(value)
    nodes, item = json.loads(json.dumps([writer.nodes, item]))
    return ValueReader(nodes).item(item)


def shown(value: object) -> str:
    return repr(value) if type(value) is not int else hex(value)


@pytest.mark.thinned(12)
@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_a_value_arrives_with_its_types(value: object) -> None:
    arrived = carried(value)
    assert type(arrived) is type(value)
    assert shown(arrived) == shown(value)


@pytest.mark.slow
@given(PLAIN)
def test_every_plain_value_arrives(value: object) -> None:
    assert repr(carried(value)) == repr(value)


def test_what_is_one_object_stays_one() -> None:
    inner: list[Any] = []
    inner.append((inner, {"self": inner}))
    arrived = carried([inner, inner])
    assert arrived[0] is arrived[1]
    assert arrived[0][0][0] is arrived[0] is arrived[0][0][1]["self"]


class Text(str):
    __slots__ = ()


def _named_list() -> object:
    # A class that has everything of `list` but its identity.
    return type("list", (list,), {"__module__": "builtins", "__qualname__": "list", "__class__": list})()


@pytest.mark.parametrize(
    "value",
    [object(), Text("x"), lambda: 1, iter([]), list, _named_list(), [{1: (Text("x"),)}], ValueError(), defaultdict(print)],
    ids=range(9),
)  # fmt: skip
def test_what_is_not_builtin_is_not_carried(value: object) -> None:
    with pytest.raises(CannotCarry):
        carried(value)


@pytest.mark.thinned(12)
@pytest.mark.parametrize(
    ("nodes", "item"),
    [
        (None, 1), ([1], 1), ([["list"]], 1), ([["object", []]], 1), ([["list", 1]], 1), ([[[], []]], 1),
        ([["tuple", [{"node": 0}]]], {"node": 0}), ([["tuple", [{"node": 1}]], ["tuple", []]], 1),
        ([["set", [{"node": 0}]]], 1), ([["dict", [1]]], 1), ([["dict", [{"node": 0}, 1]]], 1),
        ([["frozenset", [{"node": 1}]], ["list", []]], 1), ([["bytearray", ["x"]]], 1), ([["bytearray", []]], 1),
        ([["deque", []]], 1), ([["deque", [-1]]], 1), ([["deque", ["x"]]], 1), ([["deque", [1 << 70]]], 1),
        ([["defaultdict", ["print"]]], 1), ([["defaultdict", []]], 1), ([["defaultdict", [{"node": 0}]]], 1),
        ([], []), ([], {}), ([], {"node": 0}), ([], {"node": True}), ([], {"own": 0}), ([], {"int": 1}),
        ([], {"int": "x"}), ([], {"bytes": "x"}), ([], {"bytes": 1}), ([], {"complex": [1]}),
        ([], {"range": [1, 2, 0]}), ([], {"range": [1, 2.5, 1]}), ([], {"ellipsis": 0, "node": 0}), ([], {"other": 1}),
    ],
)  # fmt: skip
def test_a_message_in_another_format_is_refused(nodes: object, item: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - its words do not matter
        ValueReader(nodes).item(item)


def test_only_the_own_objects_change_and_keep_their_kind() -> None:
    own = [1]
    reader = ValueReader([], {3: own})
    reader.change(3, ["list", [2, {"own": 3}]])
    assert own == [2, own]
    for number, content in ((4, ["list", []]), (3, ["set", []]), (3, None), (True, ["list", []])):
        with pytest.raises(ValueError):  # noqa: PT011 - its words do not matter
            reader.change(number, content)


@pytest.mark.parametrize(
    "told",
    [
        ("x", "object"),
        ("x", "print"),
        ("x", "nothing"),
        ("a b", "ValueError"),
        (1, "ValueError"),
        ("x", None),
    ],
)
def test_an_exception_is_of_a_builtin_type(told: tuple[object, object]) -> None:
    with pytest.raises(ValueError, match="no exception"):
        exception_of(*told, [])

"""Orders inside statements under announced assumptions."""

import pytest

from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.python.assumed import FAMILY
from codeaudit.transforms.python.assumed.orders import (
    EFFECTS,
    KEYS,
    REORDER_ANY_ITEMS,
    REORDER_ANY_KEYWORDS,
    SPREAD,
    SWAP_ANY_OPERANDS,
    TEXTS,
)
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.records import Origin, Perturbed, Sample
from codeaudit.transforms.registry import expand, transform_for
from tests.transforms.python.order.support import agrees, outcome, reasons, untouched, variants

HEAD = "def f(a, b, c):\n    return "


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        pytest.param(REORDER_ANY_KEYWORDS, "a(x=1, y=b)", "a(y=b, x=1)", id="keywords"),
        pytest.param(REORDER_ANY_KEYWORDS, "a(x=b.c, y=b[0])", "a(y=b[0], x=b.c)", id="values that look"),
        pytest.param(REORDER_ANY_ITEMS, "{'x': a, 'y': b}", "{'y': b, 'x': a}", id="a dict"),
        pytest.param(REORDER_ANY_ITEMS, "{a.x: 1, b: 2}", "{b: 2, a.x: 1}", id="keys of any type"),
        pytest.param(REORDER_ANY_ITEMS, "a in (1, b)", "a in (b, 1)", id="a tuple asked for anything"),
        pytest.param(REORDER_ANY_ITEMS, "isinstance(a, (b, int))", "isinstance(a, (int, b))", id="classes"),
        pytest.param(REORDER_ANY_ITEMS, "{a, b}", "{b, a}", id="a set"),
        pytest.param(SWAP_ANY_OPERANDS, "a * b", "b * a", id="a product"),
        pytest.param(SWAP_ANY_OPERANDS, "a + 1", "1 + a", id="a sum with a number"),
        pytest.param(SWAP_ANY_OPERANDS, "a.x < b.y", "b.y > a.x", id="a comparison"),
        pytest.param(SWAP_ANY_OPERANDS, "a == b", "b == a", id="equality"),
    ],
)
def test_orders(rule: PythonRule, before: str, after: str) -> None:
    assert variants(rule, HEAD + before) == {HEAD + after}
    made = outcome(rule, HEAD + before)
    assert isinstance(made, Perturbed)
    assert made.evidence == "analysis (assumed)"


@pytest.mark.parametrize(
    ("rule", "text", "reason"),
    [
        pytest.param(REORDER_ANY_KEYWORDS, "a(x=b(), y=c())", EFFECTS, id="keywords that act"),
        pytest.param(REORDER_ANY_KEYWORDS, "a(x=b(), y=c.d)", EFFECTS, id="one acts, one looks"),
        pytest.param(REORDER_ANY_KEYWORDS, "a(x=(d := 1), y=d)", EFFECTS, id="a walrus"),
        pytest.param(REORDER_ANY_KEYWORDS, "a(x=1, **b)", SPREAD, id="spread keywords"),
        pytest.param(REORDER_ANY_KEYWORDS, "a(x=1, y=2, *b)", SPREAD, id="a star that is evaluated first"),
        pytest.param(REORDER_ANY_KEYWORDS, "sorted(a, key=b, reverse=True)", None, id="a known callee"),
        pytest.param(REORDER_ANY_ITEMS, "{'x': a, **b}", SPREAD, id="a spread dict"),
        pytest.param(REORDER_ANY_ITEMS, "{1: a, True: b}", KEYS, id="equal keys"),
        pytest.param(REORDER_ANY_ITEMS, "{a: 1, a: 2}", KEYS, id="one key twice"),
        pytest.param(REORDER_ANY_ITEMS, "{'x': a(), 'y': b()}", EFFECTS, id="values that act"),
        pytest.param(REORDER_ANY_ITEMS, "a in (b(), c())", EFFECTS, id="items that act"),
        pytest.param(REORDER_ANY_ITEMS, "[a, b]", None, id="a list that is kept"),
        pytest.param(REORDER_ANY_ITEMS, "isinstance(a, (str, int))", None, id="builtin classes"),
        pytest.param(SWAP_ANY_OPERANDS, "a + b", TEXTS, id="texts may be joined"),
        pytest.param(SWAP_ANY_OPERANDS, "a - 1", None, id="a difference"),
        pytest.param(SWAP_ANY_OPERANDS, "a() * b()", EFFECTS, id="operands that act"),
        pytest.param(SWAP_ANY_OPERANDS, "a == 1", None, id="what another transform takes"),
        pytest.param(SWAP_ANY_OPERANDS, "a < b < c", None, id="a chain"),
    ],
)
def test_orders_refused(rule: PythonRule, text: str, reason: str | None) -> None:
    assert untouched(rule, HEAD + text)
    assert reasons(rule, HEAD + text) == ({reason} if reason else set())


def test_orders_by_execution_where_the_assumptions_hold() -> None:
    text = """\
def sized(width, height, color, shape): return width - height, color, shape
def f(a, b):
    known = {"one": a, "two": b, 3: [a]}
    tell = sized
    found = tell(height=a, width=b * 2, color=known["one"], shape=1 + b)
    if a in (b, 3, known) or isinstance(a, (float, sized.__class__)) or a * b >= 4 + a:
        found = found, a != b, {a, b, "x"} == {b, "x"}, a ^ 1
    return found, known["two"], len(known)
"""
    calls = [f"f({a}, {b})" for a in (0, 1, 3, -2) for b in (0, 1, 2)]
    for rule in (REORDER_ANY_KEYWORDS, REORDER_ANY_ITEMS, SWAP_ANY_OPERANDS):
        assert agrees(rule, text, *calls) > 2


def test_the_family_is_asked_for_by_name() -> None:
    names = set(FAMILY.transforms)
    assert all(entry.assumes for entry in FAMILY.transforms.values())
    assert names <= set(expand(["assumed"]))
    assert not names & set(expand(["all"]))
    assert not names & {part.name for part in transform_for("mixed/all", "python").parts}  # type: ignore[attr-defined]


def test_a_mixture_with_an_assumption_says_so() -> None:
    text = "def f(a, b):\n    x = 1\n    y = 2\n    return a(x=x, y=y)\n"
    sample = Sample(id="s", language="python", source=text, label=None, origin=Origin(path="", line=1))
    mixed = transform_for("mixed/order+assumed", "python")
    evidence = {
        frozenset(move.transform for move in variant.moves) >= {"reorder-any-keywords"}: variant.evidence
        for variant in perturb_one(sample, mixed, variants=6, seed=1)
        if isinstance(variant, Perturbed)
    }
    assert evidence == {True: "analysis (assumed)", False: "analysis"}

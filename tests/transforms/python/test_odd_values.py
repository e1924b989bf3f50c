"""What an operator gives depends on its operands: every edit of expressions, with operands of every shape and with
objects whose methods answer oddly, count how often they are asked, or raise.

In half of the programs the class of the objects stands in the text, so nothing that its methods do is assumed away.
Elsewhere they may only look (assumption 1 of `effects`): what they are asked is compared where the order of effects is
not at stake.
"""

from random import Random
from typing import Final

import pytest

from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.python import control_flow, dead_code, expressions, order, strings
from codeaudit.transforms.records import Origin, Perturbed, Sample
from codeaudit.transforms.registry import TRANSFORMS
from tests.support.odd_values import OPERATORS, PRELUDE, behaviour, calls, differing, functions

FREE_ORDER: Final = {
    name
    for family in (order.FAMILY, dead_code.FAMILY)
    for name, entry in family.transforms.items()
    if entry.kind == "preserving"
}
"""Transforms that rest on assumption 1: a look that changes nothing may come earlier, later or once more."""
LEFT_OUT: Final = {
    *("reorder-functions", "reorder-methods", "reorder-imports", "reorder-import-names", "reorder-globals"),
    *("unused-locals", "unreachable-branches", "no-op-statements", "after-return", "else-pass"),
}
"""Transforms that ask for no type."""
EDITING: Final = [
    name
    for family in (expressions.FAMILY, strings.FAMILY, control_flow.FAMILY, order.FAMILY, dead_code.FAMILY)
    for name, entry in family.transforms.items()
    if entry.kind == "preserving" and name not in LEFT_OUT
]
_CALL: Final = [("Odd('a', 'empty')", "Odd('b', 'arrays')", "[Odd('c', 'empty'), 1]")]


def variants(name: str, text: str, seed: int = 0) -> list[str]:
    """The text with every edit of a transform at once, or in two other orders."""
    sample = Sample(id="s", language="python", source=text, label=None, origin=Origin(path="", line=1))
    ordered = name in FREE_ORDER
    outcomes = perturb_one(
        sample,
        TRANSFORMS.get(name),
        variants=2 if ordered else 1,
        seed=seed,
        sites="auto" if ordered else "all",
    )
    return [outcome.source for outcome in outcomes if isinstance(outcome, Perturbed)]


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("operator", OPERATORS)
def test_odd_operands_give_and_do_the_same(operator: str) -> None:
    applied = 0
    for number in range(6):
        rng = Random(f"{operator} {number}")
        inside = number % 2 == 0
        text = PRELUDE * inside + functions(rng, operator, 8)
        given = calls(rng, 8)
        for name in EDITING:
            logged = inside or name not in FREE_ORDER
            for variant in variants(name, text, number):
                applied += 1
                before, after = (behaviour(source, given, told=logged) for source in (text, variant))
                assert not list(differing(before, after)), f"{name}\n{text}\n{variant}"
    assert applied > 10


@pytest.mark.thinned(5)
@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("double-negation", "return (a, 1) < (b, 2)"),
        ("double-negation", "o = [a] >= [b]\n    return o"),
        ("double-negation", "return (1, (a, 2)) > (1, (b, 2))"),
        ("double-negation", "return not not ([a] < [b])"),
        ("de-morgan", "return not ((a, 1) < (b, 2) and c)"),
        ("de-morgan", "o = (a,) < (b,)\n    return o and o"),
        ("negate-comparisons", "o = (a, 1) < (b, 2)\n    return o == True"),
        ("flip-comparisons", "o = (a, 1) < (b, 2)\n    return o < 2"),
        ("swap-operands", "o = (a, 1) < (b, 2)\n    return o + 1"),
        ("merge-comparisons", "o = ((a, 1) < (b, 2) and (b, 2) < (c, 1)) or a\n    return o"),
        ("split-comparisons", "n = (1, a)\n    return not ((a,) < n < (b,))"),
        ("percent-to-f-string", "return '<%s>' % ((a, 1) < (b, 2))"),
        ("expand-augmented", "n = 1\n    n += [a] < [b]\n    return n"),
        ("contract-augmented", "n = 1\n    n = n + ([a] < [b])\n    return n"),
        ("reorder-items", "o = (a, 1) < (b, 2)\n    return o in (1, 2, 0)"),
        (
            "reorder-cases",
            "match [a] < [b]:\n        case 1:\n            return 1\n        case 2:\n            return 2",
        ),
        (
            "reorder-branches",
            "o = [a] < [b]\n    if o == 1:\n        return 1\n    elif o == 2:\n        return 2",
        ),
        ("reorder-operands", "o = [a] < [b]\n    m = [b] < [a]\n    if o and m:\n        return 1"),
        ("reorder", "o = [a] < [b]\n    m = not o\n    k = f'{o}'\n    return m, k"),
        ("tuple-assignments", "o = [a] < [b]\n    m = 1\n    k = not o\n    return m, k"),
        ("dead-stores", "o = [a] < [b]\n    return 1"),
    ],
)
@pytest.mark.parametrize("answer", ["odd", "empty", "tuples", "numbers", "defers", "raises"])
def test_an_ordering_of_tuples_or_lists_gives_what_its_items_give(name: str, body: str, answer: str) -> None:
    given = [(f"Odd('a', '{answer}')", f"Odd('b', '{answer}')", f"Odd('c', '{answer}')"), *_CALL]
    text = f"{PRELUDE}def f0(a, b, c):\n    {body}\n"
    for seed in range(4):
        for variant in variants(name, text, seed):
            assert behaviour(variant, given) == behaviour(text, given), variant


@pytest.mark.parametrize(
    ("body", "sure"),
    [
        ("(n, 'x') < (n, s)", True), ("[len(s), 1] >= [n]", True), ("((1, n),) < ((2, 1),)", True),
        ("(1, n) <= (2,)", True), ("(a,) == (b,)", True), ("[a] != (b,)", True), ("{a} < {b}", True),
        ("{1: a} == {2: b}", True), ("a in (b, 1)", True), ("(1, a) < (2, n)", False), ("((a,),) < ((1,),)", False),
        ("(1, n) < (1, *a)", False), ("t < (1, 2)", False), ("a == 1", False), ("n < a", False),
        ("1 < n < 2", True), ("(1,) < (n,) < (a,)", False),
    ],
)  # fmt: skip
def test_an_ordering_is_a_bool_where_its_items_prove_it(body: str, sure: bool) -> None:
    """`double-negation` writes `not not` before a value that is certainly a bool."""
    text = f"def f0(a, b):\n    n = 3\n    s = 'text'\n    t = (1, a)\n    return {body}\n"
    forms = variants("double-negation", text)
    assert bool(forms) == sure
    assert all(f"not not {body}" in form for form in forms)

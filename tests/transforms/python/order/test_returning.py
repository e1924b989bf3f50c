"""The relation `returning`, by execution: same behaviour whenever the original raises nothing.

Every triple of statements that raise, act, test or catch runs in every legal order, on inputs that make each
of them raise in turn. Where the original returns, each order must return the same and act the same.
"""

from collections import Counter
from itertools import permutations, product
from typing import Any

import pytest

from codeaudit.transforms.dependence.orders import enumerate_orders
from codeaudit.transforms.python.analysis.program import PythonProgram, analyse
from codeaudit.transforms.python.order.reorder import REORDER, PythonOrdering
from codeaudit.transforms.reordering import order_move
from tests.support.compiled import compiled

STATEMENTS = (
    "p = 10 // a",
    "q = xs[b]",
    "log.append(c)",
    "act(a)",
    "r = look(b)",
    "int('7' if c else 'x')",
    "if a > 1: return 'left', p0",
    "if not b: raise KeyError(b)",
    "assert c",
    "try:\n        s = 1 // b\n        act(s)\n    except ZeroDivisionError:\n        act('caught')",
    "with quiet():\n        act(b)\n        t = 10 // c\n        act('after')",
    "for i in range(b): act(i); u = 3 // (c + 1)",
    "def inner():\n        act('in')\n        return 1 // a\n    v = run(inner)",
)
INPUTS = tuple(product((0, 1, 2), (0, 1, 2), (0, 1)))
SETUP = """\
import contextlib
def act(x): log.append(("act", x)); state[0] += 1
def look(x): return [1, 2][x] + state[0]
def run(f):
    try:
        return f()
    except ZeroDivisionError:
        return "none"
def quiet(): return contextlib.suppress(ZeroDivisionError)
"""


def program(statements: tuple[str, ...]) -> str:
    body = "".join(f"    {statement}\n" for statement in statements)
    return f"def f(a, b, c):\n    p0 = 0\n    xs = [1, 2]\n{body}    return log, state\n"


def behaviour(text: str, values: tuple[int, ...]) -> tuple[Any, ...]:
    space: dict[str, Any] = {"log": [], "state": [0]}
    exec(compiled(SETUP + text), space)
    try:
        return "returned", space["f"](*values), space["log"], space["state"]
    except Exception as error:
        return "raised", type(error)


def legal_texts(source: str) -> list[str]:
    program = analyse(source, dependence="returning")
    ordering = PythonOrdering(program)
    texts = []
    for site, block in enumerate(ordering.blocks):
        orders = list(enumerate_orders(block.predecessors)) if block.fixed is None else []
        texts += [text for order in orders[1:] if (text := ordering.text({site: order})) is not None]
    return texts


def compared(*statements: str) -> Counter[str]:
    """Every legal order of these statements against the original, on all inputs; how the original ends."""
    ends = Counter[str]()
    source = program(statements)
    texts = legal_texts(source)
    before = {values: behaviour(source, values) for values in INPUTS} if texts else {}
    for text in texts:
        for values, outcome in before.items():
            assert outcome[0] == "raised" or behaviour(text, values) == outcome, f"{source}\n{text}\n{values}"
            ends[outcome[0]] += 1
    return ends


@pytest.mark.slow
def test_every_legal_order_of_two_does_the_same_where_the_original_returns() -> None:
    ends = sum((compared(*two) for two in permutations(STATEMENTS, 2)), Counter[str]())
    assert min(ends["returned"], ends["raised"]) > 200


@pytest.mark.thinned(1)
@pytest.mark.slow
@pytest.mark.parametrize("first", STATEMENTS)
def test_every_legal_order_of_three_does_the_same_where_the_original_returns(first: str) -> None:
    rest = [statement for statement in STATEMENTS if statement != first]
    ends = sum((compared(first, *two) for two in list(permutations(rest, 2))[::2]), Counter[str]())
    assert ends["returned"], "nothing moved"


def order_of(*statements: str, dependence: Any = "returning") -> PythonProgram:
    return analyse(program(statements), dependence=dependence)


def may_swap(*statements: str, dependence: Any = "returning") -> bool:
    """Whether the third and fourth statement of the function may change places."""
    return not order_of(*statements, dependence=dependence).blocks[1].predecessors[3] >> 2 & 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("p = 10 // a", "q = b.size"),
        ("p = 10 // len(xs)", "q = xs[0]"),
        ("p = int('7')", "act(b)"),
        ("act(b)", "p = {'k': 1}['k']"),
    ],
)
def test_what_may_raise_passes_what_raises_or_acts(first: str, second: str) -> None:
    assert may_swap(first, second)
    assert not may_swap(first, second, dependence="strict")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("if a: return 1", "p = 10 // b"),
        ("if a: raise KeyError", "p = 10 // b"),
        ("if a: raise KeyError", "act(b)"),
        ("assert a", "p = 10 // b"),
        ("assert a", "act(b)"),
        ("try: s = 1 // b\n    except ArithmeticError: s = 0", "p = 10 // a"),
        ("p = 10 // a", "try: s = 1 // b\n    except ArithmeticError: s = 0"),
        ("act(a)", "act(b)"),
        ("p = 10 // a", "act(b)"),
        ("act(a)", "r = look(b)"),
        ("act(a)", "return a"),
    ],
)
def test_guards_and_what_acts_keep_their_place(first: str, second: str) -> None:
    assert not may_swap(first, second)


@pytest.mark.parametrize(
    "around",
    [
        "try:\n        {}\n        {}\n    except ArithmeticError: pass",
        "with quiet():\n        {}\n        {}",
        "try:\n        if a:\n            {}\n            {}\n    finally: return 1",
        "def inner():\n        {}\n        {}\n    run(inner)",
    ],
)
def test_where_an_exception_may_be_caught_the_strict_relation_holds(around: str) -> None:
    texts = [
        program((around.format("p = 10 // a", "act(b)"),)),
        program((around.format("act(b)", "p = 10 // a"),)),
    ]
    for source in texts:
        for block, strict in zip(
            analyse(source, dependence="returning").blocks[2:], analyse(source).blocks[2:], strict=True
        ):
            assert block.predecessors == strict.predecessors


def test_the_promise_is_in_the_name_the_kind_and_the_evidence() -> None:
    source = program(("p = 10 // a", "q = b.size", "act(p)"))
    for dependence, kind, evidence in (
        ("returning", "preserving", "analysis (returning)"),
        ("paper", "paper", "parsed"),
    ):
        transform = REORDER.under(dependence)  # type: ignore[arg-type]
        assert (transform.name, transform.kind) == (f"{dependence}/reorder", kind)
        ordering = transform.ordering(source)
        order = [0, 1, 3, 2, 4, 5]
        result = transform.apply(source, (order_move(ordering, 1, order),))
        assert getattr(result, "evidence", "") == evidence
    assert REORDER.under("strict") == REORDER

"""Neighbouring branches that exclude each other may change places."""

import pytest

from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.python.analysis.program import analyse

KINDS = "n = len('ab')\n    t = 'k'\n    done = bool(n)\n    "


def swapped(
    first: str, second: str, *, dependence: Dependence = "strict", header: str = "f(x, y, xs)"
) -> bool:
    """Whether two statements may change places."""
    text = f"def {header}:\n    {KINDS}{first}\n    {second}\n    return x\n"
    block = analyse(text, dependence=dependence).root.statements[0].parts[1]
    assert not isinstance(block, int)
    return not block.predecessors[4] & 0b1000


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("x is None", "x is not None"),
        ("x is not None", "x is None"),
        ("not x is None", "x is None"),
        ("x is None and y", "x is not None and y()"),
        ("n == 1", "n == 2"),
        ("n == 1", "n != 1"),
        ("t == 'a'", "t == 'b' and y()"),
        ("done", "not done"),
        ("n", "not n"),
        ("not not n", "not n"),
    ],
)
@pytest.mark.parametrize("dependence", ["strict", "returning"])
def test_branches_of_which_one_runs_may_change_places(
    first: str, second: str, dependence: Dependence
) -> None:
    assert swapped(f"if {first}: y()", f"if {second}: xs()", dependence=dependence)
    assert swapped(f"if {first}: return y()", f"if {second}: raise y", dependence=dependence)
    assert not swapped(f"if {first}: y()", "xs()", dependence=dependence)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("if x is None: y()", "if y is not None: xs()", id="two variables"),
        pytest.param("if x is None: y()", "if x is None: xs()", id="the same test"),
        pytest.param("if x is not None: y()", "if x is not None: xs()", id="the same test, not"),
        pytest.param("if n != 1: y()", "if n != 2: xs()", id="both differ"),
        pytest.param("if n == 1: y()", "if n == True: xs()", id="two names of one number"),
        pytest.param("if n == 1: y()", "if n: xs()", id="two kinds of test"),
        pytest.param("if x == 1: y()", "if x == 2: xs()", id="a foreign object may equal both"),
        pytest.param("if x: y()", "if not x: xs()", id="a foreign object may change its mind"),
        pytest.param("if x is None: x = y()", "if x is not None: xs()", id="the first binds the variable"),
        pytest.param("if x is None: xs()", "if x is not None: x = y()", id="the second binds the variable"),
        pytest.param("if x is None: del x", "if x is not None: xs()", id="the first unbinds it"),
        pytest.param("if x is None and (x := y()): xs", "if x is not None: xs()", id="the test binds it"),
        pytest.param("if x is None or y: y()", "if x is not None: xs()", id="or"),
        pytest.param("if y and x is None: y()", "if x is not None: xs()", id="the test comes second"),
        pytest.param("if x is None: y()\n    else: xs()", "if x is not None: xs()", id="else runs, too"),
        pytest.param("while x is None: y()", "if x is not None: xs()", id="a loop"),
        pytest.param("if G is None: y()", "if G is not None: xs()", id="a global may be bound by the call"),
        pytest.param("if x.a is None: y()", "if x.a is not None: xs()", id="an attribute may be bound by the call"),
        pytest.param("if late is None: y()", "if late is not None: xs()", id="it may be unbound"),
    ],
)  # fmt: skip
def test_branches_that_may_both_run_keep_their_order(first: str, second: str) -> None:
    assert not swapped(first, second + "\n    late = 1")


def test_a_variable_that_a_closure_binds() -> None:
    text = """\
def f(x, y):
    def g():
        nonlocal x
        x = y
    if x is None: g()
    if x is not None: y()
    return x
"""
    block = analyse(text).root.statements[0].parts[1]
    assert not isinstance(block, int)
    assert block.predecessors[2] & 0b10


def test_what_depends_on_the_variable_stays_between() -> None:
    text = "def f(x, y):\n    if x is None: y()\n    x = y\n    if x is not None: y()\n"
    block = analyse(text).root.statements[0].parts[1]
    assert not isinstance(block, int)
    assert block.predecessors[1] & 1
    assert block.predecessors[2] & 0b10


def test_the_relation_of_the_paper_knows_names_only() -> None:
    assert not swapped("if x is None: y = 1", "if x is not None: xs = y", dependence="paper")
    assert swapped("if x is None: y = 1", "if x is not None: xs = y")

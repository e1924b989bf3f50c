"""Blanks around operators and behind commas."""

import pytest

from codeaudit.transforms.python.layout.lines import BREAK, SPACING
from tests.transforms.python.order.support import reasons, untouched, variants

CASES = {
    "around an operator": ("a = -b\n", {"a=-b\n", "a  =  -b\n"}),
    "around none": ("a=b\n", {"a = b\n", "a  =  b\n"}),
    "a sign is no operator": ("(-b)\n", set()),
    "behind a comma": ("[a, b]\n", {"[a,b]\n", "[a,  b]\n"}),
    "no blank before a bracket": ("[a,]\n", set()),
    "an operator and a sign": ("(a - -b)\n", {"(a--b)\n", "(a  -  -b)\n"}),
    "defaults and results": (
        "def f(a=1)->b: pass\n",
        {
            "def f(a = 1)->b: pass\n",
            "def f(a  =  1)->b: pass\n",
            "def f(a=1) -> b: pass\n",
            "def f(a=1)  ->  b: pass\n",
        },
    ),
    "stars of parameters": ("def f(*a): pass\n", set()),
    "words": ("(a in b is c)\n", set()),
    "inside of an f-string": ("f'{a+b}'\n", set()),
    "the soft keyword's operand": ("match -a:\n    case _: pass\n", {"match-a:\n    case _: pass\n"}),
}


@pytest.mark.parametrize("case", CASES)
def test_variants(case: str) -> None:
    before, after = CASES[case]
    assert variants(SPACING, before) >= after
    assert bool(variants(SPACING, before)) == bool(after)


@pytest.mark.parametrize("source", ["(a +\n b)\n", "(a  # b\n + c)\n", "[a,  # b\n c]\n"])
def test_a_line_break_stays(source: str) -> None:
    assert reasons(SPACING, source) == {BREAK}
    assert untouched(SPACING, source)

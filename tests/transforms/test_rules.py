"""Rules of sites: which moves fit together, and which orders a site offers."""

from itertools import permutations
from random import Random

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.records import Move
from codeaudit.transforms.rules import OPTIONS, OVERLAP, free, legal_orders

TEXT = "value = 1 + 2 + 3\n"


def _sites(_: object) -> list[Site]:
    places = {"1 + 2": "3", "2 + 3": "5", "value": "other"}
    patches = [Patch(TEXT.index(old), TEXT.index(old) + len(old), (new,)) for old, new in places.items()]
    return [Site(((patch,),), "", 1) for patch in patches]


def test_edits_that_overlap_are_refused() -> None:
    rule = PythonRule(name="shorten", find=_sites, nothing="none", unit="module")
    first, second, third = (Move(kind="shorten", site=site, value=(0,), note="") for site in range(3))
    assert rule.apply(TEXT, (first, second)) == Refused(OVERLAP)
    for moves, text in (((first, third), "other = 3 + 3\n"), ((second, third), "other = 1 + 5\n")):
        rewritten = rule.apply(TEXT, moves)
        assert isinstance(rewritten, Rewritten)
        assert rewritten.source == text
    # A proposal keeps one of the two that overlap, each equally often.
    drawn = [{move.site for move in rule.propose(TEXT, Random(seed))} for seed in range(20)]
    assert {frozenset(draw) for draw in drawn} == {frozenset({0, 2}), frozenset({1, 2})}


def test_orders_are_all_of_them_while_they_are_few() -> None:
    assert set(legal_orders(free(3))) == set(permutations(range(3))) - {(0, 1, 2)}


def test_of_many_orders_a_fixed_draw_is_offered() -> None:
    orders = legal_orders(free(6))
    assert orders == legal_orders(free(6))
    assert len(set(orders)) == OPTIONS
    assert tuple(range(6)) not in orders
    # The first ones that an enumeration gives all begin with the first part.
    assert len({order[0] for order in orders}) > 2


def test_drawn_orders_are_legal() -> None:
    # Part 0 stands before all others.
    orders = legal_orders((0, *[1] * 6))
    assert len(orders) == OPTIONS
    assert all(order[0] == 0 for order in orders)

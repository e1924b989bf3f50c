"""Statements that may change places because of types, whole numbers, addresses and names beside fields, and
those that look alike and may not."""

from typing import Final, NamedTuple

import pytest

from tests.support.c_running import NO_CODE, Versions, needs_gcc, outputs
from tests.transforms.c.test_traps import variants

STRUCTURES: Final = """
struct pair { int x; int y; double part; int *at; struct pair *next; };
struct nest { struct pair in; struct pair many[4]; struct nest *other; unsigned low : 4; unsigned high : 4; };
union both { struct pair pair; struct { int whole; } all; };
static struct pair one = { 1, 2, 3.5, 0, &one }, two = { 5, 6, 7.5, 0, &one };
static struct nest world = { { 1, 2 }, { { 3 } }, &world };
enum { FIRST, SECOND };
static int total = 4;
static double most = 1e30;
#define HIDDEN (one.x)
#define COUNT(n) (total += (n))
#define TAKE(n) (kept = &(n), 1)
static int *kept;
static int same(int n) { return n; }
"""
CALLS: Final = (
    "one = (struct pair){ 1, 2, 3.5, 0, &one }; world = (struct nest){ .in = { 1, 2 } }; total = 4; int got = f(&one, 3);"
    'printf("%d %d %d %d %d", got, one.x, one.y, total, world.many[3].x * 10 + world.many[3].y);'
)


class Pair(NamedTuple):
    """Statements of a function of `p` and `n`; with `relation` empty the strict one."""

    statements: str
    relation: str = "disjoint/"


FREE: Final = {
    "negative number": Pair("p->x = -1; p->y = n;"),
    "known by its use": Pair("p->x = total & 7; p->part = 2;"),
    "names beside fields": Pair("p->x = total; p->y = 3;"),
    "field of the same type": Pair("p->x = p->next->x; int k = p->y; n = k;"),
    "address of a part": Pair("p->x = 1; p->y = 2; same(*(&p->x));"),
    "one pointer is used in more cases": Pair("int a = p->x; int b = p->next->y; n = a ^ b;", ""),
    "used in any case": Pair("int a = p->x; int b = p->y ? p->y : n; n = a ^ b;", ""),
    "element of an array of structures": Pair("world.many[n].x = 2; world.many[n].y = 3;"),
    "division by a number": Pair("int a = n / 4; int b = n % 3; n = a ^ b;", ""),
    "address of a variable outside": Pair("p->x = 1; p->at = &total;"),
}
KEPT: Final = {
    "fraction that may not fit": Pair("p->x = n ? 1 : most; p->y = 2;"),
    "variable of fractions": Pair("p->x = most; p->y = 2;"),
    "fraction of a field": Pair("p->x = p->part; p->y = 2;"),
    "other pointer": Pair("p->x = 1; p->next->y = 2;"),
    "store before the pointer of more cases": Pair("p->x = n; p->next->y = n;", ""),
    "same field through another pointer": Pair("p->x = 1; two.next->x = 2;"),
    "whole beside its part": Pair("world.in.x = n; *p = world.in;"),
    "whole beside a part of an element": Pair(
        "world.many[0].x = n; struct nest k = world; p->y = k.many[0].x;"
    ),
    "outer field of an element": Pair(
        "world.other->many[1].x = n; struct nest k = *world.other; n = k.many[1].x;"
    ),
    "whole variable with named parts": Pair("one.x = n; two = one;"),
    "variable whose address is taken": Pair("int *q = &total; *q = 2; p->x = total;"),
    "macro that hides a field": Pair("p->x = 2; n = HIDDEN;"),
    "macro that assigns": Pair("COUNT(n); p->x = total;"),
    "macro that takes an address": Pair("int k = 1; TAKE(k); *kept = 2; n = k;"),
    "call": Pair("same(n); p->x = 9;"),
    "changed pointer": Pair("p->x = 1; p = p->next; p->x = 2;"),
    "guard": Pair("if (!p) return 1; p->x = n;"),
    "union": Pair("((union both *)p)->pair.x = n; ((union both *)p)->all.whole = 2;"),
    "bytes of a field": Pair("p->x = n; *(char *)p = 2;"),
    "pointer that an expression changes": Pair("n = p->x && (p = p->next) && p->y; p->x = 3;"),
}


def made(pair: Pair) -> str:
    """The function with these statements and nothing else that may move."""
    return f"int f(struct pair *p, int n)\n{{\n    {pair.statements}\n    return n;\n}}\n"


def moved(pair: Pair) -> list[str]:
    """All orders that were found."""
    return sorted(variants(f"{pair.relation}reorder", made(pair), STRUCTURES + made(pair), range(12)))


@needs_gcc
@pytest.mark.parametrize("flags", [("-O2",), ("-O1", "-fsanitize=address,undefined")])
def test_what_may_change_places_does_and_keeps_the_result(flags: tuple[str, ...]) -> None:
    orders = {name: moved(pair) for name, pair in FREE.items()}
    assert [name for name, found in orders.items() if not found] == []
    rows = [Versions([made(FREE[name]), *found], CALLS, STRUCTURES) for name, found in orders.items()]
    for (before, *after), name in zip(outputs(rows, *flags), orders, strict=True):
        assert before not in ("", NO_CODE), name
        assert set(after) == {before}, name


@pytest.mark.parametrize("name", KEPT)
def test_what_only_looks_alike_stays(name: str) -> None:
    assert moved(KEPT[name]) == []

"""Statements that may change places because of types, whole numbers, addresses and names beside fields, and
those that look alike and may not."""

from random import Random
from typing import Final, NamedTuple

import pytest

from codeaudit.transforms.dependence.blocks import ACT, SHARE, STORE
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.registry import transform_for
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
struct bits { unsigned low : 3; unsigned high : 5; volatile int watched; int tail[]; };
static volatile int watched;
static struct bits flags;
#define hidden one.y
#define U union
struct either { U { int whole_part; char byte_part; }; };
#define BOTH(a, b) union { a; b; }
struct both_of { BOTH(int big, char small); };
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
    "two bit fields of a word": Pair("flags.low = n; flags.high = 3;"),
    "array as a field": Pair("world.other = 0; n = world.many == 0;"),
}
KEPT: Final = {
    "fraction that may not fit": (STORE, Pair("p->x = n ? 1 : most; p->y = 2;")),
    "variable of fractions": (STORE, Pair("p->x = most; p->y = 2;")),
    "fraction of a field": (STORE, Pair("p->x = p->part; p->y = 2;")),
    "other pointer": (STORE, Pair("p->x = 1; p->next->y = 2;")),
    "store before the pointer of more cases": (ACT, Pair("p->x = n; p->next->y = n;", "")),
    "same field through another pointer": (SHARE, Pair("p->x = 1; two.next->x = 2;")),
    "whole beside its part": (ACT, Pair("world.in.x = n; *p = world.in;")),
    "whole beside a part of an element": (
        STORE,
        Pair("world.many[0].x = n; struct nest k = world; p->y = k.many[0].x;"),
    ),
    "outer field of an element": (
        STORE,
        Pair("world.other->many[1].x = n; struct nest k = *world.other; n = k.many[1].x;"),
    ),
    "whole variable with named parts": (ACT, Pair("one.x = n; two = one;")),
    "variable whose address is taken": (ACT, Pair("int *q = &total; *q = 2; p->x = total;")),
    "macro that hides a field": (ACT, Pair("p->x = 2; n = HIDDEN;")),
    "macro that assigns": (ACT, Pair("COUNT(n); p->x = total;")),
    "macro that takes an address": (ACT, Pair("int k = 1; TAKE(k); *kept = 2; n = k;")),
    "call": (ACT, Pair("same(n); p->x = 9;")),
    "changed pointer": (SHARE, Pair("p->x = 1; p = p->next; p->x = 2;")),
    "guard": (STORE, Pair("if (!p) return 1; p->x = n;")),
    "union": (ACT, Pair("((union both *)p)->pair.x = n; ((union both *)p)->all.whole = 2;")),
    "bytes of a field": (ACT, Pair("p->x = n; *(char *)p = 2;")),
    "pointer that an expression changes": (SHARE, Pair("n = p->x && (p = p->next) && p->y; p->x = 3;")),
    "volatile": (SHARE, Pair("watched = n; n = watched;")),
    "flexible array": (ACT, Pair("struct bits *q = (struct bits *)p; q->low = n; q->tail[0] = 2;")),
    "call that copies memory": (SHARE, Pair("p->x = n; __builtin_memcpy(&p->y, &p->x, 4);")),
    "one bit field": (SHARE, Pair("flags.low = n; flags.low = 2;")),
    "field beside its union in a macro": (
        ACT,
        Pair("((struct either *)p)->whole_part = n; ((struct either *)p)->byte_part = 2;"),
    ),
    "fields of a union that a macro makes of arguments": (
        ACT,
        Pair("((struct both_of *)p)->big = n; ((struct both_of *)p)->small = 2;"),
    ),
    "pointer to a union": (
        ACT,
        Pair("union unseen *u = (union unseen *)p; u->first = n; u->second = 2;"),
    ),
    "macro in small letters that hides a field": (ACT, Pair("p->y = 2; n = hidden;")),
    "whole variable beside a part": (STORE, Pair("p->x = n; struct pair k = one; n = k.x;")),
    "whole field beside a part": (STORE, Pair("p->x = n; struct pair k = world.in; n = k.x;")),
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
    assert [name for name, texts in orders.items() if not texts] == []
    rows = [Versions([made(FREE[name]), *texts], CALLS, STRUCTURES) for name, texts in orders.items()]
    for (before, *after), name in zip(outputs(rows, *flags), orders, strict=True):
        assert before not in ("", NO_CODE), name
        assert set(after) == {before}, name


@pytest.mark.parametrize("name", KEPT)
def test_what_only_looks_alike_stays_for_its_own_reason(name: str) -> None:
    reason, pair = KEPT[name]
    assert moved(pair) == []
    transform = transform_for(f"{pair.relation}reorder", "c").within(STRUCTURES + made(pair))
    assert transform.propose(made(pair), Random(0)) == Refused(reason)

"""Chains of comparisons with constants as `switch`."""

import pytest

from codeaudit.transforms.java.rules import IF_TO_SWITCH, SWITCH_TO_IF
from codeaudit.transforms.strategies.branches import LONE
from codeaudit.transforms.strategies.dialect import COMMENT
from codeaudit.transforms.strategies.switches import CHAIN, INNER_BREAK, LABEL, OPEN, SELECTOR, TWICE
from tests.transforms.java.support import everything, refused, variants


def test_a_chain_becomes_groups_that_do_not_fall_through() -> None:
    assert everything(
        IF_TO_SWITCH, "if (a == 1) b++; else if (2 == a || a == -3) { return 4; } else b--;"
    ) == ("switch (a) { case 1: { b++; break; } case 2: case -3: { return 4; } default: { b--; } }")
    assert everything(IF_TO_SWITCH, "if (c == 'x') { b++; } else if ((c == 98)) { }") == (
        "switch (c) { case 'x': { b++; break; } case 98: { break; } }"
    )


def test_what_compares_nothing_is_the_default() -> None:
    assert everything(
        IF_TO_SWITCH, "if (a == 1) b++; else if (a == 2) b--; else if (b == 3) return 1; else a = 0;"
    ) == (
        "switch (a) { case 1: { b++; break; } case 2: { b--; break; } "
        "default: { if (b == 3) return 1; else a = 0; } }"
    )


def test_a_string_that_is_there_is_switched_on() -> None:
    chain = 'if (t.equals("x")) { return 1; } else if ("y".equals(t)) { return 2; }'
    groups = 'switch (t) { case "x": { return 1; } case "y": { return 2; } }'
    for value in ("s + a", "s.trim()", "String.valueOf(a)", 'new String("x")', 'p ? "x" : "y"'):
        start = f"String t = {value}; "
        assert everything(IF_TO_SWITCH, start + chain) == start + groups
        assert everything(SWITCH_TO_IF, start + groups) == (
            start + 'if (t.equals("x")) { { return 1; } } else if (t.equals("y")) { { return 2; } }'
        )


def test_a_string_that_may_be_null_says_so_in_its_own_way() -> None:
    for value in ("s", "o.toString()", "g(a)", "p ? s : null"):
        start = f"String t = {value}; "
        assert (
            refused(IF_TO_SWITCH, start + 'if (t.equals("x")) b++; else if (t.equals("y")) b--;') == SELECTOR
        )
        assert refused(SWITCH_TO_IF, start + 'switch (t) { case "x": b++; }') == SELECTOR
    text = 'String t = "a"; if (t.equals("x")) b++; else if (t.equals("y")) b--; t = null;'
    assert refused(IF_TO_SWITCH, text) == SELECTOR
    assert refused(SWITCH_TO_IF, 'String t = s + ""; switch (t) { case NAME: b++; }') == LABEL


REFUSED = {
    "one comparison": ("if (a == 1) b++; else b--;", CHAIN),
    "two variables": ("if (a == 1) b++; else if (b == 2) a++;", CHAIN),
    "no constant": ("if (a == 1) b++; else if (a == b) b--;", CHAIN),
    "a long": ("if (l == 1) b++; else if (l == 2) b--;", CHAIN),
    "a long constant": ("if (a == 1L) b++; else if (a == 2L) b--;", CHAIN),
    "an Integer": ("Integer n = a; if (n == 1) b++; else if (n == 2) b--;", CHAIN),
    "a field": ("if (size == 1) b++; else if (size == 2) b--;", CHAIN),
    "another condition": ("if (a == 1 && p) b++; else if (a == 2) b--;", CHAIN),
    "a constant twice": ("if (c == 'a') b++; else if (c == 97) b--;", TWICE),
    "a constant that does not fit": ("byte x = 1; if (x == 1) b++; else if (x == 200) b--;", TWICE),
    "a negative character": ("if (c == 'a') b++; else if (c == -1) b--;", TWICE),
    "break of a loop": ("while (p) { if (a == 1) break; else if (a == 2) b--; }", INNER_BREAK),
    "a label": ("end: if (a == 1) break end; else if (a == 2) b--;", LONE),
    "a branch that may end": ("if (a == 1) { while (p == q) { b++; } } else if (a == 2) for (;;) { g(); }", None),
    "a branch of which nothing is known": ("if (a == 1) { while (YES) { b++; } } else if (a == 2) b--;", OPEN),
    "a comment": ("if (a == 1) b++; /* two */ else if (a == 2) b--;", COMMENT),
}  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_what_stays_a_chain(text: str, reason: str | None) -> None:
    if reason is not None:
        assert refused(IF_TO_SWITCH, text) == reason
    else:
        assert "case 2: { for (;;) { g(); } }" in everything(IF_TO_SWITCH, text)


def test_jumps_that_mean_the_same_in_a_switch_stay() -> None:
    loop = "for (int i : v) { if (i == 1) continue; else if (i == 2) { while (p) break; } }"
    assert variants(IF_TO_SWITCH, loop) == {
        "for (int i : v) { switch (i) { case 1: { continue; } case 2: { while (p) break; break; } } }"
    }

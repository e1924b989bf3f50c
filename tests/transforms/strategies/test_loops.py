"""Loops and switches of Java in another form."""

from codeaudit.transforms.java.arrays import FOR_EACH_TO_FOR, NOT_ARRAY
from codeaudit.transforms.java.rules import (
    DO_TO_WHILE_TRUE,
    FOR_TO_WHILE,
    SWITCH_TO_IF,
    WHILE_TO_FOR,
    WHILE_TO_WHILE_TRUE,
)
from codeaudit.transforms.strategies.branches import PATTERN
from codeaudit.transforms.strategies.loops import CONSTANT, CONTINUES, GUARDED, HIDDEN, NOT_ENDING
from codeaudit.transforms.strategies.switches import FALLS, INNER_BREAK, SELECTOR, SHARED, VALUE
from tests.transforms.java.support import everything, refused


def test_a_for_keeps_its_scope_and_its_update() -> None:
    assert everything(FOR_TO_WHILE, "for (int i = 0, j = 1; i < a; i++, j--) { b += i; }") == (
        "{ int i = 0, j = 1; while (i < a) { b += i; i++; j--; } }"
    )
    assert everything(FOR_TO_WHILE, "for (; ; ) { if (p) break; }") == "while (true) { if (p) break; }"
    assert (
        everything(FOR_TO_WHILE, "for (a = 0; a < b; a++) b--;") == "{ a = 0; while (a < b) { b--; a++; } }"
    )


def test_continue_makes_the_update_first() -> None:
    assert everything(FOR_TO_WHILE, "for (int i = 0; i < a; i++) { if (p) continue; b++; }") == (
        "{ int i = 0; while (i < a) { if (p) { i++; continue; } b++; i++; } }"
    )
    labelled = "outer: for (int i = 0; i < a; i++) { while (p) { if (q) continue outer; continue; } }"
    assert everything(FOR_TO_WHILE, labelled) == (
        "{ int i = 0; outer: while (i < a) { while (p) { if (q) { i++; continue outer; } continue; } i++; } }"
    )
    guarded = "for (int i = 0; i < a; i++) { try { if (p) continue; } finally { b++; } }"
    assert refused(FOR_TO_WHILE, guarded) == GUARDED


def test_an_update_neither_is_unreachable_nor_means_something_else() -> None:
    assert refused(FOR_TO_WHILE, "for (int i = 0; i < a; i++) { return 1; }") == NOT_ENDING
    assert refused(FOR_TO_WHILE, "for (int i = 0; i < a; i += step) { int step = 3; }") == HIDDEN
    assert refused(FOR_TO_WHILE, "for (; !(o instanceof String t); a++) { }") == PATTERN


def test_a_while_becomes_another_loop() -> None:
    assert everything(WHILE_TO_FOR, "while (a < b) a++;") == "for (; a < b; ) a++;"
    assert everything(WHILE_TO_WHILE_TRUE, "while (a < b) { a++; }") == (
        "while (true) { if (a >= b) break; a++; }"
    )
    assert refused(WHILE_TO_WHILE_TRUE, "while (true) { a++; }") == CONSTANT
    assert refused(WHILE_TO_WHILE_TRUE, "final boolean x = true; while (x) { a++; }") == CONSTANT
    assert refused(WHILE_TO_WHILE_TRUE, "while (FLAG) { a++; }") == CONSTANT
    assert refused(WHILE_TO_WHILE_TRUE, "while (!(o instanceof String t)) { o = s; }") == PATTERN


def test_a_do_tests_at_its_end() -> None:
    assert everything(DO_TO_WHILE_TRUE, "do { a++; } while (a < b);") == (
        "while (true) { { a++; } if (a >= b) break; }"
    )
    assert refused(DO_TO_WHILE_TRUE, "do { if (p) continue; a++; } while (a < b);") == CONTINUES
    assert refused(DO_TO_WHILE_TRUE, "do { return 1; } while (a < b);") == NOT_ENDING
    assert refused(DO_TO_WHILE_TRUE, "do { a++; } while (true);") == CONSTANT


def test_an_array_is_run_over_by_index() -> None:
    assert everything(FOR_EACH_TO_FOR, "for (final long x : v) { a += x; }") == (
        "{ int[] row = v; for (int spot = 0; spot < row.length; spot++) { final long x = row[spot]; a += x; } }"
    )
    assert refused(FOR_EACH_TO_FOR, "for (Object x : things) { a++; }") == NOT_ARRAY
    assert refused(FOR_EACH_TO_FOR, "java.util.List<Integer> t = g(); for (int x : t) a++;") == NOT_ARRAY


def test_a_switch_without_fall_through_becomes_ifs() -> None:
    assert everything(SWITCH_TO_IF, "switch (a) { case 1: case -2: b++; break; default: return 4; }") == (
        "if (a == 1 || a == -2) { b++; } else { return 4; }"
    )
    assert everything(SWITCH_TO_IF, "switch (c) { case 'x', 'y' -> b++; case 'z' -> { b--; } }") == (
        "if (c == 'x' || c == 'y') { b++; } else if (c == 'z') { b--; }"
    )
    assert refused(SWITCH_TO_IF, "switch (a) { case 1: b++; case 2: b--; break; }") == FALLS
    assert refused(SWITCH_TO_IF, "switch (a) { case 1: if (p) break; b++; break; }") == INNER_BREAK
    assert refused(SWITCH_TO_IF, "switch (a) { case 1: int x = 1; break; case 2: x = 2; break; }") == SHARED
    assert refused(SWITCH_TO_IF, 'switch (s) { case "x": b++; }') == SELECTOR
    assert refused(SWITCH_TO_IF, "switch (kind) { case ONE: b++; }") == SELECTOR
    assert refused(SWITCH_TO_IF, "int x = switch (a) { case 1 -> 2; default -> 3; };") == VALUE

"""Branches of Java in another arrangement."""

from random import Random

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.rules import (
    BRANCH_DROPPED,
    ELSE_TO_RETURN,
    FLATTEN_ELIF,
    IF_TO_TERNARY,
    INSERT_BRACES,
    INVERT_IF,
    MERGE_CONDITIONS,
    NEST_ELIF,
    REMOVE_BRACES,
    RETURN_TO_ELSE,
    SPLIT_CONDITIONS,
    TERNARY_TO_IF,
)
from codeaudit.transforms.strategies.branches import (
    DANGLING,
    DECLARES,
    IDLE,
    LEAVES,
    LONE,
    NO_ELSE,
    NOT_LEFT,
    NOTHING_BEHIND,
    UNSET,
)
from codeaudit.transforms.strategies.conditions import ARMS, IN_LAMBDA, NARROWING, TARGET
from tests.transforms.java.support import everything, method, refused, variants


def test_branches_are_exchanged_under_the_opposite() -> None:
    assert everything(INVERT_IF, "if (a < b) a++; else b++;") == "if (a >= b) { b++; } else a++;"
    assert everything(INVERT_IF, "if (!p) { a++; } else { b++; }") == "if (p) { b++; } else { a++; }"
    assert everything(INVERT_IF, "if(p){a++;}else{b++;}") == "if(!p){b++;}else{a++;}"
    assert everything(INVERT_IF, "if(p)a++;else b++;") == "if(!p){ b++; }else a++;"


def test_an_unordered_comparison_is_negated_as_a_whole() -> None:
    assert everything(INVERT_IF, "if (d < a) a++; else b++;").startswith("if (!(d < a))")
    assert everything(INVERT_IF, "if (d == a) a++; else b++;").startswith("if (d != a)")


def test_an_else_stays_with_its_if() -> None:
    inverted = everything(INVERT_IF, "if (p) { a++; } else if (q) b++;")
    assert inverted == "if (!p) { if (q) b++; } else { a++; }"
    assert refused(INVERT_IF, "if (p) a++;") == NO_ELSE
    assert refused(FLATTEN_ELIF, "if (a > 1) if (p) a++; else { if (q) b++; }") == DANGLING
    assert (
        everything(REMOVE_BRACES, "if (p) { if (q) { a++; } } else b++;")
        == "if (p) { if (q) a++; } else b++;"
    )
    both = "if (a > 1) { if (p) a++; else { if (q) b++; } } else a = 3;"
    assert refused(REMOVE_BRACES, both) == DANGLING
    loop = "if (p) { while (q) { if (a > 1) { a++; } } } else b++;"
    assert everything(REMOVE_BRACES, loop) == "if (p) { while (q) { if (a > 1) a++; } } else b++;"


def test_else_if_and_back() -> None:
    nested = "if (p) a++; else { if (q) b++; else a--; }"
    flat = "if (p) a++; else if (q) b++; else a--;"
    assert everything(NEST_ELIF, flat) == nested
    assert everything(FLATTEN_ELIF, nested) == flat


def test_what_follows_a_branch_that_leaves() -> None:
    flat, nested = "if (p) return 1; b++; return b;", "if (p) return 1; else { b++; return b; }"
    assert everything(RETURN_TO_ELSE, flat) == nested
    assert everything(ELSE_TO_RETURN, nested) == flat
    assert refused(RETURN_TO_ELSE, "if (p) b++; return b;") == NOT_LEFT
    assert refused(RETURN_TO_ELSE, "while (a > 0) { if (p) return 1; } ") == NOTHING_BEHIND
    assert refused(RETURN_TO_ELSE, "switch (a) { case 1: if (p) return 1; b++; } return 2;") == LONE


def test_names_do_not_leave_an_else_for_statements_that_use_them() -> None:
    hidden = "if (p) { return 1; } else { int size = 5; b += size; } size++; return b;"
    assert refused(ELSE_TO_RETURN, hidden) == DECLARES
    assert "size; return b;" in everything(ELSE_TO_RETURN, hidden.replace("size++; ", ""))
    assert refused(ELSE_TO_RETURN, hidden.replace("size++;", "int size = 4;")) == DECLARES


def test_braces() -> None:
    assert everything(INSERT_BRACES, "if (p) a++; else if (q) b++; else a--;") == (
        "if (p) { a++; } else if (q) { b++; } else { a--; }"
    )
    assert (
        everything(INSERT_BRACES, "for (int i : v) while (p) a++;")
        == "for (int i : v) { while (p) { a++; } }"
    )
    assert (
        everything(REMOVE_BRACES, "do{a++;}while(a<3);if(p){a++;}else{b++;}")
        == "do a++;while(a<3);if(p)a++;else b++;"
    )
    assert refused(REMOVE_BRACES, "if (p) { int x = 1; }").startswith("a declaration")


def test_arms_of_a_ternary_are_not_converted() -> None:
    assert everything(TERNARY_TO_IF, "int x = p ? a : b;") == "int x; if (p) { x = a; } else { x = b; }"
    assert everything(TERNARY_TO_IF, "return p ? 1 : 2;") == "if (p) { return 1; } else { return 2; }"
    assert everything(TERNARY_TO_IF, 's = p ? null : "x";') == 'if (p) { s = null; } else { s = "x"; }'
    assert refused(TERNARY_TO_IF, "Object x = p ? 1 : 2.5;") == ARMS
    assert refused(TERNARY_TO_IF, "Object x = p ? a : 'c';") == ARMS
    assert refused(TERNARY_TO_IF, "Integer x = p ? null : a;") == ARMS
    assert refused(TERNARY_TO_IF, "Integer x = p ? Integer.valueOf(1) : a;") == ARMS
    assert refused(TERNARY_TO_IF, "v[a++] = p ? 1 : 2;") == TARGET
    assert refused(TERNARY_TO_IF, "var x = p ? 1 : 2;") == TARGET
    assert refused(TERNARY_TO_IF, "Supplier<Object> x = () -> { return p ? 1 : 2; };") == IN_LAMBDA
    assert refused(TERNARY_TO_IF, "final int x = true ? 1 : 2;") == "a constant could change"


def test_statements_become_a_ternary_only_where_it_converts_nothing() -> None:
    assert everything(IF_TO_TERNARY, "if (p) a = 1; else a = b;") == "a = p ? 1 : b;"
    assert (
        everything(IF_TO_TERNARY, "if (p || q) { return a; } else { return b; }") == "return p || q ? a : b;"
    )
    assert refused(IF_TO_TERNARY, "if (p) o = 1; else o = 2.5;") == ARMS
    assert refused(IF_TO_TERNARY, "if (p) x = 1; else x = 2;") == NARROWING
    assert refused(IF_TO_TERNARY, "byte x; if (p) x = 1; else x = 2;") == NARROWING
    assert refused(IF_TO_TERNARY, "if (p) return 1; else return 2;", "static byte f(boolean p)") == NARROWING
    shadow = "if (o instanceof Integer size) { size = 1; } else { size = 2; }"
    assert refused(IF_TO_TERNARY, shadow).startswith("no if with")


def test_conditions_are_split_and_merged() -> None:
    assert everything(SPLIT_CONDITIONS, "if (p && (q || a > 1)) a++;") == "if (p) { if ((q || a > 1)) a++; }"
    assert variants(SPLIT_CONDITIONS, "if (p && q && a > 1) a++;") == {"if (p && q) { if (a > 1) a++; }"}
    assert everything(MERGE_CONDITIONS, "if (p || q) { if (a > 1) a++; }") == "if ((p || q) && a > 1) a++;"
    assert refused(SPLIT_CONDITIONS, "if (p && q) a++; else b++;") == "if with else"
    assert refused(MERGE_CONDITIONS, "if (p) { if (q) a++; else b++; }") == "if with else"


def test_an_else_that_does_something_is_dropped() -> None:
    assert everything(BRANCH_DROPPED, "if (a < b) a++; else b++;") == "if (a < b) a++;"
    assert everything(BRANCH_DROPPED, "if (a < b) { a++; } else { b++; }") == "if (a < b) { a++; }"
    assert refused(BRANCH_DROPPED, "if (a < b) a++;") == NO_ELSE
    assert refused(BRANCH_DROPPED, "if (a < b) a++; else { }") == IDLE
    assert refused(BRANCH_DROPPED, "if (a < b) a++; else return 1;") == LEAVES
    assert refused(BRANCH_DROPPED, "int n; if (p) n = 1; else n = 2; b = n;") == UNSET


def test_a_conditional_value_becomes_two_statements_with_one_blank_between_words() -> None:
    source = method("x = p ? a : b;")
    found = TERNARY_TO_IF.propose(source, Random(0))
    assert not isinstance(found, Refused)
    made = TERNARY_TO_IF.apply(source, found)
    assert isinstance(made, Rewritten)
    assert "  " not in made.source.replace("\n    ", "\n").replace("\n    ", "\n").replace("\n    ", "\n")

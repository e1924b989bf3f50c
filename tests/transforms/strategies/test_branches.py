"""Branches of Java in another arrangement."""

from random import Random

import pytest

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.rewriting import Rewriting
from codeaudit.transforms.java.rules import (
    BRANCH_DROPPED,
    ELSE_TO_RETURN,
    FLATTEN_ELIF,
    IF_INVERTED_WRONG,
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
    PATTERN,
    UNSET,
)
from codeaudit.transforms.strategies.conditions import ARMS, IN_LAMBDA, NARROWING, TARGET
from codeaudit.transforms.strategies.dialect import COMMENT
from codeaudit.transforms.strategies.logic import INFERRED
from tests.transforms.java.support import alone, everything, method, refused, variants


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
    moves = TERNARY_TO_IF.propose(source, Random(0))
    assert not isinstance(moves, Refused)
    made = TERNARY_TO_IF.apply(source, moves)
    assert isinstance(made, Rewritten)
    assert "  " not in made.source.replace("\n    ", "\n").replace("\n    ", "\n").replace("\n    ", "\n")


FORMS: dict[tuple[Rewriting, str], set[str]] = {
    (INVERT_IF, "if (p) a++; else b++;"): {"if (!p) { b++; } else a++;"},
    (INVERT_IF, "if (p) { a++; } else { b++; }"): {"if (!p) { b++; } else { a++; }"},
    (INVERT_IF, "if (p) a++; else { }"): {"if (!p) { } else a++;"},
    (INVERT_IF, "if (p) a++;"): {NO_ELSE},
    (INVERT_IF, "if (get(1)) a++; else b++;"): {INFERRED},
    (INVERT_IF, "if (p) a++; /* c */ else b++;"): {COMMENT},
    (INVERT_IF, "if (p) { /* c */ a++; } else b++;"): {"if (!p) { b++; } else { /* c */ a++; }"},
    (INVERT_IF, "if (o instanceof A t) a++; else b++;"): {"if (!(o instanceof A t)) { b++; } else a++;"},
    (NEST_ELIF, "if (p) a++; else if (q) b++;"): {"if (p) a++; else { if (q) b++; }"},
    (NEST_ELIF, "if (p) a++; else b++;"): set(),
    (NEST_ELIF, "if (p) if (q) a++;"): set(),
    (NEST_ELIF, "if (p) a++; else if (q) b++; else if (p) a--;"): {
        "if (p) a++; else { if (q) b++; else if (p) a--; }", "if (p) a++; else if (q) b++; else { if (p) a--; }",
    },
    (FLATTEN_ELIF, "if (p) a++; else { if (q) b++; }"): {"if (p) a++; else if (q) b++;"},
    (FLATTEN_ELIF, "if (p) a++; else { if (q) b++; else a--; }"): {"if (p) a++; else if (q) b++; else a--;"},
    (FLATTEN_ELIF, "if (p) a++; else { if (q) b++; a--; }"): set(),
    (FLATTEN_ELIF, "if (p) a++; else { while (q) b++; }"): set(),
    (FLATTEN_ELIF, "if (p) a++; else { }"): set(),
    (FLATTEN_ELIF, "if (p) a++; else b++;"): set(),
    (FLATTEN_ELIF, "if (p) { if (q) b++; }"): set(),
    (FLATTEN_ELIF, "if (p) a++; else { /* c */ if (q) b++; }"): {COMMENT},
    (FLATTEN_ELIF, "if (p) a++; else { if (q) b++; /* c */ }"): {COMMENT},
    (FLATTEN_ELIF, "if (p) a++; else if (q) b++; else { if (p) a--; }"): {"if (p) a++; else if (q) b++; else if (p) a--;"},
    (FLATTEN_ELIF, "while (p) if (q) a++; else { if (p) b++; }"): {DANGLING},
    (ELSE_TO_RETURN, "if (p) return 1; else return 2;"): {"if (p) return 1; return 2;"},
    (ELSE_TO_RETURN, "if (p) { return 1; } else { a++; return 2; }"): {"if (p) { return 1; } a++; return 2;"},
    (ELSE_TO_RETURN, "if (p) { throw e; } else a++; return 2;"): {"if (p) { throw e; } a++; return 2;"},
    (ELSE_TO_RETURN, "while (p) { if (q) continue; else a++; }"): {"while (p) { if (q) continue; a++; }"},
    (ELSE_TO_RETURN, "while (p) { if (q) break; else a++; }"): {"while (p) { if (q) break; a++; }"},
    (ELSE_TO_RETURN, "if (p) return 1;"): set(),
    (ELSE_TO_RETURN, "if (p) a++; else return 2;"): {NOT_LEFT},
    (ELSE_TO_RETURN, "if (p) if (q) return 1; else return 2; else a++;"): {LONE, "if (p) if (q) return 1; else return 2; a++;"},
    (ELSE_TO_RETURN, "if (p) { if (q) return 1; else return 2; } else a++;"): {
        "if (p) { if (q) return 1; else return 2; } a++;", "if (p) { if (q) return 1; return 2; } else a++;",
    },
    (ELSE_TO_RETURN, "while (p) if (q) return 1; else a++;"): {LONE},
    (ELSE_TO_RETURN, "switch (a) { case 1: if (q) return 1; else a++; }"): {LONE},
    (ELSE_TO_RETURN, "if (p) return 1; else { }"): {COMMENT},
    (ELSE_TO_RETURN, "if (p) return 1; /* c */ else a++;"): {COMMENT},
    (ELSE_TO_RETURN, "if (p) return 1; else { /* c */ a++; }"): {COMMENT},
    (ELSE_TO_RETURN, "if (p) return 1; else { a++; /* c */ }"): {COMMENT},
    (ELSE_TO_RETURN, "if (p) return 1; else { a++; /* c */ b++; }"): {"if (p) return 1; a++; /* c */ b++;"},
    (ELSE_TO_RETURN, "if (p) return 1; else { int n = 1; a = n; }"): {"if (p) return 1; int n = 1; a = n;"},
    (ELSE_TO_RETURN, "if (p) return 1; else { int n = 1; a = n; } n = 2;"): {DECLARES},
    (ELSE_TO_RETURN, "if (p) return 1; else { int n = 1; a = n; } int n = 2;"): {DECLARES},
    (ELSE_TO_RETURN, "int m = 2; if (p) return 1; else { int n = 1; a = n; } m = 3;"): {
        "int m = 2; if (p) return 1; int n = 1; a = n; m = 3;"
    },
    (ELSE_TO_RETURN, "if (p) return 1; else { if (q) return 2; else { int n = 1; } } n = 2;"): {DECLARES} | {
        "if (p) return 1; else { if (q) return 2; int n = 1; } n = 2;"
    },
    (ELSE_TO_RETURN, "if (p) return 1; else { b++; if (q) return 2; else { int n = 1; } } n = 2;"): {
        DECLARES, "if (p) return 1; else { b++; if (q) return 2; int n = 1; } n = 2;",
    },
    (RETURN_TO_ELSE, "if (p) return 1; return 2;"): {"if (p) return 1; else { return 2; }"},
    (RETURN_TO_ELSE, "if (p) { a++; return 1; } b++; return 2;"): {"if (p) { a++; return 1; } else { b++; return 2; }"},
    (RETURN_TO_ELSE, "if (p) return 1; else a++; return 2;"): set(),
    (RETURN_TO_ELSE, "if (p) a++; return 2;"): {NOT_LEFT},
    (RETURN_TO_ELSE, "if (p) if (q) return 1; return 2;"): {LONE, NOT_LEFT},
    (RETURN_TO_ELSE, "if (p) return 1;"): {NOTHING_BEHIND},
    (RETURN_TO_ELSE, "while (p) if (q) return 1;"): {LONE},
    (RETURN_TO_ELSE, "if (p) return 1; a++; /* c */"): {"if (p) return 1; else { a++; /* c */ }"},
    (RETURN_TO_ELSE, "if (p) return 1; /* c */ a++;"): {"if (p) return 1; else { /* c */ a++; }"},
    (INSERT_BRACES, "if (p) a++; else b++;"): {"if (p) { a++; } else b++;", "if (p) a++; else { b++; }"},
    (INSERT_BRACES, "if (p) { a++; } else if (q) b++;"): {"if (p) { a++; } else if (q) { b++; }"},
    (INSERT_BRACES, "while (p) a++;"): {"while (p) { a++; }"},
    (INSERT_BRACES, "do a++; while (p);"): {"do { a++; } while (p);"},
    (INSERT_BRACES, "for (;;) a++;"): {"for (;;) { a++; }"},
    (INSERT_BRACES, "for (int i : v) a++;"): {"for (int i : v) { a++; }"},
    (INSERT_BRACES, "for (int i : v) { a++; }"): set(),
    (INSERT_BRACES, "a++;"): set(),
    (REMOVE_BRACES, "if (p) { a++; } else { b++; }"): {"if (p) a++; else { b++; }", "if (p) { a++; } else b++;"},
    (REMOVE_BRACES, "if (p) { a++; b++; }"): set(),
    (REMOVE_BRACES, "if (p) { }"): set(),
    (REMOVE_BRACES, "{ a++; }"): set(),
    (REMOVE_BRACES, "if (p){a++;}"): {"if (p)a++;"},
    (REMOVE_BRACES, "if (p)a++;else{b++;}"): {"if (p)a++;else b++;"},
    (REMOVE_BRACES, "do{a++;}while(p);"): {"do a++;while(p);"},
    (REMOVE_BRACES, "if (p) { class L { } }"): {"a declaration stands in no other place"},
    (REMOVE_BRACES, "if (p) { int n = 1; }"): {"a declaration stands in no other place"},
    (REMOVE_BRACES, "if (p) { ; }"): {COMMENT},
    (REMOVE_BRACES, "if (p) { /* c */ a++; }"): {"if (p) /* c */ a++;"},
    (REMOVE_BRACES, "if (p) { if (q) a++; }"): {"if (p) if (q) a++;"},
    (REMOVE_BRACES, "if (p) { if (q) a++; } else b++;"): {DANGLING},
    (REMOVE_BRACES, "if (p) { if (q) a++; else a--; } else b++;"): {"if (p) if (q) a++; else a--; else b++;"},
    (REMOVE_BRACES, "if (p) { while (q) a++; } else b++;"): {"if (p) while (q) a++; else b++;"},
    (REMOVE_BRACES, "if (p) { while (q) if (q) a++; } else b++;"): {DANGLING},
    (REMOVE_BRACES, "if (p) a++; else { if (q) b++; }"): {"if (p) a++; else if (q) b++;"},
    (REMOVE_BRACES, "if (p) while (q) { if (q) a++; } else b++;"): {DANGLING},
    (REMOVE_BRACES, "if (p) { while (q) { if (q) a++; } } else b++;"): {DANGLING},
    (IF_INVERTED_WRONG, "if (p) a++; else b++;"): {"if (!p) a++; else b++;"},
    (IF_INVERTED_WRONG, "if (a < b) a++;"): {"if (a >= b) a++;"},
    (IF_INVERTED_WRONG, "if (get(1)) a++;"): {INFERRED},
    (IF_INVERTED_WRONG, "if (o instanceof A t) a++;"): {PATTERN},
    (IF_INVERTED_WRONG, "if (p = q) a++;"): {PATTERN},
    (BRANCH_DROPPED, "if (p) a++; else b++;"): {"if (p) a++;"},
    (BRANCH_DROPPED, "if (p) a++;"): {NO_ELSE},
    (BRANCH_DROPPED, "if (p) a++; else { }"): {IDLE},
    (BRANCH_DROPPED, "if (p) return 1; else b++;"): {LEAVES},
    (BRANCH_DROPPED, "if (p) b++; else return 1;"): {LEAVES},
    (BRANCH_DROPPED, "int n; if (p) n = 1; else n = 2;"): {UNSET},
    (BRANCH_DROPPED, "int n = 0; if (p) n = 1; else n = 2;"): {"int n = 0; if (p) n = 1;"},
    (BRANCH_DROPPED, "if (o instanceof A t) a++; else b++;"): {PATTERN},
}  # fmt: skip


@pytest.mark.parametrize(("rule", "text"), FORMS, ids=[f"{rule.name}: {text}" for rule, text in FORMS])
def test_each_site_and_each_refusal(rule: Rewriting, text: str) -> None:
    assert alone(rule, text) == FORMS[rule, text]


LINES = """\
    if (p) {
        a++;
    } else {
        b++; // c
    }
    do {
        a++;
    } while (q);
    while (q) {
        a++;
    }
    for (;;) { // c
        b++;
    }
"""
WITHOUT = """\
    if (p)
        a++;
    else {
        b++; // c
    }
    do
        a++;
    while (q);
    while (q)
        a++;
    for (;;) // c
        b++;
"""


def test_the_lines_of_bodies_stay_when_braces_go() -> None:
    source = f"static void f(int a, int b, boolean p, boolean q) {{\n{LINES}}}"
    moves = REMOVE_BRACES.propose(source, Random(0))
    assert not isinstance(moves, Refused)
    rewritten = REMOVE_BRACES.apply(source, moves)
    assert isinstance(rewritten, Rewritten)
    assert rewritten.source == source.replace(LINES, WITHOUT)

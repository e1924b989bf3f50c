"""Conditions of Java as `if` and as `?:`, and `&&` as two `if`: all sites, all refusals, and what each edit makes."""

from collections.abc import Mapping

import pytest

from codeaudit.transforms.java.rewriting import Rewriting
from codeaudit.transforms.java.rules import (
    CONDITION_DROPPED,
    IF_TO_TERNARY,
    MERGE_CONDITIONS,
    SPLIT_CONDITIONS,
    TERNARY_TO_IF,
)
from codeaudit.transforms.strategies.branches import LONE, NO_ELSE, PATTERN
from codeaudit.transforms.strategies.conditions import (
    ARMS,
    CONSTANT,
    HAS_ELSE,
    IN_LAMBDA,
    NARROWING,
    TARGET,
)
from codeaudit.transforms.strategies.dialect import COMMENT
from codeaudit.transforms.strategies.logic import INFERRED
from tests.transforms.java.support import alone

BOTH = "if (p) { a = 1; } else { a = b; }"
FORMS: Mapping[tuple[Rewriting, str], set[str]] = {
    # Which statements use the value of a `?:`.
    (TERNARY_TO_IF, "a = p ? 1 : b;"): {BOTH},
    (TERNARY_TO_IF, "a = (p ? 1 : b);"): {BOTH},
    (TERNARY_TO_IF, "a = ((p) ? (1) : b);"): {"if (p) { a = (1); } else { a = b; }"},
    (TERNARY_TO_IF, "return p ? 1 : 2;"): {"if (p) { return 1; } else { return 2; }"},
    (TERNARY_TO_IF, "return(p ? 1 : 2);"): {"if (p) { return 1; } else { return 2; }"},
    (TERNARY_TO_IF, "int n = p ? 1 : 2;"): {"int n; if (p) { n = 1; } else { n = 2; }"},
    (TERNARY_TO_IF, "final int n = p ? 1 : 2;"): {"final int n; if (p) { n = 1; } else { n = 2; }"},
    (TERNARY_TO_IF, "final int n = (true ? 1 : 2);"): {CONSTANT},
    (TERNARY_TO_IF, "int n = true ? 1 : 2;"): {"int n; if (true) { n = 1; } else { n = 2; }"},
    (TERNARY_TO_IF, "int n = p ? 1 : 2, m = 3;"): {TARGET},
    (TERNARY_TO_IF, "var n = p ? 1 : 2;"): {TARGET},
    (TERNARY_TO_IF, "int n[] = p ? v : v;"): {TARGET},
    (TERNARY_TO_IF, "for (int n = p ? 1 : 2; n < 3; n++) { }"): {TARGET},
    (TERNARY_TO_IF, "for (n = p ? 1 : 2; n < 3; n++) { }"): {TARGET},
    (TERNARY_TO_IF, "class L { int n = p ? 1 : 2; }"): {TARGET},
    (TERNARY_TO_IF, "Fun f = () -> a = p ? 1 : 2;"): {TARGET},
    (TERNARY_TO_IF, "b = a = p ? 1 : 2;"): {TARGET},
    (TERNARY_TO_IF, "a += p ? 1 : 2;"): {TARGET},
    (TERNARY_TO_IF, "v[0] = p ? 1 : 2;"): {TARGET},
    (TERNARY_TO_IF, "this.x = p ? 1 : 2;"): {"if (p) { this.x = 1; } else { this.x = 2; }"},
    (TERNARY_TO_IF, "o.x = p ? 1 : 2;"): {TARGET},
    (TERNARY_TO_IF, "g(p ? 1 : 2);"): {TARGET},
    (TERNARY_TO_IF, "a = b + (p ? 1 : 2);"): {TARGET},
    (TERNARY_TO_IF, "g(a = p ? 1 : 2);"): {TARGET},
    (TERNARY_TO_IF, "a = p ? 1 : q ? 2 : 3;"): {TARGET, "if (p) { a = 1; } else { a = q ? 2 : 3; }"},
    (TERNARY_TO_IF, "if (q) a = p ? 1 : b;"): {LONE},
    (TERNARY_TO_IF, "if (q) { a = p ? 1 : b; }"): {f"if (q) {{ {BOTH} }}"},
    (TERNARY_TO_IF, "Fun f = () -> { return p ? 1 : 2; };"): {IN_LAMBDA},
    (TERNARY_TO_IF, "a = /* c */ p ? 1 : 2;"): {COMMENT},
    (TERNARY_TO_IF, "a = p ? 1 : 2 /* c */;"): {COMMENT},
    (TERNARY_TO_IF, "/* c */ a = p ? 1 : b; /* d */"): {f"/* c */ {BOTH} /* d */"},
    (TERNARY_TO_IF, "o = p ? 1 : 2.5;"): {ARMS},
    (TERNARY_TO_IF, "a = 1;"): set(),
    # Which branches are two values of one target.
    (IF_TO_TERNARY, "if (p) a = 1; else a = b;"): {"a = p ? 1 : b;"},
    (IF_TO_TERNARY, "if (p) { a = 1; } else { a = b; }"): {"a = p ? 1 : b;"},
    (IF_TO_TERNARY, "if ((p)) return 1; else return 2;"): {"return p ? 1 : 2;"},
    (IF_TO_TERNARY, "if (p = q) a = 1; else a = 2;"): {"a = (p = q) ? 1 : 2;"},
    (IF_TO_TERNARY, "if (p ? q : p) a = 1; else a = 2;"): {"a = (p ? q : p) ? 1 : 2;"},
    (IF_TO_TERNARY, "if (p) a = b = 1; else a = 2;"): {"a = p ? (b = 1) : 2;"},
    (IF_TO_TERNARY, "if (p) a = 1; else a = b = 2;"): {"a = p ? 1 : (b = 2);"},
    (IF_TO_TERNARY, "if (p) a = q ? 1 : 2; else a = q ? 3 : 4;"): {"a = p ? (q ? 1 : 2) : (q ? 3 : 4);"},
    (IF_TO_TERNARY, "if (p) this.x = a; else this.x = b;"): {"this.x = p ? a : b;"},
    (IF_TO_TERNARY, "if (p) this.x = 1; else this.x = 2;"): {NARROWING},
    (IF_TO_TERNARY, "if (p) o.x = a; else o.x = b;"): set(),
    (IF_TO_TERNARY, "if (p) this.x = a; else x = b;"): set(),
    (IF_TO_TERNARY, "if (p) a = 1;"): {NO_ELSE},
    (IF_TO_TERNARY, "if (p) a = 1; else b = 1;"): set(),
    (IF_TO_TERNARY, "if (p) a = 1; else a += 1;"): set(),
    (IF_TO_TERNARY, "if (p) a += 1; else a = 1;"): set(),
    (IF_TO_TERNARY, "if (p) a += 1; else a += 1;"): set(),
    (IF_TO_TERNARY, "if (p) v[0] = 1; else v[0] = 2;"): set(),
    (IF_TO_TERNARY, "if (p) { a = 1; b = 1; } else { a = 2; }"): set(),
    (IF_TO_TERNARY, "if (p) { a = 1; } else { a = 2; b = 1; }"): set(),
    (IF_TO_TERNARY, "if (p) { } else { a = 2; }"): set(),
    (IF_TO_TERNARY, "if (p) a = 1; else return 2;"): set(),
    (IF_TO_TERNARY, "if (p) return 1; else a = 2;"): set(),
    (IF_TO_TERNARY, "if (p) return; else return;"): set(),
    (IF_TO_TERNARY, "if (p) return; else return 1;"): set(),
    (IF_TO_TERNARY, "if (p) return 1; else return;"): set(),
    (IF_TO_TERNARY, "if (p) g(); else g();"): set(),
    (IF_TO_TERNARY, "if (p) a++; else a++;"): set(),
    (IF_TO_TERNARY, "if (p) throw e; else throw e;"): set(),
    (IF_TO_TERNARY, "if (p) o = 1; else o = 2.5;"): {ARMS},
    (IF_TO_TERNARY, "short n; if (p) n = 1; else n = 2;"): {NARROWING},
    (IF_TO_TERNARY, "Fun f = () -> { if (p) return 1; else return 2; };"): {IN_LAMBDA},
    (IF_TO_TERNARY, "if (p) /* c */ a = 1; else a = 2;"): {COMMENT},
    (IF_TO_TERNARY, "/* c */ if (p) a = 1; else a = 2; /* d */"): {"/* c */ a = p ? 1 : 2; /* d */"},
    # One condition as two, and two as one.
    (SPLIT_CONDITIONS, "if (p && q) a++;"): {"if (p) { if (q) a++; }"},
    (SPLIT_CONDITIONS, "if (((p) && (q))) { a++; }"): {"if (p) { if ((q)) { a++; } }"},
    (SPLIT_CONDITIONS, "if (p && q && p) a++;"): {"if (p && q) { if (p) a++; }"},
    (SPLIT_CONDITIONS, "if (p || q) a++;"): set(),
    (SPLIT_CONDITIONS, "if (p & q) a++;"): set(),
    (SPLIT_CONDITIONS, "if (p) a++;"): set(),
    (SPLIT_CONDITIONS, "if (p && q) a++; else b++;"): {HAS_ELSE},
    (SPLIT_CONDITIONS, "if (p /* c */ && q) a++;"): {COMMENT},
    (SPLIT_CONDITIONS, "if (p && q) /* c */ a++;"): {COMMENT},
    (SPLIT_CONDITIONS, "if (p && q) { /* c */ a++; }"): {"if (p) { if (q) { /* c */ a++; } }"},
    (SPLIT_CONDITIONS, "if ((p /* c */) && q) a++;"): {"if ((p /* c */)) { if (q) a++; }"},
    (SPLIT_CONDITIONS, "while (p && q) a++;"): set(),
    (MERGE_CONDITIONS, "if (p) if (q) a++;"): {"if (p && q) a++;"},
    (MERGE_CONDITIONS, "if (p) { if (q) { a++; } }"): {"if (p && q) { a++; }"},
    (MERGE_CONDITIONS, "if (p || q) if (p || q) a++;"): {"if ((p || q) && (p || q)) a++;"},
    (MERGE_CONDITIONS, "if (p && q) if (p && q) a++;"): {"if (p && q && (p && q)) a++;"},
    (MERGE_CONDITIONS, "if (p) { if (q) a++; b++; }"): set(),
    (MERGE_CONDITIONS, "if (p) { b++; if (q) a++; }"): set(),
    (MERGE_CONDITIONS, "if (p) { while (q) a++; }"): set(),
    (MERGE_CONDITIONS, "if (p) { }"): set(),
    (MERGE_CONDITIONS, "if (p) { if (q) a++; } else b++;"): {HAS_ELSE},
    (MERGE_CONDITIONS, "if (p) { if (q) a++; else b++; }"): {HAS_ELSE},
    (MERGE_CONDITIONS, "if (o instanceof String t) if (q) a++;"): {"if (o instanceof String t && q) a++;"},
    (MERGE_CONDITIONS, "if (!(o instanceof A t)) if (!(o instanceof B t)) a++;"): {PATTERN},
    (MERGE_CONDITIONS, "if (o instanceof A t) if (o instanceof B u) a++;"): {
        "if (o instanceof A t && o instanceof B u) a++;"
    },
    (MERGE_CONDITIONS, "if (get(1)) if (q) a++;"): {INFERRED},
    (MERGE_CONDITIONS, "if (p) if (get(1)) a++;"): {INFERRED},
    (MERGE_CONDITIONS, "if (p) { /* c */ if (q) a++; }"): {COMMENT},
    (MERGE_CONDITIONS, "if (p) { if (q) a++; /* c */ }"): {COMMENT},
    (MERGE_CONDITIONS, "if (p) { if (q) { /* c */ a++; } }"): {"if (p && q) { /* c */ a++; }"},
    (MERGE_CONDITIONS, "while (p) { if (q) a++; }"): set(),
    # A control.
    (CONDITION_DROPPED, "if (p && q) a++;"): {"if (p) a++;", "if (q) a++;"},
    (CONDITION_DROPPED, "while ((p && q)) a++;"): {"while ((p)) a++;", "while ((q)) a++;"},
    (CONDITION_DROPPED, "if (true && q) a++;"): {"if (true) a++;", "if (q) a++;"},
    (CONDITION_DROPPED, "while (true && q) a++;"): {CONSTANT},
    (CONDITION_DROPPED, "while (q && true) a++;"): {CONSTANT},
    (CONDITION_DROPPED, "if (p || q) a++;"): set(),
    (CONDITION_DROPPED, "if (p & q) a++;"): set(),
    (CONDITION_DROPPED, "if (p) a++;"): set(),
    (CONDITION_DROPPED, "if (o instanceof A t && q) a++;"): {PATTERN},
    (CONDITION_DROPPED, "if (p && (q = p)) a++;"): {PATTERN},
    (CONDITION_DROPPED, "do a++; while (p && q);"): set(),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "text"), FORMS, ids=[f"{rule.name}: {text}" for rule, text in FORMS])
def test_each_site_and_each_refusal(rule: Rewriting, text: str) -> None:
    assert alone(rule, text) == FORMS[rule, text]

"""Chains of comparisons with constants as `switch`."""

from random import Random

import pytest

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.rewriting import Rewriting
from codeaudit.transforms.java.rules import IF_TO_SWITCH, SWITCH_TO_IF
from codeaudit.transforms.strategies.branches import LONE
from codeaudit.transforms.strategies.dialect import COMMENT
from codeaudit.transforms.strategies.switches import (
    CHAIN,
    FALLS,
    INNER_BREAK,
    LABEL,
    OPEN,
    SELECTOR,
    SHARED,
    TWICE,
    VALUE,
)
from tests.transforms.java.support import alone, everything, refused, variants


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


TWO = "if (a == 1) b++; else if (a == 2) b--;"
GROUPS = "case 1: { b++; break; } case 2: { b--; break; }"
ALONE: dict[tuple[Rewriting, str], set[str]] = {
    # Which conditions compare one local with constants.
    (IF_TO_SWITCH, TWO): {f"switch (a) {{ {GROUPS} }}"},
    (IF_TO_SWITCH, "if ((1 == a)) b++; else if ((a) == 2) b--;"): {f"switch (a) {{ {GROUPS} }}"},
    (IF_TO_SWITCH, "if (a == 1 || a == 3) b++; else if (a == 2) b--;"): {
        "switch (a) { case 1: case 3: { b++; break; } case 2: { b--; break; } }"
    },
    (IF_TO_SWITCH, "if (a == 1 || (a == 3 || 4 == a)) b++; else if (a == 2) b--;"): {
        "switch (a) { case 1: case 3: case 4: { b++; break; } case 2: { b--; break; } }"
    },
    **{
        (IF_TO_SWITCH, f"if ({first}) b++; else if (a == 2) b--;"): {CHAIN}
        for first in ("a == 1 || b == 3", "b == 1 || a == 3", "a == 1 || p", "p || a == 1", "p || q", "a == 1 && a == 3",
                      "a != 1", "a == 1 | a == 3", "!(a == 1)", "a == b", "a == 1 || a == b", "p", "b == 1", "g(a) == 1")
    },
    **{
        (IF_TO_SWITCH, f"if (a == 1) b++; else if ({second}) b--;"): {CHAIN}
        for second in ("a == 2 || b == 3", "b == 2 || a == 3", "a == 2 || p", "p || a == 2", "b == 2", "p")
    },
    (IF_TO_SWITCH, f"{TWO} else if (b == 3) a = 0;"): {
        f"switch (a) {{ {GROUPS} default: {{ if (b == 3) a = 0; }} }}"
    },
    (IF_TO_SWITCH, "if (a == 1) b++;"): {CHAIN},
    (IF_TO_SWITCH, "if (p) b++; else b--;"): {CHAIN},
    # Each value is one label, and a label of the selector's type.
    (IF_TO_SWITCH, "if (a == 1) b++; else if (a == 1) b--;"): {TWICE},
    (IF_TO_SWITCH, "if (a == 1 || a == 2) b++; else if (a == 2) b--;"): {TWICE},
    (IF_TO_SWITCH, "byte x = 1; if (x == 1 || x == 128) b++; else if (x == 2) b--;"): {TWICE},
    (IF_TO_SWITCH, "byte x = 1; if (x == 127) b++; else if (x == -128) b--;"): {
        "byte x = 1; switch (x) { case 127: { b++; break; } case -128: { b--; break; } }"
    },
    # Where the chain stands, and how its branches end.
    (IF_TO_SWITCH, f"if (p) {TWO}"): {CHAIN, LONE},
    (IF_TO_SWITCH, f"if (p) {{ {TWO} }}"): {CHAIN, f"if (p) {{ switch (a) {{ {GROUPS} }} }}"},
    (IF_TO_SWITCH, f"if (p) {{ b++; }} else {{ {TWO} }}"): {
        CHAIN, f"if (p) {{ b++; }} else {{ switch (a) {{ {GROUPS} }} }}"
    },
    (IF_TO_SWITCH, "while (p) { if (a == 1) { break; } else if (a == 2) b--; }"): {INNER_BREAK},
    (IF_TO_SWITCH, "while (p) { if (a == 1) b++; else if (a == 2) b--; else break; }"): {INNER_BREAK},
    (IF_TO_SWITCH, "if (a == 1) { throw e; } else if (a == 2) { b--; return 1; } else { }"): {
        "switch (a) { case 1: { throw e; } case 2: { b--; return 1; } default: { } }"
    },
    (IF_TO_SWITCH, "if (a == 1) { while (YES) { } } else if (a == 2) b--;"): {OPEN},
    (IF_TO_SWITCH, "if (a == 1) b++; else if (a == 2) { while (YES) { } }"): {OPEN},
    (IF_TO_SWITCH, "if (a == 1) /* c */ b++; else if (a == 2) b--;"): {COMMENT},
    (IF_TO_SWITCH, "if (a == 1) { /* c */ b++; } else if (a == 2) b--;"): {
        "switch (a) { case 1: { /* c */ b++; break; } case 2: { b--; break; } }"
    },
    # The other way: which groups become branches.
    (SWITCH_TO_IF, "switch (a) { case 1: b++; break; case 2: b--; }"): {"if (a == 1) { b++; } else if (a == 2) { b--; }"},
    (SWITCH_TO_IF, "switch (a) { case 1: b++; break; default: b--; }"): {"if (a == 1) { b++; } else { b--; }"},
    (SWITCH_TO_IF, "switch (a) { default: b--; break; case 1: b++; }"): {"if (a == 1) { b++; } else { b--; }"},
    (SWITCH_TO_IF, "switch (a) { case 1: case 2: b++; break; case 3: b--; break; }"): {
        "if (a == 1 || a == 2) { b++; } else if (a == 3) { b--; }"
    },
    (SWITCH_TO_IF, "switch (a) { case 1: case 2: default: b++; break; case 3: b--; break; }"): {
        "if (a == 3) { b--; } else { b++; }"
    },
    (SWITCH_TO_IF, "switch (a) { case 1: break; case 2: b--; }"): {"if (a == 1) { } else if (a == 2) { b--; }"},
    (SWITCH_TO_IF, "switch (a) { case 1: b++; break; case 2: }"): {"if (a == 1) { b++; } else if (a == 2) { }"},
    (SWITCH_TO_IF, "switch (a) { case 1: return 1; case 2: throw e; case 3: b++; }"): {
        "if (a == 1) { return 1; } else if (a == 2) { throw e; } else if (a == 3) { b++; }"
    },
    (SWITCH_TO_IF, "switch (a) { case 1, 2 -> b++; case 3 -> { b--; } default -> { return 1; } }"): {
        "if (a == 1 || a == 2) { b++; } else if (a == 3) { b--; } else { return 1; }"
    },
    (SWITCH_TO_IF, "switch (a) { case -1: b++; break; case 'x': b--; break; case (3): a++; }"): {
        "if (a == -1) { b++; } else if (a == 'x') { b--; } else if (a == (3)) { a++; }"
    },
    (SWITCH_TO_IF, "switch (a) { case 1: b++; break; case 2: int n = 1; b = n; }"): {
        "if (a == 1) { b++; } else if (a == 2) { int n = 1; b = n; }"
    },
    (SWITCH_TO_IF, "switch (a) { case 1: b++; case 2: b--; }"): {FALLS},
    (SWITCH_TO_IF, "switch (a) { case 1: int n = 1; break; case 2: b--; break; case 3: n = 2; }"): {SHARED},
    (SWITCH_TO_IF, "switch (a) { case 1: b++; break; case 2: break; case 3: int n = 1; break; case 4: n = 2; }"): {SHARED},
    (SWITCH_TO_IF, "switch (a) { case 1: int n = 1; b = n; break; case 2: b--; }"): {
        "if (a == 1) { int n = 1; b = n; } else if (a == 2) { b--; }"
    },
    (SWITCH_TO_IF, "switch (a) { case 1: if (p) break; b++; break; case 2: b--; }"): {INNER_BREAK},
    (SWITCH_TO_IF, "switch (a) { case 1: b++; break; case 2: if (p) break; b--; }"): {INNER_BREAK},
    (SWITCH_TO_IF, "switch (a) { case 1: while (p) break; break; case 2: b--; }"): {
        "if (a == 1) { while (p) break; } else if (a == 2) { b--; }"
    },
    (SWITCH_TO_IF, "switch (a) { case 1: { b++; break; } case 2: b--; }"): {INNER_BREAK},
    (SWITCH_TO_IF, "end: while (p) { switch (a) { case 1: b++; break end; case 2: b--; } }"): {
        "end: while (p) { if (a == 1) { b++; break end; } else if (a == 2) { b--; } }"
    },
    (SWITCH_TO_IF, "switch (a) { default: b++; }"): {"nothing but a default"},
    (SWITCH_TO_IF, "switch (a) { }"): {"nothing but a default"},
    (SWITCH_TO_IF, "switch (a) { case 1 -> b++; case null -> b--; }"): {LABEL},
    (SWITCH_TO_IF, 'String t = "x"; switch (t) { case "a": b++; break; case "b": b--; }'): {
        'String t = "x"; if (t.equals("a")) { b++; } else if (t.equals("b")) { b--; }'
    },
    (SWITCH_TO_IF, "if (p) switch (a) { case 1: b++; }"): {VALUE},
    (SWITCH_TO_IF, "switch (a + 1) { case 1: b++; }"): {SELECTOR},
    (SWITCH_TO_IF, "switch (l) { case 1: b++; }"): {SELECTOR},
    (SWITCH_TO_IF, "switch (a) { case 1: /* c */ b++; }"): {COMMENT},
    (SWITCH_TO_IF, "switch (a) { case 1: b++; /* c */ b--; }"): {"if (a == 1) { b++; /* c */ b--; }"},
}  # fmt: skip


@pytest.mark.parametrize(("rule", "text"), ALONE, ids=[f"{rule.name}: {text}" for rule, text in ALONE])
def test_each_site_and_each_refusal(rule: Rewriting, text: str) -> None:
    assert alone(rule, text) == ALONE[rule, text]


LAYOUT = {
    IF_TO_SWITCH: """\
    if (a == 1 || a == 3) {
        b++;
        a--;
    } else if (a == 2)
        b = a
            + 1;
    else {
        return 1;
    }
""",
    SWITCH_TO_IF: """\
    switch (a) {
        case 1: case 3: {
            b++;
            a--;
            break;
        }
        case 2: {
            b = a
                + 1;
            break;
        }
        default: {
            return 1;
        }
    }
""",
}


def test_the_lines_of_a_switch_are_indented() -> None:
    source = f"static int f(int a, int b) {{\n{LAYOUT[IF_TO_SWITCH]}    return 2;\n}}"
    moves = IF_TO_SWITCH.propose(source, Random(0))
    assert not isinstance(moves, Refused)
    rewritten = IF_TO_SWITCH.apply(source, moves)
    assert not isinstance(rewritten, Refused)
    assert rewritten.source == source.replace(LAYOUT[IF_TO_SWITCH], LAYOUT[SWITCH_TO_IF])

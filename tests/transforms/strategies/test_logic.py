"""Conditions of Java in another form: all sites, all refusals, and what each edit makes."""

from collections.abc import Mapping

import pytest

from codeaudit.transforms.java.rewriting import Rewriting
from codeaudit.transforms.java.rules import (
    DE_MORGAN,
    DE_MORGAN_WRONG,
    DOUBLE_NEGATION,
    NEGATE_COMPARISONS,
    NEGATION_DROPPED,
)
from codeaudit.transforms.strategies.dialect import COMMENT
from codeaudit.transforms.strategies.logic import BINDS, INFERRED, NAN
from tests.transforms.java.support import alone

FORMS: Mapping[tuple[Rewriting, str], set[str]] = {
    # A `!` over an operator is one site, whatever parentheses stand between.
    (DE_MORGAN, "p = !(p && q);"): {"p = !p || !q;"},
    (DE_MORGAN, "p = !((p || q));"): {"p = !p && !q;"},
    (DE_MORGAN, "p = !(p);"): set(),
    (DE_MORGAN, "a = ~(p && q ? 1 : 2);"): {"a = ~(!(!p || !q) ? 1 : 2);"},
    (DE_MORGAN, "p = (p && q);"): {"p = (!(!p || !q));"},
    (DE_MORGAN, "p = !(a == b);"): set(),
    (DE_MORGAN, "p = !!(p && q);"): {"p = !(!p || !q);"},
    # A chain of one operator is one site, and a chain of the other inside it is another.
    (DE_MORGAN, "p = p || q || a < b;"): {"p = !(!p && !q && a >= b);"},
    (DE_MORGAN, "p = p || (q || p);"): {"p = !(!p && !(q || p));", "p = p || (!(!q && !p));"},
    (DE_MORGAN, "p = p && q || p;"): {"p = !(!(p && q) && !p);", "p = !(!p || !q) || p;"},
    (DE_MORGAN, "p = (p || q) && q;"): {"p = !(!(p || q) || !q);", "p = (!(!p && !q)) && q;"},
    (DE_MORGAN, "p = !(p && q && !p);"): {"p = !p || !q || p;"},
    (DE_MORGAN, "p = !(p || q) && q;"): {"p = !p && !q && q;", "p = !((p || q) || !q);"},
    (DE_MORGAN, "p = q && !(p && q);"): {"p = !(!q || p && q);", "p = q && (!p || !q);"},
    (DE_MORGAN, "p = q || !(p || q);"): {"p = !(!q && (p || q));", "p = q || !p && !q;"},
    (DE_MORGAN, "p = q && !(p || q);"): {"p = !(!q || (p || q));", "p = q && (!p && !q);"},
    (DE_MORGAN, "p = p == (p && q);"): {"p = p == (!(!p || !q));"},
    (DE_MORGAN, "p = p & q;"): set(),
    # Operands are negated by their opposite where there is one.
    (DE_MORGAN, "p = a < b && a <= b;"): {"p = !(a >= b || a > b);"},
    (DE_MORGAN, "p = a > b || a >= b;"): {"p = !(a <= b && a < b);"},
    (DE_MORGAN, "p = a == b || s != o;"): {"p = !(a != b && s == o);"},
    (DE_MORGAN, "p = d < 1 && d == 1;"): {"p = !(!(d < 1) || d != 1);"},
    (DE_MORGAN, "p = !p && !(a < b);"): {"p = !(p || a < b);"},
    (DE_MORGAN, "p = !!p && q;"): {"p = !(!p || !q);"},
    (DE_MORGAN, "p = (p ? q : p) && q;"): {"p = !(!(p ? q : p) || !q);"},
    (DE_MORGAN, "p = o instanceof String && q;"): {"p = !(!(o instanceof String) || !q);"},
    # Comments between what moves.
    (DE_MORGAN, "p = /* a */ p && q /* b */;"): {"p = /* a */ !(!p || !q) /* b */;"},
    (DE_MORGAN, "p = p /* a */ && q;"): {COMMENT},
    (DE_MORGAN, "p = ! /* a */ (p && q);"): {COMMENT},
    (DE_MORGAN, "p = !(p && q /* a */);"): {COMMENT},
    (DE_MORGAN, "p = !( /* a */ p && q);"): {COMMENT},
    (DE_MORGAN, "p = ( /* a */ !p) && q;"): {"p = !(!( /* a */ !p) || !q);"},
    (DE_MORGAN, "p = (!p /* a */) && q;"): {"p = !(!(!p /* a */) || !q);"},
    (DE_MORGAN, "p = ! /* a */ p && q;"): {"p = !(!! /* a */ p || !q);"},
    (DE_MORGAN, "p = !(p /* a */) && q;"): {"p = !(!!(p /* a */) || !q);"},
    # Conditions of branches, loops and `?:`.
    (DOUBLE_NEGATION, "if (p) a++;"): {"if (!!p) a++;"},
    (DOUBLE_NEGATION, "while (a < b) a++;"): {"while (!!(a < b)) a++;"},
    (DOUBLE_NEGATION, "do a++; while (p && q);"): {"do a++; while (!!(p && q));"},
    (DOUBLE_NEGATION, "for (;p;) a++;"): {"for (;!!p;) a++;"},
    (DOUBLE_NEGATION, "for (;;) a++;"): set(),
    (DOUBLE_NEGATION, "a = p ? 1 : 2;"): {"a = !!p ? 1 : 2;"},
    (DOUBLE_NEGATION, "if (!p) a++;"): {"if (!!(!p)) a++;"},
    (DOUBLE_NEGATION, "if (((p))) a++;"): {"if (((!!p))) a++;"},
    (DOUBLE_NEGATION, "if (get(1)) a++; if (q) b++;"): {INFERRED, "if (get(1)) a++; if (!!q) b++;"},
    (DOUBLE_NEGATION, "switch (a) { case 1: b++; }"): set(),
    (DOUBLE_NEGATION, "p = q;"): set(),
    # Comparisons.
    (NEGATE_COMPARISONS, "p = a == b;"): {"p = !(a != b);"},
    (NEGATE_COMPARISONS, "p = a != b;"): {"p = !(a == b);"},
    (NEGATE_COMPARISONS, "p = a < b;"): {"p = !(a >= b);"},
    (NEGATE_COMPARISONS, "p = a > b;"): {"p = !(a <= b);"},
    (NEGATE_COMPARISONS, "p = a <= b;"): {"p = !(a > b);"},
    (NEGATE_COMPARISONS, "p = a >= b;"): {"p = !(a < b);"},
    (NEGATE_COMPARISONS, "p = d == a;"): {"p = !(d != a);"},
    (NEGATE_COMPARISONS, "p = d >= a;"): {NAN},
    (NEGATE_COMPARISONS, "p = a <= d;"): {NAN},
    (NEGATE_COMPARISONS, "a = a + b; p = p && q;"): set(),
    (NEGATE_COMPARISONS, "p = a < b == q;"): {"p = !(a >= b) == q;", "p = !(a < b != q);"},
    # Controls.
    (DE_MORGAN_WRONG, "p = p && q;"): {"p = p || q;"},
    (DE_MORGAN_WRONG, "p = p || q;"): {"p = p && q;"},
    (DE_MORGAN_WRONG, "p = p && q || p;"): {"p = p && q && p;", "p = p || q || p;"},
    (DE_MORGAN_WRONG, "p = p | q;"): set(),
    (DE_MORGAN_WRONG, "p = o instanceof String t && q;"): {BINDS},
    (DE_MORGAN_WRONG, "p = p && (q = p);"): {BINDS},
    (NEGATION_DROPPED, "p = !q;"): {"p = q;"},
    (NEGATION_DROPPED, "p = !(p && q);"): {"p = (p && q);"},
    (NEGATION_DROPPED, "a = -b; b = ~a;"): set(),
    (NEGATION_DROPPED, "p = !(o instanceof String t);"): {BINDS},
    (NEGATION_DROPPED, "p = !(q = p);"): {BINDS},
}


@pytest.mark.parametrize(("rule", "text"), FORMS, ids=[f"{rule.name}: {text}" for rule, text in FORMS])
def test_each_site_and_each_refusal(rule: Rewriting, text: str) -> None:
    assert alone(rule, text) == FORMS[rule, text]

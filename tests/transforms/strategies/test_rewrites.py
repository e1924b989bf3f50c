"""Operators, conditions and literals of Java written otherwise."""

import pytest

from codeaudit.transforms.java.rewriting import TEXT
from codeaudit.transforms.java.rules import (
    AUGMENTED_WRONG,
    BOOL_LITERALS,
    CONTRACT_AUGMENTED,
    CONTRACT_INCREMENTS,
    DE_MORGAN,
    DO_TO_WHILE_TRUE,
    DOUBLE_NEGATION,
    EXPAND_AUGMENTED,
    EXPAND_INCREMENTS,
    FLIP_COMPARISONS,
    IDENTITY_ARITHMETIC,
    IF_INVERTED_WRONG,
    INVERT_IF,
    MERGE_CONDITIONS,
    NEGATE_COMPARISONS,
    SWAP_OPERANDS,
    WHILE_TO_WHILE_TRUE,
)
from codeaudit.transforms.strategies.assignments import CAST, EQUAL, NO_LOCAL, VALUE_USED
from codeaudit.transforms.strategies.logic import INFERRED, NAN
from codeaudit.transforms.strategies.operands import ORDER
from tests.transforms.java.support import everything, refused, variants


def test_operands_of_numbers_are_swapped_and_texts_are_not() -> None:
    assert everything(SWAP_OPERANDS, "a = a + b * 2;") == "a = 2 * b + a;"
    assert variants(SWAP_OPERANDS, "d = a + b + d;") == {"d = b + a + d;", "d = d + (a + b);"}
    assert everything(SWAP_OPERANDS, "a = -a + b;") == "a = b + (-a);"
    assert refused(SWAP_OPERANDS, 's = "hi " + a;') == TEXT
    assert refused(SWAP_OPERANDS, "s = s + a;") == TEXT
    assert refused(SWAP_OPERANDS, "a = x + y;") == TEXT
    assert refused(SWAP_OPERANDS, 's = o + "x";') == TEXT


def test_the_order_of_evaluation_stays() -> None:
    assert refused(SWAP_OPERANDS, "a = g() * h();") == ORDER
    assert refused(SWAP_OPERANDS, "p = a == a++;") == ORDER
    assert refused(SWAP_OPERANDS, "a = (a / b) * v[0];") == ORDER
    assert everything(SWAP_OPERANDS, "p = g() == null;") == "p = null == g();"
    assert everything(SWAP_OPERANDS, "a = g() * b;") == "a = b * g();"
    assert refused(SWAP_OPERANDS, "Integer i = 3; p = i == g();") == ORDER
    assert refused(FLIP_COMPARISONS, "p = g() < h();") == ORDER
    assert refused(FLIP_COMPARISONS, "Integer i = 3; p = i < g();") == ORDER
    assert refused(FLIP_COMPARISONS, "p = a < (a = 3);") == ORDER
    assert everything(FLIP_COMPARISONS, "p = a + 1 <= s.length();") == "p = s.length() >= a + 1;"


def test_nothing_is_swapped_around_a_short_circuit() -> None:
    assert refused(SWAP_OPERANDS, "p = p && q;") == "no operator that commutes"
    assert refused(SWAP_OPERANDS, "p = s != g() && s.length() > 2;") == ORDER


def test_de_morgan() -> None:
    assert everything(DE_MORGAN, "p = !(p && a < b);") == "p = !p || a >= b;"
    assert everything(DE_MORGAN, "p = p || !q;") == "p = !(!p && q);"
    assert everything(DE_MORGAN, "p = q & !(p || d < 1);") == "p = q & (!p && !(d < 1));"
    assert everything(DE_MORGAN, "p = p && q && a == 1;") == "p = !(!p || !q || a != 1);"
    assert everything(DE_MORGAN, "p = (p || q) && q;") in {
        "p = !(!(p || q) || !q);",
        "p = !(!(!(!p && !q)) || !q);",
    }


def test_negation() -> None:
    assert everything(DOUBLE_NEGATION, "while (a < b) a++;") == "while (!!(a < b)) a++;"
    assert everything(NEGATE_COMPARISONS, "p = a < b;") == "p = !(a >= b);"
    assert refused(NEGATE_COMPARISONS, "p = a < d;") == NAN
    assert refused(NEGATE_COMPARISONS, "p = a < g();") == NAN


@pytest.mark.parametrize("text", ["c += 1;", "a += d;", "a += l;", "byte x = 1; x += 2;", "a <<= d;"])
def test_an_operator_that_casts_is_not_written_out(text: str) -> None:
    assert refused(EXPAND_AUGMENTED, text) in (CAST, NO_LOCAL)


def test_operators_with_assignment() -> None:
    assert everything(EXPAND_AUGMENTED, "a -= b - 1;") == "a = a - (b - 1);"
    assert everything(EXPAND_AUGMENTED, "a *= b;") == "a = a * b;"
    assert everything(EXPAND_AUGMENTED, "a <<= l;") == "a = a << l;"
    assert everything(EXPAND_AUGMENTED, "s += 1 + 2;") == "s = s + (1 + 2);"
    assert everything(EXPAND_AUGMENTED, "d += p ? 1 : 2;") == "d = d + (p ? 1 : 2);"
    assert everything(EXPAND_AUGMENTED, "a -= -b;") == "a = a - (-b);"
    assert refused(EXPAND_AUGMENTED, "v[a++] += 1;") == NO_LOCAL
    assert refused(EXPAND_AUGMENTED, "b = a += 1;") == VALUE_USED
    assert everything(CONTRACT_AUGMENTED, "a = a - (b - 1);") == "a -= (b - 1);"
    assert refused(CONTRACT_AUGMENTED, "a = b - a;") == "value does not begin with the target"
    assert refused(CONTRACT_AUGMENTED, "s = s + a + b;") == "value does not begin with the target"


@pytest.mark.slow
def test_steps_of_one() -> None:
    assert variants(EXPAND_INCREMENTS, "a++;") == {"++a;", "a += 1;", "a = a + 1;"}
    assert variants(EXPAND_INCREMENTS, "c++;") == {"++c;", "c += 1;"}
    assert variants(EXPAND_INCREMENTS, "v[g()]--;") == {"--v[g()];"}
    assert refused(EXPAND_INCREMENTS, "b = a++;") == VALUE_USED
    assert refused(EXPAND_INCREMENTS, "Runnable r = () -> x++;") == VALUE_USED
    assert variants(CONTRACT_INCREMENTS, "a -= 1;") == {"a--;", "--a;"}
    assert refused(CONTRACT_INCREMENTS, "Byte x = g(); x += 1;") == NO_LOCAL


def test_literals_keep_type_and_constancy() -> None:
    assert variants(BOOL_LITERALS, "p = !true;") == {"p = !!false;", "p = !(1 == 1);"}
    assert everything(IDENTITY_ARITHMETIC, "a = b * -3;") == "a = (b + 0) * -3;"
    assert refused(IDENTITY_ARITHMETIC, "int x; x++; d = c; byte y = -1;") in (
        "literal belongs to its sign", "a variable stands there, not its value",
    )  # fmt: skip
    assert refused(IDENTITY_ARITHMETIC, "switch (c) { case 5: d = 0.0; }") == "no int or long"


def test_a_name_of_the_library_that_means_something_else_is_left_alone() -> None:
    assert refused(SWAP_OPERANDS, "class String { } a = a + b;").startswith("a well-known type")


@pytest.mark.parametrize(
    "text", ["a += 0;", "a -= (0);", "l += 0L;", "d -= 0.0;", "a <<= 0;", "a /= 1;", "d /= 1.0;"]
)
def test_a_control_leaves_what_another_operator_would_not_change(text: str) -> None:
    assert refused(AUGMENTED_WRONG, text) == EQUAL


def test_a_control_takes_what_another_operator_changes() -> None:
    assert variants(AUGMENTED_WRONG, "a *= 0;") == {"a += 0;"}
    assert variants(AUGMENTED_WRONG, "a += 10;") == {"a -= 10;"}
    assert variants(AUGMENTED_WRONG, "a /= 10;") == {"a *= 10;"}


INFERRING = {
    "double-negation": (DOUBLE_NEGATION, "if ({}) a++;"),
    "invert-if": (INVERT_IF, "if ({}) a++; else b++;"),
    "while-to-while-true": (WHILE_TO_WHILE_TRUE, "while ({}) a++;"),
    "do-to-while-true": (DO_TO_WHILE_TRUE, "do { a++; } while ({});"),
    "merge-conditions, outside": (MERGE_CONDITIONS, "if ({}) { if (p) a++; }"),
    "merge-conditions, inside": (MERGE_CONDITIONS, "if (p) { if ({}) a++; }"),
    "if-inverted-wrong": (IF_INVERTED_WRONG, "if ({}) a++;"),
}


@pytest.mark.thinned(14)
@pytest.mark.parametrize("name", INFERRING)
@pytest.mark.parametrize(
    "call",
    [
        'get("k")',
        "this.get(a)",
        "o.<T>x().get()",
        "(get(1))",
        "p ? get(1) : q",
        "switch (a) { default -> p; }",
    ],
)
def test_a_call_whose_type_is_inferred_stays_a_whole_condition(name: str, call: str) -> None:
    rule, text = INFERRING[name]
    if rule is DOUBLE_NEGATION and "?" in call:
        pytest.skip("the condition of ?: is a site of its own")
    assert refused(rule, text.replace("{}", call, 1)) == INFERRED


@pytest.mark.thinned(19)
@pytest.mark.parametrize("name", INFERRING)
@pytest.mark.parametrize(
    "call", ["p", "isOpen(a)", "o.equals(s)", "s.isEmpty()", "this.<Boolean>get(a)", "(boolean) get(a)", "get(a) > 1",
             "a > 1 ? p : isOpen(a)"]
)  # fmt: skip
def test_a_condition_of_a_type_of_its_own_is_an_operand(name: str, call: str) -> None:
    rule, text = INFERRING[name]
    assert everything(rule, text.replace("{}", call, 1))


def test_a_question_that_the_text_declares_generic_is_no_question() -> None:
    text = (
        "class L { static <T> T isOpen() { return null; } static void g() { if (isOpen()) h(); else i(); } }"
    )
    assert refused(INVERT_IF, text) == INFERRED

"""Expressions: text to tree and back, folding, and what is no expression."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.transforms.algebra.calculus import compare, values
from codeaudit.transforms.algebra.expressions import (
    BINARY,
    LONGEST,
    UNARY,
    VARIABLES,
    Binary,
    Expression,
    ExpressionPair,
    Number,
    Unary,
    Variable,
    build,
    heads,
    names,
    pair_text,
    parse,
    parse_pair,
    text,
    tokens,
)
from codeaudit.transforms.errors import SourceError
from tests.transforms.algebra.support import some

LEAVES = st.builds(Number, st.integers(-999, 999)) | st.builds(Variable, st.sampled_from(sorted(VARIABLES)))
EXPRESSIONS: st.SearchStrategy[Expression] = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(Unary, st.sampled_from(UNARY), inner)
        | st.builds(Binary, st.sampled_from(BINARY), inner, inner)
    ),
    max_leaves=12,
)


@given(EXPRESSIONS)
def test_a_text_is_read_as_what_was_written(expression: Expression) -> None:
    assert parse(text(expression)) == expression
    assert text(expression).split() == tokens(expression)
    assert names(expression) == VARIABLES.intersection(tokens(expression))


@given(EXPRESSIONS)
def test_folding_keeps_the_values_and_is_done_once(expression: Expression) -> None:
    folded = build(heads(expression))
    assert len(tokens(folded)) <= len(tokens(expression)) + 2  # 0 - u is a product with -1
    assert build(heads(folded)) == folded
    before, after = values(expression), values(folded)
    assert all(new is not None for old, new in zip(before, after, strict=True) if old is not None)
    assert compare(before, after) != "different"


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("add INT+ 0 x", "x"),
        ("add x INT+ 0", "x"),
        ("sub x INT+ 0", "x"),
        ("sub INT+ 0 x", "mul INT- 1 x"),
        ("mul x INT+ 0", "INT+ 0"),
        ("mul x INT+ 1", "x"),
        ("mul x INT+ 3", "mul INT+ 3 x"),
        ("mul INT+ 3 mul INT- 2 x", "mul INT- 6 x"),
        ("mul INT- 1 mul INT- 1 x", "x"),
        ("div x INT+ 1", "x"),
        ("div INT+ 0 x", "INT+ 0"),
        ("div INT+ 6 INT- 3", "INT- 2"),
        ("div INT+ 1 INT+ 3", "div INT+ 1 INT+ 3"),
        ("div INT+ 1 INT+ 0", "div INT+ 1 INT+ 0"),
        ("div INT+ 0 INT+ 0", "div INT+ 0 INT+ 0"),
        ("pow x INT+ 1", "x"),
        ("pow x INT+ 0", "INT+ 1"),
        ("pow INT- 2 INT+ 3", "INT- 8"),
        ("pow INT+ 0 INT- 1", "pow INT+ 0 INT- 1"),
        ("cos INT+ 0", "INT+ 1"),
        ("cos mul INT+ 0 x", "INT+ 1"),
        ("ln INT+ 1", "INT+ 0"),
        ("add INT+ 9 9 9 9 INT+ 1", "add INT+ 9 9 9 9 INT+ 1"),
    ],
)
def test_folding(written: str, folded: str) -> None:
    assert text(build(heads(parse(written)))) == folded


def test_a_pair_is_two_expressions() -> None:
    pair = parse_pair("sin x =? cos x")
    assert pair == ExpressionPair(Unary("sin", Variable("x")), Unary("cos", Variable("x")))
    assert pair_text(pair) == "sin x =? cos x"
    for example in some("train", 100):
        assert parse_pair(example.source) == example.pair


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("sin x", "0 times '=\\?'; write FUNCTION =\\? DERIVATIVE"),
        ("x =? x =? x", "2 times"),
        ("=? x", "no expression"),
        ("x =?", "no expression"),
        ("add x =? x", "operator 'add' lacks an operand"),
        ("sin =? x", "operator 'sin' lacks an operand"),
        ("x x =? x", "more than one expression"),
        ("sine x =? x", "unknown token 'sine'"),
        ("a4 =? x", "unknown token 'a4'"),
        ("7 =? x", "unknown token '7'"),
        ("INT+ =? x", "0 digits after 'INT\\+'"),
        ("INT+ x =? x", "0 digits after"),
        ("INT+ 1 2 3 4 5 6 7 8 9 0 =? x", "10 digits after"),
        ("INT+ ² =? x", "0 digits after"),
        (f"{'sin ' * LONGEST}x =? x", f"expression over {LONGEST} tokens"),
        (f"{'é' * 99} =? x", "unknown token 'é{20}'"),
    ],
)
def test_what_is_no_pair_says_why_in_one_line(source: str, message: str) -> None:
    with pytest.raises(SourceError, match=message) as raised:
        parse_pair(source)
    assert "\n" not in str(raised.value)

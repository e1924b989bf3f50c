"""Nearness of texts, against values computed by hand."""

from math import exp, log

import pytest

from codeaudit.audit.tasks.scoring import bleu, edit_similarity


@pytest.mark.parametrize(
    ("text", "other", "value"),
    [
        ("", "", 1.0),
        ("abc", "abc", 1.0),
        ("", "abcd", 0.0),
        ("kitten", "sitting", 1 - 3 / 7),
        ("return x", "return y", 1 - 1 / 8),
    ],
)
def test_edit_similarity(text: str, other: str, value: float) -> None:
    assert edit_similarity(text, other) == pytest.approx(value)
    assert edit_similarity(other, text) == pytest.approx(value)


def test_bleu_of_equal_and_of_foreign_texts() -> None:
    assert bleu([("a = b + c", "a = b + c")]) == pytest.approx(1.0)
    assert bleu([("x y z w", "a b c d")]) == 0.0
    assert bleu([]) == 0.0
    assert bleu([("", "a b")]) == 0.0


def test_smoothing_adds_one_to_all_but_single_words() -> None:
    """By hand: 3 of 4 words, 1 of 3 pairs, none of 2 and 1 longer runs."""
    pairs = [("a b x c", "a b c d")]
    assert bleu(pairs) == 0.0
    assert bleu(pairs, smooth=True) == pytest.approx((3 / 4 * 2 / 4 * 1 / 3 * 1 / 2) ** 0.25)
    assert bleu([("x", "a")], smooth=True) == 0.0


def test_bleu_by_hand() -> None:
    # words: 5 of 5, 4 of 5 right; pairs 3 of 4, threes 2 of 3, fours 1 of 2
    value = exp((log(4 / 5) + log(3 / 4) + log(2 / 3) + log(1 / 2)) / 4)
    assert bleu([("a b c d x", "a b c d e")]) == pytest.approx(value)
    assert bleu([("a b c", "a b c d e f")]) == 0.0, "no run of four in the text, but in the reference"


def test_the_penalty_is_over_the_corpus() -> None:
    pairs = [("a b c d", "a b c d"), ("e f g h", "e f g h i j")]
    assert bleu(pairs) == pytest.approx(exp(1 - 10 / 8))


def test_runs_longer_than_all_texts_do_not_count() -> None:
    assert bleu([("return x", "return x")]) == pytest.approx(1.0)


def test_a_word_counts_as_often_as_in_the_reference() -> None:
    assert bleu([("a a", "a b")]) == 0.0  # one of two words, none of the pairs
    assert bleu([("a", "a"), ("a", "b")]) == pytest.approx(1 / 2)

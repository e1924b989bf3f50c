"""The shift of probability of the answer to the original, for each kind of score."""

from math import log

import pytest

from codeaudit.audit.probabilities import Scale, shift
from codeaudit.audit.records import Answer, Predicted


def said(answer: Answer, **scores: float) -> Predicted:
    return Predicted(answer=answer, scores=tuple(sorted(scores.items())))


@pytest.mark.parametrize(
    ("scale", "before", "after", "expected"),
    [
        # In a softmax: 1/2 before, 1/4 after; a constant in all logits says nothing.
        ("logits", said("a", a=1.0, b=1.0), said("b", a=9.0, b=9.0 + log(3)), 0.25),
        ("logits", said("a", a=1.0, b=1.0), said("b", a=9.0), None),
        ("log-odds", said("a", a=0.0), said("a", a=log(3)), 0.25),
        ("log-odds", said("clean", buggy=-log(3)), said("buggy", buggy=log(3)), 0.5),
        ("log-odds", said(("a", "b"), a=0.0, b=0.0, c=-9.0), said(("a",), a=0.0, b=-800.0, c=-9.0), 0.25),
        ("log-probabilities", said("x", a=log(0.8), b=log(0.1)), said("y", a=log(0.3), b=log(0.6)), 0.5),
        # Outside of the list it has 0.1 at most, since the others have 0.9 together.
        ("log-probabilities", said("x", a=log(0.8)), said("y", b=log(0.5), c=log(0.4)), 0.7),
        ("log-probabilities", said("x"), said("y"), None),
        ("log-odds", said(3.0, a=0.0), said(4.0, a=1.0), None),
        ("", said("a", a=0.0), said("a", a=1.0), None),
    ],
)
def test_the_shift_of_each_scale(
    scale: Scale, before: Predicted, after: Predicted, expected: float | None
) -> None:
    assert shift(before, after, scale) == (None if expected is None else pytest.approx(expected))

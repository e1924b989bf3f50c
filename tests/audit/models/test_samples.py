"""Several answers to a query: how many, from which draws, and what becomes of those that cannot be had."""

import pytest

from codeaudit.audit.models.text_models import draws, joined, samples
from codeaudit.audit.records import Failed, Predicted
from codeaudit.transforms.errors import UsageError


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("5", 5), ("1000", 1000)])
def test_the_number_is_read(text: str, number: int) -> None:
    assert samples(text) == number


@pytest.mark.parametrize("text", ["0", "-1", "1001", "2.0", "1e2", "many", "", "9" * 5000, "²"])
def test_another_number_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="must be a whole number from 1 to 1000"):
        samples(text)


def test_an_attempt_has_draws_of_its_own_which_are_the_same_everywhere() -> None:
    assert draws(0).getrandbits(64) == 16495803408660979872
    kinds = [draws(attempt, seed=seed) for attempt in (0, 1, 2) for seed in (0, 1)]
    assert len({kind.getrandbits(64) for kind in kinds}) == len(kinds)


def test_attempts_are_one_answer_in_their_order() -> None:
    alone = Predicted(answer="b", scores=(("b", 1.0),), margin=0.5)
    assert joined([alone]) is alone
    assert joined([alone, Predicted(answer="a"), alone]) == Predicted(answer="b", draws=("b", "a", "b"))
    assert joined([Predicted(answer=""), Predicted(answer="")]) == Predicted(answer="", draws=("", ""))


def test_no_attempt_is_left_out() -> None:
    lost = Failed(reason="out of memory")
    assert joined([lost]) == lost
    assert joined([Predicted(answer="a"), lost, Predicted(answer="b")]) == lost

"""The decision rule and its margin."""

import pytest
import torch

from codeaudit.audit.papers.lines.tasks import NAMING

ROWS = [
    pytest.param([1.0, -1.0, -3.0], [True, False, False], 1.0, id="one above: the second must cross"),
    pytest.param([1.0, 0.5, -3.0], [True, True, False], 0.5, id="two above: the lower one must fall"),
    pytest.param([1.0, 0.5, -0.2], [True, True, False], 0.2, id="two above: a third is nearer"),
    pytest.param([-1.0, -2.0, -3.0], [True, False, False], 0.5, id="none above: the second must overtake"),
    pytest.param([0.1, -1.0, -3.0], [True, False, False], 0.55, id="one just above: falling and overtaken"),
]


@pytest.mark.parametrize(("logits", "chosen", "expected"), ROWS)
def test_margins_are_those_worked_out_by_hand(
    logits: list[float], chosen: list[bool], expected: float
) -> None:
    row = torch.tensor([logits], dtype=torch.float64)
    assert NAMING.decide(row, 0.0).tolist() == [chosen]
    assert float(NAMING.margin(row, 0.0)) == pytest.approx(expected)


def test_no_move_within_the_margin_changes_the_choice_and_some_move_beyond_does() -> None:
    """The worst moves by at most e in every logit are those by e up or down."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(300, 4, dtype=torch.float64, generator=generator)
    signs = torch.cartesian_prod(*[torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64)] * 4)
    for row in rows:
        before = NAMING.decide(row[None], 0.2)
        width = float(NAMING.margin(row[None], 0.2))
        within = NAMING.decide(row + signs * width * 0.999, 0.2)
        beyond = NAMING.decide(row + signs * width * 1.001, 0.2)
        assert (within == before).all()
        assert (beyond != before).any()


def test_a_single_label_is_always_the_answer() -> None:
    row = torch.tensor([[-5.0]])
    assert NAMING.decide(row, 0.0).tolist() == [[True]]
    assert float(NAMING.margin(row, 0.0)) == float("inf")

"""The decision rule and its margin."""

import pytest
import torch

from codeaudit.audit.papers.lines.tasks import DETECTION, NAMING, LineTask
from codeaudit.audit.papers.spe_attention.model import KEPT, decisive

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


@pytest.mark.thinned(20)
@pytest.mark.parametrize("task", [NAMING, DETECTION], ids=lambda task: task.name)
@pytest.mark.parametrize("threshold", [-9.0, -1.0, 0.5, 1.5, 9.0], ids="{} is the threshold".format)
@pytest.mark.parametrize("labels", [1, 2, KEPT - 1, KEPT, KEPT + 1, 70])
def test_the_best_logits_decide_as_all_do(task: LineTask, labels: int, threshold: float) -> None:
    """From none above the threshold to all of them, with equal logits and with padding."""
    generator = torch.Generator().manual_seed(labels)
    logits = torch.randn(40, labels, dtype=torch.float64, generator=generator)
    logits[20:] = logits[20:].round()  # many are equal
    logits[::3, 1:].masked_fill_(torch.rand(labels - 1, generator=generator) < 0.3, -torch.inf)
    columns, values = decisive(logits, threshold)
    assert (columns.diff(dim=1) > 0).all()
    assert torch.equal(values, logits.gather(1, columns))
    all_chosen = task.decide(logits, threshold)
    chosen = torch.zeros_like(all_chosen).scatter_(1, columns, task.decide(values, threshold))
    # Of more equal best logits than are kept, any may be among those.
    clear = (logits == logits.amax(1, keepdim=True)).sum(1) <= KEPT
    assert clear.sum() > 20
    assert torch.equal(chosen[clear], all_chosen[clear])
    assert torch.equal(task.margin(values, threshold), task.margin(logits, threshold))

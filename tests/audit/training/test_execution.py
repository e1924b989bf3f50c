"""How steps are computed does not change what they are."""

from pathlib import Path
from typing import Any

import pytest
import torch

from codeaudit.audit.training.trainer import Execution, Learner, TrainingProgress, train
from tests.audit.training.learners import KINDS, small


class Silent:
    """A monitor that keeps the losses."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.progress = TrainingProgress(best=0.0)

    def stepped(self, progress: TrainingProgress, loss: float) -> None:
        self.losses.append(loss)
        self.progress = progress

    def epoch(self, progress: TrainingProgress) -> None:
        pass


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def gradients(learner: Learner[Any, Any], parts: int) -> tuple[float, dict[str, torch.Tensor]]:
    """The loss and the gradients of the first step of the last stage, computed in parts."""
    step = learner.total - 1
    batch = next(iter(learner.batches(0)))
    torch.manual_seed(0)
    network = learner.make().train()
    # At their initial zeros many layers would have no gradient, and nothing would be compared.
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(0.05 * torch.randn_like(weight))
    total = 0.0
    found = learner.parts(batch, parts)
    assert len(found) == parts
    for part in found:
        loss, _ = learner.loss(network, part, step, batch if parts > 1 else None)
        loss.backward()
        total += loss.item()
    return total, {name: one.grad for name, one in network.named_parameters() if one.grad is not None}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_parts_of_a_batch_have_the_gradient_of_the_batch(kind: str, cache: Path) -> None:
    learner = small(kind, cache)
    loss, whole = gradients(learner, 1)
    for parts in (2, 5):
        summed, added = gradients(learner, parts)
        assert summed == pytest.approx(loss, rel=1e-5)
        assert added.keys() == whole.keys()
        for name in whole:
            scale = float(whole[name].abs().max())
            assert torch.allclose(added[name], whole[name], rtol=1e-4, atol=1e-5 * max(scale, 1.0)), name
    assert any(float(one.abs().max()) > 1e-4 for one in whole.values())


def test_a_batch_has_no_more_parts_than_examples(cache: Path) -> None:
    learner = small("spe", cache)
    batch = next(iter(learner.batches(0)))
    parts = learner.parts(batch, 100)
    assert len(parts) == learner.examples(batch)
    assert {learner.examples(one) for one in parts} == {1}
    assert sum(learner.tokens(one) for one in parts) == learner.tokens(batch) > 0


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_family_counts_tokens_and_operations(kind: str, cache: Path, tmp_path: Path) -> None:
    watch = Silent()
    execution = Execution(accumulate=3)
    train(small(kind, cache), folder=tmp_path, monitor=watch, stop=lambda: False, execution=execution)
    assert watch.progress.tokens > watch.progress.samples > 0
    weights = sum(one.numel() for one in small(kind, cache).make().parameters())
    per_token = watch.progress.operations / watch.progress.tokens
    # 6 for each weight that multiplies; embeddings do not, padding and scores do.
    assert 0.05 * weights < per_token < 100 * weights

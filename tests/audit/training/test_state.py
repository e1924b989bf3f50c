"""The state of an unfinished training: what is damaged is one error that names the file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from codeaudit.audit.training.trainer import STATE_FILE, TrainingProgress, load_state, save_state
from codeaudit.transforms.errors import ModelError

IDENTITY = {"recipe": {"width": 2}, "data": {}}


def made() -> tuple[torch.nn.Linear, torch.optim.Optimizer]:
    network = torch.nn.Linear(2, 3)
    return network, torch.optim.AdamW(network.parameters())


@pytest.fixture
def state(tmp_path: Path) -> Path:
    network, optimiser = made()
    network(torch.ones(1, 2)).sum().backward()
    optimiser.step()
    progress = TrainingProgress(step=3, best=0.5, best_epoch=0, epochs=[{"epoch": 0, "loss": 1.0}])
    tensors = {f"now/{name}": value for name, value in network.state_dict().items()}
    path = tmp_path / STATE_FILE
    save_state(path, identity=IDENTITY, progress=progress, tensors=tensors, optimiser=optimiser)
    return path


def edit(path: Path, change: Callable[[dict[str, Tensor], dict[str, Any]], object]) -> None:
    """Write a state again with other tensors or another progress."""
    with safe_open(path, framework="pt") as file:
        about = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
    progress = json.loads(about["progress"])
    change(tensors, progress)
    save_file(tensors, path, {**about, "progress": json.dumps(progress)})


def test_a_whole_state_is_read(state: Path) -> None:
    _, optimiser = made()
    loaded = load_state(state, identity=IDENTITY, optimiser=optimiser)
    assert loaded is not None
    assert loaded[0].step == 3
    assert set(loaded[1]) == {"now/weight", "now/bias"}


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors, progress: progress.update(step="x"),
        lambda tensors, progress: progress.update(step=-1),
        lambda tensors, progress: progress.update(samples=10**400),
        lambda tensors, progress: progress.update(loss_sum=None),
        lambda tensors, progress: progress.update(seconds=[]),
        lambda tensors, progress: progress.update(best_epoch=7),
        lambda tensors, progress: progress.update(epochs={}),
        lambda tensors, progress: progress.update(epochs=[{"epoch": 0}]),
        lambda tensors, progress: progress.update(epochs=[{"epoch": 0, "loss": "x"}]),
        lambda tensors, progress: progress.pop("ended"),
        lambda tensors, progress: tensors.pop("random"),
        lambda tensors, progress: tensors.update(random=torch.zeros(3)),
        lambda tensors, progress: tensors.pop("optimiser/0/exp_avg"),
        lambda tensors, progress: [
            tensors.pop(f"optimiser/1/{name}") for name in ("step", "exp_avg", "exp_avg_sq")
        ],
        lambda tensors, progress: tensors.update({"optimiser/0/exp_avg": torch.zeros(7)}),
        lambda tensors, progress: tensors.update({"optimiser/0/exp_avg": torch.full((3, 2), torch.nan)}),
        lambda tensors, progress: tensors.update({"optimiser/x/exp_avg": torch.zeros(1)}),
        lambda tensors, progress: tensors.update({"optimiser/9/step": torch.zeros(())}),
    ],
)
def test_a_damaged_state_is_named(
    state: Path, change: Callable[[dict[str, Tensor], dict[str, Any]], object]
) -> None:
    edit(state, change)
    _, optimiser = made()
    with torch.random.fork_rng(devices=[]), pytest.raises(ModelError, match="cannot resume from"):
        load_state(state, identity=IDENTITY, optimiser=optimiser)


def test_metadata_of_another_shape_is_named(state: Path) -> None:
    for about in (None, {"recipe": "[" * 100_000, "progress": "{}"}, {"recipe": "{}", "progress": "[]"}):
        save_file({"random": torch.get_rng_state()}, state, about)
        with pytest.raises(ModelError, match="cannot resume from"):
            load_state(state, identity=IDENTITY, optimiser=made()[1])


def test_a_weight_that_never_had_a_gradient_has_no_state(tmp_path: Path) -> None:
    used, unused = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    weights = [*unused.parameters(), *used.parameters()]
    optimiser = torch.optim.AdamW(weights)
    used(torch.ones(1, 2)).sum().backward()
    optimiser.step()
    path = tmp_path / "training.safetensors"
    save_state(path, identity=IDENTITY, progress=TrainingProgress(best=0.0), tensors={}, optimiser=optimiser)
    again = torch.optim.AdamW(weights)
    with torch.random.fork_rng(devices=[]):
        assert load_state(path, identity=IDENTITY, optimiser=again) is not None
    assert again.state_dict()["state"].keys() == {2, 3}

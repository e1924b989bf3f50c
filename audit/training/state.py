"""An unfinished training: everything that the next step depends on, in one safetensors file (no pickle)."""

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as packed
from torch import Tensor

from codeaudit.transforms.errors import ModelError

FILE: Final = "training.safetensors"


class Interrupted(Exception):  # noqa: N818 - an outcome, which the command line reports
    """The training was asked to stop; its state is saved."""


@dataclass(slots=True, kw_only=True)
class TrainingProgress:
    """How far a training is."""

    step: int = 0
    """Steps done, of all stages."""
    samples: int = 0
    """Examples seen, repetitions included."""
    loss_sum: float = 0.0
    """Over the steps of the current epoch."""
    best: float
    """Validation result of the kept weights; before there are any, the worst possible value."""
    best_epoch: int = -1
    ended: bool = False
    seconds: float = 0.0
    """Wall time, interruptions excluded."""
    epochs: list[dict[str, float]] = field(default_factory=list)
    """Of each finished epoch its number, its mean loss, and the validation results."""


def save(
    path: Path,
    *,
    identity: object,
    progress: TrainingProgress,
    tensors: dict[str, Tensor],
    optimiser: torch.optim.Optimizer,
) -> None:
    """Write the state, completely or not at all."""
    found = {f"given/{name}": tensor.contiguous() for name, tensor in tensors.items()}
    for number, values in optimiser.state_dict()["state"].items():
        for name, value in values.items():
            found[f"optimiser/{number}/{name}"] = value.contiguous()
    found["random"] = torch.get_rng_state()
    part = path.with_suffix(".part")
    about = {"recipe": json.dumps(identity), "progress": json.dumps(asdict(progress))}
    part.write_bytes(packed(found, about))
    part.replace(path)


def load(
    path: Path, *, identity: object, optimiser: torch.optim.Optimizer
) -> tuple[TrainingProgress, dict[str, Tensor]] | None:
    """The saved progress and tensors; `None` where nothing was saved.

    Also sets the optimiser and torch's global random stream to their saved states.

    Raises:
        ModelError: the file is damaged, or belongs to a training with another recipe or other data.
    """
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            about = file.metadata()
            found = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
        known = json.loads(about["recipe"])
        values = json.loads(about["progress"])
        progress = TrainingProgress(**{one.name: values[one.name] for one in fields(TrainingProgress)})
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"cannot resume from {str(path)!r}: {error}; delete it to start from the beginning"
        ) from error
    if known != json.loads(json.dumps(identity)):
        raise ModelError(
            f"{str(path)!r} is of a training with other settings or data; delete it, or take another --out"
        )
    _restore(optimiser, found)
    torch.set_rng_state(found["random"])
    return progress, under("given/", found)


def under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _restore(optimiser: torch.optim.Optimizer, found: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in under("optimiser/", found).items():
        number, _, kind = name.partition("/")
        state.setdefault(int(number), {})[kind] = value
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})

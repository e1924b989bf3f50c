"""A training in the middle: everything that the next step depends on, in one file without pickle."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as packed
from torch import Tensor

from codeaudit.transforms.errors import ModelError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    P = TypeVar("P", bound=DataclassInstance)

FILE: Final = "training.safetensors"


class Interrupted(Exception):  # noqa: N818 - an outcome, which the command line reports
    """The training was asked to stop; its state is saved."""


@dataclass(slots=True, kw_only=True)
class Standing:
    """Where a training stands; plain values."""

    step: int = 0
    """Steps done, of all stages."""
    samples: int = 0
    loss_sum: float = 0.0
    """Of the steps of this epoch."""
    best_epoch: int = -1
    ended: bool = False
    seconds: float = 0.0
    """Wall time of all sittings."""
    epochs: list[dict[str, float]] = field(default_factory=list)
    """Of each finished epoch its number, its loss, and how well it did."""


@dataclass(slots=True, kw_only=True)
class Progress(Standing):
    """Where the training of a network that reads lines stands."""

    best: float = -1.0
    """What the kept weights are worth on validation data; -1 before there are any."""
    best_threshold: float = 0.0


def save(
    path: Path,
    *,
    recipe: object,
    progress: "DataclassInstance",
    tensors: dict[str, Tensor],
    optimiser: torch.optim.Optimizer,
) -> None:
    """Write all of it, completely or not at all."""
    found = {f"given/{name}": tensor.contiguous() for name, tensor in tensors.items()}
    for number, values in optimiser.state_dict()["state"].items():
        for name, value in values.items():
            found[f"optimiser/{number}/{name}"] = value.contiguous()
    found["random"] = torch.get_rng_state()
    part = path.with_suffix(".part")
    about = {"recipe": json.dumps(recipe), "progress": json.dumps(asdict(progress))}
    part.write_bytes(packed(found, about))
    part.replace(path)


def load(
    path: Path, *, recipe: object, optimiser: torch.optim.Optimizer, kind: "type[P]"
) -> "tuple[P, dict[str, Tensor]] | None":
    """What was saved, with the optimiser and the random stream set to it; `None` where nothing was. `kind` is
    the record of the progress.

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
        progress = kind(**json.loads(about["progress"]))
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"cannot resume from {str(path)!r}: {error}; delete it to start from the beginning"
        ) from error
    if known != json.loads(json.dumps(recipe)):
        raise ModelError(
            f"{str(path)!r} is of a training with other settings or data; delete it, or take another --out"
        )
    _restore(optimiser, found)
    torch.set_rng_state(found["random"])
    given = {name.removeprefix("given/"): value for name, value in found.items() if name.startswith("given/")}
    return progress, given


def _restore(optimiser: torch.optim.Optimizer, found: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in found.items():
        if name.startswith("optimiser/"):
            _, number, kind = name.split("/")
            state.setdefault(int(number), {})[kind] = value
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})

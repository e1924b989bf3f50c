"""The one training loop: steps and epochs, validation, saving, stopping, and exact resume.

A `Learner` provides the network, data and loss of one family. A step depends only on the recipe, the data and
the number of the step. So two trainings with one recipe give equal weights on one machine,
interrupted or not.
"""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from codeaudit.audit.training import state
from codeaudit.audit.training.recipe import Recipe
from codeaudit.audit.training.state import TrainingProgress
from codeaudit.transforms.errors import ModelError

BUCKET: Final = 50
"""Batches among which examples are sorted by length."""
SAVE_SECONDS: Final = 60.0

Integers: TypeAlias = npt.NDArray[np.int64]
N = TypeVar("N", bound=nn.Module)
B = TypeVar("B")


class Monitor(Protocol):
    """Receives the progress of a training."""

    def stepped(self, progress: TrainingProgress, loss: float) -> None:
        """After every step."""
        ...

    def epoch(self, progress: TrainingProgress) -> None:
        """After every epoch; the last entry of `progress.epochs` is new."""
        ...


class Validation(NamedTuple):
    """How good the present weights are."""

    worth: float
    """The number that decides which weights are kept."""
    told: Mapping[str, float]
    """Kept in `TrainingProgress.epochs` and in the model card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained(Generic[N]):
    """The best weights, on the CPU."""

    network: N
    progress: TrainingProgress


class Learner(ABC, Generic[N, B]):
    """One training of one family of networks. `N` is its network, `B` a batch."""

    lower_is_better: ClassVar[bool] = False
    """Whether a smaller `Validation.worth` is a better one."""
    first_stage: int = 0
    """Epochs of a first stage. Its weights are kept only until the second stage has a validation."""

    def __init__(self, recipe: Recipe, hashes: Mapping[str, str], count: int, *, device: str = "cpu") -> None:
        """`hashes` identify the data of each split; `count` is the number of training examples."""
        self.device = device
        self.identity = {"recipe": recipe.as_json(), "data": dict(hashes)}
        self.settings = recipe
        self.per_epoch = recipe.per_epoch(count)
        self.total = recipe.total_steps(count)

    @abstractmethod
    def make(self) -> N:
        """The network with its initial weights. Called with torch's global stream seeded.

        Raises:
            ValueError: the recipe's sizes do not fit together.
        """

    @abstractmethod
    def optimiser(self, network: N) -> torch.optim.Optimizer:
        """The optimiser. A group of parameters may have a `factor` for its learning rate."""

    @abstractmethod
    def rate(self, step: int) -> float:
        """The learning rate of a step counted from 0."""

    @abstractmethod
    def batches(self, epoch: int) -> Iterable[B]:
        """The batches of an epoch, always the same."""

    @abstractmethod
    def loss(self, network: N, batch: B, step: int) -> tuple[Tensor, int]:
        """The loss of a batch and the number of its examples."""

    @abstractmethod
    def validate(self, network: N) -> Validation:
        """How good a network in evaluation mode is on validation data."""

    def validated(self, examples: Sized) -> Integers:
        """The validation examples that judge the weights, always the same."""
        return np.random.default_rng(1).permutation(len(examples))[: self.settings.validation]

    def autocast(self, *, enabled: bool) -> torch.autocast:
        """Multiplies matrices in bfloat16 where enabled; weights stay in float32."""
        return torch.autocast(torch.device(self.device).type, dtype=torch.bfloat16, enabled=enabled)


def train(
    learner: Learner[N, Any], *, folder: Path, monitor: Monitor, stop: Callable[[], bool]
) -> Trained[N]:
    """Train a network, or go on with a training whose state lies in the folder.

    `stop` is called after every step. Torch's global random stream is as before afterwards.

    Raises:
        state.Interrupted: `stop` returned true. The state is saved, and the same call resumes.
        ModelError: the saved state cannot be used, or the loss is not finite.
        ValueError: the recipe's sizes do not fit together.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(learner.settings.seed)
        trainer = _Trainer(learner, folder / state.FILE)
        trainer.run(monitor, stop)
        return trainer.result()


class _Trainer(Generic[N]):
    def __init__(self, learner: Learner[N, Any], path: Path) -> None:
        self._learner, self._path = learner, path
        self._network = learner.make().to(learner.device)
        self._optimiser = learner.optimiser(self._network)
        self._progress = TrainingProgress(best=math.inf if learner.lower_is_better else -1.0)
        self._best: dict[str, Tensor] = {}
        self._network.train()
        found = state.load(path, identity=learner.identity, optimiser=self._optimiser)
        if found is not None:
            self._progress, tensors = found
            self._network.load_state_dict(state.under("now/", tensors))
            self._best = state.under("best/", tensors)

    def run(self, monitor: Monitor, stop: Callable[[], bool]) -> None:
        began, before = time.monotonic(), self._progress.seconds
        saved = began
        progress, learner = self._progress, self._learner
        for batch in self._remaining():
            loss = self._step(batch)
            progress.seconds = before + time.monotonic() - began
            monitor.stepped(progress, loss)
            if progress.step % learner.per_epoch == 0 or progress.step == learner.total:
                self._finish_epoch()
                monitor.epoch(progress)
            if stop() and not self._over():
                self._save()
                raise state.Interrupted
            if time.monotonic() - saved >= SAVE_SECONDS:
                self._save()
                saved = time.monotonic()
        progress.ended = True
        self._save()

    def result(self) -> Trained[N]:
        self._network.load_state_dict(self._best)
        return Trained(network=self._network.cpu().eval(), progress=self._progress)

    def _remaining(self) -> Iterator[Any]:
        """The batches from the present step to the last, or until patience is exhausted."""
        while not self._over():
            epoch, done = divmod(self._progress.step, self._learner.per_epoch)
            for batch in islice(self._learner.batches(epoch), done, None):
                if self._over():
                    return
                yield batch

    def _over(self) -> bool:
        progress, learner = self._progress, self._learner
        if progress.ended or progress.step >= learner.total:
            return True
        waited = len(progress.epochs) - 1 - max(progress.best_epoch, learner.first_stage)
        return waited >= learner.settings.patience

    def _step(self, batch: Any) -> float:
        progress, learner = self._progress, self._learner
        rate = learner.rate(progress.step)
        for group in self._optimiser.param_groups:
            group["lr"] = rate * group.get("factor", 1.0)
        loss, count = learner.loss(self._network, batch, progress.step)
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._network.parameters(), learner.settings.clip)
        self._optimiser.step()
        value = loss.item()
        if not math.isfinite(value):
            raise ModelError(
                f"training diverged at step {progress.step}: loss {value}; take a smaller --rate"
            )
        progress.step += 1
        progress.samples += count
        progress.loss_sum += value
        return value

    def _finish_epoch(self) -> None:
        """Validate the weights, and keep them if they are the best so far."""
        progress, learner = self._progress, self._learner
        self._network.eval()
        worth, told = learner.validate(self._network)
        self._network.train()
        epoch = (progress.step - 1) // learner.per_epoch
        loss = progress.loss_sum / (progress.step - epoch * learner.per_epoch)
        progress.loss_sum = 0.0
        progress.epochs.append({"epoch": epoch, "loss": loss, **told})
        better = worth < progress.best if learner.lower_is_better else worth > progress.best
        if better or progress.best_epoch < learner.first_stage <= epoch:
            progress.best, progress.best_epoch = worth, epoch
            self._best = {name: value.cpu().clone() for name, value in self._network.state_dict().items()}

    def _save(self) -> None:
        tensors = {f"now/{name}": value for name, value in self._network.state_dict().items()}
        tensors |= {f"best/{name}": value for name, value in self._best.items()}
        state.save(
            self._path,
            identity=self._learner.identity,
            progress=self._progress,
            tensors=tensors,
            optimiser=self._optimiser,
        )


def adamw(
    network: nn.Module,
    recipe: Recipe,
    *,
    second_beta: float,
    tables: Collection[Tensor] = (),
    table_factor: float | None = None,
) -> torch.optim.AdamW:
    """AdamW that decays matrices only.

    `tables` are not decayed. With a `table_factor` their learning rate is multiplied by it.
    """
    spared = {id(weight) for weight in tables}
    groups: dict[str, list[nn.Parameter]] = {"matrices": [], "vectors": [], "tables": []}
    for weight in network.parameters():
        apart = id(weight) in spared
        own = "tables" if table_factor is not None else "vectors"
        groups[own if apart else "matrices" if weight.dim() == 2 else "vectors"].append(weight)
    settings = [
        {
            "params": weights,
            "weight_decay": recipe.weight_decay if name == "matrices" else 0.0,
            "factor": (table_factor or 1.0) if name == "tables" else 1.0,
        }
        for name, weights in groups.items()
        if weights
    ]
    return torch.optim.AdamW(settings, lr=recipe.rate, betas=(0.9, second_beta))


def cosine(peak: float, step: int, total: int, *, warm_up: int, floor: float) -> float:
    """The learning rate of a step counted from 0: a linear rise to the peak, then a half cosine.

    `floor` is the share of the peak at which the cosine ends.
    """
    fall = floor + (1 - floor) * (0.5 + 0.5 * math.cos(math.pi * min(1.0, step / total)))
    return peak * min(1.0, (step + 1) / warm_up) * fall


def short_warm_up(recipe: Recipe, total: int) -> int:
    """The recipe's warm-up, at most a fifth of all steps: a small corpus has few."""
    return min(recipe.warm_up, max(1, total // 5))


def bucketed(lengths: Integers, size: int, rng: np.random.Generator) -> list[Integers]:
    """Batches of examples of similar length, in an order drawn from `rng`."""
    shuffled = rng.permutation(len(lengths))
    found: list[Integers] = []
    for start in range(0, len(shuffled), size * BUCKET):
        bucket = shuffled[start : start + size * BUCKET]
        bucket = bucket[np.argsort(lengths[bucket], kind="stable")]
        found += [bucket[at : at + size] for at in range(0, len(bucket), size)]
    return [found[number] for number in rng.permutation(len(found))]

"""The training loop of the networks that read terms, saved so often that nothing much is ever lost.

What a step does is decided by the recipe, the data and the step's number alone: two trainings with one recipe
give equal weights on one machine, interrupted or not.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import torch
from torch import Tensor

from audit.nets.registry import TERM_NETWORKS
from audit.nets.renamer import Renamer
from audit.training import state
from audit.training.terms.material import Integers, TermExamples, TermMaterial
from audit.training.terms.recipe import TermRecipe
from audit.training.terms.scores import errors, mape
from transforms.errors import ModelError
from transforms.seeding import stream

BUCKET: Final = 50
"""Batches among which blocks are sorted by length."""
SAVE_SECONDS: Final = 60.0


@dataclass(slots=True, kw_only=True)
class TermProgress:
    """Where a training stands; plain values."""

    step: int = 0
    samples: int = 0
    loss_sum: float = 0.0
    """Of the steps of this epoch."""
    best: float = math.inf
    """Validation error of the kept weights; infinite before there are any."""
    best_epoch: int = -1
    ended: bool = False
    seconds: float = 0.0
    """Wall time of all sittings."""
    epochs: list[dict[str, float]] = field(default_factory=list)
    """Of each finished epoch its number, loss and validation error."""


class TermMonitor(Protocol):
    """Who watches."""

    def stepped(self, progress: TermProgress, loss: float) -> None:
        """After every step."""
        ...

    def epoch(self, progress: TermProgress) -> None:
        """After every epoch; the last entry of its `epochs` is new."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TermTrained:
    """The best weights."""

    network: Renamer
    progress: TermProgress


def per_epoch(recipe: TermRecipe, count: int) -> int:
    """The steps of an epoch of so many blocks."""
    return -(-count // recipe.batch)


def total_steps(recipe: TermRecipe, count: int) -> int:
    """The steps of a training with so many blocks."""
    return recipe.epochs * per_epoch(recipe, count) if recipe.steps is None else recipe.steps


def train(
    recipe: TermRecipe,
    material: TermMaterial,
    *,
    folder: Path,
    monitor: TermMonitor,
    stop: Callable[[], bool],
    device: str = "cpu",
) -> TermTrained:
    """Train a network, or go on with a training whose state lies in the folder.

    `stop` is asked after every step. Torch's global random stream is as before afterwards.

    Raises:
        Interrupted: `stop` said so. The same call resumes.
        ModelError: the saved state cannot be used.
        ValueError: the recipe's sizes do not fit together.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        loop = _Loop(recipe, material, folder / state.FILE, device)
        loop.run(monitor, stop)
        return loop.result()


def batches(examples: TermExamples, recipe: TermRecipe, epoch: int) -> list[Integers]:
    """The batches of an epoch: blocks of like length together, in an order of the seed's and epoch's own."""
    rng = np.random.default_rng([recipe.seed, epoch])
    shuffled = rng.permutation(len(examples))
    found: list[Integers] = []
    for start in range(0, len(shuffled), recipe.batch * BUCKET):
        bucket = shuffled[start : start + recipe.batch * BUCKET]
        bucket = bucket[np.argsort(examples.lengths[bucket], kind="stable")]
        found += [bucket[at : at + recipe.batch] for at in range(0, len(bucket), recipe.batch)]
    return [found[number] for number in rng.permutation(len(found))]


def rate(recipe: TermRecipe, step: int, total: int) -> float:
    """The learning rate of a step counted from 0."""
    fall = 0.02 + 0.98 * (0.5 + 0.5 * math.cos(math.pi * min(1.0, step / total)))
    return recipe.rate * min(1.0, (step + 1) / recipe.warm_up) * fall


class _Loop:
    def __init__(self, recipe: TermRecipe, material: TermMaterial, path: Path, device: str) -> None:
        self._recipe, self._material, self._path, self._device = recipe, material, path, device
        self._entry = TERM_NETWORKS[recipe.network]
        self._network = self._entry.make(recipe.sizes(material.tokenizer.get_vocab_size()))
        _begin_at(self._network, material.train)
        self._network.to(device)
        self._optimiser = optimiser(self._network, recipe)
        self._per_epoch = per_epoch(recipe, len(material.train))
        self._total = total_steps(recipe, len(material.train))
        self._identity = {"recipe": recipe.as_json(), "data": dict(material.hashes)}
        self._progress = TermProgress()
        self._best: dict[str, Tensor] = {}
        self._network.train()
        self._resume()

    def run(self, monitor: TermMonitor, stop: Callable[[], bool]) -> None:
        began, before = time.monotonic(), self._progress.seconds
        saved = began
        progress = self._progress
        for chosen in self._remaining():
            loss = self._step(chosen)
            progress.seconds = before + time.monotonic() - began
            monitor.stepped(progress, loss)
            if progress.step % self._per_epoch == 0 or progress.step == self._total:
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

    def result(self) -> TermTrained:
        self._network.load_state_dict(self._best)
        return TermTrained(network=self._network.cpu().eval(), progress=replace(self._progress))

    def _remaining(self) -> Iterator[Integers]:
        """The batches from the present step to the last, or to where there is no more to be had."""
        while not self._over():
            epoch, done = divmod(self._progress.step, self._per_epoch)
            for chosen in batches(self._material.train, self._recipe, epoch)[done:]:
                if self._over():
                    return
                yield chosen

    def _over(self) -> bool:
        progress = self._progress
        if progress.ended or progress.step >= self._total:
            return True
        return len(progress.epochs) - 1 - max(progress.best_epoch, 0) >= self._recipe.patience

    def _step(self, chosen: Integers) -> float:
        progress, recipe = self._progress, self._recipe
        for group in self._optimiser.param_groups:
            group["lr"] = rate(recipe, progress.step, self._total)
        renaming = stream(recipe.seed, "renaming", "step", progress.step) if self._entry.augmented else None
        batch, labels = self._material.train.batch(chosen, renaming)
        loss = errors(self._network(batch.to(self._device)), labels.to(self._device)).mean()
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), recipe.clip)
        self._optimiser.step()
        value = loss.item()
        if not math.isfinite(value):
            raise ModelError(
                f"training diverged at step {progress.step}: loss {value}; take a smaller --rate"
            )
        progress.step += 1
        progress.samples += len(chosen)
        progress.loss_sum += value
        return value

    def _finish_epoch(self) -> None:
        progress, valid = self._progress, self._material.valid
        epoch = (progress.step - 1) // self._per_epoch
        chosen = np.random.default_rng(1).permutation(len(valid))[: self._recipe.validation]
        self._network.eval()
        error = mape(self._network, valid, chosen, device=self._device)
        self._network.train()
        steps = progress.step - epoch * self._per_epoch
        progress.epochs.append({"epoch": epoch, "loss": progress.loss_sum / steps, "valid": error})
        progress.loss_sum = 0.0
        if error < progress.best:
            progress.best, progress.best_epoch = error, epoch
            self._best = {name: value.cpu().clone() for name, value in self._network.state_dict().items()}

    def _save(self) -> None:
        tensors = {f"now/{name}": value for name, value in self._network.state_dict().items()}
        tensors |= {f"best/{name}": value for name, value in self._best.items()}
        state.save(
            self._path,
            recipe=self._identity,
            progress=self._progress,
            tensors=tensors,
            optimiser=self._optimiser,
        )

    def _resume(self) -> None:
        found = state.load(self._path, recipe=self._identity, optimiser=self._optimiser, kind=TermProgress)
        if found is not None:
            self._progress, tensors = found
            self._network.load_state_dict(_under("now/", tensors))
            self._best = _under("best/", tensors)


def optimiser(network: Renamer, recipe: TermRecipe) -> torch.optim.AdamW:
    """AdamW with decay on matrices only."""
    matrices = [weight for weight in network.parameters() if weight.dim() == 2]
    vectors = [weight for weight in network.parameters() if weight.dim() != 2]
    groups = [
        {"params": matrices, "weight_decay": recipe.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.rate, betas=(0.9, 0.999))


@torch.no_grad()
def _begin_at(network: Renamer, train: TermExamples) -> None:
    """Let the first answers be as large as the labels: too large ones have errors without bound."""
    logs = train.labels.log()
    if network.readout == "sum":
        logs = logs - torch.from_numpy(np.log(train.lengths)).float()
    network.head.bias.fill_(float(logs.median()))


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}

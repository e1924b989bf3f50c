"""The training loop: two stages, one step function, saved so often that nothing much is ever lost.

What a step does is decided by the recipe, the data and the step's number alone: two trainings with one
recipe give equal weights on one machine, interrupted or not.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from audit.nets.registry import NETWORKS, Network, build
from audit.training import state
from audit.training.examples import Examples, Integers
from audit.training.material import Material
from audit.training.recipe import Recipe
from audit.training.scores import judged, scores, tune
from audit.training.start import initialise, optimiser, rate
from audit.training.state import Progress
from transforms.errors import ModelError

BUCKET: Final = 50
"""Batches among which examples are sorted by length."""
SAVE_SECONDS: Final = 60.0


class Monitor(Protocol):
    """Who watches."""

    def stepped(self, progress: Progress, loss: float) -> None:
        """After every step."""
        ...

    def epoch(self, progress: Progress) -> None:
        """After every epoch; the last entry of its `epochs` is new."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """The best weights."""

    network: Network
    threshold: float
    progress: Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many steps there are."""

    per_epoch: int
    bag: int
    """Steps of the first stage."""
    blocks: int
    """Steps of the second."""

    @classmethod
    def of(cls, recipe: Recipe, count: int) -> "Plan":
        """For so many training examples."""
        per_epoch = -(-count // recipe.batch)
        blocks = recipe.epochs * per_epoch if recipe.steps is None else recipe.steps
        return cls(per_epoch=per_epoch, bag=recipe.bag_epochs * per_epoch, blocks=blocks)

    @property
    def total(self) -> int:
        """Of both stages."""
        return self.bag + self.blocks


def train(
    recipe: Recipe, material: Material, *, folder: Path, monitor: Monitor, stop: Callable[[], bool]
) -> Trained:
    """Train a network, or go on with a training whose state lies in the folder.

    `stop` is asked after every step. Torch's global random stream is as before afterwards.

    Raises:
        state.Interrupted: `stop` said so. The same call resumes.
        ModelError: the saved state cannot be used.
        ValueError: the recipe's sizes do not fit together.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        loop = _Loop(recipe, material, folder / state.FILE)
        loop.run(monitor, stop)
        return loop.result()


def batches(examples: Examples, recipe: Recipe, epoch: int) -> list[tuple[Integers, Integers | None]]:
    """The batches of an epoch: examples of like length together, in an order of the seed's and epoch's own.

    With stored orders each example comes with one of them.
    """
    rng = np.random.default_rng([recipe.seed, epoch])
    shuffled = rng.permutation(len(examples))
    found: list[Integers] = []
    for start in range(0, len(shuffled), recipe.batch * BUCKET):
        bucket = shuffled[start : start + recipe.batch * BUCKET]
        bucket = bucket[np.argsort(examples.tokens[bucket], kind="stable")]
        found += [bucket[at : at + recipe.batch] for at in range(0, len(bucket), recipe.batch)]
    mixed = [found[number] for number in rng.permutation(len(found))]
    stored = len(examples.orders)
    return [(one, rng.integers(0, stored, len(one)) if stored else None) for one in mixed]


class _Loop:
    def __init__(self, recipe: Recipe, material: Material, path: Path) -> None:
        vocabulary = material.tokenizer.get_vocab_size()
        shape = recipe.shape(vocabulary=vocabulary, labels=len(material.labels))
        self._recipe, self._material, self._path = recipe, material, path
        self._network = build(recipe.network, shape, recipe.options)
        initialise(self._network, material)
        self._optimiser = optimiser(self._network, recipe)
        self._relation = NETWORKS[recipe.network].relation
        self._plan = Plan.of(recipe, len(material.train))
        self._identity = {"recipe": recipe.as_json(), "data": dict(material.hashes)}
        self._progress = Progress()
        self._best: dict[str, Tensor] = {}
        self._network.train()
        self._resume()

    def run(self, monitor: Monitor, stop: Callable[[], bool]) -> None:
        began, before = time.monotonic(), self._progress.seconds
        saved = began
        progress = self._progress
        for chosen, orders in self._remaining():
            loss = self._step(chosen, orders)
            progress.seconds = before + time.monotonic() - began
            monitor.stepped(progress, loss)
            if progress.step % self._plan.per_epoch == 0 or progress.step == self._plan.total:
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

    def result(self) -> Trained:
        self._network.load_state_dict(self._best)
        self._network.trunk.bag = False
        progress = replace(self._progress)
        return Trained(network=self._network.eval(), threshold=progress.best_threshold, progress=progress)

    def _remaining(self) -> Iterator[tuple[Integers, Integers | None]]:
        """The batches from the present step to the last, or to where there is no more to be had."""
        while not self._over():
            epoch, done = divmod(self._progress.step, self._plan.per_epoch)
            for pair in batches(self._material.train, self._recipe, epoch)[done:]:
                if self._over():
                    return
                yield pair

    def _over(self) -> bool:
        progress = self._progress
        if progress.ended or progress.step >= self._plan.total:
            return True
        tried = [int(one["epoch"]) for one in progress.epochs if one["epoch"] >= self._recipe.bag_epochs]
        return bool(tried) and tried[-1] - max(progress.best_epoch, tried[0]) >= self._recipe.patience

    def _set_stage(self) -> None:
        done, plan, trunk = self._progress.step, self._plan, self._network.trunk
        trunk.bag = done < plan.bag
        new = rate(self._recipe, done if trunk.bag else done - plan.bag, plan.blocks, bag=trunk.bag)
        for group in self._optimiser.param_groups:
            group["lr"] = new * group["factor"]

    def _step(self, chosen: Integers, orders: Integers | None) -> float:
        progress = self._progress
        self._set_stage()
        batch = self._material.train.batch(chosen, self._relation, orders)
        targets = self._material.train.targets(chosen, len(self._material.labels))
        with torch.autocast("cpu", torch.bfloat16, enabled=self._recipe.half):
            logits = self._network(batch)
        loss = F.binary_cross_entropy_with_logits(logits.float(), targets, reduction="sum") / len(chosen)
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), self._recipe.clip)
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
        epoch = (progress.step - 1) // self._plan.per_epoch
        chosen = np.random.default_rng(1).permutation(len(valid))[: self._recipe.validation]
        with _answering(self._network):
            found = judged(self._network, valid, chosen, self._relation, len(self._material.labels))
        threshold = tune(found)
        micro = scores(found, threshold).micro
        steps = progress.step - epoch * self._plan.per_epoch
        progress.epochs.append(
            {"epoch": epoch, "loss": progress.loss_sum / steps, "valid": micro, "threshold": threshold}
        )
        progress.loss_sum = 0.0
        first = progress.step > self._plan.bag and progress.best_epoch < self._recipe.bag_epochs
        if first or micro > progress.best:  # a bag of words is kept only until there is a whole network
            progress.best, progress.best_threshold, progress.best_epoch = micro, threshold, epoch
            self._best = {name: value.clone() for name, value in self._network.state_dict().items()}

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
        found = state.load(self._path, recipe=self._identity, optimiser=self._optimiser, kind=Progress)
        if found is not None:
            self._progress, tensors = found
            self._network.load_state_dict(_under("now/", tensors))
            self._best = _under("best/", tensors)


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


@contextmanager
def _answering(network: Network) -> Iterator[None]:
    """Without dropout, for a while."""
    network.eval()
    try:
        yield
    finally:
        network.train()

"""The training loop: two stages, one step function, saved so often that nothing much is ever lost.

What a step does is decided by the recipe, the data and the step's number alone: two trainings with one
recipe give equal weights on one machine, interrupted or not.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
import torch.nn.functional as F

from codeaudit.audit.papers.registry import NETWORKS, Network, build
from codeaudit.audit.papers.spe_attention.examples import Examples, Integers
from codeaudit.audit.papers.spe_attention.material import Material
from codeaudit.audit.papers.spe_attention.recipe import Recipe
from codeaudit.audit.papers.spe_attention.scores import judged, scores, tune
from codeaudit.audit.papers.spe_attention.start import initialise, optimiser, rate
from codeaudit.audit.training import state
from codeaudit.audit.training.state import Progress
from codeaudit.audit.training.trainer import Monitor, Sitting, bucketed

Batch: TypeAlias = tuple[Integers, Integers | None]
"""Places of examples, and of each the place of its order."""


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
    recipe: Recipe, material: Material, *, folder: Path, monitor: Monitor[Progress], stop: Callable[[], bool]
) -> Trained:
    """Train a network, or go on with a training whose state lies in the folder.

    `stop` is asked after every step. Torch's global random stream is as before afterwards.

    Raises:
        state.Interrupted: `stop` said so. The same call resumes.
        ModelError: the saved state cannot be used.
        ValueError: the recipe's sizes do not fit together, or the material was prepared for a network that
            reads something else.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        loop = _Loop(recipe, material, folder / state.FILE)
        loop.run(monitor, stop)
        return loop.result()


def batches(examples: Examples, recipe: Recipe, epoch: int) -> list[Batch]:
    """The batches of an epoch: examples of like length together, in an order of the seed's and epoch's own.

    With stored orders each example comes with one of them.
    """
    rng = np.random.default_rng([recipe.seed, epoch])
    mixed = bucketed(examples.tokens, recipe.batch, rng)
    stored = len(examples.orders)
    return [(one, rng.integers(0, stored, len(one)) if stored else None) for one in mixed]


class _Loop(Sitting[Progress, Batch]):
    _network: Network

    def __init__(self, recipe: Recipe, material: Material, path: Path) -> None:
        vocabulary = material.tokenizer.get_vocab_size()
        labels, pooling = len(material.labels), material.task.pooling
        shape = recipe.shape(vocabulary=vocabulary, labels=labels, pooling=pooling)
        self._recipe, self._material = recipe, material
        if (NETWORKS[recipe.network].relation == "referents") != bool(len(material.train.referents)):
            raise ValueError(f"the features are not those of {recipe.network}; prepare them with its recipe")
        network = build(recipe.network, shape, recipe.options)
        initialise(network, material)
        self._relation = NETWORKS[recipe.network].relation
        self._plan = Plan.of(recipe, len(material.train))
        super().__init__(
            network,
            optimiser(network, recipe),
            progress=Progress(),
            path=path,
            identity={"recipe": recipe.as_json(), "data": dict(material.hashes)},
            per_epoch=self._plan.per_epoch,
            total=self._plan.total,
            clip=recipe.clip,
            patience=recipe.patience,
        )

    def result(self) -> Trained:
        self._network.load_state_dict(self._best)
        self._network.trunk.bag = False
        progress = replace(self._progress)
        return Trained(network=self._network.eval(), threshold=progress.best_threshold, progress=progress)

    def _batches(self, epoch: int) -> list[Batch]:
        return batches(self._material.train, self._recipe, epoch)

    def _is_tired(self) -> bool:
        progress = self._progress
        tried = [int(one["epoch"]) for one in progress.epochs if one["epoch"] >= self._recipe.bag_epochs]
        return bool(tried) and tried[-1] - max(progress.best_epoch, tried[0]) >= self._recipe.patience

    def _set_stage(self) -> None:
        done, plan, trunk = self._progress.step, self._plan, self._network.trunk
        trunk.bag = done < plan.bag
        new = rate(self._recipe, done if trunk.bag else done - plan.bag, plan.blocks, bag=trunk.bag)
        for group in self._optimiser.param_groups:
            group["lr"] = new * group["factor"]

    def _step(self, batch: Batch) -> float:
        chosen, orders = batch
        self._set_stage()
        inputs = self._material.train.batch(chosen, self._relation, orders)
        targets = self._material.train.targets(chosen, len(self._material.labels))
        with torch.autocast("cpu", torch.bfloat16, enabled=self._recipe.half):
            logits = self._network(inputs)
        loss = F.binary_cross_entropy_with_logits(logits.float(), targets, reduction="sum") / len(chosen)
        return self._learn(loss, len(chosen))

    def _finish_epoch(self) -> None:
        progress, valid = self._progress, self._material.valid
        chosen = np.random.default_rng(1).permutation(len(valid))[: self._recipe.validation]
        with _answering(self._network):
            found = judged(self._network, valid, chosen, self._relation, len(self._material.labels))
        task = self._material.task
        threshold = tune(found, task)
        reached = scores(found, threshold, task)
        epoch, loss = self._end_epoch()
        progress.epochs.append({"epoch": epoch, "loss": loss, "valid": reached.told, "threshold": threshold})
        first = progress.step > self._plan.bag and progress.best_epoch < self._recipe.bag_epochs
        if (
            first or reached.worth > progress.best
        ):  # a bag of words is kept only until there is a whole network
            progress.best, progress.best_threshold, progress.best_epoch = reached.worth, threshold, epoch
            self._keep()


@contextmanager
def _answering(network: Network) -> Iterator[None]:
    """Without dropout, for a while."""
    network.eval()
    try:
        yield
    finally:
        network.train()

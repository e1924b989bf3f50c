"""The training loop of the networks that read terms, saved so often that nothing much is ever lost.

What a step does is decided by the recipe, the data and the step's number alone: two trainings with one recipe
give equal weights on one machine, interrupted or not.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from codeaudit.audit.papers.registry import TERM_NETWORKS
from codeaudit.audit.papers.renamer.material import Integers, TermExamples, TermMaterial
from codeaudit.audit.papers.renamer.network import Renamer
from codeaudit.audit.papers.renamer.recipe import TermRecipe
from codeaudit.audit.papers.renamer.scores import mean_error
from codeaudit.audit.training import state
from codeaudit.audit.training.state import Standing
from codeaudit.audit.training.trainer import Monitor, Sitting, bucketed, cosine
from codeaudit.transforms.seeding import stream


@dataclass(slots=True, kw_only=True)
class TermProgress(Standing):
    """Where the training of a network that reads terms stands."""

    best: float = math.inf
    """Validation error of the kept weights; infinite before there are any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermTrained:
    """The best weights."""

    network: Renamer
    progress: TermProgress


def per_epoch(recipe: TermRecipe, count: int) -> int:
    """The steps of an epoch of so many examples."""
    return -(-count // recipe.batch)


def total_steps(recipe: TermRecipe, count: int) -> int:
    """The steps of a training with so many examples."""
    return recipe.epochs * per_epoch(recipe, count) if recipe.steps is None else recipe.steps


def train(
    recipe: TermRecipe,
    material: TermMaterial,
    *,
    folder: Path,
    monitor: Monitor[TermProgress],
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
    """The batches of an epoch: texts of like length together, in an order of the seed's and epoch's own."""
    return bucketed(examples.lengths, recipe.batch, np.random.default_rng([recipe.seed, epoch]))


def rate(recipe: TermRecipe, step: int, total: int) -> float:
    """The learning rate of a step counted from 0."""
    return cosine(recipe.rate, step, total, warm_up=recipe.warm_up, floor=0.02)


class _Loop(Sitting[TermProgress, Integers]):
    _network: Renamer

    def __init__(self, recipe: TermRecipe, material: TermMaterial, path: Path, device: str) -> None:
        self._recipe, self._material, self._device = recipe, material, device
        self._entry = TERM_NETWORKS[recipe.network]
        network = self._entry.make(recipe.sizes(material.tokenizer.get_vocab_size()))
        _begin_at(network, material.train)
        network.to(device)
        count = len(material.train)
        super().__init__(
            network,
            optimiser(network, recipe),
            progress=TermProgress(),
            path=path,
            identity={"recipe": recipe.as_json(), "data": dict(material.hashes)},
            per_epoch=per_epoch(recipe, count),
            total=total_steps(recipe, count),
            clip=recipe.clip,
            patience=recipe.patience,
        )

    def result(self) -> TermTrained:
        self._network.load_state_dict(self._best)
        return TermTrained(network=self._network.cpu().eval(), progress=replace(self._progress))

    def _batches(self, epoch: int) -> list[Integers]:
        return batches(self._material.train, self._recipe, epoch)

    def _step(self, batch: Integers) -> float:
        progress, recipe = self._progress, self._recipe
        self._set_rate(rate(recipe, progress.step, self._total))
        renaming = stream(recipe.seed, "renaming", "step", progress.step) if self._entry.augmented else None
        inputs, labels = self._material.train.batch(batch, renaming)
        target = self._material.train.task.target
        kind = torch.device(self._device).type
        with torch.autocast(kind, dtype=torch.bfloat16, enabled=recipe.autocast):
            outputs = self._network(inputs.to(self._device))
        loss = target.losses(outputs.float(), labels.to(self._device)).mean()
        return self._learn(loss, len(batch))

    def _finish_epoch(self) -> None:
        progress, valid = self._progress, self._material.valid
        chosen = np.random.default_rng(1).permutation(len(valid))[: self._recipe.validation]
        self._network.eval()
        error = mean_error(self._network, valid, chosen, device=self._device)
        self._network.train()
        epoch, loss = self._end_epoch()
        progress.epochs.append({"epoch": epoch, "loss": loss, "valid": error})
        if error < progress.best:
            progress.best, progress.best_epoch = error, epoch
            self._keep()


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
    """Let the first outputs be as large as the right ones: too large costs have errors without bound."""
    right = train.task.target.outputs(train.labels)
    if network.readout == "sum":
        right = right - torch.from_numpy(np.log(train.lengths)).float()
    network.head.bias.fill_(float(right.median()))

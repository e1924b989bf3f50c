"""The training loop of the language models, saved so often that nothing much is ever lost.

What a step does is decided by the recipe, the data and the step's number alone: two trainings with one recipe
give equal weights on one machine, interrupted or not.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from codeaudit.audit.papers.dependency_encoding.material import NOTHING, StreamMaterial
from codeaudit.audit.papers.dependency_encoding.network import sparsity
from codeaudit.audit.papers.dependency_encoding.recipe import StreamRecipe
from codeaudit.audit.papers.dependency_encoding.registry import build
from codeaudit.audit.papers.dependency_encoding.scores import judged
from codeaudit.audit.papers.dependency_encoding.streams import Integers
from codeaudit.audit.papers.dependency_encoding.trunk import Decoder
from codeaudit.audit.training import state
from codeaudit.audit.training.state import Standing
from codeaudit.audit.training.trainer import Monitor, Sitting, cosine


@dataclass(slots=True, kw_only=True)
class StreamProgress(Standing):
    """Where the training of a language model stands; its epochs are stretches of steps."""

    best: float = math.inf
    """Validation bits per byte of the kept weights; infinite before there are any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTrained:
    """The best weights."""

    network: Decoder
    progress: StreamProgress


def total_steps(recipe: StreamRecipe, count: int) -> int:
    """The steps of a training with so many windows."""
    return recipe.epochs * -(-count // recipe.batch) if recipe.steps is None else recipe.steps


def train(
    recipe: StreamRecipe,
    material: StreamMaterial,
    *,
    folder: Path,
    monitor: Monitor[StreamProgress],
    stop: Callable[[], bool],
    device: str = "cpu",
) -> StreamTrained:
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


def batch_of(recipe: StreamRecipe, count: int, step: int) -> Integers:
    """The windows of a step, out of so many: every epoch has an order of its own."""
    epoch, place = divmod(step, -(-count // recipe.batch))
    return _order(recipe.seed, epoch, count)[place * recipe.batch : (place + 1) * recipe.batch]


@lru_cache(maxsize=2)
def _order(seed: int, epoch: int, count: int) -> Integers:
    return np.random.default_rng([seed, epoch]).permutation(count)


def rate(recipe: StreamRecipe, step: int, total: int) -> float:
    """The learning rate of a step counted from 0."""
    return cosine(recipe.rate, step, total, warm_up=recipe.warm_up, floor=0.05)


class _Loop(Sitting[StreamProgress, Integers]):
    _network: Decoder

    def __init__(self, recipe: StreamRecipe, material: StreamMaterial, path: Path, device: str) -> None:
        self._recipe, self._material, self._device = recipe, material, device
        network = build(recipe.network, recipe.sizes(material.streams), recipe.options)
        network.to(device)
        super().__init__(
            network,
            optimiser(network, recipe),
            progress=StreamProgress(),
            path=path,
            identity={"recipe": recipe.as_json(), "data": dict(material.hashes)},
            per_epoch=recipe.stretch,
            total=total_steps(recipe, len(material.train)),
            clip=recipe.clip,
            patience=recipe.patience,
        )

    def result(self) -> StreamTrained:
        self._network.load_state_dict(self._best)
        return StreamTrained(network=self._network.cpu().eval(), progress=replace(self._progress))

    def _batches(self, epoch: int) -> list[Integers]:
        recipe, count = self._recipe, len(self._material.train)
        steps = range(epoch * recipe.stretch, (epoch + 1) * recipe.stretch)
        return [batch_of(recipe, count, step) for step in steps]

    def _step(self, batch: Integers) -> float:
        recipe = self._recipe
        self._set_rate(rate(recipe, self._progress.step, self._total))
        inputs, targets = (one.to(self._device) for one in self._material.train.batch(batch))
        kind = torch.device(self._device).type
        with torch.autocast(kind, dtype=torch.bfloat16, enabled=recipe.half):
            hidden, places = self._network.hidden(inputs)
            logits = self._network.logits(hidden)
        loss = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), ignore_index=NOTHING)
        if places.codes and recipe.sparsity:
            loss = loss + recipe.sparsity * sparsity(places, targets != NOTHING)
        return self._learn(loss, len(batch))

    def _finish_epoch(self) -> None:
        progress, valid = self._progress, self._material.valid
        chosen = np.random.default_rng(1).permutation(len(valid))[: self._recipe.validation]
        self._network.eval()
        found = judged(self._network, valid, chosen, device=self._device)
        self._network.train()
        epoch, loss = self._end_epoch()
        bits = found.bits_per_byte
        progress.epochs.append({"epoch": epoch, "loss": loss, "valid": bits, "accuracy": found.accuracy})
        if bits < progress.best:
            progress.best, progress.best_epoch = bits, epoch
            self._keep()


def optimiser(network: Decoder, recipe: StreamRecipe) -> torch.optim.AdamW:
    """AdamW with decay on matrices only, the table of tokens aside."""
    tokens = network.tokens.weight
    matrices = [weight for weight in network.parameters() if weight.dim() == 2 and weight is not tokens]
    others = [weight for weight in network.parameters() if weight.dim() != 2 or weight is tokens]
    groups = [
        {"params": matrices, "weight_decay": recipe.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.rate, betas=(0.9, 0.95))

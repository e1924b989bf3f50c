"""The training loop of the namers: the loss is the cross-entropy of a name's words, given those before."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from codeaudit.audit.papers.tree_transformer.baselines import STEPS, Kim, between
from codeaudit.audit.papers.tree_transformer.examples import IGNORED, Integers, TreeExamples, told
from codeaudit.audit.papers.tree_transformer.material import Named, TreeMaterial
from codeaudit.audit.papers.tree_transformer.network import Namer, TreeShape
from codeaudit.audit.papers.tree_transformer.recipe import TreeRecipe
from codeaudit.audit.papers.tree_transformer.registry import namer
from codeaudit.audit.papers.tree_transformer.scores import TreeNameScores, names
from codeaudit.audit.training import state
from codeaudit.audit.training.state import Standing
from codeaudit.audit.training.trainer import Monitor, Sitting, bucketed, cosine

AT_ONCE: Final = 64
COUNTED: Final = 1000
"""Training trees of which the relations are counted."""


@dataclass(slots=True, kw_only=True)
class TreeProgress(Standing):
    """Where the training of a transformer over trees stands."""

    best: float = -1.0
    """What the kept weights are worth on validation data; -1 before there are any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeTrained:
    """The best weights."""

    network: Namer
    progress: TreeProgress


def total_steps(recipe: TreeRecipe, count: int) -> int:
    """The steps of a training with so many examples."""
    return recipe.epochs * per_epoch(recipe, count) if recipe.steps is None else recipe.steps


def per_epoch(recipe: TreeRecipe, count: int) -> int:
    """The steps of an epoch of so many examples."""
    return -(-count // recipe.batch)


def train(
    recipe: TreeRecipe,
    material: TreeMaterial,
    *,
    folder: Path,
    monitor: Monitor[TreeProgress],
    stop: Callable[[], bool],
) -> TreeTrained:
    """Train a namer, or go on with a training whose state lies in the folder.

    `stop` is asked after every step. Torch's global random stream is as before afterwards.

    Raises:
        Interrupted: `stop` said so. The same call resumes.
        ModelError: the saved state cannot be used.
        ValueError: the recipe's sizes do not fit together.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        loop = _Loop(recipe, material, folder / state.FILE)
        loop.run(monitor, stop)
        return loop.result()


def rate(recipe: TreeRecipe, step: int, total: int) -> float:
    """The learning rate of a step counted from 0."""
    warm_up = min(recipe.warm_up, max(1, total // 5))
    return cosine(recipe.rate, step, total, warm_up=warm_up, floor=0.02)


def optimiser(network: torch.nn.Module, recipe: TreeRecipe) -> torch.optim.AdamW:
    """AdamW with decay on matrices only, those of embeddings aside."""
    tables = {
        id(weight)
        for module in network.modules()
        if isinstance(module, torch.nn.Embedding)
        for weight in module.parameters()
    }
    groups: dict[bool, list[torch.nn.Parameter]] = {True: [], False: []}
    for weight in network.parameters():
        groups[weight.dim() == 2 and id(weight) not in tables].append(weight)
    settings = [
        {"params": groups[True], "weight_decay": recipe.weight_decay},
        {"params": groups[False], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(settings, lr=recipe.rate, betas=(0.9, 0.98))


def count_relations(network: torch.nn.Module, examples: TreeExamples, recipe: TreeRecipe) -> None:
    """Let Kim's scheme know which relations are frequent; nothing for the others."""
    scheme = network.scheme
    if not isinstance(scheme, Kim):
        return
    counts = torch.zeros(STEPS * STEPS, dtype=torch.long)
    chosen = np.random.default_rng(recipe.seed).permutation(len(examples))[:COUNTED]
    for number in chosen:
        batch = examples.batch(np.array([number]), levels=recipe.levels, degree=recipe.degree)
        counts += torch.bincount(between(batch.depths).flatten(), minlength=STEPS * STEPS)
    scheme.learn(counts)


class _Loop(Sitting[TreeProgress, Integers]):
    _network: Namer

    def __init__(self, recipe: TreeRecipe, material: TreeMaterial, path: Path) -> None:
        self._recipe, self._material = recipe, material
        self._spoken = material.words.spoken
        network = namer(recipe.network, shape_of(recipe, material), recipe.options)
        count_relations(network, material.train.examples, recipe)
        begin(network, material)
        count = len(material.train)
        super().__init__(
            network,
            optimiser(network, recipe),
            progress=TreeProgress(),
            path=path,
            identity={"recipe": recipe.as_json(), "data": dict(material.hashes)},
            per_epoch=per_epoch(recipe, count),
            total=total_steps(recipe, count),
            clip=recipe.clip,
            patience=recipe.patience,
        )

    def result(self) -> TreeTrained:
        self._network.load_state_dict(self._best)
        return TreeTrained(network=self._network.eval(), progress=replace(self._progress))

    def _batches(self, epoch: int) -> list[Integers]:
        rng = np.random.default_rng([self._recipe.seed, epoch])
        return bucketed(self._material.train.examples.lengths, self._recipe.batch, rng)

    def _step(self, batch: Integers) -> float:
        progress, recipe, train = self._progress, self._recipe, self._material.train
        self._set_rate(rate(recipe, progress.step, self._total))
        inputs = train.examples.batch(batch, levels=recipe.levels, degree=recipe.degree)
        given, targets = told([train.names[number] for number in batch], self._spoken)
        with torch.autocast("cpu", torch.bfloat16, enabled=recipe.half):
            logits = self._network(inputs, given)
        loss = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
        return self._learn(loss, len(batch))

    def _finish_epoch(self) -> None:
        progress, valid = self._progress, self._material.valid
        chosen = np.random.default_rng(1).permutation(len(valid))[: self._recipe.validation]
        self._network.eval()
        reached = judged(self._network, self._material, valid, chosen, self._recipe)
        self._network.train()
        epoch, loss = self._end_epoch()
        progress.epochs.append({"epoch": epoch, "loss": loss, "valid": reached.micro})
        if reached.micro > progress.best:
            progress.best, progress.best_epoch = reached.micro, epoch
            self._keep()


def shape_of(recipe: TreeRecipe, material: TreeMaterial) -> TreeShape:
    """The sizes of the network."""
    words = material.words
    types, values = words.reader(recipe.spelling).sizes
    return recipe.shape(types=types, values=values, names=len(words.labels))


@torch.no_grad()
def begin(network: Namer, material: TreeMaterial) -> None:
    """What is said, and how often: biases start at the log of each word's share."""
    spoken = material.words.spoken
    network.spoken.copy_(torch.tensor(spoken))
    counts = torch.ones(len(spoken))
    counts[0] += len(material.train)
    for name in material.train.names:
        for word in name:
            if word > 0:
                counts[word] += 1
    network.bias.copy_(torch.log(counts / counts.sum()))


def judged(
    network: Namer, material: TreeMaterial, named: Named, chosen: Integers, recipe: TreeRecipe
) -> TreeNameScores:
    """The scores of what a network says of the chosen examples, computed in batches of like length."""
    labels = material.words.labels
    ordered = chosen[np.argsort(named.examples.lengths[chosen], kind="stable")]
    said: list[Sequence[str]] = []
    for start in range(0, len(ordered), AT_ONCE):
        some = ordered[start : start + AT_ONCE]
        found = network.say(named.examples.batch(some, levels=recipe.levels, degree=recipe.degree))
        said += [spell(row, labels) for row in found.words]
    return names(said, [named.gold[number] for number in ordered])


def spell(words: Tensor, labels: Sequence[str]) -> tuple[str, ...]:
    """(T,) numbers of words to the words before the end."""
    return tuple(labels[word - 1] for word in words.tolist() if word)

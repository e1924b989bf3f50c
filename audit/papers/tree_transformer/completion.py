"""Completing trees: of each node the next one's type and value, `tree-transformer`, section 4.2.

The loss is the sum of the cross-entropies of types, and of values where there is a known one. No task of the
audit; it compares ways to tell where a node stands.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from codeaudit.audit.papers.lines.vocabulary import UNKNOWN
from codeaudit.audit.papers.spe_attention.material import Splits, content_hash
from codeaudit.audit.papers.tree_transformer.branches import EMPTY, SPECIALS
from codeaudit.audit.papers.tree_transformer.examples import Integers, TreeExamples, flat
from codeaudit.audit.papers.tree_transformer.loop import (
    TreeProgress,
    count_relations,
    optimiser,
    per_epoch,
    rate,
    total_steps,
)
from codeaudit.audit.papers.tree_transformer.material import Words, vocabulary
from codeaudit.audit.papers.tree_transformer.network import Completer
from codeaudit.audit.papers.tree_transformer.nodes import Degree, Tree, read
from codeaudit.audit.papers.tree_transformer.recipe import TreeRecipe
from codeaudit.audit.papers.tree_transformer.registry import completer
from codeaudit.audit.papers.tree_transformer.scores import CompletionScores, Tally
from codeaudit.audit.records import Failed
from codeaudit.audit.training import state
from codeaudit.audit.training.trainer import Monitor, Sitting, bucketed
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.records import Sample

AT_ONCE: Final = 32
UNKNOWN_ID: Final = SPECIALS.index(UNKNOWN)
EMPTY_ID: Final = SPECIALS.index(EMPTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionMaterial:
    """All that a training of a completer reads."""

    words: Words
    train: TreeExamples
    valid: TreeExamples
    test: TreeExamples
    hashes: Mapping[str, str]
    """Of the samples of each split."""


def prepare(splits: Splits, recipe: TreeRecipe) -> CompletionMaterial:
    """Whole trees, whatever their size, in pieces as large as the window; single nodes are left out.

    Raises:
        CorpusError: a split has no tree.
    """
    trees = {name: _trees(split) for name, split in zip(Splits._fields, splits, strict=True)}
    for name, found in trees.items():
        if not found:
            raise CorpusError(f"no {name} tree can be read")
    words = vocabulary(trees["train"], (), size=recipe.vocabulary, spelling=recipe.spelling)
    reader = words.reader(recipe.spelling)
    return CompletionMaterial(
        words=words,
        **{name: flat(found, reader, window=recipe.window) for name, found in trees.items()},
        hashes={name: content_hash(split) for name, split in zip(Splits._fields, splits, strict=True)},
    )


def _trees(samples: Sequence[Sample]) -> list[Tree]:
    found = (read(sample.source, sample.language, limit=None) for sample in samples)
    return [tree for tree in found if not isinstance(tree, Failed) and len(tree) > 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionTrained:
    """The best weights."""

    network: Completer
    progress: TreeProgress


def train(
    recipe: TreeRecipe,
    material: CompletionMaterial,
    *,
    folder: Path,
    monitor: Monitor[TreeProgress],
    stop: Callable[[], bool],
) -> CompletionTrained:
    """Train a completer, or go on with a training whose state lies in the folder.

    Raises:
        Interrupted: `stop` said so. The same call resumes.
        ModelError: the saved state cannot be used.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        loop = _Loop(recipe, material, folder / state.FILE)
        loop.run(monitor, stop)
        return loop.result()


class Next(NamedTuple):
    """What follows the nodes that count, and where these are."""

    at: Tensor
    """(B, n - 1) true where the next node counts."""
    types: Tensor
    """(N,) of the nodes that count."""
    values: Tensor
    """(N,) likewise; the first word of each."""


def following(types: Tensor, values: Tensor, fresh: Tensor) -> Next:
    """(B, n) types, (B, n, s) values and which nodes count, to what is to be predicted one node earlier."""
    at = fresh[:, 1:]
    return Next(at, types[:, 1:][at], values[:, 1:, 0][at])


class _Loop(Sitting[TreeProgress, Integers]):
    _network: Completer

    def __init__(self, recipe: TreeRecipe, material: CompletionMaterial, path: Path) -> None:
        self._recipe, self._material = recipe, material
        types, values = material.words.reader(recipe.spelling).sizes
        network = completer(recipe.network, recipe.shape(types=types, values=values), recipe.options)
        count_relations(network, material.train, recipe)
        begin(network, material.train)
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

    def result(self) -> CompletionTrained:
        self._network.load_state_dict(self._best)
        return CompletionTrained(network=self._network.eval(), progress=replace(self._progress))

    def _batches(self, epoch: int) -> list[Integers]:
        rng = np.random.default_rng([self._recipe.seed, epoch])
        return bucketed(self._material.train.lengths, self._recipe.batch, rng)

    def _step(self, batch: Integers) -> float:
        progress, recipe, train = self._progress, self._recipe, self._material.train
        self._set_rate(rate(recipe, progress.step, self._total))
        inputs = train.batch(batch, levels=recipe.levels, degree=recipe.degree)
        following_nodes = following(inputs.types, inputs.values, train.fresh(batch))
        known = (following_nodes.values != UNKNOWN_ID) & (following_nodes.values != EMPTY_ID)
        with torch.autocast("cpu", torch.bfloat16, enabled=recipe.half):
            hidden = self._network.hidden(inputs)[:, :-1][following_nodes.at]
            types = self._network.type_logits(hidden)
            values = self._network.value_logits(hidden[known])
        loss = F.cross_entropy(types.float(), following_nodes.types)
        if bool(known.any()):
            loss = loss + F.cross_entropy(values.float(), following_nodes.values[known])
        return self._learn(loss, len(batch))

    def _finish_epoch(self) -> None:
        progress, valid = self._progress, self._material.valid
        chosen = np.random.default_rng(1).permutation(len(valid))[: self._recipe.validation]
        self._network.eval()
        reached = judged(self._network, valid, chosen, levels=self._recipe.levels, degree=self._recipe.degree)
        self._network.train()
        epoch, loss = self._end_epoch()
        progress.epochs.append({"epoch": epoch, "loss": loss, "valid": reached.both})
        if reached.both > progress.best:
            progress.best, progress.best_epoch = reached.both, epoch
            self._keep()


@torch.no_grad()
def begin(network: Completer, train: TreeExamples) -> None:
    """Biases start at the log of each type's and value's share."""
    for bias, ids in ((network.type_bias, train.types), (network.value_bias, train.values[:, 0])):
        counts = torch.from_numpy(np.bincount(ids, minlength=len(bias))).float() + 1
        if bias is network.value_bias:
            counts[[UNKNOWN_ID, EMPTY_ID]] = 1.0  # never right, so never learned
        bias.copy_(torch.log(counts / counts.sum()))


@torch.no_grad()
def judged(
    network: Completer, examples: TreeExamples, chosen: Integers, *, levels: int, degree: Degree
) -> CompletionScores:
    """The scores on the chosen examples, computed in batches of like length."""
    ordered = chosen[np.argsort(examples.lengths[chosen], kind="stable")]
    tally = Tally()
    for start in range(0, len(ordered), AT_ONCE):
        some = ordered[start : start + AT_ONCE]
        inputs = examples.batch(some, levels=levels, degree=degree)
        right = following(inputs.types, inputs.values, examples.fresh(some))
        hidden = network.hidden(inputs)[:, :-1][right.at]
        tally.add(
            network.type_logits(hidden),
            network.value_logits(hidden),
            right.types,
            right.values,
            unknown=UNKNOWN_ID,
            empty=EMPTY_ID,
        )
    return tally.scores()

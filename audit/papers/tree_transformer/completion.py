"""Completion of trees: the type and value of the next node, at each node (tree transformer, section 4.2).

The loss is the sum of the cross entropies of types, and of known values. No task of the audit asks for
completions; they compare schemes of positions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from typing_extensions import override

from codeaudit.audit.papers.lines.encoding import UNKNOWN
from codeaudit.audit.papers.lines.tasks import split_hashes as hashes
from codeaudit.audit.papers.tree_transformer.material import (
    TreeExamples,
    TreeRecipe,
    TreeWords,
    flat,
    vocabulary,
)
from codeaudit.audit.papers.tree_transformer.networks import Completer, completer
from codeaudit.audit.papers.tree_transformer.nodes import EMPTY, SPECIALS, Degree, Tree, read
from codeaudit.audit.papers.tree_transformer.scores import (
    CompletionRanks,
    CompletionScores,
    completions,
    ranked,
)
from codeaudit.audit.papers.tree_transformer.training import TreeLearner, count_relations
from codeaudit.audit.records import Failed
from codeaudit.audit.training.splits import NAMES, Splits
from codeaudit.audit.training.trainer import Integers, Validation
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.records import Sample

AT_ONCE: Final = 32
UNKNOWN_ID: Final = SPECIALS.index(UNKNOWN)
EMPTY_ID: Final = SPECIALS.index(EMPTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionMaterial:
    """The input of a completer's training."""

    words: TreeWords
    train: TreeExamples
    valid: TreeExamples
    test: TreeExamples
    hashes: Mapping[str, str]
    """Of the samples of each split."""


def prepare(splits: Splits[Sample], recipe: TreeRecipe) -> CompletionMaterial:
    """Whole trees, whatever their size, in pieces as large as the window; single nodes are left out.

    Raises:
        CorpusError: a split has no tree.
    """
    trees = {name: _trees(split) for name, split in zip(NAMES, splits, strict=True)}
    for name, split in trees.items():
        if not split:
            raise CorpusError(f"no {name} tree can be read")
    words = vocabulary(trees["train"], (), size=recipe.vocabulary, spelling=recipe.spelling)
    reader = words.reader(recipe.spelling)
    return CompletionMaterial(
        words=words,
        **{name: flat(split, reader, window=recipe.window) for name, split in trees.items()},
        hashes=hashes(splits),
    )


def _trees(samples: Sequence[Sample]) -> list[Tree]:
    parsed = (read(sample.source, sample.language, limit=None) for sample in samples)
    return [tree for tree in parsed if not isinstance(tree, Failed) and len(tree) > 1]


class NextNodes(NamedTuple):
    """The next nodes, where these count."""

    at: Tensor
    """(B, n - 1) true where the next node counts."""
    types: Tensor
    """(N,) of the nodes that count."""
    values: Tensor
    """(N,) the first word of the value of each."""


def following(types: Tensor, values: Tensor, fresh: Tensor) -> NextNodes:
    """(B, n) types, (B, n, s) values and which nodes count, to the targets of the nodes before them."""
    at = fresh[:, 1:]
    return NextNodes(at, types[:, 1:][at], values[:, 1:, 0][at])


def _moved(right: NextNodes, device: str) -> NextNodes:
    return NextNodes(*(tensor.to(device) for tensor in right))


def _has_value(right: NextNodes) -> Tensor:
    return (right.values != UNKNOWN_ID) & (right.values != EMPTY_ID)


class CompletionLearner(TreeLearner[Completer]):
    """Learns type and value of the next node."""

    material: CompletionMaterial

    def __init__(self, recipe: TreeRecipe, material: CompletionMaterial, *, device: str = "cpu") -> None:
        super().__init__(recipe, material.train, material.hashes, device=device)
        self.material = material

    @override
    def make(self) -> Completer:
        types, values = self.material.words.reader(self.recipe.spelling).sizes
        shape = self.recipe.shape(types=types, values=values)
        network = completer(self.recipe.network, shape, self.recipe.options)
        count_relations(network, self.material.train, self.recipe)
        begin(network, self.material.train)
        return network

    def loss(
        self, network: Completer, batch: Integers, step: int, whole: Integers | None = None
    ) -> tuple[Tensor, int]:
        """The sum of the cross entropies of types and of known values."""
        recipe, train = self.recipe, self.material.train
        inputs = train.batch(batch, levels=recipe.levels, degree=recipe.degree)
        right = _moved(following(inputs.types, inputs.values, train.fresh(batch)), self.device)
        # As in the paper's code, unknown and missing values have no loss; only their types are learned.
        known = _has_value(right)
        with self.autocast(enabled=recipe.half):
            # Only where the next node counts: of pieces that overlap, the later one counts its second half.
            hidden = network.hidden(inputs.to(self.device))[:, :-1][right.at]
            types = network.type_logits(hidden)
            values = network.value_logits(hidden[known])
        if whole is not None:
            inputs = train.batch(whole, levels=recipe.levels, degree=recipe.degree)
            every = following(inputs.types, inputs.values, train.fresh(whole))
            # Sums, because a part may have no node that counts, and no mean then.
            of_types = F.cross_entropy(types.float(), right.types, reduction="sum")
            of_values = F.cross_entropy(values.float(), right.values[known], reduction="sum")
            share = of_types / len(every.types) + of_values / max(1, int(_has_value(every).sum()))
            return share, len(batch)
        loss = F.cross_entropy(types.float(), right.types)
        if bool(known.any()):
            loss = loss + F.cross_entropy(values.float(), right.values[known])
        return loss, len(batch)

    @override
    def validate(self, network: Completer) -> Validation:
        """The share of nodes with right type and value."""
        recipe, valid = self.recipe, self.material.valid
        reached = judged(
            network,
            valid,
            self.validated(valid),
            levels=recipe.levels,
            degree=recipe.degree,
            device=self.device,
        )
        return Validation(reached.both, {"valid": reached.both})


@torch.no_grad()
def begin(network: Completer, train: TreeExamples) -> None:
    """Biases start at the log of each type's and value's share."""
    nodes = train.nodes
    for bias, ids in ((network.type_bias, nodes.types), (network.value_bias, nodes.values[:, 0])):
        counts = torch.from_numpy(np.bincount(ids, minlength=len(bias))).float() + 1
        if bias is network.value_bias:
            counts[[UNKNOWN_ID, EMPTY_ID]] = 1.0  # never right, so never learned
        bias.copy_(torch.log(counts / counts.sum()))


@torch.no_grad()
def judged(
    network: Completer,
    examples: TreeExamples,
    chosen: Integers,
    *,
    levels: int,
    degree: Degree,
    device: str = "cpu",
) -> CompletionScores:
    """The scores on the chosen examples, computed in batches of like length."""
    ordered = chosen[np.argsort(examples.lengths[chosen], kind="stable")]
    batches: list[CompletionRanks] = []
    for start in range(0, len(ordered), AT_ONCE):
        part = ordered[start : start + AT_ONCE]
        inputs = examples.batch(part, levels=levels, degree=degree)
        right = _moved(following(inputs.types, inputs.values, examples.fresh(part)), device)
        hidden = network.hidden(inputs.to(device))[:, :-1][right.at]
        types, values = network.type_logits(hidden), network.value_logits(hidden)
        ranks = ranked(types, values, right.types, right.values, unknown=UNKNOWN_ID, empty=EMPTY_ID)
        batches.append(CompletionRanks(*(tensor.cpu() for tensor in ranks)))
    return completions(batches)

"""Training of the transformers over syntax trees to name functions (tree transformer, section 4.1).

The loss is the cross entropy of a name's words, each given those before. Completion is in `completion`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor, nn
from typing_extensions import override

from codeaudit.audit.papers import checkpoint
from codeaudit.audit.papers.lines.tasks import read_splits as read
from codeaudit.audit.papers.lines.tasks import splits_card as data
from codeaudit.audit.papers.registry import TrainingRequest, entry_of, split_structure
from codeaudit.audit.papers.tree_transformer.material import (
    IGNORED,
    NamedTrees,
    TreeExamples,
    TreeMaterial,
    TreeRecipe,
    prepare,
    values_and_targets,
)
from codeaudit.audit.papers.tree_transformer.model import TASK, TreeConfig
from codeaudit.audit.papers.tree_transformer.networks import TREE_NETWORKS, Namer, TreeShape, namer, sizes
from codeaudit.audit.papers.tree_transformer.positions import STEPS, Kim, between
from codeaudit.audit.papers.tree_transformer.scores import TreeNameScores, most_frequent, names
from codeaudit.audit.training.trainer import (
    Integers,
    Learner,
    Trained,
    Validation,
    adamw,
    bucketed,
    cosine,
    demand_fitting,
    recipe_of,
    short_warm_up,
)
from codeaudit.transforms.grammar import counted

AT_ONCE: Final = 64
COUNTED: Final = 1000
"""Training trees whose relations are counted."""

N = TypeVar("N", bound=nn.Module)


class TreeLearner(Learner[N, Integers]):
    """The common part of namers and completers; a batch is the numbers of its examples."""

    def __init__(
        self, recipe: TreeRecipe, train: TreeExamples, hashes: Mapping[str, str], *, device: str = "cpu"
    ) -> None:
        super().__init__(recipe, hashes, len(train), device=device)
        self.recipe, self.lengths = recipe, train.lengths

    @override
    def optimiser(self, network: N) -> torch.optim.Optimizer:
        """Embeddings do not decay."""
        embeddings = (module for module in network.modules() if isinstance(module, nn.Embedding))
        tables = [weight for module in embeddings for weight in module.parameters()]
        return adamw(network, self.recipe, second_beta=0.98, tables=tables)

    @override
    def rate(self, step: int) -> float:
        warm_up = short_warm_up(self.recipe, self.total)
        return cosine(self.recipe.rate, step, self.total, warm_up=warm_up, floor=0.02)

    @override
    def batches(self, epoch: int) -> list[Integers]:
        """Trees of similar size together."""
        return bucketed(self.lengths, self.recipe.batch, np.random.default_rng([self.recipe.seed, epoch]))

    @override
    def tokens(self, batch: Integers) -> int:
        """Nodes."""
        return int(self.lengths[batch].sum())


class NameLearner(TreeLearner[Namer], checkpoint.CheckpointLearner[Namer, Integers]):
    """Learns the words of names."""

    def __init__(self, recipe: TreeRecipe, material: TreeMaterial, *, device: str = "cpu") -> None:
        super().__init__(recipe, material.train.examples, material.hashes, device=device)
        self.material = material
        self.spoken = material.words.spoken
        self.types = material.words.types

    @property
    def shape(self) -> TreeShape:
        """The sizes of the network."""
        words = self.material.words
        types, values = words.reader(self.recipe.spelling).sizes
        return self.recipe.shape(types=types, values=values, names=len(words.labels))

    @override
    def make(self) -> Namer:
        network = namer(self.recipe.network, self.shape, self.recipe.options)
        count_relations(network, self.material.train.examples, self.recipe)
        begin(network, self.material)
        return network

    def loss(
        self, network: Namer, batch: Integers, step: int, whole: Integers | None = None
    ) -> tuple[Tensor, int]:
        """The mean cross entropy of the words that can be said."""
        recipe, train = self.recipe, self.material.train
        inputs = train.examples.batch(batch, levels=recipe.levels, degree=recipe.degree)
        before, targets = values_and_targets([train.names[number] for number in batch], self.spoken)
        with self.autocast(enabled=recipe.half):
            logits = network(inputs.to(self.device), before.to(self.device))
        scores, right = logits.float().flatten(0, 1), targets.to(self.device).flatten()
        if whole is None:
            return F.cross_entropy(scores, right, ignore_index=IGNORED), len(batch)
        _, all_targets = values_and_targets([train.names[number] for number in whole], self.spoken)
        # A sum, because a part may have no word that can be said, and no mean then.
        loss = F.cross_entropy(scores, right, ignore_index=IGNORED, reduction="sum")
        return loss / int((all_targets != IGNORED).sum()), len(batch)

    @override
    def validate(self, network: Namer) -> Validation:
        """F1 of sets of words."""
        valid = self.material.valid
        chosen = self.validated(valid)
        reached = judged(network, self.material, valid, chosen, self.recipe, device=self.device)
        return Validation(reached.micro, {"valid": reached.micro})

    @property
    @override
    def tokenizer(self) -> Tokenizer:
        return self.material.words.tokenizer()

    @property
    @override
    def size(self) -> str:
        labels = counted(len(self.material.words.labels), "label")
        return f"{counted(len(self.material.train), 'function')}, {labels}"

    @override
    def epoch_line(self, epoch: Mapping[str, float]) -> str:
        return f"validation F1 {epoch['valid']:.1%}"

    @override
    def write(self, folder: Path, trained: Trained[Namer], *, about: Mapping[str, object]) -> Sequence[str]:
        """The scores are those of the rounded weights."""
        recipe, material, network = self.recipe, self.material, trained.network
        config = TreeConfig(
            task=TASK,
            network=recipe.network,
            options={**TREE_NETWORKS[recipe.network].options, **recipe.options},
            shape=self.shape,
            degree=recipe.degree,
            spelling=recipe.spelling,
            types=material.words.types,
            labels=material.words.labels,
            languages=material.languages,
        )
        weights = checkpoint.rounded(network)
        splits = {"train": material.train, "valid": material.valid, "test": material.test}
        valid, test = (
            judged(network, material, trees, np.arange(len(trees)), recipe)
            for trees in (material.valid, material.test)
        )
        rule = most_frequent(material.train.gold, material.valid.gold, material.test.gold)
        numbers = sizes(network)
        card = {
            "task": TASK,
            "summary": f"{TREE_NETWORKS[recipe.network].summary}; test {test.line}",
            "parameters": numbers["all"],
            "position_parameters": numbers["scheme"],
            "scores": {"valid": asdict(valid), "test": asdict(test)},
            "baselines": [asdict(rule)],
            "label_coverage": {name: coverage(splits[name]) for name in ("valid", "test")},
            "languages": list(material.languages),
            "labels": len(material.words.labels),
            "data": data(
                material.hashes,
                {name: (len(trees), trees.examples.left_out) for name, trees in splits.items()},
            ),
            "recipe": recipe.as_json(),
            **checkpoint.history(trained),
            **about,
        }
        checkpoint.write(
            folder,
            weights,
            config=config,
            tokenizer=material.words.tokenizer(),
            card=card,
            learned=material.learned,
        )
        return [f"test {test.line} on {counted(test.count, 'function')}", f"{rule.name}: {rule.test.line}"]


def prepared(request: TrainingRequest) -> NameLearner:
    """The training that `codeaudit train` asks for.

    Raises:
        UsageError: options that do not fit together.
        CorpusError: a corpus cannot be read, or has no function that is short enough.
    """
    settings = dict(request.options)
    device = checkpoint.usable_device(settings.pop("device", "cpu"))
    extra, options = split_structure(TreeRecipe, request.structure)
    entry_of("network", TREE_NETWORKS, request.network, options)
    recipe = recipe_of(TreeRecipe, network=request.network, options=options, **settings, **extra)
    shape = recipe.shape(types=1, values=recipe.vocabulary, names=1)
    demand_fitting(lambda: namer(recipe.network, shape, recipe.options))
    material = prepare(read(request.task, *request.corpora()), recipe, note=request.note)
    return NameLearner(recipe, material, device=device)


def count_relations(network: nn.Module, examples: TreeExamples, recipe: TreeRecipe) -> None:
    """Tell Kim's scheme which relations are frequent; no effect on other schemes."""
    # Kim's vocabulary of relations is data, as that of words is: it is counted before the first step.
    scheme = network.scheme
    if not isinstance(scheme, Kim):
        return
    counts = torch.zeros(STEPS * STEPS, dtype=torch.long)
    chosen = np.random.default_rng(recipe.seed).permutation(len(examples))[:COUNTED]
    for number in chosen:
        batch = examples.batch(np.array([number]), levels=recipe.levels, degree=recipe.degree)
        counts += torch.bincount(between(batch.depths).flatten(), minlength=STEPS * STEPS)
    scheme.learn(counts)


@torch.no_grad()
def begin(network: Namer, material: TreeMaterial) -> None:
    """Set the words that can be said, and their biases to the log of their shares."""
    spoken = material.words.spoken
    network.spoken.copy_(torch.tensor(spoken))
    # From one, so that no share is 0 and no bias minus infinity.
    counts = torch.ones(len(spoken))
    counts[0] += len(material.train)
    for name in material.train.names:
        for word in name:
            if word > 0:
                counts[word] += 1
    network.bias.copy_(torch.log(counts / counts.sum()))


def judged(
    network: Namer,
    material: TreeMaterial,
    named: NamedTrees,
    chosen: Integers,
    recipe: TreeRecipe,
    *,
    device: str = "cpu",
) -> TreeNameScores:
    """The scores of the network's names for the chosen examples, in batches of similar size."""
    labels = material.words.labels
    ordered = chosen[np.argsort(named.examples.lengths[chosen], kind="stable")]
    answers: list[Sequence[str]] = []
    for start in range(0, len(ordered), AT_ONCE):
        part = ordered[start : start + AT_ONCE]
        batch = named.examples.batch(part, levels=recipe.levels, degree=recipe.degree)
        answers += [spell(row, labels) for row in network.say(batch.to(device)).words]
    return names(answers, [named.gold[number] for number in ordered])


def spell(words: Tensor, labels: Sequence[str]) -> tuple[str, ...]:
    """(T,) numbers of words, without those of the end, as words."""
    return tuple(labels[word - 1] for word in words.tolist() if word)


def coverage(named: NamedTrees) -> float:
    """The share of the names' words that can be said at all."""
    words = [word for name in named.names for word in name]
    return sum(word > 0 for word in words) / max(1, len(words))

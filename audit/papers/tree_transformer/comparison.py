"""Completion of trees by networks that differ in how nodes know their places (tree transformer, Table 1)."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from codeaudit.audit.corpora.selection import select
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.papers import checkpoint
from codeaudit.audit.papers.experiments import Bench, PaperTrial
from codeaudit.audit.papers.tree_transformer import completion
from codeaudit.audit.papers.tree_transformer.material import TreeRecipe
from codeaudit.audit.papers.tree_transformer.networks import sizes
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.audit.training.splits import Splits
from codeaudit.transforms.records import Sample

ROWS: Final[Mapping[str, Mapping[str, Any]]] = {
    "vanilla": {"network": "tree-vanilla"},
    "Shaw": {"network": "tree-shaw"},
    "Shiv and Quirk": {"network": "tree-shiv"},
    "Kim": {"network": "tree-kim"},
    "tree": {"network": "tree"},
    "tree, degree of the prefix": {"network": "tree", "degree": "prefix"},
    "tree, local only": {"network": "tree", "options": {"terms": "local"}},
    "tree, global only": {"network": "tree", "options": {"terms": "global"}},
    "tree, first dimension": {"network": "tree", "options": {"dimension": "first"}},
    "tree, second dimension": {"network": "tree", "options": {"dimension": "second"}},
}


def completions(bench: Bench) -> Iterator[PaperTrial]:
    """The trials of networks that predict type and value of each next node."""
    device = checkpoint.usable_device(bench.device)
    read: list[completion.CompletionMaterial] = []

    def measure(row: str, seed: int) -> list[PaperTrial]:
        settings = {name: bench.settings[name] for name in SETTINGS}
        recipe = TreeRecipe(**ROWS[row], **settings, seed=seed, half=device != "cpu")
        if not read:
            read.append(completion.prepare(_splits(bench), recipe))
        (material,) = read
        learner = completion.CompletionLearner(recipe, material, device=device)
        network = bench.fitted(learner, row, seed).network.to(device)
        tested = np.arange(len(material.test))[: bench.settings["tested"] or None]
        reached = completion.judged(
            network, material.test, tested, levels=recipe.levels, degree=recipe.degree, device=device
        )
        weights = sizes(network)
        scores = {**asdict(reached), "weights": weights["all"], "position weights": weights["scheme"]}
        return [PaperTrial(row=row, seed=seed, scores=scores)]

    yield from bench.trials(measure)


SETTINGS: Final = (
    "width", "layers", "heads", "levels", "embedding", "window", "vocabulary", "spelling", "batch", "steps",
    "rate",
)  # fmt: skip
"""Of the recipe."""


def _splits(bench: Bench) -> Splits[Sample]:
    """The samples of each split, drawn alike for all rows.

    Raises:
        CorpusError: the corpus cannot be read.
    """

    def drawn(split: str) -> list[Sample]:
        limit = bench.settings[split] or None
        (selected,) = select(corpus(f"{bench.data}:{split}"), FUNCTION_NAME.prepare, limit=limit, seeds=[0])
        return [sample for sample in selected.samples if sample.label is not None]

    return Splits(train=drawn("train"), valid=drawn("valid"), test=drawn("test"))

"""What such a training leaves behind: a checkpoint folder, with a card that says how good it is."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from codeaudit.audit.papers.spe_attention.folder import rounded, write_files
from codeaudit.audit.papers.tree_transformer.loop import TreeTrained, judged, shape_of
from codeaudit.audit.papers.tree_transformer.material import Named, TreeMaterial
from codeaudit.audit.papers.tree_transformer.model import TreeConfig
from codeaudit.audit.papers.tree_transformer.network import sizes
from codeaudit.audit.papers.tree_transformer.recipe import TreeRecipe
from codeaudit.audit.papers.tree_transformer.registry import TREE_NETWORKS
from codeaudit.audit.papers.tree_transformer.scores import Rule, TreeNameScores, most_frequent


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeFinished:
    """The result in numbers, as the card tells it."""

    card: Mapping[str, object]
    test: TreeNameScores
    rules: tuple[Rule, ...]


def write(
    folder: Path,
    trained: TreeTrained,
    material: TreeMaterial,
    *,
    task: str,
    recipe: TreeRecipe,
    about: Mapping[str, object],
) -> TreeFinished:
    """Write config, weights in float16, words and card. The scores are those of the rounded weights.

    `about` goes into the card as it is: corpora, versions.
    """
    config = TreeConfig(
        task=task,
        network=recipe.network,
        options={**TREE_NETWORKS[recipe.network].options, **recipe.options},
        shape=shape_of(recipe, material),
        degree=recipe.degree,
        spelling=recipe.spelling,
        types=material.words.types,
        labels=material.words.labels,
        languages=material.languages,
    )
    weights = rounded(trained.network)
    found = _finished(trained, material, task=task, recipe=recipe, about=about)
    write_files(folder, material.words.tokenizer(), weights, card=found.card, config=config.as_json())
    return found


def _finished(
    trained: TreeTrained,
    material: TreeMaterial,
    *,
    task: str,
    recipe: TreeRecipe,
    about: Mapping[str, object],
) -> TreeFinished:
    def measured(named: Named) -> TreeNameScores:
        return judged(trained.network, material, named, np.arange(len(named)), recipe)

    valid, test = measured(material.valid), measured(material.test)
    rules = (most_frequent(material.train.gold, material.valid.gold, material.test.gold),)
    weights = sizes(trained.network)
    progress = trained.progress
    splits = {"train": material.train, "valid": material.valid, "test": material.test}
    card = {
        "task": task,
        "summary": f"{TREE_NETWORKS[recipe.network].summary}; test {test.line}",
        "parameters": weights["all"],
        "position_parameters": weights["scheme"],
        "scores": {"valid": asdict(valid), "test": asdict(test)},
        "baselines": [asdict(rule) for rule in rules],
        "label_coverage": {name: coverage(splits[name]) for name in ("valid", "test")},
        "languages": list(material.languages),
        "labels": len(material.words.labels),
        "data": {
            name: {
                "hash": material.hashes[name],
                "functions": len(named),
                "unparsable": named.examples.left_out[0],
                "too_long": named.examples.left_out[1],
            }
            for name, named in splits.items()
        },
        "recipe": recipe.as_json(),
        "steps": progress.step,
        "samples_seen": progress.samples,
        "best_epoch": progress.best_epoch,
        "wall_seconds": round(progress.seconds, 1),
        "epochs": progress.epochs,
        **about,
    }
    return TreeFinished(card=card, test=test, rules=rules)


def coverage(named: Named) -> float:
    """The share of the names' words that can be said at all."""
    words = [word for name in named.names for word in name]
    return sum(word > 0 for word in words) / max(1, len(words))

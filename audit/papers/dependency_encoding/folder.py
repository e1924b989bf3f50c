"""What such a training leaves behind: a checkpoint folder, with a card that says how good it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codeaudit.audit.papers.dependency_encoding.loop import StreamTrained
from codeaudit.audit.papers.dependency_encoding.material import StreamMaterial, byte_counts
from codeaudit.audit.papers.dependency_encoding.model import LONGEST, TASKS, DecoderConfig
from codeaudit.audit.papers.dependency_encoding.recipe import StreamRecipe
from codeaudit.audit.papers.dependency_encoding.registry import DECODERS
from codeaudit.audit.papers.dependency_encoding.rules import Rule, rules
from codeaudit.audit.papers.dependency_encoding.scores import NextTokens, judged, of_texts
from codeaudit.audit.papers.spe_attention.folder import rounded, write_files


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamFinished:
    """The result in numbers, as the card tells it."""

    card: Mapping[str, object]
    test: NextTokens
    """On test texts, each alone."""
    count: int
    """How many texts those are."""
    rules: tuple[Rule, ...]


def write(
    folder: Path,
    trained: StreamTrained,
    material: StreamMaterial,
    *,
    recipe: StreamRecipe,
    about: Mapping[str, object],
) -> StreamFinished:
    """Write config, weights in float16, tokenizer and card. The scores are those of the rounded weights.

    `about` goes into the card as it is: corpora, versions.
    """
    config = DecoderConfig(
        task=recipe.task,
        network=recipe.network,
        options=recipe.options,
        sizes=trained.network.sizes,
        languages=material.languages,
    )
    weights = rounded(trained.network)
    found = _finished(trained, material, recipe=recipe, about=about)
    write_files(folder, material.streams.tokenizer, weights, card=found.card, config=config.as_json())
    return found


def _finished(
    trained: StreamTrained,
    material: StreamMaterial,
    *,
    recipe: StreamRecipe,
    about: Mapping[str, object],
) -> StreamFinished:
    network = trained.network
    chosen = np.random.default_rng(1).permutation(len(material.valid))[: recipe.validation]
    valid = judged(network, material.valid, chosen)
    test = of_texts(network, material.test, byte_counts(material.streams), longest=LONGEST)
    told = rules(material)
    progress = trained.progress
    card = {
        "task": recipe.task,
        "tasks": sorted(TASKS),
        "summary": f"{DECODERS.summary(recipe.network)}; test {test.bits_per_byte:.2f} bits per byte",
        "parameters": sum(weight.numel() for weight in network.parameters()),
        "score": "bits per byte",
        "scores": {"valid": valid.as_json(), "test": test.as_json()},
        "baselines": [rule.as_json() for rule in told],
        "languages": list(material.languages),
        "data": {
            name: {"hash": material.hashes[name], "functions": material.counts[name]}
            for name in material.hashes
        },
        "left_out": dict(material.left_out),
        "recipe": recipe.as_json(),
        "steps": progress.step,
        "samples_seen": progress.samples,
        "best_epoch": progress.best_epoch,
        "wall_seconds": round(progress.seconds, 1),
        "epochs": progress.epochs,
        **about,
    }
    return StreamFinished(card=card, test=test, count=len(material.test), rules=told)

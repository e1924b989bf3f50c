"""What a training leaves behind: a checkpoint folder, with a card that says how good it is."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save
from tokenizers import Tokenizer

from codeaudit.audit.papers.checkpoint import CARD, CONFIG, TOKENIZER, WEIGHTS, Config
from codeaudit.audit.papers.lines.tasks import Detection
from codeaudit.audit.papers.registry import NETWORKS
from codeaudit.audit.papers.spe_attention.baselines import (
    Baseline,
    always_buggy,
    copying,
    longer,
    most_frequent,
)
from codeaudit.audit.papers.spe_attention.examples import Examples
from codeaudit.audit.papers.spe_attention.loop import Trained
from codeaudit.audit.papers.spe_attention.material import Material
from codeaudit.audit.papers.spe_attention.recipe import Recipe
from codeaudit.audit.papers.spe_attention.scores import Scores, judged, scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The result in numbers, as the card tells it."""

    card: Mapping[str, object]
    test: Scores
    baselines: tuple[Baseline, ...]


def write(
    folder: Path,
    trained: Trained,
    material: Material,
    *,
    task: str,
    recipe: Recipe,
    about: Mapping[str, object],
) -> Finished:
    """Write config, weights in float16, tokenizer and card. The scores are those of the rounded weights.

    `about` goes into the card as it is: corpora, versions, command.
    """
    shape = recipe.shape(
        vocabulary=material.tokenizer.get_vocab_size(),
        labels=len(material.labels),
        pooling=material.task.pooling,
    )
    config = Config(
        task=task,
        network=recipe.network,
        options={**NETWORKS[recipe.network].options, **recipe.options},
        shape=shape,
        labels=material.labels,
        threshold=trained.threshold,
        languages=material.languages,
    )
    weights = rounded(trained.network)
    found = _finished(trained, material, task=task, recipe=recipe, about=about)
    write_files(folder, material.tokenizer, weights, card=found.card, config=config.as_json())
    return found


def write_files(
    folder: Path,
    tokenizer: Tokenizer,
    weights: dict[str, torch.Tensor],
    *,
    card: Mapping[str, object],
    config: Mapping[str, object],
) -> None:
    """Write what a checkpoint consists of; the config comes last, so that a folder with one is whole."""
    tokenizer.save(str(folder / TOKENIZER))
    (folder / CONFIG).unlink(missing_ok=True)
    (folder / WEIGHTS).write_bytes(save(weights))
    _write_json(folder / CARD, card)
    _write_json(folder / CONFIG, config)


@torch.no_grad()
def rounded(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The weights in float16; the network's own are set to the rounded values."""
    found = {
        name: value.half() if value.is_floating_point() else value
        for name, value in network.state_dict().items()
    }
    network.load_state_dict(found)
    return {name: value.contiguous() for name, value in found.items()}


def _finished(
    trained: Trained, material: Material, *, task: str, recipe: Recipe, about: Mapping[str, object]
) -> Finished:
    relation, labels = NETWORKS[recipe.network].relation, len(material.labels)

    def measured(examples: Examples) -> Scores:
        everything = np.arange(len(examples))
        found = judged(trained.network, examples, everything, relation, labels)
        return scores(found, trained.threshold, material.task)

    valid, test = measured(material.valid), measured(material.test)
    baselines = _baselines(trained, material)
    card = {
        "task": task,
        "summary": f"{NETWORKS[recipe.network].summary}; test {test.line}",
        "parameters": sum(weight.numel() for weight in trained.network.parameters()),
        "scores": {"valid": asdict(valid), "test": asdict(test)},
        "baselines": [asdict(one) for one in baselines],
        "label_coverage": {"valid": coverage(material.valid), "test": coverage(material.test)},
        "languages": list(material.languages),
        "labels": labels,
        "threshold": trained.threshold,
        "data": _data(material),
        "recipe": recipe.as_json(),
        **_history(trained),
        **about,
    }
    return Finished(card=card, test=test, baselines=baselines)


def _baselines(trained: Trained, material: Material) -> tuple[Baseline, ...]:
    if isinstance(material.task, Detection):
        return always_buggy(material.test), longer(material.train, material.valid, material.test)
    spoken = trained.network.trunk.label_tokens.tolist()
    return (
        most_frequent(material.train, material.valid, material.test, labels=len(material.labels)),
        copying(material.valid, material.test, tokens=dict(zip(material.labels, spoken, strict=True))),
    )


def _data(material: Material) -> dict[str, object]:
    splits = {"train": material.train, "valid": material.valid, "test": material.test}
    return {
        name: {
            "hash": material.hashes[name],
            "functions": len(examples),
            "unparsable": int(examples.left_out[0]),
            "too_long": int(examples.left_out[1]),
        }
        for name, examples in splits.items()
    }


def _history(trained: Trained) -> dict[str, object]:
    progress = trained.progress
    return {
        "steps": progress.step,
        "samples_seen": progress.samples,
        "best_epoch": progress.best_epoch,
        "wall_seconds": round(progress.seconds, 1),
        "epochs": progress.epochs,
    }


def coverage(examples: Examples) -> float:
    """The share of the names' subtokens that are labels, and so could be answered at all."""
    return float(examples.known.sum() / max(1, examples.wanted.sum()))


def _write_json(path: Path, value: Mapping[str, object]) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")

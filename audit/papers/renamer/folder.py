"""What such a training leaves behind: a checkpoint folder, with a card that says how good it is."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import torch

from codeaudit.audit.papers.registry import TERM_NETWORKS
from codeaudit.audit.papers.renamer.loop import TermTrained
from codeaudit.audit.papers.renamer.material import TermExamples, TermMaterial
from codeaudit.audit.papers.renamer.model import TermConfig
from codeaudit.audit.papers.renamer.recipe import TermRecipe
from codeaudit.audit.papers.renamer.rules import Rule, rules
from codeaudit.audit.papers.renamer.scores import mean_error
from codeaudit.audit.papers.renamer.tasks import TASKS
from codeaudit.audit.papers.spe_attention.folder import rounded, write_files


@dataclass(frozen=True, slots=True, kw_only=True)
class TermFinished:
    """The result in numbers, as the card tells it."""

    card: Mapping[str, object]
    score_name: str
    test: float
    """The score on the test set."""
    renamed: float
    """The score on a random legal renaming of each of its texts."""
    count: int
    noun: str
    """What its texts are called."""
    rules: tuple[Rule, ...]


def write(
    folder: Path,
    trained: TermTrained,
    material: TermMaterial,
    *,
    recipe: TermRecipe,
    about: Mapping[str, object],
) -> TermFinished:
    """Write config, weights in float16, tokenizer and card. The scores are those of the rounded weights.

    `about` goes into the card as it is: corpora, labels, versions.
    """
    config = TermConfig(
        task=recipe.task, network=recipe.network, sizes=recipe.sizes(material.tokenizer.get_vocab_size())
    )
    weights = rounded(trained.network)
    found = _finished(trained, material, recipe=recipe, about=about)
    write_files(folder, material.tokenizer, weights, card=found.card, config=config.as_json())
    return found


@torch.no_grad()
def _finished(
    trained: TermTrained,
    material: TermMaterial,
    *,
    recipe: TermRecipe,
    about: Mapping[str, object],
) -> TermFinished:
    task = TASKS[recipe.task]

    def measured(examples: TermExamples, renaming: Random | None = None) -> float:
        return task.target.score(mean_error(trained.network, examples, renaming=renaming))

    test, renamed = measured(material.test), measured(material.test, Random(recipe.seed))
    baselines = rules(material.train, material.test)
    progress = trained.progress
    splits = {"train": material.train, "valid": material.valid, "test": material.test}
    card = {
        "task": recipe.task,
        "summary": f"{TERM_NETWORKS[recipe.network].summary}; test {task.target.score_name} {test:.1%}",
        "parameters": sum(weight.numel() for weight in trained.network.parameters()),
        "score": task.target.score_name,
        "scores": {"valid": measured(material.valid), "test": test, "test_renamed": renamed},
        "baselines": [asdict(one) for one in baselines],
        "data": {
            name: {
                "hash": material.hashes[name],
                task.noun: len(examples),
                "alpha_classes": material.classes[name],
            }
            for name, examples in splits.items()
        },
        "left_out": material.left_out,
        "recipe": recipe.as_json(),
        "steps": progress.step,
        "samples_seen": progress.samples,
        "best_epoch": progress.best_epoch,
        "wall_seconds": round(progress.seconds, 1),
        "epochs": progress.epochs,
        **about,
    }
    return TermFinished(
        card=card,
        score_name=task.target.score_name,
        test=test,
        renamed=renamed,
        count=len(material.test),
        noun=task.noun,
        rules=baselines,
    )

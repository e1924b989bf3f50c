"""`codeaudit train` for the networks that read terms: Renamer and its baselines."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.labels import SYNTAX, labels
from codeaudit.audit.papers.checkpoint import usable_device
from codeaudit.audit.papers.renamer import folder, loop, material
from codeaudit.audit.papers.renamer.material import UNLABELLED
from codeaudit.audit.papers.renamer.network import BERT
from codeaudit.audit.papers.renamer.recipe import DEFAULTS, TermRecipe
from codeaudit.audit.papers.renamer.tasks import TASKS as TERM_TASKS
from codeaudit.audit.papers.renamer.tasks import Target
from codeaudit.audit.registry import TASKS
from codeaudit.audit.training.state import FILE
from codeaudit.cli.progress import note
from codeaudit.cli.training import watched
from codeaudit.transforms.errors import CorpusError, UsageError
from codeaudit.versions import versions


def train_terms(
    model: str,
    given: Mapping[str, Any],
    *,
    task: str,
    specs: Mapping[str, str | None],
    out: Path,
    cache: Path,
) -> None:
    """Train a network and tell how good it is.

    Raises:
        UsageError: options that do not fit together.
        CorpusError: a corpus cannot be read, or nothing in it has a label.
        KeyboardInterrupt: it was asked to stop, and has saved its state.
    """
    asked = {name: value for name, value in given.items() if value is not None}
    spec = asked.pop("labels", None)
    device = usable_device(asked.pop("device", "cpu"))
    recipe = recipe_of(model, task, asked)
    truth = labels(spec, TASKS.get(task), cache=cache / "labels")
    corpora = {name: None if one is None else corpus(one, truth.column) for name, one in specs.items()}
    if corpora["train"] is None:
        raise UsageError("--corpus is missing")
    try:
        read = material.read(
            TASKS.get(task), recipe, truth, corpora["train"], corpora["valid"], corpora["test"], note=note
        )
    except CorpusError as error:
        if UNLABELLED in str(error):
            raise CorpusError(f"{error}; say what is true with --labels {SYNTAX}") from error
        raise
    out.mkdir(parents=True, exist_ok=True)
    total = loop.total_steps(recipe, len(read.train))
    known = TERM_TASKS[task]
    classes = read.classes["train"]
    note(f"{model}: {len(read.train):,} {known.noun}, {classes:,} alpha classes, {total:,} steps")
    try:
        validation = partial(_validation, known.target)
        with watched(model, total, validation, out) as (monitor, stop):
            trained = loop.train(recipe, read, folder=out, monitor=monitor, stop=stop, device=device)
    except ValueError as error:
        raise UsageError(f"these sizes do not fit together: {error}") from error
    about = {"corpora": dict(specs), "labels": read.labels, "versions": versions()}
    found = folder.write(out, trained, read, recipe=recipe, about=about)
    (out / FILE).unlink(missing_ok=True)
    click.echo(
        f"{out}: test {found.score_name} {found.test:.1%} on {found.count:,} {found.noun}, "
        f"{found.renamed:.1%} renamed"
    )
    for rule in found.rules:
        click.echo(f"  {rule.name}: {rule.test:.1%}")


def recipe_of(model: str, task: str, asked: Mapping[str, Any]) -> TermRecipe:
    """The defaults of the task with what was asked.

    Raises:
        UsageError: sizes that do not fit together.
    """
    chosen = dict(asked)
    if size := chosen.pop("size", None):
        sizes = dict(zip(("width", "layers", "heads"), BERT[size], strict=True))
        chosen = {**sizes, **chosen}
    settings: dict[str, Any] = {**DEFAULTS.get(task, {}), **chosen}
    recipe = TermRecipe(network=model, task=task, **settings)
    if recipe.width % recipe.heads:
        raise UsageError(f"--heads {recipe.heads} does not divide --width {recipe.width}")
    if recipe.layers < 2:
        raise UsageError("--layers must be 2 or more: with one, no term would see another")
    return recipe


def _validation(target: Target, epoch: Mapping[str, float]) -> str:
    return f"validation {target.score_name} {target.score(epoch['valid']):.1%}"

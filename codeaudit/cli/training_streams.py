"""`codeaudit train` for language models: CoDE and its baselines."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.papers.checkpoint import usable_device
from codeaudit.audit.papers.dependency_encoding import folder, loop, material
from codeaudit.audit.papers.dependency_encoding.recipe import StreamRecipe
from codeaudit.audit.registry import TASKS
from codeaudit.audit.training.state import FILE
from codeaudit.cli.progress import note
from codeaudit.cli.training import watched
from codeaudit.transforms.errors import UsageError
from codeaudit.versions import versions


def train_streams(
    model: str, given: Mapping[str, Any], *, task: str, specs: Mapping[str, str | None], out: Path
) -> None:
    """Train a network and tell how good it is.

    Raises:
        UsageError: options that do not fit together.
        CorpusError: a corpus cannot be read.
        KeyboardInterrupt: it was asked to stop, and has saved its state.
    """
    asked = {name: value for name, value in given.items() if value is not None}
    device = usable_device(asked.pop("device", "cpu"))
    recipe = recipe_of(model, task, asked)
    corpora = {name: None if one is None else corpus(one) for name, one in specs.items()}
    if corpora["train"] is None:
        raise UsageError("--corpus is missing")
    read = material.read(
        TASKS.get(task), recipe, corpora["train"], corpora["valid"], corpora["test"], note=note
    )
    out.mkdir(parents=True, exist_ok=True)
    total = loop.total_steps(recipe, len(read.train))
    note(f"{model}: {read.streams.vocabulary:,} tokens, {len(read.train):,} windows, {total:,} steps")
    try:
        with watched(model, total, _validation, out) as (monitor, stop):
            trained = loop.train(recipe, read, folder=out, monitor=monitor, stop=stop, device=device)
    except ValueError as error:
        raise UsageError(f"these sizes do not fit together: {error}") from error
    about = {"corpora": dict(specs), "versions": versions()}
    found = folder.write(out, trained, read, recipe=recipe, about=about)
    (out / FILE).unlink(missing_ok=True)
    click.echo(
        f"{out}: test {found.test.bits_per_byte:.3f} bits per byte, perplexity {found.test.perplexity:.2f}, "
        f"accuracy {found.test.accuracy:.1%} on {found.count:,} functions"
    )
    for rule in found.rules:
        click.echo(f"  {rule.name}: {rule.test.bits_per_byte:.3f} bits per byte")


def recipe_of(model: str, task: str, asked: Mapping[str, Any]) -> StreamRecipe:
    """The defaults with what was asked.

    Raises:
        UsageError: sizes that do not fit together.
    """
    recipe = StreamRecipe(network=model, task=task, **asked)
    if recipe.width % recipe.heads:
        raise UsageError(f"--heads {recipe.heads} does not divide --width {recipe.width}")
    if recipe.vocabulary < 300:
        raise UsageError("--vocabulary must be 300 or more: the bytes alone are 256 tokens")
    if recipe.window < 8:
        raise UsageError("--window must be 8 or more")
    return recipe


def _validation(epoch: Mapping[str, float]) -> str:
    return f"validation {epoch['valid']:.3f} bits per byte, accuracy {epoch['accuracy']:.1%}"

"""`codeaudit train` for the networks that read syntax trees."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from codeaudit.audit.corpora.records import CorpusResources
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.papers.spe_attention.material import read
from codeaudit.audit.papers.tree_transformer import folder, loop, material
from codeaudit.audit.papers.tree_transformer.recipe import TreeRecipe
from codeaudit.audit.registry import TASKS
from codeaudit.audit.training.state import FILE
from codeaudit.cli.progress import note
from codeaudit.cli.training import watched
from codeaudit.transforms.errors import UsageError
from codeaudit.versions import versions

FOREIGN: Final = {
    "bag_epochs": "bag-epochs",
    "orders": "augment",
    "mask_mode": "mask-mode",
    "all_heads": "all-heads",
    "line_positions": "no-line-positions",
    "sign": "sign",
}
"""Options of networks that read lines, as the command line spells them."""


def train_trees(
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
        CorpusError: a corpus cannot be read, or has no function that is short enough.
        KeyboardInterrupt: it was asked to stop, and has saved its state.
    """
    recipe = recipe_of(model, given)
    resources = CorpusResources(cache=cache, note=note)
    corpora = {
        name: None if spec is None else corpus(spec, resources=resources) for name, spec in specs.items()
    }
    if corpora["train"] is None:
        raise UsageError("--corpus is missing")
    splits = read(TASKS.get(task), corpora["train"], corpora["valid"], corpora["test"])
    prepared = material.prepare(splits, recipe, note=note)
    out.mkdir(parents=True, exist_ok=True)
    count = len(prepared.train)
    total = loop.total_steps(recipe, count)
    note(f"{model}: {count:,} functions, {len(prepared.words.labels):,} labels, {total:,} steps")
    with watched(model, total, _validation, out) as (monitor, stop):
        trained = loop.train(recipe, prepared, folder=out, monitor=monitor, stop=stop)
    about = {"corpora": dict(specs), "versions": versions()}
    found = folder.write(out, trained, prepared, task=task, recipe=recipe, about=about)
    (out / FILE).unlink(missing_ok=True)
    click.echo(f"{out}: test {found.test.line} on {found.test.count:,} functions")
    for rule in found.rules:
        click.echo(f"  {rule.name}: {rule.test.line}")


def recipe_of(model: str, given: Mapping[str, Any]) -> TreeRecipe:
    """The defaults with what was asked.

    Raises:
        UsageError: an option of other networks, or sizes that do not fit together.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    for name, shown in FOREIGN.items():
        if name in chosen:
            raise UsageError(f"--{shown} is no option of {model}")
    recipe = TreeRecipe(network=model, **chosen)
    if recipe.width % recipe.heads:
        raise UsageError(f"--heads {recipe.heads} does not divide --width {recipe.width}")
    return recipe


def _validation(epoch: Mapping[str, float]) -> str:
    return f"validation F1 {epoch['valid']:.1%}"

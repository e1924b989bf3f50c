"""The command `codeaudit train`: one of the papers' networks, from a corpus to a checkpoint folder."""

from collections.abc import Mapping
from os import cpu_count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from codeaudit.cli import completion
from codeaudit.cli.progress import note
from codeaudit.cli.training import watched
from codeaudit.transforms.errors import UsageError

if TYPE_CHECKING:
    from codeaudit.audit.papers.spe_attention.folder import Finished
    from codeaudit.audit.papers.spe_attention.recipe import Recipe

TREES: Final = ("tree", "tree-vanilla", "tree-shaw", "tree-shiv", "tree-kim")
"""Networks that read syntax trees."""
NETWORKS: Final[Mapping[str, tuple[str, ...]]] = {
    "function-name": ("spe", "symc", "vanilla", "renamer", "code", *TREES),
    "error-detection": ("spe", "symc", "vanilla", "renamer", "code"),
    "throughput": ("renamer", "vanilla", "augmented", "canonicalized"),
    "derivative": ("renamer", "vanilla", "augmented", "canonicalized"),
    "code-modelling": ("code", "rope", "nope", "fire", "hope", "alibi"),
}
"""By task. Named here so that the help needs no torch; a test compares them with the registry."""
MODELS: Final = tuple(dict.fromkeys(name for names in NETWORKS.values() for name in names))
DEFAULTS: Final = {"renamer": "throughput", "code": "code-modelling"}
"""The task that a network is for in its paper, where that is not the first of those above."""
TERM_ONLY: Final = ("size", "readout", "implied", "device", "labels")
LINE_ONLY: Final = (
    "bag_epochs",
    "vocabulary",
    "rarest_label",
    "orders",
    "mask_mode",
    "all_heads",
    "line_positions",
    "sign",
    "half",
)
FOREIGN: Final[Mapping[str, tuple[str, ...]]] = {
    "function-name": TERM_ONLY,
    "error-detection": (*TERM_ONLY, "rarest_label"),
    "throughput": LINE_ONLY,
    "derivative": (*LINE_ONLY, "implied"),
    "code-modelling": (
        *(name for name in TERM_ONLY if name != "device"),
        *(name for name in LINE_ONLY if name not in ("vocabulary", "half")),
    ),
}
"""Options that a task has no use for."""
SPELLINGS: Final = {"orders": "augment", "line_positions": "no-line-positions", "implied": "no-implied"}
"""Options whose names on the command line are others."""
SPE_ONLY: Final = ("mask_mode", "all_heads", "line_positions")
POSITIVE: Final = click.IntRange(min=1)


@click.command()
@click.argument("model", type=click.Choice(MODELS))
@click.option(
    "--task",
    metavar="NAME",
    shell_complete=completion.tasks,
    help="What is learned.  [default: that of MODEL's paper]",
)
@click.option(
    "--corpus", required=True, metavar="SPEC", shell_complete=completion.corpora, help="What to learn from."
)
@click.option(
    "--valid",
    metavar="SPEC",
    help="Validation corpus.  [default: one file, or class of renamings, in 20; one group in 10]",
)
@click.option(
    "--test", metavar="SPEC", help="Test corpus.  [default: another file or class in 20; three groups in 10]"
)
@click.option(
    "--labels",
    metavar="SPEC",
    help="Renamer's: COLUMN[/DIVISOR] of the corpus; for throughput also llvm-mca[:PROCESSOR].  "
    "[default: the corpus's own, else llvm-mca]",
)
@click.option("--size", type=click.Choice(["tiny", "mini", "small"]), help="Renamer's: that BERT's sizes.")
@click.option(
    "--readout", type=click.Choice(["sum", "mean", "cls"]), help="Renamer's: how terms become a number."
)
@click.option(
    "--no-implied",
    "implied",
    flag_value=False,
    default=None,
    help="throughput: leave out blocks with implied registers, as the paper does.",
)
@click.option("--device", metavar="NAME", help="Renamer's: where it is trained.  [default: cpu]")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Checkpoint folder."
)
@click.option("--bag-epochs", type=click.IntRange(min=0), help="Epochs without the blocks, at first.")
@click.option("--epochs", type=POSITIVE, help="Epochs with them.")
@click.option("--steps", type=POSITIVE, help="Steps with them, instead of --epochs.")
@click.option("--batch", type=POSITIVE, help="Examples a step.")
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), help="Peak learning rate.")
@click.option("--width", type=POSITIVE, help="Of the hidden states.")
@click.option("--layers", type=POSITIVE, help="Blocks.")
@click.option("--heads", type=POSITIVE, help="Attention heads; must divide the width.")
@click.option("--dropout", type=click.FloatRange(min=0, max=1, max_open=True), help="Share left out.")
@click.option("--window", type=POSITIVE, help="Longest input in tokens; what is longer is left out.")
@click.option("--vocabulary", type=POSITIVE, help="Words known.")
@click.option("--rarest-label", type=POSITIVE, help="Names that a subtoken must stand in to be a label.")
@click.option("--patience", type=POSITIVE, help="Epochs without progress before it ends.")
@click.option(
    "--augment", "orders", type=click.IntRange(min=0), help="Legal orders per function to learn from."
)
@click.option("--mask-mode", type=click.Choice(["hadamard", "additive"]), help="spe: where the mask goes.")
@click.option("--all-heads", is_flag=True, default=None, help="spe: a mask in every head (Table 3).")
@click.option("--no-line-positions", "line_positions", flag_value=False, default=None, help="spe: w.o. pe.")
@click.option("--sign", type=click.Choice(["1", "-1"]), help="symc: whether far (1) or near (-1) lines gain.")
@click.option("--half/--full", default=None, help="Multiply in bfloat16 (default) or in float32.")
@click.option("--seed", type=int, help="Decides the weights and the order of the data.")
@click.option("--workers", type=POSITIVE, default=lambda: min(4, cpu_count() or 1), help="Reading processes.")
@click.option("--threads", type=POSITIVE, help="Of the arithmetic.  [default: torch's]")
@click.option("--cache", type=click.Path(path_type=Path), metavar="DIR", help="Where features are kept.")
def train(
    model: str,
    task: str | None,
    corpus: str,
    valid: str | None,
    test: str | None,
    out: Path,
    workers: int,
    threads: int | None,
    cache: Path | None,
    **given: Any,
) -> None:
    """Train MODEL on a corpus. Ctrl-C saves; the same command resumes.

    \b
    Examples:
      codeaudit train spe --corpus src/ --out my-spe
      codeaudit train vanilla --corpus table.jsonl.gz:train --valid table.jsonl.gz:valid --out my-vanilla
      codeaudit train renamer --task throughput --corpus blocks.csv --labels llvm-mca --out my-renamer
      codeaudit train code --task code-modelling --corpus src/ --out my-code
    """
    task = task or DEFAULTS.get(model) or next(name for name, models in NETWORKS.items() if model in models)
    if task not in NETWORKS:
        raise UsageError(f"no network is trained for task {task!r}; known: {', '.join(NETWORKS)}")
    if model not in NETWORKS[task]:
        raise UsageError(f"{model} is not trained for task {task!r}; known: {', '.join(NETWORKS[task])}")
    for name in FOREIGN[task]:
        if given.pop(name) is not None:
            shown = SPELLINGS.get(name, name).replace("_", "-")
            raise UsageError(f"--{shown} is no option of task {task!r}")
    import torch

    from codeaudit.audit.cache import default_folder

    if threads is not None:
        torch.set_num_threads(threads)
    specs = {"train": corpus, "valid": valid, "test": test}
    if task == "code-modelling":
        from codeaudit.cli.training_streams import train_streams

        train_streams(model, given, task=task, specs=specs, out=out)
        return
    if model in TREES:
        from codeaudit.cli.training_trees import train_trees

        train_trees(model, given, task=task, specs=specs, out=out, cache=cache or default_folder())
        return
    if set(LINE_ONLY) <= set(FOREIGN[task]):
        from codeaudit.cli.training_terms import train_terms

        train_terms(model, given, task=task, specs=specs, out=out, cache=cache or default_folder())
        return
    found = _trained(
        _recipe(model, given),
        task=task,
        specs=specs,
        out=out,
        cache=cache or default_folder(),
        workers=workers,
    )
    click.echo(f"{out}: test {found.test.line} on {found.test.count:,} functions")
    for baseline in found.baselines:
        click.echo(f"  {baseline.name}: {baseline.test.line}")


def _recipe(model: str, given: dict[str, Any]) -> "Recipe":
    """The defaults with what was asked."""
    from codeaudit.audit.papers.spe_attention.recipe import Recipe

    chosen = {name: value for name, value in given.items() if value is not None}
    options: dict[str, object] = {name: chosen.pop(name) for name in SPE_ONLY if name in chosen}
    if options and model != "spe":
        raise UsageError(f"--{next(iter(options)).replace('_', '-')} is an option of spe, not of {model}")
    if "sign" in chosen:
        if model != "symc":
            raise UsageError(f"--sign is an option of symc, not of {model}")
        options["sign"] = int(chosen.pop("sign"))
    recipe = Recipe(network=model, options=options, **chosen)
    if recipe.width % recipe.heads:
        raise UsageError(f"--heads {recipe.heads} does not divide --width {recipe.width}")
    return recipe


def _trained(
    recipe: "Recipe", *, task: str, specs: dict[str, str | None], out: Path, cache: Path, workers: int
) -> "Finished":
    from codeaudit.audit.corpora.records import CorpusResources
    from codeaudit.audit.corpora.specs import corpus
    from codeaudit.audit.papers.lines.tasks import TASKS as LINE_TASKS
    from codeaudit.audit.papers.spe_attention import folder, loop, material
    from codeaudit.audit.registry import TASKS
    from codeaudit.audit.training.state import FILE
    from codeaudit.versions import versions

    resources = CorpusResources(cache=cache, note=note)
    corpora = {
        name: None if spec is None else corpus(spec, resources=resources) for name, spec in specs.items()
    }
    if corpora["train"] is None:
        raise UsageError("--corpus is missing")
    splits = material.read(TASKS.get(task), corpora["train"], corpora["valid"], corpora["test"])
    read = material.prepare(
        splits, recipe, cache=cache / "features", workers=workers, note=note, task=LINE_TASKS[task]
    )
    out.mkdir(parents=True, exist_ok=True)
    plan = loop.Plan.of(recipe, len(read.train))
    note(
        f"{recipe.network}: {len(read.train):,} functions, {len(read.labels):,} labels, {plan.total:,} steps"
    )
    try:
        with watched(recipe.network, plan.total, _validation, out) as (monitor, stop):
            trained = loop.train(recipe, read, folder=out, monitor=monitor, stop=stop)
    except ValueError as error:
        raise UsageError(f"these sizes do not fit together: {error}") from error
    about = {"corpora": specs, "versions": versions()}
    finished = folder.write(out, trained, read, task=task, recipe=recipe, about=about)
    (out / FILE).unlink(missing_ok=True)
    return finished


def _validation(epoch: Mapping[str, float]) -> str:
    return f"validation F1 {epoch['valid']:.1%} at threshold {epoch['threshold']:.1f}"

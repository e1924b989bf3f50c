"""The command `codeaudit train`: one of the papers' networks, from a corpus to a checkpoint folder."""

from os import cpu_count
from pathlib import Path
from typing import Any, Final

import click

from codeaudit.audit.papers import registry
from codeaudit.audit.registry import TASKS
from codeaudit.cli import completion
from codeaudit.cli.progress import note
from codeaudit.cli.training import trained
from codeaudit.transforms.errors import UsageError

SPELLINGS: Final = {"orders": "augment", "line_positions": "no-line-positions", "implied": "no-implied"}
"""Options whose names on the command line are others."""
POSITIVE: Final = click.IntRange(min=1)


@click.command()
@click.argument("model", type=click.Choice(registry.NETWORKS))
@click.option(
    "--task",
    metavar="NAME",
    shell_complete=completion.tasks,
    help="The task to learn.  [default: that of MODEL's paper]",
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
@click.option("--device", metavar="NAME", help="Renamer's: the device of the training.  [default: cpu]")
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
@click.option("--window", type=POSITIVE, help="Longest input in tokens; longer ones are left out.")
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
    family, task = registry.family(model, task)
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if registry.foreign(family, task, name):
            known = any(
                not registry.foreign(one, task, name) for one in registry.FAMILIES if task in one.tasks
            )
            shown = SPELLINGS.get(name, name).replace("_", "-")
            raise UsageError(f"--{shown} is no option of {model if known else f'task {task!r}'}")
    import torch

    from codeaudit.audit.cache import default_folder

    if threads is not None:
        torch.set_num_threads(threads)
    request = registry.TrainingRequest(
        network=model,
        task=TASKS.get(task),
        options=options,
        train=corpus,
        valid=valid,
        test=test,
        cache=cache or default_folder(),
        workers=workers,
        note=note,
    )
    first, *others = trained(registry.learner(family, request), model, request, out)
    click.echo(f"{out}: {first}")
    for line in others:
        click.echo(f"  {line}")

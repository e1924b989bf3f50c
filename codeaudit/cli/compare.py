"""The command `codeaudit compare`: compares runs, or audits models and compares them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from codeaudit.audit.store import SUITE
from codeaudit.auditing import demand_verdicts
from codeaudit.cli.options import run_options
from codeaudit.cli.output import show
from codeaudit.cli.progress import note
from codeaudit.cli.run import audited_now
from codeaudit.finished_runs import read_compared
from codeaudit.reports.compare import compare as compare_runs
from codeaudit.run_options import RunOptions
from codeaudit.transforms.errors import UsageError


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...", type=click.Path(path_type=Path))
@run_options
def compare(runs: tuple[Path, ...], **options: Any) -> int:
    """Compare models: from finished runs, or by auditing them now on the same inputs.

    Kruskal-Wallis and Conover across trials; Cochran's Q and exact McNemar tests where models met the same
    inputs, with effect sizes and the smallest difference that could have been seen. With --model, the
    options are those of `codeaudit run`; beside a RUN, the models meet the inputs of that run.

    \b
    Examples:
      codeaudit compare codeaudit-runs/monday codeaudit-runs/tuesday
      codeaudit compare --model spe-checkpoint --model hf/./my-model --trials 5
      codeaudit compare codeaudit-runs/monday --model openai/gpt-5 --base-url http://localhost:8000/v1
    """
    asked = RunOptions(**options)
    from_outside = click.get_current_context().get_parameter_source("model") is ParameterSource.ENVIRONMENT
    models = () if runs and from_outside else asked.model
    if not runs and len(models) < 2:
        raise UsageError("nothing to compare: give runs, or two models with --model")
    found = [read_compared(path) for path in runs]
    if models:
        if runs and asked.suite is None:
            asked = replace(asked, suite=runs[0] / SUITE)
        summary, folder = audited_now(asked)
        note(f"run folder: {folder.path}")
        demand_verdicts(summary, asked)
        found.append(read_compared(folder.path))
    show(compare_runs(found), asked.format)
    return 0

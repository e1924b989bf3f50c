"""The command `codeaudit run`: its options and its output. `codeaudit.auditing` does the work."""

import shlex
import sys
from dataclasses import replace
from typing import Any, Final

import click
from click.core import ParameterSource

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints.address import redacted
from codeaudit.audit.store import RunFolder
from codeaudit.auditing import audit_models, demand_verdicts
from codeaudit.cli.options import run_options
from codeaudit.cli.output import show
from codeaudit.cli.progress import PROGRESS, note
from codeaudit.reports.records import Summary
from codeaudit.reports.registry import FORMATS
from codeaudit.run_options import RunOptions
from codeaudit.transforms.registry import expand

DRAWING: Final = (
    "corpus",
    "labels",
    "transform",
    "sites",
    "variants",
    "controls",
    "execute",
    "limit",
    "seed",
    "trials",
)
"""Options that decide which inputs are made; a suite fixes them."""


@click.command()
@run_options
def run(**options: Any) -> int:
    """Audit one or more models on a perturbed suite.

    The table goes to stdout, progress to stderr, everything else into the run folder. Interrupted runs go
    on where they stopped when they are started again with the same --out.

    \b
    Examples:
      codeaudit run
      codeaudit run --corpus src/ --model py/my_module:predict
      codeaudit run --transform reorder --trials 5 --format markdown > audit.md
    """
    asked = RunOptions(**options)
    summary, folder = audited_now(asked)
    show(summary, asked.format)
    place = shlex.quote(str(folder.path))
    note(f"run folder: {folder.path}; next: codeaudit explain {place}, codeaudit report {place} --html FILE")
    demand_verdicts(summary, asked)
    return 0


def audited_now(asked: RunOptions) -> tuple[Summary, RunFolder]:
    """Audit the models with progress on stderr. Returns the summary and the run folder.

    Raises:
        UsageError, CannotAudit: as `audit_models`.
    """
    expand(asked.transforms or ())  # tells an unknown name before anything else
    FORMATS.get(asked.format)  # a broken plug-in ends the command before a model is asked
    _note_idle(asked)
    # CODEAUDIT_BASE_URL and files may set options for models that this run does not use.
    accepted = catalogue.accepted_options(asked.model or catalogue.bundled())
    idle = [name for name in asked.model_options if not _on_command_line(name) and name not in accepted]
    asked = replace(asked, **{name: getattr(RunOptions(), name) for name in idle})
    return audit_models(asked, command=["codeaudit", *map(redacted, sys.argv[1:])], progress=PROGRESS)


def _note_idle(options: RunOptions) -> None:
    """Tell which options on the command line have no effect."""
    if not options.attacks and _on_command_line("budget"):
        note("--budget: no effect without --attack")
    named = [name for name in DRAWING if options.suite is not None and _on_command_line(name)]
    if named:
        note(f"{', '.join(f'--{name}' for name in named)}: no effect with --suite, which fixes the inputs")


def _on_command_line(option: str) -> bool:
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE

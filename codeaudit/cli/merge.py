"""The command `codeaudit merge`: joins the shards of a run."""

import sys
from pathlib import Path

import click

from codeaudit.audit.integrity import read_key
from codeaudit.audit.store import MANIFEST
from codeaudit.auditing import demand_verdicts
from codeaudit.cli.options import VERBOSE, format_option, option, run_option
from codeaudit.cli.output import PROGRESS, note, show_run
from codeaudit.merging import merge as merge_shards
from codeaudit.options import RunOptions
from codeaudit.reports.registry import FORMATS
from codeaudit.retyping import next_commands
from codeaudit.transforms.errors import UsageError


@click.command()
@click.argument("shards", nargs=-1, metavar="SHARD...", type=click.Path(path_type=Path))
@option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Run folder of the whole run.",
    required=True,
    show_default=False,
)
@run_option("sign_key", "Check that every SHARD was signed with the secret in this file, and sign the run.")
@format_option(*FORMATS)
@VERBOSE
def merge(shards: tuple[Path, ...], out: Path, sign_key: Path | None, form: str, verbose: bool) -> int:
    """Join the shards of a run, the folders that `codeaudit run --shard` wrote, into the folder of the whole.

    Suite, verdicts and tables are those of the run in one process; scores differ by the models' arithmetic
    noise at most. Every shard must be there once.

    \b
    Examples:
      codeaudit run --limit 0 --shard 3/16 --out shard-3
      codeaudit merge shard-* --out run
    """
    if not shards:
        raise UsageError("nothing to merge: name the folders of all shards")
    key = None if sign_key is None else read_key(sign_key)
    command = ["codeaudit", *sys.argv[1:]]
    summary, folder = merge_shards(shards, out, command=command, key=key, progress=PROGRESS)
    show_run(summary, form, verbose=verbose)
    recorded = folder.manifest()["options"]
    follows = next_commands(folder.path, recorded, judged=summary.judged)
    note(f"run folder: {folder.path}; next: {follows}")
    options = RunOptions.of_manifest(recorded, folder.path / MANIFEST)
    demand_verdicts(summary, options)
    return 0

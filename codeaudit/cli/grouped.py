"""Help that groups the options of a command by subject."""

from collections.abc import Mapping
from typing import Final

import click

SUBJECTS: Final[Mapping[str, tuple[str, ...]]] = {
    "Models": ("model", "model_argument", "base_url", "proxy", "wrap"),
    "What is asked": ("task", "corpus", "columns", "labels", "label_map", "limit", "movable", "suite"),
    "Edits": ("transform", "mixed", "dependence", "sites", "variants", "repeats", "controls", "execute"),
    "Attacks and trials": ("attack", "budget", "trials", "seed"),
    "Limits of cost": ("max_requests", "max_tokens", "max_cost", "dry_run"),
    "Output": ("out", "raw", "format", "html", "verbose", "sign_key"),
    "Where and how fast": (
        "device",
        "precision",
        "batch_size",
        "workers",
        "engine",
        "address",
        "shard",
        "cache",
    ),
    "General": ("config", "help"),
}
"""The names of options by the heading under which the help shows them."""


class GroupedCommand(click.Command):
    """A command whose help shows its options under the headings of `SUBJECTS`, and others under the last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section for each subject that has an option here."""
        last = list(SUBJECTS)[-1]
        heading = {name: subject for subject, names in SUBJECTS.items() for name in names}
        sections: dict[str, list[tuple[str, str]]] = {subject: [] for subject in SUBJECTS}
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is not None:
                sections[heading.get(param.name or "", last)].append(record)
        for subject, records in sections.items():
            if records:
                with formatter.section(subject):
                    formatter.write_dl(records)

"""Help that groups the options of a command by subject."""

from collections.abc import Mapping
from typing import Final, get_args

import click

from codeaudit.option_table import Heading
from codeaudit.options import TABLE

BESIDE: Final[Mapping[str, Heading]] = {
    "dry_run": "Limits of cost",
    "held_out": "What is asked",
    "html": "Output",
    "verbose": "Output",
}
"""The headings of options that only some commands have. Those of the others are in the table of options."""


def subject(name: str | None) -> Heading:
    """The heading under which the help shows an option."""
    return TABLE[name].entry.heading if name in TABLE else BESIDE.get(name or "", "General")


class GroupedCommand(click.Command):
    """A command whose help shows its options under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section for each heading that has an option here."""
        sections: dict[Heading, list[tuple[str, str]]] = {heading: [] for heading in get_args(Heading)}
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is not None:
                sections[subject(param.name)].append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)

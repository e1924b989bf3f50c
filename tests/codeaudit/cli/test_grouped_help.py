"""The help of run and compare is grouped by subject, and all commands use the same words."""

from typing import get_args

import click
import pytest

from codeaudit.cli.main import COMMANDS, main
from codeaudit.cli.options import BESIDE
from codeaudit.option_table import Heading
from codeaudit.options import TABLE
from codeaudit.transforms.registration import load_target

OWN_WORDS = {
    "--workers",
    "--variants",
    "--limit",
    "--sites",
    "--format",
    "--transform",
    "--out",
    "--baseline",
}
"""Options that say what they do in their command."""


def options_of(name: str) -> dict[str, click.Option]:
    command: click.Command = load_target(COMMANDS[name][0])
    return {str(param.name): param for param in command.params if isinstance(param, click.Option)}


@pytest.mark.parametrize("name", ["run", "compare"])
def test_every_option_stands_under_its_subject(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert set(TABLE) <= options_of(name).keys() <= {*TABLE, *BESIDE, "config"}
    assert main([name, "--help"]) == 0
    text = capsys.readouterr().out
    places = [text.index(f"\n{heading}:\n") for heading in get_args(Heading)]
    assert places == sorted(places)
    assert "\nOptions:\n" not in text
    # Nothing is lost between the groups.
    for option in options_of(name).values():
        assert max(option.opts, key=len) in text


def test_one_option_has_one_value_name_in_all_commands() -> None:
    words: dict[str, set[str]] = {}
    for name in COMMANDS:
        for option in options_of(name).values():
            if option.metavar and option.opts[0] not in OWN_WORDS:
                words.setdefault(option.opts[0], set()).add(option.metavar)
    assert {name: values for name, values in words.items() if len(values) > 1} == {}

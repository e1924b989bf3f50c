"""The table of options: a field with its entry is all that a new option needs."""

import inspect
from dataclasses import dataclass, fields
from pathlib import Path

import click
import pytest

import codeaudit
from codeaudit import retyping
from codeaudit.cli.options import declared_option
from codeaudit.option_table import declared, in_order, option
from codeaudit.options import DEFAULTS, TABLE, RunOptions, check_values, marked
from codeaudit.reports.gate import Limits

IN_PYTHON = {"model": "models", "transform": "transforms", "model_argument": "model_arguments"}
"""Arguments of `codeaudit.run` with another name than the option."""
OTHERS_IN_PYTHON = {"movable": None, "attack": ()}
"""Arguments of `codeaudit.run` with another default than the option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WithExample(RunOptions):
    example: int | None = option(None, "Edits", least=2, after="sites", help="An example.")
    way: Path | None = option(None, "Output", "DIR", help="Another.")
    strict: bool = option(False, "Edits", help="A third.")


@dataclass(frozen=True)
class WithShare:
    share: float = option(0.0, "Edits", most=1)


def command(*names: str) -> click.Command:
    """A command that returns what it is given."""

    @click.command
    def given(**values: object) -> dict[str, object]:
        return values

    for name in names:
        given = declared_option(declared(WithExample)[name])(given)
    return given


def test_every_option_is_in_the_table_and_says_what_it_does() -> None:
    assert set(TABLE) == {field.name for field in fields(RunOptions)}
    assert all(row.entry.help for row in TABLE.values())
    for row in TABLE.values():
        assert not row.entry.after or TABLE[row.entry.after].entry.heading == row.entry.heading


def test_a_field_is_all_that_an_option_of_the_command_line_needs() -> None:
    made = command("example", "way", "strict")
    assert made.main([], standalone_mode=False) == {"strict": False, "way": None, "example": None}
    typed = made.main(["--example", "3", "--way", "a", "--strict"], standalone_mode=False)
    assert typed == {"strict": True, "way": Path("a"), "example": 3}
    with pytest.raises(click.BadParameter, match="1 is not in the range x>=2"):
        made.main(["--example", "1"], standalone_mode=False)
    variables = {str(param.envvar) for param in made.params}
    assert variables == {"CODEAUDIT_STRICT", "CODEAUDIT_WAY", "CODEAUDIT_EXAMPLE"}


def test_the_help_shows_an_option_behind_the_one_that_it_follows() -> None:
    names = [row.name for row in in_order(declared(WithExample))]
    assert names[names.index("sites") + 1] == "example"
    assert sorted(names) == sorted(declared(WithExample))


def test_the_arguments_of_run_are_the_table() -> None:
    parameters = inspect.signature(codeaudit.run).parameters
    options = {IN_PYTHON.get(name, name): row for name, row in TABLE.items() if name != "format"}
    assert parameters.keys() == {*options, "language", "progress"}
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert [name for name, parameter in parameters.items() if parameter.kind is positional] == ["models"]
    for name, row in options.items():
        wanted = None if row.default == () else OTHERS_IN_PYTHON.get(name, row.default)
        assert parameters[name].default == wanted, name


def test_what_python_functions_share_with_a_run_has_its_default() -> None:
    for function in (codeaudit.gate, codeaudit.perturb, codeaudit.transform, codeaudit.assert_invariant):
        shared = inspect.signature(function).parameters.keys() & TABLE.keys() - {"model"}
        assert shared
        for name in shared:
            assert inspect.signature(function).parameters[name].default == TABLE[name].default, name


def test_a_wrong_argument_is_told_without_the_record_that_holds_it() -> None:
    with pytest.raises(TypeError, match=r"^too many positional arguments$"):
        codeaudit.run("fake/hash", "src")  # type: ignore[call-arg]
    with pytest.raises(
        codeaudit.UsageError, match=r"codeaudit\.run takes no argument 'seeds'; did you mean 'seed'"
    ):
        codeaudit.run(seeds=1)  # type: ignore[call-arg]
    with pytest.raises(codeaudit.UsageError, match="controls=1 must be True or False"):
        codeaudit.run(controls=1)  # type: ignore[arg-type]


def test_numbers_with_decimals_are_shares_unless_said_otherwise() -> None:
    assert {name: row.entry.most for name, row in declared(Limits).items() if row.kind is float} == {
        **dict.fromkeys(
            ("max_violation_rate", "max_missed", "max_score_drop", "min_sensitivity", "margin", "alpha"), 1
        ),
        "max_unjudged": 1, "max_newly_unjudged": 1, "min_shared": 1, "max_f1_drop": None,
    }  # fmt: skip
    with pytest.raises(
        codeaudit.UsageError, match=r"share=5 must be a number from 0 to 1; did you mean 0\.05"
    ):
        check_values(declared(WithShare), share=5)
    check_values(declared(WithShare), share=0.5)


def test_options_that_lead_elsewhere_are_typed_again() -> None:
    """A security promise: whoever marks an option changes this list knowingly."""
    assert sorted(marked("retyped")) == ["address", "cache", "judge", "sign_key"]
    assert set(marked("may_hold_secrets")) == {"base_url", "proxy"}
    assert [name for name, row in TABLE.items() if not row.entry.kept] == ["proxy"]
    assert [name for name, row in TABLE.items() if not row.entry.repeated] == ["out"]
    assert retyping.CODE == ("task", "transform", "mixed")


def test_the_defaults_are_those_of_the_table() -> None:
    assert all(getattr(DEFAULTS, name) == row.default for name, row in TABLE.items())

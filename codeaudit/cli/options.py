"""The options of the commands: from the command line, the environment, a TOML file or a manifest.

Shell completion of their values imports no framework.
"""

import json
import os
import shlex
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem
from typing_extensions import override

from codeaudit.audit.corpora.specs import forms
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints.urls import redacted_url
from codeaudit.audit.registry import TASKS
from codeaudit.audit.store import MANIFEST, RUN_FILES, read_manifest
from codeaudit.bound_arguments import read_arguments, rebound
from codeaudit.cli.main import CONFIG
from codeaudit.option_table import DeclaredOption, Heading
from codeaudit.options import HUGE, PRINTED, TABLE
from codeaudit.retyping import words
from codeaudit.transforms.errors import CorpusError, RunError, UsageError
from codeaudit.transforms.permission import permit
from codeaudit.transforms.registry import ALL, TRANSFORMS
from codeaudit.transforms.registry import families as families_of
from codeaudit.transforms.suites import SUITE, SUITES

Items = list[CompletionItem]


class Whole(click.IntRange):
    """A whole number of an option, called so in messages and in the help."""

    name = "whole number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a whole number; refuse one that tables do not hold."""
        number = super().convert(value, param, ctx)
        if isinstance(number, int) and abs(number) > HUGE:
            self.fail(f"{number} is beyond {HUGE:,}", param, ctx)
        return number

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """The word in the help."""
        return "N"

    def _describe_range(self) -> str:
        """Describe the range. Click writes `x<=None` where there is no bound."""
        return "" if self.min is None and self.max is None else super()._describe_range()


class Real(click.FloatRange):
    """As `Whole`, for a number with decimals."""

    name = "number"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """The word in the help."""
        return "X"


def complete_models(ctx: click.Context, param: click.Parameter, begun: str) -> Items:
    """Bundled checkpoints, named models of a provider and the heads of specs; a folder otherwise."""
    # A provider with names is completed to them; of the others only the head is known.
    named = [f"{head}/{name}" for head, provider in catalogue.providers().items() for name in provider.names]
    heads = [f"{head}/" for head, provider in catalogue.providers().items() if not provider.names]
    specs = [*catalogue.bundled(), *named, *heads, f"{catalogue.CANONICAL}/"]
    return _starting(specs, begun) or _files(begun)


def complete_tasks(ctx: click.Context, param: click.Parameter, begun: str) -> Items:
    """All tasks."""
    return _starting(TASKS, begun)


def completing(names: Iterable[str]) -> Callable[[click.Context, click.Parameter, str], Items]:
    """A completion to some of these names."""

    def complete(ctx: click.Context, param: click.Parameter, begun: str) -> Items:
        return _starting(names, begun)

    return complete


def complete_transforms(ctx: click.Context, param: click.Parameter, begun: str) -> Items:
    """Transforms, families and published suites; behind a comma those that are not named yet."""
    before, comma, last = begun.rpartition(",")
    named = before.split(",")
    families = dict.fromkeys(["identity", *(family.name for family in families_of())])
    # Families first: they are what a user mostly wants.
    suites = (f"{SUITE}/{name}" for name in SUITES)
    free = (name for name in dict.fromkeys((ALL, *families, *TRANSFORMS, *suites)) if name not in named)
    return _starting((f"{before}{comma}{name}" for name in free if name.startswith(last)), begun)


def complete_corpora(ctx: click.Context, param: click.Parameter, begun: str) -> Items:
    """Corpora that have a name, and the beginnings of those with a part of their own; a file otherwise."""
    words = (form.partition(":")[0] for form, _ in forms() if not form.startswith("PATH"))
    return _starting(dict.fromkeys(words), begun) or _files(begun)


def _starting(names: Iterable[str], begun: str) -> Items:
    return [CompletionItem(name) for name in names if name.startswith(begun)]


def _files(begun: str) -> Items:
    return [CompletionItem(begun, type="file")]


F = TypeVar("F", bound=Callable[..., object])
FORMATS: Final = PRINTED


def on_command_line(option: str) -> bool:
    """Whether an option of the running command was given to it, not by the environment or a file.

    The environment is there for all commands. So an option from there that a command has no use for is left
    alone, where one on the command line is an error.
    """
    return given_as(option) is ParameterSource.COMMANDLINE


def given_as(option: str) -> ParameterSource | None:
    """Where the value of an option of the running command is from."""
    return click.get_current_context().get_parameter_source(option)


class ModelSpec(click.types.StringParamType):
    """The SPEC of a model; in the environment several, quoted as in a shell."""

    name = "SPEC"

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        """`CODEAUDIT_MODEL="spe-checkpoint 'exec/python m.py'"` names two models."""
        return shlex.split(rv)


class Listed(click.Option):
    """An option with commas between its values. Given twice, both lists count."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Add the option so that a later value does not replace an earlier one."""
        # click keeps the last value of an option only; `append` keeps them all.
        parser.add_option(obj=self, opts=self.opts, dest=self.name, action="append", nargs=self.nargs)

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> Any:
        """All values, as one text."""
        value, source = super().consume_value(ctx, opts)
        return (",".join(value) if isinstance(value, list) else value), source


class OneAddress(Listed):
    """An option with the address of all models. Given twice, the addresses were meant for one model each."""

    @override
    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> Any:
        """The one address.

        Raises:
            UsageError: there are several.
        """
        several = opts.get(self.name or "") or []
        if len(dict.fromkeys(several)) > 1:
            bound = " ".join(
                f"-M {place}:base_url={redacted_url(url)}" for place, url in enumerate(several, start=1)
            )
            more = f"; each goes with its --model: {bound}" if self.name == "base_url" else ""
            raise UsageError(f"{self.opts[0]} is given {len(several)} times{more}")
        value, source = click.Option.consume_value(self, ctx, opts)
        return (value[0] if isinstance(value, list) else value), source


class OutputFile(click.Path):
    """A file that a command writes, of formats that some endings name."""

    def __init__(
        self,
        *endings: str,
        makes_folder: bool = False,
        may_be_stdout: bool = False,
        any_but_lines: bool = False,
    ) -> None:
        """Without endings every name is fine.

        `makes_folder`: the command makes the folder of the file. `may_be_stdout`: for `-` it
        writes to stdout. `any_but_lines`: every name is fine but one that means lines of JSON.
        """
        super().__init__(path_type=Path, dir_okay=False, allow_dash=may_be_stdout)
        self._endings = endings
        self._others = (OUTPUTS - set(endings)) if endings else frozenset[str]()
        if any_but_lines:
            self._endings, self._others = (), frozenset({".jsonl", ".gz"})
        self._remedy = endings[0] if endings else ""
        self._makes_folder = makes_folder
        self.may_be_stdout = may_be_stdout

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check the name of a file to write, and its folder.

        Raises:
            UsageError: the name ends as that of another format, or stands for stdout, which the command does
                not write this file to.
            RunError: the folder of the file does not exist.
        """
        path = super().convert(value, param, ctx)
        named = param.opts[0] if param is not None and param.opts else "the file"
        if not isinstance(path, Path):
            return path
        if str(path) == "-":
            if not self.may_be_stdout:
                raise UsageError(f"{named} does not write to stdout; give the name of a file")
            return path
        if path.suffix.lower() in self._others:
            remedy = f"name it {path.stem}{self._remedy}"
            printed = " and print it to PDF in a browser" if path.suffix.lower() == ".pdf" else ""
            raise UsageError(f"{named} {str(path)!r} does not write {path.suffix}; {remedy}{printed}")
        if not path.parent.is_dir() and not self._makes_folder:
            raise RunError(f"cannot write {str(path)!r}: no folder {str(path.parent)!r}; make it first")
        foreign = bool(self._endings) and path.suffix.lower() not in self._endings
        if foreign and path.is_file() and path.stat().st_size:
            remedy = f"give a name that ends in {self._endings[0]}"
            raise UsageError(f"{named} {str(path)!r} would replace a file of another kind; {remedy}")
        demand_outside_of_runs(path, named)
        return path


def demand_outside_of_runs(path: Path, named: str) -> None:
    """Refuse to replace a file of a run folder.

    Raises:
        UsageError: it is one.
    """
    if path.name in RUN_FILES and path.is_file() and (path.parent / MANIFEST).is_file():
        raise UsageError(f"{named} {str(path)!r} would replace a file of a run; give another name")


OUTPUTS: Final = frozenset({
    ".html", ".htm", ".md", ".tex", ".xml", ".csv", ".json", ".pdf", ".png", ".svg", ".docx", ".txt",
    ".parquet", ".jsonl", ".gz",
})  # fmt: skip
"""Endings that name a format."""


def option(*names: str, **settings: Any) -> Callable[[F], F]:
    """An option that the variable `CODEAUDIT_<OPTION>` sets, too."""
    long = next(name for name in names if name.startswith("--")).partition("/")[0]
    variable = "CODEAUDIT_" + long.removeprefix("--").replace("-", "_").upper()
    return click.option(*names, envvar=variable, show_default=settings.pop("show_default", True), **settings)


FORMS: Final[Mapping[str, Mapping[str, Any]]] = {
    "models": {"type": ModelSpec(), "shell_complete": complete_models},
    "task": {"shell_complete": complete_tasks},
    "corpus": {"shell_complete": complete_corpora},
    "names": {"cls": Listed},
    "transforms": {"cls": Listed, "shell_complete": complete_transforms},
    "address": {"cls": OneAddress},
}
"""Further arguments of `click.option`, by the form of the option's text."""


def run_option(name: str, text: str | None = None, **changes: Any) -> Callable[[F], F]:
    """The option of `codeaudit run` of this name, for any command; otherwise as `declared_option`."""
    return declared_option(TABLE[name], text, **changes)


def declared_option(declared: DeclaredOption, text: str | None = None, **changes: Any) -> Callable[[F], F]:
    """An option of a table. `text` and `changes` are what a command has of its own: the help, and what click
    takes.
    """
    default, shown = declared.entry.on_command or (declared.default, True)
    settings: dict[str, Any] = {"help": text or declared.entry.help, "metavar": declared.entry.metavar}
    if default not in (None, ()):
        settings |= {"default": default, "show_default": shown}
    settings |= {"multiple": declared.kind is tuple, **FORMS.get(declared.entry.form, {})}
    flag = declared.flag
    if declared.kind is bool:
        flag += f"/--no-{flag.removeprefix('--')}"
    elif declared.choices:
        settings["type"] = click.Choice(declared.choices)
    elif declared.kind is int:
        settings["type"] = Whole(min=declared.entry.least)
    elif declared.kind is float:
        settings["type"] = Real(min=0, max=declared.entry.most)
    elif declared.kind is Path:
        settings["type"] = click.Path(path_type=Path)
    return option(*filter(None, [declared.entry.short, flag]), **{**settings, **changes})


def transform_option(text: str, **settings: Any) -> Callable[[F], F]:
    """The option `--transform` of a command, with its help."""
    return run_option("transform", text, **settings)


def format_option(*formats: str, text: str = "Format on stdout.") -> Callable[[F], F]:
    """The option `--format` of a command whose parameter is called `form`."""
    return option("--format", "form", type=click.Choice(formats), default=TABLE["format"].default, help=text)


VERBOSE: Final = option(
    "--verbose",
    "-v",
    is_flag=True,
    help="Print all tables, as `codeaudit report RUN` does. Without it a terminal shows the first one.",
)
"""For commands that end with the tables of a run."""


def path_option(name: str, metavar: str, text: str) -> Callable[[F], F]:
    """An option that takes a file or a folder and has no default."""
    return option(name, type=click.Path(path_type=Path), metavar=metavar, help=text, show_default=False)


def file_option(name: str, text: str, *endings: str, **kind: bool) -> Callable[[F], F]:
    """An option that takes a file for a command to write, as `OutputFile`."""
    file = OutputFile(*endings, **kind)
    return option(name, type=file, metavar="FILE", help=text, show_default=False)


def real_path(path: Path) -> Path:
    """The absolute path without links. A loop of links stays as it is; opening it is the error."""
    # `Path.resolve` raises RuntimeError for such a loop before Python 3.13.
    return Path(os.path.realpath(path))


POSITIVE: Final = Whole(min=1)
PROXY: Final = run_option("proxy")


def limit_options(command: F) -> F:
    """Add the options on what models behind an endpoint may spend to a command."""
    for name in ("max_cost", "max_tokens", "max_requests"):
        command = run_option(name)(command)
    return command


def run_options(command: F) -> F:
    """Add the options of `codeaudit run`, and `--config`, to a command."""
    # Decorators apply from the bottom, and the help lists options from the top.
    for name in reversed(TABLE):
        command = run_option(name)(command)
    config = option(
        "--config",
        type=click.Path(path_type=Path),
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=_configure,
        help="Read options from a TOML file, or from a run's manifest.json to repeat it.",
    )
    return config(command)


def _configure(ctx: click.Context, param: click.Parameter, path: Path | None) -> None:
    if path is not None:
        # A repeatable option takes a list; click would otherwise iterate over the letters of a text.
        multiple = {
            param.name for param in ctx.command.params if isinstance(param, click.Option) and param.multiple
        }
        known = from_file(ctx.command, but=param)
        values = {name: as_option(value, name in multiple) for name, value in _read(path, known).items()}
        set_defaults(ctx, path, values)
        ctx.meta[FROM_FILE] = (values.get("model") or [], values.get("model_argument") or [])


FROM_FILE: Final = "codeaudit.models"
"""Where the context of a command keeps the models of the file, and their arguments."""


def with_models_of_file(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a run, in which the arguments of a file stay with its models.

    Models on the command line take the place of those of the file, and each of these that is named there
    keeps its own arguments. Arguments on the command line win, one by one, over those of a TOML file. They
    replace all of a manifest, because that is data, and nothing in it acts that was not typed.
    """
    ctx = click.get_current_context()
    if FROM_FILE not in ctx.meta:
        return dict(options)
    models, texts = ctx.meta[FROM_FILE]
    typed = given_as("model_argument") is not ParameterSource.DEFAULT_MAP
    own: tuple[str, ...] = tuple(options["model_argument"]) if typed else ()
    if own and is_manifest(Path(ctx.meta[CONFIG])):
        return dict(options)
    named = {(argument.place, argument.key) for argument in read_arguments(own)}
    kept = [
        argument
        for argument in read_arguments(rebound(texts, models, options["model"]))
        if (argument.place, argument.key) not in named and (0, argument.key) not in named
    ]
    return {**options, "model_argument": (*own, *(argument.text for argument in kept))}


TYPED_ONLY: Final = frozenset({"plan", "dry_run", "write_limits"})
"""Options that let a command do something else than its work. In a file or in the environment they would
turn a gate that must fail into one that passes."""


def from_file(command: click.Command, *, but: click.Parameter) -> set[str]:
    """The names of the parameters that a file may set; `but` names the file."""
    return {param.name for param in command.params if param.name and param is not but} - TYPED_ONLY


def set_defaults(ctx: click.Context, path: Path, values: Mapping[str, object]) -> None:
    """Let options have the values of a file, unless the command line or the environment sets them.

    Raises:
        UsageError: a text holds a character that no option can hold.
    """
    for name, value in values.items():
        if any("\0" in str(text) for text in (value if isinstance(value, list) else [value])):
            raise UsageError(f"{name.replace('_', '-')!r} in {str(path)!r} holds a null character")
    ctx.default_map = dict(values)
    # Errors about options name the file.
    ctx.meta[CONFIG] = str(path)


def is_manifest(path: Path) -> bool:
    """Whether options are read from a run's manifest; other files are TOML."""
    return path.suffix == ".json" or path.is_dir()


def demand_retyped(options: Mapping[str, Any]) -> None:
    """Check that nothing from a manifest acts: no code, no program, no address that only the file names.

    Raises:
        UsageError: something would; the message has the words to type.
    """
    ctx = click.get_current_context()
    place = ctx.meta.get(CONFIG)
    if place is None or not is_manifest(Path(place)):
        return
    recorded = {
        name: value for name, value in options.items() if given_as(name) is ParameterSource.DEFAULT_MAP
    }
    # Which address is the default depends on the models, wherever they are from.
    considered = {"model": options.get("model"), **recorded}
    needed = [word for name, word in words(considered) if name in recorded]
    if needed:
        raise UsageError(
            f"{place!r} names code, files or addresses, and a file starts nothing; if you trust it, type "
            f"them again: {' '.join(needed)}"
        )


def _read(path: Path, known: set[str]) -> dict[str, object]:
    """The options in a TOML file or in a manifest, by parameter name.

    Raises:
        UsageError: the file sets an option that does not exist.
        CannotAudit: the file cannot be read.
    """
    if is_manifest(path):
        options = read_manifest(path / MANIFEST if path.is_dir() else path).get("options", {})
        # A manifest of another version may have options that this one has not: they are ignored, in contrast
        # to those of a file that the user wrote.
        return {
            name: value
            for name, value in options.items()
            if name in TABLE and TABLE[name].entry.kept and TABLE[name].entry.repeated
        }
    return read_toml(path, known, "run")


def read_toml(path: Path, known: set[str], command: str) -> dict[str, object]:
    """The options of a command in a TOML file, by parameter name: those in the table of its name.

    The options of `codeaudit run` may also be at the top of the file.

    Raises:
        UsageError: the file is not TOML, or sets an option that does not exist.
        CorpusError: the file cannot be read.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise CorpusError(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{str(path)!r} is not TOML: {error}") from error
    # The options of `run` may stand at the top, because the file is mostly for `run`. Those of `gate` have
    # names that would clash.
    top = {key: value for key, value in document.items() if key not in (*TABLES, MODELS)}
    _check_top(path, document, top, known, command)
    table = document.get(command, top if command == "run" else {})
    if not isinstance(table, dict):
        raise UsageError(f"{command!r} in {str(path)!r} is no table; write [{command}]")
    if command == "run" and MODELS in document:
        table = _with_models(path, table, document[MODELS])
    settings = {key.replace("-", "_"): value for key, value in table.items()}
    for name in settings.keys() - known:
        if name in TYPED_ONLY:
            named = name.replace("_", "-")
            raise UsageError(f"{named!r} in {str(path)!r}: --{named} goes on the command line only")
        near = get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0].replace('_', '-')!r}?" if near else ""
        raise UsageError(f"unknown option {name.replace('_', '-')!r} in {str(path)!r}{hint}")
    for name, value in settings.items():
        if value == "":
            raise UsageError(f"{name.replace('_', '-')!r} in {str(path)!r} is empty; leave it out")
    # The user wrote the file for this program, in contrast to a manifest.
    permit(*settings.values())
    return settings


TABLES: Final = ("run", "gate")
"""The tables of a file of options."""
MODELS: Final = "models"
"""The tables of models beside them, `[[models]]`."""


def _with_models(path: Path, table: Mapping[str, object], models: object) -> dict[str, object]:
    """The options of a run with the models of `[[models]]`, and their arguments bound to them.

    Raises:
        UsageError: a table names no model, the file names models twice, or a value is no argument.
    """
    if not (isinstance(models, list) and models and all(isinstance(model, dict) for model in models)):
        raise UsageError(f"'models' in {str(path)!r} is no table; write [[models]] above each model")
    if "model" in table:
        raise UsageError(f"{str(path)!r} names models in [run] and in [[models]]; write them in [[models]]")
    names, own = [], []
    for number, model in enumerate(models, start=1):
        settings = {key.replace("-", "_"): value for key, value in model.items()}
        name = settings.pop("model", None)
        if not isinstance(name, str) or not name.strip():
            raise UsageError(
                f'[[models]] number {number} in {str(path)!r} has no model; write model = "SPEC"'
            )
        names.append(name)
        own += [f"{number}:{text}" for text in argument_texts(settings, f"[[models]] number {number}", path)]
    named = ("model-argument", "model_argument")
    common = [text for key, value in table.items() if key in named for text in _several(value)]
    rest = {key: value for key, value in table.items() if key not in named}
    return {**rest, "model": names, "model_argument": [*common, *own]}


def argument_texts(table: Mapping[str, object], where: str, path: object = "") -> list[str]:
    """The arguments in a table of a file, as they are typed behind `-M`.

    A table in it, such as `headers`, has an argument for each of its names; `extra_body` is one object.

    Raises:
        UsageError: a value is none of an argument.
    """
    texts = []
    for key, value in table.items():
        if isinstance(value, Mapping) and key.replace("-", "_") != "extra_body":
            texts += argument_texts({f"{key}.{name}": item for name, item in value.items()}, where, path)
        elif isinstance(value, Mapping):
            texts.append(f"{key}={json.dumps(value, default=str)}")
        elif isinstance(value, str | int | float):
            # As a user types it: true, and not True.
            texts.append(f"{key}={value if isinstance(value, str | float) else json.dumps(value)}")
        else:
            place = f" in {str(path)!r}" if path else ""
            raise UsageError(f"{where}{place}: {key} must be a text, a number, or true or false")
    return texts


def _check_top(
    path: Path, document: Mapping[str, object], top: Mapping[str, object], known: set[str], command: str
) -> None:
    """Check that nothing stands at the top of a file where no command would read it.

    Raises:
        UsageError: something does, such as the table `gates`.
    """
    of_run = {*TABLE, "config"} if top else set()
    for key, value in top.items():
        name = key.replace("-", "_")
        if isinstance(value, dict) and name not in of_run:
            near = get_close_matches(key, (*TABLES, MODELS), n=1)
            meant = f"[[{MODELS}]]" if near == [MODELS] else f"[{''.join(near)}]"
            hint = f"; did you mean {meant}?" if near else f"; known: {', '.join(TABLES)} and [[{MODELS}]]"
            raise UsageError(f"unknown table {key!r} in {str(path)!r}{hint}")
        if name not in of_run and name in known and command != "run":
            raise UsageError(f"{key!r} in {str(path)!r} must stand below the line [{command}]")
        if "run" in document:
            raise UsageError(f"{key!r} in {str(path)!r} stands above the table [run]; move it into a table")


def _several(value: object) -> list[str]:
    """The values of a repeatable option."""
    # `[run.model-argument]` as a table is -M key=value for each key.
    if isinstance(value, Mapping):
        return argument_texts(value, "model-argument")
    return [str(part) for part in value] if isinstance(value, list) else [str(value)]


def as_option(value: object, multiple: bool) -> object:
    """A value of a file for click: a list of texts for a repeatable option, else one text."""
    if multiple:
        return _several(value)
    # As a text, because click takes 1.5 for the whole number 1, and true for 1.
    return None if value is None else ",".join(map(str, value)) if isinstance(value, list) else str(value)


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

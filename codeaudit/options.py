"""The table of options of a run: one field for each, with all that is said of it.

`codeaudit run` and `codeaudit compare` take these options, other commands some of them, and `codeaudit.run`
those of `SharedOptions` and some of its own (`codeaudit.running`). A manifest keeps them. A new option is a
new field here. What depends on several options, on the models or on the corpus is checked elsewhere.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Integral, Real
from os import cpu_count
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, Final, Literal

from codeaudit.audit.checks import is_number, is_text, is_whole
from codeaudit.audit.checks import shown as as_json
from codeaudit.audit.corpora.tables import OWN
from codeaudit.audit.engines.shards import WHOLE, Shard, read_shard
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints.urls import has_credentials, redacted_url
from codeaudit.audit.models.provider import OPTIONS, Option, Settings
from codeaudit.bound_arguments import BoundArgument, has_idle_url, read_arguments
from codeaudit.option_table import CommandDefault, DeclaredOption, Fact, declared, in_order, option
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.distribution import requirement
from codeaudit.transforms.errors import RunError, UsageError
from codeaudit.transforms.levels import MacroLevel
from codeaudit.transforms.records import Sites
from codeaudit.transforms.registry import expand, levelled, mixed_name, related

ATTACKS: Final = ("random", "greedy", "beam", "genetic", "exhaustive")
"""Strategies of the search for a violation."""
DEFAULT_MOVABLE: Final = 100
"""Movable samples for each transform in a run of local models whose size nobody chose."""
PRINTED: Final = ("rich", "json", "markdown")
"""The formats of every command that prints records. `run`, `compare` and `report` print reports, which have
more."""
SETTINGS: Final = Settings()


def default_workers() -> int:
    """One process per core, at most 4."""
    return min(4, cpu_count() or 1)


def report_formats() -> tuple[str, ...]:
    """Formats of a report: built-in ones, then formats of the packages that are installed now."""
    from codeaudit.reports.registry import FORMATS

    # `latex` is built in, but the commands that print records have no use for it.
    return (*PRINTED, "latex", *FORMATS.plug_ins())


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedOptions:
    """The options that are the same in Python as on the command line."""

    # fmt: off
    base_url: str | None = option(SETTINGS.base_url, "Models", "URL", form="address", may_hold_secrets=True,
        help="Address of an endpoint, for openai/MODEL and other models behind one, such as "
             "http://127.0.0.1:8000/v1. The key is read from OPENAI_API_KEY.  [default: OPENAI_BASE_URL, "
             "else OpenAI's]")
    proxy: str | None = option(SETTINGS.proxy, "Models", "URL", form="address", may_hold_secrets=True,
        kept=False,  # whoever names it reads what is sent
        help="The proxy to the endpoint: http://HOST:PORT, or https, socks5 or socks5h. It is never kept.  "
             "[default: HTTPS_PROXY, HTTP_PROXY or ALL_PROXY; none for NO_PROXY and for this machine]")
    wrap: str | None = option(None, "Models", choices=("canonical", "columns", "rows"),
        help="canonical: the models see canonical code only. columns: every input is also answered with "
             "permuted hidden columns of the weights, and with weights broken on purpose. rows: the same "
             "with permuted tokens inside the blocks.")
    task: str | None = option(None, "What is asked", "NAME", form="task",
        help="What the models are asked; py/MODULE:OBJECT is a task of your own.  [default: the model's own "
             "task, else function-name]")
    labels: str | None = option(None, "What is asked", "SPEC", draws=True,
        help="Where the labels come from: COLUMN[/DIVISOR] of a table (a number if it has no header), "
             "llvm-mca[:PROCESSOR], or none.  [default: the corpus's own; for throughput else llvm-mca, if "
             "installed]")
    columns: str | None = option(None, "What is asked", "NAME=COLUMN[,…]", draws=True,
        help="Columns of a table that has names of its own, as in source=func,label=target. NAME is one of "
             f"{', '.join(OWN)}. If all rows are of one language: language=java.")
    dependence: Dependence = option("strict", "Edits", draws=True,
        help="Which statements `reorder` may let change places. strict: same result and same exception; "
             "disjoint (C, C++): same behaviour if fields of other names are different memory; "
             "returning: same behaviour whenever the original raises nothing; paper: by names only, as "
             "published, which may change the meaning; confirmed: own tests pass in the new order "
             "(`transform` of a project with --test-command, which asks for the moved lines to run; `run "
             "--execute` of samples with tests); types: TypeScript, where values have the types that its "
             "compiler gives them (in the folder of the project, with node and the package typescript).")
    macros: MacroLevel = option("known", "Edits", draws=True,
        help="What is assumed of macros (C and C++). known: those of a file and of its headers are "
             "looked up, by the compiler of this machine where there is one; those of a function without a "
             "file are assumed to be hygienic. hygienic: all that the file does not define are assumed to "
             "be. unknown: any word that the text does not explain may be a macro.")
    judge: str | None = option(None, "What is asked", "SPEC", retyped=True,
        help="A model that judges if two answers say the same, for --task summarisation. It sees each pair "
             "in both orders, and its own noise is measured. Its -M arguments are those of the model "
             "behind the last --model.")
    sites: Sites = option("auto", "Edits", draws=True, decides=True,
        help="Places that a transform edits. auto: all, then random subsets; all: always all; one: one.")
    variants: int = option(4, "Edits", "K", least=1, draws=True, decides=True,
        help="Variants per sample and transform.")
    repeats: int | None = option(None, "Edits", least=1,
        help="Ask the unchanged input N times again, to measure the model's noise.  [default: as often as a "
             "sample has variants; once of a model of this machine that answers the same]")
    controls: bool = option(True, "Edits", draws=True,
        help="Also measure sensitivity, with transforms that change the meaning: the standard ones, and the "
             "twin of each named transform.")
    execute: bool = option(False, "Edits", draws=True, decides=True,
        help="Check each variant against its original. Python: run both in a sandbox, on the sample's own "
             "tests or on inputs drawn from its text. Java: a second parser and javac; nothing runs. x86: "
             "llvm-mca and this processor, in a sandbox (an emulator elsewhere). JavaScript and TypeScript: "
             "run both in node, in a sandbox, on drawn inputs; node's parsers and the package typescript "
             "read both. C and C++: compare compiled code, and run both under sanitizers, in a sandbox, on "
             "the sample's own tests or on drawn inputs. Tools that are not installed are left out.")
    budget: int = option(32, "Attacks and trials", "Q", least=1,
        help="Largest number of texts that an attack asks per sample.")
    seed: int = option(0, "Attacks and trials", "S", draws=True,
        help="Decides which samples and variants are drawn.")
    trials: int = option(1, "Attacks and trials", least=1, draws=True, help="Repeat with seeds S, S+1, …")
    max_requests: int | None = option(SETTINGS.max_requests, "Limits of cost", least=1,
        help="Models behind an endpoint: send at most N requests, counted over all starts of a run; exit "
             "code 3 at the limit. The same command with a higher limit goes on.")
    max_tokens: int | None = option(SETTINGS.max_tokens, "Limits of cost", least=1,
        help="The same for the tokens of prompts and replies.")
    max_cost: float | None = option(SETTINGS.max_cost, "Limits of cost",
        help="The same for the cost, by -M price_in and -M price_out (per million tokens).")
    raw: bool = option(True, "Output",
        help="Keep what models of texts wrote, in answers.parquet of the run folder.")
    device: str = option(SETTINGS.device, "Where and how fast", "NAME",
        help="Where models run: auto, cpu, cuda, …")
    precision: str | None = option(SETTINGS.precision, "Where and how fast",
        choices=("float32", "float64", "bfloat16", "float16"),
        help="Number format of the model's arithmetic.  [default: the model's own]")
    batch_size: int = option(SETTINGS.batch_size, "Where and how fast", least=1,
        help="Number of queries asked at once.")
    workers: int = option(1, "Where and how fast", least=1,
        on_command=CommandDefault(default_workers, "one per core, at most 4"),
        help="Number of processes that make the variants.")
    engine: Literal["local", "ray"] = option("local", "Where and how fast",
        help="Where the work is done. local: in this process and in --workers processes beside it. ray: on "
             f"all processors or GPUs of a Ray cluster; needs {requirement('ray')}.")
    address: str | None = option(None, "Where and how fast", "HOST:PORT", retyped=True,
        help="The Ray cluster, for --engine ray; auto finds one that runs here.  [default: start Ray here, "
             "with --workers processors]")
    shard: str | None = option(None, "Where and how fast", "I/N", bounds=True,
        help="Carry out part I of N parts (1/N to N/N); N divides 240. `codeaudit merge` joins the folders "
             "of all parts into that of the whole run.")
    # fmt: on


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(SharedOptions):
    """All options of `codeaudit run`. Those in this class are other types or names in `codeaudit.run`."""

    # fmt: off
    model: tuple[str, ...] = option((), "Models", form="models",
        help="A model, as `codeaudit list models` shows them; py/MODULE:OBJECT is a callable or an object "
             "with `predict` of your own; repeatable.  [default: the task's bundled ones]")
    model_argument: tuple[str, ...] = option((), "Models", "KEY=VALUE", short="-M",
        help="An argument of the models that take it; 2:KEY=VALUE is for the second --model only. base_url, "
             "key_env=NAME, headers.NAME and query.NAME say how to reach an endpoint; repeatable.")
    prompt: tuple[str, ...] = option((), "What is asked", "NAME|FILE", after="task",
        help="How models of texts are asked: plain, reworded, native, few-shot, reasoning, yes-no, spe "
             "(`codeaudit list prompts` shows them), or a file with {code} or {source} in it; "
             "repeatable: each model is asked in each way, and the report compares prompts with edits.  "
             "[default: plain]")
    corpus: str | None = option(None, "What is asked", "SPEC", form="corpus", after="task", draws=True,
        help="Where the samples come from.  [default: stdlib; for throughput, interpreter]")
    label_map: str | None = option(None, "What is asked", "WORD=LABEL[,…]", after="labels", draws=True,
        help="What words of models and of the column of labels mean: vulnerable=1,safe=0.")
    limit: int = option(200, "What is asked", least=0, after="columns", draws=True, bounds=True,
        help="Samples; 0 for all.")
    movable: int = option(0, "What is asked", least=0, after="limit", draws=True,
        on_command=CommandDefault(None),
        help="Draw more samples until each transform changes N that every model can read, or the corpus "
             "ends; each is asked only for the transforms that it is drawn for. 0: none.  [default: 100 for "
             "local models, callables and programs without --limit, --suite and --shard, else 0]")
    suite: Path | None = option(None, "What is asked", "FILE", after="movable", bounds=True,
        help="Audit the inputs of an earlier run's suite.parquet.")
    transform: str | None = option(None, "Edits", "NAME[,NAME]", form="transforms", draws=True,
        help="Transforms or families of them; `all` for every one that keeps the meaning and what callers "
             "see; suite/NAME for a published suite. py/MODULE:OBJECT is a transform of your own, "
             "codemod/MODULE:CLASS a LibCST codemod, which needs --execute.  [default: the "
             "standard set for the language]")
    mixed: str | None = option(None, "Edits", "NAME[,NAME]", form="transforms", draws=True,
        help="Transforms or families, or `all`, whose moves are mixed in one variant: one more transform, "
             "mixed/NAME+NAME. Alone it takes the place of the standard set.")
    attack: str | None = option(None, "Attacks and trials", "STRATEGY[,…]", form="names",
        help=f"Also search for a variant that changes the answer: {', '.join(ATTACKS)}.")
    out: Path | None = option(None, "Output", "DIR", after="raw", repeated=False,
        help="Run folder.  [default: codeaudit-runs/<time>-<task>]")
    format: str = option("rich", "Output", after="out", choices=report_formats, help="Format on stdout.")
    sign_key: Path | None = option(None, "Output", "FILE", after="format", retyped=True,
        help="Sign the run with the secret in this file, for `codeaudit gate --sign-key`.")
    cache: Path | None = option(None, "Where and how fast", "DIR", after="shard", retyped=True,
        help="Folder of the answers that runs share.  [default: the user's cache folder]")
    # fmt: on

    @property
    def transforms(self) -> tuple[str, ...] | None:
        """The named transforms and families, and the mixture; `None` for the standard set.

        Raises:
            UsageError: a name is unknown, or the text holds no name.
        """
        names = None if self.transform is None else listed(self.transform)
        if names is not None and not expand(names):
            raise UsageError("--transform names no transform; leave it out for the standard set")
        names = under_relation(with_mixture(names, self.mixed), self.dependence, execute=self.execute)
        return under_level(names, self.macros)

    @property
    def part(self) -> Shard:
        """The part of the run that is carried out.

        Raises:
            UsageError: there is no such part.
        """
        return WHOLE if self.shard is None else read_shard(self.shard)

    @property
    def attacks(self) -> tuple[str, ...]:
        """The strategies of the worst-case search, each once.

        Raises:
            UsageError: a strategy is unknown.
        """
        names = tuple(dict.fromkeys(listed(self.attack or "")))
        for name in names:
            if name not in ATTACKS:
                near = get_close_matches(name, ATTACKS, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(ATTACKS)}"
                raise UsageError(f"unknown attack {name!r}; {hint}")
        return names

    @property
    def arguments(self) -> tuple[BoundArgument, ...]:
        """The `-M` arguments, each with the model that it is for.

        Raises:
            UsageError: an argument has no `=`, or two values.
        """
        return read_arguments(self.model_argument)

    @property
    def model_options(self) -> tuple[Option, ...]:
        """The options for models that differ from their defaults."""
        # An option with its default value decides nothing, whether it was given or not.
        return tuple(name for name in OPTIONS if getattr(self, name) != TABLE[name].default)

    @property
    def not_kept(self) -> tuple[str, ...]:
        """The options that a manifest does not keep as they are: they have to be given anew."""
        url = self.base_url
        hidden = ("base_url",) if url is not None and redacted_url(url) != url else ()
        unkept = (row.name for row in TABLE.values() if not row.entry.kept)
        return (*hidden, *(name for name in unkept if getattr(self, name) is not None))

    def to_json(self, specs: Sequence[str]) -> dict[str, object]:
        """The options for a manifest: `specs` as models, and the endpoint's URL without user and password."""
        values = {name: getattr(self, name) if row.entry.kept else None for name, row in TABLE.items()}
        # Without user and password, because run folders are shared.
        address = None
        if not has_idle_url(self.arguments, self.model):
            address = catalogue.base_url(self.model, self.base_url)
        values["base_url"] = None if address is None else redacted_url(address)
        values["model_argument"] = [argument.kept for argument in self.arguments]
        # There and back through JSON, which turns paths into texts and tuples into lists.
        kept: dict[str, object] = json.loads(json.dumps(values, default=str))
        return {**kept, "model": list(specs)}

    @classmethod
    def of_manifest(cls, options: Mapping[str, Any], place: Path) -> "RunOptions":
        """The options in the manifest at `place`. Those that an earlier version lacks keep their defaults.

        Raises:
            RunError: an option has a value of another type.
        """
        values = {name: options[name] for name, row in TABLE.items() if name in options and row.entry.kept}
        for name, value in values.items():
            if not _fits(value, TABLE[name]):
                raise RunError(
                    f"{str(place)!r}: the option {name!r} is {as_json(value)}; run the audit again"
                )
            if TABLE[name].kind is tuple:
                values[name] = tuple(value)
            elif TABLE[name].kind is Path:
                values[name] = Path(value) if value else None
        return cls(**values)


TABLE: Final = {row.name: row for row in in_order(declared(RunOptions))}
"""The options of a run by name, as the help lists them."""

DEFAULTS: Final = RunOptions()


def marked(fact: Fact) -> tuple[str, ...]:
    """The names of the options of whose entries this is true."""
    return tuple(name for name, row in TABLE.items() if getattr(row.entry, fact))


WITH_SECRETS: Final = frozenset({*marked("may_hold_secrets"), "install"})
"""Options of commands whose addresses may hold a user and a password: nothing keeps or prints these."""


def usual_movable(models: Sequence[str], *, bounded: bool) -> int:
    """The movable samples for each transform in a run that says no number.

    More samples of models on this machine, callables and programs among them, mostly cost time only. Those of
    models behind an endpoint cost money, so there they are a choice.

    Args:
        models: their SPECs; empty for the bundled ones.
        bounded: whether the user chose a limit, a suite or a shard.
    """
    local = all(map(catalogue.runs_here, models))
    return DEFAULT_MOVABLE if local and not bounded else 0


def demand_no_secrets(options: RunOptions) -> None:
    """Check that no option holds an address with a password, except those that are never kept with it.

    Raises:
        UsageError: one does. The message does not contain it.
    """
    for name in TABLE:
        value = getattr(options, name)
        # A path has one slash where the user wrote two.
        text = str(value).replace(":/", "://") if isinstance(value, Path) else str(value)
        several = value if isinstance(value, tuple) else (text,)
        if name in WITH_SECRETS:
            continue
        for argument in filter(has_credentials, several):
            if name == "model_argument":
                raise UsageError(secret_refused(f"-M {argument.partition('=')[0]}"))
            raise UsageError(secret_refused(TABLE[name].flag))


def secret_refused(where: str) -> str:
    """The message about an address with a password that would be kept and printed."""
    return (
        f"{where} holds an address with a user, a password or a key, which would be kept in the run folder; "
        "only --base-url and --proxy may. A program can read it from its environment, and a header or a "
        "query of a model can name a variable: -M headers.NAME='$VARIABLE'"
    )


def _fits(value: object, wanted: DeclaredOption) -> bool:
    """Whether an option's value in a manifest has the type of the option."""
    if value is None:
        return wanted.optional
    if wanted.kind is tuple:
        return isinstance(value, list) and all(map(is_text, value))
    if wanted.kind is bool:
        return isinstance(value, bool)
    if wanted.kind is int:
        return is_whole(value)
    if wanted.kind is float:
        return is_number(value)
    return is_text(value)  # also a path, and one of several words


def listed(names: str | Iterable[str]) -> tuple[str, ...]:
    """The names, from a text with commas between them or one by one; blanks around them are dropped."""
    several = names.split(",") if isinstance(names, str) else names
    return tuple(name.strip() for name in several if name.strip())


def with_mixture(names: tuple[str, ...] | None, mixed: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """These transforms and families, and the transform that mixes others; `None` if there is neither.

    Raises:
        UsageError: a name is unknown, or nothing is to be mixed.
    """
    if mixed is None:
        return names
    parts = listed(mixed)
    if not parts:
        raise UsageError("mixed names no transform; 'all' mixes all that keep the meaning")
    return tuple(dict.fromkeys((*(names or ()), *expand([mixed_name(parts)]))))


def under_relation(
    names: tuple[str, ...] | None, dependence: Dependence, *, execute: bool = False
) -> tuple[str, ...] | None:
    """These transforms and families, by the names that they have under a relation; `None` stays `None`.

    Raises:
        UsageError: a name is unknown, none of the transforms depends on a relation, or nothing is executed
            that could confirm an order.
    """
    if dependence == "confirmed" and not execute:
        raise UsageError("--dependence confirmed needs --execute: tests confirm each order")
    if names is None or dependence == "strict":
        return names
    # Of a family only the members have names under a relation, so it is replaced by them.
    return related(expand(names), dependence)


def under_level(names: tuple[str, ...] | None, macros: MacroLevel) -> tuple[str, ...] | None:
    """These transforms and families, by the names that they have under a level of what is assumed of macros;
    `None` stays `None`.

    Raises:
        UsageError: a name is unknown, or none of the transforms rewrites a language with macros.
    """
    return names if names is None or macros == "known" else levelled(expand(names), macros)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonArguments:
    """Arguments that Python functions have beside the options of a run, or that may be `None` there."""

    source: str
    name: str
    language: str
    variant: int = option(0, "Edits", least=0)
    transforms: str | None = option(None, "Edits", form="transforms")
    prompt: str | None = option(None, "What is asked", form="names")
    limit: int | None = option(None, "What is asked", least=0)
    movable: int | None = option(None, "What is asked", least=0)


RULES: Final[Mapping[str, DeclaredOption]] = {**TABLE, **declared(PythonArguments)}
"""What the values of arguments must be, by the names of the arguments."""
HUGE: Final = 2**53
"""No option that is a whole number is beyond it: up to it, every program that reads JSON is exact."""


def check_values(rules: Mapping[str, DeclaredOption] = RULES, /, **values: object) -> None:
    """Check each value against the rule for the option of its name.

    Raises:
        UsageError: the first value that does not fit, with the values that do.
    """
    for name, value in values.items():
        rule = rules[name]
        if value is None and rule.optional:
            continue
        fits, wanted = _judged(value, rule)
        if not fits:
            raise UsageError(f"{name}={one_line(value)} must be {wanted}")


def one_line(value: object) -> str:
    """A value in one short line."""
    return " ".join(shortened(value).split())


def _judged(value: object, rule: DeclaredOption) -> tuple[bool, str]:
    """Whether the value fits, and in words what does."""
    if rule.several:
        # A text is a collection of texts, too, so one name fits. An iterator does not, because it could be
        # read only once.
        several = isinstance(value, Collection) and all(isinstance(part, str) for part in value)
        return several and not isinstance(value, bytes), "a name or a list of names"
    if rule.choices:
        return value in rule.choices, f"one of {', '.join(rule.choices)}"
    if rule.kind is bool:
        return isinstance(value, bool), "True or False"
    if rule.kind is int:
        least = rule.entry.least
        # `numbers.Integral` admits the whole numbers of numpy. `True` is an int for Python, and surely a
        # mistake here.
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        number = int(value) if whole else 0  # type: ignore[call-overload]
        fits = whole and (-HUGE if least is None else least) <= number <= HUGE
        wanted = "a whole number" if least is None else f"a whole number, at least {least}"
        return fits, f"{wanted}, at most {HUGE:,}" if number > HUGE else wanted
    if rule.kind is float:
        most = rule.entry.most
        number = isinstance(value, Real) and not isinstance(value, bool)
        fits = number and 0 <= float(value) <= (float("inf") if most is None else most)  # type: ignore[arg-type]
        if most is None:
            return fits, "a number, at least 0"
        # `max_violation_rate=5` surely means percent.
        meant = f"; did you mean {value / 100:g}?" if number and 1 < value <= 100 else ""  # type: ignore[operator]
        return fits, f"a number from 0 to {most:g}{meant}"
    return isinstance(value, str), "a text"

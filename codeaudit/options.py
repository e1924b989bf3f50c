"""The options of a run, and the values that options accept.

`codeaudit.run` and `codeaudit run` take the same options, and a manifest keeps them. What depends on several
options, on the models or on the corpus is checked elsewhere.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Integral, Real
from os import cpu_count
from pathlib import Path
from reprlib import repr as shortened
from types import NoneType, UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

from codeaudit.audit.checks import is_number, is_text, is_whole
from codeaudit.audit.checks import shown as as_json
from codeaudit.audit.engines.shards import WHOLE, Shard, read_shard
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints.urls import has_credentials, redacted_url
from codeaudit.audit.models.provider import OPTIONS, Option
from codeaudit.bound_arguments import BoundArgument, has_idle_url, read_arguments
from codeaudit.transforms.dependence.relations import DEPENDENCES, Dependence
from codeaudit.transforms.errors import RunError, UsageError
from codeaudit.transforms.records import Sites
from codeaudit.transforms.registry import expand, mixed_name, related

ATTACKS: Final = ("random", "greedy", "beam", "genetic", "exhaustive")
"""Strategies of the search for a violation."""


WITH_SECRETS: Final = frozenset({"base_url", "proxy", "install"})
"""Options whose addresses may hold a user and a password: nothing keeps or prints these."""
DEFAULT_MOVABLE: Final = 100
"""Movable samples for each transform in a run of local models whose size nobody chose."""


def default_workers() -> int:
    """One process per core, at most 4."""
    return min(4, cpu_count() or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """One field for each option of `codeaudit run`; `codeaudit run --help` describes them."""

    model: tuple[str, ...] = ()
    model_argument: tuple[str, ...] = ()
    base_url: str | None = None
    proxy: str | None = None
    """Never kept: it is a way of this machine, and whoever names it reads what is sent."""
    task: str | None = None
    corpus: str | None = None
    labels: str | None = None
    label_map: str | None = None
    """`WORD=LABEL` with commas between them: what words of models and columns mean."""
    columns: str | None = None
    transform: str | None = None
    """Names with commas between them; `None` for the standard set."""
    mixed: str | None = None
    """Names whose moves are mixed in one variant, with commas between them."""
    sites: Sites = "auto"
    dependence: Dependence = "strict"
    """The relation for transforms that depend on one."""
    variants: int = 4
    repeats: int | None = None
    """How often the unchanged input is asked again; `None`: as `codeaudit.repeating` decides."""
    controls: bool = True
    execute: bool = False
    attack: str | None = None
    """Strategies with commas between them."""
    budget: int = 32
    limit: int = 200
    movable: int = 0
    """Number of movable samples that each transform should have; 0 draws `limit` samples and no more."""
    seed: int = 0
    trials: int = 1
    suite: Path | None = None
    wrap: str | None = None
    out: Path | None = None
    raw: bool = True
    """Whether the run folder keeps the replies of models of texts."""
    format: str = "rich"
    """Of the command line's output; nothing else reads it."""
    device: str = "auto"
    precision: str | None = None
    batch_size: int = 32
    max_requests: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    workers: int = 1
    engine: str = "local"
    address: str | None = None
    """Of a Ray cluster; `None` starts Ray on this machine."""
    cache: Path | None = None
    shard: str | None = None
    """`I/N`: only this part of the run; `None` for all of it."""
    sign_key: Path | None = None
    """Its content is never kept."""

    @property
    def transforms(self) -> tuple[str, ...] | None:
        """The named transforms and families, and the mixture; `None` for the standard set.

        Raises:
            UsageError: a name is unknown, or the text holds no name.
        """
        names = None if self.transform is None else listed(self.transform)
        if names is not None and not expand(names):
            raise UsageError("--transform names no transform; leave it out for the standard set")
        return under_relation(with_mixture(names, self.mixed), self.dependence, execute=self.execute)

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
        default = RunOptions()
        return tuple(name for name in OPTIONS if getattr(self, name) != getattr(default, name))

    @property
    def not_kept(self) -> tuple[str, ...]:
        """The options that a manifest does not keep as they are: they have to be given anew."""
        url = self.base_url
        hidden = ("base_url",) if url is not None and redacted_url(url) != url else ()
        return hidden if self.proxy is None else (*hidden, "proxy")

    def to_json(self, specs: Sequence[str]) -> dict[str, object]:
        """The options for a manifest: `specs` as models, and the endpoint's URL without user and password."""
        values = {name: getattr(self, name) for name in RunOptions.__slots__}
        # Without user and password, because run folders are shared.
        address = None
        if not has_idle_url(self.arguments, self.model):
            address = catalogue.base_url(self.model, self.base_url)
        values["base_url"] = None if address is None else redacted_url(address)
        values["model_argument"] = [one.kept for one in self.arguments]
        values["proxy"] = None
        # There and back through JSON, which turns paths into texts and tuples into lists.
        found: dict[str, object] = json.loads(json.dumps(values, default=str))
        return {**found, "model": list(specs)}

    @classmethod
    def of_manifest(cls, options: Mapping[str, Any], place: Path) -> "RunOptions":
        """The options in the manifest at `place`. Those that an earlier version lacks keep their defaults.

        Raises:
            RunError: an option has a value of another type.
        """
        values = {name: options[name] for name in cls.__slots__ if name in options and name != "proxy"}
        kinds = get_type_hints(cls)
        for name, value in values.items():
            if not _fits(value, kinds[name]):
                raise RunError(
                    f"{str(place)!r}: the option {name!r} is {as_json(value)}; run the audit again"
                )
        for name in ("model", "model_argument"):
            values[name] = tuple(values.get(name, ()))
        for name in ("suite", "out", "cache", "sign_key"):
            values[name] = Path(values[name]) if values.get(name) else None
        return cls(**values)


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
    for name in RunOptions.__slots__:
        value = getattr(options, name)
        # A path has one slash where the user wrote two.
        text = str(value).replace(":/", "://") if isinstance(value, Path) else str(value)
        several = value if isinstance(value, tuple) else (text,)
        if name in WITH_SECRETS:
            continue
        for one in filter(has_credentials, several):
            if name == "model_argument":
                raise UsageError(secret_refused(f"-M {one.partition('=')[0]}"))
            raise UsageError(secret_refused(f"--{name.replace('_', '-')}"))


def secret_refused(where: str) -> str:
    """The message about an address with a password that would be kept and printed."""
    return (
        f"{where} holds an address with a user, a password or a key, which would be kept in the run folder; "
        "only --base-url and --proxy may. A program can read it from its environment, and a header or a "
        "query of a model can name a variable: -M headers.NAME='$VARIABLE'"
    )


def _fits(value: object, kind: object) -> bool:
    """Whether an option's value in a manifest has the type of the option; `kind` is its annotation."""
    if isinstance(kind, UnionType):
        return any(_fits(value, one) for one in get_args(kind))
    if get_origin(kind) is tuple:
        return isinstance(value, list) and all(map(is_text, value))
    if kind is NoneType:
        return value is None
    if kind is bool:
        return isinstance(value, bool)
    if kind is int:
        return is_whole(value)
    if kind is float:
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


# Tables by name in place of a type per option, because both the Python API and click read them.
SMALLEST: Final[Mapping[str, int | None]] = {
    "variants": 1,
    "repeats": 1,
    "variant": 0,
    "budget": 1,
    "limit": 0,
    "movable": 0,
    "seed": None,
    "trials": 1,
    "batch_size": 1,
    "workers": 1,
    "max_requests": 1,
    "max_tokens": 1,
}
"""Options that are whole numbers, with the smallest number; `None` if every number is accepted."""
HUGE: Final = 2**53
"""No option that is a whole number is beyond it: up to it, every program that reads JSON is exact."""
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "sites": get_args(Sites),
    "dependence": DEPENDENCES,
    "wrap": ("canonical", "columns", "rows"),
    "engine": ("local", "ray"),
    "precision": ("float32", "float64", "bfloat16", "float16"),
}
"""Options with fixed values."""
LARGEST: Final[Mapping[str, float | None]] = {
    "max_violation_rate": 1,
    "max_f1_drop": None,
    "max_score_drop": 1,
    "min_sensitivity": 1,
    "margin": 1,
    "alpha": 1,
    "max_unjudged": 1,
    "max_newly_unjudged": 1,
    "min_shared": 1,
    "max_cost": None,
}
"""Limits of a gate or of the cost: numbers from 0, with the largest number; `None` if there is none."""
SWITCHES: Final = frozenset({"allow_insensitive", "must_decide"})
"""Options that are true or false."""
TEXTS: Final = frozenset(
    {
        "source",
        "name",
        "language",
        "task",
        "labels",
        "label_map",
        "columns",
        "base_url",
        "proxy",
        "device",
        "shard",
        "address",
    }
)
NAMES: Final = frozenset({"transforms", "mixed", "attack"})
"""Options that are one text with commas between its names, or several names."""
OPTIONAL: Final = frozenset(
    {
        "address",
        "attack",
        "base_url",
        "columns",
        "labels",
        "label_map",
        "limit",
        "max_cost",
        "max_f1_drop",
        "max_requests",
        "max_score_drop",
        "max_tokens",
        "max_violation_rate",
        "min_sensitivity",
        "mixed",
        "movable",
        "precision",
        "proxy",
        "repeats",
        "shard",
        "task",
        "transforms",
        "wrap",
    }
)
"""Options that may be `None`."""


def check_values(**values: object) -> None:
    """Check each value against the rule for the option of its name.

    Raises:
        UsageError: the first value that does not fit, with the values that do.
    """
    for name, value in values.items():
        if value is None and name in OPTIONAL:
            continue
        fits, wanted = _rule(name, value)
        if not fits:
            raise UsageError(f"{name}={shown(value)} must be {wanted}")


def shown(value: object) -> str:
    """A value in one short line."""
    return " ".join(shortened(value).split())


def _rule(name: str, value: object) -> tuple[bool, str]:
    """Whether the value fits, and in words what does."""
    if name in SMALLEST:
        least = SMALLEST[name]
        # `numbers.Integral` admits the whole numbers of numpy. `True` is an int for Python, and surely a
        # mistake here.
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        number = int(value) if whole else 0  # type: ignore[call-overload]
        fits = whole and (-HUGE if least is None else least) <= number <= HUGE
        wanted = "a whole number" if least is None else f"a whole number, at least {least}"
        return fits, f"{wanted}, at most {HUGE:,}" if number > HUGE else wanted
    if name in SWITCHES:
        return isinstance(value, bool), "True or False"
    if name in CHOICES:
        return value in CHOICES[name], f"one of {', '.join(CHOICES[name])}"
    if name in LARGEST:
        most = LARGEST[name]
        number = isinstance(value, Real) and not isinstance(value, bool)
        fits = number and 0 <= float(value) <= (float("inf") if most is None else most)  # type: ignore[arg-type]
        if most is None:
            return fits, "a number, at least 0"
        # `max_violation_rate=5` surely means percent.
        meant = f"; did you mean {value / 100:g}?" if number and 1 < value <= 100 else ""  # type: ignore[operator]
        return fits, f"a number from 0 to {most:g}{meant}"
    if name in NAMES:
        # A text is a collection of texts, too, so one name fits. An iterator does not, because it could be
        # read only once.
        several = isinstance(value, Collection) and all(isinstance(one, str) for one in value)
        return several and not isinstance(value, bytes), "a name or a list of names"
    if name in TEXTS:
        return isinstance(value, str), "a text"
    # A mistake of ours, not of the user: every option must have a rule.
    raise KeyError(name)

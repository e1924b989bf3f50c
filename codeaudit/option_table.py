"""What is said of an option, once: the entry on its field in a dataclass, beside its name, type and default.

The command line, its help, the checks of the Python API, manifests and the reference read the entries.
`codeaudit.options` has the table of `codeaudit run`. Nothing here knows an option.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from types import NoneType, UnionType
from typing import (
    Any,
    Concatenate,
    Final,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

P = ParamSpec("P")
D = TypeVar("D")

Heading: TypeAlias = Literal[
    "Models",
    "What is asked",
    "Edits",
    "Attacks and trials",
    "Limits of cost",
    "Output",
    "Where and how fast",
    "General",
]
"""What the help groups options under, in this order."""
Form: TypeAlias = Literal["", "models", "task", "corpus", "names", "transforms", "address"]
"""What a text is. `names` and `transforms` are several with commas between."""
Fact: TypeAlias = Literal["draws", "bounds", "decides", "retyped", "may_hold_secrets"]
"""What an entry may say of an option, for those who ask for all options of a kind."""
ENTRY: Final = "entry"
"""The key of an entry in the metadata of a field."""


class CommandDefault(NamedTuple):
    """The default on the command line, if it is not the field's."""

    value: Callable[[], object] | None
    """`None`: the option is `None` if it is not given."""
    shown: str | bool = True
    """What the help says of it."""


@dataclass(frozen=True, slots=True)
class OptionEntry:
    """What is said of an option beside the name, the type and the default of its field.

    Its variable is `CODEAUDIT_<NAME>`, its key in a TOML file the name on the command line.
    """

    heading: Heading
    metavar: str | None = None
    """The word for its value in the help; numbers have one."""
    _: KW_ONLY
    help: str = ""
    """What `--help` and the reference say."""
    after: str = ""
    """The option that it follows in the help. Without one it stands as in the table, inherited ones last."""
    short: str | None = None
    form: Form = ""
    choices: Sequence[str] | Callable[[], Sequence[str]] = ()
    """The values that it may have; a type `Literal` says them itself."""
    least: int | None = None
    """The smallest whole number; `None`: every one is accepted. Numbers with decimals begin at 0."""
    most: float | None = None
    """The largest number with decimals; `None`: there is none."""
    on_command: CommandDefault | None = None
    draws: bool = False
    """Whether it decides which inputs are made, so that it has no effect with `--suite`."""
    bounds: bool = False
    """Whether a run with it draws no movable samples by itself."""
    decides: bool = False
    """Whether it is an entry of the manifest that is equal in all shards, and in a run that resumes."""
    retyped: bool = False
    """Whether it leads to a machine, or to a file whose content is believed or is secret. That of a manifest
    acts only if it is typed again."""
    repeated: bool = True
    """Whether `--config manifest.json` takes it from there."""
    may_hold_secrets: bool = False
    """Whether it is an address that may hold a user and a password: nothing keeps or prints these."""
    kept: bool = True
    """Whether a manifest has its value."""


def _on_fields(entry: Callable[P, OptionEntry]) -> Callable[Concatenate[D, P], D]:
    def declare(default: D, /, *args: P.args, **facts: P.kwargs) -> D:
        return field(default=default, metadata={ENTRY: entry(*args, **facts)})

    return declare


option = _on_fields(OptionEntry)
"""Declares the field of an option: its default, then what `OptionEntry` takes."""


@dataclass(frozen=True, slots=True)
class DeclaredOption:
    """A field of a dataclass of options."""

    name: str
    kind: Any
    """Its type: `str`, `int`, `float`, `bool`, `Path` or a tuple of texts."""
    optional: bool
    """Whether it may be `None`."""
    default: Any
    entry: OptionEntry
    literals: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """The option as a user types it."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that it may have; empty if the type alone says that."""
        choices = self.literals or self.entry.choices
        return tuple(choices() if callable(choices) else choices)

    @property
    def several(self) -> bool:
        """Whether it is several names."""
        return self.entry.form in ("names", "transforms")


def declared(record: type) -> Mapping[str, DeclaredOption]:
    """The fields of a dataclass of options by name, its own before those that it inherits."""
    hints = get_type_hints(record)
    table = {attribute.name: _declared(attribute, hints[attribute.name]) for attribute in fields(record)}
    return {name: table[name] for name in (*(key for key in record.__annotations__ if key in table), *table)}


def _declared(attribute: Any, hint: object) -> DeclaredOption:
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    kind = next(kind for kind in kinds if kind is not NoneType)
    literals = get_args(kind) if get_origin(kind) is Literal else ()
    return DeclaredOption(
        name=attribute.name,
        kind=str if literals else get_origin(kind) or kind,
        optional=NoneType in kinds,
        default=attribute.default,
        # A number that is said nothing else of is a share.
        entry=attribute.metadata.get(ENTRY, OptionEntry("General", most=attribute.metadata.get("most", 1))),
        literals=literals,
    )


def in_order(options: Mapping[str, DeclaredOption]) -> Iterator[DeclaredOption]:
    """The options as the help lists them: by heading, each behind the one that it follows."""
    for heading in get_args(Heading):
        yield from _followed("", [row for row in options.values() if row.entry.heading == heading])


def _followed(name: str, options: Sequence[DeclaredOption]) -> Iterator[DeclaredOption]:
    for row in options:
        if row.entry.after == name:
            yield row
            yield from _followed(row.name, options)

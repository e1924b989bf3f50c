"""The generic registry: names to objects that are imported when first asked for.

Transforms, tasks, languages, networks and formats each have one. The built-in names are a table. Further
names come from plug-ins and, where a registry allows it, from `py/MODULE:OBJECT`. An installed distribution
declares its plug-ins as entry points in its `pyproject.toml`:

    [project.entry-points."codeaudit.transforms"]
    rename-loudly = "my_package.loud:RENAME_LOUDLY"

A registry reads its group of entry points when a name is not built in, and when it lists its names. Nothing
is read at import time, and no plug-in is imported before it is used or listed.
"""

import importlib
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, nullcontext, redirect_stdout
from copy import copy
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import takewhile
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from codeaudit.transforms.errors import CannotAudit, CodeauditError, UsageError, raised_at
from codeaudit.transforms.grammar import with_article
from codeaudit.transforms.permission import demand

_WORDS: Final[Mapping[Any, str]] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    NoneType: "None",
    frozenset: "a set",
    tuple: "a tuple",
    Mapping: "a mapping",
    Sequence: "a sequence",
    Callable: "a function",
}
"""The types that are looked at, in words."""
_HOLDERS: Final[Mapping[Any, type]] = {frozenset: Set, tuple: tuple, Mapping: Mapping, Sequence: Sequence}
"""The containers, and what serves as one: a `set` does for a `frozenset`."""


def wrong_member(value: object, declared: type) -> str:
    """Which attribute of an object is not of the type that its record or protocol declares, in words.

    Empty if all are. Types that this module does not know, such as protocols, fit everything.
    """
    for name, hint in _declared(declared).items():
        member = getattr(value, name)
        if not fits(member, hint):
            return f"its {name} is {_excerpt(member)}; it must be {_type_words(hint)}"
    return ""


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type, the elements of containers included."""
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, argument) for argument in arguments)
    if origin is Literal:
        return value in arguments
    if origin is Callable:
        return callable(value)
    if origin is float:
        return isinstance(value, float | int)
    if origin not in _HOLDERS:
        if origin is Any or getattr(origin, "_is_protocol", False):
            return True
        return not isinstance(origin, type) or isinstance(value, origin)
    # A text is a sequence of texts, and never meant to be one.
    if isinstance(value, str) or not isinstance(value, _HOLDERS[origin]):
        return False
    if not arguments:
        return True
    parts: Any = value
    if isinstance(value, Mapping):
        return all(fits(key, arguments[0]) and fits(entry, arguments[1]) for key, entry in value.items())
    if origin is tuple and arguments[-1] is not ...:
        return len(parts) == len(arguments) and all(map(fits, parts, arguments))
    return all(fits(part, arguments[0]) for part in parts)


@cache
def _declared(kind: Any) -> dict[str, Any]:
    """The attributes of a record, or the properties of a protocol, with their types."""
    try:
        if getattr(kind, "__dataclass_fields__", None):
            hints = get_type_hints(kind)
            return {name: hints[name] for name in kind.__dataclass_fields__}
        readers = {name: member.fget for name, member in vars(kind).items() if isinstance(member, property)}
        return {name: get_type_hints(read)["return"] for name, read in readers.items() if read is not None}
    except (NameError, KeyError, TypeError):  # a name that exists for type checkers only
        return {}


def _type_words(hint: Any) -> str:
    """A type in words: `a mapping from text to whole number`."""
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(map(_type_words, arguments))
    if origin is Literal:
        return f"one of {', '.join(map(str, arguments))}"
    word = _WORDS.get(origin) or with_article(str(getattr(origin, "__name__", origin)))
    if origin is Callable:
        return word
    parts = [_plain(argument) for argument in arguments if argument is not ...]
    if not parts:
        return word
    return f"{word} from {' to '.join(parts)}" if origin is Mapping else f"{word} of {', '.join(parts)}"


def _plain(hint: Any) -> str:
    """A type in words without its article."""
    return _type_words(hint).removeprefix("a ").removeprefix("an ")


def _excerpt(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:60]}…"


def load_target(target: str) -> Any:
    """The object behind `package.module:attribute`, for targets of our own; errors pass unchanged."""
    module, _, attribute = target.partition(":")
    # Asked for each sample of a corpus, and `import_module` takes longer than a look at what is there.
    return getattr(sys.modules.get(module) or importlib.import_module(module), attribute)


def load_foreign(target: str, *, folder: Path | None = None) -> Any:
    """The object behind `package.module:attribute`, for somebody else's code.

    What the import prints goes to stderr.

    Args:
        target: may name an inner attribute (`module:Class.member`) or, without a colon, the module itself.
        folder: first on the import path during the import, and only then.

    Raises:
        CannotAudit: the module cannot be imported or lacks the attribute.
    """
    module, _, attribute = target.partition(":")
    try:
        # stdout is for results: a machine that reads them must not meet what an import prints.
        with redirect_stdout(sys.stderr), importable(folder) if folder else nullcontext():
            loaded: object = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # importing runs foreign code, which may raise anything
        message = f"{one_line(error)}{raised_at(error)}{_module_hint(module)}"
        raise CannotAudit(f"cannot import {module!r}: {message}") from error
    for part in attribute.split(".") if attribute else ():
        if not hasattr(loaded, part):
            raise CannotAudit(f"module {module!r} has no {attribute!r}")
        loaded = getattr(loaded, part)
    return loaded


def one_line(error: BaseException) -> str:
    """The type and the text of somebody else's exception in one line, because a message here is one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def _module_hint(module: str) -> str:
    """How to write a module that is written as the path of a file."""
    if not module.endswith(".py") and os.sep not in module:
        return ""
    dotted = ".".join(Path(module.removesuffix(".py")).parts).strip("./")
    return f"; write the module {dotted!r}, without an ending and with dots between folders"


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """Put a folder first on the import path for as long as the context lasts.

    Worker processes inherit the path. If the folder stayed, a module of the user's project could replace one
    of our dependencies in them, and in every later import of ours.
    """
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:  # foreign code may have removed it
            sys.path.remove(str(folder))


_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """A registered name."""

    target: str
    """`package.module:attribute`, imported when first asked for."""
    summary: str
    """One line for `codeaudit list`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlugIn:
    """A name in a group of entry points."""

    group: str
    """Such as `codeaudit.transforms`."""
    name: str
    targets: tuple[tuple[str, str], ...]
    """The distribution and the target of each that claims the name. More than one is an error on use."""

    @property
    def distributions(self) -> str:
        """The distributions that claim the name, for messages."""
        return " and ".join(repr(distribution) for distribution, _ in self.targets)

    def load(self) -> Any:
        """The object.

        Raises:
            UsageError: two distributions claim the name.
            CannotAudit: the plug-in cannot be imported. The message names it, its distribution and the cause.
        """
        if len(self.targets) > 1:
            raise UsageError(
                f"plug-in {self.name!r} ({self.group}) is in {self.distributions}; uninstall all but one"
            )
        try:
            return load_foreign(self.targets[0][1])
        except CannotAudit as error:
            raise self.broken(str(error)) from error

    def broken(self, cause: str) -> CannotAudit:
        """The error for a plug-in that cannot be used."""
        return CannotAudit(f"plug-in {self.name!r} ({self.group}) of {self.distributions} is broken: {cause}")


def plug_ins(group: str, built_in: frozenset[str]) -> Mapping[str, PlugIn]:
    """The plug-ins of a group by name, without those whose name is built in.

    A built-in wins; one log line per process names each plug-in that has no effect for this reason.
    """
    return _read(group, built_in, tuple(sys.path)) if group else {}


@cache
def _read(group: str, built_in: frozenset[str], path: tuple[str, ...]) -> Mapping[str, PlugIn]:
    """`path` is part of the cache's key because a changed `sys.path` shows other distributions."""
    from importlib.metadata import entry_points  # costs 20 ms, and most commands need no plug-in

    by_name: dict[str, set[tuple[str, str]]] = {}
    for point in entry_points(group=group):
        distribution = point.dist.name if point.dist is not None else "?"
        by_name.setdefault(point.name, set()).add((distribution, f"{point.module}:{point.attr}"))
    known = {
        name: PlugIn(group=group, name=name, targets=tuple(sorted(targets)))
        for name, targets in sorted(by_name.items())
    }
    for name in known.keys() & built_in:
        _log.warning(
            "codeaudit: plug-in %r (%s) of %s has no effect: the built-in one of this name is used",
            name,
            group,
            known[name].distributions,
        )
    return {name: plug_in for name, plug_in in known.items() if name not in built_in}


T = TypeVar("T")
R = TypeVar("R")

OnBroken = Callable[[CodeauditError], object]
"""Receives the error of each plug-in that cannot be used."""

PROJECT: Final = "py/"
"""`py/MODULE:OBJECT` is an object of the user's project; the working directory is searched first. It is
loaded only if the user named it, never because a file does."""


class Registry(Generic[T]):
    """Names of one kind of thing: built-in, from plug-ins, and perhaps from the user's project."""

    def __init__(
        self,
        noun: str,
        *tables: Mapping[str, Entry],
        group: str = "",
        expects: type | None = None,
        base: type | None = None,
        project: bool = False,
        forms: Mapping[str, str] | None = None,
        late: Callable[[], Mapping[str, Entry]] = dict,
    ) -> None:
        """Join the tables of built-in names.

        Args:
            noun: what a name stands for, for messages: `transform`.
            tables: the built-in names.
            group: the group of entry points that adds names; without one there are no plug-ins.
            expects: the protocol or the record that a plug-in's object must fit.
            base: the class whose defaults a plug-in's object gets for what it lacks.
            project: whether `py/MODULE:OBJECT` is a name, too.
            forms: by `FORM`, the target of a function from a whole name `FORM/ARGUMENT` to its object.
            late: a further table, made when a name is not built in.

        Raises:
            ValueError: two tables hold the same name.
        """
        self.noun = noun
        self.group = group
        self._expects = expects
        self._base = base
        self._project = project
        self._forms = dict(forms or {})
        self._late = late
        self._entries: dict[str, Entry] = {}
        for table in tables:
            if twice := self._entries.keys() & table.keys():
                raise ValueError(f"registered twice as a {noun}: {', '.join(sorted(twice))}")
            self._entries.update(table)

    def __iter__(self) -> Iterator[str]:
        """The names: first the built-in ones in the order of the tables, then those of plug-ins."""
        yield from {**self._entries, **self._late(), **self.plug_ins()}

    def __contains__(self, name: object) -> bool:
        # The cheap questions first: the last two may load plug-ins.
        return (
            name in self._entries
            or self._in_project(name)
            or self._form(name) is not None
            or name in self._late()
            or name in self.plug_ins()
        )

    @property
    def built_in(self) -> Mapping[str, Entry]:
        """The built-in names, without a look at plug-ins."""
        return self._entries

    def plug_ins(self) -> Mapping[str, PlugIn]:
        """The plug-ins by name; a built-in name is never one of them."""
        return plug_ins(self.group, frozenset(self._entries))

    def working(self, on_broken: OnBroken = repr) -> Iterator[tuple[str, T]]:
        """The names with their objects, without unusable plug-ins; `on_broken` gets the errors of these."""
        yield from _usable(self, self.get, on_broken)

    def summaries(self, on_broken: OnBroken = repr) -> Iterator[tuple[str, str]]:
        """The names with their summaries; plug-ins that cannot be used as in `working`."""
        yield from _usable(self, self.summary, on_broken)

    def summary(self, name: str) -> str:
        """The line that describes a name: its row in the table, else the object's `summary`, else the first
        line of its docstring.

        Raises:
            UsageError: no such name.
            CannotAudit: the name is a broken plug-in's.
        """
        entry = self.entry(name)
        if entry is not None and entry.summary:
            return entry.summary
        value = self.get(name)
        return getattr(value, "summary", "") or first_line(value)

    def entry(self, name: str) -> Entry | None:
        """The row of a name in a table; `None` for other names."""
        return self._entries.get(name) or self._late().get(name)

    def get(self, name: str) -> T:
        """The object behind a name. Of a plug-in or `py/MODULE:OBJECT` its `name` is the name asked for,
        because records keep names only and other processes look them up again.

        Raises:
            UsageError: no such name; the message holds the nearest one. Or two plug-ins claim it. Or the name
                is `py/MODULE:OBJECT`, and only a file names it (`codeaudit.transforms.permission`).
            CannotAudit: the name is a broken plug-in's, or `py/MODULE:OBJECT` cannot be loaded.
        """
        value: T
        # A built-in name comes first, so installing a package never changes what a command means.
        if (entry := self.entry(name)) is not None:
            value = self._adapted(load_target(entry.target))
        elif self._in_project(name):
            value = self._from_project(name)
        elif (form := self._form(name)) is not None:
            value = load_target(form)(name)
        elif (plug_in := self.plug_ins().get(name)) is not None:
            value = self._from_plug_in(plug_in)
        else:
            raise UsageError(unknown(self.noun, name, self))
        return value

    def _form(self, name: object) -> str | None:
        head, slash, _ = str(name).partition("/")
        return self._forms.get(head) if slash else None

    def _in_project(self, name: object) -> bool:
        return self._project and isinstance(name, str) and name.startswith(PROJECT)

    def _from_plug_in(self, plug_in: PlugIn) -> Any:
        value = plug_in.load()
        try:
            return self._fitting(value, plug_in.name)
        except CannotAudit as error:  # the message must name the distribution that has to be mended
            raise plug_in.broken(str(error)) from error

    def _fitting(self, value: Any, name: str) -> Any:
        return self._adapted(fitting(value, self._expects, noun=self.noun, name=name))

    def _adapted(self, value: Any) -> Any:
        return value if self._base is None else adapted(value, self._base)

    def _from_project(self, name: str) -> Any:
        target = name.removeprefix(PROJECT)
        module, _, attribute = target.partition(":")
        if not (module and attribute):
            raise UsageError(f"{self.noun} {name!r} must be {PROJECT}MODULE:OBJECT")
        demand(name, noun=self.noun)
        try:
            value = load_foreign(target, folder=Path.cwd())
            return self._fitting(value, name)
        except CannotAudit as error:
            raise type(error)(f"{self.noun} {name!r}: {error}") from error


def _usable(
    names: Iterable[str], look_up: Callable[[str], R], on_broken: OnBroken
) -> Iterator[tuple[str, R]]:
    for name in names:
        try:
            value = look_up(name)
        except CodeauditError as error:
            on_broken(error)
        else:
            yield name, value


def fitting(value: Any, expects: type | None, *, noun: str, name: str) -> Any:
    """A loaded object that fits and has this name; a class is called without arguments first.

    Raises:
        CannotAudit: it is no instance of the record, lacks members of the protocol, has one of another type,
            or cannot be given the name.
    """
    if expects is None:
        return value
    if isinstance(value, type):
        try:
            value = value()
        except Exception as error:  # foreign code may raise anything
            raise CannotAudit(f"{value.__name__}() raised {one_line(error)}") from error
    if wrong := misfit(value, expects, noun=noun):
        raise CannotAudit(wrong)
    named = "name" in _members(expects) or getattr(expects, "__dataclass_fields__", {}).keys() >= {"name"}
    return _with_name(value, name) if named else value


def misfit(value: object, expects: type, *, noun: str) -> str:
    """Why somebody else's object is no instance of a record or a protocol; empty if it is."""
    # `isinstance` on a protocol does not say which member is missing.
    if not getattr(expects, "_is_protocol", False):
        if not isinstance(value, expects):
            expected = with_article(expects.__name__)
            return f"{with_article(type(value).__name__)} is no {noun}: expected {expected}"
    elif lacking := [member for member in _members(expects) if not hasattr(value, member)]:
        return f"{with_article(type(value).__name__)} is no {noun}: it lacks {', '.join(lacking)}"
    return wrong_member(value, expects)


def _with_name(value: Any, name: str) -> Any:
    if value.name == name:
        return value
    try:
        renamed = copy(value)  # the same object may be registered under two names
        object.__setattr__(renamed, "name", name)
    except (AttributeError, TypeError) as error:
        raise CannotAudit(f"its name is {value.name!r}; it must be {name!r}") from error
    return renamed


def _members(protocol: type) -> list[str]:
    """What a protocol asks for: its abstract members, or all if none is marked as abstract. `__call__` is the
    only special method that protocols here have."""
    marked = getattr(protocol, "__abstractmethods__", None)
    return [
        name
        for base in protocol.__mro__
        if getattr(base, "_is_protocol", False)
        for name in (*vars(base).get("__annotations__", {}), *vars(base))
        if (name in marked if marked else name == "__call__" or not name.startswith("_"))
    ]


def first_line(value: object) -> str:
    """The first line of an object's docstring, for lists; empty where it has none."""
    return (value.__doc__ or "").strip().partition("\n")[0]


def unknown(noun: str, name: str, known: Iterable[str]) -> str:
    """The message for a name that does not exist, with the nearest one, all of them, or how to list them."""
    listing = f"codeaudit list {noun}s" if noun in LISTED else ""
    return f"unknown {noun} {name!r}; {nearest_or_all(name, known, listing)}"


LISTED: Final = ("task", "transform", "suite", "language", "format")
"""What `codeaudit list` lists."""
FEW: Final = 12
"""Names that a message shows; of more that a command lists it shows the three that are alike."""


def nearest_or_all(name: str, known: Iterable[str], listing: str = "") -> str:
    """What may have been meant by a name that does not exist; `listing` is the command that lists them."""
    names = list(known)
    if near := nearest(name, names):
        return f"did you mean {near!r}?"
    if listing and len(names) > FEW:
        alike = get_close_matches(name, names, n=3, cutoff=0)
        return f"the nearest: {', '.join(alike)}; {listing} shows all {len(names)}"
    # Without a near name the whole list helps more than a wrong guess.
    return f"known: {', '.join(sorted(names))}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a user may have meant: one that begins with it, or is spelt or worded nearly so."""
    names = list(known)
    # The beginning of a name (`spe` for `spe-checkpoint`) is far from it by letters.
    begun = [
        other for other in names if len(name) > 1 and (other.startswith(name) or name.startswith(f"{other}-"))
    ]
    if begun:
        return min(begun, key=lambda other: abs(len(other) - len(name)))
    # `renaming` for `rename`: far from it by letters, too, because the words are short.
    if rooted := [other for other in names if _share_root(name, other)]:
        return min(rooted, key=lambda other: abs(len(other) - len(name)))
    # One typo is nearer than 0.65. Words that are alike by chance, as `help` and `seal`, are not.
    for near in get_close_matches(name, names, n=3, cutoff=0.65):
        if _same_words(name, near):
            return near
    if "-" in name:
        return None
    # `naming` for `function-name`: one word of the name is near.
    words = {word: other for other in reversed(names) for word in other.split("-")}
    worded = get_close_matches(name, words, n=1, cutoff=0.75)
    worded += [word for word in words if _begin_alike(name, word)]
    return words[worded[0]] if worded else None


def _share_root(name: str, other: str) -> bool:
    root = _root(name, other)
    return root >= 4 and root >= 0.6 * max(len(name), len(other))


def _root(name: str, other: str) -> int:
    """Number of letters with which two names begin alike."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(name, other, strict=False))
    return sum(1 for _ in alike)


def _begin_alike(name: str, word: str) -> bool:
    root = _root(name, word)
    return root >= 3 and root >= 0.7 * min(len(name), len(word))


def _same_words(name: str, other: str) -> bool:
    """Whether each word of a name is near one of another: `clone-detection` is no `error-detection`."""
    mine, theirs = name.split("-"), other.split("-")
    alike = (get_close_matches(word, theirs, n=1, cutoff=0.6) for word in mine)
    return min(len(mine), len(theirs)) < 2 or all(alike)


def overrides(value: object, default: Callable[..., Any]) -> bool:
    """Whether an object's class replaces a default method, as in `overrides(task, Task.graded)`."""
    return getattr(type(value), default.__name__) is not default


def adapted(value: Any, base: Any) -> Any:
    """An object of a plug-in as one of a base class, with the base class's defaults for what it lacks.

    A default stands for “cannot”. An object of the base class is returned as it is.
    """
    if base in type(value).__mro__:
        return value
    names = frozenset(name for name in dir(base) if _has(value, base, name))
    return _adapter(base, names, type(value).__doc__)(value)


def _has(value: object, base: type, name: str) -> bool:
    """Whether an object has a member of the base class; a method only if it can be called."""
    if name.startswith("_") or not hasattr(value, name):
        return False
    return callable(getattr(value, name)) or not callable(getattr(base, name))


@cache
def _adapter(base: Any, names: frozenset[str], doc: str | None) -> Any:
    """A subclass of the base class whose instances ask the object inside for these members."""

    def asking(name: str) -> property:
        return property(lambda self: getattr(self.adapted, name))

    members: dict[str, Any] = {name: asking(name) for name in names}
    # What the base class does not know, such as the network of a model, is the object's, too.
    members["__getattr__"] = lambda self, name: getattr(object.__getattribute__(self, "adapted"), name)
    members["__reduce__"] = lambda self: (adapted, (self.adapted, base))
    members["__eq__"] = lambda self, other: type(self) is type(other) and self.adapted == other.adapted
    members["__hash__"] = lambda self: hash(self.adapted)
    adapter = type(f"Adapted{base.__name__}", (base,), {"__doc__": doc, **members})

    def initialise(self: Any, value: object) -> None:
        object.__setattr__(self, "adapted", value)

    adapter.__init__ = initialise  # type: ignore[misc]
    adapter.__abstractmethods__ = frozenset()  # type: ignore[attr-defined]
    return adapter

"""The options of a run, as `codeaudit.run` and `codeaudit run` take them and a manifest keeps them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from os import cpu_count
from pathlib import Path
from typing import Any, Final

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.endpoints.address import redacted
from codeaudit.audit.models.provider import OPTIONS, Option
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.records import Sites
from codeaudit.transforms.registry import expand

ATTACKS: Final = ("random", "greedy", "beam", "genetic", "exhaustive")
"""Strategies of the search for a violation."""


def default_workers() -> int:
    """One process per core, at most 4."""
    return min(4, cpu_count() or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """One field for each option of `codeaudit run`; `codeaudit run --help` describes them."""

    model: tuple[str, ...] = ()
    model_argument: tuple[str, ...] = ()
    base_url: str | None = None
    task: str | None = None
    corpus: str | None = None
    labels: str | None = None
    transform: str | None = None
    """Names with commas between them; `None` for the standard set."""
    sites: Sites = "auto"
    variants: int = 4
    controls: bool = True
    execute: bool = False
    attack: str | None = None
    """Strategies with commas between them."""
    budget: int = 32
    limit: int = 200
    seed: int = 0
    trials: int = 1
    suite: Path | None = None
    wrap: str | None = None
    out: Path | None = None
    format: str = "rich"
    """Of the command line's output; nothing else reads it."""
    device: str = "auto"
    precision: str | None = None
    batch_size: int = 32
    workers: int = 1
    engine: str = "local"
    cache: Path | None = None

    @property
    def transforms(self) -> tuple[str, ...] | None:
        """The named transforms and families; `None` for the standard set.

        Raises:
            UsageError: a name is unknown, or the text holds no name.
        """
        if self.transform is None:
            return None
        names = listed(self.transform)
        if not expand(names):
            raise UsageError("--transform names no transform; leave it out for the standard set")
        return names

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
    def arguments(self) -> dict[str, str]:
        """The `-M` arguments, text by key.

        Raises:
            UsageError: an argument has no `=`.
        """
        pairs = [text.partition("=") for text in self.model_argument]
        for key, equals, _ in pairs:
            if not (key and equals):
                raise UsageError(f"model argument {key!r} must be -M key=value")
        return {key: value for key, _, value in pairs}

    @property
    def model_options(self) -> tuple[Option, ...]:
        """The options for models that differ from their defaults."""
        default = RunOptions()
        return tuple(name for name in OPTIONS if getattr(self, name) != getattr(default, name))

    def to_json(self, specs: Sequence[str]) -> dict[str, object]:
        """The options for a manifest: `specs` as models, and the endpoint's URL without user and password."""
        values = {name: getattr(self, name) for name in RunOptions.__slots__}
        address = catalogue.base_url(self.model, self.base_url)
        values["base_url"] = None if address is None else redacted(address)
        found: dict[str, object] = json.loads(json.dumps(values, default=str))
        return {**found, "model": list(specs)}

    @classmethod
    def of_manifest(cls, options: Mapping[str, Any]) -> "RunOptions":
        """The options in a manifest; those that an earlier version did not have keep their defaults."""
        values = {name: options[name] for name in cls.__slots__ if name in options}
        for name in ("model", "model_argument"):
            values[name] = tuple(values.get(name, ()))
        for name in ("suite", "out", "cache"):
            values[name] = Path(values[name]) if values.get(name) else None
        return cls(**values)


def listed(text: str) -> tuple[str, ...]:
    """The names in a text with commas between them."""
    return tuple(name.strip() for name in text.split(",") if name.strip())

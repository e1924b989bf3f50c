"""Plug-ins: names that installed distributions add to our registries through entry points.

A distribution declares them in its `pyproject.toml`:

    [project.entry-points."codeaudit.transforms"]
    rename-loudly = "my_package.loud:RENAME_LOUDLY"

`Registry` reads a group when a name is not built in, and when it lists its names. Nothing is read at import
time, and no plug-in is imported before it is used or listed.
"""

import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from codeaudit.transforms.errors import CannotAudit, UsageError
from codeaudit.transforms.loading import load_foreign

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlugIn:
    """A name in a group of entry points."""

    group: str
    """As `codeaudit.transforms`."""
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

    A built-in wins; one log line per process tells of each plug-in that has no effect for this reason.
    """
    return _read(group, built_in, tuple(sys.path)) if group else {}


@cache
def _read(group: str, built_in: frozenset[str], path: tuple[str, ...]) -> Mapping[str, PlugIn]:
    """`path` is part of the cache's key because a changed `sys.path` shows other distributions."""
    from importlib.metadata import entry_points  # costs 20 ms, and most commands need no plug-in

    found: dict[str, set[tuple[str, str]]] = {}
    for point in entry_points(group=group):
        distribution = point.dist.name if point.dist is not None else "?"
        found.setdefault(point.name, set()).add((distribution, f"{point.module}:{point.attr}"))
    known = {
        name: PlugIn(group=group, name=name, targets=tuple(sorted(targets)))
        for name, targets in sorted(found.items())
    }
    for name in known.keys() & built_in:
        _log.warning(
            "codeaudit: plug-in %r (%s) of %s has no effect: the built-in one of this name is used",
            name,
            group,
            known[name].distributions,
        )
    return {name: plug_in for name, plug_in in known.items() if name not in built_in}

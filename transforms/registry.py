"""Names to lazy targets. Looking a name up imports one module; listing imports none."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Generic, TypeVar

from transforms.errors import UsageError
from transforms.interface import Transform

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """A registered name."""

    target: str
    """`package.module:attribute`, imported when first asked for."""
    summary: str
    """One line for `codeaudit list`."""


class Registry(Generic[T]):
    """A fixed table of names. Immutable: what exists is seen in one place."""

    def __init__(self, noun: str, entries: Mapping[str, Entry]) -> None:
        self._noun = noun
        self._entries = dict(entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def summary(self, name: str) -> str:
        """The line that describes a name."""
        return self._entry(name).summary

    def get(self, name: str) -> T:
        """The object behind a name.

        Raises:
            UsageError: no such name; the message holds the nearest one.
        """
        module, _, attribute = self._entry(name).target.partition(":")
        value: T = getattr(import_module(module), attribute)
        return value

    def _entry(self, name: str) -> Entry:
        if name not in self._entries:
            raise UsageError(unknown(self._noun, name, self._entries))
        return self._entries[name]


def unknown(noun: str, name: str, known: Mapping[str, object] | list[str]) -> str:
    """The message for a name that does not exist, with the nearest one or all of them."""
    near = get_close_matches(name, list(known), n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"
    return f"unknown {noun} {name!r}; {hint}"


TRANSFORMS: Registry[Transform] = Registry(
    "transform",
    {
        "identity": Entry("transforms.identity:IDENTITY", "the unchanged input again: the model's own noise"),
        "reorder": Entry(
            "transforms.python.order.reorder:REORDER",
            "statements in another legal order (a linear extension of their dependences)",
        ),
        "rename": Entry("transforms.python.identifiers.rename:RENAME", "local variables get other names"),
        "rename-parameters": Entry(
            "transforms.python.identifiers.rename:RENAME_PARAMETERS",
            "locals and parameters get other names (keeps the meaning for positional callers)",
        ),
        "reorder-breaking": Entry(
            "transforms.python.order.breaking:REORDER_BREAKING", "control: one true dependence is reversed"
        ),
        "rename-merging": Entry(
            "transforms.python.identifiers.merging:RENAME_MERGING", "control: two variables become one"
        ),
    },
)

STANDARD: Mapping[str, tuple[str, ...]] = {"python": ("reorder", "rename", "rename-parameters")}
"""The meaning-keeping transforms of a default run, by language."""

CONTROLS: Mapping[str, tuple[str, ...]] = {"python": ("reorder-breaking", "rename-merging")}
"""The controls of a default run, by language."""

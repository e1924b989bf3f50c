"""What is said of a registered thing before it is imported.

A family of transforms says it in the `__init__` of its package, beside the modules that define them:

    FAMILY: Final = TransformFamily.of(
        __name__,
        "strings",
        "Texts put together in other ways: f-strings, `format`, `%`, sums.",
        keeps("fields:F_STRING_TO_FORMAT", "f-strings become calls of format", _TITLE, "fields-swapped"),
        changes("fields:FIELDS_SWAPPED", "two fields of a text are swapped", _REPORT),
    )
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from codeaudit.transforms.records import Kind


@dataclass(frozen=True, slots=True)
class Entry:
    """A registered name."""

    target: str
    """`package.module:attribute`, imported when first asked for."""
    summary: str
    """One line for `codeaudit list`."""


@dataclass(frozen=True, slots=True)
class TransformEntry(Entry):
    """A registered transform."""

    family: str = ""
    """The name that stands for it and related transforms on the command line."""
    kind: Kind = "preserving"
    example: str = ""
    """A small program that it rewrites; `codeaudit list transforms --verbose` shows it before and after."""
    twin: str | None = None
    """The control that makes nearly the same edit and changes the meaning."""
    interface: bool = False
    """Whether callers can see the change: parameters, docstrings, annotations of a function."""


@dataclass(frozen=True, slots=True)
class TransformFamily:
    """Transforms of one language that one name stands for on the command line."""

    name: str
    summary: str
    """One line for `codeaudit list`."""
    transforms: Mapping[str, TransformEntry]

    @classmethod
    def of(cls, package: str, name: str, summary: str, *rows: TransformEntry) -> Self:
        """A family from its rows, which `keeps` and `changes` make.

        Args:
            package: the package that the rows' targets are relative to; empty if they are absolute.
            name: the family's name.
            summary: one line for `codeaudit list`.
            rows: a transform is named after its attribute: `REORDER_IMPORTS` is `reorder-imports`.

        Raises:
            ValueError: two rows have the same name.
        """
        prefix = f"{package}." if package else ""
        transforms: dict[str, TransformEntry] = {}
        for row in rows:
            own = row.target.partition(":")[2].lower().replace("_", "-")
            if own in transforms:
                raise ValueError(f"registered twice in family {name!r}: {own}")
            transforms[own] = replace(row, target=f"{prefix}{row.target}", family=name)
        return cls(name, summary, transforms)


def keeps(
    target: str, summary: str, example: str, twin: str | None = None, *, interface: bool = False
) -> TransformEntry:
    """The row of a meaning-keeping transform; `target` is `module:ATTRIBUTE` inside the family's package."""
    return TransformEntry(target, summary, example=example, twin=twin, interface=interface)


def changes(target: str, summary: str, example: str) -> TransformEntry:
    """The row of a control; `target` is `module:ATTRIBUTE` inside the family's package."""
    return TransformEntry(target, f"control: {summary}", kind="control", example=example)

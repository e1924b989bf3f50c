"""What is said of a registered thing before it is imported."""

from dataclasses import dataclass

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

    family: str
    """The name that stands for it and its like on the command line."""
    kind: Kind = "preserving"
    example: str = ""
    """A small program that it rewrites; `codeaudit list transforms --verbose` shows it before and after."""
    twin: str | None = None
    """The control that does nearly the same edit and changes the meaning."""
    language: str = "python"
    """The language of the code that it rewrites. Another language may have a transform of the same name."""
    interface: bool = False
    """Whether callers can see the change: parameters, docstrings, annotations of a function."""

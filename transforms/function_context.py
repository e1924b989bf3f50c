"""A function and the text around it: what the driver cuts out before a transform of functions runs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FunctionContext:
    """One function of a text."""

    before: str
    """The text in front of it."""
    source: str
    """The function, which a transform is given."""
    after: str
    """The text behind it."""
    obstacle: str | None = None
    """Why the function cannot be rewritten without a look at that text; `None` where it can."""

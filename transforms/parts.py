"""What a transform of functions is given of a text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """A function and the text on both sides of it."""

    before: str
    source: str
    after: str
    obstacle: str | None = None
    """Why the function cannot be understood apart from that text, if so."""

"""A node of a syntax tree before the tree is laid flat, and what values there are, in every language."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from codeaudit.audit.papers.lines.vocabulary import PAD, UNKNOWN
from codeaudit.audit.papers.lines.words import NUMBER, STRING
from codeaudit.audit.tasks.function_name import MASK

EMPTY: Final = "<empty>"
"""The value of nodes that have none."""
FUNCTION: Final = "<function_name>"
"""The value that stands for the masked name."""
BEGIN: Final = "<s>"
END: Final = "</s>"
SPECIALS: Final = (PAD, UNKNOWN, EMPTY, FUNCTION, BEGIN, END, STRING, NUMBER)
"""Values that no source spells. Their ids are their places; padding is 0."""

_MASKED: Final = re.compile(rf"{MASK}(?:_\d+)?")


class Branch(NamedTuple):
    """A node with its children, before the tree is laid flat."""

    type: str
    value: str
    children: "Sequence[Branch | object]"


def known(value: str) -> str:
    """A value of a source, which is not taken for one of the `SPECIALS`."""
    return UNKNOWN if value in SPECIALS else value or "''"


def is_mask(name: str) -> bool:
    """Whether a name is that of a function whose name was masked."""
    return _MASKED.fullmatch(name) is not None

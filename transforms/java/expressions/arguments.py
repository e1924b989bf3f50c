"""A control: two arguments of one type are exchanged, so that the call still compiles."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.types import NULL, Types
from codeaudit.transforms.java.rewriting import Rewriting
from codeaudit.transforms.java.source import JavaSource, over, span
from codeaudit.transforms.patches import Site

TYPES_DIFFER: Final = "no two arguments of one known type"


def _swapped(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for node in code.of("argument_list"):
        options = tuple(
            (over(one, span(other)), over(other, span(one)))
            for one, other in combinations(node.children, 2)
            if code.text(one) != code.text(other)
            and types.of(one) == types.of(other)
            and types.of(one) not in (None, NULL)
        )
        if options:
            yield Site(options, "two arguments exchanged", code.line(node))
        elif len(node.children) > 1:
            yield Refused(TYPES_DIFFER)


ARGUMENTS_SWAPPED: Final = Rewriting(
    name="arguments-swapped", find=_swapped, nothing="no call with two arguments", kind="control"
)

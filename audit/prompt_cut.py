"""A function cut in two: what a model is shown, and the rest, which it is to write.

The cut lies between two statements at the top of a function's body, directly before the line on which the
second one begins: comments above that line are shown. What stands before the function is shown, too; nothing
stands after it.

A sample that is cut keeps its whole text in `source` and what is shown in `asked`. So perturbations rewrite
the whole, and `shown` finds the cut again in what they wrote: between the same statements, as far as there is
an edit that keeps them apart.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from codeaudit.transforms.edits import line_starts
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.analysis.blocks import first_line
from codeaudit.transforms.python.parsing import parse
from codeaudit.transforms.records import Outcome, Perturbed, Sample

HALF: Final = 0.5
"""Of the statements at the top of a body, its docstring aside, so many are shown by default."""

NOT_PYTHON: Final = "not Python"
NO_FUNCTION: Final = "no function at the end of the text"
ONE_LINE: Final = "nowhere to cut"
SAME_PROMPT: Final = "what is shown stays as it is"
KNOWN_PROMPT: Final = "no further distinct variant"
NO_CUT: Final = "the cut cannot be found again"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Body:
    """The last function of a text and the places where it may be cut."""

    source: str
    name: str
    kinds: tuple[str, ...]
    """Of the statements at the top, the docstring aside."""
    documented: bool
    places: tuple[int | None, ...]
    """Where each of them begins its line, in characters; `None` where it shares the line."""

    def cut(self, shown: int) -> int | None:
        """The place before which as many statements stand, or fewer where none is there."""
        return next((place for place in reversed(self.places[: shown + 1]) if place is not None), None)


def begun(source: str, share: float = HALF) -> str | None:
    """The text up to the cut: with this share of the function's statements, at least one if it is not 0 and
    at most all but one; `None` where the text is not to be cut.

    Raises:
        SourceError: the text does not parse.
    """
    found = body_of(source)
    if isinstance(found, str):
        return None
    number = len(found.kinds)
    wanted = max(1, int(number * share)) if share > 0 else 0
    place = found.cut(min(wanted, number - 1))
    return None if place is None else source[:place]


def shown(sample: Sample, source: str) -> str:
    """What a model is shown of a text that a sample was rewritten to: all of it unless the sample is cut."""
    if not sample.asked:
        return source
    if source == sample.source:
        return sample.asked
    return again(sample.source, sample.asked, source) or _half(source)


def rewritten(sample: Sample, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes; not applied are variants whose cut is lost, or before which all stays as it is or was
    the same already under the same transform.
    """
    found: list[Outcome] = []
    seen: set[tuple[str, str]] = set()
    for one in outcomes:
        reason = ""
        if isinstance(one, Perturbed) and one.kind != "identity":
            asked = again(sample.source, sample.asked, one.source)
            if asked is None:
                reason = NO_CUT
            elif asked == sample.asked:
                reason = SAME_PROMPT
            elif (one.transform, asked) in seen:
                reason = KNOWN_PROMPT
            else:
                seen.add((one.transform, asked))
        found.append(one.left_out(reason) if reason and isinstance(one, Perturbed) else one)
    return found


@lru_cache(maxsize=4096)
def again(original: str, asked: str, source: str) -> str | None:
    """The text up to the place where the original was cut; `None` where that place is not there any more."""
    try:
        before, after = body_of(original), body_of(source)
    except SourceError:
        return None
    if isinstance(before, str) or isinstance(after, str) or len(asked) not in before.places:
        return None
    index = before.places.index(len(asked))
    place = after.places[index] if len(after.places) == len(before.places) else None
    if place is None:
        place = _unchanged(original, len(asked), after)
    if place is None:
        place = _aligned(before.kinds, index, after)
    return None if place is None else source[:place]


def _unchanged(original: str, at: int, after: Body) -> int | None:
    """The place where one side of the cut is as it was."""
    for place in after.places:
        if place is not None and after.source[place:] == original[at:]:
            return place
    for place in after.places:
        if place is not None and after.source[:place] == original[:at]:
            return place
    return None


def _aligned(kinds: Sequence[str], index: int, after: Body) -> int | None:
    """The place by the kinds of the statements: before the one that was the first behind the cut, or else
    behind the one that was the last before it.
    """
    for block in SequenceMatcher(None, kinds, after.kinds, autojunk=False).get_matching_blocks():
        for wanted, step in ((index, 0), (index - 1, 1)):
            if block.a <= wanted < block.a + block.size:
                place = wanted - block.a + block.b + step
                return after.places[place] if place < len(after.places) else None
    return None


def _half(source: str) -> str:
    try:
        return begun(source) or source
    except SourceError:
        return source


@lru_cache(maxsize=4096)
def body_of(source: str) -> Body | str:
    """The last function of a text, or why there is none to cut.

    Raises:
        SourceError: the text does not parse.
    """
    tree = parse(source)
    node = tree.body[-1] if tree.body else None
    if not isinstance(node, Function):
        return NO_FUNCTION
    statements = node.body[1:] if _is_text(node.body[0]) else node.body
    if not statements:
        return ONE_LINE
    text = source.encode()
    starts = line_starts(text)
    places: list[int | None] = []
    for statement in statements:
        start = starts[first_line(statement) - 1]
        alone = not text[start : start + _column(statement)].strip()
        places.append(len(text[:start].decode()) if alone else None)
    kinds = tuple(type(one).__name__ for one in statements)
    return Body(source, node.name, kinds, len(statements) < len(node.body), tuple(places))


def _column(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.col_offset, *(one.col_offset - 1 for one in decorators)])


def _is_text(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case _:
            return False

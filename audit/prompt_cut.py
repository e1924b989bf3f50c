"""Functions cut in two: the part that a model is shown, and the rest, which it must write.

Tasks that continue code (`generation`, `next-line`) use it. The cut lies between two statements at the top
level of a function's body, directly before the line on which the second one begins, so comments above that
line are shown. Text before the function is shown, too; no text follows the function.

A cut sample has its whole text in `source` and the shown part in `asked`. Perturbations rewrite the whole
text, and `same_cut` finds the cut in the rewritten text: between the same statements, if the edit keeps
them apart.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from codeaudit.audit.languages import audit_of
from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.patches import line_starts
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.python.parsing import FunctionNode, first_line, parse
from codeaudit.transforms.records import KEEPS_TEXT, Outcome, Perturbed, Sample
from codeaudit.transforms.registration import load_target

if TYPE_CHECKING:
    from codeaudit.transforms.syntax.reader import Node, ParsedText

HALF: Final = 0.5
"""The default share of the statements of a body, without its docstring, that is shown."""

NOT_CUT: Final = "in a language whose functions are not cut"
NO_FUNCTION: Final = "no function at the end of the text"
ONE_LINE: Final = "nowhere to cut"
SAME_PROMPT: Final = "what is shown stays as it is"
KNOWN_PROMPT: Final = "no further distinct variant"
NO_CUT: Final = "the cut cannot be found again"


@dataclass(frozen=True, slots=True)
class FunctionBody:
    """The last function of a text, and the places where it can be cut."""

    source: str
    name: str
    kinds: tuple[str, ...]
    """The syntax types of its top-level statements, without the docstring."""
    documented: bool
    """Whether it has a docstring, or in other languages than Python a comment before its statements."""
    places: tuple[int | None, ...]
    """The character at which the line of each statement begins; `None` if it shares its line with another."""
    start: int
    """The character at which the function begins."""

    def cut(self, count: int) -> int | None:
        """The last place with at most `count` statements before it; `None` if there is none."""
        return next((place for place in reversed(self.places[: count + 1]) if place is not None), None)


def shown_part(source: str, share: float = HALF, language: str = PYTHON.name) -> str | None:
    """The text up to the cut, with this share of the function's statements; `None` if it cannot be cut.

    At least one statement is shown unless the share is 0, and at least one is left out.

    Raises:
        SourceError: the text does not parse.
    """
    body = body_of(source, language)
    if isinstance(body, str):
        return None
    number = len(body.kinds)
    # At least one statement stays to be written; without any, the right answer would be nothing.
    count = max(1, int(number * share)) if share > 0 else 0
    place = body.cut(min(count, number - 1))
    return None if place is None else source[:place]


def shown(sample: Sample, source: str) -> str:
    """What a model is shown of a sample rewritten to `source`: all of it unless the sample is cut."""
    if not sample.asked:
        return source
    if source == sample.source:
        return sample.asked
    return same_cut(sample.source, sample.asked, source, sample.language) or _half(source, sample.language)


def shown_of(sample: Sample, source: str, edit: Perturbed | None = None) -> dict[str, Any]:
    """What a model is shown of a sample rewritten to `source`, as fields of a query: the source, and what the
    sample has beside it. The edit says if the other unit of a pair or the other candidates were rewritten,
    too, or if the two units change places.

    What a sample does not have is left out. Among candidates the rewritten source stands in the place of the
    sample's; which one it is must not be seen, so the source itself is then empty.
    """
    first, second = shown(sample, source), (edit.other if edit else "") or sample.other
    if (sample.sides == "second") != (edit is not None and edit.kind == "swap"):
        first, second = second, first
    rewritten = iter(edit.candidates if edit else ())
    chosen = tuple(
        source if candidate == sample.source else next(rewritten, candidate)
        for candidate in sample.candidates
    )
    beside = {"other": second, "candidates": chosen, "text": sample.text}
    if sample.source in sample.candidates:
        first = ""
    return {"source": first, **{name: value for name, value in beside.items() if value}}


def askable_variants(sample: Sample, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes. A variant is not applied if:

    - its cut cannot be found;
    - the shown part did not change;
    - an earlier variant of the same transform shows the same.
    """
    askable: list[Outcome] = []
    seen: set[tuple[str, str]] = set()
    for outcome in outcomes:
        reason = ""
        if isinstance(outcome, Perturbed) and outcome.kind not in KEEPS_TEXT:
            asked = same_cut(sample.source, sample.asked, outcome.source, sample.language)
            if asked is None:
                reason = NO_CUT
            elif asked == sample.asked:
                reason = SAME_PROMPT
            elif (outcome.transform, asked) in seen:
                reason = KNOWN_PROMPT
            else:
                seen.add((outcome.transform, asked))
        askable.append(outcome.left_out(reason) if reason and isinstance(outcome, Perturbed) else outcome)
    return askable


def uncut(language: str) -> str:
    """Why no function of a language is cut; empty if some are."""
    return "" if audit_of(language).body else NOT_CUT


def cut_of(sample: Sample, share: float) -> tuple[FunctionBody, str] | str:
    """The last function of a sample and its shown part, or the reason why it cannot be cut."""
    if reason := uncut(sample.language):
        return reason
    try:
        body = body_of(sample.source, sample.language)
        asked = shown_part(sample.source, share, sample.language)
    except SourceError:
        return NOT_PARSED
    if isinstance(body, str):
        return NO_FUNCTION
    return ONE_LINE if asked is None else (body, asked)


@lru_cache(maxsize=4096)
def same_cut(original: str, asked: str, source: str, language: str = PYTHON.name) -> str | None:
    """The part of `source` that is shown if it is cut where the original was; `None` if that place is
    gone."""
    try:
        before, after = body_of(original, language), body_of(source, language)
    except SourceError:
        return None
    if isinstance(before, str) or isinstance(after, str) or len(asked) not in before.places:
        return None
    index = before.places.index(len(asked))
    # As many statements as before: the edit was inside of statements, and the same number stands before the
    # cut.
    place = after.places[index] if len(after.places) == len(before.places) else None
    if place is None:
        place = _unchanged(original, len(asked), after)
    if place is None:
        place = _aligned(before.kinds, index, after)
    return None if place is None else source[:place]


def _unchanged(original: str, at: int, after: FunctionBody) -> int | None:
    """The place at which the text after the cut is unchanged, or else the text before it."""
    for place in after.places:
        if place is not None and after.source[place:] == original[at:]:
            return place
    for place in after.places:
        if place is not None and after.source[:place] == original[:at]:
            return place
    return None


def _aligned(kinds: Sequence[str], index: int, after: FunctionBody) -> int | None:
    """The place found by aligning the types of statements: before the statement that followed the cut, or
    else after the statement that preceded it.
    """
    # `autojunk` would ignore types that are frequent in bodies of 200 statements and more, such as `Assign`.
    for block in SequenceMatcher(None, kinds, after.kinds, autojunk=False).get_matching_blocks():
        for target, step in ((index, 0), (index - 1, 1)):
            if block.a <= target < block.a + block.size:
                place = target - block.a + block.b + step
                return after.places[place] if place < len(after.places) else None
    return None


def _half(source: str, language: str) -> str:
    try:
        return shown_part(source, language=language) or source
    except SourceError:
        return source


# Each text is asked for several times: by the task, the driver and the rows of the suite.
@lru_cache(maxsize=4096)
def body_of(source: str, language: str = PYTHON.name) -> FunctionBody | str:
    """The last function of a text, or the reason why there is none to cut.

    Raises:
        SourceError: the text does not parse.
    """
    body: FunctionBody | str = load_target(audit_of(language).body)(source)
    return body


def body_in_python(source: str) -> FunctionBody | str:
    """The last function of a Python text, or the reason why there is none to cut.

    Raises:
        SourceError: the text does not parse.
    """
    tree = parse(source)
    node = tree.body[-1] if tree.body else None
    if not isinstance(node, FunctionNode):
        return NO_FUNCTION
    statements = node.body if ast.get_docstring(node, clean=False) is None else node.body[1:]
    if not statements:
        return ONE_LINE
    text = source.encode()
    starts = line_starts(text)
    places: list[int | None] = []
    for statement in statements:
        start = starts[first_line(statement) - 1]
        # `a = 1; b = 2` cannot be cut in the middle: what is shown must end with a line.
        alone = not text[start : start + _column(statement)].strip()
        places.append(len(text[:start].decode()) if alone else None)
    kinds = tuple(type(statement).__name__ for statement in statements)
    # A function in Python text begins a line.
    begin = len(text[: starts[first_line(node) - 1]].decode())
    return FunctionBody(source, node.name, kinds, len(statements) < len(node.body), tuple(places), begin)


def body_in_braces(reading: "ParsedText", name: str, outer: "Node", function: "Node") -> FunctionBody | str:
    """A function with a body in braces, or the reason why it cannot be cut; `outer` is the declaration that
    gives it a name."""
    body = function.child("body")
    if body is None or body.kind != "block":
        return ONE_LINE
    if not body.children:
        return ONE_LINE
    text = reading.source
    places: list[int | None] = []
    for statement in body.children:
        start = text.rfind(b"\n", 0, statement.start) + 1
        alone = start > body.start and not text[start : statement.start].strip()
        places.append(len(text[:start].decode()) if alone else None)
    first = body.children[0].start
    documented = any(end <= first for _, _, end in reading.comments)
    kinds = tuple(child.kind for child in body.children)
    begin = len(text[: text.rfind(b"\n", 0, max(outer.start, 0)) + 1].decode())
    return FunctionBody(text.decode(), name, kinds, documented, tuple(places), begin)


def _column(statement: ast.stmt) -> int:
    # A nested function begins with the `@` of its first decorator, one character before the expression.
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.col_offset, *(decorator.col_offset - 1 for decorator in decorators)])

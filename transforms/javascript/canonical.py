"""The canonical form of a function of JavaScript or TypeScript (`strategies.canonical`)."""

from functools import partial

from codeaudit.transforms.javascript.analysis.program import analyse
from codeaudit.transforms.javascript.identifiers.rename import variables
from codeaudit.transforms.javascript.parsing import JAVASCRIPT, TYPESCRIPT
from codeaudit.transforms.strategies.canonical import canonical_form


def canonicalise(source: str, language: str = JAVASCRIPT) -> str:
    """The canonical form of a function: one text for all of its legal orders and names.

    It has the meaning of the source; comments above a statement move with it. A text that the transforms
    refuse is its own form.

    Raises:
        SourceError: the source does not parse, is not one function, or is nested too deeply.
    """
    if analyse(source, language).obstacle is not None:
        return source
    return canonical_form(source, partial(analyse, language=language), partial(variables, language=language))


def canonicalise_typescript(source: str) -> str:
    """As `canonicalise`, for TypeScript.

    Raises:
        SourceError: as there.
    """
    return canonicalise(source, TYPESCRIPT)

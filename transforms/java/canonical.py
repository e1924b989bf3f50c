"""The canonical form of a Java method (`strategies.canonical`)."""

from codeaudit.transforms.java.analysis.program import analyse
from codeaudit.transforms.java.files import function_context
from codeaudit.transforms.java.identifiers.rename import variables
from codeaudit.transforms.strategies.canonical import canonical_form


def canonicalise(source: str) -> str:
    """The canonical form of the last method or constructor of a text; the text around it stays.

    It has the meaning of the source; comments above a statement move with it. Two methods that differ by a
    legal order of statements or by names of variables (as far as the transforms change them) have one
    canonical form, if lines with the same surroundings are interchangeable.

    A text that the transforms refuse is its own form.

    Raises:
        SourceError: the source does not parse, or is nested too deeply.
    """
    part = function_context(source)
    if part.obstacle is not None:
        return source
    return part.before + canonical_form(part.source, analyse, variables) + part.after

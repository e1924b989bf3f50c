"""The canonical form of a C function (`strategies.canonical`)."""

from dataclasses import replace
from functools import partial

from codeaudit.transforms.c.analysis.program import analyse
from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.identifiers.rename import variables
from codeaudit.transforms.c.macros import Surroundings
from codeaudit.transforms.c.order.reorder import REORDER
from codeaudit.transforms.c.parsing import C
from codeaudit.transforms.strategies.canonical import canonical_form


def canonicalise(source: str, language: str = C) -> str:
    """The canonical form of one function.

    It has the meaning of the source; comments above a statement move with it. Two functions that differ by a
    legal order of statements or by names of variables (as far as the transforms change them) have one
    canonical form, if lines with the same surroundings are interchangeable.

    A text that the transforms refuse is its own form.

    Raises:
        SourceError: the source does not parse, or is nested too deeply.
    """
    if replace(REORDER, language=language).ordering(source).obstacle:
        return source
    around = Surroundings(language=language)
    return canonical_form(source, partial(analyse, around=around), partial(variables, around=around))


canonicalise_cpp = partial(canonicalise, language=CPP)

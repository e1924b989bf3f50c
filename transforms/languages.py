"""The languages by name. Looking one up imports its record and no reader.

A lookup that a built-in language answers loads no plug-in. `every_language` loads all of them and is silent
about broken ones, because most of its callers do not need those; `warn_of_broken_languages` names them.
"""

import logging
from functools import cache
from typing import Final

from codeaudit.transforms.entries import Entry
from codeaudit.transforms.language import Language
from codeaudit.transforms.plugins import PlugIn
from codeaudit.transforms.registration import Registry

LANGUAGES: Final[Registry[Language]] = Registry(
    "language",
    {
        "python": Entry("codeaudit.transforms.python.language:PYTHON", "functions of Python files"),
        "java": Entry("codeaudit.transforms.java.language:JAVA", "methods of Java files"),
        "x86": Entry("codeaudit.transforms.x86.language:X86", "basic blocks of x86-64 assembly"),
        "algebra": Entry("codeaudit.transforms.algebra.language:ALGEBRA", "pairs of symbolic expressions"),
    },
    group="codeaudit.languages",
    expects=Language,
)

_log: Final = logging.getLogger(__name__)

DEFAULT: Final = "python"
"""The language of a text about which nothing else is known."""


def find_language(name: str) -> Language | None:
    """The record of a language; `None` for a language that nobody registered, which samples may well name.

    Raises:
        CannotAudit: the language is a broken plug-in's.
    """
    return LANGUAGES.get(name) if name in LANGUAGES else None


def every_language() -> tuple[Language, ...]:
    """All languages, the built-in ones first; broken plug-ins are left out."""
    return _working(tuple(LANGUAGES.plug_ins().values()))


@cache
def _working(plug_ins: tuple[PlugIn, ...]) -> tuple[Language, ...]:
    """Cached because a table asks for each of its rows; `plug_ins` is the key."""
    return tuple(language for _, language in LANGUAGES.working())


def by_ending(ending: str) -> Language | None:
    """The language whose files have this ending, with the dot; `None` where no language claims it."""
    for languages in (map(LANGUAGES.get, LANGUAGES.built_in), every_language()):
        for one in languages:
            if ending in one.endings or ending in one.named_endings:
                return one
    return None


def warn_of_broken_languages() -> None:
    """Log a line for each broken plug-in. For callers that found no language: it may be one of these."""
    for _ in LANGUAGES.working(lambda error: _log.warning("codeaudit: %s", error)):
        pass

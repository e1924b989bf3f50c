"""The languages by name. Looking one up imports its record and no reader."""

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

DEFAULT: Final = "python"
"""The language of a text about which nothing else is known."""


def find_language(name: str) -> Language | None:
    """The record of a language; `None` for a language that nobody registered, which samples may well name.

    Raises:
        CannotAudit: the language is a broken plug-in's.
    """
    return LANGUAGES.get(name) if name in LANGUAGES else None


def every_language() -> tuple[Language, ...]:
    """All languages, the built-in ones first; broken plug-ins are left out with a log line."""
    return _working(tuple(LANGUAGES.plug_ins().values()))


@cache
def _working(plug_ins: tuple[PlugIn, ...]) -> tuple[Language, ...]:
    """Cached because a table asks for each of its rows; `plug_ins` is the key."""
    return tuple(language for _, language in LANGUAGES.working())


def by_ending(ending: str) -> Language | None:
    """The language whose files have this ending, with the dot; `None` where no language claims it."""
    return next(
        (one for one in every_language() if ending in one.endings or ending in one.named_endings), None
    )

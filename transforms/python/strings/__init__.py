"""Texts put together in other ways: f-strings, `format`, `%`, sums."""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.entries import TransformEntry

_TITLE: Final = """\
def title(chapter, name):
    number = len(name) + 1
    return f"{chapter!r}. {number:>3}"
"""

_LABEL: Final = """\
def label(items):
    word = "items"
    count = 3
    return f"{count} {word}!"
"""

_REPORT: Final = """\
def report(name, score):
    return "%s has %r points (100 %%)" % (name, score)
"""

_LINE: Final = """\
def line(name, score):
    return "{}: {:>8}".format(name, score)
"""

_SHOUT: Final = """\
def shout(times):
    word = "hey"
    loud = word.upper()
    return "<" + loud + ">"
"""


def _entry(target: str, summary: str, example: str) -> TransformEntry:
    return TransformEntry(
        f"codeaudit.transforms.python.strings.{target}",
        summary,
        family="strings",
        example=example,
        twin="fields-swapped",
    )


ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "f-string-to-format": _entry("fields:F_STRING_TO_FORMAT", "f-strings become calls of format", _TITLE),
    "format-to-f-string": _entry("into:FORMAT_TO_F_STRING", "calls of format become f-strings", _LINE),
    "percent-to-f-string": _entry("into:PERCENT_TO_F_STRING", "texts with % become f-strings", _REPORT),
    "f-string-to-concat": _entry("fields:F_STRING_TO_CONCAT", "f-strings become sums of texts", _LABEL),
    "concat-to-f-string": _entry("into:CONCAT_TO_F_STRING", "sums of texts become f-strings", _SHOUT),
    "fields-swapped": TransformEntry(
        "codeaudit.transforms.python.strings.fields:FIELDS_SWAPPED",
        "control: two fields of a text are swapped",
        family="strings",
        kind="control",
        example=_REPORT,
    ),
}

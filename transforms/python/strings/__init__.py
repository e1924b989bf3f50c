"""The family `strings`: f-strings, `format`, `%` and sums of strings for one another, and its control."""

from typing import Final

from codeaudit.transforms.language import TransformFamily, changes, keeps
from codeaudit.transforms.python.ledger import VALUES

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


FAMILY: Final = TransformFamily.of(
    __name__,
    "strings",
    "Texts put together in other ways: f-strings, `format`, `%`, sums.",
    keeps("from_f_strings:F_STRING_TO_FORMAT", "f-strings become calls of format", _TITLE, "fields-swapped"),
    keeps(
        "to_f_strings:FORMAT_TO_F_STRING",
        "calls of format become f-strings",
        _LINE,
        "fields-swapped",
        undoes=("f-string-to-format",),
    ),
    keeps("to_f_strings:PERCENT_TO_F_STRING", "texts with % become f-strings", _REPORT, "fields-swapped"),
    keeps("from_f_strings:F_STRING_TO_CONCAT", "f-strings become sums of texts", _LABEL, "fields-swapped"),
    keeps(
        "to_f_strings:CONCAT_TO_F_STRING",
        "sums of texts become f-strings",
        _SHOUT,
        "fields-swapped",
        undoes=("f-string-to-concat",),
    ),
    changes("from_f_strings:FIELDS_SWAPPED", "two fields of a text are swapped", _REPORT),
    rests_on=(*VALUES, "identity-unread"),
)

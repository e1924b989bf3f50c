"""Transforms of Java that replace string concatenation by calls that build the same string."""

from typing import Final

from codeaudit.transforms.java.ledger import VALUES
from codeaudit.transforms.language import TransformFamily, changes, keeps

_LABEL: Final = """\
static String label(String name, int count) {
    String number = "" + count;
    return name + " (" + count + "/" + number + ")";
}
"""


FAMILY: Final = TransformFamily.of(
    __name__,
    "strings",
    "Sums of texts of Java as calls that build the same text.",
    keeps(
        "concat:CONCAT_TO_BUILDER",
        "sums of texts and numbers become calls of StringBuilder",
        _LABEL,
        "texts-swapped",
    ),
    keeps(
        "concat:CONCAT_TO_VALUE_OF",
        "an empty text and a number become String.valueOf",
        _LABEL,
        "texts-swapped",
    ),
    changes("concat:TEXTS_SWAPPED", "the last two parts of a text are exchanged", _LABEL),
    rests_on=(*VALUES, "identity-unread"),
)

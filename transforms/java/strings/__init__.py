"""Sums of texts of Java as calls that build the same text."""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.entries import TransformEntry

_LABEL: Final = """\
static String label(String name, int count) {
    String number = "" + count;
    return name + " (" + count + "/" + number + ")";
}
"""


def _entry(name: str, summary: str) -> TransformEntry:
    return TransformEntry(
        f"codeaudit.transforms.java.strings.concat:{name}",
        summary,
        family="strings",
        language="java",
        example=_LABEL,
        twin="texts-swapped",
    )


ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "concat-to-builder": _entry(
        "CONCAT_TO_BUILDER", "sums of texts and numbers become calls of StringBuilder"
    ),
    "concat-to-value-of": _entry("CONCAT_TO_VALUE_OF", "an empty text and a number become String.valueOf"),
    "texts-swapped": TransformEntry(
        "codeaudit.transforms.java.strings.concat:TEXTS_SWAPPED",
        "control: the last two parts of a text are exchanged",
        family="strings",
        language="java",
        kind="control",
        example=_LABEL,
    ),
}

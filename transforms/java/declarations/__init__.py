"""Declarations of Java's local variables: joined, split, with and without `final`, with `var`."""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.entries import TransformEntry

_SCALED: Final = """\
static int scaled(int[] values, int factor) {
    int sum = 0, count = 0;
    int start = 3;
    int last = start;
    final int[] kept = values.clone();
    int limit;
    limit = kept.length;
    var shift = factor * 2;
    for (int value : kept) {
        sum += value * shift;
        count++;
    }
    return count > limit ? last : sum;
}
"""


def _entry(name: str, summary: str) -> TransformEntry:
    return TransformEntry(
        f"codeaudit.transforms.java.declarations.locals:{name}",
        summary,
        family="declarations",
        language="java",
        example=_SCALED,
    )


ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "split-declarations": _entry("SPLIT_DECLARATIONS", "int a, b; as two declarations"),
    "join-declarations": _entry("JOIN_DECLARATIONS", "two declarations of one type as int a, b;"),
    "split-initialisers": _entry("SPLIT_INITIALISERS", "int a = 1; as int a; a = 1;"),
    "join-initialisers": _entry("JOIN_INITIALISERS", "int a; a = 1; as int a = 1;"),
    "insert-final": _entry("INSERT_FINAL", "final on what is never assigned again and is no constant"),
    "remove-final": _entry("REMOVE_FINAL", "no final on what is no constant"),
    "type-to-var": _entry("TYPE_TO_VAR", "var for exactly the type of the value (Java 10)"),
    "var-to-type": _entry("VAR_TO_TYPE", "the type of the value for var"),
}

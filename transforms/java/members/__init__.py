"""How members of Java's classes are named."""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.entries import TransformEntry

_COUNTER: Final = """\
class Counter {
    private int count;
    private int step = 2;

    void start(int count) {
        this.count = count;
    }

    int next() {
        count += step;
        return this.twice(this.count);
    }

    int twice(int value) {
        return value * this.step;
    }
}
"""


def _entry(name: str, summary: str) -> TransformEntry:
    return TransformEntry(
        f"codeaudit.transforms.java.members.this:{name}",
        summary,
        family="members",
        language="java",
        example=_COUNTER,
        twin="this-dropped",
    )


ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "insert-this": _entry("INSERT_THIS", "this. before fields and methods of the class at hand"),
    "remove-this": _entry("REMOVE_THIS", "no this. where no variable hides the member"),
    "this-dropped": TransformEntry(
        "codeaudit.transforms.java.members.this:THIS_DROPPED",
        "control: one this. is dropped where a variable hides the field",
        family="members",
        kind="control",
        language="java",
        example=_COUNTER,
    ),
}

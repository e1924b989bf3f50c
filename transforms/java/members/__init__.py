"""Transforms of Java that add or remove `this.` before members of a class."""

from typing import Final

from codeaudit.transforms.java.ledger import LAYOUT
from codeaudit.transforms.language import TransformFamily, changes, keeps

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


FAMILY: Final = TransformFamily.of(
    __name__,
    "members",
    "How members of Java's classes are named.",
    keeps(
        "this:INSERT_THIS", "this. before fields and methods of the class at hand", _COUNTER, "this-dropped"
    ),
    keeps(
        "this:REMOVE_THIS",
        "no this. where no variable hides the member",
        _COUNTER,
        "this-dropped",
        undoes=("insert-this",),
    ),
    changes("this:THIS_DROPPED", "one this. is dropped where a variable hides the field", _COUNTER),
    rests_on=(*LAYOUT, "types-meant"),
)

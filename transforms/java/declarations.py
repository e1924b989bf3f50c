"""Declarations of Java's local variables: joined, split, with and without `final`, with `var`."""

from typing import Final

from codeaudit.transforms.java.ledger import LAYOUT
from codeaudit.transforms.language import TransformFamily, keeps

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


FAMILY: Final = TransformFamily.of(
    __package__,
    "declarations",
    "Declarations of Java's local variables: joined, split, with and without `final`, with `var`.",
    keeps("rules:SPLIT_DECLARATIONS", "int a, b; as two declarations", _SCALED),
    keeps(
        "rules:JOIN_DECLARATIONS",
        "two declarations of one type as int a, b;",
        _SCALED,
        undoes=("split-declarations",),
    ),
    keeps("rules:SPLIT_INITIALISERS", "int a = 1; as int a; a = 1;", _SCALED),
    keeps("rules:JOIN_INITIALISERS", "int a; a = 1; as int a = 1;", _SCALED, undoes=("split-initialisers",)),
    keeps("locals:INSERT_FINAL", "final on what is never assigned again and is no constant", _SCALED),
    keeps("locals:REMOVE_FINAL", "no final on what is no constant", _SCALED, undoes=("insert-final",)),
    keeps("locals:TYPE_TO_VAR", "var for exactly the type of the value (Java 10)", _SCALED),
    keeps("locals:VAR_TO_TYPE", "the type of the value for var", _SCALED, undoes=("type-to-var",)),
    rests_on=(*LAYOUT, "types-meant", "debug-names-unread"),
)

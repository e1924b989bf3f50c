"""Names of Java's variables: what may be called otherwise, and what it is called then."""

from collections.abc import Mapping
from typing import Final

from codeaudit.transforms.entries import TransformEntry

_TOTAL: Final = """\
static int total(int[] prices, int tax) {
    int result = 0;
    for (int price : prices) {
        result += price * tax;
    }
    return result;
}
"""

_SPAN: Final = """\
static int span(int first, int last) {
    int low = first;
    int high = last;
    return high - low;
}
"""

_CLAMP: Final = """\
static int clamp(int value, int low, int high) {
    int start = Math.min(low, high);
    int end = Math.max(low, high);
    return Math.min(Math.max(value, start), end);
}
"""

ENTRIES: Final[Mapping[str, TransformEntry]] = {
    "rename": TransformEntry(
        "codeaudit.transforms.java.identifiers.rename:RENAME",
        "local variables get other names",
        family="identifiers",
        language="java",
        example=_TOTAL,
        twin="rename-merging",
    ),
    "rename-random": TransformEntry(
        "codeaudit.transforms.java.identifiers.rename:RENAME_RANDOM",
        "local variables get pronounceable names without meaning",
        family="identifiers",
        language="java",
        example=_CLAMP,
        twin="rename-merging",
    ),
    "rename-shuffle": TransformEntry(
        "codeaudit.transforms.java.identifiers.rename:RENAME_SHUFFLE",
        "local variables swap their names",
        family="identifiers",
        language="java",
        example=_CLAMP,
        twin="rename-merging",
    ),
    "rename-misleading": TransformEntry(
        "codeaudit.transforms.java.identifiers.rename:RENAME_MISLEADING",
        "local variables get names that say something else",
        family="identifiers",
        language="java",
        example=_TOTAL,
        twin="rename-merging",
    ),
    "rename-canonical": TransformEntry(
        "codeaudit.transforms.java.identifiers.rename:RENAME_CANONICAL",
        "local variables become v0, v1, …",
        family="identifiers",
        language="java",
        example=_CLAMP,
        twin="rename-merging",
    ),
    "rename-parameters": TransformEntry(
        "codeaudit.transforms.java.identifiers.rename:RENAME_PARAMETERS",
        "locals and parameters get other names (keeps the meaning where no reflection reads parameters)",
        family="identifiers",
        language="java",
        example=_TOTAL,
        twin="rename-merging",
        interface=True,
    ),
    "rename-merging": TransformEntry(
        "codeaudit.transforms.java.identifiers.merging:RENAME_MERGING",
        "control: two variables become one",
        family="identifiers",
        kind="control",
        language="java",
        example=_SPAN,
    ),
}

"""The family `control-flow`: branches, conditions and loops in another form, and its controls."""

from typing import Final

from codeaudit.transforms.language import TransformFamily, changes, keeps
from codeaudit.transforms.python.ledger import VALUES

_GRADE: Final = """\
def grade(points, limit):
    # Too few.
    if points < limit and limit:
        return "poor"
    if points == limit:
        result = "fair"
    elif points > 10:
        result = "best"
    else:
        result = "good"
    return result
"""

_SIGN: Final = """\
def sign(value):
    if value < 0:
        return -1
    else:
        if value:
            result = 1
        else:
            result = 0
    label = "zero" if result == 0 else "other"
    return result, label
"""

_COLLECT: Final = """\
def collect(items):
    found = []
    for number in range(2, len(items), 3):
        if number % 2:
            continue
        found.append(number)
    for number in range(len(items)):
        found.append(items[number])
    while len(found) > 10:
        found.pop()
    return found
"""

_SAME: Final = """\
def same(one, other):
    try:
        with memoryview(bytes(one)) as first, memoryview(bytes(other)) as second:
            return first == second
    except TypeError:
        return False
    finally:
        print(other)
"""

_SAME_NESTED: Final = """\
def same(one, other):
    try:
        try:
            with memoryview(bytes(one)) as first:
                with memoryview(bytes(other)) as second:
                    return first == second
        except TypeError:
            return False
    finally:
        print(other)
"""

_WITHIN: Final = """\
def within(low, value, high):
    if low <= value:
        if value <= high:
            return True
    return False
"""


FAMILY: Final = TransformFamily.of(
    __name__,
    "control-flow",
    "Branches, conditions and loops in another form.",
    keeps(
        "branches:INVERT_IF",
        "if c: a else: b as if not c: b else: a",
        _GRADE,
        "if-inverted-wrong",
        undoes=("nest-elif", "flatten-elif"),
    ),
    keeps("branches:NEST_ELIF", "elif as else: if", _GRADE, "branch-dropped"),
    keeps("branches:FLATTEN_ELIF", "else: if as elif", _SIGN, "branch-dropped"),
    keeps(
        "branches:RETURN_TO_ELSE",
        "what follows a branch that leaves goes into an else",
        _GRADE,
        "return-dropped",
    ),
    keeps(
        "branches:ELSE_TO_RETURN",
        "no else behind a branch that leaves",
        _SIGN,
        "return-dropped",
        undoes=("flatten-elif",),
    ),
    keeps("branches:TERNARY_TO_IF", "x = a if c else b as if and else", _SIGN, "if-inverted-wrong"),
    keeps("branches:IF_TO_TERNARY", "if and else as x = a if c else b", _SIGN, "if-inverted-wrong"),
    keeps("branches:SPLIT_CONDITIONS", "if a and b: as if a: if b:", _GRADE, "condition-dropped"),
    keeps("branches:MERGE_CONDITIONS", "if a: if b: as if a and b:", _WITHIN, "if-inverted-wrong"),
    keeps(
        "loops:FOR_TO_WHILE",
        "for over a range or list as while with a counter",
        _COLLECT,
        "for-off-by-one",
        rests_on=(*VALUES, "frames-unread"),
    ),
    keeps(
        "loops:WHILE_TO_WHILE_TRUE", "while c: as while True: if not c: break", _COLLECT, "loop-left-early"
    ),
    keeps("loops:UNROLL_WHILE", "the body of a short while twice", _COLLECT, "loop-left-early"),
    keeps("nesting:SPLIT_WITH", "with a, b: as with a: with b:", _SAME),
    keeps("nesting:MERGE_WITH", "with a: with b: as with a, b:", _SAME_NESTED, undoes=("split-with",)),
    keeps("nesting:SPLIT_TRY", "try with finally around a try with except", _SAME),
    keeps("nesting:MERGE_TRY", "one try with except and finally", _SAME_NESTED, undoes=("split-try",)),
    changes("branches:IF_INVERTED_WRONG", "one condition is negated, its branches stay", _GRADE),
    changes("branches:BRANCH_DROPPED", "one else is dropped", _GRADE),
    changes("branches:CONDITION_DROPPED", "of one if with and only one operand stays", _GRADE),
    changes("branches:RETURN_DROPPED", "one return only evaluates", _SIGN),
    changes("loops:FOR_OFF_BY_ONE", "one range begins or ends elsewhere", _COLLECT),
    changes("loops:LOOP_LEFT_EARLY", "one loop is left after one turn", _COLLECT),
    rests_on=VALUES,
)

"""The family `order`: statements, definitions, arguments and clauses in another order, and the controls that
break one.
"""

from typing import Final

from codeaudit.transforms.language import TransformFamily, changes, keeps
from codeaudit.transforms.python.ledger import EFFECTS, LAYOUT

_MEAN: Final = """\
def mean(values):
    total = 0
    count = 0
    for value in values:
        total += value
        count += 1
    return total / count
"""

_AREA: Final = """\
def area(width):
    side = width
    side = side * 2
    return side
"""

_FUNCTIONS: Final = """\
def total(values):
    return sum(values)


def mean(values):
    return total(values) / len(values)
"""

_METHODS: Final = """\
class Counter:
    def __init__(self):
        self.count = 0

    def increase(self, by=1):
        self.count += by

    def reset(self):
        self.count = 0
"""

_IMPORTS: Final = """\
import json
import os.path
from collections import Counter, deque
"""

_NAMES: Final = """\
from collections import Counter, deque

counts = Counter(deque("abca"))
"""

_KEYWORDS: Final = """\
def ranked(words):
    return sorted(words, key=len, reverse=True)
"""

_ITEMS: Final = """\
def season(month):
    return {12: "winter", 1: "winter", 7: "summer"}.get(month)
"""

_EXCEPT: Final = """\
def size(path):
    try:
        import os

        return os.stat(path).st_size
    except ImportError:
        return None
    except OSError:
        return 0
"""

_CASES: Final = """\
def name(number):
    match len(str(number is None)):
        case 4:
            return "none"
        case 5:
            return "some"
"""

_BRANCHES: Final = """\
def sign(number):
    size = len(str(number is None))
    if size == 4:
        return "none"
    elif size == 5:
        return "some"
    return "other"
"""

_GLOBALS: Final = """\
def reset():
    global count, total
    count = total = 0
"""

_TUPLE: Final = """\
def corner(image):
    x = 0
    y = 0
    return image[x, y]
"""

_MISSING: Final = """\
def missing(one, other):
    return one is None or other is None
"""

_SWAP: Final = """\
def exchanged(one, other):
    one, other = other, one
    return one, other
"""

_KEYWORD_ONLY: Final = """\
def label(text, *, width=8, fill="."):
    return text.ljust(width, fill)
"""

_POWER: Final = """\
def power(base, exponent):
    return pow(base, exponent)
"""

_ORDINAL: Final = """\
def ordinal(number):
    return {1: "first", 3: "third"}.get(number)
"""

_LARGER: Final = """\
def larger(one, other):
    if one > other:
        return one
    else:
        return other
"""


FAMILY: Final = TransformFamily.of(
    __name__,
    "order",
    "Statements and definitions in another order.",
    keeps(
        "reorder:REORDER",
        "statements in another legal order (a linear extension of their dependences)",
        _MEAN,
        "reorder-breaking",
        related=True,
        rests_on=(*EFFECTS, "release-unseen", "namespaces-unlisted", "imports-independent"),
    ),
    changes("reorder:REORDER_BREAKING", "one true dependence is reversed", _AREA),
    keeps(
        "definitions:REORDER_FUNCTIONS",
        "functions and classes of a module in another order",
        _FUNCTIONS,
        rests_on=(*LAYOUT, "builtins-meant", "namespaces-unlisted"),
    ),
    keeps(
        "definitions:REORDER_METHODS",
        "methods of a class in another order",
        _METHODS,
        rests_on=(*LAYOUT, "builtins-meant", "namespaces-unlisted"),
    ),
    keeps(
        "imports:REORDER_IMPORTS",
        "imports from the standard library in another order",
        _IMPORTS,
        rests_on=(*LAYOUT, "builtins-meant", "lookups-exist", "namespaces-unlisted", "imports-independent"),
    ),
    keeps(
        "imports:REORDER_IMPORT_NAMES",
        "the names of one import in another order",
        _NAMES,
        rests_on=(*LAYOUT, "builtins-meant", "lookups-exist", "namespaces-unlisted"),
    ),
    keeps(
        "assignments:REORDER_GLOBALS",
        "the names of a `global` or `nonlocal` in another order",
        _GLOBALS,
        rests_on=LAYOUT,
    ),
    keeps(
        "arguments:REORDER_KEYWORDS",
        "keyword arguments in another order, where the callee is known",
        _KEYWORDS,
        "arguments-swapped",
    ),
    keeps(
        "items:REORDER_ITEMS",
        "items in another order, of a display asked for one of them",
        _ITEMS,
        "items-swapped",
    ),
    keeps(
        "clauses:REORDER_BRANCHES",
        "branches that compare a variable with distinct constants in another order",
        _BRANCHES,
        "branches-swapped",
    ),
    keeps("clauses:REORDER_CASES", "cases with distinct constants in another order", _CASES),
    keeps("clauses:REORDER_EXCEPT", "`except` clauses that no exception shares in another order", _EXCEPT),
    keeps(
        "operands:REORDER_OPERANDS",
        "operands of and, or that only compute in another order",
        _MISSING,
        "de-morgan-wrong",
    ),
    keeps(
        "assignments:REORDER_TARGETS",
        "a = b = x as b = a = x, and a, b = x, y as b, a = y, x",
        _SWAP,
        rests_on=(*EFFECTS, "release-unseen"),
    ),
    keeps(
        "arguments:REORDER_KEYWORD_ONLY",
        "keyword-only parameters in another order",
        _KEYWORD_ONLY,
        interface=True,
        rests_on=(*EFFECTS, "notes-unread"),
    ),
    keeps(
        "assignments:TUPLE_ASSIGNMENTS",
        "two assignments as one of a tuple, or the other way",
        _TUPLE,
        rests_on=(*EFFECTS, "release-unseen"),
    ),
    changes("arguments:ARGUMENTS_SWAPPED", "two arguments of a call exchanged", _POWER),
    changes("items:ITEMS_SWAPPED", "the values of two items of a dict exchanged", _ORDINAL),
    changes("clauses:BRANCHES_SWAPPED", "the bodies of two branches exchanged", _LARGER),
    rests_on=EFFECTS,
)

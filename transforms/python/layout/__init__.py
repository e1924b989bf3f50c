"""The family `layout`: white space, line ends, parentheses, comments and the spelling of literals, and its
controls.
"""

from typing import Final

from codeaudit.transforms.language import TransformFamily, changes, keeps
from codeaudit.transforms.python.ledger import LAYOUT

_MEDIAN: Final = """\
def median(values, default=255):
    # An empty sample has no median.
    ordered = sorted(values); size = len(ordered)

    if not size:
        return (default)
    middle = size // 2
    if size % 2 == 1:
        return ordered[middle]
    return (ordered[middle - 1]
            + ordered[middle]) / 2
"""

_MARKS: Final = '''\
def marks(value):
    """Say what is known of a value."""
    found = ["my " "note",]
    if value:
        found.append('seen')
        found.append('kept')
    return [*found, 'end']
'''


FAMILY: Final = TransformFamily.of(
    __name__,
    "layout",
    "The same tokens and the same tree in another layout.",
    keeps("lines:INSERT_COMMENTS", "comments that say nothing of the code", _MEDIAN),
    keeps("lines:REMOVE_COMMENTS", "comments go, except those for tools", _MEDIAN),
    keeps("lines:INSERT_BLANK_LINES", "blank lines between statements", _MEDIAN),
    keeps("lines:REMOVE_BLANK_LINES", "blank lines go", _MEDIAN),
    keeps("lines:JOIN_LINES", "lines inside brackets are joined", _MEDIAN),
    keeps("lines:SPLIT_LINES", "lines inside brackets are broken behind commas", _MEDIAN),
    keeps("lines:JOIN_STATEMENTS", "two statements on a line, joined by `;`", _MARKS),
    keeps(
        "lines:SPLIT_STATEMENTS",
        "statements joined by `;` on lines of their own",
        _MEDIAN,
        undoes=("join-statements",),
    ),
    keeps(
        "indentation:INDENTATION",
        "blocks indented by 2, 3, 4 or 8 blanks or a tab",
        _MARKS,
        "indentation-changed",
    ),
    keeps("literals:QUOTES", "single quotes for double ones, and back", _MARKS, "string-changed"),
    keeps("literals:SPLIT_STRINGS", "one string written as two in a row", _MARKS),
    keeps("literals:JOIN_STRINGS", "strings in a row written as one", _MARKS),
    keeps(
        "literals:LITERAL_BASES",
        "numbers in another base, with grouped digits or an exponent",
        _MEDIAN,
        "literal-changed",
    ),
    keeps("brackets:INSERT_PARENTHESES", "parentheses that change nothing", _MEDIAN),
    keeps("brackets:REMOVE_PARENTHESES", "parentheses that change nothing go", _MEDIAN),
    keeps("brackets:INSERT_TRAILING_COMMAS", "a comma before the closing bracket", _MARKS),
    keeps(
        "brackets:REMOVE_TRAILING_COMMAS",
        "no comma before the closing bracket",
        _MARKS,
        undoes=("insert-trailing-commas",),
    ),
    keeps("lines:SPACING", "blanks around operators and behind commas", _MEDIAN),
    changes("literals:LITERAL_CHANGED", "a returned or compared number changes", _MEDIAN),
    changes("literals:STRING_CHANGED", "a returned or compared string changes", _MARKS),
    changes("indentation:INDENTATION_CHANGED", "a statement moves out of its block or into it", _MARKS),
    rests_on=LAYOUT,
)

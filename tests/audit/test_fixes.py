"""Which edits touch the lines of a fix."""

import pytest

from codeaudit.reports.observations import touches_fix

FLAWED = "def f(a, n):\n    x = n\n    y = 2\n    b = a[n]\n    return b + x + y\n"
REPLACED = FLAWED.replace("a[n]", "a.get(n)")
ADDED = FLAWED.replace("    b =", "    if n in a:\n        raise KeyError\n    b =")
REMOVED = FLAWED.replace("    y = 2\n", "")


@pytest.mark.parametrize(
    ("other", "edit", "touched"),
    [
        # The line itself, another one, and one that comes before it now.
        (REPLACED, FLAWED.replace("a[n]", "(a[n])"), True),
        (REPLACED, FLAWED.replace("y = 2", "y = (2)"), False),
        (REPLACED, FLAWED.replace("    y = 2\n    b = a[n]\n", "    b = a[n]\n    y = 2\n"), True),
        (REPLACED, FLAWED.replace("    x = n\n    y = 2\n", "    y = 2\n    x = n\n"), False),
        # A comment beside it, and one elsewhere.
        (REPLACED, FLAWED.replace("    b =", "    # note\n    b ="), True),
        (REPLACED, FLAWED.replace("    x =", "    # note\n    x ="), False),
        # Where the fix adds lines: the lines on both sides, and what comes between them.
        (ADDED, FLAWED.replace("a[n]", "(a[n])"), True),
        (ADDED, FLAWED.replace("y = 2", "y = (2)"), True),
        (ADDED, FLAWED.replace("    b =", "\n    b ="), True),
        (ADDED, FLAWED.replace("x = n", "x = (n)"), False),
        (REMOVED, FLAWED.replace("y = 2", "y = (2)"), True),
        (REMOVED, FLAWED.replace("a[n]", "(a[n])"), False),
        # The blanks of a line are no fix; those of an edit are an edit.
        (FLAWED.replace("    x", "  x"), FLAWED.replace("x = n", "x = (n)"), False),
        (REPLACED, FLAWED.replace("    b = a[n]", "    b  = a[n]"), True),
    ],
)
def test_an_edit_touches_a_fix_if_it_changes_moves_or_joins_a_line_of_it(
    other: str, edit: str, touched: bool
) -> None:
    assert touches_fix(FLAWED, other, edit) is touched

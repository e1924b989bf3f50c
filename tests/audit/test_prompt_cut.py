"""Where functions are cut, and where the cut is found again in what they were rewritten to."""

from dataclasses import replace

import pytest

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.prompt_cut import NO_FUNCTION, ONE_LINE, body_of, same_cut, shown, shown_part

HEAD = 'import os\n\n\ndef f(a, b):\n    """Say."""\n'
FOUR = f"{HEAD}    c = a + b\n    # double it\n    d = c * 2\n    for e in b:\n        d += e\n    return d\n"


def rest(source: str, share: float = 0.5) -> str:
    visible = shown_part(source, share)
    assert visible is not None
    assert source.startswith(visible)
    return source[len(visible) :]


@pytest.mark.parametrize(
    ("share", "first"),
    [
        (0.0, "    c = a + b"),
        (0.1, "    # double"),
        (0.5, "    for e"),
        (0.75, "    return"),
        (1.0, "    return"),
    ],
)
def test_the_cut_lies_before_the_line_of_a_statement(share: float, first: str) -> None:
    if share == 0.1:  # comments above a line belong to what is shown
        assert rest(FOUR, share).startswith("    d = c")
    else:
        assert rest(FOUR, share).startswith(first)


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("    return a\n", "    return a\n"),
        ('    """Say."""\n    return a\n', "    return a\n"),
        ("    a += 1; b += 1\n    return a\n", "    a += 1; b += 1\n    return a\n"),
        ("    a += 1; b += 1; return a\n", "    a += 1; b += 1; return a\n"),
        ("    é = 'é'\n    @staticmethod\n    def g(): pass\n    return é, g\n", None),
    ],
)
def test_statements_that_share_a_line_are_not_parted(body: str, left: str | None) -> None:
    ending = rest(f"def f(a, b):\n{body}")
    assert ending == (left if left is not None else body.partition("\n")[2])


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = 1\n", NO_FUNCTION),
        ("def f():\n    pass\n\n\nf()\n", NO_FUNCTION),
        ("", NO_FUNCTION),
        ('def f():\n    """Say."""\n', ONE_LINE),
    ],
)
def test_texts_that_are_not_cut(source: str, reason: str) -> None:
    assert body_of(source) == reason
    assert shown_part(source) is None


def test_a_body_on_the_line_of_its_head_is_not_cut() -> None:
    assert shown_part("def f(a): return a\n") is None


def test_nothing_is_cut_that_is_not_to_be() -> None:
    sample = raw_sample(FOUR, language="python", label=None, path="a.py", line=1)
    assert shown(sample, FOUR) == FOUR
    asked = replace(sample, asked=shown_part(FOUR) or "")
    assert shown(asked, FOUR) == asked.asked != FOUR


ASKED = shown_part(FOUR) or ""


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        ("c = a + b", "cc = a + b", None),
        ("    d = c * 2\n", "    d = c * 2\n    unused = 0\n", None),
        ("    c = a + b\n", "    if a:\n        pass\n    c = a + b\n", None),
        ('    """Say."""\n', "", None),
        ("    return d\n", "    return d\n    never = 1\n", "    for e in b:"),
        ("    return d\n", "    x = 0\n    y = d\n    return y\n", "    for e in b:"),
        ("    c = a + b\n", "    x = 0\n    c = a + b\n", None),
    ],
)
def test_the_cut_stays_between_the_statements_that_it_lay_between(
    old: str, new: str, left: str | None
) -> None:
    source = FOUR.replace(old, new)
    visible = same_cut(FOUR, ASKED, source)
    assert visible is not None
    assert source.startswith(visible)
    if left is None:
        assert source[len(visible) :] == FOUR[len(ASKED) :]
    else:
        assert visible == ASKED


def test_statements_added_on_both_sides_leave_the_cut_between_the_same_kinds() -> None:
    source = FOUR.replace("    c =", "    x = 0\n    c =").replace("    return d", "    y = 0\n    return d")
    visible = same_cut(FOUR, ASKED, source)
    assert visible is not None
    assert source[len(visible) :].startswith("    for e in b:")
    assert "x = 0" in visible


def test_another_order_leaves_as_many_statements() -> None:
    source = FOUR.replace("    # double it\n    d = c * 2\n", "").replace(
        "    return d", "    d = c * 2\n    return d"
    )
    visible = same_cut(FOUR, ASKED, source)
    assert visible is not None
    assert source[len(visible) :].startswith("    d = c * 2")


def test_a_cut_that_is_nowhere_any_more() -> None:
    assert same_cut(FOUR, ASKED, "def f(a, b):\n    with a:\n        return b\n") is None
    assert same_cut(FOUR, ASKED, "def f(a, b:\n") is None
    assert same_cut(FOUR, ASKED, "x = 1\n") is None

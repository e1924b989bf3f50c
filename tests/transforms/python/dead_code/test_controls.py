"""Insertions that look dead and are not."""

from codeaudit.transforms.python.dead_code.insertions import (
    EARLY_RETURN,
    LIVE_ASSIGNMENT,
    NO_EFFECT,
    NOTHING_READ,
    REACHABLE_BRANCH,
)
from tests.transforms.python.order.support import reasons, run, untouched, variants

SOURCE = "def f(a):\n    b = a + 1\n    print(b)\n    return b * 2\n"


def test_each_control_changes_what_is_seen() -> None:
    for rule, count in ((LIVE_ASSIGNMENT, 3), (REACHABLE_BRANCH, 3), (EARLY_RETURN, 3)):
        texts = variants(rule, SOURCE)
        assert len(texts) == count
        for text in texts:
            assert run(text, "f(1)") != run(SOURCE, "f(1)")


def test_what_is_inserted() -> None:
    assert "def f(a):\n    a = None\n    b = a + 1\n    print(b)\n    return b * 2\n" in variants(
        LIVE_ASSIGNMENT, SOURCE
    )
    assert "def f(a):\n    b = a + 1\n    print(b)\n    return\n    return b * 2\n" in variants(
        EARLY_RETURN, SOURCE
    )
    assert (
        "def f(a):\n    if True:\n        return\n    b = a + 1\n    print(b)\n    return b * 2\n"
        in variants(REACHABLE_BRANCH, SOURCE)
    )


def test_where_nothing_would_change() -> None:
    assert reasons(LIVE_ASSIGNMENT, "def f(a):\n    b = 1\n") == {NOTHING_READ}
    for rule in (EARLY_RETURN, REACHABLE_BRANCH):
        assert reasons(rule, "def f(a):\n    b = a\n    return\n") == {NO_EFFECT}
        late = "def f(a):\n    if a:\n        return 1\n    print(a)\n"
        assert len(variants(rule, late)) == 1
    assert untouched(LIVE_ASSIGNMENT, "def f(a):\n    return 1 if a else a\n")

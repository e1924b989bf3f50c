"""Unified diffs: made, undone, moved, and refused where they do not fit."""

import difflib
from random import Random

import pytest

from codeaudit.audit.corpora.defects4j import Misfit, applied, files_of

OLD = "".join(f"line {number}\n" for number in range(40))
NEW = OLD.replace("line 3\n", "line three\n").replace("line 30\n", "").replace("line 20\n", "line 20\nnew\n")


def patch(old: str = OLD, new: str = NEW, context: int = 3) -> str:
    lines = difflib.unified_diff(
        old.splitlines(keepends=True),
        new.splitlines(keepends=True),
        "a/src/A.java",
        "b/src/A.java",
        n=context,
    )
    return "diff --git a/src/A.java b/src/A.java\nindex 1..2 100644\n" + "".join(lines)


@pytest.mark.parametrize("context", [0, 1, 3])
def test_made_and_undone(context: int) -> None:
    hunks = files_of(patch(context=context))
    assert list(hunks) == ["src/A.java"]
    assert applied(OLD, hunks["src/A.java"]) == NEW
    assert applied(NEW, hunks["src/A.java"], back=True) == OLD


def test_random_changes() -> None:
    rng = Random(0)
    for _ in range(200):
        lines = [f"{number} {rng.random()}\n" for number in range(rng.randrange(1, 30))]
        changed = [line for line in lines if rng.random() > 0.1]
        for _ in range(rng.randrange(4)):
            changed.insert(rng.randrange(len(changed) + 1), f"new {rng.random()}\n")
        old, new = "".join(lines), "".join(changed)
        hunks = files_of(patch(old, new)).get("src/A.java", ())
        assert applied(old, hunks) == new
        assert applied(new, hunks, back=True) == old


def test_a_text_that_moved_is_found() -> None:
    (hunks,) = files_of(patch()).values()
    assert applied("more\nabove\n" + OLD, hunks) == "more\nabove\n" + NEW


def test_what_does_not_fit_is_refused() -> None:
    (hunks,) = files_of(patch()).values()
    with pytest.raises(Misfit):
        applied(OLD.replace("line 4\n", "other\n"), hunks)
    with pytest.raises(Misfit):
        applied("", hunks)


def test_several_files() -> None:
    both = patch() + patch().replace("A.java", "B.java")
    assert list(files_of(both)) == ["src/A.java", "src/B.java"]


def test_a_file_that_comes_or_goes_keeps_its_name() -> None:
    gone = "--- a/A.java\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    come = "--- /dev/null\n+++ b/B.java\n@@ -0,0 +1 @@\n+y\n"
    assert list(files_of(gone + come)) == ["A.java", "B.java"]
    assert applied("x\n", files_of(gone)["A.java"]) == ""

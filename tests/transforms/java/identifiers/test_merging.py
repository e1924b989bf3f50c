"""The control that merges two variables."""

from random import Random

import pytest

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.analysis.scopes import resolve
from codeaudit.transforms.java.identifiers.merging import RENAME_MERGING
from codeaudit.transforms.java.identifiers.rename import NOT_A_MOVE
from codeaudit.transforms.records import Evidence, Move
from codeaudit.transforms.renaming import NO_PAIR

MERGED: dict[str, tuple[str, str, Evidence]] = {
    "certain": (
        "int f(int a) { int b = a + 1; return a * b; }",
        "int f(int a) { a = a + 1; return a * a; }",
        "analysis",
    ),
    "between others": (
        "int f(int a) { int b = g(a); p(); b++; return a; }",
        "int f(int a) { a = g(a); p(); a++; return a; }",
        "analysis",
    ),
    "only on some way": (
        "int f(int a) { int b = g(a); if (c()) p(); return a + b; }",
        "int f(int a) { a = g(a); if (c()) p(); return a + a; }",
        "parsed",
    ),
    "behind a shortcut": (
        "boolean f(boolean a) { boolean b = g(a); return b && a; }",
        "boolean f(boolean a) { a = g(a); return a && a; }",
        "parsed",
    ),
}


@pytest.mark.parametrize(("before", "after", "evidence"), MERGED.values(), ids=MERGED)
def test_merged(before: str, after: str, evidence: Evidence) -> None:
    moves = RENAME_MERGING.propose(before, Random(0))
    assert isinstance(moves, tuple)
    assert RENAME_MERGING.apply(before, moves) == Rewritten(source=after, evidence=evidence)
    assert not any(binding.name == "b" for binding in resolve(after).bindings)


UNMERGED = {
    "other types": "long f(int a) { long b = a + 1; return a * b; }",
    "final": "int f(final int a) { int b = a + 1; return a * b; }",
    "captured": "int f(int a) { int b = a + 1; g(() -> a); return a * b; }",
    "never read again": "int f(int a) { int b = a + 1; return b; }",
    "the same value": "int f(int a) { int b = a; return a * b; }",
    "declared together": "int f(int a) { int b = a + 1, c = 2; return a * b; }",
    "no value": "int f(int a) { int b; b = 1; return a * b; }",
    "an array's elements": "int f(int[] a) { int[] b = {1}; return a[0] * b[0]; }",
    "inferred": "int f() { var a = 1; var b = 2; return a * b; }",
    "out of sight": "int f() { { int a = 1; } int b = 2; return a * b; }",
}


@pytest.mark.parametrize("source", UNMERGED.values(), ids=UNMERGED)
def test_unmerged(source: str) -> None:
    assert RENAME_MERGING.propose(source, Random(0)) == Refused(NO_PAIR)


def test_foreign_moves_are_refused() -> None:
    move = Move(kind="merge", site=0, value="b", note="")
    assert RENAME_MERGING.apply(MERGED["certain"][0], (move,)) == Refused(NOT_A_MOVE)

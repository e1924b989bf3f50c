"""Public test suites as judges of the engines: their directives are read, and a wrong edit is reported."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.c_running import needs_gcc

Script = Callable[[str], ModuleType]

MOVABLE = """/* { dg-do run } */
/* { dg-options "-std=gnu11 -DSIZE=3 -O2 -fdump-tree-all" } */
#include <stdio.h>
int main (void)
{
  int total = 1, other = 2;
  for (int i = 0; i < SIZE; i++)
    total = total * 2 + i;
  if (total > other) printf ("%d\\n", total);
  return 0;
}
"""


@pytest.fixture
def suites(script: Script) -> ModuleType:
    return script("soundness_suites")


def test_options_of_a_directive_are_read(suites: ModuleType) -> None:
    """Those that change what the program means; not the level, and nothing that writes files."""
    assert suites.CSuite().read(Path("a.c"), MOVABLE).options == ("-std=gnu11", "-DSIZE=3")


@pytest.mark.parametrize(
    ("language", "text", "reason"),
    [
        ("c", "/* { dg-do compile } */ int main (void) { return 0; }", "is not run"),
        ("c", "int f (void) { return 0; }", "no main"),
        ("java", "/* @compile A.java B.java */ class A { void main() {} }", "is not run alone"),
        ("javascript", "/*---\nnegative: {}\n---*/ x", "is not run alone"),
        ("javascript", "/*---\nincludes: [a.js]\n---*/ x", "needs --harness"),
    ],
)
def test_files_that_are_no_programs(suites: ModuleType, language: str, text: str, reason: str) -> None:
    with pytest.raises(suites.LeftOut, match=reason):
        suites.SUITES[language]().read(Path("a"), text)


@needs_gcc
def test_a_suite_is_judged(
    suites: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.c").write_text(MOVABLE)
    (tmp_path / "b.c").write_text("int main (void) { return 1; }")
    words = ["x", "c", str(tmp_path), "--jobs", "1", "--seeds", "0", "--keep", str(tmp_path / "kept")]
    monkeypatch.setattr(sys, "argv", words)
    assert suites.main() == 0
    counts = capsys.readouterr().out.split("\n")[:-1]
    assert [line.split(maxsplit=1) for line in counts] == [
        ["1", "left out: does not end well"],
        ["1", "programs"],
        ["1", "variants"],
    ]


@needs_gcc
def test_a_wrong_edit_is_told(suites: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.c"
    path.write_text(MOVABLE)
    wrong = MOVABLE.replace("* 2", "* 3")
    monkeypatch.setattr(suites, "rewritten", lambda program, names, seed, folder: wrong)
    outcome = suites.judged(path, suite=suites.CSuite(), names=["rename"], seeds=[0], keep=tmp_path)
    assert outcome.counts["different"] == 1
    assert outcome.different == [f"{path}, seed 0: rename"]
    assert (tmp_path / "a-0-after.c").read_text() == wrong

"""Statements put first into methods: every compiler takes them, wherever they stand, and they run first."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from codeaudit.audit.projects.probes.java import PROBES
from codeaudit.transforms.java.files import places
from codeaudit.transforms.java.witnesses import find

ALL = """\
import java.util.*;

public class All {
    final int x;
    All() { this(1); }
    All(int x) { this.x = x; }
    static class Sub extends All { Sub() { super(2); int y; y = 1; } }
    record Pair(int a) { Pair { if (a > 9) a = 9; } int twice() { return a * 2; } }
    enum Kind { ONE { int size() { return 1; } }; abstract int size(); }
    interface Sized { default int size() { return 3; } }
    static int sum(final int... all) { final int total; total = all.length; return total; }
    static void nothing() { }
    static int loops() { while (true) { } }
    static <T extends Throwable> void thrown(T error) throws T { throw error; }
    static int $codeaudit(int $codeaudit) { return $codeaudit; }

    static String told(java.util.concurrent.Callable<?> call) {
        try { return "" + call.call(); } catch (Throwable error) { return error.getMessage(); }
    }

    public static void main(String[] args) throws Exception {
        System.out.println(new Sub().x + new All().x + " " + new Pair(12).twice() + Kind.ONE.size() + sum(1, 2));
        nothing();
        System.out.println(new Sized() { }.size() + told(() -> { thrown(new Exception("e")); return 1; }));
    }
}
"""


def run(text: str, folder: Path) -> tuple[str, str]:
    """What a program prints, and what its probes note."""
    java, javac = shutil.which("java"), find()
    if java is None or javac is None:
        pytest.skip("no Java")
    classes, hits = folder / "classes", folder / "hits"
    assert javac.errors({"All.java": text}, classes=classes) == {}
    done = subprocess.run(
        [java, "-cp", str(classes), "All"],
        env={**os.environ, "_CODEAUDIT_HITS": str(hits)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stdout + done.stderr, hits.read_text() if hits.exists() else ""


@pytest.mark.slow
def test_units_that_run_are_noted_once_and_do_what_they_did(tmp_path: Path) -> None:
    names = [place.name for place in places(ALL) if place.name != "All.$codeaudit"]
    probed = PROBES.with_first(ALL.encode(), {name: PROBES.noting(n) for n, name in enumerate(names)})
    before, nothing = run(ALL, tmp_path / "before")
    after, noted = run(probed.decode(), tmp_path / "after")
    assert (after, nothing) == (before, "")
    numbers = [int(line) for line in noted.split()]
    assert len(numbers) == len(set(numbers))
    idle = {names[number] for number in set(range(len(names))) - set(numbers)}
    assert idle == {"All.loops", "All.Kind.size"}


@pytest.mark.slow
def test_every_unit_can_raise(tmp_path: Path) -> None:
    names = [place.name for place in places(ALL)]
    probed = PROBES.with_first(ALL.encode(), dict.fromkeys(names, PROBES.raising))
    assert probed.count(b"power check") == len(names) - 1  # one has no body
    assert "codeaudit power check" in run(probed.decode(), tmp_path)[0]


def test_what_cannot_be_read_is_left() -> None:
    assert PROBES.with_first(b"class A { int f( }", {"A.f": PROBES.raising}) == b"class A { int f( }"

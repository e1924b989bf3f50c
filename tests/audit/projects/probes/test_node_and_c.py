"""Statements put first into functions of JavaScript, TypeScript and C."""

import os
import subprocess
from pathlib import Path

import pytest

from codeaudit.audit.projects.probes.c import CPP_PROBES
from codeaudit.audit.projects.probes.c import PROBES as OF_C
from codeaudit.audit.projects.probes.javascript import JAVASCRIPT_PROBES, TYPESCRIPT_PROBES
from codeaudit.audit.projects.runner import tap_results
from tests.support.c_running import GCC, needs_gcc
from tests.support.javascript_running import NODE, needs_node

SCRIPT = b"""'use strict'
const f = (a) => ({ a }) // c
function g (a) {
  'use strict'
  return f(a)
}
class A { constructor () { this.b = 1 } }
class B extends A { constructor () { super(); this.c = 2 } h () { return this.b + this.c } }
function unused () {}
console.log(g(1), new B().h())
"""
PROGRAM = b"""#include <stdio.h>
static int g(int a) { int b = a; return b + 1; }
int unused(void) { return 0; }
int main(void) { int c = g(1); return c + g(2) - 5; }
"""


def run(words: list[str], hits: Path) -> tuple[str, str]:
    """What a program prints, and what its probes note."""
    env = {**os.environ, "_CODEAUDIT_HITS": str(hits)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False, timeout=60)
    return f"{done.returncode} {done.stdout}{done.stderr}", hits.read_text() if hits.exists() else ""


@needs_node
@pytest.mark.parametrize("ending", ["cjs", "mjs"])
def test_javascript(ending: str, tmp_path: Path) -> None:
    assert NODE is not None
    file = tmp_path / f"a.{ending}"
    names = ["f", "g", "A.constructor", "B.constructor", "B.h", "unused"]
    file.write_bytes(
        JAVASCRIPT_PROBES.with_first(SCRIPT, {n: JAVASCRIPT_PROBES.noting(i) for i, n in enumerate(names)})
    )
    printed, noted = run([NODE, str(file)], tmp_path / "hits")
    assert printed == "0 { a: 1 } 3\n"
    assert sorted(noted.split()) == ["0", "1", "2", "3", "4"]
    file.write_bytes(JAVASCRIPT_PROBES.with_first(SCRIPT, dict.fromkeys(names, JAVASCRIPT_PROBES.raising)))
    assert "codeaudit power check" in run([NODE, str(file)], tmp_path / "none")[0]
    assert b"{ throw" in TYPESCRIPT_PROBES.with_first(b"const f = <T,>(a: T): T => a;\n", {"f": "throw 1;"})


@needs_gcc
def test_c(tmp_path: Path) -> None:
    assert GCC is not None
    names = ["g", "unused", "main"]
    for statements in ({n: OF_C.noting(i) for i, n in enumerate(names)}, {"g": OF_C.raising}):
        (tmp_path / "a.c").write_bytes(OF_C.with_first(PROGRAM, statements))
        flags = ["-std=gnu89", "-Wall", "-Wextra", "-Wdeclaration-after-statement", "-Werror"]
        subprocess.run([GCC, *flags, "-o", "a", "a.c"], cwd=tmp_path, check=True)
        printed, noted = run([str(tmp_path / "a")], tmp_path / "hits")
    assert printed.startswith("-")
    assert sorted(noted.split()) == ["0", "2"]


@needs_gcc
def test_cpp(tmp_path: Path) -> None:
    text = (
        b"struct A { int n; A(int a) : n(a) { } ~A() { n = 0; } template <class T> int g(T b) { return n + b; } };\n"
        b"constexpr int k(int a) { return a; }\nint main() { A a(1); return a.g(2) + k(3) - 6; }\n"
    )
    names = ["A", "~A", "g", "k", "main"]
    made = CPP_PROBES.with_first(text, {n: CPP_PROBES.noting(i) for i, n in enumerate(names)})
    assert noted_cpp({"a.cpp": made}, tmp_path) == ["0", "1", "2", "4"]


@needs_gcc
def test_templates_of_headers(tmp_path: Path) -> None:
    """Functions whose only probes stand in templates, in a header that two files include."""
    header = (
        b"#ifndef H\n#define H\nnamespace n { template <class T> struct S { T f(T a) { return a; } };\n"
        b"template <class T> T g(T a) { return a; } }\n#endif\n"
    )
    noted = {n: CPP_PROBES.noting(i) for i, n in enumerate(["f", "g"])}
    files = {
        "a.h": CPP_PROBES.with_first(header, noted),
        "b.cpp": b'#include "a.h"\nint h() { return n::g(2); }\n',
        "a.cpp": CPP_PROBES.with_first(
            b'#include "a.h"\nint h();\nint main() { return n::S<int>().f(1) + h() - 3 + __LINE__ - 3; }\n',
            {"main": CPP_PROBES.noting(2)},
        ),
    }
    assert noted_cpp(files, tmp_path, "-Wredundant-decls") == ["0", "1", "2"]


def noted_cpp(files: dict[str, bytes], folder: Path, *flags: str) -> list[str]:
    """The sorted numbers that the program of these files notes."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    sources = [name for name in files if name.endswith(".cpp")]
    words = ["g++", "-std=c++11", "-Wall", "-Werror", *flags, "-o", "a", *sources]
    subprocess.run(words, cwd=folder, check=True)
    printed, noted = run([str(folder / "a")], folder / "hits")
    assert printed == "0 "
    return sorted(noted.split())


def test_lines_of_the_test_anything_protocol() -> None:
    output = (
        "TAP version 13\n# first\nok 1 equal\nok 2 equal\nnot ok 3 other\n  ---\n    at: a.js:3:1\n  ...\n# second\n"
        "    ok 1 - inner # SKIP no net\nok 4 - equal # time=1ms\n1..4\n# tests 4\n"
    )
    results = tap_results(output)
    assert {name: result.state for name, result in results.items()} == {
        "first::equal": "passed",
        "first::equal#2": "passed",
        "first::other": "failed",
        "second::inner": "skipped",
        "second::equal": "passed",
    }
    assert "a.js:3:1" in results["first::other"].text
    assert tap_results("ok then\n") == {}

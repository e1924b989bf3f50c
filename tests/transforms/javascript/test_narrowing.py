"""What TypeScript's compiler concludes from conditions, literals and returns: edits leave it as it is.

With `tsc` on the path (npm's `typescript`), every transform rewrites a file of all such forms, and the compiler
finds no error in it.
"""

import shutil
import subprocess
from pathlib import Path
from random import Random
from typing import Final

import pytest

from codeaudit.transforms.interface import Refused, Transform
from codeaudit.transforms.javascript.files import TYPESCRIPT_FILES
from codeaudit.transforms.javascript.narrowing import (
    ASSERTS,
    MARKED,
    NARROWS,
    PRIVATE,
    REACHES,
    RESULT,
    WIDENS,
)
from codeaudit.transforms.javascript.typescript import TYPESCRIPT
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.source_files import TransformSeries, perturb_file
from codeaudit.transforms.strategies.declarations import OTHER_SENSE

TSC: Final = shutil.which("tsc")
FORMS: Final = Path(__file__).parent / "typed_forms.ts"
NAMES: Final = [name for name, entry in TYPESCRIPT.transforms.items() if entry.kind == "preserving"]

CASES: Final = (
    ("not-to-ternary", "if (!(typeof a === 'b')) return 1; return a;", NARROWS),
    ("not-to-ternary", "if (!(a < 2)) return 1; return a;", None),
    ("not-to-ternary", "const c = typeof a === 'b'; if (!c) return 1; return a;", NARROWS),
    ("not-to-ternary", "if (!g(a)) return 1; return 2;", None),
    ("not-to-ternary", "while (a) { g(a); if (!a) break; }", NARROWS),
    ("not-to-ternary", "return g(a === !0);", REACHES),
    ("not-to-ternary", "const { b, c } = a; if (!(b === 'd')) return 1; return c;", NARROWS),
    ("not-to-ternary", "const { b, c } = a; if (!(b === 'd')) return 1; return 2;", None),
    ("not-to-ternary", "if (!(a === 'b')) return 1; return { a };", NARROWS),
    ("not-to-ternary", "return !(a === 1);", NARROWS),
    ("not-to-ternary", "return (b): boolean => !(b === 1);", None),
    ("not-to-ternary", "const c = !(a === 1); return c && g(1);", NARROWS),
    ("not-to-ternary", "const c = !(a === 1); return c + 1;", None),
    ("double-negation", "while (true) { g(a); }", REACHES),
    ("double-negation", "while (a) { g(a); }", None),
    ("bool-literals", "const c = true as const; return c;", WIDENS),
    ("bool-literals", "return g(true);", None),
    ("bool-literals", "switch (true) { case g(a): return a; }", NARROWS),
    ("bool-literals", "switch (a) { case true: return a; }", None),
    ("insert-parentheses", "if (typeof a === 'b') g(a);", NARROWS),
    ("const-and-let", "const c = 'b'; return c;", WIDENS),
    ("const-and-let", "const c = 1 + 2; return c;", None),
    ("const-and-let", "const c = a === 1; return c;", NARROWS),
    ("const-and-let", "const c: string = g(); return c;", None),
    ("const-and-let", "const c = [a]; return () => c;", WIDENS),
    ("member-to-item", "a.b.c(1);", ASSERTS),
    ("member-to-item", "return a.b;", None),
    ("member-to-item", "if (!a.b()) return 1; return a;", NARROWS),
    ("member-to-item", "if (!a.b()) return 1; return 2;", None),
    ("member-to-item", "const c = a.b(); if (c) return a; return 2;", NARROWS),
    ("member-to-item", "const c = a.b(); return g(c, a);", None),
    ("item-to-member", "return a['b'];", PRIVATE),
    ("return-void", "return;", RESULT),
    ("return-void", "if (a) return; return 1;", None),
    ("split-initialisers", "var c = a < 1; return c;", None),
    ("split-initialisers", "var c = a < 1; var c = a > 2; return c;", OTHER_SENSE),
    ("split-initialisers", "var a = 1; return a;", OTHER_SENSE),
    ("join-initialisers", "var a; a = 1; return a;", OTHER_SENSE),
    ("indentation", "// @ts-ignore\n    return a.b;", MARKED),
)
"""Transforms, bodies of a function, and why the edit is refused; `None` where it is made."""


@pytest.mark.parametrize(("name", "body", "reason"), CASES)
def test_edits_that_the_compiler_does_not_follow(name: str, body: str, reason: str | None) -> None:
    source = f"function f(a) {{\n    {body}\n}}"
    moves = transform_for(name, "typescript").propose(source, Random(0))
    assert reason == (moves.reason if isinstance(moves, Refused) else None)


@pytest.mark.parametrize(
    ("head", "may"),
    [
        ("f(a): number", False),
        ("f(a): void", True),
        ("f(a): Promise<void>", True),
        ("f(a): number | undefined", True),
        ("f(a): asserts a is B", True),
        ("f(a): (b: any) => C", False),
        ("f(a)", True),
    ],
)
def test_a_jump_at_the_end_needs_a_type_that_allows_it(head: str, may: bool) -> None:
    source = f"function {head} {{\n    g(a);\n}}"
    moves = transform_for("redundant-jumps", "typescript").propose(source, Random(0))
    assert isinstance(moves, Refused) != may


@pytest.mark.slow
@pytest.mark.skipif(TSC is None, reason="no tsc on the path")
def test_the_compiler_finds_no_error_after_any_transform(tmp_path: Path) -> None:
    assert TSC is not None
    data, applied = FORMS.read_bytes(), 0
    series: dict[str, tuple[Transform, ...]] = {name: (transform_for(name, "typescript"),) for name in NAMES}
    every = tuple(rule for rules in series.values() for rule in rules)
    series |= {"in-turn": every, "turned-round": every[::-1]}
    for name, rules in series.items():
        edited = perturb_file(TYPESCRIPT_FILES, data, FORMS.name, TransformSeries(transforms=rules, seed=1))
        applied += edited.data != data
        (tmp_path / f"{name}.ts").write_bytes(edited.data)
    files = sorted(path.name for path in tmp_path.iterdir())
    done = subprocess.run(
        [TSC, "--strict", "--noEmit", "--target", "es2022", *files],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.returncode) == ("", 0)
    assert applied > 45

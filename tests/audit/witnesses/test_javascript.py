"""Functions of JavaScript and TypeScript run beside their variants."""

import re
from pathlib import Path

import pytest

from codeaudit.audit.evidence_check import BehavesDifferently, BehavesSame, Undecided
from codeaudit.audit.languages import audit_of
from codeaudit.audit.witnesses import javascript
from codeaudit.cli.main import main
from codeaudit.transforms.javascript.types import find_compiler
from codeaudit.transforms.records import Origin, Perturbed, Sample
from tests.support.javascript_running import needs_node

SAME = "same"
DIFFERENT = "different"
CASES = (
    ("function f(a, b) { return a - b; }", "function f(b, a) { return b - a; }", SAME),
    ("function f(a, b) { return a - b; }", "function f(a, b) { return b - a; }", DIFFERENT),
    ("const f = async (n) => (n < 1 ? 0 : n + await f(n - 1));", "const f = async (n) => (n < 1 ? 0 : n - await f(n - 1));", DIFFERENT),
    ("m(list) { for (const one of list) this.add(one); }", "m(list) { for (const one of list) { this.add(one); } }", SAME),
    ("m(list) { for (const one of list) this.add(one); }", "m(list) { for (const one of list) { } }", DIFFERENT),
    ("function* f(a) { yield a; yield 1; }", "function* f(a) { yield 1; yield a; }", DIFFERENT),
    ("function f(o) { o.a = 1; show(o); }", "function f(o) { show(o); o.a = 1; }", DIFFERENT),
    ("function f(a) { throw new Error('a'); }", "function f(a) { throw new Error('b'); }", javascript.NO_INPUT),
    ("function f(a) { return OUTSIDE + a; }", "function f(a) { return a + OUTSIDE; }", javascript.NOT_ALONE),
    ("function f(a) { while (true) { } }", "function f(a) { for (;;) { } }", javascript.NOT_ALONE),
    ("class A { constructor() { } }", "class A { constructor() { 1; } }", javascript.NOT_ALONE),
)  # fmt: skip
TYPED = (
    ("function f(a: number, b?: number): number { return a - (b as number); }", "function f(a: number, b?: number): number { return (b as number) - a; }", DIFFERENT),
    ("private m<T>(list: T[]): T { return list[0]!; }", "private m<T>(list: T[]): T { return (list[0]!); }", SAME),
)  # fmt: skip


def judged(language: str, cases: tuple[tuple[str, str, str], ...]) -> list[str]:
    """What the witness finds."""
    origin = Origin(path="-", line=1)
    variants = []
    for number, (before, after, _) in enumerate(cases):
        sample = Sample(id=str(number), language=language, source=before, label=None, origin=origin)
        made = Perturbed(
            sample=sample, transform="-", kind="control", variant=0, source=after, moves=(), evidence="none"
        )
        variants.append(made)
    outcomes = []
    with javascript._sandbox(language).judging() as judge:
        for finding in judge(variants):
            match finding:
                case BehavesSame("executed"):
                    outcomes.append(SAME)
                case BehavesDifferently("executed"):
                    outcomes.append(DIFFERENT)
                case Undecided(reason):
                    outcomes.append(reason)
    return outcomes


@needs_node
def test_functions_run_beside_their_variants() -> None:
    assert audit_of("javascript").witness
    assert judged("javascript", CASES) == [expected for *_, expected in CASES]


@needs_node
@pytest.mark.skipif(find_compiler() is None, reason="TypeScript is not installed")
def test_functions_of_typescript_run_without_their_types() -> None:
    assert judged("typescript", TYPED) == [expected for *_, expected in TYPED]


@needs_node
def test_without_a_compiler_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(javascript, "find_compiler", lambda: None)
    monkeypatch.setattr(javascript, "_STRIPS", (99, 0))
    sandbox = javascript._sandbox("typescript")
    assert [line.partition(":")[0] for line in sandbox.missing] == ["nothing erases the types of TypeScript"]
    assert set(judged("typescript", TYPED)) == {sandbox.missing[0]}


@needs_node
def test_a_variant_that_nothing_could_run_is_not_counted_as_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(javascript, "find_compiler", lambda: None)
    monkeypatch.setattr(javascript, "_STRIPS", (99, 0))
    monkeypatch.chdir(tmp_path)
    Path("a.ts").write_text(
        "function f(a: number) {\n  const b = a + 1;\n  const c = b;\n  return b + c;\n}\n"
    )
    options = "--transform rename --variants 2 --no-controls --execute --out out"
    assert main(["run", "--corpus", "a.ts", "--model", "fake/length", *options.split()]) == 0
    message = capsys.readouterr().err
    assert re.search(r"judged 0 of \d+ variants \(tool node", message)
    assert "node 22.13 or newer; --execute goes on without it" in message

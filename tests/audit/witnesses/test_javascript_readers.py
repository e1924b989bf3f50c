"""Readers that are not ours see the same in a variant of JavaScript or TypeScript, or it is refused."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from codeaudit.audit.evidence_check import BehavesDifferently, BehavesSame, FindingCounts, Undecided, confirm
from codeaudit.audit.witnesses import javascript_readers
from codeaudit.audit.witnesses.javascript_readers import (
    NOT_PARSED,
    OTHER_DIAGNOSTICS,
    OTHER_NAMES,
    OTHER_TREE,
    TOO_NEW,
    UNREAD,
    reading,
)
from codeaudit.transforms.interface import Rewritten
from codeaudit.transforms.javascript.types import find_compiler
from codeaudit.transforms.records import Move, NotApplied, Origin, Perturbed, Sample
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.seeding import stream
from tests.support.javascript_running import needs_node

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="TypeScript is not installed")
SAME = "parsed"
ANY = ""

RENAMED = (
    ("function f(a) { let b = a; return { b }; }", "function f(a) { let c = a; return { b: c }; }", SAME),
    ("function f({ a, ...b }) { return [a, b]; }", "function f({ a: c, ...d }) { return [c, d]; }", SAME),
    ("function f(o, a) { ({ a } = o); return a; }", "function f(o, c) { ({ a: c } = o); return c; }", SAME),
    ("function f(o, a) { ({ a = 1 } = o); return a; }", "function f(o, c) { ({ a: c = 1 } = o); return c; }", SAME),
    ("m(a) { x: for (const b of a) { break x; } }", "m(a) { y: for (const c of a) { break y; } }", SAME),
    ("m(a) { x: for (;;) { y: for (;;) { break x; } } }", "m(a) { x: for (;;) { y: for (;;) { break y; } } }", OTHER_TREE),
    ("function f(a) { let b = 1; return a + b; }", "function f(a) { let c = 1; return a + a; }", OTHER_TREE),
    ("function f(a) { let b = 1; return () => a + b; }", "function f(a) { let c = 1; return () => a + b; }", OTHER_TREE),
    ("function f(a) { { let b = 1; g(a, b); } }", "function f(a) { { let a = 1; g(a, a); } }", OTHER_TREE),
    ("function f(a) { for (let b of a) g(b); return b; }", "function f(a) { for (let c of a) g(c); return c; }", OTHER_TREE),
    ("function f(a) { try { a(); } catch (b) { g(b); } return b; }", "function f(a) { try { a(); } catch (c) { g(c); } return b; }", SAME),
    ("function f(a) { if (a) { var b = 1; } return b; }", "function f(a) { if (a) { var c = 1; } return c; }", SAME),
    ("function f(a) { const b = () => 1; return b; }", "function f(a) { const c = () => 1; return c; }", OTHER_TREE),
    ("function f(a) { const b = function g() { }; return b; }", "function f(a) { const c = function g() { }; return c; }", SAME),
    ("function f(a) { let b; b = class { }; return b; }", "function f(a) { let c; c = class { }; return c; }", OTHER_TREE),
    ("function f(a) { return a.b; }", "function f(a) { return a.c; }", OTHER_TREE),
    ("function f(a) { return new.target ? a : outside; }", "function f(b) { return new.target ? b : outside; }", SAME),
    ("function f(a) { return outside + a; }", "function f(outside) { return outside + outside; }", OTHER_TREE),
    ("class A { static { let a = 1; g(a); } }", "class A { static { let b = 1; g(b); } }", SAME),
    ("async function f(a) { for await (const b of a) g(await b); }", "async function f(a) { for await (const c of a) g(await c); }", SAME),
    ("export const f = (a = 1, b = a) => a / b;", "export const f = (c = 1, d = c) => c / d;", SAME),
    ("function f(a) { return import(a); }", "function f(b) { return import(b); }", SAME),
    ("function f(a) { return import(a); }", "function f(b) { return import(a); }", OTHER_TREE),
    ("function f() { { function g() {} } return g(); }", "function f() { { function h() {} } return g(); }", OTHER_TREE),
    ("function f(a) { { function g() {} g(); } return a; }", "function f(b) { { function h() {} h(); } return b; }", SAME),
    # A text and an object have names that no reader knows.
    ("function f(a) { return eval('a'); }", "function f(b) { return eval('a'); }", OTHER_NAMES),
    ("function f(a, o) { with (o) { return a; } }", "function f(b, o) { with (o) { return b; } }", OTHER_NAMES),
)  # fmt: skip
OTHERS = (
    ("order", "function f() { let a = 1; let b = 2; g(a, b); }", "function f() { let b = 2; let a = 1; g(a, b); }", SAME),
    ("order", "function f() { let a = 1; let b = 2; g(a, b); }", "function f() { let b = 2; let a = 2; g(a, b); }", OTHER_TREE),
    ("order", "function f(a) { if (a) { g(); } h(); }", "function f(a) { if (a) { h(); } g(); }", OTHER_TREE),
    ("layout", "function f(a) { return a; }", "function f(a) {\n  return a; // a\n}", SAME),
    ("layout", "function f(a) { return a; }", "function f(a) { return (a, a); }", ANY),
    ("layout", "function f(a) { return a; }", "function f(a) { return a a; }", NOT_PARSED),
    ("layout", "m(a) { super.m(a); }", "m(a) { super(a); }", NOT_PARSED),
    ("layout", "export function f() { return import.meta; }", "export function f() { return import.meto; }", NOT_PARSED),
    ("layout", "function f() { return a ?? b; }", "function f() { return a ?? b || c; }", NOT_PARSED),
    ("rename", "function f() { return @@ }", "function f() { return @@ }", TOO_NEW),
)  # fmt: skip
TYPED = (
    ("rename", "function f(a: unknown): a is string { return typeof a === 's'; }", "function f(b: unknown): b is string { return typeof b === 's'; }", SAME),
    ("rename", "function f(a: unknown): a is string { return typeof a === 's'; }", "function f(b: unknown): a is string { return typeof b === 's'; }", OTHER_TREE),
    ("rename", "const f = <T,>(a: T): T => { const { b } = a as any; return b; };", "const f = <T,>(a: T): T => { const { b: c } = a as any; return c; };", SAME),
    ("rename", "function f(A: any) { return <A b={A} {...A}>{A}<A.c/></A>; }", "function f(B: any) { return <B b={B} {...B}>{B}<B.c/></B>; }", SAME),
    ("rename", "function f(A: any) { return <A/>; }", "function f(b: any) { return <b/>; }", OTHER_TREE),
    ("rename", "function f(a: any) { return <a.b/>; }", "function f(c: any) { return <c.b/>; }", SAME),
    ("rename", "function f(a: any) { return <a/>; }", "function f(c: any) { return <c/>; }", OTHER_TREE),
    ("order", "function f(): number { const a: 1 = 1; let b = 2; return a + b; }", "function f(): number { let b = 2; const a: 1 = 1; return a + b; }", SAME),
    ("layout", "function f(a: string | null) { if (a === null) return 0; return a.length; }", "function f(a: string | null) { if (null === a) { } return a.length; }", OTHER_DIAGNOSTICS),
    ("layout", "m(): number { return this.a.b; }", 'm(): number { return this["a"].b; }', ANY),
    ("rename", "function f(first: number) { return missing(first); }", "function f(missin: number) { return missing(missin); }", SAME),
)  # fmt: skip
JSX = (
    ("rename", "function f(A, a) { return <A b={a} {...a}>a{a}<a.b/><a/></A>; }", "function f(A, c) { return <A b={c} {...c}>a{c}<c.b/><a/></A>; }", SAME),
    ("rename", "function f(A) { return <A/>; }", "function f(a) { return <a/>; }", OTHER_TREE),
    ("rename", "function f(A) { return <><A b='A'/></>; }", "function f(B) { return <><B b='B'/></>; }", OTHER_TREE),
)  # fmt: skip


def variant(language: str, kind: str, before: str, after: str, context: str = "") -> Perturbed:
    """A variant whose moves are of one kind."""
    origin = Origin(path="-", line=1)
    sample = Sample(id="-", language=language, source=before, label=None, origin=origin, context=context)
    return Perturbed(
        sample=sample, transform="-", kind="preserving", variant=0, source=after, evidence="analysis",
        moves=(Move(kind=kind, site=0, value=(0,), note=""),),
    )  # fmt: skip


def told(language: str, variants: Sequence[Perturbed]) -> list[str]:
    """What the readers find of each: why it is refused, else the evidence, else why nothing is known."""
    outcomes = []
    with reading(language) as read:
        for findings in read(variants):
            refused = [each.reason for each in findings if isinstance(each, BehavesDifferently)]
            same = [each.evidence for each in findings if isinstance(each, BehavesSame)]
            open_ = [
                each.reason for each in findings if isinstance(each, Undecided) and each.reason != UNREAD
            ]
            outcomes.append([*refused, *same, *open_, ANY][0])
    return outcomes


@needs_node
def test_a_renamed_function_has_the_tree_of_its_original_to_acorn() -> None:
    cases = [variant("javascript", "rename", before, after) for before, after, _ in RENAMED]
    assert told("javascript", cases) == [expected for *_, expected in RENAMED]


@needs_node
def test_nodes_parser_takes_what_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(javascript_readers, "find_compiler", lambda: None)
    monkeypatch.setattr(javascript_readers, "resolved_again", lambda *_: True)
    cases = [variant("javascript", kind, before, after) for kind, before, after, _ in OTHERS]
    expected = [reason for *_, reason in OTHERS]
    assert told("javascript", cases) == expected


@needs_node
def test_without_a_second_reader_our_rules_resolve_both_texts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(javascript_readers, "find_compiler", lambda: None)
    before = "function f(a: number) { let b = a; return { b }; }"
    rule = transform_for("rename", "typescript")
    moves = rule.propose(before, stream(0, "-"))
    assert isinstance(moves, tuple)
    applied = rule.apply(before, moves)
    assert isinstance(applied, Rewritten)
    bad = applied.source.replace("b:", "c:")
    assert applied.source != bad
    made = replace(variant("typescript", "rename", before, bad), moves=moves)
    cases = [replace(made, source=applied.source), made]
    assert told("typescript", cases) == [ANY, OTHER_NAMES]


@needs_node
@needs_compiler
def test_the_compiler_reads_typescript_and_elements() -> None:
    cases = [variant("typescript", kind, before, after) for kind, before, after, _ in TYPED]
    assert told("typescript", cases) == [expected for *_, expected in TYPED]
    cases = [variant("javascript", kind, before, after) for kind, before, after, _ in JSX]
    assert told("javascript", cases) == [expected for *_, expected in JSX]


@needs_node
@needs_compiler
def test_types_of_the_file_count() -> None:
    before, after = "function f(a: T) { return a.b; }", "function f(a: T) { return a.c; }"
    file = f"type T = {{ b: number }};\n{before}\n"
    assert told("typescript", [variant("typescript", "layout", before, after)]) == [ANY]
    assert told("typescript", [variant("typescript", "layout", before, after, file)]) == [OTHER_DIAGNOSTICS]


def test_a_refusal_is_counted_with_its_reason() -> None:
    counts = FindingCounts()
    made = variant("javascript", "rename", "a", "b")
    outcome = confirm(made, BehavesDifferently("parsed", OTHER_TREE), counts)
    assert isinstance(outcome, NotApplied)
    assert outcome.reason == OTHER_TREE
    assert counts.broken == {("-", OTHER_TREE): 1}


@needs_node
def test_a_process_that_ends_leaves_variants_undecided(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "ends.js"
    program.write_text("process.stdout.write('ready\\n');", encoding="utf-8")
    monkeypatch.setattr(javascript_readers, "_PROGRAM", program)
    assert told("javascript", [variant("javascript", "layout", "function f() { }", "function f() {}")]) == [
        TOO_NEW
    ]

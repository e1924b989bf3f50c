"""TypeScript: what its types mean for names, and that every transform of JavaScript holds there."""

import re
from random import Random
from typing import Final

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten, Transform
from codeaudit.transforms.javascript.analysis import scopes
from codeaudit.transforms.javascript.analysis.scopes import DYNAMIC, NAMESPACE
from codeaudit.transforms.javascript.identifiers.rename import JavaScriptRename
from codeaudit.transforms.javascript.language import JAVASCRIPT
from codeaudit.transforms.javascript.parsing import read, read_unit, statements, statements_of_typescript
from codeaudit.transforms.javascript.typescript import TYPESCRIPT
from codeaudit.transforms.registry import transform_for
from tests.support.javascript_running import needs_node, outputs
from tests.transforms.javascript import random_control_flow, random_programs
from tests.transforms.javascript.typed_programs import erased, typed

NAMES: Final = [
    name
    for name, entry in TYPESCRIPT.transforms.items()
    if entry.kind == "preserving" and name != "remove-comments"  # the marks of what is erased are comments
]


def made(name: str, source: str, seed: int = 0) -> set[str]:
    """The texts that a transform makes of a function with all of its moves and with some."""
    rule: Transform = transform_for(name, "typescript")
    moves = rule.propose(source, Random(seed))
    if isinstance(moves, Refused):
        return set()
    results = [rule.apply(source, some) for some in (moves, moves[:1], moves[1::2]) if some]
    # Half of an exchange of names is none.
    assert all(isinstance(edit, Rewritten) for edit in results) or name == "rename-shuffle", (
        name,
        results,
        source,
    )
    return {edit.source for edit in results if isinstance(edit, Rewritten)} - {source}


def renamed(source: str) -> str:
    """A function with canonical names for all that may be renamed, parameters included where there are some."""
    for parameters in (True, False):
        rule = JavaScriptRename(
            name="rename-canonical", strategy="canonical", parameters=parameters, language="typescript"
        )
        moves = rule.propose(source, Random(0))
        if not isinstance(moves, Refused):
            rewritten = rule.apply(source, moves)
            return rewritten.source if isinstance(rewritten, Rewritten) else rewritten.reason
    return moves.reason


RENAMED: Final = (
    ("function f(a: number): a is string { return typeof a; }", "function f(v0: number): v0 is string { return typeof v0; }"),
    ("function f(a: any): asserts a is A.B { }", "function f(v0: any): asserts v0 is A.B { }"),
    ("function f(a: any): asserts a { }", "function f(v0: any): asserts v0 { }"),
    ("function f(a: A, b: typeof a.c) { let d: typeof b; }", "function f(v0: A, v1: typeof v0.c) { let v2: typeof v1; }"),
    ("function f(this: A, a?: B, ...r: C[]) { return this; }", "function f(this: A, v0?: B, ...v1: C[]) { return this; }"),
    ("function f<T extends typeof a>(a: T) { return a; }", "function f<T extends typeof a>(v0: T) { return v0; }"),
    ("function f({ a, b = 1 }: { a: A; b?: B } = {}) { return { a, b }; }",
     "function f({ a: v0, b: v1 = 1 }: { a: A; b?: B } = {}) { return { a: v0, b: v1 }; }"),
    ("function f(a: any) { (a as any) = 1; a! = 2; (<any>a) = 3; return a satisfies B; }",
     "function f(v0: any) { (v0 as any) = 1; v0! = 2; (<any>v0) = 3; return v0 satisfies B; }"),
    ("function f() { let a: [b: B, c?: C], b = 1; return b; }", "function f() { let v0: [b: B, c?: C], v1 = 1; return v1; }"),
    ("function f() { let b = 1; let a: { [b: string]: B; b(c: b2): b2; [b]: 1 }; }",
     "function f() { let v0 = 1; let v1: { [b: string]: B; b(c: b2): b2; [v0]: 1 }; }"),
    ("function f() { let b = 1; let a: (b: B) => b is C; return b; }",
     "function f() { let v0 = 1; let v1: (b: B) => b is C; return v0; }"),
    ("const f = <T,>(a: T) => { return <b>{a}</b>; };", "const f = <T,>(v0: T) => { return <b>{v0}</b>; };"),
    ("m(@g(a) b: A, a: typeof b) { return a; }", "m(@g(a) b: A, v0: typeof b) { return v0; }"),
    ("private async m<T>(a: T): Promise<T> { return g<T>(a); }", "private async m<T>(v0: T): Promise<T> { return g<T>(v0); }"),
    ("function f() { try { } catch (e: unknown) { return e; } }", "function f() { try { } catch (v0: unknown) { return v0; } }"),
    ("private readonly f = (a: A): A => { return a; };", "private readonly f = (v0: A): A => { return v0; };"),
    ("function f() { const g = (() => 1) as any, h = 1; return g.name; }",
     "function f() { const g = (() => 1) as any, v0 = 1; return g.name; }"),
)  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), RENAMED)
def test_names_in_types(source: str, expected: str) -> None:
    assert renamed(source) == expected


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("constructor(private n: number) { this.m = n; }", scopes.PROPERTY),
        ("constructor(readonly n: number) { this.m = n; }", scopes.PROPERTY),
        ("constructor(override n: number) { this.m = n; }", scopes.PROPERTY),
        ("get(@Path() n: number) { this.m = n; }", scopes.DECORATED),
        ("function f(a: A) { enum E { A, B = A } return E.A; }", scopes.OF_FUNCTION),
        ("function f(A: number) { enum E { A, B = A } return E.B; }", scopes.IN_ENUM),
        ("function f(a: number) { let b: a.T; }", scopes.OF_TYPE),
        ("function f(a: number) { return g<a>(1); }", scopes.OF_TYPE),
        ("function f(a: number) { namespace N { export const a = 1; } return a; }", NAMESPACE),
        ("function f(a: number) { declare const b: number; return a; }", NAMESPACE),
        ("function f(a: number) { return eval('a') as any; }", DYNAMIC),
    ],
)
def test_what_is_not_certain_keeps_its_name(source: str, reason: str) -> None:
    rule = transform_for("rename-parameters", "typescript")
    moves = rule.propose(source, Random(0))
    if isinstance(moves, Refused):
        assert moves.reason == reason
    else:
        resolved = scopes.resolve(source, "typescript")
        assert reason in {binding.doubt for binding in resolved.bindings}


def test_overloads_are_one_function() -> None:
    source = "function f(a: number) { function g(b: A): B; function g(b: any) { return b; } return g(a); }"
    resolved = scopes.resolve(source, "typescript")
    assert [
        (binding.doubt, len(binding.occurrences)) for binding in resolved.bindings if binding.name == "g"
    ] == [(scopes.OF_FUNCTION, 3)]


@pytest.mark.parametrize("end", ["", ";"])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_comes_between_the_heads_of_an_overload(name: str, end: str) -> None:
    heads = f"    function g(b: string): string{end}\n    function g(b: number): number{end}\n    function g("
    source = (
        f"function f(a: number) {{\n    let c = a;\n{heads}b: any): any {{\n        return b;\n    }}\n"
        "    c += 1;\n    return g(c);\n}\n"
    )
    texts = {text for seed in range(4) for text in made(name, source, seed)}
    for text in texts:
        code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
        assert len(re.findall(r"function g\s*\([^()]*\)\s*:\s*\w+\s*;?\s*(?=function g\b)", code)) == 2, text


def test_a_text_that_means_two_things_is_not_read() -> None:
    for text in ("let a = <b>c</b>/d.length;", "let a = <b>c</b>/d/e;"):
        with pytest.raises(SourceError, match=r"two things in \.ts and in \.tsx"):
            read(text, "typescript")
    read("let a = <T,>(b: T) => b;", "typescript")
    read("let a = <T extends B>(b: T) => b;", "typescript")
    read("let a = <T>(b: T) => b;", "typescript")
    assert read_unit("f = (a: A) => <B>a;", "typescript")[1].name == "f"
    with pytest.raises(SourceError, match="not valid TypeScript: line 1"):
        read("let a: = 1;", "typescript")
    with pytest.raises(SourceError):
        read("let a: number = 1;")


def test_statements_are_counted() -> None:
    assert statements_of_typescript("function f(a: A) { let b = a!; if (b) { return b as C; } }") == 3
    assert statements("function f(a: A) { }") is None


def test_every_transform_of_javascript_is_one_of_typescript() -> None:
    assert TYPESCRIPT.transforms.keys() == JAVASCRIPT.transforms.keys()
    for name, entry in TYPESCRIPT.transforms.items():
        rule = transform_for(name, "typescript")
        assert rule.languages == {"typescript"}
        assert rule.name == name
        assert entry.example != JAVASCRIPT.transforms[name].example
        assert transform_for(name, "javascript") is not rule
        assert transform_for(name, "typescript") is rule
        assert not isinstance(rule.propose(entry.example, Random(0)), Refused)


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize(
    "seeds", [range(6), pytest.param(range(6, 10), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_random_functions_do_what_they_did(seeds: range) -> None:
    pairs: list[tuple[str, str, str]] = []
    for seed in seeds:
        family = "identifiers" if seed % 2 else "control-flow"
        written = random_programs if seed % 2 else random_control_flow
        plain, calls = written.program(seed)
        source = typed(plain, seed)
        assert erased(source) == plain
        for name in NAMES:
            if (TYPESCRIPT.transforms[name].family == "identifiers") == (family == "identifiers"):
                pairs += [
                    (name, f"{plain}\n{calls}", f"{erased(text)}\n{calls}")
                    for text in sorted(made(name, source, seed))
                ]
    programs = list(dict.fromkeys(text for _, *both in pairs for text in both))
    printed = dict(zip(programs, outputs(programs), strict=True))
    assert len(pairs) > 5 * len(seeds)
    for name, before, after in pairs:
        assert printed[before] == printed[after], f"{name}\n{before}\n----\n{after}"

"""Renaming where JavaScript is treacherous: every program does after an edit what it did, strict or not."""

from random import Random
from typing import Final

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.javascript.analysis.scopes import DYNAMIC, OPERATOR, SPELT
from codeaudit.transforms.javascript.identifiers.rename import (
    RENAME,
    RENAME_CANONICAL,
    RENAME_MISLEADING,
    RENAME_PARAMETERS,
    RENAME_RANDOM,
    RENAME_SHUFFLE,
    JavaScriptRename,
    variables,
)
from codeaudit.transforms.javascript.parsing import HTML_COMMENT, READERS
from codeaudit.transforms.records import Move
from tests.support.javascript_running import needs_node, outputs

STRATEGIES: Final = (
    *(RENAME, RENAME_PARAMETERS, RENAME_RANDOM, RENAME_SHUFFLE, RENAME_MISLEADING, RENAME_CANONICAL),
)

TRAPS: Final = {
    "shorthand": "function f(a) { const b = a + 1, c = 2; return { b, c, a, d: b }; } print(f(1));",
    "pattern": "function f(o) { const { n, m: k = 3, ...rest } = o; return [n, k, rest]; } print(f({ n: 1, z: 2 }));",
    "default in a pattern": "function f(o) { let n, q; ({ n = 1, q } = o); return { n, q }; } print(f({ q: 5 }));",
    "pattern of a parameter": "function f({ a, b: [c = 2] }, ...more) { const d = a; return { a, c, d, more }; } "
    "print(f({ a: 1, b: [] }, 4, 5));",
    "prototype": "function f() { const __proto__ = { x: 1 }, b = { __proto__ }; return [b.x, Object.keys(b)]; } "
    "print(f());",
    "name of an arrow": "function f() { const go = () => 1; let run; run = function () {}; const q = class {}; "
    "return [go.name, run.name, q.name]; } print(f());",
    "name by default": "function f(g = () => 1) { const { h = class {} } = {}; let k; k ??= function () {}; "
    "return [g.name, h.name, k.name]; } print(f());",
    "name of a function": "function f() { function inner() {} const v = inner; return v.name; } print(f());",
    "hoisted var": "function f(c) { if (c) { var n = 1; } for (var i = 0; i < 2; i++) var j = i; "
    "return [n, i, j, typeof k]; var k; } print(f(true), f(false));",
    "zone before let": "function f() { const r = []; const g = () => n; try { g(); } catch (e) { r.push(e.name); } "
    "let n = 1; r.push(g()); { try { n; } catch (e) { r.push(e.name); } let n = 2; r.push(n); } return r; } "
    "print(f());",
    "turns": "function f() { const fs = []; for (let i = 0; i < 3; i++) fs.push(() => i); "
    "for (var j = 0; j < 3; j++) fs.push(() => j); return fs.map(g => g()); } print(f());",
    "parameter and var": "function f(a, g = () => a) { var a; const b = a; a = 2; return [a, b, g()]; } print(f(1));",
    "body and list of parameters": "function f(a, g = () => x) { var x = 1; try { return g(); } catch (e) { "
    "return [e.name, x, a]; } } print(f(1));",
    "arguments": "function f(a, b) { a = 2; const c = arguments.length; return [arguments[0], a, c, b]; } "
    "print(f(1), f.length);",
    "catch and var": "function f() { try { throw 1; } catch (e) { var e = 2; var d = e; } return [e, d]; } print(f());",
    "function in a block": "function f(c) { if (c) { function g() { return 1; } } let h = typeof g; return h; } "
    "print(f(true), f(false));",
    "function in a case": "function f(c) { switch (c) { case 1: function g() { return 1; } default: "
    "let h = 3; return [typeof g, h]; } } print(f(1), f(2));",
    "switch": "function f(a) { switch (a) { case 0: let b = 1; return b; case 1: b = 2; return b; } } "
    "print(f(0)); try { f(1); } catch (e) { print(e.name); }",
    "labels": "function f(a) { let n = 0; a: for (const i of [1, 2, 3]) { for (const j of [1, 2]) { n += i * j; "
    "if (j === a) continue a; if (n > 20) break a; } } return n; } print(f(1), f(2));",
    "classes": "function f(a) { class A { static n = a; #p = a; n = this.#p; m(n) { return n + a + this.n; } "
    "[a]() { return A.n; } static { var n = 7; A.q = n; } } const b = new A(); return [b.m(1), b[a](), A.q]; } "
    "print(f(3));",
    "named function": "function f() { const h = function k(n) { return n ? n * k(n - 1) : 1; }; const v = h(4); "
    "return [v, h.name]; } print(f());",
    "template": "function f(a) { const b = 2; const t = (s, ...v) => s.raw.join('|') + v; "
    "return `${a}b${`${b}`}` + t`x${b}y`; } print(f(1));",
    "text of a name": "function f(o) { const count = 2; return o['count'] + o.count + count; } "
    "print(f({ count: 1 }));",
    "typeof": "function f() { const a = typeof zzz; let zz = 1; return [a, zz]; } print(f());",
    "leak": "function f() { var a = 1; leaked = a; return [leaked, typeof leaked]; } print(f());",
    "of a global": "var count = 5; function f(a) { const b = a + count; return b; } print(f(1));",
    "for in": "function f(o) { const r = []; for (var k in o) r.push(k); for (k of [1]) r.push(k); "
    "for (const { x, y = x } of [{ x: 1 }]) r.push({ x, y }); return r; } print(f({ a: 1 }));",
    "getter and method": "function f(a) { const b = { get a() { return a; }, b() { return a + 1; }, ['c' + a]: 1 }; "
    "return [b.a, b.b(), b]; } print(f(1));",
    "optional": "function f(o) { const p = 'q'; return [o?.p, o?.[p], o?.p?.(p)]; } print(f(null), f({ q: 1 }));",
    "generator": "function* f(n) { for (let i = 0; i < n; i++) { const got = yield i; if (got) return got; } } "
    "const g = f(3); print([g.next(), g.next(), g.next(5)]);",
    "swap": "function f(a, b) { let c = 1, d = 2; [c, d] = [d, c]; [a[0], b.x = 3] = [c]; return [c, d, a, b]; } "
    "print(f([], {}));",
    "regular expression": "function f(s) { const g = /g/g; let a = s / 2; /a/.test(a); return [g.test('g'), a]; } "
    "print(f(4));",
    "keywords": "function f(of, get) { let async = 1, set = of + get; for (let from of [1]) async += from; "
    "return { async, set, of, get }; } print(f(1, 2));",
    "function over a parameter": "function f(a) { const b = typeof a; function a() {} return [b, typeof a]; } print(f(1));",
    "twice": "var f = function (a) { var n = a; var n; var m = n; return [n, m]; }; print(f(1));",
    "two parameters of one name": "function f(a, a) { const b = a; return b; } print(f(1, 2));",
    "this": "var o = { f(a) { const b = () => this.v + a; return b(); }, v: 2 }; print(o.f(1));",
    "semicolons": "function f(a) {\n  let b = a\n  ;[b] = [b + 1]\n  const c = b\n  return c\n}\nprint(f(1))",
    "unicode": "function f(größe) { const 名 = größe * 2; return { 名 }; } print(f(2));",
}  # fmt: skip
STRICT: Final = '"use strict"; '


def _around(program: str) -> tuple[str, str, str]:
    """The function of a program, and what stands before and behind it."""
    for head in ("function* f(", "function f("):
        begin = program.find(head)
        if begin >= 0 and not program[:begin].endswith("= "):
            break
    else:
        begin = program.index("f(a) {") if "o = {" in program else 0
    depth, first = 0, program.index("{", program.index(") {", begin))
    for at in range(first, len(program)):
        depth += {"{": 1, "}": -1}.get(program[at], 0)
        if depth == 0:
            break
    end = at + 2 if program[begin:].startswith("var f") else at + 1
    return program[:begin], program[begin:end], program[end:]


def _variants(transform: JavaScriptRename, source: str, seeds: int) -> list[str]:
    texts = []
    for seed in range(seeds):
        moves = transform.propose(source, Random(seed))
        if isinstance(moves, Refused):
            continue
        for some in (moves, *((move,) for move in moves)):
            result = transform.apply(source, some)
            if isinstance(result, Rewritten):
                assert result.source != source
                texts.append(result.source)
    return texts


@needs_node
@pytest.mark.parametrize(("seeds", "least"), [(1, 150), pytest.param(3, 500, marks=pytest.mark.slow)])
def test_programs_do_what_they_did(seeds: int, least: int) -> None:
    pairs: list[tuple[str, str, str]] = []
    untouched = []
    for name, program in TRAPS.items():
        before, source, behind = _around(program)
        made = {text for strategy in STRATEGIES for text in _variants(strategy, source, seeds)}
        if not made:
            untouched.append(name)
        for mode in ("", STRICT):
            pairs += [(name, mode + program, mode + before + text + behind) for text in made]
    printed = outputs([text for _, *both in pairs for text in both])
    for number, (name, _, after) in enumerate(pairs):
        assert printed[2 * number] == printed[2 * number + 1], (name, after)
        assert printed[2 * number], name
    assert len(pairs) > least
    assert untouched == ["name of an arrow", "name by default"]  # all names in them say something


def _kept(source: str) -> set[str]:
    """The variables that no strategy renames."""
    survey = variables(source)
    return {
        binding.name
        for binding in survey.bindings
        if binding.view != "outer" and survey.keeps_name(binding) is not None
    }


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("function f() { const go = () => 1, b = (function () {}); let c = function d() {}; }", "go b d"),
        ("function f() { function g() {} class H {} const i = 1; }", "g H"),
        ("function f(c) { if (c) { function g() {} } let h; { let g; } }", "g"),
        ("function f(Foo, bar) { return <Foo><bar/><bar.x/></Foo>; }", "Foo"),
        ("function f(a, a, b) { return a; }", "a"),
        ("function f(e) { try { } catch (e) { var e; } let g; }", "e"),
        ("function f(a, b = 1) { var a; let c; }", "a"),
        ("function f() { const __proto__ = {}, b = { __proto__ }; }", "__proto__"),
        (
            "function f() { const mockRun = g(), n = 1; jest.mock('./a', () => ({ run: mockRun })); }",
            "mockRun",
        ),
        ("function f(g = () => 1) { const { h = class {} } = g; let k; k ||= () => 2; let n; }", "g h k"),
    ],
)
def test_names_that_say_something_stay(source: str, kept: str) -> None:
    assert _kept(source) == set(kept.split())


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("function f(a) { let b = 1; return eval(a); }", DYNAMIC),
        ("function f(a) { let b = 1; return (eval)(a) + (() => eval('b'))(); }", DYNAMIC),
        ("function f(a) { with (a) { x = 1; } let b; }", DYNAMIC),
        ("function f(a) { let \\u0062 = 1; return b; }", SPELT),
        ("function f(a) { var yield = 1, b = { get [yield]() { return a; } }; return b; }", OPERATOR),
        ("function f(await) { let b = 1; return await(b); }", OPERATOR),
        ("async function f(a) { let b = await a; return function () { return await(b); }; }", OPERATOR),
        ("async function f(a) { var yield = await a, b = 1; return { [yield]: b }; }", OPERATOR),
        ("function f(a) { let b = 1; return b <!--a\n; }", HTML_COMMENT),
        ("function f(a) { let b = 1;\n--> b\n return b; }", HTML_COMMENT),
    ],
)
def test_what_may_read_any_name_keeps_all(source: str, reason: str) -> None:
    for transform in STRATEGIES:
        assert transform.propose(source, Random(0)) == Refused(reason)


@pytest.mark.parametrize(
    "source",
    [
        "function* f(a) { let b = { [yield a]() { }, *[yield]() { yield a; }, get [yield]() { } }; yield* b; }",
        "async function f(a) { let c = 1; let b = class { [await a]() { } async *m() { yield await a; } }; await b; }",
        "function f(a) { let c = 1; let b = async () => await a; return b; }",
    ],
)
def test_operators_of_a_generator_or_asynchronous_function_hide_no_name(source: str) -> None:
    assert not isinstance(STRATEGIES[0].propose(source, Random(0)), Refused)


@pytest.mark.parametrize(
    "source",
    [
        "function f() { a: for (;;) { a: for (;;) { } } }",
        "function f() { let a = 1; const a = 2; }",
        "function f(a) { let b = 1; var b; }",
    ],
)
def test_what_is_no_javascript_is_not_read(source: str) -> None:
    with pytest.raises(SourceError, match="twice"):
        RENAME.propose(source, Random(0))


def test_a_shorthand_is_written_out() -> None:
    source = "function f(o) { const { a, b = 1 } = o; return { a, b }; }"
    moves = tuple(
        Move(kind="rename", site=binding.number, value={"a": "x", "b": "y"}[binding.name], note="")
        for binding in variables(source).bindings
        if binding.name in ("a", "b")
    )
    rewritten = RENAME.apply(source, moves)
    assert rewritten == Rewritten(
        source="function f(o) { const { a: x, b: y = 1 } = o; return { a: x, b: y }; }", evidence="analysis"
    )


def test_names_that_would_be_captured_are_refused() -> None:
    source = "function f(a) { let b = a; { let c = b; g(c, d); } }"
    numbers = {binding.name: binding.number for binding in variables(source).bindings}
    for old, new in (("c", "b"), ("b", "c"), ("c", "d"), ("b", "a"), ("b", "g"), ("c", "let")):
        refusal = RENAME_PARAMETERS.apply(
            source, (Move(kind="rename", site=numbers[old], value=new, note=""),)
        )
        assert isinstance(refusal, Refused), refusal


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("async m(a) { const b = await a; return b; }", "async m(v0) { const v1 = await v0; return v1; }"),
        ("static #m = (a) => { let b = a; return b; };", "static #m = (v0) => { let v1 = v0; return v1; };"),
        ("export default function (a) { var b = a; }", "export default function (v0) { var v1 = v0; }"),
        ("exports.f = function (a) { let b = a; };", "exports.f = function (v0) { let v1 = v0; };"),
        ("set x(a) { let b = a; this.y = b; }", "set x(v0) { let v1 = v0; this.y = v1; }"),
        ("const f = a => { let b = a; return b; };", "const f = v0 => { let v1 = v0; return v1; };"),
    ],
)
def test_functions_of_all_forms(source: str, expected: str) -> None:
    transform = JavaScriptRename(name="rename-canonical", strategy="canonical", parameters=True)
    moves = transform.propose(source, Random(0))
    assert not isinstance(moves, Refused)
    assert transform.apply(source, moves) == Rewritten(source=expected, evidence="analysis")


def test_no_new_name_is_a_word_of_a_grammar() -> None:
    """One proof holds for all new words, so none may be a word that a grammar knows."""
    no_names = {"target", "meta", "assert"}  # behind a dot, or in an import
    for language, readers in READERS.items():
        lexicon = variables("function f(a) { }", language).lexicon
        for reader in readers:
            grammar = reader._language
            words = {
                grammar.node_kind_for_id(number) or ""
                for number in range(grammar.node_kind_count)
                if grammar.node_kind_is_visible(number) and not grammar.node_kind_is_named(number)
            }
            known = {word for word in words if word.isidentifier()} - no_names
            assert len(known) > 30
            assert [word for word in sorted(known) if not lexicon.reserved(word)] == []

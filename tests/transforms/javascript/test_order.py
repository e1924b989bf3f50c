"""`reorder`, its control and the canonical form: what may change places, and that nothing shows it in node."""

from collections import Counter
from random import Random
from typing import Any, Final

import pytest

from codeaudit.transforms.dependence.blocks import ACT, NO_BLOCK, RAISE, SHARE, STORE
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.javascript.analysis.program import NO_SEMICOLON, analyse, pieces_of
from codeaudit.transforms.javascript.analysis.scopes import DYNAMIC
from codeaudit.transforms.javascript.canonical import canonicalise, canonicalise_typescript
from codeaudit.transforms.javascript.identifiers.rename import RENAME_PARAMETERS
from codeaudit.transforms.javascript.order.reorder import (
    REORDER,
    REORDER_BREAKING,
    JavaScriptOrdering,
    JavaScriptReorder,
)  # fmt: skip
from codeaudit.transforms.javascript.parsing import read_unit
from codeaudit.transforms.javascript.typescript import TYPESCRIPT
from codeaudit.transforms.registry import transform_for
from tests.support.javascript_causes import CAUSES, put_back
from tests.support.javascript_running import needs_node, outputs
from tests.transforms.javascript import random_orders
from tests.transforms.javascript.typed_programs import erased, typed

TYPED: Final = transform_for("reorder", "typescript")
RETURNING: Final = REORDER.under("returning")


def orders(body: str, rule: JavaScriptReorder = REORDER) -> int | str:
    """How many other orders a function with this body has, or why it has none."""
    source = f"function f(a, b, c) {{ {body} }}"
    proposal = rule.propose(source, Random(0))
    return proposal.reason if isinstance(proposal, Refused) else rule.count(source) or 0


@pytest.mark.thinned(18)
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("let x = 1; let y = 2; return x + y;", 1),
        ("let x = 1; const y = [x]; const z = {}; z.p = y;", 2),
        ("let x = a; let y = () => a; g(x, y);", 1),
        ("let x = 'a'; let y = x + 1; let z = `${x}-`; g(x, y, z);", 1),
        ("let x = 'a'; let y = x.length * 2; let z = b === c; g(x, y, z);", 2),
        ("let x = !a; let y = typeof b; let z = b == null; g(x, y, z);", 5),
        ("var x = 1; var y; y = 2; g(x, y);", 2),
        ("let x = 0, y = ''; x += 1; y += x; x++; g(x, y);", SHARE),
        ("let x = 0, y = ''; x += 1; y += 'b'; g(x, y);", 1),
        ("function g() { return 1; } let x = 2; return g(x);", 1),
        ("let x = a; try { x = 1; let y = 2; } finally { g(); }", 1),
        ("let x; switch (a) { case 1: x = 1; b = 2; break; default: }", 1),
        ("for (let i = 0; i < 3; i++) { let x = i; let y = 1; g(x, y); }", 1),
        ("l: { let x = 1; let y = 2; if (x) break l; g(y); }", 1),
        ("return [1, 2].map((d) => { const e = d; const h = 1; return g(e, h); });", 1),
        ("return [1, 2].map(function (d) { const e = d; const h = 1; return g(e, h); });", 1),
        ("return { m(d) { const e = d; const h = 1; return g(e, h); } };", 1),
        # What may be seen or may see keeps its place.
        ("g(); h();", ACT),
        ("let x = a.p; let y = b.p; g(x, y);", ACT),
        ("let x = a + 1; let y = b + 1; g(x, y);", ACT),
        ("let x = `${a}`; let y = `${b}`; g(x, y);", ACT),
        ("let x = a < 1; let y = b < 1; g(x, y);", ACT),
        ("let x = a == b; let y = b == c; g(x, y);", ACT),
        ("let x = -a; let y = ~b; g(x, y);", ACT),
        ("let x = { [a]: 1 }; let y = { [b]: 1 }; g(x, y);", ACT),
        ("let x = [...a]; let y = [...b]; g(x, y);", ACT),
        ("const { x } = a; const [y] = b; g(x, y);", ACT),
        ("let x = 'p' in a; let y = b instanceof c; g(x, y);", ACT),
        ("a.p = 1; b.q = 2;", ACT),
        ("p = 1; q = 2;", ACT),
        ("let x = p; let y = q; g(x, y);", ACT),
        ("delete a.p; delete b.p;", ACT),
        ("for (const x of a) { } for (const y in b) { }", ACT),
        ("let x = <p/>; let y = <q/>; g(x, y);", ACT),
        ("let x = new g(); let y = new h(); k(x, y);", ACT),
        # Variables that somebody else sees.
        ("k(() => a); a = 1; g();", ACT),
        ("let x = 1; k(() => x); x = 2; g(); x = 3;", SHARE),
        ("a = 1; g(arguments);", ACT),
        ("try { a = 1; g(); } catch { return a; }", ACT),
        ("try { var x = 1; g(); } finally { k(x); }", ACT),
        # Exceptions.
        ("let x = 1; k(() => { x = 2; y; }); let y = 3;", SHARE),
        ("b = y; let y = 3;", SHARE),
        ("const x = 1; x = 2; a = 3; k(() => a);", STORE),
        ("switch (a) { case 0: let x = 1; case 1: b = x; c = x; k(() => c); }", SHARE),
        ("const x = 1, y = 2; { x = 3; y = 4; }", RAISE),
        # What stays where it is.
        ("'use strict'; let x = 1;", "neighbours leave the block"),
        ("let x = 1; 'use strict';", "neighbours leave the block"),
        ("class A { } let x = 1;", "neighbours leave the block"),
        ("{ function g() { } let x = 1; }", "neighbours leave the block"),
        ("debugger; let x = 1;", "neighbours leave the block"),
        ("let x = 1; return x;", "neighbours share a variable"),
        ("a = 1;", NO_BLOCK),
        ("eval(b); let x = 1; let y = 2;", DYNAMIC),
    ],
)  # fmt: skip
def test_how_many_orders_a_function_has(body: str, expected: int | str) -> None:
    counted = orders(body)
    if isinstance(expected, str) and isinstance(counted, str):
        assert counted in {expected, SHARE, STORE, ACT, RAISE, NO_BLOCK, "neighbours leave the block"}
        assert (counted == expected) or expected in (ACT, SHARE, STORE, RAISE, NO_BLOCK)
    else:
        assert counted == expected


def test_statements_without_semicolons() -> None:
    source = "function f(a) {\n  let b = 1\n  let c = 2\n  let d = 'x' // end\n  return [b, c, d]\n}\n"
    made = {moved(source, seed) for seed in range(20)}
    assert len(made) == 5
    assert all(text.count("'x' // end\n") == 1 for text in made)
    refused = REORDER.propose("function f(a) {\n  let b = 1\n  let c = 2\n  ;[b] = [c]\n}", Random(0))
    assert isinstance(refused, Refused)
    assert refused.reason == NO_SEMICOLON


LINES: Final = (
    "let d = a",
    "[b] = [c]",
    "(a)(b)",
    "`${a}`",
    "/b/c",
    "++b",
    "b--",
    "+a",
    "a",
    "return",
    "if (a) b\n",
    "",
)


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_an_outline_shows_only_what_a_whole_reading_shows(language: str) -> None:
    """All orders are tried, also those that no rule makes: two statements become one, or other ones."""
    rule, met, rng = JavaScriptReorder(language=language), Counter[tuple[bool, bool]](), Random(1)
    for _ in range(300):
        inner = "\n".join(rng.sample(LINES, 3))
        lines = [*rng.sample(LINES, 3), f"while (a) {{\n{inner}\n}}"]
        try:
            known = rule.ordering("function f(a, b, c) {\n" + "\n".join(rng.sample(lines, 4)) + "\n}")
        except SourceError:
            continue
        sizes = {site: len(block.statements) for site, block in enumerate(known.blocks)}
        orders = {site: rng.sample(range(size), size) for site, size in sizes.items() if size > 1}
        made = super(JavaScriptOrdering, known).text(orders)
        assert made is not None
        try:
            reading, function = read_unit(made, language)
            whole = pieces_of(tuple(function.node.walk()), reading.source) == known.program.pieces
        except SourceError:
            whole = False
        met[known._is_outlined(made, orders), whole] += 1
    assert met[True, True] > 50
    assert met[False, False] > 20
    assert not met[True, False]


def moved(source: str, seed: int, rule: Any = REORDER) -> str:
    """The text in another order."""
    moves = rule.propose(source, Random(seed))
    assert not isinstance(moves, Refused), moves
    rewritten = rule.apply(source, moves)
    assert isinstance(rewritten, Rewritten), rewritten
    return rewritten.source


def test_statements_of_typescript_move_with_their_types() -> None:
    source = "function f(a: A): B { let b: number = 1; const c = a as any as B; return c!; }"
    assert moved(source, 0, TYPED) == (
        "function f(a: A): B { const c = a as any as B; let b: number = 1; return c!; }"
    )
    source = "function f() { function g(a: A): B; function g(a: any) { return a; } let b = 1; return g(b); }"
    assert isinstance(TYPED.propose(source, Random(0)), Refused)


def test_kinds_of_values() -> None:
    body = """
        let i = 0, s = 'a', u, n = 1n; var v = 2; let m = i; let o = [], k = a; let t = i > 1 ? s : i; m += s;
        for (let j = 0; j < 3; j++) i += j; w = 1; let w; let q = i && s; let r = -i; let z = n * n;
    """
    source = f"function f(a) {{ {body} }}"
    known = analyse(source).facts
    kinds = {binding.name: known._of_variables.get(binding.number) for binding in known.scopes.bindings}
    assert {name: None if types is None else "|".join(sorted(types)) for name, types in kinds.items()} == {
        "f": None, "a": None, "i": "number", "s": "string", "u": "undefined", "n": "bigint", "v": "number|undefined",
        "m": "number|string", "o": "object", "k": None, "t": "number|string", "j": "number", "w": "number|undefined",
        "q": "number|string", "r": "number", "z": "bigint|number",
    }  # fmt: skip


Pairs = list[tuple[str, str, str]]


def made(rule: Any, seeds: range, *, language: str = "javascript") -> Pairs:
    """Programs with a function in other orders: the mode, the program before, and after."""
    pairs = []
    for seed in seeds:
        plain, calls = random_orders.program(seed)
        source = typed(plain, seed) if language == "typescript" else plain
        mode = '"use strict";\n' if seed % 2 else ""
        for number in range(3):
            try:
                moves = rule.propose(source, Random(seed * 7 + number))
            except SourceError:
                break  # a name is declared twice
            if isinstance(moves, Refused):
                break
            rewritten = rule.apply(source, moves)
            assert isinstance(rewritten, Rewritten), (source, rewritten)
            if rewritten.source != source:
                pairs.append(
                    (source, f"{mode}{plain}\n{calls}", f"{mode}{erased(rewritten.source)}\n{calls}")
                )
    return list(dict.fromkeys(pairs))


def differing(pairs: Pairs, *, returning: bool = False) -> list[str]:
    """The functions that do something else in another order. `returning`: where no exception was seen."""
    programs = list(dict.fromkeys(text for _, *both in pairs for text in both))
    printed = dict(zip(programs, outputs(programs), strict=True))
    assert sum(len(lines) > 5 for lines in printed.values()) > len(printed) / 2
    return [
        before
        for before, one, other in pairs
        if printed[one] != printed[other]
        and not (returning and any("spy" in line or "thrown" in line for line in printed[one]))
    ]


@needs_node
@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 180), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_random_functions_do_what_they_did(seeds: range) -> None:
    pairs = made(REORDER, seeds)
    assert len(pairs) > 2 * len(seeds)
    assert differing(pairs) == []


@pytest.mark.slow
@needs_node
def test_random_functions_of_typescript_do_what_they_did() -> None:
    pairs = made(TYPED, range(30), language="typescript")
    assert len(pairs) > 40
    assert differing(pairs) == []


@pytest.mark.slow
@needs_node
def test_the_control_changes_what_a_function_does() -> None:
    assert len(differing(made(REORDER_BREAKING, range(40)))) > 10


@needs_node
@pytest.mark.weekly
@pytest.mark.parametrize("cause", [name for name, (rule, *_) in CAUSES.items() if rule == REORDER.name][:5])
def test_random_functions_find_what_is_forgotten(cause: str) -> None:
    with put_back(cause):
        assert differing(made(REORDER, range(120)))


@pytest.mark.parametrize("language", ["javascript", "typescript"])
@pytest.mark.parametrize(("seeds", "least"), [(6, 2), pytest.param(60, 20, marks=pytest.mark.slow)])
def test_all_orders_and_names_have_one_canonical_form(language: str, seeds: int, least: int) -> None:
    form = canonicalise if language == "javascript" else canonicalise_typescript
    changed = 0
    for seed in range(0, seeds, 2):
        source = random_orders.program(seed)[0]
        try:
            expected = form(source)
        except SourceError:
            continue
        assert form(expected) == expected
        for name in (REORDER.name, RENAME_PARAMETERS.name):
            rule = transform_for(name, language)
            moves = rule.propose(source, Random(seed))
            if not isinstance(moves, Refused):
                other = rule.apply(source, moves)
                if isinstance(other, Refused):
                    continue  # a name of `let` is one of `var`, too
                assert form(other.source) == expected
                changed += other.source != source
                source = other.source
    assert changed > least
    assert form("function f(a) { return eval('a'); }") == "function f(a) { return eval('a'); }"
    assert TYPESCRIPT.canonical

"""The whole catalogue of JavaScript's rules: on its examples, on traps and on random functions that are run."""

from random import Random
from typing import Final

import pytest

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.javascript.analysis.scopes import IN_BLOCK, RELEASED
from codeaudit.transforms.javascript.dialect import DIALECT
from codeaudit.transforms.javascript.language import JAVASCRIPT
from codeaudit.transforms.javascript.rewriting import (
    BESIDE,
    DIRECTIVE,
    NO_SEMICOLON,
    OTHER_SCOPE,
    JavaScriptRewriting,
    JavaScriptSource,
)
from codeaudit.transforms.language import LANGUAGES
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.strategies.dialect import CodeText
from codeaudit.transforms.strategies.layout import FOR_A_TOOL
from codeaudit.transforms.strategies.loops import CAPTURED, CONSTANT, HIDDEN
from tests.support.javascript_running import needs_node, outputs
from tests.transforms.javascript import random_control_flow, random_spellings

ENTRIES: Final = {
    name: entry
    for name, entry in JAVASCRIPT.transforms.items()
    if entry.family not in ("identifiers", "order", "prose")
}
PRESERVING: Final = [name for name, entry in ENTRIES.items() if entry.kind == "preserving"]
CONTROLS: Final = [name for name, entry in ENTRIES.items() if entry.kind == "control"]


def _rule(name: str) -> JavaScriptRewriting:
    rule = transform_for(name, "javascript")
    assert isinstance(rule, JavaScriptRewriting)
    return rule


def everything(name: str, source: str, seed: int = 0) -> str:
    """The text after an edit at every site."""
    moves = _rule(name).propose(source, Random(seed))
    assert not isinstance(moves, Refused), moves
    rewritten = _rule(name).apply(source, moves)
    assert isinstance(rewritten, Rewritten), rewritten
    return rewritten.source


def flat(text: str) -> str:
    """A text with blanks and line breaks as one blank each."""
    return " ".join(text.split())


def refused(name: str, source: str) -> str:
    """Why a rule does nothing."""
    refusal = _rule(name).propose(source, Random(0))
    assert isinstance(refusal, Refused), refusal
    return refusal.reason


def test_the_questions_are_those_that_are_answered() -> None:
    for name in (
        "varies",
        "patterns",
        "is_inferred",
        "is_boolean",
        "has_opposite",
        "is_multiline",
    ):
        assert getattr(JavaScriptSource, name) is not getattr(CodeText, name)
    # What a `switch` selects by is not.
    for name in ("is_selector", "comparison", "compared", "constant", "fits_label", "is_value"):
        assert getattr(JavaScriptSource, name) is getattr(CodeText, name)
    assert DIALECT.opposites["==="] == "!=="


ARGUMENTS: Final = [(value, limit) for value in (-2, 0, 3, 4, 7, 9, 12, 30) for limit in (0, 1, 3, 7, 9)]


@needs_node
def test_examples_do_what_they_did_and_controls_do_not() -> None:
    calls = "".join(f"print(f({value}, {limit}));" for value, limit in ARGUMENTS)
    calls = (
        f"const f = typeof grade === 'function' ? grade : typeof sum === 'function' ? sum : "
        f"typeof measure === 'function' ? measure : typeof rest === 'function' ? rest : middle2;{calls}"
    )
    calls = f"function middle2(a, b) {{ return middle([a, b, 1], 'x'); }} {calls}"
    calls = f"function between(...all) {{ return all; }} {calls}"
    pairs = [
        text + calls
        for name, entry in ENTRIES.items()
        for text in (entry.example, everything(name, entry.example))
    ]
    printed = outputs(pairs)
    for name, before, after in zip(ENTRIES, printed[::2], printed[1::2], strict=True):
        assert len(before) == len(ARGUMENTS), before
        assert (before == after) == (name in PRESERVING), name


def test_twins_are_controls() -> None:
    assert len(PRESERVING) >= 19
    assert {ENTRIES[name].twin for name in PRESERVING} - {None} <= set(CONTROLS)


def _made(name: str, seed: int, source: str) -> set[str]:
    moves = _rule(name).propose(source, Random(seed))
    if isinstance(moves, Refused):
        return set()
    results = [_rule(name).apply(source, some) for some in (moves, moves[:1], moves[1::2]) if some]
    assert all(isinstance(edit, Rewritten) for edit in results), (name, results, source)
    return {edit.source for edit in results if isinstance(edit, Rewritten)} - {source}


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize(
    "seeds", [range(4), pytest.param(range(4, 14), marks=pytest.mark.weekly)], ids=["few", "many"]
)
def test_random_functions_do_what_they_did(seeds: range) -> None:
    pairs: list[tuple[str, str, str]] = []
    used = dict.fromkeys(PRESERVING, 0)
    for seed in seeds:
        source, calls = (random_spellings if seed % 2 else random_control_flow).program(seed)
        mode = '"use strict";\n' if seed % 4 < 2 else ""
        for name in PRESERVING:
            for text in sorted(_made(name, seed, source)):
                used[name] += 1
                pairs.append((name, f"{mode}{source}\n{calls}", f"{mode}{text}\n{calls}"))
    programs = list(dict.fromkeys(text for _, *both in pairs for text in both))
    printed = dict(zip(programs, outputs(programs), strict=True))
    for name, before, after in pairs:
        assert printed[before] == printed[after], f"{name}\n{before}\n----\n{after}"
    assert sum(len(lines) > 10 for lines in printed.values()) > len(printed) / 2
    assert sum(not count for count in used.values()) <= (12 if len(seeds) > 4 else 25)


EDITS: Final = (
    ("invert-if", "function f(a) { if (a) g(); else h(); }", "function f(a) { if (!a) { h(); } else g(); }"),
    ("insert-braces", "function f(a) { let b = a // c\n if (b) g()\n else h() }",
     "function f(a) { let b = a // c if (b) { g() } else { h() } }"),
    ("return-to-else", "function f(a) { if (a) { return a }\n ;[a] = a\n g() }",
     "function f(a) { if (a) { return a } else { ;[a] = a g() } }"),
    ("no-op-statements", "function f(a) { g()\n h() }", "function f(a) { g() { ; } h() }"),
    ("invert-if", "function f(a) { if (!a) { g(); } else { h(); } }", "function f(a) { if (a) { h(); } else { g(); } }"),
    ("invert-if", "function f(a) { if (a < 1) { } else { h(); } }", "function f(a) { if (!(a < 1)) { h(); } else { } }"),
    ("merge-conditions", "function f(a) { if (a ?? b) { if (c || d) g(); } }",
     "function f(a) { if ((a ?? b) && (c || d)) g(); }"),
    ("de-morgan", "function f(a) { if (!(a && !b)) g(); }", "function f(a) { if (!a || b) g(); }"),
    ("de-morgan", "function f(a) { return (a || b) ? c && d : !a; }",
     "function f(a) { return (!(!a && !b)) ? c && d : !a; }"),
    ("negate-comparisons", "function f(a) { return a === b + 1; }", "function f(a) { return !(a !== b + 1); }"),
    ("double-negation", "function f(a) { for (;;) { } while (a = b) g(); return await_ ? 1 : 2; }",
     "function f(a) { for (;;) { } while (!!(a = b)) g(); return !!await_ ? 1 : 2; }"),
    ("for-to-while", "function f(a) { for (let i = 0; i in a; i++) g(i); }",
     "function f(a) { { let i = 0; while (i in a) { g(i); i++; } } }"),
    ("for-to-while", "function f(a) { for (;;) { if (a--) continue; break; } }",
     "function f(a) { while (true) { if (a--) continue; break; } }"),
    ("for-to-while", "function f(a) { l: for (a = 0; ; a++, g()) { for (const b of a) { if (b) continue l; } } }",
     "function f(a) { { a = 0; l: while (true) { for (const b of a) { if (b) { a++, g(); continue l; } } a++, g(); } } }"),
    ("while-to-for", "function f(a) { while ('x' in a) g(); }", "function f(a) { for (; 'x' in a; ) g(); }"),
    ("swap-operands", "function f(a, b) { let c = 1; return [a === b, c + 2, a * c, 'x' != g()]; }",
     "function f(a, b) { let c = 1; return [b === a, 2 + c, c * a, g() != 'x']; }"),
    ("flip-comparisons", "function f(a) { let b = 1; if (a < b + 1) g(); return 0 >= -b; }",
     "function f(a) { let b = 1; if (b + 1 > a) g(); return (-b) <= 0; }"),
    ("expand-augmented", "function f() { let a = 1; a -= -a; a **= 2; return a; }",
     "function f() { let a = 1; a = a - (-a); a = a ** 2; return a; }"),
    ("return-to-else", "function f(a) { if (a) return 1; const b = 2; return b; }",
     "function f(a) { if (a) return 1; else { const b = 2; return b; } }"),
    ("else-to-return", "function f(a) { if (a) { return 1; } else { const b = 2; g(b); } }",
     "function f(a) { if (a) { return 1; } const b = 2; g(b); }"),
    ("ternary-to-if", "function f(a) { let b = a ? 1 : 2; return b; }",
     "function f(a) { let b; if (a) { b = 1; } else { b = 2; } return b; }"),
    ("split-initialisers", "function f(a) { let b = a; var c = () => a; return [b, c]; }",
     "function f(a) { let b; b = a; var c = () => a; return [b, c]; }"),
    ("member-to-item", "function f(a) { a.b.c = a?.d + this.e; return <a.b/>; }",
     'function f(a) { a["b"]["c"] = a?.d + this["e"]; return <a.b/>; }'),
    ("member-to-item", "exports.f = function (a) { return a.b; };", 'exports.f = function (a) { return a["b"]; };'),
    ("item-to-member", "function f(a) { return a['b'] + a['c d'] + a?.['e'] + 1['f']; }",
     "function f(a) { return a.b + a['c d'] + a?.['e'] + 1['f']; }"),
    ("member-to-item", "function f(a) { return process.env.HOME + process.argv.length + import.meta.url + a.env; }",
     'function f(a) { return process.env.HOME + process["argv"]["length"] + import.meta.url + a["env"]; }'),
    ("member-to-item", "function f(a) { jest.mock(a.b); vi.mock(a.b); module.exports.c = require.resolve(a.b); }",
     'function f(a) { jest.mock(a["b"]); vi.mock(a["b"]); module.exports.c = require.resolve(a["b"]); }'),
    ("member-to-item", "function f(process) { return process.env.HOME; }",
     'function f(process) { return process["env"]["HOME"]; }'),
    ("item-to-member", "function f(a) { return process.env['HOME'] + process['env'].HOME + a['env']; }",
     "function f(a) { return process.env['HOME'] + process['env'].HOME + a.env; }"),
    ("expand-shorthand", "function f(a, __proto__) { return { a, __proto__ }; }",
     "function f(a, __proto__) { return { a: a, __proto__ }; }"),
    ("key-quotes", "function f(a) { return { b: a, 'c': a, __proto__: a, 'd e': a, 1: a }; }",
     "function f(a) { return { \"b\": a, c: a, __proto__: a, 'd e': a, 1: a }; }"),
    ("not-to-ternary", "function f(a) { g(!a && !(a = 1)); !function () { }(); }",
     "function f(a) { g((a ? false : true) && ((a = 1) ? false : true)); !function () { }(); }"),
    ("swap-arms", "function f(a) { return a === 1 ? (a, 2) : b => 3; }",
     "function f(a) { return a !== 1 ? (b => 3) : (a, 2); }"),
    ("arrow-to-block", "const f = a => ({ b: c => c });", "const f = a => { return ({ b: c => { return c; } }); };"),
    ("arrow-to-expression", "const f = (a) => { return { b: a }; };", "const f = (a) => ({ b: a });"),
    ("arrow-parentheses", "const f = async a => (b) => (c, d) => (e = 1) => a;",
     "const f = async (a) => b => (c, d) => (e = 1) => a;"),
    ("const-and-let", "function f() { const a = 1; let b = 2; let c = 3; c++; for (const d of [a]) g(b, c, d); }",
     "function f() { let a = 1; const b = 2; let c = 3; c++; for (const d of [a]) g(b, c, d); }"),
    ("return-void", "async function f() { if (a) return; async function* g() { return; } }",
     "async function f() { if (a) return void 0; async function* g() { return; } }"),
    ("bool-literals", "function f() { return true ** 2 ** false; }", "function f() { return (!0) ** 2 ** !true; }"),
    ("remove-braces", "function f(a) { if (a) { let b; } else { g(); } }", "function f(a) { if (a) { let b; } else g(); }"),
)  # fmt: skip


def _changed(name: str, source: str) -> list[str]:
    """The text after an edit at every site, if there is one."""
    moves = _rule(name).propose(source, Random(0))
    return [] if isinstance(moves, Refused) else [everything(name, source)]


OPERANDS: Final = (
    "true", "undefined", "a", "n", "255", "'p'", "a.p", "a['p']", "{ n }", "(!a)", "(a && b)", "(a || b)", "(a ?? b)",
    "(a === b)", "(n < 3)", "(a ? true : b)", "(n + n)", "(n * 2)", "(n++)", "(n += 1)", "(-n)", "(typeof a)", "(void 0)", "(a, n)",
)  # fmt: skip
PLACES: Final = (
    "@ ** 2", "2 ** @", "2 ** @ ** 2", "-@", "!@", "typeof @", "void @", "@ + 1", "1 - @", "@ * 2", "n-@", "n+ +@", "@ < 2",
    "@ == 1", "1 !== @", "@ & 1", "@ && 1", "1 && @", "@ || 1", "@ ?? 1", "1 ?? @", "@ ? 1 : 2", "a ? @ : 2", "a ? 1 : @", "(@).q",
    "(@)[0]", "a[@]", "a?.[@]", "`${@}`", "print(@)", "print(...[@])", "[@, @]", "({ q: @ })", "({ [@]: 1 })", "(1, @)", "(o = @)",
    "o.p = @", "@ in a", "@ instanceof Object", "(() => @)()", "((x = @) => x)()", "new Object(@)", "a?.p ?? @", "@ !== @ === @",
)  # fmt: skip


@pytest.mark.slow
@needs_node
def test_an_operand_is_written_otherwise_at_any_place() -> None:
    """Every form of an operand at every place of one, and every transform of expressions."""
    calls = "for (const one of [0, 2, null, { p: 1 }, 'pq']) print(f(one, 'b'));"
    names = [name for name in PRESERVING if ENTRIES[name].family == "expressions"]
    names += ["de-morgan", "double-negation", "negate-comparisons", "insert-parentheses"]
    programs: list[tuple[str, str]] = []
    for place in PLACES:
        grouped = [f"({operand})" if operand[0] == "{" else operand for operand in OPERANDS]
        tried = "\n".join(f"    t(() => {place.replace('@', operand)});" for operand in grouped)
        source = (
            "function f(a, b) {\n    const r = [], o = {};\n    let n = 3;\n    const t = (g) => {\n        try {\n"
            f"            r.push(g());\n        }} catch (e) {{\n            r.push(e.name);\n        }}\n    }};\n{tried}\n"
            "    return r;\n}"
        )
        programs.append(("", source))
        programs += [(name, text) for name in names for text in _changed(name, source)]
    printed = outputs([f"{text}\n{calls}" for _, text in programs])
    expected: list[str] = []
    for (name, text), lines in zip(programs, printed, strict=True):
        expected = lines if not name else expected
        assert len(expected) >= 5, text
        assert lines == expected, f"{name}\n{text}"
    assert len(programs) > 10 * len(PLACES)


CONTENTS: Final = (
    "", "a", "$_1", "'a'", '"a"', "a'", '"', "it's", "1", "01", "1e3", "-1", " a", "a ", "a b", "a-b", "a.b", "#a", "if", "get",
    "async", "await", "__proto__", "constructor", "m²", "½", "a½", "x①", "a٣", "é", "aé", "名", "a名", "ª", "a·", "℮", "y゛",
    "a\u200c", "a\u2028", "\U0001d4d0", r"\\", r"\u0061", r"\x61", r"\n", r"\'", r"\"", r"\q", "\t", "`a`", "${a}", "//", "/*",
)  # fmt: skip
"""What may stand between quotes: other quotes, words, signs that Python counts as letters or digits, escapes."""


@needs_node
@pytest.mark.parametrize("name", ["key-quotes", "item-to-member", "string-quotes", "spacing"])
def test_a_text_keeps_what_it_holds(name: str) -> None:
    programs = [
        f"function f(a) {{ return [{{ {quote}{content}{quote}: 1, z: 2 }}, a[{quote}{content}{quote}], 3 + 4]; }}"
        for quote in "'\""
        for content in CONTENTS
        if quote not in content.replace(f"\\{quote}", "")
    ]
    pairs = [(program, edited) for program in programs for edited in _changed(name, program)]
    called = "print(f(new Proxy({}, { get: (_, key) => key }))); print(Object.keys(f({})[0]));"
    before = outputs([program + called for program, _ in pairs])
    after = outputs([edited + called for _, edited in pairs])
    assert len(pairs) > 6
    for pair, expected, actual in zip(pairs, before, after, strict=True):
        assert actual == expected, pair


RELEASING: Final = (
    "function f(a) { if (a) { using b = g(a); } else { using c = g(1); h(true); } return !a ? 1 : a; }",
    "async function f(a) { await using b = g(a), c = a === 1; let d = 2; d += 1; return [d, b, c]; }",
    "function f(a) { let b = 1; return () => { while (a) { using c = a ? g(b) : h(b); } return c.d; }; }",
)


@pytest.mark.parametrize("source", RELEASING)
@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_a_function_that_releases_values_keeps_its_text(language: str, source: str) -> None:
    entries = LANGUAGES.get(language).transforms.items()
    names = [name for name, entry in entries if entry.family != "prose"]
    answers = {name: transform_for(name, language).propose(source, Random(0)) for name in names}
    reasons = {
        name: answer.reason if isinstance(answer, Refused) else "moves" for name, answer in answers.items()
    }
    assert {RELEASED} <= {*reasons.values()} <= {RELEASED, NO_SEMICOLON}


def test_using_may_be_a_name() -> None:
    source = "function f(a) { const using = a; return using === 1; }"
    assert _changed("swap-operands", source) == [source.replace("using === 1", "1 === using")]


@pytest.mark.thinned(12)
@pytest.mark.parametrize(("name", "source", "expected"), EDITS)
def test_edits(name: str, source: str, expected: str) -> None:
    assert flat(everything(name, source)) == expected


@pytest.mark.parametrize(
    ("name", "source", "reason"),
    [
        ("insert-braces", "function f(a) { const b = () => {}\n(c)\n if (a) g() }", NO_SEMICOLON),
        ("invert-if", "function f(a) { if (a) { function g() {} } else h(); }", IN_BLOCK),
        ("insert-braces", "function f(a) { if (a) function g() {} }", IN_BLOCK),
        ("remove-comments", "function f(a) { return a; /* 1\n */ g(); }", BESIDE),
        ("remove-comments", "function f(a) {\n    // eslint-disable-next-line\n    return a;\n}", FOR_A_TOOL),
        ("remove-comments", "function f(a) {\n    return a; // @ts-ignore\n}", FOR_A_TOOL),
        *(
            ("remove-comments", f"function f(a) {{\n    {comment}\n    return a;\n}}", FOR_A_TOOL)
            for comment in ("/* GraphQL */", "/* v8 ignore next */", "// translators: a name", "/* turbopackIgnore: true */")
        ),
        ("while-to-while-true", "function f(a) { while (a) { let a = 1; g(a); } }", CONSTANT),
        ("while-to-while-true", "function f(a) { while (a()) { class a {} } }", CONSTANT),
        ("for-to-while", "function f(a) { for (let i = 0; i < 2; i++) a.push(() => i); }", CAPTURED),
        ("for-to-while", "function f(a) { for (; a < 2; a++) { let a = 1; g(a); } }", HIDDEN),
        ("negate-comparisons", "function f(a) { return a < 1; }", "operands may be unordered"),
        ("de-morgan", "function f(a) { return a && b; }", "more than the truth of the value is used"),
        ("de-morgan", "function f(a) { if (a ?? (b && c)) g(); }", "more than the truth of the value is used"),
        ("swap-operands", "function f(a, b) { return a.p === b.p; }", "order of evaluation could be seen"),
        ("swap-operands", "function f(a, b) { return a + b; }", "operands of unknown type"),
        ("swap-operands", "function f(a, b) { return a * b; }", "operands of unknown type"),
        ("swap-operands", "function f(a) { return a === {}; }", "order of evaluation could be seen"),
        ("flip-comparisons", "function f(a, b) { return a < b; }", "order of evaluation could be seen"),
        ("flip-comparisons", "function f(a) { let b = 1; g(() => b++); return p < b; }", "order of evaluation could be seen"),
        ("return-to-else", "function f(a) { const g = () => b; if (a) return g; let b = 1; return b; }", OTHER_SCOPE),
        ("return-to-else", "function f(a) { if (a) return g(); function g() { } return 1; }", OTHER_SCOPE),
        ("ternary-to-if", "function f(a) { let b; b = a ? () => 1 : 2; return b; }", "arms may be converted"),
        ("if-to-ternary", "function f(a) { if (a) { p = 1; } else { p = 2; } }", "arms may be converted"),
        ("split-initialisers", "function f() { let a = g(() => a); return a; }", "declared with its value it is not what it is without"),
        ("no-op-statements", "function f() {\n    'use strict';\n    return 1;\n}", DIRECTIVE),
        ("insert-braces", "function f(a) { with (a) { if (b) g(); } }", "eval or with may read any name"),
    ],
)  # fmt: skip
def test_refusals(name: str, source: str, reason: str) -> None:
    assert refused(name, source) == reason


def test_lines_of_texts_stay() -> None:
    source = (
        "function f(a) {\n    const b = `x\n    ${a}\n\n  y`;\n    if (a) {\n        return <p>\n      {b}\n\n"
        "        </p>;\n    }\n    return 'z\\\n    z';\n}\n"
    )
    for name in ("indentation", "nest-elif", "insert-blank-lines", "insert-comments", "split-conditions"):
        moves = _rule(name).propose(source, Random(0))
        if isinstance(moves, Refused):
            continue
        rewritten = _rule(name).apply(source, moves)
        assert isinstance(rewritten, Rewritten)
        for text in ("`x\n    ${a}\n\n  y`", "<p>\n      {b}\n\n        </p>", "'z\\\n    z'"):
            assert text in rewritten.source
    assert refused("remove-blank-lines", source) == "comment between the parts"


WITHOUT_SEMICOLONS: Final = (
    "function f(a) {\n  // one\n  let b = a // two\n\n  const c = [b]\n  /* three */\n  ;[b] = c\n  b++\n\n"
    "  ++b\n  for (const d of c) b += d // four\n  if (b) return b\n  return\n  b\n}\n"
)


@needs_node
def test_code_without_semicolons() -> None:
    calls = "print(f(1), f(-2), f('x'));"
    made = sorted(
        {text for name in PRESERVING for seed in range(5) for text in _made(name, seed, WITHOUT_SEMICOLONS)}
    )
    assert len(made) > 45
    printed = outputs([text + calls for text in (WITHOUT_SEMICOLONS, *made)])
    assert printed == [printed[0]] * len(printed)


WORDS_AT_ENDS_OF_LINES: Final = (
    "async function f(a) {\n    let\n        b = a,\n        c = 2;\n    if (b > 1) {\n        let\n            b = c + 3;\n"
    "        c += b;\n        c = c + await\n            b;\n    }\n    await\n        c;\n    const r = await\n        g(b);\n"
    "    const o = new\n        Array(c);\n    return await\n        (b + c * r + o.length);\n}\n"
)


@needs_node
def test_words_at_the_ends_of_lines_stay_with_what_follows() -> None:
    calls = "async function g(n) { return n + 1; }\n" + "".join(
        f"f({value}).then((one) => print({value}, one), (e) => print(e.name));" for value in (0, 2, "'x'")
    )
    made = sorted(
        {
            text
            for name in PRESERVING
            for seed in range(3)
            for text in _made(name, seed, WORDS_AT_ENDS_OF_LINES)
        }
    )
    assert len(made) > 35
    printed = outputs([text + calls for text in (WORDS_AT_ENDS_OF_LINES, *made)])
    assert len(printed[0]) == 3
    assert printed == [printed[0]] * len(printed)


def test_a_comment_behind_a_block_is_no_part_of_it() -> None:
    source = "function f(a) {\n    if (a) { return 1; } else { } // c\n    return 2;\n}"
    rule = transform_for("invert-if", "javascript")
    moves = rule.propose(source, Random(0))
    assert not isinstance(moves, Refused)
    rewritten = rule.apply(source, moves)
    assert isinstance(rewritten, Rewritten)
    assert rewritten.source == source.replace("(a) { return 1; } else { }", "(!a) { } else { return 1; }")

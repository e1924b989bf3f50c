"""The catalogue of C: its examples are compiled and run, controls too; edits and refusals one by one."""

from random import Random
from typing import Final

import pytest

from codeaudit.transforms.c.dialect import DIALECT
from codeaudit.transforms.c.language import C
from codeaudit.transforms.c.rewriting import (
    ASSEMBLER,
    CLEANS_UP,
    ELVIS,
    HAS_LABELS,
    LABEL_INSIDE,
    LOOSE_MACRO,
    CRewriting,
    CSource,
)
from codeaudit.transforms.interface import Refused, Rewritten, Transform, is_surrounded
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.strategies.dialect import CodeStrategy, lacking
from tests.support.c_running import NO_CODE, Versions, needs_gcc, outputs

PRESERVING: Final = [name for name, entry in C.transforms.items() if entry.kind == "preserving"]
CONTROLS: Final = [name for name, entry in C.transforms.items() if entry.kind == "control"]
_POINT: Final = "struct point { int x, y; };\n"
_CALLS: Final = {
    "total": 'int a[3] = { 1, 2, 3 }; printf("%d", f(a, 3, 2));',
    "spread": 'int a[4] = { 7, 2, 30, 4 }; printf("%d", f(a, 4));',
    "norm": 'struct point p = { 3, 4 }; printf("%d", f(&p));',
    "clamp": 'for (int i = 0; i < 9; i++) printf("%d ", f(i, 3, 5));',
    "span": 'printf("%d", f(3, 9));',
    "tell": "for (int i = -2; i < 9; i++) f(i * 3, i);",
}
_PAIRS: Final = 'for (int i = -2; i < 14; i++) for (int j = 0; j < 5; j++) printf("%d ", f(i, j)); printf("%d", f(9, \'a\'));'


def applied(name: str, source: str, file: str = "", seed: int = 0) -> Rewritten | Refused:
    """What a transform makes of a function of a file, with an edit at every site."""
    transform: Transform = transform_for(name, "c")
    if is_surrounded(transform):
        transform = transform.within(file or source)
    moves = transform.propose(source, Random(seed))
    return moves if isinstance(moves, Refused) else transform.apply(source, moves)


def edited(name: str, source: str, file: str = "", seed: int = 0) -> str:
    """The text after an edit at every site, with single blanks."""
    rewritten = applied(name, source, file, seed)
    assert isinstance(rewritten, Rewritten), rewritten
    return " ".join(rewritten.source.split())


@needs_gcc
def test_examples_do_what_they_did_and_controls_do_not() -> None:
    rows = []
    for name, entry in C.transforms.items():
        own = entry.example.partition("(")[0].split()[-1]
        rewritten = applied(name, entry.example)
        assert isinstance(rewritten, Rewritten), (name, rewritten)
        texts = [text.replace(f"{own}(", "f(") for text in (entry.example, rewritten.source)]
        rows.append(Versions(texts, _CALLS.get(own, _PAIRS), _POINT if own == "norm" else ""))
    for name, (before, after) in zip(C.transforms, outputs(rows, "-O0", "-fwrapv"), strict=True):
        assert NO_CODE not in (before, after), name
        assert before.strip(), name
        assert (before == after) == (name in PRESERVING), name


def test_the_numbers_of_transforms() -> None:
    assert len(PRESERVING) >= 60
    assert len(CONTROLS) >= 15
    assert {C.transforms[name].twin for name in PRESERVING} - {None} <= set(CONTROLS)


def test_no_strategy_lacks_an_answer() -> None:
    for name, entry in C.transforms.items():
        rule = transform_for(name, "c")
        if isinstance(rule, CRewriting):
            module = entry.target.rpartition(":")[2]
            assert rule.name == module.lower().replace("_", "-")
    asked = CodeStrategy(
        name="all", find=lambda code: (), nothing="", needs=("type", "is_unordered", "fillers")
    )
    assert lacking(asked, CSource, DIALECT) == ()


EDITS: Final = (
    ("invert-if", "int f(int a) { if (a) g(); else h(); }", "int f(int a) { if (!a) { h(); } else g(); }"),
    ("negate-comparisons", "int f(int a) { return a < 1; }", "int f(int a) { return !(a >= 1); }"),
    ("negate-comparisons", "int f(double a, T b) { return a == b; }", "int f(double a, T b) { return !(a != b); }"),
    ("while-to-while-true", "int f(int a) { while (a) g(); }", "int f(int a) { while (1) { if (!a) break; g(); } }"),
    ("for-to-while", "int f(int a) { for (;;) { if (a--) continue; break; } }", "int f(int a) { while (1) { if (a--) continue; break; } }"),
    ("for-to-while", "int f(int a) { for (a = 0; a < 9; a++, g()) { if (h(a)) continue; k(); } }",
     "int f(int a) { { a = 0; while (a < 9) { if (h(a)) { a++, g(); continue; } k(); a++, g(); } } }"),
    ("expand-augmented", "int f(char a) { a += g(); return a; }", "int f(char a) { a = a + g(); return a; }"),
    ("expand-augmented", "int f(char *a) { a -= 2; return *a; }", "int f(char *a) { a = a - 2; return *a; }"),
    ("contract-augmented", "int f(long a) { a = a - (2 + g()); return a; }", "int f(long a) { a -= (2 + g()); return a; }"),
    ("split-declarations", "void f(void) { static int a, *b = &a, c[3]; }", "void f(void) { static int a; static int *b = &a; static int c[3]; }"),
    ("join-declarations", "void f(void) { int a; int *b = &a; }", "void f(void) { int a, *b = &a; }"),
    ("split-initialisers", "int f(void) { const char *a = g(); return *a; }", "int f(void) { const char *a; a = g(); return *a; }"),
    ("join-initialisers", "int f(void) { char *a; a = g(); return *a; }", "int f(void) { char *a = g(); return *a; }"),
    ("literal-bases", "int f(void) { return 10L; }", "int f(void) { return 012L; }"),
    ("flip-comparisons", "int f(int a) { return g() < a && a < 3; }", "int f(int a) { return a > g() && 3 > a; }"),
    ("swap-operands", "int f(int a, int *b) { return a * 3 & *b; }", "int f(int a, int *b) { return 3 * a & *b; }"),
    ("if-to-switch", "int f(int a) { if (a == 1) g(); else if (a == 'b') h(); return 0; }",
     "int f(int a) { switch (a) { case 1: { g(); break; } case 'b': { h(); break; } } return 0; }"),
    ("switch-to-if", "int f(int a) { switch (a) { case 1: g(); break; default: h(); } return 0; }",
     "int f(int a) { if (a == 1) { g(); } else { h(); } return 0; }"),
    ("index-to-pointer", "int f(int *a, int i) { return &a[i] == a + i++ ? a[i] : a[2][a]; }",
     "int f(int *a, int i) { return &(*(a + i)) == a + i++ ? *(a + i) : (*(a + 2))[a]; }"),
    ("pointer-to-index", "int f(int *a, int i) { return *(a + i + 1) + *(a + i); }", "int f(int *a, int i) { return *(a + i + 1) + a[i]; }"),
    ("arrow-to-star", "int f(struct s *a) { return a->b->c++ + g(a)->d; }", "int f(struct s *a) { return (*(*a).b).c++ + (*g(a)).d; }"),
    ("star-to-arrow", "int f(struct s *a) { return (*a).b + (*a++).c; }", "int f(struct s *a) { return a->b + (a++)->c; }"),
    ("not-to-zero", "int f(int *a) { return !a + !!b; }", "int f(int *a) { return (a == 0) + ((b == 0) == 0); }"),
    ("zero-to-not", "int f(int *a) { if (a != NULL && g() == 0) return a == 0; }", "int f(int *a) { if (a && !g()) return !a; }"),
    ("join-strings", 'int f(void) { return g("a" "b"); }', 'int f(void) { return g("ab"); }'),
    ("join-strings", 'int f(void) { return g(L"a" "\\x4" "1" "2" "?" "?="); }', 'int f(void) { return g(L"a" "\\x4" "12" "?" "?="); }'),
    ("remove-braces", "int f(int a) { if (a) { int b; } else { g(); } }", "int f(int a) { if (a) { int b; } else g(); }"),
    ("else-to-return", "int f(int a) { if (a) { return 1; } else { int b = 2; g(b); } return 0; }",
     "int f(int a) { if (a) { return 1; } int b = 2; g(b); return 0; }"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "source", "expected"), EDITS)
def test_edits(name: str, source: str, expected: str) -> None:
    made = {edited(name, source, seed=seed) for seed in range(6)}
    assert expected in made, made


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("negate-comparisons", "int f(double a) { return a < 1; }"),
        ("negate-comparisons", "int f(T a) { return a < 1; }"),
        ("swap-operands", "int f(T a) { return a * 2 + g() + h(); }"),
        ("swap-operands", "int f(int a) { return g() & h(); }"),
        ("swap-operands", "int f(int a) { return g(&a) & a; }"),
        ("swap-operands", "int f(volatile int a) { return g() & a; }"),
        ("flip-comparisons", "int f(int a) { return a++ < a; }"),
        ("flip-comparisons", "int f(int a, int b) { return g() < a / b; }"),
        ("expand-augmented", "int f(volatile int a) { a += 1; return a; }"),
        ("expand-augmented", "int f(int *a) { *a++ += 1; return *a; }"),
        ("expand-augmented", "int f(int a) { g(&a); a += h(); return a; }"),
        ("expand-augmented", "int f(T a) { a += 1; return a; }"),
        ("contract-augmented", "int f(int a) { g(&a); a = a + h(); return a; }"),
        ("split-initialisers", "int f(void) { static int a = 1; return a; }"),
        ("split-initialisers", "int f(void) { const int a = 1; return a; }"),
        ("split-initialisers", 'int f(void) { char a[] = "b"; return a[0]; }'),
        ("split-initialisers", "int f(void) { T a = g(); return a; }"),
        ("split-declarations", "void f(void) { struct s { int a; } b, c; }"),
        ("literal-bases", "long f(void) { return 40000 + 1.5 + 0x10000; }"),
        ("switch-to-if", "int f(int a) { switch (a) { case 1: g(); case 2: h(); break; } return 0; }"),
        ("switch-to-if", "int f(int a) { switch (a) { case A: g(); break; case 2: h(); break; } return 0; }"),
        ("switch-to-if", "int f(T a) { switch (a) { case 1: g(); break; } return 0; }"),
        ("if-to-ternary", "int *f(int a) { if (a) return 0; else return 0; }"),
        ("ternary-to-if", "int f(int a) { double b; b = a ? 1 : 2.5; return b; }"),
        ("else-to-return", "int f(int a) { int b = 1; if (a) return b; else { int b = 2; g(b); } return 0; }"),
        ("else-to-return", "int f(int a) { if (a) { return 1; l: g(); } else h(); goto l; }"),
        ("index-to-pointer", "int f(V a, int i) { return a[i]; }"),
        ("zero-to-not", "int f(int a) { return a != 0; }"),
        ("join-strings", 'int f(void) { return g("\\x4" "1"); }'),
        ("join-strings", 'int f(void) { return g("?" "?/"); }'),
        ("join-strings", 'int f(void) { return g(L"a" "b"); }'),
        ("remove-comments", "int f(int a) { /* fall through */ return a; }"),
        ("remove-parentheses", "int f(void) { return (t) - 1; }"),
    ],
)  # fmt: skip
def test_refusals(name: str, source: str) -> None:
    assert isinstance(applied(name, source), Refused), applied(name, source)


@pytest.mark.parametrize(
    ("name", "source", "reason", "file"),
    [
        ("invert-if", "int f(int a) { switch (a) { case 1: { case 2: g(); } } if (a) g(); else h(); }", LABEL_INSIDE, ""),
        ("invert-if", "int f(int a) { if (a ?: 2) g(); else h(); }", ELVIS, ""),
        ("spacing", "int f(int a) { return a ?: 2; }", ELVIS, ""),
        ("unused-locals", "int f(int a) {\n    if (a) goto l;\n    a = 2;\n    l: return a;\n}", HAS_LABELS, ""),
        ("insert-braces", "__attribute__((naked)) void f(int a) { if (a) asm(\"ret\"); }", CLEANS_UP, ""),
        ("insert-braces", "[[gnu::naked]] void f(int a) { if (a) asm(\"ret\"); }", CLEANS_UP, ""),
        ("insert-braces", "BARE void f(int a) { if (a) asm(\"ret\"); }", CLEANS_UP, "#define BARE __attribute__((__naked__))\n"),
        ("insert-braces", "void f(int a) { asm(\"ret\"); }", ASSEMBLER, "__attribute__((naked)) void f(int);\n"),
        ("insert-braces", "void f(int a) { asm(\"inc %eax\"); if (a) g(); asm(\"dec %eax\"); }", ASSEMBLER, ""),
        ("swap-operands", "int f(int a) { return a * LIMIT; }", LOOSE_MACRO, "#define LIMIT 1 + 2\n"),
        ("for-to-while", "int f(int a) { for (; a; a--) SKIP(a); }", LOOSE_MACRO, "#define SKIP(x) if (x) continue\n"),
        ("insert-braces", "int f(int a) { if (a) BOTH; return a; }", LOOSE_MACRO, "#define BOTH g(); h()\n"),
    ],
)  # fmt: skip
def test_functions_that_are_left_alone(name: str, source: str, reason: str, file: str) -> None:
    assert applied(name, source, file + source) == Refused(reason)


def test_arguments_of_macros_of_the_file_stay() -> None:
    file = "#define SQUARE(x) (x * x)\n"
    source = "int f(int a) { return SQUARE(a + 1) + (a + 2); }"
    assert edited("swap-operands", source, file + source) in (
        "int f(int a) { return SQUARE(a + 1) + (2 + a); }", "int f(int a) { return (a + 2) + SQUARE(a + 1); }"
    )  # fmt: skip


def test_the_evidence_says_what_is_assumed_of_macros() -> None:
    source = "int f(int a) {\n    int b = a;\n    if (b) return 1;\n    else return 2;\n}\n"
    for name in ("rename", "invert-if"):
        assert applied(name, source).evidence == "analysis (macros hygienic)"
        assert (
            applied(f"hygienic/{name}", source, f"#include <a.h>\n{source}").evidence
            == "analysis (macros hygienic)"
        )
        assert applied(name, source, f"static int c;\n{source}").evidence == "analysis"
    assert applied("insert-blank-lines", source).evidence == "parsed"

"""Renaming of Java's variables: before and after, what is refused, and why."""

from random import Random

import pytest

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.analysis.scopes import IN_CASE, INHERITED, IS_TYPE, resolve
from codeaudit.transforms.java.files import COMPACT, ESCAPED
from codeaudit.transforms.java.identifiers.rename import (
    ANNOTATED,
    ANNOTATED_METHOD,
    BODILESS,
    NOT_A_MOVE,
    RECORD,
    RENAME,
    RENAME_CANONICAL,
    RENAME_MISLEADING,
    RENAME_PARAMETERS,
    RENAME_RANDOM,
    RENAME_SHUFFLE,
    SPECIAL,
    JavaVariables,
)
from codeaudit.transforms.records import Move
from codeaudit.transforms.renaming import COLLISION, UNVERIFIED
from codeaudit.transforms.strategies.rename import NO_LOCAL, NO_PARAMETER

ALL = (RENAME, RENAME_RANDOM, RENAME_SHUFFLE, RENAME_MISLEADING, RENAME_CANONICAL, RENAME_PARAMETERS)

RENAMED = {
    "only the words change": (
        "int f(int a) {\n\t/* a */ int  b =a ;// b\r\n\treturn b+a;\n}",
        {"a": "v", "b": "w"},
        "int f(int v) {\n\t/* a */ int  w =v ;// b\r\n\treturn w+v;\n}",
    ),
    "members of the same name stay": (
        "void f(int x) { this.x = x; a.x = x(); A.x(x); super.x = A::x; }",
        {"x": "v"},
        "void f(int v) { this.x = v; a.x = x(); A.x(v); super.x = A::x; }",
    ),
    "a field before the declaration stays": (
        "void f() { x = 1; int x = 2; p(x, this.x); }",
        {"x": "v"},
        "void f() { x = 1; int v = 2; p(v, this.x); }",
    ),
    "a lambda's variables": (
        "void f() { g(a -> a + 1); g((b, c) -> b.c(c)); }",
        {"a": "u", "b": "v", "c": "w"},
        "void f() { g(u -> u + 1); g((v, w) -> v.c(w)); }",
    ),
    "a caught exception": (
        "void f() { try { } catch (A | B e) { throw new C(e.e, e); } }",
        {"e": "v"},
        "void f() { try { } catch (A | B v) { throw new C(v.e, v); } }",
    ),
    "resources": (
        "void f() { try (A a = o(); B b = a.b()) { b.a(a); } }",
        {"a": "v", "b": "w"},
        "void f() { try (A v = o(); B w = v.b()) { w.a(v); } }",
    ),
    "pattern variables": (
        "void f(O o) { if (!(o instanceof A a && a.a())) return; p(a); }",
        {"a": "v"},
        "void f(O o) { if (!(o instanceof A v && v.a())) return; p(v); }",
    ),
    "a field where the pattern has not matched": (
        "void f(O o) { if (o instanceof A a) p(a); else p(a); }",
        {"a": "v"},
        "void f(O o) { if (o instanceof A v) p(v); else p(a); }",
    ),
    "record patterns": (
        "int f(O o) { return switch (o) { case P(int a, Q(var b)) when a > b -> a; default -> a; }; }",
        {"a": "v", "b": "w"},
        "int f(O o) { return switch (o) { case P(int v, Q(var w)) when v > w -> v; default -> a; }; }",
    ),
    "labels": (
        "void f() { out: for (int out = 0; ; out++) { if (out > 1) break out; continue out; } }",
        {"out": "v"},
        None,
    ),
    "a local used in a class that inherits nothing": (
        "void f() { int x = 1; g(new Runnable() { int y; public void run() { p(x, y); } }); }",
        {"x": "v"},
        "void f() { int v = 1; g(new Runnable() { int y; public void run() { p(v, y); } }); }",
    ),
    "a field of an inner class hides": (
        "void f() { int x = 1; g(new Runnable() { int x = 2; public void run() { p(x); } }); p(x); }",
        {"x": "v"},
        "void f() { int v = 1; g(new Runnable() { int x = 2; public void run() { p(x); } }); p(v); }",
    ),
    "locals inside of a class with an unknown supertype": (
        "void f() { g(new U() { void h() { int x = 1; p(x, y); } }); }",
        {"x": "v"},
        "void f() { g(new U() { void h() { int v = 1; p(v, y); } }); }",
    ),
    "types, methods and the variable of one name": (
        "void f() { int size = size(); p(size.size().size); }",
        {"size": "v"},
        "void f() { int v = size(); p(v.size().size); }",
    ),
    "method references": (
        "void f() { A a = b(); g(a::a, a.a::a); }",
        {"a": "v"},
        "void f() { A v = b(); g(v::a, v.a::a); }",
    ),
    "text beside wide characters": (
        'void f() { String é = "ü€"; p("é" + é); }',
        {"é": "v"},
        'void f() { String v = "ü€"; p("é" + v); }',
    ),
    "varargs and annotations of the harmless sort": (
        "@Override void f(@Nullable final String... xs) { p(xs); }",
        {"xs": "v"},
        "@Override void f(@Nullable final String... v) { p(v); }",
    ),
    "a constructor": (
        "C(int a, int b) { super(a); this.b = b; }",
        {"a": "v", "b": "w"},
        "C(int v, int w) { super(v); this.b = w; }",
    ),
    "old arrays": (
        "void f() { int a[] = {1}, b = a[0]; }",
        {"a": "v"},
        "void f() { int v[] = {1}, b = v[0]; }",
    ),
    "switch blocks": (
        "void f(int k) { switch (k) { case 1: int x = 1; case 2: x = 2; p(x); } }",
        {"x": "v"},
        "void f(int k) { switch (k) { case 1: int v = 1; case 2: v = 2; p(v); } }",
    ),
}


@pytest.mark.parametrize(("before", "names", "after"), RENAMED.values(), ids=RENAMED)
def test_renamed(before: str, names: dict[str, str], after: str | None) -> None:
    rewritten = _renamed(before, names)
    if after is None:  # a label and a variable of one name, both renamed
        assert isinstance(rewritten, Rewritten)
        assert rewritten.source == before.replace("out", "v")
        return
    assert rewritten == Rewritten(source=after, evidence="analysis")


REFUSED = {
    "nothing there": (RENAME, "int f(int a) { return a; }", NO_LOCAL),
    "no parameter": (RENAME_PARAMETERS, "int f() { int a = 1; return a; }", NO_PARAMETER),
    "a receiver": (RENAME_PARAMETERS, "void f(@Nullable C this) { p(this); }", NO_PARAMETER),
    "inherited": (RENAME, "void f() { int x = 1; g(new U() { void h() { p(x); } }); }", INHERITED),
    "a case": (RENAME, "void f(K k) { int A = 1; switch (k) { case A: p(); } }", IN_CASE),
    "a type": (RENAME, "void f() { int A = 1; p((A) o, A); }", IS_TYPE),
    "a dollar": (RENAME, "void f() { int a$b = 1; }", SPECIAL),
    "underscores": (RENAME, "void f() { int __ = 1; }", SPECIAL),
    "annotated local": (RENAME, "void f() { @Cleanup A a = b(); }", ANNOTATED),
    "annotated parameter": (RENAME_PARAMETERS, 'void f(@RequestParam("a") int a) { p(a); }', ANNOTATED),
    "a parameter whose name an exception tells": (RENAME_PARAMETERS, "void f(@NonNull A a) { p(a); }", ANNOTATED),
    "annotated method": (RENAME_PARAMETERS, '@GetMapping("/x") void f(int a) { p(a); }', ANNOTATED_METHOD),
    "an aspect": (RENAME_PARAMETERS, '@Before("args(a)") void f(int a) { p(a); }', ANNOTATED_METHOD),
    "no body": (RENAME_PARAMETERS, "abstract int f(int a);", BODILESS),
    "maybe a record's": (RENAME_PARAMETERS, "R(int a, int b) { this.a = a; this.b = b; }", RECORD),
    "maybe a record's that only throws": (
        RENAME_PARAMETERS, "R(int a) { throw new Error(); }", RECORD,
    ),
    "maybe a record's that sets or throws": (
        RENAME_PARAMETERS, "R(int a, int b) { if (a > b) throw new Error(); else { while (true) g(); } }", RECORD,
    ),
    "a record's that only throws": (
        RENAME_PARAMETERS, "void f() { record R(int a) { R(int a) { throw new Error(); } } }", RECORD,
    ),
    "a record's": (
        RENAME_PARAMETERS, "void f() { record R(int a) { R(int a) { this.a = a < 0 ? 0 : a; } } }", RECORD,
    ),
    "compact": (RENAME, "R { int a = 1; p(a); }", COMPACT),
    "escapes": (RENAME, "void f() { int a = 1; // \\u000a a++;\n }", ESCAPED),
}  # fmt: skip


@pytest.mark.parametrize(("transform", "source", "reason"), REFUSED.values(), ids=REFUSED)
def test_refused(transform: object, source: str, reason: str) -> None:
    assert isinstance(transform, type(RENAME))
    assert transform.propose(source, Random(0)) == Refused(reason)


def test_junit_marks_no_aspect() -> None:
    assert not isinstance(RENAME_PARAMETERS.propose("@Before void f(int a) { p(a); }", Random(0)), Refused)


def test_two_backslashes_begin_no_escape() -> None:
    source = 'void f() { String a = "\\\\u0041"; p(a); }'
    assert not isinstance(RENAME.propose(source, Random(0)), Refused)


COLLIDING = {
    "a parameter": ("void f(int b) { int a = 1; p(a, b); }", {"a": "b"}),
    "a field in the text": ("void f() { int a = 1; p(a, b); }", {"a": "b"}),
    "a type in the text": ("void f() { int a = 1; p(a, B.c()); }", {"a": "B"}),
    "a later local of the block": ("void f() { int a = 1; int b = a; }", {"a": "b"}),
    "a local of an inner block": ("void f() { int a = 1; { int b = a; } }", {"a": "b"}),
    "a lambda around": ("void f() { g(b -> { int a = 1; return a; }); }", {"a": "b"}),
    "a lambda inside": ("void f() { int a = 1; g(b -> b); }", {"a": "b"}),
    "a pattern inside": ("void f(O o) { int a = 1; p(o instanceof A b); }", {"a": "b"}),
    "two at once": ("void f() { int a = 1; int b = 2; }", {"a": "v", "b": "v"}),
    "a keyword": ("void f() { int a = 1; }", {"a": "class"}),
    "a word of today's Java": ("void f() { int a = 1; }", {"a": "yield"}),
    "the first part of packages": ("void f() { int a = 1; }", {"a": "java"}),
    "no identifier": ("void f() { int a = 1; }", {"a": "1a"}),
    "a field of a class inside": (
        "void f() { int a = 1; g(new Runnable() { int b; public void run() { p(a); } }); }", {"a": "b"},
    ),
    "a label inside a label": ("void f() { a: for (;;) { b: for (;;) break a; } }", {"a": "b"}),
}  # fmt: skip


@pytest.mark.parametrize(("source", "names"), COLLIDING.values(), ids=COLLIDING)
def test_a_name_that_is_taken_is_refused(source: str, names: dict[str, str]) -> None:
    assert _renamed(source, names) == Refused(COLLISION)


def test_blocks_apart_may_share_a_name() -> None:
    source = "void f() { { int a = 1; p(a); } { int b = 2; p(b); } }"
    assert RENAME.apply(source, _moves(source, {"a": "b"})) == Rewritten(
        source="void f() { { int b = 1; p(b); } { int b = 2; p(b); } }", evidence="analysis"
    )


@pytest.mark.parametrize(
    ("wrong", "names"),
    [
        ("void f() { int v = 1; p(a); }", {0: "v"}),  # an occurrence missed
        ("void f() { int v = 1; q(v); }", {0: "v"}),  # something else changed
        ("void f() { int v = 1; p(v); p(v); }", {0: "v"}),  # something added
        ("void f() { int v = 1; p(v) }", {0: "v"}),  # not Java
        ("void f() { int w = 1; p(w); }", {0: "v"}),  # another name
    ],
)
def test_the_proof_sees_what_is_wrong(wrong: str, names: dict[int, str]) -> None:
    known = JavaVariables("void f() { int a = 1; p(a); }")
    assert known.proof("void f() { int v = 1; p(v); }", {0: "v"})
    assert not known.proof(wrong, names)


def test_a_captured_name_fails_the_proof() -> None:
    known = JavaVariables("void f() { int a = 1; g(new Runnable() { int b; public void run() { p(a); } }); }")
    text = known.rewritten({0: "b"})
    assert text == "void f() { int b = 1; g(new Runnable() { int b; public void run() { p(b); } }); }"
    assert not known.proof(text, {0: "b"})
    assert UNVERIFIED


def test_foreign_moves_are_refused() -> None:
    source = "int f(int a) { int b = a; return b; }"
    move = Move(kind="rename", site=0, value="v", note="")
    assert RENAME.apply(source, (move,)) == Refused(NOT_A_MOVE)  # a parameter
    assert RENAME_PARAMETERS.apply(source, (move, move)) == Refused(NOT_A_MOVE)
    assert RENAME.apply(source, ()) == Rewritten(source=source, evidence="analysis")


SOURCE = """\
int sumOf(int[] firstRow, int MAX) {
    int total = 0, _left = 1;
    String String = String.valueOf(total);
    loop: for (int i = 0; i < firstRow.length; i++) {
        if (i > MAX) break loop;
        total += firstRow[i] * _left;
    }
    return total + String.length();
}
"""


@pytest.mark.parametrize("transform", ALL, ids=lambda transform: transform.name)
def test_every_strategy_gives_usable_names_and_subsets_stand_alone(transform: object) -> None:
    assert isinstance(transform, type(RENAME))
    for seed in range(20):
        moves = transform.propose(SOURCE, Random(seed))
        assert isinstance(moves, tuple)
        assert moves == transform.propose(SOURCE, Random(seed))
        assert isinstance(transform.apply(SOURCE, moves), Rewritten)
        for move in moves:
            single = transform.apply(SOURCE, (move,))
            assert isinstance(single, Rewritten) or single == Refused(COLLISION)
            assert isinstance(single, Rewritten) or transform.strategy in ("shuffle", "canonical")


def test_new_names_look_like_the_old_ones() -> None:
    source = "void f() { int A_B = 1; int firstRow = 2; int _x = 3; }"
    moves = RENAME_MISLEADING.propose(source, Random(1))
    assert isinstance(moves, tuple)
    names = [str(move.value) for move in moves]
    assert names[0].isupper()
    assert names[1] == "lastRow"
    assert names[2].startswith("_")
    words = " ".join(str(RENAME.propose(source, Random(seed))) for seed in range(300))
    assert "inputStream" in words
    assert "input_stream" not in words


def test_canonical_names_count_the_variables() -> None:
    rewritten = RENAME_CANONICAL.apply(SOURCE, tuple(RENAME_CANONICAL.propose(SOURCE, Random(0))))  # type: ignore[arg-type]
    assert isinstance(rewritten, Rewritten)
    assert "int v0 = 0, _v1 = 1;" in rewritten.source


def _renamed(source: str, names: dict[str, str]) -> Rewritten | Refused:
    views = {binding.view for binding in resolve(source).bindings if binding.name in names}
    transform = RENAME_PARAMETERS if "parameter" in views else RENAME
    return transform.apply(source, _moves(source, names))


def _moves(source: str, names: dict[str, str]) -> tuple[Move, ...]:
    return tuple(
        Move(kind="rename", site=binding.number, value=names[binding.name], note="")
        for binding in resolve(source).bindings
        if binding.name in names and binding.view not in ("outer", "field")
    )

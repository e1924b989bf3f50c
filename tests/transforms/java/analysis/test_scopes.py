"""Which names are the same variable: `x#1` marks variable 1, `x#0` a name that is bound elsewhere."""

import re

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.java.analysis.scopes import IN_CASE, INHERITED, IS_TYPE, OPEN_SCOPE, resolve
from codeaudit.transforms.syntax.scopes import LOCAL_VIEWS

SITUATIONS = {
    "a parameter": "int f(int x#1) { return x#1 + this.x + x(); }",
    "varargs": "void f(final String... xs#1) { for (String x#2 : xs#1) p(x#2, xs#1.length); }",
    "an annotation of a parameter stands outside": "void f(final int a#1, @A(a#0) int b#2) { p(a#1, b#2); }",
    "a receiver is no parameter": "void f(C this, int x#1) { p(this, x#1); }",
    "a receiver with an annotation is none": "void f(@A C this, int x#1) { p(this, x#1); }",
    "before its declaration a name is a field's": "void f() { x#0 = 1; int x#1 = 2; p(x#1); }",
    "a local is known in its own value": "void f() { int x#1 = (x#1 = 2) + x#1; }",
    "declarators one after the other": "void f() { int a#1 = b#0, b#2 = a#1, c#3[] = {b#2}; p(c#3); }",
    "a block ends a scope": "void f() { { int x#1 = 1; p(x#1); } p(x#0); { int x#2 = 2; p(x#2); } }",
    "for": "void f() { for (int i#1 = 0, n#2 = i#1; i#1 < n#2; i#1++) p(i#1); p(i#0); }",
    "for without a block": "void f() { for (int i#1 = 0; ; i#1++); }",
    "enhanced for does not know its variable in what it walks": "void f() { for (var x#1 : x#0.all()) p(x#1); }",
    "resources know those before them": (
        "void f() { try (A a#1 = o(); B b#2 = w(a#1); c#0) { p(a#1, b#2); } catch (E e#3) { p(a#0, e#3); }"
        " finally { p(b#0); } }"
    ),
    "a local as a resource": "void f() { A a#1 = o(); try (a#1) { p(a#1); } }",
    "several catches": "void f() { try { } catch (final A | B e#1) { p(e#1); } catch (C e#2) { p(e#2); } }",
    "lambdas": "void f() { g((a#1, b#2) -> a#1 + b#2, a#3 -> a#3, (int a#4, final B b#5) -> { p(a#4, b#5); }); }",
    "a lambda sees what is around": "void f(int x#1) { int y#2 = 1; g(z#3 -> x#1 + y#2 + z#3); }",
    "a record in a class is no variable": (
        "void f(O A#1) { switch (A#1) { case A.B(M m#2) -> p(m#2, A#1); case C _, A.D _ -> p(A#1); } }"
    ),
    "unnamed variables are none": "void f() { g((_, b#1) -> b#1); for (var _ : xs#0) { } try { } catch (E _) { } }",
    "methods and members are no variables": "void f(A x#1) { x#1.x().x = x() + this.x + A.x + super.x; }",
    "method references": "void f(A x#1) { g(x#1::x, x#1.y::x, A#0::new, int[]::new); }",
    "the first part of a dotted name": "void f(A a#1) { p(a#1.b.c.d(), b#0.a.c()); }",
    "outer instances": "void f(A a#1) { p(A.this.a, A.super.a(), a#1.new B(a#1)); }",
    "elements of annotations": 'void f() { @A(x = "x", y = {x#0}) int x#1 = 1; p(x#1); }',
    "labels are names of their own": (
        "void f(int x#1) { x#2: for (;;) { if (x#1 > 0) break x#2; else continue x#2; } }"
    ),
    "labels inside labels": "void f() { a#1: { b#2: while (c()) { break a#1; } break a#1; } a#3: { break a#3; } }",
    "switch groups share a block": (
        "void f(int k#1) { switch (k#1) { case 1: int x#2 = 1; p(x#2); break; case 2: x#2 = 2; p(x#2); } }"
    ),
    "switch rules do not": (
        "void f(int k#1) { switch (k#1) { case 1 -> { int x#2 = 1; p(x#2); } case 2 -> p(x#0); default -> { } } }"
    ),
    "constants in cases": "void f(K k#1) { switch (k#1) { case RED: case A.B: p(RED#0); } }",
    "switch expressions": (
        "int f(int k#1) { return switch (k#1) { case 1 -> { int y#2 = k#1; yield y#2; } default -> y#0; }; }"
    ),
    "patterns in cases": (
        "int f(Object o#1) { return switch (o#1) { case A a#2 when a#2.ok() -> a#2.n(); case B a#3 -> a#3.n();"
        " case P(int x#4, Q(var y#5, _)) -> x#4 + y#5; case null, default -> a#0; }; }"
    ),
    "patterns in old cases": "void f(Object o#1) { switch (o#1) { case A a#2: p(a#2); break; default: p(a#0); } }",
    "a guard's own pattern": "int f(O o#1) { return switch (o#1) { case A a#2 when a#2.b() instanceof B b#3 -> b#3.n(); default -> 0; }; }",
    "instanceof, and": "boolean f(O o#1) { return o#1 instanceof A a#2 && a#2.ok() || a#0 == null; }",
    "instanceof, not or": "boolean f(O o#1) { return !(o#1 instanceof A a#2) || a#2.ok(); }",
    "instanceof, conditional": "int f(O o#1) { return o#1 instanceof A a#2 ? a#2.n() : a#0.n(); }",
    "instanceof, if": "void f(O o#1) { if (o#1 instanceof A a#2) { p(a#2); } else { p(a#0); } p(a#0); }",
    "instanceof, if not and return": "void f(O o#1) { if (!(o#1 instanceof A a#2)) return; p(a#2); }",
    "instanceof, if not and throw in a block": (
        "void f(O o#1) { if (!(o#1 instanceof A a#2) || a#2.no()) { p(a#0); throw e#0; } p(a#2); }"
    ),
    "instanceof, if not and go on": "void f(O o#1) { if (!(o#1 instanceof A a#2)) { p(a#0); } p(a#0); }",
    "instanceof, else returns": "void f(O o#1) { if (o#1 instanceof A a#2) { p(a#2); } else { return; } p(a#2); }",
    "instanceof, loop with break": (
        "void f(O o#1) { while (!(o#1 instanceof A a#2)) { o#1 = n(); break; } p(a#0); }"
    ),
    "instanceof, loop without break": "void f(O o#1) { while (!(o#1 instanceof A a#2)) { o#1 = n(); } p(a#2); }",
    "instanceof, break of an inner loop": (
        "void f(O o#1) { while (!(o#1 instanceof A a#2)) { for (;;) { break; } } p(a#2); }"
    ),
    "instanceof, do": "void f(O o#1) { do { p(a#0); } while (!(o#1 instanceof A a#2)); p(a#2); }",
    "instanceof, for": "void f(O o#1) { for (; o#1 instanceof A a#2; o#1 = a#2.n()) p(a#2); p(a#0); }",
    "instanceof, endless loop in the way": (
        "void f(O o#1) { if (!(o#1 instanceof A a#2)) { while (true) { n(); } } p(a#2); }"
    ),
    "instanceof, one after the other": (
        "void f(O o#1) { if (o#1 instanceof A x#2) p(x#2); else if (o#1 instanceof B x#3) p(x#3); }"
    ),
    "instanceof, record patterns": "void f(O o#1) { if (o#1 instanceof P(var a#2, Q(int b#3)) && a#2 > b#3) p(a#2, b#3); }",
    "instanceof, final": "void f(O o#1) { if (o#1 instanceof final A a#2) p(a#2); }",
    "a field of an anonymous class": (
        "void f(int x#1) { g(new Runnable() { int x = x#0; public void run() { p(x#0, this.x); } }); p(x#1); }"
    ),
    "a field that stands below its use": (
        "void f(int x#1) { g(new Runnable() { public void run() { p(x#0); } int x; }); p(x#1); }"
    ),
    "a method of an anonymous class": (
        "void f(int x#1) { g(new Comparator<A>() { public int compare(A x#2, A y#3) { return x#2.n - y#3.n; } }); }"
    ),
    "arguments of an anonymous class stand outside": "void f(int x#1) { new Thread(x#1) { int x; }; }",
    "a local class": "void f() { int x#1 = 1; class L { int y = x#1; int g(int z#2) { return x#1 + y#0 + z#2; } } new L(); }",
    "a local class on another": (
        "void f(int x#1) { class A { int x; } class B extends A { int g() { return x#0; } } p(x#1); }"
    ),
    "a local record": "void f(int a#1) { record R(int a, int... b) { R { a#0++; } int g() { return a#0 + b#0.length; } } p(a#1); }",
    "a local enum": "void f(int A#1) { enum E { A, B { int q; int g() { return q#0; } }; int n = B#0.m; E h() { return A#0; } } p(A#1); }",
    "a local interface": "void f(int x#1) { interface I { int x = 1; default int g() { return x#0; } } p(x#1); }",
    "the parts of an enum's name": "void f(R r#1) { r#1.a.b = r#1.b.a; a#0.r = 1; }",
    "a constructor": "C(int x#1) { super(x#1); this.x = x#1; { int y#2 = x#1; } }",
    "generics are no variables": "<T extends A<T>> Map<T, List<? super T>> f(Map<T, T> t#1) { return this.<T>g(t#1); }",
    "casts and comparisons": "void f(int a#1, int b#2) { p((a#1) - 1, a#1 < b#2, b#2 > (a#1), (int) a#1); }",
    "words of Java as names": "void f(int record#1) { var when#2 = record#1; int yield#3 = when#2; var with#4 = yield#3; }",
    "text blocks and comments": 'void f(int x#1) { /* x */ p("x", """\n x \\"x\\" """, x#1); // x\n }',
    "arrays": "void f(int[] a#1, int i#2) { a#1[i#2]++; int b#3[] = new int[i#2]; int[][] c#4 = {{i#2}, b#3}; }",
    "assert, throw, synchronized": "void f(E e#1) { assert e#1 != null : e#1; synchronized (e#1) { throw e#1; } }",
}  # fmt: skip

_MARK = re.compile(r"([\w$]+)#(\d+)")


@pytest.mark.thinned(23)
@pytest.mark.parametrize("marked", SITUATIONS.values(), ids=SITUATIONS)
def test_each_name_is_the_variable_that_java_says(marked: str) -> None:
    source, marks = _unmarked(marked)
    scopes = resolve(source)
    by_place = {
        source.encode()[: use.start].decode().__len__(): binding
        for binding in scopes.bindings
        for use in binding.occurrences
    }
    by_mark: dict[int, set[int]] = {}
    for place, mark in marks.items():
        binding = by_place.get(place)
        if mark == 0:
            assert binding is None or binding.view in ("outer", "field"), binding
        else:
            assert binding is not None, source[place : place + 20]
            assert binding.view in LOCAL_VIEWS | {"label"}, binding
            by_mark.setdefault(mark, set()).add(binding.number)
    assert all(len(numbers) == 1 for numbers in by_mark.values())
    assert len({number for numbers in by_mark.values() for number in numbers}) == len(by_mark)
    unmarked = {
        place: variable.name
        for place, variable in by_place.items()
        if variable.view in LOCAL_VIEWS | {"label"}
    }
    assert unmarked.keys() <= marks.keys(), unmarked
    assert not [binding for binding in scopes.bindings if binding.doubt and binding.view in LOCAL_VIEWS]


DOUBTS = {
    "an inherited field": ("void f(int x) { g(new Unknown() { void h() { p(x); } }); }", "x", INHERITED),
    "an inherited constant": ("void f(int x) { class L implements Unknown { int y = x; } }", "x", INHERITED),
    "above a local class": (
        "void f(int x) { class A extends U { } class B extends A { int g() { return x; } } }", "x", INHERITED,
    ),
    "in a constant of an enum": ("void f(int x) { enum E implements U { A { int y = x; } } }", "x", INHERITED),
    "a constant of an enum": ("void f(K k, int A) { switch (k) { case A: } p(A); }", "A", IN_CASE),
    "a constant in a rule": ("void f(K k, int A) { switch (k) { case B, A -> p(); default -> q(); } }", "A", IN_CASE),
    "a type of the same name": ("void f(int A) { p(A, (A) o); }", "A", IS_TYPE),
    "a condition that may be constant": (
        "void f(O o) { if (!(o instanceof A a)) { while (DEBUG) { n(); } } p(a); }", "a", OPEN_SCOPE,
    ),
    "a switch that may name every case": (
        "int f(O o, K k) { if (!(o instanceof A a)) { switch (k) { case X -> { return 1; } } } return a; }",
        "a", OPEN_SCOPE,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "name", "doubt"), DOUBTS.values(), ids=DOUBTS)
def test_what_the_text_does_not_tell_is_doubted(source: str, name: str, doubt: str) -> None:
    assert {binding.doubt for binding in resolve(source).bindings if binding.name == name} >= {doubt}


def test_a_class_that_inherits_no_field_raises_no_doubt() -> None:
    source = (
        "void f(int x) { g(new Runnable() { public void run() { p(x); } }); new Object() { int y = x; }; }"
    )
    assert [binding.doubt for binding in resolve(source).bindings if binding.name == "x"] == [None]


def test_uses_and_capture_are_told() -> None:
    scopes = resolve("void f(int a) { int b = a; b = 1; b += 2; (b)++; g(() -> a); }")
    a, b = (next(binding for binding in scopes.bindings if binding.name == name) for name in "ab")
    assert [use.use for use in b.occurrences] == ["declare", "write", "update", "update"]
    assert (a.captured, b.captured) == (True, False)


@pytest.mark.parametrize("source", ["int x;", "void f() { } void g() { }", "class A { void f() { } }", ""])
def test_only_one_method_is_resolved(source: str) -> None:
    with pytest.raises(SourceError, match="not one method"):
        resolve(source)


def _unmarked(marked: str) -> tuple[str, dict[int, int]]:
    """The text without marks, and the marks by place."""
    text, done, marks = "", 0, {}
    for match in _MARK.finditer(marked):
        text += marked[done : match.start()]
        marks[len(text)] = int(match[2])
        text += match[1]
        done = match.end()
    return text + marked[done:], marks

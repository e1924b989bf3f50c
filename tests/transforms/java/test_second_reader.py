"""The second reader of Java: what it disputes, what it does not, and that no transform edits what it disputes."""

from collections.abc import Iterator
from contextlib import suppress
from random import Random

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Transform
from codeaudit.transforms.java.canonical import canonicalise
from codeaudit.transforms.java.files import JAVA_FILES, UNREAD, function_context
from codeaudit.transforms.java.identifiers.merging import RENAME_MERGING
from codeaudit.transforms.java.identifiers.rename import RENAME
from codeaudit.transforms.java.javac_reader import JavacReader, newest_kit, structure
from codeaudit.transforms.java.locals import INSERT_FINAL
from codeaudit.transforms.java.members.this import INSERT_THIS
from codeaudit.transforms.java.order.reorder import REORDER
from codeaudit.transforms.java.parsing import read, read_file
from codeaudit.transforms.java.rules import EXPAND_AUGMENTED, REMOVE_PARENTHESES, SWAP_OPERANDS
from codeaudit.transforms.java.second_reader import bodies
from codeaudit.transforms.syntax.reader import DISPUTED

MISREAD = (
    "int d = (p.x) - c;",
    "int d = (p.x) + c;",
    "int d = 2 * (p.x) - c;",
    "s += (p.x) + t;",
    "char c = (char) i++;",
    "int k = -i++;",
    "int k = ~i--;",
    "int k = (int) (a.b) - c;",
    "int k = a ? b : c = d;",
    "int k = a | b = c;",
    "int k = -1[a];",
    "switch (o) { case B() when c > d -> h(); default -> g(); }",
    "switch (o) { case B b when (A & C) d -> e += a -> f; default -> g(); }",
    "boolean k = o instanceof A<B.C> when;",
    "switch (o) { case record<B> b: f(); default: g(); }",
    "switch (o) { case open<B<C>> b when b.c: f(); default: g(); }",
)
"""Statements that the parser takes apart in another way than Java."""

READ = (
    "int d = (p) + c - (A & b) + c;",
    "switch (o) { case A() -> f(); default -> g(); }",
    "switch (o) { case A a when (b) && f(c -> d) -> e += 1; case B b when c > d -> h(); default -> g(); }",
    "int d = (p.x - c) + (-c) - -c;",
    "int d = (int) -c + (int) +c + (int) ~c;",
    "Object o = (A) (b) + (A) !b + (A) ~b + (String) s;",
    "int k = (-i) + -(i++) + (char) (i++) + i++ + ++i + a[i]++ + this.a++ + (i)++;",
    "int k = a+++b - - -c;",
    "Runnable r = (Runnable & A) () -> f(); F f = (F) x -> y ? z : w;",
    "F f = a ? b -> c : d -> e; f(x -> y, A::b, int[]::new, List<String>::new, super::f);",
    "boolean b = a instanceof B && !(c instanceof D d) || e instanceof F(var g, int h);",
    'int k = new int[2].length + new int[] {1}[0] + new A()[0] + "s".length() + o.new B().c;',
    "int k = switch (a) { case 1, -2, B + 1 -> 2; default -> { yield 3; } } + 1;",
    "a = b = c; a += b; int[] e = {1, 2}; List<List<String>> f = a >> b >>> c > d;",
    "String s = \"// \\\" \" + 'a' + '\\'' + 0x1p3 + .5e-3f + 1_0L; // \" c\n/* ' */ f();",
    'String s = """\n  a " \\""" b\n  """;',
    "open: for (;;) { record = var + with; break open; }",
    "boolean k = a < b == c > d; boolean e = (a < b) == (c instanceof A<B> d);",
    "switch (o) { case A a when f(switch (a) { case 1 -> 2; default -> - -1; }) -> g(); default -> h(); }",
    "class L { record R(int a) { R { f(); } } } L.super.f(); int.class.g(); this.<T>f();",
)
"""Statements that both read alike, though they are like those above."""


def method(body: str) -> str:
    """A method with this body."""
    return f"void f() {{ {body} }}"


@pytest.mark.parametrize("body", MISREAD)
def test_what_the_parser_misreads_is_disputed(body: str) -> None:
    assert read(method(body)).disputed


@pytest.mark.parametrize("body", READ)
def test_what_is_read_right_is_not_disputed(body: str) -> None:
    try:
        reading = read(method(body))
    except SourceError:
        pytest.skip("the parser does not know it")
    assert reading.disputed == ()


@pytest.fixture(scope="module")
def javac() -> Iterator[JavacReader]:
    kit = newest_kit()
    if kit is None or kit.release < 21:
        pytest.skip("needs JDK 21 or newer")
    with JavacReader(kit) as made:
        yield made


def test_javac_says_the_same(javac: JavacReader) -> None:
    readings = {}
    for body in (*MISREAD, *READ):
        with suppress(SourceError):
            readings[body] = read(method(body))
    structures = dict(zip(readings, javac.structures(list(readings.values())), strict=True))
    alike = {
        body for body, said in structures.items() if said is not None and structure(readings[body]) == said
    }
    assert alike == {body for body in READ if structures.get(body) is not None}


def test_javac_counts_characters_beyond_the_first_plane_right(javac: JavacReader) -> None:
    texts = ['void f() { g("\U0001f600é", 1 + 2); }', "A(int ä) { this.b = ä * 2; }", "int f(int a) { }"]
    readings = [read(text) for text in texts]
    assert javac.structures(readings) == [structure(reading) for reading in readings]


TRANSFORMS: dict[str, Transform] = {
    "reorder": REORDER,
    "rename": RENAME,
    "swap-operands": SWAP_OPERANDS,
    "expand-augmented": EXPAND_AUGMENTED,
    "insert-final": INSERT_FINAL,
    "rename-merging": RENAME_MERGING,
}


@pytest.mark.thinned(14)
@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("body", MISREAD[:7])
def test_no_transform_edits_a_disputed_method(name: str, body: str) -> None:
    source = f"void f(P p, int c, int i, int s, int t) {{ p.x = 10; int a = 2 * c; s += a; {body} int z = 3; a = z; }}"
    refusal = TRANSFORMS[name].propose(source, Random(0))
    assert isinstance(refusal, Refused)
    assert refusal.reason == DISPUTED
    assert canonicalise(source) == source


def test_a_result_that_would_be_misread_is_refused() -> None:
    source = "int f(P p, int c) { return 3 * ((p.x) - c); }"
    refusal = REMOVE_PARENTHESES.propose(source, Random(0))
    assert isinstance(refusal, Refused)


FILE = """\
class A {
    int x;
    int y;
    int f(A p, int c) {
        return (p.x) - c;
    }
    int g(A p, int c) {
        return x + c;
    }
    int h(int c) {
        return x + c;
    }
}
"""


def test_a_disputed_method_costs_only_itself() -> None:
    assert [place.obstacle for place in JAVA_FILES.places(FILE)] == [DISPUTED, None, None]
    moves = INSERT_THIS.propose(FILE.replace("(p.x)", "(p.x) + x"), Random(0))
    assert not isinstance(moves, Refused)
    assert len(moves) == 2
    assert function_context(FILE[: FILE.index("    int g")] + "}").obstacle == DISPUTED


def test_a_method_that_is_called_is_not_known_if_it_is_disputed() -> None:
    text = """\
class A {
    int x; int y;
    private int own(int i) { char c = (char) i++; return c; }
    void f(int a) {
        this.x = a;
        int b = own(a);
        this.y = b;
    }
}
"""
    inner = text[text.index("    void f") : text.rindex("}")]
    refusal = REORDER.within(text).propose(inner, Random(0))
    assert isinstance(refusal, Refused)


SET_ASIDE = {
    "statements before super": "A(int x) { this.x = x; super(); }",
    "a target in parentheses": "void h() { (x) = 3; }",
    "what no Java has": "void h() { ??? }",
    "a class of its own": "void h() { class B { void i() { (x) = 3; } } }",
}


@pytest.mark.parametrize("member", SET_ASIDE.values(), ids=SET_ASIDE)
def test_a_method_that_the_parser_cannot_read_costs_only_itself(member: str) -> None:
    text = f"class A {{ int x;\n{member}\nint f() {{ return 1; }} }}"
    assert [place.obstacle for place in JAVA_FILES.places(text)] == [UNREAD, None]
    decoded = JAVA_FILES.decode(text.encode())
    assert decoded.compiles(text.replace("return 1", "return 2"))
    assert not decoded.compiles(text.replace("return 1", "return ?"))
    assert not decoded.compiles(text.replace("3", "4").replace("x = x", "x = 1").replace("???", "????"))
    with pytest.raises(SourceError):
        read(text)
    with pytest.raises(SourceError):
        read_file(member.replace("A(int x)", "A(int y)"))


def test_types_may_be_named_open_and_module() -> None:
    text = (
        "class open { module f(open a) { module b = new module(); open c = a; return b; } } class module { }"
    )
    assert [place.obstacle for place in JAVA_FILES.places(text)] == [None]
    moves = RENAME.propose("module f(open a) { module b = new module(); return b; }", Random(0))
    assert not isinstance(moves, Refused)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("class A { int f() { g(); } Object o = new B() { int h() { } }; static { i(); } }",
         [" g(); ", " int h() { } ", " i(); "]),
        ("interface I { int[] a = {1}; default void f() { } } record R(int a) { R { } } enum E { X { void f() { } } }",
         ["1", " ", " ", " void f() { } "]),
        ("class A<T extends B> { Class<?> k = A.class; { f(A.class); } @interface N { } }", [" f(A.class); "]),
        ("class A { void f() { }", []),
        ("} class A { void f() { } }", []),
    ],
)  # fmt: skip
def test_bodies_are_found_by_their_tokens(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in bodies(text.encode())] == found

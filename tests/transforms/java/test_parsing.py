"""Reading Java: files, members and bare methods, with every byte in its place."""

import gzip
import json

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.java.parsing import callables, only_callable, read, statements
from codeaudit.transforms.syntax.reader import EMPTY
from tests.support.data import data_set

MODERN = '''\
package p;

import java.util.*;

public sealed interface Shape permits Circle, Square { double area(); }

record Circle(double r) implements Shape {
    Circle { if (r < 0) throw new IllegalArgumentException(); }
    public double area() { return Math.PI * r * r; }
}

record Square(double side) implements Shape { public double area() { return side * side; } }

enum Size { SMALL { int n() { return 1; } }, BIG; int n() { return 2; } }

@interface Note { String value() default ""; }

class Main<T extends Comparable<? super T>> {
    static String tell(Object o) {
        return switch (o) {
            case Circle(double r) when r > 1 -> { var s = """
                big
                """; yield s; }
            case Square(var side) -> "s" + side;
            case null, default -> "?";
        };
    }

    <A> int count(List<@Note A> xs) { int n = 0; for (var _ : xs) n++; return n; }
}
'''


def test_todays_java_is_read_whole() -> None:
    reading = read(MODERN)
    assert reading.whole
    names = [reading.text(node.part("name")) for node in callables(reading)]
    assert names == ["area", "Circle", "area", "area", "n", "n", "tell", "count"]
    spans = [(node.start, node.end) for node in reading.root.walk()]
    assert all(0 <= start <= end <= len(MODERN.encode()) for start, end in spans)


def test_offsets_are_those_of_the_text_as_given() -> None:
    source = '// é\n@A("ü") int f(int ä) { return ä; } // end'
    reading = read(source)
    node = only_callable(reading)
    assert reading.text(node) == '@A("ü") int f(int ä) { return ä; }'
    assert reading.text(node.part("parameters").children[0].part("name")) == "ä"
    assert [reading.source[start:end].decode() for _, start, end in reading.comments] == ["// é", "// end"]


@pytest.mark.parametrize(
    ("source", "number"),
    [
        ("int f() { return 1; }", 1),
        ("int f(int a) { if (a > 0) { g(); } else return 2; return 3; }", 4),
        ("void f() { for (int i = 0; i < 3; i++) g(i); }", 2),
        ("void f(int a) { x: while (true) break x; int y = 2, z; }", 3),
        ("int f(int a) { switch (a) { case 1: g(); } return switch (a) { default -> 2; }; }", 4),
        ("void f( {", None),
    ],
)
def test_statements_are_counted_without_blocks_and_labels(source: str, number: int | None) -> None:
    assert statements(source) == number


def test_a_lone_semicolon_is_a_statement() -> None:
    block = only_callable(read("void f() { ; while (x()) ; l: ; }")).part("body")
    assert [node.kind for node in block.children] == [EMPTY, "while_statement", "labeled_statement"]
    assert block.children[1].part("body").kind == EMPTY
    assert block.children[2].children[-1].kind == EMPTY


@pytest.mark.parametrize(
    "source",
    ["void f( { }", "void f() { int x = ; }", "void f() { } }", "void f() { } } class X {", "\ud800", "{"],
)
def test_what_is_not_java_is_refused(source: str) -> None:
    with pytest.raises(SourceError, match="not valid Java"):
        read(source)


def test_a_comment_that_looks_like_an_import_makes_no_file() -> None:
    source = "/*\n import x.y;\n*/\nvoid f() { }"
    assert only_callable(read(source)).kind == "method_declaration"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["java_methods", "defects4j_methods"])
def test_real_methods_are_read(name: str) -> None:
    with gzip.open(data_set(f"{name}.jsonl.gz"), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for number, line in enumerate(lines) if number % 20 == 0]
    assert len(rows) > 100
    for row in rows:
        assert only_callable(read(row["source"])).start >= 0


LACKING = {
    "void f(O o) { switch (o) { case A.B(M m) when m.n() -> p(m); default -> { } } }": "A.B",
    "void f(O o) { if (o instanceof a.A.B(var m)) p(m); }": "a.A.B",
    "int f(O o) { return switch (o) { case A _, B.C _, D _ -> 1; case E e -> 2; }; }": "A _, B.C _, D",
    "void f(@Nullable Object @Nullable ... all) { p(all); }": "Object @Nullable",
    "import module java.base;\n\nclass A { }\n": "module java",
}


@pytest.mark.parametrize(("source", "word"), LACKING.items())
def test_what_the_grammar_lacks_is_read_as_one_word(source: str, word: str) -> None:
    reading = read(source)
    words = [reading.text(node) for node in reading.root.walk() if node.kind.endswith("identifier")]
    assert word in words
    assert reading.source.decode() == source


def test_comments_and_strings_stay_where_such_names_are() -> None:
    source = 'void f(O o) { // case A _, B _\n g("case A.B(", o instanceof A.B(M m)); }'
    reading = read(source)
    (call,) = (node for node in reading.root.walk() if node.kind == "method_invocation")
    assert reading.text(call) == 'g("case A.B(", o instanceof A.B(M m))'
    assert [source[start:end] for _, start, end in reading.comments] == ["// case A _, B _"]


@pytest.mark.parametrize(
    "source",
    [
        "C(int a) { if (a < 0) throw new E(); super(a); }",  # what stands before moves by other rules
        "void f(O o) { switch (o) { case A(B(var x), C _), D(_) -> { } } }",
        "void f(O o) { switch (o) { case A _,\n B _ -> { } } }",
        "void f() { a.B(c) -> 1; }",
    ],
)
def test_what_is_lacking_otherwise_is_refused(source: str) -> None:
    with pytest.raises(SourceError, match="not valid Java"):
        read(source)


def test_a_carriage_return_that_hides_code_is_refused() -> None:
    """To Java it ends the comment; to the grammar it does not."""
    with pytest.raises(SourceError, match="carriage return"):
        read("void f() { int a = 1; // a\r int b = a;\n int c = 1; }")
    assert len(read("void f() { // a\r\n int b = 1; // b\r\n }\r\n").comments) == 2


@pytest.mark.parametrize(
    "source", ["", "// é", "//€(", "// \ufeff😀", "int é;", "void f() { } // 😀", "class A { }\n// é", "é é;"]
)
def test_every_node_has_a_text(source: str) -> None:
    reading = read(source)
    assert reading.text(reading.root) == source if not reading.whole else True
    for node in reading.root.walk():
        assert reading.text(node) in source


@pytest.mark.parametrize(
    ("source", "whole"),
    [
        ("package a; class A { }", True),
        ("/* a */ package a; class A { }", True),
        ("/* a */ package/* b */a; class A { }", True),
        ("// package a;\nclass A { }", False),
        ("import a.B; import/**/c.D; class A { }", True),
        ("class A { }", False),
    ],
)
def test_what_is_a_file(source: str, whole: bool) -> None:
    assert read(source).whole is whole

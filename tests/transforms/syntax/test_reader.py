"""The reader of all languages: names of kinds and fields, dropped nodes, wrappers, and offsets that stay."""

from dataclasses import replace

import pytest
import tree_sitter_java
import tree_sitter_javascript

from codeaudit.transforms.syntax.reader import Grammar, Node, ParsedText, TreeReader, blanked

METHOD = b"int f(int a) { if (a > 1) return (a); /* no */ return 0; }"


def _reader(**settings: object) -> TreeReader:
    comments = frozenset({"block_comment"})
    return TreeReader(Grammar(load=tree_sitter_java.language, comments=comments, **settings))  # type: ignore[arg-type]


def test_kinds_and_fields_get_the_names_of_the_grammar() -> None:
    reader = _reader(aliases={"if_statement": "branch"}, fields={"consequence": "then"})
    root = reader.walk(reader.parse(METHOD)).root
    branch = next(node for node in root.walk() if node.kind == "branch")
    assert METHOD[branch.part("then").start :].startswith(b"return (a)")
    assert branch.child("consequence") is None


def test_a_dropped_node_gives_its_field_to_its_part() -> None:
    kept, dropped = _reader(), _reader(dropped=frozenset({"parenthesized_expression"}))
    before = next(node for node in kept.walk(kept.parse(METHOD)).root.walk() if node.kind == "if_statement")
    after = next(
        node for node in dropped.walk(dropped.parse(METHOD)).root.walk() if node.kind == "if_statement"
    )
    assert before.part("condition").kind == "parenthesized_expression"
    assert after.part("condition").kind == "binary_expression"
    assert [kind for kind, _, _ in after.tokens] == ["if", "(", ")"]
    assert [child.kind for child in after.children] == ["binary_expression", "return_statement"]


def test_a_node_without_a_field_gets_the_one_of_its_kind() -> None:
    reader = _reader(unnamed={"return_statement": "leaving", "parenthesized_expression": "value"})
    nodes = list(reader.walk(reader.parse(METHOD)).root.walk())
    block = next(node for node in nodes if node.kind == "block")
    assert block.part("leaving").kind == "return_statement"
    # A field of the grammar goes before.
    branch = next(node for node in nodes if node.kind == "if_statement")
    assert branch.part("condition").kind == "parenthesized_expression"


def test_a_comment_is_no_node_and_has_its_place() -> None:
    reader = _reader()
    walked = reader.walk(reader.parse(METHOD))
    assert [METHOD[start:end] for _, start, end in walked.comments] == [b"/* no */"]
    assert all(node.kind != "block_comment" for node in walked.root.walk())


def test_offsets_in_a_wrapper_are_those_of_the_text() -> None:
    reader = _reader(wrapper=(b"class A {\n", b"\n}"))
    tree = reader.parse_wrapped(METHOD)
    assert tree is not None
    method = next(
        node
        for node in reader.walk(tree, len(b"class A {\n")).root.walk()
        if node.kind == "method_declaration"
    )
    assert (method.start, method.end) == (0, len(METHOD))
    assert reader.parse_wrapped(b"} class B {") is None


def test_blanks_keep_every_line() -> None:
    assert blanked(b"a\r\nbc\n") == b" \r\n  \n"


def test_the_root_is_the_whole_text() -> None:
    reader = _reader(wrapper=(b"class A {\n", b"\n}"))
    root = reader.walk(reader.parse(METHOD)).root
    assert (root.kind, root.start, root.end, root.parent) == ("program", 0, len(METHOD), None)
    tree = reader.parse_wrapped(METHOD)
    assert tree is not None
    shifted = reader.walk(tree, len(b"class A {\n")).root
    assert (shifted.start, shifted.end) == (0, len(METHOD) + len(b"\n}"))


def _nested(node: Node) -> object:
    return (
        node.kind,
        node.field,
        [kind for kind, _, _ in node.tokens],
        [_nested(child) for child in node.children],
    )


SAME = b"int f() { { g(); } { h(); } return a + b * c; }"
ALIKE = (SAME, b"int x() {{ y ( ) ; }{ z();} return u + v*w; }")
OTHERS = (
    b"int f() { { g(); { h(); } } return a + b * c; }",
    b"int f() { { g(); } { } h(); return a + b * c; }",
    b"int f() { { g(); } { h(); } return a - b * c; }",
    b"int f() { { g(); } { h(); } return a * b + c; }",
    b"int f() { { g(); } { h(); } return a + b; }",
    b"int f() { if (a) b(); else c(); }",
    b"int f() { if (a) { b(); c(); } }",
)


def test_shapes_are_equal_where_trees_are() -> None:
    reader = _reader()
    walked = [reader.walk(reader.parse(text)) for text in (*ALIKE, *OTHERS)]
    for one in walked:
        for other in walked:
            assert (one.shape == other.shape) is (_nested(one.root) == _nested(other.root))
        # The end of a node has a number that no kind and no field has. Without it `a (b) c` may be `a (b c)`.
        assert one.shape.count(-1) == sum(bool(node.children or node.tokens) for node in one.root.walk()) - 1
        assert min(one.shape) == -1
    assert walked[0].shape == walked[1].shape


@pytest.mark.parametrize(
    ("start", "end", "disputed"),
    [
        (0, 5, False), (0, 6, True), (4, 7, True), (5, 10, True), (6, 7, True), (9, 12, True), (10, 12, False),
        (0, 99, True), (12, 20, False), (19, 21, True),
    ],
)  # fmt: skip
def test_a_node_is_disputed_where_a_part_of_it_is(start: int, end: int, disputed: bool) -> None:
    text = ParsedText(
        source=b"",
        root=Node("program", None, 0, 99, None),
        shape=(),
        comments=(),
        disputed=((5, 10), (20, 30)),
    )
    assert text.is_disputed(Node("block", None, start, end, None)) is disputed
    assert not replace(text, disputed=()).is_disputed(text.root)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("int f() {\n\n int a = ;\n}", 3), ("int f() {\n return 0\n}\nint g() { }", 2), ("int f() {\n g(\n}", 2), ("@\nint", 1),
        ("int f() {\n}\n\nint g() { ) }", 4), ("int f() {\n return 0; }\nint g() {\n return 1\n}", 4), ("int f() { }", 1),
    ],
)  # fmt: skip
def test_the_line_of_the_first_error(text: str, line: int) -> None:
    assert _reader().first_error(text.encode()) == f"line {line}"


BLOCKS = {
    "while (a) { b(); } // c\ng();": ["while (a) { b(); }", "{ b(); }"],
    "if (x) while (a) { b(); } /* c */\n\ng();": [
        "if (x) while (a) { b(); }",
        "while (a) { b(); }",
        "{ b(); }",
    ],
    "if (x) { { b(); } /* c */ }": ["if (x) { { b(); } /* c */ }", "{ { b(); } /* c */ }", "{ b(); }"],
    "if (x) { b(); /* c */ }": ["if (x) { b(); /* c */ }", "{ b(); /* c */ }"],
    "while (a) b(); // c\n": ["while (a) b();"],
    "while (a) { }": ["while (a) { }", "{ }"],
    "while (a) { } // c\nb()": ["while (a) { }", "{ }"],
    "if (x) while (a) { } // c\nb()": ["if (x) while (a) { }", "while (a) { }", "{ }"],
    "if (x) { a(); } /* c */": ["if (x) { a(); }", "{ a(); }"],
    "if (x) { a(); }\n\n/* c */ // d\n;": ["if (x) { a(); }", "{ a(); }"],
}


@pytest.mark.parametrize(("source", "parts"), BLOCKS.items(), ids=BLOCKS)
def test_a_comment_behind_a_block_is_no_part_of_it(source: str, parts: list[str]) -> None:
    """The grammar of JavaScript looks for a semicolon there, and counts the comments to the block."""
    aliases = {"statement_block": "block"}
    comments = frozenset({"comment"})
    reader = TreeReader(Grammar(load=tree_sitter_javascript.language, comments=comments, aliases=aliases))
    nodes = reader.walk(reader.parse(source.encode())).root.walk()
    kinds = ("while_statement", "if_statement", "block")
    assert [source[node.start : node.end] for node in nodes if node.kind in kinds] == parts

"""The reader of all languages: names of kinds and fields, dropped nodes, wrappers, and offsets that stay."""

import tree_sitter_java

from codeaudit.transforms.syntax.reader import Grammar, TreeReader, blanked

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
    assert [one.kind for one in after.children] == ["binary_expression", "return_statement"]


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

"""What is left out where a glance at the text shows how the parser reads it."""

from itertools import product
from typing import Final

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.javascript import non_null, parsing
from codeaudit.transforms.javascript.parsing import JAVASCRIPT, READERS, TYPESCRIPT, read_unit

WORDS = ("f", "async", "static", "get", "if", "for", "while", "switch", "with", "catch", "function",
         "async function", "class A extends", "return", "new", "await", "do", "else", "case", "export default",
         "async f", "static async f", "public f", "let", "yield", "of", "enum", "declare", "namespace", "f<T>",
         "abstract class A extends", "export class A extends", "function f", "async f\n", "f\n")  # fmt: skip
HEADS = ("()", "(a)", "(a, b)", "(a: B, c?: D<E>)", "(a\n)")
RESULTS = ("", ": T", ": A<B>[]", ": a is B", "\n", " =>")
BODIES = ("{}", "{ return 1 }", "{ case 1: }", "{ f() {} }")


@pytest.mark.parametrize("language", [JAVASCRIPT, TYPESCRIPT])
def test_what_looks_like_a_method_is_no_file(language: str) -> None:
    seen = 0
    for parts in product(WORDS, HEADS, RESULTS, BODIES):
        word, head, result, body = parts
        text = f"{word}{head}{result} {body}".encode()
        if parsing._METHOD.match(text):
            seen += 1
            for reader in READERS[language]:
                assert reader.parse(text).root_node.has_error, text
    assert seen > 100


@pytest.mark.parametrize(
    "text",
    [
        "f(a) {}",
        "async f(a, b) { return a }",
        "static f() {}",
        "get f() {}",
        "f(a: A<B>): C[] {}",
        "f<T>(a) {}",
        'f(a: A): B<this["c"]> {}',
        "f<A extends B | C>(a) {}",
        "f(a?: { b?: A }) {}",
        "static a = (b: A): B => {}",
        "delete (a) {}",
    ],
)
def test_a_method_is_seen_at_a_glance(text: str) -> None:
    assert parsing._METHOD.match(text.encode())
    reading, _ = read_unit(text, TYPESCRIPT)
    assert not reading.whole


@pytest.mark.parametrize(
    "text",
    [
        "async (a): A => b;",
        "await async (a): A => b;",
        "return (a): { b: A } => b;",
        "static in b;",
        "static\nb;",
        "f(a)\n{ }",
    ],
)
def test_a_file_is_no_member_at_a_glance(text: str) -> None:
    assert parsing._METHOD.match(text.encode()) is None
    assert parsing.read(text, TYPESCRIPT).whole


@pytest.mark.parametrize(
    "text",
    ["f " * 5000, "f(" * 5000, "a " * 5000 + "(", "f" * 50000, "f(" + "{a}" * 5000, "f(" + "{a" * 5000],
)
def test_a_long_text_is_looked_at_once(text: str) -> None:
    # A pattern that tries each way to cut the words apart would not end.
    assert parsing._METHOD.match(text.encode()) is None


@pytest.mark.parametrize(
    "before", ["a", "a.b", "a[0]", "f()", "this", "'a'", "`a`", "(a)", "a!", "/a/g", "[a]"]
)
@pytest.mark.parametrize("gap", ["", " ", "\n", " /* ( */ ", " // (\n"])
@pytest.mark.parametrize("left", ["n && ", "-", "typeof ", "n + "])
def test_a_sign_that_the_grammar_misreads_is_looked_for(before: str, gap: str, left: str) -> None:
    text = f"x = {left}{before}{gap}!;".encode()
    tree = READERS[TYPESCRIPT][0].parse(text)
    misread = not tree.root_node.has_error and non_null._MISREAD.search(str(tree.root_node)) is not None
    assert non_null._SIGN.search(text) or not misread
    assert misread or gap or before == "a!", text


BROKEN: Final = (
    "let@a = b, c;", "let@a", "let@{ a } = b;", "let@[a] = b;", "if (a) { let@of = 1 }", "switch (a) { case 1: let@b; }",
    "for (let@a of b) ;", "for (let@a = 1;;) ;", "await@a;", "b = await@f(a);", "return await@(a)", "await@[a]", "await@`a`",
    "for (await@a;;) ;", "g(async () => { let@c = await@d })", "class A { static async f() { let@c = await@d; } }",
    "const@a = 1;", "var@a = 1;", "typeof@a;", "b = new@A();", "delete@a.b",
)  # fmt: skip


@pytest.mark.parametrize("language", [JAVASCRIPT, TYPESCRIPT])
@pytest.mark.parametrize("form", BROKEN)
def test_a_line_break_behind_a_word_is_a_blank(form: str, language: str) -> None:
    """The grammar takes the words for names there; what it cannot be told is refused."""
    plain = read_unit(f"async function f() {{ {form.replace('@', ' ')} }}", language)[0]
    for blanks in ("\n", "\r\n  ", " \n\n\t", "\n// c\n", "/* c\n */ "):
        text = f"async function f() {{ {form.replace('@', blanks)} }}"
        try:
            broken = read_unit(text, language)[0]
        except SourceError:
            assert blanks != "\n" or "let@{" in form, text
            continue
        assert [(node.kind, node.field) for node in broken.root.walk()] == [
            (node.kind, node.field) for node in plain.root.walk()
        ], text
        assert text.encode() == broken.source


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("function f() { await\na }", ["expression_statement", "expression_statement"]),
        ("function f() { let\nif (a) b }", ["expression_statement", "if_statement"]),
        ("function f() { let;\na }", ["expression_statement", "expression_statement"]),
        ("function f() { `let\na`; // let\na }", ["expression_statement", "expression_statement"]),
        ("async function f() { yield\na }", ["expression_statement", "expression_statement"]),
        ("function f() { using a = b }", ["using_declaration"]),
    ],
)
def test_words_that_are_names_stay_names(text: str, kinds: list[str]) -> None:
    block = next(node for node in read_unit(text)[0].root.walk() if node.kind == "block")
    assert [child.kind for child in block.children] == kinds


MODIFIERS: Final = (
    *("get", "set", "static", "async", "accessor", "declare", "readonly", "abstract", "override", "public"),
    *("private", "protected", "static get", "static async", "private readonly"),
)
MEMBERS: Final = (
    *("x(a) {}", "[1](a) {}", "'k'(a) {}", "1(a) {}", "#p(a) {}", "*v() {}", "x = 1", "[1] = 2", "{ f(); }"),
    *("async m() {}", "in(a) {}"),
)


@pytest.mark.parametrize("language", [JAVASCRIPT, TYPESCRIPT])
@pytest.mark.parametrize("word", MODIFIERS)
def test_a_word_on_a_line_before_a_member_is_refused(word: str, language: str) -> None:
    """It may be a member of its own or belong to the next, and the grammars do not tell these apart."""
    for member in MEMBERS:
        for blanks in ("\n", " // c\n", "/*\n*/"):
            with pytest.raises(SourceError):
                read_unit(f"function f() {{ class A {{ {word}{blanks}{member} }} }}", language)


@pytest.mark.parametrize("language", [JAVASCRIPT, TYPESCRIPT])
@pytest.mark.parametrize(
    "body", ["get;\nx() {}", "get = 1\nset = 2", "async() {}\nx() {}", "static get x() {}\ny = 1"]
)
def test_words_with_their_member_on_one_line_are_read(body: str, language: str) -> None:
    for text in (f"function f() {{ class A {{ {body} }} }}", "function f() { return { get\nx() {} }; }"):
        assert read_unit(text, language)[0].source == text.encode()


@pytest.mark.parametrize(
    "head", ["x = y as T", "x = y satisfies T", "let a = <T>y as T", "let a = y as A.B<T>"]
)
@pytest.mark.parametrize("line", ["(z)", "[0]", "[z] = [1]", "`a`"])
def test_a_bracket_below_a_type_begins_a_statement(head: str, line: str) -> None:
    try:
        read = read_unit(f"function f() {{ {head}\n{line} }}", TYPESCRIPT)[0]
    except SourceError:
        return
    block = next(node for node in read.root.walk() if node.kind == "block")
    assert len(block.children) == 2


def test_a_word_above_a_class_is_no_part_of_it() -> None:
    with pytest.raises(SourceError):
        read_unit("function f() { abstract\nclass A {} }", TYPESCRIPT)
    read_unit("function f() { abstract class A {} }", TYPESCRIPT)


@pytest.mark.parametrize(
    "text", ["using\na = 1;", "await using\na = 1;", "for (using\na of b) ;", "{ using // c\n a = b }"]
)
def test_a_declaration_that_the_grammar_alone_sees_is_refused(text: str) -> None:
    """`using` at the end of a line is a name."""
    with pytest.raises(SourceError):
        read_unit(f"async function f() {{ {text} }}")

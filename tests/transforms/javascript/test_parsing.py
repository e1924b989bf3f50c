"""What is left out where a glance at the text shows how the parser reads it."""

from itertools import product

import pytest

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

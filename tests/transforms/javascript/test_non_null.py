"""The `!` of TypeScript: it binds tighter than every operator, which the grammar does not know."""

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.javascript.parsing import TYPESCRIPT, read
from codeaudit.transforms.syntax.reader import Node

BEFORE = ["n > m && ", "n + ", "n ?? ", "n ** ", "k in ", "!", "-", "typeof ", "await -", "n - -", "new "]
BEHIND = [
    "",
    "(g)",
    ".k",
    "[0]",
    "?.(g)",
    "?.[0]",
    "!.k",
    ".k!",
    ".k!(g)",
    "`x`",
    ".k * 2 + c!.d",
    "(g) && d",
    "!",
]


def outlined(node: Node, asserted: bool) -> tuple[object, ...] | None:
    """Kinds, fields and tokens, as if no `!` and no parentheses were there."""
    inner = node
    while inner.kind == "parenthesized_expression" or (not asserted and inner.kind == "non_null_expression"):
        inner = inner.children[0]
    return (inner.kind, node.field, inner.operator, *(outlined(child, asserted) for child in inner.children))


@pytest.mark.parametrize("ending", [";", "\n", "; // !"])
@pytest.mark.parametrize(
    "form", ["f(() => { x = %s; y() })", "x = %s", "class A { async m() { return %s } }"]
)
def test_the_sign_belongs_to_the_operand_before_it(form: str, ending: str) -> None:
    """The tree is that of the text without the sign, and that of the text with parentheses around the operand."""
    seen = 0
    for before in BEFORE:
        for behind in BEHIND:
            if before == "new " and behind not in ("", "(g)"):
                continue
            made = (form % (before + "a.b!" + behind)) + ending
            reading = read(made, TYPESCRIPT)
            plain = read(
                made.replace("!.", ".").replace("b!!", "b").replace("b!", "b").replace("k!", "k"), TYPESCRIPT
            )
            assert outlined(reading.root, False) == outlined(plain.root, False), made
            grouped = read((form % (before + "(a.b!)" + behind)) + ending, TYPESCRIPT)
            assert outlined(reading.root, True) == outlined(grouped.root, True), made
            assert reading.shape != plain.shape
            for node in reading.root.walk():
                assert all(child.parent is node for child in node.children)
                assert all(node.start <= child.start <= child.end <= node.end for child in node.children)
            seen += 1
    assert seen > 100


def test_a_sign_behind_a_type_is_refused() -> None:
    with pytest.raises(SourceError, match="what is no operand"):
        read("x = a as T!;", TYPESCRIPT)

"""Numbers, characters and strings spelled otherwise: same types, same values, constants stay constant."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.strategies.dialect import COMMENT, CodeStrategy, CodeText, each
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.text import replace

SIGNED: Final = "literal belongs to its sign"
OCTAL: Final = "octal number"
SHORT: Final = "string too short to split"
BLOCK: Final = "text block"
PREFIX: Final = "string with a prefix"
SEAM: Final = "escape at the seam"
_CHARACTER: Final = re.compile(
    r"\\(?:[0-7]{1,3}|x[0-9a-fA-F]+|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|[^\\]", re.DOTALL
)
"""One character of a string, which an escape spells with several; perhaps more than one."""
_OPEN_END: Final = re.compile(r"\\(?:[0-7]{1,2}|x[0-9a-fA-F]+)$")
"""An escape that would go on with a digit behind it."""
_LARGEST: Final = 2**31 - 1


def _bases(code: CodeText) -> Iterator[Site | Refused]:
    """`255` as `0xff`, `1000` as `1_000`, `1L` as `1l`, `1.5` as `1.5d`."""
    for node in code.nodes:
        if node.kind in code.dialect.numbers or node.kind in code.dialect.fractions:
            yield _spelt_otherwise(code, node)


def _spelt_otherwise(code: CodeText, node: Node) -> Site | Refused:
    is_signed = node.parent is not None and node.parent.kind == "unary_expression"
    if is_signed and node.kind in code.dialect.numbers:
        return Refused(SIGNED)  # -2147483648 has no counterpart without its sign
    options = code.spellings(node)
    if not options:
        return Refused(OCTAL)
    return Site(tuple((replace(node, new),) for new in options), "number written otherwise", code.line(node))


@each("character_literal")
def _escaped(code: CodeText, node: Node) -> Site | None:
    r"""`'a'` as `'\141'`."""
    text = code.text(node)[1:-1]
    if len(text) != 1 or not 32 <= ord(text) < 127:
        return None
    options = ((replace(node, f"'\\{ord(text):o}'"),), (replace(node, f"'\\{ord(text):03o}'"),))
    # From 64 on both have three digits.
    return Site(options[: 1 + (ord(text) < 64)], "character by its number", code.line(node))


@each("string_literal")
def _split(code: CodeText, node: Node) -> Site | Refused:
    """`"ab"` as `"a" + "b"` or `"a" "b"`, which is a constant, too."""
    if code.is_multiline(node):
        return Refused(BLOCK)
    if not code.text(node).startswith('"'):
        return Refused(PREFIX)
    characters = _CHARACTER.findall(code.source[node.start + 1 : node.end - 1].decode())
    if len(characters) < 2:
        return Refused(SHORT)
    options, joint = [], code.dialect.joint
    own = code.precedence.operators.get(joint.strip(), code.precedence.primary)
    for number in range(1, len(characters)):
        middle = node.start + 1 + len("".join(characters[:number]).encode())
        parts = (Span(node.start, middle), f'"{joint}"', Span(middle, node.end))
        options.append((code.precedence.replace(node, parts, own),))
    return Site(tuple(options), "string in two", code.line(node))


@each("binary_expression", "concatenated_string")
def _join(code: CodeText, node: Node) -> Site | Refused | None:
    """`"a" + "b"` or `"a" "b"` as `"ab"`."""
    refused = None
    for first, second in _neighbours(code, node):
        if first.kind != "string_literal" or second.kind != "string_literal":
            continue
        left, right = code.text(first), code.text(second)
        if code.is_multiline(first) or code.is_multiline(second):
            refused = Refused(BLOCK)
        elif not left.startswith('"') or not right.startswith('"'):
            refused = Refused(PREFIX)
        elif code.commented(first.end, second.start):
            refused = Refused(COMMENT)
        elif _OPEN_END.search(left[:-1]) or "??" in left[1:-1][-2:] + right[1:-1][:2]:
            refused = Refused(SEAM)  # `"\1" + "2"` is not `"\12"`, and `"?" "?/"` has no trigraph
        else:
            return code.site(node, "two strings in one", Patch(first.end - 1, second.start + 1, ()))
    return refused


def _neighbours(code: CodeText, node: Node) -> Iterable[tuple[Node, Node]]:
    """The operands that stand side by side."""
    if node.kind == "concatenated_string":
        return pairwise(node.children)
    left, right = node.children
    if node.operator != code.dialect.joint.strip():
        return ()
    # `x + "a" + "b"` is `(x + "a") + "b"`.
    is_sum = left.kind == "binary_expression" and left.operator == node.operator
    return ((left.children[1] if is_sum else left, right),)


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


def _changed(code: CodeText) -> Iterator[Site]:
    """A number one larger."""
    for node in code.nodes:
        if node.kind in code.dialect.numbers and (site := _one_larger(code, node)) is not None:
            yield site


def _one_larger(code: CodeText, node: Node) -> Site | None:
    parent = node.parent
    if parent is None or parent.kind not in ("return_statement", "binary_expression", "argument_list"):
        return None
    digits = code.text(node)
    if not digits.isdigit() or (len(digits) > 1 and digits[0] == "0") or int(digits) >= _LARGEST:
        return None
    return code.site(node, "number one larger", replace(node, str(int(digits) + 1)))


@each("string_literal")
def _string_changed(code: CodeText, node: Node) -> Site | None:
    if code.is_multiline(node):
        return None
    return code.site(node, "string longer", Patch(node.end - 1, node.end - 1, ("~",)))


LITERAL_BASES: Final = CodeStrategy(
    name="literal-bases", needs=("spellings",), find=_bases, nothing="no number"
)
CHARACTER_ESCAPES: Final = CodeStrategy(name="character-escapes", find=_escaped, nothing="no character")
SPLIT_STRINGS: Final = CodeStrategy(name="split-strings", find=_split, nothing="no string")
JOIN_STRINGS: Final = CodeStrategy(name="join-strings", find=_join, nothing="no two strings in a row")
LITERAL_CHANGED: Final = CodeStrategy(
    name="literal-changed", find=_changed, nothing="no number", kind="control"
)
STRING_CHANGED: Final = CodeStrategy(
    name="string-changed", find=_string_changed, nothing="no string", kind="control"
)

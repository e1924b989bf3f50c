"""Numbers, characters and strings spelled otherwise: same types, same values, constants stay constant."""

import re
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.precedence import SUM
from codeaudit.transforms.java.rewriting import COMMENT, JavaSource, Rewriting, each, replace, replace_grouped
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.syntax.reader import Node

SIGNED: Final = "literal belongs to its sign"
OCTAL: Final = "octal number"
SHORT: Final = "string too short to split"
BLOCK: Final = "text block"
OPEN: Final = "octal escape at the seam"
_NUMBER: Final = re.compile(r"(0[xX])?([0-9a-fA-F_]+?)([lL]?)")
_CHARACTER: Final = re.compile(r"\\(?:[0-3]?[0-7]{1,2}|.)|[^\\]", re.DOTALL)
"""One character of a string, which an escape spells with several."""
_OCTAL_END: Final = re.compile(r"\\[0-7]{1,2}$")
_LARGEST: Final = 2**31 - 1


@each("decimal_integer_literal", "hex_integer_literal", "decimal_floating_point_literal")
def _bases(code: JavaSource, node: Node) -> Site | Refused:
    """`255` as `0xff`, `1000` as `1_000`, `1L` as `1l`, `1.5` as `1.5d`."""
    text = code.text(node)
    if node.kind == "decimal_floating_point_literal":
        options = _floats(text)
    elif node.parent is not None and node.parent.kind == "unary_expression":
        return Refused(SIGNED)  # -2147483648 has no counterpart without its sign
    else:
        options = _integers(text)
    if not options:
        return Refused(OCTAL)
    return Site(tuple((replace(node, one),) for one in options), "number written otherwise", code.line(node))


def _integers(text: str) -> list[str]:
    """Other spellings of a decimal or hexadecimal number.

    A hexadecimal number above the largest int may be negative: `0xffffffff` is -1. It keeps its base.
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        return []
    head, digits, suffix = match.groups()
    value = int(digits.replace("_", ""), 16 if head else 10)
    options = []
    if value <= _LARGEST:
        options = [f"{value}{suffix}" if head else f"{value:#x}{suffix}"]
        if value > 999:
            options.append(f"{value:_}{suffix}")
    if suffix:
        options.append(f"{head or ''}{digits}{suffix.swapcase()}")
    return [one for one in options if one != text]


def _floats(text: str) -> list[str]:
    """Other spellings of a number with a point: another suffix of the same type."""
    if text[-1] in "fFdD":
        return [text[:-1] + text[-1].swapcase()]
    return [f"{text}d", f"{text}D"]


@each("character_literal")
def _escaped(code: JavaSource, node: Node) -> Site | None:
    r"""`'a'` as `'\141'`."""
    text = code.text(node)[1:-1]
    if len(text) != 1 or not 32 <= ord(text) < 127:
        return None
    options = ((replace(node, f"'\\{ord(text):o}'"),), (replace(node, f"'\\{ord(text):03o}'"),))
    # From 64 on both have three digits.
    return Site(options[: 1 + (ord(text) < 64)], "character by its number", code.line(node))


@each("string_literal")
def _split(code: JavaSource, node: Node) -> Site | Refused:
    """`"ab"` as `"a" + "b"`, which is a constant, too."""
    if node.has('"""'):
        return Refused(BLOCK)
    characters = _CHARACTER.findall(code.source[node.start + 1 : node.end - 1].decode())
    if len(characters) < 2:
        return Refused(SHORT)
    options = []
    for number in range(1, len(characters)):
        middle = node.start + 1 + len("".join(characters[:number]).encode())
        parts = (Span(node.start, middle), '" + "', Span(middle, node.end))
        options.append((replace_grouped(node, parts, SUM),))
    return Site(tuple(options), "string in two", code.line(node))


@each("binary_expression")
def _join(code: JavaSource, node: Node) -> Site | Refused | None:
    """`"a" + "b"` as `"ab"`."""
    if node.operator != "+":
        return None
    left, right = node.children
    # `x + "a" + "b"` is `(x + "a") + "b"`.
    first = left.children[1] if left.kind == "binary_expression" and left.operator == "+" else left
    if first.kind != "string_literal" or right.kind != "string_literal":
        return None
    if first.has('"""') or right.has('"""'):
        return Refused(BLOCK)
    if code.commented(first.end, right.start):
        return Refused(COMMENT)
    if _OCTAL_END.search(code.text(first)[:-1]):
        return Refused(OPEN)  # `"\1" + "2"` is not `"\12"`
    return code.site(node, "two strings in one", Patch(first.end - 1, right.start + 1, ()))


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


@each("decimal_integer_literal")
def _changed(code: JavaSource, node: Node) -> Site | None:
    """A number one larger."""
    parent = node.parent
    if parent is None or parent.kind not in ("return_statement", "binary_expression", "argument_list"):
        return None
    digits = code.text(node)
    if not digits.isdigit() or (len(digits) > 1 and digits[0] == "0") or int(digits) >= _LARGEST:
        return None
    return code.site(node, "number one larger", replace(node, str(int(digits) + 1)))


@each("string_literal")
def _string_changed(code: JavaSource, node: Node) -> Site | None:
    if node.has('"""'):
        return None
    return code.site(node, "string longer", Patch(node.end - 1, node.end - 1, ("~",)))


LITERAL_BASES: Final = Rewriting(name="literal-bases", find=_bases, nothing="no number")
CHARACTER_ESCAPES: Final = Rewriting(name="character-escapes", find=_escaped, nothing="no character")
SPLIT_STRINGS: Final = Rewriting(name="split-strings", find=_split, nothing="no string")
JOIN_STRINGS: Final = Rewriting(name="join-strings", find=_join, nothing="no two strings in a row")
LITERAL_CHANGED: Final = Rewriting(name="literal-changed", find=_changed, nothing="no number", kind="control")
STRING_CHANGED: Final = Rewriting(
    name="string-changed", find=_string_changed, nothing="no string", kind="control"
)

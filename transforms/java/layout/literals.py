"""Numbers, characters and strings spelled otherwise: same types, same values, constants stay constant."""

import re
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.parsing import Node
from codeaudit.transforms.java.rewriting import COMMENT, SUM, JavaSource, Rewriting, fitted, needed, over
from codeaudit.transforms.patches import Patch, Site, Span

SIGNED: Final = "literal belongs to its sign"
OCTAL: Final = "octal number"
SHORT: Final = "string too short to split"
BLOCK: Final = "text block"
OPEN: Final = "octal escape at the seam"
_NUMBER: Final = re.compile(r"(0[xX])?([0-9a-fA-F_]+?)([lL]?)")
_UNIT: Final = re.compile(r"\\(?:[0-3]?[0-7]{1,2}|.)|[^\\]", re.DOTALL)
_OCTAL_END: Final = re.compile(r"\\[0-7]{1,2}$")
_LARGEST: Final = 2**31 - 1


def _bases(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("decimal_integer_literal", "hex_integer_literal", "decimal_floating_point_literal"):
        text = code.text(node)
        if node.kind == "decimal_floating_point_literal":
            options = _floats(text)
        else:
            if node.parent is not None and node.parent.kind == "unary_expression":
                yield Refused(SIGNED)  # -2147483648 has no counterpart without its sign
                continue
            options = _integers(text)
        if not options:
            yield Refused(OCTAL)
            continue
        yield Site(tuple((over(node, one),) for one in options), "number written otherwise", code.line(node))


def _integers(text: str) -> list[str]:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return []
    head, digits, suffix = match.groups()
    bare_digits = digits.replace("_", "")
    value = int(bare_digits, 16 if head else 10)
    options = []
    if value <= _LARGEST:
        options = [f"{value}{suffix}" if head else f"{value:#x}{suffix}"]
        if value > 999:
            options.append(f"{value:_}{suffix}")
    if suffix:
        options.append(f"{head or ''}{digits}{suffix.swapcase()}")
    return [one for one in options if one != text]


def _floats(text: str) -> list[str]:
    if text[-1] in "fFdD":
        return [text[:-1] + text[-1].swapcase()]
    return [f"{text}d", f"{text}D"]


def _characters(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("character_literal"):
        text = code.text(node)[1:-1]
        if len(text) == 1 and 32 <= ord(text) < 127:
            options = ((over(node, f"'\\{ord(text):o}'"),), (over(node, f"'\\{ord(text):03o}'"),))
            yield Site(options[: 1 + (ord(text) < 64)], "character by its number", code.line(node))


def _texts(code: JavaSource) -> Iterator[Node]:
    yield from (node for node in code.of("string_literal"))


def _split(code: JavaSource) -> Iterator[Site | Refused]:
    for node in _texts(code):
        if node.has('"""'):
            yield Refused(BLOCK)
            continue
        units = list(_UNIT.finditer(code.source[node.start + 1 : node.end - 1].decode()))
        if len(units) < 2:
            yield Refused(SHORT)
            continue
        options = []
        for number in range(1, len(units)):
            middle = node.start + 1 + len("".join(unit.group() for unit in units[:number]).encode())
            parts = (Span(node.start, middle), '" + "', Span(middle, node.end))
            options.append((over(node, *fitted(parts, SUM, needed(node))),))
        yield Site(tuple(options), "string in two", code.line(node))


def _join(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("binary_expression"):
        if node.operator != "+":
            continue
        left, right = node.children
        first = left.children[1] if left.kind == "binary_expression" and left.operator == "+" else left
        if not _text(first) or not _text(right):
            continue
        if first.has('"""') or right.has('"""'):
            yield Refused(BLOCK)
        elif code.commented(first.end, right.start):
            yield Refused(COMMENT)
        elif _OCTAL_END.search(code.text(first)[:-1]):
            yield Refused(OPEN)
        else:
            yield Site(((Patch(first.end - 1, right.start + 1, ()),),), "two strings in one", code.line(node))


def _text(node: Node) -> bool:
    return node.kind == "string_literal"


def _changed(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("decimal_integer_literal"):
        parent = node.parent
        if parent is None or parent.kind not in ("return_statement", "binary_expression", "argument_list"):
            continue
        digits = code.text(node)
        if digits.isdigit() and not (len(digits) > 1 and digits[0] == "0") and int(digits) < _LARGEST:
            yield Site(((over(node, str(int(digits) + 1)),),), "number one larger", code.line(node))


def _string_changed(code: JavaSource) -> Iterator[Site | Refused]:
    for node in _texts(code):
        if not node.has('"""'):
            yield Site(((Patch(node.end - 1, node.end - 1, ("~",)),),), "string longer", code.line(node))


LITERAL_BASES: Final = Rewriting(name="literal-bases", find=_bases, nothing="no number")
CHARACTER_ESCAPES: Final = Rewriting(name="character-escapes", find=_characters, nothing="no character")
SPLIT_STRINGS: Final = Rewriting(name="split-strings", find=_split, nothing="no string")
JOIN_STRINGS: Final = Rewriting(name="join-strings", find=_join, nothing="no two strings in a row")
LITERAL_CHANGED: Final = Rewriting(name="literal-changed", find=_changed, nothing="no number", kind="control")
STRING_CHANGED: Final = Rewriting(
    name="string-changed", find=_string_changed, nothing="no string", kind="control"
)

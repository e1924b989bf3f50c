"""javac as a reader: how the compiler takes a text apart, to be compared with the parser's tree.

The witness of Java (`audit.witnesses.java`) and `benchmarks/java_readers.py` ask it. No transform does, so
what is edited does not depend on whether a JDK is installed: there the second reader decides
(`second_reader`).

The compiler runs in a process of its own, which reads any number of texts (`JavacReader.java`). Only the
structure of expressions and statements is compared, as kinds of nodes with their places.
"""

import os
import re
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple, Self

from codeaudit.transforms.java.parsing import BODIES
from codeaudit.transforms.syntax.reader import EMPTY, Node, ParsedText

PROGRAM: Final = Path(__file__).with_name("JavacReader.java")
OLDEST: Final = 17
"""The oldest release whose compiler the program can ask."""
_FRUGAL: Final = ("-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xss8m")
_VERSION: Final = re.compile(r'^JAVA_VERSION="(\d+)[^"]*"', re.MULTILINE)
_HOMES: Final = ("/usr/lib/jvm", "/usr/java", "/opt/java", "/Library/Java/JavaVirtualMachines")


class JavaPart(NamedTuple):
    """A node of a tree that both readers make."""

    kind: str
    """A name of `com.sun.source.tree.Tree.Kind`."""
    start: int
    """Its first byte of the UTF-8 text, from 0."""
    end: int


class JavaKit(NamedTuple):
    """A JDK of this machine."""

    release: int
    java: Path
    """Its program `java`."""


def newest_kit() -> JavaKit | None:
    """The newest JDK: that of `JAVA_HOME`, that on the path, or one in a usual place; `None` without one."""
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    if javac := shutil.which("javac"):
        homes.append(Path(javac).resolve().parents[1])
    for place in _HOMES:
        homes += sorted(Path(place).glob("*"))
        homes += sorted(Path(place).glob("*/Contents/Home"))
    kits = []
    for home in homes:
        release = home / "release"
        if (home / "bin" / "javac").exists() and release.exists():
            match = _VERSION.search(release.read_text(encoding="utf-8", errors="replace"))
            kits.append(JavaKit(int(match[1]) if match else 0, home / "bin" / "java"))
    usable = [kit for kit in kits if kit.release >= OLDEST]
    return max(usable, key=lambda kit: kit.release, default=None)


class JavacReader:
    """The process of a compiler. It is a context manager: the process starts when it is first asked, and ends
    with the block.
    """

    def __init__(self, kit: JavaKit) -> None:
        self.kit: Final = kit
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def structures(self, readings: Sequence[ParsedText]) -> list[frozenset[JavaPart] | None]:
        """How the compiler reads these texts, in their order; `None` where it cannot read one.

        Raises:
            RuntimeError: the process ended.
        """
        texts = [_as_file(reading) for reading in readings]
        answers = self._answers([text for text, _ in texts])
        return [_parts(answer, text, shift) for answer, (text, shift) in zip(answers, texts, strict=True)]

    def _answers(self, texts: Sequence[str]) -> list[str]:
        if self._process is None:
            command = [str(self.kit.java), *_FRUGAL, str(PROGRAM)]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(b"".join(b64encode(text.encode()) + b"\n" for text in texts) + b"\n")
            process.stdin.flush()
        except BrokenPipeError as error:
            raise RuntimeError("the compiler ended; ask a new one") from error
        answers = [process.stdout.readline().decode() for _ in texts]
        if not all(answers):
            raise RuntimeError("the compiler ended; ask a new one")
        return answers


def _as_file(reading: ParsedText) -> tuple[str, int]:
    """The text as a file, and how many bytes stand before it."""
    text = reading.source.decode()
    if reading.whole:
        return text, 0
    # The compiler wants constructors to have the name of their class.
    named = (node.child("name") for node in reading.root.children if node.kind == "constructor_declaration")
    name = next((reading.text(node) for node in named if node is not None), "Around")
    before = f"class {name} {{\n"
    return f"{before}{text}\n}}", len(before.encode())


def _parts(answer: str, text: str, shift: int) -> frozenset[JavaPart] | None:
    if answer.startswith("!"):
        return None
    places: Sequence[int] = range(len(text) + 1)
    if not text.isascii():
        # javac counts units of UTF-16: a character beyond U+FFFF has two of them.
        sizes = [0]
        for sign in text:
            sizes += [len(sign.encode())] if sign <= "\uffff" else [0, len(sign.encode())]
        places = list(accumulate(sizes))
    parts = set()
    for part in answer.split():
        kind, start, end = part.split(":")
        if kind != "TYPE" or not shift or int(start):  # the class around members
            parts.add(JavaPart(kind, places[int(start)] - shift, places[int(end)] - shift))
    return frozenset(parts)


# ── the same of the parser's tree ────────────────────────────────────────────────────────────────────────

_OPERATORS: Final[Mapping[str, str]] = {
    "*": "MULTIPLY", "/": "DIVIDE", "%": "REMAINDER", "+": "PLUS", "-": "MINUS", "<<": "LEFT_SHIFT",
    ">>": "RIGHT_SHIFT", ">>>": "UNSIGNED_RIGHT_SHIFT", "<": "LESS_THAN", ">": "GREATER_THAN",
    "<=": "LESS_THAN_EQUAL", ">=": "GREATER_THAN_EQUAL", "==": "EQUAL_TO", "!=": "NOT_EQUAL_TO", "&": "AND",
    "^": "XOR", "|": "OR", "&&": "CONDITIONAL_AND", "||": "CONDITIONAL_OR",
}  # fmt: skip
_SIGNS: Final[Mapping[str, str]] = {
    "+": "UNARY_PLUS", "-": "UNARY_MINUS", "!": "LOGICAL_COMPLEMENT", "~": "BITWISE_COMPLEMENT",
}  # fmt: skip
BINARY_KINDS: Final = frozenset(_OPERATORS.values())
"""The kinds of operations with two operands."""
UNARY_KINDS: Final = frozenset(_SIGNS.values())
"""The kinds of operations with one operand, without `++` and `--`."""
_KINDS: Final[Mapping[str, str]] = {
    "update_expression": "UPDATE", "ternary_expression": "CONDITIONAL_EXPRESSION",
    "instanceof_expression": "INSTANCE_OF", "cast_expression": "TYPE_CAST",
    "lambda_expression": "LAMBDA_EXPRESSION",
    "method_invocation": "METHOD_INVOCATION", "array_access": "ARRAY_ACCESS",
    "object_creation_expression": "NEW_CLASS", "array_creation_expression": "NEW_ARRAY",
    "parenthesized_expression": "PARENTHESIZED", "method_reference": "MEMBER_REFERENCE",
    "switch_expression": "SWITCH", "if_statement": "IF", "while_statement": "WHILE_LOOP",
    "do_statement": "DO_WHILE_LOOP", "for_statement": "FOR_LOOP",
    "enhanced_for_statement": "ENHANCED_FOR_LOOP",
    "constructor_body": "BLOCK", "return_statement": "RETURN", "throw_statement": "THROW",
    "break_statement": "BREAK", "continue_statement": "CONTINUE", "yield_statement": "YIELD",
    "labeled_statement": "LABELED_STATEMENT", "try_statement": "TRY", "try_with_resources_statement": "TRY",
    "synchronized_statement": "SYNCHRONIZED", "assert_statement": "ASSERT", EMPTY: "EMPTY_STATEMENT",
    "class_declaration": "TYPE", "interface_declaration": "TYPE", "enum_declaration": "TYPE",
    "record_declaration": "TYPE", "annotation_type_declaration": "TYPE", "method_declaration": "METHOD",
    "constructor_declaration": "METHOD", "compact_constructor_declaration": "METHOD",
    "annotation_type_element_declaration": "METHOD", "true": "LITERAL", "false": "LITERAL",
    "null_literal": "LITERAL", "string_literal": "LITERAL", "character_literal": "LITERAL",
}  # fmt: skip
_NUMBERS: Final = frozenset(
    {"decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "binary_integer_literal"}
)
_FLOATS: Final = frozenset({"decimal_floating_point_literal", "hex_floating_point_literal"})
_ANNOTATIONS: Final = frozenset({"annotation", "marker_annotation"})


def structure(reading: ParsedText) -> frozenset[JavaPart]:
    """The parser's tree as the compiler would tell it."""
    all_parts: set[JavaPart] = set()
    pending = [reading.root]
    while pending:
        node = pending.pop()
        if node.kind in _ANNOTATIONS:
            continue
        parts = _of(node)
        all_parts.update(parts)
        if not any(part.kind == "LITERAL" for part in parts):
            pending += node.children
    return frozenset(all_parts)


def _of(node: Node) -> tuple[JavaPart, ...]:
    """What the compiler makes of a node itself."""
    kind: str | None
    match node.kind:
        case "binary_expression":
            kind = _OPERATORS[node.operator]
        case "unary_expression":
            inner = node.children[0]
            # The compiler takes a sign directly before a whole number for a part of it.
            signed = node.operator == "-" and inner.kind in _NUMBERS
            kind = "LITERAL" if signed else _SIGNS[node.operator]
        case "assignment_expression":
            before = node.operator.removesuffix("=")
            kind = f"{_OPERATORS[before]}_ASSIGNMENT" if before else "ASSIGNMENT"
        case "expression_statement":
            above = node.parent
            kind = None if above is not None and above.kind == "switch_rule" else "EXPRESSION_STATEMENT"
        case "block":
            above = node.parent
            outside = above is not None and (above.kind == "static_initializer" or above.kind in BODIES)
            kind = None if outside else "BLOCK"
        case "array_initializer":
            above = node.parent
            kind = None if above is not None and above.kind == "array_creation_expression" else "NEW_ARRAY"
        case "explicit_constructor_invocation":
            call = JavaPart("METHOD_INVOCATION", node.start, node.part("arguments").end)
            return call, JavaPart("EXPRESSION_STATEMENT", node.start, node.end)
        case other if other in _NUMBERS or other in _FLOATS:
            kind = "LITERAL"
        case other:
            kind = _KINDS.get(other)
    return (JavaPart(kind, node.start, node.end),) if kind is not None else ()

"""Reads the methods of a Java file, each as a separate text."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from codeaudit.audit.corpora.functions import dedented, unfit_size
from codeaudit.audit.corpora.records import raw_sample
from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.java.language import JAVA
from codeaudit.transforms.java.parsing import callables, read
from codeaudit.transforms.records import Sample
from codeaudit.transforms.syntax.reader import Node, ParsedText

_ACCESSOR: Final = re.compile(r"(?:get|set|is|has)(?![a-z])")  # `getName`, but not `gettysburg` or `issue`


class MethodText(NamedTuple):
    """A method or constructor of a file."""

    node: Node
    name: str
    source: str
    """Annotations, signature and body, dedented."""
    line: int
    """Its first line in the file, from 1."""


def parse(text: str) -> ParsedText:
    """The syntax tree of a file.

    Raises:
        SourceError: it does not parse. The message is the same for all files, so that reasons count.
    """
    try:
        return read(text)
    except SourceError as error:
        raise SourceError(NOT_PARSED) from error


def methods(text: str, path: str, left_out: Counter[str]) -> Iterator[Sample]:
    """Every method of a suitable length, with its annotations. The raw label is the method's name.

    Methods of types inside of methods are part of the outer method. Constructors, methods without statements,
    and accessors of one line are left out; the name of an accessor repeats the field that it returns.

    Raises:
        SourceError: the text does not parse.
    """
    reading = parse(text)
    for method in outermost_methods(reading):
        reason = _unfit(reading, method)
        if reason is None:
            yield raw_sample(
                method.source,
                language=JAVA.name,
                label=method.name,
                path=path,
                line=method.line,
                context=text,
            )
        else:
            left_out[reason] += 1


def outermost_methods(reading: ParsedText) -> Iterator[MethodText]:
    """The outermost methods and constructors of a file, in the order of the text."""
    source = reading.source
    for node in callables(reading):
        begin = source.rfind(b"\n", 0, node.start) + 1
        indent = source[begin : node.start]
        if indent.strip():
            indent = b""  # something else stands before it
        lines = (indent + source[node.start : node.end]).decode().split("\n")
        yield MethodText(
            node, reading.text(node.part("name")), dedented(lines), source.count(b"\n", 0, node.start) + 1
        )


def method_name(source: str) -> str | None:
    """The name of the only method in a text; `None` for any other text, also for a constructor."""
    try:
        reading = read(source)
    except SourceError:
        return None
    nodes = callables(reading)
    if len(nodes) != 1 or nodes[0].kind != "method_declaration":
        return None
    return reading.text(nodes[0].part("name"))


def _unfit(reading: ParsedText, method: MethodText) -> str | None:
    body = method.node.child("body")
    if method.node.kind != "method_declaration":
        return "constructor"  # its name is that of its class
    if body is None:
        return "method without a body"
    if not body.children:
        return "empty method"
    if (reason := unfit_size(method.source, "method")) is not None:
        return reason
    # `getName() { return name; }`: no code but the field's name, which the accessor's name repeats.
    one_line = len(body.children) == 1 and "\n" not in reading.text(body.children[0])
    return "accessor" if one_line and _ACCESSOR.match(method.name) else None

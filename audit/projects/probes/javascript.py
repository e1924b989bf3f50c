"""Inserts a statement at the start of JavaScript and TypeScript functions.

The statements need no types, so that a compiler of TypeScript takes them in any file. Directives and the call
of the constructor above stay first. An arrow without a block gets one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.javascript.files import JAVASCRIPT_FILES, TYPESCRIPT_FILES
from codeaudit.transforms.javascript.parsing import read, units
from codeaudit.transforms.patches import Edit, splice
from codeaudit.transforms.source_files import FileFormat
from codeaudit.transforms.syntax.reader import Node

_NOTING: Final = (
    'typeof process === "object" && !(process.codeauditUnits = process.codeauditUnits || {{}})[{0}] && '
    "(process.codeauditUnits[{0}] = 1, (process.getBuiltinModule ? process.getBuiltinModule('fs') : "
    "process.mainModule.require('fs')).appendFileSync(process.env._CODEAUDIT_HITS, '{0}\\n'));"
)
"""Before Node 20.16 there is no `getBuiltinModule`; then the main file of the program must be no module."""


@dataclass(frozen=True, slots=True)
class JavaScriptProbes:
    """The `Probes` of JavaScript and TypeScript."""

    form: FileFormat
    raising: str = 'if (Boolean(1)) throw new Error("codeaudit power check");'
    """The condition is needed because a compiler may reject code behind an unconditional `throw`."""

    def noting(self, number: int) -> str:
        """A statement that appends the number to the hits file once per process. It is evaluated as a text,
        because types of `process` may be missing.
        """
        return f"(0, eval)({_quoted(_NOTING.format(number))});"

    def with_first(self, data: bytes, statements: Mapping[str, str]) -> bytes:
        """The file with a statement at the start of each named function; names are those of `places`."""
        try:
            decoded = self.form.decode(data)
            reading = read(decoded.text, self.form.language)
            names = [place.name for place in self.form.places(decoded.text)]
        except SourceError:
            return data
        edits: list[Edit] = []
        for name, declared in zip(names, units(reading), strict=True):
            body = declared.function.child("body")
            if name in statements and body is not None:
                edits += _edits(body, statements[name])
        return decoded.write(splice(reading.source, edits).decode())


def _edits(body: Node, statement: str) -> list[Edit]:
    if body.kind != "block":  # the line break ends a comment
        return [
            Edit(body.start, body.start, f"{{ {statement} return ("),
            Edit(body.end, body.end, "\n); }"),
        ]
    first = body.start + 1
    for node in body.children:
        if not _stays_first(node):
            break
        first = node.end
    # A directive may end without a semicolon.
    return [Edit(first, first, f" {statement}" if first == body.start + 1 else f"; {statement}")]


def _stays_first(node: Node) -> bool:
    if node.kind != "expression_statement":
        return False
    inner = node.children[0]
    if inner.kind == "method_invocation":
        return inner.children[0].kind == "super"
    return inner.kind == "string_literal"


def _quoted(code: str) -> str:
    return '"' + code.replace("\\", "\\\\").replace('"', '\\"') + '"'


JAVASCRIPT_PROBES: Final = JavaScriptProbes(JAVASCRIPT_FILES)
TYPESCRIPT_PROBES: Final = JavaScriptProbes(TYPESCRIPT_FILES)

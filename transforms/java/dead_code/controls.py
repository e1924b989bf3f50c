"""Controls: insertions that look like those of this family and change what a method does."""

from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.scopes import JavaBinding
from codeaudit.transforms.java.analysis.types import PRIMITIVE, STRING, Types, is_final
from codeaudit.transforms.java.dead_code.insertions import NO_VARIABLE, gaps, inserted, owner, settled
from codeaudit.transforms.java.nodes import Node
from codeaudit.transforms.java.rewriting import Rewriting
from codeaudit.transforms.java.source import JavaSource
from codeaudit.transforms.patches import Patch, Site

NO_RESULT: Final = "no statement to skip"
_VALUES: Final = {
    "int": "7", "long": "7L", "double": "0.25", "boolean": "!{}", "char": "'q'", STRING: '"~"'
}  # fmt: skip
_READING: Final = frozenset({"return_statement", "expression_statement"})


def _live(code: JavaSource) -> Iterator[Site | Refused]:
    types = Types(code)
    for row in gaps(code):
        options: list[tuple[Patch, ...]] = []
        for gap in row:
            if gap.before.kind not in _READING:
                continue
            read = code.names(gap.before)
            for binding, kind in settled(code, types, gap.before):
                if binding.name in read and kind in _VALUES and _free(binding):
                    value = _VALUES[kind].format(binding.name)
                    options.append(inserted(code, gap, f"{binding.name} = {value};"))
        if options:
            yield Site(tuple(options), "overwritten before it is read", code.line(row[0].before))
        else:
            yield Refused(NO_VARIABLE)


def _free(binding: JavaBinding) -> bool:
    """Whether a variable may be assigned again."""
    node = binding.node if binding.view == "parameter" or binding.node is None else binding.node.parent
    return not binding.captured and not is_final(node)


def _reachable(code: JavaSource) -> Iterator[Site | Refused]:
    for row in gaps(code):
        options: list[tuple[Patch, ...]] = []
        for gap in row:
            found = _result(code, gap.before)
            if found is not None and gap.before.kind != "local_variable_declaration":
                options.append(inserted(code, gap, f"if (true) {found}"))
        if options:
            yield Site(tuple(options), "return before something", code.line(row[0].before))
        else:
            yield Refused(NO_RESULT)


def _result(code: JavaSource, at: Node) -> str | None:
    """A `return` of the method with some value, where a statement stands in the method itself."""
    if owner(code, at) != 0 or (at.kind == "return_statement" and not at.children):
        return None
    if code.unit.kind != "method_declaration":
        return "return;" if code.unit.kind == "constructor_declaration" and not _assigns(code, at) else None
    kind = code.text(code.unit.part("type"))
    if kind == "void":
        return "return;"
    if kind == "boolean":
        now = code.text(at.children[0]) if at.kind == "return_statement" else ""
        return "return true;" if now == "false" else "return false;"
    return "return 11;" if kind in PRIMITIVE else "return null;"


def _assigns(code: JavaSource, at: Node) -> bool:
    """Whether a constructor sets anything from a statement on, which may be a final field."""
    return any(node.kind == "assignment_expression" for node in code.unit.walk() if node.start >= at.start)


LIVE_ASSIGNMENT: Final = Rewriting(name="live-assignment", find=_live, nothing="no block", kind="control")
REACHABLE_BRANCH: Final = Rewriting(
    name="reachable-branch", find=_reachable, nothing="no block", kind="control"
)

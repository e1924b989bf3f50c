"""Statements that do nothing to what a method does.

New variables have names that stand nowhere in the text. They hold what primitive locals give that certainly
have a value, by operators that cannot fail. Nothing is put behind a statement that leaves, since Java rejects
what cannot be reached, and nothing before the call of another constructor.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Final, TypeAlias
from zlib import crc32

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.scopes import JavaBinding
from codeaudit.transforms.java.analysis.types import PRIMITIVE, STRING, Types, is_final
from codeaudit.transforms.java.control_flow.jumps import LOOPS, dangling, ends
from codeaudit.transforms.java.parsing import Node
from codeaudit.transforms.java.rewriting import LISTS, JavaSource, Rewriting
from codeaudit.transforms.patches import Patch, Site

NO_VARIABLE: Final = "no variable certainly has a value"
HAS_ELSE: Final = "if with else"
LEAVES: Final = "the end is never reached"
_MOST: Final = 6
_CONSTANTS: Final = (("int", "0"), ("int", "1"), ("int", "-1"), ("int", "100"), ("long", "10L"),
                     ("double", "0.5"), ("boolean", "true"), ("boolean", "false"),
                     ("char", "'a'"))  # fmt: skip
_NEVER: Final = ("if (false)", "if (1 > 2)", "if (!true)", "if (0 == 1)")
_NOTHING: Final = (";", "{ }", "{ ; }")
_FORMS: Final = {
    "int": (("int", "{} + 1"), ("int", "{} * 2"), ("boolean", "{} > 0"), ("long", "{}")),
    "long": (("long", "{} + 1"), ("boolean", "{} > 0")),
    "char": (("int", "{} + 1"), ("boolean", "{} == 'a'")),
    "short": (("int", "{} + 1"),),
    "byte": (("int", "{} + 1"),),
    "float": (("boolean", "{} > 0"), ("double", "{}")),
    "double": (("double", "{} * 2"), ("boolean", "{} > 0")),
    "boolean": (("boolean", "!{}"), ("boolean", "{}")),
}
"""What can be computed from a variable, by its type, with the type of the result."""
_OBJECT: Final = (("boolean", "{} == null"), ("boolean", "{} != null"))


@dataclass(frozen=True, slots=True)
class JavaGap:
    """A place before a statement."""

    before: Node
    indentation: str


Write: TypeAlias = Callable[[JavaSource, Types, JavaGap, str, Random], str | None]
"""The lines for a gap, given a new name; `None` where there are none."""


def gaps(code: JavaSource) -> Iterator[list[JavaGap]]:
    """The places in each row of statements."""
    for node in code.nodes:
        if node.kind not in LISTS:
            continue
        found = [
            JavaGap(child, code.indentation(child.start)) for child in node.children
            if child.kind not in ("switch_label", "explicit_constructor_invocation")
            and code.starts_line(child.start)
        ]  # fmt: skip
        if found:
            yield found


def inserted(code: JavaSource, gap: JavaGap, text: str) -> tuple[Patch, ...]:
    """A text of some lines in a gap."""
    at = gap.before.start
    return (Patch(at, at, (f"{text}{code.newline}{gap.indentation}",)),)


def settled(code: JavaSource, types: Types, at: Node) -> list[tuple[JavaBinding, str]]:
    """Variables that certainly have a value right before a statement, with their types."""
    found = []
    for binding in code.scopes.bindings:
        if binding.doubt is not None or binding.node is None or not binding.start < at.start < binding.until:
            continue
        kind = types.declared(binding)
        if kind is None or binding.owner != owner(code, at):
            continue
        if (binding.view == "parameter" and binding.node.kind == "formal_parameter") or (
            binding.view == "local" and _has_value(binding.node, at)
        ):
            found.append((binding, kind))
    return found


def _has_value(node: Node, at: Node) -> bool:
    """Whether a declaration with a value stands before a statement in one of the rows around it: not in
    another group of a `switch`, which control may skip."""
    if node.child("value") is None or node.parent is None:
        return False
    held = node.parent.parent
    above: Node | None = at
    while above is not None:
        if above.parent is held and held is not None and held.kind in ("block", "constructor_body"):
            return node.end <= above.start
        above = above.parent
    return False


def owner(code: JavaSource, at: Node) -> int:
    """The number of the class or lambda around a statement; -1 for any but the method itself."""
    above = at.parent
    while above is not None and above is not code.unit:
        if above.kind in (
            "lambda_expression",
            "class_body",
            "record_declaration",
            "enum_body",
            "interface_body",
        ):
            return -1
        above = above.parent
    return 0


def _everywhere(code: JavaSource, write: Write, note: str) -> Iterator[Site | Refused]:
    """One site in each row of statements; its options are the places there."""
    types, names = Types(code), code.fresh("spare", "extra", "unused")
    rng = Random(crc32(code.source))
    for row in gaps(code):
        chosen = row
        if len(row) > _MOST:
            chosen = sorted(rng.sample(row, _MOST), key=lambda gap: gap.before.start)
        name = next(names)
        options: list[tuple[Patch, ...]] = []
        for gap in chosen:
            text = write(code, types, gap, name, rng)
            if text is not None:
                options.append(inserted(code, gap, text))
        if options:
            yield Site(tuple(options), note, code.line(row[0].before))
        else:
            yield Refused(NO_VARIABLE)


def _constant(_: JavaSource, __: Types, ___: JavaGap, name: str, rng: Random) -> str:
    kind, value = rng.choice(_CONSTANTS)
    return f"{kind} {name} = {value};"


def _computed(code: JavaSource, types: Types, gap: JavaGap, name: str, rng: Random) -> str | None:
    known = settled(code, types, gap.before)
    if not known:
        return None
    variable, own = rng.choice(known)
    kind, form = rng.choice(_FORMS.get(own, _OBJECT))
    return f"{kind} {name} = {form.format(variable.name)};"


def _never(code: JavaSource, types: Types, gap: JavaGap, name: str, rng: Random) -> str:
    heads = [*_NEVER]
    for binding, kind in settled(code, types, gap.before):
        variable = binding.name
        if kind in PRIMITIVE - {"boolean"}:
            heads.append(f"if ({variable} < {variable})")
        elif kind == "boolean":
            heads.append(f"if ({variable} && !{variable})")
    body = rng.choice(
        (_constant(code, types, gap, name, rng), _computed(code, types, gap, name, rng) or ";", ";")
    )
    inside, newline = gap.indentation + code.step, code.newline
    return f"{rng.choice(heads)} {{{newline}{inside}{body}{newline}{gap.indentation}}}"


def _nothing(code: JavaSource, types: Types, gap: JavaGap, _: str, rng: Random) -> str:
    return rng.choice(_NOTHING)


def _unused(code: JavaSource) -> Iterator[Site | Refused]:
    return _everywhere(code, _constant, "variable that nobody reads")


def _dead(code: JavaSource) -> Iterator[Site | Refused]:
    return _everywhere(code, _computed, "computed and never read")


def _unreachable(code: JavaSource) -> Iterator[Site | Refused]:
    return _everywhere(code, _never, "branch that is never taken")


def _no_ops(code: JavaSource) -> Iterator[Site | Refused]:
    return _everywhere(code, _nothing, "statement without effect")


def _else(code: JavaSource) -> Iterator[Site | Refused]:
    for node in code.of("if_statement"):
        first = node.part("consequence")
        if node.child("alternative") is not None:
            yield Refused(HAS_ELSE)
        elif dangling(first):
            yield Refused("an else would change its if")
        else:
            yield Site(
                ((Patch(node.end, node.end, (" else { }",)),),), "else that does nothing", code.line(node)
            )


def _jumps(code: JavaSource) -> Iterator[Site | Refused]:
    """`return;` at the end of what gives nothing, `continue;` at the end of a loop."""
    for node in code.of("block", "constructor_body"):
        parent = node.parent
        if parent is None:
            continue
        word = None
        if parent.kind in LOOPS:
            word = "continue;"
        elif parent.kind == "constructor_declaration" or (
            parent.kind == "method_declaration" and parent.part("type").kind == "void_type"
        ):
            word = "return;"
        if word is None or not node.children or not code.starts_line(node.end - 1):
            continue
        if not ends(code, node):
            yield Refused(LEAVES)
            continue
        last = node.children[-1]
        outside = code.indentation(node.end - 1)
        inside = code.indentation(last.start) if code.starts_line(last.start) else outside + code.step
        at = node.end - 1 - len(outside.encode())
        yield Site(
            ((Patch(at, at, (f"{inside}{word}{code.newline}",)),),), "jump to where it goes", code.line(node)
        )


UNUSED_LOCALS: Final = Rewriting(name="unused-locals", find=_unused, nothing="no block")
DEAD_STORES: Final = Rewriting(name="dead-stores", find=_dead, nothing="no block")
UNREACHABLE_BRANCHES: Final = Rewriting(name="unreachable-branches", find=_unreachable, nothing="no block")
NO_OP_STATEMENTS: Final = Rewriting(name="no-op-statements", find=_no_ops, nothing="no block")
ELSE_PASS: Final = Rewriting(name="else-pass", find=_else, nothing="no if")
REDUNDANT_JUMPS: Final = Rewriting(
    name="redundant-jumps", find=_jumps, nothing="no body of a loop or of what gives nothing"
)


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

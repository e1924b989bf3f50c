"""Statements that do nothing to what a method does, and controls that look like them and do.

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
from codeaudit.transforms.java.analysis.completion import LOOPS
from codeaudit.transforms.java.analysis.scopes import JavaBinding
from codeaudit.transforms.java.analysis.types import PRIMITIVE, STRING, is_final
from codeaudit.transforms.java.control_flow.branches import DANGLING
from codeaudit.transforms.java.control_flow.jumps import dangling, ends
from codeaudit.transforms.java.files import COMPACT
from codeaudit.transforms.java.rewriting import LISTS, Find, JavaSource, Rewriting, each
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.syntax.reader import Node

NO_VARIABLE: Final = "no variable certainly has a value"
HAS_ELSE: Final = "if with else"
LEAVES: Final = "the end is never reached"
NO_RESULT: Final = "no statement to skip"
_MOST_GAPS: Final = 6
"""The most places of one list of statements that become options."""
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
_OF_OBJECTS: Final = (("boolean", "{} == null"), ("boolean", "{} != null"))
_OTHER_VALUES: Final = {
    "int": "7", "long": "7L", "double": "0.25", "boolean": "!{}", "char": "'q'", STRING: '"~"'
}  # fmt: skip
_READING: Final = frozenset({"return_statement", "expression_statement"})
_OTHER_OWNERS: Final = frozenset(
    {"lambda_expression", "class_body", "record_declaration", "enum_body", "interface_body"}
)


@dataclass(frozen=True, slots=True)
class JavaGap:
    """A place before a statement."""

    before: Node
    indentation: str


def gaps(code: JavaSource) -> Iterator[list[JavaGap]]:
    """The places in each list of statements, before statements that begin a line."""
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


def _insertion(code: JavaSource, gap: JavaGap, text: str) -> tuple[Patch, ...]:
    """The option that puts a text of some lines into a gap."""
    at = gap.before.start
    return (Patch(at, at, (f"{text}{code.newline}{gap.indentation}",)),)


def _with_value(code: JavaSource, at: Node) -> list[tuple[JavaBinding, str]]:
    """Variables that certainly have a value right before a statement, with their types."""
    in_method = _is_in_method(code, at)
    found = []
    for binding in code.scopes.bindings:
        node = binding.node
        if binding.doubt is not None or node is None or not binding.start < at.start < binding.until:
            continue
        kind = code.types.declared(binding)
        # In a lambda or class a variable around it could be read only if it is effectively final.
        if kind is None or not in_method or binding.owner != 0:
            continue
        is_parameter = binding.view == "parameter" and node.kind == "formal_parameter"
        if is_parameter or (binding.view == "local" and _is_initialised(node, at)):
            found.append((binding, kind))
    return found


def _is_initialised(node: Node, at: Node) -> bool:
    """Whether a declaration with a value stands before a statement in one of the lists around it.

    Control may skip one in another group of a `switch`: `case 1: int n = 1; case 2: f(n);`.
    """
    if node.child("value") is None or node.parent is None:
        return False
    block = node.parent.parent
    for one in (at, *at.ancestors()):
        if one.parent is block and block is not None and block.kind in ("block", "constructor_body"):
            return node.end <= one.start
    return False


def _is_in_method(code: JavaSource, at: Node) -> bool:
    """Whether a statement belongs to the method itself, not to a class or lambda in it."""
    for above in at.ancestors():
        if above is code.unit:
            break
        if above.kind in _OTHER_OWNERS:
            return False
    return True


# ── statements without effect ────────────────────────────────────────────────────────────────────────────

Write: TypeAlias = Callable[[JavaSource, JavaGap, str, Random], str | None]
"""The lines for a gap, given a new name; `None` where there are none."""


def _in_every_list(note: str, *, named: bool = True) -> Callable[[Write], Find]:
    """Makes the `find` of a rule from what it writes: one site in each list, its options are the gaps.

    With `named` it writes new names.
    """

    def found(write: Write) -> Find:
        def find(code: JavaSource) -> Iterator[Site | Refused]:
            if named and code.compact:
                yield Refused(COMPACT)
                return
            names = code.fresh("spare", "extra", "unused")
            rng = Random(crc32(code.source))  # a site of a text has the same options whenever it is asked
            for row in gaps(code):
                chosen = row
                if len(row) > _MOST_GAPS:
                    chosen = sorted(rng.sample(row, _MOST_GAPS), key=lambda gap: gap.before.start)
                name = next(names)
                texts = [(gap, write(code, gap, name, rng)) for gap in chosen]
                yield _site(code, row, note, [(gap, text) for gap, text in texts if text], NO_VARIABLE)

        return find

    return found


def _site(
    code: JavaSource, row: list[JavaGap], note: str, texts: list[tuple[JavaGap, str]], reason: str
) -> Site | Refused:
    """The site of a list of statements with these insertions as options; refused without any."""
    if not texts:
        return Refused(reason)
    return Site(tuple(_insertion(code, *one) for one in texts), note, code.line(row[0].before))


def _constant(name: str, rng: Random) -> str:
    kind, value = rng.choice(_CONSTANTS)
    return f"{kind} {name} = {value};"


@_in_every_list("variable that nobody reads")
def _unused(code: JavaSource, gap: JavaGap, name: str, rng: Random) -> str:
    return _constant(name, rng)


def _computed(code: JavaSource, gap: JavaGap, name: str, rng: Random) -> str | None:
    """A variable that holds something computed; `None` where no variable has a value."""
    known = _with_value(code, gap.before)
    if not known:
        return None
    variable, own = rng.choice(known)
    kind, form = rng.choice(_FORMS.get(own, _OF_OBJECTS))
    return f"{kind} {name} = {form.format(variable.name)};"


@_in_every_list("branch that is never taken")
def _unreachable(code: JavaSource, gap: JavaGap, name: str, rng: Random) -> str:
    """An `if` whose condition is false whatever the variables hold: `n < n`, also for NaN."""
    heads = [*_NEVER]
    for binding, kind in _with_value(code, gap.before):
        variable = binding.name
        if kind in PRIMITIVE - {"boolean"}:
            heads.append(f"if ({variable} < {variable})")
        elif kind == "boolean":
            heads.append(f"if ({variable} && !{variable})")
    body = rng.choice((_constant(name, rng), _computed(code, gap, name, rng) or ";", ";"))
    inside, newline = gap.indentation + code.step, code.newline
    return f"{rng.choice(heads)} {{{newline}{inside}{body}{newline}{gap.indentation}}}"


@_in_every_list("statement without effect", named=False)
def _no_op(code: JavaSource, gap: JavaGap, name: str, rng: Random) -> str:
    return rng.choice(_NOTHING)


@each("if_statement")
def _else(code: JavaSource, node: Node) -> Site | Refused:
    if node.child("alternative") is not None:
        return Refused(HAS_ELSE)
    if dangling(node.part("consequence")):
        return Refused(DANGLING)  # `if (a) if (b) f();`
    return code.site(node, "else that does nothing", Patch(node.end, node.end, (" else { }",)))


@each("block", "constructor_body")
def _jump(code: JavaSource, node: Node) -> Site | Refused | None:
    """`return;` at the end of what gives nothing, `continue;` at the end of a loop."""
    parent = node.parent
    if parent is None or not node.children or not code.starts_line(node.end - 1):
        return None
    if parent.kind in LOOPS:
        word = "continue;"
    elif parent.kind == "constructor_declaration" or (
        parent.kind == "method_declaration" and parent.part("type").kind == "void_type"
    ):
        word = "return;"
    else:
        return None
    if not ends(code, node):
        return Refused(LEAVES)  # behind a `return` or an endless loop javac rejects a jump
    last = node.children[-1]
    outside = code.indentation(node.end - 1)
    inside = code.indentation(last.start) if code.starts_line(last.start) else outside + code.step
    at = node.end - 1 - len(outside.encode())
    return code.site(node, "jump to where it goes", Patch(at, at, (f"{inside}{word}{code.newline}",)))


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


def _live(code: JavaSource) -> Iterator[Site | Refused]:
    """A variable gets another value right before a statement that reads it."""
    for row in gaps(code):
        texts = []
        for gap in row:
            if gap.before.kind not in _READING:
                continue
            read = code.names(gap.before)
            for binding, kind in _with_value(code, gap.before):
                if binding.name in read and kind in _OTHER_VALUES and _is_assignable(binding):
                    value = _OTHER_VALUES[kind].format(binding.name)
                    texts.append((gap, f"{binding.name} = {value};"))
        yield _site(code, row, "overwritten before it is read", texts, NO_VARIABLE)


def _is_assignable(binding: JavaBinding) -> bool:
    """Whether a variable may be assigned again: lambdas capture only what is effectively final."""
    node = binding.node if binding.view == "parameter" or binding.node is None else binding.node.parent
    return not binding.captured and not is_final(node)


def _reachable(code: JavaSource) -> Iterator[Site | Refused]:
    """`if (true) return …` before a statement."""
    for row in gaps(code):
        results = [(gap, _return(code, gap.before)) for gap in row]
        texts = [(gap, f"if (true) {text}") for gap, text in results if text]
        yield _site(code, row, "return before something", texts, NO_RESULT)


def _return(code: JavaSource, at: Node) -> str | None:
    """A `return` of the method with some value, where a statement stands in the method itself."""
    returns = at.kind == "return_statement"
    if at.kind == "local_variable_declaration" or not _is_in_method(code, at):
        return None
    if returns and not at.children:
        return None
    if code.unit.kind == "constructor_declaration":
        # A constructor has to set its final fields on every way out.
        sets = any(one.kind == "assignment_expression" and one.start >= at.start for one in code.unit.walk())
        return None if sets else "return;"
    if code.unit.kind != "method_declaration":
        return None
    kind = code.text(code.unit.part("type"))
    if kind == "void":
        return "return;"
    if kind == "boolean":
        now = code.text(at.children[0]) if returns else ""
        return "return true;" if now == "false" else "return false;"
    return "return 11;" if kind in PRIMITIVE else "return null;"


UNUSED_LOCALS: Final = Rewriting(name="unused-locals", find=_unused, nothing="no block")
DEAD_STORES: Final = Rewriting(
    name="dead-stores", find=_in_every_list("computed and never read")(_computed), nothing="no block"
)
UNREACHABLE_BRANCHES: Final = Rewriting(name="unreachable-branches", find=_unreachable, nothing="no block")
NO_OP_STATEMENTS: Final = Rewriting(name="no-op-statements", find=_no_op, nothing="no block")
ELSE_PASS: Final = Rewriting(name="else-pass", find=_else, nothing="no if")
REDUNDANT_JUMPS: Final = Rewriting(
    name="redundant-jumps", find=_jump, nothing="no body of a loop or of what gives nothing"
)
LIVE_ASSIGNMENT: Final = Rewriting(name="live-assignment", find=_live, nothing="no block", kind="control")
REACHABLE_BRANCH: Final = Rewriting(
    name="reachable-branch", find=_reachable, nothing="no block", kind="control"
)

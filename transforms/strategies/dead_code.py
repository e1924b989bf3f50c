"""Statements that do nothing to what a function does, and controls that look like them and do.

New variables have names that stand nowhere in the text. They hold what plain locals give that certainly have
a value, by operators that cannot fail. Nothing is put behind a statement that leaves, since some compilers
reject what cannot be reached, and nothing before the call of another constructor.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Final, TypeAlias
from zlib import crc32

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site
from codeaudit.transforms.strategies.branches import DANGLING
from codeaudit.transforms.strategies.dialect import CodeStrategy, CodeText, Find, each
from codeaudit.transforms.syntax.flow import BLOCKS, LISTS, LOOPS, dangling
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import Binding

NO_FILLERS: Final = "nothing is known that does nothing"
NO_VARIABLE: Final = "no variable certainly has a value"
HAS_ELSE: Final = "if with else"
LEAVES: Final = "the end is never reached"
NO_RESULT: Final = "no statement to skip"
_MOST_GAPS: Final = 6
"""The most places of one list of statements that become options."""
_NOTHING: Final = (";", "{ }", "{ ; }")
_READING: Final = frozenset({"return_statement", "expression_statement"})


@dataclass(frozen=True, slots=True)
class TextGap:
    """A place before a statement."""

    before: Node
    indentation: str


def gaps(code: CodeText) -> Iterator[list[TextGap]]:
    """The places in each list of statements, before statements that begin a line.

    There is no place behind the head of an overload (TypeScript): the next statement belongs to that head.
    """
    for node in code.nodes:
        if node.kind not in LISTS:
            continue
        row = [
            TextGap(child, code.indentation(child.start))
            for above, child in zip((None, *node.children), node.children, strict=False)
            if child.kind not in ("switch_label", "explicit_constructor_invocation")
            and (above is None or above.kind != "function_signature")
            and code.starts_line(child.start)
        ]
        if row:
            yield row


def _insertion(code: CodeText, gap: TextGap, text: str) -> tuple[Patch, ...]:
    """The option that puts a text of some lines into a gap."""
    at = gap.before.start
    return (Patch(at, at, (f"{text}{code.newline}{gap.indentation}",)),)


def _with_value(code: CodeText, at: Node) -> list[tuple[Binding, str]]:
    """Variables that certainly have a value right before a statement, with their types."""
    in_unit = is_in_unit(code, at)
    variables = []
    for binding in code.scopes.bindings:
        node = binding.node
        if binding.doubt is not None or node is None or not binding.start < at.start < binding.until:
            continue
        kind = code.type_of_variable(binding)
        # In a function inside, a variable around it could perhaps not be read.
        if kind is None or not in_unit or binding.owner != 0:
            continue
        is_parameter = binding.view == "parameter" and code.is_plain_parameter(binding)
        has_value = is_parameter or (binding.view == "local" and _is_initialised(node, at))
        if has_value and not any(_hides(other, binding, at) for other in code.scopes.bindings):
            variables.append((binding, kind))
    return variables


def _hides(other: Binding, binding: Binding, at: Node) -> bool:
    """Whether a variable has the name of another one around it at a statement, or may have it.

    A block may declare it behind the statement, too: `let e = 1; { e.length; let e; }` reads the inner one.
    """
    if other is binding or other.name != binding.name or other.node is None or other.view == "label":
        return False
    if other.until > binding.until:
        return False
    around = set(at.ancestors())
    shared = next((node for node in (other.node, *other.node.ancestors()) if node in around), None)
    return shared is not None and other.until >= shared.end - 1


def _is_initialised(node: Node, at: Node) -> bool:
    """Whether a declaration with a value stands before a statement in one of the lists around it.

    Control may skip one in another group of a `switch`: `case 1: int n = 1; case 2: f(n);`.
    """
    if node.child("value") is None or node.parent is None:
        return False
    block = node.parent.parent
    for here in (at, *at.ancestors()):
        if here.parent is block and block is not None and block.kind in ("block", "constructor_body"):
            return node.end <= here.start
    return False


def is_in_unit(code: CodeText, at: Node) -> bool:
    """Whether a statement belongs to the unit itself, not to a class or function in it."""
    for above in at.ancestors():
        if above is code.unit:
            break
        if above.kind in code.dialect.owners:
            return False
    return True


# ── statements without effect ────────────────────────────────────────────────────────────────────────────

Write: TypeAlias = Callable[[CodeText, TextGap, str, Random], str | None]
"""The lines for a gap, given a new name; `None` where there are none."""


def _in_every_list(note: str, *, named: bool = True) -> Callable[[Write], Find[CodeText]]:
    """Makes the `find` of a rule from what it writes: one site in each list, its options are the gaps.

    With `named` it writes new names.
    """

    def finder(write: Write) -> Find[CodeText]:
        def find(code: CodeText) -> Iterator[Site | Refused]:
            reason = code.closed or (None if code.dialect.fillers else NO_FILLERS)
            if named and reason is not None:
                yield Refused(reason)
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

    return finder


def _site(
    code: CodeText, row: list[TextGap], note: str, texts: list[tuple[TextGap, str]], reason: str
) -> Site | Refused:
    """The site of a list of statements with these insertions as options; refused without any."""
    if not texts:
        return Refused(reason)
    return Site(tuple(_insertion(code, *pair) for pair in texts), note, code.line(row[0].before))


def _constant(code: CodeText, name: str, rng: Random) -> str:
    kind, value = rng.choice(code.dialect.fillers.constants)
    return f"{kind} {name} = {value};"


@_in_every_list("variable that nobody reads")
def _unused(code: CodeText, gap: TextGap, name: str, rng: Random) -> str:
    return _constant(code, name, rng)


def _computed(code: CodeText, gap: TextGap, name: str, rng: Random) -> str | None:
    """A variable that holds something computed; `None` where no variable has a value."""
    variables = _with_value(code, gap.before)
    if not variables:
        return None
    variable, type_ = rng.choice(variables)
    fillers = code.dialect.fillers
    kind, form = rng.choice(fillers.forms.get(type_, fillers.of_objects))
    return f"{kind} {name} = {form.format(variable.name)};"


@_in_every_list("branch that is never taken")
def _unreachable(code: CodeText, gap: TextGap, name: str, rng: Random) -> str:
    """An `if` whose condition is false whatever the variables hold: `n < n`, also for NaN."""
    heads = [head.format(*code.dialect.truth) for head in code.dialect.never]
    for binding, kind in _with_value(code, gap.before):
        variable = binding.name
        if kind in code.dialect.numeric:
            heads.append(f"if ({variable} < {variable})")
        elif kind == "boolean":
            heads.append(f"if ({variable} && !{variable})")
    body = rng.choice((_constant(code, name, rng), _computed(code, gap, name, rng) or ";", ";"))
    inside, newline = gap.indentation + code.step, code.newline
    return f"{rng.choice(heads)} {{{newline}{inside}{body}{newline}{gap.indentation}}}"


@_in_every_list("statement without effect", named=False)
def _no_op(code: CodeText, gap: TextGap, name: str, rng: Random) -> str:
    return rng.choice(_NOTHING)


@each("if_statement")
def _else(code: CodeText, node: Node) -> Site | Refused:
    if node.child("alternative") is not None:
        return Refused(HAS_ELSE)
    if dangling(node.part("consequence")):
        return Refused(DANGLING)  # `if (a) if (b) f();`
    return code.site(node, "else that does nothing", Patch(node.end, node.end, (" else { }",)))


@each(*BLOCKS)
def _jump(code: CodeText, node: Node) -> Site | Refused | None:
    """`return;` at the end of what gives nothing, `continue;` at the end of a loop."""
    parent = node.parent
    if parent is None or not node.children or not code.starts_line(node.end - 1):
        return None
    if parent.kind in LOOPS:
        word = "continue;"
    elif code.gives_nothing(parent):
        word = "return;"
    else:
        return None
    if not code.ends(node):
        return Refused(LEAVES)  # behind a `return` or an endless loop some compilers reject a jump
    last = node.children[-1]
    outside = code.indentation(node.end - 1)
    inside = code.indentation(last.start) if code.starts_line(last.start) else outside + code.step
    at = node.end - 1 - len(outside.encode())
    return code.site(node, "jump to where it goes", Patch(at, at, (f"{inside}{word}{code.newline}",)))


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


def _live(code: CodeText) -> Iterator[Site | Refused]:
    """A variable gets another value right before a statement that reads it."""
    others = code.dialect.fillers.others
    for row in gaps(code):
        texts = []
        for gap in row:
            if gap.before.kind not in _READING:
                continue
            read = code.names(gap.before)
            for binding, kind in _with_value(code, gap.before):
                if binding.name in read and kind in others and _is_assignable(code, binding):
                    value = others[kind].format(binding.name)
                    texts.append((gap, f"{binding.name} = {value};"))
        yield _site(code, row, "overwritten before it is read", texts, NO_VARIABLE)


def _is_assignable(code: CodeText, binding: Binding) -> bool:
    """Whether a variable may be assigned again: no function inside captures it."""
    node = binding.node if binding.view == "parameter" or binding.node is None else binding.node.parent
    return not binding.captured and not code.is_final(node)


def _reachable(code: CodeText) -> Iterator[Site | Refused]:
    """`if (true) return …` before a statement."""
    for row in gaps(code):
        results = [(gap, code.leaving(gap.before)) for gap in row]
        texts = [(gap, f"if ({code.dialect.truth[0]}) {text}") for gap, text in results if text]
        yield _site(code, row, "return before something", texts, NO_RESULT)


UNUSED_LOCALS: Final = CodeStrategy(
    name="unused-locals", needs=("fillers",), find=_unused, nothing="no block"
)
DEAD_STORES: Final = CodeStrategy(
    name="dead-stores",
    needs=("fillers", "type_of_variable"),
    find=_in_every_list("computed and never read")(_computed),
    nothing="no block",
)
UNREACHABLE_BRANCHES: Final = CodeStrategy(
    name="unreachable-branches", needs=("fillers",), find=_unreachable, nothing="no block"
)
NO_OP_STATEMENTS: Final = CodeStrategy(name="no-op-statements", find=_no_op, nothing="no block")
ELSE_PASS: Final = CodeStrategy(name="else-pass", find=_else, nothing="no if")
REDUNDANT_JUMPS: Final = CodeStrategy(
    name="redundant-jumps", find=_jump, nothing="no body of a loop or of what gives nothing"
)
LIVE_ASSIGNMENT: Final = CodeStrategy(name="live-assignment", find=_live, nothing="no block", kind="control")
REACHABLE_BRANCH: Final = CodeStrategy(
    name="reachable-branch", find=_reachable, nothing="no block", kind="control"
)

"""Branches in another arrangement: inverted, nested, flattened, or left early, and braces around them.

A condition is evaluated once before and after. An `if` may be constant without making anything unreachable,
and a branch that leaves assigns nothing for what follows. The controls at the end look like these edits,
compile, and change what a function does.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Patch, Site, Span
from codeaudit.transforms.strategies.dialect import COMMENT, CodeStrategy, CodeText, each
from codeaudit.transforms.strategies.logic import INFERRED, negated
from codeaudit.transforms.syntax.flow import BLOCKS, LOOPS, dangling, following
from codeaudit.transforms.syntax.reader import EMPTY, Node
from codeaudit.transforms.syntax.text import replace, span

PATTERN: Final = "pattern in the condition"
NO_ELSE: Final = "no else"
NOT_LEFT: Final = "branch does not always leave"
NOTHING_BEHIND: Final = "nothing behind the branch"
DANGLING: Final = "an else would change its if"
DECLARES: Final = "names would be known further on"
LONE: Final = "not among the statements of a block"
IDLE: Final = "block does nothing"
LEAVES: Final = "branch leaves"
UNSET: Final = "a variable would stay unset"
_BODIES: Final = ("consequence", "alternative", "body")
_WITH_BODY: Final = LOOPS | {"if_statement"}


def _negation(code: CodeText, node: Node) -> Patch:
    """The condition of a statement negated, in its parentheses."""
    inner = node.part("condition").unparenthesized
    return replace(inner, *negated(code, inner)[0])


@each("if_statement")
def _invert(code: CodeText, node: Node) -> Site | Refused:
    """`if (c) a else b` as `if (!c) b else a`."""
    first, second = node.part("consequence"), node.child("alternative")
    if second is None:
        return Refused(NO_ELSE)
    if code.is_inferred(node.part("condition")):
        return Refused(INFERRED)
    if code.commented(first.end, second.start):
        return Refused(COMMENT)
    # Without braces an `if` in the else would take the other else: `if (c) f(); else if (d) g();`.
    moved = (span(second),) if second.kind == "block" else ("{ ", span(second), " }")
    # `if (c) f(); else{ g(); }`: f would follow the word `else` directly.
    joined = code.source[second.start - 1 : second.start].isalnum() and first.kind != "block"
    patches = (
        _negation(code, node),
        replace(first, *moved),
        replace(second, " " if joined else "", span(first)),
    )
    return code.site(node, "branches exchanged", *patches)


@each("if_statement")
def _nest(code: CodeText, node: Node) -> Site | None:
    """`else if …` as `else { if … }`."""
    if node.field != "alternative":
        return None
    newline = f"{code.newline}{code.indentation(_chain_head(node).start)}"
    inner = Span(node.start, node.end, add=code.step)
    return code.site(
        node, "else if as else { if }", replace(node, "{", newline + code.step, inner, f"{newline}}}")
    )


def _chain_head(node: Node) -> Node:
    """The first `if` of the chain of `else if` that a statement belongs to."""
    while node.field == "alternative" and node.parent is not None and node.parent.kind == "if_statement":
        node = node.parent
    return node


@each("if_statement")
def _flatten(code: CodeText, node: Node) -> Site | Refused | None:
    """`else { if … }` as `else if …`."""
    block = node.child("alternative")
    if block is None or block.kind != "block" or [child.kind for child in block.children] != ["if_statement"]:
        return None
    inner = block.children[0]
    if code.commented(block.start, inner.start) or code.commented(inner.end, block.end):
        return Refused(COMMENT)
    if following(_chain_head(node)) is None:
        # `if (a) if (b) f(); else { if (c) g(); } else h();`: `if (c)` would take the last else.
        return Refused(DANGLING)
    moved = Span(inner.start, inner.end, drop=code.deeper(node, inner))
    return code.site(node, "else { if } as else if", replace(block, moved))


# ── branches that leave ──────────────────────────────────────────────────────────────────────────────────


def _leaves_for_sure(code: CodeText, node: Node) -> bool:
    """Whether a branch always leaves, and no `else` behind it would belong to an `if` in it."""
    return code.leaves(node) and (node.kind == "block" or not dangling(node))


def _behind(node: Node) -> list[Node] | None:
    """The statements behind one in its block; `None` in a group of a `switch` and for a lone statement."""
    in_block = node.parent is not None and node.parent.kind in BLOCKS
    return following(node) if in_block else None


def _brought_up(code: CodeText, statements: Sequence[Node]) -> frozenset[str]:
    """The names that statements make known behind themselves if every `else` goes that may go."""
    names = code.declares(statements)
    for node in statements:
        second = node.child("alternative") if node.kind == "if_statement" else None
        if second is None or _behind(node) is None or not _leaves_for_sure(code, node.part("consequence")):
            continue
        names |= _brought_up(code, second.children if second.kind == "block" else [second])
    return names


@each("if_statement")
def _unnest(code: CodeText, node: Node) -> Site | Refused | None:
    """`if (c) return x; else rest` as `if (c) return x;` and the rest behind it."""
    first, second = node.part("consequence"), node.child("alternative")
    if second is None:
        return None
    behind = _behind(node)
    if behind is None:
        return Refused(LONE)
    if not _leaves_for_sure(code, first):
        return Refused(NOT_LEFT)
    inner = second.children if second.kind == "block" else [second]
    names = _brought_up(code, inner)
    around = [] if node.parent is None else [child for child in node.parent.children if child is not node]
    if names & code.declares(around):
        return Refused(DECLARES)  # one block may declare a name once
    if any(names & code.names(statement) for statement in behind):
        # `if (c) return; else { int n = 1; } n = 2;`: the last line means a field named n.
        return Refused(DECLARES)
    if code.commented(first.end, second.start) or not inner:
        return Refused(COMMENT)
    if code.commented(second.start, inner[0].start) or code.commented(inner[-1].end, second.end):
        return Refused(COMMENT)
    drop = code.deeper(node, inner[0]) if second.kind == "block" else ""
    rest = Span(inner[0].start, inner[-1].end, drop=drop)
    lead = f"{code.newline}{code.indentation(node.start)}"
    return code.site(node, "no else", Patch(first.end, node.end, (lead, rest)))


@each("if_statement")
def _renest(code: CodeText, node: Node) -> Site | Refused | None:
    """`if (c) return x;` and a rest as `if (c) return x; else { rest }`."""
    if node.child("alternative") is not None:
        return None
    behind = _behind(node)
    if behind is None:
        return Refused(LONE)
    if not _leaves_for_sure(code, node.part("consequence")):
        return Refused(NOT_LEFT)
    if not behind:
        return Refused(NOTHING_BEHIND)
    if behind[0].kind == "explicit_constructor_invocation":
        return Refused(NOT_LEFT)  # `super(…)` has to stand in the body of the constructor itself
    end = _comment_end(code, behind[-1].end)
    close = f"{code.newline}{code.indentation(node.start)}}}"
    moved = Patch(node.end, end, (" else {", Span(node.end, end, add=code.step), close))
    return code.site(node, "else around the rest", moved)


def _comment_end(code: CodeText, end: int) -> int:
    """The end of the comment that goes on a line from an offset on, or that offset.

    A brace that is put before `// comment` would be part of the comment's line.
    """
    for _, start, stop in code.reading.comments:
        if start >= end and not code.source[end:start].strip() and b"\n" not in code.source[end:start]:
            return stop
    return end


# ── braces ───────────────────────────────────────────────────────────────────────────────────────────────


def _bodies(code: CodeText) -> Iterator[Node]:
    """The branches of every `if` and the bodies of every loop."""
    for node in code.nodes:
        if node.field in _BODIES and node.parent is not None and node.parent.kind in _WITH_BODY:
            yield node


def _brace(code: CodeText) -> Iterator[Site | Refused]:
    """`if (c) f();` as `if (c) { f(); }`."""
    for node in _bodies(code):
        if node.kind != "block" and not (node.kind == "if_statement" and node.field == "alternative"):
            yield code.site(node, "braces", replace(node, "{ ", span(node), " }"))


def _unbrace(code: CodeText) -> Iterator[Site | Refused]:
    """`if (c) { f(); }` as `if (c) f();`."""
    for node in _bodies(code):
        if node.kind == "block" and len(node.children) == 1:
            yield _without_braces(code, node, node.children[0])


def _without_braces(code: CodeText, node: Node, inner: Node) -> Site | Refused:
    """The site that removes the braces of a body with this one statement."""
    if inner.kind in code.dialect.types or inner.kind == "local_variable_declaration":
        return Refused("a declaration stands in no other place")  # the grammar forbids `if (c) int n = 1;`
    if inner.kind == EMPTY or code.source[inner.end : node.end - 1].count(b"//"):
        return Refused(COMMENT)
    if dangling(inner) and _before_else(node):
        return Refused(DANGLING)  # `if (a) { if (b) f(); } else g();`
    opening = " " if code.source[node.start - 1 : node.start].isalnum() else ""
    front = node.start
    if code.starts_line(inner.start) and not code.starts_line(front):
        front, opening = len(code.source[:front].rstrip(b" \t")), ""
    begin, end = node.end - 1, node.end
    if code.starts_line(begin):
        if node.parent is not None and node.end == node.parent.end:
            begin = len(code.source[:begin].rstrip())
        else:  # `else` or `while` follows the brace and takes its place
            end += len(code.source[end:]) - len(code.source[end:].lstrip(b" \t"))
    return code.site(node, "no braces", Patch(front, node.start + 1, (opening,)), Patch(begin, end, ()))


def _before_else(node: Node) -> bool:
    """Whether an `else` may follow a body, of its own `if` or of one around it."""
    while node.parent is not None and node.parent.kind not in BLOCKS:
        parent = node.parent
        if parent.kind == "if_statement" and node.field == "consequence" and parent.child("alternative"):
            return True
        node = parent
    if node.parent is not None and len(node.parent.children) == 1 and node.parent.field in _BODIES:
        return _before_else(node.parent)  # its braces may go, too
    return False


# ── controls ─────────────────────────────────────────────────────────────────────────────────────────────


@each("if_statement")
def _invert_wrong(code: CodeText, node: Node) -> Site | Refused:
    """`if (c) a else b` as `if (!c) a else b`."""
    condition = node.part("condition")
    if code.patterns(condition) or code.assigned(condition):
        # `if (o instanceof String s) f(s);`: under the negation s is not known, and the control must compile.
        return Refused(PATTERN)
    if code.is_inferred(condition):
        return Refused(INFERRED)
    return code.site(node, "condition negated", _negation(code, node))


@each("if_statement")
def _drop_else(code: CodeText, node: Node) -> Site | Refused:
    """`if (c) a else b` as `if (c) a`."""
    first, second = node.part("consequence"), node.child("alternative")
    if second is None:
        return Refused(NO_ELSE)
    if second.kind == "block" and not second.children:
        return Refused(IDLE)
    if not code.ends(second) or not code.ends(first):
        # `if (c) return 1; else return 2;` at the end of a method: without its else, a return is missing.
        return Refused(LEAVES)
    if _may_initialise(code, second):
        return Refused(UNSET)  # `int n; if (c) n = 1; else n = 2; f(n);`
    if code.patterns(node.part("condition")):
        return Refused(PATTERN)
    return code.site(node, "else dropped", Patch(first.end, second.end, ()))


def _may_initialise(code: CodeText, node: Node) -> bool:
    """Whether a statement may give a variable its first value."""
    numbers = code.assigned(node)
    return any(
        binding.number in numbers and (binding.node is None or binding.node.child("value") is None)
        for binding in code.scopes.bindings
        if binding.view != "parameter"
    )


INVERT_IF: Final = CodeStrategy(name="invert-if", find=_invert, nothing="no if")
NEST_ELIF: Final = CodeStrategy(name="nest-elif", find=_nest, nothing="no else if")
FLATTEN_ELIF: Final = CodeStrategy(name="flatten-elif", find=_flatten, nothing="no if alone in an else")
RETURN_TO_ELSE: Final = CodeStrategy(name="return-to-else", find=_renest, nothing="no if without else")
ELSE_TO_RETURN: Final = CodeStrategy(name="else-to-return", find=_unnest, nothing="no else")
INSERT_BRACES: Final = CodeStrategy(name="insert-braces", find=_brace, nothing="no body without braces")
REMOVE_BRACES: Final = CodeStrategy(
    name="remove-braces", find=_unbrace, nothing="no body of one statement in braces"
)
IF_INVERTED_WRONG: Final = CodeStrategy(
    name="if-inverted-wrong", find=_invert_wrong, nothing="no if", kind="control"
)
BRANCH_DROPPED: Final = CodeStrategy(name="branch-dropped", find=_drop_else, nothing="no if", kind="control")

"""`reorder-methods` and `reorder-constants`: members of a class in another order.

The place of a method, constructor or nested type in its class has no meaning. Each moves with the comments
above it. Among fields only constants move, and only among neighbours: each is declared `static final` with a
literal, so it has its value before any code runs.

Members in which a `switch` may select by an enum keep their order among one another, and none passes a field
or initialiser with such a `switch`: the first one that runs initialises the enums of all of them, in the
order of the text.

No code reads members in the order in which reflection gives them, or the numbers in the names of anonymous
classes and lambdas; a class that is serialised declares its `serialVersionUID` (`members-unlisted`).

Constants of an enum, elements of an annotation and components of a record keep their places. So do the fields
of objects, because their order shows in serialised or printed objects.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.analysis.types import PRIMITIVE, STRING
from codeaudit.transforms.java.members.classes import Classes, MemberRewriting
from codeaudit.transforms.java.parsing import CALLABLES, TYPES, names_constant
from codeaudit.transforms.patches import Site, Span
from codeaudit.transforms.rules import MOST, legal_orders, permuted
from codeaudit.transforms.syntax.reader import Node

SHARED_LINE: Final = "members share a line"
ALIKE: Final = "members are alike"
_BODIES: Final = frozenset({"class_body", "interface_body", "enum_body_declarations"})
_MOVED: Final = (CALLABLES | TYPES) - {"annotation_type_declaration"}
_LITERALS: Final = frozenset(
    {"decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "binary_integer_literal",
     "decimal_floating_point_literal", "hex_floating_point_literal", "character_literal", "string_literal",
     "true", "false"}
)  # fmt: skip


def _methods(classes: Classes) -> Iterator[Site | Refused]:
    """Sites of methods, constructors and nested types, in runs of at most `MOST`."""
    for body in _bodies(classes):
        run: list[Node] = []
        for node in [*body.children, None]:  # the end closes the last run
            if node is not None and node.kind in _MOVED:
                run.append(node)
            # Runs of at most MOST members: the options of a site are listed, and n! grows fast.
            if node is None or len(run) == MOST or (node.kind not in _MOVED and _selects_by_enum(node)):
                yield from _rearranged(classes, body, run, "members")
                run = []


def _constants(classes: Classes) -> Iterator[Site | Refused]:
    """Sites of constants that stand side by side."""
    for body in _bodies(classes):
        run: list[Node] = []
        for node in [*body.children, None]:  # the end closes the last run
            if node is not None and _is_constant(classes, node) and len(run) < MOST:
                run.append(node)
                continue
            yield from _rearranged(classes, body, run, "constants")
            run = []


def _bodies(classes: Classes) -> Iterator[Node]:
    """The bodies of the classes that the text contains completely."""
    return (node for node in classes.nodes if node.kind in _BODIES and node is not classes.reading.root)


def _is_constant(classes: Classes, node: Node) -> bool:
    """Whether a member declares one constant whose value is a literal."""
    if node.kind not in ("field_declaration", "constant_declaration"):
        return False
    modifiers, variables = node.first("modifiers"), node.all("declarator")
    is_static_final = modifiers is not None and modifiers.has("static") and modifiers.has("final")
    if not is_static_final and node.kind != "constant_declaration":
        return False
    if len(variables) != 1 or variables[0].child("dimensions"):
        return False
    # `static final int A = f();` runs f when the class is initialised, so its place counts.
    value = variables[0].child("value")
    while value is not None and value.kind == "unary_expression" and value.operator in "+-":
        value = value.children[0]
    kind = classes.text(node.part("type"))
    return value is not None and value.kind in _LITERALS and kind in PRIMITIVE | {STRING}


def _rearranged(classes: Classes, body: Node, nodes: Sequence[Node], noun: str) -> Iterator[Site | Refused]:
    """The site whose options are all other orders of these members."""
    if len(nodes) < 2:
        return
    parts = [_unit(classes, body, node) for node in nodes]
    if any(part is None for part in parts):
        yield Refused(SHARED_LINE)
        return
    spans = [part for part in parts if part is not None]
    texts = [classes.source[part.start : part.end] for part in spans]
    if len(set(texts)) < len(texts) or any(one.end > two.start for one, two in pairwise(spans)):
        yield Refused(ALIKE)  # an exchange of equal texts changes nothing
        return
    options = tuple((permuted(spans, order),) for order in legal_orders(_predecessors(nodes)))
    yield Site(options, f"{len(spans)} {noun}", classes.line(nodes[0]))


def _predecessors(nodes: Sequence[Node]) -> tuple[int, ...]:
    """For each member the members before it that must stay there, as a bit mask."""
    bound = [_selects_by_enum(node) for node in nodes]
    before = 0
    masks = []
    for number, binds in enumerate(bound):
        masks.append(before if binds else 0)
        before |= binds << number
    return tuple(masks)


def _selects_by_enum(node: Node) -> bool:
    """Whether a `switch` in a member may select by an enum."""
    return any(inner.kind == "switch_label" and names_constant(inner) for inner in node.walk())


def _unit(classes: Classes, body: Node, node: Node) -> Span | None:
    """The bytes of a member with the comments above it and behind it on its line.

    `None` if other members share its lines.
    """
    source = classes.source
    place = next(number for number, member in enumerate(body.children) if member is node)
    behind = body.children[place - 1].end if place else body.start + 1
    ahead = body.children[place + 1].start if place + 1 < len(body.children) else body.end - 1
    start, end = node.start, node.end
    for _, first, last in reversed(classes.reading.comments):
        if behind <= first < start and b"\n" in source[behind:first]:
            start = first
        if (
            end <= first < ahead
            and b"\n" not in source[node.end : first]
            and b"\n" in source[last - 1 : ahead]
        ):
            end = max(end, last)
    begin, stop = source.rfind(b"\n", 0, start) + 1, source.find(b"\n", end)
    alone = not source[begin:start].strip() and not source[end : stop if stop >= 0 else end].strip()
    return Span(start, end) if alone and stop >= 0 else None


REORDER_METHODS: Final = MemberRewriting(
    name="reorder-methods", find=_methods, nothing="no two methods or nested types in a class"
)
REORDER_CONSTANTS: Final = MemberRewriting(
    name="reorder-constants", find=_constants, nothing="no two constants side by side"
)

"""What `tsc --strict` concludes from the text of TypeScript, and which edits it would not follow.

The types stay, and so does what a program does at run time. But the compiler reads more than the types: a
condition narrows the type of a name, a literal gives a variable a type as narrow as itself, and a `return`
belongs to a type. `REFUSED` says of each transform where its edit would change such a conclusion. In doubt an
edit is refused. Nothing here is asked of JavaScript.

The compiler follows a condition through parentheses, `!`, `&&`, `||` and exchanged sides of a comparison. It
does not follow `?:`, nor a condition that is kept in a variable of `let`.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol, TypeAlias

from codeaudit.transforms.javascript.parsing import FUNCTIONS, erased
from codeaudit.transforms.strategies.dialect import CodeText
from codeaudit.transforms.syntax.effects import OUTSIDE, StatePlace
from codeaudit.transforms.syntax.flow import LOOPS
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import Binding, Scopes

NARROWS: Final = "TypeScript narrows a type by this condition"
REACHES: Final = "TypeScript reads this literal as the way of control"
WIDENS: Final = "TypeScript would give the variable another type"
RESULT: Final = "TypeScript would give the function another result"
ASSERTS: Final = "TypeScript may read this call as an assertion"
PRIVATE: Final = "the property may be private"
MARKED: Final = "a comment tells TypeScript of an error on a line"

_PLAIN: Final = frozenset(
    {"number", "string_literal", "template_string", "regex", "true", "false", "null", "undefined", "object",
     "array", "ternary_expression", "jsx_element", "jsx_self_closing_element"}
) | FUNCTIONS  # fmt: skip
"""Kinds of expressions that narrow nothing as a condition."""
_LOGICAL: Final = frozenset({"&&", "||", "??"})
_NARROWING: Final = frozenset({"==", "!=", "===", "!==", "in", "instanceof"})
"""The operators by which a condition narrows: with `null`, a literal, `typeof`, a property that tells."""
_SHORT: Final = frozenset({"shorthand_property_identifier", "shorthand_property_identifier_pattern"})
_NAMES: Final = frozenset({"identifier", "this"}) | _SHORT
_PATTERNS: Final = frozenset({"object_pattern", "array_pattern", "rest_pattern"})
_CASTS: Final = frozenset({"as_expression", "type_assertion"})
_ARITHMETIC: Final = frozenset({"+", "-", "*", "/", "%", "**", "<<", ">>", ">>>", "&", "|", "^"})
_TRUTHS: Final = frozenset({"true", "false"})
_WITHOUT_VALUE: Final = frozenset({"void", "any", "unknown", "undefined"})
"""The types of a function that may end without a value."""
_JUMPS: Final = frozenset(
    {"return_statement", "throw_statement", "break_statement", "continue_statement", "method_invocation"}
)
"""Kinds of nodes by which a branch may leave: a call may be one of a function that never returns."""


class _Names(Protocol):
    """A text whose names are known."""

    def text(self, node: Node, /) -> str:
        """The text of a node."""

    @property
    def scopes(self) -> Scopes:
        """Its variables."""


def narrowed(code: _Names, node: Node) -> frozenset[int | str]:
    """The names whose types a condition may narrow: all that stand in a test, in a chain of properties, and
    in a call, which may be one of a guard. Where a constant holds a condition, its names count, too; of a
    pattern that takes an object apart, all: `type` tells of what kind `payload` is."""
    return frozenset(_narrowed(code, node, frozenset()))


def _narrowed(code: _Names, node: Node, seen: frozenset[int]) -> Iterator[int | str]:
    inner = erased(node.unparenthesized)
    kind = inner.kind
    if kind in _PLAIN:
        return
    if kind == "unary_expression":
        if inner.operator == "!":
            yield from _narrowed(code, inner.children[0], seen)
        return
    if kind == "binary_expression" and inner.operator in _LOGICAL:
        for side in inner.children:
            yield from _narrowed(code, side, seen)
        return
    if kind == "binary_expression" and inner.operator not in _NARROWING:
        return
    for name in inner.walk():
        if name.kind not in _NAMES:
            continue
        yield _meant(code, name)
        binding = _variable(code, name)
        if binding is None or binding.node is None or binding.number in seen:
            continue
        for part in binding.node.children:
            if part.kind in _PATTERNS:
                yield from _named(code, part)
        if (value := binding.node.child("value")) is not None:
            yield from _narrowed(code, value, seen | {binding.number})


def names_in(code: _Names, nodes: Iterable[Node]) -> list[tuple[int, StatePlace]]:
    """The first byte of each name among these nodes, with what reads its narrowed type."""
    named = ((node.start, _meant(code, node)) for node in nodes if node.kind in _NAMES)
    return [(start, StatePlace("narrowing", name)) for start, name in named]


def narrowing(
    code: _Names, names: Sequence[tuple[int, StatePlace]], node: Node
) -> tuple[frozenset[StatePlace], frozenset[StatePlace]]:
    """What reads a name's narrowed type in a statement, and what narrows it behind; `names`: of the unit."""
    own = names[bisect_left(names, (node.start,)) : bisect_left(names, (node.end,))]
    reads = frozenset(place for _, place in own)
    if node.kind == "expression_statement" and node.children[0].kind == "method_invocation":
        return reads, reads  # it may be an assertion
    return reads, frozenset(StatePlace("narrowing", name) for name in _behind(code, node))


def _named(code: _Names, node: Node) -> Iterator[int | str]:
    return (_meant(code, name) for name in node.walk() if name.kind in _NAMES)


def _meant(code: _Names, name: Node) -> int | str:
    """What a name means: the number of a variable of the function, or the name itself."""
    binding = _variable(code, name)
    return code.text(name) if binding is None or binding.view in OUTSIDE else binding.number


def _variable(code: _Names, name: Node) -> Binding | None:
    """The variable of a name, which `{ name }` mentions, too."""
    return code.scopes.at.get(name.start) if name.kind in _NAMES else None


def _behind(code: _Names, node: Node) -> Iterator[int | str]:
    """The names that a statement narrows for those behind it."""
    if (condition := node.child("condition")) is not None:
        if any(inner.kind in _JUMPS for inner in node.walk()):
            yield from narrowed(code, condition)
    elif node.kind == "switch_expression":
        labels = [child.part("value") for child in node.part("body").children if child.child("value")]
        for part in (node.part("value"), *labels):
            yield from _named(code, part)


def _is_read(code: CodeText, names: frozenset[int | str], node: Node) -> bool:
    """Whether one of the names stands behind a node, or anywhere in a loop around it."""
    start = min((loop.start for loop in node.ancestors() if loop.kind in LOOPS), default=node.start)
    return any(
        name.kind in _NAMES and _meant(code, name) in names and not node.start <= name.start < node.end
        for name in code.unit.walk()
        if name.start > start
    )


# ── transforms ───────────────────────────────────────────────────────────────────────────────────────────


def _unseen(code: CodeText, node: Node) -> str | None:
    """A condition that the compiler no longer follows, or a literal: `!0` has the type `true`."""
    if _decides(code, node) or (node.unparenthesized.kind == "unary_expression" and _is_constant(node)):
        return REACHES
    names = narrowed(code, node)
    return NARROWS if _is_read(code, names, node) or (names and _is_result(code, node)) else None


def _is_result(code: CodeText, node: Node) -> bool:
    """Whether a function without a written result gives what a condition is, perhaps by a variable: since
    TypeScript 5.5 the function is a guard."""
    top = _condition(node)
    if any(_is_result(code, use) for use in _uses(code, top)):
        return True
    if top.parent is not None and top.parent.kind == "return_statement":
        top = next((outer for outer in top.ancestors() if outer.kind in FUNCTIONS), top)
    else:
        top = top.parent if top.field == "body" and top.parent is not None else top
    return top.kind in FUNCTIONS and top.child("return_type") is None


def _uses(code: CodeText, value: Node) -> Iterator[Node]:
    """Where a variable is read of which a node is the value."""
    name = value.parent.child("name") if value.parent is not None and value.field == "value" else None
    if name is not None and (binding := code.binding(name)) is not None:
        for use in code.unit.walk():
            if use.start > value.end and use.kind == "identifier" and code.binding(use) is binding:
                yield use


def _condition(node: Node) -> Node:
    """The whole condition of which a node is an operand."""
    while (above := node.parent) is not None and (
        above.kind == "parenthesized_expression"
        or (above.kind == "unary_expression" and above.operator == "!")
        or (above.kind == "binary_expression" and above.operator in _LOGICAL)
    ):
        node = above
    return node


def _is_constant(node: Node) -> bool:
    inner = node.unparenthesized
    while inner.kind == "unary_expression":
        inner = inner.children[0].unparenthesized
    return inner.kind in _TRUTHS or inner.kind == "number"


def _is_literal(code: CodeText, node: Node) -> str | None:
    """`while (true)` says that the end is never reached, `while (!false)` does not."""
    return REACHES if _decides(code, node.child("condition") or node) else None


def _decides(code: CodeText, node: Node) -> bool:
    return any(inner.kind in _TRUTHS and code.is_boolean(inner) for inner in node.walk())


def _literal(code: CodeText, node: Node) -> str | None:
    """`true as const` takes a literal only, and only in `switch (true)` do the cases narrow."""
    above = next((outer for outer in node.ancestors() if outer.kind != "parenthesized_expression"), None)
    if above is not None and above.kind == "switch_expression":
        return NARROWS
    return WIDENS if above is not None and above.kind in _CASTS else _is_literal(code, node)


def _in_test(code: CodeText, node: Node) -> str | None:
    """Not every version sees `typeof` in parentheses."""
    above = node.parent
    tests = above is not None and above.kind == "binary_expression" and above.operator in _NARROWING
    return NARROWS if tests and node.kind == "unary_expression" and node.operator == "typeof" else None


def _other_keyword(code: CodeText, node: Node) -> str | None:
    """`const a = "b"` has the type `"b"`, `let a = "b"` the type `string`. A constant hands on a
    condition that narrows, and stays narrowed in a function inside."""
    for child in node.all("declarator"):
        binding, value, written = code.binding(child.part("name")), child.child("value"), child.child("type")
        if binding is None or value is None or binding.captured:
            return WIDENS
        if written is not None:
            if "unique" in code.text(written):
                return WIDENS  # only a constant is a `unique symbol`
        elif not _has_wide_type(code, value):
            return NARROWS if narrowed(code, value) else WIDENS
    return None


def _has_wide_type(code: CodeText, node: Node) -> bool:
    """Whether neither a literal nor a condition gives an expression its type."""
    inner = node.unparenthesized
    match inner.kind:
        case "object_creation_expression" | "array" | "object" | "as_expression" | "type_assertion":
            return True
        case "lambda_expression" | "function_expression":
            return True
        case "template_string":
            return any(child.kind == "template_substitution" for child in inner.children)
        case "binary_expression":
            return inner.operator in _ARITHMETIC
        case "array_access":
            return inner.part("index").kind != "string_literal"
        case "identifier":
            binding = code.binding(inner)
            return binding is not None and binding.view == "parameter"
        case _:
            return False


def may_evolve(code: CodeText, declarator: Node) -> bool:
    """Whether a variable without a written type may have its value apart: it then has the type of what is
    assigned last, which the compiler must not look for in a loop. Several declarations of one variable must
    have one type, and that of a declaration without a value is `any`."""
    binding = code.binding(declarator.part("name"))
    if binding is not None and [use.use for use in binding.occurrences].count("declare") > 1:
        return False
    if binding is None or code.type_of_variable(binding) is not None:
        return binding is not None
    written = [use.start for use in binding.occurrences if use.use != "read"]
    if declarator.child("value") is None:
        return len(written) <= 2
    return not any(
        loop.start <= start < loop.end and not loop.start <= declarator.start < loop.end
        for loop in code.unit.walk()
        if loop.kind in LOOPS
        for start in written
    )


def _by_text(code: CodeText, node: Node) -> str | None:
    """An assertion is called by names alone, as is a guard of its own object (`this is …`), and only by its
    name `push` makes an array's type grow."""
    target = node.part("object")
    binding = code.binding(target)
    value = binding.node.child("value") if binding is not None and binding.node is not None else None
    if value is not None and value.kind == "array" and not value.children:
        return WIDENS
    above = node
    while above.parent is not None and above.parent.kind == "field_access":
        above = above.parent
    call = above.parent
    called = call is not None and call.kind == "method_invocation" and above.field == "function"
    statement = call.parent if called and call is not None else None
    if statement is not None and statement.kind == "expression_statement":
        return ASSERTS
    if call is None or not called or above is not node:
        return None
    return NARROWS if _is_condition(code, call) and _is_read(code, narrowed(code, target), call) else None


def _is_condition(code: CodeText, node: Node) -> bool:
    """Whether a node is a condition or a part of one, perhaps by a variable."""
    top = _condition(node)
    if top is not node or top.field == "condition":
        return True
    return any(_is_condition(code, use) for use in _uses(code, top))


def _by_name(code: CodeText, node: Node) -> str | None:
    """`a["b"]` may use a private property, `a.b` may not."""
    binding = code.binding(node.part("object"))
    value = binding.node.child("value") if binding is not None and binding.node is not None else None
    return None if value is not None and value.kind == "object" else PRIVATE


def _spelt_out(code: CodeText, node: Node) -> str | None:
    """A constructor and a setter return nothing, and a function whose type is inferred returns `void`."""
    function = next((ancestor for ancestor in node.ancestors() if ancestor.kind in FUNCTIONS), None)
    if function is None or function.has("set") or _is_constructor(code, function):
        return RESULT
    return None if function.child("return_type") or list(_values(function)) else RESULT


def _is_constructor(code: CodeText, function: Node) -> bool:
    name = function.child("name")
    return function.kind == "method_definition" and name is not None and code.text(name) == "constructor"


def _values(function: Node) -> Iterator[Node]:
    """The `return`s with a value of a function itself."""
    pending = list(function.part("body").children)
    while pending:
        node = pending.pop()
        if node.kind in FUNCTIONS or node.kind == "class_body":
            continue
        if node.kind == "return_statement" and node.children:
            yield node
        pending += node.children


def may_end(code: CodeText, function: Node) -> bool:
    """Whether `return;` may stand at the end of a function: its type says so, or it never gives a value."""
    written = function.child("return_type")
    if written is None:
        return function.part("body").kind == "block" and not list(_values(function))
    text = code.text(written).lstrip(": \t").removeprefix("Promise<").removesuffix(">")
    return written.kind == "asserts_annotation" or any(
        part.strip() in _WITHOUT_VALUE for part in text.split("|")
    )


Check: TypeAlias = Callable[[CodeText, Node], str | None]
"""Why a transform must leave a node alone."""

REFUSED: Final[Mapping[str, Check]] = {
    "not-to-ternary": _unseen,
    "double-negation": _is_literal,
    "de-morgan": _is_literal,
    "invert-if": _is_literal,
    "while-to-while-true": _is_literal,
    "do-to-while-true": _is_literal,
    "bool-literals": _literal,
    "insert-parentheses": _in_test,
    "const-and-let": _other_keyword,
    "member-to-item": _by_text,
    "item-to-member": _by_name,
    "return-void": _spelt_out,
}
"""By the name of a transform: where its edit would change what the compiler concludes."""

"""`rename-merging`: the control of renaming. Two variables become one, which breaks the referent relation.

The declaration of a local, with a value, becomes an assignment to another variable of the same type that is
known there, and all uses follow. The text still compiles: the other variable may be assigned again, no class
or function inside uses it, and both are declared with the same words.

A merge is *certain* if the next statement of the block that mentions the other variable reads it first: the
read then finds the new value. The meaning stays only if both values are equal or the value has no effect
(Renamer, Ankner et al., section 3 and Figure 1(c), right half). If no merge is certain, one is taken whose
other variable is read anywhere later in the text.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.patches import Edit, splice
from codeaudit.transforms.renaming import VariableMerge
from codeaudit.transforms.strategies.rename import CodeVariables
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import Binding, Scopes

_SIMPLE: Final = frozenset(
    {"expression_statement", "return_statement", "throw_statement", "local_variable_declaration"}
)
_CERTAIN: Final = frozenset(
    {"method_invocation", "argument_list", "field_access", "array_access", "parenthesized_expression",
     "unary_expression", "cast_expression", "object_creation_expression", "update_expression"}
)  # fmt: skip
"""Expressions that evaluate all of their parts whenever they are evaluated."""


class CodeMerges(ABC):
    """The merges of one unit, computed once for all of its variants. Implements `renaming.Merges`."""

    def __init__(self, variables: CodeVariables) -> None:
        self.variables = variables
        self.scopes = variables.scopes
        self.obstacle = variables.obstacle or ""
        """Why no variables may be merged; empty if they may."""
        pairs = sorted(self._pairs()) if not self.obstacle else []
        self.certain = tuple(pair for pair, certain in pairs if certain)
        self.likely = tuple(pair for pair, certain in pairs if not certain)

    @abstractmethod
    def description(self, binding: Binding) -> bytes | None:
        """The type of a variable as its declaration writes it; `None` if it is never assigned again or the
        text is not its type.
        """

    def names(self, pair: VariableMerge) -> tuple[str, str]:
        """The names of the two variables."""
        return self.scopes.bindings[pair.gone].name, self.scopes.bindings[pair.into].name

    def text(self, pair: VariableMerge) -> str | None:
        """The merged text; `None` if the result is not the original with exactly this merge."""
        gone, into = self.scopes.bindings[pair.gone], self.scopes.bindings[pair.into]
        assert gone.node is not None
        assert gone.node.parent is not None
        edits = [Edit(use.start, use.end, into.name) for use in gone.occurrences[1:]]
        edits.append(Edit(gone.node.parent.start, gone.node.children[0].end, into.name))
        text = splice(self.scopes.reading.source, edits).decode()
        try:
            after = self.variables.resolve(text)
        except SourceError:
            return None
        return text if _is_merge(self.scopes, after, pair) else None

    def _pairs(self) -> Iterator[tuple[VariableMerge, bool]]:
        """Every merge that compiles, with whether it is certain."""
        scopes = self.scopes
        described = [(local, self.description(local)) for local in scopes.bindings if not local.captured]
        sound = [(local, kind) for local, kind in described if kind and self._movable(local)]
        for gone, kind in sound:
            value = _value(gone)
            # `int a = (a = 1) + 2;`: the value uses the variable itself.
            if value is None or any(
                use.use != "declare" and use.start < value.end for use in gone.occurrences
            ):
                continue
            for into, other in sound:
                # Of another owner: a function or class inside would assign it, which compilers may reject.
                if other != kind or into.owner != gone.owner or into.name == gone.name:
                    continue
                if not into.start < gone.start < into.until or not _is_visible(scopes, into, gone):
                    continue
                later = [use for use in into.occurrences if use.start >= value.end and use.use != "write"]
                if not later or _same_value(scopes, value, into):
                    continue  # nobody would notice
                yield VariableMerge(gone.number, into.number), _is_certain(gone, into)

    def _movable(self, binding: Binding) -> bool:
        """Whether all uses of a variable are known, and its declaration may go."""
        if binding.view == "parameter":
            return binding.doubt is None
        return binding.view == "local" and self.variables.keeps_name(binding) is None


def _is_merge(before: Scopes, after: Scopes, pair: VariableMerge) -> bool:
    """Whether every occurrence belongs to the same variable as before, except those of the merged one."""
    if len(before.slots) != len(after.slots):
        return False
    image: dict[int, int] = {}
    for old, new in zip(before.slots, after.slots, strict=True):
        old = pair.into if old == pair.gone else old
        if image.setdefault(old, new) != new or before.bindings[old].name != after.bindings[new].name:
            return False
    return len(set(image.values())) == len(image)


def _value(binding: Binding) -> Node | None:
    """The initial value of a local whose declaration can become an assignment; else `None`."""
    node = binding.node
    if binding.view != "local" or node is None or node.parent is None:
        return None
    if len(node.parent.all("declarator")) != 1:
        return None  # `int a = 1, b = 2;` is no assignment of one
    value = node.child("value")
    return None if value is None or value.kind == "array_initializer" else value


def _is_visible(scopes: Scopes, into: Binding, gone: Binding) -> bool:
    """Whether `into` is certainly known where `gone` is declared."""
    if into.view == "parameter":
        return True
    declaration = into.node.parent if into.node else None
    block = declaration.parent if declaration else None
    return block is not None and block.kind == "block" and block.start < gone.start < block.end


def _same_value(scopes: Scopes, value: Node, into: Binding) -> bool:
    """Whether the text of a value is that of the other variable's value, so the merge may change nothing."""
    text = scopes.reading.text
    first = _value(into)
    return text(value) == into.name or (first is not None and text(first) == text(value))


def _is_certain(gone: Binding, into: Binding) -> bool:
    """Whether the next statement of the block that mentions `into` certainly reads it first."""
    assert gone.node is not None
    declaration = gone.node.parent
    block = declaration.parent if declaration else None
    if declaration is None or block is None or block.kind not in ("block", "constructor_body"):
        return False
    after = [child for child in block.children if child.start >= declaration.end]
    for statement in after:
        uses = [use for use in into.occurrences if statement.start <= use.start < statement.end]
        if uses:
            first = uses[0]
            return first.use in ("read", "update") and _is_evaluated(statement, first.start)
        if statement.kind not in _SIMPLE:
            return False  # control may not come to the rest
    return False


def _is_evaluated(statement: Node, place: int) -> bool:
    """Whether a name is evaluated whenever its statement runs, and before the statement writes."""
    node = statement
    if statement.kind in ("if_statement", "while_statement"):
        node = statement.part("condition")
    elif statement.kind not in _SIMPLE:
        return False
    while node.kind != "identifier":
        inner = next((child for child in node.children if child.start <= place < child.end), None)
        if inner is None:
            return False
        if node is not statement and node.kind not in _CERTAIN and not _is_sure(node, inner):
            return False
        node = inner
    return True


def _is_sure(node: Node, inner: Node) -> bool:
    """Whether an expression evaluates this part whenever it is evaluated."""
    if node.kind == "binary_expression":
        return node.operator not in ("&&", "||") or inner is node.children[0]
    # The right side of an assignment is evaluated; of `x = …` the target is not, of `x += …` it is.
    if node.kind == "assignment_expression":
        return inner is node.children[1] or node.operator != "=" or inner.kind != "identifier"
    return node.kind == "variable_declarator"

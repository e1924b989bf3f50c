"""The effects of expressions: the variables they read and write, and whether they raise, observe or act.

`program` collects the effects of each statement with a `JavaScriptEffectCollector`; `dependence.effects`
makes the conflict relation of them. Values that the function itself makes are known by their kinds
(`analysis.facts`). Everything else may run unknown code:

- a call, `new`, a tag of markup, `await`, `yield`;
- a property: a getter, a setter or a proxy may stand behind it;
- an operator that takes a value of unknown kind: `+`, `<`, `==` and templates call `valueOf` or `toString`;
- `in`, `instanceof`, `delete`, items of a loop, patterns, `...`;
- a name that is bound outside of the function, which may be a getter of the global object.

Under the relation `types` the compiler of TypeScript is believed (`facts.types`): a property that it declares
is read, or set, by name, if its object is one, and nothing else happens. To set one may add it to its object,
and the order of the properties of an object is seen, so all that set properties keep their order.

A variable that a function inside uses is seen by all unknown code. To read a variable of `let`, `const` or
`class` before its declaration raises.
"""

from collections.abc import Callable
from functools import cache
from typing import Final

from codeaudit.transforms.dependence.effects import ANYTHING, LOOKS_UP, RAISES, STORES
from codeaudit.transforms.javascript.analysis.facts import (
    CHOOSING,
    GLOBALS,
    STRING,
    JavaScriptFacts,
    Kinds,
    is_plain,
)
from codeaudit.transforms.javascript.parsing import erased
from codeaudit.transforms.syntax.effects import OUTSIDE, EffectCollector, StatePlace
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import Binding

_SAME: Final = frozenset({"===", "!=="})
_EQUAL: Final = frozenset({"==", "!="})
_ASKS: Final = frozenset({"in", "instanceof"})
_NULLISH: Final = frozenset({"null", "undefined"})
_ELEMENTS: Final = StatePlace("element", "")
_FOUND: Final = StatePlace("field", "lastIndex")
_SHAPES: Final = StatePlace("contents", "")
"""Which properties objects have, in which order."""


class JavaScriptEffectCollector(EffectCollector):
    """Collects the effects of the expressions of one statement."""

    __slots__ = ("facts",)

    def __init__(self, facts: JavaScriptFacts, guard: int = -1) -> None:
        super().__init__(facts, guard)
        self.facts = facts

    # ── variables ────────────────────────────────────────────────────────────────────────────────────────

    def read(self, binding: Binding) -> None:
        """Record that the value of a variable is read."""
        if binding.view in OUTSIDE:
            if binding.name in GLOBALS or binding.name == "arguments":
                return
            self.flags |= ANYTHING
        super().read(binding)
        if binding.number in self.facts.lasting:
            self.flags |= LOOKS_UP

    def write(self, binding: Binding) -> None:
        """Record that a variable gets a value."""
        super().write(binding)
        if binding.view in OUTSIDE:
            self.flags |= ANYTHING
            return
        if self.facts.is_constant(binding):
            self.flags |= RAISES
        self._expose(binding)

    def declare(self, binding: Binding, *, inner: bool = False) -> None:
        """Record a declaration."""
        super().declare(binding, inner=inner)
        self._expose(binding)

    def _expose(self, binding: Binding) -> None:
        """Record who else sees the new value of a variable: unknown code, or a handler of exceptions."""
        outlasts = self.guard >= 0 and (
            binding.start < self.guard or self.facts.lexical(binding) is None
        )  # `var` in a `try` is known behind it
        if outlasts or binding.number in self.facts.lasting:
            self.flags |= STORES

    def take(self, kinds: Kinds) -> None:
        """Record that an operator takes a value."""
        if not is_plain(kinds):
            self.flags |= ANYTHING

    # ── expressions ──────────────────────────────────────────────────────────────────────────────────────

    def visit(self, node: Node) -> None:
        """Collect the effects of an expression."""
        _rule(node.kind)(self, node)

    def _nothing(self, node: Node) -> None:
        """Collect nothing."""

    _number = _string_literal = _true = _false = _null = _undefined = _regex = _nothing
    _empty_statement = _meta_property = _nothing

    def _inside(self, node: Node) -> None:
        for child in node.children:
            self.visit(child)

    _parenthesized_expression = _ternary_expression = _sequence_expression = _expression_statement = _inside
    _array = _inside

    def _operand(self, node: Node) -> None:
        self.visit(erased(node))

    _as_expression = _satisfies_expression = _non_null_expression = _type_assertion = _operand

    def _identifier(self, node: Node) -> None:
        binding = self.facts.binding(node)
        if binding is None:
            self.anything(node)
            return
        if binding.view in OUTSIDE and self.facts.is_plain(node):
            super().read(binding)
        else:
            self.read(binding)
        if node.start in self.facts.unset:
            self.flags |= RAISES

    _shorthand_property_identifier = _identifier

    def _this(self, node: Node) -> None:
        function = self.facts.function
        if function.kind == "lambda_expression" or self.facts.is_constructor:
            self.flags |= LOOKS_UP | RAISES  # before `super()` there is none

    def _template_string(self, node: Node) -> None:
        for child in node.children:
            if child.kind == "template_substitution":
                self.visit(child.children[0])
                self.take(self.facts.kinds(child.children[0]))

    def _closure(self, node: Node) -> None:
        self.captured(node)

    _function_expression = _lambda_expression = _closure

    def _object(self, node: Node) -> None:
        for child in node.children:
            match child.kind:
                case "pair":
                    self._key(child.part("key"))
                    self.visit(child.part("value"))
                case "method_definition" if child.part("name").kind != "computed_property_name":
                    self.captured(child)
                case "shorthand_property_identifier":
                    self._identifier(child)
                case _:
                    self.anything(child)

    def _key(self, node: Node) -> None:
        if node.kind == "computed_property_name":
            self.visit(node.children[0])
            self.take(self.facts.kinds(node.children[0]))

    def _unary_expression(self, node: Node) -> None:
        if node.operator == "delete":
            self.anything(node)
            return
        operand = node.children[0]
        self.visit(operand)
        if node.operator in ("-", "+", "~"):
            self.take(self.facts.kinds(operand))

    def _binary_expression(self, node: Node) -> None:
        if len(node.children) != 2 or node.children[0].kind == "private_property_identifier":
            self.anything(node)
            return
        left, right = node.children
        self.visit(left)
        self.visit(right)
        if node.operator != "instanceof" or not self.facts.is_plain(node):
            self._operate(node.operator, self.facts.kinds(left), self.facts.kinds(right))

    def _operate(self, operator: str, left: Kinds, right: Kinds) -> None:
        if operator in _SAME or operator in CHOOSING:
            return
        if operator in _EQUAL and any(kinds and kinds <= _NULLISH for kinds in (left, right)):
            return  # `x == null` looks at no object
        if operator in _ASKS:
            self.take(None)
        else:
            self.take(left)
            self.take(right)

    def _assignment_expression(self, node: Node) -> None:
        left, right = erased(node.part("left")), node.part("right")
        operator = node.operator
        if left.kind == "identifier":
            if operator != "=":
                self._identifier(left)
            self.visit(right)
            if operator != "=":
                self._operate(operator[:-1], self.facts.kinds(left), self.facts.kinds(right))
            self._set(left)
        elif self._sets_plainly(left):
            if operator != "=":
                self.visit(left)
            self.visit(right)
            if operator != "=":
                self._operate(operator[:-1], self.facts.kinds(left), self.facts.kinds(right))
            self._store(left)
        else:
            self.anything(node)

    def _update_expression(self, node: Node) -> None:
        target = erased(node.children[0])
        if target.kind == "identifier":
            self._identifier(target)
            self.take(self.facts.kinds(target))
            self._set(target)
        elif self._sets_plainly(target):
            self.visit(target)
            self.take(self.facts.kinds(target))
            self._store(target)
        else:
            self.anything(node)

    def _set(self, name: Node) -> None:
        binding = self.facts.binding(name)
        if binding is None:
            self.anything(name)
            return
        self.write(binding)
        if name.start in self.facts.unset:
            self.flags |= RAISES

    # ── properties ───────────────────────────────────────────────────────────────────────────────────────

    def _field_access(self, node: Node) -> None:
        target, name = node.part("object"), node.part("property")
        if self.facts.kinds(target) == STRING and self.facts.text(name) == "length":
            self.visit(target)
        elif self.facts.is_plain(node):
            self.visit(target)
            self.look_up(self.facts.text(name))
        else:
            self.anything(node)

    def _array_access(self, node: Node) -> None:
        if self.facts.is_plain(node):
            self.visit(node.part("object"))
            self.visit(node.part("index"))
            self.look_inside()
        else:
            self.anything(node)

    def _method_invocation(self, node: Node) -> None:
        called = erased(node.part("function"))
        if not self.facts.is_plain(node):
            self.anything(node)
            return
        self.visit(called.part("object") if called.kind == "field_access" else called)
        for child in node.part("arguments").children:
            self.visit(child)
        self.look_inside()
        if self.facts.is_writable(node):
            self.reads.add(_FOUND)
            self.writes.add(_FOUND)
            self.flags |= STORES

    def _object_creation_expression(self, node: Node) -> None:
        if not self.facts.is_plain(node):
            self.anything(node)

    def _spread_element(self, node: Node) -> None:
        if self.facts.is_plain(node):
            self.visit(node.children[0])
            self.look_inside()
        else:
            self.anything(node)

    def look_inside(self) -> None:
        """Record that something is read of what an object holds."""
        self.reads |= {_ELEMENTS, _SHAPES}
        self.flags |= LOOKS_UP

    def look_up(self, name: str) -> None:
        """Record that a plain property is read."""
        self.reads.add(StatePlace("field", name))
        self.flags |= LOOKS_UP

    def _sets_plainly(self, target: Node) -> bool:
        return target.kind == "field_access" and self.facts.is_writable(target)

    def _store(self, target: Node) -> None:
        self.visit(target.part("object"))
        name = self.facts.text(target.part("property"))
        self.writes |= {StatePlace("field", name), _SHAPES}
        if name == "length":
            self.writes.add(_ELEMENTS)
        self.flags |= STORES


@cache
def _rule(kind: str) -> Callable[[JavaScriptEffectCollector, Node], None]:
    """What collects the effects of a kind of expression."""
    rule: Callable[[JavaScriptEffectCollector, Node], None]
    rule = getattr(JavaScriptEffectCollector, f"_{kind}", JavaScriptEffectCollector.anything)
    return rule

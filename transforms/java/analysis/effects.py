"""The effects of Java expressions: the variables they read and write, and whether they raise, observe or act.

`program` collects the effects of each statement with a `JavaEffectCollector`; `dependence.effects` makes the
conflict relation from them. Primitive values, strings and objects that the method itself creates are known
exactly. Every other object is foreign: a call on it, or its creation, may do anything.
What the file around the method shows of its own class is known, too (`surroundings`).

The relation is sound under the entries of Java's ledger that are called here by id:

- `nobody-between`: one thread observes the method. States that another thread could see in between do not
  count, so `volatile` orders nothing.
- `types-meant`, `names-by-custom`: names of well-known types mean the JDK's types, in a release up to
  `library.RELEASE`. What the file, its package, its imports and the supertypes in its project show is looked
  up (`files.rebound`). Assumed is that no type inherits such a name from outside of the project and of the
  JDK: `class A extends lib.Base` where `lib.Base` declares a class `Math`. A name that begins with an
  upper-case letter and stands before a dot is a class unless the method declares it, one that begins with a
  lower-case letter a variable.
- `fields-plain`: reading or storing a field that is named alone, or behind `this` or `super`, runs no code,
  because the class that declares the field is initialised already. Where the file is not known: such a field
  that the class inherits from a generic class holds an object of its type, because no unchecked cast has put
  another one there.
- `bounds-reference`: no type variable is bounded by a type such as `Integer`, to which Java unboxes.
- `runs-through`, `initialisation-unseen`: loops end. The following do not count as effects:
  VirtualMachineError and similar errors, the text that Java generates for a NullPointerException if the code
  was compiled without names of variables, line numbers in stack traces, the initialisation of the JDK's own
  classes, and the order in which one `switch` initialises several enums (that of all `switch` statements of
  the class in the text).

Nothing is assumed of `equals`, `hashCode`, `compareTo`, `compare` and `toString` of foreign objects: they may
do anything, and so may whatever calls them. Examples:

- `toString`: `text + other`, `builder.append(other)`, `String.valueOf(other)`;
- `equals`: `list.indexOf(other)`, `Objects.equals(a, b)`, `a.equals(b)`;
- `hashCode`: `set.contains(other)`, `map.get(other)`, `Objects.hash(a)`;
- `compareTo` and `compare`: `Collections.sort(list)`, `queue.add(other)`, and `map.put("k", 1)` on a hash
  table that may hold foreign keys, because it makes a tree of many keys of one hash.

Those of the types in `library.PLAIN` are known: `text + 1`, `list.indexOf("k")`, and `set.add(5)` on a
`Set<Integer>` that nobody else can reach.
"""

from collections.abc import Callable
from typing import Final

from codeaudit.transforms.dependence.effects import ANYTHING, LOOKS_UP, OBSERVES, RAISES, STORES
from codeaudit.transforms.java.analysis.facts import OBJECT, OWN, UNKNOWN, Facts, Value
from codeaudit.transforms.java.analysis.library import (
    BOXES,
    BUILDERS,
    CONSTANTS,
    CONTENTS,
    FIELDLESS,
    FLOATS,
    ITERABLE,
    KNOWN_TYPES,
    NEW,
    OF_LOCALE,
    PLAIN,
    PRIMITIVES,
    RAISED,
    SIZED,
    STATIC,
    STRING,
    Contents,
    Methods,
    overloads,
)
from codeaudit.transforms.java.analysis.surroundings import in_own_class
from codeaudit.transforms.java.parsing import BODIES, CALLABLES
from codeaudit.transforms.syntax.effects import EffectCollector, StatePlace
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import LOCAL_VIEWS, Binding

CONTAINERS: Final = StatePlace("contents", "")
"""The contents of all containers that foreign code may reach."""
OBJECTS: Final = StatePlace("element", "")
"""The elements of all arrays of objects."""
_ARRAYS: Final = (OBJECTS, *(StatePlace("element", kind) for kind in sorted(PRIMITIVES)))
_BOXED: Final = {primitive: box for box, primitive in BOXES.items()}
_WIDTH: Final = {"int": 0, "long": 1, "float": 2, "double": 3}
_ORDERS: Final = frozenset({"<", ">", "<=", ">="})
_DIVIDES: Final = frozenset({"/", "%"})
_CONSTRUCTED: Final = frozenset({"TimerTask", "ThreadLocal", "SimpleFileVisitor"})
"""Classes in `FIELDLESS` whose constructors do more than create the object."""


class JavaEffectCollector(EffectCollector):
    """Collects the effects of the expressions of one statement."""

    __slots__ = ("facts",)

    def __init__(self, facts: Facts, guard: int = -1) -> None:
        super().__init__(facts, guard)
        self.facts = facts

    def everything(self, node: Node) -> Value:
        """Collect a part of unknown kind: it may do anything, also with the variables in it."""
        self.anything(node)
        return UNKNOWN

    # ── expressions ──────────────────────────────────────────────────────────────────────────────────

    def visit(self, node: Node) -> Value:
        """Collect the effects of an expression and return the known facts about its value."""
        handler: Callable[[Node], Value] = getattr(self, f"_{node.kind}", self.everything)
        return handler(node)

    def number(self, value: Value) -> str | None:
        """Record that a value is used as a primitive one (it may be unboxed); return its type if known."""
        if value.type in PRIMITIVES:
            return value.type
        if not (value.sure and value.type in BOXES):
            self.flags |= RAISES
        return BOXES.get(value.type or "")

    def condition(self, node: Node) -> None:
        """Collect an expression that is used as a condition."""
        self.number(self.visit(node))

    def stored(self, target: Value, value: Value) -> None:
        """Record that a value is stored to a typed place, which may raise.

        It is unboxed if only one side is primitive. And where an argument of a type says what type it has, as
        in `String s = map.get(key)`, Java casts it.
        """
        if value.type is None:
            maybe_primitive = target.type is None or target.type in PRIMITIVES
            if maybe_primitive or not (value.uncast or target.type == "Object"):
                self.flags |= RAISES
        elif value.type in BOXES and (target.type is None or target.type in PRIMITIVES):
            self.number(value)

    def _identifier(self, node: Node) -> Value:
        binding = self.facts.binding(node)
        if binding is None:
            return self.everything(node)
        self.read(binding)
        return self._fact(node, binding)

    def _fact(self, node: Node, binding: Binding) -> Value:
        """The known facts about the variable that an identifier means."""
        if binding.view in LOCAL_VIEWS:
            return self.facts.value_of(binding)
        if binding.view == "outer" and binding.name not in self.facts.doubtful:
            return self.facts.field(node, binding.name)
        return UNKNOWN

    def _string_literal(self, node: Node) -> Value:
        if node.first("string_interpolation") is not None:
            return self.everything(node)
        return Value("String", sure=True)

    def _character_literal(self, node: Node) -> Value:
        return Value("char", sure=True)

    def _true(self, node: Node) -> Value:
        return Value("boolean", sure=True)

    _false = _true

    def _null_literal(self, node: Node) -> Value:
        return Value("null")

    def _decimal_floating_point_literal(self, node: Node) -> Value:
        return Value("float" if self.facts.text(node)[-1] in "fF" else "double", sure=True)

    _hex_floating_point_literal = _decimal_floating_point_literal

    def _decimal_integer_literal(self, node: Node) -> Value:
        return Value("long" if self.facts.text(node)[-1] in "lL" else "int", sure=True)

    _hex_integer_literal = _decimal_integer_literal
    _octal_integer_literal = _decimal_integer_literal
    _binary_integer_literal = _decimal_integer_literal

    def _this(self, node: Node) -> Value:
        return OBJECT

    _class_literal = _this

    def _parenthesized_expression(self, node: Node) -> Value:
        return self.visit(node.children[0])

    def _unary_expression(self, node: Node) -> Value:
        value = self.visit(node.children[0])
        kind = self.number(value)
        if node.operator == "!":
            return Value("boolean", sure=True)
        return Value(_promoted(kind, "int"), sure=True) if kind else UNKNOWN

    def _binary_expression(self, node: Node) -> Value:
        if len(node.children) != 2:
            return self.everything(node)
        left, right = node.children
        first, second = self.visit(left), self.visit(right)
        return self.operate(node.operator, first, second, right)

    def operate(self, operator: str, first: Value, second: Value, right: Node) -> Value:
        """Collect the effects of a binary operator and return the facts about its result."""
        if operator in ("&&", "||"):  # a Boolean is unboxed, which raises for null
            self.number(first)
            self.number(second)
            return Value("boolean", sure=True)
        if operator in ("==", "!="):
            # `Integer == int` unboxes; `Integer == Integer` compares objects (JLS 15.21).
            kinds = (first.type, second.type)
            if "null" not in kinds and (_mixed(*kinds) or _mixed(*reversed(kinds))):
                self.flags |= RAISES
            return Value("boolean", sure=True)
        if operator == "+" and "String" in (first.type, second.type):
            if not {first.type, second.type} <= PLAIN:
                self.flags |= ANYTHING  # it calls toString
            return Value("String", sure=True)
        if operator == "+" and (_joined(first.type) or _joined(second.type)):
            if _joined(first.type) and _joined(second.type):
                self.flags |= ANYTHING  # one may be a text, and the other anybody's
            elif (first.type or second.type) in PLAIN:
                self.flags |= RAISES
            else:
                self.flags |= ANYTHING
            return UNKNOWN
        one, other = self.number(first), self.number(second)
        if operator in _ORDERS:
            return Value("boolean", sure=True)
        kind = _promoted(one, other)
        # Only whole numbers divided by zero raise (JLS 15.17.2).
        if operator in _DIVIDES and kind not in FLOATS and not self._divides(right):
            self.flags |= RAISES
        if operator in ("<<", ">>", ">>>"):  # the right operand does not widen the left one (JLS 15.19)
            kind = _promoted(one, "int")
        return Value(kind, sure=True) if kind else UNKNOWN

    def _divides(self, node: Node) -> bool:
        """Whether an expression is a literal number other than zero, so dividing by it cannot raise."""
        while node.kind in ("parenthesized_expression", "unary_expression") and node.operator in ("(", "-"):
            node = node.children[0]
        if node.kind not in ("decimal_integer_literal", "hex_integer_literal"):
            return False
        digits = self.facts.text(node).rstrip("lL").replace("_", "").lower()
        return bool(digits.removeprefix("0x").strip("0"))

    def _ternary_expression(self, node: Node) -> Value:
        # Arms of two numeric types are promoted, boxes are unboxed for that (JLS 15.25).
        condition, *parts = node.children
        self.condition(condition)
        first, second = (self.visit(part) for part in parts)
        sure = first.sure and second.sure
        if first.type == second.type:
            if first.type is None:
                self.flags |= RAISES  # they may be numbers of two types, which are unboxed
            return Value(first.type, sure)
        kinds = {first.type, second.type}
        if kinds & PRIMITIVES and "null" not in kinds:
            one, other = self.number(first), self.number(second)
            kind = _promoted(one, other)
            return Value(kind, sure=True) if kind else UNKNOWN
        if None in kinds:
            self.flags |= RAISES  # numbers of two types are unboxed
        elif kinds <= BOXES.keys():
            self.number(first)
            self.number(second)
        if "null" in kinds:
            # Of `c ? 5 : null` the type is Integer (JLS 15.25), which raises where it is unboxed.
            other = (kinds - {"null"}).pop()
            return Value(_BOXED.get(other or "", other), sure=False)
        # Of two objects of known types, of which one is no box, the result is never unboxed.
        return Value(None if None in kinds or kinds <= BOXES.keys() else OWN, sure)

    def _instanceof_expression(self, node: Node) -> Value:
        self.visit(node.children[0])
        if node.first("record_pattern") is not None:
            self.flags |= ANYTHING  # it calls accessors
        self._declares(node)
        return Value("boolean", sure=True)

    def _declares(self, node: Node) -> None:
        """Declare the pattern variables in a part."""
        for _, binding in self.facts.inside(node.children[0].end, node.end):
            if node.start <= binding.start < node.end:
                self.declare(binding)

    def _cast_expression(self, node: Node) -> Value:
        value = self.visit(node.part("value"))
        types = node.all("type")
        kind = self.facts.type_of(types[0]) if len(types) == 1 else None
        if kind in PRIMITIVES:
            self.number(value)
            return Value(kind, sure=True)
        if value.type in PRIMITIVES:
            return Value(kind, sure=True)
        # A cast of a reference to another class than its own may raise.
        if value.type != "null" and not (kind == "Object" or self._is_own_type(node, kind, value)):
            self.flags |= RAISES
        return Value(kind, value.sure)

    def _is_own_type(self, node: Node, kind: str | None, value: Value) -> bool:
        """Whether a value certainly is of the type of this name that is meant here.

        A type that the method declares may hide another one of its name, and so may one that a class in the
        method inherits.
        """
        if kind is None or kind != value.type or OWN in kind:
            return False
        return kind in KNOWN_TYPES or in_own_class(node, self.facts.scopes.unit)

    # ── fields and arrays ────────────────────────────────────────────────────────────────────────────

    def _field_access(self, node: Node) -> Value:
        target, name = node.part("object"), node.part("field")
        if name.kind == "this":
            self._name_of(target)
            return OBJECT
        return self._field(target, self.facts.text(name), store=False)

    def _field(self, target: Node, name: str, *, store: bool) -> Value:
        """Collect reading or storing a field of an expression."""
        facts = self.facts
        place = StatePlace("field", name)
        self.flags |= STORES if store else LOOKS_UP
        field = UNKNOWN
        if target.kind in ("this", "super") or _is_outer_this(target):
            self._name_of(target)
            if target.kind == "this":
                field = facts.field(target, name, here=True)
        else:
            owner = facts.class_name(target)
            if owner is not None:
                self._name_of(target)
                kind = CONSTANTS.get(owner, {}).get(name)
                if kind is not None and not store:
                    return Value(kind, sure=True)
                self.flags |= ANYTHING  # its class may have to be initialised
            elif _last_is_class(target, facts):
                self.captured(target)
                self.flags |= ANYTHING
            else:
                value = self.visit(target)
                if not value.sure:
                    self.flags |= RAISES
                if name == "length" and value.type is not None and value.type.endswith("[]"):
                    return Value("int", sure=True)
        if store:
            self.writes.add(place)
        else:
            self.reads.add(place)
        return field

    def _name_of(self, target: Node) -> None:
        """Collect a name before a dot that is not a variable of the method: a class, a package or a field."""
        for _, binding in self.facts.inside(target.start, target.end):
            self.named(binding)
            if binding.name in self.facts.doubtful:
                self.reads.add(self.facts.place(binding))

    def _element(self, node: Node, *, store: bool) -> Value:
        """Collect reading or storing an element of an array."""
        array, index = node.children[0], node.children[-1]
        value = self.visit(array)
        self.number(self.visit(index))
        # The index may be out of range, and a store into a `String[]` held as `Object[]` may fail (JLS 10.5).
        self.flags |= RAISES | (STORES if store else LOOKS_UP)
        kind = value.type[:-2] if value.type and value.type.endswith("[]") else None
        self._elements(kind, store=store)
        return Value(kind, kind in PRIMITIVES)

    def _elements(self, kind: str | None, *, store: bool) -> None:
        places = self.writes if store else self.reads
        if kind is None:
            places.update(_ARRAYS)
        else:
            places.add(StatePlace("element", kind) if kind in PRIMITIVES else OBJECTS)

    def _array_access(self, node: Node) -> Value:
        return self._element(node, store=False)

    def _array_creation_expression(self, node: Node) -> Value:
        for dimension in node.all("dimensions"):
            if dimension.kind == "dimensions_expr":
                size = dimension.children[-1]
                self.number(self.visit(size))
                if size.kind != "decimal_integer_literal":
                    self.flags |= RAISES  # it may be negative
        value = node.child("value")
        kind = self.facts.evident_type(node)
        if value is not None:
            self.array(value, kind)
        return Value(kind, sure=True)

    def array(self, node: Node, kind: str | None) -> None:
        """Collect the elements of an array initialiser."""
        inner = kind[:-2] if kind and kind.endswith("[]") else None
        for child in node.children:
            if child.kind == "array_initializer":
                self.array(child, inner)
            else:
                self.stored(Value(inner), self.visit(child))

    def _array_initializer(self, node: Node) -> Value:
        self.array(node, None)
        return Value(None, sure=True)

    # ── stores ───────────────────────────────────────────────────────────────────────────────────────

    def _assignment_expression(self, node: Node) -> Value:
        target, right = node.children
        operator = node.operator
        if operator == "=":
            value = self.visit(right)
            holder = self.store(target)
            self.stored(holder, value)
            # `int n = box = null` raises, also where the type of the box is unknown.
            kind = None if value.type == "null" else value.type
            return Value(holder.type or kind, value.sure)
        # `a[i] += f()` reads a[i] first, then calls f, then stores (JLS 15.26.2).
        before = self.visit(target)
        after = self.operate(operator[:-1], before, self.visit(right), right)
        self.store(target)
        return Value(before.type, after.sure)

    def _update_expression(self, node: Node) -> Value:
        target = node.children[0]
        value = self.visit(target)
        kind = self.number(value)
        self.store(target)
        return Value(kind, sure=True) if kind else UNKNOWN

    def store(self, target: Node) -> Value:
        """Collect an assignment to a target and return the known facts about the place."""
        target = target.unparenthesized
        match target.kind:
            case "identifier":
                binding = self.facts.binding(target)
                if binding is None:
                    return self.everything(target)
                self.write(binding)
                return self._fact(target, binding)
            case "field_access":
                return self._field(target.part("object"), self.facts.text(target.part("field")), store=True)
            case "array_access":
                return self._element(target, store=True)
            case _:
                return self.everything(target)

    # ── calls ────────────────────────────────────────────────────────────────────────────────────────

    def _arguments(self, node: Node) -> list[Value]:
        return [self.visit(child) for child in node.part("arguments").children]

    def _method_invocation(self, node: Node) -> Value:
        target = node.child("object")
        name = self.facts.text(node.part("name"))
        if target is None or target.kind == "this":
            return self._own_call(node, name, self._arguments(node), here=target is not None)
        owner = self.facts.class_name(target)
        if owner is not None:
            self._name_of(target)
            return self._static(owner, name, self._arguments(node))
        if target.kind == "super" or _is_outer_this(target) or _last_is_class(target, self.facts):
            self.captured(target)
            self._arguments(node)
            self.flags |= ANYTHING
            return UNKNOWN
        receiver = self.visit(target)
        values = self._arguments(node)
        value = self._known_method(target, receiver, name, values)
        if value is not None:
            return value
        if name == "getClass" and not values:
            self.flags |= 0 if receiver.sure else RAISES
            return Value("Class", sure=True)
        self.flags |= ANYTHING
        return UNKNOWN

    def _own_call(self, node: Node, name: str, values: list[Value], *, here: bool) -> Value:
        """Collect a call of a method of the class itself, whose body the text around may show."""
        owner = self.facts.owner(node)
        arguments = (argument.unparenthesized for argument in node.part("arguments").children)
        # Of `f(x = 1)`, `f(i++)` and `f(a ? 1 : 'b')` the facts hold for the value, not for the static type.
        kinds = [
            value.type if argument.kind in _TYPED or argument.kind.endswith("literal") else None
            for argument, value in zip(arguments, values, strict=True)
        ]
        methods = owner.called(name, kinds, here=here) if owner else ()
        if not methods:
            self.flags |= ANYTHING
            return UNKNOWN
        for method, effects in methods:
            for value, kind in zip(values, method.parameters, strict=True):
                self.stored(Value(kind), value)
            self.reads |= effects.reads
            self.writes |= effects.writes
            self.flags |= effects.flags
        results = {method.result for method, _ in methods}
        result = results.pop() if len(results) == 1 else None
        return Value(result, result in PRIMITIVES)

    def _static(self, owner: str, name: str, values: list[Value]) -> Value:
        value = self._computed(STATIC.get(owner, {}), name, Value(owner, sure=True), values)
        if value is not None:
            return value
        checks = owner == "Objects" and name == "requireNonNull" and len(values) in (1, 2)
        if checks and all(value.type == "String" for value in values[1:]):
            self.flags |= RAISES
            return Value(values[0].type, sure=True)
        self.flags |= ANYTHING
        return UNKNOWN

    def _known_method(self, target: Node, receiver: Value, name: str, values: list[Value]) -> Value | None:
        """Collect a known method of a string or of a container; `None` for any other call."""
        if receiver.type != "String":
            return self._contents(target, receiver, name, values)
        value = self._computed(STRING, name, receiver, values)
        if value is not None and name in OF_LOCALE:
            self.flags |= LOOKS_UP
        return value

    def _computed(self, methods: Methods, name: str, receiver: Value, values: list[Value]) -> Value | None:
        """Collect what a call does apart from the contents of its receiver; `None` if the tables lack it."""
        fitting = overloads(methods, name, [value.type for value in values])
        if not fitting:
            return None
        if not receiver.sure:
            self.flags |= RAISES
        for method in fitting:
            if method.raises:
                self.flags |= RAISES
            for value, parameter in zip(values, method.parameters, strict=True):
                if not value.sure and not parameter.nullable:
                    self.flags |= RAISES
                self.stored(Value("Object" if parameter.type == "any" else parameter.type), value)
                # The methods of a foreign object may do anything.
                if parameter.type in _LOOKED_INTO and value.type not in PLAIN:
                    self.flags |= ANYTHING
        results = {method.result for method in fitting}
        result = results.pop() if len(results) == 1 else "*"
        if result == "this":
            return Value(receiver.type, sure=True)
        return UNKNOWN if result in ("*", "void") else Value(result, sure=True)

    def _contents(self, target: Node, receiver: Value, name: str, values: list[Value]) -> Value | None:
        """Collect a known method of a container whose class is known; `None` for any other call."""
        facts = self.facts
        binding = facts.binding(target) if target.kind == "identifier" else None
        kind = receiver.type if receiver.type in BUILDERS else None
        owned = False
        if kind is None and binding is not None and binding.view in LOCAL_VIEWS:
            kind = facts.exact(binding)
        if kind is None:
            return None
        contents: Contents = CONTENTS[kind]
        changes = name in contents.changes
        methods = contents.changes if changes else contents.reads
        result = self._computed(methods, name, Value(kind, receiver.sure), values)
        if result is None:
            return None
        # `text.append(a).append(b)`: the container is the variable at the root of the chain.
        root = _root(target)
        if kind in BUILDERS and root is not target:
            binding = facts.binding(root) if root.kind == "identifier" else None
        if binding is not None and binding.view in LOCAL_VIEWS:
            owned = facts.owned(binding)
        if any(method.compares for method in methods[name]) and not (binding and facts.sorts_alone(binding)):
            self.flags |= ANYTHING
        place = StatePlace("contents", binding.number) if owned and binding is not None else CONTAINERS
        self.reads.add(place)
        if changes:
            self.writes.add(place)
            # Others see a change of what they can reach, a handler sees how far its `try` came.
            if not owned or (binding is not None and binding.start < self.guard):
                self.flags |= STORES
        if not owned:
            self.flags |= LOOKS_UP
        return result

    def iterate(self, node: Node) -> Value:
        """Collect an iteration over an expression and return the known facts about its elements."""
        value = self.visit(node)
        if value.type is not None and value.type.endswith("[]"):
            if not value.sure:
                self.flags |= RAISES
            self.flags |= LOOKS_UP
            inner = value.type[:-2]
            self._elements(inner, store=False)
            return Value(inner, inner in PRIMITIVES)
        binding = self.facts.binding(node) if node.kind == "identifier" else None
        if binding is not None and binding.view in LOCAL_VIEWS and self.facts.exact(binding) in ITERABLE:
            owned = self.facts.owned(binding)
            self.reads.add(StatePlace("contents", binding.number) if owned else CONTAINERS)
            self.flags |= RAISES | LOOKS_UP  # the body may change the list: ConcurrentModificationException
            return UNKNOWN
        self.flags |= ANYTHING
        return UNKNOWN

    # ── new objects ──────────────────────────────────────────────────────────────────────────────────

    def _object_creation_expression(self, node: Node) -> Value:
        facts = self.facts
        kind = facts.type_of(node.child("type"))
        outer = [child for child in node.children if child.field is None and child.kind != "class_body"]
        body = node.first("class_body")
        arguments = node.part("arguments").children
        if any(not child.kind.endswith("annotation") for child in outer):
            return self.everything(node)
        if body is not None:
            self.captured(body)
            values = self._arguments(node)
            # An anonymous class runs code if its superclass does or if it has fields with values.
            plain = kind is not None and (kind in FIELDLESS - _CONSTRUCTED) and not values
            if not plain or not all(_only_method(member) for member in body.children):
                self.flags |= ANYTHING
            return OBJECT
        values = self._arguments(node)
        if kind in RAISED:
            if values and values[0].type not in PLAIN - {"null"}:
                self.flags |= ANYTHING
            elif values and values[0].type in BOXES:
                self.number(values[0])  # some accept a number: `new IndexOutOfBoundsException(boxed)`
            return Value(kind, sure=True)
        # `new ArrayList<>(16)`: a literal is not negative, so it cannot raise.
        sized = len(values) == 1 and arguments[0].kind == "decimal_integer_literal" and kind in SIZED
        if kind in NEW and (not values or sized):
            return Value(kind, sure=True)
        if kind in BUILDERS and len(values) == 1 and values[0].type == "String":
            self.flags |= 0 if values[0].sure else RAISES
            return Value(kind, sure=True)
        owner = facts.owner(node) if kind is not None else None
        flags = owner.makes(kind or "", [value.type for value in values]) if owner is not None else None
        self.flags |= ANYTHING if flags is None else flags
        return Value(kind, sure=True)

    def _lambda_expression(self, node: Node) -> Value:
        self.captured(node)
        if not _is_in_method(node):
            self.flags |= OBSERVES  # final fields have to be set before a lambda that names them
        return OBJECT

    def _method_reference(self, node: Node) -> Value:
        first = node.children[0]
        owner = self.facts.class_name(first)
        if owner is not None and owner.isupper():  # it may as well be a constant
            self.visit(first)
            self.flags |= RAISES
        elif first.kind in ("this", "super") or owner is not None or _is_outer_this(first):
            self._name_of(first)
        elif first.kind in _TYPE_NODES or _last_is_class(first, self.facts):
            self.captured(first)
        elif not self.visit(first).sure:
            self.flags |= RAISES
        return OBJECT


_LOOKED_INTO: Final = frozenset({"Object", "CharSequence", "StringBuffer", "char[]"})
"""The types of parameters of known methods whose objects may be foreign."""
_TYPED: Final = frozenset(
    {"identifier", "true", "false", "field_access", "cast_expression", "binary_expression",
     "object_creation_expression"}
)  # fmt: skip
"""Kinds of expressions, beside literals, whose known type is exactly their static type."""
_TYPE_NODES: Final = frozenset(
    {"generic_type", "array_type", "scoped_type_identifier", "type_identifier", "integral_type",
     "floating_point_type", "boolean_type"}
)  # fmt: skip


def _promoted(one: str | None, other: str | None) -> str | None:
    """The type of an operation on two primitive types; `None` if one of them is unknown."""
    if one is None or other is None:
        return None
    if one == other == "boolean":
        return "boolean"
    return max((one, other, "int"), key=lambda kind: _WIDTH.get(kind, -1))


def _mixed(one: str | None, other: str | None) -> bool:
    """Whether the first type may be primitive and the second an object that is unboxed for it."""
    return (one is None or one in PRIMITIVES) and (other is None or other in BOXES)


def _joined(kind: str | None) -> bool:
    """Whether an operand of `+` may be a string, or an object that `+` converts to a string."""
    return kind is None or not (kind in PRIMITIVES or kind in BOXES)


def _is_outer_this(node: Node) -> bool:
    return node.kind == "field_access" and node.part("field").kind in ("this", "super")


def _last_is_class(node: Node, facts: Facts) -> bool:
    """Whether a chain of names, such as `java.util.Map`, looks like the name of a class."""
    if node.kind != "field_access" or node.part("field").kind != "identifier":
        return False
    start = node
    while start.kind == "field_access":
        start = start.part("object")
    if start.kind != "identifier":
        return False
    binding = facts.binding(start)
    return binding is not None and binding.view == "outer" and facts.text(node.part("field"))[:1].isupper()


def _is_in_method(node: Node) -> bool:
    """Whether a part belongs to a method; a constructor or initialiser, of a local class too, is none."""
    for above in node.ancestors():
        if above.kind in CALLABLES:
            return above.kind == "method_declaration"
        if above.kind in BODIES:
            return False
    return False


def _root(node: Node) -> Node:
    """The expression at the root of a chain of calls, usually a variable."""
    while node.kind == "method_invocation" and (inner := node.child("object")) is not None:
        node = inner
    return node


def _only_method(member: Node) -> bool:
    """Whether a member of a class runs no code when an object is created."""
    if member.kind == "field_declaration":
        return all(child.child("value") is None for child in member.all("declarator"))
    return member.kind == "method_declaration"

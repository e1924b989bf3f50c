"""Anonymous classes of the JDK's functional interfaces as lambdas, and back.

Both make an object of which only the one method is called: nobody asks for its class, its identity, its hash
or its text, nor serialises it (`identity-unread`), or reads the text that Java makes up for a
NullPointerException (`debug-names-unread`).
The target type has to stand in the text: in a declaration, a method's result, or a cast, which goes before an
argument so that the same overload is called. What `this`, `super` or an inherited method is for the class, it
is not for the lambda; nor may a lambda declare a variable anew that is known around it.
"""

from functools import cache
from typing import Final, NamedTuple

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.parsing import CALLABLES, TYPES
from codeaudit.transforms.java.rewriting import OTHER_MEANING, JavaSource, Rewriting
from codeaudit.transforms.patches import Part, Site, Span
from codeaudit.transforms.strategies.dialect import COMMENT, each
from codeaudit.transforms.syntax.reader import Node
from codeaudit.transforms.syntax.scopes import LOCAL_VIEWS
from codeaudit.transforms.syntax.text import replace, span

UNKNOWN: Final = "no functional interface that is known"
TARGET: Final = "type is not spelt where the object goes"
SHAPE: Final = "class is more than the one method"
OTHER_TYPES: Final = "not exactly the types of the interface"
ITSELF: Final = "it speaks of itself"
REDECLARED: Final = "a variable of that name is known around it"
CONSTRUCTING: Final = "not in a method"

_INTERFACES: Final = """
    Runnable void run
    Callable<V> V call throws Exception
    Comparator<T> int compare T T
    ActionListener void actionPerformed java.awt.event.ActionEvent
    FileFilter boolean accept java.io.File
    FilenameFilter boolean accept java.io.File String
    PrivilegedAction<T> T run
    PrivilegedExceptionAction<T> T run throws Exception
    Supplier<T> T get
    Consumer<T> void accept T
    BiConsumer<T,U> void accept T U
    Function<T,R> R apply T
    BiFunction<T,U,R> R apply T U
    UnaryOperator<T> T apply T
    BinaryOperator<T> T apply T T
    Predicate<T> boolean test T
    BiPredicate<T,U> boolean test T U
    BooleanSupplier boolean getAsBoolean
    IntSupplier int getAsInt
    LongSupplier long getAsLong
    DoubleSupplier double getAsDouble
    IntConsumer void accept int
    LongConsumer void accept long
    DoubleConsumer void accept double
    IntFunction<R> R apply int
    LongFunction<R> R apply long
    DoubleFunction<R> R apply double
    IntPredicate boolean test int
    LongPredicate boolean test long
    DoublePredicate boolean test double
    IntUnaryOperator int applyAsInt int
    LongUnaryOperator long applyAsLong long
    DoubleUnaryOperator double applyAsDouble double
    IntBinaryOperator int applyAsInt int int
    LongBinaryOperator long applyAsLong long long
    ToIntFunction<T> int applyAsInt T
    ToLongFunction<T> long applyAsLong T
    ToDoubleFunction<T> double applyAsDouble T
    ToIntBiFunction<T,U> int applyAsInt T U
    ToLongBiFunction<T,U> long applyAsLong T U
    ToDoubleBiFunction<T,U> double applyAsDouble T U
"""
"""An interface, what its method gives, the method, what it takes, and what it throws."""

_PACKAGES: Final = frozenset(
    {"", "java.lang", "java.util", "java.util.function", "java.util.concurrent", "java.io",
     "java.security", "java.awt.event"}
)  # fmt: skip
_INHERITED: Final = frozenset(
    {"getClass", "hashCode", "equals", "toString", "notify", "notifyAll", "wait", "clone", "finalize",
     "andThen", "compose", "and", "or", "negate", "reversed", "thenComparing", "thenComparingInt",
     "thenComparingLong", "thenComparingDouble"}
)  # fmt: skip
"""Methods that an object of such a class has besides the one."""
_STATEMENTS: Final = frozenset(
    {"method_invocation", "object_creation_expression", "assignment_expression", "update_expression"}
)
_ALLOWED: Final = frozenset({"public", "final"})
_RETURNING: Final = CALLABLES | {"lambda_expression"}


class _Signature(NamedTuple):
    name: str
    result: str
    parameters: tuple[str, ...]
    throws: str


class _Interface(NamedTuple):
    arguments: tuple[str, ...]
    """The names of its type parameters."""
    signature: _Signature


@cache
def _table() -> dict[str, _Interface]:
    """The interfaces by their simple names."""
    interfaces = {}
    for line in _INTERFACES.strip().split("\n"):
        words, _, throws = line.partition(" throws ")
        head, result, name, *parameters = words.split()
        simple, _, arguments = head.rstrip(">").partition("<")
        signature = _Signature(name, result, tuple(parameters), throws)
        interfaces[simple] = _Interface(tuple(arguments.split(",")) if arguments else (), signature)
    return interfaces


def _signature(code: JavaSource, node: Node) -> _Signature | None:
    """The method of an interface that a type is, with the arguments of the type put in."""
    name, types = node, []
    if node.kind == "generic_type":
        name, arguments = node.children
        types = [code.text(argument) for argument in arguments.children]
        # `Comparator<? super T>` has no one type for its parameters.
        if any(inner.kind in ("wildcard", "marker_annotation", "annotation") for inner in node.walk()):
            return None
    package, _, simple = _squeezed(code.text(name)).rpartition(".")
    interface = _table().get(simple)
    if interface is None or package not in _PACKAGES or len(types) != len(interface.arguments):
        return None
    put = dict(zip(interface.arguments, types, strict=True))
    method = interface.signature
    parameters = tuple(put.get(parameter, parameter) for parameter in method.parameters)
    return _Signature(method.name, put.get(method.result, method.result), parameters, method.throws)


def _squeezed(text: str) -> str:
    """A type without blanks."""
    return "".join(text.split())


def _target(code: JavaSource, node: Node) -> Node | None:
    """The type that the text says an expression is for, with nothing between them."""
    above = node.parent
    if above is None:
        return None
    match above.kind:
        case "variable_declarator":
            declaration = above.parent
            if declaration is None or declaration.kind != "local_variable_declaration":
                return None
            return None if above.child("dimensions") else declaration.child("type")
        case "assignment_expression" if above.operator == "=":
            binding = code.binding(above.children[0])
            if binding is None or binding.doubt or binding.view != "local" or binding.node is None:
                return None
            declaration = binding.node.parent
            return declaration.child("type") if declaration and not binding.node.child("dimensions") else None
        case "return_statement":
            around = next((ancestor for ancestor in above.ancestors() if ancestor.kind in _RETURNING), None)
            return around.child("type") if around and around.child("dimensions") is None else None
        case "cast_expression":
            kinds = above.all("type")
            return kinds[0] if len(kinds) == 1 else None
        case _:
            return None


def _is_argument(node: Node) -> bool:
    """Whether an expression is an argument of a method or of `new`."""
    call = node.parent.parent if node.parent is not None and node.parent.kind == "argument_list" else None
    return call is not None and call.kind in ("method_invocation", "object_creation_expression")


def _in_method(node: Node) -> bool:
    """Whether a method runs it, so that all fields are set, and it is no argument of a first call.

    In a constructor or initialiser a lambda must not name a `final` field that is not set yet; a class may.
    """
    for above in node.ancestors():
        if above.kind == "explicit_constructor_invocation":
            return False
        if above.kind in CALLABLES or above.kind == "class_body":
            return above.kind == "method_declaration"
    return False


def _speaks_of_itself(code: JavaSource, node: Node, name: str) -> bool:
    """Whether a body means something else in a class than outside of it, or may.

    `this`, and calls such as `toString()`, mean the object of the class but not the object of a lambda.
    """
    pending = [(node, False)]
    while pending:
        inner, nested = pending.pop()
        if inner.kind in TYPES:
            return True
        if inner.kind in ("this", "super") and not nested:
            above = inner.parent
            outer = above is not None and above.kind == "field_access" and inner.field == "field"
            if not outer and above is not None and above.kind != "wildcard":
                return True  # neither `Outer.this` nor `? super T`
        if inner.kind == "method_invocation" and inner.child("object") is None:
            called = code.text(inner.part("name"))
            if called == name or called in _INHERITED:
                return True
        nested = nested or inner.kind == "class_body"
        pending += [(child, nested) for child in inner.children]
    return False


# ── classes as lambdas ───────────────────────────────────────────────────────────────────────────────────


@each("object_creation_expression")
def _to_lambda(code: JavaSource, node: Node) -> Site | Refused | None:
    """`new Runnable() { public void run() { f(); } }` as `() -> { f(); }`."""
    body = node.first("class_body")
    if body is None:
        return None
    kind = node.part("type")
    signature = _signature(code, kind)
    if signature is None or node.has(".") or node.part("arguments").children:
        return Refused(UNKNOWN)
    if not _in_method(node):
        return Refused(CONSTRUCTING)
    target = _target(code, node)
    # The cast goes before an argument so that the same overload is called.
    cast = _is_argument(node)
    if target is None and not cast:
        return Refused(TARGET)
    if target is not None and _squeezed(code.text(target)) != _squeezed(code.text(kind)):
        return Refused(TARGET)
    if len(body.children) != 1 or body.children[0].kind != "method_declaration":
        return Refused(SHAPE)
    method = body.children[0]
    block = method.child("body")
    if block is None or not _fits_lambda(code, method) or code.text(method.part("name")) != signature.name:
        return Refused(SHAPE)
    parameters = method.part("parameters")
    same_result = _squeezed(code.text(method.part("type"))) == _squeezed(signature.result)
    if not same_result or method.child("dimensions") or not _agree(code, parameters, signature):
        return Refused(OTHER_TYPES)
    if _speaks_of_itself(code, method, signature.name):
        return Refused(ITSELF)
    if _redeclares(code, node):
        return Refused(REDECLARED)
    if code.comments_outside(node, parameters, block):
        return Refused(COMMENT)
    inside, outside = code.indentation(method.start), code.indentation(node.start)
    drop = inside.removeprefix(outside) if inside.startswith(outside) else ""
    parts: list[Part] = ["(", span(kind), ") "] if cast else []
    parts += [span(parameters), " -> ", Span(block.start, block.end, drop=drop)]
    return code.site(node, "class as lambda", replace(node, *parts))


def _fits_lambda(code: JavaSource, method: Node) -> bool:
    """Whether a method has nothing that a lambda cannot have."""
    if method.first("type_parameters"):
        return False
    modifiers = method.first("modifiers")
    if modifiers is None:
        return False
    words = {kind for kind, _, _ in modifiers.tokens}
    return words <= _ALLOWED and all(code.text(modifier) == "@Override" for modifier in modifiers.children)


def _agree(code: JavaSource, parameters: Node, signature: _Signature) -> bool:
    """Whether parameters have exactly the types of the interface."""
    declared = [_declared(code, parameter) for parameter in parameters.children]
    expected = [_squeezed(parameter) for parameter in signature.parameters]
    return len(declared) == len(expected) and all(
        one in (other, _simple(other)) for one, other in zip(declared, expected, strict=True)
    )


def _simple(name: str) -> str:
    """A type of the interfaces themselves without its package."""
    package, _, simple = name.rpartition(".")
    return simple if package in _PACKAGES else name


def _declared(code: JavaSource, parameter: Node) -> str | None:
    """The type of a parameter of which nothing else is said than that it is final."""
    modifiers = parameter.first("modifiers")
    if parameter.kind != "formal_parameter" or (modifiers is not None and modifiers.children):
        return None
    return None if parameter.child("dimensions") else _squeezed(code.text(parameter.part("type")))


def _redeclares(code: JavaSource, node: Node) -> bool:
    """Whether a variable or label inside has the name of one that is known around it.

    A class may hide a local of the method; a lambda may not (JLS 6.4).
    """
    views = LOCAL_VIEWS | {"label"}
    bindings = [binding for binding in code.scopes.bindings if binding.view in views]
    inside = {binding.name for binding in bindings if node.start <= binding.start < node.end}
    around = {binding.name for binding in bindings if binding.start < node.start < binding.until}
    return not inside.isdisjoint(around)


# ── lambdas as classes ───────────────────────────────────────────────────────────────────────────────────


@each("lambda_expression")
def _to_class(code: JavaSource, node: Node) -> Site | Refused:
    """`() -> f()` as `new Runnable() { … }`."""
    target = _target(code, node)
    if target is None:
        return Refused(TARGET)
    signature = _signature(code, target)
    if signature is None:
        return Refused(UNKNOWN)
    if not _in_method(node):
        return Refused(CONSTRUCTING)
    parameters, body = node.part("parameters"), node.part("body")
    head = _head(code, parameters, signature)
    if head is None:
        return Refused(OTHER_TYPES)
    if not code.means_same(code.text(target), node):
        return Refused(OTHER_MEANING)
    if _speaks_of_itself(code, node, signature.name):
        return Refused(ITSELF)
    if code.comments_outside(node, parameters, body):
        return Refused(COMMENT)
    outside = f"{code.newline}{code.indentation(node.start)}"
    inside = outside + code.step
    moved = Span(body.start, body.end, add=code.step)
    parts: list[Part] = ["new ", span(target), "() {", f"{inside}@Override"]
    parts += [f"{inside}public {signature.result} {signature.name}(", *head, ") "]
    parts += [f"throws {signature.throws} "] if signature.throws else []
    if body.kind == "block":
        parts.append(moved)
    elif signature.result == "void" and body.kind not in _STATEMENTS:
        return Refused(OTHER_TYPES)  # a value in parentheses is no statement
    else:
        lead = "" if signature.result == "void" else "return "
        parts += [f"{{{inside}{code.step}{lead}", moved, f";{inside}}}"]
    parts.append(f"{outside}}}")
    return code.site(node, "lambda as class", replace(node, *parts))


def _head(code: JavaSource, parameters: Node, signature: _Signature) -> list[Part] | None:
    """The parameters of a lambda with their types."""
    if parameters.kind == "formal_parameters":
        declared = [parameter.child("name") for parameter in parameters.children]
        unnamed = any(name is not None and code.text(name) == "_" for name in declared)
        if unnamed or not _agree(code, parameters, signature):
            return None
        return [Span(parameters.start + 1, parameters.end - 1)]
    names = [parameters] if parameters.kind == "identifier" else parameters.children
    if len(names) != len(signature.parameters) or any(code.text(name) == "_" for name in names):
        return None
    parts: list[Part] = []
    for number, (kind, name) in enumerate(zip(signature.parameters, names, strict=True)):
        parts += [", " if number else "", f"{kind} ", span(name)]
    return parts


ANONYMOUS_TO_LAMBDA: Final = Rewriting(
    name="anonymous-to-lambda", find=_to_lambda, nothing="no anonymous class"
)
LAMBDA_TO_ANONYMOUS: Final = Rewriting(name="lambda-to-anonymous", find=_to_class, nothing="no lambda")

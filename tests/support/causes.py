"""Causes of unsound rewritings that were found and mended, each as a patch that puts it back.

The fuzzer must find each of them: they are its test. A cause wraps a function of the engine, so that the rest
of the engine stays as it is.
"""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final
from unittest.mock import patch

from codeaudit.transforms import rules as site_rules
from codeaudit.transforms.dependence.effects import (
    ACTS,
    LOOKS_UP,
    OBSERVES,
    RAISES,
    STORES,
    Effects,
    Guard,
    conflicts,
)
from codeaudit.transforms.python import rewriting, source
from codeaudit.transforms.python.analysis import builder, expressions, facts, functions, program, shown
from codeaudit.transforms.python.analysis.effects import PythonEffects
from codeaudit.transforms.python.analysis.expressions import LOOKS, ExpressionEffects
from codeaudit.transforms.python.analysis.looks import QuietFunction, ShownLooks
from codeaudit.transforms.python.layout import lines
from codeaudit.transforms.python.notes import rules
from codeaudit.transforms.python.order import reorder

Patches = Mapping[tuple[Any, str], Any]
"""What replaces an attribute of a module or class."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause, and the transforms that it makes unsound."""

    name: str
    patches: Callable[[], Patches] = field(repr=False)
    transforms: tuple[str, ...] = ("reorder",)

    @contextmanager
    def put_back(self) -> Iterator[None]:
        """The engine with this cause."""
        self._forget()
        with ExitStack() as stack:
            for (holder, name), value in self.patches().items():
                stack.enter_context(patch.object(holder, name, value))
            yield
        self._forget()

    def _forget(self) -> None:
        """These remember what the analysis said."""
        source.read.cache_clear()
        program.analyse.cache_clear()
        shown.looks_around.cache_clear()
        site_rules._sites_of.cache_clear()


def _calls(
    names: str, flags: int, matches: Callable[[ast.Call], bool] = lambda node: True, gives: str | None = None
) -> Callable[[], Patches]:
    """Calls of these functions have the effects of their arguments, and these flags."""
    known = frozenset(names.split())
    original = PythonEffects.call

    def call(self: PythonEffects, node: ast.Call) -> str | None:
        if ast.unparse(node.func) not in known or not matches(node):
            return original(self, node)
        for value in (*node.args, *(keyword.value for keyword in node.keywords)):
            self.visit(value.value if isinstance(value, ast.Starred) else value)
        self.flags |= flags
        return gives

    return lambda: {(PythonEffects, "call"): call}


def _methods(names: str) -> Callable[[], Patches]:
    """Methods with these names, called with a generator expression, consume it at once."""
    known = frozenset(names.split())
    original = facts._consumed_at_once

    def consumed(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
        match node:
            case ast.Call(func=ast.Attribute(attr=attr), args=[ast.GeneratorExp() as part]) if attr in known:
                yield part, ".method"
            case _:
                yield from original(node)

    return lambda: {(facts, "_consumed_at_once"): consumed}


def _unbinding_nothing() -> Patches:
    original = facts._changed_inside
    return {(facts, "_changed_inside"): lambda scopes: (original(scopes)[0], set())}


def _kept_lambdas() -> Patches:
    original = facts._consumed_at_once

    def consumed(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
        yield from original(node)
        match node:
            case ast.Call(func=ast.Name(id="max" | "min" as name), keywords=keywords):
                yield from ((part.value, name) for part in keywords if isinstance(part.value, ast.Lambda))

    return {(facts, "_consumed_at_once"): consumed}


def _hidden_names() -> Patches:
    original = facts.free_names

    def free_names(scope: ast.AST) -> frozenset[str]:
        names = original(scope)
        return names - facts.bound_names(scope.body) if isinstance(scope, ast.ClassDef) else names

    return {(module, "free_names"): free_names for module in (facts, builder, expressions)}


def _conditional_aliases() -> Patches:
    original = ExpressionEffects.is_own

    def is_own(self: ExpressionEffects, node: ast.expr) -> bool:
        return original(self, node) if isinstance(node, ast.Name) else True

    return {(ExpressionEffects, "is_own"): is_own}


def _unpacking() -> Patches:
    def unpack(
        self: ExpressionEffects, target: ast.Tuple | ast.List, value: ast.expr | None, kind: str | None
    ) -> Sequence[ast.expr | None]:
        if not (isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)):
            self.flags |= LOOKS
        return [None] * len(target.elts)

    return {(ExpressionEffects, "unpack"): unpack}


def _searching() -> Patches:
    return {(ExpressionEffects, "_search"): lambda self, node, kind: None}


def _converting() -> Patches:
    def convert(self: ExpressionEffects, node: ast.expr, kind: str | None) -> None:
        self.flags |= LOOKS

    return {(ExpressionEffects, "convert"): convert}


def _foreign_texts() -> Patches:
    original = ExpressionEffects._binop

    def binop(self: ExpressionEffects, node: ast.BinOp) -> str | None:
        kind = original(self, node)
        text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        return "str" if text and isinstance(node.op, ast.Mod) else kind

    return {(ExpressionEffects, "_binop"): binop, **_visited("BinOp", binop)}


def _visited(kind: str, method: Any) -> Patches:
    """The table of visitors with another method for one kind of node."""
    return {(expressions, "_VISITORS"): {**expressions._VISITORS, getattr(ast, kind): method}}


def _foreign_formats() -> Patches:
    original = PythonEffects.call

    def call(self: PythonEffects, node: ast.Call) -> str | None:
        kind = original(self, node)
        match node.func:
            case ast.Attribute(value=ast.Constant(value=str()), attr="format"):
                return "str"
            case _:
                return kind

    return {(PythonEffects, "call"): call}


def _marks() -> Patches:
    never = lambda *_: False  # noqa: E731
    return {
        (reorder, "bounds"): never, (rewriting, "marks_section"): never, (lines, "marks_section"): never,
    }  # fmt: skip


def _quiet(without: int) -> Callable[[], Patches]:
    """Functions of the file have none of these flags, whatever their bodies do."""
    original = functions.body_flags

    def flags(*given: Any, **named: Any) -> int:
        return original(*given, **named) & ~without

    return lambda: {(functions, "body_flags"): flags}


def _returned() -> Patches:
    original = functions._result

    def result(reader: Any, node: ast.FunctionDef) -> str | None:
        kind = original(reader, node)
        last = node.body[-1]
        known = isinstance(last, ast.Return) and isinstance(last.value, ast.Name) and last.value.id == "KEPT"
        return "list" if known else kind

    return {(functions, "_result"): result}


def _steady_guards() -> Patches:
    original = conflicts

    def steady(
        effects: Sequence[Effects], *, guards: Sequence[Guard | None] = (), **named: bool
    ) -> tuple[int, ...]:
        renamed = [guard and replace(guard, variable=f"?{guard.variable}") for guard in guards]
        return original(effects, guards=renamed, **named)

    return {(builder, "conflicts"): steady}


_STARRED: Final = lambda node: any(keyword.arg is None for keyword in node.keywords)  # noqa: E731

CAUSES: Final = (
    Cause("1 dict(x, k=v) has no effects", _calls("dict", 0, lambda node: bool(node.args and node.keywords))),
    Cause("1 dict(**kw) has no effects", _calls("dict", 0, _STARRED)),
    Cause("2 an ExceptionGroup copies no list", _calls("ExceptionGroup BaseExceptionGroup", 0)),
    Cause("2 constructors of exceptions never raise", _calls("UnicodeDecodeError UnicodeEncodeError ExceptionGroup ImportError SyntaxError OSError", OBSERVES)),
    Cause("3 names of a class body hide variables from its methods", _hidden_names),
    Cause("4 containers behind `if`, `or` and `:=` are nobody else's", _conditional_aliases),
    Cause("4 the same where operands change places", _conditional_aliases, ("swap-operands", "flip-comparisons")),
    Cause("5 operator.setitem, iadd, call compute only", _calls("operator.setitem operator.iadd operator.call operator.delitem", LOOKS)),
    Cause("5 Counter, deque, product, fsum only look at an iterator", _calls(
        "collections.Counter collections.deque itertools.product math.fsum collections.OrderedDict math.prod "
        "itertools.permutations itertools.combinations operator.countOf operator.indexOf", LOOKS)),
    Cause("6 unpacking only looks", _unpacking),
    Cause("6 iter, zip, enumerate only look", _calls("iter zip enumerate reversed", LOOKS)),
    Cause("6 `in` only looks at an iterator", _searching),
    Cause("6 conversions only look", _converting),
    Cause("6 int, float, range only look", _calls("int float range complex hex bin chr bytes", LOOKS)),
    Cause("7 imports do not act", lambda: {(builder, "is_harmless"): lambda node: True}),
    Cause("8 isinstance, hasattr, getattr never raise", _calls("isinstance hasattr getattr", OBSERVES)),
    Cause("9 a lambda that max or min keeps is used up", _kept_lambdas),
    Cause("9 extend and update use a generator up", _methods("extend update")),
    Cause("looking never acts, whatever the text shows", lambda: {(program, "shown_looks"): lambda *_: ShownLooks(), (program, "looks_around"): lambda _: ShownLooks()}),
    Cause("the text around the function shows nothing", lambda: {(program, "looks_around"): lambda _: ShownLooks()}),
    Cause("10 comments mark no sections", _marks, ("reorder", "reorder-imports", "remove-comments")),
    Cause("11 % always gives an exact text", _foreign_texts, ("concat-to-f-string", "contract-augmented", "swap-operands", "reorder")),
    Cause("11 format always gives an exact text", _foreign_formats, ("concat-to-f-string", "contract-augmented", "swap-operands", "reorder")),
    Cause("11 nobody looks at local variables", lambda: {
        (builder, "looks_at_variables"): lambda *_: False, (reorder, "_why_fixed"): lambda *_, **__: ""}),
    Cause("11 a nested function unbinds nothing", _unbinding_nothing),
    Cause("11 every int fits a float", lambda: {(expressions, "_fits_float"): lambda node: isinstance(node, ast.Constant)}),
    Cause("11 nobody looks at the docstrings of inner functions", lambda: {
        (rules, "reflects"): lambda code: False,
        (rules, "_READERS"): rules._READERS - {"__code__", "co_consts", "f_code"}}, ("remove-inner-docstrings",)),
    Cause("functions of the file never act", _quiet(ACTS | STORES)),
    Cause("functions of the file see no state", _quiet(OBSERVES | LOOKS_UP)),
    Cause("functions of the file never raise", _quiet(RAISES)),
    Cause("arguments always fit a function of the file", lambda: {(QuietFunction, "fits"): lambda *_: True}),
    Cause("a list that a function of the file returns is new", _returned),
    Cause("two tests of one variable never pass together", lambda: {(Guard, "excludes"): lambda one, other: one.variable == other.variable}),
    Cause("branches do not bind the variable that both test", _steady_guards),
    Cause("nothing replaces a function of the file", lambda: {(functions, "replaced_names"): lambda _: iter(())}),
)  # fmt: skip
"""The causes by the numbers of the attack that found them."""

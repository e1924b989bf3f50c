"""The control of renaming: two variables become one, so that the referent relation is broken.

A merge of `b` into `a` is *certain* if straight-line code shows it: a block writes a value to `b`, and its
next statement that mentions `a` reads `a` before anything else. After `b` has become `a`, that read gives the
value of `b`. The meaning stays the same only if both values happen to be equal or the value read has no
effect (Renamer, Ankner et al., section 3 and Figure 1(c), right half).

If no merge is certain, a *likely* one is taken: `b` is written on some path on which `a` is still needed. The
classic backward liveness analysis finds these pairs, which *interfere* as in register allocation. Reads
inside nested functions and paths through exceptions are left out, so that every interference found lies on a
path that ordinary execution takes.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.analysis.scopes import PythonBinding, PythonScopes, resolve_anew
from codeaudit.transforms.python.identifiers.obstacles import REFLECTION, RenameGuard, reflects
from codeaudit.transforms.python.identifiers.proofs import is_merge
from codeaudit.transforms.python.identifiers.rename import NOT_A_MOVE, variables
from codeaudit.transforms.python.parsing import FunctionNode, compiled
from codeaudit.transforms.python.walking import below
from codeaudit.transforms.renaming import Merging, VariableMerge

_LOCAL_VIEWS: Final = frozenset({"local", "walrus", "import alias"})


class _FunctionMerges:
    """The merges of one function, computed once for all of its variants."""

    def __init__(self, source: str) -> None:
        self._variables = variables(source)
        self.scopes = self._variables.scopes
        self._texts: dict[VariableMerge, str | None] = {}

    @cached_property
    def obstacle(self) -> str:
        """Why the function has no merge at all; empty if nothing prevents one."""
        return REFLECTION if reflects(self.scopes) else ""

    @cached_property
    def certain(self) -> tuple[VariableMerge, ...]:
        """The certain merges, in a fixed order."""
        return tuple(sorted(certain_pairs(self.scopes)))

    @cached_property
    def likely(self) -> tuple[VariableMerge, ...]:
        """The likely merges, in a fixed order."""
        return tuple(sorted(likely_pairs(self.scopes)))

    def names(self, pair: VariableMerge) -> tuple[str, str]:
        """The names of both variables."""
        return self.scopes.bindings[pair.gone].name, self.scopes.bindings[pair.into].name

    def text(self, pair: VariableMerge) -> str | None:
        """The merged text; `None` if it would not compile, or would be more than this one merge."""
        if pair not in self._texts:
            text = self._variables.rewritten({pair.gone: self.names(pair)[1]})
            self._texts[pair] = text if self._is_merge(pair, text) else None
        return self._texts[pair]

    def _is_merge(self, pair: VariableMerge, text: str) -> bool:
        try:
            after = resolve_anew(text)
        except SourceError:
            return False
        if not is_merge(self.scopes, after, pair.gone, pair.into):
            return False
        return self._variables.code is None or compiled(text) is not None


@lru_cache(maxsize=4)
def _merges(source: str) -> _FunctionMerges:
    return _FunctionMerges(source)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonRenameMerging(Merging):
    """The control `rename-merging` for Python functions."""

    languages: frozenset[str] = field(default=frozenset({"python"}))
    foreign: str = NOT_A_MOVE

    def merges(self, source: str) -> _FunctionMerges:
        """The merges of a function, computed once for all of its variants.

        Raises:
            SourceError: the source does not parse or is not one function.
        """
        return _merges(source)


def certain_pairs(scopes: PythonScopes) -> set[VariableMerge]:
    """Merges after which a read certainly gives the value of the other variable."""
    return {
        pair
        for node, names in _by_function(scopes)
        for block in _blocks(node)
        for pair in _conflicts(block, names)
    }


def likely_pairs(scopes: PythonScopes) -> set[VariableMerge]:
    """Merges of a variable that is written on some path on which the other is still needed."""
    merges: set[VariableMerge] = set()
    for node, names in _by_function(scopes):
        for written, needed in interferences(node):
            if written in names and needed in names and names[written].view in _LOCAL_VIEWS:
                merges.add(VariableMerge(names[written].number, names[needed].number))
    return merges


def _by_function(scopes: PythonScopes) -> Iterator[tuple[FunctionNode, dict[str, PythonBinding]]]:
    """Every function, with its own variables that no nested scope writes, by name.

    Only such variables are used: then a block shows all writes to them.
    """
    candidates = _candidates(scopes)
    for scope in scopes.scopes:
        if isinstance(scope.node, FunctionNode) and scope.kind == "function":
            yield (
                scope.node,
                {
                    binding.name: binding
                    for binding in candidates
                    if binding.scope == scope.number and _written_here(binding)
                },
            )


def _candidates(scopes: PythonScopes) -> list[PythonBinding]:
    """The variables that may be merged: locals that may be renamed, and parameters."""
    guard = RenameGuard(scopes)
    bindings = []
    for binding in scopes.bindings:
        free = binding.view in _LOCAL_VIEWS and guard.obstacle(binding) is None
        if binding.located and (free or binding.view == "parameter"):
            bindings.append(binding)
    return bindings


# Certain merges


def _blocks(function: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements of a function, without those of nested definitions."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        parts: list[ast.AST] = getattr(function, name, [])
        if parts and isinstance(parts[0], ast.stmt):
            yield [part for part in parts if isinstance(part, ast.stmt)]
        for part in parts:
            if not isinstance(part, FunctionNode | ast.ClassDef):
                yield from _blocks(part)


def _conflicts(block: list[ast.stmt], names: dict[str, PythonBinding]) -> Iterator[VariableMerge]:
    """The certain merges that one block shows.

    A write of the same value, or a copy of the other variable, is no conflict.
    """
    values: dict[str, str] = {}
    mentioned = [_mentioned(statement) for statement in block]
    for place, statement in enumerate(block):
        written, value = _written(statement)
        text = ast.dump(value) if value is not None else ""
        for name in sorted(written & names.keys()):
            gone = names[name]
            # The name of a parameter belongs to its callers.
            if gone.view == "parameter":
                continue
            for other, into in names.items():
                # `a = b = f()` gives both one value, and so do two statements `a = 0` and `b = 0`.
                if other in written or (value is not None and values.get(other) == text):
                    continue
                # `b = a` gives `b` the value of `a`: reading it under the name `a` changes nothing.
                if isinstance(value, ast.Name) and value.id == other:
                    continue
                after = next((at for at in range(place + 1, len(block)) if other in mentioned[at]), None)
                if after is not None and _is_read_first(block[after], other, name):
                    yield VariableMerge(gone.number, into.number)
        # Only texts of values are compared, so `a = i; i += 1; b = i` loses a merge. No wrong one is made.
        values.update(dict.fromkeys(written, text))


def _written_here(binding: PythonBinding) -> bool:
    """Whether no nested scope writes the variable, so that a block shows all that happens to it."""
    return all(use.use == "read" or use.scope == binding.scope for use in binding.occurrences)


def _written(statement: ast.stmt) -> tuple[set[str], ast.expr | None]:
    """The names that a simple statement certainly writes, and the value if all of them get this value."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            names = {node.id for target in targets for node in _elements(target)}
            plain = all(isinstance(target, ast.Name) for target in targets)
            return names, value if plain else None
        case ast.AugAssign(target=ast.Name(id=name)):
            return {name}, None
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            return {name}, value
        case _:
            return set(), None


def _elements(target: ast.expr) -> Iterator[ast.Name]:
    match target:
        case ast.Name():
            yield target
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for element in elements:
                yield from _elements(element)
        case ast.Starred(value=value):
            yield from _elements(value)


def _is_read_first(statement: ast.stmt, name: str, writer: str) -> bool:
    """Whether a statement certainly reads a name first, and does more than copy it."""
    return name in _first_reads(statement) and not _copies(statement, name, writer)


def _copies(statement: ast.stmt, name: str, writer: str) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name(id=target)], value=ast.Name(id=value)):
            return {target, value} == {name, writer}
        case _:
            return False


def _mentioned(statement: ast.stmt) -> set[str]:
    """Every name in a statement, whatever it is used for."""
    names: set[str] = set()
    for node in below(statement):
        match node:
            case ast.Name(id=name):
                names.add(name)
            case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
                names.add(name)
            case ast.MatchStar(name=str() as name) | ast.MatchMapping(rest=str() as name):
                names.add(name)
    return names


def _first_reads(statement: ast.stmt) -> set[str]:
    """The names that a statement certainly reads before it writes anything."""
    match statement:
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute() as target], value=value):
            return {*_evaluated(value), *_evaluated(target)}
        case ast.Assign(value=value) | ast.Return(value=ast.expr() as value) | ast.Expr(value=value):
            return set(_evaluated(value))
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            return {name, *_evaluated(value)}
        case ast.AnnAssign(value=ast.expr() as value):
            return set(_evaluated(value))
        case ast.If(test=value) | ast.While(test=value) | ast.For(iter=value) | ast.Match(subject=value):
            return set(_evaluated(value))
        case ast.Assert(test=value) | ast.Raise(exc=ast.expr() as value):
            return set(_evaluated(value))
        case ast.With(items=[ast.withitem(context_expr=value), *_]):
            return set(_evaluated(value))
        case _:
            return set()


def _evaluated(node: ast.expr) -> Iterator[str]:
    """The names that an expression reads whenever it is evaluated; none if it binds a name itself."""
    # After `(a := 1)` a read of `a` gives the new value, so the order of reads within would count.
    if any(isinstance(inner, ast.NamedExpr) for inner in below(node)):
        return
    pending: list[ast.AST] = [node]
    while pending:
        here = pending.pop()
        if isinstance(here, ast.Name) and isinstance(here.ctx, ast.Load):
            yield here.id
        pending += _certain_parts(here)


def _certain_parts(node: ast.AST) -> Iterable[ast.AST]:
    """The parts of an expression that are evaluated whenever the expression is."""
    match node:
        # `a and b` may skip `b`.
        case ast.BoolOp(values=[first, *_]):
            return (first,)
        case ast.IfExp(test=test):
            return (test,)
        # `a < b < c` stops after `a < b` if that is false.
        case ast.Compare(left=left, comparators=[first, *_]):
            return (left, first)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return (node.generators[0].iter,)
        case ast.Lambda():
            return ()
        case _:
            return ast.iter_child_nodes(node)


RENAME_MERGING: Final = PythonRenameMerging()


Names = frozenset[str]
_NONE: Names = frozenset()


def interferences(function: FunctionNode) -> set[tuple[str, str]]:
    """Pairs (written, still needed) of names in a function's own scope.

    A write that copies the other variable (`a = b`) does not interfere with it.
    """
    analysis = _Liveness()
    analysis.block(function.body, _NONE, _Targets())
    return analysis.pairs


@dataclass(frozen=True, slots=True)
class _Targets:
    """The names needed at the places to which `break` and `continue` jump."""

    after: Names = _NONE
    """Needed behind the loop (`break`)."""
    again: Names = _NONE
    """Needed at the loop's head (`continue`)."""


@dataclass(slots=True)
class _Liveness:
    """The state of the analysis: the interferences found so far. Every method returns the names needed before
    its code.
    """

    pairs: set[tuple[str, str]] = field(default_factory=set)

    def block(self, statements: Sequence[ast.stmt], needed: Names, targets: _Targets) -> Names:
        """The names needed before the statements, given those needed after them."""
        for statement in reversed(statements):
            needed = self.statement(statement, needed, targets)
        return needed

    def statement(self, statement: ast.stmt, needed: Names, targets: _Targets) -> Names:
        match statement:
            # Nothing behind it runs, so nothing else is needed.
            case ast.Return() | ast.Raise():
                return reads(statement)
            case ast.Break():
                return targets.after
            case ast.Continue():
                return targets.again
            case ast.If(test=test, body=body, orelse=orelse):
                either = self.block(body, needed, targets) | self.block(orelse, needed, targets)
                return reads(test) | either
            case ast.For() | ast.AsyncFor() | ast.While():
                return self.loop(statement, needed, targets)
            case ast.With() | ast.AsyncWith():
                inside = self.block(statement.body, needed, targets)
                for item in reversed(statement.items):
                    if item.optional_vars is not None:
                        inside = self.write(item.optional_vars, None, inside)
                    inside |= reads(item.context_expr)
                return inside
            case ast.Try() | ast.TryStar():
                needed = self.block(statement.finalbody, needed, targets)
                for handler in statement.handlers:
                    self.block(handler.body, needed, targets)
                return self.block([*statement.body, *statement.orelse], needed, targets)
            case ast.Match(subject=subject, cases=cases):
                inside = needed
                for case in cases:
                    inside |= self.block(case.body, needed, targets)
                return inside | reads(subject)
            # When the body of a nested definition runs is not known.
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return needed
            case _:
                return self.simple(statement, needed)

    def loop(self, statement: ast.For | ast.AsyncFor | ast.While, needed: Names, targets: _Targets) -> Names:
        done = self.block(statement.orelse, needed, targets)
        head = done
        # Two rounds reach the fixed point: the second one sees the names needed at the head of the loop.
        for _ in range(2):
            inside = self.block(statement.body, head, _Targets(needed, head))
            if isinstance(statement, ast.While):
                head = done | reads(statement.test) | inside
            else:
                head = done | self.write(statement.target, None, inside)
        return head if isinstance(statement, ast.While) else head | reads(statement.iter)

    def simple(self, statement: ast.stmt, needed: Names) -> Names:
        match statement:
            case ast.Assign(targets=goals, value=value):
                for goal in reversed(goals):
                    needed = self.write(goal, value, needed)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                needed = self.write(target, value, needed)
            case ast.AugAssign(target=ast.Name() as target):
                return self.write(target, None, needed) | {target.id} | reads(statement.value)
            case ast.AnnAssign():
                return needed
        return needed | reads(statement)

    def write(self, target: ast.expr, value: ast.expr | None, needed: Names) -> Names:
        """The names needed before a write; notes every other variable whose value is still needed."""
        names = {
            node.id
            for node in below(target)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        copied = {value.id} if isinstance(value, ast.Name) else set()
        self.pairs.update((name, other) for name in names for other in needed - names - copied)
        return (needed - names) | reads(target)


def reads(node: ast.AST) -> Names:
    """The names that a statement or expression may read itself, not through functions that it defines."""
    hidden: set[str] = set()
    names = set(_reads(node, hidden))
    return frozenset(names - hidden)


def _reads(node: ast.AST, hidden: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.comprehension):
        hidden.update(inner.id for inner in below(node.target) if isinstance(inner, ast.Name))
    if not isinstance(node, ast.Lambda | FunctionNode | ast.ClassDef):
        for child in ast.iter_child_nodes(node):
            yield from _reads(child, hidden)

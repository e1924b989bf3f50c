"""One walk over a function that makes its logical lines, their effects, and its blocks with their
dependences.

`program.analyse` runs the builder once per text. The builder trusts `effects` for what an expression may do
and adds what the control structure says: which locals are certainly bound at each statement, which statements
run under a `try` or `with`, and where control can no longer arrive.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from codeaudit.transforms.dependence.blocks import BlockStatement, StatementBlock
from codeaudit.transforms.dependence.effects import (
    ANYTHING,
    BARRIER,
    ENDS_CALL,
    EXITS,
    LEAVES_LOOP,
    OBSERVES,
    RAISES,
    Effects,
    Guard,
    conflicts,
)
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.patches import line_starts
from codeaudit.transforms.python.analysis.capabilities import looks_at_variables, may_look, named_in_texts
from codeaudit.transforms.python.analysis.effects import PythonEffects, settle_types
from codeaudit.transforms.python.analysis.expressions import SUBMODULES
from codeaudit.transforms.python.analysis.facts import (
    VariableFacts,
    bound_by,
    bound_names,
    free_names,
    gather_facts,
    stored_names,
)
from codeaudit.transforms.python.analysis.knowledge import BUILTINS, KNOWN, PLAIN, WELL_KNOWN
from codeaudit.transforms.python.analysis.looks import ShownLooks
from codeaudit.transforms.python.analysis.modules import binds_submodule, is_harmless
from codeaudit.transforms.python.analysis.relaxed import NO_PACKAGE, PackageSummary, relaxed_effects
from codeaudit.transforms.python.comments import first_comment
from codeaudit.transforms.python.parsing import FunctionNode, first_line
from codeaudit.transforms.python.walking import HOLDERS, children

COMPOUND = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match,
)  # fmt: skip

_Walked: TypeAlias = tuple[tuple[int | StatementBlock, ...], Effects]
"""The lines and blocks of a statement, in the order of the text, and the effects of all of it."""

SHARED_LINE: Final = "statements share a line"


@dataclass(slots=True)
class DraftLine:
    """A logical line while the builder is still at work."""

    node: ast.AST
    clause: str
    """The clause that the line is (`else`, `except`, `finally`, `case`); empty for a statement or a header.
    """
    depth: int
    """Nesting depth, 0 for the header of the function."""
    parent: int
    """The number of the header or clause above it; -1 for the first line."""
    effects: Effects
    """The effects of the line alone, without what is nested under it."""
    certain: bool = True
    """Whether the line is evaluated exactly once when control reaches it, so that its writes replace earlier
    ones.
    """


@dataclass(frozen=True, slots=True)
class StatementContext:
    """What is known at the point where a statement begins."""

    facts: VariableFacts
    """The facts of the function in whose scope the statement is evaluated; empty in a class body or a module.
    """
    definite: frozenset[str]
    """Locals that are certainly bound there."""


@dataclass(slots=True)
class _BlockContext:
    """Where the builder is: the function, the nesting, and what is known at this point. Changes during the
    walk.
    """

    facts: VariableFacts
    """The facts of the function in whose scope the block runs."""
    depth: int = 1
    """Nesting depth of the next line."""
    parent: int = 0
    """The line number of the header or clause above the block."""
    guarded: bool = False
    """Whether a `try` or `with` around the block may observe an exception."""
    nested: bool = False
    """Whether the block is of a function inside, whose caller may catch what it raises."""
    pinned: bool = False
    """Whether the statements keep their order in any case (a class body, a module)."""
    rebound: frozenset[str] = frozenset()
    """Builtin names that mean something else in the functions defined here."""
    definite: frozenset[str] = frozenset()
    """Locals that are certainly bound here."""
    dead: bool = False
    """Whether control cannot arrive here: the code stands after return, raise, break or continue."""

    def inner(self, parent: int, *, guarded: bool = False) -> "_BlockContext":
        """The context of a block nested under the line `parent`."""
        return _BlockContext(
            facts=self.facts,
            depth=self.depth + 1,
            parent=parent,
            guarded=self.guarded or guarded,
            nested=self.nested,
            rebound=self.rebound,
            definite=self.definite,
        )

    def bind(self, names: frozenset[str]) -> None:
        """Note that these names are bound from here on; fragile ones may become unbound again and are left
        out.
        """
        new = names - self.facts.fragile - self.definite
        if new:  # a long body binds each name once, and binds some of them many times
            self.definite |= new

    def join(self, *branches: "_BlockContext") -> None:
        """Continue after a choice between branches.

        A local is certainly bound if every branch that reaches this point has bound it.
        """
        # Behind `if c: x = 1` with `else: return`, `x` is bound.
        alive = [branch.definite for branch in branches if not branch.dead]
        self.dead = not alive
        self.definite = frozenset.intersection(*alive) if alive else self.definite


class PythonProgramBuilder:
    """Walks a function once and makes its lines, effects and blocks.

    Use one builder per text: call `alone` or `module` once, then read `rows` and `places`.
    """

    def __init__(
        self,
        source: str,
        *,
        dependence: Dependence,
        rebound: frozenset[str],
        looks: ShownLooks,
        package: PackageSummary = NO_PACKAGE,
    ) -> None:
        """`rebound` are names of builtins that the text declares global; `looks` is what the text around
        shows of its classes; `package` is for the relation `confirmed`.
        """
        self.rows: list[DraftLine] = []
        """The lines in the order of the text."""
        self.places: dict[int, StatementContext] = {}
        """What is known at each statement, by the `id` of its node."""
        self.looking = False
        """Whether a function of the text may look at its own variables."""
        self._may_look = may_look(source)
        self._text, self._starts = _lines_of(source)
        self._dependence = dependence
        self._rebound = rebound
        self._looks = looks
        self._package = package

    # ── entry points ─────────────────────────────────────────────────────────────────────────────────

    def alone(self, node: FunctionNode) -> StatementBlock:
        """Walk a text that is one function; returns a block with the function as its only statement."""
        line = self._line(node, -1, 0, Effects())
        # In `def len(x): …`, `len` means the function itself.
        body = self._function_body(node, line, depth=1, rebound=self._rebound | {node.name} & WELL_KNOWN)
        statement = BlockStatement(0, len(self._text), range(len(self.rows)), (line, body))
        return StatementBlock((statement,), (0,), "one statement", ())

    def module(self, tree: ast.Module) -> StatementBlock:
        """Walk a text of several statements, which keep their order; returns their block."""
        rebound = self._rebound | bound_names(tree.body) & BUILTINS
        scope = _BlockContext(
            facts=VariableFacts(rebound=rebound, looks=self._looks),
            depth=0,
            parent=-1,
            pinned=True,
            rebound=rebound,
        )
        return self._block(tree.body, scope, above=0)[0]

    def _function_body(
        self, node: FunctionNode, line: int, *, depth: int, rebound: frozenset[str]
    ) -> StatementBlock:
        facts = gather_facts(node, rebound)
        facts.prefix = f"{line}." if line else ""
        facts.looks = self._looks
        # An object of such a class may be given in the place of a builtin value.
        if self._looks.methods:
            facts.annotated = facts.annotated_plain = frozenset()
        # Any code that runs may then see every variable, as a closure would. Most functions hold no
        # suspect word.
        if self._may_look and looks_at_variables(node) and looks_at_variables(node, free_names(node)):
            facts.captured = facts.local
            self.looking = True
        facts.captured |= named_in_texts(node, facts.local)
        # A method of a local class is in the bindings, too, as one of an unknown class.
        if facts.receiver == "self":
            facts.plain = self._looks.bindings.of_receiver(node)
        settle_types(node, facts)
        managers = PythonEffects(facts, facts.local)
        facts.doubts = facts.doubts or not all(map(managers.passes_exceptions_on, facts.managers))
        # Every parameter is bound when the body begins.
        bound = facts.parameters - facts.fragile
        scope = _BlockContext(facts=facts, depth=depth, parent=line, nested=depth > 1, definite=bound)
        # Inside, a variable of this function is neither a builtin nor what the file calls so.
        scope.rebound = facts.rebound | facts.local
        return self._block(node.body, scope, above=_header_end(node), documented=True)[0]

    # ── blocks and statements ────────────────────────────────────────────────────────────────────────

    def _block(
        self, body: list[ast.stmt], scope: _BlockContext, *, above: int, documented: bool = False
    ) -> tuple[StatementBlock, Effects]:
        statements, effects = [], []
        guards: list[Guard | None] = []
        fixed, last_line = None, 0
        for number, node in enumerate(body):
            line = first_line(node)
            # `a = 1; b = a`: statements on one line cannot move as whole lines.
            if line <= last_line:
                fixed = SHARED_LINE
            start = len(self.rows)
            if documented and number == 0 and is_string_statement(node):
                parts: tuple[int | StatementBlock, ...] = ()
                effect = Effects(flags=BARRIER)
                guards.append(None)
            else:
                # A comment above a statement is about it, so it moves with it.
                line = first_comment(self._line_text, line, node.col_offset, above)
                guards.append(self._guard(node, scope))
                parts, effect = self._statement(node, scope)
            above = last_line = node.end_lineno or line
            end = self._line_end(above)
            if self._text.endswith(b"\\", 0, end):  # the line goes on: `a = 1; \`
                fixed = SHARED_LINE
            statements.append(
                BlockStatement(self._starts[line - 1], end, range(start, len(self.rows)), parts)
            )
            # A class body and a module keep their order: other code may read their namespace in it.
            effects.append(Effects(flags=BARRIER) if scope.pinned else effect)
        if self._dependence == "confirmed" and not scope.pinned:
            looser = (
                relaxed_effects(node, effect, scope.facts, self._package, guarded=scope.guarded)
                for node, effect in zip(body, effects, strict=True)
            )
            relation = conflicts(list(looser), guarded=scope.guarded)
        else:
            # Where an exception may be caught, a call that raises nothing has statements that raise.
            returning = self._dependence == "returning" and not (scope.guarded or scope.nested)
            # The relation of the paper knows names only.
            tests = () if self._dependence == "paper" else guards
            relation = conflicts(effects, guarded=scope.guarded, returning=returning, guards=tests)
        total = Effects.of_all(effects).enclosed()
        return StatementBlock(tuple(statements), relation, fixed, tuple(effects)), total

    def _guard(self, node: ast.stmt, scope: _BlockContext) -> Guard | None:
        """The test before all of a statement: `if x is None: …`, `if kind == 1 and …: …`, `if not done: …`.

        It is one of a variable that no other code can bind, and it cannot act, raise or see other state.
        """
        if not isinstance(node, ast.If) or node.orelse:
            return None
        test = node.test
        # What stands behind the first operand of `and` is not evaluated unless that one holds.
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            test = test.values[0]
        passes = True
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, passes = test.operand, not passes
        op: ast.cmpop | None = None
        value: object = None
        match test:
            case ast.Compare(left=ast.Name() as tested, ops=[op], comparators=[ast.Constant(value=value)]):
                pass
            case ast.Name() as tested:
                pass
            case _:
                return None
        collector = self._collector(scope)
        kind = collector.visit(tested)
        if tested.id not in scope.facts.local or collector.flags:
            return None
        name = scope.facts.prefix + tested.id
        match op:
            case ast.Is() | ast.IsNot() if value is None:
                return Guard(name, "is", None, passes == isinstance(op, ast.Is))
            case ast.Eq() | ast.NotEq() if kind in PLAIN and type(value) in (int, str, bytes, bool):
                return Guard(name, "equals", value, passes == isinstance(op, ast.Eq))
            case None if kind in PLAIN:
                return Guard(name, "truth", None, passes)
            case _:
                return None

    def _statement(self, node: ast.stmt, scope: _BlockContext) -> _Walked:
        self.places[id(node)] = StatementContext(scope.facts, scope.definite)
        match node:
            case ast.If():
                return self._if(node, scope)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(node, scope)
            case ast.With() | ast.AsyncWith():
                return self._with(node, scope)
            case ast.Try() | ast.TryStar():
                return self._try(node, scope)
            case ast.Match():
                return self._match(node, scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return self._nested_function(node, scope)
            case ast.ClassDef():
                return self._class(node, scope)
            case _:
                collector = self._collector(scope)
                simple_statement(collector, node)
                effect = self._effects(collector)
                line = self._line(node, scope.parent, scope.depth, effect)
                scope.bind(frozenset(collector.writes - collector.sometimes))
                if isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue):
                    scope.dead = True
                return (line,), effect

    def _if(self, node: ast.If, scope: _BlockContext) -> _Walked:
        collector = self._collector(scope)
        collector.truth(node.test)
        effect = self._effects(collector)
        line = self._line(node, scope.parent, scope.depth, effect)
        then, otherwise = scope.inner(line), scope.inner(line)
        body, inside = self._block(node.body, then, above=_header_end(node))
        parts: list[int | StatementBlock] = [line, body]
        effect |= inside
        if node.orelse:
            effect |= self._clause(node, "else", node.orelse, otherwise, parts)
        scope.join(then, otherwise)
        return tuple(parts), effect

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, scope: _BlockContext) -> _Walked:
        collector = self._collector(scope)
        if isinstance(node, ast.While):
            collector.truth(node.test)
        else:
            collector.iterate(node.iter)
            assign(collector, node.target, collector.item(node.iter))
            collector.flags |= BARRIER if isinstance(node, ast.AsyncFor) else 0
        effect = self._effects(collector)
        line = self._line(node, scope.parent, scope.depth, effect, certain=False)
        # What the loop binds is not certainly bound behind it: the body may never run.
        turn = scope.inner(line)
        turn.bind(frozenset(collector.writes - collector.sometimes))
        body, inside = self._block(node.body, turn, above=_header_end(node))
        parts: list[int | StatementBlock] = [line, body]
        # `break` and `continue` in the body leave this loop, and nothing around it.
        effect |= Effects(inside.reads, inside.writes, inside.flags & ~LEAVES_LOOP)
        # `for k in d: d[k + 1] = 0`: a dict or set must not change its size under a loop.
        if not isinstance(node, ast.While) and collector.owned_in(node.iter) & {
            name.removeprefix(scope.facts.prefix) for name in inside.writes
        }:
            effect |= Effects(flags=RAISES)
        if node.orelse:
            effect |= self._clause(node, "else", node.orelse, scope.inner(line), parts)
        return tuple(parts), effect

    def _with(self, node: ast.With | ast.AsyncWith, scope: _BlockContext) -> _Walked:
        collector = self._collector(scope)
        for item in node.items:
            collector.visit(item.context_expr)
            if item.optional_vars is not None:
                assign(collector, item.optional_vars, None)
        # `__enter__` and `__exit__` may do anything; `async with` also suspends the function.
        collector.flags |= ANYTHING | (BARRIER if isinstance(node, ast.AsyncWith) else 0)
        effect = self._effects(collector)
        line = self._line(node, scope.parent, scope.depth, effect, certain=False)
        within = scope.inner(line, guarded=True)
        within.bind(frozenset(collector.writes - collector.sometimes))
        body, inside = self._block(node.body, within, above=_header_end(node))
        return (line, body), effect | inside

    def _try(self, node: ast.Try | ast.TryStar, scope: _BlockContext) -> _Walked:
        # Under the relation for calls that raise nothing, a `try` keeps its place as a test does.
        effect = Effects(flags=RAISES | EXITS if self._dependence == "returning" else RAISES)
        line = self._line(node, scope.parent, scope.depth, Effects(), certain=False)
        within = scope.inner(line, guarded=True)
        body, inside = self._block(node.body, within, above=_header_end(node))
        parts: list[int | StatementBlock] = [line, body]
        effect |= inside
        for handler in node.handlers:
            place = scope.inner(line, guarded=True)
            collector = self._collector(place)
            if handler.type is not None:
                collector.visit(handler.type)
                collector.flags |= OBSERVES | RAISES
            # `except E as x` binds `x`, and unbinds it at the end of the clause.
            if handler.name is not None:
                collector.write(handler.name)
            effect |= self._clause(handler, "except", handler.body, place, parts, collector)
        for name, inner in (("else", node.orelse), ("finally", node.finalbody)):
            if inner:
                place = scope.inner(line, guarded=True)
                effect |= self._clause(node, name, inner, place, parts)
        return tuple(parts), effect

    def _match(self, node: ast.Match, scope: _BlockContext) -> _Walked:
        collector = self._collector(scope)
        kind = collector.visit(node.subject)
        collector.look_anyhow()
        effect = self._effects(collector)
        line = self._line(node, scope.parent, scope.depth, effect, certain=False)
        parts: list[int | StatementBlock] = [line]
        for case in node.cases:
            place = scope.inner(line)
            within = self._collector(place)
            for name in stored_names(case.pattern):
                within.write(name)
            # A pattern asks for classes, attributes and items, and compares.
            within.look_anyhow()
            sequences = [part for part in ast.walk(case.pattern) if isinstance(part, ast.MatchSequence)]
            if any(isinstance(part, ast.MatchMapping) for part in ast.walk(case.pattern)):
                within.flags |= ANYTHING  # the `get` of the mapping is called
            # `case [x, [y]]` iterates over the subject, and over its second item.
            elif sequences and (kind not in KNOWN or sequences != [case.pattern]):
                within.flags |= ANYTHING
            # A pattern reads the constants and classes that it names: `case Colour.RED`.
            for value in ast.walk(case.pattern):
                if isinstance(value, ast.MatchValue):
                    within.visit(value.value)
                elif isinstance(value, ast.MatchClass):
                    within.visit(value.cls)
                    within.look_anyhow()
            if case.guard is not None:
                within.truth(case.guard)
            effect |= self._clause(case, "case", case.body, place, parts, within)
        return tuple(parts), effect

    def _nested_function(self, node: FunctionNode, scope: _BlockContext) -> _Walked:
        collector = self._collector(scope)
        collector.definition(node)
        effect = self._effects(collector)
        line = self._line(node, scope.parent, scope.depth, effect)
        scope.bind(frozenset({node.name}))
        inner = self._function_body(node, line, depth=scope.depth + 1, rebound=scope.rebound)
        return (line, inner), effect

    def _class(self, node: ast.ClassDef, scope: _BlockContext) -> _Walked:
        collector = self._collector(scope)
        for part in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            collector.visit(part)
        collector.reads |= free_names(node) & scope.facts.local
        collector.write(node.name)
        collector.flags |= ANYTHING  # metaclass, base classes and the body may run any code
        effect = self._effects(collector)
        line = self._line(node, scope.parent, scope.depth, effect)
        scope.bind(frozenset({node.name}))
        # The names of a class body are no variables of the function around it.
        rebound = scope.rebound | bound_names(node.body) & BUILTINS
        facts = VariableFacts(rebound=rebound, looks=self._looks)
        place = _BlockContext(facts, depth=scope.depth + 1, parent=line, pinned=True, rebound=scope.rebound)
        return (line, self._block(node.body, place, above=_header_end(node), documented=True)[0]), effect

    def _clause(
        self,
        node: ast.AST,
        name: str,
        body: list[ast.stmt],
        scope: _BlockContext,
        parts: "list[int | StatementBlock]",
        collector: PythonEffects | None = None,
    ) -> Effects:
        effect = self._effects(collector) if collector else Effects()
        line = self._line(node, scope.parent, scope.depth - 1, effect, clause=name, certain=False)
        scope.parent = line
        block, inside = self._block(
            body, scope, above=_header_end(node) if name in ("except", "case") else _body_end(node, body)
        )
        parts += [line, block]
        return effect | inside

    # ── text ─────────────────────────────────────────────────────────────────────────────────────────

    def _line_text(self, line: int) -> bytes:
        return self._text[self._starts[line - 1] : self._line_end(line)]

    def _line_end(self, line: int) -> int:
        """The offset at which a line ends, before its line break."""
        end = self._starts[line] if line < len(self._starts) else len(self._text)
        while end > self._starts[line - 1] and self._text[end - 1] in b"\r\n":
            end -= 1
        return end

    # ── small pieces ─────────────────────────────────────────────────────────────────────────────────

    def _collector(self, scope: _BlockContext) -> PythonEffects:
        return PythonEffects(scope.facts, scope.definite)

    def _effects(self, collector: PythonEffects) -> Effects:
        reads, writes, flags = collector.reads, collector.writes, collector.flags
        if self._dependence == "paper":
            writes, flags = writes | collector.touched, 0
        else:
            reads, writes = reads | collector.stored_reads, writes | collector.stored
        prefix = collector.facts.prefix
        if prefix:
            reads = {prefix + name for name in reads}
            writes = {prefix + name for name in writes}
        return Effects(frozenset(reads), frozenset(writes), flags)

    def _line(
        self,
        node: ast.AST,
        parent: int,
        depth: int,
        effects: Effects,
        *,
        clause: str = "",
        certain: bool = True,
    ) -> int:
        self.rows.append(DraftLine(node, clause, depth, parent, effects, certain))
        return len(self.rows) - 1


@lru_cache(maxsize=4)
def _lines_of(source: str) -> tuple[bytes, Sequence[int]]:
    """A text in bytes, and the offset of each line. Facts about a file use many builders for its text."""
    text = source.encode()
    return text, line_starts(text)


def _header_end(node: ast.AST) -> int:
    """The last line of a header or clause, over all of its expressions; from 1."""
    parts = [part for part in children(node) if not isinstance(part, HOLDERS)]
    return max(map(_last_line, parts), default=getattr(node, "lineno", 0))


def _last_line(node: ast.AST) -> int:
    """The last line of a node; for a node without a position, the last line of its children (0 if it has
    none).
    """
    end: int | None = getattr(node, "end_lineno", None)
    return end if end is not None else max(map(_last_line, ast.iter_child_nodes(node)), default=0)


def _body_end(node: ast.AST, body: list[ast.stmt]) -> int:
    """The last line of what precedes one of the bodies of a statement (an `else` or `finally` body)."""
    start = body[0].lineno
    ends = (getattr(part, "end_lineno", None) or 0 for part in ast.iter_child_nodes(node))
    return max((end for end in ends if end < start), default=0)


IMMUTABLE: Final = PLAIN | {"tuple", "range"}
"""Types whose values never change, so that `+=` makes a new value."""


def is_string_statement(node: ast.stmt) -> bool:
    """Whether a statement is a bare string: a docstring if it stands first."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def simple_statement(collector: PythonEffects, node: ast.stmt) -> None:
    """Collect the effects of a simple statement."""
    match node:
        case ast.Assign(targets=targets, value=value):
            kind = collector.visit(value)
            for target in targets:
                assign(collector, target, value, kind)
                collector.release(target, value)
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            left = ast.Name(id=name, ctx=ast.Load())
            kind = collector.visit(ast.BinOp(left=left, op=op, right=value))
            collector.write(name)
            if collector.facts.types.get(name) not in IMMUTABLE and kind not in IMMUTABLE:
                collector.flags |= ANYTHING  # `__iadd__` may change the object in place
        case ast.AugAssign(target=target, value=value):
            collector.visit(value)
            collector.flags |= ANYTHING
            assign(collector, target, None)
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                kind = collector.visit(value)
                assign(collector, target, value, kind)
                collector.release(target, value)
            elif not isinstance(target, ast.Name):
                assign(collector, target, None)
        case ast.Expr(value=value):
            collector.visit(value)
            if is_string_statement(node):
                collector.flags |= BARRIER  # moved to the front, the string would become a docstring
        case ast.Return(value=value):
            if value is not None:
                collector.visit(value)
            collector.flags |= ENDS_CALL
        case ast.Raise(exc=exc, cause=cause):
            for part in (exc, cause):
                if part is not None:
                    collector.visit(part)
            collector.flags |= ENDS_CALL
        case ast.Assert(test=test, msg=msg):
            collector.truth(test)
            if msg is not None:
                collector.visit(msg)
            collector.flags |= RAISES | EXITS
        case ast.Delete(targets=targets):
            for target in targets:
                assign(collector, target, None)
                collector.release(target)
                if not isinstance(target, ast.Name):
                    collector.flags |= ANYTHING
                elif target.id not in collector.definite:
                    collector.flags |= RAISES
        case ast.Import() | ast.ImportFrom():
            for name in bound_by(node):
                collector.write(name)
            collector.expect()
            if binds_submodule(node):
                collector.store(SUBMODULES)
            if not is_harmless(node) or "__import__" in collector.facts.rebound:
                collector.flags |= ANYTHING
        case ast.Break() | ast.Continue():
            # No statement may pass a jump: behind it, it would not run.
            collector.flags |= LEAVES_LOOP
        case ast.Pass():
            pass
        case _:  # global, nonlocal, type aliases, and statements of later versions of Python
            collector.flags |= BARRIER
            for name in stored_names(node):
                collector.write(name)


def assign(
    collector: PythonEffects, target: ast.expr, value: ast.expr | None, kind: str | None = None
) -> None:
    """Collect the effects of binding a target to `value`, of type `kind`; `None` if they are unknown."""
    match target:
        case ast.Name(id=name):
            collector.write(name)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            if isinstance(value, ast.Name) and value.id in collector.facts.local and kind is None:
                collector.writes.add(value.id)  # it may be an iterator, which unpacking exhausts
            for element, part in zip(elements, collector.unpack(target, value, kind), strict=True):
                nested = part is not None and isinstance(element, ast.Tuple | ast.List)
                assign(collector, element, part, collector.visit(part) if nested and part else None)
        case ast.Starred(value=inner):
            assign(collector, inner, None)
        case ast.Attribute():
            collector.touch(target)
            collector.assign_attribute(target)
        case ast.Subscript():
            collector.touch(target)
            collector.assign_item(target)
        case _:
            collector.flags |= ANYTHING

"""Clauses that exclude one another, in another order; and a control that exchanges the bodies of two
branches.

The transforms are `reorder-except`, `reorder-cases` and `reorder-branches`. Whether two `except` clauses may
change places is not decided by the hierarchy of exceptions alone: a class may derive from both `KeyError` and
`ValueError`, and then the first clause wins.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from codeaudit.transforms.dependence.effects import BARRIER, Effects, conflicts
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Site, Span
from codeaudit.transforms.python.analysis.knowledge import PLAIN
from codeaudit.transforms.python.order.spelling import spelled_once
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource
from codeaudit.transforms.python.suites import binders, is_elif, line_end, rearranged, stacked
from codeaudit.transforms.rules import MOST, permuted

_OS_ERRORS: Final = """
    OSError IOError EnvironmentError BlockingIOError ChildProcessError ConnectionError BrokenPipeError
    ConnectionAbortedError ConnectionRefusedError ConnectionResetError FileExistsError FileNotFoundError
    InterruptedError IsADirectoryError NotADirectoryError PermissionError ProcessLookupError TimeoutError
"""

DISJOINT: Final = (
    frozenset(_OS_ERRORS.split()),
    frozenset(["ImportError", "ModuleNotFoundError"]),
    frozenset(["SyntaxError", "IndentationError", "TabError"]),
    frozenset(["NameError", "UnboundLocalError"]),
    frozenset(["AttributeError"]),
    frozenset(["StopIteration"]),
    frozenset(["SystemExit"]),
    frozenset(["UnicodeDecodeError", "UnicodeEncodeError", "UnicodeTranslateError"]),
    frozenset(["BaseExceptionGroup", "ExceptionGroup"]),
)
"""Builtin exceptions, grouped by the memory layout of their objects. No class can derive from two classes
with different layouts, so no exception belongs to two groups. `KeyError` and `ValueError`, for example, have
the same layout and may have a common subclass.
"""

SHARED_SUBCLASS: Final = "an exception may belong to two clauses"
SUBJECT: Final = "the subject may be of any type"
PATTERNS: Final = "patterns that are not distinct constants"
LAYOUT: Final = "clauses share a line"

Value: TypeAlias = str | bytes | int | float | None
Test: TypeAlias = tuple[ast.Name, list[Value]]


@spelled_once
def find_except(code: PythonSource) -> Iterator[Site | Refused]:
    """The `except` clauses of a `try`."""
    bound = binders(code.tree)
    for node in code.nodes():
        # `except*` splits one group among several clauses, so `ast.TryStar` is left out.
        if not isinstance(node, ast.Try) or not 2 <= len(node.handlers) <= MOST:
            continue
        caught = [_families(handler.type, bound) for handler in node.handlers]
        above = code.positions.line_column(code.end(node.body[-1]))[0]
        parts = stacked(code, node.handlers, above)
        before = tuple(
            sum(1 << other for other in range(number) if not _disjoint(caught[other], caught[number]))
            for number in range(len(caught))
        )
        yield rearranged(code, parts, before, "except clauses") or Refused(SHARED_SUBCLASS)


def _families(node: ast.expr | None, bound: Mapping[str, int]) -> frozenset[int] | None:
    """The groups of `DISJOINT` that a clause catches; `None` if it may catch other exceptions."""
    names = node.elts if isinstance(node, ast.Tuple) else [node]
    groups: set[int] = set()
    for name in names:
        # A bare `except` catches everything; a name that the text binds may be any class.
        if not isinstance(name, ast.Name) or name.id in bound or "*" in bound:
            return None
        numbers = [number for number, family in enumerate(DISJOINT) if name.id in family]
        if not numbers:
            return None
        groups.update(numbers)
    return frozenset(groups)


def _disjoint(one: frozenset[int] | None, other: frozenset[int] | None) -> bool:
    return one is not None and other is not None and not one & other


@spelled_once
def find_cases(code: PythonSource) -> Iterator[Site | Refused]:
    """The cases of a `match` whose patterns are distinct constants."""
    for node in code.nodes():
        if not isinstance(node, ast.Match) or len(node.cases) < 2:
            continue
        kind = code.kind(node.subject)
        # The `__eq__` of a foreign subject may see which case asks first, or claim to equal two constants.
        if kind not in PLAIN:
            yield Refused(SUBJECT)
            continue
        # A guard may do anything, so its case keeps its place.
        values = [None if case.guard else _constants(case.pattern) for case in node.cases]
        effects = [_among(matched, kind) for matched in values][:MOST]
        parts = [_case(code, case) for case in node.cases[:MOST]]
        # A pattern in parentheses may begin on a later line than its `case`.
        if not all(code.source[part.start : part.end].lstrip().startswith(b"case") for part in parts):
            yield Refused(LAYOUT)
        else:
            yield rearranged(code, parts, conflicts(effects), "cases") or Refused(PATTERNS)


def _case(code: PythonSource, node: ast.match_case) -> Span:
    """The whole lines of a case whose pattern begins on its first line."""
    first = code.positions.line_column(code.start(node.pattern))[0]
    return Span(code.positions.offset(first, 0), line_end(code, code.end(node.body[-1])))


def _constants(pattern: ast.pattern) -> list[Value] | None:
    """The constants that a pattern matches; `None` if it may match anything else."""
    match pattern:
        case ast.MatchValue(value=value):
            return _literals([value])
        case ast.MatchSingleton(value=value):
            return [value]
        case ast.MatchOr(patterns=patterns):
            values: list[Value] = []
            for part in patterns:
                constants = _constants(part)
                if constants is None:
                    return None
                values += constants
            return values
        case _:
            return None


def _literals(nodes: Sequence[ast.expr]) -> list[Value] | None:
    """The values of expressions if all of them are plain constants, else `None`."""
    values: list[Value] = []
    for node in nodes:
        try:
            value = ast.literal_eval(node)
        except (ValueError, TypeError):
            return None
        if not (value is None or isinstance(value, str | bytes | int | float)):
            return None
        values.append(value)
    return values


def _among(values: list[Value] | None, kind: str | None) -> Effects:
    """The effects that make clauses with a common constant conflict, and clauses without constants conflict
    with all.

    Constants that are equal (`1`, `True`, `1.0`) count as one. Bytes among other types are a barrier, because
    comparing them may warn (`python -b`).
    """
    if values is None:
        return Effects(flags=BARRIER)
    kinds = {type(value).__name__ for value in values} | {kind}
    if "bytes" in kinds and len(kinds) > 1:
        return Effects(flags=BARRIER)
    # Equal numbers have one hash (1, 1.0 and True), whatever their text.
    numbers = (int, float)
    return Effects(
        writes=frozenset(
            f"{hash(value)}" if isinstance(value, numbers) else f"={value!r}" for value in values
        )
    )


@spelled_once
def find_branches(code: PythonSource) -> Iterator[Site | Refused]:
    """The branches of an `if … elif …` that compare one variable with distinct constants."""
    for node in code.nodes():
        if not isinstance(node, ast.If) or is_elif(node, code):
            continue
        chain = [node]
        while len(chain[-1].orelse) == 1 and is_elif(below := chain[-1].orelse[0], code):
            chain.append(below)
        if len(chain) < 2:
            continue
        tests = [_test(branch.test) for branch in chain]
        subject = next((test[0] for test in tests[:-1] if test is not None), None)
        if subject is None or sum(_on(test, subject) for test in tests) < 2:
            yield Refused(PATTERNS)
        # Another test may rebind the subject if it is captured by a function or belongs to the module.
        elif (kind := code.kind(subject)) not in PLAIN or not code.harmless(subject):
            yield Refused(SUBJECT)
        else:
            effects = [_among(test[1] if test and _on(test, subject) else None, kind) for test in tests]
            parts = [_branch(code, branch) for branch in chain[:MOST]]
            note = f"branches on {subject.id}"
            yield rearranged(code, parts, conflicts(effects[:MOST]), note) or Refused(PATTERNS)


def _on(test: Test | None, subject: ast.Name) -> bool:
    """Whether a test compares this variable."""
    return test is not None and test[0].id == subject.id


def _test(node: ast.expr) -> Test | None:
    """The variable that a test compares, and the constants it is compared with."""
    match node:
        case ast.Compare(left=ast.Name() as name, ops=[ast.Eq()], comparators=[value]):
            values = _literals([value])
        case ast.Compare(left=value, ops=[ast.Eq()], comparators=[ast.Name() as name]):
            values = _literals([value])
        case ast.Compare(
            left=ast.Name() as name,
            ops=[ast.In()],
            comparators=[ast.Tuple(elts=elements) | ast.List(elts=elements)],
        ):
            values = _literals(elements)
        case _:
            return None
    return None if values is None else (name, values)


def _branch(code: PythonSource, node: ast.If) -> Span:
    """From behind the keyword to the end of the last line of a branch."""
    start = code.start(node) + (4 if is_elif(node, code) else 2)
    return Span(start, line_end(code, code.end(node.body[-1])))


def find_swapped(code: PythonSource) -> Iterator[Site | Refused]:
    """The bodies of an `if` and of the `elif` or `else` behind it."""
    for node in code.nodes():
        if not isinstance(node, ast.If) or not node.orelse:
            continue
        below = node.orelse[0]
        other = below.body if is_elif(below, code) else node.orelse
        bodies = (node.body, other)
        # `if a: b; c` has no lines of its own to exchange.
        if not all(code.alone(part) for body in bodies for part in (body[0], body[-1])):
            yield Refused(LAYOUT)
        elif [ast.dump(part) for part in node.body] != [ast.dump(part) for part in other]:
            parts = [_body_span(code, body) for body in bodies]
            yield Site(((permuted(parts, (1, 0)),),), "two bodies exchanged", code.line(node))


def _body_span(code: PythonSource, body: Sequence[ast.stmt]) -> Span:
    return Span(code.lines(body[0], body[-1]).start, line_end(code, code.end(body[-1])))


REORDER_EXCEPT: Final = PythonRule(
    name="reorder-except", find=find_except, nothing="no try with two except clauses"
)
REORDER_CASES: Final = PythonRule(name="reorder-cases", find=find_cases, nothing="no match")
REORDER_BRANCHES: Final = PythonRule(name="reorder-branches", find=find_branches, nothing="no elif")
BRANCHES_SWAPPED: Final = PythonRule(
    name="branches-swapped", find=find_swapped, nothing="no branch with an else", kind="control"
)

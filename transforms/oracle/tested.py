"""Puts a program and the tests of its problem together.

The tests bring what they need besides the function under test: imports and helpers come from the reference,
so that a program cannot replace them.
"""

import ast
from functools import lru_cache

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.oracle.calls import ProgramTrial
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.python.parsing import FunctionNode, parse


def trial(program: str, reference: str, tests: str, language: str = PYTHON.name) -> ProgramTrial:
    """A program with the tests of its problem, whose solution is `reference`."""
    if language != PYTHON.name:  # its tests share a process with the program
        return ProgramTrial(program, tests, (), language)
    helpers, names = _needs(reference, tests)
    return ProgramTrial(program, helpers + tests, names)


@lru_cache(maxsize=256)
def _needs(reference: str, tests: str) -> tuple[str, tuple[str, ...]]:
    """The statements of the reference that its tests need, as a text, and the functions that they test."""
    solution, checks = _parsed(reference), _parsed(tests)
    if solution is None or checks is None:
        return "", ()
    used = _used(checks)
    names = _tested(solution, checks, used)
    others = [part for part in solution.body if not (isinstance(part, FunctionNode) and part.name in names)]
    needed: list[ast.stmt] = []
    while more := [
        part for part in others if part not in needed and (_bound(part) & used or _is_general(part))
    ]:
        needed += more
        used = used.union(*map(_used, more))
    module = ast.Module([part for part in others if part in needed], [])
    return (f"{ast.unparse(module)}\n\n\n" if module.body else ""), names


def _tested(solution: ast.Module, checks: ast.Module, used: frozenset[str]) -> tuple[str, ...]:
    """The functions that the tests test. Others that they name are helpers."""
    functions = [node.name for node in solution.body if isinstance(node, FunctionNode)]
    match checks.body[-1:]:
        case [ast.Expr(ast.Call(ast.Name("check"), [ast.Name(name)], []))]:
            # The last function is the one that the model writes, so it can't be a helper.
            return tuple(dict.fromkeys((name, *functions[-1:])))
    return tuple(functions[-1:] if used & {*functions[-1:]} else dict.fromkeys(functions))


def _used(tree: ast.AST) -> frozenset[str]:
    """The names that a part of a text reads."""
    names = (name for name in ast.walk(tree) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load))
    return frozenset(name.id for name in names)


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement binds, and perhaps others."""
    names: set[str] = set()
    for node in ast.walk(statement):
        match node:
            case ast.Name(name, ast.Store()):
                names.add(name)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                names.add(name)
            case ast.alias(name, other):
                names.add(other or name.partition(".")[0])
    return names


def _is_general(statement: ast.stmt) -> bool:
    """Whether a statement is an import that may concern every text behind it."""
    return isinstance(statement, ast.ImportFrom) and (
        statement.module == "__future__" or statement.names[0].name == "*"
    )


def _parsed(text: str) -> ast.Module | None:
    try:
        return parse(text)
    except SourceError:
        return None

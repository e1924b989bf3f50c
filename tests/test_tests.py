"""The tests tested: each of them can fail.

A test can fail if every way through it meets an assertion, a `pytest.raises`, or a helper of ours that asserts. Loops
count as entered. An `if` counts where both branches assert; a `continue` or `return` before any assertion counts as
the way out that it is, so a loop that may skip every case needs a count behind it.
"""

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ASSERTING = {"assert_close", "assert_outcomes", "fail", "fnmatch_lines", "raises", "skip", "warns"}
"""Functions of libraries that assert, or that end a test visibly."""


@cache
def _modules() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(TESTS.rglob("*.py"))}


def _called(node: ast.AST) -> set[str]:
    calls = (call.func for call in ast.walk(node) if isinstance(call, ast.Call))
    return {ast.unparse(function).rpartition(".")[2] for function in calls}


def _has_assert(node: ast.AST) -> bool:
    return any(isinstance(child, ast.Assert) for child in ast.walk(node))


@cache
def _helpers() -> frozenset[str]:
    """The names of functions that assert, themselves or through others, wherever the name is defined."""
    functions = [
        node for tree in _modules().values() for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
    ]
    calls = {function: _called(function) for function in functions}
    sure = {function for function in functions if _has_assert(function) or calls[function] & ASSERTING}
    while True:
        names = {function.name for function in sure} - {
            function.name for function in functions if function not in sure
        }
        more = {function for function in functions if function not in sure and calls[function] & names}
        if not more:
            return frozenset(names | ASSERTING)
        sure |= more


def _asserts(statements: list[ast.stmt]) -> bool:
    """Whether every way through these statements meets an assertion."""
    for statement in statements:
        match statement:
            case ast.Assert():
                return True
            case ast.FunctionDef() | ast.ClassDef():
                continue
            case ast.If(test, body, orelse):
                if _called(test) & _helpers() or (_asserts(body) and _asserts(orelse)):
                    return True
                if any(
                    isinstance(statement, ast.Continue | ast.Return) for statement in body
                ) and not _asserts(body):
                    return False
            case ast.For(_, head, body) | ast.While(head, body):
                if _called(head) & _helpers() or _asserts(body):
                    return True
            case ast.With(items, body):
                if any(_called(item) & _helpers() for item in items) or _asserts(body):
                    return True
            case ast.Try(body, handlers, _, final):
                caught = bool(handlers) and all(_asserts(handler.body) for handler in handlers)
                if _asserts(body) or _asserts(final) or caught:
                    return True
            case ast.Match(_, cases):
                if all(_asserts(case.body) for case in cases):
                    return True
            case ast.Return(None):
                return False
            case _:
                if _called(statement) & _helpers():
                    return True
    return False


@pytest.mark.slow
def test_every_test_can_fail() -> None:
    unable = [
        f"{path}:{node.lineno} {node.name}"
        for path, tree in _modules().items()
        if path.name.startswith("test_")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not _asserts(node.body)
    ]
    assert unable == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "fine"),
    [
        ("x = 1", False),
        ("assert x", True),
        ("for x in y:\n        if x: continue\n        assert x", False),
        ("for x in y:\n        if x: continue\n        assert x\n    assert n", True),
        ("if x: assert x", False),
        ("if not x: return\n    assert x", False),
        ("with pytest.raises(E): f()", True),
    ],
)
def test_the_check_itself(body: str, fine: bool) -> None:
    (function,) = ast.parse(f"def test():\n    {body}\n").body
    assert isinstance(function, ast.FunctionDef)
    assert _asserts(function.body) is fine

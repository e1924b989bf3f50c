"""Texts and syntax trees of the repository's own files, for tests of its rules. Each is read once."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache

from tests.support.commands import ROOT

PACKAGES = ("codeaudit", "audit", "transforms", "reports")


@cache
def texts(folder: str) -> Mapping[str, str]:
    """The text of every Python file below a folder at the top, by its path from there."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((ROOT / folder).rglob("*.py"))
    }


@cache
def trees(folder: str) -> Mapping[str, ast.Module]:
    """The syntax tree of each of them."""
    return {path: ast.parse(text) for path, text in texts(folder).items()}


def imported(tree: ast.Module) -> Iterator[str]:
    """The dotted names of the modules that a file imports; relative imports are left out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module

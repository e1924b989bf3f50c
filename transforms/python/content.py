"""What a Python text says apart from its layout, comments and docstrings. Corpora drop duplicates by it."""

import ast
import hashlib
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.parsing import parse

DOCUMENTED: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def content(source: str) -> str:
    """A hash of the syntax tree without docstrings; the text itself where it does not parse."""
    try:
        tree = parse(source)
        for node in ast.walk(tree):
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
                node.body = node.body[1:]
        return hashlib.sha256(ast.dump(tree).encode("utf-8", "surrogatepass")).hexdigest()
    except (SourceError, RecursionError):
        return source

"""Other words in docstrings. What is edited, and what is assumed, stands in `codeaudit.transforms.prose`."""

import ast
import tokenize
from collections.abc import Iterator
from typing import Final

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.patches import Site
from codeaudit.transforms.prose import EVERY, NO_WORDS, Edits, place
from codeaudit.transforms.python.layout.lexemes import docstring
from codeaudit.transforms.python.notes.rules import READ, is_read
from codeaudit.transforms.python.parsing import FunctionNode
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import PythonSource

IN_PARTS: Final = "docstring written in parts"


def _rule(name: str) -> PythonRule:
    edits, _ = EVERY[name]

    def find(code: PythonSource) -> Iterator[Site | Refused]:
        return _places(code, edits)

    return PythonRule(name, find, NO_WORDS, kind="prose", proof="words", nameless=True)


def _places(code: PythonSource, edits: Edits) -> Iterator[Site | Refused]:
    """The places of all docstrings of functions in a text."""
    names = frozenset(_names(code.tree))
    for node in code.nodes():
        text = docstring(node) if isinstance(node, FunctionNode) else None
        if text is None:
            continue
        if is_read(code):
            yield Refused(READ)
            continue
        start, end = code.start(text.value), code.end(text.value)
        inside = [token for token in code.significant if start <= token.start < end]
        if len(inside) != 1 or inside[0].type != tokenize.STRING:
            yield Refused(IN_PARTS)
            continue
        literal = code.source[start:end].decode()
        # The quotes, and a letter before them, are no words: each stands beside what is none.
        quotes = 3 if literal.endswith(('"""', "'''")) else 1
        opening = len(literal) - len(literal.lstrip("rRuU")) + quotes
        words = literal[opening : len(literal) - quotes]
        for options in filter(None, edits(words, names)):
            yield place(words, options, start + opening, code.line(text))


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name))
            ):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case _:
                pass


PROSE_CASE: Final = _rule("prose-case")
PROSE_SPACING: Final = _rule("prose-spacing")
PROSE_TYPOS: Final = _rule("prose-typos")
PROSE_PARAPHRASE: Final = _rule("prose-paraphrase")

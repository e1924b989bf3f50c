"""Every rule of this family on ordinary code: what must hold whatever is found."""

import ast
import io
import tokenize
from collections import Counter

import pytest

from codeaudit.transforms.interface import Rewritten
from codeaudit.transforms.python import layout
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.records import Perturbed
from codeaudit.transforms.registry import TRANSFORMS
from tests.support import stdlib
from tests.transforms.python.order.support import outcome

RULES = [name for name, entry in layout.FAMILY.transforms.items() if entry.kind == "preserving"]
RARE = {"split-statements"}
ENOUGH = 60
CHANGES_COMMENTS = {"insert-comments", "remove-comments"}
CHANGES_STRINGS = {"quotes", "split-strings", "join-strings"}


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", RULES)
def test_the_tree_is_equal_and_nothing_else_is_touched(name: str) -> None:
    """Rewrites functions, each alone and as a method. Stops when enough were rewritten to show a mistake."""
    rule = TRANSFORMS.get(name)
    assert isinstance(rule, PythonRule)
    applied = 0
    for source in filter(_compiles, stdlib.sample(140)):
        for text in (source, _as_method(source)):
            nothing = rule.apply(text, ())
            assert isinstance(nothing, Rewritten)
            assert nothing.source == text
            edit = outcome(rule, text)
            if not isinstance(edit, Perturbed):
                assert edit.reason not in ("result does not compile", "syntax tree would change"), text
                continue
            applied += 1
            assert edit.evidence == "compiled"
            assert ast.dump(ast.parse(edit.source)) == ast.dump(ast.parse(text))
            if name not in CHANGES_COMMENTS:
                assert _tokens(edit.source, tokenize.COMMENT) == _tokens(text, tokenize.COMMENT)
            if name not in CHANGES_STRINGS:
                assert _tokens(edit.source, tokenize.STRING) == _tokens(text, tokenize.STRING)
        if applied > ENOUGH:
            break
    assert applied or name in RARE


@pytest.mark.slow
def test_statements_that_were_joined_are_split_again() -> None:
    join, split = TRANSFORMS.get("join-statements"), TRANSFORMS.get("split-statements")
    assert isinstance(join, PythonRule)
    assert isinstance(split, PythonRule)
    again = 0
    for source in filter(_compiles, stdlib.sample(140)):
        joined = outcome(join, source)
        if isinstance(joined, Perturbed):
            parted = outcome(split, joined.source)
            assert isinstance(parted, Perturbed)
            assert ";" not in [token.string for token in _all(parted.source)]
            again += 1
    assert again > 30


def _compiles(source: str) -> bool:
    try:
        compile(source, "<source>", "exec")
    except SyntaxError:  # a nested function, taken out, may have a `nonlocal` of nothing
        return False
    return True


def _as_method(source: str) -> str:
    """The function as the driver of whole files shows a method: indented, without a last line break."""
    lines = source.rstrip("\n").split("\n")
    tree = ast.parse(source)
    inside = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr)
        for line in range(node.lineno, node.end_lineno or 0)
    }
    return "class _:\n" + "\n".join(
        line if number in inside or not line.strip() else f"    {line}" for number, line in enumerate(lines)
    )


def _tokens(source: str, kind: int) -> Counter[str]:
    return Counter(token.string for token in _all(source) if token.type == kind)


def _all(source: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(source, newline="").readline))

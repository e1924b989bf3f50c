"""Every rule of this family on ordinary code: what must hold whatever is found."""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

import pytest

from codeaudit.transforms.interface import Rewritten
from codeaudit.transforms.python import order
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.records import Perturbed
from codeaudit.transforms.registry import TRANSFORMS
from tests.support import stdlib
from tests.transforms.python.order.support import outcome

RULES = [name for name in order.FAMILY.transforms if isinstance(TRANSFORMS.get(name), PythonRule)]
MODULES = ("textwrap", "shlex", "configparser", "statistics", "calendar", "plistlib", "json/encoder", "uuid")
RARE = {"reorder-cases", "reorder-except", "reorder-branches", "reorder-globals"}
"""Rules that these texts may give nothing to."""


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", RULES)
def test_the_result_compiles_and_loses_nothing(name: str) -> None:
    rule = TRANSFORMS.get(name)
    assert isinstance(rule, PythonRule)
    applied = 0
    for source in filter(_compiles, [*stdlib.sample(100), *_modules()]):
        edit = outcome(rule, source)
        nothing = rule.apply(source, ())
        assert isinstance(nothing, Rewritten)
        assert nothing.source == source
        if isinstance(edit, Perturbed):
            applied += 1
            compile(ast.parse(edit.source), "<result>", "exec")
            assert _kept(edit.source) == _kept(source), edit.source
            assert outcome(rule, source) == edit
    assert applied or name in RARE


def _compiles(source: str) -> bool:
    try:
        compile(source, "<source>", "exec")
    except SyntaxError:  # a nested function, taken out, may have a `nonlocal` of nothing
        return False
    return True


def _modules() -> list[str]:
    root = Path(ast.__file__).parent
    return [(root / f"{name}.py").read_text(encoding="utf-8") for name in MODULES]


def _kept(source: str) -> Counter[str]:
    """The comments and string tokens of a text."""
    tokens = tokenize.generate_tokens(io.StringIO(source, newline="").readline)
    return Counter(token.string for token in tokens if token.type in (tokenize.COMMENT, tokenize.STRING))

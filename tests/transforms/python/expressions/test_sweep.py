"""Every rule of this family on ordinary code, and on random programs that are run before and after."""

import io
import tokenize
import warnings
from collections import Counter
from random import Random

import pytest

from codeaudit.transforms.interface import Rewritten
from codeaudit.transforms.python import expressions
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.records import Perturbed
from codeaudit.transforms.registry import TRANSFORMS
from tests.support import stdlib
from tests.support.branching import program
from tests.transforms.python.expressions.support import watched
from tests.transforms.python.order.support import outcome

RULES = [name for name, entry in expressions.FAMILY.transforms.items() if entry.kind == "preserving"]
RARE = {"merge-comparisons", "contract-augmented", "expand-augmented"}


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", RULES)
def test_ordinary_code_compiles_and_keeps_its_comments_and_texts(name: str) -> None:
    rule = _rule(name)
    applied = 0
    for source in filter(_compiles, stdlib.sample(200)):
        nothing = rule.apply(source, ())
        assert isinstance(nothing, Rewritten)
        assert nothing.source == source
        edit = outcome(rule, source)
        if not isinstance(edit, Perturbed):
            assert edit.reason != "result does not compile", source
            continue
        applied += 1
        assert edit.evidence == "analysis"
        assert _kept(edit.source) == _kept(source)
        assert edit.source.count("\n") == source.count("\n") or name == "merge-comparisons"
    assert applied > 1 or name in RARE


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", RULES)
def test_random_programs_do_the_same(name: str) -> None:
    rule = _rule(name)
    applied = 0
    for number in [*range(20), 199]:
        source = program(Random(number))
        edit = outcome(rule, source, seed=number)
        if isinstance(edit, Perturbed):
            applied += 1
            for seed in range(1, 4):
                assert watched(edit.source, seed) == watched(source, seed), edit.source
    assert applied > 4


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", [name for name in expressions.FAMILY.transforms if name not in RULES])
def test_controls_change_random_programs(name: str) -> None:
    control, changed, applied = _rule(name), 0, 0
    for number in range(24):
        source = program(Random(number))
        edit = outcome(control, source, seed=number)
        if isinstance(edit, Perturbed):
            applied += 1
            changed += any(watched(edit.source, seed) != watched(source, seed) for seed in range(1, 7))
    assert applied > 10
    assert changed > applied / 4


def _rule(name: str) -> PythonRule:
    rule = TRANSFORMS.get(name)
    assert isinstance(rule, PythonRule)
    return rule


def _compiles(source: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<source>", "exec")
    except SyntaxError:  # a nested function, taken out, may have a `nonlocal` of nothing
        return False
    return True


def _kept(source: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(source, newline="").readline)
    return Counter(token.string for token in tokens if token.type in (tokenize.COMMENT, tokenize.STRING))

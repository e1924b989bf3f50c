"""Every rule of this family on ordinary code, and on random programs that are run before and after."""

import io
import tokenize
import warnings
from collections import Counter
from random import Random

import pytest

from codeaudit.transforms.interface import Rewritten
from codeaudit.transforms.python import dead_code
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.records import Perturbed
from codeaudit.transforms.registry import TRANSFORMS
from tests.support import stdlib
from tests.support.branching import program
from tests.support.watched import behaviour
from tests.transforms.python.order.support import outcome

RULES = [name for name, entry in dead_code.FAMILY.transforms.items() if entry.kind == "preserving"]


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", RULES)
def test_ordinary_code_compiles_and_keeps_every_line(name: str) -> None:
    rule = TRANSFORMS.get(name)
    assert isinstance(rule, PythonRule)
    applied = 0
    for source in filter(_compiles, stdlib.sample(300)):
        nothing = rule.apply(source, ())
        assert isinstance(nothing, Rewritten)
        assert nothing.source == source
        edit = outcome(rule, source)
        if not isinstance(edit, Perturbed):
            assert edit.reason != "result does not compile", source
            continue
        applied += 1
        assert not Counter(source.split("\n")) - Counter(edit.source.split("\n"))
        assert _comments(edit.source) == _comments(source)
    assert applied > 50


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", RULES)
def test_random_programs_do_the_same(name: str) -> None:
    rule = TRANSFORMS.get(name)
    assert isinstance(rule, PythonRule)
    applied = 0
    for number in range(25):
        source = program(Random(number))
        edit = outcome(rule, source, seed=number)
        if isinstance(edit, Perturbed):
            applied += 1
            for seed in range(1, 4):
                assert _watched(edit.source, seed) == _watched(source, seed), edit.source
    assert applied > 15


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("name", [name for name in dead_code.FAMILY.transforms if name not in RULES])
def test_controls_change_random_programs(name: str) -> None:
    control = TRANSFORMS.get(name)
    assert isinstance(control, PythonRule)
    changed = applied = 0
    for number in range(24):
        source = program(Random(number))
        edit = outcome(control, source, seed=number)
        if isinstance(edit, Perturbed):
            applied += 1
            changed += any(_watched(edit.source, seed) != _watched(source, seed) for seed in range(1, 7))
    assert applied > 20
    assert changed > applied / 4


def _watched(source: str, seed: int) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return behaviour(source, seed)


def _compiles(source: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<source>", "exec")
    except SyntaxError:  # a nested function, taken out, may have a `nonlocal` of nothing
        return False
    return True


def _comments(source: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(source, newline="").readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)

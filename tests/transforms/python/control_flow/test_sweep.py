"""Every rule of this family on ordinary and on random code: what must hold whatever is found."""

import ast
import io
import re
import tokenize
import warnings
from collections import Counter
from random import Random

import pytest

from codeaudit.transforms.interface import Rewritten
from codeaudit.transforms.python import control_flow
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.records import Perturbed
from codeaudit.transforms.registry import TRANSFORMS
from tests.support import stdlib
from tests.support.branching import program
from tests.support.watched import behaviour
from tests.transforms.python.control_flow.normal import normal
from tests.transforms.python.order.support import outcome

PRESERVING = [name for name, entry in control_flow.FAMILY.transforms.items() if entry.kind == "preserving"]
CONTROLS = [name for name, entry in control_flow.FAMILY.transforms.items() if entry.kind == "control"]
REPEATING = {"unroll-while", "while-to-while-true"}
"""Rules that write something twice, its comments and texts too."""
AFTER = {
    "flatten-elif": "nest-elif",
    "merge-with": "split-with",
    "merge-try": "split-try",
    "merge-conditions": "split-conditions",
}
"""Rules for which there is little to do in ordinary code, unless another did its work first."""
WORDS = {
    "while-to-while-true": "while ",
    "unroll-while": "while ",
    "for-to-while": r"in range\(",
    "for-off-by-one": r"in range\(",
    "split-with": r"with .+, .+:\n",
    "merge-with": r"with .+, .+:\n",
    "split-try": r"except.*:[^@]*finally:",
    "merge-try": r"except.*:[^@]*finally:",
    "nest-elif": "elif ",
    "flatten-elif": "elif ",
    "split-conditions": " and ",
    "merge-conditions": " and ",
}
"""What is found in a function where there may be something to do; `else:` for the other rules."""
PROGRAMS, FUNCTIONS = 20, 60


def _rule(name: str) -> PythonRule:
    rule = TRANSFORMS.get(name)
    assert isinstance(rule, PythonRule)
    return rule


def _functions(name: str) -> list[str]:
    """Functions of the standard library with something to do for a rule."""
    word = WORDS.get(name, "else:")
    sources = [source for source in stdlib.functions() if re.search(word, source)]
    chosen = filter(_compiles, sources[:: max(1, len(sources) // FUNCTIONS)])
    return [_prepared(name, source) for source in chosen]


def _prepared(name: str, source: str) -> str:
    edit = outcome(_rule(AFTER[name]), source) if name in AFTER else None
    return edit.source if isinstance(edit, Perturbed) else source


def _compiles(source: str) -> bool:
    try:
        compile(source, "<source>", "exec")
    except SyntaxError:  # a nested function, taken out, may have a `nonlocal` of nothing
        return False
    return True


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", PRESERVING)
def test_the_normal_form_is_equal_and_nothing_is_lost(name: str) -> None:
    rule = _rule(name)
    applied = 0
    for source in _functions(name):
        nothing = rule.apply(source, ())
        assert isinstance(nothing, Rewritten)
        assert nothing.source == source
        edit = outcome(rule, source)
        if not isinstance(edit, Perturbed):
            assert edit.reason != "result does not compile", source
            continue
        applied += 1
        assert ast.dump(ast.parse(edit.source)) != ast.dump(ast.parse(source)) or name.endswith("elif")
        assert normal(edit.source, name) == normal(source, name), edit.source
        for kind in (tokenize.COMMENT, tokenize.STRING):
            before, after = _tokens(source, kind), _tokens(edit.source, kind)
            assert before == after or (name in REPEATING and not before - after), edit.source
    assert applied


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_leaves_valid_code_of_another_form(name: str) -> None:
    rule = _rule(name)
    twins = [other for other, entry in control_flow.FAMILY.transforms.items() if entry.twin == name]
    applied = 0
    for source in _functions(name)[::2]:
        edit = outcome(rule, source)
        if not isinstance(edit, Perturbed):
            assert edit.reason != "result does not compile", source
            continue
        applied += 1
        for twin in twins:
            assert normal(edit.source, twin) != normal(source, twin)
    assert applied


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", PRESERVING)
def test_random_programs_do_the_same_to_objects_that_log_everything(name: str) -> None:
    rule = _rule(name)
    applied = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(PROGRAMS):
            source = _prepared(name, program(Random(f"control flow {number}")))
            edit = outcome(rule, source, seed=number)
            if isinstance(edit, Perturbed):
                applied += 1
                for seed in range(3):
                    assert behaviour(edit.source, seed) == behaviour(source, seed), edit.source
    assert applied


@pytest.mark.slow
def test_all_rules_after_one_another() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(PROGRAMS // 2):
            rng = Random(f"all rules {number}")
            source = text = program(rng)
            for name in rng.sample(PRESERVING, len(PRESERVING)):
                edit = outcome(_rule(name), text, seed=number)
                if isinstance(edit, Perturbed):
                    text = edit.source
            for seed in range(3):
                assert behaviour(text, seed) == behaviour(source, seed), text


@pytest.mark.parametrize("name", PRESERVING)
def test_the_normal_form_sees_a_line_that_moves(name: str) -> None:
    source = "def f(a):\n    if a:\n        b()\n    c()\n"
    assert normal(source, name) != normal(source.replace("    c()", "        c()"), name)
    assert normal(source, name) != normal(source.replace("if a", "if not a"), name)


def _tokens(source: str, kind: int) -> Counter[str]:
    read = tokenize.generate_tokens(io.StringIO(source, newline="").readline)
    return Counter(token.string for token in read if token.type == kind)

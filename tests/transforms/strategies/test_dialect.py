"""What strategies ask of a language: all that Java answers, and nothing of one that answers nothing."""

from dataclasses import dataclass, field
from random import Random
from types import ModuleType

import pytest

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.dialect import DIALECT
from codeaudit.transforms.java.parsing import only_callable, read
from codeaudit.transforms.java.rewriting import JavaSource, Rewriting
from codeaudit.transforms.strategies import (
    assignments,
    branches,
    conditions,
    dead_code,
    declarations,
    layout,
    literals,
    logic,
    loops,
    operands,
    switches,
)
from codeaudit.transforms.strategies.dialect import CodeStrategy, CodeText, Dialect, TextRule, lacking
from codeaudit.transforms.syntax.flow import Flow
from codeaudit.transforms.syntax.reader import ParsedText
from codeaudit.transforms.syntax.scopes import Scopes, ScopeWalk, resolved
from codeaudit.transforms.syntax.text import Precedence

MODULES: tuple[ModuleType, ...] = (
    *(assignments, branches, conditions, dead_code, declarations, layout, literals, logic, loops, operands),
    switches,
)
STRATEGIES = [
    value for module in MODULES for value in vars(module).values() if isinstance(value, CodeStrategy)
]
KEEPING = [strategy for strategy in STRATEGIES if strategy.kind == "preserving"]

SILENT = Dialect(
    precedence=Precedence(
        operators=DIALECT.precedence.operators,
        expressions=DIALECT.precedence.expressions,
        primary=DIALECT.precedence.primary,
    ),
    flow=Flow(nested=frozenset(), varying=frozenset(), plain_labels=frozenset()),
)
"""The dialect of a language that answers nothing, with Java's grammar."""


class _SilentScopes(ScopeWalk):
    """Declares parameters and locals, and nothing else."""

    def visit_formal_parameter(self, node):  # type: ignore[no-untyped-def]
        self.declare(node.part("name"), "parameter", node)

    def visit_variable_declarator(self, node):  # type: ignore[no-untyped-def]
        self.visit_all(node.children[1:])
        self.declare(node.part("name"), "local", node)


def _scopes(source: str) -> Scopes:
    reading = read(source)
    return resolved(_SilentScopes, reading, only_callable(reading), "one")


@dataclass(frozen=True, slots=True, kw_only=True)
class _SilentRule(TextRule):
    languages: frozenset[str] = field(default=frozenset({"silent"}))

    def study(self, source: str) -> CodeText:
        return CodeText(_scopes(source), SILENT)

    def reread(self, text: str) -> ParsedText:
        return read(text)


METHOD = """\
int f(int a, int b) {
    boolean c = a < b && a != 3;
    if (!(a == b)) {
        a += b;
    } else {
        b = a + b;
    }
    while (a > 0) {
        a--;
    }
    return c ? a : b;
}
"""


def test_there_are_strategies() -> None:
    assert len(STRATEGIES) > 50
    assert len({strategy.name for strategy in STRATEGIES}) == len(STRATEGIES)


@pytest.mark.thinned(24)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
def test_java_leaves_nothing_open(strategy: CodeStrategy) -> None:
    assert lacking(strategy, JavaSource, DIALECT) == ()


@pytest.mark.thinned(18)
@pytest.mark.parametrize("strategy", KEEPING, ids=lambda strategy: strategy.name)
def test_a_strategy_that_lacks_a_fact_edits_nothing(strategy: CodeStrategy) -> None:
    """What a language does not answer forbids the edit: a strategy is refused, or needs no answer."""
    rule = _SilentRule.of(strategy)
    moves = rule.propose(METHOD, Random(0))
    if lacking(strategy, CodeText, SILENT):
        assert isinstance(moves, Refused), moves
    else:
        rewritten = moves if isinstance(moves, Refused) else rule.apply(METHOD, moves)
        assert isinstance(rewritten, Refused | Rewritten)


def test_a_language_without_answers_has_some_strategies() -> None:
    offered = {strategy.name for strategy in KEEPING if not lacking(strategy, CodeText, SILENT)}
    assert {"while-to-for", "insert-braces", "nest-elif", "indentation", "split-conditions"} <= offered
    assert not {"swap-operands", "de-morgan", "ternary-to-if", "switch-to-if", "dead-stores"} & offered


def test_a_rule_has_the_record_of_its_strategy() -> None:
    rule = Rewriting.of(loops.LOOP_LEFT_EARLY)
    assert (rule.name, rule.kind, rule.nothing) == ("loop-left-early", "control", "no loop")
    assert rule.languages == {"java"}

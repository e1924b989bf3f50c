"""Statements that do nothing."""

from random import Random

import pytest

from codeaudit.transforms.interface import Rewritten
from codeaudit.transforms.java.rules import ELSE_PASS, NO_OP_STATEMENTS, REDUNDANT_JUMPS, UNUSED_LOCALS
from codeaudit.transforms.javascript.rewriting import study
from codeaudit.transforms.strategies.dead_code import LEAVES, _with_value
from tests.transforms.java.support import everything, method, refused


def test_what_is_inserted_is_reached_and_follows_no_other_constructor() -> None:
    source = "C(int n) {\n    this();\n    a = n;\n}\n"
    for rule in (UNUSED_LOCALS, NO_OP_STATEMENTS):
        for seed in range(5):
            moves = rule.propose(source, Random(seed))
            assert isinstance(moves, tuple)
            rewritten = rule.apply(source, moves)
            assert isinstance(rewritten, Rewritten)
            assert rewritten.source.startswith("C(int n) {\n    this();\n")
    assert everything(ELSE_PASS, "if (p) { a++; }") == "if (p) { a++; } else { }"
    assert refused(ELSE_PASS, "if (p) { a++; } else b++;") == "if with else"
    loop = method("\n while (p) {\n return 1;\n }\n return 2;\n")
    refusal = REDUNDANT_JUMPS.propose(loop, Random(0))
    assert refusal == type(refusal)(LEAVES)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "inside",
    [
        "{\nMARK;\nlet e = null;\n}",
        "{\nlet e = null;\nMARK;\n}",
        "{\nMARK;\nlet { b, ...e } = {};\n}",
        "{\nMARK;\nconst [e] = [];\n}",
        "{\nMARK;\nclass e { }\n}",
        "for (let e of [null]) {\nMARK;\n}",
        "for (let e = null; ; ) {\nMARK;\n}",
        "try { } catch (e) {\nMARK;\n}",
        "try { } catch ({ e }) {\nMARK;\n}",
        "switch (1) {\ncase 1:\nMARK;\nbreak;\ndefault:\nlet e = null;\n}",
    ],
)
def test_a_new_statement_names_no_variable_that_another_one_hides(inside: str) -> None:
    code = study(f"function f() {{\nconst e = 'a';\n{inside}\nEND;\n}}", "javascript")
    for mark, expected in (("MARK;", []), ("END;", ["e"])):
        at = next(
            node for node in code.nodes if node.kind == "expression_statement" and code.text(node) == mark
        )
        assert [variable.name for variable, _ in _with_value(code, at)] == expected

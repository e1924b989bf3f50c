"""Statements of Java that do nothing."""

from random import Random

from codeaudit.transforms.interface import Rewritten
from codeaudit.transforms.java.rules import ELSE_PASS, NO_OP_STATEMENTS, REDUNDANT_JUMPS, UNUSED_LOCALS
from codeaudit.transforms.strategies.dead_code import LEAVES
from tests.transforms.java.support import everything, method, refused


def test_what_is_inserted_is_reached_and_follows_no_other_constructor() -> None:
    source = "C(int n) {\n    this();\n    a = n;\n}\n"
    for rule in (UNUSED_LOCALS, NO_OP_STATEMENTS):
        for seed in range(5):
            moves = rule.propose(source, Random(seed))
            assert isinstance(moves, tuple)
            found = rule.apply(source, moves)
            assert isinstance(found, Rewritten)
            assert found.source.startswith("C(int n) {\n    this();\n")
    assert everything(ELSE_PASS, "if (p) { a++; }") == "if (p) { a++; } else { }"
    assert refused(ELSE_PASS, "if (p) { a++; } else b++;") == "if with else"
    loop = method("\n while (p) {\n return 1;\n }\n return 2;\n")
    refusal = REDUNDANT_JUMPS.propose(loop, Random(0))
    assert refusal == type(refusal)(LEAVES)  # type: ignore[arg-type]

"""Random methods in drawn orders are compiled and run: they do what they did."""

import shutil
from pathlib import Path
from random import Random

import pytest

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.order.reorder import REORDER, REORDER_BREAKING, REORDER_NAMES_ONLY, JavaReorder
from tests.support.java_fuzzing import Writer, outcomes

PROGRAMS = 150
DRAWS = 2


def variants(source: str, transform: object, draws: int) -> set[str]:
    """Texts of several draws."""
    found = set()
    for seed in range(draws):
        moves = transform.propose(source, Random(seed))  # type: ignore[attr-defined]
        if isinstance(moves, Refused):
            break
        result = transform.apply(source, moves)  # type: ignore[attr-defined]
        assert isinstance(result, Rewritten), result
        found.add(result.source)
    return found - {source}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="no Java")
def test_every_drawn_order_does_what_the_method_did(tmp_path: Path) -> None:
    methods: dict[str, str] = {}
    origin: dict[str, tuple[str, str]] = {}
    plan: tuple[tuple[str, JavaReorder | object, int], ...] = (
        ("full", REORDER, DRAWS), ("names", REORDER_NAMES_ONLY, 1), ("breaking", REORDER_BREAKING, 1),
    )  # fmt: skip
    for number in range(PROGRAMS):
        source = Writer(Random(f"order {number}")).method()
        methods[f"P{number}"] = source
        for kind, transform, draws in plan:
            for place, text in enumerate(sorted(variants(source, transform, draws))):
                name = f"P{number}{kind}{place}"
                methods[name] = text
                origin[name] = (kind, f"P{number}")
    told = outcomes(methods, tmp_path)
    counts: dict[tuple[str, bool], int] = {}
    for name, (kind, before) in origin.items():
        same = told[name] == told[before]
        assert same or kind != "full", f"{methods[before]}\n\n{methods[name]}\n{told[before]}\n{told[name]}"
        counts[kind, same] = counts.get((kind, same), 0) + 1
    assert counts["full", True] > 1.5 * PROGRAMS
    assert counts["names", False] > 0.3 * PROGRAMS, "the oracle would not notice"
    assert counts["breaking", False] > 0.15 * PROGRAMS
    raised = sum("Exception:" in told[f"P{number}"] for number in range(PROGRAMS))
    assert 0.3 * PROGRAMS < raised < PROGRAMS

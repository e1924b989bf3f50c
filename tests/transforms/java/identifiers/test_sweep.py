"""Real methods: every proposal is proven, and few variables have to keep their names."""

import gzip
import json
from random import Random

import pytest

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.analysis.scopes import resolve
from codeaudit.transforms.java.identifiers.merging import RENAME_MERGING
from codeaudit.transforms.java.identifiers.rename import (
    RENAME,
    RENAME_CANONICAL,
    RENAME_MISLEADING,
    RENAME_PARAMETERS,
    RENAME_RANDOM,
    RENAME_SHUFFLE,
)
from codeaudit.transforms.java.witnesses import confirms
from tests.support.data import data_set

EVERY = {"java_methods": 12, "defects4j_methods": 4}
LOCALS = {"local", "lambda", "loop", "catch", "resource", "pattern", "label"}


def methods(name: str, every: int) -> list[str]:
    with gzip.open(data_set(f"{name}.jsonl.gz"), "rt", encoding="utf-8") as lines:
        return [json.loads(line)["source"] for number, line in enumerate(lines) if number % every == 0]


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.slow
def test_what_is_proposed_is_proven(name: str) -> None:
    with_local = renamed = 0
    for source in methods(name, EVERY[name]):
        has_local = any(binding.view in LOCALS for binding in resolve(source).bindings)
        with_local += has_local
        for transform in (RENAME, RENAME_PARAMETERS):
            moves = transform.propose(source, Random(0))
            if isinstance(moves, Refused):
                continue
            found = transform.apply(source, moves)
            assert isinstance(found, Rewritten), (found, source)
            assert found.source != source
            renamed += transform is RENAME
    assert with_local > 400
    assert renamed / with_local > 0.95


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.slow
def test_subsets_and_other_strategies_are_proven_or_collide(name: str) -> None:
    rng = Random(3)
    met = set()
    for source in methods(name, EVERY[name] * 10):
        for transform in (RENAME_RANDOM, RENAME_SHUFFLE, RENAME_MISLEADING, RENAME_CANONICAL, RENAME_MERGING):
            moves = transform.propose(source, rng)
            if isinstance(moves, Refused):
                continue
            met.add(transform.name)
            whole = transform.apply(source, moves)
            assert isinstance(whole, Rewritten), (transform.name, whole, source)
            some = tuple(move for move in moves if rng.random() < 0.5)
            part = transform.apply(source, some)
            assert isinstance(part, Rewritten) or part.reason == "name collision", (part, source)
    assert len(met) == 5


def test_a_second_reader_sees_the_same_tree() -> None:
    confirmed = 0
    for source in methods("java_methods", 300):
        moves = RENAME_PARAMETERS.propose(source, Random(1))
        if isinstance(moves, Refused):
            continue
        found = RENAME_PARAMETERS.apply(source, moves)
        assert isinstance(found, Rewritten)
        renames = {(move.note.partition(" -> ")[0], str(move.value)) for move in moves}
        assert confirms(source, found.source, renames) is True, source
        confirmed += 1
    assert confirmed > 150

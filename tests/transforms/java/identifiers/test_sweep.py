"""Real methods: every proposal is proven, and few variables have to keep their names."""

import gzip
import json
from collections import Counter
from random import Random

import pytest

from codeaudit.transforms.errors import SourceError
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
    JavaVariables,
)
from codeaudit.transforms.java.witnesses import confirms
from codeaudit.transforms.syntax.scopes import renamed
from tests.support.data import data_set

EVERY = {"java_methods": 30, "defects4j_methods": 9}
NAMES = ("fresh", "var", "record", "yield", "when", "sealed", "int", "this", "_", "q1", " v", "a.b", "/**/v")
LOCALS = {"local", "lambda", "loop", "catch", "resource", "pattern", "label"}


def methods(name: str, every: int) -> list[str]:
    with gzip.open(data_set(f"{name}.jsonl.gz"), "rt", encoding="utf-8") as lines:
        return [json.loads(line)["source"] for number, line in enumerate(lines) if number % every == 0]


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.weekly
def test_what_is_proposed_is_proven(name: str) -> None:
    with_local = changed = 0
    for source in methods(name, EVERY[name]):
        has_local = any(binding.view in LOCALS for binding in resolve(source).bindings)
        with_local += has_local
        for transform in (RENAME, RENAME_PARAMETERS):
            moves = transform.propose(source, Random(0))
            if isinstance(moves, Refused):
                continue
            rewritten = transform.apply(source, moves)
            assert isinstance(rewritten, Rewritten), (rewritten, source)
            assert rewritten.source != source
            changed += transform is RENAME
    assert with_local > 150
    assert changed / with_local > 0.95


@pytest.mark.parametrize(
    "every", [pytest.param(400), pytest.param(160, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_the_short_proof_holds_only_where_the_long_one_does(every: int) -> None:
    """Any variables get any names, those that collide, capture or mean something else included."""
    rng = Random(1)
    met: Counter[tuple[bool, bool]] = Counter()
    for source in methods("java_methods", every):
        known = JavaVariables(source)
        bindings = [binding for binding in known.bindings if binding.occurrences]
        for _ in range(4 if bindings else 0):
            some = rng.sample(bindings, min(len(bindings), rng.randrange(1, 3)))
            pool = [binding.name for binding in bindings] + list(NAMES) + sorted(known.words)[:20]
            names = {binding.number: rng.choice(pool) for binding in some}
            text = known.rewritten(names)
            try:
                long = renamed(known.scopes, resolve.__wrapped__(text), names)
            except SourceError:
                long = False
            short = known.proves_briefly(text, names)
            assert long or not short, (text, names)
            met[long, short] += 1
    assert met[True, True] > 30
    assert met[False, False] > 30
    assert met[True, False] < met[True, True] / 50


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


@pytest.mark.slow
def test_a_second_reader_sees_the_same_tree() -> None:
    confirmed = 0
    for source in methods("java_methods", 300):
        moves = RENAME_PARAMETERS.propose(source, Random(1))
        if isinstance(moves, Refused):
            continue
        rewritten = RENAME_PARAMETERS.apply(source, moves)
        assert isinstance(rewritten, Rewritten)
        renames = {(move.note.partition(" -> ")[0], str(move.value)) for move in moves}
        assert confirms(source, rewritten.source, renames) is True, source
        confirmed += 1
    assert confirmed > 150

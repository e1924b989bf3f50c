"""Pairs of expressions as terms: views, referents, and what a renaming may not change."""

from collections import Counter
from random import Random

import pytest

from codeaudit.audit.papers.renamer.tasks import PAIRS
from codeaudit.audit.papers.renamer.tasks import pair_renamings as choices
from codeaudit.audit.papers.renamer.tasks import pair_terms as terms
from codeaudit.audit.papers.renamer.tasks import pair_words as words
from codeaudit.audit.papers.renamer.terms import (
    START,
    Reading,
    TermReader,
    partition,
    renamed,
    spelled,
    tokenizer_of,
)
from codeaudit.transforms.algebra.expressions import COEFFICIENTS
from codeaudit.transforms.algebra.generate import MOST_TOKENS
from codeaudit.transforms.algebra.rename import RENAME
from codeaudit.transforms.algebra.views import encode, equivalent, movable
from codeaudit.transforms.algebra.views import renamed as rewritten
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Rewritten
from tests.support.pairs import WINDOW, renamings, sources
from tests.transforms.algebra.support import PAIR, some

READINGS: tuple[Reading, ...] = ("views", "names", "first use")


def test_the_words_of_a_pair_in_each_reading() -> None:
    pair = terms("mul a1 sin mul y x =? a1")
    asked = ["sin", "mul"]
    assert spelled(pair, "views") == [START, "mul", "coefficient", *asked, "input", "x", "=?", "coefficient"]
    assert spelled(pair, "names") == [
        START, "mul", "coefficient a1", *asked, "input y", "x", "=?", "coefficient a1",
    ]  # fmt: skip
    assert spelled(pair, "first use") == [
        START, "mul", "coefficient #0", *asked, "input #0", "x", "=?", "coefficient #0",
    ]  # fmt: skip


def test_views_and_referents_are_those_of_the_language() -> None:
    """Against the encoding that the transforms are tested with: equal partitions, and as fine."""
    for source in sources(100):
        pair, encoded = terms(source)[1:], encode(source)
        assert len(set(zip(spelled(pair, "views"), encoded.views, strict=True))) == len(set(encoded.views))
        assert len(set(zip(partition(pair), encoded.referents, strict=True))) == len(set(encoded.referents))


@pytest.mark.slow
def test_every_legal_renaming_reads_alike_and_a_merging_does_not() -> None:
    moved = 0
    for source in sources(300):
        first = terms(source)
        for text in renamings(source, 3):
            other = terms(text)
            assert spelled(other, "views") == spelled(first, "views")
            assert spelled(other, "first use") == spelled(first, "first use")
            assert partition(other) == partition(first)
            moved += spelled(other, "names") != spelled(first, "names")
        used = [name for name in movable(source) if name in COEFFICIENTS]
        if len(used) > 1:
            merged = terms(rewritten(source, {used[0]: used[1]}))
            assert partition(merged) != partition(first)
            assert spelled(merged, "first use") != spelled(first, "first use")
    assert moved > 1000


def test_terms_are_renamed_as_the_text_is() -> None:
    for source in sources(100):
        for seed in range(3):
            drawn = choices(source).draw(Random(seed))
            text = rewritten(source, drawn)
            assert tuple(renamed(terms(source), drawn)) == terms(text)
            assert equivalent(source, text)


def test_every_renaming_is_drawn_and_equally_often() -> None:
    drawn = Counter(tuple(choices(PAIR).draw(Random(seed)).items()) for seed in range(1200))
    assert len(drawn) == 3 * 2
    assert all(abs(count - 200) < 60 for count in drawn.values()), drawn
    assert not any("a3" in dict(move).values() for move in drawn), "no model need know it"


def test_what_is_drawn_is_what_the_transform_may_write() -> None:
    extended = next(
        pair.source for pair in some("extended", 100) if "y" not in pair.source and "z" not in pair.source
    )
    for source, count in ((PAIR, 6), (extended, 24)):
        drawn = set(renamings(source, 400))
        assert len(drawn) == count
        moves = [RENAME.propose(source, Random(seed)) for seed in range(400)]
        outcomes = [RENAME.apply(source, move) for move in moves if isinstance(move, tuple)]
        assert {outcome.source for outcome in outcomes if isinstance(outcome, Rewritten)} == drawn - {source}


@pytest.mark.slow
@pytest.mark.parametrize("reading", READINGS)
def test_the_vocabulary_has_the_extra_coefficient_and_every_token(reading: Reading) -> None:
    known = set(words(reading))
    for source in sources(300):
        assert set(spelled(terms(source), reading)) <= {*known, START}


def test_every_generated_pair_fits_the_window() -> None:
    assert 2 * MOST_TOKENS + 2 <= WINDOW
    reader = TermReader(tokenizer_of(words("views")), "views", window=WINDOW)
    for pair in some("extended", 300):
        reader.read(terms(pair.source))
        assert len(terms(pair.source)) <= WINDOW


def test_what_is_no_pair_is_told() -> None:
    with pytest.raises(SourceError):
        terms("mul a0")
    assert PAIRS.divider in PAIR.split()

"""Programs that differ in one observable never agree, and equal programs are never reported as different."""

from collections.abc import Iterator
from random import Random

import pytest

from codeaudit.transforms.oracle.oracle import Agreed, Differed, Oracle
from tests.support.observables import INPUTS, KINDS, different, same


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle() as judge:
        yield judge


def agreed_wrongly(oracle: Oracle, kind: str, numbers: range) -> list[str]:
    pairs = [different(Random(f"different {number}"), kind) for number in numbers]
    return [
        f"{pair.before}──\n{pair.after}"
        for pair in pairs
        if isinstance(oracle.judge(pair.before, pair.after, function="f", inputs=INPUTS), Agreed)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_programs_that_differ_do_not_agree(oracle: Oracle, kind: str) -> None:
    assert agreed_wrongly(oracle, kind, range(1)) == []


@pytest.mark.thinned(1)
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_programs_that_differ_do_not_agree(oracle: Oracle, kind: str) -> None:
    assert agreed_wrongly(oracle, kind, range(1, 6)) == []


@pytest.mark.slow
def test_equal_programs_mostly_agree_and_never_differ(oracle: Oracle) -> None:
    kinds = list(KINDS)
    pairs = [same(Random(f"same {number}"), kinds[number % len(kinds)]) for number in range(2 * len(kinds))]
    verdicts = [oracle.judge(pair.before, pair.after, function="f", inputs=INPUTS) for pair in pairs]
    assert [verdict for verdict in verdicts if isinstance(verdict, Differed)] == []
    assert sum(isinstance(verdict, Agreed) for verdict in verdicts) > 0.75 * len(verdicts)

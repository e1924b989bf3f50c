"""Whatever is in a file that a command reads: no traceback, a documented exit code, and the file is named."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture
def benchmark(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("mutated_inputs")


QUICK = ("python", "table-csv", "verdicts")


@pytest.mark.slow
def test_mutants_of_some_readers(benchmark: ModuleType) -> None:
    readers = [reader for reader in benchmark.READERS if reader.name in QUICK]
    assert check(benchmark, readers, range(-1, 1)) > 0.4


@pytest.mark.weekly
def test_the_seed_of_every_reader_is_valid(benchmark: ModuleType) -> None:
    assert check(benchmark, benchmark.READERS, range(benchmark.SEED, benchmark.SEED + 1)) == 1


@pytest.mark.weekly
def test_many_mutants_of_every_reader(benchmark: ModuleType) -> None:
    assert check(benchmark, benchmark.READERS, range(1000, 1005)) > 0.5


def check(benchmark: ModuleType, readers: Sequence[Any], mutants: range) -> float:
    """The share of the mutants that survives the first parse; none of them may be wrong."""
    results = [result for result, _ in benchmark.campaign(readers, mutants, set())]
    assert [mutant for mutant in results if mutant.wrong] == []
    assert len(results) == len(mutants) * len(readers)
    return float(sum(mutant.parsed for mutant in results) / len(results))


def test_an_error_without_the_name_of_the_file_is_found(benchmark: ModuleType) -> None:
    assert benchmark.judged(3, "codeaudit: 'a.csv' is damaged", "", ["a.csv"]) == ""
    assert benchmark.judged(3, "codeaudit: it is damaged", "", ["a.csv"]) == "the file is not named"
    assert benchmark.judged(3, "codeaudit: unexpected error: a.csv", "unexpected error", ["a.csv"]) != ""
    assert benchmark.judged(4, "", "", []) == "exit code 4"
    assert benchmark.judged(1, "Traceback", "Traceback (most recent call last)", []) == "traceback"
    assert benchmark.judged(1, "", "", []) == ""

"""Logs of steps: whole, in order, and continued by a resumed training."""

import csv
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import SpreadCorpus
from codeaudit.audit.training.logs import COLUMNS, TABLE, log_kinds, logged
from codeaudit.audit.training.trainer import Interrupted, train
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.records import Origin, Sample
from tests.audit.training.learners import small


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / TABLE).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_resumed_training_goes_on_with_its_table(tmp_path: Path) -> None:
    def run(folder: Path, *, after: int = -1) -> None:
        folder.mkdir(exist_ok=True)
        learner = small("terms", tmp_path)
        with logged(["csv"], folder, learner) as log:
            seen = 0

            def stop() -> bool:
                nonlocal seen
                seen += 1
                return seen == after

            train(learner, folder=folder, monitor=log, stop=stop)

    run(tmp_path / "whole")
    with pytest.raises(Interrupted):
        run(tmp_path / "broken", after=3)
    # As after a crash: two more steps were logged than the saved state has.
    path = tmp_path / "broken" / TABLE
    last = path.read_text(encoding="utf-8").splitlines()[-1].split(",")
    with path.open("a", encoding="utf-8") as file:
        file.writelines(",".join([str(step), *last[1:]]) + "\n" for step in (4, 5))
        file.write("6,half a ro")
    run(tmp_path / "broken")
    whole, broken = rows(tmp_path / "whole"), rows(tmp_path / "broken")
    assert tuple(whole[0]) == COLUMNS
    timed = {"seconds", "tokens_per_second", "share_of_peak"}
    plain = [[{k: v for k, v in row.items() if k not in timed} for row in found] for found in (whole, broken)]
    assert plain[0] == plain[1]
    assert [int(row["step"]) for row in whole] == [1, 2, 3, 4, 5, 6]
    assert float(whole[-1]["valid"]) > 0
    assert all(float(row["tokens_per_second"]) > 0 for row in whole[1:])
    assert all(0 < float(row["share_of_peak"]) < 2 for row in whole[1:])


@pytest.mark.parametrize(
    ("given", "message"),
    [("nothing", "unknown log 'nothing'; known: csv, tensorboard, wandb"), ("csv,", "unknown log ''")],
)
def test_unknown_logs_are_usage_errors(given: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        log_kinds(given)


@pytest.mark.parametrize("kind", ["tensorboard", "wandb"])
def test_a_missing_package_is_named(kind: str) -> None:
    if find_spec(kind) is not None:
        assert log_kinds(f"csv,{kind}") == ("csv", kind)
        return
    with pytest.raises(UsageError, match=rf"--log {kind} needs a package: pip install 'codeaudit\[{kind}\]'"):
        log_kinds(f"csv,{kind}")


class Numbers:
    spec = "numbers"

    def __init__(self, ids: list[int]) -> None:
        self.ids = ids

    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        for number in self.ids:
            yield Sample(
                id=f"{number:04}", language="python", source="", label=None, origin=Origin(path="a", line=1)
            )


def test_a_limit_is_spread_and_does_not_depend_on_the_order() -> None:
    def chosen(ids: list[int], count: int) -> list[int]:
        return [int(one.id) for one in SpreadCorpus(Numbers(ids), count).read(Counter())]

    some = chosen(list(range(1000)), 100)
    assert len(some) == 100
    assert some == sorted(some)
    assert all(any(first <= one < first + 250 for one in some) for first in range(0, 1000, 250))
    assert chosen(list(range(999, -1, -1)), 100) == some[::-1]
    assert set(chosen(list(range(1000)), 50)) < set(some)
    assert chosen([3, 1], 5) == [3, 1]

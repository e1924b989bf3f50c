"""Logs of steps: whole, in order, and continued by a resumed training."""

import csv
import json
import os
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
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


def run(folder: Path, kinds: Sequence[str], *, after: int = -1) -> None:
    """Train with these logs, or until the step `after`."""
    folder.mkdir(exist_ok=True)
    learner = small("terms", folder.parent)
    with logged(kinds, folder, learner) as log:
        seen = 0

        def stop() -> bool:
            nonlocal seen
            seen += 1
            return seen == after

        train(learner, folder=folder, monitor=log, stop=stop)


@pytest.mark.slow
def test_a_resumed_training_goes_on_with_its_table(tmp_path: Path) -> None:
    run(tmp_path / "whole", ["csv"])
    with pytest.raises(Interrupted):
        run(tmp_path / "broken", ["csv"], after=3)
    # As after a crash: two more steps were logged than the saved state has.
    path = tmp_path / "broken" / TABLE
    last = path.read_text(encoding="utf-8").splitlines()[-1].split(",")
    with path.open("a", encoding="utf-8") as file:
        file.writelines(",".join([str(step), *last[1:]]) + "\n" for step in (4, 5))
        file.write("6,half a ro")
    run(tmp_path / "broken", ["csv"])
    whole, broken = rows(tmp_path / "whole"), rows(tmp_path / "broken")
    assert tuple(whole[0]) == COLUMNS
    timed = {"seconds", "tokens_per_second", "share_of_peak"}
    plain = [[{k: v for k, v in row.items() if k not in timed} for row in table] for table in (whole, broken)]
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
    with pytest.raises(
        UsageError, match=rf'--log {kind} needs a package: pip install "codeaudit-ml\[{kind}\]"'
    ):
        log_kinds(f"csv,{kind}")


def told(folder: Path, column: str) -> dict[int, float]:
    """A column of the table by step."""
    return {int(row["step"]): float(row[column]) for row in rows(folder) if row[column]}


@pytest.mark.slow
def test_tensorboard_reads_the_numbers_of_the_table(tmp_path: Path) -> None:
    """With the program's own reader, after an interruption."""
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with pytest.raises(Interrupted):
        run(tmp_path / "made", ["csv", "tensorboard"], after=3)
    run(tmp_path / "made", ["csv", "tensorboard"])
    board = events.EventAccumulator(str(tmp_path / "made" / "tensorboard"))
    board.Reload()
    assert set(board.Tags()["scalars"]) == {*COLUMNS} - {"step"}
    for column in ("loss", "rate", "tokens", "valid"):
        shown = {event.step: event.value for event in board.Scalars(column)}
        assert shown == pytest.approx(told(tmp_path / "made", column), rel=1e-6)


def records(log: bytes) -> Iterator[bytes]:
    """The records of a log of LevelDB, which wandb writes, behind its header of seven bytes."""
    place, parts = 7, b""
    while place + 7 <= len(log):
        # A record of seven bytes of header never crosses the end of a block.
        if (left := 32768 - place % 32768) < 7:
            place += left
            continue
        size, kind = struct.unpack_from("<HB", log, place + 4)
        parts += log[place + 7 : place + 7 + size]
        place += 7 + size
        # 1: a whole record; 2, 3, 4: its first, a middle and its last part.
        if kind in (1, 4):
            yield parts
            parts = b""


@pytest.fixture
def wandb(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    """The package without the user's settings, which it keeps for a process."""
    package = pytest.importorskip("wandb")
    for name in [name for name in os.environ if name.startswith("WANDB_")] + ["NETRC"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("WANDB_SILENT", "true")
    yield monkeypatch
    package.teardown()


@pytest.mark.slow
def test_wandb_keeps_the_numbers_of_the_table(tmp_path: Path, wandb: pytest.MonkeyPatch) -> None:
    """Without its server: what would be sent is in a file."""
    # Made at run time, so type checkers do not see what is in it.
    proto = import_module("wandb.proto.wandb_internal_pb2")
    wandb.setenv("WANDB_MODE", "offline")
    run(tmp_path / "made", ["csv", "wandb"])
    (path,) = (tmp_path / "made" / "wandb").glob("offline-run-*/run-made.wandb")
    history = []
    for data in records(path.read_bytes()):
        record = proto.Record()
        record.ParseFromString(data)
        if record.WhichOneof("record_type") == "history":
            items = record.history.item
            history.append(
                {(entry.key or entry.nested_key[0]): json.loads(entry.value_json) for entry in items}
            )
    assert {row["step"]: row["loss"] for row in history} == pytest.approx(told(tmp_path / "made", "loss"))
    assert [row["_step"] for row in history] == [row["step"] for row in history] == [1, 2, 3, 4, 5, 6]


@pytest.mark.slow
@pytest.mark.usefixtures("wandb")
def test_wandb_without_a_login_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^--log wandb: .*wandb login.*; or .*WANDB_MODE=offline$"):
        run(tmp_path / "made", ["wandb"])


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
        return [int(sample.id) for sample in SpreadCorpus(Numbers(ids), count).read(Counter())]

    some = chosen(list(range(1000)), 100)
    assert len(some) == 100
    assert some == sorted(some)
    assert all(any(first <= number < first + 250 for number in some) for first in range(0, 1000, 250))
    assert chosen(list(range(999, -1, -1)), 100) == some[::-1]
    assert set(chosen(list(range(1000)), 50)) < set(some)
    assert chosen([3, 1], 5) == [3, 1]


def test_a_limit_keeps_groups_together() -> None:
    class Pairs(Numbers):
        def read(self, skipped: Counter[str]) -> Iterator[Sample]:
            for sample in super().read(skipped):
                yield replace(sample, group=str(int(sample.id) % 500))

    kept = Counter(sample.group for sample in SpreadCorpus(Pairs(list(range(1000))), 100).read(Counter()))
    assert set(kept.values()) == {2}
    assert len(kept) == 50

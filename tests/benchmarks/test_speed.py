"""The ratios of speed: what is timed, and when the command fails."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(name="benchmark")
def _benchmark(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("speed")


def test_a_ratio_that_rises_by_more_than_a_tenth_fails(
    benchmark: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def group(stack: ExitStack) -> Iterator[object]:
        yield benchmark.Pair("three / two", lambda: 3.0, lambda: 2.0)

    monkeypatch.setattr(benchmark, "GROUPS", {"all": group})
    monkeypatch.setattr(benchmark, "STORED", tmp_path / "speed.json")
    monkeypatch.setattr(sys, "argv", ["speed.py", "all"])
    assert benchmark.main() == 0, "nothing is stored"
    monkeypatch.setattr(sys, "argv", ["speed.py", "all", "--write"])
    assert benchmark.main() == 0
    assert json.loads((tmp_path / "speed.json").read_text()) == {"three / two": 1.5}
    for stored, code in ((1.4, 0), (1.3, 1)):
        (tmp_path / "speed.json").write_text(json.dumps({"three / two": stored}))
        monkeypatch.setattr(sys, "argv", ["speed.py", "all"])
        assert benchmark.main() == code
    assert "risen by more than 10%: three / two" in capsys.readouterr().err


@pytest.mark.weekly
def test_names_are_changed_by_ours_and_by_libcst(benchmark: ModuleType) -> None:
    pytest.importorskip("libcst")
    with ExitStack() as stack:
        pair = next(benchmark.renames(stack))
        assert benchmark.ratio(pair._replace(rounds=1)) > 0


@pytest.mark.weekly
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_rope_changes_a_name_in_each_file_that_it_can_read(benchmark: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("rope")
    read = [name for name in benchmark.FILES if benchmark._rope_reads(name)]
    assert read
    benchmark._by_rope(benchmark._project(tmp_path / "readable", read))

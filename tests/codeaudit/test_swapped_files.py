"""Somebody exchanges files of a signed run while it is read: no reader takes a number from what was not signed."""

import builtins
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from codeaudit.audit.store import MANIFEST, SUITE, SUMMARY, VERDICTS
from codeaudit.cli.main import main
from tests.support.forgery import Row, edit_json, edit_rows, rebind

KEY = b"a secret of more than sixteen bytes"
GATE = ["--max-violation-rate", "10%", "--sign-key", "key"]
READERS = {
    "gate": ["gate", "run", *GATE],
    "gate against a baseline": ["gate", "run", "--baseline", "run", *GATE],
    "report": ["report", "run", "--format", "json"],
    "page": ["report", "run", "--html", "page.html", "--junit", "junit.xml"],
    "baseline": ["report", "run", "--baseline", "kept.parquet", "--sign-key", "key"],
    "compare": ["compare", "run", "length", "--format", "json"],
    "explain": ["explain", "run", "--format", "json"],
    "view": ["view", "run", "--no-browser"],
    "merge": ["merge", "shard", "--out", "whole", "--sign-key", "key"],
}


def held(rows: Iterator[Row]) -> Iterator[Row]:
    """Rows of a better model."""
    for row in rows:
        yield (
            {**row, "outcome": "held", "after": row["before"], "deviation": 0.0}
            if row["outcome"] == "violated"
            else row
        )


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Signed runs, and beside each a copy with other verdicts whose hashes fit."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "key").write_bytes(KEY)
    source = (
        "def total(values, start):\n    result = start\n    count = 0\n    return result, count, values\n"
    )
    (folder / "f.py").write_text(
        "\n\n".join(source.replace("total", f"total{number}") for number in range(4)), "utf-8"
    )
    words = ["run", "--corpus", str(folder / "f.py"), "--transform", "rename", "--variants", "1"]
    words += ["--workers", "1", "--sign-key", str(folder / "key"), "--model"]
    for name, model, more in (
        ("run", "fake/hash", []),
        ("length", "fake/length", []),
        ("shard", "fake/hash", ["--shard", "1/1"]),
    ):
        assert main([*words, model, *more, "--out", str(folder / name)]) == 0
    for name in ("run", "shard"):
        other = folder / f"{name}-other"
        shutil.copytree(folder / name, other)
        edit_rows(other / VERDICTS, held)  # type: ignore[arg-type]
        summary = json.loads((other / SUMMARY).read_text("utf-8"))
        summary["models"][0]["violations"]["count"] = 0
        edit_json(other / SUMMARY, models=summary["models"])
        rebind(other)
    return folder


class Swap:
    """Exchanges files of a run just before one is opened for the `number`th time, as another process may."""

    def __init__(self, folder: Path, names: Sequence[str], number: int) -> None:
        self.places, self.number, self.opened = [folder / name for name in names], number, 0

    def __call__(self, path: object) -> None:
        if isinstance(path, str | os.PathLike) and Path(os.path.realpath(os.fspath(path))) in self.places:
            self.opened += 1
            if self.opened == self.number:
                for place in self.places:
                    other = place.parent.with_name(f"{place.parent.name}-other") / place.name
                    shutil.copy(other, f"{place}.new")
                    os.replace(f"{place}.new", place)


def watch(swap: Swap, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it see each file that is opened, by Python or by Arrow."""
    import pyarrow.parquet

    def seen(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: object, *args: Any, **settings: Any) -> Any:
            swap(path)
            return function(path, *args, **settings)

        return call

    for module, name in ((io, "open"), (builtins, "open"), (pyarrow.parquet, "read_schema")):
        monkeypatch.setattr(module, name, seen(getattr(module, name)))
    plain = pyarrow.parquet.ParquetFile

    class Seen(plain):  # type: ignore[misc, valid-type]
        def __init__(self, path: object, **settings: Any) -> None:
            swap(path)
            super().__init__(path, **settings)

    monkeypatch.setattr(pyarrow.parquet, "ParquetFile", Seen)


def told(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, dict[str, bytes]]:
    """What a command does: its exit code, its output, and the files that it writes."""
    capsys.readouterr()
    code = main(words)
    written = {
        str(path): path.read_bytes()
        for name in ("page.html", "junit.xml", "kept.parquet", "whole/summary.json")
        if (path := Path(name)).exists()
    }
    return code, capsys.readouterr().out, written


NAMES = (MANIFEST, SUITE, VERDICTS, SUMMARY)


@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("reader", "names"),
    [
        *((reader, (name,)) for reader in READERS for name in NAMES),
        # Whoever exchanges all files at once can compute all hashes, but no signature.
        *((reader, NAMES) for reader, words in READERS.items() if "key" in words),
    ],
    ids=lambda one: one if isinstance(one, str) else "+".join(one),
)
def test_a_swap_between_hashing_and_reading_changes_no_result(
    reader: str,
    names: Sequence[str],
    world: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = READERS[reader]
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    results = []
    number = 0
    while True:
        folder = tmp_path / str(number)
        shutil.copytree(world, folder)
        monkeypatch.chdir(folder)
        with monkeypatch.context() as patched:
            swap = Swap(folder / words[1], names, number)
            watch(swap, patched)
            code, out, written = told(words, capsys)
            results.append((code, out.replace(str(folder), ""), written))
        if number > swap.opened:
            break
        if number == 0:
            shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        number += 1
    right = results[0]
    assert right[0] in (0, 1)
    assert number > 1, "the file is read"
    for code, out, written in results[1:-1]:
        # A swap is found, or the result is that of the signed files.
        assert code == 3 or (code, out) == right[:2]
        assert all(
            content == right[2].get(place) for place, content in written.items() if "html" not in place
        )
    # Nothing false was remembered: the last one ran without a swap, with the cache of all others.
    assert results[-1][:2] == right[:2]

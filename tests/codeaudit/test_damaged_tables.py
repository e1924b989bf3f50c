"""Damaged tables whose hashes fit: each command names the file and ends with 3, or the damage changes nothing."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from codeaudit.audit.store import ATTACKS, EXPLANATIONS, MANIFEST, SHARD, SUITE, SUMMARY, VERDICTS
from codeaudit.cli.main import main
from tests.support.forgery import edit_json, rebind

COMMANDS: Mapping[str, list[str]] = {
    "gate": [
        "gate",
        "run",
        "--max-violation-rate",
        "100%",
        "--max-f1-drop",
        "100%",
        "--junit",
        "j.xml",
        "--sarif",
        "s.sarif",
    ],
    "gate against": ["gate", "good", "--baseline", "run"],
    "report": ["report", "run", "--html", "page.html", "--junit", "junit.xml", "--baseline", "kept.parquet"],
    "compare": ["compare", "run", "length"],
    "explain": ["explain", "run"],
    "view": ["view", "run", "--no-browser"],
    "merge": ["merge", "run", "--out", "whole"],
    "run": [
        "run",
        "--suite",
        "run/suite.parquet",
        "--model",
        "fake/length",
        "--out",
        "again",
        "--workers",
        "1",
    ],
    "resume": ["run", "--config", "run", "--out", "run"],
    "baseline file": ["gate", "good", "--baseline", "run/kept.parquet"],
    "lines": [
        "run",
        "--suite",
        "run/suite.jsonl",
        "--model",
        "fake/length",
        "--out",
        "again",
        "--workers",
        "1",
    ],
}
BASELINE = "kept.parquet"
LINES = "suite.jsonl"
READ: Mapping[str, tuple[str, ...]] = {
    SUITE: ("gate", "gate against", "report", "compare", "explain", "view", "run", "merge"),
    VERDICTS: ("gate", "gate against", "report", "compare", "explain", "view", "merge"),
    ATTACKS: ("merge",),
    SHARD: ("merge",),
    BASELINE: ("baseline file",),
    LINES: ("lines",),
    SUMMARY: ("gate", "report", "compare", "view", "merge"),
    EXPLANATIONS: ("report", "explain", "view"),
    MANIFEST: ("gate", "gate against", "report", "compare", "explain", "view", "merge", "resume"),
}
"""The commands that read a file."""


def texts(column: pa.Array) -> pa.Array:
    return pa.array([None if value is None else f"x{value}" for value in column.to_pylist()], pa.string())


def numbers(column: pa.Array) -> pa.Array:
    return pa.array(range(len(column)), pa.int64())


TYPES: Mapping[str, Callable[[pa.Array], pa.Array]] = {
    "other words": texts,
    "numbers": numbers,
    "nothing": lambda column: pa.nulls(len(column)),
    "nulls": lambda column: pa.nulls(len(column), column.type),
    "bytes": lambda column: pa.array([b"\xff\x00"] * len(column), pa.binary()),
    "lists": lambda column: pa.array([[1]] * len(column)),
    "structures": lambda column: pa.array([{"a": 1}] * len(column)),
    "huge": lambda column: pa.array(["9" * 400] * len(column)),
    "nan": lambda column: pa.array([float("nan")] * len(column)),
    "dictionary": lambda column: texts(column).dictionary_encode(),
    "times": lambda column: pa.array([10**15] * len(column), pa.timestamp("us")),
}
"""What a column is replaced by."""


def bits(path: Path) -> Iterator[bytes]:
    """The bytes of a file, each time with one byte changed, cut, or something added."""
    data = path.read_bytes()
    for share in range(1, 12):
        place = len(data) * share // 12
        yield data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]
    # The footer of Parquet and its length.
    for place in (len(data) - 6, len(data) - 60, len(data) - 200):
        yield data[:place] + bytes([data[place] ^ 0x0F]) + data[place + 1 :]
    yield data[: len(data) // 2]
    yield data + b"x"
    yield b""
    yield b"PAR1PAR1"


def tables(path: Path) -> Iterator[pa.Table]:
    """A table, each time with one column replaced, gone, twice or under another name; or with other rows."""
    table = pq.read_table(path)
    for number, name in enumerate(table.column_names):
        for change in TYPES.values():
            column = change(table.column(name).combine_chunks())
            yield table.set_column(number, name, column)
        yield table.drop_columns([name])
        yield table.append_column(name, table.column(name))
        yield table.rename_columns(
            [f"{column}2" if column == name else column for column in table.column_names]
        )
    yield table.slice(0, 0)
    yield pa.concat_tables([table, table])
    yield table.take(list(range(len(table)))[::-1])
    yield table.replace_schema_metadata({})
    yield table.replace_schema_metadata({"codeaudit": "[1"})
    yield table.replace_schema_metadata({"codeaudit": '{"task": 3, "corpus": []}'})


WRONG: tuple[object, ...] = (None, "x", [], {}, 10**400, -1.5, [{"a": None}])


def values(content: Any) -> Iterator[Any]:
    """A value of JSON, each time with one entry replaced or gone."""
    if isinstance(content, dict):
        for name, inner in content.items():
            yield {key: value for key, value in content.items() if key != name}
            for wrong in WRONG:
                yield {**content, name: wrong}
            for other in list(values(inner))[:12]:
                yield {**content, name: other}
    elif isinstance(content, list) and content:
        for other in list(values(content[0]))[:12]:
            yield [other, *content[1:]]


def write(path: Path) -> Iterator[Callable[[Path], object]]:
    """Each damage to a file, as a function that writes it damaged to another place."""
    if path.suffix == ".parquet":
        for table in tables(path):
            yield partial(pq.write_table, table)
    else:
        text = path.read_text("utf-8")
        first, *others = text.splitlines(keepends=True) if path.suffix == ".jsonl" else [text]
        for value in (*values(json.loads(first)), None, [], 3, "x"):
            yield partial(Path.write_text, data="".join([json.dumps(value) + "\n", *others]))
    for data in bits(path):
        yield partial(Path.write_bytes, data=data)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    source = (
        "def total(values, start):\n    result = start\n    count = 0\n    return result, count, values\n"
    )
    (folder / "f.py").write_text("\n\n".join(source.replace("total", f"total{n}") for n in range(3)), "utf-8")
    few = [
        "--transform",
        "rename",
        "--variants",
        "1",
        "--workers",
        "1",
        "--attack",
        "random",
        "--budget",
        "2",
    ]
    words = ["run", "--corpus", str(folder / "f.py"), *few]
    for name, model, more in (
        ("run", "fake/hash", []),
        ("good", "fake/hash", []),
        ("length", "fake/length", []),
        ("shard", "fake/hash", ["--shard", "1/1"]),
    ):
        assert main([*words, "--model", model, *more, "--out", str(folder / name)]) == 0
    for name in ("run", "shard"):
        if name == "run":
            assert main(["explain", str(folder / name), "--limit", "1"]) == 0
            assert main(["report", str(folder / name), "--baseline", str(folder / name / BASELINE)]) == 0
        made = ["transform", str(folder / "f.py"), "--suite", str(folder / name / LINES)]
        assert main([*made, "--transform", "rename", "--variants", "1"]) == 0
    return folder


def ends_wrong(
    command: str, name: str, step: int, world: Path, capsys: pytest.CaptureFixture[str], first: int = 0
) -> list[str]:
    """What a command said to every `step`th damage of a file from the `first` on, where that was not one line that
    names the file.
    """
    # A shard is damaged where shards are read.
    whole = world / ("shard" if command == "merge" else "run")
    for each in ("good", "length"):
        shutil.copytree(world / each, each)
    wrong = []
    # It runs the audit again.
    step *= 8 if command == "resume" else 1
    for damage in islice(write(whole / name), first, None, step):
        for made in ("run", "again", "whole"):
            shutil.rmtree(made, ignore_errors=True)
        shutil.copytree(whole, "run")
        damage(Path("run") / name)
        if name in (SUITE, VERDICTS, ATTACKS, SHARD, SUMMARY):
            rebind(Path("run"))
        elif name == EXPLANATIONS:
            digest = hashlib.sha256((Path("run") / name).read_bytes()).hexdigest()
            edit_json(Path("run") / MANIFEST, explanations=[digest])
        code = main(COMMANDS[command])
        printed = capsys.readouterr().err
        last = printed.splitlines()[-1] if printed else ""
        # Where two files do not fit together, either may be named.
        named = any(word in last for word in (*READ, "'run'"))
        # Three samples are too few to judge: that is the gate's own answer to a whole run.
        named |= last.startswith("codeaudit: gate cannot tell")
        # A manifest is also a file of options, and a wrong option is wrong usage.
        usage = {2} if command == "resume" else set[int]()
        if code not in {0, 1, 3} | usage or "unexpected" in printed or (code == 3 and not named):
            wrong.append(f"{code}: {last}")
    return wrong


DAMAGES = [(name, command) for name, commands in READ.items() for command in commands]
MOST_SHARED = 4
"""Of so many commands each one meets its share of the damages."""


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("name", "command"), DAMAGES[::7])
def test_a_damaged_file_is_named(
    name: str,
    command: str,
    world: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert ends_wrong(command, name, 23, world, capsys) == []


@pytest.mark.thinned(1)
@pytest.mark.slow
@pytest.mark.parametrize(("name", "command"), DAMAGES)
def test_every_damage(
    name: str,
    command: str,
    world: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Commands that read the same file share its damages: they read it with the same functions. So each damage of a
    file with eight readers meets two of them, and no damage meets none.
    """
    monkeypatch.chdir(tmp_path)
    step = min(MOST_SHARED, len(READ[name]))
    first = READ[name].index(command) % step
    assert ends_wrong(command, name, step, world, capsys, first) == []

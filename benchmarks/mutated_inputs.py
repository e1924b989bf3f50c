"""Every reader of codeaudit on mutated files: no traceback, a documented exit code, and the file is named.

    python benchmarks/mutated_inputs.py                              40 mutants of each reader
    python benchmarks/mutated_inputs.py --mutants 300 --log mutants.jsonl
    python benchmarks/mutated_inputs.py --reader toml --first 40 --mutants 1     one mutant, with its output

A mutant is a valid file of a reader, changed once to four times. Three quarters of the mutants are changed as
values (cells of another type, dropped and repeated keys, swapped rows, wrong shapes), so that they survive the
first parse; the rest as bytes (cut, flipped, spliced). A command reads each of them in this process. A mutant
and its result depend only on the reader and the mutant's number. With `--log` the results are kept, and later
calls leave out what it holds.

The exit code is 1 if a mutant fails.
"""

# ruff: noqa: E501 - tables of values and of readers

import argparse
import csv
import hashlib
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

from codeaudit.audit.store import EXPLANATIONS, MANIFEST, RunFolder
from codeaudit.cli.main import main as codeaudit

SECONDS: Final = 60
"""A mutant that takes longer fails."""
DOCUMENTED: Final = frozenset({0, 1, 2, 3})
NOT_OF_A_FILE: Final = ("nothing could be judged", "gate cannot tell")
"""Beginnings of errors about a result; every other error names the file or the model."""

PYTHON: Final = """\
def total(values, start):
    result = start
    count = 0
    for value in values:
        result += value
        count += 1
    if not values:
        return None
    return result, count


def words(text, least=1):
    found = []
    other = {}
    for word in text.split():
        if len(word) > least:
            found.append(word.lower())
    return found, other
"""
JAVA: Final = """\
class Totals {
    int total(int[] values, int start) {
        int result = start;
        int count = 0;
        for (int value : values) {
            result += value;
            count++;
        }
        return result + count;
    }
}
"""
ASSEMBLY: Final = "addq %rax, %rbx\nmovq %rcx, %rdx\nimulq %rsi, %rdi\n"
ROWS: Final = [
    {
        "source": part,
        "name": name,
        "language": "python",
        "file": "a.py",
        "line": line,
        "split": "test",
        "group": "g",
    }
    for part, name, line in zip(PYTHON.split("\n\n\n"), ("total", "words"), (1, 13), strict=True)
]
TOML: Final = """\
[run]
model = ["fake/hash"]
corpus = "a.py"
limit = 2
variants = 1
transform = ["rename", "reorder"]
controls = false
seed = 3
sites = "all"
workers = 1
out = "out"

[run.model-argument]

[gate]
max-violation-rate = "100%"
margin = 0.01
transform = ["rename"]
"""


# ── mutations of values ──────────────────────────────────────────────────────────────────────────────────


def values() -> list[Any]:
    """Values that a cell may wrongly hold."""
    deep: Any = 0
    for _ in range(80):
        deep = [deep]
    return [
        None, True, False, 0, -1, 1, 2, 2**31, 2**63, 10**400, -0.5, 1e308, 1.5, float("nan"), float("inf"), "", " ",
        "x", "²", "1", "1e999", "\0", "\x1b[31m", "\ud800", "\u202e", "a" * 5000, "../../etc/passwd", "python", "{}",
        "[]", "null", [], [None], [[]], ["x", 1], {}, {"a": 1}, {"failed": None}, {"answer": {}}, deep,
    ]  # fmt: skip


def places(value: Any, found: list[tuple[Any, Any]] | None = None) -> list[tuple[Any, Any]]:
    """Every (container, key) inside a value of JSON."""
    found = [] if found is None else found
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        found.append((value, key))
        places(inner, found)
    return found


def change_value(rng: random.Random, value: Any) -> Any:
    """The value with one change: a place gets another value, loses its key, or changes place."""
    spots = places(value)
    if not spots or rng.random() < 0.03:
        return rng.choice(values())
    container, key = rng.choice(spots)
    inner = container[key]
    match rng.randrange(9):
        case 0:
            del container[key]
        case 1 if isinstance(container, dict):
            container[str(rng.choice(["x", key, f"{key} ", f"{key}_"]))] = container.pop(key)
        case 1 if isinstance(container, list):
            container.insert(key, inner)
        case 2:
            other, place = rng.choice(spots)
            if place in other if isinstance(other, dict) else place < len(other):
                container[key] = json.loads(json.dumps(other[place]))
        case 3 if isinstance(container, list):
            rng.shuffle(container)
        case 3 | 4 if isinstance(inner, str) and inner[:1] in '[{"0123456789n':
            # A cell that holds JSON itself.
            try:
                container[key] = json.dumps(change_value(rng, json.loads(inner)))
            except ValueError:
                container[key] = inner[: rng.randrange(len(inner) + 1)]
        case 5:
            container[key] = [inner]
        case 6 if isinstance(inner, int | float) and not isinstance(inner, bool):
            container[key] = rng.choice([-inner, inner + 1, inner * 1000, str(inner), float(inner) + 0.5])
        case 6 if isinstance(inner, str):
            container[key] = rng.choice([inner.upper(), inner + "\0", inner[1:], inner * 2, 0])
        case _:
            container[key] = rng.choice(values())
    return value


def dumped(rng: random.Random, value: Any) -> str:
    """JSON text; sometimes one key stands twice."""
    text = json.dumps(value)
    if isinstance(value, dict) and value and rng.random() < 0.05:
        key = rng.choice(list(value))
        text = f"{{{json.dumps(key)}: {json.dumps(rng.choice(values()))}, {text[1:]}"
    return text


def mutate_json(rng: random.Random, data: bytes) -> bytes:
    """One value of a JSON file."""
    return dumped(rng, change_value(rng, json.loads(data))).encode("utf-8", "surrogatepass")


def mutate_lines(rng: random.Random, data: bytes) -> bytes:
    """One row of a file of JSON lines."""
    rows = [json.loads(line) for line in data.splitlines() if line.strip()]
    change_rows(rng, rows)
    return "".join(dumped(rng, row) + "\n" for row in rows).encode("utf-8", "surrogatepass")


def change_rows(rng: random.Random, rows: list[Any]) -> None:
    """Rows swapped, dropped, repeated, or one of them changed; sometimes all rows in one cell."""
    if not rows:
        return
    number = rng.randrange(len(rows))
    match rng.randrange(8):
        case 0:
            rng.shuffle(rows)
        case 1:
            del rows[number]
        case 2:
            rows.insert(rng.randrange(len(rows) + 1), rows[number])
        case 3 if isinstance(rows[0], dict) and rows[0]:
            name, value = rng.choice(list(rows[0])), rng.choice(values())
            for row in rows:
                if isinstance(row, dict):
                    row[name] = value
        case _:
            rows[number] = change_value(rng, json.loads(json.dumps(rows[number])))


def mutate_csv(rng: random.Random, data: bytes) -> bytes:
    """A cell, a row or a column of a CSV file."""
    rows = list(csv.reader(io.StringIO(data.decode())))
    row = rng.choice(rows)
    place = rng.randrange(len(row)) if row else 0
    match rng.randrange(6):
        case 0:
            rows.remove(row)
        case 1:
            rows.insert(rng.randrange(len(rows)), row)
        case 2:
            for each in rows:
                del each[place : place + 1]
        case 3:
            row.append("x")
        case _ if row:
            row[place] = str(rng.choice(values()))
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode("utf-8", "surrogatepass")


def mutate_parquet(rng: random.Random, data: bytes) -> bytes:
    """A column of another type or name, cells of the same type, the order of rows, or the metadata."""
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.read_table(pa.BufferReader(data))
    metadata = dict(table.schema.metadata or {})
    name = rng.choice(table.column_names)
    place = table.column_names.index(name)
    cells = table.column(name).to_pylist()
    match rng.randrange(10):
        case 0:
            table = table.drop_columns([name])
        case 1:
            table = table.rename_columns(
                [each if each != name else f"{name}_" for each in table.column_names]
            )
        case 2 | 3:
            kinds = [
                pa.string(),
                pa.int64(),
                pa.float64(),
                pa.bool_(),
                pa.list_(pa.string()),
                pa.binary(),
                pa.null(),
            ]
            value: Any = rng.choice([None, "x", 1, -1.5, True, ["x"], {"a": 1}, b"\xff"])
            made = [value] * len(cells)
            with suppress(pa.ArrowException):
                table = table.set_column(place, name, pa.array(made, type=rng.choice([None, *kinds])))
        case 4 if cells:
            table = table.take(pa.array(rng.sample(range(len(cells)), len(cells))))
        case 5:
            table = table.slice(0, rng.randrange(len(cells) + 1)) if cells else table
        case 6 if metadata:
            key = rng.choice(list(metadata))
            with suppress(ValueError):
                metadata[key] = mutate_json(rng, metadata[key])
        case 7:
            table = pa.concat_tables([table, table.slice(0, 1)])
        case _ if cells:
            at = rng.randrange(len(cells))
            cell = cells[at]
            if isinstance(cell, str) and cell[:1] in '[{"0n' and rng.random() < 0.6:
                with suppress(ValueError):
                    cells[at] = dumped(rng, change_value(rng, json.loads(cell)))
            elif isinstance(cell, str) or cell is None:
                cells[at] = rng.choice(
                    [None, *(one for one in values() if isinstance(one, str) and one != "\ud800")]
                )
            elif isinstance(cell, int):
                cells[at] = rng.choice([None, -1, 0, 2**62, cell + 1])
            else:
                cells[at] = rng.choice([None, float("nan"), float("inf"), -1.0])
            with suppress(pa.ArrowException):
                table = table.set_column(
                    place, table.schema.field(name), pa.array(cells, type=table.schema.field(name).type)
                )
    out = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata(metadata), out)
    return out.getvalue()


def mutate_tensors(rng: random.Random, data: bytes) -> bytes:
    """The header of a safetensors file: names, shapes, types, offsets."""
    size = int.from_bytes(data[:8], "little")
    header = mutate_json(rng, data[8 : 8 + size])
    return len(header).to_bytes(8, "little") + header + data[8 + size :]


def mutate_toml(rng: random.Random, data: bytes) -> bytes:
    """A value or a line of a TOML file."""
    lines = data.decode().splitlines()
    number = rng.randrange(len(lines))
    key, equals, _ = lines[number].partition("=")
    told = ['""', '"x"', "-1", "0", "1.5", "true", "nan", "inf", "[]", "[1, 2]", '["a", 1]', "{}", "{a = 1}", "[[]]",
            "1979-05-27", "9999999999999999999", '"\\u0000"', '"\\u001b"', '["fake/hash", {a = []}]']  # fmt: skip
    match rng.randrange(6):
        case 0:
            del lines[number]
        case 1:
            lines[number] = "run = 3" if rng.random() < 0.3 else f"x{lines[number]}"
        case 2 if lines[number].startswith("["):
            lines[number] = f"[{lines[number]}]"
        case _ if equals:
            lines[number] = f"{key}= {rng.choice(told)}"
        case _:
            lines.insert(
                number,
                f"{rng.choice(['device', 'cache', 'batch-size', 'labels', 'attack', 'task', 'wrap'])} = {rng.choice(told)}",
            )
    return "\n".join(lines).encode()


def mutate_text(rng: random.Random, data: bytes) -> bytes:
    """A line or a word of a source."""
    lines = data.decode().splitlines(keepends=True)
    number = rng.randrange(len(lines)) if lines else 0
    words = ["\0", "\x1b[2J", "\u202e", "\ufeff", "é", "𝕏", "(", ")", '"', "'''", "\\", "\t", "\f", "\r", "#", "/*", "*/",
             "//", "\\u000a", "\\u0022", "\\ud800", "yield", "await x", "lambda: 0", ";", "{", "}", "@", "1" * 5000,
             "%", "$", ":=", "->"]  # fmt: skip
    match rng.randrange(5):
        case 0 if lines:
            del lines[number]
        case 1 if lines:
            lines.insert(rng.randrange(len(lines)), lines[number])
        case 2:
            rng.shuffle(lines)
        case _ if lines:
            place = rng.randrange(len(lines[number]) + 1)
            lines[number] = lines[number][:place] + rng.choice(words) + lines[number][place:]
    return "".join(lines).encode("utf-8", "surrogatepass")


def mutate_bytes(rng: random.Random, data: bytes) -> bytes:
    """Cut, flipped, repeated or foreign bytes."""
    if not data:
        return b"\0"
    place = rng.randrange(len(data))
    match rng.randrange(6):
        case 0:
            return data[:place]
        case 1:
            return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]
        case 2:
            return data[:place] + data[place + rng.randrange(1, 40) :]
        case 3:
            return data[:place] + rng.randbytes(rng.randrange(1, 9)) + data[place:]
        case 4:
            return data[:place] + data[place - 20 :]
        case _:
            return rng.choice(
                [b"", b"\n", b"\0" * 64, b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n"), b"null"]
            )


FORMATS: Final[Mapping[str, Callable[[random.Random, bytes], bytes]]] = {
    "json": mutate_json,
    "lines": mutate_lines,
    "csv": mutate_csv,
    "parquet": mutate_parquet,
    "tensors": mutate_tensors,
    "toml": mutate_toml,
    "text": mutate_text,
}


def mutated(rng: random.Random, form: str, data: bytes) -> tuple[bytes, bool]:
    """The mutant of a file, and whether it was changed as values."""
    if structured := rng.random() < 0.75:
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            # A value that cannot be changed once more, such as a table without rows, stays as it is.
            with suppress(
                ValueError, RecursionError, OverflowError, TypeError, LookupError, NotImplementedError
            ):
                data = FORMATS[form](rng, data)
    else:
        data = mutate_bytes(rng, data)
    return data, structured


# ── readers ──────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Reader:
    """A valid input, the files of it that are mutated, and the commands that read it."""

    name: str
    files: Mapping[str, str]
    """Format by path."""
    commands: Sequence[Sequence[str]]
    """One of them is chosen."""
    names: Sequence[str] = ()
    """What an error may name in place of the file."""


RUN: Final = (
    "run",
    "--model",
    "fake/hash",
    "--transform",
    "rename",
    "--variants",
    "1",
    "--workers",
    "1",
    "--out",
    "out",
)
ON_CORPUS: Final = (*RUN, "--corpus")


def answering(model: str, *more: str) -> tuple[str, ...]:
    """The command that asks a model."""
    words = ("--corpus", "a.py", "--transform", "rename", "--variants", "1", "--workers", "1", "--out", "out")
    return ("run", "--model", model, *words, *more)


OF_RUN: Final = (
    ("report", "run", "--html", "a.html"),
    ("report", "run", "--junit", "a.xml"),
    ("report", "run", "--format", "json"),
    ("report", "run", "--csv", "numbers"),
    ("gate", "run", "--max-violation-rate", "100%", "--sarif", "a.sarif"),
    ("gate", "run", "--baseline", "other"),
    ("gate", "other", "--baseline", "run"),
    ("compare", "run", "other"),
    ("explain", "run", "--limit", "1"),
    ("run", "--config", "run", "--out", "out"),
    ("run", "--model", "fake/hash", "--suite", "run/suite.parquet", "--out", "out"),
)

READERS: Final = (
    Reader("python", {"a.py": "text"}, [("transform", "a.py", "--diff"), (*ON_CORPUS, "a.py")]),
    Reader("java", {"A.java": "text"}, [("transform", "A.java", "--diff"), (*ON_CORPUS, "A.java")]),
    Reader("assembly", {"a.s": "text"}, [("run", "--model", "fake/length", "--task", "throughput", "--labels", "none",
                                          "--corpus", "a.s", "--workers", "1", "--out", "out")]),
    Reader("table-jsonl", {"a.jsonl": "lines"}, [(*ON_CORPUS, "a.jsonl"), (*ON_CORPUS, "a.jsonl:test")]),
    Reader("table-csv", {"a.csv": "csv"}, [(*ON_CORPUS, "a.csv"), (*ON_CORPUS, "a.csv:test")]),
    Reader("table-parquet", {"a.parquet": "parquet"}, [(*ON_CORPUS, "a.parquet"), (*ON_CORPUS, "a.parquet:test")]),
    Reader("suite-parquet", {"suite.parquet": "parquet"}, [("run", "--model", "fake/hash", "--suite", "suite.parquet", "--out", "out")]),
    Reader("suite-jsonl", {"suite.jsonl": "lines"}, [("run", "--model", "fake/hash", "--suite", "suite.jsonl", "--out", "out")]),
    Reader("toml", {"a.toml": "toml"}, [("run", "--config", "a.toml"), ("gate", "run", "--config", "a.toml")]),
    Reader("manifest", {"run/manifest.json": "json"}, OF_RUN, ["'run'"]),
    Reader("summary", {"run/summary.json": "json"}, OF_RUN, ["'run'"]),
    Reader("run-suite", {"run/suite.parquet": "parquet"}, OF_RUN, ["'run'"]),
    Reader("verdicts", {"run/verdicts.parquet": "parquet"}, OF_RUN, ["'run'"]),
    Reader("explanations", {"run/explanations.jsonl": "lines"}, [OF_RUN[0], OF_RUN[8]], ["'run'"]),
    Reader("predictions-jsonl", {"p.jsonl": "lines"}, [answering("file/p.jsonl")]),
    Reader("predictions-csv", {"p.csv": "csv"}, [answering("file/p.csv")]),
    Reader("predictions-parquet", {"p.parquet": "parquet"}, [answering("file/p.parquet")]),
    Reader("checkpoint", {"ckpt/config.json": "json"}, [answering("./ckpt")], ["ckpt"]),
    Reader("weights", {"ckpt/model.safetensors": "tensors"}, [answering("./ckpt")], ["ckpt"]),
    Reader("tokenizer", {"ckpt/tokenizer.json": "json"}, [answering("./ckpt")], ["ckpt"]),
    Reader("protocol", {"answers.jsonl": "lines"}, [answering("exec/cat answers.jsonl")], ["exec/cat"]),
    Reader("callable", {"answers.json": "json"}, [answering("py/answers_of_a_file:answer")], ["py/answers_of_a_file"]),
    Reader("endpoint", {"body.json": "json"}, [answering("openai/m", "--base-url", "URL", "-M", "retries=0")], ["openai/m"]),
    Reader("cache", {"rows.jsonl": "lines"}, [answering("fake/hash", "--cache", "cache")], ["cache"]),
    Reader("key", {"key": "text"}, [("seal", "ckpt", "--key", "key", "--scheme", "cipher", "--out", "out")]),
    Reader("sealed", {"sealed/seal.json": "json"}, [("unseal", "sealed", "--key", "key", "--out", "out")], ["sealed"]),
)  # fmt: skip
"""In the order in which they run."""


def write_world(folder: Path) -> None:
    """Write a valid input for every reader into the folder, which becomes the working directory."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    for name, text in (("a.py", PYTHON), ("A.java", JAVA), ("a.s", ASSEMBLY), ("a.toml", TOML)):
        Path(name).write_text(text, encoding="utf-8")
    _write_rows("a", ROWS)
    parquet.write_table(pa.Table.from_pylist(ROWS), "a.parquet")
    for out in ("run", "other"):
        quiet([*ON_CORPUS, "a.py", "--out", out, "--variants", "2", "--seed", "0", "--model", "fake/length"])
    quiet(["explain", "run", "--limit", "1"])
    shutil.copy("run/suite.parquet", "suite.parquet")
    quiet(["transform", "a.py", "--suite", "suite.jsonl", "--transform", "rename", "--variants", "1"])
    answers = [
        {"id": row["input"], "answer": "total", "score": 0.5, "scores": {"total": 0.5, "words": 0.25}}
        for row in pa.Table.to_pylist(parquet.read_table("suite.parquet"))
        if row["input"]
    ]
    answers = list({row["id"]: row for row in answers}.values())
    _write_rows("p", [{**row, "scores": json.dumps(row["scores"])} for row in answers])
    Path("p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers), encoding="utf-8")
    parquet.write_table(pa.Table.from_pylist(answers), "p.parquet")
    spoken = [{**row, "id": number} for number, row in enumerate(answers)]
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in spoken), encoding="utf-8")
    Path("answers.json").write_text(json.dumps(["total", "words", None, 1.5, ["a", "b"]]), encoding="utf-8")
    Path("answers_of_a_file.py").write_text(CALLABLE, encoding="utf-8")
    Path("body.json").write_text(json.dumps(BODY), encoding="utf-8")
    quiet([*answering("fake/hash"), "--cache", "cache", "--out", "cached"])
    Path("rows.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in cached(Path("cache"))), encoding="utf-8"
    )
    from codeaudit.audit import checkpoints

    shutil.copytree(checkpoints.FOLDER / "vanilla-checkpoint", "ckpt")
    quiet(["seal", "ckpt", "--key", "key", "--scheme", "cipher", "--out", "sealed"])


CALLABLE: Final = '''\
"""Answers with what a file holds."""

import json
from pathlib import Path


def answer(queries):
    found = json.loads(Path("answers.json").read_text("utf-8", "surrogatepass"))
    return (found * len(queries))[: len(queries)] if isinstance(found, list) and found else found
'''
BODY: Final = {
    "id": "1",
    "object": "chat.completion",
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "total"}}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
}


def _write_rows(name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with Path(f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def cached(folder: Path) -> list[Any]:
    """The answers in a cache."""
    import sqlite3

    (path,) = (each for each in folder.rglob("*") if each.is_file() and each.read_bytes()[:6] == b"SQLite")
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT answer FROM answers ORDER BY key").fetchall()
    connection.close()
    return [json.loads(text) for (text,) in found]


def put_into_cache(folder: Path, texts: Sequence[bytes]) -> None:
    """Replace the answers in a cache."""
    import sqlite3

    (path,) = (each for each in folder.rglob("*") if each.is_file() and each.read_bytes()[:6] == b"SQLite")
    with sqlite3.connect(path) as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM answers ORDER BY key").fetchall()]
        for number, key in enumerate(keys):
            text = texts[number % len(texts)].decode("utf-8", "replace") if texts else ""
            connection.execute("UPDATE answers SET answer = ? WHERE key = ?", (text, key))
    connection.close()


def rebind(folder: Path) -> None:
    """Compute the hashes of a run anew, as somebody who edits a run can."""
    from codeaudit.audit.integrity import EXPLAINED, FILES, bound

    run = RunFolder(folder)
    manifest = dict(json.loads((folder / MANIFEST).read_bytes()))
    explained = hashlib.sha256((folder / EXPLANATIONS).read_bytes()).hexdigest()
    new = bound(run, manifest, manifest[FILES])
    (folder / MANIFEST).write_text(json.dumps({**new, EXPLAINED: [explained]}), encoding="utf-8")


class Serving(BaseHTTPRequestHandler):
    """An endpoint that answers with the file `body.json`."""

    def do_POST(self) -> None:
        """Answer."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = Path("body.json").read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


# ── one mutant ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a command made of a mutant."""

    reader: str
    mutant: int
    command: str
    structured: bool
    parsed: bool
    """Whether the mutated file survives the standard parser of its format."""
    code: int | None
    seconds: float
    said: str
    """The last line on stderr."""
    wrong: str
    """Why it fails; empty if it passes."""


class TooLong(BaseException):
    """A mutant took longer than `SECONDS`. A BaseException, so that no reader takes it for an error of its file."""


@contextmanager
def limited() -> Iterator[None]:
    """At most `SECONDS`."""

    def stop(number: int, frame: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def quiet(words: Sequence[str]) -> int:
    """Run a command without its output."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        return codeaudit(words)


def parses(form: str, data: bytes) -> bool:
    """Whether the standard parser of the format reads the data."""
    import tomllib

    import pyarrow as pa
    from pyarrow import parquet

    try:
        match form:
            case "json":
                json.loads(data)
            case "lines":
                for line in data.splitlines():
                    json.loads(line)
            case "csv":
                list(csv.reader(io.StringIO(data.decode())))
            case "parquet":
                parquet.read_table(pa.BufferReader(data))
            case "tensors":
                json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
            case "toml":
                tomllib.loads(data.decode())
            case "text":
                compile(data, "a.py", "exec") if b"def " in data else data.decode()
    except Exception:
        return False
    return True


def tried(reader: Reader, mutant: int, world: Path, work: Path, url: str) -> tuple[Result, str]:
    """The result of one mutant, and everything that the command printed."""
    rng = random.Random(f"{reader.name} {mutant}")
    os.chdir(world)
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(world, work)
    os.chdir(work)
    path, form = rng.choice(list(reader.files.items()))
    data, structured = mutated(rng, form, Path(path).read_bytes())
    Path(path).write_bytes(data)
    # Half of the changed runs get new hashes: the readers behind the check of hashes must hold, too.
    if path.startswith("run/") and rng.random() < 0.7:
        with suppress(Exception):
            rebind(Path("run"))
    if reader.name == "cache":
        put_into_cache(Path("cache"), data.splitlines())
    words = [url if word == "URL" else word for word in rng.choice(list(reader.commands))]
    sys.modules.pop("answers_of_a_file", None)
    out, err = io.StringIO(), io.StringIO()
    code, wrong, began = None, "", time.perf_counter()
    try:
        with limited(), redirect_stdout(out), redirect_stderr(err):
            code = codeaudit(words)
    except TooLong:
        wrong = f"takes longer than {SECONDS} s"
    except BaseException:
        wrong = "traceback"
        err.write(traceback.format_exc())
    said = next(iter(err.getvalue().splitlines()[-1:]), "")
    named = (path, Path(path).name, *reader.names)
    if not wrong:
        wrong = judged(code, said, err.getvalue(), named)
    parsed = parses(form, data)
    result = Result(
        reader=reader.name,
        mutant=mutant,
        command=" ".join(words),
        structured=structured,
        parsed=parsed,
        code=code,
        seconds=round(time.perf_counter() - began, 2),
        said=said[:400],
        wrong=wrong,
    )
    return result, out.getvalue() + err.getvalue()


def judged(code: int | None, said: str, err: str, named: Sequence[str]) -> str:
    """Why a result is wrong; empty if it is right."""
    if code not in DOCUMENTED:
        return f"exit code {code}"
    if "Traceback" in err:
        return "traceback"
    if "unexpected error" in err:
        return "unexpected error"
    # Exit code 1 of the gate is a result; its reasons are on stdout.
    if code in (2, 3):
        told = said.removeprefix("codeaudit: ")
        if told == said:
            return "the last line is no error"
        if not told.startswith(NOT_OF_A_FILE) and not any(name in told for name in named):
            return "the file is not named"
    return ""


# ── the campaign ─────────────────────────────────────────────────────────────────────────────────────────


def done(log: Path | None) -> set[tuple[str, int]]:
    """The mutants in a log."""
    if log is None or not log.exists():
        return set()
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return {(row["reader"], row["mutant"]) for row in rows}


def campaign(
    readers: Sequence[Reader], mutants: range, known: set[tuple[str, int]]
) -> Iterator[tuple[Result, str]]:
    """The results of the mutants that are not known yet, with their output."""
    here = Path.cwd()
    # Without it the runs would share the user's cache and settings.
    with tempfile.TemporaryDirectory() as place, ThreadingHTTPServer(("127.0.0.1", 0), Serving) as server:
        before = dict(os.environ)
        os.environ.update(CODEAUDIT_CACHE=f"{place}/shared", OPENAI_API_KEY="none", COLUMNS="80")
        os.environ.pop("CODEAUDIT_DEBUG", None)
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            write_world(Path(place, "world"))
            url = f"http://127.0.0.1:{server.server_port}/v1"
            # Across the readers first, so that an interrupted campaign has seen all of them.
            for mutant in mutants:
                for reader in readers:
                    if (reader.name, mutant) not in known:
                        shutil.rmtree(Path(place, "shared"), ignore_errors=True)
                        yield tried(reader, mutant, Path(place, "world"), Path(place, "work"), url)
        finally:
            os.chdir(here)
            server.shutdown()
            os.environ.clear()
            os.environ.update(before)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each reader, then each mutant that fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--reader", action="append", choices=[one.name for one in READERS], help="repeatable; default: all"
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--mutants", type=int, default=40, help="of each reader")
    parser.add_argument("--log", type=Path, help="a file of results, continued")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after this time")
    asked = parser.parse_args(arguments)
    readers = [one for one in READERS if asked.reader is None or one.name in asked.reader]
    log = None if asked.log is None else asked.log.absolute()
    ends = time.monotonic() + asked.seconds
    results = []
    for result, text in campaign(readers, range(asked.first, asked.first + asked.mutants), done(log)):
        results.append(result)
        if log is not None:
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(result)) + "\n")
        if asked.mutants == 1:
            print(text)
        if time.monotonic() > ends:
            break
    print(f"{'reader':20} {'mutants':>7} {'parsed':>7} {'exit 0':>7} {'1':>5} {'2':>5} {'3':>5} {'wrong':>7}")
    for reader in readers:
        own = [one for one in results if one.reader == reader.name]
        codes = Counter(one.code for one in own)
        parsed, wrong = sum(one.parsed for one in own), sum(bool(one.wrong) for one in own)
        shown = f"{reader.name:20} {len(own):7} {parsed:7} {codes[0]:7} {codes[1]:5} {codes[2]:5} {codes[3]:5} {wrong:7}"
        print(shown)
    for one in results:
        if one.wrong:
            print(f"{one.reader} {one.mutant}: {one.wrong}: exit {one.code}: {one.command}\n    {one.said}")
    print(f"{len(results)} mutants, {sum(bool(one.wrong) for one in results)} wrong")
    return 1 if any(one.wrong for one in results) else 0


if __name__ == "__main__":
    sys.exit(main())

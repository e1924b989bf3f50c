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
import difflib
import gzip
import hashlib
import io
import itertools
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final
from unittest import mock

from mutations import mutated, parses

from codeaudit.audit.store import EXPLANATIONS, MANIFEST, RunFolder
from codeaudit.cli.main import INTERRUPTED
from codeaudit.cli.main import main as codeaudit

SECONDS: Final = 60
"""A mutant that takes longer fails."""
MEMORY: Final = 24 << 30
"""Bytes of addresses that the campaign may use."""
SEED: Final = -1
"""The number of the mutant that is not changed."""
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
ASSEMBLY: Final = """\
addq %rax, %rbx
movq %rcx, %rdx
imulq %rsi, %rdi

leaq 8(%rax,%rbx,4), %rcx
xorl %edx, %edx
movq %rcx, (%rsi)

subl $3, %eax
shll $2, %ecx
"""
CLIP: Final = """\
package org.a;

public class Clip {
    int low(int x) {
        if (x <= 0) {
            return 0;
        }
        return x;
    }

    int high(int x) {
        int limit = 9;
        return x > limit ? limit : x;
    }
}
"""
CLIP_PLACE: Final = "src/main/java/org/a/Clip.java"
CALLS: Final = [
    {
        "code": "def f(a, b):\n    total = a\n    total += b\n    return total\n",
        "input": "1, 2",
        "output": "3",
    },
    {"code": "def g(a):\n    found = [a]\n    return found\n", "test_list": ["assert g(4) == [4]"]},
]
PROBLEMS: Final = [
    {
        "task_id": "own/0",
        "prompt": "def add(left, right):\n",
        "canonical_solution": "    total = left + right\n    return total\n",
        "test": "def check(candidate):\n    assert candidate(3, 4) == 7\n",
        "entry_point": "add",
    }
]
BLOCKS: Final = "4883c0014883c302,200\n4801d84889c84883c005,310.5\n"
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
ON_BLOCKS: Final = ("run", "--model", "fake/length", "--task", "throughput", "--variants", "1", "--workers", "1",
                    "--out", "out", "--labels")  # fmt: skip
TRAINING: Final = ("train", "vanilla", "--corpus", "t.jsonl", "--width", "8", "--heads", "2", "--layers", "1",
                   "--vocabulary", "200", "--rarest-label", "1", "--batch", "4", "--bag-epochs", "1",
                   "--workers", "1", "--threads", "1", "--cache", "features")  # fmt: skip


def answering(model: str, *more: str) -> tuple[str, ...]:
    """The command that asks a model."""
    words = ("--corpus", "a.py", "--transform", "rename", "--variants", "1", "--workers", "1", "--out", "out")
    return ("run", "--model", model, *words, *more)


ON_HUB: Final = ("--task", "error-detection", "--device", "cpu")

OF_RUN: Final = (
    ("report", "run", "--html", "a.html"),
    ("report", "run", "--junit", "a.xml"),
    ("report", "run", "--format", "json"),
    ("report", "run", "--csv", "numbers"),
    ("gate", "run", "--max-violation-rate", "100%", "--allow-insensitive", "--sarif", "a.sarif"),
    ("gate", "run", "--baseline", "other", "--allow-insensitive"),
    ("gate", "other", "--baseline", "run", "--allow-insensitive"),
    ("compare", "run", "other"),
    ("explain", "run", "--limit", "1"),
    # Without the run's own limit it would be the default run, which takes a minute.
    ("run", "--config", "run", "--limit", "2", "--out", "out"),
    ("run", "--model", "fake/hash", "--suite", "run/suite.parquet", "--out", "out"),
)

READERS: Final = (
    Reader("python", {"a.py": "python"}, [("transform", "a.py", "--diff"), (*ON_CORPUS, "a.py")]),
    Reader("java", {"A.java": "java"}, [("transform", "A.java", "--diff"), (*ON_CORPUS, "A.java")]),
    Reader("assembly", {"a.s": "assembly"}, [(*ON_BLOCKS, "none", "--corpus", "a.s")]),
    Reader("program", {"program": "program"}, [(*ON_BLOCKS, "none", "--corpus", "./program", "--limit", "5")]),
    Reader("table-blocks", {"blocks.csv": "csv"}, [(*ON_BLOCKS, "2/100", "--corpus", "blocks.csv")]),
    Reader("table-zipped", {"a.jsonl.gz": "zipped"}, [(*ON_CORPUS, "a.jsonl.gz")]),
    Reader("table-calls", {"calls.jsonl": "lines"}, [(*ON_CORPUS, "calls.jsonl", "--task", "output-prediction", "--no-controls")]),
    Reader("table-solutions", {"own.jsonl": "lines"}, [(*ON_CORPUS, "own.jsonl", "--task", "generation", "--no-controls")]),
    Reader("defects4j", {f"d4j/clip_1b/{CLIP_PLACE}": "java", "d4j/clip_1b/.defects4j.config": "properties",
                         "d4j/clip_1b/defects4j.build.properties": "properties",
                         "d4j/framework/projects/Clip/patches/2.src.patch": "patch"},
           [(*ON_CORPUS, "defects4j:d4j", "--task", "error-detection")], ["d4j"]),
    Reader("bugs", {"bugs.jsonl": "lines"}, [(*ON_CORPUS, "bugs:2:a.py", "--task", "error-detection", "--cache", "bugs")], ["bugs:2:a.py"]),
    Reader("table-jsonl", {"a.jsonl": "lines"}, [(*ON_CORPUS, "a.jsonl"), (*ON_CORPUS, "a.jsonl:test")]),
    Reader("table-csv", {"a.csv": "csv"}, [(*ON_CORPUS, "a.csv"), (*ON_CORPUS, "a.csv:test")]),
    Reader("table-parquet", {"a.parquet": "parquet"}, [(*ON_CORPUS, "a.parquet"), (*ON_CORPUS, "a.parquet:test")]),
    Reader("suite-parquet", {"suite.parquet": "parquet"}, [("run", "--model", "fake/hash", "--suite", "suite.parquet", "--out", "out")]),
    Reader("suite-jsonl", {"suite.jsonl": "lines"}, [("run", "--model", "fake/hash", "--suite", "suite.jsonl", "--out", "out")]),
    Reader("toml", {"a.toml": "toml"}, [("run", "--config", "a.toml", "--corpus", "a.py"), ("gate", "run", "--config", "a.toml")]),
    Reader("manifest", {"run/manifest.json": "json"}, OF_RUN, ["'run'", "'run/"]),
    Reader("summary", {"run/summary.json": "json"}, OF_RUN, ["'run'", "'run/"]),
    Reader("run-suite", {"run/suite.parquet": "parquet"}, OF_RUN, ["'run'", "'run/"]),
    Reader("verdicts", {"run/verdicts.parquet": "parquet"}, OF_RUN, ["'run'", "'run/"]),
    Reader("baseline", {"main.parquet": "parquet"}, [("gate", "run", "--baseline", "main.parquet", "--allow-insensitive"),
                                                     ("gate", "--plan", "main.parquet")]),
    Reader("explanations", {"run/explanations.jsonl": "lines"}, [OF_RUN[0], OF_RUN[8]], ["'run'", "'run/"]),
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
    Reader("sealed-columns", {"columns/seal.json": "json", "columns/config.json": "json", "columns/model.safetensors": "tensors"},
           [("unseal", "columns", "--key", "key", "--out", "out"), answering("./columns")], ["columns"]),
    Reader("training-state", {"trained/training.safetensors": "tensors"}, [(*TRAINING, "--epochs", "3", "--out", "trained")], ["trained"]),
    Reader("training-table", {"t.jsonl": "lines"}, [(*TRAINING, "--steps", "1", "--out", "made")]),
    Reader("hub-config", {"hub/config.json": "json"}, [answering("hf/hub", *ON_HUB)], ["hf/hub"]),
    Reader("hub-tokenizer", {"hub/tokenizer.json": "json", "hub/tokenizer_config.json": "json"}, [answering("hf/hub", *ON_HUB)], ["hf/hub"]),
    Reader("hub-weights", {"hub/model.safetensors": "tensors"}, [answering("hf/hub", *ON_HUB)], ["hf/hub"]),
)  # fmt: skip
"""In the order in which they run."""


def write_world(folder: Path, readers: Sequence["Reader"]) -> None:
    """Write a valid input for each reader into the folder, which becomes the working directory."""
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
    quiet(["report", "other", "--baseline", "main.parquet"])
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
    quiet(["seal", "ckpt", "--key", "key", "--scheme", "columns", "--out", "columns"])
    _write_corpora()
    # These take seconds, so they are left out where nobody reads them.
    named = " ".join(reader.name for reader in readers)
    if "training" in named:
        _write_training()
    if "bugs" in named:
        quiet([*ON_CORPUS, "bugs:2:a.py", "--task", "error-detection", "--cache", "bugs", "--out", "buggy"])
        shutil.copy(_bug_records(), "bugs.jsonl")
    if "hub" in named:
        _write_hub_model(Path("hub"))
    lost = [path for reader in readers for path in reader.files if not Path(path).is_file()]
    if lost:
        raise SystemExit(f"the seeds could not be made: {', '.join(lost)}")


def _write_corpora() -> None:
    """The other corpora: tables of calls, problems and machine code, a program, and Defects4J."""
    for name, rows in (("calls", CALLS), ("own", PROBLEMS)):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    Path("a.jsonl.gz").write_bytes(gzip.compress(Path("a.jsonl").read_bytes()))
    Path("blocks.csv").write_text(BLOCKS, encoding="utf-8")
    shutil.copy("/bin/true", "program")
    buggy = CLIP.replace("x <= 0", "x < 0")
    for vid, text in (("1b", buggy), ("1f", CLIP), ("2f", CLIP)):
        place = Path("d4j", f"clip_{vid}")
        (place / CLIP_PLACE).parent.mkdir(parents=True)
        (place / CLIP_PLACE).write_text(text, encoding="utf-8")
        (place / ".defects4j.config").write_text(f"#Defects4J\npid=Clip\nvid={vid}\n", encoding="utf-8")
        properties = "#Defects4J\nd4j.classes.modified=org.a.Clip\nd4j.dir.src.classes=src/main/java\n"
        (place / "defects4j.build.properties").write_text(properties, encoding="utf-8")
    patch = Path("d4j/framework/projects/Clip/patches/2.src.patch")
    patch.parent.mkdir(parents=True)
    lines = difflib.unified_diff(
        CLIP.splitlines(True),
        CLIP.replace("? limit : x", "? x : x").splitlines(True),
        f"a/{CLIP_PLACE}",
        f"b/{CLIP_PLACE}",
    )
    patch.write_text("".join(lines), encoding="utf-8")


def _bug_records() -> Path:
    """The file in which the corpus of seeded bugs keeps what it executed."""
    (path,) = Path("bugs").rglob("*.jsonl")
    return path


def _write_training() -> None:
    """A table to learn from, and a training that was stopped."""
    names = ("total", "count", "words", "value", "first", "left", "right", "size")
    rows = [
        {
            "source": f"def get_{one}_{other}(values):\n    {one} = len(values)\n    {other} = {one} + {number}\n    return {other}\n",
            "name": f"get_{one}_{other}", "language": "python", "file": f"{one}{other}.py", "line": 1, "group": f"{one}{other}",
        }
        for number, (one, other) in enumerate(itertools.permutations(names, 2))
    ]  # fmt: skip
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    @contextmanager
    def stopping() -> Iterator[Any]:
        steps = itertools.count()
        yield lambda: next(steps) > 30

    with mock.patch("codeaudit.cli.train.asked_to_stop", stopping):
        quiet([*TRAINING, "--epochs", "3", "--out", "trained"])


def _write_hub_model(folder: Path) -> None:
    """A small classifier of Hugging Face."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=list(special.values()), initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator([PYTHON], trainer)
    fast: Any = transformers.PreTrainedTokenizerFast
    words = fast(tokenizer_object=made, **special)
    sizes: dict[str, Any] = {
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 8,
    }
    config = transformers.BertConfig(
        vocab_size=len(words), max_position_embeddings=400, id2label={0: "clean", 1: "buggy"}, **sizes
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        transformers.BertForSequenceClassification(config).save_pretrained(folder)
    words.save_pretrained(folder)


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
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "[find_total] [ft]"},
        }
    ],
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
        rows = connection.execute("SELECT answer FROM answers ORDER BY key").fetchall()
    connection.close()
    return [json.loads(text) for (text,) in rows]


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
    run.write_manifest({**new, EXPLAINED: [explained]})


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


def _copied(source: str, target: str) -> None:
    """Link a file; commands replace files and do not write into them. Databases and logs are copied."""
    if Path(source).suffix in (".sqlite", ".jsonl"):
        shutil.copy2(source, target)
    else:
        os.link(source, target)


def tried(reader: Reader, mutant: int, world: Path, work: Path, url: str) -> tuple[Result, str]:
    """The result of one mutant, and everything that the command printed."""
    rng = random.Random(f"{reader.name} {mutant}")
    os.chdir(world)
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(world, work, copy_function=_copied)
    os.chdir(work)
    path, form = rng.choice(list(reader.files.items()))
    data, structured = Path(path).read_bytes(), False
    if mutant != SEED:
        data, structured = mutated(rng, form, data)
    Path(path).unlink()
    Path(path).write_bytes(data)
    # Half of the changed runs get new hashes: the readers behind the check of hashes must hold, too.
    if path.startswith("run/") and mutant != SEED and rng.random() < 0.7:
        with suppress(Exception):
            rebind(Path("run"))
    if reader.name == "bugs":
        shutil.copy("bugs.jsonl", _bug_records())
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
    if code == INTERRUPTED:
        raise SystemExit(f"interrupted in {reader.name} {mutant}")
    said = next(iter(err.getvalue().splitlines()[-1:]), "")
    named = (path, Path(path).name, *reader.names)
    if mutant == SEED and code not in (0, 1):
        wrong = "the seed is not valid"
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
        message = said.removeprefix("codeaudit: ")
        if message == said:
            return "the last line is no error"
        if not message.startswith(NOT_OF_A_FILE) and not any(name in message for name in named):
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
            write_world(Path(place, "world"), readers)
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
        "--reader",
        action="append",
        choices=[reader.name for reader in READERS],
        help="repeatable; default: all",
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--mutants", type=int, default=40, help="of each reader")
    parser.add_argument("--log", type=Path, help="a file of results, continued")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after this time")
    asked = parser.parse_args(arguments)
    readers = [reader for reader in READERS if asked.reader is None or reader.name in asked.reader]
    log = None if asked.log is None else asked.log.absolute()
    ends = time.monotonic() + asked.seconds
    # A mutant that asks for more memory fails, instead of the machine.
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
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
        own = [result for result in results if result.reader == reader.name]
        codes = Counter(result.code for result in own)
        parsed, wrong = sum(result.parsed for result in own), sum(bool(result.wrong) for result in own)
        shown = f"{reader.name:20} {len(own):7} {parsed:7} {codes[0]:7} {codes[1]:5} {codes[2]:5} {codes[3]:5} {wrong:7}"
        print(shown)
    for result in results:
        if result.wrong:
            print(
                f"{result.reader} {result.mutant}: {result.wrong}: exit {result.code}: {result.command}\n    {result.said}"
            )
    print(f"{len(results)} mutants, {sum(bool(result.wrong) for result in results)} wrong")
    return 1 if any(result.wrong for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())

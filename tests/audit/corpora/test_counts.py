"""Every line `N of M; left out: …` adds up, whatever a corpus is and however damaged it is."""

import csv
import gzip
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

import pandas as pd
import pytest

from codeaudit.audit.registry import TASKS
from codeaudit.audit.run import SilentProgress
from codeaudit.options import RunOptions
from codeaudit.preparing import DrawnInputs, prepare_inputs
from codeaudit.transforms.errors import CorpusError

Rows = Sequence[Mapping[str, object]]
SOURCES: Sequence[object] = (
    *(f"def f{n}(x):\n    y = x + {n}\n    return y\n" for n in range(6)),
    "def f1(x):\n    y = x + 1  # a copy\n    return y\n", "def f(:\n", "x = 1\n", "", " ", None, 7, "\ud800",
    "def f[T](x):\n    y = x\n    return y\n", "def f():\n    ...\n",
)  # fmt: skip
DAMAGE: Sequence[object] = (None, "", "train", 3, float("nan"), ["x"], {"a": 1})
FILES = (b"x = '\xff'\n", b"# coding: rot13\nx = 1\n", b"x = 1\0\n", b"def f(:\n", b"", b"def f():\n  pass\n")


def rows(random: Random) -> Rows:
    """Rows of which some hold what no table should."""
    table = []
    for _ in range(random.randint(1, 24)):
        row = {"code": random.choice(SOURCES), "label": random.choice(("f1", "f2", *DAMAGE))}
        table.append({**row, "split": random.choice(("train", "train", "test", None)), "group": "g"})
    return [*table, {"code": SOURCES[0], "label": "f0", "split": "train", "group": "g"}]


def as_lines(random: Random) -> bytes:
    """JSON lines, some of which are none."""
    lines = [json.dumps(row) for row in rows(random)]
    lines += random.choices(("not json", "[1]", "", "3", "{", '{"code": null}'), k=random.randint(0, 4))
    random.shuffle(lines)
    return "\n".join(lines).encode()


def as_array(random: Random) -> bytes:
    """A JSON array, in which some are no objects."""
    table: list[object] = [*rows(random), *random.choices((1, None, [], {}), k=random.randint(0, 3))]
    random.shuffle(table)
    return json.dumps(table, indent=1).encode()


def lines(folder: Path, random: Random) -> str:
    (folder / "t.jsonl").write_bytes(as_lines(random))
    return str(folder / "t.jsonl")


def split(folder: Path, random: Random) -> str:
    return lines(folder, random) + ":train"


def lines_named_json(folder: Path, random: Random) -> str:
    (folder / "t.json").write_bytes(json.dumps(rows(random)[-1]).encode() + b"\n" + as_lines(random))
    return str(folder / "t.json")


def array(folder: Path, random: Random) -> str:
    (folder / "t.json").write_bytes(as_array(random))
    return str(folder / "t.json")


def zipped(folder: Path, random: Random) -> str:
    (folder / "t.json.gz").write_bytes(gzip.compress(as_array(random)))
    return str(folder / "t.json.gz")


def commas(folder: Path, random: Random) -> str:
    with (folder / "t.csv").open("w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.DictWriter(file, ["code", "label", "split", "group"])
        writer.writeheader()
        writer.writerows(rows(random))
    return str(folder / "t.csv")


def parquet(folder: Path, random: Random) -> str:
    kept = [
        {k: v if isinstance(v, str) and v.isascii() else None for k, v in row.items()} for row in rows(random)
    ]
    pd.DataFrame(kept).to_parquet(folder / "t.parquet")
    return str(folder / "t.parquet")


def sources(folder: Path, random: Random) -> str:
    for number, source in enumerate(random.choices(SOURCES, k=8)):
        text = source if isinstance(source, str) and source.isascii() else "class A:\n    pass\n"
        (folder / f"{number}.py").write_text(text, encoding="utf-8")
        (folder / f"{number}.java").write_text("class A { int f(int x) {\n int y = x;\n return y; } }")
    for number, data in enumerate(random.choices(FILES, k=4)):
        (folder / f"bad{number}.py").write_bytes(data)
    (folder / "good.py").write_text("def f0(x):\n    y = x + 0\n    return y\n", encoding="utf-8")
    return str(folder)


def bugs(folder: Path, random: Random) -> str:
    return f"bugs:unexecuted:{sources(folder, random)}"


def problems(folder: Path, random: Random) -> str:
    """MBPP, sanitized, some of whose cells are null."""
    table = []
    for number in range(random.randint(1, 8)):
        code = random.choice((f"def f{number}(x):\n    y = x\n    return y\n", None, SOURCES[0]))
        tests = random.choice(([f"assert f{number}(1) == 1"], [], None))
        table.append({"task_id": number, "code": code, "test_list": tests, "test_imports": []})
    table.append({"task_id": 99, "code": SOURCES[0], "test_list": ["assert f0(1) == 1"], "test_imports": []})
    (folder / "t.json").write_text(json.dumps(table), encoding="utf-8")
    return str(folder / "t.json")


def assembly(folder: Path, random: Random) -> str:
    blocks = random.choices(
        ("addq %rax, %rbx", "movq %rcx, %rdx\naddq $1, %rdx", "nonsense %r", "ret ret"), k=9
    )
    (folder / "t.s").write_text("\n\n".join([*blocks, "addq %rax, %rbx\n"]), encoding="utf-8")
    return str(folder / "t.s")


FORMS: Mapping[Callable[[Path, Random], str], tuple[str, ...]] = {
    **dict.fromkeys(
        (lines, split, lines_named_json, array, zipped, commas, parquet, sources),
        ("function-name", "next-line"),
    ),
    bugs: ("error-detection",),
    problems: ("generation",),
    assembly: ("throughput",),
}


def counts(line: str) -> tuple[int, int, int, int]:
    """N, M, what was left out, and what was not drawn, as the line says it."""
    match = re.search(r": ([\d,]+) of ([\d,]+) \w+", line)
    assert match is not None, line
    left_out = re.search(r"left out: ([^;]*)", line)
    reasons = re.findall(r"([\d,]+) (?:×|others?)", left_out[1]) if left_out else []
    not_drawn = re.search(r"not drawn: ([\d,]+)", line)
    number = lambda text: int(text.replace(",", ""))  # noqa: E731
    rest = number(not_drawn[1]) if not_drawn else 0
    return number(match[1]), number(match[2]), sum(map(number, reasons)), rest


@pytest.mark.thinned(10)
@pytest.mark.parametrize(
    ("made", "task"), [(made, task) for made, tasks in FORMS.items() for task in tasks],
    ids=lambda param: param if isinstance(param, str) else param.__name__,
)  # fmt: skip
@pytest.mark.parametrize("limit", [0, 2])
def test_the_counts_of_a_damaged_corpus_add_up(
    made: Callable[[Path, Random], str], task: str, limit: int, tmp_path: Path
) -> None:
    tried = 0
    for seed in range(4):
        folder = tmp_path / str(seed)
        folder.mkdir()
        spec = made(folder, Random(f"{made.__name__} {seed}"))
        options = RunOptions(corpus=spec, task=task, limit=limit, seed=seed, cache=folder / "cache")
        try:
            inputs = prepare_inputs(options, TASKS.get(task), None, SilentProgress())
        except CorpusError:  # not one example is left
            continue
        tried += 1
        assert isinstance(inputs, DrawnInputs)
        drawn, every, left_out, not_drawn = counts(inputs.headline)
        assert drawn + left_out + not_drawn == every, inputs.headline
        assert limit or not not_drawn, inputs.headline
        if made in (array, problems):
            assert every == len(json.loads(Path(spec).read_bytes()))
        about = inputs.about
        files = len(inputs.selections[0].unread_files)
        skipped = sum(inputs.skipped.values()) - files
        assert (about["samples"], about["available"]) == (drawn, every)
        assert drawn + skipped + not_drawn == every
        assert ("not read" in inputs.headline) == bool(files)
    assert tried > 1

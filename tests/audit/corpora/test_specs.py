"""Every form of a corpus, from the SPEC to its samples."""

import csv
import gzip
import json
import math
import os
import re
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from codeaudit.audit.corpora.records import LabelColumn
from codeaudit.audit.corpora.specs import corpus
from codeaudit.cli.main import main
from codeaudit.transforms.errors import CorpusError, SourceError
from codeaudit.transforms.records import Sample
from tests.conftest import WORDS
from tests.support.data import data_set
from tests.support.plugins import install

ROWS = [
    {"name": "one", "source": "def one(x):\n    return 1\n", "split": "train", "file": "a/one.py", "line": 7},
    {"name": "two", "source": "def two(x):\n    return 2\n", "split": "test", "file": "a/two.py", "line": 9},
]


def read(spec: str) -> tuple[list[Sample], Counter[str]]:
    skipped: Counter[str] = Counter()
    return list(corpus(spec).read(skipped)), skipped


def test_stdlib_modules() -> None:
    samples, _ = read("stdlib:json,textwrap")
    assert {sample.origin.path.partition("/")[0] for sample in samples} == {"json", "textwrap.py"}
    assert {"dedent", "py_scanstring"} <= {sample.label for sample in samples}


@pytest.mark.slow
def test_the_standard_library_has_thousands_of_functions_and_no_tests() -> None:
    samples, _ = read("stdlib")
    assert len(samples) > 5000
    assert not [
        sample
        for sample in samples
        if {"test", "tests", "site-packages"} & set(sample.origin.path.split("/"))
    ]


def test_an_installed_package_by_import_and_by_distribution_name() -> None:
    assert any(sample.origin.path == "click/core.py" for sample in read("package:click")[0])
    assert read("package:safetensors")[0]
    assert read("package:scikit-posthocs")[0]
    assert {sample.origin.path for sample in read("package:click.types")[0]} == {"types.py"}


def test_a_folder_with_origins_relative_to_it(sources: Path) -> None:
    (sources / ".hidden").mkdir()
    (sources / ".hidden" / "bad.py").write_text("def f(:\n", encoding="utf-8")
    samples, skipped = read(str(sources))
    assert [sample.origin.path for sample in samples] == ["totals.py", "totals.py", "words.py", "words.py"]
    assert "source does not parse" not in skipped


def test_bad_files_in_a_folder_are_counted_and_the_others_read(sources: Path) -> None:
    (sources / "a.py").write_text("def f(:\n", encoding="utf-8")
    (sources / "b.py").write_bytes(b"x = '\xff'\n")
    (sources / "c.py").write_bytes(b"x = 1\0")
    (sources / "d.py").write_bytes(b"x = 1\n" * 2_000_000)
    (sources / "e.py").write_text("x = " + "(" * 5000, encoding="utf-8")
    (sources / "f.py").symlink_to("nowhere.py")
    samples, skipped = read(str(sources))
    assert len(samples) == 4
    assert skipped >= Counter(
        {"source does not parse": 1, "not UTF-8": 1, "null bytes": 1, "file over 2 MB": 1}
    )
    assert skipped["nested too deeply for this Python"] == 1
    assert skipped["unreadable: No such file or directory"] == 1


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"def f(:\n", "not valid Python: line 1: invalid syntax"),
        (b"x = '\xff'\n", "not UTF-8"),
        (b"x = 1\0", "null bytes"),
        (b"x = 1\n" * 2_000_000, "file over 2 MB"),
        (b"x = " + b"(" * 5000, "nested too deeply"),
    ],
)
def test_the_one_file_that_was_named_must_be_usable(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "named.py"
    path.write_bytes(data)
    with pytest.raises(SourceError, match=rf"cannot use '.*named\.py': {reason}"):
        read(str(path))


def test_json_lines_plain_and_gzipped(tmp_path: Path) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in ROWS) + "\nnot json\n[1]\n" + '{"source": null}\n'
    (tmp_path / "t.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    plain, skipped = read(str(tmp_path / "t.jsonl"))
    assert [(sample.label, sample.origin.path, sample.origin.line) for sample in plain] == [
        ("one", "a/one.py", 7),
        ("two", "a/two.py", 9),
    ]
    assert skipped == {"line that is not JSON": 1, "line that is not an object": 1, "row without source": 1}
    assert read(str(tmp_path / "t.jsonl.gz"))[0] == plain


def test_csv_plain_and_gzipped(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["func_name", "code"])
        writer.writeheader()
        writer.writerows({"func_name": row["name"], "code": row["source"]} for row in ROWS)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    samples, _ = read(str(path))
    assert [(sample.label, sample.source, sample.origin.line) for sample in samples] == [
        ("one", ROWS[0]["source"], 1),
        ("two", ROWS[1]["source"], 2),
    ]
    assert [sample.id for sample in read(str(tmp_path / "t.csv.gz"))[0]] == [sample.id for sample in samples]


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.Table.from_pylist(ROWS), path)
    assert [sample.label for sample in read(str(path))[0]] == ["one", "two"]


def test_a_split_is_named_after_a_colon(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    assert [sample.label for sample in read(f"{path}:test")[0]] == ["two"]
    with pytest.raises(CorpusError, match="did you mean 'train'"):
        read(f"{path}:trai")


def test_language_by_column_or_file_or_default(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    rows = [
        {"source": "int f() {}", "language": "Java"},
        {"source": "int g() {}", "file": "a/B.java"},
        {"source": "def h(): ..."},
        {"asm": "addq %rax, %rbx"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert [sample.language for sample in read(str(path))[0]] == ["java", "java", "python", "x86"]


def test_text_that_is_not_unicode_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"source": "x = \'\\ud800\'"}\n{"source": "y = \'\\u00e9\'"}\n', encoding="utf-8")
    samples, skipped = read(str(path))
    assert [sample.source for sample in samples] == ["y = 'é'"]
    assert skipped == {"row that is not Unicode": 1}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse the name")
def test_a_file_name_that_is_no_text(tmp_path: Path) -> None:
    Path(os.fsdecode(bytes(tmp_path) + b"/\xff.py")).write_text(WORDS, encoding="utf-8")
    samples, _ = read(str(tmp_path))
    assert {sample.origin.path for sample in samples} == {"?.py"}


@pytest.mark.parametrize("name", ["t.jsonl.gz", "t.csv.gz", "t.parquet"])
def test_a_damaged_table_is_one_error(tmp_path: Path, name: str) -> None:
    whole = gzip.compress(json.dumps(ROWS[0]).encode() * 50)
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CorpusError, match="cannot read table"):
        read(str(tmp_path / name))


@pytest.mark.parametrize("name", ["t.jsonl.gz", "t.json.gz", "t.csv", "t.csv.gz", "t.parquet"])
@pytest.mark.parametrize("content", [b"\x7fELF\2\1\1\0\xd0", b"source\n\xff\xfe\n", b"\x1f\x8b\xff"])
def test_a_file_that_is_no_table_is_told_without_values_of_python(
    tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError) as error:
        read(str(tmp_path / name))
    assert not re.search(r"codec|0x|\bb['\"]|\\\\x", str(error.value))


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("code_text;label\nint f;1\n", "its cells are separated by ';'; write commas", "--columns"),
        ("code_text\tlabel\nint f\t1\n", r"its cells are separated by '\t'; write commas", "--columns"),
        ("func,target\nint f,1\n", "--columns source=func,label=target", "hexadecimal"),
        ("int f(),1\n", "hexadecimal", "separated"),
    ],
)
def test_what_a_csv_lacks_is_told_by_its_first_row(
    tmp_path: Path, text: str, wanted: str, unwanted: str
) -> None:
    (tmp_path / "t.csv").write_text(text, "utf-8")
    with pytest.raises(CorpusError) as error:
        read(str(tmp_path / "t.csv"))
    assert wanted in str(error.value)
    assert unwanted not in str(error.value)


def test_a_table_that_is_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"source\n\xff\xfe\n")
    with pytest.raises(CorpusError, match="cannot read table"):
        read(str(tmp_path / "t.csv"))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("stdlb", "did you mean 'stdlib'"),
        ("stdlib:jsn", "did you mean 'json'"),
        ("stdlib:", "names no module"),
        ("package:no_such_package", "is not installed"),
        ("nowhere.py", "no such file or folder"),
        ("de-morgan", "'de-morgan' is a transform: write --transform de-morgan"),
        ("notes.txt", "no known format"),
    ],
)
def test_a_corpus_that_does_not_exist_says_so(
    spec: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("x", encoding="utf-8")
    with pytest.raises(CorpusError, match=message):
        read(spec)


def test_a_typo_in_a_path_finds_the_neighbour(sources: Path) -> None:
    with pytest.raises(CorpusError, match=r"did you mean '.*totals\.py'"):
        corpus(str(sources / "total.py"))


def test_a_folder_without_python_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"no Python, Java, JavaScript, TypeScript, C or C\+\+ files"):
        read(str(tmp_path))


def test_a_pipe_is_no_corpus_that_hangs(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    os.mkfifo(folder / "pipe.py")
    with pytest.raises(CorpusError, match=r"no Python, Java, JavaScript, TypeScript, C or C\+\+ files"):
        read(str(folder))


@pytest.mark.slow
def test_the_real_data_sets_read() -> None:
    samples, skipped = read(f"{data_set('python_functions.jsonl.gz')}:test")
    assert len(samples) == 9645
    assert not skipped
    assert len(read(str(data_set("HumanEval.jsonl.gz")))[0]) == 164
    assert {sample.language for sample in read(str(data_set("defects4j_methods.jsonl.gz")))[0]} == {"java"}


def test_a_package_can_bring_a_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """
from codeaudit.audit.corpora.records import raw_sample

class Numbered:
    def __init__(self, spec, count):
        self.spec, self.count = spec, count
    def read(self, skipped):
        for number in range(self.count):
            source = f"def f(a):\\n    b = a + {number}\\n    return b\\n"
            yield raw_sample(source, language="python", label="f", path="made", line=number)

def numbered(spec, rest, resources):
    '''So many functions that add a number.'''
    return Numbered(spec, int(rest))
"""
    points = {"numbered": "numbered_corpus:numbered", "stdlib": "numbered_corpus:numbered"}
    monkeypatch.syspath_prepend(
        install(tmp_path, "numbers", {"codeaudit.corpora": points}, {"numbered_corpus": text})
    )
    assert len(read("numbered:5")[0]) == 5
    assert len(read("stdlib:textwrap")[0]) > 5, "a built-in corpus wins"
    assert main(["list", "corpora", "--verbose"]) == 0
    assert "numbered:REST" in capsys.readouterr().out


HUGE: list[object] = [
    10**400,
    -(10**400),
    "1" * 400,
    2**63,
    "²",
    "٣",
    -1,
    1.5,
    True,
    [1],
    {},
    "9" * 5000,
    float("nan"),
]
"""Values that no 64-bit whole number and no float may hold, or that only look like numbers."""


@pytest.mark.thinned(20)
@pytest.mark.parametrize(
    "column", ["line", "label", "name", "split", "group", "file", "language", "test", "input"]
)
@pytest.mark.parametrize("value", HUGE, ids=lambda value: str(type(value).__name__))
def test_any_value_in_any_column_gives_samples_that_a_run_can_hold(
    tmp_path: Path, column: str, value: object
) -> None:
    row = {"source": "def f(x):\n    return x\n", "file": "a.py", column: value}
    if column != "name":
        row["name"] = "f"
    table = tmp_path / "rows.jsonl"
    table.write_text(json.dumps(row) + "\n" + json.dumps(ROWS[0]) + "\n", encoding="utf-8")
    samples, _ = read(str(table))
    assert samples
    for sample in samples:
        assert 0 <= sample.origin.line < 2**63
        assert not isinstance(sample.label, float) or math.isfinite(sample.label)


@pytest.mark.parametrize("column", ["cycles", "label"])
@pytest.mark.parametrize("value", ["1e999", "inf", "nan", "9" * 400, 10**400])
def test_a_label_that_is_no_finite_number_is_left_out_aloud(
    tmp_path: Path, column: str, value: object
) -> None:
    rows = [{"source": "x = 1\n", column: value}, {"source": "y = 1\n", column: 3}]
    table = tmp_path / "rows.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    skipped: Counter[str] = Counter()
    samples = list(corpus(str(table), LabelColumn(name=column, divisor=2.0)).read(skipped))
    # NaN is the missing value of tables: such a row has no label.
    kept = [] if str(value) != "nan" else [None]
    assert [sample.label for sample in samples] == [*kept, 1.5]
    assert skipped == ({} if kept else {"label that is no finite number": 1})

"""Near copies of what a checkpoint learned from: what counts as one, and that a run tells it."""

import time
from pathlib import Path

import numpy as np
import pytest

from codeaudit.audit.checkpoints import FOLDER, names
from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.training.learned import FILE, Learned, learned_hashes, near_copy_hash
from codeaudit.cli.main import main

MEAN = '''\
def mean(values, start=0):
    """The mean."""
    total = start
    for value in values:
        total += value  # all of them
    return total / len(values)
'''
JAVA = (
    "int sum(int[] values) {\n  int total = 0;\n  for (int one : values) total += one;\n  return total;\n}\n"
)
LIMITED = """\
int larger(int *values, int size) {
#define LEAST 1
  int total = 0;
  for (int i = 0; i < size; i++) if (values[i] > LEAST) total++;
  return total;
}
"""
PRIVATE = "add(start, other) { const sum = this.#total + start + other; this.last = sum; return sum; }\n"


@pytest.mark.parametrize(
    ("source", "changed", "language"),
    [
        (MEAN, MEAN.replace("total", "found").replace("values", "rows").replace("mean", "METHOD"), "python"),
        (MEAN, MEAN.replace('    """The mean."""\n', "").replace("  # all of them", ""), "python"),
        (MEAN, MEAN.replace("    ", "\t").replace("\n\t\ttotal", "\n\n\t\ttotal"), "python"),
        (JAVA, JAVA.replace("total", "all").replace("int total", "/* all */ int total"), "java"),
        (JAVA, "// The sum.\n" + JAVA.replace("one", "value"), "java"),
        (LIMITED, LIMITED.replace("LEAST", "LOW").replace("total", "all"), "c"),
        (PRIVATE, PRIVATE.replace("start", "begin") + "// The sum.\n", "javascript"),
    ],
)
def test_names_of_variables_comments_and_blanks_make_no_difference(
    source: str, changed: str, language: str
) -> None:
    assert source != changed
    assert near_copy_hash(source, language) == near_copy_hash(changed, language) != None  # noqa: E711


@pytest.mark.parametrize(
    ("source", "old", "new", "language"),
    [
        (MEAN, "total / len", "total * len", "python"),
        (MEAN, "total +=", "values +=", "python"),
        (MEAN, "start=0", "start=1", "python"),
        (MEAN, "for value in values", "for start in values", "python"),
        (JAVA, "total += one", "total -= one", "java"),
        (LIMITED, "LEAST 1", "LEAST 2", "c"),
        (PRIVATE, "#total + start", "#total - start", "javascript"),
    ],
)
def test_other_code_is_no_copy(source: str, old: str, new: str, language: str) -> None:
    assert near_copy_hash(source, language) != near_copy_hash(source.replace(old, new), language)


def test_a_short_text_is_no_copy() -> None:
    assert near_copy_hash("def f(a):\n    return a\n", "python") is None


def test_the_file_holds_the_samples(tmp_path: Path) -> None:
    sample = raw_sample(MEAN, language="python", label=None, path="a.py", line=1)
    (tmp_path / FILE).write_bytes(learned_hashes([sample, sample]))
    learned = Learned.read(tmp_path)
    assert learned is not None
    assert learned.has(MEAN.replace("total", "all_"), "python")
    assert not learned.has(MEAN, "java")
    assert not learned.has(MEAN.replace("/", "*"), "python")
    (tmp_path / FILE).write_bytes(b"12345")
    assert Learned.read(tmp_path) is None
    assert Learned.read(tmp_path / "none") is None


@pytest.mark.parametrize(
    "name", [name for name in names() if "renamer" not in name and "throughput" not in name]
)
def test_bundled_checkpoints_say_what_they_learned_from(name: str) -> None:
    hashes = np.frombuffer((FOLDER / name / FILE).read_bytes(), dtype="<u4")
    assert len(hashes) > 40_000
    assert (np.diff(hashes.astype(np.int64)) > 0).all()


def test_a_run_tells_how_many_samples_a_model_learned_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.py").write_text(MEAN + "\n\n" + MEAN.replace("mean", "middle").replace("/", "*"))
    known = raw_sample(MEAN, language="python", label=None, path="a.py", line=1)
    hashes = np.frombuffer(learned_hashes([known]), dtype="<u4")
    monkeypatch.setattr(Learned, "read", lambda folder: Learned(hashes))
    words = [
        "run",
        "--corpus",
        str(tmp_path / "own.py"),
        "--model",
        "spe-checkpoint",
        "--transform",
        "rename",
    ]
    assert main([*words, "--workers", "1", "--out", str(tmp_path / "out")]) == 0
    assert "spe-checkpoint: learned from near copies of 1 of 2 samples" in capsys.readouterr().err


def test_in_python_two_slashes_divide() -> None:
    first = "def f(a, b):\n    x = a // 10 + g(b)\n    return x + a + b * 2 + a\n"
    second = first.replace("10 + g(b)", "7 * h(a) - b")
    assert near_copy_hash(first, "python") != near_copy_hash(second, "python")


def test_the_time_grows_with_the_length_of_a_text() -> None:
    def seconds(lines: int) -> float:
        began = time.process_time()
        near_copy_hash("a = b + c.d;\n" * lines, "javascript")
        return time.process_time() - began

    assert seconds(16_000) < 20 * max(seconds(4_000), 0.01)

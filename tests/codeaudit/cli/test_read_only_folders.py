"""A project that its owner may not write to: copies of it are made, changed and left with its modes."""

import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import COMMAND, environment
from tests.support.rights import obeying, skip_where_modes_do_not_count

pytestmark = pytest.mark.slow

SOURCE = """\
    def total(values, start):
        result = 0
        count = 1
        for value in values:
            result += value
            count += 1
        return result + start * count - start * (count - 1)
"""
TEST = """\
    from package.inner.sums import total


    def test_total():
        assert total([1, 2], 3) == 6
"""

PYTEST = "python -m pytest -q -p no:cacheprovider"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    skip_where_modes_do_not_count()
    made = tmp_path / "project"
    inner = made / "package" / "inner"
    inner.mkdir(parents=True)
    (inner / "sums.py").write_text(textwrap.dedent(SOURCE), "utf-8")
    (made / "tests").mkdir()
    (made / "tests" / "test_sums.py").write_text(textwrap.dedent(TEST), "utf-8")
    closed = (made, made / "package", inner)
    for folder in closed:
        folder.chmod(0o555)
    yield made
    for folder in closed:
        folder.chmod(0o755)


def codeaudit(*words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    around = environment({"PYTHONDONTWRITEBYTECODE": "1"})
    return subprocess.run(
        [*COMMAND, *words], cwd=cwd, env=around, capture_output=True, text=True, preexec_fn=obeying
    )


@pytest.mark.parametrize(
    "words",
    [
        ("--transform", "rename"),
        ("--dependence", "confirmed", "--transform", "reorder", "--test-command", PYTEST),
    ],
)
def test_transform_writes_a_copy_with_the_modes_of_the_project(
    project: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = codeaudit("transform", "project", "--out", "copy", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    copy = tmp_path / "copy" / "package" / "inner"
    assert (copy / "sums.py").read_text("utf-8") != textwrap.dedent(SOURCE)
    assert [folder.stat().st_mode & 0o777 for folder in (copy, copy.parent, copy.parents[1])] == [0o555] * 3
    assert (tmp_path / "copy" / "tests").stat().st_mode & 0o200
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "project"]
    for folder in (copy.parents[1], copy.parent, copy):
        folder.chmod(0o755)


def test_what_fails_leaves_no_half_copy(project: Path, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o555)
    done = codeaudit("transform", "project", "--transform", "rename", "--out", "closed/copy", cwd=tmp_path)
    assert done.returncode == 3
    assert "cannot write to 'closed/copy': Permission denied; give another --out" in done.stderr
    (project / "package" / "inner" / "sums.py").chmod(0o000)
    done = codeaudit("transform", "project", "--transform", "rename", "--out", "copy", cwd=tmp_path)
    assert done.returncode == 3
    assert "cannot copy 'project'" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["closed", "project"]


def test_what_a_closed_run_shows_is_not_lost(tmp_path: Path) -> None:
    skip_where_modes_do_not_count()
    (tmp_path / "sums.py").write_text(textwrap.dedent(SOURCE), "utf-8")
    words = ("--corpus", "sums.py", "--model", "fake/hash", "--transform", "rename", "--out", "run")
    assert codeaudit("run", *words, cwd=tmp_path).returncode == 0
    for path in ((run := tmp_path / "run"), *run.iterdir()):
        path.chmod(path.stat().st_mode & 0o555)
    done = codeaudit("explain", "run", "--limit", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "fake/hash, rename, sample" in done.stdout
    assert "the explanations are shown and not kept: cannot write 'run/" in done.stderr
    tmp_path.chmod(0o555)
    done = codeaudit("transform", "sums.py", "--suite", "suite.jsonl", cwd=tmp_path)
    tmp_path.chmod(0o755)
    run.chmod(0o755)
    assert done.returncode == 3
    assert "cannot write to 'suite.jsonl': Permission denied; give another --suite" in done.stderr


def test_verify_runs_the_tests_of_the_project(project: Path, tmp_path: Path) -> None:
    done = codeaudit("verify", "project", "--test-command", PYTEST, cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "1 of the 1 changed units" in done.stderr

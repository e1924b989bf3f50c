"""`--dependence`: the promise is in the names, the tables and the gate."""

from pathlib import Path

import pytest

from codeaudit.finished_runs import read_run
from tests.support.commands import called

SOURCE = """
def area(a, b, items):
    width = a.width
    height = b.height
    total = 0
    for item in items:
        total += item
    return width * height + total
"""
MODEL = "def first(queries):\n    return [query.source.split('=')[0].split()[-1] for query in queries]\n"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dependence")
    (folder / "source.py").write_text(SOURCE, encoding="utf-8")
    (folder / "my_model.py").write_text(MODEL, encoding="utf-8")
    for dependence in ("strict", "returning", "paper"):
        words = ("--corpus", "source.py", "--model", "py/my_model:first", "--transform", "reorder")
        done = called("run", *words, "--dependence", dependence, "--out", dependence, cwd=folder)
        assert done.returncode == 0, done.stderr
        (folder / f"{dependence}.txt").write_text(done.stdout, encoding="utf-8")
    return folder


@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("dependence", "name", "kind", "evidence"),
    [
        ("returning", "returning/reorder", "preserving", "analysis (returning)"),
        ("paper", "paper/reorder", "paper", "parsed"),
    ],
)
def test_a_run_tells_the_relation(runs: Path, dependence: str, name: str, kind: str, evidence: str) -> None:
    run = read_run(runs / dependence)
    (model,) = run.summary.models
    (row,) = (row for row in model.by_transform if row.transform == name)
    assert row.kind == kind
    assert set(row.evidence) == {evidence}
    assert 0 < row.pairs.count <= row.pairs.total
    assert "reorder-breaking" in {row.transform for row in model.by_transform}
    text = (runs / f"{dependence}.txt").read_text(encoding="utf-8")
    assert text.count(f"{name}: ") == 2, "both tables of rates name the promise"


def test_orders_by_names_only_count_in_no_other_rate(runs: Path) -> None:
    (model,) = read_run(runs / "paper").summary.models
    assert model.pairs.total == model.all_samples.total == 0
    assert "they count in no other rate" in (runs / "paper.txt").read_text(encoding="utf-8")
    (model,) = read_run(runs / "returning").summary.models
    assert model.pairs.total > 0


def test_the_gate_judges_them_only_if_it_is_told(runs: Path) -> None:
    limit = ("--max-violation-rate", "5%")
    done = called("gate", "paper", *limit, cwd=runs)
    assert done.returncode == 3
    assert "give --dependence paper" in done.stderr
    assert called("gate", "paper", *limit, "--dependence", "paper", cwd=runs).returncode == 1
    done = called("gate", "strict", *limit, "--dependence", "paper", cwd=runs)
    assert done.returncode == 3
    assert "leave out --dependence paper" in done.stderr
    assert called("gate", "returning", *limit, cwd=runs).returncode == 1


@pytest.mark.slow
def test_relations_are_not_compared_with_one_another(runs: Path) -> None:
    done = called("gate", "returning", "--baseline", "strict", cwd=runs)
    assert done.returncode == 3
    assert called("report", "paper", "--baseline", "base.parquet", cwd=runs).returncode == 0
    done = called("gate", "paper", "--baseline", "base.parquet", "--dependence", "paper", cwd=runs)
    assert "shared" not in done.stderr


@pytest.mark.parametrize("command", ["transform", "verify", "run"])
def test_a_relation_without_effect_is_a_wrong_use(runs: Path, command: str) -> None:
    words = {
        "transform": ("source.py", "--diff"),
        "verify": (".",),
        "run": ("--corpus", "source.py", "--model", "py/my_model:first"),
    }[command]
    done = called(command, *words, "--transform", "rename", "--dependence", "paper", cwd=runs)
    assert done.returncode == 2
    assert "--dependence paper has no effect on rename" in done.stderr


def test_files_are_rewritten_under_a_relation(runs: Path) -> None:
    strict = called("transform", "source.py", "--transform", "reorder", "--diff", cwd=runs)
    paper = called(
        "transform", "source.py", "--transform", "order", "--dependence", "paper", "--diff", cwd=runs
    )
    assert strict.returncode == paper.returncode == 0
    assert "paper/reorder" in paper.stderr
    assert strict.stdout != paper.stdout != ""

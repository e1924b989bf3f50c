"""`--macros`: the level is in the names, the tables and the manifest, and levels are never compared."""

import json
from pathlib import Path

import pytest

from tests.support.commands import called

SOURCE = """#include "own.h"
int area(const int *a, int n)
{
    int width = a[0];
    int height = 2;
    ADD(n);
    return width * height;
}
"""
MODEL = "def first(queries):\n    return [query.source.split('=')[0].split()[-1] for query in queries]\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "own.h").write_text("#define ADD(n) (height += (n))\n", encoding="utf-8")
    (tmp_path / "a.c").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "b.py").write_text("def f(a):\n    width = a\n    return width\n", encoding="utf-8")
    (tmp_path / "my_model.py").write_text(MODEL, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_a_copy_is_made_by_what_the_headers_beside_the_source_define(project: Path) -> None:
    done = called("transform", "a.c", "--transform", "rename", "--out", "elsewhere/new.c", cwd=project)
    assert done.returncode == 0, done.stderr
    text = (project / "elsewhere" / "new.c").read_text(encoding="utf-8")
    assert "int height = 2;" in text
    assert "int width" not in text
    done = called("transform", ".", "--transform", "rename", "--macros", "hygienic", "--diff", cwd=project)
    assert done.returncode == 0, done.stderr
    assert "-    int height = 2;" in done.stdout
    assert "-    width = a" in done.stdout, "other languages have no levels, and are rewritten"
    assert "hygienic/rename" in done.stderr


def test_a_level_needs_a_transform_of_c(project: Path) -> None:
    words = ("--transform", "reorder-functions", "--macros", "unknown", "--diff")
    done = called("transform", "b.py", *words, cwd=project)
    assert done.returncode == 2, done.stderr
    assert "--macros unknown has no effect on reorder-functions" in done.stderr


def test_a_run_names_the_level(project: Path) -> None:
    words = (
        "--corpus",
        "a.c",
        "--model",
        "py/my_model:first",
        "--transform",
        "rename",
        "--macros",
        "hygienic",
    )
    done = called("run", *words, "--out", "run", "--format", "json", cwd=project)
    assert done.returncode == 0, done.stderr
    (model,) = json.loads(done.stdout)["models"]
    rows = {row["transform"]: row for row in model["by_transform"]}
    assert set(rows["hygienic/rename"]["evidence"]) == {"analysis (macros hygienic)"}
    assert "rename-merging" in rows
    about = json.loads((project / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert about["options"]["macros"] == "hygienic"

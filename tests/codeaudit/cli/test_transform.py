"""`codeaudit transform`: trees byte for byte, suites that `codeaudit run` takes."""

import ast
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from codeaudit.audit.rows import read_suite
from codeaudit.audit.store import suite_contents
from codeaudit.cli.main import main
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.records import Perturbed
from tests.support.commands import start
from tests.support.waiting import until

METHODS = b"""\
# coding: latin-1
class Totals:\r
    def total(self, values):\r
        result = 0  # \xfc\r
        for value in values:\r
            result += value\r
        return result\r
"""


@pytest.fixture
def tree(tmp_path: Path, sources: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree with everything that a copy could spoil."""
    monkeypatch.chdir(tmp_path)
    (sources / "latin.py").write_bytes(METHODS)
    (sources / "broken.py").write_bytes(b"def f(:\n")
    (sources / "data.bin").write_bytes(bytes(range(256)))
    (sources / "empty").mkdir()
    (sources / "sub").mkdir()
    shutil.copy(sources / "words.py", sources / "sub" / "words.py")
    (sources / "sub" / "words.py").chmod(0o500)
    (sources / "link.py").symlink_to("words.py")
    (sources / "away").symlink_to("/nowhere/at/all")
    for name in (".git", "__pycache__"):
        (sources / name).mkdir()
        (sources / name / "x.py").write_text("def f():\n    a = 1\n    return a\n", encoding="utf-8")
    os.mkfifo(sources / "pipe")
    return sources


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


@pytest.mark.slow
def test_a_copy_of_a_tree(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(tree)
    assert main(["transform", "sources", "--out", "out", "--transform", "rename"]) == 0
    out = tmp_path / "out"
    assert files(tree) == before
    expected = {name for name in before if not name.startswith((".git", "__pycache__"))}
    assert files(out).keys() == expected
    for name in ("data.bin", "broken.py"):
        assert files(out)[name] == before[name]
    for name in ("totals.py", "words.py", "sub/words.py"):
        assert files(out)[name] != before[name]
        ast.parse(files(out)[name])
    assert files(out)["words.py"] == files(out)["sub/words.py"]
    assert os.readlink(out / "link.py") == "words.py"
    assert os.readlink(out / "away") == "/nowhere/at/all"
    assert stat.S_IMODE((out / "sub" / "words.py").stat().st_mode) == 0o500
    assert (out / "empty").is_dir()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".out")] == []
    printed = capsys.readouterr()
    assert "source does not parse" in printed.out
    assert "4 of 5 files changed" in printed.err


def test_line_ends_and_encoding_of_a_changed_file(tree: Path, tmp_path: Path) -> None:
    assert main(["transform", "sources/latin.py", "--out", "out", "--transform", "rename"]) == 0
    written = (tmp_path / "out" / "latin.py").read_bytes()
    lines, old = written.split(b"\n"), METHODS.split(b"\n")
    assert written != METHODS
    assert [line.endswith(b"\r") for line in lines] == [line.endswith(b"\r") for line in old]
    assert b"# \xfc\r" in written


def test_a_file_gives_a_file(tree: Path, tmp_path: Path) -> None:
    assert main(["transform", "sources/words.py", "--out", "new/other.py", "--transform", "rename"]) == 0
    assert main(["transform", "sources/words.py", "--out", "folder", "--transform", "rename"]) == 0
    other = (tmp_path / "new" / "other.py").read_bytes()
    assert other == (tmp_path / "folder" / "words.py").read_bytes()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["other.py"]


def test_several_sources_stand_side_by_side(tree: Path, tmp_path: Path) -> None:
    assert main(["transform", "sources/sub", "sources/totals.py", "--out", "out"]) == 0
    assert sorted(files(tmp_path / "out")) == ["sub/words.py", "totals.py"]


@pytest.mark.slow
def test_equal_seeds_give_equal_trees_for_any_number_of_workers(tree: Path, tmp_path: Path) -> None:
    words = ["transform", "sources", "--transform", "rename,reorder"]
    assert main([*words, "--seed", "3", "--out", "a"]) == 0
    assert main([*words, "--seed", "3", "--out", "b", "--workers", "2"]) == 0
    assert main([*words, "--seed", "4", "--out", "c"]) == 0
    assert files(tmp_path / "a") == files(tmp_path / "b") != files(tmp_path / "c")


@pytest.mark.slow
def test_the_identity_is_a_copy(tree: Path, tmp_path: Path) -> None:
    assert main(["transform", "sources", "--transform", "identity", "--out", "out", "--format", "json"]) == 0
    before = files(tree)
    assert all(before[name] == data for name, data in files(tmp_path / "out").items())


@pytest.mark.slow
def test_by_default_nothing_that_callers_see_is_changed(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["transform", "sources", "--out", "out", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    names = [row["transform"] for row in report["by_transform"]]
    assert "rename" in names
    assert "rename-parameters" not in names
    for row in report["by_transform"]:
        assert row["units"] == row["changed"] + sum(row["not_applied"].values())


def test_the_counts_name_the_assumptions_on_which_the_edits_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "tools.py"
    source.write_text("class C:\n    def f(self, a, b):\n        self._a = a\n        self._b = b\n")
    for number, names in enumerate(("reorder,spacing", "reorder", "spacing", "reorder-breaking")):
        asked = ["transform", str(source), "--transform", names]
        assert main([*asked, "--out", str(tmp_path / f"{number}.py"), "--format", "json"]) == 0
        rows = json.loads(capsys.readouterr().out)["by_transform"]
        for row in rows:
            entries = PYTHON.transforms[row["transform"]].rests_on
            # What the compiler shows to be equal rests on nothing but the text.
            kept = [id for id in entries if PYTHON.ledger[id].of_text or "compiled" not in row["evidence"]]
            assert row["rests_on"] == dict.fromkeys(kept, row["changed"]) or not row["changed"]
        assert main([*asked, "--out", str(tmp_path / f"{number}-told.py")]) == 0
        printed = " ".join("".join(capsys.readouterr()).split())
        assert ("the edits rest on: " in printed) == any(row["rests_on"] for row in rows)


def test_a_diff_is_a_patch(tree: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["transform", "sources/sub", "--transform", "rename"]
    assert main([*words, "--diff"]) == 0
    printed = capfd.readouterr()
    assert "keeps meaning" in printed.err
    assert main([*words, "--out", "out"]) == 0
    shutil.copytree(tree / "sub", tmp_path / "patched")
    (tmp_path / "patched" / "words.py").chmod(0o600)
    subprocess.run(
        ["git", "apply", "-p1", "-"], cwd=tmp_path / "patched", input=printed.out, text=True, check=True,
    )  # fmt: skip
    assert files(tmp_path / "patched") == files(tmp_path / "out")


def test_a_file_without_a_last_line_end_has_a_diff_that_says_so(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "bare.py").write_text("def f(a):\n    b = a\n    return b", encoding="utf-8")
    assert main(["transform", "sources/bare.py", "--transform", "rename", "--diff"]) == 0
    assert capsys.readouterr().out.count("\n\\ No newline at end of file\n") == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [("LIMIT", "2"), ("VARIANTS", "2"), ("MOVABLE", "5"), ("EXECUTE", "1"), ("TEST_COMMAND", "pytest -q")],
)
def test_options_for_other_commands_in_the_environment_do_not_stop_this_one(
    tree: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"CODEAUDIT_{name}", value)
    assert main(["transform", "sources/words.py", "--transform", "rename", "--out", "out.py"]) == 0
    assert Path("out.py").is_file()


REFUSED = {
    "out in the source": (["sources", "--out", "sources/new"], 2, "lies in 'sources'"),
    "out is the source": (["sources", "--out", "sources"], 2, "lies in 'sources'"),
    "out is not empty": (["sources/sub", "--out", "full"], 2, "is not empty; give a new folder"),
    "out is a file": (["sources/words.py", "--out", "full/x"], 2, "exists; give a new name"),
    "no place to write to": (["sources"], 2, "give --out DIR"),
    "both places": (["sources", "--out", "o", "--suite", "s.jsonl"], 2, "not both"),
    "variants of a tree": (["sources", "--out", "o", "--variants", "2"], 2, "--variants goes with --suite"),
    "limit of a tree": (["sources", "--out", "o", "--limit", "2"], 2, "--limit goes with --suite"),
    "execution of a tree": (["sources", "--out", "o", "--execute"], 2, "--execute goes with --suite"),
    "corpus as a tree": (["stdlib:json", "--out", "o"], 2, "give --suite FILE"),
    "no such source": (["nowhere", "--out", "o"], 3, "no corpus 'nowhere'"),
    "no Python": (["sources/empty", "--out", "o"], 3, "no Python, Java"),
    "no such transform": (["sources", "--out", "o", "--transform", "renam"], 2, "did you mean 'rename'?"),
    "no transform": (["sources", "--out", "o", "--transform", ","], 2, "names no transform"),
    "ending of a suite": (["sources", "--suite", "s.txt"], 2, "must end with .parquet, .jsonl"),
    "a file that is no suite": (["sources", "--suite", "full/x.jsonl"], 2, "is no suite"),
    "no such task": (["sources", "--suite", "s.jsonl", "--task", "nam"], 2, "unknown task"),
    "equal names": (["sources/words.py", "sources/sub/words.py", "--out", "o"], 2, "have one name"),
}


@pytest.mark.parametrize(("words", "code", "told"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_writes_nothing(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, told: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    (tmp_path / "full" / "x.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    before = files(tmp_path)
    assert main(["transform", *words]) == code
    shown = capsys.readouterr()
    assert told in shown.err
    assert len(shown.err.splitlines()) == 1
    assert files(tmp_path) == before
    assert not (tmp_path / "o").exists()


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_a_suite_is_audited_as_it_was_written(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    suite = tmp_path / f"suite.{ending}"
    words = ["transform", "sources", "--suite", str(suite), "--seed", "5", "--variants", "2"]
    assert main([*words, "--transform", "rename"]) == 0
    seeds, names = suite_contents(suite)
    assert seeds == (5,)
    assert names == ("identity", "rename", "reorder-breaking", "rename-merging")
    cases = list(read_suite(suite, seed=5))
    variants = [outcome for case in cases for outcome in case.outcomes if isinstance(outcome, Perturbed)]
    assert {variant.variant for variant in variants} == {0, 1}
    capsys.readouterr()
    run = ["run", "--suite", str(suite), "--model", "fake/hash", "--out", "run", "--format", "json"]
    assert main(run) == 0
    summary = json.loads(capsys.readouterr().out)
    (model,) = summary["models"]
    assert model["samples"] == len(cases) == 5
    assert (summary["task"], summary["seed"]) == ("function-name", 5)
    assert main([*words, "--transform", "rename"]) == 0  # a suite of ours may be replaced


def test_a_suite_tells_what_it_leaves_out(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "listing.s").write_text(
        "f:\n\tmov %rdi, %rax\n\tadd %rsi, %rax\n\tret\ng:\n\tfrobnicate %rax\n\tret\n"
    )
    words = ["transform", "listing.s", "--suite", "s.parquet", "--transform", "rename"]
    assert main(words) == 0
    assert "left out: 1 × block that cannot be read" in capsys.readouterr().err


def test_both_forms_of_a_suite_say_the_same(tree: Path, tmp_path: Path) -> None:
    for ending in ("parquet", "jsonl"):
        words = ["transform", "sources", "--suite", f"s.{ending}", "--no-controls", "--sites", "one"]
        assert main(words) == 0
    cases = [list(read_suite(tmp_path / f"s.{ending}", seed=0)) for ending in ("parquet", "jsonl")]
    assert cases[0] == cases[1]
    moved = [
        o for case in cases[0] for o in case.outcomes if isinstance(o, Perturbed) and o.kind != "identity"
    ]
    assert moved
    assert all(len(outcome.moves) == 1 for outcome in moved)


def test_a_suite_with_a_row_twice_is_refused_and_an_edited_row_is_named(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["transform", "sources", "--suite", "s.jsonl", "--transform", "rename"]) == 0
    rows = (tmp_path / "s.jsonl").read_text(encoding="utf-8").splitlines()
    number = next(n for n, row in enumerate(rows, 1) if '"rename"' in row and json.loads(row)["perturbed"])
    broken = {
        "repeats sample": [
            ([*rows, rows[0]], len(rows) + 1),
            ([rows[0], rows[0], *rows[1:]], 2),
            ([*rows, *rows], len(rows) + 1),
            ([*rows[1:], rows[0]], len(rows)),
        ],
        "under 'rename'": [
            ([*rows[: number - 1], rows[number - 1].replace("return", "yield"), *rows[number:]], 0)
        ],
    }
    capsys.readouterr()
    for message, cases in broken.items():
        for text, place in cases:
            (tmp_path / "b.jsonl").write_text("\n".join(text) + "\n", encoding="utf-8")
            assert main(["run", "--suite", "b.jsonl", "--model", "fake/hash", "--out", "run"]) == 3
            line = capsys.readouterr().err.splitlines()[-1]
            assert message in line
            assert not place or f"row {place} " in line


@pytest.mark.slow
def test_ctrl_c_leaves_nothing_behind(tree: Path, tmp_path: Path) -> None:
    process = start(
        "transform", os.path.dirname(os.__file__), "--out", "out", "--transform", "all", cwd=tmp_path
    )
    until(lambda: list(tmp_path.glob(".out.*/**/*.py")), process=process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["sources"]


@pytest.mark.slow
def test_all_undoes_nothing_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    source = "def f(a):\n    b = (a)\n    b += 1\n    return (b)\n"
    Path("m.py").write_text(source, encoding="utf-8")
    pairs = (("insert-parentheses", "remove-parentheses"), ("expand-augmented", "contract-augmented"))
    seen: set[str] = set()
    for seed in range(6):
        words = ["--seed", str(seed), "--out", f"out{seed}", "--format", "json"]
        assert main(["transform", "m.py", "--transform", "all", *words]) == 0
        printed = capsys.readouterr()
        rows = {row["transform"]: row for row in json.loads(printed.out)["by_transform"]}
        assert all("undone by a later transform" not in row["not_applied"] for row in rows.values())
        assert all(len({*pair} & set(rows)) == 1 for pair in pairs)
        assert len([name for name in rows if name.startswith("rename")]) <= 2  # one may be of functions
        assert "left out, because each undoes one that was drawn: " in printed.err
        seen |= set(rows)
    assert {name for pair in pairs for name in pair} <= seen
    names = ",".join(pairs[1])
    assert main(["transform", "m.py", "--transform", names, "--out", "both", "--format", "json"]) == 0
    printed = capsys.readouterr()
    assert {row["transform"]: row["changed"] for row in json.loads(printed.out)["by_transform"]} == {
        "expand-augmented": 0,
        "contract-augmented": 0,
    }
    assert "left out" not in printed.err
    assert Path("both/m.py").read_text(encoding="utf-8") == source


def test_files_of_which_none_can_be_read_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("src").mkdir()
    for name in ("a.py", "src/b.py", "src/c.py"):
        Path(name).write_text("def f(:\n", encoding="utf-8")
    Path("good.py").write_text("x = 1\n", encoding="utf-8")
    for words in (["a.py", "--diff"], ["src", "--diff"], ["a.py", "src", "--out", "out"]):
        assert main(["transform", *words]) == 3
        line = capsys.readouterr().err.splitlines()[-1]
        assert line.startswith("codeaudit: no file can be read: ")
        assert all(name in line for name in ("b.py", "c.py") if "src" in words)
        assert not Path("out").exists()
    for words in (["a.py", "good.py", "--diff"], ["a.py", "good.py", "--out", "out"]):
        assert main(["transform", *words]) == 0
        assert "not read and left as they are: a.py" in capsys.readouterr().err


def test_a_note_tells_once_which_line_stops_the_transforms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text("int f(int a)\n{\n    int b = a;\n    return b + __LINE__;\n}\n", encoding="utf-8")
    assert main(["transform", "a.c", "--transform", "all", "--out", "out"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.count("positions-unread") == 1
    match = re.search(
        r"a\.c:4 shows that the assumption positions-unread .* stopped (\d+) transforms \(", printed
    )
    assert match is not None
    assert int(match[1]) > 30
    assert main(["transform", "a.c", "--transform", "spacing", "--out", "two", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["by_transform"]
    assert [*row["shown_at"].values()] == [["a.c:4"]]
    assert row["shown_at"].keys() == row["not_applied"].keys()


def test_a_long_table_names_what_changed_nothing_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text("def f(a):\n    b = a\n    return b\n", encoding="utf-8")
    assert main(["transform", "m.py", "--transform", "all", "--out", "out"]) == 0
    above, below = capsys.readouterr().out.split("changed nothing: ")
    assert "while-to-while-true, unroll-while (1 × no while)" in " ".join(below.split())
    assert "while-to-while-true" not in above
    assert "rename" in above
    assert main(["transform", "m.py", "--transform", "rename,reorder-cases", "--out", "two"]) == 0
    assert "changed nothing" not in capsys.readouterr().out


def test_a_transform_that_always_raises_fails_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(
        "def f(a):\n    b = a\n    return b\n\n\ndef g(c):\n    d = c\n    return d\n", encoding="utf-8"
    )
    Path("faulty.py").write_text(
        "class Always:\n    name = 'always'\n    kind = 'preserving'\n    languages = frozenset({'python'})\n"
        "    unit = 'function'\n    def propose(self, source, rng):\n        raise KeyError('x')\n"
        "    def apply(self, source, moves):\n        pass\n"
        "class Sometimes(Always):\n    name = 'sometimes'\n    def propose(self, source, rng):\n"
        "        return {}['x'] if 'b = a' in source else ()\n",
        encoding="utf-8",
    )
    for more in (["--out", "out"], ["--diff"], ["--suite", "s.jsonl"]):
        for name, expected in (("Always", 3), ("Sometimes", 0)):
            words = [
                "transform",
                "m.py",
                "--transform",
                f"py/faulty:{name},rename",
                "--format",
                "json",
                *more,
            ]
            assert main(words) == expected, more
            printed = capsys.readouterr()
            assert "KeyError: 'x' (faulty.py:" in printed.out + printed.err
            last = printed.err.splitlines()[-1]
            failed = r"codeaudit: transform 'py/faulty:Always' changed nothing: \d+ × transform failed: KeyError: 'x'"
            assert bool(re.match(failed, last)) == bool(expected)
            shutil.rmtree("out", ignore_errors=True)


@pytest.mark.slow
def test_a_dash_prints_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "tool.py"
    source.write_bytes(b"# coding: latin-1\r\ndef f(a):\r\n    b = '\xe4'\r\n    return a + b\r\n")
    code = main(["transform", str(source), "--transform", "rename", "--out", str(tmp_path / "made.py")])
    assert code == 0
    capsys.readouterr()
    command = [
        sys.executable,
        "-m",
        "codeaudit",
        "transform",
        str(source),
        "--transform",
        "rename",
        "--out",
        "-",
    ]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout == (tmp_path / "made.py").read_bytes()
    assert done.stdout != source.read_bytes()
    assert b"keeps meaning" in done.stderr
    for words in ([str(tmp_path)], [str(source), "--diff"], [str(source), str(source)]):
        assert main(["transform", *words, "--out", "-"]) == 2
        assert "--out - prints one file" in capsys.readouterr().err


def test_a_file_that_cannot_be_read_is_named_as_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.py").write_text("def f(:\n")
    assert main(["transform", str(tmp_path / "broken.py"), "--out", str(tmp_path / "new.py")]) == 3
    assert "no file can be read: broken.py (not valid Python" in capsys.readouterr().err
    assert not (tmp_path / "new.py").exists()

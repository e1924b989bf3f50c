"""Whatever is wrong with the input: one clear line on stderr, nothing on stdout, the right exit code."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeaudit.audit.store import read_rows
from codeaudit.cli.main import main
from tests.support.commands import codeaudit


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # Python's own; libraries raise it, such as torch's compiler
    yield
    sys.setrecursionlimit(before)


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    """The last line on stderr; nothing may stand on stdout, and no traceback anywhere."""
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Traceback" not in printed.err
    line = printed.err.splitlines()[-1]
    assert line.startswith("codeaudit: ")
    return line


@pytest.mark.thinned(8)
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["run", "--model", "fake/hsh"], 2, "unknown model 'fake/hsh'; did you mean 'fake/hash'?"),
        (["run", "--model", "hg/gpt"], 2, "unknown model 'hg/gpt'; known: "),
        (["run", "--model", "fake/hash", "--task", "function-nam"], 2, "did you mean 'function-name'?"),
        (["run", "--model", "fake/hash", "--transform", "reoder"], 2, "did you mean 'reorder'?"),
        (["run", "--model", "fake/hash", "--model", "fake/hash"], 2, "'fake/hash' is named twice"),
        (["run", "--model", "fake/hash", "-M", "a=b"], 2, "no model here takes the argument 'a'"),
        (["run", "--model", "fake/hash", "-M", "a"], 2, "must be -M key=value"),
        (["run", "--model", "./nowhere"], 3, "no checkpoint at './nowhere'"),
        (["run", "--model", "exec/no-such-program"], 3, "no program 'no-such-program'"),
        (["run", "--model", "py/no_such_module:f"], 3, "cannot import 'no_such_module'"),
        (["run", "--model", "fake/hash", "--corpus", "nowhere.py"], 3, "no corpus 'nowhere.py'"),
        (["run", "--model", "fake/hash", "--corpus", "stdlb"], 3, "did you mean 'stdlib'?"),
        (["run", "--model", "fake/hash", "--corpus", "package:no_such"], 3, "is not installed"),
        (["run", "--model", "fake/hash", "--suite", "nowhere.parquet"], 3, "no suite 'nowhere.parquet'"),
        (["run", "--model", "fake/hash", "--out", "/dev/null/x"], 3, "cannot write to '/dev/null/x'"),
        (["run", "--model", "fake/hash", "--config", "nowhere.toml"], 3, "cannot read 'nowhere.toml'"),
        (["run", "--limit", "many"], 2, "invalid value for '--limit': 'many' is not a valid whole number"),
        (["train", "spe", "--rate", "fast"], 2, "'--rate': 'fast' is not a valid number"),
        (["run", "--variants", "0"], 2, "--variants"),
        (["run", "--frmat", "json"], 2, "--format"),
        (["rn"], 2, "unknown command 'rn'; did you mean 'run'?"),
        (["compare", "nowhere"], 3, "no run at 'nowhere'"),
        (["compare"], 2, "nothing to compare"),
        (["list", "modls"], 2, "modls"),
    ],
)
def test_a_wrong_word_is_one_line(
    words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == code
    line = complaint(capsys)
    assert message in line
    assert list(Path().iterdir()) == [], "a command that could not begin leaves nothing behind"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"def f(:\n", "not valid Python: line 1: invalid syntax"),
        (b"x = '\xff'\n", "not UTF-8"),
        (b"x = 1\0", "null bytes"),
        (b"x = 1\n" * 1_700_000, "file over 2 MB"),
        (b"x = " + b"(" * 5000 + b")" * 5000, "nested too deeply"),
        # Later parsers read on where Python 3.11 gives up.
        pytest.param(
            b"x = " + b"-" * 5000 + b"1",
            "nested too deeply",
            marks=pytest.mark.skipif(sys.version_info >= (3, 12), reason="readable since Python 3.12"),
        ),
    ],
)
def test_a_named_file_that_cannot_be_used(
    data: bytes, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.py").write_bytes(data)
    assert main(["run", "--model", "fake/hash", "--corpus", "bad.py", "--out", "out"]) == 3
    assert f"cannot use 'bad.py': {message}" in complaint(capsys)
    assert not Path("out").exists()


def test_a_bad_file_among_good_ones_is_counted_and_named(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (sources / "bad.py").write_bytes(b"def f(:\n")
    (sources / "deep.py").write_bytes(b"x = " + b"[" * 5000)
    words = ["run", "--model", "fake/hash", "--corpus", str(sources), "--out", "out", "--workers", "1"]
    assert main(words) == 0
    printed = capsys.readouterr().err
    assert "1 × source does not parse" in printed
    assert (
        "not read: bad.py (not valid Python: line 1: invalid syntax), deep.py (nested too deeply for this Python)\n"
        in printed
    )


@pytest.mark.parametrize("text", ["", "x = 1\n", "def test_it(x):\n    y = x\n    return y\n"])
def test_a_corpus_without_functions(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty.py").write_text(text, encoding="utf-8")
    assert main(["run", "--model", "fake/hash", "--corpus", "empty.py"]) == 3
    printed = complaint(capsys)
    assert "no functions in corpus 'empty.py'" in printed
    assert printed.rstrip().endswith(": the file is empty") == (not text)


def test_an_empty_folder(capsys: pytest.CaptureFixture[str]) -> None:
    Path("folder").mkdir()
    assert main(["run", "--model", "fake/hash", "--corpus", "folder"]) == 3
    assert "no Python, Java, JavaScript, TypeScript, C or C++ files in 'folder'" in complaint(capsys)


def test_output_below_a_file(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("file").write_text("x", encoding="utf-8")
    assert main(["run", "--model", "fake/hash", "--corpus", str(sources), "--out", "file/out"]) == 3
    assert "cannot write to 'file/out'" in complaint(capsys)


def test_a_foreign_folder_is_not_written_into(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("site").mkdir()
    Path("site/manifest.json").write_text('{"name": "app"}', encoding="utf-8")
    assert main(["run", "--model", "fake/hash", "--corpus", str(sources), "--out", "site"]) == 3
    assert "is not the manifest of a codeaudit run" in complaint(capsys)
    assert Path("site/manifest.json").read_text(encoding="utf-8") == '{"name": "app"}'


def test_a_run_in_which_nothing_was_answered(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text("def f(queries): return [None for q in queries]\n", encoding="utf-8")
    assert (
        main(["run", "--model", "py/mine:f", "--corpus", str(sources), "--out", "out", "--workers", "1"]) == 3
    )
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("codeaudit: nothing could be judged: 'py/mine:f' gave no usable answer")
    assert "no readable answer" in lines[-1]
    message = "py/mine:f: the answer None is malformed; function-name takes a name or a list of its subtokens"
    assert [line for line in lines if " is malformed" in line] == [f"codeaudit: {message}"]


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ({"name": "area"}, "it has no answer, nor a ranking or scores of candidates in numbers"),
        ({"answer": "area", "score": "high"}, ""),
        ({"answer": "area", "score": float("nan")}, "score must be a finite number"),
        ({"answer": "area", "scores": {"area": "high"}}, "scores must be a finite number for each label"),
        ({"answer": "area", "scores": [0.5]}, "scores must be a finite number for each label"),
    ],
    ids=str,
)
def test_an_answer_whose_field_is_wrong(
    answer: object, wrong: str, sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the field. A score that is no number at all is not read."""
    Path("mine.py").write_text(
        f"nan = float('nan')\ndef f(queries): return [{answer} for q in queries]\n", encoding="utf-8"
    )
    code = main(["run", "--model", "py/mine:f", "--corpus", str(sources), "--out", "out", "--workers", "1"])
    lines = [line for line in capsys.readouterr().err.splitlines() if " is malformed" in line]
    assert (code == 3) is bool(wrong)
    assert [line.partition(" is malformed: ")[2] for line in lines] == [wrong] * bool(wrong)


def test_a_run_in_which_nothing_could_be_changed(capsys: pytest.CaptureFixture[str]) -> None:
    Path("plain.py").write_text("def plain(x):\n    # nothing to reorder\n    return x\n", encoding="utf-8")
    words = ["run", "--model", "fake/hash", "--corpus", "plain.py", "--transform", "reorder", "--out", "out"]
    assert main(words) == 3
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("codeaudit: nothing could be judged: no perturbation could be applied")
    # The counts of all transforms add up.
    words[words.index("reorder")] = "rename,rename-random"
    assert main([*words[:-1], "other"]) == 3
    assert "no perturbation could be applied (8 × no local to rename)" in capsys.readouterr().err


@pytest.mark.slow
def test_code_too_deep_for_an_engine_is_counted_and_the_rest_audited(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chain = " + ".join(["x"] * 1500)
    (sources / "chain.py").write_text(f"def deep(a):\n    x = a\n    return {chain}\n", encoding="utf-8")
    words = ["run", "--model", "fake/hash", "--corpus", str(sources), "--workers", "1", "--out", "out"]
    assert main(words) == 0
    assert ": 5 of 8 functions; left out: 1 × dunder name, " in capsys.readouterr().err
    deep = [row for row in read_rows(Path("out/suite.parquet")) if row["path"] == "chain.py"]
    assert {row["status"] for row in deep if row["transform"] != "identity"} == {"not_applied"}


def test_an_engine_that_breaks_is_counted(
    sources: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("codeaudit.transforms.perturb._variant", breaks)
    words = ["run", "--model", "fake/hash", "--corpus", str(sources), "--workers", "1", "--out", "out"]
    assert main(words) == 3
    assert "transform failed: AssertionError" in capsys.readouterr().err


@pytest.mark.slow
def test_an_output_that_cannot_show_every_character(sources: Path, tmp_path: Path) -> None:
    done = codeaudit(
        "run", "--model", "fake/hash", "--corpus", str(sources), cwd=tmp_path, PYTHONIOENCODING="ascii"
    )
    assert done.returncode == 0, done.stderr
    assert "fake/hash" in done.stdout


def test_a_language_without_transforms(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.jsonl").write_text('{"source": "x", "language": "cobol", "name": "add"}\n', encoding="utf-8")
    assert main(["run", "--model", "fake/hash", "--corpus", "t.jsonl"]) == 3
    assert "1 × row in cobol (no transform yet)); 'cobol' is no language that codeaudit knows" in complaint(
        capsys
    )


def test_a_callable_that_breaks_its_contract(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text("def f(queries): return []\n", encoding="utf-8")
    assert main(["run", "--model", "py/mine:f", "--corpus", str(sources), "--workers", "1"]) == 3
    assert "must give a list of" in complaint(capsys)


def test_an_unexpected_error_is_one_line_with_a_hint(
    sources: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Compiled from a text, because the message for an error in a file of the user's names that file instead.
    made: dict[str, object] = {}
    exec("def breaks(*_, **__):\n    raise ZeroDivisionError('boom\\nsecond line')\n", made)
    monkeypatch.setattr("codeaudit.auditing.carry_out", made["breaks"])
    words = ["run", "--model", "fake/hash", "--corpus", str(sources), "--out", "out"]
    assert main(words) == 3
    line = complaint(capsys)
    assert "unexpected error: ZeroDivisionError: boom second line" in line
    assert "CODEAUDIT_DEBUG=1" in line
    monkeypatch.setenv("CODEAUDIT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(words)


def test_files_of_another_kind_are_told_by_what_they_are(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ("--model", "fake/hash", "--workers", "1")
    for name in ("suite.parquet", "suite.jsonl"):
        assert main(["transform", str(sources), "--suite", name]) == 0
    assert main(["run", "--corpus", str(sources), *model, "--out", "out"]) == 0
    assert main(["report", "out", "--baseline", "baseline.parquet"]) == 0
    Path("empty.jsonl").write_text("\n", "utf-8")
    Path("plain.jsonl").write_text('{"source": "def f(a):\\n    b = a\\n    return b\\n"}\n', "utf-8")
    capsys.readouterr()
    wanted = {
        "run --corpus suite.parquet": "'suite.parquet' is a suite of codeaudit; audit it with --suite",
        "run --corpus suite.jsonl": "'suite.jsonl' is a suite of codeaudit; audit it with --suite",
        "run --corpus baseline.parquet": "has verdicts of a run and no code; a baseline goes with",
        "run --corpus out/verdicts.parquet": "has verdicts of a run and no code; a baseline goes with",
        "run --suite baseline.parquet": "is no suite: it has no column perturbed and no source",
        "run --corpus empty.jsonl": "no functions in corpus 'empty.jsonl': the table has no rows",
        "run --corpus plain.jsonl:test": "has no column of splits (split; or leak_group, split_group, group",
        "gate suite.parquet": "no run at 'suite.parquet': it is a file; a run is a folder",
    }
    for command, message in wanted.items():
        more = model if command.startswith("run") else ("--max-violation-rate", "5%")
        assert main([*command.split(), *more]) == 3
        assert message in complaint(capsys)


@pytest.mark.slow
def test_models_of_another_form_are_told_what_they_lack(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("waits.py").write_text(
        "async def predict(queries): return []\n\n\ndef one(queries): return [1] * len(queries)\n", "utf-8"
    )
    Path("crlf.sh").write_bytes(b"#!/bin/sh\r\ncat\r\n")
    Path("crlf.sh").chmod(0o755)
    wanted = {
        "py/waits:predict": "model 'py/waits:predict' is asynchronous; write `def`, and `asyncio.run` in it",
        "py/waits:one": "the answer 1 is malformed",
        "exec/./crlf.sh": "the program in its first line (#!) does not exist; a line that ends with CRLF names",
        "exec/cat": "the answer {'language': 'python', ",
    }
    for model, message in wanted.items():
        words = ["--model", model, "--corpus", str(sources), "--workers", "1", "--out", model[-3:]]
        assert main(["run", *words]) == 3
        assert message in capsys.readouterr().err


def test_an_unfinished_run_cannot_be_compared(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "--model", "fake/hash", "--corpus", str(sources), "--out", "out", "--workers", "1"]
    assert main(words) == 0
    Path("out/summary.json").unlink()
    capsys.readouterr()
    assert main(["compare", "out"]) == 3
    assert "is not finished" in complaint(capsys)


def test_no_command_shows_the_help_and_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Commands:" in capsys.readouterr().err


def test_the_real_command_ends_the_same_way(tmp_path: Path) -> None:
    done = codeaudit("run", "--model", "fake/hsh", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "codeaudit: unknown model 'fake/hsh'; did you mean 'fake/hash'?\n"

"""What a command must not replace, and values that no table holds."""

import errno
import shutil
from pathlib import Path

import pytest

from codeaudit.audit.store import RUN_FILES, SUMMARY, RunFolder
from codeaudit.cli.main import main
from codeaudit.transforms.errors import RunError

CODE = "def spread(values):\n    low = min(values)\n    high = max(values)\n    return high - low\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "code.py").write_text(CODE, encoding="utf-8")
    words = ["--corpus", str(folder / "code.py"), "--model", "fake/hash", "--transform", "rename"]
    assert main(["run", *words, "--workers", "1", "--out", str(folder / "run")]) == 0
    return folder


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "here"
    shutil.copytree(made, place)
    monkeypatch.chdir(place)
    return place


@pytest.mark.thinned(15)
@pytest.mark.parametrize("name", sorted(RUN_FILES))
@pytest.mark.parametrize(
    "words",
    [
        "report run --baseline",
        "report run --html",
        "report run --markdown",
        "report run --junit",
        "gate run --max-violation-rate 50% --junit",
        "gate run --max-violation-rate 50% --sarif",
        "transform code.py --suite",
        "view run --out",
    ],
)
def test_no_file_of_a_run_is_replaced(
    here: Path, words: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = here / "run" / name
    before = place.read_bytes() if place.exists() else b"{}"
    place.write_bytes(before)
    assert main([*words.split(), f"run/{name}"]) == 2
    assert "codeaudit: --" in capsys.readouterr().err
    assert place.read_bytes() == before


@pytest.mark.parametrize("option", ["--junit", "--sarif"])
def test_no_source_is_replaced(here: Path, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "run", "--max-violation-rate", "50%", option, "code.py"]) == 2
    assert f"{option} 'code.py' would replace a file of another kind" in capsys.readouterr().err
    assert Path("code.py").read_text("utf-8") == CODE


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("option", ["--seed", "--limit", "--variants", "--trials", "--budget", "--movable"])
def test_a_number_that_no_table_holds_is_wrong_usage(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "--corpus", "code.py", "--model", "fake/hash", "--out", "new"]
    assert main([*words, option, "99999999999999999999"]) == 2
    assert "99999999999999999999 is beyond 9,007,199,254,740,992" in capsys.readouterr().err
    assert not Path("new").exists()


@pytest.mark.usefixtures("here")
def test_a_folder_whose_name_is_no_text_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--corpus", "code.py", "--model", "fake/hash", "--out", "o\udcff"]) == 2
    assert "is not UTF-8; give another name" in capsys.readouterr().err


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("other", ["./spe-copy", "spe-copy/", "./spe-copy/."])
def test_one_checkpoint_is_named_once(other: str, capsys: pytest.CaptureFixture[str]) -> None:
    from codeaudit.audit import checkpoints

    shutil.copytree(checkpoints.FOLDER / "spe-checkpoint", "spe-copy")
    words = (
        ["--model", "./spe-copy", "--model", other]
        if other != "./spe-copy"
        else ["--model", "spe-copy", "--model", other]
    )
    assert main(["run", "--corpus", "code.py", *words, "--out", "twice"]) == 2
    assert "are one, 'spe-copy'; name it once" in capsys.readouterr().err


def test_a_broken_link_is_told_as_one(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "link.py").symlink_to("gone.py")
    assert main(["run", "--corpus", "link.py"]) == 3
    assert "no corpus 'link.py': a link to 'gone.py', which does not exist" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--model", "openai/m", "--base-url", "http://127.0.0.1:9/v1", "--corpus", "code.py"],
        ["--model", "fake/hash", "--suite", "damaged.jsonl"],
    ],
)
def test_a_run_that_never_starts_displaces_none(
    here: Path, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    assert main(["transform", "code.py", "--transform", "rename", "--suite", "damaged.jsonl"]) == 0
    suite = Path("damaged.jsonl")
    suite.write_text(suite.read_text("utf-8").replace('"variant":', '"other":'), encoding="utf-8")
    before = {path.name: path.read_bytes() for path in (here / "run").iterdir()}
    assert main(["run", *words, "--out", "run"]) in (2, 3)
    assert {path.name: path.read_bytes() for path in (here / "run").iterdir()} == before
    capsys.readouterr()
    assert main(["gate", "run", "--max-violation-rate", "100%", "--allow-insensitive"]) == 0


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_options_that_a_suite_makes_idle_are_told_if_one_file_has_both(
    capsys: pytest.CaptureFixture[str],
) -> None:
    own = 'corpus = "code.py"\nlimit = 3\nmodel = "fake/hash"\n'
    Path("codeaudit.toml").write_text(f'[run]\nsuite = "run/suite.parquet"\n{own}', encoding="utf-8")
    assert main(["run", "--config", "codeaudit.toml", "--out", "first"]) == 0
    assert "codeaudit: --corpus, --limit: no effect with --suite" in capsys.readouterr().err
    Path("codeaudit.toml").write_text(f"[run]\n{own}", encoding="utf-8")
    words = ["run", "--config", "codeaudit.toml", "--suite", "run/suite.parquet"]
    assert main([*words, "--out", "second"]) == 0
    assert main(["run", "--config", "second", "--out", "third"]) == 0
    assert "no effect" not in capsys.readouterr().err


@pytest.mark.usefixtures("here")
def test_a_full_disk_is_told_with_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write = RunFolder.write_text

    def full(folder: RunFolder, name: str, text: str) -> None:
        if name == SUMMARY:
            raise RunError("cannot write") from OSError(errno.ENOSPC, "No space left on device")
        write(folder, name, text)

    monkeypatch.setattr(RunFolder, "write_text", full)
    assert main(["run", "--corpus", "code.py", "--model", "fake/hash", "--out", "full"]) == 3
    message = "every answer so far is kept; go on with: codeaudit run --config full --out full"
    assert message in capsys.readouterr().err


def test_links_that_stay_as_they_are_are_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "linked").mkdir()
    (here / "linked" / "mod.py").symlink_to("../code.py")
    words = ["transform", "linked", "--transform", "rename", "--out", "copied"]
    assert main(words) == 3
    assert "symbolic links are left as they are: mod.py" in capsys.readouterr().err
    (here / "linked" / "own.py").write_text(CODE, encoding="utf-8")
    assert main(words) == 0
    assert "symbolic links are left as they are: mod.py" in capsys.readouterr().err
    assert (here / "copied" / "mod.py").is_symlink()
    assert (here / "copied" / "own.py").read_text("utf-8") != CODE
    assert Path("code.py").read_text("utf-8") == CODE

"""Every mistake gets an answer that says what to do: a path that is missing, a name, an ending, a user's error."""

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest

from codeaudit.cli.doctor import PARTS, what_to_install
from codeaudit.cli.main import COMMANDS, main
from codeaudit.cli.options import OutputFile
from codeaudit.transforms.registration import load_target, nearest

MISSING = "no-such-path"

READ: dict[str, tuple[str, ...]] = {
    "run": (
        "--model fake/hash --config MISSING",
        "--model fake/hash --corpus MISSING",
        "--model fake/hash --corpus ./MISSING/more",
        "--model fake/hash --suite MISSING",
        "--model fake/hash --suite MISSING.jsonl",
        "--model fake/hash --corpus src --sign-key MISSING",
        "--model ./MISSING",
        "--model file/MISSING.jsonl --corpus src",
    ),
    "compare": (
        "MISSING",
        "done MISSING",
        "--config MISSING --model fake/hash --model fake/length",
        "--model fake/hash --model fake/length --suite MISSING",
        "--model fake/hash --model fake/length --corpus MISSING",
        "--model fake/hash --model fake/length --corpus src --sign-key MISSING",
        "done other --html MISSING/x.html",
        "done done --held-out MISSING",
    ),
    "gate": (
        "MISSING",
        "MISSING --max-violation-rate 1%",
        "done --max-violation-rate 1% --config MISSING",
        "done --baseline MISSING",
        "done --max-violation-rate 1% --sign-key MISSING",
    ),
    "transform": (
        "MISSING --out copy",
        "src MISSING --out copy",
        "MISSING --suite suite.jsonl",
        "MISSING --diff",
        "MISSING --dependence confirmed --out copy",
    ),
    "init": ("MISSING",),
    "verify": ("MISSING",),
    "explain": ("MISSING", "MISSING some-sample"),
    "report": (
        "MISSING",
        "done --html MISSING/x.html",
        "done --markdown MISSING/x.md",
        "done --latex MISSING/x.tex",
        "done --junit MISSING/x.xml",
        "done --baseline MISSING/x.parquet",
        "done --sign-key MISSING --baseline main.parquet",
    ),
    "view": ("MISSING --no-browser", "done --no-browser --out MISSING/page.html"),
    "merge": ("MISSING --out whole", "MISSING OTHER --out whole", "done --out whole --sign-key MISSING"),
    "train": (),  # a test below: its networks take seconds to import
    "papers": ("run spe/table-1 --data MISSING --out out",),
    "seal": ("MISSING --key key --out sealed",),
    "unseal": ("MISSING --key MISSING --out opened",),
    "doctor": (),
    "list": (),
}
"""Every command with each path that it reads, missing. `done` is a finished run."""
WRITTEN = {"out", "folder", "keep", "cache", "gate junit", "gate sarif", "gate write_limits"}
"""Parameters of folders that a command makes. A job of CI starts without the folder of its artefacts."""


def test_every_command_and_every_path_that_it_reads_is_tried() -> None:
    assert READ.keys() == COMMANDS.keys()
    for name, (target, _) in COMMANDS.items():
        command: click.Command = load_target(target)
        for param in command.params:
            if isinstance(param.type, click.Path) and not WRITTEN & {param.name, f"{name} {param.name}"}:
                tried = " ".join(READ[name])
                assert isinstance(param, click.Argument) or param.opts[0] in tried, (name, param.name)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a source and a finished run."""
    place = tmp_path_factory.mktemp("dead-ends")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        Path("src").mkdir()
        Path("src/a.py").write_text("def total(first, second):\n    both = first + second\n    return both\n")
        Path("key").write_bytes(b"k" * 32)
        words = "run --model fake/hash --corpus src --transform rename --out done"
        assert main(words.split()) == 0
        yield place


@pytest.mark.thinned(8)
@pytest.mark.parametrize(("command", "words"), [(name, words) for name in READ for words in READ[name]])
def test_a_missing_path_is_one_line_and_exit_code_3(
    command: str,
    words: str,
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(here)
    before = sorted(here.rglob("*"))

    assert main([command, *words.replace("MISSING", MISSING).split()]) == 3

    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    assert MISSING in printed.err.splitlines()[-1]
    # Nothing is made on the way to an error that was certain from the start.
    assert [place for place in sorted(here.rglob("*")) if place not in before] == []


@pytest.mark.slow
def test_a_missing_corpus_ends_a_training(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(here)
    assert main(["train", "spe", "--corpus", MISSING, "--out", "trained"]) == 3
    assert MISSING in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("run src/", 2, "a corpus is named with --corpus src/, a model with --model"),
        ("run --suite src/a.py --model fake/hash", 3, "a suite ends with .parquet, .jsonl"),
        ("list model", 2, "did you mean 'models'?"),
        ("run --model fake/hash --task naming", 2, "did you mean 'function-name'?"),
        ("run --model spe", 2, "did you mean 'spe-checkpoint'?"),
        ("train spe-attention --corpus src --out x", 2, "did you mean 'spe'?"),
        ("run --model py/mine.py:predict --corpus src", 3, "write the module 'mine'"),
        ("run --model py/models/mine.py:predict --corpus src", 3, "write the module 'models.mine'"),
        ("report done --html out.pdf", 2, "name it out.html and print it to PDF in a browser"),
        ("report done --junit out.html", 2, "name it out.xml"),
        ("gate done --write-limits out.json", 2, "name it out.toml"),
        ("transform src/a.py --suite s.csv", 2, "must end with .parquet, .jsonl"),
    ],
)
def test_a_mistake_is_answered_with_its_remedy(
    words: str,
    code: int,
    message: str,
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(here)
    assert main(words.split()) == code
    assert message in capsys.readouterr().err.splitlines()[-1]


OPTIONS_WITH_A_VALUE: Final = [
    (name, option)
    for name in COMMANDS
    for param in load_target(COMMANDS[name][0]).params
    if isinstance(param, click.Option) and not param.is_flag
    for option in param.opts
]


@pytest.mark.thinned(50)
@pytest.mark.parametrize(("command", "option"), OPTIONS_WITH_A_VALUE)
def test_an_empty_value_is_a_mistake(command: str, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`gate RUN --baseline "$UNSET"` would compare with nothing, and pass."""
    for words in ([option, ""], [f"{option}="]) if option.startswith("--") else ([option, ""],):
        assert main([command, *words]) == 2
        assert capsys.readouterr().err == f"codeaudit: {option} is empty; give a value, or leave it out\n"


FILES_TO_WRITE: Final = {
    (name, param.opts[0]): param.type.may_be_stdout
    for name in COMMANDS
    for param in load_target(COMMANDS[name][0]).params
    if isinstance(param.type, OutputFile)
}


def test_a_dash_is_stdout_or_a_mistake_and_never_a_file(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(here)
    needed = {"gate": ["--max-violation-rate", "5%"], "view": ["--no-browser"], "compare": ["more"]}
    words = "run --model fake/length --corpus src --transform rename --out more"
    assert main(words.split()) == 0
    for (command, option), may_be_stdout in FILES_TO_WRITE.items():
        capsys.readouterr()
        assert main([command, "done", *needed.get(command, ()), option, "-"]) == (0 if may_be_stdout else 2)
        assert bool(capsys.readouterr().out) == may_be_stdout
        assert not Path("-").exists(), (command, option)
    assert {True, False} == set(FILES_TO_WRITE.values())


def test_an_empty_argument_or_an_empty_value_in_a_file_is_a_mistake(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gate", ""]) == 2
    assert "an argument is empty" in capsys.readouterr().err
    # With the mark that some editors begin a file with.
    (here / "options.toml").write_text('[gate]\nbaseline = ""\n', "utf-8-sig")
    assert main(["gate", "run", "--config", str(here / "options.toml")]) == 2
    assert "'baseline' in " in (printed := capsys.readouterr().err)
    assert "is empty; leave it out" in printed


def test_the_help_of_a_command_may_be_asked_for_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help", "gate"]) == 0
    first = capsys.readouterr().out
    assert main(["gate", "--help"]) == 0
    assert capsys.readouterr().out == first
    assert first.startswith("Usage: codeaudit gate")


def test_blocks_of_assembly_are_asked_what_can_be_asked_about_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.s").write_text("addl %eax, %ebx\nmovl %ecx, %edx\nxorl %esi, %esi\nimull %edi, %r8d\n")
    assert main(["transform", "a.s", "--transform", "rename", "--suite", "s.jsonl"]) == 0
    assert '"task": "throughput"' in Path("s.jsonl").read_text().splitlines()[0]
    capsys.readouterr()


# ── a user's own error ───────────────────────────────────────────────────────────────────────────────────

THEIRS = """\
import json


def parsed(text):
    return json.loads(text)


def predict(queries):
    return [parsed(query.source) for query in queries]


def subscript(queries):
    return [query["source"] for query in queries]
"""


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (
            "predict",
            "JSONDecodeError: Expecting value: line 1 column 1 (char 0) (their_model.py:5, in parsed)",
        ),
        (
            "subscript",
            "TypeError: 'Query' object is not subscriptable; write query.source (their_model.py:13",
        ),
    ],
)
def test_the_exception_of_a_callable_is_told_with_its_line(
    function: str, told: str, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", sys.path[:])
    Path("their_model.py").write_text(THEIRS)
    words = f"run --model py/their_model:{function} --corpus src --transform rename --out theirs-{function}"
    assert main(words.split()) == 3
    assert told in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import json\njson.loads('{')\n", "(broken_model.py:2)"),
        ("x = 1\ndef f(:\n", "(broken_model.py:2)"),
        ("x = 1\nimport no_such_module_at_all\n", "(broken_model.py:2)"),
    ],
)
def test_a_module_that_cannot_be_imported_is_told_with_its_line(
    text: str, told: str, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    Path("broken_model.py").write_text(text)
    assert main(["run", "--model", "py/broken_model:predict", "--corpus", "src"]) == 3
    assert told in capsys.readouterr().err.splitlines()[-1]


def test_the_exception_of_a_program_is_told_with_its_line(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(here)
    deep = "import sys, json, ast\nfor line in sys.stdin:\n    ast.literal_eval('[' * 3)\n"
    Path("program.py").write_text(deep)
    command = f"{shlex.quote(sys.executable)} program.py"
    words = ["run", "--model", f"exec/{command}", "--corpus", "src", "--out", "theirs-program"]
    assert main(words) == 3
    last = capsys.readouterr().err.splitlines()[-1]
    assert 'program.py", line 3' in last
    assert "SyntaxError" in last


# ── packages that are missing ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", sorted(PARTS))
def test_a_missing_package_is_told_with_what_installs_it(name: str) -> None:
    part = PARTS[name]
    message = what_to_install(ModuleNotFoundError("No module named …", name=f"{part.module}.inner"))
    assert message.startswith(f"this needs {name}, which is not installed")
    # With its versions where codeaudit is installed, and in quotes then.
    bare = message.replace('"', "")
    assert f"pip install {f'codeaudit-ml[{part.extra}]' if part.extra else name}" in bare


@pytest.mark.slow
def test_without_torch_a_run_says_in_one_line_what_to_install(here: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from codeaudit.cli.main import main\n"
        "sys.exit(main(['run', '--model', 'spe-checkpoint', '--corpus', 'src', '--out', 'without-torch']))"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=here, capture_output=True, text=True, env={"PYTHONPATH": str(root)}
    )
    assert done.returncode == 3, done.stderr
    assert done.stderr.splitlines()[-1].startswith("codeaudit: this needs torch, which is not installed")
    assert "Traceback" not in done.stderr


# ── folders of runs ──────────────────────────────────────────────────────────────────────────────────────


def test_the_folder_of_runs_ignores_itself_in_git(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q"], check=True)
    Path("a.py").write_text("def total(first, second):\n    both = first + second\n    return both\n")
    # A run that fails leaves nothing behind.
    assert main(["run", "--model", "fake/hash", "--corpus", "a.py", "--labels", "nothing"]) != 0
    assert not Path("codeaudit-runs").exists()
    assert main(["run", "--model", "fake/hash", "--corpus", "a.py", "--transform", "rename"]) == 0
    seen = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=True)
    assert seen.stdout == "?? a.py\n"
    # A user may track the folder: a later run does not hide it again.
    Path("codeaudit-runs/.gitignore").unlink()
    assert main(["run", "--model", "fake/hash", "--corpus", "a.py", "--transform", "rename"]) == 0
    assert not Path("codeaudit-runs/.gitignore").exists()
    capsys.readouterr()


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("spe", ["vanilla", "spe-checkpoint"], "spe-checkpoint"),
        ("spe", ["spe-bugs-checkpoint", "spe-checkpoint"], "spe-checkpoint"),
        ("naming", ["generation", "function-name", "next-line"], "function-name"),
        ("renmae", ["reorder", "rename"], "rename"),
        ("quite-else", ["reorder", "rename"], None),
        # Alike by letters, and other things.
        ("clone-detection", ["error-detection", "join-declarations"], None),
        ("summarization", ["generation", "declarations"], None),
        ("naming", ["spacing", "train"], None),
        ("help", ["seal", "run"], None),
        ("renaming", ["rename-merging", "generation", "rename"], "rename"),
        ("x", ["xylophone", "rename"], None),
        ("", ["rename"], None),
    ],
)
def test_the_nearest_name(name: str, known: list[str], meant: str | None) -> None:
    assert nearest(name, known) == meant

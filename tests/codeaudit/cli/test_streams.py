"""stdin, stdout and stderr: closed ones are no error, and no text of others steers the terminal."""

import json
import os
import re
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path

import pytest
from rich.text import Text

from codeaudit.audit.integrity import FILES
from codeaudit.audit.store import ANSWERS, MANIFEST, SUITE, VERDICTS
from codeaudit.cli.main import COMMANDS, main
from codeaudit.cli.output import Terminal
from codeaudit.cli.streams import CleanStream
from tests.support import preloaded
from tests.support.commands import environment
from tests.support.endpoints import refuses, serving
from tests.support.forgery import Row, edit_json, edit_rows, rebind

SOURCE = """\
def total(values, start):
    result = start
    count = 0
    for value in values:
        result += value
        count += 1
    return result, count
"""
TEST = """\
import unittest
from f import total


class Test(unittest.TestCase):
    def test(self):
        self.assertEqual(total([1, 2], 3), (6, 2))
"""
LITTLE = ["--transform", "rename", "--variants", "1", "--workers", "1"]

SMALL = "--width 16 --heads 2 --layers 1 --steps 1 --workers 1 --threads 1"

WORDS: Mapping[str, list[str]] = {
    "init": ["project"],
    "run": ["--model", "fake/hash", "--corpus", "f.py", *LITTLE, "--out", "out"],
    "compare": ["run", "other", "--html", "compared.html"],
    "gate": [
        "run",
        "--max-violation-rate",
        "100%",
        "--allow-insensitive",
        "--junit",
        "gate.xml",
        "--sarif",
        "gate.sarif",
    ],
    "transform": ["f.py", "--transform", "rename", "--out", "copy"],
    "verify": ["project", "--transform", "rename", "--test-command", "python -m unittest"],
    "explain": ["run"],
    "report": ["run", "--html", "report.html", "--baseline", "baseline.parquet"],
    "view": ["run", "--no-browser"],
    "merge": ["shard", "--out", "whole"],
    "train": ["tree", "--corpus", "many.py", *SMALL.split(), "--out", "trained"],
    "papers": ["show", "renamer/table-3"],
    "seal": ["renamer-checkpoint", "--scheme", "cipher", "--key", "key", "--out", "sealed"],
    "unseal": ["sealed-before", "--key", "key-before", "--out", "unsealed"],
    "doctor": [],
    "list": ["models"],
}
"""Words with which each command does something short."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program that stands for `codeaudit`, in a process of its own."""
    path = tmp_path_factory.mktemp("program") / "codeaudit"
    path.write_text(preloaded.program(path.parent), "utf-8")
    path.chmod(0o755)
    return str(path)


RUNS: Mapping[str, list[str]] = {
    "run": ["--model", "fake/hash"],
    "other": ["--model", "fake/length"],
    "shard": ["--model", "fake/hash", "--shard", "1/1"],
}


def make_runs(folder: Path) -> None:
    """The runs that the words name, of the code in `f.py`."""
    for name, more in RUNS.items():
        words = ["run", "--corpus", str(folder / "f.py"), *LITTLE, *more, "--out", str(folder / name)]
        assert main(words) == 0


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the words name."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "project").mkdir()
    for path in (folder / "f.py", folder / "project" / "f.py"):
        path.write_text(SOURCE, "utf-8")
    (folder / "project" / "test_f.py").write_text(TEST, "utf-8")
    several = (SOURCE.replace("total", f"total_{number}") for number in range(12))
    (folder / "many.py").write_text("\n\n".join(several), "utf-8")
    make_runs(folder)
    key, sealed = str(folder / "key-before"), str(folder / "sealed-before")
    assert main(["seal", "renamer-checkpoint", "--scheme", "cipher", "--key", key, "--out", sealed]) == 0
    return folder


def files(folder: Path) -> set[str]:
    """The names of all files but those that are only there while a test runs."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and not re.search(r"__pycache__|\.pytest_cache|cache/", str(path))
    }


def test_every_command_has_words() -> None:
    assert WORDS.keys() == COMMANDS.keys()


QUICK = ("list",)
"""Commands that the quick selection tries."""
LONGER = ("train", "verify", "init", "report", "run", "transform")
"""Commands that the weekly selection tries."""
SELECTED = [
    pytest.param(
        name, marks=[] if name in QUICK else pytest.mark.weekly if name in LONGER else pytest.mark.slow
    )
    for name in COMMANDS
]
"""All commands, with the selection that tries them."""


@pytest.mark.parametrize("command", SELECTED)
def test_a_closed_stream_is_no_error(command: str, program: str, world: Path, tmp_path: Path) -> None:
    """The work is done, the files are written, and the exit code is as with open streams."""
    outcomes: dict[str, tuple[int, set[str]]] = {}
    for closed in ("", *(("<&-", ">&-", "2>&-") if command in QUICK else ()), "<&- >&- 2>&-"):
        folder = tmp_path / str(len(outcomes))
        shutil.copytree(world, folder)
        done = subprocess.run(
            ["sh", "-c", f'"$@" {closed}', "sh", program, command, *WORDS[command]],
            cwd=folder,
            env=environment({"CODEAUDIT_CACHE": str(tmp_path / "cache")}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert "rror" not in done.stderr, done.stderr
        outcomes[closed] = done.returncode, files(folder)
        if closed == "":
            assert done.returncode == 0, done.stderr
        elif closed == "2>&-":
            assert "codeaudit: " not in done.stdout
    assert all(outcome == outcomes[""] for outcome in outcomes.values()), outcomes


# ── texts of others ──────────────────────────────────────────────────────────────────────────────────────

MARKS = "\x1b[8m\x1b]0;x\x07\x9b2J\u202e\u2066\u2028\ufeff\r\x7f"
"""Hides text, names the window, rings, clears the screen, turns the direction, ends a line, returns."""
NAME = f"n{MARKS}\n\udcff"
"""A name that a file may have: with an end of line, and a byte that is no UTF-8."""


def unclean(printed: bytes) -> set[str]:
    """The characters of an output that must not be there."""
    text = printed.decode("utf-8").replace("\r\n", "\n")
    return {
        character
        for character in text
        if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") and character not in "\t\n\f"
    }


def marked(value: object) -> object:
    """A value of JSON with marks in each text."""
    if isinstance(value, dict):
        return {name: marked(part) for name, part in value.items()}
    if isinstance(value, list):
        return [marked(part) for part in value]
    return f"{value}{MARKS}" if isinstance(value, str) else value


def hostile_rows(rows: Iterator[Row]) -> Iterator[Row]:
    """The rows of a suite or of verdicts with marks in all names and reasons."""
    for row in rows:
        found = {**row, "sample": row["sample"] + MARKS}
        for name in ("model", "path"):
            if name in row:
                found[name] = row[name] + MARKS
        if row.get("reason"):
            found["reason"] = row["reason"] + MARKS
        yield found


def hostile_run(folder: Path) -> None:
    """Put marks into a run, as its owner can."""
    for path in (folder / name for name in (SUITE, VERDICTS, ANSWERS)):
        if path.exists():
            edit_rows(path, hostile_rows)  # type: ignore[arg-type]
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    for model in summary["models"]:
        model["model"] += MARKS
    edit_json(folder / "summary.json", models=summary["models"], corpus=MARKS)
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    for model in manifest["models"]:
        model["name"] += MARKS
    kept = {name: manifest[name] for name in (FILES,)}
    fields = {
        name: marked(manifest[name]) for name in ("command", "versions", "machine", "corpus", "options")
    }
    edit_json(folder / MANIFEST, **fields, **kept, models=manifest["models"])
    rebind(folder)


@pytest.fixture(scope="module")
def hostile(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with what the words name, and all of it hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    shutil.copytree(world, folder, dirs_exist_ok=True)
    text = SOURCE.replace("count", "comment").replace(
        "    return", f"    comment = '{MARKS.replace(chr(13), '')}'\n    return"
    )
    (folder / "f.py").write_text(text, "utf-8")
    for name in RUNS:
        shutil.rmtree(folder / name)
    make_runs(folder)
    for name in RUNS:
        hostile_run(folder / name)
    for path in (folder / NAME, folder / "project" / f"{NAME}.py"):
        path.mkdir() if path.suffix == "" else path.write_text(text, "utf-8")
    (folder / NAME / "f.py").write_text(text, "utf-8")
    (folder / "table.jsonl").write_text(
        json.dumps({"id": MARKS, "language": "python", "code": SOURCE, "label": MARKS, "file": MARKS}) + "\n"
    )
    (folder / "answers.py").write_text(
        "import sys, warnings, logging\n"
        f"MARKS = {MARKS!r}\n"
        "def echo(text):\n"
        "    print(MARKS); print(MARKS, file=sys.stderr); warnings.warn(MARKS); logging.warning(MARKS)\n"
        "    return MARKS\n"
        "def bad(text):\n    raise ValueError(MARKS)\n",
        "utf-8",
    )
    return folder


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of an endpoint with marks in its messages."""
    with serving(lambda asked: refuses(400, MARKS)) as endpoint:
        yield endpoint.url


def hostile_words(command: str, server: str) -> list[list[str]]:
    """Lines that show texts of others, and lines that end in an error about one."""
    words, name = WORDS[command], os.fsencode(NAME).decode("utf-8", "surrogateescape")
    commands = [words]
    if command not in ("doctor", "list"):
        commands += [[name, *words[1:]], [*words, "--config", name], [f"--{name}"]]
    match command:
        case "run":
            corpus = ["--corpus", "table.jsonl", *LITTLE]
            commands += [
                ["--model", "fake/hash", "--corpus", name, *LITTLE],
                ["--model", "fake/hash", *corpus, "--format", "markdown"],
                ["--model", "py/answers:echo", *corpus],
                ["--model", "py/answers:bad", *corpus],
                ["--model", f"py/answers:{name}", *corpus],
                ["--model", f"openai/{name}", "--base-url", server, *corpus],
                ["--model", f"exec/{sys.executable} -c print('{MARKS}')", *corpus],
            ]
        case "transform":
            commands += [[name, "--diff"], ["f.py", "--diff"], [".", "--transform", "rename", "--diff"]]
            commands += [["f.py", "--suite", "s.jsonl", "--diff"], [name, "--diff", "--format", "json"]]
        case "report":
            commands += [["run", "--format", kind] for kind in ("json", "markdown", "csv", "latex", "rich")]
            commands += [["run", "--html", "-"], ["run", "--junit", "-"]]
        case "gate":
            commands += [["run", "--max-violation-rate", "1%", "--github"], ["run", "--baseline", name]]
            commands += [["run", "--max-violation-rate", "100%", "--format", "json"]]
        case "explain":
            commands += [["run", "--format", kind] for kind in ("json", "markdown")]
        case "compare":
            commands += [["run", "other", "--format", kind] for kind in ("json", "markdown")]
        case "list":
            commands += [[name], ["transforms", "--verbose", name]]
        case "doctor":
            commands += [[name]]
    return commands


@pytest.mark.parametrize("command", SELECTED)
def test_no_text_of_others_steers_the_terminal(
    command: str, program: str, server: str, hostile: Path, tmp_path: Path
) -> None:
    """Names of files, samples and models, code, answers, messages of servers and programs: all are shown clean."""
    seen = ""
    for number, words in enumerate(hostile_words(command, server)):
        folder = tmp_path / str(number)
        shutil.copytree(hostile, folder)
        done = subprocess.run(
            [program, command, *words],
            cwd=folder,
            env=environment({"NO_COLOR": "1", "CODEAUDIT_CACHE": str(tmp_path / "cache")}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
        )
        assert unclean(done.stdout) == set(), (words, done.stdout)
        assert unclean(done.stderr) == set(), (words, done.stderr)
        assert b"unexpected error" not in done.stderr, done.stderr.decode()
        # `explain` asks the model again, and none has such a name.
        if "json" in words and "--diff" not in words and command != "explain":
            assert done.stdout, (words, done.stderr)
            json.loads(done.stdout)
        seen += (done.stdout + done.stderr).decode()
    assert command in ("init", "seal", "unseal", "doctor", "view") or r"\x1b" in seen, (
        "nothing hostile was shown"
    )


@pytest.mark.slow
def test_the_traceback_of_a_developer_is_clean_too(program: str, hostile: Path) -> None:
    done = subprocess.run(
        [program, "run", "--model", "py/answers:bad", "--corpus", "table.jsonl", *LITTLE],
        cwd=hostile,
        env=environment({"NO_COLOR": "1", "CODEAUDIT_DEBUG": "1"}),
        capture_output=True,
        timeout=120,
    )
    assert unclean(done.stderr) == set()


@pytest.mark.slow
def test_colours_are_those_of_the_console_alone() -> None:
    """Where colours are shown, a text cannot bring its own, not even between two of them."""
    shown = StringIO()
    terminal = Terminal(shown, force_terminal=True, color_system="truecolor")
    terminal.print(Text(f"a{MARKS}b", style="bold"))
    assert re.sub(r"\x1b\[[01]m", "", shown.getvalue()).isascii()
    assert re.findall(r"\x1b\[[0-9;]*m", shown.getvalue()) == ["\x1b[1m", "\x1b[0m"]
    # What others write while nothing is drawn.
    plain = StringIO()
    stream = CleanStream(plain)
    stream.writelines([MARKS, "\r\n"])
    assert unclean(plain.getvalue().encode()) == set()
    stream.bars.write(f"\r{MARKS}")
    assert "\x1b[8m" not in plain.getvalue()

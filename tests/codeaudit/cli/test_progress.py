"""Progress on a terminal: the stage, which model of how many, the rate and the time left."""

import os
import re
import struct
import subprocess
import time
from pathlib import Path

import pytest

from codeaudit.cli import output
from codeaudit.cli.main import main
from tests.support.commands import COMMAND, environment

pty = pytest.importorskip("pty", reason="a pseudoterminal")
fcntl = pytest.importorskip("fcntl")
termios = pytest.importorskip("termios")

SLOW = '''
import time


def first(queries):
    """Slow enough for a bar that can be read."""
    time.sleep(0.4)
    return [query.source.split()[-1] for query in queries]


def second(queries):
    time.sleep(0.4)
    return ["total" for _ in queries]
'''
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def shown(*words: str, cwd: Path, columns: int) -> list[str]:
    """The lines that a command draws on a terminal, each as often as it is drawn anew."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    kept = {name: value for name, value in environment().items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [*COMMAND, *words], cwd=cwd, env={**kept, "TERM": "xterm"}, stdout=subprocess.DEVNULL, stderr=theirs
    )
    os.close(theirs)
    drawn = b""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # Linux tells the end of the other side so
            break
        if not part:
            break
        drawn += part
    os.close(ours)
    assert process.wait(timeout=30) == 0, drawn.decode(errors="replace")[-2000:]
    return re.split(r"[\r\n]+", ANSI.sub("", drawn.decode()))


@pytest.fixture
def words(tmp_path: Path, sources: Path) -> list[str]:
    (tmp_path / "slow_models.py").write_text(SLOW)
    models = ["--model", "py/slow_models:first", "--model", "py/slow_models:second"]
    return [
        "run",
        *models,
        "--corpus",
        "sources",
        "--batch-size",
        "4",
        "--transform",
        "rename",
        "--workers",
        "1",
        "--out",
        "out",
    ]


BAR = r"\d+/\d+ +\d[\d.,]*/s +\d+:\d\d"
"""Number of answers, rate, and time left."""


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 50])
def test_a_terminal_shows_stage_model_rate_and_time_left(
    words: list[str], tmp_path: Path, columns: int
) -> None:
    lines = shown(*words, cwd=tmp_path, columns=columns)
    assert lines[0] == "codeaudit: reading corpus sources"
    assert max(len(line) for line in lines if "━" in line) <= columns, "a bar keeps to its line"
    # The first model gives an answer that is none: the message has its own line, above the bar.
    assert any(line.startswith("codeaudit: py/slow_models:first: the") for line in lines), "\n".join(lines)
    # The stages in their order, each told when it begins.
    stages = ["codeaudit: corpus sources", "codeaudit: suite:", "model 1 of 2", "model 2 of 2", "run folder"]
    places = [next(place for place, line in enumerate(lines) if stage in line) for stage in stages]
    assert places == sorted(places)
    for number, name in ((1, "first"), (2, "second")):
        bars = [line for line in lines if re.match(rf"model {number} of 2.*{BAR}", line)]
        assert bars, "\n".join(lines)
        assert any(f"codeaudit: model {number} of 2, py/slow_models:{name}: " in line for line in lines)


def test_each_of_several_models_is_numbered_and_a_single_one_is_not(
    sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    few = ["--corpus", "sources", "--transform", "rename", "--variants", "1", "--no-controls"]
    assert main(["run", "--model", "fake/hash", "--model", "fake/length", *few]) == 0
    printed = capsys.readouterr().err
    assert "codeaudit: model 1 of 2, fake/hash: " in printed
    assert "codeaudit: model 2 of 2, fake/length: " in printed
    assert main(["run", "--model", "fake/hash", *few, "--attack", "random", "--budget", "1"]) == 0
    printed = capsys.readouterr().err
    assert "codeaudit: fake/hash: " in printed
    assert "codeaudit: fake/hash, random: " in printed
    assert "model 1 of 1" not in printed


@pytest.mark.slow
def test_notes_never_go_to_stdout(sources: Path, tmp_path: Path) -> None:
    """Also if stderr is closed."""
    run = [*COMMAND, "run", "--corpus", str(sources), "--model", "fake/hash", "--transform", "rename"]
    done = subprocess.run(
        ["sh", "-c", '"$@" 2>&-', "sh", *run],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "rename: fake/hash changed" in done.stdout
    assert "codeaudit: " not in done.stdout


def test_a_line_comes_while_one_unit_lasts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "LINE_EVERY", 0.02)
    with output.ProgressMonitor("suite", 3, unit="samples") as monitor:
        monitor.answered(1, recalled=False)
        printed = ""
        end = time.monotonic() + 20
        while printed.count("suite: 1 of 3 samples") < 2 and time.monotonic() < end:
            time.sleep(0.01)
            printed += capsys.readouterr().err
    assert printed.count("suite: 1 of 3 samples") >= 2
    time.sleep(0.1)
    assert capsys.readouterr().err.splitlines()[-1].startswith("codeaudit: suite: 1 sample in ")

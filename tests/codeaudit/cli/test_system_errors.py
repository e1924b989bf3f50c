"""Whatever the operating system refuses: one line that names the file, and never exit code 1 (gate failed)."""

import errno
import os
import shutil
from pathlib import Path

import click
import pytest

from codeaudit.cli.main import COMMANDS, LazyGroup, cli, main

LONG = "a" * 300

SOURCE = """\
def total(values, start):
    result = start
    count = 0
    for value in values:
        result += value
        count += 1
    return result, count
"""


def place(kind: str) -> str:
    """A name below the current folder that the system refuses."""
    match kind:
        case "too long":
            return LONG
        case "too long, in a folder":
            return f"folder/{LONG}.py"
        case "below a file":
            Path("file").write_text("x", encoding="utf-8")
            return "file/below.json"
        case "a loop of links":
            Path("loop").symlink_to("loop")
            return "loop"
        case "a folder":
            Path("folder").mkdir()
            return "folder"
        case "deeper than the system allows":
            return "/".join(["b" * 200] * 40)
        case "the home of nobody":
            return "~no-such-user-here/below.jsonl"
    raise AssertionError(kind)


KINDS = (
    "too long",
    "too long, in a folder",
    "below a file",
    "a loop of links",
    "a folder",
    "deeper than the system allows",
    "the home of nobody",
)

MINIMAL: dict[str, list[str]] = {
    "run": ["--model", "fake/hash", "--corpus", "f.py", "--limit", "1", "--out", "out"],
    "compare": ["run"],
    "gate": ["run", "--max-violation-rate", "100%", "--allow-insensitive"],
    "transform": ["f.py", "--diff"],
    "verify": ["project", "--test-command", "true"],
    "explain": ["run"],
    "report": ["run"],
    "merge": ["shard", "--out", "out"],
    "train": ["spe", "--task", "function-name", "--corpus", "f.py", "--out", "out"],
    "papers": ["list"],
    "seal": ["spe-checkpoint", "--key", "key", "--scheme", "cipher", "--out", "out"],
    "unseal": ["sealed", "--key", "key", "--out", "out"],
    "list": ["models"],
    "init": ["project"],
    "view": ["run", "--no-browser"],
    "doctor": [],
}
"""Words with which each command would do something."""


READ_FIRST: dict[str, set[str]] = {
    "run": {"corpus", "config", "suite", "out"},
    "compare": {"runs", "config"},
    "gate": {"run", "baseline", "config", "junit", "sarif", "write_limits"},
    "transform": {"sources", "out", "suite"},
    "verify": {"project"},
    "merge": {"shards"},
    "explain": {"run"},
    "report": {"run", "html", "markdown", "latex", "junit", "folder"},
    "train": {"corpus"},
    "papers": set(),
    "seal": {"checkpoint", "key_file", "out"},
    "unseal": set(),
    "list": set(),
    "init": {"folder"},
    "view": {"run", "out"},
    "doctor": set(),
}
"""Parameters whose value the message names, if there is an error."""


def commands() -> list[tuple[str, click.Parameter]]:
    """Every parameter of every command that takes a text or a path."""
    pairs = []
    with cli.make_context("codeaudit", ["list"], resilient_parsing=True) as ctx:
        assert isinstance(cli, LazyGroup)
        for name in COMMANDS:
            command = cli.get_command(ctx, name)
            assert command is not None
            for each in command.params:
                flag = isinstance(each, click.Option) and each.is_flag
                numeric = isinstance(each.type, click.IntRange | click.FloatRange | click.Choice)
                if not flag and not numeric and each.name != "help":
                    pairs.append((name, each))
    return pairs


def cases() -> list[tuple[str, click.Parameter, str]]:
    """Every parameter that names a file with every kind; of the others, which refuse or take any text alike, each
    with two kinds, and each kind with many of them.
    """
    triples = []
    for number, (command, parameter) in enumerate(commands()):
        path = isinstance(parameter.type, click.Path) or parameter.name in READ_FIRST[command]
        kinds = KINDS if path else [KINDS[(2 * number + more) % len(KINDS)] for more in range(2)]
        triples += [(command, parameter, kind) for kind in kinds]
    return triples


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source, a finished run, a shard and a project."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "f.py").write_text(SOURCE, encoding="utf-8")
    (folder / "project").mkdir()
    (folder / "project" / "f.py").write_text(SOURCE, encoding="utf-8")
    words = ["run", "--model", "fake/hash", "--corpus", str(folder / "f.py"), "--workers", "1"]
    words += ["--transform", "rename", "--variants", "1"]
    assert main([*words, "--out", str(folder / "run")]) == 0
    assert main([*words, "--shard", "1/1", "--out", str(folder / "shard")]) == 0
    return folder


@pytest.mark.thinned(6)
@pytest.mark.parametrize(
    ("command", "parameter", "kind"), cases(), ids=lambda each: getattr(each, "name", each)
)
def test_no_name_that_the_system_refuses_ends_in_a_traceback(
    command: str,
    parameter: click.Parameter,
    kind: str,
    world: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for each in world.iterdir():
        (shutil.copytree if each.is_dir() else shutil.copy)(each, each.name)
    name = place(kind)
    words = list(MINIMAL[command])
    if isinstance(parameter, click.Argument):
        words[:1] = [name]
    else:
        option = parameter.opts[0]
        if option in words:
            del words[words.index(option) : words.index(option) + 2]
        words += [option, name]
    code = main([command, *words])
    printed = capsys.readouterr().err
    assert code in (0, 2, 3), printed
    assert "Traceback" not in printed
    assert "unexpected error" not in printed
    if code:
        assert printed.splitlines()[-1].startswith("codeaudit: ")
        assert parameter.name not in READ_FIRST[command] or name[:40] in printed


@pytest.mark.thinned(20)
@pytest.mark.parametrize("number", sorted(errno.errorcode))
def test_every_error_of_the_system_is_one_line(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(words: list[str]) -> int:
        raise OSError(number, os.strerror(number), "some/file")

    monkeypatch.setattr("codeaudit.cli.main._invoke", refuses)
    code = main(["list"])
    printed = capsys.readouterr().err
    if isinstance(OSError(number, ""), BrokenPipeError):  # the reader closed the pipe
        assert (code, printed) == (0, "")
    else:
        assert code == 3
        assert printed == f"codeaudit: cannot use 'some/file': {os.strerror(number)}\n"

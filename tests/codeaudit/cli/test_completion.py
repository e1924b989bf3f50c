"""What the shell is told when Tab is pressed."""

import os
import subprocess
import sys

import pytest
from click.shell_completion import CompletionItem, ShellComplete

from codeaudit.cli.main import cli


def completed(*words: str) -> list[str]:
    """The values for the last word."""
    return [item.value for item in items(*words)]


def items(*words: str) -> list[CompletionItem]:
    shell = ShellComplete(cli, {}, "codeaudit", "_CODEAUDIT_COMPLETE")
    return shell.get_completions(list(words[:-1]), words[-1])


def test_models() -> None:
    """Bundled ones and the heads of the others; where none fits, a folder."""
    assert completed("run", "--model", "renamer") == ["renamer-checkpoint"]
    assert "hf/" in completed("run", "--model", "")
    assert "fake/hash" in completed("run", "--model", "fak")
    (item,) = items("compare", "--model", "./mine")
    assert (item.value, item.type) == ("./mine", "file")


def test_transforms_behind_commas() -> None:
    """Families too; none twice."""
    assert "reorder" in completed("run", "--transform", "reo")
    completions = completed("verify", "--transform", "reorder,re")
    assert "reorder,rename" in completions
    assert "reorder,reorder" not in completions
    assert "all" in completed("transform", "--transform", "")


@pytest.mark.parametrize("command", ["run", "compare", "train", "transform"])
def test_tasks(command: str) -> None:
    """Wherever one is named."""
    assert completed(command, "--task", "through") == ["throughput"]


def test_presets_and_logs_of_a_training() -> None:
    assert "spe-paper" in completed("train", "--preset", "spe")
    assert completed("train", "--log", "c") == ["csv"]


def test_corpora() -> None:
    """The named ones, and files."""
    assert completed("run", "--corpus", "std") == ["stdlib"]
    (item,) = items("train", "--corpus", "data/x")
    assert item.type == "file"


def test_bash_gets_it_without_a_framework() -> None:
    """As bash asks; torch is not imported for it."""
    asked = {
        "_CODEAUDIT_COMPLETE": "bash_complete",
        "COMP_WORDS": "codeaudit run --task gen",
        "COMP_CWORD": "3",
    }
    program = (
        "import sys\nfrom codeaudit.cli.main import main\n"
        "try:\n    main([])\nfinally:\n    print('torch' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.split() == ["plain,generation", "False"], done.stderr

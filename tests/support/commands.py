"""Runs the command line as a user does: in a process of its own, with its own signals and streams."""

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from codeaudit.cli.main import main

ROOT = Path(__file__).parents[2]

COMMAND = (sys.executable, "-m", "codeaudit")


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment, with the checkout importable from anywhere."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **(extra or {})}


def codeaudit(*words: str, cwd: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    """The finished command; keyword arguments are environment variables."""
    return subprocess.run(
        [*COMMAND, *words], cwd=cwd, env=environment(extra), capture_output=True, text=True, timeout=120
    )


def called(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The same in this process: a second or two less for each command that needs torch."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def start(*words: str, cwd: Path) -> subprocess.Popen[str]:
    """The command, still running."""
    return subprocess.Popen(
        [*COMMAND, *words],
        cwd=cwd,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

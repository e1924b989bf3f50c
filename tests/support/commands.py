"""Runs the command line as a user does: in a process of its own, with its own signals and streams.

`codeaudit` and `start` fork that process from one that has imported what commands import, which saves the two
seconds of the import. `COMMAND` is what a user types: it starts an interpreter.
"""

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from codeaudit.cli.main import main
from tests.support.preloaded import Forked

ROOT = Path(__file__).parents[2]

COMMAND = (sys.executable, "-m", "codeaudit")


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment, with the checkout importable from anywhere."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **(extra or {})}


def _read_at_start(around: Mapping[str, str]) -> dict[str, str]:
    return {name: around[name] for name in around if name.startswith("PYTHON") and name != "PYTHONPATH"}


_READ_AT_START = _read_at_start(os.environ)


def codeaudit(*words: str, cwd: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    """The finished command; keyword arguments are environment variables."""
    around = environment(extra)
    if _read_at_start(around) != _READ_AT_START:  # a fork has read them
        return subprocess.run(
            [*COMMAND, *words], cwd=cwd, env=around, capture_output=True, text=True, timeout=120
        )
    with Forked(words, cwd, around) as running:
        try:
            out, err = running.communicate(timeout=120)
        finally:
            running.kill()
    return subprocess.CompletedProcess(running.args, running.wait(), out, err)


def called(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The same in this process: a second or two less for each command that needs torch."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def start(*words: str, cwd: Path) -> Forked:
    """The command, still running."""
    return Forked(words, cwd, environment())

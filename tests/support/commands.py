"""Runs the command line as a user does: in a process of its own, with its own signals and streams."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

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

"""The hook for pre-commit: `codeaudit run`, then `codeaudit gate`, with the repository's `codeaudit.toml`."""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from codeaudit.cli.main import main as codeaudit

CONFIG: Final = "codeaudit.toml"
NAME: Final = "python -m codeaudit.cli.hook"


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit, then judge. Returns the exit code of the first of the two that fails, else 0.

    Raises:
        SystemExit: the arguments ask for help or are wrong.
    """
    parser = argparse.ArgumentParser(
        prog=NAME, description="Carry out `codeaudit run`, then `codeaudit gate`."
    )
    parser.add_argument("config", nargs="?", default=CONFIG, help="their options  (default: %(default)s)")
    config = parser.parse_args(arguments).config
    folder = str(_folder() / "run")
    code = codeaudit(["run", "--config", config, "--out", folder])
    # An audit that failed leaves no run that the gate could judge.
    return code or codeaudit(["gate", folder, "--config", config])


def _folder() -> Path:
    """A folder that git does not track: inside `.git`, or below `codeaudit-runs` without git."""
    try:
        # Asked from git, because in a worktree `.git` is a file and not a folder.
        done = subprocess.run(
            ["git", "rev-parse", "--git-path", "codeaudit"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return Path("codeaudit-runs", "hook")
    return Path(done.stdout.strip())


if __name__ == "__main__":
    sys.exit(main())

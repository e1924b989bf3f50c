"""`codeaudit verify` on a project: its report kept in a file, and what broke told on stderr."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def verified(name: str, words: Sequence[str], work: Path) -> dict[str, Any]:
    """The report of `codeaudit verify` with these arguments, kept in the folder.

    Raises:
        ValueError: it could not judge the project.
    """
    command = [sys.executable, "-m", "codeaudit", "verify", *words, "--format", "json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        raise ValueError(f"codeaudit verify ended with exit code {done.returncode}")
    (work / f"{name}.json").write_text(done.stdout, encoding="utf-8")
    report: dict[str, Any] = json.loads(done.stdout)
    for trial in report["trials"]:
        for culprit in trial["culprits"]:
            told = " and ".join(
                f"{one['transform']} in {one['path']}:{one['line']} {one['name']}"
                for one in culprit["rewritten"]
            )
            print(
                f"{name}, seed {trial['seed']}: {told}: {culprit['tests'][0]}\n{culprit['diff']}",
                file=sys.stderr,
            )
    return report

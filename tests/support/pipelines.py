"""The files for CI, read as GitHub and GitLab read them, and their commands carried out."""

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

SPEC: Final = (
    "codeaudit-ml @ git+https://git.example.com/codeaudit.git@0123456789abcdef0123456789abcdef01234567"
)
"""What the files in documentation and examples install: nobody can, so nobody copies it unread."""
SHELLS: Final = {"github": ("bash", "-e"), "gitlab": ("bash", "-eo", "pipefail")}
"""The shell that carries out the commands of a file, and its options."""


class Step(NamedTuple):
    """A command of a job."""

    command: str
    environment: Mapping[str, str]
    """What the file adds to the environment of this command."""


def steps(kind: str, text: str) -> Iterator[Step]:
    """The commands of the only job of a file, in their order; actions are left out."""
    pipeline = yaml.safe_load(text)
    if kind == "github":
        (job,) = pipeline["jobs"].values()
        outer = {**pipeline.get("env", {}), **job.get("env", {})}
        for step in job["steps"]:
            if "run" in step:
                yield Step(step["run"], {**outer, **step.get("env", {})})
        return
    (job,) = (entry for entry in pipeline.values() if "script" in entry)
    outer = {**pipeline.get("variables", {}), **job.get("variables", {})}
    for part in ("before_script", "script"):
        yield from (Step(step, outer) for step in job.get(part, ()))


class JobEnded(NamedTuple):
    """How a job ended."""

    code: int
    last: str
    """The command that ended it."""
    out: str
    """What all commands printed."""


def carried_out(kind: str, text: str, cwd: Path, environment: Mapping[str, Any]) -> JobEnded:
    """The commands of a file, one after another until one fails, in this environment and nothing else."""
    out = ""
    for step in steps(kind, text):
        done = subprocess.run(
            [*SHELLS[kind], "-c", step.command],
            cwd=cwd,
            env={**environment, **step.environment},
            capture_output=True,
            text=True,
            timeout=300,
        )
        out += done.stdout + done.stderr
        if done.returncode:
            break
    return JobEnded(done.returncode, step.command, out)

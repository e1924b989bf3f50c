"""The command `codeaudit init`: writes the files with which a project starts. It never overwrites one."""

import shlex
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from codeaudit.audit.corpora.files import FOREIGN, TESTS
from codeaudit.cli.installed import Installable, for_others, named
from codeaudit.cli.output import note
from codeaudit.transforms.distribution import NAME
from codeaudit.transforms.errors import CorpusError, RunError

RUN: Final = "codeaudit run --config codeaudit.toml --out codeaudit-runs/ci"
GATE: Final = "codeaudit gate codeaudit-runs/ci --config codeaudit.toml"
CHECK: Final = (
    f"codeaudit --version | grep '^{NAME} [0-9]' || "
    f"{{ echo 'another program has the command codeaudit here: install {NAME} without it'; exit 1; }}"
)
"""Ends a job whose command `codeaudit` is not this program."""
UNKNOWN: Final = f"echo 'write here: python -m pip install, then a file, a URL or {NAME}==VERSION'; exit 1"
"""Takes the place of the installation if nobody knows what to install."""

_GITHUB: Final = """\
name: codeaudit
on:
  push: {branches: [main]}
  pull_request:
permissions: {contents: read}
jobs:
  gate:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v4
        with: {persist-credentials: false}
      - uses: actions/setup-python@v5
        with: {python-version: "3.12"}
      # Install your model's own packages here, too.
      - run: |
          <install>
      # Another program has the same command. Stop if it is that one, before any key is here.
      - run: |
          <check>
      # The key of an endpoint belongs to the next step alone. Put below its line:
      #   env: {OPENAI_API_KEY: "${{ secrets.OPENAI_API_KEY }}"}
      <audit>
      - if: always()
        uses: actions/upload-artifact@v4
        with: {name: codeaudit, path: codeaudit-runs/ci}
"""
_GITLAB: Final = """\
codeaudit:
  image: python:3.12
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    # Install your model's own packages here, too.
    - |
      <install>
    # Another program has the same command. Stop if it is that one, before any key is here.
    - |
      <check>
    # The key of an endpoint belongs to the next line alone. Keep it in a variable of the type "File", and put
    # before the command: OPENAI_API_KEY="$(cat "$OPENAI_KEY_FILE")"
    <audit>
  artifacts:
    when: always
    paths: [codeaudit-runs/ci]
    reports: {junit: gate.xml}
"""


def github(spec: str, *, audit: Sequence[str] = (RUN, f"{GATE} --github")) -> str:
    """The workflow for GitHub Actions.

    Args:
        spec: the argument of `pip install`; if it is empty, the job fails until a user writes one.
        audit: the commands after the installation.
    """
    return _filled(_GITHUB, spec, [f"- run: {command}" for command in audit])


def gitlab(spec: str, *, audit: Sequence[str] = (RUN, f"{GATE} --junit gate.xml")) -> str:
    """The job for GitLab, from the same arguments as `github`."""
    return _filled(_GITLAB, spec, [f"- {command}" for command in audit])


def _filled(template: str, spec: str, audit: Sequence[str]) -> str:
    """A template with commands in place of its marks."""
    commands = {
        "<install>": f"python -m pip install {shlex.quote(spec)}" if spec else UNKNOWN,
        "<check>": CHECK,
        "<audit>": "\n".join(audit),
    }
    lines = []
    for line in template.splitlines():
        mark = line.strip()
        lines.append(textwrap.indent(commands[mark], line[: -len(mark)]) if mark in commands else line)
    return "\n".join([*lines, ""])


CONFIG: Final = "codeaudit.toml"
MODEL: Final = "codeaudit_model.py"

_CONFIG: Final = """\
# The options of `codeaudit run --config codeaudit.toml` and `codeaudit gate RUN --config codeaudit.toml`.
# `codeaudit run --help` and `codeaudit gate --help` describe them all.

[run]
model = "py/codeaudit_model:predict"
corpus = "{corpus}"
task = "function-name"
# Without a limit a run draws 200 functions, and more until each transform changes 100. If an answer of your
# model costs money, set one:
# limit = 200
# The same inputs for every commit: write them once, commit the file, and put this line in the place of
# corpus: codeaudit transform {corpus} --suite suite.lock.jsonl
# suite = "suite.lock.jsonl"

[gate]
# The largest share of functions whose answer may change although their meaning does not. After the first good
# run, let measured limits take its place: codeaudit gate codeaudit-runs/ci --write-limits codeaudit.toml
max-violation-rate = "10%"
# No worse than the version that is shipped: write its file once, and commit it:
# codeaudit report codeaudit-runs/ci --baseline baseline.parquet
# baseline = "baseline.parquet"
"""

_MODEL: Final = '''\
"""The model that codeaudit asks: put yours into `predict`."""

import re

CALLED = re.compile(r"\\.([a-z][a-z_]*)\\(")
VARIABLE = re.compile(r"^ +(\\w+) = ", re.MULTILINE)


def predict(queries):
    """One answer per query, in their order.

    A query has `source` (the code, in which the function's own name is hidden), `language` and `task`. An
    answer to the task function-name is a name, such as "read_file".
    """
    return [name(query.source) for query in queries]


def name(source):
    """One of the methods that the code calls, by the number of its variables. Put your model here."""
    called = sorted(set(CALLED.findall(source))) or ["run"]
    return called[len(set(VARIABLE.findall(source))) % len(called)]
'''

PIPELINES: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "github": (".github/workflows/codeaudit.yml", github),
    "gitlab": (".gitlab-ci.yml", gitlab),
}
"""The file for each kind of CI, and what makes its text from the argument of `pip install`."""


@click.command()
@click.argument("folder", required=False, default=".", type=click.Path(path_type=Path))
@click.option("--ci", type=click.Choice(list(PIPELINES)), default="github", help="Where the gate will run.")
@click.option(
    "--install",
    metavar="SPEC",
    help="What CI installs, as an argument of `pip install`: a file, a URL or NAME==VERSION.  "
    "(default: what is installed here)",
)
def init(folder: Path, ci: str, install: str | None) -> int:
    """Write what a project needs to audit its model: options, a model to fill in, and a job for CI.

    The files are codeaudit.toml, codeaudit_model.py and .github/workflows/codeaudit.yml (or .gitlab-ci.yml).
    A file that exists stays as it is. Credentials in a URL are never written.

    \b
    Examples:
      codeaudit init
      codeaudit init --ci gitlab --install ./wheels/codeaudit_ml-0.1.0-py3-none-any.whl
      codeaudit init && codeaudit run --config codeaudit.toml
    """
    if not folder.is_dir():
        remedy = "it is a file; name its folder" if folder.exists() else "make it first"
        raise CorpusError(f"no folder {str(folder)!r}; {remedy}")
    chosen = for_others(folder) if install is None else named(install)
    path, text = PIPELINES[ci]
    files = {
        CONFIG: _CONFIG.format(corpus=_corpus(folder)),
        MODEL: _MODEL,
        path: text(chosen.spec),
    }
    new = [name for name, content in files.items() if _written(folder / name, content)]
    if path in new:
        _tell(path, chosen)
    elif install is not None:
        note(f"{path} does not have your --install: remove the file first to write it anew")
    if new:
        run = f"codeaudit run --config {CONFIG} --out codeaudit-runs/ci"
        limits = f"codeaudit gate codeaudit-runs/ci --write-limits {CONFIG}"
        note(f"next: write your model into {MODEL}, then {run}; after a good run: {limits}")
    return 0


def _tell(path: str, chosen: Installable) -> None:
    """Say what the job installs and what the user still has to do."""
    if chosen.spec:
        note(f"{path} installs {chosen.spec}")
    else:
        note(
            f"{path} fails until you write in it what to install: what is here came from no place that CI has"
        )
    for remark in chosen.remarks:
        note(f"{path}: {remark}")


def _written(path: Path, text: str) -> bool:
    """Write a new file and say so. Returns whether it is new."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # "x": a file that appears in between, or a link that leads nowhere, is not overwritten either.
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        note(f"{path}: exists, so it stays as it is")
        return False
    except OSError as error:
        raise RunError(f"cannot write {str(path)!r}: {error.strerror or error}") from error
    note(f"{path}: written")
    return True


def _corpus(folder: Path) -> str:
    """The sources of a project: `src`, its only package, else the whole; without sources `stdlib`."""
    if any(_sources(folder / "src")):
        return "src"
    packages = [
        path.parent.name for path in folder.glob("*/__init__.py") if path.parent.name not in TESTS | FOREIGN
    ]
    if len(packages) == 1:
        return packages[0]
    return "." if any(_sources(folder)) else "stdlib"


def _sources(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*.py"):
        within = path.relative_to(folder).parts
        hidden = any(part.startswith(".") or part in FOREIGN for part in within)
        if not hidden and path.name != MODEL:
            yield path

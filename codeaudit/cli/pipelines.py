"""The files for CI that `codeaudit init` writes: the same commands for GitHub Actions and for GitLab.

The job installs, then checks that it installed this program, and only then audits. The key of an endpoint is
in the environment of the audit alone.
"""

import shlex
import textwrap
from collections.abc import Sequence
from typing import Final

from codeaudit.transforms.distribution import NAME

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
    return _filled(_GITHUB, spec, [f"- run: {one}" for one in audit])


def gitlab(spec: str, *, audit: Sequence[str] = (RUN, f"{GATE} --junit gate.xml")) -> str:
    """The job for GitLab, from the same arguments as `github`."""
    return _filled(_GITLAB, spec, [f"- {one}" for one in audit])


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

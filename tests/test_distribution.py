"""Nothing in the repository installs, or looks up, the unrelated program that has our command's name."""

import ast
import os
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from packaging.requirements import Requirement

from codeaudit.cli.init import PIPELINES
from codeaudit.transforms.distribution import NAME, NAMESAKE, Extra, how_to_install, requirement
from tests.support.commands import ROOT
from tests.support.source_trees import PACKAGES, texts

TEXTS = {".py", ".md", ".toml", ".yml", ".yaml", ".txt", ".ipynb", ".sh", ".cfg", ".cff"}
NAMED = {"Dockerfile", "run"}
"""Files without an ending that hold commands."""
LEFT_OUT = {".git", "build", "dist", "__pycache__", "codeaudit-runs"}

INSTALLS = re.compile(
    r"\b(?:(?:pip3?|pipx|uv|conda|poetry|pdm)\s+(?:\w+\s+)?(?:install|add|download|wheel)|uvx)\s(.*)"
)
BARE = re.compile(rf"(?<![\w./:-]){NAMESAKE}(?![\w./:-])")
REQUIRES = re.compile(r"\b(?:dependencies|requires|install_requires)\s*=\s*\[([^\]]*)")
"""A list of requirements, as in `pyproject.toml` and in a page that shows one."""
WITH_EXTRA = re.compile(r"(?<![\w.-])(codeaudit[\w-]*)\[([a-z][a-z, -]*)\]")


@cache
def repository() -> dict[str, str]:
    """The text of every file that may hold a command, by its path."""
    by_path = {}
    for folder, folders, files in os.walk(ROOT):
        # Links lead to folders at the top; environments and other checkouts are not ours.
        inner = [name for name in folders if name not in LEFT_OUT and not (Path(folder, name)).is_symlink()]
        folders[:] = [
            name for name in inner if not {"pyvenv.cfg", ".git"} & set(os.listdir(Path(folder, name)))
        ]
        for name in files:
            path = Path(folder, name)
            if path.suffix in TEXTS or name in NAMED:
                by_path[path.relative_to(ROOT).as_posix()] = path.read_text("utf-8")
    return by_path


def strangers(text: str) -> Iterator[str]:
    """The commands and requirements of a text that install the other program."""
    yield from (match[0] for match in REQUIRES.finditer(text) if BARE.search(match[1]))
    for line in text.replace("\\\n", " ").splitlines():
        if NAMESAKE not in line:
            continue
        # Also a list of words: ["pip", "install", …].
        for match in INSTALLS.finditer(re.sub(r"""["',\\]""", " ", line)):
            if BARE.search(re.split(r"&&|[;|`]|\s#\s", match[1])[0]):
                yield line.strip()


@pytest.mark.parametrize(
    "line",
    [
        "pip install {}",
        "- run: python -m pip install -q {}",
        "uv pip install '{}[hub]'",
        "uv tool install {}",
        "pipx install {}==0.1.0",
        "`pip install torch {}` is enough",
        "pip install torch \\\n    {}",
        '[sys.executable, "-m", "pip", "install", "{}"]',
        "    raise Error('pip install \"{}[hub]\"')",
        'pip install "{} @ git+https://git.example.com/codeaudit.git"',
        'dependencies = [\n    "click",\n    "{}>=0.1",\n]',
    ],
)
def test_the_rule_finds_the_other_program_and_not_ours(line: str) -> None:
    assert list(strangers(line.format(NAMESAKE)))
    assert not list(strangers(line.format(NAME)))


@pytest.mark.parametrize(
    "line",
    [
        "pip install . && codeaudit run",
        "pip install ./tools/codeaudit",
        "`pip install .`, then codeaudit run",
        f"pip uninstall --yes {NAMESAKE} {NAME}",
    ],
)
def test_the_rule_lets_other_commands_through(line: str) -> None:
    assert not list(strangers(line))


@pytest.mark.slow
def test_no_file_installs_the_other_program() -> None:
    assert len(repository()) > 500
    assert {path: lines for path, text in repository().items() if (lines := list(strangers(text)))} == {}


@pytest.mark.parametrize("kind", PIPELINES)
@pytest.mark.parametrize("spec", [f"{NAME}==0.1.0", "./wheels/ours.whl", ""])
def test_no_generated_file_installs_the_other_program(kind: str, spec: str) -> None:
    _, text = PIPELINES[kind]
    assert list(strangers(text(spec))) == []


def test_no_requirement_is_the_other_program() -> None:
    projects = {path: text for path, text in repository().items() if path.endswith("pyproject.toml")}
    assert projects
    for path, text in projects.items():
        project = tomllib.loads(text)["project"]
        extras = project.get("optional-dependencies", {}).values()
        asked = [*project.get("dependencies", ()), *(need for extra in extras for need in extra)]
        assert [need for need in asked if Requirement(need).name == NAMESAKE] == [], path


def test_every_extra_that_is_named_exists() -> None:
    project = tomllib.loads(repository()["pyproject.toml"])["project"]
    assert project["name"] == NAME
    extras = project["optional-dependencies"]
    assert set(get_args(Extra)) <= extras.keys()
    for path, text in repository().items():
        if path != "CHANGELOG.md":  # it tells what was
            for name, named in WITH_EXTRA.findall(text):
                assert (name, {extra.strip() for extra in named.split(",")} - extras.keys()) == (
                    NAME,
                    set(),
                ), path


def test_a_message_names_what_pip_takes() -> None:
    assert how_to_install() == f"pip install {NAME}"
    assert how_to_install("hub") == f'pip install "{requirement("hub")}"'
    assert Requirement(requirement("hub")).extras == {"hub"}


def test_the_metadata_of_the_other_program_is_asked_for_by_its_name_only() -> None:
    asked = [
        f"{path}:{node.lineno}"
        for package in PACKAGES
        for path, text in texts(package).items()
        if re.search(r"importlib.metadata|version_of", text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) in LOOK_UPS
        and any(
            isinstance(argument, ast.Constant) and argument.value in (NAME, NAMESAKE)
            for argument in node.args
        )
    ]
    assert asked == [], "write NAME or NAMESAKE"


LOOK_UPS = {"version", "requires", "distribution", "metadata", "files", "version_of", "from_name"}

"""A task's facts stand with the task: no other module knows a task by its name."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeaudit.audit.interface import Task
from codeaudit.audit.registry import DEFAULT_TASK, TASKS

ROOT = Path(__file__).resolve().parents[3]
OWNERS = ("audit/tasks/", "audit/registry.py", "audit/papers/registry.py")
"""The tasks, their registry, and the registry of networks, which says for which tasks each is trained."""
OTHERS = {"audit/models/hf/": {"classification", "generation"}}
"""Words that mean something else in a folder: a kind of head of a network, a tag of chat templates."""


def sources() -> Iterator[Path]:
    for folder in ("audit", "reports", "codeaudit"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not path.parent.resolve().is_relative_to(ROOT / folder):
                continue  # a link to another of the folders
            if not path.relative_to(ROOT).as_posix().startswith(OWNERS):
                yield path


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that are no docstrings, with their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documents = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
    }  # docstrings and texts under constants
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            yield node.lineno, node.value


@pytest.mark.slow
def test_no_code_but_the_tasks_own_contains_a_task_s_name() -> None:
    places = [
        f"{path.relative_to(ROOT)}:{line}: {text!r}"
        for path in sources()
        for line, text in literals(path)
        if text in TASKS.built_in
        and not any(
            path.relative_to(ROOT).as_posix().startswith(folder) and text in words
            for folder, words in OTHERS.items()
        )
    ]
    assert places == []


def test_the_search_for_names_finds_one(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('"""derivative"""\nx = {"derivative": 1}\n')
    assert list(literals(tmp_path / "a.py")) == [(2, "derivative")]


@pytest.mark.parametrize("name", TASKS.built_in)
def test_a_task_says_everything_about_itself(name: str) -> None:
    task = TASKS.get(name)
    assert isinstance(task, Task)
    assert task.name == name
    assert task.question.endswith("?")
    assert not task.version, "built-in tasks keep their cached answers"


def test_the_default_task_exists() -> None:
    assert DEFAULT_TASK in TASKS.built_in

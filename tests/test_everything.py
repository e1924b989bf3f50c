"""Every registered name is used by a test of the quick selection: transforms, tasks, models and commands.

The tests are parametrised by the registries, so a name that is added later is covered or fails here.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.hints import SHORT
from codeaudit.audit.registry import TASKS
from codeaudit.cli.main import COMMANDS
from codeaudit.transforms.language import LANGUAGES
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Origin, Perturbed, Sample
from codeaudit.transforms.registry import entry_of, transform_for

TESTS = Path(__file__).parent
TRANSFORMS = [
    (language, name) for language in LANGUAGES.built_in for name in LANGUAGES.get(language).transforms
]
PROVIDER_TESTS = {
    "fake": "codeaudit/cli/test_run.py",
    "py": "audit/models/test_models.py",
    "exec": "audit/models/test_program.py",
    "openai": "audit/models/test_openai.py",
    "hf": "audit/models/hf/test_classify.py",
    "file": "audit/models/test_predictions.py",
    # They are asked in `test_inspect.py`, where the extra is installed.
    **dict.fromkeys(("inspect", *SHORT), "audit/models/test_hints.py"),
}
"""By provider: a module whose quick tests load its models and ask them."""
LONGER = {"pytest.mark.slow", "pytest.mark.weekly"}
"""The marks of tests that the quick selection leaves out."""


@pytest.mark.parametrize(("language", "name"), TRANSFORMS)
def test_a_transform_rewrites_its_example(language: str, name: str) -> None:
    source = entry_of(name, language).example
    sample = Sample(id=name, language=language, source=source, label=None, origin=Origin(path="a", line=1))
    (outcome,) = perturb_one(sample, transform_for(name, language), variants=1, seed=0)
    assert isinstance(outcome, Perturbed), outcome
    assert outcome.source != source


@pytest.mark.parametrize("task", TASKS.built_in)
def test_a_task_has_quick_tests(task: str) -> None:
    assert any(_quick(TESTS / f"audit/tasks/test_{task.replace('-', '_')}.py"))


def test_every_provider_has_quick_tests() -> None:
    assert PROVIDER_TESTS.keys() == set(catalogue.PROVIDERS.built_in)
    for place in PROVIDER_TESTS.values():
        assert any(_quick(TESTS / place)), place


def test_every_command_has_a_quick_test() -> None:
    named = {
        node.value
        for path in (TESTS / "codeaudit").rglob("test_*.py")
        for function in _quick(path)
        for node in ast.walk(function)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert COMMANDS.keys() <= named


def _quick(path: Path) -> Iterator[ast.FunctionDef]:
    """The tests of a module of the quick selection."""
    text = path.read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        match node:
            case ast.Assign([ast.Name("pytestmark")], value) if LONGER & set(
                ast.unparse(value).strip("[]").split(", ")
            ):
                return
            case ast.FunctionDef() if node.name.startswith("test_"):
                if not LONGER & set(map(ast.unparse, node.decorator_list)):
                    yield node

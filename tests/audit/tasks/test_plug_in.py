"""A task of the user's own: the example of docs/howto/task.md, from the working directory and from a package."""

import json
from pathlib import Path

import pytest

import codeaudit
from codeaudit.audit.cache import answers_scope
from codeaudit.audit.interface import Task
from codeaudit.audit.models.text_models import Prompts
from codeaudit.audit.records import Query
from codeaudit.audit.registry import TASKS
from codeaudit.cli.main import main
from codeaudit.transforms.errors import CannotAudit, UsageError
from codeaudit.transforms.permission import permit
from tests.support.plugins import install

EXAMPLE = Path(__file__).parents[3] / "examples" / "plugins" / "task" / "codeaudit_has_loop.py"
SOURCE = """
def total(left, right):
    result = left
    result += right
    return result


def show(values):
    for value in values:
        print(value)
"""
IN_PROJECT = "py/tiny:HAS_LOOP"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tiny.py").write_text(EXAMPLE.read_text("utf-8"), encoding="utf-8")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "code.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    permit(IN_PROJECT)
    return tmp_path


def run(task: str, *words: str) -> dict[str, object]:
    fixed = ["--corpus", "src", "--workers", "1", "--cache", "cache", "--format", "json", "--out", "out"]
    assert main(["run", "--task", task, *fixed, *words]) == 0
    summary: dict[str, object] = json.loads(Path("out/summary.json").read_text(encoding="utf-8"))
    return summary


def test_a_task_of_the_working_directory_is_audited_from_end_to_end(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = run(IN_PROJECT, "--model", "fake/hash", "--model", "fake/constant")
    by_name = {model["model"]: model for model in summary["models"]}  # type: ignore[attr-defined]
    constant = by_name["fake/constant"]
    assert constant["score"]["name"] == "accuracy"
    assert constant["score"]["original"] == 0.5, "`no`, the first word, to both functions"
    judged = {row["transform"]: row["pairs"] for row in constant["by_transform"]}
    assert judged["rename"]["total"] > 0
    assert sum(row["count"] for row in judged.values()) == 0
    assert judged["rename-merging"]["total"] == 0, "a control that keeps the right answer has no verdict"
    hashed = {row["transform"]: row["pairs"] for row in by_name["fake/hash"]["by_transform"]}
    assert hashed["rename"]["count"] > 0
    manifest = json.loads(Path("out/manifest.json").read_text(encoding="utf-8"))
    assert manifest["task"] == IN_PROJECT
    assert main(["report", "out", "--format", "markdown"]) == 0
    assert main(["explain", "out", "--limit", "1"]) == 0
    capsys.readouterr()


def test_a_task_of_an_installed_package_is_listed_and_named_by_its_entry_point(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    points = {"codeaudit.tasks": {"has-loop": "tiny:HAS_LOOP"}}
    made = install(project / "site", "tiny", points, {"tiny": (project / "tiny.py").read_text("utf-8")})
    monkeypatch.syspath_prepend(str(made))
    assert "has-loop" in TASKS
    assert TASKS.summary("has-loop") == "Does the function have a loop?"
    run("has-loop", "--model", "fake/length")
    capsys.readouterr()


@pytest.mark.parametrize(
    ("method", "body", "told"),
    [
        (
            "prepare",
            "return None",
            "the task's `prepare` gave null; it must give a Sample, or the reason why",
        ),
        ("prepare", "raise ValueError('no')", "your code raised ValueError: no (broken.py:8, in prepare)"),
        ("normalise", "return {1}", "`normalise` gave set; it must give a text, a number, a tuple of texts,"),
        ("normalise", "raise KeyError('a')", "your code raised KeyError: 'a' (broken.py:8, in normalise)"),
        ("expects", "return 'maybe'", '`expects` gave "maybe"; it must give one of same, other, unknown'),
        ("expects", "raise ValueError('no')", "your code raised ValueError: no (broken.py:8, in expects)"),
    ],
)
def test_a_method_that_breaks_its_contract_ends_the_run_in_one_line(
    project: Path, method: str, body: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "broken.py").write_text(
        "import dataclasses\n\nfrom tiny import HAS_LOOP, HasLoop\n\n\nclass Broken(HasLoop):\n"
        f"    def {method}(self, *given):\n        {body}\n\n\n"
        "TASK = Broken(**{one.name: getattr(HAS_LOOP, one.name) for one in dataclasses.fields(HAS_LOOP)})\n",
        "utf-8",
    )
    fixed = ("--corpus", "src", "--workers", "1", "--cache", "cache", "--out", "out", "--model", "fake/hash")
    assert main(["run", "--task", "py/broken:TASK", *fixed]) == 3
    assert told in capsys.readouterr().err.splitlines()[-1]


def test_models_of_text_are_asked_its_prompt_and_no_fingerprint_changes(project: Path) -> None:
    before = Prompts().digest
    prompt = Prompts().of(Query(task=IN_PROJECT, language="python", source="x"))
    assert "while loop?" in prompt.template
    assert Prompts().digest == before


def test_answers_of_a_plug_in_are_kept_apart_by_its_version(project: Path) -> None:
    task = TASKS.get(IN_PROJECT)
    assert isinstance(task, Task)
    assert answers_scope("f", TASKS.get("derivative")) == "f"
    assert answers_scope("f", task).startswith("f&1&")
    unversioned = type(task)(
        name="n", question="?", answers=task.answers, score_name="accuracy", prompt=task.prompt
    )
    assert answers_scope("f", unversioned) == "volatile:f"


def test_a_share_needs_a_task_that_shows_one(project: Path) -> None:
    with pytest.raises(UsageError, match="takes no share"):
        TASKS.get(f"{IN_PROJECT}:0.5")
    assert TASKS.plain(f"{IN_PROJECT}:0.5") == IN_PROJECT
    assert TASKS.plain("generation:0.5") == "generation"


def test_the_api_says_what_a_task_must_give(project: Path) -> None:
    text = "import dataclasses\nfrom tiny import HAS_LOOP, HasLoop\nclass Broken(HasLoop):\n"
    text += "    def prepare(self, raw): return None\n"
    text += (
        "TASK = Broken(**{one.name: getattr(HAS_LOOP, one.name) for one in dataclasses.fields(HAS_LOOP)})\n"
    )
    (project / "broken.py").write_text(text, "utf-8")
    with pytest.raises(CannotAudit, match="`prepare` gave null; it must give a Sample"):
        list(codeaudit.perturb(Path("src"), task="py/broken:TASK"))

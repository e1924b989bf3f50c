"""What a run records of its task is enough for everybody who reads the run."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codeaudit.audit.interface import OneWordOf, Task
from codeaudit.audit.registry import TASKS
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.audit.tasks.recorded import FACTS, RecordedTask, facts, recorded_task
from codeaudit.reports.gate import Limits, gate
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.permission import permit
from tests.reports.test_gate import crowd, judged
from tests.reports.test_reaction import Counts, Detector, answered, detected
from tests.support.audited import Subtokens

FOREIGN = "py/foreign_here:TASK"


def read(task: Task) -> Task:
    """The task as somebody reads it who has it not, through a file."""
    return recorded_task(FOREIGN, json.loads(json.dumps({FACTS: facts(task)})))


@pytest.mark.parametrize("name", sorted(TASKS.built_in))
def test_the_facts_of_a_task_are_those_that_were_recorded(name: str) -> None:
    task = TASKS.get(name)
    kept = read(task)
    assert isinstance(kept, RecordedTask)
    assert (kept.score_name, kept.better, kept.reacts) == (task.score_name, task.better, task.reacts)
    assert isinstance(kept.answers, OneWordOf) == isinstance(task.answers, OneWordOf)
    assert facts(kept) == facts(task), "written again, as for a baseline file of such a run"


@pytest.mark.parametrize(
    ("task", "run"),
    [
        (Subtokens(), lambda task: judged(*crowd(3, 40), task=task)),
        (Detector(), lambda task: answered(detected(6, 4, 4, 60), task)),
        (Detector(), lambda task: answered(detected(5, 5, 30, 34), task, reacting=60)),
        (Counts(), lambda task: answered([(1.0, float(n)) for n in range(40)], task)),
        (Counts(reacts=False), lambda task: answered([(float(n), 1.0) for n in range(40)], task)),
    ],
    ids=["names", "an honest detector", "dice", "a dead number", "no reaction"],
)
def test_a_gate_asks_the_same_of_a_run_whose_task_is_not_here(task: Task, run: Any) -> None:
    """The verdicts and scores are those of the run; here they are taken from the task itself."""
    limits = Limits(max_violation_rate=0.2)
    known = run(task)
    unknown = replace(known, summary=_of(known, read(task)))
    assert gate(unknown, limits).checks == gate(known, limits).checks
    assert gate(known, limits).checks


def _of(known: Any, task: Task) -> Any:
    """The summary with what a recorded task decides."""
    from codeaudit.reports.digests import Agreements

    (model,) = known.summary.models
    tallied = Agreements(task)
    for label, row in (model.agreement.classes or {}).items():
        for said, number in row.items():
            for _ in range(number):
                tallied.add(said, label)
    agreement = tallied.agreement() if model.agreement.classes else model.agreement
    return replace(known.summary, reacts=task.reacts, models=(replace(model, agreement=agreement),))


def test_a_task_that_is_here_is_itself() -> None:
    assert recorded_task("function-name", {}) is FUNCTION_NAME


def test_a_task_of_the_user_is_loaded_and_one_of_the_file_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("foreign_here.py").write_text(
        "open('loaded', 'w').close()\n"
        "from dataclasses import replace\n"
        "from codeaudit.audit.tasks.function_name import FUNCTION_NAME\n"
        f"TASK = replace(FUNCTION_NAME, name={FOREIGN!r})\n"
    )
    assert isinstance(read(FUNCTION_NAME), RecordedTask)
    assert not Path("loaded").exists()
    permit(FOREIGN)
    assert not isinstance(read(FUNCTION_NAME), RecordedTask)
    assert Path("loaded").exists()


@pytest.mark.parametrize(
    ("recorded", "told"),
    [
        ({}, "neither built in nor installed, and an earlier version recorded nothing of it; run the audit"),
        ({FACTS: None}, "neither built in nor installed"),
        ({FACTS: {}}, "are damaged"),
        ({FACTS: {**facts(FUNCTION_NAME), "score": 3}}, "are damaged"),
        ({FACTS: {**facts(FUNCTION_NAME), "better": "more"}}, "are damaged"),
        ({FACTS: {**facts(FUNCTION_NAME), "averages": "yes"}}, "are damaged"),
        ({FACTS: {**facts(FUNCTION_NAME), "words": "yes"}}, "are damaged"),
        ({FACTS: {**facts(FUNCTION_NAME), "words": [1]}}, "are damaged"),
    ],
    ids=str,
)
def test_what_a_file_does_not_say_is_one_line(recorded: dict[str, Any], told: str) -> None:
    with pytest.raises(RunError, match=told) as error:
        recorded_task(FOREIGN, recorded)
    assert FOREIGN in str(error.value)
    assert "\n" not in str(error.value)


def test_nothing_else_can_be_done_with_it(tmp_path: Path) -> None:
    kept = read(FUNCTION_NAME)
    assert kept.prepare(crowd(0, 1)[0].sample) == f"the task {FOREIGN} is not loaded"
    assert kept.normalise("x") is None
    assert kept.score("x", crowd(0, 1)[0].sample) is None
    averaged = read(replace(Detector(), reacts=False))
    assert averaged.whole([[1.0, 0.0]]) is None or not facts(Detector())["averages"]

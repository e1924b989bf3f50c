"""Of 300 replies as models write them, none is read wrongly, and of those that state an answer 95 % are read."""

from collections import Counter

import pytest

from codeaudit.audit.models.text_models import Prompts
from codeaudit.audit.records import Predicted, Query
from codeaudit.audit.registry import TASKS
from codeaudit.audit.tasks.solutions import completed
from tests.audit.replies_of_models import CODE, LABEL, LABELS, REPLIES, StatedReply

BEGINNING = "def count(items):\n    total = 0\n    for _ in items:\n        total += 1\n"


def reading(row: StatedReply) -> str | float | None:
    labels = LABELS if row.task == LABEL else ()
    query = Query(task=row.task, language="python", source=BEGINNING, labels=labels)
    prediction = Prompts().of(query).read(row.reply, cut=row.kind == "cut off")
    if not isinstance(prediction, Predicted):
        return None
    if row.task == CODE:
        return completed(BEGINNING, str(prediction.answer)).removeprefix(BEGINNING).rstrip()
    task = TASKS.get(row.task)
    task = task.fitted(LABELS) if row.task == LABEL else task
    read = prediction.answer if isinstance(prediction.answer, str | float) else None
    if row.task == "next-line":
        normal = task.normalise(read)
        return normal if isinstance(normal, str) else None
    return read


def test_there_are_25_of_each_of_twelve_kinds_over_all_tasks() -> None:
    assert set(Counter(row.kind for row in REPLIES).values()) == {25}
    assert len(REPLIES) == 300
    asked = {name for name in TASKS.built_in if TASKS.get(name).prompt is not None}
    assert asked - {row.task for row in REPLIES} <= {
        "clone-detection",
        "clone-search",
        "code-search",
        "equivalence",
        "input-prediction",
        "repair",
        "repair-match",
        "summarisation",
        "translation",
        "translation-match",
        "vulnerability-detection",
    }


@pytest.mark.thinned(100)
@pytest.mark.parametrize("row", REPLIES, ids=lambda row: f"{row.kind}-{row.task}")
def test_no_reply_is_read_wrongly(row: StatedReply) -> None:
    assert reading(row) in (row.states, None)


def test_of_the_replies_that_state_an_answer_95_percent_are_read() -> None:
    stated = [row for row in REPLIES if row.states is not None]
    missed = [row for row in stated if reading(row) != row.states]
    assert len(stated) > 180
    assert len(missed) <= 0.05 * len(stated), missed

"""A task as a run recorded it, for reading results whose task is not installed here or was not named by
the user.

Reading a run must not load code that the run names. What gate, report, compare and merge need of a task is in
the run: each verdict, each score, and the facts below. Whatever would need the task itself is refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import override

from codeaudit.audit.interface import FreeText, OneWordOf, Task
from codeaudit.audit.records import Answer
from codeaudit.audit.registry import TASKS
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.permission import is_permitted
from codeaudit.transforms.records import Sample

FACTS: Final = "task_facts"
"""Field of a manifest and of a baseline file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTask(Task):
    """Its corpus score is the mean of recorded scores, where that is what the task computes (`averages`)."""

    averages: bool

    @override
    def prepare(self, sample: Sample) -> str:
        """No sample can be made: the reason."""
        return f"the task {self.name} is not loaded"

    @override
    def normalise(self, answer: object) -> None:
        """No answer can be read."""
        return

    @override
    def score(self, answer: Answer, sample: Sample) -> None:
        """No answer can be scored; the run has the scores."""
        return

    @override
    def whole(self, columns: Sequence[Sequence[float]]) -> float | None:
        """Unknown where the task computes something else."""
        return Task.whole(self, columns) if self.averages else None


def facts(task: Task) -> dict[str, Any]:
    """What a manifest records of a task, beside its name."""
    kind = type(task)
    has_own = (kind.corpus_score, kind.part, kind.whole) != (Task.corpus_score, Task.part, Task.whole)
    averages = task.averages if isinstance(task, RecordedTask) else not has_own
    recorded = {"score": task.score_name, "better": task.better, "averages": averages, "reacts": task.reacts}
    recorded |= {"finding": task.finding} if task.finding else {}
    # Whether labels are a closed set decides how a gate asks if a model reacts.
    return recorded | ({"words": list(task.answers.words)} if isinstance(task.answers, OneWordOf) else {})


def recorded_task(name: str, recorded: Mapping[str, Any]) -> Task:
    """The task behind a recorded name. `recorded` is the manifest or the head of the file with the name.

    It is the task itself if that is built in, installed as a plug-in, or named by the user of this command;
    else what the run recorded of it.

    Raises:
        RunError: the file does not say enough.
        CannotAudit: an installed plug-in is broken.
    """
    plain = TASKS.plain(name)
    if plain in TASKS.built_in or plain in TASKS.plug_ins() or is_permitted(plain):
        return TASKS.get(name)
    stored = recorded.get(FACTS)
    if not isinstance(stored, Mapping):
        raise RunError(
            f"the task {name!r} is neither built in nor installed, and an earlier version recorded nothing "
            "of it; run the audit again"
        )
    score, better, averages = stored.get("score"), stored.get("better"), stored.get("averages")
    words = stored.get("words", [])
    sound = isinstance(words, list) and all(isinstance(word, str) for word in words)
    if not (
        isinstance(score, str) and better in ("higher", "lower") and isinstance(averages, bool) and sound
    ):
        raise RunError(f"the recorded facts of the task {name!r} are damaged: {dict(stored)!r:.80}")
    return RecordedTask(
        name=name,
        question=name,
        answers=OneWordOf(tuple(words)) if words else FreeText(),
        score_name=score,
        better=better,
        averages=averages,
        reacts=stored.get("reacts") is not False,
        finding=str(stored.get("finding") or ""),
    )

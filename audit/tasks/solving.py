"""What tasks share whose answers are solutions that execution grades.

An answer is a text, or a list of texts: attempts. A graded answer is a tuple of `Attempt`: each text with the
type of the exception or the limit that ended its tests, or with none if it passes. Two answers are the same
if both hold a passing attempt, or neither does. The score is pass@1: the share of attempts that pass, as a
mean over problems.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from typing_extensions import override

from codeaudit.audit.corpora.records import Note
from codeaudit.audit.interface import LabelRequest, LabelSource, Task
from codeaudit.audit.labels import SANDBOX, prompt_labels
from codeaudit.audit.records import Answer, Attempt, Case, Failed, Predicted, Prediction
from codeaudit.audit.tasks.solutions import Solutions
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.grammar import counted_reasons
from codeaudit.transforms.oracle.calls import ProgramTrial, TrialFailed, TrialUnjudged
from codeaudit.transforms.records import NotApplied, Sample

REFERENCE_SECONDS: Final = 1.0
"""Processor time that a reference may take for its tests."""
SECONDS: Final = 4.0
"""Processor time for variants and answers: much more, so that no program of equal cost is lost."""

NO_TESTS: Final = (
    "no tests: a table has them in the columns test and entry_point (other languages than Python: test, "
    "task_id and declaration)"
)
FAILS_ITSELF: Final = (
    f"the reference fails its own tests, or needs more than {REFERENCE_SECONDS:g} s: mend its row"
)
CARRIES_NOT: Final = "its tests exchange values that cannot be carried to another process"
OLD_ANSWERS: Final = "the answers of this run were written by an earlier version; run the audit again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Solving(Task):
    """Base of these tasks. A sample without a label is not graded."""

    @abstractmethod
    def trial_of(self, text: str, asked: str, sample: Sample) -> ProgramTrial | str:
        """What grades a text of a model that saw `asked`, or why it fails without being executed."""

    @override
    def normalise(self, answer: object) -> Answer | None:
        """A text, or several, unchanged."""
        if isinstance(answer, str):
            return answer
        if isinstance(answer, list | tuple) and answer and all(isinstance(text, str) for text in answer):
            return tuple(answer)
        return None

    @override
    def graded(self, predicted: Predicted, asked: str, sample: Sample) -> Prediction:
        """The answer as attempts with what their tests say; unchanged if the sample has no label.

        `Failed` if an attempt has no verdict.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        if label_of(sample) is None:
            return predicted
        answers = predicted.answer if isinstance(predicted.answer, tuple) else (predicted.answer,)
        texts = [str(answer) for answer in answers]
        trials = [self.trial_of(text, asked, sample) for text in texts]
        ran = iter(solutions().outcomes([trial for trial in trials if not isinstance(trial, str)]))
        outcomes = [TrialFailed(trial) if isinstance(trial, str) else next(ran) for trial in trials]
        for outcome in outcomes:
            if isinstance(outcome, TrialUnjudged):
                return Failed(reason=outcome.reason)
        failures = (outcome.reason if isinstance(outcome, TrialFailed) else None for outcome in outcomes)
        attempts = (
            Attempt(text=text, failure=failure) for text, failure in zip(texts, failures, strict=True)
        )
        return replace(predicted, answer=tuple(attempts))

    @override
    def attempts(self, answer: Answer) -> tuple[bool, ...]:
        """Whether each attempt passes.

        Raises:
            RunError: the answer is not graded, because an earlier version wrote the run.
        """
        graded = _graded(answer)
        if graded is None:
            raise RunError(OLD_ANSWERS)
        return tuple(attempt.failure is None for attempt in graded)

    @override
    def same(self, before: Predicted, after: Predicted) -> bool:
        """Both solve the problem in at least one attempt, or neither does.

        Raises:
            RunError: one answer is not graded, because an earlier version wrote the run.
        """
        if _graded(before.answer) is None and _graded(after.answer) is None:
            return True  # without tests no answer solves anything
        # Any, not the number: how many attempts pass varies by chance when a model samples.
        return any(self.attempts(before.answer)) == any(self.attempts(after.answer))

    @override
    def score(self, answer: Answer, sample: Sample) -> float | None:
        """The share of attempts that pass."""
        if label_of(sample) is None:
            return None
        tried = self.attempts(answer)
        return sum(tried) / len(tried)


def label_of(sample: Sample) -> str | None:
    """What grades answers about a sample, as a text; `None` without one."""
    return sample.label if isinstance(sample.label, str) else None


def _graded(answer: Answer) -> tuple[Attempt, ...] | None:
    """The attempts of a graded answer; `None` if it is not graded."""
    if not isinstance(answer, tuple):
        return None
    attempts = tuple(attempt for attempt in answer if isinstance(attempt, Attempt))
    return attempts if len(attempts) == len(answer) else None


@cache
def solutions() -> Solutions:
    """Executes variants and answers."""
    return Solutions(cpu_seconds=SECONDS)


# Two time limits are two objects, because a limit is part of the key of a kept result.
@cache
def originals() -> Solutions:
    """Executes references."""
    return Solutions(cpu_seconds=REFERENCE_SECONDS)


def keep_results(request: LabelRequest) -> None:
    """Keep what execution finds in the cache of a run."""
    if request.cache is not None:
        for runner in (solutions(), originals()):
            runner.keep(request.cache)


@dataclass(frozen=True, slots=True)
class VariantLabels(LabelSource):
    """Tests for labels, which decide which variants are asked about."""

    task: Task
    note: Note | None = None

    @property
    @override
    def about(self) -> Mapping[str, object]:
        return {"tool": SANDBOX}

    @property
    @override
    def follows_variants(self) -> bool:
        """True: execution decides."""
        return True

    @override
    def relabelled(self, cases: Iterator[Case]) -> Iterator[Case]:
        """The cases; variants that cannot be asked about are not applied, and their reasons are told."""
        lost = Counter[str]()
        for case in cases:
            outcomes = self.task.askable(case.sample, case.outcomes)
            pairs = zip(case.outcomes, outcomes, strict=True)
            lost.update(
                outcome.reason
                for before, outcome in pairs
                if outcome is not before and isinstance(outcome, NotApplied)
            )
            yield replace(case, outcomes=outcomes)
        if lost and self.note is not None:
            self.note(f"variants that are not asked about: {', '.join(counted_reasons(lost, most=4))}")


def labels_by_variants(request: LabelRequest) -> LabelSource:
    """Labels of a task whose tests come with its samples, and whose samples are shown as a whole.

    Raises:
        UsageError: `--labels` names another source.
    """
    task = request.task
    request.refuse(f"the labels of task {task.name!r} are its tests")
    keep_results(request)
    return VariantLabels(task, request.note)


def labels_by_tests(request: LabelRequest) -> LabelSource:
    """Labels of a task that asks about variants that pass their tests.

    Raises:
        UsageError: `--labels` names another source.
    """
    keep_results(request)
    return prompt_labels(request)

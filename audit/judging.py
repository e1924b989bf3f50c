"""A model that judges if two answers say the same, and how far it can be trusted.

The judge sees each pair of texts in both orders, under the task `judge/same-summary`. It decides a pair only
if both answers agree; a pair on which they differ, or that it does not answer, is undecided and counts in no
rate. Equal texts are not shown to it. Of the first `TWICE` pairs it is asked the first order again.

What it is asked goes through the driver of all models: the cache, retries, and the limits of cost.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from typing_extensions import override

from codeaudit.audit.interface import OneWordOf, Task
from codeaudit.audit.prompts import QuestionPrompt
from codeaudit.audit.records import Answer, Audited, Failed, Predicted, Query, Repeat, Unjudged
from codeaudit.audit.run import AuditSetup, first_answers
from codeaudit.audit.tasks.pairs import two_words
from codeaudit.audit.tasks.scoring import ExactMatch
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.records import Sample

SAME: Final = "same"
DIFFERENT: Final = "different"
TWICE: Final = 100
"""Pairs about which a judge is asked twice. More would tell its noise little better."""
NAME: Final = "same-summary"
_SENTENCES: Final = {"not different": SAME, "not the same": DIFFERENT, "not equivalent": DIFFERENT}
_WORDS: Final = OneWordOf(
    (SAME, DIFFERENT), spellings=_SENTENCES | {"yes": SAME, "no": DIFFERENT, "the same": SAME}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SameSummary(ExactMatch):
    """The type of `SAME_SUMMARY`."""

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """No sample is one: the pairs are answers of models."""
        return "no pair of answers"

    @override
    def normalise(self, answer: object) -> str | None:
        """`same` or `different`."""
        return _WORDS.read(answer)


SAME_SUMMARY: Final = SameSummary(
    name=f"judge/{NAME}",
    question="Do these two summaries of one function say the same?",
    answers=_WORDS,
    score_name="accuracy",
    corpus="",
    beside=True,
    version="1",
    prompt=QuestionPrompt(
        template=(
            "These two sentences summarise one function. Do they say the same about what it does? Other "
            "words for the same are the same; a fact that one of them states otherwise is a difference. "
            "Answer with one word on the first line: same or different. No additional text.\n\n"
            "The first:\n\n{code}\n\nThe second:\n\n{other}"
        ),
        reader=two_words(_WORDS, _SENTENCES),
        usual=3,
    ),
)


def load(name: str) -> Task:
    """The task that a judge is asked.

    Raises:
        UsageError: there is no such task.
    """
    if name != SAME_SUMMARY.name:
        raise UsageError(f"unknown task {name!r}; a judge is asked {SAME_SUMMARY.name!r}")
    return SAME_SUMMARY


@dataclass(slots=True)
class JudgeRecord:
    """How a judge answered."""

    pairs: int = 0
    """Pairs of different texts that it was shown."""
    answered: int = 0
    """Pairs that it answered in both orders."""
    swapped: int = 0
    """Answered pairs about which it said another thing in the other order."""
    asked_twice: int = 0
    """Pairs that it answered when it was asked the same again."""
    changed: int = 0
    """Pairs asked twice about which it said another thing."""


@dataclass(slots=True)
class Judge:
    """A model with what it said about pairs."""

    setup: AuditSetup
    record: JudgeRecord = field(default_factory=JudgeRecord)
    _answers: dict[tuple[str, str], bool | None] = field(default_factory=dict)

    def same(self, before: Answer, after: Answer) -> bool | None:
        """What it said of two texts that it was asked about (`hear`); `None` if that is undecided."""
        one, other = str(before), str(after)
        return True if one == other else self._answers.get(_pair(one, other))

    @property
    def undecided(self) -> int:
        """Pairs that it did not decide."""
        return sum(answer is None for answer in self._answers.values())

    def hear(self, every: Iterable[Audited]) -> None:
        """Ask about all pairs of answers that reports compare: each answer with those to the unchanged input.

        Raises:
            ModelError: the judge cannot answer at all.
        """
        pairs = dict.fromkeys(
            pair for audited in every for pair in _pairs(audited) if pair not in self._answers
        )
        both = [_query(*order) for pair in pairs for order in (pair, pair[::-1])]
        answers = first_answers(both, self.setup) if both else {}
        count = max(TWICE - self.record.pairs, 0)
        again = [_again(*pair) for pair in list(pairs)[:count]]
        repeated = first_answers(again, self.setup, again=True) if again else {}
        for pair in pairs:
            first, second = (_word(answers[_query(*order)]) for order in (pair, pair[::-1]))
            self._answers[pair] = None if first is None or first != second else first == SAME
            self.record.pairs += 1
            if first is not None and second is not None:
                self.record.answered += 1
                self.record.swapped += first != second
        for query in again:
            first = _word(answers[_query(query.source, query.other)])
            second = _word(repeated[query])
            if first is not None and second is not None:
                self.record.asked_twice += 1
                self.record.changed += first != second


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one <= other else (other, one)


def _pairs(audited: Audited) -> Iterable[tuple[str, str]]:
    verdicts = [verdict for verdict in audited.verdicts if not isinstance(verdict, Unjudged)]
    answers = {str(verdict.before.answer) for verdict in verdicts}
    answers |= {str(verdict.after.answer) for verdict in verdicts if verdict.perturbed.kind == "identity"}
    others = {str(verdict.after.answer) for verdict in verdicts if verdict.perturbed.kind == "preserving"}
    pairs = {_pair(one, other) for one in answers for other in answers | others if one != other}
    return sorted(pairs)


def _query(one: str, other: str) -> Query:
    return Query(task=SAME_SUMMARY.name, language="", source=one, other=other)


def _again(one: str, other: str) -> Repeat:
    return Repeat(task=SAME_SUMMARY.name, language="", source=one, other=other, bucket=0)


def _word(prediction: Predicted | Failed) -> str | None:
    return str(prediction.answer) if isinstance(prediction, Predicted) else None

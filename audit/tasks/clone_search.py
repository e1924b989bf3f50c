"""Clone search: which of these units do the same job as this one?

A sample is a unit with `CANDIDATES` others of its language, up to `MOST_RIGHT` of which have its label, such
as the number of the problem that programs solve (POJ-104). The unit is perturbed; `clone-search:all` perturbs
every candidate, too, that the transform applies to. The order of the candidates stays as it is.

A model ranks the candidates. Its answer is kept as the ranks of the right candidates, from 1. Two answers are
the same if these ranks are equal. Violations are also counted by a second rule: whether a right candidate is
the first. If a model gives scores, such as cosines, how far the mean of the right candidates moved is the
deviation.

The score is MAP@R, the mean over units of the average precision of the first R candidates, where R is the
number of right candidates of the unit.

References
----------
Lu et al. (2021), CodeXGLUE, section 3.1, for MAP@R of POJ-104. There the candidates are all other programs of
the split.
Musgrave, Belongie and Lim (2020), A Metric Learning Reality Check, section 3.2, for the formula.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import ClassVar, Final

from typing_extensions import override

from codeaudit.audit.corpora.records import Corpus, Prepare
from codeaudit.audit.interface import Expectation, LabelRequest, LabelSource, Ranking, SameAnswer, Task
from codeaudit.audit.languages import NO_CODE, is_programming
from codeaudit.audit.prompts import QuestionPrompt
from codeaudit.audit.records import Answer, Predicted, Prediction, malformed
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.code_search import (
    CANDIDATES,
    NUMBERS,
    CodeSearch,
    SearchedCorpus,
    among,
    beyond,
    hashed,
    pool,
)
from codeaudit.audit.tasks.pairs import class_of
from codeaudit.transforms.errors import NOT_PARSED
from codeaudit.transforms.language import LANGUAGES
from codeaudit.transforms.records import Perturbed, Sample

MOST_RIGHT: Final = 5
"""The largest number of right candidates of a unit."""
NO_LABEL: Final = "no label that says what it does"
NO_CLONE: Final = "no other unit with its label"
NO_OTHER: Final = "no unit with another label"
RIGHT: Final = "right candidates"
"""What the mean of their scores is kept under."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloneSearch(CodeSearch):
    """The type of `CLONE_SEARCH`."""

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The sample with the label of its class, or why it is no example; the candidates are not there yet
        (`ClonesOfCorpus`)."""
        if reason := self.refuses(sample.language):
            return reason
        if not LANGUAGES.get(sample.language).parses(sample.source):
            return NOT_PARSED
        label = class_of(sample)
        return NO_LABEL if label is None else replace(sample, label=label, sides=self.sides)

    @override
    def refuses(self, language: str) -> str:
        return "" if is_programming(language) else NO_CODE

    @override
    def graded(self, predicted: Predicted, asked: str, sample: Sample) -> Prediction:
        """The answer as the ranks of the right candidates; 0 if none is named. Nothing is executed.

        The margin is the smallest difference between the scores of a right and a wrong candidate.
        """
        right = sample.label if isinstance(sample.label, tuple) else ()
        if not right or not sample.candidates:
            return malformed("no candidates")
        every = (predicted.answer, *predicted.draws)
        if any(not isinstance(answer, tuple) or beyond(answer, len(sample.candidates)) for answer in every):
            return replace(malformed(predicted.answer), replies=predicted.replies)
        scores = dict(predicted.scores)
        own = [scores[number] for number in right if number in scores]
        rest = [score for name, score in scores.items() if name not in right]
        return replace(
            predicted,
            answer=_ranks(predicted.answer, right),
            first=str(predicted.answer[0]) if isinstance(predicted.answer, tuple) else "",
            draws=tuple(_ranks(draw, right) for draw in predicted.draws),
            scores=((RIGHT, fmean(own)),) if len(own) == len(right) else (),
            margin=min((abs(one - other) for one in own for other in rest), default=None),
        )

    @override
    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """The same; unknown under a control that the user names."""
        return "unknown" if perturbed.kind == "control" else "same"

    @property
    @override
    def criteria(self) -> Mapping[str, SameAnswer]:
        return {"same ranks": _equal, "first or not": _both_first}

    @override
    def score(self, answer: Answer, sample: Sample) -> float | None:
        """The average precision at R of the ranks of R right candidates; those not named have none."""
        if not isinstance(sample.label, tuple) or not isinstance(answer, tuple):
            return None
        right = len(sample.label)
        ranks = sorted(int(str(rank)) for rank in answer)
        return sum(n / rank for n, rank in enumerate(ranks, start=1) if 0 < rank <= right) / right

    @override
    def likeness(self, answers: Sequence[tuple[Answer, Sample]]) -> Mapping[str, float]:
        """The share of units of which the first candidate is right."""
        hits = [_first(answer) for answer, sample in answers if sample.label is not None]
        return {"precision@1": fmean(hits)} if hits else {}


NOT_NAMED: Final = ("0",)
"""The answer if no right candidate is named."""


def _ranks(answer: Answer, right: Sequence[str]) -> tuple[str, ...]:
    named = answer if isinstance(answer, tuple) else ()
    return tuple(str(rank) for rank, number in enumerate(named, start=1) if number in right) or NOT_NAMED


def _equal(before: Answer, after: Answer) -> bool:
    return before == after


def _first(answer: Answer) -> bool:
    return isinstance(answer, tuple) and answer[:1] == ("1",)


def _both_first(before: Answer, after: Answer) -> bool:
    return _first(before) == _first(after)


@dataclass(frozen=True, slots=True)
class ClonesOfCorpus(SearchedCorpus):
    """Classes of the corpus itself, which also gives the candidates."""

    why_few: ClassVar = "because the corpus has no more units with another label"

    @override
    def examples(self, source: Corpus, task: Task) -> tuple[Corpus, Prepare]:
        return source, among(pool(source, task), task, with_clones)


def with_clones(sample: Sample, others: Sequence[Sample]) -> Sample | str:
    """The sample among others of its language, the numbers of the right ones as its label; or why not.

    Nothing but ids and texts decides which ones, and their order.
    """
    alike: dict[str, int] = {}
    apart: dict[str, int] = {}
    for other in others:
        if other.language == sample.language and other.source != sample.source:
            group = alike if other.label == sample.label else apart
            group[other.source] = hashed(sample.id, other.source)
    # A text with two labels is neither.
    both = alike.keys() & apart.keys()
    right = heapq.nsmallest(MOST_RIGHT, alike.keys() - both, key=lambda source: alike[source])
    wrong = heapq.nsmallest(CANDIDATES - len(right), apart.keys() - both, key=lambda source: apart[source])
    if not right or not wrong:
        return NO_OTHER if right else NO_CLONE
    chosen = sorted((*right, *wrong), key=lambda source: hashed(sample.id, "place", source))
    numbers = tuple(str(n) for n, source in enumerate(chosen, start=1) if source in right)
    return replace(sample, candidates=tuple(chosen), label=numbers)


def _labels(request: LabelRequest) -> LabelSource:
    """The corpus.

    Raises:
        UsageError: `--labels` names another source.
    """
    request.refuse(f"task {request.task.name!r} takes the labels of the corpus")
    return ClonesOfCorpus(note=request.note)


CLONE_SEARCH: Final = CloneSearch(
    name="clone-search",
    question="Which of these functions do the same as this one?",
    answers=Ranking(),
    score_name="map@r",
    corpus="",
    reacts=False,
    controls=(),
    beside=True,
    labels=_labels,
    wordings=wordings.CLONE_SEARCH,
    prompt=QuestionPrompt(
        template=(
            "Which of the numbered {language} functions do the same as this one? Answer with the numbers of "
            "all of them, the likeliest first, with commas between. No additional text."
            "\n\n{code}\n\nThe numbered functions:\n\n{candidates}"
        ),
        reader=NUMBERS,
        usual=30,
    ),
)

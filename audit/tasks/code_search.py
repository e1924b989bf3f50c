"""Code search: which of these units does what the query says?

A query in words is the first paragraph of a unit's documentation, or the query that a data set gives
(CoSQA). The model sees it beside `CANDIDATES` units: the right one, and others of the corpus in the same
language. The right one is perturbed; `code-search:all` perturbs every candidate to which the transform
applies. Their order stays as it is. No documentation is shown.

A model ranks the candidates, or names the best one. Its answer is kept as the rank of the right candidate,
from 1; 0 if it is not named. Two answers are the same if these ranks are equal. Violations are also counted
by a second rule: whether the right candidate is the first. If a model gives scores, such as cosines, how far
that of the right candidate moved is the deviation.

The score is the mean reciprocal rank (MRR). Reports add recall@k and NDCG@10.
"""

import hashlib
import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log2
from statistics import fmean
from typing import ClassVar, Final, Self

from typing_extensions import override

from codeaudit.audit.corpora.records import Corpus, Note, Prepare, SpreadCorpus
from codeaudit.audit.interface import LabelRequest, LabelSource, Ranking, SameAnswer, Task
from codeaudit.audit.prompts import QuestionPrompt
from codeaudit.audit.records import Answer, Predicted, Prediction, malformed
from codeaudit.audit.replies import AnswerShape
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.summarisation import SUMMARISATION, described
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.records import Sample, Sides

CANDIDATES: Final = 20
"""Number of units that a model chooses from, the right one included. More would not fit a prompt."""
POOL: Final = 1_000
"""Samples of the corpus that the others are taken from."""
FEWEST: Final = 2
"""Candidates without which there is nothing to search."""
AT: Final = (1, 5, 10)
"""The values of k for recall@k; as 1 is the share of right answers."""
DEPTH: Final = 10
"""Ranks that count for NDCG."""

ALONE: Final = "no other unit to choose from"
FIRST: Final = 1.0
"""The rank of the right candidate in a right answer."""
_NUMBERS: Final = re.compile(
    r"(?:(?:number|candidate|no\.?)\s*)?#?\d{1,4}(?:\s*[,>;]\s*#?\d{1,4})*\s*[.)]?", re.I
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSearch(Task):
    """The type of `CODE_SEARCH`."""

    sides: Sides = field(default="first")
    """Whether the right candidate is rewritten, or all."""
    choices: ClassVar[tuple[Sides, ...]] = ("first", "all")

    @override
    def rewriting(self, sides: Sides) -> Self:
        return replace(self, sides=sides)

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The sample without its documentation, and the query in its place; the candidates are not there
        yet (`SearchedCorpus`)."""
        prepared = described(sample)
        if isinstance(prepared, str):
            return prepared
        return replace(prepared, text=str(prepared.label), label=FIRST, sides=self.sides)

    @override
    def refuses(self, language: str) -> str:
        return SUMMARISATION.refuses(language)

    @override
    def normalise(self, answer: object) -> Answer | None:
        """The numbers of candidates as texts, from a number or a list of them; each once."""
        several = answer if isinstance(answer, tuple | list) else (answer,)
        # A text may hold several.
        parts = [part for name in several for part in (name.split(",") if isinstance(name, str) else (name,))]
        numbers = [_number(part) for part in parts]
        named = [number for number in numbers if number is not None]
        return tuple(dict.fromkeys(named)) if named and len(named) == len(numbers) else None

    @override
    def graded(self, predicted: Predicted, asked: str, sample: Sample) -> Prediction:
        """The answer as the rank of the right candidate. Nothing is executed.

        The margin is the smallest change of a score that moves the right candidate.
        """
        if sample.source not in sample.candidates:
            return malformed("no candidates")
        right = str(sample.candidates.index(sample.source) + 1)
        every = (predicted.answer, *predicted.draws)
        if any(not isinstance(answer, tuple) or beyond(answer, len(sample.candidates)) for answer in every):
            return replace(malformed(predicted.answer), replies=predicted.replies)
        scores = dict(predicted.scores)
        own = scores.get(right)
        gaps = (
            [abs(own - score) for name, score in scores.items() if name != right] if own is not None else []
        )
        return replace(
            predicted,
            answer=_rank(predicted.answer, right),
            first=str(predicted.answer[0]) if isinstance(predicted.answer, tuple) else "",
            draws=tuple(_rank(draw, right) for draw in predicted.draws),
            scores=() if own is None else ((RIGHT, own),),
            margin=min(gaps, default=None),
        )

    @property
    @override
    def criteria(self) -> Mapping[str, SameAnswer]:
        """Both rules by which two rankings count as the same, that of verdicts first."""
        return {"same rank": _equal, "first or not": _both_first}

    @override
    def score(self, answer: Answer, sample: Sample) -> float | None:
        """The reciprocal rank of the right candidate; 0 if it is not named."""
        if sample.label is None or not isinstance(answer, float):
            return None
        return 1 / answer if answer else 0.0

    @override
    def likeness(self, answers: Sequence[tuple[Answer, Sample]]) -> Mapping[str, float]:
        """Recall@k, and NDCG@10 with one right candidate."""
        ranks = [
            answer for answer, sample in answers if isinstance(answer, float) and sample.label is not None
        ]
        if not ranks:
            return {}
        recalls = {f"recall@{k}": fmean(0 < rank <= k for rank in ranks) for k in AT}
        gains = [1 / log2(1 + rank) if 0 < rank <= DEPTH else 0.0 for rank in ranks]
        return {**recalls, f"NDCG@{DEPTH}": fmean(gains)}


RIGHT: Final = "right candidate"
"""What its score is kept under."""


def _number(value: object) -> str | None:
    """A whole number above 0 as a text."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = (
        str(value).strip().lstrip("#") if isinstance(value, str | int) and not isinstance(value, bool) else ""
    )
    return str(int(text)) if text.isascii() and text.isdecimal() and len(text) < 5 and int(text) else None


def beyond(answer: tuple[object, ...], candidates: int) -> bool:
    """Whether an answer names a candidate that is not there."""
    return any(not str(number).isdecimal() or int(str(number)) > candidates for number in answer)


def _rank(answer: Answer, right: str) -> float:
    return float(answer.index(right) + 1) if isinstance(answer, tuple) and right in answer else 0.0


def _equal(before: Answer, after: Answer) -> bool:
    return before == after


def _both_first(before: Answer, after: Answer) -> bool:
    return (before == FIRST) == (after == FIRST)


@dataclass(frozen=True, slots=True)
class SearchedCorpus(LabelSource):
    """Queries and right answers of the corpus itself, which also gives the other candidates."""

    note: Note | None = None
    fewest: int = CANDIDATES
    """The least number of candidates of a sample, and the largest."""
    most: int = CANDIDATES
    why_few: ClassVar[str] = "because the corpus has no more units with a description"

    @property
    @override
    def about(self) -> Mapping[str, object]:
        """Two numbers where samples have different ones."""
        number = self.most if self.fewest == self.most else [self.fewest, self.most]
        return {"corpus": "its own", "candidates": number}

    @override
    def settled(self, samples: Iterable[Sample]) -> "SearchedCorpus":
        """With the numbers of candidates of these samples; a run says so if they are few."""
        sizes = {len(sample.candidates) for sample in samples}
        if not sizes:
            return self
        fewest, most = min(sizes), max(sizes)
        if fewest < CANDIDATES and self.note is not None:
            number = str(most) if fewest == most else f"{fewest} to {most}"
            self.note(
                f"a query has {number} candidates and not {CANDIDATES}, {self.why_few}; ranks are "
                f"better than among {CANDIDATES}"
            )
        return replace(self, fewest=fewest, most=most)

    @override
    def examples(self, source: Corpus, task: Task) -> tuple[Corpus, Prepare]:
        """The corpus, and the function that makes an example with its candidates.

        Raises:
            CorpusError: there are units with a description, and too few to search among them.
        """
        others = pool(source, task)
        # Without any the reasons are told when samples are drawn.
        if others and max(Counter(other.language for other in others).values()) < FEWEST:
            raise CorpusError(
                f"corpus {source.spec!r} has no language with {FEWEST} units with a description; task "
                f"{task.name!r} needs as many to choose from"
            )

        return source, among(others, task, with_candidates)


def pool(source: Corpus, task: Task) -> list[Sample]:
    """The samples of which candidates are chosen.

    They are drawn from the whole corpus by hashes. So neither the draw nor the shard decides who is beside
    whom.
    """
    prepared = [task.prepare(sample) for sample in SpreadCorpus(source, POOL).read(Counter())]
    return [sample for sample in prepared if isinstance(sample, Sample)]


def among(
    others: Sequence[Sample], task: Task, place: Callable[[Sample, Sequence[Sample]], Sample | str]
) -> Prepare:
    """The function that makes an example, which `place` puts among others."""

    def prepare(sample: Sample) -> Sample | str:
        prepared = task.prepare(sample)
        return prepared if isinstance(prepared, str) else place(prepared, others)

    return prepare


def with_candidates(sample: Sample, others: Sequence[Sample]) -> Sample | str:
    """The sample among others of its language, at a place that nothing but its id decides; or why not.

    Units with the same query might be right, too, and are none of the others.
    """
    fitting = {
        other.source: hashed(sample.id, other.source)
        for other in others
        if other.language == sample.language and other.source != sample.source and other.text != sample.text
    }
    chosen = heapq.nsmallest(CANDIDATES - 1, fitting, key=fitting.__getitem__)
    if len(chosen) + 1 < FEWEST:
        return ALONE
    place = hashed(sample.id, "place") % (len(chosen) + 1)
    return replace(sample, candidates=(*chosen[:place], sample.source, *chosen[place:]))


def hashed(*parts: str) -> int:
    """A number that nothing but these texts decides."""
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big")


def _labels(request: LabelRequest) -> LabelSource:
    """The corpus.

    Raises:
        UsageError: `--labels` names another source.
    """
    request.refuse(f"queries of task {request.task.name!r} are the documentation of units")
    return SearchedCorpus(note=request.note)


def _line(text: str) -> Answer | None:
    """The numbers that a line is; `None` for prose."""
    plain = text.strip()
    numbers = re.findall(r"\d+", plain) if _NUMBERS.fullmatch(plain) else []
    return tuple(numbers) if len(numbers) > 1 else numbers[0] if numbers else None


NUMBERS: Final = AnswerShape(alone=_line, labels=("number", "candidate", "function"))
"""How replies name candidates."""

CODE_SEARCH: Final = CodeSearch(
    name="code-search",
    question="Which of these functions does what the query says?",
    answers=Ranking(),
    score_name="mrr",
    reacts=False,
    beside=True,
    labels=_labels,
    wordings=wordings.CODE_SEARCH,
    prompt=QuestionPrompt(
        template=(
            "Which of these {language} functions does what the query says? Answer with its number. No "
            "additional text.\n\nQuery: {text}\n\n{candidates}"
        ),
        reader=NUMBERS,
        usual=3,
    ),
)

"""Finds the smallest part of an edit that still flips an answer.

Every step is a legal perturbation of the original: the transform itself applies some of the moves, or moves
closer to the original order. Answers come through the driver's cache, so no text is asked twice.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice, pairwise
from typing import Final, TypeAlias, TypeVar, get_args

from codeaudit.audit.records import Explained, Gone, Predicted, Prediction, Violated
from codeaudit.audit.run import AuditSetup, answer_to, asked_of, first_answers, judge, query_of
from codeaudit.transforms.interface import Transform
from codeaudit.transforms.perturb import reapply
from codeaudit.transforms.records import Evidence, Label, Move, NotApplied, Perturbed, Sample
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.reordering import milder

T = TypeVar("T")


def minimal(
    items: Sequence[T], first: Callable[[Iterator[tuple[T, ...]]], tuple[T, ...] | None]
) -> tuple[T, ...]:
    """A failing subset from which no single item can be removed. The items together must fail.

    `first` returns the first of several candidates that fails, or `None`. It receives all candidates of a
    round at once, so that it may ask a model about them in batches.
    """
    kept, parts = tuple(items), 2
    while len(kept) > 1:
        cuts = [round(number * len(kept) / parts) for number in range(parts + 1)]
        spans = list(pairwise(cuts))
        if (chunk := first(kept[low:high] for low, high in spans)) is not None:
            kept, parts = chunk, 2
        # With two chunks, the rest of one is the other, which was tried above.
        elif parts > 2 and (rest := first(kept[:low] + kept[high:] for low, high in spans)) is not None:
            kept, parts = rest, parts - 1
        elif parts < len(kept):
            parts = min(len(kept), 2 * parts)
        else:
            break
    return kept


Moves: TypeAlias = tuple[Move, ...]

_BY_ANALYSIS: Final = tuple(evidence for evidence in get_args(Evidence) if evidence.startswith("analysis"))
"""The evidence of analyses, weakest first."""
MOST_PAIRS: Final = 200
"""Maximum number of pairs of moves to try one by one; with more pairs, moves are removed in chunks."""


def explain(violated: Violated, setup: AuditSetup, *, seed: int) -> Explained | Gone:
    """Return the smallest edit within a violation that still flips the answer.

    - Try single moves, then pairs if there are at most `MOST_PAIRS`.
    - Otherwise remove ever smaller chunks of moves (`minimal`).
    - Move every remaining order of statements as close to the original as still flips, at best to one
      transposition of neighbours.

    Raises:
        ModelError: the model as a whole cannot answer.
    """
    sample = violated.perturbed.sample
    # If other units were rewritten, too, they stay so, and moves of the source are tried.
    rewritten = violated.perturbed
    original = query_of(sample, sample.source, setup.task)
    before = answer_to(original, sample, first_answers([original], setup), setup.task)
    trials = _Trials(
        sample=replace(sample, label=None),
        label=sample.label,
        transform=transform_for(violated.perturbed.transform, sample.language),
        variant=violated.perturbed.variant,
        before=before,
        setup=setup,
        rewritten=rewritten,
    )
    # The answers of the run may be gone from the cache, and the model may have changed since.
    whole = trials.flips([violated.perturbed.moves])[0]
    if whole is None:
        return Gone(model=setup.model.name, seed=seed, violated=violated, reason=_why_gone(before))
    moves, smallest = _fewest(violated.perturbed.moves, trials)
    least = trials.flips([_mildest(moves, trials)])[0] or whole
    return Explained(
        model=setup.model.name,
        seed=seed,
        violated=_of(sample, whole),
        minimal=_of(sample, least),
        queries=len(trials.asked - {sample.source, whole.perturbed.source}),
        smallest=smallest,
    )


@dataclass(slots=True, kw_only=True)
class _Trials:
    """The outcomes of all sets of moves that were tried."""

    sample: Sample
    """Without a label, because a smaller edit may have another right answer; a task that needs the label must
    then say so.
    """
    label: Label
    """The label of the original. It decides what is expected and how answers are graded."""
    transform: Transform
    variant: int
    before: Prediction
    setup: AuditSetup
    rewritten: Perturbed
    """The whole edit."""
    asked: set[str] = field(default_factory=set)
    known: dict[Moves, Violated | None] = field(default_factory=dict)

    def flips(self, several: Sequence[Moves]) -> list[Violated | None]:
        """Return the violation for each set of moves; `None` if the set is illegal, held, or cannot be
        judged.
        """
        fresh: dict[Moves, Perturbed] = {}
        for moves in several:
            if moves not in self.known:
                self.known[moves] = None  # until an answer shows otherwise
                outcome = self._edit_of(moves)
                if isinstance(outcome, Perturbed):
                    fresh[moves] = replace(
                        outcome, other=self.rewritten.other, candidates=self.rewritten.candidates
                    )
        if fresh:
            self._judge(fresh)
        return [self.known[moves] for moves in several]

    def _edit_of(self, moves: Moves) -> Perturbed | NotApplied:
        """The edit of these moves, with what is known of it.

        The run has the evidence of the whole edit, and only of it what an execution found. A part of what
        analysis showed is legal for the same reasons; the text of the file, which they may need, is gone.
        """
        run = self.rewritten
        whole = moves == run.moves
        outcome = reapply(self.sample, self.transform, moves, variant=self.variant, unconfirmed=whole)
        if isinstance(outcome, NotApplied):
            return outcome
        if whole and outcome.source == run.source:
            return replace(outcome, evidence=run.evidence, rests_on=run.rests_on)
        if {run.evidence, outcome.evidence} <= {*_BY_ANALYSIS}:
            return replace(outcome, evidence=max(run.evidence, outcome.evidence, key=_BY_ANALYSIS.index))
        return outcome

    def first(self, several: Iterator[Moves], size: int) -> Moves | None:
        """Return the first set of moves that flips the answer. `size` sets are asked about together."""
        # `several` may be an iterator over two hundred pairs: those behind the first hit are never made.
        while chunk := list(islice(several, size)):
            flipped = zip(chunk, self.flips(chunk), strict=True)
            hit = next((moves for moves, violated in flipped if violated is not None), None)
            if hit is not None:
                return hit
        return None

    def _judge(self, fresh: dict[Moves, Perturbed]) -> None:
        task = self.setup.task
        by_moves = {moves: asked_of(self.sample, perturbed, task) for moves, perturbed in fresh.items()}
        queries = dict.fromkeys(by_moves.values())
        answers = first_answers(list(queries), self.setup)
        labelled = replace(self.sample, label=self.label)
        for moves, perturbed in fresh.items():
            self.asked.add(perturbed.source)
            after = answer_to(by_moves[moves], labelled, answers, task)
            model = self.setup.model
            verdict = judge(
                perturbed, self.before, after, labelled, task=task, noise=model.noise, scale=model.scale
            )
            if isinstance(verdict, Violated):
                self.known[moves] = verdict


def _fewest(moves: Moves, trials: _Trials) -> tuple[Moves, bool]:
    """Return a small set of moves that flips, and whether no smaller set does."""
    size = trials.setup.batch_size
    if len(moves) == 1:
        return moves, True
    if single := trials.first(((move,) for move in moves), size):
        return single, True
    if len(moves) == 2:
        return moves, True  # both single moves were tried above
    if len(moves) * (len(moves) - 1) // 2 <= MOST_PAIRS:
        if pair := trials.first(combinations(moves, 2), size):
            return pair, True
        if len(moves) == 3:
            return moves, True
    fewest = minimal(moves, lambda candidates: trials.first(candidates, size))
    # All single moves and all pairs failed, so a set of three cannot be beaten; a larger one might be.
    return fewest, len(fewest) == 3 and len(moves) * (len(moves) - 1) // 2 <= MOST_PAIRS


def _mildest(moves: Moves, trials: _Trials) -> Moves:
    """Return the moves with every order as close to the original as still flips."""
    number = 0
    while number < len(moves):
        head, move, tail = moves[:number], moves[number], moves[number + 1 :]
        gentler = trials.first(((*head, less, *tail) for less in milder(move)), trials.setup.batch_size)
        if gentler is None:
            number += 1
        else:
            moves = gentler
    return moves


def _of(sample: Sample, violated: Violated) -> Violated:
    return replace(violated, perturbed=replace(violated.perturbed, sample=sample))


def _why_gone(before: Prediction) -> str:
    if not isinstance(before, Predicted):
        return before.reason
    return "the answer no longer changes, or the edit is no longer legal"

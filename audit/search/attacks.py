"""Worst-case search: looks for a legal perturbation that changes the answer, within a budget of queries.

`random` with a budget of four is the attack of the SPE paper (table 6): a few random permutations. `greedy`,
`beam` and `genetic` prefer perturbations under which the model holds its answer least firmly. For models
without scores they are random searches near earlier perturbations. `exhaustive` tries every variant of the
transforms whose variants can be counted, and certifies a sample if no variant flips the answer.

A strategy is a generator: it yields perturbations to ask about and receives the outcomes. It neither counts
queries nor decides when to stop. The driver does both, and asks for many samples at once so that the model
gets batches.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from random import Random
from typing import Final, NamedTuple, TypeAlias

from codeaudit.audit.records import Attacked, Case, Failed, Predicted, Prediction, Query, Unjudged, Violated
from codeaudit.audit.run import AuditSetup, answer_to, asked_of, first_answers, judge, labels_of, query_of
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import BaseTransform, Refused, Transform
from codeaudit.transforms.perturb import UNCONFIRMED, part_of, reapply, within
from codeaudit.transforms.records import Move, NotApplied, Perturbed, Sample
from codeaudit.transforms.registration import overrides
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.seeding import stream

TOGETHER: Final = 64
"""Number of samples that are attacked together."""
STEP: Final = 8
"""Number of perturbations that a strategy asks about before it decides how to continue."""
WIDTH: Final = 4
"""Number of perturbations from which a beam continues."""
MUTATIONS: Final = 4
"""Number of draws before a strategy gives up finding a new perturbation."""
IDLE: Final = 3
"""Number of steps without a new perturbation after which a search ends."""

NO_VARIANT: Final = "no perturbation could be applied"
NO_TRANSFORM: Final = "no transform that keeps the meaning in this language"
MANY: Final = "more variants than the budget"
SPENT: Final = "budget spent"
UNCOUNTED: Final = "variants cannot be counted"


# A strategy is a generator, not a loop that asks: so 64 searches stand still at the same time, and the driver
# asks the model about all their next perturbations in one batch.


class Tried(NamedTuple):
    """A perturbation that was asked about and did not flip the answer."""

    perturbed: Perturbed
    hold: float
    """How firmly the answer is held, as `hold` computes it. Lower is closer to a flip; equal for all if the
    model gives no scores.
    """


Search: TypeAlias = Generator[Sequence[Perturbed], Sequence[Tried], str]
"""Yields perturbations, receives those that were asked about and held, and returns the reason why it
ended.
"""
Strategy: TypeAlias = Callable[["Space"], Search]


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """The legal perturbations of one sample."""

    sample: Sample
    transforms: tuple[Transform, ...]
    rng: Random
    budget: int
    seen: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    """Why moves that a transform proposed were not applied."""

    def text(self, transform: Transform) -> str | None:
        """The part of the text that a transform is given; `None` if it refuses."""
        try:
            part = part_of(self.sample, transform)
        except SourceError:
            return None
        return part.source if part.obstacle is None else None

    def none(self) -> str:
        """Why there is no perturbation."""
        if not self.transforms:
            return NO_TRANSFORM
        # A search executes nothing.
        return UNCONFIRMED if self.refused == {UNCONFIRMED} else NO_VARIANT

    def draw(self, transform: Transform) -> Perturbed | None:
        """Return a random perturbation that was not tried before; `None` if several draws found none."""
        for _ in range(MUTATIONS):
            moves = self.proposal(transform)
            # Half of the draws are partial edits: with all sites moved, a space of few sites is soon seen.
            if moves and len(moves) > 1 and self.rng.random() < 0.5:
                moves = tuple(move for move in moves if self.rng.random() < 0.5) or (self.rng.choice(moves),)
            if moves and (variant := self.make(transform, moves)):
                return variant
        return None

    def proposal(self, transform: Transform) -> tuple[Move, ...]:
        """Return the moves that the transform proposes at all its sites; empty if it refuses."""
        if (text := self.text(transform)) is None:
            return ()
        try:
            moves = within(self.sample, transform).propose(text, self.rng)
        except SourceError:
            return ()
        return () if isinstance(moves, Refused) else moves

    def make(self, transform: Transform, moves: tuple[Move, ...]) -> Perturbed | None:
        """Return the sample with these moves; `None` if they are illegal or give a text that was
        seen before.
        """
        outcome = reapply(self.sample, transform, moves)
        if isinstance(outcome, Perturbed) and outcome.source not in self.seen:
            self.seen.add(outcome.source)
            return outcome
        if isinstance(outcome, NotApplied):
            self.refused.add(outcome.reason)
        return None

    def near(self, perturbed: Perturbed) -> Perturbed | None:
        """Return a neighbour of a perturbation: with one move more, one less, or another move at one site."""
        transform = transform_for(perturbed.transform, self.sample.language)
        for _ in range(MUTATIONS):
            fresh = self.proposal(transform)
            if not fresh:
                return None
            move = self.rng.choice(fresh)
            # Fresh moves are drawn from the original, so one replaces the move at its site, if there is one.
            rest = tuple(old for old in perturbed.moves if _place(old) != _place(move))
            smaller = len(rest) and self.rng.random() < 0.25
            if variant := self.make(transform, _ordered(rest if smaller else (*rest, move))):
                return variant
        return None

    def crossed(self, one: Perturbed, other: Perturbed) -> Perturbed | None:
        """Return a child of two perturbations: at each site, the move of one parent. `None` for different
        transforms.
        """
        if one.transform != other.transform:
            return None  # sites of different transforms name different things
        sites = sorted({_place(move) for move in (*one.moves, *other.moves)})
        chosen = {site: self.rng.choice((one, other)) for site in sites}
        moves = [move for parent in (one, other) for move in parent.moves if chosen[_place(move)] is parent]
        transform = transform_for(one.transform, self.sample.language)
        return self.make(transform, _ordered(moves)) if moves else None


def attack(
    cases: Iterable[Case],
    strategy: str,
    setup: AuditSetup,
    *,
    transforms: Sequence[str],
    budget: int,
    seed: int,
) -> Iterator[Attacked]:
    """Search for a violation of every case, with at most `budget` queries per case.

    Raises:
        ModelError: the model as a whole cannot answer.
    """
    remaining = iter(cases)
    while window := list(islice(remaining, TOGETHER)):
        originals = [query_of(case.sample, case.sample.source, setup.task) for case in window]
        before = first_answers(list(dict.fromkeys(originals)), setup)
        hunts = []
        for case, original in zip(window, originals, strict=True):
            space = _space(case.sample, strategy, transforms=transforms, budget=budget, seed=seed)
            answer = answer_to(original, case.sample, before, setup.task)
            hunts.append(_Hunt(case=case, space=space, before=answer, steps=STRATEGIES[strategy](space)))
        while searching := [hunt for hunt in hunts if hunt.next_batch()]:
            texts = {query: None for hunt in searching for query in hunt.queries(setup)}
            answers = first_answers(list(texts), setup)
            for hunt in searching:
                hunt.judge(answers, setup)
        for hunt in hunts:
            yield hunt.result(setup.model.name, strategy, seed)


def _space(sample: Sample, strategy: str, *, transforms: Sequence[str], budget: int, seed: int) -> Space:
    engines = [transform_for(name, sample.language) for name in transforms]
    return Space(
        # Without the label, because the search cannot know the right answer for each new text. A task that
        # needs it then says so.
        sample=replace(sample, label=None),
        transforms=tuple(
            engine
            for engine in engines
            if engine.kind == "preserving" and (not engine.languages or sample.language in engine.languages)
        ),
        rng=stream(seed, sample.id, f"attack-{strategy}", 0),
        budget=budget,
        seen={sample.source},
    )


@dataclass(slots=True, kw_only=True)
class _Hunt:
    """The search on one sample: counts queries and stops at the first flip."""

    case: Case
    space: Space
    before: Prediction
    steps: Search
    asked: list[Perturbed] = field(default_factory=list)
    batch: list[Perturbed] = field(default_factory=list)
    tried: list[Tried] | None = None
    open: int = 0
    """Number of answers without a verdict."""
    unjudged: str = ""
    """Reason for the last of them."""
    violated: Violated | None = None
    ended: str | None = None

    def next_batch(self) -> bool:
        """Get the next perturbations from the strategy. Returns False if the search is over."""
        if isinstance(self.before, Failed):
            self.ended = self.before.reason
        if self.violated is not None or self.ended is not None:
            return False
        try:
            variants = next(self.steps) if self.tried is None else self.steps.send(self.tried)
        except StopIteration as stop:
            self.ended = str(stop.value)
            return False
        self.batch = list(variants)[: self.space.budget - len(self.asked)]
        if not self.batch:
            self.ended = SPENT if variants else self.space.none()
        return bool(self.batch)

    def queries(self, setup: AuditSetup) -> list[Query]:
        """The queries of the current batch."""
        return [asked_of(self.case.sample, perturbed, setup.task) for perturbed in self.batch]

    def judge(self, answers: Mapping[Query, Prediction], setup: AuditSetup) -> None:
        """Judge the answers to the current batch; stop at the first violation."""
        self.tried = []
        for perturbed in self.batch:
            self.asked.append(perturbed)
            after = answer_to(
                asked_of(self.case.sample, perturbed, setup.task), self.case.sample, answers, setup.task
            )
            verdict = judge(
                perturbed, self.before, after, self.case.sample, task=setup.task, noise=setup.model.noise
            )
            if isinstance(verdict, Violated):
                # The rest of the batch does not count as queries, as if each text had been asked alone.
                self.violated = replace(verdict, perturbed=replace(perturbed, sample=self.case.sample))
                return
            # Asked, so it counts for the budget; but an answer without a verdict certifies nothing.
            if isinstance(verdict, Unjudged):
                self.open += 1
                self.unjudged = verdict.reason
            if isinstance(self.before, Predicted) and isinstance(after, Predicted):
                self.tried.append(Tried(perturbed, hold(self.before, after)))

    def result(self, model: str, strategy: str, seed: int) -> Attacked:
        """The outcome of the search.

        A sample is certified only if the exhaustive strategy tried every variant and every answer was judged.
        """
        # A sample whose answers all failed was not attacked; it must not count as one that held.
        judged = len(self.asked) > self.open
        reason = self.unjudged or self.ended or ""
        every = strategy == "exhaustive" and self.ended == "" and not self.open
        return Attacked(
            model=model,
            seed=seed,
            sample=self.case.sample,
            strategy=strategy,
            budget=self.space.budget,
            queries=len(self.asked) if judged else 0,
            violated=self.violated,
            certified=every and judged and self.violated is None,
            reason="" if judged else reason,
        )


def hold(before: Predicted, after: Predicted) -> float:
    """Return how firmly an unchanged answer is held; lower is closer to a flip.

    The first that exists of: the margin; for numbers, minus the distance moved; the lowest score of the
    answer's labels minus the highest score of another label. Without any score the result is 0.
    """
    if after.margin is not None:
        return after.margin
    if isinstance(before.answer, float) and isinstance(after.answer, float):
        return -abs(after.answer - before.answer)
    scores = dict(after.scores)
    labels = labels_of(before.answer)
    inside = [score for label, score in scores.items() if label in labels]
    outside = [score for label, score in scores.items() if label not in labels]
    return min(inside, default=0.0) - max(outside, default=0.0)


def random(space: Space) -> Search:
    """Try random variants, cycling through the transforms."""
    left = space.budget
    while left > 0 and (batch := list(_fresh(space, min(STEP, left)))):
        yield batch
        left -= len(batch)
    return space.none()


def climb(space: Space, *, width: int) -> Search:
    """Move from the best `width` of a few random variants to their best neighbours, repeatedly; restart when
    no neighbour is better.
    """
    idle = 0
    best: list[Tried] = []
    while idle < IDLE:
        around = [space.near(tried.perturbed) for tried in best for _ in range(STEP // len(best))]
        batch = [neighbour for neighbour in around if neighbour is not None] or list(_fresh(space, STEP))
        if not batch:
            idle += 1
            best = []
            continue
        idle = 0
        held = yield batch
        reached = best[0].hold if best else float("inf")
        ranked = sorted([*best, *held], key=lambda tried: tried.hold)[:width]
        # A summit, or a plain where no score leads on: begin elsewhere.
        best = ranked if ranked and ranked[0].hold < reached else []
    return space.none()


def genetic(space: Space) -> Search:
    """Keep a population. The better half has children: at each site one parent's move, or one
    changed move.
    """
    population = list((yield list(_fresh(space, STEP))))
    idle = 0
    while population and idle < IDLE:
        population.sort(key=lambda tried: tried.hold)
        parents = [tried.perturbed for tried in population[: STEP // 2]]
        children = []
        for _ in range(STEP):
            one, other = space.rng.choice(parents), space.rng.choice(parents)
            child = space.crossed(one, other) if one is not other else None
            if variant := child or space.near(one):
                children.append(variant)
        children = children or list(_fresh(space, STEP))
        idle = 0 if children else idle + 1
        population = population[: STEP // 2] + list((yield children))
    return space.none()


def exhaustive(space: Space) -> Search:
    """Try every variant of the countable transforms, if there are at most `budget` of them."""
    transforms = [within(space.sample, name) for name in space.transforms]
    countable = [transform for transform in transforms if overrides(transform, BaseTransform.count)]
    if not countable:
        return UNCOUNTED if transforms else NO_TRANSFORM
    # A transform that refuses the text has no variant of it.
    texts = [(transform, text) for transform in countable if (text := space.text(transform)) is not None]
    try:
        counts = [transform.count(text) for transform, text in texts]
    except SourceError:
        return NO_VARIANT
    # A part of the variants would certify nothing, so none is asked about.
    if None in counts or sum(number or 0 for number in counts) > space.budget:
        return MANY
    batch: list[Perturbed] = []
    for transform, text in texts:
        moves = transform.every(text)
        batch += (variant for move in moves if (variant := space.make(transform, move)))
    if not batch:
        return space.none() if len(countable) == len(transforms) else UNCOUNTED
    yield batch
    return ""


STRATEGIES: Final[Mapping[str, Strategy]] = {
    "random": random,
    "greedy": partial(climb, width=1),
    "beam": partial(climb, width=WIDTH),
    "genetic": genetic,
    "exhaustive": exhaustive,
}


def _fresh(space: Space, number: int) -> Iterator[Perturbed]:
    """Yield up to `number` random variants, cycling through the transforms."""
    engines = list(space.transforms)
    while engines and number:
        for transform in tuple(engines):
            if not number:
                return
            variant = space.draw(transform)
            if variant is None:
                engines.remove(transform)  # its variants are used up, or it refuses this sample
            else:
                number -= 1
                yield variant


def _place(move: Move) -> tuple[str, int]:
    """The site of a move; in a mixed variant each transform numbers its own sites."""
    return move.transform, move.site


def _ordered(moves: Iterable[Move]) -> tuple[Move, ...]:
    return tuple(sorted(moves, key=lambda move: move.site))

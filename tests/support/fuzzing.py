"""Random programs under a transform, before and after, in the sandbox: what is equal and what is not."""

import ast
import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from codeaudit.transforms.interface import Transform
from codeaudit.transforms.oracle.containment import RunLimits
from codeaudit.transforms.oracle.oracle import Differed, Inconclusive, Oracle, ProgramPair
from codeaudit.transforms.oracle.sandbox import Lost, Sandbox
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import NotApplied, Origin, Perturbed, Sample
from codeaudit.transforms.seeding import stream
from tests.support.programs import INPUTS, PRELUDE, program

LIMITS = RunLimits(cpu_seconds=0.3, idle_seconds=1.0, answer_size=32 << 20)
_SHRINKING_SEEDS = 4
_TEXTS = 40
"""Most texts that one process runs, unless a single program has more variants."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A program that a transform changes in what it does."""

    original: str
    perturbed: str
    seen: Differed

    def __str__(self) -> str:
        lines = (self.original.splitlines(), self.perturbed.splitlines())
        diff = "\n".join(list(difflib.unified_diff(*lines, lineterm="", n=99))[2:])
        return f"{diff}\n  f{self.seen.input}\n  before  {self.seen.before}\n  after   {self.seen.after}"


@dataclass(slots=True)
class Tally:
    """What came of one transform."""

    pairs: int = 0
    not_applied: Counter[str] = field(default_factory=Counter)
    inconclusive: Counter[str] = field(default_factory=Counter)
    equal: int = 0
    different: list[Difference] = field(default_factory=list)

    @property
    def applied(self) -> int:
        return self.pairs - self.not_applied.total()

    @property
    def judged(self) -> int:
        return self.equal + len(self.different)

    def counts(self) -> dict[str, int]:
        """The numbers by the names that the logs of campaigns use."""
        return {
            "pairs": self.pairs,
            "applied": self.applied,
            "equal": self.equal,
            "different": len(self.different),
            "unclear": self.inconclusive.total(),
        }

    def __iadd__(self, other: "Tally") -> "Tally":
        self.pairs += other.pairs
        self.not_applied += other.not_applied
        self.inconclusive += other.inconclusive
        self.equal += other.equal
        self.different += other.different
        return self

    @property
    def smallest(self) -> Difference:
        return min(self.different, key=lambda difference: len(difference.original))


def unit(source: str, number: int = 0) -> Sample:
    """A program as transforms take it."""
    return Sample(
        id=str(number), language="python", source=source, label=None, origin=Origin(path="-", line=1)
    )


class Judge(Oracle):
    """An oracle for small programs, which runs all variants of a program in one process first.

    Where that process reports the same, the variant does the same. Every other variant is judged by the
    oracle itself, in processes of its own.
    """

    def __init__(self) -> None:
        super().__init__(limits=LIMITS)
        self._batch = Sandbox("tests.support.batch", LIMITS)

    def close(self) -> None:
        super().close()
        self._batch.close()

    def same(self, programs: Sequence[tuple[str, Sequence[str]]]) -> list[list[bool]]:
        """Whether each variant certainly does what its original does, on every input.

        A program is its text and the texts of its variants.
        """
        groups: list[list[list[str]]] = []
        for original, variants in programs:
            texts = [executed(text) for text in (original, *variants)]
            # Starting a process costs more than running a few texts.
            if groups and sum(map(len, groups[-1])) + len(texts) <= _TEXTS:
                groups[-1].append(texts)
            else:
                groups.append([texts])
        jobs = [_job([text for texts in group for text in texts]) for group in groups]
        try:
            replies = self._batch.ask(jobs)
        except Lost:
            return [[False] * len(variants) for _, variants in programs]
        equal: list[list[bool]] = []
        for group, answers in zip(groups, replies, strict=True):
            rest = iter(answers)
            equal += [_equal([list(islice(rest, len(INPUTS))) for _ in texts]) for texts in group]
        return equal


def _job(texts: Sequence[str]) -> dict[str, object]:
    return {"sources": texts, "inputs": INPUTS, "setup": PRELUDE, "count": len(texts) * len(INPUTS)}


def _equal(answers: Sequence[Sequence[tuple[str, str]]]) -> list[bool]:
    """For each text behind the first one, whether it was seen to do the same as that."""
    first, *others = answers
    usable = all(kind == "seen" and '"unfit"' not in text for kind, text in first)
    return [usable and other == first for other in others]


def oracle() -> Judge:
    """An oracle with limits for small programs."""
    return Judge()


def fuzz(
    judge: Judge,
    transforms: Sequence[Transform],
    numbers: Sequence[int],
    *,
    seed: int,
    variants: int = 1,
    size: int = 5,
    lifetimes: bool = False,
) -> dict[str, Tally]:
    """Every transform on the programs with these numbers; a program depends on (seed, number) alone."""
    tallies = {transform.name: Tally() for transform in transforms}
    programs: list[tuple[str, list[Perturbed]]] = []
    for number in numbers:
        source = program(stream(seed, "program", number), size=size, lifetimes=lifetimes)
        changed: list[Perturbed] = []
        for transform in transforms:
            tally = tallies[transform.name]
            for outcome in perturb_one(unit(source, number), transform, variants=variants, seed=seed):
                tally.pairs += 1
                if isinstance(outcome, NotApplied):
                    tally.not_applied[outcome.reason] += 1
                else:
                    changed.append(outcome)
        programs.append((source, changed))
    # All at once: on a busy machine, each wait for the other process costs more than its work.
    same = judge.same([(source, [variant.source for variant in changed]) for source, changed in programs])
    doubtful: list[Perturbed] = []
    for (_, changed), equal in zip(programs, same, strict=True):
        for outcome, certain in zip(changed, equal, strict=True):
            tallies[outcome.transform].equal += certain
            if not certain:
                doubtful.append(outcome)
    pairs = (pair(variant.sample.source, variant.source) for variant in doubtful)
    for outcome, verdict in zip(doubtful, map(judge.judge_pair, pairs), strict=True):
        tally = tallies[outcome.transform]
        match verdict:
            case Differed():
                tally.different.append(Difference(outcome.sample.source, outcome.source, verdict))
            case Inconclusive(reason):
                tally.inconclusive[reason] += 1
            case _:
                tally.equal += 1
    return tallies


def executed(text: str) -> str:
    """The text as it runs: a program that reads its own text finds it."""
    return f"{text}\n\nre._own_text = {text!r}\n" if "section(" in text else text


def pair(before: str, after: str) -> ProgramPair:
    """Both programs with what they need, on the usual inputs."""
    return ProgramPair(
        original=executed(before), perturbed=executed(after), function="f", inputs=INPUTS, setup=PRELUDE
    )


def shrink(judge: Oracle, transform: Transform, difference: Difference) -> Difference:
    """A smaller program that the transform changes too: statements are taken away while it does."""
    smallest = difference
    while True:
        for source in smaller(smallest.original):
            again = _difference(judge, transform, source)
            if again is not None:
                smallest = again
                break
        else:
            return smallest


def _difference(judge: Oracle, transform: Transform, source: str) -> Difference | None:
    for seed in range(_SHRINKING_SEEDS):
        for outcome in perturb_one(unit(source), transform, variants=2, seed=seed):
            if isinstance(outcome, Perturbed):
                verdict = judge.judge_pair(pair(source, outcome.source))
                if isinstance(verdict, Differed):
                    return Difference(source, outcome.source, verdict)
    return None


def smaller(source: str) -> Iterator[str]:
    """The program with one statement less, or with a block in the place of the statement around it."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            block = getattr(node, name, None)
            if not isinstance(block, list):
                continue
            for statement in reversed(block):
                if hasattr(statement, "lineno") and hasattr(statement, "end_lineno"):
                    first, last = statement.lineno - 1, statement.end_lineno
                    kept = [*lines[:first], *lines[last:]]
                    inner = getattr(statement, "body", None)
                    if isinstance(inner, list) and inner[0].lineno > statement.lineno:
                        start, end = inner[0].lineno - 1, inner[-1].end_lineno
                        step = inner[0].col_offset - statement.col_offset
                        yield from _valid(
                            [*lines[:first], *(line[step:] for line in lines[start:end]), *lines[last:]]
                        )
                    yield from _valid(kept)
                    if name == "orelse" and statement is block[0]:  # the whole branch with its word
                        start, end = block[0].lineno - 1, block[-1].end_lineno
                        if lines[start - 1].strip() == "else:":
                            yield from _valid([*lines[: start - 1], *lines[end:]])


def _valid(lines: list[str]) -> Iterator[str]:
    text = "\n".join(lines) + "\n"
    try:
        compile(text, "<smaller>", "exec")
    except SyntaxError:
        return
    yield text

"""Random Java programs under transforms: every rewritten method is compiled and run, before and after."""

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from codeaudit.transforms.interface import Transform
from codeaudit.transforms.java.files import JAVA_FILES, declared_types
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Origin, Perturbed, Sample
from codeaudit.transforms.seeding import stream
from tests.support.java_grammar import METHODS, JavaProgramText, Writer
from tests.support.java_judge import FOLDER, JavaJudge, JavaUnit, Told, unclear

EVERY: Final = tuple(range(METHODS))
WHOLE: Final = -1
"""In place of a method's number: the transform rewrote the file."""
INHERITED_NAMES = declared_types((FOLDER / "fuzz" / "Rich.java").read_bytes())
"""The names that a program may inherit from another file."""
NOT_COMPILED: Final = "does not compile"
_SHRINKING_SEEDS: Final = 3


@dataclass(frozen=True, slots=True)
class JavaDifference:
    """A program that a transform changes in what it does, or that no longer compiles."""

    transform: str
    number: int
    """The number of the program."""
    target: int
    """The number of the method, or `WHOLE`."""
    original: str
    perturbed: str
    before: str
    after: str

    def __str__(self) -> str:
        lines = (self.original.splitlines(), self.perturbed.splitlines())
        diff = "\n".join(list(difflib.unified_diff(*lines, lineterm="", n=4))[2:])
        runs = zip(self.before.splitlines(), self.after.splitlines(), strict=False)
        seen = next(((one, other) for one, other in runs if one != other), (self.before, self.after))
        return f"{self.transform}, program {self.number}\n{diff}\n  before  {seen[0]}\n  after   {seen[1]}"


@dataclass(slots=True)
class JavaTally:
    """What came of one transform."""

    pairs: int = 0
    applied: int = 0
    equal: int = 0
    unclear: int = 0
    different: list[JavaDifference] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """The numbers, by the names in `campaigns.COUNTED`."""
        return {
            "pairs": self.pairs,
            "applied": self.applied,
            "equal": self.equal,
            "different": len(self.different),
            "unclear": self.unclear,
        }


@dataclass(frozen=True, slots=True)
class _Variant:
    """A file in which some of the methods are rewritten, each by one transform."""

    number: int
    text: str
    rewritten: Mapping[int, tuple[str, str]]
    """By the number of a method: the transform and the new text. `WHOLE` for the file."""

    @property
    def unit(self) -> JavaUnit:
        """The file, with the methods that have to be run."""
        return JavaUnit(self.text, EVERY if WHOLE in self.rewritten else tuple(self.rewritten))


def java_program(seed: int, number: int, release: int) -> JavaProgramText:
    """The program with this number."""
    return Writer(stream(seed, "java program", number), release).program()


def fuzz_java(
    judge: JavaJudge,
    transforms: Sequence[Transform],
    numbers: Sequence[int],
    *,
    seed: int,
    release: int,
    variants: int = 1,
) -> tuple[dict[str, JavaTally], int]:
    """Every transform on the programs with these numbers, and how many of these did not compile themselves.

    A pair is a method, or a file, and a transform. Which programs there are depends on the seed, the numbers
    and the release alone.
    """
    tallies = {transform.name: JavaTally() for transform in transforms}
    programs = {number: java_program(seed, number, release) for number in numbers}
    units = [JavaUnit(program.text, EVERY) for program in programs.values()]
    originals = dict(zip(programs, judge.told(units), strict=True))
    made: list[_Variant] = []
    for number, program in programs.items():
        if not originals[number].error:
            made += _variants(program, number, transforms, tallies, seed=seed, variants=variants)
    while made:
        answers = judge.told([variant.unit for variant in made])
        apart: list[_Variant] = []
        for variant, after in zip(made, answers, strict=True):
            if after.error and len(variant.rewritten) > 1:  # its methods are judged alone
                apart += _apart(programs[variant.number], variant)
            else:
                _count(tallies, programs[variant.number], originals[variant.number], variant, after, judge)
        made = apart
    return tallies, sum(bool(answer.error) for answer in originals.values())


def _spans(program: JavaProgramText) -> dict[int, tuple[int, int]]:
    """Where each method that is run and may be rewritten stands in the text, by its number."""
    around = INHERITED_NAMES if program.inherits else frozenset()
    by_name = {place.name: place for place in JAVA_FILES.places(program.text, around)}
    places = {number: by_name[name] for number, name in enumerate(program.targets)}
    return {number: (place.start, place.end) for number, place in places.items() if place.obstacle is None}


def _variants(
    program: JavaProgramText,
    number: int,
    transforms: Sequence[Transform],
    tallies: Mapping[str, JavaTally],
    *,
    seed: int,
    variants: int,
) -> Iterator[_Variant]:
    assert program.text.isascii()  # so bytes and characters have the same places
    spans = _spans(program)
    new: dict[int, list[tuple[str, str]]] = {}
    # One method under all transforms before the next: what is known about a text is kept for a while.
    for target, (start, end) in [*spans.items(), (WHOLE, (0, len(program.text)))]:
        sample = _sample(program.text[start:end], program.text, f"{number}.{target}")
        for transform in transforms:
            if (transform.unit == "function") != (target != WHOLE):
                continue
            tally = tallies[transform.name]
            for outcome in perturb_one(sample, transform, variants=variants, seed=seed):
                tally.pairs += 1
                if isinstance(outcome, Perturbed):
                    tally.applied += 1
                    new.setdefault(target, []).append((transform.name, outcome.source))
    for edit in new.pop(WHOLE, []):
        yield _Variant(number, edit[1], {WHOLE: edit})
    # To compile costs most, so each file has as many rewritten methods as there are.
    for place in range(max(map(len, new.values()), default=0)):
        rewritten = {target: texts[place] for target, texts in new.items() if place < len(texts)}
        yield _Variant(number, _text(program.text, spans, rewritten), rewritten)


def _text(text: str, spans: Mapping[int, tuple[int, int]], rewritten: Mapping[int, tuple[str, str]]) -> str:
    for target in sorted(rewritten, key=lambda one: spans[one], reverse=True):
        start, end = spans[target]
        text = text[:start] + rewritten[target][1] + text[end:]
    return text


def _apart(program: JavaProgramText, variant: _Variant, *targets: int) -> Iterator[_Variant]:
    """For each rewritten method, or each of these, a file in which no other one is rewritten."""
    spans = _spans(program)
    for target in targets or variant.rewritten:
        single = {target: variant.rewritten[target]}
        yield _Variant(variant.number, _text(program.text, spans, single), single)


def _sample(source: str, file: str, name: str = "0") -> Sample:
    origin = Origin(path="-", line=1)
    return Sample(id=name, language="java", source=source, label=None, origin=origin, context=file)


def _count(
    tallies: Mapping[str, JavaTally],
    program: JavaProgramText,
    before: Told,
    variant: _Variant,
    after: Told,
    judge: JavaJudge,
) -> None:
    """Count the pairs of one file with what became of them."""
    again: Sequence[Told] = ()
    for place, (target, (name, _)) in enumerate(variant.rewritten.items()):
        tally = tallies[name]
        one = "".join(before.outcomes) if target == WHOLE else before.outcomes[target]
        if after.error:
            other = f"{NOT_COMPILED}: {after.error}"
        else:
            other = "".join(after.outcomes) if target == WHOLE else after.outcomes[place]
        if one == other:
            tally.equal += 1
            continue
        # A machine under load lets a run out of time, and its thread may disturb the next one.
        again = again or judge.told([JavaUnit(program.text, EVERY), variant.unit])
        if unclear(one) or unclear(other) or list(again) != [before, after]:
            tally.unclear += 1
            continue
        text = variant.text if target == WHOLE else next(_apart(program, variant, target)).text
        tally.different.append(JavaDifference(name, variant.number, target, program.text, text, one, other))


# ── smaller differences ──────────────────────────────────────────────────────────────────────────────────


def shrink_java(judge: JavaJudge, transform: Transform, difference: JavaDifference) -> JavaDifference:
    """A smaller program that the transform changes too: lines are taken away while it does."""
    smallest = difference
    # Blocks of lines first, then single ones.
    size = 32
    while size:
        lines = smallest.original.splitlines(keepends=True)
        for start in range(0, len(lines), size):
            kept = "".join(lines[:start] + lines[start + size :])
            again = _difference(judge, transform, difference, kept)
            if again is not None:
                smallest = again
                break
        else:
            size //= 2
    return smallest


def _difference(
    judge: JavaJudge, transform: Transform, difference: JavaDifference, text: str
) -> JavaDifference | None:
    try:
        places = JAVA_FILES.places(text)
    except ValueError:
        return None
    (before,) = judge.told([JavaUnit(text, EVERY)])
    if before.error:
        return None
    spans = {
        number: (place.start, place.end) for number, place in enumerate(places) if place.obstacle is None
    }
    chosen = spans.items() if difference.target != WHOLE else [(WHOLE, (0, len(text)))]
    made = []
    for target, (start, end) in chosen:
        for seed in range(_SHRINKING_SEEDS):
            for outcome in perturb_one(_sample(text[start:end], text), transform, variants=2, seed=seed):
                if isinstance(outcome, Perturbed):
                    new = {target: (transform.name, outcome.source)}
                    made.append(outcome.source if target == WHOLE else _text(text, spans, new))
    outputs = judge.told([JavaUnit(variant, EVERY) for variant in made])
    for variant, after in zip(made, outputs, strict=True):
        if after != before and (not after.error or difference.after.startswith(NOT_COMPILED)):
            seen = after.error or "".join(after.outcomes)
            return JavaDifference(
                difference.transform,
                difference.number,
                difference.target,
                text,
                variant,
                "".join(before.outcomes),
                seen,
            )
    return None


def total(tallies: Mapping[str, JavaTally]) -> Counter[str]:
    """The sums over all transforms."""
    sums: Counter[str] = Counter()
    for tally in tallies.values():
        sums.update(tally.counts())
    return sums

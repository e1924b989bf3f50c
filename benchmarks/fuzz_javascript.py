"""Every meaning-keeping transform on random programs of JavaScript and TypeScript, run before and after.

    python benchmarks/fuzz_javascript.py --log js.log --programs 500   goes on where the log ends
    python benchmarks/fuzz_javascript.py --log js.log --report         what the log shows
    python benchmarks/fuzz_javascript.py --transform reorder           without a log
    python benchmarks/fuzz_javascript.py --power                       does it find known bugs?
    python benchmarks/fuzz_javascript.py --typescript FOLDER           the compiler there erases the types

A program is one of four kinds (`tests/transforms/javascript/random_*.py`): statements that may change places
among hostile code, scopes, branches and loops, spellings. Every second one is TypeScript, and every second
one is strict. Each meets `reorder` and a drawn dozen of the other transforms, with all moves and with a drawn
half; each text that is made is a pair. All that a program prints in node, and the class of its exception, is
compared. With differences the exit code is 1.

The types of TypeScript stand between marks and are cut out again; so a program of `remove-comments` is
JavaScript. With `--typescript` the compiler erases them, as a second reader of the result.

`--power` puts each cause of `tests/support/javascript_causes.py` back into the engine, and tells after how
many pairs it is found.
"""

import argparse
import difflib
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Final, NamedTuple

import checkout  # noqa: F401 - `tests` is found

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.javascript.language import JAVASCRIPT
from codeaudit.transforms.registry import expand, transform_for
from codeaudit.transforms.seeding import stream
from tests.support.campaigns import COUNTED, CampaignLog, Chunk, campaign_parser, engine
from tests.support.javascript_causes import CAUSES, put_back
from tests.support.javascript_running import TIMEOUT, outputs
from tests.transforms.javascript import (
    random_control_flow,
    random_orders,
    random_programs,
    random_spellings,
)
from tests.transforms.javascript.typed_programs import erased, typed

CHUNK: Final = 16
"""Programs that one process of node runs."""
DOZEN: Final = 12
ENGINE: Final = engine("javascript")
"""Of the sources that this process has loaded."""
LIMIT: Final = 20_000
"""Pairs within which a known cause has to be found."""
MOST_SHOWN: Final = 20
GRAMMARS: Final[tuple[ModuleType, ...]] = (
    random_orders,
    random_programs,
    random_control_flow,
    random_spellings,
)


class Pair(NamedTuple):
    """A program before and after a transform, as node runs both."""

    transform: str
    number: int
    typed: bool
    """Whether the compiler has to erase types."""
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Program:
    """A random function with calls of it."""

    number: int
    source: str
    """As the transforms take it."""
    calls: str
    language: str
    mode: str

    @classmethod
    def drawn(cls, seed: int, number: int) -> "Program":
        """The program with this number."""
        rng = stream(seed, "javascript program", number)
        grammar = GRAMMARS[number % len(GRAMMARS)]
        source, calls = grammar.program(rng.getrandbits(32))
        language = rng.choice(("javascript", "typescript"))
        if language == "typescript":
            source = typed(source, rng.getrandbits(32))
        return cls(number, source, calls, language, rng.choice(("", '"use strict";\n')))

    def run(self, text: str, *, compiled: bool) -> str:
        """The program with this function, as node runs it."""
        kept = text if compiled or self.language == "javascript" else erased(text)
        return f"{self.mode}{kept}\n{self.calls}"


def made(program: Program, name: str, rng: Random, tally: Counter[str], *, compiled: bool) -> Iterator[Pair]:
    """The program under a transform: with all of its moves, and with half of them."""
    if name == "remove-comments" and program.language == "typescript" and not compiled:
        return
    rule = transform_for(name, program.language)
    tally["pairs"] += 1
    try:
        moves = rule.propose(program.source, rng)
    except SourceError:
        return  # a name is declared twice
    if isinstance(moves, Refused):
        return
    texts = set()
    for some in {moves, tuple(move for move in moves if rng.random() < 0.5)} - {()}:
        variant = rule.apply(program.source, some)
        if not isinstance(variant, Refused):
            texts.add(variant.source)
    is_typed = compiled and program.language == "typescript"
    before = program.run(program.source, compiled=compiled)
    for text in sorted(texts - {program.source}):
        tally["applied"] += 1
        yield Pair(name, program.number, is_typed, before, program.run(text, compiled=compiled))


def shown(pair: Pair, before: Sequence[str], after: Sequence[str]) -> str:
    """A difference, for people."""
    diff = list(difflib.unified_diff(pair.before.splitlines(), pair.after.splitlines(), lineterm="", n=8))[2:]
    seen = next((both for both in zip(before, after, strict=False) if both[0] != both[1]), (before, after))
    printed = "\n".join((f"  before  {seen[0]}", f"  after   {seen[1]}"))
    return f"{pair.transform}, program {pair.number}\n" + "\n".join(diff) + f"\n{printed}"


def worked(first: int, names: Sequence[str], asked: argparse.Namespace) -> Chunk:
    """The programs of one chunk under their transforms."""
    began = time.process_time()
    tallies: dict[str, Counter[str]] = {}
    pairs: list[Pair] = []
    for number in range(first, first + CHUNK):
        program = Program.drawn(asked.seed, number)
        rng = stream(asked.seed, "javascript transforms", number)
        others = [name for name in names if name != "reorder"]
        chosen = rng.sample(others, min(DOZEN, len(others)))
        for name in (*(["reorder"] if "reorder" in names else []), *chosen):
            tally = tallies.setdefault(name, Counter())
            pairs += made(program, name, rng, tally, compiled=asked.typescript is not None)
    printed: dict[str, list[str]] = {}
    for is_typed in {pair.typed for pair in pairs}:
        ones = list(dict.fromkeys(text for _, _, own, *both in pairs if own == is_typed for text in both))
        printed |= zip(ones, outputs(ones, typescript=asked.typescript if is_typed else None), strict=True)
    different = []
    for pair in pairs:
        before, after = printed[pair.before], printed[pair.after]
        if before != after and TIMEOUT in (*before[-1:], *after[-1:]):  # other work may have held it up
            before, after = outputs(pair[3:], typescript=asked.typescript if pair.typed else None)
        ran = any(not line.startswith("! SyntaxError") for line in before)
        if TIMEOUT in (*before[-1:], *after[-1:]):
            ran, after = False, before
        what = ("equal" if ran else "unclear") if before == after else "different"
        tallies[pair.transform][what] += 1
        if before != after:
            different.append(shown(pair, before, after))
    return Chunk(
        campaign="javascript", engine=ENGINE, seed=asked.seed, first=first, programs=CHUNK,
        seconds=round(time.process_time() - began, 2),
        tallies={name: dict(tally) for name, tally in tallies.items()}, different=different[:MOST_SHOWN],
    )  # fmt: skip


def power(asked: argparse.Namespace) -> int:
    """Print a line for each cause."""
    missed = 0
    for cause in (cause for cause in CAUSES if asked.cause in cause):
        pairs, difference = 0, ""
        with put_back(cause):
            for first in range(0, LIMIT, CHUNK):
                chunk = worked(first, (CAUSES[cause][0],), asked)
                pairs += chunk.total("applied")
                if chunk.different or pairs >= LIMIT:
                    difference = "\n".join(chunk.different[:1])
                    break
        missed += not difference
        print(f"{f'{pairs:,}' if difference else 'not found':>10}  {cause}", flush=True)
        if asked.show:
            print(difference)
    print(f"{missed} causes not found within {LIMIT:,} pairs")
    return 1 if missed else 0


def main() -> int:
    """Run a part of the campaign, or tell what its log shows."""
    parser = campaign_parser(__doc__)
    parser.add_argument("--show", action="store_true", help="with --power: what was found")
    parser.add_argument("--typescript", type=Path, help="the folder of the compiler that erases the types")
    asked = parser.parse_args()
    if asked.power:
        return power(asked)
    names = expand(asked.transform.split(","), languages=[JAVASCRIPT.name])
    log = CampaignLog(asked.log, "javascript") if asked.log else None
    if asked.report:
        if log is None:
            parser.error("--report needs --log")
        print("\n".join(log.report(ENGINE, names).lines()))
        return 0
    first = asked.first
    if first is None:
        first = log.next_program(asked.seed) if log else 0
    differ, sums = 0, Counter[str]()
    for start in range(first, first + asked.programs, CHUNK):
        chunk = worked(start, names, asked)
        if log:
            log.append(chunk)
        sums.update({what: chunk.total(what) for what in COUNTED})
        print(f"{start:6} " + " ".join(f"{what} {sums[what]:,}" for what in COUNTED), flush=True)
        for difference in chunk.different:
            print(f"\n{difference}", flush=True)
        differ += chunk.total("different")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())

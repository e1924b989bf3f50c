"""Every meaning-keeping transform on random programs, executed before and after in the sandbox.

    python benchmarks/fuzz_python.py                              all transforms, 200 programs each
    python benchmarks/fuzz_python.py --log FILE --pairs 100000    a campaign: goes on behind the last run
    python benchmarks/fuzz_python.py --report FILE                what all runs of a campaign gave
    python benchmarks/fuzz_python.py --transform reorder,rename --programs 5000 --seed 7
    python benchmarks/fuzz_python.py --power                      known causes, put back one at a time
    python benchmarks/fuzz_python.py --controls                   the controls, which should differ

Each program (grammar: `tests/support/programs.py`) runs on four inputs; results, exceptions, output, changed
arguments and globals, and a log of calls, operators and attributes are compared. Where a transform changes
what a program does, the smallest such program is shrunk and shown as a diff, and the exit code is 1.

A campaign's programs follow from the seed and their numbers. Its log (`tests/support/campaigns.py`) knows the
engine of each chunk. `--power` puts each cause of `tests/support/causes.py` back into the engine, and tells
after how many pairs of program and transform the first difference came. It ends with 1 if one is not found.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import checkout  # noqa: F401 - `tests` is found

from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.registry import ALL, ENTRIES, TRANSFORMS, expand
from tests.support.campaigns import CampaignLog, Chunk, engine
from tests.support.causes import CAUSES
from tests.support.fuzzing import Tally, fuzz, oracle, shrink

CHUNK = 25
WITHIN = 20_000
"""Pairs within which a cause must be found."""


def chunk(
    numbers: range, *, names: tuple[str, ...], asked: argparse.Namespace
) -> tuple[Chunk, dict[str, Tally]]:
    """What came of some programs; one process with one sandbox."""
    began = time.perf_counter()
    with oracle() as judge:
        tallies = fuzz(
            judge,
            [TRANSFORMS.get(name) for name in names],
            numbers,
            seed=asked.seed,
            variants=asked.variants,
            size=asked.size,
            lifetimes=asked.lifetimes,
        )
    counted = {name: tally.counts() for name, tally in tallies.items()}
    different = [f"{name}\n{difference}" for name, tally in tallies.items() for difference in tally.different]
    outcome = Chunk(
        campaign=_campaign(asked),
        engine=asked.engine,
        seed=asked.seed,
        first=numbers.start,
        programs=len(numbers),
        seconds=time.perf_counter() - began,
        tallies=counted,
        different=different,
    )
    return outcome, tallies


def _campaign(asked: argparse.Namespace) -> str:
    """Chunks with these options add up."""
    options = f"{asked.transform}, size {asked.size}, variants {asked.variants}"
    return f"python: {options}{', lifetimes' if asked.lifetimes else ''}"


def found_after(number: int, *, seed: int, size: int, within: int) -> tuple[int, str]:
    """The number of pairs up to the first difference with one of `CAUSES` in the engine, and the difference.

    0 and an empty text if there is none.
    """
    cause = CAUSES[number]
    transforms = [TRANSFORMS.get(name) for name in cause.transforms]
    pairs = 0
    with oracle() as judge, cause.put_back():
        for start in range(0, within // len(transforms), CHUNK):
            tallies = fuzz(judge, transforms, range(start, start + CHUNK), seed=seed, size=size)
            pairs += sum(tally.pairs for tally in tallies.values())
            for tally in tallies.values():
                if tally.different:
                    return pairs, str(tally.different[0])
    return 0, ""


def power(asked: argparse.Namespace) -> int:
    """Print a line for each cause."""
    causes = [number for number, cause in enumerate(CAUSES) if asked.cause in cause.name]
    work = partial(found_after, seed=asked.seed, size=asked.size, within=asked.pairs or WITHIN)
    missed = 0
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        for number, (pairs, difference) in zip(causes, pool.map(work, causes), strict=True):
            missed += not pairs
            print(f"{f'{pairs:,}' if pairs else 'not found':>10}  {CAUSES[number].name}", flush=True)
            if asked.show and pairs:
                print(difference)
    print(f"{len(causes) - missed} of {len(causes)} causes found within {asked.pairs or WITHIN:,} pairs")
    return 1 if missed else 0


def _chunks(
    names: tuple[str, ...], asked: argparse.Namespace, first: int
) -> Iterator[tuple[Chunk, dict[str, Tally]]]:
    count = asked.programs if asked.pairs is None else -(-asked.pairs // (len(names) * asked.variants))
    stop = first + count
    parts = [range(start, min(start + CHUNK, stop)) for start in range(first, stop, CHUNK)]
    work = partial(chunk, names=names, asked=asked)
    if asked.jobs == 1:
        yield from map(work, parts)
        return
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, parts)


def main() -> int:
    """Print a line for each transform, then the differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--programs", type=int, default=200, help="how many programs meet every transform")
    parser.add_argument(
        "--pairs", type=int, help="how many pairs of program and transform; instead of --programs"
    )
    parser.add_argument(
        "--transform", default=ALL, help="names or families, with commas between (default: all)"
    )
    parser.add_argument("--controls", action="store_true", help="the controls instead")
    parser.add_argument(
        "--power", action="store_true", help="put known causes back, and count pairs until each is found"
    )
    parser.add_argument("--cause", default="", help="with --power: only the causes with this in their name")
    parser.add_argument("--show", action="store_true", help="with --power: what was found")
    parser.add_argument(
        "--log", type=Path, metavar="FILE", help="add to this campaign, behind its last program"
    )
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="print what a campaign gave, and run nothing"
    )
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="begin no further chunk after this time"
    )
    parser.add_argument("--variants", type=int, default=1)
    parser.add_argument("--size", type=int, default=3, help="statements of a function's body, at most")
    parser.add_argument("--lifetimes", action="store_true", help="objects that tell when they are dropped")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    asked = parser.parse_args()
    if asked.power:
        return power(asked)
    names = expand(asked.transform.split(","), languages=[PYTHON.name])
    if asked.controls:
        names = tuple(name for name, entry in ENTRIES.items() if entry.kind == "control")
    asked.engine = engine(PYTHON.name)
    if asked.report:
        print(*CampaignLog(asked.report, _campaign(asked)).report(asked.engine, names).lines(), sep="\n")
        return 0
    log = CampaignLog(asked.log, _campaign(asked)) if asked.log else None
    first = log.next_program(asked.seed) if log else 0
    began = time.perf_counter()
    tallies = {name: Tally() for name in names}
    for outcome, by_name in _chunks(names, asked, first):
        if log:
            log.append(outcome)
        for name, tally in by_name.items():
            tallies[name] += tally
        if time.perf_counter() - began > 60 * asked.minutes:
            break
    seconds = time.perf_counter() - began
    _print(tallies, seconds)
    different = [name for name, tally in tallies.items() if tally.different]
    if asked.controls:
        return 0
    with oracle() as judge:
        for name in different:
            print(f"\n{name}\n{shrink(judge, TRANSFORMS.get(name), tallies[name].smallest)}")
    return 1 if different else 0


def _print(tallies: dict[str, Tally], seconds: float) -> None:
    print(f"{'transform':30} {'pairs':>7} {'applied':>7} {'equal':>7} {'differ':>7} {'unclear':>7}")
    for name, tally in tallies.items():
        print(f"{name:30} " + " ".join(f"{number:7}" for number in tally.counts().values()))
    executed = sum(tally.applied for tally in tallies.values())
    total = sum(tally.pairs for tally in tallies.values())
    print(
        f"{total} pairs, {executed} of them executed, in {seconds:.1f} s: {executed / seconds:.0f} executed/s"
    )
    reasons = sum((tally.inconclusive for tally in tallies.values()), Counter[str]())
    for reason, number in reasons.most_common():
        print(f"unclear, {reason}: {number}")


if __name__ == "__main__":
    sys.exit(main())

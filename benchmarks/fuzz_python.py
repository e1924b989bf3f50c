"""Every meaning-keeping transform on random programs, executed before and after in the sandbox.

    python -m benchmarks.fuzz_python                              all transforms, 200 programs each
    python -m benchmarks.fuzz_python --pairs 100000 --jobs 2
    python -m benchmarks.fuzz_python --transform reorder,rename --programs 5000 --seed 7
    python -m benchmarks.fuzz_python --controls                   the power: controls should differ

Each program (grammar: `tests/support/programs.py`) runs on four inputs; results, exceptions, output, changed
arguments and globals, and a log of calls, operators and attributes are compared. Where a transform changes
what a program does, the smallest such program is shrunk and shown as a diff, and the exit code is 1.
"""

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.registry import ALL, ENTRIES, TRANSFORMS, expand
from tests.support.fuzzing import Tally, fuzz, oracle, shrink

CHUNK = 25


def chunk(numbers: range, *, names: tuple[str, ...], asked: argparse.Namespace) -> dict[str, Tally]:
    """The tallies of some programs; one process with one sandbox."""
    with oracle() as judge:
        transforms = [TRANSFORMS.get(name) for name in names]
        return fuzz(
            judge,
            transforms,
            numbers,
            seed=asked.seed,
            variants=asked.variants,
            size=asked.size,
            lifetimes=asked.lifetimes,
        )


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
    parser.add_argument("--variants", type=int, default=1)
    parser.add_argument("--size", type=int, default=5, help="statements of a function's body, at most")
    parser.add_argument("--lifetimes", action="store_true", help="objects that tell when they are dropped")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    asked = parser.parse_args()
    names = expand(asked.transform.split(","), languages=[PYTHON.name])
    if asked.controls:
        names = tuple(name for name, entry in ENTRIES.items() if entry.kind == "control")
    count = asked.programs if asked.pairs is None else -(-asked.pairs // (len(names) * asked.variants))
    began = time.perf_counter()
    tallies = {name: Tally() for name in names}
    parts = [range(start, min(start + CHUNK, count)) for start in range(0, count, CHUNK)]
    work = partial(chunk, names=names, asked=asked)
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        for found in pool.map(work, parts):
            for name, tally in found.items():
                tallies[name] += tally
    seconds = time.perf_counter() - began
    print(f"{'transform':30} {'pairs':>7} {'applied':>7} {'equal':>7} {'differ':>7} {'unclear':>7}")
    for name, tally in tallies.items():
        numbers = (tally.pairs, tally.applied, tally.equal, len(tally.different), tally.inconclusive.total())
        print(f"{name:30} " + " ".join(f"{number:7}" for number in numbers))
    executed = sum(tally.applied for tally in tallies.values())
    total = sum(tally.pairs for tally in tallies.values())
    print(f"{total} pairs, {executed} of them executed, in {seconds:.1f} s: {total / seconds:.0f} pairs/s")
    reasons = sum((tally.inconclusive for tally in tallies.values()), Counter[str]())
    for reason, number in reasons.most_common():
        print(f"unclear, {reason}: {number}")
    different = [name for name, tally in tallies.items() if tally.different]
    if asked.controls:
        return 0
    with oracle() as judge:
        for name in different:
            print(f"\n{name}\n{shrink(judge, TRANSFORMS.get(name), tallies[name].smallest)}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

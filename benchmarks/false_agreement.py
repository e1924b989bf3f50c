"""Do programs that differ in one observable ever agree in the sandbox, and do equal programs still agree?

    python benchmarks/false_agreement.py                        5,000 different and 1,000 equal pairs
    python benchmarks/false_agreement.py --different 200 --equal 0 --kind output --seed 7 --show

The pairs come from `tests/support/observables.py`, equally many of each kind. The exit code is 1 if two
different programs agree, or two equal ones are reported as different.
"""

import argparse
import sys
import time
from collections import Counter
from random import Random

import checkout  # noqa: F401 - `tests` is found

from codeaudit.transforms.oracle.oracle import Oracle
from tests.support.observables import INPUTS, KINDS, TwoPrograms, different, same


def main() -> int:
    """Run the pairs, and print what came of each kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--different", type=int, default=5_000, help="pairs of different programs")
    parser.add_argument("--equal", type=int, default=1_000, help="pairs of equal programs")
    parser.add_argument("--kind", choices=list(KINDS), help="this kind only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print the programs of each wrong verdict")
    asked = parser.parse_args()
    wrong = 0
    for made, number, bad in ((different, asked.different, "Agreed"), (same, asked.equal, "Differed")):
        if not number:
            continue
        kinds = [asked.kind] if asked.kind else list(KINDS)
        pairs = [
            made(Random(f"{asked.seed} {made.__name__} {place}"), kinds[place % len(kinds)])
            for place in range(number)
        ]
        counted, seconds = _judged(pairs, bad if asked.show else None)
        print(f"{made.__name__}: {number} pairs, {seconds:.0f} s")
        for kind in (*kinds, "all"):
            counts = counted[kind] if kind != "all" else sum(counted.values(), Counter())
            wrong += counts[bad] if kind == "all" else 0
            print(
                f"  {kind:42}"
                + "".join(f"{name} {counts[name]:5}  " for name in ("Agreed", "Differed", "Inconclusive"))
            )
    return 1 if wrong else 0


def _judged(pairs: list[TwoPrograms], shown: str | None) -> tuple[dict[str, Counter[str]], float]:
    """The verdicts of each kind. The programs with the verdict `shown` are printed."""
    counted = {kind: Counter[str]() for kind in KINDS}
    began = time.perf_counter()
    with Oracle() as oracle:
        for pair in pairs:
            verdict = oracle.judge(pair.before, pair.after, function="f", inputs=INPUTS)
            name = type(verdict).__name__
            counted[pair.kind][name] += 1
            if name == shown:
                print(f"── {pair.kind}: {verdict}\n{pair.before}──\n{pair.after}")
    return counted, time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())

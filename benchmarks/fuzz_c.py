"""Every meaning-keeping transform on random functions of C or C++, compiled and run before and after.

    python benchmarks/fuzz_c.py --dialect c --log c.log --pairs 5000     goes on where the log ends
    python benchmarks/fuzz_c.py --dialect c --log c.log --report         what the log shows
    python benchmarks/fuzz_c.py --dialect cpp --transform reorder --pairs 500

The functions are those of `random_programs.py` and `random_programs_cpp.py` in `tests/transforms/c`. Each is
run on twelve inputs, and what it prints is compared. gcc's sanitizers check that no original has undefined
behaviour. A pair is a function and a transform; a variant that does not compile is a difference. With
differences the exit code is 1.
"""

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import checkout  # noqa: F401 - `tests` is found

from codeaudit.transforms.dependence.relations import speaks
from codeaudit.transforms.language import LANGUAGES
from codeaudit.transforms.registry import expand
from tests.support import c_running, cpp_running
from tests.support.c_running import NO_CODE
from tests.support.campaigns import CampaignLog, Chunk, engine
from tests.transforms.c import random_programs, random_programs_cpp
from tests.transforms.c.random_programs import Made
from tests.transforms.c.test_traps import variants

CHUNK: Final = 6
"""Functions that are one program."""
SANITISED: Final = ("-O1", "-fsanitize=undefined,address", "-fno-sanitize-recover=all")
ENDED: Final = "did not end as it should"


class Case(NamedTuple):
    """A function with its variants, and the transforms that made them."""

    made: Made
    texts: Sequence[str]
    names: Sequence[str]


def run_c(cases: Sequence[Case], *flags: str) -> list[list[str]]:
    """What the original and the variants of each case print."""
    rows = [
        c_running.Versions([case.made.unit, *case.texts], case.made.calls, case.made.prelude)
        for case in cases
    ]
    try:
        return c_running.outputs(rows, *flags)
    except (AssertionError, subprocess.TimeoutExpired):
        if len(cases) > 1:
            return [printed for case in cases for printed in run_c([case], *flags)]
        (case,) = cases
        if not case.texts:
            return [[ENDED]]
        alone = [Case(case.made._replace(unit=text), [], []) for text in (case.made.unit, *case.texts)]
        return [[run_c([case], *flags)[0][0] for case in alone]]


def run_cpp(cases: Sequence[Case], *flags: str) -> list[list[str]]:
    """What the original and the variants of each case print."""
    programs = [
        cpp_running.Program(f"{case.made.before}{unit}{case.made.behind}", case.made.calls, case.made.prelude)
        for case in cases
        for unit in (case.made.unit, *case.texts)
    ]
    outputs = iter(cpp_running.outputs(programs, "-std=gnu++17", *flags))
    return [[next(outputs) for _ in range(1 + len(case.texts))] for case in cases]


class Dialect(NamedTuple):
    """How functions of a language are made and run."""

    made: Callable[[int], Made]
    run: Callable[..., list[list[str]]]


DIALECTS: Final = {
    "c": Dialect(random_programs.made, run_c),
    "cpp": Dialect(random_programs_cpp.made, run_cpp),
}


def worked(first: int, dialect: str, names: Sequence[str], seeds: int) -> Chunk:
    """One chunk of functions under their transforms."""
    began = time.process_time()
    tools = DIALECTS[dialect]
    tallies: dict[str, Counter[str]] = {name: Counter() for name in names}
    different: list[str] = []
    cases: list[Case] = []
    for seed in range(first, first + CHUNK):
        made = tools.made(seed)
        whole = made.file(made.unit)
        texts, by = [], []
        for name in names:
            applied = sorted(variants(name, made.unit, whole, range(seed, seed + seeds), dialect))
            tallies[name]["pairs"] += 1
            tallies[name]["applied"] += len(applied)
            texts += applied
            by += [name] * len(applied)
        cases.append(Case(made, texts, by))
    clean = tools.run([case._replace(texts=[], names=[]) for case in cases], *SANITISED)
    for case, row, (plain,) in zip(cases, tools.run(cases, "-O0"), clean, strict=True):
        before, *after = row
        if before != plain or plain in ("", NO_CODE, ENDED):
            different.append(f"the original is wrong: {plain[:300]}\n{case.made.unit}")
            continue
        for name, text, printed in zip(case.names, case.texts, after, strict=True):
            tallies[name]["equal" if printed == before else "different"] += 1
            if printed != before:
                different.append(f"{name}\n{case.made.unit}\n----\n{text}\n{printed[:300]}\n{before[:300]}")
    return Chunk(
        campaign=dialect,
        engine=engine("c"),
        seed=0,
        first=first,
        programs=CHUNK,
        seconds=round(time.process_time() - began, 2),
        tallies={name: dict(tally) for name, tally in tallies.items()},
        different=different,
    )


def main() -> int:
    """Run a part of the campaign, or tell what its log shows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--dialect", choices=sorted(DIALECTS), default="c")
    parser.add_argument("--log", type=Path, help="keeps the campaign; it goes on where this ends")
    parser.add_argument("--report", action="store_true", help="only tell what the log shows")
    parser.add_argument("--pairs", type=int, default=1000, help="variants to run (default: 1000)")
    parser.add_argument("--transform", default="", help="names or families, with commas between")
    parser.add_argument("--variants", type=int, default=1, help="seeds of each transform")
    parser.add_argument("--first", type=int, help="the number of the first function")
    asked = parser.parse_args()
    language = LANGUAGES.get(asked.dialect)
    preserving = [name for name, entry in language.transforms.items() if entry.kind == "preserving"]
    preserving += ["disjoint/reorder"] if speaks("disjoint", asked.dialect) else []
    names = (
        list(expand(asked.transform.split(","), languages=[asked.dialect])) if asked.transform else preserving
    )
    log = CampaignLog(asked.log, asked.dialect) if asked.log else None
    if asked.report:
        if log is None:
            parser.error("--report needs --log")
        print("\n".join(log.report(engine("c"), names).lines()))
        return 0
    first = asked.first
    if first is None:
        first = 0 if log is None else log.next_program(0)
    pairs = wrong = 0
    while pairs < asked.pairs:
        chunk = worked(first, asked.dialect, names, asked.variants)
        if log is not None:
            log.append(chunk)
        pairs += chunk.total("applied")
        wrong += len(chunk.different)
        print(f"{first:6} applied {pairs} different {wrong} seconds {chunk.seconds}", flush=True)
        for difference in chunk.different:
            print(f"\n{difference}", flush=True)
        first += CHUNK
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

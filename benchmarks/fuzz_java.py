"""Every meaning-keeping transform on random Java programs, compiled and run before and after.

    python benchmarks/fuzz_java.py --log java.log --programs 500 --jobs 2     goes on where the log ends
    python benchmarks/fuzz_java.py --log java.log --report                    what the log shows
    python benchmarks/fuzz_java.py --transform reorder --programs 100         without a log
    python benchmarks/fuzz_java.py --power                                    does it find known bugs?

Each program (grammar: `tests/support/java_grammar.py`) has eight methods. Each is run on five inputs;
results, exceptions, a log of calls and callbacks, fields, arrays and statics are compared. Each program meets
`reorder` and a drawn dozen of the other transforms. A pair is a method and a transform; a variant that does
not compile is a difference. With differences the exit code is 1. The newest JDK of the machine is used,
because newer releases have more constructs.

`--power` brings back known causes of wrong edits, one at a time, and tells after how many pairs each is
found.
"""

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from typing import Any, Final

import checkout  # noqa: F401 - `tests` is found

from codeaudit.transforms.dependence.effects import Guard, conflicts
from codeaudit.transforms.java import files
from codeaudit.transforms.java.analysis import facts, library, program
from codeaudit.transforms.java.language import JAVA
from codeaudit.transforms.registry import expand, transform_for
from codeaudit.transforms.seeding import stream
from codeaudit.transforms.syntax import program as blocks
from tests.support import java_fuzzing
from tests.support.campaigns import COUNTED, CampaignLog, Chunk, campaign_parser, engine
from tests.support.java_fuzzing import JavaDifference, JavaTally, fuzz_java, shrink_java, total
from tests.support.java_judge import JavaJudge, jdks

CHUNK: Final = 10
"""Programs that one request compiles."""
DOZEN: Final = 12
"""How many transforms beside `reorder` a program meets."""
LIMIT: Final = 20_000
"""Pairs within which a known cause has to be found."""
MOST_SHOWN: Final = 20


def drawn(names: tuple[str, ...], seed: int, first: int) -> tuple[str, ...]:
    """The transforms that the programs of one chunk meet: all, if there are few."""
    if len(names) <= DOZEN + 1:
        return names
    others = [name for name in names if name != "reorder"]
    return ("reorder", *sorted(stream(seed, "java transforms", first).sample(others, DOZEN)))


def worked(
    first: int, judge: JavaJudge, names: tuple[str, ...], asked: argparse.Namespace, release: int
) -> tuple[Chunk, dict[str, JavaTally]]:
    """The programs of one chunk under their transforms."""
    began = time.process_time()
    chosen = [transform_for(name, "java") for name in drawn(names, asked.seed, first)]
    numbers = range(first, first + CHUNK)
    tallies, broken = fuzz_java(
        judge, chosen, numbers, seed=asked.seed, release=release, variants=asked.variants
    )
    if broken:
        print(f"programs {first} to {first + CHUNK - 1}: {broken} do not compile themselves", file=sys.stderr)
    different = [str(difference) for tally in tallies.values() for difference in tally.different]
    counts = {name: tally.counts() for name, tally in tallies.items()}
    chunk = Chunk(
        campaign="java", engine=engine("java"), seed=asked.seed, first=first, programs=CHUNK,
        seconds=round(time.process_time() - began, 2), tallies=counts, different=different[:MOST_SHOWN],
    )  # fmt: skip
    return chunk, tallies


def share(
    starts: list[int], names: tuple[str, ...], asked: argparse.Namespace, release: int
) -> list[JavaDifference]:
    """The chunks of one process, with one Java machine."""
    differences: list[JavaDifference] = []
    with JavaJudge(release, jdks()[release]) as judge:
        for first in starts:
            chunk, tallies = worked(first, judge, names, asked, release)
            if asked.log:
                CampaignLog(asked.log, "java").append(chunk)
            sums = total(tallies)
            print(f"{first:6} " + " ".join(f"{what} {sums[what]}" for what in COUNTED), flush=True)
            new = [difference for tally in tallies.values() for difference in tally.different]
            for difference in new:
                print(f"\n{difference}", flush=True)
            differences += new
        smallest: dict[str, JavaDifference] = {}
        for difference in sorted(differences, key=lambda difference: len(difference.original)):
            smallest.setdefault(difference.transform, difference)
        if asked.shrink:
            for difference in smallest.values():
                smaller = shrink_java(judge, transform_for(difference.transform, "java"), difference)
                print(f"\nshrunk\n{smaller}", flush=True)
    return differences


# ── power: causes that were once in the engine ───────────────────────────────────────────────────────────


def _reassigned_is_never_null() -> None:
    """Pattern and catch variables count as never null even when something else is assigned."""
    sure = facts.Facts._sure
    begins = facts._begins_with_object
    facts.Facts._sure = lambda self, binding: begins(binding) or sure(self, binding)  # type: ignore[method-assign]


def _components_are_never_null() -> None:
    """Components of record patterns count as never null."""
    begins = facts._begins_with_object
    facts._begins_with_object = lambda binding: binding.view == "pattern" or begins(binding)


def _calm(methods: library.Methods, name: str) -> None:
    """The overloads with three parameters count as raising nothing."""
    assert isinstance(methods, dict)
    assert any(method.raises for method in methods[name] if len(method.parameters) == 3)
    methods[name] = tuple(
        method._replace(raises=False) if len(method.parameters) == 3 else method for method in methods[name]
    )


def _imports_are_lines() -> None:
    """Imports are read by an expression that is anchored at the beginnings of lines."""
    import re

    pattern = re.compile(r"^import\s+(?:static\s+)?([\w.]+)\.(\w+);", re.MULTILINE)
    imports = files._imports

    def read(reading: Any) -> Any:
        single: dict[str, frozenset[str]] = {}
        for match in pattern.finditer(reading.source.decode()):
            single[match[2]] = single.get(match[2], frozenset()) | {match[1]}
        # What is imported on demand is read as ever: the cause concerns single types.
        return imports(reading)._replace(single=single, modules=True)

    files._imports = read


def _tables_sort_nothing() -> None:
    """Hash tables are taken to call no `compareTo` of what they hold."""
    facts.Facts.sorts_alone = lambda self, binding: True  # type: ignore[method-assign]


def _enums_are_initialised() -> None:
    """A `switch` on an enum is taken to initialise nothing."""
    program.JavaProgramBuilder.initialises = staticmethod(lambda labels: False)  # type: ignore[method-assign]


def _nothing_is_inherited() -> None:
    """Names that a superclass of another package gives another meaning are taken for the JDK's."""
    java_fuzzing.INHERITED_NAMES = frozenset()


def _tests_always_exclude() -> None:
    """Two tests of one variable are taken never to pass together."""
    Guard.excludes = lambda self, other: self.variable == other.variable  # type: ignore[method-assign]


def _guards_are_steady() -> None:
    """Branches are taken not to assign the variable that both test."""

    def steady(effects: Any, *, guards: Any = (), **named: Any) -> Any:
        renamed = [guard and replace(guard, variable=f"?{guard.variable}") for guard in guards]
        return conflicts(effects, guards=renamed, **named)

    names = vars(blocks)
    assert names["conflicts"] is conflicts
    names["conflicts"] = steady


CAUSES: Final[Mapping[str, Callable[[], None]]] = {
    "reassigned pattern and catch variables": _reassigned_is_never_null,
    "components of record patterns": _components_are_never_null,
    "append(CharSequence, int, int)": lambda: _calm(library.CONTENTS["StringBuilder"].changes, "append"),
    "indexOf(ch, from, to)": lambda: _calm(library.STRING, "indexOf"),
    "imports read by line": _imports_are_lines,
    "hash tables that sort their keys": _tables_sort_nothing,
    "enums that a switch initialises": _enums_are_initialised,
    "inherited names of types": _nothing_is_inherited,
    "tests that pass together": _tests_always_exclude,
    "branches that assign what they test": _guards_are_steady,
}


def found_after(cause: str, asked: argparse.Namespace, release: int) -> tuple[str, int, str]:
    """How many pairs it takes until a program differs with this cause in the engine; -1 for none."""
    CAUSES[cause]()
    names = expand(asked.transform.split(","), languages=[JAVA.name])
    pairs = 0
    first = 0
    with JavaJudge(release, jdks()[release]) as judge:
        while pairs < LIMIT:
            _, tallies = worked(first, judge, names, asked, release)
            pairs += total(tallies)["applied"]
            for tally in tallies.values():
                if tally.different:
                    return cause, pairs, str(tally.different[0])
            first += CHUNK
    return cause, -1, ""


def power(asked: argparse.Namespace, release: int) -> int:
    """Bring each cause back in a process of its own."""
    missed = 0
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        causes = [cause for cause in CAUSES if asked.cause in cause]
        for cause, pairs, shown in pool.map(partial(found_after, asked=asked, release=release), causes):
            print(f"{cause}: " + (f"found after {pairs:,} pairs" if pairs >= 0 else "NOT FOUND"), flush=True)
            print(shown, flush=True)
            missed += pairs < 0
    return 1 if missed else 0


def main() -> int:
    """Run a part of the campaign, or tell what its log shows."""
    parser = campaign_parser(__doc__)
    parser.add_argument("--variants", type=int, default=1)
    parser.add_argument("--release", type=int, help="the release of the JDK (default: the newest)")
    parser.add_argument("--shrink", action="store_true", help="show a smaller program for each transform")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    asked = parser.parse_args()
    names = expand(asked.transform.split(","), languages=[JAVA.name])
    if asked.report:
        if not asked.log:
            parser.error("--report needs --log")
        print("\n".join(CampaignLog(asked.log, "java").report(engine("java"), names).lines()))
        return 0
    installed = jdks()
    if not installed:
        parser.error("there is no JDK on this machine")
    release = asked.release or max(installed)
    if asked.power:
        return power(asked, release)
    first = asked.first
    if first is None:
        first = CampaignLog(asked.log, "java").next_program(asked.seed) if asked.log else 0
    starts = list(range(first, first + asked.programs, CHUNK))
    shares = [starts[number :: asked.jobs] for number in range(asked.jobs)]
    work = partial(share, names=names, asked=asked, release=release)
    began = time.perf_counter()
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        different = sum(len(differences) for differences in pool.map(work, shares))
    print(f"{len(starts) * CHUNK} programs in {time.perf_counter() - began:.0f} s, {different} pairs differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

"""Measures what the variants of a suite cost, as a multiple of parsing the same functions once.

    python benchmarks/suite_speed.py
    python benchmarks/suite_speed.py python_functions.jsonl.gz --limit 2000
    python benchmarks/suite_speed.py --facts FOLDER
    python benchmarks/suite_speed.py java_methods.jsonl.gz --limit 1000
    python benchmarks/suite_speed.py bhive_blocks.csv.gz --limit 1000 --transform rename

Each corpus is read in random order. Functions of two languages differ in size, so the statements in a second
are told, too. The functions of Python are rewritten twice: each alone, and each with
the file around it, as far as the corpus knows the file. One `ast.parse` of every function is the unit. Rounds
of both alternate in one process, in CPU time; the median round counts. Nothing is kept between rounds but
what a run keeps between its samples. The round before them, in which no file is known yet, is told apart;
with --facts it finds what an earlier call wrote down of the files, as a run does in the user's cache.
"""

import argparse
import ast
import random
import statistics
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from codeaudit.audit.corpora.records import CorpusResources
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.engines.collector import collect_rarely
from codeaudit.audit.suite import SuitePlan, case
from codeaudit.transforms.language import find_language
from codeaudit.transforms.records import Perturbed, Sample
from codeaudit.transforms.registration import load_target
from codeaudit.transforms.remembering import remembering


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpora", nargs="*", default=["stdlib"], metavar="CORPUS")
    parser.add_argument("--limit", type=int, default=400, help="functions of each corpus (default: 400)")
    parser.add_argument("--transform", default="reorder,rename")
    parser.add_argument("--variants", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--facts", type=Path, help="folder with what earlier calls found of files")
    chosen = parser.parse_args()
    collect_rarely()
    plan = SuitePlan(transforms=tuple(chosen.transform.split(",")), variants=chosen.variants, seed=0)
    for spec in chosen.corpora:
        drawn = list(corpus(spec, None, CorpusResources(cache=None, note=print)).read(Counter()))
        random.Random(0).shuffle(drawn)
        samples = drawn[: chosen.limit]
        alone = [replace(sample, context="") for sample in samples]
        python = samples[0].language == "python"
        kinds = {"alone": alone, **({"with its file": samples} if samples != alone or python else {})}
        if not any(sample.context for sample in samples):
            kinds.pop("with its file", None)
        for kind, those in kinds.items():
            with remembering(chosen.facts):
                cost = measured(those, plan, chosen.rounds, python=python)
            print(f"{spec}, {kind}: {cost}", flush=True)


def measured(samples: Sequence[Sample], plan: SuitePlan, rounds: int, *, python: bool) -> str:
    """What the suite of these samples costs, in words."""
    language = find_language(samples[0].language)
    count = load_target(language.statements) if language and language.statements else None
    statements = sum(count(sample.source) or 0 for sample in samples) if count else 0
    start = time.process_time()
    changed = sum(
        isinstance(outcome, Perturbed) for sample in samples for outcome in case(sample, plan).outcomes
    )
    first = (time.process_time() - start) / len(samples)
    costs, units = [], []
    for number in range(rounds):
        # Another order in each round: files come back as rarely as in a run.
        shuffled = random.Random(number).sample(samples, len(samples))
        units.append(spent(lambda: parsed(samples)) if python else 0.0)
        costs.append(spent(lambda: [case(sample, plan) for sample in shuffled]))  # noqa: B023
    cost = statistics.median(costs) / len(samples)
    text = f"{cost * 1000:.2f} ms a sample ({first * 1000:.2f} at first), {1 / cost:.0f} samples/s"
    text += f", {changed} variants"
    if statements:
        text += f", {statements / len(samples) / cost:.0f} statements/s"
    if not python:
        return text
    ratio = statistics.median(ours / unit for ours, unit in zip(costs, units, strict=True))
    return f"{text}, {ratio:.1f} times one ast.parse of {len(samples)} functions"


def parsed(samples: Sequence[Sample]) -> None:
    """Parse every function once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in samples:
            ast.parse(sample.source)


def spent(work: Callable[[], object]) -> float:
    """The seconds of CPU time that a call takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()

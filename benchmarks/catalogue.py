"""How often does each transform apply, why not, and how fast is it?

    python benchmarks/catalogue.py [CORPUS ...] [--transform all] [--limit 2000] [--variants 4] [--seed 0]
        [--dependence strict]
    python benchmarks/catalogue.py CORPUS ... --transform mixed/order,mixed/order+assumed --draw --variants 1

CORPUS is what `codeaudit run --corpus` takes (default `stdlib`); give several to compare packages. For each
transform: the functions that it rewrote, of those that hold what it rewrites (for `reorder` a block of two
statements, for `rename` a local), distinct variants, processor time per function for all variants on one
core, and the reasons for the rest. `--reasons` shows them all. The first functions of a corpus are taken, or
with `--draw` random ones.
"""

import argparse
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import islice

from codeaudit.audit.corpora.specs import corpus
from codeaudit.transforms.dependence.relations import DEPENDENCES
from codeaudit.transforms.errors import CodeauditError
from codeaudit.transforms.interface import Transform, uses_relation
from codeaudit.transforms.perturb import EXHAUSTED, perturb_one
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.records import Perturbed, Sample
from codeaudit.transforms.registry import TRANSFORMS, entry_of, expand
from codeaudit.transforms.seeding import stream


@dataclass(kw_only=True)
class Tally:
    """The outcomes of one transform on one corpus."""

    rewritten: int = 0
    variants: int = 0
    seconds: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, sample: Sample, transform: Transform, variants: int, seed: int) -> None:
        """Count one function."""
        begin = time.process_time()
        outcomes = list(perturb_one(sample, transform, variants=variants, seed=seed))
        self.seconds += time.process_time() - begin
        made = [outcome.source for outcome in outcomes if isinstance(outcome, Perturbed)]
        assert len(set(made)) == len(made)
        self.variants += len(made)
        self.rewritten += bool(made)
        if not made:
            self.reasons.update(
                {outcome.reason for outcome in outcomes if not isinstance(outcome, Perturbed)} - {EXHAUSTED}
            )

    @property
    def nothing(self) -> int:
        """Functions that hold nothing that the transform rewrites."""
        return sum(count for reason, count in self.reasons.items() if reason.startswith("no "))


def main() -> int:
    """Measure and print."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("corpus", nargs="*", default=["stdlib"])
    parser.add_argument("--transform", default="all", help="names or families, separated by commas")
    parser.add_argument("--limit", type=int, default=2000, help="functions of each corpus, 0 for all")
    parser.add_argument("--variants", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dependence", choices=DEPENDENCES, default="strict")
    parser.add_argument("--reasons", action="store_true")
    parser.add_argument("--draw", action="store_true", help="random functions, not the first ones")
    asked = parser.parse_args()
    try:
        names = expand(asked.transform.split(","), languages=[PYTHON.name])
        for spec in asked.corpus:
            measure(spec, names, asked)
    except CodeauditError as error:
        parser.error(str(error))
    return 0


def measure(spec: str, names: tuple[str, ...], asked: argparse.Namespace) -> None:
    """One corpus under all transforms, function by function: nothing is held in memory."""
    tallies = {name: Tally() for name in names}
    transforms = {name: TRANSFORMS.get(name) for name in names}
    for name, transform in transforms.items():
        if uses_relation(transform):
            transforms[name] = transform.under(asked.dependence)
    functions = 0
    samples: Iterable[Sample] = corpus(spec).read(Counter())
    if asked.draw and asked.limit:
        ranked = ((stream(asked.seed, sample.id).random(), sample.id, sample) for sample in samples)
        samples = [sample for *_, sample in nsmallest(asked.limit, ranked, key=lambda entry: entry[:2])]
    for sample in islice(samples, asked.limit or None):
        functions += 1
        for name, tally in tallies.items():
            tally.add(sample, transforms[name], asked.variants, asked.seed)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    spent = sum(tally.seconds for tally in tallies.values())
    print(f"\n{spec}: {functions:,} functions, {asked.variants} variants; peak {memory:.0f} MB")
    print(f"all of it {functions / spent:,.0f} functions a second\n")
    heads = ("rewritten", "of all", "of those that have it", "variants", "ms")
    print(f"{'transform':28} {heads[0]:>9} {heads[1]:>7} {heads[2]:>22} {heads[3]:>9} {heads[4]:>6}")
    for name, tally in tallies.items():
        able = functions - tally.nothing
        share = f"{tally.rewritten / able:.1%} of {able:,}" if able else "–"
        print(
            f"{name:28} {tally.rewritten:9,} {tally.rewritten / functions:7.1%} {share:>22} "
            f"{tally.variants:9,} {1000 * tally.seconds / functions:6.2f}"
        )
        if asked.reasons or len(names) <= 2:
            for reason, count in tally.reasons.most_common():
                print(f"    {count:7,}  {reason}")
    families = Counter(entry_of(name).family for name in names)
    print(
        f"\n{len(names)} transforms: {', '.join(f'{count} {family}' for family, count in families.items())}"
    )


if __name__ == "__main__":
    sys.exit(main())

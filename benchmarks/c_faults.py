"""Seeded faults in C that a sanitizer reports, as a table in the columns of PrimeVul.

    python benchmarks/c_faults.py OUT.jsonl PROJECT=FOLDER[:SIZE] ... [--seed N]

Of each project so many functions are tried (1,000 without SIZE), each with at most six edits. Every edit
counts that a sanitizer reports: two rows, the function with the fault (target 1) and without it (target 0),
one behind the other. Prints how many there are by the kind of the edit and by the report, and why other
functions have none. Headers are found beside a file and in the folders of -I of a compile_flags.txt.
"""

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from codeaudit.audit.corpora.bugs import drafts
from codeaudit.audit.corpora.c_faults import Sanitizers
from codeaudit.audit.corpora.c_harness import with_headers
from codeaudit.audit.corpora.records import CorpusResources
from codeaudit.audit.corpora.selection import rank_of
from codeaudit.audit.corpora.specs import corpus
from codeaudit.transforms.oracle.oracle import Agreed, Differed, Inconclusive
from codeaudit.transforms.records import Sample

EDITS: Final = 6
"""The most edits of a function."""
PLACES: Final = 2
"""Of one kind."""


def faults(
    judges: Sanitizers, sample: Sample, seed: int, reasons: Counter[str]
) -> Iterator[tuple[str, str, str]]:
    """Each fault of a function: its text, its kind, and the report. Counts why there is none."""
    texts = {draft.source: draft.transform for draft in drafts(replace(sample, context=""), seed, PLACES)}
    texts.pop(sample.source, None)
    if not texts:
        reasons["no edit fits"] += 1
        return
    chosen = list(islice(texts, EDITS))
    around = with_headers(sample.context, sample.file)
    verdicts = judges.judge_all(sample.source, chosen, setup=around, seed=seed)
    own = [
        (text, verdict)
        for text, verdict in zip(chosen, verdicts, strict=True)
        if isinstance(verdict, Differed) and verdict.report
    ]
    for text, verdict in own:
        yield text, texts[text], verdict.report
    if not own:
        first = verdicts[0]
        alike = isinstance(first, Inconclusive) and not first.of_variant
        is_other = any(isinstance(verdict, Differed) for verdict in verdicts)
        is_same = any(isinstance(verdict, Agreed) for verdict in verdicts)
        none = "only another result" if is_other else "no edit shows" if is_same else "no edit is decided"
        reasons[first.reason if alike and isinstance(first, Inconclusive) else none] += 1


def main() -> int:
    """Write the table and print the counts."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("out", type=Path, metavar="OUT.jsonl")
    parser.add_argument("projects", nargs="+", metavar="PROJECT=FOLDER[:SIZE]")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    total: Counter[str] = Counter()
    with asked.out.open("w", encoding="utf-8") as file, Sanitizers() as judges:
        for argument in asked.projects:
            project, _, place = argument.partition("=")
            folder, _, size = place.partition(":")
            read = corpus(folder, None, CorpusResources()).read(Counter())
            samples = {sample.id: sample for sample in read if sample.language == "c"}
            order = sorted(samples, key=lambda each: rank_of(asked.seed, each))[: int(size or 1000)]
            own: Counter[str] = Counter()
            reasons: Counter[str] = Counter()
            for sample in map(samples.__getitem__, order):
                made = list(faults(judges, sample, asked.seed, reasons))
                reasons["with a fault"] += bool(made)
                for source, maker, report in made:
                    own[f"edit: {maker}"] += 1
                    own[f"report: {report}"] += 1
                    change = hashlib.sha256(source.encode()).hexdigest()[:16]
                    shared = {"project": project, "commit_id": change, "file_name": sample.origin.path}
                    cwe = report.partition("(")[2].rstrip(")")
                    for text, target in ((source, 1), (sample.source, 0)):
                        row = {
                            **shared,
                            "target": target,
                            "func": text,
                            "cwe": [cwe] if cwe and target else [],
                        }
                        file.write(json.dumps(row) + "\n")
                file.flush()
            print(f"\n## {project}: {len(order)} functions, {sum(own.values()) // 2} faults", flush=True)
            for counts in (own, reasons):
                for name, count in counts.most_common():
                    print(f"{count:6,} {name}", flush=True)
            total.update(own)
    print(f"\n## all: {sum(total.values()) // 2} faults")
    for name, count in total.most_common():
        print(f"{count:6,} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

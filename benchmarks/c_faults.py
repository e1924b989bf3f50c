"""Seeded faults in C that a sanitizer reports, as a table in the columns of PrimeVul.

    python benchmarks/c_faults.py OUT.jsonl PROJECT=FOLDER[:SIZE] ... [--seed N] [--other-bugs]

Of each project so many functions are tried (1,000 without SIZE). Each fault is two rows, the function with
the fault (target 1) and without it (target 0), one behind the other. With `--other-bugs` faults count that
only change a result, too. Prints how many there are by the kind of the edit and by the report, and why other
functions have none. A file finds its headers only if they stand in it.
"""

import argparse
import hashlib
import json
import sys
from collections import Counter
from pathlib import Path

from codeaudit.audit.corpora.bugs import seeded_bugs
from codeaudit.audit.corpora.records import CorpusResources


def main() -> int:
    """Write the table and print the counts."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("out", type=Path, metavar="OUT.jsonl")
    parser.add_argument("projects", nargs="+", metavar="PROJECT=FOLDER[:SIZE]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--other-bugs", action="store_true", help="also faults that only change a result")
    asked = parser.parse_args()
    total: Counter[str] = Counter()
    with asked.out.open("w", encoding="utf-8") as file:
        for one in asked.projects:
            project, _, place = one.partition("=")
            folder, _, size = place.partition(":")
            own: Counter[str] = Counter()
            left_out: Counter[str] = Counter()
            options = f"{size or 1000}:seed{asked.seed}:{folder}"
            rest = options if asked.other_bugs else f"reported:{options}"
            corpus = seeded_bugs(
                f"bugs:{rest}", rest, CorpusResources(note=lambda text: print(text, file=sys.stderr))
            )
            for sample, found in corpus.pairs(left_out):
                own[f"edit: {found.maker}"] += 1
                own[f"report: {found.report or 'another result'}"] += 1
                change = hashlib.sha256(found.source.encode()).hexdigest()[:16]
                shared = {"project": project, "commit_id": change, "file_name": sample.origin.path}
                cwe = found.report.partition("(")[2].rstrip(")")
                for source, target in ((found.source, 1), (sample.source, 0)):
                    row = {**shared, "target": target, "func": source, "cwe": [cwe] if cwe and target else []}
                    file.write(json.dumps(row) + "\n")
            print(f"\n## {project}: {sum(own.values()) // 2} faults")
            for counts in (own, left_out):
                for name, count in counts.most_common():
                    print(f"{count:6,} {name}")
            total.update(own)
    print(f"\n## all: {sum(total.values()) // 2} faults")
    for name, count in total.most_common():
        print(f"{count:6,} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

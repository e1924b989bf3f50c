"""How many Java methods `reorder` moves under each dependence relation, and why it leaves the others.

    python benchmarks/java_yields.py FOLDER|TABLE.jsonl.gz ... [--limit N]

Of a folder every method of every file counts, and the file around it is known. Of a table the column `source`
counts, without a file. Shares are of the methods with a block of two statements. Time is processor time on
one core.
"""

import argparse
import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

from codeaudit.transforms.dependence.blocks import NO_BLOCK
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.files import places
from codeaudit.transforms.java.order.reorder import REORDER

RELATIONS: tuple[Dependence, ...] = ("strict", "returning")


def methods(place: Path) -> Iterator[tuple[str, str]]:
    """Each method with the text of its file; an empty one for a row of a table."""
    if place.is_file():
        with gzip.open(place, "rt", encoding="utf-8") as rows:
            found = [json.loads(row)["source"] for row in rows]
        Random(0).shuffle(found)
        yield from ((source, "") for source in found)
        return
    for path in sorted(place.rglob("*.java")):
        try:
            text = path.read_text(encoding="utf-8")
            known = places(text)
        except (UnicodeDecodeError, SourceError):
            continue
        data = text.encode()
        yield from ((data[one.start : one.end].decode(), text) for one in known)


def main() -> int:
    """Measure and print."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("place", nargs="+", type=Path, help="folders of sources, or tables of methods")
    parser.add_argument("--limit", type=int, help="methods of each place (default: all)")
    asked = parser.parse_args()
    for place in asked.place:
        if not place.exists():
            parser.error(f"{place} does not exist; give a folder of Java sources or a table")
        for relation in RELATIONS:
            print(f"{place}: {told(place, relation, asked.limit)}", flush=True)
    return 0


def told(place: Path, relation: Dependence, limit: int | None) -> str:
    """One line for a place under a relation."""
    reasons: Counter[str] = Counter()
    every = moved = 0
    seconds = 0.0
    transform = REORDER.under(relation)
    for source, file in islice(methods(place), limit):
        began = time.process_time()
        try:
            found = transform.within(file).propose(source, Random(0))
        except SourceError:
            continue
        finally:
            seconds += time.process_time() - began
        every += 1
        if isinstance(found, Refused):
            reasons[found.reason] += 1
        else:
            moved += 1
    able = every - reasons.pop(NO_BLOCK, 0)
    share = f"{moved:,} of {able:,} ({moved / able:.1%})" if able else "no method with a block"
    why = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common())
    return f"{relation} {share}; {1000 * seconds / max(every, 1):.2f} ms a method; {why}"


if __name__ == "__main__":
    sys.exit(main())

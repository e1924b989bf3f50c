"""How many Java methods `reorder` moves under each dependence relation, and why it leaves the others.

    python benchmarks/java_yields.py FOLDER|TABLE.jsonl.gz ... [--limit N]
    python benchmarks/java_yields.py FOLDER|TABLE.jsonl.gz ... [--limit N] --transforms all

Of a folder every method of every file counts, and the file around it is known. Of a table the column `source`
counts, without a file. Shares are of the methods with a block of two statements. Time is processor time on
one core.

With `--transforms` one variant of each method under each of these transforms of methods is made and checked
instead, and the shares are of all methods.
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
from typing import Any

from codeaudit.transforms.dependence.blocks import NO_BLOCK
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.files import places
from codeaudit.transforms.java.language import JAVA
from codeaudit.transforms.java.order.reorder import REORDER
from codeaudit.transforms.registry import expand, transform_for

RELATIONS: tuple[Dependence, ...] = ("strict", "returning")


def methods(place: Path) -> Iterator[tuple[str, str]]:
    """Each method with the text of its file; an empty one for a row of a table."""
    if place.is_file():
        with gzip.open(place, "rt", encoding="utf-8") as rows:
            sources = [json.loads(row)["source"] for row in rows]
        Random(0).shuffle(sources)
        yield from ((source, "") for source in sources)
        return
    for path in sorted(place.rglob("*.java")):
        try:
            text = path.read_text(encoding="utf-8")
            known = places(text)
        except (UnicodeDecodeError, SourceError):
            continue
        data = text.encode()
        yield from ((data[place.start : place.end].decode(), text) for place in known)


def main() -> int:
    """Measure and print."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("place", nargs="+", type=Path, help="folders of sources, or tables of methods")
    parser.add_argument("--limit", type=int, help="methods of each place (default: all)")
    parser.add_argument("--transforms", help="names or families, with commas between, in place of `reorder`")
    asked = parser.parse_args()
    for place in asked.place:
        if not place.exists():
            parser.error(f"{place} does not exist; give a folder of Java sources or a table")
        if asked.transforms:
            for name in expand(asked.transforms.split(","), languages=[JAVA.name]):
                print(f"{place}: {applied(place, name, asked.limit)}", flush=True)
            continue
        for relation in RELATIONS:
            print(f"{place}: {told(place, relation, asked.limit)}", flush=True)
    return 0


def applied(place: Path, name: str, limit: int | None) -> str:
    """One line for a place under a transform: how many methods it changes, and why not the others."""
    transform: Any = transform_for(name, "java")
    reasons: Counter[str] = Counter()
    every = moved = 0
    seconds = 0.0
    for source, file in islice(methods(place), limit):
        known = transform.within(file) if file and hasattr(transform, "within") else transform
        began = time.process_time()
        try:
            moves = known.propose(source, Random(0))
            variant = moves if isinstance(moves, Refused) else known.apply(source, moves)
        except SourceError as error:
            variant = Refused(str(error))
        finally:
            seconds += time.process_time() - began
        every += 1
        moved += not isinstance(variant, Refused)
        if isinstance(variant, Refused):
            reasons[variant.reason] += 1
    why = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common(6))
    return f"{name} {moved:,} of {every:,}; {1000 * seconds / max(every, 1):.2f} ms a method; {why}"


def told(place: Path, relation: Dependence, limit: int | None) -> str:
    """One line for a place under a relation."""
    reasons: Counter[str] = Counter()
    every = moved = 0
    seconds = 0.0
    transform = REORDER.under(relation)
    for source, file in islice(methods(place), limit):
        began = time.process_time()
        try:
            moves = transform.within(file).propose(source, Random(0))
        except SourceError:
            continue
        finally:
            seconds += time.process_time() - began
        every += 1
        if isinstance(moves, Refused):
            reasons[moves.reason] += 1
        else:
            moved += 1
    able = every - reasons.pop(NO_BLOCK, 0)
    share = f"{moved:,} of {able:,} ({moved / able:.1%})" if able else "no method with a block"
    why = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common())
    return f"{relation} {share}; {1000 * seconds / max(every, 1):.2f} ms a method; {why}"


if __name__ == "__main__":
    sys.exit(main())

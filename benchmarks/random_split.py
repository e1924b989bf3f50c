"""Split a table of functions at random, instead of by package.

    python benchmarks/random_split.py python_functions.jsonl.gz mixed.jsonl.gz
    codeaudit train spe --corpus mixed.jsonl.gz:train --valid mixed.jsonl.gz:valid --test mixed.jsonl.gz:test

The SPE paper splits its Java methods at random; for Python it takes the split that comes with Python150k.
Here functions of one package, and of one file, stand on both sides. A hash of the source decides, so equal
functions are on one side, and no seed is involved. The shares are those of the split by package that the
bundled checkpoints were trained with: 9 % for validation, 13 % for the test.
"""

import argparse
import hashlib
from collections import Counter
from pathlib import Path

import sample_tables

VALID, TEST = 0.0934, 0.1335
"""Shares."""


def side(source: str) -> str:
    """The split of a function."""
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    return "valid" if place < VALID else "test" if place < VALID + TEST else "train"


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    rows = [row | {"split": side(row["source"])} for row in sample_tables.read(asked.table)]
    sample_tables.write(asked.out, rows)
    counts = Counter(row["split"] for row in rows)
    print(", ".join(f"{name} {count:,}" for name, count in sorted(counts.items())))


if __name__ == "__main__":
    main()

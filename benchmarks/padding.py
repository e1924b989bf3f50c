"""How much of the batches of a training is padding? They hold examples of similar length.

    python benchmarks/padding.py FOLDER

FOLDER has the tables python_functions and java_methods of `codeaudit papers show`. Examples of
their training split are read as bundled networks read them, and batched as the trainer does. Decoders have no
row: their windows are full.
"""

import argparse
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.papers.registry import load
from codeaudit.audit.records import Failed, Query
from codeaudit.audit.training.trainer import Integers, bucketed

READ: Final = (
    ("SPE, SYMC, vanilla", "spe-checkpoint", "python_functions.jsonl.gz"),
    ("the same, Java", "spe-java-checkpoint", "java_methods.jsonl.gz"),
    ("tree", "tree-checkpoint", "python_functions.jsonl.gz"),
)
"""Networks, the checkpoint that reads as they do, and their table."""
SIZES: Final = (16, 32, 64, 128, 256)


def main() -> None:
    """Print the share of padding by network and size of the batch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=12_000, help="examples of each table")
    asked = parser.parse_args()
    print(f"| | examples | {' | '.join(f'batch {size}' for size in SIZES)} |")
    print("|---|---:|" + "---:|" * len(SIZES))
    for name, model, table in READ:
        lengths = lengths_of(model, f"{asked.folder / table}:train", asked.limit)
        shares = " | ".join(f"{100 * padded(lengths, size):.1f} %" for size in SIZES)
        print(f"| {name} | {len(lengths):,} | {shares} |", flush=True)


def lengths_of(name: str, spec: str, most: int) -> Integers:
    """The lengths of examples as a checkpoint reads them, without those that it cannot read."""
    model: Any = load(name, device="cpu", precision=None)
    samples = islice(corpus(spec).read(Counter()), most)
    read = (
        model.read(Query(task=model.task, language=sample.language, source=sample.source))
        for sample in samples
    )
    return np.array(
        [model.size(encoded) for encoded in read if not isinstance(encoded, Failed)], dtype=np.int64
    )


def padded(lengths: Integers, size: int) -> float:
    """The share of padding in the batches of one epoch."""
    batches = bucketed(lengths, size, np.random.default_rng(0))
    return 1 - int(lengths.sum()) / sum(len(batch) * int(lengths[batch].max()) for batch in batches)


if __name__ == "__main__":
    main()

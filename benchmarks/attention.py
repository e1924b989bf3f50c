"""How long do networks take by input length, and how far does floating-point noise move their logits?

    python -m benchmarks.attention                      milliseconds per function, one thread
    python -m benchmarks.attention --noise CHECKPOINT…  largest logit differences by precision

The noise is measured on functions of the standard library: each is asked alone, and padded in a batch.
Equivariant networks are also asked after a legal reordering of the lines: exact arithmetic would give equal
logits.
"""

import argparse
import time
from dataclasses import replace
from random import Random

import numpy as np
import torch

from codeaudit.audit.papers.checkpoint import PRECISIONS
from codeaudit.audit.papers.lines.encoding import EncodedLines
from codeaudit.audit.papers.lines.trunk import LineShape, collate
from codeaudit.audit.papers.spe_attention.model import LineModel
from codeaudit.audit.papers.spe_attention.networks import NETWORKS, build
from codeaudit.transforms.python.analysis.program import analyse
from tests.support import stdlib

LENGTHS = (64, 128, 256, 512)
TOKENS_A_LINE = 8
REPEATS = 7


def made_up(tokens: int, planes: int) -> EncodedLines:
    """An input of a given length with a random relation of the density that real functions have."""
    rng = np.random.default_rng(tokens)
    lines = tokens // TOKENS_A_LINE
    return EncodedLines(
        ids=rng.integers(1, 1000, tokens).astype(np.int32),
        line=np.repeat(np.arange(lines, dtype=np.int32), TOKENS_A_LINE),
        position=np.tile(np.arange(TOKENS_A_LINE, dtype=np.int32), lines),
        relation=(rng.random((planes, lines, lines)) < 0.4).astype(np.uint8),
    )


def timed(name: str, tokens: int) -> float:
    """Milliseconds of one input in one forward pass, the fastest of some."""
    relation = NETWORKS[name].relation
    planes = {"mask": 1, "distances": 2}.get(relation, 0)
    shape = LineShape(vocabulary=1000, labels=100, layers=2, window=max(LENGTHS))
    network = build(name, shape, {}).eval()
    encoded = made_up(tokens, planes)
    if relation == "referents":
        encoded = replace(encoded, referents=encoded.ids % TOKENS_A_LINE)
    batch = collate([encoded])
    best = float("inf")
    with torch.no_grad():
        for _ in range(REPEATS):
            began = time.process_time()
            network(batch)
            best = min(best, time.process_time() - began)
    return best * 1000


def noise(place: str, precision: str, *, count: int = 150) -> float:
    """The largest change of any logit that comes from floating-point noise alone."""
    model = LineModel.load(place, device="cpu", precision=precision)
    programs = [analyse(source) for source in stdlib.sample(count)]
    pairs = [(program, model.encoder.features(program)) for program in programs]
    inputs = [(program, features) for program, features in pairs if isinstance(features, EncodedLines)]
    together = model.logits([features for _, features in inputs]).double()
    worst = 0.0
    for number, (program, features) in enumerate(inputs):
        variants = [features]
        if NETWORKS[model.config.network].relation in ("mask", "distances"):
            variants.append(features.permuted(program.sample_lines(Random(number))))
        for variant in variants:
            moved = model.logits([variant])[0].double() - together[number]
            worst = max(worst, float(moved.abs().max()))
    return worst


def main() -> None:
    """Print one of the two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--noise", nargs="+", metavar="CHECKPOINT", help="folders or bundled names")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    if asked.noise:
        for place in asked.noise:
            found = ", ".join(f"{precision} {noise(place, precision):.1e}" for precision in PRECISIONS)
            print(f"{place}: {found}")
        return
    print("tokens  " + "  ".join(f"{name:>8}" for name in NETWORKS))
    for tokens in LENGTHS:
        print(f"{tokens:6}  " + "  ".join(f"{timed(name, tokens):8.2f}" for name in NETWORKS))


if __name__ == "__main__":
    main()

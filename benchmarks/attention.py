"""How long networks take beside dense attention, and how far floating-point noise moves their logits.

    python benchmarks/attention.py                      time, as ratios, and memory by length of the input
    python benchmarks/attention.py --noise CHECKPOINT…  largest logit differences by precision

The ratios are of CPU time on one thread, in one run: a network of width 128 with 3 layers and 4 heads against
the same network whose attention is torch's `scaled_dot_product_attention` without any mask. Memory is what
the process needs at most during a forward pass beyond what it had before, in a fresh process (Linux).

The noise is measured on functions of the standard library: each is asked alone, and padded in a batch.
Equivariant networks are also asked after a legal reordering of the lines: exact arithmetic would give equal
logits.
"""

import argparse
import gc
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final

import checkout  # noqa: F401 - `tests` is found
import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from codeaudit.audit.papers.checkpoint import PRECISIONS
from codeaudit.audit.papers.dependency_encoding.networks import build as decoder
from codeaudit.audit.papers.dependency_encoding.trunk import DecoderSizes
from codeaudit.audit.papers.lines.encoding import EncodedLines
from codeaudit.audit.papers.lines.trunk import LineShape, TrunkAttention, TrunkBlock, collate
from codeaudit.audit.papers.spe_attention.model import LineModel
from codeaudit.audit.papers.spe_attention.networks import NETWORKS, build
from codeaudit.transforms.python.analysis.program import analyse
from tests.support import stdlib

LENGTHS: Final = (256, 1024, 2048, 4096)
TOKENS_A_LINE: Final = 8
PLANES: Final[Mapping[str, int]] = {"mask": 1, "distances": 2}
NEWLINE: Final = 3
DENSE: Final = "dense"
DECODER: Final = "decoder"
"""CoDE's decoder; the other names are those of the networks that read lines."""
NAMES: Final = (*NETWORKS, DECODER)
Step = Callable[[], Tensor]


def made_up(tokens: int, planes: int) -> EncodedLines:
    """An input of a given length with a random relation of the density that real functions have."""
    rng = np.random.default_rng(tokens)
    lines = tokens // TOKENS_A_LINE
    relation = (rng.random((planes, lines, lines)) < 0.4).astype(np.uint8)
    relation[:, range(lines), range(lines)] = 1
    return EncodedLines(
        ids=rng.integers(1, 1000, tokens).astype(np.int32),
        line=np.repeat(np.arange(lines, dtype=np.int32), TOKENS_A_LINE),
        position=np.tile(np.arange(TOKENS_A_LINE, dtype=np.int32), lines),
        relation=relation,
    )


class DenseAttention(TrunkAttention):
    """Every token sees every token."""

    def forward(self, x: Tensor, relation: object) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        return self.projections.join(F.scaled_dot_product_attention(*self.projections.split(x)))


def forward(name: str, tokens: int, device: str = "cpu") -> Step:
    """A forward pass of a network for one input."""
    torch.manual_seed(0)
    if name == DECODER:
        sizes = DecoderSizes(
            vocabulary=1000, newline=NEWLINE, start=0, width=128, layers=3, heads=4, inner=512, window=256
        )
        made = decoder("code", sizes, {}).to(device)
        ids = torch.randint(NEWLINE + 1, 1000, (1, tokens), device=device)
        ids[:, TOKENS_A_LINE::TOKENS_A_LINE], ids[:, 0] = NEWLINE, sizes.start
        return lambda: made.hidden(ids)[0]
    kind = "vanilla" if name == DENSE else name
    relation = NETWORKS[kind].relation
    network = build(kind, LineShape(vocabulary=1000, labels=100, window=max(tokens, *LENGTHS)), {})
    if name == DENSE:
        for block in network.trunk.blocks:
            assert isinstance(block, TrunkBlock)
            dense = DenseAttention(128, 4)
            dense.load_state_dict(block.attention.state_dict())
            block.attention = dense
    encoded = made_up(tokens, PLANES.get(relation, 0))
    if relation == "referents":
        encoded = replace(encoded, referents=encoded.ids % TOKENS_A_LINE)
    batch, network = collate([encoded]).to(device), network.to(device)
    return lambda: network(batch)


def seconds(step: Step, *, backward: bool) -> float:
    """CPU time of one forward pass, with its backward pass where asked."""
    began = time.process_time()
    with torch.set_grad_enabled(backward):
        given = step()
        if backward:
            given.sum().backward()  # type: ignore[no-untyped-call]
    return time.process_time() - began


def fastest(tokens: int, *, backward: bool, repeats: int) -> dict[str, float]:
    """The least CPU time of each network; they take turns, so that a busy moment meets them all."""
    steps = {name: forward(name, tokens) for name in (DENSE, *NAMES)}
    best = dict.fromkeys(steps, float("inf"))
    for _ in range(repeats):
        for name, step in steps.items():
            best[name] = min(best[name], seconds(step, backward=backward))
    return best


def megabytes(name: str, tokens: int) -> float:
    """What a forward pass needs beyond what the process had before; measured in another process."""
    command = (sys.executable, __file__, "--memory", name, str(tokens))
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(printed)


def peak(name: str, tokens: int) -> float:
    """As `megabytes`, in this process."""
    with torch.no_grad():
        forward(name, 64)()  # what torch sets up once
        step = forward(name, tokens)
        gc.collect()
        # Resets the peak to the present size.
        Path("/proc/self/clear_refs").write_text("5")
        before = _status("VmRSS")
        step()
    return (_status("VmHWM") - before) / 1024


def _status(field: str) -> int:
    """Kilobytes."""
    match = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert match is not None
    return int(match[1])


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
            alone = model.logits([variant])[0].double()
            moved = alone - together[number, : len(alone)]  # inputs with more words to copy have more logits
            worst = max(worst, float(moved.abs().max()))
    return worst


def main() -> None:
    """Print one of the two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tokens", nargs="+", type=int, metavar="N", default=LENGTHS)
    parser.add_argument("--repeats", type=int, metavar="N", default=5, help="the fastest counts (default: 5)")
    parser.add_argument("--noise", nargs="+", metavar="CHECKPOINT", help="folders or bundled names")
    parser.add_argument("--memory", nargs=2, metavar=("NAME", "TOKENS"), help="of one network alone")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    if asked.memory:
        print(peak(asked.memory[0], int(asked.memory[1])))
        return
    if asked.noise:
        for place in asked.noise:
            levels = ", ".join(f"{precision} {noise(place, precision):.1e}" for precision in PRECISIONS)
            print(f"{place}: {levels}")
        return
    print("tokens  what      " + "".join(f"{name:>10}" for name in (DENSE, *NAMES)))
    for tokens in asked.tokens:
        for what, backward in (("forward", False), ("training", True)):
            best = fastest(tokens, backward=backward, repeats=asked.repeats)
            shown = (f"{best[name] / best[DENSE]:8.2f} ×" for name in NAMES)
            print(f"{tokens:6}  {what:8}  {best[DENSE] * 1000:7.0f} ms" + "".join(shown), flush=True)
        cells = "".join(f"{megabytes(name, tokens):7.0f} MB" for name in (DENSE, *NAMES))
        print(f"{tokens:6}  memory    {cells}", flush=True)


if __name__ == "__main__":
    main()

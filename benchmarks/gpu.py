"""What a GPU gives, in nine minutes: attention beside dense attention, then trainings at the papers' sizes.

    python benchmarks/gpu.py --data DIR           on a GPU; DIR has python_functions.jsonl.gz, see papers show
    python benchmarks/gpu.py --device cpu --tiny  the same with tiny sizes: does everything run?

It needs no checkpoint. First, for each network and length: milliseconds and memory of a forward pass and of a
training step in bfloat16, through the fused kernel and in the plain form, as multiples of dense attention;
and how far the two forms differ in float32. Then come trainings, the most important first. Each is stopped
when its time is over; what it reached is printed. Without --data, functions of the standard library are read.
"""

import argparse
import csv
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import attention
import torch
from torch import Tensor

from codeaudit.audit.papers.lines import fused

LIMIT: Final = 540.0
"""Seconds for everything."""
LENGTHS: Final = (2048, 4096, 8192, 16384)
SHARE: Final = 0.4
"""Of the time, for attention."""


class Training(NamedTuple):
    """A training at a paper's size."""

    name: str
    words: tuple[str, ...]
    """Of codeaudit; `DATA` stands for the table of functions."""
    tiny: tuple[str, ...]
    """What makes it small."""
    share: float
    """Of the time that is left."""


_SMALL: Final = ("--width", "32", "--layers", "2", "--heads", "4", "--inner", "64")
_TINY: Final = (*_SMALL, "--epochs", "1", "--limit", "60", "--rarest-label", "1")
_NAMES: Final = ("--task", "function-name", "--corpus", "DATA", "--epochs", "2")
_DERIVATIVES: Final = ("--task", "derivative", "--corpus", "algebra:train:100000", "--epochs", "2")
TRAININGS: Final = (
    Training(
        "SPE, table 1: names in Python, spe-paper",
        ("train", "spe", "--preset", "spe-paper", *_NAMES),
        _TINY,
        0.45,
    ),
    Training(
        "CoDE: Counting, code-10m",
        ("papers", "run", "code/table-14", "--preset", "paper", "--steps", "4000"),
        ("--preset", "small", "--steps", "2"),
        0.45,
    ),
    Training(
        "tree transformer: names, tree-paper",
        ("train", "tree", "--preset", "tree-paper", *_NAMES),
        _TINY,
        0.6,
    ),
    Training(
        "Renamer: derivatives, renamer-small",
        ("train", "renamer", "--preset", "renamer-small", *_DERIVATIVES),
        (*_SMALL, "--corpus", "algebra:train:200", "--epochs", "1"),
        1.0,
    ),
)


# ── attention ────────────────────────────────────────────────────────────────────────────────────────────


def cost(
    step: Callable[[], Tensor], device: str, *, backward: bool, half: bool = True
) -> tuple[float, float]:
    """Median milliseconds of a step, and the most megabytes that it takes beyond what was there."""
    cuda = torch.device(device).type == "cuda"
    times, before = [], 0
    for number in range(8):
        if cuda:
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
        began = time.perf_counter()
        with torch.set_grad_enabled(backward):
            # The backward pass runs outside of autocast, as in a training.
            with torch.autocast(torch.device(device).type, torch.bfloat16):
                output = step()
            if backward:
                output.float().sum().backward()  # type: ignore[no-untyped-call]
        if cuda:
            torch.cuda.synchronize()
        if number >= 3:  # the first ones compile
            times.append(1000 * (time.perf_counter() - began))
    peak = (torch.cuda.max_memory_allocated() - before) / 2**20 if cuda else 0.0
    return median(times), peak


def difference(step: Callable[[], Tensor]) -> float:
    """The largest difference of the two forms in float32, as a share of the largest number."""
    with torch.no_grad():
        whole = step().double()
        with plainly():
            other = step().double()
    return float((whole - other).abs().max() / other.abs().max())


class plainly:  # noqa: N801 - a context
    """Attention in the plain form."""

    def __enter__(self) -> None:
        fused._failed.append("asked not to")

    def __exit__(self, *_: object) -> None:
        fused._failed.remove("asked not to")


def attentions(device: str, lengths: tuple[int, ...], until: float) -> None:
    """Print a row for each network and length."""
    heads = ["tokens", "network", "what", "dense ms", "fused ×", "plain ×"]
    heads += ["dense MB", "fused ×", "plain ×", "float32 differs"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for tokens in lengths:
        dense = attention.forward(attention.DENSE, tokens, device)
        for name in ("spe", "symc", "code", "decoder", "renamer"):
            step = attention.forward(name, tokens, device)
            for what, backward in (("forward", False), ("training", True)):
                if time.monotonic() > until:
                    print("the time for attention is over")
                    return
                row = [f"{tokens:,}", name, what]
                with suppress(torch.OutOfMemoryError):
                    unit, memory = cost(dense, device, backward=backward)
                    fast, small = cost(step, device, backward=backward)
                    with plainly():
                        slow, large = cost(step, device, backward=backward)
                    memory = memory or 1.0
                    row += [f"{unit:.2f}", f"{fast / unit:.2f}", f"{slow / unit:.2f}"]
                    row += [f"{memory:.0f}", f"{small / memory:.2f}", f"{large / memory:.2f}"]
                    row += [f"{difference(step):.1e}" if not backward else ""]
                print(f"| {' | '.join(row)} |", flush=True)
    if why := [reason for reason in fused._failed if reason]:
        print(f"the fused kernel was not taken: {why[0]}")


# ── trainings ────────────────────────────────────────────────────────────────────────────────────────────


def trained(training: Training, asked: argparse.Namespace, folder: Path, seconds: float) -> str:
    """Carry a training out for so long at most; what it reached, in words."""
    data = "stdlib:argparse,ast,inspect,logging,pathlib,random,shutil,tarfile,zipfile"
    if asked.data is not None:
        data = f"{asked.data / 'python_functions.jsonl.gz'}:train"
    words = [word.replace("DATA", data) for word in (*training.words, *(training.tiny if asked.tiny else ()))]
    out = folder / training.words[1]
    words += ["--device", asked.device, "--out", str(out)]
    words += ["--log", "csv", "--cache", str(folder / "cache")] if training.words[0] == "train" else []
    print(f"\n{training.name} ({seconds:.0f} s): codeaudit {' '.join(words)}", flush=True)
    began = time.monotonic()
    child = subprocess.Popen([sys.executable, "-m", "codeaudit", *words])
    try:
        code = child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGINT)
        try:
            code = child.wait(20)
        except subprocess.TimeoutExpired:
            child.kill()
            code = child.wait()
    ending = f"exit {code} after {time.monotonic() - began:.0f} s"
    log = out / "training.csv"
    if not log.is_file():
        return ending
    with log.open(encoding="utf-8") as file:
        steps = list(csv.DictReader(file))
    speeds = [float(row["tokens_per_second"]) for row in steps[1:] if row["tokens_per_second"]]
    if not speeds:
        return ending
    losses = f"loss {steps[0]['loss']} to {steps[-1]['loss']}"
    return f"{ending}: {len(steps)} steps, {median(speeds):,.0f} tokens/s, {losses}"


def main() -> int:
    """Measure, train, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the tables of functions")
    parser.add_argument("--seconds", type=float, default=LIMIT, help="for everything (default: 540)")
    parser.add_argument("--tiny", action="store_true", help="tiny sizes, to see that all runs")
    asked = parser.parse_args()
    if torch.device(asked.device).type == "cuda" and not torch.cuda.is_available():
        parser.error("there is no GPU; --device cpu --tiny tries the script")
    end = time.monotonic() + asked.seconds - 20  # what is stopped needs a moment to save
    print(f"torch {torch.__version__}, {asked.device}")
    began = time.monotonic()
    attentions(asked.device, (64,) if asked.tiny else LENGTHS, began + SHARE * asked.seconds)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for training in TRAININGS:
            ending = trained(
                training, asked, Path(folder), max(1.0, training.share * (end - time.monotonic()))
            )
            failed += not ending.startswith(("exit 0", "exit 130"))
            print(f"{training.name}: {ending}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

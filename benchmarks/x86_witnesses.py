"""Do witnesses that nobody here wrote agree that a renamed block is what it was?

    python benchmarks/x86_witnesses.py TABLE [--limit N] [--cpus haswell,…] [--emulate 3000] [--seed 0]

TABLE is a CSV file (.gz or not) with the columns `hex` and `asm` of BHive's blocks. Each block is read from
both (they must be the same instructions), renamed once at random, read anew, encoded, proven to be
alpha-equivalent, and measured by llvm-mca on every processor before and after. Beside it stand a naive
bijection, which heeds no rule, another order of the instructions, and the controls, which ought to change
something. The emulator runs the first blocks, if it is installed. Times are processor seconds.
"""

import argparse
import csv
import gzip
import os
import resource
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random

from codeaudit.transforms.errors import CodeauditError, SourceError
from codeaudit.transforms.interface import Refused, Transform
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.seeding import stream
from codeaudit.transforms.x86 import X86
from codeaudit.transforms.x86.legality import Different, Equivalent, compare
from codeaudit.transforms.x86.reading import BasicBlock, Operation, from_hex, read
from codeaudit.transforms.x86.registers import BASES
from codeaudit.transforms.x86.rename import renamed
from codeaudit.transforms.x86.witnesses.emulator import Emulator
from codeaudit.transforms.x86.witnesses.mca import HASWELL, Mca, Measured, find
from codeaudit.transforms.x86.witnesses.verdicts import BlocksDiffered

CPUS = ("haswell", "skylake", "ivybridge", "broadwell", "icelake-server", "znver3")
"""Models of llvm-mca by which every renaming costs the same. By that of btver2 not quite: where an eliminated
move copies a zeroed register, its cycles depend on the names (1 of 58,760 blocks)."""
LONGEST = 300
"""Characters of a text that is shown."""
CHUNK = 1000
FIGURE = {
    "(a)": ("movq 64(%rsp), %rax\nsubl $1, 56(%rbp)\nmovl 16(%rax), %eax", 1.68),
    "(b)": ("movq 64(%rsp), %rbx\nsubl $1, 56(%rbp)\nmovl 16(%rbx), %ebx", 1.68),
    "(c)": ("movq 64(%rax), %rax\nsubl $1, 56(%ebp)\nmovl 16(%rax), %eax", 10.03),
}
"""Renamer, Figure 1, with the suffix that an assembler asks for, and the cycles printed there."""
CONTROLS = ("rename-merging", "rename-views", "reorder-breaking")


@dataclass(kw_only=True)
class Tally:
    """Counts by what was found, and seconds by what was done."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    shown: list[str] = field(default_factory=list)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add the processor time of what is done inside, child processes included, to a step."""
        begin = processor_seconds()
        yield
        self.seconds[step] += processor_seconds() - begin

    def show(self, what: str, *texts: str) -> None:
        """Keep the first surprises, to be printed."""
        if len(self.shown) < 20:
            self.shown.append("\n    ".join([what, *(text.replace("\n", "; ")[:LONGEST] for text in texts)]))


def main() -> int:
    """Measure and print."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("table", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="blocks, 0 for all")
    parser.add_argument("--cpus", default=",".join(CPUS))
    parser.add_argument("--program", help="which llvm-mca")
    parser.add_argument("--emulate", type=int, default=3000, help="blocks that are run as well")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    try:
        tools = [find(cpu=cpu, program=asked.program) for cpu in asked.cpus.split(",")]
        figure(find(cpu=HASWELL, program=asked.program))
        tally = Tally()
        emulated(asked, tally)
        rows = islice(blocks(asked.table), asked.limit or None)
        while chunk := list(islice(rows, CHUNK)):
            measure(chunk, tools, tally, asked.seed)
    except CodeauditError as error:
        parser.error(str(error))
    report(tally, tools)
    return 0


def figure(tool: Mca) -> None:
    """Renamer's Figure 1."""
    print(f"{tool.program} {tool.version}, {tool.cpu}, {tool.iterations} iterations")
    results = tool.measure(text for text, _ in FIGURE.values())
    for (name, (_, printed)), measured in zip(FIGURE.items(), results, strict=True):
        shown = f"{measured.throughput:.2f}" if isinstance(measured, Measured) else measured.reason
        print(f"Figure 1{name}: {shown}, printed {printed}")


def blocks(path: Path) -> Iterator[Mapping[str, str]]:
    """The rows of the table."""
    read_text = gzip.open if path.suffix == ".gz" else open
    with read_text(path, "rt", newline="") as file:
        yield from csv.DictReader(file)


def measure(rows: Sequence[Mapping[str, str]], tools: Sequence[Mca], tally: Tally, seed: int) -> None:
    """A thousand blocks: rewrite them, and ask every witness."""
    pairs: dict[str, list[tuple[str, str]]] = {name: [] for name in ("rename", "naive", "reorder", *CONTROLS)}
    for row in rows:
        tally.counts["blocks"] += 1
        try:
            with tally.timed("read"):
                block = read(row["asm"])
        except SourceError as error:
            tally.counts["not read"] += 1
            tally.show(f"not read: {error}", row["asm"])
            continue
        with tally.timed("machine code to text"):
            decoded = from_hex(row["hex"])
        if not same(block, decoded):
            tally.counts["text and machine code differ"] += 1
            tally.show("text and machine code differ", row["asm"], decoded.source)
        for name in ("rename", "reorder", *CONTROLS):
            rng = stream(seed, row["hex"], name)
            text = rewritten(transform_for(name, X86.name), block, rng, tally)
            if text is None:
                continue
            pairs[name].append((block.source, text))
            if name == "rename":
                prove(block.source, text, tally)
        naive(block, stream(seed, row["hex"], "naive"), pairs["naive"], tally)
    for number, tool in enumerate(tools):
        # What costs most is asked of the first processor only.
        asked = pairs if number == 0 else {"rename": pairs["rename"]}
        weigh(asked, tool, tally)


def same(one: BasicBlock, other: BasicBlock) -> bool:
    """Whether two blocks are the same instructions on the same registers."""
    judged = compare(one, other)
    return isinstance(judged, Equivalent) and all(old == new for old, new in judged.renaming.items())


def rewritten(transform: Transform, block: BasicBlock, rng: Random, tally: Tally) -> str | None:
    """One variant; what it cost and why there is none are counted."""
    with tally.timed(transform.name):
        moves = transform.propose(block.source, rng)
        variant = moves if isinstance(moves, Refused) else transform.apply(block.source, moves)
    if isinstance(variant, Refused):
        tally.counts[f"{transform.name} refused: {variant.reason}"] += 1
        return None
    tally.counts[transform.name] += 1
    return variant.source


def prove(before: str, after: str, tally: Tally) -> None:
    """The proof once more, with nothing remembered but the encodings, to be counted and timed."""
    fresh = [
        BasicBlock(
            text,
            tuple(
                Operation(operation.text, operation.instruction, operation.code)
                for operation in block.operations
            ),
            (),
        )
        for text in (before, after)
        for block in (read(text),)
    ]
    with tally.timed("proof"):
        judged = compare(*fresh)
    tally.counts["rename proven"] += isinstance(judged, Equivalent)


def naive(block: BasicBlock, rng: Random, pairs: list[tuple[str, str]], tally: Tally) -> None:
    """A bijection of all sixteen registers, and as many vector registers, that heeds no rule."""
    renaming: dict[str, str] = {}
    for bases in (BASES["gp"], BASES["vec"][:16], BASES["mmx"]):
        renaming |= dict(zip(bases, rng.sample(bases, len(bases)), strict=True))
    text = renamed(block, renaming)
    if text is None:
        tally.counts["naive: no such register"] += 1
        return
    try:
        after = read(text)
    except SourceError:
        tally.counts["naive: no such instruction"] += 1
        return
    if text != block.source:
        tally.counts["naive"] += 1
        tally.counts["naive: not equivalent"] += isinstance(compare(block, after), Different)
        pairs.append((block.source, text))


def weigh(pairs: Mapping[str, Sequence[tuple[str, str]]], tool: Mca, tally: Tally) -> None:
    """llvm-mca before and after, by transform; every text is measured once."""
    texts = list(dict.fromkeys(text for some in pairs.values() for pair in some for text in pair))
    with tally.timed(f"llvm-mca {tool.cpu}"):
        by_text = dict(zip(texts, tool.measure(texts), strict=True))
    tally.counts[f"measured {tool.cpu}"] += len(texts)
    for name, some in pairs.items():
        for pair in some:
            before, after = (by_text[text] for text in pair)
            key = f"{name} on {tool.cpu}"
            if not (isinstance(before, Measured) and isinstance(after, Measured)):
                tally.counts[f"{key}: not measured"] += 1
                continue
            tally.counts[f"{key}: measured"] += 1
            tally.counts[f"{key}: equal"] += before == after
            tally.counts[f"{key}: equal cycles"] += before.cycles == after.cycles
            alike = before.reciprocal_throughput == after.reciprocal_throughput
            tally.counts[f"{key}: equal reciprocal throughput"] += alike
            if name == "rename" and before != after:
                tally.show(f"{key}: {before.cycles} and {after.cycles} cycles", *pair)


def emulated(asked: argparse.Namespace, tally: Tally) -> None:
    """Differential execution of the first blocks."""
    try:
        emulator = Emulator()
    except CodeauditError as error:
        print(f"not emulated: {error}")
        return
    for row in islice(blocks(asked.table), asked.emulate):
        for name in ("rename", "reorder", *CONTROLS):
            rng = stream(asked.seed, row["hex"], name)
            transform = transform_for(name, X86.name)
            block = read(row["asm"])
            moves = transform.propose(block.source, rng)
            variant = moves if isinstance(moves, Refused) else transform.apply(block.source, moves)
            if isinstance(variant, Refused):
                continue
            after = read(variant.source)
            judged = compare(block, after)
            renaming = judged.renaming if isinstance(judged, Equivalent) else {}
            with tally.timed("emulator"):
                outcome = emulator.compare(block, after, renaming, rng, same_fault=name == "rename")
            tally.counts["emulated"] += 1
            reason = f": {outcome.reason}" if hasattr(outcome, "reason") else ""
            tally.counts[f"{name} emulated: {type(outcome).__name__.lower()}{reason}"] += 1
            if isinstance(outcome, BlocksDiffered) and transform.kind == "preserving":
                tally.show(f"{name} emulated: {outcome.what}", block.source, variant.source)


def report(tally: Tally, tools: Sequence[Mca]) -> None:
    """Everything that was counted."""
    counts, total = tally.counts, tally.counts["blocks"]
    print(f"{total} blocks on {os.cpu_count()} cores, Python {sys.version.split()[0]}")
    for name in sorted(counts):
        print(f"  {counts[name]:>8} {counts[name] / total:8.2%}  {name}")
    print("processor milliseconds")
    for step, seconds in tally.seconds.items():
        number = counts["emulated"] if step == "emulator" else total
        texts = counts[f"measured {step.removeprefix('llvm-mca ')}"]
        each = "text" if texts else "block"
        print(f"  {seconds * 1000 / (texts or number):8.3f}  {step}, per {each}")
    for tool in tools:
        equal, measured = (counts[f"rename on {tool.cpu}: {what}"] for what in ("equal", "measured"))
        print(f"renamed and identical on {tool.cpu}: {equal} of {measured}")
    for line in tally.shown:
        print(line)


def processor_seconds() -> float:
    """Processor time of this process and of the children it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    begin = time.perf_counter()
    code = main()
    print(f"{time.perf_counter() - begin:.0f} s")
    sys.exit(code)

"""Every meaning-keeping transform on x86 blocks, executed natively before and after in the sandbox.

    python benchmarks/fuzz_x86.py                                 2,000 blocks
    python benchmarks/fuzz_x86.py --blocks 60000 --log x86.jsonl  a campaign; run it again and it goes on
    python benchmarks/fuzz_x86.py --log x86.jsonl --blocks 0      what the log shows
    python benchmarks/fuzz_x86.py --without NAME                  the power: what the engine is without a rule
    python benchmarks/fuzz_x86.py --probe                         each instruction's declared effects, probed
                                                                  here and, if it is installed, by Bochs

Every second block is random: instructions of all encodings that this processor has, on few registers and
places, flags and their consumers, partial registers, implied operands, string instructions with prefixes,
locks, divisions. The others are BHive's, from TABLE. Each pair runs from three random states; registers,
flags and memory are compared. Two of eight blocks meet the controls, too, which should differ. A pair that
faults in every state, or holds an instruction whose effects cannot be compared, is unclear. The exit code is
1 if something differs.
"""

import argparse
import csv
import gzip
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import checkout  # noqa: F401 - `tests` is found
import iced_x86 as iced

from codeaudit.transforms.errors import CannotAudit, SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.seeding import stream
from codeaudit.transforms.x86 import X86, effects, legality, rename
from codeaudit.transforms.x86.legality import Equivalent, compare
from codeaudit.transforms.x86.reading import Operation, read
from codeaudit.transforms.x86.registers import numbers
from codeaudit.transforms.x86.witnesses import native
from codeaudit.transforms.x86.witnesses.native import BlockPair, NativeProcessor, processor_name
from codeaudit.transforms.x86.witnesses.verdicts import BlocksAgreed, BlocksDiffered
from tests.support.campaigns import CampaignLog, Chunk, engine
from tests.transforms.x86 import probing
from tests.transforms.x86.emulated import MODELS, Emulator
from tests.transforms.x86.specimens import entries, specimens, wild_block

CHUNK = 200
KEEPING = tuple(name for name, entry in X86.transforms.items() if entry.kind == "preserving")
CONTROLS = tuple(name for name, entry in X86.transforms.items() if entry.kind == "control")
TABLE = Path(__file__).resolve().parents[2] / "shared/data/bhive_blocks.csv.gz"


def _no_shift_count() -> None:
    effects._BY_COUNT = ""  # type: ignore[misc]


def _no_bit_string() -> None:
    effects._BY_BIT = ""  # type: ignore[misc]


def _no_turns() -> None:
    effects._THROUGH_CARRY = ""  # type: ignore[misc]


def _no_alias() -> None:
    effects._overlap = lambda between, second: any(
        one.place == other.place and one.displacement == other.displacement and (one.writes or other.writes)
        for one in between[0].memory
        for other in second.memory
    )


def _no_implied_register() -> None:
    whole = effects.touch.__wrapped__

    def touch(operation: Operation) -> effects.Touch:
        actual = whole(operation)
        named = {register.base for register in operation.registers}
        return effects.Touch(
            actual.reads & named,
            actual.writes & named,
            actual.flags_read,
            actual.flags_written,
            actual.memory,
            actual.barrier,
        )

    effects.touch = touch  # type: ignore[assignment]


def _no_undefined_flag() -> None:
    whole = effects.touch.__wrapped__

    def touch(operation: Operation) -> effects.Touch:
        actual = whole(operation)
        gone = operation.instruction.rflags_undefined
        read, written = actual.flags_read & ~gone, actual.flags_written & ~gone
        return effects.Touch(actual.reads, actual.writes, read, written, actual.memory, actual.barrier)

    effects.touch = touch  # type: ignore[assignment]


def _no_barrier() -> None:
    effects._is_barrier = lambda instruction: False


def _no_fixed_register() -> None:
    legality._fixed = lambda block, *, stack: frozenset()
    legality._obstacle = lambda one, other, forth, back: ""
    rename.RegisterNames.proof = lambda self, text, names: "analysis"  # type: ignore[method-assign]


CAUSES: dict[str, Callable[[], None]] = {
    "shift-count": _no_shift_count,  # a count of 0 leaves the flags as they were
    "bit-string": _no_bit_string,  # `btsl %eax, (%rbx)` reaches beyond four bytes
    "turns": _no_turns,  # `rclb $9, %al` leaves the overflow flag undefined
    "alias": _no_alias,  # only equal addresses conflict
    "implied-register": _no_implied_register,  # `mulq %rbx` uses rax and rdx
    "undefined-flag": _no_undefined_flag,  # an undefined flag is neither read nor written
    "barrier": _no_barrier,  # x87, locks and `rep` may move
    "fixed-register": _no_fixed_register,  # implied registers are renamed in the text, and nothing is proved
}


def blocks(table: Path | None, seed: int, numbers: range) -> Iterator[tuple[str, Random]]:
    """The blocks of these numbers, each with what draws its variants."""
    rows = _rows(table)
    for number in numbers:
        rng = stream(seed, "fuzz_x86", number)
        source = rows[number // 2 % len(rows)] if rows and number % 2 else wild_block(rng)
        yield source, rng


_READ: dict[Path | None, list[str]] = {None: []}


def _rows(table: Path | None) -> list[str]:
    if table not in _READ:
        assert table is not None
        with gzip.open(table, "rt", newline="") as file:
            _READ[table] = [row["asm"] for row in csv.DictReader(file)]
    return _READ[table]


def chunk(
    processor: NativeProcessor, table: Path | None, seed: int, numbers: range
) -> tuple[dict[str, Counter[str]], list[str]]:
    """What came of these blocks, by transform; and the pairs that differ."""
    tallies: defaultdict[str, Counter[str]] = defaultdict(Counter)
    names: list[str] = []
    pairs: list[BlockPair] = []
    differ: list[str] = []
    for number, (source, rng) in zip(numbers, blocks(table, seed, numbers), strict=True):
        try:
            before = read(source)
        except SourceError:
            tallies["unread"]["unclear"] += 1
            continue
        for name in (*KEEPING, *(CONTROLS if number % 8 < 2 else ())):
            tallies[name]["pairs"] += 1
            transform = transform_for(name, X86.name)
            moves = transform.propose(source, rng)
            made = moves if isinstance(moves, Refused) else transform.apply(source, moves)
            if isinstance(made, Refused):
                continue
            try:
                after = read(made.source)
            except SourceError as error:
                tallies[name].update(applied=1, different=1)
                differ.append(f"{name}: no block: {error}\n{source}\n->\n{made.source}")
                continue
            judged = compare(before, after) if name == "rename" else None
            renaming = judged.renaming if isinstance(judged, Equivalent) else {}
            names.append(name)
            pairs.append(
                BlockPair(
                    before=before,
                    after=after,
                    renaming=renaming,
                    seed=rng.getrandbits(48),
                    same_fault=name == "rename",
                )
            )
    for name, pair, outcome in zip(names, pairs, processor.compare(pairs, alone=False), strict=True):
        tally = tallies[name]
        tally["applied"] += isinstance(outcome, BlocksAgreed | BlocksDiffered)
        tally["equal"] += isinstance(outcome, BlocksAgreed)
        tally["different"] += isinstance(outcome, BlocksDiffered)
        tally["unclear"] += not isinstance(outcome, BlocksAgreed | BlocksDiffered)
        if hasattr(outcome, "reason"):
            tally[f"unclear: {outcome.reason}"] += 1
        if isinstance(outcome, BlocksDiffered) and name in KEEPING:
            differ.append(f"{name}: {outcome.what}\n{pair.before.source}\n->\n{pair.after.source}")
    return {name: Counter(tally) for name, tally in tallies.items()}, differ


def campaign(asked: argparse.Namespace) -> int:
    """Run the chunks that are asked for, and print what there is."""
    table = asked.table if asked.table.exists() else None
    title = f"x86 {'random and BHive' if table else 'random'}"
    log = CampaignLog(asked.log, title) if asked.log else None
    first = log.next_program(asked.seed) if log else 0
    now = engine("x86")
    different = 0
    with NativeProcessor() as processor:
        for start in range(first, first + asked.blocks, CHUNK):
            numbers = range(start, min(start + CHUNK, first + asked.blocks))
            began = time.process_time()
            tallies, differ = chunk(processor, table, asked.seed, numbers)
            seconds = time.process_time() - began
            for kind, names in ((title, KEEPING), (f"{title}, controls", CONTROLS)):
                entry = Chunk(
                    campaign=kind,
                    engine=now,
                    seed=asked.seed,
                    first=start,
                    programs=len(numbers),
                    seconds=seconds,
                    tallies={name: dict(tallies[name]) for name in names if name in tallies},
                    different=tuple(differ) if names is KEEPING else (),
                )
                if log:
                    log.append(entry)
            different += len(differ)
            for text in differ:
                print(text, "\n", flush=True)
            if differ and asked.stop:
                break
    report(asked, title, now, log)
    return 1 if different else 0


def report(asked: argparse.Namespace, title: str, now: str, log: CampaignLog | None) -> None:
    """Print what the log shows."""
    if log is None:
        return
    print(processor_name())
    summary = log.report(now, KEEPING)
    print("\n".join(summary.lines()))
    reasons: Counter[str] = Counter()
    for tally in summary.by_transform().values():
        reasons.update({name: count for name, count in tally.items() if name.startswith("unclear: ")})
    for name, count in reasons.most_common():
        print(f"{name}: {count:,}")
    for name, tally in (
        CampaignLog(asked.log, f"{title}, controls").report(now, CONTROLS).by_transform().items()
    ):
        if tally["applied"]:
            share = tally["different"] / tally["applied"]
            print(f"control {name}: {tally['different']:,} of {tally['applied']:,} differ ({share:.1%})")


def without(asked: argparse.Namespace) -> int:
    """Take a rule from the engine, and look for what that breaks."""
    CAUSES[asked.without]()
    table = asked.table if asked.table.exists() else None
    pairs = 0
    with NativeProcessor() as processor:
        for start in range(0, asked.blocks, CHUNK):
            tallies, differ = chunk(processor, table, asked.seed, range(start, start + CHUNK))
            pairs += sum(tallies[name]["applied"] for name in KEEPING if name in tallies)
            if differ:
                print(f"without {asked.without}: {len(differ)} of {pairs:,} pairs differ; the first:")
                print(differ[0])
                return 0
    print(f"without {asked.without}: nothing differs in {pairs:,} pairs")
    return 1


def probe(seed: int) -> int:
    """Probe each entry, and print what was seen."""
    rng = Random(seed)
    # Six, because a prefix that is drawn may make an instruction one that keeps its place.
    made = [(name, list(specimens(code, rng, count=6))) for name, code in entries()]
    flat = [(name, operation) for name, some in made for operation in _few(some)]
    ran: dict[str, Counter[str]] = {}
    wrong: list[str] = []
    with NativeProcessor(probing.TARGET) as processor:
        _probe(processor, flat, native.abilities(), ran.setdefault(processor_name(), Counter()), wrong)
    for name, model in MODELS.items():
        try:
            emulator = Emulator(model)
        except CannotAudit as error:
            print(f"{name} was not emulated: {error}")
            continue
        sets = numbers(iced.CpuidFeature, model.sets)
        some = [pair for pair in flat if not sets.isdisjoint(pair[1].instruction.cpuid_features())]
        with emulator:
            _probe(emulator, some, model.abilities, ran.setdefault(f"Bochs, {name}", Counter()), wrong)
    counts: Counter[str] = Counter()
    for name, some_of_it in made:
        kind = (
            "may move"
            if any(not effects.touch(operation).barrier for operation in some_of_it)
            else "keep their places"
        )
        counts[kind] += 1
        counts[f"{kind}, probed"] += any(runs[name] for runs in ran.values())
    print(f"{len(made):,} entries")
    for name, runs in ran.items():
        print(
            f"{name}: {sum(count > 0 for count in runs.values()):,} entries, {runs.total():,} pairs of runs"
        )
    for kind, what in (("may move", "all effects"), ("keep their places", "flags")):
        print(f"{counts[kind]:,} {kind}: {what} of {counts[f'{kind}, probed']:,} probed")
    print("\n".join(wrong) or "nothing does more than it declares")
    return 1 if wrong else 0


def _probe(
    asker: probing.Asker,
    some: list[tuple[str, Operation]],
    able: frozenset[str],
    ran: Counter[str],
    wrong: list[str],
) -> None:
    """Count the runs of each entry, and note what it does beyond its declaration."""
    answers = probing.probe(asker, [operation for _, operation in some], able)
    for (name, operation), answer in zip(some, answers, strict=True):
        ran[name] += answer.runs
        wrong += [f"{name} {operation.text}: {what}" for what in answer.wrong]
        if not probing.declares_all_registers(operation, effects.touch(operation)):
            wrong.append(f"{name} {operation.text}: a register is neither named nor implied")


def _few(some: list[Operation]) -> list[Operation]:
    """Up to three instructions that can be probed; those that may move come first."""
    return sorted(filter(probing.can_probe, some), key=lambda operation: effects.touch(operation).barrier)[:3]


def main() -> int:
    """Do what is asked."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--blocks", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", type=Path, default=TABLE, help="BHive's blocks, with a column asm")
    parser.add_argument("--log", type=Path, help="the file that the campaign adds to")
    parser.add_argument("--stop", action="store_true", help="end with the first difference")
    parser.add_argument("--without", choices=CAUSES, help="a rule that the engine has to do without")
    parser.add_argument("--probe", action="store_true", help="probe the declared effects instead")
    asked = parser.parse_args()
    if asked.probe:
        return probe(asked.seed)
    return without(asked) if asked.without else campaign(asked)


if __name__ == "__main__":
    sys.exit(main())

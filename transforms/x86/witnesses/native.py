"""Differential execution of blocks on this processor: from corresponding states to corresponding states.

Both blocks run in the sandbox from the same random registers, flags and memory; the second one with its
registers renamed. The comparison covers all general, vector, mask, MMX and x87 registers in full width, all
status flags, the direction flag, the status of vector and x87 arithmetic, every page of memory that either
block touched, and the signal that ended the run. So AVX, AVX-512, FMA, x87 and MMX are judged, as far as the
processor has them.

The states are made for the block: registers in addresses point into one arena, near each other, so accesses
overlap; indices and counts of `rep` are small. Half of the states are aligned. Memory elsewhere appears when
it is touched.

Flags that an instruction leaves undefined are compared as well: one processor computes them from the same
operands in the same way, and a transform must not move a block's undefined flag to another instruction.

If one block faults, the other one has to fault as well; after a renaming at the same instruction, with the
same registers and memory. A fault alone is no agreement.
"""

import json
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, Final, Self

import iced_x86 as iced

from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.oracle.containment import RunLimits
from codeaudit.transforms.oracle.sandbox import Answer, Lost, Sandbox
from codeaudit.transforms.x86.encoding import encode
from codeaudit.transforms.x86.reading import BasicBlock, Operation
from codeaudit.transforms.x86.registers import BASES, base_of, numbers
from codeaudit.transforms.x86.witnesses import processor as machine
from codeaudit.transforms.x86.witnesses.verdicts import (
    STATES,
    BlocksAgreed,
    BlocksDiffered,
    BlocksFaulted,
    ExecutionVerdict,
    NotTrusted,
    extended,
    unfit,
)

BATCH: Final = 100
"""The most pairs of one request, and of one process."""
_TARGET: Final = "codeaudit.transforms.x86.witnesses.running"
_CAN_SET_SEGMENTS: Final = 26, 2
"""The kernel's word of abilities (`AT_HWCAP2`) and its bit for FSGSBASE."""
_SETS: Final = """
    INTEL8086 INTEL186 INTEL386 INTEL486 X64 CMOV MULTIBYTENOP FPU FPU287 FPU387 MMX SSE SSE2 SSE3 SSSE3
    SSE4_1 SSE4_2 SSE4A AVX AVX2 FMA FMA4 XOP F16C BMI1 BMI2 TBM ADX LZCNT POPCNT MOVBE AES PCLMULQDQ SHA GFNI
    VAES VPCLMULQDQ CX8 CMPXCHG16B PREFETCHW AVX_VNNI AVX512F AVX512CD AVX512DQ AVX512BW AVX512VL AVX512_IFMA
    AVX512_VBMI AVX512_VBMI2 AVX512_VNNI AVX512_BITALG AVX512_VPOPCNTDQ AVX512_BF16 AVX512_FP16 PAUSE CLFSH
    CLFLUSHOPT CLWB CLDEMOTE AVX_IFMA AVX_NE_CONVERT AVX_VNNI_INT8 AVX_VNNI_INT16 SHA512 SM3 SM4 CMPCCXADD
    RAO_INT AVX512_VP2INTERSECT CLZERO D3NOW D3NOWEXT
"""
"""Instruction sets whose effects are all in the state that is compared."""
_PLACES: Final = "FNSAVE FNSTENV FXSAVE FXSAVE64 FRSTOR FLDENV FXRSTOR FXRSTOR64 FSTENV FSAVE"
"""They store the place of the last x87 instruction, which is not the same in a longer block."""
_SYSTEM: Final = "SGDT SIDT SLDT STR SMSW LAR LSL VERR VERW PUSHF PUSHFQ POPF POPFQ LSS LFS LGS"
"""They store or change state of the system. A stored or loaded word of flags holds more than is compared."""


def springboard(abilities: frozenset[str], *, segments: bool) -> tuple[bytes, Mapping[str, int]]:
    """The program that loads a state, jumps to the code and stores the state; and its labels.

    `abilities` are the names of the processor's abilities, as Linux prints them. Without `segments` the bases
    of `fs` and `gs` stay.
    """
    state, after, host, fault = machine.STATE, machine.AFTER, machine.HOST, machine.FAULT
    kept = ("rbx", "rbp", "r12", "r13", "r14", "r15")
    flags, x87 = machine.FLAGS_AT, machine.X87_AT
    parts = [(f"{name}mm", step) for name, step in _vectors(abilities)]
    move = "movups" if parts[0][0] == "xmm" else "vmovups"
    vectors = [
        (f"%{name}{number}", machine.VECTORS_AT + 64 * number)
        for name, count in parts
        for number in range(count)
    ]
    masks = [(f"%k{n}", machine.MASKS_AT + 8 * n) for n in range(8)] if "avx512bw" in abilities else []
    bases = [("fs", 8), ("gs", 16)] if segments else []
    lines = {
        "entry": [
            *(f"pushq %{name}" for name in kept),
            f"movq %rsp, {host}",
            f"fxsave64 {host + x87}",
            *(
                line
                for name, at in bases
                for line in (
                    f"rd{name}base %rax",
                    f"movq %rax, {host + at}",
                    f"movq {state + machine.SEGMENTS_AT - 8 + at}, %rax",
                    f"wr{name}base %rax",
                )
            ),
            f"fxrstor64 {state + x87}",
            *(f"{move} {state + at}, {name}" for name, at in vectors),
            *(f"kmovq {state + at}, {name}" for name, at in masks),
            "movq $1, %rax",
            f"movq %rax, {fault}",
            f"movq ${state + flags}, %rsp",
            "popfq",
            *(f"movq {state + 8 * number}, %{name}" for number, name in enumerate(BASES["gp"])),
        ],
        "leave": [
            *(f"movq %{name}, {after + 8 * number}" for number, name in enumerate(BASES["gp"])),
            f"movq ${after + flags + 8}, %rsp",
            "pushfq",
        ],
        "stop": [
            f"movq {host}, %rsp",
            "pushq $0x202",
            "popfq",
            f"fxsave64 {after + x87}",
            *(f"{move} {name}, {after + at}" for name, at in vectors),
            *(f"kmovq {name}, {after + at}" for name, at in masks),
            *(line for name, at in bases for line in (f"movq {host + at}, %rax", f"wr{name}base %rax")),
            f"fxrstor64 {host + x87}",
            *(["vzeroupper"] if move == "vmovups" else []),
            "xorl %eax, %eax",
            f"movq %rax, {fault}",
            *(f"popq %{name}" for name in reversed(kept)),
        ],
    }
    code, labels = b"", {}
    for label, texts in lines.items():
        labels[label] = len(code)
        code += b"".join(encode(text, "att")[1] for text in texts)
        if label == "entry":
            code += b"\xe9" + (machine.CODE - (machine.SPRINGBOARD + len(code) + 5)).to_bytes(
                4, "little", signed=True
            )
    code += b"\xc3"
    labels["handler"] = len(code)
    return code + _handler(machine.SPRINGBOARD + labels.pop("stop")), labels


def _vectors(abilities: frozenset[str]) -> list[tuple[str, int]]:
    """The widest vector registers, and how many there are."""
    if {"avx512f", "avx512bw"} <= abilities:
        return [("z", 32)]
    return [("y" if "avx" in abilities else "x", 16)]


_CONTEXT: Final = (*BASES["gp"][8:], "rdi", "rsi", "rbp", "rbx", "rdx", "rax", "rcx", "rsp")
"""The order in which the kernel stores the general registers of interrupted code."""
_CONTEXT_AT: Final = 40


def _handler(stop: int) -> bytes:
    """The handler of signals: note what happened, and let the interrupted code go on at `stop`.

    It gets the signal in `rdi`, its details in `rsi` and the interrupted state in `rdx`. The kernel restores
    the vector registers when it returns.
    """
    fault, after = machine.FAULT, machine.AFTER
    at = {name: _CONTEXT_AT + 8 * number for number, name in enumerate((*_CONTEXT, "rip", "flags"))}
    lines = [f"movq %rdi, {fault + 8}", "movslq 8(%rsi), %rax", f"movq %rax, {fault + 16}"]
    # A fault on the way back is none of the code under test any more.
    lines += ["xorl %eax, %eax", f"movq %rax, {fault}"]
    lines += ["movq 16(%rsi), %rax", f"movq %rax, {fault + 24}"]
    lines += [f"movq {at['rip']}(%rdx), %rax", f"movq %rax, {fault + 32}"]
    for number, name in enumerate(BASES["gp"]):
        lines += [f"movq {at[name]}(%rdx), %rax", f"movq %rax, {after + 8 * number}"]
    lines += [f"movq {at['flags']}(%rdx), %rax", f"movq %rax, {after + machine.FLAGS_AT}"]
    # Without the trap and alignment flags, which the code may have set.
    lines += [f"movq ${stop}, %rax", f"movq %rax, {at['rip']}(%rdx)"]
    lines += ["movl $0x202, %eax", f"movq %rax, {at['flags']}(%rdx)"]
    check = encode(f"cmpq $0, {fault}", "att")[1]
    # A fault outside the code under test ends the process: `jne` over a `ud2`, whose signal ends it.
    return check + b"\x75\x02\x0f\x0b" + b"".join(encode(line, "att")[1] for line in lines) + b"\xc3"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPair:
    """Two blocks to be compared."""

    before: BasicBlock
    after: BasicBlock
    renaming: Mapping[str, str]
    """The base in the second block, by the base in the first; empty if no register was renamed."""
    seed: int
    """Draws the states."""
    same_fault: bool = True
    """Whether a fault has to be the same. In another order another instruction may fault first."""


@cache
def abilities() -> frozenset[str]:
    """What this processor and kernel can do, in the words of Linux; empty if this is not Linux on x86-64."""
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        return frozenset()
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return frozenset()
    return frozenset(text.partition("\nflags")[2].partition(":")[2].partition("\n")[0].split())


@cache
def processor_name() -> str:
    """The model of this processor, as Linux prints it."""
    text = Path("/proc/cpuinfo").read_text()
    return text.partition("\nmodel name")[2].partition(":")[2].partition("\n")[0].strip()


@cache
def _settings() -> Mapping[str, Any]:
    # Linux prints the ability of the processor; a separate word tells that the kernel allows its use.
    import ctypes

    word, bit = _CAN_SET_SEGMENTS
    allowed = bool(ctypes.CDLL(None).getauxval(word) & bit)
    code, labels = springboard(abilities(), segments=allowed)
    return {"springboard": code.hex(), "labels": labels, "segments": allowed}


class NativeProcessor:
    """This machine's processor in the sandbox. A context manager.

    Raises:
        CannotAudit: this is not Linux on x86-64, or the machine cannot contain programs.
    """

    def __init__(self, target: str = _TARGET) -> None:
        """Prepare a sandbox. `target` is the module that runs in it."""
        if not abilities():
            raise CannotAudit("native execution of blocks needs Linux on x86-64")
        self._sandbox = Sandbox(target, RunLimits(cpu_seconds=2.0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._sandbox.close()

    def compare(
        self, pairs: Iterable[BlockPair], *, states: int = STATES, alone: bool = True
    ) -> Iterator[ExecutionVerdict]:
        """The verdict on each pair, in order.

        A block that knows this code can change what is seen of itself and of all others in its process. With
        `alone`, a process runs only pairs with the same first block. Without, it runs up to `BATCH` pairs,
        which is faster.
        """
        waiting = iter(pairs)
        while batch := list(islice(waiting, BATCH)):
            reasons = [distrust(pair.before) or distrust(pair.after) for pair in batch]
            fit = [pair for pair, reason in zip(batch, reasons, strict=True) if not reason]
            groups = groupby(fit, key=lambda pair: pair.before.source if alone else "")
            answers = iter(self.ask([[_input(pair, states) for pair in group] for _, group in groups]))
            for reason in reasons:
                yield NotTrusted(reason) if reason else _verdict(*next(answers))

    def ask(self, groups: Sequence[Sequence[Mapping[str, Any]]]) -> list[Answer]:
        """One answer of the module in the sandbox for each input; each group has a process of its own."""
        jobs = [{"count": len(group), "inputs": group, **_settings()} for group in groups]
        if not jobs:
            return []
        try:
            return list(chain.from_iterable(self._sandbox.ask(jobs)))
        except Lost as error:
            return [("lost", str(error))] * sum(map(len, groups))


def distrust(block: BasicBlock) -> str:
    """Why running a block natively does not tell what it does; empty if it does."""
    if len(block.code) > machine.ROOM:
        return "too long"
    return next((reason for operation in block.operations if (reason := _distrust(operation))), "")


def _distrust(operation: Operation) -> str:
    instruction = operation.instruction
    if reason := unfit(operation):
        return reason
    if instruction.is_privileged or instruction.is_save_restore_instruction:
        return "state of the system"
    if not numbers(iced.CpuidFeature, _SETS).issuperset(instruction.cpuid_features()):
        return "state of the system"
    if instruction.mnemonic in numbers(iced.Mnemonic, f"{_PLACES} {_SYSTEM}"):
        return "state of the system"
    if instruction.is_ip_rel_memory_operand:
        distance = instruction.memory_displacement
        if distance < 4 * machine.PAGE or distance >= (1 << 64) - 4 * machine.PAGE:
            return "an address in the code"
    segments = {iced.Register.FS, iced.Register.GS}
    if not _settings()["segments"] and instruction.memory_segment in segments:
        return "a segment that cannot be set here"
    return ""


def hints(block: BasicBlock) -> Mapping[str, list[int]]:
    """The numbers of the general registers that should point into memory, and of those that are small."""
    pointers: set[str] = set()
    small: set[str] = set()
    for operation in block.operations:
        instruction = operation.instruction
        for use in _info().info(instruction).used_memory():
            pointers.add(base_of(use.base))
            index = base_of(use.index)
            (small if instruction.memory_base else pointers).add(index)
        if instruction.has_rep_prefix or instruction.has_repne_prefix:
            small.add("rcx")
    order = {base: number for number, base in enumerate(BASES["gp"])}
    return {
        "pointers": sorted(order[base] for base in pointers & order.keys()),
        "small": sorted(order[base] for base in small & order.keys()),
    }


@cache
def _info() -> iced.InstructionInfoFactory:
    return iced.InstructionInfoFactory()


def _input(pair: BlockPair, states: int) -> Mapping[str, Any]:
    forth = {}
    for kind, bases in BASES.items():
        moved = extended(pair.renaming, bases)
        order = {base: number for number, base in enumerate(bases)}
        forth[kind] = [order[moved[base]] for base in bases]
    return {
        "codes": [pair.before.code.hex(), pair.after.code.hex()],
        "starts": [_starts(pair.before), _starts(pair.after)],
        "forth": forth,
        "seed": pair.seed,
        "states": states,
        "same_fault": pair.same_fault,
        **hints(pair.before),
    }


def _starts(block: BasicBlock) -> list[int]:
    starts, at = [], 0
    for operation in block.operations:
        starts.append(at)
        at += len(operation.code)
    return starts


def _verdict(kind: str, text: str) -> ExecutionVerdict:
    if kind == "lost":
        return NotTrusted(f"lost: {text}")
    answer = json.loads(text)
    if answer["what"]:
        return BlocksDiffered(answer["what"])
    return BlocksAgreed(answer["runs"]) if answer["runs"] else BlocksFaulted(answer["fault"])

"""Differential execution of blocks: from corresponding states they must reach corresponding states.

Unicorn (GPL, an optional extra) runs both blocks from the same random registers, flags and memory; the second
one with its registers renamed. The comparison covers the general and the vector registers, the status flags,
every page of memory that changed, and the end of the run. A page is mapped on the first access, and its
content is a function of its address.

Results with AVX are not trusted: Unicorn silently runs most VEX instructions as older ones (`vaddps %xmm1,
%xmm2, %xmm3` as `addps %xmm1, %xmm3`).
"""

import hashlib
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import iced_x86 as iced

from codeaudit.transforms.distribution import how_to_install
from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.x86.reading import BasicBlock, Operation
from codeaudit.transforms.x86.registers import BASES, numbers
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

CODE: Final = 0x1000_0000
"""The address of the code."""
PAGE: Final = 0x1000
ROOM: Final = 2 * PAGE
"""The most bytes of code."""
MOST: Final = 10_000
"""The most instructions of a run; each repetition of a string instruction counts."""
FLAGS: Final = 0b1000_1101_0101
"""CF, PF, AF, ZF, SF and OF."""
_HEAP: Final = 0x10_0000_0000
_LOCAL: Final = 0x20_0000_0000
"""The base address of `fs`; `gs` begins at twice this address."""
_VECTORS: Final = BASES["vec"][:16]
_UNKNOWN: Final = "SHA GFNI"
"""Instruction sets that Unicorn rejects."""


@dataclass(frozen=True, slots=True)
class MachineState:
    """The state of the processor before or after a block."""

    general: Mapping[str, int]
    """The general registers, by base."""
    vector: Mapping[str, int]
    """The low 128 bits of the vector registers, by base."""
    flags: int
    """The status flags in `FLAGS`."""


@dataclass(frozen=True, slots=True)
class _Run:
    state: MachineState
    memory: Mapping[int, bytes]
    error: int


class Emulator:
    """One Unicorn engine, reused for all runs.

    Raises:
        CannotAudit: Unicorn is not installed.
    """

    def __init__(self) -> None:
        try:
            import unicorn
            from unicorn import x86_const
        except ImportError as error:
            raise CannotAudit(f"emulation needs Unicorn: {how_to_install('emulator')}") from error
        self._unicorn: Any = unicorn
        self._general = [(base, getattr(x86_const, f"UC_X86_REG_{base.upper()}")) for base in BASES["gp"]]
        self._vector = [(base, getattr(x86_const, f"UC_X86_REG_{base.upper()}")) for base in _VECTORS]
        self._segments = ((x86_const.UC_X86_REG_FS_BASE, _LOCAL), (x86_const.UC_X86_REG_GS_BASE, 2 * _LOCAL))
        self._flags = x86_const.UC_X86_REG_EFLAGS
        self._cpu = x86_const.UC_CPU_X86_ICELAKE_SERVER
        self._seed = b""
        self._mapped: dict[int, bytes] = {}
        self._engine: Any = self._fresh()

    @property
    def version(self) -> str:
        """The version of Unicorn."""
        return str(self._unicorn.__version__)

    def compare(
        self,
        before: BasicBlock,
        after: BasicBlock,
        renaming: Mapping[str, str],
        rng: Random,
        *,
        states: int = STATES,
        same_fault: bool = True,
    ) -> ExecutionVerdict:
        """Run both blocks from random states and compare the results.

        `renaming` maps bases of the first block to bases of the second; `{}` if no register was renamed.
        Without `same_fault`, two runs that both fault count as equal, because in another order another
        instruction may fault first.
        """
        for block in (before, after):
            if reason := distrust(block):
                return NotTrusted(reason)
            if len(block.code) > ROOM:
                return NotTrusted("too long")
        forth = permutation(renaming)
        fault, runs = "", 0
        for number in range(states):
            # Aligned states let `movaps` run; unaligned ones show accesses that cross a page or overlap.
            state, seed = _random_state(rng, unaligned=number % 2), rng.randbytes(8)
            one = self._run(before.code, state, seed)
            other = self._run(after.code, _renamed(state, forth), seed)
            if one.error and other.error:
                fault = f"Unicorn's error {one.error}"
                if same_fault and one.error != other.error:
                    return BlocksDiffered(f"error {one.error}, then {other.error}")
            elif what := _difference(one, other, forth):
                return BlocksDiffered(what)
            else:
                runs += 1
        return BlocksAgreed(runs) if runs else BlocksFaulted(fault)

    def _fresh(self) -> Any:
        unicorn = self._unicorn
        engine = unicorn.Uc(unicorn.UC_ARCH_X86, unicorn.UC_MODE_64)
        engine.ctl_set_cpu_model(self._cpu)
        engine.mem_map(CODE, ROOM)
        engine.hook_add(unicorn.UC_HOOK_MEM_UNMAPPED, self._map)
        self._mapped = {}
        return engine

    def _map(self, engine: Any, access: int, address: int, size: int, value: int, data: object) -> bool:
        for page in {address & -PAGE, (address + size - 1) & -PAGE}:
            # Page 0 and what is not canonical stay unmapped, so these accesses fault as on a real machine.
            if not 0 < page < 1 << 47 or page in self._mapped or CODE <= page < CODE + ROOM:
                continue
            content = _content(self._seed, page)
            engine.mem_map(page, PAGE)
            engine.mem_write(page, content)
            self._mapped[page] = content
        return 0 < address < (1 << 47) - size

    def _run(self, code: bytes, state: MachineState, seed: bytes) -> _Run:
        engine = self._engine
        self._seed = seed
        engine.mem_write(CODE, code)
        engine.ctl_flush_tb()  # Unicorn keeps translated code by its address
        for base, number in self._general:
            engine.reg_write(number, state.general[base])
        for base, number in self._vector:
            engine.reg_write(number, state.vector[base])
        for number, begin in self._segments:
            engine.reg_write(number, begin)
        engine.reg_write(self._flags, state.flags | 2)  # bit 1 of the flags is always set
        error = 0
        try:
            engine.emu_start(CODE, CODE + len(code), count=MOST)
        except self._unicorn.UcError as failure:
            error = int(failure.errno)
        after = MachineState(
            {base: engine.reg_read(number) for base, number in self._general},
            {base: engine.reg_read(number) for base, number in self._vector},
            engine.reg_read(self._flags) & FLAGS,
        )
        changed = {}
        for page, content in self._mapped.items():
            # A digest, because a block may change many pages.
            now = bytes(engine.mem_read(page, PAGE))
            if now != content:
                changed[page] = hashlib.sha256(now).digest()
        if error:  # an engine that met an exception meets the next one as another
            self._engine = self._fresh()
        else:
            for page in self._mapped:
                engine.mem_unmap(page, PAGE)
            self._mapped = {}
        return _Run(after, changed, error)


def _content(seed: bytes, page: int) -> bytes:
    """The first content of a page: words that are usable as addresses."""
    drawn = hashlib.shake_128(seed + page.to_bytes(8, "little")).digest(PAGE // 2)
    return array("Q", (_HEAP + 8 * word for word in array("I", drawn))).tobytes()


def distrust(block: BasicBlock) -> str:
    """Why the emulator's result on a block does not count; empty if it counts."""
    return next((reason for operation in block.operations if (reason := _distrust(operation))), "")


def _distrust(operation: Operation) -> str:
    instruction = operation.instruction
    views = {view for view, _, _ in operation.effects}
    wide = any(view.startswith(("vec", "k")) for view in views)
    # VEX forms of integer instructions (`andn`) are run correctly.
    if instruction.encoding != iced.EncodingKind.LEGACY and wide:
        return "AVX"
    if instruction.encoding not in (iced.EncodingKind.LEGACY, iced.EncodingKind.VEX):
        return "AVX"
    if instruction.mnemonic in (iced.Mnemonic.VZEROALL, iced.Mnemonic.VZEROUPPER):
        return "AVX"
    features = instruction.cpuid_features()
    if iced.CpuidFeature.FPU in features or iced.CpuidFeature.MMX in features or "mmx64" in views:
        return "x87 and MMX"
    if any(view.startswith("st(") for view in views):
        return "x87 and MMX"
    if numbers(iced.CpuidFeature, _UNKNOWN).intersection(features):
        return "not implemented"
    return unfit(operation)


def permutation(renaming: Mapping[str, str]) -> Mapping[str, str]:
    """The renaming extended to a permutation of all general and vector registers."""
    return {**extended(renaming, BASES["gp"]), **extended(renaming, _VECTORS)}


def _random_state(rng: Random, *, unaligned: int) -> MachineState:
    general = {
        base: _HEAP + rng.randrange(1 << 31) * 16 + unaligned * rng.randrange(16) for base in BASES["gp"]
    }
    vector = {base: rng.getrandbits(128) for base in _VECTORS}
    return MachineState(general, vector, rng.getrandbits(12) & FLAGS)


def _renamed(state: MachineState, forth: Mapping[str, str]) -> MachineState:
    return MachineState(
        {forth[base]: value for base, value in state.general.items()},
        {forth[base]: value for base, value in state.vector.items()},
        state.flags,
    )


def _difference(one: _Run, other: _Run, forth: Mapping[str, str]) -> str:
    if one.error != other.error:
        return f"error {one.error}, then {other.error}"
    expected = _renamed(one.state, forth)
    if expected.general != other.state.general:
        return "general registers"
    if expected.vector != other.state.vector:
        return "vector registers"
    if one.state.flags != other.state.flags:
        return "flags"
    return "memory" if one.memory != other.memory else ""

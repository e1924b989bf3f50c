"""Every encoding that a block may hold, with random operands; and random blocks made of them."""

from collections.abc import Iterator, Sequence
from functools import cache
from random import Random

import iced_x86 as iced

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.x86 import catalogue
from codeaudit.transforms.x86.encoding import encoded
from codeaudit.transforms.x86.reading import Operation, att_text, read_operation
from codeaudit.transforms.x86.registers import register_names
from codeaudit.transforms.x86.witnesses import native
from codeaudit.transforms.x86.witnesses.processor import ARENA
from tests.transforms.x86.programs import line, theme

_TRIES = 30
"""Not all operands fit together, so some are drawn again."""
_NEW = {
    name: name.lower()
    for name in [
        "AVX512_FP16",
        "AVX_VNNI",
        "XOP",
        "FMA4",
        "TBM",
        "AVX",
        "AVX2",
        "FMA",
        "F16C",
        "BMI1",
        "BMI2",
        "ADX",
        "GFNI",
        "VAES",
        "VPCLMULQDQ",
        "AVX512F",
        "AVX512CD",
        "AVX512DQ",
        "AVX512BW",
        "AVX512VL",
        "AVX512_VBMI2",
        "AVX512_VNNI",
        "AVX512_BITALG",
        "AVX512_VPOPCNTDQ",
        "AVX512_BF16",
        "AES",
        "MOVBE",
        "SSE4A",
        "AVX_IFMA",
        "AVX_NE_CONVERT",
        "AVX_VNNI_INT8",
        "AVX_VNNI_INT16",
        "SHA512",
        "SM3",
        "SM4",
        "CMPCCXADD",
        "RAO_INT",
        "CLZERO",
        "AVX512_VP2INTERSECT",
        "CLDEMOTE",
        "CLWB",
        "CLFLUSHOPT",
    ]
} | {
    "AVX512_IFMA": "avx512ifma",
    "AVX512_VBMI": "avx512vbmi",
    "SHA": "sha_ni",
    "D3NOW": "3dnow",
    "D3NOWEXT": "3dnowext",
}
"""For instruction sets that not every processor has: the word of Linux for the ability."""


def entries() -> Iterator[tuple[str, int]]:
    """The name and iced's number of each encoding that a block may hold."""
    for name, code in vars(iced.Code).items():
        if (
            isinstance(code, int)
            and not catalogue._UNDOCUMENTED.search(name)
            and catalogue._slots(iced.OpCodeInfo(code)) is not None  # type: ignore[arg-type]
        ):
            yield name, code


def specimens(code: int, rng: Random, *, count: int = 1) -> Iterator[Operation]:
    """Instructions of one encoding with random operands: registers alone, with memory, with decorations."""
    slots = catalogue._slots(iced.OpCodeInfo(code)) or ()  # type: ignore[arg-type]
    info = iced.OpCodeInfo(code)  # type: ignore[arg-type]
    for memory in (False, True):
        if memory and not any(slot.memory for slot in slots):
            continue
        left = count
        for number in range(_TRIES * count):
            made = catalogue._specimen(code, slots, memory=memory)
            _fill(made, slots, rng)
            if info.can_use_op_mask_register and (info.require_op_mask_register or number % 2):
                made.op_mask = rng.choice(sorted(catalogue.family("k"))[1:])  # type: ignore[assignment]
                made.zeroing_masking = info.can_use_zeroing_masking and rng.random() < 0.5
            if memory and info.can_broadcast and rng.random() < 0.3:
                made.is_broadcast = True
            if not memory and info.can_use_rounding_control and rng.random() < 0.3:
                made.rounding_control = iced.RoundingControl.ROUND_DOWN
            if info.can_use_rep_prefix and rng.random() < 0.5:
                made.has_rep_prefix = True
            elif info.can_use_repne_prefix and rng.random() < 0.5:
                made.has_repne_prefix = True
            if memory and info.can_use_lock_prefix and rng.random() < 0.2:
                made.has_lock_prefix = True
            if (code_ := encoded(made)) is None:
                continue
            read = iced.Decoder(64, code_).decode()
            if not read.is_invalid and read.len == len(code_) and read.code == code:
                yield Operation(str(read), read, code_)
                left -= 1
            if not left:
                break


def _fill(made: iced.Instruction, slots: Sequence[catalogue.Slot], rng: Random) -> None:
    for number, slot in enumerate(slots):
        if slot.family and made.op_kind(number) == iced.OpKind.REGISTER:
            known = sorted(catalogue.family(slot.family))
            # Few registers, so that operands coincide; all of them now and then.
            few = [name for name in known if register_names()[name] != "rsp"][:6]
            made.set_op_register(number, rng.choice(few if rng.random() < 0.8 else known))  # type: ignore[arg-type]
        elif slot.bits:
            made.set_immediate_i64(number, rng.choice((0, 1, 1, 3, 5, 17, 100)) % (1 << slot.bits - 1))
    if iced.OpKind.MEMORY in [made.op_kind(number) for number in range(made.op_count)]:
        moffs = iced.OpCodeOperandKind.MEM_OFFS in iced.OpCodeInfo(made.code).op_kinds()
        made.memory_base = (
            iced.Register.NONE
            if moffs
            else rng.choice((iced.Register.RBX, iced.Register.R12, iced.Register.RSI))
        )
        vector = made.memory_index
        if not vector and not moffs and rng.random() < 0.2:
            made.memory_index = rng.choice((iced.Register.RCX, iced.Register.R9))
            made.memory_index_scale = rng.choice((1, 2, 4, 8))
        made.memory_displ_size = 8 if moffs else 1
        made.memory_displacement = rng.choice((0, 0, 64, 8, 1 << 10)) + (ARENA if moffs else 0)


@cache
def _lacking() -> frozenset[int]:
    able = native.abilities()
    return frozenset(getattr(iced.CpuidFeature, name) for name, word in _NEW.items() if word not in able)


def lacks(operation: Operation) -> bool:
    """Whether this processor does not have an instruction."""
    return not _lacking().isdisjoint(operation.instruction.cpuid_features())


@cache
def _runnable() -> Sequence[int]:
    """The encodings that this processor has, and whose effects are all compared."""
    firsts = ((code, next(specimens(code, Random(code)), None)) for _, code in entries())
    return [
        code
        for code, operation in firsts
        if operation is not None and not native._distrust(operation) and not lacks(operation)
    ]


def wild_block(rng: Random, *, most: int = 8) -> str:
    """A block of any instructions that this processor has; many of its lines are of a few everyday kinds."""
    lines: list[str] = []
    everyday = rng.choice((0.3, 0.6, 1.0))
    templates = theme(rng)
    for _ in range(rng.randrange(2, most + 1)):
        if rng.random() < everyday:
            lines.append(line(rng, templates) if rng.random() < 0.8 else line(rng))
            continue
        operations = list(specimens(rng.choice(_runnable()), rng))
        operation = rng.choice(operations) if operations else None
        if operation is not None and (text := _read_back(operation)):
            lines.append(text)
    return "\n".join(lines) or "nop"


def _read_back(operation: Operation) -> str:
    """The text of an instruction; empty if it does not read back as an instruction."""
    text = att_text(operation.instruction)
    try:
        read_operation(text, "att")
    except SourceError:
        return ""
    return text

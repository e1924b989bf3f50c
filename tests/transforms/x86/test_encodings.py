"""Every encoding that iced-x86 knows, with random operands: its text is read back as the same instruction."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from shutil import which

import iced_x86 as iced
import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.x86 import catalogue
from codeaudit.transforms.x86.encoding import decode, encode, encoded
from codeaudit.transforms.x86.reading import att_text
from codeaudit.transforms.x86.shapes import mentioned, shape
from codeaudit.transforms.x86.statements import Syntax

UNREADABLE = tuple(
    "CALL JMP IRET ENTER BND LLDT LTR VERR VERW LMSW LKGS TPAUSE UMWAIT GETSECQ EVEX_VMOVW".split()  # noqa: SIM905
)
"""Control transfers, system instructions, and encodings that differ from another one in nothing but an
ignored prefix or width."""
NARROW = re.compile("_32$|^(MONITORX?|VMRUN|VMLOAD|VMSAVE|INVLPG[AB]|CLZERO|PVALIDATE)D$")
"""System instructions with an implied address of 32 bits."""
SQUARE = re.compile(r"%st, %st\(0\)$")
"""The top of the x87 stack with itself: which of them is the target makes no difference."""


def specimens(rng: Random) -> Iterator[tuple[str, iced.Instruction]]:
    """One or two instructions of each encoding, with random registers, immediates and addresses."""
    for name, code in vars(iced.Code).items():
        if not isinstance(code, int) or catalogue._UNDOCUMENTED.search(name):
            continue
        slots = catalogue._slots(iced.OpCodeInfo(code))  # type: ignore[arg-type]
        for memory in (False, True) if slots is not None else ():
            made = catalogue._specimen(code, slots or (), memory=memory)
            for number, slot in enumerate(slots or ()):
                if slot.family and made.op_kind(number) == iced.OpKind.REGISTER:
                    made.set_op_register(number, rng.choice(sorted(catalogue.family(slot.family))))  # type: ignore[arg-type]
                elif slot.bits:
                    made.set_immediate_i64(number, rng.choice((1, 3, 17)))
            if iced.OpKind.MEMORY in [made.op_kind(number) for number in range(made.op_count)]:
                made.memory_base = rng.choice((iced.Register.RBX, iced.Register.R12, iced.Register.RBP))
                made.memory_displ_size, made.memory_displacement = 1, rng.choice((8, 64, 1000))
            bytes_ = encoded(made)
            if bytes_ is not None:
                yield name, iced.Decoder(64, bytes_).decode()


def read_back(text: str) -> iced.Instruction | None:
    """What a text in AT&T syntax reads as; `None` where it is refused."""
    try:
        return encode(text, "att")[0]
    except SourceError:
        return None


def alike(instruction: iced.Instruction, other: iced.Instruction) -> bool:
    """Whether two instructions have one shape and one set of operands."""
    return (shape(instruction), mentioned(instruction)) == (shape(other), mentioned(other))


def test_the_text_of_every_encoding_reads_back() -> None:
    wrong: list[tuple[str, str]] = []
    read = 0
    for name, instruction in specimens(Random(5)):
        if instruction.is_invalid:
            continue
        text = att_text(instruction)
        reading = read_back(text)
        same = reading is not None and alike(reading, instruction)
        read += same
        if not same:
            wrong.append((name, text))
    known = [
        row
        for row in wrong
        if row[0].startswith(UNREADABLE) or NARROW.search(row[0]) or SQUARE.search(row[1])
    ]
    assert [row for row in wrong if row not in known] == []
    assert read > 4000


def decorated(instruction: iced.Instruction) -> Iterator[iced.Instruction]:
    """The instruction with each kind of decoration that its encoding may have, decoded from its bytes."""
    info = iced.OpCodeInfo(instruction.code)
    memory = iced.OpKind.MEMORY in [instruction.op_kind(number) for number in range(instruction.op_count)]
    mask, zeros = info.can_use_op_mask_register, info.can_use_zeroing_masking
    settings: list[dict[str, object]] = [{"op_mask": iced.Register.K3}] if mask else []
    if mask and zeros:
        settings.append({"op_mask": iced.Register.K5, "zeroing_masking": True})
    if memory and info.can_broadcast:
        settings += [{"is_broadcast": True, **setting} for setting in ({}, *settings)]
    if not memory and info.can_use_rounding_control:
        settings.append({"rounding_control": iced.RoundingControl.ROUND_DOWN})
    if not memory and info.can_suppress_all_exceptions:
        settings.append({"suppress_all_exceptions": True})
    for setting in settings:
        made = instruction.copy()
        for name, value in setting.items():
            setattr(made, name, value)
        own = encoded(made)
        if own is not None:
            yield iced.Decoder(64, own).decode()


def test_no_decoration_gets_lost() -> None:
    """Many EVEX instructions have a shorter VEX form, which has no mask, broadcast or rounding."""
    wrong, read = [], 0
    for name, plain in specimens(Random(5)):
        for instruction in () if plain.is_invalid else decorated(plain):
            if instruction.is_invalid:
                continue
            text = att_text(instruction)
            if (reading := read_back(text)) is None:
                continue
            read += 1
            if not alike(reading, instruction):
                wrong.append((name, text, str(reading)))
    assert wrong == []
    assert read > 4000


SILENT = re.compile(
    "R32M16$|V?P(INSR|EXTR)[BW]_.*R64|EXTRACTPS_R64|EVEX_VMOVW|EVEX_VPCLMULQDQ|PREFETCH(RESERVED|IT)"
)
"""Encodings of which GNU's text does not tell an ignored width, an ignored bit or a reserved hint."""


@pytest.mark.slow
@pytest.mark.skipif(which("objdump") is None, reason="needs objdump")
@pytest.mark.parametrize(("syntax", "least"), [("att", 5900), ("intel", 5900)])
def test_what_another_disassembler_prints_is_read_as_the_same_instruction(
    syntax: Syntax, least: int, tmp_path: Path
) -> None:
    known: dict[int, tuple[str, iced.Instruction]] = {}
    code = b""
    for name, instruction in specimens(Random(5)):
        own = None if instruction.is_invalid else encoded(instruction)
        if own is not None:
            known[len(code)] = name, instruction
            code += own
    (tmp_path / "code.bin").write_bytes(code)
    options = ["-D", "-b", "binary", "-m", "i386:x86-64", "-M", syntax, "--no-show-raw-insn"]
    done = subprocess.run(
        ["objdump", *options, "code.bin"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    right, wrong = 0, []
    lines = re.findall(r"^ *([0-9a-f]+):\t([^#\n]*)", done.stdout, re.MULTILINE)
    places = [int(place, 16) for place, _ in lines]
    for (_, text), place, end in zip(lines, places, [*places[1:], len(code)], strict=True):
        if place not in known:
            continue
        name, instruction = known[place]
        # GNU joins `fwait` to the instruction behind it.
        if instruction.len != end - place or SILENT.search(name):
            continue
        try:
            encoding, _ = encode(text.strip(), syntax)
        except SourceError:
            continue
        if (shape(encoding), mentioned(encoding)) == (shape(instruction), mentioned(instruction)):
            right += 1
        else:
            wrong.append((name, text))
    assert wrong == []
    assert right > least


def test_encoding_what_was_decoded_changes_nothing() -> None:
    for code in ("488b442440", "c5e858d9", "62f17c585801", "f0480fb11f", "6690"):
        ((instruction, own),) = decode(bytes.fromhex(code))
        assert own.hex() == code
        assert encoded(instruction) == own

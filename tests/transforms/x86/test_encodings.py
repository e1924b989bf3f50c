"""Every encoding that iced-x86 knows, with random operands: its text is read back as the same instruction."""

import re
from collections.abc import Iterator
from random import Random

import iced_x86 as iced

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.x86 import catalogue
from codeaudit.transforms.x86.encoding import decode, encode, encoded
from codeaudit.transforms.x86.reading import att_text
from codeaudit.transforms.x86.shapes import mentioned, shape

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


def test_the_text_of_every_encoding_reads_back() -> None:
    wrong: list[tuple[str, str]] = []
    read = 0
    for name, instruction in specimens(Random(5)):
        if instruction.is_invalid:
            continue
        text = att_text(instruction)
        try:
            found, _ = encode(text, "att")
        except SourceError:
            wrong.append((name, text))
            continue
        same = (shape(found), mentioned(found)) == (shape(instruction), mentioned(instruction))
        read += same
        if not same:
            wrong.append((name, text))
    known = [
        one
        for one in wrong
        if one[0].startswith(UNREADABLE) or NARROW.search(one[0]) or SQUARE.search(one[1])
    ]
    assert [one for one in wrong if one not in known] == []
    assert read > 4000


def test_encoding_what_was_decoded_changes_nothing() -> None:
    for code in ("488b442440", "c5e858d9", "62f17c585801", "f0480fb11f", "6690"):
        ((instruction, own),) = decode(bytes.fromhex(code))
        assert own.hex() == code
        assert encoded(instruction) == own

"""Basic blocks cut out of ELF files, one of which is made here byte by byte."""

import struct
from itertools import islice
from pathlib import Path

import iced_x86 as iced
import pytest

from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.x86.blocks import ProgramBlock, cut, running_program, sections
from codeaudit.transforms.x86.reading import read
from tests.transforms.x86.support import own_blocks

CODE = bytes.fromhex(
    "90 66 90"  # padding
    "48 89 c3"  # 403: movq %rax, %rbx
    "48 01 cb"  # addq %rcx, %rbx
    "75 06"  # jne 411
    "48 89 d0"  # 40b: movq %rdx, %rax
    "48 ff c0"  # incq %rax
    "48 89 c1"  # 411: movq %rax, %rcx
    "48 89 ca"  # movq %rcx, %rdx
    "e8 00 00 00 00"  # call
    "48 89 c3"  # the first block again
    "48 01 cb"
    "c3"
    "8b 05 00 00 00 00"  # an address that counts from the instruction
    "48 89 d0"
    "c3"
    "48 89 d6"  # one instruction
    "c3"
)


def elf(code: bytes, *, machine: int = 62) -> bytes:
    """An ELF file with one executable section at address 0x400."""
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, machine, 1, 0, 0, 64, 0, 64, 0, 0, 64, 2, 0
    )
    empty = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    text = struct.pack("<IIQQQQIIQQ", 0, 1, 6, 0x400, 192, len(code), 0, 0, 16, 0)
    return header + empty + text + code


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program"
    path.write_bytes(elf(CODE))
    return path


def test_blocks_end_where_control_moves_and_where_a_branch_leads(program: Path) -> None:
    assert list(cut(program)) == [
        ProgramBlock(0x403, bytes.fromhex("4889c34801cb"), "movq %rax, %rbx\naddq %rcx, %rbx"),
        ProgramBlock(0x40B, bytes.fromhex("4889d048ffc0"), "movq %rdx, %rax\nincq %rax"),
        ProgramBlock(0x411, bytes.fromhex("4889c14889ca"), "movq %rax, %rcx\nmovq %rcx, %rdx"),
    ]


def test_shorter_blocks_can_be_had(program: Path) -> None:
    assert "movq %rdx, %rsi" in [block.source for block in cut(program, least=1)]


def test_executable_sections(program: Path) -> None:
    assert sections(program) == [(0x400, CODE)]


@pytest.mark.parametrize(
    "content", [b"", b"\x7fELF", b"MZ" * 100, elf(CODE, machine=183), elf(CODE)[:150]], ids=range(5)
)
def test_what_is_no_such_file_is_one_clear_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match="is no x86-64 ELF file"):
        list(cut(path))


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"cannot read .*: No such file"):
        list(cut(tmp_path / "none"))


def test_after_bytes_that_are_no_code_nothing_is_taken_up_to_the_next_transfer(tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_bytes(elf(bytes.fromhex("4889c3 4801cb 06 4889d0 48ffc0 c3 4889d1 48ffc1 c3")))
    assert [block.address for block in cut(path)] == [0x400, 0x40E]


@pytest.mark.slow
def test_the_running_program_has_blocks_enough() -> None:
    blocks = own_blocks(400)
    assert len(set(blocks)) == 400
    assert sum(len(read(source).operations) for source in blocks) > 1200


def test_the_text_of_a_block_is_its_code() -> None:
    own_blocks(1)
    for block in islice(cut(running_program()), 100):
        decoded = [instruction.code for instruction in iced.Decoder(64, block.code)]
        assert len(decoded) == len(read(block.source).operations)

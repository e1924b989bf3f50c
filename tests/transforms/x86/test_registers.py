"""Classes, views and bases of registers."""

import pytest

from codeaudit.transforms.x86.registers import BASES, part, registers


@pytest.mark.parametrize(
    ("name", "base", "view"),
    [
        ("rax", "rax", "gp64"),
        ("eax", "rax", "gp32"),
        ("ax", "rax", "gp16"),
        ("al", "rax", "gp8"),
        ("ah", "rax", "gp8h"),
        ("sil", "rsi", "gp8"),
        ("spl", "rsp", "gp8"),
        ("bpl", "rbp", "gp8"),
        ("r8", "r8", "gp64"),
        ("r15d", "r15", "gp32"),
        ("r9w", "r9", "gp16"),
        ("r10b", "r10", "gp8"),
        ("xmm31", "xmm31", "vec128"),
        ("ymm0", "xmm0", "vec256"),
        ("zmm7", "xmm7", "vec512"),
        ("mm3", "mm3", "mmx64"),
        ("k1", "k1", "k64"),
    ],
)
def test_base_and_view(name: str, base: str, view: str) -> None:
    register = registers()[name]
    assert (register.base, register.view) == (base, view)


def test_every_base_has_as_many_views_as_its_class() -> None:
    count = {base: 0 for bases in BASES.values() for base in bases}
    for register in registers().values():
        count[register.base] += 1
    assert [count[base] for base in BASES["gp"]] == [5] * 4 + [4] * 12
    assert {count[base] for base in BASES["vec"]} == {3}
    assert {count[base] for base in (*BASES["mmx"], *BASES["k"])} == {1}


@pytest.mark.parametrize("name", ["rip", "st", "ds", "cr0"])
def test_what_cannot_be_renamed_is_no_register(name: str) -> None:
    assert name not in registers()


def test_a_part_of_another_base() -> None:
    register = part("rbx", registers()["ah"])
    assert register is not None
    assert register.name == "bh"
    assert part("rsi", registers()["ah"]) is None
    assert part("xmm9", registers()["eax"]) is None

"""Differential execution on this processor: it agrees where it should, sees what is broken, and stays contained."""

from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random

import pytest

from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.x86.legality import Equivalent, compare
from codeaudit.transforms.x86.reading import read
from codeaudit.transforms.x86.rename import RENAME, RENAME_MERGING
from codeaudit.transforms.x86.reorder import REORDER, REORDER_BREAKING
from codeaudit.transforms.x86.witnesses import native
from codeaudit.transforms.x86.witnesses.native import BlockPair, NativeProcessor
from codeaudit.transforms.x86.witnesses.processor import HOST, ROOM, SPRINGBOARD
from codeaudit.transforms.x86.witnesses.verdicts import (
    BlocksAgreed,
    BlocksDiffered,
    BlocksFaulted,
    ExecutionVerdict,
    NotTrusted,
)
from tests.transforms.x86.programs import random_block
from tests.transforms.x86.support import FIGURE_A, FIGURE_B, FIGURE_C, own_blocks, rewrite


@pytest.fixture(scope="module")
def processor() -> Iterator[NativeProcessor]:
    try:
        made = NativeProcessor()
    except CannotAudit as error:
        pytest.skip(str(error))
    with made:
        yield made


def pair(
    before: str,
    after: str,
    renaming: Mapping[str, str] | None = None,
    *,
    same_fault: bool = True,
    seed: int = 1,
) -> BlockPair:
    return BlockPair(
        before=read(before), after=read(after), renaming=renaming or {}, seed=seed, same_fault=same_fault
    )


def verdict(processor: NativeProcessor, *pairs: BlockPair, alone: bool = True) -> list[ExecutionVerdict]:
    return list(processor.compare(pairs, alone=alone))


def needs(*abilities: str) -> None:
    if not native.abilities().issuperset(abilities):
        pytest.skip(f"this processor has not all of {', '.join(abilities)}")


def test_figure_1(processor: NativeProcessor) -> None:
    renamed, merged, unmapped = verdict(
        processor,
        pair(FIGURE_A, FIGURE_B, {"rax": "rbx"}),
        pair(FIGURE_A, FIGURE_C),
        pair(FIGURE_A, FIGURE_B),
    )
    assert isinstance(renamed, BlocksAgreed)
    assert isinstance(merged, BlocksDiffered)
    assert isinstance(unmapped, BlocksDiffered)


@pytest.mark.parametrize(
    ("ability", "before", "after", "renaming"),
    [
        ("sse2", "addps %xmm1, %xmm2", "addps %xmm8, %xmm2", {"xmm1": "xmm8"}),
        ("mmx", "paddd %mm1, %mm2", "paddd %mm5, %mm2", {"mm1": "mm5"}),
        ("fpu", "fldl (%rax)\nfaddp", "fldl (%rbx)\nfaddp", {"rax": "rbx"}),
        ("avx", "vaddps %ymm1, %ymm2, %ymm3", "vaddps %ymm1, %ymm2, %ymm9", {"xmm3": "xmm9"}),
        ("fma", "vfmadd132pd %ymm1, %ymm2, %ymm3", "vfmadd132pd %ymm1, %ymm2, %ymm4", {"xmm3": "xmm4"}),
        ("bmi2", "mulxq %rax, %rbx, %rcx", "mulxq %rsi, %rbx, %rcx", {"rax": "rsi"}),
        ("avx512f", "vaddpd %zmm20, %zmm2, %zmm3", "vaddpd %zmm31, %zmm2, %zmm3", {"xmm20": "xmm31"}),
        ("avx512bw", "kandq %k1, %k2, %k3", "kandq %k1, %k2, %k7", {"k3": "k7"}),
        ("avx512f", "vaddps %zmm1, %zmm2, %zmm3{%k1}", "vaddps %zmm1, %zmm2, %zmm3{%k6}", {"k1": "k6"}),
        ("fsgsbase", "movq %fs:40, %rax", "movq %fs:40, %rbx", {"rax": "rbx"}),
    ],
)
def test_every_kind_of_register_is_loaded_and_compared(
    processor: NativeProcessor, ability: str, before: str, after: str, renaming: dict[str, str]
) -> None:
    needs(ability)
    same, other = verdict(processor, pair(before, after, renaming), pair(before, after))
    assert same == BlocksAgreed(3)
    assert isinstance(other, BlocksDiffered)


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("addq %rax, %rbx", "subq %rax, %rbx", "general registers"),
        ("addps %xmm1, %xmm2", "mulps %xmm1, %xmm2", "vectors registers"),
        ("cmpq %rax, %rbx", "testq %rax, %rbx", "flags"),
        ("clc", "stc", "flags 0x1"),
        ("cld", "std", "flags 0x400"),
        ("movb $1, 8(%rsp)", "movb $2, 8(%rsp)", "memory at"),
        ("movb $1, 65536(%rsp)", "nop", "memory at"),
        ("fldz", "fld1", "stack registers"),
        ("ffree %st(0)\nffree %st(1)", "nop", "status of arithmetic"),
    ],
)
def test_a_difference_is_seen(processor: NativeProcessor, before: str, after: str, what: str) -> None:
    (judged,) = verdict(processor, pair(before, after))
    assert isinstance(judged, BlocksDiffered)
    assert judged.what.startswith(what)


def test_a_fault_is_no_agreement_and_its_place_counts_after_a_renaming(processor: NativeProcessor) -> None:
    divide, load = "xorl %ecx, %ecx\ndivl %ecx", "movq 8, %rax"
    faults, one_only, other_signal, later, any_place, after = verdict(
        processor,
        pair(divide, divide),
        pair("xorl %ecx, %ecx\nnop", divide),
        pair(divide, f"xorl %ecx, %ecx\n{load}"),
        pair(f"{divide}\nnop", "xorl %ecx, %ecx\nnop\ndivl %ecx"),
        pair(f"{divide}\nnop", "xorl %ecx, %ecx\nnop\ndivl %ecx", same_fault=False),
        pair("nop", "nop"),
    )
    assert faults == BlocksFaulted("SIGFPE")
    assert isinstance(one_only, BlocksDiffered)
    assert isinstance(other_signal, BlocksDiffered)
    assert later == BlocksDiffered("another instruction faults")
    assert any_place == BlocksFaulted("SIGFPE")
    assert after == BlocksAgreed(3)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("rdtsc", "not deterministic"),
        ("syscall", "not deterministic"),
        ("hlt", "state of the system"),
        ("xsave (%rsp)", "state of the system"),
        ("popfq", "state of the system"),
        ("fnstenv (%rsp)", "state of the system"),
        ("movq 8(%rip), %rax", "an address in the code"),
        ("int3", "control transfer"),
        ("\n".join(["nop"] * (ROOM + 1)), "too long"),
    ],
)
def test_what_is_not_run(processor: NativeProcessor, source: str, reason: str) -> None:
    assert verdict(processor, pair(source, source)) == [NotTrusted(reason)]


def test_a_block_cannot_change_the_springboard(processor: NativeProcessor) -> None:
    wild = f"movq $-1, {SPRINGBOARD}"
    assert verdict(processor, pair(wild, wild), pair("nop", "nop")) == [
        BlocksFaulted("SIGSEGV"),
        BlocksAgreed(3),
    ]


def test_a_block_that_breaks_its_process_is_lost_alone(processor: NativeProcessor) -> None:
    # The caller's stack pointer is gone, so there is no way back.
    wild = f"movq $8, {HOST}"
    lost, served = verdict(processor, pair(wild, wild), pair("nop", "nop"))
    assert isinstance(lost, NotTrusted)
    assert lost.reason.startswith("lost: killed by signal")
    assert served == BlocksAgreed(3)


def test_no_native_execution_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "abilities", frozenset)
    with pytest.raises(CannotAudit, match="needs Linux on x86-64"):
        NativeProcessor()


def test_engines_agree_and_controls_differ(processor: NativeProcessor) -> None:
    blocks = [*own_blocks(40), *(random_block(Random(seed)) for seed in range(60))]
    kinds, pairs = [], []
    for transform in (RENAME, REORDER, RENAME_MERGING, REORDER_BREAKING):
        for seed, source in enumerate(blocks):
            if (text := rewrite(transform, source, seed)) is None:
                continue
            judged = compare(read(source), read(text)) if transform is RENAME else None
            renaming = judged.renaming if isinstance(judged, Equivalent) else {}
            kinds.append(transform.kind)
            pairs.append(pair(source, text, renaming, same_fault=transform is RENAME, seed=seed))
    counts = Counter(
        (kind, type(judged))
        for kind, judged in zip(kinds, verdict(processor, *pairs, alone=False), strict=True)
    )
    assert counts["preserving", BlocksDiffered] == 0
    assert counts["preserving", BlocksAgreed] > 100
    # Undefined flags, which may tell a control, differ between processors.
    assert counts["control", BlocksDiffered] > 8 * counts["control", BlocksAgreed]

"""Each instruction does no more than its declared effects: asked of this processor, from pairs of states."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

import pytest

from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.x86.effects import Touch, conflicts, touch
from codeaudit.transforms.x86.reading import read, read_operation
from codeaudit.transforms.x86.witnesses.native import NativeProcessor
from tests.transforms.x86 import probing
from tests.transforms.x86.specimens import entries, lacks, specimens

PARTS = 40


@pytest.fixture(scope="module")
def asker() -> Iterator[NativeProcessor]:
    try:
        made = NativeProcessor(probing.TARGET)
    except CannotAudit as error:
        pytest.skip(str(error))
    with made:
        yield made


@pytest.mark.thinned(1)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_entry_does_more_than_it_declares(asker: NativeProcessor, part: int) -> None:
    """Registers, flags, memory and the x87 stack of all encodings that may move; flags of all others."""
    rng = Random(part)
    made = [
        (name, one)
        for name, code in list(entries())[part::PARTS]
        for one in specimens(code, rng)
        if probing.can_probe(one)
    ]
    found = probing.probe(asker, [one for _, one in made])
    wrong = [
        (name, one.text, told.wrong) for (name, one), told in zip(made, found, strict=True) if told.wrong
    ]
    assert wrong == []
    assert all(probing.declares_all_registers(one, touch(one)) for _, one in made)
    # Nearly everything that may move and that this processor has ran to its end.
    able = {name for name, one in made if not touch(one).barrier and not lacks(one)}
    ran = {name for (name, _), told in zip(made, found, strict=True) if told.runs}
    assert len(able - ran) <= 0.05 * len(able)
    assert len(able) > 20


def without(name: str) -> Callable[[Touch], Touch]:
    """What forgets a register."""
    return lambda told: replace(told, reads=told.reads - {name}, writes=told.writes - {name})


@pytest.mark.parametrize(
    ("line", "forget"),
    [
        ("addq %rax, %rbx", without("rax")),
        ("addq %rax, %rbx", without("rbx")),
        ("mulq %rbx", without("rdx")),
        ("mulq %rbx", without("rax")),
        ("cltq", without("rax")),
        ("cmpxchgq %rcx, %rbx", without("rax")),
        ("cmoveq %rax, %rbx", without("rbx")),
        ("pushq %rax", without("rsp")),
        ("mulxq %rax, %rbx, %rcx", without("rdx")),
        ("blendvps %xmm0, %xmm1, %xmm2", without("xmm0")),
        ("addps %xmm1, %xmm2", without("xmm2")),
        ("pinsrw $1, %eax, %xmm1", without("rax")),
        ("adcq %rax, %rbx", lambda told: replace(told, flags_read=0)),
        ("incq %rax", lambda told: replace(told, flags_written=0)),
        ("shlq %cl, %rax", lambda told: replace(told, flags_read=0)),
        ("rclb $9, %al", lambda told: replace(told, flags_written=0)),
        ("repne scasb %es:(%rdi), %al", lambda told: replace(told, flags_read=0)),
        ("repe cmpsb %es:(%rdi), (%rsi)", lambda told: replace(told, flags_read=0)),
        ("movq (%rbx), %rax", lambda told: replace(told, memory=())),
        ("movq %rax, (%rbx)", lambda told: replace(told, memory=())),
        ("movq %rax, (%rbx)", lambda told: replace(told, memory=(replace(told.memory[0], size=4),))),
        ("movq %rax, (%rbx)", lambda told: replace(told, memory=(replace(told.memory[0], writes=False),))),
        ("pushq %rax", lambda told: replace(told, memory=())),
        ("btsl %eax, (%rbx)", lambda told: replace(told, memory=(replace(told.memory[0], size=4),))),
    ],
)
def test_a_declaration_that_claims_less_is_noticed(
    asker: NativeProcessor, monkeypatch: pytest.MonkeyPatch, line: str, forget: Callable[[Touch], Touch]
) -> None:
    operation = read_operation(line, "att")
    (whole,) = probing.probe(asker, [operation])
    assert whole.runs
    assert whole.wrong == ()
    monkeypatch.setattr(probing, "touch", lambda one: forget(touch(one)))
    monkeypatch.setattr(probing, "STATES", 60)
    (less,) = probing.probe(asker, [operation])
    assert less.wrong


@pytest.mark.parametrize(
    "line",
    [
        "repne scasb %es:(%rdi), %al",
        "repe scasq %es:(%rdi), %rax",
        "repe cmpsb %es:(%rdi), (%rsi)",
        "repne cmpsl %es:(%rdi), (%rsi)",
        "shll %cl, %eax",
        "rorb %cl, %al",
        "shrdq %cl, %rax, %rbx",
        "rcrl %cl, %eax",
        "rclb $9, %al",
        "rcrb $18, %al",
        "rclw $17, %ax",
    ],
)
def test_a_flag_that_may_stay_keeps_the_writers_before_it_in_order(line: str) -> None:
    """Where the count is 0 or a whole number of turns, the flags before it pass through."""
    told = touch(read_operation(line, "att"))
    assert told.flags_written
    assert told.flags_written & ~told.flags_read == 0
    assert conflicts(read(f"decq %rsi\nnegq %r9\n{line}"))[1] == 1

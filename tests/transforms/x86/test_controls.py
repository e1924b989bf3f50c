"""The controls of renaming: each breaks what its name says, and nothing else is a control."""

import pytest

from codeaudit.transforms.interface import NOT_A_MOVE, Refused, Rewritten
from codeaudit.transforms.records import Move
from codeaudit.transforms.x86.legality import REFERENT, SHAPE, Different, compare
from codeaudit.transforms.x86.reading import read
from codeaudit.transforms.x86.rename import NO_PAIR, NO_VIEW, RENAME_MERGING, RENAME_VIEWS
from tests.transforms.x86.support import FIGURE_A, FIGURE_C, draw, own_blocks, reason, rewrite


def judged(before: str, after: str) -> object:
    verdict = compare(read(before), read(after))
    return verdict.reason if isinstance(verdict, Different) else verdict


def test_figure_1_c_is_a_merge_and_a_broken_view() -> None:
    first, second, third = FIGURE_C.split("\n")
    merged = {text for seed in range(40) if (text := rewrite(RENAME_MERGING, FIGURE_A, seed))}
    # The figure renames rsp on one line only; as no other line names it, that is the whole register.
    assert "\n".join([first, "subl $1, 56(%rbp)", third]) in merged
    broken = {text for seed in range(40) if (text := rewrite(RENAME_VIEWS, FIGURE_A, seed))}
    assert "\n".join(["movq 64(%rsp), %rax", second, third]) in broken


def test_a_load_through_its_own_target_is_preferred() -> None:
    """As in the figure: what is loaded is the next address, so iterations wait for each other."""
    source = "movq (%rdi), %rax\naddq %rsi, %rbx"
    assert {rewrite(RENAME_MERGING, source, seed) for seed in range(20)} == {
        "movq (%rax), %rax\naddq %rsi, %rbx"
    }


def test_the_merged_register_is_one_that_is_read() -> None:
    texts = {rewrite(RENAME_MERGING, "movq %rax, %rbx\nmovq %rcx, %rdx", seed) for seed in range(40)}
    assert texts <= {
        "movq %rbx, %rbx\nmovq %rcx, %rdx",
        "movq %rdx, %rbx\nmovq %rcx, %rdx",
        "movq %rax, %rbx\nmovq %rbx, %rdx",
        "movq %rax, %rbx\nmovq %rdx, %rdx",
    }
    assert len(texts) > 1


@pytest.mark.parametrize("source", ["movq $1, %rax", "pushq $1", "movq $1, %rax\nmovq $2, %rbx"])
def test_nothing_to_merge(source: str) -> None:
    assert reason(RENAME_MERGING, source) == NO_PAIR


@pytest.mark.parametrize(
    "moves",
    [
        (),
        (Move(kind="merge", site=0, value="r9", note=""),),
        (Move(kind="merge", site=9, value="rax", note=""),),
        (Move(kind="merge", site=0, value="xmm0", note=""),),
        (Move(kind="merge", site=0, value=(0,), note=""),),
    ],
)
def test_what_is_no_merge_is_refused(moves: tuple[Move, ...]) -> None:
    assert RENAME_MERGING.apply(FIGURE_A, moves) == Refused(NOT_A_MOVE)


def test_views_of_one_instruction_change() -> None:
    source = "vaddps %xmm1, %xmm2, %xmm3"
    assert {rewrite(RENAME_VIEWS, source, seed) for seed in range(20)} == {"vaddps %ymm1, %ymm2, %ymm3"}
    texts = {rewrite(RENAME_VIEWS, "movl 8(%rax,%rbx,4), %ecx", seed) for seed in range(20)}
    assert texts == {"movl 8(%eax,%ebx,4), %ecx"}


def test_the_note_says_what_became_narrower() -> None:
    assert draw(RENAME_VIEWS, "subl $1, 56(%rbp)") == (
        Move(kind="view", site=0, value="ebp", note="instruction 1: rbp -> ebp"),
    )


@pytest.mark.parametrize("source", ["pushq $1", "addq %rax, %rbx"])
def test_no_view_to_break(source: str) -> None:
    assert reason(RENAME_VIEWS, source) == NO_VIEW


@pytest.mark.parametrize(
    "moves",
    [
        (),
        (Move(kind="view", site=1, value="rbp", note=""),),
        (Move(kind="view", site=1, value="eax", note=""),),
        (Move(kind="view", site=7, value="ebp", note=""),),
        (Move(kind="view", site=1, value=(0,), note=""),),
    ],
)
def test_what_breaks_no_view_is_refused(moves: tuple[Move, ...]) -> None:
    assert isinstance(RENAME_VIEWS.apply(FIGURE_A, moves), Refused)


def test_on_blocks_of_a_program_each_breaks_what_it_says() -> None:
    merged = broken = 0
    for seed, source in enumerate(own_blocks(150)):
        text = rewrite(RENAME_MERGING, source, seed)
        if text is not None:
            merged += 1
            assert judged(source, text) == REFERENT
        text = rewrite(RENAME_VIEWS, source, seed)
        if text is not None:
            broken += 1
            assert judged(source, text) == SHAPE
            lines = zip(source.split("\n"), text.split("\n"), strict=True)
            assert sum(one != other for one, other in lines) == 1
    assert merged > 75
    assert broken > 75


def test_controls_have_evidence() -> None:
    for transform in (RENAME_MERGING, RENAME_VIEWS):
        moves = draw(transform, FIGURE_A)
        assert not isinstance(moves, Refused)
        rewritten = transform.apply(FIGURE_A, moves)
        assert isinstance(rewritten, Rewritten)
        assert rewritten.evidence == "analysis"

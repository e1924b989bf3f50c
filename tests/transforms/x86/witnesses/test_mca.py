"""llvm-mca, where it is installed: the paper's figure, batches, what it rejects, and what is missing."""

import sys
from random import Random

import pytest

from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.x86.rename import RENAME
from codeaudit.transforms.x86.witnesses import mca
from codeaudit.transforms.x86.witnesses.mca import Mca, Measured, NotMeasured, find
from tests.transforms.x86.programs import random_block
from tests.transforms.x86.support import FIGURE_A, FIGURE_B, FIGURE_C, own_blocks, rewrite


@pytest.fixture(scope="module")
def tool() -> Mca:
    try:
        return find()
    except CannotAudit as error:
        pytest.skip(str(error))


def measured(tool: Mca, *blocks: str) -> list[Measured]:
    costs = list(tool.measure(blocks))
    assert all(isinstance(cost, Measured) for cost in costs), costs
    return [cost for cost in costs if isinstance(cost, Measured)]


def test_figure_1(tool: Mca) -> None:
    costs = measured(tool, FIGURE_A, FIGURE_B, FIGURE_C)
    assert [cost.throughput for cost in costs] == [1.68, 1.68, 10.03]
    assert costs[0] == costs[1]
    assert {(cost.cpu, cost.iterations, cost.version) for cost in costs} == {("haswell", 100, tool.version)}
    assert [cost.instructions for cost in costs] == [3, 3, 3]


@pytest.mark.slow
def test_a_block_alone_and_in_company_costs_the_same(tool: Mca) -> None:
    blocks = own_blocks(20)
    together = list(tool.measure(blocks))
    assert together == [cost for block in blocks for cost in tool.measure([block])]
    assert together[::-1] == list(tool.measure(blocks[::-1]))


def test_a_lock_on_a_line_of_its_own_is_no_instruction(tool: Mca) -> None:
    one, other = measured(tool, "lock\nxaddl %eax, (%rdx)", "lock xaddl %eax, (%rdx)")
    assert one == other
    assert one.instructions == 1


def test_what_is_rejected_leaves_the_rest(tool: Mca) -> None:
    costs = list(tool.measure([FIGURE_A, "movk %rax", FIGURE_C, "sgdt (%rax)\nlidt (%rax)", FIGURE_B]))
    assert isinstance(costs[1], NotMeasured)
    assert costs[1].reason == "line 1: unknown mnemonic 'movk'"
    assert [cost.cycles for cost in costs if isinstance(cost, Measured)][:2] == [168, 1003]
    assert isinstance(costs[4], Measured)


def test_a_line_that_only_llvm_rejects_is_taken_out(tool: Mca, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mca, "lines_of", lambda block: block.split("\n"))
    costs = list(tool.measure(["nop", "nop\nnosuch %rax", "also wrong", "nop\nnop"]))
    assert [type(cost) for cost in costs] == [Measured, NotMeasured, NotMeasured, Measured]
    assert isinstance(costs[1], NotMeasured)
    assert "invalid instruction" in costs[1].reason


def test_nothing_to_measure(tool: Mca) -> None:
    assert list(tool.measure([])) == []
    assert [type(cost) for cost in tool.measure(["", "movk"])] == [NotMeasured, NotMeasured]


def test_iterations_count(tool: Mca) -> None:
    few = find(iterations=10)
    assert measured(few, FIGURE_A)[0].throughput != measured(tool, FIGURE_A)[0].throughput


def test_why_the_accumulator_stays_the_accumulator(tool: Mca) -> None:
    one, other = measured(tool, "sbbq $0, %rax", "sbbq $0, %r12")
    assert one.cycles != other.cycles


@pytest.mark.slow
def test_renamed_blocks_cost_the_same(tool: Mca) -> None:
    blocks = [*own_blocks(150), *(random_block(Random(seed)) for seed in range(150))]
    pairs = [(block, rewrite(RENAME, block, seed)) for seed, block in enumerate(blocks)]
    pairs = [(before, after) for before, after in pairs if after is not None]
    before = measured(tool, *(block for block, _ in pairs))
    after = measured(tool, *(other for _, other in pairs if other is not None))
    assert before == after
    assert len(pairs) > 250


def test_a_missing_tool_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(CannotAudit, match="llvm-mca is not installed; try: apt-get install llvm"):
        find()


def test_another_program_is_not_taken_for_it() -> None:
    with pytest.raises(CannotAudit, match="does not report its version"):
        find(program=sys.executable)


def test_an_unknown_processor_is_one_clear_line(tool: Mca) -> None:
    with pytest.raises(CannotAudit, match="cannot model 'pentagon'"):
        find(cpu="pentagon")

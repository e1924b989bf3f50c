"""llvm-mca, this processor and the emulator as witnesses of x86: what each says, and runs without them."""

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from codeaudit.audit.evidence_check import BehavesDifferently, BehavesSame, FindingCounts, Undecided, execute
from codeaudit.audit.labels import GivenLabels
from codeaudit.audit.records import Case
from codeaudit.audit.store import read_rows
from codeaudit.audit.suite import SuitePlan, case
from codeaudit.audit.tasks.throughput import CostLabels
from codeaudit.audit.witnesses.x86 import (
    COST_DIFFERS,
    EXECUTION_DIFFERS,
    FAULTS,
    NOT_MEASURED,
    X86Tools,
    compared,
    emulated,
    witness,
)
from codeaudit.cli.main import main
from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.records import Kind, Move, NotApplied, Origin, Perturbed, Sample
from codeaudit.transforms.x86.reorder import REORDER
from codeaudit.transforms.x86.witnesses.mca import Mca, Measured, Measurement, NotMeasured, find
from tests.support.blocks import BLOCKS, FIGURE_A, FIGURE_B, FIGURE_C
from tests.transforms.x86.support import own_blocks, rewrite

RENAMED = Move(kind="rename", site=0, value="rbx", note="rax -> rbx")
ORDERED = Move(kind="order", site=0, value=(1, 0), note="1, 2 -> 2, 1")
COST = Measured(
    cycles=168, uops=500, instructions=3, reciprocal_throughput=1.0, iterations=100, cpu="x", version="1"
)


@pytest.fixture(scope="module")
def tool() -> Mca:
    try:
        return find()
    except CannotAudit as error:
        pytest.skip(str(error))


def sample(source: str) -> Sample:
    return Sample(id=source, language="x86", source=source, label=None, origin=Origin(path="a", line=1))


def variant(before: str, after: str, move: Move = RENAMED, kind: Kind = "preserving") -> Perturbed:
    return Perturbed(
        sample=sample(before),
        transform="t",
        kind=kind,
        variant=0,
        source=after,
        moves=(move,),
        evidence="analysis",
    )


def judged(tools: X86Tools, *variants: Perturbed) -> tuple[list[str], FindingCounts]:
    findings = FindingCounts()
    cases = [Case(sample=edit.sample, outcomes=(edit,)) for edit in variants]
    after = [outcome for each in execute(cases, {"x86": tools}, findings) for outcome in each.outcomes]
    return [edit.reason if isinstance(edit, NotApplied) else edit.evidence for edit in after], findings


@pytest.mark.parametrize(
    ("move", "after", "told"),
    [
        (RENAMED, COST, BehavesSame("measured")),
        (RENAMED, replace(COST, cycles=169), BehavesDifferently("measured", COST_DIFFERS)),
        (RENAMED, replace(COST, uops=400), BehavesDifferently("measured", COST_DIFFERS)),
        (RENAMED, replace(COST, instructions=4), BehavesDifferently("measured", COST_DIFFERS)),
        (RENAMED, replace(COST, reciprocal_throughput=2.0), BehavesDifferently("measured", COST_DIFFERS)),
        (RENAMED, NotMeasured("x"), Undecided(NOT_MEASURED)),
        (RENAMED, None, Undecided(NOT_MEASURED)),
        (ORDERED, replace(COST, cycles=169), BehavesSame("measured")),
        (ORDERED, replace(COST, uops=400), BehavesDifferently("measured", COST_DIFFERS)),
        (ORDERED, replace(COST, instructions=4), BehavesDifferently("measured", COST_DIFFERS)),
        (ORDERED, replace(COST, reciprocal_throughput=2.0), BehavesDifferently("measured", COST_DIFFERS)),
    ],
)
def test_cycles_count_but_for_another_order(
    move: Move, after: Measurement | None, told: BehavesSame | BehavesDifferently | Undecided
) -> None:
    assert compared(variant("a", "b", move), COST, after) == told
    assert compared(variant("a", "b", move), None, after) == Undecided(NOT_MEASURED)


def test_figure_1_is_measured(tool: Mca) -> None:
    alone = X86Tools(mca=tool, emulator="")
    outcomes, findings = judged(
        alone,
        variant(FIGURE_A, FIGURE_B),
        variant(FIGURE_A, FIGURE_C),
        variant(FIGURE_A, FIGURE_C, kind="control"),
        variant("incq %rax", "incq %rbx", kind="control"),
    )
    assert outcomes == ["measured", COST_DIFFERS, "measured", "analysis"]
    assert (findings.kept, findings.broken.total(), findings.changed, findings.unchanged) == (1, 1, 1, 1)


@pytest.mark.slow
def test_an_order_that_costs_other_cycles_is_measured_all_the_same(tool: Mca) -> None:
    pairs = [(block, rewrite(REORDER, block, seed)) for seed, block in enumerate(own_blocks(150))]
    made = [variant(before, after, ORDERED) for before, after in pairs if after is not None]
    costs = list(tool.measure([text for edited in made for text in (edited.sample.source, edited.source)]))
    cycles = [cost.cycles if isinstance(cost, Measured) else -1 for cost in costs]
    assert any(before != after for before, after in zip(cycles[::2], cycles[1::2], strict=True))
    outcomes, _ = judged(X86Tools(mca=tool, emulator=""), *made)
    assert set(outcomes) == {"measured"}
    assert len(outcomes) > 30


def test_a_tool_that_fails_as_a_whole_leaves_variants_as_they_were(tmp_path: Path) -> None:
    gone = X86Tools(mca=Mca(program=str(tmp_path / "gone"), version="1"), emulator="")
    outcomes, findings = judged(gone, variant(FIGURE_A, FIGURE_B))
    assert outcomes == ["analysis"]
    assert findings.open == {NOT_MEASURED: 1}


def test_costs_are_measured_with_the_tool_that_measures_labels() -> None:
    own = Mca(program="x", version="9", cpu="skylake", iterations=7)
    tools = witness(CostLabels(mca=own, replaces=False, cache=None))
    assert tools.mca is own
    assert tools.tools[0] == {"tool": "llvm-mca", "version": "9", "cpu": "skylake", "iterations": 7}


def test_figure_1_is_emulated() -> None:
    pytest.importorskip("unicorn")
    from codeaudit.transforms.x86.witnesses.emulator import Emulator

    tools = X86Tools(mca=None, emulator=Emulator().version)
    assert tools.tools == [{"tool": "unicorn", "version": tools.emulator}]
    outcomes, findings = judged(
        tools,
        variant(FIGURE_A, FIGURE_B),
        variant(FIGURE_A, FIGURE_C),
        variant(FIGURE_A, FIGURE_C, kind="control"),
        variant("incq %rax", "addq $1, %rax", kind="control"),
        variant("vaddps %xmm1, %xmm2, %xmm3", "vaddps %xmm1, %xmm2, %xmm4"),
        variant("xorl %ecx, %ecx\ndivl %ecx", "xorl %ecx, %ecx\ndivl %ecx"),
    )
    assert outcomes == ["executed", EXECUTION_DIFFERS, "executed", "executed", "analysis", "analysis"]
    assert findings.open == {"not executed: AVX": 1, FAULTS: 1}


def test_figure_1_is_executed() -> None:
    tools = replace(witness(GivenLabels()), mca=None, emulator="")
    if not tools.native:
        pytest.skip("blocks cannot be executed here")
    assert tools.tools == [{"tool": "execution", "cpu": tools.native}]
    outcomes, findings = judged(
        tools,
        variant(FIGURE_A, FIGURE_B),
        variant(FIGURE_A, FIGURE_C),
        variant(FIGURE_A, FIGURE_C, kind="control"),
        variant("incq %rax", "addq $1, %rax", kind="control"),
        variant("addps %xmm1, %xmm3", "addps %xmm1, %xmm4"),
        variant("fld1", "fldz", ORDERED),
        variant("rdtsc", "rdtsc", ORDERED),
        variant("xorl %ecx, %ecx\ndivl %ecx", "xorl %ecx, %ecx\ndivl %ecx"),
    )
    assert outcomes[:4] == ["executed", EXECUTION_DIFFERS, "executed", "executed"]
    assert outcomes[4:] == ["executed", EXECUTION_DIFFERS, "analysis", "analysis"]
    assert findings.open == {"not executed: not deterministic": 1, FAULTS: 1}


def test_another_order_must_leave_the_same_in_the_same_registers() -> None:
    """`incq %rbx; incq %rax` is a renaming of `incq %rax; incq %rbx` as well, and so is what is no order."""
    pytest.importorskip("unicorn")
    from codeaudit.transforms.x86.witnesses.emulator import Emulator

    original = "movq %rcx, %rax\nincq %rbx"
    other = variant(original, "movq %rcx, %rbx\nincq %rax", ORDERED)
    assert emulated(other, Emulator()) == BehavesDifferently("executed", EXECUTION_DIFFERS)
    assert emulated(replace(other, moves=(RENAMED,)), Emulator()) == BehavesSame("executed")
    assert emulated(variant(original, "incq %rbx\nmovq %rcx, %rax", ORDERED), Emulator()) == BehavesSame(
        "executed"
    )


@pytest.mark.slow
def test_all_that_the_engines_make_agrees_with_what_is_installed() -> None:
    tools = witness(GivenLabels())
    if not tools.tools:
        pytest.skip("no tool is installed")
    plan = SuitePlan(
        transforms=("rename", "reorder", "reorder-breaking", "rename-merging"), variants=2, seed=0
    )
    cases = [case(sample(source), plan) for source in (*BLOCKS, *own_blocks(60))]
    findings = FindingCounts()
    after = [outcome for each in execute(iter(cases), {"x86": tools}, findings) for outcome in each.outcomes]
    assert findings.broken.total() == 0
    assert findings.kept > 120
    assert findings.changed > 20
    shown = Counter(
        edit.evidence for edit in after if isinstance(edit, Perturbed) and edit.kind == "preserving"
    )
    assert set(shown) <= {"executed", "measured", "analysis"}
    assert shown["analysis"] < 0.2 * shown.total()


def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> list[dict[str, object]]:
    monkeypatch.chdir(tmp_path)
    Path("blocks.csv").write_text("asm\n" + "".join(f'"{source}"\n' for source in own_blocks(20)))
    Path("plain.py").write_text("def double(x: int):\n    y = x * 2\n    return y\n", encoding="utf-8")
    place = ["--suite", "suite.parquet", "--variants", "1", "--task", "throughput", "--execute"]
    assert main(["transform", "blocks.csv", *place, *words]) == 0
    return [row for row in read_rows(Path("suite.parquet")) if row["status"] == "perturbed"]  # type: ignore[misc]


@pytest.mark.slow
def test_a_suite_of_blocks_carries_the_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tool: Mca
) -> None:
    rows = run(tmp_path, monkeypatch)
    kept = {row["evidence"] for row in rows if row["kind"] == "preserving"}
    assert kept <= {"measured", "executed"}
    message = capsys.readouterr().err
    assert f"tool llvm-mca, version {tool.version}, cpu haswell, iterations 100" in message
    assert "agree with their original, 0 do not (left out)" in message


def test_missing_tools_are_a_line_each_and_nothing_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("codeaudit.transforms.x86.witnesses.native.abilities", frozenset)
    monkeypatch.setitem(sys.modules, "unicorn", None)
    rows = run(tmp_path, monkeypatch)
    assert {row["evidence"] for row in rows} == {"analysis"}
    printed = capsys.readouterr().err.splitlines()
    lines = [line for line in printed if "goes on without it" in line]
    assert len(lines) == 3
    assert "llvm-mca is not installed; try: apt-get install llvm" in lines[0]
    assert "native execution of blocks needs Linux on x86-64" in lines[1]
    assert 'pip install "codeaudit-ml[emulator]"' in lines[2]
    assert sum("no variant was executed" in line for line in printed) == 1


def test_the_manifest_says_who_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: Mca) -> None:
    monkeypatch.chdir(tmp_path)
    Path("blocks.csv").write_text("asm\n" + "".join(f'"{source}"\n' for source in own_blocks(10)))
    words = [
        "run",
        "--task",
        "throughput",
        "--corpus",
        "blocks.csv",
        "--model",
        "fake/hash",
        "--workers",
        "1",
    ]
    assert main([*words, "--labels", "llvm-mca:skylake", "--execute", "--out", "made"]) == 0
    witnesses = json.loads(Path("made/manifest.json").read_text(encoding="utf-8"))["corpus"]["witnesses"]
    assert witnesses["x86"][0] == {
        "tool": "llvm-mca", "version": tool.version, "cpu": "skylake", "iterations": 100,
    }  # fmt: skip
    assert main([*words, "--out", "other"]) == 0
    assert "witnesses" not in json.loads(Path("other/manifest.json").read_text(encoding="utf-8"))["corpus"]

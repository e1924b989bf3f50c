"""Labels: of a column, of llvm-mca, of nobody; and those of variants whose cost may be another."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import LabelColumn
from codeaudit.audit.labels import GivenLabels, labels
from codeaudit.audit.records import Case
from codeaudit.audit.rows import read_suite, suite_rows
from codeaudit.audit.store import SUITE_COLUMNS, LinesWriter, TableWriter
from codeaudit.audit.suite import SuitePlan, case
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.audit.tasks.throughput import THROUGHPUT, CostLabels
from codeaudit.cli.main import main
from codeaudit.transforms.errors import CannotAudit, UsageError
from codeaudit.transforms.records import Origin, Perturbed, Sample
from codeaudit.transforms.x86.witnesses.mca import Mca, Measured, Measurement, NotMeasured, find
from tests.support.blocks import BLOCKS, FIGURE_A, FIGURE_B, FIGURE_C
from tests.transforms.x86.support import own_blocks


@dataclass(frozen=True, kw_only=True)
class Counted(Mca):
    """Counts what it is asked, and costs a block by its characters; a stand-in where no tool is installed."""

    asked: list[str] = field(default_factory=list)

    def measure(self, blocks: Iterator[str]) -> Iterator[Measurement]:  # type: ignore[override]
        for block in blocks:
            self.asked.append(block)
            if "pushq" in block:
                yield NotMeasured("no such instruction")
            else:
                yield Measured(
                    cycles=sum(place * ord(letter) for place, letter in enumerate(block)),
                    uops=1,
                    instructions=1,
                    reciprocal_throughput=1.0,
                    iterations=100,
                    cpu="x",
                    version="1",
                )


@pytest.fixture
def witness() -> Counted:
    return Counted(program="none", version="1")


def sample(source: str, label: float | None = None) -> Sample:
    return Sample(id=source, language="x86", source=source, label=label, origin=Origin(path="a", line=1))


def varied(label: float | None = None) -> list[Case]:
    plan = SuitePlan(transforms=("identity", "rename", "reorder", "rename-merging"), variants=3, seed=0)
    return [case(sample(source, label), plan) for source in BLOCKS]


def variants(cases: list[Case]) -> list[Perturbed]:
    return [outcome for each in cases for outcome in each.outcomes if isinstance(outcome, Perturbed)]


def test_a_spec_is_a_column_a_tool_or_nothing() -> None:
    assert labels("throughput_hsw/100", THROUGHPUT).column == LabelColumn(name="throughput_hsw", divisor=100)
    assert labels("cycles", THROUGHPUT).column == LabelColumn(name="cycles")
    assert labels("a/b", THROUGHPUT).column == LabelColumn(name="a/b")
    assert labels("none", THROUGHPUT) == GivenLabels(ignored=True, costs=True)
    assert labels("label", FUNCTION_NAME).column == LabelColumn(name="label")
    assert labels(None, FUNCTION_NAME) == GivenLabels()


@pytest.mark.parametrize("spec", ["cycles/0", "cycles/-3", "cycles/inf", "llvm-mca:"])
def test_a_spec_that_means_nothing_is_told(spec: str) -> None:
    with pytest.raises(UsageError, match="--labels"):
        labels(spec, THROUGHPUT)


def test_names_are_not_measured() -> None:
    with pytest.raises(UsageError, match="knows no labels of task 'function-name'"):
        labels("llvm-mca", FUNCTION_NAME)


def test_without_the_tool_there_are_no_labels_and_naming_it_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    nothing = labels(None, THROUGHPUT)
    assert nothing == GivenLabels(costs=True)
    assert nothing.filled([sample(FIGURE_A)]) == (sample(FIGURE_A),)
    assert nothing.about == {}
    with pytest.raises(CannotAudit, match="llvm-mca is not installed"):
        labels("llvm-mca", THROUGHPUT)


def test_what_has_no_label_is_measured_and_what_has_one_is_let_be(witness: Counted) -> None:
    fill = CostLabels(mca=witness, replaces=False, cache=None)
    assert fill.settled([sample(FIGURE_A), sample(FIGURE_B)]) is fill
    one, other = fill.filled([sample(FIGURE_A), sample("pushq %rax")])
    assert isinstance(one.label, float)
    assert other.label is None
    given = (sample(FIGURE_A, 3.0), sample(FIGURE_B))
    assert fill.settled(given).filled(given) == given, "two sources of labels are not mixed"
    assert fill.settled(given).about == {"corpus": "its own"}
    named = replace(fill, replaces=True)
    assert named.settled(given) is named
    measured = named.filled(given)
    assert [each.label != before.label for each, before in zip(measured, given, strict=True)] == [True, True]
    assert GivenLabels(ignored=True).filled(given) == (sample(FIGURE_A), sample(FIGURE_B)), "--labels none"


def test_what_was_told_once_is_remembered(witness: Counted, tmp_path: Path) -> None:
    fill = CostLabels(mca=witness, replaces=False, cache=tmp_path / "labels")
    given = [sample(FIGURE_A), sample("pushq %rax"), sample(FIGURE_C)]
    first = fill.filled(given)
    assert fill.filled(given) == first
    assert len(witness.asked) == 3
    other = replace(fill, mca=replace(witness, cpu="another"))
    assert other.filled(given) == first
    assert len(witness.asked) == 6, "another processor is asked anew"
    (path, _) = sorted((tmp_path / "labels").iterdir())
    for damaged in ("[1.0]", "{", ""):
        path.write_text(damaged)
        assert fill.filled(given) == first
        assert other.filled(given) == first


def test_an_order_and_a_control_have_labels_of_their_own(witness: Counted) -> None:
    fill = CostLabels(mca=witness, replaces=False, cache=None)
    cases = [replace(bare, sample=fill.filled([bare.sample])[0]) for bare in varied()]
    witness.asked.clear()
    edited = variants(list(fill.relabelled(iter(cases))))
    kinds = {variant.transform for variant in edited}
    assert kinds == {"identity", "rename", "reorder", "rename-merging"}
    asked = {variant.source for variant in edited if variant.transform in ("reorder", "rename-merging")}
    assert set(witness.asked) == asked
    for variant in edited:
        if variant.source in asked:
            (known,) = fill.filled([sample(variant.source)])
            assert variant.sample.label == known.label
        else:
            assert variant.sample.label is None, "these keep their sample's label"


def test_where_labels_come_from_a_table_those_of_orders_are_unknown(witness: Counted) -> None:
    measuring = CostLabels(mca=witness, replaces=False, cache=None)
    for fill in (measuring.settled(labelled.sample for labelled in varied(2.0)), GivenLabels(costs=True)):
        edited = variants(list(fill.relabelled(iter(varied(2.0)))))
        by_transform = {variant.transform: variant.sample.label for variant in edited}
        assert by_transform == {"identity": 2.0, "rename": 2.0, "reorder": None, "rename-merging": None}
    assert witness.asked == []


def test_names_of_functions_are_left_alone() -> None:
    given = varied(2.0)
    assert list(labels(None, FUNCTION_NAME).relabelled(iter(given))) == given


@pytest.mark.parametrize("ending", [".parquet", ".jsonl"])
def test_the_labels_of_variants_survive_the_suite(tmp_path: Path, witness: Counted, ending: str) -> None:
    given = list(CostLabels(mca=witness, replaces=False, cache=None).relabelled(iter(varied(2.0))))
    path = tmp_path / f"suite{ending}"
    writer = TableWriter if ending == ".parquet" else LinesWriter
    with writer(path, SUITE_COLUMNS, {"schema": 1, "task": "throughput", "corpus": "c"}) as table:
        for labelled in given:
            table.write(suite_rows(0, labelled))
    assert list(read_suite(path, seed=0)) == given
    assert len({variant.sample.label for variant in variants(given)}) > 3


def test_a_suite_of_an_earlier_version_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "suite.parquet"
    older = {name: kind for name, kind in SUITE_COLUMNS.items() if name != "label_after"}
    given = varied(2.0)
    with TableWriter(path, older, {"schema": 1, "task": "throughput", "corpus": "c"}) as table:
        for labelled in given:
            table.write([{name: row.get(name) for name in older} for row in suite_rows(0, labelled)])
    assert list(read_suite(path, seed=0)) == given


def test_figure_1_is_labelled_as_printed(tmp_path: Path) -> None:
    try:
        find()
    except CannotAudit as error:
        pytest.skip(str(error))
    fill = labels(None, THROUGHPUT, cache=tmp_path)
    blocks = fill.filled([sample(source) for source in (FIGURE_A, FIGURE_B, FIGURE_C)])
    assert [block.label for block in blocks] == [1.68, 1.68, 10.03]
    assert fill.about["cpu"] == "haswell"
    assert fill.about["iterations"] == 100


@pytest.mark.slow
def test_a_run_measures_its_blocks_and_what_an_order_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        tool = find()
    except CannotAudit as error:
        pytest.skip(str(error))
    monkeypatch.chdir(tmp_path)
    Path("blocks.csv").write_text("asm\n" + "".join(f'"{source}"\n' for source in own_blocks(60)))
    words = ["run", "--task", "throughput", "--corpus", "blocks.csv", "--workers", "1", "--cache", "cache"]
    assert main([*words, "--model", "fake/constant", "--out", "made", "--format", "json"]) == 0
    printed = capsys.readouterr()
    assert f"labels: tool llvm-mca, version {tool.version}, cpu haswell, iterations 100" in printed.err
    (model,) = json.loads(printed.out)["models"]
    rows = {row["transform"]: row for row in model["by_transform"]}
    assert rows["rename"]["pairs"]["total"] == rows["rename"]["applied"] > 100
    assert 0 < rows["reorder"]["pairs"]["total"] <= rows["reorder"]["applied"]
    assert rows["reorder"]["pairs"]["count"] == 0, "the constant never changes its answer"
    controls = rows["rename-merging"]
    assert 0 < controls["pairs"]["total"] < controls["applied"], "some controls cost the same"
    assert 0 < model["score"]["original"] <= model["score"]["attack_worst_sample"]
    manifest = json.loads(Path("made/manifest.json").read_text(encoding="utf-8"))
    assert manifest["corpus"]["labels"]["version"] == tool.version

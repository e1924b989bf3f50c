"""Variants whose moves come from several transforms."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import codeaudit
from codeaudit.audit.projects.files import loaded
from codeaudit.audit.records import Case
from codeaudit.audit.rows import suite_rows
from codeaudit.cli.main import main
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.language import find_language
from codeaudit.transforms.mixing import Mixed
from codeaudit.transforms.perturb import perturb_one, reapply, under
from codeaudit.transforms.python.files import PYTHON_FILES
from codeaudit.transforms.records import NotApplied, Origin, Perturbed, Sample
from codeaudit.transforms.registry import kind_of, transform_for
from codeaudit.transforms.source_files import TransformSeries, perturb_file

TEXT = """\
def counted(rows, low):
    count = 0
    total = 0
    for row in rows:
        if row in (1, 2) and not row == low:
            total += 2 * row
        else:
            count += 1
    first = 1
    second = 2
    ranked = sorted(rows, key=abs, reverse=True)
    return total, count, first - second, ranked
"""


def sample(source: str = TEXT, language: str = "python") -> Sample:
    return Sample(id="x", language=language, source=source, label=None, origin=Origin(path="", line=1))


def variants(name: str, count: int = 4, *, seed: int = 0, source: str = TEXT) -> list[Perturbed]:
    outcomes = perturb_one(sample(source), transform_for(name, "python"), variants=count, seed=seed)
    return [outcome for outcome in outcomes if isinstance(outcome, Perturbed)]


def gives(source: str) -> object:
    space: dict[str, Any] = {}
    exec(source, space)
    return [space["counted"](rows, low) for rows in ([], [1, -2, 3], [2, 2]) for low in (1, 2)]


@pytest.mark.parametrize("name", ["mixed/order", "mixed/order+expressions", "mixed/all"])
def test_a_variant_has_moves_of_several_transforms_and_keeps_the_meaning(name: str) -> None:
    edits = variants(name)
    assert len({edit.source for edit in edits}) == 4
    assert max(len({move.transform for move in edit.moves}) for edit in edits) > 2
    for edit in edits:
        assert edit.transform == name
        assert gives(edit.source) == gives(TEXT)


@pytest.mark.thinned(1)
@pytest.mark.parametrize("seed", range(12))
def test_every_small_set_of_moves_is_an_edit_of_its_own(seed: int) -> None:
    (edit,) = variants("mixed/order+expressions", 1, seed=seed)
    transform = transform_for(edit.transform, "python")
    made = {
        moves: reapply(sample(), transform, moves)
        for size in (1, 2)
        for moves in combinations(edit.moves, size)
    }
    assert all(isinstance(again, Perturbed) for again in made.values())
    for moves, again in made.items():
        assert isinstance(again, Perturbed)
        assert gives(again.source) == gives(TEXT)
        if len(moves) == 1:  # the move alone is what its own transform makes of it
            own = transform_for(moves[0].transform, "python")
            alone = reapply(sample(), own, moves)
            assert isinstance(alone, Perturbed)
            assert alone.source == again.source


@pytest.mark.weekly
def test_renamings_come_last() -> None:
    # A renaming changes the text of nearly every other site.
    beside = 0
    for seed in range(20):
        for variant in variants("mixed/all", 2, seed=seed):
            renames = [move.transform.startswith("rename") for move in variant.moves]
            assert renames == sorted(renames)
            beside += len(set(renames)) == 2
    assert beside >= 5


@pytest.mark.slow
def test_the_draw_depends_on_seed_sample_and_name() -> None:
    def texts(name: str, seed: int) -> list[str]:
        return [variant.source for variant in variants(name, 2, seed=seed)]

    assert texts("mixed/order", 1) == texts("mixed/order", 1)
    assert texts("mixed/all", 1) != texts("mixed/all", 2)


@pytest.mark.slow
def test_transforms_that_undo_each_other_are_never_in_one_variant() -> None:
    record = find_language("python")
    assert record is not None
    took_part: set[str] = set()
    for seed in range(3):
        for variant in variants("mixed/all", 2, seed=seed):
            parts = {move.transform for move in variant.moves}
            took_part |= parts
            assert not [(a, b) for a in parts for b in parts if b in record.opposed.get(a, ())]
    assert len(took_part) > 15


def test_no_control_takes_part() -> None:
    for name in ("mixed/all", "mixed/order", "mixed/expressions"):
        mixed = transform_for(name, "python")
        assert isinstance(mixed, Mixed)
        assert {kind_of(part.name) for part in mixed.parts} == {"preserving"}


@pytest.mark.parametrize("name", ["reorder-breaking", "identity", "no-such", "mixed/order", "", "order+"])
def test_what_cannot_be_mixed(name: str) -> None:
    with pytest.raises(UsageError):
        transform_for(f"mixed/{name}", "python")


def test_the_evidence_is_that_of_the_weakest_part() -> None:
    (edit,) = variants("mixed/rename+reorder", 1)
    assert {move.transform for move in edit.moves} == {"rename", "reorder"}
    assert edit.evidence == "analysis"
    renamings = tuple(move for move in edit.moves if move.transform == "rename")
    alone = reapply(sample(), transform_for(edit.transform, "python"), renamings)
    assert isinstance(alone, Perturbed)
    assert alone.evidence == "compiled"


def test_an_order_of_the_paper_is_no_evidence_of_the_meaning() -> None:
    mixed = under(transform_for("mixed/order", "python"), "paper")
    evidence = {
        "paper/reorder" in {move.transform for move in edit.moves}: edit.evidence
        for edit in perturb_one(sample(), mixed, variants=8, seed=0)
        if isinstance(edit, Perturbed)
    }
    assert evidence == {True: "parsed", False: "analysis"}


def test_a_language_mixes_its_own_transforms() -> None:
    java = "int f(int a) { int b = 1; int c = 2; return a + b + c; }"
    outcomes = list(
        perturb_one(sample(java, "java"), transform_for("mixed/order", "java"), variants=1, seed=0)
    )
    assert isinstance(outcomes[0], Perturbed)
    other = transform_for("mixed/order", "algebra")
    (refused,) = perturb_one(sample("x", "algebra"), other, variants=1, seed=0)
    assert isinstance(refused, NotApplied)
    assert refused.reason == "other language"


def test_in_a_file_functions_and_the_rest_are_mixed() -> None:
    text = f"import sys\nimport os\n\n\n{TEXT}\n\ndef other():\n    return 0\n"
    series = TransformSeries(transforms=loaded(["mixed/order"], "python"), seed=0)
    done = perturb_file(PYTHON_FILES, text.encode(), "a.py", series)
    parts = {move.transform for record in done.records if hasattr(record, "moves") for move in record.moves}
    assert {"reorder", "reorder-imports"} <= parts
    space: dict[str, Any] = {}
    exec(done.data, space)
    assert gives(done.data.decode()) == gives(TEXT)


def test_a_suite_names_the_transforms_that_took_part() -> None:
    (edit,) = variants("mixed/order", 1)
    (row,) = suite_rows(0, Case(sample=sample(), outcomes=(edit,)))
    names = {parts[4] for parts in json.loads(str(row["moves"]))}
    assert names == {move.transform for move in edit.moves}
    (plain,) = variants("reorder", 1)
    (row,) = suite_rows(0, Case(sample=sample(), outcomes=(plain,)))
    assert {len(parts) for parts in json.loads(str(row["moves"]))} == {4}


def test_the_option_and_the_keyword(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(TEXT)
    assert main(["transform", "a.py", "--mixed", "order,flip-comparisons", "--suite", "s.jsonl"]) == 0
    assert '"mixed/order+flip-comparisons"' in Path("s.jsonl").read_text()
    assert main(["transform", "a.py", "--mixed", "order", "--out", "b.py"]) == 0
    assert gives(Path("b.py").read_text()) == gives(TEXT)
    outcomes = list(codeaudit.perturb([TEXT], "reorder", mixed=["order", "expressions"], variants=1))
    assert [outcome.transform for outcome in outcomes] == ["reorder", "mixed/order+expressions"]
    assert main(["transform", "a.py", "--mixed", "reorder-breaking", "--diff"]) == 2
    assert main(["transform", "a.py", "--mixed", ",", "--diff"]) == 2

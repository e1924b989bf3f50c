"""Baseline files are small, and those of earlier versions are read."""

import hashlib
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from codeaudit import baselines
from codeaudit.audit.integrity import DIGEST
from codeaudit.audit.registry import TASKS
from codeaudit.audit.rows import input_hash
from codeaudit.audit.store import BASELINE, BASELINE_COLUMNS, TableWriter, read_about, read_rows
from codeaudit.audit.tasks.recorded import FACTS
from codeaudit.baselines import read_baseline_file, write_baseline
from codeaudit.reports.gate import OLDER, Limits, gate
from codeaudit.reports.judged import DIGITS, Judged
from codeaudit.reports.records import NOTHING, ByTransform, Flip, ModelHeader, RunHeader
from codeaudit.reports.summarise import summarise

LARGEST = 200_000
TRANSFORMS = ("reorder", "rename", "rename-parameters", "insert-comments", "invert-if", "unused-locals")
CONTROLS = ("reorder-breaking", "rename-merging")
TASK = TASKS.get("function-name")


def made(
    samples: int, *, violated: float = 0.3, sensitive: float | None = None, score: float | None = None
) -> Judged:
    """A run of one model, six transforms and four variants, in which no two texts are equal.

    `sensitive`: the share of answers that change under two controls; `None` for no controls. `score`: the
    share of right answers; `None` for samples without labels.
    """
    chance = Random(0)
    flips, originals = [], {}
    scores: dict[tuple[int, str], float] = {}
    shares = dict.fromkeys(TRANSFORMS, violated)
    if sensitive is not None:
        shares |= dict.fromkeys(CONTROLS, sensitive)
    for number in range(samples):
        sample = hashlib.sha256(f"{number}".encode()).hexdigest()[:16]
        originals[sample] = input_hash("python", f"original {number}")
        shared = {"model": "openai/tiny", "seed": 0, "sample": sample}
        for name, share in shares.items():
            kind = "control" if name in CONTROLS else "preserving"
            for variant in range(4):
                text = input_hash("python", f"{number} {name} {variant}")
                about = {"transform": name, "kind": kind, "variant": variant, "input": text}
                flips.append(Flip(**shared, **about, violated=chance.random() < share))  # type: ignore[arg-type]
        about = {"transform": "identity", "kind": "identity", "variant": 0, "input": originals[sample]}
        flips.append(Flip(**shared, **about, violated=False))  # type: ignore[arg-type]
        if score is not None:
            scores[0, sample] = float(chance.random() < score)
    model = ModelHeader(name="openai/tiny", fingerprint="openai/tiny", parameters=None, noise=0.0)
    header = RunHeader(task="function-name", corpus="stdlib", seed=0, models=(model,))
    summary = summarise([], task=TASK, header=header)
    # What a gate reads of these: which transforms are to be judged.
    rows = tuple(
        ByTransform(
            transform=name,
            kind="control" if name in CONTROLS else "preserving",
            violations=NOTHING,
            pairs=NOTHING,
            applied=4 * samples,
            unjudged=0,
            not_applied={},
            evidence={},
            max_deviation=0.0,
        )
        for name in shares
    )
    summary = replace(summary, models=(replace(summary.models[0], by_transform=rows),))
    given = {"openai/tiny": scores} if scores else {}
    return Judged(name="run", summary=summary, flips=tuple(flips), originals=originals, scores=given)


def write(path: Path, judged: Judged, schema: int = baselines.SCHEMA) -> None:
    """Write a baseline file, for an earlier schema as the version of that time did."""
    write_baseline(path, judged, TASK, {}, None)
    if schema == baselines.SCHEMA:
        return
    digits = {"input": 16, "original": 16} if schema == 1 else {}
    hashes = {flip.input[:DIGITS]: flip.input for flip in judged.flips}
    hashes |= {text[:DIGITS]: text for text in judged.originals.values()}
    rows = [
        {name: hashes[value] if name in digits else value for name, value in row.items() if name != "score"}
        for row in read_rows(path, table=BASELINE)
        if row["kind"] != "control"
    ]
    new = (FACTS, DIGEST)
    about = {name: value for name, value in read_about(path).items() if name not in new}
    about |= {"schema": schema, "rows": len(rows)}
    about[DIGEST] = hashlib.sha256(baselines._content(about, rows, scored=False)).hexdigest()
    columns = {name: kind for name, kind in BASELINE_COLUMNS.items() if name != "score"}
    with TableWriter(path, columns, about) as table:
        table.write(rows)


@pytest.mark.slow
def test_a_thousand_samples_fit_into_200_kb(tmp_path: Path) -> None:
    path = tmp_path / "main.parquet"
    write(path, made(1000, score=0.4))
    assert path.stat().st_size < LARGEST
    assert len(read_baseline_file(path, None).flips) == 25_000


@pytest.mark.slow
def test_two_controls_of_a_thousand_samples_add_50_kb(tmp_path: Path) -> None:
    """Eight more hashes for each sample beside 25: 180 kB become 230 kB."""
    sizes: list[int] = []
    for sensitive in (None, 0.9):
        path = tmp_path / f"{sensitive}.parquet"
        write(path, made(1000, sensitive=sensitive, score=0.4))
        sizes.append(path.stat().st_size)
    assert 45_000 < sizes[1] - sizes[0] < 55_000


@pytest.mark.slow
def test_a_hundred_samples_take_their_share(tmp_path: Path) -> None:
    path = tmp_path / "main.parquet"
    write(path, made(100, score=0.4))
    # The metadata of the table is the same for every size.
    assert path.stat().st_size < LARGEST / 10 + 5_000


@pytest.mark.parametrize("schema", baselines.READ)
def test_a_file_finds_what_its_run_finds(schema: int, tmp_path: Path) -> None:
    now = made(60, violated=0.5, sensitive=0.0, score=0.1)
    before = made(60, violated=0.1, sensitive=0.9, score=0.9)
    path = tmp_path / "main.parquet"
    write(path, before, schema)
    kept = read_baseline_file(path, None)
    assert {len(flip.input) for flip in kept.flips} == {16 if schema == 1 else DIGITS}
    wanted, found = (gate(now, Limits(), baseline=baseline) for baseline in (before, kept))
    assert {"sensitivity kept", "f1 kept"} <= {check.name for check in wanted.of("failed")}
    if schema < 3:
        lost = [check for check in found.checks if check.name == "sensitivity and score"]
        assert [(check.outcome, check.found) for check in lost] == [("untested", OLDER)]
        # What the file has not is no test, so fewer are adjusted for.
        wanted = gate(now, Limits(allow_insensitive=True), baseline=replace(before, scores={}))
        found = gate(now, Limits(allow_insensitive=True), baseline=replace(kept, older=False))
    assert [check.name for check in wanted.checks].count("rise") == 7
    assert (found.outcome, found.checks, found.notes) == (wanted.outcome, wanted.checks, wanted.notes)


def test_another_text_of_the_same_variant_is_no_partner(tmp_path: Path) -> None:
    before = made(60)
    path = tmp_path / "main.parquet"
    write(path, before)
    flips = tuple(replace(flip, input=f"0{flip.input[1:]}") for flip in before.flips)
    now = Judged(name="now", summary=before.summary, flips=flips, originals=before.originals)
    (shared,) = (
        check for check in gate(now, Limits(), baseline=read_baseline_file(path, None)).checks
        if check.name == "shared"
    )  # fmt: skip
    # A hash in sixteen begins with 0 already.
    assert shared.value == pytest.approx(1 / 16, abs=0.03)


def repeated(run: Judged, unsteady: int) -> Judged:
    """The run with four repeats a sample, of which the last one changed in the first samples."""
    once = [flip for flip in run.flips if flip.kind == "identity"]
    again = (
        replace(flip, variant=variant, violated=variant == 3 and number < unsteady)
        for number, flip in enumerate(once)
        for variant in range(4)
    )
    return replace(run, flips=(*(flip for flip in run.flips if flip.kind != "identity"), *again))


def test_every_repeat_of_a_sample_is_kept(tmp_path: Path) -> None:
    before = repeated(made(60, violated=0.1, sensitive=0.9, score=0.9), 20)
    now = repeated(made(60, violated=0.5, sensitive=0.9, score=0.9), 30)
    path = tmp_path / "main.parquet"
    write(path, before)
    kept = read_baseline_file(path, None)
    again = [(flip.sample, flip.variant, flip.violated) for flip in kept.flips if flip.kind == "identity"]
    assert len(set(again)) == 60 * 4
    assert sum(violated for *_, violated in again) == 20
    wanted, found = (gate(now, Limits(), baseline=baseline) for baseline in (before, kept))
    assert (found.outcome, found.checks, found.notes) == (wanted.outcome, wanted.checks, wanted.notes)
    assert any("unsteady" in note for check in found.checks for note in check.notes) or found.of("failed")

"""Baseline files are small, and those of earlier versions are read."""

import hashlib
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from codeaudit import baselines
from codeaudit.audit.registry import TASKS
from codeaudit.audit.rows import input_hash
from codeaudit.baselines import read_baseline_file, write_baseline
from codeaudit.reports.gate import DIGITS, Judged, Limits, gate
from codeaudit.reports.records import Flip, ModelHeader, RunHeader
from codeaudit.reports.summarise import summarise

LARGEST = 200_000
TRANSFORMS = ("reorder", "rename", "rename-parameters", "insert-comments", "invert-if", "unused-locals")


def made(samples: int, *, violated: float = 0.3) -> Judged:
    """A run of one model, six transforms and four variants, in which no two texts are equal."""
    chance = Random(0)
    flips, originals = [], {}
    for number in range(samples):
        sample = hashlib.sha256(f"{number}".encode()).hexdigest()[:16]
        originals[sample] = input_hash("python", f"original {number}")
        shared = {"model": "openai/tiny", "seed": 0, "sample": sample}
        for name in TRANSFORMS:
            for variant in range(4):
                text = input_hash("python", f"{number} {name} {variant}")
                flip = chance.random() < violated
                told = {"transform": name, "kind": "preserving", "variant": variant, "input": text}
                flips.append(Flip(**shared, **told, violated=flip))  # type: ignore[arg-type]
        told = {"transform": "identity", "kind": "identity", "variant": 0, "input": originals[sample]}
        flips.append(Flip(**shared, **told, violated=False))  # type: ignore[arg-type]
    model = ModelHeader(name="openai/tiny", fingerprint="openai/tiny", parameters=None, noise=0.0)
    header = RunHeader(task="function-name", corpus="stdlib", seed=0, models=(model,))
    summary = summarise([], task=TASKS.get("function-name"), header=header)
    return Judged(name="run", summary=summary, flips=tuple(flips), originals=originals)


@pytest.mark.slow
def test_a_thousand_samples_fit_into_200_kb(tmp_path: Path) -> None:
    path = tmp_path / "main.parquet"
    write_baseline(path, made(1000), {}, None)
    assert path.stat().st_size < LARGEST
    assert len(read_baseline_file(path, None).flips) == 25_000


def test_a_hundred_samples_take_their_share(tmp_path: Path) -> None:
    path = tmp_path / "main.parquet"
    write_baseline(path, made(100), {}, None)
    # The metadata of the table is the same for every size.
    assert path.stat().st_size < LARGEST / 10 + 5_000


@pytest.mark.parametrize("schema", baselines.READ)
def test_a_file_finds_what_its_run_finds(
    schema: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, before = made(60, violated=0.5), made(60, violated=0.1)
    path = tmp_path / "main.parquet"
    with monkeypatch.context() as patch:
        if schema == 1:  # which held all digits
            patch.setattr(baselines, "SCHEMA", 1)
            patch.setattr(baselines, "DIGITS", 16)
        write_baseline(path, before, {}, None)
    kept = read_baseline_file(path, None)
    assert {len(flip.input) for flip in kept.flips} == {16 if schema == 1 else DIGITS}
    wanted, found = (gate(now, Limits(), baseline=one) for one in (before, kept))
    assert wanted.checks
    assert (found.outcome, found.checks, found.notes) == (wanted.outcome, wanted.checks, wanted.notes)


def test_another_text_of_the_same_variant_is_no_partner(tmp_path: Path) -> None:
    before = made(60)
    path = tmp_path / "main.parquet"
    write_baseline(path, before, {}, None)
    flips = tuple(replace(flip, input=f"0{flip.input[1:]}") for flip in before.flips)
    now = Judged(name="now", summary=before.summary, flips=flips, originals=before.originals)
    (shared,) = (
        check for check in gate(now, Limits(), baseline=read_baseline_file(path, None)).checks
        if check.name == "shared"
    )  # fmt: skip
    # A hash in sixteen begins with 0 already.
    assert shared.value == pytest.approx(1 / 16, abs=0.03)

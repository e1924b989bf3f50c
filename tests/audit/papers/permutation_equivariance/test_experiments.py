"""The tables of permutation equivariance, with the smallest networks: what the theorems say holds in them."""

from pathlib import Path
from typing import Any

import pytest
import torch

from codeaudit.audit.papers.experiments import Bench, PaperTrial
from codeaudit.audit.papers.permutation_equivariance import classifiers, split

SIZES = {"side": 32, "patch": 8, "width": 16, "layers": 1, "heads": 2}


def trials(tmp_path: Path, target: Any, rows: list[str], **settings: Any) -> dict[str, PaperTrial]:
    """The trials of an experiment, by row."""
    bench = Bench(
        name="own", rows=rows, settings={**SIZES, **settings}, seeds=1, device="cpu", data=None,
        folder=tmp_path, tell=lambda _: None,
    )  # fmt: skip
    return {trial.row: trial for trial in target(bench)}


@pytest.mark.slow
def test_what_is_permuted_with_its_key_answers_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classifiers, "EACH", 60)
    monkeypatch.setattr(classifiers, "PICTURES", 120)
    settings = {
        "inner": 16,
        "vocabulary": 256,
        "batch": 8,
        "steps": 2,
        "rate": 1e-3,
        "half": False,
        "tested": 40,
    }
    rows = [
        "Test w/o P.",
        "Test w/ row P.",
        "Test w/ col. P.",
        "Train w/o P.",
        "Train w/ row P.",
        "Train w/ col. P.",
    ]
    by_row = trials(tmp_path, classifiers.properties, rows, **settings)
    for tested in ("Test w/ row P.", "Test w/ col. P."):
        for kind, value in by_row[tested].scores.items():
            assert value == pytest.approx(
                by_row["Test w/o P."].scores[kind], abs=0.03
            )  # an argmax may be a tie
    tuned = trials(tmp_path, classifiers.tuning, ["Normal-Normal", "Encrypted-Authorized"], **settings)
    plain, permuted = (trial.series["loss of vit"] for trial in tuned.values())
    assert [y for _, y in permuted] == pytest.approx([y for _, y in plain], abs=1e-3)
    costs = trials(tmp_path, classifiers.costs, ["normal", "permuted"], inner=16, vocabulary=256, batch=8)
    assert costs["permuted"].scores["operations"] > costs["normal"].scores["operations"]


@pytest.mark.slow
def test_every_defence_is_attacked(tmp_path: Path) -> None:
    rows = ["SL", "GN+", "LP 0.3", "BS"]
    settings = {
        "train": 64,
        "tested": 32,
        "steps": 2,
        "attack_steps": 2,
        "batch": 32,
        "rate": 1e-3,
        "radius": 0.2,
    }
    by_row = trials(tmp_path, split.table, rows, **settings)
    assert list(by_row) == [split.ORIGINAL, *rows, "the mean picture"]
    for row in rows:
        assert set(by_row[row].scores) == {"accuracy", "SSIM", "PSNR", "positional SSIM", "positional PSNR"}
        assert len(by_row[row].matrices["pictures"]) == 32
    bench = Bench(
        name="own", rows=["SL"], settings={**SIZES, **settings}, seeds=2, device="cpu", data=None,
        folder=tmp_path, tell=lambda _: None,
    )  # fmt: skip
    first, second = (trial for trial in split.table(bench) if trial.row == "SL")
    assert first.scores["PSNR"] != second.scores["PSNR"]


def test_a_picture_is_the_same_whichever_are_drawn_with_it() -> None:
    made = split.Pictures.of(10, 3, 16, "cpu")
    together = made[:]
    assert together.shape == (10, 1, 16, 16)
    assert len({picture.numpy().tobytes() for picture in together}) == 10, "no two are equal"
    assert torch.equal(made[torch.tensor([7, 2])], together[[7, 2]])
    images, kinds = zip(*made.batches(4), strict=True)
    assert torch.equal(torch.cat(images), together)
    assert torch.equal(torch.cat(kinds), made.kinds)


def test_rows_in_another_order_are_put_back() -> None:
    """The same answers, whatever the order in which the server saw the rows."""
    shape = split.Shape(**SIZES, train=8, tested=8, steps=1, attack_steps=1, batch=8, rate=1e-3, device="cpu")
    torch.manual_seed(0)
    client, server = split.SplitClient(shape), split.blocks(shape, 1).eval()
    images = shape.pictures(8, 1)[:]
    for name in ("SL", "BS"):
        plain, turned = (split.protections({"radius": 0.2}, name + plus) for plus in ("", "+"))
        answers = [split.passed(client, server, images, row, shape.generator(3)) for row in (plain, turned)]
        if name == "SL":
            assert torch.allclose(answers[0], answers[1], atol=1e-5)
        assert answers[1].shape == (8, split.KINDS)

"""Figures 2 and 3 of Renamer, from the bundled checkpoints."""

import pytest

from codeaudit.audit import checkpoints
from codeaudit.audit.papers.renamer import case_study


@pytest.mark.slow
def test_renamer_says_one_number_to_all_renamings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_study, "DRAWS", 60)
    names = {"renamer": "renamer-checkpoint", "vanilla": "vanilla-throughput-checkpoint"}
    networks = {name: checkpoints.FOLDER / folder for name, folder in names.items()}
    renamer, vanilla = case_study.renamings(networks, "cpu")
    assert renamer.scores["answers"] == 1
    assert renamer.scores["lowest"] == renamer.scores["highest"] == pytest.approx(renamer.scores["original"])
    assert vanilla.scores["answers"] > 5
    assert sum(share for _, share in vanilla.series["renamings"]) == pytest.approx(100)
    for epoch in case_study.epochs(networks, "cpu"):
        errors = [error for error, _ in epoch.series["epochs"]]
        assert errors == sorted(errors, reverse=True)
        assert errors[-1] == pytest.approx(100 * epoch.scores["best"])

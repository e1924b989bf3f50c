"""Table 1 of the tree transformer, with the smallest networks."""

import json
from pathlib import Path

import pytest

from codeaudit.audit.papers.experiments import Bench
from codeaudit.audit.papers.tree_transformer.comparison import completions


@pytest.mark.slow
def test_completions_are_scored_for_each_scheme(tmp_path: Path) -> None:
    table = tmp_path / "python_functions.jsonl"
    with table.open("w", encoding="utf-8") as lines:
        for number in range(24):
            source = f"def add_{number}(items):\n    total = {number}\n    for item in items:\n        total += item\n    return total\n"
            split = ("train", "train", "valid", "test")[number % 4]
            lines.write(json.dumps({"source": source, "name": f"add_{number}", "split": split}) + "\n")
    settings = {
        "train": 0, "valid": 0, "test": 0, "tested": 0, "width": 16, "layers": 1, "heads": 2, "levels": 16,
        "embedding": 8, "window": 60, "vocabulary": 100, "spelling": "whole", "batch": 4, "steps": 2,
        "rate": 1e-3,
    }  # fmt: skip
    rows = ["vanilla", "tree, first dimension"]
    bench = Bench(
        name="own", rows=rows, settings=settings, seeds=1, device="cpu", data=table, folder=tmp_path / "trials",
        tell=lambda _: None,
    )  # fmt: skip
    trials = list(completions(bench))
    assert [trial.row for trial in trials] == rows
    for trial in trials:
        assert 0 <= trial.scores["value_mrr"] <= 1
        assert trial.scores["valued"] > 0
    assert trials[1].scores["position weights"] > trials[0].scores["position weights"] == 0

"""The ledger of trainings, and the tables made of it."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

Script = Callable[[str], ModuleType]


def test_a_ledger_goes_on_after_a_line_that_was_cut_off(script: Script, tmp_path: Path) -> None:
    trials, path = script("trials"), tmp_path / "trials.jsonl"

    def trial(seed: int, setting: str = "a") -> object:
        return trials.Trial(network="n", size="tiny", seed=seed, setting=setting, scores={"test": 0.5})

    first = trials.Ledger(path, "a")
    first.add(trial(0))
    trials.Ledger(path, "b").add(trial(1, "b"))
    with path.open("a") as file:
        file.write('{"network": "n", "size": "ti')
    second = trials.Ledger(path, "a")
    assert second.trials == [trial(0)]
    second.add(trial(2))
    assert trials.Ledger(path, "a").trials == [trial(0), trial(2)]
    assert trials.Ledger(path, "b").trials == [trial(1, "b")]


def test_what_was_not_shown_to_be_best_is_not_bold(script: Script) -> None:
    trials = script("trials")
    scores = [
        trials.Trial(
            network=network, size="tiny", seed=seed, setting="a", scores={"test": value + seed / 100}
        )
        for network, value in (("one", 0.1), ("two", 0.3), ("same", 0.3))
        for seed in range(5)
    ]

    def table(networks: list[str]) -> list[str]:
        text = trials.table(
            scores,
            "test",
            title="T",
            better="lower",
            networks=networks,
            sizes=["tiny"],
            printed={"one": [0.05]},
        )
        return [line for line in text.splitlines() if line.startswith("| ")]

    assert table(["one", "two"])[1:] == [
        "| one | **12.00% ± 0.71%** (paper 5.00%) |",
        "| two | 32.00% ± 0.71% |",
    ]
    assert "**" not in "".join(table(["two", "same"]))

"""How well detectors find bugs: trainings with several seeds beside a regression on counts of words.

    python benchmarks/bug_detectors.py FOLDER …

Each FOLDER is what `codeaudit train NETWORK --task error-detection --out FOLDER` wrote. All must have learned
from the same data and with the same settings, apart from the network and the seed. Prints Markdown.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from scipy.stats import ttest_1samp
from trials import Trial, cell, compared

from codeaudit.reports.wording import verdict

SCORES: Final = {
    "accuracy": "accuracy",
    "balanced": "mean of both F1",
    "f1": "F1",
    "pairs_right": "pairs right",
}
RIVAL: Final = "counts of words"
"""The rule that a detector has to beat."""


def read(folder: Path) -> tuple[Trial, dict[str, Any]]:
    """The scores of a training, and its card."""
    card = json.loads((folder / "model-card.json").read_text(encoding="utf-8"))
    recipe = card["recipe"]
    apart = {name: value for name, value in recipe.items() if name not in ("network", "options", "seed")}
    trial = Trial(
        network=recipe["network"],
        size=card["task"],
        seed=recipe["seed"],
        setting=json.dumps([apart, {name: split["hash"] for name, split in card["data"].items()}]),
        scores={name: card["scores"]["test"][name] for name in SCORES},
    )
    return trial, card


def rules(card: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The test scores of what needs no network, by name."""
    return {rule["name"]: rule["test"] for rule in card["baselines"]}


def table(trials: Sequence[Trial], card: Mapping[str, Any]) -> str:
    """Markdown: means in percent with standard errors, the rules, and by how much each network beats them."""
    by_network: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        by_network[trial.network].append(trial)
    metrics = {name: compared(trials, name, trials[0].size, list(by_network), "higher") for name in SCORES}
    test = card["scores"]["test"]
    lines = [
        f"{test['count']:,} test functions in {test['pairs']:,} pairs; learned from "
        f"{card['data']['train']['functions']:,} functions",
        "",
        f"| | trainings | {' | '.join(SCORES.values())} |",
        f"|---|---:|{'---:|' * len(SCORES)}",
    ]
    for network, own in by_network.items():
        cells = [cell(metrics[name], network, digits=1) for name in SCORES]
        lines.append(f"| {network} | {len(own)} | {' | '.join(cells)} |")
    for rule, scores in rules(card).items():
        cells = [f"{100 * scores[name]:.1f}" if scores[name] is not None else "–" for name in SCORES]
        lines.append(f"| {rule} | | {' | '.join(cells)} |")
    lines.append("")
    rival = rules(card)[RIVAL]["accuracy"]
    for network, own in by_network.items():
        values = [trial.scores["accuracy"] for trial in own]
        line = (
            f"- {network}: {100 * (sum(values) / len(values) - rival):+.1f} points of accuracy over {RIVAL}"
        )
        if len(values) > 1:
            line += f" (t-test over {len(values)} trainings, p = {ttest_1samp(values, rival).pvalue:.2g})"
        lines.append(line)
    lines += [f"- {shown}: {verdict(metrics[name].test)}" for name, shown in SCORES.items()]
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> int:
    """Print the table of some trainings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    trainings = [read(folder) for folder in parser.parse_args(words).folders]
    if len({trial.setting for trial, _ in trainings}) > 1:
        parser.error("these were trained with different settings or on different data")
    print(table([trial for trial, _ in trainings], trainings[0][1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Tables 1 and 2 and figures 2 and 3 of the Renamer paper: surrogates of llvm-mca, scaled down.

    python benchmarks/renamer_throughput.py TABLE --out DIR [--sizes tiny,mini] [--steps 2000,800] [--seeds 5]

TABLE is a corpus of basic blocks, such as a CSV file with BHive's column `hex`. Blocks with implied registers
are left out, as in the paper, unless asked for with --implied. Labels are llvm-mca's; the test set shares no
alpha class with what is learned. --reading paper trains the networks as the paper describes them: the answer
is read from `<cls>`, positions count terms, and an operand does not know its opcode. cls, terms and
no-context are one of these three alone. Trainings are kept in DIR, so that a second start goes on where the
first one stopped. Prints Markdown.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
import torch
from trials import Ledger, Trial, fitted, table

from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.labels import labels
from codeaudit.audit.papers.renamer import material
from codeaudit.audit.papers.renamer.material import TermExample, TermMaterial, TermRecipe
from codeaudit.audit.papers.renamer.model import TermModel
from codeaudit.audit.papers.renamer.networks import BERT
from codeaudit.audit.papers.renamer.networks import NETWORKS as TERM_NETWORKS
from codeaudit.audit.papers.renamer.training import TermLearner, mean_error, rules
from codeaudit.audit.records import Predicted, Query
from codeaudit.audit.registry import TASKS
from codeaudit.audit.training.speed import faster_in_half
from codeaudit.audit.training.splits import Splits
from codeaudit.transforms.errors import CodeauditError
from codeaudit.transforms.x86 import X86
from codeaudit.transforms.x86.legality import choices
from codeaudit.transforms.x86.reading import read
from codeaudit.transforms.x86.rename import renamed

TASK = "throughput"
FIGURE = "movq 64(%rsp), %rax\nsubl $1, 56(%rbp)\nmovl 16(%rax), %eax"
"""Renamer, Figure 1(a), with the suffix that an assembler asks for."""
DRAWS = 100_000
ORIGINAL = {
    "vanilla": (0.0330, 0.0113, 0.0125),
    "augmented": (0.0334, 0.0225, 0.0236),
    "canonicalized": (0.0303, 0.0096, 0.0076),
    "renamer": (0.0239, 0.0085, 0.0059),
}
RENAMED = {
    "vanilla": (0.0526, 0.0276, 0.0289),
    "augmented": (0.0344, 0.0255, 0.0236),
    "canonicalized": (0.0303, 0.0096, 0.0076),
    "renamer": (0.0239, 0.0085, 0.0059),
}
"""Tables 1 and 2 of the paper by size: tiny, mini, small."""
RATES = {"tiny": 1e-3, "mini": 5e-4, "small": 3e-4}
"""Higher than the paper's (3e-4, 3e-4, 1e-4), since the budget is a hundredth."""
READINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "ours": {},
    "paper": {"readout": "cls", "positions": "terms", "context": False},
    "cls": {"readout": "cls"},
    "terms": {"positions": "terms"},
    "no-context": {"context": False},
}
"""What a reading sets apart from the recipe; ours is described in `networks`."""


def main() -> int:
    """Train what is missing, and print."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("table")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sizes", default="tiny,mini")
    parser.add_argument("--networks", default=",".join(TERM_NETWORKS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", default="2000,800", help="of each size")
    parser.add_argument("--blocks", type=int, default=0, help="training blocks, 0 for all")
    parser.add_argument("--reading", choices=READINGS, default="ours")
    parser.add_argument("--implied", action="store_true", help="keep blocks with implied registers")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only-print", action="store_true", help="train nothing")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    sizes, networks = asked.sizes.split(","), asked.networks.split(",")
    asked.steps = dict(zip(sizes, map(int, asked.steps.split(",")), strict=True))
    told = ", ".join(f"{size} {steps:,}" for size, steps in asked.steps.items())
    kept = "; blocks with implied registers too" if asked.implied else ""
    names = {"ours": "", "paper": "; the paper's reading"}
    reading = names.get(asked.reading, f"; reading {asked.reading}")
    ledger = Ledger(
        asked.out / "trials.jsonl", f"steps: {told}; training blocks: {asked.blocks or 'all'}{kept}{reading}"
    )
    try:
        if not asked.only_print:
            run(asked, ledger, sizes=sizes, networks=networks)
        report(asked, ledger, sizes=sizes, networks=networks)
    except CodeauditError as error:
        parser.error(str(error))
    return 0


def run(asked: argparse.Namespace, ledger: Ledger, *, sizes: Sequence[str], networks: Sequence[str]) -> None:
    """Do every training that is not in the ledger, seed by seed, so that an early end leaves whole seeds."""
    splits: Splits[TermExample] | None = None
    for size in sizes:
        for seed in range(asked.seeds):
            for network in networks:
                if ledger.has(network, size, seed):
                    continue
                splits = splits or read_splits(asked)
                trial = trained(asked, splits, network=network, size=size, seed=seed, setting=ledger.setting)
                ledger.add(trial)
                print(f"{network} {size} {seed}: {trial.scores} {trial.seconds:.0f} s", file=sys.stderr)


def recipe_of(asked: argparse.Namespace, *, network: str, size: str, seed: int) -> TermRecipe:
    """The recipe of one training."""
    width, layers, heads = BERT[size]
    return TermRecipe(
        network=network,
        width=width,
        layers=layers,
        heads=heads,
        implied=asked.implied,
        steps=asked.steps[size],
        rate=RATES[size],
        seed=seed,
        half=faster_in_half("cpu"),
        **READINGS[asked.reading],
    )


def place_of(asked: argparse.Namespace, *, network: str, size: str, seed: int) -> Path:
    """The folder of one training."""
    name = f"{network}-{size}-{seed}"
    return Path(asked.out / (name if asked.reading == "ours" else f"{name}-{asked.reading}"))


def read_splits(asked: argparse.Namespace) -> Splits[TermExample]:
    """The labelled blocks, split by alpha class."""
    task = TASKS.get(TASK)
    truth = labels(None, task, cache=asked.out / "labels")
    recipe = recipe_of(asked, network="renamer", size=next(iter(asked.steps)), seed=0)
    found = material.read(
        task, recipe, truth, corpus(asked.table, truth.column), note=lambda text: print(text, file=sys.stderr)
    )
    kept = found.train.examples[: asked.blocks or None]
    for rule in rules(found.train, found.test):
        print(f"{rule.name}: {rule.test:.1%}", file=sys.stderr)
    return Splits(list(kept), list(found.valid.examples), list(found.test.examples))


def trained(
    asked: argparse.Namespace,
    splits: Splits[TermExample],
    *,
    network: str,
    size: str,
    seed: int,
    setting: str,
) -> Trial:
    """One training, with its errors on the test set and on a renaming of each of its blocks."""
    recipe = recipe_of(asked, network=network, size=size, seed=seed)
    read_in: TermMaterial = material.material(splits, recipe, {}, labels={})
    place = place_of(asked, network=network, size=size, seed=seed)
    began = time.process_time()
    learner = TermLearner(recipe, read_in)
    found = fitted(learner, place, f"{network} {size} {seed}")
    seconds = time.process_time() - began
    learner.write(place, found, about={})
    return Trial(
        network=network,
        size=size,
        seed=seed,
        setting=setting,
        scores={
            "original": mean_error(found.network, read_in.test),
            "renamed": mean_error(found.network, read_in.test, renaming=Random(seed)),
        },
        epochs=[one["valid"] for one in found.progress.epochs],
        seconds=round(seconds, 1),
    )


def report(
    asked: argparse.Namespace, ledger: Ledger, *, sizes: Sequence[str], networks: Sequence[str]
) -> None:
    """The tables and figures."""
    for score, number, printed in (("original", 1, ORIGINAL), ("renamed", 2, RENAMED)):
        title = f"Table {number}: MAPE on the {score} test set ({ledger.setting})"
        print(
            table(
                ledger.trials,
                score,
                title=title,
                better="lower",
                networks=networks,
                sizes=sizes,
                printed=printed,
            ),
            end="\n\n",
        )
    for size in sizes:
        efficiency(ledger, size, networks)
    distribution(asked, sizes, networks)


def efficiency(ledger: Ledger, size: str, networks: Sequence[str]) -> None:
    """Figure 3: epochs until the mean validation error falls to each threshold."""
    means = {}
    for network in networks:
        curves = [one.epochs for one in ledger.trials if (one.network, one.size) == (network, size)]
        if curves:
            means[network] = np.minimum.accumulate(np.array(curves).mean(axis=0))
    if not means:
        return
    highest = max(curve[-1] for curve in means.values())
    lowest = min(curve[-1] for curve in means.values())
    targets = np.linspace(1.6 * highest, lowest, 8)
    print(f"### Figure 3, {size}: epochs to reach a validation MAPE\n")
    print("| MAPE | " + " | ".join(means) + " |\n|---:|" + "---:|" * len(means))
    for target in targets:
        reached = [np.flatnonzero(curve <= target) for curve in means.values()]
        cells = [str(int(one[0]) + 1) if len(one) else "–" for one in reached]
        print(f"| {target:.1%} | {' | '.join(cells)} |")
    print()


def distribution(asked: argparse.Namespace, sizes: Sequence[str], networks: Sequence[str]) -> None:
    """Figure 2: the answers of the first seed's networks to 100,000 renamings of Figure 1(a)."""
    block, rng = read(FIGURE), Random(0)
    found = choices(block, stack=True)
    texts = Counter(renamed(block, found.draw(rng)) for _ in range(DRAWS))
    counted = {text: count for text, count in texts.items() if text is not None}
    print(f"### Figure 2: predictions over {DRAWS:,} renamings ({len(counted):,} distinct) of Figure 1(a)\n")
    print(
        "| | size | original | mean | lowest | highest | distinct answers |\n"
        + "|---" * 2
        + "|---:" * 5
        + "|"
    )
    spread: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]] = {}
    for size in sizes:
        for network in networks:
            place = place_of(asked, network=network, size=size, seed=0)
            if not (place / "config.json").exists():
                continue
            model = TermModel.load(str(place))
            queries = [Query(task=TASK, language=X86.name, source=text) for text in (FIGURE, *counted)]
            answers = [one.answer for one in model.predict(queries) if isinstance(one, Predicted)]
            values, weights = (
                np.array(answers[1:], dtype=float),
                np.array(list(counted.values()), dtype=float),
            )
            spread[network, size] = values, weights
            mean = float(np.average(values, weights=weights))
            told = " | ".join(f"{one:.3f}" for one in (answers[0], mean, values.min(), values.max()))
            print(f"| {network} | {size} | {told} | {len(set(answers)):,} |")
    draw(spread, asked.out / "renamings.svg")


def draw(spread: Mapping[tuple[str, str], tuple[np.ndarray, np.ndarray]], path: Path) -> None:
    """The histograms of Figure 2 as a picture."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    sizes = list(dict.fromkeys(size for _, size in spread))
    networks = list(dict.fromkeys(network for network, _ in spread))
    figure, axes = pyplot.subplots(
        len(networks),
        len(sizes),
        figsize=(4.5 * len(sizes), 1.6 * len(networks)),
        sharex="col",
        squeeze=False,
    )
    for column, size in enumerate(sizes):
        every = np.concatenate([values for (_, one), (values, _) in spread.items() if one == size])
        bins = np.linspace(every.min() - 0.02, every.max() + 0.02, 60)
        for row, network in enumerate(networks):
            if (network, size) in spread:
                values, weights = spread[network, size]
                axes[row][column].hist(values, bins=bins, weights=weights / weights.sum())
            axes[row][column].axvline(1.68, color="black", linestyle=":", linewidth=1)
            axes[row][column].set_title(f"{network}, {size}", fontsize=9, loc="left")
    for axis in axes[-1]:
        axis.set_xlabel("predicted cycles per iteration (llvm-mca: 1.68, dotted)")
    figure.tight_layout()
    figure.savefig(path)
    print(f"\nFigure 2 as a picture: {path.name}")


if __name__ == "__main__":
    sys.exit(main())

"""Tables 3 and 4 of the Renamer paper, scaled down: is one expression the derivative of another?

    python benchmarks/renamer_algebra.py                          Tiny, five seeds, into renamer-algebra/
    python benchmarks/renamer_algebra.py --sizes tiny,mini --steps 10000
    python benchmarks/renamer_algebra.py --pairs near             false pairs that are nearly right

Every network is trained once for each seed. It is judged on the test set and on the extended test set, which
has a coefficient (a3) that is absent from the training data. Both are asked as they are, and again under a
random legal renaming of every pair. Each result is a line of OUT/trials.jsonl and is not trained again. An
interrupted training goes on. The tables are printed and written to OUT/tables.md.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from shutil import rmtree
from typing import Final, NamedTuple

import torch
from trials import Budget, Ledger, Trial, cell, fitted

from codeaudit.audit.papers.renamer import material
from codeaudit.audit.papers.renamer.material import DEFAULTS, TermExamples, TermMaterial, TermRecipe
from codeaudit.audit.papers.renamer.networks import BERT
from codeaudit.audit.papers.renamer.networks import NETWORKS as TERM_NETWORKS
from codeaudit.audit.papers.renamer.tasks import TASKS
from codeaudit.audit.papers.renamer.terms import TermReader
from codeaudit.audit.papers.renamer.training import TermLearner, mean_error, rules
from codeaudit.audit.training.speed import faster_in_half
from codeaudit.reports.statistics.trials import compare_trials
from codeaudit.reports.wording import verdict
from codeaudit.transforms.algebra.calculus import derivative, holds
from codeaudit.transforms.algebra.expressions import ExpressionPair, pair_text
from codeaudit.transforms.algebra.generate import Example, Split, examples

TASK: Final = "derivative"
NETWORKS: Final = tuple(TERM_NETWORKS)
SETS: Final[Mapping[str, str]] = {
    "test": "test",
    "test_renamed": "test, renamed",
    "extended": "extended",
    "extended_renamed": "extended, renamed",
}
"""The measures, with the heads of their columns."""
PAPER: Final[Mapping[str, tuple[str, str]]] = {
    "vanilla": ("0.79 ± 0.13", "4.68 ± 0.69"),
    "canonicalized": ("0.71 ± 0.14", "4.98 ± 0.56"),
    "renamer": ("0.80 ± 0.06", "**2.38 ± 0.16**"),
}
"""Errors in percent of tables 3 and 4: BERT-Small on the test set, and on the extended one."""
FALSE: Final[Mapping[str, str]] = {
    "paper": "as in the paper, a false pair holds the derivative of any other function of its split",
    "near": "a false pair holds a wrong derivative with the variables of the right one, mostly near it, "
    "where the paper has the derivative of any other function, which counts of words give away",
}
"""Kinds of false pairs."""
RULE: Final = "no network"
"""Stands for the size of what is told beside the networks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Budget):
    """Everything that decides a result, except the network, its size and the seed."""

    pairs: str
    steps: int
    batch: int
    rate: float
    train: int
    test: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """The pairs of every split as texts, with their labels."""

    train: list[tuple[str, bool]]
    valid: list[tuple[str, bool]]
    test: list[tuple[str, bool]]
    extended: list[tuple[str, bool]]


def as_in_the_paper(drawn: Sequence[Example]) -> list[tuple[str, bool]]:
    """The functions with the paper's false candidates. Leaves out the few that are not proven false."""
    rng = Random(0)
    truths = [derivative(example.pair.function) for example in drawn]
    pairs = []
    for example, truth in zip(drawn, truths, strict=True):
        pair = ExpressionPair(example.pair.function, truth if example.label else rng.choice(truths))
        if example.label or holds(pair) is False:
            pairs.append((pair_text(pair), example.label))
    return pairs


def data(settings: Settings) -> Data:
    """The splits, always the same; what is learned and what is tested share no function under any names."""

    def made(split: Split, size: int) -> list[tuple[str, bool]]:
        drawn = list(examples(split, size))
        if settings.pairs == "paper":
            return as_in_the_paper(drawn)
        return [(example.source, example.label) for example in drawn]

    return Data(
        train=made("train", settings.train),
        valid=made("valid", settings.test),
        test=made("test", settings.test),
        extended=made("extended", settings.test),
    )


def recipe(network: str, size: str, seed: int, settings: Settings) -> TermRecipe:
    """One training."""
    width, layers, heads = BERT[size]
    chosen = {
        **DEFAULTS[TASK],
        "width": width,
        "layers": layers,
        "heads": heads,
        "steps": settings.steps,
        "batch": settings.batch,
        "rate": settings.rate,
        "validation": settings.test,
        "half": faster_in_half("cpu"),
    }
    return TermRecipe(network=network, task=TASK, seed=seed, **chosen)  # type: ignore[arg-type]


class Read(NamedTuple):
    """The pairs as one network reads them."""

    splits: TermMaterial
    extended: TermExamples


def read(labelled: Data, asked: TermRecipe) -> Read:
    """The splits and the extended test set as one network reads them."""
    left_out: Counter[str] = Counter()
    task = TASKS[TASK]

    def some(pairs: Iterable[tuple[str, bool]]) -> list[material.TermExample]:
        return [material.example(task, source, float(label)) for source, label in pairs]

    splits = material.split(some(labelled.train), some(labelled.valid), some(labelled.test), left_out)
    made = material.material(splits, asked, left_out, labels={})
    reader = TermReader(
        made.tokenizer, TERM_NETWORKS[asked.network].reading, window=asked.window, end=task.language.end
    )
    return Read(made, TermExamples(some(labelled.extended), reader, task))


def measure(network: str, size: str, seed: int, settings: Settings, inputs: Read, out: Path) -> Trial:
    """Train one network and judge it; errors are shares."""
    asked = recipe(network, size, seed, settings)
    made, extended = inputs
    folder = out / "unfinished" / f"{network}-{size}-{seed}-{settings}".replace(" ", "-").replace(",", "")
    begin = time.process_time()
    trained = fitted(TermLearner(asked, made), folder, f"{network} {size} {seed}")
    seconds = time.process_time() - begin
    rmtree(folder)
    errors = {
        "test": mean_error(trained.network, made.test),
        "test_renamed": mean_error(trained.network, made.test, renaming=Random(0)),
        "extended": mean_error(trained.network, extended),
        "extended_renamed": mean_error(trained.network, extended, renaming=Random(0)),
    }
    epochs = [epoch["valid"] for epoch in trained.progress.epochs]
    return Trial(
        network=network,
        size=size,
        seed=seed,
        setting=str(settings),
        scores=errors,
        epochs=epochs,
        seconds=round(seconds, 1),
    )


def table(trials: Sequence[Trial], size: str) -> str:
    """Markdown: mean errors in percent with standard errors; the groups that the tests call best are bold."""
    own = [trial for trial in trials if trial.size == size and trial.network in NETWORKS]
    of = {network: [trial for trial in own if trial.network == network] for network in NETWORKS}
    metrics = {
        name: compare_trials(
            name, "lower", {network: [trial.scores[name] for trial in some] for network, some in of.items()}
        )
        for name in SETS
    }
    lines = [
        f"**BERT-{size.title()}**: error in percent, mean ± standard error of {max(map(len, of.values()))} "
        f"trainings, each of {max(trial.seconds for trial in own):.0f} processor seconds at most",
        "",
        f"| | {' | '.join(SETS.values())} | paper: test | paper: extended |",
        f"|---|{'---:|' * (len(SETS) + 2)}",
    ]
    for network in NETWORKS:
        cells = [cell(metrics[name], network) for name in SETS]
        lines.append(f"| {network} | {' | '.join(cells)} | {' | '.join(PAPER.get(network, ('–', '–')))} |")
    lines += [
        f"| {rule.network} | {100 * rule.scores['test']:.2f} |{' |' * (len(SETS) + 1)}"
        for rule in trials
        if rule.size == RULE
    ]
    lines += ["", *(f"{SETS[name]}: {verdict(metric.test)}." for name, metric in metrics.items())]
    return "\n".join(lines)


def caption(settings: Settings) -> str:
    """A caption that says how the set-up differs from the paper's."""
    return (
        "Bold are the best and what Conover's test (Holm-adjusted, 0.05) does not tell from it, where "
        f"Kruskal–Wallis rejects. What differs from the paper: {FALSE[settings.pairs]}; "
        f"{settings.steps:,} steps of {settings.batch} out of {settings.train:,} pairs, where the paper has "
        "BERT-Small, 300,000 pairs and 234,000 steps of 64 (50 epochs); a peak rate of "
        f"{settings.rate:g} with warm-up and decay, where the paper has 1e-4; products in bfloat16 "
        "while they learn; the mean of all hidden states "
        "is read, not <cls> alone; each operator is a view of its own, where the paper's text gives all of "
        "them one; inputs have up to 256 terms, not 128; no function that is tested is a renaming of one "
        "that is learned; every function of the extended set has all four coefficients, which makes it "
        f"longer. The test sets have {settings.test:,} pairs (the paper's 9,139). The paper renames no test "
        "set, and has no augmented model here."
    )


def train(ledger: Ledger, asked: argparse.Namespace, settings: Settings) -> None:
    """Train what is missing."""
    missing = [
        (network, size, seed)
        for size in asked.sizes.split(",")
        for seed in range(asked.seeds)
        for network in asked.networks.split(",")
        if not ledger.has(network, size, seed)
    ]
    pairs = data(settings) if missing else None
    prepared: dict[str, Read] = {}
    for network, size, seed in missing:
        if pairs is not None and network not in prepared:
            prepared[network] = read(pairs, recipe(network, size, seed, settings))
        inputs = prepared[network]
        trial = measure(network, size, seed, settings, inputs, asked.out)
        ledger.add(trial)
        errors = ", ".join(f"{SETS[name]} {error:.2%}" for name, error in trial.scores.items())
        print(f"{network} {size} {seed}: {errors}; {trial.seconds:.0f} s", file=sys.stderr)
    if pairs is not None and not any(trial.size == RULE for trial in ledger.trials):
        splits = next(iter(prepared.values())).splits
        for rule in rules(splits.train, splits.test):
            ledger.add(
                Trial(
                    network=rule.name,
                    size=RULE,
                    seed=0,
                    setting=str(settings),
                    scores={"test": 1 - rule.test},
                )
            )


def main(words: Sequence[str] | None = None) -> int:
    """Train what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("renamer-algebra"))
    parser.add_argument("--networks", default=",".join(NETWORKS), help="with commas between")
    parser.add_argument("--sizes", default="tiny", help=f"of {', '.join(BERT)}, with commas between")
    parser.add_argument("--seeds", type=int, default=5, help="trainings of each network")
    parser.add_argument("--pairs", choices=FALSE, default="paper", help="what false pairs are")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=1e-3, help="peak learning rate")
    parser.add_argument("--train", type=int, default=60_000, help="pairs to learn from")
    parser.add_argument("--test", type=int, default=3_000, help="pairs of each other split")
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args(words)
    for noun, given, names in (("network", asked.networks, NETWORKS), ("size", asked.sizes, tuple(BERT))):
        for name in given.split(","):
            if name not in names:
                parser.error(f"no {noun} {name!r}; known: {', '.join(names)}")
    if asked.seeds < 1:
        parser.error("--seeds must be 1 or more")
    torch.set_num_threads(asked.threads)
    settings = Settings(
        pairs=asked.pairs,
        steps=asked.steps,
        batch=asked.batch,
        rate=asked.rate,
        train=asked.train,
        test=asked.test,
    )
    ledger = Ledger(asked.out / "trials.jsonl", str(settings))
    train(ledger, asked, settings)
    tables = [table(ledger.trials, size) for size in asked.sizes.split(",")]
    text = "\n\n".join([*tables, caption(settings)]) + "\n"
    (asked.out / "tables.md").write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

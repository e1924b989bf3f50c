"""The tables of the tree transformer's paper, scaled down: names of functions, and completion of trees.

    python benchmarks/tree_transformer.py names --corpus TABLE --out DIR
    python benchmarks/tree_transformer.py completion --corpus TABLE --out DIR
    python benchmarks/tree_transformer.py names --corpus TABLE --out DIR --train 300 --steps 20 --seeds 2

TABLE is a corpus of functions with splits, as `codeaudit run --corpus` takes it before `:SPLIT`. All rows
have one trunk, one budget and one set of functions; they differ in how nodes know where they stand. Every row
is trained once for each seed. The last line above is a small budget. Each result is a line of
DIR/trials.jsonl and is not repeated. An interrupted training goes on. The table is printed and written to
DIR/names.md or DIR/completion.md.

`robustness.py --row tree=tree_transformer:model` audits the tree transformer under transforms beside other
networks; the environment variable TREE_CORPUS names TABLE, TREE_OUT a folder for what is trained.
"""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from trials import Budget, Ledger, Trial, cell, fitted, tell

from codeaudit.audit.corpora.selection import select
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.papers.tree_transformer import completion, material
from codeaudit.audit.papers.tree_transformer.material import TreeRecipe
from codeaudit.audit.papers.tree_transformer.model import TreeModel
from codeaudit.audit.papers.tree_transformer.networks import sizes
from codeaudit.audit.papers.tree_transformer.nodes import Degree, Spelling
from codeaudit.audit.papers.tree_transformer.training import NameLearner, judged
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.audit.training.splits import Splits
from codeaudit.audit.training.trainer import TrainingProgress
from codeaudit.reports.records import Metric
from codeaudit.reports.statistics.trials import compare_trials
from codeaudit.reports.wording import verdict
from codeaudit.transforms.errors import CodeauditError
from codeaudit.transforms.records import Sample

WEIGHTS: Final = "weights"
POSITIONS: Final = "position weights"
"""Scores that hold numbers of weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One way to know where nodes stand."""

    network: str
    options: Mapping[str, object] = field(default_factory=dict)
    degree: Degree = "full"


ABLATIONS: Final[Mapping[str, Row]] = {
    "tree, local only": Row(network="tree", options={"terms": "local"}),
    "tree, global only": Row(network="tree", options={"terms": "global"}),
    "tree, first dimension": Row(network="tree", options={"dimension": "first"}),
    "tree, second dimension": Row(network="tree", options={"dimension": "second"}),
    "tree, learned r of others": Row(network="tree", options={"nonadjacent": "learned"}),
}
BASELINES: Final[Mapping[str, Row]] = {
    "vanilla": Row(network="tree-vanilla"),
    "Shaw": Row(network="tree-shaw"),
    "Shiv and Quirk": Row(network="tree-shiv"),
    "Kim, additive": Row(network="tree-kim"),
    "Kim, multiplicative": Row(network="tree-kim", options={"combination": "multiplicative"}),
}


class Column(NamedTuple):
    """One measure."""

    score: str
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One of the paper's tables."""

    title: str
    rows: Mapping[str, Row]
    columns: Sequence[Column]


TABLES: Final[Mapping[str, Table]] = {
    "names": Table(
        title="Names of functions",
        rows={"tree": Row(network="tree"), **BASELINES, **ABLATIONS},
        columns=[
            Column("f1", "F1 (paper's)"),
            Column("exact", "exact"),
            Column("bleu", "sentence BLEU"),
            Column("micro", "F1, micro"),
        ],
    ),
    "completion": Table(
        title="Completion of trees",
        rows={
            "tree, full degree": Row(network="tree"),
            "tree, degree of the prefix": Row(network="tree", degree="prefix"),
            **BASELINES,
            "tree, local only": ABLATIONS["tree, local only"],
            "tree, global only": ABLATIONS["tree, global only"],
        },
        columns=[
            Column("type_mrr", "type MRR@10"),
            Column("type_accuracy", "type"),
            Column("value_mrr", "value MRR@10"),
            Column("value_accuracy", "value"),
            Column("both", "both"),
            Column("both_with_empty", "both, empty counts as right"),
        ],
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Budget):
    """Everything that decides a result, except the table, the row and the seed."""

    corpus: str
    """The name of the corpus file, without its folder."""
    train: int
    valid: int
    test: int
    width: int
    layers: int
    decoder_layers: int
    """Of names; completion has no decoder beside its trunk."""
    heads: int
    window: int
    vocabulary: int
    spelling: Spelling
    dropout: float
    batch: int
    steps: int
    rate: float

    def recipe(self, row: Row, seed: int) -> TreeRecipe:
        """One training."""
        return self.recipe_of(
            TreeRecipe, network=row.network, options=row.options, degree=row.degree, seed=seed
        )


NAMING: Final = Settings(
    corpus="",
    train=10_000,
    valid=1_000,
    test=2_000,
    width=96,
    layers=3,
    decoder_layers=1,
    heads=4,
    window=250,
    vocabulary=6_000,
    spelling="subtokens",
    dropout=0.1,
    batch=64,
    steps=300,
    rate=1e-3,
)
"""The budget of `robustness.py`, for the settings that both have."""
DEFAULTS: Final[Mapping[str, Settings]] = {
    "names": NAMING,
    "completion": Settings(
        **{
            **asdict(NAMING),
            "test": 1_000,
            "layers": 2,
            "spelling": "whole",
            "vocabulary": 4_000,
            "batch": 32,
            "steps": 400,
        }
    ),
}


def splits(spec: str, settings: Settings) -> Splits[Sample]:
    """The samples of each split, drawn alike for all rows, and with the same limits as in `robustness.py`.

    Raises:
        CorpusError: the corpus cannot be read.
    """

    def drawn(split: str, limit: int) -> list[Sample]:
        (found,) = select(corpus(f"{spec}:{split}"), FUNCTION_NAME.prepare, limit=limit, seeds=[0])
        return [sample for sample in found.samples if sample.label is not None]

    return Splits(
        train=drawn("train", settings.train),
        valid=drawn("valid", settings.valid),
        test=drawn("test", settings.test),
    )


# ── one trial ────────────────────────────────────────────────────────────────────────────────────────────

Scores = dict[str, float]
JudgedTraining = tuple[Scores, TrainingProgress]


def named(read: material.TreeMaterial) -> Callable[[TreeRecipe, Path, str], JudgedTraining]:
    """Functions that train and judge a model of names."""

    def trained(recipe: TreeRecipe, place: Path, name: str) -> JudgedTraining:
        learner = NameLearner(recipe, read)
        found = fitted(learner, place, name)
        everything = np.arange(len(read.test))
        scores = asdict(judged(found.network, read, read.test, everything, recipe))
        return {**scores, **_weights(found.network)}, found.progress

    return trained


def completed(read: completion.CompletionMaterial) -> Callable[[TreeRecipe, Path, str], JudgedTraining]:
    """Functions that train and judge a model of completion."""

    def trained(recipe: TreeRecipe, place: Path, name: str) -> JudgedTraining:
        learner = completion.CompletionLearner(recipe, read)
        found = fitted(learner, place, name)
        scores = asdict(
            completion.judged(
                found.network,
                read.test,
                np.arange(len(read.test)),
                levels=recipe.levels,
                degree=recipe.degree,
            )
        )
        return {**scores, **_weights(found.network)}, found.progress

    return trained


def _weights(network: torch.nn.Module) -> Scores:
    found = sizes(network)
    return {WEIGHTS: float(found["all"]), POSITIONS: float(found["scheme"])}


def run(ledger: Ledger, asked: argparse.Namespace, settings: Settings) -> None:
    """Train what is missing."""
    entry = TABLES[asked.table]
    missing = [
        (name, seed)
        for seed in range(asked.seeds)
        for name in asked.rows
        if not ledger.has(name, asked.table, seed)
    ]
    if not missing:
        return
    drawn, any_row = splits(asked.corpus, settings), next(iter(entry.rows.values()))
    recipe = settings.recipe(any_row, 0)
    if asked.table == "names":
        work = named(material.prepare(drawn, recipe, note=tell))
    else:
        work = completed(completion.prepare(drawn, recipe))
    for name, seed in missing:
        place = asked.out / "unfinished" / f"{asked.table}-{name.replace(', ', '-').replace(' ', '-')}-{seed}"
        begin = time.process_time()
        scores, progress = work(settings.recipe(entry.rows[name], seed), place, f"{name} {seed}")
        seconds = time.process_time() - begin
        ledger.add(
            Trial(
                network=name,
                size=asked.table,
                seed=seed,
                setting=str(settings),
                scores=scores,
                epochs=[epoch["valid"] for epoch in progress.epochs],
                seconds=round(seconds, 1),
            )
        )
        shutil.rmtree(place)
        told = ", ".join(f"{column.score} {scores[column.score]:.2%}" for column in entry.columns)
        tell(f"{name} {seed}: {told}; {seconds:.0f} s")


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────


def table(trials: Sequence[Trial], which: str) -> str:
    """Markdown: means in percent with standard errors; bold is what the tests call best."""
    entry = TABLES[which]
    own = [trial for trial in trials if trial.size == which]
    names = [name for name in entry.rows if any(trial.network == name for trial in own)]
    metrics = {column.score: _metric(own, names, column) for column in entry.columns}
    lines = [
        f"### {entry.title}",
        "",
        f"| | weights | of positions | {' | '.join(column.head for column in entry.columns)} | s |",
        f"|---|{'---:|' * (len(entry.columns) + 3)}",
    ]
    for name in names:
        rows = [trial for trial in own if trial.network == name]
        cells = [cell(metrics[column.score], name) for column in entry.columns]
        weights = f"{rows[0].scores[WEIGHTS] / 1e6:.2f}M | {rows[0].scores[POSITIONS] / 1e3:.1f}k"
        seconds = sum(trial.seconds for trial in rows) / len(rows)
        lines.append(f"| {name} | {weights} | {' | '.join(cells)} | {seconds:.0f} |")
    counts = {name: sum(trial.network == name for trial in own) for name in names}
    lines += ["", f"{min(counts.values())} to {max(counts.values())} trainings each.", ""]
    for column in entry.columns:
        metric = metrics[column.score]
        told = [f"{one.second} {one.p_adjusted:.2g}" for one in metric.pairs if one.first == names[0]]
        conover = f" Conover against {names[0]}, p Holm-adjusted over all pairs: {'; '.join(told)}."
        lines.append(f"- {column.head}: {verdict(metric.test)}.{conover if told else ''}")
    return "\n".join(lines)


def _metric(trials: Sequence[Trial], names: Sequence[str], column: Column) -> Metric:
    values = {
        name: [trial.scores[column.score] for trial in trials if trial.network == name] for name in names
    }
    return compare_trials(column.score, "higher", values)


def caption(which: str, settings: Settings) -> str:
    """A caption that says how the set-up differs from the paper's and explains the columns."""
    columns = {
        "names": "F1 is the mean over functions of the F1 of multisets of subtokens, as in the paper's code; "
        "micro is that of sets, summed over the functions, the score of the audit. Exact: all subtokens in "
        "order. BLEU is the mean of smoothed sentence BLEU (BLEU-4, one added to the hits and the tries of "
        "every order), as in the paper's code. Subtokens of fewer than ten training names are never said and "
        "count as missed. Values are read as subtokens, where the "
        "paper has whole words.",
        "completion": "MRR is 0 behind ten candidates and for unknown values. Value columns and `both` are "
        "over nodes that have a value; the last column is over all nodes and counts a value that is not "
        "there as predicted, as the paper's code does. The degree of a finished tree tells how many siblings "
        "are still to come; that of the prefix does not, and tells no more than the first dimension.",
    }[which]
    return (
        "In percent, mean ± standard error; bold are the best and what Conover's test (Holm-adjusted, 0.05) "
        f"does not tell from it, where Kruskal–Wallis rejects. {columns} What else differs from the paper: "
        f"width {settings.width}, {settings.layers} layers and {settings.heads} heads, where the paper has "
        f"512, 6 and 8; {settings.decoder_layers} layers of the decoder of names, where it has 6; "
        f"{settings.steps} steps of {settings.batch} functions, where the paper has 20 epochs "
        f"of half a million. s is processor time of one core. Settings: {settings}."
    )


# ── for robustness.py ────────────────────────────────────────────────────────────────────────────────────


def model(seed: int) -> TreeModel:
    """The tree transformer of a seed, trained on the functions of `robustness.py` and with its budget.

    Raises:
        CorpusError: the corpus cannot be read.
        LookupError: TREE_CORPUS is not set.
    """
    spec = os.environ.get("TREE_CORPUS")
    if spec is None:
        raise LookupError("set the environment variable TREE_CORPUS to the corpus of the other rows")
    place = Path(os.environ.get("TREE_OUT", "tree-models")) / f"tree-{_budget(spec).train}-{seed}"
    if not (place / "config.json").exists():
        read = _material(spec)
        recipe = _budget(spec).recipe(Row(network="tree"), seed)
        learner = NameLearner(recipe, read)
        found = fitted(learner, place, f"tree {seed}")
        learner.write(place, found, about={})
    return TreeModel.load(str(place), device="cpu")


def _budget(spec: str) -> Settings:
    train = int(os.environ.get("TREE_TRAIN", NAMING.train))
    given = {"corpus": Path(spec).name, "train": train, "test": 200}
    return Settings(**{**asdict(NAMING), **given, "steps": max(1, NAMING.steps * train // NAMING.train)})


@cache
def _material(spec: str) -> material.TreeMaterial:
    settings = _budget(spec)
    return material.prepare(splits(spec, settings), settings.recipe(Row(network="tree"), 0), note=tell)


# ── command line ─────────────────────────────────────────────────────────────────────────────────────────


def main(words: Sequence[str] | None = None) -> int:
    """Train what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    tables = parser.add_subparsers(dest="table", required=True)
    for name, entry in TABLES.items():
        table_parser = tables.add_parser(name, help=entry.title)
        table_parser.add_argument("--corpus", required=True, metavar="TABLE", help="functions with splits")
        table_parser.add_argument("--out", type=Path, default=Path("tree-transformer"))
        table_parser.add_argument("--row", action="append", dest="rows", choices=list(entry.rows))
        table_parser.add_argument("--seeds", type=int, default=5, help="trainings of each row")
        table_parser.add_argument("--threads", type=int, default=1)
        for option, value in asdict(DEFAULTS[name]).items():
            if option not in ("corpus", "spelling"):
                table_parser.add_argument(f"--{option.replace('_', '-')}", type=type(value), default=value)
        table_parser.add_argument(
            "--spelling", choices=["whole", "subtokens"], default=DEFAULTS[name].spelling
        )
    asked = parser.parse_args(words)
    asked.rows = asked.rows or list(TABLES[asked.table].rows)
    if asked.seeds < 1:
        parser.error("--seeds must be 1 or more")
    torch.set_num_threads(asked.threads)
    given = {name: getattr(asked, name) for name in Settings.__dataclass_fields__}
    settings = Settings(**{**given, "corpus": Path(asked.corpus).name})
    ledger = Ledger(asked.out / "trials.jsonl", str(settings))
    try:
        run(ledger, asked, settings)
    except CodeauditError as error:
        parser.error(str(error))
    text = f"{table(ledger.trials, asked.table)}\n\n{caption(asked.table, settings)}\n"
    (asked.out / f"{asked.table}.md").write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

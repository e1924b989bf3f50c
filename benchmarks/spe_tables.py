"""Tables 1 and 3 to 6 of the SPE paper, scaled down: bugs and names of Java methods, names in Python.

    python benchmarks/spe_tables.py --defects TABLE --names TABLE --python TABLE --out DIR
    python benchmarks/spe_tables.py --defects TABLE --out DIR --epochs 2 --seeds 2       a small budget
    python benchmarks/spe_tables.py --python TABLE --networks spe,spe-all,spe-no-positions --out DIR

TABLE is a corpus with splits, as `codeaudit run --corpus` takes it before `:SPLIT`: methods with labels 0 and
1 for --defects, functions with names for --names (Java) and --python. Every network is trained once for each
seed, then audited on the test split: its F1, the share of functions whose answer another legal order of the
statements changes (one order for each function, as in the paper), and its F1 under attack, the lowest of four
orders.

Each result is a line of DIR/trials.jsonl and is not trained again. An interrupted training goes on. The
tables are printed and written to DIR/tables.md.
"""

import argparse
import shutil
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

import torch
from trials import Budget, Ledger, Trial, cell, fitted

from codeaudit.audit.cache import NoMemory
from codeaudit.audit.corpora.records import CorpusResources
from codeaudit.audit.corpora.selection import select
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.interface import Task
from codeaudit.audit.papers.lines.tasks import TASKS as LINE_TASKS
from codeaudit.audit.papers.spe_attention import material
from codeaudit.audit.papers.spe_attention.material import LineMaterial, LineRecipe
from codeaudit.audit.papers.spe_attention.model import LineModel
from codeaudit.audit.papers.spe_attention.training import LineLearner
from codeaudit.audit.records import Case
from codeaudit.audit.registry import TASKS
from codeaudit.audit.run import AuditSetup, NoMonitor, audit
from codeaudit.audit.suite import SuitePlan, cases
from codeaudit.audit.tasks.error_detection import BUGGY, ERROR_DETECTION
from codeaudit.audit.training.splits import Splits
from codeaudit.reports.observations import Observation, observe
from codeaudit.reports.records import Better, Metric
from codeaudit.reports.scores import score
from codeaudit.reports.statistics.trials import compare_trials
from codeaudit.reports.wording import verdict
from codeaudit.transforms.dependence.relations import TRAINABLE, Dependence, related_name
from codeaudit.transforms.errors import CodeauditError
from codeaudit.transforms.records import Perturbed, Sample

ORDERS: Final = 4
"""Legal orders of each method in the attack, as in the paper."""
DRAWN: Final = 0
"""The seed of the orders, the same for all networks."""


class Column(NamedTuple):
    """One measure of a network."""

    score: str
    head: str
    better: Better


COLUMNS: Final = (
    Column("f1", "F1", "higher"),
    Column("violations", "violations", "lower"),
    Column("attacked", "F1 under attack", "higher"),
)
MOVABLE: Final = Column("movable", "violations, movable", "lower")
ACCURACY: Final = Column("accuracy", "accuracy", "higher")
CALLED: Final = Column("called_buggy", "called buggy", "lower")
"""Has no better direction: it shows whether a detector gives one answer to everything."""
BUGGY_SHARE: Final = "buggy"
"""The score that holds the share of buggy methods among the answered ones."""
SIZE: Final = "size"
"""The score that holds the number of weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What the paper prints of a model: its weights in words, then percent."""

    weights: str
    f1: float
    violations: float | None = None
    attacked: float | None = None


class Table(NamedTuple):
    """One task and corpus with the paper's figures."""

    title: str
    option: str
    task: str
    paper: Mapping[str, Printed]


class Row(NamedTuple):
    """A network with options, as a row of a table."""

    network: str
    options: Mapping[str, object]


ROWS: Final[Mapping[str, Row]] = {
    "spe": Row("spe", {}),
    "spe-all": Row("spe", {"all_heads": True}),
    "spe-no-positions": Row("spe", {"line_positions": False}),
    "spe-additive": Row("spe", {"mask_mode": "additive"}),
    "symc": Row("symc", {}),
    "symc-far": Row("symc", {"sign": 1}),
    "vanilla": Row("vanilla", {}),
}
"""`spe-all` and `spe-no-positions` are the ablations of Table 3. `symc-far` has the paper's sign."""


TABLES: Final[Mapping[str, Table]] = {
    "error-detection": Table(
        "Table 4: error detection on Defects4J",
        "defects",
        "error-detection",
        {
            "CodeBERT": Printed(weights="476M", f1=62.2, violations=4.1),
            "GraphCodeBERT": Printed(weights="481M", f1=61.7, violations=1.3),
            "UnixCoder": Printed(weights="504M", f1=67.1, violations=2.9),
            "GPT-4": Printed(weights="N/A", f1=51.56, violations=13.5),
            "symc": Printed(weights="67.7M", f1=68.8, violations=0),
            "spe": Printed(weights="67.7M", f1=71.3, violations=0),
        },
    ),
    "function-name": Table(
        "Tables 5 and 6: function names of Java",
        "names",
        "function-name",
        {
            "code2seq": Printed(weights="6.3M", f1=25.5, violations=61, attacked=13.4),
            "CodeLlama": Printed(weights="7B", f1=31.7, violations=18, attacked=26.2),
            "WizardCoder": Printed(weights="3B", f1=33.9, violations=14),
            "symc": Printed(weights="68.4M", f1=36.3, violations=0),
            "spe": Printed(weights="68.4M", f1=39.0, violations=0, attacked=39.0),
        },
    ),
    "python-names": Table(
        "Tables 1, 3 and 6: function names of Python (Table 3 prints 39.0 for SPE)",
        "python",
        "function-name",
        {
            "code2seq": Printed(weights="6.3M", f1=27.3, attacked=14.9),
            "CodeLlama": Printed(weights="7B", f1=32.9, violations=14.2, attacked=26.5),
            "symc": Printed(weights="72.9M", f1=33.2),
            "spe": Printed(weights="72.9M", f1=37.1, violations=0, attacked=37.1),
            "spe-all": Printed(weights="72.9M", f1=38.2),
            "spe-no-positions": Printed(weights="72.9M", f1=22.5),
        },
    ),
}
"""Of the paper's other models, those that are nearest to ours or farthest from ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Budget):
    """Everything that decides a result, except the network, the task and the seed."""

    transform: str
    train: int
    valid: int
    test: int
    width: int
    layers: int
    heads: int
    window: int
    vocabulary: int
    bag_epochs: int
    epochs: int
    batch: int
    rate: float
    dependence: Dependence

    def recipe(self, row: str, seed: int) -> LineRecipe:
        """One training."""
        # As in the paper, without neighbours and copying.
        own = {"neighbours": 0, "copying": False, "rarest_label": 10}
        entry = ROWS[row]
        return self.recipe_of(LineRecipe, network=entry.network, options=entry.options, seed=seed, **own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The training and test samples of one task, the same for all networks."""

    task: Task
    splits: Splits[Sample]
    suite: tuple[Case, ...]


def ground(task: Task, spec: str, settings: Settings) -> Ground:
    """The samples of each split, drawn alike for all networks, and the test samples in other orders.

    Raises:
        CorpusError: the corpus cannot be read, or a split has no example.
    """

    def drawn(split: str, limit: int) -> list[Sample]:
        source = corpus(
            f"{spec}:{split}", resources=CorpusResources(note=lambda text: print(text, file=sys.stderr))
        )
        (found,) = select(source, task.prepare, limit=limit or None, seeds=[0])
        return [sample for sample in found.samples if sample.label is not None]

    splits = Splits(
        train=drawn("train", settings.train),
        valid=drawn("valid", settings.valid),
        test=drawn("test", settings.test),
    )
    name = related_name(settings.transform, settings.dependence)
    plan = SuitePlan(transforms=(name,), variants=ORDERS, seed=DRAWN, sites="all")
    suite = map(_as_published, cases(splits.test, plan, workers=1))
    return Ground(task=task, splits=splits, suite=tuple(suite))


def _as_published(case: Case) -> Case:
    """The case with orders of the paper's relation counted as the paper counts them: as meaning-keeping."""
    return replace(case, outcomes=tuple(replace(one, kind="preserving") for one in case.outcomes))


def prepared(found: Ground, asked: LineRecipe, cache: Path) -> LineMaterial:
    """The features of a task's samples."""
    return material.prepare(
        found.splits,
        asked,
        cache=cache,
        workers=1,
        note=lambda text: print(text, file=sys.stderr),
        task=LINE_TASKS[found.task.name],
    )


def measure(
    network: str, task: str, seed: int, settings: Settings, found: Ground, read: LineMaterial, out: Path
) -> Trial:
    """Train one row of a table, and audit it."""
    asked = settings.recipe(network, seed)
    place = out / "unfinished" / f"{task}-{network}-{seed}"
    begin = time.process_time()
    learner = LineLearner(asked, read)
    trained = fitted(learner, place, f"{network} {task} {seed}")
    seconds = time.process_time() - begin
    learner.write(place, trained, about={})
    scores = audited(LineModel.load(str(place), device="cpu"), found)
    shutil.rmtree(place)
    return Trial(
        network=network,
        size=task,
        seed=seed,
        setting=str(settings),
        scores=scores,
        epochs=[epoch["valid"] for epoch in trained.progress.epochs],
        seconds=round(seconds, 1),
    )


def audited(model: LineModel, found: Ground) -> dict[str, float]:
    """The numbers of one network. Leaves out what cannot be computed, such as rates over nothing."""
    setup = AuditSetup(model=model, task=found.task, memory=NoMemory(), monitor=NoMonitor(), batch_size=64)
    seen = [observe(one, seed=DRAWN) for one in audit(found.suite, setup)]
    block = score(seen, found.task)
    answered = [one for one in seen if one.answer is not None]
    moved = [changed for one in answered if (changed := _changed(one)) is not None]
    told: dict[str, float | None] = {
        "f1": block.original,
        "attacked": block.original if block.attack_worst_round is None else block.attack_worst_round,
        "attacked_each": block.attack_worst_sample,
        "violations": sum(moved) / len(answered) if answered else None,
        MOVABLE.score: sum(moved) / len(moved) if moved else None,
        "moved": len(moved) / len(answered) if answered else None,
        "answered": len(answered) / len(seen),
        SIZE: float(model.parameters),
    }
    if found.task.name == ERROR_DETECTION.name and answered:
        told |= {
            ACCURACY.score: sum(one.answer == one.sample.label for one in answered) / len(answered),
            CALLED.score: sum(one.answer == BUGGY for one in answered) / len(answered),
            BUGGY_SHARE: sum(one.sample.label == BUGGY for one in answered) / len(answered),
        }
    return {name: value for name, value in told.items() if value is not None}


def _changed(one: Observation) -> bool | None:
    """Whether the first other order changed the answer; `None` if there is no other order or no verdict."""
    found = [pair.changed for pair in one.pairs if pair.variant == 0 and pair.kind == "preserving"]
    return found[0] if found else None


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────


def table(trials: Sequence[Trial], task: str) -> str:
    """Markdown: means in percent with standard errors; bold is what the tests call best."""
    entry = TABLES[task]
    own = [trial for trial in trials if trial.size == task]
    networks = [name for name in ROWS if any(trial.network == name for trial in own)]
    columns = [*COLUMNS, MOVABLE, *([ACCURACY, CALLED] if entry.task == ERROR_DETECTION.name else [])]
    metrics = {column.score: _metric(own, networks, column) for column in columns}
    papers = [f"paper: {column.head}" for column in COLUMNS]
    lines = [
        f"### {entry.title}",
        "",
        f"| | weights | {' | '.join(column.head for column in columns)} | {' | '.join(papers)} |",
        f"|---|---|{'---:|' * (len(columns) + len(papers))}",
    ]
    for network in networks:
        weights = next(trial.scores[SIZE] for trial in own if trial.network == network)
        cells = [_cell(metrics[column.score], network) for column in columns]
        lines.append(
            f"| {network} | {weights / 1e6:.2f}M | {' | '.join([*cells, *_printed(entry, network)])} |"
        )
    if entry.task == ERROR_DETECTION.name:
        always = " | ".join([*_always(own, columns), *("–" for _ in COLUMNS)])
        lines.append(f"| always buggy | 0 | {always} |")
    for name in (name for name in entry.paper if name not in networks):
        blank = " | ".join("–" for _ in columns)
        lines.append(
            f"| {name} | {entry.paper[name].weights} | {blank} | {' | '.join(_printed(entry, name))} |"
        )
    moved = [trial.scores["moved"] for trial in own if "moved" in trial.scores]
    lines += [
        "",
        f"{max(sum(one.network == name for one in own) for name in networks)} trainings each; "
        f"{max(moved, default=0):.1%} of the test methods have another order.",
        "",
    ]
    for column in columns:
        if column is CALLED:
            continue
        metric = metrics[column.score]
        pairs = ", ".join(f"{one.first}/{one.second} {one.p_adjusted:.2g}" for one in metric.pairs)
        conover = f" Conover, Holm-adjusted p: {pairs}." if pairs else ""
        lines.append(f"- {column.head}: {verdict(metric.test)}.{conover}")
    return "\n".join(lines)


def _metric(trials: Sequence[Trial], networks: Sequence[str], column: Column) -> Metric:
    values = {
        network: [
            trial.scores[column.score]
            for trial in trials
            if trial.network == network and column.score in trial.scores
        ]
        for network in networks
    }
    return compare_trials(column.score, column.better, values)


def _cell(metric: Metric, network: str) -> str:
    text = cell(metric, network)
    return text.strip("*") if metric.name == CALLED.score else text


def _always(trials: Sequence[Trial], columns: Sequence[Column]) -> Iterable[str]:
    """The cells of the answer `buggy` to every method: F1 is 2p / (1 + p) where a share p is buggy."""
    share = max(trial.scores[BUGGY_SHARE] for trial in trials)
    f1 = 2 * share / (1 + share)
    known = {"f1": f1, "attacked": f1, ACCURACY.score: share, CALLED.score: 1.0}
    return (f"{100 * known.get(column.score, 0.0):.2f}" for column in columns)


def _printed(entry: Table, name: str) -> Iterable[str]:
    paper = entry.paper.get(name)
    figures = (None, None, None) if paper is None else (paper.f1, paper.violations, paper.attacked)
    return ["–" if figure is None else f"{figure:g}" for figure in figures]


def caption(settings: Settings) -> str:
    """A caption that says how the set-up differs from the paper's."""
    return (
        "In percent, mean ± standard error; bold are the best and what Conover's test (Holm-adjusted, 0.05) "
        "does not tell from it, where Kruskal–Wallis rejects. What differs from the paper: networks of width "
        f"{settings.width} with {settings.layers} layers and {settings.heads} heads, where the paper has "
        f"768, 8 and 12; {settings.bag_epochs} + {settings.epochs} epochs at a rate of {settings.rate:g}, "
        "where the paper has 20 at 1e-4; words instead of CodeLlama's tokens; methods of up to "
        f"{settings.window} tokens. Of the bugs, no group of methods that share a text or a bug stands on "
        "two sides of the split; of the names, no project does, where the paper splits methods at random. "
        "A detector that calls everything buggy reaches an F1 of two thirds. Violations are counted over all "
        "answered methods, for one order each, and over those that have another order. The attack takes the "
        f"lowest F1 of {ORDERS} rounds of orders. Settings: {settings}."
    )


def train(ledger: Ledger, asked: argparse.Namespace, settings: Settings) -> None:
    """Train what is missing."""
    for task, entry in TABLES.items():
        spec = getattr(asked, entry.option)
        missing = [
            (network, seed)
            for seed in range(asked.seeds)
            for network in asked.networks.split(",")
            if spec is not None and not ledger.has(network, task, seed)
        ]
        if not missing:
            continue
        found = ground(TASKS.get(entry.task), spec, settings)
        variants = sum(isinstance(one, Perturbed) for case in found.suite for one in case.outcomes)
        print(f"{task}: {len(found.suite):,} test methods, {variants:,} variants", file=sys.stderr)
        read = prepared(found, settings.recipe("spe", 0), asked.out / "features")
        for network, seed in missing:
            trial = measure(network, task, seed, settings, found, read, asked.out)
            ledger.add(trial)
            told = ", ".join(f"{name} {value:.2%}" for name, value in trial.scores.items() if name != SIZE)
            print(f"{network} {task} {seed}: {told}; {trial.seconds:.0f} s", file=sys.stderr)


def main(words: Sequence[str] | None = None) -> int:
    """Train what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--defects", metavar="TABLE", help="methods with and without bugs")
    parser.add_argument("--names", metavar="TABLE", help="Java methods with names")
    parser.add_argument("--python", metavar="TABLE", help="Python functions with names")
    parser.add_argument("--out", type=Path, default=Path("spe-tables"))
    parser.add_argument(
        "--networks", default="spe,symc,vanilla", help=f"with commas between: {', '.join(ROWS)}"
    )
    parser.add_argument("--seeds", type=int, default=5, help="trainings of each network")
    parser.add_argument("--transform", default="reorder", help="what orders, or other variants, are drawn by")
    parser.add_argument(
        "--dependence", choices=TRAINABLE, default="strict", help="the relation of masks and orders"
    )
    parser.add_argument("--train", type=int, default=20_000, help="most methods to learn from, 0 for all")
    parser.add_argument("--valid", type=int, default=2_000, help="most methods to validate on")
    parser.add_argument("--test", type=int, default=2_000, help="most methods to test on")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--window", type=int, default=256, help="tokens; longer methods are left out")
    parser.add_argument("--vocabulary", type=int, default=6_000)
    parser.add_argument("--bag-epochs", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=1.5e-3, help="peak learning rate")
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args(words)
    for name in asked.networks.split(","):
        if name not in ROWS:
            parser.error(f"no network {name!r}; known: {', '.join(ROWS)}")
    if asked.seeds < 1:
        parser.error("--seeds must be 1 or more")
    torch.set_num_threads(asked.threads)
    settings = Settings(**{name: getattr(asked, name) for name in Settings.__dataclass_fields__})
    ledger = Ledger(asked.out / "trials.jsonl", str(settings))
    try:
        train(ledger, asked, settings)
    except CodeauditError as error:
        parser.error(str(error))
    tables = [table(ledger.trials, task) for task in TABLES if any(one.size == task for one in ledger.trials)]
    if not tables:
        parser.error(f"no trial of these settings in {str(asked.out)!r}; name --defects, --names or --python")
    text = "\n\n".join([*tables, caption(settings)]) + "\n"
    (asked.out / "tables.md").write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

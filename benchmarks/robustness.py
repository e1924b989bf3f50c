"""One table of robustness: networks of several papers name the same functions under the same transforms.

    python benchmarks/robustness.py --corpus TABLE --out DIR
    python benchmarks/robustness.py --corpus TABLE --out DIR --train 500 --test 20 --seeds 2   a small budget
    python benchmarks/robustness.py --corpus TABLE --out DIR --row tree=tree_row:model one more row

TABLE is a corpus of Python functions with splits, as `codeaudit run --corpus` takes it before `:SPLIT`. All
networks have one trunk, one budget and one set of functions; they differ in attention, positions, and in
whether they read names. `canonical` is the vanilla network of the same seed, shown canonical code only. The
test functions are those that have another legal order of their statements and fit the window.

Every network is trained once for each seed. The table gives its micro F1, its F1 where each function is
replaced by a variant, and the share of answers that the variant changes. That share is given over all
functions, and over those that the transform can change. Under controls, which change the meaning, changes are
wanted.

Each result is a line of DIR/trials.jsonl with a file in DIR/changes, and is not repeated. An interrupted
training goes on. A row of your own is MODULE:FUNCTION: the function takes a seed and returns a model for
`function-name`. The tables are printed and written to DIR/table.md.
"""

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

import torch
from trials import Budget, Ledger, Trial, fitted, tell

from codeaudit.audit.cache import NoMemory
from codeaudit.audit.corpora.selection import select
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.interface import Model
from codeaudit.audit.models.wrappers import Canonical
from codeaudit.audit.papers.checkpoint import CONFIG
from codeaudit.audit.papers.lines.encoding import EncodedLines, LineEncoder
from codeaudit.audit.papers.spe_attention import material
from codeaudit.audit.papers.spe_attention.material import LineMaterial, LineRecipe
from codeaudit.audit.papers.spe_attention.model import LineModel
from codeaudit.audit.papers.spe_attention.networks import NETWORKS
from codeaudit.audit.papers.spe_attention.training import LineLearner
from codeaudit.audit.records import Case
from codeaudit.audit.run import AuditSetup, NoMonitor, audit
from codeaudit.audit.suite import SuitePlan, cases
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.audit.training.splits import Splits
from codeaudit.audit.training.trainer import STATE_FILE
from codeaudit.reports.observations import Observation, Pair, observe
from codeaudit.reports.records import Metric, Rate
from codeaudit.reports.statistics.adjustment import ALPHA
from codeaudit.reports.statistics.intervals import rate
from codeaudit.reports.statistics.trials import compare_trials
from codeaudit.reports.wording import verdict
from codeaudit.transforms.errors import CodeauditError, CorpusError
from codeaudit.transforms.records import Perturbed, Sample
from codeaudit.transforms.registration import load_target

Row: TypeAlias = Callable[[int], Model]
"""Makes the model of a seed."""

TASK: Final = FUNCTION_NAME.name
TRAINED: Final = ("spe", "symc", "vanilla", "renamer", "code")
CANONICAL: Final = "canonical"
READINGS: Final = ("spe", "renamer")
"""One network that reads names, and one that does not."""

PRESERVING: Final = (
    "reorder",
    "swap-operands",
    "rename",
    "rename-parameters",
    "insert-comments",
    "insert-blank-lines",
    "indentation",
)
CONTROLS: Final = ("reorder-breaking", "rename-merging")
SELECTED_BY: Final = "reorder"
"""The test functions are those that this transform can change."""
LAYOUT: Final = frozenset({"insert-comments", "insert-blank-lines", "indentation"})
CLAIMS: Final[Mapping[str, frozenset[str]]] = {
    "spe": LAYOUT | {"reorder"},
    "symc": LAYOUT | {"reorder"},
    "vanilla": LAYOUT,
    "renamer": LAYOUT | {"rename", "rename-parameters"},
    "code": LAYOUT,
    CANONICAL: LAYOUT | {"reorder", "rename"},
}
"""The transforms to which each network is invariant by construction. A network that reads lines never sees
layout.
"""
DRAWN: Final = 0
"""The seed of the variants, the same for all networks."""
TRIED: Final = 24
"""Functions drawn for each test function: only few have another order and fit the window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Budget):
    """Everything that decides a result, except the row and the seed."""

    corpus: str
    """The name of the corpus file, without its folder."""
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

    @property
    def key(self) -> str:
        """A short hash that names folders."""
        return hashlib.sha256(str(self).encode()).hexdigest()[:12]

    def recipe(self, network: str, seed: int) -> LineRecipe:
        """One training."""
        # The heads alone differ: no network has neighbours, and none copies.
        own = {"neighbours": 0, "copying": False, "rarest_label": 10}
        return self.recipe_of(LineRecipe, network=network, seed=seed, **own)


# ── what all networks share ──────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The training and test samples, the same for all networks."""

    splits: Splits[Sample]
    materials: Mapping[bool, LineMaterial]
    """Keyed by whether the network reads names."""
    suite: tuple[Case, ...]

    def material(self, network: str) -> LineMaterial:
        """The training samples with the features that this network reads."""
        return self.materials[_reads_names(network)]


def ground(settings: Settings, spec: str, cache: Path) -> Ground:
    """The samples of each split, their features in both readings, and the test functions with variants.

    Raises:
        CorpusError: the corpus cannot be read, or a split has no example.
    """

    def drawn(split: str, limit: int) -> list[Sample]:
        (selection,) = select(corpus(f"{spec}:{split}"), FUNCTION_NAME.prepare, limit=limit, seeds=[0])
        return [sample for sample in selection.samples if sample.label is not None]

    valid = drawn("valid", settings.valid)
    # The test functions are read as text, by each model for itself.
    splits = Splits(train=drawn("train", settings.train), valid=valid, test=valid)
    materials = {
        _reads_names(network): material.prepare(
            splits, settings.recipe(network, 0), cache=cache, workers=1, note=tell
        )
        for network in READINGS
    }
    encoders = [
        LineEncoder(
            materials[_reads_names(network)].tokenizer,
            window=settings.window,
            relation=NETWORKS[network].relation,
        )
        for network in READINGS
    ]
    chosen = list(
        islice(
            (
                sample
                for sample in drawn("test", TRIED * settings.test)
                if all(isinstance(encoder.encode(sample.source), EncodedLines) for encoder in encoders)
                and _is_movable(sample)
            ),
            settings.test,
        )
    )
    if not chosen:
        raise CorpusError("no test function of this window has another order; take a larger --test")
    plan = SuitePlan(transforms=(*PRESERVING, *CONTROLS), variants=1, seed=DRAWN, sites="all")
    return Ground(splits=splits, materials=materials, suite=tuple(cases(chosen, plan, workers=1)))


def _reads_names(network: str) -> bool:
    return NETWORKS[network].relation != "referents"


def _is_movable(sample: Sample) -> bool:
    plan = SuitePlan(transforms=(SELECTED_BY,), variants=1, seed=DRAWN, sites="all")
    return any(
        isinstance(outcome, Perturbed)
        for case in cases([sample], plan, workers=1)
        for outcome in case.outcomes
    )


# ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────


def trained(network: str, seed: int, *, settings: Settings, basis: Ground, out: Path) -> LineModel:
    """The network of a seed. Loads its checkpoint, or trains it and writes one."""
    place = out / "models" / settings.key / f"{network}-{seed}"
    if not (place / CONFIG).exists():
        read, asked = basis.material(network), settings.recipe(network, seed)
        learner = LineLearner(asked, read)
        made = fitted(learner, place, f"{network} {seed}")
        learner.write(place, made, about={})
        (place / STATE_FILE).unlink()
    return LineModel.load(str(place), device="cpu")


def rows(settings: Settings, basis: Ground, out: Path, more: Mapping[str, str]) -> dict[str, Row]:
    """Every row by name. `more` maps the names of further rows to MODULE:FUNCTION."""
    own: dict[str, Row] = {
        network: partial(trained, network, settings=settings, basis=basis, out=out) for network in TRAINED
    }

    def canonical(seed: int) -> Model:
        return Canonical(own["vanilla"](seed))

    return {**own, CANONICAL: canonical, **{name: imported(place) for name, place in more.items()}}


def imported(place: str) -> Row:
    """The function that MODULE:FUNCTION names."""
    made: Row = load_target(place)
    return made


# ── one trial ────────────────────────────────────────────────────────────────────────────────────────────


Changes: TypeAlias = Mapping[str, Mapping[str, bool]]
"""By transform and sample, whether the answer changed; samples without a verdict are left out."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The changes of every trial of one setting, a file each."""

    place: Path

    def put(self, row: str, seed: int, changes: Changes) -> None:
        """Write the changes of a trial."""
        self.place.mkdir(parents=True, exist_ok=True)
        path = self._path(row, seed)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(changes), encoding="utf-8")
        part.replace(path)

    def get(self, row: str, seed: int) -> Changes | None:
        """The changes of a trial; `None` if there is no file."""
        path = self._path(row, seed)
        if not path.exists():
            return None
        changes: Changes = json.loads(path.read_text(encoding="utf-8"))
        return changes

    def _path(self, row: str, seed: int) -> Path:
        return self.place / f"{row}-{seed}.json"


def measured(model: Model, suite: Sequence[Case]) -> tuple[dict[str, float], Changes]:
    """The scores of a model, and which answers changed. A score that cannot be computed is left out."""
    setup = AuditSetup(model=model, task=FUNCTION_NAME, memory=NoMemory(), monitor=NoMonitor(), batch_size=64)
    seen = [observe(audited, seed=DRAWN) for audited in audit(suite, setup)]
    answered = [observation for observation in seen if observation.answer is not None]
    scores: dict[str, float | None] = {"answered": len(answered) / len(seen), "f1": _f1(answered, None)}
    changes: dict[str, dict[str, bool]] = {}
    for name in (*PRESERVING, *CONTROLS):
        pairs = {observation.sample.id: _pair(observation, name) for observation in answered}
        judged = {
            sample: pair.changed
            for sample, pair in pairs.items()
            if pair is not None and pair.changed is not None
        }
        changes[name] = judged
        scores[f"f1 {name}"] = _f1(answered, name)
        scores[f"all {name}"] = sum(judged.values()) / len(answered) if answered else None
        scores[f"movable {name}"] = sum(judged.values()) / len(judged) if judged else None
    return {name: value for name, value in scores.items() if value is not None}, changes


def _pair(observation: Observation, transform: str) -> Pair | None:
    return next((pair for pair in observation.pairs if pair.transform == transform), None)


def _f1(answered: Sequence[Observation], transform: str | None) -> float | None:
    """The F1 with the variant's answer wherever there is one, else with the original's."""
    pairs = [None if transform is None else _pair(observation, transform) for observation in answered]
    return FUNCTION_NAME.corpus_score(
        [
            (pair.answer, pair.sample)
            if pair is not None and pair.answer is not None
            else (observation.answer, observation.sample)
            for observation, pair in zip(answered, pairs, strict=True)
            if observation.answer is not None
        ]
    )


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The trials of one setting."""

    trials: Sequence[Trial]
    shelf: Shelf
    names: Sequence[str]
    """The rows that have trials."""

    def values(self, name: str, score: str) -> list[float]:
        """One score of every trial of a row."""
        return [
            trial.scores[score] for trial in self.trials if trial.network == name and score in trial.scores
        ]

    def metric(self, score: str, *, higher: bool) -> Metric:
        """The values of all rows as a metric for the statistical tests."""
        values = {name: self.values(name, score) for name in self.names}
        return compare_trials(score, "higher" if higher else "lower", values)

    def pooled(self, name: str, transform: str) -> Rate:
        """The share of changed answers over all seeds, with an interval over functions."""
        counts: Counter[str] = Counter()
        totals: Counter[str] = Counter()
        for trial in self.trials:
            if trial.network == name:
                for sample, changed in (self.shelf.get(name, trial.seed) or {}).get(transform, {}).items():
                    counts[sample] += changed
                    totals[sample] += 1
        return rate({sample: (counts[sample], total) for sample, total in totals.items()}, seed=DRAWN)


def table(results: Results) -> str:
    """Markdown: a row per network, a column per transform; then the counts behind each cell."""
    heads = [*PRESERVING, *(f"control: {name}" for name in CONTROLS)]
    lines = [
        f"| | F1 | {' | '.join(heads)} |",
        f"|---|---:|{'---:|' * len(heads)}",
    ]
    quality = results.metric("f1", higher=True)
    for name in results.names:
        cells = [_rate(results.pooled(name, transform)) for transform in (*PRESERVING, *CONTROLS)]
        lines.append(f"| {name} | {_mean(quality, name)} | {' | '.join(cells)} |")
    lines += [
        "",
        "| transform | network | F1 | F1 of variants | changed, of movable | of all |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for transform in (*PRESERVING, *CONTROLS):
        under = results.metric(f"f1 {transform}", higher=True)
        over_all = results.metric(f"all {transform}", higher=transform in CONTROLS)
        for name in results.names:
            pooled = results.pooled(name, transform)
            lines.append(
                f"| {transform} | {name} | {_mean(quality, name)} | {_mean(under, name)} | "
                f"{pooled.count} of {pooled.total} | {_mean(over_all, name)} |"
            )
    return "\n".join(lines)


def _rate(pooled: Rate) -> str:
    if pooled.rate is None or pooled.low is None or pooled.high is None:
        return "–"
    return f"{100 * pooled.rate:.1f} [{100 * pooled.low:.1f}, {100 * pooled.high:.1f}]"


def _mean(metric: Metric, name: str) -> str:
    group = next(group for group in metric.groups if group.name == name)
    if group.mean is None:
        return "–"
    error = "" if group.error is None else f" ± {100 * group.error:.1f}"
    text = f"{100 * group.mean:.1f}{error}"
    return f"**{text}**" if group.best else text


def sentences(results: Results) -> str:
    """Sentences: which claims hold, and the results of the tests over seeds."""
    lines = []
    for name in results.names:
        for transform in PRESERVING:
            if transform not in CLAIMS.get(name, frozenset()):
                continue
            pooled = results.pooled(name, transform)
            if pooled.high is None:
                finding = "cannot be told: no function has a variant"
            elif pooled.count:
                finding = f"does not hold: {pooled.count} of {pooled.total} answers change"
            else:
                finding = f"holds: none of {pooled.total} answers changes, at most {pooled.high:.2%} would"
            lines.append(f"- {name} is invariant under `{transform}`: {finding}.")
        blind = [
            transform
            for transform in CONTROLS
            if (pooled := results.pooled(name, transform)).total and not pooled.count
        ]
        if blind:
            lines.append(f"- {name} does not see {' and '.join(f'`{control}`' for control in blind)}.")
    lines.append("")
    scores = ["f1", *(f"movable {transform}" for transform in (*PRESERVING, *CONTROLS))]
    for score in scores:
        metric = results.metric(score, higher=score == "f1" or score.partition(" ")[2] in CONTROLS)
        apart = [pair for pair in metric.pairs if pair.p_adjusted < ALPHA]
        finding = ", ".join(f"{pair.first}/{pair.second} {pair.p_adjusted:.2g}" for pair in apart) or "none"
        conover = f" Conover tells apart (Holm-adjusted p): {finding}." if metric.pairs else ""
        lines.append(f"- {score}: {verdict(metric.test)}.{conover}")
    return "\n".join(lines)


def caption(settings: Settings, results: Results) -> str:
    """A caption that explains the numbers."""
    times = Counter(trial.network for trial in results.trials)
    return (
        f"In percent. {max(times.values())} trainings each; F1 is micro-averaged, mean ± standard error over "
        "the trainings, bold the best and what Conover's test (Holm-adjusted, 0.05) does not tell from it, "
        "where Kruskal–Wallis rejects. Under a transform stands the share of changed answers among the "
        "functions that it can change and that have a verdict, pooled over trainings, with a 95 % interval "
        "that takes a function for one unit however often it was asked. Every test function has another "
        "legal order; each has one variant of each transform. Functions are asked alone, so there is no "
        "order of definitions or members to change (`reorder-functions`, `reorder-methods`), and known "
        "callees for `reorder-keywords` are too rare; another order inside expressions is `swap-operands`. "
        "`canonical` is the vanilla network in front of which code is made canonical, without being trained "
        "on such code. CoDE's attention is here under a head for names, without its penalty on features. "
        f"Settings: {settings}."
    )


# ── the command ──────────────────────────────────────────────────────────────────────────────────────────


def run(ledger: Ledger, shelf: Shelf, asked: argparse.Namespace, settings: Settings) -> None:
    """Run the missing trials."""
    missing = [
        (name, seed)
        for seed in range(asked.seeds)
        for name in asked.names
        if not ledger.has(name, TASK, seed) or shelf.get(name, seed) is None
    ]
    if not missing:
        return
    basis = ground(settings, asked.corpus, asked.out / "features")
    variants = Counter(
        outcome.transform
        for case in basis.suite
        for outcome in case.outcomes
        if isinstance(outcome, Perturbed)
    )
    tell(f"{len(basis.suite):,} test functions; " + ", ".join(f"{n} {k}" for k, n in variants.items()))
    makers = rows(settings, basis, asked.out, asked.more)
    for name, seed in missing:
        begin = time.process_time()
        scores, changes = measured(makers[name](seed), basis.suite)
        shelf.put(name, seed, changes)
        seconds = round(time.process_time() - begin, 1)
        if not ledger.has(name, TASK, seed):
            ledger.add(
                Trial(
                    network=name, size=TASK, seed=seed, setting=str(settings), scores=scores, seconds=seconds
                )
            )
        shares = ", ".join(
            f"{transform} {scores[f'movable {transform}']:.1%}"
            for transform in PRESERVING
            if f"movable {transform}" in scores
        )
        tell(f"{name} {seed}: F1 {scores.get('f1', 0):.1%}; changed {shares}; {seconds:.0f} s")


def main(words: Sequence[str] | None = None) -> int:
    """Run the missing trials, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpus", required=True, metavar="TABLE", help="Python functions with splits")
    parser.add_argument("--out", type=Path, default=Path("robustness"))
    parser.add_argument("--networks", default=",".join((*TRAINED, CANONICAL)), help="with commas between")
    parser.add_argument("--row", action="append", default=[], metavar="NAME=MODULE:FUNCTION")
    parser.add_argument("--seeds", type=int, default=5, help="trainings of each network")
    parser.add_argument("--train", type=int, default=10_000, help="functions to learn from")
    parser.add_argument("--valid", type=int, default=1_000, help="functions to validate on")
    parser.add_argument("--test", type=int, default=400, help="functions to test on")
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--window", type=int, default=192, help="tokens; longer functions are left out")
    parser.add_argument("--vocabulary", type=int, default=6_000)
    parser.add_argument("--bag-epochs", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=1.5e-3, help="peak learning rate")
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args(words)
    asked.more = dict(row.split("=", 1) for row in asked.row if "=" in row and ":" in row)
    if len(asked.more) < len(asked.row):
        parser.error("--row is NAME=MODULE:FUNCTION, each name once")
    asked.names = [*asked.networks.split(","), *asked.more]
    for name in asked.names:
        if name not in (*TRAINED, CANONICAL, *asked.more):
            parser.error(f"no row {name!r}; known: {', '.join((*TRAINED, CANONICAL))}")
    if asked.seeds < 1:
        parser.error("--seeds must be 1 or more")
    torch.set_num_threads(asked.threads)
    given = {name: getattr(asked, name) for name in Settings.__dataclass_fields__}
    settings = Settings(**{**given, "corpus": Path(asked.corpus).name})
    ledger = Ledger(asked.out / "trials.jsonl", str(settings))
    shelf = Shelf(asked.out / "changes" / settings.key)
    try:
        run(ledger, shelf, asked, settings)
    except CodeauditError as error:
        parser.error(str(error))
    names = [name for name in asked.names if any(trial.network == name for trial in ledger.trials)]
    kept = [trial for trial in ledger.trials if trial.network in names and trial.seed < asked.seeds]
    results = Results(trials=kept, shelf=shelf, names=names)
    text = "\n\n".join([table(results), sentences(results), caption(settings, results)]) + "\n"
    (asked.out / "table.md").write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

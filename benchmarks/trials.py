"""Results of many trainings: kept in a file as they come, and printed as the paper prints its tables."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from torch import nn

from codeaudit.audit.training.speed import faster_in_half
from codeaudit.audit.training.trainer import Learner, Recipe, Trained, TrainingProgress, train
from codeaudit.reports.records import Metric
from codeaudit.reports.statistics.trials import compare_trials
from codeaudit.reports.wording import verdict

R = TypeVar("R", bound=Recipe)
N = TypeVar("N", bound=nn.Module)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One training's results."""

    network: str
    size: str
    seed: int
    setting: str
    """The other settings that decide the result. Trials of other settings are never mixed with these."""
    scores: Mapping[str, float]
    """Keyed by the name of the test set."""
    epochs: list[float] = field(default_factory=list)
    """The validation score after each epoch."""
    seconds: float = 0.0


def tell(text: str) -> None:
    """Print a line on the progress."""
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Shows the progress of a training."""

    name: str
    total: int
    """Steps."""

    def stepped(self, progress: TrainingProgress, loss: float) -> None:
        """After every step, in a terminal."""
        if progress.step % 50 == 0 and sys.stderr.isatty():
            line = f"\r{self.name}: step {progress.step:,} of {self.total:,}, loss {loss:.3f}"
            print(line, end=" ", file=sys.stderr)

    def epoch(self, progress: TrainingProgress) -> None:
        """After every epoch with a validation score."""
        last = progress.epochs[-1]
        if "valid" in last:
            if sys.stderr.isatty():
                print(file=sys.stderr)  # ends the line of the steps
            tell(f"  {self.name}: epoch {last['epoch']:.0f}, validation {last['valid']:.1%}")


def fitted(learner: Learner[N, Any], folder: Path, name: str) -> Trained[N]:
    """Train a network and show the progress, or go on with a training that stopped in this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    watch = Watch(name=name, total=learner.total)
    return train(learner, folder=folder, monitor=watch, stop=lambda: False)


class Budget:
    """The settings of a table: each benchmark derives a frozen dataclass, whose fields decide its results."""

    __slots__ = ()

    def __str__(self) -> str:
        """For captions, and to tell trials of other settings apart: the order of the fields stays."""
        values = asdict(self)  # type: ignore[call-overload]
        return ", ".join(f"{name} {value}" for name, value in values.items())

    def recipe_of(self, kind: type[R], **apart: Any) -> R:
        """A recipe with the settings of the same names, and with the fields given here.

        Its precision is what this processor finds faster; the results differ by rounding alone.
        """
        known = {setting.name for setting in fields(kind)}  # type: ignore[arg-type]
        names = known & {setting.name for setting in fields(self)}  # type: ignore[arg-type]
        precision = {"half": faster_in_half("cpu")} if "half" in known else {}
        return kind(**apart, **precision, **{name: getattr(self, name) for name in names})


class Ledger:
    """The finished trials, kept in a file, so that a second start goes on where the first one stopped."""

    def __init__(self, path: Path, setting: str) -> None:
        self._path, self.setting = path, setting
        self.trials: list[Trial] = []
        if path.exists():
            text = path.read_text(encoding="utf-8")
            whole, _, cut = text.rpartition("\n")
            if cut:  # an earlier start was killed while it wrote
                path.write_text(f"{whole}\n" if whole else "", encoding="utf-8")
            trials = (Trial(**json.loads(line)) for line in whole.splitlines())
            self.trials = [trial for trial in trials if trial.setting == setting]

    def has(self, network: str, size: str, seed: int) -> bool:
        """Whether this training was done before."""
        return any((trial.network, trial.size, trial.seed) == (network, size, seed) for trial in self.trials)

    def add(self, trial: Trial) -> None:
        """Keep a trial."""
        self.trials.append(trial)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(trial)) + "\n")


def table(
    trials: Iterable[Trial],
    score: str,
    *,
    title: str,
    better: str,
    networks: Sequence[str],
    sizes: Sequence[str],
    printed: Mapping[str, Sequence[float]],
) -> str:
    """A table of the paper in Markdown: a row per network, a column per size, the best in bold.

    `printed` holds the paper's own figures by network, one per size, shown in brackets.
    """
    kept = list(trials)
    metrics = {size: compared(kept, score, size, networks, better) for size in sizes}
    lines = [f"### {title}", "", f"| | {' | '.join(sizes)} |", "|---|" + "---:|" * len(sizes)]
    for network in networks:
        cells = [cell(metrics[size], network, unit="%") for size in sizes]
        paper = printed.get(network, ())
        beside = [f" (paper {paper[at]:.2%})" if at < len(paper) else "" for at in range(len(sizes))]
        row = " | ".join(cell + more for cell, more in zip(cells, beside, strict=True))
        lines.append(f"| {network} | {row} |")
    lines.append("")
    lines += [f"{size}: {verdict(metrics[size].test)}. {_pairs(metrics[size])}" for size in sizes]
    return "\n".join(lines)


def compared(trials: Sequence[Trial], score: str, size: str, networks: Sequence[str], better: str) -> Metric:
    """A score of some networks, with the tests that compare them."""
    values = {
        network: [trial.scores[score] for trial in trials if (trial.network, trial.size) == (network, size)]
        for network in networks
    }
    return compare_trials(score, "lower" if better == "lower" else "higher", values)


def cell(metric: Metric, network: str, digits: int = 2, unit: str = "") -> str:
    """A network's mean with its standard error in percent, in bold if it is among the best."""
    group = next(group for group in metric.groups if group.name == network)
    if group.mean is None:
        return "–"
    error = "" if group.error is None else f" ± {100 * group.error:.{digits}f}{unit}"
    text = f"{100 * group.mean:.{digits}f}{unit}{error}"
    return f"**{text}**" if group.best else text


def _pairs(metric: Metric) -> str:
    if not metric.pairs:
        return ""
    texts = (f"{pair.first}/{pair.second} {pair.p_adjusted:.2g}" for pair in metric.pairs)
    return f"Conover, Holm-adjusted p: {', '.join(texts)}"

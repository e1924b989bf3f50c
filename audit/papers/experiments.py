"""Experiments of the papers that no other command makes: each trial is kept in a file, and is not done again.

An experiment is a function from a `Bench` to its trials. `items/PAPER.toml` names it (`target`) with its
settings under each preset.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from codeaudit.transforms.errors import RunError

if TYPE_CHECKING:
    from torch import nn

    from codeaudit.audit.training.trainer import Learner, Trained, TrainingProgress

N = TypeVar("N", bound="nn.Module")

Series: TypeAlias = Sequence[Sequence[float]]
"""Points (x, y)."""
Matrix: TypeAlias = Sequence[Sequence[float]]
"""Rows of numbers, such as a picture in shades of grey."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTrial:
    """What one training, or one measurement, gave."""

    row: str
    seed: int = 0
    scores: Mapping[str, float] = field(default_factory=dict)
    series: Mapping[str, Series] = field(default_factory=dict)
    matrices: Mapping[str, Matrix] = field(default_factory=dict)
    notes: Sequence[str] = ()
    """Sentences below the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What an experiment is asked for."""

    name: str
    """Of the experiment; items with one experiment share trials."""
    rows: Sequence[str]
    settings: Mapping[str, Any]
    """Everything else that decides a trial."""
    seeds: int
    device: str
    data: Path | None
    """The table of data, where the experiment needs one."""
    folder: Path
    """Of trials and of unfinished trainings."""
    tell: Callable[[str], None]

    def trials(
        self, measure: Callable[[str, int], Sequence[PaperTrial]], *, seeds: bool = True
    ) -> Iterator[PaperTrial]:
        """The trials of all rows, seed by seed; what is not kept yet is measured.

        `measure` gives the trial of a row and a seed, and may give further ones that come with it.
        """
        for seed in range(self.seeds if seeds else 1):
            for row in self.rows:
                path = self._path(row, seed)
                if not path.is_file():
                    for trial in measure(row, seed):
                        if self._path(trial.row, trial.seed).is_file():
                            continue
                        self._keep(trial)
                        scores = ", ".join(f"{name} {value:.4g}" for name, value in trial.scores.items())
                        self.tell(f"{trial.row}, seed {trial.seed}: {scores[:300]}")
                try:
                    yield PaperTrial(**json.loads(path.read_text("utf-8")))
                except (OSError, ValueError, TypeError) as error:
                    raise RunError(f"{str(path)!r} holds no trial; delete it: {error}") from error

    def fitted(self, learner: "Learner[N, Any]", row: str, seed: int) -> "Trained[N]":
        """A trained network; a training that was interrupted goes on."""
        from codeaudit.audit.training.trainer import STATE_FILE, train

        place = self._path(row, seed).with_suffix("")
        place.mkdir(parents=True, exist_ok=True)
        watch = _Watch(f"{row}, seed {seed}", learner.total, self.tell)
        trained = train(learner, folder=place, monitor=watch, stop=lambda: False)
        (place / STATE_FILE).unlink(missing_ok=True)
        place.rmdir()
        return trained

    def _path(self, row: str, seed: int) -> Path:
        identity = [self.name, self.settings, None if self.data is None else self.data.name, row, seed]
        digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:8]
        label = "-".join("".join(sign if sign.isalnum() else " " for sign in row).split())
        return self.folder / f"{self.name}-{label}-seed-{seed}-{digest}.json"

    def _keep(self, trial: PaperTrial) -> None:
        path = self._path(trial.row, trial.seed)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(asdict(trial)), encoding="utf-8")
        part.replace(path)


@dataclass(frozen=True, slots=True)
class _Watch:
    """Tells how far a training is, ten times."""

    name: str
    total: int
    tell: Callable[[str], None]

    def stepped(self, progress: "TrainingProgress", loss: float) -> None:
        """After every step."""
        if progress.step % max(1, self.total // 10) == 0:
            self.tell(f"{self.name}: step {progress.step:,} of {self.total:,}, loss {loss:.3f}")

    def epoch(self, progress: "TrainingProgress") -> None:
        """After every epoch."""

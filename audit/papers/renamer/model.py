"""Checkpoints of the networks that read terms: Renamer and its baselines, written by `codeaudit train`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import torch

from codeaudit.audit.papers import checkpoint as files
from codeaudit.audit.papers.registry import TERM_NETWORKS
from codeaudit.audit.papers.renamer.network import Renamer, Sizes, collate
from codeaudit.audit.papers.renamer.tasks import TASKS
from codeaudit.audit.papers.renamer.terms import VERSION, TermReader
from codeaudit.audit.records import Failed, Prediction, Query
from codeaudit.transforms.errors import ModelError, SourceError

UNREADABLE: Final = Failed(reason="source does not parse")


@dataclass(frozen=True, slots=True, kw_only=True)
class TermConfig:
    """What such a checkpoint's config.json says."""

    task: str
    network: str
    sizes: Sizes
    precision: str = "float32"

    def as_json(self) -> dict[str, object]:
        """The file's content."""
        return {
            "schema": files.SCHEMA,
            "task": self.task,
            "network": self.network,
            "sizes": asdict(self.sizes),
            "precision": self.precision,
        }


def read_config(path: Path) -> TermConfig:
    """A config.json.

    Raises:
        ModelError: it is missing or not one of ours.
    """
    config = files.read_as(
        path,
        lambda found: TermConfig(
            task=str(found["task"]),
            network=str(found["network"]),
            sizes=Sizes(**found["sizes"]),
            precision=str(found["precision"]),
        ),
    )
    files.check_known(
        path,
        ("task", config.task, TASKS),
        ("network", config.network, TERM_NETWORKS),
        ("precision", config.precision, files.PRECISIONS),
    )
    return config


class TermModel(files.Trained):
    """A trained network as a model.

    Each query is computed alone, in a batch of one: so every batch is composed alike, an answer does not
    depend on what else is asked, and equal inputs have bit-identical answers. In batches of several, rows
    differ in their last bits by their place and by the padding.
    """

    noise = 0.0
    """What a query is asked with has no effect at all."""

    def __init__(
        self, name: str, config: TermConfig, network: Renamer, reader: TermReader, digest: str, *, device: str
    ) -> None:
        super().__init__(name, config.task, network, digest=digest, precision=config.precision, shown=VERSION)
        self.config = config
        self.device = device
        self.reader = reader
        self._network = network.to(device=device, dtype=files.PRECISIONS[config.precision]).eval()
        self._asked = TASKS[config.task]

    @classmethod
    def load(cls, place: str, *, device: str = "auto", precision: str | None = None) -> "TermModel":
        """A bundled checkpoint by name, or a folder.

        Raises:
            ModelError: a file is missing, damaged, or does not fit the others.
            UsageError: no such device or precision.
        """
        folder = files.folder_of(place)
        config = read_config(folder / files.CONFIG)
        wanted = files.usable_precision(precision or config.precision)
        chosen = files.usable_device(device)
        entry = TERM_NETWORKS[config.network]
        tokenizer = files.read_tokenizer(folder / files.TOKENIZER, config.sizes.vocabulary)
        weights = files.read_weights(folder / files.WEIGHTS)
        try:
            network = entry.make(config.sizes)
            network.load_state_dict(weights)
            reader = TermReader(
                tokenizer,
                entry.reading,
                window=config.sizes.window,
                end=TASKS[config.task].language.end,
            )
        except (RuntimeError, ValueError, TypeError, KeyError) as error:
            raise files.misfit(folder / files.WEIGHTS, error) from error
        used = TermConfig(task=config.task, network=config.network, sizes=config.sizes, precision=wanted)
        return cls(place, used, network, reader, files.digest(folder), device=chosen)

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query, in the same order.

        Raises:
            ModelError: a query is about another task.
        """
        with files.one_thread():
            return [self._predicted(query) for query in queries]

    @torch.no_grad()
    def _predicted(self, query: Query) -> Prediction:
        if query.task != self.task:
            raise ModelError(f"model {self.name!r} is made for task {self.task!r}, not {query.task!r}")
        language = self._asked.language
        if query.language != language.name:
            return Failed(reason=f"not {language.name}")
        try:
            features = self.reader.read(language.terms(query.source))
        except SourceError:
            return UNREADABLE
        if isinstance(features, Failed):
            return features
        return self._asked.target.predicted(self._network(collate([features]).to(self.device)).double())

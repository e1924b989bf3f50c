"""Checkpoints of Renamer and its baselines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from typing_extensions import override

from codeaudit.audit.papers.checkpoint import Config, Files, Known, PaperModel, one_thread
from codeaudit.audit.papers.renamer.networks import NETWORKS, Renamer, TermSizes, collate
from codeaudit.audit.papers.renamer.tasks import TASKS
from codeaudit.audit.papers.renamer.terms import VERSION, TermInput, TermReader
from codeaudit.audit.probabilities import Scale
from codeaudit.audit.records import UNPARSABLE, Failed, Prediction, Query
from codeaudit.transforms.errors import SourceError


@dataclass(frozen=True, slots=True, kw_only=True)
class TermConfig(Config):
    """The content of config.json."""

    size_type: ClassVar[type] = TermSizes

    task: str
    network: str
    sizes: TermSizes
    precision: str = "float32"

    @override
    def known(self) -> Sequence[Known]:
        return Known("task", self.task, TASKS), Known("network", self.network, NETWORKS)

    @property
    @override
    def words(self) -> int:
        return self.sizes.vocabulary

    @override
    def build(self) -> Renamer:
        return NETWORKS[self.network].make(self.sizes)


class TermModel(PaperModel[TermConfig, Renamer]):
    """A trained network as a model.

    Each query is computed alone, in a batch of one. So an answer does not depend on other queries, and equal
    inputs have bit-identical answers. In larger batches, rows differ in their last bits by place and padding.
    """

    config_type = TermConfig
    features_version = VERSION
    scale: Scale = "log-odds"
    noise = 0.0
    """Other queries have no effect at all."""

    def __init__(self, config: TermConfig, network: Renamer, files: Files, *, device: str) -> None:
        super().__init__(config, network, files, device=device)
        self.term_task = TASKS[config.task]
        self.reader = TermReader(
            files.tokenizer,
            NETWORKS[config.network].reading,
            window=config.sizes.window,
            end=self.term_task.language.end,
        )

    @override
    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        with one_thread():
            return [self._predicted(query) for query in queries]

    @override
    def unreadable(self, query: Query) -> Failed | None:
        features = self._features(query)
        return features if isinstance(features, Failed) else None

    def _features(self, query: Query) -> TermInput | Failed:
        self.check_task(query)
        language = self.term_task.language
        if query.language != language.name:
            return Failed(reason=f"not {language.name}")
        try:
            return self.reader.read(language.terms(query.source))
        except SourceError:
            return UNPARSABLE

    # In a batch, padding changes the order in which rows are summed, and the last bits with it. Alone, a text
    # and its renaming are the same numbers in the same shapes.
    @torch.no_grad()
    def _predicted(self, query: Query) -> Prediction:
        features = self._features(query)
        if isinstance(features, Failed):
            return features
        return self.term_task.target.predicted(self.module(collate([features]).to(self.device)).double())

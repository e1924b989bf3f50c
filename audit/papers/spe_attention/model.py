"""Checkpoints of the networks that read lines: SPE, SYMC, vanilla, and others under the same heads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from operator import itemgetter
from typing import Any, ClassVar, Final

import torch
from typing_extensions import override

from codeaudit.audit.papers.checkpoint import (
    WEIGHTS,
    Config,
    Files,
    Known,
    PaddedModel,
    broken,
)
from codeaudit.audit.papers.lines.encoding import VERSION, EncodedLines, LineEncoder
from codeaudit.audit.papers.lines.tasks import TASKS
from codeaudit.audit.papers.lines.trunk import LineNetwork, LineShape, collate
from codeaudit.audit.papers.lines.words import readable_languages
from codeaudit.audit.papers.spe_attention.networks import NETWORKS, build
from codeaudit.audit.probabilities import Scale
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.transforms.dependence.relations import TRAINABLE, Dependence
from codeaudit.transforms.language import DEFAULT

KEPT: Final = 16
"""Scores that an answer carries."""
NOISE: Final[Mapping[str, float]] = {"float64": 1e-12, "float32": 1e-4, "float16": 0.1, "bfloat16": 0.5}
"""How far a logit moves when its input is computed in another batch, padded differently, or with its lines
in another legal order. Measured on the bundled checkpoints (`benchmarks/attention.py --noise`) and rounded
up by a factor of four or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineConfig(Config):
    """The content of config.json."""

    size_type: ClassVar[type] = LineShape

    task: str
    network: str
    options: Mapping[str, Any]
    shape: LineShape
    threshold: float
    precision: str = "float32"
    languages: tuple[str, ...] = (DEFAULT,)
    dependence: Dependence = "strict"
    """The relation of the masks that it was trained with."""
    labels: tuple[str, ...]

    @override
    def known(self) -> Sequence[Known]:
        return (
            Known("made for task", self.task, TASKS),
            *(Known("language", language, readable_languages()) for language in self.languages),
            Known("network", self.network, NETWORKS),
            Known("dependence", self.dependence, TRAINABLE),
        )

    @property
    @override
    def words(self) -> int:
        return self.shape.vocabulary

    @property
    @override
    def answers(self) -> Sequence[str]:
        return self.labels

    @property
    @override
    def outputs(self) -> int:
        return self.shape.labels

    @override
    def build(self) -> LineNetwork:
        return build(self.network, self.shape, self.options)


class LineModel(PaddedModel[LineConfig, LineNetwork, EncodedLines]):
    """A trained network as a model."""

    config_type = LineConfig
    features_version = VERSION
    scale: Scale = "log-odds"

    def __init__(self, config: LineConfig, network: LineNetwork, files: Files, *, device: str) -> None:
        super().__init__(config, network, files, device=device)
        spoken = [files.tokenizer.token_to_id(label) for label in config.labels]
        # The head reads the labels' rows of the embeddings. With another tokenizer it would name other words.
        if network.trunk.label_tokens.tolist() != spoken:
            raise broken(files.folder / WEIGHTS, "made with another tokenizer.json or other labels")
        relation = NETWORKS[config.network].relation
        self.encoder = LineEncoder(
            files.tokenizer,
            window=config.shape.window,
            relation=relation,
            dependence=config.dependence,
            labels=config.labels if config.shape.copying else None,
        )
        self.dependence = config.dependence

    @property
    def noise(self) -> float:
        """See `NOISE`."""
        return NOISE[self.precision]

    @override
    def unreadable(self, query: Query) -> Failed | None:
        return self.refused(query) or self.encoder.refusal(query.source, query.language)

    @override
    def read(self, query: Query) -> EncodedLines | Failed:
        return self.encoder.encode(query.source, query.language)

    @override
    def size(self, features: EncodedLines) -> int:
        return len(features.ids)

    @override
    def computed(self, inputs: Sequence[EncodedLines]) -> list[Prediction]:
        return self._predictions(self.logits(inputs), [encoded.words for encoded in inputs])

    @torch.no_grad()
    def logits(self, inputs: Sequence[EncodedLines]) -> torch.Tensor:
        """(B, K) in the model's precision, on the CPU; with copying (B, K + C)."""
        logits: torch.Tensor = self.module(collate(inputs).to(self.device))
        return logits.cpu()

    def _predictions(self, logits: torch.Tensor, words: Sequence[tuple[str, ...]]) -> list[Prediction]:
        # In float64 the margin is not rounded a second time.
        columns, values = decisive(logits.double(), self.config.threshold)
        task, labels = TASKS[self.task], self.config.labels
        decided = task.decide(values, self.config.threshold).tolist()
        margins = task.margin(values, self.config.threshold).tolist()
        predictions: list[Prediction] = []
        rows = zip(words, columns.tolist(), values.tolist(), decided, margins, strict=True)
        for copied, places, scores, chosen, margin in rows:
            # Behind the labels stand the words to copy, and then padding.
            named = [
                (labels[place] if place < len(labels) else copied[place - len(labels)], score, taken)
                for place, score, taken in zip(places, scores, chosen, strict=True)
                if score > -torch.inf
            ]
            best = named if len(named) <= KEPT else nlargest(KEPT, named, key=itemgetter(1))
            predictions.append(
                Predicted(
                    answer=task.answer([label for label, _, taken in named if taken]),
                    scores=tuple(sorted((task.name_of(label), score) for label, score, _ in best)),
                    margin=margin,
                )
            )
        return predictions


def decisive(logits: torch.Tensor, threshold: float) -> tuple[torch.Tensor, torch.Tensor]:
    """(B, K) to the columns and values, each (B, k), of the best logits of each row, in the order of columns.

    All above the threshold are among them, and one below it if there is one. So answers and margins depend on
    no others.
    """
    count, most = KEPT, logits.shape[1]
    best = logits.topk(min(count, most), dim=1)
    while count < most and bool((best.values[:, -1] > threshold).any()):
        count *= 2
        best = logits.topk(min(count, most), dim=1)
    columns = best.indices.sort(dim=1).values
    return columns, logits.gather(1, columns)

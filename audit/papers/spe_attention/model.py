"""Checkpoints of the networks that read lines: SPE, SYMC, vanilla, and others under the same heads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import torch

from codeaudit.audit.papers.checkpoint import (
    WEIGHTS,
    Config,
    Files,
    Known,
    PaperModel,
    broken,
    by_size,
    on_cores,
)
from codeaudit.audit.papers.lines.encoding import VERSION, EncodedLines, LineEncoder
from codeaudit.audit.papers.lines.tasks import TASKS
from codeaudit.audit.papers.lines.trunk import LineNetwork, LineShape, collate
from codeaudit.audit.papers.lines.words import readable_languages
from codeaudit.audit.papers.spe_attention.networks import NETWORKS, build
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.transforms.dependence.relations import TRAINABLE, Dependence
from codeaudit.transforms.language import DEFAULT

KEPT: Final = 16
"""Scores that an answer carries."""
TOKENS_AT_ONCE: Final = 16_384
"""Padded tokens of a batch; this bounds memory."""
TOKENS_ON_CPU: Final = 2048
"""The same on a processor: small batches have little padding and stay in its caches, which saves 30 % of the
time of batches of 32."""
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

    def known(self) -> Sequence[Known]:
        """As of `Config`."""
        return (
            Known("made for task", self.task, TASKS),
            *(Known("language", one, readable_languages()) for one in self.languages),
            Known("network", self.network, NETWORKS),
            Known("dependence", self.dependence, TRAINABLE),
        )

    @property
    def words(self) -> int:
        """As of `Config`."""
        return self.shape.vocabulary

    @property
    def answers(self) -> Sequence[str]:
        """As of `Config`."""
        return self.labels

    @property
    def outputs(self) -> int:
        """As of `Config`."""
        return self.shape.labels

    def build(self) -> LineNetwork:
        """As of `Config`."""
        return build(self.network, self.shape, self.options)


class LineModel(PaperModel[LineConfig, LineNetwork]):
    """A trained network as a model.

    Batches are padded. The other queries of a batch change a query's scores by arithmetic noise at most.
    """

    config_type = LineConfig
    shown = VERSION

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

    def unreadable(self, query: Query) -> Failed | None:
        """As of `ChecksInput`."""
        return self.refused(query) or self.encoder.refusal(query.source, query.language)

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """As of `PaperModel`."""
        found: list[Prediction | None] = [None] * len(queries)
        readable: list[tuple[int, EncodedLines]] = []
        for number, query in enumerate(queries):
            features = self.refused(query) or self.encoder.encode(query.source, query.language)
            if isinstance(features, Failed):
                found[number] = features
            else:
                readable.append((number, features))
        # By length, not in the order of the queries: less padding.
        on_cpu = self.device == "cpu"
        plan = by_size(readable, lambda one: len(one.ids), TOKENS_ON_CPU if on_cpu else TOKENS_AT_ONCE)
        batches = [[features for _, features in some] for some in plan]
        computed = on_cores(self._answers, batches) if on_cpu else map(self._answers, batches)
        for some, predictions in zip(plan, computed, strict=True):
            for (number, _), prediction in zip(some, predictions, strict=True):
                found[number] = prediction
        return [prediction for prediction in found if prediction is not None]

    def _answers(self, inputs: Sequence[EncodedLines]) -> list[Prediction]:
        return self._predictions(self.logits(inputs), [one.words for one in inputs])

    @torch.no_grad()
    def logits(self, inputs: Sequence[EncodedLines]) -> torch.Tensor:
        """(B, K) in the model's precision, on the CPU; with copying (B, K + C)."""
        logits: torch.Tensor = self.module(collate(inputs).to(self.device))
        return logits.cpu()

    def _predictions(self, logits: torch.Tensor, words: Sequence[tuple[str, ...]]) -> list[Prediction]:
        # In float64 the margin is not rounded a second time.
        exact, task = logits.double(), TASKS[self.task]
        labels = [(*self.config.labels, *some) for some in words]
        chosen: list[list[str]] = [[] for _ in exact]
        for row, label in task.decide(exact, self.config.threshold).nonzero().tolist():
            chosen[row].append(labels[row][label])
        margins = task.margin(exact, self.config.threshold).tolist()
        top = exact.topk(min(KEPT, exact.shape[1]), dim=1)
        found: list[Prediction] = []
        for row, (values, indices) in enumerate(zip(top.values.tolist(), top.indices.tolist(), strict=True)):
            scores = sorted(
                (task.shown(labels[row][index]), value)
                for index, value in zip(indices, values, strict=True)
                if value > -torch.inf
            )
            found.append(
                Predicted(answer=task.answer(chosen[row]), scores=tuple(scores), margin=margins[row])
            )
        return found

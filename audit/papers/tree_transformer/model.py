"""Checkpoints of the transformers over syntax trees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final

import torch.nn.functional as F
from torch import Tensor
from typing_extensions import override

from codeaudit.audit.papers.checkpoint import Config, Files, Known, PaddedModel
from codeaudit.audit.papers.lines.encoding import KEPT
from codeaudit.audit.papers.lines.words import readable_languages
from codeaudit.audit.papers.tree_transformer.batches import TreeBatch, collate, whole
from codeaudit.audit.papers.tree_transformer.networks import (
    BEGIN_ID,
    DEGREES,
    END_ID,
    TREE_NETWORKS,
    Namer,
    NameWords,
    TreeShape,
    namer,
)
from codeaudit.audit.papers.tree_transformer.nodes import (
    SPECIALS,
    VERSION,
    Degree,
    NodeReader,
    Spelling,
    TreeInput,
)
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.transforms.language import DEFAULT

TASK: Final = FUNCTION_NAME.name
SPELLINGS: Final = ("whole", "subtokens")
NOISE: Final[Mapping[str, float]] = {"float64": 1e-12, "float32": 5e-5, "float16": 0.03, "bfloat16": 0.1}
"""How far a logit moves when its tree is computed in another batch or padded differently. Measured on 2,004
functions with the bundled checkpoint, and rounded up by a factor of five or more: 1.1e-14, 7.6e-6, 5.9e-3 and
2.0e-2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeConfig(Config):
    """The content of config.json."""

    size_type: ClassVar[type] = TreeShape

    task: str
    network: str
    options: Mapping[str, Any]
    shape: TreeShape
    degree: Degree
    spelling: Spelling
    precision: str = "float32"
    languages: tuple[str, ...] = (DEFAULT,)
    types: tuple[str, ...]
    labels: tuple[str, ...]
    """The words that it can say."""

    @override
    def known(self) -> Sequence[Known]:
        return (
            Known("task", self.task, (TASK,)),
            Known("network", self.network, TREE_NETWORKS),
            Known("degree", self.degree, DEGREES),
            Known("spelling", self.spelling, SPELLINGS),
            *(Known("language", language, readable_languages()) for language in self.languages),
        )

    @property
    @override
    def words(self) -> int:
        return self.shape.values

    @property
    @override
    def answers(self) -> Sequence[str]:
        return self.labels

    @property
    @override
    def outputs(self) -> int:
        return self.shape.names

    @override
    def build(self) -> Namer:
        return namer(self.network, self.shape, self.options)


class TreeModel(PaddedModel[TreeConfig, Namer, TreeInput]):
    """A trained network as a model: it says a name word by word, each time the most probable word.

    The answer is the set of the words. Its scores are their logits. Its margin is the smallest amount by
    which all logits would have to move for another word at some place.
    """

    config_type = TreeConfig
    features_version = VERSION

    def __init__(self, config: TreeConfig, network: Namer, files: Files, *, device: str) -> None:
        super().__init__(config, network, files, device=device)
        places = files.tokenizer.get_vocab()
        values = sorted(places, key=lambda value: places[value])
        self.reader = NodeReader(config.types, values, spelling=config.spelling, limit=config.shape.window)
        if self.reader.sizes[0] != config.shape.types or tuple(values[: len(SPECIALS)]) != SPECIALS:
            raise ValueError("other types or words")
        # `unreadable` reads a text before `predict` does, and repeated queries read it again.
        self._read = lru_cache(maxsize=KEPT)(self.reader.read)
        # The decoder says rows of the table of values. With another vocabulary these would be other words.
        if network.spoken.tolist() != [END_ID, *(places[label] for label in config.labels)]:
            raise ValueError("made with other words or labels")

    @override
    def unreadable(self, query: Query) -> Failed | None:
        features = self.refused(query) or self._read(query.source, query.language)
        return features if isinstance(features, Failed) else None

    @property
    def noise(self) -> float:
        """See `NOISE`."""
        return NOISE[self.precision]

    @override
    def read(self, query: Query) -> TreeInput | Failed:
        return self._read(query.source, query.language)

    @override
    def size(self, features: TreeInput) -> int:
        return len(features.types)

    @override
    def computed(self, inputs: Sequence[TreeInput]) -> list[Prediction]:
        return self._predictions(self.name_words(inputs))

    def name_words(self, inputs: Sequence[TreeInput]) -> NameWords:
        """The words of these trees, on the CPU."""
        return NameWords(*(tensor.cpu() for tensor in self.module.say(self._batch(inputs))))

    @override
    def one_call(self, query: Query) -> tuple[TreeBatch, Tensor] | None:
        """The tree, and the words that the network says of it before the last one."""
        features = self.refused(query) or self.read(query)
        if isinstance(features, Failed):
            return None
        batch = self._batch([features])
        before = self.module.spoken[self.module.say(batch).words[:, :-1]]
        return batch, F.pad(before, (1, 0), value=BEGIN_ID)

    def _batch(self, inputs: Sequence[TreeInput]) -> TreeBatch:
        shape = self.config.shape
        batch = collate([whole(tree) for tree in inputs], levels=shape.levels, degree=self.config.degree)
        return batch.to(self.device)

    def _predictions(self, answers: NameWords) -> list[Prediction]:
        predictions: list[Prediction] = []
        rows = zip(answers.words.tolist(), answers.scores.tolist(), answers.margins.tolist(), strict=True)
        for words, values, margin in rows:
            scores: dict[str, float] = {}
            for word, score in zip(words, values, strict=True):
                if word:
                    label = self.config.labels[word - 1]
                    # A word said twice is once in the set, with its better score.
                    scores[label] = max(score, scores.get(label, score))
            predictions.append(
                Predicted(
                    answer=tuple(sorted(scores)), scores=tuple(sorted(scores.items())), margin=float(margin)
                )
            )
        return predictions

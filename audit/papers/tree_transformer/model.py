"""Checkpoints of the transformers over syntax trees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from codeaudit.audit.papers.checkpoint import Config, Files, Known, PaperModel, one_thread
from codeaudit.audit.papers.lines.words import readable_languages
from codeaudit.audit.papers.tree_transformer.batches import collate, whole
from codeaudit.audit.papers.tree_transformer.networks import (
    DEGREES,
    END_ID,
    TREE_NETWORKS,
    Namer,
    TreeShape,
    namer,
)
from codeaudit.audit.papers.tree_transformer.nodes import SPECIALS, VERSION, Degree, NodeReader, Spelling
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.transforms.language import DEFAULT

TASK: Final = FUNCTION_NAME.name
SPELLINGS: Final = ("whole", "subtokens")


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

    def known(self) -> Sequence[Known]:
        """As of `Config`."""
        return (
            Known("task", self.task, (TASK,)),
            Known("network", self.network, TREE_NETWORKS),
            Known("degree", self.degree, DEGREES),
            Known("spelling", self.spelling, SPELLINGS),
            *(Known("language", language, readable_languages()) for language in self.languages),
        )

    @property
    def words(self) -> int:
        """As of `Config`."""
        return self.shape.values

    @property
    def answers(self) -> Sequence[str]:
        """As of `Config`."""
        return self.labels

    @property
    def outputs(self) -> int:
        """As of `Config`."""
        return self.shape.names

    def build(self) -> Namer:
        """As of `Config`."""
        return namer(self.network, self.shape, self.options)


class TreeModel(PaperModel[TreeConfig, Namer]):
    """A trained network as a model: it says a name word by word, each time the most probable word.

    The answer is the set of the words. Its scores are their logits. Its margin is the smallest amount by
    which all logits would have to move for another word at some place.

    Each query is computed alone and on one thread. So equal trees have bit-identical answers, and a layout
    that leaves the tree unchanged cannot change an answer.
    """

    config_type = TreeConfig
    shown = VERSION
    noise = 0.0
    """Other queries have no effect at all. In larger batches logits would move by up to 2e-5, as a test
    measures."""

    def __init__(self, config: TreeConfig, network: Namer, files: Files, *, device: str) -> None:
        super().__init__(config, network, files, device=device)
        places = files.tokenizer.get_vocab()
        values = sorted(places, key=lambda value: places[value])
        self.reader = NodeReader(config.types, values, spelling=config.spelling, limit=config.shape.window)
        if self.reader.sizes[0] != config.shape.types or tuple(values[: len(SPECIALS)]) != SPECIALS:
            raise ValueError("other types or words")
        # The decoder says rows of the table of values. With another vocabulary these would be other words.
        if network.spoken.tolist() != [END_ID, *(places[label] for label in config.labels)]:
            raise ValueError("made with other words or labels")

    def unreadable(self, query: Query) -> Failed | None:
        """As of `ChecksInput`."""
        features = self.refused(query) or self.reader.read(query.source, query.language)
        return features if isinstance(features, Failed) else None

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """As of `PaperModel`."""
        with one_thread():
            return [self._predicted(query) for query in queries]

    def _predicted(self, query: Query) -> Prediction:
        features = self.refused(query) or self.reader.read(query.source, query.language)
        if isinstance(features, Failed):
            return features
        batch = collate([whole(features)], levels=self.config.shape.levels, degree=self.config.degree)
        said = self.module.say(batch.to(self.device))
        scores: dict[str, float] = {}
        for word, score in zip(said.words[0].tolist(), said.scores[0].tolist(), strict=True):
            if word:
                label = self.config.labels[word - 1]
                # A word said twice is once in the set, with its better score.
                scores[label] = max(score, scores.get(label, score))
        return Predicted(
            answer=tuple(sorted(scores)), scores=tuple(sorted(scores.items())), margin=float(said.margins[0])
        )

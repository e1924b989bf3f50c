"""Checkpoints of the transformers that read syntax trees, written by `codeaudit train`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from codeaudit.audit.papers import checkpoint as files
from codeaudit.audit.papers.lines.programs import readable_languages
from codeaudit.audit.papers.tree_transformer.batches import collate, whole
from codeaudit.audit.papers.tree_transformer.branches import SPECIALS
from codeaudit.audit.papers.tree_transformer.network import END_ID, Namer, TreeShape
from codeaudit.audit.papers.tree_transformer.nodes import VERSION, Degree, NodeReader, Spelling
from codeaudit.audit.papers.tree_transformer.registry import DEGREES, TREE_NETWORKS, namer
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.languages import DEFAULT

TASK: Final = "function-name"
SPELLINGS: Final = ("whole", "subtokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeConfig:
    """What such a checkpoint's config.json says."""

    task: str
    network: str
    options: Mapping[str, Any]
    shape: TreeShape
    degree: Degree
    spelling: Spelling
    types: tuple[str, ...]
    labels: tuple[str, ...]
    """What can be said."""
    precision: str = "float32"
    languages: tuple[str, ...] = (DEFAULT,)
    """What it learned from, and is asked about."""

    def as_json(self) -> dict[str, object]:
        """The file's content."""
        return {
            "schema": files.SCHEMA,
            "task": self.task,
            "network": self.network,
            "options": dict(self.options),
            "shape": asdict(self.shape),
            "degree": self.degree,
            "spelling": self.spelling,
            "precision": self.precision,
            "languages": list(self.languages),
            "types": list(self.types),
            "labels": list(self.labels),
        }


def read_config(path: Path) -> TreeConfig:
    """A config.json.

    Raises:
        ModelError: it is missing or not one of ours.
    """
    config = files.read_as(
        path,
        lambda found: TreeConfig(
            task=str(found["task"]),
            network=str(found["network"]),
            options=dict(found["options"]),
            shape=TreeShape(**found["shape"]),
            degree=found["degree"],
            spelling=found["spelling"],
            types=tuple(map(str, found["types"])),
            labels=tuple(map(str, found["labels"])),
            precision=str(found["precision"]),
            languages=tuple(map(str, found["languages"])),
        ),
    )
    files.check_known(
        path,
        ("task", config.task, (TASK,)),
        ("network", config.network, TREE_NETWORKS),
        ("degree", config.degree, DEGREES),
        ("spelling", config.spelling, SPELLINGS),
        ("precision", config.precision, files.PRECISIONS),
        *(("language", language, readable_languages()) for language in config.languages),
    )
    if len(config.labels) != config.shape.names:
        raise files.broken(path, f"{len(config.labels)} labels, but the shape says {config.shape.names}")
    return config


class TreeModel(files.Trained):
    """A trained network as a model: a name is said word by word, each time the most probable one.

    The answer is the set of the words. Its scores are the logits with which they were said, and its margin
    is the least by which all logits would have to move for another word to be said at some place. Each query
    is computed alone and by one thread, so that equal trees have bit-identical answers whatever is asked too:
    a layout that leaves the tree as it is cannot change one.
    """

    noise = 0.0
    """What a query is asked with has no effect at all. In batches of several, logits would move by up to
    2e-5, as a test measures."""

    def __init__(
        self, name: str, config: TreeConfig, network: Namer, reader: NodeReader, digest: str, *, device: str
    ) -> None:
        super().__init__(name, config.task, network, digest=digest, precision=config.precision, shown=VERSION)
        self.config = config
        self.device = device
        self.reader = reader
        self._foreign = files.foreign(config.languages)
        self._network = network.to(device=device, dtype=files.PRECISIONS[config.precision]).eval()

    @classmethod
    def load(cls, place: str, *, device: str = "auto", precision: str | None = None) -> "TreeModel":
        """A bundled checkpoint by name, or a folder.

        Raises:
            ModelError: a file is missing, damaged, or does not fit the others.
            UsageError: no such device or precision.
        """
        folder = files.folder_of(place)
        config = read_config(folder / files.CONFIG)
        wanted = files.usable_precision(precision or config.precision)
        chosen = files.usable_device(device)
        tokenizer = files.read_tokenizer(folder / files.TOKENIZER, config.shape.values)
        places = tokenizer.get_vocab()
        values = sorted(places, key=lambda value: places[value])
        for label in config.labels:
            if label not in places:
                raise files.broken(folder / files.TOKENIZER, f"label {label!r} is no word of it")
        weights = files.read_weights(folder / files.WEIGHTS)
        try:
            network = namer(config.network, config.shape, config.options)
            network.load_state_dict(weights)
            reader = NodeReader(config.types, values, spelling=config.spelling, limit=config.shape.window)
            spoken = [END_ID, *(places[label] for label in config.labels)]
            if reader.sizes[0] != config.shape.types or tuple(values[: len(SPECIALS)]) != SPECIALS:
                raise ValueError("other types or words")
            if network.spoken.tolist() != spoken:
                raise ValueError("made with other words or labels")
        except (RuntimeError, UsageError, ValueError, TypeError, KeyError) as error:
            raise files.misfit(folder / files.WEIGHTS, error) from error
        fields = {name: getattr(config, name) for name in config.__slots__}
        used = TreeConfig(**{**fields, "precision": wanted})
        return cls(place, used, network, reader, files.digest(folder), device=chosen)

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query, in the same order.

        Raises:
            ModelError: a query is about another task.
        """
        with files.one_thread():
            return [self._predicted(query) for query in queries]

    def _predicted(self, query: Query) -> Prediction:
        if query.task != self.task:
            raise ModelError(f"model {self.name!r} is made for task {self.task!r}, not {query.task!r}")
        if query.language not in self.config.languages:
            return self._foreign
        features = self.reader.read(query.source, query.language)
        if isinstance(features, Failed):
            return features
        batch = collate([whole(features)], levels=self.config.shape.levels, degree=self.config.degree)
        said = self._network.say(batch.to(self.device))
        scores: dict[str, float] = {}
        for word, score in zip(said.words[0].tolist(), said.scores[0].tolist(), strict=True):
            if word:
                label = self.config.labels[word - 1]
                scores[label] = max(score, scores.get(label, score))
        return Predicted(
            answer=tuple(sorted(scores)), scores=tuple(sorted(scores.items())), margin=float(said.margins[0])
        )

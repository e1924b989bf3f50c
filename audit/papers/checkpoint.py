"""Checkpoints written by `codeaudit train`: a folder with config, weights and tokenizer."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer

from codeaudit.audit import checkpoints
from codeaudit.audit.papers.lines.batches import collate
from codeaudit.audit.papers.lines.encoding import VERSION, Encoded, Encoder
from codeaudit.audit.papers.lines.programs import readable_languages
from codeaudit.audit.papers.lines.tasks import TASKS
from codeaudit.audit.papers.lines.trunk import Shape
from codeaudit.audit.papers.registry import NETWORKS, Network, build
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.languages import DEFAULT

CONFIG: Final = "config.json"
WEIGHTS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
CARD: Final = "model-card.json"
SCHEMA: Final = 1

Read = TypeVar("Read")

KEPT: Final = 16
"""How many scores an answer carries."""
TOKENS_AT_ONCE: Final = 16_384
"""Padded tokens of a batch; with the square of the length this bounds memory."""

PRECISIONS: Final[Mapping[str, torch.dtype]] = {
    "float32": torch.float32,
    "float64": torch.float64,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
NOISE: Final[Mapping[str, float]] = {"float64": 1e-12, "float32": 1e-4, "float16": 0.1, "bfloat16": 0.5}
"""How far a logit moves when its input is computed in another batch, padded differently, or with its lines
in another legal order. Measured on the bundled checkpoints (`benchmarks/attention.py --noise`) and rounded
up by a factor of four or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a checkpoint's config.json says."""

    task: str
    network: str
    options: Mapping[str, Any]
    shape: Shape
    labels: tuple[str, ...]
    threshold: float
    precision: str = "float32"
    languages: tuple[str, ...] = (DEFAULT,)
    """What it learned from, and is asked about."""

    def as_json(self) -> dict[str, object]:
        """The file's content."""
        shape = {field.name: getattr(self.shape, field.name) for field in fields(Shape)}
        return {
            "schema": SCHEMA,
            "task": self.task,
            "network": self.network,
            "options": dict(self.options),
            "shape": shape,
            "threshold": self.threshold,
            "precision": self.precision,
            "languages": list(self.languages),
            "labels": list(self.labels),
        }


def read_json(path: Path) -> Mapping[str, Any]:
    """A config.json as it stands there.

    Raises:
        ModelError: it is missing or not one of ours.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise missing(path, error) from error
    except ValueError as error:
        raise broken(path, f"not JSON: {error}") from error
    schema = found.get("schema") if isinstance(found, dict) else None
    if schema != SCHEMA:
        raise broken(path, f"schema {schema!r}, this version reads {SCHEMA}")
    return dict(found)


def read_as(path: Path, make: Callable[[Mapping[str, Any]], Read]) -> Read:
    """What is made of a config.json.

    Raises:
        ModelError: it is missing or not one of ours.
    """
    found = read_json(path)
    try:
        return make(found)
    except KeyError as error:
        raise broken(path, f"no entry {error.args[0]!r}") from error
    except (TypeError, ValueError) as error:
        raise broken(path, str(error)) from error


def check_known(path: Path, *named: tuple[str, str, Iterable[str]]) -> None:
    """See that a config.json names what there is: of each entry its noun, its value, and all that it may be.

    Raises:
        ModelError: it does not.
    """
    for noun, name, several in named:
        known = tuple(several)
        if name not in known:
            raise broken(path, f"{noun} {name!r}, known: {', '.join(known)}")


def read_config(path: Path) -> Config:
    """A config.json.

    Raises:
        ModelError: it is missing or not one of ours.
    """
    config = read_as(
        path,
        lambda found: Config(
            task=str(found["task"]),
            network=str(found["network"]),
            options=dict(found["options"]),
            shape=Shape(**found["shape"]),
            labels=tuple(map(str, found["labels"])),
            threshold=float(found["threshold"]),
            precision=str(found["precision"]),
            languages=tuple(map(str, found.get("languages", (DEFAULT,)))),
        ),
    )
    _check(path, config)
    return config


def _check(path: Path, config: Config) -> None:
    if config.task not in TASKS:
        raise broken(path, f"made for task {config.task!r}, known: {', '.join(TASKS)}")
    if unknown := set(config.languages) - set(readable_languages()):
        raise broken(path, f"language {min(unknown)!r}, known: {', '.join(readable_languages())}")
    if config.network not in NETWORKS:
        raise broken(path, f"network {config.network!r}, known: {', '.join(NETWORKS)}")
    if config.precision not in PRECISIONS:
        raise broken(path, f"precision {config.precision!r}, known: {', '.join(PRECISIONS)}")
    if len(config.labels) != config.shape.labels:
        raise broken(path, f"{len(config.labels)} labels, but the shape says {config.shape.labels}")


@contextmanager
def one_thread() -> Iterator[None]:
    """Texts are too short to be shared between cores: waiting for one another takes longer than the work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def foreign(languages: Sequence[str]) -> Failed:
    """What a model says to a text in none of its languages."""
    return Failed(reason=f"not {' or '.join(map(str.title, languages))}")


class Trained:
    """What every model out of a folder says of itself."""

    def __init__(
        self, name: str, task: str, network: torch.nn.Module, *, digest: str, precision: str, shown: object
    ) -> None:
        """`digest` is of the files; `shown` is the version of what the network is shown of a text."""
        self.name = name
        self.precision = precision
        self._task = task
        self.module = network
        self.parameters = sum(weight.numel() for weight in network.parameters())
        self.fingerprint = hashlib.sha256(f"{digest}:{precision}:{shown}".encode()).hexdigest()

    @property
    def task(self) -> str:
        """The task it was trained for."""
        return self._task


class CheckpointModel(Trained):
    """A trained network as a model. Batches are padded; what a query is batched with changes its scores by
    arithmetic noise at most.
    """

    def __init__(self, name: str, config: Config, files: "_Files", *, device: str, precision: str) -> None:
        super().__init__(
            name, config.task, files.network, digest=files.digest, precision=precision, shown=VERSION
        )
        self.config = config
        self.device = device
        self._foreign = foreign(config.languages)
        self._network = files.network.to(device=device, dtype=PRECISIONS[precision]).eval()
        self.encoder = Encoder(
            files.tokenizer, window=config.shape.window, relation=NETWORKS[config.network].relation
        )

    @classmethod
    def load(cls, place: str, *, device: str = "auto", precision: str | None = None) -> "CheckpointModel":
        """A bundled checkpoint by name, or a folder.

        Raises:
            ModelError: a file is missing, damaged, or does not fit the others.
            UsageError: no such device or precision.
        """
        folder = folder_of(place)
        config = read_config(folder / CONFIG)
        wanted = usable_precision(precision or config.precision)
        chosen = usable_device(device)
        return cls(place, config, _Files.read(folder, config), device=chosen, precision=wanted)

    @property
    def noise(self) -> float:
        """See `NOISE`."""
        return NOISE[self.precision]

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query, in the same order.

        Raises:
            ModelError: a query is about another task.
        """
        found: list[Prediction | None] = [None] * len(queries)
        readable: list[tuple[int, Encoded]] = []
        for number, query in enumerate(queries):
            if query.task != self.task:
                raise ModelError(f"model {self.name!r} is made for task {self.task!r}, not {query.task!r}")
            features = (
                self.encoder.encode(query.source, query.language)
                if query.language in self.config.languages
                else self._foreign
            )
            if isinstance(features, Failed):
                found[number] = features
            else:
                readable.append((number, features))
        for some in _batches(readable):
            logits = self.logits([features for _, features in some])
            for (number, _), prediction in zip(some, self._predictions(logits), strict=True):
                found[number] = prediction
        return [prediction for prediction in found if prediction is not None]

    @torch.no_grad()
    def logits(self, inputs: Sequence[Encoded]) -> torch.Tensor:
        """(B, K) in the model's precision, on the CPU."""
        logits: torch.Tensor = self._network(collate(inputs).to(self.device))
        return logits.cpu()

    def _predictions(self, logits: torch.Tensor) -> list[Prediction]:
        exact, task = logits.double(), TASKS[self.task]
        chosen = task.decide(exact, self.config.threshold).tolist()
        margins = task.margin(exact, self.config.threshold).tolist()
        top = exact.topk(min(KEPT, exact.shape[1]), dim=1)
        labels = self.config.labels
        found: list[Prediction] = []
        for row, (values, indices) in enumerate(zip(top.values.tolist(), top.indices.tolist(), strict=True)):
            answer = task.answer([label for label, said in zip(labels, chosen[row], strict=True) if said])
            scores = sorted(
                (task.shown(labels[index]), value) for index, value in zip(indices, values, strict=True)
            )
            found.append(Predicted(answer=answer, scores=tuple(scores), margin=margins[row]))
        return found


def folder_of(place: str) -> Path:
    """The folder of a bundled checkpoint, or the folder itself."""
    bundled = checkpoints.FOLDER / place
    return bundled if (bundled / CONFIG).is_file() else Path(place)


def digest(folder: Path) -> str:
    """A hash of everything in a checkpoint that decides its answers."""
    found = hashlib.sha256()
    for name in (CONFIG, WEIGHTS, TOKENIZER):
        found.update(hashlib.sha256((folder / name).read_bytes()).digest())
    return found.hexdigest()


def usable_precision(name: str) -> str:
    """The precision of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in PRECISIONS:
        raise UsageError(f"unknown precision {name!r}; known: {', '.join(PRECISIONS)}")
    return name


def usable_device(name: str) -> str:
    """The device of that name; for `auto` the first CUDA device, else the CPU.

    Raises:
        UsageError: torch does not know it, or it is not there.
    """
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(1, device=name).cpu()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"device {name!r} cannot be used: {reason}; try --device cpu") from error
    return name


@dataclass(frozen=True, slots=True)
class _Files:
    """A checkpoint's files, read and checked against each other."""

    network: Network
    tokenizer: Tokenizer
    digest: str

    @classmethod
    def read(cls, folder: Path, config: Config) -> "_Files":
        tokenizer = _tokenizer(folder / TOKENIZER, config)
        network = _network(folder / WEIGHTS, config)
        spoken = [tokenizer.token_to_id(label) for label in config.labels]
        if network.trunk.label_tokens.tolist() != spoken:
            raise broken(folder / WEIGHTS, f"made with another {TOKENIZER} or other labels")
        return cls(network, tokenizer, digest(folder))


def _tokenizer(path: Path, config: Config) -> Tokenizer:
    tokenizer = read_tokenizer(path, config.shape.vocabulary)
    for label in config.labels:
        if tokenizer.token_to_id(label) is None:
            raise broken(path, f"label {label!r} of {CONFIG} is no word of it")
    return tokenizer


def read_tokenizer(path: Path, size: int) -> Tokenizer:
    """The tokenizer of a file, with so many words.

    Raises:
        ModelError: it is missing or damaged, or has another number of words.
    """
    if not path.is_file():
        raise missing(path, "no such file")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the Rust library raises nothing more special
        raise broken(path, str(error)) from error
    if tokenizer.get_vocab_size() != size:
        raise broken(path, f"{tokenizer.get_vocab_size()} words, but {CONFIG} says {size}")
    return tokenizer


def _network(path: Path, config: Config) -> Network:
    weights = read_weights(path)
    try:
        network = build(config.network, config.shape, config.options)
        network.load_state_dict(weights)
    except (RuntimeError, UsageError, ValueError, TypeError) as error:
        raise misfit(path, error) from error
    return network


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """The weights of a file, all of them finite.

    Raises:
        ModelError: it is missing or damaged.
    """
    try:
        weights = load_file(path)
    except FileNotFoundError as error:
        raise missing(path, "no such file") from error
    except (SafetensorError, OSError, ValueError) as error:
        raise broken(path, str(error)) from error
    if not all(tensor.isfinite().all() for tensor in weights.values()):
        raise broken(path, "weights that are not finite")
    return weights


def misfit(path: Path, error: Exception) -> ModelError:
    """The error for weights that belong to another network."""
    told = " ".join(str(error).split())[:200]
    return broken(path, f"does not fit {CONFIG}: {told}")


def _batches(readable: list[tuple[int, Encoded]]) -> list[list[tuple[int, Encoded]]]:
    """Inputs of like length together, as many as `TOKENS_AT_ONCE` allows."""
    batches: list[list[tuple[int, Encoded]]] = []
    for pair in sorted(readable, key=lambda one: len(one[1].ids)):
        room = TOKENS_AT_ONCE // max(1, len(pair[1].ids))
        if not batches or len(batches[-1]) >= room:
            batches.append([])
        batches[-1].append(pair)
    return batches


def missing(path: Path, why: object) -> ModelError:
    """The error for a file that is not there."""
    return ModelError(
        f"cannot read {str(path)!r}: {why}; a checkpoint is a folder with {CONFIG}, {WEIGHTS} and {TOKENIZER}"
    )


def broken(path: Path, why: str) -> ModelError:
    """The error for a file that is there and of no use."""
    told = " ".join(why.split())
    return ModelError(f"checkpoint file {str(path)!r} cannot be used: {told}; copy or train it again")

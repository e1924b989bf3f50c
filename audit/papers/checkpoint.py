"""Checkpoint folders: the one reader and writer for the networks of all papers.

A folder holds config.json, model.safetensors (float16 when `codeaudit train` wrote it), tokenizer.json,
model-card.json and learned.bin (hashes of the training texts). Each family of networks derives a `Config` and
a `PaperModel`; reading the files, checking them against each other, devices and precisions are here. The card
is for people and decides no answer.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, NamedTuple, Self, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from tokenizers import Tokenizer
from torch import nn
from torch.overrides import TorchFunctionMode
from typing_extensions import override

from codeaudit.audit import checkpoints
from codeaudit.audit.checks import DAMAGED, load_json
from codeaudit.audit.interface import BaseModel
from codeaudit.audit.records import Failed, Prediction, Query
from codeaudit.audit.training.learned import FILE as LEARNED
from codeaudit.audit.training.learned import Learned
from codeaudit.audit.training.trainer import STATE_FILE, Learner, Trained
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.remembering import analysis_digest

CONFIG: Final = "config.json"
WEIGHTS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
CARD: Final = "model-card.json"
FILES: Final = (TOKENIZER, WEIGHTS, LEARNED, CARD, CONFIG)
"""In this order they are moved: a folder with a config is complete."""
SCHEMA: Final = 1

_TABLES: Final = 20_000_000
"""Numbers that a network may have beside its weights, such as tables of positions."""
PRECISIONS: Final[Mapping[str, torch.dtype]] = {
    "float32": torch.float32,
    "float64": torch.float64,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


class Known(NamedTuple):
    """An entry of config.json that must have one of several values."""

    noun: str
    value: str
    values: Iterable[str]


LATER: Final = frozenset({"languages", "dependence"})
"""Entries of a config.json that older files lack."""


class Config(ABC):
    """The content of a config.json. Each family derives a frozen dataclass, whose fields are the entries."""

    __slots__ = ()
    size_type: ClassVar[type]
    """Of the entry `shape` or `sizes`."""

    task: str
    network: str
    precision: str
    languages: tuple[str, ...]
    """Languages it learned from. Queries in others fail."""

    @property
    def answers(self) -> Sequence[str]:
        """Labels of the network, each a word of the tokenizer; empty for a network without."""
        return ()

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Self:
        """The config of a parsed file. An entry of `LATER` keeps its default where an older file lacks it.

        Raises:
            KeyError, TypeError, ValueError: it lacks another entry, or has a wrong one.
        """
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        values = {name: content[name] for name in names if name in content or name not in LATER}
        return cls(**{name: cls.converted(name, value) for name, value in values.items()})

    @classmethod
    def converted(cls, name: str, value: Any) -> Any:
        """An entry of a parsed file as a field."""
        match name:
            case "shape" | "sizes":
                return cls.size_type(**value)
            case "labels" | "languages" | "types":
                return tuple(map(str, value))
            case "options":
                return dict(value)
            case "threshold":
                return float(value)
        return str(value)

    @abstractmethod
    def known(self) -> Sequence[Known]:
        """The entries to check."""

    @property
    @abstractmethod
    def words(self) -> int:
        """The words that the tokenizer must have."""

    @property
    def outputs(self) -> int:
        """The labels that the network must have, by its sizes."""
        return 0

    @abstractmethod
    def build(self) -> nn.Module:
        """The network, with weights to be replaced.

        Raises:
            UsageError, ValueError, TypeError: sizes or options that do not fit.
        """

    def as_json(self) -> dict[str, object]:
        """The file's content."""
        return {"schema": SCHEMA, **asdict(self)}  # type: ignore[call-overload]


class Files(NamedTuple):
    """Of a checkpoint, beside its config and weights."""

    place: str
    """The name that the user gave it."""
    folder: Path
    tokenizer: Tokenizer


C = TypeVar("C", bound=Config)
N = TypeVar("N", bound=nn.Module)
B = TypeVar("B")


class PaperModel(BaseModel, Generic[C, N]):
    """A trained network of a paper as a model of the audit."""

    config_type: ClassVar[type[Config]]
    features_version: ClassVar[object]
    """Version of the features; a new one invalidates remembered answers."""
    more_tasks: ClassVar[frozenset[str]] = frozenset()
    """Tasks that it answers beside the one of its config."""

    def __init__(self, config: C, network: N, files: Files, *, device: str) -> None:
        """Derived classes also check the network against the tokenizer.

        Raises:
            ValueError, KeyError: they do not fit.
        """
        self.name = files.place
        self.config, self.device = config, device
        self.precision = config.precision
        self.learned = Learned.read(files.folder)
        self.parameters = sum(weight.numel() for weight in network.parameters())
        self.module = network.to(device=device, dtype=PRECISIONS[config.precision]).eval()
        # By content, not by path: a copy of a folder has the same remembered answers, a retrained one others.
        identity = f"{digest(files.folder)}:{config.precision}:{self.features_version}:{analysis_digest()}"
        self.fingerprint = hashlib.sha256(identity.encode()).hexdigest()

    @property
    def task(self) -> str:
        """The task it was trained for."""
        return self.config.task

    @classmethod
    def load(cls, place: str, *, device: str = "auto", precision: str | None = None) -> Self:
        """A bundled checkpoint by name, or a folder.

        Raises:
            ModelError: a file is missing, damaged, or does not fit the others.
            UsageError: no such device or precision.
        """
        folder = folder_of(place)
        written = read_config(folder / CONFIG, cls.config_type)
        config: Any = replace(written, precision=usable_precision(precision or written.precision))  # type: ignore[type-var]
        device = usable_device(device)
        tokenizer = _tokenizer(folder / TOKENIZER, config)
        weights = _weights(folder / WEIGHTS)
        try:
            _check_sizes(config, weights)
            with _Undrawn():
                network = config.build()
            network.load_state_dict(weights)  # refuses missing, unknown and misshapen tensors
            return cls(config, network, Files(place, folder, tokenizer), device=device)
        except (RuntimeError, UsageError, MemoryError, *DAMAGED) as error:
            reason = " ".join(str(error).split())[:200]
            raise broken(folder / WEIGHTS, f"does not fit {CONFIG}: {reason}") from error

    @override
    def has_learned(self, source: str, language: str) -> bool:
        """Whether it learned from a near copy of this text; `False` if its folder does not say."""
        return self.learned is not None and self.learned.has(source, language)

    @abstractmethod
    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query, in the same order.

        Raises:
            ModelError: a query is about another task.
        """

    def one_call(self, query: Query) -> tuple[object, ...] | None:
        """The arguments of a call of the network that computes the whole answer to a query.

        `None`: it cannot be read, or `predict` itself makes that call. Where the network writes word by word,
        `predict` runs its parts, and no call of the whole could be watched.
        """
        return None

    def check_task(self, query: Query) -> None:
        """Refuse a query about another task.

        Raises:
            ModelError: it is.
        """
        if query.task != self.task and query.task not in self.more_tasks:
            raise ModelError(f"model {self.name!r} is made for task {self.task!r}, not {query.task!r}")

    def refused(self, query: Query) -> Failed | None:
        """The failure of a query in a language that it did not learn.

        Raises:
            ModelError: the query is about another task.
        """
        self.check_task(query)
        if query.language in self.config.languages:
            return None
        return Failed(reason=f"not {' or '.join(map(str.title, self.config.languages))}")


Features = TypeVar("Features")
"""What a network reads of a query."""


class PaddedModel(PaperModel[C, N], Generic[C, N, Features]):
    """A network that computes queries of similar size together, padded.

    The other queries of a batch change a query's scores by arithmetic noise at most. On a processor, each
    padded batch is computed on one thread, and several at once. So answers do not depend on the cores.
    """

    @abstractmethod
    def read(self, query: Query) -> Features | Failed:
        """What the network reads of a query in a language that it knows."""

    @abstractmethod
    def size(self, features: Features) -> int:
        """Number of its tokens or nodes."""

    @abstractmethod
    def computed(self, inputs: Sequence[Features]) -> list[Prediction]:
        """The predictions of a padded batch."""

    @property
    @override
    def at_once(self) -> int:
        return AT_ONCE if self.device == "cpu" else 1

    @override
    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        return next(self.answers([queries]))[1]

    @override
    def answers(self, batches: Iterable[Sequence[Query]]) -> Iterator[tuple[int, list[Prediction]]]:
        """In the order of the batches."""
        numbered = enumerate(batches)
        while portion := list(islice(numbered, self.at_once)):
            read = [[self.refused(query) or self.read(query) for query in queries] for _, queries in portion]
            # Read first: while one thread reads, others that compute would wait for the interpreter.
            plans = [self._planned(features) for features in read]
            inputs = [[features for _, features in part] for plan in plans for part in plan]
            on_cpu = self.device == "cpu"
            computed = iter(on_cores(self.computed, inputs) if on_cpu else map(self.computed, inputs))
            for (number, _), features, plan in zip(portion, read, plans, strict=True):
                predictions: list[Prediction | None] = [
                    feature if isinstance(feature, Failed) else None for feature in features
                ]
                for part in plan:
                    for (place, _), prediction in zip(part, next(computed), strict=True):
                        predictions[place] = prediction
                yield number, [prediction for prediction in predictions if prediction is not None]

    def _planned(self, read: Sequence[Features | Failed]) -> list[list[tuple[int, Features]]]:
        """The readable queries of a batch in parts that are computed together, each with its place."""
        readable = [
            (place, features) for place, features in enumerate(read) if not isinstance(features, Failed)
        ]
        # By size, not in the order of the queries: less padding.
        return by_size(readable, self.size, ROOM_ON_CPU if self.device == "cpu" else ROOM)


ROOM: Final = 16_384
"""Padded tokens or nodes that are computed together on a GPU; this bounds memory."""
ROOM_ON_CPU: Final = 2048
"""The same on a processor: small batches have little padding and stay in its caches, which saves 30 % of the
time of batches of 32."""
AT_ONCE: Final = 8
"""Batches of queries that are computed at once on a processor: enough for all cores, and few to lose."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread: texts are too short to share, waiting takes longer than the work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


T = TypeVar("T")
R = TypeVar("R")


def on_cores(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """The results of `work` for each item, in order, on as many threads as torch may use.

    Each item is computed on one thread. So its result does not depend on the number of cores.
    """
    threads = min(torch.get_num_threads(), len(items))
    with one_thread():
        if threads < 2:
            return [work(item) for item in items]
        # Made anew for each call: a pool that is kept would be without its threads in a forked process.
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            return list(pool.map(work, items))


def by_size(
    inputs: Iterable[tuple[int, T]], size: Callable[[T], int], most: int
) -> list[list[tuple[int, T]]]:
    """Batches of numbered inputs of similar size, each of at most `most` padded tokens, or of one input."""
    batches: list[list[tuple[int, T]]] = []
    for pair in sorted(inputs, key=lambda pair: size(pair[1])):
        room = most // max(1, size(pair[1]))
        if not batches or len(batches[-1]) >= room:
            batches.append([])
        batches[-1].append(pair)
    return batches


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────


def folder_of(place: str) -> Path:
    """The folder of a bundled checkpoint, or the folder itself."""
    bundled = checkpoints.FOLDER / place
    return bundled if (bundled / CONFIG).is_file() else Path(place)


def digest(folder: Path) -> str:
    """A hash of everything in a checkpoint that decides its answers."""
    hasher = hashlib.sha256()
    for name in (CONFIG, WEIGHTS, TOKENIZER):
        hasher.update(hashlib.sha256((folder / name).read_bytes()).digest())
    return hasher.hexdigest()


def read_json(path: Path) -> Mapping[str, Any]:
    """The parsed content of a config.json.

    Raises:
        ModelError: it is missing or has another schema.
    """
    try:
        content = load_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise missing(path, error.strerror or error) from error
    except ValueError as error:
        raise broken(path, f"not JSON: {error}") from error
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise broken(path, f"schema {schema!r}, this version reads {SCHEMA}")
    return dict(content)


Read = TypeVar("Read", bound=Config)


def read_config(path: Path, kind: type[Read]) -> Read:
    """A config.json of one family.

    Raises:
        ModelError: it is missing, lacks an entry, or names something unknown.
    """
    content = read_json(path)
    try:
        config = kind.of(content)
    except KeyError as error:
        raise broken(path, f"no entry {error.args[0]!r}") from error
    except DAMAGED as error:
        raise broken(path, str(error)) from error
    for noun, value, values in (*config.known(), Known("precision", config.precision, PRECISIONS)):
        known = tuple(values)
        if value not in known:
            raise broken(path, f"{noun} {value!r}, known: {', '.join(known)}")
    if len(config.answers) != config.outputs:
        raise broken(path, f"{len(config.answers)} labels, but the shape says {config.outputs}")
    return config


def _tokenizer(path: Path, config: Config) -> Tokenizer:
    if not path.is_file():
        raise missing(path, "no such file")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the Rust library raises nothing more specific
        raise broken(path, str(error)) from error
    if tokenizer.get_vocab_size() != config.words:
        raise broken(path, f"{tokenizer.get_vocab_size()} words, but {CONFIG} says {config.words}")
    places = tokenizer.get_vocab()
    # Asked for its text, the Rust library counts all numbers up to the largest, which may take minutes.
    if max(places.values(), default=-1) >= config.words:
        raise broken(
            path, f"a word has the number {max(places.values()):,}, but {CONFIG} says {config.words} words"
        )
    for label in config.answers:
        if label not in places:
            raise broken(path, f"label {label!r} of {CONFIG} is no word of it")
    return tokenizer


def _weights(path: Path) -> dict[str, torch.Tensor]:
    try:
        weights = load_file(path)
    except FileNotFoundError as error:
        raise missing(path, "no such file") from error
    except (SafetensorError, OSError, ValueError) as error:
        raise broken(path, str(error)) from error
    # A NaN would answer with NaN, and every comparison of two such answers would be false.
    if not all(tensor.isfinite().all() for tensor in weights.values()):
        raise broken(path, "weights that are not finite")
    return weights


def _check_sizes(config: Config, weights: Mapping[str, torch.Tensor]) -> None:
    """Check that the network of a config needs about as much memory as the weights have.

    Raises:
        ValueError: it needs far more. A damaged size must not fill the memory.
        UsageError, TypeError: as `Config.build`.
    """
    sizes: Any = getattr(config, "sizes", None) or getattr(config, "shape", None)
    # Every layer has tensors. Checked first, because even modules without memory take time to make.
    layers = max(
        getattr(sizes, "layers", 0), (getattr(sizes, "encoder", None) or {}).get("num_hidden_layers", 0)
    )
    if layers > len(weights):
        raise ValueError(f"{CONFIG} says {layers} layers, the file has {len(weights)} tensors")
    with torch.device("meta"), _Undrawn():
        network = config.build()
    wanted = sum(tensor.numel() for tensor in (*network.parameters(), *network.buffers()))
    stored = sum(weight.numel() for weight in weights.values())
    if wanted > 2 * stored + _TABLES:
        raise ValueError(f"{CONFIG} says {wanted:,} numbers, the file has {stored:,}")


class _Undrawn(TorchFunctionMode):
    """Random initial weights are not drawn, because those of a file replace them.

    On the device `meta`, drawing imports torch's compiler, which takes two seconds.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__module__", "") == "torch.nn.init":
            return kwargs.get("tensor", args[0] if args else None)
        return func(*args, **kwargs)


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
        torch.empty(1, device=name).cpu()  # a device may be known by name and still not be there
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        message = str(error).splitlines()[0]
        # Torch lists twenty kinds that nobody has.
        reason = "torch knows no such device" if "Expected one of" in message else message
        raise UsageError(f"device {name!r} cannot be used: {reason}; try --device cpu") from error
    return name


def missing(path: Path, why: object) -> ModelError:
    """The error for a file that is not there."""
    if (path.parent / STATE_FILE).exists():
        return ModelError(
            f"the training in {str(path.parent)!r} is not finished; its command goes on with it"
        )
    return ModelError(
        f"cannot read {str(path)!r}: {why}; a checkpoint is a folder with {CONFIG}, {WEIGHTS} and {TOKENIZER}"
    )


def broken(path: Path, why: str) -> ModelError:
    """The error for a file that cannot be used."""
    line = " ".join(why.split())
    return ModelError(f"checkpoint file {str(path)!r} cannot be used: {line}; copy or train it again")


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────


@torch.no_grad()
def rounded(network: nn.Module) -> dict[str, torch.Tensor]:
    """The weights in float16. The network's own are set to the rounded values, so scores are of these."""
    weights = {
        name: value.half() if value.is_floating_point() else value
        for name, value in network.state_dict().items()
    }
    # The card gives scores of the file's weights. Measured in float32, they would be of other weights.
    network.load_state_dict(weights)
    return {name: value.contiguous() for name, value in weights.items()}


def write(
    folder: Path,
    weights: Mapping[str, torch.Tensor],
    *,
    config: Config,
    tokenizer: Tokenizer,
    card: Mapping[str, object],
    learned: bytes = b"",
) -> None:
    """Write a checkpoint. The config comes last, so a folder with a config is complete."""
    tokenizer.save(str(folder / TOKENIZER))
    # First the old config goes: an interrupted write leaves no config beside weights that are not its own.
    (folder / CONFIG).unlink(missing_ok=True)
    (folder / WEIGHTS).write_bytes(save(dict(weights)))
    (folder / LEARNED).write_bytes(learned)
    _write_json(folder / CARD, card)
    _write_json(folder / CONFIG, config.as_json())


class CheckpointLearner(Learner[N, B]):
    """A training whose result is a checkpoint."""

    types: Sequence[str] = ()
    """Types of nodes, where the network reads these."""

    @property
    @abstractmethod
    def tokenizer(self) -> Tokenizer:
        """The words of the training data."""

    @property
    def words(self) -> Sequence[str]:
        """These by their ids."""
        places = self.tokenizer.get_vocab()
        return sorted(places, key=lambda word: places[word])

    @property
    @abstractmethod
    def size(self) -> str:
        """The size of the training data in words: '1,234 functions, 56 labels'."""

    @abstractmethod
    def epoch_line(self, epoch: Mapping[str, float]) -> str:
        """The validation results of an epoch in words."""

    @abstractmethod
    def write(self, folder: Path, trained: Trained[N], *, about: Mapping[str, object]) -> Sequence[str]:
        """Write the checkpoint with its card, and give the results in words: the network's, then baselines'.

        `about` goes into the card: corpora, versions.
        """


def history(trained: Trained[Any]) -> dict[str, object]:
    """A card's entries about the training."""
    progress = trained.progress
    return {
        "steps": progress.step,
        "samples_seen": progress.samples,
        "best_epoch": progress.best_epoch,
        "wall_seconds": round(progress.seconds, 1),
        "epochs": progress.epochs,
    }


def _write_json(path: Path, value: Mapping[str, object]) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")

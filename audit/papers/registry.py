"""The networks of the papers by task: who trains each, who reads its checkpoints.

Importing this needs no torch.
A new family of networks adds its folder and one row of `FAMILIES`.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from codeaudit.audit.interface import Model, Task
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.registration import unknown

if TYPE_CHECKING:
    from codeaudit.audit.corpora.records import Corpus, LabelColumn
    from codeaudit.audit.models.hf.encoder import EncoderStart
    from codeaudit.audit.papers.checkpoint import CheckpointLearner

PAPERS: Final = "codeaudit.audit.papers"
COMMON: Final = frozenset(
    {
        *("epochs", "steps", "batch", "rate", "width", "layers", "heads"),
        *("inner", "dropout", "window", "patience", "seed", "device", "half"),
    }
)
"""Settings that every family takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRequest:
    """One `codeaudit train`."""

    network: str
    task: Task
    options: Mapping[str, Any]
    """Settings of the recipe, and other options of the family; only those that were given."""
    train: str
    """The SPEC of the training corpus."""
    valid: str | None
    test: str | None
    cache: Path
    workers: int
    """Processes that read."""
    note: Callable[[str], None]
    columns: Mapping[str, str] = field(default_factory=dict)
    """Names of the tables' columns, by ours, as in `CorpusResources`."""
    limit: int | None = None
    """Samples of each corpus to read."""
    test_limit: int | None = None
    """Samples of the corpora for validation and test to read, where these are given."""
    structure: Mapping[str, object] = field(default_factory=dict)
    """The structural options of the network, see `presets`."""
    encoder: "EncoderStart | None" = None
    """A pretrained encoder to begin with; only for families with `encoders`."""

    def corpora(self, column: "LabelColumn | None" = None) -> "tuple[Corpus, Corpus | None, Corpus | None]":
        """The corpora for training, validation and test; `column` is where tables have their labels.

        Raises:
            CorpusError: there is no such corpus or column.
        """
        from codeaudit.audit.corpora.algebra import GeneratedPairs
        from codeaudit.audit.corpora.records import CorpusResources, NotingCorpus, SpreadCorpus
        from codeaudit.audit.corpora.specs import corpus  # the readers of tables are heavy

        resources = CorpusResources(cache=self.cache, note=self.note, columns=self.columns)

        def opened(spec: str, limit: int | None) -> "Corpus":
            source = corpus(spec, column, resources)
            if limit is not None and isinstance(source, GeneratedPairs):
                # Drawn one by one, so the first ones are as good as any; to generate all takes minutes.
                return replace(source, size=min(limit, source.size))
            noting = NotingCorpus(source, self.note)
            return noting if limit is None else SpreadCorpus(noting, limit)

        limit = min((count for count in (self.limit, self.test_limit) if count is not None), default=None)
        valid, test = (None if spec is None else opened(spec, limit) for spec in (self.valid, self.test))
        return opened(self.train, self.limit), valid, test


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkFamily:
    """Networks that are trained alike and whose checkpoints are read alike."""

    home: str
    """The paper's package: its `training:prepared` makes a `CheckpointLearner`."""
    model: str
    """The class in the package's `model` module that reads the checkpoints."""
    networks: tuple[str, ...]
    tasks: Mapping[str, frozenset[str]]
    """The options that it takes for each task, beside `COMMON`."""
    encoders: tuple[str, ...] = ()
    """Networks that can begin with a pretrained encoder of the `transformers` library."""
    exact: bool = False
    """Whether it is trained in float32 on a processor unless the user asks for another precision."""
    best_known_for: tuple[str, ...] = ()
    """Networks of several families that are trained here unless a task is named."""


_LINE_OPTIONS: Final = frozenset(
    {
        *("pretrain_epochs", "bag_epochs", "vocabulary", "rarest_label", "orders"),
        *("mask_mode", "all_heads", "line_positions", "sign", "dependence"),
    }
)
_FLAW_OPTIONS: Final = _LINE_OPTIONS - {"rarest_label"} | {"pairwise", "locate"}
_TERM_OPTIONS: Final = frozenset({"size", "readout", "implied", "labels"})

FAMILIES: Final = (
    NetworkFamily(
        home=f"{PAPERS}.spe_attention",
        model="LineModel",
        networks=("spe", "symc", "vanilla", "renamer", "code"),
        tasks={
            "function-name": _LINE_OPTIONS,
            "error-detection": _FLAW_OPTIONS,
            "vulnerability-detection": _FLAW_OPTIONS,
        },
        encoders=("spe", "symc", "vanilla"),
    ),
    NetworkFamily(
        home=f"{PAPERS}.tree_transformer",
        model="TreeModel",
        networks=("tree", "tree-vanilla", "tree-shaw", "tree-shiv", "tree-kim"),
        tasks={"function-name": frozenset({"vocabulary", "rarest_label"})},
    ),
    NetworkFamily(
        home=f"{PAPERS}.renamer",
        model="TermModel",
        networks=("renamer", "vanilla", "augmented", "canonicalized"),
        tasks={"throughput": _TERM_OPTIONS, "derivative": _TERM_OPTIONS - {"implied"}},
        exact=True,
        best_known_for=("renamer",),
    ),
    NetworkFamily(
        home=f"{PAPERS}.dependency_encoding",
        model="DecoderModel",
        networks=("code", "rope", "nope", "fire", "hope", "alibi"),
        tasks={"code-modelling": frozenset({"vocabulary"})},
        best_known_for=("code",),
    ),
)

TASKS: Final = tuple(dict.fromkeys(task for family in FAMILIES for task in family.tasks))
NETWORKS: Final = tuple(dict.fromkeys(name for family in FAMILIES for name in family.networks))


def family(network: str, task: str | None) -> tuple[NetworkFamily, str]:
    """Who trains a network for a task, and the task. Without a task, the network's own paper decides.

    Raises:
        UsageError: no network is trained for the task, or not this one.
    """
    able = [paper for paper in FAMILIES if network in paper.networks]
    if task is None:
        papers = [paper for paper in able if network in paper.best_known_for] or able
        return papers[0], next(iter(papers[0].tasks))
    if task not in TASKS:
        raise UsageError(f"no network is trained for task {task!r}; known: {', '.join(TASKS)}")
    for paper in able:
        if task in paper.tasks:
            return paper, task
    others = [name for paper in FAMILIES if task in paper.tasks for name in paper.networks]
    raise UsageError(f"{network} is not trained for task {task!r}; known: {', '.join(others)}")


class HasOptions(Protocol):
    """A row of a family's table of networks."""

    @property
    def options(self) -> Collection[str]:
        """The settings that the network takes beside its sizes."""
        ...


Row = TypeVar("Row", bound=HasOptions)


def entry_of(noun: str, table: Mapping[str, Row], name: str, options: Collection[str]) -> Row:
    """The row of a network that takes these options.

    Raises:
        UsageError: an unknown name, or an option that the network does not take; the message has the nearest.
    """
    if name not in table:
        raise UsageError(unknown(noun, name, list(table)))
    entry = table[name]
    for option in options:
        if option not in entry.options:
            raise UsageError(unknown(f"option of {noun} {name!r}", option, list(entry.options)))
    return entry


def split_structure(recipe: type, options: Mapping[str, object]) -> tuple[dict[str, Any], dict[str, object]]:
    """The structural options that are settings of the recipe, and those of the network."""
    names = {entry.name for entry in fields(recipe)}
    settings = {name: value for name, value in options.items() if name in names}
    return settings, {name: value for name, value in options.items() if name not in names}


def foreign(family: NetworkFamily, task: str, option: str) -> bool:
    """Whether a family's training for a task does not have this option."""
    return option not in COMMON | family.tasks[task]


def learner(family: NetworkFamily, request: TrainingRequest) -> "CheckpointLearner[Any, Any]":
    """A training, ready to begin.

    Raises:
        UsageError: options that do not fit together.
        CorpusError: a corpus cannot be read, or holds too little.
    """
    made: CheckpointLearner[Any, Any] = import_module(f"{family.home}.training").prepared(request)
    return made


def load(place: str, *, device: str, precision: str | None) -> Model:
    """A bundled checkpoint by name, or a folder; its task and network decide who reads it.

    Raises:
        ModelError: a file is missing, damaged, or does not fit the others.
        UsageError: no such device or precision.
    """
    from codeaudit.audit.papers.checkpoint import CONFIG, folder_of, read_json  # brings torch

    config = read_json(folder_of(place) / CONFIG)
    task, network = config.get("task"), config.get("network")
    able = [paper for paper in FAMILIES if task in paper.tasks]
    # Unknown names also go to a family, because its reader lists the known ones in its error.
    paper = next((paper for paper in able if network in paper.networks), (able or FAMILIES)[0])
    model: Model = getattr(import_module(f"{paper.home}.model"), paper.model).load(
        place, device=device, precision=precision
    )
    return model

"""The tables and figures of the five papers: what each shows, what it needs, and the commands that make it.

`items/PAPER.toml` describes those of one paper, `items/data.toml` the data sets. An item is made by commands
of codeaudit (`groups`), is measured by a function (`experiment`), is drawn from another item (`of`), shows no
experiment (`drawing`), or cannot be made (`missing`, with the reason).
"""

import hashlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from codeaudit.audit.papers.presets import PRESETS
from codeaudit.transforms.errors import CorpusError, UsageError
from codeaudit.transforms.registration import unknown

ITEMS: Final = Path(__file__).parent / "items"
DATA: Final = "data"
PAPERS: Final = ("spe", "renamer", "code", "tree", "columns")
"""The names of the papers on the command line, which are those of their files."""

CARD: Final = "card."
"""Begins the measure that a training writes into its card."""

PresetName: TypeAlias = Literal["small", "paper"]
State: TypeAlias = Literal["run", "drawing", "missing"]

GENERATED: Final = "algebra"
"""The corpus that needs no file."""
TRIED: Final = 8
"""Most samples of a test or an audit of a preset that is only tried, and on a CPU of a batch."""
ENDINGS: Final = (".jsonl.gz", ".jsonl", ".csv.gz", ".csv", ".parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperData:
    """A data set of a paper, as a table that the user has."""

    name: str
    """The table's file name without its ending."""
    language: str
    what: str
    columns: str
    published: str
    """Where, by whom, and under which licence."""
    count: int
    """Number of examples to learn from, about."""
    tokens: int
    """Tokens of an example, about."""

    def place(self, folder: Path | None, *, must_exist: bool) -> Path:
        """The table's file, or the one that is asked for.

        Raises:
            CorpusError: it must exist and does not.
        """
        paths = [(folder or Path("DIR")) / f"{self.name}{ending}" for ending in ENDINGS]
        path = next((path for path in paths if folder is not None and path.is_file()), None)
        if path is not None or not must_exist:
            return path or paths[0]
        if folder is not None and not folder.is_dir():
            raise CorpusError(f"--data {str(folder)!r} is no folder")
        where = "no --data is given" if folder is None else f"{str(folder)!r} has no {self.name}.jsonl.gz"
        raise CorpusError(
            f"{where}; needed: {self.name}.jsonl.gz (or .jsonl, .csv, .parquet), {self.what} with the "
            f"columns {self.columns}; published as {self.published}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A row that is trained."""

    name: str
    network: str
    preset: str = ""
    """The preset of `codeaudit train` at paper size; empty where the group names it."""
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A column of a table."""

    name: str
    measure: str
    """The path in a model's block of `summary.json`, with dots; behind `card.` that in the card of a trained
    network; of an experiment the name of a score."""
    better: Literal["higher", "lower"] = "higher"
    complement: bool = False
    """1 minus the value, as an error is of an accuracy."""
    unit: str = "percent"

    @property
    def of_card(self) -> bool:
        """Whether the training measured it itself."""
        return self.measure.startswith(CARD)

    def of(self, model: Mapping[str, Any]) -> float | None:
        """The value, as a share; `None` where the run has none."""
        node: Any = model
        for step in self.measure.removeprefix(CARD).split("."):
            if isinstance(node, list):  # `k=10` is the block whose k is 10
                key, _, value = step.partition("=")
                node = next((block for block in node if str(block.get(key)) == value), None)
            else:
                node = node.get(step) if isinstance(node, Mapping) else None
        if not isinstance(node, int | float):
            return None
        return 1 - node if self.complement else float(node)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnGroup:
    """Columns that share data and sizes."""

    data: str
    name: str = ""
    test: str = "test"
    """The split that is audited."""
    paper_data: str = ""
    """The data set of the preset `paper`, where it is another one."""
    audited: str = ""
    """The data set that is audited, without splits, where it is another one."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """How much of a generated corpus the preset `small` takes, by split."""
    options: tuple[str, ...] = ()
    """Of both commands."""
    paper: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    """Further options of `codeaudit train` under each preset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What a preset sets."""

    train: tuple[str, ...]
    run: tuple[str, ...]
    seeds: int
    epochs: int = 0
    """Of the paper, for the forecast."""
    minutes: Mapping[str, float] = field(default_factory=dict)
    """Of two cores, estimated from parts that were measured, by the name of an item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A function that measures the values of items itself."""

    name: str
    target: str
    """MODULE:FUNCTION of codeaudit, from a `Bench` to trials."""
    data: str = ""
    """The data set; empty where it needs none."""
    scales: Mapping[PresetName, Mapping[str, Any]]
    """What each preset sets: `seeds`, and settings of the experiment."""

    def data_of(self, name: PresetName) -> str:
        """The data set under a preset."""
        return str(self.scales.get(name, {}).get("data", self.data))


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A table or figure."""

    paper: str
    name: str
    """Such as `spe/table-1`."""
    title: str
    state: State
    reason: str = ""
    """Why the item is missing."""
    of: str = ""
    """The name of the item whose values a figure shows."""
    x: str = ""
    y: str = ""
    """Columns of a figure of points; names of the axes of one of `series`."""
    series: str = ""
    """The curves of each row that a figure shows."""
    dots: bool = False
    """Whether the curves are points that no line joins."""
    matrix: str = ""
    """The numbers of each row that a figure shows as a picture."""
    drawn: str = ""
    """MODULE:FUNCTION of codeaudit, from the trained networks of `of` and a device to trials."""
    part: str = ""
    """The group of columns whose networks it draws."""
    task: str = ""
    audited: str = ""
    """The task of the audit, where it is another one than that of the training."""
    rows: tuple[Network, ...] = ()
    groups: tuple[ColumnGroup, ...] = ()
    columns: tuple[Measure, ...] = ()
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """The paper's figures in percent, by row and column."""
    differences: tuple[str, ...] = ()
    scales: Mapping[str, Scale] = field(default_factory=dict)
    audit: tuple[str, ...] = ()
    """Options of `codeaudit run`."""
    experiment: Experiment | None = None
    names: tuple[str, ...] = ()
    """The rows of an experiment."""

    def folder(self, out: Path) -> Path:
        """The folder of its runs, table and picture."""
        return out / self.name.replace("/", "-")

    @property
    def heads(self) -> Sequence[tuple[str, ColumnGroup, Measure]]:
        """The columns: name, group, and measure."""
        if self.experiment is not None or self.drawn:
            return [(column.name, ColumnGroup(data=""), column) for column in self.columns]
        return [
            (f"{group.name} {column.name}".strip(), group, column)
            for group in self.groups
            for column in self.columns
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A command of codeaudit that is one part of an item."""

    words: tuple[str, ...]
    """Without the name of the program."""
    out: Path
    kind: Literal["train", "run"]
    group: ColumnGroup
    seed: int
    networks: tuple[str, ...]
    """The rows that it trains or audits, in the order of the models."""


def items(paper: str | None = None) -> Iterator[Item]:
    """All tables and figures, or those of one paper, in the papers' order."""
    for name in PAPERS if paper is None else (paper,):
        yield from _read(name).values()


def item(name: str) -> Item:
    """A table or figure by its name.

    Raises:
        UsageError: there is none.
    """
    paper, _, rest = name.partition("/")
    if paper not in PAPERS:
        raise UsageError(unknown("paper", paper, PAPERS))
    by_name = _read(paper)
    if not rest:
        raise UsageError(f"{name!r} names a paper and no item, such as {next(iter(by_name))}")
    if name not in by_name:
        raise UsageError(unknown(f"item of {paper}", rest, [key.partition("/")[2] for key in by_name]))
    return by_name[name]


@cache
def data_sets() -> Mapping[str, PaperData]:
    """The data sets by name."""
    tables = tomllib.loads((ITEMS / f"{DATA}.toml").read_text("utf-8"))
    return {name: PaperData(name=name, **entry) for name, entry in tables.items()}


@cache
def _read(paper: str) -> Mapping[str, Item]:
    content = tomllib.loads((ITEMS / f"{paper}.toml").read_text("utf-8"))
    head = {key: content.pop(key, {}) for key in ("networks", "presets", "audit", "paper", "experiments")}
    networks = {
        name: Network(name=name, **{**entry, "options": tuple(entry.get("options", ()))})
        for name, entry in head["networks"].items()
    }
    scales = {
        name: Scale(
            train=tuple(entry["train"]),
            run=tuple(entry["run"]),
            seeds=entry["seeds"],
            epochs=entry.get("epochs", 0),
            minutes=entry.get("minutes", {}),
        )
        for name, entry in head["presets"].items()
    }
    experiments = {name: _experiment(name, entry) for name, entry in head["experiments"].items()}
    by_name: dict[str, Item] = {}
    for key, entry in content.items():
        entry = content[entry["like"]] | entry if "like" in entry else entry
        experiment = experiments.get(entry.get("experiment", ""))
        by_name[f"{paper}/{key}"] = Item(
            paper=head["paper"],
            name=f"{paper}/{key}",
            title=entry["title"],
            state=_state(entry),
            reason=entry.get("missing", ""),
            of=f"{paper}/{entry['of']}" if "of" in entry else "",
            x=entry.get("x", ""),
            y=entry.get("y", ""),
            series=entry.get("series", ""),
            dots=entry.get("dots", False),
            matrix=entry.get("matrix", ""),
            drawn=entry.get("drawn", ""),
            part=entry.get("part", ""),
            task=entry.get("task", ""),
            audited=entry.get("audited", ""),
            rows=() if experiment else tuple(networks[name] for name in entry.get("rows", ())),
            groups=tuple(_group(group) for group in entry.get("groups", ())),
            columns=tuple(Measure(**column) for column in entry.get("columns", ())),
            published=entry.get("published", {}),
            differences=tuple(entry.get("differences", ())),
            scales=scales,
            audit=tuple(head["audit"].get("run", ())),
            experiment=experiment,
            names=tuple(entry.get("rows", ())) if experiment else (),
        )
    return dict(sorted(by_name.items(), key=lambda pair: _place(pair[0])))


def _place(name: str) -> tuple[str, int]:
    kind, _, number = name.partition("/")[2].partition("-")
    return {"table": "1", "figure": "2"}[kind], int(number)


def _state(entry: Mapping[str, Any]) -> State:
    states: tuple[State, ...] = ("drawing", "missing")
    return next((name for name in states if name in entry), "run")


def _experiment(name: str, entry: Mapping[str, Any]) -> Experiment:
    scales: dict[PresetName, Mapping[str, Any]] = {"small": entry["small"]}
    if "paper" in entry:
        scales["paper"] = entry["paper"]
    return Experiment(name=name, target=entry["target"], data=entry.get("data", ""), scales=scales)


def _group(entry: Mapping[str, Any]) -> ColumnGroup:
    lists = {name: tuple(entry.get(name, ())) for name in ("options", "paper", "small")}
    return ColumnGroup(**{**entry, **lists})


# ── steps ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What `codeaudit papers run` was told."""

    preset: PresetName
    out: Path
    data: Path | None = None
    device: str | None = None
    seeds: int | None = None
    """Trainings of each network; `None`: as the preset says."""
    dry: bool = False
    """Only show the commands: the data need not be there."""
    steps: int | None = None
    """Each training ends after so many steps, as a try of a preset; `None`: as the preset says. A try trains
    each network once unless `seeds` says otherwise. On a CPU its batches are small.
    """

    def trainings(self, usual: int) -> int:
        """Of each network, where a preset has its usual number."""
        return self.seeds or (usual if self.steps is None else 1)

    @property
    def batch(self) -> int | None:
        """The most examples of a step; `None`: as the preset says."""
        return TRIED if self.steps is not None and self.device in {None, "cpu"} else None

    def settings(self, experiment: Experiment) -> dict[str, Any]:
        """Of an experiment.

        Raises:
            UsageError: it has no such preset.
        """
        if self.preset not in experiment.scales:
            raise UsageError(f"the experiment has no preset {self.preset}")
        settings = dict(experiment.scales[self.preset])
        for aside in ("minutes", "forecast", "data"):
            settings.pop(aside, None)
        if self.steps is not None:
            settings |= {name: self.steps for name in ("steps", "attack_steps") if name in settings}
            fewer = ("tested", "lines", "valid", "test")
            settings |= {name: min(settings[name] or TRIED, TRIED) for name in fewer if name in settings}
            settings |= {"longer": 1} if "longer" in settings else {}  # times as many steps for baselines
            if self.batch is not None and "batch" in settings:
                settings["batch"] = min(settings["batch"], self.batch)
        return settings


def steps(wanted: Item, request: Request) -> list[Step]:
    """The commands that make an item, in their order.

    Each network is trained once a seed. Then one run a seed audits all rows. Folders are named by commands,
    so that two items with one training, or with one run, share it.

    Raises:
        CorpusError: a table of data is not there.
    """
    scale = wanted.scales[request.preset]
    device = () if request.device is None else ("--device", request.device)
    commands: list[Step] = []
    for seed in range(request.trainings(scale.seeds)):
        for group in wanted.groups:
            learned = [_training(row, wanted, group, seed, request) for row in wanted.rows]
            commands += learned
            if all(column.of_card for column in wanted.columns):
                continue
            models = [word for step in learned for word in ("--model", str(step.out))]
            words = ("run", *models, "--task", wanted.audited or wanted.task)
            words += ("--corpus", _corpus(group, group.test, request))
            audited = _fewer(scale.run) if request.steps is not None else scale.run
            words += _once((*group.options, *wanted.audit, *audited))
            out = request.out / "runs" / f"{wanted.task}-seed-{seed}-{_digest(words)}"
            words += (*device, "--out", str(out))
            commands.append(
                Step(
                    words=words,
                    out=out,
                    kind="run",
                    group=group,
                    seed=seed,
                    networks=tuple(row.name for row in wanted.rows),
                )
            )
    return list({step.words: step for step in commands}.values())


def _training(row: Network, wanted: Item, group: ColumnGroup, seed: int, request: Request) -> Step:
    scale = wanted.scales[request.preset]
    words: tuple[str, ...] = ("train", row.network, "--task", wanted.task)
    for option, split in (("--corpus", "train"), ("--valid", "valid"), ("--test", "test")):
        words += (option, _corpus(replace(group, audited=""), split, request))
    settings = group.options
    if request.preset == "paper" and row.preset:
        settings += ("--preset", row.preset)
    settings += (*scale.train, *(group.paper if request.preset == "paper" else group.small), *row.options)
    if request.steps is not None:
        settings = _ended(settings, request.steps)
        if request.batch is not None:
            settings += ("--batch", str(request.batch))
    words += (*_once(settings), "--seed", str(seed))
    # What decides the weights. The device and the folder do not.
    digest = _digest(words)
    label = "".join(sign if sign.isalnum() else "-" for sign in row.name).replace("--", "-")
    out = request.out / "networks" / f"{label}-seed-{seed}-{digest}"
    device = () if request.device is None else ("--device", request.device)
    return Step(
        words=(*words, *device, "--out", str(out)),
        out=out,
        kind="train",
        group=group,
        seed=seed,
        networks=(row.name,),
    )


def _ended(settings: Sequence[str], steps: int) -> tuple[str, ...]:
    """The settings of a training that ends after so many steps: what counts epochs says nothing any more."""
    words: list[str] = []
    skipped = False
    for word in settings:
        if word == "--epochs":
            skipped = True
        elif word.endswith("-epochs"):
            words, skipped = [*words, word, "0"], True  # a stage before the steps
        elif skipped:
            skipped = False
        else:
            words.append(word)
    return *words, "--steps", str(steps), "--test-limit", str(TRIED)


def _fewer(settings: Sequence[str]) -> tuple[str, ...]:
    """The settings of an audit of few samples, for a try. Some of them are changed by each transform: without
    one, an audit judges nothing.
    """
    limits = [int(value) for word, value in pairwise(settings) if word == "--limit" and value != "0"]
    return *settings, "--limit", str(min([TRIED, *limits])), "--movable", str(TRIED // 2)


def _digest(words: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:8]


def _once(words: Sequence[str]) -> tuple[str, ...]:
    """Each option at most once: the last one counts, as on the command line."""
    groups: list[list[str]] = []
    for word in words:
        if word[:1] == "-" and not word[1:2].isdigit():  # no negative number
            groups.append([])
        groups[-1].append(word)
    # `-O NAME=VALUE` may stand several times, with another name each time.
    by_name = {option[1].partition("=")[0] if "=" in option[-1] else option[0]: option for option in groups}
    return tuple(word for option in by_name.values() for word in option)


def _corpus(group: ColumnGroup, split: str, request: Request) -> str:
    if group.audited and split == group.test:
        return str(data_sets()[group.audited].place(request.data, must_exist=not request.dry))
    if group.data != GENERATED:
        name = (group.paper_data if request.preset == "paper" else "") or group.data
        return f"{data_sets()[name].place(request.data, must_exist=not request.dry)}:{split}"
    small = request.preset == "small" or request.steps is not None
    size = f":{group.sizes[split]}" if small and split in group.sizes else ""
    return f"{GENERATED}:{split}{size}"


# ── forecast ─────────────────────────────────────────────────────────────────────────────────────────────

H100: Final = 989e12
"""Floating-point operations per second of an H100 SXM in bfloat16, dense (NVIDIA's data sheet)."""
USED: Final = 0.3
"""The share of them that a training of this size is assumed to reach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingCost:
    """What the trainings of an item at paper size cost."""

    hours: float
    """Of one H100, for all trainings together."""
    memory: float
    """GiB of the largest training."""


def forecast(wanted: Item, seeds: int | None = None) -> TrainingCost | None:
    """The cost at paper size; `None` where the paper's preset does not say how long it trains.

    Operations are 6 for each weight and token (Kaplan et al., 2020, section 2.1). Memory is 16 bytes a weight
    for Adam in mixed precision, and 34 + 5 · heads · window / width bytes for each layer, token and unit of
    the width (Korthikanti et al., 2022, equation 2).
    """
    if wanted.experiment is not None:
        return _of_experiment(wanted.experiment, len(wanted.names), seeds)
    scale = wanted.scales.get("paper")
    if scale is None or not scale.epochs or not wanted.rows:
        return None
    operations, memory = 0.0, 0.0
    for group in wanted.groups:
        examples, tokens = _size(group)
        for row in wanted.rows:
            name = row.preset or next((word for word in group.paper if word in PRESETS), "")
            if not name:
                return None
            size = PRESETS[name].settings
            weights, memory_of = _demands(size)
            operations += 6.0 * weights * examples * tokens * scale.epochs * (seeds or scale.seeds)
            memory = max(memory, memory_of)
    return TrainingCost(hours=operations / (H100 * USED) / 3600, memory=memory)


def _demands(size: Mapping[str, object]) -> tuple[float, float]:
    """The number of weights of a network, and the GiB of its training."""
    width, layers, window = (int(str(size[key])) for key in ("width", "layers", "window"))
    inner = int(str(size.get("inner", 4 * width)))
    words = int(str(size.get("vocabulary", 1_000)))
    weights = layers * (4 * width * width + 2 * width * inner) + words * width
    pieces = 34 + 5 * int(str(size["heads"])) * window / width
    activations = int(str(size["batch"])) * window * width * layers * pieces
    return weights, (16 * weights + activations) / 2**30


def _of_experiment(experiment: Experiment, rows: int, seeds: int | None) -> TrainingCost | None:
    """The cost of an experiment that trains for a number of steps."""
    size = experiment.scales.get("paper", {})
    if "steps" not in size or "width" not in size:
        return None
    size = size | size.get("forecast", {})
    weights, memory = _demands(size)
    tokens = float(size["batch"]) * float(size["window"]) * float(size["steps"])
    operations = 6.0 * weights * tokens * rows * (seeds or int(size["seeds"]))
    return TrainingCost(hours=operations / (H100 * USED) / 3600, memory=memory)


def _size(group: ColumnGroup) -> tuple[int, int]:
    if group.data == GENERATED:
        return 300_000, 60  # Renamer, appendix E
    table = data_sets()[group.paper_data or group.data]
    return table.count, table.tokens

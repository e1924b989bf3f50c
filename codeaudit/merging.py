"""Joins the folders of all shards into the folder of the whole run. `codeaudit merge` calls `merge`.

The tables are read and written in windows of cases, so that memory does not grow with their rows.
"""

import heapq
import os
import uuid
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from codeaudit.audit.bound_files import Table, TableFolder
from codeaudit.audit.checks import is_whole, shown
from codeaudit.audit.corpora.selection import DUPLICATE, hash_of
from codeaudit.audit.engines.shards import Shard
from codeaudit.audit.integrity import bound, check_files, check_rows, check_signature
from codeaudit.audit.records import Audited
from codeaudit.audit.rows import read_audited, searched_of
from codeaudit.audit.run import AnswerMonitor, RunProgress, SilentProgress
from codeaudit.audit.store import (
    ABOUT,
    ANSWERS,
    ATTACK_COLUMNS,
    ATTACKS,
    BOUND,
    MANIFEST,
    REPEATS,
    SHARD,
    SUITE,
    SUMMARY,
    VERDICT_COLUMNS,
    VERDICTS,
    Manifest,
    RunFolder,
    TableRow,
    TableWriter,
    columns_of,
    read_about,
    read_batches,
    read_rows,
    reply_table,
    schema_of,
)
from codeaudit.audit.tasks.recorded import recorded_task
from codeaudit.auditing import now, run_folder
from codeaudit.finished_runs import FINISHED, read_summary
from codeaudit.options import marked
from codeaudit.preparing import RAW
from codeaudit.repeating import FIRST_STAGE, SHARD_STAGE, after_first
from codeaudit.reports.records import ModelHeader, RunHeader, Summary
from codeaudit.reports.summarise import summarise, with_searches
from codeaudit.transforms.errors import RunError
from codeaudit.transforms.grammar import counted

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

SHARED: Final = (
    "schema",
    "task",
    "seed",
    "trials",
    "transforms",
    *marked("decides"),
    "attack",
    "corpus",
    "models",
)
"""Fields of the manifest that are equal in all shards of a run."""
OF_PART: Final = ("samples", "hash", "skipped", "trials", RAW)
"""Entries of the corpus that are of the shard, if it drew its own samples alone."""
VERSIONS: Final = ("python", "codeaudit")
"""Versions that are equal, too: they decide the suite."""
SIGNED: Final = ("files", "digest", "signature", "explanations")
"""Fields that bind a manifest to its own files."""
CONTENT: Final = 16
"""Bytes of the hash of a sample's content."""
CASES: Final = 512
"""Cases that are merged at once."""
BATCH: Final = 256
"""Rows of each shard that are decoded at once."""


@dataclass(frozen=True)
class _Part:
    """The folder of a finished shard."""

    path: Path
    manifest: Manifest
    shard: Shard
    files: TableFolder
    """Where its tables are read from."""

    @cached_property
    def facts(self) -> dict[str, object]:
        """What all shards of a run share, by the words of a message."""
        facts: dict[str, object] = {name: self.manifest.get(name) for name in SHARED}
        facts["--repeats"] = self.manifest.get("asked_again")
        corpus = dict(self.manifest.get("corpus", {}))
        # A frozen suite may lie elsewhere on another machine; its hash tells it.
        corpus.pop("suite", None)
        if self.drawn_alone:
            facts["raw samples"] = corpus[RAW]
            corpus = {name: value for name, value in corpus.items() if name not in OF_PART}
        facts["corpus"] = corpus.pop("spec", None)
        facts |= {f"corpus ({name})": value for name, value in corpus.items()}
        versions = self.manifest.get("versions", {})
        return facts | {f"version of {name}": versions.get(name) for name in VERSIONS}

    @property
    def drawn_alone(self) -> bool:
        """Whether it drew its own samples alone, so that copies of them may be in other shards."""
        return RAW in self.manifest.get("corpus", {})


@dataclass(frozen=True)
class _Cases:
    """The cases of a shard in one trial: (C,) values each."""

    ids: Sequence[str]
    number: "np.ndarray"
    """Their places among the cases of all shards, from 0, copies included; ascending."""
    kept: "np.ndarray"
    """False for a copy of an earlier case, maybe in another shard."""
    rows: "np.ndarray"
    """Number of rows in the suite."""
    verdicts: "np.ndarray"
    """Number of verdicts of each model."""


_Trials: TypeAlias = Mapping[int, Sequence[_Cases]]
"""The cases of each shard, in the order of the shards, by the seed of the trial."""


def merge(
    folders: Sequence[Path],
    out: Path,
    *,
    command: Sequence[str],
    key: bytes | None = None,
    progress: RunProgress | None = None,
) -> tuple[Summary, RunFolder]:
    """Join the folders of all shards of a run into one run folder. Returns its summary and the folder.

    Suite, verdicts, attacks and summary are those of the run in one process; the scores of a model differ by
    its noise at most. Each shard must be signed with `key`, if there is one; it also signs the run.

    Raises:
        RunError: a shard is missing, there twice, not finished, changed, not signed or of another run; or
            the run cannot be written.
    """
    progress = progress or SilentProgress()
    parts = _opened(folders, out)
    parts = [replace(part, files=check_files(part.path, part.manifest)) for part in parts]
    for part in parts:
        if key is not None:
            check_signature(part.path, part.manifest, key)
    trials = _trials(parts)
    progress.note(f"merging {counted(len(parts), 'shard')}")
    _note_differences(parts, progress)
    with run_folder(out) as folder:
        _put_aside(folder, progress)
        corpus = _corpus(parts, trials)
        summary = _written(parts, trials, corpus.get("skipped", {}), folder, progress)
        summary = _with_served(parts, summary)
        folder.write_text(SUMMARY, summary.to_json())
        repeated = _repeated(parts, summary, progress)
        names = {*BOUND, *([ATTACKS] if parts[0].manifest.get("attack") else ())}
        names |= {ANSWERS} if (folder.path / ANSWERS).exists() else set()
        manifest = {**_manifest(parts, out, command), "corpus": corpus, **repeated}
        folder.write_manifest(bound(folder, manifest, sorted(names), key))
        return summary, folder


# ── which folders ────────────────────────────────────────────────────────────────────────────────────────


def _opened(folders: Sequence[Path], out: Path) -> list[_Part]:
    """The shards in the order of their numbers.

    Raises:
        RunError: they are not all shards of one run; the message names each folder that is wrong.
    """
    wrong: list[str] = []
    parts: list[_Part] = []
    for path in folders:
        is_out = os.path.realpath(path) == os.path.realpath(out)
        try:
            manifest = RunFolder(path).manifest()
            shard = _shard_of(path, manifest)
        except RunError as error:
            if not is_out:
                wrong.append(str(error))
            continue
        if is_out:
            # `codeaudit merge r* --out run` for the second time: `r*` is also the folder of the first result.
            if shard is not None:
                wrong.append(f"--out {str(out)!r} is shard {shard}; give another folder")
            continue
        if shard is None:
            wrong.append(f"{str(path)!r} is a whole run, no shard")
        elif manifest.get("state") != FINISHED:
            wrong.append(f"{str(path)!r}, shard {shard}, is not finished")
        else:
            parts.append(_Part(path, manifest, shard, path))
    if not parts:
        raise RunError(f"no shard to merge: {'; '.join(wrong) or 'no folder named'}")
    run = _run_of(parts)
    for part in parts:
        if part.facts != run.facts:
            names = run.facts | part.facts
            other = [name for name in names if part.facts.get(name) != run.facts.get(name)]
            wrong.append(f"{str(part.path)!r} is of another run than {str(run.path)!r}: {', '.join(other)}")
        elif part.shard.of != run.shard.of:
            wrong.append(f"{str(part.path)!r} is shard {part.shard}, others are parts of {run.shard.of}")
    own = [part for part in parts if part.facts == run.facts and part.shard.of == run.shard.of]
    by_number = {
        number: [part for part in own if part.shard.number == number] for number in range(1, run.shard.of + 1)
    }
    named = {part.shard for part in parts}
    absent = [Shard(number, run.shard.of) for number, group in by_number.items() if not group]
    if missing := [str(shard) for shard in absent if shard not in named]:
        wrong.append(f"missing: shard {', '.join(missing)}")
    wrong += (
        f"shard {group[0].shard} is there {len(group)} times: {', '.join(str(part.path) for part in group)}"
        for group in by_number.values()
        if len(group) > 1
    )
    if wrong:
        raise RunError(f"cannot merge: {'; '.join(wrong)}")
    return sorted(own, key=lambda part: part.shard.number)


def _run_of(parts: Sequence[_Part]) -> _Part:
    """A shard of the run that most of the folders are of."""
    alike = [
        sum(other.facts == part.facts and other.shard.of == part.shard.of for other in parts)
        for part in parts
    ]
    return parts[alike.index(max(alike))]


def _shard_of(path: Path, manifest: Manifest) -> Shard | None:
    shard = manifest.get("shard")
    if shard is None:
        return None
    number, of = shard.get("number"), shard.get("of")
    if not (is_whole(number) and is_whole(of) and 1 <= number <= of):
        raise RunError(f"{str(path / MANIFEST)!r} is damaged: its shard is {shown(shard)}")
    return Shard(number, of)


def _trials(parts: Sequence[_Part]) -> _Trials:
    """The cases of all shards, with what puts them in order.

    Raises:
        RunError: they are not in order in a shard, or one is in several; or the tables of a shard do not fit
            together.
    """
    read = [_read_cases(part.files / SHARD) for part in parts]
    for part, trials in zip(parts, read, strict=True):
        for seed, table in trials.items():
            if any(later <= place for place, later in pairwise(table.place)):
                raise RunError(
                    f"cannot merge: {str(part.files / SHARD)!r}: the cases of trial {seed} are not in order"
                )
        if any(sum(table.verdicts) for table in trials.values()):
            check_rows(part.files, [str(model["name"]) for model in part.manifest["models"]])
    return {
        seed: _numbered([table.get(seed, _ReadCases()) for table in read], seed) for seed in _seeds(parts)
    }


@dataclass(frozen=True)
class _ReadCases:
    """The rows of `shard.parquet` of one trial, by column. Arrays, because a run may have millions."""

    ids: list[str] = field(default_factory=list)
    contents: bytearray = field(default_factory=bytearray)
    """`CONTENT` bytes each; zeros where copies are left out already."""
    place: "array[int]" = field(default_factory=lambda: array("q"))
    rows: "array[int]" = field(default_factory=lambda: array("q"))
    verdicts: "array[int]" = field(default_factory=lambda: array("q"))


def _read_cases(path: Table) -> dict[int, _ReadCases]:
    by_seed: dict[int, _ReadCases] = {}
    for row in read_rows(path):
        cases = by_seed.setdefault(row["seed"], _ReadCases())
        cases.ids.append(row["sample"])
        cases.contents.extend(_content(path, row["content"]))
        cases.place.append(row["place"])
        cases.rows.append(row["rows"])
        cases.verdicts.append(row["verdicts"])
    return by_seed


def _content(path: Table, text: str) -> bytes:
    try:
        content = bytes.fromhex(text)
    except ValueError:
        content = b"?"
    if len(content) not in (0, CONTENT):
        raise RunError(f"{str(path)!r} is damaged: the hash of a content is {text!r}")
    return content.ljust(CONTENT, b"\0")


def _numbered(tables: Sequence[_ReadCases], seed: int) -> list[_Cases]:
    import numpy as np

    places = [np.array(table.place, dtype=np.int64) for table in tables]
    every = np.concatenate(places)
    order = np.argsort(every)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    if (np.diff(every[order]) == 0).any():
        raise RunError(
            f"cannot merge: the shards do not fit together in trial {seed}: a case is in two of them"
        )
    contents = np.concatenate([np.frombuffer(bytes(table.contents), dtype=f"S{CONTENT}") for table in tables])
    # Of several copies the one with the lowest rank is drawn.
    kept = contents == b""
    kept[order[np.unique(contents[order], return_index=True)[1]]] = True
    ends = np.cumsum([len(place) for place in places])[:-1]
    return [
        _Cases(
            ids=table.ids,
            number=numbers,
            kept=is_kept,
            rows=np.array(table.rows, dtype=np.int64),
            verdicts=np.array(table.verdicts, dtype=np.int64),
        )
        for table, numbers, is_kept in zip(tables, np.split(number, ends), np.split(kept, ends), strict=True)
    ]


def _seeds(parts: Sequence[_Part]) -> list[int]:
    """The seeds of the trials, in the order of the run."""
    return [int(seed) for seed in parts[0].manifest["shard"]["seeds"]]


def _note_differences(parts: Sequence[_Part], progress: RunProgress) -> None:
    """Tell which other versions differ: they may decide a score."""
    versions = [part.manifest.get("versions", {}) for part in parts]
    for name in sorted({name for version in versions for name in version}):
        several = sorted({str(version.get(name, "none")) for version in versions})
        if len(several) > 1:
            progress.note(f"the shards ran with different versions of {name}: {', '.join(several)}")


# ── the folder ───────────────────────────────────────────────────────────────────────────────────────────


def _put_aside(folder: RunFolder, progress: RunProgress) -> None:
    try:
        old = folder.manifest()
    except RunError:
        return
    if old.get("state") == FINISHED:
        progress.note(f"the finished run in {folder.path} is kept in {folder.put_aside()}")
    else:
        progress.note(f"replacing the run in {folder.path}, which was not finished")
        # What is written now must not be taken for its tables.
        folder.forget()


def _manifest(parts: Sequence[_Part], out: Path, command: Sequence[str]) -> Manifest:
    """The manifest of the whole run: that of the first shard, with what all of them used."""
    first = parts[0].manifest
    return {
        **{name: value for name, value in first.items() if name not in ("shard", *SIGNED)},
        "codeaudit": uuid.uuid4().hex,
        "started": min(str(part.manifest.get("started")) for part in parts),
        "finished": now(),
        "command": list(command),
        "usage": [used for part in parts for used in part.manifest.get("usage", ())],
        "options": {**first.get("options", {}), "shard": None, "out": str(out)},
        "shards": [
            {
                "number": part.shard.number,
                "run": part.manifest["codeaudit"],
                "machine": part.manifest.get("machine"),
                "versions": part.manifest.get("versions"),
            }
            for part in parts
        ],
    }


def _with_served(parts: Sequence[_Part], summary: Summary) -> Summary:
    """The summary with what the shards say about the models that answered."""
    served: dict[str, dict[str, None]] = {}
    movable: set[str] = set()
    for model in (model for part in parts for model in read_summary(part.files / SUMMARY).models):
        served.setdefault(model.model, {}).update(dict.fromkeys(model.served))
        movable |= {model.model} if model.may_move else set()
    models = (
        replace(model, may_move=model.model in movable, served=tuple(served[model.model]))
        for model in summary.models
    )
    return replace(summary, models=tuple(models))


def _repeated(parts: Sequence[_Part], summary: Summary, progress: RunProgress) -> Manifest:
    """The manifest's entry on repeats. Also notes for which models the second stage is due."""
    entries: dict[str, dict[str, Any]] = {}
    for part in parts:
        entries |= part.manifest.get(REPEATS, {})
    noise = {model.model: model.noise_floor for model in summary.models}
    for name, entry in entries.items():
        if entry.get("why") != SHARD_STAGE or name not in noise:
            continue
        if not noise[name].count:
            entries[name] = {**entry, "why": FIRST_STAGE}
            continue
        changed = after_first(noise[name].count, noise[name].total)
        entries[name] = {**entry, "why": f"{changed.why}; the second stage was not asked"}
        times = max(2, int(parts[0].manifest.get("variants") or 0))
        progress.note(
            f"{name}: {changed.why}, so the second stage is due: make the shards again with the same "
            f"commands and --repeats {times}, then merge them"
        )
    return {REPEATS: entries} if any(REPEATS in part.manifest for part in parts) else {}


def _corpus(parts: Sequence[_Part], trials: _Trials) -> dict[str, Any]:
    """What the manifest of the whole run says of its corpus."""
    corpus = dict(parts[0].manifest.get("corpus", {}))
    if not parts[0].drawn_alone:
        return corpus
    kept = {
        seed: [
            name for shard in cases for name, is_kept in zip(shard.ids, shard.kept, strict=True) if is_kept
        ]
        for seed, cases in trials.items()
    }
    first = _seeds(parts)[0]
    unread = Counter(corpus.pop(RAW)["unread"])
    skipped = unread + sum(
        (Counter(part.manifest["corpus"]["skipped"]) - unread for part in parts), Counter[str]()
    )
    skipped[DUPLICATE] += sum(int((~shard.kept).sum()) for shard in trials[first])
    about = [{"seed": seed, "hash": hash_of(ids), "samples": len(ids)} for seed, ids in kept.items()]
    return {
        **corpus,
        "hash": about[0]["hash"],
        "samples": about[0]["samples"],
        "skipped": dict(sorted((+skipped).items())),
        "trials": about,
    }


def _written(
    parts: Sequence[_Part],
    trials: _Trials,
    skipped: Mapping[str, int],
    folder: RunFolder,
    progress: RunProgress,
) -> Summary:
    """Write the tables, and compute the summary from them."""
    first = parts[0]
    recorded = read_summary(first.files / SUMMARY)
    seeds = _seeds(parts)
    names = [model.model for model in recorded.models]
    suite = read_about(first.files / SUITE)
    about = {name: value for name, value in suite.items() if name in ABOUT}
    total = sum(
        int(shard.rows[shard.kept].sum() + len(names) * shard.verdicts[shard.kept].sum())
        for cases in trials.values()
        for shard in cases
    )
    with progress.counting("merge", total, unit="rows") as monitor:
        tables: dict[str, tuple[Mapping[str, str], list[_Block]]] = {
            SUITE: (columns_of(first.files / SUITE), [_Block(seed, "rows") for seed in seeds]),
            VERDICTS: (VERDICT_COLUMNS, [_Block(seed, "verdicts") for seed in seeds for _ in names]),
        }
        for name, (columns, blocks) in tables.items():
            told_of = suite if name == SUITE else about
            with folder.replacing(name) as place, TableWriter(place, columns, told_of) as table:
                for rows in _merged(parts, trials, name, blocks):
                    table.write_table(rows)
                    monitor.answered(rows.num_rows, recalled=False)
    folder.drop(ANSWERS)
    if any((part.files / ANSWERS).exists() for part in parts):
        with reply_table(folder, about, keep=False) as replies:
            for row in _replies(parts, trials):
                replies.write([row])
    task = recorded_task(recorded.task, first.manifest)
    merged = ((seed, read_audited(folder.path, seed=seed)) for seed in seeds)
    with progress.counting("summary", None, unit="samples") as monitor:
        header = RunHeader(
            task=recorded.task,
            corpus=recorded.corpus,
            seed=recorded.seed,
            models=tuple(ModelHeader.of(facts) for facts in first.manifest["models"]),
            skipped=skipped,
            draws=recorded.draws,
            told_errors=recorded.told_errors,
        )
        summary = summarise(
            ((seed, _counted(audited, monitor)) for seed, audited in merged), task=task, header=header
        )
    if not first.manifest.get("attack"):
        return summary
    with folder.replacing(ATTACKS) as place, TableWriter(place, ATTACK_COLUMNS, about) as table:
        rows = _attacks(parts, trials)
        table.write(rows)
    return with_searches(summary, map(searched_of, rows))


def _counted(audited: Iterable[Audited], monitor: AnswerMonitor) -> Iterator[Audited]:
    for record in audited:
        monitor.answered(1, recalled=False)
        yield record


@dataclass(frozen=True)
class _Block:
    """Rows of a table that stand together: of one trial, and of one model if it is the verdicts."""

    seed: int
    counts: str
    """The field of `_Cases` with the number of rows of each case."""


def _merged(
    parts: Sequence[_Part], trials: _Trials, name: str, blocks: Sequence[_Block]
) -> Iterator["pa.Table"]:
    """The rows of a table of the whole run, from the tables of the shards.

    In each shard the cases of a block ascend. So a window of cases is a slice of each table, and only the
    window is sorted.
    """
    import numpy as np
    import pyarrow as pa

    with ExitStack() as stack:
        readers = [stack.enter_context(_SliceReader(part.files / name)) for part in parts]
        for block in blocks:
            cases = trials[block.seed]
            for start in range(0, sum(len(shard.ids) for shard in cases), CASES):
                slices, keys, kept = [], [], []
                for reader, shard in zip(readers, cases, strict=True):
                    low, high = np.searchsorted(shard.number, (start, start + CASES))
                    sizes = getattr(shard, block.counts)[low:high]
                    slices.append(reader.take(int(sizes.sum())))
                    keys.append(np.repeat(shard.number[low:high], sizes))
                    kept.append(np.repeat(shard.kept[low:high], sizes))
                order = np.argsort(np.concatenate(keys), kind="stable")
                yield pa.concat_tables(slices).combine_chunks().take(order[np.concatenate(kept)[order]])
        for reader in readers:
            reader.finish()


class _SliceReader(AbstractContextManager["_SliceReader"]):
    """Reads a table of a run from its beginning to its end, any number of rows at a time."""

    def __init__(self, path: Table) -> None:
        self._path = path
        self._batches = read_batches(path, BATCH)
        self._schema = schema_of(columns_of(path))
        self._rest: list[pa.RecordBatch] = []

    def __exit__(self, *error: object) -> None:
        self._batches.close()

    def take(self, count: int) -> "pa.Table":
        """The next rows.

        Raises:
            RunError: there are fewer, or the table is damaged.
        """
        import pyarrow as pa

        batches: list[pa.RecordBatch] = []
        while count:
            batch = self._rest.pop() if self._rest else next(self._batches, None)
            if batch is None:
                raise self._unfit()
            batches.append(batch.slice(0, count))
            if batch.num_rows > count:
                self._rest.append(batch.slice(count))
            count -= batches[-1].num_rows
        return pa.Table.from_batches(batches, schema=self._schema)

    def finish(self) -> None:
        """Check that all rows were taken.

        Raises:
            RunError: there are more.
        """
        if self._rest or next(self._batches, None) is not None:
            raise self._unfit()

    def _unfit(self) -> RunError:
        return RunError(f"cannot merge: {str(self._path)!r} does not fit {SHARD} beside it")


def _places(trials: _Trials, seeds: Sequence[int], number: int) -> dict[tuple[int, str], int]:
    """The places of the cases of a shard that are kept, by seed and sample."""
    return {
        (seed, name): int(place)
        for seed in seeds
        for name, place, kept in zip(
            trials[seed][number].ids, trials[seed][number].number, trials[seed][number].kept, strict=True
        )
        if kept
    }


def _replies(parts: Sequence[_Part], trials: _Trials) -> Iterator[TableRow]:
    """The rows of all replies in the order of the whole run: trial, model, case.

    They have that order in each shard. So no more than a row of each is in memory.
    """
    names = [str(model["name"]) for model in parts[0].manifest["models"]]
    seeds = _seeds(parts)

    def keyed(number: int, part: _Part) -> Iterator[tuple[tuple[int, int, int], TableRow]]:
        places = _places(trials, seeds, number)
        path = part.files / ANSWERS
        for row in read_rows(path):
            if (place := places.get((row["seed"], row["sample"]))) is not None:
                if row["model"] not in names:
                    raise RunError(
                        f"cannot merge: {str(path)!r} has a reply of {row['model']!r}, "
                        "which is not of this run"
                    )
                yield (seeds.index(row["seed"]), names.index(row["model"]), place), row

    several = [keyed(number, part) for number, part in enumerate(parts) if (part.files / ANSWERS).exists()]
    for _, row in heapq.merge(*several, key=lambda pair: pair[0]):
        yield row


def _attacks(parts: Sequence[_Part], trials: _Trials) -> list[TableRow]:
    """The rows of all attacks in the order of the whole run: model, strategy, trial, case."""
    names = [str(model["name"]) for model in parts[0].manifest["models"]]
    strategies = list(parts[0].manifest["attack"]["strategies"])
    seeds = _seeds(parts)
    rows = []
    for number, part in enumerate(parts):
        places = _places(trials, seeds, number)
        path = part.files / ATTACKS
        for row in (row for batch in read_batches(path, BATCH) for row in batch.to_pylist()):
            if (place := places.get((row["seed"], row["sample"]))) is None:
                continue
            if row["model"] not in names or row["strategy"] not in strategies:
                raise RunError(
                    f"cannot merge: {str(path)!r} has an attack of {row['strategy']!r} on {row['model']!r}, "
                    "which is not of this run"
                )
            key = (
                names.index(row["model"]),
                strategies.index(row["strategy"]),
                seeds.index(row["seed"]),
                place,
            )
            rows.append((key, row))
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]

"""Featurised samples: flat arrays that are made once, kept on disk, and cut into batches."""

import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache, partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer

from codeaudit.audit.papers.lines.encoding import (
    PLANES,
    TOO_LONG,
    UNPARSABLE,
    EncodedLines,
    LineEncoder,
    Relation,
)
from codeaudit.audit.papers.lines.programs import analyse
from codeaudit.audit.papers.lines.tasks import NAMING, LineTask
from codeaudit.audit.papers.lines.trunk import Batch, collate
from codeaudit.audit.records import Failed
from codeaudit.audit.training.trainer import Integers
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.records import Sample
from codeaudit.transforms.seeding import stream

Chosen: TypeAlias = Sequence[int] | Integers
CHUNK: Final = 256
"""Samples that a worker gets at once."""


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Many encoded functions with their labels, each kind of number in one flat array."""

    ids: npt.NDArray[np.uint16]
    line: npt.NDArray[np.uint16]
    position: npt.NDArray[np.uint8]
    referents: npt.NDArray[np.uint16]
    """Of each token as well; empty where names were read."""
    tokens: Integers
    """(count,) the tokens of each example."""
    relation: npt.NDArray[np.uint8]
    """(3, Σ N²) the symmetry mask and SYMC's two distances; (3, 0) where names were not read."""
    lines: Integers
    """(count,) the lines N of each example."""
    orders: npt.NDArray[np.uint16]
    """(orders, Σ N) legal orders of the lines, as old places in new order."""
    labels: npt.NDArray[np.uint16]
    """The known labels of each example as indices, distinct."""
    known: Integers
    """(count,) how many those are."""
    wanted: Integers
    """(count,) how many labels are true, unknown ones included: of a name its distinct subtokens."""
    left_out: Integers
    """(2,) how many samples could not be read, as they do not parse, and how many were too long."""

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def _token_ends(self) -> Integers:
        return np.cumsum(self.tokens)

    @cached_property
    def _line_ends(self) -> Integers:
        return np.cumsum(self.lines)

    @cached_property
    def _square_ends(self) -> Integers:
        return np.cumsum(self.lines**2)

    @cached_property
    def _label_ends(self) -> Integers:
        return np.cumsum(self.known)

    def save(self, path: Path) -> None:
        """Write all arrays to one compressed file, completely or not at all."""
        part = path.with_suffix(".part.npz")
        np.savez_compressed(part, **{one.name: getattr(self, one.name) for one in fields(self)})
        part.replace(path)

    @classmethod
    def load(cls, path: Path) -> "Examples | None":
        """The saved examples; `None` where there is no readable file."""
        try:
            with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                return cls(**{one.name: file[one.name] for one in fields(cls)})
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None

    def encoded(self, example: int, relation: Relation, order: int | None = None) -> EncodedLines:
        """One example, in one of its stored orders or in the text's own."""
        tokens = slice(self._token_ends[example] - self.tokens[example], self._token_ends[example])
        count = int(self.lines[example])
        square = slice(self._square_ends[example] - count * count, self._square_ends[example])
        found = EncodedLines(
            ids=self.ids[tokens].astype(np.int32),
            line=self.line[tokens].astype(np.int32),
            position=self.position[tokens].astype(np.int32),
            relation=self.relation[PLANES[relation], square].reshape(-1, count, count),
            referents=self.referents[tokens].astype(np.int32) if relation == "referents" else None,
        )
        if order is None:
            return found
        return found.permuted(self.orders[order, self._line_ends[example] - count : self._line_ends[example]])

    def batch(self, chosen: Chosen, relation: Relation, orders: Chosen | None = None) -> Batch:
        """The chosen examples, padded to the longest of them; each in its stored order if `orders` says."""
        places = [None] * len(chosen) if orders is None else list(orders)
        pairs = zip(chosen, places, strict=True)
        return collate([self.encoded(int(example), relation, order) for example, order in pairs])

    def targets(self, chosen: Chosen, labels: int) -> torch.Tensor:
        """(B, K) 1 where the label belongs to the name."""
        found = torch.zeros(len(chosen), labels)
        for row, example in enumerate(chosen):
            end = self._label_ends[example]
            found[row, self.labels[end - self.known[example] : end].astype(np.int64)] = 1
        return found


def featurise(
    samples: Iterable[Sample],
    tokenizer: Tokenizer,
    labels: Mapping[str, int],
    *,
    window: int,
    orders: int = 0,
    seed: int = 0,
    workers: int = 1,
    task: LineTask = NAMING,
    relation: Relation = "every",
) -> Examples:
    """The features of all samples, in their order; those without features are left out and counted."""
    work = partial(_encode, _Setting(tokenizer.to_str(), window, orders, seed, relation))
    chunks = _chunks(
        _Labelled(one.id, one.language, one.source, task.truth(one.label) or ()) for one in samples
    )
    if workers == 1:
        return _flat([row for done in map(work, chunks) for row in done], labels, orders)
    with get_context("spawn").Pool(workers) as pool:
        return _flat([row for done in pool.imap(work, chunks) for row in done], labels, orders)


class _Labelled(NamedTuple):
    id: str
    language: str
    source: str
    truth: tuple[str, ...]


class _Setting(NamedTuple):
    tokenizer: str
    window: int
    orders: int
    seed: int
    relation: Relation


class _Row(NamedTuple):
    features: EncodedLines
    orders: npt.NDArray[np.uint16]
    truth: tuple[str, ...]


@lru_cache(maxsize=1)
def _encoder(setting: _Setting) -> LineEncoder:
    return LineEncoder(
        Tokenizer.from_str(setting.tokenizer), window=setting.window, relation=setting.relation
    )


def _encode(setting: _Setting, chunk: list[_Labelled]) -> list[_Row | Failed]:
    encoder = _encoder(setting)
    return [_row(encoder, setting, given) for given in chunk]


def _row(encoder: LineEncoder, setting: _Setting, given: _Labelled) -> _Row | Failed:
    try:
        program = analyse(given.source, given.language)
    except SourceError:
        return UNPARSABLE
    features = encoder.features(program, given.language)
    if isinstance(features, Failed):
        return features
    drawn = [
        program.sample_lines(stream(setting.seed, given.id, "training order", number))
        for number in range(setting.orders)
    ]
    return _Row(
        features, np.array(drawn, dtype=np.uint16).reshape(setting.orders, features.lines), given.truth
    )


def _chunks(given: Iterator[_Labelled]) -> Iterator[list[_Labelled]]:
    while chunk := list(islice(given, CHUNK)):
        yield chunk


def _flat(found: list[_Row | Failed], labels: Mapping[str, int], orders: int) -> Examples:
    rows = [row for row in found if isinstance(row, _Row)]
    known = [[labels[part] for part in row.truth if part in labels] for row in rows]
    empty = np.zeros(0, dtype=np.int32)
    told = [row.features.referents for row in rows if row.features.referents is not None]
    return Examples(
        ids=np.concatenate([empty, *(row.features.ids for row in rows)]).astype(np.uint16),
        line=np.concatenate([empty, *(row.features.line for row in rows)]).astype(np.uint16),
        position=np.concatenate([empty, *(row.features.position for row in rows)]).astype(np.uint8),
        referents=np.concatenate([empty, *told]).astype(np.uint16),
        tokens=np.array([len(row.features.ids) for row in rows], dtype=np.int64),
        relation=np.concatenate(
            [np.zeros((3, 0), np.uint8), *(row.features.relation.reshape(3, -1) for row in rows)], axis=1
        ),
        lines=np.array([row.features.lines for row in rows], dtype=np.int64),
        orders=np.concatenate([np.zeros((orders, 0), np.uint16), *(row.orders for row in rows)], axis=1),
        labels=np.array([label for one in known for label in one], dtype=np.uint16),
        known=np.array([len(one) for one in known], dtype=np.int64),
        wanted=np.array([len(row.truth) for row in rows], dtype=np.int64),
        left_out=np.array([len(found) - len(rows) - found.count(TOO_LONG), found.count(TOO_LONG)], np.int64),
    )

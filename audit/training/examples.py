"""Featurised samples: flat arrays that are made once, kept on disk, and cut into batches."""

import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer

from audit.features.lines import PLANES, Encoded, Encoder, Relation
from audit.nets.trunk import Batch
from audit.records import Failed
from transforms.records import Sample

Integers: TypeAlias = npt.NDArray[np.int64]
CHUNK: Final = 256
"""Samples that a worker gets at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """Many encoded functions with their labels, each kind of number in one flat array.

    `*_end[i]` is where example i ends in the array of that kind.
    """

    ids: npt.NDArray[np.uint16]
    position: npt.NDArray[np.uint8]
    line: npt.NDArray[np.uint16]
    token_end: Integers
    relation: npt.NDArray[np.uint8]
    """(3, Σ N²) the symmetry mask and SYMC's two distances."""
    lines: Integers
    """(count,) the N of each example."""
    labels: npt.NDArray[np.uint16]
    """The known labels of each example as indices, distinct."""
    label_end: Integers
    wanted: Integers
    """(count,) how many distinct subtokens the name has, unknown ones included."""
    left_out: Integers
    """(2,) how many samples did not parse, and how many were too long."""

    def __len__(self) -> int:
        return len(self.token_end)

    @property
    def lengths(self) -> Integers:
        """(count,) tokens."""
        return np.diff(self.token_end, prepend=0)

    def save(self, path: Path) -> None:
        """Write all arrays to one compressed file, completely or not at all."""
        part = path.with_suffix(".part.npz")
        np.savez_compressed(part, **{one.name: getattr(self, one.name) for one in fields(self)})
        part.replace(path)

    @classmethod
    def load(cls, path: Path) -> "Examples | None":
        """What was saved; `None` where there is nothing, or nothing readable."""
        try:
            with np.load(path, allow_pickle=False) as file:
                return cls(**{one.name: file[one.name] for one in fields(cls)})
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None

    def batch(self, chosen: Sequence[int] | Integers, relation: Relation) -> Batch:
        """The chosen examples, padded to the longest of them."""
        planes = PLANES[relation]
        tokens = int(self.lengths[chosen].max())
        lines = int(self.lines[chosen].max())
        ids, line, position = (np.zeros((len(chosen), tokens), dtype=np.int64) for _ in range(3))
        related = np.zeros((len(chosen), planes.stop - planes.start, lines, lines), dtype=np.uint8)
        squares = np.cumsum(self.lines**2)
        for row, example in enumerate(chosen):
            stop = int(self.token_end[example])
            start = int(self.token_end[example - 1]) if example else 0
            ids[row, : stop - start] = self.ids[start:stop]
            line[row, : stop - start] = self.line[start:stop]
            position[row, : stop - start] = self.position[start:stop]
            count = int(self.lines[example])
            square = slice(int(squares[example]) - count * count, int(squares[example]))
            related[row, :, :count, :count] = self.relation[planes, square].reshape(-1, count, count)
        return Batch(
            ids=torch.from_numpy(ids),
            line=torch.from_numpy(line),
            position=torch.from_numpy(position),
            relation=torch.from_numpy(related),
        )

    def targets(self, chosen: Sequence[int] | Integers, labels: int) -> torch.Tensor:
        """(B, K) 1 where the label belongs to the name."""
        found = torch.zeros(len(chosen), labels)
        for row, example in enumerate(chosen):
            start = int(self.label_end[example - 1]) if example else 0
            found[row, self.labels[start : int(self.label_end[example])].astype(np.int64)] = 1
        return found


def featurise(
    samples: Iterable[Sample], tokenizer: Tokenizer, labels: Mapping[str, int], *, window: int, workers: int = 1
) -> Examples:
    """The features of all samples, in their order; those without features are left out and counted."""
    setting = (tokenizer.to_str(), window)
    chunks = _chunks((sample.source, sample.label) for sample in samples)
    rows: list[tuple[Encoded, object]] = []
    left_out: Counter[str] = Counter()
    for done in _encoded(chunks, setting, workers):
        for features, label in done:
            if isinstance(features, Failed):
                left_out[features.reason] += 1
            else:
                rows.append((features, label))
    return _flat(rows, labels, left_out)


_Pair: TypeAlias = tuple[str, object]
_Done: TypeAlias = "list[tuple[Encoded | Failed, object]]"
_encoder: Encoder | None = None


def _encoded(chunks: Iterator[list[_Pair]], setting: tuple[str, int], workers: int) -> Iterator[_Done]:
    if workers == 1:
        _start(*setting)
        yield from map(_encode, chunks)
        return
    with get_context("spawn").Pool(workers, _start, setting) as pool:
        yield from pool.imap(_encode, chunks)


def _start(tokenizer: str, window: int) -> None:
    global _encoder  # each worker process has one, made once
    _encoder = Encoder(Tokenizer.from_str(tokenizer), window=window, relation="every")


def _encode(chunk: list[_Pair]) -> _Done:
    if _encoder is None:
        raise RuntimeError("the encoder is set before any chunk")
    return [(_encoder.encode(source), label) for source, label in chunk]


def _chunks(pairs: Iterator[_Pair]) -> Iterator[list[_Pair]]:
    while chunk := list(islice(pairs, CHUNK)):
        yield chunk


def _flat(rows: list[tuple[Encoded, object]], labels: Mapping[str, int], left_out: Counter[str]) -> Examples:
    names = [sorted(set(label)) if isinstance(label, tuple) else [] for _, label in rows]
    known = [[labels[part] for part in name if part in labels] for name in names]
    encoded = [features for features, _ in rows]

    def joined(arrays: list[npt.NDArray[np.int32]], kind: type) -> npt.NDArray[np.uint16]:
        return np.concatenate(arrays or [np.zeros(0)]).astype(kind)

    relations = [one.relation.reshape(3, -1) for one in encoded] or [np.zeros((3, 0), np.uint8)]
    return Examples(
        ids=joined([one.ids for one in encoded], np.uint16),
        position=joined([one.position for one in encoded], np.uint8).astype(np.uint8),
        line=joined([one.line for one in encoded], np.uint16),
        token_end=np.cumsum([len(one.ids) for one in encoded], dtype=np.int64),
        relation=np.concatenate(relations, axis=1),
        lines=np.array([one.lines for one in encoded], dtype=np.int64),
        labels=np.array([label for one in known for label in one], dtype=np.uint16),
        label_end=np.cumsum([len(one) for one in known], dtype=np.int64),
        wanted=np.array([len(name) for name in names], dtype=np.int64),
        left_out=np.array([left_out["source does not parse"], left_out["input too long"]], dtype=np.int64),
    )

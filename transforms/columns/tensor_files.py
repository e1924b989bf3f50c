"""safetensors files, one tensor at a time: every byte but those of the tensors stays as it is."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from codeaudit.transforms.errors import ModelError

LONGEST_HEADER: Final = 100_000_000
"""Bytes; the format's own limit."""

Bytes = npt.NDArray[np.uint8]


class Tagger(Protocol):
    """Reads all bytes of a file in their order."""

    def update(self, data: bytes, /) -> None:
        """The next ones."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorEntry:
    """One tensor of a file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int
    """Its bytes, counted from the end of the header."""

    def array(self, data: Bytes) -> npt.NDArray[Any]:
        """Its bytes as numbers of their width, whatever they mean.

        Raises:
            ModelError: its numbers are no whole bytes.
        """
        width = len(data) // max(1, prod(self.shape))
        if width not in (1, 2, 4, 8) or width * prod(self.shape) != len(data):
            raise ModelError(f"tensor {self.name!r} has numbers of type {self.dtype}, which cannot be moved")
        return data.view(f"<u{width}").reshape(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorFile:
    """A file's header."""

    path: Path
    prefix: bytes
    """What stands before the tensors."""
    entries: tuple[TensorEntry, ...]
    """In the order of their bytes."""

    @classmethod
    def read(cls, path: Path) -> "TensorFile":
        """The header of a file.

        Raises:
            ModelError: it cannot be read or is no safetensors file.
        """
        try:
            with path.open("rb") as file:
                prefix = _prefix(file)
                size = path.stat().st_size - len(prefix)
            entries = _entries(json.loads(prefix[8:]))
        except OSError as error:
            raise ModelError(f"cannot read {str(path)!r}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise ModelError(f"{str(path)!r} is no safetensors file: {error}") from error
        place = 0
        for entry in entries:
            if entry.start != place or entry.stop < place:
                raise ModelError(f"{str(path)!r} is no safetensors file: tensor {entry.name!r} overlaps")
            place = entry.stop
        if place != size:
            raise ModelError(f"{str(path)!r} is damaged: {size} bytes of tensors, its header says {place}")
        return cls(path=path, prefix=prefix, entries=entries)

    def tensors(self) -> Iterator[tuple[TensorEntry, Bytes]]:
        """Each tensor with its bytes.

        Raises:
            ModelError: the file cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                file.seek(len(self.prefix))
                for entry in self.entries:
                    yield entry, np.frombuffer(file.read(entry.stop - entry.start), dtype=np.uint8)
        except OSError as error:
            raise ModelError(f"cannot read {str(self.path)!r}: {error.strerror}") from error

    def rewrite(
        self,
        onto: Path,
        change: Callable[[TensorEntry, Bytes], Bytes],
        *,
        before: Tagger | None = None,
        after: Tagger | None = None,
    ) -> None:
        """Write the file anew with each tensor's bytes changed; the taggers read the old and new file.

        Raises:
            ModelError: a file cannot be read or written.
        """
        try:
            with onto.open("wb") as file:
                _write(file, self.prefix, self.prefix, before, after)
                for entry, data in self.tensors():
                    _write(file, data.tobytes(), change(entry, data).tobytes(), before, after)
        except OSError as error:
            raise ModelError(f"cannot write {str(onto)!r}: {error.strerror}") from error


def _write(file: IO[bytes], old: bytes, new: bytes, before: Tagger | None, after: Tagger | None) -> None:
    file.write(new)
    if before is not None:
        before.update(old)
    if after is not None:
        after.update(new)


def _prefix(file: IO[bytes]) -> bytes:
    length = file.read(8)
    size = int.from_bytes(length, "little")
    if len(length) < 8 or size > LONGEST_HEADER:
        raise ValueError("no header")
    header = file.read(size)
    if len(header) < size:
        raise ValueError("its header ends early")
    return length + header


def _entries(header: Mapping[str, Any]) -> tuple[TensorEntry, ...]:
    found = [
        TensorEntry(
            name=name,
            dtype=str(one["dtype"]),
            shape=tuple(map(int, one["shape"])),
            start=int(one["data_offsets"][0]),
            stop=int(one["data_offsets"][1]),
        )
        for name, one in header.items()
        if name != "__metadata__"
    ]
    return tuple(sorted(found, key=lambda one: (one.start, one.stop)))

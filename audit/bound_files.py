"""Files that are read as they were when their hash was taken.

Somebody may exchange or rewrite a file of a run after its hash was compared with the manifest and before it
is read, or between two reads. So the pass that computes the hash of a file also keeps a digest of each of its
blocks, and every later read compares the blocks that it reads. No byte reaches a reader that was not hashed.

It costs a second hash of what is read, and 32 bytes of memory for each 64 KiB of a file. Nothing is copied.
"""

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias

from codeaudit.transforms.errors import RunError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK: Final = 1 << 16
"""Bytes that are compared together."""


@dataclass(frozen=True, slots=True)
class BoundFile:
    """A file with the digests of its blocks. It has those members of `Path` that readers of tables use."""

    path: Path
    """The path that messages name."""
    blocks: tuple[bytes, ...] | None = field(repr=False)
    """`None` for a file that nothing binds: it counts as absent, even if it appears later."""
    size: int = 0
    place: Path = Path()
    """The path that is opened: absolute, because the working folder may change."""

    @property
    def name(self) -> str:
        """The name of the file, with its ending."""
        return self.path.name

    @property
    def suffix(self) -> str:
        """The ending of the file."""
        return self.path.suffix

    def __str__(self) -> str:
        return str(self.path)

    def exists(self) -> bool:
        """Whether it was there when its hash was taken."""
        return self.blocks is not None

    def open(self, mode: str = "rb") -> IO[bytes]:
        """Open it for reading bytes. A read raises RunError if the file has changed since.

        Raises:
            OSError: it cannot be opened, or was not there.
        """
        assert mode == "rb"
        if self.blocks is None:
            raise FileNotFoundError(2, "No such file or directory", str(self.path))
        return io.BufferedReader(_ComparedBlocks(self, self.blocks), BLOCK)

    def read_bytes(self) -> bytes:
        """All of it, as `open` reads it."""
        with self.open() as file:
            return file.read()


Table: TypeAlias = Path | BoundFile
"""A file that is read as it lies there, or as it was when its hash was taken."""


@dataclass(frozen=True, slots=True)
class BoundFolder:
    """A run folder whose files were compared with its manifest."""

    path: Path
    manifest: Mapping[str, Any] = field(repr=False)
    files: Mapping[str, BoundFile] = field(repr=False)

    def __str__(self) -> str:
        return str(self.path)

    def __truediv__(self, name: str) -> BoundFile:
        return self.files.get(name) or BoundFile(self.path / name, None)


TableFolder: TypeAlias = Path | BoundFolder
"""A folder of tables, as it lies there or as it was when its hashes were taken."""


@dataclass(frozen=True, slots=True)
class HashedFile:
    """A file that was read once from its beginning to its end."""

    file: BoundFile
    sha256: str


def hashed(path: Path) -> HashedFile:
    """Hash a file and its blocks in one pass.

    Raises:
        RunError: it cannot be read.
    """
    hasher, blocks, size = hashlib.sha256(), [], 0
    try:
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                hasher.update(block)
                blocks.append(hashlib.sha256(block).digest())
                size += len(block)
    except OSError as error:
        raise RunError(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    return HashedFile(BoundFile(path, tuple(blocks), size, path.absolute()), hasher.hexdigest())


class _ComparedBlocks(io.RawIOBase):
    """The bytes of a file, each block compared before it is passed on."""

    def __init__(self, bound: BoundFile, blocks: tuple[bytes, ...]) -> None:
        super().__init__()
        self._path, self._size, self._blocks = bound.path, bound.size, blocks
        self._file = bound.place.open("rb")
        self._place = 0
        self._number, self._block = -1, b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = max(0, start + offset)
        return self._place

    def readinto(self, buffer: "WriteableBuffer") -> int:
        into = memoryview(buffer).cast("B")
        number, start = divmod(self._place, BLOCK)
        if number >= len(self._blocks):
            return 0
        if number != self._number:
            self._file.seek(number * BLOCK)
            # The last block may be short, and must be.
            block = self._file.read(min(BLOCK, self._size - number * BLOCK))
            if hashlib.sha256(block).digest() != self._blocks[number]:
                raise RunError(f"{str(self._path)!r} was changed while it was read; try again")
            self._number, self._block = number, block
        part = self._block[start : start + len(into)]
        into[: len(part)] = part
        self._place += len(part)
        return len(part)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()

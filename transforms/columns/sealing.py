"""Sealing of checkpoint folders under a key, tensor by tensor, and unsealing bit for bit.

There are two schemes:

- `columns` permutes the hidden columns of the backbone and leaves embeddings and head as they are (Xu et al.
  2024, section 5.3), so the parts fit together only with the key. This is obfuscation: anyone with the
  weights that the checkpoint was fine-tuned from can find the permutation (see `recovery`).
- `cipher` masks every byte of every tensor with a keystream. Only the key undoes it.

Files are rewritten one tensor at a time; every byte but those of the tensors stays as it is. The header is
read here, because the safetensors library gives tensors and not the bytes of the header, and unsealing has to
restore both.

A sealed folder reveals the shapes, the configuration and the vocabulary. With `columns` it also reveals which
axes move together, and contains embeddings and head in the clear.
"""

import hmac
import json
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any, Final, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from codeaudit.transforms.columns.keys import SALT, Key, Salted
from codeaudit.transforms.columns.layout import Indices, Layout, indices, inverse
from codeaudit.transforms.errors import CannotAudit, ModelError

LONGEST_HEADER: Final = 100_000_000
"""Bytes; the format's own limit."""

Bytes = npt.NDArray[np.uint8]


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
        # Moving needs the width only, and numpy has no type for bfloat16 or float8.
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
        # The tensors must fill the file without gaps, so that no byte stays unsealed.
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
        before: "hmac.HMAC | None" = None,
        after: "hmac.HMAC | None" = None,
    ) -> None:
        """Write the file anew with each tensor's bytes changed.

        `before` is updated with the bytes of the old file, `after` with those of the new one.

        Raises:
            ModelError: a file cannot be read or written.
        """
        try:
            with onto.open("wb") as file:
                for old, new in self._parts(change):
                    file.write(new)
                    if before is not None:
                        before.update(old)
                    if after is not None:
                        after.update(new)
        except OSError as error:
            raise ModelError(f"cannot write {str(onto)!r}: {error.strerror}") from error

    def _parts(self, change: Callable[[TensorEntry, Bytes], Bytes]) -> Iterator[tuple[bytes, bytes]]:
        """The old and new bytes of the header, then those of each tensor."""
        yield self.prefix, self.prefix
        for entry, data in self.tensors():
            yield data.tobytes(), change(entry, data).tobytes()


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


Scheme: TypeAlias = Literal["columns", "cipher"]
SCHEMES: Final[tuple[Scheme, ...]] = get_args(Scheme)

SEAL: Final = "seal.json"
SCHEMA: Final = 1
WEIGHTS: Final = "model.safetensors"
INDEX: Final = "model.safetensors.index.json"
KEPT: Final = frozenset({".json", ".txt", ".model", ".jinja", ".md", ".py"})
"""Endings of the files that a sealed folder keeps beside the weights: configuration, tokenizer, notes. All
others, such as weights in another format or the state of a training, stay behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """The content of `seal.json`. It does not reveal the key."""

    scheme: Scheme
    salt: bytes
    check: str
    """Identifies the right key."""
    tags: Mapping[str, str]
    """The tag of each weight file, made with the key from the bytes before sealing."""
    layout: Layout
    """Which axes of which tensors a group's permutation moves; empty for a cipher."""
    outside: frozenset[str]
    """The tensors of the layout that the seal leaves as they are; the same permutation fits them again."""

    def as_json(self) -> dict[str, Any]:
        """The content of the file as JSON values."""
        moved = len(self.layout.tensors) - len(self.outside)
        told = {"groups": len(self.layout.sizes), "tensors": moved, "bits": round(self.layout.bits, 1)}
        return {
            "schema": SCHEMA,
            "scheme": self.scheme,
            "permuted": told if self.scheme == "columns" else None,
            "salt": self.salt.hex(),
            "key_check": self.check,
            "tags": dict(self.tags),
            "outside": sorted(self.outside),
            "layout": self.layout.as_json(),
        }

    @classmethod
    def read(cls, folder: Path) -> "Seal":
        """The seal of a folder.

        Raises:
            ModelError: there is none, or it was not made by a version that this one knows.
        """
        path = folder / SEAL
        if not path.is_file():
            raise ModelError(f"{str(folder)!r} is no sealed checkpoint: it has no {SEAL}")
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["schema"] != SCHEMA or found["scheme"] not in SCHEMES:
                raise ValueError(f"schema {found['schema']!r}, scheme {found['scheme']!r}")
            return cls(
                scheme=found["scheme"],
                salt=bytes.fromhex(found["salt"]),
                check=str(found["key_check"]),
                tags={str(name): str(tag) for name, tag in found["tags"].items()},
                layout=Layout.from_json(found["layout"]),
                outside=frozenset(map(str, found["outside"])),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"{str(path)!r} cannot be used: {error}") from error

    def opened(self, key: Key) -> Salted:
        """The key combined with the salt of this seal.

        Raises:
            ModelError: it is another key.
        """
        salted = key.under(self.salt)
        if not salted.fits(self.check):
            raise ModelError("this is not the key that the checkpoint was sealed with; nothing was written")
        return salted


EMPTY: Final = Layout(sizes=(), tensors={})
"""The layout of a cipher, which permutes nothing."""


def weight_files(folder: Path) -> list[str]:
    """The names of a checkpoint's weight files: one, or the shards that its index lists.

    Raises:
        ModelError: there is none, or the index cannot be used.
    """
    if (folder / WEIGHTS).is_file():
        return [WEIGHTS]
    if not (folder / INDEX).is_file():
        raise ModelError(f"{str(folder)!r} is no checkpoint with {WEIGHTS} or its shards")
    try:
        found = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"]
        names = sorted({str(name) for name in found.values()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{str(folder / INDEX)!r} cannot be used: {error}") from error
    for name in names:
        # The index is a file of somebody else: `../../x` must not be read or written.
        if Path(name).name != name or not (folder / name).is_file():
            raise ModelError(f"{str(folder)!r} has no file {name!r}, which its index lists")
    return names


def seal(
    folder: Path,
    out: Path,
    key: Key,
    *,
    scheme: Scheme,
    layout: Layout = EMPTY,
    outside: frozenset[str] = frozenset(),
) -> Seal:
    """Write a sealed copy of a checkpoint to a new or empty folder.

    Raises:
        ModelError: it is no checkpoint, or sealed already.
        CannotAudit: the folder cannot be written.
    """
    if (folder / SEAL).exists():
        raise ModelError(f"{str(folder)!r} is sealed already")
    files = weight_files(folder)
    salt = secrets.token_bytes(SALT)
    salted = key.under(salt)
    tags: dict[str, str] = {}
    permutations = salted.permutations(layout.sizes)
    with writing(out) as place:
        _keep(folder, place)
        for name in files:
            tagger = salted.tagger()
            change = _changing(scheme, salted, name, layout, outside, permutations)
            TensorFile.read(folder / name).rewrite(place / name, change, before=tagger)
            tags[name] = tagger.hexdigest()
        made = Seal(scheme=scheme, salt=salt, check=salted.check, tags=tags, layout=layout, outside=outside)
        (place / SEAL).write_text(json.dumps(made.as_json()) + "\n", encoding="utf-8")
    return made


def unseal(folder: Path, out: Path, key: Key) -> Seal:
    """Write the checkpoint that was sealed to a new or empty folder, bit for bit.

    Raises:
        ModelError: the folder is not sealed, was sealed with another key, or is damaged; nothing is written.
        CannotAudit: the folder cannot be written.
    """
    found = Seal.read(folder)
    salted = found.opened(key)
    back = inverse(salted.permutations(found.layout.sizes))
    with writing(out) as place:
        _keep(folder, place)
        for name in weight_files(folder):
            tagger = salted.tagger()
            change = _changing(found.scheme, salted, name, found.layout, found.outside, back)
            TensorFile.read(folder / name).rewrite(place / name, change, after=tagger)
            # The tag is of the bytes before sealing, so it finds a damaged file and a wrong result alike.
            if tagger.hexdigest() != found.tags.get(name):
                raise ModelError(f"{str(folder / name)!r} is not as it was sealed; nothing was written")
    return found


def _changing(
    scheme: Scheme,
    salted: Salted,
    file: str,
    layout: Layout,
    outside: frozenset[str],
    permutations: list[Indices],
) -> Callable[[TensorEntry, Bytes], Bytes]:
    """What becomes of each tensor of a file."""
    if scheme == "cipher":
        return lambda entry, data: salted.masked(data, f"{file}/{entry.name}")

    def permuted(entry: TensorEntry, data: Bytes) -> Bytes:
        places = () if entry.name in outside else layout.tensors.get(entry.name, ())
        if not places:
            return data
        array = entry.array(data)
        if tuple(place.size for place in places) != array.shape:
            raise ModelError(f"tensor {entry.name!r} has another shape than its seal says")
        for axis, place in enumerate(places):
            order = indices(place, permutations)
            array = array if order is None else np.take(array, order, axis=axis)
        return np.ascontiguousarray(array).reshape(-1).view(np.uint8)

    return permuted


def _keep(folder: Path, place: Path) -> None:
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix in KEPT and path.name != SEAL:
            shutil.copyfile(path, place / path.name)


def left_behind(folder: Path) -> list[str]:
    """The names in a checkpoint's folder that a sealed copy will not have."""
    weights = weight_files(folder)
    return sorted(
        path.name
        for path in folder.iterdir()
        if path.name not in weights and (path.is_dir() or path.suffix not in KEPT)
    )


@contextmanager
def writing(out: Path) -> Iterator[Path]:
    """A context manager: a folder beside `out` that becomes `out` when all is written, and is gone otherwise.

    Raises:
        CannotAudit: `out` exists and is not an empty folder, or cannot be written.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise CannotAudit(f"{str(out)!r} exists and is not an empty folder; nothing was written")
    # In the same folder, because only inside one file system a rename is a single step.
    place = out.parent / f".{out.name}-{secrets.token_hex(4)}"
    try:
        try:
            place.mkdir(parents=True)
            yield place
            place.replace(out)
        finally:
            shutil.rmtree(place, ignore_errors=True)
    except OSError as error:
        raise CannotAudit(f"cannot write {str(out)!r}: {error.strerror or error}") from error

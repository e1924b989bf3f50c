"""Sealing of checkpoint folders under a key, tensor by tensor, and unsealing bit for bit.

There are two schemes:

- `columns` permutes the hidden columns of the backbone and leaves embeddings and head as they are (Xu et al.
  2024, section 5.3), so the parts fit together only with the key. This is obfuscation: anyone with the
  weights that the checkpoint was fine-tuned from can find the permutation (see `recovery`).
- `cipher` encrypts every byte of every tensor with AES-GCM. Only the key undoes it.

`seal.json` covers every file of the folder: a box in it, encrypted and authenticated with AES-GCM, holds the
digests of all files. Unsealing checks them before it reads anything else, so that a changed, added or missing
file is reported.

Files are rewritten one tensor at a time; every byte but those of the tensors stays as it is. The header is
read here, because the safetensors library gives tensors and not the bytes of the header, and unsealing has to
restore both.

A sealed folder reveals the shapes, the configuration and the vocabulary. With `columns` it also reveals which
axes move together, and contains embeddings and head in the clear.
"""

import hashlib
import json
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import prod
from pathlib import Path
from typing import IO, Any, Final, Literal, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from codeaudit.transforms.columns import SEAL, old_seals
from codeaudit.transforms.columns.keys import SALT, Bytes, DamagedError, Key, Salted
from codeaudit.transforms.columns.layout import Indices, Layout, indices, inverse
from codeaudit.transforms.errors import CannotAudit, ModelError

LONGEST_HEADER: Final = 100_000_000
"""Bytes; the format's own limit."""

_DAMAGED: Final = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What reading a value of another shape raises."""
READ: Final = 4 << 20
"""Bytes of a file that are read at a time."""


class Digest(Protocol):
    """A hash, or an HMAC, of bytes that come one part after the other."""

    def update(self, data: bytes, /) -> None:
        """Take the next part."""
        ...

    def hexdigest(self) -> str:
        """The digest of all parts."""
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
        except _DAMAGED as error:
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
        before: Digest,
        after: Digest,
    ) -> None:
        """Write the file anew with each tensor's bytes changed. Digests the old file and the new one.

        Raises:
            ModelError: a file cannot be read or written.
        """
        try:
            with onto.open("wb") as file:
                for old, new in self._parts(change):
                    file.write(new)
                    before.update(old)
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
    entries = [
        TensorEntry(
            name=name,
            dtype=str(entry["dtype"]),
            shape=tuple(map(int, entry["shape"])),
            start=int(entry["data_offsets"][0]),
            stop=int(entry["data_offsets"][1]),
        )
        for name, entry in header.items()
        if name != "__metadata__"
    ]
    return tuple(sorted(entries, key=lambda entry: (entry.start, entry.stop)))


Scheme: TypeAlias = Literal["columns", "cipher"]
SCHEMES: Final[tuple[Scheme, ...]] = get_args(Scheme)

SCHEMA: Final = 2
OLD_SCHEMA: Final = 1
WEIGHTS: Final = "model.safetensors"
INDEX: Final = "model.safetensors.index.json"
KEPT: Final = frozenset({".json", ".txt", ".model", ".jinja", ".md", ".py"})
"""Endings of the files that a sealed folder keeps beside the weights: configuration, tokenizer, notes. All
others, such as weights in another format or the state of a training, stay behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedContents:
    """What the box of a seal holds: digests of all files but the seal, and the tags of encrypted tensors."""

    sealed: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of each file as it lies in the sealed folder."""
    plain: Mapping[str, str] = field(default_factory=dict)
    """The digest of each file before it was sealed."""
    tags: Mapping[str, bytes] = field(default_factory=dict)
    """By `FILE/TENSOR`; empty for `columns`."""

    def as_bytes(self) -> bytes:
        """The contents in JSON."""
        tags = {name: tag.hex() for name, tag in self.tags.items()}
        return json.dumps({"sealed": dict(self.sealed), "plain": dict(self.plain), "tags": tags}).encode()

    @classmethod
    def read(cls, data: bytes) -> "SealedContents":
        """Of the JSON, which is ours: nobody without the key can make a box."""
        values = json.loads(data)
        tags = {name: bytes.fromhex(tag) for name, tag in values["tags"].items()}
        return cls(sealed=values["sealed"], plain=values["plain"], tags=tags)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """The content of `seal.json`. It does not reveal the key."""

    scheme: Scheme
    salt: bytes
    check: str
    """Identifies the right key."""
    layout: Layout
    """Which axes of which tensors a group's permutation moves; empty for a cipher."""
    outside: frozenset[str]
    """The tensors of the layout that the seal leaves as they are; the same permutation fits them again."""
    box: bytes = b""
    """`SealedContents`, encrypted. It can be opened only beside the head that it was made with."""
    head: bytes = b""
    """Everything but the box, as it stands in the file."""
    old_tags: Mapping[str, str] | None = None
    """The tags of the weight files in a seal of schema 1, which covers nothing else; else `None`."""

    def closed(self, salted: Salted, contents: SealedContents) -> str:
        """The text of the file."""
        summary = {
            "groups": len(self.layout.sizes),
            "tensors": len(self.layout.tensors) - len(self.outside),
            "bits": round(self.layout.bits, 1),
        }
        head = {
            "schema": SCHEMA,
            "scheme": self.scheme,
            "permuted": summary if self.scheme == "columns" else None,
            "salt": self.salt.hex(),
            "key_check": self.check,
            "outside": sorted(self.outside),
            "layout": self.layout.as_json(),
        }
        return _written({**head, "box": salted.closed(contents.as_bytes(), _written(head).encode()).hex()})

    @classmethod
    def read(cls, folder: Path) -> "Seal":
        """The seal of a folder.

        Raises:
            ModelError: there is none, it is damaged, or it was not made by a version that this one knows.
        """
        path = folder / SEAL
        if not path.is_file():
            raise ModelError(f"{str(folder)!r} is no sealed checkpoint: it has no {SEAL}")
        try:
            text = path.read_bytes().decode("utf-8")
            values = json.loads(text)
            if values["schema"] not in (SCHEMA, OLD_SCHEMA) or values["scheme"] not in SCHEMES:
                raise ValueError(f"schema {values['schema']!r}, scheme {values['scheme']!r}")
            old = values["schema"] == OLD_SCHEMA
            # Two texts may mean the same, as `ab` and `AB` for a byte. Only one of them is the seal.
            if not old and (text != _written(values) or bytes.fromhex(values["box"]).hex() != values["box"]):
                raise ValueError("it is not as it was sealed")
            return cls(
                scheme=values["scheme"],
                salt=bytes.fromhex(values["salt"]),
                check=str(values["key_check"]),
                layout=Layout.from_json(values["layout"]),
                outside=frozenset(map(str, values["outside"])),
                box=b"" if old else bytes.fromhex(values.pop("box")),
                head=b"" if old else _written(values).encode(),
                old_tags={str(name): str(tag) for name, tag in values["tags"].items()} if old else None,
            )
        except (OSError, *_DAMAGED) as error:
            raise ModelError(f"{str(path)!r} cannot be used: {error}; nothing was written") from error

    def opened(self, key: Key) -> tuple[Salted, SealedContents]:
        """The key combined with the salt of this seal, and what the seal says of the files.

        Raises:
            ModelError: it is another key, or the seal is damaged.
        """
        old = self.old_tags is not None
        salted = old_seals.under(key, self.salt) if old else key.under(self.salt)
        if not salted.fits(self.check):
            raise ModelError("this is not the key that the checkpoint was sealed with; nothing was written")
        if self.old_tags is not None:
            return salted, SealedContents(plain=self.old_tags)
        try:
            return salted, SealedContents.read(salted.opened(self.box, self.head))
        except DamagedError:
            raise ModelError(f"{SEAL} is not as it was sealed; nothing was written") from None


def _written(values: Mapping[str, Any]) -> str:
    """The one way in which a seal is written."""
    return json.dumps(values) + "\n"


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
        files = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"]
        names = sorted({str(name) for name in files.values()})
    except (OSError, *_DAMAGED) as error:
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
    sealed: dict[str, str] = {}
    plain: dict[str, str] = {}
    tags: dict[str, bytes] = {}
    permutations = salted.permutations(layout.sizes)

    def encrypted(file: str, entry: TensorEntry, data: Bytes) -> Bytes:
        name = f"{file}/{entry.name}"
        ciphertext, tags[name] = salted.encrypted(data, name)
        return ciphertext

    with writing(out) as place:
        for name in _other_files(folder, files):
            sealed[name] = plain[name] = _copied(folder / name, place / name)
        for name in files:
            change = (
                partial(encrypted, name) if scheme == "cipher" else _moving(layout, outside, permutations)
            )
            before, after = hashlib.sha256(), hashlib.sha256()
            TensorFile.read(folder / name).rewrite(place / name, change, before=before, after=after)
            plain[name], sealed[name] = before.hexdigest(), after.hexdigest()
        made = Seal(scheme=scheme, salt=salt, check=salted.check, layout=layout, outside=outside)
        text = made.closed(salted, SealedContents(sealed=sealed, plain=plain, tags=tags))
        (place / SEAL).write_text(text, encoding="utf-8")
    return made


def unseal(folder: Path, out: Path, key: Key) -> Seal:
    """Write the checkpoint that was sealed to a new or empty folder, bit for bit.

    Raises:
        ModelError: the folder is not sealed, was sealed with another key, or is not as it was sealed; nothing
            is written.
        CannotAudit: the folder cannot be written.
    """
    stored = Seal.read(folder)
    salted, contents = stored.opened(key)
    # Before any other file is interpreted: its header, its index and its numbers may be somebody else's.
    if stored.old_tags is None:
        _check_files(folder, contents.sealed)
    back = inverse(salted.permutations(stored.layout.sizes))
    files = weight_files(folder)

    def decrypted(file: str, entry: TensorEntry, data: Bytes) -> Bytes:
        name = f"{file}/{entry.name}"
        try:
            return salted.decrypted(data, name, contents.tags.get(name, b""))
        except DamagedError:
            raise _not_as_sealed(folder / file) from None

    with writing(out) as place:
        for name in _other_files(folder, files):
            copied = _copied(folder / name, place / name)
            if stored.old_tags is None and copied != contents.plain.get(name):
                raise _not_as_sealed(folder / name)
        for name in files:
            change = (
                partial(decrypted, name)
                if stored.scheme == "cipher"
                else _moving(stored.layout, stored.outside, back)
            )
            after: Digest = salted.tagger() if isinstance(salted, old_seals.OldSalted) else hashlib.sha256()
            TensorFile.read(folder / name).rewrite(place / name, change, before=hashlib.sha256(), after=after)
            # The digest of the plain bytes also detects a wrong result.
            if after.hexdigest() != contents.plain.get(name):
                raise _not_as_sealed(folder / name)
    return stored


def _check_files(folder: Path, digests: Mapping[str, str]) -> None:
    """Check that a sealed folder holds the files that were sealed, each as it was, and nothing else.

    Raises:
        ModelError: it does not.
    """
    present = {path.name for path in folder.iterdir()} - {SEAL}
    for name in sorted(present - digests.keys()):
        raise ModelError(f"{str(folder / name)!r} was not there when the folder was sealed; remove it")
    for name, digest in digests.items():
        if name not in present:
            raise ModelError(f"{str(folder)!r} lacks the file {name!r} that was sealed; nothing was written")
        # Only files are read: a pipe of that name would never end.
        if not (folder / name).is_file() or _digest(folder / name) != digest:
            raise _not_as_sealed(folder / name)


def _not_as_sealed(path: Path) -> ModelError:
    return ModelError(f"{str(path)!r} is not as it was sealed; nothing was written")


def _moving(
    layout: Layout, outside: frozenset[str], permutations: list[Indices]
) -> Callable[[TensorEntry, Bytes], Bytes]:
    """What becomes of each tensor with `columns`."""

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


def _other_files(folder: Path, weights: list[str]) -> list[str]:
    """The names of the files beside the weights that a sealed folder has, too."""
    return sorted(
        path.name
        for path in folder.iterdir()
        if path.is_file() and path.suffix in KEPT and path.name not in (SEAL, *weights)
    )


def _parts(path: Path) -> Iterator[bytes]:
    """The bytes of a file.

    Raises:
        ModelError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            while part := file.read(READ):
                yield part
    except OSError as error:
        raise ModelError(f"cannot read {str(path)!r}: {error.strerror}") from error


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    for part in _parts(path):
        digest.update(part)
    return digest.hexdigest()


def _copied(path: Path, onto: Path) -> str:
    """Copy a file; the digest of what was copied."""
    digest = hashlib.sha256()
    with onto.open("wb") as file:
        for part in _parts(path):
            digest.update(part)
            file.write(part)
    return digest.hexdigest()


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

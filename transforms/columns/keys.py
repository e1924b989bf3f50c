"""Secret keys of sealed checkpoints: the key file, the derived secrets, and the check of a key.

Every secret is derived with HKDF-SHA-256 from the key, a salt and the name of its use. The salt is new for
each sealing, so two checkpoints under one key share no permutation and no encryption key. The derived check
shows whether a key is the right one. It does not help to find the key, because keys are 256 random bits.
"""

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from codeaudit.transforms.columns.layout import Indices
from codeaudit.transforms.errors import ModelError

HEAD: Final = "codeaudit-seal-key-1:"
LENGTH: Final = 32
"""Bytes of a key."""
SALT: Final = 16
"""Bytes of a salt."""
CHUNK: Final = 4 << 20
"""Bytes that are encrypted at a time."""
TAG: Final = 16
"""Bytes of the tag of a chunk."""

Bytes = npt.NDArray[np.uint8]


class DamagedError(Exception):
    """Something encrypted or tagged is not as it was made, or was made with another key."""


@dataclass(frozen=True, slots=True)
class Key:
    """A secret key. Its representation never contains the secret."""

    secret: bytes = field(repr=False)

    @classmethod
    def new(cls) -> "Key":
        """A new random key."""
        return cls(secrets.token_bytes(LENGTH))

    @classmethod
    def read(cls, path: Path) -> "Key":
        """The key in a file.

        Raises:
            ModelError: the file cannot be read or holds no key.
        """
        try:
            text = path.read_text(encoding="utf-8-sig").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "not text"
            raise ModelError(f"cannot read the key {str(path)!r}: {why}") from error
        digits = text.removeprefix(HEAD)
        if digits == text or len(digits) != 2 * LENGTH or set(digits) - set("0123456789abcdef"):
            raise ModelError(f"{str(path)!r} is no key of codeaudit seal")
        return cls(bytes.fromhex(digits))

    def write(self, path: Path) -> None:
        """Write it to a new file that only its owner can read.

        Raises:
            ModelError: the file exists or cannot be written.
        """
        try:
            # Never overwrites: a lost key loses every checkpoint that was sealed with it. Made with mode 600,
            # because a later chmod would leave a moment in which others can read it.
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise ModelError(f"cannot write the key {str(path)!r}: {error.strerror}") from error
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{HEAD}{self.secret.hex()}\n")
            file.flush()
            os.fsync(handle)  # the key is on the disk before anything is sealed with it

    def under(self, salt: bytes) -> "Salted":
        """The key combined with the salt of one checkpoint."""
        return Salted(self.secret, salt)


@dataclass(frozen=True, slots=True)
class Salted:
    """A key combined with the salt of one checkpoint."""

    secret: bytes = field(repr=False)
    salt: bytes

    @property
    def check(self) -> str:
        """The check that the seal stores, to recognise a wrong key."""
        return self._derived("check").hex()

    def fits(self, check: str) -> bool:
        """Whether the check of a seal was made with this key."""
        # In constant time, so that the time does not reveal how many characters are right.
        return hmac.compare_digest(self.check.encode(), check.encode())

    def permutations(self, sizes: Sequence[int]) -> list[Indices]:
        """A permutation of each group: the sorting order of 64-bit words from a keystream of the group."""
        # A sort needs no rejection of draws, as a shuffle would. Among n words two are equal with a chance of
        # about n² / 2⁶⁵; then the stable sort decides.
        orders: list[Indices] = []
        for number, size in enumerate(sizes):
            stream = hashlib.shake_256(self._derived(f"group {number}")).digest(8 * size)
            orders.append(np.argsort(np.frombuffer(stream, dtype="<u8"), kind="stable").astype(np.int64))
        return orders

    def encrypted(self, data: Bytes, name: str) -> tuple[Bytes, bytes]:
        """The bytes in AES-GCM under a key of this name, as many as before, and the tags of their chunks.

        A name must not be used twice.
        """
        cipher, out, tags = AESGCM(self._derived(f"cipher {name}")), np.empty_like(data), bytearray()
        for number, start in enumerate(range(0, len(data), CHUNK)):
            # A number as the nonce, since no other text is encrypted under this key.
            chunk = cipher.encrypt(_nonce(number), data[start : start + CHUNK].tobytes(), None)
            out[start : start + CHUNK] = np.frombuffer(chunk[:-TAG], dtype=np.uint8)
            tags += chunk[-TAG:]
        return out, bytes(tags)

    def decrypted(self, data: Bytes, name: str, tags: bytes) -> Bytes:
        """What `encrypted` was given.

        Raises:
            DamagedError: a byte, a tag or the name is another one.
        """
        cipher, out = AESGCM(self._derived(f"cipher {name}")), np.empty_like(data)
        for number, start in enumerate(range(0, len(data), CHUNK)):
            tag = tags[number * TAG : (number + 1) * TAG]
            with _telling_damage():
                chunk = cipher.decrypt(_nonce(number), data[start : start + CHUNK].tobytes() + tag, None)
            out[start : start + CHUNK] = np.frombuffer(chunk, dtype=np.uint8)
        return out

    def closed(self, text: bytes, beside: bytes) -> bytes:
        """The text in AES-GCM; `beside` is needed to open it. Can be used once, as the salt can."""
        return AESGCM(self._derived("box")).encrypt(_nonce(0), text, beside)

    def opened(self, box: bytes, beside: bytes) -> bytes:
        """What `closed` was given.

        Raises:
            DamagedError: a byte of the box, or what is beside it, is another one.
        """
        with _telling_damage():
            return AESGCM(self._derived("box")).decrypt(_nonce(0), box, beside)

    def _derived(self, use: str) -> bytes:
        info = f"codeaudit seal 2 {use}".encode()
        return HKDF(algorithm=SHA256(), length=LENGTH, salt=self.salt, info=info).derive(self.secret)


def _nonce(number: int) -> bytes:
    return number.to_bytes(12, "big")


@contextmanager
def _telling_damage() -> Iterator[None]:
    try:
        yield
    except (InvalidTag, ValueError) as error:  # a ValueError: too short for a tag
        raise DamagedError from error

"""Secret keys of sealed checkpoints: the key file, the derived secrets, and the check of a key.

Everything is derived with HMAC-SHA-256 from the key and a salt. The salt is new for each sealing, so two
checkpoints under one key share no permutation and no keystream. The derived check tells whether a key is the
right one. It does not help to find the key, because keys are 256 random bits.
"""

import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from codeaudit.transforms.columns.layout import Indices
from codeaudit.transforms.errors import ModelError

HEAD: Final = "codeaudit-seal-key-1:"
LENGTH: Final = 32
"""Bytes of a key."""
SALT: Final = 16
"""Bytes of a salt."""
BLOCK: Final = 1 << 20
"""The bytes of keystream that are computed at a time."""


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
            text = path.read_text(encoding="ascii").strip()
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
        return Salted(hmac.digest(self.secret, b"salt" + salt, "sha256"))


@dataclass(frozen=True, slots=True)
class Salted:
    """A key combined with the salt of one checkpoint."""

    secret: bytes = field(repr=False)

    @property
    def check(self) -> str:
        """The check that the seal stores, to recognise a wrong key."""
        return self._derived("check").hex()

    def fits(self, check: str) -> bool:
        """Whether the check of a seal was made with this key."""
        # In constant time, so that the time does not tell how many characters are right.
        return hmac.compare_digest(self.check.encode(), check.encode())

    def permutations(self, sizes: Sequence[int]) -> list[Indices]:
        """A permutation of each group: the sorting order of 64-bit words from a keystream of the group."""
        # A sort needs no rejection of draws, as a shuffle would. Among n words two are equal with a chance of
        # about n² / 2⁶⁵; then the stable sort decides.
        found: list[Indices] = []
        for number, size in enumerate(sizes):
            stream = hashlib.shake_256(self._derived(f"group {number}")).digest(8 * size)
            found.append(np.argsort(np.frombuffer(stream, dtype="<u8"), kind="stable").astype(np.int64))
        return found

    def masked(self, data: npt.NDArray[np.uint8], name: str) -> npt.NDArray[np.uint8]:
        """The bytes XOR the keystream of the name (SHAKE-256 in counter mode); twice restores them."""
        masked = np.empty_like(data)
        secret = self._derived(f"stream {name}")
        for number, start in enumerate(range(0, len(data), BLOCK)):
            part = data[start : start + BLOCK]
            # Blocks, because the keystream of a whole tensor would need its memory again.
            stream = hashlib.shake_256(secret + number.to_bytes(8, "little")).digest(len(part))
            masked[start : start + BLOCK] = part ^ np.frombuffer(stream, dtype=np.uint8)
        return masked

    def tagger(self) -> "hmac.HMAC":
        """A new HMAC for the tag of a sealed file, which detects damage."""
        return hmac.new(self._derived("tag"), digestmod="sha256")

    def _derived(self, use: str) -> bytes:
        return hmac.digest(self.secret, use.encode(), "sha256")

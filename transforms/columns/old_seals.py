"""Opens seals of schema 1, which were made before `seal.json` covered every file. No new ones are made.

Their secrets come from HMAC-SHA-256, their cipher is SHAKE-256 in counter mode, and the tags of their weight
files are HMACs of the bytes before sealing. Configuration and tokenizer have no tag.
"""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Final

import numpy as np

from codeaudit.transforms.columns.keys import Bytes, Key, Salted

BLOCK: Final = 1 << 20
"""Bytes of keystream that are computed at a time."""


@dataclass(frozen=True, slots=True)
class OldSalted(Salted):
    """A key combined with the salt of a seal of schema 1."""

    def decrypted(self, data: Bytes, name: str, tags: bytes) -> Bytes:
        """The bytes XOR the keystream of the name. Without `tags`, so it does not detect damage."""
        plain = np.empty_like(data)
        secret = self._derived(f"stream {name}")
        for number, start in enumerate(range(0, len(data), BLOCK)):
            part = data[start : start + BLOCK]
            stream = hashlib.shake_256(secret + number.to_bytes(8, "little")).digest(len(part))
            plain[start : start + BLOCK] = part ^ np.frombuffer(stream, dtype=np.uint8)
        return plain

    def tagger(self) -> hmac.HMAC:
        """A new HMAC for the tag of a weight file, which detects damage."""
        return hmac.new(self._derived("tag"), digestmod="sha256")

    def _derived(self, use: str) -> bytes:
        salted = hmac.digest(self.secret, b"salt" + self.salt, "sha256")
        return hmac.digest(salted, use.encode(), "sha256")


def under(key: Key, salt: bytes) -> OldSalted:
    """The key combined with the salt of a seal of schema 1."""
    return OldSalted(key.secret, salt)

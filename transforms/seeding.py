"""Random streams that depend on what is perturbed, never on the order in which it happens."""

import hashlib
from random import Random


def stream(seed: int, *names: str | int) -> Random:
    """A generator derived from the seed and the names, such as sample id, transform and variant.

    Two calls with equal arguments give equal streams on every machine; different arguments give
    independent ones (SHA-256 of the length-prefixed names).
    """
    digest = hashlib.sha256(str(seed).encode())
    for name in names:
        part = str(name).encode("utf-8", "surrogatepass")
        digest.update(len(part).to_bytes(4, "big") + part)
    return Random(int.from_bytes(digest.digest()[:16], "big"))

"""Random streams that depend on what is perturbed and never on the order in which it happens.

So a run on 5 of 1,000 samples, with any number of workers, makes the same variants of these 5.
"""

import hashlib
from random import Random


def stream(seed: int, *names: str | int) -> Random:
    """A random generator derived from a seed and names: the sample's id, the transform, the variant.

    Equal arguments give equal streams on every machine; different arguments give independent streams. The
    state is the SHA-256 of the length-prefixed names.
    """
    parts = [str(name).encode("utf-8", "surrogatepass") for name in names]
    text = str(seed).encode() + b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return Random(int.from_bytes(hashlib.sha256(text).digest()[:16], "big"))

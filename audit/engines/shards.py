"""Shards: a run in N parts, each of which is a run with a folder of its own.

The id of a sample decides its bucket, and the bucket its shard. There are always 240 buckets. Repeated
queries are asked in the company of their bucket only, so that the noise in all shards together is that
of one run. That needs whole buckets in each shard, so N divides 240.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.grammar import counted

BUCKETS: Final = 240
"""It has 20 divisors, among them every number up to 6, and 8, 10, 12, 16, 20, 24, 30, 40, 48, 60, 80."""


def bucket_of(sample: str) -> int:
    """The bucket of the sample with this id: equal on every machine."""
    digest = hashlib.sha256(f"bucket:{sample}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % BUCKETS


@dataclass(frozen=True, slots=True)
class Shard:
    """One part of a run. The default is the only part: the whole run."""

    number: int = 1
    """From 1."""
    of: int = 1

    def has(self, sample: str) -> bool:
        """Whether the sample with this id belongs to this part."""
        return bucket_of(sample) % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


WHOLE: Final = Shard()
"""All samples."""


def read_shard(text: str) -> Shard:
    """The shard that `I/N` names.

    Raises:
        UsageError: it is not two whole numbers, I is not from 1 to N, or N does not divide 240.
    """
    match = re.fullmatch(r"([0-9]{1,3})/([0-9]{1,3})", text.strip())
    if match is None:
        raise UsageError(f"shard {text!r} must be I/N, such as 3/16: part 3 of 16")
    number, of = int(match[1]), int(match[2])
    if of == 0 or BUCKETS % of:
        counts = [count for count in range(1, BUCKETS + 1) if BUCKETS % count == 0]
        near = min(counts, key=lambda count: (abs(count - of), count))
        raise UsageError(
            f"shard {text!r}: {of} does not divide {BUCKETS}; take {counted(near, 'part')}, for example"
        )
    if not 1 <= number <= of:
        raise UsageError(f"shard {text!r}: part {number} of {of} does not exist; parts are 1 to {of}")
    return Shard(number, of)

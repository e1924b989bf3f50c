"""The corpus of generated pairs: is one expression the derivative of another?"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from typing_extensions import override

from codeaudit.audit.corpora.records import BaseCorpus, CorpusResources, raw_sample
from codeaudit.transforms.algebra import ALGEBRA
from codeaudit.transforms.algebra.generate import SIZES, SPLITS, Split, examples
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.records import Sample
from codeaudit.transforms.registration import unknown

MOST = 10_000_000
"""Largest number of pairs in a SPEC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedPairs(BaseCorpus):
    """The first `size` pairs of one split of the generated data set."""

    spec: str
    split: Split
    size: int

    @property
    def language(self) -> str:
        """The language of all samples."""
        return ALGEBRA.name

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """The label is `true` or `false`, and the line is the pair's number from 1."""
        for number, example in enumerate(examples(self.split, self.size), start=1):
            label = "true" if example.label else "false"
            path = f"{ALGEBRA.name}:{self.split}"
            yield raw_sample(example.source, language=ALGEBRA.name, label=label, path=path, line=number)


def generated(spec: str, rest: str, resources: CorpusResources) -> GeneratedPairs:
    """The corpus `algebra:SPLIT` or `algebra:SPLIT:SIZE`; without a size as many pairs as in the paper.

    Raises:
        CorpusError: there is no such split, or the size is not a number from 1 to `MOST`.
    """
    name, colon, size = rest.partition(":")
    if not name:
        raise CorpusError(f"corpus {spec!r} names no split; write {ALGEBRA.name}:test")
    split = next((split for split in SPLITS if split == name), None)
    if split is None:
        raise CorpusError(unknown(f"split of {ALGEBRA.name!r}", name, list(SPLITS)))
    if not colon:
        return GeneratedPairs(spec=spec, split=split, size=SIZES[split])
    # `int` also reads " 7", "1_000" and Arabic digits, and takes long for thousands of digits.
    if not (size.isascii() and size.isdecimal() and len(size) < 9 and 0 < int(size) <= MOST):
        raise CorpusError(f"corpus {spec!r} needs a size from 1 to {MOST:,} after the split")
    return GeneratedPairs(spec=spec, split=split, size=int(size))

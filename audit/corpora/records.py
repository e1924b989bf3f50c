"""What a corpus is: a name and a stream of raw samples that can be read again."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Protocol

from codeaudit.transforms.records import Origin, Sample


class Corpus(Protocol):
    """Raw samples from one place. A raw sample's label is what the place says: a name, a class, nothing."""

    @property
    def spec(self) -> str:
        """As the user named it."""
        ...

    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """Every raw sample once, in any order, holding one file or one row in memory.

        What had to be left out is counted in `skipped` by reason.

        Raises:
            CorpusError: the place as a whole cannot be read.
            SourceError: the one file that was named cannot be used.
        """
        ...


def raw_sample(
    source: str,
    *,
    language: str,
    label: str | float | None,
    path: str,
    line: int,
    tests: str | None = None,
    context: str = "",
    group: str = "",
) -> Sample:
    """A sample whose id is derived from its language and text alone."""
    digest = hashlib.sha256(f"{language}\0{source}".encode("utf-8", "surrogatepass")).hexdigest()
    shown = path.encode("utf-8", "replace").decode()  # a file's name may hold bytes that are no text
    return Sample(
        id=digest[:16],
        language=language,
        source=source,
        label=label,
        origin=Origin(path=shown, line=line),
        tests=tests,
        context=context,
        group=group,
    )

"""`hfds:NAME[:CONFIG]@SPLIT`: a data set of the Hugging Face hub, or a local copy of one, as a table.

Rows are read by the `datasets` library, which keeps what it downloads in its own cache. Code of a data set is
never executed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from typing_extensions import override

from codeaudit.audit.corpora.records import BaseCorpus, CorpusResources, LabelColumn
from codeaudit.audit.corpora.tables import Row, samples_of
from codeaudit.audit.models.endpoints.proxies import wrong_proxy
from codeaudit.transforms.errors import CorpusError, UsageError
from codeaudit.transforms.records import Sample
from codeaudit.transforms.registration import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class HubTable(BaseCorpus):
    """The rows of one split of a data set."""

    spec: str
    name: str
    """Its name on the hub, or a folder in the hub's layout."""
    config: str | None
    split: str
    column: LabelColumn | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """The rows as samples.

        Raises:
            ImportError: the library `datasets` is not installed.
        """
        yield from samples_of(
            self.rows(skipped),
            place=self.name,
            split=None,
            column=self.column,
            columns=self.columns,
            skipped=skipped,
        )

    def rows(self, skipped: Counter[str]) -> Iterator[tuple[int, Row]]:
        """The rows with their numbers; every row of a data set can be read."""
        import datasets

        datasets.disable_progress_bars()
        if self.name.startswith((".", "/", "~")) and not Path(self.name).expanduser().is_dir():
            raise CorpusError(f"no data set {self.name!r}: no such folder")
        try:
            table = datasets.load_dataset(self.name, self.config, split=self.split)
        except (datasets.exceptions.DatasetsError, ValueError, OSError, RuntimeError) as error:
            why = wrong_proxy("https://huggingface.co") or one_line(error)[:400]
            raise CorpusError(f"cannot load the data set {self.spec!r}: {why}") from error
        yield from enumerate(table, start=1)


def data_set(spec: str, rest: str, resources: CorpusResources) -> HubTable:
    """A data set of the Hugging Face hub.

    Raises:
        UsageError: the SPEC names no data set or no split.
    """
    front, at, split = rest.rpartition("@")
    name, _, config = front.partition(":")
    if not (at and name and split):
        raise UsageError(f"corpus {spec!r} must be hfds:NAME@SPLIT or hfds:NAME:CONFIG@SPLIT")
    return HubTable(spec=spec, name=name, config=config or None, split=split, columns=resources.columns)

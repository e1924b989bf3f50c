"""Rows of tables as a task asks about them."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from codeaudit.audit.corpora.records import CorpusResources
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.tasks.output_prediction import Outputs
from codeaudit.transforms.records import Sample


def prepared_row(source: Outputs, folder: Path, row: Mapping[str, object]) -> Sample | str:
    """The only sample of a table with one row, or why it is no example."""
    path = folder / "rows.jsonl"
    path.write_text(json.dumps(dict(row)) + "\n", "utf-8")
    (raw,) = corpus(str(path), None, CorpusResources()).read(Counter())
    return source.prepared(raw)

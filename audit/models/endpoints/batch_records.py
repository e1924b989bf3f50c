"""What is known of the batches of requests that were sent, in files that outlive a run."""

import hashlib
import json
import os
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from codeaudit.audit.checks import load_json
from codeaudit.audit.prompts import Prompt
from codeaudit.audit.records import Query, Repeat
from codeaudit.transforms.errors import RunError

OLDEST: Final = 30 * 86_400
"""Seconds after which a record whose answers were taken is deleted; vendors keep answers no longer."""


@dataclass(slots=True, kw_only=True)
class BatchRecord:
    """A batch that was sent, or was about to be."""

    key: str
    names: list[str]
    """The names of its requests."""
    made: int = field(default_factory=time.time_ns)
    id: str = ""
    """Empty until the vendor has told its number."""
    lost: list[str] = field(default_factory=list)
    """Names of requests that it did not answer, and that are sent again in another batch."""
    taken_by: str = ""
    """The run that took its answers; empty before."""
    counted: list[str] = field(default_factory=list)
    """Names of requests whose cost is counted."""


def _record(value: object) -> BatchRecord:
    """A record from its JSON.

    Raises:
        TypeError, ValueError: it is none.
    """
    if not isinstance(value, dict):
        raise TypeError("no object")
    record = BatchRecord(**value)
    texts = (record.key, record.id, record.taken_by, *record.names, *record.lost, *record.counted)
    if not (all(isinstance(text, str) for text in texts) and isinstance(record.made, int)):
        raise TypeError("no record of a batch")
    return record


class BatchRecords:
    """The batches of this user: a folder with a file for each, which is replaced as a whole.

    All runs share it, as they share answers. A repeated query measures noise, so that the answer to it
    belongs to the run that took it first.
    """

    def __init__(self, folder: Path, run: str) -> None:
        self._folder = folder
        self.run = run

    def read(self) -> list[BatchRecord]:
        """All records, the oldest first. Old ones that nobody needs are deleted.

        Raises:
            RunError: one is damaged.
        """
        records = []
        for path in self._folder.glob("*.json") if self._folder.is_dir() else ():
            try:
                record = _record(load_json(path.read_bytes()))
            except FileNotFoundError:  # another run has just dropped it
                continue
            except (OSError, TypeError, ValueError) as error:
                raise RunError(
                    f"{str(path)!r} is damaged: it says which requests wait in a batch; look at the batches "
                    "of your account before you delete it"
                ) from error
            if record.taken_by and time.time_ns() - record.made > OLDEST * 10**9:
                self.drop(record)
            else:
                records.append(record)
        return sorted(records, key=lambda record: record.made)

    def write(self, record: BatchRecord) -> None:
        """Write a record, so that it survives whatever comes next.

        Raises:
            RunError: it cannot be written; nothing may be sent.
        """
        path = self.path(record)
        new = path.with_suffix(".new")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with new.open("wb") as file:
                file.write(json.dumps(asdict(record)).encode())
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        except OSError as error:
            raise RunError(
                f"cannot write {str(path)!r}: {error.strerror or error}; nothing more is sent"
            ) from error

    def drop(self, record: BatchRecord) -> None:
        """Forget a batch that will give no answers."""
        self.path(record).unlink(missing_ok=True)

    def holds(self, record: BatchRecord, query: Query, name: str) -> bool:
        """Whether a batch has, or will have, an answer to a query that this run may use."""
        return name not in record.lost and not (
            isinstance(query, Repeat) and record.taken_by not in ("", self.run)
        )

    def path(self, record: BatchRecord) -> Path:
        """The file of a record."""
        return self._folder / f"{record.key}.json"


def request_name(fingerprint: str, prompt: Prompt, query: Query, number: int) -> str:
    """The name of a request: equal for equal requests of one model only."""
    repeat = [query.bucket, query.number] if isinstance(query, Repeat) else None
    parts = [query.task, query.language, query.source, query.labels, query.words, repeat, number]
    beside = [query.beside] if query.beside else []  # without it the names stay as they were
    # A plug-in's prompt is not part of the fingerprint.
    text = json.dumps([fingerprint, prompt.digest, *parts, *beside])
    return hashlib.sha256(text.encode()).hexdigest()[:40]

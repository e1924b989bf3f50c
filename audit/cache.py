"""Answers that were had before, by what decides them. SQLite with JSON values: no pickle, safe to kill.

The key is a hash of the model's fingerprint (weights, tokenizer, decoding, precision: all that decides an
answer) and of the query. Two checkpoints of one architecture never share an entry.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from codeaudit.audit.interface import Task
from codeaudit.audit.records import Failed, Predicted, Prediction, Query, answer_from_json
from codeaudit.audit.registry import TASKS
from codeaudit.transforms.errors import RunError

VOLATILE: Final = "volatile:"
"""How a fingerprint begins that cannot see all that decides an answer; good within one run only."""

_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS answers ("
    "key BLOB PRIMARY KEY, run TEXT NOT NULL, answer TEXT NOT NULL) WITHOUT ROWID"
)
_CHUNK: Final = 500


def default_folder() -> Path:
    """Where answers are kept between runs: `$XDG_CACHE_HOME/codeaudit`, else `~/.cache/codeaudit`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "codeaudit"


class AnswerCache:
    """A file of answers, shared by runs. What is remembered survives `kill -9` from that moment on."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            RunError: it cannot be written, or is no cache.
        """
        self._path = path
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=60, isolation_level=None)
            try:
                self._connection.execute("PRAGMA journal_mode=WAL")
                self._connection.execute("PRAGMA synchronous=NORMAL")
                self._connection.execute(_SCHEMA)
            except sqlite3.Error:
                self._connection.close()
                raise

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def fetch(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """The stored texts of those keys that exist."""
        found: dict[bytes, str] = {}
        with self._told():
            for start in range(0, len(keys), _CHUNK):
                chunk = keys[start : start + _CHUNK]
                query = f"SELECT key, answer FROM answers WHERE key IN ({','.join('?' * len(chunk))})"
                found.update(self._connection.execute(query, chunk))
        return found

    def store(self, texts: Mapping[bytes, str], *, run: str) -> None:
        """Keep texts, all or none. Those of a named run can be forgotten together."""
        rows = [(key, run, text) for key, text in texts.items()]
        with self._told():
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", rows)
            self._connection.execute("COMMIT")

    def forget(self, run: str) -> None:
        """Drop what only that run may use."""
        with self._told():
            self._connection.execute("DELETE FROM answers WHERE run = ?", (run,))

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            place = str(self._path)
            raise RunError(f"cannot use the cache {place!r}: {error}; choose another with --cache") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMemory:
    """One model's share of a cache during one run; what `codeaudit.audit.run` calls a memory."""

    cache: AnswerCache
    fingerprint: str
    run: str
    """Names the run: repeated queries and volatile models are remembered for it alone."""

    def recall(self, queries: Sequence[Query], *, again: bool) -> dict[Query, Prediction]:
        """As `codeaudit.audit.run.AnswerMemory.recall`."""
        keys = {self._key(query, again=again): query for query in queries}
        return {keys[key]: decode(text) for key, text in self.cache.fetch(list(keys)).items()}

    def remember(self, answers: Mapping[Query, Prediction], *, again: bool) -> None:
        """As `codeaudit.audit.run.AnswerMemory.remember`."""
        if answers:
            texts = {self._key(query, again=again): encode(one) for query, one in answers.items()}
            self.cache.store(texts, run=self._scope(again=again))

    def _scope(self, *, again: bool) -> str:
        return self.run if again or self.fingerprint.startswith(VOLATILE) else ""

    def _key(self, query: Query, *, again: bool) -> bytes:
        digest = hashlib.sha256(b"codeaudit-1")
        scope = self._scope(again=again) + ("again" if again else "")
        for part in (self.fingerprint, scope, query.task, query.language, query.source):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
        return digest.digest()


def answers_scope(fingerprint: str, task: Task) -> str:
    """What the cache keeps a model's answers to a task under; of built-in tasks, the model's fingerprint.

    Answers are remembered in the task's normal form, and the fingerprint does not cover a plug-in's prompt.
    So the task's version is part of the scope. Without a version the answers are good within one run only.
    """
    if task.name in TASKS.built_in:
        return fingerprint
    if not task.version:
        return fingerprint if fingerprint.startswith(VOLATILE) else f"{VOLATILE}{fingerprint}"
    return f"{fingerprint}&{task.version}&{task.prompt.digest if task.prompt else ''}"


class NoMemory:
    """Remembers nothing: every query is asked."""

    def recall(self, queries: Sequence[Query], *, again: bool) -> dict[Query, Prediction]:
        """Nothing."""
        return {}

    def remember(self, answers: Mapping[Query, Prediction], *, again: bool) -> None:
        """Nothing."""


def encode(predicted: Prediction) -> str:
    """A prediction as JSON; floats come back bit for bit."""
    if isinstance(predicted, Failed):
        return json.dumps({"failed": predicted.reason})
    value = {"answer": predicted.answer, "scores": predicted.scores, "margin": predicted.margin}
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def decode(text: str) -> Prediction:
    """A prediction from its JSON."""
    value = json.loads(text)
    if "failed" in value:
        return Failed(reason=str(value["failed"]))
    scores = tuple((str(label), float(score)) for label, score in value["scores"])
    return Predicted(answer=answer_from_json(value["answer"]), scores=scores, margin=value["margin"])

"""The cache of answers: an SQLite file with JSON values (no pickle), shared by runs.

The key is a hash of the query and of the model's fingerprint, which covers everything that decides an answer:
weights, tokenizer, decoding, precision. Two checkpoints of one architecture never share an entry. A killed
process loses no stored answer.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from codeaudit.audit.checks import DAMAGED, is_number, load_json, shown
from codeaudit.audit.interface import Task
from codeaudit.audit.records import (
    Failed,
    NetworkQuery,
    Predicted,
    Prediction,
    Query,
    Repeat,
    answer_from_json,
    draws_from_json,
    failed_from_json,
    replies_from_json,
    scores_from_json,
)
from codeaudit.audit.registry import TASKS
from codeaudit.transforms.errors import RunError

VOLATILE: Final = "volatile:"
"""Prefix of a fingerprint that does not cover everything that decides an answer: valid within one run."""

FILE_FACTS: Final = "facts"
"""The folder of the cache with what the texts of files show."""
_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS answers ("
    "key BLOB PRIMARY KEY, run TEXT NOT NULL, answer TEXT NOT NULL) WITHOUT ROWID"
)
_CHUNK: Final = 500
"""Keys in one query; SQLite before 3.32 allows 999 parameters."""


def default_folder() -> Path:
    """The user's cache folder: `$CODEAUDIT_CACHE`, `$XDG_CACHE_HOME/codeaudit`, or `~/.cache/codeaudit`.

    Everything that keeps results asks here, so that one variable moves all of them.
    """
    folder = os.environ.get("CODEAUDIT_CACHE")
    if folder:
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "codeaudit"


class AnswerCache:
    """A file of answers, shared by runs. A stored answer survives `kill -9`."""

    def __init__(self, path: Path) -> None:
        """Open the file, or create it.

        Raises:
            RunError: it cannot be written, or is no cache.
        """
        self.path = path
        """The file."""
        self.stored = 0
        """Number of texts that were stored since it was opened."""
        with self._reporting():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=60, isolation_level=None)
            try:
                # A write-ahead log: several runs may read while one writes, and `kill -9` leaves no torn
                # page.
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
        """The stored texts, by key; unknown keys are left out."""
        texts: dict[bytes, str] = {}
        with self._reporting():
            for start in range(0, len(keys), _CHUNK):
                chunk = keys[start : start + _CHUNK]
                query = f"SELECT key, answer FROM answers WHERE key IN ({','.join('?' * len(chunk))})"
                texts.update(self._connection.execute(query, chunk))
        return texts

    def store(self, texts: Mapping[bytes, str], *, run: str) -> None:
        """Store texts, all or none. With a run's name they belong to that run, until `forget`."""
        rows = [(key, run, text) for key, text in texts.items()]
        with self._reporting():
            # Also after Ctrl-C, because more may be stored then. A transaction left open would refuse it.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", rows)
            self._connection.execute("COMMIT")
        self.stored += len(rows)

    def forget(self, run: str) -> None:
        """Delete the answers that only this run may use."""
        with self._reporting():
            self._connection.execute("DELETE FROM answers WHERE run = ?", (run,))

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            place = str(self.path)
            raise RunError(f"cannot use the cache {place!r}: {error}; choose another with --cache") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMemory:
    """The answers of one model in a cache during one run: an `AnswerMemory` of `codeaudit.audit.run`."""

    cache: AnswerCache
    fingerprint: str
    run: str
    """The run's name: answers to repeated queries and of volatile models are valid for this run only."""

    def recall(self, queries: Sequence[Query], *, again: bool) -> dict[Query, Prediction]:
        """The known answers, by query (`codeaudit.audit.run.AnswerMemory`)."""
        keys = {self._key(query, again=again): query for query in queries}
        return {keys[key]: self._decoded(text) for key, text in self.cache.fetch(list(keys)).items()}

    def _decoded(self, text: object) -> Prediction:
        try:
            return decode(text)
        except (RunError, *DAMAGED) as error:
            place, why = str(self.cache.path), " ".join(str(error).split())
            raise RunError(
                f"the cache {place!r} is damaged: it holds a malformed answer ({why}); "
                "delete it, or choose another with --cache"
            ) from error

    def remember(self, answers: Mapping[Query, Prediction], *, again: bool) -> None:
        """Store answers durably (`codeaudit.audit.run.AnswerMemory`)."""
        scopes: dict[str, dict[bytes, str]] = {}
        for query, answer in answers.items():
            texts = scopes.setdefault(self._scope(query, again=again), {})
            texts[self._key(query, again=again)] = encode(answer)
        for scope, texts in scopes.items():
            self.cache.store(texts, run=scope)

    def _scope(self, query: Query, *, again: bool) -> str:
        # A network is permuted by the seed of the run, which the fingerprint does not cover.
        volatile = self.fingerprint.startswith(VOLATILE) or isinstance(query, NetworkQuery)
        return self.run if again or volatile else ""

    def _key(self, query: Query, *, again: bool) -> bytes:

        # Answers to repeated queries never meet the first ones: noise is where the two differ.
        scope = self._scope(query, again=again) + ("again" if again else "")
        apart = [str(query.bucket)] if isinstance(query, Repeat) else []
        apart += ["number", str(query.number)] if isinstance(query, Repeat) and query.number else []
        apart += ["network", query.network] if isinstance(query, NetworkQuery) else []
        apart += ["labels", *query.labels] if query.labels else []
        apart += ["words", *(part for pair in query.words for part in pair)] if query.words else []
        apart += ["beside", json.dumps(query.beside, sort_keys=True)] if query.beside else []
        parts = (self.fingerprint, scope, *apart, query.task, query.language, query.source)
        return digest_of(b"codeaudit-1", parts)


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


def open_results(path: Path) -> AnswerCache | None:
    """A file for results of executions. It only saves time, so it is `None` if it cannot be used."""
    try:
        return AnswerCache(path)
    except RunError:
        return None


def digest_of(start: bytes, parts: Iterable[str]) -> bytes:
    """The key of an entry: a hash of several texts."""
    digest = hashlib.sha256(start)
    for part in parts:
        # With the length of each part, so that ("ab", "c") and ("a", "bc") have different keys.
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


class NoMemory:
    """An `AnswerMemory` that keeps nothing: the model is asked every query."""

    def recall(self, queries: Sequence[Query], *, again: bool) -> dict[Query, Prediction]:
        """No answers."""
        return {}

    def remember(self, answers: Mapping[Query, Prediction], *, again: bool) -> None:
        """Do nothing."""


def encode(predicted: Prediction) -> str:
    """A prediction as JSON; floats come back bit for bit."""
    value: dict[str, object] = (
        {"failed": predicted.reason}
        if isinstance(predicted, Failed)
        else {"answer": predicted.answer, "scores": predicted.scores, "margin": predicted.margin}
    )
    if isinstance(predicted, Predicted) and predicted.draws:
        value["draws"] = predicted.draws
    if predicted.replies:
        value["replies"] = predicted.replies
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def decode(text: object) -> Prediction:
    """A prediction from its JSON.

    Raises:
        RunError, ValueError: the text holds none.
    """
    # SQLite does not keep to the type of a column.
    if not isinstance(text, str):
        raise RunError(f"no text: {shown(text)}")
    value = load_json(text)
    if not isinstance(value, dict):
        raise RunError(f"no answer: {shown(value)}")
    replies = replies_from_json(value.get("replies", []))  # earlier versions kept none
    if "failed" in value:
        return replace(failed_from_json(value), replies=replies)
    answer, scores, margin = (value.get(name) for name in ("answer", "scores", "margin"))
    if not (margin is None or is_number(margin)):
        raise RunError(f"no margin: {shown(margin)}")
    # A whole number of JSON has no limit; a table of verdicts takes floats.
    margin = None if margin is None else float(margin)
    return Predicted(
        answer=answer_from_json(answer),
        scores=scores_from_json(scores),
        margin=margin,
        draws=draws_from_json(value.get("draws", [])),
        replies=replies,
    )

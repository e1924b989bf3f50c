"""The ledger of a run: a file that says what requests may have cost, written before each of them leaves.

Each request adds one line before it is sent and one when it has ended. A line is written with one call of the
operating system, so whatever ends the process, the lines stay. A request without a second line was under way
when the process was killed: nobody knows what it cost, so it counts with what was reserved for it.

The manifest of a run sums up the beginning of its ledger and says how many bytes that are. So no line counts
twice.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final

from codeaudit.audit.checks import is_number, is_text, is_whole, load_json
from codeaudit.transforms.errors import RunError


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Requests, tokens and money."""

    requests: int = 0
    tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(
            requests=self.requests + other.requests,
            tokens=self.tokens + other.tokens,
            cost=self.cost + other.cost,
        )

    def __sub__(self, other: "Amount") -> "Amount":
        return self + Amount(requests=-other.requests, tokens=-other.tokens, cost=-other.cost)


NOTHING: Final = Amount()


class Ledger:
    """Appends to the file at `path`, which is made with the first request. Several threads may use it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._numbers = count()

    def sent(self, model: str, reserved: Amount, *, again: bool) -> int:
        """Write that a request of a model is about to leave. Returns its number, for `ended`.

        Raises:
            RunError: the file cannot be written. The request must not be sent.
        """
        number = next(self._numbers)
        self._write(
            {
                "sent": number,
                "model": model,
                "again": again,
                "tokens": reserved.tokens,
                "cost": reserved.cost,
            }
        )
        return number

    def ended(self, number: int, reported: tuple[int, int] | None, spent: Amount) -> None:
        """Write what a request needed; `reported`: tokens of prompt and reply, as the endpoint said.

        Raises:
            RunError: the file cannot be written. The request then counts with what was reserved.
        """
        into, out = reported if reported is not None else (None, None)
        self._write({"ended": number, "in": into, "out": out, "tokens": spent.tokens, "cost": spent.cost})

    @property
    def size(self) -> int:
        """Bytes in the file; 0 if there is none."""
        return self._path.stat().st_size if self._path.exists() else 0

    def close(self) -> None:
        """Close the file. Nothing may be written afterwards."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, line: Mapping[str, object]) -> None:
        # The line's end first, because the last line of a killed process may be incomplete.
        data = f"\n{json.dumps(line)}\n".encode()
        try:
            if self._file is None:
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            if os.write(self._file, data) != len(data):
                raise OSError("no space left")
        except OSError as error:
            place = str(self._path)
            raise RunError(
                f"cannot write {place!r}: {error.strerror or error}; nothing more is sent"
            ) from error


@dataclass(slots=True, kw_only=True)
class KilledStart:
    """What a model spent in a start of the run that was killed."""

    requests: int = 0
    retries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    under_way: int = 0
    """Requests that had not ended."""
    counted: Amount = NOTHING
    """What counts for the limits, with what was reserved for the requests under way."""

    def as_mapping(self) -> Mapping[str, object]:
        """The record for the manifest, with the fields of a `Meter` that are known."""
        return {
            "requests": self.requests,
            "retries": self.retries,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost": self.counted.cost or None,
            "under_way_when_killed": self.under_way,
        }


def read_ledger(path: Path, start: int = 0) -> dict[str, KilledStart]:
    """What the lines from byte `start` on say, by model. Empty without a file.

    Raises:
        RunError: the file cannot be read, or a line of it is damaged.
    """
    by_model: dict[str, KilledStart] = {}
    under_way: dict[int, tuple[KilledStart, Amount]] = {}
    lost: list[tuple[KilledStart, Amount]] = []
    for line in _lines(path, start):
        spent = Amount(requests=1, tokens=line["tokens"], cost=line["cost"])
        if "sent" in line:
            killed = by_model.setdefault(line["model"], KilledStart())
            killed.requests += 1
            killed.retries += line["again"]
            if line["sent"] in under_way:  # of an earlier start: each numbers from 0
                lost.append(under_way.pop(line["sent"]))
            under_way[line["sent"]] = killed, spent
        elif line["ended"] in under_way:
            killed, _ = under_way.pop(line["ended"])
            killed.counted += spent
            killed.tokens_in += line["in"] or 0
            killed.tokens_out += line["out"] or 0
    for killed, reserved in (*lost, *under_way.values()):
        killed.under_way += 1
        killed.counted += reserved
    return by_model


def _lines(path: Path, start: int) -> Iterator[dict[str, Any]]:
    try:
        with path.open("rb") as file:
            file.seek(start)
            lines = file.read().splitlines()
    except FileNotFoundError:
        return
    except OSError as error:
        raise RunError(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    for line in lines:
        # A line without its end was being written when the disk was full or the process was killed: its
        # request was not sent, or counts with what was reserved.
        if line.endswith(b"}"):
            yield _row(line, path)


def _row(line: bytes, path: Path) -> dict[str, Any]:
    try:
        row = load_json(line)
    except ValueError:
        row = None
    if isinstance(row, dict) and is_whole(row.get("tokens")) and is_number(row.get("cost")):
        if is_whole(row.get("sent")) and is_text(row.get("model")) and isinstance(row.get("again"), bool):
            return row
        tokens = (row.get("in"), row.get("out"))
        if is_whole(row.get("ended")) and (tokens == (None, None) or all(map(is_whole, tokens))):
            return row
    raise RunError(
        f"{str(path)!r} is damaged, so nobody knows what the run has spent; start it with another --out"
    )

"""Rows of tokens in batches of like length that fit into memory."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import torch

from codeaudit.audit.records import Failed, Prediction, Query

Row: TypeAlias = tuple[int, ...]

TOKENS_AT_ONCE: Final = 16_384
"""Padded tokens of a batch on a CPU, where no allocation fails before the machine does."""
NO_MEMORY: Final = Failed(reason="out of memory")
"""The answer to what does not fit even alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A query as a model reads it."""

    query: Query
    rows: tuple[Row, ...]
    """Most heads read one row; one that tries several readings has a row for each."""
    grows: int = 0
    """Tokens that the answer may add to each row."""
    attempt: int = 0
    """Which of several answers to the query this one is."""

    @property
    def length(self) -> int:
        """Tokens of its longest row, the answer included."""
        return max(map(len, self.rows)) + self.grows


def padded(
    rows: Sequence[Row], pad: int, side: Literal["left", "right"], device: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows as (B, L) ids and their (B, L) attention mask, 0 where only padding stands."""
    length = max(map(len, rows))
    ids = torch.full((len(rows), length), pad, dtype=torch.long)
    mask = torch.zeros((len(rows), length), dtype=torch.long)
    for number, row in enumerate(rows):
        place = slice(length - len(row), length) if side == "left" else slice(0, len(row))
        ids[number, place] = torch.tensor(row, dtype=torch.long)
        mask[number, place] = 1
    return ids.to(device), mask.to(device)


class Batcher:
    """Answers queries in batches, longest first, so that what does not fit is found out at once.

    A batch that memory cannot hold is halved, and no later one is as large again.
    """

    def __init__(self, answer: Callable[[Sequence[Asked]], Sequence[Prediction]], *, room: float) -> None:
        self._answer = answer
        self.room = room
        """Padded tokens of a batch, at most; `inf` where only a failed allocation tells."""

    def __call__(self, asked: Sequence[Asked], *, most: int | None = None) -> list[Prediction]:
        """One prediction each, in the same order; at most so many in a batch, if that is told."""
        found: dict[int, Prediction] = {}
        waiting = sorted(range(len(asked)), key=lambda number: -asked[number].length)
        while waiting:
            batch = self._next(waiting[:most], asked)
            try:
                answers = self._answer([asked[number] for number in batch])
            except (torch.OutOfMemoryError, RuntimeError, MemoryError) as error:
                if not _is_memory(error):
                    raise
                answers = [NO_MEMORY] if len(batch) == 1 else []
            if not answers:
                _release()
                self.room = _cost([asked[number] for number in batch[: math.ceil(len(batch) / 2)]])
                continue
            found.update(zip(batch, answers, strict=True))
            waiting = waiting[len(batch) :]
        return [found[number] for number in range(len(asked))]

    def _next(self, waiting: Sequence[int], asked: Sequence[Asked]) -> Sequence[int]:
        """As many as there is room for, and one in any case."""
        size = 1
        while size < len(waiting) and _cost([asked[one] for one in waiting[: size + 1]]) <= self.room:
            size += 1
        return waiting[:size]


def _cost(batch: Sequence[Asked]) -> int:
    """Tokens with the padding."""
    return sum(len(one.rows) for one in batch) * max(one.length for one in batch)


def _is_memory(error: BaseException) -> bool:
    """Whether an allocation failed; on a CPU torch says so in words only."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or "can't allocate memory" in str(error)


def _release() -> None:
    """Give back what the failed batch left in the allocator's hands."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()

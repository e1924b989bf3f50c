"""Groups rows of tokens into batches of similar length that fit into memory."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import torch

from codeaudit.audit.records import Failed, Prediction, Query

Row: TypeAlias = tuple[int, ...]

TOKENS_AT_ONCE: Final = 16_384
"""Padded tokens of a batch on a CPU, because there no allocation fails before the machine does."""
NO_MEMORY: Final = Failed(reason="out of memory")
"""The answer to a query that does not fit even alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizedQuery:
    """A query as rows of tokens."""

    query: Query
    rows: tuple[Row, ...]
    """One row for most heads; a head that tries several readings has one for each."""
    grows: int = 0
    """Tokens that the answer may add to each row."""
    attempt: int = 0
    """Number of the answer, from 0, if several are drawn for the query."""

    @property
    def length(self) -> int:
        """Tokens of its longest row, with the answer."""
        return max(map(len, self.rows)) + self.grows


def padded(
    rows: Sequence[Row], pad: int, side: Literal["left", "right"], device: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows as (B, L) ids and a (B, L) attention mask that is 0 on padding."""
    length = max(map(len, rows))
    ids = torch.full((len(rows), length), pad, dtype=torch.long)
    mask = torch.zeros((len(rows), length), dtype=torch.long)
    for number, row in enumerate(rows):
        place = slice(length - len(row), length) if side == "left" else slice(0, len(row))
        ids[number, place] = torch.tensor(row, dtype=torch.long)
        mask[number, place] = 1
    return ids.to(device), mask.to(device)


class Batcher:
    """Answers queries in batches, longest first, so that a lack of memory shows at once.

    A batch that does not fit into memory is halved, and no later batch is larger than that half.
    """

    def __init__(
        self, answer: Callable[[Sequence[TokenizedQuery]], Sequence[Prediction]], *, room: float
    ) -> None:
        self._answer = answer
        self.room = room
        """Largest number of padded tokens in a batch; `inf` if only failed allocations limit it."""

    def __call__(self, asked: Sequence[TokenizedQuery], *, most: int | None = None) -> list[Prediction]:
        """One prediction per query, in the same order. `most`: largest number of queries in a batch."""
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

    def _next(self, waiting: Sequence[int], asked: Sequence[TokenizedQuery]) -> Sequence[int]:
        """The next batch: as many queries as fit, and at least one."""
        size = 1
        while size < len(waiting) and _cost([asked[one] for one in waiting[: size + 1]]) <= self.room:
            size += 1
        return waiting[:size]


def _cost(batch: Sequence[TokenizedQuery]) -> int:
    """Padded tokens of a batch."""
    return sum(len(one.rows) for one in batch) * max(one.length for one in batch)


def _is_memory(error: BaseException) -> bool:
    """Whether an allocation failed. On a CPU torch raises a `RuntimeError` that only its text identifies."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or "can't allocate memory" in str(error)


def _release() -> None:
    """Free the memory that the failed batch left in the CUDA allocator."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()

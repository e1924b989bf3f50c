"""Batches: sorted by length, within the room, halved where memory fails."""

from collections.abc import Sequence
from math import inf

import pytest
import torch

from codeaudit.audit.models.hf.heads import TokenizedQuery, padded
from codeaudit.audit.models.hf.model import Batcher
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.transforms.errors import ModelError


def rows(*lengths: int, each: int = 1) -> list[TokenizedQuery]:
    return [
        TokenizedQuery(
            query=Query(task="t", language="python", source=str(number)), rows=((1,) * length,) * each
        )
        for number, length in enumerate(lengths)
    ]


class Recorder:
    """Answers with the source; its memory holds so many padded tokens."""

    def __init__(self, memory: float = inf, error: Exception | None = None) -> None:
        self.memory = memory
        self.error = error or torch.OutOfMemoryError("CUDA out of memory")
        self.seen: list[list[int]] = []

    def __call__(self, batch: Sequence[TokenizedQuery]) -> list[Prediction]:
        lengths = [tokenized.length for tokenized in batch]
        self.seen.append(lengths)
        if max(lengths) * sum(len(tokenized.rows) for tokenized in batch) > self.memory:
            raise self.error
        return [Predicted(answer=tokenized.query.source) for tokenized in batch]


def answers(predictions: Sequence[Prediction]) -> list[object]:
    return [said.answer if isinstance(said, Predicted) else said.reason for said in predictions]


def test_longest_first_and_answered_in_order() -> None:
    recorder = Recorder()
    predictions = Batcher(recorder, room=20)(rows(3, 10, 4, 9, 1))
    assert answers(predictions) == ["0", "1", "2", "3", "4"]
    assert recorder.seen == [[10, 9], [4, 3, 1]]


def test_rows_and_growth_take_room() -> None:
    recorder = Recorder()
    Batcher(recorder, room=20)(rows(5, 5, 5, each=2))
    assert recorder.seen == [[5, 5], [5]]
    grown = [TokenizedQuery(query=row.query, rows=row.rows, grows=5) for row in rows(5, 5, 5)]
    assert [tokenized.length for tokenized in grown] == [10, 10, 10]


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:121] DefaultCPUAllocator: can't allocate memory"),
        MemoryError(),
    ],
)
def test_a_batch_that_does_not_fit_is_halved_for_good(error: Exception) -> None:
    recorder = Recorder(memory=40, error=error)
    batcher = Batcher(recorder, room=inf)
    assert answers(batcher(rows(*[10] * 16))) == [str(number) for number in range(16)]
    assert [len(batch) for batch in recorder.seen] == [16, 8, 4, 4, 4, 4]
    recorder.seen.clear()
    batcher(rows(*[10] * 8))
    assert [len(batch) for batch in recorder.seen] == [4, 4]


def test_what_does_not_fit_alone_fails_alone() -> None:
    predictions = Batcher(Recorder(memory=40), room=inf)(rows(5, 50, 6))
    assert answers(predictions) == ["0", "out of memory", "2"]
    assert predictions[1] == Failed(reason="out of memory")


def test_another_error_is_not_swallowed() -> None:
    with pytest.raises(RuntimeError, match="shapes"):
        Batcher(Recorder(memory=0, error=RuntimeError("shapes")), room=inf)(rows(1))
    with pytest.raises(ModelError):
        Batcher(Recorder(memory=0, error=ModelError("x")), room=inf)(rows(1))


def test_padding_stands_where_the_mask_is_zero() -> None:
    ids, mask = padded([(5, 6), (7,)], 0, "left", "cpu")
    assert (ids.tolist(), mask.tolist()) == ([[5, 6], [0, 7]], [[1, 1], [0, 1]])
    ids, mask = padded([(5, 6), (7,)], 9, "right", "cpu")
    assert (ids.tolist(), mask.tolist()) == ([[5, 6], [7, 9]], [[1, 1], [1, 0]])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_memory_that_really_fails() -> None:
    torch.cuda.set_per_process_memory_fraction(0.02)
    room = torch.cuda.get_device_properties(0).total_memory // 50

    def answer(batch: Sequence[TokenizedQuery]) -> list[Prediction]:
        torch.empty(len(batch) * room // 3, dtype=torch.uint8, device="cuda")
        return [Predicted(answer=tokenized.query.source) for tokenized in batch]

    try:
        assert answers(Batcher(answer, room=inf)(rows(*[4] * 8))) == [str(number) for number in range(8)]
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)

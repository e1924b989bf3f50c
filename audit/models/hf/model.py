"""The model `hf/NAME_OR_PATH`: a network with a head, asked in batches that fit into memory."""

import hashlib
import json
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import torch
import transformers
from typing_extensions import override

from codeaudit.audit.interface import BaseModel
from codeaudit.audit.models.hf.heads import Head, LoadedNetwork, Row, TokenizedQuery, of_its_files, quiet
from codeaudit.audit.models.text_models import joined
from codeaudit.audit.probabilities import Scale
from codeaudit.audit.records import Failed, Prediction, Query
from codeaudit.transforms.errors import ModelError

VERSION: Final = 1
"""Version of how texts are shown and answers are read; part of the fingerprint."""

TOKENS_AT_ONCE: Final = 16_384
"""Padded tokens of a batch on a CPU, because there no allocation fails before the machine does."""
NO_MEMORY: Final = Failed(reason="out of memory")
"""The answer to a query that does not fit even alone."""

LOGITS_AT_ONCE: Final = 2**26
"""Scores over all tokens of a batch on a CPU. It limits the memory of heads with large vocabularies."""

ATTEMPTS_AT_ONCE: Final = 32
"""Largest batch when several answers are drawn, unless there are more queries."""

PROBES: Final = (
    "return left + right",
    "def add(left, right):\n    total = left + right\n    return total\n",
    'def find(items, wanted):\n    """Where it is."""\n    for place, item in enumerate(items):\n'
    "        if item == wanted:\n            return place\n    raise KeyError(wanted)\n",
    "def count(words):\n    found = {}\n    for word in words:\n        word = word.strip().lower()\n"
    "        if not word:\n            continue\n        if word in found:\n            found[word] += 1\n"
    "        else:\n            found[word] = 1\n    return sorted(found.items(), key=lambda one: -one[1])\n",
)
"""Texts of different lengths, on which a model's noise is measured."""

_log = logging.getLogger(__name__)


class HubModel(BaseModel):
    """A network with a head. Queries of similar length share a batch."""

    samples: int = 1

    def __init__(
        self,
        engine: LoadedNetwork,
        head: Head,
        *,
        digest: str,
        precision: str,
        room: float,
        samples: int,
        prompt: str = "",
    ) -> None:
        self.name = engine.name
        self.prompt = prompt
        """As of `EndpointModel`."""
        self.precision = precision
        self.samples = samples
        self._engine = engine
        self._head = head
        self._digest = digest
        self._batches = Batcher(head.answer, room=room)
        with of_its_files(self.name), quiet(), torch.inference_mode():
            self.noise = self._measured_noise()
        if engine.texts.truncate and engine.texts.window is not None:
            message = "codeaudit: %s: an input longer than its %s tokens loses its end"
            _log.warning(message, self.name, f"{engine.texts.window:,}")

    @property
    @override
    def scale(self) -> Scale:
        """What its scores are."""
        return self._head.scale

    @property
    def task(self) -> str | None:
        """The only task that its head can answer; `None` if it can answer several."""
        return self._head.task

    @property
    @override
    def tasks(self) -> frozenset[str]:
        own = frozenset() if self.task is None else frozenset({self.task})
        tasks: frozenset[str] = getattr(self._head, "tasks", own)
        return tasks

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of a classifier's outputs; empty for other heads."""
        return getattr(self._head, "labels", ())

    @property
    def module(self) -> torch.nn.Module:
        """The network, for wrappers that change its weights."""
        network: torch.nn.Module = self._engine.network
        return network

    @property
    def parameters(self) -> int:
        """Number of weights; shared ones count once."""
        network = self._engine.network
        # Weights of 4 bits are kept two in one number. The library knows how many there are.
        return int(network.num_parameters())

    @property
    def fingerprint(self) -> str:
        """Covers the files, the head with its prompts or labels, the decoding and the precision.

        It also covers the version of `transformers`, because that has the code of networks and chats.
        """
        texts = self._engine.texts
        facts = {
            "files": self._digest,
            "head": self._head.kind,
            "decides": dict(self._head.decides),
            "precision": self.precision,
            "window": texts.window,
            "truncate": texts.truncate,
            "versions": [VERSION, transformers.__version__],
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    @override
    def usage(self) -> Mapping[str, object]:
        """How many inputs lost their end; empty if none did."""
        cut = len(self._engine.texts.cut)
        return {"truncated": cut} if cut else {}

    @property
    @override
    def bill(self) -> str:
        texts = self._engine.texts
        return f"inputs longer than its {texts.window:,} tokens, which lost their end: {len(texts.cut):,}"

    @override
    def unreadable(self, query: Query) -> Failed | None:
        with of_its_files(self.name), quiet():
            read = self._head.ask(query)
        # Only what is asked counts as cut; `predict` notes it again.
        self._engine.texts.cut.discard(query)
        return read if isinstance(read, Failed) else None

    @override
    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query, in the same order.

        Raises:
            ModelError: the head does not answer a query's task, or the library fails on the model's files.
        """
        with of_its_files(self.name), quiet(), torch.inference_mode():
            read = [self._head.ask(query) for query in queries]
            numbers = range(self.samples)
            rows = [
                replace(tokenized, attempt=number)
                for tokenized in read
                if isinstance(tokenized, TokenizedQuery)
                for number in numbers
            ]
            # All answers to all queries in one list, because a batch may hold answers to several queries.
            answers = iter(self._batches(rows, most=max(len(queries), ATTEMPTS_AT_ONCE)))
            return [
                tokenized if isinstance(tokenized, Failed) else joined([next(answers) for _ in numbers])
                for tokenized in read
            ]

    def _measured_noise(self) -> float:
        """Four times the largest change of a high score between a row alone and the row in a padded batch.

        Because few rows are measured, it is at least 16 units in the last place. It is rounded up to a power
        of two, so that it is the same at the next start.

        Raises:
            ModelError: a score is not a number.
        """
        texts = self._engine.texts
        rows: list[Row] = [texts.plain(text)[: texts.window] for text in PROBES]
        together = self._head.scores(rows)
        moved = scale = 0.0
        for row, beside in zip(rows, together, strict=True):
            alone = self._head.scores([row])[0]
            if bool(alone.isnan().any()) or bool(beside.isnan().any()):
                full = self.precision == "float32"
                remedy = "its weights are not finite" if full else "try --precision float32"
                raise ModelError(f"model {self.name!r} gives no numbers in {self.precision}; {remedy}")
            top = alone.topk(min(16, len(alone)))
            finite = top.values.isfinite() & beside[top.indices].isfinite()
            moves = (top.values - beside[top.indices])[finite].abs()
            moved = max([moved, *moves.tolist()])
            scale = max([scale, *top.values[finite].abs().tolist()])
        # The order of sums differs between batches; the error grows with the unit and the size of the scores.
        unit = torch.finfo(getattr(torch, self.precision)).eps
        return float(2.0 ** math.ceil(math.log2(max(4 * moved, 16 * unit * max(1.0, scale)))))


def room_on(device: str, *, vocabulary: int | None) -> float:
    """Largest number of padded tokens in a batch; infinite on a GPU, where failed allocations limit it.

    `vocabulary`: number of scores per token, if the head computes them for all tokens.
    """
    if device.startswith("cuda"):
        return math.inf
    return TOKENS_AT_ONCE if vocabulary is None else min(TOKENS_AT_ONCE, LOGITS_AT_ONCE // vocabulary)


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

    def __call__(self, queries: Sequence[TokenizedQuery], *, most: int | None = None) -> list[Prediction]:
        """One prediction per query, in the same order. `most`: largest number of queries in a batch."""
        predictions: dict[int, Prediction] = {}
        waiting = sorted(range(len(queries)), key=lambda number: -queries[number].length)
        # Longest first also pads least: neighbours have similar lengths.
        while waiting:
            batch = self._next(waiting[:most], queries)
            try:
                answers = self._answer([queries[number] for number in batch])
            except (torch.OutOfMemoryError, RuntimeError, MemoryError) as error:
                if not _is_memory(error):
                    raise
                answers = [NO_MEMORY] if len(batch) == 1 else []
            if not answers:
                _release()  # outside of the handler: the exception's traceback keeps the tensors alive
                self.room = _cost([queries[number] for number in batch[: math.ceil(len(batch) / 2)]])
                continue
            predictions.update(zip(batch, answers, strict=True))
            waiting = waiting[len(batch) :]
        return [predictions[number] for number in range(len(queries))]

    def _next(self, waiting: Sequence[int], queries: Sequence[TokenizedQuery]) -> Sequence[int]:
        """The next batch: as many queries as fit, and at least one."""
        size = 1
        while size < len(waiting) and _cost([queries[number] for number in waiting[: size + 1]]) <= self.room:
            size += 1
        return waiting[:size]


def _cost(batch: Sequence[TokenizedQuery]) -> int:
    """Padded tokens of a batch."""
    return sum(len(tokenized.rows) for tokenized in batch) * max(tokenized.length for tokenized in batch)


def _is_memory(error: BaseException) -> bool:
    """Whether an allocation failed. On a CPU torch raises a `RuntimeError` that only its text identifies."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or "can't allocate memory" in str(error)


def _release() -> None:
    """Free the memory that the failed batch left in the CUDA allocator."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()

"""A model of `transformers` behind the seam of this program."""

import hashlib
import json
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import torch
import transformers

from codeaudit.audit.models.hf.batches import TOKENS_AT_ONCE, Asked, Batcher, Row
from codeaudit.audit.models.hf.heads import Engine, Head
from codeaudit.audit.models.hf.quiet import quiet
from codeaudit.audit.models.samples import joined
from codeaudit.audit.records import Failed, Prediction, Query
from codeaudit.transforms.errors import ModelError

VERSION: Final = 1
"""Of what is shown of a text and read from an answer here. A part of the fingerprint."""

LOGITS_AT_ONCE: Final = 2**26
"""Scores of a batch, over all its tokens, on a CPU; bounds the memory of heads with large vocabularies."""

ATTEMPTS_AT_ONCE: Final = 32
"""Several answers to a query are written so many at a time, or as many as there are queries."""

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


class HubModel:
    """A network with a head that answers. Queries of like length share a batch."""

    def __init__(
        self, engine: Engine, head: Head, *, digest: str, precision: str, room: float, samples: int
    ) -> None:
        self.name = engine.name
        self.precision = precision
        self.samples = samples
        """How many answers a query has."""
        self._engine = engine
        self._head = head
        self._digest = digest
        self._batches = Batcher(head.answer, room=room)
        with quiet(), torch.inference_mode():
            self.noise = self._measured_noise()
        if engine.texts.truncate and engine.texts.window is not None:
            told = "codeaudit: %s: an input longer than its %s tokens loses its end"
            _log.warning(told, self.name, f"{engine.texts.window:,}")

    @property
    def task(self) -> str | None:
        """The only task that its head can answer."""
        return self._head.task

    @property
    def module(self) -> torch.nn.Module:
        """The network itself, for wrappers that change its weights."""
        network: torch.nn.Module = self._engine.network
        return network

    @property
    def parameters(self) -> int:
        """Weights, each counted once."""
        return sum(weight.numel() for weight in self._engine.network.parameters())

    @property
    def fingerprint(self) -> str:
        """Of the files, the head with its prompts or labels, the decoding, and the precision.

        The version of `transformers` is a part of it: it holds the code of the networks and of the chats.
        """
        texts = self._engine.texts
        told = {
            "files": self._digest,
            "head": type(self._head).__name__,
            "decides": dict(self._head.decides),
            "precision": self.precision,
            "window": texts.window,
            "truncate": texts.truncate,
            "versions": [VERSION, transformers.__version__],
        }
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def usage(self) -> Mapping[str, object]:
        """How many of the inputs that it read lost their end; empty where none did."""
        cut = len(self._engine.texts.cut)
        return {"truncated": cut} if cut else {}

    @property
    def bill(self) -> str:
        """The same as a line for people."""
        texts = self._engine.texts
        return f"inputs longer than its {texts.window:,} tokens, which lost their end: {len(texts.cut):,}"

    def predict(self, queries: Sequence[Query]) -> list[Prediction]:
        """One prediction per query, in the same order.

        Raises:
            ModelError: the head does not answer a query's task.
        """
        with quiet(), torch.inference_mode():
            read = [self._head.ask(query) for query in queries]
            numbers = range(self.samples)
            rows = [replace(one, attempt=each) for one in read if isinstance(one, Asked) for each in numbers]
            answers = iter(self._batches(rows, most=max(len(queries), ATTEMPTS_AT_ONCE)))
            return [
                one if isinstance(one, Failed) else joined([next(answers) for _ in numbers]) for one in read
            ]

    def _measured_noise(self) -> float:
        """Four times the largest move of a high score between a row alone and the same row in a padded batch.

        The rows are few: so never less than 16 units in the last place, and rounded up to a power of two, by
        which it is also the same one at the next start.

        Raises:
            ModelError: a score is no number.
        """
        texts = self._engine.texts
        rows: list[Row] = [texts.plain(text)[: texts.window] for text in PROBES]
        together = self._head.scores(rows)
        moved = scale = 0.0
        for row, beside in zip(rows, together, strict=True):
            alone = self._head.scores([row])[0]
            if bool(alone.isnan().any()) or bool(beside.isnan().any()):
                raise ModelError(
                    f"model {self.name!r} gives no numbers in {self.precision}; try --precision float32"
                )
            top = alone.topk(min(16, len(alone)))
            finite = top.values.isfinite() & beside[top.indices].isfinite()
            moves = (top.values - beside[top.indices])[finite].abs()
            moved = max([moved, *moves.tolist()])
            scale = max([scale, *top.values[finite].abs().tolist()])
        unit = torch.finfo(getattr(torch, self.precision)).eps
        return float(2.0 ** math.ceil(math.log2(max(4 * moved, 16 * unit * max(1.0, scale)))))


def room_on(device: str, *, vocabulary: int | None) -> float:
    """Padded tokens of a batch on a device. On a GPU a failed allocation tells; on a CPU this does.

    `vocabulary`: how many scores each token gets, where all of them are computed.
    """
    if device.startswith("cuda"):
        return math.inf
    return TOKENS_AT_ONCE if vocabulary is None else min(TOKENS_AT_ONCE, LOGITS_AT_ONCE // vocabulary)

"""How likely a causal model finds a text: the bits per byte of `code-modelling`.

Each token is predicted from all tokens before it, the first one from the token that begins texts. A text that
is longer than the window is read in windows that overlap by half ("strided" perplexity). So each token behind
the first window is predicted from at least half a window. Each window is read alone, without padding, so that
equal texts have equal numbers whatever stands beside them in a batch.
"""

import math
from typing import Final

import torch
from torch.nn.functional import cross_entropy

from codeaudit.audit.models.hf.heads import NOT_FINITE, UNKNOWN_WORD, LoadedNetwork, Row, TokenizedQuery
from codeaudit.audit.records import Failed, Predicted, Prediction, Query
from codeaudit.audit.tasks.code_modelling import EMPTY, bits_per_byte
from codeaudit.transforms.errors import ModelError

LONGEST_WINDOW: Final = 4096
"""Tokens that are read at once, even if the network reads more. Attention over them takes memory."""
AT_ONCE: Final = 256
"""Tokens whose scores are held in float64."""


class TextLikelihoodReader:
    """Measures texts with a network that predicts the next token."""

    def __init__(self, engine: LoadedNetwork) -> None:
        self._engine = engine
        self._window = min(engine.texts.window or LONGEST_WINDOW, LONGEST_WINDOW)
        self._overlap = self._window // 2

    def ask(self, query: Query) -> TokenizedQuery | Failed:
        """The windows of a text.

        Raises:
            ModelError: no token begins texts, or the window has no room for two.
        """
        if not query.source:
            return Failed(reason=EMPTY)
        tokens = (self._start(), *self._engine.texts.bare(query.source))
        if max(tokens) >= self._engine.texts.words:
            return UNKNOWN_WORD
        if self._window < 2:
            raise ModelError(f"{self._engine.name!r} reads one token at a time and predicts none")
        step = self._window - self._overlap
        starts = range(0, max(len(tokens) - self._overlap, 1), step)
        rows: tuple[Row, ...] = tuple(tokens[start : start + self._window] for start in starts)
        return TokenizedQuery(query=query, rows=rows)

    def answer(self, tokenized: TokenizedQuery) -> Prediction:
        """Bits per byte."""
        first, *others = tokenized.rows
        nats = self._nats(first, 1) + sum(self._nats(row, self._overlap) for row in others)
        if not math.isfinite(nats):
            return NOT_FINITE
        return Predicted(answer=bits_per_byte(nats, tokenized.query.source))

    def _start(self) -> int:
        """The token from which the first one is predicted."""
        tokenizer = self._engine.texts.tokenizer
        for token in (tokenizer.bos_token_id, tokenizer.eos_token_id):
            if token is not None:
                return int(token)
        raise ModelError(
            f"cannot measure texts with {self._engine.name!r}: its tokenizer has no token that begins or "
            "ends texts"
        )

    def _nats(self, row: Row, known: int) -> float:
        """Minus the logarithm of the probability of a row's tokens, but for the first `known` ones."""
        logits = self._engine.network(**self._engine.tensors([row])).logits[0]
        targets = torch.tensor(row, device=logits.device)
        # In parts, because a vocabulary of 150,000 tokens makes 1.2 MB a token.
        return sum(
            float(cross_entropy(logits[at - 1 : end - 1].double(), targets[at:end], reduction="sum"))
            for at in range(known, len(row), AT_ONCE)
            for end in (min(at + AT_ONCE, len(row)),)
        )

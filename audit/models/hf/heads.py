"""What all heads share: their protocol, tokenized queries, and the loaded network with its tokenizer."""

import logging
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Protocol, TypeAlias

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from transformers.utils import logging as library_logging

from codeaudit.audit.probabilities import Scale
from codeaudit.audit.prompts import filled
from codeaudit.audit.records import Failed, Prediction, Query, Repeat
from codeaudit.transforms.errors import CodeauditError, ModelError

Row: TypeAlias = tuple[int, ...]
"""The tokens of one text."""

KEPT: Final = 16
"""Largest number of scores that an answer carries."""
NOT_FINITE: Final = Failed(reason="scores that are not finite")
TOO_LONG: Final = Failed(reason="input too long")
UNKNOWN_WORD: Final = Failed(reason="token that the network does not know")

_WINDOWS: Final = ("max_position_embeddings", "n_positions", "max_seq_len")
"""The names that configs have for the largest number of tokens."""
_LOUD: Final = ("accelerate", "bitsandbytes", "peft")
"""Packages that `transformers` uses and that log for themselves."""
_UNSET: Final = 10**9
"""Tokenizers without a window report a number far above this."""


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


class WindowedTokenizer:
    """A tokenizer and the window of its model. Remembers which queries were cut."""

    def __init__(self, tokenizer: Any, *, window: int | None, words: int, truncate: bool) -> None:
        self.tokenizer = tokenizer
        self.window = window
        self.words = words
        """Size of the network's vocabulary. A tokenizer may have special tokens beyond it."""
        self.truncate = truncate
        self.cut: set[Query] = set()
        """The queries whose source lost its end because it was too long."""

    def plain(self, text: str, other: str = "") -> Row:
        """The tokens of a text, or of a pair of texts, with the special tokens that the model expects around
        it.

        A special token written in the text is read as text, because code may contain `</s>` or `[MASK]`.

        Raises:
            ModelError: the tokenizer marks the texts of a pair with types of tokens, which are not given.
        """
        if not other:
            return tuple(self.tokenizer.encode(text, split_special_tokens=True))
        encoded = self.tokenizer(text, other, split_special_tokens=True)
        if any(encoded.get("token_type_ids", ())):
            raise ModelError(
                "its tokenizer marks the texts of a pair with types of tokens, which are not given; "
                "write -M template=FILE, a text with {source} and {other}"
            )
        return tuple(encoded["input_ids"])

    def bare(self, text: str) -> Row:
        """The tokens of a text alone; a special token written in it is read as text."""
        return tuple(self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))

    def pair(self, text: str, other: str) -> Row:
        """The tokens of two texts with the special tokens that the model expects around and between them."""
        return tuple(self.tokenizer.encode(text, other, split_special_tokens=True))

    def marked(self, text: str, *, whole: bool) -> Row:
        """The tokens of a text whose special tokens are meant. `whole`: it has those at its ends already."""
        return tuple(self.tokenizer.encode(text, add_special_tokens=not whole))

    def fitted(
        self, query: Query, rows: Callable[[str], tuple[Row, ...]], *, grows: int = 0, reserved: int = 0
    ) -> TokenizedQuery | Failed:
        """The rows of a query's source; with `truncate`, of the longest beginning that fits the window.

        Args:
            query: the query.
            rows: makes the rows from a source.
            grows: tokens that the answer may have.
            reserved: tokens of the window that the answer needs: 0 if a decoder of its own writes it.
        """
        room = None if self.window is None else self.window - reserved

        def fits(tokens: tuple[Row, ...]) -> bool:
            return room is None or max(map(len, tokens)) <= room

        tokens = rows(query.source)
        # The embedding of such a token would be read from outside of the table.
        if max(map(max, tokens)) >= self.words:
            return UNKNOWN_WORD
        if not fits(tokens):
            if not self.truncate:
                return TOO_LONG
            # By bisection over characters, because a prompt or a chat stands around the source: cutting
            # tokens would cut the place of the answer.
            best: tuple[Row, ...] | None = None
            low, high = 1, len(query.source) - 1
            while low <= high:
                middle = (low + high) // 2
                tokens = rows(query.source[:middle])
                if fits(tokens):
                    best, low = tokens, middle + 1
                else:
                    high = middle - 1
            if best is None:
                return TOO_LONG
            self.cut.add(query)
            tokens = best
        return TokenizedQuery(query=query, rows=tokens, grows=grows)

    def tokenized(self, query: Query, template: str | None) -> TokenizedQuery | Failed:
        """A query for a network without a prompt: the source as it is, or the pair of units; or the user's
        template with them.

        Raises:
            ModelError: as `plain`.
        """

        def rows(source: str) -> tuple[Row, ...]:
            if template is None:
                return (self.plain(source, query.other),)
            return (self.plain(filled(template, replace(query, source=source))),)

        return self.fitted(query, rows)

    def several(
        self, query: Query, texts: Sequence[str], encode: Callable[[str], Row] | None = None
    ) -> TokenizedQuery | Failed:
        """A query with a row for each of several texts; each is cut by itself."""
        rows: list[Row] = []
        encoded = encode or self.plain
        for text in texts:
            piece = replace(query, source=text)
            tokenized = self.fitted(piece, lambda part: (encoded(part),))
            if isinstance(tokenized, Failed):
                return tokenized
            if piece in self.cut:
                self.cut.discard(piece)
                self.cut.add(query)
            rows += tokenized.rows
        return TokenizedQuery(query=query, rows=tuple(rows))


def window_of(tokenizer: Any, config: Any, network: nn.Module, sentence: int | None = None) -> int | None:
    """The largest number of tokens that a model reads; `None` without a limit.

    It is the smallest limit of the tokenizer, the config and a sentence encoder's own config. RoBERTa and
    its relatives number positions from after the padding index, so that fewer are usable than exist.
    """
    bounds = [sentence, tokenizer.model_max_length]
    bounds += [getattr(config, name, None) for name in _WINDOWS]
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            used = 0 if module.padding_idx is None else module.padding_idx + 1
            bounds.append(module.num_embeddings - used)
    lengths = [int(bound) for bound in bounds if isinstance(bound, int | float) and 0 < bound < _UNSET]
    return min(lengths, default=None)


def padded(
    rows: Sequence[Row], pad: int, side: Literal["left", "right"], device: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows as (B, L) ids and a (B, L) attention mask that is 0 on padding."""
    ids = [torch.tensor(row) for row in rows]
    mask = [torch.ones_like(row) for row in ids]
    return (
        pad_sequence(ids, batch_first=True, padding_value=pad, padding_side=side).to(device),
        pad_sequence(mask, batch_first=True, padding_side=side).to(device),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedNetwork:
    """A loaded network on its device, and its tokenizer."""

    name: str
    """The SPEC of the model, for messages."""
    network: Any
    texts: WindowedTokenizer
    device: str
    pad: int
    """The token that pads rows; the attention mask hides it."""

    def tensors(
        self, rows: Sequence[Row], side: Literal["left", "right"] = "right"
    ) -> dict[str, torch.Tensor]:
        """The inputs of the network for these rows; `side` is that of the padding."""
        ids, mask = padded(rows, self.pad, side, self.device)
        return {"input_ids": ids, "attention_mask": mask}


class RowMemory:
    """What a network made of rows of tokens, so that a candidate of many queries is read once.

    The rows of a repeat are read anew, because it measures what the network's arithmetic changes.
    """

    def __init__(self, read: Callable[[Sequence[Row]], torch.Tensor]) -> None:
        """`read` gives (B, …) for B rows."""
        self._read = read
        self._known: dict[Row, torch.Tensor] = {}

    def of(self, batch: Sequence[TokenizedQuery]) -> list[list[torch.Tensor]]:
        """For each query what its rows became."""
        again = self._tensors_of(
            {row for tokenized in batch if isinstance(tokenized.query, Repeat) for row in tokenized.rows}
        )
        rows = dict.fromkeys(
            row for tokenized in batch if not isinstance(tokenized.query, Repeat) for row in tokenized.rows
        )
        tensors = {row: self._known[row] for row in rows if row in self._known}
        tensors |= self._tensors_of(rows.keys() - tensors.keys())
        if len(self._known) + len(tensors) > MOST_ROWS:
            self._known.clear()
        self._known |= tensors
        return [
            [(again if isinstance(tokenized.query, Repeat) else tensors)[row] for row in tokenized.rows]
            for tokenized in batch
        ]

    def _tensors_of(self, rows: Collection[Row]) -> dict[Row, torch.Tensor]:
        ordered = sorted(rows, key=lambda row: (-len(row), row))
        return dict(zip(ordered, self._read(ordered), strict=True)) if ordered else {}


MOST_ROWS: Final = 10_000
"""Largest number of rows that are remembered. With vectors of 768 numbers they take 60 MB."""


class Head(Protocol):
    """Turns queries into rows of tokens, and the network's outputs into answers."""

    kind: str
    """Its name in fingerprints, which must never change, because cached answers would be lost."""

    @property
    def scale(self) -> Scale:
        """What its scores are."""
        ...

    @property
    def task(self) -> str | None:
        """The only task that it can answer; `None` if it can answer several."""
        ...

    @property
    def decides(self) -> Mapping[str, object]:
        """Everything except the model's files that decides answers, for the fingerprint."""
        ...

    def ask(self, query: Query) -> TokenizedQuery | Failed:
        """The query as tokens, or why it has no answer.

        Raises:
            ModelError: the model does not answer the query's task.
        """
        ...

    def answer(self, batch: Sequence[TokenizedQuery]) -> list[Prediction]:
        """One prediction per query, computed in one batch."""
        ...

    def scores(self, rows: Sequence[Row]) -> torch.Tensor:
        """(B, K) the scores that decide the answers, in float64 on the CPU. Noise is measured on them."""
        ...


def ranked(labels: Sequence[str], scores: torch.Tensor) -> tuple[tuple[tuple[str, float], ...], float | None]:
    """The highest scores by label, and the difference between the first and the second."""
    top = scores.topk(min(KEPT, len(labels)))
    values, indices = top.values.tolist(), top.indices.tolist()
    margin = values[0] - values[1] if len(values) > 1 else None
    return tuple(sorted((labels[index], value) for index, value in zip(indices, values, strict=True))), margin


@contextmanager
def quiet() -> Iterator[None]:
    """A context manager that silences `transformers` and what it calls; our own errors say what matters.

    Its settings are restored afterwards, because the caller's program may use the library, too.
    """
    level, bars = library_logging.get_verbosity(), library_logging.is_progress_bar_enabled()
    library_logging.set_verbosity(logging.CRITICAL)
    library_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    others = [logging.getLogger(name) for name in _LOUD]
    levels = [logger.level for logger in others]
    for logger in others:
        logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, before in zip(others, levels, strict=True):
            logger.setLevel(before)
        library_logging.set_verbosity(level)
        if bars:
            library_logging.enable_progress_bar()  # type: ignore[no-untyped-call]


@contextmanager
def of_its_files(name: str) -> Iterator[None]:
    """A context manager for the library's work on a model: what it raises is an error of the model's files.

    A config or a tokenizer may hold any value, and the library uses most of them unchecked.

    Raises:
        ModelError: the library raised something.
    """
    try:
        yield
    except CodeauditError:
        raise
    except Exception as error:
        words = f"{type(error).__name__}: {in_one_line(error)}"
        raise ModelError(f"cannot use {name!r}: its files do not fit each other ({words})") from error


def in_one_line(error: BaseException, most: int = 160) -> str:
    """The first sentences of an error's text, in at most `most` characters."""
    text = " ".join(str(error).split()) or type(error).__name__
    if len(text) <= most:
        return text.rstrip(".")
    head, stop, _ = text[:most].rpartition(". ")
    return head if stop else text[:most].rstrip() + "…"

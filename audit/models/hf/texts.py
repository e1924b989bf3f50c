"""Tokenizes texts within the window of a model. Used by every head."""

from collections.abc import Callable
from typing import Any, Final

from torch import nn

from codeaudit.audit.models.hf.batches import Row
from codeaudit.audit.models.prompts import customised
from codeaudit.audit.prompts import filled
from codeaudit.audit.records import Failed, Query

TOO_LONG: Final = Failed(reason="input too long")
UNKNOWN_WORD: Final = Failed(reason="token that the network does not know")

_UNSET: Final = 10**9
"""Tokenizers without a window report a number far above this."""


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

    def plain(self, text: str) -> Row:
        """The tokens of a text with the special tokens that the model expects around it.

        A special token written in the text is read as text, because code may contain `</s>` or `[MASK]`.
        """
        return tuple(self.tokenizer.encode(text, split_special_tokens=True))

    def marked(self, text: str, *, whole: bool) -> Row:
        """The tokens of a text whose special tokens are meant. `whole`: it has those at its ends already."""
        return tuple(self.tokenizer.encode(text, add_special_tokens=not whole))

    def fitted(
        self, query: Query, rows: Callable[[str], tuple[Row, ...]], *, grows: int = 0
    ) -> tuple[Row, ...] | Failed:
        """The rows of a source; with `truncate`, of the longest beginning that fits the window.

        Args:
            rows: makes the rows from a source.
            grows: tokens of the window that are reserved for the answer.
        """
        room = None if self.window is None else self.window - grows

        def fits(found: tuple[Row, ...]) -> bool:
            return room is None or max(map(len, found)) <= room

        found = rows(query.source)
        if max(map(max, found)) >= self.words:
            return UNKNOWN_WORD
        if fits(found):
            return found
        if not self.truncate:
            return TOO_LONG
        best: tuple[Row, ...] | Failed = TOO_LONG
        low, high = 1, len(query.source) - 1
        while low <= high:
            middle = (low + high) // 2
            found = rows(query.source[:middle])
            if fits(found):
                best, low = found, middle + 1
            else:
                high = middle - 1
        if best is not TOO_LONG:
            self.cut.add(query)
        return best


def window_of(tokenizer: Any, config: Any, network: nn.Module, sentence: int | None = None) -> int | None:
    """The largest number of tokens that a model reads; `None` without a limit.

    It is the smallest limit of the tokenizer, the config and a sentence encoder's own config. RoBERTa and
    its relatives number positions from after the padding index, so that fewer are usable than exist.
    """
    bounds = [sentence, tokenizer.model_max_length, getattr(config, "max_position_embeddings", None)]
    bounds.append(getattr(config, "n_positions", None))
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            used = 0 if module.padding_idx is None else module.padding_idx + 1
            bounds.append(module.num_embeddings - used)
    known = [int(bound) for bound in bounds if isinstance(bound, int | float) and 0 < bound < _UNSET]
    return min(known, default=None)


def shown(template: str | None) -> Callable[[Query, str], str]:
    """Makes the text that a model without a prompt is shown: the source, or the template with the source.

    Raises:
        UsageError: the template has no place for the source.
    """
    if template is None:
        return lambda query, source: source
    customised(template=template)
    return lambda query, source: filled(template, _with(query, source))


def _with(query: Query, source: str) -> Query:
    return query if source is query.source else Query(task=query.task, language=query.language, source=source)

"""From a text to the tokens of a model, within its window."""

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
"""A tokenizer that knows no window says a number far beyond this."""


class Texts:
    """A tokenizer with the window of its model. Counts what it had to cut."""

    def __init__(self, tokenizer: Any, *, window: int | None, words: int, truncate: bool) -> None:
        self.tokenizer = tokenizer
        self.window = window
        self.words = words
        """So many has the network; a tokenizer may come with special tokens beyond."""
        self.truncate = truncate
        self.cut: set[Query] = set()
        """The queries whose source was too long and lost its end."""

    def plain(self, text: str) -> Row:
        """A text between the tokens that the model expects around one.

        What looks like a special token in the text is text: code may hold `</s>` or `[MASK]`.
        """
        return tuple(self.tokenizer.encode(text, split_special_tokens=True))

    def marked(self, text: str, *, whole: bool) -> Row:
        """A text in which special tokens are meant. `whole`: those at its ends stand in it already."""
        return tuple(self.tokenizer.encode(text, add_special_tokens=not whole))

    def fitted(
        self, query: Query, rows: Callable[[str], tuple[Row, ...]], *, grows: int = 0
    ) -> tuple[Row, ...] | Failed:
        """The rows of a source, or of as much of its beginning as the window takes where that was asked for.

        `rows` makes them from the source; `grows` tokens of the window are for the answer.
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
    """The most tokens that a model reads; `None` where nothing bounds them.

    The smallest of what tokenizer, config and a sentence encoder's own config say. RoBERTa and its kin count
    positions from behind the padding's, so that fewer can be used than there are.
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
    """What a model without a prompt is shown of a query: the source, in a template where one is given.

    Raises:
        UsageError: the template has no place for the source.
    """
    if template is None:
        return lambda query, source: source
    customised(template=template)
    return lambda query, source: filled(template, _with(query, source))


def _with(query: Query, source: str) -> Query:
    return query if source is query.source else Query(task=query.task, language=query.language, source=source)

"""Texts as streams of tokens, for language models.

Byte-level pairs (Sennrich et al. 2016; Radford et al. 2019) learned from a corpus: every text can be written
in them and read back. A line break is always a token by itself, which ends its line. One more token, `start`,
stands before every text and after it; no text holds it, whatever it spells.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from tokenizers import Regex, Tokenizer
from tokenizers.decoders import ByteLevel as Bytes
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Split
from tokenizers.pre_tokenizers import Sequence as Steps
from tokenizers.trainers import BpeTrainer

from codeaudit.transforms.errors import SourceError

VERSION: Final = 1
"""Counts up whenever a text is shown otherwise to a network."""
WORDS: Final = r"\n| ?[\p{L}_]+| ?\p{N}{1,3}| ?[^\s\p{L}\p{N}_]+|[^\S\n]+(?!\S)|[^\S\n]+"
"""The pieces that no token crosses: a line break, a word or sign with the blank before it, or blanks."""

Integers = npt.NDArray[np.int64]


class Streams:
    """Text to ids and back."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        newline = tokenizer.token_to_id("\u010a")  # how the byte of a line break is spelled
        if newline is None:
            raise ValueError("a tokenizer without a line break")
        self.tokenizer = tokenizer
        self.newline: int = newline

    @property
    def start(self) -> int:
        """The id of the token before and after every text."""
        return self.tokenizer.get_vocab_size()

    @property
    def vocabulary(self) -> int:
        """How many ids there are."""
        return self.tokenizer.get_vocab_size() + 1

    def ids(self, text: str) -> list[int]:
        """The tokens of a text, without `start`.

        Raises:
            SourceError: it holds halves of characters, which are no text.
        """
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise SourceError("text that cannot be written in UTF-8") from error
        found: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return found

    def text(self, ids: Sequence[int]) -> str:
        """The text of tokens; `start` is nothing. Of characters that are not whole, U+FFFD is left."""
        found: str = self.tokenizer.decode([one for one in ids if one != self.start])
        return found


def places(ids: Sequence[int], newline: int, start: int) -> tuple[Integers, Integers]:
    """Of each token the number of its line, and the position of that line's anchor.

    Line breaks and `start` end their lines. The anchor is the token that ended the line before; where there
    is none, position 0 stands for it.
    """
    lines, anchors = (np.zeros(len(ids), dtype=np.int64) for _ in range(2))
    line = anchor = 0
    for number, one in enumerate(ids):
        lines[number], anchors[number] = line, anchor
        if one in (newline, start):
            line, anchor = line + 1, number
    return lines, anchors


def learn(texts: Iterable[str], vocabulary: int) -> Streams:
    """A tokenizer of the most frequent pairs in texts: `vocabulary` ids, or fewer without more pairs."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = Steps(
        [Split(Regex(WORDS), "isolated"), ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = Bytes()
    trainer = BpeTrainer(
        vocab_size=vocabulary - 1, initial_alphabet=ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return Streams(tokenizer)

"""Texts as streams of tokens: lossless, line breaks apart, `start` beyond the reach of any text."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from codeaudit.audit.papers.dependency_encoding.material import Streams, learn
from codeaudit.audit.papers.dependency_encoding.trunk import DecoderSizes, TokenPlaces
from codeaudit.transforms.errors import SourceError

TEXTS = ["def area(width, height):\n    return width * height\n", "for i in range(10):\n    print(i)\n"] * 5
STREAMS = learn(TEXTS, 300)
AWKWARD = (
    "",
    "\n",
    "\n\n\n",
    "a\r\nb",
    "  \n\t\n",
    "é → 😀",
    "<bos><start></s>\u010a",
    " lead and trail ",
    "\x00\x0c\x85",
    "x = '\u2028'\n",
)


@pytest.mark.parametrize("text", [*TEXTS[:2], *AWKWARD])
def test_a_text_is_read_back_as_it_was(text: str) -> None:
    """And none of its tokens is `start`."""
    ids = STREAMS.ids(text)
    assert STREAMS.text(ids) == text
    assert STREAMS.start not in ids
    assert max(ids, default=0) < STREAMS.vocabulary - 1


@pytest.mark.slow
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_back(text: str) -> None:
    """With as many line breaks among its tokens as it has."""
    ids = STREAMS.ids(text)
    assert STREAMS.text(ids) == text
    assert ids.count(STREAMS.newline) == text.count("\n")
    spelled = {number: token for token, number in STREAMS.tokenizer.get_vocab().items()}
    assert sum(len(spelled[token]) for token in ids) == len(text.encode())


def test_a_line_break_is_never_part_of_a_token() -> None:
    """Not even where blank lines and indentation are the most frequent of all pairs."""
    streams = learn(["\n\n    \n\n    \n"] * 50, 270)
    broken = [token for token in streams.tokenizer.get_vocab() if "\u010a" in token and token != "\u010a"]
    assert not broken
    assert len(streams.ids("\n\n    \n")) < 7  # blanks do merge


def test_start_is_nothing_in_a_text() -> None:
    """It ends what is written, and is not shown."""
    ids = [STREAMS.start, *STREAMS.ids("a = 1\n"), STREAMS.start]
    assert STREAMS.text(ids) == "a = 1\n"


def test_the_same_texts_give_the_same_tokens() -> None:
    """Written down and read again, too."""
    again = learn(TEXTS, 300)
    assert again.tokenizer.to_str() == STREAMS.tokenizer.to_str()
    copied = Streams(Tokenizer.from_str(STREAMS.tokenizer.to_str()))
    assert copied.ids(TEXTS[0]) == STREAMS.ids(TEXTS[0])
    assert copied.newline == STREAMS.newline


def test_halves_of_characters_are_refused() -> None:
    """They cannot be written in UTF-8."""
    with pytest.raises(SourceError, match="UTF-8"):
        STREAMS.ids("a = '\ud800'")


def test_lines_and_anchors() -> None:
    """A line break belongs to the line that it ends; the first line's anchor is `start`."""
    start, newline = 9, 3
    ids = [start, 1, 2, newline, newline, 4, newline, 5]
    sizes = DecoderSizes(vocabulary=10, newline=newline, start=start)
    places = TokenPlaces.of(torch.tensor([ids]), len(ids), sizes)
    assert places.lines[0].tolist() == [0, 1, 1, 1, 2, 3, 3, 4]
    assert places.anchors[0].tolist() == [0, 0, 0, 0, 3, 4, 4, 6]

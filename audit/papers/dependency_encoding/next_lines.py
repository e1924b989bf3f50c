"""Lines to complete after long contexts, (Table 2 of the CoDE paper)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import torch
from torch import Tensor

from codeaudit.audit.papers.dependency_encoding import material
from codeaudit.audit.papers.dependency_encoding.material import Streams
from codeaudit.audit.papers.dependency_encoding.trunk import Cache, Decoder
from codeaudit.audit.tasks.scoring import bleu, edit_similarity
from codeaudit.transforms.records import Sample

LONGEST: Final = 24
"""The longest line that is completed, in tokens."""


class Line(NamedTuple):
    """A line to be completed, and the tokens before it."""

    context: list[int]
    before: str
    """The last line that is not blank."""
    text: str


def lines_of(samples: Sequence[Sample], streams: Streams, size: int) -> list[Line]:
    """Lines that are not blank and have at most `LONGEST` tokens, with `size` tokens before them, which no
    other line has.
    """
    found = []
    for texts in material.documents(samples, streams):
        whole = [one for text in texts for one in text]
        breaks = [at for at, one in enumerate(whole) if one == streams.newline]
        free = 0
        for cut, end in pairwise(breaks):
            context, line = whole[max(0, cut + 1 - size) : cut + 1], whole[cut + 1 : end]
            text = plain(streams.text(line))
            if cut + 1 - size < free or not text or len(line) > LONGEST or streams.start in line:
                continue
            shown = [plain(one) for one in streams.text(context).splitlines()]
            found.append(Line(context, next((one for one in reversed(shown) if one), ""), text))
            free = end
    return found


@torch.no_grad()
def completed(network: Decoder, lines: Sequence[Line], streams: Streams, size: int) -> list[tuple[str, str]]:
    """What a network writes, taking the likeliest token each time, after the last `size` tokens; and what
    stands there.
    """
    found, ends, device = [], (streams.newline, streams.start), network.tokens.weight.device
    for first in range(0, len(lines), 50):
        some = lines[first : first + 50]
        cache, ids = Cache(), torch.tensor([[streams.start, *line.context[-size:]] for line in some])
        ids = ids.to(device)
        said: list[Tensor] = []
        ended = torch.zeros(len(some), dtype=torch.bool, device=device)
        while len(said) < LONGEST and not ended.all():
            hidden, _ = network.hidden(ids, cache)
            ids = network.logits(hidden[:, -1:]).argmax(-1)
            said.append(ids[:, 0])
            ended |= torch.isin(ids[:, 0], torch.tensor(ends, device=device))
        for line, row in zip(some, torch.stack(said, 1).tolist(), strict=True):
            end = next((at for at, one in enumerate(row) if one in ends), None)
            found.append((plain(streams.text(row[:end])), line.text))
    return found


def near(pairs: Sequence[tuple[str, str]]) -> dict[str, float]:
    """BLEU-4, share of exact matches, and edit similarity between answers and labels, each from 0 to 1."""
    same, similar = (
        sum(one(said, right) for said, right in pairs) / len(pairs) for one in (str.__eq__, edit_similarity)
    )
    return {"BLEU": bleu(pairs, smooth=True), "exact": same, "edit": similar}


def plain(text: str) -> str:
    """The text with each run of blanks replaced by one blank."""
    return " ".join(text.split())

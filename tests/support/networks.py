"""Small networks with generic random weights in float64, and every legal order of small functions."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

import torch
from tokenizers import Tokenizer

from codeaudit.audit.papers.lines.encoding import EncodedLines, LineEncoder, wordpiece_tokenizer
from codeaudit.audit.papers.lines.trunk import LineNetwork, LineShape, collate
from codeaudit.audit.papers.lines.words import words
from codeaudit.audit.papers.spe_attention.networks import NETWORKS, build
from codeaudit.transforms.dependence.blocks import StatementBlock
from codeaudit.transforms.dependence.orders import enumerate_orders
from codeaudit.transforms.python.analysis.program import PythonProgram, analyse
from codeaudit.transforms.reordering import is_movable, reordered
from tests.support import stdlib

LABELS = ("add", "get", "name", "sum", "total", "value")


@cache
def tokenizer() -> Tokenizer:
    """Made from a few functions of the standard library."""
    counts: Counter[str] = Counter()
    for source in stdlib.sample(100):
        for line in analyse(source).lines:
            counts.update(words(line))
    return wordpiece_tokenizer(counts, LABELS, size=700)


def shape(**sizes: int) -> LineShape:
    """A small shape over that tokenizer."""
    given = {"width": 16, "layers": 2, "heads": 4, "neighbours": 2, **sizes}
    words = tokenizer().get_vocab_size()
    return LineShape(vocabulary=words, labels=len(LABELS), copying=True, **given)  # type: ignore[arg-type]


def network(kind: str, **options: object) -> LineNetwork:
    """A network in which no weight is zero and no two are equal. `neighbours` is of its shape."""
    neighbours = int(str(options.pop("neighbours", 2)))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        made = build(kind, shape(neighbours=neighbours), options).double().eval()
        with torch.no_grad():
            for weight in made.parameters():
                weight.normal_(0, 0.5)
    made.trunk.label_tokens.copy_(torch.tensor([tokenizer().token_to_id(label) for label in LABELS]))
    return made


def encoded(kind: str, source: str) -> EncodedLines:
    """The features of a source for a network."""
    relation = NETWORKS[kind].relation
    lines = LineEncoder(tokenizer(), window=2048, relation=relation, labels=LABELS).encode(source)
    assert isinstance(lines, EncodedLines), lines
    return lines


@torch.no_grad()
def logits(made: LineNetwork, *inputs: EncodedLines) -> torch.Tensor:
    """(B, K + C)."""
    found: torch.Tensor = made(collate(inputs))
    return found


class Legal(NamedTuple):
    """One legal order of a function."""

    source: str
    lines: tuple[int, ...]
    """Old line numbers in new order."""


def legal_orders(source: str) -> Iterator[Legal]:
    """Every legal order of a function's text; those of all blocks combined."""
    program = analyse(source)
    movable = [number for number, block in enumerate(program.blocks) if is_movable(block)]
    choices = [list(enumerate_orders(program.blocks[number].predecessors)) for number in movable]
    for combination in product(*choices):
        chosen = dict(zip(movable, combination, strict=True))
        text = reordered(program.source.encode(), program.blocks, chosen)
        yield Legal(text, tuple(_lines(program, program.root, chosen)))


def _lines(
    program: PythonProgram, block: StatementBlock, chosen: dict[int, tuple[int, ...]]
) -> Iterator[int]:
    number = next(place for place, one in enumerate(program.blocks) if one is block)
    for statement in chosen.get(number, range(len(block.statements))):
        for part in block.statements[statement].parts:
            if isinstance(part, StatementBlock):
                yield from _lines(program, part, chosen)
            else:
                yield part


SMALL = (
    """\
def MASK(items, name):
    total = 0
    seen = 1
    label = name
    if items:
        first = 2
        second = 3
        total = first + second
    else:
        total = 4
    return total, seen, label
""",
    """\
def MASK(values):
    a = 1
    b = 2
    c = a + b
    d = 3
    return values, c, d
""",
    """\
def MASK(value):
    try:
        left = 1
        right = 2
    except ValueError:
        left = right = 3
    other = [left, right, value]
    count = 5
    return other, count
""",
)
"""Functions with few legal orders each, nested blocks among them."""

CHAIN = """\
def MASK(value):
    first = 1
    second = 2
    third = first + second
    return third + value
"""

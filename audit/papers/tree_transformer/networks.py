"""Transformers over trees by name: each names a function, or completes a tree.

The sum of the embeddings of type and value enters. Embeddings have rows of norm 1 and are scaled by √d, as in
Vaswani et al. (2017). Output words share the embeddings of input words. The namer's encoder and decoder are
post-norm as in the paper, the completer is pre-norm. The networks differ in their scheme of positions
(`positions`); `TREE_NETWORKS` lists them.

Dimension key: B batch, n nodes, T words of a name, S words of a value, K names, V values, H heads, k width
of a head, d width.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from codeaudit.audit.papers.lines import fused
from codeaudit.audit.papers.lines.attention import Causal
from codeaudit.audit.papers.lines.fused import PairRule
from codeaudit.audit.papers.lines.trunk import feed_forward
from codeaudit.audit.papers.registry import entry_of
from codeaudit.audit.papers.tree_transformer.batches import TreeBatch
from codeaudit.audit.papers.tree_transformer.nodes import BEGIN, END, LIMIT, SPECIALS, Degree
from codeaudit.audit.papers.tree_transformer.positions import (
    Kim,
    LayerScheme,
    Prepared,
    Scheme,
    Sequential,
    Shaw,
    Shiv,
    TreePositions,
)

Norm: TypeAlias = Literal["post", "pre"]

LONGEST: Final = 8
"""Most words of a name that is said."""
BEGIN_ID: Final = SPECIALS.index(BEGIN)
END_ID: Final = SPECIALS.index(END)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeShape:
    """The sizes of a network."""

    types: int
    values: int
    names: int = 0
    """Words that a namer can say, without the end."""
    width: int = 128
    layers: int = 2
    decoder_layers: int = 1
    heads: int = 4
    inner: int | None = None
    """Inner width of the feed-forward branch; without one 4 d."""
    levels: int = 16
    """D: levels of a path that are read."""
    embedding: int = 32
    """Of a coordinate."""
    window: int = LIMIT
    """Most nodes."""
    dropout: float = 0.1


class KeysValues(NamedTuple):
    """What is asked of by attention."""

    key: Tensor
    """(B, H, m, k)"""
    value: Tensor
    """(B, H, m, k)"""


class TreeAttention(nn.Module):
    """Multi-head attention, with a scheme's part in the scores."""

    def __init__(self, width: int, heads: int, scheme: LayerScheme | None = None) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.outward = (nn.Linear(width, width) for _ in range(4))
        self.scheme = scheme

    def forward(self, x: Tensor, source: Tensor, mask: Tensor, prepared: Prepared | None = None) -> Tensor:
        """(B, n, d) that ask and (B, m, d) that are asked; `mask` is true where nobody may look."""
        return self.asking(x, self.keys_values(source), mask, prepared)

    def keys_values(self, source: Tensor) -> KeysValues:
        """(B, m, d) that are asked."""
        return KeysValues(self._split(self.key(source)), self._split(self.value(source)))

    def asking(
        self, x: Tensor, keys_values: KeysValues, mask: Tensor | None, prepared: Prepared | None = None
    ) -> Tensor:
        """As `forward`, of keys and values that are computed already; without a mask all may look."""
        query = self._split(self.query(x))
        key, value = keys_values
        if self.scheme is not None and prepared is not None:
            attended = self.scheme.attended(query, key, value, prepared)
            if attended is not None:
                return self._joined(attended)
        scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[-1])
        if self.scheme is not None and prepared is not None:
            scores = self.scheme.scores(scores, query, key, prepared)
        if mask is not None:
            scores = scores.masked_fill(mask, -torch.inf)
        weights = scores.softmax(-1)
        mixed = weights @ value
        if self.scheme is not None:
            gain = self.scheme.gain(weights)
            mixed = mixed if gain is None else mixed + gain
        return self._joined(mixed)

    def _joined(self, heads: Tensor) -> Tensor:
        """(B, H, n, k) to (B, n, d)."""
        joined: Tensor = self.outward(heads.transpose(1, 2).flatten(2))
        return joined

    def _split(self, x: Tensor) -> Tensor:
        """(B, n, d) to (B, H, n, k)."""
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)


@dataclass
class BlockState:
    """What one block of a decoder keeps, so that each word is computed once."""

    tree: KeysValues
    """Of the encoded tree."""
    words: KeysValues | None = None
    """Of the words said so far."""

    def extended(self, new: KeysValues) -> KeysValues:
        """The keys and values of all words, after those of new ones are added."""
        if self.words is not None:
            key, value = (torch.cat(pair, 2) for pair in zip(self.words, new, strict=True))
            new = KeysValues(key, value)
        self.words = new
        return new


class TreeBlock(nn.Module):
    """Attention to itself, to another text where there is one, and a feed-forward branch."""

    def __init__(
        self, shape: TreeShape, norm: Norm, scheme: LayerScheme | None = None, *, crossed: bool = False
    ) -> None:
        super().__init__()
        width = shape.width
        self.norm = norm
        self.attention = TreeAttention(width, shape.heads, scheme)
        self.cross = TreeAttention(width, shape.heads) if crossed else None
        self.feed = feed_forward(width, shape.inner)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if crossed else 2))
        self.dropout = nn.Dropout(shape.dropout)

    def listen_plainly(self) -> None:
        """Values and output of the cross attention start at the identity: it passes states on as they are."""
        if self.cross is not None:
            for layer in (self.cross.value, self.cross.outward):
                layer.weight.zero_().fill_diagonal_(1)

    def keeping(self, memory: Tensor) -> BlockState:
        """The state in which no word is said yet of an encoded tree, (B, n, d)."""
        assert self.cross is not None
        return BlockState(self.cross.keys_values(memory))

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None,
        prepared: Prepared | None = None,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
        kept: BlockState | None = None,
    ) -> Tensor:
        """(B, n, d) to (B, n, d).

        With `kept`, x stands behind the words that were read before; then `memory` and `mask` are absent.
        """

        def look(x: Tensor) -> Tensor:
            keys_values = self.attention.keys_values(x)
            return self.attention.asking(
                x, keys_values if kept is None else kept.extended(keys_values), mask, prepared
            )

        def listen(x: Tensor) -> Tensor:
            assert self.cross is not None
            if kept is not None:
                return self.cross.asking(x, kept.tree, memory_mask)
            heard: Tensor = self.cross(x, memory, memory_mask)
            return heard

        steps: list[Callable[[Tensor], Tensor]] = [look, listen, self.feed]
        if self.cross is None:
            del steps[1]
        # The pre-norm branch of the paper's code adds to the normed input instead of x; that is not copied.
        for norm, step in zip(self.norms, steps, strict=True):
            x = x + self.dropout(step(norm(x))) if self.norm == "pre" else norm(x + self.dropout(step(x)))
        return x


class Embedded(nn.Module):
    """Types and values as vectors."""

    def __init__(self, shape: TreeShape) -> None:
        super().__init__()
        self.types = nn.Embedding(shape.types, shape.width, padding_idx=0)
        self.values = nn.Embedding(shape.values, shape.width, padding_idx=0)
        self.scale = math.sqrt(shape.width)
        with torch.no_grad():
            for table in (self.types, self.values):
                nn.init.normal_(table.weight, std=shape.width**-0.5)
                table.weight[0] = 0

    def forward(self, batch: TreeBatch) -> Tensor:
        """(B, n, d): the type, and the mean of the value's words."""
        words = batch.values
        # Embeddings of rows of norm 1 and a mean over words: a value of five words is as large as one of one.
        counts = (words != 0).sum(-1, keepdim=True).clamp(min=1)
        values = self.values(words).sum(2) / counts
        embedded: Tensor = (self.types(batch.types) + values) * self.scale
        return embedded


def padding(batch: TreeBatch) -> Tensor:
    """(B, 1, 1, n) true for padding."""
    return ~batch.real[:, None, None, :]


def seeing(prepared: Prepared, batch: TreeBatch, *, later: bool) -> Prepared:
    """With the pairs that are seen, where the fused kernel is taken: those of `later` nodes too, or not."""
    if not fused.pays(batch.types):
        return prepared
    if not later:
        return replace(prepared, seen=Causal(torch.zeros_like(batch.types)).described)
    real = batch.real
    rule = PairRule(allowed=lambda example, head, row, node: real[example, node])
    examples, nodes = real.shape
    return replace(prepared, seen=fused.described(rule, examples, nodes, nodes, real.device))


class NameWords(NamedTuple):
    """The words of a namer, with their logits."""

    words: Tensor
    """(B, T) numbers of names, 0 from the end on."""
    scores: Tensor
    """(B, T) logits of the words said."""
    margins: Tensor
    """(B,) by how much all logits may move without another word being said."""


class Namer(nn.Module):
    """An encoder of the tree, and a decoder of its name's words."""

    spoken: Tensor
    """(1 + K,) the values that the words are: the end first."""

    def __init__(self, shape: TreeShape, scheme: Scheme) -> None:
        super().__init__()
        self.embedded = Embedded(shape)
        self.scheme = scheme
        self.blocks = nn.ModuleList(TreeBlock(shape, "post", scheme.layer()) for _ in range(shape.layers))
        self.places = nn.Embedding(LONGEST + 1, shape.width)
        self.decoder = nn.ModuleList(
            TreeBlock(shape, "post", crossed=True) for _ in range(shape.decoder_layers)
        )
        self.bias = nn.Parameter(torch.zeros(1 + shape.names))
        self.dropout = nn.Dropout(shape.dropout)
        self.register_buffer("spoken", torch.full((1 + shape.names,), END_ID))
        with torch.no_grad():
            # Small, so that the first words are chosen by what they are, not by where they stand.
            nn.init.normal_(self.places.weight, std=0.02)
            for block in self.decoder:
                assert isinstance(block, TreeBlock)
                block.listen_plainly()

    def encode(self, batch: TreeBatch) -> Tensor:
        """(B, n, d)."""
        x: Tensor = self.dropout(self.scheme.enter(self.embedded(batch), batch))
        prepared, mask = seeing(self.scheme.prepare(batch), batch, later=True), padding(batch)
        for block in self.blocks:
            x = block(x, mask, prepared)
        return x

    def forward(self, batch: TreeBatch, before: Tensor) -> Tensor:
        """(B, T) values said before, `BEGIN` first, to (B, T, 1 + K) logits of the next word."""
        hidden: Tensor = self.decode(self.encode(batch), padding(batch), before)
        return hidden

    def decode(self, memory: Tensor, memory_mask: Tensor, before: Tensor) -> Tensor:
        """As `forward`, of an encoded tree."""
        size = before.shape[1]
        x = self.dropout((self.embedded.values(before) + self.places.weight[:size]) * self.embedded.scale)
        mask = torch.ones(size, size, dtype=torch.bool, device=before.device).triu(1)
        for block in self.decoder:
            x = block(x, mask, None, memory, memory_mask)
        return F.linear(x, self.embedded.values.weight[self.spoken], self.bias)

    @torch.no_grad()
    def say(self, batch: TreeBatch) -> NameWords:
        """The most probable word, again and again, until the end or `LONGEST` words. A name has a word."""
        memory, memory_mask = self.encode(batch), padding(batch)
        count = len(memory)
        states = [block.keeping(memory) for block in self.decoder if isinstance(block, TreeBlock)]
        spoken = self.embedded.values.weight[self.spoken]
        last = torch.full((count,), BEGIN_ID, device=memory.device)
        words, scores = (
            torch.zeros(count, 0, dtype=kind, device=memory.device) for kind in (torch.long, torch.double)
        )
        margins = torch.full((count,), torch.inf, dtype=torch.double, device=memory.device)
        ended = torch.zeros(count, dtype=torch.bool, device=memory.device)
        for place in range(LONGEST):
            # As `decode`, one word at a time: what was computed of earlier words is kept.
            x = ((self.embedded.values(last) + self.places.weight[place]) * self.embedded.scale)[:, None]
            for block, state in zip(self.decoder, states, strict=True):
                x = block(x, None, memory_mask=memory_mask, kept=state)
            logits = F.linear(x[:, 0], spoken, self.bias).double()
            if place == 0:
                logits[:, 0] = -torch.inf  # the end; a name has at least one word
            best = logits.topk(min(2, logits.shape[1]), dim=1)
            word = best.indices[:, 0].masked_fill(ended, 0)
            # Half the gap to the second: one logit may fall while the other rises by as much.
            gap = (best.values[:, 0] - best.values[:, -1]) / 2
            margins = torch.where(ended, margins, torch.minimum(margins, gap))
            words = torch.cat([words, word[:, None]], 1)
            scores = torch.cat([scores, best.values[:, :1]], 1)
            ended |= word == 0
            if bool(ended.all()):
                break
            last = self.spoken[word]
        return NameWords(words, scores, margins)


class Completed(NamedTuple):
    """Logits of the next node, at each node."""

    types: Tensor
    """(B, n, types) logits."""
    values: Tensor
    """(B, n, V) logits."""


class Completer(nn.Module):
    """A decoder that predicts of each node the next one's type and value; it sees nothing later."""

    def __init__(self, shape: TreeShape, scheme: Scheme) -> None:
        super().__init__()
        self.embedded = Embedded(shape)
        self.scheme = scheme
        self.blocks = nn.ModuleList(TreeBlock(shape, "pre", scheme.layer()) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.width)
        self.for_types, self.for_values = (nn.Linear(shape.width, shape.width) for _ in range(2))
        self.type_bias = nn.Parameter(torch.zeros(shape.types))
        self.value_bias = nn.Parameter(torch.zeros(shape.values))
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, batch: TreeBatch) -> Completed:
        """The logits of the node after each node."""
        x = self.hidden(batch)
        return Completed(self.type_logits(x), self.value_logits(x))

    def hidden(self, batch: TreeBatch) -> Tensor:
        """(B, n, d)."""
        x = self.dropout(self.scheme.enter(self.embedded(batch), batch))
        nodes = x.shape[1]
        later = torch.ones(nodes, nodes, dtype=torch.bool, device=x.device).triu(1)
        # Padding is at the end, so no node sees it.
        prepared = seeing(self.scheme.prepare(batch), batch, later=False)
        for block in self.blocks:
            x = block(x, later, prepared)
        hidden: Tensor = self.norm(x)
        return hidden

    def type_logits(self, x: Tensor) -> Tensor:
        """(…, d) to (…, types)."""
        return F.linear(self.for_types(x), self.embedded.types.weight, self.type_bias)

    def value_logits(self, x: Tensor) -> Tensor:
        """(…, d) to (…, V)."""
        return F.linear(self.for_values(x), self.embedded.values.weight, self.value_bias)


def sizes(network: nn.Module) -> Mapping[str, int]:
    """Trained weights, of all and of the scheme alone."""
    scheme = getattr(network, "scheme", nn.Module())
    of_scheme = {id(weight) for weight in scheme.parameters()}
    for module in network.modules():
        if isinstance(module, LayerScheme):
            of_scheme |= {id(weight) for weight in module.parameters()}
    counts = {id(weight): weight.numel() for weight in network.parameters()}
    return {"all": sum(counts.values()), "scheme": sum(counts[weight] for weight in of_scheme)}


Purpose: TypeAlias = Literal["names", "completion"]

REACH: Final[Mapping[Purpose, int]] = {"names": 250, "completion": 32}
"""Shaw's farthest distances, as in the paper's code."""
RELATIONS: Final[Mapping[Purpose, int]] = {"names": 600, "completion": 10_405}
"""Kim's relations with a number of their own, as in the paper's code; there are 4096 relations here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeArchitecture:
    """One entry."""

    summary: str
    options: Mapping[str, object]
    """Settings beside the shape, with their defaults."""
    make: Callable[..., Scheme]


TREE_NETWORKS: Final[Mapping[str, TreeArchitecture]] = {
    "tree": TreeArchitecture(
        summary="a tree transformer with two-dimensional tree positions",
        options={"terms": "both", "dimension": "both", "nonadjacent": "zero"},
        make=lambda shape, purpose, **options: TreePositions(
            shape.width, shape.heads, levels=shape.levels, embedding=shape.embedding, **options
        ),
    ),
    "tree-vanilla": TreeArchitecture(
        summary="a plain transformer over the nodes of a tree in depth-first order",
        options={},
        make=lambda shape, purpose: Sequential(shape.width, shape.window),
    ),
    "tree-shaw": TreeArchitecture(
        summary="a transformer with relative distances in depth-first order",
        options={},
        make=lambda shape, purpose: Shaw(shape.width, shape.heads, reach=min(REACH[purpose], shape.window)),
    ),
    "tree-shiv": TreeArchitecture(
        summary="a transformer with Shiv and Quirk's paths to the root",
        options={},
        make=lambda shape, purpose: Shiv(shape.width),
    ),
    "tree-kim": TreeArchitecture(
        summary="a transformer with Kim's steps up and down",
        options={"combination": "additive"},
        make=lambda shape, purpose, **options: Kim(
            shape.heads, relations=min(RELATIONS[purpose], 4096), **options
        ),
    ),
}
"""Of tables 1 and 2. The ablations are options of `tree`."""
DEGREES: Final[tuple[Degree, ...]] = ("full", "prefix")


def scheme(name: str, shape: TreeShape, options: Mapping[str, object], purpose: Purpose) -> Scheme:
    """How a network knows where nodes are.

    Raises:
        UsageError: an unknown name, or an option that it does not take.
    """
    entry = entry_of("network", TREE_NETWORKS, name, options)
    return entry.make(shape, purpose, **{**entry.options, **options})


def namer(name: str, shape: TreeShape, options: Mapping[str, object]) -> Namer:
    """A network that names functions.

    Raises:
        UsageError: as `scheme`.
    """
    return Namer(shape, scheme(name, shape, options, "names"))


def completer(name: str, shape: TreeShape, options: Mapping[str, object]) -> Completer:
    """A network that completes trees.

    Raises:
        UsageError: as `scheme`.
    """
    return Completer(shape, scheme(name, shape, options, "completion"))

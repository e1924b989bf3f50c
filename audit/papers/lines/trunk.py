"""The trunk of the networks that read lines: everything except positions and attention.

Pre-norm transformer blocks (Vaswani et al. 2017; Xiong et al. 2020), pooling over the tokens, and the
two-layer head of SPE attention, section 5.2. A network file adds its attention and its positions.

Four things are not in the papers. Each network can have them, and no order of the lines changes them:

- The rows of the last layer are the embeddings of the labels' own tokens, so a word that is read can be said.
- Every token votes for the label that it is (after the copying of See et al. 2017): a label's logit gains
  c · log(1 + Σ softplus(w · x_t + b)) over its occurrences. Mean pooling alone dilutes one word in a hundred.
- A word of the function that is no label can be an answer as well (`copying`). Its logit is that gain plus a
  bias. Half of the subtokens of names stand in the function, and a seventh of these are no label.
- Before the blocks, each token takes up its neighbours in its line (`neighbours`): a convolution along the
  line, one number for each distance and hidden unit. Attention has to learn which token is the next one.

A bug is at one place. To find it, the head reads every token by itself, and the log of the mean of exp is
taken over its outputs: a smooth maximum, independent of the order of the tokens.

Dimension key: B batch, T tokens, N lines, D width, H heads, K labels, V vocabulary, C words to copy.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from codeaudit.audit.papers.lines.attention import HeadGroup, attend
from codeaudit.audit.papers.lines.encoding import EncodedLines

if TYPE_CHECKING:
    from codeaudit.audit.models.hf.encoder import Encoder

Pooling: TypeAlias = Literal["mean", "max", "votes"]
"""`mean` and `max` pool hidden states before the head; `votes` pools the head's outputs for each token."""

Groups: TypeAlias = tuple[HeadGroup, ...]
"""What the heads of a layer know about pairs of tokens."""
Relation: TypeAlias = tuple[Any, ...]
"""What the layers know about pairs of tokens; only the attentions of the network that made it look inside."""

PAD: Final = 0
"""The id of padding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineShape:
    """The sizes of a network."""

    vocabulary: int
    labels: int
    width: int = 128
    layers: int = 3
    heads: int = 4
    window: int = 256
    """Most tokens of an input; also the number of positions of the vanilla network."""
    line: int = 48
    """Most tokens of a line; also the number of positions of the other networks."""
    pooling: Pooling = "mean"
    dropout: float = 0.0
    inner: int | None = None
    """Inner width of the feed-forward branch; without one 4 D."""
    neighbours: int = 0
    """How many tokens to each side a token takes up before the blocks."""
    copying: bool = False
    """Whether a word that is no label can be an answer."""
    encoder: Mapping[str, Any] | None = None
    """The config of an encoder of the `transformers` library in the place of the blocks and positions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Padded inputs."""

    ids: Tensor
    """(B, T) token ids, 0 for padding."""
    line: Tensor
    """(B, T) line of each token, 0 for padding."""
    position: Tensor
    """(B, T) place inside the line, 0 for padding."""
    relation: Tensor
    """(B, R, N, N) relations between lines as small integers; R is 0, 1 or 2."""
    referents: Tensor | None = None
    """(B, T) which variable each token is, counted from 1, 0 for none; `None` where names are read."""
    copies: Tensor | None = None
    """(B, T) which word to copy begins at each token, counted from 1, 0 for none; `None` without copying."""
    spoken: Tensor | None = None
    """(B, C) whether an input has so many words to copy; C is the largest number of them."""

    @property
    def real(self) -> Tensor:
        """(B, T) true where there is a token."""
        return self.ids != PAD

    def to(self, device: str) -> "Batch":
        """On another device."""
        tensors = {name: getattr(self, name) for name in self.__slots__}
        return replace(
            self, **{name: tensor.to(device) for name, tensor in tensors.items() if tensor is not None}
        )


def collate(inputs: Sequence[EncodedLines]) -> Batch:
    """Inputs of any lengths, padded to the longest."""
    tokens = max(len(encoded.ids) for encoded in inputs)
    lines = max(encoded.lines for encoded in inputs)
    ids, line, position, referents, copies = (np.zeros((len(inputs), tokens), np.int64) for _ in range(5))
    bound = all(encoded.referents is not None for encoded in inputs)
    copying = all(encoded.copies is not None for encoded in inputs)
    relation = np.zeros((len(inputs), len(inputs[0].relation), lines, lines), dtype=np.uint8)
    spoken = np.zeros((len(inputs), max(encoded.spoken for encoded in inputs)), dtype=bool)
    for row, encoded in enumerate(inputs):
        count = len(encoded.ids)
        ids[row, :count] = encoded.ids
        line[row, :count] = encoded.line
        position[row, :count] = encoded.position
        relation[row, :, : encoded.lines, : encoded.lines] = encoded.relation
        if encoded.referents is not None:
            referents[row, :count] = encoded.referents
        if encoded.copies is not None:
            copies[row, :count] = encoded.copies
            spoken[row, : encoded.spoken] = True
    return Batch(
        ids=torch.from_numpy(ids),
        line=torch.from_numpy(line),
        position=torch.from_numpy(position),
        relation=torch.from_numpy(relation),
        referents=torch.from_numpy(referents) if bound else None,
        copies=torch.from_numpy(copies) if copying else None,
        spoken=torch.from_numpy(spoken) if copying else None,
    )


class Projections(nn.Module):
    """The queries, keys and values of multi-head attention, and its way out."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.inward = nn.Linear(width, 3 * width)
        self.outward = nn.Linear(width, width)

    def split(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(B, T, D) to queries, keys and values, each (B, H, T, D / H)."""
        batch, tokens, width = x.shape
        parts = self.inward(x).view(batch, tokens, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        return query, key, value

    def join(self, heads: Tensor) -> Tensor:
        """(B, H, T, D / H) to (B, T, D)."""
        joined: Tensor = self.outward(heads.transpose(1, 2).flatten(2))
        return joined


class TrunkAttention(nn.Module):
    """Multi-head attention without its `forward`, which each network file adds."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.projections = Projections(width, heads)


class BiasedAttention(TrunkAttention):
    """softmax(Q Kᵀ / √d + bias) V."""

    def __init__(self, width: int, heads: int, groups: int = 0) -> None:
        """`groups` numbers the head groups of this layer, out of those that the network makes."""
        super().__init__(width, heads)
        self.groups = groups

    def forward(self, x: Tensor, relation: tuple[Groups, ...]) -> Tensor:
        """(B, T, D) and the head groups of some layers, to (B, T, D)."""
        return self.projections.join(attend(*self.projections.split(x), relation[self.groups]))


def feed_forward(width: int, inner: int | None) -> nn.Sequential:
    """Two layers with GELU in between, of an inner width; without one of 4 D."""
    inner = inner or 4 * width
    return nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))


class TrunkBlock(nn.Module):
    """x + attention(norm(x)), then x + feed-forward(norm(x)); the inner width is 4 D."""

    def __init__(
        self, width: int, attention: TrunkAttention, dropout: float, inner: int | None = None
    ) -> None:
        super().__init__()
        self.before_attention = nn.LayerNorm(width)
        self.attention = attention
        self.before_feed = nn.LayerNorm(width)
        self.feed = feed_forward(width, inner)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, relation: Relation) -> Tensor:
        """(B, T, D) and the attention's relation, to (B, T, D)."""
        x = x + self.dropout(self.attention(self.before_attention(x), relation))
        fed: Tensor = x + self.dropout(self.feed(self.before_feed(x)))
        return fed


class Neighbours(nn.Module):
    """x + W gelu(Σ_k w_k ∘ norm(x)_{t + k}) over the neighbours of t in its line, -reach ≤ k ≤ reach.

    A convolution along each line with its own factors for each hidden unit. At the ends of a line it reads
    zeros, so a line that moves keeps its sums bit for bit.
    """

    def __init__(self, width: int, reach: int) -> None:
        super().__init__()
        self.reach = reach
        self.norm = nn.LayerNorm(width)
        self.weight = nn.Parameter(torch.zeros(2 * reach + 1, width))
        self.outward = nn.Linear(width, width)

    def forward(self, x: Tensor, line: Tensor, real: Tensor) -> Tensor:
        """(B, T, D), and (B, T) the line of each token and whether there is one, to (B, T, D)."""
        reach, tokens = self.reach, x.shape[1]
        padded = F.pad(self.norm(x) * real[:, :, None], (0, 0, reach, reach))
        lines = F.pad(line, (reach, reach), value=-1)  # no token is in this line
        mixed = torch.zeros_like(x)
        for number, weight in enumerate(self.weight):
            part = slice(number, number + tokens)
            mixed = mixed + padded[:, part] * (lines[:, part] == line)[:, :, None] * weight
        added: Tensor = x + self.outward(F.gelu(mixed))
        return added


class WordHead(nn.Module):
    """Which word stands where one was hidden: the head of pretraining (Devlin et al. 2019, section 3.1)."""

    def __init__(self, width: int, vocabulary: int) -> None:
        super().__init__()
        self.mix = nn.Linear(width, width)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, states: Tensor, words: Tensor) -> Tensor:
        """(N, D) states and the (V, D) table of words to (N, V) logits."""
        logits: Tensor = F.linear(F.gelu(self.mix(states)), words, self.bias)
        return logits


class Trunk(nn.Module):
    """Embedded tokens to the logits of labels."""

    label_tokens: Tensor
    """(K,) the token that each label is."""

    def __init__(self, shape: LineShape, attention: Callable[[], TrunkAttention]) -> None:
        super().__init__()
        self.pooling = shape.pooling
        self.tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.encoder = None if shape.encoder is None else _encoder(shape.encoder)
        if self.encoder is not None and self.encoder.sizes != (shape.width, shape.layers, shape.heads):
            raise ValueError(f"the encoder has other sizes: {self.encoder.sizes}")
        layers = shape.layers if self.encoder is None else 0
        self.blocks = nn.ModuleList(
            TrunkBlock(shape.width, attention(), shape.dropout, shape.inner) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(shape.width)
        self.mix = nn.Linear(shape.width, shape.width)
        self.label_bias = nn.Parameter(torch.zeros(shape.labels))
        self.vote = nn.Linear(shape.width, 1)
        self.vote_weight = nn.Parameter(torch.ones(()))
        self.copy_bias = nn.Parameter(torch.zeros(())) if shape.copying else None
        self.neighbours = Neighbours(shape.width, shape.neighbours) if shape.neighbours else None
        self.dropout = nn.Dropout(shape.dropout)
        self.register_buffer("label_tokens", torch.zeros(shape.labels, dtype=torch.long))
        self.bag = False
        """Skip the blocks, which leaves a bag of tokens and their neighbours: a stage of a training."""
        self.word_head: WordHead | None = None
        """Of a training with pretraining; no checkpoint has it."""
        self.pretraining = False
        """Give the (B, T, D) states instead of logits."""

    def forward(
        self,
        batch: Batch,
        positions: Tensor,
        relate: Callable[[Batch, torch.dtype], Relation],
        line: Tensor | None = None,
    ) -> Tensor:
        """(B, T, D) positions as of `placed`, and what makes the attention's relation, to (B, K).

        With copying to (B, K + C); an input with fewer words to copy has minus infinity for the others.
        Neighbours are those of the same (B, T) `line`, without it of the batch's.
        """
        x = self.tokens(batch.ids)
        x = self._drop_tokens(x + positions if self.encoder is None else x)
        if self.neighbours is not None:
            x = self.neighbours(x, batch.line if line is None else line, batch.real)
        if not self.bag:
            relation = relate(batch, score_type(self.tokens.weight))
            if self.encoder is not None:
                x = self.encoder(x, positions, relation[0])
            for block in self.blocks:
                x = block(x, relation)
        x = self.norm(x)
        if self.pretraining:
            states: Tensor = x
            return states
        return self.answered(x, batch)

    def answered(self, x: Tensor, batch: Batch) -> Tensor:
        """(B, T, D) states to the logits of `forward`."""
        # Section 5.2 pools hidden states. A sum over tokens in any order is the same up to rounding, so each
        # pooling keeps the equivariance of the blocks as invariance of the answer (Theorem 4.6).
        if self.pooling == "votes":
            logits = self._loudest(self.logits(x), batch.real)
        else:
            logits = self.logits(self._pool(x, batch.real))
        strength = F.softplus(self.vote(x).squeeze(-1).to(self.label_bias.dtype)) * batch.real
        # The logarithm keeps a word that stands a hundred times from outvoting everything else.
        logits = logits + self.vote_weight * torch.log1p(self._votes(strength, batch))
        bias = self.copy_bias
        if bias is None or batch.copies is None or batch.spoken is None:
            return logits
        return torch.cat([logits, bias + self._copied(strength, batch.copies, batch.spoken)], 1)

    def placed(self, table: nn.Embedding | None, places: Tensor) -> Tensor:
        """The (B, T, D) vectors of (B, T) places; the places themselves for an encoder with its own table."""
        if self.encoder is not None:
            return places
        return places.new_zeros(()) if table is None else table(places)

    def ways_out(self) -> list[nn.Linear]:
        """The last layers of all branches: with these at zero, blocks and neighbours change nothing."""
        layers: list[nn.Linear] = []
        for block in self.blocks:
            if isinstance(block, TrunkBlock):
                layers += [block.attention.projections.outward]
                layers += [layer for layer in list(block.feed)[-1:] if isinstance(layer, nn.Linear)]
        return layers if self.neighbours is None else [*layers, self.neighbours.outward]

    def logits(self, x: Tensor) -> Tensor:
        """(…, D) to (…, K): the head."""
        # "Two linear layers" of section 5.2; without a function between them they would be one linear map.
        mixed = F.gelu(self.mix(self.dropout(x)))
        rows = F.embedding(self.label_tokens, self.tokens.weight)  # reads rows faster than an index does
        return F.linear(mixed, rows, self.label_bias)

    def _loudest(self, logits: Tensor, real: Tensor) -> Tensor:
        """(B, T, K) over the real tokens to (B, K): log of the mean of exp."""
        # Less the log of the count: without it longer functions would have larger logits for any content.
        heard = logits.to(self.label_bias.dtype).masked_fill(~real[:, :, None], -torch.inf)
        return heard.logsumexp(1) - real.sum(1, keepdim=True).to(heard.dtype).log()

    def _votes(self, strength: Tensor, batch: Batch) -> Tensor:
        """(B, T) to (B, K): how strongly the tokens that are a label ask for it."""
        heard = strength.new_zeros(len(strength), self.tokens.num_embeddings)
        return heard.scatter_add(1, batch.ids, strength).index_select(1, self.label_tokens)

    def _copied(self, strength: Tensor, copies: Tensor, spoken: Tensor) -> Tensor:
        """(B, T) strengths and words to copy, and (B, C) which of these there are, to the (B, C) votes."""
        heard = strength.new_zeros(len(strength), spoken.shape[1] + 1)
        heard = heard.scatter_add(1, copies, strength)[:, 1:]
        return (self.vote_weight * torch.log1p(heard)).masked_fill(~spoken, -torch.inf)

    def _drop_tokens(self, x: Tensor) -> Tensor:
        """Drop whole tokens in training, so that the network relies on no single word."""
        if not self.training or not self.dropout.p:
            return x
        return x * (torch.rand(x.shape[:2], device=x.device) > self.dropout.p)[:, :, None]

    def _pool(self, x: Tensor, real: Tensor) -> Tensor:
        """(B, T, D) over the real tokens to (B, D)."""
        if self.pooling == "max":
            return x.masked_fill(~real[:, :, None], -torch.inf).amax(1)
        # Weighted sums instead of a mean, so that padding counts neither above nor below the line.
        weight = real.to(x.dtype)
        return torch.einsum("btd,bt->bd", x, weight) / weight.sum(1, keepdim=True)


def _encoder(config: Mapping[str, Any]) -> "Encoder":
    from codeaudit.audit.models.hf.encoder import Encoder  # brings transformers

    return Encoder(config)


class LineNetwork(nn.Module):
    """A network that reads lines: the trunk, with its own attention and positions."""

    trunk: Trunk
    positions: nn.Embedding | None

    def forward(self, batch: Batch) -> Tensor:
        """(B, K) logits of the labels."""
        raise NotImplementedError

    def relate(self, batch: Batch, dtype: torch.dtype) -> Relation:
        """What the layers know about pairs of tokens; `dtype` is that of the scores."""
        raise NotImplementedError


def score_type(weight: Tensor) -> torch.dtype:
    """The number type of attention scores: that of the weights, or autocast's where it is on."""
    kind = weight.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weight.dtype

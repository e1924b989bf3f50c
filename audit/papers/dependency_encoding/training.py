"""Training of CoDE and its baselines (sections 4 and 5), and their scores beside rules without a network."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor
from typing_extensions import override

from codeaudit.audit.papers import checkpoint
from codeaudit.audit.papers.dependency_encoding.material import (
    NOTHING,
    StreamMaterial,
    StreamRecipe,
    Windows,
    byte_counts,
    read,
)
from codeaudit.audit.papers.dependency_encoding.model import LONGEST, TASKS, DecoderConfig
from codeaudit.audit.papers.dependency_encoding.networks import DECODERS, build, sparsity
from codeaudit.audit.papers.dependency_encoding.trunk import Decoder, DecoderSizes, TokenPlaces
from codeaudit.audit.papers.registry import TrainingRequest, entry_of, split_structure
from codeaudit.audit.training.trainer import (
    Integers,
    Learner,
    Trained,
    Validation,
    adamw,
    cosine,
    demand_fitting,
    recipe_of,
)
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.grammar import counted

B = TypeVar("B")


class DecoderLearner(Learner[Decoder, B]):
    """The optimiser and the rate with which every decoder of the paper is trained."""

    recipe: StreamRecipe

    @override
    def optimiser(self, network: Decoder) -> torch.optim.Optimizer:
        """The table of tokens does not decay."""
        return adamw(network, self.recipe, second_beta=0.95, tables=[network.tokens.weight])

    @override
    def rate(self, step: int) -> float:
        return cosine(self.recipe.rate, step, self.total, warm_up=self.recipe.warm_up, floor=0.05)


class StreamLearner(DecoderLearner[Integers], checkpoint.CheckpointLearner[Decoder, Integers]):
    """Learns the next token of each window; an epoch of the trainer is `stretch` steps."""

    lower_is_better = True

    def __init__(self, recipe: StreamRecipe, material: StreamMaterial, *, device: str = "cpu") -> None:
        super().__init__(recipe, material.hashes, len(material.train), device=device)
        self.recipe, self.material = recipe, material
        # Not a pass over the corpus: validation comes equally often, whatever the size of the corpus.
        self.per_epoch = recipe.stretch

    @override
    def make(self) -> Decoder:
        return build(self.recipe.network, self.recipe.sizes(self.material.streams), self.recipe.options)

    @override
    def batches(self, epoch: int) -> list[Integers]:
        first = epoch * self.per_epoch
        count = len(self.material.train)
        return [batch_of(self.recipe, count, step) for step in range(first, first + self.per_epoch)]

    @override
    def tokens(self, batch: Integers) -> int:
        """Those that are predicted."""
        return int((self.material.train.batch(batch)[1] != NOTHING).sum())

    def loss(
        self, network: Decoder, batch: Integers, step: int, whole: Integers | None = None
    ) -> tuple[Tensor, int]:
        """The mean cross entropy of tokens; of CoDE also the L1 term of its features (section 3.2)."""
        inputs, targets = (tensor.to(self.device) for tensor in self.material.train.batch(batch))
        with self.autocast(enabled=self.recipe.half):
            hidden, places = network.hidden(inputs)
            logits = network.logits(hidden)
        loss = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), ignore_index=NOTHING)
        if whole is not None:
            loss = loss * (self.tokens(batch) / self.tokens(whole))
        if places.codes and self.recipe.sparsity:
            term = sparsity(places, targets != NOTHING)
            if whole is not None:
                term = term * (self._lines(batch, network) / self._lines(whole, network))
            loss = loss + self.recipe.sparsity * term
        return loss, len(batch)

    def _lines(self, batch: Integers, network: Decoder) -> int:
        """The ends of lines over which the L1 term is a mean."""
        inputs, targets = self.material.train.batch(batch)
        places = TokenPlaces.of(inputs, inputs.shape[1], network.sizes)
        return int((places.ends & (targets != NOTHING)).sum())

    @override
    def validate(self, network: Decoder) -> Validation:
        """Bits per byte."""
        valid = self.material.valid
        total = judged(network, valid, self.validated(valid), device=self.device)
        bits = total.bits_per_byte
        return Validation(bits, {"valid": bits, "accuracy": total.accuracy})

    @property
    @override
    def tokenizer(self) -> Tokenizer:
        return self.material.streams.tokenizer

    @property
    @override
    def size(self) -> str:
        return f"{self.material.streams.vocabulary:,} tokens, {counted(len(self.material.train), 'window')}"

    @override
    def epoch_line(self, epoch: Mapping[str, float]) -> str:
        return f"validation {epoch['valid']:.3f} bits per byte, accuracy {epoch['accuracy']:.1%}"

    @override
    def write(self, folder: Path, trained: Trained[Decoder], *, about: Mapping[str, object]) -> Sequence[str]:
        """The scores are those of the rounded weights, on test texts each alone."""
        recipe, material, network = self.recipe, self.material, trained.network
        weights = checkpoint.rounded(network)
        valid = judged(network, material.valid, self.validated(material.valid))
        test = of_texts(network, material.test, byte_counts(material.streams), longest=LONGEST)
        baselines = rules(material)
        card = {
            "task": recipe.task,
            "tasks": sorted(TASKS),
            "summary": f"{DECODERS[recipe.network].summary}; test {test.bits_per_byte:.2f} bits per byte",
            "parameters": sum(weight.numel() for weight in network.parameters()),
            "score": "bits per byte",
            "scores": {"valid": valid.as_json(), "test": test.as_json()},
            "baselines": [rule.as_json() for rule in baselines],
            "languages": list(material.languages),
            "data": {
                name: {"hash": material.hashes[name], "functions": material.counts[name]}
                for name in material.hashes
            },
            "left_out": dict(material.left_out),
            "recipe": recipe.as_json(),
            **checkpoint.history(trained),
            **about,
        }
        config = DecoderConfig(
            task=recipe.task,
            network=recipe.network,
            options=recipe.options,
            sizes=network.sizes,
            languages=material.languages,
        )
        checkpoint.write(
            folder,
            weights,
            config=config,
            tokenizer=material.streams.tokenizer,
            card=card,
            learned=material.learned,
        )
        line = (
            f"test {test.bits_per_byte:.3f} bits per byte, perplexity {test.perplexity:.2f}, "
            f"accuracy {test.accuracy:.1%} on {counted(len(material.test), 'function')}"
        )
        return [line, *(f"{rule.name}: {rule.test.bits_per_byte:.3f} bits per byte" for rule in baselines)]


def prepared(request: TrainingRequest) -> StreamLearner:
    """The training that `codeaudit train` asks for.

    Raises:
        UsageError: options that do not fit together.
        CorpusError: a corpus cannot be read, or holds too little.
    """
    settings = dict(request.options)
    device = checkpoint.usable_device(settings.pop("device", "cpu"))
    extra, options = split_structure(StreamRecipe, request.structure)
    entry_of("decoder", DECODERS, request.network, options)
    recipe = recipe_of(
        StreamRecipe, network=request.network, task=request.task.name, options=options, **settings, **extra
    )
    if recipe.vocabulary < 300:
        raise UsageError("--vocabulary must be 300 or more: the bytes alone are 256 tokens")
    if recipe.window < 8:
        raise UsageError("--window must be 8 or more")
    sizes = recipe.sized(DecoderSizes, vocabulary=recipe.vocabulary, newline=0, start=0)
    demand_fitting(lambda: build(recipe.network, sizes, recipe.options))
    material = read(request.task, recipe, *request.corpora(), note=request.note)
    return StreamLearner(recipe, material, device=device)


def batch_of(recipe: StreamRecipe, count: int, step: int) -> Integers:
    """The windows of a step, out of `count`. Every pass over the windows has an order of its own."""
    # From the number of the step alone, so a resumed training goes on with the same windows.
    epoch, place = divmod(step, recipe.per_epoch(count))
    return _order(recipe.seed, epoch, count)[place * recipe.batch : (place + 1) * recipe.batch]


@lru_cache(maxsize=2)
def _order(seed: int, epoch: int, count: int) -> Integers:
    return np.random.default_rng([seed, epoch]).permutation(count)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextTokens:
    """Sums over predicted tokens."""

    nats: float
    tokens: int
    right: int
    """Tokens that were the most likely ones."""
    bytes: int

    @property
    def perplexity(self) -> float:
        """exp of the mean nats of a token."""
        return math.exp(min(self.nats / max(1, self.tokens), 700.0))

    @property
    def accuracy(self) -> float:
        """The share of tokens that were the most likely ones."""
        return self.right / max(1, self.tokens)

    @property
    def bits_per_byte(self) -> float:
        """Of the text."""
        return self.nats / math.log(2) / max(1, self.bytes)

    def __add__(self, other: "NextTokens") -> "NextTokens":
        return NextTokens(
            nats=self.nats + other.nats,
            tokens=self.tokens + other.tokens,
            right=self.right + other.right,
            bytes=self.bytes + other.bytes,
        )

    def as_json(self) -> dict[str, float]:
        """For a card."""
        return {
            "bits_per_byte": self.bits_per_byte,
            "perplexity": self.perplexity,
            "accuracy": self.accuracy,
            "tokens": self.tokens,
        }


EMPTY = NextTokens(nats=0.0, tokens=0, right=0, bytes=0)


@torch.no_grad()
def judged(
    network: Decoder,
    windows: Windows,
    chosen: Integers | None = None,
    *,
    at_once: int = 16,
    device: str = "cpu",
) -> NextTokens:
    """Of the chosen windows, or of all."""
    chosen = np.arange(len(windows)) if chosen is None else chosen
    total = EMPTY
    for first in range(0, len(chosen), at_once):
        part = chosen[first : first + at_once]
        inputs, targets = windows.batch(part)
        counts = of_logits(network(inputs.to(device)).float().cpu(), targets)
        total += NextTokens(
            nats=counts.nats, tokens=counts.tokens, right=counts.right, bytes=windows.bytes(part)
        )
    return total


def of_logits(logits: Tensor, targets: Tensor) -> NextTokens:
    """(…, V) logits against (…) tokens, without `NOTHING`; bytes stay 0."""
    real = targets != NOTHING
    nats = F.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=NOTHING, reduction="sum")
    right = (logits.argmax(-1) == targets) & real
    return NextTokens(nats=float(nats), tokens=int(real.sum()), right=int(right.sum()), bytes=0)


@torch.no_grad()
def of_texts(
    network: Decoder, texts: Iterable[Sequence[int]], lengths: Integers, *, longest: int
) -> NextTokens:
    """Of texts, each alone behind a `start`; `lengths` are the bytes of each token. Longer ones are cut."""
    total = EMPTY
    for text in texts:
        ids = [network.sizes.start, *text[:longest]]
        if len(ids) > 1:
            row = torch.tensor([ids])
            counts = of_logits(network(row[:, :-1]).float(), row[:, 1:])
            size = int(lengths[np.array(ids[1:])].sum())
            total += NextTokens(nats=counts.nats, tokens=counts.tokens, right=counts.right, bytes=size)
    return total


BLEND: Final = 5.0
"""As how many sightings tokens alone count beside those behind a token."""
SMOOTHING: Final = 0.5
"""Sightings that every token gets for nothing."""

Counts = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRule:
    """A rule, and how good it is on the test texts."""

    name: str
    test: NextTokens

    def as_json(self) -> dict[str, object]:
        """For a card."""
        return {"name": self.name, "test": self.test.as_json()}


def rules(material: StreamMaterial) -> tuple[StreamRule, ...]:
    """How often tokens stand anywhere, and behind the one before, counted in the training windows."""
    size = material.streams.vocabulary
    alone = np.full(size, SMOOTHING)
    after: Counts = np.zeros((size, size))
    for row in material.train.rows:
        real = row[row != NOTHING]
        np.add.at(alone, real[1:], 1)
        np.add.at(after, (real[:-1], real[1:]), 1)
    alone /= alone.sum()
    totals = after.sum(1, keepdims=True)
    # A frequent pair is predicted from its own counts, a rare one from the frequency of its second token.
    blended: Counts = (after + BLEND * alone) / (totals + BLEND)
    texts = [[material.streams.start, *text] for text in material.test]
    lengths = byte_counts(material.streams)
    everywhere = np.broadcast_to(alone, after.shape)
    return (
        StreamRule(name="frequencies of tokens", test=_next_tokens(everywhere, texts, lengths)),
        StreamRule(name="frequencies of pairs of tokens", test=_next_tokens(blended, texts, lengths)),
    )


def _next_tokens(table: Counts, texts: Iterable[Sequence[int]], lengths: npt.NDArray[np.int64]) -> NextTokens:
    """`table` has the probability of each token behind each."""
    pairs = np.array([pair for text in texts for pair in pairwise(text)]).reshape(-1, 2)
    best = table.argmax(1)
    return NextTokens(
        nats=float(-np.log(table[pairs[:, 0], pairs[:, 1]]).sum()),
        tokens=len(pairs),
        right=int((best[pairs[:, 0]] == pairs[:, 1]).sum()),
        bytes=int(lengths[pairs[:, 1]].sum()),
    )

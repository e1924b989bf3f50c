"""How good names and completions are, as the tree transformer's paper and its code measure them."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from codeaudit.audit.tasks.function_name import Counts

ORDER: Final = 4
"""The longest sequences of words that BLEU counts."""
MOST: Final = 6
"""Words that a rule says at most."""
RANKS: Final = 10
"""A right answer behind these is worth nothing."""

Words = Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeNameScores:
    """How well names are said."""

    f1: float
    """Of each name as a multiset of words, averaged; F1 in the paper's code."""
    exact: float
    """The share of names with every word right, in order."""
    bleu: float
    """Of the corpus, up to `ORDER` words, with one added to every count."""
    micro: float
    """F1 from hits, extras and misses of sets, summed over the names: the score of the task."""
    macro: float
    """The mean of the names' own F1 as sets."""
    count: int

    @property
    def line(self) -> str:
        """In words."""
        return f"F1 {self.micro:.1%}"


def names(said: Sequence[Words], gold: Sequence[Words]) -> TreeNameScores:
    """The scores of one or more names."""
    pairs = list(zip(said, gold, strict=True))
    sets = [_as_sets(one, right) for one, right in pairs]
    return TreeNameScores(
        f1=sum(multiset_f1(one, right) for one, right in pairs) / len(pairs),
        exact=sum(list(one) == list(right) for one, right in pairs) / len(pairs),
        bleu=bleu(said, gold),
        micro=Counts(*map(sum, zip(*sets, strict=True))).f1 or 0.0,
        macro=sum(one.f1 or 0.0 for one in sets) / len(sets),
        count=len(pairs),
    )


def _as_sets(said: Words, gold: Words) -> Counts:
    one, right = set(said), set(gold)
    return Counts(len(one & right), len(one - right), len(right - one))


def multiset_f1(said: Words, gold: Words) -> float:
    """The harmonic mean of precision and recall of multisets of words."""
    hits = (Counter(said) & Counter(gold)).total()
    total = len(said) + len(gold)
    return 2 * hits / total if total else 0.0


def bleu(said: Sequence[Words], gold: Sequence[Words]) -> float:
    """Corpus BLEU with one reference each; one is added to hits and to tries, after Lin and Och (2004).

    Without the added one it would be 0 for names, because few have `ORDER` words. Tries are at least the
    number of runs in the references. Otherwise one-word names would be best, which have no long runs.
    """
    hits, tries, runs = [0] * ORDER, [0] * ORDER, [0] * ORDER
    for one, right in zip(said, gold, strict=True):
        for order in range(1, ORDER + 1):
            found, wanted = _runs(one, order), _runs(right, order)
            hits[order - 1] += (found & wanted).total()
            tries[order - 1] += found.total()
            runs[order - 1] += wanted.total()
    length, reference = sum(map(len, said)), sum(map(len, gold))
    if not length:
        return 0.0
    counts = zip(hits, map(max, tries, runs), strict=True)
    precision = sum(math.log((hit + 1) / (tried + 1)) for hit, tried in counts) / ORDER
    return math.exp(precision + min(0.0, 1 - reference / length))


def _runs(words: Words, order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[at : at + order]) for at in range(len(words) - order + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionScores:
    """How well the next node is predicted. Values are judged where there is one; unknown ones are misses."""

    type_mrr: float
    """The mean of one over the rank of the right type, 0 behind `RANKS`."""
    type_accuracy: float
    value_mrr: float
    value_accuracy: float
    both: float
    """The share of nodes with a value whose type and value are both right."""
    both_with_empty: float
    """The share of all nodes whose type is right, and whose value is right or missing. The paper's code
    counts a missing value as predicted, so only the type of these nodes has to be right."""
    count: int
    """Nodes."""
    valued: int
    """Those with a value."""


@dataclass(slots=True)
class CompletionTally:
    """Adds up batches to `CompletionScores`."""

    type_mrr: float = 0.0
    types: int = 0
    value_mrr: float = 0.0
    values: int = 0
    both: int = 0
    both_with_empty: int = 0
    count: int = 0
    valued: int = 0

    def add(
        self,
        types: Tensor,
        values: Tensor,
        right_types: Tensor,
        right_values: Tensor,
        *,
        unknown: int,
        empty: int,
    ) -> None:
        """(N, types) and (N, V) logits of nodes, and the (N,) right types and values."""
        type_rank, value_rank = rank(types, right_types), rank(values, right_values)
        valued = right_values != empty
        value_rank = torch.where(right_values == unknown, RANKS, value_rank)
        type_right, value_right = type_rank == 0, (value_rank == 0) & valued
        self.type_mrr += float(reciprocal(type_rank).sum())
        self.types += int(type_right.sum())
        self.value_mrr += float(reciprocal(value_rank)[valued].sum())
        self.values += int(value_right.sum())
        self.both += int((type_right & value_right).sum())
        self.both_with_empty += int((type_right & (value_right | ~valued)).sum())
        self.count += len(right_types)
        self.valued += int(valued.sum())

    def scores(self) -> CompletionScores:
        """The scores of all that was added."""
        every, some = max(1, self.count), max(1, self.valued)
        return CompletionScores(
            type_mrr=self.type_mrr / every,
            type_accuracy=self.types / every,
            value_mrr=self.value_mrr / some,
            value_accuracy=self.values / some,
            both=self.both / some,
            both_with_empty=self.both_with_empty / every,
            count=self.count,
            valued=self.valued,
        )


def rank(logits: Tensor, right: Tensor) -> Tensor:
    """(N, K) logits to the (N,) places of the right answers, from 0; equal logits count as better ones."""
    own = logits.gather(1, right[:, None])
    return (logits >= own).sum(1) - 1


def reciprocal(ranks: Tensor) -> Tensor:
    """1 / (place + 1), 0 from the place `RANKS` on."""
    return torch.where(ranks < RANKS, 1.0 / (ranks + 1), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRule:
    """The result of a rule without a network."""

    name: str
    subtokens: int
    """How many it says, chosen on validation data."""
    test: TreeNameScores


def most_frequent(train: Sequence[Words], valid: Sequence[Words], test: Sequence[Words]) -> TreeRule:
    """Always the most frequent words of the training names; of equally frequent ones the alphabet's first."""
    counts = Counter(word for name in train for word in set(name))
    ranked = sorted(counts, key=lambda word: (-counts[word], word))[:MOST]

    def reached(gold: Sequence[Words], size: int) -> TreeNameScores:
        return names([ranked[:size]] * len(gold), gold)

    best = max(range(1, len(ranked) + 1), key=lambda size: reached(valid, size).micro)
    return TreeRule(name="most frequent subtokens", subtokens=best, test=reached(test, best))

"""How good names and completions are, as the tree transformer's paper and its code measure them."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

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
    """Mean smoothed sentence BLEU, see `bleu`; BLEU in the paper's code."""
    micro: float
    """F1 from hits, extras and misses of sets, summed over the names: the score of the task."""
    macro: float
    """The mean of the names' own F1 as sets."""
    count: int

    @property
    def line(self) -> str:
        """In words."""
        return f"F1 {self.micro:.1%}"


def names(answers: Sequence[Words], gold: Sequence[Words]) -> TreeNameScores:
    """The scores of one or more names."""
    pairs = list(zip(answers, gold, strict=True))
    sets = [_as_sets(words, right) for words, right in pairs]
    return TreeNameScores(
        f1=sum(multiset_f1(words, right) for words, right in pairs) / len(pairs),
        exact=sum(list(words) == list(right) for words, right in pairs) / len(pairs),
        bleu=bleu(answers, gold),
        micro=Counts(*map(sum, zip(*sets, strict=True))).f1 or 0.0,
        macro=sum(counts.f1 or 0.0 for counts in sets) / len(sets),
        count=len(pairs),
    )


def _as_sets(words: Words, gold: Words) -> Counts:
    answer, right = set(words), set(gold)
    return Counts(len(answer & right), len(answer - right), len(right - answer))


def multiset_f1(words: Words, gold: Words) -> float:
    """The harmonic mean of precision and recall of multisets of words."""
    hits = (Counter(words) & Counter(gold)).total()
    total = len(words) + len(gold)
    return 2 * hits / total if total else 0.0


def bleu(answers: Sequence[Words], gold: Sequence[Words]) -> float:
    """Mean smoothed sentence BLEU, which is BLEU in the authors' code: the mean of `sentence_bleu`."""
    return sum(sentence_bleu(words, right) for words, right in zip(answers, gold, strict=True)) / len(gold)


def sentence_bleu(words: Words, gold: Words) -> float:
    """BLEU of one name, from 0 to 1, with one added to the hits and the tries of every order.

    Lin and Och (2004) add one from pairs on. The paper's code adds it to single words, too. So a wrong name
    of one word has 0.84, and the level of this score is not comparable with that of another BLEU. A name
    without words has 0.
    """
    if not words:
        return 0.0
    logarithms = 0.0
    for order in range(1, ORDER + 1):
        runs = _runs(words, order)
        hits = (runs & _runs(gold, order)).total()
        logarithms += math.log((hits + 1) / (runs.total() + 1))
    return math.exp(logarithms / ORDER + min(0.0, 1 - len(gold) / len(words)))


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


class CompletionRanks(NamedTuple):
    """The places of the right types and values among all, from 0, for (N,) nodes."""

    types: Tensor
    values: Tensor
    """`RANKS` for an unknown value, which nobody can predict."""
    valued: Tensor
    """Whether the node has a value."""


def ranked(
    types: Tensor, values: Tensor, right_types: Tensor, right_values: Tensor, *, unknown: int, empty: int
) -> CompletionRanks:
    """(N, types) and (N, V) logits of nodes, and the (N,) right types and values, to their ranks."""
    value_rank = torch.where(right_values == unknown, RANKS, rank(values, right_values))
    return CompletionRanks(rank(types, right_types), value_rank, right_values != empty)


def completions(batches: Sequence[CompletionRanks]) -> CompletionScores:
    """The scores of all nodes of one or more batches."""
    types, values, valued = (torch.cat(part) for part in zip(*batches, strict=True))
    type_right, value_right = types == 0, (values == 0) & valued
    count, with_value = max(1, len(types)), max(1, int(valued.sum()))
    return CompletionScores(
        type_mrr=float(reciprocal(types).sum()) / count,
        type_accuracy=int(type_right.sum()) / count,
        value_mrr=float(reciprocal(values)[valued].sum()) / with_value,
        value_accuracy=int(value_right.sum()) / with_value,
        both=int((type_right & value_right).sum()) / with_value,
        both_with_empty=int((type_right & (value_right | ~valued)).sum()) / count,
        count=len(types),
        valued=int(valued.sum()),
    )


def rank(logits: Tensor, right: Tensor) -> Tensor:
    """(N, K) logits to the (N,) places of the right answers, from 0; equal logits count as better ones."""
    # A constant network has equal logits everywhere; counted as better ones, they earn it nothing.
    logit = logits.gather(1, right[:, None])
    return (logits >= logit).sum(1) - 1


def reciprocal(ranks: Tensor) -> Tensor:
    """1 / (place + 1), 0 from the place `RANKS` on."""
    # In float64, because the sum is over all nodes of a corpus.
    return torch.where(ranks < RANKS, 1.0 / (ranks.double() + 1), 0.0)


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

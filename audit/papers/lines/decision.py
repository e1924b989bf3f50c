"""From logits to a set of labels: those above a threshold, or the best one where none is.

The rule is that of code2seq's line of work with a threshold tuned on validation data. Its margin is exact:
the smallest number by which all logits may move, each in its own direction, without changing the set.

Dimension key: B batch, K labels.
"""

import torch
from torch import Tensor


def decide(logits: Tensor, threshold: float) -> Tensor:
    """(B, K) to a (B, K) mask of the chosen labels; of equal best ones the first in the alphabet's order."""
    best = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, logits.argmax(1, keepdim=True), True)
    return (logits > threshold) | best


def margin(logits: Tensor, threshold: float) -> Tensor:
    """(B, K) to (B,).

    With two or more labels above the threshold t, one logit must cross it. With one or none the answer is
    the best label alone, and changes when the second crosses t, or when it overtakes the best below t.
    """
    if logits.shape[1] == 1:
        return torch.full_like(logits[:, 0], torch.inf)
    first, second = logits.topk(2, dim=1).values.unbind(1)
    crossing = (logits - threshold).abs().amin(1)
    overtaking = torch.maximum((first - second) / 2, first - threshold)
    alone = torch.minimum(threshold - second, overtaking)
    return torch.where(second > threshold, crossing, alone)

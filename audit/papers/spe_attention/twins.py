"""Twins: a clean function and its buggy version, which differ by the bug alone.

A detector that reads a twin beside the other has to look at the bug, because all else is equal.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from codeaudit.audit.training.trainer import Integers

NONE: Final = -1
"""The twin of an example that has none."""
ALIKE: Final = 0.5
"""Twins share at least so much of their tokens (`SequenceMatcher.ratio`)."""
MOST: Final = 60
"""Groups with more clean or more buggy members are no versions of one function, so they have no twins."""

Tokens: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.uint16]


def find_twins(groups: Sequence[str], buggy: Sequence[bool], ids: Sequence[Tokens]) -> Integers:
    """(count,) the example of the same group with the other label that is most alike, or `NONE`.

    The most alike pair comes first. No example has two twins. An example without a group has none.
    """
    members: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for number, (group, bug) in enumerate(zip(groups, buggy, strict=True)):
        if group:
            members[group][bug].append(number)
    twins = np.full(len(groups), NONE, dtype=np.int64)
    for clean, bugs in members.values():
        if max(len(clean), len(bugs)) > MOST:
            continue
        for _, one, other in sorted(_alike(clean, bugs, ids)):
            if twins[one] == twins[other] == NONE:
                twins[one], twins[other] = other, one
    return twins


def _alike(clean: list[int], bugs: list[int], ids: Sequence[Tokens]) -> Iterator[tuple[float, int, int]]:
    """Minus the likeness of each pair that is alike enough, and the pair."""
    for bug in bugs:
        # It prepares its second text, so that one comes in the outer loop.
        matcher = SequenceMatcher(None, b=ids[bug].tolist(), autojunk=False)
        for example in clean:
            matcher.set_seq1(ids[example].tolist())
            # The first two are upper bounds that cost less.
            bounds = matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio
            if all(bound() >= ALIKE for bound in bounds):
                yield -matcher.ratio(), example, bug


def pairwise_loss(logits: Tensor, twins: Tensor) -> Tensor:
    """Σ log(1 + exp(clean - buggy)) over pairs, of (B,) logits and (P, 2) places of clean and buggy."""
    clean, buggy = logits[twins].unbind(1)
    return F.softplus(clean - buggy).sum()


def changed_part(tokens: Tokens, other: Tokens) -> tuple[int, int]:
    """Where a text's tokens differ from those of another one, as first and end, at least one token.

    Where something is missing, the tokens on both sides of the gap.
    """
    most = min(len(tokens), len(other))
    unequal = np.flatnonzero(tokens[:most] != other[:most])
    first = int(unequal[0]) if len(unequal) else most
    # What both share at the end, without what they share at the beginning.
    shared = most - first
    unequal = np.flatnonzero(tokens[len(tokens) - shared :][::-1] != other[len(other) - shared :][::-1])
    end = len(tokens) - (int(unequal[0]) if len(unequal) else shared)
    return (first, end) if first < end else (max(0, first - 1), min(len(tokens), first + 1))


def location_loss(logits: Tensor, real: Tensor, parts: Sequence[tuple[int, int]]) -> Tensor:
    """Σ -log of the softmax over tokens, in the changed part of each text.

    `logits` are the (B, T) logits of the tokens, `real` says which are no padding, `parts` are those of
    `changed_part` (Vasic et al. 2019, section 3.2: which token is the bug).
    """
    places = torch.arange(logits.shape[1], device=logits.device)
    first, end = torch.tensor(parts, device=logits.device)[:, :, None].unbind(1)
    inside = (places >= first) & (places < end)
    everywhere, there = (logits.masked_fill(~mask, -torch.inf).logsumexp(1) for mask in (real, inside))
    return (everywhere - there).sum()


def pairs_right(values: Tensor, twins: Tensor) -> float | None:
    """The share of (P, 2) pairs, clean first, whose buggy one has the higher of (B,) values.

    Equal values count half. `None` without pairs.
    """
    if not len(twins):
        return None
    clean, buggy = values[twins].unbind(1)
    return float(((buggy > clean).double() + (buggy == clean).double() / 2).mean())

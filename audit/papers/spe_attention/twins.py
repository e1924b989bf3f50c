"""Twins: a clean function and its buggy version, which differ by the bug alone.

A detector that reads a twin beside the other has to look at the bug, because all else is equal.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

import numpy as np
import numpy.typing as npt
import torch.nn.functional as F
from torch import Tensor

from codeaudit.audit.training.trainer import Integers

NONE: Final = -1
"""The twin of an example that has none."""
ALIKE: Final = 0.5
"""Twins share at least so much of their tokens (`SequenceMatcher.ratio`)."""
MOST: Final = 60
"""Groups with more clean or more buggy members are no versions of one function, so they have no twins."""

Tokens = npt.NDArray[np.int32]


def find_twins(groups: Sequence[str], buggy: Sequence[bool], ids: Sequence[Tokens]) -> Integers:
    """(count,) the example of the same group with the other label that is most alike, or `NONE`.

    The most alike pair comes first. No example has two twins. An example without a group has none.
    """
    members: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for number, (group, bug) in enumerate(zip(groups, buggy, strict=True)):
        if group:
            members[group][bug].append(number)
    found = np.full(len(groups), NONE, dtype=np.int64)
    for clean, bugs in members.values():
        if max(len(clean), len(bugs)) > MOST:
            continue
        for _, one, other in sorted(_alike(clean, bugs, ids)):
            if found[one] == found[other] == NONE:
                found[one], found[other] = other, one
    return found


def _alike(clean: list[int], bugs: list[int], ids: Sequence[Tokens]) -> Iterator[tuple[float, int, int]]:
    """Minus the likeness of each pair that is alike enough, and the pair."""
    for bug in bugs:
        # It prepares its second text, so that one comes in the outer loop.
        matcher = SequenceMatcher(None, b=ids[bug].tolist(), autojunk=False)
        for one in clean:
            matcher.set_seq1(ids[one].tolist())
            # The first two are upper bounds that cost less.
            bounds = matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio
            if all(bound() >= ALIKE for bound in bounds):
                yield -matcher.ratio(), one, bug


def pairwise_loss(logits: Tensor, twins: Tensor) -> Tensor:
    """Σ log(1 + exp(clean - buggy)) over pairs, of (B,) logits and (P, 2) places of clean and buggy."""
    clean, buggy = logits[twins].unbind(1)
    return F.softplus(clean - buggy).sum()


def pairs_right(values: Tensor, twins: Tensor) -> float | None:
    """The share of (P, 2) pairs, clean first, whose buggy one has the higher of (B,) values.

    Equal values count half. `None` without pairs.
    """
    if not len(twins):
        return None
    clean, buggy = values[twins].unbind(1)
    return float(((buggy > clean).double() + (buggy == clean).double() / 2).mean())

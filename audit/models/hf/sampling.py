"""Sampling with a random stream for each row, so that batch, order and device do not change the draws.

Gumbel-max trick: the argmax of logits / temperature plus Gumbel noise is exactly a draw from their softmax.
So sampling is greedy decoding of noisy scores.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

import torch
from transformers import LogitsProcessor

_GAMMA: Final = 0x9E3779B97F4A7C15
_MIXED: Final = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
"""SplitMix64: the increment of the state, and the (shift, factor) steps that mix a state into a number.

Reference: Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators, OOPSLA.
"""


class GumbelSampling(LogitsProcessor):
    """Adds the noise of a row's own stream to its scores."""

    def __init__(self, streams: Sequence[Random], temperature: float) -> None:
        self._streams = streams
        self._temperature = temperature

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """(B, V) scores; the highest of each row is a draw from the softmax."""
        keys = [stream.getrandbits(64) for stream in self._streams]
        noise = gumbel(keys, scores.shape[1], scores.device)
        # Relative to the highest score, because the quotient would overflow near temperature 0.
        behind = scores.double() - scores.amax(dim=1, keepdim=True)
        return noise.add_(behind.div_(self._temperature))


def gumbel(keys: Sequence[int], width: int, device: torch.device | str) -> torch.Tensor:
    """(B, width) Gumbel noise in float64, one row per 64-bit key.

    It is made of SplitMix64 integers, because torch's own generators differ between CPU and GPU.
    """
    uniform = _shifted(splitmix(keys, width, device), 12).double().add_(0.5).mul_(2.0**-52)
    # 53 significant bits, so neither 0 nor 1, where a logarithm would be infinite.
    return uniform.log_().neg_().log_().neg_()


def splitmix(keys: Sequence[int], width: int, device: torch.device | str) -> torch.Tensor:
    """(B, width) the first outputs of SplitMix64 from each state, as int64 with the same bits."""
    steps = torch.arange(1, width + 1, device=device) * _signed(_GAMMA)
    found = steps + torch.tensor([_signed(key) for key in keys], device=device)[:, None]
    for shift, factor in _MIXED:
        found ^= _shifted(found, shift)
        found *= _signed(factor)
    found ^= _shifted(found, 31)
    return found


def _shifted(numbers: torch.Tensor, bits: int) -> torch.Tensor:
    """Logical shift to the right; torch's own keeps the sign."""
    found = numbers >> bits
    found &= (1 << (64 - bits)) - 1
    return found


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number

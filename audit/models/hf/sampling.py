"""Sampling whose draws are given for each row: the same ones in any batch, in any order, and on any device.

A token is drawn as the highest of the logits, divided by the temperature, with Gumbel noise added to each,
which is exactly a draw from their softmax. So sampling is greedy decoding of other scores.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

import torch
from transformers import LogitsProcessor

_GAMMA: Final = 0x9E3779B97F4A7C15
_MIXED: Final = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
"""SplitMix64: by how much its state grows, and how a state is mixed into a number.

Reference: Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators, OOPSLA.
"""


class Sampled(LogitsProcessor):
    """Adds to the scores of every row the noise of that row's own stream."""

    def __init__(self, streams: Sequence[Random], temperature: float) -> None:
        self._streams = streams
        self._temperature = temperature

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores of which the highest is a draw."""
        keys = [stream.getrandbits(64) for stream in self._streams]
        noise = gumbel(keys, scores.shape[1], scores.device)
        # Behind the highest, so that nothing overflows near temperature 0.
        behind = scores.double() - scores.amax(dim=1, keepdim=True)
        return noise.add_(behind.div_(self._temperature))


def gumbel(keys: Sequence[int], width: int, device: torch.device | str) -> torch.Tensor:
    """(B, width) Gumbel noise in float64, a row for each key of 64 bits.

    It comes from whole numbers by SplitMix64, as torch's own generators differ between CPU and GPU.
    """
    uniform = _shifted(splitmix(keys, width, device), 12).double().add_(0.5).mul_(2.0**-52)
    # Of 53 bits, so neither 0 nor 1.
    return uniform.log_().neg_().log_().neg_()


def splitmix(keys: Sequence[int], width: int, device: torch.device | str) -> torch.Tensor:
    """(B, width) the first numbers of SplitMix64 from each state, as the int64 of the same bits."""
    steps = torch.arange(1, width + 1, device=device) * _signed(_GAMMA)
    found = steps + torch.tensor([_signed(key) for key in keys], device=device)[:, None]
    for shift, factor in _MIXED:
        found ^= _shifted(found, shift)
        found *= _signed(factor)
    found ^= _shifted(found, 31)
    return found


def _shifted(numbers: torch.Tensor, bits: int) -> torch.Tensor:
    """To the right, with zeros from the left."""
    found = numbers >> bits
    found &= (1 << (64 - bits)) - 1
    return found


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number

"""How fast a device multiplies matrices: what a training is compared with, and what chooses its precision."""

import time
from functools import lru_cache
from typing import Final

import torch

SECONDS: Final = 0.25
"""How long one precision is measured."""
GAIN: Final = 1.2
"""By how much products in bfloat16 must be faster to be taken."""
SIZES: Final = {"cpu": 1024}
"""Rows of the matrices that are multiplied, by device."""
LARGE: Final = 8192
"""The same on other devices."""


def faster_in_half(device: str) -> bool:
    """Whether products of matrices are faster in bfloat16 than in float32.

    On a processor it is measured: they must be faster by a fifth, because converting numbers takes time, too.
    """
    if torch.device(device).type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return peak(device, half=True) > GAIN * peak(device, half=False)


@lru_cache
def peak(device: str, *, half: bool) -> float:
    """Floating-point operations per second that products of matrices reach here, in bfloat16 or float32.

    Measured, because the number of a data sheet is that of no machine that others use as well.
    """
    kind = torch.device(device).type
    size = SIZES.get(kind, LARGE)
    matrix = torch.ones(size, size, device=device, dtype=torch.bfloat16 if half else torch.float32)
    float((matrix @ matrix)[0, 0])  # the first product also loads what the others find loaded
    began, products = time.perf_counter(), 0
    while (passed := time.perf_counter() - began) < SECONDS:
        float((matrix @ matrix)[0, 0])  # waits until the device is done
        products += 1
    return 2.0 * size**3 * products / passed

"""The ratios of attention: what is timed are the networks, dense attention stands in for none of them."""

import sys
from collections.abc import Callable
from types import ModuleType

import pytest
import torch


@pytest.fixture(name="benchmark")
def _benchmark(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("attention")


@pytest.mark.slow
def test_each_network_is_timed_forward_and_in_training(benchmark: ModuleType) -> None:
    for backward in (False, True):
        best = benchmark.fastest(32, backward=backward, repeats=1)
        assert best.keys() == {"dense", "spe", "symc", "vanilla", "renamer", "code", "decoder"}
        assert all(0 < seconds < 60 for seconds in best.values())


def test_dense_attention_is_vanilla_without_padding(benchmark: ModuleType) -> None:
    """So it is the same network, and only the masks of the others are measured beside it."""
    given = {name: benchmark.forward(name, 32)() for name in ("dense", "vanilla", "spe")}
    assert torch.allclose(given["dense"], given["vanilla"], atol=1e-5)
    assert not torch.allclose(given["dense"], given["spe"], atol=1e-3)


@pytest.mark.weekly
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_grows_with_the_input(benchmark: ModuleType) -> None:
    """In processes of their own: this one may already hold all the memory that is asked for."""
    small, large = (benchmark.megabytes("dense", tokens) for tokens in (64, 2048))
    assert 0 <= small < large < 500

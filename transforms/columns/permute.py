"""Permuting the weights of a module by a layout: Eq. 6, 12 and 13 of Xu et al. (2024), for any layout."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from codeaudit.transforms.columns.layout import Indices, Layout, Place, indices, inverse


def moved(tensor: Tensor, places: Sequence[Place], permutations: Sequence[Indices]) -> Tensor:
    """A tensor with its axes permuted."""
    for axis, place in enumerate(places):
        order = indices(place, permutations)
        if order is not None:
            tensor = tensor.index_select(axis, torch.from_numpy(order).to(tensor.device))
    return tensor


def permuted(
    weights: Mapping[str, Tensor], layout: Layout, permutations: Sequence[Indices]
) -> dict[str, Tensor]:
    """The weights, with those of the layout permuted."""
    return {name: moved(one, layout.tensors.get(name, ()), permutations) for name, one in weights.items()}


@torch.no_grad()
def permute_module(module: nn.Module, layout: Layout, permutations: Sequence[Indices]) -> None:
    """Permute a module's parameters in place, each once, also if it has several names (tied weights)."""
    for name, weight in module.named_parameters():
        weight.copy_(moved(weight, layout.tensors.get(name, ()), permutations))


@contextmanager
def permuting(module: nn.Module, layout: Layout, permutations: Sequence[Indices]) -> Iterator[None]:
    """A context manager: inside it the module's parameters are permuted, afterwards restored bit for bit."""
    permute_module(module, layout, permutations)
    try:
        yield
    finally:
        permute_module(module, layout, inverse(permutations))

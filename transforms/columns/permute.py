"""Permutes a module's weights by a layout, and the tokens inside a stack of blocks (Xu et al. 2024).

Columns (Eq. 6, 12 and 13): the hidden columns are permuted, with the weights in the blocks.

Rows (Eq. 2, 5 and 8): the tokens are permuted before the first block and put back after the last one: P_R Z
P_C, then P_R⁻¹ · P_C⁻¹. Rows need no change of the weights if no block depends on the position of a token, as
in encoders that add positions before the blocks. Masks and rotary tables that are given to the blocks have to
be permuted with the tokens (`company`); this reveals P_R to whoever computes the blocks. A relative bias or a
window inside the blocks breaks row permutation; `proof.RowTrial` measures by how much.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from codeaudit.transforms.columns.layout import Indices, Layout, Place, indices, inverse
from codeaudit.transforms.errors import ModelError


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
    return {
        name: moved(weight, layout.tensors.get(name, ()), permutations) for name, weight in weights.items()
    }


@torch.no_grad()
def permute_module(module: nn.Module, layout: Layout, permutations: Sequence[Indices]) -> None:
    """Permute a module's parameters in place, each once, also if it has several names (tied weights)."""
    for name, weight in module.named_parameters():  # names a tied weight once
        weight.copy_(moved(weight, layout.tensors.get(name, ()), permutations))


@contextmanager
def permuting(module: nn.Module, layout: Layout, permutations: Sequence[Indices]) -> Iterator[None]:
    """A context manager: inside it the module's parameters are permuted, afterwards restored bit for bit."""
    permute_module(module, layout, permutations)
    try:
        yield
    finally:
        permute_module(module, layout, inverse(permutations))


@dataclass(frozen=True, slots=True)
class Stack:
    """The blocks that a hidden state goes through, one after the other."""

    name: str
    blocks: tuple[nn.Module, ...]


def stacks(module: nn.Module) -> list[Stack]:
    """The outermost lists of blocks, the largest first.

    Raises:
        ModelError: there is none.
    """
    lists = {
        name: part for name, part in module.named_modules() if isinstance(part, nn.ModuleList) and len(part)
    }
    outer = [
        Stack(name, tuple(blocks))
        for name, blocks in lists.items()
        if not any(name.startswith(f"{other}.") for other in lists)
    ]
    if not outer:
        raise ModelError(f"{type(module).__name__} has no stack of blocks")
    return sorted(
        outer,
        key=lambda stack: -sum(weight.numel() for block in stack.blocks for weight in block.parameters()),
    )


@contextmanager
def permuting_rows(
    stack: Stack,
    *,
    rows: Indices | Callable[[int], Indices] | None = None,
    columns: Indices | None = None,
    company: bool = False,
    broken: bool = False,
) -> Iterator[None]:
    """A context manager: inside it the hidden states are permuted before the stack and put back behind it.

    Args:
        stack: the blocks.
        rows: the order of the tokens, or what gives it for their number.
        columns: the order of the hidden columns.
        company: whether the other tensors that a block gets are permuted, too, along each axis whose size is
            the number of rows.
        broken: permute the tokens in the first half of the columns only, and put nothing back. This network
            computes something else.
    """
    order: Indices | None = None

    def enter(block: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        nonlocal order
        first = block is stack.blocks[0]
        # `transformers` passes the hidden states by place to some blocks and by name to others.
        hidden = args[0] if args else kwargs.get("hidden_states")
        if first and isinstance(hidden, Tensor):
            order = rows(hidden.shape[1]) if callable(rows) else rows
            hidden = _half_ordered(hidden, order) if broken else _ordered(hidden, order, columns)
        if args:
            args = (hidden, *args[1:])
        elif first and hidden is not None:
            kwargs = {**kwargs, "hidden_states": hidden}
        if not company or broken or order is None:
            return args, kwargs
        beside = {
            key: value if key == "hidden_states" else _along(value, order) for key, value in kwargs.items()
        }
        return (*args[:1], *(_along(value, order) for value in args[1:])), beside

    def leave(_: nn.Module, args: Any, result: Any) -> Any:
        if broken:
            return result
        if isinstance(result, tuple):
            return (_ordered(result[0], _inverse(order), _inverse(columns)), *result[1:])
        return _ordered(result, _inverse(order), _inverse(columns))

    handles = [block.register_forward_pre_hook(enter, with_kwargs=True) for block in stack.blocks]
    # Only the last block: between the blocks the hidden states stay permuted.
    handles.append(stack.blocks[-1].register_forward_hook(leave))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _ordered(hidden: Tensor, rows: Indices | None, columns: Indices | None) -> Tensor:
    """(B, T, D) with its tokens and columns in these orders."""
    for axis, order in ((1, rows), (2, columns)):
        if order is not None:
            hidden = hidden.index_select(axis, torch.from_numpy(order).to(hidden.device))
    return hidden


def _half_ordered(hidden: Tensor, rows: Indices | None) -> Tensor:
    """(B, T, D) with its tokens in this order in the first half of the columns."""
    half = hidden.shape[2] // 2
    return torch.cat([_ordered(hidden[..., :half], rows, None), hidden[..., half:]], dim=2)


def _inverse(order: Indices | None) -> Indices | None:
    return None if order is None else order.argsort()


def _along(value: Any, rows: Indices) -> Any:
    if isinstance(value, tuple):
        return tuple(_along(part, rows) for part in value)
    if not isinstance(value, Tensor):
        return value
    order = torch.from_numpy(rows).to(value.device)
    # By its size, because nothing shows which axes of a mask or a rotary table count tokens; a mask of shape
    # (B, 1, T, T) has two of them.
    for axis, size in enumerate(value.shape):
        if size == len(rows):
            value = value.index_select(axis, order)
    return value

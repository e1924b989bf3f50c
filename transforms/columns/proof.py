"""Measurements of the theorems: the difference of a permuted module from the plain one.

They cover the forward pass (theorem 4.4 of Xu et al. 2024), the backward pass (theorem 4.5) and training
(corollary 4.6). In exact arithmetic every difference is zero. In floating point, sums have another order, so
there is a noise floor; `noise_floor` measures it on the plain module. `try_rows` measures the permutation of
tokens (theorems 4.1 and 4.2).
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, Self

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from codeaudit.transforms.columns.layout import Indices, Layout, Place, inverse
from codeaudit.transforms.columns.permute import (
    moved,
    permute_module,
    permuted,
    permuting,
    permuting_rows,
    stacks,
)
from codeaudit.transforms.columns.tracing import AxisGroups, Call, tensors, watched
from codeaudit.transforms.errors import ModelError

EXACT: Final = 1e-10
"""The largest accepted deviation in double precision, relative to the largest output or gradient."""
SINGLE: Final = 1e-4
"""The same in single precision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """The largest differences, each relative to the largest number of its kind."""

    forward: float
    backward: float
    scale: float
    """The largest absolute output."""

    def within(self, bound: float) -> bool:
        """Whether both differences are at most the bound; `False` if one is NaN."""
        return self.forward <= bound and self.backward <= bound


class DoubleThroughout(TorchFunctionMode):
    """Inside, casts to single precision become casts to double, and new floating-point tensors are double.

    Some normalisations and softmaxes compute in single precision whatever their input is, so a module in
    double precision would keep their noise.
    """

    def __enter__(self) -> Self:
        self._before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)  # type: ignore[no-untyped-call]
        torch.set_default_dtype(self._before)

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """The call, with the other number type."""
        if func is Tensor.float:  # names its type in the method, so no argument can be exchanged
            return args[0].double()
        wide = [torch.float64 if argument is torch.float32 else argument for argument in args]
        named = {
            key: torch.float64 if value is torch.float32 else value for key, value in (kwargs or {}).items()
        }
        return func(*wide, **named)


def exactly(module: nn.Module, groups: AxisGroups, permutations: Sequence[Indices], call: Call) -> Deviation:
    """The differences of outputs and gradients, in double precision throughout."""
    with DoubleThroughout():
        return deviation(deepcopy(module).double(), groups, permutations, call.double())


def deviation(
    module: nn.Module, groups: AxisGroups, permutations: Sequence[Indices], call: Call
) -> Deviation:
    """The differences of outputs and gradients between the module and its permuted version.

    Outputs of the permuted module that are permuted themselves are put back into order first. The module is
    permuted in place and restored afterwards.
    """
    back = inverse(permutations)
    training = module.training
    module.eval()
    try:
        before, slopes = _answers(module, call, loss=_weighed)
        with permuting(module, groups.layout, permutations):
            orders = [(places, back) for places in groups.outputs]
            after, turned = _answers(module, call, orders, loss=_weighed)
    finally:
        module.train(training)
    # The gradient of a permuted weight is the permuted gradient (theorem 4.5).
    wanted = permuted(slopes, groups.layout, permutations)
    return Deviation(
        forward=_apart(before, after),
        backward=_apart(list(wanted.values()), list(turned.values())),
        scale=_largest(before),
    )


def change(module: nn.Module, layout: Layout, permutations: Sequence[Indices], call: Call) -> float:
    """The difference of the outputs if weights are permuted by a layout, relative to the largest output."""
    with torch.no_grad():
        before = tensors(call(module))
        with permuting(module, layout, permutations):
            return _apart(before, tensors(call(module)))


def training_deviation(
    module: nn.Module,
    groups: AxisGroups,
    permutations: Sequence[Indices],
    train: Callable[[nn.Module], None],
) -> tuple[float, float]:
    """The largest difference of any weight after training both, and how far training moved any weight.

    `train` must do the same in each call. Dropout draws its masks by place, so it has to be off.
    """
    plain, turned = deepcopy(module), deepcopy(module)
    permute_module(turned, groups.layout, permutations)
    for network in (plain, turned):
        train(network)
    learned, started = dict(plain.named_parameters()), dict(module.named_parameters())
    wanted = permuted(learned, groups.layout, permutations)
    weights = dict(turned.named_parameters())
    apart = max(_difference(wanted[name], weights[name]) for name in wanted)
    return apart, max(_difference(learned[name], started[name]) for name in learned)


def noise_floor(module: nn.Module, call: Call) -> float:
    """The difference of the outputs from those in double precision, relative to the largest output."""
    with torch.no_grad():
        # What rounding alone changes: the same module twice, with and without single precision.
        rounded = tensors(call(module))
        with DoubleThroughout():
            wanted = tensors(call.double()(deepcopy(module).double()))
    return _apart(wanted, [output.double() for output in rounded])


def _answers(
    module: nn.Module,
    call: Call,
    orders: Sequence[tuple[Sequence[Place], Sequence[Indices]]] = (),
    *,
    loss: Callable[[Tensor], Tensor],
) -> tuple[list[Tensor], dict[str, Tensor]]:
    """Outputs, put in order, and the gradients of the summed losses of the outputs."""
    outputs = tensors(call(module))
    if not outputs:
        raise ModelError(f"{type(module).__name__} gives no tensor to compare")
    if orders:
        outputs = [moved(output, *order) for output, order in zip(outputs, orders, strict=True)]
    weights = {name: weight for name, weight in module.named_parameters() if weight.requires_grad}
    total = torch.stack([loss(output) for output in outputs]).sum()
    slopes = torch.autograd.grad(total, list(weights.values()), materialize_grads=True)
    return [output.detach() for output in outputs], dict(zip(weights, slopes, strict=True))


def _weighed(output: Tensor) -> Tensor:
    """A loss that weighs every number of an output differently, so that no two could be swapped unseen."""
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(output.shape, generator=generator, dtype=torch.float64).to(output)
    return (output * weights).sum()


def _squared(output: Tensor) -> Tensor:
    return output.square().sum()


def _apart(wanted: Sequence[Tensor], actual: Sequence[Tensor]) -> float:
    differences = [_difference(one, other) for one, other in zip(wanted, actual, strict=True)]
    return max(differences) / max(_largest(wanted), torch.finfo(torch.float64).tiny)


def _difference(one: Tensor, other: Tensor) -> float:
    return float((one.detach() - other.detach()).abs().max()) if one.numel() else 0.0


def _largest(outputs: Sequence[Tensor]) -> float:
    return max(float(tensor.abs().max()) if tensor.numel() else 0.0 for tensor in outputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowProof:
    """What one call shows of permuted rows, in double precision."""

    deviation: Deviation
    """Of the equivalent computation."""
    broken: float
    """The difference of the outputs of the broken one, relative to the largest output."""
    tokens: int
    sizes: frozenset[int]
    """Sizes of other axes in what the blocks are given beside the hidden states. `permuting_rows` would take
    such an axis for one of tokens in a call with as many tokens."""


def rows_exactly(module: nn.Module, call: Call, rows: Callable[[int], Indices]) -> RowProof:
    """Measure permuted rows, with masks and rotary tables permuted too (theorems 4.1 and 4.2).

    `rows` gives the order for a number of tokens.

    Raises:
        ModelError: the module has no stack of blocks.
    """
    counts: list[int] = []

    def noted(count: int) -> Indices:
        counts.append(count)
        return rows(count)

    with DoubleThroughout():
        wide, call = deepcopy(module).double().eval(), call.double()
        stack = stacks(wide)[0]
        with watched(stack.blocks[0]) as calls:
            before, slopes = _answers(wide, call, loss=_weighed)
        with permuting_rows(stack, rows=noted, company=True):
            after, turned = _answers(wide, call, loss=_weighed)
        with permuting_rows(stack, rows=rows, broken=True), torch.no_grad():
            broken = tensors(call(wide))
    if not counts:
        raise ModelError(f"{type(module).__name__} gives its blocks no tokens")
    beside = [
        tensor
        for call in calls
        for tensor in Call(
            call.args[1:], {key: value for key, value in call.kwargs.items() if key != "hidden_states"}
        ).tensors
    ]
    return RowProof(
        deviation=Deviation(
            forward=_apart(before, after),
            backward=_apart(list(slopes.values()), list(turned.values())),
            scale=_largest(before),
        ),
        broken=_apart(before, broken),
        tokens=counts[0],
        sizes=frozenset(size for tensor in beside for size in tensor.shape) - {1, counts[0]},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTrial:
    """The differences under permuted rows, each relative to the largest number of its kind."""

    forward: float
    """Theorem 4.1: with the tokens alone permuted."""
    backward: float
    """Theorem 4.2: the same, for gradients."""
    forward_with_company: float
    """With masks and rotary tables permuted too."""


def try_rows(module: nn.Module, call: Call, rows: Indices, *, stack: int = 0) -> RowTrial:
    """Measure rows in one of the module's `stacks`.

    The same parameters are used throughout, because the question is whether they need a change.
    """
    chosen = stacks(module)[stack]
    before, slopes = _answers(module, call, loss=_squared)
    with permuting_rows(chosen, rows=rows):
        after, turned = _answers(module, call, loss=_squared)
    with permuting_rows(chosen, rows=rows, company=True):
        together, _ = _answers(module, call, loss=_squared)
    return RowTrial(
        forward=_apart(before, after),
        backward=_apart(list(slopes.values()), list(turned.values())),
        forward_with_company=_apart(before, together),
    )

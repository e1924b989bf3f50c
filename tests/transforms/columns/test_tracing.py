"""Operations, one or two at a time: what is found free is exactly equivariant, what is not understood is frozen."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from codeaudit.transforms.columns.layout import draw
from codeaudit.transforms.columns.proof import EXACT, exactly
from codeaudit.transforms.columns.tracing import AxisGroups, Call, infer, watched_apart
from codeaudit.transforms.errors import ModelError

Rule = Callable[[dict[str, Tensor], Tensor], Tensor]


class Operation(nn.Module):
    """x (2, 5, 3) goes through `w_in` (12, 3) to (2, 5, 12), through the operation, and out by `w_out`."""

    def __init__(self, operation: Rule, width: int, **shapes: tuple[int, ...]) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        sizes = {"w_in": (12, 3), "w_out": (4, width), **shapes}
        self.weights = nn.ParameterDict(
            {name: nn.Parameter(torch.randn(shape, generator=generator)) for name, shape in sizes.items()}
        )
        self.operation = operation

    def forward(self, x: Tensor) -> Tensor:
        hidden = F.linear(x, self.weights["w_in"])
        return F.linear(self.operation(dict(self.weights.items()), hidden), self.weights["w_out"])


def found(operation: Rule, width: int = 12, **shapes: tuple[int, ...]) -> AxisGroups:
    """The groups, after it was proved that all of them may be permuted at once."""
    module = Operation(operation, width, **shapes)
    x = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(1))
    groups = infer(module, Call((x,), {}))
    for seed in range(2):
        proved = exactly(module, groups, draw(groups.layout.sizes, Random(seed)), Call((x,), {}))
        assert proved.within(EXACT), proved
    return groups


def rotary(x: Tensor) -> Tensor:
    first, last = x.chunk(2, -1)
    angles = torch.arange(x.shape[-1] // 2) * 0.3
    angles = torch.cat([angles, angles])
    return x * angles.cos() + torch.cat([-last, first], -1) * angles.sin()


def attended(query: Tensor, key: Tensor, value: Tensor, **how: Any) -> Tensor:
    parts = [part.unflatten(-1, (-1, 3)).transpose(1, 2) for part in (query, key, value)]
    return F.scaled_dot_product_attention(*parts, **how).transpose(1, 2).flatten(2)


def written(x: Tensor) -> Tensor:
    room = x.new_zeros(2, 5, 12)
    room[..., 4:] = x[..., :8]
    return room


EXACTLY_FREE: dict[str, tuple[Rule, dict[str, tuple[int, ...]], int, list[int]]] = {
    "elementwise": (lambda w, x: torch.tanh(x) * 2 + 1, {}, 12, [12]),
    "a weight by broadcasting": (lambda w, x: x * w["g"] + w["b"], {"g": (12,), "b": (1, 1, 12)}, 12, [12]),
    "layer norm": (lambda w, x: F.layer_norm(x, (12,), w["g"], w["b"]), {"g": (12,), "b": (12,)}, 12, [12]),
    "rms norm by hand": (lambda w, x: x * (x.pow(2).mean(-1, keepdim=True) + 1).rsqrt() * w["g"], {"g": (12,)}, 12, [12]),
    "softmax": (lambda w, x: x.softmax(-1), {}, 12, [12]),
    "matmul with a weight": (lambda w, x: torch.relu(x @ w["m"]), {"m": (12, 7)}, 7, [12, 7]),
    "addmm": (lambda w, x: torch.addmm(w["b"], x.view(10, 12), w["m"]).view(2, 5, 7), {"b": (7,), "m": (12, 7)}, 7, [12, 7]),
    "einsum": (lambda w, x: torch.einsum("btd,de->bte", x, w["m"]), {"m": (12, 7)}, 7, [12, 7]),
    "heads": (lambda w, x: (x.view(2, 5, 4, 3) * w["h"][:, None]).flatten(2), {"h": (4,)}, 12, [4, 3]),
    "gate in one projection": (lambda w, x: F.silu(x.chunk(2, -1)[0]) * x.chunk(2, -1)[1], {}, 6, [6]),
    "split in unlike parts": (lambda w, x: torch.cat([x.split([8, 4], -1)[1], x.split([8, 4], -1)[0]], -1), {}, 12, [4, 8]),
    "attention": (lambda w, x: attended(x, x * w["k"], x), {"k": (12,)}, 12, [4, 3]),
    "causal attention": (lambda w, x: attended(x, x, x, is_causal=True), {}, 12, [4, 3]),
    "grouped queries": (
        lambda w, x: attended(x, F.linear(x, w["k"]), F.linear(x, w["v"]), enable_gqa=True),
        {"k": (6, 12), "v": (6, 12)},
        12,
        [2, 2, 3, 3],
    ),
    "repeated keys": (lambda w, x: x * F.linear(x, w["k"]).unflatten(-1, (2, 3)).repeat_interleave(2, 2).flatten(2), {"k": (6, 12)}, 12, [2, 2, 3]),
    "rotary positions": (lambda w, x: rotary(x.view(2, 5, 2, 6)).flatten(2), {}, 12, [2]),
    "one column by its place": (lambda w, x: x + x[..., 3:4], {}, 12, [3, 8]),
    "what is written into zeros": (lambda w, x: written(x), {}, 12, [8]),
    "dropout in evaluation": (lambda w, x: F.dropout(x, 0.5, training=False), {}, 12, [12]),
    "embedded rows of a weight": (lambda w, x: x + w["t"][torch.tensor([0, 2, 1, 1, 4])], {"t": (6, 12)}, 12, [12]),
    "largest": (lambda w, x: x / x.amax(-1, keepdim=True), {}, 12, [12]),
    "stacked": (lambda w, x: torch.stack([x, x * w["g"]]).sum(0), {"g": (12,)}, 12, [12]),
    "a column that is looked at for its shape": (lambda w, x: x * x[..., -1].shape[1], {}, 12, [12]),
    "neighbours between zeros": (lambda w, x: F.pad(x, (0, 0, 1, 1))[:, :5] + F.pad(x, (0, 0, 1, 1), value=2.0)[:, 2:], {}, 12, [12]),
    "columns between zeros": (lambda w, x: F.pad(x, (2, 2)), {}, 16, []),
    "the first rows of a table of places": (lambda w, x: x + w["p"][:5], {"p": (9, 12)}, 12, [12]),
    "a row of a table by its number": (lambda w, x: x + w["p"][2], {"p": (9, 12)}, 12, [12]),
    "expanded weight": (lambda w, x: x + w["c"].expand(2, 5, 12), {"c": (1, 1, 12)}, 12, [12]),
}  # fmt: skip
"""Operation, more weights, width at the end, sizes of the groups that must be free."""

FROZEN: dict[str, Rule] = {
    "cumsum": lambda w, x: x.cumsum(-1),
    "cumprod, without a rule": lambda w, x: x.cumprod(-1),
    "roll": lambda w, x: x.roll(1, -1),
    "flip": lambda w, x: x.flip(-1),
    "sort": lambda w, x: x.sort(-1).values,
    "Fourier transform": lambda w, x: torch.fft.fft(x, dim=-1).real,
    "numbers of the place": lambda w, x: x * torch.arange(12),
    "every other column": lambda w, x: torch.cat([x[..., ::2], x[..., 1::2]], -1),
    "views that run across one another": lambda w, x: (
        x.view(2, 5, 3, 4).softmax(-1).flatten(2).view(2, 5, 4, 3).softmax(-1).flatten(2)
    ),
    "transposed and merged": lambda w, x: x.transpose(1, 2).reshape(2, 5, 12),
    "gather": lambda w, x: x.gather(-1, torch.tensor([3, 1, 2] * 4).expand(2, 5, 12)),
    "lower triangle": lambda w, x: x.tril(),
    "convolution over columns": lambda w, x: F.conv1d(x, torch.ones(5, 5, 3), padding=1),
    "another type for the same bytes": lambda w, x: x.view(torch.int32).view(torch.float32) * 1.0,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACTLY_FREE)
def test_what_is_free_is_equivariant(name: str) -> None:
    operation, shapes, width, sizes = EXACTLY_FREE[name]
    groups = found(operation, width, **shapes)
    assert sorted(groups.layout.sizes) == sorted(sizes)
    assert groups.unknown == ()


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", [name for name in FROZEN if "bytes" not in name])
def test_what_depends_on_the_place_or_is_unknown_is_frozen(name: str) -> None:
    assert found(FROZEN[name]).layout.sizes == ()


def test_bytes_read_as_another_type_are_frozen() -> None:
    """Apart, since double precision cannot be tried."""
    module = Operation(FROZEN["another type for the same bytes"], 12)
    assert infer(module, Call((torch.randn(2, 5, 3),), {})).layout.sizes == ()


def test_an_unknown_operation_is_told() -> None:
    assert found(FROZEN["cumprod, without a rule"]).unknown == ("cumprod",)


def test_a_buffer_never_moves() -> None:
    module = nn.Sequential(nn.Linear(3, 12), nn.BatchNorm1d(12), nn.Linear(12, 4)).eval()
    assert infer(module, Call((torch.randn(5, 3),), {})).layout.sizes == ()


def test_outputs_stay_unless_they_may_come_permuted() -> None:
    module = nn.Linear(3, 12)
    call = Call((torch.randn(5, 3),), {})
    assert infer(module, call).layout.sizes == ()
    free = infer(module, call, free_outputs=True)
    assert free.layout.sizes == (12,)
    assert exactly(module, free, draw(free.layout.sizes, Random(0)), call).within(EXACT)


def test_what_is_permuted_serves_a_longer_input_too() -> None:
    module = Operation(lambda w, x: x + w["p"][: x.shape[1]], 12, p=(9, 12))
    short, long = (Call((torch.randn(2, size, 3),), {}) for size in (5, 8))
    groups = infer(module, short)
    assert exactly(module, groups, draw(groups.layout.sizes, Random(0)), long).within(EXACT)


def test_weights_that_the_call_does_not_read_stay() -> None:
    module = nn.ModuleDict({"used": nn.Linear(3, 4), "other": nn.Linear(4, 4)})
    module.forward = lambda x: module["used"](x)
    groups = infer(module, Call((torch.randn(5, 3),), {}))
    assert groups.untraced == {"other.weight", "other.bias"}


def test_a_module_that_cannot_be_traced_is_refused_in_one_line() -> None:
    def branch(w: dict[str, Tensor], x: Tensor) -> Tensor:
        return x if float(x.detach().sum()) > 0 else -x

    with pytest.raises(ModelError, match="cannot trace Operation") as caught:
        infer(Operation(branch, 12), Call((torch.randn(2, 5, 3),), {}))
    assert "\n" not in str(caught.value)


def test_a_module_that_cannot_be_traced_leaves_stderr_alone(capsys: pytest.CaptureFixture[str]) -> None:
    def guard(w: dict[str, Tensor], x: Tensor) -> Tensor:
        return x[: int(x.detach().abs().sum().long())].view(-1, 3).squeeze(0)

    with pytest.raises(ModelError, match="cannot trace Operation"):
        infer(Operation(guard, 12), Call((torch.randn(2, 5, 3),), {}))
    assert capsys.readouterr().err == ""


def test_a_deviation_shows_when_a_weight_is_left_out() -> None:
    """The prover is proved: a layout that lacks one weight does not pass."""
    module = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 4))
    call = Call((torch.randn(5, 3),), {})
    groups = infer(module, call)
    tensors = {name: places for name, places in groups.layout.tensors.items() if name != "0.bias"}
    broken = AxisGroups(
        layout=type(groups.layout)(sizes=groups.layout.sizes, tensors=tensors),
        outputs=groups.outputs,
        inside=groups.inside,
        unknown=(),
        untraced=frozenset(),
    )
    assert not exactly(module, broken, draw(groups.layout.sizes, Random(0)), call).within(1e-3)


def test_parts_that_run_outside_the_call_are_told() -> None:
    module = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
    with watched_apart(module) as apart:
        module(torch.zeros(1, 2))
    assert not apart
    with watched_apart(module) as apart:
        module(module[2](module[1](torch.zeros(1, 2))))
        with pytest.raises(RuntimeError):
            module(torch.zeros(1, 3))
        module[0](torch.zeros(1, 2))
    assert apart == {"0", "2"}

"""The fused kernel gives the logits and the gradients of the plain form, for every network that takes it.

Torch refuses to compute gradients of the kernel on a processor, though what it would run eagerly is plain
arithmetic. These tests lift that refusal. What they cannot see is the kernel that is compiled for a GPU.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.exc import Unsupported
from torch.nn.attention import flex_attention

from codeaudit.audit.papers.dependency_encoding.trunk import Cache
from codeaudit.audit.papers.lines import fused
from codeaudit.audit.papers.lines.attention import Causal, HeadGroup, LineBias, attend
from codeaudit.audit.papers.lines.trunk import collate
from codeaudit.audit.papers.renamer import networks as renamer
from codeaudit.audit.papers.tree_transformer.batches import collate as collate_trees
from codeaudit.audit.papers.tree_transformer.batches import whole
from codeaudit.audit.papers.tree_transformer.networks import BEGIN_ID
from tests.audit.papers.dependency_encoding import test_decoders as decoders
from tests.audit.papers.lines.test_attention import KINDS
from tests.audit.papers.tree_transformer import test_network as trees
from tests.audit.papers.tree_transformer.support import random_tree
from tests.support.networks import CHAIN, SMALL, encoded, network

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of torch, about the eager kernel

WITHOUT = "tree-shaw"
"""It does not take the kernel: it adds to the values by the weights, which the kernel keeps to itself."""
DECODERS = {"code": True, "alibi": True, "rope": False, "fire": False, "nope, sharper": False}
"""Whether a decoder takes the kernel: causality alone has a faster one, and FIRE learns a function of pairs."""


@pytest.fixture(name="calls")
def _calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bool], list[int]]]:
    """Switches the kernel on or off, and gives the list of the heads of its calls."""
    heads: list[int] = []
    plain = flex_attention.flex_attention

    def noted(query: Tensor, *given: Any, **named: Any) -> Any:
        heads.append(query.shape[1])
        return plain(query, *given, **named)

    def switch(on: bool) -> list[int]:
        monkeypatch.setattr(fused, "pays", lambda tokens: on)
        heads.clear()
        return heads

    monkeypatch.setattr(flex_attention, "_validate_device", lambda *given: None)
    monkeypatch.setattr(fused, "flex_attention", noted)
    fused._kernel.cache_clear()
    yield switch
    fused._kernel.cache_clear()


def told(made: nn.Module, forward: Callable[[], Tensor]) -> list[Tensor]:
    """The outputs, and the gradient of every weight."""
    made.zero_grad()
    logits = forward().clamp_min(-100)  # where there are fewer words to copy, it is minus infinity
    (logits * torch.arange(logits.numel()).view_as(logits).cos()).sum().backward()
    return [
        logits.detach(),
        *(parameter.grad.clone() for parameter in made.parameters() if parameter.grad is not None),
    ]


def compared(made: nn.Module, forward: Callable[[], Tensor], calls: Callable[[bool], list[int]]) -> list[int]:
    """The kernel's calls; both forms agree."""
    calls(False)
    expected = told(made, forward)
    heads = calls(True)
    actual = told(made, forward)
    assert not fused._failed
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected, strict=True):
        assert (one - other).abs().max() <= 1e-9 * max(1, other.abs().max())
    return heads


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "options"), [*KINDS, ("code", {})])
def test_networks_that_read_lines(
    kind: str, options: dict[str, object], calls: Callable[[bool], list[int]]
) -> None:
    made = network(kind, **options)
    sources = (SMALL[1], CHAIN, "def MASK(): pass\n")
    heads = compared(made, lambda: made(collate([encoded(kind, source) for source in sources])), calls)
    assert bool(heads) == (kind != "vanilla"), "plain heads need no kernel"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), trees.VARIANTS)
@pytest.mark.parametrize("completes", [False, True])
def test_trees(
    name: str, options: dict[str, object], completes: bool, calls: Callable[[bool], list[int]]
) -> None:
    rng = Random(1)
    inputs = [whole(random_tree(size, rng)) for size in (3, 17, 1)]
    given = torch.tensor([[BEGIN_ID, 10, 12]]).expand(3, -1)
    batch = collate_trees(inputs, levels=trees.SHAPE.levels, degree="full")
    if completes:
        completing = trees.made_completer(name, options)
        heads = compared(completing, lambda: torch.cat(completing(batch), -1) * batch.real[..., None], calls)
    else:
        naming = trees.made_namer(name, options)
        heads = compared(naming, lambda: naming(batch, given), calls)
    assert len(heads) == (0 if name == WITHOUT else trees.SHAPE.layers)


@pytest.mark.slow
@pytest.mark.parametrize("variant", DECODERS)
def test_decoders(variant: str, calls: Callable[[bool], list[int]]) -> None:
    made = decoders.network(variant)
    heads = compared(made, lambda: made(decoders.texts()), calls)
    assert bool(heads) == DECODERS[variant]
    with torch.no_grad():
        ids, cache = decoders.texts(), Cache()
        made(ids[:, :10], cache)
        heads.clear()
        assert torch.allclose(made(ids[:, 10:], cache), made(ids)[:, 10:])


def test_renamers_terms(calls: Callable[[bool], list[int]]) -> None:
    torch.manual_seed(0)
    made = renamer.Renamer(renamer.TermSizes(vocabulary=20, width=16), referents=True).double()
    ids = torch.randint(1, 20, (3, 9))
    ids[1, 5:] = 0
    batch = renamer.TermBatch(
        ids=ids, referents=ids % 4 + (ids > 0), context=torch.zeros(3, 9, 2, dtype=torch.long), steps=ids * 0
    )
    assert compared(made, lambda: made(batch), calls) == [2], "the first layer"


@pytest.mark.parametrize("tokens", [1, 127, 128, 300])
def test_blocks_are_those_that_torch_makes(tokens: int) -> None:
    """From all pairs at once, which ours never hold."""
    starts = torch.arange(tokens).div(50, rounding_mode="floor").mul(50).expand(2, -1).clone()
    starts[1] = 0
    rule = Causal(starts).rule()
    blocks = fused.described(rule, 2, tokens, tokens, starts.device).blocks
    expected = flex_attention.create_block_mask(rule.allowed, 2, None, tokens, tokens, device="cpu")  # type: ignore[arg-type]
    assert blocks is not None
    assert torch.equal(blocks.to_dense(), expected.to_dense())
    for name in ("kv_num_blocks", "full_kv_num_blocks"):
        assert torch.equal(getattr(blocks, name), getattr(expected, name))


def test_float32_agrees_to_five_digits(calls: Callable[[bool], list[int]]) -> None:
    torch.manual_seed(0)
    line = torch.arange(40).div(4, rounding_mode="floor").expand(2, -1)
    real = torch.ones(2, 40, dtype=torch.bool)
    real[1, 30:] = False
    groups = [HeadGroup(4, LineBias(torch.randint(0, 9, (2, 10, 10)).float(), line, real))]
    drawn = torch.randn(3, 2, 4, 40, 8)
    outputs = []
    for on in (False, True):
        calls(on)
        inputs = [tensor.clone().requires_grad_() for tensor in drawn]
        query, key, value = inputs
        result = attend(query, key, value, groups)
        outputs.append([result.detach(), *torch.autograd.grad(result.cos().sum(), inputs)])
    assert all(torch.allclose(one, other, atol=1e-5, rtol=1e-5) for one, other in zip(*outputs, strict=True))


def test_a_kernel_that_cannot_be_compiled_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: Any, **named: Any) -> Any:
        raise Unsupported("no compiler")

    monkeypatch.setattr(fused, "flex_attention", broken)
    monkeypatch.setattr(fused, "_failed", [])
    monkeypatch.setattr(fused, "pays", lambda tokens: not fused._failed)
    fused._kernel.cache_clear()
    query, key, value = torch.randn(3, 1, 2, 5, 4).unbind(0)
    groups = [HeadGroup(2, Causal(torch.zeros(1, 5, dtype=torch.long)))]
    with pytest.warns(UserWarning, match="attention is not fused: .*no compiler"):
        output = attend(query, key, value, groups)
    fused._kernel.cache_clear()
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    assert torch.allclose(output, expected, atol=1e-6)


def test_a_processor_takes_the_plain_form() -> None:
    assert not fused.pays(torch.zeros(1, 4096, dtype=torch.long))

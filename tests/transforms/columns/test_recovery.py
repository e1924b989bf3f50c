"""The attack: it finds the permutation from public weights, through noise, and finds nothing in a cipher."""

from random import Random

import numpy as np
import numpy.typing as npt
import pytest

from codeaudit.transforms.columns.keys import Key
from codeaudit.transforms.columns.layout import Indices, draw
from codeaudit.transforms.columns.permute import permuted
from codeaudit.transforms.columns.recovery import recover
from tests.support.families import family

Arrays = dict[str, npt.NDArray[np.float64]]


def attacked(name: str, noise: float, *, inner: bool) -> tuple[float, float]:
    """The found shares of the residual and of the feed-forward units."""
    module, _, groups = family(name)
    locking, hidden = groups.locking[0], next(g for g in groups.inner if groups.layout.sizes[g] == 48)
    wanted = [locking, hidden, *(group for group in groups.inner if group != hidden)] if inner else [locking]
    layout = groups.layout.only({old: new for new, old in enumerate(wanted)})
    order = draw(layout.sizes, Random(5))
    rng = np.random.default_rng(0)
    weights = {key: weight.detach() for key, weight in module.named_parameters()}
    public = {key: weight.double().numpy() for key, weight in weights.items()}
    sealed = {
        key: weight.double().numpy() + noise * 0.3 * rng.normal(size=weight.shape)
        for key, weight in permuted(weights, layout, order).items()
    }
    outside = frozenset(key for key in layout.tensors if key not in groups.inside)
    recovery = recover(public, sealed, layout, outside)
    return recovery.share(0, order[0]), recovery.share(1, order[1]) if inner else 1.0


@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_public_weights_give_the_residual_away(name: str, noise: float) -> None:
    assert attacked(name, noise, inner=False) == (1.0, 1.0)


def test_permuting_the_inside_too_does_not_help() -> None:
    assert attacked("bert", 0.1, inner=True) == (1.0, 1.0)


def test_nothing_is_found_in_a_cipher() -> None:
    module, _, groups = family("gpt2")
    layout = groups.layout.only({groups.locking[0]: 0})
    key = Key(bytes(32)).under(b"")
    public: Arrays = {}
    sealed: Arrays = {}
    for name, weight in module.named_parameters():
        numbers = weight.detach().numpy()
        hidden, _ = key.encrypted(numbers.reshape(-1).view(np.uint8), name)
        public[name] = numbers.astype(np.float64)
        with np.errstate(invalid="ignore"):  # random bits may be no number
            sealed[name] = hidden.view(np.float32).reshape(numbers.shape).astype(np.float64)
    order: Indices = np.arange(32, dtype=np.int64)
    assert recover(public, sealed, layout, frozenset()).share(0, order) < 0.25

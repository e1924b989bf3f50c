"""The laws of SPE attention: Theorem 4.6 on features and on text, and the second half of Definition 4.2."""

from itertools import permutations
from random import Random

import pytest
import torch

from codeaudit.audit.papers.lines.trunk import Pooling
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.analysis.program import analyse
from codeaudit.transforms.python.order.reorder import REORDER
from tests.support import stdlib
from tests.support.networks import CHAIN, LABELS, SMALL, encoded, legal_orders, logits, network

EQUIVARIANT = [
    pytest.param("spe", {}, id="spe"),
    pytest.param("spe", {"mask_mode": "additive"}, id="spe additive"),
    pytest.param("spe", {"all_heads": True}, id="spe all heads"),
    pytest.param("spe", {"line_positions": False}, id="spe without positions"),
    pytest.param("symc", {}, id="symc"),
    pytest.param("symc", {"sign": 1}, id="symc as printed"),
]
TOLERANCE = 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("source", SMALL)
@pytest.mark.parametrize(("kind", "options"), EQUIVARIANT)
def test_every_legal_order_of_a_small_function_has_the_same_logits(
    kind: str, options: dict[str, object], source: str
) -> None:
    made = network(kind, **options)
    original = encoded(kind, source)
    orders = list(legal_orders(source))
    assert len(orders) > 2
    outputs = logits(made, *(encoded(kind, order.source) for order in orders))
    assert (outputs - logits(made, original)).abs().max() <= TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("pooling", ["max", "votes"])
@pytest.mark.parametrize(("kind", "options"), EQUIVARIANT)
def test_no_pooling_sees_the_order(kind: str, options: dict[str, object], pooling: Pooling) -> None:
    made = network(kind, **options)
    by_mean = logits(made, encoded(kind, SMALL[0]))
    made.trunk.pooling = pooling
    original = logits(made, encoded(kind, SMALL[0]))
    assert (original - by_mean).abs().max() > TOLERANCE, "the pooling is not used"
    outputs = logits(made, *(encoded(kind, order.source) for order in legal_orders(SMALL[0])))
    assert (outputs - original).abs().max() <= TOLERANCE


@pytest.mark.parametrize("source", SMALL)
@pytest.mark.parametrize("kind", ["spe", "symc", "vanilla"])
def test_a_legal_order_of_the_text_permutes_the_features(kind: str, source: str) -> None:
    original = encoded(kind, source)
    for order in legal_orders(source):
        expected, actual = original.permuted(order.lines), encoded(kind, order.source)
        for part in ("ids", "line", "position", "relation", "copies"):
            assert (getattr(expected, part) == getattr(actual, part)).all(), (order, part)


@pytest.mark.slow
def test_real_functions_keep_their_logits_under_sampled_legal_orders() -> None:
    moved = 0
    networks = {kind: network(kind) for kind in ("spe", "symc")}
    for number, source in enumerate(stdlib.sample(150)):
        try:
            moves = REORDER.propose(source, Random(number))
        except SourceError:
            continue
        if not isinstance(moves, tuple):
            continue
        variant = REORDER.apply(source, moves)
        text = getattr(variant, "source", source)
        for kind, made in networks.items():
            before, after = logits(made, encoded(kind, source)), logits(made, encoded(kind, text))
            assert (before - after).abs().max() <= TOLERANCE, text
        moved += text != source
    assert moved > 5


@pytest.mark.slow
def test_sampled_line_orders_keep_the_logits_of_real_functions() -> None:
    made = network("spe")
    for number, source in enumerate(stdlib.sample(40)):
        original = encoded("spe", source)
        order = analyse(source).sample_lines(Random(number))
        assert (logits(made, original) - logits(made, original.permuted(order))).abs().max() <= TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["spe", "symc"])
def test_exactly_the_legal_orders_keep_the_logits(kind: str) -> None:
    """With generic weights; equal lines or ties could make an illegal order look legal."""
    made = network(kind)
    legal = {order.lines for order in legal_orders(CHAIN)}
    assert legal == {(0, 1, 2, 3, 4), (0, 2, 1, 3, 4)}
    header, *body = CHAIN.splitlines(keepends=True)
    before = logits(made, encoded(kind, CHAIN))
    for order in permutations(range(4)):
        text = header + "".join(body[line] for line in order)
        moved = float((logits(made, encoded(kind, text)) - before).abs().max())
        is_legal = (0, *(line + 1 for line in order)) in legal
        assert moved <= TOLERANCE if is_legal else moved > 1e-6, (order, moved)


def test_a_plain_transformer_sees_the_order_of_the_lines() -> None:
    made = network("vanilla")
    first, second = (order.source for order in legal_orders(CHAIN))
    assert (
        logits(made, encoded("vanilla", first)) - logits(made, encoded("vanilla", second))
    ).abs().max() > 1e-3


@pytest.mark.parametrize(("kind", "options"), [*EQUIVARIANT, pytest.param("vanilla", {}, id="vanilla")])
def test_padding_and_the_rest_of_the_batch_change_nothing(kind: str, options: dict[str, object]) -> None:
    made = network(kind, **options)
    inputs = [encoded(kind, source) for source in (*SMALL, CHAIN, "def MASK(): pass\n")]
    together = logits(made, *inputs)
    for row, features in zip(together, inputs, strict=True):
        count = len(LABELS) + features.spoken
        assert (row[:count] - logits(made, features)[0]).abs().max() <= TOLERANCE
        assert (row[count:] == -torch.inf).all()
    assert len({features.spoken for features in inputs}) > 1


def test_without_line_positions_the_words_of_a_line_are_a_bag() -> None:
    """Table 3, `w.o. pe`: still invariant to legal orders, but `a - b` and `b - a` are one line."""
    one = "def MASK(a, b):\n    return a - b\n"
    other = "def MASK(a, b):\n    return b - a\n"
    for positions, same in ((True, False), (False, True)):
        made = network("spe", neighbours=0, line_positions=positions)
        moved = (logits(made, encoded("spe", one)) - logits(made, encoded("spe", other))).abs().max()
        assert bool(moved <= TOLERANCE) is same

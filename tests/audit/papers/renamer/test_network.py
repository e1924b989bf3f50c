"""The laws of Renamer: which pairs of terms the first layer binds, and bit-identical answers."""

from collections.abc import Iterator

import pytest
import torch

from codeaudit.audit.papers.lines.attention import HeadGroup
from codeaudit.audit.papers.renamer.networks import BERT, Renamer, TermSizes, collate
from codeaudit.audit.papers.renamer.networks import NETWORKS as TERM_NETWORKS
from codeaudit.audit.papers.renamer.tasks import block_terms as terms
from codeaudit.audit.papers.renamer.terms import TermInput, TermReader
from codeaudit.transforms.x86.registers import registers
from tests.support.blocks import BLOCKS, FIGURE_A, FIGURE_C, network, renamings

READOUTS = ("sum", "mean", "cls")


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Networks as small as these wait for a second thread longer than they compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def features(reader: TermReader, source: str) -> TermInput:
    encoded = reader.read(terms(source))
    assert isinstance(encoded, TermInput)
    return encoded


@torch.no_grad()
def answers(made: Renamer, inputs: list[TermInput]) -> list[float]:
    return made(collate(inputs)).tolist()  # type: ignore[no-any-return]


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("name", ["renamer", "canonicalized"])
def test_batches_composed_alike_give_bit_identical_answers(name: str, readout: str) -> None:
    """Row by row in the same place, for thousands of renamings in all: equal, not nearly so."""
    made, reader = network(name, readout)
    originals = [features(reader, source) for source in BLOCKS]
    expected = answers(made, originals)
    assert len(set(expected)) == len(BLOCKS)
    rounds = list(zip(*(list(renamings(source, 150)) for source in BLOCKS), strict=False))
    assert len(rounds) * len(BLOCKS) > 1000
    for texts in rounds:
        assert answers(made, [features(reader, text) for text in texts]) == expected


@pytest.mark.parametrize("name", ["vanilla", "augmented"])
def test_a_network_that_sees_names_answers_otherwise(name: str) -> None:
    made, reader = network(name)
    (before,) = answers(made, [features(reader, FIGURE_A)])
    after = [answers(made, [features(reader, text)])[0] for text in set(renamings(FIGURE_A, 30)) - {FIGURE_A}]
    assert all(abs(answer - before) > 1e-4 for answer in after)


def test_a_broken_view_or_referent_changes_the_answer() -> None:
    for name in ("renamer", "canonicalized"):
        made, reader = network(name)
        (one,) = answers(made, [features(reader, FIGURE_A)])
        (other,) = answers(made, [features(reader, FIGURE_C)])
        assert abs(one - other) > 1e-4


def test_the_referents_alone_make_a_difference() -> None:
    """Equal views, another partition: without the binding of the first layer the two would be one."""
    one, other = "addq %rax, %rbx\naddq %rcx, %rbx", "addq %rax, %rbx\naddq %rbx, %rcx"
    made, reader = network("renamer")
    first, second = features(reader, one), features(reader, other)
    assert first.ids.tolist() == second.ids.tolist()
    assert answers(made, [first]) != answers(made, [second])
    free = Renamer(TermSizes(vocabulary=made.words.num_embeddings, width=32), referents=False).eval()
    free.load_state_dict(made.state_dict())
    assert answers(free, [first]) == answers(free, [second])


def test_the_first_layer_binds_coreferential_terms_and_no_other_layer_does() -> None:
    """The gradient of a hidden state behind a layer shows whom it attended to there."""
    made, reader = network("renamer")
    encoded = features(reader, FIGURE_A)
    passed: list[tuple[torch.Tensor, torch.Tensor]] = []
    handles = [
        layer.register_forward_hook(lambda module, inputs, output: passed.append((inputs[0], output)))
        for layer in made.layers
    ]
    made(collate([encoded]))
    for handle in handles:
        handle.remove()
    for number, (entering, leaving) in enumerate(passed):
        for place in range(len(encoded.ids)):
            (moved,) = torch.autograd.grad(leaving[0, place].square().sum(), entering, retain_graph=True)
            felt = moved[0].abs().sum(-1) > 0
            bound = encoded.referents == encoded.referents[place]
            assert felt.tolist() == (bound | (number > 0)).tolist()


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("name", sorted(TERM_NETWORKS))
def test_padding_changes_nothing_but_the_last_bits(name: str, readout: str) -> None:
    made, reader = network(name, readout)
    alone = [answers(made, [features(reader, source)])[0] for source in BLOCKS]
    together = answers(made, [features(reader, source) for source in BLOCKS])
    assert together == pytest.approx(alone, abs=1e-4)


def test_a_layer_is_berts() -> None:
    """Against torch's own encoder layer, with the same weights."""
    made, _ = network("vanilla")
    layer = made.layers[0]
    twin = torch.nn.TransformerEncoderLayer(32, 2, 128, 0.0, "gelu", batch_first=True).eval()
    twin.self_attn.in_proj_weight.data = layer.projections.inward.weight.data  # type: ignore[assignment]
    twin.self_attn.in_proj_bias.data = layer.projections.inward.bias.data  # type: ignore[assignment]
    twin.self_attn.out_proj.load_state_dict(layer.projections.outward.state_dict())
    twin.linear1.load_state_dict(layer.feed[0].state_dict())
    twin.linear2.load_state_dict(layer.feed[2].state_dict())
    twin.norm1.load_state_dict(layer.after_attention.state_dict())
    twin.norm2.load_state_dict(layer.after_feed.state_dict())
    x = torch.randn(3, 7, 32)
    with torch.no_grad():
        assert torch.allclose(layer(x, (HeadGroup(2),)), twin(x), atol=1e-4)


def test_the_sum_adds_what_each_term_costs() -> None:
    made, reader = network("renamer")
    batch = collate([features(reader, FIGURE_A)])
    hidden: list[torch.Tensor] = []
    handle = made.layers[-1].register_forward_hook(lambda module, inputs, output: hidden.append(output))
    with torch.no_grad():
        total = made(batch).exp()
        each = made.head(hidden[0]).exp().sum()
    handle.remove()
    assert float(total) == pytest.approx(float(each), rel=1e-5)


def test_sizes_are_berts_and_tiny_is_small_enough_to_bundle() -> None:
    words = len(registers()) + 600
    counts = {}
    for size, (width, layers, heads) in BERT.items():
        made = Renamer(TermSizes(vocabulary=words, width=width, layers=layers, heads=heads), referents=True)
        counts[size] = sum(weight.numel() for weight in made.parameters())
    assert counts["tiny"] * 2 < 2_000_000, "in float16"
    assert 3_000_000 < counts["mini"] < 4_000_000
    assert 12_000_000 < counts["small"] < 14_000_000


def test_one_layer_is_too_few() -> None:
    with pytest.raises(ValueError, match="no term would see another"):
        Renamer(TermSizes(vocabulary=5, layers=1), referents=True)
    with pytest.raises(ValueError, match="3 heads do not divide the width 32"):
        Renamer(TermSizes(vocabulary=5, width=32, heads=3), referents=True)

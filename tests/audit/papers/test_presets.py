"""The papers' sizes: how many weights they give, counted without memory."""

import pytest
import torch
from torch import nn

from codeaudit.audit.papers import presets, registry
from codeaudit.audit.papers.dependency_encoding.material import StreamRecipe
from codeaudit.audit.papers.dependency_encoding.networks import build as decoder
from codeaudit.audit.papers.dependency_encoding.trunk import DecoderSizes
from codeaudit.audit.papers.presets import PRESETS
from codeaudit.audit.papers.renamer.networks import NETWORKS as TERM_NETWORKS
from codeaudit.audit.papers.renamer.networks import TermSizes
from codeaudit.audit.papers.renamer.training import recipe_for
from codeaudit.audit.papers.spe_attention.material import LineRecipe
from codeaudit.audit.papers.spe_attention.networks import build as lines
from codeaudit.audit.papers.tree_transformer.material import TreeRecipe
from codeaudit.audit.papers.tree_transformer.networks import namer, sizes
from codeaudit.audit.training.trainer import blocks
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.registration import unknown


def made(name: str, network: str) -> nn.Module:
    """The network of a preset, with as many words as it allows."""
    chosen = PRESETS[name]
    settings = dict(chosen.settings)
    structure = presets.fitting(chosen, {}, network)
    with torch.device("meta"):
        match chosen.folder:
            case "spe_attention":
                recipe = LineRecipe(network=network, **settings, **structure)  # type: ignore[arg-type]
                return lines(network, recipe.shape(vocabulary=recipe.vocabulary, labels=2), {})
            case "tree_transformer":
                own, options = registry.split_structure(TreeRecipe, structure)
                tree = TreeRecipe(network=network, **settings, **own)  # type: ignore[arg-type]
                return namer(network, tree.shape(types=200, values=tree.vocabulary, names=10_000), options)
            case "renamer":
                terms = recipe_for(network, "throughput", {**settings, **structure})
                return TERM_NETWORKS[network].make(terms.sized(TermSizes, vocabulary=30_522))
        own, options = registry.split_structure(StreamRecipe, structure)
        stream = StreamRecipe(network=network, **settings, **own)  # type: ignore[arg-type]
        words = {"vocabulary": stream.vocabulary, "newline": 0, "start": 1}
        return decoder(network, stream.sized(DecoderSizes, **words), options)


def weights(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


ALL = [(name, network) for name, preset in PRESETS.items() for network in preset.networks]


@pytest.mark.thinned(3)
@pytest.mark.parametrize(("name", "network"), ALL)
def test_every_preset_is_a_network_of_its_family(name: str, network: str) -> None:
    chosen = PRESETS[name]
    family = next(known for known in registry.FAMILIES if known.home.endswith(chosen.folder))
    assert network in family.networks
    assert chosen.structure.keys() <= presets.STRUCTURE[chosen.folder].keys()
    for task in family.tasks:
        left = {setting for setting in chosen.settings if registry.foreign(family, task, setting)}
        assert left <= {"implied", "rarest_label"}
    assert weights(made(name, network)) > 10**5


@pytest.mark.parametrize(
    ("name", "network", "stated", "apart"),
    [
        ("spe-paper", "spe", 67.7e6, 0.005),
        ("symc-paper", "symc", 67.7e6, 0.005),
        ("code-71m", "rope", 71e6, 0.01),
        ("code-71m", "code", 71e6, 0.03),
        ("code-10m", "rope", 10e6, 0.12),
        ("code-10m", "code", 10e6, 0.02),
    ],
)
def test_stated_numbers_of_weights(name: str, network: str, stated: float, apart: float) -> None:
    assert weights(made(name, network)) == pytest.approx(stated, rel=apart)


@pytest.mark.parametrize("name", ["renamer-tiny", "renamer-mini", "renamer-small"])
def test_layers_of_renamer_are_those_of_bert(name: str) -> None:
    network = made(name, "renamer")
    width, layers = (int(str(PRESETS[name].settings[setting])) for setting in ("width", "layers"))
    assert sum(weights(block) for block in blocks(network)) == layers * (12 * width**2 + 13 * width)
    assert weights(made(name, "vanilla")) == weights(network)


def test_positions_of_trees_have_about_the_stated_weights() -> None:
    assert sizes(made("tree-paper", "tree"))["scheme"] == pytest.approx(1.3e6, rel=0.03)


@pytest.mark.parametrize(
    ("folder", "given", "message"),
    [
        ("renamer", "context", "'context' must be NAME=VALUE"),
        ("renamer", "context=maybe", "context=maybe: must be one of true, false"),
        ("renamer", "contex=true", "context"),
        ("tree_transformer", "terms=all", "terms=all: must be one of both, local, global"),
        ("tree_transformer", "levels=x", "levels=x: must be a number"),
        ("dependency_encoding", "sparsity=-1", "sparsity=-1: must be a number from 0"),
        ("dependency_encoding", "sparsity=nan", "sparsity=nan: must be a number from 0"),
    ],
)
def test_structural_options_that_are_none(folder: str, given: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        presets.structure(folder, [given])


def test_structural_options_are_read_by_their_kinds() -> None:
    options = presets.structure("dependency_encoding", ["pace=false", "in_line=2", "sparsity=1e-6"])
    assert options == {"pace": False, "in_line": 2, "sparsity": 1e-6}
    assert presets.structure("tree_transformer", ["degree=prefix"]) == {"degree": "prefix"}


def test_a_preset_of_other_networks_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"preset 'code-71m' is of code, rope, .*, not of spe"):
        presets.preset("code-71m", "spe_attention", "spe")
    with pytest.raises(UsageError) as raised:
        presets.preset("spe-papre", "spe_attention", "spe")
    assert str(raised.value) == unknown("preset", "spe-papre", list(PRESETS))

"""The weights that a training starts from, and the groups in which they learn."""

import math
from typing import Any, Final

import numpy as np
import torch

from codeaudit.audit.papers.registry import Network
from codeaudit.audit.papers.spe_attention.material import Material
from codeaudit.audit.papers.spe_attention.recipe import Recipe

POSITION_SPREAD: Final = 0.02
"""Standard deviation of positions: far below that of words, which the bag has to be heard through."""
WARMEST: Final = 5
"""A warm-up takes one step in so many at most: a small corpus has few."""
RAREST: Final = 1e-5


@torch.no_grad()
def initialise(network: Network, material: Material) -> None:
    """Words of norm 1, blocks whose ways out are zero, equal votes, label biases at their log-odds."""
    trunk = network.trunk
    width = trunk.tokens.embedding_dim
    tokens = [material.tokenizer.token_to_id(label) for label in material.labels]
    trunk.label_tokens.copy_(torch.tensor(tokens))
    trunk.tokens.weight.normal_(0, width**-0.5)
    trunk.mix.weight.normal_(0, width**-0.5)
    positions = getattr(network, "positions", None)
    if positions is not None:
        positions.weight.normal_(0, POSITION_SPREAD)
    zeros = [trunk.mix.bias, trunk.vote.weight, trunk.vote.bias]
    for way_out in trunk.ways_out():
        zeros += [way_out.weight, way_out.bias]
    for weight in zeros:
        weight.zero_()
    counts = np.bincount(material.train.labels, minlength=len(material.labels))
    share = torch.from_numpy(counts / len(material.train)).clamp(RAREST, 0.99)
    trunk.label_bias.copy_(torch.log(share / (1 - share)))


def optimiser(network: Network, recipe: Recipe) -> torch.optim.AdamW:
    """AdamW with decay on matrices only; words and label biases have no decay and learn faster."""
    words = {id(network.trunk.tokens.weight), id(network.trunk.label_bias)}
    groups: dict[str, list[torch.nn.Parameter]] = {"matrices": [], "vectors": [], "words": []}
    for weight in network.parameters():
        kind = "words" if id(weight) in words else "matrices" if weight.dim() == 2 else "vectors"
        groups[kind].append(weight)
    settings: list[dict[str, Any]] = [
        {"params": groups["matrices"], "weight_decay": recipe.weight_decay, "factor": 1.0},
        {"params": groups["vectors"], "weight_decay": 0.0, "factor": 1.0},
        {"params": groups["words"], "weight_decay": 0.0, "factor": recipe.word_factor},
    ]
    return torch.optim.AdamW([one for one in settings if one["params"]], lr=recipe.rate, betas=(0.9, 0.98))


def rate(recipe: Recipe, step: int, total: int, *, bag: bool) -> float:
    """The learning rate of a step counted from 0 in its stage."""
    if bag:
        return recipe.bag_rate * min(1.0, (step + 1) / 100)
    fall = 0.05 + 0.95 * (0.5 + 0.5 * math.cos(math.pi * min(1.0, step / total)))
    warm_up = min(recipe.warm_up, max(1, total // WARMEST))
    return recipe.rate * min(1.0, (step + 1) / warm_up) * fall

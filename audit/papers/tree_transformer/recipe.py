"""The recipe of the transformers over trees."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from codeaudit.audit.papers.tree_transformer.network import TreeShape
from codeaudit.audit.papers.tree_transformer.nodes import Degree, Spelling
from codeaudit.audit.training.recipe import Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRecipe(Recipe):
    """How a transformer over trees is trained. The defaults are those of the bundled checkpoint.

    The paper's has 6 layers of width 512 with 8 heads, values as whole words, and 20 epochs at 1e-4.
    """

    network: str
    options: Mapping[str, object] = field(default_factory=dict)
    """Of the scheme: `terms`, `dimension`, …"""
    degree: Degree = "full"
    spelling: Spelling = "subtokens"
    width: int = 128
    layers: int = 2
    decoder_layers: int = 1
    heads: int = 4
    levels: int = 16
    embedding: int = 32
    window: int = 250
    """Nodes; longer functions are left out, longer trees to be completed are cut into pieces that overlap by
    half."""
    dropout: float = 0.1
    vocabulary: int = 8000
    """Words of values."""
    rarest_label: int = 10
    """A subtoken of fewer training names is never said."""
    batch: int = 64
    epochs: int = 6
    steps: int | None = None
    """Instead of `epochs` where given."""
    rate: float = 1e-3
    """Peak learning rate: linear warm-up, then a cosine down to a fiftieth."""
    warm_up: int = 200
    weight_decay: float = 0.01
    clip: float = 5.0
    """As in the paper."""
    patience: int = 4
    """Epochs without a better validation score before it ends."""
    validation: int = 1000
    """Functions that decide on the best epoch."""
    seed: int = 0
    half: bool = True
    """Whether matrices are multiplied in bfloat16; the weights stay in float32."""

    def shape(self, *, types: int, values: int, names: int = 0) -> TreeShape:
        """The sizes of the network, once types and words are counted."""
        return self.sized(TreeShape, types=types, values=values, names=names)

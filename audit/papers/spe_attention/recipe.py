"""The recipe of the networks that read lines."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from codeaudit.audit.papers.lines.trunk import LineShape, Pooling
from codeaudit.audit.training.recipe import Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRecipe(Recipe):
    """How a network that reads lines is trained. The defaults are those of the bundled checkpoints.

    The first stage skips the blocks: embeddings and head learn within seconds how much each word counts. Then
    the blocks join. Their output layers start at zero, so nothing learned is lost. With random blocks from
    the start, the same budget does not get beyond the most frequent labels.
    """

    network: str
    options: Mapping[str, object] = field(default_factory=dict)
    """Of the network: `mask_mode`, `sign`, …"""
    width: int = 128
    layers: int = 2
    heads: int = 4
    window: int = 256
    """Tokens; longer functions are left out."""
    dropout: float = 0.2
    vocabulary: int = 6000
    rarest_label: int = 10
    """A subtoken of fewer training names is no label."""
    batch: int = 64
    bag_epochs: int = 2
    epochs: int = 4
    steps: int | None = None
    """Steps of the second stage; instead of `epochs` where given."""
    bag_rate: float = 2e-3
    rate: float = 1.5e-3
    """Peak learning rate of the second stage: linear warm-up, then a cosine down to a twentieth."""
    word_factor: float = 2.0
    """How much faster embeddings and label biases learn."""
    warm_up: int = 300
    weight_decay: float = 0.01
    clip: float = 1.0
    patience: int = 4
    """Epochs of the second stage without a better validation score before it ends."""
    validation: int = 2000
    """Functions that decide on the threshold and the best epoch."""
    orders: int = 0
    """Legal orders per function to draw from; 0 trains on the text's own order only."""
    seed: int = 0
    half: bool = True
    """Whether matrices are multiplied in bfloat16; the weights stay in float32."""

    def shape(self, *, vocabulary: int, labels: int, pooling: Pooling = "mean") -> LineShape:
        """The sizes of the network, once the words and labels are counted and the task is known."""
        return self.sized(LineShape, vocabulary=vocabulary, labels=labels, pooling=pooling)

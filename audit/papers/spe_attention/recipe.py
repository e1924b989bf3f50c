"""Every number that decides what comes out of a training, in one record."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from codeaudit.audit.papers.lines.trunk import Pooling, Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a network is trained. The defaults are those of the bundled checkpoints.

    First the embeddings and the head are trained with the blocks skipped, a bag of words that learns in
    seconds what words are worth; then the blocks join, with ways out that start at zero, so that nothing
    learned is lost. From random blocks the same budget does not get beyond the most frequent labels.
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

    def shape(self, *, vocabulary: int, labels: int, pooling: Pooling = "mean") -> Shape:
        """The sizes of the network, once the words and labels are counted and the task is known."""
        return Shape(
            vocabulary=vocabulary,
            labels=labels,
            width=self.width,
            layers=self.layers,
            heads=self.heads,
            window=self.window,
            pooling=pooling,
            dropout=self.dropout,
        )

    def as_json(self) -> dict[str, object]:
        """For the model card, and to tell whether an interrupted training is this one."""
        return {**asdict(self), "options": dict(self.options)}

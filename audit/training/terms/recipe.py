"""Every number that decides what comes out of such a training, in one record."""

from dataclasses import asdict, dataclass

from audit.nets.renamer import Readout, Sizes


@dataclass(frozen=True, slots=True, kw_only=True)
class TermRecipe:
    """How Renamer or one of its baselines is trained. The sizes are BERT-Tiny's."""

    network: str
    width: int = 128
    layers: int = 2
    heads: int = 2
    window: int = 128
    """Terms; longer blocks are left out."""
    readout: Readout = "sum"
    dropout: float = 0.0
    implied: bool = True
    """Whether blocks are learned from in which an instruction uses a register without a choice."""
    batch: int = 64
    epochs: int = 15
    steps: int | None = None
    """Instead of `epochs` where given."""
    rate: float = 1e-3
    """Peak learning rate: linear warm-up, then a cosine down to a fiftieth."""
    warm_up: int = 200
    weight_decay: float = 0.01
    clip: float = 1.0
    patience: int = 1_000_000
    """Epochs without a better validation error before it ends."""
    validation: int = 4000
    """Blocks that decide on the best epoch."""
    seed: int = 0

    def sizes(self, vocabulary: int) -> Sizes:
        """The sizes of the network, once the words are counted."""
        return Sizes(
            vocabulary=vocabulary,
            width=self.width,
            layers=self.layers,
            heads=self.heads,
            window=self.window,
            readout=self.readout,
            dropout=self.dropout,
        )

    def as_json(self) -> dict[str, object]:
        """For the model card, and to tell whether an interrupted training is this one."""
        return asdict(self)

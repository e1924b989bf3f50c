"""The recipe of Renamer and its baselines."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from codeaudit.audit.papers.renamer.network import Readout, TermSizes
from codeaudit.audit.tasks.derivative import DERIVATIVE
from codeaudit.audit.tasks.throughput import THROUGHPUT
from codeaudit.audit.training.recipe import Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class TermRecipe(Recipe):
    """How Renamer or one of its baselines is trained: BERT-Tiny's sizes, and defaults for throughput."""

    network: str
    task: str = THROUGHPUT.name
    width: int = 128
    layers: int = 2
    heads: int = 2
    window: int = 128
    """Terms; longer texts are left out."""
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
    autocast: bool = False
    """Whether products of matrices are computed in bfloat16 while it learns: twice as fast where the
    processor has instructions for it. Weights and validation stay in float32."""
    warm_up: int = 200
    weight_decay: float = 0.01
    clip: float = 1.0
    patience: int = 1_000_000
    """Epochs without a better validation error before it ends."""
    validation: int = 4000
    """Examples that decide on the best epoch."""
    seed: int = 0

    def sizes(self, vocabulary: int) -> TermSizes:
        """The sizes of the network, once the words are counted."""
        return self.sized(TermSizes, vocabulary=vocabulary)


DEFAULTS: Final[Mapping[str, Mapping[str, object]]] = {
    DERIVATIVE.name: {"window": 256, "readout": "mean", "batch": 32},
}
"""Other defaults, by task. A pair of expressions has at most 254 terms."""

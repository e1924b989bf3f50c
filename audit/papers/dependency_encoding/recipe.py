"""The recipe of CoDE and its baselines."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from codeaudit.audit.papers.dependency_encoding.streams import Streams
from codeaudit.audit.papers.dependency_encoding.trunk import DecoderSizes
from codeaudit.audit.tasks.code_modelling import CODE_MODELLING
from codeaudit.audit.training.recipe import Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRecipe(Recipe):
    """How CoDE or one of its baselines is trained. The defaults are those of the bundled checkpoint."""

    network: str
    task: str = CODE_MODELLING.name
    options: Mapping[str, object] = field(default_factory=dict)
    """Of the network: `pace`, `mixer`, …"""
    width: int = 128
    layers: int = 4
    """A baseline has one more."""
    heads: int = 4
    inner: int = 352
    window: int = 256
    """Tokens of a training example."""
    features: int = 64
    sparsity: float = 1e-5
    """α: the weight of the L1 term of CoDE's features."""
    dropout: float = 0.0
    vocabulary: int = 2048
    batch: int = 16
    epochs: int = 1
    steps: int | None = None
    """Instead of `epochs` where given."""
    stretch: int = 250
    """Steps after which validation is asked."""
    rate: float = 3e-3
    """Peak learning rate: linear warm-up, then a cosine down to a twentieth."""
    warm_up: int = 100
    weight_decay: float = 0.1
    clip: float = 1.0
    patience: int = 1_000_000
    """Stretches without a better validation before it ends."""
    validation: int = 256
    """Windows that decide on the best weights."""
    tested: int = 1000
    """Texts of the test set that the card's scores are of."""
    seed: int = 0
    half: bool = True
    """Whether matrices are multiplied in bfloat16 while it learns; weights and validation are in float32."""

    def sizes(self, streams: Streams) -> DecoderSizes:
        """The sizes of the network, once the tokens are known."""
        return self.sized(
            DecoderSizes, vocabulary=streams.vocabulary, newline=streams.newline, start=streams.start
        )

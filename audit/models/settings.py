"""What a provider is given to make a model."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where and how a model runs. An option that the provider does not accept has its default."""

    device: str = "auto"
    """`auto`, or a device as torch names it."""
    precision: str | None = None
    """`float32`, …; `None` for that of the model's files."""
    base_url: str | None = None
    """The endpoint's address; `None` for the provider's own."""
    batch_size: int = 32
    """Largest number of queries in one call of `predict`."""
    arguments: Mapping[str, str | float] = field(default_factory=dict)
    """The `-M` arguments that the user gave, read by the provider's readers."""

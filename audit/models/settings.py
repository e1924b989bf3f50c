"""What a provider is given to make a model."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where and how a model runs, and its own arguments."""

    device: str = "auto"
    """`auto`, or a device as torch names it."""
    precision: str | None = None
    """`float32`, …; `None` for what the model was made for."""
    base_url: str | None = None
    """Where an endpoint is; `None` for the provider's own."""
    arguments: Mapping[str, str | float] = field(default_factory=dict)
    """Those that the user gave with `-M`, typed by the provider's schema."""

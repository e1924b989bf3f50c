"""The decoders by name. Listing them imports no framework."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from codeaudit.transforms.entries import Entry
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.registration import Registry, unknown

if TYPE_CHECKING:
    from codeaudit.audit.papers.dependency_encoding.trunk import Decoder, DecoderSizes

_POSITIONS: Final = "codeaudit.audit.papers.dependency_encoding.positions"

DECODERS: "Final[Registry[Callable[..., Decoder]]]" = Registry(
    "decoder",
    {
        "code": Entry(
            "codeaudit.audit.papers.dependency_encoding.network:code",
            "CoDE: lines and their dependencies, no positions",
        ),
        "rope": Entry(f"{_POSITIONS}:rope", "RoPE: queries and keys turned by their positions"),
        "nope": Entry(f"{_POSITIONS}:nope", "NoPE: no positions at all"),
        "fire": Entry(f"{_POSITIONS}:fire", "FIRE: a learned function of the relative distance"),
        "hope": Entry(f"{_POSITIONS}:hope", "HoPE: RoPE without its long wavelengths"),
        "alibi": Entry(f"{_POSITIONS}:alibi", "ALiBi: a penalty that grows with the distance"),
    },
)

OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "code": ("in_line", "plain", "in_line_mask", "pace", "mixer", "direct", "residual_add", "unit_columns"),
    "nope": ("sharpness",),
}
"""Settings beside the sizes, by network."""


def build(name: str, sizes: "DecoderSizes", options: Mapping[str, object]) -> "Decoder":
    """A decoder with random weights.

    Raises:
        UsageError: an unknown name, or an option that it does not take.
        ValueError: sizes that do not fit together.
    """
    make = DECODERS.get(name)
    known = OPTIONS.get(name, ())
    for option in options:
        if option not in known:
            raise UsageError(unknown(f"option of decoder {name!r}", option, list(known)))
    return make(sizes, **options)

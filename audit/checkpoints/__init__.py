"""The bundled checkpoints, one folder each, as `codeaudit train` writes them."""

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent


def names() -> list[str]:
    """The names of the bundled checkpoints, sorted."""
    return sorted(path.parent.name for path in FOLDER.glob("*/config.json"))

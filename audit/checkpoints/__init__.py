"""The bundled checkpoints, one folder each, as `codeaudit train` writes them."""

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent

"""Where the real data sets lie, if they are at hand."""

import os
from pathlib import Path

import pytest


def data_set(name: str) -> Path:
    """The path of a data set; skips the test where it is not at hand.

    They are looked for in `$CODEAUDIT_DATA`, else in `../shared/data` beside the checkout.
    """
    default = Path(__file__).parents[3] / "shared" / "data"
    path = Path(os.environ.get("CODEAUDIT_DATA", default)) / name
    if not path.exists():
        pytest.skip(f"data set {name} is not at hand")
    return path

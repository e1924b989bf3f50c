"""Which versions a run was made with."""

import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from typing import Final

from codeaudit.transforms.python.language import PYTHON

DECISIVE: Final = ("codeaudit", "torch", "numpy", "scipy", "tokenizers", "safetensors", "pyarrow")
"""Distributions whose version may decide a number."""


def version(distribution: str) -> str | None:
    """The installed version; `None` if the distribution is not installed, as in a checkout."""
    try:
        return installed(distribution)
    except PackageNotFoundError:
        return None


def versions() -> dict[str, str]:
    """Those that decide numbers, with Python's."""
    found = {name: number for name in DECISIVE if (number := version(name))}
    return {PYTHON.name: platform.python_version(), **found}

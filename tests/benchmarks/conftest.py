from collections.abc import Callable
from importlib import import_module
from types import ModuleType

import pytest

from tests.support.commands import ROOT


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """A script of the benchmarks, imported as it sees itself: the other scripts lie beside it."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return import_module

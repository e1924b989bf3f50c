"""The pytest plugin: `assert_invariant` as a fixture. Loaded with every pytest, it imports nothing heavy."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="session", name="assert_invariant")
def _assert_invariant() -> Callable[..., Any]:
    """`codeaudit.testing.assert_invariant`: assert that a model's answers hold under edits."""
    from codeaudit.testing import assert_invariant

    return assert_invariant

"""What tests of output and input prediction in several languages share."""

from pathlib import Path

import pytest

from codeaudit.audit.labels import labels
from codeaudit.audit.tasks.input_prediction import INPUT_PREDICTION, Inputs
from codeaudit.audit.tasks.output_prediction import Outputs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that the tests of a module share."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def outputs(folder: Path) -> Outputs:
    return Outputs(cache=folder)


@pytest.fixture(scope="module")
def inputs(folder: Path) -> Inputs:
    source = labels(None, INPUT_PREDICTION, cache=folder)
    assert isinstance(source, Inputs)
    return source

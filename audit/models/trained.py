"""A folder written by `codeaudit train`, whichever network stands in it."""

from audit.interface import Model
from audit.models.checkpoint import CONFIG, CheckpointModel, folder_of, read_json
from audit.models.terms import TermModel
from audit.nets.term_tasks import TASKS


def load(place: str, *, device: str, precision: str | None) -> Model:
    """A bundled checkpoint by name, or a folder; its task says how it is read.

    Raises:
        ModelError: a file is missing, damaged, or does not fit the others.
        UsageError: no such device or precision.
    """
    task = read_json(folder_of(place) / CONFIG).get("task")
    kind = TermModel if task in TASKS else CheckpointModel
    return kind.load(place, device=device, precision=precision)

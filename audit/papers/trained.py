"""A folder written by `codeaudit train`, whichever network stands in it."""

from codeaudit.audit.interface import Model
from codeaudit.audit.papers.checkpoint import CONFIG, CheckpointModel, folder_of, read_json
from codeaudit.audit.papers.dependency_encoding.model import MODELLING, DecoderModel
from codeaudit.audit.papers.renamer.model import TermModel
from codeaudit.audit.papers.renamer.tasks import TASKS
from codeaudit.audit.papers.tree_transformer.model import TreeModel
from codeaudit.audit.papers.tree_transformer.registry import TREE_NETWORKS


def load(place: str, *, device: str, precision: str | None) -> Model:
    """A bundled checkpoint by name, or a folder; its task and network say how it is read.

    Raises:
        ModelError: a file is missing, damaged, or does not fit the others.
        UsageError: no such device or precision.
    """
    config = read_json(folder_of(place) / CONFIG)
    task = config.get("task")
    if task == MODELLING:
        return DecoderModel.load(place, device=device, precision=precision)
    if config.get("network") in TREE_NETWORKS:
        return TreeModel.load(place, device=device, precision=precision)
    kind = TermModel if task in TASKS else CheckpointModel
    return kind.load(place, device=device, precision=precision)

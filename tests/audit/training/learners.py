"""Small trainings of every family, as `codeaudit train` makes them."""

from pathlib import Path
from typing import Any, Final

from codeaudit.audit.papers import registry
from codeaudit.audit.papers.checkpoint import CheckpointLearner
from codeaudit.audit.registry import TASKS

MODULES: Final = "stdlib:argparse,ast,inspect,shutil"
LINES: Final = {"vocabulary": 400, "rarest_label": 3, "bag_epochs": 1, "heads": 4, "layers": 2}
TERMS: Final = {"heads": 2, "layers": 2}
KINDS: Final[dict[str, tuple[str, str, str, dict[str, Any]]]] = {
    "spe": ("spe", "function-name", MODULES, LINES),
    "tree": (
        "tree",
        "function-name",
        MODULES,
        {"vocabulary": 300, "rarest_label": 3, "heads": 2, "layers": 1},
    ),
    "decoder": (
        "code",
        "code-modelling",
        MODULES,
        {"vocabulary": 300, "window": 32, "heads": 2, "layers": 3},
    ),
    "terms": ("augmented", "derivative", "algebra:train:60", TERMS),
}
"""Network, task, corpus and settings, one of each family."""


def small(kind: str, cache: Path, corpus: Any = None, **settings: Any) -> CheckpointLearner[Any, Any]:
    """A training of a network of a few thousand weights without dropout, in float32."""
    network, task, usual, own = KINDS[kind]
    family, _ = registry.family(network, task)
    plain = {} if kind == "terms" else {"half": False}
    request = registry.TrainingRequest(
        network=network,
        task=TASKS.get(task),
        options={"width": 16, "dropout": 0.0, "batch": 7, "steps": 6, **plain, **own, **settings},
        train=corpus or usual,
        valid=None,
        test=None,
        cache=cache,
        workers=1,
        note=lambda text: None,
        limit=80,
    )
    return registry.learner(family, request)

"""Whether a gate may ask of a task if controls change the answers."""

from itertools import product

import pytest

from codeaudit.audit.registry import TASKS
from codeaudit.transforms.records import Evidence, Label, Origin, Perturbed, Sample

SOURCE = "def f(a):\n    b = a\n    c = b + 1\n    return c\n"
LABELS: tuple[Label, ...] = (None, "2", "3", 0.0, 1.0, "buggy", "clean", "same", "different", "safe", ("f",))
EVIDENCE: tuple[Evidence, ...] = ("none", "analysis", "executed", "measured")


@pytest.mark.parametrize("name", TASKS.built_in)
def test_a_task_that_reacts_judges_some_control(name: str) -> None:
    """A gate ends with "cannot tell" without judged controls, and more samples must be able to mend that."""
    task = TASKS.get(name)
    judged = False
    for before, after, evidence, control in product(
        LABELS, LABELS, EVIDENCE, task.controls or ("reorder-breaking",)
    ):
        origin = Origin(path="a.py", line=1)
        sample = Sample(
            id="s", language="python", source=SOURCE, label=before, origin=origin, asked=SOURCE[:20]
        )
        edit = Perturbed(
            sample=Sample(id="s", language="python", source=SOURCE, label=after, origin=origin),
            transform=control,
            kind="control",
            variant=0,
            source=SOURCE.replace("1", "2"),
            moves=(),
            evidence=evidence,
        )
        judged |= task.expects(sample, edit) == "other"
    assert judged or not task.reacts

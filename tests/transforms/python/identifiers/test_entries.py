"""What is said of the family before it is imported is true of it."""

import pytest

from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.python.identifiers import FAMILY
from codeaudit.transforms.records import Origin, Perturbed, Sample
from codeaudit.transforms.registry import TRANSFORMS


@pytest.mark.parametrize("name", FAMILY.transforms)
def test_an_entry_names_a_transform_that_rewrites_its_example(name: str) -> None:
    entry, transform = FAMILY.transforms[name], TRANSFORMS.get(name)
    assert (transform.name, transform.kind) == (name, entry.kind)
    assert entry.twin is None or FAMILY.transforms[entry.twin].kind == "control"
    sample = Sample(
        id=name, language="python", source=entry.example, label=None, origin=Origin(path="x", line=1)
    )
    variants = list(perturb_one(sample, transform, variants=2, seed=0))
    assert isinstance(variants[0], Perturbed)
    assert variants[0].source != entry.example

"""What is said of the family before it is imported is true of it."""

import pytest

from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Origin, Perturbed, Sample
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.x86 import X86
from codeaudit.transforms.x86.legality import Equivalent, compare
from codeaudit.transforms.x86.reading import read


@pytest.mark.parametrize("name", X86.transforms)
def test_an_entry_names_a_transform_that_rewrites_its_example(name: str) -> None:
    entry = X86.transforms[name]
    assert entry.twin is None or X86.transforms[entry.twin].kind == "control"
    assert (entry.kind == "control") == entry.summary.startswith("control: ")
    origin = Origin(path="", line=1)
    sample = Sample(id=name, language="x86", source=entry.example, label=None, origin=origin)
    (outcome,) = perturb_one(sample, transform_for(name, "x86"), variants=1, seed=0, sites="all")
    assert isinstance(outcome, Perturbed)
    assert outcome.source != entry.example
    assert outcome.evidence == "analysis"
    judged = compare(read(entry.example), read(outcome.source))
    assert isinstance(judged, Equivalent) == (name == "rename")


def test_a_default_run_has_transforms_and_controls() -> None:
    assert {X86.transforms[name].kind for name in X86.standard} == {"preserving"}
    assert {X86.transforms[name].kind for name in X86.controls} == {"control"}


def test_blocks_are_of_no_other_language() -> None:
    origin = Origin(path="", line=1)
    sample = Sample(id="p", language="python", source="pass", label=None, origin=origin)
    (outcome,) = perturb_one(sample, transform_for("rename", "x86"), variants=1, seed=0)
    assert not isinstance(outcome, Perturbed)
    assert outcome.reason == "other language"


def test_a_block_that_does_not_parse_is_counted() -> None:
    origin = Origin(path="", line=1)
    sample = Sample(id="p", language="x86", source="movk %rax", label=None, origin=origin)
    for name in X86.transforms:
        (outcome,) = perturb_one(sample, transform_for(name, "x86"), variants=1, seed=0)
        assert not isinstance(outcome, Perturbed)
        assert outcome.reason == "source does not parse"

"""Rules of the house that no other tool checks: names, and what a package exports."""

import ast
from collections import defaultdict

from tests.support.source_trees import PACKAGES, imported, trees


def test_a_class_name_is_defined_once() -> None:
    """A reader who searches for a class finds one definition. Names with an underscore are private to a file."""
    found: dict[str, list[str]] = defaultdict(list)
    for package in PACKAGES:
        for path, tree in trees(package).items():
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].append(path)
    assert len(found) > 300, "the search found the classes"
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_the_old_package_names_are_imported_nowhere() -> None:
    """In a checkout `audit`, `transforms` and `reports` can be imported, too: a second copy of every class."""
    strangers = []
    for folder in (*PACKAGES, "tests", "benchmarks", "examples"):
        for path, tree in trees(folder).items():
            names = list(imported(tree))
            if {name.partition(".")[0] for name in names} & {"transforms", "audit", "reports"}:
                strangers.append(f"{path}: {', '.join(names)}")
    assert strangers == []

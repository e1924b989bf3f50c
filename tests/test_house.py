"""Rules of the house that no other tool checks: names, and what a package exports."""

import ast
from collections import defaultdict

from tests.support.commands import ROOT

PACKAGES = ("transforms", "audit", "reports", "codeaudit")


def test_a_class_name_is_defined_once() -> None:
    """A reader who searches for a class finds one definition. Names with an underscore are private to a file."""
    found: dict[str, list[str]] = defaultdict(list)
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].append(path.relative_to(ROOT).as_posix())
    assert len(found) > 300, "the search found the classes"
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_the_old_package_names_are_imported_nowhere() -> None:
    """In a checkout `audit`, `transforms` and `reports` can be imported, too: a second copy of every class."""
    strangers = []
    for folder in (*PACKAGES, "tests", "benchmarks", "examples"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names: list[str] = []
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    names = [node.module]
                if {name.partition(".")[0] for name in names} & set(PACKAGES[:3]):
                    strangers.append(f"{path.relative_to(ROOT)}: {', '.join(names)}")
    assert strangers == []

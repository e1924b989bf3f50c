"""Rules of the house that no other tool checks: names, and what a package exports."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from tests.support.source_trees import PACKAGES, imported, texts

CLASS = re.compile(r"^ *class ([A-Za-z]\w*)[(:\[]", re.MULTILINE)
OLD_NAMES = {"transforms", "audit", "reports"}
VAGUE = {"found", "told"}
"""Say that something was found or told, never what."""


def test_a_class_name_is_defined_once() -> None:
    """A reader who searches for a class finds one definition. Names with an underscore are private to a file."""
    paths_of: dict[str, list[str]] = defaultdict(list)
    for package in PACKAGES:
        for path, text in texts(package).items():
            for name in CLASS.findall(text):
                paths_of[name].append(path)
    assert len(paths_of) > 300, "the search found the classes"
    assert {name: paths for name, paths in paths_of.items() if len(paths) > 1} == {}


def test_the_old_package_names_are_imported_nowhere() -> None:
    """In a checkout `audit`, `transforms` and `reports` can be imported, too: a second copy of every class."""
    like_an_import = re.compile(rf"^\s*(from|import) ([\w, ]*, *)?({'|'.join(OLD_NAMES)})\b", re.MULTILINE)
    strangers = []
    for folder in (*PACKAGES, "tests", "benchmarks", "examples"):
        for path, text in texts(folder).items():
            # Parsing all files takes seconds. Most files have no such line; in others it may stand in a string.
            if like_an_import.search(text):
                names = list(imported(ast.parse(text)))
                if {name.partition(".")[0] for name in names} & OLD_NAMES:
                    strangers.append(f"{path}: {', '.join(names)}")
    assert strangers == []


def test_a_variable_says_what_it_holds() -> None:
    """Fields of classes may be called so: `found` stands beside `wanted` in a check."""
    may_be = re.compile(
        rf"\bfor [\w, ]*({'|'.join(VAGUE)})\b|^ *({'|'.join(VAGUE)})\b.*[^=]=[^=]", re.MULTILINE
    )
    vague = [
        f"{path}:{node.lineno}: {node.id}"
        for package in PACKAGES
        for path, text in texts(package).items()
        if may_be.search(text)
        for node in _variables(ast.parse(text))
        if node.id in VAGUE
    ]
    assert vague == []


def _variables(tree: ast.Module) -> Iterator[ast.Name]:
    """The names that are assigned, but for fields of classes."""
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    fields = {
        statement.target for of in classes for statement in of.body if isinstance(statement, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in fields:
            yield node

"""Rules of the house that no other tool checks: names, and what a package exports."""

import ast
import re
from collections import defaultdict

from tests.support.source_trees import PACKAGES, imported, texts

CLASS = re.compile(r"^ *class ([A-Za-z]\w*)[(:\[]", re.MULTILINE)
OLD_NAMES = {"transforms", "audit", "reports"}


def test_a_class_name_is_defined_once() -> None:
    """A reader who searches for a class finds one definition. Names with an underscore are private to a file."""
    places: dict[str, list[str]] = defaultdict(list)
    for package in PACKAGES:
        for path, text in texts(package).items():
            for name in CLASS.findall(text):
                places[name].append(path)
    assert len(places) > 300, "the search found the classes"
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


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

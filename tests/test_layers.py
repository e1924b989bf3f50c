"""No package names one above its own: what an import contract cannot see, because it stands in a string."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ABOVE = {
    "transforms": r"codeaudit\.(?!transforms\b)\w+",
    "audit": r"codeaudit\.(?!transforms\b|audit\b)\w+",
    "reports": r"codeaudit\.(?!transforms\b|audit\b|reports\b)\w+",
}
"""By package, the paths of what stands above it."""


def _targets(text: str, pattern: str) -> Iterator[str]:
    """The strings that name an object above, docstrings left out."""
    tree = ast.parse(text)
    documented = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            yield from re.findall(rf"^{pattern}(?:\.\w+)*:\w+$", node.value)


@pytest.mark.parametrize("package", list(ABOVE))
def test_no_string_names_an_object_of_a_package_above(package: str) -> None:
    names = {
        f"{path.relative_to(ROOT)}: {target}"
        for path in (ROOT / package).rglob("*.py")
        if re.search(ABOVE[package], text := path.read_text(encoding="utf-8"))  # parsing all takes seconds
        for target in _targets(text, ABOVE[package])
    }
    assert names == set()


def test_a_string_that_names_an_object_above_is_found() -> None:
    text = '"""codeaudit.audit.x:Y"""\nROW = ("codeaudit.audit.corpora.methods:methods", "codeaudit.transforms.a:B")\n'
    assert list(_targets(text, ABOVE["transforms"])) == ["codeaudit.audit.corpora.methods:methods"]

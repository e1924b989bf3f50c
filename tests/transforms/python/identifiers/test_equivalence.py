import pytest

from codeaudit.transforms.python.analysis.scopes import resolve
from codeaudit.transforms.python.identifiers.proofs import is_merge, is_renaming, same_structure

BEFORE = resolve("def f(a):\n    x = a\n    y = 1\n    return [x.z(k=x) for z in y]\n")
X = next(binding.number for binding in BEFORE.bindings if binding.name == "x")
Y = next(binding.number for binding in BEFORE.bindings if binding.name == "y")


def test_the_same_function_with_another_name_is_equivalent() -> None:
    after = resolve("def f(a):\n    v = a\n    y = 1\n    return [v.z(k=v) for z in y]\n")
    assert is_renaming(BEFORE, after, {X: "v"})
    assert not is_renaming(BEFORE, after, {X: "w"})
    assert not is_renaming(BEFORE, after, {})


@pytest.mark.parametrize(
    "text",
    [
        "def f(a):\n    v = a\n    y = 1\n    return [x.z(k=v) for z in y]\n",  # one missed
        "def f(a):\n    v = a\n    y = 1\n    return [v.v(k=v) for z in y]\n",  # an attribute too
        "def f(a):\n    v = a\n    y = 1\n    return [v.z(v=v) for z in y]\n",  # a keyword too
        "def f(a):\n    v = a\n    y = 1\n    return [v.z(k=v) for v in y]\n",  # captured
        "def f(a):\n    v = a\n    v = 1\n    return [v.z(k=v) for z in v]\n",  # two merged
        "def f(a):\n    v = a\n    y = 2\n    return [v.z(k=v) for z in y]\n",  # another constant
        "def f(a):\n    v = a\n    y = 1\n    return {v.z(k=v) for z in y}\n",  # another structure
        "def g(a):\n    v = a\n    y = 1\n    return [v.z(k=v) for z in y]\n",  # another function
    ],
)
def test_any_other_difference_is_seen(text: str) -> None:
    assert not is_renaming(BEFORE, resolve(text), {X: "v"})


def test_a_merge_is_told_from_a_renaming() -> None:
    after = resolve("def f(a):\n    x = a\n    x = 1\n    return [x.z(k=x) for z in x]\n")
    assert is_merge(BEFORE, after, Y, X)
    assert not is_merge(BEFORE, BEFORE, Y, X)
    assert not is_renaming(BEFORE, after, {Y: "x"})


def test_layout_is_no_difference() -> None:
    assert same_structure(BEFORE.tree, resolve(BEFORE.source.decode().replace("    ", "\t")).tree)

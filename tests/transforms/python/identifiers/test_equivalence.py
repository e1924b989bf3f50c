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


SCOPED = (
    "def f(a):\n    global {0}\n    {1} = a\n    return {1}\n",
    "def f(a):\n    {0} = a\n    def g():\n        nonlocal {0}\n        {1} = a\n    return g\n",
    "def f(a):\n    {0} = a\n    def g():\n        {1} = a\n        return {0}\n    return g\n",
    "def f(a):\n    {0} = a\n    class C:\n        {1} = a\n        def g(self):\n            return {0}\n    return C\n",
    "def f(a):\n    {0} = a\n    return [{1} for {1} in a if {0}]\n",
    "def f(a):\n    {0} = a\n    return [{0} for {1} in a]\n",
    "def f(a):\n    {0} = a\n    return [({1} := b) for b in a]\n",
    "def f(a):\n    {0} = a\n    return lambda {1}: {0}\n",
    "def f(a):\n    import os as {0}\n    return {1}\n",
    "def f(a):\n    try:\n        {0} = a()\n    except E as {1}:\n        return {1}\n",
    "def f(a):\n    return {0}({1})\n",
)


@pytest.mark.parametrize("text", SCOPED)
def test_two_names_that_become_one_or_two_that_were_one_are_no_renaming(text: str) -> None:
    """Which scope owns a name changes with its spelling."""
    apart, swapped = resolve(text.format("x", "y")), resolve(text.format("y", "x"))
    merged = resolve(text.format("x", "x"))
    numbers = {binding.name: binding.number for binding in apart.bindings}
    assert is_renaming(apart, apart, {})
    assert is_renaming(apart, swapped, {numbers["x"]: "y", numbers["y"]: "x"})
    for names in ({}, {numbers["x"]: "y"}, {numbers["y"]: "x"}):
        assert not is_renaming(apart, swapped, names)
    if merged.slots != apart.slots:  # else `x` of the class and `x` of the function are two variables already
        assert not is_renaming(apart, merged, {numbers["y"]: "x"})
        assert not any(is_renaming(merged, apart, {binding.number: "y"}) for binding in merged.bindings)
    for old, new in zip(apart.bindings, swapped.bindings, strict=True):
        assert (old.view, old.scope) == (new.view, new.scope)


def test_a_merge_is_told_from_a_renaming() -> None:
    after = resolve("def f(a):\n    x = a\n    x = 1\n    return [x.z(k=x) for z in x]\n")
    assert is_merge(BEFORE, after, Y, X)
    assert not is_merge(BEFORE, BEFORE, Y, X)
    assert not is_renaming(BEFORE, after, {Y: "x"})


def test_layout_is_no_difference() -> None:
    assert same_structure(BEFORE.tree, resolve(BEFORE.source.decode().replace("    ", "\t")).tree)


STRUCTURES = (
    "def f(a): return a",
    "def f(a): return a(a)",
    "def f(a): return a(a, a)",
    "def f(a): return a(k=a)",
    "def f(a): return a(m=a)",
    "def f(a): return a.b",
    "def f(a): return [a]",
    "def f(a): return [a, a]",
    "def f(a): return 1",
    "def f(a): return 1.0",
    "def f(a): return 'a'",
    "def f(a): return None",
    "def f(a): return",
    "def f(a):\n    try: a()\n    except a: pass",
    "def f(a):\n    try: a()\n    except a as b: pass",
    "def f(a):\n    import os",
    "def f(a):\n    import os as b",
    "def f(a):\n    import sys as b",
    "def f(a):\n    match a:\n        case {1: 2}: pass",
    "def f(a):\n    match a:\n        case {1: 2, **b}: pass",
    "def f(a, b): return a",
    "def f(a, *b): return a",
)


def test_structures_are_equal_only_to_themselves() -> None:
    """In both orders, because one of two texts is the shorter one."""
    trees = [resolve(text).tree for text in STRUCTURES]
    for number, one in enumerate(trees):
        for other_number, other in enumerate(trees):
            assert same_structure(one, other) is (number == other_number), (number, other_number)


def test_a_merge_compares_texts_of_one_length() -> None:
    text = BEFORE.source.decode()
    merged = "def f(a):\n    x = a\n    x = 1\n    return [x.z(k=x) for z in x]\n"
    assert is_merge(resolve(f"{text}    a\n"), resolve(f"{merged}    a\n"), Y, X)
    assert not is_merge(resolve(f"{text}    a\n"), resolve(merged), Y, X)
    assert not is_merge(BEFORE, resolve(f"{merged}    a\n"), Y, X)

"""Statements that do nothing: where they go, and where they would do something."""

import re

import pytest

import codeaudit
from codeaudit.transforms.python.analysis.capabilities import POSITIONS_READ
from codeaudit.transforms.python.dead_code import insertions
from codeaudit.transforms.python.dead_code.insertions import (
    DEAD_STORES,
    NO_OP_STATEMENTS,
    UNREACHABLE_BRANCHES,
    UNUSED_LOCALS,
    blocks,
    variables,
)
from codeaudit.transforms.python.rewriting import PythonRule
from codeaudit.transforms.python.source import read
from codeaudit.transforms.python.suites import REFLECTION
from codeaudit.transforms.records import Perturbed
from tests.transforms.python.order.support import agrees, outcome, reasons, run, untouched, variants

RULES = [UNUSED_LOCALS, DEAD_STORES, UNREACHABLE_BRANCHES, NO_OP_STATEMENTS]
MEAN = """\
def f(values):
    \"\"\"The mean.\"\"\"
    total = 0
    # Add them up.
    for value in values:
        if value < 0:
            raise ValueError(value)
        total += value  # one more
    return total / len(values)
"""


def inserted(rule: PythonRule, source: str) -> list[list[str]]:
    """Of each variant the new lines, each with the number of the line before which it stands."""
    groups = []
    for text in sorted(variants(rule, source)):
        old, new = source.split("\n"), text.split("\n")
        at = next((number for number, line in enumerate(old) if line != new[number]), len(old))
        count = len(new) - len(old)
        assert new[:at] + new[at + count :] == old
        groups.append([f"{at}:{line}" for line in new[at : at + count]])
    return groups


@pytest.mark.parametrize("rule", RULES)
def test_places(rule: PythonRule) -> None:
    groups = inserted(rule, MEAN)
    assert {lines[0].split(":")[0] for lines in groups} == {"2", "3", "5", "6", "7", "8"} - (
        {"2"} if rule is DEAD_STORES and not any(lines[0].startswith("2:") for lines in groups) else set()
    )
    for lines in groups:
        at, text = lines[0].split(":", 1)
        depth = {"2": 4, "3": 4, "5": 8, "6": 12, "7": 8, "8": 4}[at]
        assert len(text) - len(text.lstrip()) == depth
    assert agrees(rule, MEAN, "f([1, 2.5])", "f([-1])", "f([])", "f(None)", "f.__doc__")


def test_what_is_inserted() -> None:
    for (line,) in inserted(UNUSED_LOCALS, MEAN):
        assert re.fullmatch(r"\d+: +[a-z_0-9]+ = (-?[\d.]+|None|True|False|\"\")", line)
    for (line,) in inserted(DEAD_STORES, MEAN):
        assert re.fullmatch(r"\d+: +\w+ = (total [+*-] \d|-total|total > 0|\w+ is (not )?None)", line)
    for head, body in inserted(UNREACHABLE_BRANCHES, MEAN):
        assert re.fullmatch(r"\d+: +(if|while) .*:", head)
        assert re.fullmatch(r"\d+: +(pass|\w+ = .+)", body)
    for (line,) in inserted(NO_OP_STATEMENTS, MEAN):
        assert re.fullmatch(r"\d+: +(pass|0|None|\.\.\.|assert True|(\w+) = \2)", line)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule is not NO_OP_STATEMENTS])
def test_new_names_occur_nowhere_else(rule: PythonRule) -> None:
    source = MEAN.replace("# Add them up.", "# result, value, data, index, count, temp")
    words = set(re.findall(r"\w+", source)) | {"if", "while", "pass", "False", "True", "None", "not", "is"}
    texts = variants(rule, source)
    assert texts
    for text in texts:
        new = {word for word in re.findall(r"\w+", text) if word not in words and not word[0].isdigit()}
        assert len(new) <= 1


SURROUNDINGS: dict[str, str] = {
    "a text that ends like a comment": 'def f(a):\n    s = """\n    # no comment"""\n    return s\n',
    "a docstring that ends like a comment": 'def f(a):\n    """Text\n    # heading"""\n    return f.__doc__\n',
    "a comment behind a backslash": "def f(a):\n    return \\\n    # one\n    b = 1\n",
    "a raise with a backslash": "def f(a):\n    if a:\n        raise \\\n\n    return 1\n",
    "a docstring only": 'def f(a):\n    """Text."""\n',
    "statements on one line": "def f(a):\n    b = 1; c = 2\n    return b + c\n",
    "a short body": "def f(a): return 1\n",
    "elif": "def f(a):\n    if a == 1:\n        return 1\n    elif a == 2:\n        return 2\n    else:\n        return 3\n",
    "decorators": "def f(a):\n    @staticmethod\n    # one\n    def g():\n        return 1\n    return g()\n",
    "a generator": "def f(a):\n    def g():\n        b = yield 1\n        yield b\n    return list(g())\n",
    "a class inside": "def f(a):\n    class A:\n        x = 1\n        def g(self):\n            return vars\n    return [n for n in A.__dict__ if n[0] != '_']\n",
    "every clause": (
        "def f(a):\n    for i in range(2):\n        try:\n            b = 1 // (a - i)\n        except TypeError:\n"
        "            return 2\n        except ZeroDivisionError as error:\n            b = str(error)\n        else:\n"
        "            b = b + 1\n        finally:\n            c = i\n    else:\n        b = 3\n    while b is None:\n"
        "        b = 1\n    match a:\n        case 1:\n            d = 1\n        case d:\n            pass\n"
        "    with open('/dev/null') as e:\n        g = 1\n    return b, c, d, g\n"
    ),
    "tabs": "def f(a):\n\tif a:\n\t\treturn 1\n\treturn 2\n",
    "carriage returns": "def f(a):\r\n    # one\r\n    if a:\r\n        return 1\r\n    return 2\r\n",
    "in a class": "class _:\n    def g(self, __a):\n        __b = __a\n        return super().__init__(), __b\nf = _().g\n",
    "global and nonlocal": (
        "def f(a):\n    global k\n    b = 1\n    def g():\n        nonlocal b\n        b += 1\n    k = 2\n    g()\n    return b, k\n"
    ),
    "deleted": "def f(a):\n    b = 1\n    del b\n    c = 1\n    del a\n    return c\n",
}


@pytest.mark.thinned(23)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("case", SURROUNDINGS)
def test_nothing_changes(case: str, rule: PythonRule) -> None:
    source = SURROUNDINGS[case]
    agrees(rule, source, "f(0)", "f(1)", "f(2)", "f(None)", "f.__doc__")
    edit = outcome(rule, source)
    assert isinstance(edit, Perturbed) or "compile" not in edit.reason


def test_types_of_a_function_stay_below_its_header() -> None:
    source = "def f(a):\n    # type: (int) -> int\n    # one\n    return a\n"
    for text in variants(UNUSED_LOCALS, source):
        assert text.startswith("def f(a):\n    # type: (int) -> int\n")


BOUND: dict[str, tuple[str, set[str]]] = {
    "parameters": ("return a", {"a", "c"}),
    "an assignment": ("b = 1\n    return b", {"a", "b", "c"}),
    "an annotation only": ("b: int\n    return a", {"a", "c"}),
    "one branch": ("if a:\n        b = 1\n    return a", {"a", "c"}),
    "both branches": ("if a:\n        b = 1\n    else:\n        b = 2\n    return a", {"a", "b", "c"}),
    "a branch that leaves": (
        "if a:\n        b = 1\n    else:\n        raise c\n    return a",
        {"a", "b", "c"},
    ),
    "a loop": ("for b in a:\n        pass\n    return a", {"a", "c"}),
    "a loop without end": ("while True:\n        b = 1\n        break\n    return a", {"a", "c"}),
    "a try": ("try:\n        b = a.b\n    except E:\n        pass\n    return a", {"a", "c"}),
    "a with that may swallow": ("with a:\n        b = c.x\n    return a", {"a", "c"}),
    "a with that binds": ("with a as b:\n        c.x\n    return a", {"a", "c"}),
    "a case": ("match a:\n        case [b]:\n            pass\n    return a", {"a", "c"}),
    "deleted": ("b = 1\n    del b\n    return a", {"a", "c"}),
    "an exception": ("try:\n        a()\n    except E as b:\n        pass\n    return a", {"a", "c"}),
    "behind or": ("a or (b := c)\n    return a", {"a", "c"}),
    "in a comprehension": ("[b := i for i in a]\n    return a", {"a", "c"}),
    "global": ("global b\n    b = 1\n    return a", {"a", "c"}),
    "shared with a function": ("b = 1\n    def g():\n        return b\n    return a", {"a", "c", "g"}),
    "a default that may bind": ("def g(x=c or (b := 1)):\n        pass\n    return a", {"a", "c", "g"}),
    "a class": ("class b(c or (d := a)):\n        pass\n    return a", {"a", "b", "c"}),
    "an import": ("import os.path\n    return a", {"a", "c", "os"}),
}


@pytest.mark.parametrize("case", BOUND)
def test_what_is_certainly_bound(case: str) -> None:
    text, expected = BOUND[case]
    code = read(f"def f(a, c):\n    {text}\n")
    _, gaps = next(iter(blocks(code)))
    assert set(variables(code, gaps[-1])) == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("while a or (b := c):", {"a", "c"}),
        ("with a or (b := c):", {"a", "c"}),
        ("for i in a or (b := c):", {"a", "c", "i"}),
        ("with a as b:", {"a", "b", "c"}),
        ("for b in a:", {"a", "b", "c"}),
    ],
)
def test_what_a_header_certainly_binds(head: str, expected: set[str]) -> None:
    code = read(f"def f(a, c):\n    {head}\n        return a\n")
    _, gaps = list(blocks(code))[-1]
    assert set(variables(code, gaps[-1])) == expected


@pytest.mark.parametrize(
    "text",
    [
        "locals()",
        "a.f_back is None",
        "eval('b')",
        "f.__code__.co_varnames",
        "vars()",
        "dir()",
    ],
)
def test_no_new_name_where_names_are_looked_at(text: str) -> None:
    source = f"def f(a):\n    b = 1\n    return {text}\n"
    for rule in (UNUSED_LOCALS, DEAD_STORES, UNREACHABLE_BRANCHES):
        assert untouched(rule, source)
        assert reasons(rule, source) == {REFLECTION}
    assert agrees(NO_OP_STATEMENTS, source, "sorted(map(str, f(1)))")


@pytest.mark.parametrize("text", ["__import__('sys')._getframe()", "a.currentframe()"])
def test_nothing_new_where_a_frame_is_given_away(text: str) -> None:
    """Whoever gets it may read names and lines."""
    source = f"def f(a):\n    b = 1\n    return {text}\n"
    for rule in (UNUSED_LOCALS, DEAD_STORES, UNREACHABLE_BRANCHES):
        assert reasons(rule, source) == {REFLECTION}
    with pytest.raises(codeaudit.NotApplied, match=POSITIONS_READ):
        codeaudit.transform(source, "no-op-statements")


def test_no_new_name_where_a_looker_is_imported() -> None:
    source = "def f(a):\n    from sys import _getframe as g\n    return g().f\n"
    assert reasons(UNUSED_LOCALS, source) == {REFLECTION}


def test_no_variable_to_compute_from() -> None:
    assert reasons(DEAD_STORES, "def f():\n    return 1\n") == {insertions.NO_VARIABLE}


def test_only_functions_are_filled() -> None:
    for rule in RULES:
        assert untouched(rule, "a = 1\nif a:\n    b = 2\nclass A:\n    c = 3\n")


def test_a_generator_stays_one_and_a_function_stays_none() -> None:
    source = "def f(a):\n    b = 1\n    if a:\n        return b\n    return 2\n"
    for rule in RULES:
        for text in variants(rule, source):
            assert "yield" not in text
            assert run(text, "type(f(1)).__name__") == ("", "'int'", "")

"""Clauses of which at most one can be meant."""

import builtins
import itertools
from typing import Any

import pytest

from codeaudit.transforms.python.order.clauses import (
    BRANCHES_SWAPPED,
    DISJOINT,
    LAYOUT,
    PATTERNS,
    REORDER_BRANCHES,
    REORDER_CASES,
    REORDER_EXCEPT,
    SHARED_SUBCLASS,
    SUBJECT,
)
from tests.transforms.python.order.support import agrees, reasons, untouched, variants

KNOWN = "def f(v):\n    x = len(str(v is None))\n"


def test_except() -> None:
    before = """\
try:
    f()
    # about f
# of the file
except OSError as e:  # why
    g(e)
except (ImportError, StopIteration): pass
    # behind
except AttributeError:
    raise
finally:
    pass
"""
    texts = variants(REORDER_EXCEPT, before)
    assert len(texts) == 5
    assert """\
    # about f
except (ImportError, StopIteration): pass
# of the file
except OSError as e:  # why
    g(e)
    # behind
except AttributeError:
""" in "".join(sorted(texts))


@pytest.mark.parametrize(
    "clauses",
    [
        pytest.param("except KeyError: 1\nexcept ValueError: 2\n", id="a class may derive from both"),
        pytest.param("except FileNotFoundError: 1\nexcept OSError: 2\n", id="a subclass first"),
        pytest.param("except OSError: 1\nexcept Exception: 2\n", id="a base behind"),
        pytest.param("except OSError: 1\nexcept: 2\n", id="bare"),
        pytest.param("except OSError: 1\nexcept mine.Error: 2\n", id="an unknown class"),
        pytest.param("except (OSError, KeyError): 1\nexcept ImportError: 2\n", id="one of a tuple"),
    ],
)
def test_except_refused(clauses: str) -> None:
    text = f"try: f()\n{clauses}"
    assert untouched(REORDER_EXCEPT, text)
    assert reasons(REORDER_EXCEPT, text) == {SHARED_SUBCLASS}


def test_a_rebound_exception_is_unknown() -> None:
    assert untouched(REORDER_EXCEPT, "OSError = f()\ntry: f()\nexcept OSError: 1\nexcept ImportError: 2\n")


def test_a_class_may_derive_from_two_unrelated_exceptions() -> None:
    both = type("Both", (KeyError, ValueError), {})
    text = """\
def f(error):
    try: raise error
    except KeyError: return 1
    except ValueError: return 2
"""
    other = text.replace("KeyError", "X").replace("ValueError", "KeyError").replace("X", "ValueError")
    scopes: list[dict[str, Any]] = [{}, {}]
    exec(text, scopes[0])
    exec(other.replace("return 1", "return 0").replace("return 2", "return 1"), scopes[1])
    assert scopes[0]["f"](both()) != scopes[1]["f"](both())


def test_no_class_can_derive_from_two_layouts() -> None:
    for one, other in itertools.combinations(DISJOINT, 2):
        for first, second in itertools.product(one, other):
            with pytest.raises(TypeError, match="lay-out"):
                type("Both", (getattr(builtins, first), getattr(builtins, second)), {})


def test_except_by_execution() -> None:
    text = """\
def f(error):
    try:
        raise error
    except FileNotFoundError: return 0
    except OSError as e: return 1
    except ImportError: return 2
    except StopIteration: return 3
"""
    errors = ("OSError()", "FileNotFoundError()", "ModuleNotFoundError()", "StopIteration()", "KeyError(1)")
    assert agrees(REORDER_EXCEPT, text, *(f"f({error})" for error in errors)) == 11
    for variant in variants(REORDER_EXCEPT, text):
        assert variant.index("FileNotFoundError") < variant.index("except OSError")


MATCH = (
    KNOWN
    + """\
    match x:
        case 4:  # four
            return 1
        case 5 | 6: return 2
        case True if v: return 3
        case _:
            return 4
"""
)


def test_cases() -> None:
    (after,) = variants(REORDER_CASES, MATCH)
    assert (
        "match x:\n        case 5 | 6: return 2\n        case 4:  # four\n            return 1\n        case True"
        in after
    )
    assert agrees(REORDER_CASES, MATCH, "f(None)", "f(1)") == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def f(x):\n    match x:\n        case 1: pass\n        case 2: pass\n", SUBJECT),
        ("match 1:\n    case 1: a\n    case True: b\n", PATTERNS),
        ("match 1:\n    case 1: a\n    case 1.0: b\n", PATTERNS),
        ("match 'a':\n    case 'a': a\n    case b'a': b\n", PATTERNS),
        ("match 1:\n    case 1: a\n    case x.y: b\n", PATTERNS),
        ("match 1:\n    case 1: a\n    case y: b\n", PATTERNS),
        ("match 1:\n    case (\n        1): a\n    case 2: b\n", LAYOUT),
    ],
)
def test_cases_refused(text: str, reason: str) -> None:
    assert untouched(REORDER_CASES, text)
    assert reasons(REORDER_CASES, text) == {reason}


BRANCHES = (
    KNOWN
    + """\
    if(x == 4):  # four
        r = 1
    # about five
    elif 5 == x: r = 2; r += 1
    elif x in (6, -7):
        r = '''
    text'''
    else:
        r = 4
    return r
"""
)


def test_branches() -> None:
    texts = variants(REORDER_BRANCHES, BRANCHES)
    assert len(texts) == 5
    assert agrees(REORDER_BRANCHES, BRANCHES, "f(None)", "f(1)") == 5
    assert any(
        "    if 5 == x: r = 2; r += 1\n    # about five\n    elif(x == 4):  # four\n" in text
        for text in texts
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(
            "def f(x):\n    if x == 1: return 1\n    elif x == 2: return 2\n",
            SUBJECT,
            id="__eq__ of anything",
        ),
        pytest.param("x = 1\nif x == 1: f()\nelif x == 2: g()\n", SUBJECT, id="a global"),
        pytest.param(
            f"{KNOWN}    if x == 1: return 1\n    elif x == True: return 2\n", PATTERNS, id="equal constants"
        ),
        pytest.param(
            f"{KNOWN}    if x == 1: return 1\n    elif x > 2: return 2\n", PATTERNS, id="another comparison"
        ),
        pytest.param(
            f"{KNOWN}    if x == 1: return 1\n    elif v == 2: return 2\n", PATTERNS, id="another variable"
        ),
        pytest.param(
            f"{KNOWN}    if x == 1 and v: return 1\n    elif x == 2: return 2\n",
            PATTERNS,
            id="another condition",
        ),
        pytest.param(
            f"{KNOWN}    if x == '4': return 1\n    elif x == b'4': return 2\n", PATTERNS, id="bytes and text"
        ),
        pytest.param(
            "def f(v):\n    if v: x = 1\n    if x == 1: return 1\n    elif x == 2: return 2\n",
            SUBJECT,
            id="perhaps unbound",
        ),
    ],
)
def test_branches_refused(text: str, reason: str) -> None:
    assert untouched(REORDER_BRANCHES, text)
    assert reasons(REORDER_BRANCHES, text) == {reason}


def test_an_if_in_an_else_is_no_branch() -> None:
    text = f"{KNOWN}    if x == 1: return 1\n    else:\n        if x == 2: return 2\n"
    assert untouched(REORDER_BRANCHES, text)
    assert reasons(REORDER_BRANCHES, text) == set()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if a:\n    b  # b\nelse:\n    # c\n    c", {"if a:\n    c\nelse:\n    # c\n    b  # b"}),
        ("if a:\n    b\nelif c:\n    d\n    e\n", {"if a:\n    d\n    e\nelif c:\n    b\n"}),
        ("if a:\n    b\nelse:\n    b\n", set()),
        ("if a: b\nelse: c\n", set()),
        ("if a:\n    b\n", set()),
    ],
)
def test_swapped(before: str, after: set[str]) -> None:
    assert variants(BRANCHES_SWAPPED, before) == after

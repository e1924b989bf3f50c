"""Private functions and classes of a module: renamed where the module cannot see their names."""

import ast
from pathlib import Path
from random import Random
from typing import Any

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.python.identifiers.definitions import (
    NOT_A_MOVE,
    RENAME_CLASSES,
    RENAME_FUNCTIONS,
    RenameDefinitions,
)
from codeaudit.transforms.python.identifiers.obstacles import REFLECTION
from codeaudit.transforms.python.identifiers.survey import (
    ANNOTATION,
    ARGUMENTS,
    DECORATED,
    ELSEWHERE,
    IN_TEXT,
    INSIDE,
    NOT_NAMESPACE,
    OUT_OF_SIGHT,
    PREPARED,
    SPECIAL_KIND,
    VALUE,
)
from codeaudit.transforms.records import Move
from codeaudit.transforms.renaming import COLLISION
from tests.support.stdlib import MODULES

MODULE = '''\
"""A module."""
import os


def _half(number):
    """Half of it."""
    return number / 2  # _half


class Box:
    size = _half(4)

    def halves(self):
        return [_half(number) for number in range(3)], f"{_half(1):>{int(_half(10))}}"


def f(number):
    return _half(number=number), Box.size, Box().halves(), os.sep
'''

LIMITS = """\
class _Limits:
    '''Bounds.'''
    LOW = -1
    HIGH = OTHER = 2 ** 3
    NAMES = ("a", [len], f"{LOW}")


def f(number):
    return max(_Limits.LOW, number), _Limits.OTHER, _Limits.NAMES[0]
"""


def renamed(transform: RenameDefinitions, source: str, name: str) -> str:
    moves = transform.propose(source, Random(0))
    assert isinstance(moves, tuple), moves
    (move,) = moves
    outcome = transform.apply(source, (Move(kind="rename", site=move.site, value=name, note=""),))
    assert isinstance(outcome, Rewritten), outcome
    assert outcome.evidence == "compiled"
    return outcome.source


def run(source: str) -> object:
    space: dict[str, Any] = {}
    exec(source, space)
    return space["f"](3)


def test_a_private_function_is_renamed_wherever_it_is_called() -> None:
    text = renamed(RENAME_FUNCTIONS, MODULE, "_part")
    assert text == MODULE.replace("_half", "_part").replace("# _part", "# _half")
    assert run(text) == run(MODULE)


def test_a_namespace_of_literals_is_renamed() -> None:
    text = renamed(RENAME_CLASSES, LIMITS, "_Bounds")
    assert text == LIMITS.replace("_Limits", "_Bounds")
    assert run(text) == run(LIMITS)


def test_the_look_of_a_private_name_is_kept() -> None:
    for transform, source in ((RENAME_FUNCTIONS, MODULE), (RENAME_CLASSES, LIMITS)):
        for seed in range(10):
            moves = transform.propose(source, Random(seed))
            assert isinstance(moves, tuple)
            name = str(moves[0].value)
            assert name.startswith("_")
            assert name[1].isupper() is (transform is RENAME_CLASSES)


HALF = "def _half(x):\n    return x / 2\n\n\ny = _half(1)\n"


@pytest.mark.thinned(18)
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def half(x): return x\nhalf(1)\n", "no private function"),
        ("def __half(x): return x\n__half(1)\n", "no private function"),
        ("class C:\n    def _half(self): pass\n", "no private function"),
        (HALF + "__all__ = ['_half']\n", IN_TEXT),
        (HALF + "z = 'mod._half'\n", IN_TEXT),
        (HALF + "def g():\n    '''\n    >>> _half(2)\n    '''\n", IN_TEXT),
        (HALF + "z = y._half\n", ELSEWHERE),
        (HALF + "z = g(_half=1)\n", ELSEWHERE),
        (HALF + "from m import _half\n", ELSEWHERE),
        (HALF + "from m import a as _half\n", ELSEWHERE),
        (HALF + "import _half.a\n", ELSEWHERE),
        (HALF + "def g():\n    global _half\n", ELSEWHERE),
        (HALF + "def g(_half): pass\n", ELSEWHERE),
        (HALF + "def g():\n    def _half(): pass\n", ELSEWHERE),
        (HALF + "try: pass\nexcept E as _half: pass\n", ELSEWHERE),
        (HALF + "match y:\n    case {'a': _half}: pass\n", ELSEWHERE),
        (HALF + "match y:\n    case int(_half=1): pass\n", ELSEWHERE),
        (HALF + "def _half(x): return 1\n", ELSEWHERE),
        (HALF + "z = _half\n", OUT_OF_SIGHT),
        (HALF + "z = map(_half, y)\n", OUT_OF_SIGHT),
        (HALF + "_half.x = 1\n", OUT_OF_SIGHT),
        (HALF + "del _half\n", OUT_OF_SIGHT),
        (HALF + "@_half\ndef g(): pass\n", OUT_OF_SIGHT),
        (HALF + "_half()\n", ARGUMENTS),
        (HALF + "_half(*y)\n", ARGUMENTS),
        ("@register\n" + HALF, DECORATED),
        ("async def _half(x): return x\n", SPECIAL_KIND),
        ("def _half(x): yield x\n", SPECIAL_KIND),
        ("def _half(x):\n    def g(): pass\n    return g\n", INSIDE),
        ("def _half(x):\n    return lambda: x\n", INSIDE),
        ("def list(x): return x\ndef _half(x):\n    return list(i for i in x)\n", INSIDE),
        (HALF + "z = f'{_half(1)=}'\n", IN_TEXT),
        (HALF + "z: _half(1) = 1\n", ANNOTATION),
        (HALF + "def g(z: _half(1)): pass\n", ANNOTATION),
        (HALF + "def g() -> _half(1): pass\n", ANNOTATION),
        (HALF + "z = []  # type: _half\n", ANNOTATION),
        (HALF + "class C(metaclass=M):\n    z = _half(1)\n", PREPARED),
        (HALF + "z = globals()\n", REFLECTION),
        (HALF + "z = vars(y)\n", REFLECTION),
        (HALF + "eval(y)\n", REFLECTION),
        (HALF + "getattr(y, z)\n", REFLECTION),
        (HALF + "z = getattr\n", REFLECTION),
        (HALF + "from m import *\n", REFLECTION),
        (HALF + "import sys\nsys.modules[__name__]\n", REFLECTION),
        (HALF + "from sys import modules\n", REFLECTION),
        (HALF + "import pickle\n", REFLECTION),
        (HALF + "import importlib.util\n", REFLECTION),
        (HALF + "from inspect import stack\n", REFLECTION),
        (HALF + "y.__globals__\n", REFLECTION),
        (HALF + "def __getattr__(name): pass\n", REFLECTION),
        (HALF + "FORMAT = '%(funcName)s %(message)s'\n", REFLECTION),
        (HALF + "return\n", "source does not compile"),
    ],
)
def test_a_function_whose_name_may_be_seen_is_refused(source: str, reason: str) -> None:
    assert RENAME_FUNCTIONS.propose(source, Random(0)) == Refused(reason)


@pytest.mark.parametrize(
    "addition", ["getattr(y, 'real')\n", "class C(Exception):\n    z = _half(1)\n", "y.half\n"]
)
def test_what_cannot_see_the_name_is_no_obstacle(addition: str) -> None:
    assert isinstance(RENAME_FUNCTIONS.propose(HALF + addition, Random(0)), tuple)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("class Limits: LOW = 0\n", "no private class"),
        ("class _L(Base): LOW = 0\n", NOT_NAMESPACE),
        ("class _L(metaclass=M): LOW = 0\n", NOT_NAMESPACE),
        ("class _L: LOW = f()\n", NOT_NAMESPACE),
        ("class _L: LOW = other\n", NOT_NAMESPACE),
        ("class _L: LOW = [lambda: 0]\n", NOT_NAMESPACE),
        ("class _L: __slots__ = ()\n", NOT_NAMESPACE),
        ("class _L:\n    def m(self): pass\n", NOT_NAMESPACE),
        ("@d\nclass _L: LOW = 0\n", DECORATED),
        ("class _L: LOW = 0\n_L()\n", VALUE),
        ("class _L: LOW = 0\nraise _L\n", VALUE),
        ("class _L: LOW = 0\nx = _L\n", VALUE),
        ("class _L: LOW = 0\n_L.HIGH\n", VALUE),
        ("class _L: LOW = 0\n_L.__name__\n", VALUE),
        ("class _L: LOW = 0\n_L.LOW = 1\n", VALUE),
        ("class _L: LOW = 0\ndel _L.LOW\n", VALUE),
        ("class _L: LOW = 0\nclass C(_L): pass\n", VALUE),
        ("class _L: LOW = 0\nmatch x:\n    case _L(): pass\n", VALUE),
        ("class _L: LOW = 0\nobject.__subclasses__()\n", REFLECTION),
    ],
)
def test_a_class_whose_name_may_be_seen_is_refused(source: str, reason: str) -> None:
    assert RENAME_CLASSES.propose(source, Random(0)) == Refused(reason)


@pytest.mark.parametrize("name", ["part", "_number", "_half", "f", "_", "__part", "_C__part", "_ﬁ", "_a b"])
def test_a_name_that_is_taken_or_not_private_is_refused(name: str) -> None:
    source = HALF + "_number = 1\n"
    move = Move(kind="rename", site=0, value=name, note="")
    assert RENAME_FUNCTIONS.apply(source, (move,)) == Refused(COLLISION)


def test_parts_of_a_proposal_apply() -> None:
    source = HALF + "def _twice(x): return 2 * _half(_half(x))\n_twice(2)\n"
    moves = RENAME_FUNCTIONS.propose(source, Random(0))
    assert isinstance(moves, tuple)
    assert len(moves) == 2
    for move in moves:
        assert isinstance(RENAME_FUNCTIONS.apply(source, (move,)), Rewritten)
    both = tuple(Move(kind="rename", site=site, value="_same", note="") for site in (0, 1))
    assert RENAME_FUNCTIONS.apply(source, both) == Refused(COLLISION)
    assert RENAME_FUNCTIONS.apply(source, moves[:1] * 2) == Refused(NOT_A_MOVE)
    assert RENAME_FUNCTIONS.apply(source, ()) == Rewritten(source=source, evidence="analysis")


def test_text_that_does_not_parse_is_a_source_error() -> None:
    with pytest.raises(SourceError):
        RENAME_FUNCTIONS.propose("def _f(:\n", Random(0))


@pytest.mark.weekly
def test_whatever_is_proposed_for_the_standard_library_applies() -> None:
    applied = 0
    for module in MODULES:
        path = Path(ast.__file__).parent / f"{module}.py"
        source = path.read_text(encoding="utf-8") if path.exists() else ""
        moves = RENAME_FUNCTIONS.propose(source, Random(0))
        if isinstance(moves, tuple):
            assert isinstance(RENAME_FUNCTIONS.apply(source, moves), Rewritten), module
            applied += 1
    assert applied >= 5

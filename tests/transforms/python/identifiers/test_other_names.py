"""A file may call `locals` by another name; renaming heeds that, and otherwise no meaning of a builtin."""

from random import Random
from typing import Any

import pytest

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.python.analysis.capabilities import shown_by
from codeaudit.transforms.python.identifiers.obstacles import REFLECTION
from codeaudit.transforms.python.identifiers.rename import RENAME, RENAME_PARAMETERS

FUNCTION = "def f(x):\n    total = x + 1\n    kept = show()\n    return total, kept\n"

HIDING = [
    "show = locals",
    "show: object = locals",
    "from builtins import vars as show",
    "from builtins import locals as show",
    "import builtins\nshow = builtins.locals",
    "import builtins\nbuiltins.show = locals",
    "a = b = show = locals",
    "a, show = 1, locals",
    "[a, *show], = [[1, locals]],",
    "show = locals if x else dir",
    "show = None or vars",
    "if True:\n    show = dir",
    "print(show := locals)",
    "class A:\n    @staticmethod\n    def g(): pass\n    show = staticmethod(locals)",
    "from functools import partial\nshow = partial(locals)",
    "import sys\nshow = sys._getframe",
    "from sys import _getframe as show",
    "import inspect\nshow = inspect.stack",
    "from inspect import currentframe as show",
    "from inspect import trace as show",
    "globals()['show'] = locals",
    "globals().update(show=locals)",
    "show = \\\n  locals",
    "show = (\n  # a comment\n  locals)",
    "tools = locals\nshow = tools",
    "class T:\n    look = locals\nshow = T.look",
    "keep = [locals]\nshow, = keep",
    "show = locals\n(a, b) = 1, 2",
    "show = locals\n[a, b] = 1, 2",
    "show = locals\n.5",
    "if show := locals:\n    pass",
    "match locals:\n    case show:\n        pass",
    "show = locals.__call__",
    "for show in (locals,):\n    pass",
    "show = []\nshow += [locals]",
    "show = (dir, locals)[1]",
    "show = {n: locals for n in 'ab'}",
    "from functools import partial as bind\nshow = bind(locals)",
    "def show():\n    return locals",
    "class T:\n    @property\n    def show(self):\n        return locals",
    "def outer(show=locals):\n    return show",
    "@(lambda _: locals)\ndef show(): pass",
    "import builtins\nshow = getattr(builtins, 'locals')",
    "import sys\nshow = getattr(sys, '_getframe', None)",
    "import sys\nshow = sys.setprofile",
    "from sys import _current_frames as show",
    "with locals as show:\n    pass",
    "def pick():\n    return locals\nshow = pick()",
    "pick = lambda: locals\nshow = pick()",
    "def pick(name):\n    import builtins\n    return getattr(builtins, name)\nshow = pick('locals')",
    "import builtins\nshow = builtins.__dict__['locals']",
    "class T:\n    look = locals\nshow = getattr(T, 'look')",
    "TABLE = {'int': int, 'expr': eval}\ndef show(kind):\n    return TABLE[kind]",
    "class T:\n    def set(self):\n        kept = locals\n        self.show = kept",
    "show = ｌocals",
    "ｓhow = locals",
]


@pytest.mark.thinned(19)
@pytest.mark.parametrize("line", HIDING)
def test_a_function_that_mentions_another_name_of_locals_is_left_alone(line: str) -> None:
    file = f"x = 1\n{line}\n\n{FUNCTION}"
    compile(file, "<file>", "exec")
    assert RENAME.within(file).propose(FUNCTION, Random(0)) == Refused(REFLECTION)


HARMLESS = [
    "def show(): return locals()",
    "show = len",
    "show = locals()",
    "def g():\n    dir = '.'\n    show = str(dir)",
    "class A:\n    def __init__(self, dir):\n        self.show = dir",
    "def g(dir):\n    show = prefix, dir\n    return show",
    "import inspect\nshow = inspect.signature",
    "import builtins\nshow = builtins.len",
    "def show():\n    return locals()",
    "NAMES = {'builtins', 'dir'}",
    "class A:\n    locals = 1\nshow = A.locals == 1",
    "# show = locals\ndef show(): ...",
    "'''show = locals'''\ndef show(): ...",
    "def g(eval=None): return eval\nshow = g",
]


@pytest.mark.parametrize("line", HARMLESS)
def test_other_files_are_no_reason(line: str) -> None:
    assert not isinstance(RENAME.within(f"{line}\n\n{FUNCTION}").propose(FUNCTION, Random(0)), Refused)


def test_a_text_that_does_not_parse_shows_everything() -> None:
    assert shown_by("show = locals\ndef (:\n").variables


@pytest.mark.parametrize(
    ("line", "look"),
    [
        ("import builtins as b", "b.locals()"),
        ("import builtins\nb = builtins", "b.vars()"),
        ("import sys\nb = sys.modules['builtins']", "b.dir()"),
        ("import importlib\nb = importlib.import_module('builtins')", "b.locals()"),
        ("import inspect as i", "i.stack()"),
        ("from inspect import *", "stack()"),
        ("class T:\n    show = locals", "getattr(T, 'show')()"),
        ("T = dict(show=locals)", "T['show']()"),
        ("class T:\n    __show = staticmethod(locals)", "T._T__show()"),
    ],
)
def test_another_name_of_the_module_and_a_name_as_text_count(line: str, look: str) -> None:
    function = f"def f(x):\n    total = x + 1\n    return {look}\n"
    file = f"x = 1\n{line}\n{function}"
    compile(file, "<file>", "exec")
    assert RENAME.within(file).propose(function, Random(0)) == Refused(REFLECTION)
    assert not isinstance(RENAME.within("x = 1\n").propose(function, Random(0)), Refused)


def test_the_attribute_of_a_module_counts() -> None:
    file = "import builtins\nclass tools: pass\ntools.show = builtins.locals\n"
    method = "def f(x):\n    total = x\n    return total, tools.show()\n"
    assert RENAME.within(file).propose(method, Random(0)) == Refused(REFLECTION)


def shown(file: str, function: str) -> tuple[object, object]:
    """What the function of a file returns, and what it looked up."""
    space: dict[str, Any] = {}
    exec(compile(file + function, "<file>", "exec"), space)
    return space["f"]([3, 1]), space.get("seen")


@pytest.mark.parametrize(
    "file",
    [
        "def len(x):\n    return 7\n",
        "seen = []\ndef sorted(x):\n    seen.append(x)\n    return x\n",
        "from os import *\n",
        "import builtins\nbuiltins.len = builtins.len\n",
        "globals().update({'len': len})\n",
    ],
)
def test_locals_are_renamed_whatever_the_builtins_mean(file: str) -> None:
    function = "def f(x):\n    first = len(x)\n    second = sorted(x)\n    return first, second\n"
    transform = RENAME.within(file)
    moves = transform.propose(function, Random(2))
    assert not isinstance(moves, Refused)
    made = transform.apply(function, moves)
    assert not isinstance(made, Refused)
    assert made.source != function
    assert shown(file, made.source) == shown(file, function)


def test_parameters_still_need_builtins() -> None:
    facts = {RENAME: False, RENAME_PARAMETERS: True}
    assert {fact: fact.trusts_names for fact in facts} == facts

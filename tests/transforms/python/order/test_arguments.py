"""Keyword arguments in another order, and arguments that are exchanged."""

import builtins
import importlib
import inspect

import pytest

from codeaudit.transforms.python.order.arguments import (
    ARGUMENTS_SWAPPED,
    EFFECTS,
    FUNCTIONS,
    KEYWORDS,
    METHODS,
    REORDER_KEYWORDS,
    UNKNOWN,
)
from codeaudit.transforms.records import Perturbed
from tests.transforms.python.order.support import agrees, outcome, reasons, untouched, variants

PASSED_ON = {"subprocess.run", "subprocess.check_output"}
"""They hand other keywords to `Popen`, by name."""
LOG = """\
log = []
def note(value):
    log.append(value)
    return value
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "sorted(x, key=f, reverse=True)\n",
            "sorted(x, reverse=True, key=f)\n",
            id="one name may be anything",
        ),
        pytest.param("print(a, sep='',  end=f())\n", "print(a, end=f(),  sep='')\n", id="one value acts"),
        pytest.param(
            "print(a,\n      sep='',  # why\n      end=('')  # end\n      )\n",
            "print(a,\n      end=(''),  # why\n      sep=''  # end\n      )\n",
            id="comments stay",
        ),
        pytest.param(
            "def f(a, b): pass\nf(a=1, b=2)\n",
            "def f(a, b): pass\nf(b=2, a=1)\n",
            id="a function of the text",
        ),
        pytest.param(
            "def f(a, *, b, c): return f(a, b=1, c=2)\n",
            "def f(a, *, b, c): return f(a, c=2, b=1)\n",
            id="itself",
        ),
        pytest.param(
            "class P:\n    def __init__(self, x, y): pass\nP(x=1, y=2)\n",
            "class P:\n    def __init__(self, x, y): pass\nP(y=2, x=1)\n",
            id="a class of the text",
        ),
        pytest.param("'a'.split(sep='a', maxsplit=1)\n", "'a'.split(maxsplit=1, sep='a')\n", id="a method"),
        pytest.param(
            "import json\njson.dumps(x, indent=1, sort_keys=True)\n",
            "import json\njson.dumps(x, sort_keys=True, indent=1)\n",
            id="imported",
        ),
        pytest.param(
            "from dataclasses import dataclass as d\n@d(frozen=True, slots=True)\nclass A: pass\n",
            "from dataclasses import dataclass as d\n@d(slots=True, frozen=True)\nclass A: pass\n",
            id="imported under another name",
        ),
    ],
)
def test_keywords(before: str, after: str) -> None:
    assert variants(REORDER_KEYWORDS, before) == {after}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("f(a=1, b=2)\n", UNKNOWN, id="an unknown function"),
        pytest.param("dict(a=1, b=2)\n", UNKNOWN, id="dict keeps the order"),
        pytest.param("self.f(a=1, b=2)\n", UNKNOWN, id="a method"),
        pytest.param("def f(**k): pass\nf(a=1, b=2)\n", UNKNOWN, id="**kwargs"),
        pytest.param("@d\ndef f(a, b): pass\nf(a=1, b=2)\n", UNKNOWN, id="decorated"),
        pytest.param("def f(a, b): pass\nf = g\nf(a=1, b=2)\n", UNKNOWN, id="bound again"),
        pytest.param("def f(a, b): pass\ndef g(f): f(a=1, b=2)\n", UNKNOWN, id="a parameter of its name"),
        pytest.param(
            "class A:\n    def f(a, b): pass\n    def g(self): f(a=1, b=2)\n",
            UNKNOWN,
            id="a method is no name",
        ),
        pytest.param("def g():\n    def f(a, b): pass\ndef h(): f(a=1, b=2)\n", UNKNOWN, id="another scope"),
        pytest.param("def f(a, b): pass\nf(a=1, z=2)\n", UNKNOWN, id="an unknown keyword"),
        pytest.param(
            "def f(a, b): pass\nf(1, a=1, b=2)\n", UNKNOWN, id="a keyword that is given by place too"
        ),
        pytest.param("def f(a, /, b, c): pass\nf(a=1, b=2)\n", UNKNOWN, id="positional only"),
        pytest.param("def f(a, b): pass\nf(*x, a=1, b=2)\n", UNKNOWN, id="starred"),
        pytest.param("def f(a, b): pass\nf(a=1, b=2, **x)\n", UNKNOWN, id="doubly starred"),
        pytest.param("print(sep='', *f(), end='')\n", UNKNOWN, id="a star behind a keyword"),
        pytest.param("def print(**k): pass\nprint(sep='', end='')\n", UNKNOWN, id="a builtin that is bound"),
        pytest.param("from m import *\nprint(sep='', end='')\n", UNKNOWN, id="a star that may bind it"),
        pytest.param("json.dumps(x, indent=1, sort_keys=True)\n", UNKNOWN, id="not imported here"),
        pytest.param(
            "try:\n    import json\nexcept E:\n    json = x\njson.dumps(x, indent=1, sort_keys=True)\n",
            UNKNOWN,
            id="perhaps imported",
        ),
        pytest.param(
            "import json\njson.dumps(x, cls=C, indent=1)\n", UNKNOWN, id="handed on to an unknown class"
        ),
        pytest.param("class P(B):\n    def __init__(self, x, y): pass\nP(x=1, y=2)\n", UNKNOWN, id="a base"),
        pytest.param(
            "class P:\n    def __new__(c, **k): pass\n    def __init__(self, x, y): pass\nP(x=1, y=2)\n",
            UNKNOWN,
            id="__new__",
        ),
        pytest.param(
            "class P:\n    def __init__(self, x, y): pass\nP.__init__ = g\nP(x=1, y=2)\n",
            UNKNOWN,
            id="replaced",
        ),
        pytest.param("print(sep=f(), end=g())\n", EFFECTS, id="two values act"),
        pytest.param("print(sep=(x := f()), end='')\n", EFFECTS, id="a value that binds"),
        pytest.param("async def f(): print(sep=await g(), end='')\n", EFFECTS, id="await"),
        pytest.param(
            "def f():\n    x = []\n    print(sep=len(x), end=x.append(1))\n",
            EFFECTS,
            id="a value that looks at what another changes",
        ),
    ],
)
def test_keywords_refused(text: str, reason: str) -> None:
    assert untouched(REORDER_KEYWORDS, text)
    assert reasons(REORDER_KEYWORDS, text) == {reason}


@pytest.mark.parametrize(
    "replaced",
    [
        "def f(a, b): return a, b\nglobals()['f'] = seen",
        "def f(a, b): return a, b\nvars(sys.modules[__name__])['f'] = seen",
        "def f(a, b): return a, b\nexec('f = seen')",
        "def f(a, b): return a, b\nmodule.f = seen",
        "def f(a, b): return a, b\nsetattr(module, 'f', seen)",
        "def f(a, b): return a, b\nf.__code__ = seen.__code__",
        "def f(a, b): return a, b\npatch('f', seen)",
        "def f(a, b): return a, b\nmock.patch.object(module, 'f', seen)",
        "def f(a, b): return a, b\nmock.patch(target='f', new=seen)",
        "def f(a, b): return a, b\nput = setattr\nput(module, 'f', seen)",
        "def f(a, b): return a, b\nfrom builtins import setattr as put\nput(module, 'f', seen)",
        "def f(a, b): return a, b\nfrom sys import modules\nput(modules, 'f', seen)",
        "def f(a, b): return a, b\nbuiltins.globals()['f'] = seen",
        "class f:\n    def __init__(self, a, b): pass\nsetattr(f, '__init__', seen)",
        "class f:\n    def __init__(self, a, b): pass\ntype.__setattr__(f, '__init__', seen)",
        "class f:\n    def __init__(self, a, b): pass\nf.__new__ = seen",
    ],
)
def test_a_function_of_the_text_that_is_replaced(replaced: str) -> None:
    text = f"def seen(*_, **named): return list(named)\n{replaced}\ndef g(): return f(a=1, b=2)\n"
    assert untouched(REORDER_KEYWORDS, text)
    assert reasons(REORDER_KEYWORDS, text) == {UNKNOWN}


@pytest.mark.parametrize(
    "replaced",
    [
        "import json\njson.dumps = seen",
        "import json as j\nj.dumps = seen",
        "import json\nsetattr(json, name, seen)",
        "import json\npatch('json.dumps', seen)",
        "import json\nfrom tools import *",
        "import json\nsys.modules['json'] = module",
        "import builtins\nbuiltins.print = seen",
        "__builtins__['print'] = seen",
        "globals()['print'] = seen",
    ],
)
def test_a_known_function_that_is_replaced(replaced: str) -> None:
    called = "print(sep='', end='')" if "json" not in replaced else "json.dumps(1, indent=1, skipkeys=True)"
    text = f"{replaced}\ndef g(): return {called.replace('json', 'j' if ' as j' in replaced else 'json')}\n"
    assert untouched(REORDER_KEYWORDS, text)
    assert reasons(REORDER_KEYWORDS, text) == {UNKNOWN}


def test_other_names_may_be_replaced() -> None:
    text = """\
class C:
    def __init__(self, **named):
        self.size = 0
        for name, value in named.items():
            setattr(self, name, value)
def f(a, b): return a, b
def g(): return f(a=1, b=2)
"""
    assert agrees(REORDER_KEYWORDS, text, "g()") == 1


def test_a_private_name_in_a_class_is_another_one() -> None:
    text = """\
def __f(a, b): return a, b
_C__f = lambda **named: list(named)
class C:
    def g(self): return __f(a=1, b=2)
"""
    assert untouched(REORDER_KEYWORDS, text)


def test_the_order_of_effects_is_kept() -> None:
    text = LOG + "def f(a, b, c): return a, b, c\ndef g(x): return f(a=x, b=note(2), c=-1), log\n"
    assert agrees(REORDER_KEYWORDS, text, "g(1)") == 5


def test_sorting_and_missing_arguments() -> None:
    text = "def f(x): return sorted(x, key=len, reverse=True)\ndef g(a, *, b, c): pass\ndef h(): return g(b=1, c=2)\n"
    assert agrees(REORDER_KEYWORDS, text, "f(['a', 'bb'])", "f(3)", "h()") == 3


@pytest.mark.thinned(13)
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_the_listed_functions_have_these_keywords_and_no_others_to_see(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    function = getattr(importlib.import_module(module), attribute)
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        pytest.skip("it does not tell")
    by_name = {
        parameter.name
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }
    if name in PASSED_ON:
        from subprocess import Popen

        by_name |= inspect.signature(Popen).parameters.keys()
    assert FUNCTIONS[name] <= by_name


def test_the_listed_builtins_and_methods_exist() -> None:
    assert all(hasattr(builtins, name) for name in KEYWORDS)
    for kind, method in METHODS:
        assert hasattr(getattr(builtins, kind), method)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(a, b)\n", {"f(b, a)\n"}),
        ("f((a, 1),  # a\n  lambda: 2)\n", {"f(lambda: 2,  # a\n  (a, 1))\n"}),
        ("f(x=a, y=(b))\n", {"f(x=(b), y=a)\n"}),
        ("max(a, b)\n", set()),
        ("f(a, a)\n", set()),
        ("f(a, *b)\n", set()),
        ("f(a, y=b)\n", set()),
    ],
)
def test_swapped(before: str, after: set[str]) -> None:
    assert variants(ARGUMENTS_SWAPPED, before) == after


def test_a_control_edits_one_place() -> None:
    edit = outcome(ARGUMENTS_SWAPPED, "def h(a, b, c): return g(a, b), g(b, c)\n")
    assert isinstance(edit, Perturbed)
    assert len(edit.moves) == 1

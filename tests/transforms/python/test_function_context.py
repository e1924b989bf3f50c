import ast
import builtins
import dataclasses
import importlib
import inspect
import json
import opcode
import random
import subprocess
import sys
import tarfile
import types
import typing
from dataclasses import replace
from functools import partial
from pathlib import Path
from textwrap import indent

import pytest

import codeaudit
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.python import function_context as context
from codeaudit.transforms.python import unseen_bindings
from codeaudit.transforms.python.analysis.index import index_in
from codeaudit.transforms.python.analysis.knowledge import WELL_KNOWN
from codeaudit.transforms.python.analysis.program import analyse
from codeaudit.transforms.python.function_context import (
    COMPILED,
    REBOUND,
    function_context,
    obstacle_in_file,
    rebound_in,
    rebound_names,
)
from codeaudit.transforms.python.parsing import parse
from codeaudit.transforms.python.walking import below
from codeaudit.transforms.records import NotApplied, Origin, Perturbed, Sample
from codeaudit.transforms.registry import TRANSFORMS
from tests.support.stdlib import sample as stdlib_functions

PUBLIC = """
import importlib, json, sys
names = {}
for module in sorted(sys.stdlib_module_names - {"this", "antigravity", "builtins", "idlelib", "turtledemo", "turtle"}):
    try:
        found = importlib.import_module(module)
    except Exception:
        continue  # not on this system
    names[module] = list(getattr(found, "__all__", [one for one in vars(found) if not one.startswith("_")]))
print()
print(json.dumps(names))
"""
LOCAL = "def f(items):\n    total = len(items)\n    return total\n"


def outcome(source: str, name: str = "rename"):  # type: ignore[no-untyped-def]
    sample = Sample(id="x", language="python", source=source, label=None, origin=Origin(path="-", line=1))
    (found,) = perturb_one(sample, TRANSFORMS.get(name), variants=1, seed=0)
    return found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("from typing import List\n\n\n", ""),
        ("import math\nX = 1\n", "\n\nprint(f([1]))\n"),
        ("def g(a):\n    return a\n\n\n", "# end\n"),
        ('"""def h(): pass"""\r\n', ""),
        ("def g():\n    return '''\ndef x(): pass\n'''\n", "class C:\n    pass\n"),
    ],
)
def test_the_last_function_is_what_transforms_are_given(before: str, after: str) -> None:
    part = function_context(before + LOCAL + after)
    assert part.before + part.source + part.after == before + LOCAL + after
    assert part.source.strip() == LOCAL.strip()
    assert part.obstacle is None
    found = outcome(before + LOCAL + after)
    assert isinstance(found, Perturbed)
    assert found.source.startswith(before)
    assert found.source.endswith(after)
    assert "total" not in found.source


def test_decorators_and_wrappers_belong_to_the_function() -> None:
    text = "import functools\n\n@functools.cache\n" + LOCAL
    assert function_context(text).source == "@functools.cache\n" + LOCAL
    for alone in (
        "@cache\n# why\n" + LOCAL,
        "class _:\n    def f(self): pass\n",
        "if 1:\n  def f(): pass\n",
        LOCAL,
    ):
        assert function_context(alone).source == alone


@pytest.mark.parametrize("text", ["x = 1\n", "class C:\n    pass\n", "def f(): pass; x = 1\nimport os\n"])
def test_texts_without_a_function_stay_whole(text: str) -> None:
    part = function_context(text)
    assert part.before + part.source + part.after == text


def test_what_is_no_python_is_said_to_be_none() -> None:
    with pytest.raises(SourceError):
        function_context("import a\nx = = 1\ndef f(): pass\n")
    found = outcome("import a\nx = = 1\ndef f(): pass\n")
    assert isinstance(found, NotApplied)
    assert found.reason == "source does not parse"


@pytest.mark.thinned(33)
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import math\nfrom os import path\nx = 1\n", set()),
        ("def len(x): return 0\n", {"len"}),
        ("class print: pass\n", {"print"}),
        ("from numpy import sum as sum, abs\n", {"sum", "abs"}),
        ("try:\n    import x\nexcept E:\n    open = None\n", {"open"}),
        ("def f():\n    global id\n    id = 3\n", {"id"}),
        ("def f():\n    id = 3\n", set()),
        ("class C:\n    def list(self): pass\n", set()),
        ("for max in x: pass\n", {"max"}),
        ("x = [max for max in y]\n", set()),
        ("global sys\nclass C:\n    global len\n    def len(): pass\n", {"len"}),
        ("match x:\n    case {**max}: pass\n", {"max"}),
        ("def f(id=lambda id: id): pass\n", set()),
        ("(min := 3)\n", {"min"}),
        ("math = Fake()\n", {"math"}),
        ("from math import *\n", {"pow"}),
        ("from tools \\\n    import \\\n    *\n", {"sum", "len", "sorted"}),
        ('"""from tools import *"""\n# from tools import *\n', set()),
        ("x = 'from tools import *'\n", set()),
        ("x = 1; from numpy import*\n", {"sum", "len", "sorted"}),
        ("try:\n    from .c import *\nexcept ImportError: pass\n", {"sum", "len", "sorted"}),
        ("import builtins\nbuiltins.len = g\n", {"len"}),
        ("import builtins as b\nb.len = g\n", {"len", "open"}),
        ("import builtins\ndef f():\n    return builtins.open(x)\n", set()),
        ("import builtins\nsetattr(builtins, name, g)\n", {"len", "open"}),
        ("import builtins\nbuiltins\\\n.len = g\n", {"len"}),
        ("import ｂuiltins\nbuiltins.len = g\n", {"len"}),
        ("import sys\nsys.modules['builtins'].len = g\n", {"len"}),
        ("import sys\nown = sys.modules['builtins']\n", {"len", "open"}),
        ("import sys\nown = sys.modules.get('builtins')\n", {"len", "open"}),
        ("import sys\nsys.modules[__name__].len = g\n", {"len"}),
        ("import sys\nsetattr(sys.modules[__name__], 'len', g)\n", {"len"}),
        ("import sys\nsetattr(sys.modules[__name__], name, g)\n", {"len", "open"}),
        ("import sys\nx = getattr(sys.modules[__name__], name)\n", set()),
        ("import builtins \\\n as b\nb.len = g\n", {"len", "open"}),
        ("import builtins\n# what others import\nbuiltins.__dict__['len'] = g\n", {"len"}),
        ("class C:\n    globals()['len'] = g\n    def globals(self): pass\n", {"len"}),
        ("patch(f'builtins.{name}', g)\n", {"len", "open"}),
        ("__builtins__.update(len=g)\n", {"len"}),
        ("__builtins__['len'] = g\n", {"len"}),
        ("g.__globals__['len'] = g\n", {"len"}),
        ("g.__globals__.update(len=g)\n", {"len"}),
        ("def f(globals): pass\nspace = globals\nspace()['len'] = g\n", {"len"}),
        ("from builtins import globals as space\nspace()['len'] = g\n", {"len"}),
        ("import builtins\nbuiltins.globals()['len'] = g\n", {"len"}),
        ("import builtins\nbuiltins.__setattr__('len', g)\n", {"len"}),
        ("globals()['__builtins__']['len'] = g\n", {"len"}),
        ("run = exec\nrun('len = g')\n", {"len"}),
        ("exec('len = g', None)\n", {"len"}),
        ("exec('len = g', {})\n", set()),
        ("x = vars\nx()['len'] = g\n", {"len"}),
        ("x = vars(y)\n", set()),
        ("def f():\n    global ｌen\n    len = 3\n", {"len"}),
        ("ok = x.__module__ in ('builtins', '__builtin__')\n", set()),
        ("table = {'builtins': 1}\n", set()),
        ("f = lambda globals: globals\n", set()),
        ("patch.multiple('builtins', len=g)\n", {"len"}),
        ("patch.dict('builtins.__dict__', {'len': g})\n", {"len"}),
        ("B = 'builtins'\npatch(B + '.len', g)\n", {"len"}),
        ("patch('six.moves.builtins.len', g)\n", {"len"}),
        ("import importlib\nb = importlib.import_module(name='builtins')\n", {"len"}),
        ("from codecs import builtins as b\nb.len = g\n", {"len"}),
        ("import sys\nsetattr(sys.modules[f.__module__], n, f)\n", {"len"}),
        ("import sys\nsys.modules[  # own\n __name__].len = g\n", {"len"}),
        ("import sys\nsys.modules.get(__name__).len = g\n", {"len"}),
        ("import sys\nsys._getframe(1).f_globals[n] = g\n", {"len"}),
        ("import sys\nsys.modules[__name__] = Lazy(__name__)\n", set()),
        ("def __dir__():\n    return sorted(globals())\n", set()),
        ("x = vars()['y']\n", set()),
        ("x = __import__(y, globals(), locals(), [])\n", set()),
        ("eval('x', f.f_globals)\n", set()),
        ("ok = x.__module__ == 'builtins'\n", set()),
        ("# builtins\n", set()),
        ("globals()['id'] = g\n", {"id"}),
        ("globals()[name] = g\n", {"id", "len"}),
        ("def f():\n    globals().update(x)\n", {"id", "len"}),
        ("def f(globals):\n    globals.update(x)\n", set()),
        ("def f():\n    return __import__(x, globals(), locals())\n", set()),
        ("exec(x)\n", {"id", "len"}),
        ("if x:\n    [exec(one) for one in x]\n", {"id", "len"}),
        ("def f():\n    exec(x)\n", {"id", "len"}),
        ("def f():\n    exec('id = 3')\n", set()),
        ("def f():\n    exec(x, {})\n", set()),
        ("vars()['id'] = g\n", {"id"}),
        ("def f():\n    global a, \\\n        id\n    id = 3\n", {"id"}),
        ("def f():\n    if x: global a, id; id = 3\n", {"id"}),
        ("def f():\n    global\tid\n    def g():\n        global len\n        import len\n    id = 1\n", {"id", "len"}),
        ("def f():\n    global \\\n\\\n id\n    id = 3\n", {"id"}),
        ("def f():\r    global a\r    id = 3\r", set()),
        ("# global id\nx = id\n", set()),
        ("x = [(max := y) for y in z]\n", {"max"}),
        ("x = [lambda: max for max in y]\n", set()),
        ("class C:\n    x = [max for max in y]\n", set()),
        ("def f():\n    global id\n    return [(id := y) for y in z]\n", {"id"}),
        ("def f():\n    global id, math\n    import math\n    return id\n", set()),
        ("def f():\n    global max\n    return [max for max in z]\n", set()),
        ("def f():\n    global math\n    def math(): pass\n    del math\n", set()),
        ("global math\ndef f():\n    global math\n    del math\n", {"math"}),
        ("try: pass\nexcept E as id: pass\n", {"id"}),
        ("with x as [*id]: pass\n", {"id"}),
        ("class C:\n    def f(self):\n        class D:\n            global id\n            id: int = 3\n", {"id"}),
    ],
)  # fmt: skip
def test_names_with_another_meaning_are_found(
    text: str, names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "_REBOUND_IN", {})
    found = rebound_names(text)
    assert names <= found
    assert names or not found
    monkeypatch.setattr(context, "_REBOUND_IN", {})  # else it would give back the answer of the tables
    tree = parse(text)
    assert rebound_in(text, tree, partial(index_in, tree)) == found


UNSEEN = """
import sys, importlib, builtins, __main__ as own
from unittest.mock import patch
globals()["a"] = f.__globals__["b"] = frame.f_globals["c"] = __builtins__["d"] = sys.modules[__name__].e = f
sys.modules.get("builtins").g = importlib.import_module("__main__").h = own.i = builtins.j = f
setattr(sys.modules[__name__], "k", f), setattr(own, "l", f), __import__("builtins").update(m=f)
"n" in globals(), timeit("o", globals=globals()), eval("p", globals()), set(__builtins__), dir(own)
globals().get("q"), builtins.__dict__, f.__globals__.update(x), globals()
"""


@pytest.mark.parametrize("name", ["", "inspect", "random", "typing", "unittest.mock", "importlib._bootstrap"])
def test_nodes_that_are_not_read_bind_nothing_unseen(name: str) -> None:
    text = inspect.getsource(importlib.import_module(name)) if name else UNSEEN
    nodes = index_in(parse(text))
    reader = unseen_bindings._Reader(nodes.aliases("__main__"))
    in_text = "builtins" in nodes.texts
    read = {id(one) for one in unseen_bindings._relevant(nodes, reader.modules, in_text=in_text)}
    rest = [one for one in below(nodes.tree) if id(one) not in read and not isinstance(one, ast.Name)]
    for node in rest:
        if not reader.read(node):
            reader.read_bare(node)
        assert not reader.names | reader._plain, ast.dump(node)
    assert not name or len(read) < len(rest)


@pytest.mark.slow
def test_the_tree_says_the_same_as_the_tables_of_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "_REBOUND_IN", {})
    modules = (ast, dataclasses, inspect, opcode, random, tarfile, types, typing)
    found = {one.__name__: rebound_names(inspect.getsource(one)) for one in modules}
    assert sum(map(bool, found.values())) > 2
    monkeypatch.setattr(context, "_REBOUND_IN", {})
    for module in modules:
        text = inspect.getsource(module)
        tree = parse(text)
        assert rebound_in(text, tree, partial(index_in, tree)) == found[module.__name__], module.__name__


def test_a_function_that_uses_such_a_name_is_left_alone() -> None:
    text = "def len(x):\n    print(x)\n    return 0\n\n" + LOCAL
    found = outcome(text, "rename-parameters")
    assert isinstance(found, NotApplied)
    assert found.reason == REBOUND
    assert isinstance(outcome(text.replace("def len", "def length"), "rename-parameters"), Perturbed)
    # Local variables can be renamed, whatever `len` means.
    assert isinstance(outcome(text, "rename"), Perturbed)


@pytest.mark.weekly
def test_what_a_file_rebinds_is_told_without_its_tree_where_it_rebinds_nothing() -> None:
    root = Path(ast.__file__).parent
    told = 0
    for path in sorted(root.glob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        found = rebound_names(text)
        assert found <= context._bindable(text) | context._starred(text)
        for name in ("len", "open", "json", "type"):
            context._REBOUND_IN.clear()
            said = obstacle_in_file(f"def f(x):\n    return {name}(x)\n", text)
            assert (said == REBOUND) == (name in found)
            assert bool(context._REBOUND_IN) <= (name in context._bindable(text) | context._starred(text))
            told += said is not None
    assert told >= 5


@pytest.mark.slow
def test_what_standard_modules_give_to_import_star_is_known(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PUBLIC],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    public = json.loads(done.stdout.splitlines()[-1])
    ours = {name for name in dir(builtins) if not name.startswith("_")}
    known = rebound_names("from math import *\n")
    assert len(public) > 150
    assert {name: ours & set(names) for name, names in public.items() if not ours & set(names) <= known} == {}


def test_a_function_of_a_file_is_left_alone_if_the_file_rebinds_what_it_uses() -> None:
    for file, applied in (("def len(x):\n    return 0\n", False), ("def length(x):\n    return 0\n", True)):
        sample = Sample(
            id="x", language="python", source=LOCAL, label=None, origin=Origin(path="-", line=1),
            context=file + LOCAL,
        )  # fmt: skip
        (found,) = perturb_one(sample, TRANSFORMS.get("rename-parameters"), variants=1, seed=0)
        assert isinstance(found, Perturbed) is applied
        assert isinstance(found, Perturbed) or found.reason == REBOUND


MOVABLE = """def f(x, y):
    a = x is None
    b = y is None
    d = size()
    c = len([])
    print(c)
    return a, b, d
"""


@pytest.mark.parametrize("whole", [False, True])
def test_an_order_takes_a_rebound_name_for_an_unknown_one(*, whole: bool) -> None:
    file = "def len(x):\n    print(x)\n    return 0\n\n\n"
    sample = Sample(
        id="x", language="python", source=file + MOVABLE if whole else MOVABLE, label=None,
        origin=Origin(path="-", line=1), context="" if whole else file + MOVABLE,
    )  # fmt: skip
    found = [*perturb_one(sample, TRANSFORMS.get("reorder"), variants=9, seed=0)]
    made = [one.source for one in found if isinstance(one, Perturbed)]
    assert made
    assert all(text.index("c = len") < text.rindex("print(c)") for text in made)
    assert all(text.index("d = size") < text.index("c = len") for text in made), "both may act"
    plain = replace(sample, source=sample.source.replace("def len", "def other"), context="")
    orders = [*perturb_one(plain, TRANSFORMS.get("reorder"), variants=99, seed=0)]
    sources = [order.source for order in orders if isinstance(order, Perturbed)]
    assert any(text.index("c = len") < text.index("d = size") for text in sources), "`len` only looks"


@pytest.mark.thinned(2)
@pytest.mark.parametrize("start", range(0, 40, 2))
def test_a_rebound_name_binds_statements_as_an_unknown_name_does(start: int) -> None:
    """Every builtin and module in functions of the standard library: rebound by the file, or spelled otherwise."""
    for source in stdlib_functions(200)[start * 5 : start * 5 + 10]:
        tree = ast.parse(source)
        text = ast.unparse(tree)
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        own = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
        own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        for name in sorted({node.id for node in names} & WELL_KNOWN - own):
            spelled = ast.parse(text)
            for node in ast.walk(spelled):
                if isinstance(node, ast.Name) and node.id == name:
                    node.id = f"{name}_of_the_file"
            rebound = analyse(text, around=f"{name} = other\n{text}").blocks
            unknown = analyse(ast.unparse(spelled)).blocks
            for one, other in zip(rebound, unknown, strict=True):
                # `locals` binds all statements, whatever it means.
                assert all(a | b == a for a, b in zip(one.predecessors, other.predecessors, strict=True)), (
                    name
                )


BODY = "def f(n: int):\n    xs: list[int] = []\n    for i in range(n):\n        xs.append(i)\n    return xs\n"
COMPILED_ELSEWHERE = {
    "a decorator": f"@torch.jit.script\n{BODY}",
    "one with arguments": f"@njit(cache=True)\n{BODY}",
    "several": f"@other\n@ti.func\n@more\n{BODY}",
    "a call": f"{BODY}fast = numba.njit(f)\n",
    "a call with options": f"{BODY}fast = njit(cache=True)(\n    f)\n",
    "a class": f"@jitclass(spec)\n@other\nclass C:\n{indent(BODY, '    ')}",
    "a call of what is compiled": f"{BODY}print(torch.jit.script(f)(x))\n",
    "a function that a compiled one calls": f"@torch.jit.script\ndef g(n: int):\n    return f(n)\n{BODY}",
    "one that it calls in turn": f"g = jit.script(g)\ndef g(n):\n    return h(n)\ndef h(n):\n    return f(n)\n{BODY}",
    "a method": f"class C:\n{indent(BODY, '    ')}model = C()\nmodel = torch.jit.script(model)\n",
}


@pytest.mark.parametrize("text", COMPILED_ELSEWHERE.values(), ids=COMPILED_ELSEWHERE)
def test_what_another_compiler_reads_keeps_its_syntax(text: str) -> None:
    for name in ("remove-local-annotations", "no-op-statements", "else-pass"):
        codeaudit.transform(BODY, name, whole_file=True)
        with pytest.raises(codeaudit.NotApplied, match=COMPILED):
            codeaudit.transform(text, name, whole_file=True)
    # Every such compiler knows names.
    assert "xs" not in codeaudit.transform(text, "rename", whole_file=True)


WORDS_IN_TEXT = {
    "a star import in a docstring": ('"""from tools import *"""\n', BODY),
    "a star import in a comment": ("# from tools import *\n", BODY),
    "a rebound name in a comment": (
        "open = other\n",
        BODY.replace("    for", "    # open the door\n    for"),
    ),
    "a rebound name in a docstring": ("open = other\n", BODY.replace("    xs:", '    """open"""\n    xs:')),
    "a compiler in a docstring": ("", BODY.replace("    xs:", '    """As\n    @njit\n    """\n    xs:')),
    "a call of a compiler in a docstring": ('"""fast = njit(f)"""\n# njit(f)\n', BODY),
    "a function of numpy that compiles nothing": ("many = np.vectorize(f)\n", BODY),
    "a compiled class in a docstring": ('"""As\n@jitclass(spec)\nclass C: pass\n"""\n', BODY),
}


@pytest.mark.parametrize(("head", "body"), WORDS_IN_TEXT.values(), ids=WORDS_IN_TEXT)
def test_words_in_comments_and_docstrings_forbid_nothing(head: str, body: str) -> None:
    assert obstacle_in_file(body, head + body) is None
    assert function_context(body).obstacle is None
    for name in ("spacing", "no-op-statements"):
        assert codeaudit.transform(head + body, name, whole_file=True)


def test_words_in_other_texts_count() -> None:
    body = BODY.replace("return xs", "return eval('open(xs)')")
    assert obstacle_in_file(body, f"open = other\n{body}") == REBOUND

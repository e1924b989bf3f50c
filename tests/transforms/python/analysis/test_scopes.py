import ast
import symtable
import sys
import warnings
from collections import Counter

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.analysis.scopes import OUTER, PythonScopes, resolve
from tests.support.stdlib import sample


def views(source: str) -> dict[str, str]:
    return {binding.name: binding.view for binding in resolve(source).bindings}


def test_every_way_to_bind_a_name_has_its_view() -> None:
    by_name = views("""\
def f(a, *b, c=g, **d):
    import os.path, json as j
    from m import n, p as q
    x = y = [z for z in a if (w := z)]
    try:
        with open(a) as h: pass
    except E as e: pass
    global k
    match x:
        case [(1 | 2) as r, *s]: pass
        case {"t": t, **u}: pass
    def inner(): pass
    class C: member = 1
    for v in x: del y
""")
    assert by_name == {
        "f": "outer", "a": "parameter", "b": "parameter", "c": "parameter", "g": "outer", "d": "parameter",
        "os": "import", "j": "import alias", "n": "import", "q": "import alias", "x": "local", "y": "local",
        "z": "comprehension", "w": "walrus", "open": "outer", "h": "local", "E": "outer", "e": "except",
        "k": "outer", "r": "capture", "s": "capture", "t": "capture", "u": "capture", "inner": "function",
        "C": "class", "member": "attribute", "v": "local",
    }  # fmt: skip


def test_bindings_are_numbered_in_source_order() -> None:
    scopes = resolve("def f(a):\n    b = [c for c in a]\n    return d(b)\n")
    assert [binding.name for binding in scopes.bindings] == ["f", "a", "b", "c", "d"]
    assert [binding.number for binding in scopes.bindings] == [0, 1, 2, 3, 4]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
def test_type_parameters_are_bound_around_the_function() -> None:
    scopes = resolve(
        "def f[T: int, *U, **V](a: T) -> U:\n    type L[W] = list[W]\n    b: T = a\n    return b\n"
    )
    by_name = {binding.name: binding for binding in scopes.bindings}
    assert [by_name[name].view for name in "TUVW"] == ["type parameter"] * 4
    assert len(by_name["T"].occurrences) == 3
    assert all(by_name[name].located for name in "TUVWab")


@pytest.mark.parametrize("text", ["x = 1", "def f(): pass\nx = 1", "", "class C: pass", "lambda: 0"])
def test_a_text_that_is_not_one_function_is_a_source_error(text: str) -> None:
    with pytest.raises(SourceError, match="one function"):
        resolve(text)


@pytest.mark.parametrize("text", ["def f(:", "    def f(): pass", "def f(): '\ud800'", "def f(): \0"])
def test_text_that_does_not_parse_is_a_source_error(text: str) -> None:
    with pytest.raises(SourceError):
        resolve(text)


@pytest.mark.slow
def test_every_occurrence_shows_the_name() -> None:
    shown = 0
    for source in sample(500):
        scopes = resolve(source)
        for binding in scopes.bindings:
            for place in binding.occurrences:
                if place.start >= 0:
                    assert scopes.source[place.start : place.end] == binding.name.encode()
                    shown += 1
    assert shown > 500


@pytest.mark.slow
def test_nearly_every_occurrence_is_found() -> None:
    counts = Counter(binding.located for source in sample(500) for binding in resolve(source).bindings)
    assert counts[False] == 0


@pytest.mark.slow
def test_scopes_agree_with_the_interpreter() -> None:
    """The interpreter's own symbol tables are an independent judge."""
    compared = 0
    for source in sample(700):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                table = symtable.symtable(source, "<unit>", "exec")
        except SyntaxError:  # a nonlocal of the text around, or a return outside
            continue
        scopes = resolve(source)
        if sys.version_info >= (3, 12) and any(scope.kind == "comprehension" for scope in scopes.scopes):
            continue  # their tables show comprehensions inlined
        theirs, ours = Counter(their_scopes(table)), Counter(our_scopes(scopes))
        assert theirs == ours, source
        compared += 1
    assert compared > 400


def their_scopes(table: symtable.SymbolTable) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for child in table.get_children():
        if child.get_type() in {"function", "class"} and child.get_name() != "__annotate__":
            local, parameters, free, outer = set(), set(), set(), set()
            for symbol in child.get_symbols():
                name = symbol.get_name()
                if name.startswith(("__", ".", f"_{child.get_name()}__")) or "__" in name:
                    continue
                if symbol.is_parameter():
                    parameters.add(name)
                elif symbol.is_local():
                    local.add(name)
                elif symbol.is_free():
                    free.add(name)
                elif symbol.is_referenced() or symbol.is_declared_global():
                    outer.add(name)
            rows.append((frozenset(local), frozenset(parameters), frozenset(free), frozenset(outer)))
        rows += their_scopes(child)
    return rows


def our_scopes(scopes: PythonScopes) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for scope in scopes.scopes:
        if scope.kind in {"outer", "type parameters"}:
            continue
        local: set[str] = set()
        free: set[str] = set()
        outer: set[str] = set()
        parameters = own_parameters(scope.node)
        for binding in scopes.bindings:
            if "__" in binding.name:
                continue
            if binding.scope == scope.number and binding.name not in parameters:
                local.add(binding.name)
            elif binding.scope != scope.number and scope.number in needing(scopes, binding.number):
                (outer if binding.scope == OUTER else free).add(binding.name)
        parameters = {name for name in parameters if "__" not in name}
        rows.append((frozenset(local), frozenset(parameters), frozenset(free), frozenset(outer)))
    return rows


def own_parameters(node: ast.AST) -> set[str]:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return set()
    held = node.args
    listed = [*held.posonlyargs, *held.args, *held.kwonlyargs, held.vararg, held.kwarg]
    return {parameter.arg for parameter in listed if parameter is not None}


def needing(scopes: PythonScopes, number: int) -> set[int]:
    """The scopes that mention a name, and those between them and its owner, which pass a cell on."""
    binding = scopes.bindings[number]
    numbers: set[int] = set()
    for place in binding.occurrences:
        here = place.scope
        numbers.add(here)
        while binding.scope != OUTER and here not in {binding.scope, OUTER}:
            numbers.add(here)
            here = scopes.scopes[here].parent
    return numbers


# An indented function under a line that stands for what is around it


METHOD = """\
class _:
    @d(n)
    def m(self, a, n=[i for i in k]):
        text = '''
  not indented'''
        return m, text, a, n
"""


def test_a_method_is_seen_through_the_line_above_it() -> None:
    scopes = resolve(METHOD)
    assert scopes.function.name == "m"
    assert scopes.method
    assert views(METHOD) == {
        "d": "outer", "n": "parameter", "m": "outer", "self": "parameter", "a": "parameter",
        "i": "comprehension", "k": "outer", "text": "local",
    }  # fmt: skip
    for binding in scopes.bindings:
        for use in binding.occurrences:
            assert METHOD.encode()[use.start : use.end] == binding.name.encode()


def test_a_function_in_a_block_is_seen_through_the_line_above_it() -> None:
    alone = "def f(a):\n    b = a\n    return b\n"
    scopes = resolve("if 1:\n\tdef f(a):\n\t\tb = a\n\t\treturn b\n")
    assert not scopes.method
    assert scopes.slots == resolve(alone).slots
    assert [binding.view for binding in scopes.bindings] == ["outer", "parameter", "local"]


@pytest.mark.parametrize(
    "text",
    [
        "class _:\n    x = 1\n",
        "class _:\n    def f(self): pass\n    x = 1\n",
        "class _(B):\n    def f(self): pass\n",
        "@d\nclass _:\n    def f(self): pass\n",
        "class C:\n    def f(self): pass\n",
        "class _:\n    class _:\n        def f(self): pass\n",
        "if 2:\n    def f(): pass\n",
        "if 1:\n    def f(): pass\nelse:\n    pass\n",
        "if 1:\n    def f(): pass\n    def g(): pass\n",
        "while 1:\n    def f(): pass\n",
    ],
)
def test_any_other_surroundings_are_no_wrapper(text: str) -> None:
    with pytest.raises(SourceError, match="one function"):
        resolve(text)

"""What two texts of the same function share: their content, by which a corpus counts duplicates."""

import ast
import sys
from itertools import combinations

import pytest

from codeaudit.transforms.python.parsing import content
from tests.support.stdlib import sample

TEXTS = (
    "def f():\n    return 1", "def f():\n\n    return (1)  # one", "def f(): return 1", "def f():\n    return 1.0",
    "def f():\n    return True", "def f():\n    return '1'", "def f():\n    return b'1'", "def f():\n    return u'1'",
    "def f():\n    return 1j", "def f():\n    return ...", "def f():\n    return None", "def f():\n    return",
    "def f():\n    'doc'\n    return 1", "def f():\n    \"\"\"Another one.\"\"\"\n    return 1", "def f():\n    ''\n    return 1",
    "def f():\n    '  '\n    return 1", "def f():\n    \"\"\"\n    \"\"\"\n    return 1", "def f():\n    b'doc'\n    return 1", "def f():\n    'doc'", "def f():\n    'doc'\n    'more'\n    return 1",
    "async def f():\n    return 1", "def g():\n    return 1", "def f(a):\n    return 1", "def f(a, /):\n    return 1",
    "def f(*, a):\n    return 1", "def f(*a):\n    return 1", "def f(**a):\n    return 1", "def f(a=1):\n    return 1",
    "def f(*, a=1):\n    return 1", "def f(*, a, b=1):\n    return 1", "def f(*, a=1, b):\n    return 1", "def f(a: int):\n    return 1",
    "def f() -> int:\n    return 1", "@g\ndef f():\n    return 1", "x = f(a, (b, c))", "x = f(a, b, c)", "x = f((a, b), c)", "x = [[1], 2]",
    "x = [1, [2]]", "x = [[1, 2]]", "x = (1, 2)", "x = {1, 2}", "x = {1: 2}", "x = {**a}", "x = {None: a}", "x = a", "x: a", "x: int = a",
    "(x): int = a", "x += a", "x = y = a", "x = (y, a)", "del x", "global x", "global x, y", "global y, x", "nonlocal x",
    "if a:\n    b\nelse:\n    c", "if a:\n    b\n    c", "if a:\n    b\nc", "if a:\n    b\nelif c:\n    d", "if a:\n    b\nelse:\n    if c:\n        d",
    "for a in b:\n    c", "for a in b:\n    pass\nelse:\n    c", "while a:\n    b", "a.b", "a['b']", "a[b]", "a[b:c]", "a[b:c:d]", "a[b, c]",
    "a[:b]", "a < b < c", "(a < b) < c", "a and b and c", "a and (b and c)", "a or b", "not a", "-a", "- 1", "a - 1", "a + 1", "lambda: a",
    "lambda a: a", "(a for a in b)", "[a for a in b]", "{a for a in b}", "[a for a in b if c]", "[a for a in b for c in d]", "f'{a}'", "f'{a!r}'",
    "f'{a:b}'", "f'a'", "'a'", "'a' 'b'", "'ab'", "f'{a}' 'b'", "f'{a}b'", "import a", "import a as b", "from a import b", "from . import b",
    "from .. import b", "from a import *", "try:\n    a\nexcept b:\n    c", "try:\n    a\nexcept b as c:\n    d", "try:\n    a\nfinally:\n    b",
    "with a: b", "with a as b: c", "with a, b: c", "match a:\n    case 1: b", "match a:\n    case b: b", "match a:\n    case [b, *c]: b",
    "match a:\n    case {'b': c, **d}: b", "match a:\n    case b() | c(): b", "match a:\n    case b(c=d): b", "class A:\n    'doc'\n    x = 1",
    "class A:\n    x = 1", "class A(B):\n    x = 1", "class A(B=C):\n    x = 1", "x = 'a\\nb'", "x = 'a', 'b'", "x = '\\ud800'", "x = 10", "x = 0xa", "x = 1_0",
    "(yield)", "(yield a)", "(yield from a)", "(a := b)", "(await a)", "a if b else c", "f(*a)", "f(**a)", "f(a=b)", "return a", "raise a", "raise a from b",
    "assert a", "assert a, b", "pass", "def f(:", "def  f(:",
)  # fmt: skip
TYPED = ("def f[T](): pass", "def f[T: int](): pass", "def f[*T](): pass", "type X = int", "class A[T]: pass")


def reference(source: str) -> str:
    """The tree without docstrings, as the `ast` module prints it."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:]
    return ast.dump(tree)


def test_two_texts_have_one_content_if_their_trees_are_equal_but_for_docstrings() -> None:
    texts = [*TEXTS, *(TYPED if sys.version_info >= (3, 12) else ())]
    by_text = {text: (content(text), reference(text)) for text in texts}
    for one, other in combinations(texts, 2):
        assert (by_text[one][0] == by_text[other][0]) is (by_text[one][1] == by_text[other][1]), (one, other)
    assert len({key for key, _ in by_text.values()}) < len(by_text)


@pytest.mark.thinned(1)
@pytest.mark.parametrize("count", [400, 100_000])
def test_functions_of_the_standard_library_have_the_contents_of_their_trees(count: int) -> None:
    by_content: dict[str, set[str]] = {}
    for text in sample(count):
        by_content.setdefault(content(text), set()).add(reference(text))
    assert all(len(trees) == 1 for trees in by_content.values())
    assert len({tree for trees in by_content.values() for tree in trees}) == len(by_content)

"""Situations in which rewriters of Python were seen to be wrong, under every transform.

Each trap is a small program, the text that a careless rewriter makes of it, and calls that tell the two
apart. Every meaning-keeping transform meets every program: what broke one of them may break another.
"""

import io
import warnings
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.python.identifiers.obstacles import REFLECTION
from codeaudit.transforms.records import NotApplied, Perturbed
from codeaudit.transforms.registry import ENTRIES, TRANSFORMS, expand
from tests.support.fuzzing import unit
from tests.transforms.python.identifiers.test_situations import SITUATIONS, Case

MODULE_WIDE = ("rename-functions", "rename-classes")
KEEPING = (*expand(["all"], languages=["python"]), "rename-parameters", *MODULE_WIDE)
"""Every transform that keeps the meaning for callers of `f` that pass arguments by position."""

SETUP = '''\
LIMIT = 60
seen = []


def by_name(function):
    """A decorator of another file that reads the names of parameters."""
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def emit(*values):
    """Write down that it was called; a loop that never ends is cut off."""
    seen.append(repr(values))
    if len(seen) > LIMIT:
        raise RuntimeError("too long")
    return values[0] if values else None


class Odd:
    """Equal to nothing and more than everything, as often as it is asked, and it tells."""

    def __eq__(self, other): return bool(emit("eq", False)) and False
    def __ne__(self, other): return bool(emit("ne", True))
    def __lt__(self, other): return bool(emit("lt", False)) and False
    def __gt__(self, other): return bool(emit("gt", True))
    def __repr__(self): return "Odd()"


class Box:
    def __init__(self, **fields): self.__dict__.update(fields)
    def __repr__(self): return f"Box({self.__dict__})"


NAN = float("nan")
'''

NEEDED = """\
from contextlib import nullcontext
from dataclasses import dataclass
from typing import get_type_hints
class M(type):
    @classmethod
    def __prepare__(cls, name, bases): return {"v": "the metaclass's"}
"""
"""What the situations of renaming use."""


@dataclass(frozen=True, slots=True)
class Trap:
    """A program, how a careless rewriter breaks it, and who must, or must not, rewrite it."""

    source: str
    careless: Mapping[str, str]
    """Texts of the program and what stands in their places afterwards."""
    calls: tuple[str, ...]
    """Expressions after the program."""
    applied: tuple[str, ...] = ()
    """Transforms that find something to do all the same."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Transforms that must not do anything, with their reasons."""
    unpromised: tuple[str, ...] = ()
    """Transforms that say that they do not keep what this is about."""


TRAPS: dict[str, Trap] = {
    # ── names ────────────────────────────────────────────────────────────────────────────────────────────
    "the keyword of a call is not the variable": Trap(
        """\
def f(xs):
    key = len
    ys = sorted(xs, key=key)
    ys.sort(key=key, reverse=True)
    return ys, dict(key=1, ys=len(ys))
""",
        {"key=key": "v=v"},
        ("f(['ccc', 'a', 'bb'])",),
        ("rename", "rename-parameters"),
    ),
    "the keyword of a dict is a value": Trap(
        """\
def f(n):
    total = n + 1
    count = 2
    return dict(total=total, count=count)
""",
        {"total": "v"},
        ("f(3)",),
        ("rename", "rename-shuffle"),
    ),
    "an attribute is not the variable": Trap(
        """\
def f(s, box):
    split = s.split("\\n")
    name = box.name
    box.name = name + "!"
    size = split.__len__()
    return split, name, size, getattr(box, "name")
""",
        {"name": "v"},
        ("f('a\\nb', box := Box(name='n'))",),
        ("rename", "rename-parameters"),
    ),
    "a variable and a method of it have one name": Trap(
        """\
def f(n):
    pop = [1, 2, n]
    last = pop.pop()
    return pop, last
""",
        {"pop": "v"},
        ("f(3)",),
        ("rename",),
    ),
    "f-strings read variables": Trap(
        """\
def f(n):
    total, width = n * 2, 6
    return f"{total:>{width}} total={total!r} {{total}}", f"{total}, {width:>3}"
""",
        {"total, width": "v, width"},
        ("f(3)", "f('ab')"),
        ("rename", "f-string-to-format"),
    ),
    "every occurrence of a variable has one name": Trap(
        """\
def f(n):
    total = 0
    for number in range(len(n)):
        total = total + number
    return total
""",
        {"total = total": "v = w"},
        ("f('abcd')", "f('')"),
        ("rename", "rename-parameters", "for-to-while"),
    ),
    "a parameter that is bound again": Trap(
        """\
def f(text, default=None):
    if default is None:
        default = text + "?"
    text = text.strip()
    return text, default
""",
        {"default = text": "v = text", "text, default\n": "text, v\n"},
        ("f(' a ')", "f('a', 'b')"),
        ("rename-parameters",),
        {"rename": "no local to rename"},
    ),
    "callers pass parameters by keyword": Trap(
        """\
def f(items, low=0):
    if low >= len(items):
        return low
    return f(items, low=low + 1)
""",
        {"(items, low=0)": "(items, v=0)", "low >=": "v >=", "return low": "return v", "low + 1": "v + 1"},
        ("f([1, 2])", "f([1], low=3)"),
        (),
        {"rename": "no local to rename"},
    ),
    "parameters that only keywords reach": Trap(
        """\
def f(xs, *, low=0):
    kept = [x for x in xs if x > low]
    return kept
""",
        {"low": "v"},
        ("f([1, 2], low=1)", "f([1], high=2)"),
        ("rename", "rename-parameters"),
    ),
    "an f-string prints a name": Trap(
        """\
def f(n):
    total = n
    count = total + 1
    return f"{total=} {count = !r:>4}"
""",
        {"total": "v"},
        ("f(1)",),
        (),
        dict.fromkeys(("rename", "rename-shuffle"), "name is printed by an f-string"),
    ),
    "global and nonlocal name variables": Trap(
        """\
count = 0
def f(n):
    total = n
    def add(step):
        nonlocal total
        global count
        total += step
        count = count + 1
        return total
    add(2)
    return add(3), total, count
""",
        {"total +=": "v +=", "return total": "return v"},
        ("f(1)", "f(5)"),
        ("rename", "rename-parameters"),
    ),
    "variables of one name in several scopes": Trap(
        """\
def f(n):
    x = n
    def inner(y):
        x = y * 2
        return x
    z = [x for x in range(x)]
    return x, inner(x), z
""",
        {"return x\n": "return v\n"},
        ("f(3)",),
        ("rename", "rename-inner-functions"),
    ),
    "builtins are no variables": Trap(
        """\
def f(xs):
    longest = max(xs, key=len)
    print(longest, len(xs))
    return str(longest) + repr(sum(len(x) for x in xs))
""",
        {"len(": "v("},
        ("f(['a', 'bbb'])",),
        ("rename",),
    ),
    "a function's name is part of other names": Trap(
        """\
def f(xs):
    def join(a, b):
        return a + b
    joined = ", ".join(map(str, xs))
    return join(joined, "join"), "".join([joined])
""",
        {"join(": "joiN("},
        ("f([1, 2])",),
        ("rename",),
        {"rename-inner-functions": "name stands for several things"},
    ),
    "a word in a string or a comment is no variable": Trap(
        """\
def f(xs):
    # total of xs
    total = sum(xs)  # total
    return {"total": total, 'xs': "xs total", b"total": 1}
""",
        {"total": "v"},
        ("f([1, 2])",),
        ("rename", "remove-comments"),
    ),
    "a parameter has the name of a function of the module": Trap(
        """\
def scale(x):
    return x * 10
def f(n):
    result = scale(n)
    def inner(scale):
        unused = scale
        return unused + 1
    return result, inner(n)
""",
        {"def f(n)": "scale = 76\ndef f(n)"},
        ("f(2)", "scale(1)"),
        ("rename", "unused-locals", "no-op-statements"),
    ),
    "an error tells the name of a parameter": Trap(
        """\
def f(n):
    def inner(first, /, second):
        return first + second
    half = lambda whole: whole / 2
    try:
        return inner(n)
    except TypeError as error:
        message = str(error)
    try:
        return half()
    except TypeError as error:
        return message, str(error)
""",
        {"second": "v"},
        ("f(2)",),
        ("rename",),
        {"rename-inner-functions": "arguments may not fit"},
        unpromised=("rename-parameters",),
    ),
    "a private function's name is part of other words": Trap(
        """\
def _join(a, b):
    return a + b
def rejoin(a):
    return _join(a, "_join")
def f(xs, box):
    _joined = ", ".join(xs)
    box._join = _joined
    return _join(_joined, "_join"), rejoin("b")
""",
        {"_join(": "_v(", "_join ": "_v "},
        ("f(['a', 'b'], box := Box())",),
        ("rename", "reorder-functions"),
        {"rename-functions": "name stands in a text"},
    ),
    "names that are looked up as text": Trap(
        """\
def _step(n):
    return n + 1
class _Level:
    LOW = 1
def f(n):
    from timeit import timeit
    total = n
    timeit("_step(1)", globals=globals(), number=1)
    return eval("_step(total) + _Level.LOW")
""",
        {"def _step": "def _v"},
        ("f(2)",),
        ("insert-blank-lines",),
        {"rename": REFLECTION, "rename-functions": REFLECTION, "rename-classes": REFLECTION},
    ),
    "names that a module hides": Trap(
        """\
from textwrap import *
def _indent(text):
    return indent(text, "> ")
def f(n):
    prefix = dedent("  a")
    return _indent(n), prefix
""",
        {"_indent": "indent"},
        ("f('b')",),
        ("rename",),
        {"rename-functions": REFLECTION},
    ),
    "a function that lists its variables": Trap(
        """\
def f(n):
    total = n
    if n:
        found = sorted(locals())
        return found, "%(total)s" % vars()
    return sorted(dir())
""",
        {"    total = n\n": "    total = n\n    unused = 0\n"},
        ("f(0)", "f(1)"),
        ("insert-blank-lines",),
        {"rename": REFLECTION, "rename-parameters": REFLECTION, "unused-locals": REFLECTION},
    ),
    # ── text ─────────────────────────────────────────────────────────────────────────────────────────────
    "backslashes are part of strings": Trap(
        r"""
def f(text):
    import re
    found = re.findall(r"\d+\\?", text) + ["\n", "\\n", '\t\'', "\x41\N{BULLET}", b"\n\\", r"\n"]
    return found, f"{text}\n{text!r}\\", "one\
two"
""",
        {"\\": ""},
        ("f('12 a 3\\\\')",),
        ("rename", "quotes", "split-strings"),
    ),
    "blanks, tabs and newlines are part of strings": Trap(
        '''\
def f(n):
    text = """a  b
        indented
\tby a tab   \n
    """
    if n:
        other = """
    # no comment
      """
        return text, other, 'a  b', "x;y;  z", '#'
    return text
''',
        {"a  b": "a b"},
        ("f(0)", "f(1)"),
        ("rename", "indentation", "quotes"),
    ),
    "a semicolon in a string": Trap(
        """\
def f(n):
    parts = "a; b;c".split(";"); m = n; parts.append(str(m))
    return parts, ';' in "a;"
""",
        {"; b": "\n b"},
        ("f(1)",),
        ("split-statements", "rename"),
    ),
    "a string alone in a case": Trap(
        """\
def f(command):
    match f"{command}":
        case "x":
            found = 1
        case 'y' | "z":
            found = 2
        case _:
            found = None
    match command:
        case ["x", *rest]:
            found = rest
    return found
""",
        {'case "x"': "case "},
        ("f('x')", "f('z')", "f(['x', 1])", "f(0)"),
        ("quotes", "rename"),
    ),
    "a function without a docstring": Trap(
        """\
def f(n):
    return n + 1
""",
        {"def f": "de\nf f"},
        ("f(1)",),
        ("insert-comments",),
        {"rename": "no local to rename"},
    ),
    "a docstring is the first statement": Trap(
        '''\
def f(n):
    """Say n."""
    m = n
    def g(k):
        """Say k."""
        return k, g.__doc__
    return m, f.__doc__, g(1)
''',
        {'    """Say n."""\n': '    print(n)\n    """Say n."""\n'},
        ("f(1)", "f.__doc__"),
        ("rename", "unused-locals", "no-op-statements", "insert-blank-lines"),
    ),
    "a signature over several lines": Trap(
        '''\
def f(
    first,  # the one
    second=(
        1,
        2,
    ),
    *rest,
):
    """Say it."""
    result = first, second, rest
    return result
''',
        {"):\n": ")\n:\n"},
        ("f(0)", "f(1, 2, 3)"),
        ("rename", "rename-parameters", "insert-blank-lines", "unused-locals", "join-lines"),
    ),
    "decorators belong to the function": Trap(
        """\
from functools import lru_cache, wraps
def twice(function):
    @wraps(function)
    def call(*values):
        return function(*values), function(*values)
    return call
@twice
@lru_cache(maxsize=None)
def f(n):
    double = emit(n) * 2
    return double
""",
        {"@twice\n": ""},
        ("f(2)",),
        ("rename", "unused-locals", "insert-comments"),
    ),
    "code of the module around a function": Trap(
        """\
import math
base = 3
def f(n):
    root = math.sqrt(n)
    return root + base
base = f(4)
if base > 4:
    emit(base)
""",
        {"    return": "return"},
        ("f(9)", "base"),
        ("rename", "after-return", "unreachable-branches"),
    ),
    # ── loops ────────────────────────────────────────────────────────────────────────────────────────────
    "a range that counts down": Trap(
        """\
def f(n):
    passed = []
    for i in range(3, 0, -1):
        passed.append(i)
    for j in range(3, len(passed) * 3, 2):
        passed.append(j)
    for k in range(n, 0, -1):
        passed.append(k)
    return passed
""",
        {"3, 0, -1": "0"},
        ("f(3)", "f(0)", "f(8)"),
        ("for-to-while", "rename"),
    ),
    "the counter after the loop": Trap(
        """\
def f(n):
    i = -1
    for i in range(len(n)):
        if i == 2:
            return i
        i += 10
    return i
""",
        {"return i\n        i": "i += 1; return i\n        i"},
        ("f('')", "f('ab')", "f('abcde')", "f(5)"),
        ("for-to-while", "rename"),
    ),
    "the else of a loop": Trap(
        """\
def f(xs):
    for x in list(xs):
        if x > 2:
            emit("found", x)
            break
    else:
        emit("none")
    while xs:
        if xs.pop() > 5:
            break
    else:
        emit("all")
    for i in range(3):
        if i in xs:
            break
    else:
        emit("no i")
    return xs
""",
        {'    else:\n        emit("none")\n': ""},
        ("f([1, 2])", "f([1, 3, 4])", "f([])", "f([6, 1])", "f([1, 6])"),
        ("rename",),
        {"while-to-while-true": "loop has an else", "unroll-while": "loop has an else"},
    ),
    "continue in a counted loop": Trap(
        """\
def f(n):
    kept = []
    for i in range(len(n)):
        emit(i)
        if i % 2:
            continue
        kept.append(i)
    return kept
""",
        {
            "for i in range(len(n)):": "i = 0\n    while i < len(n):",
            "kept.append(i)": "kept.append(i); i += 1",
        },
        ("f('abcd')",),
        ("for-to-while", "rename"),
    ),
    "iterables without a length": Trap(
        """\
def f(xs):
    kept = []
    for x in xs:
        kept.append(x)
    for key in {3: 1, 4: 2}:
        kept.append(key)
    for item in (y * 2 for y in kept):
        emit(item)
    return kept
""",
        {"for x in xs": "for x in (xs[i] for i in range(len(xs)))"},
        ("f(iter([1, 2]))", "f({5})", "f(x for x in 'ab')", "f({'k': 1})", "f(None)"),
        ("rename",),
    ),
    "a list that grows while it is read": Trap(
        """\
def f(n):
    queue = [n]
    for x in queue:
        emit(x)
        if x > 0:
            queue.append(x - 1)
    return queue
""",
        {"in queue": "in list(queue)"},
        ("f(3)", "f(0)"),
        ("rename",),
    ),
    "a loop without a block": Trap(
        """\
def f(n):
    for i in range(4): emit(i)
    while n: n -= 1; emit(n)
    if n == 0: return n
    else: emit("never")
""",
        {"for i in range(4): emit(i)": "while n: emit(n)"},
        ("f(3)", "f(0)"),
        ("for-to-while", "rename"),
    ),
    "what a loop binds when it never runs": Trap(
        """\
def f(n):
    for i in range(n):
        pass
    return i
""",
        {"for i": "i = 0\n    for i"},
        ("f(0)", "f(3)"),
        ("rename",),
    ),
    "a range that is asked for once": Trap(
        """\
def f(n):
    steps = []
    for i in range(n):
        n -= 1
        steps.append((i, n))
    return steps
""",
        {"for i in range(n):": "i = -1\n    while (i := i + 1) < n:"},
        ("f(4)", "f('a')"),
        ("rename", "rename-parameters"),
    ),
    # ── conditions and operands ──────────────────────────────────────────────────────────────────────────
    "a test that guards the next": Trap(
        """\
def f(a, b):
    if a is not None and a < b:
        kind = "less"
    else:
        kind = "other"
    return kind, b is not None and len(str(b)) > 2
""",
        {"is not None and a < b": "is None and a < b"},
        ("f(None, 2)", "f(1, 2)", "f(3, 200)", "f(1, None)"),
        ("invert-if", "de-morgan", "rename"),
    ),
    "an operand that guards the next": Trap(
        """\
def f(s, xs):
    ok = s is not None and len(s) > 2
    first = xs and xs[0] or s
    return ok, first
""",
        {"s is not None and len(s) > 2": "len(s) > 2 and s is not None"},
        ("f(None, [])", "f('abc', [0, 1])", "f('a', [2])"),
        ("rename",),
    ),
    "values that have no order": Trap(
        """\
def f(a, b):
    if not a < b:
        kind = 1
    else:
        kind = 2
    return kind, not (a < b and b > 0), a != a, a == a, not a >= b
""",
        {"if not a < b": "if a >= b"},
        ("f(NAN, 1.0)", "f(1.0, 2.0)", "f(2, 1)", "f(Odd(), 1)", "f({1}, {2})"),
        ("invert-if",),
    ),
    "no value is known to equal itself": Trap(
        """\
def f(x):
    flag = True
    y = x
    if flag:
        y = (x, x == x)
    return y, x != x, flag
""",
        {"    y = x\n": "    y = x\n    if x != x:\n        return 0\n"},
        ("f(NAN)", "f(Odd())", "f(1)"),
        ("bool-literals", "unreachable-branches", "dead-stores", "no-op-statements", "rename"),
    ),
    "a truth value from nowhere": Trap(
        """\
def f(n):
    done = False
    while not done:
        n -= 1
        done = n < 0 or True is False
    return done, n
""",
        {"done = False": "done = foo != foo"},
        ("f(2)",),
        ("bool-literals", "while-to-while-true", "unroll-while", "rename"),
    ),
    "a condition that prints": Trap(
        """\
def f(x):
    y = x
    if y:
        y += 1
    return y
""",
        {"    if y": "    if print(y): pass\n    if y"},
        ("f(1)", "f(0)"),
        ("unreachable-branches", "rename", "no-op-statements"),
    ),
    "a sum of texts has an order": Trap(
        """\
def f(name, n):
    greeting = "hi " + name + str(n)
    items = [1] + [n] + [name]
    many = name * 2 + "!"
    return greeting, items, many, (1,) + (n,)
""",
        {'"hi " + name': 'name + "hi "'},
        ("f('x', 1)",),
        ("rename",),
    ),
    "a sum of floats has an order": Trap(
        """\
def f(a, b, c):
    x = 0.1 + a + b + c
    y = 3.0 * a / b
    return x, y, a - b + c, a * (b + c)
""",
        {"0.1 + a + b + c": "0.1 + a + (b + c)"},
        ("f(0.2, 0.3, 0.7)", "f(1e16, 1.0, 1.0)", "f(1e308, 5e307, -1e308)", "f(1, 2, 3)"),
        ("rename",),
    ),
    "nothing is added to what is no int": Trap(
        """\
def f(x):
    zero = -0.0
    flag = x == x
    n = len(str(x))
    return zero, flag, x * 1, n * 2
""",
        {"zero, flag": "zero + 0, flag + 0"},
        ("f(-0.0)", "f(True)", "f('ab')"),
        ("identity-arithmetic", "rename"),
    ),
    "a chain asks its middle once": Trap(
        """\
def f(a, b, c):
    first = a < emit(b) < c
    second = emit(a) == b != emit(c)
    return first, second, a in [b] and b in [c]
""",
        {"a < emit(b) < c": "a < emit(b) and emit(b) < c"},
        ("f(1, 2, 3)", "f(3, 2, 1)", "f(Odd(), 1, 2)", "f(NAN, NAN, 1)"),
        ("rename",),
    ),
    "operands are asked from left to right": Trap(
        """\
def f(x, a, b):
    one = emit("l", a) + emit("r", b)
    two = emit(a) < emit(b)
    three = x == a, a != x
    return one, two, three
""",
        {"emit(a) < emit(b)": "emit(b) > emit(a)"},
        ("f(Odd(), 1, 2)", "f(1, 2, 1)"),
        ("rename",),
    ),
    "a list in place and a new list": Trap(
        """\
def f(xs, ys):
    same = xs
    xs += [1]
    ys = ys + [2]
    return same is xs, xs, ys
""",
        {"xs += [1]": "xs = xs + [1]"},
        ("f([0], ys := [5])",),
        ("rename",),
    ),
    # ── order ────────────────────────────────────────────────────────────────────────────────────────────
    "two names of one list": Trap(
        """\
def f(a, b, i, j):
    a[i] = 1
    b[j] = 2
    x = a[0]
    a.append(x)
    y = b[0]
    return x, y
""",
        {"    a[i] = 1\n    b[j] = 2\n": "    b[j] = 2\n    a[i] = 1\n"},
        ("f(xs := [0, 0], xs, 0, 0)", "f(xs := [0, 0], xs, 0, 9)", "f([0], [5], 0, 0)"),
        ("rename",),
    ),
    "two calls with effects": Trap(
        """\
def f(it):
    a = next(it)
    b = next(it)
    c = emit(a)
    d = emit(b)
    return a, b, c, d
""",
        {"a = next(it)\n    b = next(it)": "b = next(it)\n    a = next(it)"},
        ("f(iter([1, 2]))", "f(iter([1]))"),
        ("rename",),
        {"tuple-assignments": "the order of evaluation can be seen"},
    ),
    "what raises stays in its place": Trap(
        """\
def f(xs, n):
    assert n, "no n"
    xs.append(n)
    if n > 2:
        raise ValueError(n)
    first = xs[5]
    rest = 10 // (n - 1)
    return first, rest
""",
        {'    assert n, "no n"\n    xs.append(n)\n': '    xs.append(n)\n    assert n, "no n"\n'},
        ("f(xs := [], 0)", "f(xs := [], 3)", "f(xs := [], 1)", "f(xs := [0] * 9, 1)", "f(xs := [0] * 9, 2)"),
        ("rename",),
    ),
    "branches that overlap": Trap(
        """\
def f(n):
    if n == 1:
        kind = "one"
    elif n > 0:
        kind = "more"
    elif n == 2:
        kind = "two"
    else:
        kind = "none"
    match n:
        case int():
            size = "int"
        case 1 | 2:
            size = "small"
        case x if x:
            size = "true"
        case _:
            size = None
    return kind, size
""",
        {
            'n == 1:\n        kind = "one"\n    elif n > 0:\n        kind = "more"': 'n > 0:\n        kind = "more"'
        },
        ("f(1)", "f(2)", "f(-1)", "f(True)", "f(1.0)"),
        ("nest-elif", "rename"),
    ),
    "constants that overlap": Trap(
        """\
def f(xs):
    size = len(xs)
    match size:
        case 1 | 2:
            kind = "few"
        case 2 | 3:
            kind = "some"
        case 4:
            kind = "four"
        case _:
            kind = "many"
    if size == 1:
        word = "one"
    elif size == True:
        word = "true"
    elif size == 2:
        word = "two"
    else:
        word = "none"
    return kind, word
""",
        {
            "case 1 | 2": "case 1",
            "size == 1": "size == 2",
            'size == 2:\n        word = "two': 'size == 1:\n        word = "two',
        },
        ("f([])", "f('a')", "f('ab')", "f('abc')", "f('abcd')"),
        ("rename", "reorder-cases", "reorder-branches"),
    ),
    "exceptions that overlap": Trap(
        """\
def f(do, x):
    try:
        result = do(x)
    except KeyError:
        result = "key"
    except (LookupError, TypeError) as error:
        result = type(error).__name__
    except Exception:
        result = "other"
    finally:
        emit("end")
    return result
""",
        {"except KeyError": "except LookupError"},
        ("f({}.__getitem__, 1)", "f([].__getitem__, 1)", "f(int, 'a')", "f(len, 1)", "f(len, 'a')"),
        ("rename", "split-try"),
    ),
    # ── inserted code ────────────────────────────────────────────────────────────────────────────────────
    "an inner generator and a function that is none": Trap(
        """\
def f(n):
    total = 0
    def numbers(k):
        nonlocal total
        for i in range(k):
            total += i
            yield i
    found = list(numbers(n))
    return found, total
""",
        {"    found": "    if False:\n        yield n\n    found"},
        ("f(3)",),
        ("rename", "unreachable-branches", "unused-locals", "after-return"),
    ),
    "a generator stays one": Trap(
        """\
def f(n):
    if n < 0:
        return
    got = yield n
    emit(got)
    for i in range(n):
        yield i
    return n
""",
        {"got = yield n": "got = n", "yield i": "emit(i)"},
        ("list(f(2))", "list(f(-1))", "(g := f(1)).send(None), g.send('sent'), next(g, 'end')"),
        ("unused-locals", "unreachable-branches", "rename"),
    ),
    "a variable that may be unbound": Trap(
        """\
def f(n):
    if n:
        value = n
    try:
        return value
    except UnboundLocalError:
        return "unbound"
""",
        {"    try:": "    value = value if n else 0\n    try:"},
        ("f(0)", "f(1)"),
        ("rename", "no-op-statements"),
    ),
    "a guard reads only what is bound": Trap(
        """\
def f(n):
    if n > 1:
        extra = n
        emit(extra)
    return n
""",
        {"    return": "    while extra > extra:\n        break\n    return"},
        ("f(0)", "f(2)"),
        ("unreachable-branches", "dead-stores", "rename"),
    ),
    "copied assignments make locals": Trap(
        """\
LEVEL = 3
def f(n):
    def deeper():
        level = LEVEL
        return level + n
    return deeper(), LEVEL
""",
        {"    return deeper": "    if n < n:\n        LEVEL = n\n    return deeper"},
        ("f(1)",),
        ("rename", "unreachable-branches", "unused-locals"),
    ),
    "declarations stand first": Trap(
        """\
count = 0
def f(n):
    "Count."
    global count, other
    count += n
    other = count
    return count
""",
        {"    global": "    count = 1\n    global"},
        ("f(2)", "f(3), other"),
        ("unused-locals", "reorder-globals", "no-op-statements"),
    ),
    "an inserted try hides nothing": Trap(
        """\
def f(xs):
    value = xs[1]
    try:
        found = {1: 2}[value]
    except KeyError as error:
        found = error.args
    return found
""",
        {"value = xs[1]": "try: value = xs[1]\n    except Exception: value = 0"},
        ("f([1])", "f([0, 1])", "f([0, 5])", "f(None)"),
        ("rename", "unreachable-branches"),
    ),
    "several targets and short blocks": Trap(
        """\
def f(n):
    a = b = n if n else []
    c, (d, *e) = n, (1, n, 3)
    if n: x = 1; y = 2 if n > 1 else 3
    else: x = y = 0
    a, b = b, (z := n)
    for i in (1, 2): a = i if n else b; emit(a)
    return a, b, c, d, e, x, y, z
""",
        {"a, b = b, (z := n)": "a = b; b = (z := n); x = a"},
        ("f(0)", "f(1)", "f(2)"),
        ("rename",),
        {"split-statements": "body stands on the line of its header"},
    ),
    "names that change places": Trap(
        """\
def f(a, b):
    a, b = b, a
    xs = [3, 4]
    i = 0
    i, xs[i] = 1, 9
    return a, b, xs, i
""",
        {"a, b = b, a": "a = b\n    b = a"},
        ("f(1, 2)",),
        ("rename", "rename-shuffle"),
    ),
    "the body of a loop twice": Trap(
        """\
def f(n):
    while n > 0:
        n -= 1
        if n == 3:
            continue
        if n == 1:
            break
        emit(n)
    return n
""",
        {"        emit(n)\n": "        emit(n)\n        n -= 1\n        emit(n)\n"},
        ("f(5)", "f(0)", "f(1)", "f(4)"),
        ("while-to-while-true",),
    ),
}


def after(text: str, changes: Mapping[str, str]) -> str:
    """The text with these replaced wherever they stand."""
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def kept(source: str, calls: tuple[str, ...], names: Iterable[str]) -> set[str]:
    """The transforms that rewrite a program; each of their variants at all places has to do the same."""
    before, applied = behaviour(source, calls), set()
    for name in names:
        for outcome in perturb_one(unit(source), TRANSFORMS.get(name), variants=2, seed=1, sites="all"):
            if isinstance(outcome, Perturbed):
                applied.add(name)
                assert behaviour(outcome.source, calls) == before, f"{name}\n{outcome.source}"
    return applied


def behaviour(source: str, calls: Iterable[str]) -> list[object]:
    """What each call returns, raises, prints and leaves behind in the arguments and the module.

    The text of an UnboundLocalError names a variable, so it does not count.
    """
    events: list[object] = []
    for call in calls:
        space: dict[str, Any] = {"__name__": "trap"}
        output = io.StringIO()
        with redirect_stdout(output), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(SETUP, space)
            try:
                exec(source, space)
                result: object = shown(eval(call, space))
            except UnboundLocalError:
                result = UnboundLocalError
            except Exception as error:
                result = type(error), str(error), type(error.__context__)
        data = {name: shown(value) for name, value in space.items() if not name.startswith("__")}
        events.append(
            (result, output.getvalue(), {name: text for name, text in data.items() if "0x" not in text})
        )
    return events


def shown(value: object) -> str:
    """A value with its type, so that `True` is not 1."""
    return f"{type(value).__name__}: {value!r}"


@pytest.mark.thinned(23)
@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS)
def test_a_careless_rewriting_is_seen(trap: Trap) -> None:
    assert behaviour(after(trap.source, trap.careless), trap.calls) != behaviour(trap.source, trap.calls)


@pytest.mark.thinned(9)
@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS)
def test_no_transform_falls_into_the_trap(trap: Trap) -> None:
    promised = [name for name in KEEPING if name not in trap.unpromised]
    applied = kept(trap.source, trap.calls, promised)
    assert not set(trap.applied) - applied
    for name, reason in trap.refused.items():
        (outcome,) = perturb_one(unit(trap.source), TRANSFORMS.get(name), variants=1, seed=1)
        assert isinstance(outcome, NotApplied), outcome
        assert outcome.reason == reason


@pytest.mark.slow
@pytest.mark.thinned(20)
@pytest.mark.parametrize("case", SITUATIONS.values(), ids=SITUATIONS)
def test_situations_of_renaming_under_every_transform(case: Case) -> None:
    call = f"f(*{case.arguments!r})"
    assert kept(NEEDED + case.before, (call,), KEEPING) >= {"unreachable-branches", "insert-comments"}


def test_nothing_of_a_text_is_executed(tmp_path: Path) -> None:
    """Neither when it is read nor when it is proved: it may do anything."""
    trace = tmp_path / "executed"
    source = f"open({str(trace)!r}, 'w').close()\n@print\ndef f(n=open({str(trace)!r}, 'w')):\n    m = n\n    return m\n"
    for name in ENTRIES:
        list(perturb_one(unit(source), TRANSFORMS.get(name), variants=2, seed=1))
    assert not trace.exists()


def test_comments_that_are_removed_are_gone() -> None:
    source = "def f(n):  # one\n    # two\n    m = '# three'  # four\n    return m\n"
    (outcome,) = perturb_one(unit(source), TRANSFORMS.get("remove-comments"), variants=1, seed=1, sites="all")
    assert isinstance(outcome, Perturbed)
    assert outcome.source == "def f(n):\n    m = '# three'\n    return m\n"


@pytest.mark.parametrize("name", ["remove-docstrings", "remove-annotations", "remove-inner-docstrings"])
def test_a_function_without_notes_is_refused(name: str) -> None:
    (outcome,) = perturb_one(unit("def f(n):\n    return n\n"), TRANSFORMS.get(name), variants=1, seed=1)
    assert isinstance(outcome, NotApplied)
    assert outcome.reason.startswith("no ")

"""Random statements through the transforms that order their parts, run before and after.

The parts are drawn from pools that hold the hostile cases: objects that log each look at them, parts that
act, raise, bind a name, or read what another part binds.
"""

from random import Random

import pytest

from codeaudit.transforms.python.order.arguments import REORDER_KEYWORD_ONLY
from codeaudit.transforms.python.order.assignments import REORDER_TARGETS
from codeaudit.transforms.python.order.items import REORDER_ITEMS
from codeaudit.transforms.python.order.operands import REORDER_OPERANDS
from codeaudit.transforms.python.rewriting import PythonRule
from tests.transforms.python.order.support import agrees

HEAD = """\
LIMIT = None
def told(value): return type(value).__name__ if callable(value) or hasattr(value, "send") else value
class Meta(type):
    def __instancecheck__(cls, other): print("instance", cls.__name__); return True
    def __subclasscheck__(cls, other): print("subclass", cls.__name__); return False
class Odd(Exception, metaclass=Meta): pass
class Even(Odd): pass
class Loud:
    _x = _y = 0
    def __init__(self, name): self.name = name
    def __repr__(self): return self.name
    def __bool__(self): print("bool", self.name); return self.name == "a"
    def __eq__(self, other): print("eq", self.name); return self.name != "b"
    def __lt__(self, other): print("lt", self.name); return False
    def __hash__(self): return 1
    def __call__(self, *values): print("call", self.name, values); return values[-1] if values else self.name
    def __getitem__(self, key): print("item", key); return [1, 2][key]
    def __setitem__(self, key, value): print("set item", self.name, key, told(value))
    def __setattr__(self, name, value):
        if name in ("a", "x"): print("set", name, told(value))
        object.__setattr__(self, name, value)
    @property
    def p(self): print("p", self.name); return 1
"""
CALLS = [
    f"f({first}, {second}, {third})"
    for first in ("Loud('a')", "None", "3", "Odd()")
    for second in ("Loud('b')", "True", "'s'")
    for third in ("0", "7")
]

OPERANDS = (
    "a is None", "b is None", "a is not b", "n == 0", "n > k", "flag", "not flag", "n", "xs",
    "text", "()", "None", "isinstance(a, int)", "isinstance(b, (str, bool))", "a", "b", "not a",
    "a == 3", "a < b", "b.p", "a()", "(m := 1)", "m", "xs[0] == 4", "xs[2]", "k in (1, 2)",
    "text == 's'", "(a is b or n < k)", "(xs and flag)", "MISSING is None", "LIMIT is None",
    "len(xs) > 1", "(lambda: a)", "callable(a)", "id(a) > 0", "xs.pop()",
)  # fmt: skip
TARGETS = ("p", "q", "m", "a", "xs", "a.x", "a._x", "b._y", "xs[0]", "a[n]", "xs[k]", "k", "(p, q)")
VALUES = (
    "1", "a", "b", "m", "k", "xs", "xs[0]", "xs[5]", "a()", "b(2)", "(m := 5)", "[a, k]", "a.p",
    "n + k", "lambda: n", "(1 if flag else 2)", "xs.pop()", "MISSING", "not flag",
    "(q for q in xs)", "b == a",
)  # fmt: skip
CLASSES = (
    "Odd", "Even", "KeyError", "ValueError", "LookupError", "TypeError", "MISSING", "m.C", "a.p",
    "b()", "int", "str", "(Odd, Even)", "type(a)", "(z := Odd)",
)  # fmt: skip
DEFAULTS = (
    "1",
    "[]",
    "a",
    "a()",
    "b.p",
    "MISSING",
    "(m := 2)",
    "m",
    "xs.pop()",
    "lambda: 1",
    "{n}",
    "not flag",
)
FACTS = """\
def f(a, b, n):
    k, flag, text, xs = 2, True, "s", [4, 5]
    if n:
        m = 9
"""


def operands(rng: Random) -> str:
    word = rng.choice([" and ", " or "])
    # Most programs have more operands that may move.
    pool = OPERANDS[:7] if rng.random() < 0.9 else OPERANDS
    joined = word.join(rng.choices(pool, k=rng.randint(2, 4)))
    form = rng.choice(
        ["    if {}: return 1, k\n", "    return {}, k, xs\n", "    return [1 if ({}) else 2, xs]\n"]
    )
    return FACTS + form.format(joined) + "    return 3\n"


def targets(rng: Random) -> str:
    count = rng.randint(2, 3)
    chosen = rng.sample(TARGETS, count) if rng.random() < 0.8 else rng.choices(TARGETS, k=count)
    if rng.random() < 0.5:
        line = " = ".join([*chosen, rng.choice([*VALUES, "(a, b)"])])
    else:
        line = f"{', '.join(chosen)} = {', '.join(rng.choices(VALUES, k=count))}"
    shown = "print([told(v) for v in (p, q, m, a, k, xs, a._x)])"
    return f"{FACTS}    p = q = m = 0\n    try:\n        {line}\n    finally:\n        {shown}\n    return told(xs)\n"


def classes(rng: Random) -> str:
    chosen = ", ".join(rng.choices(CLASSES, k=rng.randint(2, 4)))
    if rng.random() < 0.5:
        test = rng.choice(["isinstance", "issubclass"])
        return f"{FACTS}    return {test}({rng.choice('abn')}, ({chosen})), k\n"
    error = rng.choice(["KeyError(1)", "Even()", "Odd()", "UnicodeError()", "OSError()"])
    caught = f"    except ({chosen}) as e:\n        return type(e).__name__\n"
    return f"{FACTS}    try:\n        raise {error}\n{caught}"


def parameters(rng: Random) -> str:
    names = rng.sample(["p", "q", "r", "s"], rng.randint(2, 4))
    parts = [
        name
        + rng.choice(
            ["", f"={rng.choice(DEFAULTS)}", f": int = {rng.choice(DEFAULTS)}", f": {rng.choice(VALUES)}"]
        )
        for name in names
    ]
    shown = ", ".join(f"repr({name})[:9]" for name in sorted(names))
    # That a global exists is assumed where no `try` tests it.
    parts = [part.replace("MISSING", "LIMIT") for part in parts]
    # The text of a TypeError for several missing arguments is not promised, so none is missing.
    filled = ", ".join(f"{name}={number}" for number, name in enumerate(sorted(names)))
    return f"{FACTS}    def g(*, {', '.join(parts)}): return {shown}\n    return type(g({filled}))\n"


@pytest.mark.slow
@pytest.mark.thinned(4)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("rule", "make", "least"),
    [
        pytest.param(REORDER_OPERANDS, operands, 1, id="operands"),
        pytest.param(REORDER_TARGETS, targets, 2, id="targets"),
        pytest.param(REORDER_ITEMS, classes, 1, id="classes"),
        pytest.param(REORDER_KEYWORD_ONLY, parameters, 2, id="parameters"),
    ],
)
def test_random_statements_behave_as_before(rule: PythonRule, make: object, least: int, seed: int) -> None:
    assert callable(make)
    rng = Random(f"{rule.name} {seed}")
    applied = 0
    for _ in range(15):
        source = HEAD + make(rng)
        try:
            compile(source, "<program>", "exec")
        except SyntaxError:
            continue
        applied += agrees(rule, source, *CALLS)
    assert applied >= least

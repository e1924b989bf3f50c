"""Programs that put every operator between operands of every shape, and objects whose methods answer oddly.

An engine that knows what an expression gives must know it of these: an ordering of tuples gives what the items'
`__lt__` gives, `"%s" % x` the very object that `x.__str__` gives, and any of these methods may count how often
it is asked, or raise.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from typing import Any, Final

from tests.support.compiled import compiled

CLASSES: Final = """\
TOLD = []
class Text(str):
    pass
class Odd:
    def __init__(self, name, answer):
        self.name, self.answer = name, answer
    def ask(self, what):
        TOLD.append((self.name, what))
        if self.answer == "defers":
            return NotImplemented
        if self.answer == "raises":
            raise KeyError(self.name, what)
        if self.answer == "tuples":
            return (1, self.name)
        if self.answer == "texts":
            return Text(what)
        if self.answer == "numbers":
            return 2
        return Odd(self.name + "." + what, self.answer)
    def __bool__(self):
        TOLD.append((self.name, "bool"))
        if self.answer == "arrays":
            raise ValueError("ambiguous")
        return self.answer != "empty"
    def text(self, what):
        TOLD.append((self.name, what))
        if self.answer == "raises":
            raise KeyError(self.name, what)
        return Text("odd") if self.answer == "texts" else "odd"
    def __str__(self): return self.text("str")
    def __repr__(self): return self.text("repr")
    def __format__(self, spec): return self.text("format " + spec)
    def __hash__(self):
        TOLD.append((self.name, "hash"))
        return 1
    def __iter__(self):
        TOLD.append((self.name, "iter"))
        return iter([Odd(self.name + "[0]", self.answer), 1])
    def __contains__(self, item): return self.ask("contains")
    def __eq__(self, other): return self.ask("eq")
    def __ne__(self, other): return self.ask("ne")
    def __lt__(self, other): return self.ask("lt")
    def __le__(self, other): return self.ask("le")
    def __gt__(self, other): return self.ask("gt")
    def __ge__(self, other): return self.ask("ge")
    def __neg__(self): return self.ask("neg")
    def __invert__(self): return self.ask("invert")
"""
_ARITHMETIC: Final = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
PRELUDE: Final = CLASSES + "".join(
    f"    def __{kind}{name}__(self, other): return self.ask('{kind}{name}')\n"
    for name in _ARITHMETIC.values()
    for kind in ("", "r", "i")
)
"""The class of the odd objects, and the log of what is asked of them."""

_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")
ANSWERS: Final = ("odd", "empty", "arrays", "tuples", "texts", "numbers", "defers", "raises")
ORDERS: Final = ("<", "<=", ">", ">=", "==", "!=", "in", "not in", "is", "is not")
OPERATORS: Final = (*ORDERS, *_ARITHMETIC, "and", "or", "< 3 <", "< b <", "== a ==", "if a else")

GROUPS: Final = (
    ("(1, 2)", "((1,), 2)", "t", "r", "(a, 1)", "(b, 2)", "(1, a)", "((a,), 1)", "((b,), 1)", "(*c, a)", "tuple(c)",
     "max((a,), (b,))", "(a and 1)", "(1 or a)", "(n, [1])", "('x', *t)", "(None, 1)", "((1, 2), (b,))"),
    ("[1]", "l", "i", "[a]", "[b, 'x']", "[(b, a)]", "[*c]", "[z for z in c]", "list(c)", "l[:1]", "sorted(l)", "[[1]]",
     "[1, *r]", "[[b], 1]"),
    ("{1, 2}", "e", "{a}", "{*c}", "{z for z in c}", "{1: a}.keys()", "set(c)", "{'k', b}", "{*r}"),
    ("{'k': 1}", "d", "{a: 1}", "{'k': b}", "{**d}", "{z: a for z in c}", "dict(k=a)", "{1: {2: b}}"),
    ("'ab'", "'%s'", "'%s %s'", "s", "q", "f'{a}'", "f'{a}{b}'", "f'{a!r:>5}'", "f'{n:{a}}'", "str(a)", "repr(b)",
     "'%s' % a", "'%s' % (a,)", "'x%s' % a", "'%s' % t", "''.join(l)", "'{}'.format(a)", "s.upper()", "s[n]", "f'{n}'"),
    ("1", "0", "2.5", "True", "n", "x", "-n", "len(t)", "abs(n)", "sum(l)", "not a", "p", "bool(a)", "hash(s)", "n / 2",
     "n in c", "a is b", "n < x", "(a, 1) == (b, 1)", "min(n, 4)"),
    ("a", "b", "c", "v", "-a", "a.name", "t[0]", "(a if b else 1)", "min(a, b)", "(w := a)", "(a, 1) < (b, 2)",
     "[a] >= [b]", "(a < b)", "l < [b]", "t <= t", "{a} < {b}", "d == {'k': b}", "(1, (a, 2)) > (1, (b, 2))", "g"),
    ("None", "...", "b'x%s'", "range(2)", "(lambda: a)", "(z for z in c)", "type(a)", "int", "h"),
)  # fmt: skip
"""Expressions over the parameters `a`, `b`, `c` and `VARIABLES`. Those of a group often fit together."""
SHAPES: Final = tuple(shape for group in GROUPS for shape in group)

VARIABLES: Final = {
    "n": "3", "x": "2.5", "s": "'text'", "q": "'%s'", "t": "(a, b)", "l": "[a]", "d": "{'k': a}", "e": "{1, 2}",
    "r": "(1, 2)", "i": "[1, 'x']", "p": "not a", "v": "(a, 1) < (b, 1)",
    "g": "[a] > [b]", "h": "(1, 2) < (2, 1)",
}  # fmt: skip
"""Variables of the functions, bound where they are mentioned."""

USES: Final = (
    "return {E}",
    "o = {E}\n    return o",
    "o = {E}\n    return not not o",
    "return not {E}",
    "return not ({E} and {F})",
    "return not {E} or not {F}",
    "o = {E}\n    return not (o or n)",
    "o = {E} and {F}\n    return o",
    "o = {E} or {F}\n    return o and 1",
    "if {E} and {F}:\n        return 1",
    "o = {E}\n    m = {F}\n    if o and m:\n        return 1\n    return p and o",
    "if {E}:\n        return 1\n    elif {F}:\n        return 2",
    "while not {E}:\n        return 1",
    "return 1 if {E} else {F}",
    "if {E}:\n        if {F}:\n            return 1",
    "o = {E}\n    if not o:\n        return 1\n    else:\n        return {F}",
    "o = {E}\n    o += 1\n    return o",
    "o = {E}\n    o %= {F}\n    return o",
    "o = {E}\n    o = o + {F}\n    return o",
    "o = {E}\n    o *= 2\n    return o",
    "return '%s' % {E}",
    "o = {E}\n    return '%s-%s' % (o, {F})",
    "o = {E}\n    return '<%s>' % o",
    "return f'{{{E}}}'",
    "o = {E}\n    return f'{{o}}{{n}}'",
    "o = {E}\n    return f'{{o}}'",
    "return 'x' + ({E}) + s",
    "return '{{}} {{}}'.format({E}, {F})",
    "return (o := {E}) == ({F})",
    "o = {E}\n    m = {F}\n    return o < m and m < n",
    "o = {E}\n    return o == 1",
    "o = {E}\n    return not o < n",
    "return n < 4 and ({E}) < ({F})",
    "o = {E}\n    return 1 in (o, {F})",
    "o = {E}\n    o = 1\n    return o",
    "o = {E}\n    m = {F}\n    return o, m",
    "o = {E}\n    TOLD.append('between')\n    m = {F}\n    return o, m",
    "o = {E}\n    m = not o\n    k = f'{{o}}'\n    TOLD.append('after')\n    return m, k",
    "o = m = {E}\n    return o, m",
    "o, m = {E}, {F}\n    return o, m",
    "o = {E}\n    if o == 1:\n        return 1\n    elif o == 'ab':\n        return 2\n    elif o == 2.5:\n        return 3",
    "match {E}:\n        case 1 | 'ab':\n            return 1\n        case 2:\n            return 2\n        case (1, 2):\n            return 3",
    "for j in {E}:\n        TOLD.append('item')\n    return n",
    "for j in range(len(t)):\n        o = {E}\n        if o:\n            return j\n    return n",
    "o = [{E}, {F}]\n    return [j for j in o if j and p]",
    "assert {E}, {F}",
    "return {{{E}: 1, 'k': 2}}",
    "return a.name in ({E}, 'x', {F})",
    "return isinstance({E}, (int, str)) and {F}",
    "return {E} + 0 == n",
)
"""Statements around two expressions."""


def expression(rng: Random, operator: str) -> str:
    """An operator between two operands; one time in five, one of them holds an operator itself."""
    left, right = rng.choice(SHAPES), rng.choice(SHAPES)
    # Most values of different types raise at once.
    if rng.random() < 0.7:
        group = rng.choice(GROUPS)
        left, right = rng.choice(GROUPS[4] if operator == "%" else group), rng.choice(group)
    if rng.random() < 0.2:
        left = f"({left} {rng.choice(ORDERS)} {rng.choice(SHAPES)})"
    return f"(({left}) {operator} ({right}))"


def functions(rng: Random, operator: str, count: int) -> str:
    """A text of so many functions `f0(a, b, c)`, `f1(a, b, c)` and so on."""
    texts = list[str]()
    while len(texts) < count:
        other = rng.choice((operator, rng.choice(OPERATORS), "and"))
        body = rng.choice(USES).format(E=expression(rng, operator), F=expression(rng, other))
        words = set(re.findall(r"\w+", body))
        bound = "".join(f"    {name} = {value}\n" for name, value in VARIABLES.items() if name in words)
        text = f"def f{len(texts)}(a, b, c):\n{bound}    {body}\n"
        if _compiles(text):
            texts.append(text)
    return "".join(texts)


def calls(rng: Random, count: int) -> Sequence[tuple[str, str, str]]:
    """Texts of the three arguments of so many calls."""
    odd = [f"Odd('{{}}', '{answer}')" for answer in ANSWERS]
    plain = ["1", "2.5", "'ab'", "(1, 'x')", "[1]", "True", "None"]
    every = [(rng.choice(odd * 2 + plain), rng.choice(odd * 2 + plain)) for _ in range(count)]
    last = ["[{}, 1]", "({},)", "{{{}}}", "{}"]
    return [
        (one.format("a"), other.format("b"), rng.choice(last).format(rng.choice(odd).format("c")))
        for one, other in every
    ]


def behaviour(text: str, arguments: Sequence[tuple[str, str, str]], *, told: bool = True) -> Sequence[object]:
    """What each function of a text does with each of these arguments: its result or error, and with `told`
    what the objects were asked. The text defines the class, or is given it.
    """
    space: dict[str, Any] = {"__name__": "odd"}
    seen: list[object] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "class Odd" not in text:
            exec(compiled(PRELUDE), space)
        exec(compiled(text), space)
        names = sorted(name for name in space if name[0] == "f" and name[1:].isdigit())
        for name, given in product(names, arguments):
            values = eval(f"[{', '.join(given)}]", space)
            space["TOLD"].clear()
            try:
                result = describe(space[name](*values))
            except Exception as error:
                result = type(error).__name__, describe(error.args)
            seen.append((name, given, result, list(space["TOLD"]) if told else None))
    return seen


def describe(value: object) -> object:
    """What a value is, told by types and texts, with nothing asked of it."""
    kind = type(value)
    if kind in (tuple, list):
        return kind.__name__, [describe(item) for item in value]  # type: ignore[attr-defined]
    if kind is dict:
        return kind.__name__, [(describe(key), describe(item)) for key, item in value.items()]  # type: ignore[attr-defined]
    if kind in (bool, int, float, bytes, str, type(None), type(...), range, complex):
        return kind.__name__, _ADDRESS.sub("", repr(value))
    if kind.__name__ == "Odd":
        return "Odd", value.name  # type: ignore[attr-defined]
    return (kind.__name__, str.__str__(value)) if isinstance(value, str) else kind.__name__


def differing(before: Sequence[object], after: Sequence[object]) -> Iterator[tuple[object, object]]:
    """The runs that differ."""
    return ((one, other) for one, other in zip(before, after, strict=True) if one != other)


def _compiles(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled(text)
    except SyntaxError:
        return False
    return True

"""Small random programs that really have effects: a grammar of our own for Python functions.

A program is one function `f(a, b, c=2, d=3)` and runs behind `PRELUDE`, which gives it a log, calls that
tell the log, objects whose attributes, operators, iteration and truth tell the log, functions that raise,
a context manager, modules that act when they are imported, and `section`, which reads the program's own
text. Variables keep a kind (most of the time), so that most programs run far. `constructs` holds the pieces
whose statements act on one another.
"""

from collections.abc import Callable
from random import Random

from tests.support.constructs import CONSTRUCTS, preface

INPUTS = ("(0, 1)", "(2, 0)", "(3, 5, 1, 4)", "(-1, 2, 0)")

PRELUDE = '''\
import builtins, collections, functools, itertools, math, operator, re, sys
from importlib.machinery import ModuleSpec
G = 0
log = []
registry = []
def trace(value):
    log.append(("trace", value))
    return value
def bump():
    global G
    G += 1
    log.append(("bump", G))
    return G
def fail(value):
    log.append(("fail", value))
    raise ValueError(value)
def call(function, *arguments):
    return function(*arguments) if callable(function) else function
def named(x=0, y=0, *, z=0):
    log.append(("named", x, y, z))
    return x - y
class Guard:
    def __init__(self, name, swallow=False):
        self.name, self.swallow = name, swallow
        log.append(("guard", name))
    def __enter__(self):
        log.append(("enter", self.name))
        return self.name
    def __exit__(self, kind, error, trace):
        log.append(("exit", self.name, kind and kind.__name__))
        return self.swallow
class Op:
    """Everything that is done to it is told."""
    def __init__(self, n): self.n = n
    def _tell(self, what, other, value):
        log.append((what, self.n, other.n if isinstance(other, Op) else other))
        return value
    def __add__(self, other): return self._tell("add", other, Op(self.n + 1))
    def __radd__(self, other): return self._tell("radd", other, Op(self.n + 2))
    def __iadd__(self, other):
        self.n += 3
        return self._tell("iadd", other, self)
    def __sub__(self, other): return self._tell("sub", other, 7)
    def __mul__(self, other): return self._tell("mul", other, Op(self.n * 2))
    def __rmul__(self, other): return self._tell("rmul", other, 5)
    def __neg__(self): return self._tell("neg", None, Op(-self.n))
    def __eq__(self, other): return self._tell("eq", other, isinstance(other, Op) and self.n == other.n)
    def __ne__(self, other): return self._tell("ne", other, "unlike")
    def __lt__(self, other): return self._tell("lt", other, self.n < 2)
    def __gt__(self, other): return self._tell("gt", other, self.n > 0)
    def __le__(self, other): return self._tell("le", other, Op(self.n))
    def __ge__(self, other): return self._tell("ge", other, 0)
    def __bool__(self): return self._tell("bool", None, self.n % 2 == 0)
    def __len__(self): return self._tell("len", None, 2)
    def __contains__(self, item): return self._tell("contains", item, True)
    def __getitem__(self, key): return self._tell("item", key if isinstance(key, int) else None, self.n)
    def __setitem__(self, key, value): self._tell("set item", key if isinstance(key, int) else None, None)
    def __iter__(self):
        for step in range(2):
            log.append(("next", self.n, step))
            yield self.n + step
    def __format__(self, spec): return self._tell("format", spec, f"op{self.n}")
    def __str__(self): return self._tell("str", None, f"Op {self.n}")
    def __repr__(self): return f"Op({self.n})"
    def __hash__(self): return self.n
    def __call__(self, *arguments): return self._tell("call", len(arguments), self.n)
class Thing:
    def __init__(self): self.v, self.items = 1, []
    @property
    def p(self):
        log.append("get p")
        return len(log) % 5
    @p.setter
    def p(self, value): log.append(("set p", value))
    def method(self, value=0):
        log.append(("method", value))
        return value
class Dropped:
    def __init__(self, n): self.n = n
    def __del__(self): log.append(("dropped", self.n))
    def __repr__(self): return f"Thing({self.v})"
class Source:
    """Acts when somebody asks it for items or for a number."""
    def __init__(self): self.pos, self._kept = 0, 1
    def _step(self):
        global G
        G += 1
        self.pos += 1
        return self.pos
    def __iter__(self): return iter([self._step(), 1])
    def __int__(self): return self._step()
    def __index__(self): return self._step()
    def __float__(self): return float(self._step())
    def __repr__(self): return f"Source({self.pos})"
class Told:
    """A descriptor that tells who uses it."""
    def __init__(self, name): self.name = name
    def __get__(self, one, kind=None):
        log.append(("get", self.name))
        return one.__dict__.get(self.name, 1) if one is not None else self
    def __set__(self, one, value):
        log.append(("set", self.name))
        one.__dict__[self.name] = value
    def __delete__(self, one):
        log.append(("delete", self.name))
        del one.__dict__[self.name]
class Cached:
    """A descriptor without `__set__`, which keeps what it computed."""
    def __get__(self, one, kind=None):
        log.append("late")
        one.__dict__["late"] = 8
        return 8
class Slots:
    size, other, late = Told("size"), Told("other"), Cached()
    def __getattr__(self, name):
        log.append(("getattr", name))
        raise AttributeError(name)
    def __setattr__(self, name, value):
        log.append(("setattr", name))
        object.__setattr__(self, name, value)
    def __getitem__(self, key):
        if key == 3: raise IndexError(key)
        log.append(("item", key))
        return key
    def __setitem__(self, key, value): bump()
    def __enter__(self): return bump()
    def __exit__(self, *error): bump()
    def __int__(self): return bump()
    def __index__(self): return bump()
    def __call__(self, *arguments): return bump()
    def __repr__(self): return "Slots()"
class Trap:
    @property
    def bad(self): raise ValueError("bad")
    @bad.setter
    def bad(self, value): raise KeyError(value)
    def __getattr__(self, name): raise LookupError(name)
    def __bool__(self): raise TypeError("bool")
    def __repr__(self): return "Trap()"
class Box:
    """Keeps what it is given."""
    def __init__(self): self.kept = []
    def extend(self, items): self.kept = items
    update = extend
class Text(str):
    def __add__(self, other):
        log.append("text add")
        return Text(str.__add__(self, str(other)).upper())
    def __radd__(self, other):
        log.append("text radd")
        return Text(other + "~" + str.__str__(self))
    def __format__(self, spec): return str.__format__(self, spec) + "?"
    def upper(self): return Text("UP")
    def __mul__(self, count): return "times"
    def __eq__(self, other):
        log.append("text eq")
        return str.__eq__(self, other)
    __hash__ = str.__hash__
class Echo:
    def __str__(self): return Text("ec")
    def __format__(self, spec): return Text("fo")
class Plugs:
    """Finds modules that act when they are imported."""
    @staticmethod
    def find_spec(name, path=None, target=None):
        return ModuleSpec(name, Plugs) if name in ("plug", "gear") else None
    @staticmethod
    def create_module(spec): return None
    @staticmethod
    def exec_module(module):
        global G
        G += 1
        registry.append(module.__name__)
        module.value = len(registry)
def install():
    for name in ("plug", "gear"): sys.modules.pop(name, None)
    sys.meta_path[:] = [*(one for one in sys.meta_path if getattr(one, "__name__", "") != "Plugs"), Plugs]
install()
def anything(*values, **named):
    log.append(("anything", shown(values), shown(list(named.items()))))
    return len(values)
def show(*values):
    for value in values: log.append(("show", shown(value)))
def shown(value):
    """A value as a text, now: closures are called and iterators exhausted."""
    if isinstance(value, type) or type(value).__name__ in ("Thing", "Op", "Source", "Slots", "Trap", "Text"):
        return repr(value)
    if isinstance(value, Box): return shown(value.kept)
    if isinstance(value, NameError): return type(value).__name__  # its text holds a name
    if isinstance(value, BaseException): return f"{type(value).__name__}{shown(value.args)}"
    if callable(value): return f"called {shown(value())}"
    if isinstance(value, dict): return f"{type(value).__name__}{shown(list(value.items()))}"
    if isinstance(value, (list, tuple, collections.deque)) or hasattr(type(value), "__next__"):
        return f"{type(value).__name__}[{', '.join(shown(one) for one in itertools.islice(value, 9))}]"
    return repr(value) if type(value).__module__ == "builtins" else sorted(map(shown, vars(value)))
def own_text(): return getattr(re, "_own_text", "")
def section(name):
    """The modules that a section of the program's own text imports."""
    inside, found = False, set()
    for line in map(str.strip, own_text().splitlines()):
        if line.startswith("###"): inside = line == "###{" + name
        elif inside: found.update(re.findall(r"(?:^|; *)(?:import|from) +(\\w+)", line))
    return sorted(found)
thing, trap = Thing(), Trap()
'''

HEAD = """\
    xs, ys = [1, 2, 3], [a, b]
    dd = {"k": 1, "j": b}
    s, t = "ab", str(a)
    o, p = Thing(), Op(b)
"""

INTEGERS, LISTS, TEXTS = "abcdeg", ("xs", "ys"), "st"


def module(function: str) -> str:
    """A program as it runs."""
    return PRELUDE + function


def program(rng: Random, *, size: int = 5, lifetimes: bool = False) -> str:
    """The text of a function; always valid Python.

    With `lifetimes` some objects tell when they are dropped.
    """
    while True:
        text = Grammar(rng, size, lifetimes).function()
        try:
            compile(text, "<program>", "exec")
        except SyntaxError:  # such as a nonlocal for a name that is used before
            continue
        return text


class Grammar:
    """Draws the pieces of one program."""

    def __init__(self, rng: Random, size: int, lifetimes: bool) -> None:
        self.rng = rng
        self.size = size
        self.lifetimes = lifetimes
        self.fresh = 0

    def pick(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def name(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def function(self) -> str:
        body = self.block(0, loop=False, length=self.rng.randint(2, self.size))
        doc = ['"""Text."""'] if self.chance(0.15) else []
        ending = [
            self.pick(
                "return a, b, c, d, xs, ys, dd, s, t, o, p",
                "return a, b, xs, s",
                "return [a, b, *xs], dd",
                "return c",
            )
        ]
        header = "def f(a, b, c=2, d=3):\n" + "".join(f"    {line}\n" for line in doc)
        head = HEAD + f"    e = g = h = {self.rng.randrange(3)}\n"
        above, uses = preface(self) if self.chance(0.3) else ([], [])
        text = header + head + "".join(f"    {line}\n" for line in [*body, *uses, *ending])
        return "".join(f"{line}\n" for line in above) + text

    # ── expressions ───────────────────────────────────────────────────────────────────────────────────────

    def integer(self, depth: int = 0) -> str:
        rng = self.rng
        if depth > 2 or self.chance(0.4):
            return self.pick(
                *INTEGERS, *INTEGERS, str(rng.randrange(5)), str(rng.randrange(200)), "G", "True"
            )
        one = lambda: self.integer(depth + 1)  # noqa: E731
        return rng.choice(
            [
                lambda: f"{one()} {self.pick('+', '-', '*', '&', '|', '^')} {one()}",
                lambda: f"({one()} {self.pick('+', '-')} {one()}) {self.pick('*', '//', '%')} {self.pick('2', '3', one())}",
                lambda: f"trace({one()})",
                lambda: f"trace({one()}) {self.pick('+', '-')} trace({one()})",
                lambda: f"len({self.pick(*LISTS, 's', 'dd', 'p')})",
                lambda: f"xs[{self.pick('0', '-1', one())}]",
                lambda: f"{one()} if {self.boolean(depth + 1)} else {one()}",
                lambda: f"({one()} if {self.boolean(depth + 1)} else {one()})",
                lambda: self.pick("o.v", "o.p", "thing.p", "o.method()", f"o.method({one()})"),
                lambda: f"({self.pick('e', 'w')} := {one()})",
                lambda: self.pick("sum(xs)", "max(xs)", f"min({one()}, {one()})", f"abs({one()})", f"sum({self.listing(depth + 1)})"),
                lambda: f"dd.get({self.pick(repr('k'), repr('z'))}, {one()})",
                lambda: f"(lambda q, r={one()}: q + r + a)({one()})",
                lambda: f"-{self.pick(*INTEGERS)}",
                lambda: self.pick("bump()", "p()", f"p[{one()}]", "p - 1", "int(t)", "next(iter(xs))", f"fail({one()})"),
                lambda: f"({self.boolean(depth + 1)}) + 1",
                lambda: f"named(x={one()}, y={one()})",
                lambda: f"named({one()}, z={one()}, y={one()})",
                lambda: self.pick("0x1f", "1_000", "0b11", "1e3", "10 ** 2", f"int({one()})", f"divmod({one()}, 3)[1]"),
            ]
        )()  # fmt: skip

    def boolean(self, depth: int = 0) -> str:
        rng = self.rng
        if depth > 3 or self.chance(0.2):
            return self.pick("a", "b", "xs", "s", "p", "True", "False", "a > b", "c == 2")
        one = lambda: self.integer(depth + 1)  # noqa: E731
        other = lambda: self.boolean(depth + 1)  # noqa: E731
        sign = lambda: self.pick("<", ">", "<=", ">=", "==", "!=")  # noqa: E731
        return rng.choice(
            [
                lambda: f"{one()} {sign()} {one()}",
                lambda: f"{one()} {sign()} {one()} {sign()} {one()}",
                lambda: f"trace({one()}) {sign()} trace({one()})",
                lambda: f"{other()} and {other()}",
                lambda: f"{other()} or {other()}",
                lambda: f"trace({self.pick('a', 'b', '0', 'xs[:]')}) {self.pick('and', 'or')} trace({one()})",
                lambda: f"not {self.pick('a', 'xs', 'p')}",
                lambda: f"not ({other()})",
                lambda: f"{one()} {self.pick('in', 'not in')} {self.pick(*LISTS, '(1, 2)', 'p', 'range(3)')}",
                lambda: f"{self.pick('a', 'xs', 'dd')} {self.pick('is', 'is not')} None",
                lambda: f"p {sign()} {self.pick('p', '1', one())}",
                lambda: f"{self.pick('1', 'a')} {sign()} p",
                lambda: f"{self.pick('any', 'all')}({self.pick('xs', f'trace(i) for i in {self.pick(*LISTS)}')})",
                lambda: f"isinstance({self.pick('a', 's', 'xs')}, {self.pick('int', 'str', '(int, list)')})",
                lambda: f"{self.text(depth + 1)} {self.pick('==', '!=', '<')} {self.text(depth + 1)}",
                lambda: f"bool({one()})",
                lambda: self.pick("len(xs) == 0", "len(ys) > 0", "xs == []", "a == True", "not xs == ys", "s == ''", "c is not None and c > 1"),
                lambda: f"not {one()} {sign()} {one()}",
                lambda: f"{self.pick('a', 's')} in {self.pick('{1, 2, 3}', '[0, 1]', '(a, b)', 'dd', 'dd.keys()')}",
                lambda: f"(True if {other()} else False)",
            ]
        )()  # fmt: skip

    def text(self, depth: int = 0) -> str:
        rng = self.rng
        if depth > 2 or self.chance(0.3):
            return self.pick("s", "t", "'x'", '"y z"', "''", "str(a)", "'it\\'s'", 'r"\\d"')
        one, value = (lambda: self.text(depth + 1)), (lambda: self.integer(2))
        return rng.choice(
            [
                lambda: f"{one()} + {one()}",
                lambda: f"f'{{{self.pick('a', 'b', 's', 'p', 'xs')}}}-{{{self.pick('c', 'd', 'o.v')}{self.pick('', '!r', '!s')}}}'",
                lambda: f'f"{{trace({self.pick("a", "b")})}}{{{self.pick("a", "c")}:>{rng.randrange(1, 5)}}}{{{{}}}}"',
                lambda: f"'%s/%d' % ({one()}, {value()})",
                lambda: f"'{{}}:{{}}'.format({one()}, {value()})",
                lambda: f"{self.pick('s', 't')}{self.pick('.upper()', '.strip()', '[1:]', '[::-1]', '.replace(' + repr('a') + ', ' + repr('q') + ')')}",
                lambda: f"','.join([{one()}, {one()}])",
                lambda: f"','.join(str(i) for i in {self.pick(*LISTS)})",
                lambda: f"str({value()})",
                lambda: f"{self.pick('s', repr('ab'))} * {rng.randrange(3)}",
                lambda: "'a' 'b'",
                lambda: f"({one()} if {self.boolean(3)} else {one()})",
            ]
        )()  # fmt: skip

    def listing(self, depth: int = 0) -> str:
        rng = self.rng
        if depth > 2 or self.chance(0.25):
            return self.pick("xs", "ys", "[]", "[0, 1]", "xs[:]", "list(range(3))")
        one, other = (lambda: self.integer(depth + 1)), (lambda: self.listing(depth + 1))
        i = self.pick("i", "i", "q", "a")
        return rng.choice(
            [
                lambda: f"[{one()}, {one()}]",
                lambda: f"[{one()} for {i} in {other()}]",
                lambda: f"[trace({i}) for {i} in {other()} if {self.boolean(3)}]",
                lambda: f"[{i} + j for {i} in {self.pick('range(2)', other())} for j in {self.pick('xs', 'range(2)')} if {i} != j]",
                lambda: f"{other()} + {other()}",
                lambda: f"xs[{self.pick('1:', ':2', '::2', ':-1', 'a:b')}]",
                lambda: f"sorted({other()})",
                lambda: f"sorted({other()}, key=lambda k: -k)",
                lambda: f"list(map(lambda k: k + {self.pick('1', 'a')}, {other()}))",
                lambda: f"list(filter(None, {other()}))",
                lambda: f"[*{other()}, {one()}]",
                lambda: f"list(trace({i}) for {i} in {other()})",
                lambda: f"list({self.pick('p', 'dd.values()', 'reversed(xs)', 'range(a)')})",
                lambda: f"[{i} for {i}, j in {self.pick('enumerate(xs)', 'zip(xs, ys)')}]",
            ]
        )()  # fmt: skip

    def mapping(self) -> str:
        i = self.pick("i", "k")
        return self.rng.choice(
            [
                lambda: f"{{'k': {self.integer(1)}, {self.text(2)}: {self.integer(1)}}}",
                lambda: f"{{**dd, 'm': {self.integer(1)}}}",
                lambda: f"{{str({i}): {i} for {i} in {self.pick(*LISTS)}}}",
                lambda: f"{{k: v for k, v in dd.items() if {self.pick('v', 'k != ' + repr('j'))}}}",
                lambda: f"dict(k={self.integer(1)}, j=2)",
                lambda: "{'k': 1, 'j': 2, 'l': 3}",
                lambda: f"{{'k': {self.integer(1)}, 'j': {self.integer(1)}}}",
                lambda: self.pick("dict()", "{}", "dict(zip('kj', xs))"),
            ]
        )()

    # ── statements ────────────────────────────────────────────────────────────────────────────────────────

    def block(self, depth: int, *, loop: bool, length: int | None = None) -> list[str]:
        count = length or self.rng.randint(1, 3)
        return [line for _ in range(count) for line in self.statement(depth, loop)]

    def statement(self, depth: int, loop: bool) -> list[str]:
        if loop and self.chance(0.08):
            return [self.pick("break", "continue")]
        if self.chance(0.45):
            return self.rng.choice(CONSTRUCTS)(self)
        if depth < 2 and self.chance(0.42):
            compound: list[Callable[[int, bool], list[str]]] = [
                self.branch, self.branch, self.branch, self.each, self.each, self.repeat, self.attempt,
                self.attempt, self.managed, self.nested, self.cases, self.generator, self.guarded,
                self.chain, self.handlers, self.local_class, self.helpers, self.idiom, self.idiom,
            ]  # fmt: skip
            return self.rng.choice(compound)(depth + 1, loop)
        return self.simple()

    def simple(self) -> list[str]:
        rng = self.rng
        if self.chance(0.04):
            return [
                self.pick(
                    "return a, xs",
                    "return",
                    f"raise KeyError({self.integer(2)})",
                    "return None",
                    f"return {self.integer(1)}",
                )
            ]
        if self.lifetimes and self.chance(0.1):
            return [f"{self.pick('e', 'u')} = Dropped({rng.randrange(9)})"]
        v, w = self.pick(*INTEGERS), self.pick(*INTEGERS)
        several: list[Callable[[], list[str]]] = [
            lambda: [f"{v} = {self.integer()}"],
            lambda: [f"{v} = {self.integer()}"],
            lambda: [f"{v} = {self.integer()}", f"{w} = {self.integer()}"],
            lambda: [f"{v} = {self.integer()}", f"{w} = {v} + 1"],
            lambda: [f"{v}: int = {self.integer()}"],
            lambda: [f"{v} = {w} = {self.integer()}"],
            lambda: [f"{v} {self.pick('+=', '-=', '*=', '|=')} {self.integer(1)}"],
            lambda: [f"{v}, {w} = {w}, {v}"],
            lambda: [f"{v}, {w} = {self.integer(1)}, {self.integer(1)}"],
            lambda: [f"{v}, *{self.pick(*LISTS)} = {self.listing(1)}"],
            lambda: [f"{self.pick(*LISTS)} = {self.listing()}"],
            lambda: [f"{self.pick(*LISTS)} += {self.listing(1)}"],
            lambda: [f"{self.pick(*LISTS)}.{self.pick('append', 'remove')}({self.integer(1)})"],
            lambda: [self.pick("xs.sort()", "xs.reverse()", f"ys.extend({self.listing(1)})", "xs.pop()", f"xs.insert(0, {self.integer(1)})")],
            lambda: [f"xs[{self.pick('0', '-1', v)}] = {self.integer(1)}"],
            lambda: [f"xs[{self.pick('0', 'trace(0)')}] += {self.integer(1)}"],
            lambda: [f"xs[{self.pick('1:', ':1')}] = {self.listing(1)}"],
            lambda: [f"{self.pick('s', 't')} = {self.text()}"],
            lambda: [f"{self.pick('s', 't')} += {self.text(1)}"],
            lambda: [f"dd = {self.mapping()}"],
            lambda: [f"dd[{self.text(2)}] = {self.integer(1)}"],
            lambda: [self.pick(f"dd.update({self.mapping()})", "dd.pop('k', None)", f"dd.setdefault('n', {self.integer(1)})", "del dd['k']")],
            lambda: [f"o.{self.pick('v', 'p')} = {self.integer(1)}"],
            lambda: [f"o.v {self.pick('+=', '-=')} {self.integer(1)}"],
            lambda: [f"o.items.append({self.integer(1)})"],
            lambda: [f"p = {self.pick('p + 1', '1 + p', 'Op(3)', '-p', 'p * 2', 'p + p')}"],
            lambda: [self.pick("p += 1", "p[0] = 1", "p * a", "2 * p", "p < 3", "p == p", "p and bump()")],
            lambda: [f"print({self.pick(self.integer(1), self.text(1), 'xs, s', 'p', 'dd')})"],
            lambda: [f"print({self.pick('a, b', 's')}, {self.pick('sep=' + repr('-'), 'end=' + repr(';'))})"],
            lambda: [f"log.append({self.pick(v, 'tuple(xs)', self.text(1))})"],
            lambda: [f"trace({self.pick(self.integer(1), self.boolean(1))})"],
            lambda: [f"{v} = {self.boolean()}"],
            lambda: [f"assert {self.boolean(1)}{self.pick('', ', s')}"],
            lambda: [f"{self.pick('h', 'g')} = lambda {self.pick('n=1', 'n=a')}: n + {self.pick('a', 'c', v)}", f"{v} = call(h) if b else 1"],
            lambda: [f"del {self.pick('e', 'g', 'c', 'xs[0]')}"],
            lambda: ["bump()"],
            lambda: [f"import {self.pick('math', 'json', 'math as m')}", f"from math import {self.pick('pi, tau', 'floor, ceil')}"],
            lambda: [f"{v} = {v} {self.pick('+', '-', '*')} {self.integer(1)}"],
            lambda: [f"xs = xs + {self.listing(1)}"],
            lambda: [f"log.append(sorted({{{self.integer(1)}, {rng.randrange(9)}, 3}}))"],
            lambda: [f"{v} = {rng.randrange(9)}", f"{w} = {rng.randrange(9)}", f"c = {rng.randrange(9)}"],
            lambda: ["global G", f"G = {self.integer(1)}"] if self.chance(0.1) else ["G"],
            lambda: [self.pick("pass", "...", "a", "xs", "'text'", "log")],
            lambda: [f"a, (b, c) = {self.integer(1)}, ({self.integer(1)}, 2)"],
            lambda: [f"{v} = {self.integer(1)}; {w} = {self.integer(1)}"],
            lambda: [f"{v} = ({self.integer(1)}", f"     + {self.integer(1)})  # text"],
            lambda: [f"# {self.pick('text', 'total', 'x = 1')}", f"{v} = {rng.randrange(300)}"],
        ]  # fmt: skip
        return rng.choice(several)()

    def indented(self, depth: int, loop: bool) -> list[str]:
        return ["    " + line for line in self.block(depth, loop=loop)]

    def branch(self, depth: int, loop: bool) -> list[str]:
        if self.chance(0.15):
            v = self.pick(*INTEGERS)
            return [
                f"if {self.boolean()}:",
                f"    {v} = {self.integer()}",
                "else:",
                f"    {v} = {self.integer()}",
            ]
        lines = [f"if {self.boolean()}:", *self.indented(depth, loop)]
        if self.chance(0.3):
            lines += [f"elif {self.boolean()}:", *self.indented(depth, loop)]
        if self.chance(0.55):
            lines += ["else:", *self.indented(depth, loop)]
        return lines

    def each(self, depth: int, loop: bool) -> list[str]:
        i = self.pick("i", "i", "a", "n")
        heads = [
            f"for {i} in range({self.pick('3', 'a', '1, 4', '4, 0, -2', 'len(xs)', 'trace(2)')}):",
            f"for {i} in {self.listing(1)}:",
            f"for {i}, j in enumerate({self.listing(1)}):",
            f"for {i}, j in zip(xs, {self.listing(1)}):",
            f"for {i}, j in dd.items():",
            f"for {i} in {self.pick('p', 's', 'dd', '(1, 2)', 'sorted(dd)', 'xs[:]')}:",
            f"for {i} in range(len(xs)):",
        ]
        body = self.indented(depth, True)
        # A list that grows while it is read would never end.
        if any(map(_grows, body)):
            heads = [
                f"for {i} in {self.pick('range(3)', '(1, 2)', 'sorted(dd)', 'xs[:]', 'list(ys)', 'range(len(xs))')}:"
            ]
        lines = [self.rng.choice(heads), *body]
        return [*lines, "else:", *self.indented(depth, loop)] if self.chance(0.2) else lines

    def repeat(self, depth: int, loop: bool) -> list[str]:
        k = self.name("k")
        body = self.indented(depth, True)
        condition = self.pick(
            f"{k} < 3", f"{k} < 3 and ({self.boolean(2)})", f"{k} < trace(2)", f"not {k} >= 2"
        )
        lines = [f"{k} = 0", f"while {condition}:", f"    {k} += 1", *body]
        return [*lines, "else:", *self.indented(depth, loop)] if self.chance(0.2) else lines

    def attempt(self, depth: int, loop: bool) -> list[str]:
        lines = ["try:", *self.indented(depth, loop)]
        if self.chance(0.8):
            kind = self.pick(
                "ValueError", "ZeroDivisionError", "Exception", "(TypeError, KeyError)", "IndexError"
            )
            name = self.pick("", " as error")
            lines += [f"except {kind}{name}:", *self.indented(depth, loop)]
            if name and self.chance(0.5):
                lines += ["    log.append(type(error).__name__)"]
            if self.chance(0.3):
                lines += ["except Exception:", *self.indented(depth, loop)] if kind != "Exception" else []
            if self.chance(0.3):
                lines += ["else:", *self.indented(depth, loop)]
            if self.chance(0.7):
                return lines
        return [*lines, "finally:", *self.indented(depth, False)]

    def managed(self, depth: int, loop: bool) -> list[str]:
        name = self.pick("", " as w", " as s")
        swallow = self.pick("", ", swallow=True")
        more = self.pick("", "", ", Guard('y')")
        return [f"with Guard('x'{swallow}){name}{more}:", *self.indented(depth, loop)]

    def nested(self, depth: int, loop: bool) -> list[str]:
        inner = self.name("inner")
        arguments = self.pick("", "n=1", "n, m=2", "*rest", "n=a")
        given = {"": "", "n=1": "", "n, m=2": self.integer(2), "*rest": "a, b", "n=a": "3"}[arguments]
        outer = self.pick("nonlocal a", "nonlocal b, c", "c = 1", "x = a + d")
        change = (
            "    a += 1"
            if outer.endswith(" a")
            else "    b = c = 9"
            if outer.startswith("nonlocal")
            else "    bump()"
        )
        end = self.pick("return a", "return b + d", "return xs", "xs.append(1)", "return None")
        use = self.pick(
            f"e = {inner}({given})", f"trace({inner}({given}))", f"log.append({inner}({given}))", ""
        )
        lines = [f"def {inner}({arguments}):", f"    {outer}", change, f"    {end}"]
        return [*lines, use] if use else lines

    def generator(self, depth: int, loop: bool) -> list[str]:
        name = self.name("gen")
        value = self.pick("i", "i * 2", "trace(i)", "(i, a)")
        lines = [
            f"def {name}(n):",
            f"    for i in {self.pick('range(n)', 'xs')}:",
            f"        {self.pick('bump()', 'log.append(i)', 'if i == 1: continue')}",
            f"        yield {value}",
            f"    {self.pick('yield from ys', 'return', 'yield a')}",
        ]
        return [
            *lines,
            self.pick(
                f"ys = list({name}(2))",
                f"e = next({name}(3), 0)",
                f"for i in {name}(2): trace(i)",
                f"log.append(sum(1 for _ in {name}(2)))",
            ),
        ]

    def cases(self, depth: int, loop: bool) -> list[str]:
        subject = self.pick("a", "xs", "dd", "(a, b)", "trace(b)", "p", "s")
        pattern = self.pick(
            "0",
            "1 | 2",
            "[x, *rest]",
            "{'k': v}",
            "(0, y)",
            "int(x) if x > 1",
            "'ab'",
            "Thing(v=1)",
            "[1, 2, *_]",
            "str()",
        )
        lines = [
            f"match {subject}:",
            f"    case {pattern}:",
            *("    " + line for line in self.indented(depth, loop)),
        ]
        if self.chance(0.7):
            lines += [
                f"    case {self.pick('_', 'other')}:",
                *("    " + line for line in self.indented(depth, loop)),
            ]
        return lines

    def chain(self, depth: int, loop: bool) -> list[str]:
        v, step = self.pick(*INTEGERS), self.rng.randrange(1, 3)
        lines = []
        for place in range(self.rng.randint(2, 3)):
            lines += [f"{'elif' if place else 'if'} {v} == {place * step}:", *self.indented(depth, loop)]
        return [*lines, "else:", *self.indented(depth, loop)] if self.chance(0.5) else lines

    def handlers(self, depth: int, loop: bool) -> list[str]:
        kinds = self.rng.sample(
            ["ValueError", "KeyError", "TypeError", "IndexError", "ArithmeticError", "LookupError"], 2
        )
        lines = ["try:", *self.indented(depth, loop)]
        for kind in kinds:
            lines += [f"except {kind}:", *self.indented(depth, loop)]
        return lines

    def local_class(self, depth: int, loop: bool) -> list[str]:
        name = self.name("Local")
        return [
            f"class {name}:",
            f"    kind = {self.pick('a', 'trace(1)', '3')}",
            f"    def first(self, n={self.pick('1', 'b')}): return {self.pick('n', 'self.kind', 'trace(n)')}",
            "    def second(self):",
            f"        self.w = {self.pick('c', 'self.first()')}",
            f"        return {self.pick('self.w', 'bump()')}",
            self.pick(
                f"e = {name}().first()",
                f"trace({name}().second())",
                f"o = {name}()",
                f"log.append({name}.kind)",
            ),
        ]

    def helpers(self, depth: int, loop: bool) -> list[str]:
        one, other = self.name("helper"), self.name("helper")
        lines = [
            f"def {one}(n):",
            f"    return {self.pick('n + a', 'trace(n)', f'{other}(n - 1) if n > 0 else c')}",
            f"def {other}(n, k=0):",
            f"    return {self.pick('n - k', 'bump()', 'n * 2')}",
        ]
        return [
            *lines,
            f"{self.pick(*INTEGERS)} = {one}({self.integer(2)}) - {other}({self.pick('1', '1, k=2', 'b, 3')})",
        ]

    def idiom(self, depth: int, loop: bool) -> list[str]:
        """Shapes that have a well-known other form."""
        v, k = self.pick(*INTEGERS), self.name("k")
        value, test, many = self.integer(1), self.boolean(1), self.listing(1)
        return self.rng.choice(
            [
                [f"{k} = 0", "while True:", f"    {k} += 1", f"    if {k} > 2: break", *self.indented(depth, True)],
                [f"for i in range(len({many})):", f"    trace(({many})[i])"],
                [f"if {test}:", f"    if {self.boolean(1)}:", f"        {v} = {value}"],
                [f"if {test} and {self.boolean(1)}:", f"    {v} = {value}"],
                [f"if {test}:", "    pass", "else:", f"    {v} = {value}"],
                [f"if {test}:", f"    {v} = True", "else:", f"    {v} = False"],
                [f"{v} = {value} if {test} else {self.integer(1)}"],
                [f"{k} = {{}}", f"for i in {many}:", f"    {k}[str(i)] = {value}", f"log.append(list({k}.items()))"],
                [f"{k} = ''", f"for i in {many}:", f"    {k} += str(i)", f"trace({k})"],
                [f"def {k}(n): return n + {value}", f"{v} = {k}(1)"],
                [f"{k} = lambda n: n + {value}", f"{v} = {k}(1)"],
                ["try:", f"    {v} = {value}", "except Exception:", "    pass"],
                [f"for i, j in zip(range(3), {many}):", "    if j: continue", "    trace(i)"],
                [f"for i in {many}:", f"    if {self.boolean(2)}:", "        trace(i)", "        break", "else:", "    bump()"],
                [f"{k} = iter({many})", f"for i in {k}:", f"    trace((i, next({k}, None)))"],
                [f"{k} = {value}", f"{v} = {k} * 2"],
                [f"{k} = trace({value})", f"{v} = trace({v}) + {k}"],
                [f"with Guard('{k}'):", f"    {v} = {value}", "    bump()"],
                [f"if {test}: return {value}", f"{v} = {self.integer(1)}"],
                [f"for i in sorted({many}):", "    for j in xs:", "        if i == j: break", "    else:", "        continue", "    trace(i)"],
            ]
        )  # fmt: skip

    def guarded(self, depth: int, loop: bool) -> list[str]:
        """Shapes that rewritings look for: returns in both branches, flags, accumulations."""
        v = self.pick(*INTEGERS)
        found = self.name("found")
        return self.rng.choice(
            [
                [f"if {self.boolean(1)}:", f"    return {self.integer(1)}"],
                [f"if {self.boolean(1)}:", f"    if {self.boolean(1)}:", f"        {v} = {self.integer(1)}"],
                [f"{found} = []", f"for i in {self.listing(1)}:", f"    {found}.append({self.integer(1)})", f"log.append(tuple({found}))"],
                [f"{found} = 0", f"for i in {self.listing(1)}:", f"    if {self.boolean(2)}:", f"        {found} += i", f"trace({found})"],
                [f"{found} = False", f"for i in {self.listing(1)}:", f"    if {self.boolean(2)}:", f"        {found} = True", "        break", f"trace({found})"],
                [f"{found} = {self.integer(1)}", f"trace({found})"],
                [f"{found} = {self.boolean(1)}", f"if {found}:", "    bump()"],
                [f"if not ({self.boolean(1)}):", f"    {v} = 1", "else:", f"    {v} = 2"],
            ]
        )  # fmt: skip


def _grows(line: str) -> bool:
    return any(word in line for word in ("xs", "ys", "dd", ".append", ".extend", ".insert", "items"))

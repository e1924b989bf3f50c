"""Pairs of programs that differ in exactly one thing that can be observed, and pairs that differ in nothing.

Each kind of `KINDS` draws one difference: two expressions, or two groups of statements. The surroundings are
drawn, too: other statements before and after, the nesting of the statement, the container in which a value
leaves the function, and the way in which it leaves (returned, raised, yielded, kept in an argument or in a
global). So a kind gives as many pairs as are asked for.

`same` spells one program in two ways: other names of locals, blank lines, comments, parentheses, statements
that do nothing.
"""

import re
from collections.abc import Callable
from random import Random
from typing import Final, NamedTuple

INPUTS: Final = ("([3, 1],)", "([],)")
"""The inputs for the programs: their function `f` takes one list."""


class TwoPrograms(NamedTuple):
    """Two programs, with the kind of their difference."""

    kind: str
    before: str
    after: str


class Values(NamedTuple):
    """Two expressions whose values differ, with the statements that each needs before it."""

    before: str
    after: str
    setup_before: str = ""
    setup_after: str | None = None
    """`None` if both need the same."""


class Actions(NamedTuple):
    """Two groups of statements that differ in what they do."""

    before: str
    after: str


Kind = Callable[[Random], Values | Actions]


def _two(chance: Random, *choices: str) -> tuple[str, str]:
    one, other = chance.sample(choices, 2)
    return one, other


def _numbers(chance: Random) -> tuple[int, int]:
    one = chance.randrange(1, 900)
    return one, one + chance.randrange(1, 90)


def _made(template: str, chance: Random, *, setup: str = "") -> Values:
    """Values of one template with `N` replaced by two numbers, in the expression or in the setup."""
    one, other = map(str, _numbers(chance))
    return Values(
        template.replace("N", one),
        template.replace("N", other),
        setup.replace("N", one),
        setup.replace("N", other),
    )


def _done(template: str, chance: Random, *choices: str) -> Actions:
    """Actions of one template with `N` replaced by two choices (numbers if there are none)."""
    one, other = _two(chance, *choices) if choices else map(str, _numbers(chance))
    return Actions(template.replace("N", one), template.replace("N", other))


# ── what a value is ───────────────────────────────────────────────────────────────────────────────────────


def _late_item(chance: Random) -> Values:
    place = chance.choice([30, 499, 500, 501, 700, 1_500])
    length = place + chance.randrange(1, 400)
    form = chance.choice([
        "(loc if loc != P else -1 for loc in range(L))",
        "map(lambda loc: loc if loc != P else -1, range(L))",
        "iter([loc if loc != P else -1 for loc in range(L)])",
        "filter(lambda loc: loc != P, range(L))",
        "zip(range(L), (loc != P for loc in range(L)))",
        "enumerate([loc != P for loc in range(L)])",
        "itertools.chain(range(P), [-1], range(L))",
        "itertools.islice(itertools.count(), P, L)",
    ])  # fmt: skip
    form = form.replace("L", str(length))
    return Values(form.replace("P", str(place)), form.replace("P", str(place + 1)))


def _generator(chance: Random) -> Values:
    end = chance.choice(
        ["return N", "raise ValueError(N)", "yield N", "yield from [N]", "yield\n    return [N]"]
    )
    loop = chance.choice(["yield 1", "for loc in range(3):\n        yield loc", "yield from range(4)"])
    return _made("gen()", chance, setup=f"def gen():\n    {loop}\n    {end}")


def _sent(chance: Random) -> Values:
    one, other = _two(chance, "+", "-", "*")
    text = "def gen():\n    loc = yield 1\n    if loc is not None:\n        yield loc {} 3"
    return Values("gen()", "gen()", text.format(one), text.format(other))


def _infinite(chance: Random) -> Values:
    form = chance.choice(["itertools.cycle([1, N])", "itertools.count(N)", "itertools.repeat(N)", "gen()"])
    return _made(
        form, chance, setup="def gen():\n    yield from range(600)\n    while True:\n        yield N"
    )


def _asynchronous(chance: Random) -> Values:
    body = chance.choice([
        "async def later():\n    return N",
        "async def later():\n    yield 1\n    yield N",
        "async def later():\n    for loc in range(600):\n        yield loc\n    yield N",
        "async def later():\n    await asyncio.sleep(0)\n    raise KeyError(N)",
    ])  # fmt: skip
    return _made("later()", chance, setup=f"import asyncio\n{body}")


def _address_text(chance: Random) -> Values:
    digits = chance.choice([6, 8, 8, 10, 12, 12, 16])
    one, other = (f"{chance.randrange(16 ** (digits - 1), 16**digits):x}" for _ in range(2))
    form = chance.choice(["'fault at 0x{}'", "f'<thing object at 0x{}>'", "b'<a at 0x{}>'", "'0x{}'", "'{}'"])
    if chance.random() < 0.2:
        one, other = one.zfill(16), other.zfill(16)
    return Values(form.format(one), form.format(other))


def _object_named(chance: Random) -> Values:
    setup = "class Own:\n    pass\nfirst, second = Own(), Own()"
    return Values("[repr(first), repr(second)]", "[repr(first), repr(first)]", setup)


_BODIES: Final = (
    "loc + loc", "loc * 2", "loc * loc", "loc ** loc", "loc * 3", "loc + 2", "2 + loc", "-loc", "loc", "[loc]", "(loc,)",
    "str(loc)", "repr(loc)", "loc if loc != 7 else 0", "loc if loc != 4_000 else 0", "abs(loc)", "loc // 1", "loc == 2",
    "loc is None", "type(loc)", "bool(loc)", "not loc", "loc and 1", "loc or 1", "loc < 5", "loc <= 5", "loc % 100",
    "min(loc, 50)", "loc[0] if type(loc) is list and loc else 1", "loc.upper() if type(loc) is str else 1",
)  # fmt: skip


def _function(chance: Random) -> Values:
    one, other = _two(chance, *_BODIES)
    form = chance.choice([
        "lambda loc: {}",
        "functools.partial(lambda loc: {})",
        "Own().act",
        "Own()",
        "Own",
        "functools.wraps(len)(lambda loc: {})",
        "Own().made",
        "wrapped",
        "functools.lru_cache(None)(lambda loc: {})",
        "(lambda: lambda loc: {})()",
        "lambda: (lambda loc: {})",
    ])  # fmt: skip
    kind = chance.choice(["", "@classmethod\n    ", "@staticmethod\n    "])
    first = {"": "self, ", "@classmethod\n    ": "cls, ", "@staticmethod\n    ": ""}[kind]
    setup = (
        f"class Own:\n    {kind}def act({first}loc):\n        return {{}}\n"
        "    made = property(lambda self: (lambda loc: {}))\n"
        "def wrapped(*args, **named):\n    loc = args[0] if args else None\n    return {}"
    )
    needs = "Own" in form or form == "wrapped"
    return Values(
        form.replace("{}", one),
        form.replace("{}", other),
        setup.format(one, one, one) if needs else "",
        setup.format(other, other, other) if needs else "",
    )


def _signature(chance: Random) -> Values:
    return _made(
        chance.choice([
            "lambda a, b=N: 1",
            "lambda *, k=N: k",
            "lambda a, *rest, k=N: 1",
            "lambda a=1, b=N, *c: (a, c)",
            "lambda *rest, k: (rest, k, N)",
            "lambda a, b, c, d, e, g, h, i: a + N",
            "lambda **named: named.get('k', N)",
        ]),
        chance,
    )  # fmt: skip


def _function_part(chance: Random) -> Values:
    part = chance.choice(["made.tag = N", "made.__doc__ = 'N'", "made.__annotations__['loc'] = N", "made.__kwdefaults__ = {'k': N}", "made.__defaults__ = (N,)"])  # fmt: skip
    return _made("made", chance, setup=f"def made(loc, *, k=0):\n    return loc\n{part}")


def _closure(chance: Random) -> Values:
    form = chance.choice([
        "def outer():\n    kept = N\n    def inner(loc):\n        return loc, kept\n    return inner",
        "def outer():\n    kept = [N]\n    def inner():\n        kept.append(1)\n        return kept\n    return inner",
        "def outer():\n    kept = N\n    def inner(loc):\n        nonlocal kept\n        kept += 1\n        return kept\n    return inner",
        "def outer():\n    kept = N\n    class Inner:\n        def act(self):\n            return kept\n    return Inner()",
    ])  # fmt: skip
    return _made("outer()", chance, setup=form)


def _object(chance: Random) -> Values:
    setup = chance.choice([
        "class Own:\n    def __init__(self): self.a = N",
        "class Own:\n    __slots__ = ('a',)\n    def __init__(self): self.a = N",
        "class Own:\n    a = N",
        "class Own:\n    @property\n    def a(self): return N",
        "class Own:\n    def act(self): return N",
        "class Own:\n    def __eq__(self, other): return N",
        "class Own:\n    def __len__(self): return N",
        "class Own:\n    def __call__(self, loc): return loc, N",
        "class Own:\n    def __iter__(self): return iter([N])",
        "class Base:\n    def act(self): return N\nclass Own(Base):\n    pass",
        "class Base:\n    b = N\nclass Own(Base):\n    a = 1",
        "class Own:\n    def __init__(self): self._a = 2\n    def act(self, loc): return self._a + N",
        "class Base:\n    def act(self, loc): return 1\nclass Own(Base):\n    def act(self, loc): return super().act(loc) + N",
        "class Own(dict):\n    def __missing__(self, key): return N",
        "class Own(list):\n    def act(self): return N",
        "class Own(str):\n    def act(self): return N",
        "import enum\nclass Kinds(enum.Enum):\n    a = 1\n    b = N\ndef Own(): return Kinds.a",
        "import dataclasses\n@dataclasses.dataclass\nclass Own:\n    a: int = N",
        "import typing\nclass Pair(typing.NamedTuple):\n    a: int\n    b: int = N\ndef Own(): return Pair(1)",
        "import collections\ndef Own(): return collections.namedtuple('Pair', ['a', 'b'], defaults=[N])(1)",
        "import types\ndef Own(): return types.SimpleNamespace(a=N)",
        "class Own:\n    def __getattr__(self, name): return N",
        "class Own:\n    def __del__(self): print(N)",
        "class Own:\n    def act(self, loc):\n        if loc == N: return 0\n        return 1",
    ])  # fmt: skip
    return _made("Own()", chance, setup=setup)


def _class_name(chance: Random) -> Values:
    one, other = _two(chance, "Own", "Other", "Counter", "OrderedDict")
    base = chance.choice(["list", "dict", "int", "str", "object", "tuple", "set"])
    text = "class {}(" + base + "):\n    pass"
    return Values(f"{one}()", f"{other}()", text.format(one), text.format(other))


def _same_name(chance: Random) -> Values:
    name = chance.choice(["Counter", "OrderedDict", "UserList", "UserDict"])
    text = f"class {name}(collections.{name}):\n    pass"
    return Values(f"{name}()", f"collections.{name}()", f"import collections\n{text}")


def _number(chance: Random) -> Values:
    number = chance.randrange(2, 99)
    pairs = [
        ("0.0", "-0.0"), ("1", "True"), ("1", "1.0"), ("0", "False"), ("True", "1.0"), ("1.0", "1 + 0j"), ("0j", "-0j"),
        ("float('nan')", "float('inf')"), (f"{number}", f"float({number})"), ("2 ** 70", "2.0 ** 70"),
        (f"10 ** 5_000 + {number}", "10 ** 5_000"), ("0.1 + 0.2", "0.3"), ("complex(0, -0.0)", "0j"),
        ("decimal.Decimal('1.0')", "decimal.Decimal('1.00')"), ("fractions.Fraction(1, 2)", "0.5"),
        ("decimal.Decimal('NaN')", "decimal.Decimal('sNaN')"), ("decimal.Decimal(0)", "decimal.Decimal('-0')"),
    ]  # fmt: skip
    return Values(*chance.choice(pairs), "import decimal, fractions")


def _container(chance: Random) -> Values:
    pairs = [
        ("[1, 2]", "(1, 2)"), ("{1, 2}", "frozenset({1, 2})"), ("{1: 2, 3: 4}", "{3: 4, 1: 2}"), ("'a'", "b'a'"),
        ("b'a'", "bytearray(b'a')"), ("[1]", "collections.deque([1])"), ("{1: 2}", "collections.OrderedDict({1: 2})"),
        ("collections.deque([1], 3)", "collections.deque([1], 4)"), ("{1: 2}", "collections.defaultdict(None, {1: 2})"),
        ("collections.defaultdict(int)", "collections.defaultdict(list)"), ("range(0, 4)", "range(4, 8)"),
        ("{1: 2}.keys()", "{1}"), ("{1: 2}.items()", "[(1, 2)]"), ("array.array('i', [1])", "array.array('l', [1])"),
        ("array.array('i', [1])", "array.array('i', [2])"), ("memoryview(b'a')", "b'a'"), ("iter([1])", "iter((1,))"),
        ("collections.ChainMap({1: 2})", "{1: 2}"), ("collections.Counter('ab')", "collections.Counter('ba')"),
        ("io.StringIO('a')", "io.StringIO('b')"), ("io.BytesIO(b'a')", "io.BytesIO(b'b')"), ("slice(1)", "slice(0, 1)"),
        ("random.Random(1)", "random.Random(2)"), ("types.MappingProxyType({1: 2})", "types.MappingProxyType({1: 3})"),
        ("dict.fromkeys('ab')", "dict.fromkeys('ba')"), ("[[]] * 2", "[[], []]"), ("hashlib.md5(b'a')", "hashlib.md5(b'b')"),
        ("datetime.datetime(2020, 1, 1)", "datetime.datetime(2020, 1, 1, fold=1)"), ("re.compile('a')", "re.compile('a', 2)"),
        ("datetime.timezone.utc", "datetime.timezone(datetime.timedelta(0), 'x')"), ("pathlib.PurePosixPath('a')", "pathlib.PurePosixPath('b')"),
        ("uuid.UUID(int=1)", "uuid.UUID(int=2)"), ("struct.Struct('i')", "struct.Struct('l')"), ("queue.Queue(1)", "queue.Queue(2)"),
        ("operator.itemgetter(1)", "operator.itemgetter(2)"), ("types.ModuleType('m')", "types.ModuleType('n')"),
        ("functools.partial(int, base=2)", "functools.partial(int, base=3)"), ("staticmethod(abs)", "staticmethod(len)"),
        ("collections.OrderedDict", "dict"), ("len", "abs"), ("math", "cmath"), ("int", "float"), ("list[int]", "list[str]"),
    ]  # fmt: skip
    names = "array, cmath, collections, datetime, functools, hashlib, io, math, operator, pathlib, queue, random, re, struct, types, uuid"
    return Values(*chance.choice(pairs), f"import {names}")


def _subclass(chance: Random) -> Values:
    base, value = chance.choice([("str", "'a'"), ("int", "1"), ("list", "[1]"), ("dict", "{1: 2}"), ("float", "1.5"), ("tuple", "(1,)")])  # fmt: skip
    return Values(f"Own({value})", value, f"class Own({base}):\n    pass")


def _iterator_state(chance: Random) -> Values:
    made = chance.choice(["iter([1, 2, 3])", "iter('abc')", "zip([1, 2, 3], 'abc')", "(one for one in [1, 2, 3])", "iter({1: 2, 3: 4, 5: 6})", "itertools.count()"])  # fmt: skip
    one, other = chance.sample(["", "\nnext(made)", "\nnext(made)\nnext(made)"], 2)
    return Values("made", "made", f"made = {made}{one}", f"made = {made}{other}")


def _weak(chance: Random) -> Values:
    setup = "import weakref\nclass Own:\n    pass\nfirst, second = Own(), Own()\nfirst.a, second.a = 1, 2\nalive = [first, second]"
    form = chance.choice(["weakref.ref({})", "weakref.WeakSet([{}])", "weakref.WeakValueDictionary({{1: {}}})", "weakref.proxy({})"])  # fmt: skip
    return Values(form.format("first"), form.format("second"), setup)


def _deep(chance: Random) -> Values:
    depth = chance.choice([5, 38, 45, 300])
    form = chance.choice(
        ["made = [made]", "made = (made,)", "made = {'a': made}", "made = lambda made=made: made"]
    )
    return _made("made", chance, setup=f"made = N\nfor loc in range({depth}):\n    {form}")


def _large(chance: Random) -> Values:
    return _made(
        chance.choice([
            "'x' * 30_000 + 'N'",
            "b'x' * 30_000 + b'N'",
            "[*range(25_000), N]",
            "[[loc] for loc in range(21_000)] + [[N]]",
            "{loc: loc for loc in range(9_000)} | {-1: N}",
            "{*range(9_000), -N}",
            "7 ** 9_000 + N",
            "' '.join(map(str, range(9_000))) + 'N'",
        ]),
        chance,
    )  # fmt: skip


def _shared(chance: Random) -> Values:
    part = chance.choice(["[]", "{}", "[1]", "set()"])
    return Values("(made, made)", f"(made, {part})", f"made = {part}")


# ── what is done ──────────────────────────────────────────────────────────────────────────────────────────


def _exception(chance: Random) -> Actions:
    form = chance.choice([
        "raise ValueError(N)",
        "raise ValueError('a', N)",
        "raise OSError(2, 'no', 'N')",
        "raise ValueError(1) from KeyError(N)",
        "try:\n    raise KeyError(N)\nexcept KeyError:\n    raise ValueError(1)",
        "made = ValueError(1)\nmade.add_note('N')\nraise made",
        "made = ValueError(1)\nmade.tag = N\nraise made",
        "raise ExceptionGroup('a', [ValueError(N)])",
        "class Own(Exception):\n    tag = N\nraise Own(1)",
        "class Own(Exception):\n    def __str__(self): return 'N'\nraise Own(1)",
        "raise SystemExit(N)",
        "import sys\nsys.exit(N)",
        "import os\nos._exit(N % 200 + 1)",
        "raise StopIteration(N)",
        "raise AttributeError('a', name='N')",
        "raise UnicodeDecodeError('utf-8', b'a', 0, 1, 'N')",
        "raise SyntaxError('a', ('b', N, 1, 'c'))",
        "made = SystemExit(1)\nmade.code = N\nraise made",
    ])  # fmt: skip
    if chance.random() < 0.3:
        return Actions(*chance.choice([
            ("raise ValueError(1)", "raise TypeError(1)"),
            ("raise ValueError(1) from None", "raise ValueError(1) from KeyError()"),
            ("try:\n    {}[1]\nexcept KeyError:\n    raise ValueError(1)", "try:\n    {}[1]\nexcept KeyError:\n    raise ValueError(1) from None"),
            ("try:\n    {}[1]\nexcept KeyError:\n    raise ValueError(1)", "raise ValueError(1)"),
            ("try:\n    {}[1]\nexcept KeyError as made:\n    raise ValueError(1) from made", "try:\n    {}[1]\nexcept KeyError as made:\n    raise ValueError(1)"),
            ("raise KeyError('a')", "raise KeyError(b'a')"),
            ("import os\nos.kill(os.getpid(), 9)", "import os\nos.kill(os.getpid(), 15)"),
        ]))  # fmt: skip
    return _done(form, chance)


def _output(chance: Random) -> Actions:
    imports = "import os, sys\n"
    writes = [
        "print('a')", "print('a', file=sys.stderr)", "os.write(1, b'a\\n')", "os.write(2, b'a\\n')",
        "sys.stdout.write('a\\n')\nprint('b')", "sys.stderr.write('a\\n')\nprint('b')", "print('b')\nos.write(1, b'a\\n')",
        "print('b')\nsys.stderr.write('a\\n')", "os.write(1, b'a\\n')\nprint('b')", "os.write(1, b'a')\nos.write(2, b'b')",
        "os.write(2, b'b')\nos.write(1, b'a')", "os.write(1, b'b')\nos.write(2, b'a')", "sys.__stdout__.write('a')\nsys.__stdout__.flush()",
        "print('x' * 80_000 + 'a')", "print('x' * 80_000 + 'b')", "os.write(1, b'x' * 80_000 + b'a')", "os.write(1, b'x' * 80_000 + b'b')",
    ]  # fmt: skip
    one, other = _two(chance, *writes)
    return Actions(imports + one, imports + other)


def _files(chance: Random) -> Actions:
    setup = "import os\n"
    text = chance.choice([
        "open('a', 'w').write('N')",
        "open('N', 'w').close()",
        "os.mkdir('N')",
        "os.makedirs('b/cN')",
        "os.symlink('N', 'a')",
        "os.symlink('/nowhere/N', 'a')",
        "os.close(os.open('a', os.O_CREAT | os.O_WRONLY, 0o600 + N % 64))",
        "os.mkdir('a', 0o700 + N % 64)",
        "open('a', 'w').close()\nos.link('a', 'N')",
        "os.mkdir('d')\nopen('d/a', 'w').write('N')",
        "open('a', 'w').write('1' * N)\nos.rename('a', 'b')",
        "os.mkdir('d')\nos.symlink('N', 'd/a')",
    ])  # fmt: skip
    if chance.random() < 0.35:
        return Actions(*(setup + action for action in chance.choice([
            ("open('a', 'w').close()", "os.mkdir('a')"),
            ("open('a', 'w').close()\nopen('b', 'w').close()", "open('a', 'w').close()\nos.link('a', 'b')"),
            ("open('a', 'w').close()\nopen('b', 'w').close()", "open('a', 'w').close()\nos.symlink('a', 'b')"),
            ("os.mkdir('a')", "pass"),
            ("open('a', 'w').close()\nos.unlink('a')", "open('a', 'w').close()"),
            ("os.close(os.open('a', os.O_CREAT | os.O_WRONLY, 0o600))", "os.close(os.open('a', os.O_CREAT | os.O_WRONLY, 0o640))"),
        ])))  # fmt: skip
    return _done(setup + text, chance)


def _modes_differ(actions: Actions) -> bool:
    modes = [re.search(r"0o[67]00 \+ (\d+)", text) for text in actions]
    return not (modes[0] and modes[1]) or int(modes[0][1]) % 64 & ~0o22 != int(modes[1][1]) % 64 & ~0o22


def _files_that_differ(chance: Random) -> Actions:
    while not _modes_differ(actions := _files(chance)):
        pass
    return actions


def _process(chance: Random) -> Actions:
    one, other = map(str, _numbers(chance))
    text = chance.choice([
        "import os\nos.environ['KEY'] = 'N'",
        "import os\nos.putenv('KEY', 'N')",
        "import sys\nsys.path.append('N')",
        "import sys\nsys.argv.append('N')",
        "import os\nos.mkdir('dN')\nos.mkdir('dM')\nos.chdir('dN')",
        "import sys\nsys.setrecursionlimit(2000 + N)",
        "import random\nrandom.seed(N)",
        "import decimal\ndecimal.getcontext().prec = N + 1",
        "import signal\nsignal.signal(signal.SIGUSR1, lambda number, frame: N)",
        "import logging\nlogging.getLogger().setLevel(N)",
        "import logging\nlogging.getLogger('a').setLevel(N)",
        "import logging\nlogging.basicConfig(format='N')",
        "import logging\nlogging.warning('N')",
        "import warnings\nwarnings.warn('N')",
        "import warnings\nwarnings.warn('N', DeprecationWarning)",
        "import warnings\nwarnings.filterwarnings('ignore', 'N')",
        "import math\nmath.pi = N",
        "import os\nos.linesep = 'N'",
        "import json\njson.dumps = lambda value: 'N'",
        "import builtins\nbuiltins.unheard_of = N",
        "import sys\nsys.stdout = open('out', 'w')\nprint(N)\nsys.stdout.flush()",
        "import atexit\natexit.register(print, N)",
        "import sys\nsys.set_int_max_str_digits(N + 1000)",
        "import time, os\nos.environ['TZ'] = 'ABC-N'\ntime.tzset()",
        "import gc\ngc.set_threshold(N)",
        "import sys\nsys.setswitchinterval(N / 1000)",
        "import random\n[random.random() for loc in range(N)]",
    ])  # fmt: skip
    if chance.random() < 0.3:
        return Actions(*chance.choice([
            ("import os\nos.umask(0o77)", "import os\nos.umask(0o27)"),
            ("import os\ndel os.environ['HOME']", "pass"),
            ("import os\nos.unsetenv('HOME')", "pass"),
            ("import locale\nlocale.setlocale(locale.LC_ALL, 'C')", "pass"),
            ("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)", "import signal\nsignal.signal(signal.SIGINT, signal.SIG_DFL)"),
            ("import random\nrandom.random()", "pass"),
            ("import warnings\nwarnings.warn('a')", "import warnings\nwarnings.warn('a', RuntimeWarning)"),
            ("import warnings\nwarnings.warn('a')", "pass"),
            ("import decimal\ndecimal.Decimal(1) / 3", "pass"),
            ("import decimal\ndecimal.getcontext().rounding = 'ROUND_UP'", "pass"),
            ("import time, os\nos.environ['TZ'] = 'ABC'\ntime.tzset()", "import os\nos.environ['TZ'] = 'ABC'"),
            ("import logging\nlogging.disable()", "pass"),
            ("import logging\nlogging.getLogger().addHandler(logging.NullHandler())", "pass"),
            ("import gc\ngc.enable()", "pass"),
        ]))  # fmt: skip
    return Actions(text.replace("N", one).replace("M", other), text.replace("N", other).replace("M", one))


def _mutated(chance: Random) -> Actions:
    return _done(
        chance.choice([
            "x.append(N)",
            "x[:] = [N]",
            "x.insert(0, [N])",
            "x.extend([1, N])",
            "global state\nstate = N",
            "global state\nstate = [N]",
            "table['a'] = N",
            "table.setdefault('N', 1)",
            "helper.calls = N",
            "Thing.count = N",
            "Thing.act = lambda self: N",
            "thing.value = N",
            "global helper\ndef helper(loc): return N",
            "global __kept\n__kept = N",
            "items.append(N)",
            "items[1] = N",
            "Thing.items.append(N)",
            "helper.__defaults__ = (N,)",
        ]),
        chance,
    )  # fmt: skip


KINDS: Final[dict[str, Kind]] = {
    "late item of an iterator": _late_item,
    "end of a generator": _generator,
    "answer of a generator to what is sent": _sent,
    "endless iterator": _infinite,
    "coroutine or asynchronous generator": _asynchronous,
    "text that looks like an address": _address_text,
    "object that a text names by its address": _object_named,
    "behaviour of a function": _function,
    "signature of a function": _signature,
    "part of a function object": _function_part,
    "closure": _closure,
    "part of an object": _object,
    "name of a class": _class_name,
    "class with the name of another": _same_name,
    "kind or sign of a number": _number,
    "kind or content of a container": _container,
    "subclass of a builtin type": _subclass,
    "state of an iterator": _iterator_state,
    "weak reference": _weak,
    "deep value": _deep,
    "large value": _large,
    "identity of parts": _shared,
    "exception": _exception,
    "output": _output,
    "file": _files_that_differ,
    "state of the process": _process,
    "argument or global": _mutated,
}

# ── surroundings ──────────────────────────────────────────────────────────────────────────────────────────

_GLOBALS: Final = """\
import functools, itertools
state, table, items = 0, {}, [1, 2, 3]
class Thing:
    count, items = 0, []
    def __init__(self): self.value = 0
thing = Thing()
def helper(loc=0):
    return loc
"""
_BYSTANDERS: Final = (
    "step = len(x) + 1",
    "words = ['a', 'b']\nfor word in words:\n    step = word * 2",
    "print('working')",
    "pairs = {'a': 1}\npairs['b'] = len(x)",
    "helper(2)",
    "if len(x) > 90:\n    return None",
    "try:\n    step = 1 // len(x)\nexcept ZeroDivisionError:\n    step = 0",
    "table['seen'] = True",
    "made_up = [step for step in range(3)]",
)
_NESTS: Final = (
    "{}",
    "{}",
    "if len(x) < 90:\n    {}",
    "for turn in range(1):\n    {}",
    "try:\n    {}\nfinally:\n    step = 0",
    "with __import__('contextlib').nullcontext():\n    {}",
)
_HOLDERS: Final = (
    "{}", "{}", "{}", "[{}]", "(1, {})", "{{'a': {}}}", "[[0], [{}, 2]]", "({{'k': [{}]}},)",
    "__import__('collections').deque([{}])", "__import__('types').SimpleNamespace(part={})",
)  # fmt: skip
_LEAVING: Final = (
    "return {}", "return {}", "return {}", "raise LookupError({})", "x.append({})", "global state\nstate = {}",
    "thing.value = {}", "table['k'] = {}", "yield {}", "return iter([{}])", "items[0] = {}",
)  # fmt: skip


def _indented(text: str, by: int = 4) -> str:
    return "\n".join(" " * by + line if line else line for line in text.split("\n"))


def _nested(nest: str, text: str) -> str:
    place = nest.find("{}")
    indent = place - nest.rfind("\n", 0, place) - 1
    return nest.replace("{}", _indented(text, indent).lstrip(" "))


def _drawn_lines(chance: Random) -> str:
    return "".join(f"{line}\n" for line in chance.sample(_BYSTANDERS, chance.randrange(3)))


def different(chance: Random, kind: str | None = None) -> TwoPrograms:
    """Two programs that differ in one thing. `kind` is a key of `KINDS`; `None` to draw one."""
    kind = kind or chance.choice(list(KINDS))
    pair = KINDS[kind](chance)
    before, after = _drawn_lines(chance), _drawn_lines(chance)
    nest = chance.choice(_NESTS)
    if isinstance(pair, Values):
        leaving = chance.choice(_LEAVING)
        holder = chance.choice(_HOLDERS)
        setups = (pair.setup_before, pair.setup_before if pair.setup_after is None else pair.setup_after)
        parts = [
            f"{setup}\n" * bool(setup) + leaving.replace("{}", holder.format(value))
            for setup, value in zip(setups, pair[:2], strict=True)
        ]
    else:
        parts = [pair.before, pair.after]
    bodies = [before + _nested(nest, part) + "\n" + after for part in parts]
    names = sorted(set(re.findall(r"global (\w+)", bodies[0] + bodies[1])))
    head = "".join(f"    global {name}\n" for name in names)
    texts = [
        f"{_GLOBALS}def f(x):\n{head}{_indented(re.sub(r'global .+', 'pass', body))}\n" for body in bodies
    ]
    return TwoPrograms(kind, *texts)


_LOCALS: Final = (
    "loc",
    "made",
    "step",
    "words",
    "word",
    "pairs",
    "turn",
    "first",
    "second",
    "alive",
    "made_up",
    "kept",
)


def same(chance: Random, kind: str | None = None) -> TwoPrograms:
    """One program in two spellings."""
    kind, text, _ = different(chance, kind)
    return TwoPrograms(kind, text, respelled(text, chance))


def respelled(text: str, chance: Random) -> str:
    """A program in another spelling: other locals, blank lines, comments, parentheses, idle statements."""
    head, function = text[: len(_GLOBALS)], text[len(_GLOBALS) :]
    for name in _LOCALS:
        # Not in texts, not as attributes, and not as keywords: these are no names of locals.
        if chance.random() < 0.7 and not re.search(
            rf"['\"]{name}|lambda {name}={name}|def made|made = property", function
        ):
            function = re.sub(rf"(?<![.\w]){name}\b", f"{name}_{chance.randrange(9)}", function)
    lines = function.rstrip("\n").split("\n")
    changed = [lines[0]]
    for line in lines[1:]:
        indent = line[: len(line) - len(line.lstrip())]
        draw = chance.random()
        if draw < 0.1:
            changed.append("")
        elif draw < 0.2:
            changed.append(f"{indent}# a remark")
        elif (
            draw < 0.27
            and not line.lstrip().startswith(("except", "finally", "else", "elif"))
            and "class " not in function
        ):
            changed.append(f"{indent}idle = None")
        changed.append(re.sub(r"\breturn (?!None$)(.+)$", r"return (\1)", line) if draw > 0.8 else line)
    return head + "\n".join(changed) + "\n"

"""Constructs of random programs whose statements act on one another in ways that are easy to miss.

One function for each construct. It takes the grammar (`programs.Grammar`) and returns the lines of a piece of
a program: something that is shared, two to four statements that use it, in any order, and a call of `show`
that tells what came of it. In the statements below `M` is what is shared, `N` a variable that goes with it,
and `R` a variable of the statement's own, which is shown at the end.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tests.support.programs import Grammar

_RESULT: Final = re.compile(r"\bR\b")

LIST_USES: Final = (
    "M.append(7)", "M.clear()", "M.pop()", "M.reverse()", "M[0] = 7", "M += [4]", "del M[:]", "M.extend(ys)",
    "operator.setitem(M, 0, 5)", "operator.iadd(M, [6])", "operator.call(M.append, 8)", "operator.delitem(M, 0)",
    "M[:] = [9, 8]", "R = M.pop()", "R = operator.setitem(M, 0, 5)", "R = operator.call(M.pop)",
    "R = tuple(M if N else ys)", "R = len(M if N else ys)", "R = len(M or ys)", "R = a in (M if N else ys)",
    "R = (M if N else ys)[:2]", "R = (M or ys)[1:]", "R = [*(M if N else ys)]", "R = sum(M or [0])",
    "R = sorted(M if N else ys)", "R = [i for i in (M if N else ys)]", "R = (M if N else ys) + [1]",
    "R = tuple(w := M)", "R = len((w := M))", "R = not (M or ys)", "R = (M and ys) == [3, 1]",
    "R = ExceptionGroup('many', M)", "R = max(M, default=0)", "R = dict(enumerate(M))", "R = list(zip(M, ys))",
    "R = f'{M}'", "R = '%s' % (M,)", "R = '{}'.format(M)", "R = M[0]", "R = M.count(3)", "R = [*M]", "R = M * 2",
    "R = collections.deque(M)", "R = collections.Counter(M)", "R = itertools.chain(M)", "R = reversed(M)",
    "R = iter(M)", "R = math.prod(M)", "R = any(M if N else ys)", "R, *w = M", "R = named(*M[:2])", "R = len(M)", "R = len(M) * 2", "R = operator.iadd(M, ys)",
    "R = len(M if N else ys) + int(M.append(1) is None)", "R = len(M if N else ys) > int(M.clear() is None)",
    "R = (7 in (M if N else ys)) == (M.append(7) is None)", "R = int(M.append(2) is None) * len(M if N else ys)",
    "R = [3, 1] == (M if N else ys)", "R = ys < (M if N else ys)", "R = ys + (M if N else ys)", "R = 3", "bump()",
)  # fmt: skip
"""Statements with a list `M` and a flag `N`."""

MAPPING_USES: Final = (
    "M['z'] = 1", "M.update(k=3)", "M.clear()", "M.pop('k', None)", "operator.setitem(M, 'k', 9)", "operator.setitem(M, 'new', a)", "R = operator.setitem(M, 'y', b)",
    "M |= {'m': 2}", "M.setdefault('q', 1)", "del M['k']", "R = M.popitem()", "R = M.pop('k', None)",
    "R = dict(M, v=1)", "R = dict(**M)", "R = dict(M)", "R = {**M}", "R = dict(M, **{'y': 2})", "R = 'k' in (M if N else dd)",
    "R = ('z' in (M if N else dd)) != (M.update(z=1) is None)", "R = len(M if N else dd) + int(M.clear() is None)",
    "R = len(M if N else dd)", "R = len(M)", "R = len(M) + 1", "R = M.get('k')", "R = list(M.items())", "R = M.keys()",
    "R = collections.OrderedDict(M)", "R = collections.defaultdict(int, M)", "R = sorted(M)", "R = M == {}",
    "R = max(M, default='')", "R = anything(**M)", "R = M.copy()", "R = M | {'j': 2}", "R = M['k']", "R = 'k' in M",
    "R = tuple(M or dd)", "R = [*(M if N else dd)]", "R = str(M)", "R = operator.getitem(M, 'k')", "R = 3", "bump()",
)  # fmt: skip
"""Statements with a dict `M` and a flag `N`."""

ITERATOR_USES: Final = (
    "R = next(M, 0)", "R = collections.Counter(M)", "R = collections.deque(M, 2)", "R = math.fsum(M)",
    "R = list(itertools.product(M, 'x'))", "R, w = M", "R, *w = M", "[R, *w] = M", "*w, R = M", "(R, *w), v = M, 1", "R = 3 in M", "R = 9 not in M", "R = sum(M)",
    "R = list(zip(M, 'ab'))", "R = [*M]", "R = max(M, default=-1)", "R = dict(enumerate(M))", "R = set(M)",
    "R = any(M)", "R = ','.join(map(str, M))", "R = tuple(itertools.islice(M, 2))", "R = dict.fromkeys(M)",
    "ys.extend(M)", "R = bytes(M)", "R = frozenset(M)", "R = sorted(M)", "R = operator.countOf(M, 2)",
    "R = itertools.permutations(M)", "R = itertools.combinations(M, 2)", "R = zip(M, M)", "R = enumerate(M)",
    "R = map(trace, M)", "R = iter(M)", "R = [i for i in M if i]", "R = all(i < 2 for i in M)", "R = named(*M)",
    "R = math.prod(M)", "ys[:1] = M", "ys += M", "R = collections.OrderedDict(zip(M, 'ab'))", "R = tuple(M)",
    "R = min(M, default=0)", "R = dict(zip(M, M))", "R = {**dict(zip(M, 'ab'))}", "R = int(next(M, 0))",
    "for R in M: break", "R = list(itertools.chain(M, ys))", "R = len(list(M))", "R = operator.indexOf(M, 1)",
)  # fmt: skip
"""Statements that take some or all items of an iterator `M`."""

COUNT_LOOKS: Final = (
    "R = N",
    "R = N + 1",
    "R = [N, N]",
    "R = -N",
    "R = N if b else 0",
    "N = 5",
    "R = f'{N}'",
)
"""Statements with a variable `N` that the items change."""

SELF_USES: Final = (
    "R = list(zip(self, 'ab'))", "R = next(iter(self))", "R = [*self]", "R, w = self", "R, *w = self", "R = int(self)",
    "R = float(self)", "R = range(self)", "R = 'abcdef'[self]", "R = round(2.56789, self)", "R = hex(self)",
    "R = sum(self)", "R = 1 in self", "R = 'ab' * self", "R = chr(self)", "R = math.sqrt(self)", "R = dict(zip('ab', self))",
    "R = list(enumerate(self))", "R = tuple(self)", "R = max(self)", "R = complex(self)", "R = bytes(self)",
    "R = 'a-b-c'.split('-', self)", "R = list(enumerate('ab', self))", "R = [1, 2, 3][self:]", "R = divmod(7, int(self))",
    "R = collections.Counter(self)", "R = sorted(self, key=lambda i: -i)", "R = math.fsum(self)", "R = named(*self)",
    "R = sorted([2, 1], reverse=self)", "R = [1, 2, 3].pop(self)", "R = 'ab'.ljust(self)", "R = 'ab'.expandtabs(tabsize=self)",
    "R = bytes([self])", "R = range(0, 9, self)", "R = operator.getitem([1, 2, 3, 4], self)", "R = 'abcab'.find('b', self)",
    "R = 'a b c'.rsplit(maxsplit=self)", "R = [1, 2].index(2, self)", "R = int('11', self)", "R = '%*d' % (self, 3)",
    "R = list(enumerate('ab', start=self))", "R = math.prod([2], start=float(self))", "R = memoryview(b'ab')[self]",
    "R = '%d' % self", "R = iter(self)", "R = zip(self)", "R = set(self)", "R = bin(self)", "R = list(map(str, self))",
    "R = itertools.product(self)", "R = math.floor(float(self))", "R = math.gcd(self, 4)", "R = ','.join(str(i) for i in self)",
)  # fmt: skip
"""Statements in a method of an object that acts when somebody asks it for items or for a number."""

SELF_LOOKS: Final = (
    "R = self.pos", "R = self.pos + 1", "R = self._kept", "self._kept = 4", "self.pos = 6", "R = self.pos * 2", "R = 3",
    "R = [self.pos]",
)  # fmt: skip

KEEPERS: Final = (
    "M = max([], default=lambda: N)", "M = min((), default=lambda: N)", "M = [lambda: N]", "M = (N * i for i in ys)",
    "M = map(lambda i: i + N, ys)", "M = functools.partial(lambda i: i + N, 1)", "M = next((i for i in ()), lambda: N)",
    "M = filter(lambda i: i != N, ys)", "M = Box(); M.extend(i * N for i in ys)", "M = Box(); M.update(i + N for i in ys)",
    "M = sorted([lambda: N, lambda: 1], key=lambda one: 0)", "M = max([1], key=lambda i: N)", "M = {'k': lambda: N}",
    "M = itertools.chain(i * N for i in ys)", "M = zip((i * N for i in ys), 'ab')", "M = enumerate(i * N for i in ys)",
    "M = sum(([lambda: N],), start=[])", "M = dict(k=lambda: N)", "M = max([1, 2], default=(N * i for i in ys))",
    "M = min([lambda: N], key=lambda one: 0)", "M = iter(lambda: N, 4)", "M = lambda n=N: n + N", "M = ','.join(str(i * N) for i in ys)",
)  # fmt: skip
"""Statements that keep a variable `N` in an object that looks at it later."""

KEPT_USES: Final = (
    "N = 4", "N += 1", "R = shown(M)", "R = N", "N = N + 2", "show(M)", "M = M", "N = a", "R = [shown(M), 1]", "N, R = 6, 2",
)  # fmt: skip

RAISERS: Final = (
    "R = isinstance(a, s)", "R = isinstance(a, (int, 's'))", "R = isinstance(a, (str, s))", "R = hasattr(trap, 'bad')",
    "R = getattr(trap, 'bad', 0)", "R = getattr(a, b, 0)", "R = UnicodeDecodeError(a)", "R = ExceptionGroup('many', [])",
    "R = UnicodeEncodeError('a', 'b', 0)", "R = dd['zz']", "R = xs[9]", "R = 1 // 0", "R = int('x')", "R = [].pop()",
    "R = 10 ** 400 * 1.5", "R = {}['k']", "R = issubclass(a, int)", "R = len(5)", "R = dict([1])", "R = iter(3)",
    "R = o.zz", "R = 'ab'.index('q')", "R = range(1.5)", "R = float('x')", "R = {[]: 1}", "R = trap.bad", "R = chr(-1)",
    "R = BaseExceptionGroup('many', [KeyError()], 2)", "R = OSError(1, 'x')", "R = SyntaxError('x', 1)", "R = 'a' + 1",
    "R = ImportError('x', wrong=1)", "R = sum(['a'])", "R = sorted([1, 'a'])", "R = '%d' % 'x'", "R = '{}{}'.format(1)",
    "R = setattr(trap, 'bad', 1)", "R = max([])", "R = bytes([300])", "R = 'x'.encode('q')", "R = isinstance(1, list[int])",
    "bump()", "trace(1)", "ys.append(5)", "R = 3", "assert a > b", "del dd['zz']", "R = dict(a=1, **{1: 2})",
)  # fmt: skip
"""Statements of which most raise, each another exception, or for another reason."""

TEXTS: Final = (
    "R = '%s' % Echo()", "R = '{}'.format(Echo())", "R = f'{Echo()}'", "R = str(Echo())", "R = format(Echo())",
    "R = '%s!' % Echo()", "R = Text('ab')", "R = '%s' % Text('ab')", "R = 'ab'", "R = f'{Echo()}-'", "R = ''.join([Text('x')])",
    "R = '%s%s' % (Echo(), 1)", "R = Text('ab').upper()", "R = '%(k)s' % {'k': Echo()}", "R = 'q' + Text('ab')",
)  # fmt: skip
TEXT_USES: Final = (
    "R = M + 'x' + M", "R = 'x' + M", "R = M + 'x'", "R = 'a' + M + 'b'", "R = f'{M}!'", "R = M + M", "R = '<' + M + '>'",
    "R = '%s-%s' % (M, 2)", "R = 'a' 'b' + M", "R = M == 'ec'", "R = M * 2", "R = 'ec' == M", "R = M in ('ec', 'fo')",
    "M += 'y'", "M = M + 'z'",
)  # fmt: skip

BIG: Final = "1" + "0" * 310

NUMBER_USES: Final = (
    f"R = M * {BIG}", f"R = {BIG} + M", f"R = M - {BIG}", "R = M / 3", "R = M * 2", "R = M ** 2", "R = -M", "R = M // 0",
    f"R = M + N * {BIG}", "R = N + 1", "R = N % 3", "R = N << 2", "R = N / 2", "R = N + M", "R = xs[7]", "bump()", "R = int(M)",
    "N = N + 1", "M += 1", "N -= 2", "R = 3 + N", "R = N * 2 + 1", "R = N == 3", "R = 2 > N", "R = 1 < N < 5", "R = N > 1 and N < 9",
)  # fmt: skip
"""Statements with a float `M` and an int `N`."""

OBJECT_USES: Final = (
    "R = M.size", "M.size = 5", "R = M.size + 1", "del M.size", "R = M.other", "R = M.late", "R = getattr(M, 'size', 0)",
    "R = hasattr(M, 'gone')", "R = M[1]", "R = M['k']", "M[2] = 3", "R = 1 in M", "R = M == M", "R = bool(M)", "R = len(M)",
    "R = -M", "R = M + 1", "R = M < 3", "R = f'{M}'", "R = M(1)", "with M: R = 1", "for R in M: break", "R = [i for i in M]",
    "R, w = M", "R = 'ab'[M]", "M.size += 1", "match M:\n    case Thing(v=1): R = 1\n    case _: R = 2",
    "R = 3", "R = M is not None", "R = isinstance(M, Thing)", "R = int(M)", "R = str(M)", "bump()",
)  # fmt: skip
"""Statements with an object `M` of any class."""


def _chosen(g: "Grammar", *pools: Sequence[str], most: int = 5) -> list[str]:
    """Two statements or more, at least one of each pool, in any order."""
    chosen = [g.rng.choice(pool) for pool in pools]
    while len(chosen) < 2 or (len(chosen) < most and g.chance(0.6)):
        chosen.append(g.rng.choice(g.rng.choice(pools)))
    g.rng.shuffle(chosen)
    return chosen


def _met(g: "Grammar", statements: Sequence[str], M: str = "", N: str = "") -> list[str]:
    """The statements with names for `M`, `N` and `R`, and a call that shows all results."""
    results: list[str] = []
    lines: list[str] = []
    for statement in statements:
        if statement.startswith("R = ") and g.chance(0.1):
            statement = statement[4:]  # in a `try`, a statement that binds nothing may pass others
        if "R" in statement and _RESULT.search(statement):
            results.append(g.name("u"))
            statement = _RESULT.sub(results[-1], statement)
        statement = re.sub(r"\bM\b", M or "xs", statement)
        lines += re.sub(r"\bN\b", N or "e", statement).replace("; ", "\n").splitlines()
    shown = [*results, *([M] if M and g.chance(0.5) else []), *([N] if N and g.chance(0.5) else [])]
    if g.chance(0.3) and len(shown) > 1:  # the results are names of their own until the end
        return [*lines, *(f"show({name})" for name in shown)]
    return [*lines, f"show({', '.join(shown)})"]


def _caught(g: "Grammar", lines: list[str], share: float) -> list[str]:
    """Sometimes the same in a `try` that tells what was raised."""
    if not g.chance(share):
        return lines
    kind = g.pick("Exception", "Exception", "(LookupError, TypeError)", "ArithmeticError")
    end = g.rng.choice([[], [], ["finally:", "    show(G)"], ["else:", "    bump()"]])
    return ["try:", *_deeper(lines), f"except {kind} as error:", "    show(error)", *end]


def _deeper(lines: Sequence[str]) -> list[str]:
    return ["    " + line for line in lines]


def _inside(g: "Grammar", lines: list[str], given: Sequence[str], share: float = 0.3) -> list[str]:
    """Sometimes the same in a function of its own, to which `given` are parameters and therefore foreign."""
    if not g.chance(share):
        return lines
    name = g.name("inner")
    doc = ['    """Text."""'] if g.chance(0.3) else []
    parameters = ", ".join(dict.fromkeys(given))
    return [f"def {name}({parameters}):", *doc, *_deeper(lines), f"{name}({parameters})"]


def _aliased(g: "Grammar", lines: list[str], name: str, alias: str) -> list[str]:
    """The lines with another name for the same object, here and there."""
    return [re.sub(rf"\b{name}\b", lambda _: g.pick(name, name, alias), line) for line in lines]


def aliased_list(g: "Grammar") -> list[str]:
    """A list that statements reach directly and through `if`, `or` and `:=`."""
    m = g.pick("xs", "ys", g.name("m"))
    made = g.pick("[3, 1]", "[a, 2, 3]", "list(xs)", "[KeyError(1), ValueError(2)]", "xs", "o.items")
    setup = [f"{m} = {made}"] if m not in ("xs", "ys") or g.chance(0.3) else []
    alias, flag = g.name("also") if g.chance(0.4) else m, g.name("flag")
    setup += [f"{alias} = {m}"] if alias != m else []
    setup.append(f"{flag} = {g.pick('True', 'a is not None', 'False', 'bool(b)')}")
    lines = _aliased(g, _met(g, _chosen(g, LIST_USES), M=m, N=flag), m, alias)
    return [*setup, *_inside(g, _caught(g, lines, 0.2), [m, alias, "ys", "a", flag])]


def aliased_mapping(g: "Grammar") -> list[str]:
    """A dict that statements copy, ask and change."""
    m = g.pick("dd", g.name("m"))
    setup = (
        [f"{m} = {g.pick('{}', '{}', 'dict(dd)', 'dd')}".replace("{}", "{'k': a, 'j': 2}")]
        if m != "dd"
        else []
    )
    alias, flag = g.name("also") if g.chance(0.4) else m, g.name("flag")
    setup += [f"{alias} = {m}"] if alias != m else []
    setup.append(f"{flag} = {g.pick('True', 'a is not None', 'False', 'bool(b)')}")
    lines = _aliased(g, _met(g, _chosen(g, MAPPING_USES), M=m, N=flag), m, alias)
    return [*setup, *_inside(g, _caught(g, lines, 0.2), [m, alias, "dd", "a", flag])]


def half_consumed(g: "Grammar") -> list[str]:
    """An iterator that several statements take items from, and a variable that this changes."""
    m, n = g.name("m"), g.name("n")
    if g.chance(0.75):
        name = g.name("gen")
        setup = [
            f"{n} = {g.pick('0', 'a', '2')}",
            f"def {name}():",
            f"    nonlocal {n}",
            f"    for i in {g.pick('range(4)', 'range(2)', 'ys', 'xs')}:",
            f"        {n} {g.pick('+= 1', '= i')}",
            f"        yield {g.pick('i', 'i', n)}",
            f"{m} = {name}()",
        ]
    else:
        setup = [
            f"{n} = 1",
            f"{m} = {g.pick('iter([1, 2, 3])', '(trace(i) for i in ys)', 'map(trace, xs)', 'Source()')}",
        ]
    if g.chance(0.2):
        setup.append(f"next({m}, 0)")
    lines = _caught(g, _met(g, _chosen(g, ITERATOR_USES, COUNT_LOOKS), M=m, N=n), 0.25)
    return [
        *setup,
        *(lines if any(f"{n} =" in line for line in lines) else _inside(g, lines, [m, "ys", "b"], 0.2)),
    ]


def acting_self(g: "Grammar") -> list[str]:
    """A method of an object that acts when it is iterated over or converted."""
    name = g.name("Local")
    base = g.pick("", "", "(Source)")
    own = [
        "    def __init__(self): self.pos, self._kept = 0, 1",
        "    def __iter__(self):",
        "        self.pos += 1",
        f"        {g.pick('return iter([self.pos, 2])', 'yield from (self.pos, 2)')}",
        "    def __int__(self):",
        "        self.pos += 1",
        f"        {g.pick('self._kept = 7', 'bump()')}",
        "        return self.pos",
        "    __index__ = __int__",
        "    def __float__(self): return float(int(self))",
    ]
    body = _caught(g, _met(g, _chosen(g, SELF_USES, SELF_LOOKS)), 0.2)
    return [
        f"class {name}{base}:",
        *([] if base else own),
        f"    def step(self, b={g.pick('1', 'a')}):",
        *_deeper(_deeper(body)),
        f"{name}().step()",
    ]


def kept_closure(g: "Grammar") -> list[str]:
    """A variable that something kept looks at later."""
    m, n = g.name("m"), g.name("n")
    several = [g.rng.choice(KEEPERS), *(g.rng.choice(KEPT_USES) for _ in range(g.rng.randint(2, 3)))]
    if g.chance(0.3):
        g.rng.shuffle(several)
        several.insert(0, g.rng.choice(KEEPERS))
    return [f"{n} = {g.pick('1', 'a', '2')}", *_met(g, several, M=m, N=n)]


def operands(g: "Grammar") -> list[str]:
    """Operands of which one changes what the other sees, under another name."""
    m, also, flag = g.name("m"), g.name("also"), g.name("flag")
    calm = (
        f"len({m} if {flag} else ys)", f"(7 in ({m} if {flag} else ys))", f"len({m})", f"len({m} or ys)", f"bool({m})",
        f"({m} == [3, 1])", f"len(({m} and ys))", f"len({m}[1:])", f"({m} is ys)", f"int({flag})", f"abs(len({m}))",
    )  # fmt: skip
    busy = (
        f"int({also}.append(7) is None)", f"({also}.clear() is None)", f"bool({also}.reverse())", f"({also}.append(7) is not None)",
        f"int({also}.pop() > 1)", "int(trace(1) == 1)", f"bool({also}.remove(3))", "(bump() == 1)", f"abs({also}.count(3))",
    )  # fmt: skip
    lines = [
        f"{m} = {g.pick('[3, 1]', 'list(xs)', '[a, 7]')}",
        f"{also} = {m}",
        f"{flag} = {g.pick('True', 'b is None')}",
    ]
    for _ in range(2):
        sides = [g.pick(*calm), g.pick(*busy)]
        g.rng.shuffle(sides)
        sign = g.pick("+", "*", "&", "|", "==", "!=", "<", ">", "<=", "is", "and")
        lines.append(f"{g.name('u')} = {sides[0]} {sign} {sides[1]}")
    return [*lines, f"show({', '.join(f'u{number}' for number in (g.fresh - 1, g.fresh))}, {m})"]


def acting_import(g: "Grammar") -> list[str]:
    """An import that registers something."""
    imports = (
        "import plug", "from plug import value as R", "import gear as R", "from gear import value as R", "import plug as w",
        "import plug, gear", "import json", "from math import pi, tau",
    )  # fmt: skip
    looks = (
        "R = len(registry)", "R = registry[-1:]", "R = list(registry)", "registry.append(1)", "R = G", "R = [*registry, 1]",
        "bump()", "R = bool(registry)", "import math",
    )  # fmt: skip
    return _inside(g, _caught(g, _met(g, _chosen(g, imports, looks)), 0.1), [], 0.2)


def several_raise(g: "Grammar") -> list[str]:
    """Statements that raise different exceptions."""
    return _caught(g, _met(g, _chosen(g, RAISERS)), 0.5)


def subclass_of_text(g: "Grammar") -> list[str]:
    """A text of a subclass of str, which comes out of a format, in sums and formats."""
    m = g.name("m")
    start = _RESULT.sub(m, g.rng.choice(TEXTS))
    return [start, *_caught(g, _met(g, _chosen(g, TEXT_USES), M=m), 0.2)]


def huge_number(g: "Grammar") -> list[str]:
    """Floats and ints of certain type, one of them too large for a float."""
    m, n = g.name("m"), g.name("n")
    setup = [f"{m} = {g.pick('1.5', '-0.25', '2e300')}", f"{n} = {g.pick('3', '0', '7')}"]
    return [*setup, *_caught(g, _met(g, _chosen(g, NUMBER_USES), M=m, N=n), 0.5)]


def class_names(g: "Grammar") -> list[str]:
    """A class in a function with names that its methods and comprehensions do not see."""
    n, name = g.name("n"), g.name("Local")
    member = g.pick(
        f"m = [{n} for _ in range(2)]", f"m = list({n} + i for i in range(2))", f"m = (lambda: {n})()", f"m = {{i: {n} for i in 'ab'}}",
        f"m = [i for i in range(3) if i < {n}]", f"m = [i for i in range({n})]", f"def m(self=0): return {n}",
    )  # fmt: skip
    lines = [
        f"{n} = {g.pick('3', 'a', '1')}",
        *([f"{n} = 2"] if g.chance(0.2) else []),
        f"class {name}:",
        f"    {n} = {g.pick('4', 'trace(4)')}",
        f"    {member}",
        f"    def get(self, k={n}): return k, {n}",
    ]
    later = (f"{n} = 5", f"R = {name}.m", f"R = {name}().get()", f"R = {name}.{n}", f"R = {n}", "bump()")
    return [*lines, *_met(g, _chosen(g, later))]


def unbound_inside(g: "Grammar") -> list[str]:
    """A variable that a nested function unbinds."""
    n, name = g.name("n"), g.name("drop")
    how = g.rng.choice(
        [[f"del {n}"], [f"if {n}: del {n}"], ["try: fail(1)", f"except ValueError as {n}: bump()"]]
    )
    lines = [f"{n} = {g.pick('1', 'a')}", f"def {name}():", f"    nonlocal {n}", *_deeper(how)]
    uses = (
        f"R = {n}",
        f"R = {n}",
        f"{name}()",
        "R = xs[9]",
        "R = 1 // 0",
        "bump()",
        f"{n} = 2",
        "R = dd['zz']",
        "R = 3",
    )
    return [*lines, *([f"{name}()"] if g.chance(0.6) else []), *_caught(g, _met(g, _chosen(g, uses)), 0.7)]


def own_variables(g: "Grammar") -> list[str]:
    """A function that looks at its own variables, or at those of its code, under one name or another."""
    name, n, look = g.name("inner"), g.name("n"), g.name("look")
    if g.chance(0.4):
        looks = (
            "R = sys._getframe(0).f_code.co_consts[0]", "R = sys._getframe().f_code.co_consts[:1]", f"R = {name}.__doc__",
            f"R = {name}.__code__.co_consts[0]",
        )  # fmt: skip
        return [
            f"def {name}({g.pick('', 'k=1', '*rest')}):",
            '    """Text."""',
            *_deeper(_met(g, [g.rng.choice(looks), g.pick("R = a", "bump()", "R = 3")])),
            f"{name}()",
            *([f"show({name}.__doc__)"] if g.chance(0.2) else []),
        ]
    made = g.pick(
        f"{look} = locals",
        f"{look} = locals",
        f"{look} = builtins.locals",
        f"from builtins import locals as {look}",
    )
    uses = (
        f"R = len({look}())", f"{n} = 2", f"R = sorted(str(one) for one in {look}().values() if one in (1, 2))", "R = 1",
        f"R = {look}().get('{n}')", "R = 4", f"{n} = 1", "R = len(locals())", f"R = eval('{n}', {look}())", "R = len(vars())",
    )  # fmt: skip
    lines = [made, f"{n} = 1", *_met(g, _chosen(g, uses))]
    return [f"def {name}():", *_deeper(lines), f"{name}()"] if g.chance(0.8) else lines


def marked_section(g: "Grammar") -> list[str]:
    """Imports and assignments between comments that the program looks for in its own text."""
    name = g.name("part")
    modules = ["import json", "import math", "from string import digits", "import textwrap", "import heapq"]
    kept = g.rng.sample(modules, 3)
    lines = [*kept[:1], f"###{{{name}", *kept[1:2], f"###}}{name}", *kept[2:]]
    if g.chance(0.3):
        lines.insert(g.rng.randrange(len(lines)), f"{g.name('u')} = {g.pick('3', 'a')}")
    return [*lines, f"show(section('{name}'))"]


def exception_groups(g: "Grammar") -> list[str]:
    """A group that is made of a list, raised and split."""
    m = g.name("m")
    made = [f"{m} = [{g.pick('KeyError(1)', 'ValueError(a)')}, {g.pick('TypeError()', 'ValueError(2)')}]"]
    body = _met(
        g,
        [
            *_chosen(
                g,
                ("R = ExceptionGroup('many', M)", "M.append(OSError(3))", "M.pop()", "R = len(M)", "bump()"),
            )
        ],
        M=m,
    )
    kinds = g.rng.sample(["ValueError", "KeyError", "TypeError", "(OSError, LookupError)"], 2)
    end = [
        line
        for kind in kinds
        for line in (f"except* {kind} as group:", f"    {g.pick('show(group)', 'bump()', 'a = 1')}")
    ]
    return [*made, "try:", *_deeper(body), f"    raise ExceptionGroup('many', {m})", *end]


def returning_finally(g: "Grammar") -> list[str]:
    """A function whose `finally` returns, leaves a loop, or changes what is returned."""
    name = g.name("inner")
    first = g.pick("return trace(n)", "return kept", "n = fail(n)", "kept.append(n)", "return [*kept, n]")
    last = g.pick(
        "return kept", "kept.append(9)", "n = 4", "bump()", "if n: return 5", "kept = []", "return n"
    )
    handler = g.rng.choice(
        [[], ["except ValueError:", f"    {g.pick('return n', 'n += 1', 'raise KeyError(n)')}"]]
    )
    lines = ["n, kept = 1, [a]", *(["for i in (1, 2):"] if (loop := g.chance(0.3)) else [])]
    block = [
        "try:",
        *_deeper([first]),
        *handler,
        "finally:",
        *_deeper([last if not loop else g.pick(last, "break", "continue")]),
    ]
    return [
        f"def {name}():",
        *_deeper([*lines, *(_deeper(block) if loop else block), "return n, kept"]),
        *_caught(g, [f"show({name}())"], 0.6),
    ]


def star_arguments(g: "Grammar") -> list[str]:
    """Calls with stars, in which the order of evaluation and of keywords can be seen."""
    uses = (
        "R = anything(*xs, **dd)", "R = anything(*trace(ys), k2=bump())", "R = anything(trace(1), *ys, z=trace(2))", "xs.append(4)",
        "R = anything(**dd, y=trace(3))", "R = [*xs, *ys]", "R = {*xs, 1}", "R = {**dd, 'k': bump()}", "dd['n'] = 2", "ys.clear()",
        "R = named(*ys[:2], z=1)", "R = anything(*Source())", "R = print(*xs, sep='-')", "R, *w = xs", "*w, R = ys", "(R, w), v = (1, 2), 3",
        "R = anything(b=trace(1), a=trace(2))", "R = anything(*(trace(i) for i in ys))", "R = max(*xs, *ys)",
    )  # fmt: skip
    return _caught(g, _met(g, _chosen(g, uses)), 0.3)


def matched(g: "Grammar") -> list[str]:
    """A `match` with captures, guards that act, and walrus expressions."""
    x, y = g.name("x"), g.name("y")
    subject = g.pick(
        "xs", "dd", "(a, b)", f"({y} := [a, trace(b)])", "o", "s", "Source()", "[a, [b, 1]]", "trace(a)"
    )
    patterns = (
        f"[{x}, *rest] if ({y} := trace({x}))", f"{{'k': {x}, **rest}} if bump() > 1", f"({x}, 1 | 2 as {y})", f"Thing(v={x}, items=[])",
        f"[{x}, [{y}, _]]", f"int({x}) | str({x})", f"[_, {x}] if {x} in xs", "[] | {}", "True | None", f"Thing() as {x}", f"{x} if {x} == b",
    )  # fmt: skip
    lines = [f"{x} = {y} = 0", f"match {subject}:"]
    for pattern in g.rng.sample(patterns, g.rng.randint(1, 3)):
        lines += [
            f"    case {pattern}:",
            f"        {g.pick('bump()', f'{y} = {x}', 'xs.append(2)', f'a = {x}')}",
        ]
    if g.chance(0.5):
        lines += ["    case _:", f"        {g.pick('bump()', f'{x} = 7', 'pass')}"]
    return [*lines, f"show({x}, {y})"]


def walrus(g: "Grammar") -> list[str]:
    """Variables bound inside of expressions, some of them not always."""
    x = g.name("x")
    uses = (
        f"R = a and ({x} := trace(3))", f"R = [{x} := i for i in ys]", f"R = ({x} := 4) + {x}", f"R = {x}", f"{x} = 8",
        f"R = any(({x} := i) > 1 for i in ys)", f"if ({x} := b): bump()", f"R = f'{{({x} := 2)}}{{{x}}}'", f"R = {x} if ({x} := a) else 0",
        f"R = anything({x} := 5, {x})", f"while ({x} := {x} - 1) > 0: trace({x})",
    )  # fmt: skip
    return [f"{x} = {g.pick('1', 'a % 5')}", *_met(g, _chosen(g, uses), N=x)]


def shared_nonlocals(g: "Grammar") -> list[str]:
    """Functions that share variables, and statements that use them between the calls."""
    n, m, name, other = g.name("n"), g.name("n"), g.name("inner"), g.name("inner")
    lines = [
        f"{n}, {m} = {g.pick('1, 2', 'a, b')}",
        f"def {name}(k=0):",
        f"    nonlocal {n}, {m}",
        f"    {n} {g.pick('+=', '-=', '=')} {g.pick('1', 'k', m)}",
        f"    return {g.pick(n, m, 'k')}",
        f"def {other}():",
        f"    {g.pick(f'return {n} + {m}', f'nonlocal {m}; {m} = 9', f'return {name}({m})')}",
    ]
    uses = (
        f"R = {n}", f"R = {m}", f"{n} = 5", f"{name}(2)", f"R = {name}({n})", f"R = {other}()", f"{m} = {n}", f"R = [{n}, {m}]",
        f"R = sorted(ys, key=lambda i: {name}(i))", f"R = max(ys, key={name}, default=0)", f"R = [{name}(i) for i in ys]", "R = 3",
        f"R = any({name}(i) for i in ys)", f"ys.sort(key={name})", f"R = list(map({name}, ys))", f"R = {n} + {m}",
    )  # fmt: skip
    return [*lines, *_met(g, _chosen(g, uses), M=n, N=m)]


def descriptors(g: "Grammar") -> list[str]:
    """An object of a class of the prelude whose attributes, items and operators act or raise."""
    m = g.name("m")
    made = g.pick("Slots()", "Slots()", "Op(b)", "Source()", "Thing()", "trap")
    lines = _met(g, _chosen(g, OBJECT_USES), M=m)
    shown = [line for line in lines if not line.startswith("show(")] + [
        lines[-1].replace(f", {m}", "").replace(f"show({m})", "show()")
    ]
    return [f"{m} = {made}", *_inside(g, _caught(g, shown, 0.4), [m])]


def annotated(g: "Grammar") -> list[str]:
    """A function whose parameters have annotations that hold."""
    name = g.name("inner")
    uses = (
        "R = sum(many)", "R = [i for i in many]", "many.append(2)", "R = tuple(many)", "R = int(number)", "R = range(number)", "R, *w = many",
        "R = number in many", "R = sorted(many, key=lambda i: -i)", "R = float(number)", "R = table.get('k')", "table['m'] = number",
        "R = list(table.items())", "R = dict(table, z=1)", "R = {**table}", "R = word.upper()", "R = word + 'x'", "R = [*word]", "many.clear()",
        "R = many[number]", "R = word[number]", "number += 1", "R = len(many or word)", "R = 'k' in table", "R = bytes(many)", "bump()",
        "R = max(many, default=number)", "R = dict(zip(word, many))", "R = ','.join(word)", "R = number + 1", "R = f'{number}{word}'", "R = 3",
    )  # fmt: skip
    given = g.pick(
        "[1, 2], 1, {'k': 1}, 'ab'",
        "[3, 1, 2], 0, {}, 'a'",
        "[], 2, {'k': 3, 'j': 4}, ''",
        "[*range(3)], len(s), {'k': 2}, 'xyz'",
    )
    return [
        f"def {name}(many: list[int], number: int, table: dict[str, int], word: {g.pick('str', 'str | None')}):",
        *_deeper(_caught(g, _met(g, _chosen(g, uses)), 0.3)),
        f"{name}({given})",
    ]


def private_state(g: "Grammar") -> list[str]:
    """A method that stores and reads private and public attributes of its object."""
    name = g.name("Local")
    uses = (
        "self._one = 3", "self._two = a", "R = self._one", "R = self._two", "self.size = 4", "R = self.size", "self._one += 1",
        "R = len(self._many)", "self._many.append(1)", "R = tuple(self._many if b else ys)", "self._many = []", "self._one, self._two = 1, 2",
        "R = self.told()", "self._one = self._two", "R = self._one if b else self._two", "R = 3", "bump()",
    )  # fmt: skip
    return [
        f"class {name}:",
        "    def __init__(self):",
        *_deeper(
            _deeper(g.rng.sample(["self._one = 1", "self._two = 2", "self.size = 3", "self._many = [a]"], 4))
        ),
        "    def told(self): return self._one, self._two",
        "    def step(self):",
        *_deeper(_deeper(_met(g, _chosen(g, uses)))),
        f"show({name}().step(), {name}().told())",
    ]


def properties(g: "Grammar") -> list[str]:
    """A class with properties that only look, one of which may raise."""
    name, m = g.name("Local"), g.name("m")
    uses = (
        "R = M.size", "R = M.bad", "M.n = 4", "M.size = 2", "R = M.n", "R = M.size + M.n", "R = hasattr(M, 'bad')", "R = getattr(M, 'bad', 1)",
        "R = xs[9]", "R = 3", "xs.append(1)", "R = M.size if b else 0", "bump()",
    )  # fmt: skip
    return [
        f"class {name}:",
        "    def __init__(self): self.n = 1",
        "    @property",
        f"    def size(self): return {g.pick('self.n', 'len(xs)', 'G', '[self.n]')}",
        "    @size.setter",
        "    def size(self, value): self.n = value",
        "    @property",
        f"    def bad(self): {g.pick('raise KeyError(1)', 'return 1 // 0', 'return self.n')}",
        f"{m} = {name}()",
        *_caught(g, _met(g, _chosen(g, uses), M=m), 0.6),
    ]


ACTING_MEMBERS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "size": ("@property\ndef size(self):", ("R = M.size", "R = M.size + 1", "R = getattr(M, 'size', 0)", "R = hasattr(M, 'size')")),
    "__getattr__": ("def __getattr__(self, name):", ("R = M.other", "R = getattr(M, 'other')", "R = [M.other, M.count]")),
    "__getitem__": ("def __getitem__(self, key):", ("R = M[1]", "R = M['k']", "R = operator.getitem(M, 0)")),
    "__contains__": ("def __contains__(self, one):", ("R = 1 in M", "R = a not in M", "R = operator.contains(M, 1)")),
    "__bool__": ("def __bool__(self):", ("R = not M", "R = M and 1", "R = 1 if M else 2", "if M: R = 2\nelse: R = 3", "R = bool(M)")),
    "__len__": ("def __len__(self):", ("R = len(M)", "R = not M", "R = M or 3")),
    "__eq__": ("def __eq__(self, other):", ("R = M == 1", "R = 2 != M", "R = M in [1, 2]", "R = [1, M].count(3)", "R = (M,) == (2,)")),
    "__lt__": ("def __lt__(self, other):", ("R = M < 1", "R = 2 > M", "R = min(M, 3)", "R = sorted([M, 2])", "R = max(1, M)")),
    "__hash__": ("def __hash__(self):", ("R = {M: 1}.get(M)", "R = len({M, 1})", "R = hash(M)", "R = 2 if M in {1: 2} else 1")),
    "__str__": ("def __str__(self):", ("R = f'{M}'", "R = '%s' % M", "R = str(M)", "R = '{}'.format(M)", "R = print(M)")),
    "__format__": ("def __format__(self, spec):", ("R = f'{M:>4}'", "R = format(M, 'x')", "R = '{:3}'.format(M)", "R = f'{M}-'")),
    "__add__": ("def __add__(self, other):", ("R = M + 1", "R = sum([M])", "R = operator.add(M, 2)", "R = M + a")),
    "__radd__": ("def __radd__(self, other):", ("R = 1 + M", "R = sum([1, M])", "R = a + M")),
    "__neg__": ("def __neg__(self):", ("R = -M", "R = operator.neg(M)")),
    "__abs__": ("def __abs__(self):", ("R = abs(M)", "R = max([M], key=abs)")),
    "__setattr__": ("def __setattr__(self, name, value):", ("M.new = 1", "M._new = 2", "R = setattr(M, 'n', 3)")),
}  # fmt: skip
"""Members of a class that look by right, by name, each with statements that run it."""


def acting_look(g: "Grammar") -> list[str]:
    """An object whose class, in the same text, acts or raises when somebody looks at it."""
    name, m, n = g.name("Local"), g.name("m"), g.name("n")
    member = g.rng.choice(tuple(ACTING_MEMBERS))
    head, uses = ACTING_MEMBERS[member]
    act = g.rng.choice(
        [
            [f"nonlocal {n}", f"{n} += 1"],
            [f"{n}.append(2)"],
            ["self.__dict__['count'] = 7"],
            ["bump()"],
            ["xs.append(1)"],
            [f"fail({n})"],
        ]
    )
    result = (
        g.pick("True", "1")
        if member in ("__bool__", "__len__")
        else "'text'"
        if member in ("__str__", "__format__")
        else "3"
    )
    result = "True" if member == "__bool__" else "None" if member == "__setattr__" else result
    body = [*head.splitlines(), *_deeper(act), f"    return {result}"]
    start = f"{n} = [1]" if act[0].startswith(f"{n}.") else f"{n} = 1"
    looks = (
        "R = N",
        "R = M.count",
        "R = G",
        "R = len(xs)",
        "R = xs[-1]",
        "R = 3",
        "N = 5",
        "R = M.__dict__.get('count')",
        "bump()",
    )
    lines = _met(g, _chosen(g, uses, looks), M=m, N=n)
    lines[-1] = re.sub(rf"show\(((?:.*, )?){m}\b(?:, )?", r"show(\1", lines[-1]).replace(", )", ")")
    return [
        start,
        f"class {name}:",
        *([] if member == "__setattr__" else ["    count = 0"]),
        *_deeper(body),
        f"{m} = {name}()",
        *_caught(g, lines, 0.4),
    ]


def certain_numbers(g: "Grammar") -> list[str]:
    """Variables of certain type, in the forms that rewritings of expressions look for."""
    n, m = g.name("n"), g.name("n")
    uses = (
        f"{n} = {n} + {m}", f"{n} = {n} * 2", f"{n} += {m}", f"R = {n} + {m} * 2", f"R = {n} < {m} and {m} < 9", f"R = {n} == {m}",
        f"R = {n} > 0 and {n} <= {m}", f"R = {n} in (1, 2, 3)", f"R = {n} not in [1, {m}]", f"R = {m} & {n} | 4", f"{m} = {m} - 1",
        f"R = 1 < {n} < {m}", f"R = not {n} < {m}", f"R = {n} if {m} > 2 else 7", f"R = {{1: 'a', 2: 'b', 3: 'c'}}.get({n})",
        f"R = {{2: {n}, 1: {m}}}[1]", f"R = {m} >= {n} and {n} >= 0 and {n} != 4", "R = 'ab'.startswith(('a', 'b'))",
    )  # fmt: skip
    return [f"{n} = {g.rng.randrange(5)}", f"{m} = {g.rng.randrange(5)}", *_met(g, g.rng.sample(uses, 6))]


def certain_texts(g: "Grammar") -> list[str]:
    """Texts of certain type, in the forms that rewritings of strings look for."""
    word, n = g.name("word"), g.name("n")
    uses = (
        f"R = f'{{{n}}} {{{word}}}!'", f"R = f'{{{word}}}{{{word}!r}}'", f"R = '<' + {word} + '>'", f"R = {word} + ', ' + {word} + '.'",
        f"R = '{{}}: {{:>4}}'.format({word}, {n})", f"R = '{{0}}-{{1}}-{{0}}'.format({n}, {word})", f"R = '%s has %r (100 %%)' % ({word}, {n})",
        f"R = '%s' % {word}", f"R = '%r-%s' % ({n}, {word})", f"R = 'one ' 'two ' + {word}", f"R = f'{{{n}:>3}}|{{{word}:<4}}'",
        f"R = '{{k}}!'.format(k={word})", f"R = {word}.upper() + {word}.strip() + 'x'", "R = 'a longer text that can be split in two'",
        f"R = f'{{{n} + 1}} of {{len({word})}}'", f"R = str({n}) + {word} + 'y'",
    )  # fmt: skip
    return [
        f"{word} = {g.pick(repr('hey'), repr('it'), 'str(a)')}",
        f"{n} = {g.pick('3', 'len(t)')}",
        *_met(g, g.rng.sample(uses, 6)),
    ]


def certain_branches(g: "Grammar") -> list[str]:
    """Branches, cases and handlers that rewritings look for, on a variable of certain type."""
    n, r = g.name("n"), g.name("u")
    act = lambda: g.pick(f"{r} = {g.rng.randrange(9)}", "bump()", f"{r} = {n}", "xs.append(2)", f"{r} = a")  # noqa: E731
    leave = lambda: g.pick("return a, xs", f"return {r}", "raise KeyError(a)")  # noqa: E731
    start = [f"{r} = 0", f"{n} = len({g.pick('t', 'str(b)', 'str(a is None)')})"]
    several = g.rng.sample(
        [
            [f"if {n} == 1:", f"    {act()}", f"elif {n} == 2:", f"    {act()}", f"elif {n} in (4, 5):", f"    {act()}"],
            [f"match {n}:", "    case 1:", f"        {act()}", "    case 4 | 5:", f"        {act()}", "    case 2:", f"        {act()}"],
            ["try:", f"    {act()}", f"    {g.pick('fail(1)', 'dd[0]', 'xs[9]', 'o.zz', 'import nowhere', 'missing(b)')}", "except OSError:", f"    {act()}",
             "except ImportError:", f"    {act()}", "except (AttributeError, NameError):", f"    {act()}", "except Exception:", f"    {act()}"],
            [f"if {n} > 1:", f"    {act()}", "else:", f"    if {n}:", f"        {act()}", "    else:", f"        {act()}"],
            [f"if {n} > 4:", f"    {leave()}", "else:", f"    {act()}"],
            [f"if {n} > 4:", f"    {leave()}", act()],
            [f"if {n} == 2:", f"    {r} = 1", "else:", f"    {r} = 2"],
            [f"{r} = 1 if {n} == 2 else 2"],
            [f"if {n} and a:", f"    {act()}"],
            [f"if {n}:", "    if b:", f"        {act()}"],
            ["try:", "    try:", f"        {act()}", "        fail(2)", "    except ValueError:", f"        {act()}", "finally:", f"    {act()}"],
            ["with Guard('x'):", "    with Guard('y', swallow=True) as w:", f"        {act()}"],
            ["with Guard('x') as v, Guard('y'):", f"    {act()}"],
            [f"{r} = sorted(xs, key=len if a is None else None, reverse=True)"],
            [f"{r} = sorted(ys, key=str, reverse={g.pick('True', 'False')})"],
            [f"{r} = named(z={n}, y=2)", f"print(1, {n}, sep='-', end=';')"],
            [f"for i in range({n}):", f"    {act()}", "    if i == 1: continue", f"    {act()}"],
            ["for i in range(len(ys)):", "    trace(ys[i])"],
            [f"while {n} > 0:", f"    {n} -= 1", f"    {act()}"],
        ],
        5,
    )  # fmt: skip
    return [*start, *(line for lines in several for line in lines), f"show({r})"]


def layout(g: "Grammar") -> list[str]:
    """Text that rewritings of layout look for."""
    r = g.name("u")
    several = g.rng.sample(
        [
            [f"{r} = [", "    1,", f"    {g.pick('a', 'b')},", "]"],
            [f"{r} = trace(", f"    {g.pick('1', 'a')},", ")"],
            [f"{r} = (a); {g.name('v')} = [b, 2,]"],
            [f"{r} = 1", "", f"{g.name('v')} = 2", "", "", "# Text."],
            [f"if a: {r} = 1", f"else: {r} = 2"],
            [f"{r} = 'one ' 'two'", f"{g.name('v')} = \"three\""],
            [f"{r} = ((a) + (1))", f"{g.name('v')} = {{'k': (1), 'j': [2]}}"],
            [f"{r}: int = 4", f"{g.name('v')}: list[int] = [a]"],
            [f"{r} = 0x1f + 1_000", f"{g.name('v')} = 1e3"],
            [f"def {(inner := g.name('inner'))}(n: int = 1):", '    """Text."""', "    return n", f"{r} = {inner}()"],
        ],
        3,
    )  # fmt: skip
    return [f"{r} = 0", *(line for lines in several for line in lines), f"show({r})"]


def imports(g: "Grammar") -> list[str]:
    """Imports from the standard library side by side."""
    several = [
        "import json", "import string", "from math import floor, ceil", "from math import pi, tau", "import heapq, textwrap",
        "from collections import deque, Counter as Bag", "import os.path", "from string import digits",
    ]  # fmt: skip
    return g.rng.sample(several, g.rng.randint(2, 3))


FILE_FUNCTIONS: Final = """\
KEPT = [1]
def level(): return G
def fresh(n): return [n, 1]
def collected(n):
    out = []
    out.append(n)
    return out
def holder(n): return {"k": n}
def kept(n=0): return KEPT
def word(flag):
    if flag is None: return "none"
    return "some"
def need(n):
    if n is None: raise ValueError("none")
    return n
def size(n): return len(n)
def counted(many: list):
    n = 0
    for _ in many: n += 1
    return n
def boxed(n, other=None, *, last=3): return n, other, last
def deep(n): return [level(), need(n)]
def acting(n):
    bump()
    return n
def told(n): return acting(n)
def keeps(n):
    KEPT.append(n)
    return n
def back(n): return forth(n) if n is None else n
def forth(n):
    if n is None: bump()
    return n if n is None else back(n)
@functools.lru_cache
def cached(n): return G
def taken(many): return next(many, 0)
def later(n): return lambda: n
def lasts(n):
    yield n
    bump()
def either(n): return KEPT if n else []
"""
"""Functions of the program's file: some only look, others act, and some look like the other kind."""

FILE_FUNCTION_USES: Final = (
    "R = level()", "R = need(N)", "R = need(None)", "R = fresh(M)", "R = fresh(1); R.append(M)", "R = collected(N)",
    "R = collected(1); R.append(2)", "R = kept()", "kept().append(4)", "R = kept(1); R.append(5)", "KEPT.clear()",
    "R = boxed(1)", "R = boxed(1, 2, 3)", "R = boxed(last=1)", "R = boxed(*M)", "R = boxed(1, n=2)", "R = boxed(2, what=N)",
    "R = word(N)", "R = word(M) + 'x'", "R = word(None) < word(1)", "R = len(fresh(N))", "R = counted(M)", "M.append(1)",
    "R = sum(counted(M) for _ in ys)", "R = acting(N)", "R = told(2)", "R = keeps(3)", "R = forth(1)", "R = forth(None)", "R = cached(1)", "R = cached(2)",
    "R = taken(M)", "w = iter(M); R = taken(w)", "R = deep(N)", "R = deep(None)", "R = [*fresh(1), *collected(2)]",
    "w = fresh(0); R = w; w.append(level())", "w = kept(); R = w; w.append(level())", "R = [i for i in fresh(bump())]", "N = 5", "xs[9]", "R = M[0]", "R = tuple(need(i) for i in M)",
    "for R in fresh(2): pass", "R, w = fresh(3)", "R, w = boxed(3)", "R = holder(M); R['k'].append(6)", "R = holder(M); R['z'] = 1",
    "R = size(M)", "R = size(M) + size(KEPT)", "R = size(N)", "R = later(N)", "R = list(lasts(1))", "R = next(lasts(2))", "R = either(N); R.append(7)", "R = either(0); R.append(8)",
    "w = either(1); R = size(w); w.append(9)", "mine = kept(); mine.append(level())", "mine = fresh(2); mine.append(level()); R = len(mine)",
    "mine = kept(); mine.clear(); R = len(mine)", "mine = collected(2); mine.append(3)", "R = mine[0]", "R = len(mine)", "R = len(KEPT)", "R = [*KEPT]", "R = [*mine]", "bump()", "bump()", "G", "R = G", "R = a // b", "R = None", "global G; G = 7",
)  # fmt: skip
"""Statements with a list `M` and a number `N`."""


def file_functions(g: "Grammar") -> list[str]:
    """Statements that call functions of the file."""
    m, n = g.pick("xs", "ys", g.name("m")), g.name("n")
    setup = [f"{m} = [3, 1]"] if m not in ("xs", "ys") else []
    setup += [f"{n} = {g.pick('a', '2', 'None', '[]')}", f"mine = {g.pick('kept()', 'fresh(1)', '[]')}"]
    if g.chance(0.08):
        setup.append(f"globals()[{g.pick('level', 'need', 'size', 'fresh')!r}] = {g.pick('trace', 'later')}")
    lines = _caught(g, _met(g, _chosen(g, FILE_FUNCTION_USES, most=7), M=m, N=n), 0.2)
    return [*setup, *lines]


def preface(g: "Grammar") -> tuple[list[str], list[str]]:
    """Definitions above the function, and statements that use them."""
    if g.chance(0.5):
        return FILE_FUNCTIONS.splitlines(), [*file_functions(g), *file_functions(g)]
    made: list[tuple[list[str], str]] = [
        (["def half(n): return n - 1"], "show(half(a))"),
        (["def twice(n, *, k=2, m=1):", "    bump()", "    return n * k - m"], "show(twice(3, m=2, k=4))"),
        (["class Pair:", '    """Two numbers."""', "    def one(self): return 1", "    def two(self): return self.one() + 1"], "show(Pair().two())"),
        (["from math import ceil, floor"], "show(floor(2.5))"),
        (["import json", "import string"], "show(json.dumps([1], indent=None, sort_keys=True))"),
        (["class Lazy:", "    def __init__(self): self.n = 1", "    @property", "    def size(self): return self.n", "    def grow(self): self.n += 1"], "show(Lazy().size)"),
        (["LIMIT = 3"], "show(LIMIT)"),
        (["read = 0", "class Lines:", "    @property", "    def last(self):", "        global read", "        read += 1", "        return 4"],
         "lines = Lines()\nfirst = lines.last\nmany = read\nagain = lines.last\nshow(first, many, again)"),
        (["asks = 0", "class Asked:", "    def __eq__(self, other):", "        global asks", "        asks += 1", "        return True"],
         "asked = Asked()\nsame = asked == a\nmany = asks\nother = 3 != asked\nshow(same, many, other)"),
    ]  # fmt: skip
    chosen = g.rng.sample(made, g.rng.randint(2, 4))
    return [line for lines, _ in chosen for line in [*lines, ""]], [
        line for _, use in chosen for line in use.splitlines()
    ]


GUARDS: Final = (
    "M is None", "M is not None", "not M is None", "M is not None and trace(1)", "M is None and b", "M == 1", "M == 2", "M != 1",
    "not M", "M", "not not M", "M and a", "not M == 2", "M == 'k'", "M == 1 or b", "M is None or M", "(M := a) == 1", "M == 1.0", "M == True",
)  # fmt: skip
"""Tests of a variable `M`, some of which exclude each other."""
GUARDED: Final = (
    "bump()", "show(G)", "ys.append(1)", "show(ys)", "M = 1", "M = None", "M = 2", "return a, M", "raise KeyError(1)", "xs.clear()", "e = 5",
    "show(e)", "e = M", "c = a // b", "trace(M)", "del M",
)  # fmt: skip


def exclusive_tests(g: "Grammar") -> list[str]:
    """Neighbouring branches that test one variable."""
    m = g.name("m")
    value = g.pick(
        "None",
        "1",
        "a if b else None",
        "len(xs)",
        "bool(a)",
        "a > b",
        "'k'",
        "1 if a else 2",
        "[]",
        "p",
        "trace(a)",
    )
    setup, late = [f"{m} = {value}"], []
    if g.chance(0.15):
        setup += [f"def {m}f():", f"    nonlocal {m}", f"    {m} = 2"]
        late = [f"if {m} is not None: {m}f()"]
    branches = [f"if {g.rng.choice(GUARDS)}: {g.rng.choice(GUARDED)}" for _ in range(g.rng.randint(2, 4))]
    lines = [re.sub(r"\bM\b", m, branch) for branch in branches]
    lines += late
    g.rng.shuffle(lines)
    if g.chance(0.2):
        jump = g.pick("break", "continue")
        lines = [
            "for _ in range(2):",
            *_deeper([*lines, f"if {m} is None: {jump}", f"if {m} is not None: bump()"]),
        ]
    return [*setup, *_caught(g, lines, 0.15), "show(e)", *([f"show({m})"] if g.chance(0.5) else [])]


CONSTRUCTS: Final[tuple[Callable[["Grammar"], list[str]], ...]] = (
    aliased_list, aliased_mapping, half_consumed, half_consumed, acting_self, operands, kept_closure, acting_import, several_raise,
    subclass_of_text, huge_number, class_names, unbound_inside, own_variables, marked_section, exception_groups,
    returning_finally, star_arguments, matched, walrus, shared_nonlocals, acting_look, acting_look, annotated, descriptors, private_state, properties,
    certain_numbers, certain_numbers, certain_texts, certain_texts, certain_branches, certain_branches, certain_branches, certain_branches, exclusive_tests, layout, layout, imports,
)  # fmt: skip

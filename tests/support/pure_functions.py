"""Small pure functions with inputs: what a meaning-keeping rewriting must not change."""

import copy
from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """A function's text and arguments to call it with, by position."""

    source: str
    inputs: tuple[tuple[object, ...], ...]

    def __str__(self) -> str:
        return self.source.partition("(")[0].removeprefix("def ")

    def run(self, source: str | None = None) -> list[object]:
        """The result, or the kind of the exception, for every input; generators are drained."""
        space: dict[str, object] = {}
        exec(compile(source or self.source, "<program>", "exec", dont_inherit=True), space)
        function = space[str(self)]
        return [_outcome(function, arguments) for arguments in self.inputs]


def _outcome(function: object, arguments: tuple[object, ...]) -> object:
    try:
        result = function(*copy.deepcopy(arguments))
        return list(result) if hasattr(result, "__next__") else result
    except Exception as error:
        return type(error)


PROGRAMS = (
    Program(
        """\
def mean_and_spread(numbers):
    total = 0
    for number in numbers:
        total += number
    mean = total / len(numbers)
    spread = max(numbers) - min(numbers)
    return mean, spread
""",
        (([1, 2, 3],), ([5],), ([],)),
    ),
    Program(
        """\
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a
""",
        ((0,), (1,), (10,), (25,)),
    ),
    Program(
        """\
def binary_search(items, wanted):
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < len(items) and items[low] == wanted else -1
""",
        (([1, 3, 5, 7], 5), ([1, 3, 5, 7], 4), ([], 1)),
    ),
    Program(
        """\
def word_counts(text):
    counts = {}
    for word in text.lower().split():
        word = word.strip('.,')
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
""",
        (("a b a, c. C",), ("",)),
    ),
    Program(
        """\
def counter(steps):
    count = 0
    seen = []

    def bump(by=1):
        nonlocal count
        count += by
        seen.append(count)
        return count

    for step in steps:
        bump(step)
    bump()
    return count, seen
""",
        (([1, 2],), ([],)),
    ),
    Program(
        """\
def late_bound(n):
    makers = [lambda: i for i in range(n)]
    fixed = [lambda i=i: i for i in range(n)]
    return [make() for make in makers], [make() for make in fixed]
""",
        ((3,), (0,)),
    ),
    Program(
        """\
def describe(value):
    match value:
        case [first, *rest] if rest:
            answer = f"{first!r} and {len(rest)} more"
        case {"name": name, **others}:
            answer = f"{name:>{len(name) + 2}} {sorted(others)}"
        case (int() | float()) as number:
            answer = f"number {number}"
        case other:
            answer = f"other {other}"
    return answer
""",
        (([1, 2, 3],), ({"name": "x", "y": 1},), (3,), ("z",), ([1],)),
    ),
    Program(
        """\
def safe_divide(pairs):
    results = []
    for a, b in pairs:
        try:
            quotient = a / b
        except ZeroDivisionError as error:
            results.append(str(error))
        except TypeError as error:
            results.append(type(error).__name__)
        else:
            results.append(quotient)
        finally:
            last = (a, b)
    return results, last
""",
        (([(1, 2), (1, 0), ("a", 2)],), ([],)),
    ),
    Program(
        """\
def walrus(values):
    best = None
    kept = [y for x in values if (y := x * 2) > 3]
    while (n := len(kept)) > 2:
        best = kept.pop()
    return best, kept, n, y
""",
        (([1, 2, 3, 4],), ([5],), ([],)),
    ),
    Program(
        """\
def primes(limit):
    sieve = [True] * (limit + 1)
    for p in range(2, limit + 1):
        if sieve[p]:
            yield p
            for multiple in range(p * p, limit + 1, p):
                sieve[multiple] = False
""",
        ((30,), (2,), (0,)),
    ),
    Program(
        """\
def local_class(start):
    step = 2

    class Walker:
        step = step_outer = 3
        size = [start for _ in range(2)]

        def walk(self, times):
            place = start
            for _ in range(times):
                place += step * self.step
            return place

    walker = Walker()
    return walker.walk(3), Walker.size, walker.step_outer
""",
        ((1,), (10,)),
    ),
    Program(
        """\
def unbound(flag):
    if flag:
        value = 1
    del_me = value
    del value
    return del_me, value
""",
        ((True,), (False,)),
    ),
    Program(
        """\
def spread(first, *rest, **options):
    head, *middle, tail = [first, *rest, 0, 1]
    scale = options.get("scale", 2)
    return head * scale, middle, tail
""",
        ((1,), (1, 2, 3)),
    ),
    Program(
        """\
def matrix(rows, columns):
    cells = [[r * c for c in range(columns)] for r in range(rows)]
    turned = [[row[c] for row in cells] for c in range(columns)]
    flat = {(r, c): cells[r][c] for r in range(rows) for c in range(columns) if r != c}
    return turned, flat
""",
        ((2, 3), (0, 1)),
    ),
    Program(
        """\
def imports(number):
    import math as m
    from functools import reduce as fold, partial
    import os.path
    double = partial(pow, 2)
    return fold(lambda a, b: a + b, range(number), 0), m.floor(2.5), double(number), os.path.join("a", "b")
""",
        ((3,), (0,)),
    ),
    Program(
        """\
def find_first(items, wanted):
    for index, item in enumerate(items):
        if item == wanted:
            break
    else:
        index = -1
    return index
""",
        (([1, 2], 2), ([1, 2], 3), ([], 1)),
    ),
    Program(
        """\
def collatz(n, *, limit=1000):
    steps = 0
    while n != 1 and steps < limit:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
""",
        ((1,), (6,), (27,)),
    ),
    Program(
        """\
def recursion(tree):
    def depth(node, level):
        if not isinstance(node, list):
            return level
        deepest = level
        for child in node:
            deepest = max(deepest, depth(child, level + 1))
        return deepest
    return depth(tree, 0)
""",
        (([],), ([1, [2, [3]]],), (1,)),
    ),
    Program(
        """\
def report(rows):
    width = max((len(name) for name, _ in rows), default=0)
    lines = [
        f"{name:<{width}} | "
        f'''{amount:8.2f} {{{name}}}''' "!"
        for name, amount in rows
    ]
    return "\\n".join(lines)
""",
        (([("ab", 1.0), ("c", 2.5)],), ([],)),
    ),
    Program(
        """\
def bubble(values):
    values = list(values)
    n = len(values)
    for i in range(n):
        swapped = False
        for j in range(n - i - 1):
            if values[j] > values[j + 1]:
                values[j], values[j + 1] = values[j + 1], values[j]
                swapped = True
        if not swapped:
            break
    return values
""",
        (([3, 1, 2],), ([],), ([1],)),
    ),
    Program(
        """\
def context(log):
    from contextlib import contextmanager

    @contextmanager
    def section(name):
        log.append("+" + name)
        yield name.upper()
        log.append("-" + name)

    with (section("a") as a, section("b") as b):
        log.append(a + b)
    return log
""",
        (([],),),
    ),
    Program(
        """\
def shadow(x):
    y = [x for x in range(x)]
    z = {x: x for x in y}
    x = sum(x for x in z)
    return x, y, z
""",
        ((4,), (0,)),
    ),
    Program(
        """\
def gcd_all(numbers):
    def gcd(a, b):
        while b:
            a, b = b, a % b
        return a
    result = 0
    for number in numbers:
        result = gcd(result, number)
    return result
""",
        (([12, 18],), ([],), ([7],)),
    ),
    Program(
        """\
def run_lengths(text):
    runs = []
    previous, length = None, 0
    for char in text:
        if char == previous:
            length += 1
            continue
        if previous is not None:
            runs.append((previous, length))
        previous, length = char, 1
    if previous is not None:
        runs.append((previous, length))
    return runs
""",
        (("aabccc",), ("",)),
    ),
    Program(
        """\
def styles(_values):
    LIMIT = 2
    _kept = [_v for _v in _values if _v < LIMIT]
    Pair = tuple
    return Pair(_kept), LIMIT
""",
        (([0, 1, 2, 3],), ([],)),
    ),
    Program(
        """\
def knapsack(weights, values, capacity):
    best = [0] * (capacity + 1)
    for weight, value in zip(weights, values):
        for room in range(capacity, weight - 1, -1):
            candidate = best[room - weight] + value
            if candidate > best[room]:
                best[room] = candidate
    return best[capacity]
""",
        (([1, 3, 4], [15, 20, 30], 4), ([], [], 3)),
    ),
)
"""Together they use every construct that binds names."""

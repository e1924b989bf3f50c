"""Every way to change a container of the function's own meets every way to read it, by execution.

A read before the change and one behind it must stay on their sides, whatever legal order is drawn.
"""

from itertools import islice

import pytest

from codeaudit.transforms.interface import Rewritten
from codeaudit.transforms.python.order.reorder import REORDER
from tests.transforms.python.order.support import run

SETUP = """\
import contextlib
@contextlib.contextmanager
def opened():
    yield 7
"""
LIST = (
    "xs[0] = 9",
    "xs[0:1] = [9, 9]",
    "xs[:] = []",
    "xs[1:] = (5,)",
    "xs[::2] = [8, 8]",
    "xs[a:] = [a]",
    "xs[0] += 1",
    "xs[1:] += [5, 6]",
    "xs[:1] *= 2",
    "xs += [1]",
    "xs *= 2",
    "del xs[0]",
    "del xs[:1]",
    "del xs[::2]",
    "del xs[-a:]",
    "xs[0]: int = 9",
    "xs[0] = b = 9",
    "b, xs[0] = 1, 9",
    "head, *xs[1:] = 1, 2, 3, 4",
    "[b, [xs[0]]] = [1, [9]]",
    "for xs[0] in (8, 9): pass",
    "for xs[:] in ([8], [9]): pass",
    "b = [0 for xs[0] in (8, 9)]",
    "b = [0 for xs[1:] in ([8], [9])]",
    "b = {0: 0 for _, xs[0] in ((8, 9),)}",
    "b = sum(0 for xs[0] in (8, 9))",
    "b = list(0 for xs[1:] in ([8], [9]))",
    "b = (lambda: [0 for xs[0] in (8, 9)])()",
    "with opened() as xs[0]: pass",
    "with opened() as b, opened() as xs[0]: pass",
    "xs.append(9)",
    "xs.extend([9])",
    "xs.insert(0, 9)",
    "xs.pop()",
    "xs.remove(1)",
    "xs.clear()",
    "xs.sort(reverse=True)",
    "xs.reverse()",
    "b = xs.pop()",
    "b = [xs.append(one) for one in (8, 9)]",
    "b = xs.append(9) or 1",
)
DICT = (
    "xs[0] = 9",
    "xs['k'] = 9",
    "xs[a] += 1",
    "del xs[1]",
    "xs |= {5: 5}",
    "b, xs['k'] = 1, 9",
    "*xs['k'], b = 1, 9",
    "for xs['k'] in (8, 9): pass",
    "b = [0 for xs['k'] in (8, 9)]",
    "with opened() as xs['k']: pass",
    "xs['k']: int = 9",
    "xs.update({5: 5})",
    "xs.setdefault(5, 5)",
    "xs.pop(1)",
    "xs.popitem()",
    "xs.clear()",
    "b = xs.setdefault(5, 5)",
    "b = [xs.pop(one, 0) for one in (1, 9)]",
)
SET = (
    "xs.add(9)",
    "xs.discard(1)",
    "xs.remove(1)",
    "xs.update([9])",
    "xs |= {9}",
    "xs &= {1}",
    "xs -= {1}",
    "xs ^= {1, 9}",
    "xs.pop()",
    "xs.clear()",
    "b = [xs.add(one) for one in (8, 9)]",
)
READS = (
    "len(xs)",
    "bool(xs)",
    "not xs",
    "1 if xs else 2",
    "1 in xs",
    "9 not in xs",
    "list(xs)",
    "tuple(xs)",
    "sorted(xs)",
    "sum(xs)",
    "max(xs, default=0)",
    "any(xs)",
    "[one for one in xs]",
    "{one for one in xs if one}",
    "next(iter(xs), 0)",
    "[*xs]",
    "xs.copy()",
    "str(xs)",
    "f'{xs}'",
    "xs == [1, 2, 3]",
    "list(enumerate(xs))",
    "dict.fromkeys(xs)",
    "'-'.join([str(one) for one in xs])",
)
LISTED = (
    "xs[0]",
    "xs[-1:]",
    "xs[:]",
    "xs[::2]",
    "xs.count(1)",
    "xs.index(1)",
    "xs + [1]",
    "list(reversed(xs))",
)
KEYED = ("xs.get(1)", "xs.get('k')", "list(xs.items())", "list(xs.values())", "{**xs}", "[*xs.keys()]")
AROUND = (
    "{}",
    "if a: {}",
    "while a:\n        a = 0\n        {}",
    "for _ in range(a): {}",
    "try: {}\n    finally: a = 0",
)
MADE = {"[1, 2, 3]": (LIST, LISTED), "{1: 1, 2: 2}": (DICT, KEYED), "{1, 2}": (SET, ())}


@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("made", "change"), [(made, change) for made, (changes, _) in MADE.items() for change in changes]
)
def test_no_read_passes_a_change(made: str, change: str) -> None:
    compound = change.startswith(("for ", "with "))
    for number, read in enumerate((*READS, *MADE[made][1])):
        # All surroundings of each change, and all reads of it; not every pair of these.
        for around in AROUND[:1] if compound else (AROUND[0], AROUND[1 + number % (len(AROUND) - 1)]):
            source = (
                f"def f(a):\n    xs = {made}\n    before = {read}\n    {around.format(change)}\n"
                f"    after = {read}\n    return before, after, xs\n"
            )
            expected = run(f"{SETUP}\n{source}", "f(1)")
            for reorder in (REORDER, REORDER.under("returning")):
                for moves in islice(reorder.every(source), 30):
                    rewritten = reorder.apply(source, moves)
                    assert isinstance(rewritten, Rewritten)
                    assert run(f"{SETUP}\n{rewritten.source}", "f(1)") == expected, rewritten.source

"""What the analysis says of calls in all their forms: no less than `test_knowledge` sees, and no more than this.

The variables are those of `beliefs.NAMES`: `a`, `b` and `c` may be anything, `i` is a number, `k` a text, `p` a tuple,
`xs`, `d` and `s` are containers of this function, `ys`, `h`, `e` and `t` such that other code sees too.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import pytest

from codeaudit.transforms.dependence.effects import ACTS, BARRIER, EXPECTS, LOOKS_UP, OBSERVES, RAISES, STORES
from codeaudit.transforms.python.analysis.shown import shown_looks
from tests.transforms.python.analysis.beliefs import believed

FLAGS: Final[Mapping[str, int]] = {
    "nothing": 0, "looks up": LOOKS_UP, "raises": RAISES, "observes": OBSERVES, "looks": RAISES | OBSERVES,
    "looks up, too": RAISES | OBSERVES | LOOKS_UP, "stores": STORES, "looks and stores": RAISES | OBSERVES | STORES,
    "raises and stores": RAISES | STORES,
}  # fmt: skip
CALLS: Final[Mapping[tuple[str, str | None], str]] = {
    ("nothing", None): """
        ValueError(a); ValueError(*p); OSError(a); ImportError(k, name=k); NameError(k, name=k);
        AttributeError(k, name=k, obj=a); StopIteration(a); KeyError(a); SystemExit(a); SyntaxError(k);
        type(i); d.get(k); d.get(k, a); d.setdefault(k, a)
    """,
    ("nothing", "bool"): """
        isinstance(i, int); k.startswith(k); k.isdigit()
    """,
    ("nothing", "dict"): """
        dict(d); dict(k=a)
    """,
    ("nothing", "float"): """
        max(f, f)
    """,
    ("nothing", "int"): """
        max(i, i); len(xs); k.find(k)
    """,
    ("nothing", "list"): """
        list(p); list(n for n in p); list(d.items()); xs.copy(); k.splitlines()
    """,
    ("nothing", "none"): """
        xs.append(a); xs.clear(); s.add(k); s.discard(k); xs.reverse(); s.clear()
    """,
    ("nothing", "range"): """
        range(i, i)
    """,
    ("nothing", "set"): """
        s.copy()
    """,
    ("nothing", "str"): """
        k.upper(); k.strip(k); k.replace(k, k); max(k, k); k.removeprefix(k); k.title()
    """,
    ("nothing", "tuple"): """
        k.partition('a')
    """,
    ("looks up", None): """
        type(a); super(); operator.itemgetter('a', 'b'); operator.itemgetter('a');
        operator.attrgetter('a', 'b'); itertools.chain(xs, a); itertools.chain(); itertools.count();
        collections.deque(); collections.deque([a, b]); collections.deque((a, b)); collections.Counter();
        collections.defaultdict(); collections.defaultdict(list); collections.OrderedDict()
    """,
    ("looks up", "bool"): """
        callable(a)
    """,
    ("raises", None): """
        OSError(i, k); OSError(i, k, i); UnicodeDecodeError(k, u, i, i, k); ExceptionGroup(k);
        str(u, 'ascii'); bytes('ab', 'ascii'); bytes('ab', 'ascii', 'strict'); bytes(i); bytes([i, i]);
        xs.pop(); xs.pop(i); d.pop(k); s.pop(); bytearray(k, 'ascii'); str(u, 'ascii', 'strict')
    """,
    ("raises", "float"): """
        float(k)
    """,
    ("raises", "int"): """
        len(r); int(k); int(f); int(i, i); int(u)
    """,
    ("raises", "list"): """
        list(r); list(zip(xs, p)); list(zip(xs, p, strict=True)); list(enumerate(xs, i)); list(reversed(p));
        list(enumerate(xs, i, i))
    """,
    ("raises", "none"): """
        s.remove(k)
    """,
    ("raises", "range"): """
        range(i, i, i)
    """,
    ("raises", "str"): """
        str(i); chr(i); k.join(p); k.join(['a', 'b']); oct(i); k.join(k)
    """,
    ("raises", "tuple"): """
        d.popitem()
    """,
    ("observes", None): """
        d.keys(); d.values(); h.values()
    """,
    ("observes", "bool"): """
        isinstance(a, int); isinstance(a, (int, str))
    """,
    ("observes", "int"): """
        len(ys)
    """,
    ("observes", "list"): """
        ys.copy()
    """,
    ("looks", None): """
        sum(xs, start=i); sum(p); max(xs, default=a); max(a, b); max(i, f); zip(xs, p); zip(xs, strict=o);
        zip(xs, strict=a); enumerate(xs); enumerate(xs, i); enumerate(xs, start=i); reversed(p); iter(xs);
        iter((j for j in p)); ValueError(k=1); OSError(a, k); PermissionError(i, k, a);
        ImportError(k, obj=k); SyntaxError(k, p); SyntaxError(k, xs); ExceptionGroup(k, xs);
        getattr(a, 'x'); getattr(a, 'x', b); getattr(a, k); str(a); round(f); round(f, i); round(a); abs(a);
        pow(i, i); divmod(i, i); format(a, k); repr(a); ascii(a); slice(a, a); d.get(a); h.get(k); e.get(k);
        d.pop(a); k.format(a); '{}'.format(a); '{'.format(a); k.format(x=k); k.format_map(d); max(i, a);
        max(xs, xs); round(i); round(k); h.setdefault(k, a); h.pop(k)
    """,
    ("looks", "bool"): """
        any(xs); all(r); isinstance(a, (int, b)); isinstance(a, b); isinstance(a, int | str); isinstance(a);
        hasattr(a, 'x'); hasattr(a, k); issubclass(a, b); isinstance(a, len); isinstance(a, (int, len));
        any(j for j in p); k.startswith(k, i); k.startswith(p)
    """,
    ("looks", "bytes"): """
        k.encode(); k.encode('ascii'); k.encode(encoding='ascii')
    """,
    ("looks", "dict"): """
        dict(e); dict([(1, a)]); dict((1, j) for j in p); dict([(1, j) for j in p]); dict(zip(p, p));
        dict(enumerate(p)); dict(d, d); dict(d, k=a); dict(**d); dict(**kw)
    """,
    ("looks", "float"): """
        float(w)
    """,
    ("looks", "int"): """
        len(a); int(n); int(w); hash(a); xs.index(k); xs.index(a, i); xs.count(a); k.find(k, i); k.index(k);
        k.count(k, i, i)
    """,
    ("looks", "list"): """
        sorted(xs, key=str.lower); sorted(xs, key=len); sorted(xs, key=None);
        sorted(xs, key=lambda j: j.size); sorted(xs, reverse=o); list(ys); list(y.items()); list(e.keys());
        k.split(k); k.split(k, i); k.split(sep=k); k.rsplit(k, maxsplit=i)
    """,
    ("looks", "none"): """
        xs.extend(p); xs.insert(i, a); xs.sort(); xs.remove(k); s.add(a); s.update(p);
        xs.extend(j for j in p)
    """,
    ("looks", "set"): """
        set(p); set(k)
    """,
    ("looks", "str"): """
        k.upper(a); k.strip(a); k.replace(k, k, i); k.center(i); k.format(k); '{} x'.format(a);
        '{}'.format(k); '{'.format(k); k.translate(a); bin(n); hex(w); k.zfill(i); k.ljust(i, k);
        k.expandtabs(i); k.join(xs); k.join(ys); k.join(j for j in p)
    """,
    ("looks", "tuple"): """
        tuple([len(ys)]); tuple(isinstance(a, int) for j in 'ab');
        k.partition(k); k.partition(''); max(p, p); k.rpartition(a)
    """,
    ("looks up, too", None): """
        math.sqrt(i); math.floor(f); math.gcd([i], i); operator.add(a, b); operator.getitem(a, b);
        operator.getitem(xs, i); operator.getitem(a); operator.itemgetter('a', a); os.path.join(k, k);
        os.path.join(a, k); os.path.basename(a); re.compile(k); re.compile(v); re.compile(k, re.I);
        re.compile(k, re.I | re.M); re.escape(k); itertools.count(i); itertools.count(a);
        itertools.cycle(xs); itertools.permutations(xs, i); itertools.product(xs, p);
        itertools.product(xs, repeat=i); functools.partial(a, b); collections.deque(xs);
        collections.deque(xs, i); collections.deque(xs, maxlen=i); collections.Counter(k);
        collections.defaultdict(a); collections.defaultdict(list, d); collections.OrderedDict(d);
        collections.OrderedDict([(1, a)]); np.zeros(i); np.zeros((i, i)); np.zeros(m);
        np.zeros(i, dtype=int); np.zeros(i, dtype=np.int8); np.zeros(i, dtype=k); np.zeros(i, dtype=v);
        np.zeros(i, dtype=(int, str)); np.dtype(int); np.isscalar(a); itertools.chain(*p);
        collections.deque(k=1); collections.OrderedDict(k=a); collections.defaultdict(list, k=a);
        collections.Counter(k=1); itertools.count(step=i); operator.itemgetter(*p);
        collections.defaultdict(len); collections.defaultdict(unknown); collections.defaultdict(b);
        np.zeros(i, dtype=math.pi); np.zeros(i, order=k); np.zeros(shape=i)
    """,
    ("looks up, too", "bool"): """
        isinstance(a, unknown)
    """,
    ("looks up, too", "tuple"): """
        os.path.split(k)
    """,
    ("stores", "none"): """
        ys.append(a); e.clear()
    """,
    ("looks and stores", "none"): """
        t.add(k); t.discard(k); t.remove(k); ys.sort(); ys.extend(p); xs.extend(xs)
    """,
    ("raises and stores", None): """
        ys.pop()
    """,
    ("raises and stores", "tuple"): """
        e.popitem()
    """,
    ("acts", None): """
        sorted(xs, key=a.lower); sorted(xs, key=a); sorted(xs, other=1); max(a); max(a, b, key=len);
        max(*xs); list(*xs); zip(a, xs); zip(xs, other=1); zip(*p); enumerate(xs, a);
        enumerate(xs, start=a); enumerate(a); reversed(a); iter(a); OSError(i, k, a);
        BlockingIOError(i, k, a); OSError(*p); UnicodeDecodeError(a, u, i, i, k); SyntaxError(k, a);
        SyntaxError(*p); ExceptionGroup(k, a); str(u, k); str(a, 'ascii'); bytes(k, 'hostile'); bytes(xs);
        bytes(a); bytes([a]); round(f, a); print(a); open(a); xs.append(a, a); xs.append(k=a); xs.pop(a);
        xs.sort(key=len); xs.clear(1); xs.other(); d.update(a); a.append(1); p.index(1);
        k.encode('hostile'); k.encode(k); k.other(); v.upper(); math.sqrt(a); math.hypot(*p);
        operator.getitem(*p); operator.countOf(xs, a); operator.countOf(a, b); re.compile(a);
        re.compile(k, re.DEBUG); re.compile(k, re.I | re.DEBUG); re.compile(k, a);
        re.compile(k, flags=re.I); re.compile(); re.escape(a); itertools.cycle(a);
        itertools.permutations(xs, a); itertools.product(xs, a); itertools.product(xs, repeat=a);
        itertools.product(*p); collections.deque(a); collections.deque(xs, a); collections.Counter(a);
        collections.defaultdict(list, a); collections.OrderedDict(a); np.zeros(a); np.zeros((i, a));
        np.zeros(w); np.zeros(i, dtype=a); np.zeros(i, dtype=w); np.dtype(a); locals(); a.locals();
        unknown(a); a(b); a.b(c); (lambda: 1)(); sorted(xs, key=print); sorted(xs, key=unknown);
        sorted(xs, key=2); sorted(xs, key=k); sorted(xs, key=int.bit_length); np.zeros(i, dtype=unknown);
        np.zeros(i, order=a); np.zeros(shape=a); zip(); enumerate(); iter(); enumerate(xs, other=i);
        sum(xs, a); min(xs, key=a, default=b); bytes(k, 'ascii', 'hostile'); complex(a); complex(i, a);
        d.get(); d.get(k, k, k); k.join(xs, xs)
    """,
    ("acts", "bool"): """
        any(a)
    """,
    ("acts", "dict"): """
        dict(a); dict([(1, a, 2)]); dict([p]); dict(zip(a, p)); dict(**a)
    """,
    ("acts", "float"): """
        float(a)
    """,
    ("acts", "int"): """
        int(a); xs.index(a, b); k.find(k, a)
    """,
    ("acts", "list"): """
        sorted(xs, key=lambda j: a.pop()); sorted(xs, reverse=a); sorted(a); list(a); list(zip(xs, a));
        list(enumerate(xs, a)); list(enumerate(a)); list(a.items()); list(a.items(1)); k.split(k, a);
        k.split(maxsplit=a); k.split(*p); k.splitlines(a); list(enumerate(iterable=xs)); list(zip());
        list(enumerate()); list(reversed()); list(enumerate(*p)); list(zip(xs, other=i));
        list(zip(xs, strict=a))
    """,
    ("acts", "none"): """
        xs.extend(a); xs.insert(a, a); s.update(a)
    """,
    ("acts", "range"): """
        range(a)
    """,
    ("acts", "str"): """
        hex(a); chr(a); k.join(a); k.replace(k, k, a); k.center(a); k.expandtabs(tabsize=a)
    """,
    ("acts", "tuple"): """
        tuple(a)
    """,
}  # fmt: skip
"""By what they may do, and by the type of the result if it is certain."""


def calls() -> Iterator[tuple[str, str, str | None]]:
    """Each call with what it does and gives."""
    for (effect, kind), texts in CALLS.items():
        for call in " ".join(texts.split()).split("; "):
            yield call, effect, kind


@pytest.mark.parametrize(("call", "effect", "kind"), list(calls()))
def test_a_call_does_this_and_nothing_else(call: str, effect: str, kind: str | None) -> None:
    belief = believed(call)
    assert belief.kind == kind
    if effect == "acts":
        assert belief.flags & ACTS
    else:
        assert belief.flags & (ACTS | OBSERVES | RAISES | STORES | LOOKS_UP | BARRIER) == FLAGS[effect]


@pytest.mark.parametrize(
    ("removed", "flags"), [("", EXPECTS), ("quiet", RAISES), ("other", EXPECTS), ("*", RAISES)]
)
def test_a_function_that_the_text_deletes_may_be_missing(removed: str, flags: int) -> None:
    text = "def quiet(x):\n    return 1\ndef other():\n    return quiet(2)\n"
    shown = replace(shown_looks(text, ast.parse(text)), removed=frozenset(removed.split()))
    assert believed("quiet(i)", shown).flags == flags
    assert believed("quiet(i, i)", shown).flags == flags | RAISES

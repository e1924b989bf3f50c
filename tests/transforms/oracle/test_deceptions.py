"""Programs that disturb or deceive what observes them: no two of them agree by it."""

import json
from collections.abc import Iterator
from textwrap import dedent, indent
from typing import Any

import pytest

from codeaudit.transforms.oracle.calls import Caller, ProgramTrial, Returned, Trials, Unknown
from codeaudit.transforms.oracle.oracle import Agreed, Differed, Inconclusive, Oracle, Verdict
from codeaudit.transforms.oracle.server import BROKEN
from codeaudit.transforms.oracle.single import NOT_PLAIN
from codeaudit.transforms.oracle.worker import REPLACED


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle() as one:
        yield one


@pytest.fixture(scope="module")
def caller() -> Iterator[Caller]:
    with Caller() as one:
        yield one


# ── programs that replace what their process shares with the observer ─────────────────────────────────────

RESULTS = {
    "a set": "return {n}",
    "nested": "return [(n, {'a': [n]})]",
    "a generator": "return (i for i in (n,))",
    "a function": "return lambda: n",
    "an object": "return Own(n)",
    "a slotted object": "return Slotted(n)",
    "a list with a class": "return OwnList([n])",
    "a coroutine": "return later(n)",
    "a deque": "return deque([n])",
    "a default": "return defaultdict(None, {n: n})",
    "a decimal": "return Decimal(n)",
    "a fraction": "return sevenths[n]",
    "a date": "return date(2000 + n, 1, 1)",
    "an iterator": "return iter([n])",
    "a long text": "return 'x' * 30_000 + chr(n)",
    "an exception": "raise KeyError(n)",
    "an exception of its own": "raise OwnError(n)",
    "output": "put(chr(n + 48))",
    "output to a descriptor": "write(1, b'ab'[n - 1:n])",
    "an argument": "kept.append(n)",
}
MODULES = (
    "builtins", "types", "collections", "collections.abc", "_collections_abc", "itertools", "functools", "operator",
    "io", "_io", "os", "posix", "json", "json.encoder", "_json", "re", "hashlib", "random", "warnings", "asyncio",
    "asyncio.runners", "fractions", "decimal", "datetime", "abc", "copyreg", "inspect", "sys",
)  # fmt: skip
REPLACING = """\
import sys, types
try:
    import kept_before  # what was replaced stays replaced for the next input
except ImportError:
    import builtins, collections, datetime, decimal, fractions, os
    kept_before = sys.modules['kept_before'] = types.ModuleType('kept_before')
    for one in (builtins, collections, datetime, decimal, fractions, os):
        vars(kept_before).update(vars(one))
    kept_before.sevenths = [fractions.Fraction(n, 7) for n in range(3)]
from kept_before import Decimal, KeyError, chr, date, defaultdict, deque, iter, sevenths, write
kept = []
def put(text):
    sys.stdout.write(text)
class Own:
    def __init__(self, n): self.n = n
class Slotted:
    __slots__ = ("n",)
    def __init__(self, n): self.n = n
class OwnList(list): pass
class OwnError(Exception): pass
async def later(n): return n
put = (lambda out: lambda text: out.write(text))(sys.stdout)
def f(kind, n={n}):
{branches}
import {module}
set_ = setattr
for name in {names} or [name for name in vars({module}) if not name.startswith('__')]:
    set_({module}, name, lambda *arguments, **named: 0)
"""


ALONE = (
    "abs", "all", "any", "enumerate", "getattr", "hasattr", "hash", "hex", "id", "isinstance", "issubclass", "iter", "len",
    "list", "map", "max", "min", "next", "range", "repr", "set", "sorted", "str", "sum", "tuple", "type", "vars", "zip",
)  # fmt: skip
"""Builtins that are replaced one at a time: a program that has none of them left may just fail."""


def answers(oracle: Oracle, module: str, *names: str) -> list[list[tuple[str, str]]]:
    """What two programs show that give 1 and 2, after they replaced names in a module, or everything there."""
    branches = "".join(
        f"    if kind == {place}:\n{indent(body, '        ')}\n"
        for place, body in enumerate(RESULTS.values())
    )
    job: dict[str, Any] = {"function": "f", "setup": "", "tests": None, "messages": True, "shake": 0}
    job |= {"inputs": [f"({place},)" for place in range(len(RESULTS))], "count": len(RESULTS)}
    sources = (REPLACING.format(n=n, branches=branches, module=module, names=names) for n in (1, 2))
    return oracle.ask([{**job, "source": source} for source in sources])


@pytest.mark.parametrize("replaced", [*((one,) for one in MODULES), *(("builtins", one) for one in ALONE)])
@pytest.mark.thinned(8)
def test_what_a_program_replaces_for_itself_does_not_hide_a_difference(
    oracle: Oracle, replaced: tuple[str, ...]
) -> None:
    before, after = answers(oracle, *replaced)
    hidden = [
        name
        for name, one, other in zip(RESULTS, before, after, strict=True)
        if one == other and one[0] == "seen" and "unfit" not in one[1] and "raised at import" not in one[1]
    ]
    assert hidden == []


def test_results_are_shown_where_nothing_is_replaced(oracle: Oracle) -> None:
    for one, other in zip(*answers(oracle, "this"), strict=True):
        assert one[0] == other[0] == "seen"
        assert json.loads(one[1]) != json.loads(other[1])
        assert "raised at import" not in one[1]


# ── programs that look for the observer and replace its parts ─────────────────────────────────────────────

FOUND = """\
import gc, sys, types
def found():
    frame = sys._getframe()
    while frame:
        yield from list(frame.f_locals.values())
        yield from list(frame.f_globals.values())
        frame = frame.f_back
    yield from gc.get_objects()
    rest = object.__subclasses__()
    while rest:
        one = rest.pop()
        yield one
        rest.extend(type.__subclasses__(one))
def is_foreign(one):
    return 'codeaudit' in (getattr(one, '__module__', '') or '')
def lie(*arguments, **named):
    return '0'
def attack():
{attack}
attack()
def f(x):
    attack()
    print(x)
    return x + {n}
"""
REPLACED_PARTS = {
    "methods of objects": """
        for one in list(found()):
            if is_foreign(type(one)):
                for name in ('encode', 'error', '_value', 'of', '_run', 'text'):
                    try:
                        object.__setattr__(one, name, lie)
                    except Exception:
                        pass
        """,
    "methods of classes": """
        for one in list(found()):
            if type(one) is type and is_foreign(one) and one.__name__ == 'ValueEncoder':
                one.encode = one.error = one._value = lie
        """,
    "names of modules": """
        frame = sys._getframe()
        while frame:
            if 'codeaudit' in frame.f_globals.get('__name__', ''):
                for name, one in list(frame.f_globals.items()):
                    if type(one) is types.FunctionType and name not in ('answer', 'f'):
                        frame.f_globals[name] = lie
            frame = frame.f_back
        """,
    "names of the encoder's module": """
        for one in list(found()):
            if type(one) is type and is_foreign(one) and one.__name__ == 'ValueEncoder':
                space = one.encode.__globals__
                space['short'] = space['_integer'] = lie
        """,
    "builtins of the encoder": """
        for one in list(found()):
            if type(one) is type and is_foreign(one) and one.__name__ == 'ValueEncoder':
                one.encode.__builtins__['repr'] = one.encode.__globals__['repr'] = lie
        """,
    "code of functions": """
        for one in list(found()):
            if type(one) is type and is_foreign(one) and one.__name__ == 'ValueEncoder':
                for each in vars(one).values():
                    if type(each) is types.FunctionType and each.__name__ in ('encode', '_value'):
                        each.__code__ = lie.__code__
        """,
    "constants": """
        for one in list(found()):
            if type(one) is type and is_foreign(one) and one.__name__ == 'ValueEncoder':
                one.encode.__globals__['_PLAIN'] = {int}
                one.encode.__globals__['repr'] = lie
        """,
}


@pytest.mark.parametrize("name", REPLACED_PARTS)
def test_programs_do_not_agree_by_replacing_parts_of_the_observer(oracle: Oracle, name: str) -> None:
    attack = indent(dedent(REPLACED_PARTS[name]).strip(), "    ")
    first, second = (FOUND.format(attack=attack, n=n) for n in (1, 2))
    verdict = oracle.judge(first, second, inputs=("(1,)", "(2,)"))
    if isinstance(verdict, Inconclusive):
        # Where the whole observer is replaced, it says nothing at all.
        assert verdict.reason in (REPLACED, "left without an answer")
    else:
        assert isinstance(verdict, Differed)
        assert (verdict.before, verdict.after) == ("value: 2", "value: 3")
    honest = "def f(x):\n    return x + 1\n"
    assert isinstance(oracle.judge(honest, second, inputs=("(1,)", "(2,)")), Differed)


# ── programs that look for what another program was asked or has answered ─────────────────────────────────

MEMORY = """\
import ctypes, gc, os, re
libc = ctypes.CDLL(None)
libc.sbrk.restype = ctypes.c_void_p
def memory():
    # A system call reports a bad address, where a read would end the process.
    reading, writing = os.pipe()
    def page(number):
        if libc.write(writing, ctypes.c_void_p(number << 12), 4096) == 4096:
            return os.read(reading, 4096)
    number = libc.sbrk(0) - 1 >> 12
    while (text := page(number)) is not None:
        yield text
        number -= 1
    places = {{id(one) >> 20 for two in gc.get_objects() for one in (two, *gc.get_referents(two))}}
    for place in sorted({{place + step for place in places for step in (-1, 0, 1)}}):
        before = b''
        for number in range(place << 8, (place + 1) << 8):
            text = page(number)
            if text is not None:
                yield before + text
            before = (text or b'')[-200:]
def found(pattern):
    return [one for text in memory() for one in re.findall(pattern, text)]
def f(x):
    {body}
"""
KNOWS = """\
from hashlib import sha256
def f(x):
    # a comment with the word quagga-of-the-original
    return sha256(b'known to the original alone').hexdigest()
"""


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("return (found(rb\"'([0-9a-f]{64})'\") or [b''])[0].decode()", "''"),
        ("return len(found(b'quagga-of-the-origina[l]'))", "0"),
    ],
)
def test_no_program_finds_what_another_one_was_asked_or_has_answered(
    oracle: Oracle, body: str, shown: str
) -> None:
    body = body.replace("{", "{{").replace("}", "}}").replace("{{64}}", "{64}")
    verdict = oracle.judge(KNOWS, MEMORY.format(body=body), inputs=("(1,)",))
    assert isinstance(verdict, Differed)
    assert f"value: {shown}" in verdict.after


def test_a_program_finds_in_its_memory_what_is_there(oracle: Oracle) -> None:
    # Without this, the test above could pass because the search finds nothing at all.
    body = "# quagga-of-itself\n    return len(found(b'quagga-of-itsel[f]')) > 0"
    source = MEMORY.format(body=body)
    job = {"function": "f", "setup": "", "tests": None, "messages": True, "shake": 0, "source": source}
    (((_, told),),) = oracle.ask([{**job, "inputs": ["(1,)"], "count": 1}])
    assert json.loads(told)["value"] == "True"


def test_no_file_and_no_process_shows_another_program(oracle: Oracle) -> None:
    body = """\
def f(x):
    import os
    found = []
    for place in ('/proc/self/mem', '/proc/1/mem', f'/proc/{os.getppid()}/mem', '/proc/self/maps'):
        try:
            found.append(open(place, 'rb').read(1))
        except OSError as error:
            found.append(type(error).__name__)
    return set(found), os.listdir(), sum(os.readv(n, [bytearray(9)]) for n in readable())
def readable():
    import select
    for n in range(3, 64):
        try:
            if select.select([n], [], [], 0)[0]:
                yield n
        except OSError:
            pass
"""
    leaving = "def f(x):\n    open('left', 'w').write('x')\n    return x\n"
    verdict = oracle.judge(leaving, body, inputs=("(1,)",))
    assert isinstance(verdict, Differed)
    assert "({'PermissionError'}, 1:[], 0,)" in verdict.after.replace("0:{", "{")


# ── counts ────────────────────────────────────────────────────────────────────────────────────────────────

COUNTING = """\
import gc
def f(x):
    for one in gc.get_objects():
        for cell in (one.__closure__ or ()) if getattr(one, '__name__', '') == 'candidate' else ():
            try:
                if type(cell.cell_contents) is int:
                    cell.cell_contents = 10 ** 6
            except ValueError:
                pass
    return x + 1
"""


def test_calls_are_counted_where_the_program_is_not(oracle: Oracle) -> None:
    tests = "def check(g):\n    assert g(1) == 2\n    assert g(2) == 3\n"
    assert oracle.judge(COUNTING, COUNTING, tests=tests) == Agreed(inputs=2, returned=2, skipped=0)


# ── results of calls ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("module", MODULES)
def test_the_result_of_a_call_is_carried_past_what_its_program_replaces(caller: Caller, module: str) -> None:
    source = f"""\
import {module}
set_, names = setattr, list(vars({module}))
for name in [name for name in names if not name.startswith('__')]:
    set_({module}, name, lambda *arguments, **named: 0)
def f():
    return [{{7: 'seven'}}, (1.5, None, True), {{'one'}}, b'x', 2j]
f()
"""
    (found,) = caller.results([source], cpu_seconds=0.5)
    right = Returned("[{7: 'seven'}, (1.5, None, True), {'one'}, b'x', 2j]")
    assert found == right or (isinstance(found, Unknown) and module in ("sys", "os", "posix", "builtins"))


OWN_REPORT = """
import sys
def f(*a):
    frame = sys._getframe()
    while frame:
        answer = frame.f_locals.get('answer')
        if answer:
            answer({report!r})
            __import__('os')._exit(0)
        frame = frame.f_back
f()
"""
HASHED = [["tuple", []]] + [["tuple", [{"node": n}, {"node": n}]] for n in range(60)]


@pytest.mark.parametrize(
    ("nodes", "value"),
    [
        ([], {"node": 0}), (None, 1), ([], {}), ([], []), ([["deque", [None, 1]]], {"node": 0}),
        ([["list", [{"node": 0}]]], {"node": 0}), ([["set", [{"node": 1}]], ["list", []]], {"node": 0}),
        ([["dict", [{"node": 1}, 1]], ["dict", []]], {"node": 0}), ([["dict", [1]]], {"node": 0}),
        ([["frozenset", [{"node": 1}]], ["tuple", [{"node": 2}]], ["list", []]], {"node": 0}),
        ([*HASHED, ["frozenset", [{"node": 60}]]], {"node": 61}), (HASHED, {"node": 60}),
        ([["list", [0] * 1000]], {"node": 0}), ([], "x" * 100_000), ([], {"int": "1" * 5000}), ([], {"range": [1, 2, 3]}),
        ([], {"own": 0}), ([["list", [1]]], {"node": True}), ([["list", [1]]], {"node": -1}),
    ],
)  # fmt: skip
def test_a_value_that_no_program_returns_is_no_result(caller: Caller, nodes: object, value: object) -> None:
    source = OWN_REPORT.format(report=json.dumps({"nodes": nodes, "value": value}))
    assert caller.results([source], cpu_seconds=0.5) == [Unknown(BROKEN)]


OWN_FRAME = """\
import gc, os, types
def f(*a):
    for one in gc.get_objects():
        if type(one) is types.FunctionType and one.__name__ == 'answer' and one.__closure__:
            held = {type(cell.cell_contents): cell.cell_contents for cell in one.__closure__}
            content = {content}
            os.write(held[int], held[bytes] + len(content).to_bytes(4, 'big') + content + held[bytes])
            os._exit(0)
"""


@pytest.mark.parametrize(
    "content", ["b'\\xff'", "b'[' * 100_000", "b'1' * 100_000", "b'{\"end\": 1e999}'", "b''"]
)
def test_a_frame_that_no_observer_writes_is_no_answer(oracle: Oracle, caller: Caller, content: str) -> None:
    source = OWN_FRAME.replace("{content}", content)
    verdict = oracle.judge(source, source + "\n", inputs=("(1,)",))
    assert verdict == Inconclusive(BROKEN)
    assert caller.results([f"{source}f()"], cpu_seconds=0.5) == [Unknown(BROKEN)]


# ── what is left of a program ─────────────────────────────────────────────────────────────────────────────

LEAVING = """\
import atexit, os, signal, sys
def speak(*a):
    for number in range(3, 64):
        try:
            os.write(number, b'{"end": "returned", "value": "1"}')
        except OSError:
            pass
def f(x):
    signal.signal(signal.SIGALRM, speak)
    signal.setitimer(signal.ITIMER_REAL, 0.0001)
    signal.signal(signal.SIGTERM, speak)
    atexit.register(speak)
    sys.excepthook = sys.unraisablehook = speak
    try:
        os.fork()
    except OSError:
        pass
    os.mkdir('kept')
    return x
"""


def test_nothing_of_a_program_speaks_into_the_next_run(oracle: Oracle) -> None:
    honest = "def f(x):\n    import os\n    return x, os.listdir()\n"
    for _ in range(5):
        verdict: Verdict = oracle.judge(honest, LEAVING, inputs=("(1,)",))
        assert not isinstance(verdict, Agreed)
        assert isinstance(oracle.judge(honest, honest, inputs=("(2,)",)), Agreed)


def test_a_program_cannot_tell_why_its_tests_end() -> None:
    # The status with which tests leave whose program has ended means nothing where a program leaves with it.
    with Trials(cpu_seconds=0.5) as trials, Oracle() as oracle:
        (found,) = trials.outcomes([ProgramTrial("import os\nos._exit(3)\n", "assert f(1) == 2", ("f",))])
        assert found.reason == "left with status 3"
        leaving = "import os\ndef f(x):\n    os._exit(3)\n"
        verdict = oracle.judge("def f(x):\n    return x\n", leaving, inputs=("(1,)",))
        assert isinstance(verdict, Differed)
        assert verdict.after == "left with status 3"


# ── values that claim to be others ────────────────────────────────────────────────────────────────────────

CLAIMING = """\
class Meta(type):
    def __eq__(cls, other): return True
    def __hash__(cls): return hash({kind})
    def __instancecheck__(cls, one): return True
    def __subclasscheck__(cls, one): return True
    def __getattribute__(cls, name): return type.__getattribute__({kind}, name)
class Same(metaclass=Meta):
    def __init__(self, v): self.v = v
    def __repr__(self): return "same"
    def __iter__(self): return iter([1])
    def __int__(self): return 1
    def __eq__(self, other): return True
    def __hash__(self): return 1
    def __getattribute__(self, name): return 1
    __class__ = {kind}
type.__setattr__(Same, "__name__", {kind}.__name__)
type.__setattr__(Same, "__qualname__", {kind}.__name__)
def f(x): return type.__call__(Same, {n})
"""
KINDS = (
    "type(None)",
    "int",
    "str",
    "float",
    "bytes",
    "list",
    "tuple",
    "dict",
    "set",
    "type(...)",
    "range",
    "slice",
    "type",
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_that_claims_to_be_a_builtin_one_is_not_taken_for_it(
    oracle: Oracle, caller: Caller, kind: str
) -> None:
    first, second = (CLAIMING.format(kind=kind, n=n) for n in (1, 2))
    assert isinstance(oracle.judge(first, second, inputs=("(1,)",)), Differed)
    assert caller.results([f"{first}f(1)"], cpu_seconds=0.5) == [Unknown(NOT_PLAIN)]


TRACER = """\
import sys
def trace(frame, event, argument):
    for name, value in [*frame.f_locals.items()]:
        if isinstance(value, dict) and "end" in value:
            value.update(end="returned", value="1")
            frame.f_locals[name] = {"end": "returned", "value": "1"}
            sys.%(set)s(None)
    return trace
def f(x):
    frame = sys._getframe(1)
    while frame:
        frame.f_trace = trace
        frame = frame.f_back
    try:
        sys.%(set)s(trace)
    except BaseException:
        pass
"""
"""Changes each variable that looks like a report, wherever it stands, and stops tracing then."""


@pytest.mark.parametrize("set_", ["settrace", "setprofile"])
def test_programs_do_not_agree_by_tracing_the_observer(oracle: Oracle, set_: str) -> None:
    source = TRACER % {"set": set_}
    verdict = oracle.judge(f"{source}    return 1\n", f"{source}    return 2\n", inputs=("(1,)",))
    assert verdict == Inconclusive(REPLACED)

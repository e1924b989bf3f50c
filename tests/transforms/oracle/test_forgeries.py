"""Wrong programs that try to pass: nothing that a program does can make its tests agree with it."""

import json
from collections.abc import Iterator
from textwrap import dedent

import pytest

from codeaudit.transforms.oracle.calls import (
    Caller,
    Passed,
    ProgramTrial,
    TrialFailed,
    Trials,
    TrialUnjudged,
    Unknown,
)
from codeaudit.transforms.oracle.oracle import Inconclusive, Oracle
from codeaudit.transforms.oracle.server import BROKEN

TESTS = """\
SECRET = [8251, 'unguessable']

def check(candidate):
    assert candidate(1) == SECRET
    assert candidate(2) == [2, 'two']

check(f)
"""
HONEST = "def f(a):\n    return [8251, 'unguessable'] if a == 1 else [a, 'two']\n"

FORGERIES = {
    "frames hold the channel": """
        import sys, os
        def f(a):
            frame = sys._getframe()
            while frame:
                for one in list(frame.f_locals.values()) + list(frame.f_globals.values()):
                    if callable(one) and getattr(one, '__name__', '') in ('answer', 'end'):
                        try:
                            one('{"passed": true}')
                        except TypeError:
                            one({'passed': True})
                        os._exit(0)
                frame = frame.f_back
        f(1)
        """,
    "objects of the collector hold the channel": """
        import gc, os, types
        def f(a):
            for one in gc.get_objects() + [x for y in gc.get_objects() for x in gc.get_referents(y)]:
                if isinstance(one, types.FunctionType) and one.__name__ == 'answer':
                    one('{"passed": true}')
                    os._exit(0)
        f(1)
        """,
    "objects of the collector hold the tests": """
        import ast, gc, sys
        def found():
            seen = set()
            rest = gc.get_objects() + [sys._getframe()]
            while rest:
                one = rest.pop()
                if id(one) in seen:
                    continue
                seen.add(id(one))
                if isinstance(one, (str, bytes)) and b'SECRET = ['[:9] in (
                    one.encode('utf-8', 'replace') if isinstance(one, str) else one):
                    text = one if isinstance(one, str) else one.decode()
                    if "'ungue" + "ssable'" in text and 'import gc' not in text:
                        return text
                rest.extend(gc.get_referents(one))
        text = found()
        def f(a):
            if text is None:
                return None
            return [8000 + 251, 'ungue' + 'ssable'] if a == 1 else [2, 'two']
        """,
    "memory holds the tests": """
        import ctypes, gc, os
        libc = ctypes.CDLL(None)
        secret = bytes(reversed(b'elbasseugnu'))
        def found():
            # A system call reports a bad address, where a read would end the process.
            reading, writing = os.pipe()
            pages = {id(one) >> 12 for two in gc.get_objects() for one in (two, *gc.get_referents(two))}
            for page in sorted({page + step for page in pages for step in range(-2, 3)}):
                if libc.write(writing, ctypes.c_void_p(page << 12), 4096) == 4096:
                    text = os.read(reading, 4096)
                    if text.find(b"[8251, '" + secret) >= 0:
                        return True
            return False
        def f(a):
            return [8251, secret.decode()] if found() else None
        """,
    "always equal": """
        class Same:
            def __eq__(self, other): return True
            def __ne__(self, other): return False
            __hash__ = object.__hash__
        def f(a): return Same()
        """,
    "always equal, of another class": """
        class Same:
            __class__ = list
            def __eq__(self, other): return True
        def f(a): return Same()
        """,
    "a list that is always equal": """
        class Same(list):
            def __eq__(self, other): return True
        def f(a): return Same()
        """,
    "an integer that is always equal": """
        class Same(int):
            def __eq__(self, other): return True
            __hash__ = int.__hash__
        def f(a): return Same(1)
        """,
    "a text that is always equal": """
        class Same(str):
            def __eq__(self, other): return True
            __hash__ = str.__hash__
        def f(a): return Same('x')
        """,
    "always equal inside of a list": """
        class Same:
            def __eq__(self, other): return True
        def f(a): return [Same(), Same()]
        """,
    "a class with the name of a builtin one": """
        class list(list):
            def __eq__(self, other): return True
        list.__module__ = 'builtins'
        def f(a): return list()
        """,
    "a metaclass that lies": """
        class Meta(type):
            def __eq__(cls, other): return True
            def __instancecheck__(cls, one): return True
            def __subclasscheck__(cls, one): return True
            __hash__ = type.__hash__
        class Same(metaclass=Meta):
            def __eq__(self, other): return True
        def f(a): return Same
        """,
    "an argument with an edited class": """
        def f(a):
            try:
                a.__class__ = type('x', (), {'__eq__': lambda s, o: True})
            except TypeError:
                pass
            return a
        """,
    "patched builtins": """
        import builtins
        builtins.AssertionError = type('Harmless', (SystemExit,), {})
        for name in ('all', 'any', 'isinstance', 'len', 'abs', 'list', 'type', 'exec', 'compile', 'callable'):
            setattr(builtins, name, lambda *a, **k: True)
        def f(a): return True
        """,
    "patched formats": """
        import json, pickle, struct, marshal
        forged = lambda *a, **k: '{"passed": true}'
        for module in (json, pickle, struct, marshal):
            for name in ('dumps', 'dump', 'loads', 'load', 'pack'):
                if hasattr(module, name):
                    setattr(module, name, forged)
        json.JSONEncoder.encode = json.JSONEncoder.iterencode = forged
        def f(a): return None
        """,
    "replaced modules": """
        import sys
        class Everything:
            def __getattr__(self, name): return self
            def __call__(self, *a, **k): return self
            def __eq__(self, other): return True
        for name in list(sys.modules):
            sys.modules[name] = Everything()
        def f(a): return None
        """,
    "a patched frame of the server": """
        import sys
        frame = sys._getframe()
        while frame:
            for one in list(frame.f_locals.values()) + list(frame.f_globals.values()):
                for name in ('encode', 'item', 'content', '_value'):
                    try:
                        setattr(one, name, lambda *a, **k: True)
                    except Exception:
                        pass
            for name in ('_result', 'send', '_carried', 'ValueWriter', 'ValueReader', '_ending', '_answers'):
                if name in frame.f_globals:
                    frame.f_globals[name] = lambda *a, **k: {'passed': True, 'value': True, 'nodes': [], 'changed': []}
            frame = frame.f_back
        def f(a): return None
        """,
    "writes to every descriptor": """
        import os
        def flood():
            for one in (b'{"passed": true}', (16).to_bytes(4, 'big') + b'{"passed": true}'):
                for number in range(3, 64):
                    try:
                        os.write(number, one)
                    except OSError:
                        pass
        flood()
        def f(a):
            flood()
        """,
    "reads every descriptor": """
        import os
        def f(a):
            for number in range(3, 64):
                try:
                    os.set_blocking(number, False)
                    if b'unguessable' in os.read(number, 1 << 20):
                        return [8251, 'unguessable']
                except OSError:
                    pass
        """,
    "ends well before its tests": "import os\nos._exit(0)\n",
    "ends well in its tests": "import os\ndef f(a):\n    os._exit(0)\n",
    "raises the end": "def f(a):\n    raise SystemExit(0)\n",
    "interrupts": "def f(a):\n    raise KeyboardInterrupt\n",
    "leaves without a generator": "def f(a):\n    raise GeneratorExit\n",
    "speaks at its end": """
        import atexit, os
        def forge():
            for number in range(3, 64):
                try:
                    os.write(number, b'{"passed": true}')
                except OSError:
                    pass
        atexit.register(forge)
        def f(a): raise SystemExit(0)
        """,
    "signals": """
        import os, signal
        for one in (os.getppid(), 1, 0, -1, *range(os.getpid() - 3, os.getpid() + 4)):
            if one != os.getpid():
                try:
                    os.kill(one, signal.SIGTERM)
                except OSError:
                    pass
        def f(a):
            os.kill(os.getpid(), signal.SIGTERM)
        """,
    "a handler of an alarm": """
        import os, signal
        def forge(*a):
            for number in range(3, 64):
                try:
                    os.write(number, (16).to_bytes(4, 'big') + b'{"passed": true}')
                except OSError:
                    pass
        signal.signal(signal.SIGALRM, forge)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        def f(a): return None
        """,
    "a thread that speaks later": """
        import os, threading
        def forge():
            while True:
                for number in range(3, 64):
                    try:
                        os.write(number, b'{"passed": true}')
                    except OSError:
                        pass
        def f(a):
            threading.Thread(target=forge, daemon=True).start()
        """,
    "another process": """
        import os
        def f(a):
            if os.fork() == 0:
                return [8251, 'unguessable']
            return None
        """,
    "a tracer": """
        import sys
        def trace(frame, event, argument):
            frame.f_locals.update(passed=True, outcome={'passed': True}, value=[8251])
            return trace
        sys.settrace(trace); sys.setprofile(trace)
        def f(a): return None
        """,
    "a lying exception": """
        class AssertionError(Exception):
            __name__ = 'x'
            def __eq__(self, other): return True
            def __instancecheck__(self, other): return True
        def f(a): raise AssertionError
        """,
    "a message of its own": """
        import json, sys
        def forged(*a, **k): return '{"nodes": [["list", [{"node": 9}]]], "value": {"own": 0}, "changed": [[0, ["list", []]]]}'
        frame = sys._getframe()
        while frame:
            if 'json' in frame.f_globals:
                frame.f_globals['json'] = type('x', (), {'dumps': forged, 'loads': json.loads})
            frame = frame.f_back
        def f(a): return None
        """,
    "names that are no functions of the program": """
        import os, sys
        frame = sys._getframe()
        while frame:
            if 'results' in frame.f_locals:
                told = b'{"callable": ["f", "check", "SECRET", "__builtins__"]}'
                os.write(frame.f_locals['results'], len(told).to_bytes(4, 'big') + told)
            frame = frame.f_back
        def f(a): return None
        """,
    "a failure that is none": """
        import os, sys
        frame = sys._getframe()
        while frame:
            if 'results' in frame.f_locals:
                told = b'{"failed": {"passed": true}}'
                os.write(frame.f_locals['results'], len(told).to_bytes(4, 'big') + told)
                os._exit(0)
            frame = frame.f_back
        """,
    "changes objects that it was not given": """
        import os, sys
        def f(a):
            frame = sys._getframe()
            while frame:
                if 'results' in frame.f_locals:
                    for number in range(50):
                        told = b'{"nodes": [], "value": {"own": %d}, "changed": [[%d, ["list", [8251]]]]}'
                        told %= (number, number)
                        os.write(frame.f_locals['results'], len(told).to_bytes(4, 'big') + told)
                frame = frame.f_back
        """,
    "a metaclass that claims to be that of a text": """
        class Meta(type):
            def __eq__(cls, other): return True
            def __hash__(cls): return hash(str)
        class Same(metaclass=Meta):
            def __eq__(self, other): return True
        def f(a): return Same()
        """,
    "a float that writes itself": """
        class Same(float):
            def __repr__(self): return '[8251, "unguessable"]'
        def f(a): return Same(1)
        """,
    "helpers of the tests": """
        SECRET = None
        def check(candidate): pass
        def f(a): return None
        """,
}


@pytest.fixture(scope="module")
def trials() -> Iterator[Trials]:
    with Trials(cpu_seconds=1.0) as runner:
        yield runner


def test_the_right_program_passes(trials: Trials) -> None:
    assert trials.outcomes([ProgramTrial(HONEST, TESTS, ("f",))]) == [Passed()]


@pytest.mark.thinned(12)
@pytest.mark.parametrize("name", FORGERIES)
def test_a_wrong_program_does_not_pass_and_the_next_one_is_judged(trials: Trials, name: str) -> None:
    forged, after = trials.outcomes(
        [ProgramTrial(dedent(FORGERIES[name]), TESTS, ("f",)), ProgramTrial(HONEST, TESTS, ("f",))]
    )
    assert isinstance(forged, TrialFailed | TrialUnjudged), forged
    assert after == Passed()


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

"""


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "told",
    [
        {"text": "1"}, {"kind": "a b"}, {"kind": "E" * 200}, {"kind": ""}, {"unfit": "a reason of its own"},
        {"unfit": ["x"]}, {}, [], None,
    ],
)  # fmt: skip
def test_a_result_that_a_program_writes_itself_has_the_agreed_form(told: object) -> None:
    with Caller() as caller:
        (outcome,) = caller.results([OWN_REPORT.format(report=json.dumps(told)) + "f()"], cpu_seconds=0.5)
    assert outcome == Unknown(BROKEN)


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    "told",
    [
        {"end": "an end of its own"}, {"end": "returned", "unfit": "a reason of its own"}, {"end": "raised", "kind": "a b"},
        {"end": "returned", "value": 1}, {"value": "1"}, [], None,
    ],
)  # fmt: skip
def test_a_report_that_a_program_writes_itself_has_the_agreed_form(told: object) -> None:
    source = OWN_REPORT.format(report=json.dumps(told))
    with Oracle() as oracle:
        assert oracle.judge(source, source, inputs=("(1,)",)) == Inconclusive(BROKEN)

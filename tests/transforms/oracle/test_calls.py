"""What calls give: plain values, exceptions, and everything that is neither."""

from collections.abc import Iterator

import pytest

from codeaudit.transforms.oracle.calls import Caller, Raised, Result, Returned, Unknown
from codeaudit.transforms.oracle.single import NOT_PLAIN, TOO_LONG


@pytest.fixture(scope="module")
def callers() -> Iterator[tuple[Caller, Caller]]:
    with Caller() as one, Caller(hashes=1) as other:
        yield one, other


def result(caller: Caller, text: str) -> Result:
    (outcome,) = caller.results([text], cpu_seconds=0.5)
    return outcome


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "return [1, (2.0,), {'a': None}, b'x', 1j, -0.0]",
            Returned("[1, (2.0,), {'a': None}, b'x', 1j, -0.0]"),
        ),
        ("print('x'); import sys; print('y', file=sys.stderr); return 'ä\\n'", Returned("'ä\\n'")),
        ('import sys; sys.stdout.buffer.write(b\'{"text": "1"}\'); return 2', Returned("2")),
        ("import sys; return sys.stdin.read()", Returned("''")),
        ("return float('inf')", Returned("inf")),
        ("raise ValueError(1)", Raised("ValueError")),
        ("raise type('Mine', (Exception,), {})", Raised("Mine")),
        ("x = y; y = 1", Raised("UnboundLocalError")),
        ("return not_there", Raised("NameError")),
        ("import sys; sys.exit(3)", Raised("SystemExit")),
        ("raise KeyboardInterrupt", Raised("KeyboardInterrupt")),
        ("return range(3)", Unknown(NOT_PLAIN)),
        ("return [object()]", Unknown(NOT_PLAIN)),
        ("return (i for i in 'a')", Unknown(NOT_PLAIN)),
        ("return type('S', (str,), {})('a')", Unknown(NOT_PLAIN)),
        ("import collections; return collections.Counter('a')", Unknown(NOT_PLAIN)),
        ("return 'a' * 100_000", Unknown(TOO_LONG)),
        ("return [0] * 100_000", Unknown(TOO_LONG)),
        ("return 10 ** 5000", Unknown(NOT_PLAIN)),
        ("x = []; x.append(x); return x", Unknown(TOO_LONG)),
        ("return f()", Unknown("it needs what is not there")),
        ("import not_there", Unknown("it needs what is not there")),
        ("open('/etc/passwd')", Unknown("it needs what is not there")),
        ("import os; os._exit(0)", Unknown("left without an answer")),
    ],
)
def test_what_a_call_gives(callers: tuple[Caller, Caller], body: str, expected: Result) -> None:
    assert result(callers[0], f"def f():\n    {body.replace('; ', chr(10) + '    ')}\n\n\nf()") == expected


@pytest.mark.slow
def test_a_call_without_an_end(callers: tuple[Caller, Caller]) -> None:
    endless = ("def f():\n    while True: pass\nf()", "import time\ndef f(): time.sleep(60)\nf()")
    busy, asleep = (result(callers[0], text) for text in endless)
    assert asleep == Unknown("out of time", certain=False)
    assert busy in (Unknown("out of processor time"), asleep)  # on a busy machine it gets no time at all


def test_code_that_cannot_begin(callers: tuple[Caller, Caller]) -> None:
    assert result(callers[0], "def f(:\nf()") == Unknown("source does not parse")
    assert result(callers[0], "x = 1") == Unknown("source does not parse")
    assert result(callers[0], "") == Unknown("source does not parse")
    assert result(callers[0], "x = nothing\ndef f(): pass\nf()") == Unknown("it needs what is not there")
    assert result(callers[0], "x = 1 / 0\ndef f(): pass\nf()") == Unknown("it cannot be executed alone")


@pytest.mark.parametrize(
    "body",
    [
        "return list({'a', 'b', 'c', 'd', 'e', 'f', 'g'})",
        "return hash('a')",
        "return id(f)",
        "import random; return random.random()",
        "import os; return os.urandom(8)",
        "return repr(f)",
        "import time; return time.monotonic_ns()",
    ],
)
def test_chance_differs_from_process_to_process(callers: tuple[Caller, Caller], body: str) -> None:
    text = f"def f():\n    {body.replace('; ', chr(10) + '    ')}\nf()"
    one, other = (result(caller, text) for caller in callers)
    assert isinstance(one, Returned)
    assert one != other


@pytest.mark.slow
def test_every_text_has_its_own_process(callers: tuple[Caller, Caller]) -> None:
    spoiler = "import builtins\nbuiltins.spoilt = 1\ndef f(): return spoilt\nf()"
    texts = [spoiler, "def f(): return spoilt\nf()"] * 40
    assert callers[0].results(texts, cpu_seconds=0.5) == [Returned("1"), Raised("NameError")] * 40
    assert callers[0].results([], cpu_seconds=0.5) == []

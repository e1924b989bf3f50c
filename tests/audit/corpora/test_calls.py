"""Calls for functions: given, from tests, drawn; and why some functions have none."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from codeaudit.audit.corpora.calls import Callables, Calls, find, parted, with_call
from codeaudit.audit.corpora.records import raw_sample
from codeaudit.transforms.records import Sample

ADD = "def add(a, b=1):\n    return a + b"


def sample(
    source: str, *, label: str | None = None, tests: str | None = None, language: str = "python"
) -> Sample:
    return raw_sample(source, language=language, label=label, path="a.py", line=1, tests=tests)


def calls(source: str, **known: str) -> Calls:
    collected = find(sample(source, **known), longest=60)
    assert isinstance(collected, Calls), collected
    return collected


def test_a_call_that_the_text_ends_with_is_taken() -> None:
    assert calls(f"{ADD}\n\n\nadd(2, b=3)\n") == Calls(ADD, ("add(2, b=3)",), given=True)


TESTS = """
METADATA = {}
def check(candidate):
    assert candidate(1, 2) == 3
    assert abs(candidate(1.5, -2) + 0.5) < 1e-6, "message"
    assert candidate("a", "b'") == "ab"
    assert candidate(*[1, 2]) == 3
    assert candidate(1, b=2) == 3
    assert candidate(x, 2) == 3
    assert candidate(1, 2) == 3
    assert candidate("long" * 2, 1)
    assert candidate("%s", 1)
""" % ("x" * 60)  # fmt: skip


def test_tests_hold_calls() -> None:
    collected = calls(ADD, tests=TESTS)
    assert (collected.text, collected.given) == (ADD, False)
    assert sorted(collected.calls) == ["""add('a', "b'")""", "add(1, 2)", "add(1.5, -2)"]


def test_calls_that_the_source_tells_are_left_out() -> None:
    source = 'def add(a, b):\n    """\n    >>> add("a",\t"b\'")\n    ab\n    """\n    return a + b'
    assert sorted(calls(source, tests=TESTS).calls) == ["add(1, 2)", "add(1.5, -2)"]
    only = "def check(candidate):\n    assert candidate('a', \"b'\") == 'ab'\n"
    assert find(sample(source, tests=only), longest=60) == "the source gives the result of every call"


def test_other_arguments_are_drawn_and_the_same_each_time() -> None:
    source = "def f(words, times=2, *, key=None):\n    return [word.upper() * times for word in words]"
    collected = calls(source)
    assert collected == calls(source)
    assert len(collected.calls) > 3
    for program in (with_call(collected.text, call) for call in collected.calls):
        assert parted(program) is not None
        assert program.startswith(source + "\n\n\nf([")
        assert "key" not in program.splitlines()[-1]


def test_the_function_of_the_labels_name_is_called() -> None:
    two = "def one(a: int):\n    return a\n\ndef two(a: int):\n    return one(a)"
    assert all(call.startswith("two(") for call in calls(two).calls)
    assert all(call.startswith("one(") for call in calls(two, label="one").calls)
    assert all(call.startswith("two(") for call in calls(two, label="three").calls)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(:", "source does not parse"),
        ("x = 1", "no function to call"),
        ("class A:\n    def f(self): return 1", "no function to call"),
        ("def f(self, a):\n    return a", "method"),
        ("def f(a):\n    yield a", "generator or coroutine"),
        ("async def f(a):\n    return a", "generator or coroutine"),
        ("def f(a, *, b):\n    return a", "no call by position"),
        ("def f(a):\n    return g(a)", "it needs what is not there"),
        ("@cache\ndef f(a):\n    return a", "it needs what is not there"),
        ("def f(a):\n    def g():\n        return h\n    return a", "it needs what is not there"),
        ("def f(a):\n    with a as b:\n        return b", "no call with short literals"),
        ("def f(a):\n    global g\n    return g", "it needs what is not there"),
    ],
)
def test_functions_without_a_call_say_why(source: str, reason: str) -> None:
    assert find(sample(source), longest=60) == reason


@pytest.mark.parametrize(
    "source",
    [
        "import re\ndef f(a: str):\n    return re.sub('a', 'b', a)",
        "from typing import *\ndef f(a: int):\n    return a",
        "def f(a: int):\n    import math\n    return math.floor(a)",
        "def f(a: int):\n    return f(a - 1) if a > 0 else len(str(a))",
        "def f(a: int):\n    def g(b):\n        yield b\n    return list(g(a))",
        "def f(a: int):\n    global g\n    g = a\n    return g",
        "def g(a: int):\n    return a\nh = g\ndef f(a: int):\n    return h(a), __name__",
        "def f(a: int):\n    try:\n        return a\n    except OSError as error:\n        return error",
    ],
)
def test_what_a_text_binds_itself_is_there(source: str) -> None:
    assert calls(source).calls


@dataclass
class Few:
    spec: str = "few"

    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        skipped["stub"] += 1
        yield sample(ADD)
        yield sample("def f(self): return 1")
        yield sample("int f() { return 1; }", language="java")


def test_a_corpus_shows_what_can_be_called() -> None:
    skipped: Counter[str] = Counter()
    assert list(Callables(Few()).read(skipped)) == [sample(ADD)]
    assert Callables(Few()).spec == "few"
    assert skipped == {"stub": 1, "method": 1, "neither Python, JavaScript, C nor C++": 1}

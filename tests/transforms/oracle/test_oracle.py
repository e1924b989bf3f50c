"""Verdicts: what counts as the same, what as different, and what says nothing."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from codeaudit.transforms.oracle.containment import RunLimits
from codeaudit.transforms.oracle.oracle import (
    APART,
    Agreed,
    Differed,
    Inconclusive,
    Oracle,
    ProgramPair,
    Verdict,
)
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Origin, Perturbed, Sample
from codeaudit.transforms.registry import TRANSFORMS
from tests.support.data import data_set


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle(limits=RunLimits(cpu_seconds=0.5)) as judge:
        yield judge


def function(body: str, parameters: str = "x") -> str:
    return f"def f({parameters}):\n" + "".join(f"    {line}\n" for line in body.splitlines())


def verdict(oracle: Oracle, before: str, after: str, *inputs: str, parameters: str = "x") -> Verdict:
    return oracle.judge(
        function(before, parameters), function(after, parameters), inputs=inputs or ("(2,)", "(0,)")
    )


@pytest.mark.thinned(18)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return 1", "return True"),
        ("return 1", "return 1.0"),
        ("return 0.0", "return -0.0"),
        ("return float('nan')", "return float('inf')"),
        ("return [x]", "return (x,)"),
        ("return {1, 2}", "return frozenset({1, 2})"),
        ("return {'a': 1, 'b': 2}", "return {'b': 2, 'a': 1}"),
        ("return 'a'", "return b'a'"),
        ("return '1'", "return 1"),
        ("return None", "return 'None'"),
        ("a = []\nreturn a, a", "return [], []"),
        ("a = []\na.append(a)\nreturn a", "a = []\na.append([])\nreturn a"),
        ("return (i for i in [1, 2])", "return (i for i in [2, 1])"),
        ("return (1 // i for i in [1, 0])", "return (1 // i for i in [1, 1])"),
        ("return iter([1])", "return iter([2])"),
        ("return map(abs, [1])", "return map(abs, [2])"),
        ("return lambda a: a + x", "return lambda a: a - x - 1"),
        ("raise ValueError(1)", "raise ValueError(2)"),
        ("raise ValueError(1)", "raise TypeError(1)"),
        ("raise ValueError(1) from KeyError(1)", "raise ValueError(1)"),
        ("raise ValueError(1)", "return ValueError(1)"),
        ("return 1", "raise SystemExit"),
        ("print(x)", "print(x, end='')"),
        ("print(x)", "import sys\nprint(x, file=sys.stderr)"),
        ("import os\nos.write(1, b'a')", "import os\nos.write(1, b'b')"),
        ("print('x' * 99_999, 1)", "print('x' * 99_999, 2)"),
        ("return ['x' * 99_999, 1]", "return ['x' * 99_999, 2]"),
        ("class A: pass\na = A()\na.v = 1\nreturn a", "class A: pass\na = A()\na.v = 2\nreturn a"),
        ("class A: pass\nreturn A()", "class B: pass\nreturn B()"),
        (
            "class A: __slots__ = 'v'\na = A()\na.v = 1\nreturn a",
            "class A: __slots__ = 'v'\na = A()\nreturn a",
        ),
        ("class A(list): pass\nreturn A([1])", "class A(list): pass\nreturn A([2])"),
        (
            "from collections import deque\nreturn deque([1])",
            "from collections import deque\nreturn deque([2])",
        ),
        ("from decimal import Decimal\nreturn Decimal(1)", "from decimal import Decimal\nreturn Decimal(2)"),
        pytest.param("return 1", "while True: pass", marks=pytest.mark.slow),
        ("return 1", "import os\nos._exit(0)"),
        ("return 1", "return f(x)"),
        ("return 1", "return unknown"),
        ("global G\nG = 1", "global G\nG = 2"),
        ("return hex(255)", "return hex(254)"),
        ("import random\nreturn random.random()", "import random\nrandom.random()\nreturn random.random()"),
        ("yield 1", "return [1]"),
        (
            "from functools import partial\nreturn partial(pow, 1)",
            "from functools import partial\nreturn partial(pow, 2)",
        ),
        ("return [1].append", "return [2].append"),
        (
            "class A:\n    def g(self): return 1\nreturn A().g",
            "class A:\n    def g(self): return 2\nreturn A().g",
        ),
        ("class A: v = 1\nreturn A", "class A: v = 2\nreturn A"),
        ("return lambda *, k=1: k", "return lambda *, k=2: k"),
        ("return memoryview(b'1')", "return memoryview(b'2')"),
        ("return range(1)", "return range(2)"),
        ("return slice(1)", "return slice(2)"),
        ("import re\nreturn re.compile('x' * 999 + 'y')", "import re\nreturn re.compile('x' * 999 + 'z')"),
        ("import re\nreturn re.match('a(.)', 'abc' * 99)", "import re\nreturn re.match('a(.)', 'abc' * 98)"),
        (
            "import collections\na = collections.OrderedDict(x=1, y=2)\na.move_to_end('x')\nreturn a",
            "import collections\na = collections.OrderedDict(x=1, y=2)\nreturn a",
        ),
        ("open('a', 'w').write('1')", "open('a', 'w').write('2')"),
        ("import os\nos.makedirs('a/b')", "import os\nos.makedirs('a/c')"),
    ],
)
def test_different_programs_differ(oracle: Oracle, before: str, after: str) -> None:
    judged = verdict(oracle, before, after)
    assert isinstance(judged, Differed), judged
    assert judged.input == "(2,)"
    assert judged.before != judged.after


def test_differences_are_told_by_input_before_and_after(oracle: Oracle) -> None:
    judged = verdict(oracle, "return x > 1", "return x > 0", "(5,)", "(1,)")
    assert judged == Differed(input="(1,)", before="value: False", after="value: True")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.append(1)", "x.insert(0, 1)"),
        ("return x", "return list(x)"),
        ("return x[:]", "return x"),
        ("next(iter(x), 0)", "x.clear()"),
    ],
)
def test_what_is_done_to_arguments_counts(oracle: Oracle, before: str, after: str) -> None:
    assert isinstance(verdict(oracle, before, after, "([3],)"), Differed)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("next(x)\nreturn 1", "next(x)\nnext(x)\nreturn 1"),
        ("return sum(x)", "return 6"),
    ],
)
def test_how_far_an_iterator_was_read_counts(oracle: Oracle, before: str, after: str) -> None:
    assert isinstance(verdict(oracle, before, after, "(iter([1, 2, 3]),)"), Differed)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.a\nx.b", "x.b\nx.a"),
        ("x.run()", "x.run"),
        ("x.run(1, k=2)", "x.run(1, k=3)"),
        ("x[1] = 2", "x[2] = 1"),
        ("return x == 1", "return 1 == x + 0"),
        ("return x + 1", "return 1 + x"),
        ("return x < 1, x > 1", "return x > 1, x < 1"),
        ("with x: pass", "x.close()"),
        ("for i in x: i.go()", "for i in x: pass"),
        ("return bool(x)", "return bool(x and x)"),
    ],
)
def test_what_is_done_to_an_object_counts(oracle: Oracle, before: str, after: str) -> None:
    assert isinstance(verdict(oracle, before, after, "(probe('x'),)"), Differed)
    assert isinstance(verdict(oracle, before, before, "(probe('x'),)"), Agreed)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return x + 1", "y = x\nreturn y + 1"),
        ("return object()", "a = [object() for _ in range(9)]\nreturn a[5]"),
        ("return repr(object()), lambda: 1", "a = [[]]\nreturn repr(object()), lambda: 1"),
        ("print(f)", "a = [object()]\nprint(f)"),
        ("return {3, 1, 2}", "return {1, 2, 3}"),
        ("return 10 ** 5000", "return 10 ** 4999 * 10"),
        ("return float('nan')", "return float('inf') - float('inf')"),
        ("a = []\nreturn a, a", "a = b = []\nreturn b, a"),
        ("return (i for i in [x])", "yield from [x]"),
        ("import itertools\nreturn itertools.count()", "import itertools\nreturn itertools.count(0)"),
        ("raise KeyError(x)", "y = x\nraise KeyError(y)"),
        ("if x: del y\ny = 1\nreturn y", "if x: del z\nz = 1\nreturn z"),
        ("import collections\nreturn collections.Counter('ab')", "import collections\nreturn collections.Counter(['a', 'b'])"),
        ("def g(): return x\nreturn g", "y = x\ndef g(): return y\nreturn g"),
        ("import sys\nsys.setrecursionlimit(990)\nreturn x", "y = x\nimport sys\nsys.setrecursionlimit(990)\nreturn y"),
    ],
)  # fmt: skip
def test_equal_programs_agree(oracle: Oracle, before: str, after: str) -> None:
    judged = verdict(oracle, before, after)
    assert isinstance(judged, Agreed), judged
    assert judged.inputs == 2


def test_the_order_of_changed_definitions_is_no_result(oracle: Oracle) -> None:
    first, second = "def one(): return 1\n", "def two(): return 2\n"
    calls = "def f(x):\n    globals()['one'] = globals()['two'] = lambda: {}\n    return x\n"
    before, after, other = first + second + calls, second + first + calls, first + second + calls
    inputs = ("(2,)", "(0,)")
    judged = oracle.judge(before.format("x"), after.format("x"), function="f", inputs=inputs)
    assert isinstance(judged, Agreed), judged
    assert isinstance(oracle.judge(before.format(1), other.format(2), function="f", inputs=inputs), Differed)


def test_coroutines_and_asynchronous_generators_are_run(oracle: Oracle) -> None:
    before = "import asyncio\nasync def f(x):\n    await asyncio.sleep(0)\n    return x\n"
    assert isinstance(oracle.judge(before, before, inputs=("(1,)",)), Agreed)
    assert isinstance(
        oracle.judge(before, before.replace("return x", "return -x"), inputs=("(1,)",)), Differed
    )
    before = "async def f(x):\n    yield x\n    raise KeyError(x)\n"
    assert isinstance(oracle.judge(before, before, inputs=("(1,)",)), Agreed)
    assert isinstance(
        oracle.judge(before, before.replace("KeyError", "IndexError"), inputs=("(1,)",)), Differed
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return unknown", "a global name is missing"),
        ("import numpy_not_here\nreturn 1", "a module is missing"),
        ("return open('/etc/passwd').read()", "stopped by the sandbox"),
        ("import threading\nthreading.Thread(target=print).start()", "stopped by the sandbox"),
        ("return f(x)", "out of memory or stack"),
        ("return [0] * 10 ** 12", "out of memory or stack"),
        ("import time\nreturn time.perf_counter_ns()", "the original is not deterministic"),
        ("import os\nreturn os.urandom(8)", "the original is not deterministic"),
        ("return id(x.__class__('a' * 99)) // 16", "the original is not deterministic"),
        ("return list({object(): i for i in range(9)}.values()) + sorted({id([i]) for i in range(9)})", "the original is not deterministic"),
        ("import os\nos._exit(0)", "left without an answer"),
        ("while True: pass", "out of processor time"),
    ],
)  # fmt: skip
def test_what_shows_nothing_is_inconclusive(oracle: Oracle, body: str, reason: str) -> None:
    other = body.replace("return ", "return 0, ") if "return" in body else f"x = 1\n{body}"
    assert verdict(oracle, body, other, "('a',)") == Inconclusive(reason)


@pytest.mark.slow
def test_an_address_is_not_deterministic_whatever_was_run_before(oracle: Oracle) -> None:
    """The server compiles the setups, so each leaves other free blocks for the programs after it."""
    before = function("return id(x.__class__('a' * 99)) // 16")
    after = before.replace("return ", "return 0, ")
    chance = Random(0)
    for _ in range(60):
        setup = "\n".join(
            f"def g{i}(a):\n    return [a * {chance.random()}, 'w{chance.random()}', {'x' * chance.randrange(1, 99)}]"
            for i in range(chance.choice([0, 3, 40, 200]))
        )
        pair = ProgramPair(original=before, perturbed=after, inputs=("('a',)",), setup=setup)
        assert list(map(oracle.judge_pair, [pair])) == [Inconclusive("the original is not deterministic")]


@pytest.mark.parametrize(
    ("before", "after", "function_", "reason"),
    [
        ("def f(", "def f(): pass", None, "source does not parse"),
        ("x = 1\n", "x = 1\n", None, "no function to call"),
        ("def f(): pass\n", "def f(): pass\n", "g", "no function to call"),
        ("raise KeyError\ndef f(): pass\n", "def f(): pass\n", None, "the program can't be executed alone"),
        ("import nowhere\ndef f(): pass\n", "def f(): pass\n", None, "a module is missing"),
    ],
)
def test_what_can_not_be_run_is_inconclusive(
    oracle: Oracle, before: str, after: str, function_: str | None, reason: str
) -> None:
    assert oracle.judge(before, after, function=function_) == Inconclusive(reason)


def test_an_input_on_which_the_original_shows_nothing_is_skipped(oracle: Oracle) -> None:
    body = "return unknown if x else 1"
    assert verdict(oracle, body, body, "(0,)", "(1,)") == Agreed(inputs=1, returned=1, skipped=1)
    assert isinstance(verdict(oracle, body, "return unknown if x else 2", "(0,)", "(1,)"), Differed)
    assert isinstance(verdict(oracle, body, "return 5 if x else 1", "(0,)", "(1,)"), Agreed)


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        ("import os\nreturn os.urandom(8) if x else 1", None),
        ("import time\nif x: time.sleep(99)\nreturn 1", "out of time"),
        ("import os\nif x:\n    for n in range(3, 64):\n        try: os.write(n, b'x')\n        except OSError: pass\nreturn 1",
         "something else was written to the channel"),
        ("import random\nif x and random.SystemRandom().random() < 0: return 2\nreturn 1", "agreed"),
    ],
)  # fmt: skip
@pytest.mark.thinned(2)
def test_one_agreed_input_does_not_hide_another(oracle: Oracle, after: str, reason: str | None) -> None:
    judged = verdict(oracle, "return 1", after, "(0,)", "(1,)")
    if reason == "agreed":
        assert isinstance(judged, Agreed)
    else:
        assert isinstance(judged, Differed) if reason is None else judged == Inconclusive(reason)


def test_inputs_of_wrong_kinds_only_are_no_evidence(oracle: Oracle) -> None:
    source = "def f(x):\n    return x.nowhere_to_be_found.really + [1][x]\n"
    judged = oracle.judge(source.replace("x.now", "(1).now"), source.replace("x.now", "(1).now"))
    assert judged == Inconclusive("only inputs of kinds that it does not take")


def test_texts_of_errors_about_names_count_only_if_asked() -> None:
    before, after = (f"def f(x):\n    if x: return {name}\n    {name} = 1\n" for name in "yz")
    with Oracle() as loose:
        assert isinstance(loose.judge(before, after, inputs=("(1,)",)), Agreed)
        assert isinstance(
            loose.judge(before, after.replace("return z", "raise NameError"), inputs=("(1,)",)), Differed
        )
    with Oracle(messages=True) as strict:
        assert isinstance(strict.judge(before, after, inputs=("(1,)",)), Differed)
        assert isinstance(strict.judge(before, before, inputs=("(1,)",)), Agreed)


def test_one_program_leaves_nothing_for_the_next(oracle: Oracle) -> None:
    spoiling = "import json, random, sys\njson.loads = None\nrandom.seed(x)\nsys.modules.pop('json')\nopen('left', 'w').write('x')\nreturn 1"
    assert isinstance(verdict(oracle, spoiling, spoiling, "(1,)"), Agreed)
    body = "import os, json\nreturn len(os.listdir()), json.loads('1')"
    judged = verdict(oracle, body, "return 0, 1", "(1,)")
    assert judged == Agreed(inputs=1, returned=1, skipped=0)


def test_a_program_that_replaces_builtins_is_still_observed(oracle: Oracle) -> None:
    body = "import builtins\nbuiltins.len = builtins.type = None\nreturn x"
    assert isinstance(verdict(oracle, body, body, "(1,)"), Agreed)
    assert isinstance(verdict(oracle, body, body.replace("return x", "return -x"), "(1,)"), Differed)


@pytest.mark.parametrize(
    "body",
    [
        "y = []\nfor _ in range(60): y = [y]\nreturn y",
        "y = ()\nfor _ in range(10_000): y = (y,)\nreturn y",
        "return [[] for _ in range(21_000)]",
        "raise ValueError([[] for _ in range(21_000)])",
        "return iter(range(3_000))",
        "import itertools\nreturn itertools.cycle([1])",
        "import array\nreturn array.array('i', [1])",
        "import types\nreturn types.MappingProxyType({1: 2})",
        "import types\nreturn types.ModuleType('m')",
        "import weakref\nreturn weakref.ref(f)",
        "import sys\nreturn sys._getframe()",
        "return compile('1', 'a', 'eval')",
        "return property(lambda self: 1)",
        "return staticmethod(lambda: 1)",
        "return lambda a, b, c, d, e, f, g: 1",
        "class A:\n    __slots__ = 'v'\na = A()\na.v = 1\ndel A.v\nreturn a",
        "class A:\n    __dict__ = property(lambda self: {})\na = A()\na.v = 1\nreturn a",
        "class A(bytearray): pass\nreturn A(b'1')",
    ],
)
def test_values_that_are_not_described_completely_do_not_agree(oracle: Oracle, body: str) -> None:
    assert verdict(oracle, body, body, "(1,)") == Inconclusive("a result that cannot be compared completely")


def test_inputs_do_not_share_state(oracle: Oracle) -> None:
    source = "calls = []\ndef f(x, kept=[]):\n    calls.append(x)\n    kept.append(x)\n    return len(calls), len(kept)\n"
    after = source.replace("len(calls), len(kept)", "1, 1")
    assert isinstance(oracle.judge(source, after, inputs=("(1,)", "(2,)", "(3,)")), Agreed)


def test_inputs_do_not_share_files(oracle: Oracle) -> None:
    source = "import os\ndef f(x):\n    found = os.listdir('.')\n    os.makedirs('a/b')\n    open(f'a/{x}', 'w').write('x')\n"
    source += "    os.chdir('a/b')\n    return found\n"
    after = source.replace("return found", "return []")
    assert isinstance(oracle.judge(source, after, inputs=("(1,)", "(2,)")), Agreed)
    after = source.replace("write('x')", "write('y' if x == 2 else 'x')")
    judged = oracle.judge(source, after, inputs=("(1,)", "(2,)"))
    assert isinstance(judged, Differed)
    assert judged.input == "(2,)"
    assert judged.before.startswith("files: ")


def test_a_renamed_function_is_found_by_its_place(oracle: Oracle) -> None:
    before = "def g(x): return x\ndef f(x): return g(x)\n"
    after = "def a(x): return x\ndef b(x): return a(x)\n"
    assert isinstance(oracle.judge(before, after, function="f"), Agreed)
    assert isinstance(oracle.judge(before, after, function="g"), Agreed)
    assert isinstance(oracle.judge(before, "def b(x): return 1\n"), Inconclusive)


def test_what_both_need_stands_before_them(oracle: Oracle) -> None:
    setup = "total = []\ndef note(x):\n    total.append(x)\n"
    before, after = "def f(x):\n    note(x)\n", "def f(x):\n    note(x)\n    note(x)\n"
    (same, other) = (
        oracle.judge_pair(ProgramPair(original=before, perturbed=program, setup=setup, inputs=("(1,)",)))
        for program in (before, after)
    )
    assert isinstance(same, Agreed)
    assert isinstance(other, Differed)
    assert "[1, 1]" in other.after


def test_batches_stream_in_order(oracle: Oracle) -> None:
    drawn: list[int] = []

    def pairs() -> Iterator[ProgramPair]:
        for number in range(6):
            drawn.append(number)
            yield ProgramPair(
                original="def f(x): return x\n",
                perturbed=f"def f(x): return x + {number % 2}\n",
                inputs=("(1,)",),
            )

    verdicts = map(oracle.judge_pair, pairs())
    assert isinstance(next(verdicts), Agreed)
    assert drawn == [0]
    assert [isinstance(judged, Agreed) for judged in verdicts] == [False, True, False, True, False]


def test_verdicts_repeat(oracle: Oracle) -> None:
    source = "def f(words, n=2):\n    return sorted(words)[:n]\n"
    with Oracle() as other:
        assert oracle.judge(source, source, seed=3) == other.judge(source, source, seed=3)


# ── the sample's own tests ────────────────────────────────────────────────────────────────────────────────

TESTS = "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(x=2) == 3\n"


def test_own_tests_decide(oracle: Oracle) -> None:
    source = "def f(x): return x + 1\n"
    assert oracle.judge(source, source, tests=TESTS) == Agreed(inputs=2, returned=2, skipped=0)
    judged = oracle.judge(source, source.replace("+ 1", "+ 2"), tests=TESTS)
    assert isinstance(judged, Differed)
    assert judged.input == "its own tests"
    assert "AssertionError" in judged.after


def test_tests_that_the_original_fails_show_nothing(oracle: Oracle) -> None:
    source = "def f(x): return x + 2\n"
    assert oracle.judge(source, source, tests=TESTS) == Inconclusive("the original fails its own tests")


HELPLESS = """
class Same:
    def __eq__(self, other): return True
def f(x): return Same()
"""
LISTS = """
class Same(list):
    def __eq__(self, other): return True
def f(x): return [x + 1]
"""
FRAMES = """
import os, sys
def f(x):
    frame = sys._getframe()
    while frame:
        if "answer" in frame.f_locals:
            frame.f_locals["answer"]('{"end": "returned", "calls": "1"}')
            os._exit(0)
        frame = frame.f_back
    return x + 1
"""


@pytest.mark.parametrize(
    ("original", "perturbed"),
    [
        (HELPLESS, HELPLESS),
        (LISTS, LISTS.replace("return [x + 1]", "return Same([x])")),
        (FRAMES, FRAMES.replace("return x + 1", "return x - 1")),
    ],
)
def test_programs_do_not_agree_by_forging_their_tests(oracle: Oracle, original: str, perturbed: str) -> None:
    tests = (
        "def check(g):\n    assert g(1) == (2 if type(g(1)) is int else [2])\n    assert g(2) in (3, [3])\n"
    )
    verdict = oracle.judge(original, perturbed, tests=tests)
    assert not isinstance(verdict, Agreed), verdict


def test_tests_apart_know_renamed_functions_setup_and_helpers(oracle: Oracle) -> None:
    source = "def near(a): return a + BY\ndef f(x): return x + 1\n"
    tests = "def check(g):\n    assert g(1) == near(1)\n"
    renamed = source.replace("def f", "def h")
    for other in (source, renamed):
        assert isinstance(oracle.judge(source, other, tests=tests, setup="BY = 1", function="f"), Agreed)
    unfit = "def f(x): return x()\n"
    tests = "def check(g):\n    assert g(lambda: 1) == 1\n"
    assert oracle.judge(unfit, unfit, tests=tests) == Inconclusive(APART)


def problems() -> list[dict[str, Any]]:
    with gzip.open(data_set("HumanEval.jsonl.gz"), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def verdicts_by_own_tests(oracle: Oracle, name: str) -> Counter[type]:
    counts: Counter[type] = Counter()
    for number, problem in enumerate(problems()):
        source = problem["prompt"] + problem["canonical_solution"]
        sample = Sample(
            id=str(number), language="python", source=source, label=None, origin=Origin(path="-", line=1)
        )
        for outcome in perturb_one(sample, TRANSFORMS.get(name), variants=1, seed=0):
            if isinstance(outcome, Perturbed):
                judged = oracle.judge(
                    source, outcome.source, tests=problem["test"], function=problem["entry_point"]
                )
                counts[type(judged)] += 1
    return counts


@pytest.mark.parametrize(("name", "at_least"), [("identity", 164), ("rename", 100), ("reorder", 40)])
@pytest.mark.slow
def test_solutions_still_pass_their_tests(oracle: Oracle, name: str, at_least: int) -> None:
    counts = verdicts_by_own_tests(oracle, name)
    assert set(counts) == {Agreed}
    assert counts[Agreed] >= at_least


@pytest.mark.weekly
@pytest.mark.parametrize("name", ["reorder-breaking", "rename-merging"])
def test_controls_fail_them(oracle: Oracle, name: str) -> None:
    counts = verdicts_by_own_tests(oracle, name)
    assert counts[Differed] > 0.9 * counts.total()
    assert counts.total() > 60


@pytest.mark.slow
def test_the_global_generator_is_left_alone(oracle: Oracle) -> None:
    source = "def f(x: int): return x\n"
    before = Random(0).getstate()
    assert isinstance(oracle.judge(source, source, seed=5), Agreed)
    assert Random(0).getstate() == before

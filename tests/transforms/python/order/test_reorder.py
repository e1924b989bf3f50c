"""The reorder engine on text: what moves, what stays, what is refused, and that nothing changes when run."""

import ast
import contextlib
import io
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.python.analysis.program import analyse
from codeaudit.transforms.python.files import places
from codeaudit.transforms.python.order import reorder
from codeaudit.transforms.python.order.reorder import REORDER, REORDER_BREAKING
from codeaudit.transforms.records import Move
from codeaudit.transforms.seeding import stream
from tests.support.stdlib import sample as stdlib_functions


def swap(source: str, order: tuple[int, ...] = (1, 0), site: int = 1) -> str:
    """A source after one block is put into an order."""
    result = REORDER.apply(source, (Move(kind="order", site=site, value=order, note=""),))
    assert isinstance(result, Rewritten), result
    return result.source


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("def f():\n    x = 1\n    y = 2\n", "def f():\n    y = 2\n    x = 1\n", id="plain"),
        pytest.param("def f():\n    x = 1\n    y = 2", "def f():\n    y = 2\n    x = 1", id="no final newline"),
        pytest.param("def f():\r\n\tx = 1\r\n\ty = 2\r\n", "def f():\r\n\ty = 2\r\n\tx = 1\r\n", id="CRLF, tabs"),
        pytest.param(
            "def f():\n    # of x\n    x = 1  # x\n\n    # of y\n    y = 2  # y\n",
            "def f():\n    # of y\n    y = 2  # y\n\n    # of x\n    x = 1  # x\n",
            id="comments move with their statement",
        ),
        pytest.param(
            'def f(a="""\n# text"""):\n    x = 1\n    y = 2\n',
            'def f(a="""\n# text"""):\n    y = 2\n    x = 1\n',
            id="a header that ends in what looks like a comment",
        ),
        pytest.param(
            'def f():\n    x = """a\n# no comment\n"""\n    y = (1,\n         2)\n',
            'def f():\n    y = (1,\n         2)\n    x = """a\n# no comment\n"""\n',
            id="statements over several lines",
        ),
        pytest.param(
            "def f():\n    é = 'ü'; \n    y = '€'\n", "def f():\n    y = '€'\n    é = 'ü'; \n", id="wide characters"
        ),
        pytest.param(
            "def f():\n    x = 1\n    def g(): pass\n",
            "def f():\n    def g(): pass\n    x = 1\n",
            id="a nested function",
        ),
        pytest.param(
            "def f():\n    x = 1 \\\n        + 2\n    y = 2\n",
            "def f():\n    y = 2\n    x = 1 \\\n        + 2\n",
            id="continued lines",
        ),
    ],
)  # fmt: skip
def test_only_the_moved_text_changes(before: str, after: str) -> None:
    assert swap(before) == after


def test_any_order_of_whole_lines_parses() -> None:
    """So the parser need not look at them again."""
    rng = Random(3)
    moved = 0
    for source in stdlib_functions(120):
        ordering = REORDER.ordering(source)
        wanted = {}
        for site, block in enumerate(ordering.blocks):
            if block.fixed is None and len(block.statements) > 1:
                # Only the docstring stays where it is.
                kept = 0 if block.statements[0].parts else 1
                numbers = list(range(kept, len(block.statements)))
                wanted[site] = [*range(kept), *rng.sample(numbers, len(numbers))]
        if wanted and (text := ordering.text(wanted)) is not None:
            before, after = ast.parse(source), ast.parse(text)
            assert _shapes(before) == _shapes(after)
            moved += text != source
    assert moved > 50


def _shapes(tree: ast.AST) -> Counter[str]:
    return Counter(type(node).__name__ for node in ast.walk(tree))


def test_what_reaches_beyond_its_line_is_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[str]()
    monkeypatch.setattr(reorder, "parse", seen.append)
    for text in ("    x = 1 \\\n        + 2\n    y = 2", "    x = 1\r\n    y = 2", "    x = 1\n\f    y = 2"):
        swap(f"def f():\n{text}\n")
    assert len(seen) == 3
    swap("def f():\n    x = 1\n    y = '\\n'\n")
    assert len(seen) == 3


def test_a_comment_that_belongs_to_the_inner_block_stays_with_it() -> None:
    before = "def f():\n    for i in range(2):\n        x = i\n        # inner\n    y = 1\n"
    assert swap(before) == "def f():\n    y = 1\n        # inner\n    for i in range(2):\n        x = i\n"


def test_nested_blocks_are_permuted_inside_and_moved_as_a_whole() -> None:
    before = "def f(a):\n    z = 0\n    if a is None:\n        x = 1\n        y = 2\n"
    moves = (
        Move(kind="order", site=1, value=(1, 0), note=""),
        Move(kind="order", site=2, value=(1, 0), note=""),
    )
    result = REORDER.apply(before, moves)
    assert isinstance(result, Rewritten)
    assert result.source == "def f(a):\n    if a is None:\n        y = 2\n        x = 1\n    z = 0\n"


def test_the_docstring_stays_first() -> None:
    source = 'def f():\n    """Doc."""\n    x = 1\n    y = 2\n'
    for number in range(8):
        moves = REORDER.propose(source, Random(number))
        assert isinstance(moves, tuple)
        assert moves[0].value == (0, 2, 1)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(a):\n    return a\n", "no block of two statements"),
        ("def f(a):\n    b = a\n    return b\n", "neighbours leave or suspend the block"),
        ("def f():\n    x = 1; y = 2\n", "statements share a line"),
    ],
)
def test_refusals_have_a_reason(source: str, reason: str) -> None:
    assert REORDER.propose(source, Random(0)) == Refused(reason)


@pytest.mark.parametrize(
    "move",
    [
        Move(kind="order", site=1, value=(1, 0, 2), note=""),
        Move(kind="order", site=9, value=(0, 1), note=""),
        Move(kind="rename", site=1, value="x", note=""),
        Move(kind="order", site=1, value=(0, 0, 1), note=""),
    ],
)
def test_illegal_moves_are_refused(move: Move) -> None:
    source = "def f(a):\n    x = a\n    y = x\n    return y\n"
    assert isinstance(REORDER.apply(source, (move,)), Refused)


def test_every_draw_is_legal_and_differs_and_depends_on_the_stream_alone() -> None:
    source = "def f(a):\n    x = 1\n    y = 2\n    z = a\n    return x, y, z\n"
    drawn = [REORDER.propose(source, stream(0, "id", number)) for number in range(50)]
    assert drawn == [REORDER.propose(source, stream(0, "id", number)) for number in range(50)]
    assert len({moves[0].value for moves in drawn if isinstance(moves, tuple)}) == 5


def test_names_only_order_claims_no_proof() -> None:
    source = "def f(a, b):\n    a.run()\n    b.run()\n"
    assert isinstance(REORDER.propose(source, Random(0)), Refused)
    moves = REORDER.under("paper").propose(source, Random(0))
    assert isinstance(moves, tuple)
    rewritten = REORDER.under("paper").apply(source, moves)
    assert isinstance(rewritten, Rewritten)
    assert rewritten.evidence == "parsed"


def test_the_control_reverses_exactly_one_true_dependence() -> None:
    source = "def f(a):\n    x = a\n    y = 2\n    z = x\n    return z, y\n"
    seen = set()
    for number in range(20):
        moves = REORDER_BREAKING.propose(source, Random(number))
        assert isinstance(moves, tuple)
        order = moves[0].value
        assert isinstance(order, tuple)
        relation = analyse(source).blocks[1].predecessors
        place = {line: at for at, line in enumerate(order)}
        reversed_pairs = [
            (u, v)
            for v, mask in enumerate(relation)
            for u in range(v)
            if mask >> u & 1 and place[u] > place[v]
        ]
        assert len(reversed_pairs) == 1
        assert isinstance(REORDER_BREAKING.apply(source, moves), Rewritten)
        seen.add(order)
    assert len(seen) > 1


def test_the_control_refuses_a_legal_order() -> None:
    source = "def f():\n    x = 1\n    y = 2\n    return x, y\n"
    legal = (Move(kind="order", site=1, value=(1, 0, 2), note=""),)
    assert isinstance(REORDER_BREAKING.apply(source, legal), Refused)


# ── by execution ──────────────────────────────────────────────────────────────────────────────────────────

SIMPLE = [
    "{v} = {n}", "{v} = {w}", "{v} = []", "{v} = {w} + {n}", "{v} += {n}", "print({v})", "{v} = str({w})",
    "{v} = {w} // {u}", "{v} = [{w}, {n}]", "{v} = 'a' + 'b'", "log.append({v})", "{v} = len(log)",
    "{v} = {w} == {u}", "{v} = lambda: {w}", "{v} = f'{{{w}}}'", "{v}, {w} = {n}, {u}", "del {v}", "{v} = G",
    "bump()", "{v} = {w} if {u} else {n}", "{v} = [i for i in range({n})]", "own.append({n})",
    "{v} = own[:]", "assert {v} != {n}", "{v} = call({w})", "{v} = not {w}", "{v} = x.y", "{v} = Value({n})",
    "{v} = '{n}'.upper()", "{v} = min({n}, 3)", "{v} = {n} in (1, 2)", "{v} = None", "return {v}", "raise KeyError({n})",
]  # fmt: skip

PRELUDE = """
G = 0
log = []
def bump():
    global G
    G += 1
    log.append(G)
def call(value):
    return value() if callable(value) else log.append(str(value))
class Value:
    def __init__(self, n): self.n = n
class X:
    @property
    def y(self):
        return len(log)
x = X()
"""


def program(rng: Random) -> str:
    """A small function that assigns, prints, raises, captures, loops and returns early."""

    def simple() -> str:
        v, w, u = (rng.choice("abcd") for _ in range(3))
        return rng.choice(SIMPLE[:-2] * 3 + SIMPLE[-2:]).format(v=v, w=w, u=u, n=rng.randrange(4))

    def block(depth: int, loop: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(rng.randint(2, 5)):
            kind = rng.random()
            inner = ["    " + line for line in block(depth + 1, loop)] if kind < 0.3 and depth < 2 else []
            if not inner:
                leave = loop and rng.random() < 0.08
                lines.append(rng.choice(["break", "continue"]) if leave else simple())
            elif kind < 0.1:
                lines += [f"if {rng.choice('abcd')}:", *inner, "else:", "    " + simple()]
            elif kind < 0.18:
                body = ["    " + line for line in block(depth + 1, True)]
                lines += [f"for {rng.choice('abcdi')} in range({rng.randrange(3)}):", *body]
            elif kind < 0.26:
                handler = rng.choice(["except ZeroDivisionError:", "except Exception as e:", "finally:"])
                lines += ["try:", *inner, handler, "    " + simple()]
            else:
                lines += ["def inner():", *(f"    {line}" for line in ["nonlocal a", "a = 2", "return b"])]
        return lines

    body = ["own = []", *block(0, False), "return a, b, c, d, own"]
    return "def f(a, b, c=2, d=3):\n" + "".join(f"    {line}\n" for line in body)


def behaviour(source: str) -> tuple[Any, ...]:
    """What a program prints, logs, returns and raises, on two inputs."""
    seen: list[Any] = []
    for arguments in ((0, 1), (2, 0)):
        space: dict[str, Any] = {}
        exec(PRELUDE + source, space)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            try:
                result = plain(space["f"](*arguments))
            except Exception as error:
                result = type(error).__name__
        seen.append((result, plain(out.getvalue()), plain(space["log"]), space["G"]))
    return tuple(seen)


def plain(value: Any) -> Any:
    """A value that compares across runs: functions and objects by their kind."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, str):
        return re.sub("0x[0-9a-f]+", "", value)
    return value if isinstance(value, int | type(None)) else type(value).__name__


@pytest.mark.weekly
def test_legal_orders_change_nothing_when_run() -> None:
    pairs = 0
    for number in range(1200):
        rng = stream(11, number)
        source = program(rng)
        try:
            compile(source, "f", "exec")
        except SyntaxError:
            continue
        moves = REORDER.propose(source, rng)
        if not isinstance(moves, tuple):
            continue
        rewritten = REORDER.apply(source, moves)
        assert isinstance(rewritten, Rewritten)
        assert behaviour(source) == behaviour(rewritten.source), f"{source}\n{rewritten.source}"
        pairs += 1
    assert pairs > 150


@pytest.mark.slow
def test_the_oracle_notices_illegal_orders() -> None:
    noticed = tried = 0
    for number in range(600):
        rng = stream(12, number)
        source = program(rng)
        try:
            compile(source, "f", "exec")
        except SyntaxError:
            continue
        moves = REORDER.under("paper").propose(source, rng)
        if isinstance(moves, tuple):
            rewritten = REORDER.under("paper").apply(source, moves)
            if not isinstance(rewritten, Rewritten):
                continue
            try:
                compile(rewritten.source, "f", "exec")
            except SyntaxError:
                continue
            tried += 1
            noticed += behaviour(source) != behaviour(rewritten.source)
    assert tried > 300
    assert noticed > tried / 10  # 15 % of 2,072: their names, not their calls, decide most programs


@pytest.mark.slow
@pytest.mark.parametrize("module", ["textwrap", "heapq", "shlex"])
def test_whether_the_file_is_read_at_once_decides_no_order(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short file is read before its function is analysed alone. That saves time, and changes no answer."""
    text = (Path(ast.__file__).parent / f"{module}.py").read_text(encoding="utf-8")
    proposals: dict[int, list[object]] = {}
    for at_once in (0, 10**9):
        monkeypatch.setattr(reorder, "_AT_ONCE", at_once)
        monkeypatch.setattr(reorder, "_FILE_NEEDED", {})
        reorder._ordering.cache_clear()
        for place in places(text):
            source = place.wrapper + text.encode()[place.start : place.end].decode()
            proposed = REORDER.within(text).propose(source, Random(0))
            proposals.setdefault(at_once, []).append("refused" if isinstance(proposed, Refused) else proposed)
    assert proposals[0] == proposals[10**9]
    assert any(isinstance(proposal, tuple) for proposal in proposals[0])

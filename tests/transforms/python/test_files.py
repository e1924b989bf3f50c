"""Whole files: every byte that no transform touched stays, and what a transform may not do is dropped."""

import argparse
import ast
import configparser
import http.cookies
import inspect
import queue
import sched
import shelve
import sysconfig
import tarfile
import textwrap
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from codeaudit.transforms.errors import NOT_PARSED
from codeaudit.transforms.interface import IDENTITY, BaseTransform, Refused, Rewritten, Transform
from codeaudit.transforms.python.analysis.program import analyse
from codeaudit.transforms.python.files import IN_BLOCK, IN_CLASS, PYTHON_FILES, DecodedPython, places
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.python.order.reorder import REORDER
from codeaudit.transforms.records import Kind, Move, Unit
from codeaudit.transforms.source_files import (
    MODULE,
    NO_RETURN,
    NOT_COMPILED,
    WRAPPER_LOST,
    Applied,
    Declined,
    TransformSeries,
    changed_units,
    function_names,
    perturb_file,
)


@dataclass(frozen=True)
class Edit(BaseTransform):
    """A transform that does to a text whatever the test wants."""

    do: Callable[[str], str]
    name: str = "edit"
    kind: Kind = "preserving"
    languages: frozenset[str] = field(default_factory=frozenset)
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        return (Move(kind="edit", site=0, value="", note=""),)

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        return Rewritten(source=self.do(source), evidence="analysis")


def series(*transforms: Transform, seed: int = 0) -> TransformSeries:
    return TransformSeries(transforms=transforms, seed=seed)


def one_to_two(text: str) -> str:
    return text.replace("1", "2") if "def" in text else text


def after(data: bytes, *transforms: Transform) -> bytes:
    return perturb_file(PYTHON_FILES, data, "m.py", series(*transforms)).data


def reasons(data: bytes, *transforms: Transform) -> list[str]:
    return [
        r.reason
        for r in perturb_file(PYTHON_FILES, data, "m.py", series(*transforms)).records
        if isinstance(r, Declined)
    ]


@pytest.mark.slow
def test_nothing_changes_a_byte_of_the_standard_library() -> None:
    root = Path(sysconfig.get_path("stdlib"))
    seen = 0
    for path in sorted(root.rglob("*.py"))[::9]:
        if not {"site-packages", "dist-packages"} & set(path.parts):
            data = path.read_bytes()
            assert perturb_file(PYTHON_FILES, data, str(path), series(IDENTITY)).data == data, path
            seen += 1
    assert seen > 50


@pytest.mark.slow
def test_a_rewritten_standard_library_compiles_and_keeps_what_is_between_functions() -> None:
    root = Path(sysconfig.get_path("stdlib"))
    changed = 0
    for name in ("argparse", "json/decoder", "textwrap", "heapq", "asyncio/queues"):
        data = (root / f"{name}.py").read_bytes()
        edited = perturb_file(PYTHON_FILES, data, name, series(REORDER))
        compile(edited.data, name, "exec")
        touched = {record.unit.name for record in edited.records if isinstance(record, Applied)}
        assert set(changed_units(PYTHON_FILES, data, edited.data)) == touched
        changed += len(touched)
    assert changed > 10


def test_an_edit_says_on_what_it_rests() -> None:
    data = b"def f(a, b):\n    first = a\n    second = b\n    return first, second\n"
    (record,) = perturb_file(PYTHON_FILES, data, "m.py", series(REORDER)).records
    assert isinstance(record, Applied)
    assert record.rests_on == tuple(
        id for id in PYTHON.ledger if id in PYTHON.transforms[REORDER.name].rests_on
    )


NESTED = b'''\
class A:
    @property
    def a(self):
        def inner(): return 1
        return """
left 1
"""  # 1

    class B:
        async def b(self): return 1
\x0c
if 1:
    def c(): return 1
else:
    try:
        def c(): return 1
    except OSError:
        def c(): return 1
    finally:
        pass
for x in []:
    def d(): return 1
match 1:
    case 1:
        def e(): return 1
def f(): return 1'''


def test_every_outermost_function_is_a_unit_under_what_stands_around_it() -> None:
    seen: list[str] = []
    edited = perturb_file(
        PYTHON_FILES,
        NESTED,
        "m.py",
        series(Edit(lambda text: seen.append(text) or text + " ")),  # type: ignore[func-returns-value]
    )
    assert [(record.unit.name, record.unit.line) for record in edited.records] == [
        ("A.a", 2),
        ("A.B.b", 10),
        ("c", 13),
        ("c#2", 16),
        ("c#3", 18),
        ("d", 22),
        ("e", 25),
        ("f", 26),
    ]
    assert seen[0] == (
        IN_CLASS + "    @property\n    def a(self):\n        def inner(): return 1\n"
        '        return """\nleft 1\n"""  # 1'
    )
    assert seen[1] == IN_CLASS + "        async def b(self): return 1"
    assert seen[2] == IN_BLOCK + "    def c(): return 1"
    assert seen[-1] == "def f(): return 1"


def test_only_the_functions_change() -> None:
    expected = NESTED.replace(b"return 1", b"return 2").replace(b"left 1", b"left 2").replace(b"# 1", b"# 2")
    assert after(NESTED, Edit(one_to_two)) != NESTED
    wanted = after(
        NESTED, Edit(lambda text: text.replace("1", "2").replace(IN_BLOCK.replace("1", "2"), IN_BLOCK))
    )
    assert wanted == expected


ENCODINGS = {
    "latin-1": "# coding: latin-1\ndef f():\n    return 'ü', 1\n".encode("latin-1"),
    "byte order mark": b"\xef\xbb\xbfdef f():\n    return '\xc3\xbc', 1\n",
    "utf-8 cookie": "# -*- coding: utf-8 -*-\ndef f():\n    return 'ü€', 1\n".encode(),
    "shift-jis": "# coding: shift-jis\ndef f():\n    return 'あ', 1\n".encode("shift-jis"),
    "CRLF": b"x = '''\r\n'''\r\ndef f():\r\n    return 1\r\n",
    "CR": b"x = 3\rdef f():\r    return 1\r",
    "mixed": b"x = 3\r\ndef f():\n    return 1\r\ny = 4\r",
    "no final line end": b"def f():\n\treturn 1",
    "form feed": b"x = 3\n\x0c\ndef f():\n    return 1\n",
    "form feed before def": b"x = 3\n\x0cdef f():\n    return 1\n",
    "tabs": b"class C:\n\tdef f(self):\n\t\treturn 1\n",
    "bare carriage return in a string": b"def f():\n    return '''a\rb''', 1\n",
}


@pytest.mark.parametrize("data", ENCODINGS.values(), ids=ENCODINGS)
def test_bytes_survive_around_a_change(data: bytes) -> None:
    assert after(data, IDENTITY) == data
    assert after(data, Edit(one_to_two)) == data.replace(b" 1", b" 2")


def test_inserted_lines_end_as_the_others_do() -> None:
    edit = Edit(lambda text: text.replace("return 1", "x = 1\n    return x"))
    assert after(b"def f():\r\n    return 1\r\n", edit) == b"def f():\r\n    x = 1\r\n    return x\r\n"
    assert after(b"def f():\n    return 1\n", edit) == b"def f():\n    x = 1\n    return x\n"


UNUSABLE = {
    "syntax": (b"def f(:\n", NOT_PARSED),
    "parses and does not compile": (b"def f():\n    return 1\nreturn 1\n", NOT_PARSED),
    "null": (b"def f(): return 1\n\0", "null bytes"),
    "not UTF-8": (b"x = '\xff'\ndef f(): return 1\n", "not UTF-8"),
    "no such encoding": (b"# coding: no-such\ndef f(): return 1\n", "unknown encoding"),
    "encoding that says one thing in two ways": (b"# coding: utf-7\ndef f(): return '+AGE-', 1\n", NO_RETURN),
    "large": (b"def f(): return 1\n" + b"#" * 2_000_000, "file over 2 MB"),
}


@pytest.mark.parametrize(("data", "reason"), UNUSABLE.values(), ids=UNUSABLE)
def test_what_cannot_be_read_or_written_back_stays_and_is_counted(data: bytes, reason: str) -> None:
    edited = perturb_file(PYTHON_FILES, data, "m.py", series(Edit(one_to_two)))
    assert edited.data == data
    (record,) = edited.records
    assert isinstance(record, Declined)
    assert (record.reason, record.unit.name) == (reason, MODULE)


def test_a_change_that_the_encoding_cannot_say_is_dropped() -> None:
    data = ENCODINGS["latin-1"]
    edit = Edit(lambda text: text.replace("1", "'€'"))
    assert after(data, edit) == data
    assert reasons(data, edit) == ["not in the file's encoding"]


def test_a_change_of_the_cookie_is_dropped() -> None:
    data = ENCODINGS["latin-1"]
    edit = Edit(lambda text: text.replace("# coding: latin-1\n", ""), unit="module")
    assert after(data, edit) == data
    assert reasons(data, edit) == [NOT_COMPILED]


def test_of_the_changes_of_one_transform_only_those_that_do_not_compile_are_dropped() -> None:
    data = b"def f():\n    return 1\ndef g():\n    return 3\ndef h():\n    return 1\n"
    edit = Edit(lambda text: text.replace("1", "2").replace("return 3", "nonlocal x"))
    assert after(data, edit) == data.replace(b"1", b"2")
    assert reasons(data, edit) == [NOT_COMPILED]
    following = Edit(lambda text: text.replace("2", "4"), name="following")
    assert after(data, edit, following) == data.replace(b"1", b"4")


BEYOND = {
    "wrapper": lambda text: text.replace(IN_CLASS, "class X:\n"),
    "second statement": lambda text: text + "\nx = 1",
    "no function": lambda text: IN_CLASS + "    x = 1",
    "else": lambda text: text + "\nelse:\n    pass" if text.startswith("if") else text + "\n    y = 1",
}


@pytest.mark.parametrize("do", BEYOND.values(), ids=BEYOND)
def test_a_transform_of_functions_may_not_reach_beyond_its_function(do: Callable[[str], str]) -> None:
    for data in (b"class A:\n    def f(self): return 1\n", b"if 1:\n    def f(): return 1\n"):
        edit = Edit(lambda text, do=do: do(text))  # type: ignore[misc]
        edited = perturb_file(PYTHON_FILES, data, "m.py", series(edit))
        assert edited.data == data
        assert all(
            isinstance(r, Declined) and r.reason in (WRAPPER_LOST, "no further distinct variant")
            for r in edited.records
        )
    assert WRAPPER_LOST in reasons(b"class A:\n    def f(self): return 1\n", edit)


def test_a_transform_that_breaks_is_counted_and_the_rest_goes_on() -> None:
    def fail(text: str) -> str:
        if "return 3" in text:
            raise KeyError(text)
        return text.replace("1", "2")

    data = b"def f(): return 1\ndef g(): return 3\n"
    assert after(data, Edit(fail)) == b"def f(): return 2\ndef g(): return 3\n"
    (reason,) = reasons(data, Edit(fail))
    assert reason.startswith("transform failed: KeyError: ")
    assert reason.endswith(", in fail)")


def test_a_function_behind_a_backslash_is_left() -> None:
    data = b"if 1:\n    \\\n  def f(): return 1\n"
    compile(data, "", "exec")
    assert after(data, Edit(one_to_two)) == data
    assert reasons(data, Edit(one_to_two)) == ["function begins inside a continued line"]


def test_what_happens_to_a_function_depends_on_the_seed_and_its_own_text_alone() -> None:
    @dataclass(frozen=True)
    class Draw(Edit):
        def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
            return (Move(kind="edit", site=0, value=str(rng.randrange(10**6)), note=""),)

        def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
            return Rewritten(source=source.replace("1", str(moves[0].value)), evidence="analysis")

    draw = Draw(do=str)
    lonely, unit = b"def f(): return 1\n", b"def g(): return 1\n"
    alone = after(lonely, draw)
    together = after(unit + lonely, draw)
    assert alone != lonely
    assert together.endswith(alone)
    assert not together.startswith(unit)
    assert perturb_file(PYTHON_FILES, lonely, "elsewhere.py", series(draw)).data == alone
    assert perturb_file(PYTHON_FILES, lonely, "m.py", series(draw, seed=1)).data != alone


def test_only_chosen_units_and_transforms_meet() -> None:
    data = b"def f(): return 1\ndef g(): return 1\n"
    edit, other = Edit(one_to_two), Edit(lambda text: text.replace("return", "return 0,"), name="other")
    only = frozenset({("f", "edit"), ("g", "other")})
    edited = perturb_file(PYTHON_FILES, data, "m.py", series(edit, other), only=only)
    assert edited.data == b"def f(): return 2\ndef g(): return 0, 1\n"
    assert [(r.unit.name, r.transform) for r in edited.records] == [("f", "edit"), ("g", "other")]


def test_changed_units_tell_functions_from_what_is_around_them() -> None:
    before = b"x = 1\nclass A:\n    def f(self): return 1\ndef g(): return 1\n"
    assert changed_units(PYTHON_FILES, before, before) == ()
    assert changed_units(PYTHON_FILES, before, before.replace(b"self): return 1", b"self): return 2")) == (
        "A.f",
    )
    assert changed_units(PYTHON_FILES, before, before.replace(b"x = 1", b"x = 2")) == (MODULE,)
    assert changed_units(PYTHON_FILES, before, b"x = (\n") == ("A.f", "g", MODULE)
    assert function_names(PYTHON_FILES, before) == ("A.f", "g")
    assert function_names(PYTHON_FILES, b"x = (\n") == ()


def test_places_are_those_of_the_syntax_tree() -> None:
    text = DecodedPython.read(Path(ast.__file__).read_bytes()).text
    units = places(text)
    source = text.encode()
    assert len(units) > 50
    for place in units:
        shown = source[place.start : place.end].decode()
        (node,) = ast.parse(place.wrapper + shown).body
        inner = node.body[0] if place.wrapper else node  # type: ignore[attr-defined]
        assert ast.dump(inner) == ast.dump(place.node)


@pytest.mark.slow
def test_a_method_has_the_same_dependences_under_its_wrapper_line_as_alone() -> None:
    compared = plain = 0
    for module in (argparse, configparser, http.cookies, queue, sched, shelve, tarfile, zipfile):
        text = inspect.getsource(module)
        source = text.encode()
        for place in places(text):
            own = source[place.start : place.end].decode()
            wrapped = analyse(place.wrapper + own, around=text)
            (method,) = ast.parse(textwrap.dedent(own)).body
            # A docstring of several lines is another text without its indentation: so which of the methods of
            # this name it is cannot be told.
            if not place.wrapper or ast.dump(method) != ast.dump(place.node):
                continue
            alone = analyse(textwrap.dedent(own), around=text)
            relations, wanted = ([block.predecessors for block in each.blocks] for each in (wrapped, alone))
            assert relations[-len(wanted) + 1 :] == wanted[1:] or len(wanted) == 1, place.name
            compared += 1
            # What the class shows counts: without the file there are more conflicts.
            plain += relations != [block.predecessors for block in analyse(place.wrapper + own).blocks]
    assert compared > 300
    assert plain > 10

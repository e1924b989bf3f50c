"""Facts about texts that are remembered in a folder."""

import ast
import json
import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path

import pytest

from codeaudit.transforms import remembering as module
from codeaudit.transforms.python import function_context
from codeaudit.transforms.python.analysis import capabilities, shown
from codeaudit.transforms.python.analysis.relaxed import NO_PACKAGE
from codeaudit.transforms.python.order import reorder
from codeaudit.transforms.python.parsing import FunctionNode
from codeaudit.transforms.remembering import HELD, SHORT, Plain, fact, remembering

TEXT = "x = 1\n" * SHORT


def counted(value: Plain, asked: list[object]) -> Callable[[], Plain]:
    def find() -> Plain:
        asked.append(value)
        return value

    return find


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "facts"


@pytest.mark.parametrize("value", [None, True, 7, "é\ud800", [], [None, "a"], {"a": [1, {"b": None}]}])
def test_a_fact_is_found_once(folder: Path, value: Plain) -> None:
    asked: list[object] = []
    for _ in range(2):
        with remembering(folder):
            assert fact(TEXT, "question", counted(value, asked)) == value
            assert fact(TEXT, "question", counted(value, asked)) == value
            assert fact(TEXT, "other", lambda: "other") == "other"
    assert asked == [value]


def test_nothing_is_kept_of_other_texts_short_texts_and_outside(folder: Path) -> None:
    asked: list[object] = []
    fact(TEXT, "question", counted(1, asked))
    with remembering(folder):
        fact(TEXT[:-1], "question", counted(2, asked))
        fact(TEXT[: SHORT - 1], "question", counted(3, asked))
        with remembering(None):
            fact(TEXT, "question", counted(4, asked))
        fact(TEXT, "question", counted(5, asked))
    assert asked == [1, 2, 3, 4, 5]
    assert len(list(folder.rglob("*.json"))) == 2
    assert fact(TEXT, "question", lambda: 6) == 6


def test_what_no_text_holds_any_more_is_written(folder: Path) -> None:
    with remembering(folder):
        for number in range(HELD + 3):
            fact(TEXT + str(number), "question", lambda: 1)
        assert len(list(folder.rglob("*.json"))) == 3


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-3],
        lambda content: content.replace(b"true", b"null"),
        lambda content: b"\xff" * len(content),
        lambda content: content.split(b"\n")[1],
    ],
)
def test_a_damaged_file_counts_as_none(folder: Path, damage: Callable[[bytes], bytes]) -> None:
    with remembering(folder):
        fact(TEXT, "question", lambda: True)
    (path,) = folder.rglob("*.json")
    path.write_bytes(damage(path.read_bytes()))
    for expected in ([False], []):
        asked: list[object] = []
        with remembering(folder):
            assert fact(TEXT, "question", counted(False, asked)) is False
        assert asked == expected


def test_files_are_plain_json(folder: Path) -> None:
    with remembering(folder):
        fact(TEXT, "question", lambda: {"a": [1]})
    (path,) = folder.rglob("*.json")
    assert json.loads(path.read_bytes().partition(b"\n")[2]) == {"question": {"a": [1]}}


def test_other_code_has_other_facts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    for number in range(module.STATES + 3):
        monkeypatch.setattr(module, "_state", lambda number=number: f"state {number}")
        with remembering(folder):
            fact(TEXT, "question", counted(number, asked))
        os.utime(folder / f"state {number}", (number, number))
    assert asked == list(range(module.STATES + 3))
    assert {path.name for path in folder.iterdir()} == {f"state {number}" for number in (3, 4, 5)}


def test_the_folder_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 8)
    monkeypatch.setattr(module, "_TIDIED", 1)
    for number in range(20):
        with remembering(folder):
            fact(TEXT + str(number), "question", lambda: 1)
        assert len(list(folder.rglob("*"))) <= 1 + 8 + 1
    asked: list[object] = []
    with remembering(folder):
        fact(TEXT + "19", "question", counted(1, asked))
    assert not asked


@pytest.mark.parametrize("place", ["file", "file/inside"])
def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    with remembering(tmp_path / place):
        assert fact(TEXT, "question", lambda: 1) == 1


def _find(folder: Path, name: str) -> None:
    with remembering(folder):
        fact(TEXT, name, lambda: name)


@pytest.mark.slow
def test_processes_keep_what_each_other_found(folder: Path) -> None:
    names = [f"question {number}" for number in range(3)]
    asked: list[object] = []
    with remembering(folder):
        fact(TEXT, "first", lambda: 1)
        for name in names:
            process = get_context("spawn").Process(target=_find, args=(folder, name))
            process.start()
            process.join()
    with remembering(folder):
        for name in ["first", *names]:
            fact(TEXT, name, counted(name, asked))
    assert not asked


def forget() -> None:
    """Empty the caches of this process."""
    for keeper in (function_context, capabilities, shown, reorder):
        for cached in vars(keeper).values():
            if hasattr(cached, "cache_clear"):
                cached.cache_clear()
    function_context._REBOUND_IN.clear()
    reorder._FILE_NEEDED.clear()


def answers(text: str) -> Iterator[object]:
    """Whatever is remembered of a file."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, FunctionNode)]
    looks = shown.looks_around(text)
    bindings = looks.bindings
    yield looks, type(bindings), bindings.imports
    for node in functions:
        yield bindings.called(node.name), [*bindings.of_receiver(node)]
        yield capabilities.passed_by_keyword(text, node.name)
        source = ast.unparse(node)
        yield function_context.obstacle_in_file(source, text)
        yield [block.predecessors for block in reorder._ordering(source, "strict", text, NO_PACKAGE).blocks]
    yield capabilities.shown_by(text), capabilities.shown_by(text, capabilities.Sees.LOCALS)
    yield function_context.rebound_names(text), [*capabilities.DeniedEntries(text).items()]


@pytest.mark.parametrize("name", ["colorsys", "fnmatch", "sched", "reprlib", "queue"])
def test_what_is_remembered_of_a_file_is_what_its_text_shows(folder: Path, name: str) -> None:
    text = Path(os.__file__).with_name(f"{name}.py").read_text()
    assert len(text) >= SHORT
    rounds = []
    for place in (nullcontext(), remembering(folder), remembering(folder)):
        forget()
        with place:
            rounds.append([*answers(text)])
    assert rounds[0] == rounds[1] == rounds[2]


def test_a_known_file_is_not_parsed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = Path(os.__file__).with_name("sched.py").read_text()
    function = "def enter(self, delay):\n    a = self.x\n    b = self.y\n    return a, b\n"
    parsed: list[str] = []

    def parse(source: str) -> ast.Module:
        parsed.append(source)
        return ast.parse(source)

    for _ in range(2):
        forget()
        parsed.clear()
        for keeper in (shown, function_context):
            monkeypatch.setattr(keeper, "file_tree", parse)
        with remembering(folder):
            reorder.REORDER.within(text).ordering(function)
            function_context.obstacle_in_file(function, text)
    assert not parsed

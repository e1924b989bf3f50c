"""The comparison of the parser of Java with javac on random text."""

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from codeaudit.transforms.java.javac_reader import JavacReader, newest_kit

Script = Callable[[str], ModuleType]


def test_the_snippets_of_a_chunk_depend_on_the_seed_alone(script: Script) -> None:
    readers = script("java_readers")
    assert list(readers.drawn(1, 1000)) == list(readers.drawn(1, 1000))
    assert list(readers.drawn(1, 1000)) != list(readers.drawn(1, 2000))


@pytest.mark.slow
def test_a_disagreement_is_counted_by_its_kind_and_told_if_unseen(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = newest_kit()
    if kit is None:
        pytest.skip("needs a JDK")
    readers = script("java_readers")
    texts = ["void f() { int a = (b.c) - d; }", "void f() { int a = (b.c - d); }", "void f() { ? }"]
    monkeypatch.setattr(readers, "drawn", lambda seed, first: iter(texts))
    with JavacReader(kit) as javac:
        counts = readers.compared(javac, 0, 0)
    kind = "javac: BINARY PARENTHESIZED; parser: TYPE_CAST UNARY"
    assert (counts.unparsed, counts.unread, counts.same) == (1, 0, 1)
    assert (counts.different, counts.unseen) == (Counter({kind: 1}), Counter())
    lines = list(readers.report([counts]))
    assert "| BINARY PARENTHESIZED | TYPE_CAST UNARY | 1 | 0 | `void f() { int a = (b.c) - d; }` |" in lines


def test_a_log_goes_on_and_an_unseen_disagreement_ends_with_1(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    readers = script("java_readers")
    log = tmp_path / "log"
    row = readers.Tally(seed=0, first=0, release=25, snippets=1000, same=900)
    log.write_text(json.dumps(vars(row)) + "\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["java_readers.py", "--report", "--log", str(log)])
    assert readers.main() == 0
    row.different = row.unseen = Counter({"javac: A; parser: B": 2})
    with log.open("a", encoding="utf-8") as end:
        end.write(json.dumps(vars(row)) + "\n")
    assert readers.main() == 1
    assert "| 2,000 | 1,802 | 1,800 | 2 | 2 | 0 | 25 |" in capsys.readouterr().out

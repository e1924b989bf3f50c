"""Splits by groups: stable, in their shares, and never through a group."""

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import SPLITS, split_of
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.tasks.error_detection import ERROR_DETECTION
from codeaudit.transforms.errors import CorpusError
from tests.support.data import data_set


def test_the_shares() -> None:
    counts = Counter(split_of(f"group {number}") for number in range(10_000))
    assert counts["train"] == pytest.approx(6000, abs=200)
    assert counts["valid"] == pytest.approx(1000, abs=120)
    assert counts["test"] == pytest.approx(3000, abs=200)


def test_the_split_of_a_group_never_changes() -> None:
    assert [split_of(name) for name in ("Lang-1", "Math-2", "a", "")] == [
        "valid", "valid", "test", "test",
    ]  # fmt: skip


def table(path: Path, **more: object) -> str:
    rows = [
        {
            "source": f"int f{n}() {{ return {n}; }}",
            "language": "java",
            "label": n % 2,
            "leak_group": n // 2,
            **more,
        }
        for n in range(200)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_a_table_with_groups_is_split_by_them(tmp_path: Path) -> None:
    spec = table(tmp_path / "t.jsonl")
    sides: dict[str, set[str]] = defaultdict(set)
    for split in SPLITS:
        for sample in corpus(f"{spec}:{split}").read(Counter()):
            sides[sample.group].add(split)
    assert len(sides) == 100
    assert all(len(each) == 1 for each in sides.values())
    assert set().union(*sides.values()) == set(SPLITS)
    with pytest.raises(CorpusError, match=r"unknown split of 't\.jsonl' 'tset'; did you mean 'test'"):
        list(corpus(f"{spec}:tset").read(Counter()))


def test_a_column_of_splits_goes_first(tmp_path: Path) -> None:
    spec = table(tmp_path / "t.jsonl", split="mine")
    assert len(list(corpus(f"{spec}:mine").read(Counter()))) == 200
    with pytest.raises(CorpusError, match="unknown split"):
        list(corpus(f"{spec}:test").read(Counter()))


def test_rows_whose_text_has_another_label_too_are_left_out(tmp_path: Path) -> None:
    skipped: Counter[str] = Counter()
    assert list(corpus(table(tmp_path / "t.jsonl", label_conflict=True)).read(skipped)) == []
    assert skipped == {"text that has another label too": 200}


def test_the_data_set_of_bugs() -> None:
    path = data_set("defects4j_methods.jsonl.gz")
    skipped: Counter[str] = Counter()
    by_split = {split: list(corpus(f"{path}:{split}").read(skipped)) for split in SPLITS}
    assert skipped["text that has another label too"] == 141
    assert sum(map(len, by_split.values())) == 2702 - 141
    groups = [{sample.group for sample in samples} for samples in by_split.values()]
    texts = [{sample.source for sample in samples} for samples in by_split.values()]
    for first, second in ((0, 1), (0, 2), (1, 2)):
        assert not groups[first] & groups[second]
        assert not texts[first] & texts[second]
    labels = Counter(ERROR_DETECTION.prepare(sample).label for sample in by_split["test"][:60])
    assert set(labels) == {"buggy", "clean"}

"""The generated corpus: its SPECs, its samples, and an audit on it from end to end."""

import json
from collections import Counter
from pathlib import Path

import pytest

from codeaudit.audit.corpora.algebra import GeneratedPairs
from codeaudit.audit.corpora.specs import corpus, forms
from codeaudit.audit.papers.registry import TrainingRequest
from codeaudit.audit.tasks.derivative import DERIVATIVE
from codeaudit.cli.main import main
from codeaudit.transforms.algebra.calculus import holds
from codeaudit.transforms.algebra.expressions import parse_pair
from codeaudit.transforms.algebra.generate import SIZES, SPLITS
from codeaudit.transforms.errors import CorpusError


def test_as_many_as_in_the_paper_or_as_are_asked_for() -> None:
    for split in SPLITS:
        assert corpus(f"algebra:{split}") == GeneratedPairs(
            spec=f"algebra:{split}", split=split, size=SIZES[split]
        )
        assert corpus(f"algebra:{split}:7") == GeneratedPairs(spec=f"algebra:{split}:7", split=split, size=7)
    assert SIZES == {"train": 300_000, "valid": 9128, "test": 9139, "extended": 9139}
    assert {"algebra:test", "algebra:test:SIZE"} <= dict(forms()).keys()


def test_samples_are_pairs_with_their_truth() -> None:
    skipped: Counter[str] = Counter()
    samples = list(corpus("algebra:test:50").read(skipped))
    assert not skipped
    assert len({sample.id for sample in samples}) == len(samples) == 50
    for number, sample in enumerate(samples, start=1):
        assert sample.language == "algebra"
        assert sample.label == ("true" if holds(parse_pair(sample.source)) else "false")
        assert (sample.origin.path, sample.origin.line) == ("algebra:test", number)
    assert list(corpus("algebra:test:60").read(skipped))[:50] == samples


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("algebra", "names no split; write algebra:test"),
        ("algebra:", "names no split"),
        ("algebra:tests", "unknown split of 'algebra' 'tests'; did you mean 'test'"),
        ("algebra:test:", "size from 1 to 10,000,000"),
        ("algebra:test:0", "size from 1"),
        ("algebra:test:-1", "size from 1"),
        ("algebra:test:1e3", "size from 1"),
        ("algebra:test:²", "size from 1"),
        ("algebra:test:99999999999999999999", "size from 1"),
        ("algebra:test:1:2", "size from 1"),
    ],
)
def test_what_is_no_corpus_says_why(spec: str, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        corpus(spec)


def test_a_file_of_that_name_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "algebra").mkdir()
    assert not isinstance(corpus("algebra"), GeneratedPairs)


@pytest.mark.thinned(1)
@pytest.mark.parametrize("model", ["fake/hash", "fake/constant"])
def test_an_audit_from_end_to_end(model: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["--model", model, "--corpus", "algebra:test:80", "--transform", "rename", "--limit", "40"]
    assert main(["run", "--task", "derivative", *words, "--workers", "1", "--out", str(out)]) == 0
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    (audited,) = summary["models"]
    assert audited["score"]["name"] == "accuracy"
    assert audited["samples"] == 40
    assert audited["unjudged"] == 0
    assert audited["pairs"]["total"] > 25
    assert (audited["pairs"]["count"] > 0) == (model == "fake/hash")
    assert (audited["sensitivity"]["count"] > 0) == (model == "fake/hash")
    by_name = {row["transform"]: row for row in audited["by_transform"]}
    assert by_name.keys() == {"identity", "rename", "rename-merging", "rename-views"}
    assert by_name["rename"]["evidence"].keys() == {"analysis"}
    assert by_name["rename-views"]["evidence"].keys() == {"executed"}


@pytest.mark.slow
def test_the_default_transforms_of_the_language(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["--model", "fake/length", "--corpus", "algebra:extended:20", "--limit", "10", "--workers", "1"]
    assert main(["run", "--task", "derivative", *words, "--out", str(out)]) == 0
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    names = {row["transform"] for row in summary["models"][0]["by_transform"]}
    assert names == {"identity", "rename", "rename-merging", "rename-views"}


def test_a_limit_of_a_training_generates_no_more(tmp_path: Path) -> None:
    request = TrainingRequest(
        network="renamer",
        task=DERIVATIVE,
        options={},
        train="algebra:train",
        valid="algebra:valid:3",
        test=None,
        cache=tmp_path,
        workers=1,
        note=print,
        limit=5,
    )
    train, valid, test = request.corpora()
    assert train == GeneratedPairs(spec="algebra:train", split="train", size=5)
    assert valid == corpus("algebra:valid:3")
    assert test is None

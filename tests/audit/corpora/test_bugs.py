"""Seeded bugs: shown by execution, in pairs, made once, and equal for equal seeds."""

import ast
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from codeaudit.audit.corpora import bugs
from codeaudit.audit.corpora.bugs import NO_BUGS, NOT_SHOWN, BugRecords, Seeded, SeededBugs
from codeaudit.audit.corpora.records import CorpusResources, SpreadCorpus, raw_sample, split_of
from codeaudit.audit.corpora.selection import select
from codeaudit.audit.corpora.specs import corpus
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.oracle.oracle import Differed, Oracle
from codeaudit.transforms.records import Sample

SOURCES = (
    "def largest(values):\n    best = values[0]\n    for value in values:\n        if value > best:\n"
    "            best = value\n    return best\n",
    "def clamp(x, low, high):\n    if x < low:\n        return low\n    if x > high:\n        return high\n    return x\n",
    "def words(text, least):\n    found = text.strip().split()\n    return [one for one in found if len(one) >= least]\n",
    "def nothing(x):\n    pass\n    return\n",
    "def missing(x):\n    y = not_there(x) + 1\n    return y\n",
    "def total(prices, tax):\n    result = 0\n    for price in prices:\n        result += price * tax\n    return result + 1\n",
)


JAVA = """int limited(int[] values, int low, int high) {
    int sum = 0;
    for (int i = 0; i < values.length; i++) {
        sum += Math.max(low, values[i]) - high;
    }
    return sum;
}
"""


@dataclass
class Functions:
    """A corpus from texts."""

    sources: tuple[str, ...] = SOURCES
    spec: str = "made"

    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        for number, source in enumerate(self.sources):
            name = source.partition("(")[0].removeprefix("def ")
            yield raw_sample(source, language="python", label=name, path=f"f{number}.py", line=1)
        yield raw_sample("int f() { return 1; }", language="java", label="f", path="F.java", line=1)


@dataclass
class Mixed(Functions):
    """A corpus of three languages."""

    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        for sample in super().read(skipped):
            yield (
                raw_sample(JAVA, language="java", label="f", path="F.java", line=1)
                if sample.language == "java"
                else sample
            )
        yield raw_sample("addl %eax, %ebx", language="x86", label=None, path="a.s", line=1)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bugs")


def seeded(cache: Path, **options: object) -> SeededBugs:
    return SeededBugs(spec="bugs:made", base=Functions(), cache=cache, **options)  # type: ignore[arg-type]


def read(corpus: SeededBugs) -> tuple[list[Sample], Counter[str]]:
    skipped: Counter[str] = Counter()
    return list(corpus.read(skipped)), skipped


def test_every_bug_is_shown_by_execution_beside_its_original(cache: Path) -> None:
    samples, skipped = read(seeded(cache))
    assert [sample.label for sample in samples] == [0.0, 1.0] * (len(samples) // 2)
    assert len(samples) == 8
    assert {sample.source for sample in samples[::2]} == {
        source for source in SOURCES if "thing(" not in source and "missing(" not in source
    }
    with Oracle() as oracle:
        for clean, buggy in zip(samples[::2], samples[1::2], strict=True):
            assert ast.dump(ast.parse(clean.source)) != ast.dump(ast.parse(buggy.source))
            verdict = oracle.judge(clean.source, buggy.source)
            assert isinstance(verdict, Differed)
            assert verdict.returned, "on the input that tells them apart the original must not fail"
    assert skipped["not Python or C: try bugs:unexecuted:made"] == 1
    assert skipped["no place for a bug"] == 1
    assert skipped["not executed: a global name is missing"] == 1


def test_a_bug_and_its_original_are_one_group_and_on_one_side(cache: Path) -> None:
    groups: dict[str, list[Sample]] = defaultdict(list)
    for sample in read(seeded(cache))[0]:
        groups[sample.group].append(sample)
    assert all([sample.label for sample in pair] == [0.0, 1.0] for pair in groups.values())
    parts = [read(seeded(cache, split=split))[0] for split in ("train", "valid", "test")]
    assert sum(map(len, parts)) == 2 * len(groups)
    for split, part in zip(("train", "valid", "test"), parts, strict=True):
        assert {split_of(sample.group) for sample in part} <= {split}


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("seed", range(3))
def test_a_run_of_the_same_seed_draws_clean_and_buggy_texts_alike(tmp_path: Path, seed: int) -> None:
    """And whatever else draws from these samples: a part of the corpus, a split."""
    sources = tuple(
        SOURCES[0].replace("largest", f"largest{n}").replace("[0]", f"[{n}]") for n in range(1500)
    )
    made = SeededBugs(spec="x", base=Functions(sources), size=300, seed=seed, executed=False, cache=tmp_path)
    (drawn,) = select(made, lambda sample: sample, limit=100, seeds=[seed])
    assert 30 < sum(sample.label == bugs.BUGGY for sample in drawn.samples) < 70
    few = list(SpreadCorpus(made, 200).read(Counter()))
    splits = Counter(split_of(sample.group or sample.id) for sample in few)
    assert splits["train"] > 90
    assert splits["valid"] > 2
    assert splits["test"] > 30


@pytest.mark.slow
def test_equal_seeds_give_equal_bugs_and_others_other_ones(cache: Path, tmp_path: Path) -> None:
    first = read(seeded(cache))[0]
    assert read(seeded(tmp_path))[0] == first
    others = [read(seeded(tmp_path, seed=seed))[0] for seed in (1, 2)]
    assert any([sample.source for sample in other] != [sample.source for sample in first] for other in others)


def test_the_second_reading_executes_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read(seeded(cache))

    class Broken:
        def __init__(self) -> None:
            raise AssertionError("executed again")

    monkeypatch.setattr(bugs, "Oracle", Broken)
    assert read(seeded(cache)) == first


def test_bugs_that_are_not_executed_need_no_sandbox_and_are_in_java_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def __init__(self) -> None:
            raise AssertionError("executed")

    monkeypatch.setattr(bugs, "Oracle", Broken)
    made = replace(seeded(tmp_path, executed=False), base=Mixed())
    samples, skipped = read(made)
    # One that no sandbox could call is there as well.
    assert {sample.source for sample in samples[::2]} == {JAVA, *SOURCES} - {SOURCES[3]}
    assert skipped == {"no place for a bug": 1, NO_BUGS: 1}
    for clean, buggy in zip(samples[::2], samples[1::2], strict=True):
        assert (clean.label, buggy.label) == (0.0, 1.0)
        assert clean.group == buggy.group
        assert clean.language == buggy.language
        assert clean.source != buggy.source
    others = {sample.source for seed in range(1, 6) for sample in read(replace(made, seed=seed))[0]}
    assert len(others) > len(samples)
    assert read(made)[0] == samples


def test_what_was_not_executed_is_not_taken_for_executed(cache: Path) -> None:
    executed = read(seeded(cache))[0]
    assert len(read(seeded(cache, executed=False))[0]) > len(executed)
    assert read(seeded(cache))[0] == executed


@pytest.mark.slow
def test_an_interrupted_reading_goes_on(tmp_path: Path) -> None:
    reading = seeded(tmp_path).read(Counter())
    next(reading)
    reading.close()  # type: ignore[attr-defined]
    (book,) = (tmp_path / "bugs").iterdir()
    kept = book.read_text(encoding="utf-8")
    assert 1 <= kept.count("\n") < len(SOURCES)
    book.write_text(kept + '{"key": "cut o', encoding="utf-8")
    assert len(read(seeded(tmp_path))[0]) == 8


def test_a_function_in_another_context_is_another_one(tmp_path: Path) -> None:
    sample = raw_sample(SOURCES[0], language="python", label=None, path="a", line=1)
    book = BugRecords(tmp_path / "deep" / "book.jsonl")
    book.add(sample, Seeded("def f(): pass", "m"))
    book.add(replace(sample, context="x = 1"), NOT_SHOWN)
    again = BugRecords(tmp_path / "deep" / "book.jsonl")
    assert again.get(sample) == Seeded("def f(): pass", "m")
    assert again.get(replace(sample, context="x = 1")) == NOT_SHOWN
    assert again.get(replace(sample, context="x = 2")) is None
    assert all(json.loads(line) for line in (tmp_path / "deep" / "book.jsonl").read_text().splitlines())


@pytest.mark.slow
def test_a_bug_in_errors_alone_is_none(tmp_path: Path) -> None:
    """What raises on every input is not told from what raises otherwise: that is no bug that a caller sees."""
    source = "def fails(x):\n    if x == x:\n        raise ValueError(x < 2)\n    raise KeyError(x)\n"
    samples, skipped = read(replace(seeded(tmp_path), base=Functions((source,))))
    assert samples == []
    assert skipped[NOT_SHOWN] == 1


@pytest.mark.slow
def test_what_was_found_is_told(tmp_path: Path) -> None:
    notes: list[str] = []
    read(seeded(tmp_path, note=notes.append))
    assert notes[-1].startswith("bugs:made: 4 of 6 functions have a bug that execution shows (")
    assert "; the others: " in notes[-1]


@pytest.mark.slow
def test_a_corpus_that_is_read_again_tells_nothing_twice(tmp_path: Path) -> None:
    notes: list[str] = []
    bugs = seeded(tmp_path, note=notes.append)
    assert read(bugs) == read(bugs)
    assert len(notes) == len(set(notes))


# ── the SPEC ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_parts_of_a_spec(tmp_path: Path) -> None:
    resources = CorpusResources(cache=tmp_path)
    parsed = corpus("bugs:50:seed7:test:stdlib:textwrap", resources=resources)
    assert isinstance(parsed, SeededBugs)
    assert (parsed.size, parsed.seed, parsed.split, parsed.base.spec) == (50, 7, "test", "stdlib:textwrap")
    plain = corpus("bugs:stdlib", resources=resources)
    assert isinstance(plain, SeededBugs)
    assert (plain.size, plain.seed, plain.split, plain.base.spec) == (1000, 0, None, "stdlib")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("bugs:", "names no corpus of functions"),
        ("bugs:test:", "names no corpus of functions"),
        ("bugs:test:train:stdlib", "says its split twice"),
        ("bugs:unexecuted:unexecuted:stdlib", "says unexecuted twice"),
        ("bugs:0:stdlib", "needs a size from 1"),
        ("bugs:nowhere", "no corpus 'nowhere'"),
    ],
)
def test_a_spec_that_cannot_be_meant(spec: str, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        corpus(spec)

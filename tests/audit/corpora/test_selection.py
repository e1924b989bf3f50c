"""The draw: deterministic, free of order, bounded in memory."""

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

import pytest

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.corpora.selection import Selection, select
from codeaudit.audit.engines.shards import Shard
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.python.parsing import parse
from codeaudit.transforms.records import Origin, Sample


@dataclass
class Listed:
    """A corpus from a list."""

    samples: Sequence[Sample]
    spec: str = "listed"

    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        skipped["syntax error"] += 1
        yield from self.samples


def function(number: int, *, doc: str = "") -> Sample:
    source = f"def f{number}(x):\n{doc}    y = x + {number}\n    return y"
    return raw_sample(source, language="python", label=None, path=f"{number}.py", line=number + 1)


def keep(sample: Sample) -> Sample:
    return sample


def draw(samples: Sequence[Sample], limit: int | None, seed: int = 0) -> Selection:
    return select(Listed(samples), keep, limit=limit, seeds=[seed])[0]


def test_the_draw_does_not_depend_on_order() -> None:
    samples = [function(number) for number in range(400)]
    shuffled = samples[:]
    Random(1).shuffle(shuffled)
    assert draw(samples, 20) == draw(shuffled, 20)


def test_the_draw_leaves_nothing_behind_in_what_is_parsed_later() -> None:
    samples = [function(1, doc="    'text'\n")]
    draw(samples, 1)
    (only,) = parse(samples[0].source).body
    assert ast.get_docstring(only) == "text"  # type: ignore[arg-type]


def test_another_seed_draws_other_samples() -> None:
    samples = [function(number) for number in range(400)]
    assert draw(samples, 20).hash != draw(samples, 20, seed=1).hash


def test_several_seeds_in_one_reading_give_what_each_gives_alone() -> None:
    samples = [function(number) for number in range(400)]
    together = select(Listed(samples), keep, limit=20, seeds=[0, 1, 2])
    assert together == tuple(draw(samples, 20, seed) for seed in (0, 1, 2))


def test_a_larger_limit_extends_the_smaller_draw() -> None:
    samples = [function(number) for number in range(100)]
    assert draw(samples, 30).samples[:10] == draw(samples, 10).samples


def test_no_limit_takes_all() -> None:
    selection = draw([function(number) for number in range(300)], None)
    assert len(selection.samples) == selection.available == 300


def test_equal_texts_and_texts_that_differ_in_docstrings_only_count_once() -> None:
    doc = '    """Says something."""\n'
    samples = [function(1), function(1), function(1, doc=doc), function(2)]
    selection = draw(samples, None)
    assert len(selection.samples) == 2
    assert ("duplicate", 2) in selection.skipped


def test_of_equal_texts_the_first_origin_stands() -> None:
    one = raw_sample("def f(): ...", language="python", label=None, path="b.py", line=1)
    other = raw_sample("def f(): ...", language="python", label=None, path="a.py", line=9)
    for samples in ([one, other], [other, one]):
        assert draw(samples, 1).samples[0].origin.path == "a.py"


def test_samples_that_are_no_examples_are_replaced_and_counted() -> None:
    samples = [function(number) for number in range(1000)]

    def every_tenth(sample: Sample) -> Sample | str:
        return sample if sample.origin.line % 10 == 1 else "not this one"

    (selection,) = select(Listed(samples), every_tenth, limit=50, seeds=[0])
    assert len(selection.samples) == 50
    assert {sample.origin.line % 10 for sample in selection.samples} == {1}
    assert dict(selection.skipped)["not this one"] > 300
    assert dict(selection.skipped)["syntax error"] == 1, "a second reading must not count twice"


@pytest.mark.parametrize(
    ("languages", "unit"),
    [
        (["python"], "functions"),
        (["java"], "methods"),
        (["x86"], "blocks"),
        (["algebra", "algebra"], "expressions"),
        (["cobol"], "samples"),
        (["java", "python"], "samples"),
    ],
)
def test_what_there_is_none_of_has_the_name_of_its_language(languages: list[str], unit: str) -> None:
    samples = [
        raw_sample(str(place), language=one, label=None, path="p", line=1)
        for place, one in enumerate(languages)
    ]
    corpus = Listed(samples)
    with pytest.raises(CorpusError, match=rf"^no {unit} in corpus 'listed' \(.*not this one"):
        select(corpus, lambda _: "not this one", limit=9, seeds=[0])
    with pytest.raises(CorpusError, match=r"^no wishes in corpus 'listed'"):
        select(corpus, lambda _: "not this one", limit=9, seeds=[0], unit="wishes")


def test_an_empty_corpus_says_what_it_left_out() -> None:
    with pytest.raises(CorpusError, match=r"no functions in corpus 'listed' \(1 × syntax error\)"):
        draw([], 10)


def test_a_shard_draws_the_same_and_keeps_only_its_own_texts() -> None:
    # With copies in several places, copies up to the docstring, samples that are no examples, and labels.
    samples = [
        one
        for number in range(60)
        for one in (
            function(number),
            replace(function(number), origin=Origin(path=f"a{number}.py", line=1)),
            function(number, doc="    'text'\n"),
            function(100 + number),
        )
    ]

    def prepared(sample: Sample) -> Sample | str:
        if "f7" in sample.source:
            return "seven"
        return replace(sample, label=("a",) if "f1" in sample.source else None)

    def drawn(own: Callable[[str], bool] | None) -> Selection:
        return select(Listed(samples), prepared, limit=None, seeds=[3], own=own)[0]

    whole = drawn(None)
    for number in range(1, 5):
        shard = Shard(number, 4)
        part = drawn(shard.has)
        assert (part.available, part.hash, part.skipped) == (whole.available, whole.hash, whole.skipped)
        for one, other in zip(part.samples, whole.samples, strict=True):
            if shard.has(one.id):
                assert one == other
            else:
                assert (one.id, one.source, one.label is None) == (other.id, "", other.label is None)
    assert len(whole.samples) < 120
    assert dict(whole.skipped).keys() == {"duplicate", "seven", "syntax error"}

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
        skipped["source does not parse"] += 1
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
    assert len(selection.samples) == 300
    assert (selection.available, selection.not_drawn) == (301, 0)  # one could not be read


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


def test_a_corpus_without_an_example_is_read_twice() -> None:
    @dataclass
    class Counted(Listed):
        readings: int = 0

        def read(self, skipped: Counter[str]) -> Iterator[Sample]:
            self.readings += 1
            yield from super().read(skipped)

    whole = Counted([function(number) for number in range(3000)])
    with pytest.raises(CorpusError, match="3000 × no label"):
        select(whole, lambda sample: "no label", limit=20, seeds=[0])
    assert whole.readings == 2
    # The samples are those of any other way to read it.
    last = Counted(whole.samples)
    ranked = draw(whole.samples, None).samples
    rare = {sample.id for sample in ranked[-30:]}
    taken = select(last, lambda sample: sample if sample.id in rare else "no label", limit=20, seeds=[0])[0]
    assert [sample.id for sample in taken.samples] == [sample.id for sample in ranked[-30:]][:20]


def test_samples_that_are_no_examples_are_replaced_and_counted() -> None:
    samples = [function(number) for number in range(1000)]

    def every_tenth(sample: Sample) -> Sample | str:
        return sample if sample.origin.line % 10 == 1 else "not this one"

    (selection,) = select(Listed(samples), every_tenth, limit=50, seeds=[0])
    assert len(selection.samples) == 50
    assert {sample.origin.line % 10 for sample in selection.samples} == {1}
    assert dict(selection.skipped)["not this one"] > 300
    assert dict(selection.unread)["source does not parse"] == 1, "a second reading must not count twice"


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
        raw_sample(str(place), language=language, label=None, path="p", line=1)
        for place, language in enumerate(languages)
    ]
    corpus = Listed(samples)
    with pytest.raises(CorpusError, match=rf"^no {unit} in corpus 'listed' \(.*not this one"):
        select(corpus, lambda _: "not this one", limit=9, seeds=[0])
    with pytest.raises(CorpusError, match=r"^no wishes in corpus 'listed'"):
        select(corpus, lambda _: "not this one", limit=9, seeds=[0], unit="wishes")


def test_an_empty_corpus_says_what_it_left_out() -> None:
    with pytest.raises(CorpusError, match=r"no functions in corpus 'listed' \(1 × source does not parse\)"):
        draw([], 10)


def with_copies() -> list[Sample]:
    """Functions, some in several places, some again with a docstring."""
    return [
        sample
        for number in range(60)
        for sample in (
            function(number),
            replace(function(number), origin=Origin(path=f"a{number}.py", line=1)),
            function(number, doc="    'text'\n"),
            function(100 + number),
        )
    ]


def test_shards_draw_what_one_process_draws_and_copies_in_other_shards() -> None:
    def prepared(sample: Sample) -> Sample | str:
        asked.add(sample.id)
        return "seven" if "f7" in sample.source else replace(sample, label=("a",))

    asked: set[str] = set()

    def drawn(own: Callable[[str], bool] | None) -> Selection:
        asked.clear()
        return select(Listed(with_copies()), prepared, limit=None, seeds=[3], own=own)[0]

    whole = drawn(None)
    assert whole.part is None
    ranked: list[tuple[int, str, Sample]] = []
    skipped: Counter[str] = Counter()
    for number in range(1, 5):
        shard = Shard(number, 4)
        selection = drawn(shard.has)
        # Nothing is done to the samples of other shards.
        assert asked
        assert all(map(shard.has, asked))
        assert (selection.available, selection.languages) == (whole.available, whole.languages)
        assert selection.unread == whole.unread == (("source does not parse", 1),)
        assert selection.part is not None
        assert {(sample.language, sample.source) for sample in selection.shown} == {("python", "")}
        assert list(selection.part.places) == sorted(set(selection.part.places))
        skipped.update(dict(selection.skipped))
        ranked += zip(selection.part.places, selection.part.contents, selection.samples, strict=True)
    first: dict[str, Sample] = {}
    for _, content, sample in sorted(ranked, key=lambda entry: entry[0]):
        first.setdefault(content, sample)
    assert tuple(first.values()) == whole.samples
    skipped["duplicate"] += len(ranked) - len(first)
    assert len(ranked) > len(first), "no copies in different shards"
    assert dict(skipped) == dict(whole.skipped)
    assert dict(whole.skipped).keys() == {"duplicate", "seven"}


def test_a_shard_tells_the_languages_and_labels_of_the_others() -> None:
    samples = [function(number) for number in range(40)]
    java = raw_sample("class A {}", language="java", label=None, path="A.java", line=1)
    none = raw_sample("x", language="cobol", label=None, path="x.cob", line=1)
    labelled = samples[7].id

    def prepared(sample: Sample) -> Sample | str:
        if sample.language == "cobol":
            return "no task"
        return replace(sample, label=("a",)) if sample.id == labelled else sample

    for number in range(1, 241, 7):
        own = Shard(number, 240).has
        (selection,) = select(Listed([*samples, java, none]), prepared, limit=None, seeds=[0], own=own)
        assert {sample.language for sample in selection.shown} == {"python", "java"}
        assert any(sample.label for sample in selection.shown)
        assert not any(sample.source for sample in selection.shown)
        assert selection.languages == (("cobol", 1), ("java", 1), ("python", 40))
    # A copy that is left out shows its label everywhere, whichever shard has it and its original.
    copy = function(7, doc="    'text'\n")
    for lucky in (samples[7].id, copy.id):

        def one_label(sample: Sample, lucky: str = lucky) -> Sample:
            return replace(sample, label=("a",)) if sample.id == lucky else sample

        for shard in (Shard(1, 1), *(Shard(number, 4) for number in range(1, 5))):
            (selection,) = select(Listed([*samples, copy]), one_label, limit=None, seeds=[0], own=shard.has)
            assert any(sample.label for sample in selection.shown)
    with pytest.raises(CorpusError, match="no samples"):
        select(Listed([none, java]), lambda _: "no", limit=None, seeds=[0], own=lambda _: False)


def test_shards_of_another_corpus_have_another_hash() -> None:
    def raw(samples: Sequence[Sample]) -> str:
        (selection,) = select(Listed(samples), keep, limit=None, seeds=[0], own=lambda _: True)
        assert selection.part is not None
        return selection.part.raw

    samples = [function(number) for number in range(9)]
    assert raw(samples) == raw(samples[::-1])
    first, *others = samples
    for other in (
        [],
        [function(99)],
        [first, first],
        [replace(first, label=("a",))],
        [replace(first, tests="def check(f): ...")],
        [replace(first, context="import os\n")],
        [replace(first, group="one")],
    ):
        assert raw([*other, *others]) != raw(samples)


def test_with_a_limit_a_shard_draws_the_samples_of_all() -> None:
    samples = with_copies()
    (whole,) = select(Listed(samples), keep, limit=30, seeds=[3])
    (selection,) = select(Listed(samples), keep, limit=30, seeds=[3], own=Shard(1, 4).has)
    assert selection == whole

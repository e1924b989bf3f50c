"""Transforms that undo one another: each pair is declared, one side is drawn, and undone edits are counted."""

from collections import Counter
from functools import cache
from itertools import combinations

import pytest

from codeaudit.audit.projects.files import loaded
from codeaudit.transforms.language import LANGUAGES, Language, TransformFamily, keeps
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Origin, Perturbed, Sample
from codeaudit.transforms.registration import load_target
from codeaudit.transforms.registry import expand, one_way, transform_for
from codeaudit.transforms.source_files import (
    UNDONE,
    Applied,
    PerturbedFile,
    TransformSeries,
    perturb_file,
)

IN_FILES = ("python", "java")
NAMES = {
    language: [
        name for name, entry in LANGUAGES.get(language).transforms.items() if entry.kind == "preserving"
    ]
    for language in IN_FILES
}
EVERY = [(language, name) for language in IN_FILES for name in NAMES[language]]
EXAMPLES = {
    language: list(dict.fromkeys(entry.example for entry in LANGUAGES.get(language).transforms.values()))
    for language in IN_FILES
}


@cache
def _after(language: str, name: str, source: str, seed: int) -> str:
    """A text after a transform. The sample's id is always the same, and so are the draws."""
    sample = Sample(id="", language=language, source=source, label=None, origin=Origin(path="", line=1))
    (outcome,) = perturb_one(sample, transform_for(name, language), variants=1, seed=seed)
    return outcome.source if isinstance(outcome, Perturbed) else source


def _shown(text: str, level: int) -> str:
    """A text without what a reader would not miss, the more of it the higher the level."""
    text = "".join(text.split()) if level else text
    return text.replace("(", "").replace(")", "") if level > 1 else text


def _undoing(language: str, name: str, source: str, seed: int, *, back: bool = False) -> list[str]:
    """The transforms that make the same of a text with and without this one's edit, and are not declared to.

    With `back`: those that bring the text itself back.
    """
    after = _after(language, name, source, seed)
    undoing = []
    for later in NAMES[language]:
        if later == name or later in LANGUAGES.get(language).opposed[name]:
            continue
        last = _after(language, later, after, seed)
        if last == after:
            continue
        without = source if back else _after(language, later, source, seed)
        if any(
            _shown(last, level) == _shown(without, level) and _shown(source, level) != _shown(after, level)
            for level in range(3)
        ):
            undoing.append(later)
    return undoing


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("language", "name"), EVERY)
def test_what_undoes_a_transform_on_its_example_is_declared(language: str, name: str) -> None:
    source = LANGUAGES.get(language).transforms[name].example
    assert _undoing(language, name, source, seed=0) == []


# On other examples a transform may swallow an edit by the way: a comparison that becomes a case of a `switch`
# does not show which operand came first. This is no inverse.
@pytest.mark.thinned(1)
@pytest.mark.slow
@pytest.mark.parametrize(("language", "name"), EVERY)
def test_what_brings_any_example_back_is_declared(language: str, name: str) -> None:
    # Every second example, the other half for the next transform.
    half = EVERY.index((language, name)) % 2
    for seed, source in list(enumerate(EXAMPLES[language]))[half::2]:
        assert _undoing(language, name, source, seed, back=True) == [], source


def test_a_declaration_names_a_transform_that_keeps_the_meaning() -> None:
    for language, name in EVERY:
        assert LANGUAGES.get(language).opposed[name] <= set(NAMES[language]) - {name}
        assert set(LANGUAGES.get(language).transforms[name].undoes) <= set(NAMES[language])


def test_either_side_declares() -> None:
    rows = keeps("m:ONE", "", "", undoes=("one", "two")), keeps("m:TWO", "", ""), keeps("m:THREE", "", "")
    family = TransformFamily.of("package", "toy", "", *rows)
    toy = Language(name="toy", title="Toy", units="lines", families=(family,))
    assert toy.opposed == {"one": {"two"}, "two": {"one"}, "three": frozenset()}


@pytest.mark.parametrize("language", IN_FILES)
def test_a_draw_holds_no_two_that_undo_each_other_and_lacks_nothing_else(language: str) -> None:
    opposed = LANGUAGES.get(language).opposed
    names = expand(["all"], languages=(language,))
    seen: Counter[str] = Counter()
    for seed in range(40):
        drawn = one_way(names, seed, languages=(language,))
        assert drawn == one_way(names, seed, languages=(language,))
        assert list(drawn) == [name for name in names if name in drawn]
        assert not any(two in opposed[one] for one, two in combinations(drawn, 2))
        assert all(opposed[name] & set(drawn) for name in set(names) - set(drawn))
        seen.update(drawn)
    assert set(seen) == set(names)
    # A pair is drawn alike in every list that holds it.
    pair = ("insert-parentheses", "remove-parentheses")
    for seed in range(10):
        (kept,) = one_way(pair, seed, languages=(language,))
        assert kept in one_way(names, seed, languages=(language,))


def test_what_somebody_asked_for_stays() -> None:
    names = expand(["all"], languages=("java",))
    for seed in range(10):
        drawn = one_way(names, seed, languages=("java",), given={"type-to-var", "var-to-type", "rename"})
        assert {"type-to-var", "var-to-type", "rename"} <= set(drawn)
        assert "rename-random" not in drawn


def _perturbed(language: str, names: tuple[str, ...], source: str, seed: int = 0) -> PerturbedFile:
    record = LANGUAGES.get(language)
    series = TransformSeries(transforms=loaded(names, language), seed=seed)
    return perturb_file(load_target(record.files), source.encode(), "m", series)


def _file(language: str, source: str) -> str:
    whole = language == "python" or source.startswith("class ")
    return source if whole else "class Whole {\n" + source + "}\n"


@pytest.mark.weekly
@pytest.mark.parametrize("language", IN_FILES)
def test_of_a_draw_nothing_is_undone(language: str) -> None:
    names = expand(["all"], languages=(language,))
    applied: Counter[str] = Counter()
    for number, source in enumerate(EXAMPLES[language]):
        seed = number % 4
        drawn = one_way(names, seed, languages=(language,))
        for record in _perturbed(language, drawn, _file(language, source), seed).records:
            if isinstance(record, Applied):
                applied[record.transform] += 1
            else:
                assert record.reason != UNDONE, (record.transform, source)
    assert len(applied) > 40


PAIRS = [
    ("java", "type-to-var", "var-to-type"),
    ("java", "insert-final", "remove-final"),
    ("java", "insert-this", "remove-this"),
    ("java", "split-initialisers", "join-initialisers"),
    ("java", "expand-augmented", "contract-augmented"),
    ("java", "rename-misleading", "rename-canonical"),
    ("python", "expand-augmented", "contract-augmented"),
    ("python", "split-strings", "join-strings"),
    ("python", "insert-docstrings", "remove-docstrings"),
    ("python", "rename", "rename-canonical"),
]


@pytest.mark.parametrize("between", [(), ("insert-blank-lines",)], ids=["at once", "with another between"])
@pytest.mark.parametrize(("language", "one", "other"), PAIRS)
def test_what_is_undone_is_not_counted_as_changed(
    language: str, one: str, other: str, between: tuple[str, ...]
) -> None:
    source = _file(language, LANGUAGES.get(language).transforms[one].example)
    edited = _perturbed(language, (one, *between, other), source)
    assert one not in {record.transform for record in edited.records if isinstance(record, Applied)}
    reasons = {record.reason for record in edited.records if not isinstance(record, Applied)}
    assert UNDONE in reasons
    assert edited.data == _perturbed(language, (*between, other), source).data or between
    # Alone it counts.
    alone = _perturbed(language, (one, *between), source)
    assert one in {record.transform for record in alone.records if isinstance(record, Applied)}


def test_a_text_that_came_back_counts_for_nothing() -> None:
    source = "def f(a):\n    a += 1\n    return a\n"
    edited = _perturbed("python", ("expand-augmented", "contract-augmented"), source)
    assert edited.data == source.encode()
    assert not [record for record in edited.records if isinstance(record, Applied)]

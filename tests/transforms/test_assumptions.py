"""The ledgers: what edits rest on, and that no transform forgets to say it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from codeaudit.transforms.assumptions import MOST, Assumption, ledger
from codeaudit.transforms.java.ledger import LEDGER as OF_JAVA
from codeaudit.transforms.language import LANGUAGES, Language, TransformFamily, changes, keeps
from codeaudit.transforms.perturb import DENIED, perturb_one, shown_at, under
from codeaudit.transforms.python.ledger import LEDGER
from codeaudit.transforms.records import Evidence, Move, Origin, Perturbed, Sample
from codeaudit.transforms.registry import rests_on, transform_for

TEXT = "def f(a):\n    # One.\n    x = 1\n    y = [a]\n    return x, y\n"
SHOWN = {
    "python": ("nobody-between", "import os\n\n# threading\nimport threading\n"),
    "java": ("nobody-between", "/* volatile\n */\nclass A {\n    volatile int b;\n}\n"),
    "javascript": ("positions-unread", "let a = 1;\n\n\nlet b = new Error().stack;\n"),
    "c": ("positions-unread", "int a;\n\n\nint b = __LINE__;\nint c = __LINE__;\n"),
}
"""An entry, and a file whose fourth line shows that it does not hold."""
WITH_LEDGER = [name for name in LANGUAGES.built_in if LANGUAGES.get(name).ledger]


def edit(
    transform: str, language: str = "python", source: str = TEXT, evidence: Evidence = "analysis"
) -> Perturbed:
    """An edit with one move."""
    sample = Sample(id="s", language=language, source=source, label=None, origin=Origin(path="", line=1))
    move = Move(kind="edit", site=0, value=(0,), note="")
    return Perturbed(
        sample=sample,
        transform=transform,
        kind="preserving",
        variant=0,
        source="",
        moves=(move,),
        evidence=evidence,
    )


def named(perturbed: Perturbed) -> set[str]:
    """The ids of what an edit rests on."""
    return {row.id for row in rests_on(perturbed)}


@pytest.mark.parametrize("language", LANGUAGES.built_in)
def test_each_transform_that_keeps_the_meaning_names_what_it_assumes(language: str) -> None:
    """Terms of algebra stand alone: there is no code elsewhere."""
    record = LANGUAGES.get(language)
    keeping = {name: entry for name, entry in record.transforms.items() if entry.kind == "preserving"}
    assert keeping
    for name, entry in keeping.items():
        sample = Sample(
            id="e", language=language, source=entry.example, label=None, origin=Origin(path="", line=1)
        )
        (made,) = perturb_one(sample, transform_for(name, language), variants=1, seed=0, sites="all")
        assert isinstance(made, Perturbed), name
        assert bool(named(made)) == (language != "algebra"), name
        assert bool(entry.assumes) == any(record.ledger[id].further for id in entry.rests_on), name


@pytest.mark.parametrize("language", WITH_LEDGER)
def test_each_entry_is_one_sentence_a_field_and_some_transform_rests_on_it(language: str) -> None:
    record = LANGUAGES.get(language)
    used = {id for entry in record.transforms.values() for id in entry.rests_on}
    assert used == set(record.ledger)
    for id, row in record.ledger.items():
        assert id == row.id
        assert row.assumed.endswith(".")
        assert bool(row.shown) == bool(row.refused)
        assert all(text.endswith(".") for text in (row.shown, row.refused) if text)
        assert not row.example.endswith(".")


@pytest.mark.parametrize("language", WITH_LEDGER)
def test_a_control_rests_on_nothing(language: str) -> None:
    record = LANGUAGES.get(language)
    assert not any(entry.rests_on for entry in record.transforms.values() if entry.kind == "control")
    assert not named(replace(edit("reorder-breaking", language), kind="control"))


def test_an_edit_of_the_same_code_rests_on_what_is_read_of_the_text() -> None:
    assert named(edit("rename-parameters", evidence="compiled")) == {
        "source-unread",
        "frames-unread",
        "calls-by-position",
    }
    assert "types-meant" in named(edit("return-to-else", "java"))
    assert named(edit("return-to-else", "java", evidence="compiled")) == {"source-unread", "positions-unread"}
    assert all(OF_JAVA[id].of_text for id in named(edit("return-to-else", "java", evidence="compiled")))


def test_a_mixture_rests_on_what_its_moves_rest_on() -> None:
    sample = Sample(id="s", language="python", source=TEXT, label=None, origin=Origin(path="", line=1))
    variants = [
        variant
        for variant in perturb_one(
            sample, transform_for("mixed/rename+remove-comments", "python"), variants=6, seed=0
        )
        if isinstance(variant, Perturbed)
    ]
    assumptions = {
        frozenset(move.transform for move in variant.moves): named(variant) for variant in variants
    }
    assert assumptions[frozenset({"rename", "remove-comments"})] == {
        "source-unread",
        "frames-unread",
        "positions-unread",
    }


def test_a_relation_changes_nothing_and_that_of_the_paper_promises_nothing() -> None:
    assert named(edit("returning/reorder")) == named(edit("reorder"))
    paper = under(transform_for("reorder", "python"), "paper")
    assert not named(replace(edit(paper.name), kind=paper.kind))


def test_nothing_is_known_of_strange_transforms_and_languages() -> None:
    assert not named(edit("py/mine:EDIT"))
    assert not named(edit("rename", "cobol"))


def test_a_wrong_ledger_is_an_error() -> None:
    row = Assumption(id="a", assumed="A.", example="b")
    with pytest.raises(ValueError, match="twice"):
        ledger([row, row])
    with pytest.raises(ValueError, match="more than 20"):
        ledger(replace(row, id=str(number)) for number in range(MOST + 1))
    assert all(len(LANGUAGES.get(name).ledger) <= MOST for name in WITH_LEDGER)


def test_a_transform_that_names_no_entry_has_those_of_its_family() -> None:
    rows = (keeps("m:A", "", ""), keeps("m:B", "", "", rests_on=("looks-quiet",)), changes("m:C", "", ""))
    family = TransformFamily.of("p", "f", "", *rows, rests_on=("source-unread",))
    assert [row.rests_on for row in family.transforms.values()] == [("source-unread",), ("looks-quiet",), ()]
    assert Language(name="t", title="Toy", units="", families=(family,), ledger=LEDGER).ledger is LEDGER
    with pytest.raises(ValueError, match="not in the ledger of Toy: source-unread of a"):
        Language(name="t", title="Toy", units="", families=(family,))


@pytest.mark.parametrize("language", SHOWN)
def test_the_line_is_told_that_shows_that_an_assumption_does_not_hold(language: str) -> None:
    entry, text = SHOWN[language]
    path = f"a{LANGUAGES.get(language).endings[0]}"
    sample = Sample(
        id="s", language=language, source="", label=None, origin=Origin(path=path, line=9), context=text
    )
    assert shown_at(sample, f"{DENIED}{entry}") == f"{path}:4"
    assert shown_at(sample, "nothing to move") == ""
    row = replace(sample, source=text, context="", origin=Origin(path="a.csv", line=9))
    assert shown_at(row, f"{DENIED}{entry}") == "a.csv:9"


def spellings(items: Any) -> Iterator[str]:
    """The texts that a parsed expression may match, with a zero in place of all that is no fixed letter."""
    for parts in product(*(list(spelled(str(kind), value)) for kind, value in items)):
        yield "".join(parts)


def spelled(kind: str, value: Any) -> Iterator[str]:
    """The same for one part of an expression."""
    match kind:
        case "LITERAL":
            yield chr(value)
        case "AT" | "ASSERT" | "ASSERT_NOT":
            yield ""
        case "BRANCH":
            for branch in value[1]:
                yield from spellings(branch)
        case "SUBPATTERN":
            yield from spellings(value[3])
        case "MAX_REPEAT" | "MIN_REPEAT" if value[0] > 0:
            for text in spellings(value[2]):
                yield f"{text}\0"
        case _:
            yield "\0"


@pytest.mark.parametrize("language", ["java", "javascript", "c", "cpp"])
def test_each_text_with_a_sign_has_one_of_its_words(language: str) -> None:
    """A sign without such a word would never be looked for."""
    rows = [row for row in LANGUAGES.get(language).ledger.values() if row.words]
    assert rows
    for row in rows:
        assert row.sign
        texts = list(spellings(re._parser.parse(row.sign)))  # type: ignore[attr-defined]
        assert texts
        assert all(any(word in text for word in row.words) for text in texts), row.id

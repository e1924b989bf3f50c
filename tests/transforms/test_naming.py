"""New names: each strategy finds one for a variable of every look, in every language."""

from dataclasses import replace
from random import Random
from typing import get_args

import pytest

from codeaudit.transforms.c.identifiers.rename import LEXICON as OF_C
from codeaudit.transforms.java.identifiers.rename import JAVA
from codeaudit.transforms.javascript.identifiers.rename import LEXICONS as OF_JAVASCRIPT
from codeaudit.transforms.naming import Lexicon, Strategy, draw
from codeaudit.transforms.python.identifiers.names import PYTHON

LEXICONS = {"python": PYTHON, "java": JAVA, "c": OF_C, **OF_JAVASCRIPT}
LOOKS = (
    *("total", "dictEnd", "HashTable", "TABLE_SIZE", "N", "T1", "x", "_total", "_HashTable", "_N", "__x"),
    *(
        "__HashTable",
        "_",
        "__",
        "$",
        "$el",
        "größe",
        "Größe",
        "变量",
        "a_",
        "A_",
        "_1",
        "is_valid",
        "IS_VALID",
    ),
)
MOST = 2_000
"""Proposals until it counts as endless."""


@pytest.mark.parametrize("strategy", [argument for argument in get_args(Strategy) if argument != "shuffle"])
@pytest.mark.parametrize("language", LEXICONS)
def test_a_name_of_every_look_gets_a_new_one(language: str, strategy: Strategy) -> None:
    asked = []

    def reserved(name: str) -> bool:
        asked.append(name)
        assert len(asked) < MOST, f"no end: {asked[:4]}"
        return LEXICONS[language].reserved(name)

    lexicon: Lexicon = replace(LEXICONS[language], reserved=reserved)
    names = draw(lexicon, strategy, dict(enumerate(LOOKS)), set(LOOKS), Random(0))
    assert len(set(names.values())) == len(LOOKS)
    assert not any(map(LEXICONS[language].reserved, names.values()))


@pytest.mark.parametrize("language", LEXICONS)
def test_canonical_names_stay(language: str) -> None:
    first = draw(LEXICONS[language], "canonical", dict(enumerate(LOOKS)), (), Random(0))
    assert draw(LEXICONS[language], "canonical", first, (), Random(1)) == first

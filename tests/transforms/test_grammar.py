"""Numbers with their nouns, and nouns with their articles."""

import pytest

from codeaudit.transforms.grammar import counted, with_article


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 variants"), (1, "1 variant"), (2, "2 variants"), (1679, "1,679 variants")]
)
def test_one_alone_is_no_plural(number: int, told: str) -> None:
    assert counted(number, "variant") == told


@pytest.mark.parametrize("told", ["a tuple", "an object", "an Evidence", "a User", "a NoneType"])
def test_vowels_take_another_article(told: str) -> None:
    assert with_article(told.split()[1]) == told

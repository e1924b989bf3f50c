"""Numbers with their nouns, nouns with their articles, and lists of names."""

import pytest

from codeaudit.transforms.grammar import NAMED, counted, first_of, with_article, with_reasons


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 variants"), (1, "1 variant"), (2, "2 variants"), (1679, "1,679 variants")]
)
def test_one_alone_is_no_plural(number: int, told: str) -> None:
    assert counted(number, "variant") == told


@pytest.mark.parametrize("told", ["a tuple", "an object", "an Evidence", "a User", "a NoneType"])
def test_vowels_take_another_article(told: str) -> None:
    assert with_article(told.split()[1]) == told


def test_of_many_names_the_first_are_told() -> None:
    names = [f"{number}.py" for number in range(NAMED + 2)]
    assert first_of(names[:2]) == "0.py, 1.py"
    assert first_of(names[:NAMED]).endswith(f"{NAMED - 1}.py")
    assert first_of(names).endswith(f"{NAMED - 1}.py and 2 more")
    assert with_reasons({"a.py": "null bytes"}) == "a.py (null bytes)"

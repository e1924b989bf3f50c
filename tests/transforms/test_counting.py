"""Numbers with their nouns."""

import pytest

from codeaudit.transforms.counting import counted


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 variants"), (1, "1 variant"), (2, "2 variants"), (1679, "1,679 variants")]
)
def test_one_alone_is_no_plural(number: int, told: str) -> None:
    assert counted(number, "variant") == told

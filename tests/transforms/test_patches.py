import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.transforms.patches import Edit, Positions, splice


def test_everything_outside_the_edits_stays_byte_for_byte() -> None:
    source = "a\tβ\r\nγ \f b".encode()
    place = source.index("γ".encode())
    assert splice(source, [Edit(place, place + 2, "long"), Edit(0, 1, "")]) == "\tβ\r\nlong \f b".encode()


def test_edits_may_touch_and_come_in_any_order() -> None:
    assert splice(b"abcd", [Edit(2, 4, "Y"), Edit(0, 2, "X"), Edit(4, 4, "!")]) == b"XY!"


@pytest.mark.parametrize(
    "edits", [[Edit(0, 2, "x"), Edit(1, 3, "y")], [Edit(3, 9, "x")], [Edit(2, 1, "x")], [Edit(-1, 1, "x")]]
)
def test_edits_that_overlap_or_leave_the_source_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="give edits that are disjoint"):
        splice(b"abcd", edits)


@given(st.text(alphabet="ab\n\r\f\tß", max_size=30))
def test_positions_go_there_and_back(text: str) -> None:
    source = text.encode()
    positions = Positions(source)
    for offset in range(len(source) + 1):
        assert positions.offset(*positions.line_column(offset)) == offset


def test_lines_end_as_python_counts_them() -> None:
    positions = Positions(b"a\r\nb\rc\fd\ne")
    assert [positions.line_column(offset) for offset in (0, 3, 5, 7, 9)] == [
        (1, 0), (2, 0), (3, 0), (3, 2), (4, 0)
    ]  # fmt: skip
    assert positions.offset(0, 5) == -1

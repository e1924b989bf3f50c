import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.transforms.patches import Edit, Patch, Positions, Span, compatible, patched, splice


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


CALL = b"f(a, b)"
EXCHANGED = Patch(2, 6, (Span(5, 6), Span(3, 5), Span(2, 3)))
"""Exchanges both arguments, and keeps their texts."""


def _unmoved(text: bytes, add: bytes, drop: bytes) -> bytes:
    return text


def _made(*patches: Patch) -> bytes | None:
    kept = compatible({number: (patch,) for number, patch in enumerate(patches)})
    return patched(CALL, patches, _unmoved) if len(kept) == len(patches) else None


@pytest.mark.parametrize(
    ("inner", "result"),
    [
        (Patch(2, 3, ("long",)), b"f(b, long)"),
        (Patch(5, 6, ("long",)), b"f(long, a)"),
        (Patch(3, 3, ("!",)), b"f(b!, a)"),  # belongs in front of the comma, not behind the argument
        (Patch(6, 6, (", c",)), b"f(b, a, c)"),  # stands behind the exchanged arguments
        (Patch(2, 4, ("x",)), None),  # an argument and half of the comma
        (Patch(1, 3, ("(x",)), None),  # begins before
        (Patch(5, 7, ("x)",)), None),  # ends behind
    ],
)
def test_a_patch_is_made_inside_a_part_that_another_keeps(inner: Patch, result: bytes | None) -> None:
    assert _made(EXCHANGED, inner) == _made(inner, EXCHANGED) == result


@pytest.mark.parametrize(
    ("source", "patch", "result"),
    [
        (b"return(a)", Patch(6, 9, ("a",)), b"return a"),
        (b"(a)in b", Patch(0, 3, ("a",)), b"a in b"),
        (b"return(a)", Patch(6, 9, ("-a",)), b"return-a"),
        (b"return\xc3\xa4(a)", Patch(8, 11, ("b",)), b"return\xc3\xa4 b"),
        (b"12", Patch(1, 2, ("3",)), b"13"),  # inside of a word
        (b"12", Patch(2, 2, ("L",)), b"12L"),
        (b"'a' 'b'", Patch(2, 5, ()), b"'ab'"),
        (b"(a)", Patch(0, 3, ("a",)), b"a"),
        (b"a/p[0]", Patch(2, 6, ("*(p + 0)",)), b"a/ *(p + 0)"),
        (b"a/(/b/)", Patch(2, 7, ("/b/",)), b"a/ /b/"),
        (b"a*p[0]", Patch(2, 6, ("*(p + 0)",)), b"a**(p + 0)"),
        (b"'a/' '*b'", Patch(3, 6, ()), b"'a/*b'"),
    ],
)
def test_what_a_patch_writes_does_not_run_together_with_what_is_before_it(
    source: bytes, patch: Patch, result: bytes
) -> None:
    assert patched(source, [patch], _unmoved) == result


def test_two_patches_begin_no_comment() -> None:
    patches = [Patch(1, 2, ()), Patch(2, 6, ("*(p + 0)",))]
    assert patched(b"/ p[0]", patches, _unmoved) == b"/ *(p + 0)"


def test_nothing_is_edited_in_a_part_that_is_gone() -> None:
    assert _made(Patch(2, 6, ("x",)), Patch(3, 4, ("y",))) is None
    assert _made(Patch(2, 6, ("x",)), Patch(6, 6, ("y",))) == b"f(xy)"


def test_of_two_patches_that_clash_the_later_one_is_dropped() -> None:
    one, other = Patch(0, 3, ("x",)), Patch(2, 4, ("y",))
    assert compatible({7: (one,), 3: (other,)}) == {7}
    assert compatible({3: (other,), 7: (one,)}) == {3}

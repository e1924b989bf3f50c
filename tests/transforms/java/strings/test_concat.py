"""Sums of texts of Java as calls."""

from codeaudit.transforms.java.strings.concat import CONCAT_TO_BUILDER, CONCAT_TO_VALUE_OF, CONSTANT, UNKNOWN
from tests.transforms.java.support import everything, refused


def test_sums_of_texts_hold_nothing_that_changes() -> None:
    assert everything(CONCAT_TO_BUILDER, "s = 1 + a + s + c;") == (
        "s = new StringBuilder().append(1 + a).append(s).append(c).toString();"
    )
    assert refused(CONCAT_TO_BUILDER, "s = s + o;") == UNKNOWN
    assert refused(CONCAT_TO_BUILDER, "s = s + null;") == UNKNOWN
    assert refused(CONCAT_TO_BUILDER, 's = "a" + 1;') == CONSTANT
    assert refused(CONCAT_TO_BUILDER, 'final String t = "a"; s = t + 1;') == CONSTANT
    assert everything(CONCAT_TO_VALUE_OF, 's = "" + c;') == "s = String.valueOf(c);"
    assert refused(CONCAT_TO_VALUE_OF, 's = "" + o;') == UNKNOWN
    assert refused(CONCAT_TO_VALUE_OF, 's = "" + s;') == UNKNOWN

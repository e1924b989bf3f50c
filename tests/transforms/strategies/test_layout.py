"""Strings, numbers, comments and lines of Java."""

from random import Random

from codeaudit.transforms.interface import Rewritten
from codeaudit.transforms.java.rules import (
    CHARACTER_ESCAPES,
    INDENTATION,
    INSERT_COMMENTS,
    INSERT_PARENTHESES,
    JOIN_STRINGS,
    LITERAL_BASES,
    REMOVE_BLANK_LINES,
    REMOVE_COMMENTS,
    REMOVE_PARENTHESES,
    SPACING,
    SPLIT_STRINGS,
)
from codeaudit.transforms.strategies.conditions import ARMS
from codeaudit.transforms.strategies.layout import NEEDED
from codeaudit.transforms.strategies.literals import SEAM
from tests.transforms.java.support import everything, refused, variants


def test_strings_are_split_between_their_characters() -> None:
    assert variants(SPLIT_STRINGS, 's = "a\\n\\12b";') == {
        's = "a" + "\\n\\12b";',
        's = "a\\n" + "\\12b";',
        's = "a\\n\\12" + "b";',
    }
    assert everything(SPLIT_STRINGS, 'p = "ab".equals(s);') == 'p = ("a" + "b").equals(s);'
    assert everything(JOIN_STRINGS, 's = a + "x" + "y" + b;') == 's = a + "xy" + b;'
    assert refused(JOIN_STRINGS, 's = "\\1" + "2";') == SEAM
    assert refused(JOIN_STRINGS, 's = "x" + a + "y";') == "no two strings in a row"


def test_numbers_and_characters() -> None:
    assert variants(LITERAL_BASES, "l = 1000L;") == {"l = 0x3e8L;", "l = 1_000L;", "l = 1000l;"}
    assert refused(LITERAL_BASES, "a = -2147483648;") == "literal belongs to its sign"
    assert variants(LITERAL_BASES, "d = 1.5;") == {"d = 1.5d;", "d = 1.5D;"}
    assert variants(LITERAL_BASES, "a = 0x7f;") == {"a = 127;"}
    assert everything(CHARACTER_ESCAPES, "c = 'a';") == "c = '\\141';"


def test_parentheses() -> None:
    assert everything(REMOVE_PARENTHESES, "a = (a * b) + (b);") == "a = a * b + b;"
    assert refused(REMOVE_PARENTHESES, "a = a - (b - 1);") == NEEDED
    assert refused(REMOVE_PARENTHESES, "a = (a + b) * 2;") == NEEDED
    assert everything(REMOVE_PARENTHESES, "return(a);") == "return a;"
    assert everything(REMOVE_PARENTHESES, "a = a-(-b);") == "a = a- -b;"
    assert everything(INSERT_PARENTHESES, "return a;") == "return (a);"
    assert everything(INSERT_PARENTHESES, "d = p ? 1L : 2f;") == "d = (p) ? (1L) : 2f;"
    assert everything(INSERT_PARENTHESES, "a = p ? 1 : 2;") == "a = ((p) ? (1) : (2));"
    assert refused(REMOVE_PARENTHESES, "d = (p ? l : 2f);") == ARMS
    assert everything(REMOVE_PARENTHESES, "d = (p ? a : b);") == "d = p ? a : b;"
    assert everything(SPACING, "a = a - -b; p = a < b;") == "a=a - -b; p=a<b;"


def test_a_text_block_keeps_its_indentation() -> None:
    source = 'void f() {\n    if (p) {\n        s = """\n            x\n              y\n            """;\n    }\n}\n'
    moves = INDENTATION.propose(source, Random(1))
    assert isinstance(moves, tuple)
    rewritten = INDENTATION.apply(source, moves)
    assert isinstance(rewritten, Rewritten)
    assert '"""\n            x\n              y\n            """' in rewritten.source
    assert "\n    if" not in rewritten.source


def test_comments_come_and_go() -> None:
    source = "int f(int a) {\n    // one\n    a++; // two\n    return /* three */ a; //noinspection x\n}\n"
    moves = REMOVE_COMMENTS.propose(source, Random(0))
    assert isinstance(moves, tuple)
    rewritten = REMOVE_COMMENTS.apply(source, moves)
    assert isinstance(rewritten, Rewritten)
    assert rewritten.source == "int f(int a) {\n    a++;\n    return   a; //noinspection x\n}\n"
    assert rewritten.evidence == "parsed"
    documented = "/** @deprecated */ int f() { return 1; }"
    refusal = REMOVE_COMMENTS.propose(documented, Random(0))
    assert refusal == type(refusal)("comment is documentation")  # type: ignore[arg-type]
    blank = 'int f() {\n\n    return """\n\n        x""".length();\n}\n'
    moves = REMOVE_BLANK_LINES.propose(blank, Random(0))
    assert isinstance(moves, tuple)
    assert len(moves) == 1
    assert isinstance(INSERT_COMMENTS.propose("int f() {\n    return 1;\n}\n", Random(0)), tuple)

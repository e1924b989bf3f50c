"""Members of a class in another order: they compile, and do what they did."""

import re
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.members.classes import MemberRewriting
from codeaudit.transforms.java.order.members import ALIKE, REORDER_CONSTANTS, REORDER_METHODS, SHARED_LINE
from tests.transforms.java.members.test_this import compiled, refused

TRAPS = """\
import java.util.*;

public class Traps {
    static final StringBuilder TOLD = new StringBuilder();
    static final int ONE = 1; // one
    static final int TWO = 2;
    /* the third */ static final long THREE = 3L;
    static final int SUM = ONE + TWO;
    static final int MINUS = -1;
    static final String NAME = "name" ;
    static int count = told(1);

    static { told(2); }

    /**
     * Tells.
     */
    static int told(int value) {
        TOLD.append(value).append(' ');
        return value;
    }

    // An object's own.
    int first = told(3), second = told(4);

    // Detached.

    Traps() {
        this(5); // five
    }

    Traps(int value) {
        told(value);
    }

    enum Colour {
        RED, GREEN { int worth() { return 7; } int more() { return 8; }
        };

        static final int LOW = 3;
        static final int HIGH = 4;

        int worth() {
            return ordinal();
        }

        static Colour last() {
            return values()[values().length - 1];
        }
    }

    interface Shape {
        int SIDES = 4;
        int CORNERS = 5;

        int area();

        default int twice() {
            return 2 * area() + SIDES;
        }
    }

    record Pair(int left, int right) {
        Pair {
            told(left);
        }

        Pair(int both) {
            this(both, both);
        }
    }

    int f(Object value) {
        Shape shape = new Shape() {
            int side = told(9);

            public int area() {
                return side;
            }

            public String toString() {
                return "shape" + f("x");
            }
        };
        return shape.twice();
    }

    int f(String value) {
        return value.length();
    }

    public static void main(String[] arguments) {
        Traps made = new Traps();
        told(made.f(1) + made.f("abc") + made.first + new Pair(6).right());
        told(Colour.RED.worth() + Colour.last().worth() + Shape.CORNERS);
        System.out.print(TOLD + NAME + SUM + MINUS + THREE + count + Colour.HIGH + Arrays.asList(Colour.values()));
    }
}
"""


def variants(rule: MemberRewriting, source: str, draws: int) -> list[str]:
    texts = []
    for seed in range(draws):
        moves = rule.propose(source, Random(seed))
        assert not isinstance(moves, Refused), moves
        result = rule.apply(source, moves)
        assert isinstance(result, Rewritten)
        assert sorted(re.findall(r"\S+", result.source)) == sorted(re.findall(r"\S+", source))
        texts.append(result.source)
    return texts


def ran(text: str, folder: Path) -> str:
    compiled(text, folder)
    java = shutil.which("java")
    assert java is not None
    done = subprocess.run([java, "-cp", str(folder), "Traps"], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.slow
def test_classes_do_what_they_did(tmp_path: Path) -> None:
    expected = ran(TRAPS, tmp_path / "own")
    assert expected.startswith("1 2 3 4 5 9 6 ")
    for rule in (REORDER_METHODS, REORDER_CONSTANTS):
        (text,) = variants(rule, TRAPS, 1)
        assert ran(text, tmp_path / rule.name) == expected, text


def test_comments_go_with_what_they_are_about() -> None:
    source = (
        "class A {\n    /** One. */\n    void one() { } // first\n\n    // Two.\n    /* More. */\n    void two() { }\n\n"
        "    int x; // x\n    void three() { }\n}\n"
    )
    for text in variants(REORDER_METHODS, source, 8):
        assert "/** One. */\n    void one() { } // first\n" in text
        assert "// Two.\n    /* More. */\n    void two() { }\n" in text
        assert "    int x; // x\n" in text


def test_only_neighbouring_literals_are_constants_that_move() -> None:
    for text in variants(REORDER_CONSTANTS, TRAPS, 8):
        assert text.index("static final int SUM") > text.index("TWO = 2") > text.index("TOLD")
        assert text.index("static final int MINUS") > text.index("SUM = ONE")
        assert "int ONE = 1; // one\n" in text
        assert text.index("static int count") > text.index("NAME =") > text.index("SUM =")


def test_each_class_is_a_site_of_its_own() -> None:
    moves = REORDER_METHODS.propose(TRAPS, Random(0))
    assert isinstance(moves, tuple)
    assert len(moves) == 5  # one line holds two methods
    for move in moves:
        rewritten = REORDER_METHODS.apply(TRAPS, (move,))
        assert isinstance(rewritten, Rewritten)
        assert rewritten.source != TRAPS


KEPT = {
    "one line": (REORDER_METHODS, "class A { void f() { } void g() { } }", SHARED_LINE),
    "a second on the line": (REORDER_METHODS, "class A {\nvoid f() { } void g() { }\nvoid h() { }\n}", SHARED_LINE),
    "an empty one": (REORDER_METHODS, "class A {\nvoid f() { };\nvoid g() { }\n}", SHARED_LINE),
    "one method": (REORDER_METHODS, "class A {\nint x;\nvoid f() { }\n}", REORDER_METHODS.nothing),
    "elements of an annotation": (REORDER_METHODS, "@interface A {\nint f();\nint g();\n}", REORDER_METHODS.nothing),
    "methods without a class": (REORDER_METHODS, "void f() { }\nvoid g() { }", REORDER_METHODS.nothing),
    "fields of objects": (REORDER_CONSTANTS, "class A {\nint x = 1;\nint y = 2;\n}", REORDER_CONSTANTS.nothing),
    "finals of objects": (
        REORDER_CONSTANTS, "class A {\nfinal int x = 1;\nfinal int y = 2;\n}", REORDER_CONSTANTS.nothing),
    "variables of a class": (
        REORDER_CONSTANTS, "class A {\nstatic int x = 1;\nstatic int y = 2;\n}", REORDER_CONSTANTS.nothing),
    "values that are made": (
        REORDER_CONSTANTS, "class A {\nstatic final A X = f();\nstatic final A Y = f();\n}",
        REORDER_CONSTANTS.nothing),
    "boxes": (
        REORDER_CONSTANTS, "class A {\nstatic final Integer X = 1;\nstatic final Integer Y = 2;\n}",
        REORDER_CONSTANTS.nothing),
    "what may not be the same twice": (
        REORDER_METHODS, "class A {\nvoid f() { }\nvoid f() { }\n}", ALIKE),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "source", "reason"), KEPT.values(), ids=KEPT.keys())
def test_what_stays(rule: MemberRewriting, source: str, reason: str) -> None:
    assert refused(rule, source) == reason


def test_members_that_select_by_enums_keep_their_order() -> None:
    """The first `switch` on an enum initialises all enums of the class, in the order of the text."""
    members = (
        "void f(A a) { switch (a) { case ONE: } }",
        "void g(B b) { Runnable r = () -> { switch (b) { case TWO -> g(b); default -> { } } }; }",
        "class C { int h(A a) { return switch (a) { case ONE -> 1; default -> 2; }; } }",
        "void i(int a) { switch (a) { case 1: } }",
    )
    text = "class D {\n" + "".join(f"    {member}\n" for member in members) + "}\n"
    texts = variants(REORDER_METHODS, text, 20)
    assert len(set(texts)) > 2
    for variant in texts:
        places = [variant.index(member) for member in members[:3]]
        assert places == sorted(places)

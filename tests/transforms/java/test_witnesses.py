"""The second reader says whether two methods are one tree but for names."""

from codeaudit.transforms.java.witnesses import confirms, permutes

BEFORE = "int f(A a) { a.b(); return a.c + a; }"


def test_a_renaming_is_confirmed() -> None:
    assert confirms(BEFORE, "int f(A v) { v.b(); return v.c + v; }", {("a", "v")}) is True


def test_anything_else_is_not() -> None:
    for wrong in (
        "int f(A v) { w.b(); return v.c + v; }",
        "int f(A v) { v.v(); return v.c + v; }",
        "int f(A v) { v.b(); return v.c - v; }",
        "int f(A v) { v.b(); v.b(); return v.c + v; }",
        "int f(A v) { v.b() return v.c + v; }",
    ):
        assert confirms(BEFORE, wrong, {("a", "v")}) is False, wrong


def test_newer_java_is_beyond_it() -> None:
    source = "int f(O o) { return switch (o) { case A a -> a.n(); default -> 0; }; }"
    assert confirms(source, source, ()) is None


def test_an_order_of_statements_is_confirmed() -> None:
    before = "int f(int a) { int b = a; int c = 2; if (a > 1) { b++; c--; } return b + c; }"
    for same in (
        "int f(int a) { int c = 2; int b = a; if (a > 1) { c--; b++; } return b + c; }",
        "int f(int a) { int b = a; int c = 2; if (a > 1) { b++; c--; } return b + c; }",
    ):
        assert permutes(before, same) is True
    for wrong in (
        "int f(int a) { int b = a; int c = 3; if (a > 1) { b++; c--; } return b + c; }",
        "int f(int a) { int b = a; int c = 2; b++; if (a > 1) { c--; } return b + c; }",
        "int f(int a) { int b = a; int c = 2; if (a > 1) { b++; c--; c--; } return b + c; }",
        "int f(int a) { int b = a; int c = 2; if (a > 1) { b++; c--; } return c + b; }",
        "int f(int a) {",
    ):
        assert permutes(before, wrong) is False, wrong
    assert permutes("int f(", "int f(") is None

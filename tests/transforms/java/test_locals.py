"""Declarations of Java's locals in another form."""

from codeaudit.transforms.java.locals import (
    ANNOTATED,
    CONSTANT,
    INSERT_FINAL,
    OTHER_TYPE,
    REMOVE_FINAL,
    TYPE_TO_VAR,
    VAR_TO_TYPE,
)
from codeaudit.transforms.java.rules import (
    JOIN_DECLARATIONS,
    JOIN_INITIALISERS,
    SPLIT_DECLARATIONS,
    SPLIT_INITIALISERS,
)
from codeaudit.transforms.strategies.declarations import FINAL
from tests.transforms.java.support import everything, refused


def test_declarations() -> None:
    assert everything(SPLIT_DECLARATIONS, "final int x = 1, y[] = {x}, z;") == (
        "final int x = 1; final int y[] = {x}; final int z;"
    )
    assert (
        everything(JOIN_DECLARATIONS, "int x = 1; int y = x; long z = 2;") == "int x = 1, y = x; long z = 2;"
    )
    assert refused(JOIN_DECLARATIONS, "var x = 1; var y = 2;") == "type is inferred"
    assert everything(SPLIT_INITIALISERS, "byte x = 1;") == "byte x; x = 1;"
    assert everything(JOIN_INITIALISERS, "int x; x = a;") == "int x = a;"
    assert refused(SPLIT_INITIALISERS, "final int x = 1;") == FINAL
    assert refused(SPLIT_INITIALISERS, "var x = 1;") == "type is inferred"
    assert refused(SPLIT_INITIALISERS, "int[] x = {1};") == "array in braces"
    assert refused(JOIN_INITIALISERS, "final int x; x = 1;") == FINAL
    assert refused(JOIN_INITIALISERS, "int x; x = (x = 1) + 1;") == "value reads the variable"


def test_final_makes_and_unmakes_no_constant() -> None:
    head = "static void f(final int a)"
    assert refused(INSERT_FINAL, 'String x = "a";', head) == CONSTANT
    assert refused(INSERT_FINAL, "int x = K + 1;", head) == CONSTANT
    assert refused(INSERT_FINAL, "int x = a; x++;", head) == "assigned again"
    assert (
        everything(INSERT_FINAL, "int x = a; Object y = 1;", head) == "final int x = a; final Object y = 1;"
    )
    assert everything(INSERT_FINAL, "for (int x : g()) { }", head) == "for (final int x : g()) { }"
    head = "static void f(int a)"
    assert refused(REMOVE_FINAL, "final int x = 3; switch (a) { case x: }", head) == CONSTANT
    assert refused(REMOVE_FINAL, "final int x; x = 3;", head) == CONSTANT
    assert (
        everything(REMOVE_FINAL, "final int x = a; final int[] y = {1};", head) == "int x = a; int[] y = {1};"
    )


def test_var_is_exactly_the_type() -> None:
    assert everything(TYPE_TO_VAR, 'String x = "a"; StringBuilder y = new StringBuilder();') == (
        'var x = "a"; var y = new StringBuilder();'
    )
    for text in ("long x = 1;", "Object x = s;", "List<String> x = new ArrayList<>();", "Integer x = 1;"):
        assert refused(TYPE_TO_VAR, text) == OTHER_TYPE
    assert refused(TYPE_TO_VAR, "int[] x = {1};") == "array in braces"
    for annotation in ("@A", "@a.b.A", "@A(1)", "@A final", "@SuppressWarnings(K) @A"):
        assert refused(TYPE_TO_VAR, f"{annotation} String x = s;") == ANNOTATED
    kept = '@SuppressWarnings("unused") final'
    assert everything(TYPE_TO_VAR, f"{kept} Object x = o;") == f"{kept} var x = o;"
    assert everything(VAR_TO_TYPE, "var x = a * 2L;") == "long x = a * 2L;"
    assert refused(VAR_TO_TYPE, "var x = g();") == OTHER_TYPE

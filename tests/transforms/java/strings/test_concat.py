"""Sums of texts of Java as calls."""

from random import Random

import pytest

from codeaudit.transforms.interface import Refused
from codeaudit.transforms.java.strings.concat import (
    CONCAT_TO_BUILDER,
    CONCAT_TO_VALUE_OF,
    CONSTANT,
    IDENTITY,
    UNKNOWN,
    compares_texts,
)
from tests.transforms.java.support import everything, method, refused


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


COMPARED = [
    'String s = g(); return s == "true";',
    "String s = g(); String t = g(); return s != t;",
    "Object s = g(); String t = g(); return (s) == t;",
    "String[] s = g(); String t = g(); return s[0] == t;",
    'return (a > 1 ? g() : "a") == h();',
    'return ("a" + a) == h();',
    "String s = g(); synchronized (s) { h(); } return s.intern() == h();",
    "String s = g(); return System.identityHashCode(s);",
    "var s = g(); return s == h(s);",
]
NOT_COMPARED = [
    'String s = g(); return s.equals("true");',
    "String s = g(); return s == null || null != s;",
    "int s = g(); return s == 1 && a == s && this == o;",
    "String s = g(); return s.length() == 3 && 'c' == s.charAt(0);",
    "Foo z = g(); return z == h();",
    "String[] s = g(); int[] t = g(); return s.length == t[0] && s == t;",
    'String s = "=="; synchronized (this) { h(); } return s + 1;',
]


@pytest.mark.parametrize("body", COMPARED)
def test_texts_that_are_compared_by_identity_stay(body: str) -> None:
    assert compares_texts(method(body))
    assert refused(CONCAT_TO_BUILDER, f'String z = "" + a; {body}') == IDENTITY
    assert refused(CONCAT_TO_VALUE_OF, f'String z = "" + a; {body}') == IDENTITY


@pytest.mark.parametrize("body", NOT_COMPARED)
def test_other_comparisons_do_not_keep_texts(body: str) -> None:
    assert not compares_texts(method(body))


def test_another_method_of_the_file_may_compare_texts() -> None:
    source = 'String f(boolean b) { return "" + b; }'
    file = f'class A {{ {source} boolean g() {{ return f(true) == "true"; }} }}'
    for rule in (CONCAT_TO_BUILDER, CONCAT_TO_VALUE_OF):
        assert not isinstance(rule.within("class A { }").propose(source, Random(0)), Refused)
        assert rule.within(file).propose(source, Random(0)) == Refused(IDENTITY)

"""Anonymous classes as lambdas, and back."""

import pytest

from codeaudit.transforms.java.analysis.library import KNOWN_TYPES
from codeaudit.transforms.java.files import REBOUND
from codeaudit.transforms.java.functional import (
    ANONYMOUS_TO_LAMBDA,
    CONSTRUCTING,
    ITSELF,
    LAMBDA_TO_ANONYMOUS,
    OTHER_TYPES,
    REDECLARED,
    SHAPE,
    TARGET,
    UNKNOWN,
    _table,
)
from codeaudit.transforms.strategies.dialect import COMMENT
from tests.transforms.java.support import everything, refused

CLASS = "new Comparator<String>() {{ @Override public int compare(String x, String y) {{ {} }} }}"
LAMBDA = "(String x, String y) -> {{ {} }}"


def test_what_is_assumed_of_an_interface_is_known_by_its_name() -> None:
    assert _table().keys() <= KNOWN_TYPES


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("Comparator<String> r = {};", None),
        ("final Comparator<String> r = {};", None),
        ("Comparator<String> r; r = {};", None),
        ("return {};", "Comparator<String> f(int a)"),
    ],
)
def test_where_the_type_is_spelt_one_becomes_the_other(text: str, head: str | None) -> None:
    given = (head,) if head else ()
    one, other = (text.format(form.format("return x.length() - 1;")) for form in (CLASS, LAMBDA))
    assert everything(ANONYMOUS_TO_LAMBDA, one, *given) == other
    assert everything(LAMBDA_TO_ANONYMOUS, other, *given) == one


def test_an_argument_is_cast_so_that_the_same_method_is_called() -> None:
    one = "run(new Runnable() { public void run() { go(); } });"
    other = "run((Runnable) () -> { go(); });"
    assert everything(ANONYMOUS_TO_LAMBDA, one) == other
    assert everything(LAMBDA_TO_ANONYMOUS, other) == (
        "run((Runnable) new Runnable() { @Override public void run() { go(); } });"
    )


def test_types_of_parameters_are_taken_from_the_interface() -> None:
    given = (
        "Map<String, int[]> m; BiFunction<String, int[], Long> r = (x, y) -> null; FileFilter t = x -> true;"
    )
    text = everything(LAMBDA_TO_ANONYMOUS, given)
    assert "public Long apply(String x, int[] y) { return null; }" in text
    assert "public boolean accept(java.io.File x) { return true; }" in text
    assert "public String call() throws Exception { return s; }" in everything(
        LAMBDA_TO_ANONYMOUS, "Callable<String> r = () -> s;"
    )
    assert "public void accept(String x) { g(x); }" in everything(
        LAMBDA_TO_ANONYMOUS, "Consumer<String> r = x -> g(x);"
    )
    assert (
        everything(
            ANONYMOUS_TO_LAMBDA,
            "FileFilter t = new FileFilter() { public boolean accept(final File x) { return x.isFile(); } };",
        )
        == "FileFilter t = (final File x) -> { return x.isFile(); };"
    )


KEPT = {
    "an interface of the project": ("Task r = new Task() { public void run() { } };", UNKNOWN),
    "a raw type": (
        "Comparator r = new Comparator() { public int compare(Object x, Object y) { return 1; } };", UNKNOWN),
    "a diamond": (
        "Supplier<String> r = new Supplier<>() { public String get() { return s; } };", UNKNOWN),
    "a class": ("Thread r = new Thread() { public void run() { } };", UNKNOWN),
    "a type above": ("Object r = new Runnable() { public void run() { } };", TARGET),
    "no type": ("var r = new Runnable() { public void run() { } };", TARGET),
    "a receiver": ("new Runnable() { public void run() { } }.run();", TARGET),
    "a result of a lambda": (
        "Supplier<Runnable> t = () -> { return new Runnable() { public void run() { } }; };", TARGET),
    "a field": ("Runnable r = new Runnable() { int x; public void run() { x++; } };", SHAPE),
    "two methods": ("Runnable r = new Runnable() { public void run() { } void go() { } };", SHAPE),
    "no method": ("Runnable r = new Runnable() { { go(); } };", SHAPE),
    "another method": ("Iterable<String> r = new Iterable<String>() { };", UNKNOWN),
    "a lock": ("Runnable r = new Runnable() { public synchronized void run() { } };", SHAPE),
    "an annotation": ("Runnable r = new Runnable() { @Deprecated public void run() { } };", SHAPE),
    "a narrower result": (
        "Supplier<Object> r = new Supplier<Object>() { public String get() { return s; } };", OTHER_TYPES),
    "an erased parameter": (
        "Consumer<List<A>> r = new Consumer<List<A>>() { public void accept(List x) { } };", OTHER_TYPES),
    "an annotated parameter": (
        "Consumer<A> r = new Consumer<A>() { public void accept(@B A x) { } };", OTHER_TYPES),
    "this": ("Runnable r = new Runnable() { public void run() { go(this); } };", ITSELF),
    "itself": ("Runnable r = new Runnable() { public void run() { if (p) run(); } };", ITSELF),
    "its own text": ("Runnable r = new Runnable() { public void run() { go(toString()); } };", ITSELF),
    "a default method": (
        "Predicate<A> r = new Predicate<A>() { public boolean test(A x) { return go(negate()); } };", ITSELF),
    "super": ("Runnable r = new Runnable() { public void run() { go(super.hashCode()); } };", ITSELF),
    "a class inside": ("Runnable r = new Runnable() { public void run() { class B { } } };", ITSELF),
    "a parameter's name": ("Runnable r = new Runnable() { public void run() { int a = 1; } };", REDECLARED),
    "its own name": ("Consumer<A> r = new Consumer<A>() { public void accept(A r) { } };", REDECLARED),
    "a label": (
        "here: for (;;) { Runnable r = new Runnable() { public void run() { here: go(); } }; }", REDECLARED),
    "a comment": ("Runnable r = new Runnable() { /* go */ public void run() { } };", COMMENT),
}  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), KEPT.values(), ids=KEPT.keys())
def test_what_stays_a_class(text: str, reason: str) -> None:
    assert refused(ANONYMOUS_TO_LAMBDA, text) == reason


LEFT = {
    "an argument": ("g(() -> go());", TARGET),
    "two types": ("g((Runnable & Serializable) () -> go());", TARGET),
    "no type": ("var r = (Runnable) null; g(x -> x);", TARGET),
    "a wildcard": ("Function<? super A, B> r = x -> null;", UNKNOWN),
    "an interface of the project": ("Task r = () -> go();", UNKNOWN),
    "this": ("Runnable r = () -> go(this);", ITSELF),
    "a reference to this": ("Supplier<A> r = () -> go(this::size);", ITSELF),
    "a method that the class has, too": ("Supplier<A> r = () -> get();", ITSELF),
    "one of every object": ("Supplier<String> r = () -> toString();", ITSELF),
    "other types": ("Consumer<A> r = (final @B A x) -> go(x);", OTHER_TYPES),
    "a parameter without a name": ("Consumer<A> r = _ -> go();", OTHER_TYPES),
    "a comment": ("Runnable r = () -> /* go */ go();", COMMENT),
}  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), LEFT.values(), ids=LEFT.keys())
def test_what_stays_a_lambda(text: str, reason: str) -> None:
    assert refused(LAMBDA_TO_ANONYMOUS, text) == reason


def test_this_of_a_class_around_or_inside_is_the_same() -> None:
    for inner in ("go(Outer.this);", "go(new Object() { int size() { return this.hashCode(); } });"):
        one = f"Runnable r = new Runnable() {{ @Override public void run() {{ {inner} }} }};"
        other = f"Runnable r = () -> {{ {inner} }};"
        assert everything(ANONYMOUS_TO_LAMBDA, one) == other
        assert everything(LAMBDA_TO_ANONYMOUS, other) == one


def test_a_constructor_may_not_have_set_what_a_lambda_names() -> None:
    text = "Runnable r = new Runnable() { public void run() { go(size); } };"
    assert refused(ANONYMOUS_TO_LAMBDA, text, "A(int a)") == CONSTRUCTING
    assert refused(LAMBDA_TO_ANONYMOUS, "Runnable r = () -> go(size);", "A(int a)") == CONSTRUCTING


def test_a_type_that_the_method_declares_is_not_the_known_one() -> None:
    text = "interface Runnable { void run(); } Runnable r = () -> go();"
    assert refused(LAMBDA_TO_ANONYMOUS, text) == REBOUND

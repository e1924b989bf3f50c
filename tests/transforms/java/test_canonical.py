"""The canonical form is one text for every legal order and every renaming, and does the same."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten, Transform
from codeaudit.transforms.java.canonical import canonicalise
from codeaudit.transforms.java.identifiers.rename import (
    RENAME,
    RENAME_PARAMETERS,
    RENAME_RANDOM,
    RENAME_SHUFFLE,
)
from codeaudit.transforms.java.order.reorder import REORDER
from tests.support.java_grammar import Writer
from tests.support.java_methods import METHODS
from tests.support.java_running import outputs
from tests.transforms.java.identifiers.test_sweep import methods

TRANSFORMS: tuple[Transform, ...] = (
    REORDER,
    RENAME,
    RENAME_PARAMETERS,
    REORDER,
    RENAME_SHUFFLE,
    RENAME_RANDOM,
)


def compared(source: str, seed: int) -> Counter[str]:
    """How many renamings and orders, alone and after one another, were seen to have the method's own form."""
    form = canonicalise(source)
    assert canonicalise(form) == form, source
    text, count = source, Counter[str]()
    for number, transform in enumerate(TRANSFORMS):
        for before in dict.fromkeys((source, text)):
            moves = transform.propose(before, Random(10 * seed + number))
            result = Refused("") if isinstance(moves, Refused) else transform.apply(before, moves)
            if isinstance(result, Rewritten):
                assert canonicalise(result.source) == form, f"{before}\n{result.source}"
                count[transform.name] += result.source != before
        text = result.source if isinstance(result, Rewritten) else text
    return count


def test_orders_and_names_of_one_method_have_one_form() -> None:
    one = "int f(int[] a) { int total = 0; int count = 1; for (int x : a) { total += x; count++; } return total / count; }"
    other = "int f(int[] q) { int n = 1; int s = 0; for (int t : q) { n++; s += t; } return s / n; }"
    assert canonicalise(one) == canonicalise(other)
    assert canonicalise(one) != canonicalise(other.replace("s / n", "n / s"))


def test_two_chains_that_look_alike_have_one_form() -> None:
    """Nothing after them tells them apart; which begins does not count, but each goes on as it began."""
    text = "void f() {{ int[] a = {{}}; int[] b = {{}}; int[][] c = {{ {} }}; int[][] d = {{ {} }}; }}"
    forms = {canonicalise(text.format(*names)) for names in ("ab", "ba")}
    assert len(forms) == 1
    assert canonicalise(text.format("a", "a")) not in forms


def test_names_that_two_blocks_share_tell_no_more_than_others() -> None:
    """The relation is more careful with two variables of one name; a renaming takes the name from them."""
    text = (
        "int f(boolean p, String s) { if (p) { String one = s; return one.length(); } "
        "else { %s g(s); return two + %s; } }"
    )
    forms = {
        canonicalise(text % (declared, name))
        for name in ("one", "other")
        for declared in (
            f"int {name}; int two = s.length(); {name} = 1;",
            f"int two = s.length(); int {name}; {name} = 1;",
        )
    }
    assert len(forms) == 1


def test_a_comment_tells_apart_what_else_looks_alike() -> None:
    lines = ["    int[] a = {}; // first\n", "    int[] b = {}; // second\n"]
    forms = {canonicalise(f"void f() {{\n{''.join(order)}}}") for order in (lines, lines[::-1])}
    assert len(forms) == 1


def test_a_name_behind_the_body_of_a_lambda_belongs_to_its_statement() -> None:
    text = "void f(A a, B b) {{ g(() -> {{ h(a); }}, {}); g(() -> {{ h(a); }}, {}); }}"
    assert canonicalise(text.format("a", "b")) != canonicalise(text.format("b", "b"))


def test_names_that_stand_for_something_else_are_not_taken() -> None:
    assert canonicalise("int f(int a) { return v0(a); }") == "int f(int vv0) { return v0(vv0); }"
    assert canonicalise("int f(int a) { return a + v0; }") == "int f(int vv0) { return vv0 + v0; }"
    assert (
        canonicalise("int f(int a) { return new v7().a + a; }")
        == "int f(int vv0) { return new v7().a + vv0; }"
    )
    assert canonicalise("int f(int v1) { return v1; }") == "int f(int v0) { return v0; }"


def test_only_the_last_method_of_a_text_has_a_form() -> None:
    text = "class A {\n    int x;\n    int g(int a) { return a; }\n    int f(int a) { return a; }\n}\n"
    assert canonicalise(text) == text.replace("f(int a) { return a", "f(int v0) { return v0")


def test_what_the_engines_leave_alone_is_its_own_form() -> None:
    for text in ("int f(int a) { return '\\u0061' + a; }", "abstract int f(int a);", "class A { int x; }"):
        assert canonicalise(text) == text


@pytest.mark.slow
def test_it_is_exactly_invariant_on_methods_full_of_traps() -> None:
    count = sum((compared(method.text, number) for number, method in enumerate(METHODS)), Counter[str]())
    assert sum(count.values()) > 200


@pytest.mark.slow
def test_it_is_exactly_invariant_on_random_methods() -> None:
    texts = [Writer(Random(f"canonical {number}")).method() for number in range(20)]
    count = sum((compared(text, number) for number, text in enumerate(texts)), Counter[str]())
    assert count["reorder"] > 30


@pytest.mark.parametrize(("name", "every"), [("java_methods", 400), ("defects4j_methods", 60)])
@pytest.mark.weekly
def test_it_is_exactly_invariant_on_real_methods(name: str, every: int) -> None:
    count = sum((compared(text, number) for number, text in enumerate(methods(name, every))), Counter[str]())
    assert sum(count.values()) > 200
    assert count["reorder"] > 15


@pytest.mark.slow
def test_it_does_the_same_when_run(tmp_path: Path) -> None:
    by_name = {f"B{number}": method for number, method in enumerate(METHODS)}
    by_name |= {
        f"V{number}": method._replace(text=canonicalise(method.text)) for number, method in enumerate(METHODS)
    }
    changed = sum(by_name[f"B{number}"] != by_name[f"V{number}"] for number in range(len(METHODS)))
    printed = outputs(by_name, tmp_path)
    for number in range(len(METHODS)):
        expected = printed[f"B{number}"].replace(f"B{number}", f"V{number}")
        assert printed[f"V{number}"] == expected, by_name[f"V{number}"].text
    assert changed > 0.8 * len(METHODS)


@pytest.mark.parametrize("source", ["int f(", "int f() { return 1"])
def test_what_is_not_java_is_refused(source: str) -> None:
    with pytest.raises(SourceError):
        canonicalise(source)

"""Which method of a text a transform is given."""

import pytest

from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.java.files import ESCAPED, NO_METHOD, REBOUND, function_context
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import NotApplied, Origin, Perturbed, Sample
from codeaudit.transforms.registry import transform_for

FILE = """\
package p;
import q.Runnable;
class A {
    int x;
    int f() { int a = 1; return a; }
    /** Doc of g. */
    @Override
    int g() { int b = 2; return b; }
    class B { }
    abstract int h(int c);
}
"""


def test_a_bare_method_is_all_of_its_text() -> None:
    source = "// one\n int f() { return 1; } // two"
    part = function_context(source)
    assert (part.before, part.source, part.after, part.obstacle) == ("", source, "", None)


def test_of_a_file_the_last_method_with_a_body() -> None:
    part = function_context(FILE)
    assert part.source == "@Override\n    int g() { int b = 2; return b; }"
    assert part.before + part.source + part.after == FILE
    assert part.obstacle is None


@pytest.mark.parametrize(
    ("source", "obstacle"),
    [
        (FILE.replace("b = 2;", "b = 2; Runnable r;"), REBOUND),
        ("class Comparator { } void f() { Comparator c; }", REBOUND),
        ("class A { int x; }", NO_METHOD),
        ("void f() { p('\\u0041'); }", ESCAPED),
        ("class A { int x = '\\u0041'; void f() { } }", ESCAPED),
    ],
)
def test_what_stands_in_the_way(source: str, obstacle: str) -> None:
    assert function_context(source).obstacle == obstacle


def test_what_does_not_parse() -> None:
    with pytest.raises(SourceError):
        function_context("void f( {")


def test_edits_stay_in_the_method() -> None:
    (outcome,) = perturb_one(_sample(FILE), transform_for("rename", "java"), variants=1, seed=0)
    assert isinstance(outcome, Perturbed)
    before, _, after = FILE.partition("int b = 2; return b;")
    assert outcome.source.startswith(before)
    assert outcome.source.endswith(after)
    assert outcome.evidence == "analysis"


def test_reasons_are_counted() -> None:
    for source, reason in (("class A { int x; }", NO_METHOD), ("class {", NOT_PARSED)):
        (outcome,) = perturb_one(_sample(source), transform_for("rename", "java"), variants=1, seed=0)
        assert isinstance(outcome, NotApplied)
        assert outcome.reason == reason


def test_the_identity_keeps_every_byte() -> None:
    (outcome,) = perturb_one(_sample(FILE), transform_for("identity", "java"), variants=4, seed=0)
    assert isinstance(outcome, Perturbed)
    assert outcome.source == FILE


def _sample(source: str) -> Sample:
    return Sample(id="s", language="java", source=source, label=None, origin=Origin(path="A.java", line=1))


@pytest.mark.parametrize(
    "file",
    [
        "class A { String f(String a) { return a; } static class StringBuilder { } }",
        "import my.StringBuilder;\nclass A { int f(int a) { return a; } }",
        "class A<String> { int f(int a) { return a; } }",
    ],
)
def test_a_name_that_a_transform_may_insert_means_the_type(file: str) -> None:
    assert function_context(file).obstacle == REBOUND

"""Output prediction: which texts are examples, which answers are the same, and what controls do to them."""

import ast
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeaudit.audit.corpora.calls import parted
from codeaudit.audit.records import Predicted
from codeaudit.audit.registry import TASKS
from codeaudit.audit.tasks.output_prediction import OUTPUT_PREDICTION
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.records import Kind, Origin, Perturbed, Sample

TEXT = "import re\n\ndef f(a, b=2):\n    return a\n\n\nf('x y', [1])"


def sample(source: str = TEXT, label: str | None = "1", language: str = "python") -> Sample:
    return Sample(id="s", language=language, source=source, label=label, origin=Origin(path="a", line=1))


def perturbed(before: str | None, after: str | None, kind: Kind) -> Perturbed:
    return Perturbed(
        sample=replace(sample(label=before), label=after),
        transform="t",
        kind=kind,
        variant=0,
        source="x",
        moves=(),
        evidence="none",
    )


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_the_last_line_is_the_call(end: str) -> None:
    assert parted(TEXT + end) == ("import re\n\ndef f(a, b=2):\n    return a", "f('x y', [1])")


@pytest.mark.parametrize(
    "source",
    [
        "",
        "# f(1)",
        "def f(): return 1\n",
        "def f(): return 1\nf",
        "def f(): return 1\ng()",
        "def f(): return 1\nf().real",
        "def f(): return 1\nf(\n)",
        "def f(): return 1\nf() # now",
        "def f(): return 1\nx = 1; f()",
        "def f(): return 1\nprint(f())",
        "def f(): return 1\nf()\n# end",
        "f = abs\nf(1)",
    ],
)
def test_what_does_not_end_with_a_call(source: str) -> None:
    if source.endswith("# now"):  # a comment is no other statement
        assert parted(source) == ("def f(): return 1", "f() # now")
    else:
        assert parted(source) is None
        assert OUTPUT_PREDICTION.prepare(sample(source)) == "no call on the last line"


def test_what_is_no_example_says_why() -> None:
    assert OUTPUT_PREDICTION.prepare(sample()) == sample()
    assert OUTPUT_PREDICTION.prepare(sample(language="java")) == "neither Python, JavaScript, C nor C++"
    assert OUTPUT_PREDICTION.prepare(sample("def f(:")) == "source does not parse"
    assert OUTPUT_PREDICTION.prepare(sample(label=None)) == "no result"
    with pytest.raises(SourceError):
        parted("def f(:")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", " +1 "),
        ("[1,2]", "[ 1, 2 ]"),
        ("'a'", '"a"'),
        ("'a'", '"""a"""'),
        ("'a\\n'", "'a' '\\n'"),
        ("(1,)", "(1, )"),
        ("{1, 2}", "{2, 1, 1}"),
        ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}"),
        ("[{'b': {2, 1}, 'a': 0}]", "[{'a': 0, 'b': {1, 2}}]"),
        ("1e3", "1000.0"),
        ("0x10", "16"),
        ("-1", "- 1"),
        ("nan", "float('nan')"),
        ("-inf", "float('-inf')"),
        ("[nan, 1]", "[ nan,1 ]"),
        ("(1+2j)", "1 + 2j"),
        ("frozenset({1, 2})", "frozenset({2, 1})"),
        ("set()", "set( )"),
        ("ValueError", "ValueError: no such thing"),
        ("ValueError", "ValueError('no such\nthing')"),
        ("ValueError", "raises ValueError"),
        ("ValueError", "raise ValueError"),
        ("KeyError", "builtins.KeyError"),
        ("StopIteration", "StopIteration()"),
        ("<object>", " <object> "),
    ],
)
def test_answers_that_are_the_same(one: str, other: str) -> None:
    answers = [OUTPUT_PREDICTION.normalise(text) for text in (one, other)]
    assert answers[0] is not None
    assert OUTPUT_PREDICTION.same(Predicted(answer=answers[0]), Predicted(answer=answers[1] or ""))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "1.0"),
        ("1", "True"),
        ("1", "'1'"),
        ("0", "False"),
        ("0.0", "-0.0"),
        ("[1]", "(1,)"),
        ("[1, 2]", "[2, 1]"),
        ("(1, 2)", "{1, 2}"),
        ("{1}", "frozenset({1})"),
        ("{}", "set()"),
        ("'a'", "b'a'"),
        ("'a'", "a"),
        ("'a'", "'A'"),
        ("'a b'", "'ab'"),
        ("None", "'None'"),
        ("ValueError", "'ValueError'"),
        ("ValueError", "TypeError"),
        ("nan", "'nan'"),
        ("inf", "-inf"),
        ("{'a': 1}", "{'a': 2}"),
    ],
)
def test_answers_that_differ(one: str, other: str) -> None:
    answers = [OUTPUT_PREDICTION.normalise(text) for text in (one, other)]
    assert None not in answers
    assert answers[0] != answers[1]


@pytest.mark.parametrize("answer", [None, "", " \n", 1, 1.5, True, ["a"], ("a",), {"a": 1}])
def test_only_a_text_is_an_answer(answer: object) -> None:
    assert OUTPUT_PREDICTION.normalise(answer) is None


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5000,
        "1" * 5000,
        "0x" + "f" * 5000,
        "'\\d'",
        "f(1)",
        "{**{}}",
        "f'{1}'",
        "a\0b",
        "1 if",
        "\ud800",
    ],
)
def test_a_text_that_shows_no_value_stays_a_text(text: str) -> None:
    if text == "'\\d'":  # a warning of the parser's, and a value all the same
        assert OUTPUT_PREDICTION.normalise(text) == "'\\\\d'"
    else:
        assert OUTPUT_PREDICTION.normalise(text) == text


ATOMS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.complex_numbers()
)
KEYS = st.booleans() | st.integers() | st.text() | st.tuples(st.integers())
VALUES = st.recursive(
    ATOMS, lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(KEYS, inner) | st.sets(KEYS)
)


@pytest.mark.slow
@given(VALUES)
def test_the_form_of_a_value_is_its_own_form_and_shows_it(value: object) -> None:
    form = OUTPUT_PREDICTION.normalise(repr(value))
    assert form is not None
    assert OUTPUT_PREDICTION.normalise(form) == form
    if "nan" not in form and "inf" not in form and "set" not in form:
        assert ast.literal_eval(form) == value


def test_accuracy() -> None:
    right, wrong, unknown = sample(label="1"), sample(label="2"), sample(label=None)
    assert OUTPUT_PREDICTION.score("1", right) == 1.0
    assert OUTPUT_PREDICTION.score("1", wrong) == 0.0
    assert OUTPUT_PREDICTION.score("1", unknown) is None
    assert OUTPUT_PREDICTION.corpus_score([("1", right), ("1", wrong), ("1", unknown)]) == 0.5
    assert OUTPUT_PREDICTION.corpus_score([("1", unknown)]) is None
    assert TASKS.get("output-prediction") is OUTPUT_PREDICTION


@pytest.mark.parametrize(
    ("before", "after", "kind", "expected"),
    [
        ("1", "1", "preserving", "same"),
        ("1", None, "preserving", "same"),
        ("1", "2", "preserving", "other"),
        ("1", "1", "identity", "same"),
        ("1", "1", "control", "same"),
        ("1", "2", "control", "other"),
        ("1", "ValueError", "control", "other"),
        ("1", None, "control", "unknown"),
        (None, "1", "control", "unknown"),
    ],
)
def test_the_results_say_what_becomes_of_the_right_answer(
    before: str | None, after: str | None, kind: Kind, expected: str
) -> None:
    assert OUTPUT_PREDICTION.expects(sample(label=before), perturbed(before, after, kind)) == expected

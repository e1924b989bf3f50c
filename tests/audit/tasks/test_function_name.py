"""Function names: how they are taken apart, masked, compared and scored."""

import ast
import re
from random import Random

import pytest

from codeaudit.audit.records import Predicted
from codeaudit.audit.tasks.function_name import FUNCTION_NAME, MASK, counts, masked, subtokens
from codeaudit.transforms.records import Origin, Sample


def sample(source: str, label: object = None, language: str = "python") -> Sample:
    assert label is None or isinstance(label, str | tuple)
    return Sample(id="s", language=language, source=source, label=label, origin=Origin(path="a.py", line=1))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("parse_line", ("parse", "line")),
        ("parseHTTPResponse", ("parse", "http", "response")),
        ("_private__twice_", ("private", "twice")),
        ("to_utf8", ("to", "utf", "8")),
        ("HTML2Text", ("html", "2", "text")),
        ("zähleWörter", ("zähle", "wörter")),
        ("X", ("x",)),
        ("_", ()),
        ("", ()),
    ],
)
def test_a_name_falls_into_lower_cased_subtokens(name: str, expected: tuple[str, ...]) -> None:
    assert subtokens(name) == expected


def test_the_name_is_masked_wherever_it_stands() -> None:
    source = '''@cache.add
def add(self, x):
    """add x; see add() and address, readd."""
    # add again
    if x.add:
        return self.add(x, add=1) + f"{add(x)}"
    return "add"
'''
    prepared = FUNCTION_NAME.prepare(sample(source))
    assert isinstance(prepared, Sample)
    assert prepared.label == ("add",)
    assert (
        prepared.source
        == '''@cache.MASK
def MASK(self, x):
    """MASK x; see MASK() and address, readd."""
    # MASK again
    if x.MASK:
        return self.MASK(x, MASK=1) + f"{MASK(x)}"
    return "MASK"
'''
    )


def test_a_taken_mask_is_numbered() -> None:
    source = "def go(MASK, MASK_1):\n    x = MASK\n    return go(x, MASK_1)\n"
    prepared = FUNCTION_NAME.prepare(sample(source))
    assert isinstance(prepared, Sample)
    assert prepared.source.startswith("def MASK_2(MASK, MASK_1):")
    assert "return MASK_2(x, MASK_1)" in prepared.source


def test_a_function_called_like_a_string_prefix_leaves_strings_alone() -> None:
    assert masked('def f(x):\n    return f(f"{x}")', "f") == f'def {MASK}(x):\n    return {MASK}(f"{{x}}")'


@pytest.mark.parametrize("name", ["f", "rb", "go", "a_b", "x1", "é", "MASK", "gogo"])
def test_the_name_is_masked_where_it_is_a_whole_word(name: str) -> None:
    """As a regular expression finds it, in texts of all neighbours."""
    random, signs = (
        Random(name),
        [name, "MASK", "MASK_1", " ", "(", "_", "1", "é", "ß", "²", "'", '"', ".", "\n"],
    )
    tail = r"(?![\w'\"])" if name in ("f", "rb") else r"(?!\w)"
    total = 0
    for _ in range(3000):
        text = "".join(random.choices(signs, k=random.randint(0, 9)))
        mask = next(
            mask for mask in ("MASK", "MASK_1", "MASK_2") if not re.search(rf"(?<!\w){mask}(?!\w)", text)
        )
        wanted, count = re.subn(rf"(?<!\w){re.escape(name)}{tail}", mask, text)
        assert masked(text, name) == wanted
        total += count
    assert total > 100


def test_the_last_of_several_functions_is_the_asked_one() -> None:
    prepared = FUNCTION_NAME.prepare(
        sample("def helper(x):\n    return x\n\ndef main_loop(y):\n    return helper(y)\n")
    )
    assert isinstance(prepared, Sample)
    assert prepared.label == ("main", "loop")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def __init__(self):\n    pass\n", "dunder name"),
        ("def test_it():\n    pass\n", "test"),
        ("def testCase(self):\n    pass\n", "test"),
        ("def _():\n    pass\n", "name without letters"),
        ("x = 1\n", "no function to name"),
        ("def broken(:\n", "no function to name"),
        ("(" * 5000, "no function to name"),
        ("def match(x):\n    match x:\n        case 1:\n            return 2\n", "name cannot be masked"),
    ],
)
def test_what_is_no_example_says_why(source: str, reason: str) -> None:
    assert FUNCTION_NAME.prepare(sample(source)) == reason


def test_names_that_only_look_like_tests_are_examples() -> None:
    assert isinstance(FUNCTION_NAME.prepare(sample("def testify(x):\n    return x\n")), Sample)
    assert isinstance(FUNCTION_NAME.prepare(sample("def attest(x):\n    return x\n")), Sample)


def test_other_languages_take_the_name_from_the_row() -> None:
    prepared = FUNCTION_NAME.prepare(sample("int addAll(int x) { return addAll(x); }", "addAll", "java"))
    assert isinstance(prepared, Sample)
    assert prepared.source == "int MASK(int x) { return MASK(x); }"
    assert prepared.label == ("add", "all")


def test_masked_source_parses_and_keeps_its_shape() -> None:
    source = "def name(a, *, name=None):\n    return lambda: name\n"
    assert ast.dump(ast.parse(masked(source, "name"))).count(MASK) == 3


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("getValue", ("get", "value")),
        ("get value", ("get", "value")),
        ("this function reads a file", None),
        ("Reads a file.", None),
        ("a\nb", None),
        (["value", "get", "get"], ("get", "value")),
        (("get_value",), ("get", "value")),
        ([], ()),
        ("", None),
        (3.0, None),
        ([1], None),
        (None, None),
    ],
)
def test_answers_become_sorted_sets(answer: object, expected: tuple[str, ...] | None) -> None:
    assert FUNCTION_NAME.normalise(answer) == expected


def test_equal_sets_are_the_same_answer() -> None:
    before = Predicted(answer=("a", "b"))
    assert FUNCTION_NAME.same(before, Predicted(answer=("a", "b"), margin=0.1))
    assert not FUNCTION_NAME.same(before, Predicted(answer=("a",)))


def test_scores_are_f1_on_sets() -> None:
    truth = sample("", ("get", "value"))
    assert FUNCTION_NAME.score(("get", "value"), truth) == 1.0
    assert FUNCTION_NAME.score(("get", "item"), truth) == 0.5
    assert FUNCTION_NAME.score((), truth) == 0.0
    assert FUNCTION_NAME.score(("get",), sample("")) is None


def test_the_corpus_score_is_micro_averaged() -> None:
    answers = [(("get", "value"), sample("", ("get", "value"))), (("x",), sample("", ("a", "b", "c")))]
    assert counts(("x",), sample("", ("a", "b", "c"))) == (0, 1, 3)
    assert FUNCTION_NAME.corpus_score(answers) == 2 * 2 / (2 * 2 + 1 + 3)
    assert FUNCTION_NAME.corpus_score([]) is None
    assert FUNCTION_NAME.corpus_score([(("x",), sample(""))]) is None

"""Output and input prediction in C and C++: values, calls, questions, answers, variants."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from codeaudit.audit.corpora import c_calls, c_harness
from codeaudit.audit.corpora.c_values import value_text
from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.evidence_check import DIFFERS
from codeaudit.audit.models.text_models import Prompts
from codeaudit.audit.records import Attempt, Case, Predicted, Query
from codeaudit.audit.tasks.input_prediction import INPUT_PREDICTION, NO_ARGUMENTS, Inputs, arguments
from codeaudit.audit.tasks.output_prediction import OTHER_RESULT, OUTPUT_PREDICTION, Outputs
from codeaudit.audit.tasks.written_values import VALUES
from codeaudit.transforms.oracle.calls import Result, Returned, Unknown
from codeaudit.transforms.oracle.containment import offered
from codeaudit.transforms.oracle.programs import NOT_COMPILED, ProgramCaller
from codeaudit.transforms.oracle.server import CPU, TOO_MUCH
from codeaudit.transforms.oracle.single import NO_RETURN, NOT_PLAIN, THROWS, TOO_LONG, UNDEFINED, UNSTABLE
from codeaudit.transforms.oracle.toolchains import SANITIZED
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import NotApplied, Perturbed, Sample
from codeaudit.transforms.registry import transform_for
from tests.support.audited import variant
from tests.support.prepared_rows import prepared_row

runs = [
    pytest.mark.slow,
    pytest.mark.skipif(
        any(bool(SANITIZED[language].missing) for language in ("c", "cpp")) or not offered().enough,
        reason="no gcc or g++ with sanitizers, or no sandbox on this machine",
    ),
]


def running(test: Callable[..., None]) -> Callable[..., None]:
    for mark in runs:
        test = mark(test)
    return test


HUMANEVAL_X = {
    "task_id": "CPP/0",
    "prompt": "/*\nAre two numbers closer than a threshold?\n>>> close({1.0, 2.0, 3.0}, 0.5)\nfalse\n*/\n"
    "#include<stdio.h>\n#include<vector>\n#include<math.h>\nusing namespace std;\n"
    "bool close(vector<float> numbers, float threshold){\n",
    "declaration": "bool close(vector<float> numbers, float threshold){\n",
    "canonical_solution": "    int i,j;\n\n    for (i=0;i<numbers.size();i++)\n"
    "    for (j=i+1;j<numbers.size();j++)\n    if (abs(numbers[i]-numbers[j])<threshold)\n"
    "    return true;\n\n    return false;\n}\n\n",
    "test": "#undef NDEBUG\n#include<assert.h>\nint main(){\n    vector<float> a={1.0, 2.0, 3.9,\n      4.0};\n"
    "    assert (close(a, 0.3)==true);\n    assert (close({1.0f, 2, 3}, .5) == false);\n}\n",
}
MULTIPL_E = {
    "name": "HumanEval_1_total",
    "language": "cpp",
    "prompt": "#include<assert.h>\n#include<vector>\n// >>> total((std::vector<long>({(long)1l})))\n"
    "// (1l)\nlong total(std::vector<long> numbers) {\n",
    "canonical_solution": "    long sum = 0;\n    for (long one : numbers) {\n        sum += one;\n    }\n"
    "    return sum;\n}\n",
    "tests": "}\nint main() {\n    auto candidate = total;\n"
    "    assert(candidate((std::vector<long>({(long)1}))) == (1));\n"
    "    assert(candidate((std::vector<long>({(long)5l, (long)7l}))) == (12l));\n}\n",
    "stop_tokens": ["\n}"],
}
SUM = (
    "int sum(int *v, int n) {\n  int total = 0;\n  for (int i = 0; i < n; i++) {\n    total += v[i];\n  }\n"
    "  return total;\n}\n"
)
IN_C = {
    "code": SUM,
    "language": "c",
    "entry_point": "sum",
    "test": "int main(void) {\n  int a[] = {1, 2, 3};\n  assert(sum(a, 3) == 6);\n}\n",
}
EDITS = ("rename", "rename-parameters")
HALF = {
    "code": "double f(int a) {\n  return a / 2.0;\n}\n",
    "language": "c",
    "input": "3",
    "output": "1.5",
}


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "texts",
    [
        ("{1, 2}", "[1,2]", "(1, 2)", "std::vector<int>{1, 2}", "vector<int>({1, 2})", "(int[]){1, 2}"),
        (
            "{1, 2}",
            "std::make_pair(1, 2)",
            "std::pair<int, int>(1, 2)",
            "{ 0x1, 02, }",
            "std::set<int>{1u, 2L}",
        ),
        ("3", "3ULL", "(3)", "(long)3", "0b11", "+3"),
        ("3.0", "3.f", "3e0", "(double)3", "float(3)"),
        ("0.0", "-0.0", ".0"),
        ("true", " true "),
        ("'a'", r"'\x61'", r"'\141'"),
        ('"a\\n\\"é"', r'"\x61" "\n\"\303\251"', 'std::string("a\\n\\"\\u00e9")', '(char[]){"a\\012\\"é"}'),
        ('{{"a", 1}}', '{"a": 1}', 'std::map<std::string, long>({{"a", 1}})'),
        ("NULL", "nullptr"),
        ("NAN", "nan", "-NAN"),
        ("-INFINITY", "-inf"),
        ("{}", "std::vector<int>()", "vector<vector<int>>{}"),
    ],
)
def test_texts_of_equal_values_are_written_in_one_way(texts: tuple[str, ...]) -> None:
    assert {value_text(text) for text in texts} == {texts[0]}


def test_other_values_are_written_otherwise() -> None:
    texts = ("3", "3.0", "true", "1", "'1'", '"1"', "{1}", "{{1}}", "{}", '""', '{"1"}', "NULL", "0", "-3")
    assert len({value_text(text) for text in texts}) == len(texts)


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "f(1)",
        "exit(0)",
        "1, 2",
        "std::vector<int>(3)",
        "std::string(3, 'a')",
        "'ab'",
        "''",
        "08",
        '"a',
        "--3",
    ],
)
def test_what_is_no_literal_is_no_value(text: str) -> None:
    assert value_text(text) is None


def results(language: str, program: str, *calls: str) -> dict[str, Result]:
    caller = ProgramCaller(SANITIZED[language], cpu_seconds=1.0)
    return dict(zip(calls, caller.results([(program, call) for call in calls]), strict=True))


@running
def test_results_of_c_are_literals_of_their_types() -> None:
    program = r"""
double g(double x) { return x / 3; } float h(float x) { return x / 3; } char c(int x) { return x; }
char *s(char *x) { x[0] = 'q'; return x; } const char *t(int n) { return n ? "a\"\\\n\303" : 0; }
_Bool b(int n) { return n; } int u(int n) { return n + 2147483647; } int o(int *v, int n) { return v[n]; }
struct p { int a; }; struct p q(int n) { struct p x = {n}; return x; } int e(int n) { exit(n); }
unsigned long long big(void) { return ~0ULL; } long long low(void) { return -9223372036854775807LL - 1; }
"""
    known = {
        "g(1)": "0.3333333333333333", "g(6)": "2.0", "g(-0.0)": "0.0", "h(1)": "0.33333334", "c('a')": "'a'",
        's((char[]){"abc"})': '"qbc"', "t(1)": r'"a\"\\\012\303"', "t(0)": "NULL", "b(2)": "true",
        "o((int[]){1, 2}, 1)": "2", "big()": "18446744073709551615", "low()": "-9223372036854775808",
    }  # fmt: skip
    unknown = {
        's("abc")': UNDEFINED, "u(1)": UNDEFINED, "o((int[]){1, 2}, 2)": UNDEFINED, "q(1)": NOT_PLAIN,
        "e(0)": NO_RETURN, "e(0, 1)": NOT_COMPILED,
    }  # fmt: skip
    by_call = results("c", program, *known, *unknown)
    assert by_call == {
        **{call: Returned(text) for call, text in known.items()},
        **{call: Unknown(reason) for call, reason in unknown.items()},
    }


@running
@pytest.mark.parametrize(
    ("body", "reason"),
    [('for (int k = 0; k < 99999; k++) puts("much to read");', TOO_MUCH), ("for (;;) n++, n = 0;", CPU)],
)
def test_what_has_no_end_has_no_result(body: str, reason: str) -> None:
    by_call = results("c", f"int f(int n) {{ {body} return n; }}", "f(1)")
    assert by_call == {"f(1)": Unknown(reason)}


@running
def test_a_result_that_is_not_the_same_each_time_is_unknown() -> None:
    by_call = results(
        "c", "long f(int n) { int fresh; return (long)&fresh; } int g(int n) { return n; }", "f(1)", "g(2)"
    )
    assert by_call == {"f(1)": Unknown(UNSTABLE), "g(2)": Returned("2")}


@running
def test_results_of_cpp_are_literals_of_their_types() -> None:
    program = r"""
#include <stdexcept>
using namespace std;
vector<string> f(vector<int> v) { vector<string> r; for (int x : v) r.push_back(to_string(x)); return r; }
map<string, double> m(string s) { return {{s + "b", 0.1}, {s, 2}}; } int at(vector<int> v) { return v[3]; }
tuple<int, char> t(bool b) { if (b) throw std::runtime_error("runtime error: x"); return {1, 'x'}; }
vector<bool> vb(int n) { return vector<bool>(n, true); } struct S { int a; }; S strange(int n) { return {n}; }
pair<string, vector<vector<int>>> pp(int n) { return {"a", {{1}, {}, {n}}}; }
"""
    known = {
        "f({1, 2})": '{"1", "2"}', "f({})": "{}", 'm("a")': '{{"a", 2.0}, {"ab", 0.1}}', "t(false)": "{1, 'x'}",
        "vb(2)": "{true, true}", "pp(3)": '{"a", {{1}, {}, {3}}}',
    }  # fmt: skip
    unknown = {
        "t(true)": THROWS, "vb(501)": TOO_LONG, "at({1, 2})": UNDEFINED, "strange(1)": NOT_PLAIN,
    }  # fmt: skip
    by_call = results("cpp", program, *known, *unknown)
    assert by_call == {
        **{call: Returned(text) for call, text in known.items()},
        **{call: Unknown(reason) for call, reason in unknown.items()},
    }


# ── examples ─────────────────────────────────────────────────────────────────────────────────────────────


@running
@pytest.mark.parametrize(
    ("row", "call", "result"),
    [
        (HUMANEVAL_X, "close({1.0, 2.0, 3.9, 4.0}, 0.3);", "true"),
        (MULTIPL_E, "total(std::vector<long>({5l, 7l}));", "12"),
        (IN_C, "sum((int[]){1, 2, 3}, 3);", "6"),
        (HALF, "f(3);", "1.5"),
        ({"code": f"{SUM}\nsum((int[]){{4, 5}}, 1);\n", "language": "c"}, "sum((int[]){4, 5}, 1);", "4"),
    ],
)
def test_calls_of_tests_and_tables_are_asked_unless_the_text_shows_them(
    outputs: Outputs, tmp_path: Path, row: Mapping[str, object], call: str, result: str
) -> None:
    example = prepared_row(outputs, tmp_path, row)
    assert isinstance(example, Sample), example
    assert (example.source.splitlines()[-1], example.label) == (call, result)
    assert OUTPUT_PREDICTION.prepare(example) == example


TESTED = r"""
int main() {
  std::vector<int> a = {1,
    2}, grown = {};
  grown.push_back(3);
  std::string s = "f(8)";
  int n = 4;
  assert(f(a, "x  y") == 1); // f({9}, "z")
  assert(same(f({}, s), f(std::vector<int>({(int)5}), ("w")), f(grown, s)));
  n = other();
  f({n}, s), f({}), f({}, s, 1), f(make(), s), o.f({7}, s), ff({7}, s);
  s = "b";
  candidate(a, s);
}
"""
"""Calls of a function of a vector and a string."""


def test_calls_of_tests_have_literals_or_variables_made_of_them() -> None:
    source = "int f(std::vector<int> v, std::string s) {\n  return 1;\n}\n"
    raw = raw_sample(source, language="cpp", label="f", path="a", line=1, tests=TESTED)
    assert [*c_calls.OF_CPP.tested(raw, frozenset({"f", "candidate"}))] == [
        '{1, 2}, "x  y"',
        '{9}, "z"',
        '{}, "f(8)"',
        'std::vector<int>({5}), "w"',
        '{1, 2}, "b"',
    ]


def test_arrays_of_c_are_compound_literals() -> None:
    source = "int f(const char *s, int *v, int n) {\n  return 1;\n}\n"
    tests = 'int main(void) { char s[] = "ab"; const int v[2] = {1, 2}; const char *t = "c"; f(s, v, 2); f(t, v, 1); }'
    raw = raw_sample(source, language="c", label="f", path="a", line=1, tests=tests)
    assert [*c_calls.OF_C.tested(raw, frozenset({"f"}))] == [
        '(char[]){"ab"}, (const int[2]){1, 2}, 2',
        '"c", (const int[2]){1, 2}, 1',
    ]


@running
@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("c", "double mid(double a, unsigned b) {\n  double total = a + b;\n  return total / 2;\n}\n"),
        (
            "c",
            "int count(const char *s, char c) {\n  int n = 0;\n  for (; s && *s; s++) n += *s == c;\n  return n;\n}\n",
        ),
        ("c", "char first(char *s, int n) {\n  if (!s || n < 1) return 'x';\n  return s[0];\n}\n"),
        ("c", SUM),
        ("cpp", "int all(const std::map<std::string, int> &m, bool b) {\n  return m.size() + b;\n}\n"),
    ],
)
def test_arguments_are_drawn_where_there_are_no_tests(
    outputs: Outputs, tmp_path: Path, language: str, code: str
) -> None:
    example = prepared_row(outputs, tmp_path, {"code": code, "language": language})
    assert isinstance(example, Sample), example
    assert example == prepared_row(outputs, tmp_path, {"code": code, "language": language})


def test_what_has_no_call_says_why(outputs: Outputs, tmp_path: Path) -> None:
    for code, reason in {
        "void f(int *v) {\n  *v = 1;\n}\n": c_calls.NO_VALUE,
        "int f(int a) {\n  return a;\n}\nint main(void) {\n  return f(1);\n}\n": c_harness.PROGRAM,
        "int f(int (*g)(int)) {\n  return g(1);\n}\n": c_harness.TAKES_FUNCTION,
    }.items():
        assert prepared_row(outputs, tmp_path, {"code": code, "language": "c"}) == reason
    changed = "int f(std::vector<int> &v) {\n  v.clear();\n  return 1;\n}\n"
    assert prepared_row(outputs, tmp_path, {"code": changed, "language": "cpp"}) == c_calls.BY_REFERENCE


@running
def test_a_call_without_a_right_answer_is_no_example(outputs: Outputs, tmp_path: Path) -> None:
    over = "int f(int n) {\n  return n;\n}\nint over(int n) {\n  int *p = 0;\n  return *p + n;\n}\n"
    assert prepared_row(outputs, tmp_path, {"code": over, "language": "c"}) == UNDEFINED
    assert prepared_row(outputs, tmp_path, {**HALF, "output": "1"}) == OTHER_RESULT
    needs = "int f(int a) {\n  return other(a);\n}\n"
    assert prepared_row(outputs, tmp_path, {**HALF, "code": needs}) == NOT_COMPILED


def test_without_a_compiler_the_reason_is_one_line(
    outputs: Outputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codeaudit.transforms.oracle.toolchains.installed", lambda tool: None)
    for row in (IN_C, {"code": SUM, "language": "c"}):
        reason = prepared_row(outputs, tmp_path, row)
        assert isinstance(reason, str)
        assert reason.startswith("gcc, which runs C under sanitizers, ")
        assert "\n" not in reason


# ── variants ─────────────────────────────────────────────────────────────────────────────────────────────


@running
def test_each_variant_is_executed(outputs: Outputs, tmp_path: Path) -> None:
    example = prepared_row(outputs, tmp_path, MULTIPL_E)
    assert isinstance(example, Sample)
    given = (
        variant(example, "sum", "whole"),
        variant(example, "sum += one", "sum += one + 1"),
        variant(example, "sum += one", "sum -= one", "control"),
        variant(example, "sum += one", "sum += one * (1L << 62)", "control"),
    )
    (case,) = outputs.relabelled(iter([Case(sample=example, outcomes=given)]))
    kept, broken, control, undefined = case.outcomes
    assert isinstance(kept, Perturbed)
    assert kept.evidence == "executed"
    assert isinstance(broken, NotApplied)
    assert broken.reason == DIFFERS
    assert isinstance(control, Perturbed)
    assert control.sample.label == "-12"
    assert OUTPUT_PREDICTION.expects(example, control) == "other"
    assert isinstance(undefined, Perturbed)
    assert undefined.sample.label != "12"


@running
@pytest.mark.parametrize("row", [IN_C, HUMANEVAL_X])
def test_the_call_stays_on_the_last_line_of_a_variant(
    outputs: Outputs, tmp_path: Path, row: Mapping[str, object]
) -> None:
    example = prepared_row(outputs, tmp_path, row)
    assert isinstance(example, Sample)
    edits = [
        next(perturb_one(example, transform_for(name, example.language), variants=1, seed=0))
        for name in EDITS
    ]
    (case,) = outputs.relabelled(iter([Case(sample=example, outcomes=tuple(edits))]))
    for outcome in case.outcomes:
        assert isinstance(outcome, Perturbed), outcome
        assert outcome.evidence == "executed"
        assert outcome.source.splitlines()[-1] == example.source.splitlines()[-1]


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("[1, 2]", "{1, 2}"),
        ("```cpp\nstd::vector<int>{1, 2}\n```", "{1, 2}"),
        ("`3.0f;`", "3.0"),
        ("Answer: 'a'", "'a'"),
        ('The call returns `"a b"`.', '"a b"'),
        ("true", "true"),
    ],
)
def test_replies_are_read_as_values_of_the_language(language: str, reply: str, answer: str) -> None:
    query = Query(task="output-prediction", language=language, source="f(1);")
    prompt = Prompts().of(query)
    assert "repr" not in prompt.text(query)
    read = prompt.read(reply)
    assert isinstance(read, Predicted), read
    assert OUTPUT_PREDICTION.speaking(language).normalise(read.answer) == answer


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{1, 2}, 3", "{1, 2}, 3"),
        ('assert_equal(f("a b"), 3);', '"a b"'),
        ("assert(f((int[]){1}, 1) == 1);", "(int[]){1}, 1"),
        ("It is:\n```cpp\nf((float)1.5f)\n```", "1.5f"),
        ("f()", ""),
        ("f(/* arguments */)", None),
        ("f(exit(0))", None),
        ("f(1)(2)", None),
        ("g(1)", None),
    ],
)
def test_answers_are_literal_arguments(text: str, found: str | None) -> None:
    assert arguments(text, "f", "cpp") == found


@running
@pytest.mark.parametrize(
    ("row", "question", "right", "wrong"),
    [
        (IN_C, "assert_equal(sum(/* arguments */), 6);", "sum((int[]){6}, 1)", "(int[]){1, 2}, 2"),
        (MULTIPL_E, "assert_equal(total(/* arguments */), 12);", "{3, 4, 5}", "total({13})"),
    ],
)
def test_arguments_that_give_the_value_are_right(
    inputs: Inputs, tmp_path: Path, row: Mapping[str, object], question: str, right: str, wrong: str
) -> None:
    example = prepared_row(inputs, tmp_path, row)
    assert isinstance(example, Sample), example
    assert example.source.splitlines()[-1] == question
    assert INPUT_PREDICTION.prepare(example) == example
    given = Predicted(answer=(right, wrong, "f(x)"))
    graded = INPUT_PREDICTION.graded(given, example.source, example)
    assert isinstance(graded, Predicted)
    assert isinstance(graded.answer, tuple)
    failures = [attempt.failure for attempt in graded.answer if isinstance(attempt, Attempt)]
    assert failures[0] is None
    assert failures[1] is not None
    assert failures[2] == NO_ARGUMENTS


@running
def test_variants_of_a_question_are_executed_with_the_known_arguments(inputs: Inputs, tmp_path: Path) -> None:
    example = prepared_row(inputs, tmp_path, IN_C)
    assert isinstance(example, Sample), example
    given = (
        variant(example, "total", "whole"),
        variant(example, "total += v[i]", "total += v[i] + 1"),
        variant(example, "total += v[i]", "total -= v[i]", "control"),
    )
    (case,) = inputs.relabelled(iter([Case(sample=example, outcomes=given)]))
    kept, broken, control = case.outcomes
    assert isinstance(kept, Perturbed)
    assert isinstance(broken, NotApplied)
    assert isinstance(control, Perturbed)
    assert (kept.evidence, broken.reason, control.evidence) == ("executed", DIFFERS, "executed")


def test_each_language_with_values_has_questions_in_its_own_words() -> None:
    for language in VALUES:
        task = OUTPUT_PREDICTION.speaking(language)
        assert (task.answered_in, task.speaking("python").answered_in) == (language, "python")
        assert INPUT_PREDICTION.refuses(language) == ""

"""Steps as they stand in published suites, which do not keep the meaning."""

from collections.abc import Callable
from random import Random
from types import ModuleType

import pytest

Script = Callable[[str], ModuleType]


@pytest.mark.parametrize(
    ("step", "source", "expected"),
    [
        (
            "step_before_break",
            "int f(int n) { int i; for (i = 0; i < n; i++) { if (i > 3) break; } return i; }",
            "int f(int n) { int i; { i = 0; while (i < n) { { if (i > 3) { i++; break; } } i++; } } return i; }",
        ),
        ("step_before_break", "int f(int n) { for (;;) { break; } return n; }", None),
        ("rename_text", "int f(struct s *a) { return a->a; }", "int f(struct s *v97) { return v97->v97; }"),
        ("rename_text", "int f(void) { return 1; }", None),
        (
            "swap_by_names",
            "void f(int *a, int *b) { *a = 1; *b = 2; }",
            "void f(int *a, int *b) { *b = 2; *a = 1; }",
        ),
        ("swap_by_names", "void f(int *a) { *a = 1; *a = 2; }", None),
    ],
)
def test_a_published_step_rewrites_as_published(
    script: Script, step: str, source: str, expected: str | None
) -> None:
    assert getattr(script("unsound_transforms"), step)(source, Random(0)) == expected


def test_a_regression_learns_what_tells_functions_apart(script: Script) -> None:
    module = script("c_detectors")
    rows = [
        module.Row(f"project {n % 3}", f"int f{n}(int a) {{ return a {sign} {n}; }}", label)
        for n in range(9)
        for sign, label in (("<=", 1), ("<", 0))
    ]
    regression = module.Regression(rows, epochs=30)
    judged = [module.Judged(row, regression.says(row.source)) for row in rows]
    assert module.balanced(judged) == 1.0
    assert module.interval(judged) == (1.0, 1.0)
    assert module.pairs(judged) == {"right": 9}


def test_an_interval_draws_whole_projects(script: Script) -> None:
    module = script("c_detectors")
    judged = [
        module.Judged(module.Row(project, "", label), bool(label) == (project == "a"))
        for project in "ab"
        for label in (1, 0)
    ]
    assert module.balanced(judged) == 0.5
    assert module.interval(judged) == (0.0, 1.0)
    assert module.pairs(judged) == {"right": 1, "reversed": 1}


def test_an_answer_that_is_missing_is_wrong(script: Script) -> None:
    module = script("c_detectors")
    judged = [module.Judged(module.Row("a", "", label), None) for label in (1, 0)]
    assert module.balanced(judged) == 0.0

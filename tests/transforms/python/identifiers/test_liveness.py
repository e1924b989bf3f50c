import ast

import pytest

from codeaudit.transforms.python.identifiers.merging import interferences


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a = 1\nb = 2\nreturn a", {("b", "a")}),
        ("a = 1\nb = a\nreturn b", set()),
        ("a = 1\nb = a\nreturn a, b", set()),
        ("b = 2\nreturn b\na = 1\nuse(a)", set()),
        ("if c:\n    b = 1\nelse:\n    use(a)", set()),
        ("if c:\n    b = 1\nuse(a)", {("b", "a")}),
        ("while c:\n    use(a)\n    b = 1", {("b", "a"), ("b", "c")}),
        ("while c:\n    use(a)\n    b = 1\n    break", set()),
        ("for b in c:\n    use(a)\n    a = 2", {("b", "a")}),
        ("for b in c:\n    if b:\n        continue\n    use(a)", {("b", "a")}),
        ("with c as b:\n    use(a)", {("b", "a")}),
        ("b += 1\nreturn a", {("b", "a")}),
        ("b: int = 1\nreturn a", {("b", "a")}),
        ("b: int\nreturn a", set()),
        ("b = 1\nreturn [a for a in d]", {("b", "d")}),
        ("b = 1\nreturn lambda: a", set()),
        ("try:\n    b = 1\nfinally:\n    use(a)", {("b", "a")}),
        ("match c:\n    case 1:\n        b = 1\n    case _:\n        use(a)\nuse(d)", {("b", "d")}),
        ("b[0] = 1\nreturn a", set()),
    ],
)
def test_a_variable_interferes_where_it_is_written_while_the_other_is_needed(
    body: str, expected: set[tuple[str, str]]
) -> None:
    function = ast.parse("def f():\n    " + body.replace("\n", "\n    ")).body[0]
    assert isinstance(function, ast.FunctionDef)
    assert {pair for pair in interferences(function) if "use" not in pair} == expected

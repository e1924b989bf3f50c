"""The seeded bugs of JavaScript, TypeScript and C: what each kind makes of a function that has a place for it."""

from random import Random

import pytest

from codeaudit.transforms.c.defects import DEFECTS as OF_C
from codeaudit.transforms.c.defects import DEFECTS_OF_CPP
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.javascript.defects import DEFECTS, DEFECTS_OF_TYPESCRIPT
from codeaudit.transforms.rules import SiteRule

SCRIPT = (
    "async function f(a, b) {\n  if (!a) return null\n  if (b.c) {\n    a = await b.d(a)\n  }\n"
    "  return a < 3 && b * 2 ? a : b\n}\n"
)
TYPED = SCRIPT.replace("a, b", "a: number, b: number")
BUFFER = """char *f(const char *from, int n, int m) {
    char *to;
    if (n > 16) return NULL;
    to = malloc(n + 1);
    if (to == NULL)
        return NULL;
    memcpy(to, from, n);
    if (to[0]) n = m * 2 && n;
    use(to);
    free(to);
    return NULL;
}
"""
OF_CPP = BUFFER.replace("malloc", "std::malloc").replace("free(to)", "delete[] to")
LOST = {
    "size-unchecked": "    if (n > 16) return NULL;\n",
    "null-unchecked": "    if (to == NULL)\n        return NULL;\n",
}
EXPECTED = {
    "size-off-by-one": ("malloc(n);", "memcpy(to, from, n + 1);"),
    "freed-early": (
        "    free(to);\n    use(to);\n    return",
        "    delete[] to;\n    use(to);\n    return",
    ),
    "freed-twice": ("    free(to);\n    free(to);\n", "    delete[] to;\n    delete[] to;\n"),
    "await-forgotten": ("a = b.d(a)",),
    "check-forgotten": (
        "(a, b) {\n  if (b.c)",
        "(a: number, b: number) {\n  if (b.c)",
        "    char *to;\n    to = ",
        "malloc(n + 1);\n    memcpy",
    ),
}


@pytest.mark.parametrize(
    ("rules", "source"),
    [(DEFECTS, SCRIPT), (DEFECTS_OF_TYPESCRIPT, TYPED), (OF_C, BUFFER), (DEFECTS_OF_CPP, OF_CPP)],
    ids=["js", "ts", "c", "cpp"],
)
def test_each_kind(rules: tuple[SiteRule, ...], source: str) -> None:
    for rule in rules:
        moves = rule.propose(source, Random(0))
        assert isinstance(moves, tuple), (rule.name, moves)
        for move in moves:
            rewritten = rule.apply(source, (move,))
            assert isinstance(rewritten, Rewritten), rule.name
            assert rewritten.source != source
            if rule.name in LOST:
                assert rewritten.source == source.replace(LOST[rule.name], "")
            assert any(text in rewritten.source for text in EXPECTED.get(rule.name, ("",))), rewritten.source


def test_what_may_be_an_operator_of_a_class_is_left_alone() -> None:
    source = (
        "void f(const std::string &a, T b) { std::cout << a + 'x'; if (a < b) g(a + b, array<int, 3>()); }"
    )
    names = {"operator-mistaken", "comparison-mistaken", "number-mistaken"}
    for rule in DEFECTS_OF_CPP:
        assert rule.name not in names or isinstance(rule.propose(source, Random(0)), Refused)

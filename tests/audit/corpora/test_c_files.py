"""The functions of C files as samples."""

from collections import Counter
from pathlib import Path

import pytest

from codeaudit.audit.corpora.c_files import UNREAD, function_name, functions
from codeaudit.audit.corpora.specs import corpus
from codeaudit.transforms.c.parsing import DIRECTIVE, OLD_HEAD, read_unit, statements

FILE = """\
#include <stdio.h>
#define LIMIT 3

static int ZEXPORT total(const int *items, int count)
{
    /* kept */
    return items[0] + count;
}

#ifdef LARGE
  struct node *AV_COLD_API
  first(struct list *of) {
    node_t *found = va_arg(of->args, node_t *);
    return of->head ? of->head : found;
  }
#endif

int old(a, b)
    int a;
    char b;
{
    return a + b;
}

int directives(int n) {
#if LIMIT
    n++;
#endif
    return n;
}

void empty(void)
{
}

int one_line(int n) { return n; }

static void walk(list_t *l) {
    FOR_EACH(one, l)
        visit(one)
    done(l);
}

char *(*picked(int n))(int) {
    int m = n;
    return table[m];
}
"""


def test_the_functions_of_a_file() -> None:
    left_out: Counter[str] = Counter()
    samples = list(functions(FILE, "a/b.c", left_out))
    assert [(unit.label, unit.origin.line) for unit in samples] == [
        ("total", 4),
        ("first", 11),
        ("picked", 44),
    ]
    assert left_out == {
        OLD_HEAD: 1, DIRECTIVE: 1, "empty function": 1, "function under 3 lines": 1, UNREAD: 1
    }  # fmt: skip
    assert samples[1].source.startswith("struct node *AV_COLD_API\nfirst(struct list *of) {\n  node_t")
    for sample in samples:
        read_unit(sample.source)
        assert function_name(sample.source) == sample.label
        assert statements(sample.source)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("int f(void) { return 1; }", "f"), ("int f(void);", None), ("int f(void) {} int g(void) {}", None),
        ("static inline struct a *f(int (*g)(int)) { return g(1); }", "f"), ("int f(void) {", None),
        ("/* a */ int f(void) { return 1; } // b", "f"),
        ("#include <a.h>\nint g(int);\nint f(void) { return 1; }\n", "f"), ("#include <a.h>\nint f(void) {", None),
        ("#include <a.h>\nint f(void) { return 1; }\nint g(void) { return 2; }\n", None), ("int a;", None),
    ],
)  # fmt: skip
def test_the_name_of_the_one_function(source: str, name: str | None) -> None:
    assert function_name(source) == name


def test_both_endings(tmp_path: Path) -> None:
    for ending in ("c", "h", "cs"):
        (tmp_path / f"a.{ending}").write_text(
            "int f(int a) {\n  int b = a;\n  return b;\n}\n", encoding="utf-8"
        )
    skipped: Counter[str] = Counter()
    assert len(list(corpus(str(tmp_path)).read(skipped))) == 2
    assert skipped == {"in C# (no transform yet)": 1}

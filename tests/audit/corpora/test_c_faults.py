"""Faults of C functions, shown by sanitizers on drawn calls."""

from collections import Counter
from pathlib import Path

import pytest

from codeaudit.audit.corpora.bugs import BUGGY, CLEAN
from codeaudit.audit.corpora.c_faults import (
    ABSENT,
    NOT_CLEAN,
    NOT_SEEN,
    NOT_SHOWN,
    OUT_OF_TIME,
    UNFIT,
    Sanitizers,
    reported,
)
from codeaudit.audit.corpora.c_harness import (
    NOT_DRAWN,
    OF_ARRAYS,
    PROGRAM,
    TAKES_FUNCTION,
    UNNAMED,
    VARIADIC,
    Harness,
    harness,
    with_headers,
)
from codeaudit.audit.corpora.records import CorpusResources
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.tasks.vulnerability_detection import VULNERABILITY_DETECTION
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.oracle.containment import offered
from codeaudit.transforms.oracle.oracle import Agreed, Differed, Inconclusive
from codeaudit.transforms.oracle.programs import Programs
from codeaudit.transforms.oracle.toolchains import SANITIZED
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.registry import transform_for

sanitizers = pytest.mark.skipif(
    bool(SANITIZED["c"].missing) or not offered().enough, reason="no gcc with sanitizers, or no sandbox here"
)

FILE = """#include <string.h>
#ifdef __cplusplus
extern "C" {
#endif
#define STEP(at) ((at) + 1)
typedef struct node { int value; struct node *next; char name[8]; } Node;
struct unused { Missing *it; };
static int twice(int a) { return 2 * (a & 255); }
int later(const Node *list);
int sum(const Node *list, int least)
{
    int total = 0;
    if (list == NULL)
        return -1;
    for (int at = 0; at < 8 && list->name[at]; at = STEP(at))
        total += list->name[at];
    return total + twice(list->value) + later(list->next) + (least > 3);
}
int later(const Node *list) { return list ? sum(list->next, 0) & 1023 : 7; }
int other(Missing *it) { return it->a; }
"""
SUM = FILE[FILE.index("int sum") : FILE.index("int later(const Node *list) {")]
COPY = """char *copy(const char *text, unsigned long size) {
    char *own = malloc(size + 1);
    unsigned long at = 0;
    if (!text || !own) { free(own); return NULL; }
    for (; at < size && text[at]; at++) own[at] = text[at];
    own[at] = 0;
    return own;
}
"""


@sanitizers
@pytest.mark.parametrize(
    ("source", "changes", "context"),
    [
        pytest.param(
            COPY,
            [
                ("(size + 1)", "(size)", "heap write out of bounds (CWE-122)"),
                ("return own", "free(own); free(own); return own", "double free (CWE-415)"),
                ("own[at] = 0;", "own[at] = 1;", ""),
                ("at < size", "size > at", None),
            ],
            "",
            marks=pytest.mark.slow,
            id="alone",
        ),
        pytest.param(
            SUM,
            [("at < 8", "at <= 8", "heap read out of bounds (CWE-125)"), ("least > 3", "least < 3", "")],
            FILE,
            id="with its file",
        ),
    ],
)
def test_a_sanitizer_or_another_result_shows_a_fault(
    source: str, changes: list[tuple[str, str, str | None]], context: str
) -> None:
    with Sanitizers() as judges:
        for old, new, report in changes:
            assert old in source
            outcome = judges.judge(source, source.replace(old, new), setup=context)
            assert isinstance(outcome, Agreed if report is None else Differed), (new, outcome)
            assert report is None or (isinstance(outcome, Differed) and outcome.report == report), (
                new,
                outcome,
            )


@sanitizers
@pytest.mark.parametrize(
    ("source", "changed", "expected"),
    [
        ("int f(struct hidden *a) { return a != 0; }", "", Inconclusive(NOT_DRAWN)),
        ("int f(void) { int a[2]; return a[2]; }", "", Inconclusive(NOT_CLEAN)),
        ("int f(int a) { return !a; }", "int f(int a) { return b; }", Inconclusive(UNFIT, of_variant=True)),
        # Without an end it shows nothing.
        pytest.param(
            "int f(int a) { return 1; }",
            "int f(int a) { for (;;); }",
            Inconclusive(OUT_OF_TIME, of_variant=True),
            marks=pytest.mark.slow,
        ),
        ("void f(int a) { a++; }", "", Inconclusive(NOT_SEEN)),
        ("struct hidden *f(int a) { return 0; }", "", Inconclusive(NOT_SHOWN)),
    ],
)
def test_what_shows_nothing_is_told(source: str, changed: str, expected: Inconclusive) -> None:
    with Sanitizers() as judges:
        outcome = judges.judge(source, changed or source)
    assert outcome == expected


@sanitizers
def test_memory_is_limited_though_addresses_are_not() -> None:
    eats = "#include <sys/mman.h>\nint main(void) { for (;;) memset(mmap(0, 1 << 24, 3, 34, -1, 0), 1, 1 << 24); }"
    _, _, ended, cut = Programs(SANITIZED["c"], cpu_seconds=3).ran(SANITIZED["c"].before + eats, ["1"])
    assert [status for status, _, _ in ended] == [0, -9]
    assert ended[1][1] < 2
    assert not cut


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("int f(int a, ...) { return a; }", VARIADIC),
        ("int f(int (*g)(int)) { return g(1); }", TAKES_FUNCTION),
        ("int f(int) { return 1; }", UNNAMED),
        ("int f(int a[2][3]) { return 1; }", OF_ARRAYS),
        ("int main(void) { return 1; }", PROGRAM),
    ],
)
def test_what_cannot_be_called_has_a_reason(source: str, reason: str) -> None:
    assert harness(source, "") == reason


def test_a_program_has_what_its_function_needs_and_nothing_else() -> None:
    frame = harness(SUM, FILE)
    assert isinstance(frame, Harness)
    assert "struct unused" not in frame.before
    assert "int other" not in frame.before
    assert "#define STEP" in frame.before


OWN_HEADER = """#ifndef OWN_H
#define OWN_H
#define PRIVATE(name) own_##name
#define EXPORTED(kind) __attribute__((visibility("default"))) kind
#define EMPTY
#ifdef NOT_HERE
typedef struct { Missing it; } Pair;
#else
typedef struct { int PRIVATE(first); char rest[]; } Pair;
#endif
EXPORTED(int) elsewhere(const Pair *pair);
#endif
"""
OWN_FILE = """#include "own.h"
#include <string.h>
int pick(const Pair *pair, int way)
{
    if (way > 2)
        return elsewhere(pair);
    return pair ? pair->PRIVATE(first) : (int)strlen("none");
}
"""
PICK = OWN_FILE[OWN_FILE.index("int pick") :]


def in_a_project(folder: Path) -> str:
    """The text that a function of a file with a header beside it needs."""
    (folder / "own.h").write_text(OWN_HEADER, encoding="utf-8")
    (folder / "own.c").write_text(OWN_FILE, encoding="utf-8")
    return with_headers(OWN_FILE, str(folder / "own.c"))


@sanitizers
def test_headers_are_read_as_the_compiler_reads_them(tmp_path: Path) -> None:
    around = in_a_project(tmp_path)
    assert "own_first" in around
    assert "Missing" not in around
    assert "#include <string.h>" in around
    assert "size_t strlen" not in around
    frame = harness(PICK, around)
    assert isinstance(frame, Harness)
    assert "typedef struct" in frame.before


@sanitizers
@pytest.mark.parametrize("language", ["c", "cpp"])
def test_what_the_commands_of_a_project_define_is_defined(tmp_path: Path, language: str) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "own.h").write_text("struct bag { int items[MOST]; };\n", encoding="utf-8")
    source = "int f(int a) { struct bag b = { { 0 } }; return a < MOST && TURNED(b.items[0]) && SHOWN; }\n"
    text = f'#include "own.h"\n{source}'
    file = tmp_path / f"own.{language}"
    file.write_text(text, encoding="utf-8")
    (tmp_path / "compile_flags.txt").write_text(
        "-Iinclude\n-DMOST=8\n-DTURNED(x)=(!(x))\n-DSHOWN\n", encoding="utf-8"
    )
    with Sanitizers(language) as judges:
        outcome = judges.judge(
            source, source.replace("<", ">="), setup=with_headers(text, str(file), language)
        )
    assert isinstance(outcome, Differed)


@sanitizers
@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            "pair->PRIVATE(first)", "((int *)pair)[9]", "heap read out of bounds (CWE-125)", id="fault"
        ),
        # The call is no fault: only its function is not there.
        pytest.param("way > 2", "way > -9", Inconclusive(ABSENT, of_variant=True), id="only a call"),
    ],
)
def test_a_function_of_another_file_shows_nothing(
    tmp_path: Path, old: str, new: str, expected: Inconclusive | str
) -> None:
    around = in_a_project(tmp_path)
    with Sanitizers() as judges:
        outcome = judges.judge(PICK, PICK.replace(old, new), setup=around)
    assert (outcome.report if isinstance(outcome, Differed) else outcome) == expected


@sanitizers
@pytest.mark.slow
def test_functions_of_other_files_are_not_one_function() -> None:
    declared = "int one(void);\nint other(void);\n"
    source = (
        "int f(int a) { void *volatile first = one, *volatile second = other; return a + (first == second); }"
    )
    with Sanitizers() as judges:
        outcome = judges.judge(source, "int f(int a) { return a + 0; }", setup=f"{declared}{source}")
    assert isinstance(outcome, Agreed)


def test_the_first_line_of_a_report_names_it() -> None:
    assert (
        reported("==7==ERROR: AddressSanitizer: heap-use-after-free on address") == "use after free (CWE-416)"
    )
    assert reported("program.c:3:1: runtime error: division by zero") == "division by zero (CWE-369)"
    assert not reported("nothing")


@sanitizers
@pytest.mark.slow
def test_a_corpus_of_reported_faults_knows_both_sides(tmp_path: Path) -> None:
    file = tmp_path / "copy.c"
    file.write_text(
        f"{COPY}\nint one(int a)\n{{\n    int b = a & 1;\n    return b + 1;\n}}\n", encoding="utf-8"
    )
    left_out: Counter[str] = Counter()
    resources = CorpusResources(cache=tmp_path)
    samples = list(corpus(f"bugs:reported:{file}", resources=resources).read(left_out))
    assert [sample.label for sample in samples] == [CLEAN, BUGGY]
    clean, faulty = samples
    assert (clean.other_side, faulty.other_side) == (faulty.source, clean.source)
    assert left_out["no bug that a sanitizer reports"] == 1
    prepared = [VULNERABILITY_DETECTION.prepare(sample) for sample in samples]
    assert [getattr(example, "label", example) for example in prepared] == ["safe", "vulnerable"]


@sanitizers
@pytest.mark.slow
def test_both_sides_of_a_fault_are_edited_beside_the_headers_of_their_file(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("#define OWN 2\n", encoding="utf-8")
    checked = '#include "own.h"\n#if OWN != 2\n#error another version of own.h\n#endif\n'
    (tmp_path / "copy.c").write_text(f"{checked}{COPY}", encoding="utf-8")
    samples = list(corpus(f"bugs:reported:{tmp_path}", resources=CorpusResources(cache=None)).read(Counter()))
    assert len(samples) == 2
    rename = transform_for("rename-parameters", "c")
    outcomes = [outcome for sample in samples for outcome in perturb_one(sample, rename, variants=1, seed=0)]
    assert [getattr(outcome, "reason", None) for outcome in outcomes] == [None, None]


def test_what_is_not_executed_is_not_reported() -> None:
    with pytest.raises(CorpusError, match="only what runs is reported"):
        corpus("bugs:reported:unexecuted:stdlib")


_LIST = "struct s { int n; struct s *next; };\n"
UNSEEN = {
    "memory that is returned": (
        "int *f(int n, int *p) { if (n < 1 || n > 50) return 0; int *r = malloc(n * sizeof(int)); for (int i = 0; i < n; i++) r[i] = i; return r; }",
        ("r[i] = i", "r[i] = i * 2"),
        "",
    ),
    "array of a file": (
        "int f(int n) { own[n & 3] = n; return n & 1; }",
        ("= n;", "= n + 1;"),
        "int own[4];\n",
    ),
    "array of arrays": (
        "int f(struct s *p) { if (!p) return 0; p->a[1][0] = p->n; return 1; }",
        ("= p->n", "= 2 + p->n"),
        "struct s { int n; int a[2][2]; };\n",
    ),
    "bits": (
        "int f(struct s *p) { if (!p) return 0; p->b = p->n & 3; return 1; }",
        ("& 3", "& 1"),
        "struct s { int n; unsigned b : 4; };\n",
    ),
    "union": (
        "int f(struct s *p) { if (!p) return 0; p->u.i = p->n; return 1; }",
        ("= p->n", "= 1 + p->n"),
        "struct s { int n; union { int i; float g; } u; };\n",
    ),
    "end of a list": (
        "struct s *f(int n) { struct s *h = 0; for (int i = 0; i < 8; i++) { struct s *k = malloc(sizeof *k); k->n = i; k->next = h; h = k; } return h; }",
        ("k->n = i", "k->n = i ? i : n"),
        _LIST,
    ),
    "end of a text": (
        "char *f(int n) { char *r = malloc(2000); memset(r, 97, 1999); r[1999] = 0; r[1500] = 65 + (n & 7); return r; }",
        ("& 7", "& 3"),
        "",
    ),
    "value for the next call": (
        "int f(int n) { static int c; int r = c; c = n & 7; return r + (n & 1); }",
        ("c = n & 7", "c = n & 6"),
        "",
    ),
    "number of an error": ("int f(int n) { errno = n & 7; return n & 1; }", ("& 7", "& 6"), ""),
    "text for errors": (
        'int f(int n) { fprintf(stderr, "%d", n & 7); return n & 1; }',
        ("& 7", "& 6"),
        "",
    ),
}


@sanitizers
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (place > 1)) for place, name in enumerate(UNSEEN)]
)
def test_another_effect_is_never_the_same(name: str) -> None:
    function, (old, new), before = UNSEEN[name]
    setup = f"#include <errno.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n{before}{function}\n"
    assert function.count(old) == 1
    with Sanitizers() as judge:
        assert not isinstance(judge.judge(function, function.replace(old, new), setup=setup), Agreed)

"""The compiler and execution under sanitizers as evidence for functions of C and C++."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from codeaudit.audit.corpora import c_faults, c_harness
from codeaudit.audit.evidence_check import DIFFERS, FindingCounts, execute, witnesses
from codeaudit.audit.labels import GivenLabels
from codeaudit.audit.records import Case
from codeaudit.audit.witnesses import object_code
from codeaudit.audit.witnesses.c import FAILS, CTools, witness
from codeaudit.audit.witnesses.object_code import ObjectCode
from codeaudit.transforms.c.headers import TONGUES, compiler_of
from codeaudit.transforms.oracle.containment import offered
from codeaudit.transforms.oracle.toolchains import SANITIZED
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Kind, Move, NotApplied, Origin, Outcome, Perturbed, Sample
from codeaudit.transforms.registry import rests_on, transform_for

COMPILERS = {language: compiler_of(tongue) for language, tongue in TONGUES.items()}
pytestmark = pytest.mark.skipif(None in COMPILERS.values(), reason="no compiler of C and C++")
sanitizers = pytest.mark.skipif(
    any(tools.missing for tools in SANITIZED.values()) or not offered().enough,
    reason="no gcc with sanitizers, or no sandbox here",
)
BOTH = pytest.mark.parametrize("language", ["c", "cpp"])

FILE = """#include <stdlib.h>
struct pair { int a, b; };
static int half(int n) { return n / 2; }
#define ADD(n) (sum += (n))
static int total(const struct pair *it, int n)
{
    int sum = 0;
    int more = half(it->a);
    int low = n & 7;
    ADD(n & 3);
    return sum + more * low;
}
"""
TOTAL = FILE[FILE.index("static int total") :]


def sample(source: str, language: str, context: str = "", file: str = "", tests: str | None = None) -> Sample:
    origin = Origin(path="-", line=1)
    return Sample(
        id=source, language=language, source=source, label=None, origin=origin, context=context, file=file,
        tests=tests,
    )  # fmt: skip


def variant(
    of: Sample, after: str, transform: str = "rename", kind: Kind = "preserving", moves: int = 1
) -> Perturbed:
    made = tuple(Move(kind="-", site=site, value="", note="") for site in range(moves))
    return Perturbed(
        sample=of, transform=transform, kind=kind, variant=0, source=after, moves=made, evidence="analysis"
    )


def told(*variants: Perturbed, language: str, compiles: bool = True, runs: bool = False) -> list[str]:
    """The evidence of each variant, or why it is not applied, with one of both tools or with both."""
    tools = witness(GivenLabels(), language)
    chosen = replace(
        tools, compiler=tools.compiler if compiles else None, sanitizing=tools.sanitizing if runs else None
    )
    counts = FindingCounts()
    cases = [Case(sample=variants[0].sample, outcomes=variants)]
    (done,) = execute(cases, {language: chosen}, counts)
    return [
        outcome.reason if isinstance(outcome, NotApplied) else outcome.evidence for outcome in done.outcomes
    ] + list(counts.open)


@BOTH
def test_a_new_name_and_another_layout_leave_the_code_as_it_is(language: str) -> None:
    own = sample(TOTAL, language, FILE)
    good = variant(own, TOTAL.replace("more", "rest"))
    wide = variant(own, TOTAL.replace("    ", "  "), "indentation")
    caught = variant(
        own, TOTAL.replace("low = n & 7;", "sum = n & 7;").replace("* low", "* sum"), "hygienic/rename"
    )
    other = variant(own, TOTAL.replace("more * low", "low * n"))
    outcomes = told(good, wide, caught, other, language=language)
    assert outcomes == ["compiled", "compiled", object_code.NOT_COMPILED, object_code.CHANGED_CODE]


@BOTH
def test_another_order_is_compiled_where_its_code_is_the_same(language: str) -> None:
    own = sample(TOTAL, language, FILE)
    lines = TOTAL.splitlines(keepends=True)
    lines[3], lines[4] = lines[4], lines[3]
    moved = variant(own, "".join(lines), "reorder")
    other = variant(own, TOTAL.replace("n & 3", "n & 1"), "reorder")
    control = variant(own, TOTAL.replace("n & 3", "n & 1"), "reorder-breaking", "control")
    outcomes = told(moved, other, control, language=language)
    assert outcomes == ["compiled", "analysis", "analysis", object_code.OTHER_CODE]


@pytest.mark.parametrize(
    ("language", "source", "context", "reason"),
    [
        ("c", "int f(Hidden *a) { return a->b; }", "", object_code.NOT_ALONE),
        ("c", "int f(int a) { return hidden(a); }", "", object_code.NOT_ALONE),
        ("c", "int f(int a) { return a; }", '#include "hidden.h"\nint f(int a) { return a; }\n', object_code.NOT_ALONE),
        ("c", "int f(int a) { return a; }", "int g(int a) { return -a; }\n", object_code.NOT_FOUND),
        ("cpp", "template <class T> T f(T a) { return a; }", "", object_code.NO_CODE),
        ("cpp", "int f(std::hidden a) { return 1; }", "", object_code.NOT_ALONE),
    ],
)  # fmt: skip
def test_what_does_not_compile_alone_says_so(language: str, source: str, context: str, reason: str) -> None:
    own = sample(source, language, context)
    assert told(variant(own, source.replace(" a", " b")), language=language) == ["analysis", reason]


def test_a_masked_name_and_a_method_are_found_in_their_file() -> None:
    text = "struct A {\n    int n;\n    int twice(int a) const {\n        return twice(n) + a;\n    }\n};\n"
    source = "int MASK(int a) const {\n    return MASK(n) + a;\n}"
    own = sample(source, "cpp", text)
    assert told(variant(own, source.replace(" a", " b")), language="cpp") == ["compiled"]


@BOTH
def test_a_text_with_a_fault_stands_in_the_place_of_its_function(language: str) -> None:
    faulty = sample(TOTAL.replace("n & 7", "n & 6"), language, FILE)
    renamed = variant(faulty, faulty.source.replace("more", "other"))
    assert told(renamed, language=language) == ["compiled"]
    two = replace(faulty, context=f"{FILE}{TOTAL.replace('n & 7', 'n & 5')}")
    told_of_two = told(replace(renamed, sample=two), language=language)
    assert told_of_two == ["analysis", object_code.NOT_FOUND]


def test_only_our_words_of_a_project_reach_the_compiler(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    made = tmp_path / "made"
    words = ["cc", "-DWIDE=long", f"-fplugin={made}", f"-Wp,-MD,{made}", "-o", str(made), "-c", "a.c"]
    row = {"directory": str(tmp_path), "file": "a.c", "arguments": words}
    (tmp_path / "compile_commands.json").write_text(json.dumps([row]), encoding="utf-8")
    source = "WIDE f(WIDE a) { return a; }"
    file.write_text(f"{source}\n", encoding="utf-8")
    own = sample(source, "c", f"{source}\n", str(file))
    assert told(variant(own, source.replace(" a", " b")), language="c") == ["compiled"]
    assert not made.exists()


def test_lines_have_no_numbers() -> None:
    text = "#include <assert.h>\nint f(int *a)\n{\n    assert(a);\n    return *a;\n}\nint g(int *a)\n{\n    assert(a);\n    return *a;\n}\n"
    source = text[text.index("int f") : text.index("int g")].rstrip()
    own = sample(source, "c", text)
    blank = variant(own, source.replace("{\n", "{\n\n"), "insert-blank-lines")
    assert told(blank, language="c") == ["compiled"]


def test_a_macro_of_a_body_counts_where_the_file_uses_it() -> None:
    source = "int f(int n)\n{\n#define STEP 3\n    return n + 1;\n}"
    own = sample(source, "c", f"{source}\nint g(int n) {{ return n * STEP; }}\n")
    other = variant(own, source.replace("STEP 3", "STEP 4"), "insert-blank-lines")
    assert told(other, language="c")[0] == object_code.CHANGED_CODE


@sanitizers
@BOTH
@pytest.mark.slow
def test_variants_are_executed_and_controls_differ(language: str) -> None:
    out = "int &out" if language == "cpp" else "int *out"
    star = "" if language == "cpp" else "*"
    source = (
        f"double f(const char *text, const double *list, int count, bool all, {out})\n{{\n"
        "    double sum = all ? 1.5 : 0;\n    for (int at = 0; at < count; at++)\n        sum += list[at] / 2;\n"
        f"    {star}out = text ? text[0] : count;\n    return sum;\n}}\n"
    )
    own = sample(source, language)
    same = variant(own, source.replace("/ 2", "* 0.5"), "identity-arithmetic")
    wrong = variant(own, source.replace("at < count", "count - at > 1"), "flip-comparisons")
    beyond = variant(own, source.replace("at < count", "at <= count"), "for-off-by-one", "control")
    output = variant(own, source.replace("text[0]", "text[0] + 1"), "literal-changed", "control")
    broken = variant(own, source.replace("/ 2", "/ two"), "literal-changed", "control")
    outcomes = told(same, wrong, beyond, output, language=language, compiles=False, runs=True)
    assert outcomes == ["executed", DIFFERS, "executed", "executed"]
    outcomes = told(same, broken, language=language, compiles=False, runs=True)
    assert outcomes == ["executed", "analysis", f"not executed: {c_faults.UNFIT}"]


@sanitizers
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        # What is undefined confirms nothing.
        ("int f(int a) { int b[2] = {a}; return b[2]; }", c_faults.NOT_CLEAN),
        ("int f(void) { int a = 2147483647; return a + 1; }", c_faults.NOT_CLEAN),
        ("void f(int a) { a = 1; }", c_faults.NOT_SEEN),
        ("int f(int a, ...) { return a; }", c_harness.VARIADIC),
    ],
)
def test_what_shows_nothing_confirms_nothing(source: str, reason: str) -> None:
    own = sample(source, "c")
    outcomes = told(variant(own, source.replace("{ ", "{  ")), language="c", compiles=False, runs=True)
    assert outcomes == ["analysis", f"not executed: {reason}"]


@sanitizers
@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("int f(std::vector<int> a) { return a.size(); }", "return a.size() + 1"),
        ("std::string f(const std::string &a, char b) { return a + b; }", "return a + a"),
        ("std::map<int, std::string> f(std::set<int> a) { std::map<int, std::string> b; for (int c : a) b[c] = \"d\"; return b; }", "return {}"),
        ("enum kind { A, B }; int f(std::pair<int, bool> a) { return a.second; }", "return a.first"),
        ("#include <string>\nusing namespace std;\nint f(string a) { return a.size(); }", "return 1"),
        ("struct box { int a; const char *b; }; int f(struct box *a, long n) { return a ? a->a : n; }", "return 0"),
    ],
)  # fmt: skip
def test_types_of_the_library_of_cpp_are_drawn(source: str, changed: str) -> None:
    own = sample(source, "cpp")
    last = source[source.rindex("return") : source.rindex(";")]
    control = variant(own, source.replace(last, changed), "literal-changed", "control")
    again = variant(own, source.replace("return ", "return  "), "spacing")
    assert told(again, control, language="cpp", compiles=False, runs=True) == ["executed", "executed"]


@pytest.mark.parametrize(
    ("source", "context", "reason"),
    [
        ("int A::f(int a) { return a; }", "", c_harness.OF_CLASS),
        ("int f(int a) { return a; }", "namespace n { int f(int a) { return a; } }", c_harness.OF_CLASS),
        ("int f(int a) { return a; }", "int f(int a) { return a; } int f(char a) { return a; }", c_harness.OF_CLASS),
        ("template <class T> int f(T a) { return 1; }", "", c_harness.OF_TEMPLATE),
    ],
)  # fmt: skip
def test_what_cpp_does_not_call_has_a_reason(source: str, context: str, reason: str) -> None:
    assert c_harness.harness(source, context, "cpp") == reason


@sanitizers
@BOTH
@pytest.mark.slow
def test_tests_of_a_sample_are_run(language: str) -> None:
    tests = "#include <assert.h>\nint main(void) { assert(f(2) == 3); return 0; }\n"
    source = "int f(int a) { return a + 1; }"
    own = sample(source, language, tests=tests)
    same = variant(own, source.replace("a + 1", "1 + a"), "swap-operands")
    other = variant(own, source.replace("a + 1", "a + 2"), "swap-operands")
    assert told(same, other, language=language, compiles=False, runs=True) == ["executed", DIFFERS]
    wrong = sample(source, language, tests=tests.replace("== 3", "== 4"))
    assert told(variant(wrong, source), language=language, compiles=False, runs=True) == ["analysis", FAILS]
    # A task that hides the name leaves nothing that they could call: arguments are drawn.
    hidden = sample(source.replace("f(", "MASK("), language, tests=tests)
    outcomes = told(
        variant(hidden, hidden.source.replace("a + 1", "1 + a")), language=language, compiles=False, runs=True
    )
    assert outcomes == ["executed"]


@pytest.mark.slow
@BOTH
def test_what_the_engines_do_is_confirmed(language: str) -> None:
    own = sample(TOTAL, language, FILE)
    made: list[Outcome] = []
    for name in (
        "rename",
        "rename-parameters",
        "indentation",
        "spacing",
        "insert-parentheses",
        "brace-lines",
    ):
        made += perturb_one(own, transform_for(name, language), variants=2, seed=0)
    kept = [outcome for outcome in made if isinstance(outcome, Perturbed)]
    assert len(kept) > 6
    assert set(told(*kept, language=language)) == {"compiled"}


def test_only_a_function_that_was_compiled_in_its_file_rests_on_no_header() -> None:
    for context, expected in (("", ["macros-hygienic"]), (FILE, [])):
        own = sample(TOTAL, "c", context)
        done = replace(variant(own, TOTAL.replace("more", "rest")), evidence="compiled")
        assert [assumption.id for assumption in rests_on(done)] == expected


@BOTH
def test_the_witness_names_its_tools(language: str) -> None:
    (tools,) = witnesses([language], GivenLabels()).values()
    assert isinstance(tools, CTools)
    assert all(tool["version"] for tool in tools.tools)
    assert tools.tools[0]["tool"] == Path(COMPILERS[language] or "").name
    none = replace(tools, compiler=None, sanitizing=None)
    assert not none.tools


def test_clang_is_as_good() -> None:
    compiler = "/usr/bin/clang"
    if not Path(compiler).exists():
        pytest.skip("no clang")
    own = sample(TOTAL, "c", FILE)
    good, bad = variant(own, TOTAL.replace("more", "rest")), variant(own, TOTAL.replace("more * low", "low"))
    findings = ObjectCode("c", compiler).findings([good, bad])
    assert [getattr(finding, "reason", "") for finding in findings] == ["", object_code.CHANGED_CODE]

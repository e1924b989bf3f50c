"""Defects of Java: each at one place, such as people make, and every edited text compiles."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

import pytest

from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.java.defects import (
    CALL_FORGOTTEN,
    COMPARISON_MISTAKEN,
    CONDITION_NEGATED,
    DEFECTS,
    LOGIC_MISTAKEN,
    NUMBER_MISTAKEN,
    OPERATOR_MISTAKEN,
    VARIABLE_MISTAKEN,
)
from codeaudit.transforms.java.files import JAVA_FILES
from codeaudit.transforms.java.rewriting import Rewriting
from codeaudit.transforms.patches import Edit, splice
from codeaudit.transforms.python.defects import DEFECTS as PYTHON_DEFECTS
from tests.support.java_fuzzing import java_program
from tests.support.java_judge import FOLDER, jdks
from tests.support.java_methods import METHODS
from tests.support.java_programs import PROGRAMS
from tests.support.java_running import assert_compiles
from tests.transforms.java.support import refused, variants

TRAPS = {
    "switch": """\
static int f(int n, int m) {
    switch (n) {
        case 1: int first = m + 1; return first;
        default: int last = 2; return last + m;
    }
}""",
    "unassigned": "static int f(int n) { int late; int other = 3; if (n > 2) late = 1; else late = n; return late + other; }",
    "own value": "static int f(int n, int[] v) { int one = n + v[n], two = one * n; return one - two; }",
    "captured": """\
static int f(int n, int m) {
    int count = 0;
    java.util.function.IntUnaryOperator g = k -> { int inner = k + n; return inner * n - k; };
    count += g.applyAsInt(m);
    m++;
    return count + m;
}""",
    "class": """\
static int f(final int n, int m) {
    m++;
    Object o = new Object() { int m = 4; int g(int k) { return k + m + n; } public int hashCode() { return g(n); } };
    return o.hashCode() + m;
}""",
    "constants": """\
static int f(int n, byte given) {
    final int SIZE = 5; final byte small = 3; byte b = SIZE; byte c = SIZE + 1; char d = 'a' + 2; short[] e = {1, 127 + 3}; final boolean same = 1 == 1 && SIZE > 2; byte g = SIZE > 1 ? 127 : (-128); byte h = switch (n) { case 1 -> 127; default -> { yield 2 + 5; } };
    while (SIZE == 5 && same) { if (n++ > SIZE) return n; }
}""",
    "endless": "static int f(int n) { while (true) { if (n > 3) break; n++; } for (;;) { if (n == 9) return n; n++; } }",
    "pattern": """\
static int f(Object o, Object p, boolean q) {
    if (!(o instanceof String s) || s.isEmpty()) return 1;
    if (p instanceof String t && t.length() > s.length() && q) return t.length();
    boolean r; if (q && (r = s.isEmpty())) return r ? 1 : 2; if (q && o == p || !q) return 3;
    return s.length();
}""",
    "resource": """\
static int f(java.io.StringReader one, java.io.StringReader other) throws Exception {
    try (one; java.io.StringReader third = other) { return one.read() + third.read(); }
    catch (java.io.IOException | RuntimeException wrong) { throw wrong; }
}""",
    "loop": """\
static int f(java.util.List<Object> all, Object first) {
    for (Object one : all) { if (one.equals(first)) return all.indexOf(one); }
    for (int i = 0, j = all.size(); i < j; i++, j--) { int k = i - j; if (k == i) return j; }
    return -1;
}""",
    "narrow": "static byte f(byte a, char c, short s) { a = 100 + 27; c += 3; s -= 1; Byte b = 12; if (c == 4) return b; return (byte) (a + s); }",
    "texts": "static String f(String s, int n, Integer m) { String t = n + 1 + s; t += n - m; return t + (n * m) + s.trim().strip(); }",
    "labels": "static int f(int n, int m) { again: while (n < m) { if (n == 3) continue again; n += m; } return switch (n) { case 1, 2 -> m; default -> n - 1; }; }",
}  # fmt: skip
"""Methods in which an edit can fail to compile."""


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        (COMPARISON_MISTAKEN, "return a < b ? 1 : 2;", {"return a <= b ? 1 : 2;"}),
        (COMPARISON_MISTAKEN, "if (o == null) return 1; return 2;", {"if (o != null) return 1; return 2;"}),
        (OPERATOR_MISTAKEN, "return a*b;", {"return a+b;", "return a/b;"}),
        (OPERATOR_MISTAKEN, "return v.length - 1;", {"return v.length + 1;"}),
        (LOGIC_MISTAKEN, "return p && q ? 1 : 2;", {"return p || q ? 1 : 2;"}),
        (VARIABLE_MISTAKEN, "return s.length() + a;", {"return s.length() + b;"}),
        (VARIABLE_MISTAKEN, "String t = s + 1; return t.length();", {"String t = s + 1; return s.length();"}),
        (CALL_FORGOTTEN, "return s.trim() + 1;", {"return s + 1;"}),
        (CALL_FORGOTTEN, "return Math.abs(a);", {"return a;"}),
        (CONDITION_NEGATED, "return p ? 1 : 2;", {"return !p ? 1 : 2;"}),
        (CONDITION_NEGATED, "if (s.isEmpty()) return 1; return 2;", {"if (!s.isEmpty()) return 1; return 2;"}),
        (NUMBER_MISTAKEN, "return v[0];", {"return v[1];"}),
        (NUMBER_MISTAKEN, "l = 10L;", {"l = 11L;", "l = 9L;"}),
        (NUMBER_MISTAKEN, "a = -5;", {"a = -6;", "a = -4;"}),
        (NUMBER_MISTAKEN, "a = -1;", {"a = -2;", "a = 0;"}),
    ],
)  # fmt: skip
def test_one_place_is_changed(rule: Rewriting, before: str, after: set[str]) -> None:
    assert variants(rule, before) == after


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (OPERATOR_MISTAKEN, 'return s + "x" + a;'),
        (OPERATOR_MISTAKEN, "return s + o;"),
        (VARIABLE_MISTAKEN, "return s.length();"),
        (VARIABLE_MISTAKEN, "a = 3;"),
        (VARIABLE_MISTAKEN, "if (a > 1) return 1; int later = 2;"),
        (CALL_FORGOTTEN, "s.trim();"),
        (CALL_FORGOTTEN, "return s.length();"),
        (CONDITION_NEGATED, "if (a == 1) return 2; return 3;"),
        (CONDITION_NEGATED, "while (RUNNING) { a++; }"),
        (NUMBER_MISTAKEN, "byte t = 127;"),
        (NUMBER_MISTAKEN, "return a > 4_000;"),
        (LOGIC_MISTAKEN, "if (o instanceof String t && t.isEmpty()) return 1;"),
        (COMPARISON_MISTAKEN, "while (1 == 1) { }"),
    ],
)
def test_where_nobody_would_make_it_or_javac_would_see_it(rule: Rewriting, text: str) -> None:
    reason = refused(rule, text, "static int f(int a, long l, boolean p, String s, Object o)")
    assert reason == rule.nothing


def test_python_has_defects_of_the_same_kinds() -> None:
    assert [defect.name for defect in DEFECTS] == [defect.name for defect in PYTHON_DEFECTS]
    assert {defect.kind for defect in DEFECTS} == {"control"}


def edits(text: str) -> Iterator[tuple[str, str]]:
    """Every edit that a defect allows in a method: the defect, and the edited method."""
    for rule in DEFECTS:
        for site in rule.sites(text):
            if isinstance(site, Refused):
                continue
            for patches in site.options:
                rewritten = rule.rewritten(text, patches)
                assert isinstance(rewritten, Rewritten), rewritten
                assert rewritten.source != text
                yield rule.name, rewritten.source


def edited_files(text: str, most: int) -> Iterator[tuple[str, str]]:
    """A file after each edit in one of its methods, at most so many for each method."""
    for place in JAVA_FILES.places(text):
        if place.obstacle is None:
            method = text.encode()[place.start : place.end].decode()
            every = list(edits(method))
            for name, after in Random(0).sample(every, min(most, len(every))):
                yield name, splice(text.encode(), [Edit(place.start, place.end, after)]).decode()


def assert_edits_compile(java: Path, files: Mapping[str, str], folder: Path) -> None:
    """Every file is checked by one compiler, which writes no classes."""
    checked = ("-XDshould-stop.ifNoError=FLOW", "-sourcepath", str(FOLDER), "-d", "classes")
    assert_compiles(java.with_name("javac"), files, folder, *checked)


@pytest.fixture(scope="module")
def java() -> Path:
    homes = jdks()
    if not homes:
        pytest.skip("no Java")
    return homes[max(homes)]


@pytest.mark.slow
def test_edits_of_traps_compile(java: Path, tmp_path: Path) -> None:
    counts = Counter[str]()
    files: dict[str, str] = {}
    for name, text in TRAPS.items():
        for defect, after in edits(text):
            counts[defect] += 1
            files[f"T{counts.total()}.java"] = f"class T{counts.total()} {{\n// {name}\n{after}\n}}\n"
    assert set(counts) == {defect.name for defect in DEFECTS}
    assert_edits_compile(java, files, tmp_path)


@pytest.mark.weekly
def test_edits_of_methods_and_programs_compile(java: Path, tmp_path: Path) -> None:
    files: dict[str, str] = {}
    for method in METHODS:
        for _, after in edits(method.text):
            name = f"M{len(files)}"
            text = f"import java.util.*;\nclass {name} {{\n{method.members}\n{after}\n}}\n"
            files[f"{name}.java"] = text.replace("CLASS", name)
    for name, program in PROGRAMS.items():
        for _, after in edited_files(program, most=10):
            files[f"p{len(files)}/{name}.java"] = f"package p{len(files)};\n{after}"
    assert len(files) > 1_000
    assert_edits_compile(java, files, tmp_path)


@pytest.mark.weekly
def test_edits_of_generated_programs_compile(java: Path, tmp_path: Path) -> None:
    release = max(jdks())
    files: dict[str, str] = {}
    for number in range(4):
        for _, after in edited_files(java_program(1, number, release).text, most=12):
            name = f"p{len(files)}"
            files[f"{name}/Main.java"] = re.sub(r"^package p;", f"package {name};", after, flags=re.MULTILINE)
    assert len(files) > 150
    assert_edits_compile(java, files, tmp_path)

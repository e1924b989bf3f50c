"""Methods of Java files: what is taken, as what text, and what is left out."""

from collections import Counter
from pathlib import Path

import pytest

from codeaudit.audit.corpora.methods import method_name, methods
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.transforms.errors import CorpusError, SourceError
from codeaudit.transforms.java.parsing import callables, read
from codeaudit.transforms.records import Sample
from tests.support.data import data_set

FILE = """\
package a.b;

import java.util.List;

/** Counts. */
public class Counter<T> {
    private int count;

    public Counter(int start) {
        this.count = start;
        check();
    }

    /** Left out with its comment. */
    @Override
    public int totalOf(List<T> items) {
        // kept
        int total = count;
        for (T item : items) {
            total += totalOf(List.of(item));
        }
        return total;
    }

    public int getCount() {
        return count;
    }

    public int gettable() {
        return count + 1;
    }

    boolean isBig() {
        check();
        return count > 9;
    }

    abstract void nothing();

    void empty() {
    }

    void brief() { check(); }

    interface Inner {
        default String show(Object x) {
            Runnable run = new Runnable() {
                public void run() {
                    System.out.println(x);
                }
            };
            run.run();
            return "" + x;
        }
    }
}
"""


def taken(text: str) -> tuple[list[Sample], Counter[str]]:
    left_out: Counter[str] = Counter()
    return list(methods(text, "a/Counter.java", left_out)), left_out


def test_the_methods_of_a_file() -> None:
    samples, left_out = taken(FILE)
    assert [(sample.label, sample.origin.line) for sample in samples] == [
        ("totalOf", 15), ("gettable", 29), ("isBig", 33), ("show", 46),
    ]  # fmt: skip
    assert left_out == {
        "constructor": 1, "accessor": 1, "method without a body": 1, "empty method": 1,
        "method under 3 lines": 1,
    }  # fmt: skip


def test_a_method_is_dedented_with_its_annotations_and_comments_and_parses_alone() -> None:
    samples, _ = taken(FILE)
    assert samples[0].source.startswith(
        "@Override\npublic int totalOf(List<T> items) {\n    // kept\n    int"
    )
    for sample in samples:
        assert len(callables(read(sample.source))) == 1


def test_the_length_is_bounded() -> None:
    long = "class A {\n  int f() {\n" + "    x++;\n" * 60 + "    return 1;\n  }\n}\n"
    wide = "class A {\n  String f() {\n    x();\n    return " + '"a" + ' * 2000 + '"";\n  }\n}\n'
    assert taken(long)[1] == {"method over 60 lines": 1}
    assert taken(wide)[1] == {"method over 8000 characters": 1}


def test_a_method_behind_something_on_its_line() -> None:
    samples, _ = taken("class A { int f() {\n    g();\n    return 1;\n  } }\n")
    assert samples[0].source == "int f() {\n    g();\n    return 1;\n  }"


def test_a_file_that_is_no_java_is_told_by_a_phrase() -> None:
    with pytest.raises(SourceError, match=r"^source does not parse$"):
        taken("class {")


@pytest.mark.parametrize(
    ("source", "name"),
    [("int f() { return 1; }", "f"), ("A() { }", None), ("int f() {} int g() {}", None), ("x ++ y", None)],
)
def test_the_name_of_the_one_method(source: str, name: str | None) -> None:
    assert method_name(source) == name


def test_a_project_and_one_file(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "Counter.java").write_text(FILE, encoding="utf-8")
    (tmp_path / "src" / "Bad.java").write_text("class {", encoding="utf-8")
    (tmp_path / "tool.py").write_text("def f(x):\n    y = x\n    return y\n", encoding="utf-8")
    skipped: Counter[str] = Counter()
    samples = list(corpus(str(tmp_path)).read(skipped))
    assert [(sample.language, sample.label) for sample in samples] == [
        ("python", "f"), ("java", "totalOf"), ("java", "gettable"), ("java", "isBig"), ("java", "show"),
    ]  # fmt: skip
    assert skipped["source does not parse"] == 1
    alone = list(corpus(str(tmp_path / "src" / "Counter.java")).read(Counter()))
    assert [sample.source for sample in alone] == [sample.source for sample in samples[1:]]
    with pytest.raises(SourceError, match=r"cannot use '.*Bad\.java': not valid Java: line 1"):
        list(corpus(str(tmp_path / "src" / "Bad.java")).read(Counter()))
    (tmp_path / "a.kt").touch()
    with pytest.raises(CorpusError, match=r"it is in Kotlin \(no transform yet\)"):
        corpus(str(tmp_path / "a.kt"))


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────


def named(source: str) -> Sample | str:
    return FUNCTION_NAME.prepare(taken(f"class A {{\n{source}\n}}")[0][0])


def test_the_name_is_masked_in_recursion_too() -> None:
    prepared = FUNCTION_NAME.prepare(taken(FILE)[0][0])
    assert isinstance(prepared, Sample)
    assert prepared.label == ("total", "of")
    assert "totalOf" not in prepared.source
    assert "MASK(List<T> items)" in prepared.source
    assert "MASK(List.of(item))" in prepared.source


def test_a_mask_that_is_taken_gets_a_number() -> None:
    prepared = named("int readAll(int MASK) {\n    int a = MASK;\n    return readAll(a);\n}")
    assert isinstance(prepared, Sample)
    assert "int MASK_1(int MASK)" in prepared.source


def test_tests_have_no_telling_name() -> None:
    assert named("void testIt() {\n    int a = 1;\n    run(a);\n}") == "test"


@pytest.mark.weekly
def test_the_data_set_of_java_names() -> None:
    path = data_set("java_methods.jsonl.gz")
    prepared = [
        FUNCTION_NAME.prepare(raw)
        for raw, _ in zip(corpus(f"{path}:test").read(Counter()), range(400), strict=False)
    ]
    samples = [example for example in prepared if isinstance(example, Sample)]
    assert len(samples) > 380
    assert {sample.language for sample in samples} == {"java"}
    assert {reason for reason in prepared if isinstance(reason, str)} <= {"test"}
    assert all((method_name(sample.source) or "").startswith("MASK") for sample in samples)

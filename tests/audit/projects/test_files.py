"""Files of a project that give well-known names another meaning in other files of it."""

from collections import Counter
from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import CorpusResources
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.projects.files import ProjectPlan, file_format, perturb_files, source_files
from codeaudit.transforms.java.files import REBOUND
from codeaudit.transforms.source_files import Declined

USES = "class A { int f(int a) { int b = Math.abs(a); return b; } }"
MATH = "class Math { static int abs(int a) { return a; } }"


@pytest.mark.parametrize(
    ("others", "strange"),
    [
        ({}, False),
        ({"src/main/p/Math.java": f"package p; {MATH}"}, True),
        ({"src/main/p/Other.java": f"package p; class Other {{ }} {MATH}"}, True),
        ({"src/main/p/Base.java": f"package p; class Base {{ static {MATH} }}"}, True),
        ({"src/test/p/Math.java": f"package p; {MATH}"}, True),
        ({"src/test/p/ATest.java": f"package p; class ATest {{ }} /* math */ {MATH}"}, True),
        ({"src/main/q/Math.java": f"package q; {MATH}"}, False),
        ({"src/main/p/q/Math.java": f"package p.q; {MATH}"}, False),
        ({"src/main/p/Math.txt": MATH}, False),
        ({"src/main/p/Broken.java": "class { int Math;"}, False),
    ],
)
def test_a_name_that_another_file_of_the_package_declares(
    others: dict[str, str], strange: bool, tmp_path: Path
) -> None:
    for name, text in {"src/main/p/A.java": f"package p; {USES}", **others}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    plan = ProjectPlan(transforms=("rename",), seed=0)
    by_path = {file.path: file for file in perturb_files(tmp_path, source_files(tmp_path), plan, workers=1)}
    record = by_path["src/main/p/A.java"].records[0]
    assert (isinstance(record, Declined) and record.reason == REBOUND) is strange


FAR = f"package q; public class Far {{ public static {MATH} }}"


@pytest.mark.parametrize(
    ("head", "others", "strange"),
    [
        ("import q.Far; class A extends Far", {"q/Far.java": FAR}, True),
        ("class A implements q.Far", {"q/Far.java": FAR}, True),
        ("import q.*; class A extends Far<String>", {"src/q/Far.java": FAR}, True),
        ("import q.Far; class A extends B", {"p/B.java": "package p; class B extends q.Far { }", "q/Far.java": FAR}, True),
        ("class A extends B", {"p/C.java": "package p; class B extends q.Far { }", "q/Far.java": FAR}, True),
        (
            "import r.B; class A extends B",
            {"r/B.java": "package r; import q.*; public class B extends Far { }", "q/Far.java": FAR},
            True,
        ),
        (
            "import r.Out.B; class A extends B",
            {"r/Out.java": "package r; public class Out { public static class B extends q.Far { } }", "q/Far.java": FAR},
            True,
        ),
        ("import q.Far; class A", {"q/Far.java": FAR}, False),
        ("class A extends Other", {"q/Far.java": FAR, "q/Other.java": "package q; class Other { }"}, False),
        ("class A extends A", {}, False),
        ("class A extends B", {"q/B.java": "package q; class B extends A { }"}, False),
    ],
)  # fmt: skip
def test_a_name_that_is_inherited_from_another_package(
    head: str, others: dict[str, str], strange: bool, tmp_path: Path
) -> None:
    user = f"package p; {head}{USES.removeprefix('class A')}"
    for name, text in {"p/A.java": user, **others}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    plan = ProjectPlan(transforms=("rename",), seed=0)
    (file,) = perturb_files(tmp_path, ["p/A.java"], plan, workers=1)
    record = file.records[0]
    assert (isinstance(record, Declined) and record.reason == REBOUND) is strange


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "A.java").write_text(USES)
    (tmp_path / "B.java").write_text("class B { }")
    plan = ProjectPlan(transforms=("rename",), seed=0)
    for text, refused in (("class B { }", False), (f"class B {{ }} {MATH}", True)):
        (tmp_path / "B.java").write_text(text)
        (file,) = perturb_files(tmp_path, ["A.java"], plan, workers=1)
        assert isinstance(file.records[0], Declined) is refused


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        (
            "a.h",
            "class A {\npublic:\n    int f(int a) {\n    int b = a;\n    b += 2;\n    return b;\n}\n};\n",
            "cpp",
        ),
        (
            "a.h",
            "namespace n {\ninline int f(int a) {\n    int b = a;\n    b += 2;\n    return b;\n}\n}\n",
            "cpp",
        ),
        ("a.h", "template <class T>\nint f(T a) {\n    int b = a;\n    b += 2;\n    return b;\n}\n", "cpp"),
        ("a.h", "static int f(int a) {\n    int b = a;\n    b += 2;\n    return b;\n} // as std::abs\n", "c"),
        ("a.hpp", "static int f(int a) {\n    int b = a;\n    b += 2;\n    return b;\n}\n", "cpp"),
        ("a.c", "static int f(int a) {\n    int b = a;\n    b += 2;\n    return b;\n}\n", "c"),
    ],
)
def test_a_header_is_read_in_its_own_language(name: str, text: str, language: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    for place in (tmp_path, tmp_path / name):
        resources = CorpusResources(cache=None, note=lambda message: None)
        (sample,) = corpus(str(place), None, resources).read(Counter())
        assert sample.language == language
    (changed,) = perturb_files(tmp_path, [name], ProjectPlan(transforms=("rename",), seed=0), workers=1)
    assert b"int b = a" not in changed.after
    assert file_format(name, text.encode()).language == language

"""Documentation is taken out of a unit, and its first paragraph is the summary."""

import ast
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.tasks.summarisation import (
    NO_SUMMARY,
    SUMMARISATION,
    comment_above,
    of_comments,
    of_python,
    shows,
    summary_of,
)
from codeaudit.transforms.records import Sample

DOC = '"""Add two numbers.\n\n    Slowly.\n    """'


@pytest.mark.parametrize(
    ("source", "left", "words"),
    [
        (f"def f(a):\n    {DOC}\n    return a\n", "def f(a):\n    return a\n", "Add two numbers.\n\nSlowly."),
        ("def f(a):\n    'é' 'b'\n\n    return a", "def f(a):\n\n    return a", "éb"),
        ("# Adds.\n\n@cache\ndef f(a):\n    return a\n", "@cache\ndef f(a):\n    return a\n", "# Adds."),
        ("import re\n# no\ndef f(a):\n    return a\n", "import re\n# no\ndef f(a):\n    return a\n", ""),
        ("def f(a):\n    b'no text'\n    return a\n", "def f(a):\n    b'no text'\n    return a\n", ""),
    ],
)
def test_a_docstring_and_leading_comments_are_taken_out(source: str, left: str, words: str) -> None:
    parts = of_python(source)
    assert parts is not None
    assert tuple(parts) == (left, words)
    ast.parse(parts.source)


@pytest.mark.parametrize(
    "source",
    [
        "def f(a): 'Add.'; return a\n",  # shares its line
        "def f(a):\n    'Add.'; b = a\n    return b\n",
        "def f(a):\n    'Only this.'\n",
        "def f(a):\n    'Add.'\n    'A second text.'\n    return a\n",  # would become the docstring
        "x = 1\n",
        "def f(",
    ],
)
def test_what_cannot_be_taken_out(source: str) -> None:
    assert of_python(source) is None


def test_comments_in_front_of_other_languages() -> None:
    java = "/** Adds. */\n// fast\nint f(int a) { /* in */ return a; }"
    assert tuple(of_comments(java)) == ("int f(int a) { /* in */ return a; }", "/** Adds. */\n// fast\n")
    assert of_comments("int f() { return 1; } // end").words == ""


@pytest.mark.parametrize(
    ("above", "words"),
    [
        ("/* other */\nint g();\n\n/**\n * Adds.\n */\n", "Adds."),
        ("int g(); /* not mine */\n\n\n", ""),
        ("int g();\n// Adds two\n  // numbers.\n", "Adds two numbers."),
    ],
)
def test_the_comment_directly_above_a_unit(above: str, words: str) -> None:
    text = above + "int f() { return 1; }\n"
    assert summary_of(comment_above(text, above.count("\n") + 1)) == words


@pytest.mark.parametrize(
    ("words", "summary"),
    [
        ("Add two\n   numbers.\n\nSlowly.", "Add two numbers."),
        ("/**\n * Adds two numbers.\n * @param a one\n */", "Adds two numbers."),
        ("/// \\brief Adds two\n/// numbers.\n", "Adds two numbers."),
        ("Add numbers.\n:param a: one", "Add numbers."),
        ("Add numbers.\nArgs:\n  a: one", "Add numbers."),
        ("Returns the sum of the arguments.", "Returns the sum of the arguments."),
        ("@return nothing", ""),
        (" ", ""),
    ],
)
def test_a_summary_is_the_first_paragraph_without_details(words: str, summary: str) -> None:
    assert summary_of(words) == summary


def test_code_shows_a_summary_in_any_layout() -> None:
    assert shows("def f():\n    print('Adds  TWO\\n numbers')\n".replace("\\n", "\n"), "Adds two numbers.")
    assert not shows("adds_two_numbers()", "Adds two numbers.")


PYTHON = f"def add(first, second):\n    {DOC}\n    both = first + second\n    return both\n"
JAVA = "public int add(int first, int second) {\n    int both = first + second;\n    return both;\n}"
SCRIPT = "function add(first, second) {\n    const both = first + second;\n    return both;\n}"
NET = {"repository_name": "who/what", "split_name": "test", "func_name": "Sums.add"}


Layout: TypeAlias = Callable[[str, str, str], Mapping[str, object]]


def net(language: str, source: str, words: str) -> Mapping[str, object]:
    return {
        **NET,
        "language": language,
        "whole_func_string": source,
        "func_code_string": source,
        "func_documentation_string": words,
    }


def glue(language: str, source: str, words: str) -> Mapping[str, object]:
    row = {"repo": "who/what", "path": "a", "func_name": "Sums.add", "language": language, "sha": "1"}
    return {**row, "original_string": source, "code": source, "docstring": words, "docstring_tokens": ["Add"]}


def examples(rows: Sequence[Mapping[str, object]], folder: Path) -> tuple[list[Sample | str], Counter[str]]:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    skipped = Counter[str]()
    return [SUMMARISATION.prepare(raw) for raw in corpus(str(path)).read(skipped)], skipped


@pytest.mark.parametrize("layout", [net, glue])
def test_rows_of_code_search_net_and_codexglue(layout: Layout, tmp_path: Path) -> None:
    words = "Add two numbers.\n\nSlowly."
    rows = [
        layout("python", PYTHON, words),
        layout("java", JAVA, "Adds two numbers.\n\n@param first one"),
        layout("javascript", SCRIPT, "Adds two numbers."),
        layout("go", "func add() {}", "Adds."),
        layout("ruby", "def add; end", "Adds."),
        layout("php", "function add() {}", "Adds."),
        layout("python", PYTHON, ""),
        layout("java", JAVA, ""),
        layout("java", JAVA, "Adds both."),
        layout("java", JAVA.replace("{\n", "{\n    // adds two numbers\n", 1), "Adds two numbers."),
    ]
    prepared, skipped = examples(rows, tmp_path)
    outcomes = [example if isinstance(example, str) else example.label for example in prepared]
    assert outcomes == [
        "Add two numbers.",
        "Adds two numbers.",
        "Adds two numbers.",
        "Add two numbers.",
        NO_SUMMARY,
        "documentation under 3 words",
        "code that shows its summary elsewhere",
    ]
    assert all("numbers" not in example.source for example in prepared if isinstance(example, Sample))
    assert sum(skipped.values()) == 3
    assert all(reason.startswith("row in ") for reason in skipped)


def test_files_are_read_with_the_comments_above_their_units(tmp_path: Path) -> None:
    path = tmp_path / "A.java"
    path.write_text("class A {\n  /** Adds two numbers. */\n  " + JAVA.replace("\n", "\n  ") + "\n}\n")
    (example,) = [SUMMARISATION.prepare(each) for each in corpus(str(path)).read(Counter())]
    assert isinstance(example, Sample)
    assert example.label == "Adds two numbers."
    assert example.source.startswith("public int add")

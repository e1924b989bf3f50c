"""What is said before anything is asked: of labels and words, of languages, and of files that cannot be read."""

import json
from pathlib import Path

import pytest

from codeaudit.cli.main import main
from codeaudit.transforms.language import looks_like

C = "static int handle_alloc(State *bs, int n,\n    Meta **m)\n\n{\n    return bs->n + %d;\n}\n"
TEXTS = {
    "C": C % 1,
    "C++": "int Foo::bar(const std::string &a) const {\n  return 1;\n}\n",
    "Go": "func add(a int, b int) int {\n\treturn a + b\n}\n",
    "JavaScript": "export async function add(a, b) {\n  return a + b;\n}\n",
    "Rust": "pub fn add(a: i32) -> i32 {\n    a + 1\n}\n",
    "PHP": "<?php function add($a) { return $a; }\n",
    "Java": "public static int add(int a) {\n    return a;\n}\n",
    "C or Java": "int add(int a) {\n    return a + 1;\n}\n",
}
PYTHON = (
    "def f(a):\n    return {1: a}\n",
    "@wraps(f)\ndef g(a: dict = {}):\n    return a\n",
    "class A:\n    def f(self):\n        return {}\n",
    "async def f():\n    return {}\n",
    "Config(a={})\n",
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def table(*rows: dict[str, object]) -> None:
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["run", "--corpus", "t.jsonl", "--model", "fake/hash", "--limit", "10", *words])
    return code, capsys.readouterr().err


@pytest.mark.parametrize("title", TEXTS)
def test_a_text_looks_like_its_language(title: str) -> None:
    assert looks_like(TEXTS[title]) == title


@pytest.mark.parametrize("text", PYTHON)
def test_python_looks_like_nothing_else(text: str) -> None:
    assert looks_like(text) is None


@pytest.mark.parametrize("task", [["--task", "classification"], ["--task", "error-detection"], []])
def test_rows_in_c_that_name_no_language_are_not_read_as_python(
    task: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    table(*({"func": C % number, "target": number % 2} for number in range(20)))
    code, err = told(capsys, "--columns", "source=func,label=target", *task)
    assert code == 3
    assert "20 × row that looks like C); if it is C, write --columns language=c" in err


def labelled(*labels: object) -> None:
    table(
        *(
            {"source": f"def f{n}(a):\n    b = a + {n}\n    return b\n", "label": labels[n % len(labels)]}
            for n in range(30)
        )
    )


def test_a_map_to_no_label_ends_before_anything_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    labelled(0, 1)
    code, err = told(capsys, "--task", "classification", "--label-map", "vulnerable=2")
    assert (code, "--label-map vulnerable=2: no label 2; the labels are 0, 1" in err) == (2, True)
    assert "answers" not in err
    code, err = told(capsys, "--task", "error-detection", "--label-map", "vulnerable=bad")
    assert (code, "no label bad; the labels are buggy, clean" in err) == (2, True)
    code, err = told(capsys, "--task", "function-name", "--label-map", "a=b")
    assert (code, "the task 'function-name' has none" in err) == (2, True)


def test_other_words_of_a_column_are_named_with_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    labelled("safe", "vulnerable")
    code, err = told(capsys, "--task", "error-detection")
    assert code == 3
    assert "other values, such as 5 × '" in err
    assert "(it takes one of the words buggy, clean)" in err
    assert "--label-map WORD=LABEL" in err
    code, _ = told(capsys, "--task", "error-detection", "--label-map", "safe=clean,vulnerable=buggy")
    assert code == 0


def test_a_model_of_other_words_is_not_told_to_go_on_with_the_same_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    labelled(0, 1)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("odd_words.py").write_text("def say(queries):\n    return ['odd'] * len(queries)\n", "utf-8")
    words = [
        "--corpus",
        "t.jsonl",
        "--model",
        "py/odd_words:say",
        "--task",
        "classification",
        "--limit",
        "20",
    ]
    assert main(["run", *words]) == 3
    err = capsys.readouterr().err
    assert "start again with --label-map WORD=LABEL" in err
    assert "go on with" not in err


def test_one_file_has_one_reason_and_others_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("src").mkdir()
    Path("src/a.cs").write_text("int f(int a) { return a; }\n", "utf-8")
    Path("src/tabs.py").write_text("def f(values):\n\tx = min(values)\n        return x\n", "utf-8")
    Path("src/ok.py").write_text("def low(values):\n    x = min(values)\n    return x\n", "utf-8")
    reason = "tabs.py (not valid Python: line 3: inconsistent use of tabs"
    assert main(["transform", "src", "--diff"]) == 0
    err = capsys.readouterr().err
    assert reason in err
    assert "left as they are: 1 × in C# (no transform yet)" in err
    assert main(["run", "--corpus", "src", "--model", "fake/hash", "--limit", "3", "--workers", "1"]) == 0
    assert reason in capsys.readouterr().err
    Path("src/tabs.py").unlink()
    Path("src/ok.py").unlink()
    for command in (["transform", "src", "--diff"], ["run", "--corpus", "src", "--model", "fake/hash"]):
        assert main(command) == 3
        assert "files in 'src' (1 × in C# (no transform yet)); rewritten today" in capsys.readouterr().err


def test_the_first_run_of_a_project_draws_movable_samples() -> None:
    assert main(["init", "--install", "codeaudit_ml-0.1.0-py3-none-any.whl"]) == 0
    text = Path("codeaudit.toml").read_text("utf-8")
    assert "\nlimit" not in text
    assert "# limit = 200" in text

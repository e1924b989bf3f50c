"""Words of `--label-map` and truth values, in all forms of replies and for all kinds of models and tables."""

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy
import pyarrow
import pytest
from pyarrow import parquet

from codeaudit.audit.interface import Task
from codeaudit.audit.models.answers import read_answer
from codeaudit.audit.models.text_models import customised
from codeaudit.audit.records import UNREAD, Failed, Predicted, Query
from codeaudit.audit.registry import TASKS
from codeaudit.audit.run import _checked
from codeaudit.cli.main import main

FORMS: Final = (
    "{}",
    "{}.",
    "`{}`",
    "**{}**",
    '"{}"',
    "[{}]",
    "- {}",
    "Answer: {}",
    "**Answer:** {}",
    "Label: {}",
    "Verdict: `{}`",
    '{{"label": "{}"}}',
    '"label": "{}"',
    '{{"answer": "{}", "reason": "it copies"}}',
    "```\n{}\n```",
    "<answer>{}</answer>",
    r"\boxed{{{}}}",
    "The answer is {}.",
    "The function is {}.",
    "The function is {} because it does not check the size.",
    "{}: it copies without a check",
    "<think>Is it? Hm.</think>\n{}",
    "{}\n\nIt copies into a buffer.",
)
"""Forms of replies that state one label."""
UNCLEAR: Final = (
    "{} or {}",
    "{}\n{}",
    "Not {}.",
    "It might be {}.",
    "Answer: {}\nAnswer: {}",
    "Either {} or {}.",
)
LABEL_SETS: Final = {
    "numbers": ("classification", ("0", "1")),
    "truths": ("classification", ("false", "true")),
    "names": ("classification", ("CWE-79", "CWE-89")),
    "bugs": ("error-detection", ("clean", "buggy")),
}
WORDS: Final = {
    "plain": ("safe", "vulnerable"),
    "spaced": ("no flaw", "a flaw"),
    "capital": ("SAFE", "VULNERABLE"),
}


def task_of(name: str, labels: tuple[str, ...], words: tuple[str, ...]) -> Task:
    return TASKS.get(name).mapped(dict(zip(words, labels, strict=True))).fitted(labels)


def by_prompt(task: Task, labels: tuple[str, ...], text: str) -> Predicted | Failed:
    """As a chat model's reply."""
    query = Query(
        task=task.name, language="python", source="x", labels=labels, words=tuple(task.words.items())
    )
    return _checked(task, customised().of(query).read(text))


def by_callable(task: Task, labels: tuple[str, ...], text: str) -> Predicted | Failed:
    return _checked(task, read_answer(text))


def by_program(task: Task, labels: tuple[str, ...], text: str) -> Predicted | Failed:
    return _checked(task, read_answer({"answer": text}))


KINDS: Final = (by_prompt, by_callable, by_program)


@pytest.mark.thinned(9)
@pytest.mark.parametrize("words", WORDS.values(), ids=list(WORDS))
@pytest.mark.parametrize("kind", LABEL_SETS)
@pytest.mark.parametrize("ask", KINDS)
def test_a_mapped_word_is_read_in_every_form(
    ask: Callable[[Task, tuple[str, ...], str], Predicted | Failed], kind: str, words: tuple[str, ...]
) -> None:
    name, labels = LABEL_SETS[kind]
    task = task_of(name, labels, words)
    for form in FORMS:
        for label, word in zip(labels, words, strict=True):
            for said in dict.fromkeys((word, word.capitalize(), label)):
                prediction = ask(task, labels, form.format(said))
                # A number in prose is another number more often than a label.
                prose = said.lower() in ("0", "1", "true", "false") and form.startswith(
                    ("The function", "{}: ")
                )
                if prose and isinstance(prediction, Failed):
                    continue
                assert isinstance(prediction, Predicted), (form, said)
                assert prediction.answer == label, (form, said)
                assert prediction.replies[0].text == form.format(said)
                assert prediction.replies[0].read not in (UNREAD, ""), "the form is kept"
    for form in UNCLEAR:
        prediction = ask(task, labels, form.format(*words))
        assert isinstance(prediction, Failed), form
        assert prediction.replies[0].text == form.format(*words)


def test_two_words_for_one_label_are_one_candidate() -> None:
    task = (
        TASKS.get("classification").mapped({"vulnerable": "1", "unsafe": "1", "safe": "0"}).fitted(("0", "1"))
    )
    for kind in KINDS:
        prediction = kind(task, ("0", "1"), "vulnerable\n\nAnswer: unsafe")
        assert isinstance(prediction, Predicted)
        assert prediction.answer == "1"
        assert isinstance(kind(task, ("0", "1"), "vulnerable\n\nAnswer: safe"), Failed)


def test_a_map_may_exchange_two_labels() -> None:
    task = TASKS.get("classification").mapped({"0": "1", "1": "0"}).fitted(("0", "1"))
    for kind in KINDS:
        prediction = kind(task, ("0", "1"), "Answer: 1")
        assert isinstance(prediction, Predicted)
        assert prediction.answer == "0"


def test_the_prompt_shows_the_words() -> None:
    query = Query(
        task="classification", language="python", source="x", labels=("0", "1"), words=(("vulnerable", "1"),)
    )
    asked = customised().of(query).messages(query)[0].content
    assert "- 0\n- 1 (vulnerable)\n" in asked
    prediction = customised().of(query).read("1 (vulnerable)")
    assert isinstance(prediction, Predicted)


# ── truth values ─────────────────────────────────────────────────────────────────────────────────────────


def _jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path = path.with_suffix(".jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def _json(path: Path, rows: list[dict[str, Any]]) -> Path:
    path = path.with_suffix(".json")
    path.write_text(json.dumps(rows), "utf-8")
    return path


def _csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    path = path.with_suffix(".csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def _parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    path = path.with_suffix(".parquet")
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


ANSWERS: Final = {
    "bool": "flag",
    "numpy": "numpy.bool_(flag)",
    "python": "str(flag)",
    "json": "str(flag).lower()",
    "sheet": "str(flag).upper()",
    "sentence": "f'Answer: {flag}'",
    "mapping": '{"answer": flag}',
    "words": '"vulnerable" if flag else "safe"',
}


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("write", [_jsonl, _json, _csv, _parquet])
@pytest.mark.parametrize("as_text", [False, True], ids=["truth values", "texts"])
def test_truth_values_of_every_table_are_those_of_every_model(
    write: Callable[[Path, list[dict[str, Any]]], Path],
    as_text: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    rows: list[dict[str, Any]] = []
    for number in range(24):
        text = f"def spread_{number}(values):\n    low = min(values)\n    return low + {number % 2}\n"
        flag = bool(number % 2)
        rows.append({"source": text, "label": str(flag) if as_text else flag})
    table = write(tmp_path / "flags", rows)
    models = "import numpy\n\n\ndef flag_of(query):\n    return 'low + 1' in query.source\n"
    for name, answer in ANSWERS.items():
        models += f"\n\ndef {name}_(queries):\n    return [{answer} for flag in map(flag_of, queries)]\n"
    module = f"flags_{write.__name__}_{as_text}"
    (tmp_path / f"{module}.py").write_text(models, "utf-8")
    words = [f"--model=py/{module}:{name}_" for name in ANSWERS]
    words += ["--label-map", "vulnerable=true,safe=False", "--transform", "identity", "--workers", "1"]
    code = main(
        ["run", "--corpus", table.name, "--task", "classification", *words, "--movable", "0", "--out", "out"]
    )
    assert code == 0
    summary = json.loads(Path("out/summary.json").read_text("utf-8"))
    by_model = {model["model"]: model["score"]["original"] for model in summary["models"]}
    assert by_model == {f"py/{module}:{name}_": 1.0 for name in ANSWERS}
    sys.modules.pop(module, None)


def test_numpy_is_read_like_python() -> None:
    assert read_answer(numpy.bool_(True)) == read_answer(True)

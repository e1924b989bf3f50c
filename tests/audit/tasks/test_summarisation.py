"""Summarisation: answers, scores, and the two rules by which summaries count as the same."""

import json
from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.interface import Task
from codeaudit.audit.records import Predicted
from codeaudit.audit.tasks.summarisation import SUMMARISATION, rouge_l
from codeaudit.cli.main import main
from codeaudit.reports.records import Summary
from codeaudit.transforms.registration import overrides


def test_it_has_partial_credit_and_several_rules() -> None:
    assert overrides(SUMMARISATION, Task.likeness)
    assert len(SUMMARISATION.criteria) == 2


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Adds two numbers.", "Adds two numbers."),
        ("**Summary:** Adds two\nnumbers.\n\nIt is fast.", "Adds two numbers."),
        ("Here is the summary:\n\n> Adds two numbers.", "Adds two numbers."),
        ('```python\n"""Adds two numbers."""\n```', "Adds two numbers."),
        ("Answer: `Adds two numbers`", "Adds two numbers"),
        ("/** Adds two numbers. */", "Adds two numbers."),
        ("Summary:\n\nAdds two numbers.", "Adds two numbers."),
        ("", None),
        ("...", None),
        (3.0, None),
    ],
)
def test_a_reply_is_its_first_paragraph(reply: object, answer: str | None) -> None:
    assert SUMMARISATION.normalise(reply) == answer


def test_the_rules_are_counted_apart() -> None:
    words, near = SUMMARISATION.criteria.values()
    assert words("Adds two numbers.", "adds  two numbers")
    assert SUMMARISATION.same(Predicted(answer="A b."), Predicted(answer="a b"))
    assert not words("Adds two numbers.", "Adds both numbers.")
    assert near("Adds the two numbers to the list.", "Adds two numbers to the list.")
    assert not near("Adds the two numbers to the list.", "Reads a file from disk.")


def example(label: str) -> object:
    return raw_sample("def f():\n    return 1\n", language="python", label=label, path="a", line=1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A b x c", (3 / 4 * 2 / 4 * 1 / 3 * 1 / 2) ** 0.25),  # as in test_likeness
        ("a b c d", 1.0),
        ("x y z", 0.0),
    ],
)
def test_bleu_is_lower_cased_and_smoothed_sentence_by_sentence(text: str, value: float) -> None:
    assert SUMMARISATION.score(text, example("a b c d")) == pytest.approx(value, abs=1e-9)  # type: ignore[arg-type]


def test_rouge_is_the_f1_of_the_longest_common_subsequence() -> None:
    assert rouge_l("Adds the numbers", "adds two numbers, fast") == pytest.approx(2 * 2 / 7)
    assert rouge_l("", "a") == rouge_l("b", "a") == 0.0


MODEL = """\
def told(samples):
    return [
        "Adds the two given numbers to each other."[: -1 if "first" in one.source else -6] for one in samples
    ]
"""


def test_a_run_reports_each_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_words.py").write_text(MODEL)
    rows = [
        {
            "source": f"def add_{n}(a):\n    first = {n} + a\n    second = first * a\n    return second\n",
            "label": f"Adds the two numbers and {n}.",
        }
        for n in range(4)
    ]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["run", "--task", "summarisation", "--corpus", "own.jsonl", "--model", "py/my_words:told"]
    assert main([*words, "--transform", "rename", "--movable", "0", "--variants", "1", "--out", "out"]) == 0
    (model,) = Summary.from_json((tmp_path / "out" / "summary.json").read_text()).models
    rates = {name: (part.violations.count, part.violations.total) for name, part in model.criteria.items()}
    assert rates == {"same words": (4, 4), "chrF of at least 70 %": (0, 4)}
    assert (model.violations.count, model.violations.total) == (4, 4)
    assert set(model.score.likeness) == {"chrF", "ROUGE-L"}


def test_without_the_library_the_run_ends_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    from codeaudit.audit.tasks import summarisation

    summarisation._bleu.cache_clear()
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    words = ["run", "--task", "summarisation", "--corpus", "stdlib:json", "--model", "fake/hash"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 3
    assert 'pip install "codeaudit-ml[summaries]"' in capsys.readouterr().err

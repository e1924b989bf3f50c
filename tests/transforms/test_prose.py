"""Words that say what code is for: which are edited, how, and that no rate counts them with proven edits."""

import json
from pathlib import Path
from random import Random

import pytest

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.evidence_check import FindingCounts, execute, witnesses
from codeaudit.audit.interface import LabelSource
from codeaudit.audit.records import Case
from codeaudit.audit.registry import TASKS
from codeaudit.cli.main import main
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.prose import EVERY, NO_WORDS, PARAPHRASES, letter_case, plain_words
from codeaudit.transforms.python.parsing import content
from codeaudit.transforms.records import NotApplied, Outcome, Perturbed
from codeaudit.transforms.registry import expand, transform_for

WIDEST = '''\
def widest(values, least=0):
    """Return the LARGEST of the given values that is greater than `least`.

    Check if there are any; otherwise return least.
    >>> widest([3, 8], 4)
    8
    Another example with many words.
    """
    found = [value for value in values if value > least]
    return max(found, default=least)
'''
CHECK = "def check(candidate):\n    assert candidate([3, 8], 4) == 8\n"


def made(name: str, source: str = WIDEST) -> list[Outcome]:
    sample = raw_sample(source, language="python", label=None, path="a.py", line=1)
    return list(perturb_one(sample, transform_for(name, "python"), variants=3, seed=0))


def test_only_words_of_sentences_are_edited() -> None:
    lines = plain_words(WIDEST[WIDEST.index("Return") :], {"values", "least"})
    assert [word[0] for word in lines[0]] == ["Check", "if", "there", "are", "any", "otherwise", "return"]
    assert len(lines) == 1, "the first line holds code, and behind the first example nothing is a sentence"


@pytest.mark.parametrize("name", sorted(EVERY))
def test_the_code_and_the_examples_stay(name: str) -> None:
    outcomes = made(name)
    assert any(isinstance(outcome, Perturbed) for outcome in outcomes)
    for outcome in outcomes:
        if isinstance(outcome, Perturbed):
            assert (outcome.kind, outcome.evidence) == ("prose", "assumed")
            assert content(outcome.source) == content(WIDEST)
            assert outcome.source.partition(">>>")[2] == WIDEST.partition(">>>")[2]


@pytest.mark.parametrize(
    "text",
    [
        "def f(a):\n    return a\n",
        'def f(a):\n    """>>> f(1)\n    1"""\n',
        'def f(a):\n    """Give it back (\\x61 b)."""\n',
    ],
)
def test_without_sentences_nothing_is_edited(text: str) -> None:
    (first, *_) = made("prose-typos", text)
    assert isinstance(first, NotApplied)
    assert first.reason == NO_WORDS


def test_a_docstring_that_code_reads_stays() -> None:
    (first, *_) = made("prose-case", WIDEST + "    print(widest.__doc__)\n")
    assert isinstance(first, NotApplied)
    (first, *_) = made("prose-case", 'def f():\n    ("Give all of it " "back.")\n')
    assert isinstance(first, NotApplied)


def test_an_edit_of_one_letter_and_the_table() -> None:
    assert {option.text for options in letter_case("A", frozenset()) for option in options} == {"a"}
    for phrase, others in PARAPHRASES.items():
        assert phrase == phrase.lower()
        assert phrase not in others


SQUARES = """\
/* Return the sum of the squares of all numbers that are greater than zero.
 * >>> squares([1, 2])
 * with other words
 */
const squares = (numbers) => {
  // Leave this comment of the code.
  return numbers.length;
};
"""


@pytest.mark.parametrize("language", ["javascript", "typescript"])
@pytest.mark.parametrize("name", sorted(EVERY))
def test_words_in_comments_above_a_function(name: str, language: str) -> None:
    source = f"// eslint-disable-next-line no-undef, and a long sentence\nlet a = 1;\n{SQUARES}"
    sample = raw_sample(source, language=language, label=None, path="a.js", line=1)
    outcomes = list(perturb_one(sample, transform_for(name, language), variants=3, seed=0))
    edits = [outcome for outcome in outcomes if isinstance(outcome, Perturbed)]
    assert edits
    for edit in edits:
        assert (edit.kind, edit.evidence) == ("prose", "assumed")
        before, after = source.splitlines(), edit.source.splitlines()
        changed = [
            number for number, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]
        ]
        assert changed == [2]


def test_comments_one_below_the_other_are_one_text() -> None:
    source = "// Return all of the\n// given numbers.\n// Example: numbers of it\n// given numbers.\n"
    source += "function given(a) { return a; }\n"
    sample = raw_sample(source, language="javascript", label=None, path="a.js", line=1)
    (outcome, *_) = perturb_one(sample, transform_for("prose-case", "javascript"), variants=1, seed=0)
    assert isinstance(outcome, Perturbed)
    assert outcome.source.splitlines()[2:] == source.splitlines()[2:], "an example, and what stands behind it"


def test_the_family_is_asked_for_by_name_and_mixes_with_nothing() -> None:
    assert set(EVERY) == set(expand(["prose"], languages=("python", "javascript", "typescript")))
    assert set(EVERY).isdisjoint(expand(["all"]))
    with pytest.raises(UsageError, match="cannot be mixed"):
        transform_for("mixed/prose+rename", "python")


def test_neither_execution_nor_tests_vouch_for_words(tmp_path: Path) -> None:
    task = TASKS.get("generation")
    raw = raw_sample(WIDEST, language="python", label="widest", path="a.py", line=1, tests=CHECK)
    sample = task.prepare(raw)
    assert not isinstance(sample, str)
    variants = tuple(perturb_one(sample, transform_for("prose-typos", "python"), variants=1, seed=0))
    assert task.askable(sample, variants) == variants
    case = Case(sample=sample, outcomes=variants)
    assert list(execute([case], witnesses(["python"], LabelSource()), FindingCounts())) == [case]


def test_a_run_tells_them_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEAUDIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "words.py").write_text(
        "def ask(queries):\n"
        "    return [f'    return max(values)' if ' otherwise ' in one.source else 'pass' for one in queries]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    row = {"prompt": WIDEST.partition("    found")[0], "entry_point": "widest", "test": CHECK}
    row["canonical_solution"] = WIDEST[len(row["prompt"]) :]
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    words = ["run", "--corpus", str(tmp_path / "rows.jsonl"), "--workers", "1", "--model"]
    out = str(tmp_path / "out")
    asked = ["--task", "generation:0", "--transform", "prose,rename", "--out", out]
    assert main([*words, "py/words:ask", *asked]) == 0
    shown = capsys.readouterr().out
    assert "assumed and not shown; they count in no other rate" in " ".join(shown.split())
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())["models"][0]
    rows = {row["transform"]: row for row in summary["by_transform"]}
    assert {rows[name]["kind"] for name in EVERY} == {"prose"}
    assert any(rows[name]["violations"]["count"] for name in EVERY)
    assert summary["violations"]["count"] == 0
    assert rows["prose-typos"]["evidence"] == {"assumed": rows["prose-typos"]["applied"]}
    assert main(["gate", out, "--max-violation-rate", "0", "--allow-insensitive"]) in (0, 3)
    assert "prose" not in capsys.readouterr().out
    assert main(["gate", out, "--max-violation-rate", "0", "--transform", "prose-typos"]) == 2
    assert main([*words, "fake/hash", "--task", "function-name", "--transform", "prose-case"]) == 2
    assert "take --task generation" in capsys.readouterr().err


@pytest.mark.parametrize(
    "comment",
    [
        "// @ts-ignore return the sum of all numbers",
        "//# sourceMappingURL=the sum of all numbers.map",
        "/* istanbul ignore next: return the sum of all numbers */",
        '// webpackChunkName: "the sum of all numbers"',
        "/*! return the sum of all numbers */",
        "// SPDX-License-Identifier: return the sum of all numbers",
        "// Copyright: return the sum of all numbers",
    ],
)
def test_a_comment_that_a_tool_of_javascript_reads_keeps_its_words(comment: str) -> None:
    text = f"{comment}\nfunction f(values) {{ return values; }}\n"
    for name in EVERY:
        assert isinstance(transform_for(name, "javascript").propose(text, Random(0)), Refused), name

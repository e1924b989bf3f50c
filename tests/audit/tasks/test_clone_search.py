"""Clone search: candidates, ranks of the right ones, MAP@R, and a run on rows as in POJ-104."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.prompt_cut import shown_of
from codeaudit.audit.records import Failed, Predicted, Query
from codeaudit.audit.tasks.clone_search import CLONE_SEARCH, MOST_RIGHT, NO_CLONE, NOT_NAMED, with_clones
from codeaudit.audit.tasks.code_search import CANDIDATES
from codeaudit.cli.main import main
from codeaudit.reports.records import Summary
from codeaudit.transforms.records import Sample

PROGRAM = "int main()\n{{\n  int total = {0};\n  int rest = total {1} {2};\n  return rest;\n}}\n"


def example(problem: int, number: int) -> Sample:
    code = PROGRAM.format(number, "+-*/%"[problem], problem + 1)
    prepared = CLONE_SEARCH.prepare(raw_sample(code, language="c", label=str(problem), path="a", line=number))
    assert isinstance(prepared, Sample), prepared
    return prepared


EXAMPLES = [example(problem, number) for problem in range(4) for number in range(1, 9)]


def test_a_unit_has_right_and_wrong_candidates_and_is_none_of_them() -> None:
    question = with_clones(EXAMPLES[3], EXAMPLES)
    assert isinstance(question, Sample)
    assert len(set(question.candidates)) == CANDIDATES
    assert question.source not in question.candidates
    assert isinstance(question.label, tuple)
    assert len(question.label) == MOST_RIGHT
    assert {"+ 1" in question.candidates[int(number) - 1] for number in question.label} == {True}
    assert sum("+ 1" in each for each in question.candidates) == MOST_RIGHT
    assert with_clones(EXAMPLES[3], EXAMPLES[::-1]) == question, "the order of the corpus decides nothing"
    edited = question.source.replace("total", "sum")
    assert shown_of(question, edited) == {"source": edited, "candidates": question.candidates}
    assert with_clones(EXAMPLES[3], EXAMPLES[8:]) == NO_CLONE
    twin = replace(EXAMPLES[9], source=EXAMPLES[4].source)
    with_twin = with_clones(EXAMPLES[3], [*EXAMPLES, twin])
    assert isinstance(with_twin, Sample)
    assert twin.source not in with_twin.candidates, "a text with two labels is neither right nor wrong"


def test_map_at_r_by_hand() -> None:
    question = replace(EXAMPLES[0], label=("2", "5", "6"), candidates=tuple("abcdefgh"))
    scores = tuple((str(n), score) for n, score in enumerate((0.5, 1.0, 0.0, 0.0, 0.75, 0.25), start=1))
    said = CLONE_SEARCH.graded(Predicted(answer=("2", "1", "5", "6"), scores=scores), "", question)
    assert isinstance(said, Predicted)
    assert (said.answer, said.margin) == (("1", "3", "4"), 0.25)
    assert dict(said.scores) == {"right candidates": pytest.approx(2 / 3)}
    # Of the first three candidates the first and the third are right: (1/1 + 2/3) / 3.
    assert CLONE_SEARCH.score(said.answer, question) == pytest.approx((1 + 2 / 3) / 3)
    none = CLONE_SEARCH.graded(Predicted(answer=("1",)), "", question)
    assert isinstance(none, Predicted)
    assert none.answer == NOT_NAMED
    assert CLONE_SEARCH.score(NOT_NAMED, question) == 0
    assert CLONE_SEARCH.score(("1", "2", "3"), question) == 1
    assert CLONE_SEARCH.likeness([(said.answer, question), (NOT_NAMED, question)]) == {"precision@1": 0.5}
    assert isinstance(CLONE_SEARCH.graded(Predicted(answer=("9",)), "", question), Failed)


def test_embeddings_compare_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    model = catalogue.load("openai/e", Settings(base_url="http://127.0.0.1:9/v1"), {"api": "embeddings"})
    assert model.tasks == {"code-search", "clone-search"}


MODEL = """\
def find(samples):
    signs = [{sign for sign in "+-*/" if f" {sign} " in one.source} for one in samples]
    assert all(one.source not in one.candidates for one in samples)
    return [
        {"scores": [float(any(f" {s} " in code for s in sign)) - ("total" not in one.source) * (n % 2)
                    for n, code in enumerate(one.candidates)]}
        for one, sign in zip(samples, signs)
    ]
"""


def test_a_run_on_rows_of_poj(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_clones.py").write_text(MODEL)
    rows = [
        {"index": str(n), "code": sample.source, "label": str(sample.label)}
        for n, sample in enumerate(EXAMPLES)
    ]  # fmt: skip
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["run", "--task", "clone-search", "--corpus", "test.jsonl", "--limit", "6", "--movable", "0"]
    words += ["--transform", "rename", "--variants", "1", "--model", "py/my_clones:find", "--out", "out"]
    assert main(words) == 0, capsys.readouterr().err
    (model,) = Summary.from_json((tmp_path / "out" / "summary.json").read_text()).models
    assert model.score.original == 1.0
    assert model.violations.total == 6
    assert model.violations.count > 0, "a rename takes the word that the model looks for"
    assert set(model.criteria) == {"same ranks", "first or not"}
    assert (
        main(["run", "--suite", "out/suite.parquet", "--model", "py/my_clones:find", "--out", "again"]) == 0
    )
    assert main(["explain", "out", "--model", "py/my_clones:find", "--show", "1"]) == 0
    assert "of 20 for the right candidates" in capsys.readouterr().out


def test_a_fake_ranks_by_the_code() -> None:
    model = catalogue.load("fake/length", Settings(), {})
    query = Query(task="clone-search", language="c", source="int a;", candidates=("int b;", "int c;"))
    (prediction,) = model.predict([query])
    assert isinstance(prediction, Predicted)
    assert CLONE_SEARCH.normalise(prediction.answer) is not None

"""Code search: queries, candidates, ranks, and models of each kind that rank."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from math import log2
from pathlib import Path

import pytest

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.answers import read_answer
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.prompts import QuestionPrompt
from codeaudit.audit.records import Answer, Failed, Predicted, Query
from codeaudit.audit.registry import TASKS
from codeaudit.audit.run import asked_of
from codeaudit.audit.suite import SuitePlan, case
from codeaudit.audit.tasks.code_search import ALONE, CANDIDATES, CODE_SEARCH, with_candidates
from codeaudit.audit.tasks.summarisation import SUMMARISATION
from codeaudit.cli.main import main
from codeaudit.reports.records import Summary
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.records import Perturbed, Sample
from tests.support.endpoints import Act, Asked, sends, serving


def source(number: int, body: str = "total") -> str:
    return f"def add_{number}(a):\n    {body} = a + {number}\n    rest = {body} * a\n    return rest\n"


def example(number: int) -> Sample:
    words = f"Adds the number {number} and multiplies."
    prepared = CODE_SEARCH.prepare(
        raw_sample(source(number), language="python", label=words, path="a.py", line=number)
    )
    assert isinstance(prepared, Sample)
    return prepared


EXAMPLES = [example(number) for number in range(30)]


def test_a_sample_has_its_query_and_others_at_a_place_of_its_own() -> None:
    question = with_candidates(EXAMPLES[3], EXAMPLES)
    assert isinstance(question, Sample)
    assert question.text == "Adds the number 3 and multiplies."
    assert len(question.candidates) == len(set(question.candidates)) == CANDIDATES
    assert question.source in question.candidates
    assert with_candidates(EXAMPLES[3], EXAMPLES[::-1]) == question, "the order of the corpus decides nothing"
    placed = [with_candidates(each, EXAMPLES) for each in EXAMPLES]
    assert len({each.candidates.index(each.source) for each in placed if isinstance(each, Sample)}) > 5


def test_who_is_no_candidate() -> None:
    twin = replace(EXAMPLES[1], source=source(1, "sum_"))
    java = replace(EXAMPLES[2], language="java")
    assert with_candidates(EXAMPLES[1], [EXAMPLES[1], twin, java]) == ALONE


@pytest.mark.parametrize(
    ("answer", "ranking"),
    [
        (3, ("3",)),
        (3.0, ("3",)),
        ("#3", ("3",)),
        ("3, 1,2", ("3", "1", "2")),
        (("3", "1", "3"), ("3", "1")),
        ((), None),
        ("three", None),
        (0, None),
        (2.5, None),
        (True, None),
        ("3, ?", None),
    ],
)
def test_answers_are_numbers_of_candidates(answer: object, ranking: Answer | None) -> None:
    assert CODE_SEARCH.normalise(answer) == ranking


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("7", "7"),
        ("Answer: 7", "7"),
        ("**Candidate 7**", "7"),
        ("3 > 1 > 2", ("3", "1", "2")),
        ("It is either 3 or 4.", None),
        ("Function 3 adds numbers, 4 does not.", None),
    ],
)
def test_replies_of_chat_models(reply: str, answer: Answer | None) -> None:
    assert isinstance(CODE_SEARCH.prompt, QuestionPrompt)
    prediction = CODE_SEARCH.prompt.read(reply)
    assert (prediction.answer if isinstance(prediction, Predicted) else None) == answer


def test_an_answer_is_the_rank_of_the_right_candidate() -> None:
    question = with_candidates(EXAMPLES[3], EXAMPLES)
    assert isinstance(question, Sample)
    right = str(question.candidates.index(question.source) + 1)
    others = [str(n) for n in range(1, 21) if str(n) != right]
    scores = tuple(sorted({right: 0.5, others[0]: 0.9, others[1]: 0.25}.items()))
    said = CODE_SEARCH.graded(Predicted(answer=(others[0], right), scores=scores), "", question)
    assert isinstance(said, Predicted)
    assert (said.answer, dict(said.scores), said.margin) == (2.0, {"right candidate": 0.5}, 0.25)
    assert CODE_SEARCH.graded(Predicted(answer=(others[0],)), "", question) == Predicted(answer=0.0)
    assert isinstance(CODE_SEARCH.graded(Predicted(answer=("21",)), "", question), Failed)


def test_scores_by_hand() -> None:
    answers: list[tuple[Answer, Sample]] = [(rank, EXAMPLES[0]) for rank in (1.0, 2.0, 20.0, 0.0)]
    assert CODE_SEARCH.corpus_score(answers) == pytest.approx((1 + 1 / 2 + 1 / 20) / 4)
    assert CODE_SEARCH.likeness(answers) == pytest.approx(
        {"recall@1": 0.25, "recall@5": 0.5, "recall@10": 0.5, "NDCG@10": (1 + 1 / log2(3)) / 4}
    )
    same, first = CODE_SEARCH.criteria.values()
    assert (same(2.0, 3.0), first(2.0, 3.0), first(1.0, 2.0)) == (False, True, False)


def test_programs_and_callables_give_a_ranking_or_scores() -> None:
    assert read_answer({"ranking": [2, 1]}) == Predicted(answer=("2", "1"))
    scores = (("1", 0.5), ("2", 0.75), ("3", 0.5))
    assert read_answer({"scores": [0.5, 0.75, 0.5]}) == Predicted(answer=("2", "1", "3"), scores=scores)
    assert isinstance(read_answer({"scores": [0.5, None]}), Failed)
    assert isinstance(read_answer({"scores": []}), Failed)
    assert isinstance(read_answer([2, 1]), Failed), "scores or a ranking? nothing is guessed"


MODEL = """\
import json, sys


def near(text, code):
    words = set(text.lower().replace(".", "").split())
    return sum(word in code for word in words) - ("total" not in code)


def find(samples):
    assert all(one.source == "" for one in samples)
    return [{"scores": [near(one.text, code) for code in one.candidates]} for one in samples]


if __name__ == "__main__":
    for line in sys.stdin:
        one = json.loads(line)
        values = [near(one["text"], code) for code in one["candidates"]]
        order = sorted(range(len(values)), key=lambda n: -values[n])
        print(json.dumps({"id": one["id"], "ranking": [n + 1 for n in order]}), flush=True)
"""
COSQA: Mapping[str, object] = {"idx": "cosqa-train-0", "code_tokens": "def", "docstring_tokens": "Add"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_search.py").write_text(MODEL)
    rows = [{**COSQA, "doc": f"python add the number {n}", "code": source(n), "label": 1} for n in range(24)]
    rows.append({**COSQA, "doc": "python read a file", "code": source(99), "label": 0})
    (tmp_path / "cosqa.json").write_text(json.dumps(rows))
    return tmp_path


@pytest.mark.thinned(1)
@pytest.mark.parametrize("model", ["py/my_search:find", "exec/{python} my_search.py"])
def test_a_run_on_cosqa(model: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    words = ["run", "--task", "code-search", "--corpus", "cosqa.json", "--limit", "6", "--movable", "0"]
    words += ["--transform", "rename", "--variants", "1", "--model", model.format(python=sys.executable)]
    assert main([*words, "--out", "out"]) == 0
    assert "1 × code that does not answer its query" in capsys.readouterr().err
    (audited,) = Summary.from_json((here / "out" / "summary.json").read_text()).models
    assert audited.violations.total == 6
    assert audited.violations.count > 0, "a rename takes the word that the model looks for"
    assert set(audited.criteria) == {"same rank", "first or not"}
    assert audited.score.original is not None
    if model.startswith("py"):
        assert audited.max_deviation == 1.0, "how far the score of the right candidate moved"
    shared = [main(["run", "--suite", "out/suite.parquet", "--model", "py/my_search:find", "--out", "again"])]
    assert shared == [0], "a suite carries queries and candidates"


@pytest.mark.parametrize("name", ["rename", "rename-merging"])
def test_every_candidate_is_rewritten_but_a_control_changes_only_the_right_one(name: str) -> None:
    question = with_candidates(EXAMPLES[3], EXAMPLES)
    assert isinstance(question, Sample)
    fixed = "def add(a):\n    return a\n"  # nothing to rename
    sample = replace(question, sides="all", candidates=(*question.candidates, fixed))
    right = sample.candidates.index(sample.source)
    made = case(sample, SuitePlan(transforms=(name,), variants=2, seed=0)).outcomes
    edits = [outcome for outcome in made if isinstance(outcome, Perturbed)]
    assert edits
    for edit in edits:
        shown = asked_of(sample, edit, CODE_SEARCH).candidates
        assert (shown[right], shown[-1]) == (edit.source, fixed)
        others = [
            before != after
            for before, after in zip(sample.candidates[:-1], shown, strict=False)
            if before != sample.source
        ]
        assert set(others) == {edit.kind == "preserving"}


def test_a_run_that_rewrites_all_candidates(here: Path) -> None:
    words = ["run", "--task", "code-search:all", "--corpus", "cosqa.json", "--limit", "6", "--movable", "0"]
    words += ["--transform", "rename", "--variants", "1"]
    assert main([*words, "--model", "py/my_search:find", "--out", "out"]) == 0
    (audited,) = Summary.from_json((here / "out" / "summary.json").read_text()).models
    # Each name that counts for the score of the model is gone from all candidates, so all are alike again.
    assert (audited.violations.count, audited.violations.total) == (0, 6)
    with pytest.raises(UsageError, match="unknown side 'second'; known: all, first"):
        TASKS.get("code-search:second")
    assert main(["explain", "out", "--model", "py/my_search:find"]) == 0


def test_a_fake_that_makes_noise_rehearses_a_search(here: Path) -> None:
    words = "run --task code-search --corpus cosqa.json --limit 6 --movable 0 --transform rename --variants 1"
    model = "--model fake/noisy -M p=1 --model fake/chatty --out out"
    assert main([*words.split(), *model.split()]) == 0
    noisy, chatty = Summary.from_json((here / "out" / "summary.json").read_text()).models
    assert noisy.noise_floor.count > 0
    assert (chatty.violations.count, chatty.violations.total, chatty.noise_floor.count) == (0, 6, 0)
    assert (chatty.score.original or 0) > 0.05


def test_a_small_corpus_says_how_many_candidates_it_gives(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in (1, 4):
        rows = [{"code": source(n), "docstring": f"Adds the number {n} and more.", "language": "python"}
                for n in range(number)]  # fmt: skip
        (here / f"of{number}.json").write_text(json.dumps(rows))
    words = ["run", "--task", "code-search", "--columns", "source=code,label=docstring"]
    words += ["--transform", "rename", "--model", "py/my_search:find", "--corpus"]
    assert main([*words, "of1.json", "--out", "one"]) == 3
    assert "has no language with 2 units with a description" in capsys.readouterr().err
    assert main([*words, "of4.json", "--out", "four"]) == 0
    assert "a query has 4 candidates and not 20" in capsys.readouterr().err
    labels = json.loads((here / "four" / "manifest.json").read_text())["corpus"]["labels"]
    assert labels["candidates"] == 4
    assert main(["explain", "four", "--model", "py/my_search:find", "--show", "1"]) == 0
    printed = capsys.readouterr().out
    assert "of 4 for the right candidate" in printed
    assert "query   Adds the number" in printed
    assert "now first: candidate" in printed


def test_a_query_is_no_summary_that_a_model_sees(here: Path) -> None:
    (raw, *_) = corpus("cosqa.json").read(Counter())
    prepared = SUMMARISATION.prepare(raw)
    assert isinstance(prepared, Sample)
    assert prepared.text == ""


def embedded(asked: Asked) -> Act:
    assert asked.path == "/v1/embeddings"
    rows = [
        {"index": n, "embedding": [1.0, text.count("a"), len(text) / 10]}
        for n, text in enumerate(asked.body["input"])
    ]
    usage = {"prompt_tokens": 12, "total_tokens": 12}
    return sends(200, json.dumps({"data": rows[::-1], "model": "tiny-e", "usage": usage}))


ENDPOINT_QUERY = Query(
    task="code-search", language="python", source="", text="aab", candidates=("bbbbbbbb", "aab", "ab")
)


@pytest.mark.slow
def test_an_endpoint_of_embeddings_ranks_by_the_cosine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving(embedded) as endpoint:
        settings = Settings(base_url=endpoint.url)
        model = catalogue.load("openai/tiny-e", settings, {"api": "embeddings"})
        (prediction,) = model.predict([ENDPOINT_QUERY])
    assert model.task == "code-search"
    assert isinstance(prediction, Predicted)
    assert prediction.answer == ("2", "3", "1")
    assert dict(prediction.scores)["2"] == pytest.approx(1.0)
    assert endpoint.asked[0].body == {
        "model": "tiny-e",
        "input": ["aab", "bbbbbbbb", "aab", "ab"],
        "encoding_format": "float",
    }


@pytest.mark.parametrize(
    "data",
    [
        [{"index": 0, "embedding": [1.0]}],  # too few
        [{"index": n, "embedding": [0.0]} for n in range(4)],
        [{"index": 0, "embedding": [1.0]} for n in range(4)],
        [{"index": n, "embedding": "AAAA"} for n in range(4)],
        "no list",
    ],
)
def test_embeddings_that_are_none(data: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving(lambda _: sends(200, json.dumps({"data": data}))) as endpoint:
        arguments = {"api": "embeddings", "retries": "0", "unreadable": "0", "failures": "0"}
        model = catalogue.load("openai/tiny-e", Settings(base_url=endpoint.url), arguments)
        (prediction,) = model.predict([ENDPOINT_QUERY])
    assert prediction == Failed(reason="endpoint: unreadable reply")


def test_an_argument_about_written_texts_has_no_effect_on_embeddings() -> None:
    arguments = {"api": "embeddings", "temperature": "1"}
    with pytest.raises(UsageError, match="temperature has no effect on embeddings"):
        catalogue.load("openai/m", Settings(base_url="http://127.0.0.1:9/v1"), arguments)

"""Equivalence: the pair that is asked about, what is right, and what counts as a violation."""

from dataclasses import replace
from pathlib import Path

import pytest

from codeaudit.audit.interface import LabelRequest
from codeaudit.audit.records import Audited, Case, Failed, Held, Predicted, Unjudged, Violated
from codeaudit.audit.run import asked_of, judge, query_of
from codeaudit.audit.tasks.equivalence import DIFFERENT, EQUIVALENCE, SAME, evidence_labels
from codeaudit.cli.main import main
from codeaudit.reports.digests import row_of
from codeaudit.reports.first_screen import first_screen
from codeaudit.reports.observations import observe
from codeaudit.reports.records import Summary
from codeaudit.transforms.errors import UsageError
from codeaudit.transforms.records import Evidence, Kind, Origin, Perturbed, Sample

SOURCE = "def half(x):\n    y = x / 2\n    return y\n"
OTHER = "def half(x):\n    z = x / 2\n    return z\n"


def sample(source: str = SOURCE, language: str = "python") -> Sample:
    return Sample(id="s", language=language, source=source, label="half", origin=Origin(path="a", line=1))


def edit(kind: Kind = "preserving", evidence: Evidence = "analysis") -> Perturbed:
    pair = EQUIVALENCE.prepare(sample())
    assert isinstance(pair, Sample)
    made = Perturbed(
        sample=pair, transform="t", kind=kind, variant=0, source=OTHER, moves=(), evidence=evidence
    )
    (case,) = evidence_labels(LabelRequest(task=EQUIVALENCE, spec=None, cache=None, note=None)).relabelled(
        iter([Case(sample=pair, outcomes=(made,))])
    )
    (outcome,) = case.outcomes
    assert isinstance(outcome, Perturbed)
    return outcome


def test_the_unit_stands_first_and_the_variant_beside_it() -> None:
    made = edit()
    first = query_of(made.sample, SOURCE, EQUIVALENCE)
    asked = asked_of(made.sample, made, EQUIVALENCE)
    assert (first.source, first.other, asked.source, asked.other) == (SOURCE, SOURCE, SOURCE, OTHER)
    assert made.sample.label == SAME
    assert EQUIVALENCE.prepare(sample("def f(")) == "source does not parse"
    for language, text in (("cobol", SOURCE), ("x86", "incq %rax"), ("algebra", "mul x x =? x")):
        assert EQUIVALENCE.prepare(sample(text, language)) == "no program of a programming language"


@pytest.mark.parametrize(
    ("kind", "evidence", "before", "after", "verdict"),
    [
        ("preserving", "analysis", SAME, SAME, Held),
        ("preserving", "analysis", SAME, DIFFERENT, Violated),
        ("preserving", "analysis", DIFFERENT, DIFFERENT, Violated),
        ("preserving", "analysis", DIFFERENT, SAME, Held),
        ("control", "executed", SAME, DIFFERENT, Violated),
        ("control", "executed", DIFFERENT, DIFFERENT, Violated),
        ("control", "executed", SAME, SAME, Held),
        ("control", "analysis", SAME, DIFFERENT, Unjudged),
        ("control", "compiled", SAME, DIFFERENT, Unjudged),
    ],
)
def test_the_evidence_of_an_edit_decides(
    kind: Kind, evidence: Evidence, before: str, after: str, verdict: type
) -> None:
    made = edit(kind, evidence)
    first, then = Predicted(answer=before), Predicted(answer=after)
    decision = judge(made, first, then, made.sample, task=EQUIVALENCE, noise=0.0)
    assert type(decision) is verdict
    right = {"preserving": SAME, "control": DIFFERENT if evidence == "executed" else None}[kind]
    assert made.sample.label == right
    assert EQUIVALENCE.score(after, made.sample) == (None if right is None else float(after == right))


def test_no_column_has_the_labels() -> None:
    with pytest.raises(UsageError, match="what is known of edits"):
        evidence_labels(LabelRequest(task=EQUIVALENCE, spec="label", cache=None, note=None))


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        ("same", SAME), ("**Different.**", DIFFERENT), ("Yes", SAME), ("0", DIFFERENT), ("equivalent", SAME),
        ("They are not the same.", DIFFERENT), ("The programs are equivalent.", SAME),
        ("Not equivalent", DIFFERENT), ("Answer: different", DIFFERENT),
        ("same or different", None), ("I cannot say.", None),
    ],
)  # fmt: skip
def test_a_reply_gives_one_word_or_none(reply: str, word: str | None) -> None:
    prompt = EQUIVALENCE.prompt
    assert prompt is not None
    prediction = prompt.read(reply)
    assert isinstance(prediction, Predicted if word else Failed)
    assert not isinstance(prediction, Predicted) or EQUIVALENCE.normalise(prediction.answer) == word


def test_every_wording_shows_both_programs() -> None:
    query = replace(query_of(edit().sample, SOURCE, EQUIVALENCE), other=OTHER)
    for name in ("plain", *EQUIVALENCE.wordings):
        asked = EQUIVALENCE.asked(name)
        assert asked is not None
        text = asked.messages(query)[-1].content
        assert SOURCE.rstrip() in text
        assert OTHER.rstrip() in text
        assert "{" not in text


@pytest.mark.parametrize(
    ("kind", "verdict"), [("identity", Held), ("network", Held), ("preserving", Violated)]
)
def test_the_unchanged_unit_is_compared_with_its_first_answer(kind: Kind, verdict: type) -> None:
    """A model that always calls a unit different from itself is wrong, and its answers are steady."""
    made = edit(kind)
    always = Predicted(answer=DIFFERENT)
    assert type(judge(made, always, always, made.sample, task=EQUIVALENCE, noise=0.0)) is verdict
    other = judge(made, always, Predicted(answer=SAME), made.sample, task=EQUIVALENCE, noise=0.0)
    assert type(other) is (Held if kind == "preserving" else Violated)


def test_a_corpus_without_programs_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("codeaudit.audit.corpora.programs.ProgramBlocks.read", lambda *_: pytest.fail("read"))
    out = str(tmp_path / "out")
    asked = ["run", "--task", "equivalence", "--corpus", "interpreter", "--model", "fake/hash", "--out", out]
    assert main(asked) == 3
    assert "in x86: no program of a programming language" in capsys.readouterr().err


MODEL = """\
def ask(queries):
    return ["different" if "wrong" in one.source or one.source != one.other else "same" for one in queries]
"""


def test_a_wrong_model_is_steady_and_its_numbers_are_plain_shares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wrong_model.py").write_text(MODEL)
    lines = "    first = a + {0}\n    second = first * a\n    return second\n"
    code = "\n\n".join(
        f"def {name}_{n}(a):\n{lines.format(n)}" for n, name in enumerate(("wrong", "right") * 2)
    )
    (tmp_path / "code.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    asked = "run --task equivalence --corpus code.py --model py/wrong_model:ask --transform rename --out r"
    assert main([*asked.split(), "--cache", "c"]) == 0
    summary = Summary.from_json((tmp_path / "r/summary.json").read_text())
    (model,) = summary.models
    assert (model.noise_floor.count, model.violations.count, model.violations.total) == (0, 4, 4)
    screen = first_screen(summary)
    assert screen.lead == (
        "rename: py/wrong_model:ask called a variant different on 4/4 (100 %, 51.0–100).",
        "py/wrong_model:ask called 2 of 4 units different from themselves.",
    )
    assert "samples with the answer different" in screen.legend[0]


def test_the_excess_of_a_noisy_model_counts_changed_answers() -> None:
    """A wrong answer that the unchanged unit gets, too, is no effect of an edit."""
    made = edit()
    again = [replace(made, transform="identity", kind="identity", source=SOURCE, variant=n) for n in range(2)]
    said = {SAME: Predicted(answer=SAME), DIFFERENT: Predicted(answer=DIFFERENT)}
    first = said[DIFFERENT]
    answers = [(made, DIFFERENT), (again[0], DIFFERENT), (again[1], SAME)]
    audited = Audited(
        model="m",
        sample=made.sample,
        before=first,
        score=0.0,
        verdicts=tuple(
            judge(variant, first, said[word], made.sample, task=EQUIVALENCE, noise=0.0)
            for variant, word in answers
        ),
        after_scores=(0.0, 0.0, 1.0),
        not_applied=(),
    )
    seen = observe(audited, seed=0, same=EQUIVALENCE.same, decided=True)
    row = row_of(seen, 0, seen.judged("preserving"), seen.repeats(), by_equality=False)
    assert (row.changed, row.violated, row.across, row.within) == (1, False, 1, 2)

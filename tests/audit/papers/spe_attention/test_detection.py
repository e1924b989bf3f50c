"""Training of detectors, and of names in Java: labels, splits by groups, scores, and the way to an audit."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.papers.lines.encoding import LineEncoder
from codeaudit.audit.papers.lines.tasks import DETECTION, MARK, NAMING, read_splits
from codeaudit.audit.papers.lines.words import analyse, masked_name, words
from codeaudit.audit.papers.spe_attention.model import LineModel
from codeaudit.audit.papers.spe_attention.scores import (
    BugScores,
    JudgedLogits,
    bugs,
    of_answers,
    scores,
    tune,
)
from codeaudit.audit.records import Failed, Predicted, Query
from codeaudit.audit.tasks.error_detection import ERROR_DETECTION
from codeaudit.cli.main import main
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.records import Sample
from tests.support.networks import tokenizer

NOUNS = ("count", "total", "width", "price", "index", "limit", "depth", "score")
VERBS = ("read", "write", "close", "parse", "merge", "print", "count", "clear")


def java(number: int, *, bug: bool) -> str:
    """A method whose bug is `null`, where the clean one has `this`."""
    noun, verb = NOUNS[number % 8], VERBS[number // 8 % 8]
    value = "null" if bug else "this"
    return (
        f"public int {verb}{noun.title()}(int {noun}, int other{number}) {{\n    int first = {noun} + {number};\n"
        f"    int second = other{number} * 2;\n    {verb}({value});\n    return first + second;\n}}"
    )


def python(number: int, *, bug: bool) -> str:
    noun, verb = NOUNS[number % 8], VERBS[number // 8 % 8]
    value = "None" if bug else "True"
    return f"def {verb}_{noun}({noun}, x{number}):\n    first = {noun}\n    {verb}({value})\n    return first + x{number}\n"


def rows(language: str = "java", count: int = 64) -> list[dict[str, object]]:
    made = java if language == "java" else python
    return [
        {
            "source": made(number, bug=bug),
            "label": int(bug),
            "language": language,
            "group": f"{language}-{number}",
        }
        for number in range(count)
        for bug in (False, True)
    ]


def written(path: Path, found: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
    return str(path)


@dataclass
class Samples:
    """A corpus from rows."""

    found: list[dict[str, object]]
    spec: str = "made"

    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        for number, row in enumerate(self.found):
            yield raw_sample(
                str(row["source"]),
                language=str(row["language"]),
                label=row["label"],  # type: ignore[arg-type]
                path=f"f{number % 97}",
                line=1,
                group=str(row["group"]),
            )


# ── splits ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_bug_and_its_fix_are_on_one_side() -> None:
    splits = read_splits(ERROR_DETECTION, Samples(rows()))
    groups = [{one.group for one in split} for split in splits]
    assert not groups[0] & groups[1] | groups[0] & groups[2] | groups[1] & groups[2]
    assert sum(map(len, splits)) == 128
    assert len(splits.train) > len(splits.test) > len(splits.valid)


def test_members_of_a_training_group_are_left_out_of_other_corpora() -> None:
    found = rows()
    clean, buggy = found[::2], found[1::2]
    with pytest.raises(CorpusError, match="no valid examples"):
        read_splits(ERROR_DETECTION, Samples(clean), Samples(buggy), Samples(buggy))
    splits = read_splits(ERROR_DETECTION, Samples(found[:64]), Samples(found[60:]), Samples(found[60:]))
    assert len(splits.train) == 64
    assert len(splits.valid) == len(splits.test) == 64


def test_a_text_with_two_labels_is_no_example() -> None:
    found = rows()
    twice = [{**found[0], "label": 1}, *found]
    splits = read_splits(ERROR_DETECTION, Samples(twice))
    assert sum(map(len, splits)) == len(found) - 1
    assert found[0]["source"] not in {one.source for split in splits for one in split}


def test_samples_without_a_label_teach_nothing() -> None:
    found = [{**row, "label": None} for row in rows()]
    with pytest.raises(CorpusError, match="no train examples of task 'error-detection'"):
        read_splits(ERROR_DETECTION, Samples(found))


# ── labels and scores ────────────────────────────────────────────────────────────────────────────────────


def test_a_bug_is_one_label_and_its_absence_an_answer() -> None:
    assert DETECTION.truth("buggy") == (MARK,)
    assert DETECTION.truth("clean") == ()
    assert DETECTION.truth(None) is DETECTION.truth(("get",)) is NAMING.truth("buggy") is None
    assert DETECTION.labels([(), (MARK,)], rarest=10) == (MARK,)
    with pytest.raises(CorpusError, match="there is one kind"):
        DETECTION.labels([(), ()], rarest=10)
    logits = torch.tensor([[0.5], [-2.0], [0.0]])
    assert DETECTION.decide(logits, 0.0)[:, 0].tolist() == [True, False, False]
    assert DETECTION.margin(logits, 0.0).tolist() == [0.5, 2.0, 0.0]
    assert (DETECTION.answer([MARK]), DETECTION.answer([])) == ("buggy", "clean")


def test_no_word_of_code_is_the_label() -> None:
    program = analyse("int f(List<buggy> a) {\n    // <buggy>\n    return a < buggy ? 1 : 2;\n}", "java")
    found = [word for line in program.lines for word in words(line, language="java")]
    assert "buggy" in found
    assert MARK not in found


def test_the_scores_of_a_detector() -> None:
    said = torch.tensor([True, True, True, False, False])
    truth = torch.tensor([True, True, False, True, False])
    found = bugs(said, truth)
    assert found.f1 == pytest.approx(4 / 6)
    assert found.balanced == pytest.approx((4 / 6 + 2 / 4) / 2)
    assert (found.accuracy, found.called_buggy, found.count) == (0.6, 0.6, 5)
    assert found.told == found.f1
    always = bugs(torch.ones(4, dtype=torch.bool), torch.tensor([True, False] * 2))
    assert always.f1 == pytest.approx(2 / 3)
    assert always.worth < 0.5


def test_the_threshold_of_a_detector_is_no_choice() -> None:
    truth = torch.tensor([[True], [True], [False]])
    found = JudgedLogits(logits=torch.tensor([[-1.0], [2.0], [-3.0]]), truth=truth, wanted=truth.sum(1))
    assert tune(found, DETECTION) == 0.0
    reached = scores(found, 0.0, DETECTION)
    assert isinstance(reached, BugScores)
    assert reached == of_answers(DETECTION, found.logits > 0, truth, found.wanted)


# ── words of Java ────────────────────────────────────────────────────────────────────────────────────────

HEADED = "@Override\npublic <T> int MASK_1(int MASK, T other) {\n    int n = MASK++; // one\n    return n >>> 2 && MASK_1(1, other);\n}"


def test_lines_of_java_as_words() -> None:
    program = analyse(HEADED, "java")
    name = masked_name(program.lines[0].text)
    assert name == "MASK_1"
    texts = [list(words(line, name, "java")) for line in program.lines]
    assert [one[0] for one in texts] == ["<d0>", "<d1>", "<d1>"]
    assert texts[1] == ["<d1>", "int", "n", "=", "mask", "++", ";"]
    assert texts[2][:9] == ["<d1>", "return", "n", ">>>", "2", "&&", "<name>", "(", "1"]


def test_an_encoder_reads_both_languages_and_refuses_others() -> None:
    encoder = LineEncoder(tokenizer(), window=200, relation="every")
    found = encoder.encode(HEADED, "java")
    assert not isinstance(found, Failed)
    assert found.lines == 3
    for source, language in (("int f( {", "java"), (HEADED, "python"), (HEADED, "x86")):
        assert encoder.encode(source, language) == Failed(reason="source does not parse")


# ── the command ──────────────────────────────────────────────────────────────────────────────────────────

SMALL = ["--width", "16", "--layers", "1", "--vocabulary", "300", "--batch", "8", "--bag-epochs", "1"]
SMALL += ["--epochs", "12", "--rate", "0.02", "--patience", "30", "--workers", "1", "--threads", "1"]


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("language", ["java", "python"])
def test_a_detector_is_trained_and_audited(
    tmp_path: Path, language: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = written(tmp_path / "bugs.jsonl", rows(language))
    common = ["--task", "error-detection", "--corpus", table, "--out", "made", "--cache", "cache"]
    assert main(["train", "spe", *common, *SMALL]) == 0
    card = json.loads(Path("made/model-card.json").read_text(encoding="utf-8"))
    assert card["languages"] == [language]
    assert card["scores"]["test"]["f1"] > 0.9
    assert card["baselines"][0]["name"] == "always buggy"
    assert card["baselines"][0]["test"]["f1"] == pytest.approx(2 / 3)
    told = capsys.readouterr().out
    assert "test F1" in told
    assert "always buggy: F1 66.7%, accuracy 50.0%, 100.0% called buggy" in told

    model = LineModel.load("made", device="cpu")
    made = java if language == "java" else python
    queries = [
        Query(task="error-detection", language=language, source=made(99, bug=bug)) for bug in (False, True)
    ]
    clean, buggy = model.predict(queries)
    assert isinstance(clean, Predicted)
    assert isinstance(buggy, Predicted)
    assert (clean.answer, buggy.answer) == ("clean", "buggy")
    assert buggy.scores[0][0] == "buggy"
    assert buggy.margin == abs(buggy.scores[0][1])
    other = Query(task="error-detection", language="x86", source="nop")
    assert model.predict([other]) == [Failed(reason=f"not {language.title()}")]

    assert (
        main(
            [
                "run",
                "--model",
                "made",
                "--corpus",
                f"{table}:test",
                "--out",
                "run",
                "--workers",
                "1",
                "--variants",
                "2",
            ]
        )
        == 0
    )
    summary = json.loads(Path("run/summary.json").read_text(encoding="utf-8"))
    (found,) = summary["models"]
    assert summary["task"] == "error-detection"
    assert found["score"]["name"] == "f1"
    assert found["score"]["original"] == pytest.approx(card["scores"]["test"]["f1"])
    assert found["pairs"]["total"] > 0
    assert found["by_transform"]


@pytest.mark.slow
def test_names_of_java_are_learned_and_audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("project")
    folder.mkdir()
    for number in range(60):
        text = "\n\n".join(java(number * 3 + step, bug=False) for step in range(3))
        (folder / f"File{number}.java").write_text(f"class File{number} {{\n{text}\n}}\n", encoding="utf-8")
    common = ["--corpus", "project", "--out", "made", "--cache", "cache", "--rarest-label", "3"]
    assert main(["train", "symc", *common, *SMALL]) == 0
    card = json.loads(Path("made/model-card.json").read_text(encoding="utf-8"))
    assert card["task"] == "function-name"
    assert card["languages"] == ["java"]
    assert card["scores"]["test"]["micro"] > 0.5
    assert (
        main(
            [
                "run",
                "--model",
                "made",
                "--corpus",
                "project",
                "--out",
                "run",
                "--workers",
                "1",
                "--limit",
                "20",
            ]
        )
        == 0
    )
    (found,) = json.loads(Path("run/summary.json").read_text(encoding="utf-8"))["models"]
    assert found["score"]["original"] > 0.5
    assert found["pairs"]["total"] > 0


@pytest.mark.parametrize(
    ("words_", "message"),
    [
        (["--rarest-label", "3"], "--rarest-label is no option of task 'error-detection'"),
        (["--size", "tiny"], "--size is no option of task 'error-detection'"),
        ([], "a detector needs functions with bugs and functions without; there is one kind"),
    ],
)
def test_wrong_input_is_one_clear_line(
    tmp_path: Path, words_: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = written(tmp_path / "t.jsonl", rows()[::2])
    given = ["--task", "error-detection", "--corpus", table, "--out", str(tmp_path / "made")]
    assert main(["train", "spe", *given, *words_, "--workers", "1", "--cache", str(tmp_path)]) in (2, 3)
    told = capsys.readouterr().err.strip().splitlines()
    assert message in told[-1]
    assert "unexpected" not in told[-1]

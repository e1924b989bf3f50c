"""Training of detectors, and of names in Java: labels, splits by groups, scores, and the way to an audit."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from codeaudit.audit.corpora.records import raw_sample
from codeaudit.audit.papers.lines.encoding import LineEncoder
from codeaudit.audit.papers.lines.tasks import DETECTION, MARK, NAMING, read_splits
from codeaudit.audit.papers.lines.trunk import LineNetwork
from codeaudit.audit.papers.lines.words import analyse, masked_name, words
from codeaudit.audit.papers.spe_attention.baselines import counts_alone, longer
from codeaudit.audit.papers.spe_attention.material import LineMaterial, LineRecipe, prepare
from codeaudit.audit.papers.spe_attention.model import LineModel
from codeaudit.audit.papers.spe_attention.scores import (
    BugScores,
    JudgedLogits,
    bugs,
    of_answers,
    scores,
    tune,
)
from codeaudit.audit.papers.spe_attention.training import LineLearner
from codeaudit.audit.papers.spe_attention.twins import (
    MOST,
    changed_part,
    find_twins,
    location_loss,
    pairs_right,
    pairwise_loss,
)
from codeaudit.audit.records import Failed, Predicted, Query
from codeaudit.audit.tasks.error_detection import ERROR_DETECTION
from codeaudit.audit.training.trainer import train
from codeaudit.cli.main import main
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.records import Sample
from tests.audit.training.test_execution import Silent
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


def c(number: int, *, bug: bool) -> str:
    noun, verb = NOUNS[number % 8], VERBS[number // 8 % 8]
    value = "NULL" if bug else "self"
    return f"int {verb}_{noun}(int {noun}, int x{number}) {{\n    int first = {noun};\n    {verb}({value});\n    return first + x{number};\n}}"


MADE = {"java": java, "python": python, "c": c, "cpp": c}


def rows(language: str = "java", count: int = 64) -> list[dict[str, object]]:
    made = MADE[language]
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


def written(path: Path, table: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in table), encoding="utf-8")
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
    groups = [{sample.group for sample in split} for split in splits]
    assert not groups[0] & groups[1] | groups[0] & groups[2] | groups[1] & groups[2]
    assert sum(map(len, splits)) == 128
    assert len(splits.train) > len(splits.test) > len(splits.valid)


def test_members_of_a_training_group_are_left_out_of_other_corpora() -> None:
    table = rows()
    clean, buggy = table[::2], table[1::2]
    with pytest.raises(CorpusError, match="no valid examples"):
        read_splits(ERROR_DETECTION, Samples(clean), Samples(buggy), Samples(buggy))
    splits = read_splits(ERROR_DETECTION, Samples(table[:64]), Samples(table[60:]), Samples(table[60:]))
    assert len(splits.train) == 64
    assert len(splits.valid) == len(splits.test) == 64


def test_a_text_with_two_labels_is_no_example() -> None:
    table = rows()
    twice = [{**table[0], "label": 1}, *table]
    splits = read_splits(ERROR_DETECTION, Samples(twice))
    assert sum(map(len, splits)) == len(table) - 1
    assert table[0]["source"] not in {sample.source for split in splits for sample in split}


def test_samples_without_a_label_teach_nothing() -> None:
    table = [{**row, "label": None} for row in rows()]
    with pytest.raises(CorpusError, match="no train examples of task 'error-detection'"):
        read_splits(ERROR_DETECTION, Samples(table))


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
    spelled = [word for line in program.lines for word in words(line, language="java")]
    assert "buggy" in spelled
    assert MARK not in spelled


def test_the_scores_of_a_detector() -> None:
    said = torch.tensor([True, True, True, False, False])
    truth = torch.tensor([True, True, False, True, False])
    score = bugs(said, truth)
    assert score.f1 == pytest.approx(4 / 6)
    assert score.balanced == pytest.approx((4 / 6 + 2 / 4) / 2)
    assert (score.accuracy, score.called_buggy, score.count) == (0.6, 0.6, 5)
    assert score.headline == score.f1
    always = bugs(torch.ones(4, dtype=torch.bool), torch.tensor([True, False] * 2))
    assert always.f1 == pytest.approx(2 / 3)
    assert always.worth < 0.5


def test_the_threshold_of_a_detector_is_no_choice() -> None:
    truth = torch.tensor([[True], [True], [False]])
    judged = JudgedLogits(logits=torch.tensor([[-1.0], [2.0], [-3.0]]), truth=truth, wanted=truth.sum(1))
    assert tune(judged, DETECTION) == 0.0
    reached = scores(judged, 0.0, DETECTION)
    assert isinstance(reached, BugScores)
    assert reached == of_answers(DETECTION, judged.logits > 0, truth, judged.wanted)


# ── twins ────────────────────────────────────────────────────────────────────────────────────────────────


def test_twins_are_the_most_alike_of_a_group() -> None:
    texts = [[1, 2, 3, 4], [1, 2, 3, 5], [7, 8, 9, 4], [7, 8, 9, 5], [1, 2, 3, 4], [20, 21], [1, 2, 3, 6]]
    buggy = [False, True, True, False, True, True, False]
    groups = ["a", "a", "a", "a", "", "a", "b"]
    ids = [np.array(text, dtype=np.int32) for text in texts]
    # The fifth has no group, the sixth nobody that is alike, the seventh no bug in its group.
    assert find_twins(groups, buggy, ids).tolist() == [1, 0, 3, 2, -1, -1, -1]
    many = 2 * MOST + 2
    alike = find_twins(["a"] * many, [number % 2 == 0 for number in range(many)], ids[:1] * many)
    assert alike.tolist() == [-1] * many


def test_pairs_of_the_chosen_examples(tmp_path: Path) -> None:
    train = detection(tmp_path).train
    assert (train.twins[train.twins] == np.arange(len(train))).all()
    assert (train.known[train.twins] != train.known).all()
    clean, buggy = train.pairs(range(len(train))).T
    assert len(clean) == len(train) / 2
    assert not train.known[clean].any()
    assert (train.twins[clean] == buggy).all()
    lone = int(clean[3])
    assert train.pairs([lone]).tolist() == []
    assert train.pairs([5, int(train.twins[lone]), lone])[-1].tolist() == [2, 1]


def test_the_pairwise_loss_is_that_of_each_pair() -> None:
    logits = torch.tensor([0.5, 3.0, -1.0, -2.0])
    places = torch.tensor([[0, 1], [2, 3]])
    expected = math.log1p(math.exp(-2.5)) + math.log1p(math.exp(1.0))
    assert float(pairwise_loss(logits, places)) == pytest.approx(expected)
    assert pairs_right(logits, places) == 0.5
    assert pairs_right(torch.zeros(4), places) == 0.5
    assert pairs_right(logits, torch.zeros(0, 2, dtype=torch.long)) is None


@pytest.mark.parametrize(
    ("tokens", "other", "part"),
    [
        ([1, 2, 3, 4], [1, 9, 3, 4], (1, 2)),
        ([1, 2, 3, 4], [1, 3, 2, 4], (1, 3)),
        ([1, 2, 3, 4], [1, 2, 4], (2, 3)),
        ([1, 2, 4], [1, 2, 3, 4], (1, 3)),  # where 3 is missing
        ([1, 2], [1, 2, 3], (1, 2)),
        ([2, 3], [1, 2, 3], (0, 1)),
        ([1, 1], [1, 1, 1], (1, 2)),
        ([1, 1, 1], [1, 1], (2, 3)),
        ([5], [6], (0, 1)),
    ],
)
def test_the_changed_part_of_a_text(tokens: list[int], other: list[int], part: tuple[int, int]) -> None:
    first, end = changed_part(np.array(tokens, dtype=np.int32), np.array(other, dtype=np.int32))
    assert (first, end) == part


def test_the_location_loss_is_the_cross_entropy_of_the_changed_part() -> None:
    said = torch.tensor([[1.0, 2.0, 0.5, 9.0], [0.0, 1.0, 2.0, 3.0]])
    real = torch.tensor([[True, True, True, False], [True] * 4])
    parts = [(1, 2), (0, 3)]
    shares = said[0, :3].softmax(0)[1], said[1].softmax(0)[:3].sum()
    expected = -sum(math.log(float(share)) for share in shares)
    assert float(location_loss(said, real, parts)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_a_network_learns_where_the_bugs_are(tmp_path: Path) -> None:
    material = detection(tmp_path)
    learner = LineLearner(replace(RECIPE, locate=1.0, pairwise=0.0, steps=40, rate=3e-3, warm_up=5), material)

    def loudest(network: LineNetwork) -> float:
        """The share of bugs whose token with the highest logit is one that differs from the twin."""
        valid = material.valid
        chosen = np.flatnonzero(valid.known > 0)
        inputs = valid.batch(chosen, learner.relation)
        with torch.no_grad():
            said = learner._answered(network.eval(), inputs, places=True)[1]
        assert said is not None
        best = said.masked_fill(~inputs.real, -torch.inf).argmax(1).tolist()
        parts = [valid.changed(int(number)) for number in chosen]
        return float(np.mean([first <= place < end for place, (first, end) in zip(best, parts, strict=True)]))

    torch.manual_seed(1)
    before = loudest(learner.make())
    trained = train(learner, folder=tmp_path, monitor=Silent(), stop=lambda: False)
    assert before < 0.5
    assert loudest(trained.network) == 1.0


def test_parts_of_a_step_add_up_to_it(tmp_path: Path) -> None:
    learner = LineLearner(RECIPE, detection(tmp_path))
    assert learner.per_epoch == math.ceil(len(learner.material.train) / 2 / RECIPE.batch)
    network = learner.make().eval()
    for name, weight in network.named_parameters():
        if "vote" in name or "outward" in name:
            torch.nn.init.normal_(weight, std=0.1)  # from zero, all logits would be equal
    batch, first = learner.batches(0)[0], learner.early_steps
    texts = learner.with_twins(batch)
    plain = LineLearner(replace(RECIPE, pairwise=0.0, locate=0.0), learner.material)
    with torch.no_grad():
        whole, count = learner.loss(network, batch, first)
        parts = [learner.loss(network, part, first, batch)[0] for part in learner.parts(batch, 3)]
        alone, _ = plain.loss(network, texts, plain.early_steps)
        inputs = learner.material.train.batch(texts.chosen, learner.relation)
        logits = network(inputs)[:, 0]
        same, said = learner._answered(network, inputs, places=True)
        assert said is not None
        assert torch.equal(same[:, 0], logits)
        bugs_there = learner.located(texts)
        changed = [learner.material.train.changed(int(number)) for number in texts.chosen[bugs_there]]
        place = location_loss(said[bugs_there], inputs.real[bugs_there], changed) / len(bugs_there)
    assert count == len(batch.chosen) == RECIPE.batch
    assert float(sum(parts)) == pytest.approx(float(whole), rel=1e-5)
    pairs = torch.from_numpy(learner.material.train.pairs(texts.chosen))
    assert len(pairs) == RECIPE.batch
    assert logits.std() > 0
    assert len(bugs_there) == RECIPE.batch
    added = RECIPE.pairwise * float(pairwise_loss(logits, pairs)) / len(pairs) + RECIPE.locate * float(place)
    assert float(whole) == pytest.approx(float(alone) + added, rel=1e-4)


def test_counts_of_words_are_a_baseline(tmp_path: Path) -> None:
    """`null` stands in every bug and nowhere else."""
    prepared = detection(tmp_path)
    rule = counts_alone(prepared.train, prepared.valid, prepared.test)
    assert isinstance(rule.test, BugScores)
    assert (rule.test.accuracy, rule.test.pairs_right) == (1.0, 1.0)
    assert rule.test.pairs == len(prepared.test) / 2
    blind = longer(prepared.train, prepared.valid, prepared.test).test
    assert isinstance(blind, BugScores)
    assert blind.pairs_right == 0.5  # twins are of one length


RECIPE = LineRecipe(
    network="spe",
    width=16,
    layers=1,
    heads=4,
    vocabulary=300,
    batch=8,
    pairwise=2.0,
    locate=0.5,
    half=False,
    dropout=0.0,
)


def detection(folder: Path) -> LineMaterial:
    splits = read_splits(ERROR_DETECTION, Samples(rows()))
    return prepare(splits, RECIPE, cache=folder, workers=1, note=lambda text: None, task=DETECTION)


# ── words of Java ────────────────────────────────────────────────────────────────────────────────────────

HEADED = "@Override\npublic <T> int MASK_1(int MASK, T other) {\n    int n = MASK++; // one\n    return n >>> 2 && MASK_1(1, other);\n}"


def test_lines_of_java_as_words() -> None:
    program = analyse(HEADED, "java")
    name = masked_name(program.lines[0].text)
    assert name == "MASK_1"
    texts = [list(words(line, name, "java")) for line in program.lines]
    assert [text[0] for text in texts] == ["<d0>", "<d1>", "<d1>"]
    assert texts[1] == ["<d1>", "int", "n", "=", "mask", "++", ";"]
    assert texts[2][:9] == ["<d1>", "return", "n", ">>>", "2", "&&", "<name>", "(", "1"]


def test_an_encoder_reads_both_languages_and_refuses_others() -> None:
    encoder = LineEncoder(tokenizer(), window=200, relation="every")
    encoded = encoder.encode(HEADED, "java")
    assert not isinstance(encoded, Failed)
    assert encoded.lines == 3
    for source, language in (("int f( {", "java"), (HEADED, "python"), (HEADED, "x86")):
        assert encoder.encode(source, language) == Failed(reason="source does not parse")


# ── the command ──────────────────────────────────────────────────────────────────────────────────────────

SMALL = ["--width", "16", "--layers", "1", "--vocabulary", "300", "--batch", "8", "--bag-epochs", "1"]
SMALL += ["--epochs", "12", "--rate", "0.02", "--patience", "30", "--workers", "1", "--threads", "1"]


@pytest.mark.weekly
@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    ("language", "task", "words"),
    [
        ("java", "error-detection", ("clean", "buggy")),
        ("python", "error-detection", ("clean", "buggy")),
        ("c", "vulnerability-detection", ("safe", "vulnerable")),
        ("cpp", "vulnerability-detection", ("safe", "vulnerable")),
    ],
)
def test_a_detector_is_trained_and_audited(
    tmp_path: Path,
    language: str,
    task: str,
    words: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    table = written(tmp_path / "bugs.jsonl", rows(language))
    common = ["--task", task, "--corpus", table, "--out", "made", "--cache", "cache"]
    assert main(["train", "spe", *common, *SMALL]) == 0
    card = json.loads(Path("made/model-card.json").read_text(encoding="utf-8"))
    assert card["languages"] == [language]
    assert card["scores"]["test"]["f1"] > 0.9
    assert card["baselines"][0]["name"] == "always buggy"
    assert card["baselines"][0]["test"]["f1"] == pytest.approx(2 / 3)
    printed = capsys.readouterr().out
    assert "test F1" in printed
    assert "always buggy: F1 66.7%, accuracy 50.0%, 100.0% called buggy, 50.0% of" in printed
    assert card["scores"]["test"]["pairs_right"] > 0.9

    model = LineModel.load("made", device="cpu")
    made = MADE[language]
    queries = [Query(task=task, language=language, source=made(99, bug=bug)) for bug in (False, True)]
    clean, buggy = model.predict(queries)
    assert isinstance(clean, Predicted)
    assert isinstance(buggy, Predicted)
    assert (clean.answer, buggy.answer) == words
    assert buggy.scores[0][0] == words[1]
    assert buggy.margin == abs(buggy.scores[0][1])
    other = Query(task=task, language="x86", source="nop")
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
    (audited,) = summary["models"]
    assert summary["task"] == task
    assert audited["score"]["name"] == "f1"
    assert audited["score"]["original"] == pytest.approx(card["scores"]["test"]["f1"])
    assert audited["pairs"]["total"] > 0
    assert audited["by_transform"]


@pytest.mark.slow
def test_a_detector_begins_from_a_network_that_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = written(tmp_path / "bugs.jsonl", rows("python"))
    common = [
        "--task",
        "error-detection",
        "--corpus",
        table,
        "--workers",
        "1",
        "--threads",
        "1",
        "--cache",
        "c",
    ]
    begin = ["--from", "spe-checkpoint", "--pairwise", "1", "--epochs", "3", "--batch", "8"]
    assert main(["train", "spe", *common, *begin, "--out", "made"]) == 0
    assert "pairs right" in capsys.readouterr().out
    card = json.loads(Path("made/model-card.json").read_text(encoding="utf-8"))
    assert card["from"]["checkpoint"] == "spe-checkpoint"
    assert card["recipe"]["pairwise"] == 1
    assert card["scores"]["test"]["pairs_right"] > 0.9


@pytest.mark.weekly
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
    (audited,) = json.loads(Path("run/summary.json").read_text(encoding="utf-8"))["models"]
    assert audited["score"]["original"] > 0.5
    assert audited["pairs"]["total"] > 0


@pytest.mark.parametrize(
    ("words_", "message"),
    [
        (["--rarest-label", "3"], "--rarest-label is no option of task 'error-detection'"),
        (["--task", "function-name", "--pairwise", "1"], "--pairwise is no option of task 'function-name'"),
        (["--locate", "1", "--augment", "2"], "--locate needs the order of the text; leave out --augment"),
        (["--size", "tiny"], "--size is no option of task 'error-detection'"),
        ([], "a detector needs buggy functions and clean ones; there is one kind"),
    ],
)
def test_wrong_input_is_one_clear_line(
    tmp_path: Path, words_: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = written(tmp_path / "t.jsonl", rows()[::2])
    given = ["--task", "error-detection", "--corpus", table, "--out", str(tmp_path / "made")]
    assert main(["train", "spe", *given, *words_, "--workers", "1", "--cache", str(tmp_path)]) in (2, 3)
    lines = capsys.readouterr().err.strip().splitlines()
    assert message in lines[-1]
    assert "unexpected" not in lines[-1]


def test_an_option_of_other_networks_in_the_environment_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CODEAUDIT_READOUT", "cls")
    table = written(tmp_path / "t.jsonl", rows()[::2])
    given = ["--task", "error-detection", "--corpus", table, "--out", str(tmp_path / "made")]
    assert main(["train", "spe", *given, "--workers", "1", "--cache", str(tmp_path)]) == 3
    assert "there is one kind" in capsys.readouterr().err

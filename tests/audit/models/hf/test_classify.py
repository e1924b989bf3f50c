"""Sequence classification: outputs become answers by what their labels say."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.hf.heads import quiet
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.records import Failed, Predicted, Query
from codeaudit.audit.tasks.throughput import THROUGHPUT
from codeaudit.cli.main import main
from codeaudit.transforms.errors import ModelError, UsageError
from tests.audit.models.hf.conftest import LONG, SOURCES, Load, asked

BLOCKS = ("addq %rax, %rbx", "movq 64(%rsp), %rax\nsubl $1, 56(%rbp)\nmovl 16(%rax), %eax", "incq %rcx")


def logits(folder: Path, text: str, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """What the library computes for one text alone."""
    with quiet(), torch.no_grad():
        words = transformers.AutoTokenizer.from_pretrained(folder)
        network = transformers.AutoModelForSequenceClassification.from_pretrained(folder, dtype=dtype)
        tensor: torch.Tensor = network(**words(text, return_tensors="pt")).logits[0]
    return tensor.double()


def relabelled(folder: Path, new: Path, **changes: Any) -> Path:
    shutil.copytree(folder, new)
    config = json.loads((folder / "config.json").read_text())
    (new / "config.json").write_text(json.dumps({**config, **changes}))
    return new


def test_labels_of_the_config_are_answers(folders: dict[str, Path], load: Load) -> None:
    model = load("bert")
    assert model.task == "error-detection"
    predictions = model.predict(asked("error-detection"))
    for source, prediction in zip(SOURCES, predictions, strict=True):
        clean, buggy = logits(folders["bert"], source).tolist()
        assert isinstance(prediction, Predicted)
        assert prediction.answer == ("buggy" if buggy > clean else "clean")
        assert dict(prediction.scores) == pytest.approx({"clean": clean, "buggy": buggy}, abs=model.noise)
        assert prediction.margin == pytest.approx(abs(clean - buggy), abs=2 * model.noise)


def test_neither_padding_nor_company_moves_a_score_beyond_the_noise(load: Load) -> None:
    model = load("gpt2-classifier", labels="clean,buggy")
    queries = asked("error-detection")
    together = model.predict(queries)
    for query, prediction in zip(queries, together, strict=True):
        (alone,) = model.predict([query])
        assert isinstance(prediction, Predicted)
        assert isinstance(alone, Predicted)
        assert alone.answer == prediction.answer
        assert dict(alone.scores) == pytest.approx(dict(prediction.scores), abs=model.noise)


def test_labels_that_say_nothing_need_to_be_named(load: Load) -> None:
    model = load("unnamed")
    with pytest.raises(ModelError, match=r"are LABEL_0, LABEL_1, LABEL_2, no answers to .*-M labels=…"):
        model.predict(asked("error-detection"))
    labelled = [replace(query, labels=("a", "b", "c")) for query in asked("classification")]
    message = r"LABEL_2, no answers to .*takes one of the labels a, b, c; .*-M labels=a,b,c, .*--label-map"
    with pytest.raises(ModelError, match=message):
        model.predict(labelled)
    words = (("LABEL_0", "c"), ("LABEL_1", "b"), ("LABEL_2", "a"))
    predictions = model.predict([replace(query, words=words) for query in labelled])
    assert {said.answer for said in predictions if isinstance(said, Predicted)} <= {
        "LABEL_0",
        "LABEL_1",
        "LABEL_2",
    }
    with pytest.raises(UsageError, match=r"2 labels for .* has 3 outputs"):
        load("unnamed", labels="clean,buggy")


def test_outputs_with_one_meaning_count_together(folders: dict[str, Path], load: Load) -> None:
    predictions = load("unnamed", labels="buggy,clean,bug").predict(asked("error-detection"))
    for source, prediction in zip(SOURCES, predictions, strict=True):
        scores = logits(folders["unnamed"], source)
        buggy, clean = float(scores[[0, 2]].logsumexp(0)), float(scores[1])
        assert isinstance(prediction, Predicted)
        assert prediction.answer == ("buggy" if buggy > clean else "clean")
        assert dict(prediction.scores) == pytest.approx({"buggy": buggy, "clean": clean}, abs=1e-5)


def test_labels_that_are_no_answers_to_the_task(load: Load) -> None:
    model = load("unnamed", labels="spam,ham,eggs")
    with pytest.raises(ModelError, match="are spam, ham, eggs, no answers to the task 'error-detection'"):
        model.predict(asked("error-detection"))
    with pytest.raises(ModelError, match="are clean, buggy, no answers to the task 'function-name'"):
        load("bert").predict(asked("function-name"))
    with pytest.raises(ModelError, match="are one answer to the task 'error-detection', whatever it reads"):
        load("unnamed", labels="bug,buggy,bug").predict(asked("error-detection"))


def test_labels_may_be_names(load: Load) -> None:
    model = load("unnamed", labels="getValue,set_value,run")
    answers = {said.answer for said in model.predict(asked("function-name")) if isinstance(said, Predicted)}
    assert answers
    assert answers <= {("get", "value"), ("set", "value"), ("run",)}


def test_one_output_with_two_labels_decides_by_its_sign(folders: dict[str, Path], load: Load) -> None:
    model = load("number", labels="clean,buggy")
    assert model.task == "error-detection"
    for source, prediction in zip(SOURCES, model.predict(asked("error-detection")), strict=True):
        score = float(logits(folders["number"], source)[0])
        assert isinstance(prediction, Predicted)
        assert prediction.answer == ("buggy" if score > 0 else "clean")
        assert prediction.margin == pytest.approx(abs(score), abs=model.noise)


def test_a_number_is_computed_so_that_equal_inputs_have_equal_ones(
    folders: dict[str, Path], load: Load
) -> None:
    model = load("number")
    assert (model.task, model.precision) == ("throughput", "float64")
    queries = asked("throughput", *BLOCKS, language="x86")
    for query, said in zip(queries, model.predict(queries), strict=True):
        assert isinstance(said, Predicted)
        assert said.answer == pytest.approx(float(logits(folders["number"], query.source, torch.float64)[0]))
        (alone,) = model.predict([query])
        assert isinstance(alone, Predicted)
        assert THROUGHPUT.same(said, alone)
    with pytest.raises(ModelError, match="one output, a number; for the task 'error-detection' name the two"):
        model.predict(asked("error-detection"))


def test_labels_are_no_numbers(load: Load) -> None:
    for model in (load("unnamed"), load("number", labels="clean,buggy")):
        with pytest.raises(ModelError, match="'throughput' asks for a number, which a head with one output"):
            model.predict(asked("throughput", *BLOCKS, language="x86"))


@pytest.mark.parametrize(
    ("task", "labels"),
    [
        ("error-detection", "clean,buggy"),
        ("vulnerability-detection", "safe,vulnerable"),
        ("clone-detection", "different,clone"),
    ],
)
def test_the_labels_that_a_message_proposes_are_in_the_order_of_0_and_1(
    task: str, labels: str, folders: dict[str, Path], load: Load, tmp_path: Path
) -> None:
    names = {"id2label": {0: "LABEL_0", 1: "LABEL_1"}, "label2id": {"LABEL_0": 0, "LABEL_1": 1}}
    for model in (load("number"), load(relabelled(folders["bert"], tmp_path / "two", **names))):
        assert task in model.tasks
        with pytest.raises(ModelError, match=f"-M labels={labels}[,;]"):
            model.predict(asked(task))


def test_any_number_of_labels_is_a_set_of_subtokens(
    folders: dict[str, Path], load: Load, tmp_path: Path
) -> None:
    several = relabelled(folders["unnamed"], tmp_path / "s", problem_type="multi_label_classification")
    model = load(several, labels="get,value,name")
    for source, prediction in zip(SOURCES, model.predict(asked("function-name")), strict=True):
        scores = dict(zip(("get", "value", "name"), logits(several, source).tolist(), strict=True))
        said = [label for label, score in scores.items() if score >= 0] or [
            max(scores, key=lambda k: scores[k])
        ]
        assert isinstance(prediction, Predicted)
        assert prediction.answer == tuple(said)
    with pytest.raises(ModelError, match="any number of labels, and the task 'error-detection' asks for one"):
        load(several, labels="bug,clean,buggy").predict(asked("error-detection"))


def test_an_input_longer_than_the_window_is_counted(load: Load) -> None:
    short, long = load("bert").predict(asked("error-detection", SOURCES[0], LONG))
    assert isinstance(short, Predicted)
    assert long == Failed(reason="input too long")


def test_a_template_is_what_the_model_reads(folders: dict[str, Path], load: Load, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("{language}: {source}", encoding="utf-8")
    model = load("bert", template=str(tmp_path / "t.txt"))
    (prediction,) = model.predict(asked("error-detection", SOURCES[0]))
    clean, buggy = logits(folders["bert"], f"Python: {SOURCES[0]}").tolist()
    assert isinstance(prediction, Predicted)
    assert dict(prediction.scores) == pytest.approx({"clean": clean, "buggy": buggy}, abs=model.noise)
    assert model.fingerprint != load("bert").fingerprint


def test_code_that_looks_like_a_special_token_is_code(load: Load) -> None:
    model = load("bert")
    plain, special = (model._engine.texts.plain(text) for text in ("x = '[SEX]'", "x = '[SEP]'"))
    ends = [model._engine.texts.tokenizer.cls_token_id, model._engine.texts.tokenizer.sep_token_id]
    assert [plain[0], plain[-1]] == [special[0], special[-1]] == ends
    assert special.count(ends[1]) == 1


CODE = "".join(
    f"def spread_{n}(values):\n    low = min(values)\n    high = max(values)\n    return high - low + {n}\n\n\n"
    for n in range(16)
)


@pytest.fixture
def flawed(folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A classifier with words of its own, beside a table of 0 and 1."""
    monkeypatch.chdir(tmp_path)
    relabelled(folders["bert"], tmp_path / "model", id2label={"0": "sound", "1": "flawed"})
    rows = [{"source": text + "\n", "label": n % 2} for n, text in enumerate(CODE.strip().split("\n\n\n"))]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return tmp_path


RUN = ["run", "--model", "hf/./model", "--corpus", "data.jsonl", "--device", "cpu", "--transform", "rename"]


def test_a_classifier_without_a_task_ends_with_the_task_and_the_map(
    flawed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*RUN, "--movable", "0", "--workers", "1"]) == 2
    message = capsys.readouterr().err
    assert "data.jsonl has 2 labels: 0 (8), 1 (8)" in message
    assert "hf/./model says sound, flawed" in message
    assert "--task classification" in message
    assert "--label-map WORD=LABEL,… with the label that each of sound, flawed means" in message
    assert "sound=" not in message, "no pair is made up"


@pytest.mark.thinned(1)
@pytest.mark.parametrize("task", ["classification", "error-detection"])
@pytest.mark.parametrize("swapped", [False, True])
def test_words_of_a_classifier_mean_what_the_map_says(flawed: Path, task: str, swapped: bool) -> None:
    words = "sound=1,flawed=0" if swapped else "sound=0,flawed=1"
    assert (
        main([*RUN, "--task", task, "--label-map", words, "--movable", "0", "--workers", "1", "--out", "out"])
        == 0
    )
    classes = json.loads(Path("out/summary.json").read_text("utf-8"))["models"][0]["agreement"]["classes"]
    said = {answer for row in classes.values() for answer in row}
    assert said <= ({"0", "1"} if task == "classification" else {"buggy", "clean"})
    model = catalogue.load("hf/./model", Settings(device="cpu"), {})
    raw = [
        model.predict([Query(task="classification", language="python", source=text + "\n")])[0]
        for text in CODE.strip().split("\n\n\n")
    ]
    sound = sum(isinstance(prediction, Predicted) and prediction.answer == "sound" for prediction in raw)
    meant = ("1" if swapped else "0") if task == "classification" else ("buggy" if swapped else "clean")
    assert sum(row.get(meant, 0) for row in classes.values()) == sound


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize(
    "more",
    [
        ["--label-map", "LABEL_0=0,LABEL_1=1"],
        ["-M", "labels=0,1"],
        ["-M", "labels=safe,vulnerable", "--label-map", "safe=0,vulnerable=1"],
    ],
)
def test_a_checkpoint_with_bare_labels_is_audited_with_a_map_or_with_labels(
    flawed: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    config = flawed / "model" / "config.json"
    about = json.loads(config.read_text("utf-8"))
    about["id2label"], about["label2id"] = {"0": "LABEL_0", "1": "LABEL_1"}, {"LABEL_0": 0, "LABEL_1": 1}
    config.write_text(json.dumps(about), "utf-8")
    rest = ["--movable", "0", "--workers", "1"]
    assert main([*RUN, *rest]) == 2
    assert "hf/./model says LABEL_0, LABEL_1. Write --task classification" in capsys.readouterr().err
    assert main([*RUN, "--task", "classification", *rest]) == 3
    assert "-M labels=0,1" in capsys.readouterr().err
    assert main([*RUN, "--task", "classification", *more, *rest, "--out", "out"]) == 0
    classes = json.loads(Path("out/summary.json").read_text("utf-8"))["models"][0]["agreement"]["classes"]
    assert {answer for row in classes.values() for answer in row} <= {"0", "1"}


def test_a_pair_is_joined_as_the_tokenizer_joins_it(
    folders: dict[str, Path], load: Load, tmp_path: Path
) -> None:
    query = Query(task="clone-detection", language="python", source=SOURCES[0], other=SOURCES[1])
    (prediction,) = load("gpt2-classifier", labels="different,clone").predict([query])
    folder = folders["gpt2-classifier"]
    words = transformers.AutoTokenizer.from_pretrained(folder)
    text = str(words.decode(words(query.source, query.other)["input_ids"]))
    different, clone = logits(folder, text).tolist()
    assert isinstance(prediction, Predicted)
    assert dict(prediction.scores) == pytest.approx({"different": different, "clone": clone}, abs=1e-4)
    template = tmp_path / "pair.txt"
    template.write_text("{source}|{other}")
    model = load("gpt2-classifier", labels="different,clone", template=str(template))
    (other,) = model.predict([query])
    assert isinstance(other, Predicted)
    assert other.scores != prediction.scores

"""Checkpoint folders: what they answer, and what they say when something is wrong with them."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import torch
from safetensors.torch import save_file

from codeaudit.audit import checkpoints
from codeaudit.audit.models import catalogue
from codeaudit.audit.papers.checkpoint import (
    CONFIG,
    on_cores,
    read_json,
    usable_device,
)
from codeaudit.audit.papers.lines import encoding
from codeaudit.audit.papers.lines.encoding import EncodedLines
from codeaudit.audit.papers.lines.tasks import TASKS as LINE_TASKS
from codeaudit.audit.papers.lines.words import LineProgram, analyse
from codeaudit.audit.papers.registry import load as load_trained
from codeaudit.audit.papers.spe_attention.model import KEPT, LineConfig, LineModel
from codeaudit.audit.papers.spe_attention.networks import NETWORKS
from codeaudit.audit.records import Failed, Predicted, Query
from codeaudit.audit.registry import TASKS
from codeaudit.transforms.dependence.relations import Dependence
from codeaudit.transforms.errors import ModelError, UsageError
from codeaudit.transforms.records import Origin, Sample
from tests.audit.papers.spe_attention.test_equivariance_java import METHODS
from tests.support import stdlib
from tests.support.networks import CHAIN, LABELS, SMALL, legal_orders, network, shape, tokenizer


def write(folder: Path, kind: str = "spe") -> Path:
    """A checkpoint with random weights."""
    folder.mkdir()
    config = LineConfig(
        task="function-name",
        network=kind,
        options=NETWORKS[kind].options,
        shape=shape(),
        labels=LABELS,
        threshold=0.0,
    )
    (folder / "config.json").write_text(json.dumps(config.as_json()), encoding="utf-8")
    save_file(network(kind).float().state_dict(), folder / "model.safetensors")
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "checkpoint")


def load(folder: Path, precision: str | None = None) -> LineModel:
    return LineModel.load(str(folder), device="cpu", precision=precision)


def query(source: str) -> Query:
    return Query(task="function-name", language="python", source=source)


def answered(model: LineModel, *sources: str) -> list[Predicted]:
    predictions = model.predict([query(source) for source in sources])
    assert all(isinstance(prediction, Predicted) for prediction in predictions)
    return [prediction for prediction in predictions if isinstance(prediction, Predicted)]


def test_an_answer_is_a_sorted_set_with_scores_sorted_by_label(folder: Path) -> None:
    for prediction in answered(load(folder), *SMALL):
        assert isinstance(prediction.answer, tuple)
        assert prediction.answer == tuple(sorted(set(prediction.answer))) != ()  # type: ignore[type-var]
        labels = [label for label, _ in prediction.scores]
        assert labels == sorted(set(labels))
        assert set(LABELS) <= set(labels) or len(labels) == KEPT
        assert prediction.margin is not None
        assert prediction.margin >= 0
        above = {label for label, score in prediction.scores if score > 0}
        assert above == set(prediction.answer) or not above


def test_what_cannot_be_read_fails_alone(folder: Path) -> None:
    model = load(folder)
    java = replace(query(SMALL[0]), language="java")
    first, second, third, fourth = model.predict([query(SMALL[0]), query("def ("), java, query(long())])
    assert isinstance(first, Predicted)
    assert second == Failed(reason="source does not parse")
    assert third == Failed(reason="not Python")
    assert fourth == Failed(reason="input too long")
    assert model.predict([]) == []


def long() -> str:
    """More tokens than the window has."""
    return "def MASK(a):\n" + "".join(f"    a = a + {number}\n" for number in range(200))


def test_another_task_is_refused_as_a_whole(folder: Path) -> None:
    with pytest.raises(ModelError, match="made for task 'function-name', not 'throughput'"):
        load(folder).predict([replace(query(CHAIN), task="throughput")])


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_scores_do_not_depend_on_the_batch_beyond_the_noise(folder: Path, precision: str) -> None:
    model = load(folder, precision)
    together = answered(model, *SMALL, CHAIN)
    for source, expected in zip((*SMALL, CHAIN), together, strict=True):
        (alone,) = answered(model, source)
        for (label, score), (other, moved) in zip(expected.scores, alone.scores, strict=True):
            assert label == other
            assert score == pytest.approx(moved, abs=model.noise)


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("name", ["spe-checkpoint", "vanilla-checkpoint"])
def test_answers_do_not_depend_on_the_number_of_cores(name: str) -> None:
    model = LineModel.load(name, device="cpu")
    texts = ["def MASK(a):\n" + "    a = cache.get(a)\n" * size for size in range(1, 41)]
    before = torch.get_num_threads()
    predictions = []
    for threads in (1, 2, 5):
        torch.set_num_threads(threads)
        try:
            predictions.append(model.predict([query(text) for text in texts]))
            assert torch.get_num_threads() == threads
        finally:
            torch.set_num_threads(before)
    assert len(predictions[0]) == len(texts)
    assert predictions[0] == predictions[1] == predictions[2]


def test_the_bundled_models_of_a_run_read_each_text_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(source: str, language: str, dependence: Dependence) -> LineProgram:
        read.append(source)
        return analyse(source, language, dependence)

    monkeypatch.setattr(encoding, "analyse", counted)
    models = [LineModel.load(f"{name}-checkpoint", device="cpu") for name in ("spe", "symc", "vanilla")]
    texts = [query(text) for text in (CHAIN, *SMALL, GETTER)]
    for model in models:
        assert [model.unreadable(text) for text in texts] == [None] * len(texts)
    for model in models:
        model.predict(texts)
        model.predict(texts[::-1])
    assert read == [text.source for text in texts]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_on_one_core_ends_the_work_of_all(error: type[BaseException]) -> None:
    begun: list[int] = []

    def work(item: int) -> int:
        assert torch.get_num_threads() == 1
        begun.append(item)
        if item == 3:
            raise error
        time.sleep(0.01)
        return item

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert on_cores(work, [0, 1, 2]) == [0, 1, 2]
        with pytest.raises(error):
            on_cores(work, range(100))
        assert len(begun) < 50
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("name", ["spe-checkpoint", "tree-checkpoint"])
@pytest.mark.parametrize("threads", [1, 2])
def test_several_batches_at_once_are_answered_as_each_alone(name: str, threads: int) -> None:
    model = load_trained(name, device="cpu", precision=None)
    texts = [query(text) for text in (*stdlib.sample(40), "no Python", *SMALL)]
    batches = [texts[:1], [], texts[1:4], *([text] for text in texts[4:20]), texts[20:], texts[::-1]]
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert model.at_once
        numbered = list(model.answers(batches))
        assert [number for number, _ in numbered] == list(range(len(batches)))
        assert [answers for _, answers in numbered] == [model.predict(some) for some in batches]
        # Only what is needed next is read, so the memory of a run does not grow with its queries.
        endless = model.answers(iter(lambda: texts[1:2], None))
        assert next(endless)[1] == model.predict(texts[1:2])
        del endless
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("kind", ["spe", "symc"])
def test_equivariant_checkpoints_answer_all_legal_orders_alike(tmp_path: Path, kind: str) -> None:
    model = load(write(tmp_path / "made", kind), "float64")
    for source in SMALL:
        answers = {said.answer for said in answered(model, *(order.source for order in legal_orders(source)))}
        assert len(answers) == 1


def test_a_checkpoint_that_reads_no_names_gives_renamings_the_very_same_scores(tmp_path: Path) -> None:
    model = load(write(tmp_path / "made", "renamer"))
    one, other = (f"def MASK({a}, b):\n    c = {a} + b\n    return f'{{{a}}}', c\n" for a in ("value", "x"))
    first, second = answered(model, one)[0], answered(model, other)[0]
    assert first == second
    plain = load(write(tmp_path / "plain", "vanilla"))
    assert answered(plain, one)[0] != answered(plain, other)[0]
    assert model.predict([query("a = 1\nb = 2\n")]) == [
        Failed(reason="variables are resolved in a single function only")
    ]


def test_the_fingerprint_is_that_of_the_files_and_the_precision(folder: Path, tmp_path: Path) -> None:
    model = load(folder)
    assert model.fingerprint == load(write(tmp_path / "copy")).fingerprint
    assert model.fingerprint != load(folder, "float64").fingerprint
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "threshold": 0.5}), encoding="utf-8")
    assert model.fingerprint != load(folder).fingerprint


def test_the_model_tells_its_task_and_size(folder: Path) -> None:
    model = load(folder)
    assert model.task == "function-name"
    assert model.name == str(folder)
    assert model.parameters == sum(weight.numel() for weight in network("spe").parameters())


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def remove(path: Path) -> None:
    path.unlink()


def other_words(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    vocabulary = content["model"]["vocab"]
    vocabulary["get"], vocabulary["sum"] = vocabulary["sum"], vocabulary["get"]
    path.write_text(json.dumps(content), encoding="utf-8")


def far_number(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    words = content["model"]["vocab"]
    words[next(word for word in words if word.startswith("##"))] = 2_000_000_000
    path.write_text(json.dumps(content), encoding="utf-8")


def without_label(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    content["model"]["vocab"]["gotten"] = content["model"]["vocab"].pop("get")
    path.write_text(json.dumps(content), encoding="utf-8")


def other_weights(path: Path) -> None:
    save_file({"x": torch.zeros(1)}, path)


def infinite(path: Path) -> None:
    made = network("spe").float()
    with torch.no_grad():
        made.trunk.label_bias[0] = torch.nan
    save_file(made.state_dict(), path)


def set_to(**values: object) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        content = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**content, **values}), encoding="utf-8")

    return change


def drop(name: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        content = json.loads(path.read_text(encoding="utf-8"))
        del content[name]
        path.write_text(json.dumps(content), encoding="utf-8")

    return change


@pytest.mark.parametrize(
    ("file", "damage", "message"),
    [
        pytest.param("model.safetensors", cut, "copy or train it again", id="weights cut short"),
        pytest.param("model.safetensors", empty, "copy or train it again", id="weights empty"),
        pytest.param("model.safetensors", remove, "no such file; a checkpoint is a folder with", id="no weights"),
        pytest.param("model.safetensors", other_weights, "does not fit config.json", id="other weights"),
        pytest.param("model.safetensors", infinite, "weights that are not finite", id="weights not finite"),
        pytest.param("tokenizer.json", cut, "copy or train it again", id="tokenizer cut short"),
        pytest.param("tokenizer.json", remove, "no such file; a checkpoint is a folder with", id="no tokenizer"),
        pytest.param("tokenizer.json", other_words, "another tokenizer.json or other labels", id="words swapped"),
        pytest.param("tokenizer.json", without_label, "label 'get' of config.json is no word", id="unknown label"),
        pytest.param("tokenizer.json", far_number, "a word has the number 2,000,000,000", id="word far away"),
        pytest.param("config.json", cut, "not JSON", id="config cut short"),
        pytest.param("config.json", remove, "config.json': No such file or directory; a checkpoint", id="no config"),
        pytest.param("config.json", set_to(schema=9), "schema 9, this version reads 1", id="other schema"),
        pytest.param("config.json", set_to(task="poetry"), "made for task 'poetry', known: ", id="other task"),
        pytest.param("config.json", set_to(network="rnn"), "network 'rnn', known: spe", id="other network"),
        pytest.param("config.json", set_to(precision="int8"), "precision 'int8'", id="other precision"),
        pytest.param("config.json", set_to(options={"speed": 2}), "unknown option", id="other option"),
        pytest.param("config.json", set_to(shape={"colour": 1}), "colour", id="other shape"),
        pytest.param("config.json", set_to(labels=["get"]), "1 labels, but the shape says 6", id="too few labels"),
        pytest.param("config.json", drop("threshold"), "no entry 'threshold'", id="no threshold"),
    ],
)  # fmt: skip
def test_a_damaged_checkpoint_is_one_clear_line(
    folder: Path, file: str, damage: Callable[[Path], None], message: str
) -> None:
    damage(folder / file)
    with pytest.raises(ModelError) as caught:
        load(folder)
    text = str(caught.value)
    assert message in text
    assert str(folder) in text
    assert "\n" not in text


def test_an_unusable_device_or_precision_is_a_usage_error(folder: Path) -> None:
    for name in ("warp", "cuda:99", "meta"):
        with pytest.raises(UsageError, match=f"device '{name}' cannot be used"):
            usable_device(name)
    assert usable_device("cpu") == "cpu"
    with pytest.raises(UsageError, match="unknown precision 'int4'; known: float32"):
        load(folder, "int4")


# ── the bundled checkpoints ──────────────────────────────────────────────────────────────────────────


LINES = [
    name
    for name, card in catalogue.bundled().items()
    if card["task"] in LINE_TASKS and read_json(checkpoints.FOLDER / name / CONFIG)["network"] in NETWORKS
]
"""Networks that read lines."""


@pytest.mark.thinned(5)
@pytest.mark.parametrize("name", sorted(catalogue.bundled()))
def test_a_bundled_checkpoint_is_small_and_better_than_no_network(name: str) -> None:
    card = json.loads((checkpoints.FOLDER / name / "model-card.json").read_text(encoding="utf-8"))
    size = sum(path.stat().st_size for path in (checkpoints.FOLDER / name).iterdir())
    assert size <= (2_000_000 if card["task"] == "throughput" else 6_000_000)
    for baseline in card["baselines"]:
        if card["task"] == "throughput":
            assert card["scores"]["test_renamed"] < baseline["test"]
        elif card["task"] == "code-modelling":
            assert card["scores"]["test"]["bits_per_byte"] < baseline["test"]["bits_per_byte"]
        elif card["task"] == "error-detection":
            assert card["scores"]["test"]["accuracy"] > baseline["test"]["accuracy"]
            assert card["scores"]["test"]["pairs_right"] > baseline["test"]["pairs_right"]
        else:
            assert card["scores"]["test"]["micro"] > baseline["test"]["micro"]
    assert load_trained(name, device="cpu", precision=None).parameters == card["parameters"]


@pytest.mark.parametrize("name", sorted(catalogue.bundled_for("throughput")))
def test_a_bundled_checkpoint_of_blocks_tells_where_its_labels_come_from(name: str) -> None:
    card = json.loads((checkpoints.FOLDER / name / "model-card.json").read_text(encoding="utf-8"))
    assert card["labels"] == {"tool": "llvm-mca", "version": "14.0.6", "cpu": "haswell", "iterations": 100}
    assert not Path(card["corpora"]["train"]).is_absolute()


GETTER = (
    "def MASK(name, value=None):\n    key = name.lower()\n    if value is None:\n        return CACHE.get(key)\n"
    "    CACHE[key] = value\n"
)


@pytest.mark.parametrize(
    ("name", "answer", "loudest"),
    [
        ("spe-checkpoint", ("cache", "get"), -0.46588),
        ("symc-checkpoint", ("cache", "get"), 0.05363),
        ("vanilla-checkpoint", ("get",), 0.64835),
        ("spe-large-checkpoint", ("cache", "get"), -0.23891),
        ("symc-large-checkpoint", ("cache", "get"), 0.63218),
        ("vanilla-large-checkpoint", ("get",), 0.55335),
    ],
)
def test_a_bundled_checkpoint_answers_as_when_it_was_made(
    name: str, answer: tuple[str, ...], loudest: float
) -> None:
    model = LineModel.load(name, device="cpu")
    (prediction,) = model.predict([Query(task="function-name", language="python", source=GETTER)])
    assert isinstance(prediction, Predicted)
    assert prediction.answer == answer
    assert dict(prediction.scores)["get"] == pytest.approx(loudest, abs=model.noise)


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", LINES)
def test_an_equivariant_bundled_checkpoint_answers_legal_orders_alike(name: str) -> None:
    """And a plain one does not, or the functions would show nothing."""
    model = LineModel.load(name, device="cpu")
    (language,) = model.config.languages
    assert catalogue.bundled()[name]["languages"] == [language]
    moved = 0.0
    for source in stdlib.sample(60) if language == "python" else METHODS:
        asked = TASKS.get(model.task).prepare(
            Sample(id="", language=language, source=source, label=None, origin=Origin(path="", line=1))
        )
        program = analyse(asked.source if isinstance(asked, Sample) else source, language)
        features = model.encoder.features(program, language)
        if isinstance(features, EncodedLines):
            turned = features.permuted(program.sample_lines(Random(0)))
            one, other = model.logits([features]), model.logits([turned])
            moved = max(moved, float((one - other).abs().max()))
    if model.config.network == "vanilla":
        assert moved > 100 * model.noise
    else:
        assert moved <= model.noise


@pytest.mark.slow
def test_bundled_checkpoints_answer_without_the_compiler_of_torch() -> None:
    """Drawing initial weights on the device `meta` imports it, which takes two seconds."""
    program = (
        "import sys; from codeaudit.audit import checkpoints; from codeaudit.audit.papers.registry import load\n"
        "from codeaudit.audit.records import Query\n"
        "for folder in sorted(checkpoints.FOLDER.glob('*-checkpoint')):\n"
        "    model = load(folder.name, device='cpu', precision=None)\n"
        "    model.predict([Query(task=model.task, language='python', source='def MASK(a):\\n    return a\\n')])\n"
        "    assert all(weight.isfinite().all() for weight in model.module.parameters())\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "torch.nn" in done.stdout.split()
    assert not {"torch._dynamo", "sympy"} & set(done.stdout.split())

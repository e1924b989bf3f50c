"""Checkpoints of the networks that read terms: exact answers through the driver, and damaged files."""

import json
from pathlib import Path

import pytest
import torch

from codeaudit.audit.cache import NoMemory
from codeaudit.audit.models import catalogue
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.papers.renamer.model import TermModel
from codeaudit.audit.papers.renamer.networks import NETWORKS as TERM_NETWORKS
from codeaudit.audit.records import Audited, Case, Failed, Held, Predicted, Query, Violated
from codeaudit.audit.run import AuditSetup, audit
from codeaudit.audit.suite import SuitePlan, case
from codeaudit.audit.tasks.derivative import DERIVATIVE
from codeaudit.audit.tasks.throughput import THROUGHPUT
from codeaudit.transforms.errors import ModelError
from codeaudit.transforms.records import Origin, Sample
from tests.audit.test_run import Silent
from tests.support import pairs
from tests.support.blocks import BLOCKS, FIGURE_A, FIGURE_B, renamings, write


def load(folder: Path, precision: str | None = None) -> TermModel:
    return TermModel.load(str(folder), device="cpu", precision=precision)


def query(source: str, *, task: str = "throughput", language: str = "x86") -> Query:
    return Query(task=task, language=language, source=source)


def algebra(source: str) -> Query:
    return query(source, task="derivative", language="algebra")


def answered(model: TermModel, *sources: str) -> list[float]:
    predictions = model.predict([query(source) for source in sources])
    assert all(isinstance(said, Predicted) for said in predictions), predictions
    return [
        said.answer for said in predictions if isinstance(said, Predicted) and isinstance(said.answer, float)
    ]


def blocks() -> list[Sample]:
    return [
        Sample(id=f"{number}", language="x86", source=source, label=1.5, origin=Origin(path="a.s", line=1))
        for number, source in enumerate(BLOCKS)
    ]


def cases() -> list[Case]:
    plan = SuitePlan(transforms=("identity", "rename"), variants=8, seed=3)
    return [case(sample, plan) for sample in blocks()]


def audited(model: TermModel, size: int) -> list[Audited]:
    setup = AuditSetup(model=model, task=THROUGHPUT, memory=NoMemory(), monitor=Silent(), batch_size=size)
    return list(audit(cases(), setup))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["renamer", "canonicalized"])
def test_thousands_of_renamings_have_one_answer(tmp_path: Path, name: str) -> None:
    model = load(write(tmp_path / "made", name))
    for source in BLOCKS:
        texts = sorted({source, *renamings(source, 150)})
        assert len(texts) > 5
        assert len(set(answered(model, *texts))) == 1


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("name", ["renamer", "canonicalized"])
def test_hundreds_of_pairs_and_their_renamings_have_one_answer_each(tmp_path: Path, name: str) -> None:
    """To the last bit: of the log-odds, not only of the word."""
    model = load(pairs.write(tmp_path / "made", name))
    moved = 0
    for source in pairs.sources(100, movable_only=True):
        texts = sorted({source, *pairs.renamings(source, 4)})
        moved += len(texts) - 1
        predictions = model.predict([algebra(text) for text in texts])
        assert isinstance(predictions[0], Predicted)
        assert all(prediction == predictions[0] for prediction in predictions)
    assert moved > 300


def test_the_truth_is_a_word_with_the_log_odds_of_both(tmp_path: Path) -> None:
    model = load(pairs.write(tmp_path / "made"))
    answers = set()
    for source in pairs.sources(40):
        (prediction,) = model.predict([algebra(source)])
        assert isinstance(prediction, Predicted)
        assert isinstance(prediction.answer, str)
        scores = dict(prediction.scores)
        assert [name for name, _ in prediction.scores] == ["false", "true"]
        assert scores["true"] == -scores["false"]
        assert prediction.answer == max(scores, key=lambda name: scores[name])
        assert prediction.margin == abs(scores["true"])
        assert DERIVATIVE.normalise(prediction.answer) == prediction.answer
        answers.add(prediction.answer)
    assert len(answers) == 2
    assert model.predict([algebra("mul a0"), query(FIGURE_A, task="derivative")]) == [
        Failed(reason="source does not parse"),
        Failed(reason="not algebra"),
    ]


@pytest.mark.slow
def test_a_network_that_sees_the_names_of_variables_is_caught(tmp_path: Path) -> None:
    plan = SuitePlan(transforms=("identity", "rename"), variants=4, seed=3)
    samples = [
        Sample(id=f"{n}", language="algebra", source=source, label="true", origin=Origin(path="a", line=1))
        for n, source in enumerate(pairs.sources(60, movable_only=True))
    ]
    for name, caught in (("renamer", False), ("canonicalized", False), ("vanilla", True)):
        model = load(pairs.write(tmp_path / name, name))
        setup = AuditSetup(model=model, task=DERIVATIVE, memory=NoMemory(), monitor=Silent(), batch_size=8)
        verdicts = [
            verdict
            for record in audit([case(sample, plan) for sample in samples], setup)
            for verdict in record.verdicts
        ]
        assert len(verdicts) > 200
        assert any(isinstance(verdict, Violated) for verdict in verdicts) == caught
        moves = [verdict.deviation for verdict in verdicts if isinstance(verdict, Held | Violated)]
        assert (max(moves) > 0) == caught


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("size", [1, 3, 32])
def test_the_driver_asks_alike_whatever_the_batch(tmp_path: Path, size: int) -> None:
    """Every answer to a renaming, and to the input again, is the answer to the last bit."""
    records = audited(load(write(tmp_path / "made")), size)
    verdicts = [verdict for record in records for verdict in record.verdicts]
    assert len(verdicts) > 50
    for verdict in verdicts:
        assert isinstance(verdict, Held)
        assert verdict.deviation == 0
        assert verdict.before == verdict.after


def test_a_network_that_sees_names_is_caught(tmp_path: Path) -> None:
    records = audited(load(write(tmp_path / "made", "vanilla")), 32)
    for record in records:
        kinds = {(verdict.perturbed.kind, type(verdict)) for verdict in record.verdicts}
        assert kinds == {("identity", Held), ("preserving", Violated)}


def test_an_answer_is_the_exponential_of_its_score(tmp_path: Path) -> None:
    (prediction,) = load(write(tmp_path / "made")).predict([query(FIGURE_A)])
    assert isinstance(prediction, Predicted)
    ((name, score),) = prediction.scores
    assert name == "log"
    assert prediction.answer == pytest.approx(2.718281828459045**score)


def test_what_cannot_be_read_fails_alone(tmp_path: Path) -> None:
    model = load(write(tmp_path / "made"))
    long = "\n".join(["addq %rax, %rbx"] * 60)
    first, second, third, fourth, fifth = model.predict(
        [query(FIGURE_A), query("nonsense"), query(long), query("x = 1", language="python"), query(FIGURE_B)]
    )
    assert second == Failed(reason="source does not parse")
    assert third == Failed(reason="input too long")
    assert fourth == Failed(reason="not x86")
    assert first == fifth != Failed(reason="not x86")
    with pytest.raises(ModelError, match="made for task 'throughput', not 'function-name'"):
        model.predict([query(FIGURE_A, task="function-name")])


def test_the_number_of_threads_is_as_before(tmp_path: Path) -> None:
    before = torch.get_num_threads()
    model = load(write(tmp_path / "made"))
    torch.set_num_threads(2)
    try:
        model.predict([query(FIGURE_A)])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_the_catalogue_tells_the_families_apart(tmp_path: Path) -> None:
    folder = write(tmp_path / "made")
    model = catalogue.load(str(folder), Settings(device="cpu"), {})
    assert isinstance(model, TermModel)
    assert model.task == "throughput"
    assert model.fingerprint != load(folder, "float64").fingerprint
    assert model.parameters == sum(weight.numel() for weight in model.module.parameters())
    named = catalogue.load("vanilla-checkpoint", Settings(device="cpu"), {})
    assert named.task == "function-name"


def test_float64_is_another_arithmetic_and_exact_too(tmp_path: Path) -> None:
    folder = write(tmp_path / "made")
    double, single = load(folder, "float64"), load(folder)
    assert answered(double, FIGURE_A) == answered(double, FIGURE_B)
    assert answered(double, FIGURE_A) == pytest.approx(answered(single, FIGURE_A), rel=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"network": "lstm"}, "network 'lstm', known: renamer, vanilla"),
        ({"precision": "float8"}, "precision 'float8', known"),
        ({"schema": 9}, "schema 9, this version reads 1"),
        ({"sizes": {"vocabulary": 3}}, "words, but config.json says 3"),
        ({"sizes": {"colour": 3}}, "colour"),
        ({"sizes": None}, "cannot be used"),
    ],
)
def test_a_config_that_is_none_of_ours_is_told(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    folder = write(tmp_path / "made")
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ModelError, match=message):
        catalogue.load(str(folder), Settings(device="cpu"), {})


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_damaged_files_are_told(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path / "made")
    (folder / name).write_bytes((folder / name).read_bytes()[:100])
    with pytest.raises(ModelError, match=rf"checkpoint file .*{name}' cannot be used"):
        load(folder)
    (folder / name).unlink()
    with pytest.raises(ModelError, match=rf"cannot read .*{name}'"):
        load(folder)


def test_weights_of_another_network_are_told(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one"), write(tmp_path / "other", "vanilla")
    (one / "model.safetensors").write_bytes((other / "model.safetensors").read_bytes())
    with pytest.raises(ModelError, match=r"does not fit config\.json"):
        load(one)


@pytest.mark.parametrize("name", sorted(TERM_NETWORKS))
def test_every_network_has_a_checkpoint(tmp_path: Path, name: str) -> None:
    (answer,) = answered(load(write(tmp_path / "made", name)), FIGURE_A)
    assert answer > 0

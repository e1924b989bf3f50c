"""`codeaudit run` on checkpoints: whole ones, damaged ones, ones of another task."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from codeaudit.audit import checkpoints
from codeaudit.audit.cache import NoMemory
from codeaudit.audit.papers.spe_attention.model import LineModel
from codeaudit.audit.records import Case, Held, Predicted, Violated
from codeaudit.audit.run import AuditSetup, audit
from codeaudit.audit.store import read_rows
from codeaudit.audit.suite import SuitePlan, cases
from codeaudit.audit.tasks.function_name import FUNCTION_NAME
from codeaudit.cli.main import main
from codeaudit.transforms.records import Sample
from tests.audit.test_run import Silent
from tests.support.checkpoints import write_checkpoint


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])


def run(*words: str) -> int:
    return main(["run", "--workers", "1", *words])


def test_a_folder_is_a_model(sources: Path) -> None:
    write_checkpoint(Path("mine"))
    assert run("--model", "mine", "--corpus", str(sources), "--out", "out") == 0
    (model,) = json.loads(Path("out/manifest.json").read_text(encoding="utf-8"))["models"]
    assert model["name"] == "mine"
    assert model["parameters"] > 1000


def test_two_checkpoints_of_one_architecture_never_share_answers(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_checkpoint(Path("one"), seed=1)
    write_checkpoint(Path("two"), seed=2)
    words = ["--corpus", str(sources), "--transform", "identity", "--no-controls"]
    assert run("--model", "one", *words, "--out", "first") == 0
    capsys.readouterr()
    assert run("--model", "two", *words, "--out", "second") == 0
    assert "from the cache" not in capsys.readouterr().err
    first, second = (
        [row["before_scores"] for row in read_rows(Path(name, "verdicts.parquet"))]
        for name in ("first", "second")
    )
    assert all(one != two for one, two in zip(first, second, strict=True))


@pytest.mark.slow
def test_where_no_model_is_named_the_bundled_ones_of_the_corpus_language_answer(
    sources: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(checkpoints, "FOLDER", Path("bundled").absolute())
    for language in ("java", "python"):
        folder = write_checkpoint(Path("bundled", f"of-{language}"), languages=(language,))
        card = {"task": "function-name", "languages": [language]}
        (folder / "model-card.json").write_text(json.dumps(card), encoding="utf-8")
    method = "    int twice(int a, int b) {\n        int c = a + b;\n        int d = b;\n        return c * d;\n    }\n"
    Path("A.java").write_text(f"class A {{\n{method}}}\n", encoding="utf-8")

    def asked(out: str, *words: str) -> list[str]:
        assert run(*words, "--out", out) == 0
        manifest = json.loads(Path(out, "manifest.json").read_text(encoding="utf-8"))
        return [model["name"] for model in manifest["models"]]

    assert asked("j", "--corpus", "A.java") == ["of-java"]
    assert asked("p", "--corpus", str(sources)) == ["of-python"]
    assert asked("frozen", "--suite", "j/suite.parquet") == ["of-java"]
    capsys.readouterr()
    shutil.rmtree("bundled/of-java")
    assert run("--corpus", "A.java", "--out", "none") == 2
    assert "no bundled model for task 'function-name' in java" in capsys.readouterr().err
    # Most functions of the folder are in a language of no bundled model.
    Path("mixed").mkdir()
    others = [method.replace("twice", f"by{sign:d}").replace("+", chr(sign)) for sign in b"-*/%&|^"]
    Path("mixed", "B.java").write_text(f"class B {{\n{''.join(others)}}}\n", encoding="utf-8")
    Path("mixed", "one.py").write_text(
        "def twice(a, b):\n    c = a + b\n    return c * b\n", encoding="utf-8"
    )
    assert asked("m", "--corpus", "mixed") == ["of-python"]
    assert "the bundled models for Python skip the samples in Java" in capsys.readouterr().err


def test_a_moved_checkpoint_keeps_its_answers(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_checkpoint(Path("one"))
    words = ["--corpus", str(sources), "--transform", "identity", "--no-controls", "--out", "out"]
    assert run("--model", "one", *words) == 0
    Path("one").rename("two")
    capsys.readouterr()
    assert run("--model", "two", *words) == 0
    assert "4 answers" in capsys.readouterr().err


Damage = Callable[[Path], object]


def truncate(name: str) -> Damage:
    def damage(folder: Path) -> None:
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: len(data) // 2])

    return damage


def corrupt(name: str) -> Damage:
    return lambda folder: (folder / name).write_bytes(b"\xff" * 100)


def remove(name: str) -> Damage:
    return lambda folder: (folder / name).unlink()


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("damage", [truncate, corrupt, remove])
def test_a_damaged_checkpoint_is_one_line(
    name: str, damage: Callable[[str], Damage], sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_checkpoint(Path("mine"))
    damage(name)(folder)
    assert run("--model", "mine", "--corpus", str(sources), "--out", "out") == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert line.startswith("codeaudit: ")
    assert name in line
    assert not Path("out").exists()


def test_a_checkpoint_of_a_task_that_does_not_exist(
    sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_checkpoint(Path("mine"))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "task": "sorting"}), encoding="utf-8")
    assert run("--model", "mine", "--corpus", str(sources)) == 3
    assert "'sorting'" in capsys.readouterr().err


def test_a_checkpoint_of_another_task(
    sources: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_checkpoint(Path("mine"))
    monkeypatch.setattr(LineModel, "task", "error-detection")
    assert run("--model", "mine", "--task", "function-name", "--corpus", str(sources)) == 3
    message = "model 'mine' was made for the task 'error-detection', not for 'function-name'"
    assert message in capsys.readouterr().err


def test_an_unusable_device_is_one_line(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_checkpoint(Path("mine"))
    assert run("--model", "mine", "--corpus", str(sources), "--device", "quantum") == 2
    assert "device 'quantum' cannot be used" in capsys.readouterr().err


def _samples(sources: Path) -> list[Sample]:
    from collections import Counter

    from codeaudit.audit.corpora.specs import corpus

    prepared = [FUNCTION_NAME.prepare(raw) for raw in corpus(str(sources)).read(Counter())]
    return [sample for sample in prepared if isinstance(sample, Sample)]


def _outcomes(
    suite: list[Case], model: LineModel, batch_size: int
) -> dict[tuple[str, str, int], tuple[type, object]]:
    setup = AuditSetup(
        model=model, task=FUNCTION_NAME, memory=NoMemory(), monitor=Silent(), batch_size=batch_size
    )
    outcomes: dict[tuple[str, str, int], tuple[type, object]] = {}
    for audited in audit(suite, setup):
        for verdict in audited.verdicts:
            key = (audited.sample.id, verdict.perturbed.transform, verdict.perturbed.variant)
            answer = verdict.after.answer if isinstance(verdict.after, Predicted) else None
            outcomes[key] = (type(verdict), answer)
    return outcomes


@pytest.mark.thinned(1)
@pytest.mark.parametrize("network", ["vanilla", "spe"])
def test_verdicts_do_not_depend_on_batch_size_or_on_the_other_samples(network: str, sources: Path) -> None:
    model = LineModel.load(str(write_checkpoint(Path("mine"), network=network)))
    plan = SuitePlan(transforms=("identity", "reorder", "rename", "reorder-breaking"), variants=3, seed=0)
    suite = list(cases(_samples(sources), plan, workers=1))
    together = _outcomes(suite, model, 32)
    assert {kind for kind, _ in together.values()} <= {Held, Violated}
    assert _outcomes(suite, model, 1) == _outcomes(suite, model, 5) == together
    alone: dict[tuple[str, str, int], tuple[type, object]] = {}
    for case in reversed(suite):
        alone |= _outcomes([case], model, 3)
    assert alone == together

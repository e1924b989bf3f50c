"""Fine-tuning: a training begins with the weights of a checkpoint."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from codeaudit.audit.papers.checkpoint import CheckpointLearner
from codeaudit.audit.papers.start import BY_DATA, TABLES, begin, opened
from codeaudit.audit.training.trainer import train
from codeaudit.cli.main import main
from codeaudit.cli.train import without_folders
from codeaudit.transforms.errors import ModelError, UsageError
from tests.audit.training.learners import KINDS, small
from tests.audit.training.test_execution import Silent

OTHERS = {"terms": "algebra:train:40"}


def written(learner: CheckpointLearner[Any, Any], folder: Path) -> Path:
    folder.mkdir()
    trained = train(learner, folder=folder, monitor=Silent(), stop=lambda: False)
    learner.write(folder, trained, about={})
    return folder


@pytest.mark.slow
@pytest.mark.thinned(1)
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_weights_and_the_vectors_of_known_words_are_taken_over(kind: str, tmp_path: Path) -> None:
    folder = written(small(kind, tmp_path), tmp_path / "first")
    start = opened(str(folder), KINDS[kind][0])
    learner = small(kind, tmp_path, corpus=OTHERS.get(kind, "stdlib:pathlib,random,tarfile,zipfile"))
    plain = dict(learner.identity)
    torch.manual_seed(9)
    random = learner.make().state_dict()
    begin(learner, start)
    assert learner.identity != plain
    torch.manual_seed(9)
    made = learner.make().state_dict()
    before = load_file(folder / "model.safetensors")
    old, new = start.words, learner.words
    for name, tensor in made.items():
        if name in BY_DATA:
            assert torch.equal(tensor, random[name]), name
        elif name in TABLES:
            known = [word for word in new if word in old]
            assert known
            for word in known:
                assert torch.equal(tensor[new.index(word)], before[name][old.index(word)].float()), word
            for word in set(new) - set(old):
                assert torch.equal(tensor[new.index(word)], random[name][new.index(word)]), word
        elif tensor.shape == before[name].shape:
            assert torch.equal(tensor, before[name].to(tensor.dtype)), name
    assert kind == "terms" or set(new) - set(old), "no word was new"


@pytest.mark.slow
def test_the_command_takes_the_sizes_of_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written(small("spe", tmp_path), tmp_path / "first")
    words = ["train", "spe", "--from", str(tmp_path / "first"), "--corpus", "stdlib:pathlib,random,tarfile"]
    words += ["--limit", "60", "--rarest-label", "2", "--steps", "2", "--workers", "1"]
    monkeypatch.setenv("CODEAUDIT_CACHE", "cache")
    assert main([*words, "--out", "tuned"]) == 0
    assert list(Path("cache/features").iterdir())
    card = json.loads(Path("tuned/model-card.json").read_text(encoding="utf-8"))
    assert card["from"]["checkpoint"] == "first"
    assert card["corpora"]["train"] == "stdlib:pathlib,random,tarfile"
    first, tuned = (load_file(tmp_path / name / "model.safetensors") for name in ("first", "tuned"))
    name = "trunk.blocks.0.feed.0.weight"
    assert first[name].shape == tuned[name].shape
    assert float((first[name] - tuned[name]).abs().max()) < 0.01
    assert main([*words, "--inner", "32", "--out", "wider"]) == 2
    assert "leave out options for sizes" in capsys.readouterr().err
    assert main(["train", "symc", *words[2:], "--out", "other"]) == 2
    assert "a checkpoint of spe, not of symc" in capsys.readouterr().err


@pytest.mark.thinned(1)
@pytest.mark.parametrize("window", [40, 90])
def test_another_window_keeps_the_places_that_it_has(window: int, tmp_path: Path) -> None:
    start = opened(str(written(small("terms", tmp_path), tmp_path / "first")), KINDS["terms"][0])
    learner = small("terms", tmp_path, window=window)
    torch.manual_seed(9)
    random = learner.make().state_dict()["positions.weight"]
    begin(learner, start)
    torch.manual_seed(9)
    made = learner.make().state_dict()["positions.weight"]
    before = start.weights["positions.weight"].float()
    assert len(made) == window != len(before)
    known = min(window, len(before))
    assert torch.equal(made[:known], before[:known])
    assert torch.equal(made[known:], random[known:])


@pytest.mark.weekly
@pytest.mark.parametrize("pretraining", [0, 1])
def test_a_checkpoint_without_newer_parts_gets_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pretraining: int
) -> None:
    """Its `config.json` does not name neighbours and copying."""
    monkeypatch.chdir(tmp_path)
    before = written(small("spe", tmp_path, neighbours=0, copying=False), tmp_path / "first")
    config = json.loads((before / "config.json").read_text(encoding="utf-8"))
    for name in ("neighbours", "copying"):
        del config["shape"][name]
    (before / "config.json").write_text(json.dumps(config), encoding="utf-8")
    words = ["train", "spe", "--from", "first", "--corpus", "stdlib:pathlib,random,tarfile", "--limit", "60"]
    words += ["--rarest-label", "2", "--steps", "2", "--cache", "cache", "--workers", "1"]
    assert main([*words, "--pretrain-epochs", str(pretraining), "--out", "tuned"]) == 0
    tuned = json.loads(Path("tuned/config.json").read_text(encoding="utf-8"))
    assert tuned["shape"]["neighbours"] == 0
    assert tuned["shape"]["copying"] is False
    assert load_file("tuned/model.safetensors").keys() == load_file("first/model.safetensors").keys()


def test_a_checkpoint_of_another_network_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a checkpoint of tree, not of spe"):
        opened("tree-checkpoint", "spe")


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("/home/ada/first", "first"), ("~/models/first/", "first/"), ("C:\\Users\\ada\\table.csv:train", "table.csv:train"),
        ("bugs:unexecuted:/data/table.jsonl.gz:train", "bugs:unexecuted:table.jsonl.gz:train"),
        ("table.csv", "table.csv"), ("data/table.csv:test", "data/table.csv:test"), ("hf/owner/name", "hf/owner/name"),
        ("stdlib:pathlib,random", "stdlib:pathlib,random"), ("/", "/"),
    ],
)  # fmt: skip
def test_a_card_names_no_folders_of_the_machine(spec: str, named: str) -> None:
    assert without_folders(spec) == named


def test_a_checkpoint_that_is_not_there_is_guessed() -> None:
    with pytest.raises(
        ModelError, match=r"--from spe-chekpoint: no such folder, .*did you mean 'spe-checkpoint'\?"
    ):
        opened("spe-chekpoint", "spe")

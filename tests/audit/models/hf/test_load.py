"""Folders that cannot be used say so in one line; what decides an answer is in the fingerprint."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.provider import Settings
from codeaudit.audit.records import Failed, Predicted
from codeaudit.cli.main import main
from codeaudit.transforms.errors import ModelError, UsageError
from tests.audit.models.hf import networks as made
from tests.audit.models.hf.conftest import SHORT, SOURCES, Load, asked


def config(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    kept = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({name: value for name, value in kept.items() if value is not None}))


def bin_only(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def torn(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-64])


def sharded(folder: Path) -> None:
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "model-1-of-2.safetensors"}}')


def without_words(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()


def with_code(folder: Path) -> None:
    config(folder, model_type="own", auto_map={"AutoConfig": "own.Config"})
    (folder / "own.py").write_text("raise SystemExit('it ran')\n")


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "no weights": (lambda folder: (folder / "model.safetensors").unlink(), "no model.safetensors in"),
    "bin only": (bin_only, "only safetensors are read, and its weights are in pytorch_model.bin; "),
    "adapter": (
        lambda folder: (folder / "model.safetensors").rename(folder / "adapter_config.json"),
        "adapter_config.json is damaged; copy the adapter again",
    ),
    "torn": (torn, "incomplete metadata"),
    "no numbers": (
        lambda folder: (folder / "model.safetensors").write_bytes(b"x" * 100),
        "header too large",
    ),
    "lost shard": (sharded, "model-1-of-2.safetensors is missing; copy the model again"),
    "bad index": (
        lambda folder: (folder / "model.safetensors.index.json").write_text("[]"),
        "model.safetensors.index.json is damaged",
    ),
    "no config": (lambda folder: (folder / "config.json").unlink(), "no config.json in"),
    "bad config": (lambda folder: (folder / "config.json").write_text("{"), "not a valid JSON"),
    "no type": (lambda folder: (folder / "config.json").write_text("{}"), "model_type"),
    "unknown type": (lambda folder: config(folder, model_type="zzz"), "does not recognize"),
    "no architecture": (
        lambda folder: config(folder, architectures=None),
        "names no architecture; name its head",
    ),
    "other architecture": (
        lambda folder: config(folder, architectures=["BertForTokenClassification"]),
        "its architecture BertForTokenClassification answers no task; name its head with -M head=",
    ),
    "other head": (
        lambda folder: config(folder, architectures=["BertForMaskedLM"]),
        "for masked language modelling: it has no weights for cls.predictions.",
    ),
    "other size": (lambda folder: config(folder, intermediate_size=64), "cannot load"),
    "no tokenizer": (without_words, "no tokenizer in"),
    "bad tokenizer": (lambda folder: (folder / "tokenizer.json").write_text("{}"), "cannot load"),
    "own code": (
        with_code,
        "needs code of its own; read that code, and run it with -M trust_remote_code=true",
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_folder_that_cannot_be_used_is_one_line(
    name: str,
    folders: dict[str, Path],
    sources: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    harm, message = DAMAGE[name]
    shutil.copytree(folders["bert"], "m")
    harm(Path("m"))
    assert main(["run", "--model", "hf/m", "--corpus", str(sources), "--device", "cpu"]) == 3
    printed = capfd.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert line.startswith(("codeaudit: cannot load 'hf/m': ", "codeaudit: cannot use 'hf/m' "))
    assert message in line
    assert len(line) < 330
    assert not Path("codeaudit-runs").exists()


@pytest.mark.parametrize(
    ("spec", "given", "code", "message"),
    [
        ("hf/", [], 2, "model 'hf/' has no name"),
        ("hf/./nowhere", [], 3, "no folder './nowhere'"),
        ("hf//no/such/folder", [], 3, "no folder '/no/such/folder'"),
        ("hf/a/b/c", [], 3, "no folder 'a/b/c'"),
        ("hf/two words", [], 3, "no folder 'two words'"),
        ("hf/file.txt", [], 3, "is a file; name the folder that save_pretrained wrote"),
        ("hf/m", ["-M", "heads=causal"], 2, "no model here takes the argument 'heads'"),
        ("hf/m", ["-M", "head=casual"], 2, "-M head=casual must be one of classification, causal"),
        ("hf/m", ["-M", "truncate=yes"], 2, "-M truncate=yes must be true or false"),
        ("hf/m", ["-M", "max_new_tokens=0"], 2, "-M max_new_tokens=0 must be a positive whole number"),
        ("hf/m", ["-M", "masks=many"], 2, "-M masks=many must be a positive whole number"),
        ("hf/m", ["-M", "labels=buggy"], 2, "-M labels=buggy must be words with commas between them"),
        ("hf/m", ["-M", "names=n.txt"], 2, "-M names has no effect on 'hf/m', which answers by sequence"),
        ("hf/m", ["-M", "template=none.txt"], 3, "cannot read -M template=none.txt: No such file"),
        ("hf/m", ["-M", "revision=main"], 2, "is a folder here and has no revision 'main'"),
        ("hf/m", ["--device", "abacus"], 2, "device 'abacus' cannot be used"),
    ],
)
def test_a_wrong_word_is_one_line(
    spec: str,
    given: list[str],
    code: int,
    message: str,
    folders: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m").symlink_to(folders["bert"])
    Path("file.txt").touch()
    assert main(["run", "--model", spec, *given]) == code
    printed = capfd.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert message in line


@pytest.mark.slow
def test_what_decides_an_answer_is_in_the_fingerprint(
    folders: dict[str, Path], load: Load, tmp_path: Path
) -> None:
    same = shutil.copytree(folders["llama"], tmp_path / "same")
    (same / "README.md").write_text("other words")
    assert load(same).fingerprint == load("llama").fingerprint
    weights = shutil.copytree(folders["llama"], tmp_path / "weights")
    words = made.tokenizer(made.GPT)
    network = made.decoder("Llama", words)
    with torch.no_grad():
        network.lm_head.weight[0, 0] += 1e-3
    made.save(weights, network, words)
    chat = shutil.copytree(folders["llama"], tmp_path / "chat")
    (chat / "chat_template.jinja").write_text(made.CHAT)
    decoding = shutil.copytree(folders["llama"], tmp_path / "decoding")
    generation = json.loads((decoding / "generation_config.json").read_text())
    (decoding / "generation_config.json").write_text(json.dumps({**generation, "repetition_penalty": 1.5}))
    prints = [load(place).fingerprint for place in ("llama", weights, chat, decoding)]
    prints += [load("llama", max_new_tokens="7").fingerprint, load("llama", truncate="true").fingerprint]
    prints += [load("llama", system="x").fingerprint, load("llama", precision="float64").fingerprint]
    assert len(set(prints)) == len(prints)


def test_precision_is_the_models_own_or_the_one_asked_for(
    folders: dict[str, Path], load: Load, tmp_path: Path
) -> None:
    half = tmp_path / "half"
    words = made.tokenizer(made.BERT, made.BERT_ENDS)
    network = made.bert("BertForSequenceClassification", words, num_labels=2)
    made.save(half, network.to(torch.bfloat16), words)
    models = [
        load(half, precision=precision, labels="clean,buggy") for precision in (None, "float32", "float64")
    ]
    assert [model.precision for model in models] == ["bfloat16", "float32", "float64"]
    noises = [model.noise for model in models]
    assert noises == sorted(noises, reverse=True)
    assert noises[2] < 1e-12 < noises[1] < 1e-4 < noises[0] < 1
    with pytest.raises(UsageError, match="unknown precision"):
        load("bert", precision="float8")


def test_positions_begin_behind_that_of_the_padding(load: Load) -> None:
    assert load("roberta")._engine.texts.window == made.WINDOW
    body = "    x = 1\n"
    words = load("roberta")._engine.texts
    count = next(n for n in range(1, 400) if len(words.plain("def MASK():\n" + body * n)) > made.WINDOW - 4)
    predictions = load("roberta").predict(
        asked("function-name", *("def MASK():\n" + body * number for number in range(count - 2, count + 2)))
    )
    assert isinstance(predictions[0], Predicted)
    assert predictions[-1] == Failed(reason="input too long")


@pytest.mark.slow
def test_the_head_may_be_overruled_where_its_weights_are_there(load: Load, tmp_path: Path) -> None:
    assert load("roberta", head="embedding").task == "function-name"
    with pytest.raises(ModelError, match=r"for sequence classification: it has no weights for classifier\."):
        load("roberta", head="classification")


def test_scores_that_are_no_numbers(load: Load, tmp_path: Path) -> None:
    words = made.tokenizer(made.BERT, made.BERT_ENDS)
    network = made.bert("BertForSequenceClassification", words, num_labels=2)
    with torch.no_grad():
        network.bert.embeddings.word_embeddings.weight.fill_(torch.nan)
    with pytest.raises(ModelError, match="gives no numbers in float32; its weights are not finite"):
        load(made.save(tmp_path / "m", network, words), labels="clean,buggy")


def test_loading_and_asking_leave_streams_and_generators_alone(
    load: Load, capfd: pytest.CaptureFixture[str]
) -> None:
    before = torch.random.get_rng_state()
    for name, task in (("gpt2", "function-name"), ("modernbert", "function-name"), ("t5", "function-name")):
        load(name, **({"max_new_tokens": "2"} if name != "modernbert" else {})).predict(asked(task, SHORT))
    assert torch.equal(before, torch.random.get_rng_state())
    printed = capfd.readouterr()
    assert printed.out == ""
    lines = [line for line in printed.err.splitlines() if "answer that cannot be read" not in line]
    assert lines == []


def test_an_audit_from_the_command_line(
    folders: dict[str, Path],
    sources: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = f"hf/{folders['encoder']}"
    words = ["--corpus", str(sources), "--workers", "1", "--device", "cpu", "--transform", "rename"]
    assert main(["run", "--model", spec, *words, "--format", "json"]) == 0
    printed = capsys.readouterr()
    (model,) = json.loads(printed.out)["models"]
    assert (model["model"], model["pairs"]["total"] > 0) == (spec, True)
    rows = {row["transform"]: row for row in model["by_transform"]}
    assert rows["identity"]["pairs"]["count"] == 0
    assert all(line.startswith("codeaudit: ") for line in printed.err.splitlines())


def test_the_settings_of_a_provider_reach_the_model(folders: dict[str, Path]) -> None:
    model = catalogue.load(f"canonical/hf/{folders['bert']}", Settings(device="cpu"), {})
    assert model.name == f"canonical/hf/{folders['bert']}"
    assert model.task == "error-detection"
    assert all(isinstance(said, Predicted) for said in model.predict(asked("error-detection", *SOURCES[:2])))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "task"), [("gpt2", "function-name"), ("t5", "function-name"), ("bert", "error-detection")]
)
def test_a_spread_network_answers_as_one_on_a_device(
    kind: str, task: str, load: Load, folders: dict[str, Path]
) -> None:
    pytest.importorskip("accelerate")
    alone = load(kind)
    spread = catalogue.load(f"hf/{folders[kind]}", Settings(), {"device_map": "auto"})
    assert spread.fingerprint == alone.fingerprint
    assert spread.predict(asked(task)) == alone.predict(asked(task))


def test_a_device_map_needs_its_package_and_no_device(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"hf/{folders['gpt2']}"
    with pytest.raises(UsageError, match="--device cpu and -M device_map=auto"):
        catalogue.load(name, Settings(device="cpu"), {"device_map": "auto"})
    with pytest.raises(UsageError, match="device_map=all must be one of auto"):
        catalogue.load(name, Settings(), {"device_map": "all"})
    monkeypatch.setattr("codeaudit.audit.models.hf.load.find_spec", lambda package: None)
    with pytest.raises(ModelError, match=r'pip install "codeaudit-ml\[gpus\]"'):
        catalogue.load(name, Settings(), {"device_map": "auto"})

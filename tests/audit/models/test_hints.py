"""What people type for a model leads to a SPEC that works."""

import json
from pathlib import Path

import pytest

from codeaudit.audit.models.catalogue import PROVIDERS, check, load
from codeaudit.audit.models.hints import NAMED_FOR_URLS, SHORT, SHORT_NAMES
from codeaudit.audit.models.inspect import model
from codeaudit.audit.models.provider import Settings
from codeaudit.transforms.errors import CodeauditError, ModelError, UsageError

WORDS = {
    "gemini/gemini-2.5-pro": "'google/gemini-2.5-pro'",
    "xai/grok-4": "'grok/grok-4'",
    "lmstudio/qwen": "openai/qwen --base-url http://localhost:1234/v1",
    "litellm/gpt-4o": "openai/gpt-4o --base-url http://localhost:4000/v1",
    "azure/my-deployment": "'azureai/my-deployment'",
    "vertex/gemini": "openai/gemini --base-url URL of a proxy",
    "antropic/claude-sonnet-4": "'anthropic/claude-sonnet-4'",
    "Anthropic/claude-sonnet-4": "'anthropic/claude-sonnet-4'",
    "opnai/gpt-5": "'openai/gpt-5'",
    "OpenAI/gpt-5": "'openai/gpt-5'",
    "gpt-4o": "'openai/gpt-4o'",
    "o3-mini": "'openai/o3-mini'",
    "claude-sonnet-4": "'anthropic/claude-sonnet-4'",
    "gemini-2.5-pro": "'google/gemini-2.5-pro'",
    "http://localhost:8000/v1": "openai/MODEL --base-url http://localhost:8000/v1",
    "microsoft/codebert-base": "'hf/microsoft/codebert-base'",
    "Salesforce/codet5p-220m": "'hf/Salesforce/codet5p-220m'",
    "google/flan-t5-small": "'hf/google/flan-t5-small'",
    "bigcode/starcoder2-3b": "'hf/bigcode/starcoder2-3b'",
    "huggingface/microsoft/codebert-base": "'hf/microsoft/codebert-base'",
    "mymodel:predict": "'py/mymodel:predict'",
    "mymodel.py:predict": "'py/mymodel:predict'",
    "./mymodel.py:predict": "'py/mymodel:predict'",
    "pkg/mymodel.py:predict": "'py/pkg.mymodel:predict'",
    "pkg.mymodel:Model.predict": "'py/pkg.mymodel:Model.predict'",
    "canonical/gpt-4o": "'openai/gpt-4o'",
    "spe-checkpont": "'spe-checkpoint'",
    "fake/hsh": "'fake/hash'",
}
"""What is typed, and what the hint names."""
NOTHING = ("quite something else", "hg/gpt", "nonsense", "x/y")
"""Words near nothing: a list of what is known helps more than a guess."""


@pytest.mark.parametrize(("spec", "hint"), WORDS.items())
def test_a_word_of_another_tool_leads_to_ours(
    spec: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="did you mean") as caught:
        check(spec)
    assert hint in str(caught.value)
    # What is proposed is a SPEC that the catalogue knows.
    proposed = str(caught.value).partition("did you mean '")[2].split("'")[0].split(" ")[0]
    check(proposed)


@pytest.mark.parametrize("spec", NOTHING)
def test_what_is_near_nothing_gets_the_list(spec: str) -> None:
    with pytest.raises(UsageError, match=r"; known: .*openai/MODEL"):
        check(spec)


@pytest.mark.parametrize("spec", ["anthropic/claude-sonnet-4", "mistral/codestral-latest", "inspect/groq/x"])
def test_a_vendor_without_the_extra_says_what_to_install(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "find_spec", lambda name: None)
    with pytest.raises(
        ModelError, match=r'pip install "codeaudit-ml\[inspect\]"; without it: openai/'
    ) as caught:
        load(spec, Settings(), {})
    assert "\n" not in str(caught.value)


def test_every_short_name_is_a_provider() -> None:
    assert set(SHORT_NAMES.values()) <= set(PROVIDERS)
    assert model.VENDORS.keys() - {"openai"} == set(SHORT)


def test_every_word_for_a_vendor_has_an_address() -> None:
    assert all(
        url == "URL" or url.startswith(("https://", "http://localhost:")) for url in NAMED_FOR_URLS.values()
    )


def made(folder: Path, **files: object) -> Path:
    folder.mkdir(parents=True)
    for name, content in files.items():
        ending = ".safetensors" if content is None else ".json"
        (folder / f"{name}{ending}").write_text(json.dumps(content), encoding="utf-8")
    return folder


BERT = {"model_type": "bert", "architectures": ["BertForMaskedLM"]}
LORA = {"peft_type": "LORA", "task_type": "SEQ_CLS", "base_model_name_or_path": "microsoft/codebert-base"}


def test_folders_say_what_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made(Path("bert"), config=BERT, model=None)
    made(Path("lora"), adapter_config=LORA, adapter_model=None)
    made(Path("out/checkpoint-500"), config=BERT, model=None, trainer_state={})
    made(Path("out/checkpoint-90"), config=BERT, model=None)
    made(Path("ours"), config={"network": "spe", "task": "function-name"}, model=None)
    made(Path("nothing"))
    hints = {
        "bert": "it holds a Hugging Face model: hf/bert",
        "./bert": "it holds a Hugging Face model: hf/bert",
        "lora": "it holds an adapter (LoRA): hf/lora",
        "out": "it holds 2 checkpoints of a Trainer; the last one: hf/out/checkpoint-500",
        "out/checkpoint-500": "hf/out/checkpoint-500",
        "checkpoint-500": "there are hf/out/checkpoint-90, hf/out/checkpoint-500",
        "out/checkpoint-700": "there are hf/out/checkpoint-90, hf/out/checkpoint-500",
    }
    for spec, hint in hints.items():
        with pytest.raises(ModelError) as caught:
            check(spec)
        assert hint in str(caught.value), spec
    check("ours")
    check("nothing")  # that it has no config is told when it is loaded


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("mymodel.py", "py/mymodel:CALLABLE"),
        ("answers.jsonl", "file/answers.jsonl"),
        ("answers.csv.gz", "file/answers.csv.gz"),
        ("model.gguf", "hf/model.gguf"),
        ("pytorch_model.bin", "name the folder"),
        ("notes.txt", "a checkpoint is a folder"),
    ],
)
def test_files_say_what_they_are(
    name: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text("", encoding="utf-8")
    with pytest.raises(CodeauditError) as caught:
        check(name)
    assert hint in str(caught.value)

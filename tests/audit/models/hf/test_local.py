"""Weights as people have them: LoRA adapters, GGUF files, quantised weights, chat models and base models.

The tests of adapters, files and quantised weights need packages that are no part of an installation; without
them it is tested that one line names them.
"""

import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from codeaudit.audit.models.hf import adapter
from codeaudit.audit.models.hf import load as loading
from codeaudit.audit.models.hf.heads import quiet
from codeaudit.audit.models.hf.load import NEEDS
from codeaudit.audit.models.hf.model import HubModel
from codeaudit.transforms.errors import ModelError, UsageError
from tests.audit.models.hf import networks as made
from tests.audit.models.hf.conftest import Load, asked

ADAPTER: dict[str, Any] = {
    "peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj"],
    "init_lora_weights": True, "megatron_config": None, "megatron_core": "megatron.core",
}  # fmt: skip
"""An `adapter_config.json`."""
needs_peft = pytest.mark.skipif(find_spec("peft") is None, reason="pip install peft")
needs_gguf = pytest.mark.skipif(
    find_spec("gguf") is None or find_spec("accelerate") is None, reason="pip install gguf accelerate"
)
needs_bits = pytest.mark.skipif(
    find_spec("bitsandbytes") is None or find_spec("accelerate") is None,
    reason="pip install bitsandbytes accelerate",
)


def scores(model: HubModel) -> torch.Tensor:
    """What decides the answers to two texts."""
    texts = ("def MASK(left, right):", "return total")
    return model._head.scores([model._engine.texts.plain(text) for text in texts])


def tuned(folder: Path, network: Any, *, words: bool = False, **settings: Any) -> Any:
    """Write an adapter with random weights for a network, as peft does; gives the network with it, merged.

    `words`: with the vectors of all words.
    """
    import peft

    with torch.random.fork_rng(), quiet():
        torch.manual_seed(3)
        wrapped = peft.get_peft_model(network, peft.LoraConfig(r=4, init_lora_weights=False, **settings))
        wrapped.save_pretrained(folder, save_embedding_layers=words)
        return wrapped.merge_and_unload()


def as_base(folder: Path, base: Path | str) -> None:
    """Write the name of the base model into an adapter."""
    path = folder / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "base_model_name_or_path": str(base)}))


@needs_peft
@pytest.mark.parametrize("dora", [False, True])
def test_an_adapter_answers_as_the_merged_model_does(
    dora: bool, folders: dict[str, Path], load: Load, tmp_path: Path
) -> None:
    lora, whole = tmp_path / "lora", tmp_path / "whole"
    words = made.tokenizer(made.GPT)
    merged = tuned(
        lora,
        made.decoder("Llama", words),
        task_type="CAUSAL_LM",
        target_modules=["q_proj", "down_proj"],
        use_dora=dora,
    )
    made.save(whole, merged, words)
    as_base(lora, folders["llama"])
    model = load(lora)
    assert torch.allclose(scores(model), scores(load(whole)), atol=1e-4)
    assert not torch.allclose(scores(model), scores(load("llama")), atol=1e-2)
    as_base(lora, "/where/it/was/trained")
    with pytest.raises(ModelError, match=r"its base model '/where/it/was/trained' cannot be had .*-M base="):
        load(lora)
    again = load(lora, base=str(folders["llama"]))
    assert torch.equal(scores(again), scores(model))
    assert len({model.fingerprint, load("llama").fingerprint, load(whole).fingerprint}) == 3
    with pytest.raises(ModelError, match=r"its adapter does not fit its base model|has no place"):
        load(lora, base=str(folders["gpt2"]))
    with pytest.raises(UsageError, match=r"-M base has no effect on .* which is no adapter"):
        load("llama", base="x")


@needs_peft
def test_an_adapter_brings_its_own_words_and_its_own_outputs(
    folders: dict[str, Path], load: Load, tmp_path: Path
) -> None:
    words = made.tokenizer(made.GPT)
    network = made.decoder("Llama", words)
    words.add_tokens(["<|new|>", "<|other|>"])
    network.resize_token_embeddings(len(words), mean_resizing=False)
    merged = tuned(tmp_path / "lora", network, words=True, task_type="CAUSAL_LM", target_modules=["q_proj"])
    made.save(tmp_path / "whole", merged, words)
    words.save_pretrained(tmp_path / "lora")
    as_base(tmp_path / "lora", folders["llama"])
    model = load(tmp_path / "lora")
    assert "<|new|>" in model._engine.texts.tokenizer.get_vocab()
    assert torch.allclose(scores(model), scores(load(tmp_path / "whole")), atol=1e-4)

    network = made.decoder("Llama", made.tokenizer(made.GPT), "ForSequenceClassification")
    network.config.num_labels = 3
    network.score = torch.nn.Linear(32, 3, bias=False)
    tuned(tmp_path / "classes", network, task_type="SEQ_CLS", target_modules=["q_proj"])
    as_base(tmp_path / "classes", folders["llama"])
    assert load(tmp_path / "classes", labels="a,b,c").labels == ("a", "b", "c")


def spoiled(folder: Path, *, weights: str = "adapter_model.safetensors", **settings: object) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps({**ADAPTER, **settings}))
    (folder / weights).write_bytes(b"x")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            {"weights": "adapter_model.bin"},
            "only safetensors are read, and its weights are in adapter_model.bin",
        ),
        ({"peft_type": "PREFIX_TUNING"}, "an adapter of type 'PREFIX_TUNING'; only LoRA is read"),
        ({"init_lora_weights": "pissa_niter_4"}, "began with 'pissa_niter_4', which changes the base model"),
        ({"weights": "model.safetensors"}, "it holds whole weights and an adapter"),
    ],
)
def test_an_adapter_that_is_not_read_is_one_line(
    settings: dict[str, Any], told: str, load: Load, tmp_path: Path
) -> None:
    spoiled(tmp_path / "m", **settings)
    with pytest.raises(ModelError, match=told):
        load(tmp_path / "m")


def test_a_checkpoint_runs_nothing_that_it_names(
    folders: dict[str, Path], load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evil.py").write_text("raise SystemExit('it ran')\n")
    monkeypatch.syspath_prepend(tmp_path)
    if find_spec("peft") is not None:
        spoiled(tmp_path / "m", megatron_config={"a": 1}, megatron_core="evil")
        with pytest.raises(ModelError, match="sets 'megatron_config', which is not read here"):
            load(tmp_path / "m")
    attention = shutil.copytree(folders["llama"], tmp_path / "attention")
    words = shutil.copytree(folders["llama"], tmp_path / "words")
    for path, more in (
        (attention / "config.json", {"attn_implementation": "someone/kernel"}),
        (words / "tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["evil.Words", None]}}),
    ):
        path.write_text(json.dumps({**json.loads(path.read_text()), **more}))
    with pytest.raises(ModelError, match=r"names code of the hub, attn_implementation='someone/kernel'"):
        load(attention)
    (words / "tokenizer.json").unlink()
    with pytest.raises(ModelError):
        load(words)
    assert "evil" not in sys.modules


def test_a_missing_package_is_one_line_that_names_it(
    folders: dict[str, Path], load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter, "find_spec", lambda name: None)
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    spoiled(tmp_path / "lora")
    with pytest.raises(ModelError, match=r'which needs the package peft: pip install "codeaudit-ml\[lora\]"'):
        load(tmp_path / "lora")
    (tmp_path / "m.gguf").touch()
    with pytest.raises(
        ModelError, match="need the packages accelerate and gguf: pip install accelerate gguf"
    ):
        load(tmp_path / "m.gguf")
    with pytest.raises(ModelError, match=r"no file 'n\.gguf' in"):
        load(tmp_path / "n.gguf")
    with pytest.raises(ModelError, match="format bitsandbytes need the packages accelerate and bitsandbytes"):
        load("llama", quantize="4bit")
    folder = shutil.copytree(folders["llama"], tmp_path / "q")
    plain = json.loads((folder / "config.json").read_text())
    for method in NEEDS:
        (folder / "config.json").write_text(
            json.dumps({**plain, "quantization_config": {"quant_method": method, "bits": 4}})
        )
        with pytest.raises(ModelError, match=f"weights of the format {method} need the package"):
            load(folder)
    with pytest.raises(UsageError, match="quantised already"):
        load(folder, quantize="8bit")


@needs_gguf
def test_a_gguf_file_answers_as_the_folder_does(load: Load, tmp_path: Path) -> None:
    words = made.tokenizer(made.GPT)
    path = made.save_gguf(tmp_path / "m.gguf", made.decoder("Llama", words), words)
    model, same = load(path), load("llama")
    assert torch.allclose(scores(model), scores(same), atol=1e-5)
    assert model.predict(asked("function-name")) == same.predict(asked("function-name"))
    before = model.fingerprint
    path.write_bytes(path.read_bytes() + b"\0")
    assert load(path).fingerprint != before


@needs_bits
def test_weights_are_quantised_while_loading_and_read_again(load: Load, tmp_path: Path) -> None:
    exact, packed = load("llama"), load("llama", quantize="4bit")
    moved = (scores(exact) - scores(packed)).abs().max()
    assert 1e-3 < float(moved) < 10
    assert packed.parameters == exact.parameters
    assert packed.fingerprint != exact.fingerprint
    made.save(tmp_path / "packed", packed.module, made.tokenizer(made.GPT))
    assert torch.allclose(scores(load(tmp_path / "packed")), scores(packed), atol=1e-3)


# ── chats ────────────────────────────────────────────────────────────────────────────────────────────────

THINKING = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|turn|>{% endfor %}{% if add_generation_prompt %}"
    "<|bot|>{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}"
    "{% if deep is defined %}{{ deep }}{% endif %}{% endif %}"
)


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A chat model, which ends its turns, and the base model that it was made of, with the same tokenizer."""
    root = tmp_path_factory.mktemp("chats")
    words = made.tokenizer({**made.GPT, "additional_special_tokens": ["<|turn|>", "<|user|>", "<|bot|>"]})
    words.chat_template = THINKING
    base, chat = (made.decoder("Llama", words) for _ in range(2))
    for network in (base, chat):
        network.config.max_position_embeddings = 4096
    chat.generation_config.eos_token_id = [words.convert_tokens_to_ids("<|turn|>"), words.eos_token_id]
    return {"base": made.save(root / "base", base, words), "chat": made.save(root / "chat", chat, words)}


def prompt(model: HubModel) -> str:
    (read, *_) = [model._head.ask(query) for query in asked("function-name")]
    return str(model._engine.texts.tokenizer.decode(read.rows[0]))


def test_a_base_model_is_asked_without_the_chat_template_of_its_tokenizer(
    chats: dict[str, Path], load: Load, caplog: pytest.LogCaptureFixture
) -> None:
    chat = load(chats["chat"])
    assert prompt(chat).startswith("<|user|>")
    assert caplog.messages == []
    assert "<|user|>" not in prompt(load(chats["base"]))
    (line,) = caplog.messages
    assert "asked without its chat template, because it is a base model: the template ends turns with" in line
    assert "'<|turn|>', where this network does not stop; -M chat=true asks in it" in line
    forced = load(chats["base"], chat="true")
    assert prompt(forced) == prompt(chat)
    ends, others = (set(model._engine.network.generation_config.eos_token_id) for model in (forced, chat))
    assert ends == others
    assert len(caplog.messages) == 1


def test_a_chat_model_without_a_template_is_told(
    folders: dict[str, Path], load: Load, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    load(shutil.copytree(folders["llama"], tmp_path / "Tiny-0.5B-Instruct"))
    assert "asked with plain texts, because its tokenizer has no chat template" in caplog.text


def test_a_chat_template_is_told_what_the_user_says(chats: dict[str, Path], load: Load) -> None:
    plain = load(chats["chat"])
    assert prompt(plain).endswith("<|bot|><think></think>")
    thinking = load(chats["chat"], **{"chat_template_kwargs.enable_thinking": "true"})
    assert prompt(thinking).endswith("<|bot|>")
    assert thinking._head.ask(asked("function-name")[0]).grows == 2048, "half of the window, for the thoughts"
    deep = load(chats["chat"], **{"chat_template_kwargs.deep": "3"})
    assert prompt(deep).endswith("<think></think>3")
    assert len({plain.fingerprint, thinking.fingerprint, deep.fingerprint}) == 3
    with pytest.raises(
        UsageError, match=r"thinking has no effect on .*its chat template reads deep, enable_th"
    ):
        load(chats["chat"], **{"chat_template_kwargs.thinking": "true"})
    with pytest.raises(UsageError, match=r"\.deep has no effect on .*, asked without a chat"):
        load(chats["base"], **{"chat_template_kwargs.deep": "1"})
    with pytest.raises(UsageError, match="has a name behind it"):
        load(chats["chat"], chat_template_kwargs="{}")


@pytest.mark.slow
def test_a_window_by_another_name_and_a_network_that_also_reads_pictures(load: Load, tmp_path: Path) -> None:
    import transformers

    words = made.tokenizer(made.GPT)
    size = {"vocab_size": len(words), "eos_token_id": words.eos_token_id}
    mpt = transformers.MptConfig(d_model=32, n_heads=2, n_layers=2, max_seq_len=64, **size)
    model = load(made.save(tmp_path / "mpt", made.made("MptForCausalLM", mpt), words))
    assert model._engine.texts.window == 64
    text = {**made.SIZES, **size, "head_dim": 16, "num_key_value_heads": 1, "max_position_embeddings": 300}
    eyes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 16}
    gemma = transformers.Gemma3Config(
        text_config={**text, "pad_token_id": None, "bos_token_id": None},
        vision_config={**eyes, "image_size": 28, "patch_size": 14},
        mm_tokens_per_image=4,
    )
    network = made.made("Gemma3ForConditionalGeneration", gemma)
    model = load(made.save(tmp_path / "gemma", network, words), max_new_tokens="4")
    assert (model._engine.texts.window, model._head.kind) == (300, "Generation")

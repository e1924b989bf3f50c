"""Small networks of real architectures, with random weights and a tokenizer of their own, as folders."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from codeaudit.audit.models.hf.heads import quiet

TEXTS = [
    "def MASK(items, wanted):\n    for place, item in enumerate(items):\n        if item == wanted:\n"
    "            return place\n    raise KeyError(wanted)\n",
    "def MASK(left, right):\n    total = left + right\n    return total\n",
    *["Answer: buggy\nAnswer: clean\n true false [get_value] [gv] 2.5"] * 20,
]
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
}
WINDOW = 320
CHAT = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|bot|>{% endif %}"
)
BERT = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
GPT = {"eos_token": "<|end|>", "additional_special_tokens": ["<|user|>", "<|bot|>"]}
T5 = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}


def tokenizer(special: dict[str, Any], ends: str | None = None, **settings: Any) -> Any:
    """Byte-level pairs; `ends` is the template of a text, as `[CLS] $A [SEP]`."""
    words = [word for value in special.values() for word in ([value] if isinstance(value, str) else value)]
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=360,
        special_tokens=words,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(TEXTS, trainer)
    if ends is not None:
        used = [(word, made.token_to_id(word)) for word in ends.split() if word in words]
        made.post_processor = processors.TemplateProcessing(single=ends, special_tokens=used)
    with quiet():
        return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **special, **settings)


BERT_ENDS = "[CLS] $A [SEP]"


def save(folder: Path, network: Any, words: Any) -> Path:
    """Write a network with its tokenizer, as its authors would."""
    with quiet():
        network.save_pretrained(folder)
        words.save_pretrained(folder)
    return folder


def made(kind: str, config: Any, **changes: Any) -> Any:
    """A network with random weights, clearly apart from one another."""
    for name, value in changes.items():
        setattr(config, name, value)
    with torch.random.fork_rng(), quiet():
        torch.manual_seed(1)
        network = getattr(transformers, kind)(config)
        for weight in network.parameters():
            if weight.dim() > 1:
                torch.nn.init.normal_(weight, std=0.2)
    return network.eval()


def bert(kind: str, words: Any, **changes: Any) -> Any:
    config = transformers.BertConfig(vocab_size=len(words), max_position_embeddings=WINDOW, **SIZES)
    return made(kind, config, **changes)


def roberta(kind: str, words: Any) -> Any:
    """Its positions begin behind that of the padding."""
    pad = words.pad_token_id
    config = transformers.RobertaConfig(
        vocab_size=len(words), max_position_embeddings=WINDOW + pad + 1, pad_token_id=pad, **SIZES
    )
    return made(kind, config)


def modernbert(kind: str, words: Any) -> Any:
    ids = {"pad_token_id": words.pad_token_id, "bos_token_id": words.cls_token_id}
    ids |= {"eos_token_id": words.sep_token_id, "cls_token_id": words.cls_token_id}
    config = transformers.ModernBertConfig(
        vocab_size=len(words), max_position_embeddings=WINDOW, sep_token_id=words.sep_token_id, **ids, **SIZES
    )
    return made(kind, config)


def gpt2(kind: str, words: Any, window: int = 512) -> Any:
    config = transformers.GPT2Config(
        vocab_size=len(words), n_positions=window, n_embd=32, n_layer=2, n_head=2,
        bos_token_id=words.eos_token_id, eos_token_id=words.eos_token_id,
    )  # fmt: skip
    return made(kind, config)


def decoder(name: str, words: Any, kind: str = "ForCausalLM") -> Any:
    """`Llama` or `Qwen2`."""
    config = getattr(transformers, f"{name}Config")(
        vocab_size=len(words), max_position_embeddings=512, num_key_value_heads=1,
        bos_token_id=None, eos_token_id=words.eos_token_id, **SIZES,
    )  # fmt: skip
    return made(f"{name}{kind}", config)


def t5(words: Any) -> Any:
    config = transformers.T5Config(  # type: ignore[call-arg]
        vocab_size=len(words), d_model=32, d_kv=16, d_ff=48, num_layers=2, num_heads=2,
        pad_token_id=words.pad_token_id, eos_token_id=words.eos_token_id, decoder_start_token_id=words.pad_token_id,
    )  # fmt: skip
    return made("T5ForConditionalGeneration", config)


_GGUF = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
}  # fmt: skip


def save_gguf(path: Path, network: Any, words: Any) -> Path:
    """Write a Llama as one file, as llama.cpp has it: with other names, and rows of queries and keys in pairs."""
    import gguf

    config = network.config
    file = gguf.GGUFWriter(path, "llama")
    file.add_context_length(config.max_position_embeddings)
    file.add_embedding_length(config.hidden_size)
    file.add_block_count(config.num_hidden_layers)
    file.add_feed_forward_length(config.intermediate_size)
    file.add_head_count(config.num_attention_heads)
    file.add_head_count_kv(config.num_key_value_heads)
    file.add_layer_norm_rms_eps(config.rms_norm_eps)
    file.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    file.add_vocab_size(config.vocab_size)
    file.add_tokenizer_model("gpt2")
    file.add_tokenizer_pre("default")
    file.add_token_list(words.convert_ids_to_tokens(range(len(words))))
    file.add_token_types([3 if number in words.all_special_ids else 1 for number in range(len(words))])
    merges = json.loads(words.backend_tokenizer.to_str())["model"]["merges"]
    file.add_token_merges([" ".join(pair) for pair in merges])
    file.add_eos_token_id(words.eos_token_id)
    top = {
        "lm_head.weight": "output",
        "model.embed_tokens.weight": "token_embd",
        "model.norm.weight": "output_norm",
    }
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    for name, weight in network.state_dict().items():
        if name in top:
            file.add_tensor(f"{top[name]}.weight", weight.numpy())
            continue
        _, _, layer, part = name.removesuffix(".weight").split(".", 3)
        if _GGUF[part] in heads:
            weight = weight.unflatten(0, (heads[_GGUF[part]], 2, -1)).transpose(1, 2).reshape(weight.shape)
        file.add_tensor(f"blk.{layer}.{_GGUF[part]}.weight", weight.contiguous().numpy())
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return path


def say(network: Any, words: Any, after: str, text: str) -> None:
    """Teach a Llama to write one text, and then to end, once the token `after` was read last.

    Its layers add nothing, so that the next token depends on the last one alone.
    """
    with torch.no_grad():
        for layer in network.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        chain = [*words.encode(after), *words.encode(text), words.eos_token_id]
        assert len(set(chain)) == len(chain), "a token that is there twice has two followers"
        vectors = network.model.embed_tokens.weight
        for one, other in pairwise(chain):
            network.lm_head.weight[other] = 10 * vectors[one]

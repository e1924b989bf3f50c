"""Eight families of transformers, tiny and with random weights, each with a call; every weight is random."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn

from codeaudit.transforms.columns.tracing import AxisGroups, Call, infer

SIZES: Mapping[str, Any] = {
    "vocab_size": 99,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
TOKENS = 7


class Family(NamedTuple):
    """A module, a call of it, and its groups."""

    module: nn.Module
    call: Call
    groups: AxisGroups


def _encoder(name: str, head: str) -> Callable[[Any], nn.Module]:
    def make(library: Any) -> nn.Module:
        sizes = dict(SIZES, max_position_embeddings=32)
        if name == "ModernBert":
            sizes |= {"num_hidden_layers": 3, "cls_token_id": 1, "sep_token_id": 2, "local_attention": 4}
        config = getattr(library, f"{name}Config")(**sizes, attn_implementation="eager")
        module: nn.Module = getattr(library, f"{name}For{head}")(config)
        return module

    return make


def _grouped(name: str) -> Callable[[Any], nn.Module]:
    def make(library: Any) -> nn.Module:
        config = getattr(library, f"{name}Config")(
            **SIZES, num_key_value_heads=2, attn_implementation="eager"
        )
        module: nn.Module = getattr(library, f"{name}ForCausalLM")(config)
        return module

    return make


def _gpt2(library: Any) -> nn.Module:
    config = library.GPT2Config(
        vocab_size=99,
        n_embd=32,
        n_layer=2,
        n_head=4,
        n_positions=32,
        n_inner=48,
        bos_token_id=1,
        eos_token_id=2,
        attn_implementation="eager",
    )
    module: nn.Module = library.GPT2LMHeadModel(config)
    return module


def _t5(library: Any) -> nn.Module:
    config = library.T5Config(
        vocab_size=99,
        d_model=32,
        d_kv=8,
        num_layers=2,
        num_heads=4,
        d_ff=48,
        feed_forward_proj="gated-gelu",
        decoder_start_token_id=0,
        attn_implementation="eager",
    )
    module: nn.Module = library.T5ForConditionalGeneration(config)
    return module


def _vit(library: Any) -> nn.Module:
    sizes = {name: SIZES[name] for name in ("hidden_size", "num_attention_heads", "intermediate_size")}
    config = library.ViTConfig(
        **sizes, num_hidden_layers=2, image_size=16, patch_size=8, attn_implementation="eager"
    )
    module: nn.Module = library.ViTForImageClassification(config)
    return module


FAMILIES: Mapping[str, Callable[[Any], nn.Module]] = {
    "bert": _encoder("Bert", "SequenceClassification"),
    "roberta": _encoder("Roberta", "MaskedLM"),
    "gpt2": _gpt2,
    "llama": _grouped("Llama"),
    "qwen2": _grouped("Qwen2"),
    "t5": _t5,
    "modernbert": _encoder("ModernBert", "MaskedLM"),
    "vit": _vit,
}


def make(name: str) -> nn.Module:
    """A new module with every weight random, also those that a library starts at zero or one."""
    library = pytest.importorskip("transformers")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module = FAMILIES[name](library)
        for weight in module.parameters():
            nn.init.normal_(weight, std=0.3)
    return module.eval()


def call_of(module: Any) -> Call:
    """A call with random tokens, or with random pictures."""
    generator = torch.Generator().manual_seed(1)
    if module.main_input_name == "pixel_values":
        return Call((), {"pixel_values": torch.randn(2, 3, 16, 16, generator=generator)})
    given: dict[str, Any] = {"input_ids": torch.randint(3, 99, (2, TOKENS), generator=generator)}
    if module.config.is_encoder_decoder:
        given["decoder_input_ids"] = torch.randint(3, 99, (2, 5), generator=generator)
    return Call((), {**given, "use_cache": False})


@cache
def family(name: str) -> Family:
    """One of them, traced once for all tests; they leave it as it is."""
    module = make(name)
    call = call_of(module)
    return Family(module, call, infer(module, call))

"""Permutation equivariance of eight families of transformers (theorems 4.1 to 4.5 of Xu et al., 2024).

    python benchmarks/columns_equivariance.py              errors by family, columns and rows
    python benchmarks/columns_equivariance.py --more       errors of columns for other families

The first table has tiny models with random weights: a larger model would only add rounding errors. Every
number is relative to the largest output, gradient or weight. Accuracies under permutation are
`codeaudit papers run columns/table-2` to `table-5`.
"""

import argparse
import time
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

import checkout  # noqa: F401 - `tests` is found
import numpy as np
import torch
import transformers
from torch import nn

from codeaudit.transforms.columns.layout import draw
from codeaudit.transforms.columns.permute import stacks
from codeaudit.transforms.columns.proof import (
    DoubleThroughout,
    change,
    deviation,
    exactly,
    noise_floor,
    training_deviation,
    try_rows,
)
from codeaudit.transforms.columns.tracing import Call, infer, tensors
from tests.support.families import FAMILIES, TOKENS, call_of, make

STEPS = 20


def main() -> None:
    """Print one of the two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--more", action="store_true", help="other families")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    began = time.process_time()
    if asked.more:
        more()
    else:
        errors()
    print(f"\n{time.process_time() - began:.0f} CPU seconds")


def errors() -> None:
    """Print the errors of columns, then of rows."""
    print(
        "| family | groups | log2 of all | forward f64 | backward f64 | training f64 | forward f32 |", end=""
    )
    print(" noise f32 | change without key |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in FAMILIES:
        module = make(name)
        call = call_of(module)
        groups = infer(module, call)
        order = draw(groups.layout.sizes, Random(1))
        exact, single = exactly(module, groups, order, call), deviation(module, groups, order, call)
        with DoubleThroughout():
            apart, _ = training_deviation(deepcopy(module).double(), groups, order, _training(call.double()))
        inside = {group: group for group in groups.inside}
        lock = groups.layout.only({groups.locking[0]: 0}, inside)
        changed = change(module, lock, [order[groups.locking[0]]], call)
        cells = (exact.forward, exact.backward, apart, single.forward, noise_floor(module, call))
        print(f"| {name} | {len(order)} | {groups.layout.bits:,.0f} |", end="")
        print("".join(f" {cell:.0e} |" for cell in cells), f"{changed:.2f} |", flush=True)
    print("\n| family | rows: forward | backward | with masks and rotary tables |")
    print("|---|---|---|---|")
    for name in FAMILIES:
        module = make(name).double()
        call = call_of(module).double()
        count = 5 if name == "vit" else TOKENS
        encoder = [stack.name for stack in stacks(module)].index("encoder.block") if name == "t5" else 0
        rows = np.array(Random(3).sample(range(count), count))
        with DoubleThroughout():
            error = try_rows(module, call, rows, stack=encoder)
        print(f"| {name} | {error.forward:.0e} | {error.backward:.0e} | {error.forward_with_company:.0e} |")


def more() -> None:
    """Print the errors of columns for families that have no test of their own."""
    print("| family | residual | groups | log2 of all | forward f64 | backward f64 | unknown |")
    print("|---|---|---|---|---|---|---|")
    for name, (head, sizes) in MORE.items():
        config = getattr(transformers, f"{name}Config")(**sizes)
        module = getattr(transformers, f"{name}{head}")(config).eval()
        generator = torch.Generator().manual_seed(0)
        with torch.no_grad():
            for weight in module.parameters():
                weight.copy_(0.3 * torch.randn(weight.shape, generator=generator))
        call = call_of(module)
        groups = infer(module, call)
        exact = exactly(module, groups, draw(groups.layout.sizes, Random(1)), call)
        locking = ", ".join(str(groups.layout.sizes[group]) for group in groups.locking) or "frozen"
        print(f"| {name} | {locking} | {len(groups.layout.sizes)} | {groups.layout.bits:,.0f} |", end="")
        print(f" {exact.forward:.0e} | {exact.backward:.0e} | {', '.join(groups.unknown)} |", flush=True)


def _training(call: Call) -> Callable[[nn.Module], None]:
    def train(module: nn.Module) -> None:
        optimiser = torch.optim.AdamW(module.parameters(), lr=1e-3, eps=1e-4)
        for _ in range(STEPS):
            optimiser.zero_grad()
            torch.stack([output.square().mean() for output in tensors(call(module))]).sum().backward()
            optimiser.step()

    return train


ENDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
PLAIN = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, **ENDS}
SIZES = {**PLAIN, "intermediate_size": 48}
PLACES = {**SIZES, "max_position_embeddings": 64}
GROUPED = {**SIZES, "num_key_value_heads": 2}
SHORT = {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, **ENDS}
BART = {
    **{f"{side}_{what}": size for side in ("encoder", "decoder") for what, size in
       (("layers", 2), ("attention_heads", 4), ("ffn_dim", 48))},
    "vocab_size": 99, "d_model": 32, "max_position_embeddings": 64, "decoder_start_token_id": 2, **ENDS,
    "forced_eos_token_id": None,
}  # fmt: skip
MORE: dict[str, tuple[str, dict[str, Any]]] = {
    "DistilBert": ("ForMaskedLM", {"vocab_size": 99, "dim": 32, "n_layers": 2, "n_heads": 4,
                                   "hidden_dim": 48}),
    "Albert": ("ForMaskedLM", {**PLACES, "embedding_size": 16}),
    "Electra": ("ForMaskedLM", {**PLACES, "embedding_size": 16}),
    "MPNet": ("ForMaskedLM", PLACES),
    "XLMRoberta": ("ForMaskedLM", PLACES),
    "RoFormer": ("ForMaskedLM", PLACES),
    "DebertaV2": ("ForMaskedLM", {**PLACES, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "OPT": ("ForCausalLM", {**PLAIN, "ffn_dim": 48, "word_embed_proj_dim": 32}),
    "GPTNeo": ("ForCausalLM", {"vocab_size": 99, "hidden_size": 32, "num_layers": 2, "num_heads": 4, **ENDS,
                               "attention_types": [[["global", "local"], 1]]}),
    "GPTNeoX": ("ForCausalLM", {**SIZES, "rotary_pct": 0.5}),
    "GPTJ": ("ForCausalLM", {**SHORT, "rotary_dim": 4}),
    "CodeGen": ("ForCausalLM", {**SHORT, "rotary_dim": 4}),
    "GPTBigCode": ("ForCausalLM", SHORT),
    "Starcoder2": ("ForCausalLM", GROUPED),
    "Mistral": ("ForCausalLM", GROUPED),
    "Qwen3": ("ForCausalLM", {**GROUPED, "head_dim": 8}),
    "Gemma2": ("ForCausalLM", {**GROUPED, "head_dim": 8}),
    "Phi": ("ForCausalLM", SIZES),
    "Phi3": ("ForCausalLM", SIZES),
    "Olmo2": ("ForCausalLM", SIZES),
    "Bloom": ("ForCausalLM", {"vocab_size": 99, "hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "Falcon": ("ForCausalLM", PLAIN),
    "Mamba": ("ForCausalLM", {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 4}),
    "Bart": ("ForConditionalGeneration", BART),
}  # fmt: skip
"""Heads and sizes of other families."""


if __name__ == "__main__":
    main()

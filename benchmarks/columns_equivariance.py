"""Permutation equivariance of eight families of transformers: Tables 2 to 5 of Xu et al. (2024), in shape.

    python benchmarks/columns_equivariance.py              errors by family, columns and rows
    python benchmarks/columns_equivariance.py --more       errors of columns for other families
    python benchmarks/columns_equivariance.py --accuracy   test accuracy with and without permutation

The first table has tiny models with random weights: a larger model would only add rounding errors. Every
number is relative to the largest output, gradient or weight. The second table trains a small BERT and a small
GPT-2. They learn from which of four packages of the standard library a line of 48 bytes comes.
"""

import argparse
import ast
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import checkout  # noqa: F401 - `tests` is found
import numpy as np
import torch
import transformers
from torch import nn

from codeaudit.transforms.columns.layout import draw
from codeaudit.transforms.columns.permute import permute_module, permuting_rows, stacks
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
PACKAGES = ("asyncio", "email", "importlib", "unittest")
WIDTH = 48
"""Bytes of a line."""
EACH = 2500
"""Lines of a package."""
LESSONS = 600
"""Training steps."""
RATE = 1e-3


def main() -> None:
    """Print one of the two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--accuracy", action="store_true", help="train and test small models")
    parser.add_argument("--more", action="store_true", help="other families")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    began = time.process_time()
    if asked.accuracy:
        accuracies()
    elif asked.more:
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
        inside = {one: one for one in groups.inside}
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
            found = try_rows(module, call, rows, stack=encoder)
        print(f"| {name} | {found.forward:.0e} | {found.backward:.0e} | {found.forward_with_company:.0e} |")


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
        found = exactly(module, groups, draw(groups.layout.sizes, Random(1)), call)
        locking = ", ".join(str(groups.layout.sizes[group]) for group in groups.locking) or "frozen"
        print(f"| {name} | {locking} | {len(groups.layout.sizes)} | {groups.layout.bits:,.0f} |", end="")
        print(f" {found.forward:.0e} | {found.backward:.0e} | {', '.join(groups.unknown)} |", flush=True)


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


class Data(NamedTuple):
    """Lines with the packages that they come from."""

    lines: torch.Tensor
    labels: torch.Tensor

    def batches(self, size: int, rng: Random) -> "list[Data]":
        """All lines in a random order, in batches."""
        order = torch.tensor(rng.sample(range(len(self.labels)), len(self.labels)))
        return [Data(self.lines[some], self.labels[some]) for some in order.split(size)]


def accuracies() -> None:
    """Print tables 2 to 5: train and test accuracy, plain and permuted."""
    train, test = _lines()
    print(f"{len(train.labels):,} lines to learn from, {len(test.labels):,} to test on\n")
    print("| | BERT | GPT-2 |\n|---|---|---|")
    rows: dict[str, list[str]] = {}
    for name in ("bert", "gpt2"):
        start = _classifier(name)
        call = Call((), {"input_ids": train.lines[:2]})
        groups = infer(start, call)
        order = draw(groups.layout.sizes, Random(7))
        tokens = np.array(Random(8).sample(range(WIDTH), WIDTH))
        plain, columns, shuffled = (deepcopy(start) for _ in range(3))
        permute_module(columns, groups.layout, order)
        _learn(plain, train)
        _learn(columns, train)
        turned = deepcopy(plain)
        permute_module(turned, groups.layout, order)
        locked = deepcopy(plain)
        inside = groups.layout.only({groups.locking[0]: 0}, {one: one for one in groups.inside})
        permute_module(locked, inside, [order[groups.locking[0]]])
        rowwise = permuting_rows(stacks(plain)[0], rows=tokens)
        cells = {
            "Test w/o P.": _accuracy(plain, test),
            "Test w/ row P.": _accuracy(plain, test, rowwise) if name == "bert" else None,
            "Test w/ col. P.": _accuracy(turned, test),
            "Test w/ col. P., no key": _accuracy(locked, test),
            "Train w/o P.": _accuracy(plain, test),
            "Train w/ col. P.": _accuracy(columns, test),
        }
        if name == "bert":
            with permuting_rows(stacks(shuffled)[0], rows=tokens):
                _learn(shuffled, train)
            cells["Train w/ row P."] = _accuracy(shuffled, test)
        else:
            cells["Train w/ row P."] = None
        for row, value in cells.items():
            rows.setdefault(row, []).append("–" if value is None else f"{value:.2%}")
    for row, cells_ in rows.items():
        print(f"| {row} | {' | '.join(cells_)} |")


def _lines() -> tuple[Data, Data]:
    """Equally many lines of each package; every fifth one is for the test."""
    root = Path(ast.__file__).parent
    train: list[Any] = []
    test: list[Any] = []
    for label, package in enumerate(PACKAGES):
        text = b"".join(path.read_bytes() for path in sorted((root / package).glob("*.py")))
        lines = [(list(text[at : at + WIDTH]), label) for at in range(0, len(text) - WIDTH, WIDTH)]
        lines = Random(label).sample(lines, EACH)
        train += lines[EACH // 5 :]
        test += lines[: EACH // 5]
    return _data(train), _data(test)


def _data(part: Sequence[Any]) -> Data:
    return Data(torch.tensor([line for line, _ in part]), torch.tensor([label for _, label in part]))


def _classifier(name: str) -> nn.Module:
    torch.manual_seed(0)
    module: nn.Module
    sizes: dict[str, Any]
    common: dict[str, Any] = {"num_labels": len(PACKAGES), "attn_implementation": "eager"}
    if name == "bert":
        sizes = {
            "hidden_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "intermediate_size": 128,
        }
        config = transformers.BertConfig(vocab_size=256, max_position_embeddings=WIDTH, **sizes, **common)
        module = transformers.BertForSequenceClassification(config)
    else:
        sizes = {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_inner": 128, "n_positions": WIDTH}
        ends: dict[str, Any] = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
        module = transformers.GPT2ForSequenceClassification(
            transformers.GPT2Config(vocab_size=256, **sizes, **ends, **common)
        )
    for layer in module.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0
    module.eval()
    return module


def _learn(module: nn.Module, data: Data) -> None:
    optimiser = torch.optim.AdamW(module.parameters(), lr=RATE)
    rng, step = Random(1), 0
    while step < LESSONS:
        for batch in data.batches(32, rng)[: LESSONS - step]:
            optimiser.param_groups[0]["lr"] = RATE * min(1.0, (step + 1) / 100)
            optimiser.zero_grad()
            nn.functional.cross_entropy(module(input_ids=batch.lines).logits, batch.labels).backward()
            optimiser.step()
            step += 1


@torch.no_grad()
def _accuracy(module: nn.Module, data: Data, inside: AbstractContextManager[None] | None = None) -> float:
    with inside or nullcontext():
        right = sum(
            int((module(input_ids=batch.lines).logits.argmax(1) == batch.labels).sum())
            for batch in data.batches(250, Random(0))
        )
    return right / len(data.labels)


if __name__ == "__main__":
    main()

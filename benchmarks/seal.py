"""How much does a seal by columns protect? Table 7, Figures 4 to 6 and 8 of Xu et al. (2024), and an attack.

    python benchmarks/seal.py [--curves FILE.svg]

A small GPT-2 over bytes is trained on the modules of the standard library: the public weights. Its owner
tunes it on seven packages and seals it with `codeaudit seal`'s own functions. Held-out files measure
the owner's model, the sealed one with and without the key, and random weights, before and after the same
number of further training steps, whose losses --curves draws. A step of the authorised model is compared with
a normal one in operations and time. Then the attack: what an attacker with the public weights recovers, under
each scheme. Last, the bundled checkpoint that names functions, with and without the key.
"""

import argparse
import ast
import math
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

import numpy as np
import torch
import transformers
from curves import Panel, draw, means
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from codeaudit.audit import checkpoints
from codeaudit.audit.corpora.selection import select
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.papers.permutation_equivariance.sealing import Plan, authorise, open_checkpoint, plan
from codeaudit.audit.papers.spe_attention.model import LineModel
from codeaudit.audit.records import Answer, Predicted, Query
from codeaudit.audit.registry import TASKS
from codeaudit.transforms.columns.keys import Key
from codeaudit.transforms.columns.layout import Layout
from codeaudit.transforms.columns.permute import permute_module
from codeaudit.transforms.columns.recovery import Weights, recover
from codeaudit.transforms.columns.sealing import Scheme, Seal, seal
from codeaudit.transforms.records import Sample

WINDOW: Final = 96
BATCH: Final = 16
PUBLIC_STEPS: Final = 1500
OWNER_STEPS: Final = 400
FURTHER_STEPS: Final = 200
RATE: Final = 1e-3
TESTED: Final = 160
"""Windows on which perplexity and accuracy are measured."""
OWN: Final = ("asyncio", "email", "importlib", "unittest", "xml", "json", "http")
TIMED: Final = 20
"""Steps that are timed."""
SHOWN: Final = 40
"""Points of a curve."""
NAMED: Final = 300
"""Functions that the bundled checkpoint names."""


class Texts(NamedTuple):
    """Bytes of the public texts, of the owner's texts, and of the test texts."""

    public: torch.Tensor
    own: torch.Tensor
    test: torch.Tensor


class Quality(NamedTuple):
    """Quality of a language model, per byte."""

    perplexity: float
    accuracy: float

    def __str__(self) -> str:
        shown = f"{self.perplexity:,.2f}" if self.perplexity < 1e4 else f"{self.perplexity:.0e}"
        return f"{'no number' if math.isnan(self.perplexity) else shown} | {self.accuracy:.1%}"


def main(words: Sequence[str] | None = None) -> None:
    """Train, seal, measure, attack."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--curves", type=Path, metavar="FILE.svg", help="draw the losses of the further steps"
    )
    asked = parser.parse_args(words)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    began = time.process_time()
    texts = _texts()
    with tempfile.TemporaryDirectory() as scratch:
        language_model(texts, Path(scratch), asked.curves)
        naming(Path(scratch))
    print(f"\n{time.process_time() - began:.0f} CPU seconds")


def language_model(texts: Texts, scratch: Path, curves: Path | None) -> None:
    """Perplexity and accuracy, before and after further training; then the attack."""
    public = _gpt2()
    _train(public, texts.public, PUBLIC_STEPS, seed=1)
    public.save_pretrained(scratch / "public")
    owner = deepcopy(public)
    _train(owner, texts.own, OWNER_STEPS, seed=2)
    owner.save_pretrained(scratch / "owner")
    opened, key = open_checkpoint(str(scratch / "owner")), Key.new()
    full = plan(opened)
    _sealed(scratch / "owner", scratch / "sealed", key, "columns", full)
    authorised, unauthorised = (open_checkpoint(str(scratch / "sealed")) for _ in range(2))
    authorise(authorised, key)
    models: Mapping[str, nn.Module] = {
        "normal": owner,
        "sealed, authorised": authorised.module,
        "sealed, unauthorised": unauthorised.module,
        "from scratch": _gpt2(seed=9),
    }
    weights = sum(parameter.numel() for parameter in owner.parameters())
    print(f"GPT-2 over bytes, {weights:,} weights; seal: {full.layout.bits:,.0f} bits, tensors stay: "
          f"{len(full.outside)} of {len(full.layout.tensors)}\n")  # fmt: skip
    print(f"| | perplexity | accuracy | perplexity after {FURTHER_STEPS} steps | accuracy |")
    print("|---|---|---|---|---|")
    losses = {}
    for name, module in models.items():
        before = _quality(module, texts.test)
        losses[name] = _train(module, texts.own, FURTHER_STEPS, seed=3)
        print(f"| {name} | {before} | {_quality(module, texts.test)} |", flush=True)
    if curves is not None:
        points = {name: means(each, SHOWN) for name, each in losses.items()}
        draw([Panel("further step", "training loss, nats a byte", points)], curves)
    print("\n| a training step | operations | CPU ms |\n|---|---|---|")
    for name, module in (("normal", opened.module), ("sealed, authorised", authorised.module)):
        print(f"| {name} | {_cost(module, texts.own)} |", flush=True)
    print("\n| seal | columns found | perplexity with what was found | accuracy |\n|---|---|---|---|")
    lock = plan(opened, inner=False)
    for label, scheme, planned in (
        ("columns, residual alone", "columns", lock),
        ("columns, everything", "columns", full),
        ("cipher", "cipher", lock),
    ):
        place = scratch / label.replace(" ", "-")
        _sealed(scratch / "owner", place, key, scheme, planned)  # type: ignore[arg-type]
        share, quality = _attacked(public, place, planned, key, texts.test)
        print(f"| {label} | {share:.1%} | {quality} |", flush=True)
    print(f"| chance | {1 / full.layout.sizes[0]:.1%} | |")


def _attacked(
    public: nn.Module, place: Path, planned: Plan, key: Key, test: torch.Tensor
) -> tuple[float, Quality]:
    """The share of residual columns that the attack finds, and the model that runs with the guess."""
    module: Any = transformers.GPT2LMHeadModel.from_pretrained(place)
    names = {name for name, _ in module.named_parameters()}
    guess = recover(_numbers(public), _numbers(module), planned.layout, planned.outside)
    made = Seal.read(place)
    size = planned.layout.sizes[0]
    true = key.under(made.salt).permutations((size,))[0] if made.scheme == "columns" else np.arange(size)
    lock = Layout(
        sizes=planned.layout.sizes,
        tensors={name: planned.layout.tensors[name] for name in names if name in planned.outside},
    )
    permute_module(module, lock, guess.permutations)
    return guess.share(0, true), _quality(module, test)


def _numbers(module: nn.Module) -> Weights:
    with np.errstate(invalid="ignore"):  # random bits may be NaN
        return {
            name: parameter.detach().numpy().astype(np.float64)
            for name, parameter in module.named_parameters()
        }


def _sealed(folder: Path, out: Path, key: Key, scheme: Scheme, planned: Plan) -> None:
    if scheme == "cipher":
        seal(folder, out, key, scheme=scheme)
    else:
        seal(folder, out, key, scheme=scheme, layout=planned.layout, outside=planned.outside)


def _texts() -> Texts:
    root = Path(ast.__file__).parent
    public = b"\n".join(path.read_bytes() for path in sorted(root.glob("*.py")))
    files = [path for package in OWN for path in sorted((root / package).rglob("*.py"))]
    Random(0).shuffle(files)
    held_out = files[: len(files) // 5]
    own, test = (
        b"\n".join(path.read_bytes() for path in some) for some in (files[len(held_out) :], held_out)
    )
    return Texts(
        *(torch.tensor(np.frombuffer(text, dtype=np.uint8).astype(np.int64)) for text in (public, own, test))
    )


def _gpt2(seed: int = 0) -> Any:
    torch.manual_seed(seed)
    config = transformers.GPT2Config(
        vocab_size=256,
        n_embd=96,
        n_layer=3,
        n_head=4,
        n_positions=WINDOW,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=0,
        eos_token_id=0,
    )
    return transformers.GPT2LMHeadModel(config).eval()


def _cost(module: nn.Module, text: torch.Tensor) -> str:
    """Floating-point operations of the products of a step, and its CPU milliseconds."""
    with FlopCounterMode(display=False) as counter:
        _train(module, text, 1, seed=4)
    began = time.process_time()
    _train(module, text, TIMED, seed=4)
    return f"{counter.get_total_flops():,} | {1000 * (time.process_time() - began) / TIMED:.1f}"


def _train(module: Any, text: torch.Tensor, steps: int, *, seed: int) -> list[float]:
    """The loss of each step."""
    losses = []
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(module.parameters(), lr=RATE)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1.0, (step + 1) / 50)
        starts = torch.randint(0, len(text) - WINDOW, (BATCH,), generator=generator)
        batch = torch.stack([text[start : start + WINDOW] for start in starts.tolist()])
        optimiser.zero_grad()
        loss = module(input_ids=batch, labels=batch, use_cache=False).loss
        losses.append(float(loss.detach()))
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimiser.step()
    return losses


@torch.no_grad()
def _quality(module: Any, text: torch.Tensor) -> Quality:
    starts = torch.linspace(0, len(text) - WINDOW - 1, TESTED).long().tolist()
    loss = right = count = 0.0
    for some in torch.tensor(starts).split(40):
        batch = torch.stack([text[start : start + WINDOW] for start in some.tolist()])
        logits = module(input_ids=batch, use_cache=False).logits[:, :-1]
        wanted = batch[:, 1:]
        loss += float(nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="sum"))
        right += float((logits.argmax(-1) == wanted).sum())
        count += wanted.numel()
    try:
        return Quality(math.exp(loss / count), right / count)
    except OverflowError:
        return Quality(math.inf, right / count)


def naming(scratch: Path) -> None:
    """The bundled checkpoint for names of functions: F1 with the key and without."""
    plain = checkpoints.FOLDER / "spe-checkpoint"
    opened, key = open_checkpoint("spe-checkpoint"), Key.new()
    _sealed(plain, scratch / "names", key, "columns", plan(opened))
    task = TASKS.get("function-name")
    samples = list(select(corpus("stdlib"), task.prepare, limit=NAMED, seeds=(0,))[0].samples)
    model = LineModel.load("spe-checkpoint")
    authorised = LineModel.load(str(scratch / "names"))
    with_key = open_checkpoint(str(scratch / "names"))
    authorise(with_key, key)
    authorised.module.load_state_dict(with_key.module.state_dict())
    print("\n| spe-checkpoint on names of functions | F1 |\n|---|---|")
    for name, candidate in (
        ("normal", model),
        ("sealed, authorised", authorised),
        ("sealed, unauthorised", LineModel.load(str(scratch / "names"))),
    ):
        print(f"| {name} | {_f1(candidate, samples):.1%} |", flush=True)


def _f1(model: LineModel, samples: list[Sample]) -> float:
    task = TASKS.get("function-name")
    queries = [Query(task=task.name, language=sample.language, source=sample.source) for sample in samples]
    answers: list[tuple[Answer, Sample]] = [
        (prediction.answer, sample)
        for prediction, sample in zip(model.predict(queries), samples, strict=True)
        if isinstance(prediction, Predicted)
    ]
    return task.corpus_score(answers) or 0.0


if __name__ == "__main__":
    main()

"""Classifiers that are tested, trained and tuned under permutation (Xu et al., 2024).

They are those of Tables 2 to 5 and 7 and of Figures 4 to 6 and 8.

Texts are 48 bytes of a line of the standard library, by the package that they come from. Pictures are those
of `split`, by the shape in them. Networks are BERT, GPT-2 and ViT of transformers with random weights.
"""

import ast
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
import torch
import transformers
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from codeaudit.audit.papers import checkpoint
from codeaudit.audit.papers.experiments import Bench, PaperTrial
from codeaudit.audit.papers.permutation_equivariance.split import KINDS, Pictures
from codeaudit.transforms.columns.layout import draw
from codeaudit.transforms.columns.permute import permute_module, permuting_rows, stacks
from codeaudit.transforms.columns.tracing import Call, infer

PACKAGES: Final = ("asyncio", "email", "importlib", "unittest")
BYTES: Final = 48
"""Of a text."""
EACH: Final = 2500
"""Texts of a package."""
PICTURES: Final = 6000
TIMED: Final = 5
"""Steps that are timed."""
SHOWN: Final = 40
"""Points of a curve."""


@dataclass(frozen=True, slots=True)
class LabelledInputs:
    """Inputs of a network, with labels."""

    name: str
    """Of the argument that takes them."""
    inputs: Tensor
    labels: Tensor

    def batches(self, size: int, rng: Random) -> "Iterator[LabelledInputs]":
        """All in a random order."""
        order = torch.tensor(rng.sample(range(len(self.labels)), len(self.labels)))
        for rows in order.split(size):  # type: ignore[no-untyped-call]
            yield LabelledInputs(self.name, self.inputs[rows], self.labels[rows])

    def some(self, chosen: slice) -> "LabelledInputs":
        """A part."""
        return LabelledInputs(self.name, self.inputs[chosen], self.labels[chosen])

    def arguments(self, device: str) -> dict[str, Tensor]:
        """The arguments of a call."""
        return {self.name: self.inputs.to(device)}


@dataclass(frozen=True, slots=True)
class DataParts:
    """What is learned at first, what is learned later, and what is tested."""

    public: LabelledInputs
    own: LabelledInputs
    test: LabelledInputs


def texts() -> DataParts:
    """Lines of four packages of the standard library, in equal numbers."""
    root = Path(ast.__file__).parent
    labelled: list[tuple[list[int], int]] = []
    for label, package in enumerate(PACKAGES):
        text = b"".join(path.read_bytes() for path in sorted((root / package).glob("*.py")))
        lines = [(list(text[at : at + BYTES]), label) for at in range(0, len(text) - BYTES, BYTES)]
        labelled += Random(label).sample(lines, EACH)
    Random(0).shuffle(labelled)
    inputs, labels = zip(*labelled, strict=True)
    return _parts(LabelledInputs("input_ids", torch.tensor(inputs), torch.tensor(labels)))


def shapes(side: int) -> DataParts:
    """Procedural pictures in three equal colours, as ViT takes them."""
    made = Pictures.of(PICTURES if side < 100 else PICTURES // 4, 0, side, "cpu")
    images = torch.cat([part for part, _ in made.batches()])
    return _parts(LabelledInputs("pixel_values", (images - 0.5).expand(-1, 3, -1, -1), made.kinds))


def _parts(inputs: LabelledInputs) -> DataParts:
    count = len(inputs.labels)
    first, second = count // 2, 4 * count // 5
    return DataParts(*(inputs.some(slice(*ends)) for ends in ((0, first), (first, second), (second, count))))


def make(kind: str, settings: Mapping[str, Any], seed: int) -> nn.Module:
    """A classifier with random weights and without dropout."""
    torch.manual_seed(seed)
    width, layers, heads, inner = (settings[name] for name in ("width", "layers", "heads", "inner"))
    shared: dict[str, Any] = {
        "attn_implementation": "eager",
        "num_labels": KINDS if kind == "vit" else len(PACKAGES),
    }
    encoder: dict[str, Any] = {
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        **shared,
    }
    module: nn.Module
    if kind == "vit":
        module = transformers.ViTForImageClassification(
            transformers.ViTConfig(image_size=settings["side"], patch_size=settings["patch"], **encoder)
        )
    elif kind == "bert":
        words = settings["vocabulary"]
        module = transformers.BertForSequenceClassification(
            transformers.BertConfig(vocab_size=words, max_position_embeddings=512, **encoder)
        )
    else:
        module = transformers.GPT2ForSequenceClassification(
            transformers.GPT2Config(
                vocab_size=settings["vocabulary"], n_embd=width, n_layer=layers, n_head=heads, n_inner=inner,
                n_positions=1024, bos_token_id=0, eos_token_id=0, pad_token_id=0, **shared,
            )
        )  # fmt: skip
    for layer in module.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0
    module.eval()  # type: ignore[no-untyped-call]
    return module


@dataclass(frozen=True, slots=True)
class PermutedForms:
    """A network under one draw of permutations."""

    whole: Callable[[nn.Module], nn.Module]
    """With all of its columns permuted consistently: what the owner of the key runs."""
    blocks: Callable[[nn.Module], nn.Module]
    """With the columns of its blocks permuted, as the `encrypted` model is; who has no key runs this."""


def permutations(start: nn.Module, example: LabelledInputs, seed: int) -> PermutedForms:
    """Draw permutations for networks of the same sizes as `start`."""
    call = Call((), example.some(slice(0, 2)).arguments("cpu"))
    groups = infer(start, call)
    order = draw(groups.layout.sizes, Random(seed))
    inside = groups.layout.only({groups.locking[0]: 0}, {group: group for group in groups.inside})

    def whole(module: nn.Module) -> nn.Module:
        permuted = deepcopy(module)
        permute_module(permuted, groups.layout, order)
        return permuted

    def blocks(module: nn.Module) -> nn.Module:
        permuted = deepcopy(module)
        permute_module(permuted, inside, [order[groups.locking[0]]])
        return permuted

    return PermutedForms(whole, blocks)


@dataclass(frozen=True, slots=True)
class TuningCourse:
    """How a training went."""

    losses: list[float]
    valid: list[tuple[float, float]]
    """Steps, and the loss on test examples after them."""


def learn(
    module: Any,
    data: LabelledInputs,
    settings: Mapping[str, Any],
    device: str,
    test: LabelledInputs | None = None,
) -> TuningCourse:
    """Train in place, for `steps` steps; with `test`, its loss is taken ten times."""
    steps, rate = settings["steps"], settings["rate"]
    module.to(device)
    optimiser = torch.optim.AdamW(module.parameters(), lr=rate)
    rng, course = Random(1), TuningCourse([], [])
    while len(course.losses) < steps:
        for batch in data.batches(settings["batch"], rng):
            step = len(course.losses)
            if step == steps:
                break
            optimiser.param_groups[0]["lr"] = rate * min(1.0, (step + 1) / 100)
            optimiser.zero_grad()
            with torch.autocast(torch.device(device).type, torch.bfloat16, enabled=settings["half"]):
                logits = module(**batch.arguments(device)).logits
            loss = nn.functional.cross_entropy(logits.float(), batch.labels.to(device))
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            course.losses.append(float(loss.detach()))
            if test is not None and (step + 1) % max(1, steps // 10) == 0:
                course.valid.append((step + 1.0, judged(module, test, device)[1]))
    return course


@torch.no_grad()
def judged(
    module: Any, data: LabelledInputs, device: str, inside: AbstractContextManager[None] | None = None
) -> tuple[float, float]:
    """Accuracy and mean loss."""
    right, loss = 0, 0.0
    module.to(device)
    with inside or nullcontext():
        for batch in data.batches(50, Random(0)):
            logits, labels = module(**batch.arguments(device)).logits.float(), batch.labels.to(device)
            right += int((logits.argmax(1) == labels).sum())
            loss += float(nn.functional.cross_entropy(logits, labels, reduction="sum"))
    return right / len(data.labels), loss / len(data.labels)


def rows_of(
    module: nn.Module, example: LabelledInputs, settings: Mapping[str, Any], seed: int
) -> AbstractContextManager[None]:
    """A context in which the tokens are in a random order inside the blocks."""
    tokens = (settings["side"] // settings["patch"]) ** 2 + 1 if example.name == "pixel_values" else BYTES
    return permuting_rows(stacks(module)[0], rows=np.array(Random(seed).sample(range(tokens), tokens)))


def _data(bench: Bench) -> dict[str, DataParts]:
    """By the kind of network."""
    torch.manual_seed(0)
    read = texts()
    by_kind = {"vit": shapes(bench.settings["side"]), "bert": read, "gpt2": read}
    tested = bench.settings["tested"]
    return {
        name: DataParts(parts.public, parts.own, parts.test.some(slice(tested)))
        for name, parts in by_kind.items()
    }


def properties(bench: Bench) -> Iterator[PaperTrial]:
    """Tables 2 to 5: accuracies of networks that are tested or trained under permutation."""
    settings, device = bench.settings, checkpoint.usable_device(bench.device)

    def measure(row: str, seed: int) -> list[PaperTrial]:
        by_row: dict[str, dict[str, float]] = {}
        for kind, data in _data(bench).items():
            start = make(kind, settings, seed)
            permuted = permutations(start, data.own, 7 + seed)
            plain, columns, shuffled = deepcopy(start), permuted.whole(start), deepcopy(start)
            learn(plain, data.public, settings, device)
            learn(columns, data.public, settings, device)
            network = plain.cpu()
            scores = {
                "Test w/o P.": judged(network, data.test, device)[0],
                "Test w/ col. P.": judged(permuted.whole(network.cpu()), data.test, device)[0],
                "Test w/ col. P., no key": judged(permuted.blocks(network.cpu()), data.test, device)[0],
                "Train w/ col. P.": judged(columns, data.test, device)[0],
            }
            scores["Train w/o P."] = scores["Test w/o P."]
            if kind != "gpt2":  # it sees what stands before only, so rows have an order
                inside = rows_of(network, data.own, settings, 8 + seed)
                scores["Test w/ row P."] = judged(network, data.test, device, inside)[0]
                with rows_of(shuffled, data.own, settings, 8 + seed):
                    learn(shuffled, data.public, settings, device)
                scores["Train w/ row P."] = judged(shuffled, data.test, device)[0]
            for name, value in scores.items():
                by_row.setdefault(name, {})[kind] = value
            bench.tell(f"{kind}, seed {seed}: done")
        return [PaperTrial(row=name, seed=seed, scores=scores) for name, scores in by_row.items()]

    yield from bench.trials(measure)


def tuning(bench: Bench) -> Iterator[PaperTrial]:
    """Table 7 and Figures 4 to 6: networks that were trained, and are tuned with the key or without."""
    settings, device = bench.settings, checkpoint.usable_device(bench.device)

    def measure(row: str, seed: int) -> list[PaperTrial]:
        scores: dict[str, dict[str, float]] = {}
        series: dict[str, dict[str, list[tuple[float, float]]]] = {}
        for kind, data in _data(bench).items():
            public = make(kind, settings, seed)
            learn(public, data.public, settings, device)
            permuted = permutations(public.cpu(), data.own, 7 + seed)
            models = {
                "Normal-Normal": deepcopy(public),
                "Encrypted-Authorized": permuted.whole(public),
                "Encrypted-Unauthorized": permuted.blocks(public),
                "From scratch": make(kind, settings, 100 + seed),
            }
            for name, module in models.items():
                course = learn(module, data.own, settings, device, data.test)
                scores.setdefault(name, {})[kind] = judged(module, data.test, device)[0]
                curves = {
                    f"loss of {kind}": _means(course.losses),
                    f"validation loss of {kind}": course.valid,
                }
                series.setdefault(name, {}).update(curves)
                bench.tell(f"{kind}, {name}, seed {seed}: done")
        return [PaperTrial(row=name, seed=seed, scores=scores[name], series=series[name]) for name in scores]

    yield from bench.trials(measure)


def _means(values: list[float]) -> list[tuple[float, float]]:
    """The mean of each part of a series, at the number of its last value."""
    size = max(1, len(values) // SHOWN)
    firsts = range(0, len(values) - size + 1, size)
    return [(float(first + size), sum(values[first : first + size]) / size) for first in firsts]


def costs(bench: Bench) -> Iterator[PaperTrial]:
    """Figure 8: operations, time and memory of a training step of ViT, plain and permuted.

    As in the paper, a permuted step multiplies by four permutation matrices, two of rows and two of columns.
    """
    settings, device = bench.settings, checkpoint.usable_device(bench.device)

    def measure(row: str, seed: int) -> list[PaperTrial]:
        data = shapes(settings["side"]).public.some(slice(settings["batch"]))
        module = make("vit", settings, seed).to(device)
        stack = stacks(module)[0]
        tokens, width = (settings["side"] // settings["patch"]) ** 2 + 1, settings["width"]
        rows, columns = (torch.eye(size, device=device)[torch.randperm(size)] for size in (tokens, width))

        def turned(hidden: Tensor, *, back: bool) -> Tensor:
            return (rows.T @ hidden @ columns.T) if back else (rows @ hidden @ columns)

        if row == "permuted":
            stack.blocks[0].register_forward_pre_hook(
                lambda _, inputs: (turned(inputs[0], back=False), *inputs[1:])
            )
            last = stack.blocks[-1]
            last.register_forward_hook(
                lambda _, inputs, out: (
                    turned(out, back=True)
                    if isinstance(out, Tensor)
                    else (turned(out[0], back=True), *out[1:])
                )
            )
        kept = 0

        def weigh(tensor: Tensor) -> Tensor:
            nonlocal kept
            kept += tensor.numel() * tensor.element_size()
            return tensor

        def step() -> None:
            module.zero_grad()
            logits = module(**data.arguments(device)).logits
            loss = nn.functional.cross_entropy(logits, data.labels.to(device))
            loss.backward()  # type: ignore[no-untyped-call]

        with (
            FlopCounterMode(display=False) as counter,
            torch.autograd.graph.saved_tensors_hooks(weigh, lambda tensor: tensor),
        ):
            step()
        began = time.perf_counter()
        for _ in range(TIMED):
            step()
        if torch.device(device).type == "cuda":
            torch.cuda.synchronize()
        seconds = (time.perf_counter() - began) / TIMED
        scores = {"operations": counter.get_total_flops() / 1e9, "ms": 1000 * seconds, "memory": kept / 2**20}
        return [PaperTrial(row=row, seed=seed, scores=scores)]

    yield from bench.trials(measure)

"""CoDE beside other positions: one trunk, one number of steps, and the same batches for all rows.

Tables 1, 2, 4, 6 to 8, 10 and 11 of the paper. `lengths` predicts the same tokens with longer and longer
contexts, up to eight times the training length, and then completes lines behind contexts of each length.
`retrieval` learns Copy (what one of many functions returns) and Counting (what a variable holds after many
operations), and asks for the answer of samples up to four times as long. A baseline has one layer more than
CoDE, as in the paper.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from typing_extensions import override

from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.papers import checkpoint
from codeaudit.audit.papers.dependency_encoding import material
from codeaudit.audit.papers.dependency_encoding.code_bleu import code_bleu
from codeaudit.audit.papers.dependency_encoding.made_code import (
    ALPHABET,
    COPY_WORDS,
    COUNTING_WORDS,
    SUFFIX,
    commonest,
    copy_sample,
    counting_sample,
)
from codeaudit.audit.papers.dependency_encoding.material import NOTHING, StreamRecipe, Streams, learn
from codeaudit.audit.papers.dependency_encoding.networks import build, sharpen, sparsity
from codeaudit.audit.papers.dependency_encoding.training import (
    EMPTY,
    DecoderLearner,
    NextTokens,
    batch_of,
    of_logits,
)
from codeaudit.audit.papers.dependency_encoding.trunk import SPREAD, Cache, Decoder, DecoderSizes
from codeaudit.audit.papers.experiments import Bench, PaperTrial
from codeaudit.audit.tasks.code_modelling import CODE_MODELLING
from codeaudit.audit.tasks.scoring import bleu, edit_similarity
from codeaudit.audit.training.trainer import Integers, Validation
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.records import Sample

LONGEST: Final = 24
"""The longest line that is completed, in tokens."""


class Line(NamedTuple):
    """A line to be completed, and the tokens before it."""

    context: list[int]
    before: str
    """The last line that is not blank."""
    text: str


def lines_of(samples: Sequence[Sample], streams: Streams, size: int) -> list[Line]:
    """Lines that are not blank and have at most `LONGEST` tokens, with `size` tokens before them, which no
    other line has.
    """
    lines = []
    for texts in material.documents(samples, streams):
        tokens = [token for text in texts for token in text]
        breaks = [at for at, token in enumerate(tokens) if token == streams.newline]
        free = 0
        for cut, end in pairwise(breaks):
            context, line = tokens[max(0, cut + 1 - size) : cut + 1], tokens[cut + 1 : end]
            text = plain(streams.text(line))
            if cut + 1 - size < free or not text or len(line) > LONGEST or streams.start in line:
                continue
            rows = [plain(row) for row in streams.text(context).splitlines()]
            lines.append(Line(context, next((row for row in reversed(rows) if row), ""), text))
            free = end
    return lines


@torch.no_grad()
def completed(network: Decoder, lines: Sequence[Line], streams: Streams, size: int) -> list[tuple[str, str]]:
    """What a network writes, taking the likeliest token each time, after the last `size` tokens; and what
    stands there.
    """
    pairs, ends, device = [], (streams.newline, streams.start), network.tokens.weight.device
    for first in range(0, len(lines), 50):
        part = lines[first : first + 50]
        cache, ids = Cache(), torch.tensor([[streams.start, *line.context[-size:]] for line in part])
        ids = ids.to(device)
        columns: list[Tensor] = []
        ended = torch.zeros(len(part), dtype=torch.bool, device=device)
        while len(columns) < LONGEST and not ended.all():
            hidden, _ = network.hidden(ids, cache)
            ids = network.logits(hidden[:, -1:]).argmax(-1)
            columns.append(ids[:, 0])
            ended |= torch.isin(ids[:, 0], torch.tensor(ends, device=device))
        for line, row in zip(part, torch.stack(columns, 1).tolist(), strict=True):
            end = next((at for at, token in enumerate(row) if token in ends), None)
            pairs.append((plain(streams.text(row[:end])), line.text))
    return pairs


def near(pairs: Sequence[tuple[str, str]]) -> dict[str, float]:
    """BLEU-4, share of exact matches, and edit similarity between answers and labels, each from 0 to 1."""
    same, similar = (
        sum(measure(answer, right) for answer, right in pairs) / len(pairs)
        for measure in (str.__eq__, edit_similarity)
    )
    return {"BLEU": bleu(pairs, smooth=True), "exact": same, "edit": similar}


def plain(text: str) -> str:
    """The text with each run of blanks replaced by one blank."""
    return " ".join(text.split())


Batch = tuple[Tensor, Tensor]
"""(B, T) inputs, and what follows each; `NOTHING` where it does not count."""
CODE_BLEU: Final = "CODEBLEU_PYTHON"
"""Names an interpreter with the package codebleu; without it no CodeBLEU is computed."""
AT_ONCE: Final = 4096
"""Tokens of a batch of judged windows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderRow:
    """A row of a table."""

    network: str
    options: Mapping[str, object]
    features: float = 1.0
    """The size of CoDE's dictionaries, as a multiple of the default."""
    sparsity: float = 1.0
    """The weight α of sparsity, as a multiple of the default."""


SHARP: Final = "nope-lambda"
"""NoPE with the λ that is best on held-out samples of the longest length. It shares NoPE's training."""
BASELINES: Final = {
    name: DecoderRow(network="nope" if name == SHARP else name, options={})
    for name in ("rope", "nope", SHARP, "fire", "hope", "alibi")
}
ABLATIONS: Final = {
    "code without in-line": DecoderRow(network="code", options={"in_line_mask": False}),
    "code without PACE": DecoderRow(network="code", options={"pace": False}),
    "code without MLP": DecoderRow(network="code", options={"mixer": False}),
    "code with (d)": DecoderRow(network="code", options={"direct": True}),
}
CHOICES: Final = {
    "code, F / 2": DecoderRow(network="code", options={}, features=0.5),
    "code, F x 2": DecoderRow(network="code", options={}, features=2.0),
    "code, α x 10": DecoderRow(network="code", options={}, sparsity=10.0),
    "code, α / 10": DecoderRow(network="code", options={}, sparsity=0.1),
}
MODELS: Final[Mapping[str, DecoderRow]] = {
    **BASELINES,
    "code": DecoderRow(network="code", options={}),
    **ABLATIONS,
    **CHOICES,
}
LAMBDAS: Final = (1.05, 1.1, 1.2, 1.3, 1.4, 1.6)


def recipe_of(settings: Mapping[str, Any], name: str, seed: int) -> StreamRecipe:
    """One training of a row."""
    model = MODELS[name]
    inside = {"plain": settings["plain"], "in_line": settings["in_line"]} if model.network == "code" else {}
    longer = 1 if name == "code" else settings.get("longer", 1)
    return StreamRecipe(
        network=model.network,
        options={**model.options, **inside},
        width=settings["width"],
        layers=settings["layers"],
        heads=settings["heads"],
        inner=settings["inner"],
        features=max(1, round(settings["features"] * model.features)),
        sparsity=settings["alpha"] * model.sparsity,
        batch=settings["batch"],
        steps=settings["steps"] * longer,
        rate=settings["rate"],
        warm_up=max(1, settings["steps"] // 10),
        seed=seed,
        tied=settings["tied"],
        half=settings["half"],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeTask:
    """Training batches and test sets of one task."""

    vocabulary: int
    newline: int
    start: int
    window: int
    """Tokens of the longest input in training."""
    train: Callable[[int, int], Batch]
    """The batch of a seed's step."""
    judge: Callable[[Decoder, int, int], Mapping[str, float]]
    """The scores of a network at so many times the training length, on the test set of a number: 0 is the
    test set, 1 the held-out one."""
    multiples: tuple[int, ...]
    worth: str
    """The score that chooses λ."""
    higher: bool
    rules: Mapping[str, Mapping[str, float]]
    """Scores that simple rules reach without a network, by name."""


class TaskLearner(DecoderLearner[Batch]):
    """Learns without validation: the result is the weights of the last step."""

    def __init__(self, task: MadeTask, recipe: StreamRecipe, *, device: str = "cpu") -> None:
        super().__init__(recipe, {}, 0, device=device)
        self.made_task, self.recipe = task, recipe
        self.per_epoch = self.total

    @override
    def make(self) -> Decoder:
        task, recipe = self.made_task, self.recipe
        sizes = recipe.sized(
            DecoderSizes,
            vocabulary=task.vocabulary,
            newline=task.newline,
            start=task.start,
            window=task.window,
            spread=SPREAD,
        )
        return build(recipe.network, sizes, recipe.options)

    @override
    def batches(self, epoch: int) -> Iterator[Batch]:
        return (self.made_task.train(self.recipe.seed, step) for step in range(self.total))

    def loss(
        self, network: Decoder, batch: Batch, step: int, whole: Batch | None = None
    ) -> tuple[torch.Tensor, int]:
        """The mean cross entropy of the wanted tokens; of CoDE also the L1 term of all features. It is that
        of whole batches only.
        """
        inputs, targets = (tensor.to(self.device) for tensor in batch)
        wanted = targets != NOTHING
        with self.autocast(enabled=self.recipe.half):
            hidden, places = network.hidden(inputs)
            logits = network.logits(hidden[wanted])
        loss = F.cross_entropy(logits.float(), targets[wanted])
        if places.codes:
            loss = loss + self.recipe.sparsity * sparsity(places, torch.ones_like(wanted))
        return loss, len(inputs)

    @override
    def validate(self, network: Decoder) -> Validation:
        return Validation(0.0, {})


def measured(task: MadeTask, network: Decoder) -> dict[str, float]:
    """All scores at all lengths."""
    return {
        f"{name} x{multiple}": value
        for multiple in task.multiples
        for name, value in task.judge(network, multiple, 0).items()
    }


def sharpest(task: MadeTask, network: Decoder) -> float:
    """The λ with the best score on held-out samples of the longest length."""

    def worth(sharpness: float) -> float:
        sharpen(network, sharpness)
        score = task.judge(network, task.multiples[-1], 1)[task.worth]
        return score if task.higher else -score

    return max(LAMBDAS, key=worth)


def judged(
    bench: Bench, task: MadeTask, name: str, seed: int, label: str = ""
) -> dict[str, dict[str, float]]:
    """The scores of a row after its training; NoPE's training gives those with the best λ, too."""
    device = checkpoint.usable_device(bench.device)
    learner = TaskLearner(task, recipe_of(bench.settings, name, seed), device=device)
    network = bench.fitted(learner, f"{label}{name}", seed).network.to(device).eval()
    weights = {"weights": float(sum(weight.numel() for weight in network.parameters()))}
    if MODELS[name].network != "nope":
        return {name: measured(task, network) | weights}
    plain = measured(task, network) | weights
    best = sharpest(task, network)
    sharpen(network, best)
    return {"nope": plain, SHARP: measured(task, network) | weights | {"lambda": best}}


# ── lengths ──────────────────────────────────────────────────────────────────────────────────────────────


def lengths(bench: Bench) -> Iterator[PaperTrial]:
    """The trials of code modelling, and the rules that need no network."""
    assert bench.data is not None
    python = os.environ.get(CODE_BLEU, "")
    bench = replace(bench, settings={**bench.settings, "code_bleu": bool(python)})
    read: list[MadeTask] = []

    def measure(row: str, seed: int) -> list[PaperTrial]:
        if not read:
            read.append(texts(str(bench.data), bench.settings, Path(python) if python else None))
        by_name = judged(bench, read[0], row, seed)
        trials = [PaperTrial(row=name, seed=seed, scores=scores) for name, scores in by_name.items()]
        for rule, scores in read[0].rules.items() if not seed else ():
            trials.append(PaperTrial(row=rule, scores=scores))
        return trials

    rules = ("frequencies of tokens", "the line before")
    yield from bench.trials(measure)
    yield from replace(bench, rows=rules).trials(measure, seeds=False)


def texts(spec: str, settings: Mapping[str, Any], python: Path | None) -> MadeTask:
    """The tokens of functions, those of a file one after the other.

    Raises:
        CorpusError: the test split has too few long files.
    """
    size, tested, multiples = settings["length"], settings["tested"], (1, 2, 4, 8)
    task = CODE_MODELLING

    def samples(split: str) -> list[Sample]:
        prepared = (task.prepare(raw) for raw in corpus(f"{spec}:{split}").read(Counter()))
        return [sample for sample in prepared if isinstance(sample, Sample)]

    learned = samples("train")
    files = sorted({sample.origin.path for sample in learned})
    kept = {files[at] for at in np.random.default_rng(0).permutation(len(files))[: settings["files"] or None]}
    learned = [sample for sample in learned if sample.origin.path in kept]
    streams = learn((sample.source for sample in learned), settings["vocabulary"])
    windows = material.windows(learned, streams, size)
    known = {sample.id for sample in learned}
    fresh = [sample for sample in samples("test") if sample.id not in known]
    long = _long(fresh, streams, size * multiples[-1])
    order = np.random.default_rng(1).permutation(len(long))
    if len(long) < 2 * tested:
        raise CorpusError(f"{len(long)} test windows of {size * multiples[-1]} tokens; needed: {2 * tested}")
    tests = [long[order[:tested]], long[order[tested : 2 * tested]]]
    every = lines_of(fresh, streams, size * multiples[-1])
    lines = [every[at] for at in np.random.default_rng(2).permutation(len(every))[: settings["lines"]]]

    def batch(seed: int, step: int) -> Batch:
        recipe = StreamRecipe(network="", batch=settings["batch"], seed=seed)
        return windows.batch(batch_of(recipe, len(windows), step))

    def alike(pairs: Sequence[tuple[str, str]]) -> dict[str, float]:
        """How near answers are to their labels."""
        scores = near(pairs)
        return scores | {"CodeBLEU": code_bleu(pairs, python)} if python else scores

    @torch.no_grad()
    def judge(network: Decoder, multiple: int, number: int) -> Mapping[str, float]:
        """The last `size` tokens of each row, with so much before them."""
        total, device = EMPTY, network.tokens.weight.device
        rows = torch.from_numpy(tests[number][:, -size * multiple :])
        starts = torch.full((len(rows), 1), streams.start)
        inputs = torch.cat((starts, rows[:, :-1]), 1)
        count = max(1, AT_ONCE // (size * multiple))
        for part, wanted in zip(torch.split(inputs, count), torch.split(rows[:, -size:], count), strict=True):
            hidden, _ = network.hidden(part.to(device))
            total += of_logits(network.logits(hidden[:, -size:]).float().cpu(), wanted)
        scores = {"perplexity": total.perplexity, "accuracy": total.accuracy}
        return scores if number else scores | alike(completed(network, lines, streams, size * multiple))

    return MadeTask(
        vocabulary=streams.vocabulary,
        newline=streams.newline,
        start=streams.start,
        window=size,
        train=batch,
        judge=judge,
        multiples=multiples,
        worth="perplexity",
        higher=False,
        rules={
            "frequencies of tokens": _frequencies(windows, tests[0][:, -size:], streams.vocabulary),
            "the line before": {
                f"{name} x{multiple}": value
                for multiple in multiples
                for name, value in alike([(line.before, line.text) for line in lines]).items()
            },
        },
    )


def _long(samples: Sequence[Sample], streams: Streams, size: int) -> Integers:
    """(N, size) the beginnings of documents that are so long, and what follows each such beginning."""
    rows = []
    for texts in material.documents(samples, streams):
        tokens = [token for text in texts for token in text]
        rows += [tokens[at : at + size] for at in range(0, len(tokens) - size + 1, size)]
    return np.array(rows, dtype=np.int64).reshape(-1, size)


def _frequencies(windows: material.Windows, targets: Integers, size: int) -> dict[str, float]:
    counts = np.bincount(windows.rows[windows.rows >= 0], minlength=size) + 0.5
    shares = counts / counts.sum()
    total = NextTokens(
        nats=float(-np.log(shares[targets]).sum()),
        tokens=targets.size,
        right=int((targets == shares.argmax()).sum()),
        bytes=0,
    )
    both = {"perplexity": total.perplexity, "accuracy": total.accuracy}
    return {f"{name} x{multiple}": value for multiple in (1, 2, 4, 8) for name, value in both.items()}


# ── copy and counting ────────────────────────────────────────────────────────────────────────────────────


def retrieval(bench: Bench) -> Iterator[PaperTrial]:
    """The trials of Copy and Counting, and the rules that need no network."""
    tasks: Sequence[str] = bench.settings["tasks"]
    read: dict[str, MadeTask] = {}

    def measure(row: str, seed: int) -> list[PaperTrial]:
        for task in tasks:
            if task not in read:
                read[task] = made_task(task, bench.settings)
        trials: dict[str, dict[str, float]] = {}
        for task in tasks:
            rules = read[task].rules if not seed else {}
            for name, scores in {**judged(bench, read[task], row, seed, f"{task}, "), **rules}.items():
                trials.setdefault(name, {}).update({f"{task} {key}": value for key, value in scores.items()})
        return [PaperTrial(row=name, seed=seed, scores=scores) for name, scores in trials.items()]

    yield from bench.trials(measure)
    rules = (FREQUENT, *((COMMONEST,) if "copy" in tasks else ()))
    yield from replace(bench, rows=rules).trials(measure, seeds=False)


FREQUENT: Final = "the most frequent answer"
COMMONEST: Final = "what most functions return"


def made_task(task: str, settings: Mapping[str, Any]) -> MadeTask:
    """Copy or counting. The loss and the scores look at the answer only; all other tokens are noise."""
    size, tested = settings[task], settings["tested"]
    sample, words = (
        (partial(copy_sample, suffix=SUFFIX, signs=len(ALPHABET)), COPY_WORDS)
        if task == "copy"
        else (counting_sample, COUNTING_WORDS)
    )
    multiples = (1, 2, 3, 4)

    def rows(rng: np.random.Generator, count: int, size: int) -> tuple[Tensor, Tensor]:
        """Padded (N, T) ids and the (N,) place of the answer."""
        ids = [words.ids(sample(rng, size)) for _ in range(count)]
        longest = max(map(len, ids))
        padded = torch.tensor([[*row, *[0] * (longest - len(row))] for row in ids])
        return padded, torch.tensor([len(row) - 1 for row in ids])

    def batch(seed: int, step: int) -> Batch:
        ids, last = rows(np.random.default_rng([seed, step, 2]), settings["batch"], size)
        targets = torch.full_like(ids[:, 1:], NOTHING)
        places = torch.arange(len(ids))
        targets[places, last - 1] = ids[places, last]
        return ids[:, :-1], targets

    tests = {
        (multiple, number): rows(np.random.default_rng([7, multiple, number]), tested, size * multiple)
        for multiple in multiples
        for number in (0, 1)
    }

    @torch.no_grad()
    def judge(network: Decoder, multiple: int, number: int) -> Mapping[str, float]:
        ids, last = tests[multiple, number]
        right, device = 0, network.tokens.weight.device
        count = max(1, AT_ONCE // ids.shape[1])
        for part, at in zip(torch.split(ids, count), torch.split(last, count), strict=True):
            places = torch.arange(len(part))
            hidden, _ = network.hidden(part[:, :-1].to(device))
            answers = network.logits(hidden[places, at - 1]).argmax(-1).cpu()
            right += int((answers == part[places, at]).sum())
        return {"accuracy": right / len(ids)}

    learned = Counter(
        int(ids[at]) for ids, at in zip(*rows(np.random.default_rng(9), 2000, size), strict=True)
    )
    usual = learned.most_common(1)[0][0]
    answers = {}
    for multiple in multiples:
        ids, last = tests[multiple, 0]
        share = (ids[torch.arange(len(ids)), last] == usual).double().mean()
        answers[f"accuracy x{multiple}"] = float(share)
    rules = {FREQUENT: answers}
    if task == "copy":
        rules[COMMONEST] = {
            f"accuracy x{multiple}": commonest(tests[multiple, 0][0]) for multiple in multiples
        }
    longest = max(len(words.ids(sample(np.random.default_rng([8, at]), size))) for at in range(500))
    return MadeTask(
        vocabulary=words.size,
        newline=0,
        start=1,
        window=longest,
        train=batch,
        judge=judge,
        multiples=multiples,
        worth="accuracy",
        higher=True,
        rules=rules,
    )

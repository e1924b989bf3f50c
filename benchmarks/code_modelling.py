"""Tables 1, 2, 4, 7, 8, 10 and 11 of the CoDE paper, scaled down, and what its features stand for.

    python benchmarks/code_modelling.py lengths --train table.jsonl.gz:train --test table.jsonl.gz:test
    python benchmarks/code_modelling.py copy
    python benchmarks/code_modelling.py counting
    python benchmarks/code_modelling.py features --model code-checkpoint --test table.jsonl.gz:test

`lengths` predicts the same tokens with longer and longer contexts, up to eight times the training length, and
then completes the lines that follow. `copy` asks what one of many functions returns. `counting` asks what a
variable holds after many operations. Both go up to four times the training length. All networks share the
trunk, the number of steps and the batches. A baseline has one layer more than CoDE, as in the paper.
`--networks` takes any of the names in the tables, and the groups `baselines`, `ablations` and `choices`
(table 11). Every training is a line of OUT/COMMAND.jsonl and is not repeated. The tables of all
trainings in that file are printed, written to OUT/COMMAND.md, and drawn in OUT/COMMAND.svg.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
import torch
import torch.nn.functional as F
from code_bleu import code_bleu
from code_features import features
from made_code import ALPHABET, COPY_WORDS, COUNTING_WORDS, SUFFIX, commonest, copy_sample, counting_sample
from next_lines import LONGEST, completed, lines_of, near
from torch import Tensor
from trials import Ledger, Trial, fitted

from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.papers.dependency_encoding import material
from codeaudit.audit.papers.dependency_encoding.material import NOTHING, StreamRecipe, Streams, learn
from codeaudit.audit.papers.dependency_encoding.networks import build, sharpen, sparsity
from codeaudit.audit.papers.dependency_encoding.training import EMPTY, NextTokens, batch_of, of_logits
from codeaudit.audit.papers.dependency_encoding.trunk import SPREAD, Decoder, DecoderSizes
from codeaudit.audit.registry import TASKS
from codeaudit.audit.training.trainer import (
    Integers,
    Learner,
    Validation,
    adamw,
    cosine,
)
from codeaudit.reports.records import Metric
from codeaudit.reports.statistics.adjustment import ALPHA
from codeaudit.reports.statistics.intervals import wilson
from codeaudit.reports.statistics.trials import compare_trials
from codeaudit.reports.wording import verdict
from codeaudit.transforms.records import Sample

Batch = tuple[Tensor, Tensor]
"""(B, T) inputs, and what follows each; `NOTHING` where it does not count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
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
    name: Model(network="nope" if name == SHARP else name, options={})
    for name in ("rope", "nope", SHARP, "fire", "hope", "alibi")
}
CODE: Final = {"code": Model(network="code", options={})}
ABLATIONS: Final = {
    "code without in-line": Model(network="code", options={"in_line_mask": False}),
    "code without PACE": Model(network="code", options={"pace": False}),
    "code without MLP": Model(network="code", options={"mixer": False}),
    "code with (d)": Model(network="code", options={"direct": True}),
}
CHOICES: Final = {
    "code, F / 2": Model(network="code", options={}, features=0.5),
    "code, F x 2": Model(network="code", options={}, features=2.0),
    "code, α x 10": Model(network="code", options={}, sparsity=10.0),
    "code, α / 10": Model(network="code", options={}, sparsity=0.1),
}
GROUPS: Final = {
    "baselines": tuple(BASELINES),
    "ablations": tuple(ABLATIONS),
    "choices": tuple(CHOICES),
}
MODELS: Final = {**BASELINES, **CODE, **ABLATIONS, **CHOICES}
LAMBDAS: Final = (1.05, 1.1, 1.2, 1.3, 1.4, 1.6)
LINES: Final = 1000
"""How many lines are completed."""

PAPER: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "perplexity": {
        "rope": ("4.37", "25.21", ">100", ">100"),
        "nope": ("4.71", "12.11", ">100", ">100"),
        SHARP: ("5.98", "5.38", "6.12", "14.20"),
        "fire": ("4.39", "3.46", "4.78", "17.63"),
        "hope": ("4.38", "29.06", "92.67", ">100"),
        "alibi": ("4.68", "3.81", "3.84", "3.85"),
        "code": ("4.46", "3.28", "3.30", "4.08"),
        "code without in-line": ("4.52", "3.87", "4.08", "5.21"),
        "code without PACE": ("4.46", "3.31", "3.47", "4.33"),
        "code without MLP": ("4.49", "3.42", "3.78", "4.71"),
        "code with (d)": ("4.45", "3.58", "3.72", "4.87"),
        "code, F / 2": ("4.59", "3.57", "3.35", "4.56"),
        "code, F x 2": ("4.39", "3.29", "3.26", "4.06"),
        "code, α x 10": ("4.49", "3.68", "3.70", "4.65"),
        "code, α / 10": ("4.51", "3.58", "3.74", "4.57"),
    },
    "accuracy": {
        "rope": ("69", "39", "17", "13"),
        "nope": ("68", "51", "16", "4"),
        SHARP: ("63", "64", "61", "46"),
        "fire": ("69", "72", "67", "47"),
        "hope": ("69", "37", "21", "18"),
        "alibi": ("67", "71", "71", "71"),
        "code": ("69", "74", "73", "69"),
        "code without in-line": ("67", "71", "70", "66"),
        "code without PACE": ("69", "73", "71", "67"),
        "code without MLP": ("68", "73", "70", "67"),
        "code with (d)": ("69", "72", "70", "67"),
    },
    "BLEU": {
        "rope": ("0.03", "0.02"),
        "nope": ("0.13", "0.00"),
        SHARP: ("14.78", "8.48"),
        "fire": ("24.89", "14.45"),
        "hope": ("0.41", "0.07"),
        "alibi": ("22.10", "12.10"),
        "code": ("25.62", "13.59"),
        "code without in-line": ("22.87", "12.01"),
        "code without PACE": ("24.82", "13.18"),
        "code without MLP": ("23.61", "12.88"),
        "code with (d)": ("23.23", "13.06"),
    },
    "CodeBLEU": {
        "rope": ("0.78", "1.66"),
        "nope": ("2.48", "0.63"),
        SHARP: ("18.31", "12.73"),
        "fire": ("26.64", "17.02"),
        "hope": ("2.35", "2.58"),
        "alibi": ("24.22", "16.90"),
        "code": ("27.86", "17.35"),
        "code without in-line": ("24.68", "14.80"),
        "code without PACE": ("26.88", "16.42"),
        "code without MLP": ("23.86", "16.07"),
        "code with (d)": ("25.87", "16.37"),
    },
    "copy": {
        "rope": ("13", "18", "10", "14"),
        "nope": ("11", "19", "11", "6"),
        SHARP: ("14", "16", "8", "14"),
        "fire": ("13", "19", "11", "16"),
        "hope": ("15", "21", "10", "11"),
        "alibi": ("33", "22", "24", "20"),
        "code": ("100", "98", "100", "97"),
        "code without in-line": ("98", "96", "97", "95"),
        "code without PACE": ("100", "98", "100", "97"),
        "code without MLP": ("100", "98", "99", "97"),
        "code with (d)": ("100", "99", "99", "96"),
    },
    "counting": {
        "rope": ("100", "31", "13", "17"),
        "nope": ("100", "36", "22", "18"),
        SHARP: ("30", "82", "68", "42"),
        "fire": ("100", "44", "23", "21"),
        "hope": ("100", "35", "20", "19"),
        "alibi": ("100", "57", "39", "36"),
        "code": ("100", "100", "100", "97"),
        "code without in-line": ("100", "99", "97", "97"),
        "code without PACE": ("100", "100", "100", "96"),
        "code without MLP": ("100", "98", "97", "97"),
        "code with (d)": ("100", "100", "98", "96"),
    },
}
"""Tables 1, 7 and 11; 1 and 7; 2 and 8, BLEU and CodeBLEU on LCC and RepoBench; 4 and 10; 4 and 10."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that decides a result, except the network and the seed."""

    command: str
    data: str
    train: int
    """The training length in tokens, functions or operations."""
    width: int
    layers: int
    heads: int
    inner: int
    features: int
    alpha: float
    steps: int
    batch: int
    rate: float
    test: int
    suffix: int = SUFFIX
    """Length of the part by which the names of functions differ."""
    signs: int = len(ALPHABET)
    """How many different characters that part is drawn from."""
    plain: int = 1
    """How many of CoDE's layers are plain."""
    spread: float = SPREAD
    """Standard deviation of initial weights."""

    def __str__(self) -> str:
        usual = {field.name: field.default for field in fields(self)}
        kept = [(name, value) for name, value in asdict(self).items() if value != usual[name]]
        return ", ".join(f"{name} {value}" for name, value in kept)

    def recipe(self, model: Model, seed: int) -> StreamRecipe:
        """One training."""
        return StreamRecipe(
            network=model.network,
            options={**model.options, "plain": self.plain} if model.network == "code" else model.options,
            width=self.width,
            layers=self.layers,
            heads=self.heads,
            inner=self.inner,
            features=max(1, round(self.features * model.features)),
            sparsity=self.alpha * model.sparsity,
            batch=self.batch,
            steps=self.steps,
            rate=self.rate,
            warm_up=max(1, self.steps // 10),
            seed=seed,
            half=False,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
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


class TaskLearner(Learner[Decoder, Batch]):
    """Learns without validation: the result is the weights of the last step."""

    def __init__(self, found: Data, recipe: StreamRecipe, spread: float) -> None:
        super().__init__(recipe, {}, 0)
        self.found, self.recipe, self.spread = found, recipe, spread
        self.per_epoch = self.total

    def make(self) -> Decoder:
        """See `Learner`."""
        found, recipe = self.found, self.recipe
        sizes = DecoderSizes(
            vocabulary=found.vocabulary,
            newline=found.newline,
            start=found.start,
            width=recipe.width,
            layers=recipe.layers,
            heads=recipe.heads,
            inner=recipe.inner,
            window=found.window,
            features=recipe.features,
            spread=self.spread,
        )
        return build(recipe.network, sizes, recipe.options)

    def optimiser(self, network: Decoder) -> torch.optim.Optimizer:
        """See `Learner`."""
        return adamw(network, self.recipe, second_beta=0.95, tables=[network.tokens.weight])

    def rate(self, step: int) -> float:
        """See `Learner`."""
        return cosine(self.recipe.rate, step, self.total, warm_up=self.recipe.warm_up, floor=0.05)

    def batches(self, epoch: int) -> Iterator[Batch]:
        """See `Learner`."""
        return (self.found.train(self.recipe.seed, step) for step in range(self.total))

    def loss(
        self, network: Decoder, batch: Batch, step: int, whole: Batch | None = None
    ) -> tuple[torch.Tensor, int]:
        """The mean cross entropy of the wanted tokens; of CoDE also the L1 term of all features. It is that
        of whole batches only.
        """
        inputs, targets = batch
        hidden, places = network.hidden(inputs)
        wanted = targets != NOTHING
        loss = F.cross_entropy(network.logits(hidden[wanted]), targets[wanted])
        if places.codes:
            loss = loss + self.recipe.sparsity * sparsity(places, torch.ones_like(wanted))
        return loss, len(inputs)

    def validate(self, network: Decoder) -> Validation:
        """See `Learner`."""
        return Validation(0.0, {})


def fit(found: Data, recipe: StreamRecipe, spread: float = SPREAD) -> Decoder:
    """A trained network."""
    learner = TaskLearner(found, recipe, spread)
    with TemporaryDirectory() as folder:
        return fitted(learner, Path(folder), recipe.network).network


def measured(found: Data, network: Decoder, number: int = 0) -> dict[str, float]:
    """All scores at all lengths."""
    return {
        f"{name} x{multiple}": value
        for multiple in found.multiples
        for name, value in found.judge(network, multiple, number).items()
    }


def sharpest(found: Data, network: Decoder) -> float:
    """The λ with the best score on held-out samples of the longest length."""

    def worth(sharpness: float) -> float:
        sharpen(network, sharpness)
        score = found.judge(network, found.multiples[-1], 1)[found.worth]
        return score if found.higher else -score

    return max(LAMBDAS, key=worth)


def trained(name: str, seed: int, settings: Settings, found: Data) -> Iterator[Trial]:
    """The trials that one training gives: two for NoPE, else one."""
    begin = time.process_time()
    network = fit(found, settings.recipe(MODELS[name], seed), settings.spread)
    seconds = time.process_time() - begin
    weights = sum(weight.numel() for weight in network.parameters())

    def trial(name: str, extra: Mapping[str, float]) -> Trial:
        scores = {**measured(found, network), "weights": weights, **extra}
        return Trial(
            network=name,
            size="micro",
            seed=seed,
            setting=str(settings),
            scores=scores,
            seconds=round(seconds, 1),
        )

    if name != SHARP:
        yield trial(name, {})
    if MODELS[name].network == "nope":
        best = sharpest(found, network)
        sharpen(network, best)
        yield trial(SHARP, {"lambda": best})


# ── lengths ──────────────────────────────────────────────────────────────────────────────────────────────


def lengths(asked: argparse.Namespace, settings: Settings) -> Data:
    """The tokens of functions, those of a file one after the other."""
    size, multiples = settings.train, (1, 2, 4, 8)
    task = TASKS.get("code-modelling")

    def samples(spec: str) -> list[Sample]:
        prepared = (task.prepare(raw) for raw in corpus(spec).read(Counter()))
        return [sample for sample in prepared if isinstance(sample, Sample)]

    learned = samples(asked.train_corpus)
    files = sorted({sample.origin.path for sample in learned})
    kept = {files[at] for at in np.random.default_rng(0).permutation(len(files))[: asked.files]}
    learned = [sample for sample in learned if sample.origin.path in kept]
    streams = learn((sample.source for sample in learned), asked.vocabulary)
    windows = material.windows(learned, streams, size)
    known = {sample.id for sample in learned}
    fresh = [sample for sample in samples(asked.test_corpus) if sample.id not in known]
    long = _long(fresh, streams, size * multiples[-1])
    order = np.random.default_rng(1).permutation(len(long))
    if len(long) < 2 * settings.test:
        raise SystemExit(
            f"only {len(long)} test windows of {size * multiples[-1]} tokens; take fewer with --samples"
        )
    tests = [long[order[: settings.test]], long[order[settings.test : 2 * settings.test]]]
    every = lines_of(fresh, streams, size * multiples[-1])
    lines = [every[at] for at in np.random.default_rng(2).permutation(len(every))[:LINES]]

    def batch(seed: int, step: int) -> Batch:
        recipe = StreamRecipe(network="", batch=settings.batch, seed=seed)
        return windows.batch(batch_of(recipe, len(windows), step))

    def alike(pairs: Sequence[tuple[str, str]]) -> dict[str, float]:
        """How near answers are to their labels."""
        found = near(pairs)
        return found | {"CodeBLEU": code_bleu(pairs, asked.code_bleu)} if asked.code_bleu else found

    @torch.no_grad()
    def judge(network: Decoder, multiple: int, number: int) -> Mapping[str, float]:
        """The last `size` tokens of each row, with so much before them."""
        total = EMPTY
        rows = torch.from_numpy(tests[number][:, -size * multiple :])
        starts = torch.full((len(rows), 1), streams.start)
        inputs = torch.cat((starts, rows[:, :-1]), 1)
        for some, wanted in zip(inputs.split(8), rows[:, -size:].split(8), strict=True):
            hidden, _ = network.hidden(some)
            total += of_logits(network.logits(hidden[:, -size:]), wanted)
        found = {"perplexity": total.perplexity, "accuracy": total.accuracy}
        return found if number else found | alike(completed(network, lines, streams, size * multiple))

    return Data(
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
                for name, value in alike([(one.before, one.text) for one in lines]).items()
            },
        },
    )


def _long(samples: Sequence[Sample], streams: Streams, size: int) -> Integers:
    """(N, size) the beginnings of documents that are so long, and what follows each such beginning."""
    rows = []
    for texts in material.documents(samples, streams):
        whole = [one for text in texts for one in text]
        rows += [whole[at : at + size] for at in range(0, len(whole) - size + 1, size)]
    return np.array(rows, dtype=np.int64).reshape(-1, size)


def _frequencies(windows: material.Windows, wanted: Integers, size: int) -> dict[str, float]:
    counts = np.bincount(windows.rows[windows.rows >= 0], minlength=size) + 0.5
    shares = counts / counts.sum()
    found = NextTokens(
        nats=float(-np.log(shares[wanted]).sum()),
        tokens=wanted.size,
        right=int((wanted == shares.argmax()).sum()),
        bytes=0,
    )
    both = {"perplexity": found.perplexity, "accuracy": found.accuracy}
    return {f"{name} x{multiple}": value for multiple in (1, 2, 4, 8) for name, value in both.items()}


# ── copy and counting ────────────────────────────────────────────────────────────────────────────────────


def made(settings: Settings) -> Data:
    """Copy or counting. The loss and the scores look at the answer only; all other tokens are noise."""
    sample, words = (
        (partial(copy_sample, suffix=settings.suffix, signs=settings.signs), COPY_WORDS)
        if settings.command == "copy"
        else (counting_sample, COUNTING_WORDS)
    )
    multiples = (1, 2, 3, 4)

    def rows(rng: np.random.Generator, count: int, size: int) -> tuple[Tensor, Tensor]:
        """Padded (N, T) ids and the (N,) place of the answer."""
        found = [words.ids(sample(rng, size)) for _ in range(count)]
        longest = max(map(len, found))
        padded = torch.tensor([[*one, *[0] * (longest - len(one))] for one in found])
        return padded, torch.tensor([len(one) - 1 for one in found])

    def batch(seed: int, step: int) -> Batch:
        ids, last = rows(np.random.default_rng([seed, step, 2]), settings.batch, settings.train)
        targets = torch.full_like(ids[:, 1:], NOTHING)
        places = torch.arange(len(ids))
        targets[places, last - 1] = ids[places, last]
        return ids[:, :-1], targets

    tests = {
        (multiple, number): rows(
            np.random.default_rng([7, multiple, number]), settings.test, settings.train * multiple
        )
        for multiple in multiples
        for number in (0, 1)
    }

    @torch.no_grad()
    def judge(network: Decoder, multiple: int, number: int) -> Mapping[str, float]:
        ids, last = tests[multiple, number]
        right = 0
        for some, at in zip(ids.split(50), last.split(50), strict=True):
            places = torch.arange(len(some))
            hidden, _ = network.hidden(some[:, :-1])
            right += int((network.logits(hidden[places, at - 1]).argmax(-1) == some[places, at]).sum())
        return {"accuracy": right / len(ids)}

    answers = {}
    learned = Counter(
        int(ids[at]) for ids, at in zip(*rows(np.random.default_rng(9), 2000, settings.train), strict=True)
    )
    for multiple in multiples:
        ids, last = tests[multiple, 0]
        share = (ids[torch.arange(len(ids)), last] == learned.most_common(1)[0][0]).double().mean()
        answers[f"accuracy x{multiple}"] = float(share)
    rules = {"the most frequent answer": answers}
    if settings.command == "copy":
        rules["what most functions return"] = {
            f"accuracy x{multiple}": commonest(tests[multiple, 0][0]) for multiple in multiples
        }
    longest = max(len(words.ids(sample(np.random.default_rng([8, at]), settings.train))) for at in range(500))
    return Data(
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


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────


def table(
    trials: Sequence[Trial], score: str, settings: Settings, multiples: Sequence[int], title: str
) -> str:
    """Markdown: a row per network, a column per length, the paper's figures in brackets or at the end; below
    it the statistics over trainings, where there are several.
    """
    kept = [trial for trial in trials if f"{score} x{multiples[0]}" in trial.scores]
    if not kept:
        return ""
    paper = PAPER.get(score if settings.command == "lengths" else settings.command, {})
    behind = ("LCC", "RepoBench") if "BLEU" in score else ()
    heads = [*(f"x{one}" for one in multiples), *behind, "weights"]
    lines = [f"### {title}", "", f"| | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    rows = [name for name in MODELS if any(trial.network == name for trial in kept)]
    metrics = {
        multiple: compare_trials(
            f"x{multiple}",
            "lower" if score == "perplexity" else "higher",
            {
                name: [one.scores[f"{score} x{multiple}"] for one in kept if one.network == name]
                for name in rows
            },
        )
        for multiple in multiples
    }
    for name in dict.fromkeys([*rows, *(one.network for one in kept)]):
        own, cells = [trial for trial in kept if trial.network == name], []
        for at, multiple in enumerate(multiples):
            cell = _cell(score, [trial.scores[f"{score} x{multiple}"] for trial in own], settings)
            best = any(group.name == name and group.best for group in metrics[multiple].groups)
            beside = f" ({paper[name][at]})" if name in paper and not behind else ""
            cells.append((f"**{cell}**" if best else cell) + beside)
        cells += [paper[name][at] if name in paper else "" for at in range(len(behind))]
        weights = own[0].scores.get("weights")
        cells.append("" if weights is None else f"{weights:,.0f}")
        sharp = [f"{trial.scores['lambda']:g}" for trial in own if "lambda" in trial.scores]
        label = f"{name} (λ {', '.join(sharp)})" if sharp else name
        lines.append(f"| {label} | {' | '.join(cells)} |")
    if any(metric.pairs for metric in metrics.values()):
        lines += ["", *(_told(metric) for metric in metrics.values())]
    return "\n".join(lines)


def _told(metric: Metric) -> str:
    """A sentence: which networks differ significantly from CoDE."""
    apart: dict[bool, list[str]] = {True: [], False: []}
    means = {group.name: group.mean or 0.0 for group in metric.groups}
    for one in metric.pairs:
        if "code" in (one.first, one.second) and one.p_adjusted < ALPHA:
            other = one.second if one.first == "code" else one.first
            apart[(means[other] < means["code"]) == (metric.better == "higher")].append(other)
    worse, better = ", ".join(apart[True]) or "none", ", ".join(apart[False]) or "none"
    return f"- {metric.name}: {verdict(metric.test)}; worse than code: {worse}; better: {better}."


def _cell(score: str, values: Sequence[float], settings: Settings) -> str:
    mean, error = sum(values) / len(values), None
    if len(values) > 1:
        error = float(np.std(values, ddof=1)) / len(values) ** 0.5
    if score == "perplexity":
        return f"{mean:.2f}" + ("" if error is None else f" ± {error:.2f}")
    if error is not None or settings.command == "lengths":
        return f"{100 * mean:.1f}" + ("" if error is None else f" ± {100 * error:.1f}")
    low, high = wilson(round(mean * settings.test), settings.test)
    return f"{100 * mean:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def draw(trials: Sequence[Trial], scores: Sequence[str], multiples: Sequence[int], path: Path) -> None:
    """Means over trainings against the length, a picture for each score: CoDE in black, its variants dashed,
    what needs no network dotted.
    """
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(scores), figsize=(4.2 * len(scores), 3.4), squeeze=False)
    for axis, score in zip(axes[0], scores, strict=True):
        kept = [trial for trial in trials if f"{score} x{multiples[0]}" in trial.scores]
        for name in dict.fromkeys([*MODELS, *(one.network for one in kept)]):
            own = [[one.scores[f"{score} x{at}"] for at in multiples] for one in kept if one.network == name]
            if own:
                style = (
                    "-o" if name in BASELINES else "k-o" if name in CODE else "--" if name in MODELS else "k:"
                )
                axis.plot(multiples, np.mean(own, 0), style, markersize=3, linewidth=1, label=name)
        axis.set_xscale("log", base=2)
        axis.set_xticks(multiples, [f"x{one}" for one in multiples])
        axis.set_xlabel("times the training length")
        axis.set_title(score, fontsize=9, loc="left")
        if score == "perplexity":
            axis.set_yscale("log")
    axes[0][-1].legend(fontsize=6, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


def caption(settings: Settings, found_window: str, seeds: int) -> str:
    """A caption that says how the set-up differs from the paper's."""
    shared = (
        f"{settings.layers} layers (one in-line, {settings.plain or 'no'} plain, "
        f"{settings.layers - 1 - settings.plain} line-wise; "
        f"baselines {settings.layers + 1}), width {settings.width}, {settings.heads} heads, "
        f"{settings.features} features, α {settings.alpha:g}, {settings.steps:,} steps of {settings.batch} "
        f"at a peak rate of {settings.rate:g}, {seeds} training{'s' if seeds > 1 else ''} each, on one "
        "thread in float32. In brackets the paper's figures. "
    )
    if settings.command == "lengths":
        return shared + (
            f"Trained on {found_window}, where the paper has 512 tokens of whole files, 8 layers, "
            f"width 512, 512 features and 5 billion tokens. Tested on "
            f"{settings.test:,} windows; each length predicts the same last {settings.train} tokens of a "
            f"window, with more or less before them. At most {LINES:,} lines of at most {LONGEST} tokens "
            "are completed greedily; the paper has LCC and RepoBench, whose figures stand in their columns. "
            "± is the standard error over trainings."
        )
    noun = "functions" if settings.command == "copy" else "operations"
    if settings.suffix != SUFFIX:
        noun = f"functions, whose names differ by {settings.suffix} signs instead of {SUFFIX}"
    paper = (
        "10 M weights, 300,000 samples (baselines 3 million more in table 6, not shown here), "
        f"{'50 functions' if settings.command == 'copy' else '100 operations'} and 100 test samples"
    )
    return shared + (
        f"Trained on {settings.train} {noun}, tested on up to four times as many, {settings.test:,} samples "
        f"a length; the paper has {paper}. Only the answer is learned, and every sign of a suffix, "
        "every digit and every part of a line is a token. ± is the standard error over trainings; of one, "
        "brackets [ ] are Wilson's 95 % interval over test samples."
    )


def chosen(parser: argparse.ArgumentParser, words: str) -> list[str]:
    """The names of networks, with groups expanded."""
    found: list[str] = []
    for word in words.split(","):
        found += GROUPS.get(word, (word,))
    for name in found:
        if name not in MODELS:
            parser.error(f"no network {name!r}; known: {', '.join([*MODELS, *GROUPS])}")
    return list(dict.fromkeys(found))


def sweep(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> str:
    """Train what is missing, and print the tables."""
    names = chosen(parser, asked.networks)
    settings = Settings(
        command=asked.command,
        data=f"{asked.files} files, {asked.vocabulary} tokens" if asked.command == "lengths" else "made",
        train=asked.length,
        width=asked.width,
        layers=asked.layers,
        heads=asked.heads,
        inner=asked.inner,
        features=asked.features,
        alpha=asked.alpha,
        steps=asked.steps,
        batch=asked.batch,
        rate=asked.rate,
        test=asked.samples,
        suffix=getattr(asked, "suffix", SUFFIX),
        signs=getattr(asked, "signs", len(ALPHABET)),
        plain=asked.plain,
        spread=asked.spread,
    )
    ledger = Ledger(asked.out / f"{asked.command}.jsonl", str(settings))
    found: Data | None = None
    for seed in range(asked.seeds):
        for name in names:
            if ledger.has(name, "micro", seed):
                continue
            if found is None:
                found = lengths(asked, settings) if asked.command == "lengths" else made(settings)
            for trial in trained(name, seed, settings, found):
                if not ledger.has(trial.network, "micro", seed):
                    ledger.add(trial)
                    told = ", ".join(f"{key} {value:.3g}" for key, value in trial.scores.items())
                    print(f"{trial.network} {seed}: {told}; {trial.seconds:.0f} s", file=sys.stderr)
    if found is not None:
        for rule, scores in found.rules.items():
            if not ledger.has(rule, "none", 0):
                ledger.add(Trial(network=rule, size="none", seed=0, setting=str(settings), scores=scores))
    shown = [trial for trial in ledger.trials if trial.network in names or trial.size == "none"]
    picture = asked.out / f"{asked.command}.svg"
    if asked.command == "lengths":
        draw(shown, ("perplexity", "accuracy", "BLEU"), (1, 2, 4, 8), picture)
        tables = [
            table(shown, "perplexity", settings, (1, 2, 4, 8), "Perplexity of tokens, lower is better"),
            table(shown, "accuracy", settings, (1, 2, 4, 8), "Next tokens that are right, percent"),
            table(shown, "BLEU", settings, (1, 2, 4, 8), "The next line: BLEU-4 (smoothed), percent"),
            table(shown, "CodeBLEU", settings, (1, 2, 4, 8), "The next line: CodeBLEU, percent"),
            table(shown, "exact", settings, (1, 2, 4, 8), "The next line: exact matches, percent"),
            table(shown, "edit", settings, (1, 2, 4, 8), "The next line: edit similarity, percent"),
        ]
    else:
        draw(shown, ("accuracy",), (1, 2, 3, 4), picture)
        title = f"{asked.command.title()}: answers that are right, percent"
        tables = [table(shown, "accuracy", settings, (1, 2, 3, 4), title)]
    window = (
        f"windows of {settings.train} tokens out of {asked.files} files" if asked.command == "lengths" else ""
    )
    return "\n\n".join([*filter(None, tables), caption(settings, window, asked.seeds)])


def trunk(width: int, layers: int, heads: int, inner: int) -> dict[str, int]:
    """The network's sizes as keyword arguments."""
    return {"width": width, "layers": layers, "heads": heads, "inner": inner}


def main(words: Sequence[str] | None = None) -> int:
    """Run the command of the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    defaults = {
        "lengths": {"length": 64, "steps": 600, "rate": 5e-3, "samples": 300, **trunk(64, 4, 4, 176)},
        "copy": {"length": 3, "steps": 2000, "rate": 5e-3, "samples": 1000, **trunk(64, 3, 2, 96)},
        "counting": {"length": 10, "steps": 1500, "rate": 5e-3, "samples": 1000, **trunk(32, 3, 2, 96)},
    }
    for command, numbers in defaults.items():
        one = commands.add_parser(command)
        one.add_argument("--networks", default="baselines,code,ablations", help="with commas between")
        one.add_argument("--seeds", type=int, default=1, help="trainings of each network")
        one.add_argument("--length", type=int, default=numbers["length"], help="in training")
        one.add_argument("--steps", type=int, default=numbers["steps"])
        one.add_argument("--batch", type=int, default=32)
        one.add_argument("--rate", type=float, default=numbers["rate"], help="peak learning rate")
        one.add_argument("--samples", type=int, default=numbers["samples"], help="that are tested")
        one.add_argument("--width", type=int, default=numbers["width"])
        one.add_argument("--layers", type=int, default=numbers["layers"], help="of CoDE")
        one.add_argument("--heads", type=int, default=numbers["heads"])
        one.add_argument("--inner", type=int, default=numbers["inner"])
        one.add_argument("--features", type=int, default=64 if command == "copy" else 32)
        one.add_argument("--alpha", type=float, default=1e-5)
        one.add_argument("--plain", type=int, default=1, help="plain layers of CoDE")
        one.add_argument("--spread", type=float, default=SPREAD, help="standard deviation of initial weights")
        if command == "copy":
            one.add_argument("--suffix", type=int, default=SUFFIX, help="signs by which names differ")
            one.add_argument("--signs", type=int, default=len(ALPHABET), help="that names are made of")
        if command == "lengths":
            one.add_argument("--train", dest="train_corpus", required=True, metavar="SPEC")
            one.add_argument("--test", dest="test_corpus", required=True, metavar="SPEC")
            one.add_argument("--files", type=int, default=1500, help="to learn from")
            one.add_argument("--vocabulary", type=int, default=512)
            one.add_argument(
                "--code-bleu", type=Path, metavar="PYTHON", help="an interpreter with the package codebleu"
            )
    last = commands.add_parser("features")
    last.add_argument("--model", required=True, help="a checkpoint of CoDE")
    last.add_argument("--test", dest="test_corpus", required=True, metavar="SPEC")
    last.add_argument("--functions", type=int, default=600)
    for one in commands.choices.values():
        one.add_argument("--out", type=Path, default=Path("code-modelling"))
        one.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args(words)
    torch.set_num_threads(asked.threads)
    asked.out.mkdir(parents=True, exist_ok=True)
    if asked.command == "features":
        text = features(asked.model, asked.test_corpus, asked.functions)
    else:
        text = sweep(parser, asked)
    (asked.out / f"{asked.command}.md").write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

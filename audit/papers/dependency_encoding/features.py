"""What the features of CoDE stand for (section 5.4; Tables 12 to 14, Figures 4 and 5).

The paper asks GPT-4o for explanations. Here a feature is a detector of lines of one kind. Its quality is the
area under its ROC curve (AUROC): how often it is higher on a line of the kind than on another line. One half
of the texts chooses the best feature, the other half measures it.

A feature is read at a line break. `read` asks for the kind of the line that it ends, `announced` for that of
the line that comes next, which it encodes (section 3.2).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch

from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.papers import checkpoint
from codeaudit.audit.papers.dependency_encoding.comparison import TaskLearner, made_task, recipe_of
from codeaudit.audit.papers.dependency_encoding.made_code import COUNTING_WORDS, counting_sample
from codeaudit.audit.papers.dependency_encoding.model import DecoderModel
from codeaudit.audit.papers.dependency_encoding.networks import LineAttention, build
from codeaudit.audit.papers.dependency_encoding.trunk import Decoder
from codeaudit.audit.papers.experiments import Bench, PaperTrial
from codeaudit.transforms.errors import SourceError, UsageError

KINDS: Final[Mapping[str, str]] = {
    "import": r"\s*(?:import|from)\s",
    "def": r"\s*(?:async\s+)?def\s",
    "return": r"\s*return\b",
    "loop": r"\s*(?:for|while|async for)\b",
    "call": r"\s*[\w.]+\(.*\)\s*$",
}
"""The kinds of lines."""
OPERATIONS: Final[Mapping[str, str]] = {
    "pass": r"pass$",
    "var0 = 0": r"var0 = 0$",
    "print(var0)": r"print",
    "var0++": r"var0\+\+$",
}
"""Those of Counting."""
FEWEST: Final = 20
"""A kind with fewer lines in one of the halves is left out."""
SHOWN: Final = 3
PAIRS: Final = ("first pair", "second pair", "third pair")
ALL: Final = "the most active features"

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FeatureLines:
    """Line breaks with their lines and features."""

    active: Numbers
    """(N, features of all layers)"""
    read: Sequence[str]
    announced: Sequence[str]

    def marks(self, pattern: str, when: str) -> npt.NDArray[np.bool_]:
        """(N,) which of the lines are of a kind."""
        lines = self.read if when == "read" else self.announced
        return np.array([re.match(pattern, line) is not None for line in lines])


def explained(bench: Bench) -> Iterator[PaperTrial]:
    """Table 12: the best feature of each kind of line."""

    def measure(row: str, seed: int) -> list[PaperTrial]:
        model, network = _read(bench)
        torch.manual_seed(seed)
        fresh = build("code", network.sizes, model.config.options).eval().to(model.device)
        texts = _texts(bench)
        both = [
            [_lines(decoder, *_readable(model, texts[half::2])) for half in (0, 1)]
            for decoder in (network, fresh)
        ]
        return [_judged(kind, pattern, both, network, seed) for kind, pattern in KINDS.items()]

    yield from bench.trials(measure)


def operations(bench: Bench) -> Iterator[PaperTrial]:
    """Table 14: the best feature of each operation of Counting."""
    device = checkpoint.usable_device(bench.device)

    def measure(row: str, seed: int) -> list[PaperTrial]:
        language = made_task("counting", bench.settings)
        learner = TaskLearner(language, recipe_of(bench.settings, "code", seed), device=device)
        network = bench.fitted(learner, "code", seed).network.to(device).eval()
        torch.manual_seed(seed)
        fresh = learner.make().eval().to(device)
        both = []
        for decoder in (network, fresh):
            rng = np.random.default_rng([seed, 5])
            size, tested = bench.settings["counting"], bench.settings["tested"]
            pieces = [[counting_sample(rng, size) for _ in range(tested)] for _ in range(2)]
            ids = [[COUNTING_WORDS.ids(sample[:-1]) for sample in half] for half in pieces]
            texts = [["".join(sample[:-1]) for sample in half] for half in pieces]
            both.append([_lines(decoder, *half) for half in zip(ids, texts, strict=True)])
        return [_judged(kind, pattern, both, network, seed) for kind, pattern in OPERATIONS.items()]

    yield from bench.trials(measure)


def pairs(bench: Bench) -> Iterator[PaperTrial]:
    """Table 13, Figures 4 and 5: scores (d) between features of the last layer, and features in a plane."""

    def measure(row: str, seed: int) -> list[PaperTrial]:
        model, network = _read(bench)
        features = _lines(network, *_readable(model, _texts(bench)))
        scores, count = scores_of(network), network.sizes.features
        last = features.active[:, -count:]
        often = np.argsort(-(last > 0).mean(0), kind="stable")[: bench.settings["features"]]
        inner = scores[np.ix_(often, often)]
        best = np.argsort(-np.where(np.eye(len(often), dtype=bool), -np.inf, inner), axis=None, kind="stable")
        trials = []
        for name, place in zip(PAIRS, best, strict=False):
            one, other = (int(often[at]) for at in np.unravel_index(place, inner.shape))
            first = features.active.shape[1] - count
            text = ". ".join(
                f"{_named(network, at - count)}: {_examples(features, first + at, 'read')}"
                for at in (one, other)
            )
            value = float(scores[one, other])
            trials.append(PaperTrial(row=name, seed=seed, scores={"(d)": value}, notes=[f"{name}: {text}"]))
        attention: Any = network.blocks[-1].attention
        plane = in_plane(attention.dictionary.columns.detach().double().cpu().numpy().T)
        shown = np.clip(inner, 0, 0.3)
        all_of_them = PaperTrial(
            row=ALL, seed=seed, matrices={"scores": shown.tolist()}, series={"plane": plane[often].tolist()}
        )
        return [*trials, all_of_them]

    yield from bench.trials(measure)
    yield from replace(bench, rows=(ALL,)).trials(measure)


@torch.no_grad()
def scores_of(network: Decoder) -> Numbers:
    """(C, C) the mean over heads of the term (d) of pairs of features of the last layer, each active by 1."""
    attention: Any = network.blocks[-1].attention
    columns = attention.dictionary.columns.T
    query, key = attention.query(columns), attention.key(columns)
    width = query.shape[1] // attention.heads
    scores: Numbers = (query @ key.T / width**0.5 / attention.heads).double().cpu().numpy()
    return scores


def in_plane(points: Numbers) -> Numbers:
    """(N, 2) the two main axes of (N, D) points."""
    centred = points - points.mean(0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    plane: Numbers = centred @ axes[:2].T
    return plane


def _read(bench: Bench) -> tuple[DecoderModel, Decoder]:
    place = bench.settings["model"]
    model = DecoderModel.load(place, device=checkpoint.usable_device(bench.device))
    network = model.module
    if not isinstance(network, Decoder) or model.config.network != "code":
        raise UsageError(f"{place} is no CoDE checkpoint, so it has no features")
    return model, network


def _texts(bench: Bench) -> list[str]:
    texts = list(dict.fromkeys(sample.source for sample in corpus(f"{bench.data}:test").read(Counter())))
    order = np.random.default_rng(0).permutation(len(texts))
    return [texts[at] for at in order[: bench.settings["functions"]]]


def _readable(model: DecoderModel, texts: Sequence[str]) -> tuple[list[list[int]], list[str]]:
    """Tokens of the texts that can be read, and these texts."""
    ids, kept = [], []
    for text in texts:
        try:
            tokens = model.streams.ids(text)
        except SourceError:
            continue
        ids.append([model.streams.start, *tokens[:2000]])
        kept.append(text)
    return ids, kept


@torch.no_grad()
def _lines(network: Decoder, ids: Sequence[Sequence[int]], texts: Sequence[str]) -> FeatureLines:
    """The features at every line break that has a line on both sides."""
    parts, read, announced = [], [], []
    for row, text in zip(ids, texts, strict=True):
        lines = text.split("\n")
        _, places = network.hidden(torch.tensor([row], device=network.tokens.weight.device))
        ends = places.ends[0].nonzero()[1:, 0]
        ends = ends[: len(lines) - 1]
        parts.append(torch.cat(places.codes, -1)[0, ends].double().cpu().numpy())
        read += lines[: len(ends)]
        announced += lines[1 : len(ends) + 1]
    return FeatureLines(np.concatenate(parts), read, announced)


def _judged(
    kind: str, pattern: str, both: Sequence[Sequence[FeatureLines]], network: Decoder, seed: int
) -> PaperTrial:
    """The AUROC of the best feature of a kind; `both` are halves of lines of two networks, one untrained."""
    scores, notes = {}, []
    for when in ("read", "announced"):
        for label, halves in (("", both[0]), (", untrained", both[1])):
            marks = [half.marks(pattern, when) for half in halves]
            if min(int(mark.sum()) for mark in marks) < FEWEST:
                if not label:
                    notes.append(f"{kind}, {when}: a half of the texts has fewer than {FEWEST} such lines")
                continue
            best = int(np.argmax(auroc(halves[0].active, marks[0])))
            scores[f"{when}{label}"] = float(auroc(halves[1].active[:, best : best + 1], marks[1])[0])
            if not label:
                name = _named(network, best - halves[1].active.shape[1])
                notes.append(f"{kind}, {when}: feature {name}, such as {_examples(halves[1], best, when)}")
    return PaperTrial(row=kind, seed=seed, scores=scores, notes=notes)


def auroc(values: Numbers, marks: npt.NDArray[np.bool_]) -> Numbers:
    """(C,) AUROC of each column of (N, C): how often it is higher under `marks`; ties count half."""
    areas = []
    for column in values.T:
        _, places, counts = np.unique(column, return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
        positive, negative = int(marks.sum()), int((~marks).sum())
        areas.append((ranks[marks].sum() - positive * (positive + 1) / 2) / (positive * negative))
    return np.array(areas)


def _named(network: Decoder, number: int) -> str:
    """Layer and number of a feature that is counted from the last one, as in the paper: `4-72`."""
    size, layers = network.sizes.features, len(network.blocks)
    lines = sum(isinstance(block.attention, LineAttention) for block in network.blocks)
    layer, place = divmod(number + lines * size, size)
    return f"{layers - lines + layer + 1}-{place}"


def _examples(features: FeatureLines, number: int, when: str) -> str:
    """The lines on which a feature is most active."""
    order = np.argsort(-features.active[:, number], kind="stable")
    lines = features.read if when == "read" else features.announced
    examples = list(dict.fromkeys(lines[at].strip() for at in order if lines[at].strip()))[:SHOWN]
    return "; ".join(f"`{line[:70]}`" for line in examples)

"""What do the features of a CoDE checkpoint stand for? Looks at the lines on which they are active.

The paper asks GPT-4o for explanations (section 5.4, tables 12 to 14). Here a feature is a detector of lines
of one kind. Its quality is the area under its ROC curve (AUROC): how often it is higher on a line of the kind
than on another line. One half of the functions chooses the best feature, the other half measures it.

A feature is read at a line break. `read` asks for the kind of the line that it ends, `announced` for that of
the line that comes next, which it encodes (section 3.2).
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import torch

from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.papers.dependency_encoding.model import DecoderModel
from codeaudit.audit.papers.dependency_encoding.networks import build
from codeaudit.audit.papers.dependency_encoding.trunk import Decoder
from codeaudit.transforms.errors import SourceError

KINDS: Final[Mapping[str, re.Pattern[str]]] = {
    "import": re.compile(r"\s*(?:import|from)\s"),
    "def": re.compile(r"\s*(?:async\s+)?def\s"),
    "return": re.compile(r"\s*return\b"),
    "loop": re.compile(r"\s*(?:for|while|async for)\b"),
    "call": re.compile(r"\s*[\w.]+\(.*\)\s*$"),
}
"""The kinds of lines. A line has the first kind that matches, or none; a call is a line of no other kind."""
FEWEST: Final = 20
"""A kind with fewer lines in one of the halves is left out."""
SHOWN: Final = 3

Numbers = npt.NDArray[np.float64]


def features(place: str, spec: str, functions: int) -> str:
    """Markdown: the best feature of each kind of line, and the lines on which it is most active.

    Raises:
        SystemExit: the checkpoint has no features.
    """
    model = DecoderModel.load(place, device="cpu")
    network = model.module
    if not isinstance(network, Decoder) or model.config.network != "code":
        raise SystemExit(f"{place} is no CoDE checkpoint, so it has no features")
    torch.manual_seed(0)
    fresh = build("code", network.sizes, model.config.options).eval()
    texts = _texts(spec, functions)
    halves = [texts[0::2], texts[1::2]]
    found = [_read(model, network, half) for half in halves]
    random = [_read(model, fresh, half) for half in halves]
    lines = [
        f"### Features of {place}: AUROC of the best feature of each kind of line",
        "",
        "| kind | lines | read: feature | AUROC | untrained | announced: feature | AUROC | untrained |",
        "|---|---:|---|---:|---:|---|---:|---:|",
    ]
    examples = []
    for kind, pattern in KINDS.items():
        cells = [kind]
        for when in ("read", "announced"):
            told = [_judged(both, pattern, when) for both in (found, random)]
            if when == "read":
                cells.append(f"{int(_marks(found[1], pattern, when).sum()):,}")
            if told[0] is None or told[1] is None:
                cells += ["–", "–", "–"]
                continue
            name, score = told[0]
            cells += [_named(network, name), f"{score:.3f}", f"{told[1][1]:.3f}"]
            examples += _examples(found[1], network, kind, when, name)
        lines.append(f"| {' | '.join(cells)} |")
    active = (found[1].active > 0).mean()
    lines += [
        "",
        f"{len(texts):,} functions, {len(found[0].read) + len(found[1].read):,} lines; "
        f"of {found[1].active.shape[1]} features {active:.0%} are active on a line. "
        "Chosen on one half of the functions, measured on the other; "
        "beside it the same for a network with random weights. A feature's name is its layer and its number.",
        "",
        *examples,
    ]
    return "\n".join(lines)


class Lines:
    """Line breaks with their kinds and features."""

    def __init__(self) -> None:
        self.active: Numbers = np.zeros((0, 0))
        """(N, features of all layers)"""
        self.read: list[str] = []
        self.announced: list[str] = []


def _texts(spec: str, count: int) -> list[str]:
    found = list(dict.fromkeys(sample.source for sample in corpus(spec).read(Counter())))
    return [found[at] for at in np.random.default_rng(0).permutation(len(found))[:count]]


@torch.no_grad()
def _read(model: DecoderModel, network: Decoder, texts: list[str]) -> Lines:
    """The features at every line break that has a line on both sides."""
    found, parts = Lines(), []
    for text in texts:
        try:
            ids = model.streams.ids(text)
        except SourceError:
            continue
        lines = text.split("\n")
        _, places = network.hidden(torch.tensor([[network.sizes.start, *ids[:2000]]]))
        ends = places.ends[0].nonzero()[1:, 0]
        ends = ends[: len(lines) - 1]
        parts.append(torch.cat(places.codes, -1)[0, ends].double().numpy())
        found.read += lines[: len(ends)]
        found.announced += lines[1 : len(ends) + 1]
    found.active = np.concatenate(parts)
    return found


def _marks(found: Lines, pattern: re.Pattern[str], when: str) -> npt.NDArray[np.bool_]:
    lines = found.read if when == "read" else found.announced
    return np.array([pattern.match(line) is not None for line in lines])


def _judged(halves: list[Lines], pattern: re.Pattern[str], when: str) -> tuple[int, float] | None:
    marks = [_marks(half, pattern, when) for half in halves]
    if min(int(one.sum()) for one in marks) < FEWEST:
        return None
    best = int(np.argmax(auroc(halves[0].active, marks[0])))
    return best, float(auroc(halves[1].active[:, best : best + 1], marks[1])[0])


def auroc(values: Numbers, marks: npt.NDArray[np.bool_]) -> Numbers:
    """(C,) AUROC of each column of (N, C): how often it is higher under `marks`; ties count half."""
    found = []
    for column in values.T:
        _, places, counts = np.unique(column, return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
        positive, negative = int(marks.sum()), int((~marks).sum())
        found.append((ranks[marks].sum() - positive * (positive + 1) / 2) / (positive * negative))
    return np.array(found)


def _named(network: Decoder, number: int) -> str:
    size = network.sizes.features
    first = network.sizes.layers - sum(1 for _ in _line_wise(network))
    return f"{first + number // size}-{number % size}"


def _line_wise(network: Decoder) -> list[torch.nn.Module]:
    return [module for name, module in network.named_modules() if name.endswith("dictionary")]


def _examples(found: Lines, network: Decoder, kind: str, when: str, number: int) -> list[str]:
    order = np.argsort(-found.active[:, number], kind="stable")
    lines = found.read if when == "read" else found.announced
    shown = list(dict.fromkeys(lines[at].strip() for at in order if lines[at].strip()))[:SHOWN]
    quoted = "; ".join(f"`{line[:70]}`" for line in shown)
    return [f"- {kind}, {when}, {_named(network, number)}: {quoted}"]

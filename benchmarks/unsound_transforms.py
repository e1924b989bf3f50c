"""How much of a published "lack of robustness" is code that no longer does the same.

    python benchmarks/unsound_transforms.py TRAIN TEST FOLDER ... [--functions N] [--judged N]

The tables are those of `c_faults.py`. A regression on counts of tokens learns TRAIN; its balanced accuracy
on TEST is told. Then functions of the folders are rewritten by three steps as they stand in published suites,
and by ours. One variant of each is compiled and called with the same drawn arguments as the original, first
those with a changed prediction, whose numbers stand in brackets: how many of these "violations" do not
compile, behave otherwise, or do the same?

The three steps are our own writing of the published ideas:

- a `for` becomes a `while`, with its step also in front of `break` (as in NatGen, Chakraborty et al. 2022);
- a variable is renamed wherever its name stands in the text, so also in fields and in macros;
- two neighbouring statements are exchanged if neither has the name that the other one assigns.
"""

import argparse
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
import numpy.typing as npt

from codeaudit.audit.corpora.c_faults import UNFIT, Sanitizers
from codeaudit.audit.corpora.c_files import functions
from codeaudit.transforms.c.parsing import named, read_unit
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, is_surrounded
from codeaudit.transforms.oracle.oracle import Agreed, Differed
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.syntax.reader import Node

OURS: Final = ("rename", "reorder", "for-to-while")
_TOKEN: Final = re.compile(r"[A-Za-z_]\w*|\d+|[-+<>=!&|]{1,2}|\S")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_COLUMNS: Final = 1 << 15
_LOOPS: Final = frozenset({"for_statement", "while_statement", "do_statement", "switch_expression"})

Rewrite = Callable[[str, Random], str | None]


# ── the model ────────────────────────────────────────────────────────────────────────────────────────────


def features(source: str) -> dict[int, float]:
    """Logarithms of the counts of tokens and of pairs of neighbours."""
    tokens = _TOKEN.findall(source)
    pairs = (f"{one} {other}" for one, other in pairwise(tokens))
    counts = Counter(zlib.crc32(one.encode()) % _COLUMNS for one in (*tokens, *pairs))
    return {place: float(np.log1p(count)) for place, count in counts.items()}


class Regression:
    """A logistic regression on counts, learned by steps of one example."""

    def __init__(self, rows: Sequence[tuple[str, int]], *, epochs: int = 8, rate: float = 0.05) -> None:
        self._weights: npt.NDArray[np.float64] = np.zeros(_COLUMNS)
        self._bias = 0.0
        known = [(features(source), label) for source, label in rows]
        order = Random(0)
        for _ in range(epochs):
            order.shuffle(known)
            for found, label in known:
                error = label - 1 / (1 + np.exp(-self._logit(found)))
                step = rate * error
                self._bias += step
                for place, value in found.items():
                    self._weights[place] += step * value - 1e-5 * self._weights[place]

    def _logit(self, found: dict[int, float]) -> float:
        return float(self._bias + sum(self._weights[place] * value for place, value in found.items()))

    def says(self, source: str) -> bool:
        """Whether it calls a function vulnerable."""
        return bool(self._logit(features(source)) > 0)


def balanced_accuracy(model: Regression, rows: Sequence[tuple[str, int]]) -> tuple[float, float]:
    """The mean of both recalls, and the share of pairs in which only the faulty side is called vulnerable."""
    said = [(model.says(source), label) for source, label in rows]
    recalls = [np.mean([told == bool(label) for told, label in said if label == side]) for side in (0, 1)]
    pairs = list(zip(said[::2], said[1::2], strict=True))
    return float(np.mean(recalls)), float(np.mean([one[0] and not other[0] for one, other in pairs]))


# ── as published ─────────────────────────────────────────────────────────────────────────────────────────


def step_before_break(source: str, rng: Random) -> str | None:
    """`for` as `while`, with the step in front of each `break`."""
    reading, function = read_unit(source)
    text = reading.source
    loops = [
        node
        for node in function.walk()
        if node.kind == "for_statement"
        and node.child("update")
        and node.child("condition")
        and _leaving(node)
    ]
    if not loops:
        return None
    loop = rng.choice(loops)
    shown = {
        name: text[one.start : one.end].decode()
        for name in ("condition", "update")
        if (one := loop.child(name))
    }
    init, body = loop.child("init"), loop.part("body")
    begin = text[init.start : init.end].decode().rstrip(";") + ";" if init is not None else ""
    inner = text[body.start : body.end]
    for one in sorted(_leaving(loop), key=lambda node: -node.start):
        here = one.start - body.start
        inner = (
            inner[:here]
            + f"{{ {shown['update']}; ".encode()
            + inner[here : one.end - body.start]
            + b" }"
            + inner[one.end - body.start :]
        )
    new = f"{{ {begin} while ({shown['condition']}) {{ {inner.decode()} {shown['update']}; }} }}"
    return (text[: loop.start] + new.encode() + text[loop.end :]).decode()


def _leaving(loop: Node) -> list[Node]:
    """The `break` and `continue` of a loop itself."""
    found: list[Node] = []
    pending = [loop.part("body")]
    while pending:
        node = pending.pop()
        if node.kind in ("break_statement", "continue_statement"):
            found.append(node)
        elif node.kind not in _LOOPS:
            pending += node.children
    return found if any(one.kind == "break_statement" for one in found) else []


def rename_text(source: str, rng: Random) -> str | None:
    """Another name for a variable wherever the word stands."""
    reading, function = read_unit(source)
    names = {
        reading.text(name)
        for node in function.walk()
        if node.kind in ("parameter_declaration", "local_variable_declaration", "variable_declarator")
        and (name := named(node)) is not None
        and name.kind == "identifier"
    }
    if not names:
        return None
    old = rng.choice(sorted(names))
    return re.sub(rf"\b{re.escape(old)}\b", f"v{rng.randrange(100)}", source)


def swap_by_names(source: str, rng: Random) -> str | None:
    """Two neighbours exchanged, of which neither has the name that the other one assigns."""
    reading, function = read_unit(source)
    found: list[tuple[Node, Node]] = []
    for block in function.walk():
        if block.kind == "block":
            for one, other in pairwise(block.children):
                texts = [reading.text(node) for node in (one, other)]
                if one.kind != "expression_statement" or other.kind != "expression_statement":
                    continue
                first, second = ((_NAME.findall(text) or [""])[0] for text in texts)
                if first not in _NAME.findall(texts[1]) and second not in _NAME.findall(texts[0]):
                    found.append((one, other))
    if not found:
        return None
    one, other = rng.choice(found)
    text = reading.source
    parts = (
        text[: one.start],
        text[other.start : other.end],
        text[one.end : other.start],
        text[one.start : one.end],
        text[other.end :],
    )
    return b"".join(parts).decode()


def ours(name: str, context: str) -> Rewrite:
    """A transform of the catalogue, with the file around the function."""

    def rewrite(source: str, rng: Random) -> str | None:
        transform = transform_for(name, "c")
        known = transform.within(context) if is_surrounded(transform) else transform
        moves = known.propose(source, rng)
        found = moves if isinstance(moves, Refused) else known.apply(source, moves)
        return None if isinstance(found, Refused) else found.source

    return rewrite


PUBLISHED: Final[dict[str, Rewrite]] = {
    "step before `break`": step_before_break,
    "renamed as text": rename_text,
    "exchanged by names": swap_by_names,
}


# ── the comparison ───────────────────────────────────────────────────────────────────────────────────────


def variants(source: str, rewrite: Rewrite, tries: int = 4) -> Iterator[str]:
    """Different variants of a function."""
    seen = {source}
    for number in range(tries):
        try:
            found = rewrite(source, Random(number))
        except SourceError:
            return
        if found is not None and found not in seen:
            seen.add(found)
            yield found


def read(path: Path) -> list[dict[str, object]]:
    """The rows of a table."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main() -> int:
    """Print the scores and the table."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("train", type=Path, metavar="TRAIN.jsonl")
    parser.add_argument("test", type=Path, metavar="TEST.jsonl")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--functions", type=int, default=300, help="that are rewritten")
    parser.add_argument("--judged", type=int, default=40, help="variants of each step that are executed")
    asked = parser.parse_args()
    tables = [
        [(str(row["func"]), int(str(row["target"]))) for row in read(path)]
        for path in (asked.train, asked.test)
    ]
    model = Regression(tables[0])
    score, pairs = balanced_accuracy(model, tables[1])
    print(f"learned {len(tables[0]):,} rows; on {len(tables[1]):,} others:")
    print(f"balanced accuracy {score:.1%}, pairs right {pairs:.1%}")
    contexts = {
        one.source: one.context
        for folder in asked.folders
        for path in sorted(folder.rglob("*.c"))
        for one in functions(path.read_text(encoding="utf-8", errors="replace"), str(path), Counter())
    }
    drawn = sorted(contexts)
    Random(0).shuffle(drawn)
    drawn = drawn[: asked.functions]
    print(f"{len(drawn):,} functions\n")
    heads = ("step", "movable", "changed", "executed", "no code", "otherwise", "the same", "not decided")
    print(f"| {' | '.join(heads)} |")
    print(f"|---|{'---:|' * (len(heads) - 1)}")
    with Sanitizers() as judges:
        for name in (*PUBLISHED, *OURS):
            made: list[tuple[bool, str, str]] = []
            for source in drawn:
                found = list(variants(source, PUBLISHED.get(name) or ours(name, contexts[source])))
                flipped = [one for one in found if model.says(one) != model.says(source)]
                if found:
                    made.append((not flipped, source, (flipped or found)[0]))
            told: Counter[tuple[str, bool]] = Counter()
            # Those with a changed prediction first.
            for is_held, source, variant in sorted(made, key=lambda one: one[0])[: asked.judged]:
                told[_judged(judges, source, variant, contexts[source]), not is_held] += 1
            counts = [
                f"{told[one, True] + told[one, False]} ({told[one, True]})"
                for one in ("no code", "other", "same", "unknown")
            ]
            changed = sum(not is_held for is_held, _, _ in made)
            print(f"| {name} | {len(made)} | {changed} | {told.total()} | {' | '.join(counts)} |", flush=True)
    return 0


def _judged(judges: Sanitizers, source: str, variant: str, context: str) -> str:
    found = judges.judge(source, variant, setup=context)
    match found:
        case Differed():
            return "other"
        case Agreed():
            return "same"
    return "no code" if found.reason == UNFIT else "unknown"


if __name__ == "__main__":
    sys.exit(main())

"""How much of a published "lack of robustness" is code that no longer does the same.

    python benchmarks/unsound_transforms.py TRAIN FOLDER ... [--checkpoint CHECKPOINT] [--functions N]

From TRAIN, a table of `c_faults.py`, a regression on counts of tokens learns (`c_detectors.py`). Functions of
the folders that can be called, and to which the first or the third step fits, are rewritten by three steps as
they stand in published suites, and by ours, each once. All variants of a function are compiled and called
with the same drawn arguments as the original. Which do not compile, behave otherwise, or do the same? And how
many of the changed answers of a detector, which would be published as a lack of robustness, stand under a
variant that does the same?

The three steps are our own writing of the published ideas:

- a `for` becomes a `while`, with its step also in front of `break` (as in NatGen, Chakraborty et al. 2022);
- a variable is renamed wherever its name stands in the text, so also in fields and in macros;
- two neighbouring statements are exchanged if neither has the name that the other one assigns.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from c_detectors import Regression, Row, network, read

from codeaudit.audit.corpora.c_faults import UNFIT, Sanitizers
from codeaudit.audit.corpora.c_files import functions
from codeaudit.audit.corpora.c_harness import harness, with_headers
from codeaudit.reports.statistics.intervals import wilson
from codeaudit.transforms.c.parsing import named, read_unit
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.oracle.oracle import Agreed, Differed, Verdict
from codeaudit.transforms.perturb import perturb_one
from codeaudit.transforms.records import Perturbed, Sample
from codeaudit.transforms.registry import transform_for
from codeaudit.transforms.syntax.reader import Node

OURS: Final = ("rename", "reorder", "for-to-while")
RARE: Final = frozenset({"step before `break`", "exchanged by names"})
"""Only functions that one of these fits are counted; the other steps fit nearly all."""
TRIES: Final = 4
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_LOOPS: Final = frozenset({"for_statement", "while_statement", "do_statement", "switch_expression"})

Rewrite = Callable[[str, Random], str | None]


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
        name: text[node.start : node.end].decode()
        for name in ("condition", "update")
        if (node := loop.child(name))
    }
    init, body = loop.child("init"), loop.part("body")
    begin = text[init.start : init.end].decode().rstrip(";") + ";" if init is not None else ""
    inner = text[body.start : body.end]
    for node in sorted(_leaving(loop), key=lambda node: -node.start):
        here = node.start - body.start
        inner = (
            inner[:here]
            + f"{{ {shown['update']}; ".encode()
            + inner[here : node.end - body.start]
            + b" }"
            + inner[node.end - body.start :]
        )
    new = f"{{ {begin} while ({shown['condition']}) {{ {inner.decode()} {shown['update']}; }} }}"
    return (text[: loop.start] + new.encode() + text[loop.end :]).decode()


def _leaving(loop: Node) -> list[Node]:
    """The `break` and `continue` of a loop itself."""
    jumps: list[Node] = []
    pending = [loop.part("body")]
    while pending:
        node = pending.pop()
        if node.kind in ("break_statement", "continue_statement"):
            jumps.append(node)
        elif node.kind not in _LOOPS:
            pending += node.children
    return jumps if any(jump.kind == "break_statement" for jump in jumps) else []


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
    pairs: list[tuple[Node, Node]] = []
    for block in function.walk():
        if block.kind == "block":
            for one, other in pairwise(block.children):
                texts = [reading.text(node) for node in (one, other)]
                if one.kind != "expression_statement" or other.kind != "expression_statement":
                    continue
                first, second = ((_NAME.findall(text) or [""])[0] for text in texts)
                if first not in _NAME.findall(texts[1]) and second not in _NAME.findall(texts[0]):
                    pairs.append((one, other))
    if not pairs:
        return None
    one, other = rng.choice(pairs)
    text = reading.source
    parts = (
        text[: one.start],
        text[other.start : other.end],
        text[one.end : other.start],
        text[one.start : one.end],
        text[other.end :],
    )
    return b"".join(parts).decode()


def ours(name: str, sample: Sample) -> str | None:
    """A variant of a transform of the catalogue, which knows the file around the function."""
    made = perturb_one(sample, transform_for(name, "c"), variants=1, seed=0)
    return next((outcome.source for outcome in made if isinstance(outcome, Perturbed)), None)


PUBLISHED: Final[dict[str, Rewrite]] = {
    "step before `break`": step_before_break,
    "renamed as text": rename_text,
    "exchanged by names": swap_by_names,
}


# ── the comparison ───────────────────────────────────────────────────────────────────────────────────────


class Made(NamedTuple):
    """A variant with what became of it."""

    step: str
    verdict: str
    changed: tuple[bool, ...]
    """For each detector, whether its answer is another one."""


def variant(source: str, rewrite: Rewrite) -> str | None:
    """The first variant of a function that is another text."""
    for number in range(TRIES):
        try:
            text = rewrite(source, Random(number))
        except SourceError:
            return None
        if text is not None and text != source:
            return text
    return None


def told(verdict: Verdict) -> str:
    """A verdict as a column of the table."""
    match verdict:
        case Differed():
            return "otherwise"
        case Agreed():
            return "the same"
    return "no code" if verdict.reason == UNFIT else "not decided"


def share(count: int, total: int) -> str:
    """A count with its share and Wilson's interval of 95 %."""
    if not total:
        return "–"
    low, high = wilson(count, total)
    return f"{count} of {total} ({100 * low:.0f} to {100 * high:.0f} %)"


def main() -> int:
    """Print the table."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("train", type=Path, metavar="TRAIN.jsonl")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--checkpoint", help="a detector of `codeaudit train`, beside the regression")
    parser.add_argument("--functions", type=int, default=300, help="that are rewritten")
    asked = parser.parse_args()
    regression = Regression(read(asked.train))
    names = ["counts", *([asked.checkpoint] if asked.checkpoint else [])]
    samples = {
        sample.source: replace(sample, file=str(path.absolute()))
        for folder in asked.folders
        for path in sorted(folder.rglob("*.c"))
        for sample in functions(path.read_text(encoding="utf-8", errors="replace"), str(path), Counter())
    }
    drawn = sorted(samples)
    Random(0).shuffle(drawn)
    made: list[Made] = []
    counted = 0
    with Sanitizers() as judges:
        for source in drawn:
            if not any(variant(source, PUBLISHED[name]) for name in RARE):
                continue
            sample = samples[source]
            if isinstance(harness(source, with_headers(sample.context, sample.file)), str):
                continue
            steps = {name: variant(source, step) for name, step in PUBLISHED.items()}
            steps |= {name: ours(name, sample) for name in OURS}
            texts = {name: text for name, text in steps.items() if text is not None}
            if (counted := counted + 1) > asked.functions:
                break
            rows = [Row("", text, 0) for text in (source, *texts.values())]
            answers = [[regression.says(row.source) for row in rows]]
            if asked.checkpoint:
                answers.append([bool(answer.said) for answer in network(asked.checkpoint, rows)])
            verdicts = judges.judge_all(
                source, [*texts.values()], setup=with_headers(sample.context, sample.file)
            )
            made += [
                Made(name, told(verdict), tuple(own[number] != own[0] for own in answers))
                for number, (name, verdict) in enumerate(zip(texts, verdicts, strict=True), 1)
            ]
    heads = ["step", "movable", "decided", "no code", "otherwise", "changed meaning"]
    for name in names:
        heads += [f"{name}: changed answers", "of these and decided, changed meaning"]
    print(f"| {' | '.join(heads)} |\n|---|{'---:|' * (len(heads) - 1)}")
    for name in (*PUBLISHED, *OURS):
        own = [edit for edit in made if edit.step == name]
        decided = [edit for edit in own if edit.verdict != "not decided"]
        other = [edit for edit in decided if edit.verdict != "the same"]
        cells = [str(len(own)), str(len(decided))]
        cells += [str(sum(edit.verdict == kind for edit in own)) for kind in ("no code", "otherwise")]
        cells.append(share(len(other), len(decided)))
        for number in range(len(names)):
            cells.append(share(sum(edit.changed[number] for edit in own), len(own)))
            cells.append(share(*(sum(edit.changed[number] for edit in some) for some in (other, decided))))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Figures 2 and 3 of the Renamer paper, from the trained networks of Table 1."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Final

import numpy as np

from codeaudit.audit.checks import load_json
from codeaudit.audit.papers import checkpoint
from codeaudit.audit.papers.experiments import PaperTrial
from codeaudit.audit.papers.renamer.model import TermModel
from codeaudit.audit.records import Predicted, Query
from codeaudit.audit.tasks.throughput import THROUGHPUT
from codeaudit.transforms.x86 import X86
from codeaudit.transforms.x86.legality import choices
from codeaudit.transforms.x86.reading import read
from codeaudit.transforms.x86.rename import renamed

BLOCK: Final = "movq 64(%rsp), %rax\nsubl $1, 56(%rbp)\nmovl 16(%rax), %eax"
"""Renamer, Figure 1(a), with the suffix that an assembler asks for."""
DRAWS: Final = 100_000
BINS: Final = 40


def renamings(networks: Mapping[str, Path], device: str) -> Iterator[PaperTrial]:
    """Figure 2: the answers of each network to the renamings of one block."""
    block, rng = read(BLOCK), Random(0)
    choice = choices(block, stack=True)
    texts = Counter(renamed(block, choice.draw(rng)) for _ in range(DRAWS))
    counted = {text: count for text, count in texts.items() if text is not None}
    queries = [Query(task=THROUGHPUT.name, language=X86.name, source=text) for text in (BLOCK, *counted)]
    weights = np.array(list(counted.values()), dtype=float)
    for name, folder in networks.items():
        model = TermModel.load(str(folder), device=device)
        answers = [
            prediction.answer for prediction in model.predict(queries) if isinstance(prediction, Predicted)
        ]
        original, values = float(str(answers[0])), np.array(answers[1:], dtype=float)
        shares, edges = np.histogram(
            values, BINS, (values.min() - 0.05, values.max() + 0.05), weights=weights / weights.sum()
        )
        middles = (edges[:-1] + edges[1:]) / 2
        yield PaperTrial(
            row=name,
            scores={
                "original": original,
                "mean": float(np.average(values, weights=weights)),
                "lowest": float(values.min()),
                "highest": float(values.max()),
                "answers": float(len(set(answers))),
            },
            series={"renamings": list(zip(middles.tolist(), (100 * shares).tolist(), strict=True))},
            notes=[f"{DRAWS:,} renamings were drawn; {len(counted):,} of them differ."],
        )


def epochs(networks: Mapping[str, Path], device: str) -> Iterator[PaperTrial]:
    """Figure 3: the epochs after which a validation error was reached."""
    for name, folder in networks.items():
        card = load_json((folder / checkpoint.CARD).read_text("utf-8"))
        curve = [epoch["valid"] for epoch in card["epochs"] if "valid" in epoch]
        errors = np.minimum.accumulate(np.array(curve, dtype=float))
        points = [(100 * error, number) for number, error in enumerate(errors.tolist(), start=1)]
        reached = {"best": float(errors[-1]), "epochs": 1.0 + int(np.argmin(errors))}
        yield PaperTrial(row=name, scores=reached, series={"epochs": points})

"""Each preset of `codeaudit train` for some steps: does it fit, and how many tokens a second?

    python benchmarks/training_presets.py --steps 20 --device cpu --batch 2

The corpus is some modules of the standard library, or expressions for Renamer's networks. It has fewer words
than the papers' corpora, so the networks have fewer weights than theirs.
"""

import argparse
import csv
import json
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from codeaudit.audit.papers.presets import PRESETS
from codeaudit.cli.main import main as codeaudit

MODULES: Final = "stdlib:argparse,ast,inspect,logging,pathlib,random,shutil,tarfile,zipfile"
CORPORA: Final = {
    "spe_attention": ("function-name", MODULES),
    "tree_transformer": ("function-name", MODULES),
    "renamer": ("derivative", "algebra:train:2000"),
    "dependency_encoding": ("code-modelling", MODULES),
}


def main() -> None:
    """Train, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("presets", nargs="*", default=list(PRESETS))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, help="Examples a step.  [default: the preset's]")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--limit", type=int, default=400, help="Functions of the corpus.")
    asked = parser.parse_args()
    print("| preset | weights here | batch | tokens/s | share of peak | CPU seconds |")
    print("|---|---|---|---|---|---|", flush=True)
    for name in asked.presets:
        chosen = PRESETS[name]
        task, corpus = CORPORA[chosen.folder]
        with TemporaryDirectory() as folder:
            words = ["train", chosen.networks[0], "--preset", name, "--task", task, "--corpus", corpus]
            words += ["--limit", str(asked.limit), "--steps", str(asked.steps), "--device", asked.device]
            words += ["--log", "csv", "--out", folder, "--workers", "1"]
            if asked.batch:
                words += ["--batch", str(asked.batch)]
            began = time.process_time()
            if codeaudit(words) != 0:
                sys.exit(f"{name} failed")
            seconds = time.process_time() - began
            with (Path(folder) / "training.csv").open(encoding="utf-8") as file:
                steps = list(csv.DictReader(file))[1:]
            card = json.loads((Path(folder) / "model-card.json").read_text(encoding="utf-8"))
        tokens, share = (
            median(float(row[column]) for row in steps) for column in ("tokens_per_second", "share_of_peak")
        )
        batch, weights = asked.batch or chosen.settings["batch"], card["parameters"] / 1e6
        row = f"| `{name}` | {weights:.1f} M | {batch} | {tokens:,.0f} | {share:.0%} | {seconds:.0f} |"
        print(row, flush=True)


if __name__ == "__main__":
    main()

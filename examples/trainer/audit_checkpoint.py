"""Train a small network on a corpus, audit it beside a bundled one, and show an answer that changed.

python audit_checkpoint.py --corpus src/ --out my-model
python audit_checkpoint.py --checkpoint my-model             # audit what was trained before
"""

import argparse
import subprocess
import sys
from pathlib import Path

import codeaudit


def main() -> None:
    """Read the options and do all of it."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--corpus", default="stdlib:json,textwrap,argparse,ast,inspect", help="Python code.")
    options.add_argument("--checkpoint", type=Path, help="A folder of `codeaudit train`; nothing is trained.")
    options.add_argument("--out", type=Path, default=Path("my-model"), help="Folder of the new checkpoint.")
    options.add_argument("--steps", type=int, default=300, help="Steps of the training.")
    options.add_argument("--limit", type=int, default=100, help="Functions of the audit.")
    given = options.parse_args()

    checkpoint = given.checkpoint or trained(given.corpus, given.out, given.steps)
    # A path as a SPEC has a slash: a bare word would be the name of a bundled model.
    run = codeaudit.run(
        [str(checkpoint.resolve()), "vanilla-checkpoint"],
        corpus=given.corpus,
        transforms=["reorder", "rename"],
        limit=given.limit,
    )

    for model in run.summary.models:
        for row in model.by_transform:
            if row.kind == "preserving" and row.violations.rate is not None:
                rate = row.violations
                print(
                    f"{model.model}, {row.transform}: {rate.count} of {rate.total} samples changed "
                    f"({rate.low:.1%} to {rate.high:.1%})"
                )
    print(f"run folder: {run.path}", flush=True)
    if not run.violations().empty:
        subprocess.run([sys.executable, "-m", "codeaudit", "explain", str(run.path)], check=True)


def trained(corpus: str, out: Path, steps: int) -> Path:
    """A small network of the SPE paper, made in a minute; the paper's own are far larger."""
    size = ["--width", "32", "--layers", "1", "--heads", "4", "--vocabulary", "1000", "--rarest-label", "3"]
    words = ["train", "spe", "--corpus", corpus, "--out", str(out), "--steps", str(steps), *size]
    subprocess.run([sys.executable, "-m", "codeaudit", *words], check=True)
    return out


if __name__ == "__main__":
    main()

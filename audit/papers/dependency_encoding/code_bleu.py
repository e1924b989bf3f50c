"""CodeBLEU (Ren et al., 2020) of answers, by the package of that name, in an environment of its own.

    python -m venv bleu && bleu/bin/pip install codebleu==0.7.0 "tree-sitter<0.23" "tree-sitter-python<0.22"
    CODEBLEU_PYTHON=bleu/bin/python codeaudit papers run code/table-2 --data DIR

The package needs a tree-sitter that codeaudit cannot use, so this file imports nothing of codeaudit. It reads
`[[answer, label], …]` as JSON from its input and prints the score of all pairs together, from 0 to 1: the
mean of its four parts. The package itself takes 1 for the last part, the flow of data, where that is 0, and
so gives 25 % to empty answers.
"""

import argparse
import json
import logging
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PARTS = ("ngram_match_score", "weighted_ngram_match_score", "syntax_match_score", "dataflow_match_score")


def code_bleu(pairs: Sequence[tuple[str, str]], python: Path) -> float:
    """The score of answers beside their labels, computed by another interpreter, which has the package."""
    from codeaudit.transforms.errors import RunError

    words = [str(python), "-I", __file__]
    done = subprocess.run(words, input=json.dumps(pairs), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunError(f"{str(python)!r} computes no CodeBLEU: {(done.stderr.splitlines() or [''])[-1]}")
    return float(done.stdout)


def main() -> None:
    """Read pairs and print their score."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    from codebleu import calc_codebleu  # type: ignore[import-not-found]

    logging.disable()  # it warns of every line without a flow of data
    answers, right = zip(*json.load(sys.stdin), strict=True)
    scores = calc_codebleu(list(right), list(answers), lang="python")
    sys.stdout.write(f"{sum(scores[part] for part in PARTS) / len(PARTS)}\n")


if __name__ == "__main__":
    main()

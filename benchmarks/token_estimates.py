"""How far are the estimates of `codeaudit run --dry-run` from the tokens that models count?

    python benchmarks/token_estimates.py cl100k_base.tiktoken o200k_base.tiktoken --corpus TABLE…

The files are OpenAI's vocabularies, as the package `tiktoken` (needed here) downloads them. Each row has a
corpus and a vocabulary: the tokens of the prompts of one task for 2,000 functions, the estimate, and the
ratios of the middle 90 % of the single prompts.
"""

import argparse
import base64
import sys
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import Any, Final

from codeaudit.audit.corpora.records import CorpusResources
from codeaudit.audit.corpora.specs import corpus
from codeaudit.audit.models.endpoints.spending import tokens_of
from codeaudit.audit.models.text_models import built_in
from codeaudit.audit.records import Query

LETTERS: Final = r"[\p{Lm}\p{Lo}\p{M}"
SUFFIX: Final = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
BEFORE: Final = r"[^\r\n\p{L}\p{N}]?"
PATTERNS: Final = {
    "cl100k_base": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "o200k_base": rf"{BEFORE}{LETTERS}\p{{Lu}}\p{{Lt}}]*{LETTERS}\p{{Ll}}]+{SUFFIX}"
    rf"|{BEFORE}{LETTERS}\p{{Lu}}\p{{Lt}}]+{LETTERS}\p{{Ll}}]*{SUFFIX}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}
COUNT: Final = 2000
TASK: Final = "function-name"


def encoding(path: Path) -> Any:
    """The tokenizer of a vocabulary."""
    tiktoken = import_module("tiktoken")  # not among the dependencies
    pairs = (line.split() for line in path.read_text(encoding="ascii").splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    return tiktoken.Encoding(path.stem, pat_str=PATTERNS[path.stem], mergeable_ranks=ranks, special_tokens={})


def texts(spec: str) -> list[str]:
    """The prompts for functions of a corpus."""
    samples = list(islice(corpus(spec, None, CorpusResources()).read(Counter()), 50_000))
    prompt = built_in()[TASK]
    chosen = Random(0).sample(samples, min(COUNT, len(samples)))
    asked = (Query(task=TASK, language=sample.language, source=sample.source) for sample in chosen)
    return ["\n".join(turn.content for turn in prompt.messages(query)) for query in asked]


def row(prompts: Sequence[str], tokenizer: Any) -> str:
    """The cells of a corpus."""
    true = [len(tokenizer.encode(text)) for text in prompts]
    estimates = [tokens_of(text) for text in prompts]
    cuts = quantiles([one / other for one, other in zip(estimates, true, strict=True)], n=20)
    ratio = sum(estimates) / sum(true)
    return f"{sum(true):,} | {sum(estimates):,} | {ratio:.3f} | {cuts[0]:.2f}–{cuts[-1]:.2f}"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vocabulary", nargs="+", type=Path)
    parser.add_argument("--corpus", nargs="+", default=["stdlib"])
    asked = parser.parse_args()
    print("| corpus | vocabulary | tokens | estimate | ratio | single prompts |")
    print("|---|---|---|---|---|---|")
    for spec in asked.corpus:
        prompts = texts(spec)
        for path in asked.vocabulary:
            print(f"| {Path(spec).name} | {path.stem} | {row(prompts, encoding(path))} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Rows in the columns of Devign, from commits of projects that say that they mend a flaw, and from others.

    python benchmarks/devign_rows.py OUT.jsonl PROJECT=REPOSITORY ... [--commits N] [--seed N]

As in Devign (Zhou et al. 2019, section 3.1): a function that such a commit changes is vulnerable as it was
before (target 1), a function that another commit changes is not (target 0). The words of the message decide;
nobody has read the commits. Commits that change more than two files of C or three functions are left out, and
functions of 60 lines or more.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from codeaudit.transforms.c.parsing import C, places
from codeaudit.transforms.errors import SourceError

MENDED: Final = re.compile(
    r"(?i)\bCVE-\d|(buffer|heap|stack|integer|int)[- ](over|under)(flow|run|read|write)|out[- ]of[- ]bounds"
    r"|use[- ]after[- ]free|double[- ]free|null (pointer )?deref|over-?read|memory corruption"
    r"|security (fix|issue|bug)"
)
MAYBE: Final = re.compile(
    r"(?i)secur|overflow|overrun|bounds|leak|free|null|crash|fuzz|vulnerab|sanitiz|memory"
)
"""Of a message with such a word nobody knows whether its commit mends a flaw."""
FEWEST: Final = 4
MOST: Final = 60
"""Lines of a function."""


def told(repository: Path, *words: str) -> str:
    """What git says."""
    done = subprocess.run(["git", "-C", str(repository), *words], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace")


def commits(repository: Path) -> Iterator[tuple[str, bool]]:
    """Commits that change files of C, each with whether its message says that it mends a flaw."""
    shown = told(repository, "log", "--no-merges", "--format=%x00%H%x01%B", "--", "*.c")
    for entry in shown.split("\0")[1:]:
        commit, _, message = entry.partition("\x01")
        if MENDED.search(message):
            yield commit, True
        elif not MAYBE.search(message):
            yield commit, False


def functions(text: str) -> dict[str, str]:
    """The functions of a file by name."""
    source = text.encode()
    try:
        defined = places(source, C)
    except SourceError:
        return {}
    return {place.name: source[place.start : place.end].decode("utf-8", "replace") for place in defined}


def changed(repository: Path, commit: str) -> list[str]:
    """The functions that a commit changes, as they were before; none if it changes too much."""
    names = told(repository, "diff-tree", "--no-commit-id", "--name-only", "-r", commit).split("\n")
    files = [name for name in names if name.endswith(".c") and "test" not in name]
    if len(files) > 2:
        return []
    texts: list[str] = []
    for name in files:
        before, after = (functions(told(repository, "show", f"{at}:{name}")) for at in (f"{commit}^", commit))
        texts += [text for own, text in before.items() if after.get(own, text) != text]
    return [text for text in texts if FEWEST <= text.count("\n") + 1 < MOST] if len(texts) <= 3 else []


def main() -> int:
    """Write the rows and print the counts."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("out", type=Path, metavar="OUT.jsonl")
    parser.add_argument("projects", nargs="+", metavar="PROJECT=REPOSITORY")
    parser.add_argument("--commits", type=int, default=20, help="of each kind and project")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    seen: set[str] = set()
    with asked.out.open("w", encoding="utf-8") as file:
        for argument in asked.projects:
            project, _, place = argument.partition("=")
            known = list(commits(Path(place)))
            Random(asked.seed).shuffle(known)
            counts: Counter[bool] = Counter()
            for is_mended in (True, False):
                # As many sound functions as vulnerable ones, so that half of the rows of a project are each.
                most = asked.commits if is_mended else counts[True]
                chosen = [commit for commit, mended in known if mended is is_mended]
                for commit in chosen[: 3 * asked.commits]:
                    for before in changed(Path(place), commit):
                        if counts[is_mended] < most and before not in seen:
                            seen.add(before)
                            counts[is_mended] += 1
                            row = {
                                "project": project,
                                "commit_id": commit,
                                "target": int(is_mended),
                                "func": before,
                            }
                            file.write(json.dumps(row) + "\n")
                    if counts[is_mended] >= most:
                        break
            print(f"{project}: {counts[True]} vulnerable, {counts[False]} not", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

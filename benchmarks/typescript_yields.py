"""What share of functions of TypeScript `reorder` changes, without and with the types of the compiler, and
what share `rename` changes.

    CODEAUDIT_TYPESCRIPT=node_modules/typescript python benchmarks/typescript_yields.py PROJECT [FOLDER…]

Functions of 3 to 60 lines of the files in FOLDER… (default: PROJECT) count; tests and declarations are left
out. A function is movable if it has a block of two statements.
"""

import os
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Final

import checkout  # noqa: F401 - `tests` is found

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused
from codeaudit.transforms.javascript.analysis.program import analyse
from codeaudit.transforms.javascript.files import TYPESCRIPT_FILES
from codeaudit.transforms.javascript.types import PROJECT, types_of
from codeaudit.transforms.registry import transform_for

LINES: Final = range(3, 61)
_LEFT_OUT: Final = ("node_modules", "tests", "test", "dtslint", "benchmarks", "examples")


def main() -> int:
    """Print one line for each relation."""
    project, *folders = map(Path, sys.argv[1:])
    os.environ[PROJECT] = str(project)
    names = ("reorder", "types/reorder", "rename", "rename-parameters")
    rules = {name: transform_for(name, "typescript") for name in names}
    counts = Counter[str]()
    for folder in folders or [project]:
        for path in sorted(folder.rglob("*.ts*")):
            inside = path.relative_to(folder).parts
            if path.name.endswith((".d.ts", ".test.ts")) or set(inside) & set(_LEFT_OUT):
                continue
            try:
                text = path.read_text(encoding="utf-8")
                places = TYPESCRIPT_FILES.places(text)
            except (SourceError, UnicodeError):
                counts["unread files"] += 1
                continue
            counts["files"] += 1
            for place in places:
                source = text.encode()[place.start : place.end].decode()
                if source.count("\n") + 1 not in LINES:
                    continue
                counts["functions"] += 1
                counts["elements"] += "</" in source or "/>" in source
                try:
                    blocks = analyse(source, "typescript").blocks
                except SourceError:
                    continue
                counts["movable"] += any(len(block.statements) > 1 for block in blocks)
                counts["with types"] += bool(types_of(source))
                for name, rule in rules.items():
                    moves = rule.propose(source, Random(0))
                    if not isinstance(moves, Refused):
                        counts[name] += not isinstance(rule.apply(source, moves), Refused)
    print(f"{counts['files']:,} files; {counts['unread files']:,} cannot be read")
    print(f"{'':18} {'count':>6} {'of all':>7} {'of movable':>11}")
    for name in ("functions", "elements", "movable", "with types", *rules):
        shares = (counts[name] / max(1, counts[whole]) for whole in ("functions", "movable"))
        print(f"{name:18} {counts[name]:6,} {next(shares):7.1%} {next(shares):11.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

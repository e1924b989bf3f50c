"""Error detection as the SPE paper may have done it: buggy methods against other methods of their files.

    python benchmarks/other_methods.py defects4j_methods.jsonl.gz other.jsonl.gz --repositories FOLDER
    codeaudit train spe --task error-detection --corpus other.jsonl.gz --out DIR

FOLDER has clones of the projects' Git repositories: `commons-lang`, `jsoup`, …. For each buggy method one
method is drawn from the last revision of its file, of those whose names no bug of the file touches. Projects
without a repository are left out and told.

The rows of a file are a group, so that splits keep them together. A hash decides which method is drawn.
"""

import argparse
import hashlib
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import sample_tables

from codeaudit.audit.corpora.methods import MethodText, outermost_methods, parse
from codeaudit.transforms.errors import SourceError

REPOSITORIES: Final = {
    "Lang": "commons-lang",
    "Math": "commons-math",
    "Cli": "commons-cli",
    "Codec": "commons-codec",
    "Compress": "commons-compress",
    "Csv": "commons-csv",
    "JxPath": "commons-jxpath",
    "Gson": "gson",
    "Jsoup": "jsoup",
    "JacksonCore": "jackson-core",
    "JacksonDatabind": "jackson-databind",
    "Time": "joda-time",
    "Closure": "closure-compiler",
    "Mockito": "mockito",
}
"""The names of the repositories of Defects4J's projects."""


def repository(folder: Path, project: str) -> Path | None:
    """The Git repository of a project."""
    place = folder / REPOSITORIES.get(project, project)
    return place if place.is_dir() else None


def last_revision(place: Path, path: str) -> str | None:
    """The newest text of a file that may have been moved or deleted since; `None` if there was none."""
    git = ["git", "-C", str(place)]
    asked = [*git, "log", "-1", "--diff-filter=AMR", "--format=%H", "--", path]
    commit = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    shown = subprocess.run([*git, "show", f"{commit}:{path}"], capture_output=True) if commit else None
    return shown.stdout.decode("utf-8", "replace") if shown is not None and shown.returncode == 0 else None


def others(text: str, touched: set[str]) -> list[MethodText]:
    """The methods with statements whose names no bug touches, in an order that their texts decide."""
    kept = [
        method
        for method in outermost_methods(parse(text))
        if method.name not in touched and "{" in method.source
    ]
    return sorted(kept, key=lambda method: hashlib.sha256(method.source.encode()).digest())


def paired(rows: Sequence[dict[str, Any]], folder: Path, left_out: Counter[str]) -> Iterator[dict[str, Any]]:
    """Each buggy method, and one of its file."""
    files: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        files[row["project"], row["file"]].append(row)
    for (project, path), members in sorted(files.items()):
        place = repository(folder, project)
        text = None if place is None else last_revision(place, path)
        if text is None:
            left_out["no such file" if place is not None else f"no repository of {project}"] += len(members)
            continue
        try:
            clean = others(text, {row["method"] for row in members})
        except SourceError:
            left_out["a file that does not parse"] += len(members)
            continue
        bugs = list({row["source"]: row for row in members if row["label"] == 1}.values())
        left_out["more bugs than other methods"] += max(0, len(bugs) - len(clean))
        for bug, other in zip(bugs, clean, strict=False):
            about = {"project": project, "file": path, "group": f"{project}/{path}", "language": "java"}
            yield {**about, "source": bug["source"], "label": "buggy"}
            yield {**about, "source": other.source, "label": "clean"}


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--repositories", type=Path, required=True, metavar="FOLDER")
    asked = parser.parse_args()
    left_out: Counter[str] = Counter()
    made = list(paired(list(sample_tables.read(asked.table)), asked.repositories, left_out))
    sample_tables.write(asked.out, made)
    print(f"{len(made):,} methods, half of them buggy; left out: {dict(left_out)}", file=sys.stderr)


if __name__ == "__main__":
    main()

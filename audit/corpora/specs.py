"""The command line's SPEC of a corpus, read."""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from audit.corpora.files import Files, installed_package, standard_library
from audit.corpora.records import Corpus
from audit.corpora.tables import Table, is_table
from transforms.errors import CorpusError

FORMS: Final[Mapping[str, str]] = {
    "stdlib": "functions of the running Python's standard library",
    "stdlib:json,textwrap": "functions of some of its modules",
    "package:NAME": "functions of an installed package, by import or distribution name",
    "PATH": "functions of a Python file, or of all Python files in a folder",
    "PATH.jsonl[.gz]": "rows with a column `source` or `code`; PATH:SPLIT takes the rows of one split",
    "PATH.csv[.gz]": "the same",
    "PATH.parquet": "the same",
}
"""What `codeaudit list corpora` shows."""


def corpus(spec: str) -> Corpus:
    """The corpus that a SPEC names. Nothing is read yet.

    Raises:
        CorpusError: there is no such place.
    """
    head, colon, rest = spec.partition(":")
    if not Path(spec).exists():
        if head == "stdlib":
            modules = tuple(name.strip() for name in rest.split(",") if name.strip())
            if colon and not modules:
                raise CorpusError(f"corpus {spec!r} names no module; write stdlib:json,textwrap")
            return standard_library(spec, modules)
        if head == "package" and rest:
            return installed_package(spec, rest)
    path, split = _place(spec)
    if path.is_dir():
        return Files(spec=spec, roots=(path,), base=path)
    if is_table(path):
        return Table(spec=spec, path=path, split=split)
    if path.suffix not in {".py", ".pyi", ""}:
        raise CorpusError(
            f"cannot read {spec!r}: no known format; known: .py, .jsonl[.gz], .csv[.gz], .parquet"
        )
    return Files(spec=spec, roots=(path,), base=path.parent, named=True)


def _place(spec: str) -> tuple[Path, str | None]:
    path = Path(spec)
    if path.exists():
        return path, None
    front, _, split = spec.rpartition(":")
    if front and split and Path(front).is_file() and is_table(Path(front)):
        return Path(front), split
    raise CorpusError(f"no corpus {spec!r}: no such file or folder{_near(Path(front or spec))}")


def _near(path: Path) -> str:
    folder = path.parent
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    near = get_close_matches(
        path.name, [*names, *(("stdlib",) if str(folder) == "." else ())], n=1, cutoff=0.6
    )
    return f"; did you mean {str(folder / near[0])!r}?" if near else ""

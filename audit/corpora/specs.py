"""The command line's SPEC of a corpus, read."""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from audit.corpora.algebra import generated
from audit.corpora.files import Files, installed_package, standard_library
from audit.corpora.programs import ASSEMBLY, FIRST, Assembly, Program, is_program
from audit.corpora.records import Corpus
from audit.corpora.tables import Column, Table, is_table
from transforms.errors import CorpusError

INTERPRETER: Final = "interpreter"

FORMS: Final[Mapping[str, str]] = {
    "stdlib": "functions of the running Python's standard library",
    "stdlib:json,textwrap": "functions of some of its modules",
    "package:NAME": "functions of an installed package, by import or distribution name",
    "algebra:test": "generated pairs of expressions, half of them derivatives; also train, valid, extended",
    "algebra:test:SIZE": "so many of them, instead of as many as in the paper",
    "PATH": "functions of a Python file, or of all Python files in a folder",
    "PATH.jsonl[.gz]": "rows with a column `source`, `code`, `asm` or `hex`; PATH:SPLIT takes one split",
    "PATH.csv[.gz]": "the same",
    "PATH.parquet": "the same",
    INTERPRETER: "basic blocks of the running Python's own machine code",
    "PATH of a program": "basic blocks of an x86-64 ELF file",
    "PATH.s": "basic blocks of assembly text",
}
"""What `codeaudit list corpora` shows."""


def corpus(spec: str, column: Column | None = None) -> Corpus:
    """The corpus that a SPEC names. Nothing is read yet. `column` is where a table has its labels.

    Raises:
        CorpusError: there is no such place, or a column is named and it is no table.
    """
    found = _found(spec, column)
    if column is not None and not isinstance(found, Table):
        raise CorpusError(f"corpus {spec!r} is no table, so it has no column {column.name!r}")
    return found


def _found(spec: str, column: Column | None) -> Corpus:
    head, colon, rest = spec.partition(":")
    if not Path(spec).exists():
        if head == "stdlib":
            modules = tuple(name.strip() for name in rest.split(",") if name.strip())
            if colon and not modules:
                raise CorpusError(f"corpus {spec!r} names no module; write stdlib:json,textwrap")
            return standard_library(spec, modules)
        if spec == INTERPRETER:
            return Program(spec=spec, path=None, limit=FIRST)
        if head == "package" and rest:
            return installed_package(spec, rest)
        if head == "algebra":
            return generated(spec, rest)
    path, split = _place(spec)
    if path.is_dir():
        return Files(spec=spec, roots=(path,), base=path)
    if is_table(path):
        return Table(spec=spec, path=path, split=split, column=column)
    if path.suffix.lower() in ASSEMBLY:
        return Assembly(spec=spec, path=path)
    if path.suffix not in {".py", ".pyi"} and is_program(path):
        return Program(spec=spec, path=path)
    if path.suffix not in {".py", ".pyi", ""}:
        raise CorpusError(
            f"cannot read {spec!r}: no known format; known: .py, .jsonl[.gz], .csv[.gz], .parquet, .s, ELF"
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

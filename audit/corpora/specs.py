"""The command line's SPEC of a corpus, read."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from codeaudit.audit.corpora.algebra import generated
from codeaudit.audit.corpora.files import Files, installed_package, standard_library
from codeaudit.audit.corpora.programs import ASSEMBLY, FIRST, Assembly, Program, is_program
from codeaudit.audit.corpora.records import Corpus
from codeaudit.audit.corpora.splits import SPLITS, Split
from codeaudit.audit.corpora.tables import Column, Table, is_table
from codeaudit.transforms.algebra.language import ALGEBRA
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.languages import by_ending, every_language

_BUGS: Final = re.compile(r"(train|valid|test|seed\d{1,9}|\d{1,9}):")
INTERPRETER: Final = "interpreter"

FORMS: Final[Mapping[str, str]] = {
    "stdlib": "functions of the running Python's standard library",
    "stdlib:json,textwrap": "functions of some of its modules",
    "package:NAME": "functions of an installed package, by import or distribution name",
    "algebra:test": "generated pairs of expressions, half of them derivatives; also train, valid, extended",
    "algebra:test:SIZE": "so many of them, instead of as many as in the paper",
    "PATH": "functions of a Python or Java file, or of all of them in a folder",
    "PATH.jsonl[.gz]": "rows with a column `source`, `code`, `asm` or `hex`; PATH:SPLIT takes one split; "
    "without a column `split` one of groups (`leak_group`, `split_group`, `group`) decides",
    "PATH.csv[.gz]": "the same; or rows of machine code and numbers without a header, as in BHive",
    "PATH.parquet": "the same",
    "bugs:CORPUS": "functions of a Python corpus with and without a seeded bug, 1,000 of them tried",
    "bugs:SIZE:seedN:SPLIT:CORPUS": "so many tried, with another seed, of one split; each is optional",
    "defects4j:FOLDER": "methods with a bug and fixed, from what `defects4j checkout` made, both versions",
    "defects4j:SPLIT:FOLDER": "one split of them: train, valid or test",
    INTERPRETER: "basic blocks of the running Python's own machine code",
    "PATH of a program": "basic blocks of an x86-64 ELF file",
    "PATH.s": "basic blocks of assembly text",
}
"""What `codeaudit list corpora` shows."""


Note = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What corpora work with that take long."""

    cache: Path | None = None
    """A folder for what they find; by default the user's."""
    note: Note | None = None
    """Where they tell their progress."""


def corpus(spec: str, column: Column | None = None, desk: Desk | None = None) -> Corpus:
    """The corpus that a SPEC names. Nothing is read yet. `column` is where a table has its labels.

    Raises:
        CorpusError: there is no such place, or a column is named and it is no table.
    """
    found = _found(spec, column, desk or Desk())
    if column is not None and not isinstance(found, Table):
        raise CorpusError(f"corpus {spec!r} is no table, so it has no column {column.name!r}")
    return found


def _found(spec: str, column: Column | None, desk: Desk) -> Corpus:
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
        if head == ALGEBRA.name:
            return generated(spec, rest)
        if head == "bugs":
            return _bugs(spec, rest, desk)
        if head == "defects4j":
            return _checkouts(spec, rest)
    path, split = _place(spec)
    if path.is_dir():
        return Files(spec=spec, roots=(path,), base=path)
    if is_table(path):
        return Table(spec=spec, path=path, split=split, column=column)
    if path.suffix.lower() in ASSEMBLY:
        return Assembly(spec=spec, path=path)
    language = by_ending(path.suffix)
    is_text = language is not None and bool(language.reader)
    if not is_text and is_program(path):
        return Program(spec=spec, path=path)
    if not is_text and path.suffix:
        known = ", ".join(ending for one in every_language() for ending in one.endings if one.reader)
        raise CorpusError(
            f"cannot read {spec!r}: no known format; "
            f"known: {known}, .jsonl[.gz], .csv[.gz], .parquet, .s, ELF"
        )
    return Files(spec=spec, roots=(path,), base=path.parent, named=True)


def _bugs(spec: str, rest: str, desk: Desk) -> Corpus:
    from codeaudit.audit.corpora.bugs import Bugs

    options: dict[str, Any] = {}
    while (field := _BUGS.match(rest)) is not None:
        text, rest = field.group(1), rest[field.end() :]
        name = "split" if text in SPLITS else "seed" if text.startswith("seed") else "size"
        if name in options:
            raise CorpusError(f"corpus {spec!r} says its {name} twice")
        options[name] = text if name == "split" else int(text.removeprefix("seed"))
    if not rest:
        raise CorpusError(f"corpus {spec!r} names no corpus of functions; write bugs:stdlib or bugs:FOLDER")
    if options.get("size") == 0:
        raise CorpusError(f"corpus {spec!r} needs a size from 1")
    return Bugs(spec=spec, base=_found(rest, None, desk), cache=desk.cache, note=desk.note, **options)


def _checkouts(spec: str, rest: str) -> Corpus:
    from codeaudit.audit.corpora.defects4j import checkouts

    head, colon, place = rest.partition(":")
    split: Split | None = next((one for one in SPLITS if colon and one == head), None)
    return checkouts(spec, Path(place if split else rest), split)


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

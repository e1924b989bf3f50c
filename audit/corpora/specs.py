"""Reads the SPEC of a corpus on the command line: `NAME`, `NAME:REST`, or a path.

Nothing is read when a corpus is made, and no module of a corpus is imported to list them.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from codeaudit.audit.corpora.files import SourceFiles
from codeaudit.audit.corpora.hub import HubTable
from codeaudit.audit.corpora.programs import ASSEMBLY, AssemblyBlocks, ProgramBlocks, is_program
from codeaudit.audit.corpora.records import Corpus, CorpusResources, LabelColumn, OpensCorpus
from codeaudit.audit.corpora.tables import Table, is_table
from codeaudit.audit.languages import reads_files, warn_of_broken_readers
from codeaudit.transforms.algebra import ALGEBRA
from codeaudit.transforms.errors import CorpusError
from codeaudit.transforms.language import (
    NO_ENGINE,
    by_ending,
    every_language,
    rewritten_today,
    without_engine,
)
from codeaudit.transforms.registration import Entry, OnBroken, Registry
from codeaudit.transforms.registry import kind_of


@dataclass(frozen=True, slots=True)
class CorpusEntry(Entry):
    """A registered kind of corpus."""

    forms: Mapping[str, str]
    """How a user writes it, each form with its summary."""


def _entry(target: str, forms: Mapping[str, str]) -> CorpusEntry:
    return CorpusEntry(f"codeaudit.audit.corpora.{target}", next(iter(forms.values())), forms)


_SOURCES: Final[Mapping[str, CorpusEntry]] = {
    "stdlib": _entry(
        "files:standard_library",
        {
            "stdlib": "functions of the running Python's standard library",
            "stdlib:json,textwrap": "functions of some of its modules",
        },
    ),
    "package": _entry(
        "files:installed_package",
        {"package:NAME": "functions of an installed package, by import or distribution name"},
    ),
    "hfds": _entry(
        "hub:data_set",
        {
            "hfds:NAME[:CONFIG]@SPLIT": "rows of a data set of the Hugging Face hub, or of a local copy "
            "(needs the extra `hub`)"
        },
    ),
    ALGEBRA.name: _entry(
        "algebra:generated",
        {
            "algebra:test": "generated pairs of expressions, half of them derivatives; also train, valid, "
            "extended",
            "algebra:test:SIZE": "so many of them, instead of as many as in the paper",
        },
    ),
}
_MADE: Final[Mapping[str, CorpusEntry]] = {
    "bugs": _entry(
        "bugs:seeded_bugs",
        {
            "bugs:CORPUS": "functions of a Python or C corpus with and without a seeded bug that execution "
            "shows, 1,000 of them tried",
            "bugs:reported:CORPUS": "the same in C, with bugs that a sanitizer reports: out of bounds, use "
            "after free, null pointers, overflows, …",
            "bugs:unexecuted:CORPUS": "the same in Python, Java, JavaScript, TypeScript, C and C++ "
            "with bugs that were not executed",
            "bugs:SIZE:seedN:SPLIT:CORPUS": "so many tried, with another seed, of one split; each is "
            "optional",
        },
    ),
    "defects4j": _entry(
        "defects4j:checkouts",
        {
            "defects4j:FOLDER": "methods with a bug and fixed, from what `defects4j checkout` made, both "
            "versions",
            "defects4j:SPLIT:FOLDER": "one split of them: train, valid or test",
        },
    ),
    "interpreter": _entry(
        "programs:interpreter", {"interpreter": "basic blocks of the running Python's own machine code"}
    ),
}

CORPORA: Final[Registry[OpensCorpus]] = Registry(
    "corpus", _SOURCES, _MADE, group="codeaudit.corpora", expects=OpensCorpus
)
"""By the NAME of a SPEC."""

_PATHS: Final[Mapping[str, str]] = {
    "PATH": "functions of a Python, Java, JavaScript, TypeScript, C or C++ file, or of all of them "
    "in a folder",
    "PATH.jsonl[.gz]": "rows with a column `source`, `code`, `asm` or `hex`, or of a known data set "
    "(--verbose lists them); --columns names others; PATH:SPLIT takes one split; "
    "without a column `split` one of groups (`leak_group`, `split_group`, `group`) decides",
    "PATH.json[.gz]": "the same, as an array of objects or an object a line",
    "PATH.csv[.gz]": "the same; or rows of machine code and numbers without a header, as in BHive",
    "PATH.parquet": "the same",
    "PATH.txt": "pairs of functions by their numbers in `data.jsonl` beside it, as in CodeXGLUE's "
    "BigCloneBench",
}
_PROGRAMS: Final[Mapping[str, str]] = {
    "PATH of a program": "basic blocks of an x86-64 ELF file",
    "PATH.s": "basic blocks of assembly text",
}


def forms(on_broken: OnBroken = repr) -> Iterator[tuple[str, str]]:
    """Every form of a SPEC with its summary, for `codeaudit list corpora`. Imports plug-ins only.

    Plug-ins that cannot be used are left out, after a call of `on_broken`.
    """
    for table, paths in ((_SOURCES, _PATHS), (_MADE, _PROGRAMS)):
        for entry in table.values():
            yield from entry.forms.items()
        yield from paths.items()
    for name, summary in CORPORA.summaries(on_broken):
        if name not in CORPORA.built_in:
            yield f"{name}:REST", summary


def corpus(spec: str, column: LabelColumn | None = None, resources: CorpusResources | None = None) -> Corpus:
    """The corpus of a SPEC. Nothing is read yet. `column` is the column of a table that holds the labels.

    An existing path comes before a NAME.

    Raises:
        CorpusError: there is no such corpus, or a column is named and the corpus is not a table.
        CannotAudit: the NAME is a broken plug-in's.
    """
    name, _, rest = spec.partition(":")
    resources = resources or CorpusResources()
    # A folder called `stdlib` is what a user means who stands beside it.
    if not Path(spec).exists() and name in CORPORA:
        chosen = CORPORA.get(name)(spec, rest, resources)
    else:
        chosen = _at_path(spec, column, resources.columns)
    named = column.name if column is not None else next(iter(resources.columns.values()), None)
    if isinstance(chosen, HubTable):
        return replace(chosen, column=column)
    if named is not None and not isinstance(chosen, Table):
        raise CorpusError(f"corpus {spec!r} is no table, so it has no column {named!r}")
    return chosen


def _at_path(spec: str, column: LabelColumn | None, columns: Mapping[str, str]) -> Corpus:
    path, split = _path_and_split(spec)
    if path.is_dir():
        return SourceFiles(spec=spec, roots=(path,), base=path, counts_others=True)
    if is_table(path):
        return Table(spec=spec, path=path, split=split, column=column, columns=columns)
    if path.suffix.lower() in ASSEMBLY:
        return AssemblyBlocks(spec=spec, path=path)
    language = by_ending(path.suffix)
    is_text = language is not None and reads_files(language.name)
    if not is_text and is_program(path):
        return ProgramBlocks(spec=spec, path=path)
    if not is_text and path.suffix:
        warn_of_broken_readers()
        if (title := without_engine(ending=path.suffix)) is not None:
            raise CorpusError(f"cannot use {spec!r}: it is in {title}{NO_ENGINE}; {rewritten_today()}")
        endings = ", ".join(
            ending for record in every_language() if reads_files(record.name) for ending in record.endings
        )
        raise CorpusError(
            f"cannot read {spec!r}: no known format; "
            f"known: {endings}, .json[l][.gz], .csv[.gz], .parquet, .s, ELF"
        )
    return SourceFiles(spec=spec, roots=(path,), base=path.parent, named=True)


def _path_and_split(spec: str) -> tuple[Path, str | None]:
    # `PATH:SPLIT`: a file's name may contain a colon, so the whole text is tried first.
    path = Path(spec)
    if path.exists():
        return path, None
    front, _, split = spec.rpartition(":")
    if front and split and Path(front).is_file() and is_table(Path(front)):
        return Path(front), split
    if path.is_symlink():
        raise CorpusError(f"no corpus {spec!r}: a link to {os.readlink(path)!r}, which does not exist")
    raise CorpusError(f"no corpus {spec!r}: no such file or folder{_hint(Path(front or spec))}")


def _hint(path: Path) -> str:
    """The nearest file beside the path, or the nearest name of a corpus; or that it names a transform."""
    folder = path.parent
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    choices = [*names, *(CORPORA if str(folder) == "." else ())]
    near = get_close_matches(path.name, choices, n=1, cutoff=0.6)
    if not near and str(path) == path.name and kind_of(path.name) is not None:
        return f"; {path.name!r} is a transform: write --transform {path.name}"
    return f"; did you mean {str(folder / near[0])!r}?" if near else ""

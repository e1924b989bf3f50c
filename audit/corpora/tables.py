"""Corpora that are tables: JSON, JSON lines, CSV and Parquet, gzipped or not. Each row is a sample.

A CSV file without a header must be a table of machine code like those of BHive: its first column has
hexadecimal digits, and its other columns are named by their numbers, from 1.
"""

import codecs
import csv
import gzip
import io
import json
import math
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias

from typing_extensions import override

from codeaudit.audit.checks import is_number, is_whole, what_is_damaged
from codeaudit.audit.corpora import clones, native
from codeaudit.audit.corpora.records import BaseCorpus, LabelColumn, LeftOut, raw_sample, split_of
from codeaudit.audit.corpora.translations import TARGET_COLUMNS, targets_of, translated
from codeaudit.audit.corpora.vulnerabilities import OTHER_SIDE, paired
from codeaudit.audit.records import as_label
from codeaudit.transforms.errors import CorpusError, SourceError, UsageError
from codeaudit.transforms.grammar import counted
from codeaudit.transforms.language import (
    DEFAULT,
    LANGUAGES,
    LOOKS,
    NO_ENGINE,
    OTHER_NAMES,
    by_ending,
    every_language,
    is_well_known,
    looks_like,
    rewritten_today,
    without_engine,
)
from codeaudit.transforms.records import Sample
from codeaudit.transforms.registration import load_target, nearest_or_all, unknown

Row: TypeAlias = Mapping[str, object]

SOURCES: Final = ("source", "code", "asm")
"""Columns for the text; the first one that is present counts."""
HEX: Final = "hex"
"""A column of machine code in hexadecimal digits, used if there is no text."""
LABELS: Final = ("label", "name", "func_name")
GROUPS: Final = ("leak_group", "split_group", "group")
"""Columns for groups of rows that a split must not separate; the first one that is present counts."""
CONFLICT: Final = "label_conflict"
"""A column that is true if the table has the same text with another label."""
PAIRS: Final = ".txt"
"""The ending of a file of pairs."""
_SPLITS: Final = 20
"""A column with at least this number of distinct values is not a column of splits."""
ENTRY_POINT: Final = "entry_point"
HUMAN_EVAL: Final = ("prompt", "canonical_solution", ENTRY_POINT)
TESTS: Final = "test"
"""A column of tests, which is read beside `ENTRY_POINT` or the columns of a target."""
OWN: Final = ("source", "label", "language", "name", "split", "file", "line", "group", "other")
"""Columns that `--columns` can name."""
LIKELY_SOURCES: Final = ("func", "function", "snippet", "program", "body", "content", "text", "func1")
LIKELY_LABELS: Final = ("target", "vul", "is_vulnerable", "class", "y")
"""Columns of other tables, for a suggestion."""
_DIGITS: Final = 18
"""A number of so many digits fits into 64 bits."""
_CHECKED: Final = re.compile(r"(?<=\n)check\(\w+\)\s*\Z")
"""The call of `check` at the end of tests of Python."""
_CODE: Final = re.compile(r"(?:0[xX])?(?:[0-9a-fA-F]{2})+")
_PLAIN: Final = frozenset(
    {*SOURCES, HEX, *LABELS, *HUMAN_EVAL, TESTS, *GROUPS, CONFLICT} | {"language", "file", "line", "split"}
)
COLUMNS: Final = _PLAIN | frozenset(native.COLUMNS) | frozenset(TARGET_COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(BaseCorpus):
    """The rows of one file, or those of one split.

    A table without a column of splits that has one of groups is split by `split_of`.
    """

    spec: str
    path: Path
    split: str | None
    column: LabelColumn | None = None
    """The column with the labels; `None` for the first one of `LABELS`."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Names of columns in the file, by the names of `OWN` that they have here; `language` may also have the
    name of a language, which is then that of all rows."""

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """Row by row."""
        try:
            yield from samples_of(
                self.rows(skipped),
                place=self.path.name,
                split=self.split,
                column=self.column,
                columns=self.columns,
                skipped=skipped,
            )
        except (OSError, EOFError, zlib.error, csv.Error, UnicodeDecodeError) as error:
            raise CorpusError(f"cannot read table {str(self.path)!r}: {what_is_damaged(error)}") from error

    def rows(self, skipped: Counter[str]) -> Iterator[tuple[int, Row]]:
        """The rows with their numbers; `skipped` counts those that cannot be read, by reason."""
        named = {*self.columns.values(), *([] if self.column is None else [self.column.name])}
        return READERS[_kind(self.path)](self.path, named - _PLAIN, skipped)


def samples_of(
    rows: Iterable[tuple[int, Row]],
    *,
    place: str,
    split: str | None,
    column: LabelColumn | None,
    columns: Mapping[str, str],
    skipped: Counter[str],
) -> Iterator[Sample]:
    """The samples of numbered rows, or those of one split.

    Raises:
        CorpusError: no row has a column of code, a named column is missing, or there is no such split.
    """
    splits: set[str] = set()
    texts = _SplitTexts()
    names: dict[str, None] = {}
    recognised = False
    first = True  # the row with number 1 may be one that cannot be read
    every: str | None = None
    """The language of all rows."""
    for number, original in translated(paired(rows)):
        if first:
            first = False
            _check_no_suite(place, original)
            headers = [name for name in original if name is not None]
            every = _language_of_all(columns, original)
            for name in (*columns.values(), *([] if column is None else [column.name])):
                other = without_engine(name=name) if name == columns.get("language") else None
                if name not in original and other not in (None, name):
                    raise CorpusError(f"the rows of {place!r} are in {other}{NO_ENGINE}; {rewritten_today()}")
                if name not in original and (name != columns.get("language") or every is None):
                    hint = nearest_or_all(name, headers)
                    if name == columns.get("language"):
                        hint += f"; or a language: {', '.join(LANGUAGES)}"
                    raise CorpusError(f"table {place!r} has no column {name!r}; {hint}")
        renamed = {**original, **{ours: original.get(theirs) for ours, theirs in columns.items()}}
        if every is not None:
            renamed["language"] = every
        if (second := columns.get("other")) is not None:
            renamed[clones.OTHER] = original.get(second)
        recognised = recognised or is_known(renamed)
        if not recognised:
            names.update(dict.fromkeys(name for name in original if name is not None))
        # Of a table that names its column of code by itself, another set of columns means nothing.
        names_code = (
            "source" in columns and "source" not in original and native.data_set_of(original) in native.PAIRED
        )
        data_set = None if names_code else native.data_set_of(renamed)
        if data_set is not None and isinstance(skipped, LeftOut):
            skipped.data_sets.add(data_set.name)
        for row in native.native(renamed, data_set):
            if isinstance(row, str):
                skipped[row] += 1
                continue
            row_split = _split(row)
            # Bounded, because a column `split` may hold something else, such as a number for each row.
            if len(splits) < _SPLITS:
                splits.add(row_split)
            if split is not None:
                texts.add(_source_text(row), chosen=row_split == split)
            if split is None or row_split == split:
                if isinstance(skipped, LeftOut):
                    # NaN is the missing value of tables.
                    cell = row.get(LABELS[0])
                    skipped.labelled |= cell not in (None, "") and cell == cell
                sample = _sample(row, path=place, number=number, column=column)
                if isinstance(sample, Sample):
                    yield sample
                else:
                    skipped[sample] += 1
    if names and not recognised:
        raise unrecognised(place, list(names))
    if isinstance(skipped, LeftOut) and (copies := texts.shared):
        words = f"{counted(copies, 'row')} of split {split!r} of {place!r}"
        skipped.notes[f"{words} {'is' if copies == 1 else 'are'} in another split, too (blanks aside)"] = None
    if split is not None and not splits - {""}:
        raise CorpusError(
            f"table {place!r} has no column of splits (split; or {', '.join(GROUPS)}, by which it is split); "
            f"leave out ':{split}'"
        )
    if split is not None and split not in splits and len(splits) < _SPLITS:
        raise CorpusError(unknown(f"split of {place!r}", split, sorted(splits)))


class _SplitTexts:
    """Counts the rows of the chosen split whose text another split has, too."""

    def __init__(self) -> None:
        self._chosen = Counter[int]()
        self._others = set[int]()

    def add(self, text: str, *, chosen: bool) -> None:
        """Look at a row."""
        key = hash(" ".join(text.split()))
        if chosen:
            self._chosen[key] += 1
        else:
            self._others.add(key)

    @property
    def shared(self) -> int:
        """The number of these rows."""
        return sum(number for key, number in self._chosen.items() if key in self._others)


def _source_text(row: Row) -> str:
    return next((text for column in SOURCES if (text := _text(row.get(column)))), "")


def _check_no_suite(place: str, names: Collection[str]) -> None:
    """Check that a table is none of those that codeaudit writes: their rows are variants.

    Raises:
        CorpusError: it is a suite, a baseline, or the verdicts of a run.
    """
    if set(names) >= {"sample", "transform", "variant", "perturbed"}:
        raise CorpusError(f"{place!r} is a suite of codeaudit; audit it with --suite")
    if set(names) >= {"sample", "transform", "variant", "outcome"}:
        raise CorpusError(
            f"{place!r} has verdicts of a run and no code; a baseline goes with codeaudit gate RUN --baseline"
        )


def _language_of_all(columns: Mapping[str, str], row: Row) -> str | None:
    """The language that `--columns language=java` means if the table has no column of that name."""
    named = columns.get("language")
    language = None if named is None or named in row else OTHER_NAMES.get(named.lower(), named)
    return language if language in LANGUAGES else None


def names_language(row: Row) -> bool:
    """Whether a row says what language its text is in."""
    file = _text(row.get("file"))
    if _text(row.get("language")) or (file and by_ending(PurePosixPath(file).suffix)):
        return True
    return HEX in row or any(language.column in row for language in every_language())


def is_known(names: Collection[str]) -> bool:
    """Whether a table with these columns has one of code."""
    present = set(names)
    return (
        bool(present & {*SOURCES, HEX})
        or present >= set(HUMAN_EVAL[:2])
        or any(present >= set(data_set.columns) for data_set in native.DATA_SETS)
    )


def unrecognised(place: str, names: Sequence[str]) -> CorpusError:
    """The error for a table without a column of code, with the option that may name it or another remedy."""
    for columns, remedy in native.WITHOUT_CODE.items():
        if set(columns) <= set(names):
            return CorpusError(f"table {place!r} has no column of code; {remedy}")
    if set(names) & {"func1", "func2"} and (
        lacking := [name for name in clones.COLUMNS if name not in names]
    ):
        return CorpusError(_half_a_pair(place, names, lacking))
    source = next((name for name in LIKELY_SOURCES if name in names), "COLUMN")
    label = next((name for name in (*LIKELY_LABELS, *LABELS) if name in names), "")
    option = f"--columns source={source}" + (f",label={label}" if label else "")
    text = ", ".join(map(str, names[:20])) + (", …" if len(names) > 20 else "")
    return CorpusError(
        f"table {place!r} has no column of code: looked for {', '.join((*SOURCES, HEX))}, prompt with "
        f"canonical_solution, and the columns of known data sets (codeaudit list corpora --verbose); it has "
        f"{text}; name them: {option}"
    )


def _half_a_pair(place: str, names: Sequence[str], lacking: Sequence[str]) -> str:
    """The error for a table that has some of the columns of pairs of functions."""
    one, other = (name if name in names else "COLUMN" for name in ("func1", "func2"))
    label = next((name for name in ("label", *LIKELY_LABELS) if name in names), "COLUMN")
    option = f"--columns source={one},other={other},label={label}"
    more = " (without labels leave out the last part)" if label == "COLUMN" else ""
    return (
        f"table {place!r} has no column {' and no column '.join(lacking)}, and a pair of functions is a row "
        f"with {', '.join(clones.COLUMNS)}; it has {', '.join(map(str, names[:20]))}; name the columns: "
        f"{option}{more}"
    )


def renaming(text: str | None) -> dict[str, str]:
    """The columns that `--columns source=func,label=target` names, by our names.

    Raises:
        UsageError: it is no list of NAME=COLUMN with names of `OWN`.
    """
    renamed: dict[str, str] = {}
    for part in filter(None, (text or "").split(",")):
        ours, equals, theirs = (side.strip() for side in part.partition("="))
        if not equals or not theirs:
            raise UsageError(f"--columns {part!r} must be NAME=COLUMN, as in source=func,label=target")
        if ours not in OWN:
            raise UsageError(unknown("name in --columns", ours, OWN))
        if ours in renamed:
            raise UsageError(f"--columns names {ours} twice: {renamed[ours]} and {theirs}")
        renamed[ours] = theirs
    return renamed


def is_table(path: Path) -> bool:
    """Whether a file's ending is that of a table, or it is a file of pairs beside their functions."""
    return clones.is_file_of_pairs(path) if _kind(path) == PAIRS else _kind(path) in READERS


def _kind(path: Path) -> str:
    name = path.name.lower()
    return PurePosixPath(name.removesuffix(".gz")).suffix


def _bytes(path: Path) -> gzip.GzipFile | io.BufferedReader:
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")


def _json_lines(path: Path, named: Collection[str], skipped: Counter[str]) -> Iterator[tuple[int, Row]]:
    with _bytes(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                skipped["line that is not JSON"] += 1
                continue
            if isinstance(row, dict):
                yield number, row
            else:
                skipped["line that is not an object"] += 1


def _json(path: Path, named: Collection[str], skipped: Counter[str]) -> Iterator[tuple[int, Row]]:
    """The rows of an array of objects, or of JSON lines under this ending, as some data sets come."""
    with _bytes(path) as file:
        data = file.read().lstrip(codecs.BOM_UTF8 + b" \t\r\n")
    if not data.startswith(b"["):
        if data.startswith(b"{") and _json_value(data.split(b"\n", 1)[0]) is None:
            raise CorpusError(f"table {str(path)!r} {_JSON_TABLE}")
        yield from _json_lines(path, named, skipped)
        return
    rows = _json_value(data)
    if not isinstance(rows, list):
        raise CorpusError(f"table {str(path)!r} {_JSON_TABLE}")
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict):
            yield number, row
        else:
            skipped["row that is not an object"] += 1


def _json_value(data: bytes) -> object:
    """What a JSON text says; `None` if it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


_JSON_TABLE: Final = (
    "is not valid JSON: it must be an array of objects, or have one whole object on each line"
)


def _csv(path: Path, named: Collection[str], skipped: Counter[str]) -> Iterator[tuple[int, Row]]:
    # The default, 131,072 characters, is less than some cells of code have. `sys.maxsize` does not fit the C
    # `long` of Windows.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    with _bytes(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        # "utf-8-sig": spreadsheets write a byte order mark, which would be part of the first column's name.
        head = next((row for row in csv.reader(text) if row), [])
        text.seek(0)
        yield from enumerate(csv.DictReader(text, _names(head, path, named)), start=1)


def _names(head: Sequence[str], path: Path, named: Collection[str]) -> Sequence[str] | None:
    """The names of the columns of a file without a header; `None` if the first row is a header.

    Raises:
        CorpusError: the first row is neither a header with a column for code, nor a row of machine code.
    """
    if not head or is_known(head) or set(head) & set(named):
        return None
    if not _CODE.fullmatch(head[0].strip()):
        if len(head) == 1 and (match := re.search("[;\t|]", head[0])) is not None:
            raise CorpusError(f"table {path.name!r}: its cells are separated by {match[0]!r}; write commas")
        rule = "without a header its first column must be machine code in hexadecimal digits"
        is_header = all(cell.isidentifier() for cell in head)
        raise CorpusError(f"{unrecognised(path.name, head)}{'' if is_header else f'; {rule}'}")
    return [HEX, *(str(number) for number in range(2, len(head) + 1))]


def _parquet(path: Path, named: Collection[str], skipped: Counter[str]) -> Iterator[tuple[int, Row]]:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            # Other columns may hold nested values or embeddings that take longer to read than the code.
            _check_no_suite(path.name, file.schema_arrow.names)
            present = [name for name in file.schema_arrow.names if name in COLUMNS or name in named]
            if not is_known(present) and not set(present) & set(named):
                raise unrecognised(path.name, file.schema_arrow.names)
            batches = file.iter_batches(batch_size=1024, columns=present)
            yield from enumerate((row for batch in batches for row in batch.to_pylist()), start=1)
    except (ArrowException, UnicodeDecodeError) as error:
        raise CorpusError(f"cannot read table {str(path)!r}: {what_is_damaged(error)}") from error


# Each reads a file whose columns `named` the user has named, so that one of them may hold code.
READERS: Final[Mapping[str, Callable[[Path, Collection[str], Counter[str]], Iterator[tuple[int, Row]]]]] = {
    ".jsonl": _json_lines,
    ".json": _json,
    ".csv": _csv,
    ".parquet": _parquet,
    PAIRS: lambda path, named, skipped: clones.pairs(path, skipped),
}


def _sample(row: Row, *, path: str, number: int, column: LabelColumn | None) -> Sample | str:
    """The sample of a row, or the reason why there is none."""
    try:
        source = _source(row)
    except SourceError:
        return "machine code that cannot be read"
    if source is None:
        return "row without source"
    if row.get(CONFLICT) in (True, "True", "true"):
        return "text that has another label too"
    # JSON can spell half of a surrogate pair, "\ud800", which no file and no tokenizer can hold.
    if not source.isascii() and source.encode("utf-8", "replace").decode() != source:
        return "row that is not Unicode"
    try:
        label = _label(row) if column is None else _number(row, column)
    except OverflowError:
        return "label that is no finite number"
    file = _text(row.get("file"))
    language = _language(row, file)
    if (title := without_engine(name=language)) is not None:
        return f"row in {title}{NO_ENGINE}"
    if language == DEFAULT and not names_language(row) and (title := looks_like(source)) is not None:
        return f"{LOOKS}{title}{NO_ENGINE if is_well_known(title) else ''}"
    line = _whole(row.get("line")) if file else None
    return raw_sample(
        source,
        language=language,
        label=label,
        path=file or path,
        line=number if line is None else line,
        group=_group(row),
        tests=_tests(row),
        calls=row.get(native.CALLS, ()),  # type: ignore[arg-type]
        other_side=_text(row.get(OTHER_SIDE)) or "",
        other=_text(row.get(clones.OTHER)) or "",
        documentation=_text(row.get(native.DOCUMENTATION)) or "",
        text=_text(row.get(native.QUERY)) or "",
        targets=targets_of(row),
    )


def _whole(value: object) -> int | None:
    """A line's number, also as text; `None` if the tables of a run cannot hold it."""
    # `isdecimal` alone takes the digits of every script; `isdigit` alone takes "²", which `int` does not.
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= _DIGITS:
        return int(value)
    return value if isinstance(value, int) and is_whole(value) and value >= 0 else None


def _group(row: Row) -> str:
    """The group of a row; empty without one."""
    groups = (_name(row[column]) for column in GROUPS if column in row)
    return next(filter(None, groups), "")


def _name(value: object) -> str:
    """The name in a cell: a text or a number. A list or an object is none."""
    return str(value) if isinstance(value, str) or is_whole(value) or is_number(value) else ""


def _split(row: Row) -> str:
    # Not by the row: methods of one repository on both sides of a split would leak names into the test.
    if "split" not in row and (group := _group(row)):
        return split_of(group)
    return _name(row.get("split"))


def _source(row: Row) -> str | None:
    for column in SOURCES:
        if text := _text(row.get(column)):
            return text
    if digits := _text(row.get(HEX)):
        (reader, *_) = (language.machine_code for language in every_language() if language.machine_code)
        source: str = load_target(reader)(digits).source
        return source
    prompt, solution = _text(row.get("prompt")), _text(row.get("canonical_solution"))
    return prompt + solution if prompt and solution else None


def _tests(row: Row) -> str | None:
    """The tests of a row: those of its data set, or those beside the name of the function or a target."""
    # A column `test` alone may hold anything, such as the name of a split.
    is_known = ENTRY_POINT in row or bool(targets_of(row))
    tests = _text(row[native.TESTS]) if native.TESTS in row else _text(row.get(TESTS)) if is_known else None
    # Who runs tests calls `check`. With the name of the function, which a task may hide, the call fails.
    return _CHECKED.sub("", tests) if tests and "def check(" in tests else tests


def _number(row: Row, column: LabelColumn) -> str | float | None:
    """The label in the named column: a number if it can be read as one, else the text.

    Raises:
        OverflowError: it is a number that is not finite.
    """
    value = row.get(column.name)
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return _text(value)
    number = _numeric(value)
    return None if number is None else _numeric(number / column.divisor)


def _label(row: Row) -> str | float | None:
    """The label in the first column that has one. A truth value is a text: `true` or `false`.

    Raises:
        OverflowError: it is a number that is not finite.
    """
    for column in LABELS:
        value = row.get(column)
        if isinstance(value, bool):
            return as_label(value)
        if isinstance(value, str) and value:
            return value
        if (number := _numeric(value)) is not None:
            return number
    return _text(row.get(ENTRY_POINT))


def _numeric(value: object) -> float | None:
    """A number of a cell; `None` if it holds none.

    Raises:
        OverflowError: the number is infinite, or beyond every float. NaN is the missing value of tables.
    """
    # `True` stays the number 1 for a task whose labels are numbers.
    if not isinstance(value, int | float | Decimal) or value != value:
        return None
    number = float(value)
    if math.isinf(number):
        raise OverflowError
    return number


def _language(row: Row, file: str | None) -> str:
    if named := _text(row.get("language")):
        return OTHER_NAMES.get(named.lower(), named.lower())
    if file and (language := by_ending(PurePosixPath(file).suffix)) is not None:
        return language.name
    if file and (title := without_engine(ending=PurePosixPath(file).suffix)) is not None:
        return title
    # Without a column for the language: a file name decides, then a column that one language claims (`asm`).
    machine = HEX in row and not row.keys() & set(SOURCES)
    claimed = (
        language.name
        for language in every_language()
        if language.column in row or (machine and language.machine_code)
    )
    return next(claimed, DEFAULT)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None

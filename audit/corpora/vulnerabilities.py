"""Reads rows of data sets of vulnerabilities in their own columns.

A row becomes one with a source, a label (1 for vulnerable, 0 for safe), a language, a group that no split may
separate, and, where the set has the fix, the other side of it.

Sources: Devign (Zhou et al., NeurIPS 2019), CodeXGLUE (Lu et al., 2021), BigVul (Fan et al., MSR 2020),
DiverseVul (Chen et al., RAID 2023), PrimeVul (Ding et al., ICSE 2025), SVEN (He and Vechev, CCS 2023).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from textwrap import dedent
from typing import Final, TypeAlias

from codeaudit.transforms.language import OTHER_NAMES, by_ending, without_engine

Row: TypeAlias = Mapping[str, object]

OTHER_SIDE: Final = "\0other side"
"""A key that no column has: the other side of the fix of a row's source."""
C: Final = "c"
"""The language of a set that names none."""
_NAMES: Final[Mapping[str, str]] = {**OTHER_NAMES, "py": "python", "js": "javascript"}
_NAME: Final = re.compile(r"(\w+)\s*\(")


def function(row: Row) -> Row | str:
    """A row with `func` and `target`: of Devign, CodeXGLUE, DiverseVul or PrimeVul."""
    return {**row, **_shared(row), "source": row.get("func"), "label": truth(row.get("target"))}


def big_vul(row: Row) -> Row | str:
    """A row of BigVul. Its sample is the function before the commit, as papers use it. The function after
    it is the other side, if the commit mended a flaw in it."""
    label = truth(row.get("vul"))
    before, after = (_text(row.get(column)) for column in ("func_before", "func_after"))
    other = after if label == 1 and after.strip() != before.strip() else ""
    return {**row, **_shared(row), "source": before, "label": label, OTHER_SIDE: other}


def sven(row: Row) -> tuple[Row, ...]:
    """Both sides of a row of SVEN. Its methods are indented as in their classes; here they are not."""
    before, after = (dedent(_text(row.get(column))) for column in ("func_src_before", "func_src_after"))
    shared = {**row, **_shared(row), "group": row.get("commit_link")}
    return (
        {**shared, "source": before, "label": 1, OTHER_SIDE: after},
        {**shared, "source": after, "label": 0, OTHER_SIDE: before},
    )


def paired(rows: Iterable[tuple[int, Row]]) -> Iterator[tuple[int, Row]]:
    """The numbered rows. Two neighbours that are the sides of one fix, as in the paired files of PrimeVul,
    know each other; all other rows are unchanged."""
    pending: tuple[int, Row] | None = None
    for number, row in rows:
        if pending is None:
            pending = number, row
        elif _are_sides(pending[1], row):
            yield pending[0], {**pending[1], OTHER_SIDE: row.get("func")}
            yield number, {**row, OTHER_SIDE: pending[1].get("func")}
            pending = None
        else:
            yield pending
            pending = number, row
    if pending is not None:
        yield pending


def _are_sides(one: Row, other: Row) -> bool:
    """Whether two rows are the function before and after one commit that mended it."""
    commit = _text(one.get("commit_id"))
    if not commit or any(one.get(name) != other.get(name) for name in ("commit_id", "project", "file_name")):
        return False
    if [truth(row.get("target")) for row in (one, other)] not in ([0, 1], [1, 0]):
        return False
    heads = [_NAME.search(_text(row.get("func"))) for row in (one, other)]
    names = {head[1] if head else "" for head in heads}
    return len(names) == 1 and names != {""}


def _shared(row: Row) -> dict[str, object]:
    """The language and the group of a row, and its split, which only a column of that name gives."""
    project, commit = (_text(row.get(column)) for column in ("project", "commit_id"))
    return {"language": _language(row), "group": f"{project} {commit}".strip() if commit else None}


def _language(row: Row) -> str:
    """The language of a row: a column names it, or its file's ending does; else it is C."""
    if named := _text(row.get("language")) or _text(row.get("lang")):
        return _NAMES.get(named.strip().lower(), named.strip().lower())
    ending = PurePosixPath(_text(row.get("file_name"))).suffix.lower()
    if (language := by_ending(ending)) is not None:
        return language.name
    title = without_engine(ending=ending)
    return C if title is None else _NAMES.get(title.lower(), title.lower())


def truth(value: object) -> int | object:
    """1 and 0 for truth values and numbers, also as text; every other value stays."""
    if isinstance(value, str):
        value = {"1": 1, "1.0": 1, "true": 1, "0": 0, "0.0": 0, "false": 0}.get(value.strip().lower(), value)
    return int(value) if value in (0, 1) else value


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""

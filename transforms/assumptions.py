"""What a language's transforms assume of code that they cannot see: the record of one assumption.

Each language has a table of them, its ledger (`transforms/python/ledger.py`), which its `Language` holds.
Each transform that keeps the meaning names the entries on which its edits rest (`language.keeps`,
`TransformFamily.of`); `registry.rests_on` gives those of one edit. The suite, `explain --evidence`,
`list transforms` and the pages of the documentation show them.

An edit that changes the behaviour of a program is therefore one of two things: announced, because the program
breaks an entry on which the edit rests and its file does not show that; or a bug.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

MOST: Final = 20
"""The largest number of entries of a language: a longer list is read by nobody."""

NOT_EDITED: Final = "No transform that rests on this edits the file."
"""What is refused where the text of a file has the sign of an entry."""
Reach: TypeAlias = Literal["place", "function", "callers", "class", "file"]
"""How much is left alone where the file shows that an assumption does not hold: the place, its function, this
function and those that call it, the class, or the whole file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """One entry of a language's ledger. Each text is one sentence, for people."""

    id: str
    """Its name in suites and tables, such as `looks-quiet`."""
    assumed: str
    """What is assumed of code outside of the file."""
    shown: str = ""
    """What in the file shows that the assumption does not hold. Empty: nothing in a file can show it."""
    refused: str = ""
    """What is not done then. Where it is empty and there is a sign, the ledger says what the sign does."""
    reach: Reach = "file"
    """How far that refusal goes."""
    sign: str = ""
    """A regular expression of what shows it, for a language that looks for it in the text of a file. Then no
    transform whose edits rest on the entry is used in that file."""
    words: tuple[str, ...] = ()
    """Every text in which the sign stands has one of these words. They are looked for first, because that is
    much faster. Empty: the sign is looked for in every text."""
    unseen: str = ""
    """What of it the engine does not look for yet, separated by semicolons."""
    example: str
    """What an edit may change where the assumption is false and no file shows it."""
    of_text: bool = False
    """Whether it is about the text of the program, its names and its lines. An edit of which the compiler
    made the same code (evidence `compiled`) can rest on nothing else."""
    of_headers: bool = False
    """Whether it is about what headers define. An edit of a function that was compiled without its file rests
    on it all the same."""
    settled_by: frozenset[str] = frozenset()
    """The evidences of edits that do not rest on it, because their analysis looked it up."""
    further: bool = False
    """Whether it goes beyond what the analysis of the language assumes. `all` leaves out the transforms that
    rest on such an entry, and their evidence is `analysis (assumed)`."""


def ledger(entries: Iterable[Assumption]) -> Mapping[str, Assumption]:
    """The table of a language, by id.

    Raises:
        ValueError: two entries have one id, or there are more than `MOST`.
    """
    rows = [replace(row, refused=row.refused or (row.sign and NOT_EDITED)) for row in entries]
    table = {row.id: row for row in rows}
    if len(table) < len(rows):
        raise ValueError("an assumption stands twice in a ledger")
    if len(table) > MOST:
        raise ValueError(f"a ledger has {len(table)} entries, more than {MOST}")
    return table


Signs: TypeAlias = Mapping[str, tuple[tuple[str, ...], re.Pattern[str]]]
"""By the id of an entry: its words, and its sign."""


def signs_of(table: Mapping[str, Assumption], flags: int = 0) -> Signs:
    """The signs of a ledger; `flags` are those of `re`."""
    return {id: (row.words or ("",), re.compile(row.sign, flags)) for id, row in table.items() if row.sign}


def first_lines(signs: Signs, text: str) -> Mapping[str, int]:
    """The entries whose sign stands in a text, each with the first line of the first sign."""
    near = {id: sign for id, (words, sign) in signs.items() if any(word in text for word in words)}
    matches = {id: sign.search(text) for id, sign in near.items()}
    return {id: text.count("\n", 0, match.start()) + 1 for id, match in matches.items() if match}


def blanked(part: re.Match[str]) -> str:
    """A blank and the line breaks of a part of a text, which take its place: each line keeps its number."""
    return " " + "\n" * part[0].count("\n")

"""Tables with programs in several languages: each row knows what it can be translated into.

A table of your own has it in the columns `TARGET_COLUMNS`. HumanEval-X has one row for each language: where a
table holds its rows in several languages, those with one number are translations of each other.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from codeaudit.transforms.oracle.toolchains import toolchain
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.records import TranslationTarget

TARGET_COLUMNS: Final = ("target_language", "target_prompt", "target_test")
HUMAN_EVAL_X: Final = ("task_id", "prompt", "declaration", "canonical_solution", "test")
_TARGETS: Final = "\0targets"


def translated(
    rows: Iterable[tuple[int, Mapping[str, object]]],
) -> Iterator[tuple[int, Mapping[str, object]]]:
    """The numbered rows. Those of HumanEval-X know their translations; all other tables are unchanged."""
    pending = iter(rows)
    first = next(pending, None)
    if first is None:
        return
    if not all(column in first[1] for column in HUMAN_EVAL_X):
        yield first
        yield from pending
        return
    numbered = [first, *pending]  # some hundred rows
    by_number: dict[str, list[TranslationTarget]] = {}
    for _, row in numbered:
        language, number = _identity(row)
        if language == PYTHON.name or toolchain(language) is not None:
            # The program is the declaration with the solution. The prompt has a docstring with examples.
            head, tests, solution = (_text(row.get(name)) for name in _PARTS)
            if head and tests:
                target = TranslationTarget(language=language, head=head, tests=tests, solution=solution)
                by_number.setdefault(number, []).append(target)
    for place, row in numbered:
        language, number = _identity(row)
        others = tuple(target for target in by_number.get(number, ()) if target.language != language)
        yield place, {**row, _TARGETS: others} if others else row


def as_target(language: str, text: str) -> dict[str, object]:
    """A column for a row that has the same unit in another language, without tests."""
    return {_TARGETS: (TranslationTarget(language=language, head="", tests="", solution=text),)}


_PARTS: Final = ("declaration", "test", "canonical_solution")


def targets_of(row: Mapping[str, object]) -> tuple[TranslationTarget, ...]:
    """What a row can be translated into."""
    targets = row.get(_TARGETS)
    if isinstance(targets, tuple):
        return targets
    language, head, tests = (_text(row.get(column)) for column in TARGET_COLUMNS)
    if not language or not head or not tests:
        return ()
    return (TranslationTarget(language=language.lower(), head=head, tests=tests),)


def _identity(row: Mapping[str, object]) -> tuple[str, str]:
    language, _, number = _text(row.get("task_id")).partition("/")
    return language.lower(), number


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""

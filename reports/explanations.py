"""Describes the smallest edits that flip an answer: as a diff, and counted by construct over many
violations.
"""

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Final, NamedTuple

from codeaudit.audit.records import Answer, Explained, Predicted
from codeaudit.reports import wording
from codeaudit.reports.sheets import Cell, Sheet, numbers, words
from codeaudit.transforms.grammar import counted
from codeaudit.transforms.language import find_language
from codeaudit.transforms.registration import load_target
from codeaudit.transforms.registry import rests_on

KEYWORDS: Final = re.compile(
    r"@?(assert|async|await|break|case|catch|class|continue|def|default|del|do|elif|else|except|finally|for|from"
    r"|global|if|import|lambda|match|nonlocal|pass|raise|return|switch|synchronized|throw|try|while|with|yield)\b"
)
"""First words of a line that name its kind of statement, over all languages."""
CONTEXT: Final = 2
"""Lines of context around a change in a diff."""
SHOWN: Final = 3
"""Number of scores shown beside an answer."""


def diff(explained: Explained) -> list[str]:
    """Return the smallest edit as lines of a unified diff without line ends; the first two lines name both
    sides.
    """
    perturbed = explained.minimal.perturbed
    where = perturbed.sample.origin
    name = wording.plain(f"{where.path}:{where.line}")
    return list(
        difflib.unified_diff(
            perturbed.sample.source.splitlines(),
            perturbed.source.splitlines(),
            name,
            f"{name} ({perturbed.transform})",
            n=CONTEXT,
            lineterm="",
        )
    )


def headline(explained: Explained) -> str:
    """Return one line with the model, the transform, the number of moves, and the number of model calls."""
    all_, few = explained.violated.perturbed.moves, explained.minimal.perturbed.moves
    least = "no smaller set flips it" if explained.smallest else "none of them can be left out"
    calls = counted(explained.queries, "model call")
    return (
        f"{wording.plain(explained.model)}, {explained.minimal.perturbed.transform}, "
        f"sample {explained.minimal.perturbed.sample.id}: {len(few)} of "
        f"{counted(len(all_), 'move')} ({least}; {calls})"
    )


def shifted(explained: Explained) -> str:
    """Return by how much the probability of the answer before differs; empty if nobody knows."""
    shift = explained.minimal.shift
    return "" if shift is None else f"its probability moved by {100 * shift:.1f} points"


class RepeatCounts(NamedTuple):
    """The judged repeats of a sample: how many, and how many of them got another answer than the first."""

    repeats: int = 0
    changed: int = 0


def steadiness(counts: RepeatCounts) -> str:
    """Return whether the repeats of a violated sample were steady; empty if there are none."""
    if not counts.repeats:
        return ""
    if not counts.changed:
        only = "its one repeat" if counts.repeats == 1 else f"all {counts.repeats} repeats"
        return f"steady: {only} of the unchanged input got the first answer"
    return (
        f"unsteady: {counts.changed} of {counted(counts.repeats, 'repeat')} of the unchanged input got "
        "another answer, so this change may be noise"
    )


def moves(explained: Explained) -> str:
    """Return the remaining moves of the edit as text."""
    return wording.plain("; ".join(move.note for move in explained.minimal.perturbed.moves))


def grounds(explained: Explained) -> list[str]:
    """Return how it is known that the edit keeps the meaning, and each assumption that it rests on."""
    edit = explained.minimal.perturbed
    return [f"evidence: {edit.evidence}", *(f"rests on {row.id}: {row.assumed}" for row in rests_on(edit))]


def other_unit(explained: Explained) -> str:
    """Return the other unit of a pair as lines that are safe to show; empty if it is the unit itself, or if
    there is none."""
    edit = explained.minimal.perturbed
    text = edit.other or edit.sample.other
    return "" if text == edit.sample.source else "\n".join(map(wording.plain, text.splitlines()))


def answers(explained: Explained) -> tuple[str, str]:
    """Return both answers, each with its highest scores. Ranks are told as such."""
    every = len(explained.minimal.perturbed.sample.candidates)
    before, after = explained.minimal.before, explained.minimal.after
    return (
        (_ranked(before, every), _ranked(after, every))
        if every
        else (with_scores(before), with_scores(after))
    )


def _ranked(predicted: Predicted, every: int) -> str:
    scored = with_scores(predicted).removeprefix(answer_text(predicted.answer))
    if isinstance(predicted.answer, tuple):
        return f"ranks {', '.join(map(str, predicted.answer))} of {every} for the right candidates{scored}"
    if predicted.answer == 0:
        return f"the right candidate, of {every}, is not named{scored}"
    return f"rank {answer_text(predicted.answer)} of {every} for the right candidate{scored}"


def searched(explained: Explained) -> str:
    """Return the query in words that was asked, as one line; empty without one."""
    return wording.plain(_line(explained.minimal.perturbed.sample.text))


def now_first(explained: Explained) -> tuple[str, str]:
    """Return the number and the text of the candidate that took the first place; both empty if none did."""
    sample, number = explained.minimal.perturbed.sample, explained.minimal.after.first
    place = int(number) - 1 if number.isdecimal() else -1
    right = sample.label if isinstance(sample.label, tuple) else ()
    if (
        not 0 <= place < len(sample.candidates)
        or number in right
        or sample.candidates[place] == sample.source
    ):
        return "", ""
    return number, "\n".join(map(wording.plain, sample.candidates[place].splitlines()))


def reply_text(predicted: Predicted) -> str:
    """Return what the model wrote, with a line between several attempts; empty if nobody kept it."""
    return "\n----\n".join(reply.text for reply in predicted.replies)


def replies(explained: Explained) -> tuple[str, str]:
    """Return both replies as lines of text that are safe to show; both empty if nobody kept one."""
    before, after = (reply_text(answer) for answer in (explained.minimal.before, explained.minimal.after))
    return tuple("\n".join(map(wording.plain, text.splitlines())) for text in (before, after))  # type: ignore[return-value]


def with_scores(predicted: Predicted) -> str:
    """Return an answer with its highest scores, if the model gives scores."""
    best = sorted(predicted.scores, key=lambda pair: (-pair[1], pair[0]))[:SHOWN]
    scores = ", ".join(f"{wording.plain(label)} {score:.3g}" for label, score in best)
    return f"{answer_text(predicted.answer)}{f'  ({scores})' if scores else ''}"


def answer_text(answer: Answer) -> str:
    """Return an answer as text; a set of labels is joined by spaces, and an empty set is shown as such."""
    match answer:
        case float():
            return f"{answer:.6g}"
        case tuple():
            return wording.plain(" ".join(_line(str(part)) for part in answer)) or "(none)"
        case _:
            return wording.plain(_line(answer)) or "(empty)"


def _line(text: str) -> str:
    """Join a text of several lines into one line."""
    return " \N{RETURN SYMBOL} ".join(text.splitlines())


def tally(explained: Iterable[Explained]) -> Sheet:
    """Count which constructs flip answers, by transform. The most frequent come first."""
    groups: dict[tuple[str, str, str], list[Explained]] = defaultdict(list)
    for explanation in explained:
        transform = explanation.minimal.perturbed.transform
        for construct in sorted(set(constructs(explanation))):
            groups[wording.plain(explanation.model), transform, construct].append(explanation)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return Sheet(
        title="What flips answers: smallest edits by transform and construct",
        columns=(
            *words("model", "transform", "construct"),
            *numbers("violations", "median moves", "median calls"),
        ),
        rows=tuple(_row(name, group) for name, group in ordered),
        legend=(
            "construct: the statement (of x86 the instruction) that moves, or where a renamed variable or "
            "register stands first; an edit with several counts for each.",
        ),
    )


def constructs(explained: Explained) -> list[str]:
    """Return the construct at each move of the smallest edit."""
    sample = explained.minimal.perturbed.sample
    lines = sample.source.splitlines()
    record = find_language(sample.language)
    read = load_target(record.constructs) if record is not None and record.constructs else _read
    changed = _changed(lines, explained.minimal.perturbed.source.splitlines())
    phrases = []
    for move in explained.minimal.perturbed.moves:
        old = move.note.split(" -> ")[0]
        if move.kind == "rename" and re.fullmatch(r"[\w%$]+", old):
            first = next((kind for kind, names in map(read, lines) if old in names), "other")
            phrases.append(f"name first in {first}")
        else:
            phrases.append(" and ".join(sorted({read(line)[0] for line in changed})) or "layout")
    return phrases


def _read(line: str) -> tuple[str, frozenset[str]]:
    """The construct of a line, and its words, with and without the sign before a name."""
    return construct(line), frozenset((*re.findall(r"[\w%$]+", line), *re.findall(r"\w+", line)))


def construct(line: str) -> str:
    """Classify the statement that begins a line: its keyword, otherwise `assignment`, `call` or `other`."""
    text = line.strip()
    if word := KEYWORDS.match(text):
        return word.group(1)
    if re.search(r"(?<![=!<>])=(?!=)", re.sub(r"\([^()]*\)", "", text)):
        return "assignment"
    return "call" if "(" in text else "other"


def _changed(before: Sequence[str], after: Sequence[str]) -> list[str]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    spans = [(low, high) for tag, low, high, _, _ in matcher.get_opcodes() if tag != "equal"]
    return [line for low, high in spans for line in before[low:high] if line.strip()]


def _row(name: tuple[str, str, str], group: Sequence[Explained]) -> tuple[Cell, ...]:
    sizes = median(len(explanation.minimal.perturbed.moves) for explanation in group)
    calls = median(explanation.queries for explanation in group)
    texts = (*name, str(len(group)), f"{sizes:g}", f"{calls:g}")
    return tuple(Cell(lines=(text,)) for text in texts)

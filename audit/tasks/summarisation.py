"""Summarisation: what does this function do, in a sentence?

The right answer is the first paragraph of a unit's documentation (`summary_of`). The
code that is shown does not contain it: a docstring, or the comments in front of the unit, are taken out. A
unit whose code shows the same words elsewhere is left out.

The score is smoothed BLEU-4, sentence by sentence, as CodeXGLUE averages it (Lin and Och 2004; Lu et al.
2021): lower-cased, with sacrebleu's tokens `13a`, one added to the counts of 2-grams and longer ones. Reports
add chrF (Popović 2015) and ROUGE-L (Lin 2004), both over the corpus as means of its samples.

When two summaries count as the same, no rule knows for certain. So violations are counted by each of two
rules, and by a third one if a judge is named; all are reported:

- `same words`: equal words in equal order. Case, blanks and punctuation do not count. It is the rule of
  verdicts, gates and searches.
- `chrF of at least 70 %`: the mean of chrF in both directions.
- `judge MODEL`, with `--judge`: what another model says (`codeaudit.audit.judging`).

A control changes the meaning, and a summary in one sentence may fit both. So a good model need not react.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from typing_extensions import override

from codeaudit.audit.interface import FreeText, LabelRequest, LabelSource, SameAnswer, Task
from codeaudit.audit.labels import corpus_labels
from codeaudit.audit.languages import audit_of
from codeaudit.audit.prompts import ContinuationPrompt
from codeaudit.audit.records import Answer, Predicted
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.function_name import name_of
from codeaudit.audit.tasks.scoring import longest_shared
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.parsing import FunctionNode, content, first_line, parse
from codeaudit.transforms.records import Sample
from codeaudit.transforms.registration import load_target


class Documented(NamedTuple):
    """A unit whose documentation stands apart."""

    source: str
    """The text without it."""
    words: str
    """The documentation as written, with the marks of comments. Empty: there is none."""


_COMMENTS: Final = re.compile(r"(?:\s*(?:/\*.*?\*/|//[^\n]*(?:\n|$)))+\s*", re.DOTALL)
"""Comments at the beginning of a text. There no string and no macro can begin with the same signs."""
_HASHES: Final = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)+")
_ABOVE: Final = re.compile(
    r"(?:/\*(?:(?!\*/).)*\*/|(?://[^\n]*\n[ \t]*)*//[^\n]*)[ \t]*\n?[ \t]*$", re.DOTALL
)
"""A comment at the end of a text: a block, or lines of one."""
_MARKS: Final = re.compile(r"^\s*(?:/\*+!?|\*+/|\*(?!/)|//+!?|#+)?\s?|\s*\*+/\s*$")
_DETAILS: Final = re.compile(
    r"\s*(?:@\w+|\\(?:param|return|brief)\b|:\w[\w ]*:|>>>|\.\. |-{3,}|={3,}|```"
    r"|(?:args?|arguments|parameters|params|returns?|raises|throws|yields|examples?|notes?)\s*:)",
    re.IGNORECASE,
)
"""The beginning of a line that tells details: parameters, results, examples."""
_BRIEF: Final = re.compile(r"\s*[@\\]brief\s+")
_WORD: Final = re.compile(r"\w+")


def of_python(source: str) -> Documented | None:
    """The last function of a text and its docstring; `None` if the docstring cannot be taken out."""
    try:
        body = parse(source).body
    except SourceError:
        return None
    functions = [node for node in body if isinstance(node, FunctionNode)]
    if not functions:
        return None
    node = functions[-1]
    # Comments above the first statement describe it.
    skipped = _HASHES.match(source) if first_line(body[0]) == first_line(node) else None
    begin = skipped.end() if skipped else 0
    first = node.body[0]
    if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)) or not isinstance(
        first.value.value, str
    ):
        return Documented(source[begin:], source[:begin].strip())
    lines = source.split("\n")
    end = first.end_lineno or first.lineno
    before = lines[first.lineno - 1].encode()[: first.col_offset]
    behind = lines[end - 1].encode()[first.end_col_offset :]
    if before.strip() or behind.strip():
        return None  # another statement shares its line
    stripped = "\n".join([*lines[: first.lineno - 1], *lines[end:]])[begin:]
    # A second text would become the docstring, and a function of nothing else has no body.
    same = len(node.body) > 1 and content(stripped) == content(source)
    return Documented(stripped, ast.get_docstring(node) or "") if same else None


def of_comments(source: str) -> Documented:
    """A text in a language with comments `/* … */` and `// …`, and the comments at its beginning."""
    match = _COMMENTS.match(source)
    return Documented(source, "") if match is None else Documented(source[match.end() :], match.group())


def comment_above(text: str, line: int) -> str:
    """The comment that ends directly above a line of a file, counted from 1; empty if there is none."""
    match = _ABOVE.search("".join(text.splitlines(keepends=True)[: line - 1]))
    return match.group() if match else ""


def summary_of(words: str) -> str:
    """The first paragraph of a documentation in one line, without the marks of comments and without details;
    empty if there is none."""
    lines: list[str] = []
    for line in words.strip().splitlines():
        plain = _BRIEF.sub("", _MARKS.sub("", line)).strip()
        if _DETAILS.match(plain) or (not plain and lines):
            break
        if plain:
            lines.append(plain)
    return " ".join(" ".join(lines).split())


def shows(source: str, summary: str) -> bool:
    """Whether a text contains the words of a summary in their order, in any layout."""
    words = " ".join(words_of(summary))
    return f" {words} " in f" {' '.join(words_of(source))} "


def words_of(text: str) -> list[str]:
    """The lower-cased words of a text, without punctuation."""
    return _WORD.findall(text.lower())


if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

FEWEST: Final = 3
"""Words of the shortest summary, as in CodeSearchNet."""
NEAR: Final = 0.7
"""Summaries with at least this chrF count as the same by the second rule."""

NEARLY: Final = f"chrF of at least {NEAR * 100:.0f} %"

NO_SUMMARY: Final = "no documentation; a table names its column with --columns label=COLUMN"
SHORT: Final = f"documentation under {FEWEST} words"
NOT_APART: Final = "documentation that cannot be taken out"
STILL_SHOWN: Final = "code that shows its summary elsewhere"

_FENCE: Final = re.compile(r"\s*(?:`{3,}|~{3,})[\w+-]*\s*")
_LABEL: Final = re.compile(
    r"(?:[*_#\s]*(?:(?:one[- ]sentence |short |brief )?summary|answer|docstring|documentation|description)"
    r"[*_\s]*:[*_\s]*)+",
    re.IGNORECASE,
)
_QUOTES: Final = "\"'`*_> \t"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarisation(Task):
    """The type of `SUMMARISATION`."""

    judge: str = ""
    """The model that judges if two summaries say the same; empty without one."""
    says_same: SameAnswer | None = field(default=None, compare=False, repr=False)
    """What it says."""

    @override
    def judged_by(self, name: str, same: SameAnswer) -> "Summarisation":
        return replace(self, judge=name, says_same=same)

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The sample without its documentation, and the summary as its label; or why it is no example."""
        prepared = described(sample)
        return prepared if isinstance(prepared, str) else replace(prepared, text="")

    @override
    def refuses(self, language: str) -> str:
        return "" if audit_of(language).documentation else NOT_APART

    @override
    def normalise(self, answer: object) -> str | None:
        """The first paragraph of a text in one line, without fences, quotes, and a label such as `Summary:`;
        the next paragraph if the first only announces it."""
        if not isinstance(answer, str):
            return None
        lines = [line for line in answer.strip().splitlines() if not _FENCE.fullmatch(line)]
        parts = re.split(r"\n\s*\n", "\n".join(lines).strip())
        first = parts[1] if len(parts) > 1 and parts[0].rstrip("*_ ").endswith(":") else parts[0]
        text = summary_of(_LABEL.sub("", first.strip().strip(_QUOTES), count=1)).strip(_QUOTES)
        return text if words_of(text) else None

    @override
    def same(self, before: Predicted, after: Predicted) -> bool:
        """The same words in the same order."""
        return _same_words(before.answer, after.answer)

    @property
    @override
    def criteria(self) -> Mapping[str, SameAnswer]:
        """The rules by which two summaries count as the same, that of verdicts first."""
        criteria: dict[str, SameAnswer] = {"same words": _same_words, NEARLY: _near}
        return criteria if self.says_same is None else {**criteria, f"judge {self.judge}": self.says_same}

    @override
    def score(self, answer: Answer, sample: Sample) -> float | None:
        """Smoothed BLEU-4 of a summary."""
        if sample.label is None:
            return None
        # Not `sentence_score`: it warns of every setting but its own.
        return float(_bleu().corpus_score([str(answer)], [[str(sample.label)]]).score) / 100

    @override
    def likeness(self, answers: Sequence[tuple[Answer, Sample]]) -> Mapping[str, float]:
        """The means of chrF and of ROUGE-L."""
        pairs = [(str(answer), str(sample.label)) for answer, sample in answers if sample.label is not None]
        if not pairs:
            return {}
        return {
            "chrF": fmean(_chrf(text, right) for text, right in pairs),
            "ROUGE-L": fmean(rouge_l(text, right) for text, right in pairs),
        }


def described(sample: Sample) -> Sample | str:
    """The sample without its documentation, and the first paragraph of that as its label; or why there is
    none."""
    apart = _documented(sample)
    if apart is None:
        return NOT_APART
    named = sample.label == name_of(sample.source, sample.language)
    label = sample.label if isinstance(sample.label, str) and not named else ""
    words = sample.text or sample.documentation or label or apart.words
    if not words and sample.context:
        words = comment_above(sample.context, sample.origin.line)
    summary = summary_of(words)
    if not summary:
        return NO_SUMMARY
    if len(words_of(summary)) < FEWEST:
        return SHORT
    if shows(apart.source, summary):
        return STILL_SHOWN
    return replace(sample, source=apart.source, label=summary)


def _documented(sample: Sample) -> Documented | None:
    """The unit and its documentation; `None` if that cannot be taken out so that the unit can still be
    read."""
    target = audit_of(sample.language).documentation
    if not target:
        return None
    documented: Documented | None = load_target(target)(sample.source)
    if documented is None or documented.source == sample.source:
        return documented
    keeps_name = name_of(documented.source, sample.language) == name_of(sample.source, sample.language)
    return documented if keeps_name else None


def _same_words(before: Answer, after: Answer) -> bool:
    return words_of(str(before)) == words_of(str(after))


def _near(before: Answer, after: Answer) -> bool:
    one, other = str(before), str(after)
    return (_chrf(one, other) + _chrf(other, one)) / 2 >= NEAR


def rouge_l(text: str, reference: str) -> float:
    """The F1 of the longest common subsequence of words (Lin 2004, equations 2 to 4, with beta 1)."""
    # Not by the package `rouge-score`: it had no release since 2022 and brings nltk.
    words, right = _letters(text), _letters(reference)
    shared = longest_shared(words, right)
    return 2 * shared / (len(words) + len(right)) if shared else 0.0


def _letters(text: str) -> list[str]:
    """Words of letters and digits as ROUGE has them: of ASCII only."""
    return re.findall(r"[a-z0-9]+", text.lower())


def _chrf(text: str, reference: str) -> float:
    return float(_metric().sentence_score(text, [reference]).score) / 100


@cache
def _bleu() -> "BLEU":
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(lowercase=True, smooth_method="add-k", smooth_value=1, effective_order=False)


@cache
def _metric() -> "CHRF":
    from sacrebleu.metrics.chrf import CHRF

    return CHRF()


def _labels(request: LabelRequest) -> LabelSource:
    """Labels of the corpus. A run without the library for its scores ends before a model is asked.

    Raises:
        UsageError: as there.
        ImportError: sacrebleu is not installed.
    """
    _bleu()
    return corpus_labels(request)


SUMMARISATION: Final = Summarisation(
    name="summarisation",
    question="What does this function do, in a sentence?",
    answers=FreeText(empty="no summary"),
    score_name="bleu",
    reacts=False,
    labels=_labels,
    wordings=wordings.SUMMARISATION,
    prompt=ContinuationPrompt(
        template=(
            "Write a summary of what this {language} {unit} does, in one sentence. No additional text."
            "\n\n{code}"
        ),
        extent="line",
        bare=False,
    ),
)

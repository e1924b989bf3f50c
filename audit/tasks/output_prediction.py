"""Output prediction: what does this call return?

The source of a query is a complete Python text: the code that the function needs, the function, two empty
lines, and on the last line, unindented, only the call:

    def repeated(word, times=2):
        parts = [word] * times
        return '-'.join(parts)


    repeated('ab', 3)

The arguments of the call are literals, given by position. A perturbation rewrites the function and leaves
the call unchanged, except for the function's own name if that is renamed.

The right answer is a text: `repr` of the returned value (here `'ab-ab-ab'`, with its quotes), or, if the
call raises an exception, the name of its type alone (`ValueError`). Calls are chosen so that the result

- consists of plain values: None, numbers, texts, bytes, and lists, tuples, sets and dicts of them;
- is written in at most 200 characters;
- is equal in two processes.

Execution gives the right answer for every variant, too. A control whose call returns the same value has no
verdict, because it does not test sensitivity.

Two answers are the same if they show equal values of equal types: `1`, `1.0` and `True` differ; blanks,
quotes, and the order of sets and dicts do not count. An answer that shows no value is compared as text. A
number or a list that is no text is malformed, because only text distinguishes `1` from `1.0`, and `(1,)`
from `[1]`.

In JavaScript an answer is a value as a literal (`codeaudit.transforms.javascript.values`). Two are the same
if `util.isDeepStrictEqual` holds for them. Plain values are null, undefined, truth values, numbers, bigints
and strings, and arrays and plain objects of them.
In C and C++ an answer is a value as a literal, too (`codeaudit.audit.corpora.c_values`). Plain values are
numbers, truth values, characters, C strings and strings, and in C++ containers of them that have one order.
A call whose behaviour is undefined, as AddressSanitizer and UndefinedBehaviorSanitizer see it, is no example,
and neither is one that throws an exception. `codeaudit.audit.tasks.written_values` says by language how
values are written and found.
"""

import ast
import hashlib
import json
import re
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeGuard

from typing_extensions import override

from codeaudit.audit.cache import AnswerCache, open_results
from codeaudit.audit.corpora.calls import FINDERS, OTHER_LANGUAGE, Callables, Calls, find
from codeaudit.audit.corpora.records import Corpus, Note, Prepare
from codeaudit.audit.evidence_check import (
    DIFFERS,
    BehavesDifferently,
    BehavesSame,
    FindingCounts,
    Undecided,
    WitnessFinding,
    confirm,
)
from codeaudit.audit.interface import Expectation, FreeText, LabelRequest, LabelSource, Task
from codeaudit.audit.labels import SANDBOX
from codeaudit.audit.prompts import knowing
from codeaudit.audit.records import Case
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.scoring import ExactMatch
from codeaudit.audit.tasks.solutions import version_of
from codeaudit.audit.tasks.written_values import VALUES
from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.grammar import counted, counted_reasons
from codeaudit.transforms.oracle.calls import Caller, Raised, Result, Returned, Unknown
from codeaudit.transforms.oracle.programs import ProgramCaller
from codeaudit.transforms.oracle.single import (
    NO_PROGRAM,
    UNSTABLE,
)
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.records import KEEPS_TEXT, Outcome, Perturbed, Sample
from codeaudit.transforms.seeding import stream

LONGEST: Final = 200
"""Maximum number of characters of a result, and of a call."""

_RAISED: Final = re.compile(
    r"(?:raises?\s+)?(?:builtins\.)?((?:[^\W\d]\w*)?(?:Error|Exception|Exit|Group|Interrupt|Iteration|Warning))"
    r"(?:\s*[:(].*)?",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPrediction(ExactMatch):
    """The type of `OUTPUT_PREDICTION`."""

    answered_in: str = PYTHON.name
    """The language of the values in answers."""

    @override
    def speaking(self, language: str) -> "OutputPrediction":
        values = VALUES.get(language)
        if values is None or language == self.answered_in:
            return self
        # The words of `--label-map` go into the prompt that reads values of this language.
        return replace(
            self,
            answered_in=language,
            prompt=knowing(values.prompt, self.words),
            wordings=values.wordings,
        )

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The sample, if it ends with a call and has a result for its label, or why it is no example."""
        if reason := self.refuses(sample.language):
            return reason
        try:
            if VALUES[sample.language].parted(sample.source) is None:
                return "no call on the last line"
        except SourceError:
            return NOT_PARSED
        return sample if isinstance(sample.label, str) else "no result"

    @override
    def refuses(self, language: str) -> str:
        return "" if language in VALUES else OTHER_LANGUAGE

    @override
    def normalise(self, answer: object) -> str | None:
        """A value, or the name of an exception's type, in a form that equal answers share."""
        if not isinstance(answer, str) or not (text := answer.strip()):
            return None
        value = VALUES[self.answered_in].written(text)
        if value is not None:
            return value
        raised = _RAISED.fullmatch(text)
        return raised[1] if raised else text

    @override
    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """Decided by the results of the call before and after; unknown without both.

        A meaning-keeping variant that was not executed, as in a suite that another program wrote, is
        expected to keep the result.
        """
        before, after = sample.label, perturbed.sample.label
        if perturbed.kind != "control" and after is None:
            return "same"
        if before is None or after is None:
            return "unknown"
        return "same" if before == after else "other"


SCHEMA: Final = 1
"""Goes up whenever other calls are chosen or results are written differently."""
FILE: Final = "outputs.sqlite"
NOTE_SECONDS: Final = 20.0
OTHER_RESULT: Final = "its table says another result than execution"
TRIVIAL: Final = "no call with a result to ask about"

_RESULTS: Final[Mapping[str, type[Result]]] = {
    kind.__name__.lower(): kind for kind in (Returned, Raised, Unknown)
}
_WRONG_KIND: Final = frozenset({"TypeError", "AttributeError"})
"""Exceptions that arguments of a wrong type raise; calls that raise them are no examples."""


def call_results(request: LabelRequest) -> LabelSource:
    """The labels of output prediction.

    Raises:
        UsageError: `--labels` names another source.
    """
    request.refuse(f"the labels of task {request.task.name!r} are found by execution")
    return Outputs(cache=request.cache, note=request.note)


class Outputs(LabelSource):
    """Finds calls and their results. The sandboxes start when they are first needed, and end with this
    object."""

    def __init__(self, *, cache: Path | None = None, note: Note | None = None) -> None:
        """`cache` is a folder for results; `note` receives lines about work that takes long."""
        self._note = note
        self._stack = ExitStack()
        weakref.finalize(self, self._stack.close)
        self._callers: list[Caller] = []
        self._programs: dict[tuple[str, float], ProgramCaller] = {}
        self._cache = self._opened(cache)
        self._tried: Counter[str] = Counter()
        """By the reason why a function has no call to ask about; empty for those that have one."""
        self._last_note = 0.0

    @property
    @override
    def about(self) -> Mapping[str, object]:
        return {"tool": SANDBOX}

    @property
    @override
    def follows_variants(self) -> bool:
        """True: the results of controls differ."""
        return True

    @override
    def examples(self, source: Corpus, task: Task) -> tuple[Corpus, Prepare]:
        """The functions that a call can be found for; each is executed once."""
        return Callables(source), self.prepared

    def prepared(self, sample: Sample) -> Sample | str:
        """The function with a call on its last line and the result as its label; or why it is no example.

        Raises:
            CannotAudit: something has to be executed, and this machine cannot contain programs.
        """
        prepared = self._prepared(sample)
        self._tell("" if isinstance(prepared, Sample) else prepared)
        return prepared

    def _prepared(self, sample: Sample) -> Sample | str:
        calls = find(sample, longest=LONGEST, drawn=self._drawn)
        if isinstance(calls, str):
            return calls
        if (tool := VALUES[sample.language].tool) is not None and tool.missing:
            return tool.missing
        chosen = self._chosen(sample, calls)
        if isinstance(chosen, str):
            return chosen
        call, label = chosen
        # A table whose result is wrong has another question in mind than the one that would be asked.
        if (expected := calls.results.get(call)) and not _are_equal(expected, label, sample.language):
            return OTHER_RESULT
        example = replace(sample, source=calls.program(call), label=label, context="")
        return OUTPUT_PREDICTION.prepare(example)

    @override
    def relabelled(self, cases: Iterator[Case]) -> Iterator[Case]:
        """The cases; each variant is executed, see the module.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        findings = FindingCounts()
        for case in cases:
            variants = [outcome.source for outcome in case.outcomes if _is_variant(outcome)]
            controls = [
                outcome.source
                for outcome in case.outcomes
                if _is_variant(outcome) and outcome.kind == "control"
            ]
            language = case.sample.language
            if language not in VALUES:  # possible in a suite that another program wrote
                yield case
                continue
            seconds, hashes = VALUES[language].judge_seconds, 0 if VALUES[language].runs_twice else 1
            first = dict(zip(variants, self._results(variants, 0, seconds, language), strict=True))
            again = dict(zip(controls, self._results(controls, hashes, seconds, language), strict=True))
            outcomes = [
                _judged(outcome, first[outcome.source], again.get(outcome.source), findings)
                if _is_variant(outcome)
                else outcome
                for outcome in case.outcomes
            ]
            yield replace(case, outcomes=tuple(outcomes))
        if self._note is not None and findings.total:
            self._note(
                f"executed {findings.total:,} variants: {findings.kept:,} give what their original gives, "
                f"{findings.broken.total():,} do not (left out); {findings.changed:,} controls give "
                f"something else, {findings.unchanged:,} the same"
            )

    def _chosen(self, sample: Sample, calls: Calls) -> tuple[str, str] | str:
        """A call and its result, or the reason why there is none."""
        # Tests begin with the simplest cases, such as `f([])`. A random order asks about others, too.
        order = list(calls.calls)
        stream(0, sample.id, "call").shuffle(order)
        language = sample.language
        values = VALUES[language]
        by_call: dict[str, Result] = {}
        fitting: list[str] = []
        # Where each call has a program, none is executed behind the first one with a value to ask about.
        for group in [order] if values.tool is None or values.runs_twice else [[call] for call in order]:
            programs = [calls.program(call) for call in group]
            results = self._results(programs, 0, values.choose_seconds, language)
            by_call |= zip(group, results, strict=True)
            fitting += [
                call for call in group if _is_fit(by_call[call], given=calls.given, nothing=values.nothing)
            ]
            if any(isinstance(by_call[call], Returned) for call in fitting):
                break
        if not fitting:
            reasons = [unknown.reason for unknown in by_call.values() if isinstance(unknown, Unknown)]
            return reasons[0] if len(reasons) == len(by_call) else TRIVIAL
        # A returned value says more about a function than an exception.
        call = min(fitting, key=lambda call: isinstance(by_call[call], Raised))
        again = by_call[call]
        if not values.runs_twice:
            (again,) = self._results([calls.program(call)], 1, values.judge_seconds, language)
        label = answer_of(by_call[call], language)
        return (call, label) if label is not None and answer_of(again, language) == label else UNSTABLE

    def _drawn(self, sample: Sample) -> list[str] | str:
        """Arguments that are drawn for a function, from the cache if they are there."""
        key = _key(sample.source, -1, sample.language)
        if self._cache is not None and (texts := self._cache.fetch([key])):
            return list(json.loads(texts[key]))
        drawn = FINDERS[sample.language].drawn(sample)
        if self._cache is not None and not isinstance(drawn, str):
            self._cache.store({key: json.dumps(drawn)}, run="")
        return drawn

    # ── execution ────────────────────────────────────────────────────────────────────────────────────────

    def _results(self, programs: Sequence[str], hashes: int, seconds: float, language: str) -> list[Result]:
        """The result of each program's last line in a process with this hash seed, from the cache if it is
        there. A language whose calls have processes of their own has no hash seeds: it runs anew."""
        keys = {program: _key(program, hashes, language) for program in programs}
        texts = {} if self._cache is None else self._cache.fetch(list(keys.values()))
        rest = [program for program, key in keys.items() if key not in texts]
        results = self._run(rest, hashes, seconds, language) if rest else []
        fresh = dict(zip(rest, results, strict=True))
        if self._cache is not None and fresh:
            certain = {
                keys[program]: _encode(result) for program, result in fresh.items() if _is_certain(result)
            }
            self._cache.store(certain, run="")
        return [fresh[program] if program in fresh else _decode(texts[keys[program]]) for program in programs]

    def _run(self, programs: Sequence[str], hashes: int, seconds: float, language: str) -> Sequence[Result]:
        tool = VALUES[language].tool
        if tool is None:
            return self._caller(hashes).results(programs, cpu_seconds=seconds)
        if (language, seconds) not in self._programs:
            self._programs[language, seconds] = ProgramCaller(tool, cpu_seconds=seconds)
        caller, part = self._programs[language, seconds], VALUES[language].parted
        return _evaluated(programs, part, caller)

    def _caller(self, hashes: int) -> Caller:
        while len(self._callers) <= hashes:
            self._callers.append(self._stack.enter_context(Caller(hashes=len(self._callers))))
        return self._callers[hashes]

    def _opened(self, folder: Path | None) -> AnswerCache | None:
        cache = None if folder is None else open_results(folder / FILE)
        if cache is not None:
            self._stack.callback(cache.close)
        return cache

    def _tell(self, reason: str) -> None:
        self._tried[reason] += 1
        if (tried := self._tried.total()) == 1:
            self._last_note = time.monotonic()  # the corpus was read first
        elif self._note is not None and time.monotonic() - self._last_note >= NOTE_SECONDS:
            self._last_note = time.monotonic()
            refused = {reason: many for reason, many in self._tried.items() if reason}
            line = f"looked for calls of {counted(tried, 'function')}, found {self._tried['']:,}"
            self._note("; ".join([line, ", ".join(counted_reasons(refused, most=3))]) if refused else line)


def _evaluated(
    programs: Sequence[str], part: Callable[[str], tuple[str, str] | None], caller: ProgramCaller
) -> list[Result]:
    """The results of the calls on the last lines of programs."""
    parts: list[tuple[str, str] | None] = []
    for program in programs:
        with suppress(SourceError):
            parts.append(part(program))
            continue
        parts.append(None)
    evaluated = iter(caller.results([part for part in parts if part is not None]))
    return [Unknown(NO_PROGRAM) if part is None else next(evaluated) for part in parts]


def _are_equal(expected: str, label: str, language: str) -> bool:
    """Whether a table's result is the one that was found. Tables of Python write `1` for `1.0` and for
    `True`."""
    if OUTPUT_PREDICTION.speaking(language).normalise(expected) == label:
        return True
    if language != PYTHON.name:
        return False
    with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return bool(ast.literal_eval(expected) == ast.literal_eval(label))
    return False


def answer_of(result: Result, language: str = PYTHON.name) -> str | None:
    """The right answer in the task's normal form; `None` if the result is unknown."""
    match result:
        case Returned(text) | Raised(text):
            return OUTPUT_PREDICTION.speaking(language).normalise(text)
        case Unknown():
            return None


def _is_fit(result: Result, *, given: bool, nothing: str) -> bool:
    """Whether to ask about a result. If the user gave the call, every known result will do."""
    match result:
        case Returned(text):
            return len(text) <= LONGEST and (given or text != nothing)
        case Raised(kind):
            return given or kind not in _WRONG_KIND
        case Unknown():
            return False


def _is_certain(result: Result) -> bool:
    return not isinstance(result, Unknown) or result.certain


def _is_variant(outcome: Outcome) -> TypeGuard[Perturbed]:
    return isinstance(outcome, Perturbed) and outcome.kind not in KEEPS_TEXT


def _judged(outcome: Perturbed, result: Result, again: Result | None, findings: FindingCounts) -> Outcome:
    """A variant with its own result; `again` is the result of a control in another process."""
    # A control's result becomes its label, so it must be the same each time; the variant's is only compared.
    language = outcome.sample.language
    before, after = outcome.sample.label, _answer_or_reason(result, language)
    if outcome.kind != "control":
        return confirm(outcome, _finding(before, after), findings)
    if again is None or _answer_or_reason(again, language) != after:
        after = None
    labelled = replace(outcome, sample=replace(outcome.sample, label=after))
    return confirm(labelled, _finding(before, after), findings)


def _answer_or_reason(result: Result, language: str) -> str | None:
    """The result of a variant. A result that is no answer differs from every original's."""
    if isinstance(result, Unknown) and result.reason in VALUES[language].differs:
        return f"<{result.reason}>"
    return answer_of(result, language)


def _finding(before: object, after: str | None) -> WitnessFinding:
    if after is None:
        return Undecided("no result")
    return BehavesSame("executed") if after == before else BehavesDifferently("executed", DIFFERS)


def _key(program: str, hashes: int, language: str = PYTHON.name) -> bytes:
    about = (SCHEMA, version_of(language), hashes)
    return hashlib.sha256(repr(about).encode() + program.encode("utf-8", "surrogatepass")).digest()


def _encode(result: Result) -> str:
    match result:
        case Returned(content) | Raised(content) | Unknown(content):
            return json.dumps([type(result).__name__.lower(), content])


def _decode(text: str) -> Result:
    kind, content = json.loads(text)
    return _RESULTS[kind](content)


OUTPUT_PREDICTION: Final = OutputPrediction(
    name="output-prediction",
    question="What does this call return?",
    answers=FreeText(empty="no value"),
    score_name="accuracy",
    labels=call_results,
    wordings=wordings.OUTPUT_PREDICTION,
    prompt=VALUES[PYTHON.name].prompt,
)

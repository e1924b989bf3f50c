"""Input prediction: which arguments make this function return that value?

The other direction of output prediction, as CRUXEval has it. The source of a query is a complete Python text:
the code that the function needs, the function, two empty lines, and on the last line an assertion in which
the arguments are left out:

    def repeated(word, times=2):
        parts = [word] * times
        return '-'.join(parts)


    assert repeated(...) == 'ab-ab-ab'

The answer is a text: the arguments (`'ab', 3`), the call, or the whole assertion. They must be literals; a
text with anything else fails without being executed. Every input that gives the value is right: the arguments
are executed on the function in the sandbox, and its result is compared in another process.

Answers to all variants are executed on the original. A meaning-keeping variant must give the value for the
known arguments, else it is not asked about. A control counts if the known arguments no longer give it: a
model that saw the change should then answer otherwise, and its answer should fail on the original. Other
arguments may fit both, so the best sensitivity may be under 100 %.

In JavaScript the last line is `assert.deepStrictEqual(repeated(/* arguments */), "ab-ab-ab");`, and a program
shares its process with its tests (`codeaudit.transforms.oracle.programs`). In C and C++ it is
`assert_equal(repeated(/* arguments */), "ab-ab-ab");`. `QUESTIONS` says by language how the question is
written and read.
"""

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from typing_extensions import override

from codeaudit.audit.corpora import c_calls, c_values
from codeaudit.audit.corpora.calls import OTHER_LANGUAGE
from codeaudit.audit.corpora.javascript_calls import is_last, reading_of
from codeaudit.audit.evidence_check import DIFFERS
from codeaudit.audit.interface import Expectation, FreeText, LabelRequest, LabelSource
from codeaudit.audit.prompts import ContinuationPrompt
from codeaudit.audit.records import Case
from codeaudit.audit.tasks import wordings
from codeaudit.audit.tasks.output_prediction import Outputs, call_results
from codeaudit.audit.tasks.solutions import fences
from codeaudit.audit.tasks.solving import Solving, keep_results, originals, solutions
from codeaudit.audit.tasks.written_values import VALUES
from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.javascript.language import JAVASCRIPT
from codeaudit.transforms.javascript.values import arguments_text, value_text
from codeaudit.transforms.oracle.c_values import COMPARE
from codeaudit.transforms.oracle.calls import Passed, ProgramTrial, TrialUnjudged
from codeaudit.transforms.oracle.toolchains import STANDARD_HEADERS
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.python.parsing import parse
from codeaudit.transforms.records import KEEPS_TEXT, Outcome, Perturbed, Sample

NO_QUESTION: Final = "no assertion on the last line that leaves its arguments out"
RAISES: Final = "a call that returns nothing to ask about"
NO_ARGUMENTS: Final = "no literal arguments"
"""The failure of an answer that is not executed."""
OTHER_QUESTION: Final = "the question changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class InputPrediction(Solving):
    """The type of `INPUT_PREDICTION`."""

    @override
    def speaking(self, language: str) -> "InputPrediction":
        asks = QUESTIONS.get(language)
        return self if asks is None else replace(self, wordings=asks.wordings)

    @override
    def prepare(self, sample: Sample) -> Sample | str:
        """The sample, if it ends with the question and has the value for its label, or why it is no
        example."""
        if reason := self.refuses(sample.language):
            return reason
        try:
            if QUESTIONS[sample.language].asked_about(sample.source) is None:
                return NO_QUESTION
        except SourceError:
            return NOT_PARSED
        return sample if isinstance(sample.label, str) else "no result"

    @override
    def refuses(self, language: str) -> str:
        return "" if language in QUESTIONS else OTHER_LANGUAGE

    @override
    def trial_of(self, text: str, asked: str, sample: Sample) -> ProgramTrial | str:
        """The original with the arguments of an answer."""
        asks = QUESTIONS[sample.language]
        question = asks.asked_about(sample.source)
        literals = None if question is None else arguments(text, question[1], sample.language)
        if question is None or literals is None:
            return NO_ARGUMENTS
        return _trial(*question, literals, str(sample.label), sample.language)

    @override
    def expects(self, sample: Sample, perturbed: Perturbed) -> Expectation:
        """Another answer under a control that execution confirmed."""
        if perturbed.kind != "control":
            return "same"
        return "other" if perturbed.evidence == "executed" else "unknown"


def asked_about(source: str) -> tuple[str, str] | None:
    """The text before the question, and the name of the function that it asks about; `None` without one.

    Raises:
        SourceError: the text does not parse.
    """
    match parse(source).body[-1:]:
        case [
            ast.Assert(
                test=ast.Compare(
                    left=ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=value)], keywords=[]),
                    ops=[ast.Eq()],
                ),
                col_offset=0,
            ) as last
        ] if value is ...:
            lines = source.splitlines(keepends=True)
            return "".join(lines[: last.lineno - 1]).rstrip("\n"), name
    return None


_ASSERTS: Final = re.compile(
    r"assert\.deepStrictEqual\((?P<name>[A-Za-z_$][\w$]*)\(/\* arguments \*/\), (?P<value>.*)\);?", re.ASCII
)
_BEFORE: Final = re.compile(r"(?:(?:console\.)?assert(?:\.\w+)?\(\s*)?")
_BEHIND: Final = re.compile(r"\s*(?:(?:,|===?)\s*\S.*?)?\s*;?", re.DOTALL)


def asked_in_javascript(source: str) -> tuple[str, str] | None:
    """The JavaScript text before the question, and the name of the function that it asks about.

    Raises:
        SourceError: the text does not parse.
    """
    text, _, line = source.rstrip().rpartition("\n")
    match = _ASSERTS.fullmatch(line)
    if match is None or not is_last(reading_of(source), text):
        return None
    return None if value_text(match["value"]) is None else (text.rstrip(), match["name"])


def _literals_in_javascript(text: str, name: str) -> str | None:
    """The literal arguments of a call; what stands behind the call is not looked at, and never executed."""
    begins = _BEFORE.match(text)
    start = 0 if begins is None else begins.end()
    if not text.startswith(f"{name}(", start):
        return None
    parts = arguments_text(text, start + len(name) + 1)
    return parts[0] if parts is not None and _BEHIND.fullmatch(text, parts[1]) else None


_ASSERTS_IN_C: Final = re.compile(
    r"assert_equal\((?P<name>[A-Za-z_]\w*)\(/\* arguments \*/\), (?P<value>.*)\);?", re.ASCII
)
_BEFORE_IN_C: Final = re.compile(r"(?:assert(?:_equal)?\s*\(\s*)?")


def _asked_in_c(source: str, finder: c_calls.CCalls) -> tuple[str, str] | None:
    """The text of C or C++ before the question, and the name of the function that it asks about."""
    text, _, line = source.rstrip().rpartition("\n")
    match = _ASSERTS_IN_C.fullmatch(line)
    if match is None or c_values.value_text(match["value"]) is None or not finder.is_last(source, text):
        return None
    return text.rstrip(), match["name"]


def _literals_in_c(text: str, name: str) -> str | None:
    """The literal arguments of a call of C or C++; `None` for any other text."""
    begins = _BEFORE_IN_C.match(text)
    start = 0 if begins is None else begins.end()
    if not text.startswith(f"{name}(", start):
        return None
    parts = c_values.arguments_of(text, start + len(name) + 1)
    if parts is None or not _BEHIND.fullmatch(text, parts[1]):
        return None
    return ", ".join(plain for _, plain in parts[0])


def arguments(text: str, name: str, language: str = PYTHON.name) -> str | None:
    """The arguments that an answer gives, written anew; `None` if it shows none that are literals."""
    blocks = fences(text.replace("\r\n", "\n"))
    reply = (blocks[0] if blocks else text).strip().strip("`").strip()
    if not reply:
        return None
    last = reply.splitlines()[-1].strip()
    for line in dict.fromkeys((reply, last)):
        for form in (line, f"{name}({line})"):
            if (literals := QUESTIONS[language].literals(form, name)) is not None:
                return literals
    return None


def _literals(text: str, name: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    match body:
        case [ast.Assert(test=ast.Compare(left=ast.Call() as call, ops=[ast.Eq()]))]:
            pass
        case [ast.Expr(value=ast.Compare(left=ast.Call() as call, ops=[ast.Eq()]))]:
            pass
        case [ast.Expr(value=ast.Call() as call)]:
            pass
        case _:
            return None
    if not isinstance(call.func, ast.Name) or call.func.id != name:
        return None
    try:
        values = [
            ast.literal_eval(node) for node in (*call.args, *(keyword.value for keyword in call.keywords))
        ]
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if any(value is ... for value in values) or any(keyword.arg is None for keyword in call.keywords):
        return None
    named = [f"{keyword.arg}={ast.unparse(keyword.value)}" for keyword in call.keywords]
    return ", ".join([*map(ast.unparse, call.args), *named])


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentQuestion:
    """How a language asks for arguments."""

    asked_about: Callable[[str], tuple[str, str] | None]
    """The text before the question and the name of its function; `None` without a question."""
    literals: Callable[[str, str], str | None]
    """The arguments in a call of the function with this name, if all are literals."""
    left_out: str
    """Stands for the arguments."""
    asserts: str
    """The assertion, with `{call}` and `{value}`."""
    tests: str
    """The same as it is executed."""
    wordings: wordings.Wordings
    before: str = ""
    """Stands before the program that is executed."""

    def line(self, name: str, value: str) -> str:
        """The question."""
        return _filled(self.asserts, f"{name}({self.left_out})", value)


QUESTIONS: Final[Mapping[str, ArgumentQuestion]] = {
    PYTHON.name: ArgumentQuestion(
        asked_about=asked_about,
        literals=_literals,
        left_out="...",
        asserts="assert {call} == {value}",
        tests="assert {call} == {value}\n",
        wordings=wordings.INPUT_PREDICTION,
    ),
    JAVASCRIPT.name: ArgumentQuestion(
        asked_about=asked_in_javascript,
        literals=_literals_in_javascript,
        left_out="/* arguments */",
        asserts="assert.deepStrictEqual({call}, {value});",
        tests="require('node:assert').deepStrictEqual({call}, {value});\n",
        wordings=wordings.INPUT_PREDICTION_BY_COMMENT,
    ),
    **{
        finder.language: ArgumentQuestion(
            asked_about=partial(_asked_in_c, finder=finder),
            literals=_literals_in_c,
            left_out="/* arguments */",
            asserts="assert_equal({call}, {value});",
            tests=COMPARE[finder.language],
            wordings=wordings.INPUT_PREDICTION_BY_COMMENT,
            before=STANDARD_HEADERS[finder.language],
        )
        for finder in (c_calls.OF_C, c_calls.OF_CPP)
    },
}
"""By language."""


def _trial(text: str, name: str, literals: str, value: str, language: str) -> ProgramTrial:
    asks = QUESTIONS[language]
    tests = _filled(asks.tests, f"{name}({literals})", value)
    return ProgramTrial(asks.before + text, tests, (name,), language)


def _filled(template: str, call: str, value: str) -> str:
    parts = {"{call}": call, "{value}": value}
    return re.sub(r"\{call\}|\{value\}", lambda match: parts[match[0]], template)


class Inputs(Outputs):
    """Finds calls and their values, and asks for the arguments."""

    @override
    def prepared(self, sample: Sample) -> Sample | str:
        """The function with the question on its last line and the value as its label; or why it is no
        example.

        Raises:
            CannotAudit: something has to be executed, and this machine cannot contain programs.
        """
        prepared = super().prepared(sample)
        parts = None if isinstance(prepared, str) else VALUES[prepared.language].parted(prepared.source)
        if isinstance(prepared, str) or parts is None:
            return prepared if isinstance(prepared, str) else NO_QUESTION
        text, call = parts
        name, value = call.partition("(")[0], str(prepared.label)
        language = prepared.language
        literals = arguments(call, name, language)
        # Neither an exception nor Python's `nan` equals what a call returns.
        if literals is None or VALUES[language].written(value) is None:
            return RAISES
        if originals().outcomes([_trial(text, name, literals, value, language)]) != [Passed()]:
            return RAISES
        source = f"{text}\n\n\n{QUESTIONS[language].line(name, value)}\n"
        return INPUT_PREDICTION.prepare(replace(prepared, source=source, calls=((literals, value),)))

    @override
    def relabelled(self, cases: Iterator[Case]) -> Iterator[Case]:
        """The cases; each variant is executed with the known arguments.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        for case in cases:
            yield replace(case, outcomes=tuple(_judged(case.sample, case.outcomes)))


def _judged(sample: Sample, outcomes: Sequence[Outcome]) -> Iterator[Outcome]:
    """The outcomes: with evidence if execution gives any, and not applied if a variant must keep the meaning
    and does not, or asks something else."""
    trials = [_known_trial(sample, outcome) for outcome in outcomes]
    ran = iter(solutions().outcomes([trial for trial in trials if trial is not None]))
    for outcome, trial in zip(outcomes, trials, strict=True):
        if not isinstance(outcome, Perturbed) or outcome.kind in KEEPS_TEXT:
            yield outcome
        elif trial is None:
            yield outcome.left_out(OTHER_QUESTION)
        else:
            executed = next(ran)
            if isinstance(executed, TrialUnjudged) or (outcome.kind == "control" and executed == Passed()):
                yield outcome
            elif outcome.kind == "control" or executed == Passed():
                yield replace(outcome, evidence="executed")
            else:
                yield outcome.left_out(DIFFERS)


def _known_trial(sample: Sample, outcome: Outcome) -> ProgramTrial | None:
    """A variant with the known arguments; `None` if its question is another one than the sample's."""
    if not isinstance(outcome, Perturbed) or outcome.kind in KEEPS_TEXT or not sample.calls:
        return None
    asks = QUESTIONS[sample.language]
    try:
        question = asks.asked_about(outcome.source)
    except SourceError:  # possible in what a plug-in wrote
        return None
    literals, value = sample.calls[0]
    if question is None or outcome.source.rstrip().rpartition("\n")[2] != asks.line(question[1], value):
        return None
    return _trial(*question, literals, value, sample.language)


def _labels(request: LabelRequest) -> LabelSource:
    if request.spec is not None:
        return call_results(request)  # which tells that there is no other source
    keep_results(request)
    return Inputs(cache=request.cache, note=request.note)


INPUT_PREDICTION: Final = InputPrediction(
    name="input-prediction",
    question="Which arguments make this call return that value?",
    answers=FreeText(),
    score_name="pass@1",
    labels=_labels,
    wordings=wordings.INPUT_PREDICTION,
    prompt=ContinuationPrompt(
        template=(
            "This {language} code ends with an assertion whose call has no arguments yet. Which arguments, "
            "as literals, make it hold? Answer with the whole call on one line, in one fence. No additional "
            "text.\n\n{code}"
        ),
        extent="code",
        bare=False,
        usual=30,
    ),
)

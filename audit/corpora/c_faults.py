"""Compares functions of C and C++ by execution under sanitizers, and shows their faults.

A function is called with drawn arguments (`c_harness`), each call in a process of its own. A call counts if
the original function returns, twice with the same results, and neither AddressSanitizer nor
UndefinedBehaviorSanitizer reports anything. A changed function has a fault if on such a call a sanitizer
reports one, or if it ends or returns otherwise. A changed function that runs out of time shows nothing.

A function that the file only declares is there, but a call that reaches it shows nothing.

Undefined behaviour disqualifies a call, and so never confirms a change. All versions of a function stand in
one program, unless one of them does not compile or asks for its own name.
"""

import re
import secrets
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Self

from codeaudit.audit.corpora.bugs import BugExecution
from codeaudit.audit.corpora.c_harness import NOT_DRAWN, Harness, harness, with_headers
from codeaudit.transforms.c.files import function_context
from codeaudit.transforms.c.parsing import C
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.oracle.oracle import Agreed, Differed, Inconclusive, Verdict
from codeaudit.transforms.oracle.programs import NOT_COMPILED, Programs
from codeaudit.transforms.oracle.toolchains import SANITIZED, installed

VERSION: Final = 4
"""Raised whenever the same functions are called otherwise, or their faults told otherwise."""
NOT_CLEAN: Final = "no drawn call returns without a report"
NOT_SHOWN: Final = "returns something that is not shown"
NOT_SEEN: Final = "does nothing that is seen"
OTHER_TEXT: Final = "text around the function changed"
OUT_OF_TIME: Final = "the changed function takes too long"
ABSENT: Final = "the changed function calls one that is not in its file"
UNFIT: Final = "the changed function does not compile"

_CALLS: Final = 12
"""Calls that are drawn."""
_USED: Final = 8
"""How many of the calls that count a changed function gets."""
_SECONDS: Final = 1.0
_SHOWN: Final = 200
_HIDDEN: Final = "\0"
"""In results: a value that is not shown."""
_OUT_OF_TIME: Final = (-signal.SIGPROF, -signal.SIGXCPU, -signal.SIGKILL)

_REPORTS: Final = (
    (r"AddressSanitizer: heap-buffer-overflow.*?\nREAD", "heap read out of bounds", 125),
    (r"AddressSanitizer: heap-buffer-overflow", "heap write out of bounds", 122),
    (r"AddressSanitizer: (?:dynamic-)?stack-buffer-\w+flow.*?\nREAD", "stack read out of bounds", 125),
    (r"AddressSanitizer: (?:dynamic-)?stack-buffer-\w+flow", "stack write out of bounds", 121),
    (r"AddressSanitizer: global-buffer-overflow.*?\nREAD", "global read out of bounds", 125),
    (r"AddressSanitizer: global-buffer-overflow", "global write out of bounds", 787),
    (r"AddressSanitizer: heap-use-after-free", "use after free", 416),
    (r"AddressSanitizer: (?:stack-use-after|use-after-poison)", "use after scope", 825),
    (r"AddressSanitizer: attempting double-free", "double free", 415),
    (r"AddressSanitizer: attempting free on address", "free of no allocation", 590),
    (r"AddressSanitizer: stack-overflow", "stack exhausted", 674),
    (r"AddressSanitizer: FPE|runtime error: division by zero", "division by zero", 369),
    (r"runtime error: .*null pointer", "null pointer", 476),
    (r"AddressSanitizer: SEGV on unknown address 0x0{8,}[0-9a-f]{1,4} ", "null pointer", 476),
    (r"runtime error: (?:signed integer overflow|negation of)", "signed overflow", 190),
    (r"runtime error: .*out of bounds", "index out of bounds", 129),
    (r"runtime error: (?:left )?shift", "shift too far", 1335),
    (r"AddressSanitizer|runtime error:", "other report", 119),
)  # fmt: skip
"""What sanitizers report, with a short name and the number of a weakness (CWE) that it shows."""
_MADE: Final = tuple((re.compile(pattern), f"{name} (CWE-{number})") for pattern, name, number in _REPORTS)


def reported(errors: str) -> str:
    """What a sanitizer reports in the errors of a program; empty if it reports nothing."""
    return next((name for pattern, name in _MADE if pattern.search(errors)), "")


@dataclass(frozen=True, slots=True)
class _Call:
    """What one call did."""

    status: int
    told: str | None
    """Its results; `None` if it did not return."""
    report: str
    is_absent: bool = False
    """Whether it called a function that is not there, and so shows nothing."""


@dataclass(frozen=True, slots=True)
class _Original:
    text: Harness
    around: tuple[str, str]
    """What stands before and behind the function in its own text."""
    clean: tuple[tuple[str, str], ...]
    """The calls that count, by number, with their results."""


class Sanitizers:
    """Judges pairs of C functions. A context manager, as `Oracle`."""

    def __init__(self, language: str = C) -> None:
        """Prepare for functions of a language.

        Raises:
            CannotAudit: this machine cannot contain programs, or lacks the compiler.
        """
        self._language = language
        self._tool = SANITIZED[language]
        self._programs = Programs(self._tool, cpu_seconds=_SECONDS)
        self._original = lru_cache(maxsize=4)(self._original_of)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        return None

    def judge(self, original: str, perturbed: str, *, setup: str = "", seed: int = 0) -> Verdict:
        """Compare both functions. `setup` is the text of their file.

        Raises:
            CannotAudit: the compiler does not start.
        """
        return self.judge_all(original, [perturbed], setup=setup, seed=seed)[0]

    def judge_all(
        self, original: str, perturbed: Sequence[str], *, setup: str = "", seed: int = 0
    ) -> list[Verdict]:
        """Compare a function with each of some others, of which each stands in the same text.

        Raises:
            CannotAudit: the compiler does not start.
        """
        reference = self._original(original, setup, seed)
        if isinstance(reference, str):
            return [Inconclusive(reference) for _ in perturbed]
        functions = [self._own(text, reference.around) for text in perturbed]
        texts = list(dict.fromkeys(text for text in functions if text is not None))
        calls = self._versions(reference, texts)
        return [
            Inconclusive(OTHER_TEXT, of_variant=True)
            if text is None
            else self._verdict(reference, calls[text])
            for text in functions
        ]

    def _own(self, text: str, around: tuple[str, str]) -> str | None:
        """The function in a text; `None` if the text around it is not the original's."""
        try:
            context = function_context(text, self._language)
        except SourceError:
            return text if around == ("", "") else None
        return context.source if around == (context.before, context.after) else None

    def _versions(self, original: "_Original", texts: Sequence[str]) -> dict[str, "list[_Call] | str"]:
        """The calls of each text, of all together if that works."""
        numbers = [number for number, _ in original.clean]
        if len(texts) > 1 and original.text.takes_versions(texts):
            runs = [f"{number}/{version}" for version in range(len(texts)) for number in numbers]
            calls = self._called(original.text, texts, runs)
            if not isinstance(calls, str):
                return {
                    text: calls[version * len(numbers) : (version + 1) * len(numbers)]
                    for version, text in enumerate(texts)
                }
        return {text: self._called(original.text, [text], numbers) for text in texts}

    def _verdict(self, original: "_Original", calls: "list[_Call] | str") -> Verdict:
        if isinstance(calls, str):
            return Inconclusive(UNFIT, of_variant=True)
        differences = [
            Differed(
                input=f"call {number}", before=_cut(before), after=_cut(_ending(call)), report=call.report
            )
            for (number, before), call in zip(original.clean, calls, strict=True)
            if call.report or (call.status not in _OUT_OF_TIME and not call.is_absent and call.told != before)
        ]
        if differences:
            return next((verdict for verdict in differences if verdict.report), differences[0])
        if any(call.status in _OUT_OF_TIME for call in calls):
            return Inconclusive(OUT_OF_TIME, of_variant=True)
        if any(call.is_absent for call in calls):
            return Inconclusive(ABSENT, of_variant=True)
        if not any(text.strip(" \n>") for _, text in original.clean):
            return Inconclusive(NOT_SEEN)
        if any(text.find(_HIDDEN) >= 0 for _, text in original.clean):
            return Inconclusive(NOT_SHOWN)
        return Agreed(inputs=len(calls), returned=len(calls), skipped=_CALLS - len(calls))

    def _original_of(self, source: str, context: str, seed: int) -> "_Original | str":
        text = harness(source, context, self._language)
        if isinstance(text, str):
            return text
        unit = function_context(source, self._language)
        numbers = [str(seed * 1000 + number) for number in range(_CALLS)]
        calls = self._called(text, [unit.source], numbers * 2)
        if isinstance(calls, str):
            return calls
        first, second = calls[:_CALLS], calls[_CALLS:]
        clean = tuple(
            (number, call.told)
            for number, call, again in zip(numbers, first, second, strict=True)
            if call.told is not None and not call.report and not call.status and call == again
        )
        return _Original(text, (unit.before, unit.after), clean[:_USED]) if clean else NOT_CLEAN

    def _called(self, text: Harness, functions: Sequence[str], runs: list[str]) -> "list[_Call] | str":
        """What each call did, or why the program says nothing."""
        key = secrets.token_hex(16)
        program = self._tool.before + text.program(functions, key)
        printed, errors, ended, cut = self._programs.ran(program, runs)
        if cut:
            return cut
        if len(ended) <= len(runs):
            return NOT_COMPILED
        if f"\n{key}!\n" in printed:
            return NOT_DRAWN
        results, reports = iter(_parts(printed, key)), iter(_parts(errors, key))
        result, report = next(results, None), next(reports, None)
        calls: list[_Call] = []
        for number, (status, _, _) in zip(runs, ended[1:], strict=True):
            output, errs, is_absent = None, "", False
            if result is not None and result[0] == number:
                is_absent = f"\n{key}~\n" in result[1]
                body, end, _ = result[1].partition(f"\n{key}=\n")
                output = body.replace(f"\n{key}?\n", _HIDDEN).replace(key, "") if end else None
                result = next(results, None)
            if report is not None and report[0] == number:
                errs = report[1]
                report = next(reports, None)
            if output is not None and not status:
                output += errs  # what the function wrote there
            calls.append(_Call(status, output, reported(errs) if status else "", is_absent))
        return calls


def _parts(printed: str, key: str) -> list[tuple[str, str]]:
    """The numbers of the calls that began, each with what was printed from there on."""
    return [
        (head, rest) for part in printed.split(f"\n{key}<")[1:] for head, _, rest in [part.partition("\n")]
    ]


def _ending(call: _Call) -> str:
    if call.report:
        return call.report
    return f"ended with status {call.status}" if call.told is None else call.told


def _cut(text: str) -> str:
    return text.strip()[:_SHOWN]


@cache
def _identity() -> str:
    """What decides a verdict beside the functions: this procedure, and the compiler."""
    compiler = installed(SANITIZED[C])
    return f"sanitizers {VERSION} gcc {compiler.version if compiler else ''}"


C_EXECUTED: Final = BugExecution(
    judges=Sanitizers,
    identity=_identity,
    reports=True,
    around=lambda sample: with_headers(sample.context, sample.file),
)

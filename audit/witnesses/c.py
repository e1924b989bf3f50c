"""The witnesses of C and C++: the compiler, and execution under sanitizers, in the sandbox.

The compiler shows whether a variant is the same code (`object_code`). Execution calls original and variant
with the same drawn arguments (`corpora.c_faults`), where AddressSanitizer and UndefinedBehaviorSanitizer
watch: a call on which the original's behaviour is undefined confirms nothing. A sample with tests of its own
runs on these.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Final

from codeaudit.audit.corpora.c_faults import Sanitizers
from codeaudit.audit.corpora.c_files import function_name
from codeaudit.audit.corpora.c_harness import with_headers
from codeaudit.audit.evidence_check import (
    DIFFERS,
    BehavesDifferently,
    BehavesSame,
    Judge,
    Undecided,
    WitnessFinding,
    combined,
)
from codeaudit.audit.interface import LabelSource
from codeaudit.audit.witnesses.object_code import ObjectCode
from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.headers import TONGUES, compiler_of
from codeaudit.transforms.c.parsing import C
from codeaudit.transforms.errors import CannotAudit
from codeaudit.transforms.oracle.calls import Passed, ProgramTrial, TrialFailed
from codeaudit.transforms.oracle.oracle import Agreed, Differed, Verdict
from codeaudit.transforms.oracle.programs import Programs
from codeaudit.transforms.oracle.toolchains import SANITIZED, Installed, answer_of, installed, toolchain
from codeaudit.transforms.records import Perturbed

AT_ONCE: Final = 4
FAILS: Final = "the original fails its own tests"
NO_RESULT: Final = "no result of its own tests"
_SECONDS: Final = 5.0
"""Processor time of the tests of a sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CTools:
    """What is installed."""

    language: str
    compiler: str | None
    """The file of the compiler that makes code."""
    sanitizing: Installed | None
    """The compiler with sanitizers, where programs can be contained."""
    missing: Sequence[str] = ()
    together: int = AT_ONCE

    @property
    def tools(self) -> Sequence[Mapping[str, object]]:
        """The compiler, and the version of the one with sanitizers."""
        tools: list[Mapping[str, object]] = []
        if self.compiler is not None:
            tools.append({"tool": Path(self.compiler).name, "version": version_of(self.compiler)})
        if self.sanitizing is not None:
            tools.append({"tool": "sanitizers", "version": self.sanitizing.version})
        return tools

    @contextmanager
    def judging(self) -> Iterator[Judge]:
        """A judge that gives the variants of a sample to both tools.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        code = None if self.compiler is None else ObjectCode(self.language, self.compiler)
        runs = None if self.sanitizing is None else _Runs(self.language)

        def judge(variants: Sequence[Perturbed]) -> Iterator[WitnessFinding]:
            for _, ones in groupby(variants, lambda variant: variant.sample.id):
                group = list(ones)
                by_tool = [tool.findings(group) for tool in (code, runs) if tool is not None]
                yield from (combined(findings) for findings in zip(*by_tool, strict=True))

        yield judge


class _Runs:
    """Runs the variants of a sample beside it."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._drawn = Sanitizers(language)
        tool = toolchain(language)
        assert tool is not None
        self._tests = Programs(tool, cpu_seconds=_SECONDS)

    def findings(self, group: Sequence[Perturbed]) -> list[WitnessFinding]:
        """The findings about variants of one sample."""
        sample = group[0].sample
        name = function_name(sample.source, self._language)
        # Tests call a function by its name, which a task may hide.
        if sample.tests is not None and (name is None or re.search(rf"\b{name}\b", sample.tests)):
            return self._tested(group, sample.tests)
        texts = [variant.source for variant in group]
        around = with_headers(sample.context, sample.file, self._language)
        return [_finding(verdict) for verdict in self._drawn.judge_all(sample.source, texts, setup=around)]

    def _tested(self, group: Sequence[Perturbed], tests: str) -> list[WitnessFinding]:
        texts = list(dict.fromkeys([group[0].sample.source, *(variant.source for variant in group)]))
        trials = [ProgramTrial(text, tests, (), self._language) for text in texts]
        first, *_ = outcomes = self._tests.outcomes(trials)
        if not isinstance(first, Passed):
            return [Undecided(FAILS) for _ in group]
        by_text = dict(zip(texts, outcomes, strict=True))
        return [_outcome(by_text[variant.source]) for variant in group]


def _outcome(outcome: object) -> WitnessFinding:
    match outcome:
        case Passed():
            return BehavesSame("executed")
        case TrialFailed(certain=True):
            return BehavesDifferently("executed", DIFFERS)
        case _:
            return Undecided(NO_RESULT)


def _finding(verdict: Verdict) -> WitnessFinding:
    match verdict:
        case Agreed():
            return BehavesSame("executed")
        case Differed():
            return BehavesDifferently("executed", DIFFERS)
        case _:
            return Undecided(f"not executed: {verdict.reason}")


@cache
def version_of(compiler: str) -> str:
    """The version of a compiler."""
    return (answer_of(compiler, "-dumpfullversion", "-dumpversion") or "").strip()


def witness(labels: LabelSource, language: str = C) -> CTools:
    """The witness of C. It ignores `labels`."""
    compiler = compiler_of(TONGUES[language])
    tool = SANITIZED[language]
    missing: list[str] = []
    sanitizing = installed(tool)
    if sanitizing is None:
        missing.append(tool.missing)
    else:
        try:
            Sanitizers(language)
        except CannotAudit as error:
            sanitizing = None
            missing.append(str(error))
    return CTools(language=language, compiler=compiler, sanitizing=sanitizing, missing=tuple(missing))


def witness_of_cpp(labels: LabelSource) -> CTools:
    """The witness of C++. It ignores `labels`."""
    return witness(labels, CPP)

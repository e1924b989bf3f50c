"""Programs from replies, and whether they pass the tests of their problem.

`completed` makes the program: the prompt together with the completion that a model wrote. It accepts these
forms, each also in a fence, with prose around it, or without its indentation:

- the continuation of the prompt, as base models write it; they often go on with other functions;
- the whole function again with its imports, as chat models write it.

A reply in no such form is appended to the prompt unchanged.

`completed_in_braces` does the same for languages whose functions have their statements in braces. What a
model writes behind such a function (examples of use, another fence) is left out.

`Solutions` runs programs in a sandbox, and tests of Python in another process than the program. Results are
cached on disk by the texts of program and tests, so nothing is executed twice. A program that a limit ends
does not pass. A result that a busy machine may have caused is tried once more and not cached.
"""

import ast
import re
import sys
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from textwrap import dedent, indent
from typing import Final

from codeaudit.audit.cache import AnswerCache, default_folder, digest_of, open_results
from codeaudit.audit.prompt_cut import FunctionBody, body_of
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.oracle.calls import (
    Outcome,
    Passed,
    ProgramTrial,
    TrialFailed,
    Trials,
    TrialUnjudged,
)
from codeaudit.transforms.oracle.programs import Programs
from codeaudit.transforms.oracle.toolchains import TOOLCHAINS, installed, toolchain
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.python.parsing import FunctionNode, first_line, parse
from codeaudit.transforms.records import Sample

_EXPORT: Final = re.compile(
    r"^export\s+(?:default\s+)?(?=(?:async\s+)?function\b|const\b|let\b|var\b|class\b)", re.M
)
"""Modules export; the programs that run here are scripts."""
_DECLARED: Final = re.compile(
    r"^(?:async\s+)?(?:function\*?\s+|const\s+|let\s+|var\s+|class\s+)([\w$]+)", re.M
)
"""A name that a line at the margin declares."""
_ARGUMENTS: Final = r"<[^<>\n;(){}=]*(?:<[^<>\n;(){}=]*>[^<>\n;(){}=]*)*>"
# Each repeated part begins otherwise: others would take forever on a line of stars.
_BEFORE: Final = (
    r"^[ \t]*(?!(?:return|else|do|case|default|throw|await|yield|goto|new|delete|typeof|co_\w+)\b)"
    rf"(?:[\w$*]|::)(?:[\w$*& \t]|::|{_ARGUMENTS})*(?:(?<=[ \t*&>])|\n[ \t]*)"
)
"""What stands before the name of a function where it is defined: its type, and no word that begins a
statement which calls it."""
_CLOSES: Final = re.compile(r"^\}")
MOST_CLOSED: Final = 20
"""Braces at the margin that may end the function. Each costs a parse; functions with helpers have fewer."""


def completed_in_braces(prompt: str, text: str, blocks: Sequence[str], language: str) -> str:
    """The program that a reply means; `blocks` are its fences. It need not parse."""
    opened = _opened(prompt, language)
    if opened is None:
        return prompt + text
    defining = [block for block in blocks if _defines(block, opened.name)]
    written = (defining or blocks or [text])[0]
    if _defines(written, opened.name):
        definition = _EXPORT.sub("", _definition(written, opened.name, language, fenced=bool(blocks)))
        before = opened.source[: opened.start]
        # A reply that brings the helpers of the prompt, too, would declare them twice.
        again = set(_DECLARED.findall(before)) & set(_DECLARED.findall(definition))
        return definition if again else before + definition
    return prompt + _continuation(prompt, opened.name, written, language)


def rewritten_in_braces(source: str, text: str, blocks: Sequence[str], language: str) -> str | None:
    """The program in which a reply's function takes the place of the last one (`rewritten`)."""
    opened = _opened(source, language)
    if opened is None or not any(_defines(part, opened.name) for part in (*blocks, text)):
        return None
    return completed_in_braces(source, text, blocks, language)


def opened_name_in_braces(prompt: str, language: str) -> str | None:
    """The name of the function that a prompt leaves unfinished; `None` without one."""
    opened = _opened(prompt, language)
    return None if opened is None else opened.name


def _opened(prompt: str, language: str) -> FunctionBody | None:
    """The unfinished function at the end of a prompt."""
    for ending in ("0;\n}", "}", ""):
        try:
            body = body_of(prompt + ending, language)
        except SourceError:
            continue
        if isinstance(body, FunctionBody):
            return body
    return None


def _defines(text: str, name: str) -> bool:
    """Whether a text defines the function again."""
    return re.search(rf"{_BEFORE}{re.escape(name)}\s*[=(:<]", text, re.MULTILINE) is not None


def _definition(text: str, name: str, language: str, *, fenced: bool) -> str:
    """The definitions of a text up to the function, without prose around them."""
    lines = text.split("\n")
    starts = (
        [0]
        if fenced
        else [n for n, line in enumerate(lines) if _DECLARED.match(line) or _defines(line, name)]
    )
    for start in starts:
        for part in _closed(lines[start:]):
            body = _read(part, language)
            if body is not None and body.name == name:
                return part
    return text


def _continuation(prompt: str, name: str, text: str, language: str) -> str:
    """The part of a text that ends the function."""
    for part in _closed(text.split("\n")):
        body = _read(prompt + part, language)
        if body is not None and body.name == name:
            return part
    return text


def _closed(lines: Sequence[str]) -> Iterator[str]:
    """The beginnings of a text that end with one of its first braces at the margin, and all of it."""
    closed = (number for number, line in enumerate(lines, start=1) if _CLOSES.match(line))
    for number in islice(closed, MOST_CLOSED):
        yield "\n".join(lines[:number]) + "\n"
    yield "\n".join(lines)


def _read(text: str, language: str) -> FunctionBody | None:
    try:
        body = body_of(text, language)
    except SourceError:
        return None
    return body if isinstance(body, FunctionBody) else None


_FENCE: Final = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[^\n`]*\n(?P<code>.*?)(?:^[ \t]*(?P=mark)[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_BEGINS: Final = re.compile(r"(?:(?:async\s+)?def|class|from|import)\s|@")
"""An unindented line that begins a definition or an import."""
_TURNS: Final = re.compile(rf"{_BEGINS.pattern}|(?:print|assert|if\s+__name__)\b|#")
"""An unindented line with which a model leaves the function that it had to finish."""


def completed(prompt: str, reply: str, language: str = PYTHON.name) -> str:
    """The program that a reply to a prompt means. It need not parse."""
    text = reply.replace("\r\n", "\n")
    if language != PYTHON.name:
        return completed_in_braces(prompt, text, fences(text), language)
    opened = _Opened.of(prompt)
    if opened is None:
        return prompt + text
    blocks = fences(text)
    # Chat models often show an example of use in a second fence.
    blocks = [block for block in blocks if opened.defined_in(block)] or blocks[:1]
    written = blocks[0] if blocks else text
    if opened.defined_in(written):
        return opened.before + _definitions(dedent(written))
    return prompt + next(_continuations(prompt, opened.margin, written))


def rewritten(source: str, reply: str, language: str = PYTHON.name) -> str | None:
    """The program in which a reply's function takes the place of the last one of a text; `None` if the reply
    does not define it."""
    text = reply.replace("\r\n", "\n")
    if language != PYTHON.name:
        return rewritten_in_braces(source, text, fences(text), language)
    opened = _Opened.of(source)
    blocks = [*fences(text), text]
    defined = opened is not None and any(opened.defined_in(block) for block in blocks)
    return completed(source, text) if defined else None


def opened_name(prompt: str, language: str = PYTHON.name) -> str | None:
    """The name of the function that a prompt leaves unfinished; `None` without one."""
    if language != PYTHON.name:
        return opened_name_in_braces(prompt, language)
    opened = _Opened.of(prompt)
    return None if opened is None else opened.name


def fences(text: str) -> list[str]:
    """What stands in the fences of a reply."""
    return [fence["code"] for fence in _FENCE.finditer(text)]


@dataclass(frozen=True, slots=True)
class _Opened:
    """The unfinished function at the end of a prompt."""

    name: str
    before: str
    """The prompt's text before the function."""
    margin: str
    """The indentation of its statements."""

    @staticmethod
    def of(prompt: str) -> "_Opened | None":
        for text in (prompt, f"{prompt}    pass\n"):
            try:
                last = parse(text).body[-1]
            except (SourceError, IndexError):
                continue
            if isinstance(last, FunctionNode):
                lines = text.splitlines(keepends=True)
                line = lines[last.body[0].lineno - 1]
                before = "".join(lines[: first_line(last) - 1])
                return _Opened(last.name, before, line[: len(line) - len(line.lstrip())] or "    ")
        return None

    def defined_in(self, text: str) -> bool:
        """Whether a text defines the function again."""
        return (
            re.search(rf"^[ \t]*(?:async\s+)?def\s+{re.escape(self.name)}\b", text, re.MULTILINE) is not None
        )


def _definitions(text: str) -> str:
    """The imports and definitions of a text, without prose around them and without examples of use."""
    lines = text.split("\n")
    # Prose may begin with "from" or "class", so every beginning is tried until a text from there parses.
    begins = [number for number, line in enumerate(lines) if _BEGINS.match(line)]
    for start in begins:
        for end in [len(lines), *reversed(_margins(lines, start + 1))]:
            if (tree := _tree("\n".join(lines[start:end]))) is not None:
                # Examples of use (`print(f(2))`, `if __name__ == …`) would run before the tests and may fail.
                kept = (node for node in tree.body if not isinstance(node, ast.Expr | ast.Assert | ast.If))
                parts = (lines[start:end][first_line(node) - 1 : node.end_lineno] for node in kept)
                return "\n".join(line for part in parts for line in part) + "\n"
    return text


def _continuations(prompt: str, margin: str, text: str) -> Iterator[str]:
    """The continuations that may be meant, the likeliest first; the last one ends where the text leaves the
    function."""
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    plain = _until_margin(prompt, lines)
    if plain.strip() and _tree(prompt + plain) is not None:
        yield plain
    if first is not None and not lines[first][:1].isspace() and not _TURNS.match(lines[first]):
        yield from _moved(prompt, margin, lines[first:])
    yield plain


def _moved(prompt: str, margin: str, lines: Sequence[str]) -> Iterator[str]:
    """The same for lines that lost the indentation of all lines or of the first, or that begin with prose."""
    # "return x" for "    return x": tokenizers and chat templates strip blanks at the beginning of a reply.
    body = indent("\n".join(lines), margin)
    if _tree(prompt + body) is not None:
        yield body
    second = next((line for line in lines[1:] if line.strip()), "")
    if second[:1].isspace():
        stripped = _until_margin(prompt, [margin + lines[0], *lines[1:]])
        if _tree(prompt + stripped) is not None:
            yield stripped
    for end in range(len(lines) - 1, 0, -1):
        part = indent("\n".join(lines[:end]), margin) + "\n"
        if _tree(prompt + part) is not None:
            yield part
    inner = next((number for number, line in enumerate(lines) if line[:1].isspace() and line.strip()), None)
    if inner is not None:
        yield _until_margin(prompt, lines[inner:])


def _until_margin(prompt: str, lines: Sequence[str]) -> str:
    """The lines up to an unindented one at which the function can end. Comments do not end it."""
    ends = _margins(lines, 0)
    for end in ends:
        part = "".join(f"{line}\n" for line in lines[:end])
        if _tree(prompt + part) is not None:
            return part
    text = "\n".join(lines)
    if not ends or _tree(prompt + text) is not None:
        return text
    return "".join(f"{line}\n" for line in lines[: ends[0]])


def _margins(lines: Sequence[str], start: int) -> list[int]:
    """The numbers of unindented lines that are neither empty nor comments nor closing brackets."""
    return [
        number
        for number, line in enumerate(lines)
        if number >= start and line and not line[0].isspace() and line[0] not in "#)]}"
    ]


def _tree(text: str) -> ast.Module | None:
    try:
        return parse(text)
    except SourceError:
        return None


SCHEMA: Final = 3
"""Counts up whenever programs are executed otherwise."""
FILE: Final = "solutions.sqlite"
_PASSES: Final = "passes"
_FAILS: Final = "fails: "
_UNJUDGED: Final = "unjudged: "
"""How results are written on disk."""


_CHECK: Final = re.compile(r"^def check\b", re.MULTILINE)
NOT_RUN: Final = (
    f"in a language whose programs are not executed: only {', '.join(sorted((PYTHON.name, *TOOLCHAINS)))} are"
)


class Solutions:
    """Runs programs. The sandbox starts when it is first needed, and ends with this object."""

    def __init__(self, *, cpu_seconds: float) -> None:
        """`cpu_seconds` is the processor time that each program with its tests may take."""
        self._seconds = cpu_seconds
        self._stack = ExitStack()
        weakref.finalize(self, self._stack.close)
        self._runners: dict[str, Trials | Programs] = {}
        self._folder: Path | None = None
        self._cache: AnswerCache | None = None
        self._opened = False
        self._known: dict[bytes, str] = {}

    def keep(self, folder: Path) -> None:
        """Cache results in this folder from now on, not in the user's cache."""
        if folder != self._folder:
            self._folder, self._opened, self._cache = folder, False, None

    def outcomes(self, trials: Sequence[ProgramTrial]) -> list[Outcome]:
        """The outcome of each trial, in order.

        Raises:
            CannotAudit: this machine can't contain programs.
        """
        keys = {trial: self._key(trial) for trial in trials}
        missing = [key for key in keys.values() if key not in self._known]
        if missing and (disk := self._disk()) is not None:
            self._known |= disk.fetch(missing)
        rest = [trial for trial, key in keys.items() if key not in self._known]
        fresh = dict(zip(rest, self._executed(rest), strict=True)) if rest else {}
        certain = {keys[trial]: _encode(outcome) for trial, outcome in fresh.items() if _is_certain(outcome)}
        self._known |= certain
        if certain and (disk := self._disk()) is not None:
            disk.store(certain, run="")
        return [fresh[trial] if trial in fresh else _decode(self._known[keys[trial]]) for trial in trials]

    def _executed(self, trials: Sequence[ProgramTrial]) -> list[Outcome]:
        outcomes: dict[ProgramTrial, Outcome] = {}
        for language in dict.fromkeys(trial.language for trial in trials):
            runner = self._runner(language)
            group = [trial for trial in trials if trial.language == language]
            outcomes |= zip(group, runner.outcomes(group), strict=True)
            # A limit on time may have been reached because the machine was busy.
            doubtful = [trial for trial in group if not _is_certain(outcomes[trial])]
            outcomes |= zip(doubtful, runner.outcomes(doubtful), strict=True)
        return [outcomes[trial] for trial in trials]

    def _runner(self, language: str) -> Trials | Programs:
        """What runs the programs of a language, started when it is first needed."""
        if language not in self._runners:
            tool = toolchain(language)
            if tool is not None:
                self._runners[language] = Programs(tool, cpu_seconds=self._seconds)
            else:
                self._runners[language] = self._stack.enter_context(Trials(cpu_seconds=self._seconds))
        return self._runners[language]

    def _disk(self) -> AnswerCache | None:
        if not self._opened:
            self._opened = True
            self._cache = open_results((self._folder or default_folder() / "labels") / FILE)
            if self._cache is not None:
                self._stack.callback(self._cache.close)
        return self._cache

    def _key(self, trial: ProgramTrial) -> bytes:
        about = (SCHEMA, version_of(trial.language), self._seconds, trial.names)
        return digest_of(repr(about).encode(), (trial.program, trial.tests))


def unrunnable(language: str) -> str | None:
    """Why programs of a language do not run on this machine; `None` if they run."""
    tool = toolchain(language)
    if tool is not None:
        return tool.missing or None
    return never_run(language) or None


def never_run(language: str) -> str:
    """Why programs of a language run on no machine; empty if they run where their tools are."""
    return "" if language == PYTHON.name or toolchain(language) is not None else NOT_RUN


def tests_of(sample: Sample, name: str) -> str:
    """The tests of a sample as a text that runs; `name` is its function, if its label names none."""
    tests = f"{(sample.tests or '').rstrip()}\n"
    # HumanEval's tests only define `check(candidate)`; other tables bring tests that run as they stand.
    if sample.language == PYTHON.name and _CHECK.search(tests):
        named = isinstance(sample.label, str) and sample.label.isidentifier()
        tests += f"\n\ncheck({sample.label if named else name})\n"
    return tests


def version_of(language: str) -> object:
    """What runs a language. That of Python has no name, so that older results stay known."""
    tool = toolchain(language)
    present = None if tool is None else installed(tool)
    return sys.version_info[:2] if present is None else (language, present.version)


def _encode(outcome: Outcome) -> str:
    match outcome:
        case Passed():
            return _PASSES
        case TrialFailed(reason):
            return _FAILS + reason
        case TrialUnjudged(reason):
            return _UNJUDGED + reason


def _decode(text: str) -> Outcome:
    if text == _PASSES:
        return Passed()
    if text.startswith(_UNJUDGED):
        return TrialUnjudged(text.removeprefix(_UNJUDGED))
    return TrialFailed(text.removeprefix(_FAILS))


def _is_certain(outcome: Outcome) -> bool:
    return not isinstance(outcome, TrialFailed) or outcome.certain

"""The witnesses of JavaScript and TypeScript: original and variant run in node, in the sandbox, and other
readers read both (`javascript_readers`).

The inputs are drawn to fit the text of a function.

Each function runs alone, and each time in a context of its own (`javascript.js`). Its result or exception,
what it did to its arguments, and what it called are compared. Of an exception of the engine only the class
counts: its text names variables. In place of a function elsewhere stands one that tells of its calls. An
input on which a function needs something else that is not there says nothing. If no drawn input makes the
original return, nothing is decided.

The types of TypeScript are erased by the compiler (`transforms.javascript.types`), or by node from version
22.13 on.
"""

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Final

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
from codeaudit.audit.witnesses.javascript_readers import compilers, reading
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.javascript.analysis.scopes import resolve
from codeaudit.transforms.javascript.parsing import JAVASCRIPT, TYPESCRIPT, FunctionText, read_unit
from codeaudit.transforms.javascript.types import INSTALL, find_compiler
from codeaudit.transforms.oracle.programs import Programs
from codeaudit.transforms.oracle.toolchains import Installed, Toolchain, installed, toolchain
from codeaudit.transforms.records import Perturbed
from codeaudit.transforms.seeding import stream
from codeaudit.transforms.syntax.reader import Node, ParsedText

INPUTS: Final = 24
AT_ONCE: Final = 16
NOT_ALONE: Final = "it cannot be executed alone"
UNSTEADY: Final = "the original is not deterministic"
TOO_LONG: Final = "too long to execute"
NO_INPUT: Final = "no drawn input lets it return"
_DRIVER: Final = Path(__file__).with_name("javascript.js")
_CPU_SECONDS: Final = 20.0
_LARGEST: Final = 90_000
"""Characters of what one process gets; it is an argument of a command."""
_STRIPS: Final = (22, 13)
"""The first version of node that erases types."""
_NOWHERE: Final = re.compile(r"(?:threw |broke |! )ReferenceError")
_NUMBERS: Final = ("0", "1", "2", "3", "-1", "7", "10", "2.5")
_TEXTS: Final = ("''", "'a'", "'abc'", "'a b'", "'12'", "'A,b'")
_WORDS_OF_ARRAYS: Final = (
    "length map filter forEach push pop shift unshift slice splice reduce some every find findIndex sort "
    "join concat includes indexOf entries reverse flat flatMap fill keys values"
)
_OF_ARRAYS: Final = frozenset(_WORDS_OF_ARRAYS.split())
_WORDS_OF_TEXTS: Final = (
    "length charAt charCodeAt split trim toLowerCase toUpperCase replace match substring startsWith endsWith "
    "padStart padEnd slice includes indexOf substr repeat codePointAt test localeCompare"
)
_OF_TEXTS: Final = frozenset(_WORDS_OF_TEXTS.split())
_LITERAL: Final = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|(?<![\w.$])\d+(?![\w.])")


@dataclass(frozen=True, slots=True)
class Callee:
    """A function as an expression."""

    text: str
    parameters: tuple[str, ...]
    """Their texts, without types and values."""
    called: tuple[str, ...]
    """The names of functions elsewhere that it calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSandbox:
    """Differential execution of functions in node."""

    language: str
    node: Installed | None
    compiler: str = ""
    """The folder of TypeScript's compiler, where it erases the types."""
    missing: Sequence[str] = ()
    together: int = AT_ONCE

    @property
    def tools(self) -> Sequence[Mapping[str, object]]:
        """The versions of node, which brings two readers, and of TypeScript's compiler."""
        if self.node is None:
            return ()
        return ({"tool": "node", "version": self.node.version}, *compilers())

    @contextmanager
    def judging(self) -> Iterator[Judge]:
        """A judge that runs a sandbox for some samples at once, and asks the readers about all of them.

        Raises:
            CannotAudit: this machine cannot contain programs.
        """
        if self.node is None:
            yield lambda variants: (Undecided(self.missing[0]) for _ in variants)
            return
        tool = toolchain(JAVASCRIPT)
        assert tool is not None
        programs = None if self.missing else Programs(self._tool(tool), cpu_seconds=_CPU_SECONDS)

        def run(variants: Sequence[Perturbed]) -> Iterator[WitnessFinding]:
            if programs is None:
                yield from (Undecided(self.missing[0]) for _ in variants)
                return
            groups = [list(ones) for _, ones in groupby(variants, lambda variant: variant.sample.source)]
            units = [self._unit(group) for group in groups]
            jobs = [unit for unit in units if unit is not None]
            answers = self._run_all(programs, jobs)
            for group, unit in zip(groups, units, strict=True):
                if unit is None:
                    yield from (Undecided(NOT_ALONE) for _ in group)
                else:
                    yield from _findings(next(answers), len(group))

        with reading(self.language) as read:

            def judge(variants: Sequence[Perturbed]) -> Iterator[WitnessFinding]:
                for ran, parsed in zip(run(variants), read(variants), strict=True):
                    yield combined([ran, *parsed])

            yield judge

    def _tool(self, tool: Toolchain) -> Toolchain:
        assert self.node is not None
        readable = (*self.node.readable, *([self.compiler] if self.compiler else []))
        node = replace(self.node, readable=readable)
        return replace(tool, find=lambda: node)

    def _unit(self, group: Sequence[Perturbed]) -> dict[str, object] | None:
        """The texts of a function, the original twice, with their inputs."""
        source = group[0].sample.source
        original = callee(source, self.language)
        if original is None:
            return None
        others = [callee(variant.source, self.language) for variant in group]
        texts = [original.text, original.text, *(other.text if other else "(" for other in others)]
        return {
            "texts": texts,
            "called": original.called,
            "inputs": inputs(original, stream(0, "inputs", source)),
        }

    def _run_all(
        self, programs: Programs, units: Sequence[object]
    ) -> Iterator[list[list[str | None]] | None]:
        """What the texts of each unit did; `None` for one that does not come to its end, or is too large."""
        share: list[object] = []
        room = _LARGEST
        for unit in units:
            size = len(json.dumps(json.dumps(unit)))
            if size > room:
                yield from self._shared(programs, share)
                share, room = [], _LARGEST
            if size > room:
                yield None
            else:
                share.append(unit)
                room -= size
        yield from self._shared(programs, share)

    def _shared(self, programs: Programs, units: Sequence[object]) -> list[list[list[str | None]] | None]:
        """The same for units that one process runs."""
        by_unit = self._run_units(programs, units)
        if by_unit is None:  # one of them may have ended it
            return [(self._run_units(programs, [unit]) or [None])[0] for unit in units]
        return by_unit

    def _run_units(
        self, programs: Programs, units: Sequence[object]
    ) -> list[list[list[str | None]] | None] | None:
        """What each text of each unit did on each input; `None` if the process did not come to its end."""
        if not units:
            return []
        key = secrets.token_hex(16)
        job = {
            "key": key,
            "typescript": self.compiler,
            "isTyped": self.language == TYPESCRIPT,
            "units": units,
        }
        text = f"const job = {json.dumps(job)};\n{_DRIVER.read_text(encoding='utf-8')}"
        printed, _, _, cut = programs.ran(text)
        _, mark, output = printed.rpartition(key)
        try:
            return json.loads(output) if mark and not cut else None
        except ValueError:
            return None


def _findings(runs: list[list[str | None]] | None, count: int) -> Iterator[WitnessFinding]:
    if runs is None:
        yield from (Undecided(TOO_LONG) for _ in range(count))
        return
    first, again, *variants = runs
    usable = [
        place
        for place, outcome in enumerate(first)
        if outcome is not None
        and outcome == again[place]
        and not _NOWHERE.match(outcome)
        and not outcome.startswith("! ")
    ]
    if any(
        one != other and one is not None and other is not None
        for one, other in zip(first, again, strict=True)
    ):
        reason = UNSTEADY
    elif not usable:
        reason = NOT_ALONE
    elif not any((first[place] or "").startswith(("returned", "kept", "gave")) for place in usable):
        reason = NO_INPUT
    else:
        for variant in variants:
            pairs = [(first[place], variant[place]) for place in usable]
            if any(one != other for one, other in pairs if other is not None):
                yield BehavesDifferently("executed", DIFFERS)
            else:
                slow = any(other is None for _, other in pairs)
                yield Undecided(TOO_LONG) if slow else BehavesSame("executed")
        return
    yield from (Undecided(reason) for _ in range(count))


def callee(source: str, language: str) -> Callee | None:
    """The function of a text as an expression; `None` for a constructor, and for what is no function."""
    try:
        reading, declared = read_unit(source, language)
        scopes = resolve(source, language)
    except SourceError:
        return None
    text = _expression(reading, declared)
    if text is None:
        return None
    outer = {
        binding.name
        for binding in scopes.bindings
        if binding.view == "outer" and binding.name != declared.name
    }
    called = (name for name in sorted(outer) if re.search(rf"(?<![\w.$]){re.escape(name)}\(", text))
    return Callee(text, tuple(_parameters(reading, declared.function)), tuple(called))


def _expression(reading: ParsedText, declared: FunctionText) -> str | None:
    node = declared.function
    text = reading.text(node)
    if node.kind == "method_definition":
        head = text[: text.find("(")]
        # An accessor, a constructor, a private name, or words that stand only in classes.
        if declared.name in (None, "constructor") or re.search(r"^(?:get|set|static)\b|#|@|\[", head):
            return None
        text = re.sub(r"^(?:(?:public|private|protected|override|readonly)\s+)+", "", text)
        return f"Object.values({{ {text} }})[0]"
    declares = declared.node.kind in ("local_variable_declaration", "export_statement")
    if node.kind != "function_declaration" and declares and declared.name and declared.name.isidentifier():
        return f"(() => {{ const {declared.name} = {text}; return {declared.name}; }})()"
    return f"({text})"


def _parameters(reading: ParsedText, function: Node) -> Iterator[str]:
    for part in function.children:
        if part.field in ("parameters", "parameter"):
            for parameter in part.children or [part]:
                inner = parameter.child("pattern") or parameter.child("left") or parameter
                if inner.kind != "this":
                    yield reading.text(inner)


def inputs(function: Callee, rng: Random) -> list[str]:
    """Lists of `this` and arguments, as texts. What a text does with a parameter decides what it often is."""
    literals = _LITERAL.findall(function.text)[:20]
    hints = [_hint(function.text, name) for name in ("this", *function.parameters)]
    return [
        "[" + ", ".join(_drawn(hint, literals, rng, self=not place) for place, hint in enumerate(hints)) + "]"
        for _ in range(INPUTS)
    ]


def _hint(text: str, name: str) -> dict[str, bool]:
    """The properties of a parameter that a function uses, and whether it calls them. `()`: it is called;
    `[]`: its items are used; `#`: it is a number."""
    if name.startswith("{"):
        return {member: bool(re.search(rf"\b{member}\(", text)) for member in re.findall(r"[\w$]+", name)}
    word = re.escape(name.removeprefix("..."))
    members = re.findall(rf"(?<![\w.$]){word}!?\??\.([\w$]+)(\(?)", text)
    hint = {member: bool(called) for member, called in members}
    if re.search(rf"(?<![\w.$]){word}\(", text):
        hint["()"] = True
    if name.startswith("[") or re.search(rf"(?<![\w.$]){word}\[|\bof {word}\b|\.\.\.{word}\b", text):
        hint["[]"] = True
    elif re.search(rf"(?<![\w.$]){word}\s*(?:[-*/%<>]|\+\+)|[-*/%<>]=?\s*{word}\b", text):
        hint["#"] = True
    return hint


def _drawn(hint: Mapping[str, bool], literals: Sequence[str], rng: Random, *, self: bool) -> str:
    names = {member for member in hint if member not in ("()", "[]", "#")}
    if self or (names and not names <= _OF_ARRAYS | _OF_TEXTS and rng.random() < 0.9):
        parts = (
            f"{member}: {_member(member, called=called, literals=literals, rng=rng)}"
            for member, called in hint.items()
            if member in names
        )
        return "{ " + ", ".join(parts) + " }"
    if "#" in hint and rng.random() < 0.8:
        return _simple(literals, rng, texts=False)
    if "()" in hint and rng.random() < 0.9:
        return _callback("f", literals, rng)
    if (names or "[]" in hint) and rng.random() < 0.9:
        if names <= _OF_TEXTS and (not names <= _OF_ARRAYS or rng.random() < 0.4):
            return _simple(literals, rng, texts=True)
        return _array(literals, rng)
    return rng.choice(
        (_simple(literals, rng), _simple(literals, rng), _array(literals, rng), "{ a: 1, b: 'x' }")
    )


def _member(name: str, *, called: bool, literals: Sequence[str], rng: Random) -> str:
    if called:
        return _callback(name, literals, rng)
    return rng.choice((_simple(literals, rng), _simple(literals, rng), _array(literals, rng)))


def _callback(name: str, literals: Sequence[str], rng: Random) -> str:
    return f"callback({json.dumps(name)}, {_simple(literals, rng)})"


def _array(literals: Sequence[str], rng: Random) -> str:
    texts = rng.random() < 0.4
    return "[" + ", ".join(_simple(literals, rng, texts=texts) for _ in range(rng.randrange(5))) + "]"


def _simple(literals: Sequence[str], rng: Random, *, texts: bool | None = None) -> str:
    if texts:
        return rng.choice([*_TEXTS, *(literal for literal in literals if literal[0] in "'\"")])
    if texts is False:
        return rng.choice([*_NUMBERS, *(literal for literal in literals if literal[0].isdigit())])
    return rng.choice([*_NUMBERS, *_TEXTS, *literals, "true", "false", "null", "undefined"])


def witness(labels: LabelSource) -> NodeSandbox:
    """The witness of JavaScript. It ignores `labels`."""
    return _sandbox(JAVASCRIPT)


def witness_of_typescript(labels: LabelSource) -> NodeSandbox:
    """The witness of TypeScript. It ignores `labels`."""
    return _sandbox(TYPESCRIPT)


def _sandbox(language: str) -> NodeSandbox:
    tool = toolchain(JAVASCRIPT)
    assert tool is not None
    node = installed(tool)
    if node is None:
        return NodeSandbox(language=language, node=None, missing=(tool.missing,))
    if language == JAVASCRIPT:
        return NodeSandbox(language=language, node=node)
    compiler = find_compiler()
    version = tuple(int(number) for number in re.findall(r"\d+", node.version)[:2])
    missing = (f"nothing erases the types of TypeScript: {INSTALL}, or node 22.13 or newer",)
    return NodeSandbox(
        language=language,
        node=node,
        compiler=str(compiler.folder.resolve()) if compiler else "",
        missing=() if compiler or version >= _STRIPS else missing,
    )

"""Finds calls for functions of C and C++, as `calls` does for those of Python.

They stand in the text itself, in the columns of its table, or in its tests, which call the function by its
name or as `candidate`, with literals or with variables that were made of literals. Where there are no tests,
arguments are drawn as for `--execute` (`c_harness`) and written as literals.

The parser is imported when it is first needed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from codeaudit.audit.corpora.c_drawing import DRAWING, NUMBERS
from codeaudit.audit.corpora.c_values import arguments_of, value_at
from codeaudit.audit.corpora.javascript_calls import NO_CALLS
from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.oracle.c_values import drawn_writer
from codeaudit.transforms.oracle.calls import Returned, Unknown
from codeaudit.transforms.oracle.programs import ProgramCaller
from codeaudit.transforms.oracle.server import BROKEN
from codeaudit.transforms.oracle.single import NOT_PLAIN
from codeaudit.transforms.oracle.toolchains import SANITIZED
from codeaudit.transforms.records import Sample

DRAWN: Final = 12
"""Number of argument lists that are drawn for a function."""
NO_VALUE: Final = "a function that returns nothing"
BY_REFERENCE: Final = "a parameter that is a reference to a variable"
"""No literal is a variable."""

_CALL: Final = re.compile(r"(?<![\w.>:])([A-Za-z_]\w*)\s*\(")
_POINT: Final = re.compile(r"\.0\b")
_ENDS: Final = re.compile(r"\s*;?\s*")
_MADE: Final = re.compile(
    r"(?P<type>(?:const\s+)?[A-Za-z_][\w:]*(?:\s+[A-Za-z_]\w*)*)?(?:\s*<[\w\s:,<>*]*>)?\s*(?P<stars>\**)\s*"
    r"\b(?P<name>[A-Za-z_]\w*)\s*(?P<array>\[\s*\d*\s*\])?\s*=\s*(?!=)"
)
"""What begins a variable that is made of a value."""
_REFERENCE: Final = re.compile(r"^(?!.*\bconst\b)[^&=]*&(?!&)")
"""A parameter that is a reference to what may be changed."""
_VARIABLE: Final = re.compile(r"[A-Za-z_]\w*")
_SECONDS: Final = 1.0
_C: Final = "c"


@dataclass(frozen=True, slots=True)
class CCalls:
    """The calls of a language."""

    language: str
    end: str = ";"
    """Stands behind a call."""

    def obstacle(self, sample: Sample) -> str | None:
        """Why a sample has no function to call; `None` if it has one."""
        from codeaudit.audit.corpora.c_harness import PROGRAM

        heads = self._heads(sample.source)
        if not heads:
            return "no function to call"
        if "main" in heads:
            return PROGRAM
        name = self.function_of(sample)
        if name is None:
            return "the call in its table is no call of a function in the text"
        head = heads[name]
        if isinstance(head, str):
            return head
        return NO_VALUE if head.is_void else BY_REFERENCE if head.takes_variable else None

    def function_of(self, sample: Sample) -> str | None:
        """The name of the function to call: that of its own calls, else that of the label, else the last one;
        `None` without one."""
        names = list(self._heads(sample.source))
        if parts := self.parted(sample.source):
            return parts[1].partition("(")[0]
        if sample.calls:
            called = [begins[1] for call, _ in sample.calls if (begins := _CALL.match(call))]
            return next((name for name in called if name in names), None)
        return str(sample.label) if sample.label in names else names[-1] if names else None

    def parted(self, source: str) -> tuple[str, str] | None:
        """The text before the last line, and the call of a function of the text on that line, with literals;
        `None` if there is no such call alone."""
        text, _, line = source.rstrip().rpartition("\n")
        call = self.whole_call(line)
        if call is None or not text or call[0] not in self._heads(source):
            return None
        return (text.rstrip(), line.rstrip(" ;")) if self.is_last(source, text) else None

    def is_last(self, source: str, before: str) -> bool:
        """Whether an expression is all that stands on the lines behind this beginning of a text."""
        from codeaudit.transforms.c.parsing import READERS

        last = READERS[self.language].parse(source.encode()).root_node.named_children[-1:]
        is_plain = bool(last) and last[0].type == "expression_statement"
        return is_plain and last[0].start_byte == len(f"{before}\n".encode())

    def whole_call(self, text: str) -> tuple[str, str] | None:
        """The function and the arguments of a text that is nothing but a call with literals."""
        begins = _CALL.match(text)
        arguments = arguments_of(text, begins.end()) if begins else None
        if begins is None or arguments is None or _ENDS.fullmatch(text, arguments[1]) is None:
            return None
        return begins[1], ", ".join(plain for _, plain in arguments[0])

    def shown_calls(self, source: str, name: str) -> set[str]:
        """The calls of a function that its text shows, in code or in comments, as `same` writes them."""
        calls = (arguments_of(source, at.end()) for at in _CALL.finditer(source) if at[1] == name)
        return {_call(name, arguments[0]) for arguments in calls if arguments is not None}

    def same(self, call: str) -> str:
        """A call in a form that calls with equal arguments share."""
        begins = _CALL.match(call)
        arguments = arguments_of(call, begins.end()) if begins else None
        return call if begins is None or arguments is None else _call(begins[1], arguments[0])

    def tested(self, sample: Sample, names: frozenset[str]) -> Iterator[str]:
        """The literal arguments with which tests call one of the functions with these names."""
        tests = sample.tests or ""
        head = self._heads(sample.source).get(self.function_of(sample) or "")
        if isinstance(head, str) or head is None:
            return
        variables = self._variables(tests)
        for at in _CALL.finditer(tests):
            if at[1] not in names:
                continue
            arguments = self._arguments(tests, at.end(), variables)
            if arguments is not None and head.least <= len(arguments) <= head.most:
                yield ", ".join(arguments)

    def drawn(self, sample: Sample) -> list[str] | str:
        """Arguments that are drawn, or why there are none."""
        from codeaudit.audit.corpora.c_harness import harness

        text = harness(sample.source, "", self.language)
        if isinstance(text, str):
            return text
        if text.name != self.function_of(sample):
            return NO_CALLS
        if not text.variables:
            return [""]
        if missing := SANITIZED[self.language].missing:
            return missing
        return _drawn(sample.source, self.language)

    def _arguments(
        self, tests: str, at: int, variables: dict[str, list[tuple[int, str]]]
    ) -> list[str] | None:
        """The arguments of the call that opens before this place: literals, or variables made of them."""
        arguments: list[str] = []
        while True:
            while tests[at : at + 1].isspace():
                at += 1
            if tests[at : at + 1] == ")":
                return arguments
            if value := value_at(tests, at):
                arguments.append(value[0])
                at = value[1]
            else:
                name = _VARIABLE.match(tests, at)
                before = [pair for pair in variables.get(name[0] if name else "", []) if pair[0] < at]
                if name is None or not before or _changes(name[0], tests[before[-1][0] : at]):
                    return None
                arguments.append(before[-1][1])
                at = name.end()
            rest = re.compile(r"\s*(?:,|(?=\)))").match(tests, at)
            if rest is None:
                return None
            at = rest.end()

    def _variables(self, tests: str) -> dict[str, list[tuple[int, str]]]:
        """By name: the places at which variables were made of literals, with these."""
        variables: dict[str, list[tuple[int, str]]] = {}
        for at in _MADE.finditer(tests):
            if (value := value_at(tests, at.end())) is None or not re.match(r"\s*[;,]", tests[value[1] :]):
                continue
            text = value[0]
            if at["array"] and self.language == _C:
                size = "".join(at["array"].split())
                items = f"{{{text}}}" if text.startswith('"') else text
                text = f"({at['type']} {at['stars']}".rstrip() + f"{size}){items}"
            variables.setdefault(at["name"], []).append((at.end(), text))
        return variables

    def _heads(self, source: str) -> "dict[str, _Head | str]":
        return _heads(source, self.language)


@dataclass(frozen=True, slots=True)
class _Head:
    """What calls need to know of a function."""

    least: int
    most: int
    is_void: bool
    takes_variable: bool


@lru_cache(maxsize=8)
def _heads(source: str, language: str) -> dict[str, _Head | str]:
    """By name, the functions of a text with what they take, or with why they cannot be read."""
    from codeaudit.transforms.c.cpp.reading import head_of
    from codeaudit.transforms.c.parsing import named, places, read_unit

    heads: dict[str, _Head | str] = {}
    text = source.encode()
    for place in places(text, language):
        if not place.name.isidentifier():
            continue
        try:
            reading, function = read_unit(text[place.start : place.end].decode(), language)
        except SourceError:
            heads[place.name] = NOT_PARSED
            continue
        head, identifier = head_of(function), named(function.part("declarator"))
        if head is None or identifier is None:
            heads[place.name] = NOT_PARSED
            continue
        parameters = [
            parameter for parameter in head.part("parameters").children if reading.text(parameter) != "void"
        ]
        optional = sum("=" in reading.text(parameter) for parameter in parameters)
        is_void = re.search(rb"\bvoid\b[^*]*$", reading.source[function.start : identifier.start]) is not None
        by_reference = any(_REFERENCE.search(reading.text(parameter)) for parameter in parameters)
        heads[place.name] = _Head(len(parameters) - optional, len(parameters), is_void, by_reference)
    return heads


def _changes(name: str, text: str) -> bool:
    """Whether a text may give a variable another value, other than by a call."""
    pattern = rf"\b{name}\s*(?:\.|->|\[|\+\+|--|[-+*/%&|^]?=(?!=))|(?:\+\+|--|&)\s*{name}\b"
    return re.search(pattern, text) is not None


def _call(name: str, arguments: list[tuple[str, str]]) -> str:
    # The type of a parameter makes `1` and `1.0` one argument.
    return _POINT.sub("", f"{name}({', '.join(value for value, _ in arguments)})")


@lru_cache(maxsize=64)
def _drawn(source: str, language: str) -> list[str] | str:
    from codeaudit.audit.corpora.c_harness import NOT_DRAWN, drawing_lines, harness

    text = harness(source, "", language)
    assert not isinstance(text, str)
    lines = drawing_lines(text.variables)
    for number, (variable, declared) in enumerate(text.variables):
        lines += ['  cw_plain(", ");'] if number else []
        lines.append(f"  CW_DRAWN({variable}, {int('const' in declared)});")
    body = "\n".join(lines)
    program = (
        f"{DRAWING}\n{source}\n{text.tables}{drawn_writer(language, NUMBERS)}"
        'int main(int ca_count, char **ca_arguments) {\n  ca_start(ca_arguments[1], "{key}");\n'
        f'  ca_begin();\n{body}\n  cw_tell("value", cw_text);\n}}\n'
    )
    outputs = ProgramCaller(SANITIZED[language], cpu_seconds=_SECONDS).written(
        program, [*map(str, range(DRAWN))]
    )
    texts = [output.text for output in outputs if isinstance(output, Returned)]
    reasons = [output.reason for output in outputs if isinstance(output, Unknown)]
    if texts:
        return list(dict.fromkeys(texts))
    return NOT_DRAWN if reasons[0] in (BROKEN, NOT_PLAIN) else reasons[0]


OF_C: Final = CCalls(_C)
OF_CPP: Final = CCalls(CPP)

"""How values are written in each language that tasks about calls know: read, shown in replies, and asked for.

`VALUES` has a row for each language. `output-prediction` and `input-prediction` read it.
"""

import ast
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf, nan
from typing import Final

from codeaudit.audit.corpora import c_calls, c_values, javascript_calls
from codeaudit.audit.corpora.calls import parted
from codeaudit.audit.prompts import QuestionPrompt
from codeaudit.audit.replies import AnswerShape
from codeaudit.audit.tasks import wordings
from codeaudit.transforms.javascript.language import JAVASCRIPT
from codeaudit.transforms.javascript.values import value_text
from codeaudit.transforms.oracle.programs import NOT_COMPILED
from codeaudit.transforms.oracle.single import (
    MISSING,
    NO_ANSWERS,
    NO_PROGRAM,
    NO_RETURN,
    NO_START,
    THROWS,
    UNDEFINED,
)
from codeaudit.transforms.oracle.toolchains import SANITIZED, TOOLCHAINS, Toolchain
from codeaudit.transforms.python.language import PYTHON

_NUMBERS: Final = {"inf": inf, "nan": nan}


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenValues:
    """How the values of a language are written, and how their calls are found and run."""

    written: Callable[[str], str | None]
    """The value that a text shows, in a form that equal values share; `None` if it shows none."""
    parted: Callable[[str], tuple[str, str] | None]
    """The text before the last line and the call there; `None` without one."""
    nothing: str
    """What a function without a result returns."""
    differs: frozenset[str]
    """Reasons of `Unknown` that are certain, so that a variant with one differs from every original."""
    choose_seconds: float
    """Processor time that a call of an original may take."""
    judge_seconds: float
    """The same for a variant: much more, so that no variant of equal cost is lost."""
    prompt: QuestionPrompt
    wordings: wordings.Wordings
    tool: Toolchain | None = None
    """What evaluates calls; `None` for the sandbox of Python."""

    @property
    def runs_twice(self) -> bool:
        """Whether a result is already that of two processes."""
        return self.tool is not None and bool(self.tool.case)


_RAISED_LINE: Final = re.compile(
    r"(?:raises?\s+)?([\w.]*(?:Error|Exception|Exit|Group|Interrupt|Iteration|Warning))(?::\s.*|\.)?"
)
_OBJECT: Final = re.compile(r"<[^<>]+.*>")
_DISPLAYS: Final = (
    *(ast.Expression, ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Name, ast.Attribute),
    *(ast.UnaryOp, ast.USub, ast.UAdd, ast.BinOp, ast.Add, ast.Sub, ast.Call, ast.keyword, ast.Load),
)
"""Nodes in the text of a value: displays, and calls such as `Counter({'a': 1})`."""


def _shown_value(line: str) -> str | None:
    """The text of a value, or an exception's type; its message may follow."""
    if raised := _RAISED_LINE.fullmatch(line):
        return raised[1]
    if line[:2] in ("- ", "+ "):  # an item of a list; `repr` puts no blank behind a sign
        return None
    if _OBJECT.fullmatch(line):
        return line
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)
            tree = ast.parse(line, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError, SyntaxWarning):
        return None
    # `Counter({'a': 1})` is the text of a value, `x + y if z else w` is prose that happens to parse.
    nodes = list(ast.walk(tree))
    is_display = all(isinstance(node, _DISPLAYS) for node in nodes)
    called = all(
        isinstance(node.func, ast.Name | ast.Attribute) for node in nodes if isinstance(node, ast.Call)
    )
    return line if is_display and called else None


def _certain_value(text: str) -> str | None:
    """The text of a value; no name, because in a sentence `unknown` is a word."""
    sure = _value(text) is not None or _RAISED_LINE.fullmatch(text) or _OBJECT.fullmatch(text)
    return _shown_value(text) if sure else None


_THROWN: Final = re.compile(r"(?:throws?\s+(?:an?\s+)?|Uncaught\s+)")


def _shown_in_javascript(line: str) -> str | None:
    """The text of a value of JavaScript, or an error's type. Backticks are those of Markdown here, not of a
    template."""
    if line[:1] == "`" or line[:2] in ("- ", "+ "):
        return None
    plain = _THROWN.sub("", line.removesuffix(";"), count=1)
    return plain if value_text(plain) is not None else _shown_value(plain)


def _certain_in_javascript(text: str) -> str | None:
    """The text of a value of JavaScript, and no name."""
    plain = _shown_in_javascript(text)
    sure = plain is not None and (value_text(plain) is not None or _RAISED_LINE.fullmatch(plain))
    return plain if sure else None


def _shown_in_c(line: str) -> str | None:
    """The text of a value of C or C++."""
    if line[:1] == "`" or line[:2] in ("- ", "+ "):
        return None
    plain = line.removesuffix(";")
    return plain if c_values.value_text(plain) is not None else _shown_value(plain)


def _certain_in_c(text: str) -> str | None:
    """The text of a value of C or C++, and no name."""
    plain = text.removesuffix(";")
    return plain if c_values.value_text(plain) is not None else None


def _value(text: str) -> str | None:
    """The value that a text shows, in one way of writing; `None` if it shows none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _written(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def _written(node: ast.expr) -> str:
    """A value's text.

    Raises:
        ValueError: the expression shows no value.
    """
    match node:
        case ast.Constant(value=value):
            return repr(value)
        case ast.UnaryOp() | ast.BinOp() | ast.Name():
            return repr(_number(node))
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(name))], keywords=[]):
            return repr(float(name))
        case ast.Tuple(elts=items):
            return f"({', '.join(map(_written, items))}{',' if len(items) == 1 else ''})"
        case ast.List(elts=items):
            return f"[{', '.join(map(_written, items))}]"
        # Sorted, because the order of a set is no part of its value and differs between processes.
        case ast.Set(elts=items):
            return f"{{{', '.join(sorted({_written(item) for item in items}))}}}"
        case ast.Call(func=ast.Name(id="set" | "frozenset" as name), args=[], keywords=[]):
            return f"{name}()"
        case ast.Call(func=ast.Name(id="frozenset"), args=[ast.Set() as items], keywords=[]):
            return f"frozenset({_written(items)})"
        case ast.Dict(keys=keys, values=values):
            # Later values of an equal key win, as in Python; the order of keys does not count.
            pairs = {
                _written(_present(key)): _written(value) for key, value in zip(keys, values, strict=True)
            }
            return f"{{{', '.join(f'{key}: {pairs[key]}' for key in sorted(pairs))}}}"
        case _:
            raise ValueError


def _present(key: ast.expr | None) -> ast.expr:
    if key is None:  # `**` of another dict
        raise ValueError
    return key


def _number(node: ast.expr) -> complex | float | int:
    """A number with its sign, `nan`, `inf`, or the sum of a real and an imaginary part. Zeros keep their
    sign."""
    match node:
        case ast.Constant(value=int() | float() | complex() as value) if not isinstance(value, bool):
            return value
        case ast.Name(id="nan" | "inf" as name):
            return _NUMBERS[name]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=complex() as part)):
            return complex(0.0, -part.imag)  # `-complex` would negate the real part, too
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand)
        # A model may write `+3`, which `repr` never does.
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _number(operand)
        case ast.BinOp(
            left=left, op=ast.Add() | ast.Sub() as sign, right=ast.Constant(value=complex() as part)
        ):
            return complex(_real(left), part.imag if isinstance(sign, ast.Add) else -part.imag)
        case _:
            raise ValueError


def _real(node: ast.expr) -> float:
    """The real part of a sum; `-0` keeps its sign there."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_real(node.operand)
    value = _number(node)
    if isinstance(value, complex):
        raise ValueError
    return float(value)


_SHAPE: Final = AnswerShape(
    alone=_shown_value,
    boxed=_certain_value,
    labels=("output", "result", "return value", "returned value"),
    states=(
        r"(?:the\s+(?:last\s+|final\s+)?(?:call|function|code|program|expression|line)|it|this(?:\s+call)?)"
        r"(?:\s+will)?\s+(?:returns?|evaluates?\s+to|gives?|raises?(?:\s+an?)?|outputs?|prints?)",
    ),
)
_IN_PYTHON: Final = QuestionPrompt(
    template=(
        "This {language} code ends with a call. What does the call return? Answer with one line: the "
        "value as repr() writes it, or, if the call raises an exception, the name of the exception's "
        "type alone. No additional text.\n\n{code}"
    ),
    reader=_SHAPE,
)
_IN_JAVASCRIPT: Final = QuestionPrompt(
    template=(
        "This {language} code ends with a call. What does the call return? Answer with one line: the value "
        "as a literal, or, if the call throws an error, the name of the error's type alone. No additional "
        "text.\n\n{code}"
    ),
    reader=replace(
        _SHAPE,
        alone=_shown_in_javascript,
        boxed=_certain_in_javascript,
        states=(*_SHAPE.states, _SHAPE.states[0].replace("raises?", "throws?")),
    ),
)
_IN_C: Final = QuestionPrompt(
    template=(
        "This {language} code ends with a call. What does the call return? Answer with one line: the value "
        "as a literal. Write a container as a list in braces, such as {1, 2}, and a floating-point number "
        "with a point. No additional text.\n\n{code}"
    ),
    reader=replace(_SHAPE, alone=_shown_in_c, boxed=_certain_in_c),
)


VALUES: Final[Mapping[str, WrittenValues]] = {
    PYTHON.name: WrittenValues(
        written=_value,
        parted=parted,
        nothing="None",
        differs=NO_ANSWERS,
        choose_seconds=0.2,
        judge_seconds=1.0,
        prompt=_IN_PYTHON,
        wordings=wordings.OUTPUT_PREDICTION,
    ),
    # Each call starts node anew, and its limit is one of whole seconds.
    JAVASCRIPT.name: WrittenValues(
        written=value_text,
        parted=javascript_calls.parted,
        nothing="undefined",
        differs=NO_ANSWERS | {MISSING, NO_START, NO_PROGRAM},
        choose_seconds=1.0,
        judge_seconds=4.0,
        prompt=_IN_JAVASCRIPT,
        wordings=wordings.OUTPUT_PREDICTION_IN_JAVASCRIPT,
        tool=TOOLCHAINS[JAVASCRIPT.name],
    ),
    **{
        finder.language: WrittenValues(
            written=c_values.value_text,
            parted=finder.parted,
            nothing="",
            differs=NO_ANSWERS | {UNDEFINED, THROWS, NO_RETURN, NOT_COMPILED, NO_PROGRAM},
            choose_seconds=1.0,
            judge_seconds=4.0,
            prompt=_IN_C,
            wordings=wordings.OUTPUT_PREDICTION_IN_C,
            tool=SANITIZED[finder.language],
        )
        for finder in (c_calls.OF_C, c_calls.OF_CPP)
    },
}
"""By language."""

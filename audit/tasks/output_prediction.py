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
"""

import ast
import re
import warnings
from dataclasses import dataclass
from math import inf, nan
from typing import Final

from codeaudit.audit.answer_kinds import FreeText
from codeaudit.audit.interface import Expectation
from codeaudit.audit.labels import LabelRequest, LabelSource
from codeaudit.audit.prompts import QuestionPrompt
from codeaudit.audit.tasks.exact_match import ExactMatch
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.python.parsing import parse
from codeaudit.transforms.records import Perturbed, Sample

LONGEST: Final = 200
"""Maximum number of characters of a result, and of a call."""

_RAISED: Final = re.compile(
    r"(?:raises?\s+)?(?:builtins\.)?((?:[^\W\d]\w*)?(?:Error|Exception|Exit|Group|Interrupt|Iteration|Warning))"
    r"(?:\s*[:(].*)?",
    re.DOTALL,
)
_NUMBERS: Final = {"inf": inf, "nan": nan}


def parted(source: str) -> tuple[str, str] | None:
    """The text before the last line, and the call on the last line; `None` if there is no call alone.

    Raises:
        SourceError: the text does not parse.
    """
    body = parse(source).body
    match body[-1:]:
        case [ast.Expr(value=ast.Call(func=ast.Name(id=name)), col_offset=0) as last]:
            text, _, call = source.rstrip("\n").rpartition("\n")
            here = last.lineno == last.end_lineno == text.count("\n") + 2
            known = any(isinstance(one, ast.FunctionDef) and one.name == name for one in body)
            return (text.rstrip("\n"), call) if here and known else None
        case _:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPrediction(ExactMatch):
    """The type of `OUTPUT_PREDICTION`."""

    def prepare(self, sample: Sample) -> Sample | str:
        """The sample, if it ends with a call and has a result for its label, or why it is no example."""
        if sample.language != PYTHON.name:
            return "not Python"
        try:
            if parted(sample.source) is None:
                return "no call on the last line"
        except SourceError:
            return "source does not parse"
        return sample if isinstance(sample.label, str) else "no result"

    def normalise(self, answer: object) -> str | None:
        """A value, or the name of an exception's type, in a form that equal answers share."""
        if not isinstance(answer, str) or not (text := answer.strip()):
            return None
        value = _value(text)
        if value is not None:
            return value
        raised = _RAISED.fullmatch(text)
        return raised[1] if raised else text

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
    if _OBJECT.fullmatch(line):
        return line
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)
            tree = ast.parse(line, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError, SyntaxWarning):
        return None
    nodes = list(ast.walk(tree))
    known = all(isinstance(node, _DISPLAYS) for node in nodes)
    called = all(
        isinstance(node.func, ast.Name | ast.Attribute) for node in nodes if isinstance(node, ast.Call)
    )
    return line if known and called else None


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
        case ast.Set(elts=items):
            return f"{{{', '.join(sorted({_written(item) for item in items}))}}}"
        case ast.Call(func=ast.Name(id="set" | "frozenset" as name), args=[], keywords=[]):
            return f"{name}()"
        case ast.Call(func=ast.Name(id="frozenset"), args=[ast.Set() as items], keywords=[]):
            return f"frozenset({_written(items)})"
        case ast.Dict(keys=keys, values=values):
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


def _labels(request: LabelRequest) -> LabelSource:
    from codeaudit.audit.outputs import call_results  # which imports this module

    return call_results(request)


OUTPUT_PREDICTION: Final = OutputPrediction(
    name="output-prediction",
    question="What does this call return?",
    answers=FreeText(),
    score_name="accuracy",
    labels=_labels,
    prompt=QuestionPrompt(
        template=(
            "This {language} code ends with a call. What does the call return? Answer with one line: the "
            "value as repr() writes it, or, if the call raises an exception, the name of the exception's "
            "type alone. No additional text.\n\n{code}"
        ),
        reader=_shown_value,
    ),
)

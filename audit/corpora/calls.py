"""Finds calls for functions whose text is all that is known, with positional literal arguments only.

Sources of calls, in this order:
- the text itself, if it ends with a call;
- the columns of its table, as CRUXEval's `input` and MBPP's `test_list`;
- the tests of the sample, which call `candidate`, as in HumanEval;
- arguments drawn to fit the way in which the text uses its parameters.

`FINDERS` has the other languages.
"""

import ast
import builtins
import symtable
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from typing_extensions import override

from codeaudit.audit.corpora import c_calls, javascript_calls
from codeaudit.audit.corpora.records import Corpus, CorpusAround
from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.errors import NOT_PARSED, SourceError
from codeaudit.transforms.javascript.language import JAVASCRIPT
from codeaudit.transforms.oracle.inputs import inputs
from codeaudit.transforms.python.language import PYTHON
from codeaudit.transforms.python.parsing import FunctionNode, parse
from codeaudit.transforms.records import Sample

DRAWN: Final = 12
"""Number of argument lists that are drawn for a function."""
SEED: Final = 0
CANDIDATE: Final = "candidate"
"""The name of the function in tests."""
CHECK: Final = "check"
"""What tests define."""
OTHER_LANGUAGE: Final = "neither Python, JavaScript, C nor C++"

_BUILTINS: Final = frozenset(dir(builtins)) | {"__name__"}


@dataclass(frozen=True, slots=True)
class Calls:
    """A text without its final call, and the calls that may follow it."""

    text: str
    calls: tuple[str, ...]
    given: bool
    """Whether the text ended with the call, or its table gave the calls."""
    results: Mapping[str, str] = field(default_factory=dict)
    """What the table says that calls give."""
    end: str = ""
    """Stands behind a call."""

    def program(self, call: str) -> str:
        """The text with the call on its last line."""
        return with_call(self.text, call) + self.end

    def programs(self) -> list[str]:
        """One text per call."""
        return [self.program(call) for call in self.calls]


class CallFinder(Protocol):
    """Finds the calls of another language than Python."""

    @property
    def end(self) -> str:
        """Stands behind a call."""

    def obstacle(self, sample: Sample) -> str | None:
        """Why a sample has no function to call; `None` if it has one."""

    def function_of(self, sample: Sample) -> str | None:
        """The name of the function to call; `None` without one."""

    def parted(self, source: str) -> tuple[str, str] | None:
        """The text before the last line and the call there; `None` without one."""

    def whole_call(self, text: str) -> tuple[str, str] | None:
        """The function and the arguments of a text that is nothing but a call with literals."""

    def tested(self, sample: Sample, names: frozenset[str]) -> Iterator[str]:
        """The arguments with which its tests call one of the functions with these names."""

    def drawn(self, sample: Sample) -> list[str] | str:
        """Arguments that are drawn, or why there are none."""

    def shown_calls(self, source: str, name: str) -> set[str]:
        """The calls of a function that its text shows, as `same` writes them."""

    def same(self, call: str) -> str:
        """A call in a form that calls with equal arguments share."""


FINDERS: Final[Mapping[str, CallFinder]] = {
    JAVASCRIPT.name: javascript_calls,
    c_calls.OF_C.language: c_calls.OF_C,
    CPP: c_calls.OF_CPP,
}
"""By language."""


def with_call(text: str, call: str) -> str:
    """The text with the call on its last line, after two empty lines."""
    return f"{text}\n\n\n{call}"


@dataclass(frozen=True, slots=True)
class Callables(CorpusAround):
    """The samples of another corpus that have a function to call, judged by their text."""

    whole: Corpus

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        for sample in self.whole.read(skipped):
            reason = _refused(sample)
            if reason is not None:
                skipped[reason] += 1
            else:
                yield sample


def _refused(sample: Sample) -> str | None:
    """Why a sample has no function to call; `None` if it has one."""
    if sample.language in FINDERS:
        return FINDERS[sample.language].obstacle(sample)
    function = called(sample)
    return function if isinstance(function, str) else None


def called(sample: Sample) -> FunctionNode | str:
    """The function of a sample in Python to call, or the reason why there is none.

    It is the function that the sample's own calls name, else that with the label's name, else the last one.
    """
    if sample.language != PYTHON.name:
        return OTHER_LANGUAGE
    try:
        tree = parse(sample.source)
    except SourceError:
        return NOT_PARSED
    # A later definition of a name replaces the earlier one, as in Python.
    functions = {node.name: node for node in tree.body if isinstance(node, FunctionNode)}
    if not functions:
        return "no function to call"
    function = functions.get(str(sample.label), next(reversed(functions.values())))
    if sample.calls and parted(sample.source) is None:
        named = {name: functions[name] for call, _ in sample.calls if (name := _callee(call)) in functions}
        if not named:
            return "the call in its table is no call of a function in the text"
        function = next(iter(named.values()))
    return _obstacle(function, sample.source) or function


def find(
    sample: Sample, *, longest: int, drawn: Callable[[Sample], list[str] | str] | None = None
) -> Calls | str:
    """Calls of a sample's function, each at most `longest` characters long, or why there is none.

    `drawn` draws the arguments in place of a finder."""
    if (finder := FINDERS.get(sample.language)) is not None:
        return finder.obstacle(sample) or _find_by(sample, finder, longest, drawn or finder.drawn)
    function = called(sample)
    if isinstance(function, str):
        return function
    if (parts := parted(sample.source)) is not None:
        return Calls(parts[0], (parts[1],), given=True)
    if sample.calls:
        return _from_table(sample, function.name, longest)
    texts = _tested(sample.tests) if sample.tests else _drawn(sample.source, function.name)
    return _chosen(sample, [f"{function.name}({arguments})" for arguments in dict.fromkeys(texts)], longest)


def _find_by(
    sample: Sample, finder: CallFinder, longest: int, drawn: Callable[[Sample], list[str] | str]
) -> Calls | str:
    if (parts := finder.parted(sample.source)) is not None:
        return Calls(parts[0], (parts[1],), given=True, end=finder.end)
    name = finder.function_of(sample) or ""
    if sample.calls:
        read = ((finder.whole_call(call), result) for call, result in sample.calls)
        results = {
            f"{name}({call[1]})": result for call, result in read if call is not None and call[0] == name
        }
        return _of_table(sample, results, longest, finder.end)
    texts = [*finder.tested(sample, frozenset({name, CANDIDATE}))] if sample.tests else drawn(sample)
    if isinstance(texts, str):
        return texts
    calls = [f"{name}({arguments})" for arguments in dict.fromkeys(texts)]
    shown = finder.shown_calls(sample.source, name)  # also where numbers and texts are written otherwise
    return _chosen(sample, [call for call in calls if finder.same(call) not in shown], longest, finder.end)


def _chosen(sample: Sample, calls: Sequence[str], longest: int, end: str = "") -> Calls | str:
    """The short ones of these calls that the text does not show."""
    short = [call for call in calls if len(call) <= longest]
    # A docstring with `>>> f(3)` and its result would give the answer away.
    untold = [call for call in short if _plain(call) not in _plain(sample.source)]
    if not untold:
        return "the source gives the result of every call" if short else "no call with short literals"
    return Calls(sample.source.rstrip("\n"), tuple(untold), given=False, end=end)


def _from_table(sample: Sample, name: str, longest: int) -> Calls | str:
    """The calls of its table, written anew; others are never drawn in their place."""
    results: dict[str, str] = {}
    for call, result in sample.calls:
        if _callee(call) == name:
            for arguments in _arguments(ast.parse(call, mode="eval").body):  # type: ignore[arg-type]
                results.setdefault(f"{name}({arguments})", result)
    return _of_table(sample, results, longest)


def _of_table(sample: Sample, results: Mapping[str, str], longest: int, end: str = "") -> Calls | str:
    if not results:
        return "the call in its table has arguments that are no literals by position"
    short = {call: result for call, result in results.items() if len(call) <= longest}
    untold = tuple(call for call in short if _plain(call) not in _plain(sample.source))
    if not untold:
        return "the source gives the result of every call" if short else "no call with short literals"
    return Calls(sample.source.rstrip("\n"), untold, given=True, results=short, end=end)


def _callee(call: str) -> str | None:
    """The name of the function that a text calls; `None` if it is no call."""
    try:
        body = ast.parse(call, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return body.func.id if isinstance(body, ast.Call) and isinstance(body.func, ast.Name) else None


def asserted_calls(asserts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The calls in asserts such as `assert f(1) == 2`, with what they must give."""
    for text in asserts:
        try:
            body = ast.parse(text.strip()).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        match body:
            case [
                ast.Assert(test=ast.Compare(left=ast.Call() as call, ops=[ast.Eq()], comparators=[result]))
            ]:
                yield ast.unparse(call), ast.unparse(result) if _are_literals([result]) else ""


def _obstacle(function: FunctionNode, source: str) -> str | None:
    """Why calls of the function have no result to ask about; `None` if its text shows no reason."""
    parameters = [*function.args.posonlyargs, *function.args.args]
    # Calling a generator or coroutine runs none of its body: the result is an object without a value.
    suspends = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in _own(function))
    if suspends or isinstance(function, ast.AsyncFunctionDef):
        return "generator or coroutine"
    if parameters and parameters[0].arg in ("self", "cls"):
        return "method"  # no literal is an object of its class
    # `def f(*, width)`: a keyword-only parameter without a default is `None` in `kw_defaults`.
    if any(default is None for default in function.args.kw_defaults):
        return "no call by position"
    return "it needs what is not there" if _missing(source) else None


def _own(function: FunctionNode) -> Iterator[ast.AST]:
    """The nodes of a function without those of nested functions."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, FunctionNode | ast.Lambda):
            pending += ast.iter_child_nodes(node)


def _missing(source: str) -> bool:
    """Whether a text reads a global name that neither the text nor `builtins` binds."""
    try:
        top = symtable.symtable(source, "<text>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    bound, read = set[str](), set[str]()
    pending = [top]
    while pending:
        table = pending.pop()
        for symbol in table.get_symbols():
            if table is top or symbol.is_global():
                is_bound = symbol.is_assigned() or symbol.is_imported()
                (bound if is_bound else read).add(symbol.get_name())
        pending += table.get_children()
    return not read <= bound | _BUILTINS


def _tested(tests: str) -> Iterator[str]:
    """The literal arguments with which tests call the candidate."""
    try:
        tree = parse(tests)
    except SourceError:
        return
    # HumanEval-X calls the parameter of `check` as the function.
    checks = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == CHECK]
    names = {CANDIDATE, *(check.args.args[0].arg for check in checks if check.args.args)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield from _arguments(node)


def _drawn(source: str, name: str) -> Iterator[str]:
    for text in inputs(source, function=name, seed=SEED, count=DRAWN):
        node = parse(f"f{text}").body[0]
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield from _arguments(node.value)


def _arguments(call: ast.Call) -> Iterator[str]:
    """The arguments of a call as text, if they are positional literals."""
    if call.keywords or not _are_literals(call.args):
        return
    # Written anew, because the call in the tests may span lines, and the question has one last line.
    text = ", ".join(map(ast.unparse, call.args))
    if text.isprintable():
        yield text


def _are_literals(nodes: Sequence[ast.expr]) -> bool:
    try:
        for node in nodes:
            ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _plain(text: str) -> str:
    """A text without white space and with one kind of quotes, for comparison."""
    return "".join(text.split()).replace('"', "'")


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
            is_defined = any(isinstance(node, ast.FunctionDef) and node.name == name for node in body)
            return (text.rstrip("\n"), call) if here and is_defined else None
        case _:
            return None

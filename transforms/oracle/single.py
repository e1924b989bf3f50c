"""Inside the sandbox: executes a text that ends with an expression, for `calls`. A `server.Target`.

The value is carried out of the process (`carry`), and only if it consists of plain builtin values. The parent
writes its text. The text that is executed here is foreign and shares the process with its observer, so it can
lie about its own value; nothing is compared here.
"""

import ast
import builtins
import io
import random
import sys
import types
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final

from codeaudit.transforms.oracle.carry import ValueWriter, message

# The functions here have builtins of their own: programs may replace those that all modules share.
globals()["__builtins__"] = dict(vars(builtins))

MOST_PARTS: Final = 500
"""Most parts of a value; a larger value is no short answer."""
MOST_BITS: Final = 4_000
"""Most bits of an integer."""
TOO_LONG: Final = "a result that is too long"
NOT_PLAIN: Final = "a result of no plain values"
NO_ANSWERS: Final = frozenset({TOO_LONG, NOT_PLAIN})
"""Reasons for results that are certain and yet no short answer."""
NO_PROGRAM: Final = "source does not parse"
NO_START: Final = "it cannot be executed alone"
MISSING: Final = "it needs what is not there"
UNSTABLE: Final = "a result that is not the same each time"
UNDEFINED: Final = "a call whose behaviour is undefined"
THROWS: Final = "a call that throws an exception"
NO_RETURN: Final = "a call that does not return"
REASONS: Final = NO_ANSWERS | {NO_PROGRAM, NO_START, MISSING}
"""All reasons for neither a value nor an exception."""
_NAME: Final = "sample"
_SMALL: Final = frozenset(map(id, (type(None), bool, float, complex)))
_CONTAINERS: Final = frozenset(map(id, (list, tuple, set, frozenset)))
"""By identity: looking up a type itself would call code of its metaclass."""
_UNFIT: Final = (ImportError, MemoryError, OSError, RecursionError)
"""Exceptions that say more about the place where a program ran than about the program."""


def warm() -> None:
    """Called in the server before it is closed in: load everything that a job needs."""
    run({"source": "def f(a):\n    return {a: [1.5]}\nf('a')\n"}, 0, lambda answer: None)


def prepare(job: dict[str, Any]) -> None:
    """Does nothing: the texts are foreign, and only the child process may read them."""


def run(job: Mapping[str, Any], start: int, answer: Callable[[str], None]) -> None:
    """Answer once, with one of these as JSON:

    - `value` and `nodes`: the value, see `carry`;
    - `kind`: the name of the type of the exception;
    - `unfit`: the reason why there is neither a value nor an exception of the program.
    """
    warnings.simplefilter("ignore")
    # A value that depends on chance should differ from process to process, so that the caller sees that it is
    # no answer: all children would share the server's state.
    random.seed()
    streams = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.StringIO()
    sys.stdout = sys.stderr = io.TextIOWrapper(Nowhere(), "utf-8", "backslashreplace")
    # In `sys.modules` under its name, because dataclasses and pickle look their module up there.
    module = sys.modules[_NAME] = types.ModuleType(_NAME)
    module.__dict__["__builtins__"] = vars(builtins)
    try:
        values = _valued(job["source"], module.__dict__)
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
    answer(message(values))


class Nowhere(io.RawIOBase):
    """A stream that discards everything written to it."""

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, data: Any) -> int:
        """Discard the data; returns their length."""
        return len(data)


def _valued(source: str, space: dict[str, Any]) -> dict[str, Any]:
    try:
        *body, last = ast.parse(source).body
        assert isinstance(last, ast.Expr)
        program = compile(ast.Module(body, []), "<sample>", "exec", dont_inherit=True)
        call = compile(ast.Expression(last.value), "<sample>", "eval", dont_inherit=True)
    except BaseException:  # besides SyntaxError: MemoryError for deep nesting, ValueError for a null byte, …
        return {"unfit": NO_PROGRAM}
    try:
        exec(program, space)
    except BaseException as error:
        missing = isinstance(error, NameError | ImportError)
        return {"unfit": MISSING if missing else NO_START}
    try:
        value = eval(call, space)
    except _UNFIT:
        return {"unfit": MISSING}
    except BaseException as error:
        return {"kind": type.__dict__["__name__"].__get__(type(error))}
    budget = [MOST_PARTS]
    try:
        if _is_plain(value, budget):
            writer = ValueWriter()
            return {"value": writer.item(value), "nodes": writer.nodes}
    except RecursionError:  # a deep value, or a list that holds itself
        return {"unfit": TOO_LONG}
    return {"unfit": TOO_LONG if budget[0] <= 0 else NOT_PLAIN}


def _is_plain(value: Any, budget: list[int]) -> bool:
    """Whether a value consists of builtin values alone, which `repr` describes completely.

    No foreign code runs. `budget` holds the number of parts that are still allowed; it counts down.
    """
    # The exact type: a subclass of int may have a `__repr__` of its own, which would be foreign code.
    kind = type(value)
    is_text = kind is str or kind is bytes
    budget[0] -= 1 + (len(value) // 8 if is_text else 0)
    if budget[0] <= 0:
        return False
    if is_text or id(kind) in _SMALL:
        return True
    if kind is int:
        # `repr` of an integer with more than 4,300 digits raises ValueError (sys.set_int_max_str_digits).
        return bool(value.bit_length() < MOST_BITS)
    if kind is dict:
        return all(_is_plain(key, budget) and _is_plain(part, budget) for key, part in value.items())
    return id(kind) in _CONTAINERS and all(_is_plain(part, budget) for part in value)

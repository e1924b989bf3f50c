"""Inside the sandbox: a program in one process, and its tests in another. A `server.PairTarget` for `calls`.

The process of the program executes it, then answers calls of its functions. It holds nothing of the tests: it
is forked before anything of them is read. The process of the tests executes them. A function of the program
is there a proxy, which sends its arguments and rebuilds the result from builtin types (`carry`). Comparisons
are therefore made where the program cannot reach them, and with methods that are not its own. A program can
lie about its own results only.

What cannot be carried ends the trial without a verdict.
"""

import importlib
import io
import json
import os
import random
import sys
import types
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

from codeaudit.transforms.oracle.carry import CannotCarry, ValueReader, ValueWriter, exception_of, is_name
from codeaudit.transforms.oracle.server import GONE, receive, send
from codeaudit.transforms.oracle.single import Nowhere

LARGEST: Final = 8 << 20
"""Bytes of the largest message between the two processes."""
NO_PLAIN_ARGUMENT: Final = "its tests give the program what cannot be carried to another process"
NO_PLAIN_RESULT: Final = "the program gives its tests what cannot be carried to another process"
_NAME: Final = "sample"
_SEED: Final = 20_240_229
_READ_BEFORE: Final = (
    "collections",
    "copy",
    "functools",
    "heapq",
    "itertools",
    "math",
    "re",
    "string",
    "typing",
)
"""The modules that programs and tests import most; they load once."""
_ROUNDS: Final = 3


def warm() -> None:
    """In the server, before it is closed in: load everything that a trial needs."""
    for name in _READ_BEFORE:
        importlib.import_module(name)
    for _ in range(_ROUNDS):
        run(
            "def f(a):\n    a.append((1.5, {'b'}))\n    return {1: a}\n",
            "assert f([1])[1][0] == 1\ntry:\n    f()\nexcept TypeError:\n    pass\n",
        )


def run(program: str, tests: str) -> None:
    """Run a harmless program of our own with its tests, both in this process."""
    space = _executed(program, "<program>")

    def exchange(request: Mapping[str, Any]) -> Any:
        return json.loads(json.dumps(_result(json.loads(json.dumps(request)), space)))

    exec(compile(tests, "<tests>", "exec", dont_inherit=True), {"f": _proxy("f", exchange, _leave)})


def _leave(outcome: Mapping[str, Any]) -> NoReturn:
    raise AssertionError(outcome)


# ── the process of the program ────────────────────────────────────────────────────────────────────────────


def serve(job: Mapping[str, Any], calls: int, results: int) -> None:
    """Execute `program` and answer calls of its functions, until the other process ends.

    The first answer is `{"failed": the name of an exception's type}`, or `{"callable": [names]}` with those
    of `names` that can be called.
    """
    _quiet()
    try:
        space = _executed(job["program"], "<sample>")
    except BaseException as error:  # SystemExit too: a program that exits before its tests has not passed
        send(results, json.dumps({"failed": type(error).__name__}).encode())
        return
    callables = [name for name in job["names"] if callable(space.get(name))]
    send(results, json.dumps({"callable": callables}).encode())
    while True:
        try:
            request = receive(calls, limit=LARGEST)
        except EOFError:
            return
        reply = json.dumps(_result(json.loads(request), space)).encode()
        if len(reply) > LARGEST:
            reply = json.dumps({"uncarried": True}).encode()
        send(results, reply)


def _result(request: Mapping[str, Any], space: Mapping[str, Any]) -> dict[str, Any]:
    """What a call gives: `value` or `raised`, and the arguments that it `changed`; or `uncarried`."""
    reader = ValueReader(request["nodes"])
    arguments = [reader.item(item) for item in request["arguments"]]
    named = {name: reader.item(item) for name, item in request["named"].items()}
    objects = reader.theirs
    before = {number: _content(objects, number) for number in objects}
    value, error = None, None
    try:
        value = space[request["name"]](*arguments, **named)
    except BaseException as raised:
        error = raised
    writer = ValueWriter(objects)
    try:
        reply = {"value": writer.item(value)} if error is None else _raised(error, writer, objects)
        # An argument that stays as it is needs no content: a loop over it may be under way in the tests.
        reply["changed"] = [
            [number, writer.content(part)]
            for number, part in objects.items()
            if _content(objects, number) != before[number]
        ]
    except (CannotCarry, RecursionError):
        return {"uncarried": True}
    return {"nodes": writer.nodes, **reply}


def _raised(error: BaseException, writer: ValueWriter, objects: Mapping[int, Any]) -> dict[str, Any]:
    kind = type(error)
    base = next(base for base in kind.__mro__ if base.__module__ == "builtins")
    try:
        ValueWriter(objects).item(error.args)
        arguments = [writer.item(argument) for argument in error.args]
    except (CannotCarry, RecursionError):  # the exception says enough without them
        arguments = []
    return {"raised": kind.__name__, "builtin": base.__name__, "arguments": arguments}


def _content(objects: Mapping[int, Any], number: int) -> str:
    writer = ValueWriter(objects)
    return json.dumps([writer.content(objects[number]), writer.nodes])


# ── the process of the tests ──────────────────────────────────────────────────────────────────────────────


def judge(job: Mapping[str, Any], calls: int, results: int, answer: Callable[[str], None]) -> None:
    """Execute `tests` with proxies of the functions `names`, and answer once, with one of these as JSON:

    - `passed`: nothing was raised, with the number of `calls`;
    - `kind`: the name of the type of the exception;
    - `unjudged`: why there is no verdict;
    - `broken`: the other process did not keep to the format.

    If the other process ended, leave with the status `GONE`.
    """
    _quiet()

    def end(outcome: Mapping[str, Any]) -> NoReturn:
        answer(json.dumps(outcome))
        os._exit(0)  # at once, because the tests may catch every exception

    def leave() -> NoReturn:
        os._exit(GONE)

    def received() -> Any:
        try:
            return json.loads(receive(results, limit=LARGEST))
        except EOFError:
            leave()
        except (ValueError, RecursionError):
            end({"broken": True})

    count = 0

    def exchange(request: Mapping[str, Any]) -> Any:
        nonlocal count
        count += 1
        text = json.dumps(request).encode()
        if len(text) > LARGEST:
            end({"unjudged": NO_PLAIN_ARGUMENT})
        try:
            send(calls, text)
        except OSError:
            leave()
        return received()

    match received():
        case {"failed": name} if is_name(name):
            end({"kind": name})
        case {"callable": [*names]}:
            there = [name for name in job["names"] if name in names]
        case _:
            end({"broken": True})
    try:
        _executed(job["tests"], "<tests>", {name: _proxy(name, exchange, end) for name in there})
    except BaseException as error:  # SystemExit too: tests that exit before their end have not passed
        end({"kind": type(error).__name__})
    end({"passed": True, "calls": count})


def _proxy(
    name: str, exchange: Callable[[Mapping[str, Any]], Any], end: Callable[[Mapping[str, Any]], NoReturn]
) -> Callable[..., Any]:
    """A function of the program, for the process of the tests."""

    def candidate(*arguments: Any, **named: Any) -> Any:
        writer = ValueWriter()
        try:
            request = {
                "name": name,
                "arguments": [writer.item(argument) for argument in arguments],
                "named": {name: writer.item(argument) for name, argument in named.items()},
            }
        except (CannotCarry, RecursionError):
            end({"unjudged": NO_PLAIN_ARGUMENT})
        reply = exchange({"nodes": writer.nodes, **request})
        if reply == {"uncarried": True}:
            end({"unjudged": NO_PLAIN_RESULT})
        try:
            raised, value = _rebuilt(reply, writer.own)
        except Exception:  # what the other process writes may be anything
            end({"broken": True})
        if raised is not None:
            raise raised
        return value

    candidate.__name__ = candidate.__qualname__ = name
    return candidate


def _rebuilt(reply: Any, own: Mapping[int, Any]) -> tuple[BaseException | None, Any]:
    """What a call raised and what it gave; the arguments that it changed are changed here, too."""
    reader = ValueReader(reply["nodes"], own)
    raised, value = None, None
    if "raised" in reply:
        arguments = [reader.item(item) for item in reply["arguments"]]
        raised = exception_of(reply["raised"], reply["builtin"], arguments)
    else:
        value = reader.item(reply["value"])
    for number, content in reply["changed"]:
        reader.change(number, content)
    return raised, value


# ── both ──────────────────────────────────────────────────────────────────────────────────────────────────


def _quiet() -> None:
    """Give this process empty input, discarded output and the same chance each time."""
    warnings.simplefilter("ignore")
    random.seed(_SEED)
    sys.stdin = io.StringIO()
    sys.stdout = sys.stderr = io.TextIOWrapper(Nowhere(), "utf-8", "backslashreplace")


def _executed(text: str, file: str, space: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The namespace in which a text was executed."""
    # In `sys.modules` under its name, because dataclasses and pickle look their module up there.
    module = sys.modules[_NAME] = types.ModuleType(_NAME)
    module.__dict__.update(space or {})
    exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)
    return module.__dict__

"""Inside the sandbox: runs one program on its inputs, and reports what could be observed of each run.

A `server.Target` for `oracle.Oracle`. Every input meets a freshly executed program, seeded generators and
empty output. The observations are texts; the parent compares them.

A program shares its process with what observes it. What it replaces for itself, such as builtins and
attributes of modules, does not change the observations: those are bound before it starts. If it replaces a
part of the observer, that is observed, and its run says nothing. A program that goes on from there, and
writes observations itself, deceives: it behaves differently because it is observed.
"""

import builtins
import functools
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from importlib import import_module
from io import RawIOBase, StringIO, TextIOWrapper
from os import (
    O_NOFOLLOW,
    O_RDONLY,
    O_RDWR,
    O_TMPFILE,
    chdir,
    close,
    dup,
    dup2,
    getcwd,
    listdir,
    lstat,
    pread,
    read,
    rmdir,
    unlink,
)
from os import open as open_descriptor
from random import seed
from stat import S_ISDIR
from sys import getprofile, gettrace
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final

from codeaudit.transforms.oracle import encode
from codeaudit.transforms.oracle.carry import message
from codeaudit.transforms.oracle.encode import PROGRAM, ValueEncoder, short
from codeaudit.transforms.oracle.intact import IntactParts

# The functions here have builtins of their own: programs may replace those that all modules share.
globals()["__builtins__"] = dict(vars(builtins))


_READ_BEFORE: Final = (
    "abc", "bisect", "calendar", "cmath", "contextlib", "copy", "dataclasses", "enum", "heapq", "numbers",
    "operator", "statistics", "string", "textwrap", "time", "typing",
)  # fmt: skip
"""The modules that programs import most. They may import any of the standard library; these load once."""
ENDS: Final = frozenset({"raised at import", "raised", "returned", "no function"})
"""The ends of a run."""
_NO_NAME: Final = "a global name is missing"
_NO_MODULE: Final = "a module is missing"
_NO_SPACE: Final = "out of memory or stack"
_STOPPED: Final = "stopped by the sandbox"
_INCOMPLETE: Final = "a result that cannot be compared completely"
REPLACED: Final = "it replaces a part of what observes it"
UNFIT: Final = frozenset({"", _NO_NAME, _NO_MODULE, _NO_SPACE, _STOPPED, _INCOMPLETE, REPLACED})
"""Why a run says more about the place where a program ran than about the program; empty if it does not."""
_OUTPUT: Final = 1 << 16
"""Bytes of output that are kept; of more, only the length and a hash."""
_SEED: Final = 20_240_229
_ROUNDS: Final = 12
"""Number of harmless runs before the server is closed in."""
_HARMLESS: Final = """\
total = 0
def f(a, b, c=3):
    a.append(b)
    print(a, {b: "x"}, (1.5, None))
    if b:
        raise ValueError("y")
"""
_UNHELD: Final = (FunctionType, ModuleType, type, BuiltinFunctionType)
_PARTS: Final = IntactParts()
_NAME_OF: Final[Any] = type.__dict__["__name__"].__get__


class _Output(RawIOBase):
    """Keeps the beginning of the output, and a hash of the rest."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._rest = sha256()
        self._length = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        data = bytes(data)
        kept = data[: _OUTPUT - len(self._kept)]
        self._kept += kept
        self._rest.update(data[len(kept) :])
        self._length += len(data)
        return len(data)

    def text(self) -> str:
        kept = self._kept.decode("utf-8", "surrogateescape")
        return kept if self._length <= _OUTPUT else f"{kept}… {self._length} bytes, {self._rest.hexdigest()}"


def run(job: Mapping[str, Any], start: int, answer: Callable[[str], None]) -> None:
    """Run a program on its inputs from input `start` on, and answer for each.

    A job holds:

    - `setup`: executed before the program, in its namespace;
    - `source`, `function`, and `inputs` (texts of argument lists);
    - `tests`: a text that defines `check`, or None;
    - `messages`: whether errors about names are compared with their text;
    - `shake`: a number that moves the addresses of new objects, which must not influence a program's
      behaviour.
    """
    held = [[bytes(size) for _ in range(job["shake"] * 150)] for size in range(1, 480, 12)]
    for blocks in held:
        # The first half stays allocated: it holds the addresses that the next objects of this size would get
        # otherwise. If every second block were freed from the first on, an object could get the same address
        # for every `shake`. The holes in the second half change the relative order of addresses, too.
        # There must be more of them than free blocks that earlier programs left behind: with seven for each
        # `shake`, every sixth address was the same in all reruns.
        del blocks[len(blocks) // 2 :: 2]
    limit = sys.getrecursionlimit()
    warnings.simplefilter("ignore")  # warnings of the compiler are no behaviour of the program
    code: CodeType | BaseException
    try:
        code = compile(job["source"], "<sample>", "exec", dont_inherit=True)
    except BaseException as error:
        code = error
    for text in job["inputs"][start:] if job["tests"] is None else [None]:
        sys.setrecursionlimit(limit)
        seed(_SEED)
        answer(message(_Observation(job, code).of(text)))


def prepare(job: dict[str, Any]) -> None:
    """In the server, before it forks: compile the setup, which many programs share."""
    job["setup"] = _compiled_setup(job["setup"])


@functools.lru_cache(maxsize=8)
def _compiled_setup(text: str) -> CodeType:
    return compile(text, "<setup>", "exec", dont_inherit=True)


def warm() -> None:
    """Run harmless programs of our own, so that children of this process find everything in place."""
    job: dict[str, Any] = {"source": _HARMLESS, "function": "f", "inputs": ["([1], 2)"], "tests": None}
    job |= {"setup": _compiled_setup("pass"), "messages": True, "shake": 0}
    for name in _READ_BEFORE:
        import_module(name)
    kept = dup(1), dup(2)
    for _ in range(_ROUNDS):
        run(job, 0, lambda answer: None)
    for place, file in enumerate(kept, start=1):
        dup2(file, place)
        close(file)
    del sys.modules[PROGRAM]


class _Observation:
    """One run of a program on one input."""

    def __init__(self, job: Mapping[str, Any], code: CodeType | BaseException) -> None:
        self._job = job
        self._code = code
        self._folder = getcwd()
        self._encoder = ValueEncoder(messages=job["messages"])
        self._events: list[str] = []

    def of(self, text: str | None) -> dict[str, str]:
        """The observations by name; empty ones are left out."""
        out, err = _Output(), _Output()
        kept = sys.stdout, sys.stderr, sys.stdin
        streams = [
            TextIOWrapper(raw, "utf-8", "backslashreplace", newline="", write_through=True)  # type: ignore[type-var]
            for raw in (out, err)
        ]
        sys.stdout, sys.stderr = streams
        sys.stdin = StringIO()
        written = _Descriptors()
        # Bound now, as all that is needed afterwards.
        are_intact, printed, complained, in_descriptors = _PARTS.are_intact, out.text, err.text, written.text
        try:
            seen = self._run(text)
        finally:
            sys.stdout, sys.stderr, sys.stdin = kept
        chdir(self._folder)
        files = short(_taken("."))
        if not are_intact() or gettrace() is not None or getprofile() is not None:
            return {"end": "raised", "unfit": REPLACED}
        seen |= {"printed": short(printed()), "complained": short(complained())}
        seen |= {"descriptors": in_descriptors(), "files": files}
        seen["events"] = short("\n".join(self._events))
        return {name: told for name, told in seen.items() if told}

    def _run(self, text: str | None) -> dict[str, str]:
        module = ModuleType(PROGRAM)
        sys.modules[PROGRAM] = module
        space = module.__dict__
        space["__builtins__"] = vars(builtins)
        encoder = self._encoder
        encode_value, encode_error = encoder.encode, encoder.error
        arguments: tuple[Any, ...] = ()
        named: dict[str, Any] = {}
        seen: dict[str, str] = {}
        try:
            seen["end"] = "raised at import"
            if not isinstance(self._code, CodeType):
                raise self._code
            exec(self._job["setup"], space)
            exec(self._code, space)
            if text is None:
                seen["end"] = "raised"
                self._test(space, seen)
                return seen
            arguments, named = self._arguments(text)
            function = space.get(self._job["function"])
            if function is None:
                return {"end": "no function"}
            seen["end"] = "raised"
            value = function(*arguments, **named)
            seen["end"] = "returned"
        except BaseException as error:
            seen["kind"] = _NAME_OF(type(error))
            seen["unfit"] = _unfit(error, space)
            seen["value"] = encode_error(error)
        else:
            seen["value"] = encode_value(value)
        seen["arguments"] = encode_value((*arguments, *named.values()))
        if encoder.cut and not seen.get("unfit"):
            seen["unfit"] = _INCOMPLETE
        seen["globals"] = encode_value(
            {
                name: value
                for name, value in sorted(space.items())
                if not name.startswith("__") and not issubclass(type(value), _UNHELD)
            }
        )
        return seen

    def _arguments(self, text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
        def call(*arguments: Any, **named: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
            return arguments, named

        space = {"call": call, "nan": float("nan"), "inf": float("inf"), "__builtins__": builtins}
        space["probe"] = lambda name: Probe(name, self._events)
        made: tuple[tuple[Any, ...], dict[str, Any]] = eval(f"call{text}", space)
        return made

    def _test(self, space: dict[str, Any], seen: dict[str, str]) -> None:
        exec(compile(self._job["tests"], "<tests>", "exec", dont_inherit=True), space)
        space["check"](space[self._job["function"]])
        seen["end"] = "returned"


class _Descriptors:
    """Catches output to the standard descriptors that bypasses Python's streams."""

    def __init__(self) -> None:
        self._file = open_descriptor(".", O_TMPFILE | O_RDWR, 0o600)
        dup2(self._file, 1)
        dup2(self._file, 2)

    def text(self) -> str:
        try:
            kept = pread(self._file, _OUTPUT, 0)
            close(self._file)
        except OSError:  # the program closed it
            return "closed"
        return short(kept.decode("utf-8", "backslashreplace"))


def _taken(folder: str) -> str:
    """What lies in a folder: names, and hashes of contents. It is removed."""
    found = []
    for name in sorted(listdir(folder)):
        path = f"{folder}/{name}"
        try:
            if S_ISDIR(lstat(path).st_mode):
                found.append(f"{name}/ ({_taken(path)})")
                rmdir(path)
            else:
                found.append(f"{name} {_hash(path)}")
                unlink(path)
        except OSError as error:  # a mode that forbids it
            found.append(f"{name} {error.errno}")
    return ", ".join(found)


def _hash(path: str) -> str:
    try:
        file = open_descriptor(path, O_RDONLY | O_NOFOLLOW)
    except OSError as error:  # a link
        return str(error.errno)
    content = sha256()
    while part := read(file, _OUTPUT):
        content.update(part)
    close(file)
    return content.hexdigest()


def _unfit(error: BaseException, space: Mapping[str, Any]) -> str:
    """Why an error is due to the place where the program ran and not to the program; empty if it is not."""
    kind = type(error)
    if kind is NameError:
        name = error.name  # type: ignore[attr-defined]
        free = str(error).startswith("cannot access free variable")
        return "" if free or name in space or hasattr(builtins, str(name)) else _NO_NAME
    if issubclass(kind, ImportError):
        return _NO_MODULE
    if issubclass(kind, (MemoryError, RecursionError)):
        return _NO_SPACE
    if issubclass(kind, PermissionError):
        return _STOPPED
    if kind is RuntimeError and error.args == ("can't start new thread",):
        return _STOPPED
    return ""


_STEPS = 2


class Probe:
    """An argument that accepts every attribute, call and operator, and records each.

    All probes that came from one share its log.

    The result of an operation depends only on the path that led to it. Two programs that do the same
    operations in the same order therefore see the same results.
    """

    # Mangled names, set with `object.__setattr__`: every other name belongs to the program.
    __path: str
    __log: list[str]

    def __init__(self, path: str, log: list[str]) -> None:
        object.__setattr__(self, "_Probe__path", path)
        object.__setattr__(self, "_Probe__log", log)

    def __tell(self, what: str, *operands: Any) -> str:
        shown = ", ".join(_shown(operand) for operand in operands)
        path = f"{self.__path}.{what}({shown})"
        if len(self.__log) < 2_000:  # a program may ask in an endless loop
            self.__log.append(path)
        return path if len(path) < 200 else path[:200]

    def __getattr__(self, name: str) -> "Probe":
        # `copy`, `pickle` and the interpreter ask for optional protocols (`__deepcopy__`, `__await__`) and
        # would take a probe for an implementation.
        if name.startswith("__"):
            raise AttributeError(name)
        self.__tell(f"get {name}")
        return Probe(f"{self.__path}.{name}", self.__log)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__tell(f"set {name}", value)

    def __delattr__(self, name: str) -> None:
        self.__tell(f"del {name}")

    def __call__(self, *arguments: Any, **named: Any) -> "Probe":
        """Record the call; returns another probe."""
        return Probe(self.__tell("call", *arguments, *sorted(named.items())), self.__log)

    def __getitem__(self, key: Any) -> "Probe":
        return Probe(self.__tell("item", key), self.__log)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.__tell("set item", key, value)

    def __delitem__(self, key: Any) -> None:
        self.__tell("del item", key)

    def __iter__(self) -> Iterator["Probe"]:
        path = self.__tell("iter")
        for step in range(_STEPS):
            self.__tell(f"next {step}")
            yield Probe(f"{path}[{step}]", self.__log)

    def __bool__(self) -> bool:
        path = self.__tell("bool")
        # Depends on the path, so that different conditions differ; mostly true, so that guards let it pass.
        return sum(path.encode()) % 3 != 0

    def __str__(self) -> str:
        self.__tell("str")
        return self.__path

    def __repr__(self) -> str:
        return f"<probe {self.__path}>"

    def __hash__(self) -> int:
        self.__tell("hash")
        return hash(self.__path)

    def __enter__(self) -> "Probe":
        return Probe(self.__tell("enter"), self.__log)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.__tell("exit", kind)

    def __eq__(self, other: object) -> bool:
        path = self.__tell("eq", other)
        return isinstance(other, Probe) and path.startswith(f"{other.__path}.")


_SHOWN: Final = frozenset(map(id, (int, float, bool, str, bytes, type(None), Probe)))


def _shown(value: Any) -> str:
    kind = type(value)
    if id(kind) in _SHOWN:
        return repr(value)[:60]
    if (kind is list or kind is tuple) and len(value) < 10:
        return f"{kind.__name__}[{', '.join(map(_shown, value))}]"
    return kind.__name__


def _operator(name: str) -> Any:
    def apply(self: Any, *operands: Any) -> Probe:
        return Probe(self._Probe__tell(name, *operands), self._Probe__log)

    return apply


def _conversion(name: str, number: float) -> Any:
    def convert(self: Any) -> float:
        self._Probe__tell(name)
        return number

    return convert


def _comparison(name: str) -> Any:
    def compare(self: Any, other: Any) -> bool:
        return len(self._Probe__tell(name, other)) % 2 == 0

    return compare


for _name in [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
    "matmul",
]:
    setattr(Probe, f"__{_name}__", _operator(_name))
    setattr(Probe, f"__r{_name}__", _operator(f"r{_name}"))
for _name in ["neg", "pos", "invert", "abs", "round"]:
    setattr(Probe, f"__{_name}__", _operator(_name))
# `range(probe)`, `[1] * probe` and a loop over a probe have to end, so the numbers are small and as many as
# an iteration has steps.
for _name, _number in {"len": _STEPS, "index": _STEPS, "int": _STEPS, "float": 2.5}.items():
    setattr(Probe, f"__{_name}__", _conversion(_name, _number))
for _name in ["lt", "le", "gt", "ge", "contains"]:
    setattr(Probe, f"__{_name}__", _comparison(_name))


_PARTS.watch(vars(encode), globals())

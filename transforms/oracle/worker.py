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
from atexit import _ncallbacks, _run_exitfuncs
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from importlib import import_module
from io import RawIOBase, StringIO, TextIOWrapper
from operator import is_, itemgetter
from os import (
    O_NOFOLLOW,
    O_NONBLOCK,
    O_RDONLY,
    O_RDWR,
    O_TMPFILE,
    SEEK_CUR,
    SEEK_SET,
    close,
    dup,
    dup2,
    ftruncate,
    getcwd,
    listdir,
    lseek,
    lstat,
    pread,
    read,
    readlink,
    rmdir,
    unlink,
)
from os import open as open_descriptor
from random import seed
from stat import S_ISDIR, S_ISLNK
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final

from codeaudit.transforms.oracle import encode, state
from codeaudit.transforms.oracle.carry import message
from codeaudit.transforms.oracle.encode import (
    BUILTINS,
    PROGRAM,
    ValueEncoder,
    data_of_class,
    hashed,
    parts_of_function,
)
from codeaudit.transforms.oracle.intact import IntactParts
from codeaudit.transforms.oracle.state import ProcessState

# The functions here have builtins of their own: programs may replace those that all modules share.
globals()["__builtins__"] = BUILTINS


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
INCOMPLETE: Final = "a result that cannot be compared completely"
REPLACED: Final = "it replaces a part of what observes it"
UNFIT: Final = frozenset({"", _NO_NAME, _NO_MODULE, _NO_SPACE, _STOPPED, INCOMPLETE, REPLACED})
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
_PARTS: Final = IntactParts()
_NAME_OF: Final[Any] = type.__dict__["__name__"].__get__
_MODULE_OF: Final[Any] = type.__dict__["__module__"].__get__
_DICT_OF: Final[Any] = type.__dict__["__dict__"].__get__
_REAL: Final = (sys.__stdout__, sys.__stderr__)
"""What Python itself writes to the descriptors with."""
MOST_EVENTS: Final = 2_000
"""Most operations on probes that are recorded; a program that makes more is not compared."""


class _Order:
    """The order of what goes to different streams, as the number of bytes that each got in one go."""

    def __init__(self, descriptors: "_Descriptors") -> None:
        self.cut = False
        """Whether the order is not known."""
        self._descriptors = descriptors
        self._sizes: tuple[int, ...] = (0, 0)
        self._runs: list[list[Any]] = []

    def note(self, name: str, count: int) -> None:
        """A stream of this name gets `count` bytes."""
        self.look()
        if self._runs and self._runs[-1][0] == name:
            self._runs[-1][1] += count
        else:
            self._runs.append([name, count])

    def look(self) -> None:
        """Note what has gone to the descriptors since the last look."""
        sizes = self._descriptors.sizes()
        if sizes != self._sizes:
            new = [now - before for now, before in zip(sizes, self._sizes, strict=True)]
            self.cut |= all(new)
            self._runs += [
                [f"descriptor {place}", count] for place, count in enumerate(new, start=1) if count
            ]
            self._sizes = sizes

    def text(self) -> str:
        """The order; empty if there was one stream only."""
        self.look()
        return str(self._runs) if len(self._runs) > 1 else ""


class _Excerpt(RawIOBase):
    """A stream that keeps the beginning of the output, and a hash of the rest."""

    def __init__(self) -> None:
        self._start = bytearray()
        self._rest = sha256()
        self._length = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        data = bytes(data)
        start = data[: _OUTPUT - len(self._start)]
        self._start += start
        self._rest.update(data[len(start) :])
        self._length += len(data)
        return len(data)

    def text(self) -> str:
        text = self._start.decode("utf-8", "surrogateescape")
        return text if self._length <= _OUTPUT else f"{text}… {self._length} bytes, {self._rest.hexdigest()}"


class _Output(_Excerpt):
    """A stream of the program, whose order with other streams is noted."""

    def __init__(self, name: str, order: _Order) -> None:
        super().__init__()
        self._name = name
        self._order = order

    def write(self, data: Any) -> int:
        count = super().write(data)
        self._order.note(self._name, count)
        return count


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
    by_size = [[bytes(size) for _ in range(job["shake"] * 150)] for size in range(1, 480, 12)]
    for blocks in by_size:
        # The first half stays allocated: it holds the addresses that the next objects of this size would get
        # otherwise. If every second block were freed from the first on, an object could get the same address
        # for every `shake`. The holes in the second half change the relative order of addresses, too.
        # There must be more of them than free blocks that earlier programs left behind: with seven for each
        # `shake`, every sixth address was the same in all reruns.
        del blocks[len(blocks) // 2 :: 2]
    warnings.simplefilter("ignore")  # warnings of the compiler are no behaviour of the program
    code: CodeType | BaseException
    try:
        code = compile(job["source"], "<sample>", "exec", dont_inherit=True)
    except BaseException as error:
        code = error
    warnings.simplefilter("always")  # a warning that was shown once is shown again
    # Python does not show these: they depend on when an object is released.
    warnings.simplefilter("ignore", ResourceWarning)
    seed(_SEED)
    programs = [program for program in (job["setup"], code) if isinstance(program, CodeType)]
    descriptors = _Descriptors()
    process = ProcessState(*programs)
    texts = job["inputs"][start:] if job["tests"] is None else [None]
    for place, text in enumerate(texts, start=1):
        seed(_SEED)
        answer(message(_Observation(job, code, process, descriptors, last=place == len(texts)).of(text)))


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
    files = dup(1), dup(2)
    for _ in range(_ROUNDS):
        run(job, 0, lambda answer: None)
    for place, file in enumerate(files, start=1):
        dup2(file, place)
        close(file)
    del sys.modules[PROGRAM]


class _Observation:
    """One run of a program on one input."""

    def __init__(
        self,
        job: Mapping[str, Any],
        code: CodeType | BaseException,
        state: ProcessState,
        descriptors: "_Descriptors",
        *,
        last: bool,
    ) -> None:
        """With `last`, look at the modules, too: that takes long, and no input sets them back."""
        self._job = job
        self._code = code
        self._state = state
        self._descriptors = descriptors
        self._last = last
        self._encoder = ValueEncoder(messages=job["messages"])
        self._events: list[str] = []

    def of(self, text: str | None) -> dict[str, str]:
        """The observations by name; empty ones are left out."""
        written = self._descriptors
        written.start()
        order = _Order(written)
        out, err = _Output("printed", order), _Output("complained", order)
        kept = sys.stdout, sys.stderr, sys.stdin
        streams = [
            TextIOWrapper(raw, "utf-8", "backslashreplace", newline="", write_through=True)  # type: ignore[type-var]
            for raw in (out, err)
        ]
        sys.stdout, sys.stderr = streams
        sys.stdin = StringIO()
        registered = _ncallbacks()
        encoder = self._encoder
        warned: list[str] = []

        def warn(record: warnings.WarningMessage) -> None:
            order.note("warned", 1)
            warned.append(
                encoder.error(record.message) if isinstance(record.message, Warning) else str(record.message)
            )

        shown_by = warnings._showwarnmsg_impl  # type: ignore[attr-defined]
        warnings._showwarnmsg_impl = warn  # type: ignore[attr-defined]
        # Bound now, as all that is needed afterwards.
        are_intact, printed, complained, in_descriptors = _PARTS.are_intact, out.text, err.text, written.texts
        try:
            report = self._run(text)
            if _ncallbacks() > registered:
                _run_exitfuncs()
            for stream in _REAL:
                if stream is not None:
                    stream.flush()
            streams_now = [
                encoder.encode(now)
                for now, ours in zip((sys.stdout, sys.stderr), streams, strict=True)
                if now is not ours
            ]
        finally:
            sys.stdout, sys.stderr, sys.stdin = kept
            warnings._showwarnmsg_impl = shown_by  # type: ignore[attr-defined]
        changes = self._state.changes()
        self._state.restore(changes)
        changed = changes | (self._state.changed_modules() if self._last else {})
        if "folder" in changed:
            changed["folder"] = changed["folder"].removeprefix(getcwd())
        files = encoder.short(", ".join(_entries(".", {})))
        if not are_intact() or self._state.asked_to_trace():
            return {"end": "raised", "unfit": REPLACED}
        report |= {"printed": encoder.short(printed()), "complained": encoder.short(complained())}
        report |= {"warned": encoder.short("\n".join(warned)), "order": encoder.short(order.text())}
        report |= {"streams": ", ".join(streams_now), "files": files, **in_descriptors(encoder.short)}
        report["state"] = encoder.encode(changed) if changed else ""
        report["events"] = encoder.short("\n".join(self._events))
        if len(self._events) < MOST_EVENTS and not order.cut:
            report["unseen"] = self._unseen()
        else:
            encoder.cut = True
        if encoder.cut and not report.get("unfit"):
            report["unfit"] = INCOMPLETE
        return {name: text for name, text in report.items() if text}

    def _unseen(self) -> str:
        """What is no behaviour of the program by itself (`ValueEncoder.unseen`), with its output."""
        if not self._encoder.has_more:
            return ""
        log: list[str] = []
        streams = sys.stdout, sys.stderr, sys.stdin
        out = _Excerpt()
        sys.stdout = sys.stderr = TextIOWrapper(
            out, "utf-8", "backslashreplace", newline="", write_through=True
        )
        sys.stdin = StringIO()
        try:
            text = self._encoder.unseen(lambda name: Probe(name, log), log)
            return f"{text}\n{self._encoder.short(out.text())}"
        finally:
            sys.stdout, sys.stderr, sys.stdin = streams
            self._state.restore(self._state.changes())
            _entries(".", {})

    def _run(self, text: str | None) -> dict[str, str]:
        module = ModuleType(PROGRAM)
        sys.modules[PROGRAM] = module
        space = module.__dict__
        space["__builtins__"] = vars(builtins)
        encoder = self._encoder
        encode_value, encode_error = encoder.encode, encoder.error
        arguments: tuple[Any, ...] = ()
        named: dict[str, Any] = {}
        report: dict[str, str] = {}
        before: dict[str, list[Any]] = {}
        try:
            report["end"] = "raised at import"
            if not isinstance(self._code, CodeType):
                raise self._code
            exec(self._job["setup"], space)
            exec(self._code, space)
            if text is None:
                report["end"] = "raised"
                self._test(space, report)
                return report
            arguments, named = self._arguments(text)
            function = space.get(self._job["function"])
            if function is None:
                return {"end": "no function"}
            before = _definitions(space)
            report["end"] = "raised"
            value = function(*arguments, **named)
            report["end"] = "returned"
        except BaseException as error:
            report["kind"] = _NAME_OF(type(error))
            report["unfit"] = _unfit(error, space)
            report["value"] = encode_error(error)
        else:
            report["value"] = encode_value(value)
        report["arguments"] = encode_value((*arguments, *named.values()))
        now = _definitions(space)
        new = {
            name: space[name]
            # As of globals, their order is no result.
            for name, parts in sorted(now.items(), key=itemgetter(0))
            if before and not _are_same(parts, before.get(name, []))
        }
        if new:
            report["definitions"] = encode_value(new)
        report["globals"] = encode_value(
            {name: _content(value) for name, value in sorted(space.items()) if _is_told(name, value)},
            known=frozenset([id(parts[0]) for parts in before.values()]),
        )
        return report

    def _arguments(self, text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
        def call(*arguments: Any, **named: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
            return arguments, named

        space = {"call": call, "nan": float("nan"), "inf": float("inf"), "__builtins__": builtins}
        space["probe"] = lambda name: Probe(name, self._events)
        arguments: tuple[tuple[Any, ...], dict[str, Any]] = eval(f"call{text}", space)
        return arguments

    def _test(self, space: dict[str, Any], report: dict[str, str]) -> None:
        exec(compile(self._job["tests"], "<tests>", "exec", dont_inherit=True), space)
        space["check"](space[self._job["function"]])
        report["end"] = "returned"


def _is_pythons(name: str) -> bool:
    """Whether a global name is one that Python sets or reads itself."""
    return name[:2] == "__" and name[-2:] == "__"


def _is_told(name: str, value: Any) -> bool:
    """Whether a global belongs to what is compared after a call."""
    if _is_pythons(name):
        return False
    kind = type(value)
    if kind is FunctionType:
        return bool(value.__dict__ or value.__defaults__ or value.__kwdefaults__)
    if issubclass(kind, type):
        return bool(_MODULE_OF(value) == PROGRAM)
    return kind is not ModuleType and kind is not BuiltinFunctionType


def _content(value: Any) -> Any:
    """A global, or what can be changed in a function or class of the program."""
    kind = type(value)
    if kind is FunctionType:
        return parts_of_function(value)
    return data_of_class(value) if issubclass(kind, type) else value


def _definitions(space: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The functions and classes of a program, each with its code or its members."""
    by_name: dict[str, list[Any]] = {}
    for name, value in space.items():
        kind = type(value)
        if _is_pythons(name):
            continue
        if kind is FunctionType:
            by_name[name] = [value, value.__code__]
        elif issubclass(kind, type) and _MODULE_OF(value) == PROGRAM:
            members = _DICT_OF(value).items()
            by_name[name] = [value, *(part for item in members if type(item[1]) in _METHODS for part in item)]
    return by_name


def _are_same(parts: list[Any], others: list[Any]) -> bool:
    return len(parts) == len(others) and all(map(is_, parts, others))


_METHODS: Final = (FunctionType, staticmethod, classmethod, property)


class _Descriptors:
    """Catches output to the standard descriptors that bypasses Python's streams, run after run."""

    def __init__(self) -> None:
        self._files: list[int] = []

    def start(self) -> None:
        """Empty them for a run."""
        try:
            for file in self._files:
                ftruncate(file, 0)
                lseek(file, 0, SEEK_SET)
        except OSError:  # the program closed one
            self._files.clear()
        if not self._files:
            self._files += [open_descriptor(".", O_TMPFILE | O_RDWR, 0o600) for _ in range(2)]
        for place, file in enumerate(self._files, start=1):
            dup2(file, place)

    def sizes(self) -> tuple[int, ...]:
        """How far each has been written; -1 if the program closed one."""
        try:
            return tuple([lseek(file, 0, SEEK_CUR) for file in self._files])
        except OSError:
            return (-1, -1)

    def texts(self, short: Callable[[str], str]) -> dict[str, str]:
        """What was written to each."""
        texts = {}
        for place, file in enumerate(self._files, start=1):
            try:
                texts[f"descriptor {place}"] = short(_all_of(file))
            except OSError:  # the program closed it
                texts[f"descriptor {place}"] = "closed"
        return texts


def _all_of(file: int) -> str:
    content = bytearray()
    while part := pread(file, _OUTPUT, len(content)):
        content += part
    return content.decode("utf-8", "backslashreplace")


def _entries(folder: str, seen: dict[int, str]) -> list[str]:
    """What lies in a folder: names, modes, targets of links, and hashes of contents. It is removed.

    `seen` holds the first name of each file, to tell when one has several.
    """
    entries = []
    for name in sorted(listdir(folder)):
        path = f"{folder}/{name}"
        try:
            status = lstat(path)
            mode = f"{name} {status.st_mode:o}"
            if S_ISDIR(status.st_mode):
                entries.append(f"{mode} ({', '.join(_entries(path, seen))})")
                rmdir(path)
                continue
            if S_ISLNK(status.st_mode):
                entries.append(f"{mode} to {readlink(path)}")
            elif status.st_nlink > 1 or status.st_ino in seen:
                first = seen.setdefault(status.st_ino, path)
                entries.append(f"{mode} as {first} {_hash(path)}")
            else:
                entries.append(f"{mode} {_hash(path)}")
            unlink(path)
        except OSError as error:  # a mode that forbids it
            entries.append(f"{name} {error.errno}")
    return entries


def _hash(path: str) -> str:
    try:
        file = open_descriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    except OSError as error:
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
        text = ", ".join(_text_of(operand, 0) for operand in operands)
        path = f"{self.__path}.{what}({text})"
        if len(self.__log) < MOST_EVENTS:  # a program may ask in an endless loop
            self.__log.append(path)
        return hashed(path, 200)

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
_SEQUENCES: Final = frozenset(map(id, (list, tuple, set, frozenset)))


def _text_of(value: Any, depth: int) -> str:
    """An operand of an operation on a probe, without running code of the program."""
    kind = type(value)
    if id(kind) in _SHOWN:
        return hashed(repr(value), 60)
    if depth < 4 and id(kind) in _SEQUENCES:
        parts = [_text_of(part, depth + 1) for part in value]
        return hashed(
            f"{kind.__name__}[{', '.join(sorted(parts) if kind is set or kind is frozenset else parts)}]", 60
        )
    if depth < 4 and kind is dict:
        parts = [f"{_text_of(key, depth + 1)}: {_text_of(part, depth + 1)}" for key, part in value.items()]
        return hashed(f"{{{', '.join(parts)}}}", 60)
    return str(_NAME_OF(kind))


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


_PARTS.watch(vars(encode), vars(state), globals())

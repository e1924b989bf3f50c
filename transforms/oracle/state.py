"""Inside the sandbox: what a program can change in its process, in one table.

`ProcessState` reads the table before a program starts, tells afterwards what has changed, and sets it back
for the next input. What is needed is bound when this module is imported, because a program may replace it.
"""

import _locale
import gc
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from decimal import Context, getcontext, setcontext
from operator import is_, itemgetter
from random import _inst as _chance
from types import CodeType, ModuleType
from typing import Any, Final, NamedTuple

from codeaudit.transforms.oracle.encode import BUILTINS

globals()["__builtins__"] = BUILTINS


class StatePart(NamedTuple):
    """A part of the state."""

    read: Callable[[], Any]
    """Its value; equal values mean that nothing changed."""
    restore: Callable[[Any], object] | None = None
    """Sets it to a value that was read; `None` if nothing else depends on it."""


_environ: Final = os.environ
_variables: Final[dict[bytes, bytes]] = vars(_environ)["_data"]
_setsignal: Final = signal.signal
_getsignal: Final = vars(signal)["_signal"].getsignal
_setlocale: Final = _locale.setlocale
_ALL: Final = _locale.LC_ALL
_draw: Final = _chance.random
_path: Final = sys.path
_arguments: Final = sys.argv
_filters: Final[Any] = warnings.filters
_signals: Final = tuple(sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}))
_umask: Final = os.umask
_OF_MODULE: Final[Any] = vars(ModuleType)["__dict__"].__get__
_CHANGING: Final = frozenset(
    {"stdin", "stdout", "stderr", "last_exc", "last_type", "last_value", "last_traceback"}
)
"""Names in `sys` that are observed in another way."""


_put: Final[dict[bytes, bytes | None]] = {}
"""The variables that were set or removed by `os.putenv` and the like: `os.environ` does not show them."""


_TRACING: Final = frozenset({"sys.settrace", "sys.setprofile", "sys.monitoring.register_callback"})
_traced: Final[list[str]] = []
"""How a program asked to trace. It may not: a tracer can change the variables of the functions here."""


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _TRACING:
        _traced.append(event)
        raise RuntimeError(f"{event} is not allowed here")
    if event == "os.putenv" or event == "os.unsetenv":
        _put[arguments[0]] = arguments[1] if event == "os.putenv" else None


def _mask() -> int:
    mask = _umask(0o22)
    _umask(mask)
    return mask


def _set_environment(old: dict[bytes, bytes]) -> None:
    for name in [*_variables]:
        os.unsetenv(name)
    for name, value in old.items():
        os.putenv(name, value)
    _variables.clear()
    _variables.update(old)
    time.tzset()


def _set_signals(old: list[Any]) -> None:
    for number, handler in zip(_signals, old, strict=True):
        if _getsignal(number) is not handler and handler is not None:
            _setsignal(number, handler)


def _loggers() -> list[Any]:
    """What loggers heed and do, where it is not what they do at first; nothing if the program needs none."""
    logging: Any = sys.modules.get("logging")
    if type(logging) is not ModuleType:
        return []
    loggers = logging.root.manager.loggerDict
    rows = [
        ["all", logging.root.manager.disable],
        *([name, *_of_logger(logger)] for name, logger in sorted(loggers.items())),
    ]
    rows.append(["root", *_of_logger(logging.root)])
    return [row for row in rows if row[1:] not in ([0], [0, False, True], [_WARNING, False, True])]


_WARNING: Final = 30


def _of_logger(logger: Any) -> list[Any]:
    if not hasattr(logger, "handlers"):  # a name between those of others
        return [0]
    handlers = [
        part
        for handler in logger.handlers
        for part in (type(handler).__qualname__, handler.level, handler.formatter and handler.formatter._fmt)
    ]
    return [logger.level, logger.disabled, logger.propagate, *handlers]


def _set_collector(old: list[Any]) -> None:
    gc.disable()  # as the server does
    gc.set_threshold(*old[1:])


def _reset_loggers(old: list[Any]) -> None:
    logging: Any = sys.modules["logging"]
    logging.disable(0)
    logging.root.setLevel(_WARNING)
    logging.root.handlers.clear()
    logging.root.manager.loggerDict.clear()


_PARTS: Final[dict[str, StatePart]] = {
    "environment": StatePart(_variables.copy, _set_environment),
    "variables of other programs": StatePart(_put.copy, lambda old: _put.clear()),
    "time zone": StatePart(lambda: [*time.tzname, time.timezone, time.altzone]),
    "locale": StatePart(lambda: _setlocale(_ALL), lambda old: _setlocale(_ALL, old)),
    "umask": StatePart(_mask, _umask),
    "folder": StatePart(os.getcwd, os.chdir),
    "path": StatePart(lambda: list(_path), lambda old: _path.__setitem__(slice(None), old)),
    "arguments": StatePart(lambda: list(_arguments), lambda old: _arguments.__setitem__(slice(None), old)),
    "recursion limit": StatePart(sys.getrecursionlimit, sys.setrecursionlimit),
    "digits of integers": StatePart(sys.get_int_max_str_digits, sys.set_int_max_str_digits),
    "switch interval": StatePart(sys.getswitchinterval, sys.setswitchinterval),
    "collector": StatePart(lambda: [gc.isenabled(), *gc.get_threshold()], _set_collector),
    "decimal context": StatePart(lambda: repr(getcontext()), lambda old: setcontext(Context())),
    "warnings": StatePart(lambda: list(_filters), lambda old: _filters.__setitem__(slice(None), old)),
    "signals": StatePart(lambda: list(map(_getsignal, _signals)), _set_signals),
    "loggers": StatePart(_loggers, _reset_loggers),
    # The next number that the generator gives. It is seeded before each run, so reading may change it.
    "chance": StatePart(lambda: [_draw(), vars(_chance)["gauss_next"]]),
}  # fmt: skip
"""All parts, by the name that a difference shows."""


class ProcessState:
    """The state before a program started."""

    __slots__ = ("_before", "_modules")

    def __init__(self, *programs: CodeType) -> None:
        """Read the table, and what the modules hold that are loaded and named in a program.

        The generator of chance is seeded. Not all modules: reading them copies memory that is shared with the
        server.
        """
        sys.addaudithook(_hear)
        self._before = {name: part.read() for name, part in _PARTS.items()}
        names = frozenset().union(*map(_names, programs))
        self._modules = [
            (name, space, tuple(space.items()))
            for name, module in sys.modules.items()
            if (name in _ALWAYS or name.rpartition(".")[2] in names or not names.isdisjoint(_ANY_MODULE))
            and type(module) is ModuleType
            and name.partition(".")[0] not in _UNWATCHED
            for space in [_OF_MODULE(module)]
        ]

    def changes(self) -> dict[str, Any]:
        """The parts of the process that have other values now."""
        changes = {}
        for name, part in _PARTS.items():
            now = part.read()
            if now != self._before[name]:
                changes[name] = now
        return changes

    @staticmethod
    def asked_to_trace() -> bool:
        """Whether a program called `sys.settrace` or the like."""
        return bool(_traced)

    def restore(self, changes: dict[str, Any]) -> None:
        """Set the changed parts back."""
        for name in changes:
            part = _PARTS[name]
            if part.restore is not None:
                part.restore(self._before[name])

    def changed_modules(self) -> dict[str, Any]:
        """What the watched modules hold now under public names, where it is something else than before."""
        changed: dict[str, Any] = {}
        for module, space, pairs in self._modules:
            if len(space) == len(pairs) and all(map(is_, space.values(), map(_second, pairs))):
                continue
            before = dict(pairs)
            for name, value in [*space.items()]:
                if type(name) is str and before.get(name) is not value and _is_told(module, name):
                    changed[f"{module}.{name}"] = value
            changed |= {f"{module}.{name}": None for name in before if name not in space and name[0] != "_"}
        return changed


_second: Final = itemgetter(1)
_ALWAYS: Final = frozenset({"builtins"})
_ANY_MODULE: Final = frozenset(
    {"modules", "__import__", "import_module", "importlib", "exec", "eval", "__globals__"}
)
"""Names with which a program can reach modules that it does not name."""
_UNWATCHED: Final = frozenset({"codeaudit", "encodings", "sample"})


def _is_told(module: str, name: str) -> bool:
    return name[0] != "_" and not (module == "sys" and name in _CHANGING)


def _names(code: CodeType) -> frozenset[str]:
    """The names of modules, attributes and globals in a program, without the packages before the last dot."""
    inner = (_names(part) for part in code.co_consts if type(part) is CodeType)
    return frozenset(name.rpartition(".")[2] for name in code.co_names).union(*inner)

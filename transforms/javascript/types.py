"""What TypeScript's compiler concludes of expressions: the optional oracle of `--dependence types`.

A process of node holds the compiler and the program of one project, and answers for one function at a time
(`types.js`). The project is the folder that `CODEAUDIT_TYPESCRIPT_PROJECT` names, else the current one. The
compiler is that of `CODEAUDIT_TYPESCRIPT`, of the project's `node_modules` or of a folder above it, of
`NODE_PATH`, or of npm's global folder. No other code of the project runs.

A function of which the project does not hold the text exactly once has no types; then the analysis knows what
it knows without.
"""

import atexit
import json
import logging
import os
import select
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from codeaudit.transforms.errors import CannotAudit

PROGRAM: Final = Path(__file__).with_name("types.js")
COMPILER: Final = "CODEAUDIT_TYPESCRIPT"
PROJECT: Final = "CODEAUDIT_TYPESCRIPT_PROJECT"
INSTALL: Final = "npm install typescript@6"
"""For messages. Without a number npm takes version 7, whose compiler is a program: it has no `PART`."""
PART: Final = Path("lib", "typescript.js")
"""What node loads of a compiler's package."""
_GLOBAL: Final = ("/usr/lib/node_modules", "/usr/local/lib/node_modules", "/usr/share/nodejs")
_MEGABYTES: Final = 3072
_SECONDS_TO_START: Final = 300.0
_SECONDS: Final = 60.0
_KINDS: Final = {
    "n": "number", "s": "string", "b": "boolean", "u": "undefined", "l": "null", "g": "bigint", "y": "symbol",
    "o": "object",
}  # fmt: skip

_log: Final = logging.getLogger(__name__)


class Typed(NamedTuple):
    """What the compiler concludes of one expression."""

    kinds: frozenset[str] | None
    """The kinds that its value may have (`analysis.facts`); `None` where it may have any."""
    is_plain: bool
    """Whether it raises nothing and runs no code but the engine's: a variable, a property, a call of a known
    function, a test for a class, a walk over an array."""
    is_writable: bool
    """Whether it is a property that may be assigned, too, or a call that looks for a regular expression,
    which notes how far it came."""


Types: TypeAlias = Mapping[tuple[int, int], Typed]
"""By the first byte of an expression and the byte behind it."""
NONE: Final[Types] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Compiler:
    """The tools of this machine."""

    node: str
    folder: Path
    """That of the package `typescript`."""


def project() -> Path:
    """The folder of the project whose types count."""
    return Path(os.environ.get(PROJECT) or Path.cwd()).absolute()


def find_compiler() -> Compiler | None:
    """node with a compiler that it can load; `None` if one is missing."""
    node = shutil.which("node")
    around = project()
    shared = [Path(path) for path in os.environ.get("NODE_PATH", "").split(os.pathsep) if path]
    own = [above / "node_modules" for above in (around, *around.parents)]
    named = os.environ.get(COMPILER)
    places = (
        [Path(named)] if named else [path / "typescript" for path in (*own, *shared, *map(Path, _GLOBAL))]
    )
    folder = next((place for place in places if (place / PART).is_file()), None)
    return Compiler(node, folder.absolute()) if node is not None and folder is not None else None


def need_compiler() -> None:
    """Check that there is a compiler.

    Raises:
        CannotAudit: there is none; the message says what to do.
    """
    if find_compiler() is None:
        if named := os.environ.get(COMPILER):
            raise CannotAudit(
                f"--dependence types needs node and the package typescript: {COMPILER} names {named}, which "
                f"has no {PART} (version 7 has none: {INSTALL}), or there is no node"
            )
        raise CannotAudit(
            f"--dependence types needs node and the package typescript: {INSTALL} in {project()}, "
            f"or name the package's folder in {COMPILER}"
        )


class NodeWorker:
    """A process of node that answers each line with a line. No code of a project runs in it."""

    without = "nothing is asked of it from here on"
    """What follows where it does not work."""

    def __init__(self, node: str, program: Path, *words: str, flags: Sequence[str] = ()) -> None:
        self._process = subprocess.Popen(
            [node, f"--max-old-space-size={_MEGABYTES}", *flags, str(program), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"},
        )
        self._owner = os.getpid()
        self._rest = b""
        self._lock = threading.Lock()
        atexit.register(self.close)
        self.works = self._line(_SECONDS_TO_START) == b"ready"
        """Whether it still answers."""
        if not self.works:
            self._give_up("could not start")

    def close(self) -> None:
        """End the process."""
        if self._owner == os.getpid() and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def ask(self, question: object) -> Any:
        """The answer to a question; `None` where there is none."""
        with self._lock:
            if not self.works or self._owner != os.getpid() or self._process.stdin is None:
                return None
            try:
                self._process.stdin.write(json.dumps(question).encode() + b"\n")
                self._process.stdin.flush()
            except OSError:
                line = None
            else:
                line = self._line(_SECONDS)
            if line is None:
                self._give_up("stopped answering")
                return None
        return json.loads(line)

    def _give_up(self, why: str) -> None:
        self.works = False
        self.close()
        _log.warning("codeaudit: node %s; %s", why, self.without)

    def _line(self, seconds: float) -> bytes | None:
        """The next line; `None` if it does not come in time, or never."""
        assert self._process.stdout is not None
        number = self._process.stdout.fileno()
        while b"\n" not in self._rest:
            if not select.select([number], [], [], seconds)[0]:
                return None
            piece = os.read(number, 1 << 16)
            if not piece:
                return None
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return line


class TypeWorker(NodeWorker):
    """The process of a compiler with the program of one project."""

    without = "no types of TypeScript's compiler are used from here on"

    def __init__(self, compiler: Compiler, around: Path) -> None:
        super().__init__(compiler.node, PROGRAM, str(compiler.folder), str(around))

    def types(self, source: str) -> Types:
        """What is concluded of the expressions of a function; empty where nothing is."""
        answer = self.ask(source)
        return _types(source, answer) if answer else NONE


def _types(source: str, answer: list[tuple[int, int, str, int]]) -> Types:
    places = _places(source)
    typed = {}
    for start, end, letters, plain in answer:
        kinds = frozenset(_KINDS[letter] for letter in letters) or None
        typed[places[start], places[end]] = Typed(kinds, plain > 0, plain > 1)
    return typed


def _places(source: str) -> list[int]:
    """The byte at which each unit of UTF-16 begins."""
    sizes = [0]
    for sign in source:
        size = len(sign.encode())
        sizes += [size] if sign <= "\uffff" else [0, size]
    return list(accumulate(sizes))


@cache
def _worker(owner: int) -> TypeWorker | None:
    """The worker of this process: a process that was forked has its own."""
    compiler = find_compiler()
    return TypeWorker(compiler, project()) if compiler is not None else None


def types_of(source: str) -> Types:
    """What TypeScript concludes of the expressions of a function; empty without a compiler."""
    worker = _worker(os.getpid())
    return worker.types(source) if worker is not None else NONE

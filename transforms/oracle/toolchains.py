"""How programs of other languages than Python run: one table, with what each needs of this machine."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Final

from codeaudit.transforms.oracle.c_values import CASE, EVALUATE
from codeaudit.transforms.oracle.containment import MEGABYTE

PROGRAM: Final = "program"
"""The name of what a compiler makes."""
_SECONDS: Final = 30.0
"""For a question to a tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A tool as it is on this machine."""

    path: str
    version: str
    executable: tuple[str, ...]
    """Files that it executes: itself, and the loader of its libraries."""
    readable: tuple[str, ...]
    """Files and folders that it reads."""
    path_list: str = "/nonexistent"
    """Where it finds its parts (`PATH`)."""
    libraries: tuple[str, ...] = ()
    """Files that what it builds reads and maps, its loader first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """How the programs of a language run."""

    title: str
    command: str
    """The name of the tool."""
    file: str
    """The name of the file that holds a program with its tests."""
    find: Callable[[], Installed | None]
    """Looks for the tool; `None` if it is not on this machine, too old, or in parts."""
    remedy: str
    """How to get it."""
    run: tuple[str, ...] = ()
    """What the tool is called with, to run the file."""
    build: tuple[str, ...] = ()
    """What the tool is called with, to make `PROGRAM` of the file, which runs then; empty: it runs the
    file."""
    before: str = ""
    """Stands before a program."""
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Variables that the tool needs."""
    memory: int
    """Address space in bytes: engines reserve much more than they use."""
    resident: int = 0
    """Memory in use in bytes, for those that reserve so much that `memory` is no limit; 0 for none."""
    between: str
    """Stands between a program and its tests."""
    after: str
    """Stands behind the tests and writes `{key}`, if they ran to their end and all passed."""
    failures: re.Pattern[str]
    """Finds the name of what ended a program in its errors."""
    value: str = ""
    """Stands behind a program, evaluates `{call}`, and writes `{key}` with what `programs.ProgramCaller`
    reads; empty: calls are not evaluated in this language."""
    case: str = ""
    """One of several calls of a program, with `{number}` and `{call}`: `{call}` of `value` stands for all of
    them, and the argument of a run chooses one. Empty: each call has a program of its own."""
    undefined: re.Pattern[str] | None = None
    """Finds in the errors of a program that failed that its behaviour is undefined."""

    @property
    def missing(self) -> str:
        """Why no program of the language runs on this machine; empty if they run."""
        if installed(self):
            return ""
        lacks = "does not work" if shutil.which(self.command) else "is not"
        return (
            f"{self.command}, which runs {self.title}, {lacks} on this machine: {self.remedy}; codeaudit "
            "doctor shows what is found"
        )


@cache
def installed(tool: Toolchain) -> Installed | None:
    """The tool on this machine; looked for once."""
    return tool.find()


def toolchain(language: str) -> Toolchain | None:
    """How programs of a language run; `None` for one that does not run here at all."""
    return TOOLCHAINS.get(language)


def runners(languages: Iterable[str]) -> Mapping[str, str]:
    """What runs programs of these languages here, by name, with its version: `{"node": "22.1.0"}`."""
    versions: dict[str, str] = {}
    for language in languages:
        tool = toolchain(language)
        if tool is None:  # Python, which this interpreter runs
            versions["python"] = f"{sys.version_info.major}.{sys.version_info.minor}"
        elif (known := installed(tool)) is not None:
            versions[tool.command] = known.version
    return versions


def answer_of(*words: str) -> str | None:
    """What a tool answers to a question; `None` if it is not there or fails."""
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
            env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace")


_NODE: Final = (
    "const report = process.report.getReport();"
    "console.log(JSON.stringify([process.version, report.sharedObjects, process.execPath]))"
)
_OLDEST_NODE: Final = 16
_LOADER: Final = re.compile(r"/ld-linux[^/]*\.so(?:\.\d+)?$|/ld-musl[^/]*\.so(?:\.\d+)?$")
_NODE_READS: Final = ("/etc/ld.so.cache", "/usr/share/nodejs")
"""Debian's node has parts of its own library in the second one."""


def _node() -> Installed | None:
    command = shutil.which("node")
    report = command and answer_of(command, "-e", _NODE)
    if not report:
        return None
    try:
        version, shared, path = json.loads(report)
        number = int(version.removeprefix("v").partition(".")[0])
    except (ValueError, AttributeError):
        return None
    if number < _OLDEST_NODE:
        return None
    files = [os.path.realpath(file) for file in shared if file.startswith("/")]
    path = os.path.realpath(path)
    loaders = [file for file in shared if _LOADER.search(file)]
    return Installed(path=path, version=version, executable=(path, *loaders), readable=(*files, *_NODE_READS))


_VALUE: Final = """
;((call) => {
  const { writeSync } = require('node:fs');
  const tell = (kind, told) => {
    writeSync(1, '\\n{key}' + JSON.stringify([kind, told]) + '\\n');
    process.exit(0);
  };
  let parts = {parts};
  const write = (value) => {
    if (--parts < 0) throw 'long';
    if (typeof value === 'string') {
      parts -= value.length >> 3;
      if (parts < 0) throw 'long';
      return JSON.stringify(value);
    }
    if (typeof value === 'bigint') return value + 'n';
    if (Object.is(value, -0)) return '-0';
    const isSimple = value === null || ['number', 'boolean', 'undefined'].includes(typeof value);
    if (isSimple) return String(value);
    if (typeof value !== 'object' || require('node:util').types.isProxy(value)) throw 'strange';
    const isList = Array.isArray(value);
    if (Object.getPrototypeOf(value) !== (isList ? Array : Object).prototype) throw 'strange';
    const own = Object.getOwnPropertyDescriptors(value);
    if (isList) delete own.length;
    const keys = Reflect.ownKeys(own);
    const isPlain = (key) => own[key].enumerable && 'value' in own[key];
    if (keys.some((key) => typeof key !== 'string' || key === '__proto__' || !isPlain(key))) throw 'strange';
    const pair = (key) => JSON.stringify(key) + ':' + write(own[key].value);
    if (!isList) return '{' + keys.map(pair).join(',') + '}';
    if (keys.length !== value.length || keys.some((key, index) => key !== String(index))) throw 'strange';
    return '[' + keys.map((key) => write(own[key].value)).join(',') + ']';
  };
  let value;
  try {
    value = call();
  } catch (error) {
    const name = error instanceof Error ? error.constructor.name : '';
    const isDeep = error instanceof RangeError && /call stack/.test(error.message);
    const isLost = error instanceof ReferenceError || error?.code === 'MODULE_NOT_FOUND';
    if (isDeep || isLost) tell('unfit', 'missing');
    if (!name || name !== error.name) tell('unfit', 'strange');
    tell('kind', name);
  }
  try {
    tell('value', write(value));
  } catch (error) {
    tell('unfit', error === 'strange' ? error : 'long');
  }
})(() => ({call}));
"""
"""`process.exit` ends the program, so that timers do not keep it."""

_JAVASCRIPT: Final = Toolchain(
    title="JavaScript",
    command="node",
    file="program.js",
    find=_node,
    remedy=f"install version {_OLDEST_NODE} or newer",
    # One thread for each job of the engine and of its library: nothing here needs more.
    run=("--max-old-space-size=256", "--stack-size=900", "--v8-pool-size=1"),
    environment={"OPENSSL_CONF": "/dev/null"},
    memory=2048 * MEGABYTE,
    # node's `console.assert` only prints. Data sets such as HumanEval-X mean a test that fails.
    between=(
        "\n;console.assert = (held, ...told) => "
        "{ if (!held) throw new (require('node:assert').AssertionError)({ message: told.join(' ') }); };\n"
    ),
    # At its end, so that a program that ends early, or whose promises are rejected, has not passed.
    after="\n;process.on('exit', (code) => { if (!code) require('node:fs').writeSync(1, '\\n{key}'); });\n",
    failures=re.compile(r"^(?:Uncaught )?((?:[A-Z]\w*)?(?:Error|Exception))\b", re.MULTILINE),
    value=_VALUE,
)

_PARTS: Final = ("collect2", "as", "ld")
_SYSTEM: Final = ("/usr/include", "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache")
_LIBRARIES: Final = ("libc.so.6", "libm.so.6")


def _gcc(command: str, compiler: str, libraries: Sequence[str]) -> Installed | None:
    """One of gcc's compilers, with the libraries of what it makes."""
    program = shutil.which(command)
    version = program and answer_of(program, "-dumpfullversion")
    if not program or not version:
        return None
    parts: list[str] = []
    for part in (compiler, *_PARTS):
        named = (answer_of(program, f"-print-prog-name={part}") or "").strip()
        at = named if os.path.isabs(named) else shutil.which(part)
        if at is None:
            return None
        parts.append(os.path.realpath(at))
    folders = dict.fromkeys(os.path.dirname(file) for file in (program, *parts[2:]))
    paths = [(answer_of(program, f"-print-file-name={library}") or "").strip() for library in libraries]
    # The loader stands in the head of each program; this Python was started by the same one.
    loader = next(filter(os.path.exists, _LOADERS), None)
    if loader is None or not all(map(os.path.isabs, paths)):
        return None
    path = os.path.realpath(program)
    return Installed(
        path=path,
        version=version.strip(),
        executable=(path, *parts, loader),
        readable=_SYSTEM,
        path_list=":".join(folders),
        libraries=(loader, *map(os.path.realpath, paths), "/etc/ld.so.cache"),
    )


_LOADERS: Final = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")
_HEADERS: Final = ("assert", "ctype", "limits", "math", "stdbool", "stdint", "stdio", "stdlib", "string")
_HEADERS_OF_CPP: Final = ("algorithm", "map", "set", "string", "utility", "vector")
STANDARD_HEADERS: Final = {
    "c": "".join(f"#include <{header}.h>\n" for header in _HEADERS),
    "cpp": "".join(f"#include <c{header}>\n" for header in _HEADERS if header != "stdbool")
    + "".join(f"#include <{header}>\n" for header in _HEADERS_OF_CPP),
}
"""By language: snippets come without the lines that include these."""
# What is undefined ends the program, as far as gcc sees it without help from the memory. `exit` is
# watched, because a program that ends before its tests has not passed.
_CHECKED: Final = (
    "-O0",
    "-w",
    "-fsanitize=undefined",
    "-fno-sanitize=vptr",
    "-fsanitize-undefined-trap-on-error",
    "-fno-sanitize-recover=all",
    "-Wl,--wrap=exit",
    "-o",
    PROGRAM,
)
_TELLING: Final = """
#include <stdio.h>
#include <stdlib.h>
#ifdef __cplusplus
extern "C" {
#endif
static int codeaudit_left;
static void codeaudit_told(int status, void *given) {
  if (!status && !codeaudit_left) fputs("\\n{key}", stdout);
}
static void __attribute__((constructor)) codeaudit_begin(void) { on_exit(codeaudit_told, 0); }
void __real_exit(int) __attribute__((noreturn));
void __wrap_exit(int status) { codeaudit_left = 1; __real_exit(status); }
#ifdef __cplusplus
}
#endif
"""
"""Tells that the function `main` of the tests returned 0: nobody called `exit`."""
_C: Final = Toolchain(
    title="C",
    command="gcc",
    file="program.c",
    find=partial(_gcc, "gcc", "cc1", _LIBRARIES),
    remedy="try apt-get install gcc libc6-dev",
    build=("-std=gnu17", *_CHECKED, "program.c", "-lm"),
    memory=512 * MEGABYTE,
    before=STANDARD_HEADERS["c"],
    between="\n",
    after=_TELLING,
    failures=re.compile(r"(Assertion) [^\n]* failed\."),
)
_CPP: Final = Toolchain(
    title="C++",
    command="g++",
    file="program.cpp",
    find=partial(_gcc, "g++", "cc1plus", (*_LIBRARIES, "libstdc++.so.6", "libgcc_s.so.1")),
    remedy="try apt-get install g++",
    build=("-std=gnu++17", *_CHECKED, "program.cpp"),
    memory=512 * MEGABYTE,
    between="\n",
    after=_TELLING,
    failures=re.compile(r"(Assertion(?= [^\n]* failed\.)|(?<=throwing an instance of ')[\w:]+)"),
)


def _sanitizing(tool: Toolchain) -> Installed | None:
    known = installed(tool)
    names = ("libasan.a", "libubsan.a", "libgcc_s.so.1")
    if known is None:
        return None
    paths = [(answer_of(known.path, f"-print-file-name={name}") or "").strip() for name in names]
    if not all(map(os.path.isabs, paths)):
        return None
    # AddressSanitizer reads where its own process has memory.
    libraries = (*known.libraries, os.path.realpath(paths[-1]), "/proc/self/maps")
    return replace(known, libraries=libraries)


# In the program, because a runtime that may not read `/proc` does not find its variables.
_OPTIONS: Final = """
#ifdef __cplusplus
extern "C" {
#endif
const char *__asan_default_options(void) {
  return "detect_leaks=0:symbolize=0:print_legend=0:allocator_may_return_null=1:max_allocation_size_mb=64:"
         "quarantine_size_mb=16:malloc_context_size=1";
}
const char *__ubsan_default_options(void) { return "symbolize=0"; }
#ifdef __cplusplus
}
#endif
"""


def _sanitized(tool: Toolchain, language: str) -> Toolchain:
    version = next(word for word in tool.build if word.startswith("-std="))
    return replace(
        tool,
        title=f"{tool.title} under sanitizers",
        find=partial(_sanitizing, tool),
        build=(
            *(version, "-O0", "-w", "-no-pie", "-fsanitize=address,undefined", "-static-libasan"),
            *("-static-libubsan", "-fno-sanitize-recover=all", "-o", PROGRAM, tool.file, "-lm"),
        ),
        before=_OPTIONS + STANDARD_HEADERS[language],
        memory=1 << 46,
        resident=256 * MEGABYTE,
        between="",
        after="",
        value=EVALUATE[language],
        case=CASE,
        undefined=re.compile("AddressSanitizer|runtime error:"),
    )


SANITIZED: Final[Mapping[str, Toolchain]] = {"c": _sanitized(_C, "c"), "cpp": _sanitized(_CPP, "cpp")}
"""By language: what breaks a rule of the memory or is undefined ends the program, with a report."""

TOOLCHAINS: Final[Mapping[str, Toolchain]] = {"javascript": _JAVASCRIPT, "c": _C, "cpp": _CPP}
"""By language."""

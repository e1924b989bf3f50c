"""Compiles C++ with g++: many programs become one, each in a namespace of its own, and say what they print."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import pytest

GPP: Final = shutil.which("g++")
needs_gpp: Final = pytest.mark.skipif(GPP is None, reason="g++ is not installed")

NO_CODE: Final = "does not compile"
_BETWEEN: Final = "\x1e"
_INCLUDE: Final = re.compile(r"^#include .*\n", re.MULTILINE)
_DEFINED: Final = re.compile(r"^#define (\w+)", re.MULTILINE)


class Program(NamedTuple):
    """A file, and the statements that call it."""

    file: str
    calls: str
    prelude: str = ""
    """What stands before the file; programs share it, with its variables."""

    def text(self, number: int, used: str) -> str:
        """The program without its headers in the namespace of this number; its macros end with it."""
        forgotten = "".join(f"#undef {name}\n" for name in _DEFINED.findall(self.file))
        body = _INCLUDE.sub("", self.file)
        return (
            f"namespace v{number} {{\n{used}{body}\nstatic void run() {{\n{self.calls}\n}}\n{forgotten}}}\n"
        )


def _made(programs: Sequence[Program]) -> str:
    headers = dict.fromkeys(line for program in programs for line in _INCLUDE.findall(program.file))
    headers |= {
        f"#include <{name}>\n": None
        for name in ("string", "vector")
        if any(f"std::{name}" in program.file for program in programs)
    }
    places = {program.prelude: f"p{place}" for place, program in enumerate(programs) if program.prelude}
    parts = [f"namespace {name} {{\n{prelude}}}\n" for prelude, name in places.items()]
    for number, program in enumerate(programs):
        used = f"using namespace {places[program.prelude]};\n" if program.prelude else ""
        parts.append(program.text(number, used))
    runs = "".join(f"v{number}::run(); std::putchar({ord(_BETWEEN)});" for number in range(len(programs)))
    return (
        f"#include <cstdio>\n{''.join(headers)}using std::printf;\n{''.join(parts)}int main() {{ {runs} }}\n"
    )


def _run(path: Path) -> str:
    """What a program prints, or how it ended if that is not at its end."""
    try:
        done = subprocess.run(
            [path], capture_output=True, text=True, errors="replace", check=False, timeout=60
        )
    except subprocess.TimeoutExpired:
        return "ended by its time"
    return f"ended by {done.returncode}: {done.stderr[-200:]}" if done.returncode else done.stdout


def outputs(programs: Sequence[Program], *flags: str) -> list[str]:
    """What each program prints, or `NO_CODE`, or how it ended. If one fails, the halves are tried."""
    assert GPP is not None
    if not programs:
        return []
    with TemporaryDirectory() as folder:
        Path(folder, "a.cpp").write_text(_made(programs), encoding="utf-8")
        words = [GPP, "-w", *flags, "-o", "a.out", "a.cpp"]
        if not subprocess.run(words, cwd=folder, capture_output=True, check=False).returncode:
            printed = _run(Path(folder, "a.out"))
            if printed.endswith(_BETWEEN):
                return printed.split(_BETWEEN)[:-1]
        else:
            printed = NO_CODE
    if len(programs) == 1:
        return [printed]
    half = len(programs) // 2
    return [output for part in (programs[:half], programs[half:]) for output in outputs(part, *flags)]

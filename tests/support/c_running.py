"""Compiles C and C++ with gcc: many versions of a function in one program that is run, and object code of a file."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import pytest

GCC: Final = shutil.which("gcc")
needs_gcc: Final = pytest.mark.skipif(GCC is None, reason="gcc is not installed")

_HEAD: Final = "int printf(const char *, ...);\nint putchar(int);\nunsigned long strlen(const char *);\n"
"""Without headers, because reading them takes most of the time."""
_BETWEEN: Final = "\x1e"
NO_CODE: Final = "does not compile"


class Versions(NamedTuple):
    """Versions of a function `f` that are called by the same statements."""

    functions: Sequence[str]
    calls: str
    prelude: str = ""

    compiler: str = "gcc"
    """`g++` for C++."""

    def text(self, number: int) -> str:
        """The program with all versions, whose entry has this number."""
        parts = [_HEAD if self.compiler == "gcc" else f'extern "C" {{\n{_HEAD}}}\n', self.prelude]
        for place, function in enumerate(self.functions):
            parts.append(
                f"\n#define f f_{place}_of_{number}\n{function}\n"
                f"static void run_{place}(void) {{ {self.calls} }}\n#undef f\n"
            )
        runs = "".join(f"run_{place}(); putchar({ord(_BETWEEN)});" for place in range(len(self.functions)))
        parts.append(f"void entry_{number}(void) {{ {runs} }}\n")
        return "".join(parts)


SECONDS: Final = 120
"""The longest time of one call of the compiler."""


def _compile(folder: str, compiler: str, *words: str) -> bool:
    """Whether a program compiles in time."""
    version = "-std=gnu11" if compiler == "gcc" else "-std=gnu++17"
    try:
        done = subprocess.run(
            [compiler, "-w", version, *words], cwd=folder, capture_output=True, check=False, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return False
    return not done.returncode


def outputs(rows: Sequence[Versions], *flags: str) -> list[list[str]]:
    """What each version prints. All rows are one program, with a file each; a version that does not compile is
    told by `NO_CODE`. If the program does not compile, the halves are tried."""
    with TemporaryDirectory() as folder:
        names = []
        compiler = rows[0].compiler
        ending = "c" if compiler == "gcc" else "cpp"
        for number, row in enumerate(rows):
            names.append(f"a{number}.{ending}")
            Path(folder, names[-1]).write_text(row.text(number), encoding="utf-8")
        main = "".join(f"void entry_{number}(void);" for number in range(len(rows)))
        calls = "".join(f"entry_{number}();" for number in range(len(rows)))
        Path(folder, f"main.{ending}").write_text(
            f"{main} int main(void) {{ {calls} return 0; }}\n", encoding="utf-8"
        )
        if not _compile(folder, compiler, *flags, "-o", "a.out", f"main.{ending}", *names):
            return _of_halves(rows, flags)
        done = subprocess.run(
            [str(Path(folder, "a.out"))],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr[-2000:]
    printed = iter(done.stdout.split(_BETWEEN))
    return [[next(printed) for _ in row.functions] for row in rows]


def _of_halves(rows: Sequence[Versions], flags: Sequence[str]) -> list[list[str]]:
    if len(rows) > 1:
        half = len(rows) // 2
        return [output for part in (rows[:half], rows[half:]) for output in outputs(part, *flags)]
    (row,) = rows
    half = len(row.functions) // 2
    if not half:
        return [[NO_CODE] * len(row.functions)]
    parts = [row._replace(functions=part) for part in (row.functions[:half], row.functions[half:])]
    return [[output for part in parts for output in outputs([part], *flags)[0]]]


def object_code(text: str, *flags: str) -> bytes | None:
    """The object file of a text without the names of a debugger; `None` where it does not compile."""
    with TemporaryDirectory() as folder:
        Path(folder, "a.c").write_text(text, encoding="utf-8")
        return (
            Path(folder, "a.o").read_bytes()
            if _compile(folder, "gcc", "-c", *flags, "-o", "a.o", "a.c")
            else None
        )

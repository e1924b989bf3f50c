"""Java's compiler, which checks whether whole files still compile, all of them in one process.

It serves files and projects. A bare method cannot be compiled, because the types around it are unknown.
"""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

_ERROR: Final = re.compile(r"^(.*?\.java):\d+: error: (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Javac:
    """A compiler on this machine."""

    executable: str
    classpath: Sequence[str] = ()
    """Folders and archives with the types that the files do not declare."""
    options: Sequence[str] = ()
    """More words for each call."""
    seconds: float = 300

    def errors(self, files: Mapping[str, str], *, classes: Path | None = None) -> dict[str, tuple[str, ...]]:
        """The errors of files that belong together, by file; empty where they compile.

        Args:
            files: texts by path, such as `p/Main.java`.
            classes: where compiled classes go; nowhere if left out.

        Raises:
            TimeoutError: the compiler took too long.
        """
        with TemporaryDirectory(prefix="codeaudit-javac-") as folder:
            place = Path(folder)
            names = [self._written(place, path, text) for path, text in files.items()]
            listing = place / "files.txt"
            listing.write_text("\n".join(f'"{name}"' for name in names), encoding="utf-8")
            target = classes or place / "classes"
            command = [
                *(self.executable, "-proc:none", "-nowarn", "-Xmaxerrs", "100000", "-encoding", "UTF-8"),
                *self.options,
                *("-d", str(target), "-cp", ":".join(self.classpath) or str(place / "none"), f"@{listing}"),
            ]
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=self.seconds, check=False, cwd=place
                )
            except subprocess.TimeoutExpired as error:
                raise TimeoutError(f"javac took over {self.seconds:g} s; give it fewer files") from error
        found: dict[str, list[str]] = {}
        for name, message in _ERROR.findall(done.stderr):
            found.setdefault(name, []).append(message)
        if done.returncode and not found:
            found[""] = [done.stderr.strip() or "javac failed"]
        return {name: tuple(messages) for name, messages in found.items()}

    def _written(self, place: Path, path: str, text: str) -> str:
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return path


def find(classpath: Sequence[str] = ()) -> Javac | None:
    """The compiler on the path, if there is one."""
    executable = shutil.which("javac")
    return None if executable is None else Javac(executable=executable, classpath=tuple(classpath))

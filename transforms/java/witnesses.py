"""Independent tools that check the results of Java transforms: the compiler javac and the parser javalang.

javac serves files and projects: a bare method cannot be compiled, because the types around it are unknown.
javalang reads Java 8 and takes several times as long as the rest of a renaming, so no transform asks it, only
the witness of Java.
"""

import re
import shutil
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from codeaudit.transforms.folders import scratch_folder

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
        with scratch_folder("javac") as place:
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
        by_name: dict[str, list[str]] = {}
        for name, message in _ERROR.findall(done.stderr):
            by_name.setdefault(name, []).append(message)
        if done.returncode and not by_name:
            by_name[""] = [done.stderr.strip() or "javac failed"]
        return {name: tuple(messages) for name, messages in by_name.items()}

    def _written(self, place: Path, path: str, text: str) -> str:
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return path


def find(classpath: Sequence[str] = ()) -> Javac | None:
    """The compiler on the path, if there is one."""
    executable = shutil.which("javac")
    return None if executable is None else Javac(executable=executable, classpath=tuple(classpath))


BEFORE: Final = "class _Around {\n"
AFTER: Final = "\n}"


def confirms(before: str, after: str, renames: Collection[tuple[str, str]]) -> bool | None:
    """Whether two bare methods are one tree but for these new names (old, new); `None` where the original
    is beyond this reader.
    """
    one = _tree(before)
    if one is None:
        return None
    other = _tree(after)
    return other is not None and _same(one, other, frozenset(renames))


def permutes(before: str, after: str) -> bool | None:
    """Whether two texts are one tree but for the order of the statements in each block; `None` where the
    original is beyond this reader.
    """
    one = _tree(before)
    if one is None:
        return None
    other = _tree(after)
    return other is not None and _unordered(one) == _unordered(other)


def _unordered(node: Any) -> str:
    """A tree as a text in which the statements of each list stand in the order of their own texts."""
    from javalang.tree import LocalVariableDeclaration, Statement, TypeDeclaration

    # Lists of other things, such as arguments, keep their order.
    kinds = (Statement, LocalVariableDeclaration, TypeDeclaration)
    if isinstance(node, list | tuple):
        parts = [_unordered(part) for part in node]
        statements = bool(node) and all(isinstance(part, kinds) for part in node)
        return f"[{', '.join(sorted(parts) if statements else parts)}]"
    if hasattr(node, "attrs"):
        parts = [f"{name}={_unordered(getattr(node, name))}" for name in node.attrs]
        return f"{type(node).__name__}({', '.join(parts)})"
    return repr(sorted(node) if isinstance(node, set) else node)


def _tree(text: str) -> Any | None:
    """The tree that javalang makes of members or a file; `None` if it fails."""
    import javalang.parse
    from javalang.parser import JavaSyntaxError
    from javalang.tokenizer import LexerError

    for around in ((BEFORE, AFTER), ("", "")):  # members, or a file
        try:
            return javalang.parse.parse(text.join(around))
        except (JavaSyntaxError, LexerError, RecursionError, TypeError, StopIteration):
            continue  # javalang also fails with errors of its own, such as TypeError
    return None


def _same(one: Any, other: Any, renames: frozenset[tuple[str, str]]) -> bool:
    """Whether two trees are equal but for these new names (old, new)."""
    pending = [(one, other)]
    while pending:
        here, there = pending.pop()
        if here.__class__ is not there.__class__:
            return False
        if isinstance(here, list | tuple):
            if len(here) != len(there):
                return False
            pending += zip(here, there, strict=True)
        elif hasattr(here, "attrs"):
            pending += [(getattr(here, name), getattr(there, name)) for name in here.attrs]
        elif here != there and not _is_renamed(here, there, renames):
            return False
    return True


def _is_renamed(here: object, there: object, renames: frozenset[tuple[str, str]]) -> bool:
    """Whether two names differ as they may; of `a.b`, which this reader keeps as one, the first part."""
    first, dot, rest = str(here).partition(".")
    other, *tail = str(there).partition(".")
    return tail == [dot, rest] and (first, other) in renames

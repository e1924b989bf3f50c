"""What the headers of a file define, as a compiler of this machine sees it, or as they stand beside the file.

A compiler is asked for the directives that remain (`gcc -E -dD`). It gets the file's text on its standard
input and our own words: of a project's `compile_commands.json` or `compile_flags.txt` only -I, -D, -U, -std,
-ansi, -fexec-charset and -include are used. No word of a project names a program, and no file is written
but in a folder of ours. Where there is no compiler, headers are looked for beside the file and in the folders
of -I, and are read as texts: then the headers of the system are not found.

The headers of the project are read as texts in both cases, because a compiler sees one branch of an `#if`.
"""

import json
import os
import re
import select
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.parsing import C

TONGUES: Final = {C: "c", CPP: "c++"}
"""The languages as of `gcc -x`."""
COMPILERS: Final = {"c": ("gcc", "clang", "cc"), "c++": ("g++", "clang++", "c++")}
"""By the language, as of `gcc -x`."""
SECONDS: Final = 20
"""The longest time of one call of a compiler."""
LARGEST: Final = 64_000_000
"""Bytes: longer answers, and longer files of commands, are not read."""
_HEADERS: Final = 2_000
"""The most headers of a project that are read as texts."""
_ABSENT: Final = 24
"""The most headers that may be missing until nothing of the file counts as known."""
_SEARCHES: Final = 3
"""How often missing headers are looked for in the project: those that are found may include others."""
_SYSTEM: Final = re.compile(r"<\.\.\.> search starts here:\n((?: .*\n)*)")
"""The folders of the system's headers, as a compiler tells them for -v."""
_TESTED: Final = re.compile(r"__has_include(?:_next)?[ \t]*\([ \t]*[\"<]([^\">\n]+)")
"""A header of which a text asks whether there is one."""
_FILES: Final = 100_000
"""The most files of a project in which headers are looked for."""
_ENDINGS: Final = (".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".def")
_OF_A_PROJECT: Final = (".git", "configure", "configure.ac", "CMakeLists.txt", "meson.build", "Makefile",
                        "BUILD.bazel")  # fmt: skip
"""What lies in the top folder of a project."""
_COMMANDS: Final = 3
"""The most commands of one file that are looked at. Nothing is known of a file that has more."""

_NOT_FOUND: Final = re.compile(
    r"fatal error: (?:'([^'\n]+)' file not found|([^\n:]+): No such file or directory)"
)
_MARKER: Final = re.compile(r'#(?:line)? (\d+) "((?:[^"\\]|\\.)*)"((?: \d)*)$')
_INCLUDED: Final = re.compile(
    r'^[ \t]*#[ \t]*(?:include|import)[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)?', re.MULTILINE
)
_ERROR: Final = re.compile(r"\berror: (.*)")
_PLAIN: Final = re.compile(r"[ !#-\[\]-~]*")
_KEPT: Final = re.compile(r"-std=[\w+:]{1,20}|-ansi|-fexec-charset=(?!(?i:utf-?8)$)[\w.:+-]{1,40}", re.ASCII)
_C89: Final = re.compile(r"-ansi|-std=(?:(?:c|gnu)(?:89|90)|iso9899:199\w+)")
"""The names of the first standard of C."""
_NAME: Final = re.compile(r"[A-Za-z_]\w*(?:\([^()\n]*\))?(?:=[^\n\0]*)?")
_TAKES_A_WORD: Final = ("-I", "-D", "-U", "-include")


Answered: TypeAlias = tuple[str, tuple[str, ...], bool]
"""What a compiler says, the headers that are missing, and whether it stops for another reason."""


@dataclass(frozen=True, slots=True)
class HeaderFacts:
    """What is known of the headers of a file."""

    definitions: str = ""
    """The lines with `#define` of headers, of the command and of the compiler."""
    declarations: tuple[str, ...] = ()
    """The texts of headers, without directives. Two files that include a header may have one text of it."""
    own: str = ""
    """The text of the file as the compiler reads it, without directives; empty where none was asked."""
    missing: tuple[str, ...] = ()
    """Headers that are not found, and `#error` if a directive says that something else is missing."""
    read: frozenset[int] | None = None
    """The lines of the file of which the compiler reads something; `None` where none was asked."""
    failed: bool = False
    """Whether the compiler stops for another reason than a missing header."""


@lru_cache(maxsize=2)
def facts_of(text: str, file: str, tongue: str = "c") -> HeaderFacts:
    """What the headers of a text show. Where its file is not known (empty), only those of the system are
    found. `tongue` is the language, as of `gcc -x`."""
    ways = flags_of(file)
    parts = [_facts_of(text, file, tongue, flags) for flags in ways[:_COMMANDS]]
    read = [part.read for part in parts if part.read is not None]
    return HeaderFacts(
        definitions="\n".join(part.definitions for part in parts),
        declarations=tuple(text for part in parts for text in part.declarations),
        own="\n".join(part.own for part in parts),
        missing=tuple(dict.fromkeys(name for part in parts for name in part.missing)),
        read=frozenset().union(*read) if read else None,
        failed=len(ways) > _COMMANDS or any(part.failed for part in parts),
    )


def _facts_of(text: str, file: str, tongue: str, flags: tuple[str, ...]) -> HeaderFacts:
    answered, near = _searched(text, file, tongue, flags, "-dD")
    beside = [header for _, header in near if header is not None]
    if answered is not None:
        facts = _read(*answered)
        return replace(facts, definitions="\n".join([facts.definitions, *beside]))
    return HeaderFacts(
        definitions="\n".join([*defined_by(flags), *beside]),
        declarations=tuple(beside),
        missing=tuple(name for name, header in near if header is None),
    )


# ── a compiler ───────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=2)
def compiler_of(tongue: str) -> str | None:
    """The first compiler of a language that is installed."""
    return next((path for name in COMPILERS[tongue] if (path := shutil.which(name))), None)


@lru_cache(maxsize=2)
def _folders_of_system(compiler: str, tongue: str) -> Sequence[Path]:
    """The folders in which a compiler looks for headers last."""
    with TemporaryDirectory(prefix="codeaudit-headers-") as scratch:
        words = [compiler, "-E", "-v", "-x", tongue, "-"]
        match = _SYSTEM.search(answer(words, "", Path(scratch), Path(scratch))[2])
    return [Path(line.strip()) for line in match[1].splitlines()] if match is not None else []


def _searched(
    text: str, file: str, tongue: str, flags: tuple[str, ...], option: str
) -> "tuple[Answered | None, Sequence[tuple[str, str | None]]]":
    """As `_preprocessed`, and as `headers_near`; `option` says which directives stay.

    Missing headers are looked for in the project where no file of commands says where headers lie: behind all
    other folders, so that no header of the system is hidden. What a compiler will miss is foreseen from the
    texts, so that it is asked once; it is asked again where it does not read a header that was looked for.
    """
    compiler, folders = compiler_of(tongue), dict[str, str]()
    system = _folders_of_system(compiler, tongue) if compiler is not None else []
    for _ in range(_SEARCHES + 1):
        near = list(headers_near(text, file, (*flags, *(f"-I{folder}" for folder in folders.values()))))
        unseen = [name for name, header in near if header is None]
        missing = [name for name in unseen if not any((folder / name).is_file() for folder in system)]
        more = _in_project(file, missing) if system and not flags else {}
        if not more:
            break
        folders |= more
    tested = {name for piece in (text, *(own or "" for _, own in near)) for name in _TESTED.findall(piece)}
    while compiler is not None:
        after = [word for folder in dict.fromkeys(folders.values()) for word in ("-idirafter", folder)]
        # Without -E it would write a file; -w because warnings are no answer.
        words = [compiler, "-E", option, "-w", "-x", tongue, *flags, *after]
        answered = _preprocessed(words, text, file, [name for name in missing if name not in tested])
        out = "" if answered is None else answered[0]
        read = {name: place for name, place in folders.items() if _is_read(f"{place}/{name}", out)}
        if answered is None or {*read.values()} == {*folders.values()}:
            return answered, near
        folders = read
        near = list(headers_near(text, file, [f"-I{folder}" for folder in folders.values()]))
    return None, near


def _in_project(file: str, missing: Iterable[str]) -> dict[str, str]:
    """The folders of the project around a file in which these headers lie, by the names that `#include` gives
    them. A header counts if the project has exactly one that may be meant."""
    root = _project(file)
    paths = {} if root is None else _project_headers(root)
    folders: dict[str, str] = {}
    for name in missing:
        parts = PurePosixPath(name).parts
        places = [path for path in paths.get(parts[-1], ()) if path.endswith(f"/{name}")] if parts else []
        if len(places) == 1 and ".." not in parts:
            folders[name] = places[0].removesuffix(f"/{name}")
    return folders


def _project(file: str) -> str | None:
    """The top folder of the project around a file; `None` if nothing shows one."""
    top = None
    for folder in Path(file).parents if file else ():
        if len(folder.parts) < 2:
            break
        if any((folder / name).exists() for name in _OF_A_PROJECT):
            top = str(folder)
        if (folder / ".git").exists():
            break
    return top


@lru_cache(maxsize=4)
def _project_headers(root: str) -> Mapping[str, Sequence[str]]:
    """The paths of all headers below a folder, by name; none if there are too many files."""
    paths: dict[str, list[str]] = {}
    count = 0
    for folder, inside, names in os.walk(root):
        inside[:] = [name for name in inside if not name.startswith(".") and name != "node_modules"]
        count += len(names)
        if count > _FILES:
            return {}
        for name in names:
            if name.endswith(_ENDINGS):
                paths.setdefault(name, []).append(f"{folder}/{name}")
    return paths


def _preprocessed(words: Sequence[str], text: str, file: str, expected: Iterable[str]) -> "Answered | None":
    """What a compiler makes of a text, the headers that are missing, and whether it stops for another reason;
    `None` where it gives no answer in time. An empty header stands in the place of each that is `expected` to
    be missing; where another one is, the compiler is asked again."""
    with TemporaryDirectory(prefix="codeaudit-headers-") as scratch:
        empty = Path(scratch, "absent")
        empty.mkdir()
        folder = Path(file).parent if file else Path(scratch)
        words = [*words, "-idirafter", str(empty), "-"]
        placed = [name for name in dict.fromkeys(expected) if _is_placed(empty, name)]
        while True:
            code, out, errors = answer(words, text, folder, Path(scratch))
            if code is None:
                return None
            missing = tuple(name for name in placed if _is_read(f"{empty}/{name}", out))
            absent = _NOT_FOUND.search(errors)
            if not code:
                return out, missing, len(missing) > _ABSENT
            if absent is None:
                # The project asks for something that a command would define. All else is read.
                asks = [error.startswith("#error") for error in _ERROR.findall(errors)]
                return out, (*missing, *(["#error"] if any(asks) else [])), not asks or not all(asks)
            placed.append(absent[1] or absent[2])
            if len(missing) >= _ABSENT or not _is_placed(empty, placed[-1]):
                return "", (*missing, placed[-1]), True


def _is_read(path: str, out: str) -> bool:
    """Whether a compiler has read a file, by its answer; in doubt it has: some signs get another spelling."""
    return f'"{path}"' in out or _PLAIN.fullmatch(path) is None


def _is_placed(folder: Path, name: str) -> bool:
    """Whether an empty header could be made in a folder."""
    if ".." in PurePosixPath(name).parts or name.startswith("/") or (folder / name).exists():
        return False
    try:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    except OSError:
        return False
    return True


@lru_cache(maxsize=8)
def written_out(text: str, file: str, tongue: str = "c") -> str | None:
    """The text of a file with the headers of its project in their places. A compiler has chosen among the
    branches of `#if` and has replaced macros; their definitions and `#include <…>` stay. `None` where no
    compiler answers."""
    answered, _ = _searched(text, file, tongue, flags_of(file)[0], "-dDI")
    if answered is None or not answered[0]:
        return None
    lines, is_own, of_system = list[str](), False, set[str]()
    for line in answered[0].split("\n"):
        if (marker := _MARKER.match(line)) is not None:
            # A line of an own file that begins with a macro of the system has flag 3, too, without flag 1.
            if {"1", "3"} <= set(marker[3].split()):
                of_system.add(marker[2])
            is_own = marker[2] == "<stdin>" or (marker[2][:1] != "<" and marker[2] not in of_system)
        elif is_own and line.strip() and not line.startswith('#include "'):
            # The grammar reads a definition without a value, but with a space, up to the next lines.
            lines.append(line.rstrip())
    return "\n".join(lines)


def answer(words: Sequence[str], text: str, folder: Path, scratch: Path) -> tuple[int | None, str, str]:
    """The exit code and the two outputs of a compiler that reads `text` and runs in a folder; no code where
    it takes too long or says too much. `scratch` is an empty folder for what it writes."""
    # None of its variables is passed on: some of them name files that it writes.
    around = {"PATH": os.defpath, "LC_ALL": "C", "TMPDIR": str(scratch)}
    into, out, err = scratch / "in", scratch / "out", scratch / "err"
    try:
        into.write_bytes(text.encode())
        with into.open("rb") as source, out.open("wb") as answer, err.open("wb") as errors:
            code = _ended(
                [*_LIMITED, *words], stdin=source, stdout=answer, stderr=errors, cwd=folder, env=around
            )
    except (OSError, UnicodeEncodeError):
        return None, "", ""
    if code is None or code < 0 or out.stat().st_size > LARGEST:
        return None, "", ""
    return code, out.read_text("utf-8", "replace"), err.read_text("utf-8", "replace")


_LIMITED: Final = (
    *("/bin/sh", "-c"),
    f'ulimit -t {SECONDS}; ulimit -v {2**21}; ulimit -f {LARGEST // 512 + 1}; exec "$@"',
    "sh",
)
"""What limits the time, the memory and the output of a compiler: a header may be endless. A shell starts in a
tenth of the time that a function in the child takes, for which this process has to be copied."""


def _ended(words: Sequence[str], **streams: Any) -> int | None:
    """The exit code of a command; `None` if it takes too long.

    The end of a pipe that only the command holds says that it has ended. To wait with a limit would sleep up
    to 50 ms.
    """
    reading, writing = os.pipe()
    with open(reading, "rb") as ended:
        try:
            process = subprocess.Popen(words, pass_fds=(writing,), **streams)
        finally:
            os.close(writing)
        is_ended = bool(select.select([ended], [], [], SECONDS)[0])
        if not is_ended:
            process.kill()
        code = process.wait()
        return code if is_ended else None


def _read(out: str, missing: tuple[str, ...], failed: bool) -> HeaderFacts:
    """Sort the lines of an answer."""
    definitions, read = list[str](), set[int]()
    texts: dict[str, list[str]] = {}
    number, file = 0, ""
    for line in out.split("\n"):
        if (marker := _MARKER.match(line)) is not None:
            number, file = int(marker[1]), marker[2]
            continue
        is_own = file == "<stdin>"
        if line.startswith(("#define ", "#undef ")):
            # Those of the file itself are looked up in its text, where no branch is left out.
            if not is_own:
                definitions.append(line)
        elif line.strip():
            texts.setdefault(file, []).append(line)
            if is_own:
                read.add(number)
        number += 1
    own = "\n".join(texts.pop("<stdin>", ()))
    declarations = tuple("\n".join(lines) for lines in texts.values())
    return HeaderFacts("\n".join(definitions), declarations, own, missing, frozenset(read), failed)


# ── texts of headers ─────────────────────────────────────────────────────────────────────────────────────


def headers_near(text: str, file: str, flags: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """The headers that a file includes, by name, with the text of those that lie beside it or in a folder of
    -I; `None` for others, and for those that a macro names."""
    folders = [Path(flag[2:]) for flag in flags if flag.startswith("-I")]
    pending = [(text, Path(file).parent if file else None)]
    pending += [("\n".join(f'#include "{flag}"' for flag in flags if flag.startswith("/")), None)]
    met: set[str] = set()
    while pending and len(met) < _HEADERS:
        inside, folder = pending.pop()
        for quoted, pointed in _INCLUDED.findall(inside):
            name = quoted or pointed
            places = [folder, *folders] if quoted and folder is not None else folders
            path = next((place / name for place in places if name and (place / name).is_file()), None)
            if name.startswith("/") and Path(name).is_file():
                path = Path(name)
            key = name if path is None else os.path.realpath(path)
            if key in met:
                continue
            met.add(key)
            header = None if path is None else _header(path)
            if header is not None and path is not None:
                pending.append((header, path.parent))
            yield name, header


def _header(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace") if path.stat().st_size <= LARGEST else None
    except OSError:
        return None


# ── flags ────────────────────────────────────────────────────────────────────────────────────────────────


def defined_by(flags: Iterable[str]) -> Iterator[str]:
    """What -D defines, as directives. Without a value it is 1; `-DNAME=` makes it empty."""
    for flag in flags:
        if flag.startswith("-D"):
            name, equals, value = flag[2:].partition("=")
            yield f"#define {name} {value if equals else 1}"


def flags_of(file: str) -> tuple[tuple[str, ...], ...]:
    """The flags for a file in its project, one set for each way in which it is compiled; one without flags
    where no file of commands names it."""
    if not file:
        return ((),)
    for folder in Path(file).parents:
        for place in (folder, folder / "build"):
            commands = place / "compile_commands.json"
            if commands.is_file():
                about = commands.stat()
                by_file = _commands(str(commands), about.st_mtime_ns, about.st_size)
                return by_file.get(os.path.realpath(file), ((),))
        plain = folder / "compile_flags.txt"
        if plain.is_file() and (text := _header(plain)) is not None:
            return (kept_flags(text.split("\n"), folder),)
        if (folder / ".git").exists():
            break
    return ((),)


def is_c89(file: str) -> bool:
    """Whether a command of the project compiles a file by the first standard of C, which has no comments `//`
    and no declarations behind a statement. The last name of a standard in a command counts."""
    named = [[flag for flag in flags if flag.startswith(("-std", "-ansi"))] for flags in flags_of(file)]
    return any(_C89.fullmatch(flags[-1]) for flags in named if flags)


@lru_cache(maxsize=4)
def _commands(path: str, changed: int, size: int) -> dict[str, tuple[tuple[str, ...], ...]]:
    """The flags of each file that a `compile_commands.json` names."""
    by_file: dict[str, tuple[tuple[str, ...], ...]] = {}
    try:
        rows = json.loads(Path(path).read_bytes()) if size <= LARGEST else []
    except (OSError, ValueError, RecursionError):
        rows = []
    for row in rows if isinstance(rows, list) else []:
        if not isinstance(row, dict) or not isinstance(row.get("file"), str):
            continue
        folder = Path(path).parent / str(row.get("directory", ""))
        words = row.get("arguments")
        if not isinstance(words, list):
            try:
                words = shlex.split(str(row.get("command", "")))
            except ValueError:
                words = []
        file = os.path.realpath(folder / row["file"])
        flags = kept_flags([word for word in words if isinstance(word, str)], folder)
        by_file[file] = tuple(dict.fromkeys((*by_file.get(file, ()), flags)))[: _COMMANDS + 1]
    return by_file


def kept_flags(words: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Of the words of a command only `_KEPT`, -I, -D, -U and -include, with whole paths."""
    kept: list[str] = []
    rest = iter(word.strip() for word in words)
    for word in rest:
        if _KEPT.fullmatch(word):
            kept.append(word)
            continue
        kind = next((flag for flag in _TAKES_A_WORD if word.startswith(flag)), None)
        if kind is None or (kind == "-include" and word != kind):
            continue
        value = word[len(kind) :] or next(rest, "")
        if kind in ("-D", "-U"):
            if _NAME.fullmatch(value):
                kept.append(f"{kind}{value}")
        elif value and "\0" not in value and "\n" not in value:
            place = os.path.normpath(folder.absolute() / value)
            kept += [f"-I{place}"] if kind == "-I" else ["-include", place]
    return tuple(kept)

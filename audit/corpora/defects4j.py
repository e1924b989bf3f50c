"""The methods that bugs of Defects4J touch, from a user's own working copies.

The folder contains working copies at any depth, as made by `defects4j checkout -p PID -v NUMBERb -w DIR` (and
`NUMBERf`). Two files identify a copy:

- `.defects4j.config` with `pid=PID` and `vid=NUMBERb`;
- `defects4j.build.properties` with `d4j.classes.modified` (class names separated by commas) and
  `d4j.dir.src.classes`.

If only the buggy or only the fixed copy is there, the files of the other one are made with the patch
`framework/projects/PID/patches/NUMBER.src.patch` of a Defects4J in the same folder, which leads from fixed to
buggy. A method is an example if both copies have it (same class, name, parameter types) and its texts differ
in more than comments and white space. Bugs that change the same method or have equal texts form one group. A
text with both labels is left out.

Patches are applied exactly: a hunk whose old lines are not in the text is an error, which is counted.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from typing_extensions import override

from codeaudit.audit.corpora.files import FOREIGN, read_bytes
from codeaudit.audit.corpora.functions import decode
from codeaudit.audit.corpora.methods import MethodText, outermost_methods, parse
from codeaudit.audit.corpora.records import SPLITS, BaseCorpus, CorpusResources, Split, raw_sample, split_of
from codeaudit.transforms.errors import CorpusError, SourceError
from codeaudit.transforms.java.language import JAVA
from codeaudit.transforms.java.parsing import TYPES
from codeaudit.transforms.records import Sample
from codeaudit.transforms.syntax.reader import ParsedText

CONFIG: Final = ".defects4j.config"
PROPERTIES: Final = "defects4j.build.properties"
PATCHES: Final = "framework/projects/{project}/patches/{bug}.src.patch"
CLEAN: Final = 0.0
BUGGY: Final = 1.0
_VERSION: Final = re.compile(r"(\d{1,9})([bf])", re.ASCII)
_BLANKS: Final = re.compile(r"\s+")


class Defects4JBug(NamedTuple):
    """The identity of a bug."""

    project: str
    number: int


class MethodKey(NamedTuple):
    """Identifies a method in both copies."""

    path: str
    types: tuple[str, ...]
    name: str
    parameters: tuple[str, ...]


class MethodInCopy(NamedTuple):
    """A method in one copy."""

    key: MethodKey
    method: MethodText
    bare: str
    """Its text without comments and white space."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BugCopies:
    """The copies of one bug."""

    bug: Defects4JBug
    buggy: Path | None
    fixed: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Defects4JCheckouts(BaseCorpus):
    """The working copies in one folder."""

    spec: str
    folder: Path
    split: Split | None = None

    @override
    def read(self, skipped: Counter[str]) -> Iterator[Sample]:
        """The label is 1 for a method with the bug and 0 for the fixed one."""
        pairs = [
            (copies.bug, fixed, buggy)
            for copies in _copies(self.folder)
            for fixed, buggy in self._pairs(copies, skipped)
        ]
        groups = _groups(pairs)
        # A method may be fixed for one bug and buggy for another one in the same project.
        labels: dict[str, set[float]] = defaultdict(set)
        for _, fixed, buggy in pairs:
            labels[fixed.bare].add(CLEAN)
            labels[buggy.bare].add(BUGGY)
        for bug, fixed, buggy in pairs:
            group = groups[bug]
            if self.split not in (None, split_of(group)):
                continue
            for version, label in ((fixed, CLEAN), (buggy, BUGGY)):
                if len(labels[version.bare]) > 1:
                    skipped["text that has another label too"] += 1
                    continue
                yield raw_sample(
                    version.method.source,
                    language=JAVA.name,
                    label=label,
                    path=f"{bug.project}-{bug.number}/{version.key.path}",
                    line=version.method.line,
                    group=group,
                )

    def _pairs(self, copies: BugCopies, skipped: Counter[str]) -> Iterator[tuple[MethodInCopy, MethodInCopy]]:
        """The methods, fixed and buggy, that differ between the copies."""
        try:
            texts = _texts(self.folder, copies)
            for path, (fixed, buggy) in texts.items():
                before, after = _methods(path, fixed), _methods(path, buggy)
                for key, method in before.items():
                    if key in after and method.bare != after[key].bare:
                        yield method, after[key]
                gone = len(before.keys() ^ after.keys())
                if gone:
                    skipped["method of one version only"] += gone
        except SourceError as error:
            skipped[f"bug: {error}"] += 1


def checkouts(spec: str, rest: str, resources: CorpusResources) -> Defects4JCheckouts:
    """The corpus `defects4j:[SPLIT:]FOLDER`.

    Raises:
        CorpusError: there is no such folder, or no working copy in it.
    """
    head, colon, place = rest.partition(":")
    split: Split | None = next((name for name in SPLITS if colon and name == head), None)
    folder = Path(place if split else rest)
    if not folder.is_dir():
        raise CorpusError(f"no folder {str(folder)!r} of working copies of Defects4J")
    if next(_working_copies(folder), None) is None:
        raise CorpusError(
            f"no working copy in {str(folder)!r}: none of its folders has a {CONFIG}; "
            "make some with defects4j checkout"
        )
    return Defects4JCheckouts(spec=spec, folder=folder, split=split)


def _working_copies(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        if CONFIG in names:
            folders.clear()  # a working copy holds a whole project, with thousands of folders
            yield Path(place)
        else:
            folders[:] = sorted(name for name in folders if name not in FOREIGN and not name.startswith("."))


def _copies(folder: Path) -> list[BugCopies]:
    """The copies by bug. If a version has several copies, the first one counts."""
    paths: dict[Defects4JBug, dict[str, Path]] = defaultdict(dict)
    for place in _working_copies(folder):
        config = _properties(place / CONFIG)
        version = _VERSION.fullmatch(config.get("vid", ""))
        if version is None or not config.get("pid"):
            raise CorpusError(f"{str(place / CONFIG)!r} needs lines pid=PROJECT and vid=NUMBERb or NUMBERf")
        bug = Defects4JBug(config["pid"], int(version.group(1)))
        paths[bug].setdefault(version.group(2), place)
    return [BugCopies(bug=bug, buggy=paths[bug].get("b"), fixed=paths[bug].get("f")) for bug in sorted(paths)]


def _properties(path: Path) -> Mapping[str, str]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise CorpusError(f"cannot read {str(path)!r}: {error.strerror}") from error
    pairs = (line.partition("=") for line in text.split("\n") if not line.lstrip().startswith("#"))
    return {key.strip(): value.strip() for key, _, value in pairs if key.strip()}


def _texts(folder: Path, copies: BugCopies) -> dict[str, tuple[str, str]]:
    """The fixed and the buggy text of each file that the bug touches, by path below the copy.

    Raises:
        SourceError: a file cannot be read, or a patch is missing or does not fit.
    """
    if copies.fixed is not None and copies.buggy is not None:
        paths = _modified(copies.fixed) or _modified(copies.buggy)
        return {
            path: (decode(read_bytes(copies.fixed / path)), decode(read_bytes(copies.buggy / path)))
            for path in paths
            if (copies.fixed / path).is_file() and (copies.buggy / path).is_file()
        }
    place = folder / PATCHES.format(project=copies.bug.project, bug=copies.bug.number)
    if not place.is_file():
        raise SourceError("one version and no patch")
    patch = decode(read_bytes(place))
    texts: dict[str, tuple[str, str]] = {}
    for path, hunks in files_of(patch).items():
        if not path.endswith(".java"):
            continue
        own = decode(read_bytes((copies.fixed or copies.buggy or folder) / path))
        try:
            other = applied(own, hunks, back=copies.fixed is None)
        except Misfit:
            raise SourceError("patch does not fit") from None
        texts[path] = (own, other) if copies.fixed is not None else (other, own)
    return texts


def _modified(place: Path) -> Sequence[str]:
    """The files of the classes that a bug is in."""
    properties = _properties(place / PROPERTIES)
    names = [name.strip() for name in properties.get("d4j.classes.modified", "").split(",") if name.strip()]
    root = properties.get("d4j.dir.src.classes", "")
    return sorted({f"{root}/{name.partition('$')[0].replace('.', '/')}.java".lstrip("/") for name in names})


def _methods(path: str, text: str) -> dict[MethodKey, MethodInCopy]:
    reading = parse(text)
    methods: dict[MethodKey, MethodInCopy] = {}
    for method in outermost_methods(reading):
        if method.node.child("body") is not None:
            key = MethodKey(path, _types(reading, method), method.name, _parameters(reading, method))
            methods.setdefault(key, MethodInCopy(key, method, _bare(reading, method)))
    return methods


def _types(reading: ParsedText, method: MethodText) -> tuple[str, ...]:
    names, node = list[str](), method.node.parent
    while node is not None:
        if node.kind in TYPES or node.kind == "enum_constant":
            names.append(reading.text(node.part("name")))
        node = node.parent
    return tuple(reversed(names))


def _parameters(reading: ParsedText, method: MethodText) -> tuple[str, ...]:
    parameters = method.node.child("parameters")
    types = [] if parameters is None else [child.child("type") or child for child in parameters.children]
    return tuple(_BLANKS.sub("", reading.text(node)) for node in types)


def _bare(reading: ParsedText, method: MethodText) -> str:
    """The tokens of a method, separated by null characters."""
    # Leaves and tokens, because the text between them is white space and comments only.
    source, leaves = reading.source, list[tuple[int, int]]()
    for node in method.node.walk():
        leaves += [(start, end) for _, start, end in node.tokens]
        if not node.children and not node.tokens:
            leaves.append((node.start, node.end))
    return "\0".join(source[start:end].decode() for start, end in sorted(leaves))


def _groups(pairs: Sequence[tuple[Defects4JBug, MethodInCopy, MethodInCopy]]) -> dict[Defects4JBug, str]:
    """The group of each bug, named after the first bug in it."""
    # A union-find: if bugs 1 and 2 share a method, and 2 and 3 another one, all three are one group.
    leader: dict[Defects4JBug, Defects4JBug] = {bug: bug for bug, _, _ in pairs}

    def first(bug: Defects4JBug) -> Defects4JBug:
        while leader[bug] != bug:
            bug = leader[bug]
        return bug

    met: dict[tuple[str, object], Defects4JBug] = {}
    for bug, fixed, buggy in pairs:
        for what in (fixed.key, fixed.bare, buggy.bare):
            other = met.setdefault((bug.project, what), bug)
            low, high = sorted((first(bug), first(other)))
            leader[high] = low
    return {bug: f"{first(bug).project}-{first(bug).number}" for bug in leader}


_HUNK: Final = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@", re.ASCII)


class Misfit(Exception):  # noqa: N818 - an outcome, which the caller counts
    """The old lines of a hunk are not in the text, or in several equally near places."""


class Hunk(NamedTuple):
    """Lines that are replaced by others."""

    start: int
    """Index of the first old line, from 0."""
    old: tuple[str, ...]
    other_start: int
    new: tuple[str, ...]

    @property
    def back(self) -> "Hunk":
        """The reverse hunk."""
        return Hunk(self.other_start, self.new, self.start, self.old)


def files_of(patch: str) -> Mapping[str, Sequence[Hunk]]:
    """The hunks of a patch by path, without the first folder `a` or `b`."""
    by_path: dict[str, list[Hunk]] = {}
    lines = patch.split("\n")
    path, at = "", 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("+++ "):
            path = _path(line) or path
        elif line.startswith("--- "):
            path = _path(line) or ""
        elif (head := _HUNK.match(line)) is not None and path:
            hunk, at = _hunk(head, lines, at)
            by_path.setdefault(path, []).append(hunk)
    return by_path


def applied(text: str, hunks: Sequence[Hunk], *, back: bool = False) -> str:
    """The text after the hunks; with `back`, after the reverse hunks.

    Raises:
        Misfit: a hunk does not fit.
    """
    lines, moved = text.split("\n"), 0
    for hunk in (hunk.back for hunk in hunks) if back else hunks:
        place = _place(lines, hunk, hunk.start + moved)
        lines[place : place + len(hunk.old)] = hunk.new
        # Later hunks are looked for as far from their stated line as this one was found.
        moved = place - hunk.start + len(hunk.new) - len(hunk.old)
    return "\n".join(lines)


def _path(line: str) -> str | None:
    name = line[4:].partition("\t")[0].strip()
    if name == "/dev/null":
        return None
    return name[2:] if name.startswith(("a/", "b/")) else name


def _hunk(head: re.Match[str], lines: Sequence[str], at: int) -> tuple[Hunk, int]:
    start, count, other, more = (int(number) if number is not None else 1 for number in head.groups())
    old, new = list[str](), list[str]()
    while at < len(lines) and (len(old) < count or len(new) < more):
        sign, text = lines[at][:1], lines[at][1:]
        at += 1
        if sign in (" ", "", "-"):  # "": an editor removed the blank of an empty line
            old.append(text)
        if sign in (" ", "", "+"):
            new.append(text)
    # A hunk without old lines gives the number of the line before its place.
    return Hunk(start - (count > 0), tuple(old), other - (more > 0), tuple(new)), at


def _place(lines: Sequence[str], hunk: Hunk, near: int) -> int:
    """The index of the old lines that is nearest to the expected one."""
    if not hunk.old:
        return min(max(near, 0), len(lines))
    fits = list(_places(lines, hunk.old))
    if not fits:
        raise Misfit
    ranked = sorted(fits, key=lambda place: abs(place - near))
    # Code repeats itself. A hunk at the wrong one of two equal places would make a label wrong.
    if len(ranked) > 1 and abs(ranked[0] - near) == abs(ranked[1] - near):
        raise Misfit
    return ranked[0]


def _places(lines: Sequence[str], old: Sequence[str]) -> Iterator[int]:
    for place in range(len(lines) - len(old) + 1):
        if lines[place] == old[0] and tuple(lines[place : place + len(old)]) == tuple(old):
            yield place

"""How much of real Java can be read, why not the rest, and how fast?

    python benchmarks/java_reading.py FOLDER... [--limit 2000]

Of each folder's `.java` files, or of so many spread evenly over them: those that the grammar (tree-sitter)
parses without an error, those that the transforms can take apart and write back, the methods in these, the
methods of which a transform can be given the bare text, and the files that javalang parses. Times are
processor time per file on one core: the grammar alone; all of it until the methods are found; javalang.
"""

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

import javalang.parse
import tree_sitter_java
from javalang.parser import JavaSyntaxError
from javalang.tokenizer import LexerError
from tree_sitter import Language, Parser

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.java.files import JAVA_FILES

HEADS: Final = (
    "folder", "files", "tree-sitter", "read", "javalang", "methods", "bare",
    "ms: tree-sitter", "ms: read", "ms: javalang",
)  # fmt: skip
NOT_BARE: Final = "a method that cannot be read alone"
_LINE: Final = re.compile(r": line \d+$")
_Found = TypeVar("_Found")


@dataclass(kw_only=True)
class Tally:
    """Counts of a folder's files by outcome."""

    files: int = 0
    parsed: int = 0
    """Files that the grammar parses without an error."""
    read: int = 0
    """Files that the transforms can take apart and write back."""
    understood: int = 0
    """Files that javalang parses."""
    methods: int = 0
    bare: int = 0
    """Methods that can be read without their file."""
    seconds: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    """Processor time of the grammar, of the transforms' reading, and of javalang."""
    refused: Counter[str] = field(default_factory=Counter)
    """Files that are not read, by reason."""
    untouched: Counter[str] = field(default_factory=Counter)
    """Methods that are not offered to transforms, by reason."""

    def add(self, data: bytes, parser: Parser) -> None:
        """Read one file in all three ways."""
        self.files += 1
        self.parsed += not self._timed(0, lambda: parser.parse(data).root_node.has_error)
        self._take_apart(data)
        self.understood += self._timed(2, lambda: _javalang_parses(data))

    def _take_apart(self, data: bytes) -> None:
        try:
            text = self._timed(1, lambda: JAVA_FILES.decode(data).text)
            places = self._timed(1, lambda: JAVA_FILES.places(text))
        except SourceError as error:
            self.refused[_LINE.sub("", str(error))] += 1
            return
        self.read += 1
        source = text.encode()
        for place in places:
            self.methods += 1
            if JAVA_FILES.is_one(source[place.start : place.end].decode(), place.wrapper):
                self.bare += 1
            else:
                self.untouched[NOT_BARE] += 1
            if place.obstacle:
                self.untouched[place.obstacle] += 1

    def _timed(self, number: int, action: Callable[[], _Found]) -> _Found:
        begin = time.process_time()
        try:
            return action()
        finally:
            self.seconds[number] += time.process_time() - begin


def main() -> int:
    """Read the folders and print."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("folder", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=2000, help="files of each folder; 0 for all")
    asked = parser.parse_args()
    tallies = {}
    for folder in asked.folder:
        paths = sorted(path for path in folder.rglob("*.java") if path.is_file())
        if not paths:
            print(f"no Java file in {str(folder)!r}", file=sys.stderr)
            return 1
        tallies[folder] = tally(spread(paths, asked.limit or len(paths)))
    write_table(tallies)
    return 0


def spread(paths: Sequence[Path], limit: int) -> list[Path]:
    """At most `limit` paths, at equal distances."""
    count = min(limit, len(paths))
    return [paths[number * len(paths) // count] for number in range(count)]


def tally(paths: Sequence[Path]) -> Tally:
    """Reads the files and counts their outcomes."""
    parser = Parser(Language(tree_sitter_java.language()))
    counts = Tally()
    for path in paths:
        counts.add(path.read_bytes(), parser)
    return counts


def write_table(tallies: dict[Path, Tally]) -> None:
    """Markdown; then the reasons of each folder, the most frequent first."""
    for cells in (HEADS, ["---", *["---:"] * (len(HEADS) - 1)]):
        print(f"| {' | '.join(cells)} |")
    for folder, counts in tallies.items():
        cells = [folder.as_posix(), f"{counts.files:,}"]
        cells += [_percent(part, counts.files) for part in (counts.parsed, counts.read, counts.understood)]
        cells += [f"{counts.methods:,}", _percent(counts.bare, counts.methods)]
        cells += [f"{1000 * seconds / counts.files:.1f}" for seconds in counts.seconds]
        print(f"| {' | '.join(cells)} |")
    print()
    for folder, counts in tallies.items():
        for what, reasons in (("files", counts.refused), ("methods", counts.untouched)):
            for reason, count in reasons.most_common():
                print(f"{folder.as_posix()}: {count:,} {what}: {reason}")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole else "–"


def _javalang_parses(data: bytes) -> bool:
    try:
        javalang.parse.parse(data.decode("utf-8-sig"))
    except (JavaSyntaxError, LexerError, RecursionError, UnicodeDecodeError):
        return False
    except (AttributeError, IndexError, StopIteration, TypeError, ValueError):
        return False  # javalang raises errors of many kinds on syntax that is newer than Java 8
    return True


if __name__ == "__main__":
    sys.exit(main())

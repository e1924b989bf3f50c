"""The parser of Java (tree-sitter) against javac's tree API on random text.

    python benchmarks/java_readers.py --log readers.log --snippets 100000     goes on where the log ends
    python benchmarks/java_readers.py --log readers.log --report              what the log shows, as Markdown
    python benchmarks/java_readers.py --snippets 5000 --show                  without a log; shows each kind

A snippet is one method of random tokens: expressions, statements, types and patterns, written with few
blanks and parentheses, some of them with a token dropped, doubled, replaced or exchanged. It counts where
both readers can read it. They disagree if the kinds and places of expressions and statements differ. A kind
of disagreement is the kinds of nodes that only one of them has. `unseen` counts the disagreements that our
own reader (`transforms/java/second_reader.py`), which every transform asks, does not see; with one of them
the exit code is 1. `disputed alone` counts texts of which javac and the parser agree and our own reader does
not.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.java.javac_reader import (
    BINARY_KINDS,
    UNARY_KINDS,
    JavacReader,
    newest_kit,
    structure,
)
from codeaudit.transforms.java.parsing import read
from codeaudit.transforms.seeding import stream
from codeaudit.transforms.syntax.reader import ParsedText

CHUNK: Final = 1_000
"""Snippets that are drawn from one stream and sent together."""
DEEP: Final = 3
"""How deep expressions and statements nest."""
BROKEN: Final = 0.15
"""The share of snippets of which one token is changed."""

NAMES: Final = ("a", "b", "c", "i", "x", "p", "A", "B", "List", "Map")
CONTEXTUAL: Final = (
    "record", "var", "yield", "open", "module", "sealed", "permits", "when", "with", "to", "opens", "exports",
    "requires", "uses", "transitive", "provides", "non", "_", "$",
)  # fmt: skip
PRIMITIVE: Final = ("int", "char", "long", "double", "boolean", "byte", "short", "float")
BINARY: Final = (
    "+", "-", "*", "/", "%", "<<", ">>", ">>>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||",
)  # fmt: skip
LITERALS: Final = (
    "1", "0", "2L", "0x1F", "1.5", "1e3", ".5f", "1.", "0b11", "017", "1_000", "'c'", "'\\''", '"s"',
    '"a//b"',
    '"\\""', "true", "null", "0x1p3", "1.f", '"""\n t "q" \\""" \n"""', "'\\u0041'",
)  # fmt: skip
ASSIGNING: Final = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", ">>>=")
_SIGNS: Final = ("-", "+", "!", "~", "++", "--", "-", "+")


class Snippets:
    """Draws tokens. Each method gives the tokens of one construct."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def method(self) -> str:
        """A method, with one token changed at times."""
        head = self.rng.choice(
            ("void f()", "int f(int a)", "<T> T f(List<T> x)", "A()", "Object f(Object... p)")
        )
        body = [token for _ in range(self.rng.randint(1, 3)) for token in self.statement(0)]
        if self.rng.random() < BROKEN:
            self.break_one(body)
        return f"{head} {{ {self.joined(body)} }}"

    def joined(self, tokens: Sequence[str]) -> str:
        """The tokens as a text, often without blanks."""
        pieces: list[str] = []
        wide = self.rng.random()
        for token in tokens:
            last = pieces[-1][-1:] if pieces else " "
            if (last.isalnum() or last in "_$") and (token[:1].isalnum() or token[:1] in "_$"):
                pieces.append(" ")
            elif self.rng.random() < wide:
                pieces.append(self.rng.choice((" ", " ", " ", "\n", "/* c */", " // d\n")))
            pieces.append(token)
        return "".join(pieces)

    def break_one(self, tokens: list[str]) -> None:
        """Drop, double, replace or exchange a token."""
        place = self.rng.randrange(len(tokens))
        match self.rng.randrange(4):
            case 0:
                del tokens[place]
            case 1:
                tokens.insert(place, tokens[place])
            case 2:
                tokens[place] = self.rng.choice(
                    ("(", ")", "-", "+", "<", ">", "a", "A", "?", ":", "->", "::", ".")
                )
            case _:
                other = self.rng.randrange(len(tokens))
                tokens[place], tokens[other] = tokens[other], tokens[place]

    def name(self) -> list[str]:
        """A name, seldom a contextual keyword."""
        return [self.rng.choice(NAMES if self.rng.random() < 0.98 else CONTEXTUAL)]

    def type(self, depth: int = 0) -> list[str]:
        """A type."""
        rng = self.rng
        match rng.randrange(8):
            case 0 | 1:
                tokens = [rng.choice(PRIMITIVE)]
            case 2 if depth < 2:
                tokens = [*self.name(), "<", *self.type(depth + 1), ">"]
            case 3 if depth < 2:
                tokens = [*self.name(), "<", *self.type(depth + 1), ",", "?", "extends", *self.name(), ">"]
            case 4:
                tokens = [*self.name(), ".", *self.name()]
            case _:
                tokens = self.name()
        return [*tokens, "[", "]"] if rng.random() < 0.12 else tokens

    def several(self, draw: Callable[[int], list[str]], depth: int, most: int = 2) -> list[str]:
        """Constructs with commas between them, or none."""
        tokens: list[str] = []
        for number in range(self.rng.randint(0, most)):
            tokens += [","] * (number > 0) + draw(depth)
        return tokens

    def expression(self, depth: int) -> list[str]:
        """An expression, with few parentheses."""
        rng, deeper = self.rng, depth + 1
        if depth >= DEEP or rng.random() < 0.15:
            return self.name() if rng.random() < 0.7 else [rng.choice(LITERALS)]
        inner = partial(self.expression, deeper)
        match rng.randrange(26):
            case 0 | 1 | 2 | 3:
                return [*inner(), rng.choice(BINARY), *inner()]
            case 4 | 5:
                return [rng.choice(_SIGNS), *inner()]
            case 6:
                return [*(self.name() if rng.random() < 0.8 else inner()), rng.choice(("++", "--"))]
            case 7 | 8:
                return ["(", *self.type(), ")", *inner()]
            case 9:
                return ["(", *self.name(), "&", *self.name(), ")", *inner()]
            case 10 | 11 | 12:
                return ["(", *inner(), ")"]
            case 13:
                sign = rng.choice(("+", "-", "++", "--", "!", "(", "[", "*"))
                return ["(", *self.name(), ".", *self.name(), ")", sign, *inner()]
            case 14:
                return [*inner(), "?", *inner(), ":", *inner()]
            case 15:
                return [*(self.name() if rng.random() < 0.8 else inner()), rng.choice(ASSIGNING), *inner()]
            case 16:
                return [*inner(), "instanceof", *self.pattern(deeper)]
            case 17:
                return [*inner(), ".", *self.name(), "(", *self.several(self.expression, deeper), ")"]
            case 18:
                return [*self.name(), "(", *self.several(self.expression, deeper), ")"]
            case 19:
                return [*inner(), "[", *inner(), "]"]
            case 20:
                return self.lambda_(deeper)
            case 21:
                return [
                    *(self.type() if rng.random() < 0.5 else inner()),
                    "::",
                    *(self.name() if rng.random() < 0.7 else ["new"]),
                ]
            case 22:
                return self.made(deeper)
            case 23:
                return ["switch", "(", *inner(), ")", *self.rules(deeper)]
            case 24:
                return rng.choice(
                    (
                        ["this"],
                        [*self.type(), ".", "class"],
                        ["this", ".", *self.name()],
                        ["super", ".", "f", "(", ")"],
                    )
                )
            case _:
                return [*inner(), ".", *self.name()]

    def lambda_(self, depth: int) -> list[str]:
        """A lambda."""
        rng = self.rng
        head = rng.choice(
            (self.name(), ["(", *self.name(), ")"], ["(", *self.name(), ",", *self.name(), ")"], ["(", ")"],
             ["(", *self.type(), *self.name(), ")"])
        )  # fmt: skip
        body = ["{", *self.statement(depth), "}"] if rng.random() < 0.2 else self.expression(depth)
        return [*head, "->", *body]

    def made(self, depth: int) -> list[str]:
        """A new object or array."""
        rng = self.rng
        match rng.randrange(5):
            case 0:
                return ["new", *self.type(), "[", *self.expression(depth), "]"]
            case 1:
                return ["new", *self.type(), "[", "]", "{", *self.several(self.expression, depth), "}"]
            case 2:
                return [*self.expression(depth), ".", "new", *self.name(), "(", ")"]
            case 3:
                return [
                    "new",
                    *self.type(),
                    "(",
                    ")",
                    "{",
                    *self.type(),
                    *self.name(),
                    "=",
                    *self.expression(depth),
                    ";",
                    "}",
                ]
            case _:
                return ["new", *self.type(), "(", *self.several(self.expression, depth), ")"]

    def pattern(self, depth: int) -> list[str]:
        """A type or a pattern behind `instanceof` or `case`."""
        match self.rng.randrange(5):
            case 0:
                return self.type()
            case 1:
                return ["final", *self.type(), *self.name()]
            case 2 if depth < DEEP:
                return [*self.name(), "(", *self.several(self.pattern, depth + 1), ")"]
            case _:
                return [*self.type(), *self.name()]

    def rules(self, depth: int) -> list[str]:
        """The body of a `switch`, of rules or of groups."""
        rng, tokens = self.rng, ["{"]
        arrow = rng.random() < 0.6
        for _ in range(rng.randint(1, 3)):
            match rng.randrange(6):
                case 0:
                    tokens += ["default"]
                case 1:
                    tokens += ["case", *self.pattern(depth)]
                case 2:
                    tokens += ["case", *self.pattern(depth), "when", *self.expression(depth + 1)]
                case 3:
                    tokens += ["case", "null", ",", "default"]
                case _:
                    tokens += ["case", *self.expression(depth + 1)]
            if not arrow:
                tokens += [":", *self.statement(depth)]
            elif rng.random() < 0.6:
                tokens += ["->", *self.expression(depth), ";"]
            else:
                tokens += ["->", "{", *self.statement(depth), "}"]
        return [*tokens, "}"]

    def statement(self, depth: int) -> list[str]:
        """A statement."""
        rng, deeper = self.rng, depth + 1
        if depth >= DEEP:
            return [*self.name(), "(", ")", ";"]
        value = partial(self.expression, deeper)
        match rng.randrange(22):
            case 0:
                return [*value(), ";"]
            case 1 | 2 | 3:
                return ["f", "(", *self.several(self.expression, deeper), ")", ";"]
            case 4 | 5 | 6:
                return [*self.type(), *self.name(), "=", *value(), ";"]
            case 7:
                return [*self.type(), *self.name(), ";"]
            case 8:
                return ["return", *value(), ";"]
            case 9:
                return [
                    "if",
                    "(",
                    *value(),
                    ")",
                    *self.statement(deeper),
                    *(["else", *self.statement(deeper)] if rng.random() < 0.5 else []),
                ]
            case 10:
                return ["while", "(", *value(), ")", *self.statement(deeper)]
            case 11:
                return ["for", "(", *value(), ";", *value(), ";", *value(), ")", *self.statement(deeper)]
            case 12:
                return ["for", "(", *self.type(), *self.name(), ":", *value(), ")", *self.statement(deeper)]
            case 13:
                return ["{", *self.statement(deeper), *self.statement(deeper), "}"]
            case 14:
                return ["switch", "(", *value(), ")", *self.rules(deeper)]
            case 15:
                return ["yield", *value(), ";"]
            case 16:
                return [*self.name(), ":", *self.statement(deeper)]
            case 17:
                return [
                    "try",
                    "(",
                    *self.type(),
                    *self.name(),
                    "=",
                    *value(),
                    ")",
                    "{",
                    *self.statement(deeper),
                    "}",
                ]
            case 18:
                return ["assert", *value(), ":", *value(), ";"]
            case 19:
                return rng.choice(
                    (
                        ["record", *self.name(), "(", "int", "a", ")", "{", "}"],
                        ["class", "A", "{", *self.type(), "x", "=", *value(), ";", "}"],
                        ["throw", *value(), ";"],
                        [";"],
                    )
                )
            case 20:
                return ["do", *self.statement(deeper), "while", "(", *value(), ")", ";"]
            case _:
                target = self.name() if rng.random() < 0.7 else value()
                return [*target, rng.choice(ASSIGNING), *value(), ";"]


@dataclass(kw_only=True)
class Tally:
    """What one chunk of snippets showed."""

    seed: int
    first: int
    release: int
    snippets: int = 0
    unparsed: int = 0
    """Snippets that the parser cannot read."""
    unread: int = 0
    """Others that javac cannot read."""
    same: int = 0
    different: Counter[str] = field(default_factory=Counter)
    """Disagreements by kind."""
    unseen: Counter[str] = field(default_factory=Counter)
    """Those that our own reader does not see."""
    alone: int = 0
    """Texts that both read alike and our own reader disputes."""
    shown: dict[str, str] = field(default_factory=dict)
    """The shortest text of each kind."""
    seconds: float = 0.0


def drawn(seed: int, first: int) -> Iterator[str]:
    """The snippets of the chunk that begins with this number."""
    snippets = Snippets(stream(seed, "java readers", first))
    for _ in range(CHUNK):
        yield snippets.method()


def compared(javac: JavacReader, seed: int, first: int) -> Tally:
    """Read one chunk with both readers."""
    began = time.process_time()
    tally = Tally(seed=seed, first=first, release=javac.kit.release, snippets=CHUNK)
    readings: list[ParsedText] = []
    for text in drawn(seed, first):
        try:
            readings.append(read.__wrapped__(text))
        except SourceError:
            tally.unparsed += 1
    for reading, theirs in zip(readings, javac.structures(readings), strict=True):
        if theirs is None:
            tally.unread += 1
            continue
        own = structure(reading)
        if own == theirs:
            tally.same += 1
            tally.alone += bool(reading.disputed)
            if reading.disputed:
                tally.shown.setdefault("disputed alone", reading.source.decode())
            continue
        one, other = (
            " ".join(sorted({_family(part.kind) for part in parts})) for parts in (theirs - own, own - theirs)
        )
        kind = f"javac: {one or '–'}; parser: {other or '–'}"
        tally.different[kind] += 1
        if not reading.disputed:
            tally.unseen[kind] += 1
            kind = f"unseen: {kind}"
        text = reading.source.decode()
        tally.shown[kind] = min(tally.shown.get(kind, text), text, key=len)
    tally.seconds = round(time.process_time() - began, 2)
    return tally


def _family(kind: str) -> str:
    """One name for all operators of a kind."""
    if kind in BINARY_KINDS:
        return "BINARY"
    if kind in UNARY_KINDS:
        return "UNARY"
    return "ASSIGNMENT" if kind.endswith("_ASSIGNMENT") else kind


def logged(path: Path) -> list[Tally]:
    """The chunks of a log."""
    if not path.exists():
        return []
    tallies = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        row["different"], row["unseen"] = Counter(row["different"]), Counter(row["unseen"])
        tallies.append(Tally(**row))
    return tallies


def report(tallies: Sequence[Tally]) -> Iterator[str]:
    """The sums as Markdown, then the kinds of disagreement, the most frequent first."""
    sums = {
        name: sum(getattr(tally, name) for tally in tallies)
        for name in ("snippets", "unparsed", "unread", "same", "alone")
    }
    different: Counter[str] = sum((tally.different for tally in tallies), Counter())
    unseen: Counter[str] = sum((tally.unseen for tally in tallies), Counter())
    texts: dict[str, str] = {}
    for tally in tallies:
        for kind, text in tally.shown.items():
            texts[kind] = min(texts.get(kind, text), text, key=len)
    releases = ", ".join(str(release) for release in sorted({tally.release for tally in tallies}))
    yield "| snippets | read by both | read alike | disagreements | unseen | disputed alone | javac |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    read_by_both = sums["same"] + different.total()
    yield (
        f"| {sums['snippets']:,} | {read_by_both:,} | {sums['same']:,} | {different.total():,} "
        f"| {unseen.total():,} | {sums['alone']:,} | {releases} |"
    )
    yield ""
    yield f"The parser could not read {sums['unparsed']:,}; of the others javac not {sums['unread']:,}."
    yield ""
    yield "| only javac has | only the parser has | count | unseen | shortest |"
    yield "| --- | --- | ---: | ---: | --- |"
    for kind, count in different.most_common():
        javac, _, parser = kind.removeprefix("javac: ").partition("; parser: ")
        text = texts.get(kind) or texts.get(f"unseen: {kind}", "")
        shown = " ".join(text.split()).replace("|", "\\|")
        yield f"| {javac} | {parser} | {count:,} | {unseen[kind]:,} | `{shown}` |"


def main() -> int:
    """Read snippets, or tell what the log shows."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--snippets", type=int, default=10_000, help=f"how many, in steps of {CHUNK:,}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, help="the file that keeps the counts; it goes on where this ends")
    parser.add_argument("--report", action="store_true", help="only tell what the log shows")
    parser.add_argument("--show", action="store_true", help="the shortest text of each kind")
    asked = parser.parse_args()
    tallies = logged(asked.log) if asked.log else []
    if not asked.report:
        kit = newest_kit()
        if kit is None:
            parser.error("there is no JDK on this machine; set JAVA_HOME")
        known = [tally.first for tally in tallies if tally.seed == asked.seed]
        begin = max(known, default=-CHUNK) + CHUNK
        with JavacReader(kit) as javac:
            for first in range(begin, begin + asked.snippets, CHUNK):
                tally = compared(javac, asked.seed, first)
                tallies.append(tally)
                if asked.log:
                    with asked.log.open("a", encoding="utf-8") as log:
                        log.write(json.dumps(vars(tally)) + "\n")
    print("\n".join(report(tallies)))
    if asked.show:
        for tally in tallies:
            for kind, text in tally.shown.items():
                print(f"\n{kind}\n{text}")
    return 1 if any(tally.unseen for tally in tallies) else 0


if __name__ == "__main__":
    sys.exit(main())

"""TypeScript for tests that run it: everything that TypeScript erases stands between two comments.

So a program is run without its types by a node that knows none: `let a/*<*/: number/*>*/ = 1;`.
"""

import re
from random import Random
from typing import Final

_ERASED: Final = re.compile(r"/\*<\*/.*?/\*>\*/", re.DOTALL)
_DECLARED: Final = re.compile(r"\b(?:let|const|var) (\w+)(?= =)")
_SET: Final = re.compile(r" = (\w+);")
_READ: Final = re.compile(r"(?<=[(,] )(\w+)(?= \+ )")
_PRINTED: Final = re.compile(r"\bprint\((\w+)(?=[,)])")
_ARROW: Final = re.compile(r"\(\((\w+)\) =>")


def erased(text: str) -> str:
    """The program that is left when the types are gone."""
    return _ERASED.sub("", text)


def mark(text: str) -> str:
    """A piece of a program that is erased."""
    return f"/*<*/{text}/*>*/"


def typed(source: str, seed: int) -> str:
    """A JavaScript function with types at some places: annotations, assertions, lists of types."""
    rng = Random(seed)

    def some(pattern: re.Pattern[str], text: str, *pieces: str) -> str:
        def add(match: re.Match[str]) -> str:
            if rng.random() < 0.4:
                return match[0]
            piece = mark(rng.choice(pieces).replace("%", match[1]))
            return match[0][: match.end(1) - match.start()] + piece + match[0][match.end(1) - match.start() :]

        return pattern.sub(add, text)

    source = some(
        _DECLARED,
        source,
        ": any",
        ": typeof a",
        ": (%: number, b?: typeof %) => % is string",
        ": [a: 1, b?: c]",
    )
    source = some(_SET, source, " as any", "!", " satisfies typeof b", " as { [a: string]: c }")
    source = some(_READ, source, "!", " as d")
    source = some(_PRINTED, source, "!", " as any as typeof b")
    return some(_ARROW, source, ": any", "?: typeof c")

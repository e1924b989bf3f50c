"""The transform `return-comments`: puts a comment behind `return` statements of one line."""

import ast
from dataclasses import dataclass
from random import Random

from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.records import Kind, Move, Unit

WORDS = ("done", "result", "see above")


@dataclass(frozen=True, slots=True)
class ReturnComments:
    """Comments behind `return` statements."""

    name: str = "return-comments"
    kind: Kind = "preserving"
    languages: frozenset[str] = frozenset({"python"})
    unit: Unit = "function"

    def propose(self, source: str, rng: Random) -> tuple[Move, ...] | Refused:
        """One comment for each return. The driver applies all of the moves, or a subset."""
        moves = []
        for site in _sites(source):
            word = rng.choice(WORDS)
            moves.append(Move(kind="comment", site=site, value=word, note=f"# {word} on line {site + 1}"))
        return tuple(moves) or Refused("no return on a line of its own")

    def apply(self, source: str, moves: tuple[Move, ...]) -> Rewritten | Refused:
        """Append the comments. `site` is the number of the line, from 0."""
        lines = source.split("\n")
        for move in moves:
            lines[move.site] += f"  # {move.value}"
        return Rewritten(source="\n".join(lines), evidence="analysis")


def _sites(source: str) -> list[int]:
    """Lines that end with a `return` statement of one line."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError as error:
        raise SourceError(f"does not parse: {error}") from error
    lines = source.encode().split(b"\n")  # columns of `ast` count bytes
    returns = [node for node in nodes if isinstance(node, ast.Return) and node.lineno == node.end_lineno]
    return sorted(node.lineno - 1 for node in returns if node.end_col_offset == len(lines[node.lineno - 1]))


RETURN_COMMENTS = ReturnComments()

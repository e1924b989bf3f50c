"""One text, parsed once, with what the transforms ask about it: positions, tokens, parents, types and
effects.

`rewriting.PythonRule` reads a text with `read` and hands it to the rule's `find`. Nothing here changes a
text. Offsets count bytes of the UTF-8 text, from 0; lines count from 1.
"""

import ast
import io
import tokenize
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, TypeAlias

from codeaudit.transforms.dependence.effects import Effects
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.patches import Positions, Span
from codeaudit.transforms.python.analysis.builder import StatementContext, assign
from codeaudit.transforms.python.analysis.capabilities import Sees, shown_together
from codeaudit.transforms.python.analysis.effects import PythonEffects
from codeaudit.transforms.python.analysis.facts import VariableFacts
from codeaudit.transforms.python.analysis.program import PythonProgram, analyse_tree
from codeaudit.transforms.python.parsing import FunctionNode, parse

_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FSTRING_START: Final = getattr(tokenize, "FSTRING_START", -1)
_FSTRING_END: Final = getattr(tokenize, "FSTRING_END", -1)

Located: TypeAlias = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias | ast.excepthandler | ast.pattern
"""Nodes that have a position."""


@dataclass(frozen=True, slots=True)
class PythonToken:
    """A token of `tokenize`, with byte offsets."""

    type: int
    """The number that `tokenize` gives to its kind."""
    text: str
    start: int
    end: int


class PythonSource:
    """A text with its syntax tree. Every node passed to its methods must be one of `tree`."""

    def __init__(self, text: str, around: str = "") -> None:
        """Parse a text. `around` is that of the file around it, if it is known.

        Raises:
            SourceError: the text is not Python, or is nested too deeply to be read.
        """
        self.text = text
        self.around = around
        self.source = text.encode()
        self.tree = parse(text)
        self.positions = Positions(self.source)

    @cached_property
    def program(self) -> PythonProgram:
        """The dependence analysis of the text; computed on first use, because only some rules need it.

        Raises:
            SourceError: the text is nested too deeply to be read.
        """
        return analyse_tree(self.text, self.tree, around=self.around)

    @cached_property
    def sees(self) -> Sees:
        """What the text and its file show of the functions in it."""
        return shown_together(self.text, self.around)

    # ── places ───────────────────────────────────────────────────────────────────────────────────────

    def start(self, node: Located) -> int:
        """The offset at which a node begins; for a decorated definition that of the first `@`."""
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        if decorators:
            first = min(self.positions.offset(item.lineno, item.col_offset) for item in decorators)
            # The position of a decorator is that of its expression, behind the `@`.
            return self.source.rindex(b"@", 0, first)
        return self.positions.offset(node.lineno, node.col_offset)

    def end(self, node: Located) -> int:
        """The offset behind a node."""
        return self.positions.offset(node.end_lineno or 0, node.end_col_offset or 0)

    def span(self, node: Located) -> Span:
        """A node's own bytes, without parentheses around it."""
        return Span(self.start(node), self.end(node))

    def full(self, node: ast.expr) -> Span:
        """An expression's bytes with the parentheses that belong to it alone.

        The parentheses of a call, of a class's bases or of a list of parameters are not the expression's own.
        """
        start, end = self.start(node), self.end(node)
        lowest = self._belongs_outside(node)
        before = self._index_before(start)
        after = self._index_after(end)
        tokens = self.significant
        while (
            before >= 0
            and after < len(tokens)
            and tokens[before].text == "("
            and tokens[after].text == ")"
            and tokens[before].start > lowest
        ):
            start, end = tokens[before].start, tokens[after].end
            before, after = before - 1, after + 1
        return Span(start, end)

    def slice(self, span: Span) -> str:
        """The text of a span."""
        return self.source[span.start : span.end].decode()

    def line(self, node: Located) -> int:
        """The line on which a node begins; decorators belong to it."""
        return self.positions.line_column(self.start(node))[0]

    def indentation(self, node: ast.stmt) -> str:
        """The text between the beginning of the line and a statement: white space if the statement stands
        first on its line.
        """
        start = self.start(node)
        begin = self.positions.offset(self.positions.line_column(start)[0], 0)
        return self.source[begin:start].decode()

    def alone(self, node: ast.stmt) -> bool:
        """Whether a statement has its lines to itself: no `;`, and not behind a header's colon."""
        if self.indentation(node).strip(" \t") or self._joined(node):
            return False
        following = self._index_after(self.end(node))
        tokens = self.significant
        return following >= len(tokens) or self._line_of(tokens[following].start) > self._line_of(
            self.end(node)
        )

    def _joined(self, node: ast.stmt) -> bool:
        r"""Whether a `\` joins the line before a statement, or its last line, to the one behind."""
        begin = self.positions.offset(self._line_of(self.start(node)), 0)
        end = self.source.find(b"\n", self.end(node))
        end = len(self.source) if end < 0 else end
        pieces = (self.source[max(0, at - 3) : at].rstrip(b"\r\n") for at in (begin, end))
        return any(piece.endswith(b"\\") for piece in pieces)

    def lines(self, first: ast.stmt, last: ast.stmt) -> Span:
        """The whole lines from one statement to a later one of its block, with line break and a comment at
        the end.

        Both must be `alone`. Comment lines above the first statement are not included.
        """
        begin = self.positions.offset(self._line_of(self.start(first)), 0)
        end = self.source.find(b"\n", self.end(last))
        return Span(begin, len(self.source) if end < 0 else end + 1)

    @cached_property
    def newline(self) -> str:
        """The line break that the text uses."""
        return "\r\n" if b"\r\n" in self.source else "\n"

    @cached_property
    def step(self) -> str:
        """The indentation of one level, taken from the first block; four spaces if there is none."""
        for node in self.nodes():
            body = getattr(node, "body", None)
            if isinstance(node, ast.stmt) and isinstance(body, list) and body and self.alone(body[0]):
                outer, inner = self.indentation(node), self.indentation(body[0])
                if inner.startswith(outer) and inner != outer:
                    return inner[len(outer) :]
        return "    "

    # ── tokens ───────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def tokens(self) -> tuple[PythonToken, ...]:
        """All tokens, comments and line breaks included.

        Raises:
            SourceError: the tokenizer cannot read what the parser could.
        """
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(self.text, newline="").readline))
        except (tokenize.TokenError, SyntaxError) as error:
            raise SourceError("not readable by tokens") from error
        rows = self.text.split("\n")

        def offset(place: tuple[int, int]) -> int:
            line, column = place
            if line > len(rows):
                return len(self.source)
            return self.positions.offset(line, len(rows[line - 1][:column].encode()))

        return tuple(
            PythonToken(token.type, token.string, offset(token.start), offset(token.end)) for token in tokens
        )

    @cached_property
    def significant(self) -> tuple[PythonToken, ...]:
        """The tokens other than comments, line breaks and indentation."""
        apart = {
            tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
            tokenize.ENDMARKER, tokenize.ENCODING,
        }  # fmt: skip
        return tuple(token for token in self.tokens if token.type not in apart)

    @cached_property
    def comment_lines(self) -> tuple[PythonToken, ...]:
        """The comments that have their line to themselves."""
        return tuple(
            token
            for token in self.tokens
            if token.type == tokenize.COMMENT
            and not self.source[self.source.rfind(b"\n", 0, token.start) + 1 : token.start].strip()
        )

    @cached_property
    def hard_breaks(self) -> tuple[int, ...]:
        r"""Offsets of the `\n` bytes inside strings: what follows them is part of a string and no
        indentation.
        """
        breaks: list[int] = []
        opened: list[int] = []
        for token in self.tokens:
            if token.type == _FSTRING_START:
                opened.append(token.start)
            elif token.type == _FSTRING_END:
                begin = opened.pop()
                if not opened:
                    breaks += self._breaks(begin, token.end)
            elif token.type == tokenize.STRING and not opened:
                breaks += self._breaks(token.start, token.end)
        return tuple(breaks)

    # ── tree ─────────────────────────────────────────────────────────────────────────────────────────

    def nodes(self) -> Iterator[ast.AST]:
        """Every node in the order of the text, parents first, but none inside an f-string.

        Python 3.11 does not know where the parts of an f-string stand.
        """
        return iter(self._nodes)

    @cached_property
    def _nodes(self) -> tuple[ast.AST, ...]:
        nodes: list[ast.AST] = []
        stack: list[ast.AST] = [self.tree]
        while stack:
            node = stack.pop()
            nodes.append(node)
            if not isinstance(node, ast.JoinedStr):
                stack.extend(reversed(list(ast.iter_child_nodes(node))))
        return tuple(nodes)

    @cached_property
    def shape(self) -> str:
        """The syntax tree as a text."""
        return ast.dump(self.tree)

    @cached_property
    def _parents(self) -> dict[int, ast.AST]:
        return {id(child): node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that holds a node; `None` for the module. Context nodes (`Load()`) are shared and have no
        certain parent.
        """
        return self._parents.get(id(node))

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, from the inside out."""
        above = self.parent(node)
        while above is not None:
            yield above
            above = self.parent(above)

    def function(self, node: ast.AST) -> FunctionNode | None:
        """The function in whose own scope a node is evaluated; `None` in a class body or a module.

        Decorators, defaults and annotations of a function belong to the scope around it.
        """
        inner = node
        for above in self.ancestors(node):
            # Decorators and defaults are children of the definition, but no part of its body.
            if isinstance(above, FunctionNode) and inner in above.body:
                return above
            if isinstance(above, ast.ClassDef) and inner in above.body:
                return None
            inner = above
        return None

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that holds a node; a statement itself is returned as it is."""
        if isinstance(node, ast.stmt):
            return node
        return next((above for above in self.ancestors(node) if isinstance(above, ast.stmt)), None)

    # ── types and effects ────────────────────────────────────────────────────────────────────────────

    def kind(self, node: ast.expr) -> str | None:
        """The builtin type (`int`, `str`, `list`, …) that an expression certainly has; `None` if that is not
        certain.
        """
        return self._read(node)[0]

    def harmless(self, node: ast.expr) -> bool:
        """Whether evaluating an expression only computes.

        A harmless expression raises nothing, changes nothing and sees no state that other code changes. It
        may therefore be evaluated earlier, later, twice or not at all.
        """
        collector = self._read(node)[1]
        return not (collector.flags or collector.writes or collector.stored)

    def flags(self, node: ast.expr) -> int:
        """The effects of evaluating an expression: a union of the flags of `dependence.effects`."""
        return self._read(node)[1].flags

    def effects(self, node: ast.expr) -> Effects:
        """What evaluating an expression may read, bind and do."""
        return _effects(self._read(node)[1])

    def storing(self, target: ast.expr, value: ast.expr) -> Effects:
        """What binding the target of an assignment to a value may read, bind and do."""
        collector = self._collector(target)
        assign(collector, target, None)
        collector.release(target, value)
        return _effects(collector)

    def facts(self, node: ast.AST) -> VariableFacts | None:
        """What is known of the variables of the function in whose scope a node is evaluated; `None` if
        nothing is.
        """
        place = self._context(node)
        return place.facts if place is not None else None

    def bound(self, node: ast.AST) -> frozenset[str]:
        """The locals that are certainly bound where the statement of a node begins."""
        place = self._context(node)
        return place.definite if place is not None else frozenset()

    def _context(self, node: ast.AST) -> StatementContext | None:
        return self.program.places.get(id(self.statement(node)))

    def _read(self, node: ast.expr) -> tuple[str | None, PythonEffects]:
        collector = self._collector(node)
        return collector.visit(node), collector

    def _collector(self, node: ast.expr) -> PythonEffects:
        # Without a context (a type alias, say) nothing is known, and every name may be anybody's.
        place = self._context(node) or StatementContext(VariableFacts(), frozenset())
        collector = PythonEffects(place.facts, place.definite)
        collector.shadow = self._shadow(node)
        return collector

    def _shadow(self, node: ast.AST) -> frozenset[str]:
        """Names bound by comprehensions and lambdas between a node and its statement."""
        names: set[str] = set()
        for above in self.ancestors(node):
            if isinstance(above, ast.stmt):
                break
            if isinstance(above, _COMPREHENSIONS):
                targets = [part.target for part in above.generators]
                names |= {
                    inner.id
                    for target in targets
                    for inner in ast.walk(target)
                    if isinstance(inner, ast.Name)
                }
            elif isinstance(above, ast.Lambda):
                names |= {inner.arg for inner in ast.walk(above.args) if isinstance(inner, ast.arg)}
        return frozenset(names)

    # ── small pieces ─────────────────────────────────────────────────────────────────────────────────

    def _line_of(self, offset: int) -> int:
        return self.positions.line_column(offset)[0]

    def _breaks(self, start: int, end: int) -> list[int]:
        return [at for at in range(start, end) if self.source[at] == 0x0A]

    @cached_property
    def _starts(self) -> list[int]:
        return [token.start for token in self.significant]

    def _index_before(self, offset: int) -> int:
        """The index of the last token that begins before an offset; -1 if there is none."""
        return bisect_left(self._starts, offset) - 1

    def _index_after(self, offset: int) -> int:
        """The index of the first token that begins at an offset or behind it."""
        return bisect_left(self._starts, offset)

    def _belongs_outside(self, node: ast.expr | ast.keyword) -> int:
        """The offset of the `(` that belongs to the node around an expression, such as a call's; -1 if there
        is none.
        """
        above = self.parent(node)
        if isinstance(above, ast.keyword):
            node, above = above, self.parent(above)
        match above:
            case ast.Call(func=func) if func is not node:
                return self._opening(self.end(func))
            case ast.ClassDef(bases=bases, keywords=keywords) if node in bases or node in keywords:
                return self._opening(self.start(above))
            case ast.arguments():
                function = self.parent(above)
                if isinstance(function, FunctionNode):
                    # Not `start`: the `(` of a decorator comes first.
                    return self._opening(self.positions.offset(function.lineno, function.col_offset))
        return -1

    def _opening(self, offset: int) -> int:
        """The offset of the first `(` behind an offset; -1 if there is none."""
        for token in self.significant[self._index_after(offset) :]:
            if token.text == "(":
                return token.start
        return -1


def _effects(effects: PythonEffects) -> Effects:
    return Effects(
        reads=frozenset(effects.reads | effects.stored_reads),
        writes=frozenset(effects.writes | effects.stored),
        flags=effects.flags,
    )


@lru_cache(maxsize=4)
def read(source: str, around: str = "") -> PythonSource:
    """The source of one text, and the text of the file around it, if that is known.

    The last four are cached, because a transform proposes and applies many times to one text.

    Raises:
        SourceError: the text is not Python, is nested too deeply, or has bare carriage returns as line ends.
    """
    if "\r" in source and source.count("\r") != source.count("\r\n"):
        raise SourceError("lines end with a bare carriage return")
    return PythonSource(source, around)

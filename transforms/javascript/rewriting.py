"""Rules that rewrite one function of JavaScript or TypeScript: what they ask of it, and how results are
checked.

`JavaScriptSource` answers the questions of the strategies (`strategies.dialect`). Types that are written are
not trusted; what is known of values is what the function itself assigns (`analysis.facts`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Final

from codeaudit.transforms.dependence.effects import Effects, conflicts
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.interface import Refused, Rewritten
from codeaudit.transforms.javascript.analysis.effects import JavaScriptEffectCollector
from codeaudit.transforms.javascript.analysis.facts import NUMBER, JavaScriptFacts, is_plain
from codeaudit.transforms.javascript.analysis.scopes import IN_BLOCK, resolve, unreadable
from codeaudit.transforms.javascript.dialect import BEGINNINGS, CONTINUING, DIALECT, FOR_A_TOOL, TYPED
from codeaudit.transforms.javascript.narrowing import MARKED, REFUSED, may_end, may_evolve
from codeaudit.transforms.javascript.parsing import (
    FUNCTIONS,
    JAVASCRIPT,
    TYPESCRIPT,
    hides,
    is_anonymous,
    read,
    read_unit,
    units,
)
from codeaudit.transforms.patches import Edit, Patch, Site, splice
from codeaudit.transforms.strategies.dead_code import is_in_unit
from codeaudit.transforms.strategies.dialect import UNKNOWN, CodeText, TextRule
from codeaudit.transforms.strategies.prose import CommentWords
from codeaudit.transforms.syntax.flow import LOOPS, is_truth
from codeaudit.transforms.syntax.reader import EMPTY, Node, ParsedText
from codeaudit.transforms.syntax.scopes import LOCAL_VIEWS, Binding, Scopes

NO_SEMICOLON: Final = "semicolon left out"
DIRECTIVE: Final = "directive in the function"
OTHER_SCOPE: Final = "a name would mean another variable"
BESIDE: Final = "comment over several lines beside code"
ZERO: Final = "zero character in the text"
_ENDED: Final = frozenset(
    {"expression_statement", "local_variable_declaration", "return_statement", "throw_statement",
     "break_statement", "continue_statement", "debugger_statement", "field_definition"}
)  # fmt: skip
"""Kinds of nodes that end with a semicolon, which may be left out at the end of a line."""
_MARKS: Final = re.compile(rb"@ts-(?:ignore|expect-error)")
MARK: Final = "\v"
"""Stands before a semicolon that the author left out: a blank that programs do not have."""
_LEFT_OUT: Final = re.compile(
    rf"{MARK};(?P<gap>(?:\s|//[^\n]*|/\*(?:(?!\*/).)*\*/)*)(?P<next>\w+|.?)", re.DOTALL
)
_OPERATED: Final = frozenset(
    {"method_invocation", "field_access", "array_access", "binary_expression", "ternary_expression"}
)
_LINED: Final = frozenset({"string_literal", "template_string", "jsx_element", "jsx_self_closing_element"})
_LOOSE: Final = frozenset({"parenthesized_expression"})


class JavaScriptSource(CodeText):
    """A function with the facts that rules ask for. It does not change after its creation."""

    def __init__(self, source: str, language: str) -> None:
        super().__init__(resolve(source, language), TYPED if language == TYPESCRIPT else DIALECT)
        self.language: Final = language

    @cached_property
    def obstacle(self) -> str | None:
        """Why no rule may change this text, as a short reason to count; `None` if rules may.

        Without its semicolon a statement may go on with what an edit puts behind it. A function in a block is
        known outside of it or not, depending on the mode.
        """
        if self.obstacle_to_layout is not None:
            return self.obstacle_to_layout
        for node in self.unit.walk():
            if node.kind in _ENDED and not node.has(";") and not self._needs_none(node):
                return NO_SEMICOLON
            if node.kind == "function_declaration" and not self._is_at_top(node):
                return IN_BLOCK
            if node.kind == "expression_statement" and node.children[0].kind == "string_literal":
                return DIRECTIVE  # nothing may come before it
        return None

    @cached_property
    def obstacle_to_layout(self) -> str | None:
        """The same for a rule that keeps the tree: where a statement ends is seen in the tree."""
        if (reason := unreadable(self.scopes)) is not None:
            return reason
        if b"\0" in self.source:
            return ZERO  # patches mark hard line breaks with it
        if self.language == TYPESCRIPT and _MARKS.search(self.source):
            return MARKED
        for _, start, end in self.reading.comments:
            lines = b"\n" in self.source[start:end]
            if lines and (self.source[end:].partition(b"\n")[0].strip() or not self.starts_line(start)):
                return BESIDE
        return None

    @cached_property
    def completed(self) -> "JavaScriptSource | None":
        """The function with the semicolons that the author left out, each with a mark; `None` where that is
        another tree, and where an arrow with a block is an operand: no JavaScript reads it so."""
        if MARK.encode() in self.source or any(
            node.kind in _OPERATED and node.children[0].kind == "lambda_expression"
            for node in self.unit.walk()
        ):
            return None
        ends = sorted(
            # The end of the node may lie behind a comment.
            max([child.end for child in node.children] + [end for token, _, end in node.tokens if token])
            for node in self.unit.walk()
            if node.kind in _ENDED and not node.has(";") and not self._needs_none(node)
        )
        text = splice(self.source, [Edit(end, end, f"{MARK};") for end in ends]).decode()
        try:
            code = JavaScriptSource(text, self.language)
        except SourceError:
            return None
        return code if _same_but_semicolons(self.reading, code.reading) else None

    def _needs_none(self, node: Node) -> bool:
        """Whether no semicolon of its own stands behind a node in any case."""
        # The unit itself ends the text; the head of a `for` has semicolons of its own.
        if node is self.unit or (node.parent is not None and node.parent is self.unit):
            return True
        return node.kind == "field_definition" and self.source[node.end :].lstrip().startswith(b";")

    def _is_at_top(self, node: Node) -> bool:
        parent = node.parent
        if node is self.unit or parent is self.unit or parent is None:
            return True
        above = parent.parent
        return parent.kind == "block" and above is not None and above.kind in FUNCTIONS

    def is_multiline(self, node: Node) -> bool:
        """Whether it is a template, a string or markup with line breaks."""
        return node.kind in _LINED and b"\n" in self.source[node.start : node.end]

    def varies(self, node: Node) -> bool:
        """No compiler evaluates a condition. But a name of it may mean another variable inside of the body of
        its loop."""
        loop = next((ancestor for ancestor in node.ancestors() if ancestor.kind not in _LOOSE), None)
        if loop is None or loop.kind not in LOOPS:
            return True
        body = loop.child("body")
        return body is None or not self.names(node) & self.declared_in(body)

    def patterns(self, node: Node) -> list[str]:
        """None: no variable is known only where a condition holds."""
        return []

    def is_inferred(self, node: Node) -> bool:
        """Nothing is; a condition that is left out is no operand."""
        return node.kind == EMPTY

    def is_boolean(self, node: Node) -> bool:
        """Whether only the truth of an operation is used: it is a condition, or a part of one."""
        return is_truth(node)

    def has_opposite(self, node: Node) -> bool:
        """Whether it is a test for equality. `a < b` and `a >= b` may both be false."""
        return node.operator in DIALECT.opposites

    # ── values ───────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def facts(self) -> JavaScriptFacts:
        """What is known of its values and variables."""
        _, unit = read_unit(self.source.decode(), self.language)
        return JavaScriptFacts(self.scopes, unit.function)

    def type(self, node: Node) -> str | None:
        """The one kind of value that an expression has, of those with operators: number, string, boolean."""
        kinds = self.facts.kinds(node)
        return next(iter(kinds)) if kinds and len(kinds) == 1 and kinds <= DIALECT.primitive else None

    def type_of_variable(self, binding: Binding) -> str | None:
        """The same for a variable."""
        kinds = self.facts.kinds_of(binding)
        return next(iter(kinds)) if kinds and len(kinds) == 1 and kinds <= DIALECT.primitive else None

    def _effects(self, node: Node) -> Effects:
        reading = JavaScriptEffectCollector(self.facts)
        reading.visit(node)
        return Effects(frozenset(reading.reads), frozenset(reading.writes), reading.flags)

    def commutes(self, node: Node) -> str | None:
        """Why operands may have an order: `+` of what may be no number, and two objects that are asked for
        numbers."""
        kinds = [self.facts.kinds(side) for side in node.children]
        if node.operator == "+":
            return None if all(kind == NUMBER for kind in kinds) else UNKNOWN
        if node.operator in DIALECT.opposites:
            return None  # at most one of them is asked for a value
        return None if any(map(is_plain, kinds)) else UNKNOWN

    def is_unordered(self, node: Node) -> bool:
        """Whether nobody sees which operand comes first, neither when they are evaluated nor when they are
        asked for their values; and whether the second may stand in front."""
        left, right = node.children
        text = self.text(right)
        if text.startswith(BEGINNINGS):
            return False  # in front of a statement it would be something else
        if self.language == TYPESCRIPT and node.operator == ">" and not _is_alone(node):
            return False  # `f(y < x, w > (z))` has a list of types
        if node.operator not in DIALECT.opposites and not any(
            is_plain(self.facts.kinds(side)) for side in node.children
        ):
            return False
        return conflicts([self._effects(left), self._effects(right)])[1] == 0

    def _local(self, node: Node) -> Binding | None:
        """The variable of the function that a name means; `None` for other nodes and names, and where the
        variable is more than one."""
        local = self.binding(node)
        return local if local is not None and local.view in LOCAL_VIEWS and local.doubt is None else None

    def writes_out(self, target: Node, operator: str, value: Node) -> bool:
        """Whether an assignment with an operator always assigns: `||=` may not."""
        return self._local(target) is not None and operator in _ARITHMETIC

    def contracts(self, target: Node, operator: str) -> bool:
        """The same, the other way."""
        return self._local(target) is not None and operator in _ARITHMETIC

    def steps_by_one(self, node: Node) -> bool:
        """Always: both make a number of the old value first."""
        return True

    def keep_their_types(self, first: Node, second: Node) -> bool:
        """Whether no arm takes its name from the variable that is assigned, and that is one of the
        function."""
        if is_anonymous(first) or is_anonymous(second):
            return False
        around = first.parent
        while around is not None and around.kind in ("ternary_expression", "parenthesized_expression"):
            around = around.parent
        if around is not None and around.kind == "assignment_expression":
            return self._local(around.part("left")) is not None
        return True

    def is_narrowed(self, target: Node | None, first: Node, last: Node) -> bool:
        """Whether the target is evaluated before the condition, which may change it."""
        return target is not None and self._local(target) is None

    def in_nameless_function(self, node: Node) -> bool:
        """No `return` has a type."""
        return False

    # ── declarations and statements ──────────────────────────────────────────────────────────────────────

    def shared_head(self, declaration: Node) -> str | None:
        """The keyword of a declaration: `let`, `const` or `var`."""
        return self.source[declaration.start : declaration.part("declarator").start].decode()

    def is_final(self, declaration: Node | None) -> bool:
        """Whether it says `const`."""
        return declaration is None or declaration.has("const")

    def is_typed_by_value(self, declaration: Node) -> bool:
        """No type comes from a value."""
        return False

    def may_be_unset(self, declaration: Node) -> bool:
        """Whether nobody sees a variable of `let` before its value: no function uses it, its value does not
        name it, and it has no type that would be lost."""
        for declarator in declaration.all("declarator"):
            binding = self.binding(declarator.part("name"))
            if binding is None or binding.captured or binding.doubt is not None or declarator.child("type"):
                return False
            if any(use.start in self.facts.unset for use in binding.occurrences):
                return False
            if self.language == TYPESCRIPT and not may_evolve(self, declarator):
                return False
        return not declaration.has("const")

    def gives_nothing(self, function: Node) -> bool:
        """Every function may end with `return;`; in TypeScript its type must allow it."""
        return function.kind in FUNCTIONS and (self.language != TYPESCRIPT or may_end(self, function))

    def leaving(self, at: Node) -> str | None:
        """`return null;` in the function itself."""
        if self.facts.is_constructor or not is_in_unit(self, at) or self._returns_nothing(at):
            return None
        return "return null;"

    def _returns_nothing(self, at: Node) -> bool:
        return at.kind == "return_statement" and (not at.children or self.text(at.children[0]) == "null")

    def spellings(self, node: Node) -> list[str]:
        """`255` as `0xff` or `0o377`, `1000` as `1_000`."""
        text = self.text(node)
        if not text.isdigit() or (len(text) > 1 and text[0] == "0") or int(text) >= 2**53:
            return []
        number = int(text)
        grouped = [f"{number:_}"] if number > 999 else []
        return [hex(number), oct(number), *grouped]


def _same_but_semicolons(one: ParsedText, other: ParsedText) -> bool:
    """Whether two trees are equal, semicolons aside."""
    return _outline(one) == _outline(other)


def _outline(reading: ParsedText) -> list[tuple[str, str | None, tuple[bytes, ...]]]:
    source = reading.source
    return [
        (
            node.kind,
            node.field,
            tuple(source[start:end] for token, start, end in node.tokens if token != ";")
            if node.children
            else (source[node.start : node.end].replace(MARK.encode(), b"").rstrip(b";"),),
        )
        for node in reading.root.walk()
    ]


def without_marks(text: str) -> str:
    """A text without the semicolons that have a mark; they stay where the next sign may continue the
    statement, and where no line ends behind it."""

    def spell(match: re.Match[str]) -> str:
        ended = "\n" in match["gap"] or match["next"] in ("}", "")
        stays = not ended or match["next"].startswith(CONTINUING)
        return (";" if stays else "") + match["gap"] + match["next"]

    return _LEFT_OUT.sub(spell, text)


_ARITHMETIC: Final = frozenset({"+", "-", "*", "/", "%", "**", "<<", ">>", ">>>", "&", "|", "^"})


def _is_alone(node: Node) -> bool:
    return node.parent is not None and node.parent.kind == "parenthesized_expression"


def _meaning(scopes: Scopes) -> list[tuple[str, str, str | None, int]]:
    """What each name of a function means, in the order of the text."""
    numbers: dict[int, int] = {}
    meanings: list[tuple[str, str, str | None, int]] = []
    for _, number in sorted(zip(scopes.spans, scopes.slots, strict=True)):
        binding = scopes.bindings[number]
        place = numbers.setdefault(number, len(numbers))
        meanings.append((binding.name, binding.view, binding.doubt, place))
    return meanings


def _changed(code: JavaScriptSource, site: Site) -> Node:
    """The innermost node around all that a site changes."""
    start = min(patch.start for patch in site.options[0])
    end = max(patch.end for patch in site.options[0])
    return max(
        (node for node in code.unit.walk() if node.start <= start and end <= node.end),
        key=lambda node: len(list(node.ancestors())),
    )


@lru_cache(maxsize=8)
def study(source: str, language: str = JAVASCRIPT) -> JavaScriptSource:
    """A function as a `JavaScriptSource`. The last ones are cached.

    Raises:
        SourceError: the text does not parse, or is not exactly one function.
    """
    return JavaScriptSource(source, language)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaScriptRewriting(TextRule):
    """A rule about one function of JavaScript or TypeScript."""

    languages: frozenset[str] = field(default=frozenset({JAVASCRIPT}))
    language: str = JAVASCRIPT
    same_names: bool = False
    """Whether the rule moves declarations to other blocks: then each name is shown to mean what it meant."""

    def study(self, source: str) -> JavaScriptSource:
        """A function as a `JavaScriptSource`.

        Raises:
            SourceError: the text does not parse, or is not exactly one function.
        """
        code = study(source, self.language)
        if self.proof == "analysis" and code.obstacle == NO_SEMICOLON:
            return code.completed or code
        return code

    def sites(self, source: str) -> Iterable[Site | Refused]:
        """As of any rule; what only moves blanks and comments asks for less.

        Raises:
            SourceError: as in `study`.
        """
        code = self.study(source)
        obstacle = code.obstacle if self.proof == "analysis" else code.obstacle_to_layout
        if obstacle is not None:
            return (Refused(obstacle),)
        sites = self._in_scope(source, self.find(code)) if self.same_names else self.find(code)
        return self._followed(code, sites) if self.language == TYPESCRIPT and self.name in REFUSED else sites

    def _followed(self, code: JavaScriptSource, sites: Iterable[Site | Refused]) -> Iterator[Site | Refused]:
        """The sites whose edits TypeScript's compiler follows."""
        for site in sites:
            reason = None if isinstance(site, Refused) else REFUSED[self.name](code, _changed(code, site))
            yield Refused(reason) if reason else site

    def _in_scope(self, source: str, sites: Iterable[Site | Refused]) -> Iterator[Site | Refused]:
        """The sites at which no name comes to mean another variable."""
        for site in sites:
            rewritten = site if isinstance(site, Refused) else self.rewritten(source, site.options[0])
            yield rewritten if isinstance(rewritten, Refused) else site

    def reread(self, text: str) -> ParsedText:
        """A result, which has to be one function whose names are declared once.

        Raises:
            SourceError: the text does not parse, or is something else.
        """
        resolve.__wrapped__(text, self.language)
        if hides(text) is not None:
            raise SourceError("the text may hold a comment of HTML")
        reading, _ = read_unit(text, self.language)
        return reading

    def rewritten(self, source: str, patches: Sequence[Patch]) -> Rewritten | Refused:
        """As of any rule; with `same_names` refused where a name would mean another variable."""
        rewritten = TextRule.rewritten(self, source, patches)
        if self.same_names and isinstance(rewritten, Rewritten):
            after = resolve.__wrapped__(rewritten.source, self.language)
            if _meaning(after) != _meaning(self.study(source).scopes):
                return Refused(OTHER_SCOPE)
        if isinstance(rewritten, Rewritten) and MARK in rewritten.source:
            return self._unmarked(rewritten)
        return rewritten

    def _unmarked(self, rewritten: Rewritten) -> Rewritten | Refused:
        """A result without the semicolons that the author left out, if it has the same tree."""
        text = without_marks(rewritten.source)
        try:
            same = _same_but_semicolons(self.reread(text), self.reread(rewritten.source))
        except SourceError:
            same = False
        return replace(rewritten, source=text) if same else Refused(NO_SEMICOLON)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaScriptWords(CommentWords):
    """Other words in the comments above the last function of a text."""

    languages: frozenset[str] = field(default=frozenset({JAVASCRIPT}))
    language: str = JAVASCRIPT

    def read(self, text: str) -> ParsedText:
        """As `CommentWords.read`.

        Raises:
            SourceError: the text is not in the language.
        """
        return read(text, self.language)

    def begins(self, reading: ParsedText) -> int | None:
        """As `CommentWords.begins`."""
        return max((unit.node.start for unit in units(reading) if unit.name is not None), default=None)

    def is_for_tool(self, comment: str) -> bool:
        """As `CommentWords.is_for_tool`."""
        return FOR_A_TOOL.search(comment) is not None

"""Parses JavaScript and TypeScript: a file, or one function cut out of a file.

A method or a field of a class is no statement, so it is parsed inside of a class that is put around it. All
offsets are those of the text as given. Kinds of nodes have the names of `transforms.syntax`: an arrow
function is a `lambda_expression`, and so on.

Of a text in TypeScript it is not known if it stood in a `.ts` or in a `.tsx` file. The grammar without JSX is
tried first. A text that both grammars read, and read as two things, is not valid: `<a>b</a>/c/d`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from codeaudit.transforms.errors import NoFunctionError, SourceError
from codeaudit.transforms.javascript.non_null import put_back, settled
from codeaudit.transforms.syntax.reader import (
    EMPTY,
    Extent,
    Grammar,
    Node,
    ParsedText,
    TreeReader,
    blanked,
    encoded,
)

JAVASCRIPT: Final = "javascript"
TYPESCRIPT: Final = "typescript"
TITLES: Final = {JAVASCRIPT: "JavaScript", TYPESCRIPT: "TypeScript"}

if TYPE_CHECKING:
    from tree_sitter import Node as TreeNode
    from tree_sitter import Tree

FUNCTIONS: Final = frozenset(
    {"function_declaration", "function_expression", "lambda_expression", "method_definition"}
)
"""Kinds of nodes that are functions."""
VALUES: Final = frozenset({"function_expression", "lambda_expression"})
"""Kinds of nodes that are functions without a declaration."""
_NAMED: Final = frozenset(
    {"identifier", "property_identifier", "private_property_identifier", "string_literal"}
)
_OF_HEAD: Final = frozenset({"init", "condition"})
_VARIANCE: Final = re.compile(
    rb"([<,](?:\s|//[^\n]*\n|/\*(?:(?!\*/).)*\*/)*)"
    rb"((?:const[ \t]+)?(?:in[ \t]+out|in|out)[ \t]+)(?=[A-Za-z_$])",
    re.DOTALL,
)
"""`interface A<in out T>`, which the grammar does not know; nothing else in TypeScript is read so."""
_NO_METHOD: Final = r"(?!(?:function|class|extends|if|for|while|switch|with|catch|case|default)\b)[\w$]+"
_OPERATORS: Final = r"(?:await|delete|new|return|throw|typeof|void|yield)\b.*:"
_METHOD: Final = re.compile(
    rf"(?!{_OPERATORS})(?:{_NO_METHOD}(?:[ \t]+{_NO_METHOD})*(?<!\basync)[ \t]*(?:<[\w$, |]*>)?"
    r"\((?:[^(){}\[\]\"'`/]|\{[^(){}\[\]\"'`/]*\})*\)[ \t]*[{:]"
    r"|static[ \t]+(?!(?:as|in|instanceof|is|of|satisfies)\b)[\w$#])".encode()
)
"""The beginning of a member of a class, which begins no file: behind a call neither `{` nor `:` stands on
its line, and behind `static` no name."""
_STATEMENT_WORDS: Final = frozenset({b"let", b"await", b"new", b"using"})
_MEMBER_WORDS: Final = frozenset(
    b"abstract accessor async declare get override private protected public readonly set static".split()
)
"""Words that are members of a class, or begin them or a class."""
_WORD_AT_END: Final = re.compile(
    rb"(?<![\w$.#])(%b)((?:\s|//[^\n]*|/\*(?:(?!\*/).)*\*/)*)(?=([\w$\\\x80-\xff]*).)"
    % b"|".join(sorted(_STATEMENT_WORDS | _MEMBER_WORDS)),
    re.DOTALL,
)
"""A word that is a name in some places, the blanks and comments behind it, and the word behind these."""
_NO_NAME: Final = frozenset(
    b"break case catch class const continue debugger default delete do else export extends finally for "
    b"function if import in instanceof new return super switch this throw try typeof var void while "
    b"with".split()
)
"""Words behind which a `let` at the end of a line is a name."""
_AROUND_MEMBERS: Final = frozenset(
    {"class_body", "accessibility_modifier", "override_modifier", "abstract_class_declaration"}
)
"""Nodes above the words of `_MEMBER_WORDS`."""
_BRACKET_AT_START: Final = re.compile(rb"\n\s*([\[<(`])")
_BRACKETED_TYPES: Final = frozenset({"array_type", "generic_type", "lookup_type"})
"""Types that end with their line: what stands in brackets on the next one is no part of them."""
_TYPED_VALUES: Final = frozenset({"as_expression", "satisfies_expression"})
_BEGINS_MEMBER: Final = re.compile(rb"[\w$#'\"\[*{@\\\x80-\xff]")
_OWN_AWAIT: Final = FUNCTIONS | {"class_static_block"}
"""Kinds of nodes in which `await` is what the node itself says."""
_LISTS: Final = frozenset({"program", "statement_block", "switch_case", "switch_default"})
_HTML: Final = re.compile(r"<!--|^[ \t]*-->", re.MULTILINE)
"""What a script of the web may read as the beginning of a comment."""

HTML_COMMENT: Final = "sign of a comment of HTML in the text"

_TYPED: Final = frozenset({"type_assertion", "lambda_expression"})
_AMBIGUOUS: Final = ("(type_assertion", "(arrow_function type_parameters:")
"""Nodes that begin with what begins an element of JSX where there are some."""

ERASED: Final = frozenset({"as_expression", "satisfies_expression", "non_null_expression", "type_assertion"})
"""Kinds of expressions that only say something of a type: when the program runs, they are their operand."""
_AROUND: Final = ERASED | {"parenthesized_expression"}


def _load() -> object:
    import tree_sitter_javascript

    return tree_sitter_javascript.language()


def _load_typescript() -> object:
    import tree_sitter_typescript

    return tree_sitter_typescript.language_typescript()


def _load_tsx() -> object:
    import tree_sitter_typescript

    return tree_sitter_typescript.language_tsx()


GRAMMAR: Final = Grammar(
    load=_load,
    aliases={
        "abstract_class_declaration": "class_declaration",
        "statement_block": "block",
        "arguments": "argument_list",
        "arrow_function": "lambda_expression",
        "augmented_assignment_expression": "assignment_expression",
        "call_expression": "method_invocation",
        "for_in_statement": "enhanced_for_statement",
        "generator_function": "function_expression",
        "generator_function_declaration": "function_declaration",
        "lexical_declaration": "local_variable_declaration",
        "member_expression": "field_access",
        "new_expression": "object_creation_expression",
        "public_field_definition": "field_definition",
        "string": "string_literal",
        "subscript_expression": "array_access",
        "switch_body": "switch_block",
        "switch_statement": "switch_expression",
        "variable_declaration": "local_variable_declaration",
    },
    fields={"increment": "update", "initializer": "init"},
    unnamed={"variable_declarator": "declarator"},
    dropped=frozenset({"else_clause"}),
    comments=frozenset({"comment", "html_comment"}),
    literals=frozenset({"string_literal", "regex"}),
    checked=frozenset({"for_statement"}),
    wrapper=(b"class _ {\n", b"\n}"),  # the line break ends a comment on the last line
)
"""The grammar of JavaScript with JSX; that of TypeScript has the same kinds of nodes, and more."""
READERS: Final[Mapping[str, tuple[TreeReader, ...]]] = {
    JAVASCRIPT: (TreeReader(GRAMMAR),),
    TYPESCRIPT: tuple(TreeReader(replace(GRAMMAR, load=load)) for load in (_load_typescript, _load_tsx)),
}
"""The parsers of each language, in the order in which they are tried."""


class FunctionText(NamedTuple):
    """A function with the declaration that gives it a name."""

    node: Node
    """All of it: `export const f = () => 1;`."""
    function: Node
    name: str | None
    """`None` for a function without a name."""


@lru_cache(maxsize=8)
def read(text: str, language: str = JAVASCRIPT) -> ParsedText:
    """Parse a file, or else members of a class.

    The last results are cached, so callers must not change their nodes.

    Raises:
        SourceError: the text is not in the language.
    """
    for reading in _readings(text, language):
        return reading
    source = encoded(text, TITLES[language])
    raise SourceError(f"not valid {TITLES[language]}: {READERS[language][0].first_error(source)}")


def read_typescript(text: str) -> ParsedText:
    """As `read`, for TypeScript.

    Raises:
        SourceError: the text is not TypeScript.
    """
    return read(text, TYPESCRIPT)


@lru_cache(maxsize=8)
def read_unit(text: str, language: str = JAVASCRIPT) -> tuple[ParsedText, FunctionText]:
    """Parse one function, which stands alone in its text but for comments.

    Raises:
        SourceError: the text is not in the language, or is something else.
    """
    for reading in _readings(text, language):
        # `f(a)\n{ … }` is a call and a block in a file, and a method in a class.
        parts = reading.root.children
        function = unit(reading, parts[0]) if len(parts) == 1 else None
        if function is not None:
            return reading, function
    read(text, language)
    raise NoFunctionError("the text is not one function; give one function or method at a time")


def unit(reading: ParsedText, node: Node) -> FunctionText | None:
    """The function that a statement or a member of a class declares; `None` if it does something else."""
    inner = node
    if node.kind == "export_statement":
        declared = node.child("declaration") or node.child("value")
        if declared is None:
            return None
        inner = declared
    match inner.kind:
        case "function_declaration" | "method_definition" | "function_expression" | "lambda_expression":
            if inner.kind in VALUES and inner is node:
                return None
            return FunctionText(node, inner, _name(reading, inner.child("name")))
        case "local_variable_declaration":
            parts = inner.all("declarator")
            value = parts[0].child("value") if len(parts) == 1 else None
            return _named(reading, node, parts[0].child("name"), value) if parts else None
        case "field_definition":
            name = inner.child("property") or inner.child("name")
            return _named(reading, node, name, inner.child("value"))
        case "expression_statement":
            set_ = inner.children[0]
            if set_.kind != "assignment_expression" or set_.operator != "=":
                return None
            left = set_.child("left")
            if left is not None and left.kind == "field_access":
                left = left.child("property")
            elif left is not None and left.kind != "identifier":
                return None
            return _named(reading, node, left, set_.child("right"))
        case _:
            return None


def units(reading: ParsedText) -> Iterator[FunctionText]:
    """The outermost functions of a text that have a name, in its order.

    A function without a name around others, such as the one around a whole script, is looked into.
    """
    pending = [reading.root]
    while pending:
        node = pending.pop()
        function = unit(reading, node)
        if function is not None and function.name is not None:
            yield function
        else:
            pending += reversed(node.children)


def is_anonymous(node: Node) -> bool:
    """Whether an expression is a function or class without a name, which takes that of its variable."""
    node = erased(node)
    return node.kind == "lambda_expression" or (
        node.kind in ("function_expression", "class") and node.child("name") is None
    )


def erased(node: Node) -> Node:
    """The expression without parentheses, and without what only says something of its type."""
    if node.kind not in _AROUND:
        return node
    while True:
        node = node.unparenthesized
        if node.kind not in ERASED:
            return node
        node = node.children[-1] if node.kind == "type_assertion" else node.children[0]


class Outline(NamedTuple):
    """The tree of a text without its tokens.

    Texts with the same tokens between their nodes have equal trees if their outlines are equal.
    """

    text: str
    """The kinds, fields and order of all named nodes: `(block (expression_statement (identifier)))`."""
    tree: "Tree"
    shift: int
    """The length of the wrapper before the text."""

    def parts(self, extents: Sequence[Extent]) -> list[str]:
        """The outlines of some statements of one block, given by their bytes."""
        places = [(start + self.shift, end + self.shift) for start, end in extents]
        block = self.tree.root_node.descendant_for_byte_range(places[0][0], places[-1][1])
        nodes = [(node.byte_range, node) for node in (block.named_children if block else ())]
        return [
            " ".join(str(node) for (first, last), node in nodes if start <= first and last <= end)
            for start, end in places
        ]


@lru_cache(maxsize=8)
def outline(text: str, language: str, *, whole: bool) -> Outline | None:
    """The outline of a text; `None` where only `read_unit` tells how it is read.

    `whole`: it is read as a file, else as members of a class. It costs a fraction of `read_unit`.
    """
    source, readers = encoded(text, TITLES[language]), READERS[language]
    for is_file in (False,) if _METHOD.match(source) else (True, False):
        for number, reader in enumerate(readers):
            tree = _tree(reader, source, is_file=is_file)
            if tree is None:
                continue
            if is_file != whole:
                return None
            shape = f"{number} {tree.root_node}"
            if any(kind in shape for kind in _AMBIGUOUS):  # the other grammars may read it, too
                others = (_tree(other, source, is_file=is_file) for other in readers[number + 1 :])
                shape += "".join(f" {other.root_node if other else ()}" for other in others)
            return Outline(shape, tree, 0 if is_file else len(reader.grammar.wrapper[0]))
    return None


def _tree(reader: TreeReader, source: bytes, *, is_file: bool) -> "Tree | None":
    """The parser's tree of a file or of members; `None` if the grammar cannot read the text.

    At the end of a line, the grammars take words for names that go on in the next line (`_goes_on`). They
    read `using` together with the next line, which begins a statement of its own. And in a class they do not
    tell words that go on there (`get`, `static`) from words that end there (`async`, `abstract`).
    """
    parse: Callable[[bytes], Tree | None] = reader.parse if is_file else reader.parse_wrapped
    tree = parse(source)
    if tree is None or tree.root_node.has_error:
        return None
    shift = 0 if is_file else len(reader.grammar.wrapper[0])
    for match in _BRACKET_AT_START.finditer(source):
        node = tree.root_node.descendant_for_byte_range(match.start(1) + shift, match.end() + shift)
        if node is not None and _begins_statement(node):
            return None
    joined = source
    for match in _WORD_AT_END.finditer(source):
        word, blanks, behind = match.groups()
        if b"\n" not in blanks:
            continue
        node = tree.root_node.descendant_for_byte_range(match.start() + shift, match.end(1) + shift)
        if node is None or (node.end_byte - node.start_byte != len(word) and node.type != "static get"):
            continue  # in a string or comment
        if word == b"using":
            if node.type == "using":
                return None
        elif word not in _STATEMENT_WORDS:
            if _is_of_member(node) and _BEGINS_MEMBER.match(source, match.end(2)):
                return None
        elif node.type == "identifier" and _goes_on(node, word, behind):
            if blanks.strip():
                return None
            joined = joined[: match.start(2)] + b" " * len(blanks) + joined[match.end(2) :]
    if joined is not source:
        tree = parse(joined)
    return None if tree is None or tree.root_node.has_error else tree


def _begins_statement(bracket: "TreeNode") -> bool:
    """Whether a bracket at the start of a line is no part of what stands above, although the grammar says so:
    behind a line `a as T`, the line `[0]` or `(b)` is a statement of its own.
    """
    above = bracket.parent
    for outer in (above, above.parent) if above is not None else ():
        if outer is None or outer.start_byte == bracket.start_byte:
            continue
        if outer.type in _BRACKETED_TYPES and bracket.parent != outer.children[0]:
            return True
        if (
            outer.type in ("call_expression", "subscript_expression")
            and outer.children[0].type in _TYPED_VALUES
        ):
            return True
    return False


def _is_of_member(node: "TreeNode") -> bool:
    """Whether a word is the name or a modifier of a member of a class."""
    above = node.parent
    if above is None or above.parent is None:
        return False
    return not _AROUND_MEMBERS.isdisjoint({above.type, above.parent.type})


def _goes_on(node: "TreeNode", word: bytes, behind: bytes) -> bool:
    """Whether what the grammar takes for a name is the beginning of what stands on the next line.

    `new` is never a name, and `await` is none within an asynchronous function. `let` declares what follows.
    """
    match word:
        case b"await":
            return _is_asynchronous(node)
        case b"let":
            return behind not in _NO_NAME and _is_statement(node)
        case _:
            return True


def _is_statement(node: "TreeNode") -> bool:
    """Whether a name is a whole statement of a list, with no semicolon behind it."""
    above = node.parent
    if above is None or above.type != "expression_statement" or above.parent is None:
        return False
    parts = [child for child in above.children if child.type not in GRAMMAR.comments]
    return len(parts) == 1 and above.parent.type in _LISTS


def _is_asynchronous(node: "TreeNode") -> bool:
    """Whether the function around a node is asynchronous."""
    above = node.parent
    while above is not None and GRAMMAR.aliases.get(above.type, above.type) not in _OWN_AWAIT:
        above = above.parent
    return above is not None and any(child.type == "async" for child in above.children)


def hides(text: str) -> str | None:
    """Why a text may be read otherwise than it was read here, as a short reason; `None` if it is not."""
    return HTML_COMMENT if ("<!--" in text or "-->" in text) and _HTML.search(text) else None


def statements(source: str, language: str = JAVASCRIPT) -> int | None:
    """The number of statements in a text, blocks and labels aside; `None` where it does not parse."""
    try:
        nodes = read(source, language).root.walk()
    except SourceError:
        return None
    apart = ("labeled_statement", "export_statement")
    return sum(
        (node.kind.endswith("_statement") and node.kind not in apart)
        or node.kind == "switch_expression"
        or (
            node.kind == "local_variable_declaration"
            and node.parent is not None
            and node.parent.kind not in ("for_statement", "program", "export_statement")
        )
        for node in nodes
    )


def statements_of_typescript(source: str) -> int | None:
    """As `statements`, for TypeScript."""
    return statements(source, TYPESCRIPT)


def _named(reading: ParsedText, node: Node, name: Node | None, value: Node | None) -> FunctionText | None:
    if name is None or value is None or value.kind not in VALUES or name.kind not in _NAMED:
        return None
    return FunctionText(node, value, _name(reading, name))


def _name(reading: ParsedText, name: Node | None) -> str | None:
    if name is None or name.kind not in _NAMED:
        return None  # `[key]() {}`
    return reading.text(name).strip("'\"#")


def _readings(text: str, language: str) -> Iterator[ParsedText]:
    """The ways to read a text: as a file, and as members of a class.

    Raises:
        SourceError: two grammars of the language read different things.
    """
    source, readers = encoded(text, TITLES[language]), READERS[language]
    for parse in (_members,) if _METHOD.match(source) else (_file, _members):
        for number, reader in enumerate(readers):
            reading = parse(reader, source)
            if reading is None:
                continue
            later = readers[number + 1 :] if b"<" in source else ()
            if later and any(_depends(node) for node in reading.root.nodes() if node.kind in _TYPED):
                others = (parse(other, source) for other in later)
                if any(other is not None and _ranges(other) != _ranges(reading) for other in others):
                    raise SourceError("not valid TypeScript: it means two things in .ts and in .tsx files")
            yield reading
            break


def _depends(node: Node) -> bool:
    """Whether a node of these kinds begins with what begins an element of JSX where there are some."""
    return node.kind == "type_assertion" or node.children[0].kind == "type_parameters"


def _ranges(reading: ParsedText) -> list[tuple[str, int, int]]:
    return [(node.kind, node.start, node.end) for node in reading.root.nodes()]


def _file(reader: TreeReader, source: bytes) -> ParsedText | None:
    def parse(text: bytes) -> "Tree | None":
        tree = _tree(reader, text, is_file=True)
        if tree is None and _VARIANCE.search(text) is not None:
            text = _VARIANCE.sub(lambda match: match[1] + blanked(match[2]), text)
            tree = _tree(reader, text, is_file=True)
        return tree

    tree = parse(source)
    return None if tree is None else _reading(reader, source, tree, 0, parse)


def _members(reader: TreeReader, source: bytes) -> ParsedText | None:
    def parse(text: bytes) -> "Tree | None":
        return _tree(reader, text, is_file=False)

    tree = parse(source)
    return None if tree is None else _reading(reader, source, tree, len(GRAMMAR.wrapper[0]), parse)


def _reading(
    reader: TreeReader,
    source: bytes,
    tree: "Tree",
    shift: int,
    parse: "Callable[[bytes], Tree | None]",
) -> ParsedText | None:
    typed = reader is not READERS[JAVASCRIPT][0]
    outcome = settled(parse, source, tree, shift) if typed else (tree, source, [])
    if outcome is None:
        return None
    tree, parsed, signs = outcome
    walked = reader.walk(tree, shift, leaves=bool(signs))
    put_back(walked, parsed, signs)
    root = walked.root.children[0].part("body") if shift else walked.root
    for loop in walked.checked:  # to the grammar a part of its head that is left out is a statement
        for part in [part for part in loop.children if part.kind == EMPTY and part.field in _OF_HEAD]:
            loop.children.remove(part)
    comments = (
        ("line_comment" if source.startswith(b"//", start) else kind, start, end)
        for kind, start, end in walked.comments
    )
    return ParsedText(source=source, root=root, shape=tuple(walked.shape), comments=tuple(comments))

"""The macros that a file defines, and what they may do to the names of a function.

What is known of the macros of headers depends on the level (`transforms.levels`). Under `known` they are
looked up as those of the file are (`headers`); where a header is not found, any word may be a macro that
nothing explains. Under `hygienic`, and for a function without a file, macros of headers are assumed to be
hygienic, which the ledger announces (`macros-hygienic`): they name no local of their callers, neither make a
string of an argument nor a name of parts, and do not jump. Under `unknown` any word may be a macro that does
anything, unless its text explains it.
"""

import re
from collections import UserDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from typing import Any, ClassVar, Final, NamedTuple, Self, cast

from codeaudit.transforms.c import headers
from codeaudit.transforms.c.cpp import CPP
from codeaudit.transforms.c.cpp.reading import name_of
from codeaudit.transforms.c.declared import RETYPING, DeclaredNames
from codeaudit.transforms.c.parsing import WORDS_OF, C, closing, places
from codeaudit.transforms.interface import BaseTransform, of_place
from codeaudit.transforms.levels import MacroLevel
from codeaudit.transforms.records import Evidence, Kind
from codeaudit.transforms.syntax.scopes import Scopes

_DIRECTIVE: Final = r"^[ \t]*(?:#|%:|\?\?=)[ \t]*"
"""How a directive begins: `%:` and `??=` are other spellings of `#` (5.2.1.1, 6.4.6)."""
_DEFINE: Final = re.compile(
    rf"{_DIRECTIVE}define[ \t]+(?P<name>[A-Za-z_]\w*)(?P<parameters>\([^()]*\))?"
    r"(?P<body>(?:[^\n\\]|\\.|\\\r?\n)*)$",
    re.MULTILINE | re.DOTALL,
)
_RAW: Final = r"R\"(?P<mark>[^ ()\\\s]{0,16})\([\s\S]*?\)(?P=mark)\""
_STRING: Final = re.compile(rf"{_RAW}|\"(?:\\.|[^\"\\\n])*\"|(?<!\d)'(?:\\.|[^'\\\n])*'")
"""A string or a character. Behind a digit, `'` parts the digits of a number."""
_COMMENT: Final = re.compile(rf"({_STRING.pattern})|/\*.*?\*/|//(?:\\\r?\n|[^\n])*", re.DOTALL)
"""A comment, or a string, in which no comment begins."""
_INCLUDE: Final = re.compile(rf"{_DIRECTIVE}(?:include|include_next|import|embed)\b", re.MULTILINE)
_TOKEN: Final = re.compile(r"[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.'])*|##?|->|\.\.\.|\S")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_PIECE: Final = re.compile(r"\w+")  # a word or a number, of which `##` makes a name

_OF_MEMBERS: Final = """
    offsetof container_of containerof __containerof owner_of DO_UPCAST list_entry list_first_entry
    list_next_entry list_for_each_entry hlist_entry rb_entry CONTAINER_OF CONTAINING_RECORD OBJECT_OFFSETOF
"""
MEMBER_ARGUMENT: Final = frozenset(_OF_MEMBERS.split())
"""Macros of which an argument is a member: `offsetof` by the C standard (7.19), the others by custom."""
_NO_OPERAND: Final = re.compile(
    r"assert|static_assert|_Static_assert|g_assert|BUG_ON|WARN_ON|va_arg|typeid|"
    r"__(?:is|has|underlying|reference)_\w+|"
    r"__builtin_(?:offsetof|va_arg|bit_cast|has_attribute|types_compatible_p|convertvector)"
)
"""What shows the text of its argument, such as `assert` (7.2.1.1), or may be given a type, such as `va_arg`
(7.16.1.1), `typeid` and what compilers have built in."""
UNSEEN: Final = "word that an unseen macro may be"
NOT_FOUND: Final = "word that a header may define that is not found"
NOT_COMPILED: Final = "in a branch that the compiler does not read"
NOT_READ: Final = "the compiler does not read the file"
HYGIENIC: Final[Evidence] = "analysis (macros hygienic)"
_TYPES: Final = frozenset({"void", "char", "short", "int", "long", "signed", "unsigned", "const", "size_t",
                           "float", "double"})  # fmt: skip
"""Words of types, which do nothing in a number."""
_TEMPLATE: Final = re.compile(r"\btemplate\s*<([^;{]*)")
"""The head of a template, with what it declares."""
_UNION: Final = re.compile(
    r"\bunion\b(?:[^{};()=]|\b(?:__attribute(?:__)?|alignas|_Alignas)\s*\([^{};]*\))*\{"
)
_UNFINISHED: Final = re.compile(r"^(?!#).*[^;}\s]\s*(?:^#.*\s*)*\Z", re.MULTILINE)
"""The end of a header that begins a declaration, and leaves its end to others."""
_MAKES_UNION: Final = re.compile(r"\bunion\b[\w ]*(?:\{|$)")
"""Tokens that begin a union."""
_BEFORE_NO_OPERAND: Final = frozenset({".", "->", "#", "##", "struct", "union", "enum", "goto"})


class Macro(NamedTuple):
    """A macro that the file defines."""

    parameters: tuple[str, ...] | None
    """`None` for a macro without parentheses."""
    body: tuple[str, ...]
    """The tokens of what it stands for."""


class Surroundings(NamedTuple):
    """What is known around a function."""

    text: str = ""
    """That of its file, or its own; empty if a caller gives none."""
    file: str = ""
    """Where the file lies; empty if that is not known."""
    level: MacroLevel = "known"
    language: str = C


NOWHERE: Final = Surroundings()


class InFile(BaseTransform):
    """A transform of C or C++, which asks what is known around a function."""

    __slots__ = ()
    kind: Kind
    language: str
    around: str
    """The text of the file around the function, as far as it is known."""

    @property
    def languages(self) -> frozenset[str]:
        """The language alone."""
        return frozenset({self.language})

    def within(self, text: str) -> Self:
        """The same transform for the functions of this text, whose macros are known."""
        return cast("Self", replace(cast("Any", self), around=text))

    @property
    def surroundings(self) -> Surroundings:
        """What it has been given (`within`). A control keeps no meaning that an unseen macro could change."""
        around = Surroundings(*of_place(self.around), self.macros or "known", self.language)
        if self.kind != "control":
            return around
        is_known = around.level == "known" and around.text and _macros(around, is_file=True).is_known
        return around if is_known else around._replace(level="hygienic")


class _Definitions(UserDict[str, tuple[Any, ...]]):
    """The definitions of some texts by name. A name is read when it is first asked for: headers have many.

    The files of a project share most of theirs, so equal ones are one object in memory.
    """

    _all: ClassVar[dict[object, Any]] = {}

    def __init__(self, texts: Iterable[str]) -> None:
        super().__init__()
        once: Callable[[Any, Any], Any] = self._all.setdefault
        for text in texts:
            for match in _DEFINE.finditer(_uncommented(text)):
                name, definition = match["name"], (match["parameters"], match["body"])
                earlier = self.data.get(name, ())
                if definition not in earlier:
                    both = (*earlier, definition)
                    self.data[once(name, name)] = once(both, both)

    def __getitem__(self, name: str) -> tuple[Macro, ...]:
        return tuple(_macro(*definition) for definition in self.data[name])


def _uncommented(text: str) -> str:
    """A text with blanks in place of its comments."""
    return _COMMENT.sub(lambda match: match[1] or " ", text)


def plain(text: str) -> str:
    """A text with blanks in place of its comments, and nothing in its strings."""
    return _STRING.sub('""', _uncommented(text))


@lru_cache(maxsize=4096)
def _macro(listed: str | None, text: str) -> Macro:
    body = _STRING.sub('""', text.replace("\\\n", " ").replace("\\\r\n", " "))
    for other in ("%:", "??="):
        body = body.replace(other, "#")
    parameters = None if listed is None else tuple(_WORD.findall(listed))
    if listed is not None and "..." in listed:
        parameters = (*(parameters or ()), "__VA_ARGS__")
    return Macro(parameters, tuple(_TOKEN.findall(body)))


class Macros:
    """The macros of one text, at a level."""

    def __init__(self, around: Surroundings, *, is_file: bool) -> None:
        self._text = text = around.text
        self._level = around.level
        self._language = around.language
        self.complete: Final = _INCLUDE.search(text) is None
        """Whether the text includes no other file."""
        self.named_by: Final[Callable[[str], frozenset[str]]] = cache(self._named_by)
        """Gives the words that may stand in what a macro becomes, other macros in it included; none for a
        name that the file does not define."""
        self._used: Final = lru_cache(maxsize=1)(self._find_used)
        self._unfolded: Final = lru_cache(maxsize=1)(self._unfold)
        self._is_file = is_file
        """Whether the text is more than a function."""
        self.is_c89: Final = around.language == C and headers.is_c89(around.file)
        """Whether the file is known to be compiled by the first standard of C."""
        self.recodes: Final = "-fexec-charset" in str(headers.flags_of(around.file))
        """Whether a command of the project gives characters other numbers."""
        self._is_asked = around.level == "known" and bool(around.file or is_file)
        tongue = headers.TONGUES[around.language]
        facts = headers.facts_of(text, around.file, tongue) if self._is_asked else headers.HeaderFacts()
        self.headers: Final = replace(facts, definitions="")
        """What headers show beside `defined`, if they are asked."""
        self.defined: Final[Mapping[str, tuple[Macro, ...]]] = _Definitions((text, facts.definitions))
        """By name all definitions, of which another one may hold at each place of the file."""

    @cached_property
    def words(self) -> frozenset[str]:
        """The names of macros, every word of those that the file defines or uses, and in C++ of heads of
        templates, whose parameters nothing may hide ([temp.local]). No variable gets such a name."""
        used = self.defined.keys() & (_WORD.findall(self._text) if self._is_asked else self.defined.keys())
        words = set(self.defined).union(*map(self.named_by, used), self._parameters(used))
        for head in _TEMPLATE.findall(_uncommented(self._text)):
            words.update(_WORD.findall(head))
        return frozenset(words)

    def _parameters(self, names: Iterable[str]) -> Iterator[str]:
        return (word for name in names for macro in self.defined[name] for word in macro.parameters or ())

    @cached_property
    def shared_fields(self) -> frozenset[str]:
        """The words in unions that are known, and the names of macros: such fields may share their memory."""
        text = plain("\n".join([self._text, self.headers.own, *self.headers.declarations]))
        words: set[str] = set(self.defined)
        for match in _UNION.finditer(text):
            words.update(_WORD.findall(text[match.end() : closing(text, match.end() - 1, "{", "}")]))
        making = [
            name
            for name in {*_WORD.findall(self._text)} & self.defined.keys()
            if any(_MAKES_UNION.search(" ".join(macro.body)) for macro in self._reached(name))
        ]
        for match in re.finditer(rf"\b(?:{'|'.join(making) or '(?!)'})\b[^;{{]*(\{{?)", text):
            end = closing(text, match.end() - 1, "{", "}") if match[1] else match.end()
            words.update(_WORD.findall(text[match.start() : end]))
        return frozenset(words)

    @cached_property
    def declared(self) -> DeclaredNames:
        """The types of what is declared around; none unless everything is seen."""
        facts = self.headers
        is_whole = self.is_known and not any(map(_UNFINISHED.search, facts.declarations))
        # In C++ a macro of the file could declare a member of another type.
        text = facts.own if self._language == CPP else self._text
        texts = (text, *facts.declarations) if is_whole and facts.read is not None else ()
        return DeclaredNames(texts, self._language)

    @property
    def is_known(self) -> bool:
        """Whether all of the file is seen: its headers are found, and the compiler reads them."""
        return not (self.headers.missing or self.headers.failed) if self._is_asked else self.complete

    # ── what is not seen ─────────────────────────────────────────────────────────────────────────────────

    @property
    def evidence(self) -> Evidence:
        """What vouches for an edit without doubt: unseen macros are assumed to be hygienic, or nothing is."""
        is_seen = self._is_asked or (self._is_file and self.complete)
        return "analysis" if self._level == "unknown" or is_seen else HYGIENIC

    def doubt(self, scopes: Scopes) -> str | None:
        """Why a function may contain an unseen macro; `None` if it has none, or one assumed hygienic."""
        if self._level == "hygienic" or (self._level == "known" and not self._is_asked):
            return None
        source, name = scopes.reading.source.decode(), name_of(scopes.reading.source, scopes.unit)
        if self.headers.failed:
            return NOT_READ
        if self.headers.read is not None and self._is_left_out(source, name, self.headers.read):
            return NOT_COMPILED
        if self._is_asked and not self.headers.missing:
            return None
        words = frozenset(_WORD.findall(plain(source)))
        inside = words.union(*map(self.named_by, words & self.defined.keys()))
        known = {name, *self._parameters(inside & self.defined.keys())}
        known |= {binding.name for binding in scopes.bindings if binding.view != "outer"}
        known |= {scopes.text(node) for node in scopes.unit.walk() if node.kind == "statement_identifier"}
        strange = inside - known - WORDS_OF[self._language] - self._explained - self.defined.keys()
        return (NOT_FOUND if self._is_asked else UNSEEN) if strange else None

    def retypes(self, source: str) -> bool:
        """Whether a text or a macro in it has an attribute that makes another type of one."""
        return RETYPING.search(self._unfolded(source)) is not None

    def has_vectors(self, source: str) -> bool:
        """Whether a text, or a macro in it, names a vector or makes one, as far as their types are seen."""
        return self.retypes(source) or not self._of_vectors.isdisjoint(_WORD.findall(self._unfolded(source)))

    def _unfold(self, source: str) -> str:
        """A text, and the tokens of the macros of the file in it."""
        reached = [macro.body for name in self.used_in(source) for macro in self._reached(name)]
        return " ".join([source, *(token for body in reached for token in body)])

    @cached_property
    def _of_vectors(self) -> frozenset[str]:
        texts = (self.headers.own or self._text, *self.headers.declarations)
        is_said = any(map(RETYPING.search, texts))
        return DeclaredNames(texts, self._language).of_vectors if is_said else frozenset()

    @cached_property
    def _explained(self) -> frozenset[str]:
        """The words that are declared where no unseen macro could have them as its name: a macro of this name
        would have changed the declaration."""
        texts = [self._text] if self._is_asked or (self.complete and self._is_file) else []
        return DeclaredNames([*texts, *self.headers.declarations], self._language).all

    @cached_property
    def _places(self) -> Sequence[tuple[str, str, int]]:
        """The name and text of each function of the file, and its last line."""
        text = self._text.encode()
        spans = places(text, self._language)
        return [(name, text[start:end].decode(), text.count(b"\n", 0, end) + 1) for start, end, name in spans]

    def _is_left_out(self, source: str, name: str, read: frozenset[int]) -> bool:
        """Whether a function stands in a branch of an `#if` that the compiler leaves out."""
        named = [(text, line) for called, text, line in self._places if called == name]
        same = [line for text, line in named if text.strip() == source.strip()]
        return bool(named) and read.isdisjoint(same or [line for _, line in named])

    # ── what a macro does ────────────────────────────────────────────────────────────────────────────────

    def _named_by(self, name: str) -> frozenset[str]:
        named: set[str] = set()
        pending = [name]
        while pending:
            for macro in self.defined.get(pending.pop(), ()):
                words = {word for word in macro.body if _WORD.fullmatch(word)} - {*(macro.parameters or ())}
                pending += words - named
                named |= words
        return frozenset(named)

    def _reached(self, name: str) -> list[Macro]:
        """The definitions of a macro of the file, and of all other macros of it that stand in them."""
        return [macro for word in (name, *self.named_by(name)) for macro in self.defined.get(word, ())]

    def has_braces(self, name: str) -> bool:
        """Whether a macro, or one in it, has a brace or a semicolon."""
        return any(not {"{", "}", ";"}.isdisjoint(macro.body) for macro in self._reached(name))

    def used_in(self, source: str) -> frozenset[str]:
        """The macros whose names a text has, or makes by pasting."""
        return self._used(source)[0]

    def takes(self, name: str, source: str) -> bool:
        """Whether a name is a word of a macro, or one that a macro in this text may make."""
        return name in self.words or self.is_pasted(name, source)

    def is_pasted(self, name: str, source: str) -> bool:
        """Whether a macro that a text uses may make this name of parts."""
        pieces = self._used(source)[1]
        return bool(pieces) and _is_made_of(name, pieces)

    def _find_used(self, source: str) -> tuple[frozenset[str], frozenset[str]]:
        """The macros of a text, and the parts of which they make names; none if they make none."""
        tokens = frozenset(_TOKEN.findall(plain(source)))
        used = tokens & self.defined.keys()
        while True:
            reached = [macro for name in used for macro in self._reached(name)]
            if not any("##" in macro.body for macro in reached):
                return used, frozenset()
            parts = tokens.union(*(macro.body for macro in reached))
            pieces = frozenset(part for part in parts if _PIECE.fullmatch(part))
            more = frozenset(name for name in self.defined if name not in used and _is_made_of(name, pieces))
            if not more:
                return used, pieces
            used |= more

    def keeps_text(self, name: str) -> bool:
        """Whether a call of this macro may do more with an argument than to evaluate it: make a string or a
        part of a name of it, or take it for a type, a member, a tag or a label."""
        named = {name, *self.named_by(name)}
        is_known = not named.isdisjoint(MEMBER_ARGUMENT) or any(map(_NO_OPERAND.fullmatch, named))
        return is_known or any(map(_is_special, self._reached(name)))

    def only_reads(self, name: str) -> bool:
        """Whether a macro neither assigns a variable nor takes an address."""
        if name in MEMBER_ARGUMENT or self.named_by(name) & MEMBER_ARGUMENT:
            return False
        return not any(_WRITING.search("".join(macro.body)) for macro in self._reached(name))

    def is_whole(self, name: str) -> bool:
        """Whether what a macro of the file becomes is one operand or one whole statement, without a jump that
        a loop or a `switch` around it would see, and without a declaration."""
        return self._ends_whole(name, ()) and not any(
            _leaves(macro.body, _JUMPS) for macro in self._reached(name)
        )

    def _ends_whole(self, name: str, around: tuple[str, ...]) -> bool:
        """The same but for jumps: of a macro that is another one, that is asked. No macro is in itself."""
        return name in around or all(
            _is_whole(macro.body)
            and macro.body[:1] not in {(parameter,) for parameter in macro.parameters or ()}
            and (not macro.body or self._ends_whole(macro.body[0], (*around, name)))
            for macro in self.defined.get(name, ())
        )

    def moves_whole(self, name: str) -> bool:
        """Whether a statement with this macro of the file goes on at its end, and its braces are its own."""
        return not any(
            _leaves(body, _LEAVING) or 2 * len(_ends(body)) != sum(sign in _BRACKETS for sign in body)
            for body in (macro.body for macro in self._reached(name))
        )

    def is_constant(self, name: str) -> bool:
        """Whether a macro of the file stands for numbers alone."""
        reached = self._reached(name)
        return (
            name in self.defined
            and all(macro.parameters is None for macro in reached)
            and self.named_by(name) <= self.defined.keys() | _TYPES
            and not any(word in self.named_by(word) for word in (name, *self.named_by(name)))
            and not any(_ACTING & set(macro.body) for macro in reached)
        )


_JUMPS: Final = frozenset({"break", "continue", "case", "default", "else"})
_LEAVING: Final = _JUMPS | {"return", "goto"}
_ACTING: Final = frozenset({"=", "[", "{", "/", "%", '"', "'", "##"})
"""Tokens that are in no plain number; a division may trap, and a string has a place in memory."""
_WRITING: Final = re.compile(r"(?<![=!<>])=(?!=)|<<=|>>=|\+\+|--|(?<!&)(?:&&)*&(?!&)|##|asm|__VA_ARGS__")
"""What a macro has in its tokens if it may assign an argument or pass its address on; perhaps more."""
_PAIRS: Final = {"(": ")", "{": "}", "[": "]"}
_BRACKETS: Final = frozenset("(){}[]")


def _is_special(macro: Macro) -> bool:
    """Whether an argument may be more to a macro than an operand, or the macro makes names."""
    body = macro.body
    if macro.parameters is None or "##" in body or "#" in body:
        return "##" in body or ("#" in body and macro.parameters is not None)
    return any(
        token in macro.parameters
        and (before in _BEFORE_NO_OPERAND or (behind == ":" and "?" not in body[:place]))
        for place, (before, token, behind) in enumerate(zip(("", *body), body, (*body[1:], ""), strict=False))
    )


def _is_whole(body: tuple[str, ...]) -> bool:
    """Whether tokens are nothing, one word, a call, something in parentheses, or a `do` loop without `;`."""
    if not body or len(body) == 1:
        return not body or body[0] not in {";", ",", ":"} | _BRACKETS
    ends = _ends(body)
    if body[0] == "do":
        end = ends.get(1, -1)
        return body[1] == "{" and body[end + 1 : end + 2] == ("while",) and body[-1] == ")"
    if body[0] == "(":
        return ends.get(0) == len(body) - 1
    return _WORD.fullmatch(body[0]) is not None and body[1] == "(" and ends.get(1) == len(body) - 1


def _leaves(body: tuple[str, ...], words: frozenset[str]) -> bool:
    """Whether one of these words is among tokens; an `else` inside of brackets belongs to an `if` there."""
    depth = 0
    for token in body:
        depth += (token in _PAIRS) - (token in _PAIRS.values())
        if token in words and (token != "else" or depth < 1):
            return True
    return False


def _is_made_of(name: str, pieces: frozenset[str]) -> bool:
    """Whether a name is two or more of these pieces behind one another."""
    ends = [True] + [False] * len(name)
    """Whether pieces can make the name up to a place."""
    for end in range(1, len(name) + 1):
        ends[end] = any(
            ends[start] and (start > 0 or end < len(name)) and name[start:end] in pieces
            for start in range(end)
        )
    return ends[-1]


def _ends(body: tuple[str, ...]) -> dict[int, int]:
    """The places of brackets that are closed, each with that of its end, up to an end that fits none."""
    open_ones, ends = list[int](), dict[int, int]()
    for place, token in enumerate(body):
        if token in _PAIRS:
            open_ones.append(place)
        elif token in _PAIRS.values():
            if not open_ones or _PAIRS[body[open_ones[-1]]] != token:
                break
            ends[open_ones.pop()] = place
    return ends


def macros_of(source: str, around: Surroundings) -> Macros:
    """The macros around a function. The last ones are cached, because a file has many functions."""
    context = around if around.text else around._replace(text=source)
    return _macros(context, is_file=len(context.text.split()) > len(source.split()))


_macros = lru_cache(maxsize=128)(Macros)

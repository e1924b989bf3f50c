"""The macros that a file defines, and what they may do to the names of a function.

A macro of a header is not seen. It is assumed to be hygienic, which the ledger announces
(`macros-hygienic`): it names no local of its callers, neither makes a string of an argument nor a name of
parts, and does not jump. Of the macros that stand in the file, and of those that the C standard describes so,
this is looked up.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

_DEFINE: Final = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<name>[A-Za-z_]\w*)(?P<parameters>\([^()]*\))?"
    r"(?P<body>(?:[^\n\\]|\\.|\\\r?\n)*)$",
    re.MULTILINE | re.DOTALL,
)
_COMMENT: Final = re.compile(r"/\*.*?\*/|//(?:\\\r?\n|[^\n])*", re.DOTALL)
_STRING: Final = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'")
_INCLUDE: Final = re.compile(r"^[ \t]*#[ \t]*(?:include|include_next|import|embed)\b", re.MULTILINE)
_TOKEN: Final = re.compile(r"[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.'])*|##?|->|\.\.\.|\S")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")

TEXT_OF_ARGUMENT: Final = frozenset(
    {"assert", "static_assert", "_Static_assert", "g_assert", "BUG_ON", "WARN_ON"}
)
"""Macros that show the text of their argument: `assert` by the C standard (7.2.1.1), the others by custom."""
_OF_MEMBERS: Final = """
    offsetof container_of containerof __containerof owner_of DO_UPCAST list_entry list_first_entry
    list_next_entry list_for_each_entry hlist_entry rb_entry CONTAINER_OF CONTAINING_RECORD OBJECT_OFFSETOF
"""
MEMBER_ARGUMENT: Final = frozenset(_OF_MEMBERS.split())
"""Macros of which an argument is the name of a member: `offsetof` by the C standard (7.19), the others by
custom."""
_BEFORE_NO_OPERAND: Final = frozenset({".", "->", "#", "##", "struct", "union", "enum", "goto"})


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro that the file defines."""

    parameters: tuple[str, ...] | None
    """`None` for a macro without parentheses."""
    body: tuple[str, ...]
    """The tokens of what it stands for."""


class Macros:
    """The macros of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.complete: Final = _INCLUDE.search(text) is None
        """Whether the text includes no other file."""
        self._named_by: dict[str, frozenset[str]] = {}

    @cached_property
    def defined(self) -> Mapping[str, tuple[Macro, ...]]:
        """By name all definitions, of which another one may hold at each place of the file."""
        found: dict[str, tuple[Macro, ...]] = {}
        for match in _DEFINE.finditer(_COMMENT.sub(" ", self._text)):
            body = _STRING.sub('""', match["body"].replace("\\\n", " ").replace("\\\r\n", " "))
            listed = match["parameters"]
            parameters = None if listed is None else tuple(_WORD.findall(listed))
            if listed is not None and "..." in listed:
                parameters = (*(parameters or ()), "__VA_ARGS__")
            found[match["name"]] = (
                *found.get(match["name"], ()),
                Macro(parameters, tuple(_TOKEN.findall(body))),
            )
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of all definitions, with the names of the macros. No variable gets one as a name."""
        return frozenset(self.defined) | frozenset(
            token
            for macros in self.defined.values()
            for macro in macros
            for token in (*macro.body, *(macro.parameters or ()))
            if _WORD.fullmatch(token)
        )

    def named_by(self, name: str) -> frozenset[str]:
        """The words that may stand in what a macro becomes, other macros in it included; empty for a name
        that the file does not define."""
        if name not in self._named_by:
            self._named_by[name] = self._close(name)
        return self._named_by[name]

    def _close(self, name: str) -> frozenset[str]:
        found: set[str] = set()
        pending = [name] if name in self.defined else []
        while pending:
            here = pending.pop()
            for macro in self.defined[here]:
                own = set(macro.parameters or ())
                for token in macro.body:
                    if _WORD.fullmatch(token) and token not in own and token not in found:
                        found.add(token)
                        if token in self.defined:
                            pending.append(token)
        return frozenset(found)

    def _reached(self, name: str) -> list[Macro]:
        """The definitions of a macro of the file, and of all other macros of it that stand in them."""
        return [macro for one in (name, *self.named_by(name)) for macro in self.defined.get(one, ())]

    def keeps_text(self, name: str) -> bool:
        """Whether a call of this macro may do more with an argument than to evaluate it: make a string or a
        part of a name of it, or take it for a member, a tag or a label."""
        if name in TEXT_OF_ARGUMENT or name in MEMBER_ARGUMENT:
            return True
        if name not in self.defined:
            return False
        return any(map(self._is_special, self._reached(name))) or bool(
            self.named_by(name) & (TEXT_OF_ARGUMENT | MEMBER_ARGUMENT | {"__builtin_offsetof"})
        )

    def is_whole(self, name: str) -> bool:
        """Whether what a macro of the file becomes is one operand or one whole statement, without a jump that
        a loop or a `switch` around it would see, and without a declaration."""
        return all(_is_whole(macro.body) for macro in self.defined.get(name, ())) and not any(
            _JUMPS & set(macro.body) for macro in self._reached(name)
        )

    def moves_whole(self, name: str) -> bool:
        """Whether a statement with this macro of the file goes on at its end, and its braces are its own."""
        return not any(
            _LEAVING & set(macro.body) or not _is_balanced(macro.body) for macro in self._reached(name)
        )

    def is_constant(self, name: str) -> bool:
        """Whether a macro of the file stands for numbers alone."""
        found = self._reached(name)
        return (
            name in self.defined
            and all(macro.parameters is None for macro in found)
            and self.named_by(name) <= self.defined.keys()
            and not any(_ACTING & set(macro.body) for macro in found)
        )

    def _is_special(self, macro: Macro) -> bool:
        if ("#" in macro.body and macro.parameters is not None) or "##" in macro.body:
            return True
        if macro.parameters is None:
            return False
        own = set(macro.parameters)
        for place, token in enumerate(macro.body):
            if token in own:
                before = macro.body[place - 1] if place else ""
                behind = macro.body[place + 1] if place + 1 < len(macro.body) else ""
                if (
                    before in _BEFORE_NO_OPERAND
                    or behind == "##"
                    or (behind == ":" and "?" not in macro.body[:place])
                ):
                    return True
        return False


_JUMPS: Final = frozenset({"break", "continue", "case", "default", "else"})
_LEAVING: Final = _JUMPS | {"return", "goto"}
_ACTING: Final = frozenset({"=", "[", "{", "/", "%", '"', "'"})
"""Tokens that are in no plain number; a division may trap, and a string has a place in memory."""
_PAIRS: Final = {"(": ")", "{": "}", "[": "]"}


def _is_whole(body: tuple[str, ...]) -> bool:
    """Whether tokens are nothing, one word, a call, something in parentheses, or a `do` loop without `;`."""
    if not body or len(body) == 1:
        return not body or body[0] not in (";", ",", ":", *_PAIRS, *_PAIRS.values())
    if body[0] == "do":
        return (
            body[1] == "{" and _closing(body, 1) == len(body) - 1 - _length_of_test(body) and body[-1] == ")"
        )
    if body[0] == "(":
        return _closing(body, 0) == len(body) - 1
    return _WORD.fullmatch(body[0]) is not None and body[1] == "(" and _closing(body, 1) == len(body) - 1


def _is_balanced(body: tuple[str, ...]) -> bool:
    """Whether every bracket among tokens is closed among them."""
    place = 0
    while place < len(body):
        if body[place] in _PAIRS.values():
            return False
        if body[place] in _PAIRS:
            place = _closing(body, place)
            if place < 0:
                return False
        place += 1
    return True


def _length_of_test(body: tuple[str, ...]) -> int:
    """The number of tokens of `while (…)` at the end."""
    for place in range(len(body) - 1, 0, -1):
        if body[place] == "while":
            return len(body) - place
    return 0


def _closing(body: tuple[str, ...], opening: int) -> int:
    """The place of the token that closes the bracket at `opening`; -1 without one."""
    open_ones: list[str] = []
    for place in range(opening, len(body)):
        token = body[place]
        if token in _PAIRS:
            open_ones.append(_PAIRS[token])
        elif token in _PAIRS.values():
            if not open_ones or open_ones.pop() != token:
                return -1
            if not open_ones:
                return place
    return -1


@lru_cache(maxsize=8)
def macros_of(text: str) -> Macros:
    """The macros of a text. The last ones are cached, because a file has many functions."""
    return Macros(text)

"""`rename` and its strategies for C: the variables of a function get other names.

A renaming keeps the meaning in the sense of Renamer (`transforms.renaming`). The result is parsed and
resolved again and compared with the original (`renamed`). A result that is not shown to be alpha-equivalent
is refused.

Never renamed:

- a name that stands in a macro of the file which the function uses, or that such a macro may make of parts;
- a name in an argument of which such a macro makes a string, a part of a name, or a member; so for `assert`
  and `offsetof`;
- static and extern variables, whose names the linker sees, and names of types, constants and functions;
- names in assembler and in attributes.

No variable gets a name that is a word of a macro of the file, or that a macro of the function may make. The
level says what is assumed of macros that the file does not define (`c.macros`).
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

from codeaudit.transforms.c.analysis.scopes import resolve
from codeaudit.transforms.c.cpp import reading as cpp
from codeaudit.transforms.c.macros import NOWHERE, InFile, Surroundings, macros_of
from codeaudit.transforms.c.parsing import KEYWORDS, C, CText
from codeaudit.transforms.levels import MacroLevel
from codeaudit.transforms.naming import Lexicon
from codeaudit.transforms.records import Evidence
from codeaudit.transforms.renaming import RenameVariables
from codeaudit.transforms.strategies.rename import CodeVariables
from codeaudit.transforms.syntax.scopes import Binding, Scopes

_FREQUENT: Final = """
    acc addr arg argc args array attr avail base begin bits block buf buffer bytes cap capacity cell ch
    child children chunk cnt code col cols column cond config content context copy count counter ctx cur
    cursor data delta depth desc dest diff digit digits dir dst elem element elems end entry err error
    event expected extra factor field file filter first flag flags fmt found frame from_pos given group
    handle hash head header height id idx index_of info init input item items iter key keys kind label last
    left len length level limit line lines link list loc lookup low_pos map mask match matched max_len
    message mid min_len mode msg name names needed new_size next next_item node nodes num number num_items
    obj off offset old_size op opt opts order out output owner packet pad page pair params parent part
    parts path pattern payload pending pixel plane point pos position prefix prev prev_item priv ptr
    queue quota range rank ratio rd reader rec record ref remaining reply req request res result ret
    retval right root row rows run sample scale score section seed segment sep seq session shift size
    skip slot source span spec src stack start state status step stop str stream string sub suffix sum
    symbol tab table tag tail target temp text tick tmp token top total trail tree type_id unit used val
    value values vec version vertex view wanted weight width window word words work
"""
NATURAL: Final[tuple[str, ...]] = tuple(_FREQUENT.split())
"""Names of local variables that are frequent in C."""

_KNOWN: Final = """
    NULL EOF BUFSIZ FILE stdin stdout stderr errno assert offsetof va_list va_start va_arg va_end
    va_copy complex imaginary I noreturn setjmp jmp_buf signal abs exit free malloc calloc realloc index
    rindex log exp pow sin cos tan sqrt floor ceil round trunc read write open close printf puts putchar
    getchar getc putc strlen strcpy strcmp strchr memcpy memset memcmp memmove time clock date linux
    unix i386 near far huge small pascal cdecl interface min max major minor makedev current environ
    main j0 j1 jn y0 y1 yn gamma isnan isinf signbit stat link unlink select send recv bind listen
    accept connect socket pipe dup wait kill sleep in out inout interrupt bit sbit code xdata idata asm
    fortran vector pixel
"""
_RESERVED: Final = frozenset(_KNOWN.split()) - {"bit", "code", "out", "pixel"} | KEYWORDS | cpp.KEYWORDS


def reserved(name: str) -> bool:
    """Whether no strategy gives this name: a keyword of C or C++, a well-known macro or function, or a name
    that is reserved for compilers (ISO/IEC 9899:2018, 7.1.3)."""
    return (
        name in _RESERVED
        or name.startswith("__")
        or (name[:1] == "_" and name[1:2].isupper())
        or (len(name) > 1 and name.isupper())
        or not name.strip("_")
    )


LEXICON: Final = Lexicon(NATURAL, reserved, capitals=False)
"""The form of new names."""

_WORD: Final = re.compile(r"[A-Za-z_]\w*")

NOT_A_MOVE: Final = "not a move of this function"
IN_MACRO: Final = "a macro of the file names it"
IN_ARGUMENT: Final = "argument of a macro that keeps its text"
IS_MACRO: Final = "name of a macro"
HIDDEN: Final = "beside a word that was not read"
IN_CAPITALS: Final = "name in capitals, as macros have them"


class CVariables(CodeVariables):
    """The variables of one function of a text."""

    def __init__(self, source: str, around: Surroundings) -> None:
        self.language: Final = around.language
        self.lexicon = LEXICON
        super().__init__(source, resolve(source, around.language))
        self.macros = macros_of(source, around)
        self.evidence = self.macros.evidence

    @cached_property
    def obstacle(self) -> str | None:
        """A macro that is not seen may stand in the function."""
        return self.macros.doubt(self.scopes)

    @cached_property
    def reasons(self) -> Mapping[str, str]:
        """The names that macros and words without a meaning touch, with the reason."""
        reasons: dict[str, str] = {}
        reading = self.scopes.reading
        assert isinstance(reading, CText)
        for start, end in reading.hidden:
            reasons.update(dict.fromkeys(_WORD.findall(reading.source[start:end].decode()), HIDDEN))
        for word in self.macros.used_in(self.source):
            reasons.update(dict.fromkeys(self.macros.named_by(word), IN_MACRO))
            reasons[word] = IS_MACRO
        for node in self.scopes.unit.walk():
            called = node.children[0] if node.kind == "method_invocation" else None
            if called is not None and self.macros.keeps_text(self.scopes.text(called)):
                words = (name for name in node.children[-1].walk() if name.kind.endswith("identifier"))
                reasons.update(dict.fromkeys(map(self.scopes.text, words), IN_ARGUMENT))
        return reasons

    def keeps_name(self, binding: Binding) -> str | None:
        """Because of a doubt, or because a macro may need the name."""
        if binding.doubt:
            return binding.doubt
        if len(binding.name) > 1 and binding.name.isupper():
            return IN_CAPITALS
        if self.macros.is_pasted(binding.name, self.source):
            return IN_MACRO
        return self.reasons.get(binding.name)

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the text and of the macros of the file, none of which becomes a name."""
        return frozenset(_WORD.findall(self.source)) | self.macros.words

    def usable(self, name: str, own: Collection[str]) -> bool:
        """As in all languages, and no word of a macro of the file unless it is a name of the function."""
        return (name in own or not self.macros.takes(name, self.source)) and super().usable(name, own)

    def proof(self, text: str, names: Mapping[int, str]) -> Evidence | None:
        """The evidence of the shared proof, under what is assumed of macros."""
        return self.evidence if super().proof(text, names) is not None else None

    def resolve(self, text: str) -> Scopes:
        """The variables of another function, past the cache: most results are asked for once."""
        return resolve.__wrapped__(text, self.language)


@lru_cache(maxsize=8)
def variables(source: str, around: Surroundings = NOWHERE) -> CVariables:
    """The variables of one function, cached because a transform asks for the last functions many times.

    Raises:
        SourceError: the source does not parse or is not one function.
    """
    return CVariables(source, around)


@dataclass(frozen=True, slots=True, kw_only=True)
class CRename(InFile, RenameVariables):
    """Gives other names to the variables of a C function. One variable is one move."""

    foreign: str = NOT_A_MOVE
    language: str = C
    around: str = field(default="", repr=False)
    macros: MacroLevel = "known"

    def variables(self, source: str) -> CVariables:
        """As in all languages."""
        return variables(source, self.surroundings)


RENAME: Final = CRename()
RENAME_RANDOM: Final = CRename(name="rename-random", strategy="random")
RENAME_SHUFFLE: Final = CRename(name="rename-shuffle", strategy="shuffle")
RENAME_MISLEADING: Final = CRename(name="rename-misleading", strategy="misleading")
RENAME_CANONICAL: Final = CRename(name="rename-canonical", strategy="canonical")
RENAME_PARAMETERS: Final = CRename(name="rename-parameters", parameters=True)

"""`rename` and its strategies for JavaScript and TypeScript: the variables of a function get other names.

A renaming keeps the meaning in the sense of Renamer (`transforms.renaming`). The result is parsed and
resolved again and compared with the original (`renamed`). A result that is not shown to be alpha-equivalent
is refused. A name that is a property, too, is written out first: `{ a }` is `{ a: a }`, and becomes
`{ a: b }`.

Never renamed:

- names of functions and classes, and variables whose value is one without a name, which takes theirs
  (`f.name`);
- names of tags, because their case decides what they mean;
- a name that a function in a block has, too: the mode of the script decides what it means;
- anything in a function with `eval` or `with`, or in which a name is spelt with an escape;
- in TypeScript what `analysis.scopes` doubts, and anything in a function around a namespace.

Not promised to stay: messages of errors, which name variables, and the text that `toString` gives of a
function.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

from codeaudit.transforms.javascript.analysis.scopes import resolve, unreadable
from codeaudit.transforms.javascript.parsing import JAVASCRIPT, TYPESCRIPT, outline
from codeaudit.transforms.naming import Lexicon
from codeaudit.transforms.renaming import RenameVariables
from codeaudit.transforms.strategies.rename import CodeVariables
from codeaudit.transforms.syntax.scopes import Binding, Scopes

_FREQUENT: Final = """
    action actual address all answer args array attrs base batch begin body bounds bucket buf buffer
    bytes cache callback candidate cb cell char child children chunk client code color column columns
    command config content context copy count counter ctx current cursor data date defaults deferred
    delay delta depth desc dest details diff digits dir dirty doc dom duration el elem element emitter
    end entries entry env err error event events ex expected ext extra factory fields file filename
    filter first flag flags format found fragment frame group handle handler hash head headers height
    helper host html id idx ids img indent index info init initial input instance item items iterator key
    keys kind label last layer left len length level limit line lines link list listener local log map
    mapping margin mask match matches max merged message meta method min mode model module msg next_item
    node nodes num obj offset old_value op operation opts options order origin out output owner padding
    page pairs params parent parsed part parts patch path pattern payload pending pixel plugin point
    points pool port pos position prefix previous prop property props protocol proxy query queue radius
    range rate ratio raw reader receiver record ref regex remaining replacement req request res resolved
    response rest result results right root row rows rule sample scale scope score section segment
    selector sep separator series server session settings shape shift sign size slot source spacing span
    stack start state status step store str stream style suffix sum symbol tag target task temp template
    term text theme threshold tick time timeout timer title tmp token tokens total tree tuple unit update
    url user val value values variant vector version view visited weight width word words wrapper writer
    zone
"""
NATURAL: Final[tuple[str, ...]] = tuple(_FREQUENT.split())
"""Names of local variables that are frequent in JavaScript, in snake case."""

_WORDS: Final = """
    arguments as async await break case catch class const continue debugger default delete do else enum
    eval export extends false finally for from function get if implements import in instanceof interface
    let new null of package private protected public return set static super switch target this throw
    true try typeof undefined using var void while with yield Infinity NaN Array BigInt Boolean Date
    Error Function JSON Map Math Number Object Promise Proxy Reflect RegExp Set String Symbol WeakMap
    WeakSet console document exports global globalThis isFinite isNaN module parseFloat parseInt process
    require self top window name location history event status parent
"""
_RESERVED: Final = frozenset(_WORDS.split())


def reserved(name: str) -> bool:
    """Whether no strategy gives this name: a keyword in some mode, a well-known global variable, or `_`."""
    return name in _RESERVED or not name.strip("_$")


_WORDS_OF_TYPES: Final = """
    abstract accessor any asserts bigint boolean declare global infer is keyof module namespace never number
    object out override readonly satisfies string symbol type unique unknown
"""
_OF_TYPES: Final = frozenset(_WORDS_OF_TYPES.split())


def reserved_in_typescript(name: str) -> bool:
    """The same for TypeScript, where some names begin declarations or types."""
    return name in _OF_TYPES or reserved(name)


LEXICONS: Final = {
    JAVASCRIPT: Lexicon(NATURAL, reserved, camel=True),
    TYPESCRIPT: Lexicon(NATURAL, reserved_in_typescript, camel=True),
}
"""The form of new names for variables."""

SPECIAL: Final = "special name"
NOT_A_MOVE: Final = "not a move of this function"
_KEPT: Final = frozenset({"arguments", "eval", "undefined", "let", "yield", "await", "__proto__"})
"""A variable may have these names in some mode; and `{ __proto__ }` is not `{ __proto__: __proto__ }`."""
_SHORT: Final = frozenset({"shorthand_property_identifier", "shorthand_property_identifier_pattern"})


class JavaScriptVariables(CodeVariables):
    """The variables of one function."""

    def __init__(self, source: str, language: str) -> None:
        self.language: Final = language
        self.lexicon = LEXICONS[language]
        super().__init__(source, resolve(source, language))

    @cached_property
    def obstacle(self) -> str | None:
        """Why the names may be read otherwise."""
        return unreadable(self.scopes)

    @cached_property
    def properties(self) -> frozenset[int]:
        """The first bytes of the occurrences that are names of properties, too: `{ a }`."""
        return frozenset(node.start for node in self.scopes.nodes if node.kind in _SHORT)

    def keeps_name(self, binding: Binding) -> str | None:
        """Because of a doubt, or because a keyword is its name."""
        if binding.doubt:
            return binding.doubt
        return SPECIAL if binding.name in _KEPT else None

    def written(self, start: int, old: str, new: str) -> str:
        """`a: b` in place of `a` in `{ a }`."""
        return f"{old}: {new}" if start in self.properties else new

    def compared(self, names: Mapping[int, str]) -> Scopes | None:
        """The function with `{ a: a }` in place of `{ a }` for these variables; `None` where that is no such
        function."""
        scopes = self.scopes
        current = {number: scopes.bindings[number].name for number in names}
        if not any(
            use.start in self.properties for number in current for use in scopes.bindings[number].occurrences
        ):
            return scopes
        spelt = self.resolve(self.text_with(current))
        # Only the names of properties were added, and every name means what it meant.
        return spelt if spelt.slots == scopes.slots and _alike(scopes, spelt) else None

    def outline(self, text: str) -> str | None:
        """That of the parser's tree."""
        outlined = outline(text, self.language, whole=self.scopes.reading.whole)
        return outlined and outlined.text

    def resolve(self, text: str) -> Scopes:
        """The variables of another function, past the cache: most results are asked for once."""
        return resolve.__wrapped__(text, self.language)


def _alike(one: Scopes, other: Scopes) -> bool:
    """Whether the variables of two texts have the same names and views."""
    pairs = zip(one.bindings, other.bindings, strict=False)
    same = all((a.name, a.view, a.owner, a.doubt) == (b.name, b.view, b.owner, b.doubt) for a, b in pairs)
    return same and len(one.bindings) == len(other.bindings)


@lru_cache(maxsize=8)
def variables(source: str, language: str = JAVASCRIPT) -> JavaScriptVariables:
    """The variables of one function, cached because a transform asks for the last functions many times.

    Raises:
        SourceError: the source does not parse or is not one function.
    """
    return JavaScriptVariables(source, language)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaScriptRename(RenameVariables):
    """Gives other names to the variables of a JavaScript function. One variable is one move."""

    foreign: str = NOT_A_MOVE
    languages: frozenset[str] = field(default=frozenset({JAVASCRIPT}))
    language: str = JAVASCRIPT

    def variables(self, source: str) -> JavaScriptVariables:
        """The variables of the function.

        Raises:
            SourceError: the source does not parse or is not one function.
        """
        return variables(source, self.language)


RENAME: Final = JavaScriptRename()
RENAME_RANDOM: Final = JavaScriptRename(name="rename-random", strategy="random")
RENAME_SHUFFLE: Final = JavaScriptRename(name="rename-shuffle", strategy="shuffle")
RENAME_MISLEADING: Final = JavaScriptRename(name="rename-misleading", strategy="misleading")
RENAME_CANONICAL: Final = JavaScriptRename(name="rename-canonical", strategy="canonical")
RENAME_PARAMETERS: Final = JavaScriptRename(name="rename-parameters", parameters=True)

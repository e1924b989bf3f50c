"""Languages: the record of a language with its families of transforms, and the registry of all languages.

Each language has one record in its own package; a plug-in registers its own through the entry points
`codeaudit.languages`. Nothing else in the program lists languages: a task, a corpus or a paper's features ask
the record whether a language offers what they need. Looking a language up imports its record and no parser.

A family of transforms is declared in the `__init__` of its package, beside the modules that define them:

    FAMILY: Final = TransformFamily.of(
        __name__,
        "strings",
        "Texts put together in other ways: f-strings, `format`, `%`, sums.",
        keeps("fields:F_STRING_TO_FORMAT", "f-strings become calls of format", _TITLE, "fields-swapped"),
        changes("fields:FIELDS_SWAPPED", "two fields of a text are swapped", _REPORT),
    )
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final, Self

from codeaudit.transforms.assumptions import Assumption
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.records import Kind
from codeaudit.transforms.registration import Entry, PlugIn, Registry, load_target

_RENAMINGS: Final = (
    *("rename", "rename-random", "rename-shuffle", "rename-misleading", "rename-canonical"),
    "rename-parameters",
)
"""They rename the same variables: of several in a row, little more than the last can be seen."""
UNDOES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(_RENAMINGS, _RENAMINGS),
    "contract-augmented": ("expand-augmented",),
    "contract-increments": ("expand-increments",),
    "else-to-return": ("return-to-else",),
    "flatten-elif": ("nest-elif",),
    "for-to-while": ("while-to-for",),
    "if-to-switch": ("switch-to-if",),
    "if-to-ternary": ("ternary-to-if",),
    "join-declarations": ("split-declarations",),
    "join-initialisers": ("split-initialisers",),
    "join-lines": ("split-lines",),
    "join-strings": ("split-strings",),
    "merge-conditions": ("split-conditions",),
    "remove-blank-lines": ("insert-blank-lines",),
    "remove-braces": ("insert-braces",),
    "remove-comments": ("insert-comments",),
    "remove-parentheses": ("insert-parentheses",),
}
"""By name, the transforms of whose edits another one may leave nothing, in each language that has both: its
inverse, or others that rewrite the same places. One side declares it."""


@dataclass(frozen=True, slots=True)
class TransformEntry(Entry):
    """A registered transform."""

    family: str = ""
    """The name that stands for it and related transforms on the command line."""
    kind: Kind = "preserving"
    example: str = ""
    """A small program that it rewrites; `codeaudit list transforms --verbose` shows it before and after."""
    twin: str | None = None
    """The control that makes nearly the same edit and changes the meaning."""
    interface: bool = False
    """Whether callers can see the change: parameters, docstrings, annotations of a function."""
    assumes: str = ""
    """What is assumed beyond the assumptions of the language's analysis. `all` leaves such transforms out."""
    rests_on: tuple[str, ...] = ()
    """The entries of the language's ledger on which its edits rest. If it names none, its family's count."""
    related: bool = False
    """Whether it depends on a relation between statements; see `BaseTransform.under`."""
    undoes: tuple[str, ...] = ()
    """Further ones than in `UNDOES`, in this language."""


@dataclass(frozen=True, slots=True)
class TransformFamily:
    """Transforms of one language that one name stands for on the command line."""

    name: str
    summary: str
    """One line for `codeaudit list`."""
    transforms: Mapping[str, TransformEntry]

    @classmethod
    def of(
        cls, package: str, name: str, summary: str, *rows: TransformEntry, rests_on: tuple[str, ...] = ()
    ) -> Self:
        """A family from its rows, which `keeps` and `changes` make.

        Args:
            package: the package that the rows' targets are relative to; empty if they are absolute.
            name: the family's name.
            summary: one line for `codeaudit list`.
            rows: a transform is named after its attribute: `REORDER_IMPORTS` is `reorder-imports`.
            rests_on: the entries of the ledger on which meaning-keeping transforms rest that name none.

        Raises:
            ValueError: two rows have the same name.
        """
        prefix = f"{package}." if package else ""
        transforms: dict[str, TransformEntry] = {}
        for row in rows:
            transform = row.target.partition(":")[2].lower().replace("_", "-")
            if transform in transforms:
                raise ValueError(f"registered twice in family {name!r}: {transform}")
            shared = rests_on if row.kind == "preserving" else ()
            transforms[transform] = replace(
                row, target=f"{prefix}{row.target}", family=name, rests_on=row.rests_on or shared
            )
        return cls(name, summary, transforms)


MERGING: Final = "rename-merging"
"""The control of renamings."""


def keeps(
    target: str,
    summary: str,
    example: str,
    twin: str | None = None,
    *,
    interface: bool = False,
    assumes: str = "",
    rests_on: tuple[str, ...] = (),
    related: bool = False,
    undoes: tuple[str, ...] = (),
) -> TransformEntry:
    """The row of a meaning-keeping transform; `target` is `module:ATTRIBUTE` inside the family's package."""
    return TransformEntry(
        target,
        summary,
        example=example,
        twin=twin,
        interface=interface,
        assumes=assumes,
        rests_on=rests_on,
        related=related,
        undoes=undoes,
    )


def renamings(total: str, clamp: str) -> tuple[TransformEntry, ...]:
    """The rows of the transforms of a module `rename` that give local variables other names; their examples
    are two programs of the language."""
    rows = (
        ("RENAME", "local variables get other names", total),
        ("RENAME_RANDOM", "local variables get pronounceable names without meaning", clamp),
        ("RENAME_SHUFFLE", "local variables swap their names", clamp),
        ("RENAME_MISLEADING", "local variables get names that say something else", total),
        ("RENAME_CANONICAL", "local variables become v0, v1, …", clamp),
    )
    return tuple(keeps(f"rename:{name}", summary, program, MERGING) for name, summary, program in rows)


def conditionals(program: str) -> tuple[TransformEntry, ...]:
    """The rows of the transforms of a module `rules` that write an `if` in another form."""
    return (
        keeps("rules:INVERT_IF", "condition negated, branches exchanged", program, "if-inverted-wrong"),
        keeps("rules:NEST_ELIF", "`else if` becomes an `if` in an `else`", program),
        keeps("rules:FLATTEN_ELIF", "an `if` alone in an `else` becomes `else if`", program),
        keeps("rules:INSERT_BRACES", "braces around a body of one statement", program),
        keeps("rules:REMOVE_BRACES", "no braces around a body of one statement", program),
        keeps("rules:SPLIT_CONDITIONS", "`if (a && b)` becomes two", program, "condition-dropped"),
        keeps(
            "rules:MERGE_CONDITIONS", "an `if` alone in an `if` becomes `&&`", program, "condition-dropped"
        ),
    )


def loops(program: str, forever: str, of_for: str = "for-off-by-one") -> tuple[TransformEntry, ...]:
    """The rows of the transforms of a module `rules` that write a loop in another form. `forever` is the head
    of a loop that only a jump leaves, and `of_for` the control of the loop `for`."""
    rows = (
        ("FOR_TO_WHILE", "a `for` becomes a `while`", of_for),
        ("WHILE_TO_FOR", "a `while` becomes a `for`", "loop-left-early"),
        ("WHILE_TO_WHILE_TRUE", f"a `while` becomes `{forever}` with `break`", "loop-left-early"),
        ("DO_TO_WHILE_TRUE", f"a `do` becomes `{forever}` with `break`", "loop-left-early"),
    )
    return tuple(keeps(f"rules:{name}", summary, program, twin) for name, summary, twin in rows)


def layouts(program: str, of_comments: tuple[str, ...] = ()) -> tuple[TransformEntry, ...]:
    """The rows of the transforms of a module `rules` that change comments, lines and blanks. The example is a
    program of the language; `of_comments` is what new comments rest on, if that is more."""
    rows = (
        ("REMOVE_COMMENTS", "comments go, except those for tools"),
        ("INSERT_BLANK_LINES", "blank lines between statements"),
        ("REMOVE_BLANK_LINES", "blank lines go"),
        ("SPLIT_LINES", "lists on several lines"),
        ("JOIN_LINES", "lists on one line"),
        ("INDENTATION", "blocks indented by 2, 3, 4 or 8 blanks or a tab"),
        ("BRACE_LINES", "opening braces on a line of their own, or behind their head"),
        ("SPACING", "blanks around operators come or go"),
    )
    comments = "comments that say nothing of the code"
    return (
        keeps("rules:INSERT_COMMENTS", comments, program, rests_on=of_comments),
        *(keeps(f"rules:{name}", summary, program) for name, summary in rows),
    )


def dead_code(program: str, at_end: str | None = None) -> tuple[TransformEntry, ...]:
    """The rows of the transforms of a module `rules` that write what never runs or what nothing depends on,
    and of their controls; `at_end` is the control of jumps at an end."""
    rows = (
        ("UNUSED_LOCALS", "variables that nobody reads", "live-assignment"),
        ("DEAD_STORES", "variables with something computed that nobody reads", "live-assignment"),
        ("UNREACHABLE_BRANCHES", "branches that are never taken", "reachable-branch"),
        ("NO_OP_STATEMENTS", "`;` and `{ }`", None),
        ("ELSE_PASS", "an `else` that does nothing", None),
        ("REDUNDANT_JUMPS", "`return;` and `continue;` at an end", at_end),
    )
    return (
        *(keeps(f"rules:{name}", summary, program, twin) for name, summary, twin in rows),
        changes("rules:LIVE_ASSIGNMENT", "a variable gets another value before it is read", program),
        changes("rules:REACHABLE_BRANCH", "a `return` before something", program),
    )


def changes(target: str, summary: str, example: str) -> TransformEntry:
    """The row of a control; `target` is `module:ATTRIBUTE` inside the family's package."""
    return TransformEntry(target, f"control: {summary}", kind="control", example=example)


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """All that the program knows about one language.

    A field whose description says "as `module:attribute`" is imported when first used, because a parser is
    heavy. An empty target says that the language does not offer this.
    """

    name: str
    """The name in samples, records and on the command line: `python`."""
    title: str
    """For people and in prompts: `Python`."""
    units: str
    """What samples of it are called, in the plural: `functions`."""
    fence: str = ""
    """The tag of a code fence in Markdown, and so in prompts."""
    example: str = ""
    """One unit, for tracing a network that reads the language."""

    # ── transforms ──
    families: tuple[TransformFamily, ...] = ()
    """Its transforms. A transform of another language may have the same name; it then means the same idea."""
    standard: tuple[str, ...] = ()
    """Names of the meaning-keeping transforms of a default run."""
    controls: tuple[str, ...] = ()
    """Names of the controls of a default run."""
    ledger: Mapping[str, Assumption] = field(default_factory=dict)
    """What its transforms assume of code that they cannot see, by id."""
    shown_in: str = ""
    """`str -> Mapping[str, int]`, as `module:attribute`: the entries of the ledger that a file shows not to
    hold, each with the first line that shows it, or 0 if that is not known. Transforms that rest on one are
    not used in that file, but for those that have it among the ids `judges`: they look themselves what it
    means for their edits. Empty: all transforms look themselves."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """Transforms with an argument, `FORM/ARGUMENT` on the command line: functions from the whole name to a
    transform by their form, as `module:attribute`."""

    has_macros: bool = False
    """Whether words of a text may be macros that other files define. Then transforms have the levels of
    `transforms.levels`, and get the path of the file."""

    # ── texts ──
    function_context: str = ""
    """`str -> FunctionContext`, as `module:attribute`: finds the one function of a text. Empty for a language
    whose units hold nothing but themselves."""
    obstacle_in_file: str = ""
    """`(function, file) -> str | None`, as `module:attribute`: why a function of this file cannot be
    rewritten."""
    parse: str = ""
    """`str -> object`, as `module:attribute`: raises SourceError where a text does not parse."""
    content: str = ""
    """`str -> str`, as `module:attribute`: equal for texts that differ only in layout, comments and
    documentation. Without it, texts that differ only in white space count as equal."""
    statements: str = ""
    """`str -> int | None`, as `module:attribute`: the number of statements in the body of a unit; `None` for
    a text that does not parse."""
    canonical: str = ""
    """`str -> str`, as `module:attribute`: the canonical form of a unit."""
    constructs: str = ""
    """`str -> (construct, names)`, as `module:attribute`: what the statement on a line is, and the names in
    it. Without it, keywords and signs tell."""

    # ── files ──
    endings: tuple[str, ...] = ()
    """Endings of its source files, with the dot. Files in folders are found by them."""
    named_endings: tuple[str, ...] = ()
    """Further endings of files that are read only where the user names the file, or where the reader of the
    language that has this ending says that a file is in this one (`FileFormat.other`)."""
    column: str = ""
    """The column of a table whose texts are in this language, whatever else the row says."""
    machine_code: str = ""
    """`str -> unit`, as `module:attribute`: a unit from its bytes in hexadecimal digits; its
    text is `unit.source`."""
    files: str = ""
    """A `FileFormat`, as `module:attribute`: lets files be perturbed in place."""

    transforms: Mapping[str, TransformEntry] = field(init=False, repr=False, compare=False)
    """Its transforms by name, family by family."""
    opposed: Mapping[str, frozenset[str]] = field(init=False, repr=False, compare=False)
    """By name, the transforms that undo this one or that it undoes."""

    def __post_init__(self) -> None:
        """Join the families.

        Raises:
            ValueError: two families hold the same name, or a transform rests on what is not in the ledger.
        """
        entries: dict[str, TransformEntry] = {}
        for family in self.families:
            if twice := entries.keys() & family.transforms.keys():
                raise ValueError(f"registered twice for {self.title}: {', '.join(sorted(twice))}")
            entries.update(family.transforms)
        for name, entry in entries.items():
            if strange := set(entry.rests_on) - self.ledger.keys():
                raise ValueError(f"not in the ledger of {self.title}: {', '.join(sorted(strange))} of {name}")
        opposed: dict[str, set[str]] = {name: set() for name in entries}
        for name, entry in entries.items():
            for other in entries.keys() & {*entry.undoes, *UNDOES.get(name, ())} - {name}:
                opposed[name].add(other)
                opposed[other].add(name)
        object.__setattr__(self, "transforms", entries)  # the record is frozen
        object.__setattr__(self, "opposed", {name: frozenset(ones) for name, ones in opposed.items()})

    def parses(self, source: str) -> bool:
        """Whether a text parses; true for a language without a parser."""
        if not self.parse:
            return True
        try:
            load_target(self.parse)(source)
        except SourceError:
            return False
        return True


LANGUAGES: Final[Registry[Language]] = Registry(
    "language",
    {
        "python": Entry("codeaudit.transforms.python.language:PYTHON", "functions of Python files"),
        "java": Entry("codeaudit.transforms.java.language:JAVA", "methods of Java files"),
        "x86": Entry("codeaudit.transforms.x86:X86", "basic blocks of x86-64 assembly"),
        "algebra": Entry("codeaudit.transforms.algebra:ALGEBRA", "pairs of symbolic expressions"),
        "javascript": Entry(
            "codeaudit.transforms.javascript.language:JAVASCRIPT", "functions of JavaScript files"
        ),
        "typescript": Entry(
            "codeaudit.transforms.javascript.typescript:TYPESCRIPT", "functions of TypeScript files"
        ),
        "c": Entry("codeaudit.transforms.c.language:C", "functions of C files"),
        "cpp": Entry("codeaudit.transforms.c.cpp.language:RECORD", "functions of C++ files"),
    },
    group="codeaudit.languages",
    expects=Language,
)

_log: Final = logging.getLogger(__name__)

OTHER_NAMES: Final[Mapping[str, str]] = {"c++": "cpp", "cxx": "cpp"}
"""By the name that data sets give a language, in small letters, ours."""
DEFAULT: Final = "python"
"""The language of a text about which nothing else is known."""


def find_language(name: str) -> Language | None:
    """The record of a language; `None` for a language that nobody registered, which samples may well name.

    Raises:
        CannotAudit: the language is a broken plug-in's.
    """
    return LANGUAGES.get(name) if name in LANGUAGES else None


def every_language() -> tuple[Language, ...]:
    """All languages, the built-in ones first; broken plug-ins are left out."""
    return _working(tuple(LANGUAGES.plug_ins().values()))


@cache
def _working(plug_ins: tuple[PlugIn, ...]) -> tuple[Language, ...]:
    """Cached because a table asks for each of its rows; `plug_ins` is the key."""
    return tuple(language for _, language in LANGUAGES.working())


def by_ending(ending: str) -> Language | None:
    """The language whose files have this ending, with the dot; `None` where no language claims it."""
    # Most files are of a built-in language, and then no plug-in is imported.
    for languages in (map(LANGUAGES.get, LANGUAGES.built_in), every_language()):
        for language in languages:
            if ending in language.endings or ending in language.named_endings:
                return language
    return None


def written_in(language: Language, ending: str, data: bytes) -> Language:
    """The language of a file whose ending two languages share: C++ has headers that end as those of C."""
    if not language.files or not any(ending in record.named_endings for record in every_language()):
        return language
    form = load_target(language.files)
    try:
        name = form.other(form.decode(data).text) if form.other is not None else None
    except SourceError:
        return language
    other = LANGUAGES.get(name) if name is not None else language
    return other if ending in other.named_endings else language


def warn_of_broken_languages() -> None:
    """Log a line for each broken plug-in. For callers that found no language: it may be one of these."""
    for _ in LANGUAGES.working(lambda error: _log.warning("codeaudit: %s", error)):
        pass


# ── languages without an engine ──────────────────────────────────────────────────────────────────────────

_OTHERS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "C#": (("c#", "csharp", "cs"), (".cs",)),
    "Go": (("go", "golang"), (".go",)),
    "Kotlin": (("kotlin",), (".kt", ".kts")),
    "PHP": (("php",), (".php",)),
    "Ruby": (("ruby", "rb"), (".rb",)),
    "Rust": (("rust", "rs"), (".rs",)),
    "Scala": (("scala",), (".scala",)),
    "Swift": (("swift",), (".swift",)),
}
"""Well-known languages: the names that data sets give them, and the endings of their files."""
NO_ENGINE: Final = " (no transform yet)"
"""The end of the reason to leave out what is in a language that nobody registered."""


def without_engine(*, name: str = "", ending: str = "") -> str | None:
    """The title of a language by its name or by the ending of a file, if nobody registered it.

    A name that is not well-known is its own title; of an unknown ending nothing is known.
    """
    if name:
        if OTHER_NAMES.get(name.lower(), name.lower()) in LANGUAGES:
            return None
        return next((title for title, (names, _) in _OTHERS.items() if name.lower() in names), name)
    if not ending or by_ending(ending) is not None:
        return None
    return next((title for title, (_, endings) in _OTHERS.items() if ending.lower() in endings), None)


LOOKS: Final = "row that looks like "
"""The begin of the reason to leave out a row that names no language and looks like another one."""
_HEADS: Final[Mapping[str, re.Pattern[str]]] = {
    "PHP": re.compile(r"\s*<\?php"),
    "JavaScript": re.compile(r"\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\b"),
    "Go": re.compile(r"\s*(?:package\s+\w+\s+)?func\b"),
    "Rust": re.compile(r"\s*(?:pub(?:\(\w+\))?\s+)?(?:unsafe\s+|async\s+|const\s+)*fn\b"),
    "Kotlin": re.compile(r"\s*(?:\w+\s+)*fun\b"),
    "Java": re.compile(r"\s*(?:@\w+\s+)*(?:public|private|protected)\b"),
}
"""How functions begin, before their first brace."""
_TYPED: Final = re.compile(
    r"\s*(?:#\s*\w+|(?:static|const|unsigned|signed|extern|inline|struct|enum|void|int|char|long|short|float|double|"
    r"bool|\w+_t|[A-Z]\w*)\b[\w\s*&:<>,~]*\()"
)
_OF_C: Final = re.compile(
    r"->|\bNULL\b|\b(?:sizeof|struct|unsigned|malloc|printf|memcpy)\b|^\s*#\s*\w|\*\s*\w+\s*[,)]", re.M
)
_OF_JAVA: Final = re.compile(r"\bString\b|\bthrows\b|\bnew\s+[A-Z]|\bfinal\b|\bnull\b|\bboolean\b")


def looks_like(text: str) -> str | None:
    """The title of the language that a function seems to be in, by its beginning; `None` for Python and for
    what cannot be told. Only for a text about which nothing else is known.
    """
    head, brace, _ = text[:4000].partition("{")
    if not brace:
        return None
    for title, begins in _HEADS.items():
        if begins.match(head):
            return title
    if not _TYPED.match(head) or not head.rstrip().endswith((")", ";", "const", "noexcept")):
        return None
    if "::" in head:
        return "C++"
    if _OF_C.search(text[:20_000]):
        return "C"
    return "Java" if _OF_JAVA.search(text[:20_000]) else "C or Java"


def is_well_known(title: str) -> bool:
    """Whether a language without an engine is one of ours to name; another word may be a slip."""
    return title in _OTHERS


def rewritten_today() -> str:
    """One line on what works instead."""
    titles = ", ".join(record.title for record in every_language() if record.endings or record.named_endings)
    return f"rewritten today: {titles}; docs/howto/language.md shows how to add a language"

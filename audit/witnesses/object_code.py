"""The compiler as a witness of C and C++: does a variant compile to the same code as its original?

A function is compiled where it stands: in its file, in which the bodies of other functions are left out, with
the -I, -D, -U, -std and -include of the project's own commands. A function without a file is compiled behind
the headers of the standard library. The compiler gets the text on its standard input and is called with our
own words; nothing that it makes is kept or run. Code is compared as assembly, without names of variables.

A new name and another layout leave the code as it is, without and with optimisation; one that does not is not
applied. Of any other edit the same code with optimisation is evidence, and other code says nothing.
Numbers of lines are those of no file: every `__LINE__` is 0, because the ledger announces that nobody acts
on them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from codeaudit.audit.evidence_check import BehavesDifferently, BehavesSame, Undecided, WitnessFinding
from codeaudit.transforms.c.cpp.reading import name_of, own_name
from codeaudit.transforms.c.files import function_context
from codeaudit.transforms.c.headers import TONGUES, answer, facts_of, flags_of
from codeaudit.transforms.c.parsing import C, CFunction, places, read_unit
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.folders import scratch_folder
from codeaudit.transforms.language import find_language
from codeaudit.transforms.oracle.toolchains import STANDARD_HEADERS
from codeaudit.transforms.patches import Edit, splice
from codeaudit.transforms.records import Perturbed, Sample

NOT_ALONE: Final = "it does not compile alone"
NOT_FOUND: Final = "it is not found in its file"
NO_CODE: Final = "the compiler makes no code of it"
NOT_COMPILED: Final = "variant does not compile"
OTHER_CODE: Final = "compiled code differs"
CHANGED_CODE: Final = "compiled code differs after a change of names or layout"

_WITHOUT_LINES: Final = "-D__LINE__=0"
_STRICT: Final = ("-Werror=implicit-function-declaration", "-Werror=implicit-int")
"""In C a word that nothing declares may be a macro: then the code of the text is not that of the program."""
_KEPT: Final = "__attribute__((used)) "
"""Code is made even of a function that nobody calls."""
_NAMELESS: Final = re.compile(r"^\s*\.(?:file|ident)\b.*\n", re.MULTILINE)
_DIRECTIVE: Final = re.compile(r"^[ \t]*(?:#|%:|\?\?=)", re.MULTILINE)
_NEEDS_BODY: Final = re.compile(r"\b(?:constexpr|consteval|auto|decltype|concept|requires)\b")
_SAME_CODE: Final = frozenset({"identifiers", "layout"})
"""The families of transforms that change no instruction."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A text with a gap for a function."""

    before: str = ""
    after: str = ""
    file: str = ""
    """Where it lies; empty if that is not known."""
    mask: str = ""
    """What the function is called in a sample whose task hides names."""
    name: str = ""
    """Its name in the file."""


@dataclass(frozen=True, slots=True)
class ObjectCode:
    """Compares the code of functions of a language."""

    language: str
    compiler: str
    """Its file."""

    def findings(self, variants: Sequence[Perturbed]) -> list[WitnessFinding]:
        """The findings about variants of one sample."""
        sample = variants[0].sample
        name, is_one = _named(sample.source, self.language)
        first = _KEPT if is_one and not sample.source.lstrip().startswith("template") else ""
        before = None
        # Without the word -D where a header makes names of the numbers of lines.
        for place, words in self._ways(sample, name):
            before = self._code(place, first + sample.source, "-O2", words)
            if before is not None:
                break
        if before is None:
            is_found = not sample.context or _place_in(sample.context, sample.source, name, self.language)
            return [Undecided(NOT_ALONE if is_found else NOT_FOUND) for _ in variants]
        if re.search(_label(place.name or name, self.language), before, re.MULTILINE) is None:
            return [Undecided(NO_CODE) for _ in variants]
        optimised = partial(self._code, place, level="-O2", words=words)
        plain = partial(self._code, place, level="-O0", words=words)
        findings: list[WitnessFinding] = []
        for variant in variants:
            text = first + variant.source
            after = optimised(text)
            if after is None:
                is_control = variant.kind == "control"
                findings.append(
                    Undecided(NOT_COMPILED) if is_control else BehavesDifferently("compiled", NOT_COMPILED)
                )
            elif not keeps_code(variant):
                findings.append(BehavesSame("compiled") if after == before else Undecided(OTHER_CODE))
            elif after == before and plain(text) == plain(first + sample.source):
                findings.append(BehavesSame("compiled"))
            else:
                findings.append(BehavesDifferently("compiled", CHANGED_CODE))
        return findings

    def _ways(self, sample: Sample, name: str) -> Iterator[tuple[_Place, tuple[str, ...]]]:
        """In what a function may be compiled, and with which further words."""
        if not sample.context:
            yield _Place(before=STANDARD_HEADERS[self.language]), (_WITHOUT_LINES,)
            return
        around = facts_of(sample.context, sample.file, TONGUES[self.language])
        place = _place_in(sample.context, sample.source, name, self.language)
        if around.missing or place is None:
            return
        full = replace(place, file=sample.file)
        before, after = (_without_bodies(part, self.language) for part in (full.before, full.after))
        if _DIRECTIVE.search(sample.source) is None:  # a macro of its body may be used behind it
            yield replace(full, before=before, after=after), (_WITHOUT_LINES,)
        yield full, (_WITHOUT_LINES,)
        yield full, ()

    def _code(self, place: _Place, source: str, level: str, words: tuple[str, ...]) -> str | None:
        """The code of a text; `None` if it does not compile."""
        text = f"{place.before}{_unmasked(source, place.mask, place.name)}\n{place.after}"
        return _assembly(self.compiler, self.language, text, place.file, (level, *words))


@lru_cache(maxsize=16)
def _assembly(compiler: str, language: str, text: str, file: str, words: tuple[str, ...]) -> str | None:
    with scratch_folder("object-code") as scratch:
        call = [
            *(compiler, "-x", TONGUES[language], *flags_of(file)[0], *words),
            *(_STRICT if language == C else ()),
            *("-S", "-g0", "-fno-verbose-asm", "-o", "-", "-"),
        ]
        code, out, _ = answer(call, text, Path(file).parent if file else scratch, scratch)
    return _NAMELESS.sub("", out) if code == 0 else None


def keeps_code(variant: Perturbed) -> bool:
    """Whether all edits of a variant are such that leave the code as it is: names and layout."""
    language = find_language(variant.sample.language)
    transforms = {} if language is None else language.transforms
    named = {(move.transform or variant.transform).rpartition("/")[2] for move in variant.moves}
    rows = [transforms.get(name) for name in named]
    return bool(rows) and all(
        row is not None and row.kind == "preserving" and row.family in _SAME_CODE for row in rows
    )


def _named(source: str, language: str) -> tuple[str, bool]:
    """The name of the last function of a text, and whether it is all that the text has."""
    try:
        context = function_context(source, language)
        reading, function = read_unit(context.source, language)
    except SourceError:
        return "", False
    return name_of(reading.source, function), not (context.before + context.after).strip()


def _label(name: str, language: str) -> str:
    """A regular expression of the line of assembly where a function begins."""
    own = name if language == C else own_name(name)
    if not own:
        return r"(?!)"
    return rf"^{own}:" if language == C else rf"^(?:_Z\w*{len(own)}{own}\w*|{own}):"


@lru_cache(maxsize=8)
def _place_in(context: str, source: str, mask: str, language: str) -> _Place | None:
    """The text of a file before and behind a function, which a sample may call by another name; `None` if it
    does not have the function once. The text of a sample with a fault is not in the file: it stands in the
    place of the function of its name."""
    text = context.encode()
    named = [(span, span.name.rpartition("::")[2]) for span in _places(context, language)]
    texts = [_lines(text[span.start : span.end].decode()) for span, _ in named]
    same = [
        (span, name)
        for (span, name), lines in zip(named, texts, strict=True)
        if lines == _lines(_unmasked(source, mask, name))
    ]
    of_name = [(span, name) for span, name in named if name == mask]
    for matches in ([pair for pair in same if pair in of_name], same, of_name):
        if matches:
            span, name = matches[0]
            place = _Place(text[: span.start].decode(), text[span.end :].decode(), "", mask, name)
            return place if len(matches) == 1 else None
    return None


def _unmasked(source: str, mask: str, name: str) -> str:
    """The text of a sample with the name that its function has in its file."""
    if not mask or mask == name or not mask.isidentifier():
        return source
    return re.sub(rf"(?<!\w){mask}(?!\w)", name, source)


def _lines(text: str) -> list[str]:
    """The lines of a text without their indentation, which is another one in a sample."""
    return [line.strip() for line in text.strip().split("\n")]


@lru_cache(maxsize=4)
def _places(context: str, language: str) -> tuple[CFunction, ...]:
    return tuple(places(context.encode(), language))


@lru_cache(maxsize=4)
def _without_bodies(text: str, language: str) -> str:
    """A part of a file with declarations in place of functions, which makes a compiler faster."""
    source, edits = text.encode(), list[Edit]()
    for place in places(source, language):
        unit = source[place.start : place.end].decode()
        if _DIRECTIVE.search(unit) is not None:
            continue
        try:
            _, function = read_unit(unit, language)
        except SourceError:
            continue
        body = function.part("body")
        head = unit.encode()[: body.start].decode()
        is_plain = function.first("field_initializer_list") is None and _NEEDS_BODY.search(head) is None
        if is_plain:
            edits.append(Edit(place.start + body.start, place.start + body.end, ";"))
    return splice(source, edits).decode()
